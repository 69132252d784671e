"""Limits of an exploration, and the error that says how far it got."""

from __future__ import annotations

import os
from typing import NoReturn

import attrs

from gamedp.errors import InvalidParameterError, LimitExceededError
from gamedp.progress import ProgressCallback, Reporter

__all__ = ["Limits", "Watch", "available_bytes"]


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
        self, done: int, states: int, choices: int, transitions: int, needed_bytes: int
    ) -> None:
        """Raise LimitExceededError if a limit is passed; else report progress."""
        limits = self.limits
        if states > limits.max_states:
            self._stop(f"max_states={limits.max_states:,}", done, states, choices, transitions)
        if self.seconds > limits.max_seconds:
            self._stop(f"max_seconds={limits.max_seconds:g}", done, states, choices, transitions)
        if needed_bytes > limits.max_bytes:
            per_state = needed_bytes / max(1, done)
            self._stop(
                f"max_bytes={limits.max_bytes:,.0f} (by default nine tenths of the free memory)",
                done,
                states,
                choices,
                transitions,
                f" Its arrays are about to take {needed_bytes / 2**20:,.0f} MiB, about "
                f"{per_state:,.0f} bytes a state, so the states already known alone need "
                f"{per_state * states / 2**20:,.0f} MiB.",
            )
        self._reporter.report(done, None, f"{states:,} states found, {transitions:,} transitions")

    @staticmethod
    def _stop(
        limit: str, done: int, states: int, choices: int, transitions: int, more: str = ""
    ) -> NoReturn:
        message = (
            f"exploration stopped at {limit}: {done:,} states explored, "
            f"{states - done:,} more are known and wait, {transitions:,} transitions.{more} "
            "Raise the limit, choose a smaller game, or merge states with canonical()."
        )
        raise LimitExceededError(message, states=states, choices=choices, transitions=transitions)
