"""The values of a game or a model: `solve`, and `explain`, which describes how they are found."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any, Self, overload

from gamedp.errors import InvalidParameterError, warn
from gamedp.runtime import compile_clock
from gamedp.runtime.compile_clock import without_collection
from gamedp.runtime.limit import Limit, callback_of, shows_progress
from gamedp.runtime.options import StateChoice, check_word
from gamedp.verbs.compiling import compile as compile_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.model.problem import Problem
    from gamedp.results.solution import Solution
    from gamedp.results.status import Tolerance
    from gamedp.rules.game import Game, StagedGame
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode
    from gamedp.solvers.tools.base import Solver
    from gamedp.stages.model import StagedModel
    from gamedp.stages.solution import StagedSolution

__all__ = ["explain", "solve"]


@overload
def solve(
    game_or_model: StagedGame | StagedModel,
    objective: Objective | None = None,
    solver: Solver | str | None = None,
    *,
    tolerance: float | None = None,
    relative: bool = False,
    progress: ProgressCallback | bool | None = None,
    compile: CompileMode = "auto",
    states: StateChoice = "reachable",
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    keep: bool = False,
) -> StagedSolution: ...


@overload
def solve(
    game_or_model: Game | Model,
    objective: Objective | None = None,
    solver: Solver | str | None = None,
    *,
    tolerance: float | None = None,
    relative: bool = False,
    progress: ProgressCallback | bool | None = None,
    compile: CompileMode = "auto",
    states: StateChoice = "reachable",
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    keep: bool = False,
) -> Solution: ...


@shows_progress
def solve(  # noqa: PLR0913 - what is usually set in one call
    game_or_model: Game | Model | StagedGame | StagedModel,
    objective: Objective | None = None,
    solver: Solver | str | None = None,
    *,
    tolerance: float | None = None,
    relative: bool = False,
    progress: ProgressCallback | bool | None = None,
    compile: CompileMode = "auto",
    states: StateChoice = "reachable",
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    keep: bool = False,
) -> Solution | StagedSolution:
    """Solve a game or a model: the value of every state between proven bounds, and a policy.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game` or :class:`gamedp.StagedGame`; or
        what :func:`gamedp.compile` made of one.
    objective : TotalReward, Reachability, Discounted, FiniteHorizon or AverageReward, optional
        The quantity to compute; if not given, the total reward, including the payoff at the end.
    solver : solver or str, optional
        A solver, or the name of a registered one. If not given, it is chosen by the model's
        structure (:func:`gamedp.explain` gives the reason), and others continue where it stops.
    tolerance : float, optional
        The largest distance between the bounds of a value. If not given, it is 1e-6, or a millionth
        of the value itself where that is more: solvers aim for the former, and stop at the latter
        where rounding, which grows with the values, allows no more.
    relative : bool
        Whether the distance allowed in each state is `tolerance` times the absolute value: then a
        value of 1e-40 does not pass for 0. A millionth if no tolerance is given.
    progress : callable or bool, optional
        Called with a :class:`gamedp.Progress` now and then. True shows a bar in a terminal, on
        stderr and after a second, or in a notebook; nothing where there is neither.
    compile, states, max_states, max_bytes
        For the exploration of a game; see :func:`gamedp.compile`. With a model they are refused.
    max_seconds : float
        The time limit for exploring and solving together; compilation by numba while solving is not
        counted. A solver without a time limit, because it needs a single pass, finishes that pass.
    keep : bool
        Whether to keep the solution in the user's cache folder, and, instead of solving again, to
        read the one that is kept there for exactly these rules, parameters, objective, solver and
        tolerance. A kept solution that is damaged or of other rules is replaced, with a
        :class:`gamedp.errors.KeptSolutionWarning`. The statistics of a solution that was read hold
        its `folder`, and the seconds that it took to ``"load"`` it.

    Returns
    -------
    Solution
        For a staged game, a :class:`gamedp.StagedSolution`. Its `guarantee` says whether the bounds
        are proven: it is ``NONE`` where endless play earns and loses in turn, which no method here
        can bound.

    Raises
    ------
    InvalidModelError
        If the rules or the arrays are wrong somewhere.
    UnsupportedProblemError
        If the solver does not support the problem; the message says which one does.
    NotSolvedError
        If the solver stopped at a limit, or a given tolerance is finer than rounding allows, or
        values depend on the value of endless play, which the objective leaves open; its `solution`
        holds what is known so far.
    LimitExceededError
        If the exploration stopped at a limit.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=18), compile="never")
    >>> solution.value(), solution.bounds(), solution.guarantee.name
    (1.0, (1.0, 1.0), 'TWO_SIDED')
    """
    request = _request()
    report = callback_of(progress)
    allowed = request.checked_tolerance(tolerance, relative=relative)
    objective = request.checked_objective(objective)
    solver = request.checked_solver(solver)
    most = request.checked_number("max_seconds", max_seconds)
    check_word("states", states, StateChoice)
    exploring = {
        "compile": compile,
        "states": states,
        "max_states": max_states,
        "max_bytes": max_bytes,
    }

    def solve_now() -> Solution | StagedSolution:
        limit = Limit(most)
        limit()
        with compile_clock.reporting_compilation(
            None if report is None else request.reporting(report)
        ):
            model = _model_of(game_or_model, exploring, most, report)
            solution: Solution | StagedSolution = request.answer(
                lambda: _solved(model, objective, solver, allowed, report, limit),
                solver,
            )
            return solution

    if not keep:
        return solve_now()
    from gamedp.storage.kept import read_or_solve

    _refuse_model(game_or_model)
    problem = objective, solver, allowed, states
    return read_or_solve(game_or_model, problem, solve_now)


def _solved(
    model: Model | StagedModel,
    objective: Objective,
    solver: Any,
    allowed: Tolerance,
    progress: ProgressCallback | None,
    limit: Limit,
) -> Solution | StagedSolution:
    """Return the solution of a model by the given or chosen solver."""
    tools = _tools()
    if isinstance(model, tools.StagedModel):
        from gamedp.model.problem import AnyProblem
        from gamedp.runtime.limit import with_time_left
        from gamedp.solvers.tools.base import solve_as_asked
        from gamedp.stages.induction import solver_of_stages

        in_time = with_time_left(solver_of_stages(solver), limit)
        staged: StagedSolution = solve_as_asked(
            in_time, AnyProblem(model, objective), allowed, progress
        )
        return staged
    problem = tools.Problem(model, objective)
    solution: Solution = tools.solve_problem(problem, solver, allowed, progress, limit=limit)
    _warn_if_nothing_counts(problem)
    return solution


@functools.cache
def _request() -> types.ModuleType:
    """Import what checks arguments: a solution that is kept takes no more."""
    with without_collection():
        from gamedp.solvers import request
    return request


@functools.cache
def _tools() -> Any:
    """Import what solving needs, when it is first needed."""
    with without_collection():
        from gamedp.model.model import Model
        from gamedp.model.problem import Problem
        from gamedp.solvers.solving import solve_problem
        from gamedp.stages.model import StagedModel
    return types.SimpleNamespace(
        Model=Model,
        Problem=Problem,
        StagedModel=StagedModel,
        solve_problem=solve_problem,
    )


def _warn_if_nothing_counts(problem: Problem) -> None:
    """Warn if every value is 0 because the game has neither an end nor rewards."""
    if words := problem.nothing_counts():
        warn(words, RuntimeWarning)


def _refuse_model(given: Any) -> None:
    """Refuse to keep the solution of a model: kept solutions are found by the game's name."""
    from gamedp.model.model import Model
    from gamedp.stages.model import StagedModel

    if isinstance(given, (Model, StagedModel)):
        message = "keep=True is for games; save the solution of a model with gamedp.save."
        raise InvalidParameterError(message)


EXPLORING = {
    "compile": "auto",
    "states": "reachable",
    "max_states": float("inf"),
    "max_bytes": None,
}
"""Arguments of `solve` for an exploration without limits."""


def _model_of(
    given: Any,
    exploring: Mapping[str, Any],
    max_seconds: float,
    progress: ProgressCallback | None,
) -> Model | StagedModel:
    """Return a model unchanged; compile a game to its model."""
    tools = _tools()
    if not isinstance(given, (tools.Model, tools.StagedModel)):
        made: Model | StagedModel = compile_rules(
            given, max_seconds=max_seconds, progress=progress, **exploring
        )
        return made
    for name, value in exploring.items():
        if value != EXPLORING[name]:
            message = (
                f"{name} is for exploring a game, and this is a model already. Limits of solving "
                "are max_seconds, and those of a solver: "
                "solver=gamedp.solvers.ValueIteration(max_sweeps=1000)."
            )
            raise InvalidParameterError(message)
    model: Model | StagedModel = given
    return model


class Explanation(str):
    """A description of a problem in words; `solver` is the name of the solver that is picked."""

    __slots__ = ("solver",)

    solver: str

    def __new__(cls, words: str, solver: str) -> Self:
        """Return the words, with the name of the solver."""
        explanation = super().__new__(cls, words)
        explanation.solver = solver
        return explanation

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of, in another process, too."""
        return Explanation, (str(self), self.solver)

    def __repr__(self) -> str:
        """Return the words themselves: they are read line by line."""
        return str(self)


def explain(
    game_or_model: Game | Model | StagedGame | StagedModel | Solution | StagedSolution,
    objective: Objective | None = None,
) -> Explanation:
    """Describe the structure of a model, and which solver gamedp picks for it and why.

    Parameters
    ----------
    game_or_model
        As for :func:`gamedp.solve`; a game is explored first. A solution stands for its model, and
        for its objective unless another one is given.
    objective : optional
        As for :func:`gamedp.solve`.

    Returns
    -------
    Explanation
        A text, which is shown as it is in a notebook, too; its `solver` is the name of the class.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> gamedp.explain(gamedp.compile(Matches(matches=18), compile="never"))
    19 states, 51 choices, 51 transitions; no state can recur (19 levels).
    BackwardInduction: one pass from the end gives every value, up to rounding.
    """
    from gamedp.model.problem import Problem
    from gamedp.results.base import BaseSolution
    from gamedp.solvers.choose import explain_problem
    from gamedp.solvers.request import checked_objective
    from gamedp.stages.model import StagedModel

    given: Any = game_or_model
    if isinstance(given, BaseSolution):
        objective = given.objective if objective is None else objective
        given = given.model
    model = _model_of(given, EXPLORING, float("inf"), None)
    if isinstance(model, StagedModel):
        from gamedp.stages.induction import explain_stages

        return Explanation(explain_stages(model), "StageInduction")
    problem = Problem(model, checked_objective(objective))
    _warn_if_nothing_counts(problem)
    words, chosen = explain_problem(problem)
    return Explanation(words, type(chosen).__name__)
