"""Queries of the page of Kniffel: read and validated, with messages in the language of the query.

The library would refuse the same fields, but in English and with the article's names of the boxes.
"""

from __future__ import annotations

from typing import Any, NoReturn

import attrs

import gamedp
from gamedp.games.kniffel.boxes import box_names, kept, shown, throw
from gamedp.games.kniffel.card import BOXES, DICE, FACES, Card, possible_entries, spans
from gamedp.games.kniffel.record import Record, Round
from gamedp.games.kniffel.rules import PRESETS, Kniffel
from gamedp.games.kniffel.situation import Situation
from gamedp.games.kniffel.words import WORDS
from gamedp.web.plugin import Query

__all__ = [
    "GOALS",
    "PLAYS",
    "Asked",
    "boxes_of",
    "game_text",
    "language_of",
    "read_query",
    "refuse",
]

LANGUAGES = ("de", "en")
GOALS = ("points", "total", "beat")
"""The goals: the most expected points, at least a total, or more than the opponent."""

PLAYS = ("points", "victory")
"""The opponent's goals: the most expected points, or to win."""

FIELDS = (
    *("card", "further", "throw", "dice", "rules", "lang", "goal", "total"),
    *("against", "against_further", "plays", "game", "players", "advice", "quick", "report", "why"),
    *(f"box{box}" for box in range(BOXES)),
)
"""The fields of a query; the form has a field for each box, an address one for all."""

MOST_TOTAL = 9999
BOX_LETTERS = "abcdefghijklm"
"""The letters of the boxes in the text of a game."""


@attrs.frozen(kw_only=True)
class Asked:
    """A query that has been read.

    Attributes
    ----------
    language : str
    rules : Kniffel
    situation : Situation
        The situation of the player to move.
    goal : str
        One of `GOALS`.
    total : int
        The total to reach for the goal ``"total"``.
    opponent : Card or None
        The card of the opponent to beat.
    plays : str
        The opponent's goal: one of `PLAYS`.
    records : tuple of Record
        The records of a whole game, one for each player; empty for a query about a situation.
    turn : int
        The player whose turn it is in that game.
    advice, report : bool
        Whether the values are requested, and a report on each decision of the game.
    quick : bool
        Whether bounds of a goal suffice, by play for points after each decision.
    why : str or None
        The decision to explain.
    """

    language: str
    rules: Kniffel
    situation: Situation
    goal: str = "points"
    total: int = 0
    opponent: Card | None = None
    plays: str = "points"
    records: tuple[Record, ...] = ()
    turn: int = 0
    advice: bool = True
    quick: bool = False
    report: bool = False
    why: str | None = None


def _refuse(message: str) -> NoReturn:
    raise gamedp.errors.InvalidParameterError(message)


def language_of(query: Query) -> str:
    """Return the requested language."""
    language = query.get("lang", "de")
    if language not in LANGUAGES:
        _refuse("lang must be de or en.")
    return language


def read_query(query: Query) -> Asked:
    """Read a query.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If it makes no sense; the message says why.

    Examples
    --------
    >>> asked = read_query({"game": "13345.33.33456.33.33366.c_12", "rules": "yahtzee"})
    Traceback (most recent call last):
    ...
    gamedp.errors.InvalidParameterError: the throw '12' has 2 dice; it takes 5.
    >>> read_query({"game": "13345.33.33456.33.33366.c"}).situation.card.total
    9
    """
    unknown = sorted(query.keys() - set(FIELDS))
    if unknown:
        _refuse(f"a query has {', '.join(FIELDS[:17])}, and not {unknown[0][:40]!r}.")
    language = language_of(query)
    name = query.get("rules", "article")
    if name not in PRESETS:
        _refuse(f"rules must be one of {', '.join(PRESETS)}.")
    goal = query.get("goal") or "points"
    if goal not in GOALS:
        _refuse(f"goal must be one of {', '.join(GOALS)}.")
    plays = query.get("plays") or "points"
    if plays not in PLAYS:
        _refuse(f"plays must be one of {', '.join(PLAYS)}.")
    if "game" not in query:
        check_fields(query, boxes_of(query), language)
    check_total(query, language)
    total = _number(query, "total", MOST_TOTAL)
    common: dict[str, Any] = {
        "language": language,
        "rules": Kniffel(name, language=language),
        "goal": goal,
        "total": total,
        "plays": plays,
        "advice": query.get("advice", "1") != "0",
        "quick": query.get("quick", "0") == "1",
        "report": query.get("report", "0") == "1",
        "why": query.get("why"),
    }
    if "game" in query:
        return _of_game(query, common)
    situation = _situation(query)
    situation.card.sheet(common["rules"])
    return Asked(**common, situation=situation, opponent=_opponent(query, goal))


def _situation(query: Query) -> Situation:
    """Return the situation in a query."""
    number = query.get("throw", "").strip() or "0"
    dice = query.get("dice", "") if number != "0" else ""
    return Situation.of(*boxes_of(query), number, dice, further=_number(query, "further", 99))


def _opponent(query: Query, goal: str) -> Card | None:
    """Return the card of the opponent to beat; an empty one if not given."""
    if goal != "beat":
        return None
    text = query.get("against", "").replace(",", " ").strip()
    further = _number(query, "against_further", 99)
    return Card.of(text, further=further) if text else Card(further=further)


def _of_game(query: Query, common: dict[str, Any]) -> Asked:
    """Read a whole game, and find its current state."""
    players = _number(query, "players", 2, least=1)
    rules = common["rules"]
    played: list[list[Round]] = [[] for _ in range(players)]
    turns = [each for each in query["game"].split("_") if each]
    if len(turns) > players * BOXES:
        _refuse(f"a game has {BOXES} rounds.")
    for number, text in enumerate(turns):
        played[number % players].append(_round(text))
        if played[number % players][-1].box is None and number < len(turns) - 1:
            _refuse(f"turn {number + 1} has no entry, and others follow it.")
    records = tuple(Record(rules, rounds=rounds) for rounds in played)
    last = len(turns) - 1
    turn = len(turns) % players
    if turns and played[last % players][-1].box is None:
        turn = last % players
    opponent = records[1 - turn].card if players == 2 else None
    if common["goal"] == "beat" and opponent is None:
        _refuse("one who plays alone has nobody to beat: players=2.")
    return Asked(
        **common,
        situation=records[turn].situation,
        opponent=opponent if common["goal"] == "beat" else None,
        records=records,
        turn=turn,
    )


def _round(text: str) -> Round:
    """Read a turn: alternating throws and keeps with all their dice, and the letter of its box."""
    parts = text.split(".")
    if len(parts) > 6:
        _refuse("a turn has three throws, two keeps and an entry at most.")
    box = None
    if len(parts[-1]) == 1 and parts[-1] in BOX_LETTERS:
        box = BOX_LETTERS.index(parts.pop())
    throws = tuple(throw(each) for each in parts[::2])
    keeps = tuple(
        kept("" if each == "0" else each, dice)
        for each, dice in zip(parts[1::2], throws, strict=False)
    )
    return Round(throws, keeps, box)


def game_text(records: tuple[Record, ...]) -> str:
    """Return a game in the format of a query.

    Examples
    --------
    >>> text = "13345.33.33456.33.33366.c_12345.0.11111"
    >>> game_text(read_query({"game": text}).records) == text
    True
    """
    turns = max(len(record.rounds) for record in records)
    texts = []
    for number in range(turns):
        texts += [
            _round_text(record.rounds[number]) for record in records if number < len(record.rounds)
        ]
    return "_".join(texts)


def _round_text(played: Round) -> str:
    parts = []
    for place, dice in enumerate(played.throws):
        parts.append(shown(dice))
        if place < len(played.keeps):
            parts.append(shown(played.keeps[place]).replace("-", "0"))
    if played.box is not None:
        parts.append(BOX_LETTERS[played.box])
    return ".".join(parts)


def boxes_of(query: Query) -> list[str]:
    """Return the content of each box, as texts."""
    card = query.get("card", "").replace(",", " ").split()
    return card or [query.get(f"box{box}", "").strip() or "-" for box in range(BOXES)]


def _number(query: Query, name: str, most: int, least: int = 0) -> int:
    """Return a small integer."""
    text = query.get(name, "").strip() or str(least)
    if not (text.isascii() and text.isdecimal()) or len(text) > 4 or not least <= int(text) <= most:
        _refuse(f"{name} must be a whole number from {least} to {most}.")
    return int(text)


LONGEST = 20
"""Largest number of quoted characters of a field."""


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
    """Raise InvalidParameterError with one of the refusals in `WORDS`."""
    raise gamedp.errors.InvalidParameterError(WORDS[language]["refusals"][sentence].format(**parts))


def _check_card(card: list[str], language: str) -> None:
    if len(card) != BOXES:
        refuse(language, "card", boxes=BOXES, count=len(card))
    for box, entry in enumerate(card):
        known = possible_entries()[box]
        is_number = entry.isascii() and entry.isdecimal() and len(entry) <= LONGEST
        if entry != "-" and not (is_number and int(entry) in known):
            allowed = spans(known).replace(" to ", WORDS[language]["refusals"]["to"])
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
