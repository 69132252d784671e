"""The words of the adviser and of its page, in German and in English."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any, Final

__all__ = ["HOME", "WORDS", "in_words"]

HOME = importlib.resources.files("gamedp.games.kniffel")

WORDS: Final[dict[str, dict[str, Any]]] = json.loads((HOME / "words.json").read_text("utf-8"))
"""The texts by language; fields in braces are filled in."""


def in_words(language: str, name: str, /, **parts: object) -> str:
    """Return one of the texts, with its fields filled in."""
    text: str = WORDS[language][name]
    return text.format(**parts)
