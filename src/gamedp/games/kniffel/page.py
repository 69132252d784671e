"""The page of Kniffel: a form that works without JavaScript, and the same answers as JSON.

What the article's web page did in 1999: type the card, the throw and the dice, and see what every
decision is worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import attrs

import gamedp
from gamedp.games.kniffel.adviser import Adviser, Option
from gamedp.games.kniffel.boxes import box_names, shown
from gamedp.games.kniffel.rules import Kniffel
from gamedp.games.kniffel.situation import Situation
from gamedp.games.kniffel.words import WORDS
from gamedp.web.plugin import Page, ProgressCallback, Query

__all__ = ["page"]

BOXES = 13
FIELDS = ("card", "further", "throw", "dice", "lang", *(f"box{box}" for box in range(BOXES)))
"""What a query may have; the form has a field for each box, an address one for all."""

SHORT = 'inputmode="numeric" size="6"'
"""Of all fields: numbers."""

MOST_OPTIONS = 40
"""Decisions that the page shows; the answer in JSON has all."""

LABELS = {
    "de": {
        "title": "Kniffel: was jede Entscheidung wert ist",
        "card": "Dein Zettel",
        "leave": "Leere Kästchen bleiben frei.",
        "throw": "Wurf (0: vor dem ersten)",
        "dice": "Würfel, etwa 13345",
        "ask": "Was tun?",
        "wait": "Wird einmal berechnet, dann lädt die Seite neu",
        "range": "bewiesen zwischen {lower:.6f} und {upper:.6f}",
        "other": "English",
        "best": "beste",
        "points": "Punkte bisher: {points}",
    },
    "en": {
        "title": "Kniffel: the value of every decision",
        "card": "Your card",
        "leave": "Leave boxes empty that are free.",
        "throw": "Throw (0: before the first)",
        "dice": "Dice, such as 13345",
        "ask": "What to do?",
        "wait": "Worked out once; then the page loads again",
        "range": "proven to lie between {lower:.6f} and {upper:.6f}",
        "other": "Deutsch",
        "best": "best",
        "points": "Points so far: {points}",
    },
}


def prepare(progress: ProgressCallback | None) -> Adviser:
    """Solve the article's rules, or load what was solved before."""
    return Adviser.of(Kniffel(), progress=progress, keep=True)


def answer(adviser: Adviser, query: Query) -> Mapping[str, Any]:
    """Return every decision in a situation with its value, the best one first.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If there is no such situation.

    Examples
    --------
    >>> adviser = prepare(None)
    >>> query = {"card": "-,8,-,16,15,-,15,9,25,30,40,-,-", "throw": "3", "dice": "13345"}
    >>> found = answer(adviser, query | {"lang": "en"})
    >>> found["decision"], [option["name"] for option in found["options"][:2]]
    ('entry', ['Threes', 'Ones'])
    """
    language = _language(query)
    situation = _situation(query)
    options = adviser.options(situation)
    return {
        "card": situation.card.entries,
        "further": situation.card.further,
        "throw": situation.number,
        "dice": shown(situation.dice) if situation.number else None,
        "points": situation.card.total_by(adviser.rules),
        **attrs.asdict(adviser.expectation(situation)),
        "decision": None if not options else "entry" if options[0].kept is None else "keep",
        "options": [_plain(option, language) for option in options],
    }


def _plain(option: Option, language: str) -> dict[str, Any]:
    numbers = {name: getattr(option, name) for name in ("value", "lower", "upper", "rest", "loss")}
    kind = {"kept": shown(option.kept)} if option.kept is not None else {"box": option.box}
    return {"name": option.name(language), **kind, "points": option.points, **numbers}


def _language(query: Query) -> str:
    language = query.get("lang", "de")
    if language not in LABELS:
        message = "lang must be de or en."
        raise gamedp.errors.InvalidParameterError(message)
    return language


def _situation(query: Query) -> Situation:
    """Return the situation that a query says."""
    unknown = sorted(query.keys() - set(FIELDS))
    if unknown:
        message = f"a query has {', '.join(FIELDS[:5])}, and not {unknown[0][:40]!r}."
        raise gamedp.errors.InvalidParameterError(message)
    further = query.get("further", "") or "0"
    if not further.isdecimal() or len(further) > 2:
        message = "further must be a small number."
        raise gamedp.errors.InvalidParameterError(message)
    boxes = _boxes(query)
    number = query.get("throw", "").strip() or "0"
    dice = query.get("dice", "") if number != "0" else ""
    return Situation.of(*boxes, number, dice, further=int(further))


def _boxes(query: Query) -> list[str]:
    """Return what stands in each box, as texts."""
    card = query.get("card", "").replace(",", " ").split()
    return card or [query.get(f"box{box}", "").strip() or "-" for box in range(BOXES)]


def draw(adviser: Adviser | None, query: Query, note: str) -> str:
    """Return the page: the form with what was asked, and the answer below it."""
    language = query.get("lang", "de") if query.get("lang") in LABELS else "de"
    labels = LABELS[language]
    parts = [f'<p role="alert" class="problem">{escape(note)}</p>'] if note else []
    if adviser is None:
        parts = [f'<p role="status">{labels["wait"]}: {escape(note)}</p>']
    elif not note:
        parts = _answered(adviser, query, _language(query))
    other = "en" if language == "de" else "de"
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{labels['title']}</title>"
        '<link rel="icon" href="static/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="static/style.css"></head><body>'
        '<header class="masthead"><a class="brand" href="./">gamedp</a> '
        f'<a href="kniffel?lang={other}" hreflang="{other}">{labels["other"]}</a></header>'
        f'<main id="page"><h1>{labels["title"]}</h1>{_form(query, language)}'
        f"<section aria-live='polite'>{''.join(parts)}</section></main></body></html>"
    )


def _form(query: Query, language: str) -> str:
    labels = LABELS[language]
    boxes = _boxes(query)
    fields = []
    for box, name in enumerate(box_names(language)):
        entry = boxes[box] if box < len(boxes) and boxes[box] != "-" else ""
        fields.append(_field(f"box{box}", name, entry, SHORT))
    number, dice = query.get("throw", "1"), query.get("dice", "")
    return (
        f'<form action="kniffel" method="get"><input type="hidden" name="lang" value="{language}">'
        f'<fieldset><legend>{labels["card"]}</legend><p class="quiet">{labels["leave"]}</p>'
        f"{''.join(fields)}</fieldset>"
        f"{_field('throw', labels['throw'], number, SHORT)}"
        f"{_field('dice', labels['dice'], dice, SHORT)}"
        f"<p><button>{labels['ask']}</button></p></form>"
    )


def _field(name: str, label: str, value: str, more: str) -> str:
    return (
        f'<p><label for="{name}">{escape(label)}</label> '
        f'<input id="{name}" name="{name}" value="{escape(value[:20])}" autocomplete="off" {more}>'
        "</p>"
    )


def _answered(adviser: Adviser, query: Query, language: str) -> list[str]:
    """Return what is to be said of a situation, as HTML."""
    labels, words = LABELS[language], WORDS[language]
    situation = _situation(query)
    found = adviser.expectation(situation)
    options = adviser.options(situation)
    bounds = labels["range"].format(lower=found.lower, upper=found.upper)
    points = labels["points"].format(points=situation.card.total_by(adviser.rules))
    value = escape(words.query_value.format(value=found.value))
    parts = [f"<p><strong>{value}</strong> ({escape(bounds)}). {escape(points)}</p>"]
    if not options:
        return parts
    is_entry = options[0].kept is None
    best = words.query_entry if is_entry else words.query_keep
    parts.append(f"<h2>{escape(best.format(best=options[0].name(language)))}</h2>")
    heads = words.entries_head if is_entry else words.keeps_head
    rows = [_row(option, language, labels["best"]) for option in options[:MOST_OPTIONS]]
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in heads)
    parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
    return parts


def _row(option: Option, language: str, best: str) -> str:
    """Return a line of the table: bounds decide what is best, and a word says so."""
    mark = "" if option.loss > 0 else f" ({best})"
    points = [] if option.kept is not None else [str(option.points)]
    cells = [*points, f"{option.value:.6f}", f"{option.loss:.6f}"]
    name = escape(option.name(language) or "-")
    return (
        f"<tr><th scope='row'>{name}{escape(mark)}</th>"
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
    )


page = Page(
    name="kniffel",
    title="Kniffel (Yahtzee)",
    prepare=prepare,
    answer=answer,
    draw=draw,
)
