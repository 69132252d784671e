"""Tables of staged games on disk, and solutions that are kept: intact and right, or not used."""

import functools
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import attrs
import numba
import numpy as np
import pytest
from manifests import rewrite
from staged_games import Date, Journey, Roll, Scores, StagedWubbel, Walk
from waiting import PATIENCE

import gamedp
from gamedp.errors import DamagedFileError, InvalidParameterError, KeptSolutionWarning
from gamedp.games.kniffel import KEEPING, Kniffel, Sheet, Turn
from gamedp.games.matches import Matches, MatchesState, Nim
from gamedp.runtime import registry
from gamedp.storage import folder as folders, kept, staged
from gamedp.storage.kept import LoadedStatistics
from gamedp.testing.models import GamblersRuin

SMALL = {"dice": 2, "faces": 2, "throws": 2, "threshold": 3}

GAMES = {
    "kniffel": Kniffel(**SMALL),
    "yahtzee": Kniffel("yahtzee", **SMALL),
    "two opponents, a random start": Journey(days=3),
    "changing places": StagedWubbel(5),
    "no cycles": Journey(days=1, again=False),
}

PLACES = {
    "kniffel": (Sheet(1, 5, 0), Turn(KEEPING, 1, (1, 1), 0, 0, 0)),
    "yahtzee": (Sheet(0, 0, 0), Turn(KEEPING, 1, (2, 0), 0, 0, 0)),
    "two opponents, a random start": (Date(2, 1), Walk(2, 0, 0, rested=False)),
    "changing places": (Scores(1, 2, 3), Roll(2, over=False)),
    "no cycles": (Date(1, 0), Walk(2, 0, 0, rested=False)),
}


@pytest.fixture(autouse=True)
def _registered(register):
    paths = ("staged_games:Journey", "staged_games:StagedWubbel", "edited_stages:Journey")
    register(registry.GAMES, *paths)


def solve_plainly(game, *arguments, **options):
    return gamedp.solve(game, *arguments, compile="never", **options)


def same_tables(one, other):
    """Assert that two solutions say the same, to the last digit."""
    for name in ("values", "errors"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b, equal_nan=True)
        assert not b.flags.writeable
    for name in ("objective", "solver", "status", "guarantee"):
        assert getattr(one, name) == getattr(other, name)
    assert one.model.rules == other.model.rules
    assert one.model.stage.digest() == other.model.stage.digest()
    assert repr(one) == repr(other)
    assert repr(one.model) == repr(other.model)


def fail(*arguments, **keywords):
    raise AssertionError


@pytest.mark.parametrize("name", GAMES)
def test_what_is_saved_comes_back_and_answers_at_once(name, tmp_path, monkeypatch):
    solution = solve_plainly(GAMES[name])
    gamedp.save(solution, tmp_path / "a" / "b")
    for home in (staged, "gamedp.storage.models", "gamedp.compiler.build"):
        what = "compile_staged" if home is staged else "compile_game"
        place = (home, what) if home is staged else (f"{home}.{what}",)
        monkeypatch.setattr(*place, fail)
    loaded = gamedp.load(str(tmp_path / "a" / "b"))
    same_tables(solution, loaded)
    assert loaded.statistics == solution.statistics
    assert loaded.model.seconds == solution.model.seconds
    context, state = PLACES[name]
    for player in range(solution.model.num_players):
        for where in (context, None):
            assert loaded.value(where, player) == solution.value(where, player)
            assert loaded.bounds(where, player) == solution.bounds(where, player)
    assert loaded.action_values(context, state) == solution.action_values(context, state)
    assert loaded.best_actions(context, state) == solution.best_actions(context, state)
    assert np.array_equal(loaded.lower, solution.lower, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kniffel", "changing places"])
def test_a_loaded_model_is_solved_again(name, tmp_path):
    solution = solve_plainly(GAMES[name])
    gamedp.save(solution, tmp_path)
    loaded = gamedp.load(tmp_path)
    same_tables(solution, gamedp.solve(loaded.model))
    codes = np.flatnonzero(np.isfinite(solution.values))[:5]
    ours, theirs = (one.model.sweeper.follow(codes) for one in (solution, loaded))
    assert np.array_equal(ours.following, theirs.following)


def test_large_tables_are_mapped_and_errors_stored_once(tmp_path):
    solution = solve_plainly(Kniffel(**SMALL))
    copies = {name: np.resize(getattr(solution, name), 2**18) for name in ("values", "errors")}
    large = attrs.evolve(solution, **copies)
    gamedp.save(large, tmp_path)
    (errors,) = tmp_path.glob("error_numbers-*.npy")
    assert errors.stat().st_size < 2**18 + 200
    (values,) = tmp_path.glob("values-*.npy")
    digest = folders._sha256(values)
    array = folders._read_array(values, digest)
    assert isinstance(array.base, np.memmap)


def test_a_table_that_is_not_finished_comes_back(tmp_path):
    solver = gamedp.stages.StageInduction(max_seconds=1e-9)
    with pytest.raises(gamedp.NotSolvedError) as caught:
        solve_plainly(StagedWubbel(5), solver=solver)
    solution = caught.value.solution
    assert solution.bounds() == (-np.inf, np.inf)
    gamedp.save(solution, tmp_path)
    same_tables(solution, gamedp.load(tmp_path))


def test_a_staged_solution_replaces_an_ordinary_one_and_back(tmp_path):
    ordinary, table = solve_plainly(Matches()), solve_plainly(Journey(days=1))
    for solution in (ordinary, table, ordinary):
        gamedp.save(solution, tmp_path)
        assert repr(gamedp.load(tmp_path)) == repr(solution)
    names = {path.name.split("-")[0] for path in tmp_path.iterdir()}
    assert "error_levels" not in names


def test_the_game_may_be_passed_and_must_be_the_same(tmp_path):
    solution = solve_plainly(Journey(days=2))
    gamedp.save(solution, tmp_path)
    game = Journey(days=2)
    assert gamedp.load(tmp_path, game=game).model.rules.game is game
    with pytest.raises(InvalidParameterError, match=r"is of Journey\(.*days differs"):
        gamedp.load(tmp_path, game=Journey(days=3))
    with pytest.raises(InvalidParameterError, match="its class differs"):
        gamedp.load(tmp_path, game=Matches())
    with pytest.raises(TypeError, match="pass an instance"):
        gamedp.load(tmp_path, game=Journey)


class Remembering(Journey):
    """Rules that cannot be followed: a method is not a function."""

    is_terminal = functools.cache(lambda _game, context: context.left == 0)


class Static(Journey):
    """A method that is no function of its class, called in a generator inside another."""

    def reward(self, context, end, player):
        return sum(self.price(place) for place in range(end.place)) * (1 - 2 * player)

    @staticmethod
    def price(place):
        return 0.5 * place


@pytest.mark.parametrize("kind", [Remembering, Static])
def test_rules_that_cannot_be_followed_are_not_saved(kind, tmp_path):
    solution = solve_plainly(kind(days=1))
    with pytest.raises(InvalidParameterError, match="changes of them could not be noticed"):
        gamedp.save(solution, tmp_path / "table")
    assert not (tmp_path / "table").exists()


# Damage


def truncated(path):
    path.write_bytes(path.read_bytes()[:-9])


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 4
    path.write_bytes(data)


def emptied(path):
    path.write_bytes(path.read_bytes()[:0])


DAMAGES = {"truncated": truncated, "flipped": flipped, "emptied": emptied, "deleted": Path.unlink}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_to_any_file_is_noticed(damage, tmp_path):
    solution = solve_plainly(Journey(days=2))
    gamedp.save(solution, tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 16  # the model's arrays and codes, values, two for errors, the manifest
    for path in files:
        DAMAGES[damage](path)
        with pytest.raises(DamagedFileError, match=path.name.replace(".", r"\.")):
            gamedp.load(tmp_path)
        gamedp.save(solution, tmp_path)
        same_tables(solution, gamedp.load(tmp_path))


def change_array(folder, name, change):
    """Put another array in the place of one."""
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = manifest["content"]["arrays"][name]
    array = np.load(folder / entry["file"])
    entry = folders._write_array(folder, name, change(array))
    rewrite(folder, lambda content: content["arrays"].update({name: entry}))


def raised(values):
    values = values.copy()
    values[np.isfinite(values)] += 0.5
    return values


FORGERIES = {
    "another kind": (
        lambda folder: rewrite(folder, lambda content: content.update(kind="dream")),
        "a solution of the kind 'dream'",
    ),
    "no errors": (
        lambda folder: rewrite(folder, lambda content: content["arrays"].pop("error_levels")),
        "does not name error_levels",
    ),
    "another box": (
        lambda folder: rewrite(
            folder, lambda content: content["contexts"]["ranges"].update(left=[0, 3])
        ),
        r"must hold float64 of shape \(8,\)",
    ),
    "too few levels": (
        lambda folder: change_array(folder, "error_levels", lambda levels: levels[:1]),
        "do not belong together",
    ),
    "other values": (
        lambda folder: change_array(folder, "values", raised),
        r"have changed since .*Date\(.* has the value",
    ),
    "another stage": (
        lambda folder: change_array(folder, "probabilities", lambda numbers: numbers[::-1]),
        "do not belong together",
    ),
    "other rules": (
        lambda folder: rewrite(folder, lambda content: content["game"].update(rules="0" * 64)),
        "its methods, or what they call, were edited, or this is another Python",
    ),
    "another start": (
        lambda folder: rewrite(folder, lambda content: content["contexts"].update(initial=[])),
        "initial of the contexts is new",
    ),
    "another sum": (
        lambda folder: rewrite(folder, lambda content: content["contexts"].update(constant_sum=1)),
        "constant_sum of the contexts is new",
    ),
    "another layout": (
        lambda folder: rewrite(folder, lambda content: content["contexts"].update(layout="int")),
        "and was int",
    ),
}


@pytest.mark.parametrize(("forge", "words"), FORGERIES.values(), ids=FORGERIES)
def test_what_does_not_belong_together_is_noticed(forge, words, tmp_path):
    gamedp.save(solve_plainly(Journey(days=2)), tmp_path)
    gamedp.load(tmp_path)
    forge(tmp_path)
    with pytest.raises(DamagedFileError, match=words):
        gamedp.load(tmp_path)


# Kept solutions


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return the folder of kept solutions, in a cache folder of its own."""
    monkeypatch.setattr(kept, "cache_directory", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "solutions"


KINDS = {"staged": Journey(days=2), "ordinary": Matches(matches=9), "tuples": Nim(heaps=(2, 3))}


def keep(game, *arguments, **options):
    """Solve a game and keep the solution; return it and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = solve_plainly(game, *arguments, keep=True, **options)
    assert all(warning.category is KeptSolutionWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return solution, [str(warning.message) for warning in caught]


def was_read(solution):
    return isinstance(solution.statistics, LoadedStatistics)


@pytest.mark.parametrize("kind", KINDS)
def test_a_game_is_solved_once(kind, home):
    game = KINDS[kind]
    first, said = keep(game)
    assert (was_read(first), said) == (False, [])
    (folder,) = home.iterdir()
    assert folder.name.startswith(type(game).__name__)
    again, said = keep(game)
    assert (was_read(again), said) == (True, [])
    assert repr(again) == repr(first)
    assert np.array_equal(again.values, first.values, equal_nan=True)
    assert again.statistics.folder == folder
    seconds = dict(again.statistics.seconds)
    assert seconds.pop("load") > 0
    assert set(seconds.values()) == {0.0}
    assert again.statistics.states == first.statistics.states
    assert not was_read(solve_plainly(game))
    assert repr(gamedp.load(folder)) == repr(first)
    gamedp.save(again, home / "copy")
    assert repr(gamedp.load(home / "copy")) == repr(first)


OTHER_PROBLEMS = {
    "parameters": lambda: keep(Journey(days=3)),
    "objective": lambda: keep(Journey(days=2), gamedp.TotalReward(optimum="min")),
    "tolerance": lambda: keep(Journey(days=2), tolerance=1e-9),
    "solver": lambda: keep(Journey(days=2), solver=gamedp.stages.StageInduction(threads=1)),
    "class": lambda: keep(Hurry(days=2)),
}


class Hurry(Journey):
    def reward(self, context, end, player):
        return -1.0 + 2.0 * player


@pytest.mark.parametrize("problem", OTHER_PROBLEMS)
def test_another_problem_has_a_folder_of_its_own(problem, home):
    keep(Journey(days=2))
    for read in (False, True):
        solution, said = OTHER_PROBLEMS[problem]()
        assert (was_read(solution), said) == (read, [])
    assert len(list(home.iterdir())) == 2


@attrs.frozen
class Boxed(Matches):
    """Has more states than those that are reached."""

    def box(self):
        return {"player": (0, 1), "left": (0, self.matches + 3)}


def test_all_states_are_another_problem(home, monkeypatch):
    game = Boxed(matches=9)
    first, _ = keep(game)
    whole, _ = keep(game, states="all")
    assert whole.model.num_states > first.model.num_states
    assert was_read(keep(game)[0])
    assert was_read(keep(game, states="all")[0])
    monkeypatch.setattr(Boxed, "box", lambda self: {"player": (0, 1), "left": (0, 30)})
    assert was_read(keep(game)[0])  # to which the box is nothing
    larger, said = keep(game, states="all")
    assert larger.model.num_states > whole.model.num_states
    assert "have changed since" in said[0]


def test_all_states_of_a_box_that_cannot_be_compared_are_not_kept(home, monkeypatch):
    monkeypatch.setattr(Boxed, "box", functools.cache(Boxed.box))
    solution, said = keep(Boxed(matches=9), states="all")
    assert "cannot be compared" in said[0]
    assert not was_read(solution)
    assert not home.exists()


def test_a_solver_may_be_named(home):
    keep(Journey(days=2), solver="stage-induction")
    assert was_read(keep(Journey(days=2), solver=gamedp.stages.StageInduction())[0])


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["staged", "ordinary"])
def test_a_damaged_one_is_noticed_said_and_replaced(kind, damage, home):
    game = KINDS[kind]
    truth, _ = keep(game)
    (folder,) = home.iterdir()
    names = sorted(path.name for path in folder.iterdir())
    for name in names:
        DAMAGES[damage](folder / name)
        solution, said = keep(game)
        assert not was_read(solution)
        assert repr(solution) == repr(truth)
        (message,) = said
        assert f"the solution kept in {folder} is of no use and is replaced: " in message
        assert name in message
        assert [path.name for path in home.iterdir()] == [folder.name]
        assert was_read(keep(game)[0])


def put_file(folder):
    shutil.rmtree(folder)
    folder.write_text("not a folder")


def put_nothing(folder):
    for path in folder.iterdir():
        path.unlink()


PLACEHOLDERS = {"a file": put_file, "an empty folder": put_nothing}


@pytest.mark.parametrize("what", PLACEHOLDERS)
def test_something_else_in_its_place_is_replaced(what, home):
    keep(Journey(days=2))
    (folder,) = home.iterdir()
    PLACEHOLDERS[what](folder)
    solution, said = keep(Journey(days=2))
    assert not was_read(solution)
    assert "no solution was ever completely saved there" in said[0]
    assert was_read(keep(Journey(days=2))[0])
    assert list(home.iterdir()) == [folder]


def test_folders_that_were_swapped_are_noticed(home):
    article, yahtzee = Kniffel(**SMALL), Kniffel("yahtzee", **SMALL)
    truths = {game: keep(game)[0] for game in (article, yahtzee)}
    one, two = home.iterdir()
    one.rename(home / "between")
    two.rename(one)
    (home / "between").rename(two)
    for game, truth in truths.items():
        solution, said = keep(game)
        assert not was_read(solution)
        assert "it is of another problem" in said[0]
        same_tables(truth, solution)
        assert was_read(keep(game)[0])


@pytest.mark.parametrize("mark", ["problem", "rules", "gamedp", None])
def test_marks_that_differ_are_noticed(mark, home):
    keep(Journey(days=2))
    (folder,) = home.iterdir()
    rewrite(folder, lambda content: content["kept"].update({mark: "0"}) if mark else None)
    if mark is None:
        rewrite(folder, lambda content: content.pop("kept"))
    solution, said = keep(Journey(days=2))
    assert not was_read(solution)
    words = {
        "problem": "it is of another problem",
        "rules": "the rules have changed since",
        "gamedp": "it was computed by another gamedp, of version",
        None: "it is of another problem",
    }
    assert words[mark] in said[0]
    assert was_read(keep(Journey(days=2))[0])


def test_a_file_of_another_table_is_noticed(home):
    keep(Journey(days=2))
    keep(Journey(days=2), gamedp.TotalReward(optimum="min"))
    one, two = home.iterdir()
    for path in sorted(one.glob("*.npy")):
        name = path.name.rpartition("-")[0]
        (other,) = two.glob(f"{name}-*.npy")
        if other.name == path.name:
            continue
        shutil.copy(other, path)
        said = keep(Journey(days=2))[1] + keep(Journey(days=2), gamedp.TotalReward("min"))[1]
        assert len(said) == 1
        assert path.name in said[0]


HELPERS = Path(__file__).parents[1] / "helpers"
RULES = (HELPERS / "staged_games.py").read_text()

EDITS = {
    "the payoff": ("return (3.0 - 2.0 * context.luck)", "return (4.0 - 2.0 * context.luck)"),
    "an end": ("context.luck == 0 or not end.rested", "not end.rested"),
    "what follows": ("int(end.place > 2)", "int(end.place > 1)"),
    "a reward": ("(end.place - 0.5 * context.luck)", "(end.place - 0.25 * context.luck)"),
    "a reward of the stage": ("0.5 - action * 0.25", "0.5 - action * 0.5"),
    "an outcome of the stage": ("Walk(state.place + way,", "Walk(state.place + 2 * way,"),
    "the start": ("(0.25, Date(self.days, 0))", "(0.25, Date(self.days, 1))"),
    "the box": ('"left": (0, self.days)', '"left": (0, self.days + 1)'),
    "the stage": ("        return Day()\n", "        return Longer()\n"),
    "a field": ("    left: int\n    luck: int", "    left: int\n    luck: int\n    more: int = 0"),
}

LONGER = """

@attrs.frozen
class Longer(Day):
    def initial_state(self):
        return Walk(1, 0, 0, False)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return a function that writes and imports a module of rules."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text):
        (tmp_path / "edited_stages.py").write_text(text + LONGER)
        sys.modules.pop("edited_stages", None)
        importlib.invalidate_caches()
        return importlib.import_module("edited_stages")

    yield write
    sys.modules.pop("edited_stages", None)


@pytest.mark.parametrize("edit", EDITS)
def test_edited_rules_are_noticed(edit, module, home, tmp_path):
    old, new = EDITS[edit]
    assert RULES.count(old) == 1
    solution, _ = keep(module(RULES).Journey(days=2))
    gamedp.save(solution, tmp_path / "table")
    edited = module(RULES.replace(old, new))
    with pytest.raises(DamagedFileError, match="have changed since"):
        gamedp.load(tmp_path / "table")
    if edit == "a field":
        return  # such a game is no game
    found, said = keep(edited.Journey(days=2))
    assert not was_read(found)
    assert "have changed since" in said[0]
    truth = solve_plainly(edited.Journey(days=2))
    assert np.array_equal(truth.values, found.values, equal_nan=True)
    assert truth.value() == found.value()
    assert len(list(home.iterdir())) == 1


def test_edits_that_change_nothing_do_no_harm(module, home):
    keep(module(RULES).Journey(days=2))
    edited = module("# A comment.\n" + RULES.replace("days: int = 3", "days: int = 4"))
    solution, said = keep(edited.Journey(days=2))
    assert (was_read(solution), said) == (True, [])


def test_targets_are_told_apart(home):
    game = GamblersRuin(goal=5, start=2)
    masks = np.eye(6, dtype=bool)
    for target in (masks[2], masks[3], gamedp.compile(game, compile="never").state(3)):
        target_ = [target] if isinstance(target, tuple) else target
        for read in (False, True):
            solution, said = keep(game, gamedp.Reachability(target_))
            assert (was_read(solution), said) == (read, [])
            fresh = solve_plainly(game, gamedp.Reachability(target_))
            assert np.array_equal(solution.values, fresh.values)
            assert solution.objective == fresh.objective
    assert len(list(home.iterdir())) == 3


@attrs.frozen
class Weighted(Journey):
    weight: object = len


@attrs.frozen
class Curious(gamedp.stages.StageInduction):
    hook: object = print


UNKEPT = {
    "a parameter": (lambda: keep(Weighted(days=1)), "its parameter weight is a builtin_function"),
    "a method": (lambda: keep(Remembering(days=1)), "call something other than plain functions"),
    "an option": (lambda: keep(Journey(days=1), solver=Curious()), r"hook of Curious("),
    "a target": (
        lambda: keep(GamblersRuin(), gamedp.Reachability(lambda state: state == (3,))),
        "target of the objective is a function",
    ),
}


@pytest.mark.parametrize(("solve", "words"), UNKEPT.values(), ids=UNKEPT)
def test_what_cannot_be_told_from_others_is_not_kept(solve, words, home):
    for _ in range(2):
        solution, said = solve()
        assert not was_read(solution)
        assert "is not kept: " in said[0]
        assert words in said[0]
    assert not home.exists()


def test_a_model_is_not_kept(home):
    with pytest.raises(InvalidParameterError, match="keep=True is for games"):
        gamedp.solve(gamedp.compile(Matches(), compile="never"), keep=True)


def test_what_is_not_solved_is_not_kept(home):
    with pytest.raises(gamedp.NotSolvedError):
        solve_plainly(Journey(days=2), solver=gamedp.stages.StageInduction(max_sweeps=1), keep=True)
    assert not home.exists()


def test_a_folder_that_cannot_be_written_is_said(home):
    home.parent.write_text("in the way")
    solution, said = keep(Journey(days=2))
    assert repr(solution) == repr(solve_plainly(Journey(days=2)))
    (message,) = said
    assert f"cannot be kept in {home}" in message
    assert home.parent.read_text() == "in the way"


def full(descriptor):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("error", [full, KeyboardInterrupt], ids=["full disk", "Ctrl-C"])
def test_an_interrupted_save_leaves_nothing(error, home, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full if error is full else interrupted)
        if error is full:
            assert "No space left" in keep(Journey(days=2))[1][0]
        else:
            with pytest.raises(KeyboardInterrupt):
                keep(Journey(days=2))
    assert list(home.iterdir()) == []
    assert not was_read(keep(Journey(days=2))[0])


def interrupted(descriptor):
    raise KeyboardInterrupt


def test_leftovers_of_killed_processes_are_removed_after_a_day(home):
    keep(Journey(days=2))
    (folder,) = home.iterdir()
    shutil.rmtree(folder)
    old, new = (home / f"{folder.name}.{name}.gamedp-tmp" for name in ("old", "new"))
    for path in (old, new):
        path.mkdir()
        (path / "values").write_text("half")
    os.utime(old, (0, 0))
    keep(Journey(days=2))
    assert sorted(home.iterdir()) == sorted([folder, new])


# Other processes

SOLVE = """
import os, sys, warnings
warnings.simplefilter("error")
import gamedp
from gamedp.games.kniffel import Kniffel
from staged_games import Journey
calls = [int(sys.argv[2])]

def counted(function):
    def call(*arguments, **keywords):
        calls[0] -= 1
        if calls[0] == 0:
            print("here", flush=True)
            os.kill(os.getpid(), 9)
        return function(*arguments, **keywords)
    return call

for name in ("fsync", "rename", "replace", "mkdir"):
    setattr(os, name, counted(getattr(os, name)))
warnings.simplefilter(sys.argv[3])
solution = eval(sys.argv[1])
folder = getattr(solution.statistics, "folder", None)
print(repr(solution), folder is not None)
"""


def start_solving(expression, cache, kill_at=0, warns="error"):
    source = Path(gamedp.__file__).parents[1]
    paths = os.pathsep.join([str(source), str(HELPERS)])
    return subprocess.Popen(
        [sys.executable, "-c", SOLVE, expression, str(kill_at), warns],
        env={**os.environ, "PYTHONPATH": paths, "GAMEDP_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


KEEP = "gamedp.solve(Journey(days=2), compile='never', keep=True)"


@pytest.mark.deep
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("kill_at", [1, 4, 17, 33, 35, 36, 37])
@pytest.mark.parametrize("before", ["nothing", "damaged"])
def test_a_process_that_is_killed_while_it_keeps(before, kill_at, home, tmp_path):
    if before == "damaged":
        keep(Journey(days=2))
        truncated(next(next(home.iterdir()).glob("values-*")))
    process = start_solving(KEEP, tmp_path / "cache", kill_at, "ignore")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL, err
    assert out == "here\n"
    solution, said = keep(Journey(days=2))
    assert repr(solution) == repr(solve_plainly(Journey(days=2)))
    assert len(said) <= (before == "damaged")  # nothing, the damaged one, or the new one
    assert was_read(keep(Journey(days=2))[0])


@pytest.mark.deep
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("kill_at", [2, 9, 18, 33, 34, 35])
def test_a_process_that_is_killed_while_it_saves(kill_at, tmp_path):
    if numba.config.DISABLE_JIT and kill_at > 18:
        # Plain Python has done saving by then: there is nothing left to interrupt.
        pytest.skip("without kernels to keep there are fewer steps")
    old, new = solve_plainly(Journey(days=1)), solve_plainly(Journey(days=2))
    gamedp.save(old, tmp_path)
    expression = f"gamedp.save(gamedp.solve(Journey(days=2), compile='never'), {str(tmp_path)!r})"
    process = start_solving(expression, tmp_path / "cache", kill_at)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL, err
    assert repr(gamedp.load(tmp_path)) in {repr(old), repr(new)}
    gamedp.save(old, tmp_path)
    same_tables(old, gamedp.load(tmp_path))
    assert len(list(tmp_path.iterdir())) == 16  # no leftovers


@pytest.mark.deep
def test_processes_at_once_do_not_meet(home, tmp_path):
    truth = solve_plainly(Journey(days=2))
    processes = [start_solving(KEEP, tmp_path / "cache") for _ in range(4)]
    for process in processes:
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        assert out.startswith(repr(truth))
    (folder,) = home.iterdir()
    assert folder.suffix != ".gamedp-tmp"
    solution, said = keep(Journey(days=2))
    assert (was_read(solution), said) == (True, [])
    process = start_solving(KEEP, tmp_path / "cache")
    assert process.communicate(timeout=PATIENCE)[0] == f"{truth!r} True\n"


def test_one_that_comes_second_leaves_the_first(home, monkeypatch):
    save, others = kept.save, [True]

    def save_slowly(*arguments):
        if others.pop():
            others.append(False)
            assert not was_read(keep(Journey(days=2))[0])
            others.clear()
        save(*arguments)
        others.append(False)

    monkeypatch.setattr(kept, "save", save_slowly)
    solution, said = keep(Journey(days=2))
    assert (was_read(solution), said) == (False, [])
    assert len(list(home.iterdir())) == 1
    assert was_read(keep(Journey(days=2))[0])


def test_a_rename_that_comes_too_late_is_no_failure(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "values").write_text(name)
    kept._rename_unless_there(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "two" / "values").read_text() == "two"
    with pytest.raises(OSError, match="none"):
        kept._rename_unless_there(tmp_path / "none", tmp_path / "three")


def test_threads_share_a_table(home):
    keep(Journey(days=2))
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(was_read(solve_plainly(Journey(days=2), keep=True)))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_ordinary_games_answer_in_their_own_words(home):
    keep(Matches(matches=9))
    solution, _ = keep(Matches(matches=9))
    assert solution.best_actions(MatchesState(0, 6)) == [1]
