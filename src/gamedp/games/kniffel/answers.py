"""Answers of the page of Kniffel: the value of every decision for each goal, and whole games."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs

from gamedp.games.kniffel.adviser import Adviser, Expectation, Option
from gamedp.games.kniffel.analysis import Decision, analyse
from gamedp.games.kniffel.boxes import box_names, shown
from gamedp.games.kniffel.card import FACES, Card
from gamedp.games.kniffel.outlook import (
    SMALL_TABLE,
    Opponent,
    Outlook,
    duel_of,
    outlook_against,
    outlook_for_points,
)
from gamedp.games.kniffel.prospects import Prospect
from gamedp.games.kniffel.queries import PLAYS, Asked, game_text, read_query, refuse
from gamedp.games.kniffel.reasons import Reason, reasons
from gamedp.games.kniffel.record import Record
from gamedp.games.kniffel.remainder import Remainder, Size, TooLargeError
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.situation import Situation
from gamedp.games.kniffel.targets import (
    EARLY,
    ForPoints,
    Rest,
    Targets,
    beating,
    early_rest,
    reaching,
    rest_after,
)
from gamedp.web.plugin import ProgressCallback, Query, Shared

__all__ = ["CLASSES", "MOST_CONTEXTS", "answer", "answer_to", "explained", "reported"]

MOST_CONTEXTS = 4_000_000
"""Largest table built per request (about 16 seconds)."""

EARLY_BYTES = {"article": 500_000_000, "yahtzee": 1_250_000_000}
"""Approximate memory that :func:`early_rest` takes meanwhile."""

BOUNDED = ("value", "lower", "upper")
"""A value and its bounds, of an option."""

BYTES = 50
"""Approximate number of bytes per context of a table."""


@attrs.frozen(eq=False)
class _Sized:
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
    situation = asked.situation
    adviser.expectation(situation)  # reports what is wrong with it
    found: dict[str, Any] = {
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
        found |= _advice(shared, adviser, asked)
    if asked.report:
        found["report"] = [reported(record, adviser, asked.language) for record in asked.records]
    return found


def _adviser(shared: Shared, rules: Kniffel) -> Adviser:
    """Return the adviser for the rules, which are solved once and kept."""

    def work(progress: ProgressCallback) -> Adviser:
        return Adviser.of(Kniffel(rules.rules), progress=progress, keep=True)

    adviser: Adviser = shared.table(("rules", rules.rules), work, kept=True)
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
        "decision": _decision(outlook.options),
        "options": options,
    }


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
    options = () if _is_decided(asked) else adviser.options(asked.situation)
    kinds = (*BOUNDED, "rest", "loss")
    return {
        **attrs.asdict(_expectation(adviser, asked)),
        "decision": _decision(options),
        "options": [_plain(option, asked.language, kinds) for option in options],
    }


def _expectation(adviser: Adviser, asked: Asked) -> Expectation:
    """Return the expectation, also for dice that stay on the table."""
    if not _is_decided(asked):
        return adviser.expectation(asked.situation)
    record = asked.records[asked.turn]
    after = adviser.option(record.situation, record.kept)
    return Expectation(value=after.value, lower=after.lower, upper=after.upper, rest=after.rest)


def _is_decided(asked: Asked) -> bool:
    """Return whether the dice that stay are chosen already, and the next throw is due."""
    if not asked.records:
        return False
    record = asked.records[asked.turn]
    return record.waits_for == "throw" and record.situation.number > 0


def _decision(options: tuple[Option, ...] | tuple[Prospect, ...]) -> str | None:
    if not options:
        return None
    return "entry" if options[0].kept is None else "keep"


def _plain(option: Option | Prospect, language: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    kind = {"kept": shown(option.kept)} if option.kept is not None else {"box": option.box}
    numbers = {name: getattr(option, name) for name in kinds}
    return {"name": option.name(language), **kind, "points": option.points, **numbers}


def _outlook_for_total(shared: Shared, adviser: Adviser, asked: Asked) -> Outlook:
    """Return the probability of a total; the table has all totals from this card."""
    situation, total = asked.situation, asked.total
    card = situation.card

    def work(progress: ProgressCallback) -> _Sized:
        targets = Targets.of(card, adviser.rules, max_contexts=MOST_CONTEXTS, progress=progress)
        return _Sized(targets, targets.solution.statistics.bytes)

    targets: Targets = shared.table(("total", adviser.rules.rules, card), work).table
    options: tuple[Prospect, ...] = ()
    if situation.number > 0 and targets.is_open(total):
        options = targets.options(situation.dice, situation.number, total=total)
    lower, upper = targets.bounds(total)
    value = targets.at_least(total)
    if options:
        value = options[0].value
        lower, upper = max(each.lower for each in options), max(each.upper for each in options)
    return Outlook(
        situation=situation,
        goal=total,
        value=value,
        lower=lower,
        upper=upper,
        exact=True,
        options=options,
    )


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

    def decisions(_progress: ProgressCallback) -> Outlook:
        return outlook_against(adviser, situation, opponent, duel=duel)

    found: Outlook = shared.result(("beat", *cards, situation), decisions)
    return found


def _outlook_for_points(shared: Shared, adviser: Adviser, asked: Asked) -> Outlook:
    """Return the probability of the goal if each decision is followed by play for points."""
    card, opponent = asked.situation.card, asked.opponent
    rest = _rest(shared, adviser, asked, card.sheet(adviser.rules), 1)
    goal: int | Opponent = asked.total
    if asked.goal == "total" or opponent is None:
        worth, error = reaching(asked.total - card.entered(adviser.rules)), 0.0
    else:
        goal, his = Opponent(opponent), opponent.sheet(adviser.rules)
        to_come = _rest(shared, adviser, asked, his, 0).known[his]
        lead = card.entered(adviser.rules) - opponent.entered(adviser.rules)
        worth, error = beating(to_come, lead), to_come.relative_error
    play = ForPoints(adviser.solution, card.sheet(adviser.rules), rest, worth, error)
    return outlook_for_points(play, asked.situation, goal)


def _rest(shared: Shared, adviser: Adviser, asked: Asked, sheet: Sheet, entries: int) -> Rest:
    """Return the remaining points from a sheet, and from those after 0 or 1 entries."""
    rules, solution = adviser.rules, adviser.solution
    if rules.rank(sheet) - entries >= EARLY:
        needed = EARLY_BYTES[rules.rules]
        if shared.bytes < needed:
            refuse(asked.language, "memory", needed=needed // 1_000_000, boxes=EARLY - 1)

        def begin(progress: ProgressCallback) -> Rest:
            return early_rest(solution, progress=progress)

        early: Rest = shared.table(("early", rules.rules), begin)
        return early

    def work(progress: ProgressCallback) -> Rest:
        return rest_after(solution, sheet, progress=progress)

    found: Rest = shared.table(("rest", rules.rules, sheet), work)
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

    def work(progress: ProgressCallback) -> list[Reason]:
        return reasons(adviser, asked.situation, [chosen, best], progress=progress)

    key = ("why", adviser.rules.rules, asked.situation, what)
    told = [explained(each, asked.language) for each in shared.result(key, work)]
    return {"chosen": told[0], "best": told[1], "loss": chosen.loss}


CLASSES = (0.2, 1.0, 5.0)
"""Limits of loss by which decisions are counted: none, less than each of these, and more."""


def reported(record: Record, adviser: Adviser, language: str) -> dict[str, Any]:
    """Return a player's decisions beside the best ones, and their losses.

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
        "decision": "entry" if decision.chosen.kept is None else "keep",
        "chosen": _plain(decision.chosen, language, BOUNDED),
        "best": _plain(decision.best, language, BOUNDED),
        "loss": decision.chosen.loss,
        "class": _class_of(decision.chosen.loss),
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
