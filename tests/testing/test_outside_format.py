"""A format of another package: found by the ending of a file's name, held to what it promises."""

import importlib
import json
import sys

import pytest

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.testing import ConformanceError, check_format

FORMAT = """
import json

import numpy as np

import gamedp
from gamedp.adapters import FileFormat, Parts
from gamedp.errors import DamagedFileError

WHOLE = ("choice_offsets", "transition_offsets", "successors")
ARRAYS = dict.fromkeys(WHOLE, int) | {"probabilities": float}


def read(path, max_bytes):
    try:
        found = json.loads(path.read_text())
        arrays = {name: np.array(found[name], kind) for name, kind in ARRAYS.items()}
        rows = found["rewards"].items()
        rewards = {name: {"choices": np.array(row, float)} for name, row in rows}
        return Parts(path=path, **arrays, rewards=rewards, initial=np.array(found["initial"], int))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedFileError(f"{path}: {error}") from None


def files(parts):
    if parts.num_players > 1:
        raise gamedp.InvalidModelError("it has one player.")
    content = {name: getattr(parts, name).tolist() for name in (*ARRAYS, "initial")}
    content["rewards"] = {name: kinds["choices"].tolist() for name, kinds in parts.rewards.items()}
    return {parts.path: lambda file: file.write(json.dumps(content).encode())}


JSON = FileFormat(read=read, files=files)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install it, as far as Python can tell."""
    (tmp_path / "json_format.py").write_text(FORMAT, encoding="utf-8")
    folder = tmp_path / "json_format-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: json-format\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(
        "[gamedp.formats]\njson = json_format:JSON\nlists = json_format:ARRAYS\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("json_format")
    sys.modules.pop("json_format", None)


ROADS = {
    "choice_offsets": [0, 2, 3, 3],
    "transition_offsets": [0, 1, 2, 3],
    "successors": [1, 2, 2],
    "probabilities": [1, 1, 1],
    "rewards": {"length": [1, 5, 3]},
    "initial": [0],
}


@pytest.mark.parametrize("name", ["drn", "tra", "umb"])
def test_our_own_formats(name):
    report = check_format(name)
    assert "a walk" in report.written
    assert ("two opponents" in report.refused) == (name != "umb")


def test_a_format_from_outside_is_one_of_all(package, run, tmp_path):
    path = tmp_path / "roads.json"
    path.write_text(json.dumps(ROADS), encoding="utf-8")
    loaded = gamedp.read_model(path)
    assert gamedp.solve(loaded.model, gamedp.TotalReward("min")).value() == 4
    status, out, _ = run("solve", str(path), "--optimum", "min")
    assert status == 0
    assert "value       4.0" in out
    assert gamedp.read_model(path.rename(tmp_path / "roads"), format="json").rewards.keys() == {
        "length"
    }
    assert check_format("json").damaged == 50
    with pytest.raises(InvalidParameterError, match="json_format:ARRAYS must be a FileFormat"):
        gamedp.read_model(path, format="lists")
    with pytest.raises(
        InvalidParameterError,
        match="there are drn, jani, json, lists, nm, pm, prism, smg, tra, umb",
    ):
        gamedp.read_model(path, format="xml")


def forgets_rewards(format_):
    def read(path, max_bytes):
        parts = format_.read(path, max_bytes)
        changed = {name: {"choices": 0 * kinds["choices"]} for name, kinds in parts.rewards.items()}
        return type(parts)(
            **{name: getattr(parts, name) for name in (*ARRAYS, "path", "initial")}, rewards=changed
        )

    return {"read": read}


ARRAYS = ("choice_offsets", "transition_offsets", "successors", "probabilities")


def counts_its_files(format_):
    seen = []

    def files(parts):
        seen.append(parts)
        (write,) = format_.files(parts).values()
        return {parts.path: lambda file: (write(file), file.write(b" " * len(seen)))}

    return {"files": files}


def lets_errors_through(format_):
    return {
        "read": lambda path, max_bytes: format_.read(
            path, max_bytes + 0 * len(path.read_text("ascii"))
        )
    }


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (forgets_rewards, "one sure step: models come back as they were: the value is "),
        (counts_its_files, "the same model gives the same bytes: the second time"),
        (lets_errors_through, "refused in words: copy [0-9]+ raises UnicodeDecodeError"),
        (
            lambda _: {"files": None},
            "models come back as they were: it writes no model; give `files`",
        ),
    ],
)
def test_wrong_formats_are_found(package, monkeypatch, wrong, words):
    fields = {"read": package.JSON.read, "files": package.JSON.files} | wrong(package.JSON)
    monkeypatch.setattr(package, "JSON", gamedp.adapters.FileFormat(**fields))
    with pytest.raises(ConformanceError, match=words):
        check_format("json")


def test_a_format_that_is_only_read(package, monkeypatch, tmp_path):
    monkeypatch.setattr(package, "JSON", gamedp.adapters.FileFormat(read=package.JSON.read))
    path = tmp_path / "roads.json"
    path.write_text(json.dumps(ROADS), encoding="utf-8")
    report = check_format("json", [path])
    assert (report.written, report.damaged) == ((), 50)
    with pytest.raises(InvalidParameterError, match="can be read, but not written"):
        gamedp.write_model(path, gamedp.read_model(path))
