"""Retrograde analysis: games without chance in which play may go on for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs
import numpy as np

from gamedp.bellman import retrograde
from gamedp.errors import InvalidModelError, shown
from gamedp.graph.graph import transpose_jit
from gamedp.model.model import describe_choice
from gamedp.model.objectives import TotalReward, draw_of, has_target
from gamedp.model.problem import Problem
from gamedp.runtime.limit import Reporter
from gamedp.runtime.slices import VISITS
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import make_solution, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback


@attrs.frozen(kw_only=True)
class Retrograde:
    """Solve a game without chance backwards from its ends; states never reached are drawn.

    For one or two players, if every choice certainly leads to one state and has no reward: chess
    endings, pursuits, mazes. States may recur: the value of endless play is that of a draw.
    Every state and every choice is visited a constant number of times.

    A player can force an end with value v or more, where v is better than a draw, exactly from the
    attractor of these ends: the states from which that player can move into it, and those from
    which the other one cannot avoid it. The same holds for v or less and the other player, where v
    is worse. From all other states each player can avoid what is worse than a draw, so a draw is
    their value: these games are determined [1]_. The attractors of all v are found in one pass,
    from the extreme payoffs inwards, as first done for chess endings [2]_.

    The bounds are the value itself; if the constant sum minus a payoff is not a 64-bit number,
    they are its two neighbours. The solution has `distances`: the number of steps to the end if
    both play optimally, and among equally good ways the winner takes the shortest, the loser the
    longest. If the value is a draw, both take the shortest way to an end with the value of a draw;
    the distance is -1 if no such way suits both, so that play goes on for ever. The policy follows
    the distances, and so never waits for a win.

    The objective defines what a draw counts: see :class:`TotalReward`.

    References
    ----------
    .. [1] E. Grädel, W. Thomas, T. Wilke (eds.), "Automata, logics, and infinite games", Springer,
       2002: reachability games are determined, with positional strategies.
    .. [2] K. Thompson, "Retrograde analysis of certain endgames", ICCA Journal 9 (1986).

    Examples
    --------
    State 0 may wait or go to 1; there the opponent may go back, or to an end that pays 1 or 2.

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 5, 5, 5], [0, 1, 2, 3, 4, 5], [0, 1, 0, 2, 3], [1.0] * 5,
    ...     players=[0, 1, 0, 0], terminals=[2, 3], payoffs=[1.0, 2.0],
    ... )
    >>> gamedp.solve(model, solver=gamedp.solvers.Retrograde())
    <Solution value=0.0 lower=0.0 upper=0.0 guarantee=TWO_SIDED status=SOLVED>
    >>> solution = gamedp.solve(model, gamedp.TotalReward(draw=1.5), gamedp.solvers.Retrograde())
    >>> solution.value(), solution.distance(0), gamedp.solve(model).distance(0)
    (1.5, None, None)
    >>> solution = gamedp.solve(model, gamedp.TotalReward(draw=3), gamedp.solvers.Retrograde())
    >>> solution.value(1), solution.distance(1), solution.distance(0)
    (1.0, 1, None)
    """

    counts_endless_value: ClassVar[bool] = True
    """Whether it supports endless play that counts another number than 0."""

    def supports(self, problem: Problem) -> Support:
        """Return whether this solver supports the problem, and why not."""
        model = problem.model
        objective = problem.objective
        if not isinstance(objective, TotalReward) or objective.until is not None:
            kind = "other targets" if has_target(objective) else type(objective).__name__
            return Support(False, f"is for TotalReward, not for {kind}.")
        if model.is_general_sum:
            reason = "is for one player or two opponents; BackwardInduction supports more."
            return Support(False, reason)
        if not model.is_deterministic:
            offsets = model.transition_offsets
            unsure = (np.diff(offsets) > 1) | (abs(model.probabilities[offsets[:-1]]) != 1)
            choice = int(np.flatnonzero(unsure)[0])
            return Support(
                False,
                "needs choices that lead to one state for sure; "
                f"{describe_choice(model, choice)} does not. Use TopologicalValueIteration.",
            )
        if model.rewards.any():
            choice = int(np.flatnonzero(model.rewards)[0])
            return Support(
                False,
                "is for payoffs at the end alone; "
                f"{describe_choice(model, choice)} earns {float(model.rewards[choice])!r} on the "
                "way. Use TopologicalValueIteration, or BackwardInduction with a FiniteHorizon.",
            )
        low, high = problem.draws
        if low != high:
            return Support(False, problem.undeclared())
        return Support(True)

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        """Solve the problem; if a bound is not the value, only rounding separates them."""
        require(self, problem)
        reporter = Reporter(progress, "solve")
        model = problem.model
        ladder = _Levels.of(model, draw_of(problem.objective, model))
        levels, distances = _spread(problem, ladder, reporter)
        levels[levels < 0] = ladder.draw
        policy = np.full(model.num_states, -1, np.int64)
        retrograde.choose_jit(
            model.choice_offsets,
            model.successors,
            model.probabilities,
            len(ladder.values) - 1,
            levels,
            distances,
            policy,
        )
        numbers = (ladder.values[levels], ladder.lower[levels], ladder.upper[levels])
        return make_solution(
            problem,
            self,
            numbers,
            policy,
            tolerance=tolerance,
            seconds=reporter.seconds,
            distances=distances,
        )


@attrs.frozen(eq=False)
class _Levels:
    """The possible values of a state, ascending and without duplicates.

    Attributes
    ----------
    values, lower, upper : (L,) float64
        The nearest 64-bit numbers, and bounds.
    terminals : (Z,) int64
        The index of the value of each terminal state.
    draw : int
        The index of the draw.
    """

    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    terminals: NDArray[np.int64]
    draw: int

    @classmethod
    def of(cls, model: Model, draw: float) -> _Levels:
        """Sort the payoffs, with their complements if players change places.

        Each value is an exact sum of two 64-bit numbers, the first of which is the rounded sum:
        they can therefore be sorted without any error.
        """
        payoffs = model.payoffs + 0.0  # no negative zeros
        rounded = np.concatenate([payoffs, [draw + 0.0]])
        rest = np.zeros(len(rounded))
        if model.has_swaps:
            other, other_rest = _exact_difference(model.constant_sum, payoffs)
            if not np.isfinite(other).all():
                state = model.state(int(model.terminals[np.flatnonzero(~np.isfinite(other))[0]]))
                message = (
                    f"the payoff in {shown(state)} leaves for the other player, of the constant "
                    f"sum {model.constant_sum!r}, what is beyond the range of 64-bit floating "
                    "point."
                )
                raise InvalidModelError(message)
            rounded = np.concatenate([rounded, other])
            rest = np.concatenate([rest, other_rest])
        order = np.lexsort((rest, rounded))
        rounded, rest = rounded[order], rest[order]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (rounded[1:] != rounded[:-1]) | (rest[1:] != rest[:-1])
        places = np.empty(len(order), np.int64)
        places[order] = np.cumsum(is_new) - 1
        values, rest = rounded[is_new], rest[is_new]
        return cls(
            values=values,
            lower=np.where(rest < 0, np.nextafter(values, -np.inf), values),
            upper=np.where(rest > 0, np.nextafter(values, np.inf), values),
            terminals=places[: len(payoffs)],
            draw=int(places[len(payoffs)]),
        )


def _exact_difference(
    minuend: float, subtrahends: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rounded differences, and their exact rounding errors (Knuth)."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = minuend - subtrahends
        shown = difference - minuend
        rest = (minuend - (difference - shown)) - (subtrahends + shown)
    return difference + 0.0, rest + 0.0


def _spread(
    problem: Problem, ladder: _Levels, reporter: Reporter
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the level and the distance of every state, -1 where play goes on for ever."""
    model = problem.model
    num_states = model.num_states
    last = len(ladder.values) - 1
    offsets = np.empty(num_states + 1, np.int64)
    sources = np.empty(model.num_choices, model.successors.dtype)
    # Each choice has one transition: so states are rows, and choices their transitions.
    transpose_jit(model.choice_offsets, model.successors, model.probabilities, offsets, sources)
    # The extremes first, on both sides; a draw last.
    rounds = np.where(ladder.terminals < ladder.draw, ladder.terminals, last - ladder.terminals)
    rounds[ladder.terminals == ladder.draw] = last + 1
    by_round = np.argsort(rounds, kind="stable")
    levels = np.full(num_states, -1, np.int64)
    levels[model.terminals] = ladder.terminals
    distances = np.full(num_states, -1, np.int64)
    distances[model.terminals] = 0
    cursor = np.zeros(3, np.int64)
    queue = np.empty(num_states, model.successors.dtype)
    undecided = np.diff(model.choice_offsets)
    done = False
    while not done:
        done = retrograde.spread_jit(
            VISITS,
            model.terminals[by_round],
            rounds[by_round],
            offsets,
            sources,
            problem.maximise,
            last,
            ladder.draw,
            cursor,
            queue,
            levels,
            distances,
            undecided,
        )
        solved = int(cursor[retrograde.HEAD])
        reporter.report(solved, num_states, f"{solved:,} of {num_states:,} states solved")
    return levels, distances
