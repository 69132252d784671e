"""Score cards, with an entry or none yet in each of the thirteen boxes; situations of a turn."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations_with_replacement

import attrs

from gamedp.errors import shown as in_short
from gamedp.games._parameters import as_whole, whole_at_least
from gamedp.games.kniffel.boxes import (
    FULL_HOUSE,
    KNIFFEL,
    LARGE_STRAIGHT,
    LOWER_BOXES,
    WORDS,
    box_names,
    box_number,
    points,
    points_as_joker,
    refuse,
    shown,
    throw,
)
from gamedp.games.kniffel.rules import Kniffel, Sheet

DICE, FACES = 5, 6
BOXES = FACES + LOWER_BOXES
KNIFFEL_BOX = FACES + KNIFFEL
FREE = "-"

LINE = "-" * 22
EMPTY_TABLE = (0,) * FACES


def _as_entries(entries: Iterable[int | None]) -> tuple[int | None, ...]:
    return tuple(None if entry is None else as_whole(entry) for entry in entries)


@attrs.frozen
class Card:
    """A card of Kniffel with five ordinary dice, with the entries so far.

    Parameters
    ----------
    entries : tuple of int or None, length 13
        The points in each box, from Einser to Chance: 0 if it is struck, None while it is free.
    further : int
        The number of Kniffels thrown since the one in the box of the Kniffel; each has earned a
        bonus if the rules pay any.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the card is impossible; the message says why.

    Examples
    --------
    >>> card = Card.of("- 8 - 16 15 - 15 9 25 30 40 - -")
    >>> card.total
    158
    >>> print(", ".join(card.free_boxes()))
    Einser, Dreier, Sechser, Kniffel, Chance
    >>> card.sheet(Kniffel())
    Sheet(upper=39, boxes=2010, bonus=0)
    >>> card.with_throw("13345", "Dreier", Kniffel()).total
    164
    """

    entries: tuple[int | None, ...] = attrs.field(default=(None,) * BOXES, converter=_as_entries)
    further: int = attrs.field(default=0, converter=as_whole, validator=whole_at_least(0))

    @entries.validator
    def _entries_can_be_thrown(self, _attribute: object, entries: tuple[int | None, ...]) -> None:
        if len(entries) != BOXES:
            refuse(
                f"a card has {BOXES} boxes, and {len(entries)} are given; give all of them, from "
                f"Einser to Chance, with {FREE} for one that is free."
            )
        for box, entry in enumerate(entries):
            known = possible_entries()[box]
            if entry is not None and (isinstance(entry, bool) or entry not in known):
                refuse(
                    f"no throw enters {in_short(entry)} in {box_names()[box]}: it takes "
                    f"{spans(known)}, or {FREE} while it is free."
                )

    @further.validator
    def _further_kniffels_have_been_entered(self, _attribute: object, further: int) -> None:
        if further == 0:
            return
        if not self.entries[KNIFFEL_BOX]:
            refuse(
                f"further={further} Kniffels have earned a bonus, but the box of the Kniffel does "
                "not hold 50; only after such an entry does a further one count."
            )
        places = sum(
            entry is not None and box != KNIFFEL_BOX and entry in _entries_of_kniffels()[box]
            for box, entry in enumerate(self.entries)
        )
        if further > places:
            refuse(
                f"further={further} Kniffels must have been entered somewhere, and {places} boxes "
                "besides that of the Kniffel hold what one may count there; fill in their entries."
            )

    @classmethod
    def of(cls, *entries: str | int | None, further: int = 0) -> Card:
        """Read a card as the article's program does: a number or ``-`` for each box.

        Parameters
        ----------
        *entries : str, int or None
            The entries from Einser to Chance; a single text may hold them all.
        further : int
            As for the class.

        Examples
        --------
        >>> Card.of("-", 8, "-", 16, 15, "-", 15, 9, 25, 30, 40, "-", "-").entries[:4]
        (None, 8, None, 16)
        """
        items: Iterable[str | int | None] = entries
        if len(entries) == 1 and isinstance(entries[0], str):
            items = entries[0].split()
        return cls(tuple(_entry(item) for item in items), further)

    @property
    def arguments(self) -> str:
        """The card in the format of :meth:`of`."""
        return " ".join(FREE if entry is None else str(entry) for entry in self.entries)

    @property
    def upper(self) -> int:
        """The points in the upper part, without its bonus."""
        return sum(entry or 0 for entry in self.entries[:FACES])

    @property
    def total(self) -> int:
        """The sum of the card as printed: 35 points for 63 above, 100 for each further Kniffel."""
        return self.total_by(Kniffel("yahtzee"))

    def entered(self, rules: Kniffel) -> int:
        """Return the points so far, without the bonus for the upper part, paid at the end."""
        return sum(entry or 0 for entry in self.entries) + self.further * rules.further_bonus

    def total_by(self, rules: Kniffel) -> int:
        """Return the sum of the card; a bonus counts once it has been reached."""
        bonus = rules.upper_bonus if self.upper >= rules.threshold else 0
        return self.entered(rules) + bonus

    def free_boxes(self, language: str = "de") -> tuple[str, ...]:
        """Return the names of the free boxes."""
        named = zip(box_names(language), self.entries, strict=True)
        return tuple(name for name, entry in named if entry is None)

    def sheet(self, rules: Kniffel) -> Sheet:
        """Return the part of the card that matters for the rest of a game by these rules.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If they are not played with five ordinary dice, or do not count further Kniffels, but
            the card has some.
        """
        if (rules.dice, rules.faces) != (DICE, FACES):
            refuse(
                f"a card is for {DICE} dice with {FACES} faces, not for {rules.dice} with "
                f"{rules.faces}; make a Sheet instead."
            )
        if self.further > 0 and rules.further_bonus == 0:
            refuse(
                f"the card has further={self.further} Kniffels that earned a bonus, and the rules "
                'pay none; leave them out, or take Kniffel("yahtzee").'
            )
        boxes = sum(1 << box for box, entry in enumerate(self.entries) if entry is not None)
        bonus = 1 if rules.further_bonus > 0 and self.entries[KNIFFEL_BOX] else 0
        return Sheet(min(self.upper, rules.threshold), boxes, bonus)

    def with_entry(self, box: int | str, entry: int, *, further: bool = False) -> Card:
        """Return the card with one more entry.

        Parameters
        ----------
        box : int or str
            The number of the box, from 0, or its name.
        entry : int
            The points.
        further : bool
            Whether this was a further Kniffel that earned a bonus.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the box is filled, or the entry cannot be thrown.
        """
        number = _box(box)
        if self.entries[number] is not None:
            free = ", ".join(self.free_boxes()) or "none"
            refuse(
                f"{box_names()[number]} is filled, with {self.entries[number]} points; "
                f"free boxes: {free}."
            )
        entries = (*self.entries[:number], entry, *self.entries[number + 1 :])
        return Card(entries, self.further + further)

    def with_throw(self, dice: str | tuple[int, ...], box: int | str, rules: Kniffel) -> Card:
        """Return the card with a throw entered by the rules, a joker with the most points possible.

        Parameters
        ----------
        dice : str or tuple of int
            The faces of the throw, such as ``"13345"``.
        box : int or str
            The number of the box, from 0, or its name.
        rules : Kniffel

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the box is filled, or the rules forbid it for this throw.
        """
        sheet, thrown, number = self.sheet(rules), throw(dice), _box(box)
        ends = rules.entries(sheet, thrown)
        here = [end for end in ends if end.box == number]
        if here or self.entries[number] is not None:
            best = max((end.points for end in here), default=0)
            earns_bonus = sheet.bonus == 1 and any(end.kniffel > 0 for end in here)
            return self.with_entry(number, best, further=earns_bonus)
        names = box_names()
        return refuse(
            f"the rules forbid to enter {shown(thrown)} in {names[number]} now; "
            f"allowed: {', '.join(names[end.box] for end in ends)}."
        )

    def render(self, language: str = "de", expected: float | None = None) -> str:
        """Return a drawing of the card in the format of the article's program.

        Parameters
        ----------
        language : {"de", "en"}
        expected : float, optional
            The expected final total.

        Examples
        --------
        >>> print(Card.of("- 8 - 16 15 - 15 9 25 30 40 - -").render(expected=246.452))
         ----------------------
        | 1 Einser             |
        | 2 Zweier           8 |
        | 3 Dreier             |
        | 4 Vierer          16 |
        | 5 Fünfer          15 |
        | 6 Sechser            |
        |----------------------|
        |   Bonus            0 |
        |----------------------|
        | 7 3er-Pasch       15 |
        | 8 4er-Pasch        9 |
        | 9 Full House      25 |
        |10 Kleine Straße   30 |
        |11 Große Straße    40 |
        |12 Kniffel            |
        |13 Chance             |
        |----------------------|
        |   Summe        158   |
        |   Erwartung    246.5 |
         ----------------------
        """
        bonus_word, further_word, total_word, expected_word = WORDS[language]["printed"]
        rows = [
            f"|{number:2} {name:15}{'' if entry is None else entry:>3} |"
            for number, (name, entry) in enumerate(
                zip(box_names(language), self.entries, strict=True), start=1
            )
        ]
        rules = Kniffel()
        bonus = rules.upper_bonus if self.upper >= rules.threshold else 0
        between = f"|{LINE}|"
        rows[FACES:FACES] = [between, f"|   {bonus_word:15}{bonus:3} |", between]
        if self.further:
            rows.append(f"|   {further_word:15}{self.further:3} |")
        rows += [between, f"|   {total_word:11}{self.total:5}   |"]
        if expected is not None:
            rows.append(f"|   {expected_word:11}{expected:7.1f} |")
        return "\n".join([f" {LINE} ", *rows, f" {LINE} "])


def _entry(item: str | int | None) -> int | None:
    """Read an entry; the validator refuses anything that is not a number."""
    if item is None or item == FREE:
        return None
    if isinstance(item, str) and item.isdecimal():
        return int(item)
    return item  # type: ignore[return-value]


def _box(box: int | str) -> int:
    if isinstance(box, str):
        return box_number(box)
    if not 0 <= box < BOXES:
        refuse(f"there is no box {box}; they are numbered from 0 to {BOXES - 1}.")
    return box


@cache
def possible_entries() -> tuple[frozenset[int], ...]:
    """Return the possible entries of each box; Chance, too, may be 0, as in the article."""
    throws = [throw(faces) for faces in combinations_with_replacement(range(1, FACES + 1), DICE)]
    return tuple(
        frozenset(points(dice, box, False) for dice in throws) | {0} for box in range(BOXES)
    )


@cache
def _entries_of_kniffels() -> tuple[frozenset[int], ...]:
    """Return the possible points of a Kniffel in each box, as a joker or not."""
    kniffels = [throw([face] * DICE) for face in range(1, FACES + 1)]
    joker_boxes = range(FACES + FULL_HOUSE, FACES + LARGE_STRAIGHT + 1)
    return tuple(
        frozenset(points(dice, box, False) for dice in kniffels)
        | ({points_as_joker(FACES, box)} if box in joker_boxes else set())
        for box in range(BOXES)
    )


def spans(numbers: Iterable[int]) -> str:
    """Return numbers in ascending order, three or more consecutive ones as a span."""
    rows: list[list[int]] = []
    for number in sorted(numbers):
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    texts = [
        f"{row[0]} to {row[-1]}" if len(row) > 2 else ", ".join(str(number) for number in row)
        for row in rows
    ]
    return ", ".join(texts)


def _as_dice(dice: str | tuple[int, ...]) -> tuple[int, ...]:
    """Read a throw from a text; leave anything else to the validator."""
    return throw(dice) if isinstance(dice, str) else tuple(dice)


@attrs.frozen
class Situation:
    """The situation of a player before a throw, or at a decision after one.

    Parameters
    ----------
    card : Card
    number : int
        The number of the last throw of the turn; 0 before the first one.
    dice : str or tuple of int
        Its faces, such as ``"13345"``, or the number of dice by face; none before the first throw.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the situation is impossible; the message says why.

    Examples
    --------
    >>> situation = Situation.of("- 8 - 16 15 - 15 9 25 30 40 - - 3 13345")
    >>> situation.card.total, situation.number, situation.dice
    (158, 3, (1, 0, 2, 1, 1, 0))
    >>> situation.arguments
    '- 8 - 16 15 - 15 9 25 30 40 - - 3 13345'
    """

    card: Card = attrs.field(factory=Card, validator=attrs.validators.instance_of(Card))
    number: int = attrs.field(default=0, converter=as_whole, validator=whole_at_least(0))
    dice: tuple[int, ...] = attrs.field(default=EMPTY_TABLE, converter=_as_dice)

    @dice.validator
    def _dice_lie_there_after_a_throw(self, _attribute: object, dice: tuple[int, ...]) -> None:
        if self.number == 0:
            if dice != EMPTY_TABLE:
                refuse(
                    f"before the first throw no dice are on the table, and {shown(dice)} are "
                    "given; say which throw shows them: 1 for the first one."
                )
            return
        if all(entry is not None for entry in self.card.entries):
            refuse("the card is full: there is nothing to throw for, and 0 is the only throw.")
        if len(dice) != FACES or min(dice) < 0 or sum(dice) != DICE:
            refuse(
                f"{in_short(dice)} is not a throw of {DICE} dice, counted face by face; throw "
                f'{self.number} needs one, or a text such as "13345".'
            )

    @classmethod
    def of(cls, *words: str | int, further: int = 0) -> Situation:
        """Read a situation as the article's program does.

        Parameters
        ----------
        *words : str or int
            The thirteen boxes of the card from Einser to Chance, a number or ``-`` for each; then
            the number of the last throw, 0 before the first; then its dice, unless it is 0. A
            single text may hold them all.
        further : int
            As for :class:`Card`.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the situation is impossible; the message says why.

        Examples
        --------
        >>> Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 0").card.free_boxes()
        ('Kniffel',)
        """
        items = [word for each in words for word in str(each).split()]
        if len(items) <= BOXES:
            refuse(
                f"a situation is the {BOXES} boxes of the card, from Einser to Chance, with - for "
                "one that is free; then which throw was the last, 0 before the first; then its "
                f"dice: - 8 - 16 15 - 15 9 25 30 40 - - 3 13345. Given are {len(items)} words."
            )
        number = items[BOXES]
        if not number.isdecimal():
            refuse(
                f"after the {BOXES} boxes comes which throw was the last, 0 before the first, "
                f"and not {in_short(number)}."
            )
        card = Card.of(*items[:BOXES], further=further)
        dice = throw(" ".join(items[BOXES + 1 :])) if items[BOXES + 1 :] else EMPTY_TABLE
        if int(number) > 0 and dice == EMPTY_TABLE:
            refuse(f"after the number of the throw, {number}, come its dice, such as 13345.")
        return cls(card, int(number), dice)

    @property
    def arguments(self) -> str:
        """The situation in the format of :meth:`of`."""
        dice = f" {shown(self.dice)}" if self.number else ""
        return f"{self.card.arguments} {self.number}{dice}"
