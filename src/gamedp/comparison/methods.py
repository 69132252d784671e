"""Methods and problems: what is to be measured, as one function for each pair."""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.comparison.measurement import Measurement
from gamedp.errors import (
    GamedpError,
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    MissingPackageError,
    NotSolvedError,
    UnknownNameError,
    UnsupportedProblemError,
    shown,
)
from gamedp.model.model import Model
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.results.base import of_player
from gamedp.results.status import Guarantee, Status
from gamedp.rules.anatomy import rules_digest
from gamedp.rules.game import is_staged
from gamedp.runtime.options import settings_of, values_of
from gamedp.runtime.registry import PEERS, SEARCHERS, SOLVERS, find, load, registered
from gamedp.solvers.tools.endless_play import at_zero
from gamedp.solvers.tools.prepared import prepare
from gamedp.stages.flattened import Flattened
from gamedp.stages.induction import StageInduction
from gamedp.verbs.compiling import compile as compile_rules
from gamedp.verbs.searching import search
from gamedp.verbs.solving import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gamedp.comparison.measurement import Kind
    from gamedp.comparison.peers import StateValues
    from gamedp.model.objectives import Objective
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.solvers.tools.prepared import Prepared


DEFAULT = "default"
"""The name of the method that :func:`gamedp.solve` chooses."""

GROUPS: dict[str, Kind] = {SOLVERS: "solver", SEARCHERS: "searcher"}
"""The kinds of methods by their groups of entry points."""

MAX_COMPARED_STATES = 64
"""Largest number of states whose bounds are kept and held against each other."""

MAX_FLATTENED = 1_000_000
"""Largest number of positions of a staged game that is compared with its ordinary form."""

PEER_TOLERANCE = 1e-6
"""The accuracy that other programs are asked for if no tolerance is given."""

Facts: TypeAlias = "dict[str, Any]"
"""Attributes of a row."""

Call: TypeAlias = "Callable[[], Callable[[], Facts]]"
"""Solves a problem once, which is measured; what it returns reads the facts, which is not."""


@attrs.frozen(kw_only=True)
class ComparisonLimits:
    """The limits of a comparison; see :func:`gamedp.compare`."""

    tolerance: float | None = None
    max_seconds: float
    max_bytes: float | None = None
    seconds: float


class ModelTooLargeError(GamedpError):
    """A model is larger than the limits allow."""


@attrs.frozen
class ComparedMethod:
    """A way to solve a problem.

    Attributes
    ----------
    name : str
    kind : {"solver", "searcher", "peer"}
    tool
        The solver, searcher or peer; None lets gamedp choose; an error says why there is none.
    """

    name: str
    kind: Kind
    tool: Any


def methods_of(given: Any) -> list[ComparedMethod]:
    """Return the methods that are named or given; all registered ones for None.

    Raises
    ------
    UnknownNameError
        If there is no such solver or searcher.
    InvalidParameterError
        If something is neither a name nor a solver or searcher, or given twice.
    """
    if given is None:
        found = [ComparedMethod(DEFAULT, "solver", None)]
        for group, kind in GROUPS.items():
            found += [_loaded(name, kind, group) for name in registered(group)]
        return found
    several = isinstance(given, (list, tuple))
    found = [_method(each) for each in (given if several else [given])]
    return _once(found)


def peers_of(given: Any) -> list[ComparedMethod]:
    """Return the other programs that are named; all registered ones for True."""
    if given is True:
        return [_loaded(name, "peer", PEERS) for name in registered(PEERS)]
    names = [given] if isinstance(given, str) else list(given or ())
    return _once([ComparedMethod(name, "peer", find(PEERS, name)()) for name in names])


def _once(methods: list[ComparedMethod]) -> list[ComparedMethod]:
    names = [method.name for method in methods]
    for name in names:
        if names.count(name) > 1:
            message = f"{name} is given twice; one row a method is enough."
            raise InvalidParameterError(message)
    return methods


def _loaded(name: str, kind: Kind, group: str) -> ComparedMethod:
    """Return a registered method; what cannot be made harms no other one."""
    try:
        return ComparedMethod(name, kind, load(registered(group)[name])())
    except Exception as error:  # noqa: BLE001 - of any package
        return ComparedMethod(name, kind, error)


def _method(given: Any) -> ComparedMethod:
    if given == DEFAULT:
        return ComparedMethod(DEFAULT, "solver", None)
    if isinstance(given, str):
        for group, kind in GROUPS.items():
            if given in registered(group):
                return ComparedMethod(given, kind, find(group, given)())
        known = [DEFAULT, *registered(SOLVERS), *registered(SEARCHERS)]
        what = "solver or searcher"
        raise UnknownNameError.nearest(what, given, known)
    if not isinstance(given, type):
        if hasattr(given, "search"):
            return ComparedMethod(_name_of(given, SEARCHERS), "searcher", given)
        if hasattr(given, "solve"):
            return ComparedMethod(_name_of(given, SOLVERS), "solver", given)
    message = (
        f"{shown(given)} is neither a solver nor a searcher, such as 'value-iteration' or "
        "gamedp.searchers.AlphaBeta(depth=8)."
    )
    raise InvalidParameterError(message)


def _name_of(tool: Any, group: str) -> str:
    """Return the registered name, with the options that differ from their defaults."""
    home = f"{type(tool).__module__}:{type(tool).__qualname__}"
    names = (name for name, point in registered(group).items() if point.value == home)
    name = next(names, type(tool).__name__)
    settings, values = settings_of(type(tool)), values_of(tool)
    options = [
        f"{option}={shown(value)}"
        for option, value in values.items()
        if value != settings[option].default
    ]
    return f"{name}({', '.join(options)})" if options else name


@attrs.define
class Task:
    """One problem, ready to be solved by any method.

    Attributes
    ----------
    name : str
    game
        The rules, for searchers; None for a model.
    objective : Objective or None
    size : float or None
        The value of the parameter that is varied.
    model : Model, StagedModel, or None
    flat : Model or None
        A staged game as an ordinary model.
    trouble, flat_trouble : str
        Why there is no such model; empty if there is one.
    explore_seconds : float or None
    """

    name: str
    game: Any
    objective: Objective | None
    size: float | None = None
    model: Any = None
    flat: Any = None
    trouble: str = ""
    flat_trouble: str = ""
    explore_seconds: float | None = None

    @property
    def digest(self) -> str:
        """The digest of the model or, without one, of the rules."""
        return str(self.model.digest()) if self.model is not None else rules_digest(self.game) or ""

    def row(self, method: ComparedMethod, **facts: Any) -> Measurement:
        """Return the row of a method that has found out these facts."""
        return Measurement(
            problem=self.name,
            size=self.size,
            method=method.name,
            kind=method.kind,
            model=self.digest,
            explore_seconds=self.explore_seconds,
            **facts,
        )

    @property
    def _goal(self) -> Objective:
        """The objective: the total reward if none is given."""
        return TotalReward() if self.objective is None else self.objective

    def explore(self, limits: ComparisonLimits, progress: ProgressCallback | None) -> None:
        """Build the models, within the memory; a staged game's ordinary one only if it is small.

        There is no limit of time: a model is built once, and is not what is compared.
        """
        if self.model is not None:
            return
        most: dict[str, Any] = {"max_bytes": limits.max_bytes, "progress": progress}
        if is_staged(self.game):
            self.model = compile_rules(self.game, progress=progress)
            game: Any = Flattened(self.game)
            try:
                self.flat = compile_rules(game, max_states=MAX_FLATTENED, **most)
            except LimitExceededError as error:
                self.flat_trouble = str(error)
            return
        try:
            self.model = compile_rules(self.game, **most)
        except LimitExceededError as error:
            self.trouble = str(error)
        else:
            self.explore_seconds = self.model.seconds.get("explore")

    def call(self, method: ComparedMethod, limits: ComparisonLimits) -> Call:
        """Return a function that solves the problem once.

        Raises
        ------
        UnsupportedProblemError
            If the method does not support the problem.
        MissingPackageError
            If the method is another program, which is not installed.
        ModelTooLargeError
            If the model that it needs is too large.
        Exception
            If there is no method, for whatever reason its package has.
        """
        if isinstance(method.tool, Exception):
            raise method.tool
        if method.kind == "searcher":
            return self._searched(method.tool, limits)
        model = self._model_for(method.tool)
        if method.kind == "peer":
            return self._peer_call(method.tool, model, limits)

        def run() -> Callable[[], Facts]:
            try:
                solution = solve(
                    copy.copy(model),  # without what is known of its graph
                    self.objective,
                    method.tool,
                    tolerance=limits.tolerance,
                    max_seconds=limits.max_seconds,
                )
            except NotSolvedError as error:
                solution = error.solution
            return functools.partial(_facts_of, solution)

        return run

    def prepared(self) -> Prepared | None:
        """Return the problem as solvers are asked about it: endless play counts 0 there.

        None for a staged game, and where payoffs cannot be shifted: each method says why itself.
        """
        if not isinstance(self.model, Model):
            return None
        try:
            return prepare(at_zero(Problem(copy.copy(self.model), self._goal)))
        except InvalidModelError:
            return None

    def _model_for(self, tool: Any) -> Any:
        """Return the model that a solver takes: of stages, or ordinary."""
        if self.trouble:
            raise ModelTooLargeError(self.trouble)
        if self.game is None or not is_staged(self.game):
            return self.model
        if tool is None or isinstance(tool, StageInduction):
            return self.model
        if self.flat_trouble:
            raise ModelTooLargeError(self.flat_trouble)
        return self.flat

    def _searched(self, searcher: Any, limits: ComparisonLimits) -> Call:
        if self.game is None:
            message = "looks ahead by the rules, and a model has none."
            raise UnsupportedProblemError(message)
        if self.objective not in (None, TotalReward()):
            message = "finds the total reward to the end of the game."
            raise UnsupportedProblemError(message)
        if is_staged(self.game):
            message = "takes ordinary games; this one is staged."
            raise UnsupportedProblemError(message)
        if hasattr(searcher, "max_seconds"):
            most = min(searcher.max_seconds, limits.max_seconds)
            searcher = attrs.evolve(searcher, max_seconds=most)
        return lambda: functools.partial(_facts_of_search, search(self.game, searcher=searcher))

    def _peer_call(self, peer: Any, model: Any, limits: ComparisonLimits) -> Call:
        problem = Problem(model, self._goal)
        run = peer.prepare(problem, limits.tolerance or PEER_TOLERANCE)

        def facts(values: StateValues) -> Facts:
            start = float(model.initial_probabilities @ values(model.initial_states))
            numbers = values(_examined(model)).tolist()
            return {
                "states": model.num_states,
                "choices": model.num_choices,
                "transitions": model.num_transitions,
                "status": Status.SOLVED.name,
                "guarantee": Guarantee.NONE.name,
                "value": start,
                "lower": start,
                "upper": start,
                "examined": tuple((number, number) for number in numbers),
                "solver": repr(peer),
            }

        return lambda: functools.partial(facts, run())


def _examined(model: Any) -> Any:
    """Return the numbers of the states whose bounds are held against each other."""
    return np.unique(np.linspace(0, model.num_states - 1, MAX_COMPARED_STATES).astype(np.int64))


def _facts_of(solution: Any) -> Facts:
    """Return the facts of a solution, proven or not."""
    statistics = solution.statistics
    proven = solution.guarantee is not Guarantee.NONE
    examined: Iterable[tuple[float, float]] = ()
    if not hasattr(solution.model, "stage"):
        states = _examined(solution.model)
        arrays = (solution.lower, solution.upper) if proven else (solution.values,) * 2
        examined = zip(*(of_player(array, 0)[states].tolist() for array in arrays), strict=True)
    lower, upper = solution.bounds() if proven else (solution.value(),) * 2
    return _facts_of_answer(solution, solution.solver, lower, upper) | {
        "examined": tuple(examined),
        "width": solution.width if proven else None,
        "states": statistics.states,
        "choices": statistics.choices,
        "transitions": statistics.transitions,
        "sweeps": statistics.sweeps,
    }


def _facts_of_search(result: Any) -> Facts:
    """Return the facts of a search, whose bounds hold wherever it stopped."""
    lower, upper = result.bounds()
    return _facts_of_answer(result, result.searcher, lower, upper) | {
        "width": upper - lower,
        "depth": result.statistics.depth,
        "nodes": result.statistics.nodes,
    }


def _facts_of_answer(answer: Any, tool: Any, lower: float, upper: float) -> Facts:
    """Return the facts that solutions and searches have."""
    status = answer.status
    return {
        "status": status.name,
        "reason": "" if status is Status.SOLVED else status.value,
        "guarantee": answer.guarantee.name,
        "value": answer.value(),
        "lower": lower,
        "upper": upper,
        "solver": repr(tool),
    }


STOPPED_BY: dict[type[GamedpError], str] = {
    UnsupportedProblemError: "UNSUPPORTED",
    MissingPackageError: "NOT_INSTALLED",
    ModelTooLargeError: "TOO_LARGE",
}
"""The status of a row by the error that its method has raised; any other one is a failure."""


def facts_of_error(error: Exception, name: str) -> Facts:
    """Return the facts of a method that gave no answer, without its name in the reason."""
    for kind, status in STOPPED_BY.items():
        if isinstance(error, kind):
            return {"status": status, "reason": str(error).removeprefix(f"{name} ")}
    return {"status": "FAILED", "reason": f"{type(error).__name__}: {error}"}
