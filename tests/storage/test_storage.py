"""Saving and loading: what comes back, what is noticed, and what an interruption leaves."""

import functools
import importlib
import json
import logging
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import pytest
from manifests import rewrite
from waiting import PATIENCE

import gamedp
from gamedp.errors import DamagedFileError, InvalidParameterError, UnknownNameError
from gamedp.games.matches import Matches, MatchesState, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.model.objectives import Discounted, FiniteHorizon, Reachability, TotalReward
from gamedp.model.validation.forms import ARRAYS
from gamedp.results.solution import Solution
from gamedp.results.status import Guarantee, Statistics, Status
from gamedp.rules.layout import ObjectTable, PackedTable
from gamedp.runtime.registry import GAMES, SOLVERS
from gamedp.storage import folder as folders
from gamedp.storage.kinds import SOLUTION_ARRAYS

OWN_GAMES = ("Words", "Countdown", "Weighted", "Remembering")


@attrs.frozen
class Words:
    """A walk over words, which are not packed into integers."""

    length: int = 3
    letters: str = "ab"

    def initial_state(self):
        return [(0.5, ""), (0.5, self.letters[0])]

    def is_terminal(self, state):
        return len(state) >= self.length

    def actions(self, state):
        return range(len(self.letters))

    def outcomes(self, state, action):
        yield 0.75, state + self.letters[action]
        yield 0.25, state + self.letters[0]

    def payoff(self, state, player):
        return float(state.count(self.letters[-1]))


class Countdown:
    """A class with neither attrs nor much else."""

    def __init__(self, goal):
        self.goal = goal

    def initial_state(self):
        return (self.goal,)

    def is_terminal(self, state):
        return state == (0,)

    def actions(self, state):
        return [1]

    def outcomes(self, state, action):
        return [(1.0, (state[0] - action,))]

    def payoff(self, state, player):
        return 3.0


@attrs.frozen
class Weighted(Words):
    """Rules with a parameter that cannot be written down."""

    weight: object = len

    def payoff(self, state, player):
        return float(self.weight(state))


@attrs.frozen
class ByHand:
    """A solver that is not one, with options."""

    tolerance: float = 0.25
    sides: tuple = ("lower", "upper")
    hook: object = None

    def supports(self, problem):
        return True

    def solve(self, problem, **keywords):
        raise NotImplementedError  # it is only saved and read again, never asked to solve


@pytest.fixture(autouse=True)
def _registered(register):
    register(GAMES, *(f"{__name__}:{name}" for name in OWN_GAMES), "edited_rules:Climb")
    register(SOLVERS, f"{__name__}:ByHand")


def made_up(model, **changes):
    """Put a solution together whose numbers mean nothing."""
    shape = (model.num_states, model.num_players)[: 2 if model.num_players > 2 else 1]
    values = np.random.default_rng(model.num_states).normal(size=shape)
    fields = {
        "model": model,
        "objective": TotalReward(),
        "solver": ByHand(),
        "values": values,
        "lower": values - 0.25,
        "upper": values + 0.25,
        "policy": np.where(model.is_terminal, -1, model.choice_offsets[:-1]),
        "status": Status.SOLVED,
        "guarantee": Guarantee.TWO_SIDED,
        "statistics": Statistics(
            model.num_states, model.num_choices, model.num_transitions, 3, {"solve": 0.1}, 99
        ),
    }
    return Solution(**{**fields, **changes})


def compiled(game):
    return gamedp.compile(game, compile="never")


def walk_to_the_end(num_states=5, num_players=1):
    """Return a model made of arrays: a walk to the last state."""
    steps = np.arange(num_states - 1)
    return gamedp.Model.from_arrays(
        np.append(np.arange(num_states), num_states - 1),
        2 * np.arange(num_states),
        np.column_stack([steps, steps + 1]).ravel(),
        np.full(2 * (num_states - 1), 0.5),
        rewards=np.ones((num_states - 1, num_players)),
        payoffs=np.full((1, num_players), 2.0 * (num_players == 1)),
        num_players=num_players,
    )


def with_arrays(model, **arrays):
    """Return a model with other arrays, which need not belong together."""
    fields = {field.name: getattr(model, field.name) for field in attrs.fields(gamedp.Model)}
    return gamedp.Model.unchecked(**(fields | arrays))


SOLUTIONS = {
    "packed": lambda: gamedp.solve(Matches(), compile="never"),
    "packed, tuples": lambda: gamedp.solve(Nim(heaps=(2, 3)), compile="never"),
    "packed, chance": lambda: gamedp.solve(Wubbel(goal=6), compile="never"),
    "discounted": lambda: gamedp.solve(Words(), Discounted(0.5, optimum="min"), compile="never"),
    "steps": lambda: gamedp.solve(Matches(), FiniteHorizon(3), compile="never"),
    "values at the end": lambda: gamedp.solve(
        walk_to_the_end(), FiniteHorizon(2, final={0: Fraction(1, 3), 3: 0.1})
    ),
    "target": lambda: gamedp.solve(walk_to_the_end(), Reachability([3], [0, 1, 2, 3])),
    "until": lambda: gamedp.solve(walk_to_the_end(), TotalReward("min", until=[2])),
    "head starts": lambda: made_up(walk_to_the_end(), biases=(np.arange(5.0), np.ones(5))),
    "objects": lambda: made_up(compiled(Words(length=4, letters="xyz"))),
    "no attrs": lambda: made_up(compiled(Countdown(5))),
    "arrays": lambda: gamedp.solve(walk_to_the_end()),
    "three players": lambda: made_up(walk_to_the_end(num_players=3)),
    "unproven": lambda: made_up(
        walk_to_the_end(),
        status=Status.UNPROVEN,
        guarantee=Guarantee.NONE,
        solver=ByHand(tolerance=np.float64(1e-3), sides=()),
        lower=np.full(5, -np.inf),
        upper=np.full(5, np.inf),
    ),
}


def same_solutions(one, other):
    """Assert that two solutions are equal, the seconds and states included."""
    for name in (*ARRAYS, *SOLUTION_ARRAYS):
        a, b = (getattr(whole.model if name in ARRAYS else whole, name) for whole in (one, other))
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype == b.dtype
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            assert not b.flags.writeable
            assert type(b) is np.ndarray
    for a, b in zip(one.biases or (), other.biases or (), strict=True):
        assert np.array_equal(a, b)
    for name in ("objective", "solver", "status", "guarantee", "statistics"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("num_players", "constant_sum", "seconds"):
        assert getattr(one.model, name) == getattr(other.model, name)
    assert one.model.digest() == other.model.digest()
    assert type(one.model.states) is type(other.model.states)
    for index in range(one.model.num_states):
        state = one.model.state(index)
        assert other.model.state(index) == state
        assert type(other.model.state(index)) is type(state)
        assert other.model.index(state) == (index, False)


@pytest.mark.parametrize("name", SOLUTIONS)
def test_what_is_saved_comes_back(name, tmp_path):
    solution = SOLUTIONS[name]()
    gamedp.save(solution, tmp_path / "a" / "b")
    same_solutions(solution, gamedp.load(tmp_path / "a" / "b"))
    same_solutions(solution, gamedp.load(str(tmp_path / "a" / "b")))


def test_the_kinds_of_states_that_are_tested():
    tables = [type(make().model.states) for make in SOLUTIONS.values()]
    assert {PackedTable, ObjectTable, type(None)} == set(tables)


def test_it_speaks_the_words_of_the_game(tmp_path):
    solution = SOLUTIONS["packed"]()
    gamedp.save(solution, tmp_path)
    loaded = gamedp.load(tmp_path)
    assert loaded.model.rules.game == Matches()
    assert loaded.value(MatchesState(player=1, left=17)) == 1.0
    assert loaded.best_actions(MatchesState(player=0, left=18)) == [1]
    assert repr(loaded) == repr(solution)
    assert repr(loaded.model) == repr(solution.model)


def test_large_arrays_are_mapped(tmp_path):
    solution = made_up(walk_to_the_end(200_000))
    gamedp.save(solution, tmp_path)
    loaded = gamedp.load(tmp_path)
    assert isinstance(loaded.values.base, np.memmap)
    assert not isinstance(loaded.model.players.base, np.memmap)  # small
    assert np.array_equal(loaded.values, solution.values)
    with pytest.raises(ValueError, match="read-only"):
        loaded.values[0] = 1
    gamedp.save(loaded, tmp_path)  # over the files that it is mapped from
    gamedp.save(made_up(walk_to_the_end(4)), tmp_path)
    assert np.array_equal(loaded.values, solution.values)
    assert gamedp.load(tmp_path).model.num_states == 4


def test_saving_again_changes_no_file(tmp_path):
    solution = SOLUTIONS["packed"]()
    gamedp.save(solution, tmp_path)
    before = {path: path.stat().st_ino for path in tmp_path.glob("*.npy")}
    gamedp.save(solution, tmp_path)
    assert {path: path.stat().st_ino for path in tmp_path.glob("*.npy")} == before


def test_a_solution_replaces_another_and_leaves_strangers_alone(tmp_path):
    (tmp_path / "notes.tmp").write_text("mine")
    (tmp_path / "values.npy").write_text("mine, too")
    gamedp.save(SOLUTIONS["packed"](), tmp_path)
    new = SOLUTIONS["objects"]()
    gamedp.save(new, tmp_path)
    same_solutions(new, gamedp.load(tmp_path))
    names = {path.name for path in tmp_path.iterdir()}
    assert {"notes.tmp", "values.npy", "manifest.json"} <= names
    assert len(names) == 3 + len(ARRAYS) + 4  # no codes, no steps


def test_saving_again_mends_a_damaged_solution(tmp_path):
    solution = SOLUTIONS["packed"]()
    gamedp.save(solution, tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(DamagedFileError):
            gamedp.load(tmp_path)
        gamedp.save(solution, tmp_path)
        same_solutions(solution, gamedp.load(tmp_path))


def test_a_manifest_of_something_else_is_not_overwritten(tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(DamagedFileError, match="is not of a saved solution, and is not"):
        gamedp.save(SOLUTIONS["packed"](), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
    assert (tmp_path / "manifest.json").read_text() == '{"name": "a web page"}'


def test_a_file_is_not_taken_for_a_folder(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(OSError, match=r"a file, not a folder; name another one: .*notes"):
        gamedp.save(SOLUTIONS["objects"](), tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "mine"


def test_there_is_no_pickle(tmp_path, monkeypatch):
    monkeypatch.setattr("pickle.dumps", None)
    monkeypatch.setattr("pickle.dump", None)
    monkeypatch.setattr("pickle.load", None)
    monkeypatch.setattr("pickle.loads", None)
    solution = SOLUTIONS["objects"]()
    gamedp.save(solution, tmp_path)
    same_solutions(solution, gamedp.load(tmp_path))


def test_options_that_cannot_be_written_are_refused_before_anything_is_written(tmp_path):
    solution = made_up(walk_to_the_end(), solver=ByHand(hook=print))
    with pytest.raises(InvalidParameterError, match=r"hook of ByHand\(.*cannot be saved"):
        gamedp.save(solution, tmp_path / "new")
    assert not (tmp_path / "new").exists()


# Damage


@pytest.mark.slow
def test_every_byte_of_the_manifest_counts(tmp_path):
    gamedp.save(SOLUTIONS["objects"](), tmp_path)
    manifest = tmp_path / "manifest.json"
    good = manifest.read_bytes()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        manifest.write_bytes(bad)
        with pytest.raises(DamagedFileError, match=r"manifest\.json"):
            gamedp.load(tmp_path)
    for length in range(0, len(good), 7):
        manifest.write_bytes(good[:length])
        with pytest.raises(DamagedFileError, match=r"manifest\.json is damaged"):
            gamedp.load(tmp_path)


def test_every_part_of_every_array_counts(tmp_path):
    gamedp.save(SOLUTIONS["packed, chance"](), tmp_path)
    files = sorted(tmp_path.glob("*.npy"))
    assert len(files) == len(ARRAYS) + 5
    for path in files:
        good = path.read_bytes()
        for place in {*range(0, len(good), len(good) // 9), 6, 8, 127, 128, len(good) - 1}:
            bad = bytearray(good)
            bad[place] ^= 1 << place % 8
            path.write_bytes(bad)
            with pytest.raises(DamagedFileError) as caught:
                gamedp.load(tmp_path)
            assert f"{path} is damaged: its checksum does not match. Restore" in str(caught.value)
        for bad in (b"", good[:64], good[: len(good) // 2], good[:-1], good + b"\0"):
            path.write_bytes(bad)
            with pytest.raises(DamagedFileError, match="is damaged: its checksum does not match"):
                gamedp.load(tmp_path)
        path.unlink()
        with pytest.raises(DamagedFileError, match=r"\.npy is missing\. Restore the folder from"):
            gamedp.load(tmp_path)
        path.write_bytes(good)
    assert gamedp.load(tmp_path).model.num_players == 2


def test_files_of_another_solution_are_noticed(tmp_path):
    gamedp.save(SOLUTIONS["packed"](), tmp_path / "one")
    gamedp.save(SOLUTIONS["packed, tuples"](), tmp_path / "two")
    one = next((tmp_path / "one").glob("values-*"))
    two = next((tmp_path / "two").glob("values-*"))
    shutil.copy(two, one)
    with pytest.raises(DamagedFileError, match="checksum"):
        gamedp.load(tmp_path / "one")


FOREIGN = {
    "no folder": (
        shutil.rmtree,
        "there is no folder {folder}: no solution was ever completely saved there. Check the path.",
    ),
    "a file": (
        lambda folder: (shutil.rmtree(folder), folder.write_text("{}")),
        "there is no folder {folder}:",
    ),
    "an empty folder": (
        lambda folder: [path.unlink() for path in folder.iterdir()],
        "{folder} has no manifest.json: no solution was ever completely saved there.",
    ),
    "not JSON": (
        lambda folder: (folder / "manifest.json").write_text("values: 7"),
        "{folder}/manifest.json is damaged, or not of a solution: it is not JSON",
    ),
    "not text": (
        lambda folder: (folder / "manifest.json").write_bytes(bytes(range(256))),
        "{folder}/manifest.json is damaged, or not of a solution: it is not JSON",
    ),
    "JSON without end": (
        lambda folder: (folder / "manifest.json").write_text("[" * 200_000),
        "{folder}/manifest.json is damaged, or not of a solution: it is not JSON",
    ),
    "other JSON": (
        lambda folder: (folder / "manifest.json").write_text('{"name": "a web page"}'),
        "{folder}/manifest.json is not of a solution that gamedp has saved. Check the path.",
    ),
    "a list": (
        lambda folder: (folder / "manifest.json").write_text("[1, 2]"),
        "{folder}/manifest.json is not of a solution that gamedp has saved.",
    ),
    "only the beginning": (
        lambda folder: (folder / "manifest.json").write_text(
            '{"format": "gamedp solution", "version": 1}'
        ),
        "{folder}/manifest.json is damaged, or was edited: its checksum does not match.",
    ),
    "another version": (
        lambda folder: (folder / "manifest.json").write_text(
            '{"format": "gamedp solution", "version": 2, "gamedp": "9.9"}'
        ),
        (
            "{folder}/manifest.json has version 2 of the format, and this gamedp reads version 1. "
            "Load it with gamedp 9.9, or solve and save again."
        ),
    ),
    "laid out anew": (
        lambda folder: (folder / "manifest.json").write_text(
            json.dumps(json.loads((folder / "manifest.json").read_text()))
        ),
        "{folder}/manifest.json is damaged, or was edited: its checksum does not match.",
    ),
    "an array is not named": (
        lambda folder: rewrite(folder, lambda content: content["arrays"].pop("lower")),
        "{folder}/manifest.json does not name lower.",
    ),
    "no codes": (
        lambda folder: rewrite(folder, lambda content: content["arrays"].pop("codes")),
        "{folder}/manifest.json does not name codes.",
    ),
    "one file for another": (
        lambda folder: rewrite(
            folder,
            lambda content: content["arrays"].update(players=content["arrays"]["values"]),
        ),
        "holds float64 of shape (19,); players must hold int8 of shape (19,).",
    ),
    "another model": (
        lambda folder: rewrite(folder, lambda content: content["model"].update(constant_sum=1.0)),
        "the arrays of the model in {folder} do not belong together.",
    ),
    "a status of the future": (
        lambda folder: rewrite(folder, lambda content: content.update(status="GUESSED")),
        "and does not fit this version (KeyError('GUESSED')). Use that one, or solve and save",
    ),
    "statistics of the future": (
        lambda folder: rewrite(folder, lambda content: content["statistics"].update(joules=5)),
        "and does not fit this version (TypeError(",
    ),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_foreign_folders_are_refused_in_words(case, tmp_path):
    damage, words = FOREIGN[case]
    folder = tmp_path / "saved"
    gamedp.save(SOLUTIONS["packed"](), folder)
    damage(folder)
    with pytest.raises(DamagedFileError) as caught:
        gamedp.load(folder)
    assert words.format(folder=folder).replace("/", os.sep) in str(caught.value)


@pytest.mark.parametrize("kind", ["dream", ["ordinary"]])
@pytest.mark.parametrize("noun", ["solution", "policy", "certificate"])
def test_kinds_that_nobody_knows_are_refused_in_words(noun, kind, tmp_path):
    folder, solution = tmp_path / "saved", SOLUTIONS["packed"]()
    things = {
        "solution": lambda: solution,
        "policy": lambda: gamedp.Policy.uniform(solution.model),
        "certificate": lambda: gamedp.certify(solution),
    }
    gamedp.save(things[noun](), folder)
    rewrite(folder, lambda content: content.update(kind=kind))
    with pytest.raises(DamagedFileError) as caught:
        gamedp.load(folder)
    assert str(caught.value).startswith(f"{folder} holds a {noun} of the kind {kind!r}, written by")
    assert str(caught.value).endswith(f"Use that one, or make and save the {noun} again.")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"values": np.zeros(4)},
            "holds float64 of shape (4,); values must hold float64 of",
        ),
        (
            {"upper": np.zeros(5, np.float32)},
            "holds float32 of shape (5,); upper must hold float",
        ),
        ({"lower": np.zeros((5, 1))}, "holds float64 of shape (5, 1); lower must hold float64 of"),
        ({"policy": np.zeros(5, np.int32)}, "policy must hold int64 of shape (5,). Restore the"),
        (
            {"step_policies": np.zeros((3, 4), np.uint8)},
            "step_policies must hold uint8 or uint16 or uint32 or uint64 of shape (3, 5).",
        ),
        ({"step_policies": np.zeros((3, 5), np.int8)}, "holds int8 of shape (3, 5); step_policies"),
        (
            {"model": with_arrays(walk_to_the_end(), rewards=np.zeros(7))},
            "holds float64 of shape (7,); rewards must hold float64 of shape (4,).",
        ),
        (
            {"model": with_arrays(walk_to_the_end(), choice_offsets=np.zeros((2, 2), int))},
            "holds int64 of shape (2, 2); choice_offsets must hold int64 of shape (2,).",
        ),
    ],
)
def test_arrays_that_do_not_fit(changes, words, tmp_path):
    gamedp.save(attrs.evolve(made_up(walk_to_the_end()), **changes), tmp_path)
    with pytest.raises(DamagedFileError) as caught:
        gamedp.load(tmp_path)
    assert words in str(caught.value)


@pytest.mark.parametrize("rows", [np.array([None, print]), np.zeros(3)])
def test_objects_and_other_formats_are_not_read(rows, tmp_path):
    gamedp.save(made_up(walk_to_the_end()), tmp_path)
    path = tmp_path / "values-0123456789abcdef.npy"
    if rows.dtype == object:
        np.save(path, np.array([None, {}]), allow_pickle=True)
    else:
        with path.open("wb") as file:
            np.savez(file, rows)
    entry = {"file": path.name, "sha256": folders._sha256(path)}
    rewrite(tmp_path, lambda content: content["arrays"].update(values=entry))
    with pytest.raises(DamagedFileError, match="is not an array of numbers"):
        gamedp.load(tmp_path)


# Interruptions


class Killed(BaseException):
    """Stands for a process that ends without another instruction."""


def interrupt(monkeypatch, name, calls):
    """Let the call of `os.name` after so many others never return."""
    original = getattr(os, name)
    count = iter(range(10**6))

    def interrupted(*arguments, **keywords):
        if next(count) == calls:
            raise Killed
        return original(*arguments, **keywords)

    monkeypatch.setattr(os, name, interrupted)


@pytest.mark.deep
@pytest.mark.parametrize("tidy", [True, False], ids=["error", "kill"])
@pytest.mark.parametrize("name", ["replace", "fsync", "open", "unlink"])
def test_an_interrupted_save_leaves_the_old_or_the_new(name, tidy, tmp_path):
    old, new = SOLUTIONS["packed"](), SOLUTIONS["packed, tuples"]()
    gamedp.save(old, tmp_path)
    outcomes = []
    for calls in range(100):
        with pytest.MonkeyPatch.context() as patch:
            interrupt(patch, name, calls)
            if not tidy:
                patch.setattr(folders, "_remove_leftovers", lambda *_: None)
            try:
                gamedp.save(new, tmp_path)
                finished = True
            except Killed:
                finished = False
        loaded = gamedp.load(tmp_path)
        outcomes.append(loaded.model.num_states == new.model.num_states)
        same_solutions(new if outcomes[-1] else old, loaded)
        if finished:
            break
        gamedp.save(old, tmp_path)
        same_solutions(old, gamedp.load(tmp_path))
    assert finished
    assert outcomes[-1]
    assert outcomes == sorted(outcomes)  # the old one up to some call, then the new one
    gamedp.save(new, tmp_path)
    assert len(list(tmp_path.iterdir())) == len(ARRAYS) + 6  # no leftovers
    if name in {"replace", "fsync"}:
        assert len(outcomes) >= len(ARRAYS)  # equal files are not replaced


def test_an_interrupted_first_save_leaves_no_solution(tmp_path):
    solution = SOLUTIONS["packed"]()
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, "replace", 5)
        with pytest.raises(Killed):
            gamedp.save(solution, tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DamagedFileError, match="no solution was ever completely saved there"):
        gamedp.load(tmp_path)
    gamedp.save(solution, tmp_path)
    same_solutions(solution, gamedp.load(tmp_path))


def test_a_full_disk_is_reported_and_cleaned_up(tmp_path, monkeypatch):
    old = SOLUTIONS["packed"]()
    gamedp.save(old, tmp_path)
    before = sorted(tmp_path.iterdir())

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        gamedp.save(SOLUTIONS["packed, tuples"](), tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    same_solutions(old, gamedp.load(tmp_path))


def test_a_save_that_finishes_while_one_loads(tmp_path, monkeypatch):
    old, new = SOLUTIONS["packed"](), SOLUTIONS["packed, tuples"]()
    gamedp.save(old, tmp_path)
    read_array = folders._read_array
    waiting = [new]

    def read_slowly(path, sha256):
        if waiting:
            gamedp.save(waiting.pop(), tmp_path)
        return read_array(path, sha256)

    monkeypatch.setattr(folders, "_read_array", read_slowly)
    same_solutions(new, gamedp.load(tmp_path))


# The game


def test_the_game_may_be_passed(tmp_path):
    solution = SOLUTIONS["packed"]()
    gamedp.save(solution, tmp_path)
    game = Matches()
    loaded = gamedp.load(tmp_path, game=game)
    assert loaded.model.rules.game is game
    same_solutions(solution, loaded)


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Matches(matches=17), "matches differs. Load it without game=, or solve this game."),
        (Matches(takes=(1, 2), misere=False), "misere, takes differ."),
        (Nim(), "not of Nim(heaps=(3, 5, 7), misere=True): its class differs."),
    ],
)
def test_another_game_is_refused(game, words, tmp_path):
    gamedp.save(SOLUTIONS["packed"](), tmp_path)
    with pytest.raises(InvalidParameterError) as caught:
        gamedp.load(tmp_path, game=game)
    assert words in str(caught.value)
    assert f"is of {Matches()!r}, not of {game!r}" in str(caught.value)


def test_a_class_is_not_a_game(tmp_path):
    gamedp.save(SOLUTIONS["packed"](), tmp_path)
    with pytest.raises(TypeError, match="Matches is a class; pass an instance of it"):
        gamedp.load(tmp_path, game=Matches)


def test_arrays_have_no_game(tmp_path):
    gamedp.save(SOLUTIONS["arrays"](), tmp_path)
    with pytest.raises(InvalidParameterError, match="was made of arrays; leave game=Matches"):
        gamedp.load(tmp_path, game=Matches())


def test_a_parameter_that_cannot_be_written_down(tmp_path):
    solution = made_up(compiled(Weighted()))
    gamedp.save(solution, tmp_path)
    with pytest.raises(UnknownNameError) as caught:
        gamedp.load(tmp_path)
    assert "cannot be made from its fields: some of them cannot be written" in str(caught.value)
    assert f"Pass it: gamedp.load({str(tmp_path)!r}, game=...), or --game" in str(caught.value)
    same_solutions(solution, gamedp.load(tmp_path, game=Weighted()))
    with pytest.raises(DamagedFileError, match="gives another model"):
        gamedp.load(tmp_path, game=Weighted(weight=hash))
    with pytest.raises(InvalidParameterError, match="length differs"):
        gamedp.load(tmp_path, game=Weighted(length=2))


def test_a_game_of_a_function_must_be_passed(tmp_path):
    @attrs.frozen
    class Local(Words):
        pass

    solution = made_up(compiled(Local(length=2)))
    gamedp.save(solution, tmp_path)
    with pytest.raises(UnknownNameError, match=r"Local of module .* is not registered"):
        gamedp.load(tmp_path)
    same_solutions(solution, gamedp.load(tmp_path, game=Local(length=2)))


def test_a_solver_that_is_not_registered_is_told_by_name(tmp_path):
    solution = SOLUTIONS["objects"]()
    gamedp.save(solution, tmp_path)
    rewrite(tmp_path, lambda content: content["solver"].update({"class": "subprocess:Popen"}))
    loaded = gamedp.load(tmp_path)
    assert loaded.solver.name == "subprocess:Popen"
    assert loaded.solver.options["tolerance"] == 0.25
    same_solutions(solution, attrs.evolve(loaded, solver=solution.solver))
    gamedp.save(loaded, tmp_path / "again")
    assert gamedp.load(tmp_path / "again").solver == loaded.solver


# Rules that change, in a module that is edited

RULES = """
from typing import NamedTuple

import attrs
import gamedp

BONUS = 0.0


class State(NamedTuple):
    own: int
    turn: int


@gamedp.helper
def next_turn(turn, faces):
    return (turn + 1) % faces


@attrs.frozen
class Climb:
    goal: int = 40
    faces: int = 3
    STEP = 1
    num_players = 1

    def initial_state(self):
        return State(0, 0)

    def is_terminal(self, state):
        return state.own >= self.goal

    def actions(self, state):
        yield 1
        yield 2

    def outcomes(self, state, action):
        yield 0.5, State(state.own + action * self.STEP, next_turn(state.turn, self.faces))
        yield 0.5, State(state.own + self.STEP, 0)

    def payoff(self, state, player):
        return state.own + BONUS

    def reward(self, state, action, player):
        return -0.5 if state.own == 23 else 0.0
"""

EDITS = {
    "an outcome": ("state.own + action * self.STEP", "state.own + 2 * self.STEP"),
    "a payoff": ("return state.own + BONUS", "return state.own + BONUS + 1"),
    "a reward of one state": ("state.own == 23", "state.own == 24"),
    "a constant": ("BONUS = 0.0", "BONUS = 1.0"),
    "an attribute of the class": ("STEP = 1", "STEP = 2"),
    "a helper": ("(turn + 1) % faces", "(turn + 2) % faces"),
    "the start": ("return State(0, 0)", "return State(1, 0)"),
    "a chance of starting": (
        "return State(0, 0)",
        "return [(0.5, State(0, 0)), (0.5, State(1, 0))]",
    ),
    "the players": (
        "num_players = 1\n",
        """num_players = 2
    constant_sum = 80.0

    def player(self, state):
        return 0
""",
    ),
    "an action": ("yield 2\n", "yield 3\n"),
    "a field's name": ("own: int", "mine: int"),
    "another field": ("    turn: int\n", "    turn: int\n    more: int = 0\n"),
    "the fields' order": (
        "    own: int\n    turn: int\n",
        "    turn: int\n    own: int\n",
    ),
}

HARMLESS = {
    "nothing": ("", ""),
    "a comment": ("BONUS = 0.0", "BONUS = 0.0  # for nothing"),
    "an equal formula": ("state.own + BONUS", "BONUS + state.own"),
    "another default": ("goal: int = 40", "goal: int = 50"),
    "a method more": (
        "    STEP = 1\n",
        "    STEP = 1\n\n    def render(self, s): return 'x'\n",
    ),
}


class Module:
    """A module with rules that can be edited and imported anew."""

    def __init__(self, folder):
        self.name = "edited_rules"
        self.path = folder / f"{self.name}.py"

    def write(self, text):
        self.path.write_text(text)
        sys.modules.pop(self.name, None)
        importlib.invalidate_caches()

    def edit(self, old, new):
        text = self.path.read_text()
        assert old in text
        if old.startswith(("own", "    own")):  # a field is named at each of its uses
            text = text.replace("state.own", "state." + new.split(":")[0].strip())
        self.write(text.replace(old, new) if old else text)

    def game(self, **parameters):
        return importlib.import_module(self.name).Climb(**parameters)


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = Module(tmp_path)
    module.write(RULES)
    yield module
    sys.modules.pop(module.name, None)


@pytest.mark.parametrize("edit", EDITS)
def test_edited_rules_are_noticed(edit, module, tmp_path):
    gamedp.save(made_up(compiled(module.game(goal=40))), tmp_path / "saved")
    module.edit(*EDITS[edit])
    with pytest.raises(DamagedFileError) as caught:
        gamedp.load(tmp_path / "saved")
    assert "the rules of Climb(goal=40, faces=3) have changed since" in str(caught.value)
    assert "Solve and save again, or go back to the rules as they were." in str(caught.value)
    with pytest.raises(DamagedFileError, match="have changed since"):
        gamedp.load(tmp_path / "saved", game=module.game(goal=40))


@pytest.mark.parametrize("edit", HARMLESS)
def test_edits_that_change_nothing_do_no_harm(edit, module, tmp_path, caplog):
    solution = made_up(compiled(module.game(goal=40)))
    gamedp.save(solution, tmp_path / "saved")
    module.edit(*HARMLESS[edit])
    with caplog.at_level(logging.INFO, "gamedp"):
        loaded = gamedp.load(tmp_path / "saved")
    assert np.array_equal(loaded.values, solution.values)
    assert ("every state is compared" in caplog.text) == (edit == "an equal formula")


def test_a_parameter_that_is_gone(module, tmp_path):
    gamedp.save(made_up(compiled(module.game())), tmp_path / "saved")
    module.edit("faces: int = 3", "FACES = 3")
    with pytest.raises(UnknownNameError, match=r"unexpected keyword argument 'faces'"):
        gamedp.load(tmp_path / "saved")


@attrs.frozen
class Remembering(Countdown):
    """Rules that cannot be followed: a method is not a function."""

    goal: int = 5
    player = functools.cache(lambda _game, _state: 0)


def test_rules_that_cannot_be_followed_are_compared_wholly(tmp_path, monkeypatch, caplog):
    solution = made_up(compiled(Remembering()))
    gamedp.save(solution, tmp_path)
    with caplog.at_level(logging.INFO, "gamedp"):
        same_solutions(solution, gamedp.load(tmp_path))
    assert "every state is compared" in caplog.text
    monkeypatch.setattr(Remembering, "payoff", lambda self, state, player: 4.0)
    with pytest.raises(DamagedFileError, match="have changed since"):
        gamedp.load(tmp_path)


def test_edited_rules_of_states_that_are_not_saved(tmp_path, monkeypatch):
    gamedp.save(SOLUTIONS["objects"](), tmp_path)
    monkeypatch.setattr(Words, "payoff", lambda self, state, player: 1.0 * len(state))
    with pytest.raises(DamagedFileError, match="for these states are not saved, gives another"):
        gamedp.load(tmp_path)
    monkeypatch.setattr(Words, "payoff", lambda self, state, player: float("nan"))
    with pytest.raises(DamagedFileError, match=r"have changed since .*: payoff\('"):
        gamedp.load(tmp_path)


# Other processes


def run_script(script, *arguments, **environment):
    source = Path(gamedp.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(source), **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


LOAD = """
import logging, sys
logging.basicConfig(level=logging.INFO)
import gamedp
solution = gamedp.load(sys.argv[1])
from gamedp.games.matches import MatchesState
print(solution.value(MatchesState(player=1, left=17)), solution.best_action(MatchesState(0, 18)))
"""


def test_a_new_process_loads_and_answers(tmp_path):
    gamedp.save(SOLUTIONS["packed"](), tmp_path)
    for seed in ("0", "1"):
        answer, log = run_script(LOAD, tmp_path, PYTHONHASHSEED=seed)
        assert answer.split() == ["1.0", "1"]
        assert "compared" not in log  # the same rules look the same in every process


SAVE = """
import sys, gamedp
exec(open(sys.argv[1]).read())
gamedp.save(gamedp.solve(Climb(goal=5), compile="never"), sys.argv[2])
"""


def test_a_game_of_another_script_must_be_passed(module, tmp_path):
    run_script(SAVE, module.path, tmp_path / "saved")
    with pytest.raises(UnknownNameError) as caught:
        gamedp.load(tmp_path / "saved")
    assert "Climb of module __main__ is not registered" in str(caught.value)
    assert f"Pass it: gamedp.load({str(tmp_path / 'saved')!r}, game=...), or --game" in str(
        caught.value
    )
    solution = gamedp.load(tmp_path / "saved", game=module.game(goal=5))
    start = module.game(goal=5).initial_state()
    assert 5 < solution.value(start) < 6
    assert type(solution.model.state(0)) is type(start)


KILL = """
import os, sys, gamedp
from gamedp.games.matches import Nim
solution = gamedp.solve(Nim(heaps=(2, 3)), compile="never")
replace, left = os.replace, [int(sys.argv[2])]
def killed(*arguments):
    left[0] -= 1
    if left[0] < 0:
        os._exit(0)
    replace(*arguments)
os.replace = killed
gamedp.save(solution, sys.argv[1])
"""


def test_a_process_that_is_killed(tmp_path):
    old = SOLUTIONS["packed"]()
    gamedp.save(old, tmp_path)
    run_script(KILL, tmp_path, 9)
    same_solutions(old, gamedp.load(tmp_path))
    assert len(list(tmp_path.iterdir())) > len(ARRAYS) + 6  # leftovers
    gamedp.save(old, tmp_path)
    assert len(list(tmp_path.iterdir())) == len(ARRAYS) + 6
