"""Blocks of tables: the values of the positions of a tier as one file.

Values are kept as numbers of 32 bits between the least and the greatest of the block, or as 64-bit
floats where these would be too coarse. All have one error, which is proven and covers the rounding
to 32 bits. A place that no position has holds `NONE`, or NaN.
"""

from __future__ import annotations

import math
import os
import shutil
import weakref
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import DamagedFileError, UnknownStateError
from gamedp.runtime.block_file import BLOCK, BlockFile
from gamedp.runtime.floats import UNIT
from gamedp.tables.plan import MAX_PLACES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Floats, Integers
    from gamedp.tables.numbered_plan import NumberedPlan
    from gamedp.tables.plan import Plan

__all__ = ["PART", "Blocks", "KeptParts", "TierBlock", "encoded"]

PART = 1 << 13
"""Number of bytes of a part of a block: all that is read where a single position is looked up."""

KEPT_PARTS = 1 << 14
"""Number of parts that are kept in memory: 128 MiB."""

MOST_PARTS = 2**31
"""More than the number of parts of any block."""

NONE = 2**32 - 1
"""A place without a position."""

DTYPES: dict[str, np.dtype[Any]] = {
    "fixed32": np.dtype("<u4"),
    "float64": np.dtype("<f8"),
    "int8": np.dtype("i1"),
}

PARTS = {"fixed32": PART, "float64": PART, "int8": BLOCK}
"""Number of bytes of a part, by how values are kept: searches read many whole numbers."""


def encoded(
    values: Floats, error: float, coarsest: float
) -> tuple[NDArray[np.int8], dict[str, Any]]:
    """Return values as bytes, and what describes them.

    Parameters
    ----------
    values : (N,) float64
        NaN for no position.
    error : float
        The largest error of a value.
    coarsest : float
        The largest error that keeping them may add.
    """
    values = values + 0.0  # without -0.0: which zero is the least depends on the processor
    is_one = ~np.isnan(values)
    known = values[is_one]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    step = (high - low) / (NONE - 1)
    if not step / 2 <= coarsest:
        described = {"store": "float64", "low": 0.0, "step": 1.0, "error": error}
        return values.astype(DTYPES["float64"]).view(np.int8), described
    codes = np.full(len(values), NONE, DTYPES["fixed32"])
    codes[is_one] = np.clip(np.rint((known - low) / (step or 1.0)), 0, NONE - 1).astype(np.uint32)
    # Both differences are rounded, and so is their sum.
    far = float(np.abs(_decoded(codes[is_one], low, step) - known).max(initial=0.0))
    error = math.nextafter((error + far) * (1 + 4 * UNIT), math.inf)
    return codes.view(np.int8), {"store": "fixed32", "low": low, "step": step, "error": error}


def _decoded(codes: NDArray[Any], low: float, step: float) -> Floats:
    found: Floats = low + codes.astype(np.float64) * step
    return found


@attrs.frozen(eq=False)
class TierBlock:
    """A block that has been written.

    Attributes
    ----------
    file : BlockFile
    dtype : dtype
    low, step : float
        A number k of the block means ``low + k * step``.
    error : float
        How far a value may be from the true one.
    """

    file: BlockFile
    dtype: np.dtype[Any]
    low: float
    step: float
    error: float

    @classmethod
    def open(
        cls, path: Path, identity: dict[str, Any], size: int, stores: tuple[str, ...]
    ) -> TierBlock:
        """Open a block with a number of places, in one of the given formats.

        Raises
        ------
        FileNotFoundError
            If it has not been written yet.
        DamagedFileError
            If it is not what was written, or is another one.
        """
        file = BlockFile.open(path)
        content = dict(file.content)
        store, low, step, error = (
            content.pop(key, None) for key in ("store", "low", "step", "error")
        )
        numbers = (low, step, error)
        if content != identity:
            message = (
                f"{path} is not the block that belongs there: it is of other rules, another "
                "tolerance or another tier. Remove the file, and it is made again."
            )
            raise DamagedFileError(message)
        dtype = DTYPES[store] if store in stores else None
        sizes = file.num_bytes, file.size
        is_sound = all(type(each) is float and math.isfinite(each) for each in numbers)
        is_sound = is_sound and (store != "int8" or numbers == (0.0, 1.0, 0.0))
        if (
            dtype is None
            or not is_sound
            or error < 0
            or sizes != (size * dtype.itemsize, PARTS[store])
        ):
            message = (
                f"{path} is damaged: its beginning makes no sense. Remove the file, and it is made "
                "again."
            )
            raise DamagedFileError(message)
        return cls(file, dtype, low, step, error)


class Blocks:
    """The blocks of tables in their folder, each opened once.

    Whatever reads from a temporary folder holds these: it goes with them.

    Parameters
    ----------
    folder : Path
    plan : Plan or NumberedPlan
    digest : str
        Of all that the bytes of blocks depend on.
    is_kept : bool
        Whether the folder stays when these are gone.
    """

    def __init__(
        self, folder: Path, plan: Plan | NumberedPlan, digest: str, *, is_kept: bool
    ) -> None:
        self.folder = folder
        self._plan = plan
        self._digest = digest
        self._opened: dict[int, TierBlock] = {}
        if not is_kept:
            weakref.finalize(self, _remove, folder, os.getpid())

    def path(self, level: int) -> Path:
        """Return the file of a block, which may not be there."""
        tier, part = int(self._plan.tiers[level]), self._plan.part(level)
        return self.folder / f"tier-{tier:06d}-{part:04d}.blocks"

    def has(self, level: int) -> bool:
        """Return whether a block has been made."""
        return level in self._opened or self.path(level).exists()

    def content(self, level: int) -> dict[str, Any]:
        """Return what tells a block from others."""
        tier, part = int(self._plan.tiers[level]), self._plan.part(level)
        return {"plan": self._digest, "tier": tier, "part": part}

    def open(self, level: int) -> TierBlock:
        """Open a block anew; see `TierBlock.open`."""
        size, stores = self._plan.size(level), self._plan.stores
        return TierBlock.open(self.path(level), self.content(level), size, stores)

    def get(self, level: int) -> TierBlock:
        """Return a block; raise UnknownStateError if it has not been made."""
        block = self._opened.get(level)
        if block is None:
            try:
                block = self.open(level)
            except FileNotFoundError:
                message = (
                    f"tier {int(self._plan.tiers[level])} is not in the tables in {self.folder}; "
                    "tabulate makes more."
                )
                raise UnknownStateError(message) from None
            self._opened[level] = block
        return block

    def forget(self, level: int) -> None:
        """Open a block anew when it is looked at next."""
        self._opened.pop(level, None)


def _remove(folder: Path, process: int) -> None:
    """Remove a temporary folder, but not in a process that was forked from the one that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def bytes_of(block: TierBlock) -> bytes:
    """Return all bytes of a block."""
    return b"".join(block.file.read(part).tobytes() for part in range(len(block.file)))


class KeptParts:
    """Parts of blocks that were read, in one array, from which many values are taken together.

    Parameters
    ----------
    num_blocks : int
    opened : callable
        Returns a block, given its level.
    """

    def __init__(self, num_blocks: int, opened: Callable[[int], TierBlock]) -> None:
        self._opened = opened
        self._heads = np.full((num_blocks, 4), np.nan)
        self._codes = np.empty((KEPT_PARTS, PART // 4), DTYPES["fixed32"])  # no memory yet
        self._floats = self._codes.view(DTYPES["float64"])
        self._slots: dict[int, int] = {}

    def _know(self, level: int) -> None:
        """Note the numbers of a block with which its values are read."""
        block = self._opened(level)
        self._heads[level] = block.low, block.step, block.error, PART // block.dtype.itemsize

    def _held(self, keys: list[int]) -> list[int]:
        """Return where parts are held, at most `KEPT_PARTS`, after reading those that are not."""
        slots = self._slots
        missing = [key for key in keys if key not in slots]
        if len(slots) + len(missing) > KEPT_PARTS:
            slots.clear()
            missing = keys
        for key in missing:
            level, part = divmod(key, MOST_PARTS)
            data = self._opened(level).file.read(part)
            self._codes[len(slots)].view(np.int8)[: len(data)] = data
            slots[key] = len(slots)
        return [slots[key] for key in keys]

    def number(self, level: int, place: int) -> tuple[float, float]:
        """Return the value at a place and its error; NaN for no position."""
        if math.isnan(self._heads[level, 0]):
            self._know(level)
        low, step, error, length = self._heads[level].tolist()
        part, offset = divmod(place, int(length))
        (slot,) = self._held([level * MOST_PARTS + part])
        if length == PART // 8:
            return float(self._floats[slot, offset]), error
        code = int(self._codes[slot, offset])
        return math.nan if code == NONE else low + code * step, error

    def look(self, levels: Integers, places: Integers) -> tuple[Floats, Floats]:
        """Return the values at places and their errors; NaN for no position."""
        order = np.argsort(levels * MAX_PLACES + places)
        levels, places = levels[order], places[order]
        distinct = levels[np.diff(levels, prepend=-1) > 0]
        for level in distinct[np.isnan(self._heads[distinct, 0])].tolist():
            self._know(level)
        low, step, error, length = self._heads[levels].T
        parts, offsets = np.divmod(places, length.astype(np.int64))
        keys = levels * MOST_PARTS + parts
        begins = np.flatnonzero(np.diff(keys, prepend=-1))
        found, values, errors = np.empty((3, len(levels)))
        for first in range(0, len(begins), KEPT_PARTS):
            ends = np.append(begins[first : first + KEPT_PARTS + 1], len(levels))
            ends = ends[: KEPT_PARTS + 1]
            held = self._held(keys[ends[:-1]].tolist())
            here = slice(ends[0], ends[-1])
            slots = np.repeat(held, np.diff(ends))
            codes = self._codes[slots, offsets[here]]
            are_floats = length[here] == PART // 8
            with np.errstate(over="ignore"):  # of what are floats instead
                decoded = np.where(codes == NONE, np.nan, low[here] + codes * step[here])
            decoded[are_floats] = self._floats[slots[are_floats], offsets[here][are_floats]]
            found[here] = decoded
        values[order], errors[order] = found, error
        return values, errors

    def forget(self, level: int) -> None:
        """Read a block anew when it is looked at next."""
        if not math.isnan(self._heads[level, 0]):
            self._heads[level] = np.nan
            self._slots.clear()
