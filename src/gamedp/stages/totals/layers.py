"""The reached contexts of one rank, with their totals so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.runtime.floats import UNIT
from gamedp.stages.totals.unfolded import TOO_LARGE, not_counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Layer", "Transitions"]

MOST_TOTALS = 1 << 30
"""For all contexts of a rank: 8 GiB."""


class Transitions(NamedTuple):
    """Transitions of play from the contexts of one rank: n of them.

    `sources` are slots of that rank, `successors` keys of contexts, `shifts` what is earned.
    """

    sources: NDArray[np.int64]
    successors: NDArray[np.int64]
    ranks: NDArray[np.int64]
    shifts: NDArray[np.int64]
    weights: NDArray[np.float64]

    def some(self, chosen: NDArray[np.bool_]) -> Transitions:
        """Return the chosen transitions."""
        return Transitions(
            self.sources[chosen],
            self.successors[chosen],
            self.ranks[chosen],
            self.shifts[chosen],
            self.weights[chosen],
        )

    @classmethod
    def joined(cls, parts: list[Transitions]) -> Transitions:
        """Return all transitions of some parts, in their order."""
        return cls(
            np.concatenate([part.sources for part in parts]),
            np.concatenate([part.successors for part in parts]),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.shifts for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


@attrs.define(eq=False)
class Layer:
    """The reached contexts of one rank, each in a slot, with their totals so far.

    The key of a context is its code, plus the size of the box if the players have changed places.
    The totals ``low .. high`` of a slot begin at ``start`` in the pool.
    """

    keys: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    lows: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    highs: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    starts: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    pool: NDArray[np.float64] = attrs.field(factory=lambda: np.zeros(0))
    additions: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    before: float = 0.0

    @classmethod
    def joined(cls, parts: Iterable[Layer]) -> Layer:
        """Return the contexts of some disjoint parts."""
        keys, lows, highs, starts, additions = [], [], [], [], []
        pool, before = np.zeros(0), 0.0
        for part in parts:  # one by one, as the pools are large
            first = len(pool)
            _check_room(first + len(part.pool))
            pool.resize(first + len(part.pool), refcheck=False)
            pool[first:] = part.pool
            keys.append(part.keys)
            lows.append(part.lows)
            highs.append(part.highs)
            starts.append(part.starts + first)
            additions.append(part.additions)
            before = max(before, part.before)
        return cls(
            np.concatenate(keys),
            np.concatenate(lows),
            np.concatenate(highs),
            np.concatenate(starts),
            pool,
            np.concatenate(additions),
            before,
        )

    @property
    def relative_error(self) -> float:
        """The relative error bound of a probability: the errors so far, and those of summation.

        As a part of itself, and apart from what is too small for a number.
        """
        return self.before + (int(self.additions.max(initial=0)) + 2) * UNIT

    def take(
        self, transitions: Transitions, slots: NDArray[np.int32], source: Layer, error: float
    ) -> None:
        """Add the totals of another layer, with the error `error`, along `transitions`."""
        from gamedp.stages.totals import kernels  # noqa: PLC0415

        found = np.empty(len(transitions.successors), np.int64)
        new = kernels.enlist_jit(transitions.successors, slots, len(self.keys), found)
        places = slots[transitions.successors].astype(np.int64)
        self.keys = np.concatenate([self.keys, found[:new]])
        lows = np.concatenate([self.lows, np.full(new, np.iinfo(np.int64).max)])
        highs = np.concatenate([self.highs, np.full(new, np.iinfo(np.int64).min)])
        np.minimum.at(lows, places, source.lows[transitions.sources] + transitions.shifts)
        np.maximum.at(highs, places, source.highs[transitions.sources] + transitions.shifts)
        self._lay_out(lows, highs)
        counts = np.bincount(places, minlength=len(lows))
        counts[: len(self.additions)] += self.additions
        self.additions, self.before = counts, max(self.before, error)
        kernels.push_jit(
            transitions.sources, places, transitions.shifts, transitions.weights,
            source.starts, source.lows, source.highs, source.pool,
            self.starts, self.lows, self.pool,
        )  # fmt: skip

    def _lay_out(self, lows: NDArray[np.int64], highs: NDArray[np.int64]) -> None:
        """Make room for the totals ``lows .. highs``.

        Raises
        ------
        UnsupportedProblemError
            If one is too large, or if they lie too far apart.
        """
        from gamedp.stages.totals import kernels  # noqa: PLC0415

        largest = max(highs.max(initial=0), -lows.min(initial=0))
        if largest >= TOO_LARGE:
            raise UnsupportedProblemError(not_counted("a total", int(largest)))
        _check_room(int((highs - lows).sum(dtype=np.float64)) + len(lows))
        ends = np.cumsum(highs - lows + 1)
        starts = np.concatenate([[0], ends[:-1]])
        pool = np.zeros(int(ends[-1]))
        kernels.move_jit(self.starts, self.lows, self.highs, self.pool, starts, lows, pool)
        self.lows, self.highs, self.starts, self.pool = lows, highs, starts, pool

    def totals(self, slots: NDArray[np.int64], shifts: NDArray[np.int64]) -> dict[int, list[float]]:
        """Return the probabilities of some slots' totals, each total shifted."""
        found: dict[int, list[float]] = {}
        for slot, shift in zip(slots.tolist(), shifts.tolist(), strict=True):
            low, start = int(self.lows[slot]), int(self.starts[slot])
            part = self.pool[start : start + int(self.highs[slot]) - low + 1]
            for place in np.flatnonzero(part).tolist():
                found.setdefault(low + shift + place, []).append(float(part[place]))
        return found


def _check_room(wanted: int) -> None:
    """Refuse to make room for so many totals."""
    if wanted > MOST_TOTALS:
        message = (
            f"the contexts of one rank have {wanted:,} totals from the least of each to its "
            f"greatest; there is room for {MOST_TOTALS:,}. Count in a larger unit, or let "
            "gamedp.simulate play."
        )
        raise UnsupportedProblemError(message)
