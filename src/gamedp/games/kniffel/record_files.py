"""Files of recorded games in JSON lines; the first line describes the game."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import gamedp

__all__ = ["as_text", "format_of", "load_text", "read_lines", "save_text"]

VERSION = 1

Kept = TypeVar("Kept")


def as_text(form: str, head: dict[str, Any], rounds: Iterable[dict[str, Any]]) -> str:
    """Return the text of a file: a line for the game, then one for each round."""
    lines = [{"format": form, "version": VERSION} | head, *rounds]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_lines(text: str, form: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the line of the game and those of its rounds in a text of :func:`as_text`.

    Raises
    ------
    ValueError, TypeError, KeyError
        If it is not such a text.
    """
    head, *rounds = (
        _line(number, line) for number, line in enumerate(text.splitlines() or ["{}"], start=1)
    )
    if head.get("format") != form:
        message = f"its first line does not say that it is a {form}."
        raise ValueError(message)
    if head["version"] != VERSION:
        message = f"it is of version {head['version']!r}; known here is {VERSION}."
        raise ValueError(message)
    return head, rounds


def format_of(text: str) -> Any:
    """Return the format named in the first line; None if there is none.

    Raises
    ------
    ValueError, TypeError
        If the first line is not a JSON object.
    """
    return _line(1, (text.splitlines() or ["{}"])[0]).get("format")


def save_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a temporary file, sync and rename it, so that the file is complete or unchanged."""
    target = Path(path)
    beside = target.with_name(f"{target.name}.{secrets.token_hex(8)}.gamedp-tmp")
    try:
        with beside.open("x", encoding="utf-8") as file:  # never the target of a link
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        error.filename = str(target)  # missing when a disk is full
        raise
    finally:
        beside.unlink(missing_ok=True)


def load_text(path: str | os.PathLike[str], read: Callable[[str], Kept]) -> Kept:
    """Return the result of `read` for the text of a file.

    Raises
    ------
    gamedp.errors.DamagedFileError
        If `read` cannot interpret it.
    OSError
        If the file cannot be read.
    """
    file = Path(path)
    if file.exists() and not file.is_file():  # a pipe may have no end
        message = f"{path} is a folder, a pipe or a device; name a file that holds a game."
        raise gamedp.errors.DamagedFileError(message)
    try:
        return read(file.read_text(encoding="utf-8"))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        reason = f"it lacks {error}." if isinstance(error, KeyError) else str(error)
        message = f"{os.fspath(path)} is not a record of a game of Kniffel: {reason}"
        raise gamedp.errors.DamagedFileError(message) from error


def _line(number: int, text: str) -> dict[str, Any]:
    """Read a line of a file."""
    try:
        line = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"line {number} is not JSON, {error}."
        raise ValueError(message) from None
    if not isinstance(line, dict):
        message = f"line {number} is not a JSON object."
        raise TypeError(message)
    return line
