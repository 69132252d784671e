"""Named checks of a game, a solver or a searcher, and the complaints that they raise."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeAlias, TypeVar
from unittest import SkipTest

import attrs
import numpy as np

import gamedp
from gamedp.errors import shown, warn

VALUE = "is a value"
DETERMINISTIC = "deterministic"
BOUNDS = "the bounds hold"
STATUS = "the status is right"
"""Names of checks that several kinds of things have."""

SHOWN_COMPLAINTS = 3
"""Largest number of complaints shown for a check in one place; the others are counted."""

Check: TypeAlias = Callable[[], None]
"""Raises ConformanceError, or unittest.SkipTest if the check cannot be made."""

ReportT = TypeVar("ReportT")


class ConformanceError(gamedp.GamedpError, AssertionError):
    """A game or a solver breaks its promises; the message lists the complaints."""


class Complaints:
    """Collects complaints, warnings and omissions, each by the name of its check.

    Parameters
    ----------
    names : tuple of str
        The checks that there are, if they are a list; any other name is then a mistake.
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = names
        self._found: dict[str, dict[str, list[str]]] = {name: {} for name in names}
        self.warnings: dict[str, str] = {}
        self.omitted: dict[str, str] = {}

    def add(self, check: str, text: str, place: str = "") -> None:
        """Add a complaint of a check; `place` is the problem or the game, if there are several."""
        if not self.names:
            self._found.setdefault(check, {})
        self._found[check].setdefault(place, []).append(text)

    def omit(self, check: str, reason: str) -> None:
        """Note why a check, if it is asked for, cannot be made."""
        if check in self._found:
            self.omitted[check] = reason

    @property
    def made(self) -> tuple[str, ...]:
        """The checks that were made."""
        return tuple(name for name in self.names if name not in self.omitted)

    def __bool__(self) -> bool:
        """Return whether there are complaints."""
        return any(self._found.values())

    def raise_if_any(self, headline: str, names: tuple[str, ...] = ()) -> None:
        """Raise ConformanceError if these checks, or any, have complaints; warn of what they do."""
        names = names or tuple(self._found)
        for name in names:
            if name in self.warnings:
                warn(self.warnings[name], RuntimeWarning)
        lines = [line for name in names for line in self._lines(name)]
        if lines:
            raise ConformanceError("\n".join([f"{headline}:", *lines]))

    def _lines(self, name: str) -> Iterator[str]:
        for place, texts in self._found[name].items():
            start = f"  {place}: {name}" if place else f"  {name}"
            yield from (f"{start}: {text}" for text in texts[:SHOWN_COMPLAINTS])
            if len(texts) > SHOWN_COMPLAINTS:
                yield f"{start}: and {len(texts) - SHOWN_COMPLAINTS} more like this"


@attrs.frozen(eq=False)
class Examination(Generic[ReportT]):
    """The named checks of one thing, which share one run of everything that they look at.

    Attributes
    ----------
    headline : str
        Begins each error, and names the thing.
    names : tuple of str
    examine : callable
        Tries all, adds to the complaints that it is given, and returns the report. It runs when
        the first check is made.
    """

    headline: str
    names: tuple[str, ...]
    examine: Callable[[Complaints], ReportT]

    @functools.cached_property
    def _outcome(self) -> tuple[ReportT, Complaints]:
        complaints = Complaints(self.names)
        return self.examine(complaints), complaints

    def checks(self) -> Iterator[tuple[str, Check]]:
        """Yield each check with its name."""
        for name in self.names:
            yield name, functools.partial(self._check, name)

    def _check(self, name: str) -> None:
        _, complaints = self._outcome
        complaints.raise_if_any(self.headline, (name,))
        if name in complaints.omitted:
            raise SkipTest(complaints.omitted[name])

    def report(self) -> ReportT:
        """Make all checks; return the report, or raise ConformanceError with all complaints."""
        report, complaints = self._outcome
        complaints.raise_if_any(self.headline)
        return report


def check_value(instance: Any, complaints: Complaints) -> None:
    """Check that a game or a solver can be hashed and pickled, and is immutable."""
    try:
        hash(instance)
    except TypeError as error:
        complaints.add(
            VALUE, f"hash() fails: {error}; give the field hash=False, or keep a tuple in it"
        )
    copies: dict[str, Callable[[], Any]] = {
        "pickle": lambda: pickle.loads(pickle.dumps(instance))  # noqa: S301 - just written
    }
    if attrs.has(type(instance)):
        fields = attrs.fields(type(instance))
        parameters = {field.alias: getattr(instance, field.name) for field in fields if field.init}
        copies["the class, given its own parameters,"] = lambda: type(instance)(**parameters)
        for field in fields:
            if can_set(instance, field.name):
                complaints.add(VALUE, f"{field.name} can be changed; use attrs.frozen")
    for words, copy in copies.items():
        try:
            again = copy()
        except Exception as error:  # noqa: BLE001 - pickle and validators may fail in any way
            complaints.add(VALUE, f"{words} fails: {error}")
        else:
            if not _same_attributes(instance, again):
                complaints.add(VALUE, f"{words} makes {shown(again)} of it")


def can_set(instance: Any, name: str) -> bool:
    """Return whether an attribute can be set, by setting it to its own value."""
    try:
        setattr(instance, name, getattr(instance, name))
    except Exception:  # noqa: BLE001 - however the class refuses
        return False
    return True


def _same_attributes(one: Any, other: Any) -> bool:
    """Return whether two instances have the same attributes; arrays are compared by content."""
    if type(one) is not type(other):
        return False
    if not attrs.has(type(one)):
        return bool(one == other or getattr(one, "__dict__", 0) == getattr(other, "__dict__", 1))
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        if isinstance(getattr(one, field.name), np.ndarray)
        else getattr(one, field.name) == getattr(other, field.name)
        for field in attrs.fields(type(one))
    )
