"""A first look at all inequalities: plain sums of doubles settle most states.

Let x(t) be the bounds of a choice's successors, b the bound of its state and r its reward. The
question is whether b is at most r + discount times the sum of P(t) x(t). As the probabilities sum
to one, that sum is m plus the sum of P(t) (x(t) - m), for every m. Here m is what the mean would
have to be, so that the second sum need only not be negative: it is small where the inequality is
close, and so is all that is rounded. `choice_values` says why k + 2 roundings of a term, and the
part of each probability by which it may be off, are enough. Where all successors have at least the
value of endless play, and no more is claimed, not even sums are needed.

This look only accepts states. All others, rounded bounds among them, are checked again with more
care. So are numbers near the ends of the range of doubles, and nothing underflows here: the
difference of two doubles that are 0 or at least `SMALLEST` is 0 or at least 2**-52 of that, so its
products are normal numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.certificates.checking.choice_values import UNIT, coarse, times, two_sum, unsure_part
from gamedp.certificates.checking.directions import NEVER, Ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gamedp.certificates.checking.directions import Direction, Inequality
    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Floats

    Integers = NDArray[np.int64]

SLICE = 1 << 16
"""Number of transitions processed together, of choices with equally many outcomes."""

MOST_GROUPS = 16
"""Largest number of groups of choices by outcomes; choices of others are left undecided."""

SMALLEST = 2.0**-700
LARGEST_NUMBER = 2.0**700
STATES_PER_QUESTION = 4
"""If at most one state in this many is in question for a bound, only their choices are examined."""

MOST_OFF = 2.0**-21
"""Tolerance for computed sums of fewer than 2**31 probabilities: half of what the rest of the
checker allows, so that their rounding does not matter."""

FAINTEST = 2.0**-60
"""The least probability, and discount, that is examined."""


@attrs.frozen(eq=False)
class _StateGroup:
    """Choices that have equally many outcomes: m of them, with k outcomes each.

    Attributes
    ----------
    choices : (m,) or slice
    states : (m,)
        The states that have the choices.
    successors : (k, m)
        S more for an outcome on which the players change places.
    probabilities : (k, m)
    slack : (m,)
        The error bound of a sum, as a part of the sum of the absolute terms; infinite where the
        probabilities are too small for that.
    """

    choices: Integers | slice
    states: Integers
    successors: Integers
    probabilities: Floats
    slack: Floats

    def of(self, asked: Flags) -> _StateGroup:
        """Return the choices of those states for which something must be shown."""
        some = np.flatnonzero(asked.take(self.states))
        choices = self.choices
        return _StateGroup(
            choices.start + some if isinstance(choices, slice) else choices[some],
            self.states[some],
            self.successors.take(some, axis=1),
            self.probabilities.take(some, axis=1),
            self.slack[some],
        )


def _groups(model: Model, owners: Integers, asked: Flags, odd: Flags) -> Iterator[_StateGroup]:
    """Yield the choices by the number of their outcomes, some at a time.

    Parameters
    ----------
    owners : (C,)
        The state of each choice.
    asked : (S,) bool
        The states whose choices are wanted.
    odd : (S,) bool
        Set for states some of whose choices have a rare number of outcomes, or are not a
        distribution: wanted or not.
    """
    counts = np.diff(model.transition_offsets)
    sizes = np.bincount(counts) * np.arange(int(counts.max(initial=0)) + 1)
    kept = np.argsort(sizes)[::-1][:MOST_GROUPS]
    kept = kept[sizes[kept] > 0]
    if sizes[kept].sum() < model.num_transitions or counts.min(initial=1) == 0:
        odd[owners[~np.isin(counts, kept)]] = True
    wanted = asked.take(owners)
    all_wanted = wanted.all()
    for count in kept.tolist():
        number, places = len(counts), None
        if not (all_wanted and len(kept) == 1 and count * number == model.num_transitions):
            places = np.flatnonzero(counts == count)
            if not all_wanted:
                is_wanted = wanted.take(places)
                others, places = places[~is_wanted], places[is_wanted]
                odd[owners[others[~_sum_to_one(model, others, count)]]] = True
            number = len(places)
        step = max(1, SLICE // count)
        for first in range(0, number, step):
            last = min(first + step, number)
            choices: Integers | slice = slice(first, last)
            if places is None:
                there = slice(first * count, last * count)
                signed = np.ascontiguousarray(model.probabilities[there].reshape(-1, count).T)
                successors = model.successors[there].reshape(-1, count).T.astype(np.intp, order="C")
            else:
                choices = places[first:last]
                at = model.transition_offsets.take(choices) + np.arange(count)[:, None]
                signed = model.probabilities.take(at)
                successors = model.successors.take(at).astype(np.intp)
            probabilities = signed
            if model.has_swaps:
                probabilities = np.abs(signed)
                successors[signed < 0] += model.num_states
            states = owners[choices]
            slack, wrong = _slack(probabilities)
            odd[states[wrong]] = True
            yield _StateGroup(choices, states, successors, probabilities, slack)


def _sum_to_one(model: Model, choices: Integers, count: int) -> Flags:
    """Return for choices with `count` outcomes whether their probabilities certainly sum to one."""
    starts, total = model.transition_offsets.take(choices), np.empty(len(choices))
    step = max(1, SLICE // count)
    for first in range(0, len(choices), step):
        here = slice(first, first + step)
        at = starts[here] + np.arange(count)[:, None]
        total[here] = np.abs(model.probabilities.take(at)).sum(axis=0)
    close: Flags = np.abs(total - 1.0) <= MOST_OFF
    return close


def _slack(probabilities: Floats) -> tuple[Floats, Integers]:
    """Return the slack of choices, and which of them are not distributions; (k, m)."""
    count, size = probabilities.shape
    if (probabilities == probabilities[:, :1]).all():
        probabilities = probabilities[:, :1]  # they are all the same: one does for all
    rough = coarse(probabilities)
    excess = np.abs((rough.sum(axis=0) - 1.0) + (probabilities - rough).sum(axis=0))
    off, fits = unsure_part(excess, np.full(1, count))
    slack = ((count + 2) * UNIT + off) * (1 + 2.0**-20)
    if not probabilities.min() >= FAINTEST:
        slack[~(probabilities.min(axis=0) >= FAINTEST)] = np.inf
    wrong = np.zeros(0, np.intp) if fits.all() else np.flatnonzero(np.broadcast_to(~fits, size))
    return np.broadcast_to(slack, size), wrong


@attrs.frozen(eq=False)
class _Quick:
    """The data of a direction for the first look: S states, 2 S for both of them.

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
        """Gather the data; None for problems of other kinds."""
        if direction.escapes is not None or direction.discount < FAINTEST:
            return None
        bounds, rewarded = [], []
        for inequality in direction.inequalities:
            if inequality.rests is not None or inequality.other_rests is not None:
                return None
            its_bounds = _following(model, direction, inequality)
            rewards = model.rewards if inequality.rewarded else np.zeros(1)
            if not (_is_calm(its_bounds) and _is_calm(rewards)):
                return None
            bounds.append(its_bounds)
            rewarded.append(bool(rewards.any()))
        ranks = None
        if direction.ending is not Ending.FREE:
            ranks = np.concatenate(direction.ranks) if model.has_swaps else direction.ranks[0]
        return cls(direction, bounds, ranks, rewarded)


def _following(model: Model, direction: Direction, inequality: Inequality) -> Floats:
    """Return the bounds, and those that hold after a change of places."""
    if not model.has_swaps:
        return inequality.bound
    return np.concatenate([inequality.bound, after_swap(direction, inequality)])


def after_swap(direction: Direction, inequality: Inequality) -> Floats:
    """Return the bounds that hold after a change of places, rounded down; (S,)."""
    opposite = -inequality.other
    if direction.constant != 0:
        opposite, lost = two_sum(opposite, np.full(1, direction.constant))
        over = np.flatnonzero(lost < 0)
        opposite[over] = np.nextafter(opposite.take(over), -np.inf)
    return opposite


def _is_calm(numbers: Floats) -> bool:
    """Return whether all numbers are 0, infinite, or far from under- and overflow."""
    sizes = np.abs(numbers)
    wild = (sizes < SMALLEST) & (sizes > 0) | (sizes > LARGEST_NUMBER) & (sizes < np.inf)
    return not wild.any()


def look(model: Model, directions: list[Direction]) -> list[Flags]:
    """Return for each direction which states the first look leaves undecided; (S,) each."""
    quick = [_Quick.of(model, direction) for direction in directions]
    left = [
        np.ones(model.num_states, np.bool_) if each is None else direction.required.copy()
        for each, direction in zip(quick, directions, strict=True)
    ]
    if all(each is None for each in quick):
        return left
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    odd = np.zeros(model.num_states, np.bool_)
    for number, each in enumerate(quick):
        if each is not None:
            left[number] &= ~_loses_nothing(model, each, owners)
    asked = [flags.copy() for flags in left]
    good = [np.zeros(model.num_choices, np.bool_) for _ in directions]
    some = np.logical_or.reduce(asked)
    few = [
        STATES_PER_QUESTION * np.count_nonzero(flags) <= np.count_nonzero(some) for flags in asked
    ]
    for group in _groups(model, owners, some, odd):
        for each, its_asked, its_good, is_few in zip(quick, asked, good, few, strict=True):
            if each is not None:
                part = group.of(its_asked) if is_few else group
                its_good[part.choices] = _does(model, each, part)
    for number, each in enumerate(quick):
        if each is not None:
            left[number] &= ~_settled(each.direction, owners, good[number])
        left[number] |= odd
    return left


def _loses_nothing(model: Model, quick: _Quick, owners: Integers) -> Flags:
    """Return which states claim at most the value of endless play, and lead to no less; (S,).

    There, probabilities do not matter. This is for many states alone, and without swaps.
    """
    direction, bound = quick.direction, quick.direction.bound
    asked = direction.required & (direction.ranks[0] == NEVER) & (bound <= direction.draw)
    is_rare = STATES_PER_QUESTION * np.count_nonzero(asked) < len(asked)
    if is_rare or model.has_swaps or direction.ending is not Ending.RANKED:
        return np.zeros(len(asked), np.bool_)
    loses = bound < direction.draw
    good = np.empty(len(owners), np.bool_)
    for first in range(0, len(owners), SLICE):
        offsets = model.transition_offsets[first : first + SLICE + 1]
        passed = np.cumsum(loses.take(model.successors[offsets[0] : offsets[-1]]))
        passed = np.append(0, passed).take(offsets - offsets[0])
        good[first : first + SLICE] = passed[1:] == passed[:-1]
    if quick.rewards[0]:
        good &= direction.sign * model.rewards >= 0
    settled: Flags = asked & _settled(direction, owners, good)
    return settled


def _does(model: Model, quick: _Quick, group: _StateGroup) -> Flags:
    """Return for the choices of a group whether they certainly satisfy all that is required."""
    direction = quick.direction
    does = np.ones(len(group.slack), np.bool_)
    if not len(does):
        return does
    for inequality, bounds, rewarded in zip(
        direction.inequalities, quick.bounds, quick.rewards, strict=True
    ):
        does &= _Wanted.of(model, direction, inequality, group, rewarded).holds(group, bounds)
    if quick.ranks is not None:
        does = _progresses(model, quick, group, quick.ranks, does)
    return does


def _settled(direction: Direction, owners: Integers, good: Flags) -> Flags:
    """Return which states have a good choice or, if they are an opponent's, only good ones."""
    helps = direction.maximise
    some = np.zeros(len(helps), np.bool_)
    some[owners.take(np.flatnonzero(good))] = True
    if helps.all():
        return some
    every = np.ones(len(helps), np.bool_)
    every[owners.take(np.flatnonzero(~good))] = False
    return np.where(helps, some, every)


def _progresses(
    model: Model, quick: _Quick, group: _StateGroup, ranks: Integers, holds: Flags
) -> Flags:
    """Return for choices that hold whether their ranks fall, or stay where that is allowed."""
    direction, states = quick.direction, group.states
    rank, after = direction.ranks[0].take(states), ranks.take(group.successors)
    least = after.min(axis=0)
    falls: Flags = holds & (rank > least) & (rank < NEVER)
    if direction.ending is not Ending.RANKED:
        return falls
    some = np.flatnonzero(holds & ~falls)
    if len(some):
        states, rank, least = states.take(some), rank.take(some), least.take(some)
        reward = np.zeros(1)
        if quick.rewards[0]:
            reward = direction.sign * model.rewards[group.choices].take(some)
        content = direction.top.take(states) <= direction.draw
        may = (rank == NEVER) & content & ((reward >= 0) | direction.never_earns)
        if direction.drift is None:
            stays = (rank > 0) & (rank == least) & (rank < NEVER)
            stays &= (reward > 0) | (reward >= 0) & content
            there = np.flatnonzero(stays)
            if len(there):
                most = after.take(some[there], axis=1).max(axis=0)
                stays[there] = rank[there] == most
                may |= stays
        falls[some] = may
    return falls


@attrs.frozen(eq=False)
class _Wanted:
    """Lower limits of the means of a group's choices, as `mean` plus `rest`; m choices.

    Attributes
    ----------
    mean : (m,)
    rest, size : (m,) or (1,)
        The sizes are those of the numbers that `rest` was summed of.
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
        group: _StateGroup,
        rewarded: bool,
    ) -> _Wanted:
        """Subtract everything else from the bounds."""
        wanted = inequality.bound.take(group.states)
        rest, size = np.zeros(1), np.zeros(1)
        if inequality.gain is not None:
            wanted, rest = two_sum(wanted, inequality.gain[group.states])
            size = np.abs(rest)
        if rewarded:
            wanted, lost = two_sum(wanted, -direction.sign * model.rewards[group.choices])
            rest, size = rest + lost, size + np.abs(lost)
        if direction.discount != 1:
            target, wanted = wanted, wanted / direction.discount
            product, lost, off = times(direction.discount, wanted)
            gap = target - product
            rest, size = gap + rest - lost + off, np.abs(gap) + size + np.abs(lost) + off
            wanted = np.where((np.abs(wanted) < SMALLEST) & (wanted != 0), np.nan, wanted)
        return cls(wanted, rest, size, direction.discount)

    def holds(self, group: _StateGroup, bounds: Floats) -> Flags:
        """Return for the choices of a group whether their means certainly reach the limits."""
        terms = bounds.take(group.successors)
        terms -= self.mean
        terms *= group.probabilities
        total = terms.sum(axis=0)
        slack = np.abs(terms, out=terms).sum(axis=0)
        slack *= group.slack
        blur = 2.0**-50 * (np.abs(total) + slack + self.size)
        holds: Flags = self.discount * (total - slack) - blur >= self.rest
        return holds
