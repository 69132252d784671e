"""Ranks of bounds: the numbers that the checker asks for, besides the bounds.

The checker decides which choices keep a bound; from those, ranks are found by a breadth-first
search backwards from where nothing is left to be shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.certificate import Certificate
from gamedp.certificate.claim import may_drift
from gamedp.certificate.sides import Ending, Side, turned
from gamedp.certificate.worth import exactly_keeps, slices, worths
from gamedp.certifying.drifts import find_drifts
from gamedp.kernels import ranks as kernels
from gamedp.kernels.rounding import TINY
from gamedp.objectives import Reachability, TotalReward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Ranking"]

NONE = kernels.NONE

MOST_VISITS = 30_000_000
"""Transitions looked at to widen the bounds, for one margin; at least ten times each."""

MOST_EXACT = 20_000
"""Choices to judge in rational numbers; if more of a larger model need it, there are no ranks."""


class Ranking:
    """Both bounds, turned, and the ranks of their nodes as they are found.

    Attributes
    ----------
    sides : (lower, upper)
    good : (2, C) bool
        The choices that keep the bound, up to the margin.
    best : (2, S)
        The choices that seem to be worth the most; NONE where there are none.
    num_open : int
        How many choices rounding leaves in doubt: they would have to be decided in rational
        numbers, and are more than `most_exact`. There are no ranks then.
    active : (2, S) bool
        Where a finite bound is to be shown.
    ranks, gains, via : (2, S)
        As the kernels leave them: NONE where there are none.
    """

    def __init__(
        self, model: Model, plain: Certificate, margin: float, most_exact: int = MOST_EXACT
    ) -> None:
        self.model = model
        self.plain = plain
        self.ranked = isinstance(plain.objective, (TotalReward, Reachability))
        shape = (2, model.num_states)
        none = np.full(model.num_states, NONE)
        start = plain
        if self.ranked:
            start = attrs.evolve(
                plain, lower_ranks=none, upper_ranks=none, lower_gains=None, upper_gains=None
            )
        with np.errstate(all="ignore"):  # what overflows is undecided, and not good
            self.sides = [turned(model, start, plain.objective, sign) for sign in (1.0, -1.0)]
        self.required = np.stack([side.required for side in self.sides])
        self.bounds = np.stack([side.bound for side in self.sides])
        self.active = self.required & (self.bounds < np.inf)
        rewarded = self.sides[0].inequalities[0].rewarded
        rewards = model.rewards if rewarded else np.zeros(model.num_choices)
        structure = model.structure
        self.graph = kernels.Graph(
            model.choice_offsets,
            model.transition_offsets,
            model.successors,
            model.probabilities,
            structure.order,
            structure.owners,
            np.stack([side.maximise for side in self.sides]),
            np.stack([rewards, -rewards]),
        )
        self.margin = margin
        self.num_open = self._judge(most_exact)
        self.via = np.full(shape, NONE)
        self.drifts = np.full(shape, -np.inf)
        self.ranks = np.full(shape, NONE)
        self.gains = np.full(shape, NONE)
        self.escapes = np.full(shape, NONE)
        self.free = np.array([[side.ending is Ending.FREE] for side in self.sides])
        self.strict = np.array([[side.ending is Ending.STRICT] for side in self.sides])
        self.finite = self._leads_to_claims()
        if self.ranked and not self.num_open:
            self._rank()
            self._trap()

    def _judge(self, most_exact: int) -> int:
        """Find the choices that keep their bound, and the best ones; return how many are open."""
        model, sides = self.model, self.sides
        shape = (2, model.num_choices)
        judged = kernels.Judged(
            np.empty(shape, np.bool_),
            np.empty(shape, np.bool_),
            np.empty((2, model.num_states), np.int64),
        )
        if sides[0].inequalities[0].rest is None and sides[1].inequalities[0].rest is None:
            constants = np.array([side.constant for side in sides])
            missing = np.array([side.missing_counts for side in sides])
            with np.errstate(all="ignore"):  # what overflows is in doubt
                kernels.judge_jit(
                    *(self.graph, self.bounds, constants, sides[0].discount),
                    *(missing, self.margin, judged),
                )
        else:
            for number, side in enumerate(sides):
                self._judge_sums(number, side, judged)
        self.good, self.best = judged.holds, judged.best
        if self.margin:
            return 0
        doubtful = judged.doubtful & self.required[:, model.structure.owners]
        count = int(doubtful.sum())
        if count > most_exact:
            return count
        for number, choice in np.argwhere(doubtful).tolist():
            self.good[number, choice] = exactly_keeps(model, sides[number], choice)
        return 0

    def _judge_sums(self, number: int, side: Side, judged: kernels.Judged) -> None:
        """Judge a side whose bounds are sums of doubles."""
        for rows in slices(self.model):
            here = slice(int(rows.choices[0]), int(rows.choices[-1]) + 1)
            with np.errstate(all="ignore"):
                worth = worths(self.model, side, side.inequalities[0], rows)
                bound, rest = side.inequalities[0].of(rows.state_of)
                if self.margin:
                    size = np.maximum(np.abs(worth.least), np.abs(worth.most))
                    bound = bound - self.margin * np.maximum(size, np.abs(bound)) - TINY
                    rest = None
                holds, fails = worth.compare(bound, rest)
                lower = worth.lower()
            infinite = side.bound[rows.state_of] == np.inf
            judged.holds[number, here] = holds | infinite
            judged.doubtful[number, here] = ~(holds | fails | infinite)
            judged.best[number, rows.movers] = here.start + _first_best(lower, rows)

    def _leads_to_claims(self) -> Flags:
        """Say which choices cannot lead to a bound of minus infinity; (2, C)."""
        finite = np.ones_like(self.good)
        if not (self.bounds == np.inf).any():
            return finite  # of no interest
        for number, side in enumerate(self.sides):
            for rows in slices(self.model):
                after = rows.follow(side.bound, -side.inequalities[0].other)
                here = slice(int(rows.choices[0]), int(rows.choices[-1]) + 1)
                finite[number, here] = np.minimum.reduceat(after, rows.starts) > -np.inf
        return finite

    def _rank(self) -> None:
        """Rank the nodes of finite bounds."""
        model = self.model
        num_states = model.num_states
        by_rank = np.array([[side.ending is not Ending.FREE] for side in self.sides])
        offsets = np.zeros(num_states + 1, np.int64)
        sources = np.empty(model.num_transitions, np.int64)
        kernels.turn_round_jit(self.graph, offsets, sources)
        queue = np.empty(2 * num_states, np.int64)
        seen = np.zeros((2, model.num_choices), np.bool_)
        waiting = np.tile(np.diff(model.choice_offsets), (2, 1))
        at_end = np.stack([side.ranks[0] == 0 for side in self.sides]) & by_rank
        reached = self._queue(queue, 0, at_end, 0)
        candidates = self.active & by_rank
        good = self.good & by_rank
        first = 0
        while True:
            first = kernels.spread_jit(
                self.graph, offsets, sources, good, first, reached, queue, seen, waiting,
                self.ranks, self.via,
            )  # fmt: skip
            left = candidates & (self.ranks == NONE)
            left_over = left & ~self._may_last(left)
            if not left_over.any() or self.sides[1].ending is Ending.STRICT:
                return
            rank = max(1, int(self.ranks.max()) + 1)  # 0 is for ends alone
            content = np.stack([side.bound <= side.draw for side in self.sides])
            members, gains = self._gaining(left, self.ranks != NONE, good, content)
            if not members.any():
                members = self._drifting(left, self.ranks != NONE, good)
            if not members.any():
                return
            self.gains[members] = gains[members]
            reached = self._queue(queue, first, members, rank)

    def _queue(self, queue: Integers, first: int, members: Flags, rank: int) -> int:
        """Give nodes a rank and put them into the queue; return where it ends."""
        self.ranks[members] = rank
        nodes = np.flatnonzero(members)
        queue[first : first + len(nodes)] = nodes
        return first + len(nodes)

    def _may_last(self, left: Flags) -> Flags:
        """Say of which nodes nothing more is asked, as they lose nothing by endless play."""
        may = np.zeros_like(left)
        for number, side in enumerate(self.sides):
            if not left[number].any():
                continue
            owners = self.model.structure.owners
            choices = self.good[number] & (side.bound <= side.draw)[owners]
            choices &= (self.graph.rewards[number] >= 0) | side.never_earns
            movers = np.flatnonzero(np.diff(self.model.choice_offsets))
            starts = self.model.choice_offsets[movers]
            may[number, movers] = np.where(
                side.maximise[movers],
                np.logical_or.reduceat(choices, starts),
                np.logical_and.reduceat(choices, starts),
            )
        return may

    def _trapped(self, members: Flags, ranked: Flags, good: Flags) -> Flags:
        """Return the largest part of a set that stays within itself or leads to what is ranked."""
        members = members.copy()
        while kernels.keep_inside_jit(self.graph, good, ranked, members, self.gains):
            pass
        return members

    def _gaining(
        self, members: Flags, ranked: Flags, good: Flags, content: Flags
    ) -> tuple[Flags, Integers]:
        """Return the largest part of a set that leads to what is ranked, or stays within itself.

        There it earns again and again, or gets to who is content.
        """
        while True:
            gains, via = np.full(members.shape, NONE), np.full(members.shape, NONE)
            while kernels.find_gains_jit(self.graph, good, ranked, content, members, gains, via):
                pass
            if (members == (gains != NONE)).all():
                self.via[members] = via[members]
                return members, gains
            members = gains != NONE

    def _drifting(self, left: Flags, ranked: Flags, good: Flags) -> Flags:
        """Find a set that stays within itself and earns ever more, in spite of what it loses."""
        members = np.zeros_like(left)
        if not may_drift(self.model, self.plain.objective):
            return members
        for number in range(2):
            rewards = self.graph.rewards[number]
            if not left[number].any() or not (rewards > 0).any() or not (rewards < 0).any():
                continue
            members[number], drifts, via = find_drifts(
                self.model,
                self.graph.helps[number],
                rewards,
                good[number],
                ranked[number],
                left[number],
            )
            self.drifts[number, members[number]] = drifts[members[number]]
            self.via[number, members[number]] = via[members[number]]
        return members

    def _trap(self) -> None:
        """Rank the nodes of infinite bounds."""
        left = self.required & (self.bounds == np.inf)
        if not left.any():
            return
        for number, side in enumerate(self.sides):
            if side.escapes is not None:
                self._escape(number, side.escapes == 0)
        self.ranks[left] = NONE
        ends = np.stack([side.ends for side in self.sides])
        ranked = ends & (self.bounds == np.inf)
        rank = int(ranked.any())
        # Where endless play is worth nothing but to be endless, all choices do for that.
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
                return
            self.ranks[members] = rank
            ranked |= members
            left &= ~members
            rank += 1

    def _escape(self, number: int, target: Flags) -> None:
        """Rank the nodes of a side by how they get to the target, whatever that earns."""
        model, shape = self.model, self.ranks.shape
        offsets = np.zeros(model.num_states + 1, np.int64)
        sources = np.empty(model.num_transitions, np.int64)
        kernels.turn_round_jit(self.graph, offsets, sources)
        at_end, good = np.zeros(shape, np.bool_), np.zeros_like(self.good)
        at_end[number], good[number] = target, self.finite[number]
        self.escapes[at_end] = 0
        nodes = np.flatnonzero(at_end)
        queue = np.empty(2 * model.num_states, np.int64)
        queue[: len(nodes)] = nodes
        seen = np.zeros((2, model.num_choices), np.bool_)
        waiting = np.tile(np.diff(model.choice_offsets), (2, 1))
        kernels.spread_jit(
            self.graph, offsets, sources, good, 0, len(nodes), queue, seen, waiting,
            self.escapes, np.full(shape, NONE),
        )  # fmt: skip

    def certificate(self) -> Certificate:
        """Return the certificate with these ranks."""
        if not self.ranked:
            return self.plain
        gains: list[Any] = [None, None]
        if (self.gains > 0).any():
            gains = list(np.maximum(self.gains, 0))
        biases: list[Any] = [None, None]
        if np.isfinite(self.drifts).any():
            biases = [self.drifts[0], -self.drifts[1]]
        return attrs.evolve(
            self.plain,
            lower_ranks=self.ranks[0],
            upper_ranks=self.ranks[1],
            lower_gains=gains[0],
            upper_gains=gains[1],
            escapes=self.escapes[1] if (self.escapes != NONE).any() else None,
            bias_lower=biases[0],
            bias_upper=biases[1],
        )

    def relaxed(self, most_sweeps: int) -> Certificate | None:
        """Return wider bounds, which one policy keeps: that by which the ranks were found.

        With these ranks, which do for wider bounds as well; None if they still move after so many
        sweeps.
        """
        via = np.where(self.via == NONE, self.best, self.via)
        constants = np.array([side.constant for side in self.sides])
        bounds = self.bounds.copy()
        sweeps = max(10, MOST_VISITS // max(1, self.model.num_transitions))
        for _ in range(min(most_sweeps, sweeps)):
            lowered = kernels.relax_jit(
                self.graph, via, self.active, constants, self.sides[0].discount, bounds
            )
            if not lowered:
                return attrs.evolve(self.certificate(), lower=bounds[0], upper=-bounds[1])
        return None


def _first_best(worth: Floats, rows: Any) -> Integers:
    """Return the place of the first choice of each state that is worth the most."""
    best = np.maximum.reduceat(worth, rows.first_choices)
    counts = np.diff(np.append(rows.first_choices, len(worth)))
    places = np.where(worth == np.repeat(best, counts), np.arange(len(worth)), len(worth))
    return np.minimum.reduceat(places, rows.first_choices)
