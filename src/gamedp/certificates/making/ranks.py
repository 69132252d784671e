"""Ranks of bounds: the numbers that the checker needs besides the bounds.

A compiled twin of the checker's first look decides which choices keep a bound; from those, ranks
are found by a few sweeps, or else by a breadth-first search backwards from states that need no
proof.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.equation import unordered_equation
from gamedp.certificates.checking.choice_values import choice_values, exactly_keeps, slices
from gamedp.certificates.checking.directions import Direction, Ending, may_drift, oriented
from gamedp.certificates.checking.first_look import after_swap
from gamedp.certificates.making import kernels
from gamedp.certificates.making.endless import find_drifts
from gamedp.graph.graph import Reverse, transpose_jit
from gamedp.model.objectives import Reachability, TotalReward
from gamedp.runtime.floats import TINY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.bellman.equation import Equation
    from gamedp.certificates.certificate import Certificate
    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Floats

    Integers = NDArray[np.int64]

NONE = kernels.NONE

MOST_VISITS = 30_000_000
"""Largest number of transition visits to widen the bounds, per margin; at least ten each."""

MOST_RANKING_SWEEPS, FEWEST = 20, 8
"""Largest number of sweeps to rank nodes before a search; each ranks one in so many left."""

MOST_EXACT = 20_000
"""Largest number of choices to decide in rational numbers; beyond it there are no ranks."""


class Sides:
    """Both bounds, oriented, and the equation that they must satisfy.

    Attributes
    ----------
    directions : (lower, upper)
    bounds : (2, S)
        Oriented to be lower ones.
    required, active : (2, S) bool
        Whether something must be shown, and whether it is a finite bound.
    ranked : bool
        Whether the bounds need ranks.
    """

    def __init__(self, model: Model, plain: Certificate) -> None:
        self.model = model
        self.plain = plain
        self.ranked = isinstance(plain.objective, (TotalReward, Reachability))
        start = plain
        if self.ranked:
            none = np.broadcast_to(np.int64(NONE), model.num_states)
            start = plain.with_evidence(
                lower_ranks=none, upper_ranks=none, lower_gains=None, upper_gains=None
            )
        with np.errstate(all="ignore"):  # what overflows is undecided, and not good
            self.directions = [
                oriented(model, start, plain.objective, sign) for sign in (1.0, -1.0)
            ]
        self.required = np.stack([direction.required for direction in self.directions])
        self.bounds = np.stack([direction.bound for direction in self.directions])
        self.active = self.required & (self.bounds < np.inf)
        rewarded = self.directions[0].inequalities[0].rewarded
        rewards = model.rewards if rewarded else np.zeros(model.num_choices)
        self.equation = unordered_equation(
            model.structure.graph,
            model.probabilities,
            np.stack([rewards, -rewards]),
            np.stack([direction.maximise for direction in self.directions]),
        )

    @functools.cached_property
    def ordered(self) -> Equation:
        """The same equation with the states in the order in which solvers sweep."""
        order = self.model.structure.order.astype(self.equation.order.dtype, copy=True)
        return self.equation._replace(order=order)

    @functools.cached_property
    def reverse(self) -> Reverse:
        """The transposed graph; changes of places are distinguished."""
        model = self.model
        plain = model.structure.reverse
        if not model.has_swaps:
            return plain
        offsets, choices = np.empty_like(plain.offsets), np.empty_like(plain.choices)
        transpose_jit(
            model.transition_offsets, model.successors, model.probabilities, offsets, choices
        )
        offsets.flags.writeable = choices.flags.writeable = False  # of one type with the others
        return Reverse(plain.owners, offsets, choices)

    def columns(self) -> Floats:
        """Return the bounds of both sides, and those after a change of places; (S, 4)."""
        swaps = self.model.has_swaps
        columns = np.empty((self.model.num_states, 4))
        for number, direction in enumerate(self.directions):
            columns[:, number] = after = direction.bound
            if swaps:
                with np.errstate(all="ignore"):  # infinite bounds stay what they are
                    after = after_swap(direction, direction.inequalities[0])
            columns[:, 2 + number] = after
        return columns


class FirstLook(Sides):
    """Both bounds, and by how much each choice may miss the claim.

    Attributes
    ----------
    misses : (2, C)
        By which part of the bounds: 0 for choices that surely keep theirs.
    best : (2, S)
        The choices that seem to have the largest value; NONE where there are none.
    num_open : int
        How many choices rounding leaves in doubt: they would have to be decided in rational
        numbers, and are more than was allowed.
    """

    def __init__(self, model: Model, plain: Certificate, most_exact: int = MOST_EXACT) -> None:
        super().__init__(model, plain)
        self._look()
        self.num_open = 0
        self.decide(most_exact)

    def _look(self) -> None:
        """Find the misses of choices, and the best choices."""
        model, directions = self.model, self.directions
        shape = (2, model.num_choices)
        found = kernels.ChoiceMisses(
            np.empty(shape), np.empty(shape, np.bool_), np.empty((2, model.num_states), np.int64)
        )
        first = [direction.inequalities[0] for direction in directions]
        if first[0].rest is None and first[1].rest is None:
            missing = np.array([direction.missing_counts for direction in directions])
            rounded = model.has_swaps and directions[0].constant != 0
            with np.errstate(all="ignore"):  # what overflows is in doubt
                kernels.look_jit(
                    self.equation, self.columns(), directions[0].discount, missing, rounded, found
                )
        else:
            for number, direction in enumerate(directions):
                self._look_at_sums(number, direction, found)
        self.misses, self.best = found.misses, found.best
        self.undecided = found.undecided
        if found.undecided.any():
            self.undecided &= self.required[:, self.model.structure.owners]

    def decide(self, most_exact: int) -> None:
        """Decide the doubtful choices in rational numbers, unless they are too many."""
        self.num_open = int(self.undecided.sum())
        if self.num_open > most_exact:
            return
        for number, choice in np.argwhere(self.undecided).tolist():
            if exactly_keeps(self.model, self.directions[number], choice):
                self.misses[number, choice] = 0.0
        self.undecided[:] = False
        self.num_open = 0

    def _look_at_sums(self, number: int, direction: Direction, found: kernels.ChoiceMisses) -> None:
        """Find the misses in a direction whose bounds are sums of doubles."""
        for rows in slices(self.model):
            here = slice(int(rows.choices[0]), int(rows.choices[-1]) + 1)
            with np.errstate(all="ignore"):
                values = choice_values(self.model, direction, direction.inequalities[0], rows)
                bound, rest = direction.inequalities[0].of(rows.state_of)
                holds, fails = values.compare(bound, rest)
                gap, blur = values.short_of(bound, rest)
                missed = gap + blur - (values.rest - values.slack) - TINY
                size = np.maximum(np.maximum(np.abs(values.least), np.abs(values.most)), abs(bound))
                part = np.fmax(missed / size, kernels.LEAST_MISS)
                lower = values.lower()
            part[np.isinf(values.least) | np.isinf(values.most) | (size == 0)] = np.inf
            infinite = bound == np.inf
            found.misses[number, here] = np.where(holds | infinite, 0.0, part)
            found.undecided[number, here] = ~(holds | fails | infinite)
            found.best[number, rows.movers] = here.start + _first_best(lower, rows)

    def allows(self, margin: float) -> bool:
        """Return whether all finite bounds have the good choices that they need."""
        return not (self.active & ~self.settles(self.misses <= margin)).any()

    def settles(self, choices: Flags) -> Flags:
        """Return the nodes with one of some choices if a helper moves, and only these otherwise."""
        some = np.zeros_like(self.required)
        every = np.ones_like(self.required)
        owners = self.model.structure.owners
        for number in range(2):
            some[number, owners.take(np.flatnonzero(choices[number]))] = True
            every[number, owners.take(np.flatnonzero(~choices[number]))] = False
        return np.where(self.equation.maximise, some, every)


class Ranking:
    """The ranks of the nodes of both bounds found so far.

    Parameters
    ----------
    look : FirstLook
    margin : float
        By which part of the bounds a choice may miss its inequality, and count as good.

    Attributes
    ----------
    good : (2, C) bool
    ranks, gains, via : (2, S)
        As the kernels leave them: NONE where there are none.
    is_complete : bool
        Whether no node is left that would need a rank, or a good choice; the checker refuses what
        is not complete. (It may refuse what is.)
    """

    def __init__(self, look: FirstLook, margin: float) -> None:
        self.look = look
        self.model, self.plain, self.equation = look.model, look.plain, look.equation
        self.directions, self.bounds = look.directions, look.bounds
        self.required, self.active = look.required, look.active
        shape = (2, self.model.num_states)
        self.good = look.misses <= margin
        self.via = np.full(shape, NONE)
        self.drifts = np.full(shape, -np.inf)
        self.ranks = np.full(shape, NONE)
        self.gains = np.full(shape, NONE)
        self.escapes = np.full(shape, NONE)
        self.free = np.array([[direction.ending is Ending.FREE] for direction in self.directions])
        self.finite = self._leads_to_claims()
        if look.ranked:
            left = self._rank()
            left |= self._trap()
        else:
            left = np.zeros(shape, np.bool_)
        if self.free.any():
            may_do = self.good | look.undecided
            left |= self.active & self.free & ~look.settles(may_do)
        self.is_complete = not left.any()

    def _leads_to_claims(self) -> Flags:
        """Return the choices that cannot lead to a bound of minus infinity; (2, C)."""
        finite = np.ones_like(self.good)
        if not (self.bounds == np.inf).any():
            return finite  # of no interest
        for number, direction in enumerate(self.directions):
            for rows in slices(self.model):
                after = rows.follow(direction.bound, -direction.inequalities[0].other)
                here = slice(int(rows.choices[0]), int(rows.choices[-1]) + 1)
                finite[number, here] = np.minimum.reduceat(after, rows.starts) > -np.inf
        return finite

    def _rank(self) -> Flags:
        """Rank the nodes of finite bounds; return those that lack a rank and need one."""
        at_end = np.stack([direction.ranks[0] == 0 for direction in self.directions]) & ~self.free
        candidates = self.active & ~self.free
        good = self.good & ~self.free
        left = self._rank_by_sweeps(at_end, candidates, good)
        return self._spread(at_end, candidates, good) if left.any() else left

    def _rank_by_sweeps(self, at_end: Flags, candidates: Flags, good: Flags) -> Flags:
        """Rank nodes by a few sweeps; return those that are left."""
        self.ranks[at_end] = 0
        waiting = int(np.count_nonzero(candidates & ~at_end))
        for sweep in range(MOST_RANKING_SWEEPS):
            ranked = kernels.rank_in_order_jit(
                self.equation, sweep % 2 == 1, good, candidates, self.ranks, self.via
            )
            waiting -= ranked
            if waiting == 0 or FEWEST * ranked < waiting:
                break
        left = candidates & (self.ranks == NONE)
        left_over: Flags = left & ~self._may_last(left)
        return left_over

    def _spread(self, at_end: Flags, candidates: Flags, good: Flags) -> Flags:
        """Rank nodes by their number of steps; return those that are left."""
        model = self.model
        queue = np.empty(2 * model.num_states, np.int64)
        seen = np.zeros((2, model.num_choices), np.bool_)
        waiting = np.tile(np.diff(model.choice_offsets), (2, 1))
        self.ranks[:] = NONE
        self.via[:] = NONE
        reached = self._queue(queue, 0, at_end, 0)
        first = 0
        while True:
            first = kernels.spread_jit(
                self.equation, self.look.reverse, good, first, reached, queue, seen, waiting,
                self.ranks, self.via,
            )  # fmt: skip
            left = candidates & (self.ranks == NONE)
            left_over: Flags = left & ~self._may_last(left)
            if not left_over.any() or self.directions[1].ending is Ending.STRICT:
                return left_over
            rank = max(1, int(self.ranks.max()) + 1)  # 0 is for ends alone
            content = np.stack([direction.bound <= direction.draw for direction in self.directions])
            members, gains = self._gaining(left, self.ranks != NONE, good, content)
            if not members.any():
                members = self._drifting(left, self.ranks != NONE, good)
            if not members.any():
                return left_over
            self.gains[members] = gains[members]
            reached = self._queue(queue, first, members, rank)

    def _queue(self, queue: Integers, first: int, members: Flags, rank: int) -> int:
        """Rank nodes and put them into the queue; return its end."""
        self.ranks[members] = rank
        nodes = np.flatnonzero(members)
        queue[first : first + len(nodes)] = nodes
        return first + len(nodes)

    def _may_last(self, left: Flags) -> Flags:
        """Return the nodes that need no rank, as they lose nothing by endless play."""
        if not left.any():
            return left
        content = left & np.stack(
            [
                (direction.bound <= direction.draw) & (direction.ending is Ending.RANKED)
                for direction in self.directions
            ]
        )
        earns = self.equation.constants >= 0
        earns |= np.array([[direction.never_earns] for direction in self.directions])
        may: Flags = content & self.look.settles(self.good & earns)
        return may

    def _trapped(self, members: Flags, ranked: Flags, good: Flags) -> Flags:
        """Return the largest part of a set that stays within itself or leads to ranked nodes."""
        members = members.copy()
        while kernels.keep_inside_jit(
            self.equation, self.model.structure.order, good, ranked, members, self.gains
        ):
            pass
        return members

    def _gaining(
        self, members: Flags, ranked: Flags, good: Flags, content: Flags
    ) -> tuple[Flags, Integers]:
        """Return the largest part of a set that leads to ranked nodes, or stays within itself.

        There it earns again and again, or gets to who is content.
        """
        while True:
            gains, via = np.full(members.shape, NONE), np.full(members.shape, NONE)
            while kernels.find_gains_jit(
                self.equation,
                self.model.structure.order,
                good,
                ranked,
                content,
                members,
                gains,
                via,
            ):
                pass
            if (members == (gains != NONE)).all():
                self.via[members] = via[members]
                return members, gains
            members = gains != NONE

    def _drifting(self, left: Flags, ranked: Flags, good: Flags) -> Flags:
        """Find a set that stays within itself and earns ever more, in spite of losses."""
        members = np.zeros_like(left)
        if not may_drift(self.model, self.plain.objective):
            return members
        for number in range(2):
            rewards = self.equation.constants[number]
            if not left[number].any() or not (rewards > 0).any() or not (rewards < 0).any():
                continue
            members[number], drifts, via = find_drifts(
                self.model,
                self.equation.maximise[number],
                rewards,
                good[number],
                ranked[number],
                left[number],
            )
            self.drifts[number, members[number]] = drifts[members[number]]
            self.via[number, members[number]] = via[members[number]]
        return members

    def _trap(self) -> Flags:
        """Rank the nodes of infinite bounds; return those that cannot be ranked."""
        left: Flags = self.required & (self.bounds == np.inf)
        if not left.any():
            return left
        for number, direction in enumerate(self.directions):
            if direction.escapes is not None:
                self._escape(number, direction.escapes == 0)
        self.ranks[left] = NONE
        ends = np.stack([direction.ends for direction in self.directions])
        ranked = ends & (self.bounds == np.inf)
        rank = int(ranked.any())
        # Where endless play counts as infinite by itself, all choices do for that.
        while left.any():
            members = self._trapped(left & self.free, ranked, np.ones_like(self.good))
            earning = left & ~self.free
            nobody = np.zeros_like(left)
            earns, gains = self._gaining(earning, ranked, self.finite, nobody)
            if not earns.any():
                earns = self._drifting(earning, ranked, self.finite)
            self.gains[earns] = gains[earns]
            members |= earns
            if not members.any():
                return left
            self.ranks[members] = rank
            ranked |= members
            left &= ~members
            rank += 1
        return left

    def _escape(self, number: int, target: Flags) -> None:
        """Rank the nodes of a direction by their way to the target, whatever that earns."""
        model, shape = self.model, self.ranks.shape
        at_end, good = np.zeros(shape, np.bool_), np.zeros_like(self.good)
        at_end[number], good[number] = target, self.finite[number]
        self.escapes[at_end] = 0
        nodes = np.flatnonzero(at_end)
        queue = np.empty(2 * model.num_states, np.int64)
        queue[: len(nodes)] = nodes
        seen = np.zeros((2, model.num_choices), np.bool_)
        waiting = np.tile(np.diff(model.choice_offsets), (2, 1))
        kernels.spread_jit(
            self.equation, self.look.reverse, good, 0, len(nodes), queue, seen, waiting,
            self.escapes, np.full(shape, NONE),
        )  # fmt: skip

    def certificate(self) -> Certificate:
        """Return the certificate with these ranks."""
        if not self.look.ranked:
            return self.plain
        gains: list[Any] = [None, None]
        if (self.gains > 0).any():
            gains = list(np.maximum(self.gains, 0))
        biases: list[Any] = [None, None]
        if np.isfinite(self.drifts).any():
            biases = [self.drifts[0], -self.drifts[1]]
        return self.plain.with_evidence(
            lower_ranks=self.ranks[0],
            upper_ranks=self.ranks[1],
            lower_gains=gains[0],
            upper_gains=gains[1],
            escapes=self.escapes[1] if (self.escapes != NONE).any() else None,
            bias_lower=biases[0],
            bias_upper=biases[1],
        )

    def relaxed(self, most_sweeps: int) -> Certificate | None:
        """Return wider bounds that the policy by which the ranks were found keeps.

        With these ranks, which do for wider bounds as well; None if they still move after so many
        sweeps.
        """
        look, model = self.look, self.model
        via = np.where(self.via == NONE, look.best, self.via)
        constants = np.array([direction.constant for direction in self.directions])
        bounds = self.bounds.copy()
        fails = look.misses > 0
        dirty = self.active & ~look.settles(~fails)
        helped = np.nonzero(self.active & self.equation.maximise)
        dirty[helped] = fails[helped[0], via[helped]]
        most = MOST_VISITS // max(1, model.num_transitions)
        room = min(most_sweeps, max(10, most)) * model.num_states
        for sweep in range(max(100, most)):
            lowered = kernels.relax_jit(
                self.equation, sweep % 2 == 1, look.reverse, via, self.active, constants,
                self.directions[0].discount, dirty, bounds,
            )  # fmt: skip
            room -= lowered
            if not dirty.any():
                return attrs.evolve(self.certificate(), lower=bounds[0], upper=-bounds[1])
            if room < 0:
                break
        return None


def _first_best(values: Floats, rows: Any) -> Integers:
    """Return the place of the first choice of each state with the largest value."""
    best = np.maximum.reduceat(values, rows.first_choices)
    counts = np.diff(np.append(rows.first_choices, len(values)))
    places = np.where(values == np.repeat(best, counts), np.arange(len(values)), len(values))
    return np.minimum.reduceat(places, rows.first_choices)
