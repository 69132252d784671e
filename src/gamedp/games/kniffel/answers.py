"""The page of Kniffel: queries, read and validated, and their answers as JSON values.

The library would refuse the same fields, but in English and with the article's names of the boxes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple, NoReturn

import attrs

import gamedp
from gamedp.games.kniffel.adviser import Adviser, Reason, reasons
from gamedp.games.kniffel.analysis import Decision, analyse
from gamedp.games.kniffel.boxes import WORDS, box_names, kept, refuse, shown, throw
from gamedp.games.kniffel.card import BOXES, DICE, FACES, Card, Situation, possible_entries, spans
from gamedp.games.kniffel.outlook import (
    SMALL_TABLE,
    Opponent,
    Outlook,
    duel_of,
    outlook_against,
    outlook_for_points,
    outlook_for_total,
)
from gamedp.games.kniffel.prospects import Option, Prospect
from gamedp.games.kniffel.puzzles import Puzzle, puzzles
from gamedp.games.kniffel.record import Record, Round
from gamedp.games.kniffel.remainder import Remainder, Size, TooLargeError
from gamedp.games.kniffel.rules import PRESETS, Kniffel, Sheet
from gamedp.games.kniffel.targets import (
    MIN_FREE_KEPT,
    ForPoints,
    Rest,
    Targets,
    beating,
    early_rest,
    reaching,
    rest_after,
)
from gamedp.web.plugin import ProgressCallback, Query, Shared

__all__ = [
    "GOALS",
    "PLAYS",
    "answer",
    "answer_to",
    "boxes_of",
    "explained",
    "game_text",
    "read_query",
    "reported",
]

MOST_CONTEXTS = 4_000_000
"""Largest table built per request (about 16 seconds)."""

EARLY_BYTES = {"article": 500_000_000, "yahtzee": 1_250_000_000}
"""Approximate memory that :func:`early_rest` takes meanwhile."""

BOUNDED = ("value", "lower", "upper")
"""A value and its bounds, of an option."""

BYTES = 50
"""Approximate number of bytes per context of a table."""


GOALS = ("points", "total", "beat")
"""The goals: the most expected points, at least a total, or more than the opponent."""

PLAYS = ("points", "victory")
"""The opponent's goals: the most expected points, or to win."""

FIELDS = (
    *("card", "further", "throw", "dice", "rules", "lang", "goal", "total"),
    *("against", "against_further", "plays", "game", "players", "advice", "quick", "report", "why"),
    "puzzles",
    *(f"box{box}" for box in range(BOXES)),
)
"""The fields of a query; the form has a field for each box, an address one for all."""

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
    puzzles : bool
        Whether the puzzles by these rules are requested, whatever the situation is.
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
    puzzles: bool = False


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
        refuse(f"a query has {', '.join(FIELDS[:18])}, and not {unknown[0][:40]!r}.")
    language = query.get("lang", "de")
    if language not in WORDS:
        refuse("lang must be de or en.")
    rules = query.get("rules", "article")
    goal, plays = query.get("goal") or "points", query.get("plays") or "points"
    for name, value, known in (
        ("rules", rules, tuple(PRESETS)),
        ("goal", goal, GOALS),
        ("plays", plays, PLAYS),
    ):
        if value not in known:
            refuse(f"{name} must be one of {', '.join(known)}.")
    if "game" not in query:
        check_fields(query, boxes_of(query), language)
    total = query.get("total", "").strip() or "0"
    if not (total.isascii() and total.isdecimal() and len(total) <= len("9999")):
        refuse_in(language, "total")
    common: dict[str, Any] = {
        "language": language,
        "rules": Kniffel(rules, language=language),
        "goal": goal,
        "total": int(total),
        "plays": plays,
        "advice": query.get("advice", "1") != "0",
        "quick": query.get("quick", "0") == "1",
        "report": query.get("report", "0") == "1",
        "why": query.get("why"),
        "puzzles": query.get("puzzles", "0") == "1",
    }
    if "game" in query:
        return _of_game(query, common)
    number = query.get("throw", "").strip() or "0"
    dice = query.get("dice", "") if number != "0" else ""
    further = _number(query, "further", 99)
    situation = Situation.of(*boxes_of(query), number, dice, further=further)
    situation.card.sheet(common["rules"])
    opponent = None
    if goal == "beat":  # an empty card if none is given
        card = query.get("against", "").replace(",", " ").strip() or "- " * BOXES
        opponent = Card.of(card, further=_number(query, "against_further", 99))
    return Asked(**common, situation=situation, opponent=opponent)


def _of_game(query: Query, common: dict[str, Any]) -> Asked:
    """Read a whole game, and find its current state."""
    players = _number(query, "players", 2, least=1)
    rules = common["rules"]
    played: list[list[Round]] = [[] for _ in range(players)]
    turns = [each for each in query["game"].split("_") if each]
    if len(turns) > players * BOXES:
        refuse(f"a game has {BOXES} rounds.")
    for number, text in enumerate(turns):
        played[number % players].append(_round(text))
        if played[number % players][-1].box is None and number < len(turns) - 1:
            refuse(f"turn {number + 1} has no entry, and others follow it.")
    records = tuple(Record(rules, rounds=rounds) for rounds in played)
    last = len(turns) - 1
    turn = len(turns) % players
    if turns and played[last % players][-1].box is None:
        turn = last % players
    opponent = records[1 - turn].card if players == 2 else None
    if common["goal"] == "beat" and opponent is None:
        refuse("with one player there is nobody to beat; set players=2.")
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
        refuse("a turn has three throws, two keeps and an entry at most.")
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
    turns = zip_longest(*(record.rounds for record in records))
    return "_".join(_round_text(each) for turn in turns for each in turn if each is not None)


def _round_text(played: Round) -> str:
    keeps = [shown(dice).replace("-", "0") for dice in played.keeps]
    pairs = zip_longest(map(shown, played.throws), keeps)
    box = [] if played.box is None else [BOX_LETTERS[played.box]]
    return ".".join([part for pair in pairs for part in pair if part is not None] + box)


def boxes_of(query: Query) -> list[str]:
    """Return the content of each box, as texts."""
    card = query.get("card", "").replace(",", " ").split()
    return card or [query.get(f"box{box}", "").strip() or "-" for box in range(BOXES)]


def _number(query: Query, name: str, most: int, least: int = 0) -> int:
    """Return a small integer."""
    text = query.get(name, "").strip() or str(least)
    if not (text.isascii() and text.isdecimal()) or len(text) > 4 or not least <= int(text) <= most:
        refuse(f"{name} must be a whole number from {least} to {most}.")
    return int(text)


MAX_QUOTED = 20
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
            refuse_in(language, "further")


def refuse_in(language: str, sentence: str, **parts: str | int) -> NoReturn:
    """Raise InvalidParameterError with one of the refusals in `WORDS`."""
    raise gamedp.errors.InvalidParameterError(WORDS[language]["refusals"][sentence].format(**parts))


def _check_card(card: list[str], language: str) -> None:
    if len(card) != BOXES:
        refuse_in(language, "card", boxes=BOXES, count=len(card))
    for box, entry in enumerate(card):
        known = possible_entries()[box]
        is_number = entry.isascii() and entry.isdecimal() and len(entry) <= MAX_QUOTED
        if entry != "-" and not (is_number and int(entry) in known):
            allowed = spans(known).replace(" to ", WORDS[language]["refusals"]["to"])
            name = box_names(language)[box]
            refuse_in(language, "entry", box=name, entry=entry[:MAX_QUOTED], known=allowed)


def _check_throw(query: Query, boxes: list[str], language: str) -> None:
    number = query.get("throw", "").strip() or "0"
    if number not in {"0", "1", "2", "3"}:
        refuse_in(language, "throw")
    if number == "0":
        return
    if "-" not in boxes:
        refuse_in(language, "full")
    dice = "".join(query.get("dice", "").split())
    if len(dice) != DICE or not set(dice) <= set("123456"):
        refuse_in(language, "dice", dice=dice[:MAX_QUOTED], number=DICE, faces=FACES)


class _Sized(NamedTuple):
    """A table, and the memory that it takes."""

    table: Any
    bytes: int


def answer(shared: Shared, query: Query) -> Mapping[str, Any]:
    """Return the answer to a query as a JSON value.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the query makes no sense.
    """
    return answer_to(shared, read_query(query))


def answer_to(shared: Shared, asked: Asked) -> dict[str, Any]:
    """Return the answer to a query that has been read."""
    adviser = _adviser(shared, asked.rules)
    if asked.puzzles:
        found = shared.result(
            ("puzzles", adviser.rules.rules),
            lambda progress: puzzles(adviser, progress=progress),
        )
        return {"rules": asked.rules.rules, "puzzles": [_puzzle_line(each) for each in found]}
    situation = asked.situation
    adviser.expectation(situation)  # reports what is wrong with it
    found = {
        "rules": asked.rules.rules,
        **_card(situation.card, adviser.rules),
        "throw": situation.number,
        "dice": shown(situation.dice) if situation.number else None,
        "boxes": box_names(asked.language),
        "entries": _entries(adviser, asked),
    }
    if asked.records:
        found |= _game(asked, adviser)
    elif asked.opponent is not None:
        found["opponent"] = _card(asked.opponent, adviser.rules)
    if asked.why is not None:
        return found | {"why": _why(shared, adviser, asked)}
    if asked.advice:
        advice = _advice(shared, adviser, asked)
        if advice["decision"] == "keep" and len(advice["options"][0]["kept"]) == DICE:
            advice["options"][0]["entry"] = _entry_now(shared, adviser, asked)
        found |= advice
    if asked.report:
        found["report"] = [reported(record, adviser, asked.language) for record in asked.records]
    return found


def _adviser(shared: Shared, rules: Kniffel) -> Adviser:
    """Return the adviser for the rules, which are solved once and kept."""
    adviser: Adviser = shared.table(
        ("rules", rules.rules),
        lambda progress: Adviser.of(Kniffel(rules.rules), progress=progress, keep=True),
        kept=True,
    )
    return adviser


def _card(card: Card, rules: Kniffel) -> dict[str, Any]:
    """Return a card, and its sums as on the printed sheet."""
    bonus = rules.upper_bonus if card.upper >= rules.threshold else 0
    lower = sum(entry or 0 for entry in card.entries[FACES:]) + card.further * rules.further_bonus
    return {
        "card": card.entries,
        "further": card.further,
        "upper_part": card.upper,
        "bonus": bonus,
        "lower_part": lower,
        "points": card.total_by(rules),
    }


def _entries(adviser: Adviser, asked: Asked) -> list[dict[str, Any]]:
    """Return the points of the dice in each box that is open to them now."""
    situation, rules = asked.situation, adviser.rules
    if situation.number == 0:
        return []
    most: dict[int, int] = {}
    sheet = situation.card.sheet(rules)
    ends = rules.entries(sheet, situation.dice)
    for end in ends:
        most[end.box] = max(end.points, most.get(end.box, 0))
    further = sheet.bonus == 1 and any(end.kniffel > 0 for end in ends)
    return [
        {"box": box, "points": points, "further": further} for box, points in sorted(most.items())
    ]


def _game(asked: Asked, adviser: Adviser) -> dict[str, Any]:
    """Return the state of a game."""
    record = asked.records[asked.turn]
    over = all(each.is_over for each in asked.records)
    totals = [each.total for each in asked.records]
    winner = totals.index(max(totals)) if over and len(set(totals)) == len(totals) > 1 else None
    return {
        "game": game_text(asked.records),
        "players": [_card(each.card, adviser.rules) for each in asked.records],
        "turn": asked.turn,
        "round": _round_of(record),
        "waits_for": "nothing" if over else record.waits_for,
        "kept": shown(record.kept).replace("-", ""),
        "over": over,
        "winner": winner,
    }


def _round_of(record: Record) -> int:
    filled = sum(entry is not None for entry in record.card.entries)
    return filled if record.is_over else filled + 1


def _advice(shared: Shared, adviser: Adviser, asked: Asked) -> dict[str, Any]:
    """Return every decision with its value, the best one first.

    If the goal needs too large a table, the next best advice is returned, with the cost of the
    table: against an opponent who plays to win, the advice against one who plays for points;
    otherwise the probability of the goal if all play for points after each decision.
    """
    if asked.goal == "points" or _is_decided(asked) or None not in asked.situation.card.entries:
        return {"goal": "points", **_for_points(adviser, asked)}
    look = _outlook_for_total if asked.goal == "total" else _outlook_against
    too_large: dict[str, Any] = {}
    kinds = PLAYS[PLAYS.index(asked.plays) :: -1] if asked.goal == "beat" else PLAYS[:1]
    for plays in () if asked.quick else kinds:
        try:
            outlook = look(shared, adviser, attrs.evolve(asked, plays=plays))
            break
        except TooLargeError as error:
            too_large = {"too_large": _refused(asked.goal, error.size)}
    else:
        plays = "points"
        outlook = _outlook_for_points(shared, adviser, asked)
        too_large["then"] = "points"
    expected = adviser.expected_after(asked.situation)
    options = [
        _plain(each, asked.language, (*BOUNDED, "loss")) | {"expected": expected[each.decision]}
        for each in outlook.options
    ]
    return {
        "goal": asked.goal,
        "exact": outlook.exact,
        **({"plays": plays} if asked.goal == "beat" else {}),
        **too_large,
        "value": outlook.value,
        "lower": outlook.lower,
        "upper": outlook.upper,
        "decision": outlook.best and outlook.best.kind,
        "options": options,
    }


def _entry_now(shared: Shared, adviser: Adviser, asked: Asked) -> dict[str, Any]:
    """Return the box that the dice are best entered in now, without throwing again."""
    last = attrs.evolve(asked.situation, number=asked.rules.throws)
    best = _advice(shared, adviser, attrs.evolve(asked, situation=last))["options"][0]
    return {name: best[name] for name in ("name", "box", "points")}


def _refused(goal: str, size: Size) -> dict[str, Any]:
    """Return the cost of a table that is too large, and the number of entries until it is not."""
    return {
        "goal": goal,
        "contexts": size.contexts,
        "most": MOST_CONTEXTS,
        # Each entry of either player leaves half of the sets of boxes, and no more points. A duel's
        # second table is one point larger than its first one.
        "entries": math.ceil(math.log2(1.01 * size.contexts / MOST_CONTEXTS)),
        "seconds": size.seconds,
        "gigabytes": size.gigabytes,
    }


def _for_points(adviser: Adviser, asked: Asked) -> dict[str, Any]:
    options: tuple[Option, ...] = ()
    if _is_decided(asked):
        record = asked.records[asked.turn]
        expectation = adviser.option(record.situation, record.kept).expectation
    else:
        options = adviser.options(asked.situation)
        expectation = adviser.expectation(asked.situation)
    kinds = (*BOUNDED, "rest", "loss")
    return {
        **attrs.asdict(expectation),
        "decision": options[0].kind if options else None,
        "options": [_plain(option, asked.language, kinds) for option in options],
    }


def _is_decided(asked: Asked) -> bool:
    """Return whether the dice that stay are chosen already, and the next throw is due."""
    if not asked.records:
        return False
    record = asked.records[asked.turn]
    return record.waits_for == "throw" and record.situation.number > 0


def _plain(option: Option | Prospect, language: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    kind = {"kept": shown(option.kept)} if option.kept is not None else {"box": option.box}
    numbers = {name: getattr(option, name) for name in kinds}
    return {"name": option.name(language), **kind, "points": option.points, **numbers}


def _outlook_for_total(shared: Shared, adviser: Adviser, asked: Asked) -> Outlook:
    """Return the probability of a total; the table has all totals from this card."""
    card = asked.situation.card

    def work(progress: ProgressCallback) -> _Sized:
        targets = Targets.of(card, adviser.rules, max_contexts=MOST_CONTEXTS, progress=progress)
        return _Sized(targets, targets.solution.statistics.bytes)

    targets: Targets = shared.table(("total", adviser.rules.rules, card), work).table
    return outlook_for_total(adviser, asked.situation, asked.total, targets=targets)


def _outlook_against(shared: Shared, adviser: Adviser, asked: Asked) -> Outlook:
    """Return the probability of winning against an opponent who plays for points, or to win."""
    situation, plays = asked.situation, asked.plays
    assert asked.opponent is not None  # noqa: S101 - see read_query
    opponent = Opponent(asked.opponent, "victory" if plays == "victory" else "points")
    cards = (plays, adviser.rules.rules, situation.card, opponent.card)

    def work(progress: ProgressCallback) -> _Sized:
        duel = duel_of(
            adviser, situation.card, opponent, max_contexts=MOST_CONTEXTS, progress=progress
        )
        # Everything that depends on the cards is solved now; decisions are looked up in it.
        outlook_against(adviser, Situation(situation.card), opponent, duel=duel)
        if plays == "victory":
            endgame = duel.endgame(opponent_goal="victory")
            return _Sized(duel, endgame.solution.statistics.bytes)
        rest = Remainder.of(adviser.rules, situation.card.sheet(adviser.rules))
        contexts = max(SMALL_TABLE, 2 * (rest.most + 2) * rest.num_sheets)
        return _Sized(duel, contexts * BYTES)

    duel = shared.table(("beat", *cards), work).table

    found: Outlook = shared.result(
        ("beat", *cards, situation),
        lambda _progress: outlook_against(adviser, situation, opponent, duel=duel),
    )
    return found


def _outlook_for_points(shared: Shared, adviser: Adviser, asked: Asked) -> Outlook:
    """Return the probability of the goal if each decision is followed by play for points."""
    card, opponent = asked.situation.card, asked.opponent
    rest = _rest(shared, adviser, asked, card.sheet(adviser.rules), 1)
    goal: int | Opponent = asked.total
    if asked.goal == "total" or opponent is None:
        worth, error = reaching(asked.total - card.entered(adviser.rules)), 0.0
    else:
        goal, sheet = Opponent(opponent), opponent.sheet(adviser.rules)
        to_come = _rest(shared, adviser, asked, sheet, 0)[sheet]
        lead = card.entered(adviser.rules) - opponent.entered(adviser.rules)
        worth, error = beating(to_come, lead), to_come.relative_error
    play = ForPoints(adviser.solution, card.sheet(adviser.rules), rest, worth, error)
    return outlook_for_points(play, asked.situation, goal)


def _rest(shared: Shared, adviser: Adviser, asked: Asked, sheet: Sheet, entries: int) -> Rest:
    """Return the remaining points from a sheet, and from those after 0 or 1 entries."""
    rules = adviser.rules
    key: Hashable = ("rest", rules.rules, sheet)
    find: Callable[..., Rest] = functools.partial(rest_after, adviser.solution, sheet)
    if rules.tier(sheet) - entries >= MIN_FREE_KEPT:
        needed = EARLY_BYTES[rules.rules]
        if shared.bytes < needed:
            refuse_in(asked.language, "memory", needed=needed // 1_000_000, boxes=MIN_FREE_KEPT - 1)
        key, find = ("early", rules.rules), functools.partial(early_rest, adviser.solution)

    def work(progress: ProgressCallback) -> _Sized:
        rest = find(progress=progress)
        parts = (each.totals.nbytes + each.probabilities.nbytes for each in rest.values())
        return _Sized(rest, sum(parts))

    found: Rest = shared.table(key, work).table
    return found


def _why(shared: Shared, adviser: Adviser, asked: Asked) -> dict[str, Any]:
    """Return the expected points of each box after a decision, and after the best one."""
    name = asked.why or ""
    # A box is given by its number from 0, a keep by its dice.
    what: str | int = name
    if asked.situation.number == adviser.rules.throws:
        what = int(name) if name.isdecimal() and len(name) < 3 else name
    chosen = adviser.option(asked.situation, what)
    best = adviser.best(asked.situation)

    found = shared.result(
        ("why", adviser.rules.rules, asked.situation, what),
        lambda progress: reasons(adviser, asked.situation, [chosen, best], progress=progress),
    )
    told = [explained(each, asked.language) for each in found]
    return {"chosen": told[0], "best": told[1], "loss": chosen.loss}


CLASSES = (0.2, 1.0, 5.0)
"""Limits of loss by which decisions are counted: none, less than each of these, and more."""


def reported(record: Record, adviser: Adviser, language: str) -> dict[str, Any]:
    """Return a player's decisions, the best ones, and the losses.

    Examples
    --------
    >>> record = Record().thrown("11456").keeping("11")
    >>> found = reported(record, Adviser.of(), "en")
    >>> found["mistakes"], found["classes"], round(found["mean_loss"], 3)
    (1, [0, 0, 0, 1, 0], 1.14)
    """
    found = analyse(record, adviser)
    losses = [decision.chosen.loss for decision in found.decisions]
    classes = [0] * (len(CLASSES) + 2)
    for loss in losses:
        classes[_class_of(loss)] += 1
    return {
        "start": found.start.value,
        "luck": found.luck,
        "loss": found.handicap,
        "now": found.now.value,
        "points": record.total,
        "choices": len(losses),
        "mistakes": len(found.mistakes),
        "mean_loss": found.handicap / len(losses) if losses else 0.0,
        "limits": CLASSES,
        "classes": classes,
        "decisions": [_decision_line(decision, language) for decision in found.decisions],
    }


def _class_of(loss: float) -> int:
    return 0 if loss == 0 else 1 + sum(loss >= limit for limit in CLASSES)


def _decision_line(decision: Decision, language: str) -> dict[str, Any]:
    situation = decision.situation
    return {
        "round": decision.round,
        "card": situation.card.entries,
        "further": situation.card.further,
        "throw": situation.number,
        "dice": shown(situation.dice),
        "decision": decision.chosen.kind,
        "chosen": _plain(decision.chosen, language, BOUNDED),
        "best": _plain(decision.best, language, BOUNDED),
        "loss": decision.chosen.loss,
        "class": _class_of(decision.chosen.loss),
    }


def _puzzle_line(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle as a JSON value, without its solution."""
    record = puzzle.record
    return {
        "game": game_text((record,)),
        "round": _round_of(record),
        "throw": record.situation.number,
        "dice": shown(record.situation.dice),
        "decision": puzzle.options[0].kind,
        "choices": len(puzzle.options),
        "gap": puzzle.gap,
    }


def explained(reason: Reason, language: str) -> dict[str, Any]:
    """Return a reason as a JSON value."""
    names = box_names(language)
    return {
        "name": reason.option.name(language),
        "value": reason.option.value,
        "entered": reason.entered,
        "boxes": [
            {"box": each.box, "name": names[each.box], "now": each.now, "points": each.points}
            for each in reason.boxes
        ],
        "bonus": reason.bonus,
        "further": reason.further,
    }
