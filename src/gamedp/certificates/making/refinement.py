"""Bounds finer than doubles, which keep their inequalities where play lasts long.

A bound that is rounded to a double misses its inequality by about a unit in its last place, and has
to be lowered by that times the expected number of steps. Here bounds are sums of two doubles. The
checker's own comparison says how far each misses the certain value of its choice. Lowering all
bounds by the expected sum of these misses along one policy is one step of Newton's method. Its
linear system is solved by elimination without subtraction; rough numbers suffice, as the next step
corrects them.
"""

from __future__ import annotations

import heapq
import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import attrs
import numpy as np
from scipy import sparse

from gamedp.bellman import sparse_elimination
from gamedp.bellman.blocks import ERROR, VALUE, Block
from gamedp.certificates.checking.choice_values import choice_values, exact_choice_value, slices
from gamedp.certificates.checking.directions import Ending, oriented
from gamedp.graph.graph import Graph
from gamedp.runtime.arrays import places_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gamedp.certificates import Certificate
    from gamedp.certificates.checking.directions import Direction
    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Floats, Integers


Number: TypeAlias = Fraction | float

MOST_STEPS = 30
"""Largest number of steps of Newton's method."""

MOST_TERMS = 200_000_000
"""Largest number of terms to combine in one elimination."""

MOST_SLOW_TERMS = 3_000_000
"""The same with many digits."""

DIGITS = 200
"""More than sums of nine doubles have."""

GROWTH = 1.5
"""Factor by which each step subtracts more than the miss."""

FLOOR = 2.0**-102
"""Upper bound of the relative rounding error of sums of two doubles."""

LEAST = 2.0**-1068
"""The absolute one, for underflow."""


def cut(numbers: Sequence[Number], count: int, shift: int) -> Floats:
    """Return sums of `count` doubles just below some numbers; (count, S).

    All but the first count 2 to the power of minus `shift`.
    """
    parts = [_parts(number, count, shift) for number in numbers]
    return np.array(parts).reshape(-1, count).T.copy()


def _parts(number: Number, count: int, shift: int) -> list[float]:
    """Return doubles whose sum is just below a number; all but the first are scaled."""
    parts: list[float] = []
    while len(parts) < count:
        near = float(number)
        parts.append(math.nextafter(near, -math.inf) if near > number else near)
        number = number - Fraction(parts[-1]) if math.isfinite(parts[-1]) else 0.0
        if len(parts) == 1:
            number *= 1 << shift
    return parts


@attrs.define(eq=False)
class Refining:
    """Both bounds of a model as sums of two doubles, oriented so that both are lower ones.

    Attributes
    ----------
    model : Model
    plain : Certificate
        Of what objective they are.
    parts : (2, K, S)
        What is proven is their sum, K at least 2; none but the first is negative. If there are more
        than two, all that is compared and added is so in rational numbers.
    shift : int
        All but the first count 2 to the power of minus this; 0 if K is 2.
    active, helps : (2, S) bool
        Where a finite bound is to be shown, and whether one choice of the mover does.
    choices : (2, S)
        The choice that a helper keeps to, and one by which an opponent does the most harm.
    """

    model: Model
    plain: Certificate
    parts: Floats
    shift: int
    active: Flags
    helps: Flags
    choices: Integers
    short: Floats = attrs.field(init=False)
    extra: Floats = attrs.field(init=False)

    def certificate(self) -> Certificate:
        """Return a certificate of these bounds, without ranks."""
        lower, upper = self.parts[0], -self.parts[1]
        plain = attrs.evolve(self.plain, lower=lower[0], upper=upper[0], rest_shift=self.shift)
        return plain.with_evidence(
            lower_rest=lower[1:] if lower[1:].any() else None,
            upper_rest=upper[1:] if upper[1:].any() else None,
        )

    def refine(self, *, signed: int) -> bool:
        """Lower bounds until all hold along the choices; return whether they do.

        Parameters
        ----------
        signed : int
            How many steps may raise bounds as well, to the value of the policy: none, for bounds
            that are what they should be, up to rounding.
        """
        try:
            return self._refined(signed)
        except OverflowError:  # in rational numbers
            return False

    def _refined(self, signed: int) -> bool:
        """Do the work of `refine`; rational numbers may overflow."""
        with np.errstate(all="ignore"):  # what overflows does not hold
            for step in range(MOST_STEPS):
                self._look()
                self._choose()
                if self._level():
                    self._look()
                short = np.take_along_axis(self.short, self.choices, axis=1)
                missed = self.active & (short > 0)
                if step >= signed and not missed.any():
                    return True
                # The precision of the comparison changes a little with the bounds.
                share = GROWTH ** (step - signed) if step >= signed - 1 else 0.0
                more = share * np.take_along_axis(self.extra, self.choices, axis=1)
                wanted = self.active & np.isfinite(short) if step < signed else missed
                if not self._lower(np.where(wanted, short + more, 0.0)):
                    return False
        return False

    def _look(self) -> None:
        """Find the distance of the bounds above the certain value of each choice."""
        claimed = self.certificate()
        exactly = self.parts.shape[1] > 2
        self.short = np.empty((2, self.model.num_choices))
        self.extra = np.empty((2, self.model.num_choices))
        for number, sign in enumerate((1.0, -1.0)):
            direction = oriented(self.model, claimed, claimed.objective, sign)
            if exactly:
                self._look_exactly(number, direction)
                continue
            inequality = direction.inequalities[0]
            for rows in slices(self.model):
                here = slice(int(rows.choices[0]), int(rows.choices[-1]) + 1)
                values = choice_values(self.model, direction, inequality, rows)
                bound, rest = inequality.of(rows.state_of)
                gap, blur = values.short_of(bound, rest)
                off = values.slack + blur
                short = np.where(values.most == np.inf, -np.inf, (gap - values.rest) + off)
                self.short[number, here] = np.where(values.least == -np.inf, np.inf, short)
                self.extra[number, here] = np.where(
                    off > 0, 0.25 * off + FLOOR * np.abs(bound) + LEAST, 0.0
                )

    def _look_exactly(self, number: int, direction: Direction) -> None:
        """Find the distance of a direction's bounds above the values of choices, in rationals.

        Both numbers are times 2 to the power of `shift`.
        """
        offsets = self.model.choice_offsets.tolist()
        inequality = direction.inequalities[0]
        floor = 2.0 ** (8 - 53 * self.parts.shape[1])
        for state in np.flatnonzero(self.active[number]).tolist():
            size = math.ldexp(abs(float(inequality.bound[state])), self.shift)
            choices = range(offsets[state], offsets[state + 1])
            if self.helps[number, state]:
                choices = range(at := int(self.choices[number, state]), at + 1)
            for choice in choices:
                value = exact_choice_value(self.model, direction, inequality, choice)
                short = float((inequality.exact(state) - value) * (1 << self.shift))
                self.short[number, choice] = math.nextafter(short, math.inf) if short else 0.0
                extra = 2.0**-10 * abs(short) + floor * size + LEAST
                self.extra[number, choice] = extra if short else 0.0

    def _choose(self) -> None:
        """Let opponents do the most harm."""
        model = self.model
        movers = np.flatnonzero(np.diff(model.choice_offsets))
        starts = model.choice_offsets[movers]
        counts = np.diff(model.choice_offsets)[movers]
        places = np.arange(model.num_choices)
        for number in range(2):
            most = np.maximum.reduceat(self.short[number], starts)
            is_worst = self.short[number] == np.repeat(most, counts)
            worst = np.minimum.reduceat(np.where(is_worst, places, model.num_choices), starts)
            present = self.choices[number, movers]
            harm = self.short[number, present] + self.extra[number, present]
            changes = ~self.helps[number, movers] & (most > 0) & (most > harm)
            self.choices[number, movers] = np.where(changes, worst, present)

    def _level(self) -> bool:
        """Lower bounds where play goes on for ever by some choices; return whether any was lowered.

        If nothing is earned there, such bounds are one and the same. They are no more than what
        the value of endless play, unless that exceeds any bound.
        """
        size, claimed = self.model.num_states, self.certificate()
        directions = [
            oriented(self.model, claimed, claimed.objective, sign) for sign in (1.0, -1.0)
        ]
        draws, most = np.array([_value_of_endless_play(direction) for direction in directions]).T
        if np.isnan(draws).all():
            return False
        nodes, sources, successors, _ = _steps(self.model, self.active, self.choices)
        labels = _staying(sources, successors, len(nodes))
        stays = (labels >= 0) & ~np.isnan(draws)[nodes // size]
        number, state = np.divmod(nodes[stays], size)
        _, one, labels = np.unique(labels[stays], return_index=True, return_inverse=True)
        draw, bounds = draws[number], self.parts[number, :, state]
        rewarded = np.array([direction.inequalities[0].rewarded for direction in directions])[
            number
        ]
        earns = rewarded & (self.model.rewards[self.choices[number, state]] != 0)
        tops = np.stack([direction.top for direction in directions])[number, state]
        wrong = (tops - draw > most[number]) | (bounds != bounds[one[labels]]).any(axis=1)
        if bounds.shape[1] == 2:  # sums of doubles cannot tell that such are equal
            wrong |= bounds[:, 1] > 0
        moves = (np.bincount(labels, wrong) > 0) & (np.bincount(labels, earns) == 0)
        level = np.full(len(one), np.inf)
        np.minimum.at(level, labels, np.minimum(bounds[:, 0] - draw, most[number]))
        bounds = np.zeros_like(bounds)
        bounds[:, 0] = level[labels] + draw
        here = moves[labels]
        self.parts[number[here], :, state[here]] = bounds[here]
        return bool(moves.any())

    def _lower(self, missed: Floats) -> bool:
        """Lower all bounds by the expected sum of misses; return whether that sum is known.

        Where play never comes to an end by these choices, bounds are kept.
        """
        discount = getattr(self.plain.objective, "discount", 1.0)
        chain = _PolicyChain.of(self.model, self.active, self.choices, ends=discount < 1)
        if self.parts.shape[1] == 2:
            shift = chain.solve(discount, missed.reshape(-1))
            if shift is not None:
                down = np.zeros(missed.shape)
                down.reshape(-1)[chain.nodes] = shift
                moved = (down != 0) & np.isfinite(down)
                self.parts = np.where(moved[:, None, :], _two_less(self.parts, down), self.parts)
            return shift is not None
        moving = (chain.nodes // self.model.num_states, chain.nodes % self.model.num_states)
        if not (np.isfinite(missed).all() and np.isfinite(self.parts.sum(axis=1)[moving]).all()):
            return False  # no finite bounds keep their inequalities there
        exact_shift = chain.solve_slowly(discount, missed.reshape(-1))
        if exact_shift is None:
            return False
        for node, more in zip(chain.nodes.tolist(), exact_shift, strict=True):
            if more:
                place = np.s_[node // self.model.num_states, :, node % self.model.num_states]
                first, *rests = map(Fraction, self.parts[place].tolist())
                exact = first + (sum(rests, Fraction(0)) - Fraction(more)) / (1 << self.shift)
                self.parts[place] = _parts(exact, self.parts.shape[1], self.shift)
        return True


@attrs.frozen(eq=False)
class _PolicyChain:
    """The Markov chain of one choice of each node, ``direction * S + state``: n nodes, ordered.

    Attributes
    ----------
    nodes : (n,)
        Those that play certainly leaves permanently, in the order in which they are eliminated.
    offsets : (n + 1,)
    successors, probabilities : (t,)
        The transitions among themselves, by their places.
    leaving : (n,)
        The probabilities that they lead elsewhere.
    """

    nodes: Integers
    offsets: Integers
    successors: Integers
    probabilities: Floats
    leaving: Floats

    @classmethod
    def of(cls, model: Model, active: Flags, choices: Integers, *, ends: bool) -> _PolicyChain:
        """Gather the transitions of the active nodes, or of those that play certainly leaves."""
        nodes, sources, successors, probabilities = _steps(model, active, choices)
        if not ends:
            out = _staying(sources, successors, len(nodes)) < 0
            place = np.append(np.where(out, np.cumsum(out) - 1, -1), -1)
            kept = out[sources]
            sources, successors, probabilities = (
                place[sources[kept]],
                place[successors[kept]],
                probabilities[kept],
            )
            nodes = nodes[out]
        inside = successors >= 0
        leaving = np.bincount(sources[~inside], probabilities[~inside], len(nodes)).astype(
            np.float64
        )
        counts = np.bincount(sources[inside], minlength=len(nodes))
        offsets = np.concatenate([[0], np.cumsum(counts)])
        successors = successors[inside].astype(model.structure.place.dtype)
        return cls(nodes, offsets, successors, probabilities[inside], leaving)

    def solve(self, discount: float, known: Floats) -> Floats | None:
        """Return the expected totals of known numbers; (n,). None if that is too much work."""
        count = len(self.nodes)
        every = np.arange(count + 1, dtype=np.uintp)
        nothing = np.zeros(count)
        graph = Graph(every, self.offsets.astype(np.uintp), self.successors)  # type: ignore[arg-type] # blocks are unsigned
        block = Block(
            graph=graph,
            signs=np.ones(count),
            policy=every[:-1].copy(),
            constants=known[self.nodes],
            sizes=nothing,
            slacks=nothing,
            outer=nothing,
            leaving=self.leaving,
            probabilities=self.probabilities,
        )
        numbers = np.zeros((ERROR + 1, count))
        terms, _ = sparse_elimination.eliminate_jit(count, discount, block, MOST_TERMS, numbers)
        return numbers[VALUE] if terms >= 0 else None

    def solve_slowly(self, discount: float, known: Floats) -> list[Decimal] | None:
        """Do the same with enough digits for sums of close numbers."""
        probabilities = [
            Decimal(discount * probability) for probability in self.probabilities.tolist()
        ]
        left = [Decimal(1 - discount) + Decimal(discount * out) for out in self.leaving.tolist()]
        sums = list(map(Decimal, known[self.nodes].tolist()))
        shares: list[dict[int, Decimal]] = []
        terms = 0
        with localcontext(prec=DIGITS):
            for node, (first, last) in enumerate(itertools.pairwise(self.offsets.tolist())):
                row: dict[int, Decimal] = {}
                _add(
                    row,
                    zip(
                        self.successors[first:last].tolist(), probabilities[first:last], strict=True
                    ),
                )
                before = [successor for successor in row if successor < node]
                heapq.heapify(before)
                while before:
                    middle = heapq.heappop(before)
                    probability = row.pop(middle)
                    sums[node] += probability * sums[middle]
                    left[node] += probability * left[middle]
                    for successor in shares[middle].keys() - row.keys():
                        if successor < node:
                            heapq.heappush(before, successor)
                    _add(row, ((t, probability * share) for t, share in shares[middle].items()))
                    terms += len(shares[middle])
                row.pop(node, None)
                out = left[node] + sum(row.values())
                if not out or terms > MOST_SLOW_TERMS:
                    return None
                shares.append(
                    {successor: probability / out for successor, probability in row.items()}
                )
                sums[node] /= out
                left[node] /= out
            for node in reversed(range(len(sums))):
                sums[node] += sum(
                    share * sums[successor] for successor, share in shares[node].items()
                )
        return sums


def _add(row: dict[int, Decimal], more: Iterable[tuple[int, Decimal]]) -> None:
    """Add probabilities to those of a row."""
    for successor, probability in more:
        row[successor] = row.get(successor, Decimal(0)) + probability


def _two_less(parts: Floats, down: Floats) -> Floats:
    """Return sums of two doubles less some numbers, or slightly less."""
    high, lost = _two_sum(parts[:, 0], -down)
    high, rest = _two_sum(high, lost + parts[:, 1])
    below = np.where(rest < 0, np.nextafter(high, -np.inf), high)
    rest = np.where(rest < 0, np.maximum(np.nextafter((high - below) + rest, 0.0), 0.0), rest)
    # Beyond the range of doubles, the loss is NaN; minus infinity is a bound.
    known = np.isfinite(below)
    return np.stack([np.where(known, below, -np.inf), np.where(known, rest, 0.0)], axis=1)


def _value_of_endless_play(direction: Direction) -> tuple[float, float]:
    """Return the value of endless play, and the amount by which bounds may exceed it.

    Not a number where play has to end, or later steps count less.
    """
    if direction.ending is Ending.RANKED:
        return direction.draw, 0.0
    return (0.0, math.inf) if direction.missing_counts else (math.nan, 0.0)


def _steps(
    model: Model, active: Flags, choices: Integers
) -> tuple[Integers, Integers, Integers, Floats]:
    """Gather the transitions of the active nodes, by one choice of each.

    Returns
    -------
    nodes : (n,)
        In an order of elimination.
    sources, successors : (t,)
        The places of nodes among them, -1 for those that are not active.
    probabilities : (t,)
    """
    size = model.num_states
    order = (np.asarray(model.structure.order)[:, None] + np.array([0, size])).reshape(-1)
    nodes = order[active.reshape(-1)[order]]
    rows = choices.reshape(-1)[nodes]
    starts, counts = model.transition_offsets[rows], np.diff(model.transition_offsets)[rows]
    transitions, _ = places_of_rows(starts, counts)
    signed = model.probabilities[transitions]
    directions = np.repeat(nodes // size, counts)
    directions = np.where(signed < 0, 1 - directions, directions)
    successors = directions * size + model.successors[transitions]
    sources = np.repeat(np.arange(len(nodes)), counts)
    place = np.full(2 * size, -1)
    place[nodes] = np.arange(len(nodes))
    return nodes, sources, place[successors], np.abs(signed)


def _staying(sources: Integers, successors: Integers, count: int) -> Integers:
    """Return the number of the closed set of each node, -1 for none; (n,).

    Targets elsewhere are written -1.
    """
    successors = np.where(successors < 0, count, successors)
    steps = sparse.csr_array((np.ones(len(sources)), (sources, successors)), shape=(count + 1,) * 2)
    number, labels = sparse.csgraph.connected_components(steps, connection="strong")
    left = np.zeros(number, np.bool_)
    left[labels[sources][labels[sources] != labels[successors]]] = True
    return np.where(left[labels[:count]], -1, labels[:count]).astype(np.int64)


def _two_sum(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its exact rounding error (Knuth)."""
    total = one + other
    part = total - one
    return total, (one - (total - part)) + (other - part)
