"""Files of compressed blocks, each of which can be read alone.

A file begins with a line of JSON that says what it holds, and with a checksum of that line; then
come the blocks, each with its own checksum. It is written to a temporary file in the same folder,
and renamed when it is complete and on the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import time
import zlib
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import DamagedFileError
from gamedp.runtime.files import is_temporary, open_plain, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

BLOCK = 1 << 16
"""Largest number of bytes of a block before compression, and the usual one."""

LARGEST_HEADER = 1 << 26
"""Largest number of bytes of the first line: two numbers for each block."""

VERSION = 1
CHECKSUM_BYTES = 65
LEVEL = 1
"""Compression level: higher ones take far more time and save little room."""


STALE_SECONDS = 3600.0
"""Seconds after which an incomplete file counts as left over from a killed process."""


def write_blocks(
    path: Path,
    content: dict[str, Any],
    data: NDArray[np.int8],
    size: int = BLOCK,
    apply: Callable[..., Iterable[bytes]] = map,
) -> None:
    """Write bytes to a file: all of them, or none.

    Parameters
    ----------
    path : Path
    content : dict
        A description of the bytes as JSON data.
    data : (N,) int8
    size : int
        The number of bytes of a block, a multiple of 8: where little is read at a time, smaller
        blocks are faster.
    apply : callable
        Applies a function to items, in their order, as `map` does: perhaps by threads.

    Raises
    ------
    OSError
        If that is not possible; then what was there before still is.
    """

    def packed(first: int) -> bytes:
        return zlib.compress(data[first : first + size].tobytes(), LEVEL)

    blocks = list(apply(packed, range(0, len(data), size)))
    header = json.dumps(
        {
            "format": "gamedp blocks",
            "version": VERSION,
            "content": content,
            "bytes": len(data),
            "size": size,
            "lengths": [len(block) for block in blocks],
            "crc32": [zlib.crc32(block) for block in blocks],
        }
    ).encode()
    line = header + b"\n" + hashlib.sha256(header).hexdigest().encode() + b"\n"

    def write(file: Any) -> None:
        file.write(line)
        for block in blocks:
            file.write(block)

    write_whole(path, write)


def remove_leftovers(folder: Path) -> None:
    """Remove the leftovers of killed processes from a folder, as far as permitted."""
    for left in filter(is_temporary, folder.glob("*.blocks.*")):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > STALE_SECONDS:
                left.unlink()


@attrs.define
class BlockFile:
    """A file of blocks; it is opened only while a block is read, as there may be thousands.

    Attributes
    ----------
    path : Path
    content : dict
        The same as for `write_blocks`.
    num_bytes : int
    size : int
        The number of bytes of a block; the last may have fewer.
    """

    path: Path
    content: dict[str, Any]
    num_bytes: int
    size: int
    _starts: NDArray[np.int64]
    _crc32: NDArray[np.uint32]

    @classmethod
    def open(cls, path: Path) -> BlockFile:
        """Open a file, and check everything but its blocks.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        DamagedFileError
            If it is not what was written.
        """
        with open_plain(path) as file:
            header = file.readline(LARGEST_HEADER)
            checksum = file.readline(CHECKSUM_BYTES)
            start = file.tell()
            end = file.seek(0, 2)
            if hashlib.sha256(header[:-1]).hexdigest().encode() + b"\n" != checksum:
                raise cls._damaged(path, "its beginning does not match its checksum")
            found = cls._header(path, header)
            starts = list(itertools.accumulate(found["lengths"], initial=start))
            if starts[-1] != end:
                raise cls._damaged(path, f"it has {end:,} bytes, not {starts[-1]:,}")
        sizes = found["bytes"], found["size"]
        sums = np.array(found["crc32"], np.uint32)
        return cls(path, found["content"], *sizes, np.array(starts), sums)

    @classmethod
    def _header(cls, path: Path, line: bytes) -> dict[str, Any]:
        """Return the checked content of the first line: a valid checksum alone proves nothing."""
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise cls._damaged(path, "it does not begin with JSON") from None
        if not isinstance(found, dict) or found.get("format") != "gamedp blocks":
            raise cls._damaged(path, "it is of another format")
        if found.get("version") != VERSION:
            raise cls._damaged(path, "it is of another version of the format")
        lengths, sums, num_bytes = found.get("lengths"), found.get("crc32"), found.get("bytes")
        size = found.setdefault("size", BLOCK)  # files of before had no other
        if (
            not isinstance(found.get("content"), dict)
            or not (isinstance(lengths, list) and isinstance(sums, list))
            or not all(type(each) is int and each >= 0 for each in (num_bytes, *lengths, *sums))
            or not all(each < 2**32 for each in sums)
            or not (type(size) is int and 0 < size <= BLOCK and size % 8 == 0)
            or {len(lengths), len(sums)} != {-(-int(num_bytes or 0) // size)}
        ):
            raise cls._damaged(path, "its beginning does not say which blocks there are")
        return found

    @staticmethod
    def _damaged(path: Path, what: str) -> DamagedFileError:
        message = f"{path} is damaged: {what}. Remove the file, and it is made again."
        return DamagedFileError(message)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._crc32)

    def check(self) -> None:
        """Compare all blocks with their checksums, without unpacking them.

        Raises
        ------
        DamagedFileError
            If one is not what was written.
        OSError
            If the file cannot be read any more.
        """
        with open_plain(self.path) as file:
            file.seek(int(self._starts[0]))
            for block, (first, last) in enumerate(itertools.pairwise(self._starts.tolist())):
                if zlib.crc32(file.read(last - first)) != self._crc32[block]:
                    raise self._damaged(self.path, f"block {block} does not match its checksum")

    def read(self, block: int) -> NDArray[np.int8]:
        """Return the bytes of one block.

        Raises
        ------
        DamagedFileError
            If they are not what was written.
        OSError
            If the file cannot be read any more.
        """
        first, last = self._starts[block : block + 2].tolist()
        with open_plain(self.path) as file:
            file.seek(first)
            packed = file.read(last - first)
        if zlib.crc32(packed) != self._crc32[block]:
            raise self._damaged(self.path, f"block {block} does not match its checksum")
        size = min(self.size, self.num_bytes - block * self.size)
        inflate = zlib.decompressobj()
        try:
            data = inflate.decompress(packed, size + 1)
        except zlib.error:
            data = b""
        if len(data) != size or not inflate.eof:
            raise self._damaged(self.path, f"block {block} does not hold {size:,} bytes")
        return np.frombuffer(data, np.int8)
