"""The files of what is saved: arrays named by their hashes, and the manifest written last."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import DamagedFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

__all__ = ["MANIFEST", "SOLUTION", "WAY_OUT", "read_folder", "sync", "write_beside", "write_folder"]

SOLUTION = "solution"
"""What a folder holds, if nothing else is said."""

VERSION = 1
MANIFEST = "manifest.json"

READERS = {
    SOLUTION: "It is a solution: gamedp.load reads it.",
    "certificate": "It is a certificate: gamedp.load_certificate reads it.",
}
"""What reads each kind of folder, for those who take one for the other."""

MAP_FROM = 1 << 20
"""Bytes from which on a file is mapped into memory instead of read."""

OWN_FILE = re.compile(r"[a-z_]+-[0-9a-f]{16}\.npy|[a-z_.]+\.gamedp-tmp")
"""What the files other than the manifest are called; others in the folder are not touched."""

WAY_OUT = "Restore the folder from a copy, or solve and save again"


def write_folder(
    folder: Path,
    content: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    noun: str = SOLUTION,
) -> None:
    """Write a solution, so that an interruption leaves what was there before.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    content : dict
        What the manifest says besides the names of the files, in what JSON has.
    arrays : mapping of name to array
    noun : str
        What it is, if it is no solution.

    Raises
    ------
    DamagedFileError
        If the folder has a manifest of something else, which is not overwritten.
    OSError
        If the files cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _refuse_to_overwrite(folder / MANIFEST, noun)
    try:
        files = {name: _write_array(folder, name, array) for name, array in arrays.items()}
        sync(folder)
        text = _manifest_text(_version_of_gamedp(), {**content, "arrays": files}, noun)
        beside, _ = write_beside(folder, MANIFEST, lambda file: file.write(text.encode()))
        beside.replace(folder / MANIFEST)
        sync(folder)
    finally:
        _remove_leftovers(folder, noun)


def read_folder(
    folder: Path, noun: str = SOLUTION
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the content of the manifest and all arrays, every byte of which is verified."""
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


def _version_of_gamedp() -> str:
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
    """Raise if there is a manifest of something else. A damaged or empty one may be replaced."""
    with contextlib.suppress(FileNotFoundError):
        beginning = manifest.read_bytes()[:100]
        if beginning and f"gamedp {noun}".encode() not in beginning:
            message = (
                f"{manifest} is not of a saved {noun}, and is not overwritten. Choose another "
                "folder, or move the file away."
            )
            raise DamagedFileError(message)


class _Hashing:
    """Passes what is written on to a file, and hashes it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self._file.write(data)


def write_beside(folder: Path, name: str, write: Callable[[Any], object]) -> tuple[Path, str]:
    """Write a file under a temporary name, until it is on the disk; return it and its SHA-256."""
    path = folder / f"{name}.gamedp-tmp"
    with path.open("wb") as file:
        hashing = _Hashing(file)
        write(hashing)
        file.flush()
        os.fsync(file.fileno())
    return path, hashing.sha256.hexdigest()


def _write_array(folder: Path, name: str, array: NDArray[Any]) -> dict[str, str]:
    """Write an array to a file of its own; return what the manifest says of it."""
    rows = np.ascontiguousarray(array)
    beside, sha256 = write_beside(
        folder,
        name,
        lambda file: np.lib.format.write_array(file, rows, allow_pickle=False),
    )
    path = folder / f"{name}-{sha256[:16]}.npy"
    if path.exists() and _sha256(path) == sha256:
        beside.unlink()  # a file that is mapped cannot be replaced on every system
    else:
        beside.replace(path)
    return {"file": path.name, "sha256": sha256}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(folder: Path) -> None:
    """Wait until the names in the folder are on the disk, where the system offers that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_leftovers(folder: Path, noun: str) -> None:
    """Remove what replaced solutions and interrupted saves have left, as far as that is known."""
    with contextlib.suppress(OSError):
        named = set()
        if (folder / MANIFEST).exists():
            named = {entry["file"] for entry in _read_manifest(folder, noun)["arrays"].values()}
        for path in folder.iterdir():
            if OWN_FILE.fullmatch(path.name) and path.name not in named:
                with contextlib.suppress(OSError):
                    path.unlink()


def _read_manifest(folder: Path, noun: str) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        text = path.read_text("ascii")
        manifest = json.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        what = f"{folder} has no {MANIFEST}" if folder.is_dir() else f"there is no folder {folder}"
        message = f"{what}: no {noun} was ever completely saved there. Check the path."
        raise DamagedFileError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{path} is damaged, or not of a {noun}: it is not JSON ({error}). {WAY_OUT}."
        raise DamagedFileError(message) from None
    if not isinstance(manifest, dict) or manifest.get("format") != f"gamedp {noun}":
        other = str(manifest.get("format", "")) if isinstance(manifest, dict) else ""
        way_out = next((way for kind, way in READERS.items() if other == f"gamedp {kind}"), "")
        message = f"{path} is not of a {noun} that gamedp has saved. {way_out or 'Check the path.'}"
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
    return {**content, "gamedp": manifest["gamedp"]}


def _read_array(path: Path, sha256: str) -> NDArray[Any]:
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            message = f"{path} is damaged: its checksum does not match. {WAY_OUT}."
            raise DamagedFileError(message)
        file.seek(0)
        try:
            if path.stat().st_size < MAP_FROM:
                read: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
                return read
            return np.asarray(np.lib.format.open_memmap(path, mode="r"))
        except ValueError as error:
            message = f"{path} is not an array of numbers ({error}). {WAY_OUT}."
            raise DamagedFileError(message) from None
