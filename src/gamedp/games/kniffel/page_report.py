"""The report about a game: every decision beside the best one, with reasons."""

from __future__ import annotations

from typing import Any

from gamedp.games.kniffel.adviser import Adviser, Option
from gamedp.games.kniffel.analysis import Decision, analyse
from gamedp.games.kniffel.boxes import box_names, shown
from gamedp.games.kniffel.reasons import Reason
from gamedp.games.kniffel.record import Record

__all__ = ["CLASSES", "explained", "reported"]

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
