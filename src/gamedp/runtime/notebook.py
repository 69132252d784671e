"""Small tables for notebooks, and means with their errors."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_ROWS = 40
MOST_LETTERS = 400
"""Largest number of characters of a cell."""


def html_table(rows: Mapping[str, str]) -> str:
    """Return a table of two columns in HTML; its contents are text, never markup.

    It has no colours of its own, so it is read on light pages and on dark ones. Long texts and
    tables are cut, and say so.

    Examples
    --------
    >>> html_table({"states": "<5>"})
    '<table><tr><th>states</th><td>&lt;5&gt;</td></tr></table>'
    """
    return f"<table>{_body(rows.items())}</table>"


def html_rows(header: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in HTML, the first cell of each row a heading; as :func:`html_table`.

    Examples
    --------
    >>> html_rows(["player", "points"], [("one", "3")])
    '<table><tr><th>player</th><th>points</th></tr><tr><th>one</th><td>3</td></tr></table>'
    """
    heads = "".join(f"<th>{_text(name)}</th>" for name in header)
    return f"<table><tr>{heads}</tr>{_body(rows)}</table>"


def with_error(mean: float, error: float, of: str) -> str:
    """Return a mean and its standard error in words; NaN stands for an unknown one.

    Parameters
    ----------
    mean, error : float
    of : str
        The sample units, in the plural: an error takes two of them.

    Examples
    --------
    >>> with_error(1.25, 0.5, "games"), with_error(1.25, float("nan"), "games")
    ('1.25 ± 0.5', '1.25, no error: fewer than two games')
    """
    if math.isnan(mean):
        return f"unknown: there are no {of}"
    if math.isnan(error):
        return f"{mean:.6g}, no error: fewer than two {of}"
    return f"{mean:.6g} ± {error:.2g}"


def _body(rows: Iterable[tuple[str, ...]]) -> str:
    """Return the rows that are shown."""
    found = list(rows)
    cells = [
        f"<tr><th>{_text(name)}</th>{''.join(f'<td>{_text(text)}</td>' for text in texts)}</tr>"
        for name, *texts in found[:MOST_ROWS]
    ]
    if len(found) > MOST_ROWS:
        cells.append(f"<tr><th>… {len(found) - MOST_ROWS:,} more</th></tr>")
    return "".join(cells)


def _text(text: str) -> str:
    """Return text as HTML: no markup, not too long, and only what can be written in UTF-8."""
    if len(text) > MOST_LETTERS:
        text = f"{text[: MOST_LETTERS - 1]}…"
    return html.escape(text.encode("utf-8", "backslashreplace").decode())
