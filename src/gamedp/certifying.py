"""Certificates made of solutions: their bounds, and the ranks that the checker asks for.

The checker decides which choices keep a bound; from those, ranks are found by a breadth-first
search backwards from where nothing is left to be shown. Bounds that a solver has proven need not
keep all inequalities to the last digit, as they were rounded after the proof. Where one fails, the
bounds are widened a little along one policy until they do: they hold all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.certificate import Certificate, verify
from gamedp.certificate.claim import may_drift
from gamedp.certificate.sides import Ending, Side, turned
from gamedp.certificate.verifying import compare, recompute
from gamedp.certificate.worth import exactly_keeps, slices, worths
from gamedp.drifts import find_drifts
from gamedp.errors import CertificateError, UnsupportedProblemError
from gamedp.kernels import ranks as kernels
from gamedp.objectives import AverageReward, FiniteHorizon, Reachability, TotalReward
from gamedp.refining import Refining, cut
from gamedp.solution import Guarantee, Solution, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["certify"]

NONE = kernels.NONE

MARGINS = (2.0**-50, 2.0**-44, 2.0**-38, 2.0**-30)
"""By which part of the bounds a choice may miss its inequality, to be kept to when they widen."""

MOST_MOVED = 2.0**-24
"""How far bounds are widened for rounding at most, as a part of the largest one."""

MOST_VISITS = 30_000_000
"""Transitions looked at to widen the bounds, for one margin; at least ten times each."""

LEAST_MOVED = 2.0**-1040
"""How far bounds may be widened in any case: of the smallest numbers, no part can be spared."""

MOST_EXACT = 100_000
"""Inequalities to decide in rational numbers; if there are more, bounds are widened instead."""


def certify(solution: Solution) -> Certificate:
    """Return a certificate of a solution; see :meth:`gamedp.Solution.certificate`."""
    model, objective = solution.model, solution.objective
    if solution.guarantee is not Guarantee.TWO_SIDED:
        message = (
            f"there is no certificate for a solution whose guarantee is {solution.guarantee.name}: "
            f"{solution.guarantee.value}."
        )
        raise UnsupportedProblemError(message)
    _require_rules(solution)
    plain = Certificate(
        objective=objective,
        lower=solution.lower,
        upper=solution.upper,
        draw=_worth_of_a_draw(solution),
        digest=model.digest(),
    )
    if isinstance(objective, AverageReward):
        if solution.biases is None:
            message = f"{type(solution.solver).__name__} gives no biases, which a proof needs."
            raise UnsupportedProblemError(message)
        plain = attrs.evolve(plain, bias_lower=solution.biases[0], bias_upper=solution.biases[1])
        verify(model, plain)
        return plain
    if isinstance(objective, FiniteHorizon):
        with np.errstate(all="ignore"):  # what overflows is not proven
            lower, upper = recompute(model, plain, objective)
        plain = attrs.evolve(
            plain,
            lower=np.minimum(solution.lower, lower),
            upper=np.maximum(solution.upper, upper),
        )
        verify(model, plain)
        return plain
    return _proven(solution, plain)


def _require_rules(solution: Solution) -> None:
    """Raise for an infinite value that certificates have no rules for."""
    objective = solution.objective
    until = isinstance(objective, TotalReward) and objective.until is not None
    unbounded = solution.upper == -np.inf
    if until and unbounded.any():
        state = solution.model.state(int(unbounded.argmax()))
        message = (
            f"the value of {state!r} is minus infinity: whoever wants the least can put the target "
            "off as long as they like. There are no certificates for that."
        )
        raise UnsupportedProblemError(message)


def _worth_of_a_draw(solution: Solution) -> float:
    """Return what play without end was taken to be worth, where the solver has a say in that."""
    objective = solution.objective
    worth = getattr(solution.solver, "worth_of_a_draw", None)
    pays_at_end = isinstance(objective, TotalReward) and objective.until is None
    if worth is None or not pays_at_end or solution.model.structure.always_ends:
        return 0.0
    return float(worth(solution.model))


def _proven(solution: Solution, plain: Certificate) -> Certificate:
    """Return a certificate that is accepted: of the bounds as they are, if possible.

    Else exact values are made finer than doubles, and other bounds a little wider; where that does
    not do, the values are made finer, too.
    """
    model = solution.model
    stopped_by_rounding = solution.status is Status.ROUNDING and solution.exact is None
    refused: CertificateError | None = None
    if not stopped_by_rounding:
        try:
            return _ranked(model, plain)
        except CertificateError as error:
            refused = error
    ways = [_wider, _finer, _finest]
    if stopped_by_rounding or solution.exact is not None:
        ways = [_finer, _finest, _wider]
    for way in ways:
        for margin in MARGINS:
            changed = way(solution, plain, margin)
            if changed is None:
                continue
            try:
                return _ranked(model, changed)
            except CertificateError as error:
                refused = refused or error
    message = (
        f"the bounds of {type(solution.solver).__name__} cannot be certified: {refused} Solve with "
        "a larger tolerance, or by another solver."
    )
    raise CertificateError(message) from refused


def _ranked(model: Model, plain: Certificate) -> Certificate:
    """Return a certificate of these very bounds; raise CertificateError if it is refused."""
    certificate = _Ranking(model, plain, 0.0).certificate()
    verify(model, certificate)
    return certificate


def _wider(solution: Solution, plain: Certificate, margin: float) -> Certificate | None:
    """Return bounds that were widened along a policy; None if that takes too much."""
    wider = _Ranking(solution.model, plain, margin).relaxed()
    return wider if _is_close(plain, wider) else None


def _finer(
    solution: Solution, plain: Certificate, margin: float, parts: int = 2
) -> Certificate | None:
    """Return bounds near the values as sums of some doubles; None if there are none."""
    values: Any = solution.exact
    if values is None:
        values = solution.values.tolist()
        plain = attrs.evolve(plain, lower=solution.values, upper=solution.values)
    ranking = _Ranking(solution.model, plain, margin)
    start = np.stack([cut([sign * value for value in values], parts) for sign in (1, -1)])
    inside = ranking.active & np.isfinite(start[:, 0])
    as_it_is = np.zeros_like(start)
    as_it_is[:, 0] = ranking.bounds
    refining = Refining(
        model=solution.model,
        plain=plain,
        parts=np.where(inside[:, None, :], start, as_it_is),
        active=inside,
        helps=ranking.graph.helps,
        choices=np.where(
            ranking.graph.helps, ranking.choices(), np.asarray(solution.policy, np.int64)
        ),
    )
    return refining.certificate() if refining.refine(signed=0 if solution.exact else 3) else None


def _finest(solution: Solution, plain: Certificate, margin: float) -> Certificate | None:
    """Return bounds as sums of so many doubles that no play lasts too long for them."""
    if solution.model.num_transitions > MOST_EXACT:
        return None
    return _finer(solution, plain, margin, parts=4)


def _is_close(plain: Certificate, wider: Certificate) -> bool:
    """Say whether bounds have moved by no more than rounding explains, or than they were apart.

    A solver may know one bound of a state more closely than follows from those of its neighbours.
    """
    with np.errstate(invalid="ignore"):  # infinite bounds stay what they are
        moved = np.fmax(plain.lower - wider.lower, wider.upper - plain.upper)
        apart = plain.upper - plain.lower
    finite = [bounds[np.isfinite(bounds)] for bounds in (plain.lower, plain.upper)]
    size = max(float(np.abs(bounds).max(initial=0.0)) for bounds in finite)
    room = float(apart[np.isfinite(apart)].max(initial=0.0))
    return not (moved > MOST_MOVED * size + LEAST_MOVED + room).any()


class _Ranking:
    """Both bounds, turned, and the ranks of their nodes as they are found.

    Attributes
    ----------
    sides : (lower, upper)
    good : (2, C) bool
        The choices that keep the bound, up to the margin.
    active : (2, S) bool
        Where a finite bound is to be shown.
    ranks, gains, via : (2, S)
        As the kernels leave them: NONE where there are none.
    """

    def __init__(self, model: Model, plain: Certificate, margin: float) -> None:
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
        self.good = np.zeros((2, model.num_choices), np.bool_)
        self.best = np.full(shape, NONE)
        for number, side in enumerate(self.sides):
            self._judge(number, side, margin)
        self.via = np.full(shape, NONE)
        self.drifts = np.full(shape, -np.inf)
        self.ranks = np.full(shape, NONE)
        self.gains = np.full(shape, NONE)
        if self.ranked:
            self._rank()
            self._trap()

    def _judge(self, number: int, side: Side, margin: float) -> None:
        """Find the choices that keep their bound, and the best of each state."""
        undecided = []
        for rows in slices(self.model):
            here = slice(rows.choices.start, rows.choices.stop)
            with np.errstate(all="ignore"):
                worth = worths(self.model, side, side.inequalities[0], rows)
                if margin:
                    size = np.maximum(np.abs(worth.least), np.abs(worth.most))
                    bound = side.bound[rows.state_of]
                    bound = bound - margin * np.maximum(size, np.abs(bound)) - kernels.TINY
                    holds = worth.compare(bound)[0] | (side.bound[rows.state_of] == np.inf)
                else:
                    holds, fails = compare(self.model, side, rows)
                    doubtful = ~holds & ~fails & side.required[rows.state_of]
                    undecided.append(here.start + np.flatnonzero(doubtful))
                lower = worth.lower()
            self.good[number, here] = holds
            self.best[number, rows.movers] = here.start + _first_best(lower, rows)
        choices = np.concatenate(undecided) if undecided else np.empty(0, np.int64)
        if len(choices) <= MOST_EXACT:
            for choice in choices.tolist():
                self.good[number, choice] = exactly_keeps(self.model, side, choice)

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
            rank = int(self.ranks.max()) + 1
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
        """Say of which nodes nothing more is asked, as they lose nothing by play without end."""
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
            gains = np.full(members.shape, NONE)
            while kernels.find_gains_jit(self.graph, good, ranked, content, members, gains):
                pass
            if (members == (gains != NONE)).all():
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
        until = self.sides[0].until
        ends = np.stack([side.ends for side in self.sides])
        ranked = ends & (self.bounds == np.inf)
        rank = int(ranked.any())
        good = np.ones_like(self.good)
        if not until:
            for number, side in enumerate(self.sides):
                for rows in slices(self.model):
                    after = rows.follow(side.bound, -side.inequalities[0].other)
                    here = slice(rows.choices.start, rows.choices.stop)
                    good[number, here] = np.minimum.reduceat(after, rows.starts) > -np.inf
        while left.any():
            if until:
                members = self._trapped(left, ranked, good)
            else:
                nobody = np.zeros_like(left)
                members, gains = self._gaining(left, ranked, good, nobody)
                if not members.any():
                    members = self._drifting(left, ranked, good)
                self.gains[members] = gains[members]
            if not members.any():
                return
            self.ranks[members] = rank
            ranked |= members
            left &= ~members
            rank += 1

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
            bias_lower=biases[0],
            bias_upper=biases[1],
        )

    def choices(self) -> Integers:
        """Return the choices by which helpers got their ranks, or else the best ones."""
        return np.where(self.via == NONE, self.best, self.via)

    def relaxed(self) -> Certificate:
        """Return wider bounds, which one policy keeps: that by which the ranks were found."""
        via = self.choices()
        constants = np.array([side.constant for side in self.sides])
        bounds = self.bounds.copy()
        for _ in range(max(10, MOST_VISITS // max(1, self.model.num_transitions))):
            lowered = kernels.relax_jit(
                self.graph, via, self.active, constants, self.sides[0].discount, bounds
            )
            if not lowered:
                break
        return attrs.evolve(self.plain, lower=bounds[0], upper=-bounds[1])


def _first_best(worth: Floats, rows: Any) -> Integers:
    """Return the place of the first choice of each state that is worth the most."""
    best = np.maximum.reduceat(worth, rows.first_choices)
    counts = np.diff(np.append(rows.first_choices, len(worth)))
    places = np.where(worth == np.repeat(best, counts), np.arange(len(worth)), len(worth))
    return np.minimum.reduceat(places, rows.first_choices)
