"""Refusals of requests, and their wording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gamedp.web.sentences import GERMAN, translated

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Refused", "WhichLimit", "ends_the_work", "nobody_waits", "rules_fail", "too_busy"]

WhichLimit: TypeAlias = Literal["size", "states", "memory", "time"]


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """A request that is answered with an error.

    Parameters
    ----------
    status : int
        The status code of HTTP.
    sentence : str
        The sentence in English; :data:`gamedp.web.sentences.GERMAN` has the German one.
    limit : str or None
        The limit that was reached, for status 409.
    german : mapping, optional
        Sentences of a game's `texts` in German, for messages of its own among the parts.
    parts
        The values for the braces of the sentence: numbers, names, and words from elsewhere, which
        are the same in both languages.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        limit: WhichLimit | None = None,
        *,
        german: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> None:
        super().__init__(status, sentence)
        self.status = status
        self.limit = limit
        self._sentence = sentence
        self._german = german or {}
        # An exception would keep alive everything in its frames.
        self._parts = {
            name: str(part) if isinstance(part, BaseException) else part
            for name, part in parts.items()
        }

    @property
    def message(self) -> str:
        """The sentence in English."""
        return self.message_in("en")

    def message_in(self, language: str) -> str:
        """Return the sentence in a language, ``"en"`` or ``"de"``."""
        if language != "de":
            return self._sentence.format(**self._parts)
        parts = {
            name: translated(part, self._german) if isinstance(part, str) else part
            for name, part in self._parts.items()
        }
        return GERMAN.get(self._sentence, self._sentence).format(**parts)

    def __str__(self) -> str:
        """Return the sentence in English."""
        return self.message


def rules_fail(error: Exception, name: str | None = None) -> Refused:
    """Return the refusal for an exception raised by the rules of a game."""
    if isinstance(error, MemoryError):
        return Refused(409, "this takes more memory than there is.", "memory")
    parts: dict[str, Any] = {"kind": type(error).__name__, "reason": error}
    if name is None:
        return Refused(422, "the rules of the game fail: {kind}: {reason}", **parts)
    return Refused(422, "the rules of {name} fail: {kind}: {reason}", name=name, **parts)


def ends_the_work() -> Refused:
    """Return the refusal for rules that would end the thread, or the process."""
    return Refused(422, "the rules of the game end the work without a result.")


def too_busy() -> Refused:
    """Return the refusal for more simultaneous work than the machine can handle."""
    return Refused(503, "too many clients ask for work; ask again in a moment.")


def nobody_waits() -> Refused:
    """Return the refusal for a client that has disconnected."""
    return Refused(499, "nobody waits for the answer any more.")
