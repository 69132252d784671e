"""The files of the page, read once, as they come in the package."""

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
"""Files with other endings are not served."""

SPARED = re.compile(
    rb"^[ \t]+(?://.*)?|^//.*|(?<=[;,{]) // .*| ?/\*(?:(?!\*/).)*\*/$", re.MULTILINE
)
"""In scripts and styles: indentation, and comments that end a line. The line's end stays, so that a
browser's console names the lines of the source."""

SPARED_IN_STYLES = re.compile(rb"(?<=[:;{},]) +| +(?=[{}])|;(?= *\})")
"""In styles alone: blanks around marks, and a last semicolon."""


@attrs.frozen
class PageFile:
    """A file of the page: as it is served, and packed by gzip; its type, a tag of its content."""

    content: bytes
    packed: bytes
    kind: str
    tag: str

    @classmethod
    def of(cls, content: bytes, kind: str) -> PageFile:
        """Pack a file, and tag it."""
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
