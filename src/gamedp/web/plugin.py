"""The interface of separate pages, which a game may provide.

A package registers a :class:`Page` in the entry point group ``gamedp.pages``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from importlib.resources.abc import Traversable
from typing import Any, Protocol, TypeAlias

import attrs

from gamedp.errors import InvalidParameterError
from gamedp.runtime.limit import Progress, ProgressCallback
from gamedp.views import View

__all__ = ["Page", "Progress", "ProgressCallback", "Query", "Shared"]

Query: TypeAlias = Mapping[str, str]
"""The query of an address: untrusted texts."""

Work: TypeAlias = Callable[[ProgressCallback], Any]
"""A function that computes a result, and reports its progress."""


class Shared(Protocol):
    """The shared work behind answers: done in its own thread, once for all clients.

    While it is in progress, both methods raise an exception that makes the server answer with the
    progress; so they are for `answer` and `draw` of a page, and not for the work itself.
    """

    @property
    def bytes(self) -> float:
        """The memory that work may take; work that needs more should not be started."""
        ...

    def table(self, key: Hashable, work: Work, *, kept: bool = False) -> Any:
        """Return the table of this key; one that is not `kept` is discarded when space runs out.

        Its attribute `bytes`, if any, counts as the memory that it takes.
        """
        ...

    def result(self, key: Hashable, work: Work) -> Any:
        """Return a small result, of which many are kept."""
        ...


@attrs.frozen(kw_only=True)
class Page:
    """A page with its own queries.

    Errors of gamedp that `answer` and `draw` raise are reported to the client.

    Attributes
    ----------
    name : str
        Its address, and that of its answers, ``api/NAME``.
    title : str
        The title in the list of pages.
    about : str
        A sentence for that list, in English.
    answer : callable
        Returns the answer to a query as a JSON value, given a :class:`Shared` for the work that it
        needs.
    draw : callable
        Returns the whole page for a query, as HTML: from a :class:`Shared`, or from None while its
        work is in progress; the third argument is the progress, or the error in the query. All
        texts in it must be escaped.
    language : callable, optional
        Returns the language of a query, ``"en"`` or ``"de"``: that of the server's own sentences
        in the answer. If not given, the browser's preference is used.
    static : Traversable, optional
        The folder of its scripts, styles and pictures, served under ``NAME/static/``, such as
        ``importlib.resources.files(__package__) / "static"``. It is read once, folders in it
        included. Only files whose type is known are served (html, css, js, json, svg, png, ico,
        txt, woff2), and only under names of letters, digits, ``_``, ``.`` and ``-``. The server's
        content policy holds for them: scripts and styles from this server alone, none in the page.
    texts : callable, optional
        What a game's `texts` is; of the page, ``about`` is read.
    icon : gamedp.views.View, optional
        A small picture for the list.
    presets : mapping, optional
        Queries with which the page may be opened, by their names for the list, such as
        ``{"Plain": {}, "With jokers": {"jokers": "1"}}``; the first one is chosen.
    by_hand : mapping, optional
        What the address has behind ``#``, as a query, for those who throw real dice. With it, the
        list offers that, too.
    """

    name: str
    title: str
    answer: Callable[[Shared, Query], Mapping[str, Any]]
    draw: Callable[[Shared | None, Query, str], str]
    language: Callable[[Query], str] | None = None
    about: str = ""
    static: Traversable | None = attrs.field(default=None)
    texts: Callable[[str], Mapping[str, Any]] | None = None
    icon: View | None = None
    presets: Mapping[str, Query] = attrs.field(factory=dict)
    by_hand: Query = attrs.field(factory=dict)

    @static.validator
    def _is_folder(self, _attribute: object, static: Traversable | None) -> None:
        if static is not None and not static.is_dir():
            message = f"the page {self.name} has no folder {static} of static files."
            raise InvalidParameterError(message)
