"""Small tables for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["html_table"]


def html_table(rows: Mapping[str, str]) -> str:
    """Return a table of two columns in HTML; what is said in it is text, never markup.

    Examples
    --------
    >>> html_table({"states": "<5>"})
    '<table><tr><th>states</th><td>&lt;5&gt;</td></tr></table>'
    """
    cells = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table>{cells}</table>"
