"""The German texts of the server and of games; the English ones are where they are used."""

from __future__ import annotations

import importlib.resources
import json
import logging
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GERMAN", "PHASES", "texts_of", "translated"]

KEYS = frozenset({"about", "parameters", "names", "payoff_unit", "rules", "sentences"})
"""Keys of the texts of a game."""

COUNTS = ("one", "other")
"""Keys of a unit: the word for 1 of it, and for any other number."""

logger = logging.getLogger("gamedp")

GERMAN: dict[str, str] = json.loads(
    importlib.resources.files("gamedp.web").joinpath("german.json").read_text("utf-8")
)
"""The sentences of :class:`gamedp.web.refusals.Refused` in English, and in German."""

PHASES = {
    "en": {
        "wait": "waiting for a free place",
        "compile": "compiling the rules",
        "explore": "finding all positions",
        "solve": "solving",
        "lengths": "finding how long play lasts",
        "verify": "checking what is proven",
        "search": "looking ahead",
        "play": "playing games",
    },
    "de": {
        "wait": "wartet auf einen freien Platz",
        "compile": "übersetzt die Regeln",
        "explore": "findet alle Stellungen",
        "solve": "löst das Spiel",
        "lengths": "bestimmt, wie lange das Spiel dauert",
        "verify": "prüft, was bewiesen ist",
        "search": "rechnet voraus",
        "play": "spielt Partien",
    },
}
"""Names of the phases of work, for pages that reload themselves while they wait."""

LANGUAGES = tuple(PHASES)


def texts_of(kind: object) -> dict[str, dict[str, Any]]:
    """Return the words of a game's class, or of a page, by language: its `texts`, as in JSON.

    Whatever is not as :class:`gamedp.Game` describes it is left out, with a line in the log.
    """
    texts = getattr(kind, "texts", None)
    if not callable(texts):
        return {}
    found = {}
    for language in LANGUAGES:
        try:
            found[language] = {
                key: _words(key, said) for key, said in texts(language).items() if key in KEYS
            }
        except Exception:  # of any author: the page says the original words instead
            logger.exception("%r has texts(%r) that cannot be read", kind, language)
    return found


def _words(key: str, said: Any) -> Any:
    """Return a part of a game's texts: one text, or texts by what they stand for."""
    words = {"": said} if key == "about" else dict(said)
    for original, text in words.items():
        if not isinstance(original, str) or not isinstance(text, str):
            message = f"{key} has something other than text"
            raise TypeError(message)
        if key in {"names", "sentences"}:
            text.format(*[""] * original.count("{}"))
        if key == "payoff_unit" and (original not in COUNTS or text.count("{}") != 1):
            message = f"payoff_unit has {original!r}: {text!r}; {COUNTS} need one {{}} each"
            raise ValueError(message)
    return words[""] if key == "about" else words


def translated(text: str, sentences: Mapping[str, str]) -> str:
    """Return a text by the first sentence that it fits; one that fits none is unchanged.

    Examples
    --------
    >>> translated("no goal below 1", {"no {} below {}": "ab {1}: {0}"})
    'ab 1: goal'
    """
    for sentence, other in sentences.items():
        pattern = "(.+)".join(map(re.escape, sentence.split("{}")))
        found = re.fullmatch(pattern, text, re.DOTALL)
        if found:
            return other.format(*found.groups())
    return text
