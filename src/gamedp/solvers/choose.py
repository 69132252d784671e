"""Choice of a solver for a problem, with the reason, and of those that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.model.model import Model, given_numbers
from gamedp.model.objectives import AverageReward, Discounted, FiniteHorizon, TotalReward, draw_of
from gamedp.model.problem import Problem
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.results.status import TOLERANCE, Tolerance
from gamedp.rules.exactness import model_numbers
from gamedp.runtime.limit import Limit, with_time_left
from gamedp.solvers.methods.backward_induction import BackwardInduction
from gamedp.solvers.methods.topological_value_iteration import TopologicalValueIteration
from gamedp.solvers.request import Refusal
from gamedp.solvers.tools.base import (
    MAX_STATES_IN_RATIONALS,
    Solver,
    decide_in_time,
    to_solver_input,
)
from gamedp.solvers.tools.endless_play import at_zero, counts_zero, declare, may_be_forced
from gamedp.solvers.tools.prepared import Prepared, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gamedp.runtime.limit import ProgressCallback

# Solvers that are rarely chosen are imported where they are needed, for a fast start.

CHEAP_RELATIVE_COST = 1e-3
"""Cost, relative to the largest reward or payoff, below which linear systems beat sweeps."""

DISCOUNT_NARROWS = (
    "the discount narrows the interval of the true values with every improvement of the policy, "
    "and sweeps along the policy lead to the next one."
)

NARROW = (
    "states lead to nearby ones alone, so policies are evaluated by elimination; sweeps would "
    "have to carry values as far as the discount looks ahead."
)

CHOICES_FOR_DEFLATION = 2000
"""Number of choices from which deflated bounds are tried before policies of two opponents."""

MAX_STATES_TIMES_COMPONENTS = 100_000_000
"""States times components from which no solver is used that handles components one by one."""

PROVEN = "until its error is proven to be small."


def explain_problem(problem: Problem) -> tuple[str, Any]:
    """Describe a problem's model, and which solver is chosen for it and why; return that, too."""
    model = problem.model
    prepared, solver, reason = choose(problem)
    endless = _about_endless_play(problem)
    reduction = prepared.proper if not model.is_general_sum else None
    known = f"{_known(reduction)}\n" if isinstance(reduction, Reduction) else ""
    if isinstance(reduction, Reduction) and reduction.problem.model.num_choices == 0:
        reason = "nothing is left for it to do."
    others = followers(prepared, solver, TOLERANCE)
    rest = " and ".join(type(other).__name__ for other in others)
    more = f"\nIf it makes no progress: {rest}." if rest and hasattr(solver, "max_seconds") else ""
    about = f"{_shape(model)}.\n{_about_idle_players(model)}{known}{endless}"
    return f"{about}{type(solver).__name__}: {reason}{more}", solver


def _about_idle_players(model: Model) -> str:
    """Return a note if only one of several players ever moves, which is rarely intended."""
    moving = model.players[np.diff(model.choice_offsets) > 0]
    if model.num_players == 1 or model.has_swaps or not len(moving) or moving.min() < moving.max():
        return ""
    return (
        f"Of the {model.num_players} players only player {moving[0]} ever moves; player(state), or "
        "players of a model from arrays, says who does.\n"
    )


def _about_endless_play(problem: Problem) -> str:
    """Describe the first attempt if two opponents could go on for ever, and the value of that."""
    words = ""
    if _is_tried_first(problem):
        words = (
            "TopologicalValueIteration: it first checks whether either player can force an end; "
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
    """Describe a model's size, and whether states can recur or play may never end."""
    structure = model.structure
    if structure.is_acyclic:
        shape = f"no state can recur ({structure.num_levels:,} levels)"
    else:
        cyclic = int(structure.nontrivial.sum())
        ends = (
            "play ends almost surely whatever the players do"
            if structure.always_ends
            else "play may go on for ever "
            f"({_count(structure.num_end_components, 'end component')})"
        )
        shape = f"{_count(cyclic, 'component')} in which states recur; {ends}"
    return (
        f"{_count(model.num_states, 'state')}, {_count(model.num_choices, 'choice')}, "
        f"{_count(model.num_transitions, 'transition')}; {shape}"
    )


def _known(reduction: Reduction) -> str:
    """Describe what the graph alone determines."""
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
    """Return whether staying in some end component costs little compared with all rewards."""
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
    cheap = (sizes > 0) & (sizes < CHEAP_RELATIVE_COST * most)
    # Where play can stay is only computed if it matters: it takes a search.
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
    """Return the solver for two opponents who can prolong play for ever, and why; or None."""
    from gamedp.solvers.methods.interval_iteration import IntervalIteration  # noqa: PLC0415
    from gamedp.solvers.methods.strategy_iteration import StrategyIteration  # noqa: PLC0415

    kept = "either player can prolong play for ever;"
    policies = with_time_left(StrategyIteration(), limit)
    if not _is_for_deflation(prepared) and _is_supported(policies, prepared):
        return (
            StrategyIteration(),
            f"{kept} the best answer to each player's policy proves one bound.",
        )
    if not isinstance(prepared.reduction, Reduction):
        return None
    return IntervalIteration(), f"{kept} bounds are deflated there."


def choose(
    problem: Problem, progress: ProgressCallback | None = None, limit: Limit | None = None
) -> tuple[Prepared, Solver, str]:
    """Return the problem prepared, the solver for it and the reason in words.

    If endless play counts another number than 0, the prepared problem is the one shifted to it:
    for the least possible number, if that is not declared.
    """
    is_shifted = not counts_zero(problem)
    asked = declare(problem, problem.draws[0]) if is_shifted else problem
    prepared = prepare(at_zero(asked) if is_shifted else asked, progress)
    try:
        return prepared, *_chosen(prepared, asked, limit or Limit(float("inf")))
    except OutOfTimeError:
        reason = "no time is left to look for a better one."
        return prepared, TopologicalValueIteration(), reason


def _chosen(  # noqa: C901, PLR0911, PLR0912 - a table of reasons
    prepared: Prepared, asked: Problem, limit: Limit
) -> tuple[Solver, str]:
    """Return the solver and the reason; raise OutOfTimeError when time is up."""
    problem = prepared.problem
    if isinstance(problem.objective, FiniteHorizon):
        return BackwardInduction(), "one sweep for each step of the horizon."
    if isinstance(problem.objective, AverageReward):
        reason = "first the gain of each end component, then the way to the best one."
        from gamedp.solvers.methods.relative_value_iteration import RelativeValueIteration  # noqa: PLC0415

        return RelativeValueIteration(), reason
    single_sweep = "one pass from the end gives every value, up to rounding."
    if prepared.depth_first_solution is not None:
        return BackwardInduction(), single_sweep
    by_component = "each component is solved after those it leads to,"
    if prepared.searched is not None:
        return TopologicalValueIteration(), f"{by_component} {PROVEN}"
    is_discounted = isinstance(problem.objective, Discounted) and not problem.model.has_swaps
    if is_discounted and not problem.model.is_general_sum and not _may_be_acyclic(problem.model):
        return _for_discounted(problem)
    backward = BackwardInduction()
    if problem.model.is_general_sum:
        return backward, single_sweep
    prepared.decide(limit)
    reduction = prepared.proper
    proper = reduction.problem if isinstance(reduction, Reduction) else problem
    if not isinstance(reduction, Reduction) and problem.model.structure.is_acyclic:
        return backward, single_sweep
    if isinstance(problem.objective, TotalReward) and problem.model.is_deterministic:
        from gamedp.solvers.methods.retrograde import Retrograde  # noqa: PLC0415

        backwards = Retrograde()
        if backwards.supports(asked):
            draw = draw_of(asked.objective, asked.model)
            reason = (
                "no step is left to chance, so values propagate backwards from the ends; "
                f"endless play counts {draw:g}."
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
        PROVEN
        if proper.is_proper
        else "until it hardly changes; play may go on for ever, so nothing is proven."
    )
    return (
        TopologicalValueIteration(),
        f"{by_component} {proof}",
    )


def followers(
    prepared: Prepared, chosen: Solver, asked: Tolerance, limit: Limit | None = None
) -> list[Solver]:
    """Return the solvers that continue after the chosen one has stopped, in order.

    Parameters
    ----------
    limit : Limit, optional
        Time limit for finding that out.
    """
    if not may_be_handed_over(prepared.problem):
        return []
    limit = limit or Limit(float("inf"))
    return [
        solver
        for solver in _others(prepared.problem, relative=not asked.absolute)
        if type(solver) is not type(chosen)
        and _is_supported(with_time_left(solver, limit), prepared)
    ]


def _is_supported(solver: Any, prepared: Prepared) -> bool:
    """Return whether a solver supports a problem, with open cases decided as far as time allows."""
    decide_in_time(solver, prepared)
    return bool(solver.supports(to_solver_input(solver, prepared)))


def _is_for_deflation(prepared: Prepared) -> bool:
    """Return whether to deflate bounds first, then improve policies, for two opponents."""
    found = prepared.reduction
    if not isinstance(found, Reduction) or found.problem.model.num_choices <= CHOICES_FOR_DEFLATION:
        return False
    return not _is_scattered(found.problem)


def may_be_handed_over(problem: Problem) -> bool:
    """Return whether other solvers may follow the chosen one."""
    return not problem.model.is_general_sum and not isinstance(problem.objective, FiniteHorizon)


def _others(problem: Problem, *, relative: bool) -> Iterator[Solver]:
    """Yield the solvers that may know more, whether they support the problem or not."""
    # Solvers that are rarely needed are imported where they are used.
    from gamedp.solvers.methods.interval_iteration import IntervalIteration  # noqa: PLC0415
    from gamedp.solvers.methods.optimistic_value_iteration import OptimisticValueIteration  # noqa: PLC0415
    from gamedp.solvers.methods.strategy_iteration import StrategyIteration  # noqa: PLC0415

    if isinstance(problem.objective, AverageReward):
        yield from _exact(problem, relative=relative)
        return
    if isinstance(problem.objective, Discounted):
        yield TopologicalValueIteration()
        yield StrategyIteration()
        yield from _exact(problem, relative=relative)
        return
    if _is_scattered(problem):
        return
    if relative:
        yield OptimisticValueIteration()
        yield IntervalIteration()
    yield StrategyIteration()
    if not relative:
        yield IntervalIteration()
    yield from _exact(problem, relative=relative)


def _exact(problem: Problem, *, relative: bool) -> Iterator[Solver]:
    """Yield the solver in rational numbers, if doubles cannot decide the problem.

    A value that is 0 because terms cancel is proven to be so; numbers that no double holds are not
    rounded. Its proofs hold for exactly the model's numbers, and for no others near them.
    """
    if problem.model.num_states > MAX_STATES_IN_RATIONALS or not (
        relative or _is_given_exactly(problem.model)
    ):
        return
    from gamedp.solvers.methods.exact_policy_iteration import ExactPolicyIteration  # noqa: PLC0415

    yield ExactPolicyIteration()


def _is_given_exactly(model: Model) -> bool:
    """Return whether a model was given fractions, and nothing else in it is rounded."""
    if not model.fractions:
        return False
    payoff, reward, _ = model.rounding
    exactly = model_numbers(
        rewards=given_numbers(model, "rewards"), payoffs=given_numbers(model, "payoffs")
    )["rounding"]
    return bool(payoff <= exactly[0] and reward <= exactly[1])


def _is_scattered(problem: Problem) -> bool:
    """Return whether there are too many components to handle them one by one."""
    structure = problem.model.structure
    return int(structure.nontrivial.sum()) * structure.num_states > MAX_STATES_TIMES_COMPONENTS


def forcing_solver(problem: Problem, solver: Any) -> TopologicalValueIteration | None:
    """Return what tries first if each player can force an end; None if that is not tried.

    Parameters
    ----------
    solver
        The solver that is given, or None.
    """
    is_other = not isinstance(solver, TopologicalValueIteration) or counts_zero(problem)
    if (solver is not None and is_other) or not _is_tried_first(problem):
        return None
    return TopologicalValueIteration() if solver is None else solver


def _is_tried_first(problem: Problem) -> bool:
    """Return whether to try first if each player can force an end; retrograde is faster."""
    return not problem.model.is_deterministic and may_be_forced(problem)
