"""What a page of its own is made of, which a game may bring along.

A package registers a :class:`Page` in the entry point group ``gamedp.pages``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, TypeAlias

import attrs

from gamedp.runtime.progress import Progress, ProgressCallback

__all__ = ["Page", "Progress", "ProgressCallback", "Query", "Shared"]

Query: TypeAlias = Mapping[str, str]
"""What stands behind the question mark of an address: texts from strangers."""

Work: TypeAlias = Callable[[ProgressCallback], Any]
"""Works something out, and reports how far it is."""


class Shared(Protocol):
    """What answers rest on: worked out in a thread of its own, once for all who ask.

    While that is under way, both methods raise what tells the server to answer how far it is; so
    they are for `answer` and `draw` of a page, and not for the work itself.
    """

    @property
    def bytes(self) -> float:
        """Memory that work may take: none that needs more should be begun."""
        ...

    def table(self, key: Hashable, work: Work, *, kept: bool = False) -> Any:
        """Return the table of this key; one that is not `kept` is forgotten when there is no room.

        What it has as `bytes`, if anything, counts as the memory that it takes.
        """
        ...

    def result(self, key: Hashable, work: Work) -> Any:
        """Return something small, of which many are kept."""
        ...


@attrs.frozen(kw_only=True)
class Page:
    """A page with its own questions.

    What `answer` and `draw` raise of gamedp's own errors is told to whoever asks.

    Attributes
    ----------
    name : str
        Its address, and that of its answers, ``api/NAME``.
    title : str
        For the list of pages.
    about : str
        A sentence for that list.
    answer : callable
        Returns the answer to a query, in what JSON has; is given a :class:`Shared` to have worked
        out what it needs.
    draw : callable
        Returns the whole page for a query, as HTML: from a :class:`Shared`, or from None while what
        it needs is being worked out; the third argument says how far that is, or what was wrong
        with the query. All texts in it must be escaped.
    language : callable, optional
        Returns the language of a query, ``"en"`` or ``"de"``: that of the server's own sentences
        in the answer. If not given, it is the one that the browser asks for.
    """

    name: str
    title: str
    answer: Callable[[Shared, Query], Mapping[str, Any]]
    draw: Callable[[Shared | None, Query, str], str]
    language: Callable[[Query], str] | None = None
    about: str = ""
