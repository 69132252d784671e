"""The file of a tournament: its facts, and one line for each group of games."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Self

from gamedp.errors import DamagedFileError, InvalidParameterError, shown
from gamedp.play.pairing import Meeting, Pairing, Result
from gamedp.play.play import drawn_seed
from gamedp.runtime.files import as_path, lock, open_plain

__all__ = ["Book"]

FORMAT, VERSION = "gamedp round robin", 1


class Book:
    """A file of results: a line that names the tournament, then one line per group of games.

    Parameters
    ----------
    path : str, Path or None
        None for no file.
    facts : dict
        The facts that identify the tournament.
    seed : int or None
        The seed of the file if None.

    Raises
    ------
    InvalidParameterError
        If the file belongs to another tournament.
    DamagedFileError
        If the file holds something else.
    """

    def __init__(self, path: str | Path | None, facts: dict[str, Any], seed: int | None) -> None:
        self._path = None if path is None else as_path(path)
        self._file: IO[bytes] | None = None
        self._start = 0
        head = {"format": FORMAT, "version": VERSION, **facts}
        self._first = first = b""
        if self._path is not None and self._path.exists():
            with open_plain(self._path, links=True) as file:
                self._first = first = file.readline()
        if first.endswith(b"\n"):
            self.seed, self._start = self._seed_in(first, head, seed), len(first)
            return
        begun = f'{{"format": "{FORMAT}"'.encode()
        if not (first.startswith(begun) or begun.startswith(first)):
            raise DamagedFileError(self._foreign())
        self.seed = drawn_seed(seed)
        self._head = json.dumps(head | {"seed": self.seed}).encode() + b"\n"

    def _seed_in(self, line: bytes, head: dict[str, Any], seed: int | None) -> int:
        """Return the seed in the first line if it belongs to this tournament."""
        try:
            found = json.loads(line)
            kept = found.pop("seed")
        except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
            raise DamagedFileError(self._foreign()) from None
        if found.get("format") != FORMAT or type(kept) is not int or kept < 0:
            raise DamagedFileError(self._foreign())
        wanted = json.loads(json.dumps(head)) | ({} if seed is None else {"seed": seed})
        found = found | ({} if seed is None else {"seed": kept})
        odd = [key for key in {**wanted, **found} if wanted.get(key) != found.get(key)]
        if odd:
            key = odd[0]
            message = (
                f"{self._path} holds another tournament: {key} is {shown(found.get(key))} there, "
                f"and {shown(wanted.get(key))} here."
            )
            raise InvalidParameterError(message)
        return kept

    def _foreign(self) -> str:
        return f"{self._path} does not hold a tournament; it is left as it is."

    def __enter__(self) -> Self:
        """Open the file, and lock it against other writers until it is closed.

        Raises
        ------
        InvalidParameterError
            If another tournament writes to it, or has begun to since it was read.
        """
        if self._path is not None:
            self._path.touch()
            self._file = self._path.open("r+b", buffering=0)
            if not lock(self._file) or self._file.readline() != self._first:
                self._file.close()
                message = f"another tournament is writing to {self._path}; let it end first."
                raise InvalidParameterError(message)
            if not self._start:
                self._file.seek(0)
                self._file.truncate(0)
                self._file.write(self._head)
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def read(
        self,
        schedule: Iterator[tuple[tuple[str, ...], int]],
        meetings: Mapping[tuple[str, ...], Pairing | Meeting],
    ) -> None:
        """Count the results in the file; an incomplete last line is cut off."""
        if self._file is None or self._path is None:
            return
        end = self._start or len(self._head)
        with self._path.open("rb") as lines:
            lines.seek(end)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                names, number = next(schedule, (None, -1))
                if names is None:
                    raise DamagedFileError(self._foreign())
                meetings[names].add(self._results(line, meetings[names], number))
                end += len(line)
        self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)

    def _results(self, line: bytes, meeting: Pairing | Meeting, number: int) -> list[Result]:
        """Return the results in a line if they belong to this group of games."""
        names = meeting.names
        try:
            *own, found, group = json.loads(line)
            results = [(result, how) for result, how in group]
            right = all(meeting.is_result(result, how) for result, how in results)
        except (ValueError, TypeError, RecursionError):
            results, right, found, own = [], False, None, []
        if (
            tuple(own) != names
            or type(found) is not int
            or found != number
            or len(results) != math.factorial(len(names))
            or not right
        ):
            who = " and ".join(names) if len(names) == 2 else ", ".join(names)
            message = f"{self._path} is damaged at round {number + 1} of {who}."
            raise DamagedFileError(message)
        return results

    def write(self, names: tuple[str, ...], number: int, results: list[Result]) -> None:
        """Append a group of games immediately."""
        if self._file is not None:
            self._file.write(json.dumps([*names, number, results]).encode() + b"\n")
