"""What a request is refused for, and how it is told."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from gamedp.web.sentences import GERMAN, reason_in_german

__all__ = ["Refused", "WhichLimit", "ends_the_work", "nobody_waits", "rules_fail", "too_busy"]

WhichLimit: TypeAlias = Literal["size", "states", "memory", "time"]


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """A request that is answered with an error.

    Parameters
    ----------
    status : int
        Of HTTP.
    sentence : str
        In English; :data:`gamedp.web.sentences.GERMAN` has the German one.
    limit : str or None
        Which limit was reached, for status 409.
    parts
        What stands in the braces of the sentence: numbers, names, and words that are not the
        server's own, which are the same in both languages.
    """

    def __init__(
        self, status: int, sentence: str, limit: WhichLimit | None = None, **parts: Any
    ) -> None:
        super().__init__(status, sentence)
        self.status = status
        self.limit = limit
        self._sentence = sentence
        # An exception would keep alive all that was in its frames.
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
            name: reason_in_german(part) if isinstance(part, str) else part
            for name, part in self._parts.items()
        }
        return GERMAN.get(self._sentence, self._sentence).format(**parts)

    def __str__(self) -> str:
        """Return the sentence in English."""
        return self.message


def rules_fail(error: Exception, name: str | None = None) -> Refused:
    """Return what is told where the rules of a game raise something of their own."""
    if isinstance(error, MemoryError):
        return Refused(409, "this takes more memory than there is.", "memory")
    parts: dict[str, Any] = {"kind": type(error).__name__, "reason": error}
    if name is None:
        return Refused(422, "the rules of the game fail: {kind}: {reason}", **parts)
    return Refused(422, "the rules of {name} fail: {kind}: {reason}", name=name, **parts)


def ends_the_work() -> Refused:
    """Return what is told where the rules of a game would end the thread, or the process."""
    return Refused(422, "the rules of the game end the work without a result.")


def too_busy() -> Refused:
    """Return what is told where more would be done at once than the machine can bear."""
    return Refused(503, "too many ask for work at once; ask again in a moment.")


def nobody_waits() -> Refused:
    """Return what would be told to one who has hung up."""
    return Refused(499, "nobody waits for the answer any more.")
