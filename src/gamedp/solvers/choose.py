"""Solving in one call: the model is built and a solver chosen, unless they are given."""

from __future__ import annotations

import functools
import numbers
import time
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, NotSolvedError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    Objective,
    TotalReward,
    check_objective,
)
from gamedp.model.problem import Problem, StagedProblem
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.runtime import compile_clock
from gamedp.runtime.progress import Progress
from gamedp.runtime.registry import SOLVERS, find
from gamedp.solvers.methods.backward_induction import BackwardInduction
from gamedp.solvers.methods.topological_value_iteration import TopologicalValueIteration
from gamedp.solvers.portfolio import (
    followers,
    is_for_deflation,
    is_supported,
    solve_in_turn,
)
from gamedp.solvers.tools.draws import at_zero, counts_zero, declare, for_draws, is_tried_at_once
from gamedp.solvers.tools.prepared import Prepared, prepare
from gamedp.solvers.tools.proper import Refusal
from gamedp.solvers.tools.support import Limit, Solver, solve_as_asked, within
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gamedp.runtime.progress import ProgressCallback
    from gamedp.stages.induction import StageInduction

# Solvers that are not for every day are imported where they are chosen: it makes a start faster.

__all__ = ["explain", "solve"]

CHEAP = 1e-3
"""A cost below this part of the largest reward or payoff takes more sweeps than linear systems."""

NOT_GIVEN = ("auto", None, float("inf"), None)
"""What `solve` is asked for if the exploration of a game is not limited."""

DISCOUNT_NARROWS = (
    "a discount narrows the interval of the true values with every improvement of the policy, and "
    "sweeps along the policy alone bring one about."
)

NARROW = (
    "states lead to near ones alone, so what a policy is worth is found by elimination; sweeps "
    "would carry values over all that the discount lets one look ahead."
)


def solve(  # noqa: PLR0913 - what is usually set in one call
    game_or_model: Any,
    objective: Objective | None = None,
    solver: Solver | str | None = None,
    *,
    tolerance: float = 1e-6,
    relative: bool = False,
    progress: ProgressCallback | None = None,
    compile: Literal["auto", "always", "never"] = "auto",
    box: Mapping[str, tuple[int, int]] | None = None,
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    keep: bool = False,
) -> Any:
    """Solve a game or a model: the value of every state between proven bounds, and a policy.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game` or :class:`gamedp.StagedGame`; or
        what :func:`gamedp.compile` made of one.
    objective : TotalReward, Reachability, Discounted, FiniteHorizon or AverageReward, optional
        What to compute; the total reward, payoff at the end included, if not given.
    solver : solver or str, optional
        A solver, or the name of a registered one. If not given, it is chosen by the model's
        structure (:func:`gamedp.explain` says why), and others go on where it gets stuck.
    tolerance : float
        Allow this distance between the bounds of a value.
    relative : bool
        Whether that is `tolerance` times the absolute value, for each state: then a value of 1e-40
        is not simply close to 0.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.
    compile, box, max_states, max_bytes
        For the exploration of a game; see :func:`gamedp.compile`. With a model they are refused.
    max_seconds : float
        Time at most, for exploring and solving together; what numba compiles while solving is not
        counted. A solver that has no limit of time, as it needs one pass only, finishes that.
    keep : bool
        Whether to keep the solution in the user's cache folder, and to read the one that is kept
        there of exactly these rules, parameters, objective, solver and tolerance instead of solving
        again. One that is damaged or of other rules is replaced, with a
        :class:`gamedp.errors.KeptSolutionWarning`. The statistics of one that was read have its
        `folder`, and the seconds that it took to ``"load"`` it.

    Returns
    -------
    Solution
        Of a staged game, a :class:`gamedp.StagedSolution`. Its `guarantee` says whether the bounds
        are proven: it is ``NONE`` where endless play earns and loses in turn, so that no method
        here proves anything.

    Raises
    ------
    InvalidModelError
        If the rules or the arrays are wrong somewhere.
    UnsupportedProblemError
        If the solver cannot do the problem; says which can.
    NotSolvedError
        If the solver stopped at a limit, or the tolerance is finer than 64-bit rounding allows, or
        values depend on what endless play counts, which the objective does not say; what is
        known so far is its `solution`.
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
    number: Any = tolerance
    if not (isinstance(number, numbers.Real) and number > 0):  # type: ignore[operator]
        message = f"tolerance is {shown(tolerance)}; it must be a positive number."
        raise InvalidParameterError(message)
    objective = TotalReward() if objective is None else objective
    check_objective(objective)
    chosen = find(SOLVERS, solver)() if isinstance(solver, str) else solver
    if isinstance(chosen, type) or not (chosen is None or hasattr(chosen, "solve")):
        name = chosen.__name__ if isinstance(chosen, type) else repr(chosen)
        message = f"solver is {name}; it must be a solver, such as gamedp.solvers.ValueIteration()."
        raise InvalidParameterError(message)
    if keep:
        if isinstance(game_or_model, (Model, StagedModel)):
            message = "keep=True is for games; save the solution of a model with its save()."
            raise InvalidParameterError(message)
        from gamedp.storage.kept import read_or_solve  # noqa: PLC0415 - loads numba

        return read_or_solve(
            game_or_model,
            (objective, chosen, (tolerance, relative), box),
            lambda: solve(
                game_or_model,
                objective,
                chosen,
                tolerance=tolerance,
                relative=relative,
                progress=progress,
                compile=compile,
                box=box,
                max_states=max_states,
                max_seconds=max_seconds,
                max_bytes=max_bytes,
            ),
        )
    number = max_seconds
    if not (isinstance(number, numbers.Real) and number > 0):  # type: ignore[operator]
        message = f"max_seconds is {shown(max_seconds)}; it must be a positive number."
        raise InvalidParameterError(message)
    limit = Limit(float(max_seconds))
    limit()
    with compile_clock.telling(None if progress is None else _reporting(progress)):
        if isinstance(game_or_model, (Model, StagedModel)):
            model = game_or_model
            _refuse_limits(compile, box, max_states, max_bytes)
        else:
            from gamedp.compiler import compile_game  # noqa: PLC0415 - not needed for models

            model = compile_game(
                game_or_model,
                compile=compile,
                box=box,
                max_states=max_states,
                max_seconds=max_seconds,
                max_bytes=max_bytes,
                progress=progress,
            )
        began = time.perf_counter()
        try:
            solution = _in_time(
                model, objective, chosen, tolerance, progress, relative=relative, limit=limit
            )
        except NotSolvedError as error:
            error.solution = _with_compiling(error.solution, began)
            raise
    return _with_compiling(solution, began)


def _in_time(
    model: Model | StagedModel,
    objective: Objective,
    solver: Any,
    tolerance: float,
    progress: ProgressCallback | None,
    *,
    relative: bool,
    limit: Limit,
) -> Any:
    """Return the solution of a model, which bears the solver as it was given."""
    most = getattr(solver, "max_seconds", float("inf"))
    arguments = model, objective, solver, tolerance, progress
    try:
        solution = _solved(*arguments, relative=relative, limit=limit)
    except NotSolvedError as error:
        error.solution = _with_limit(error.solution, most)
        raise
    return _with_limit(solution, most)


def _with_limit(solution: Any, max_seconds: float) -> Any:
    """Return a solution whose solver, if it has a limit of time, has this one."""
    if getattr(solution.solver, "max_seconds", max_seconds) == max_seconds:
        return solution
    return attrs.evolve(solution, solver=attrs.evolve(solution.solver, max_seconds=max_seconds))


def _solved(
    model: Model | StagedModel,
    objective: Objective,
    solver: Any,
    tolerance: float,
    progress: ProgressCallback | None,
    *,
    relative: bool,
    limit: Limit,
) -> Any:
    """Return the solution of a model, by the solver that is given or chosen."""
    if isinstance(model, StagedModel):
        staged = StagedProblem(model, objective)
        asked = within(_of_stages(solver), limit)
        return solve_as_asked(asked, staged, tolerance, progress, relative=relative)
    problem = Problem(model, objective)
    if not counts_zero(problem) or (solver is None and not relative and is_tried_at_once(problem)):
        in_turn = functools.partial(_in_turn, limit=limit)
        asked = for_draws(solver, problem, in_turn, limit)
        return solve_as_asked(asked, problem, tolerance, progress, relative=relative)
    if solver is not None:
        asked = within(solver, limit)
        return solve_as_asked(asked, problem, tolerance, progress, relative=relative)
    prepared, chosen, _ = _choose(problem, progress, limit)
    return solve_in_turn(prepared, chosen, tolerance, progress, relative=relative, limit=limit)


@attrs.frozen
class _InTurn:
    """The solver that was chosen, and those that go on where it gets stuck, as one solver."""

    prepared: Prepared
    chosen: Solver
    limit: Limit

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Any:
        """Solve the problem that the solver was chosen for."""
        del problem
        return solve_in_turn(
            self.prepared, self.chosen, tolerance, progress, relative=False, limit=self.limit
        )


def _in_turn(problem: Problem, limit: Limit) -> Any:
    """Return what solves a problem, with endless play counting 0 unless the solver does more."""
    prepared, chosen, _ = _choose(problem, limit=limit)
    return chosen if getattr(chosen, "counts_draws", False) else _InTurn(prepared, chosen, limit)


def _reporting(progress: ProgressCallback) -> compile_clock.Listener:
    """Return what tells `progress` that something is compiled."""
    why = "only the first time: the result is kept"
    return lambda count, seconds: progress(Progress("compile", count, None, seconds, why))


def _with_compiling(solution: Any, began: float) -> Any:
    """Return a solution whose statistics tell apart what was compiled since it was begun."""
    compiled = compile_clock.seconds_within(time.perf_counter() - began)
    if not compiled:
        return solution
    seconds = dict(solution.statistics.seconds)
    # A solver's clock starts when the structure is known; what that compiled is not in it.
    seconds["solve"] -= compile_clock.seconds_within(seconds["solve"])
    seconds["compile"] += compiled
    return attrs.evolve(solution, statistics=attrs.evolve(solution.statistics, seconds=seconds))


def _refuse_limits(compile: str, box: Any, max_states: float, max_bytes: float | None) -> None:
    """Refuse what is for the exploration of a game where a model is given."""
    if (compile, box, max_states, max_bytes) == NOT_GIVEN:
        return
    given = [
        name
        for name, is_given in (
            ("compile", compile != "auto"),
            ("box", box is not None),
            ("max_states", max_states != float("inf")),
            ("max_bytes", max_bytes is not None),
        )
        if is_given
    ]
    message = (
        f"{given[0]} is for exploring a game, and this is a model already. Limits of solving are "
        "max_seconds, and those of a solver: solver=gamedp.solvers.ValueIteration(max_sweeps=1000)."
    )
    raise InvalidParameterError(message)


def _of_stages(solver: Any) -> StageInduction:
    """Return the solver for a staged game; raise UnsupportedProblemError for any other."""
    from gamedp.stages.induction import StageInduction  # noqa: PLC0415

    solver = StageInduction() if solver is None else solver
    if not isinstance(solver, StageInduction):
        message = (
            f"{type(solver).__name__} is for ordinary games. A staged game is solved by "
            "StageInduction, or as the ordinary one that gamedp.stages.Flattened(game) is."
        )
        raise UnsupportedProblemError(message)
    return solver


def explain(game_or_model: Any, objective: Objective | None = None) -> str:
    """Describe the structure of a model, and which solver gamedp picks for it and why.

    Parameters
    ----------
    game_or_model
        As for :func:`gamedp.solve`.
    objective : optional
        As for :func:`gamedp.solve`.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> print(gamedp.explain(gamedp.compile(Matches(matches=18), compile="never")))
    19 states, 51 choices, 51 transitions; no state can come again (19 levels).
    BackwardInduction: one pass from the end gives every value, up to rounding.
    """
    if isinstance(game_or_model, (Model, StagedModel)):
        model = game_or_model
    else:
        from gamedp.compiler import compile_game  # noqa: PLC0415

        model = compile_game(game_or_model)
    if isinstance(model, StagedModel):
        stage = model.stage
        return (
            f"{_count(model.num_states, 'context')}, in each a stage of {stage.num_states:,} "
            f"states, {stage.num_choices:,} choices, {stage.num_transitions:,} transitions.\n"
            "StageInduction: one sweep of the stage for each context, after those that follow it."
        )
    problem = Problem(model, TotalReward() if objective is None else objective)
    prepared, solver, reason = _choose(problem)
    endless = _endless(problem)
    reduction = prepared.proper if model.num_players <= 2 else None
    known = f"{_known(reduction)}\n" if isinstance(reduction, Reduction) else ""
    if isinstance(reduction, Reduction) and reduction.problem.model.num_choices == 0:
        reason = "nothing is left for it to do."
    others = followers(prepared, solver, relative=False)
    names = " and ".join(type(other).__name__ for other in others)
    more = f"\nIf it makes no progress: {names}." if others and _can_get_stuck(solver) else ""
    return f"{_shape(model)}.\n{known}{endless}{type(solver).__name__}: {reason}{more}"


def _can_get_stuck(solver: Any) -> bool:
    """Say whether a solver is one that goes on and on: it has limits."""
    return hasattr(solver, "max_seconds")


def _endless(problem: Problem) -> str:
    """Describe what is tried first where two opponents could go on for ever, and what it counts."""
    words = ""
    if is_tried_at_once(problem):
        words = (
            "TopologicalValueIteration: first it is checked if either player can force an end; "
            "then it does not matter what endless play counts. If not:\n"
        )
    low, high = problem.draws
    if low != high:
        words += (
            "What endless play counts is not declared by TotalReward(draw=...): the problem is "
            f"solved for {low:g} and for {high:g}, to see whether it matters.\n"
        )
    return words


def _shape(model: Model) -> str:
    """Describe a model's size, and whether play comes back to a state, or may never end."""
    structure = model.structure
    if structure.is_acyclic:
        shape = f"no state can come again ({structure.num_levels:,} levels)"
    else:
        cyclic = int(structure.nontrivial.sum())
        ends = (
            "play ends almost surely whatever the players do"
            if structure.always_ends
            else "play may go on for ever "
            f"({_count(structure.num_end_components, 'end component')})"
        )
        shape = f"{_count(cyclic, 'component')} in which states come again; {ends}"
    return (
        f"{_count(model.num_states, 'state')}, {_count(model.num_choices, 'choice')}, "
        f"{_count(model.num_transitions, 'transition')}; {shape}"
    )


def _known(reduction: Reduction) -> str:
    """Describe what the graph alone has told."""
    known = int((reduction.quotient.class_of < 0).sum())
    labels = reduction.labels
    collapsed = 0 if labels is None else len(np.unique(labels[labels >= 0]))
    waiting = f", {_count(collapsed, 'end component')} collapsed" if collapsed else ""
    small = reduction.problem.model
    if small.num_choices == 0:
        return "The graph alone determines all values."
    return (
        f"The graph alone determines the values of {_count(known, 'state')}{waiting}; the rest: "
        f"{_shape(small)}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _can_go_on_cheaply(prepared: Prepared) -> bool:
    """Say whether staying in some end component costs next to nothing beside all that is earned."""
    if not isinstance(prepared.problem.objective, TotalReward):
        return False
    reduction = prepared.proper
    if not isinstance(reduction, Reduction):
        return False
    model = reduction.problem.model
    if not model.structure.may_have_end_components:
        return False
    sizes = np.abs(model.rewards)
    most = max(sizes.max(initial=0), np.abs(model.payoffs).max(initial=0))
    cheap = (sizes > 0) & (sizes < CHEAP * most)
    # Where play can stay is asked for only if that matters: it takes a search.
    return bool(cheap.any() and (model.structure.stays & cheap).any())


def _may_be_acyclic(model: Model) -> bool:
    if not len(model.terminals):
        return False
    from gamedp.solvers.tools.discounted import may_be_acyclic  # noqa: PLC0415

    return may_be_acyclic(model)


def _for_discounted(problem: Problem) -> tuple[Solver, str]:
    from gamedp.solvers.tools.discounted import is_narrow  # noqa: PLC0415

    if is_narrow(problem):
        return TopologicalValueIteration(), NARROW
    from gamedp.solvers.methods.modified_policy_iteration import ModifiedPolicyIteration  # noqa: PLC0415

    return ModifiedPolicyIteration(), DISCOUNT_NARROWS


def _for_opponents(prepared: Prepared, limit: Limit) -> tuple[Solver, str] | None:
    """Return what does two opponents who can keep each other from an end, if anything does."""
    from gamedp.solvers.methods.interval_iteration import IntervalIteration  # noqa: PLC0415
    from gamedp.solvers.methods.strategy_iteration import StrategyIteration  # noqa: PLC0415

    kept = "either player can prolong play for ever;"
    policies = within(StrategyIteration(), limit)
    if not is_for_deflation(prepared) and is_supported(policies, prepared):
        return (
            StrategyIteration(),
            f"{kept} the best answer to each player's policy proves one bound.",
        )
    if not isinstance(prepared.reduction, Reduction):
        return None
    return IntervalIteration(), f"{kept} bounds are deflated there."


def _choose(
    problem: Problem, progress: ProgressCallback | None = None, limit: Limit | None = None
) -> tuple[Prepared, Solver, str]:
    """Return the problem prepared, the solver for it and the reason in words.

    Where endless play counts another number than 0, what is prepared is the problem shifted to it:
    for the least it may count, if that is not declared.
    """
    is_shifted = not counts_zero(problem)
    asked = declare(problem, problem.draws[0]) if is_shifted else problem
    prepared = prepare(at_zero(asked) if is_shifted else asked, progress)
    try:
        return prepared, *_chosen(prepared, asked, limit or Limit(float("inf")))
    except OutOfTimeError:
        reason = "no time is left to look for a better one."
        return prepared, TopologicalValueIteration(), reason


def _chosen(  # noqa: C901, PLR0911 - a table of reasons
    prepared: Prepared, asked: Problem, limit: Limit
) -> tuple[Solver, str]:
    """Return the same, or raise OutOfTimeError."""
    problem = prepared.problem
    if isinstance(problem.objective, FiniteHorizon):
        return BackwardInduction(), "one sweep for each step of the horizon."
    if isinstance(problem.objective, AverageReward):
        reason = "first the gain of each end component, then the way to the best one."
        from gamedp.solvers.methods.relative_value_iteration import RelativeValueIteration  # noqa: PLC0415

        return RelativeValueIteration(), reason
    single_sweep = "one pass from the end gives every value, up to rounding."
    if prepared.straight is not None:
        return BackwardInduction(), single_sweep
    is_discounted = isinstance(problem.objective, Discounted) and not problem.model.has_swaps
    if is_discounted and problem.model.num_players <= 2 and not _may_be_acyclic(problem.model):
        return _for_discounted(problem)
    backward = BackwardInduction()
    if problem.model.num_players > 2:
        return backward, single_sweep
    prepared.settle(limit)
    reduction = prepared.proper
    proper = reduction.problem if isinstance(reduction, Reduction) else problem
    if not isinstance(reduction, Reduction) and problem.model.structure.is_acyclic:
        return backward, single_sweep
    if isinstance(problem.objective, TotalReward) and problem.model.is_deterministic:
        from gamedp.solvers.methods.retrograde import Retrograde, draw_of  # noqa: PLC0415

        backwards = Retrograde()
        if backwards.supports(asked):
            worth = draw_of(asked)
            reason = (
                "every step is sure, so values spread backwards from the ends; endless play "
                f"counts {worth:g}."
            )
            return backwards, reason
    if proper.model.structure.is_acyclic and backward.supports(prepared):
        return backward, single_sweep
    if isinstance(reduction, Refusal) and (found := _for_opponents(prepared, limit)):
        return found
    if _can_go_on_cheaply(prepared):
        reason = (
            "play may go on for ever at a low cost, which sweeps would add up slowly; each "
            "policy is evaluated by a linear system."
        )
        from gamedp.solvers.methods.policy_iteration import PolicyIteration  # noqa: PLC0415

        return PolicyIteration(), reason
    if is_discounted:
        return _for_discounted(problem)
    proof = (
        "until its error is proven to be small."
        if proper.is_proper
        else "until it hardly changes; play may go on for ever, so nothing is proven."
    )
    return (
        TopologicalValueIteration(),
        f"each component is solved after those it leads to, {proof}",
    )
