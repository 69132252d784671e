"""The files of the page in the package, read once."""

from __future__ import annotations

import gzip
import hashlib
import importlib.resources
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["PageFile", "page_files"]

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2",
}
"""Content types by suffix; files with other suffixes are not served."""

SPARED = re.compile(
    rb"^[ \t]+(?://.*)?|^//.*|(?<=[;,{]) // .*| ?/\*(?:(?!\*/).)*\*/$", re.MULTILINE
)
"""Text removed from scripts and styles: indentation, and comments at the end of a line. Line ends
stay, so that a browser's console names the lines of the source."""

SPARED_IN_STYLES = re.compile(rb"(?<=[:;{},]) +| +(?=[{}])|;(?= *\})")
"""Text removed from styles only: blanks around punctuation, and a last semicolon."""


@attrs.frozen
class PageFile:
    """A file of the page: its content, plain and compressed by gzip, its type, and its tag."""

    content: bytes
    packed: bytes
    kind: str
    tag: str

    @classmethod
    def of(cls, content: bytes, kind: str) -> PageFile:
        """Compress a file, and compute its tag."""
        tag = hashlib.sha256(content).hexdigest()[:20]
        return cls(content, gzip.compress(content, mtime=0), kind, f'"{tag}"')


def page_files() -> dict[str, PageFile]:
    """Return the files of the page by their paths: pages at the top, the rest under ``static/``."""
    found: dict[str, PageFile] = {}
    home = importlib.resources.files("gamedp.web").joinpath("static")
    if home.is_dir():
        _collect(home, "static/", found)
    pages = [path for path in found if path.endswith(".html")]
    for path in pages:
        found[path.removeprefix("static/")] = found.pop(path)
    return found


def _collect(folder: Traversable, path: str, found: dict[str, PageFile]) -> None:
    for each in folder.iterdir():
        ending = each.name.rpartition(".")[2]
        if each.is_dir():
            _collect(each, f"{path}{each.name}/", found)
        elif ending in TYPES:
            content = each.read_bytes()
            if ending in {"css", "js"}:
                content = SPARED.sub(b"", content)
            if ending == "css":
                content = SPARED_IN_STYLES.sub(b"", content)
            found[path + each.name] = PageFile.of(content, TYPES[ending])
