"""What a request is refused for, and how it is told."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["Refused", "WhichLimit"]

WhichLimit: TypeAlias = Literal["size", "states", "memory", "time"]


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """A request that is answered with an error.

    Attributes
    ----------
    status : int
        Of HTTP.
    message : str
    limit : str or None
        Which limit was reached, for status 409.
    """

    def __init__(self, status: int, message: str, limit: WhichLimit | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.limit = limit
