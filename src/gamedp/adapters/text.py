"""Files of text: their lines, numbers in them, and complaints that name the line."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from gamedp.errors import DamagedFileError
from gamedp.runtime.files import open_plain
from gamedp.runtime.slices import LINES

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TextFile", "write_lines"]


def write_lines(file: BinaryIO, lines: Iterable[str]) -> None:
    """Write lines, each of which gets its end here."""
    left = iter(lines)
    while batch := list(itertools.islice(left, LINES)):
        file.write("\n".join([*batch, ""]).encode())


class TextFile:
    """The lines of a file of text.

    Raises
    ------
    DamagedFileError
        If it is not a plain file, or not text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open_plain(path, links=True) as file:
                self.lines = file.read().decode().splitlines()
        except UnicodeDecodeError as error:
            message = f"{path} is not a file of text ({error}). Check which file this is."
            raise DamagedFileError(message) from None

    def damaged(self, place: int, what: str) -> DamagedFileError:
        """Return the error that says what is wrong with a line, counted from 0."""
        shown = repr(self.lines[place][:80]) if place < len(self.lines) else "the end of the file"
        message = (
            f"{self.path}, line {place + 1}: {what}; found {shown}. Correct the line, or write the "
            "file again with its tool."
        )
        return DamagedFileError(message)

    def integers(self, words: Sequence[str], places: Sequence[int], what: str) -> Any:
        """Return texts as an array of integers; `places` says on which line each stands."""
        if "_" not in "".join(words):
            with contextlib.suppress(ValueError, OverflowError):  # which word it is, is found below
                return np.array(list(map(int, words)), np.int64)
        return self._converted(_integer, words, places, what).astype(np.int64)

    def numbers(self, words: Sequence[str], places: Sequence[int], what: str) -> Any:
        """Return texts as an array of doubles, fractions such as ``1/3`` among them."""
        if "_" not in "".join(words):
            with contextlib.suppress(ValueError):
                return np.array(list(map(float, words)), np.float64)
        return self._converted(_number, words, places, what)

    def _converted(
        self, convert: Callable[[str], Any], words: Sequence[str], places: Sequence[int], what: str
    ) -> NDArray[Any]:
        try:
            return np.array(list(map(convert, words)), None if words else np.float64)
        except (ValueError, ZeroDivisionError, OverflowError):
            place = _first_wrong(convert, words)
            message = f"{what} must be a number, and {words[place]!r} is not one"
            raise self.damaged(places[place], message) from None

    def whole(self, word: str, place: int, what: str) -> int:
        """Return one text as a number that is not negative."""
        if not word.isdecimal():
            raise self.damaged(place, f"{what} must be a whole number, not {word!r}")
        return int(word)


def _integer(word: str) -> int:
    """Return a number that an array can hold."""
    number = int(_plain(word))
    if not -(2**63) <= number < 2**63:
        raise OverflowError
    return number


def _plain(word: str) -> str:
    """Return a word; refuse one with an underscore, which is a number to Python alone."""
    if "_" in word:
        raise ValueError
    return word


def _number(word: str) -> float:
    word = _plain(word)
    return float(Fraction(word)) if "/" in word else float(word)


def _first_wrong(convert: Callable[[str], Any], words: Iterable[str]) -> int:
    for place, word in enumerate(words):
        try:
            convert(word)
        except (ValueError, ZeroDivisionError, OverflowError):
            return place
    return 0
