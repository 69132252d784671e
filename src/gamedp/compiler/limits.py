"""Limits of an exploration, and the error that says how far it got."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import attrs
import numpy as np

from gamedp.errors import LimitExceededError, shown, warn
from gamedp.runtime.limit import Budget, ProgressCallback
from gamedp.runtime.machine import available_bytes
from gamedp.runtime.options import positive

__all__ = ["SHOWN_STATES", "ExplorationBudget", "ExplorationLimits"]


@attrs.frozen
class ExplorationLimits:
    """Limits at which an exploration stops with an error."""

    max_states: float = attrs.field(default=float("inf"), validator=positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)
    max_bytes: float = attrs.field(factory=available_bytes, validator=positive)


SHOWN_STATES = 3
"""Number of states in the message at a limit, to show the growing field of an endless game."""

GROWTH = 1.25
"""Growth of a field, with twice as many states, that suggests an endless game."""

EARLY_GROWTH = 1.75
"""The same before there are `STATES_BEFORE_WARNING` states, where it has to grow so twice in a row:
a box with two sides still to be filled grows by 1.41 and more, and some fields of small games just
once."""

MAX_MEASURED = 2.0**1000
"""Largest number that is measured."""

STATES_BEFORE_WARNING = 1 << 21
"""Number of states from which on growing fields cause a warning if no limit is set: some seconds
of compiled rules."""

LENGTH = "the length of "
"""Prefix of the name of a field that is measured by its length."""


class ExplorationBudget(Budget):
    """Checks the limits of a running exploration, and reports its progress."""

    def __init__(self, limits: ExplorationLimits, progress: ProgressCallback | None) -> None:
        self.limits = limits
        super().__init__(progress, "explore", limits.max_seconds)
        self._seen: tuple[int, dict[str, int | float], set[str]] | None = None
        self._has_told = False

    def check(
        self,
        done: int,
        states: int,
        choices: int,
        transitions: int,
        needed_bytes: int,
        late: Callable[[], list[Any]],
        many: int | None = None,
    ) -> None:
        """Raise LimitExceededError if a limit is passed; else report progress.

        `late` returns some states that were found late, for the message. From `many` states on
        (STATES_BEFORE_WARNING, if not given), fields that go on growing are warned of, if there is
        no `max_states`.
        """
        limits = self.limits
        if states > limits.max_states:
            limit = f"max_states={limits.max_states:,}"
            self._stop(limit, done, states, choices, transitions, late())
        if self.is_late:
            limit = f"max_seconds={limits.max_seconds:g}"
            self._stop(limit, done, states, choices, transitions, late())
        if needed_bytes > limits.max_bytes:
            per_state = needed_bytes / max(1, done)
            self._stop(
                f"max_bytes={limits.max_bytes:,.0f} (by default nine tenths of the free memory)",
                done,
                states,
                choices,
                transitions,
                late(),
                f" Its arrays are about to take {needed_bytes / 2**20:,.0f} MiB, about "
                f"{per_state:,.0f} bytes a state, so the states already known alone need "
                f"{per_state * states / 2**20:,.0f} MiB.",
            )
        self.report(done, None, f"{states:,} states found, {transitions:,} transitions")
        is_asked = limits.max_states == float("inf") and not self._has_told
        if is_asked and states >= (many or STATES_BEFORE_WARNING):
            self._look_for_growth(states, late)

    def _look_for_growth(self, states: int, late: Callable[[], list[Any]]) -> None:
        """Warn, once, if a field of the last states is far larger than at half as many states."""
        if self._seen is None:
            self._seen = states, _sizes(late()), set()
        before, sizes, grown_before = self._seen
        if states < 2 * before:
            return
        is_last = states >= 2 * STATES_BEFORE_WARNING
        now = _sizes(late())
        grown = {
            name
            for name in sizes.keys() & now.keys()
            if now[name] > _usual(name, sizes[name], states, GROWTH if is_last else EARLY_GROWTH)
        }
        told = sorted(grown if is_last else grown & grown_before)[:SHOWN_STATES]
        if told:
            growth = ", ".join(
                f"{name} has grown from {sizes[name]:,} to {now[name]:,}" for name in told
            )
            message = (
                f"{states:,} states found so far. Since there were half as many, {growth}. If that "
                "has no end, bound it in the rules; max_states= sets a limit."
            )
            warn(message, RuntimeWarning)
        self._has_told = is_last or bool(told)
        self._seen = states, now, grown

    @staticmethod
    def _stop(
        limit: str,
        done: int,
        states: int,
        choices: int,
        transitions: int,
        late: list[Any],
        more: str = "",
    ) -> NoReturn:
        found = f" Found late: {', '.join(map(shown, late))}." if late else ""
        message = (
            f"exploration stopped at {limit}: {done:,} states explored, "
            f"{states - done:,} still to explore, {transitions:,} transitions.{more}{found} "
            "If a field grows without end, bound it; else raise the limit, choose a smaller game, "
            "or merge states with canonical()."
        )
        raise LimitExceededError(message, states=states, choices=choices, transitions=transitions)


def _usual(name: str, before: float, states: int, times: float) -> float:
    """Return the largest size of a field without a warning, given that at half the states.

    A tuple or a text that still gets longer is suspicious: with each entry that is free to choose,
    there are twice as many states.
    """
    return before if name.startswith(LENGTH) else times * max(before, states.bit_length())


def _sizes(late: list[Any]) -> dict[str, int | float]:
    """Return the distances of the fields from 0, or their lengths, by name.

    A state that is a single number has none: its values may just be counted through.
    """
    sizes: dict[str, int | float] = {}
    for state in late:
        for name, size in _measured(state, ""):
            sizes[name] = max(size, sizes.get(name, size))
    return sizes


def _measured(part: Any, name: str) -> Iterator[tuple[str, int | float]]:
    """Yield the numbers in a part of a state, and the lengths of texts and tuples."""
    fields = getattr(type(part), "__match_args__", ())  # of NamedTuples, attrs and dataclasses
    if fields:
        for field in fields:
            yield from _measured(getattr(part, field, None), f"{name}.{field}" if name else field)
    elif isinstance(part, (int, float, np.integer, np.floating)) and name:
        size = abs(part if isinstance(part, (int, float)) else part.item())
        if size < MAX_MEASURED:
            yield name, size
    elif isinstance(part, (str, bytes, tuple)):
        yield LENGTH + (name or "the state"), len(part)
    if isinstance(part, tuple) and not fields:
        for position, item in enumerate(part):
            yield from _measured(item, f"{name}[{position}]")
