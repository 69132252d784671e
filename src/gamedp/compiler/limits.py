"""Limits of an exploration, and the error that says how far it got."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

import attrs

from gamedp.errors import InvalidParameterError, LimitExceededError, shown
from gamedp.progress import ProgressCallback, Reporter

__all__ = ["LATE", "Limits", "Watch", "available_bytes"]


def _positive(_instance: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not value > 0:
        message = f"{attribute.name} is {value!r}; it must be positive."
        raise InvalidParameterError(message)


def available_bytes() -> int:
    """Return how much memory a new array may take: nine tenths of what the system has free."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123 - not a real file
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024 * 9 // 10
    except OSError:
        pass  # not Linux: ask for physical memory instead
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // 10
    except (AttributeError, ValueError, OSError):
        return 2**63  # the system does not tell


@attrs.frozen
class Limits:
    """Where an exploration stops with an error."""

    max_states: float = attrs.field(default=float("inf"), validator=_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=_positive)
    max_bytes: float = attrs.field(factory=available_bytes, validator=_positive)


LATE = 3
"""States in the message at a limit: where a game has no end, the field that grows is seen."""


class Watch:
    """Looks at the limits while an exploration runs, and reports how far it is."""

    def __init__(self, limits: Limits, progress: ProgressCallback | None) -> None:
        self.limits = limits
        self._reporter = Reporter(progress, "explore")

    @property
    def seconds(self) -> float:
        """Seconds since the exploration began."""
        return self._reporter.seconds

    def check(
        self,
        done: int,
        states: int,
        choices: int,
        transitions: int,
        needed_bytes: int,
        late: Callable[[], list[Any]],
    ) -> None:
        """Raise LimitExceededError if a limit is passed; else report progress.

        `late` returns some states that were found late, for the message.
        """
        limits = self.limits
        if states > limits.max_states:
            limit = f"max_states={limits.max_states:,}"
            self._stop(limit, done, states, choices, transitions, late())
        if self.seconds > limits.max_seconds:
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
        self._reporter.report(done, None, f"{states:,} states found, {transitions:,} transitions")

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
