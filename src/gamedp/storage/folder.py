"""Folders of saved objects: arrays named by their hashes, and the manifest written last."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import DamagedFileError, InvalidParameterError, shown
from gamedp.runtime.files import is_temporary, locked, open_plain, sync, write_beside, write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray


SOLUTION = "solution"
"""The default kind of object in a folder."""

VERSION = 1
MANIFEST = "manifest.json"

MAP_FROM = 1 << 20
"""Least number of bytes of a file that is mapped into memory instead of read."""

OWN_FILE = re.compile(r"[a-z_]{1,40}-[0-9a-f]{16}\.npy")
"""Names of the files of arrays; others in the folder are neither read nor changed."""

LARGEST_MANIFEST = 1 << 26
"""Largest number of bytes of a manifest: usually thousands, but a parameter may be a table."""

UNFIT = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions for manifest entries that are missing, of a wrong type, or nested too deeply."""

WAY_OUT = "Restore the folder from a copy, or solve and save again"


def write_folder(
    folder: Path,
    content: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    noun: str = SOLUTION,
) -> None:
    """Write a solution, so that an interruption leaves the former content.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    content : dict
        The manifest's content besides the names of the files, as JSON data.
    arrays : mapping of name to array
    noun : str
        The kind of object, if it is not a solution.

    Raises
    ------
    DamagedFileError
        If the folder has a manifest of something else, which is not overwritten.
    OSError
        If the files cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "a file, not a folder; name another one", folder)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        _refuse_to_overwrite(folder / MANIFEST, noun)
        try:
            files = {name: _write_array(folder, name, array) for name, array in arrays.items()}
            sync(folder)
            text = _manifest_text(_version_of_gamedp(), {**content, "arrays": files}, noun)
            if len(text) > LARGEST_MANIFEST:
                message = (
                    f"the parameters of the game take {len(text):,} bytes; {folder / MANIFEST} "
                    f"holds {LARGEST_MANIFEST:,} at most. Give large tables as arrays of a model."
                )
                raise InvalidParameterError(message)
            write_whole(folder / MANIFEST, lambda file: file.write(text.encode()))
        finally:
            _remove_leftovers(folder, noun)


def read_folder(
    folder: Path, noun: str = SOLUTION
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the content of the manifest and all arrays, after verifying every byte."""
    while True:
        content = _read_manifest(folder, noun)
        try:
            return content, {
                name: _read_array(folder / entry["file"], entry["sha256"])
                for name, entry in content["arrays"].items()
            }
        except FileNotFoundError as error:
            # Unless a save has just replaced it, it is incomplete.
            if _read_manifest(folder, noun)["arrays"] == content["arrays"]:
                message = f"{error.filename} is missing. {WAY_OUT}."
                raise DamagedFileError(message) from None


def noun_of(folder: Path) -> str:
    """Return the kind of object that a folder declares; a solution by default.

    A damaged manifest is reported when it is read.
    """
    with contextlib.suppress(OSError, ValueError), open_plain(folder / MANIFEST) as file:
        head = file.read(100)
        for noun in ("certificate", "policy"):
            if f'"gamedp {noun}"'.encode() in head:
                return noun
    return SOLUTION


def _version_of_gamedp() -> str:
    """Return the installed version of gamedp."""
    from importlib import metadata  # noqa: PLC0415 - slow to import

    try:
        return metadata.version("gamedp")
    except metadata.PackageNotFoundError:
        return "unknown"  # run from a source tree


def _manifest_text(version_of_gamedp: str, content: Any, noun: str = SOLUTION) -> str:
    """Return the manifest, with a checksum over the rest of it at the end."""
    manifest = {
        "format": f"gamedp {noun}",
        "version": VERSION,
        "gamedp": version_of_gamedp,
        "content": content,
    }
    manifest["sha256"] = hashlib.sha256(json.dumps(manifest).encode()).hexdigest()
    return json.dumps(manifest, indent=1) + "\n"


def _refuse_to_overwrite(manifest: Path, noun: str) -> None:
    """Raise if there is a manifest of another kind; a damaged or empty one may be replaced."""
    with contextlib.suppress(FileNotFoundError):
        with open_plain(manifest) as file:
            beginning = file.read(100)
        if beginning and f"gamedp {noun}".encode() not in beginning:
            message = (
                f"{manifest} is not of a saved {noun}, and is not overwritten. Choose another "
                "folder, or move the file away."
            )
            raise DamagedFileError(message)


def _write_array(folder: Path, name: str, array: NDArray[Any]) -> dict[str, str]:
    """Write an array to a file of its own; return its entry in the manifest."""
    rows = np.ascontiguousarray(array)
    beside, sha256 = write_beside(
        folder / name, lambda file: np.lib.format.write_array(file, rows, allow_pickle=False)
    )
    path = folder / f"{name}-{sha256[:16]}.npy"
    if _sha256(path) == sha256:
        beside.unlink()  # a file that is mapped cannot be replaced on every system
    else:
        beside.replace(path)
    return {"file": path.name, "sha256": sha256}


def _sha256(path: Path) -> str | None:
    """Return the hash of a file; None if it does not exist, or is not a plain file."""
    try:
        with open_plain(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, DamagedFileError):
        return None


def _remove_leftovers(folder: Path, noun: str) -> None:
    """Remove the files of replaced solutions and interrupted saves, as far as they are known."""
    with contextlib.suppress(OSError):
        named = set()
        if (folder / MANIFEST).exists():
            named = {entry["file"] for entry in _read_manifest(folder, noun)["arrays"].values()}
        for path in folder.iterdir():
            own = OWN_FILE.fullmatch(path.name) or is_temporary(path)
            if own and path.name not in named:
                with contextlib.suppress(OSError):
                    path.unlink()


def _read_manifest(folder: Path, noun: str) -> dict[str, Any]:
    """Return the content of a manifest, after verifying its checksum."""
    path = folder / MANIFEST
    try:
        with open_plain(path) as file:
            content_of_file = file.read(LARGEST_MANIFEST + 1)
        if len(content_of_file) > LARGEST_MANIFEST:
            message = f"{path} has more than the {LARGEST_MANIFEST:,} bytes of any {noun}."
            raise DamagedFileError(message)
        text = content_of_file.decode("ascii")
        manifest = json.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        what = f"{folder} has no {MANIFEST}" if folder.is_dir() else f"there is no folder {folder}"
        message = f"{what}: no {noun} was ever completely saved there. Check the path."
        raise DamagedFileError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{path} is damaged, or not of a {noun}: it is not JSON ({error}). {WAY_OUT}."
        raise DamagedFileError(message) from None
    if not isinstance(manifest, dict) or manifest.get("format") != f"gamedp {noun}":
        message = f"{path} is not of a {noun} that gamedp has saved. Check the path."
        raise DamagedFileError(message)
    if manifest.get("version") != VERSION:
        message = (
            f"{path} has version {manifest.get('version')!r} of the format, and this gamedp reads "
            f"version {VERSION}. Load it with gamedp {manifest.get('gamedp')}, or solve and save "
            "again."
        )
        raise DamagedFileError(message)
    content = manifest.get("content")
    if not isinstance(content, dict) or text != _manifest_text(
        manifest.get("gamedp", ""), content, noun
    ):
        message = f"{path} is damaged, or was edited: its checksum does not match. {WAY_OUT}."
        raise DamagedFileError(message)
    _check_names(path, content.get("arrays"))
    return {**content, "gamedp": manifest["gamedp"]}


def _check_names(path: Path, arrays: Any) -> None:
    """Refuse file names that gamedp does not create: they might lead out of the folder."""
    is_table = isinstance(arrays, dict) and all(
        isinstance(entry, dict) for entry in arrays.values()
    )
    for entry in arrays.values() if is_table else [{}]:
        name, sha256 = entry.get("file"), entry.get("sha256")
        if not (isinstance(name, str) and isinstance(sha256, str) and OWN_FILE.fullmatch(name)):
            message = f"{path} names {shown(name)}, which is not a file of an array. {WAY_OUT}."
            raise DamagedFileError(message)


def _read_array(path: Path, sha256: str) -> NDArray[Any]:
    """Return an array, after verifying its checksum, mapped into memory if it is large."""
    with open_plain(path) as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            message = f"{path} is damaged: its checksum does not match. {WAY_OUT}."
            raise DamagedFileError(message)
        file.seek(0)
        try:
            size = os.fstat(file.fileno()).st_size
            shape, dtype = _header(file, size)
            if size < MAP_FROM:
                return np.frombuffer(file.read(), dtype).reshape(shape)
            return np.asarray(np.memmap(file, dtype, "r", file.tell(), shape))
        except (ValueError, OverflowError) as error:
            message = f"{path} is not an array of numbers ({error}). {WAY_OUT}."
            raise DamagedFileError(message) from None


def _header(file: BinaryIO, size: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the type in the header of an array's file, if they fit its size.

    Raises
    ------
    ValueError
        If gamedp has not written the file.
    """
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        message = f"it is of version {version}"
        raise ValueError(message)
    try:
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # noqa: BLE001 - numpy's reader, and Python's, raise anything
        message = f"its head cannot be read: {error!r}"
        raise ValueError(message) from None
    is_right = not is_fortran and dtype.kind in "biuf" and all(length >= 0 for length in shape)
    if not is_right or math.prod(shape) * dtype.itemsize != size - file.tell():
        message = f"{size:,} bytes with {dtype} of shape {shape}"
        raise ValueError(message)
    return shape, dtype
