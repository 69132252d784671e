"""The budget of a piece of work: one clock for its limits and for its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamedp.runtime.progress import Reporter

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.runtime.progress import ProgressCallback

__all__ = ["Budget"]


class Budget(Reporter):
    """Limits the time of a piece of work and what it counts, and reports its progress.

    Parameters
    ----------
    progress : callable or None
    phase : str
        See :class:`gamedp.Progress`.
    max_seconds : float
        From now on.
    max_count : float
    count : callable, optional
        Returns what has been counted so far: nodes, states or sweeps.
    """

    def __init__(
        self,
        progress: ProgressCallback | None,
        phase: str,
        max_seconds: float = float("inf"),
        max_count: float = float("inf"),
        count: Callable[[], int] = int,
    ) -> None:
        super().__init__(progress, phase)
        self.max_seconds = max_seconds
        self.max_count = max_count
        self.count = count

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.seconds > self.max_seconds

    @property
    def is_spent(self) -> bool:
        """Whether a limit is reached."""
        return self.is_late or self.count() >= self.max_count
