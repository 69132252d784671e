"""Errors of a game or a solver, collected and raised as one exception."""

from __future__ import annotations

import collections
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import gamedp
from gamedp.errors import shown

__all__ = ["Complaints", "ConformanceError", "can_set", "check_value"]

SHOWN = 3
"""Largest number of complaints of one kind that are shown; the others are counted."""


class ConformanceError(gamedp.GamedpError, AssertionError):
    """A game or a solver breaks its promises; the message lists the complaints."""


class Complaints:
    """Collects complaints, a few of each kind."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = collections.defaultdict(list)

    def add(self, kind: str, text: str) -> None:
        """Add a complaint."""
        self._found[kind].append(text)

    def raise_if_any(self, headline: str) -> None:
        """Raise ConformanceError if there are complaints."""
        if not self._found:
            return
        lines = [f"{headline}:"]
        for kind, texts in self._found.items():
            lines += [f"  {kind}: {text}" for text in texts[:SHOWN]]
            if len(texts) > SHOWN:
                lines.append(f"  {kind}: and {len(texts) - SHOWN} more like this")
        raise ConformanceError("\n".join(lines))


def check_value(instance: Any, complaints: Complaints) -> None:
    """Check that a game or a solver can be hashed and pickled, and is immutable."""
    try:
        hash(instance)
    except TypeError as error:
        complaints.add(
            "no value", f"hash() fails: {error}; give the field hash=False, or keep a tuple in it"
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
                complaints.add("no value", f"{field.name} can be changed; use attrs.frozen")
    for words, copy in copies.items():
        try:
            again = copy()
        except Exception as error:  # noqa: BLE001 - pickle and validators may fail in any way
            complaints.add("no value", f"{words} fails: {error}")
        else:
            if not _same_attributes(instance, again):
                complaints.add("no value", f"{words} makes {shown(again)} of it")


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
