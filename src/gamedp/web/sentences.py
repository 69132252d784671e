"""The texts of the server in German, whose English ones are where they are used; and of games."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GERMAN", "PHASES", "texts_of", "translated"]

KEYS = frozenset({"about", "parameters", "names", "sentences"})
"""What the texts of a game may have."""

logger = logging.getLogger("gamedp")

GERMAN = {
    "{reason}": "{reason}",
    "a position of {name} has more than {most:,} outcomes of its actions.": (
        "In einer Stellung von {name} haben die Züge mehr als {most} mögliche Ausgänge."
    ),
    "a state has no field {name}; it has: {list}.": (
        "Eine Stellung hat kein Feld {name}; sie hat: {list}."
    ),
    "a state with {part} in it cannot be given, only played to.": (
        "Eine Stellung mit {part} darin lässt sich nicht vorgeben, nur erspielen."
    ),
    "a surface needs {list}, the last of which is a number.": (
        "Eine Fläche braucht {list}; das letzte ist eine Zahl."
    ),
    "nobody waits for the answer any more.": "Auf die Antwort wartet niemand mehr.",
    "several states have the same {x}, {y} and {z}.": (
        "Mehrere Stellungen haben dasselbe {x}, {y} und {z}."
    ),
    "the address is too long.": "Die Adresse ist zu lang.",
    "the content type must be application/json.": "Der Inhalt muss application/json sein.",
    "the field {name} holds no whole numbers.": "Das Feld {name} enthält keine ganzen Zahlen.",
    "the game is over after {plies} plies; there is no action.": (
        "Das Spiel ist nach {plies} Zügen zu Ende; es gibt keinen Zug mehr."
    ),
    "the game is over; nothing comes next.": "Das Spiel ist zu Ende; danach kommt nichts mehr.",
    "the request arrives too slowly.": "Die Anfrage kommt zu langsam an.",
    "the request has more than {most:,} bytes.": "Die Anfrage hat mehr als {most} Byte.",
    "the request is no JSON: {reason}.": "Die Anfrage ist kein JSON: {reason}.",
    "the request is not as it must be: {reason}.": (
        "Die Anfrage ist nicht, wie sie sein muss: {reason}."
    ),
    "the rules of the game end the work without a result.": (
        "Die Regeln des Spiels beenden die Arbeit ohne Ergebnis."
    ),
    "the rules of the game fail: {kind}: {reason}": (
        "Die Regeln des Spiels scheitern: {kind}: {reason}"
    ),
    "the rules of {name} fail: {kind}: {reason}": (
        "Die Regeln von {name} scheitern: {kind}: {reason}"
    ),
    "the server has a fault; its log says more.": (
        "Der Server hat einen Fehler; sein Protokoll sagt mehr."
    ),
    "the start of {name} has more than {most:,} outcomes of its actions.": (
        "Am Anfang von {name} haben die Züge mehr als {most} mögliche Ausgänge."
    ),
    "the start of {name} has more than {most:,} parts with these parameters.": (
        "Der Anfang von {name} hat mit diesen Regeln mehr als {most} Teile."
    ),
    "the work was given up; ask again.": "Die Arbeit wurde aufgegeben; frage noch einmal.",
    "there is no action {action} here.": "Den Zug {action} gibt es hier nicht.",
    "there is no game of that name here.": "Ein Spiel dieses Namens gibt es hier nicht.",
    "there is no outcome {outcome} of this action.": (
        "Den Ausgang {outcome} gibt es bei diesem Zug nicht."
    ),
    "there is no start {number}; there are {count}.": (
        "Den Anfang {number} gibt es nicht; es gibt {count}."
    ),
    "there is nothing at this address.": "Unter dieser Adresse gibt es nichts.",
    "these fields make no surface that a page can draw.": (
        "Diese Felder ergeben keine Fläche, die eine Seite zeichnen kann."
    ),
    "this address has other methods.": "Diese Adresse hat andere Methoden.",
    "this request cannot be answered.": "Diese Anfrage ist nicht zu beantworten.",
    "this server answers its own pages alone.": (
        "Dieser Server antwortet nur seinen eigenen Seiten."
    ),
    "this server was not started for that host; see --allow-host.": (
        "Für diesen Namen wurde der Server nicht gestartet; siehe --allow-host."
    ),
    "this takes more memory than there is.": "Das braucht mehr Speicher, als da ist.",
    "too many ask for work at once; ask again in a moment.": (
        "Zu viele fragen auf einmal; frage gleich noch einmal."
    ),
    "{game} has no parameter {name}; it has: {list}.": (
        "{game} hat keine Einstellung {name}; es hat: {list}."
    ),
    "{name} cannot be set here.": "{name} lässt sich hier nicht einstellen.",
    "{name} has no table, so a start cannot be given.": (
        "{name} hat keine Tabelle; darum lässt sich kein Anfang vorgeben."
    ),
    "{name} has no table, so no surface.": "{name} hat keine Tabelle, also auch keine Fläche.",
    "{name} is not of its kind, {kind}, or too large.": (
        "{name} ist nicht von der richtigen Art, {kind}, oder zu groß."
    ),
    "{name} is served as it is, without parameters.": (
        "{name} gibt es hier nur so, wie es ist, ohne Einstellungen."
    ),
    "{name} needs more memory than there is, with these parameters.": (
        "{name} braucht mit diesen Regeln mehr Speicher, als da ist."
    ),
    "{name} needs {list}.": "{name} braucht {list}.",
    "{name} refuses its parameters: {reason}": "{name} lehnt diese Regeln ab: {reason}",
    "{name} starts at random: say which start, by drawn or a seed.": (
        "{name} beginnt zufällig: sage mit drawn oder seed, mit welchem Anfang."
    ),
    "{part} is no whole number that a state can have.": (
        "{part} ist keine ganze Zahl, die in einer Stellung vorkommt."
    ),
    "{state} has another shape than {example}.": "{state} ist anders aufgebaut als {example}.",
    "{state} has not the length of {example}.": "{state} ist nicht so lang wie {example}.",
    "{state} is not a position that can be reached from the start of {name}.": (
        "{state} ist keine Stellung, die vom Anfang von {name} aus zu erreichen ist."
    ),
    "{state} is no position of {name}: {reason}.": (
        "{state} ist keine Stellung von {name}: {reason}."
    ),
    "{why} And it cannot be searched: {reason}": "{why} Und eine Suche geht nicht: {reason}",
}
"""The sentences of :class:`gamedp.web.refusals.Refused` in English, and in German."""

PHASES = {
    "en": {
        "wait": "waiting for a free place",
        "compile": "compiling the rules",
        "explore": "finding all positions",
        "solve": "solving",
        "lengths": "finding how long play lasts",
        "search": "looking ahead",
    },
    "de": {
        "wait": "wartet auf einen freien Platz",
        "compile": "übersetzt die Regeln",
        "explore": "findet alle Stellungen",
        "solve": "löst das Spiel",
        "lengths": "bestimmt, wie lange das Spiel dauert",
        "search": "rechnet voraus",
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
        except Exception:
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
