"""Solutions on disk: a folder of arrays, and a manifest that vouches for every byte of them.

::

    solution/
        manifest.json
        values-5f8c0b1d2e3a4956.npy
        ...

The name of an array's file has the hash of its content, so that no file is ever overwritten with
something else, and the manifest is replaced last, in one step: whenever a save is interrupted, the
folder holds the old solution or the new one. Nothing is pickled. What the manifest cannot hold, the
rules of the game, is imported from where it is defined, and compared with what was saved.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import sys
import typing
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.compiler import compile_game
from gamedp.compiler.digest import dissect
from gamedp.compiler.expand import start
from gamedp.compiler.spot_check import SPOT_CHECKS, differences
from gamedp.errors import (
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    UnknownNameError,
)
from gamedp.game import REQUIRED, Rules
from gamedp.model import ARRAYS, Model
from gamedp.objectives import Objective
from gamedp.plain import decode, decode_object, encode, encode_object, is_unwritable
from gamedp.solution import Guarantee, Solution, Statistics, Status
from gamedp.states import Codec, Layout, PackedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import BinaryIO

    from numpy.typing import NDArray

    from gamedp.states import StateTable

__all__ = ["load", "save_solution"]

FORMAT = "gamedp solution"
VERSION = 1
MANIFEST = "manifest.json"

MAP_FROM = 1 << 20
"""Bytes from which on a file is mapped into memory instead of read."""

OWN_FILE = re.compile(r"[a-z_]+-[0-9a-f]{16}\.npy|[a-z_.]+\.gamedp-tmp")
"""What the files other than the manifest are called; others in the folder are not touched."""

WAY_OUT = "Restore the folder from a copy, or solve and save again"

SOLUTION_ARRAYS = ("values", "lower", "upper", "policy", "step_policies")

DTYPES = {
    "successors": (np.int32, np.int64),
    "probabilities": (np.float64,),
    "rewards": (np.float64,),
    "players": (np.int8,),
    "payoffs": (np.float64,),
    "action_labels": (np.int8, np.int16, np.int32, np.int64),
    "initial_probabilities": (np.float64,),
    "values": (np.float64,),
    "lower": (np.float64,),
    "upper": (np.float64,),
    "step_policies": (np.uint8, np.uint16, np.uint32, np.uint64),
}
"""The types that an array may have; all others are int64."""

logger = logging.getLogger("gamedp")


def save_solution(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Save a solution and its model as a folder; see :meth:`gamedp.Solution.save`.

    Parameters
    ----------
    solution : Solution
    path : path-like
        The folder, made if it does not exist. A solution that it holds is replaced. One process at
        a time may save to it; any number may read it meanwhile.

    Raises
    ------
    DamagedFileError
        If the folder has a manifest of something else, which is not overwritten.
    InvalidParameterError
        If the solver has an option that cannot be written down.
    OSError
        If the files cannot be written; the folder then holds what it held before.
    """
    folder = Path(path)
    content = _description(solution)
    arrays = {name: getattr(solution.model, name) for name in ARRAYS}
    arrays |= {name: getattr(solution, name) for name in SOLUTION_ARRAYS}
    if isinstance(solution.model.states, PackedTable):
        arrays["codes"] = solution.model.states.codes
    folder.mkdir(parents=True, exist_ok=True)
    _refuse_to_overwrite(folder / MANIFEST)
    try:
        content["arrays"] = {
            name: _write_array(folder, name, array)
            for name, array in arrays.items()
            if array is not None
        }
        _sync(folder)
        text = _manifest_text(_version_of_gamedp(), content)
        beside, _ = _write_beside(folder, MANIFEST, lambda file: file.write(text.encode()))
        beside.replace(folder / MANIFEST)
        _sync(folder)
    finally:
        _remove_leftovers(folder)


def load(path: str | os.PathLike[str], game: Any = None) -> Solution:
    """Load a solution that :meth:`gamedp.Solution.save` saved.

    Every byte is verified. Large arrays are mapped into memory and not read a second time. The
    class of the game is imported from the module that it was in, and its rules are compared with
    those that were saved, wholly if they look different and in places otherwise. Only open folders
    from people whose code you would run: importing a module runs it.

    Parameters
    ----------
    path : path-like
        The folder.
    game : optional
        The game, if its class cannot be imported, as when it was defined in another script. It must
        be the one that was solved.

    Returns
    -------
    Solution

    Raises
    ------
    DamagedFileError
        If the folder is missing, damaged, of another version or no solution, or if the rules of
        the game have changed since.
    UnknownNameError
        If the class of the game or of the solver cannot be found.
    InvalidParameterError
        If `game` is not the game that was solved.

    Examples
    --------
    >>> import gamedp, tempfile
    >>> from gamedp.games.matches import Matches, MatchesState
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gamedp.solve(Matches(), compile="never").save(folder)
    ...     solution = gamedp.load(folder)
    >>> solution.value(MatchesState(player=0, left=17))
    -1.0
    """
    folder = Path(path)
    content, arrays = _read(folder)
    _check_arrays(folder, arrays, content)
    model = _model(folder, content, arrays, game)
    if model.digest() != content["model"]["digest"]:
        message = f"the arrays of the model in {folder} do not belong together. {WAY_OUT}."
        raise DamagedFileError(message)
    if model.rules is not None:
        _check_rules(folder, model, content["game"]["rules"])
    try:
        return Solution(
            model=model,
            objective=decode_object(content["objective"], typing.get_args(Objective).__contains__),
            solver=decode_object(content["solver"], _is_solver),
            status=Status[content["status"]],
            guarantee=Guarantee[content["guarantee"]],
            statistics=Statistics(
                **{name: decode(value) for name, value in content["statistics"].items()}
            ),
            values=arrays["values"],
            lower=arrays["lower"],
            upper=arrays["upper"],
            policy=arrays["policy"],
            step_policies=arrays.get("step_policies"),
        )
    except UnknownNameError as error:
        message = f"the solution in {folder} needs a class that cannot be had: {error}"
        raise UnknownNameError(message) from error
    except (KeyError, TypeError, ValueError) as error:
        message = (
            f"{folder / MANIFEST} was written by gamedp {content['gamedp']} and does not fit this "
            f"version ({error!r}). Use that one, or solve and save again."
        )
        raise DamagedFileError(message) from error


def _description(solution: Solution) -> dict[str, Any]:
    """Return all of a solution but its arrays, in what JSON has."""
    model = solution.model
    solver = encode_object(solution.solver)
    for name, value in solver["fields"].items():
        if is_unwritable(value):
            message = (
                f"{name} of {solution.solver!r} is a {value['unwritable']}, which cannot be saved. "
                "Solvers have options of numbers, strings and tuples of them."
            )
            raise InvalidParameterError(message)
    statistics = encode_object(solution.statistics)["fields"]
    return {
        "objective": encode_object(solution.objective),
        "solver": solver,
        "status": solution.status.name,
        "guarantee": solution.guarantee.name,
        "statistics": statistics,
        "game": None if model.rules is None else _encode_game(model.rules.game),
        "model": {
            "num_players": int(model.num_players),
            "constant_sum": float(model.constant_sum),
            "seconds": encode(dict(model.seconds)),
            "digest": model.digest(),
        },
        "states": _encode_states(model.states),
    }


# Files


def _version_of_gamedp() -> str:
    try:
        return metadata.version("gamedp")
    except metadata.PackageNotFoundError:
        return "unknown"  # run from a source tree


def _manifest_text(version_of_gamedp: str, content: Any) -> str:
    """Return the manifest, with a checksum over the rest of it at the end."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "gamedp": version_of_gamedp,
        "content": content,
    }
    manifest["sha256"] = hashlib.sha256(json.dumps(manifest).encode()).hexdigest()
    return json.dumps(manifest, indent=1) + "\n"


def _refuse_to_overwrite(manifest: Path) -> None:
    """Raise if there is a manifest of something else. A damaged one of ours may be replaced."""
    with contextlib.suppress(FileNotFoundError):
        if FORMAT.encode() not in manifest.read_bytes()[:100]:
            message = (
                f"{manifest} is not of a saved solution, and is not overwritten. Choose another "
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


def _write_beside(folder: Path, name: str, write: Callable[[Any], object]) -> tuple[Path, str]:
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
    beside, sha256 = _write_beside(
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


def _sync(folder: Path) -> None:
    """Wait until the names in the folder are on the disk, where the system offers that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_leftovers(folder: Path) -> None:
    """Remove what replaced solutions and interrupted saves have left, as far as that is known."""
    with contextlib.suppress(OSError):
        named = set()
        if (folder / MANIFEST).exists():
            named = {entry["file"] for entry in _read_manifest(folder)["arrays"].values()}
        for path in folder.iterdir():
            if OWN_FILE.fullmatch(path.name) and path.name not in named:
                with contextlib.suppress(OSError):
                    path.unlink()


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the content of the manifest and all arrays, every byte of which is verified."""
    while True:
        content = _read_manifest(folder)
        try:
            return content, {
                name: _read_array(folder / entry["file"], entry["sha256"])
                for name, entry in content["arrays"].items()
            }
        except FileNotFoundError as error:
            # Unless a save has just replaced the solution, it is incomplete.
            if _read_manifest(folder)["arrays"] == content["arrays"]:
                message = f"{error.filename} is missing. {WAY_OUT}."
                raise DamagedFileError(message) from None


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        text = path.read_text("ascii")
        manifest = json.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        what = f"{folder} has no {MANIFEST}" if folder.is_dir() else f"there is no folder {folder}"
        message = f"{what}: no solution was ever completely saved there. Check the path."
        raise DamagedFileError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{path} is damaged, or not of a solution: it is not JSON ({error}). {WAY_OUT}."
        raise DamagedFileError(message) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        message = f"{path} is not of a solution that gamedp has saved. Check the path."
        raise DamagedFileError(message)
    if manifest.get("version") != VERSION:
        message = (
            f"{path} has version {manifest.get('version')!r} of the format, and this gamedp reads "
            f"version {VERSION}. Load it with gamedp {manifest.get('gamedp')}, or solve and save "
            "again."
        )
        raise DamagedFileError(message)
    content = manifest.get("content")
    if not isinstance(content, dict) or text != _manifest_text(manifest.get("gamedp", ""), content):
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


def _check_arrays(
    folder: Path, arrays: Mapping[str, NDArray[Any]], content: dict[str, Any]
) -> None:
    """Check that there are all arrays, and of shapes and types that go together."""
    shapes = _shapes(arrays, content)
    missing = sorted(shapes.keys() - arrays.keys() - {"step_policies"})
    if missing:
        message = f"{folder / MANIFEST} does not name {', '.join(missing)}. {WAY_OUT}."
        raise DamagedFileError(message)
    for name, array in arrays.items():
        types = DTYPES.get(name, (np.int64,))
        if array.dtype not in types or array.shape != shapes.get(name):
            message = (
                f"{folder / content['arrays'][name]['file']} holds {array.dtype} of shape "
                f"{array.shape}; {name} must hold {' or '.join(t.__name__ for t in types)} of "
                f"shape {shapes.get(name)}. {WAY_OUT}."
            )
            raise DamagedFileError(message)


def _shapes(
    arrays: Mapping[str, NDArray[Any]], content: dict[str, Any]
) -> dict[str, tuple[int, ...]]:
    """Return the shape that each array must have, given how long some of them are."""

    def length(name: str) -> int:
        return len(arrays[name]) if name in arrays and arrays[name].ndim else 0

    states = max(0, length("choice_offsets") - 1)
    choices = max(0, length("transition_offsets") - 1)
    transitions, ends = length("successors"), length("terminals")
    num_players = content["model"]["num_players"]
    columns = (num_players,) if num_players > 2 else ()
    shapes: dict[str, tuple[int, ...]] = {
        "choice_offsets": (states + 1,),
        "transition_offsets": (choices + 1,),
        "successors": (transitions,),
        "probabilities": (transitions,),
        "rewards": (choices, *columns),
        "players": (states,),
        "terminals": (ends,),
        "payoffs": (ends, *columns),
        "action_labels": (choices,),
        "initial_states": (length("initial_states"),),
        "initial_probabilities": (length("initial_states"),),
        "values": (states, *columns),
        "lower": (states, *columns),
        "upper": (states, *columns),
        "policy": (states,),
        "step_policies": (length("step_policies"), states),
    }
    if content["states"]["kind"] == "packed":
        shapes["codes"] = (states, content["states"]["num_words"])
    return shapes


# The model, its states and its rules


def _model(
    folder: Path, content: dict[str, Any], arrays: Mapping[str, NDArray[Any]], game: Any
) -> Model:
    rules = _rules(folder, content["game"], game)
    states: StateTable | None = None
    if rules is not None and content["states"]["kind"] == "packed":
        states = _packed_table(folder, rules, content["states"], arrays["codes"])
    elif rules is not None:
        states = _recompiled_states(folder, rules, content["model"]["digest"])
    saved = content["model"]
    return Model(
        **{name: arrays[name] for name in ARRAYS},
        num_players=saved["num_players"],
        constant_sum=saved["constant_sum"],
        states=states,
        rules=rules,
        seconds=decode(saved["seconds"]),
    )


def _encode_states(states: StateTable | None) -> dict[str, Any]:
    """Describe how states are packed. Those that are not cannot be kept: they may be anything."""
    if states is None:
        return {"kind": "numbers"}
    if not isinstance(states, PackedTable):
        return {"kind": "objects"}
    codec = states.codec
    return {
        "kind": "packed",
        "layout": _encode_layout(states.layout),
        "low": codec.low.tolist(),
        "high": codec.high.tolist(),
        "stride": codec.stride.tolist(),
        "word": codec.word.tolist(),
        "num_words": codec.num_words,
        "size": codec.size,
    }


def _encode_layout(layout: Layout) -> Any:
    if layout.is_leaf:
        return layout.kind.__name__
    parts = [_encode_layout(part) for part in layout.parts]
    names = getattr(layout.kind, "_fields", None)
    if names is None:
        return parts
    return {"name": layout.kind.__name__, "fields": dict(zip(names, parts, strict=True))}


def _packed_table(
    folder: Path, rules: Rules, saved: dict[str, Any], codes: NDArray[np.int64]
) -> PackedTable:
    """Return the table of states, which are built of the classes that the rules use now."""
    layout = Layout.of(start(rules)[0][1])
    if layout is None or _encode_layout(layout) != saved["layout"]:
        now = None if layout is None else _encode_layout(layout)
        message = _changed(folder, rules, f"a state is now {now}, and was {saved['layout']}")
        raise DamagedFileError(message)
    low, high, stride, word = (
        np.array(saved[name], np.int64) for name in ("low", "high", "stride", "word")
    )
    codec = Codec(low, high, stride, word, saved["num_words"], saved["size"])
    return PackedTable(layout, codec, codes)


def _recompiled_states(folder: Path, rules: Rules, digest: str) -> StateTable | None:
    """Return states that could not be saved, found anew by the rules."""
    try:
        model: Model = compile_game(rules.game, compile="never")
    except InvalidModelError as error:
        raise DamagedFileError(_changed(folder, rules, str(error))) from error
    if model.digest() != digest:
        message = _changed(
            folder, rules, "exploring them, for these states are not saved, gives another model"
        )
        raise DamagedFileError(message)
    return model.states


def _rules(folder: Path, saved: dict[str, Any] | None, game: Any) -> Rules | None:
    """Return the rules of the game that was solved, or raise if they cannot be had."""
    if saved is None:
        if game is not None:
            message = f"the model in {folder} was made of arrays; leave game={game!r} out."
            raise InvalidParameterError(message)
        return None
    if game is not None:
        rules = Rules(game)
        _check_game(folder, saved, game)
        return rules
    try:
        return Rules(decode_object(saved, _is_game))
    except UnknownNameError as error:
        message = (
            f"the game that is solved in {folder} cannot be had: {error} Pass it: "
            f"gamedp.load({str(folder)!r}, game=...)."
        )
        raise UnknownNameError(message) from error


def _check_game(folder: Path, saved: dict[str, Any], game: Any) -> None:
    """Raise unless `game` has the name and the parameters of the game that was solved."""
    given = encode_object(game)
    name = saved["class"].rpartition(":")[2].rpartition(".")[2]
    different = sorted(
        key
        for key in saved["fields"].keys() | given["fields"].keys()
        if json.dumps(saved["fields"].get(key)) != json.dumps(given["fields"].get(key))
    )
    if name != type(game).__name__:
        different = ["its class"]
    if different:
        message = (
            f"the solution in {folder} is of {saved['name']}, not of {game!r}: "
            f"{', '.join(different)} differ{'s' if len(different) == 1 else ''}. Load it without "
            "game=, or solve this game."
        )
        raise InvalidParameterError(message)


def _encode_game(game: Any) -> dict[str, Any]:
    return {**encode_object(game), "name": repr(game), "rules": _rules_digest(game)}


def _rules_digest(game: Any) -> str | None:
    """Return a digest of what the rules say, or None if that cannot be followed to the end."""
    try:
        anatomy = dissect(game)
        values = [[name, encode(getattr(game, name))] for name in anatomy.fields]
    except (AttributeError, TypeError, ValueError):
        return None
    # Byte code differs from one Python to the next.
    text = json.dumps([sys.implementation.name, sys.version_info[:2], anatomy.digest, values])
    return hashlib.sha256(text.encode()).hexdigest()


def _check_rules(folder: Path, model: Model, saved_digest: str | None) -> None:
    """Raise unless the rules still say what the model says."""
    rules = typing.cast("Rules", model.rules)
    if (rules.num_players, rules.constant_sum) != (model.num_players, model.constant_sum):
        message = _changed(folder, rules, "num_players or constant_sum has another value")
        raise DamagedFileError(message)
    begin = {(state, swapped): probability for probability, state, swapped in start(rules)}
    saved = zip(model.initial_states.tolist(), model.initial_probabilities.tolist(), strict=True)
    if begin != {(model.state(state), chance < 0): abs(chance) for state, chance in saved}:
        raise DamagedFileError(_changed(folder, rules, "the game starts elsewhere"))
    count = min(SPOT_CHECKS, model.num_states)
    places: Iterable[int] = np.linspace(0, model.num_states - 1, count).astype(int).tolist()
    if saved_digest is None or _rules_digest(rules.game) != saved_digest:
        logger.info("the rules of %r may have changed: every state is compared", rules.game)
        places = range(model.num_states)
    for index in places:
        difference = differences(rules, model, index)
        if difference:
            raise DamagedFileError(_changed(folder, rules, difference))


def _changed(folder: Path, rules: Rules, how: str) -> str:
    return (
        f"the rules of {rules.game!r} have changed since {folder} was saved: {how}. Solve and save "
        "again, or go back to the rules as they were."
    )


def _is_game(kind: type) -> bool:
    return all(callable(getattr(kind, name, None)) for name in REQUIRED)


def _is_solver(kind: type) -> bool:
    return callable(getattr(kind, "solve", None)) and callable(getattr(kind, "supports", None))
