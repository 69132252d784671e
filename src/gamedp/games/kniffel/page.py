"""The page of Kniffel: a form that works without JavaScript, and the same answers as JSON.

It does what the article's web pages did in 1999 and 2011: type the card, the throw and the dice,
and see the value of every decision. The script of the page turns it into a sheet to play on.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from html import escape
from typing import Any

import gamedp
from gamedp.games.kniffel.answers import GOALS, PLAYS, answer, answer_to, boxes_of, read_query
from gamedp.games.kniffel.boxes import HOME, WORDS, box_names, in_words
from gamedp.games.kniffel.rules import PRESETS
from gamedp.web.plugin import Page, Query, Shared

__all__ = ["page"]

SHORT = 'inputmode="numeric" size="6"'
"""Attributes of all fields, which are numbers."""

TEMPLATE = string.Template((HOME / "page.html").read_text("utf-8").replace("\n", ""))
"""The page without its fields and its answer; it is sent without the ends of its lines."""

FORM = ["further", "throw", "dice", "rules", "goal", "total", "against", "against_further", "plays"]
"""The fields below those of the boxes."""

MOST_OPTIONS = 40
"""Largest number of decisions on the page; the answer in JSON has all."""

LABELS: dict[str, dict[str, Any]] = {language: words["page"] for language, words in WORDS.items()}
"""The words of the page, by language."""


def draw(shared: Shared | None, query: Query, note: str) -> str:
    """Return the page: the form with the query, and the answer below it."""
    language = _language(query)
    labels = LABELS[language]
    parts = [f'<p role="alert" class="problem">{escape(note)}</p>'] if note else []
    if shared is None:
        parts = [f'<p role="status">{labels["wait"]}: {escape(note)}</p>']
    elif not note:
        parts = [_numbers_in(language, part) for part in _answered(shared, query)]
    other = "en" if language == "de" else "de"
    page: str = TEMPLATE.substitute(
        labels,
        how_to="".join(f"<p>{escape(sentence)}</p>" for sentence in labels["how_to"]),
        language=language,
        other_language=other,
        entries="".join(_entries(query, language)),
        fields="".join(_fields(query, language)),
        answer="".join(parts),
    )
    return page


def _numbers_in(language: str, text: str) -> str:
    """Return a text with its numbers in the format of a language: 1.234,5 in German."""
    if language == "en":
        return text
    swap = str.maketrans(".,", ",.")
    return re.sub(r"\d[\d.,]*\d", lambda number: number[0].translate(swap), text)


def _entries(query: Query, language: str) -> Iterator[str]:
    """Yield the fields of the boxes."""
    boxes = boxes_of(query)
    for box, name in enumerate(box_names(language)):
        entry = boxes[box] if box < len(boxes) and boxes[box] != "-" else ""
        yield _field(f"box{box}", name, entry, SHORT)


def _fields(query: Query, language: str) -> Iterator[str]:
    """Yield the other fields."""
    labels = LABELS[language]
    choices = {
        "rules": {name: labels[name] for name in PRESETS},
        "goal": dict(zip(GOALS, labels["goals"], strict=True)),
        "plays": dict(zip(PLAYS, labels["plays_for"], strict=True)),
    }
    for name in FORM:
        value = query.get(name, "1" if name == "throw" else "")
        if name in choices:
            yield _choice(name, labels[name], choices[name], value)
        else:
            yield _field(name, labels[name], value, "" if name == "against" else SHORT)


def _field(name: str, label: str, value: str, more: str) -> str:
    return (
        f'<p><label for="{name}">{escape(label)}</label> '
        f'<input id="{name}" name="{name}" value="{escape(value[:60])}" autocomplete="off" {more}>'
        "</p>"
    )


def _choice(name: str, label: str, known: Mapping[str, str], value: str) -> str:
    options = "".join(
        f'<option value="{each}"{" selected" if each == value else ""}>{escape(words)}</option>'
        for each, words in known.items()
    )
    return (
        f'<p><label for="{name}">{escape(label)}</label> '
        f'<select id="{name}" name="{name}">{options}</select></p>'
    )


def _answered(shared: Shared, query: Query) -> list[str]:
    """Return the answer about a situation, as HTML."""
    asked = read_query(query)
    labels = LABELS[asked.language]
    found = answer_to(shared, asked)
    if "value" not in found:
        return []
    parts = []
    if "too_large" in found:
        parts.append(f"<p>{escape(labels['too_large'].format(**found['too_large']))}</p>")
    if "then" in found:
        parts.append(f"<p>{labels['then_' + found['goal']]}</p>")
    elif asked.goal == "beat":
        kind = f"against_{found['plays']}" if "plays" in found else "for_points"
        parts.append(f"<p>{labels[kind]}</p>")
    points = escape(labels["points"].format(points=found["points"]))
    parts.append(f"<p>{_worth(found, asked.language)}. {points}</p>")
    options = found["options"]
    if not options:
        return parts
    kind = found["decision"]
    entry = options[0].get("entry")
    named = f"{entry['name']} ({entry['points']})" if entry else options[0]["name"]
    best = in_words(asked.language, "query_entry" if entry else f"query_{kind}", best=named)
    parts.append(f"<h2>{escape(best)}</h2>")
    loose, is_entry = _is_loose(found), kind == "entry"
    columns = [kind, *(["points"] if is_entry else []), "expected", "loss"]
    heads = [WORDS[asked.language]["heads"][column] for column in columns]
    if found["goal"] != "points":
        heads[-2] = labels["at_least" if loose else "wins"].split(" {")[0].rstrip(":")
    marks = [labels["best"]] * len(options)
    if loose:  # bounds do not show which decision is best
        marks = [labels["advised"], *[""] * (len(options) - 1)]
    rows = [
        _row(option, is_entry, mark, "lower" if loose else "value")
        for option, mark in zip(options[:MOST_OPTIONS], marks, strict=False)
    ]
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in heads)
    parts.append(
        f"<div class='report'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    return parts


def _is_loose(found: Mapping[str, Any]) -> bool:
    """Return whether the numbers are bounds of the requested values, and not the values."""
    return found["goal"] != "points" and not found["exact"]


def _worth(found: Mapping[str, Any], language: str) -> str:
    """Return the expectation, or the probability of the goal, as HTML."""
    labels = LABELS[language]
    lower, upper = _rounded(found["lower"], ROUND_FLOOR), _rounded(found["upper"], ROUND_CEILING)
    if found["goal"] == "points":
        said = in_words(language, "query_value", value=found["value"])
    elif _is_loose(found):
        said = labels["at_least"].format(value=lower)
    else:
        said = labels["wins"].format(value=f"{found['value']:.6f}")
    bounds = "" if "then" in found else f" ({labels['range'].format(lower=lower, upper=upper)})"
    return f"<strong>{escape(said)}</strong>{escape(bounds)}"


def _rounded(bound: float, side: str) -> str:
    """Return a bound as text, rounded outwards."""
    return str(Decimal(bound).quantize(Decimal("1.000000"), side))


def _row(option: Mapping[str, Any], is_entry: bool, mark: str, worth: str) -> str:
    """Return a line of the table; the best decision, determined by bounds, is marked by a word."""
    named = f" ({mark})" if mark and option["loss"] == 0 else ""
    points = [str(option["points"])] if is_entry else []
    side = ROUND_FLOOR if worth == "lower" else ROUND_HALF_EVEN
    cells = [*points, _rounded(option[worth], side), f"{option['loss']:.6f}"]
    return (
        f"<tr><th scope='row'>{escape(option['name'])}{escape(named)}</th>"
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
    )


def _language(query: Query) -> str:
    """Return the language of a query; the first one if there is no such language."""
    return query["lang"] if query.get("lang") in LABELS else "de"


def _texts(language: str) -> dict[str, str]:
    """Return the sentence for the list of games in German; the page has its own words."""
    about = "Fünf Würfel, dreizehn Felder: allein oder zu zweit, mit Rat zu jedem Wurf."
    return {"about": about} if language == "de" else {}


page = Page(
    name="kniffel",
    title="Kniffel (Yahtzee)",
    about="Five dice, thirteen boxes: alone or for two, with advice on every throw.",
    answer=answer,
    draw=draw,
    language=_language,
    static=HOME / "static",
    texts=_texts,
    icon=gamedp.views.Dice((6, 6, 6)),
    presets={"Kniffel": {}, "Yahtzee": {"rules": "yahtzee"}},
    by_hand={"dice": "hand"},
)
