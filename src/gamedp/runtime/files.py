"""Atomic writing of files, and reading of plain files only.

Data is written to a new file in the same folder, with a random name that nobody can have prepared;
that file is synced and renamed. Only plain files are read: a link may lead anywhere, and a pipe has
no end.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.errors import DamagedFileError, InvalidParameterError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader
    from typing import IO, BinaryIO

TEMPORARY = re.compile(r".+\.[0-9a-f]{16}\.gamedp-tmp")
"""Names of incomplete files."""


def as_path(path: Any) -> Path:
    """Return the path of a file or a folder.

    Raises
    ------
    InvalidParameterError
        If no file can have it. An empty one would be the current folder.
    """
    try:
        text = os.fspath(path)
        is_one = isinstance(text, str) and text != "" and b"\0" not in os.fsencode(text)
    except (TypeError, UnicodeEncodeError):
        is_one = False
    if not is_one:
        message = f"path is {shown(path)}; it must name a file or a folder."
        raise InvalidParameterError(message)
    return Path(path)


def is_temporary(path: Path) -> bool:
    """Return whether a file has a name from `write_beside`."""
    return TEMPORARY.fullmatch(path.name) is not None


class _Hashing:
    """Passes written bytes on to a file, and hashes them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self._file.write(data)


def write_beside(path: Path, write: Callable[[Any], object]) -> tuple[Path, str]:
    """Write a new file in the folder of `path`, and sync it.

    Parameters
    ----------
    path : Path
        The file that is to be, once the new one is renamed.
    write : callable
        Called with an object that has a method ``write(bytes)``.

    Returns
    -------
    beside : Path
    sha256 : str

    Raises
    ------
    OSError
        If it cannot be written. Its `filename` is set, and nothing is left behind.
    """
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}.gamedp-tmp")
    try:
        with beside.open("xb") as file:  # never an existing one, nor what a link leads to
            hashing = _Hashing(file)
            write(hashing)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # which names another file, or none if a disk is full
            error.filename = str(path)
        raise
    return beside, hashing.sha256.hexdigest()


def write_whole(path: Path, write: Callable[[Any], object]) -> None:
    """Write a file, or leave the old one unchanged.

    Parameters and errors are those of :func:`write_beside`.

    Raises
    ------
    InvalidParameterError
        If the path names a device, a pipe or a folder: the new file would take its place.
    """
    if path.exists() and not path.is_file():
        message = f"{path} is not a plain file; name a file that is new or may be replaced."
        raise InvalidParameterError(message)
    beside, _ = write_beside(path, write)
    try:
        beside.replace(path)
    except PermissionError:
        # Some systems do not replace a file that is mapped: another process was faster.
        if not path.exists():
            raise
    finally:
        beside.unlink(missing_ok=True)
    sync(path.parent)


def sync(folder: Path) -> None:
    """Wait until the names in the folder are on the disk, where the system offers that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other writers out of a folder, after waiting for those in it.

    Where the system or the file system has no such locks, as on Windows, all are let in.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # no locks on this file system
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def lock(file: IO[bytes]) -> bool:
    """Keep other writers out of an open file until it is closed; return false if one is in it.

    Where the system or the file system has no such locks, as on Windows, all are let in.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this file system
        return True
    return True


def open_plain(path: Path, *, links: bool = False) -> BufferedReader:
    """Open a file for reading; refuse pipes, devices, folders and, unless `links`, links.

    Links are followed to what a person has named, with what stands beside it under the same name,
    and never to what a file or folder names.

    Raises
    ------
    FileNotFoundError
        If there is nothing of that name.
    DamagedFileError
        If there is something else than a file.
    """
    # Without waiting: a pipe that nobody writes to would never open.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    sockets = {errno.ENXIO, errno.EOPNOTSUPP}
    try:
        handle = os.open(path, flags | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    except OSError as error:
        if (path.is_symlink() and not links) or error.errno in sockets:
            raise _not_plain(path, links=links) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _not_plain(path, links=links)
    return os.fdopen(handle, "rb")


def _not_plain(path: Path, *, links: bool) -> DamagedFileError:
    what = "a folder, a pipe, a socket or a device"
    advice = "Write what it gives to a file first." if links else "Put the file itself there."
    message = (
        f"{path} is {what if links else f'a link, {what}'}; only plain files are read. {advice}"
    )
    return DamagedFileError(message)
