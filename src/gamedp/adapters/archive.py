"""The container of the UMB format: a tar file with an index in JSON and arrays in binary files."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import tarfile
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np

from gamedp.adapters.parts import too_large
from gamedp.errors import DamagedFileError, InvalidModelError
from gamedp.model.validation import as_numbers
from gamedp.rules.exactness import as_given
from gamedp.runtime.files import open_plain
from gamedp.runtime.slices import BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Integers


INDEX = "index.json"

GZIP_LEVEL = 1
"""The gzip level: arrays of numbers hardly get smaller with more work."""

DEFAULT_BITS = {"double": 64, "int": 64, "uint": 64, "rational": 128}


MAGIC: dict[bytes, Callable[..., BinaryIO]] = {
    b"\x1f\x8b\x08": gzip.open,  # type: ignore[dict-item]
    b"\xfd7zXZ\x00": lzma.open,  # type: ignore[dict-item]
    b"BZh": bz2.open,  # type: ignore[dict-item]
}
"""First bytes of compressed files, and the functions that open them."""


class _Metered:
    """Passes on the bytes read from a stream, up to a limit."""

    def __init__(self, stream: BinaryIO, path: Path, most: int) -> None:
        self._stream = stream
        self._path = path
        self._most = most
        self._seen = 0

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self._seen += len(content)
        if self._seen > self._most:
            raise too_large(self._path, "unpacks to", self._most)
        return content


def _uncompressed(path: Path) -> BinaryIO:
    """Open an archive, compressed or not."""
    with open_plain(path, links=True) as file:
        start = file.read(max(map(len, MAGIC)))
    for magic, opener in MAGIC.items():
        if start.startswith(magic):
            return opener(path, "rb")
    return path.open("rb")


class Archive:
    """The files of an archive, in memory, as arrays of their types.

    Parameters
    ----------
    path : Path
    wanted : callable
        Returns whether to keep a file, given its name.
    most : int
        The largest number of bytes to which it may unpack.

    Raises
    ------
    DamagedFileError
        If this is not an archive, or not a whole one.
    LimitExceededError
        If it unpacks to more.
    """

    def __init__(self, path: Path, wanted: Callable[[str], bool], most: int) -> None:
        self.path = path
        self.most = most
        self._files: dict[str, bytes] = {}
        try:
            with _uncompressed(path) as file:
                stream: Any = _Metered(file, path, most)
                # As a stream: a compressed file would be read from the beginning for each member.
                with tarfile.open(fileobj=stream, mode="r|") as tar:
                    for member in tar:
                        name = member.name.removeprefix("./").lstrip("/")
                        content = tar.extractfile(member) if wanted(name) else None
                        if content is not None:
                            self._files[name] = self._whole(member, name, content)
                while stream.read(BYTES):
                    pass  # to the end, where the checksum of what was compressed stands
        except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise damaged(self, f"is not a complete tar archive ({error})") from None
        except OSError as error:
            if error.errno is not None or isinstance(error, DamagedFileError):
                raise  # it cannot be read at all, or has been judged already
            raise damaged(self, f"is not compressed correctly ({error})") from None
        if INDEX not in self._files:
            raise damaged(self, f"has no {INDEX}, which says what the other files hold")
        try:
            self.index = json.loads(self._files.pop(INDEX).decode())
        except (ValueError, RecursionError) as error:
            raise damaged(self, f"has an {INDEX} that is not JSON ({error})") from None
        if not isinstance(self.index, dict):
            raise damaged(self, f"has an {INDEX} that is not a JSON object")

    def _whole(self, member: tarfile.TarInfo, name: str, file: IO[bytes]) -> bytes:
        if member.issparse() or member.size > self.most:  # holes are not metered
            raise too_large(self.path, "unpacks to", self.most)
        content = file.read()
        if len(content) != member.size:
            raise damaged(self, f"ends in the middle of {name}")
        return content

    def __contains__(self, name: str) -> bool:
        """Return whether a file exists."""
        return name in self._files

    def content(self, name: str, count: int, bytes_each: int) -> bytes:
        """Return the bytes of a file, which must have a given size."""
        if name not in self._files:
            raise damaged(self, f"has no {name}")
        content, size = self._files[name], count * bytes_each
        if len(content) != size:
            raise damaged(
                self,
                f"has {len(content):,} bytes in {name}; {count:,} entries of {bytes_each} bytes "
                f"are {size:,}",
            )
        return content

    def integers(self, name: str, count: int, bytes_each: int) -> Integers:
        """Return unsigned integers; all zero if the file is missing."""
        if name not in self:
            return np.zeros(count, np.int64)
        numbers = np.frombuffer(self.content(name, count, bytes_each), f"<u{bytes_each}")
        if len(numbers) and numbers.max() > np.iinfo(np.int64).max:
            raise damaged(self, f"has the number {numbers.max()} in {name}, more than there can be")
        return numbers.astype(np.int64)

    def offsets(self, name: str, count: int, end: int, items: str) -> Integers:
        """Return the offsets of the items of `count` rows; one each if the file is missing."""
        if name not in self:
            if count != end:
                raise damaged(self, f"has no {name}, and not just one for each of the {items}")
            return np.arange(count + 1)
        offsets = self.integers(name, count + 1, 8)
        if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
            raise damaged(
                self,
                f"has offsets in {name} that do not rise from 0 to {end:,}, the number of {items}",
            )
        return offsets

    def bits(self, name: str, count: int) -> Flags:
        """Return one bit for each of `count` states; all false if the file is missing."""
        if name not in self:
            return np.zeros(count, np.bool_)
        content = np.frombuffer(self.content(name, -(-count // 64), 8), np.uint8)
        bits = np.unpackbits(content, bitorder="little").astype(np.bool_)
        if bits[count:].any():
            raise damaged(self, f"has bits set in {name} for states beyond the last one")
        return bits[:count].copy()

    def strings(self, mapping: str, name: str, count: int) -> tuple[str, ...]:
        """Return texts; none if the file is missing."""
        if mapping not in self:
            return ()
        content = self._files.get(name)
        if content is None:
            raise damaged(self, f"has no {name}")
        offsets = self.offsets(mapping, count, len(content), f"bytes in {name}").tolist()
        try:
            return tuple(content[begin:end].decode() for begin, end in itertools.pairwise(offsets))
        except UnicodeDecodeError as error:
            raise damaged(self, f"has a text in {name} that is not UTF-8 ({error})") from None

    def numbers(self, name: str, kind: Any, count: int) -> NDArray[Any]:
        """Return numbers of the type in the index; Fractions where no doubles are equal."""
        word = kind.get("type") if isinstance(kind, dict) else None
        if not isinstance(word, str):
            raise damaged(self, f"has numbers of no type in {name}")
        if word not in DEFAULT_BITS:
            raise unsupported(self, f"has numbers of the type {word!r} in {name}")
        bits = kind.get("size", DEFAULT_BITS[word])
        is_right = bits == 64 if word != "rational" else isinstance(bits, int) and 0 < bits < 2**63
        if not is_right or bits % (128 if word == "rational" else 64):
            raise damaged(self, f"has numbers of the type {word} with {bits!r} bits in {name}")
        content = self.content(name, count, bits // 8)
        if word == "rational":
            return self._quotients(name, content, bits // 16)
        kinds = {"double": "<f8", "int": "<i8", "uint": "<u8"}
        return as_numbers(name, np.frombuffer(content, kinds[word]))

    def _quotients(self, name: str, content: bytes, half: int) -> NDArray[Any]:
        """Return fractions from alternating numerators and denominators; equal ones are shared."""
        if half == 8:
            above = np.frombuffer(content, "<i8")[0::2].tolist()
            below = np.frombuffer(content, "<u8")[1::2].tolist()
        else:
            both = [
                int.from_bytes(content[at : at + half], "little", signed=at % (2 * half) == 0)
                for at in range(0, len(content), half)
            ]
            above, below = both[0::2], both[1::2]
        if 0 in below:
            raise damaged(self, f"has a fraction with the denominator 0 in {name}")
        pairs = list(zip(above, below, strict=True))
        made = {pair: Fraction(*pair) for pair in set(pairs)}
        try:
            return as_given([made[pair] for pair in pairs])
        except OverflowError:
            raise damaged(self, f"has a fraction beyond all doubles in {name}") from None


def damaged(archive: Archive, what: str) -> DamagedFileError:
    """Return the error for a damaged archive."""
    message = f"{archive.path} {what}. Fetch the file again, or write it again with its tool."
    return DamagedFileError(message)


def unsupported(archive: Archive, what: str) -> InvalidModelError:
    """Return the error for a model that this library does not support."""
    message = (
        f"{archive.path} {what}; gamedp reads Markov chains, Markov decision processes and "
        "turn-based games in discrete time."
    )
    return InvalidModelError(message)


def bits_of(mask: Flags) -> bytes:
    """Return a bit for each entry, padded to whole words of 64."""
    padded = np.zeros(-(-len(mask) // 64) * 64, np.bool_)
    padded[: len(mask)] = mask
    return np.packbits(padded, bitorder="little").tobytes()


def packed(numbers: NDArray[Any]) -> tuple[dict[str, Any], bytes]:
    """Return the type of numbers and their bytes: doubles, or fractions if there are any."""
    if numbers.dtype != object:
        return {"type": "double", "size": 64}, numbers.astype("<f8").tobytes()
    fractions = [Fraction(number) for number in numbers.tolist()]
    longest = max(
        max(abs(number.numerator).bit_length() + 1, number.denominator.bit_length())
        for number in fractions
    )
    half = 8 * -(-longest // 64)
    content = b"".join(
        number.numerator.to_bytes(half, "little", signed=True)
        + number.denominator.to_bytes(half, "little")
        for number in fractions
    )
    return {"type": "rational", "size": 16 * half}, content


def write_archive(file: BinaryIO, index: Any, files: Mapping[str, bytes]) -> None:
    """Write an archive, the same for the same content."""
    text = json.dumps(index, indent=1).encode()
    with (
        gzip.GzipFile(
            fileobj=file, mode="wb", compresslevel=GZIP_LEVEL, mtime=0, filename=""
        ) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, content in ({INDEX: text} | dict(files)).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
