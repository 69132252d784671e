"""Validation of queries, with messages in the language of the query.

The library would refuse the same fields, but in English and with the article's names of the boxes.
"""

from __future__ import annotations

from typing import NoReturn

import gamedp
from gamedp.games.kniffel.boxes import box_names
from gamedp.games.kniffel.card import BOXES, DICE, FACES, possible_entries, spans
from gamedp.web.plugin import Query

__all__ = ["check_fields", "check_total", "refuse"]

LONGEST = 20
"""Largest number of quoted characters of a field."""

SENTENCES = {
    "de": {
        "to": " bis ",
        "card": "ein Zettel hat {boxes} Felder, und hier stehen {count}; für ein freies steht ein "
        "Strich.",
        "entry": "in {box} kann nicht „{entry}“ stehen: möglich sind {known}, oder nichts, "
        "solange das Feld frei ist.",
        "throw": "der Wurf ist eine Zahl von 0 bis 3; 0 ist vor dem ersten.",
        "dice": "„{dice}“ ist kein Wurf: Das sind {number} Augen von 1 bis {faces}, etwa 13345.",
        "full": "der Zettel ist voll: Zu werfen gibt es nichts mehr, und der Wurf ist 0.",
        "total": "die Punkte, die es sein sollen, sind eine ganze Zahl von 0 bis 9999.",
        "further": "weitere Kniffel zählen nur, wenn im Feld Kniffel 50 stehen, und jeder ist in "
        "einem anderen Feld eingetragen.",
        "memory": "für dieses Ziel bräuchte der Server so früh im Spiel {needed} MB Speicher und "
        "hat weniger. Es geht, sobald auf jedem Zettel höchstens {boxes} Felder frei sind; bis "
        "dahin gibt es Rat für möglichst viele Punkte.",
    },
    "en": {
        "to": " to ",
        "card": "a card has {boxes} boxes, and {count} are given; a free one is a dash.",
        "entry": "{box} cannot hold “{entry}”: possible are {known}, or nothing while the box is "
        "free.",
        "throw": "the throw is a number from 0 to 3; 0 is before the first.",
        "dice": "“{dice}” is no throw: that is {number} faces from 1 to {faces}, such as 13345.",
        "full": "the card is full: there is nothing more to throw for, and the throw is 0.",
        "total": "the points to reach are a whole number from 0 to 9999.",
        "further": "further Yahtzees count only if the box of the Yahtzee holds 50, and each is "
        "entered in another box.",
        "memory": "for this goal, so early in the game, the server would need {needed} MB of "
        "memory, and has less. It can be had once at most {boxes} boxes are free on each card; "
        "until then there is advice for as many points as possible.",
    },
}


def check_fields(query: Query, boxes: list[str], language: str) -> None:
    """Refuse mistyped fields.

    Parameters
    ----------
    query : mapping
    boxes : list of str
        The content of each box of the card in the query.
    language : str

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a field has an invalid value.

    Examples
    --------
    >>> check_fields({"throw": "2", "dice": "1334"}, ["-"] * 13, "de")
    Traceback (most recent call last):
    ...
    gamedp.errors.InvalidParameterError: „1334“ ist kein Wurf: Das sind 5 Augen von 1 bis 6, ...
    """
    opponent = query.get("against", "").replace(",", " ").split()
    _check_card(boxes, language)
    if opponent:
        _check_card(opponent, language)
    _check_throw(query, boxes, language)
    for name, card in (("further", boxes), ("against_further", opponent)):
        if query.get(name, "").strip() not in {"", "0"} and "50" not in card[11:12]:
            refuse(language, "further")


def check_total(query: Query, language: str) -> None:
    """Refuse an invalid number of points to reach, with the same error."""
    total = query.get("total", "").strip() or "0"
    if not (total.isascii() and total.isdecimal() and len(total) <= len("9999")):
        refuse(language, "total")


def refuse(language: str, sentence: str, **parts: str | int) -> NoReturn:
    """Raise InvalidParameterError with one of the `SENTENCES`."""
    raise gamedp.errors.InvalidParameterError(SENTENCES[language][sentence].format(**parts))


def _check_card(card: list[str], language: str) -> None:
    if len(card) != BOXES:
        refuse(language, "card", boxes=BOXES, count=len(card))
    for box, entry in enumerate(card):
        known = possible_entries()[box]
        is_number = entry.isascii() and entry.isdecimal() and len(entry) <= LONGEST
        if entry != "-" and not (is_number and int(entry) in known):
            allowed = spans(known).replace(" to ", SENTENCES[language]["to"])
            name = box_names(language)[box]
            refuse(language, "entry", box=name, entry=entry[:LONGEST], known=allowed)


def _check_throw(query: Query, boxes: list[str], language: str) -> None:
    number = query.get("throw", "").strip() or "0"
    if number not in {"0", "1", "2", "3"}:
        refuse(language, "throw")
    if number == "0":
        return
    if "-" not in boxes:
        refuse(language, "full")
    dice = "".join(query.get("dice", "").split())
    if len(dice) != DICE or not set(dice) <= set("123456"):
        refuse(language, "dice", dice=dice[:LONGEST], number=DICE, faces=FACES)
