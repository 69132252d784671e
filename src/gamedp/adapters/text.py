"""Text files: their lines, numbers in them, and errors that name the line."""

from __future__ import annotations

import contextlib
import decimal
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from gamedp.errors import DamagedFileError, shown
from gamedp.rules.exactness import MAX_EXACT_INTEGER, as_given, as_rational
from gamedp.runtime.files import open_plain
from gamedp.runtime.slices import LINES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Integers

WHOLE_OR_FRACTION = re.compile(r"\s*[+-]?\d+(/\d+)?\s*")
"""A number that is meant exactly, not as the nearest double."""


def write_lines(file: BinaryIO, lines: Iterable[str]) -> None:
    """Write lines, with a line end after each."""
    left = iter(lines)
    while batch := list(itertools.islice(left, LINES)):
        file.write("\n".join([*batch, ""]).encode())


def word_of(number: Fraction | float) -> str:
    """Return a number as text that reads back to the same number."""
    return str(number) if isinstance(number, Fraction) else repr(number)


def word_of_fraction(number: Fraction | float) -> str:
    """Return a number as a fraction, for files in which decimals are exact."""
    return str(Fraction(number))


class Lines(Sequence[str]):
    """The lines of a text, each made on request: a large file has millions."""

    def __init__(self, text: str) -> None:
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._text = text
        is_short = text.isascii()
        self._codes: NDArray[Any] = np.frombuffer(
            text.encode("ascii" if is_short else "utf-32-le"), np.uint8 if is_short else np.uint32
        )
        ends = np.append(np.flatnonzero(self._codes == ord("\n")), len(text))
        begins = np.append(0, ends[:-1] + 1)
        count = len(ends) - int(begins[-1] == len(text))  # nothing follows the last line end
        self._begins, self._ends = begins[:count], ends[:count]

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._begins)

    def __getitem__(self, place: Any) -> Any:
        """Return a line, without its end."""
        if isinstance(place, slice):
            return list(self.some(np.arange(len(self))[place]))
        return self._text[int(self._begins[place]) : int(self._ends[place])]

    def __iter__(self) -> Iterator[str]:
        """Yield all lines."""
        return self.some(np.arange(len(self)))

    def some(self, places: Integers) -> Iterator[str]:
        """Yield some lines."""
        for batch in np.array_split(places, len(places) // LINES + 1):
            begins, ends = self._begins[batch].tolist(), self._ends[batch].tolist()
            for begin, end in zip(begins, ends, strict=True):
                yield self._text[begin:end]

    def firsts(self) -> Integers:
        """Return the code of the first letter of each line that is no space or tab, or 0."""
        firsts = np.zeros(len(self), self._codes.dtype)
        places = self._begins.copy()
        left = np.flatnonzero(places < self._ends)
        while len(left):
            firsts[left] = self._codes[places[left]]
            left = left[(firsts[left] == ord(" ")) | (firsts[left] == ord("\t"))]
            firsts[left] = 0
            places[left] += 1
            left = left[places[left] < self._ends[left]]
        return firsts


class TextFile:
    """The lines of a text file.

    Attributes
    ----------
    lines : Lines
    is_exact : bool
        Whether decimals are rational numbers; else each stands for the nearest double.

    Raises
    ------
    DamagedFileError
        If it is not a plain file, or not text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_exact = False
        try:
            with open_plain(path, links=True) as file:
                text = file.read().decode()
        except UnicodeDecodeError as error:
            message = f"{path} is not a file of text ({error}). Check which file this is."
            raise DamagedFileError(message) from None
        if text.startswith("\ufeff"):
            message = f"{path} begins with a byte-order mark. Save it as UTF-8 without one."
            raise DamagedFileError(message)
        self.lines = Lines(text)

    def damaged(self, place: int, what: str) -> DamagedFileError:
        """Return the error for a damaged line, counted from 0."""
        shown = repr(self.lines[place][:80]) if place < len(self.lines) else "the end of the file"
        message = (
            f"{self.path}, line {place + 1}: {what}; found {shown}. Correct the line, or write the "
            "file again with its tool."
        )
        return DamagedFileError(message)

    def integers(self, words: Sequence[str], places: Sequence[int], what: str) -> Any:
        """Return texts as an array of integers; `places` has the line of each."""
        if "_" not in "".join(words):
            with contextlib.suppress(ValueError, OverflowError):  # which word it is, is found below
                return np.array(list(map(int, words)), np.int64)
        return np.array(self._converted(_integer, words, places, what), np.int64)

    def numbers(self, words: Sequence[str], places: Sequence[int], what: str) -> Any:
        """Return texts as an array of doubles, or of objects if there are Fractions among them.

        So fractions such as ``1/3`` are kept, and whole numbers that no double is equal to.
        """
        if not self.is_exact and "_" not in "".join(words):
            with contextlib.suppress(ValueError):
                numbers = np.array(list(map(float, words)), np.float64)
                if np.abs(numbers).max(initial=0.0) < MAX_EXACT_INTEGER:
                    return numbers
        convert = _exact_number if self.is_exact else _number
        return as_given(self._converted(functools.cache(convert), words, places, what))

    def _converted(
        self, convert: Callable[[str], Any], words: Sequence[str], places: Sequence[int], what: str
    ) -> list[Any]:
        try:
            return list(map(convert, words))
        except (ValueError, ZeroDivisionError, OverflowError, decimal.InvalidOperation):
            place = _first_wrong(convert, words)
            message = f"{what} must be a number, and {shown(words[place])} is not one"
            raise self.damaged(places[place], message) from None

    def whole(self, word: str, place: int, what: str) -> int:
        """Return one text as a non-negative integer."""
        try:
            number = _integer(word)
        except (ValueError, OverflowError):
            number = -1
        if number < 0:
            raise self.damaged(place, f"{what} must be a whole number, not {shown(word)}")
        return number


def _integer(word: str) -> int:
    """Return an integer that fits into an array."""
    number = int(_plain(word))
    if not -(2**63) <= number < 2**63:
        raise OverflowError
    return number


def _plain(word: str) -> str:
    """Return a word; refuse one with an underscore, which only Python reads as a number."""
    if "_" in word:
        raise ValueError
    return word


def _number(word: str) -> Fraction | float:
    word = _plain(word)
    return _exact_number(word) if WHOLE_OR_FRACTION.fullmatch(word) else float(word)


def _exact_number(word: str) -> Fraction | float:
    """Return a number exactly as written, if the nearest double is finite."""
    word = _plain(word)
    exact = Fraction(word) if "/" in word else as_rational(decimal.Decimal(word))
    if exact is None:
        return float(word)  # infinite, or nan: there is another message for these
    float(exact)  # refuses what is beyond all doubles
    return exact


def _first_wrong(convert: Callable[[str], Any], words: Iterable[str]) -> int:
    for place, word in enumerate(words):
        try:
            convert(word)
        except (ValueError, ZeroDivisionError, OverflowError, decimal.InvalidOperation):
            return place
    return 0
