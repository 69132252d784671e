"""A first look at all inequalities: plain sums of doubles settle most states.

Of a choice with the bounds x(t) of its successors, the bound b of its state and the reward r, it is
asked whether b is at most r + discount times the sum of P(t) x(t). As the probabilities sum to one,
that sum is m plus the sum of P(t) (x(t) - m), for every m. Here m is what the mean would have to
be, so that the second sum need only not be negative: it is small where the inequality is close, and
so is all that is rounded. `choice_values` says why k + 2 roundings of a term, and the part of each
probability by which it may be off, are enough.

Nothing is decided here but that states are right. What is left open, rounded bounds and all, is
looked at again with more care; so are numbers near the ends of their range, of which none is
rounded off here: a difference of doubles that are 0 or at least `SMALLEST` is 0 or no less than
2**-52 of that, so that all that it is multiplied by leaves a normal number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.certificates.checking.choice_values import UNIT, coarse, times, two_sum, unsure_part
from gamedp.certificates.checking.directions import NEVER, Ending

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.certificates.checking.directions import Direction, Inequality
    from gamedp.model.model import Model

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["following", "look"]

SLICE = 1 << 16
"""Transitions looked at together."""

MOST_GROUPS = 8
"""Numbers of outcomes that are looked at in a slice; choices with others are left open."""

SMALLEST = 2.0**-700
LARGEST = 2.0**700
FEW = 4
"""Where a bound asks for one choice of so many, or fewer, these alone are looked at."""

FAINTEST = 2.0**-60
"""The least probability, and discount, that is looked at."""


@attrs.frozen(eq=False)
class _Group:
    """Choices of a slice that have equally many outcomes: m of them, with k outcomes each.

    Attributes
    ----------
    places : (m,) or slice
        Which of the slice's choices they are.
    successors : (k, m)
        S more for an outcome on which the players change places.
    probabilities : (k, m)
    slack : (m,)
        How far a sum may be off, as a part of the sum of the absolute terms; infinite where the
        probabilities are too small for that.
    """

    places: Integers | slice
    successors: Integers
    probabilities: Floats
    slack: Floats


@attrs.frozen(eq=False)
class _Slice:
    """The choices of some states that follow each other.

    Attributes
    ----------
    states, choices : slice
    state_of, owners : (c,)
        The state of each choice; and its number among these states.
    groups : list of _Group
    odd : (s,) bool
        The states some of whose choices are in no group, or no distribution.
    """

    states: slice
    choices: slice
    state_of: Integers
    owners: Integers
    groups: list[_Group]
    odd: Flags

    @classmethod
    def of(cls, model: Model, first: int, last: int) -> _Slice:
        """Gather the choices of the states ``first .. last-1``."""
        offsets = model.choice_offsets[first : last + 1]
        first_transitions = model.transition_offsets[offsets[0] : offsets[-1] + 1]
        owners = np.repeat(np.arange(last - first), np.diff(offsets))
        state_of = first + owners
        signed = model.probabilities[first_transitions[0] : first_transitions[-1]]
        leading_to = model.successors[first_transitions[0] : first_transitions[-1]].astype(np.intp)
        probabilities = signed
        if model.has_swaps:
            probabilities = np.abs(signed)
            leading_to[np.flatnonzero(signed < 0)] += model.num_states
        odd = np.zeros(last - first, np.bool_)
        counts = np.diff(first_transitions)
        sizes = np.bincount(counts) * np.arange(int(counts.max(initial=0)) + 1)
        kept = np.argsort(sizes)[::-1][:MOST_GROUPS]
        kept = kept[sizes[kept] > 0]
        groups = []
        for count in kept.tolist():
            if count * len(counts) == len(leading_to) and (counts == count).all():
                places: Integers | slice = slice(None)
                successors = np.ascontiguousarray(leading_to.reshape(-1, count).T)
                its_probabilities = np.ascontiguousarray(probabilities.reshape(-1, count).T)
            else:
                places = np.flatnonzero(counts == count)
                at = (first_transitions[places] - first_transitions[0]) + np.arange(count)[:, None]
                successors, its_probabilities = leading_to.take(at), probabilities.take(at)
            slack, wrong = _slack(its_probabilities)
            if len(wrong):
                odd[state_of[places][wrong] - first] = True
            groups.append(_Group(places, successors, its_probabilities, slack))
        if sizes[kept].sum() < len(leading_to) or counts.min() == 0:
            odd[state_of[~np.isin(counts, kept)] - first] = True
        choices = slice(int(offsets[0]), int(offsets[-1]))
        return cls(slice(first, last), choices, state_of, owners, groups, odd)


def _slack(probabilities: Floats) -> tuple[Floats, Integers]:
    """Return the slack of choices, and which of them are no distributions; (k, m)."""
    count = len(probabilities)
    if count == 1 and (probabilities == 1.0).all():
        return np.full(probabilities.shape[1], (count + 2) * UNIT * (1 + 2.0**-20)), np.zeros(
            0, np.intp
        )
    rough = coarse(probabilities)
    excess = np.abs((rough.sum(axis=0) - 1.0) + (probabilities - rough).sum(axis=0))
    off, fits = unsure_part(excess, np.full(1, count))
    slack = ((count + 2) * UNIT + off) * (1 + 2.0**-20)
    if not probabilities.min() >= FAINTEST:
        slack[~(probabilities.min(axis=0) >= FAINTEST)] = np.inf
    return slack, np.flatnonzero(~fits)


@attrs.frozen(eq=False)
class _Quick:
    """What the first look needs of a direction: S states, 2 S for both of them.

    Attributes
    ----------
    direction : Direction
    bounds : list of (2 S,)
        Of each inequality, the bounds and, for a change of places, the opposite ones.
    ranks : (2 S,) or None
        The same of the ranks, if there are any.
    rewards : list of bool
        Of each inequality, whether any reward counts.
    """

    direction: Direction
    bounds: list[Floats]
    ranks: Integers | None
    rewards: list[bool]

    @classmethod
    def of(cls, model: Model, direction: Direction) -> _Quick | None:
        """Gather it; None for what is not of this kind."""
        if direction.escapes is not None or direction.discount < FAINTEST:
            return None
        bounds, rewarded = [], []
        for inequality in direction.inequalities:
            if inequality.rests is not None or inequality.other_rests is not None:
                return None
            its_bounds = following(model, direction, inequality)
            rewards = model.rewards if inequality.rewarded else np.zeros(1)
            if not (_is_calm(its_bounds) and _is_calm(rewards)):
                return None
            bounds.append(its_bounds)
            rewarded.append(bool(rewards.any()))
        ranks = None
        if direction.ending is not Ending.FREE:
            ranks = np.concatenate(direction.ranks) if model.has_swaps else direction.ranks[0]
        return cls(direction, bounds, ranks, rewarded)


def following(model: Model, direction: Direction, inequality: Inequality) -> Floats:
    """Return the bounds; and those that count after a change of places, rounded down."""
    if not model.has_swaps:
        return inequality.bound
    opposite = -inequality.other
    if direction.constant != 0:
        opposite, lost = two_sum(opposite, np.full(1, direction.constant))
        over = np.flatnonzero(lost < 0)
        opposite[over] = np.nextafter(opposite.take(over), -np.inf)
    return np.concatenate([inequality.bound, opposite])


def _is_calm(numbers: Floats) -> bool:
    """Say whether all numbers are 0, infinite, or far from where doubles end."""
    sizes = np.abs(numbers)
    wild = (sizes < SMALLEST) & (sizes > 0) | (sizes > LARGEST) & (sizes < np.inf)
    return not wild.any()


def look(model: Model, directions: list[Direction]) -> list[Flags]:
    """Return for each direction which states are not settled by a first look; (S,) each."""
    quick = [_Quick.of(model, direction) for direction in directions]
    left = [
        np.ones(model.num_states, np.bool_) if each is None else direction.required.copy()
        for each, direction in zip(quick, directions, strict=True)
    ]
    if all(each is None for each in quick):
        return left
    first_transitions = model.transition_offsets[model.choice_offsets]
    first = 0
    while first < model.num_states:
        last = (
            int(np.searchsorted(first_transitions, first_transitions[first] + SLICE, side="right"))
            - 1
        )
        last = min(max(last, first + 1), model.num_states)
        if first_transitions[first] < first_transitions[last]:
            part = _Slice.of(model, first, last)
            for each, its_left in zip(quick, left, strict=True):
                if each is not None:
                    its_left[part.states] &= ~_decided(model, each, part)
                its_left[part.states] |= part.odd
        first = last
    return left


def _decided(model: Model, quick: _Quick, part: _Slice) -> Flags:
    """Say of the states of a slice whether they are surely right."""
    direction = quick.direction
    good = np.zeros(len(part.state_of), np.bool_)
    wanted = [
        _Wanted.of(model, direction, inequality, part, rewarded)
        for inequality, rewarded in zip(direction.inequalities, quick.rewards, strict=True)
    ]
    required = direction.required[part.states]
    few = FEW * np.count_nonzero(required) <= len(required)
    asked = required.take(part.owners) if few else None
    for group in part.groups if asked is None else (_asked(each, asked) for each in part.groups):
        does = np.ones(len(group.slack), np.bool_)
        for its_wanted, bounds in zip(wanted, quick.bounds, strict=True):
            does &= its_wanted.holds(group, bounds)
        if quick.ranks is not None:
            does &= _progresses(model, direction, part, group, quick.ranks)
        good[group.places] = does
    helps = direction.maximise[part.states]
    some = np.zeros(len(helps), np.bool_)
    some[part.owners.take(np.flatnonzero(good))] = True
    if not helps.all():
        every = np.ones(len(helps), np.bool_)
        every[part.owners.take(np.flatnonzero(~good))] = False
        some = np.where(helps, some, every)
    return some


def _asked(group: _Group, asked: Flags) -> _Group:
    """Return the choices of a group that something is to be shown of."""
    some = np.flatnonzero(asked[group.places])
    places = some if isinstance(group.places, slice) else group.places[some]
    successors = group.successors.take(some, axis=1)
    return _Group(places, successors, group.probabilities.take(some, axis=1), group.slack[some])


def _progresses(
    model: Model, direction: Direction, part: _Slice, group: _Group, ranks: Integers
) -> Flags:
    """Say of choices whether their ranks fall; or stay, which some may, or need not fall."""
    states = part.state_of[group.places]
    rank, after = direction.ranks[0].take(states), ranks.take(group.successors)
    least = after.min(axis=0)
    falls: Flags = (rank > least) & (rank < NEVER)
    if direction.ending is not Ending.RANKED:
        return falls
    some = np.flatnonzero(~falls)
    if len(some):
        states, rank, least = states[some], rank[some], least[some]
        reward = np.zeros(1)
        if direction.inequalities[0].rewarded:
            reward = direction.sign * model.rewards[part.choices][group.places][some]
        content = direction.top.take(states) <= direction.draw
        may = (rank == NEVER) & content & ((reward >= 0) | direction.never_earns)
        if direction.drift is None:
            most = after.take(some, axis=1).max(axis=0)
            stays = (rank > 0) & (rank == least) & (rank == most) & (rank < NEVER)
            may |= stays & ((reward > 0) | (reward >= 0) & content)
        falls[some] = may
    return falls


@attrs.frozen(eq=False)
class _Wanted:
    """What the means of choices have to be: `mean` and `rest` more; c choices.

    Attributes
    ----------
    mean, rest : (c,)
    size : (c,)
        Of the numbers that `rest` was summed of.
    discount : float
    """

    mean: Floats
    rest: Floats
    size: Floats
    discount: float

    @classmethod
    def of(
        cls,
        model: Model,
        direction: Direction,
        inequality: Inequality,
        part: _Slice,
        rewarded: bool,
    ) -> _Wanted:
        """Take all else off the bounds."""
        wanted = inequality.bound.take(part.state_of)
        rest, size = np.zeros(1), np.zeros(1)
        if inequality.gain is not None:
            wanted, rest = two_sum(wanted, inequality.gain[part.state_of])
            size = np.abs(rest)
        if rewarded:
            wanted, lost = two_sum(wanted, -direction.sign * model.rewards[part.choices])
            rest, size = rest + lost, size + np.abs(lost)
        if direction.discount != 1:
            target, wanted = wanted, wanted / direction.discount
            product, lost, off = times(direction.discount, wanted)
            gap = target - product
            rest, size = gap + rest - lost + off, np.abs(gap) + size + np.abs(lost) + off
            wanted = np.where((np.abs(wanted) < SMALLEST) & (wanted != 0), np.nan, wanted)
        return cls(wanted, rest, size, direction.discount)

    def holds(self, group: _Group, bounds: Floats) -> Flags:
        """Say of the choices of a group whether their means are surely that much."""
        rest, size = (
            each[group.places] if len(each) > 1 else each for each in (self.rest, self.size)
        )
        terms = bounds.take(group.successors)
        terms -= self.mean[group.places]
        terms *= group.probabilities
        total = terms.sum(axis=0)
        slack = np.abs(terms, out=terms).sum(axis=0)
        slack *= group.slack
        blur = 2.0**-50 * (np.abs(total) + slack + size)
        holds: Flags = self.discount * (total - slack) - blur >= rest
        return holds
