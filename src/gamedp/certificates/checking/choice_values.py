"""Values of choices from the bounds of their successors: rounded outward, or in rationals.

With x(t) the bound of successor t, the sum over t of P(t) x(t) equals m + sum of P(t) (x(t) - m)
for every m, as the probabilities sum to one. With m near the mean, all that is rounded or uncertain
is multiplied by differences x(t) - m, which are small where the bounds are nearly equal, and zero
where they are equal. So even inequalities that hold with equality are decided.

For k successors, u = 2**-53, and B the sum of P(t) |x(t) - m| as computed, each term is rounded
twice and passes at most k - 1 additions: the sum is off by (k + 1) u B at most, up to terms of the
second order [1]_. It may be off by rho B more if each probability may be off by rho times itself.
So no more is lost than by summing differences to the bound of the state itself.

For bounds in many columns, one for each context of a stage or for each player, the means of all
columns are computed together. There each product is rounded at most k times on its way into the
sum, so the sum is off by at most k u B, where B is the sum of the absolute products. Another 2 u B
covers terms of the second order, the rounding of B, and the subtraction of the slack itself. A
single outcome is certain, and its bound is used unchanged.

References
----------
.. [1] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, chapter 3.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError
from gamedp.model.model import describe_choice
from gamedp.runtime.arrays import places_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gamedp.certificates.checking.directions import Direction, Inequality
    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Floats, Integers


SLICE = 1 << 15
"""Number of transitions processed together, so that the memory does not grow with their number."""

UNIT = 2.0**-53
ULPS = 2.0**-51
"""Two units in the last place of a number, as a part of the number, are at most this."""
RESTS = 20
"""Largest number of roundings of a term with rests, besides its product and the sum of all."""
TINY = 2.0**-1070
"""Upper bound of what a product or a probability can lose to underflow."""
ROUGH = 1.5 * 2.0**26
"""Adding and subtracting it rounds to a multiple of 2**-26."""


def slices(model: Model, chosen: Flags | None = None) -> Iterator[Rows]:
    """Divide the choices by states, so that each slice has a bounded number of transitions.

    Parameters
    ----------
    model : Model
    chosen : (S,) bool, optional
        The states to look at; all if not given.
    """
    has_choices = np.diff(model.choice_offsets) > 0
    states = np.flatnonzero(has_choices if chosen is None else has_choices & chosen)
    begin, end = (model.choice_offsets.take(states + more) for more in (0, 1))
    ends = np.cumsum(model.transition_offsets.take(end) - model.transition_offsets.take(begin))
    first = 0
    while first < len(states):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + SLICE, side="right")), first + 1)
        yield Rows.of(model, states[first:last])
        first = last


@attrs.frozen(eq=False)
class Rows:
    """The choices of some states.

    Attributes
    ----------
    choices : (c,)
        Their numbers.
    state_of : (c,)
        The state of each.
    movers, first_choices : (s,)
        The states that have choices, and where among these choices theirs begin.
    starts, counts : (c,)
        The first index and the number of each choice's transitions.
    successors, probabilities : (t,)
        The successors of transitions, and their probabilities.
    swapped : (t,) bool, or None
        Whether the players change places; None if nowhere.
    radius : (c,)
        The part of each probability by which it may be off.
    """

    choices: Integers
    state_of: Integers
    movers: Integers
    first_choices: Integers
    starts: Integers
    counts: Integers
    successors: Integers
    probabilities: Floats
    swapped: Flags | None
    radius: Floats

    @classmethod
    def of(cls, model: Model, states: Integers) -> Rows:
        """Gather the choices of some states, in increasing order."""
        each = np.diff(model.choice_offsets)[states]
        movers, each = states[each > 0], each[each > 0]
        choices, first_choices = places_of_rows(model.choice_offsets[movers], each)
        counts = model.transition_offsets[choices + 1] - model.transition_offsets[choices]
        transitions, starts = places_of_rows(model.transition_offsets[choices], counts)
        signed = model.probabilities[transitions]
        probabilities = np.abs(signed)
        return cls(
            choices=choices,
            state_of=np.repeat(movers, each),
            movers=movers,
            first_choices=first_choices,
            starts=starts,
            counts=counts,
            successors=model.successors[transitions],
            probabilities=probabilities,
            swapped=signed < 0 if model.has_swaps else None,
            radius=_radius(model, choices, starts, counts, probabilities),
        )

    def follow(self, same: NDArray[Any], opposite: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of successors: those in `opposite` where the players change places."""
        there: NDArray[Any] = same[self.successors]
        if self.swapped is not None:
            there = np.where(self.swapped, opposite[self.successors], there)
        return there


def _radius(
    model: Model, choices: Integers, starts: Integers, counts: Integers, probabilities: Floats
) -> Floats:
    """Return the relative error bound of each probability of a choice."""
    if counts.min() > 0:
        rough = coarse(probabilities)
        excess = np.add.reduceat(rough, starts) - 1.0
        excess = np.abs(excess + np.add.reduceat(probabilities - rough, starts))
        part, fits = unsure_part(excess, counts)
        if fits.all():
            return part
        wrong = int(fits.argmin())
    else:
        wrong = int(counts.argmin())
    message = (
        f"the probabilities of {describe_choice(model, int(choices[wrong]))} do not sum to one. "
        "Make the model with Model.from_arrays, which checks them."
    )
    raise InvalidModelError(message)


def coarse(probabilities: Floats) -> Floats:
    """Return probabilities as multiples of 2**-26.

    Sums of those are exact, and the rest of each is so small that its rounding does not matter: so
    that what is missing to one is known well enough.
    """
    rough: Floats = probabilities + ROUGH
    rough -= ROUGH
    return rough


def unsure_part(excess: Floats, counts: Integers) -> tuple[Floats, Flags]:
    """Return the relative error bound of each probability, and whether they sum to one.

    Two units in the last place, or as much as it takes to scale them so that they sum to one.
    """
    blur = np.square(counts.astype(np.float64)) * 2.0**-79
    return np.maximum(ULPS, excess * (1 + 2.0**-19) + blur), excess <= 2.0**-20


@attrs.frozen(eq=False)
class ChoiceValues:
    """The values of choices: ``base + rest``, up to `slack`, whatever the probabilities.

    Attributes
    ----------
    base, rest, slack : (c,)
    reach : (c,)
        The sizes of what `rest` was summed of; infinite, if it was lost.
    least, most : (c,)
        The least and the greatest bound that may follow.
    """

    base: Floats
    rest: Floats
    slack: Floats
    reach: Floats
    least: Floats
    most: Floats

    def short_of(self, bound: Floats, rest: Floats | None = None) -> tuple[Floats, Floats]:
        """Return how far a bound is above `base`, and the error bound of that or of `rest`."""
        gap = bound - self.base
        size = np.abs(gap)
        if rest is not None:
            gap, size = gap + rest, size + rest + np.where(rest > 0, 2.0**50 * TINY, 0.0)
        return gap, 2.0**-50 * (size + self.reach + self.slack)

    def lower(self) -> Floats:
        """Return the least values."""
        exact = (self.reach == 0) & (self.slack == 0)  # then nothing is lost anywhere
        blur = 2.0**-50 * (self.reach + self.slack)
        down = np.nextafter(self.base + (self.rest - self.slack - blur), -np.inf)
        values = np.where(exact, self.base, down)
        values = np.where(self.most == np.inf, np.inf, values)
        return np.where(self.least == -np.inf, -np.inf, values)

    def compare(self, bound: Floats, rest: Floats | None = None) -> tuple[Flags, Flags]:
        """Return where values are certainly at least `bound`, and where they are certainly less."""
        gap, blur = self.short_of(bound, rest)
        holds = gap + blur <= self.rest - self.slack
        fails = gap - blur > self.rest + self.slack
        lost = self.least == -np.inf
        won = (self.most == np.inf) & ~lost
        return holds & ~lost | won, (fails | lost) & ~won


def choice_values(
    model: Model, direction: Direction, inequality: Inequality, rows: Rows
) -> ChoiceValues:
    """Return the values of choices from the bounds of their successors."""
    bounds, more = _bounds_after(direction, inequality, rows)
    least = np.minimum.reduceat(bounds, rows.starts)
    most = np.maximum.reduceat(bounds, rows.starts)
    if direction.missing_counts:
        least = np.where(most == np.inf, np.inf, least)
    pivot = np.clip(np.add.reduceat(rows.probabilities * bounds, rows.starts), least, most)
    apart = bounds - np.repeat(pivot, rows.counts)
    spread = most - least
    blur: Floats | float = 0.0
    if more is not None:
        summed = np.add.reduceat(rows.probabilities * (np.abs(apart) + np.abs(more)), rows.starts)
        blur = RESTS * UNIT * summed
        apart = apart + more
        spread = spread + np.maximum.reduceat(np.abs(more), rows.starts)
    rest = np.add.reduceat(rows.probabilities * apart, rows.starts)
    size = np.add.reduceat(rows.probabilities * np.abs(apart), rows.starts)
    slack = ((rows.counts + 2) * UNIT + rows.radius) * (size * (1 + 2.0**-20)) + blur
    slack += np.where(spread > 0, rows.counts * TINY * (1 + spread), 0.0)
    reach = np.abs(rest)
    base = pivot
    if direction.discount != 1:
        base, lost, off = times(direction.discount, pivot)
        rest = direction.discount * rest + lost
        slack += off + np.where(reach > 0, 2.0**-52 * reach + TINY, 0.0)
        reach = reach + np.abs(lost)
    if inequality.rewarded:
        rewards = direction.sign * model.rewards[rows.choices]
        base, lost = two_sum(rewards, base)
        rest, reach = rest + lost, reach + np.abs(lost)
    if inequality.gain is not None:
        base, lost = two_sum(-inequality.gain[rows.state_of], base)
        rest, reach = rest + lost, reach + np.abs(lost)
    return ChoiceValues(base, rest, slack, reach, least, most)


def two_sum(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its exact rounding error (Knuth)."""
    total = one + other
    part = total - one
    return total, (one - (total - part)) + (other - part)


def times(factor: float, others: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rounded products, their rounding errors (Dekker), and the error of those."""
    products = factor * others
    (high, low), (other_high, other_low) = _halves(np.full(1, factor)), _halves(others)
    lost = ((high * other_high - products) + high * other_low + low * other_high) + low * other_low
    sizes = np.abs(products)
    known = (sizes > 2.0**-900) & (sizes < 2.0**900) & (np.abs(others) < 2.0**900)
    off = np.where(known | (others == 0) | (factor == 0), 0.0, 2.0**-52 * sizes + TINY)
    return products, np.where(known, lost, 0.0), off


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    """Return the first half of the digits of each number, and the rest (Veltkamp)."""
    scaled = (2.0**27 + 1) * numbers
    high = scaled - (scaled - numbers)
    return high, numbers - high


def _bounds_after(
    direction: Direction, inequality: Inequality, rows: Rows
) -> tuple[Floats, Floats | None]:
    """Return the bounds of successors, and the numbers to add to each; None for none."""
    bounds, rest = inequality.of(rows.successors)
    if rows.swapped is None:
        return bounds, rest
    opposite, lost = -inequality.other[rows.successors], None
    if direction.constant != 0:
        opposite, lost = two_sum(np.full_like(opposite, direction.constant), opposite)
        lost = np.where(np.isfinite(opposite), lost, 0.0)
    bounds = np.where(rows.swapped, opposite, bounds)
    if inequality.other_rest is not None:
        other = -inequality.other_rest[rows.successors]
        lost = other if lost is None else lost + other
    if rest is None and lost is None:
        return bounds, None
    return bounds, np.where(
        rows.swapped, 0.0 if lost is None else lost, 0.0 if rest is None else rest
    )


def exact_choice_value(
    model: Model, direction: Direction, inequality: Inequality, choice: int
) -> Fraction | float:
    """Return the exact least value that a choice can have by the bounds of its successors.

    The least over all probabilities that sum to one and are off by no more than they may be: all
    are as low as they can be, and what is missing to one goes to the successors with the least
    bounds.
    """
    row = slice(*model.transition_offsets[choice : choice + 2].tolist())
    signed = model.probabilities[row].tolist()
    successors = model.successors[row]
    outcomes: list[tuple[Fraction, float]] = []
    infinite = lost = False
    for probability, successor in zip(signed, successors.tolist(), strict=True):
        bound = (
            -inequality.exact_other(successor) if probability < 0 else inequality.exact(successor)
        )
        if isinstance(bound, float):
            infinite |= bound > 0
            lost |= bound < 0
        else:
            outcomes.append(
                (bound + Fraction(direction.constant if probability < 0 else 0), abs(probability))
            )
    if lost and not (infinite and direction.missing_counts):
        return -math.inf
    if infinite:
        return math.inf
    outcomes.sort()
    total = sum((Fraction(probability) for _, probability in outcomes), Fraction(0))
    stretch = abs(1 / total - 1)
    spans = []
    for _, probability in outcomes:
        off = max(Fraction(2 * math.ulp(probability)), stretch * Fraction(probability))
        low = max(Fraction(0), Fraction(probability) - off)
        spans.append((low, Fraction(probability) + off - low))
    missing = 1 - sum((low for low, _ in spans), Fraction(0))
    mean = Fraction(0)
    for (bound, _), (low, span) in zip(outcomes, spans, strict=True):
        more = min(span, missing)
        missing -= more
        mean += (low + more) * bound
    value = Fraction(direction.discount) * mean
    if inequality.rewarded:
        value += Fraction(direction.sign * float(model.rewards[choice]))
    if inequality.gain is not None:
        state = int(np.searchsorted(model.choice_offsets, choice, side="right")) - 1
        value -= Fraction(float(inequality.gain[state]))
    return value


def exactly_keeps(model: Model, direction: Direction, choice: int) -> bool:
    """Return whether a choice keeps the bounds of its state, decided in rational numbers."""
    state = int(np.searchsorted(model.choice_offsets, choice, side="right")) - 1
    return all(
        inequality.exact(state) <= exact_choice_value(model, direction, inequality, choice)
        for inequality in direction.inequalities
    )


@attrs.frozen(eq=False)
class Group:
    """Some choices that have equally many outcomes: m of them, with k outcomes each.

    Attributes
    ----------
    places : (m,)
        Which of the choices they are.
    successors, probabilities : (k, m)
    slack : (m,)
        The error bound of a mean, as a part of the sum of the absolute products.
    """

    places: Integers
    successors: Integers
    probabilities: Floats
    slack: Floats


def groups_of(rows: Rows, chosen: Integers | None = None) -> list[Group]:
    """Sort choices by their number of outcomes.

    Parameters
    ----------
    rows : Rows
    chosen : (c,), optional
        Which of their choices; all if not given. The groups' places are places in this list.
    """
    chosen = np.arange(len(rows.counts)) if chosen is None else chosen
    counts, starts = rows.counts[chosen], rows.starts[chosen]
    groups = []
    for count in np.unique(counts).tolist():
        places = np.flatnonzero(counts == count)
        transitions = starts[places] + np.arange(count)[:, None]
        slack = ((count + 2) * UNIT + rows.radius[chosen[places]]) * (1 + 2.0**-20)
        groups.append(
            Group(places, rows.successors[transitions], rows.probabilities[transitions], slack)
        )
    return groups


def means_below(groups: list[Group], block: Floats) -> Floats:
    """Return the least values of choices, by the bounds of their successors.

    Parameters
    ----------
    groups : list of Group
    block : (S, n)
        The bounds: NaN where there is no way to go on, minus infinity where nothing is known.

    Returns
    -------
    (c, n)
        One row for each choice of the groups.
    """
    means = np.empty((sum(len(group.places) for group in groups), block.shape[1]))
    for group in groups:
        count = len(group.successors)
        if count == 1:
            means[group.places] = block[group.successors[0]]
            continue
        shape = (len(group.places), block.shape[1])
        total, size = np.zeros(shape), np.zeros(shape)
        for successors, probabilities in zip(group.successors, group.probabilities, strict=True):
            part = block[successors]
            part *= probabilities[:, None]
            total += part
            size += np.abs(part, out=part)
        size *= group.slack[:, None]
        size += count * TINY
        means[group.places] = np.subtract(total, size, out=total)
    return means


def sums_below(one: Floats, other: Floats) -> Floats:
    """Return sums, rounded down where they are rounded."""
    total, lost = two_sum(one, other)
    return np.where(lost < 0, np.nextafter(total, -np.inf), total)
