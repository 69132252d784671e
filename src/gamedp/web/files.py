"""The files of the page, and of pages that games provide, read once."""

from __future__ import annotations

import gzip
import hashlib
import importlib.resources
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.resources.abc import Traversable

    from gamedp.web.plugin import Page

__all__ = ["PageFile", "files_of_pages", "page_files"]

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

NAMES = re.compile(r"[A-Za-z0-9_.-]+")
"""Names of files and folders that an address can hold as they are; others are not served."""

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
    for path, content in _files(importlib.resources.files("gamedp.web").joinpath("static")):
        ending = path.rpartition(".")[2]
        served = SPARED.sub(b"", content) if ending in {"css", "js"} else content
        if ending == "css":
            served = SPARED_IN_STYLES.sub(b"", served)
        place = path if ending == "html" else f"static/{path}"
        found[place] = PageFile.of(served, TYPES[ending])
    return found


def files_of_pages(pages: Iterable[Page]) -> dict[str, PageFile]:
    """Return the files that pages provide, unchanged, by their paths: ``NAME/static/FILE``."""
    return {
        f"{page.name}/static/{path}": PageFile.of(content, TYPES[path.rpartition(".")[2]])
        for page in pages
        if page.static is not None
        for path, content in _files(page.static)
    }


def _files(folder: Traversable, path: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the files that are served, and their paths below the folder."""
    for each in folder.iterdir():
        if not NAMES.fullmatch(each.name):
            continue
        if each.is_dir():
            yield from _files(each, f"{path}{each.name}/")
        elif each.name.rpartition(".")[2] in TYPES:
            yield path + each.name, each.read_bytes()
