"""What a game was worth, told afterwards: every decision beside the best one, and why."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

from gamedp.games.kniffel.adviser import Adviser, Option
from gamedp.games.kniffel.analysis import Decision, analyse
from gamedp.games.kniffel.boxes import shown
from gamedp.games.kniffel.card import DICE, FACES
from gamedp.games.kniffel.record import Record
from gamedp.games.kniffel.situation import Situation

__all__ = ["CLASSES", "explained", "reported"]

CLASSES = (0.2, 1.0, 5.0)
"""Decisions are counted by what they lose: nothing, less than each of these, and more."""


def reported(record: Record, adviser: Adviser, language: str) -> dict[str, Any]:
    """Return a player's decisions beside the best ones, and what they lost.

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
        "decisions": [_line(decision, language) for decision in found.decisions],
    }


def _class_of(loss: float) -> int:
    return 0 if loss == 0 else 1 + sum(loss >= limit for limit in CLASSES)


def _line(decision: Decision, language: str) -> dict[str, Any]:
    situation = decision.situation
    return {
        "round": decision.round,
        "card": situation.card.entries,
        "further": situation.card.further,
        "throw": situation.number,
        "dice": shown(situation.dice),
        "decision": "entry" if decision.chosen.kept is None else "keep",
        "chosen": _option(decision.chosen, language),
        "best": _option(decision.best, language),
        "loss": decision.chosen.loss,
        "class": _class_of(decision.chosen.loss),
    }


def _option(option: Option, language: str) -> dict[str, Any]:
    kind = {"kept": shown(option.kept)} if option.kept is not None else {"box": option.box}
    return {
        "name": option.name(language),
        **kind,
        "points": option.points,
        "value": option.value,
        "lower": option.lower,
        "upper": option.upper,
    }


def explained(
    adviser: Adviser, situation: Situation, option: Option, language: str
) -> dict[str, Any]:
    """Return where a turn ends after a decision, if play is perfect from there on.

    Returns
    -------
    dict
        Its `value`, and of which parts it is the sum: `entered`, what the card has; `turn`, what
        the turn can be expected to count; `later`, what all other turns can, the bonus for the
        upper part included. `boxes` has for each box how likely the turn ends there, and the mean
        of the points that it then counts.

    Examples
    --------
    >>> situation = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 2 11166")
    >>> adviser = Adviser.of()
    >>> found = explained(adviser, situation, adviser.option(situation, "111"), "en")
    >>> [(box["name"], round(box["points"], 4)) for box in found["boxes"]]
    [('Yahtzee', 1.3889)]
    >>> round(found["turn"], 4), found["later"]
    (1.3889, 0.0)
    """
    rules, card = adviser.rules, situation.card
    chance: dict[int, list[float]] = defaultdict(list)
    counted: dict[int, list[float]] = defaultdict(list)
    later = []
    for probability, end, points, rest in _ends(adviser, situation, option):
        chance[end].append(probability)
        counted[end].append(probability * points)
        later.append(probability * (rest - points))
    entered = card.entered(rules)
    return {
        "name": option.name(language),
        "value": option.value,
        "entered": entered,
        "turn": math.fsum(part for parts in counted.values() for part in parts),
        "later": math.fsum(later),
        "boxes": [
            {
                "box": box,
                "name": Option(box=box, value=0, lower=0, upper=0, rest=0).name(language),
                "probability": math.fsum(chance[box]),
                "points": math.fsum(counted[box]) / math.fsum(chance[box]),
            }
            for box in sorted(chance, key=lambda each: (-math.fsum(chance[each]), each))
        ],
    }


def _ends(
    adviser: Adviser, situation: Situation, option: Option
) -> Iterator[tuple[float, int, float, float]]:
    """Yield how a turn may end: probability, box, points, and what can be expected with them."""
    card, rules = situation.card, adviser.rules
    reached = {situation.dice: 1.0}
    number, decided = situation.number, {situation.dice: option}
    while number < rules.throws:
        thrown: dict[tuple[int, ...], float] = defaultdict(float)
        for dice, probability in reached.items():
            stay = decided[dice].kept
            for part, after in _throws_after(stay or dice):
                thrown[after] += probability * part
        number += 1
        reached = dict(thrown)
        decided = {dice: adviser.best(Situation(card, number, dice)) for dice in reached}
    sheet = card.sheet(rules)
    for dice, probability in reached.items():
        end = decided[dice]
        pays = sheet.bonus == 1 and max(dice) == DICE
        points = end.points + (rules.further_bonus if pays else 0)
        yield probability, -1 if end.box is None else end.box, points, end.rest


def _throws_after(stay: tuple[int, ...]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield what lies on the table after the other dice are thrown, and how likely it is."""
    left = DICE - sum(stay)
    for faces in combinations_with_replacement(range(FACES), left):
        counts = [faces.count(face) for face in range(FACES)]
        ways = math.factorial(left) / math.prod(math.factorial(count) for count in counts)
        after = tuple(count + more for count, more in zip(stay, counts, strict=True))
        yield ways / FACES**left, after
