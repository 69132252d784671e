"""Blocks of tables: the values of the positions of a tier as one file.

Values are kept as numbers of 32 bits between the least and the greatest of the block, or as 64-bit
floats where these would be too coarse. All have one error, which is proven and covers the rounding
to 32 bits. A place that no position has holds `NONE`, or NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import DamagedFileError
from gamedp.runtime.block_file import BlockFile
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Floats

__all__ = ["TierBlock", "encoded"]

NONE = 2**32 - 1
"""A place without a position."""

DTYPES: dict[str, np.dtype[Any]] = {"fixed32": np.dtype("<u4"), "float64": np.dtype("<f8")}


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
    def open(cls, path: Path, identity: dict[str, Any], size: int) -> TierBlock:
        """Open a block of so many places.

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
        dtype = DTYPES.get(store) if isinstance(store, str) else None
        is_sound = all(type(each) is float and math.isfinite(each) for each in numbers)
        if dtype is None or not is_sound or error < 0 or file.num_bytes != size * dtype.itemsize:
            message = (
                f"{path} is damaged: its beginning makes no sense. Remove the file, and it is made "
                "again."
            )
            raise DamagedFileError(message)
        return cls(file, dtype, low, step, error)

    @property
    def none(self) -> float:
        """The number of a place without a position, apart from NaN."""
        return NONE if self.dtype == DTYPES["fixed32"] else math.nan

    @property
    def length(self) -> int:
        """The number of places that are read together."""
        return self.file.size // self.dtype.itemsize

    def read(self, part: int) -> NDArray[Any]:
        """Return one part as it is kept, `length` places; raise DamagedFileError if it is wrong."""
        return self.file.read(part).view(self.dtype)


def bytes_of(block: TierBlock) -> bytes:
    """Return all bytes of a block."""
    return b"".join(block.file.read(part).tobytes() for part in range(len(block.file)))
