"""What a page of its own is made of, which a game may bring along.

A package registers a :class:`Page` in the entry point group ``gamedp.pages``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from gamedp.runtime.progress import Progress, ProgressCallback

__all__ = ["Page", "Progress", "ProgressCallback", "Query"]

Query: TypeAlias = Mapping[str, str]
"""What stands behind the question mark of an address: texts from strangers."""


@attrs.frozen(kw_only=True)
class Page:
    """A page with its own questions, whose answers need something that is worked out once.

    What `answer` and `draw` raise of gamedp's own errors is told to whoever asks.

    Attributes
    ----------
    name : str
        Its address, and that of its answers, ``api/NAME``.
    title : str
        For the list of pages.
    prepare : callable
        Works out what the others need, reporting how far it is; called once, in a thread.
    answer : callable
        Returns the answer to a query, in what JSON has: from what `prepare` has returned.
    draw : callable
        Returns the whole page for a query, as HTML: from that, or from None while it is being
        worked out; the third argument says how far that is, or what was wrong with the query. All
        texts in it must be escaped.
    """

    name: str
    title: str
    prepare: Callable[[ProgressCallback | None], Any]
    answer: Callable[[Any, Query], Mapping[str, Any]]
    draw: Callable[[Any, Query, str], str]
