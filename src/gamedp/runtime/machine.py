"""The machine: its processors, its free memory, and arrays that take no more of it than they need.

Address space is reserved once for as much as the limits allow; the system gives memory to it only
where it is written. So an array of unknown final length grows in place, and its peak is its final
size.
"""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_bytes() -> int:
    """Return the memory available for new arrays: nine tenths of the system's free memory."""
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


def resident_bytes(process: int) -> int:
    """Return the memory of a process; 0 if it has ended, or the system does not say."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        pass  # it is over, or this is not Linux
    if shutil.which("ps") is None:
        return 0
    command = ["ps", "-o", "rss=", "-p", str(process)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - no text of others
    return int(told) * 1024 if told.isdecimal() else 0


def peak_bytes() -> int | None:
    """Return the peak memory of this process; None if the system does not say."""
    try:
        # getrusage also counts what the parent had at the fork.
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass  # not Linux
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return None
    factor = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * factor


MAX_ORDINARY_BYTES = 1 << 18
"""Largest number of bytes of an ordinary array; reserved memory comes in pages of 2 MiB."""

ADDRESS_SPACE = 1 << 36
"""Largest number of bytes reserved for one array."""


def enlarge(array: NDArray[Any], used: int, wanted: int, most_bytes: float) -> NDArray[Any]:
    """Return an array that begins with the first `used` rows of `array` and has room for more.

    Parameters
    ----------
    array : ndarray
    used : int
        Rows that hold something.
    wanted : int
        Rows that there must be room for.
    most_bytes : float
        The largest possible size of the array.
    """
    used = min(used, len(array))
    columns = array.shape[1:]
    row_bytes = array.itemsize * int(np.prod(columns, dtype=np.int64))
    if wanted * row_bytes > MAX_ORDINARY_BYTES:
        reserved = _reserve(int(min(most_bytes, ADDRESS_SPACE)))
        if reserved is not None and len(reserved) // row_bytes >= wanted:
            count = len(reserved) // row_bytes * (row_bytes // array.itemsize)
            bigger = np.frombuffer(reserved, array.dtype, count).reshape((-1, *columns))
            bigger[:used] = array[:used]
            return bigger
    bigger = np.empty((wanted, *columns), array.dtype)
    bigger[:used] = array[:used]
    return bigger


def trim(array: NDArray[Any], used: int) -> NDArray[Any]:
    """Return the first `used` rows; a copy where that is small, to free the rest."""
    rows = array[:used]
    return rows.copy() if rows.nbytes <= MAX_ORDINARY_BYTES else rows


def allocate_lazily(shape: tuple[int, ...], dtype: type[Any]) -> NDArray[Any]:
    """Return an array of zeros that takes memory only where it is written.

    `numpy.zeros` does, too, unless it gets memory that was used before: then it writes all of it.
    """
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if size <= MAX_ORDINARY_BYTES:
        return np.zeros(shape, dtype)
    return np.frombuffer(mmap.mmap(-1, size), dtype, int(np.prod(shape))).reshape(shape)


def _reserve(size: int) -> mmap.mmap | None:
    """Reserve address space that takes no memory until it is written, where the system can."""
    flags = getattr(mmap, "MAP_NORESERVE", None)
    if flags is None:
        return None
    try:
        reserved = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags)
        # Large pages: a fifth of the time for the first touch of fresh memory.
        reserved.madvise(mmap.MADV_HUGEPAGE)
    except (OSError, ValueError, AttributeError):
        return None
    return reserved
