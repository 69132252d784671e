"""Path formulas of LTL that are co-safe: a product of the model with what is left to show.

A formula is co-safe if every path on which it holds shows so after some steps. With its negations
moved inward, it has no ``G``, ``W`` or ``R`` without a bound. After each step, the rest of the
formula is known [1]_; it becomes part of the state, and the formula holds where nothing is left.

.. [1] F. Bacchus, F. Kabanza, "Planning for temporally extended goals", 1998: progression.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import LimitExceededError
from gamedp.languages.expressions import Operation
from gamedp.languages.formulas import Formula, Temporal, walk
from gamedp.model.model import Model, given_numbers
from gamedp.model.validation.forms import offsets_of
from gamedp.questions.changes import beginning, looped
from gamedp.runtime.arrays import places_of_rows

if TYPE_CHECKING:
    from gamedp.languages.tokens import TextPlace
    from gamedp.questions.truth import Truth
    from gamedp.runtime.arrays import Flags, Integers

Part: TypeAlias = tuple[Any, ...]
"""A formula: its operator, then its parts, or for states their number and whether they are meant.
Temporal operators have their first and last step at the end."""

Rest: TypeAlias = frozenset[frozenset[Part]]
"""The rest that is to show: all parts of one of these sets, from the next step on."""

SHOWN: Rest = frozenset([frozenset()])
REFUTED: Rest = frozenset()

MOST_SETS, MOST_RESTS, MOST_STATES, MOST_LITERALS = 2_000, 20_000, 100_000_000, 31
"""Limits of a formula's rest, of the product, and of the sets of states in a formula."""


@attrs.frozen(eq=False)
class Ended:
    """A product of a model with a formula; play ends where it is known whether that holds.

    Attributes
    ----------
    model : Model
    target : (P,) bool
        The states of the product in which it does.
    starts : (S,) int64
        The state of the product in which each state of the model begins.
    """

    model: Model
    target: Flags
    starts: Integers


@attrs.frozen(eq=False)
class Product:
    """The products whose values are bounds, and whether they show the opposite."""

    is_opposite: bool
    ended: tuple[Ended, ...]


def product_of(
    path: Formula,
    model: Model,
    truth: Callable[[Formula], Truth],
    steps: Callable[[Temporal], tuple[int, int | None]],
) -> Product:
    """Return the products of a model with a path formula.

    Parameters
    ----------
    path : Formula
    model : Model
    truth : function
        Returns where a formula of states holds.
    steps : function
        Returns the first and the last step of a temporal operator.

    Raises
    ------
    InvalidParameterError
        If neither the formula nor its opposite is co-safe; it names the place.
    LimitExceededError
        If the product is too large.
    """
    known: list[Truth] = []
    reading = _Inward(truth, steps, known, {})
    part = reading.read(path, negated=False)
    opposite = _unsafe(part)
    if opposite is not None:
        part = reading.read(path, negated=True)
        other = _unsafe(part)
        if other is not None:
            opposite.refuse(
                "this path formula is not co-safe, nor is its opposite: no finite part of a path "
                "shows that it holds, or that it does not. Formulas like G F, which need an "
                "automaton, are not understood."
            )
    if len(known) > MOST_LITERALS:
        path.place.refuse(f"a path formula has more than {MOST_LITERALS} sets of states.")
    model = looped(model)
    # Fewer sets of states, fewer paths: first what certainly holds, then what possibly does.
    sides = [[(one.certain, ~one.possible) for one in known]]
    if not all(one.is_known for one in known):
        sides.append([(one.possible, ~one.certain) for one in known])
    ended = tuple(_explored(part, model, literals) for literals in sides)
    return Product(opposite is not None, ended)


@attrs.frozen(eq=False)
class _Inward:
    """Moves negations inward."""

    truth: Callable[[Formula], Truth]
    steps: Callable[[Temporal], tuple[int, int | None]]
    known: list[Truth]
    numbers: dict[Formula, int]

    def read(self, path: Formula, *, negated: bool) -> Part:
        if not any(isinstance(part, Temporal) for part in walk(path)):
            return self._literal(path, negated=negated)
        if isinstance(path, Temporal):
            return self._temporal(path, negated=negated)
        assert isinstance(path, Operation)  # noqa: S101 - others have no paths inside
        symbol, operands = path.operator, path.operands
        if symbol == "!":
            return self.read(operands[0], negated=not negated)
        if symbol in ("&", "|"):
            parts = tuple(self.read(part, negated=negated) for part in operands)
            return ("&" if (symbol == "&") != negated else "|", *parts)
        if symbol == "=>":
            first = self.read(operands[0], negated=not negated)
            return ("&" if negated else "|", first, self.read(operands[1], negated=negated))
        if symbol != "<=>":
            path.place.refuse(f"{symbol!r} cannot join paths.")
        one, other = (
            [self.read(part, negated=sign) for sign in (False, True)] for part in operands
        )
        return ("|", ("&", one[0], other[negated]), ("&", one[1], other[not negated]))

    def _literal(self, states: Formula, *, negated: bool) -> Part:
        number = self.numbers.get(states)
        if number is None:
            number = self.numbers[states] = len(self.known)
            self.known.append(self.truth(states))
        return ("states", number, negated)

    def _temporal(self, path: Temporal, *, negated: bool) -> Part:
        symbol = path.operator
        parts = [self.read(part, negated=negated) for part in path.operands]
        if symbol == "X":
            return ("X", parts[0])
        first, last = self.steps(path)
        bounds = (first, last, path.place)
        if symbol in ("F", "G"):
            return ("U" if (symbol == "F") != negated else "R", None, parts[0], *bounds)
        if symbol in ("U", "R"):
            return ("U" if (symbol == "U") != negated else "R", *parts, *bounds)
        # a W b says that (a & !b) U (!a & !b) does not hold.
        left, right = (
            [self.read(p, negated=sign) for sign in (False, True)] for p in path.operands
        )
        if negated:
            return ("U", ("&", left[0], right[1]), ("&", left[1], right[1]), *bounds)
        return ("R", ("|", left[1], right[0]), ("|", left[0], right[0]), *bounds)


def _unsafe(part: Part) -> TextPlace | None:
    """Return the place of an operator that no finite part of a path shows to hold."""
    if part[0] == "R" and part[4] is None:
        place: TextPlace = part[5]
        return place
    inside = part[1:3] if part[0] in ("U", "R") else part[1:]
    if part[0] == "states":
        return None
    found = (_unsafe(inner) for inner in inside if inner is not None)
    return next((place for place in found if place is not None), None)


def _either(one: Rest, other: Rest) -> Rest:
    return _least(one | other)


def _both(one: Rest, other: Rest) -> Rest:
    return _least(frozenset(left | right for left in one for right in other))


def _least(sets: Rest) -> Rest:
    """Return the sets in which no other one is contained."""
    if len(sets) > MOST_SETS:
        message = f"a path formula has more than {MOST_SETS:,} ways to hold, which is too many."
        raise LimitExceededError(message, states=0, choices=0, transitions=0)
    return frozenset(one for one in sets if not any(other < one for other in sets))


def _after(part: Part | None, letter: int) -> Rest:
    """Return what is left to show of a formula when a state has been seen.

    Parameters
    ----------
    part : Part
    letter : int
        Two bits for each set of states: whether the state belongs to it, and whether it does not.
    """
    if part is None:
        return SHOWN
    symbol = part[0]
    if symbol == "states":
        return SHOWN if letter >> (2 * part[1] + part[2]) & 1 else REFUTED
    if symbol == "X":
        return frozenset([frozenset([("next", part[1])])])
    if symbol == "next":
        return _after(part[1], letter)
    if symbol in ("&", "|"):
        join = _both if symbol == "&" else _either
        return functools.reduce(join, (_after(inner, letter) for inner in part[1:]))
    return _after_until(part, letter)


def _after_until(part: Part, letter: int) -> Rest:
    """Return what is left to show of U or R when a state has been seen."""
    symbol, one, other, first, last, place = part
    later = (symbol, one, other, max(first - 1, 0), None if last is None else last - 1, place)
    is_over = last == 0
    if symbol == "U":
        rest = REFUTED if is_over else frozenset([frozenset([later])])
        going_on = _both(_after(one, letter), rest)
        return going_on if first > 0 else _either(_after(other, letter), going_on)
    rest = SHOWN if is_over else frozenset([frozenset([later])])
    going_on = _either(REFUTED if one is None else _after(one, letter), rest)
    return going_on if first > 0 else _both(_after(other, letter), going_on)


class _Rests:
    """The rests of a formula, numbered, and which follows which."""

    def __init__(self) -> None:
        self.rests: list[Rest] = [REFUTED, SHOWN]
        self._numbers = {REFUTED: 0, SHOWN: 1}
        self._next: dict[tuple[int, int], int] = {}

    def number(self, rest: Rest) -> int:
        found = self._numbers.setdefault(rest, len(self.rests))
        if found == len(self.rests):
            self.rests.append(rest)
            if found > MOST_RESTS:
                message = f"a path formula needs more than {MOST_RESTS:,} states of its own."
                raise LimitExceededError(message, states=0, choices=0, transitions=0)
        return found

    def following(self, number: int, letter: int) -> int:
        """Return the rest that follows one when a state with a letter has been seen."""
        found = self._next.get((number, letter))
        if found is None:
            rest = REFUTED
            for parts in self.rests[number]:
                left = SHOWN
                for part in parts:
                    left = _both(left, _after(part, letter))
                rest = _either(rest, left)
            found = self._next[number, letter] = self.number(rest)
        return found


def _explored(part: Part, model: Model, literals: list[tuple[Flags, Flags]]) -> Ended:
    """Return the product with a formula, from every state of the model on."""
    states, rests = model.num_states, _Rests()
    bits = np.zeros(states, np.int64)
    for number, (holds, fails) in enumerate(literals):
        bits |= holds.astype(np.int64) << (2 * number)
        bits |= fails.astype(np.int64) << (2 * number + 1)
    kinds, letters = np.unique(bits, return_inverse=True)
    begun = np.array([rests.number(_after(part, letter)) for letter in kinds.tolist()])[letters]
    keys = begun * states + np.arange(states)
    known = _Numbered(states)
    starts, frontier = known.numbers_of(keys)
    rows: list[tuple[Integers, ...]] = []
    while len(frontier):
        which, at = np.divmod(frontier, states)
        goes_on = which > 1
        many = np.where(goes_on, np.diff(model.choice_offsets)[at], 0)
        chosen, _ = places_of_rows(model.choice_offsets[:-1][at], many)
        width = np.diff(model.transition_offsets)[chosen]
        taken, _ = places_of_rows(model.transition_offsets[:-1][chosen], width)
        after = np.asarray(model.successors)[taken].astype(np.int64)
        before = np.repeat(np.repeat(which, many), width)
        pairs, inverse = np.unique(before * len(kinds) + letters[after], return_inverse=True)
        each = [
            rests.following(pair // len(kinds), int(kinds[pair % len(kinds)]))
            for pair in pairs.tolist()
        ]
        reached = np.array(each, np.int64)[inverse] * states + after
        ids, frontier = known.numbers_of(reached)
        rows.append((many, width, ids, chosen, taken))
    which, at = np.divmod(np.concatenate(known.keys), states)
    counts, lengths, followers, chosen, taken = map(np.concatenate, zip(*rows, strict=True))
    product = Model.from_arrays(
        offsets_of(counts),
        offsets_of(lengths),
        followers,
        given_numbers(model, "probabilities")[taken],
        players=model.players[at],
        terminals=np.flatnonzero(counts == 0),
        action_labels=model.action_labels[chosen],
        initial=beginning(model, starts[model.initial_states]),
        num_players=model.num_players,
        action_names=model.action_names,
        variables={name: column[at] for name, column in model.variables.items()},
    )
    return Ended(product, which == 1, starts)


class _Numbered:
    """Pairs of a rest and a state, numbered in the order in which they are found."""

    def __init__(self, states: int) -> None:
        self.states = states
        self.count = 0
        self._of_rest: dict[int, Integers] = {}
        self.keys: list[Integers] = []

    def numbers_of(self, keys: Integers) -> tuple[Integers, Integers]:
        """Return the number of each pair, and those pairs that are new, which come next."""
        known = len(self.keys)
        which, at = np.divmod(keys, self.states)
        found = np.empty(len(keys), np.int64)
        for rest in np.unique(which).tolist():
            if rest not in self._of_rest:
                if (len(self._of_rest) + 1) * self.states > MOST_STATES:
                    message = (
                        f"the product of the model with the path formula has more than "
                        f"{MOST_STATES:,} states."
                    )
                    raise LimitExceededError(message, states=0, choices=0, transitions=0)
                self._of_rest[rest] = np.full(self.states, -1, np.int64)
            table, mine = self._of_rest[rest], which == rest
            new = np.unique(at[mine][table[at[mine]] < 0])
            table[new] = self.count + np.arange(len(new))
            self.keys.append(rest * self.states + new)
            self.count += len(new)
            found[mine] = table[at[mine]]
        return found, np.concatenate([np.zeros(0, np.int64), *self.keys[known:]])
