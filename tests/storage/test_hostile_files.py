"""Files from strangers: they make nothing run, read nothing else, and do not fill the memory."""

import concurrent.futures
import contextlib
import copy
import functools
import gzip
import hashlib
import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import threading
from fractions import Fraction

import attrs
import numpy as np
import pytest
from depth import first_of
from waiting import PATIENCE

import gamedp
from gamedp.adapters import archive
from gamedp.errors import (
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    UnknownNameError,
)
from gamedp.games.kniffel import Kniffel, load_record
from gamedp.games.matches import Matches, Nim
from gamedp.play.pairing import Book
from gamedp.runtime.files import locked, open_plain, write_whole
from gamedp.storage import folder as folders
from gamedp.testing.models import GamblersRuin
from gamedp.testing.solver_checks import small_problems


def forge(folder, change, noun="solution"):
    """Change a manifest as a stranger would, with the checksum that belongs to it."""
    manifest = json.loads((folder / folders.MANIFEST).read_text())
    change(manifest["content"])
    text = folders._manifest_text(manifest["gamedp"], manifest["content"], noun)
    (folder / folders.MANIFEST).write_text(text)


@pytest.fixture
def solved(tmp_path):
    """A saved solution of a model of arrays, in a folder."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 1, 3], [1, 0, 2], [1.0, 0.5, 0.5], rewards=[1.0, 1.0], payoffs=[0.0]
    )
    gamedp.save(gamedp.solve(model), tmp_path / "solved")
    return tmp_path / "solved"


POPEN = {"class": "subprocess:Popen", "fields": {"args": ["touch", "trace"]}}


class TestClasses:
    """What a file names is made only if it is registered."""

    @pytest.fixture(autouse=True)
    def _elsewhere(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "planted.py").write_text("open('trace', 'w').close()\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        yield
        assert not (tmp_path / "trace").exists()
        assert "planted" not in sys.modules

    @pytest.mark.parametrize("named", ["subprocess:Popen", "planted:Game", "os:system", "a", ":"])
    def test_games_that_were_played(self, named, tmp_path):
        game = {**POPEN, "class": named}
        head = {"format": "gamedp games", "version": 1, "game": game}
        (tmp_path / "games.jsonl").write_text(json.dumps(head) + "\n")
        with pytest.raises(UnknownNameError, match="is not registered"):
            gamedp.play.load_games(tmp_path / "games.jsonl")

    @pytest.mark.parametrize("game", [None, [], 3, {}, {"class": 3}, {"class": "x:y"}])
    def test_games_without_a_game(self, game, tmp_path):
        head = {"format": "gamedp games", "version": 1, "game": game}
        (tmp_path / "games.jsonl").write_text(json.dumps(head) + "\n")
        with pytest.raises((DamagedFileError, UnknownNameError)):
            gamedp.play.load_games(tmp_path / "games.jsonl")

    def test_the_start_of_a_game_that_was_played(self, tmp_path):
        game = {"class": "gamedp.games.matches:Matches", "fields": {}}
        game["fields"] = {"matches": 18, "takes": [1, 2, 3], "misere": True}
        lines = [
            {"format": "gamedp games", "version": 1, "game": game},
            {"start": POPEN, "actions": [], "outcomes": [], "payoffs": None},
        ]
        (tmp_path / "games.jsonl").write_text("\n".join(map(json.dumps, lines)))
        with pytest.raises(DamagedFileError, match="is not registered"):
            gamedp.play.load_games(tmp_path / "games.jsonl")

    @pytest.mark.parametrize("part", ["objective", "solver", "game"])
    @pytest.mark.parametrize("named", ["subprocess:Popen", "planted:Game"])
    def test_solutions(self, part, named, tmp_path):
        gamedp.save(gamedp.solve(Matches(), compile="never"), tmp_path / "saved")
        forge(tmp_path / "saved", lambda content: content[part].update(POPEN, **{"class": named}))
        if part == "solver":
            assert gamedp.load(tmp_path / "saved").solver.name == named
            return
        with pytest.raises(gamedp.GamedpError, match="is not registered"):
            gamedp.load(tmp_path / "saved")

    @pytest.mark.parametrize("named", ["subprocess:Popen", "planted:Game"])
    def test_policies(self, named, tmp_path):
        model = gamedp.compile(Matches(), compile="never")
        gamedp.save(gamedp.Policy.uniform(model), tmp_path / "saved")
        change = dict(POPEN, **{"class": named})
        forge(tmp_path / "saved", lambda content: content["game"].update(change), noun="policy")
        with pytest.raises(gamedp.GamedpError, match="is not registered"):
            gamedp.load(tmp_path / "saved")

    def test_statistics(self, solved):
        forge(solved, lambda content: content["statistics"].update(seconds=POPEN))
        with pytest.raises(DamagedFileError, match="is not registered"):
            gamedp.load(solved)

    @pytest.mark.parametrize("seconds", [7, None, {"solve": "long"}])
    def test_statistics_that_are_no_numbers(self, solved, seconds):
        forge(solved, lambda content: content["statistics"].update(seconds=seconds))
        with pytest.raises(DamagedFileError, match="does not fit this version"):
            gamedp.load(solved)

    def test_certificates(self, tmp_path):
        gamedp.save(gamedp.certify(gamedp.solve(Matches(), compile="never")), tmp_path / "proof")
        forge(
            tmp_path / "proof",
            lambda content: content["objective"].update(POPEN),
            noun="certificate",
        )
        with pytest.raises(DamagedFileError, match="is not registered"):
            gamedp.load(tmp_path / "proof")

    def test_wrappers_of_a_strangers_game(self, tmp_path):
        gamedp.save(gamedp.solve(Matches(), compile="never"), tmp_path / "saved")
        wrapped = {"class": "gamedp.rules.game:Flattened", "fields": {"game": POPEN}}
        forge(tmp_path / "saved", lambda content: content["game"].update(wrapped))
        with pytest.raises(UnknownNameError, match="Popen of module subprocess is not registered"):
            gamedp.load(tmp_path / "saved")


class TestManifests:
    """A manifest speaks of plain files in its own folder, and no others."""

    @pytest.mark.parametrize(
        "name",
        [
            "../secret.npy",
            "/etc/passwd",
            "values.npy",
            "..",
            "",
            7,
            None,
            "values-0123456789abcdef.npy/../../secret.npy",
            "values-0123456789abcdef.npy\n",
        ],
    )
    def test_names_that_lead_elsewhere(self, name, solved):
        np.save(solved.parent / "secret.npy", np.arange(5.0))
        forge(solved, lambda content: content["arrays"]["values"].update(file=name))
        with pytest.raises(DamagedFileError, match="which is not a file of an array"):
            gamedp.load(solved)

    @pytest.mark.parametrize("arrays", [None, 3, [], ["values"], {"values": 3}, {"values": None}])
    def test_lists_of_files_that_are_none(self, arrays, solved):
        forge(solved, lambda content: content.update(arrays=arrays))
        with pytest.raises(DamagedFileError):
            gamedp.load(solved)

    @pytest.mark.parametrize("name", ["values", "manifest"])
    def test_links_are_not_followed(self, name, solved, tmp_path):
        path = next(solved.glob(f"{name}*"))
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(DamagedFileError, match="only plain files are read"):
            gamedp.load(solved)

    @pytest.mark.parametrize("name", ["values", "manifest"])
    def test_nobody_waits_for_a_pipe(self, name, solved, pipe):
        path = next(solved.glob(f"{name}*"))
        path.unlink()
        pipe(path)
        with pytest.raises(DamagedFileError, match="only plain files are read"):
            gamedp.load(solved)

    def test_a_manifest_without_end(self, solved, monkeypatch):
        monkeypatch.setattr(folders, "LARGEST_MANIFEST", 100)
        with pytest.raises(DamagedFileError, match="more than the 100 bytes"):
            gamedp.load(solved)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="holds 100 at most"):
            gamedp.save(gamedp.solve(Matches(), compile="never"), solved.parent / "new")

    @pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6, 10**6), (4,), (-3,), (2, 2)])
    def test_heads_that_promise_more_than_there_is(self, shape, solved):
        head = io.BytesIO()
        fields = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(head, fields)
        content = head.getvalue() + np.zeros(3).tobytes()
        sha256 = hashlib.sha256(content).hexdigest()
        name = f"values-{sha256[:16]}.npy"
        (solved / name).write_bytes(content)
        forge(
            solved, lambda all_of: all_of["arrays"].update(values={"file": name, "sha256": sha256})
        )
        with pytest.raises(DamagedFileError, match="is not an array of numbers"):
            gamedp.load(solved)

    def test_arrays_that_lead_out_of_the_model(self, solved):
        solution = gamedp.load(solved)
        fields = {f.name: getattr(solution.model, f.name) for f in attrs.fields(gamedp.Model)}
        bad = gamedp.Model.unchecked(**(fields | {"successors": np.array([1, 0, 10**6], np.int32)}))
        gamedp.save(attrs.evolve(solution, model=bad), solved)  # with every checksum right
        with pytest.raises(DamagedFileError, match="leads to state 1000000, which does not exist"):
            gamedp.load(solved)

    @pytest.mark.parametrize("noun", ["solution", "policy"])
    @pytest.mark.parametrize("seed", range(40))
    def test_entries_that_are_gone_or_something_else(self, seed, noun, tmp_path):
        """One error of ours, never another, whatever a manifest says."""
        thing = gamedp.solve(Matches(matches=5), compile="never")
        given = thing if noun == "solution" else gamedp.Policy.uniform(thing.model)
        gamedp.save(given, tmp_path)
        random = np.random.default_rng(seed)

        def spoil(content):
            table = content
            for _ in range(int(random.integers(1, 4))):
                inner = [value for value in table.values() if isinstance(value, dict) and value]
                if not inner or random.random() < 0.3:
                    break
                table = inner[random.integers(len(inner))]
            key = sorted(table)[random.integers(len(table))]
            junk = [None, -1, 2**70, "x", [], {}, 0.5, True, [[]], {"list": 3}, {"class": "x:y"}]
            table[key] = junk[random.integers(len(junk))]
            if random.random() < 0.2:
                del table[key]

        forge(tmp_path, spoil, noun)
        try:
            solution = gamedp.load(tmp_path)
        except gamedp.GamedpError:
            return
        if noun == "policy":
            assert (solution.probabilities == given.probabilities).all()
            return
        assert solution.value() in (1.0, -1.0)  # what was spoiled says nothing about values


GOOD = {
    "choice_offsets": np.array([0, 1, 1]),
    "transition_offsets": np.array([0, 2]),
    "successors": np.array([0, 1], np.int32),
    "probabilities": np.array([0.5, 0.5]),
    "rewards": np.array([1.0]),
    "players": np.zeros(2, np.int8),
    "terminals": np.array([1]),
    "payoffs": np.zeros(1),
    "action_labels": np.zeros(1, np.int8),
    "initial_states": np.array([0]),
    "initial_probabilities": np.ones(1),
}


class TestModels:
    """A model made directly is checked as one made by `from_arrays`."""

    def test_what_is_right_is_taken(self):
        assert gamedp.solve(gamedp.Model(**GOOD)).value(0) == pytest.approx(2.0)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"successors": np.array([0, 2], np.int32)}, "leads to state 2, which does not exist"),
            ({"successors": np.array([0, -1], np.int32)}, "leads to state -1"),
            ({"successors": np.array([0, 1], np.int16)}, "successors holds int16"),
            ({"successors": [0, 1]}, "successors holds list"),
            ({"probabilities": np.array([0.5, 0.4])}, "total probability 0.9"),
            ({"probabilities": np.array([0.5, np.nan])}, "with probability nan"),
            ({"probabilities": np.array([0.5, -0.5])}, "with probability -0.5"),
            ({"choice_offsets": np.array([0, 1, 2])}, "choice_offsets ends with 2"),
            ({"choice_offsets": np.array([0, 2, 1])}, "choice_offsets falls"),
            ({"choice_offsets": np.array([0])}, "choice_offsets has shape"),
            ({"transition_offsets": np.array([0, 3])}, "transition_offsets ends with 3"),
            ({"transition_offsets": np.array([], int)}, "has shape"),
            ({"rewards": np.zeros(2)}, "rewards has shape"),
            (
                {"rewards": np.array([np.nan])},
                r"the reward of choice 0 .* is nan; it must be",
            ),
            ({"payoffs": np.array([-np.inf])}, "the payoff of terminal state 1 is -inf"),
            ({"players": np.array([0, 1], np.int8)}, "the player of state 1 is 1"),
            ({"terminals": np.array([0])}, "terminals must be the states without choices"),
            ({"payoffs": np.zeros(2)}, "has shape"),
            ({"initial_states": np.array([2])}, "the initial state 2 does not exist"),
            ({"initial_probabilities": np.array([0.5])}, "total probability 0.5"),
            ({"initial_probabilities": np.array([-1.0])}, "an initial probability is negative"),
            ({"num_players": 0}, "num_players is 0"),
            ({"num_players": 1.5}, "num_players is 1.5"),
            ({"constant_sum": np.nan}, "constant_sum is nan"),
        ],
    )
    def test_what_is_wrong_is_refused(self, changes, words):
        with pytest.raises(InvalidModelError, match=words):
            gamedp.Model(**(GOOD | changes))


def put(array, place, number):
    """Return a copy of an array with another number in one place."""
    changed = np.array(array)
    changed[place] = number
    return changed


def three_steps():
    """Solve a model for a horizon, so that the solution has all that belongs to it."""
    return gamedp.solve(CHOOSING, gamedp.FiniteHorizon(3))


def in_the_long_run():
    """Solve a model for its average, so that the solution has biases."""
    return gamedp.solve(CHOOSING, gamedp.AverageReward())


def by_rationals():
    """Solve a model exactly."""
    return gamedp.solve(CHOOSING, gamedp.Discounted(0.5), gamedp.solvers.ExactPolicyIteration())


def by_moves():
    """Solve a game whose moves to the end are counted."""
    return gamedp.solve(Matches(matches=6), solver="retrograde", compile="never")


CHOOSING = gamedp.Model.from_arrays(
    *([0, 2, 4, 4], [0, 1, 2, 3, 4], [1, 2, 0, 2], [1.0] * 4),
    rewards=[1.0, 2.0, 0.5, 0.0],
    payoffs=[3.0],
)
"""Two states with two choices each, and an end."""

NAN, FAR = np.nan, 10**8

FORGED = [
    *((three_steps, "values", number, "between the bounds") for number in (1e6, -1e6, NAN)),
    *((three_steps, side, NAN, "a number") for side in ("lower", "upper")),
    (three_steps, "lower", 1e6, "a number, at least lower"),
    *((three_steps, "policy", number, "a choice of the state") for number in (2, 3, -2, -1, FAR)),
    *((by_rationals, "policy", number, "a choice of the state") for number in (-(2**63), 2**62)),
    (by_rationals, "values", 1e6, "between the bounds"),
    (by_moves, "values", 0.5, "between the bounds"),
    (by_moves, "distances", -2, "0 where the game is over"),
    (by_moves, "distances", 0, "0 where the game is over"),
]


class TestContents:
    """A solution that contradicts itself is not vouched for, though every checksum is right."""

    def refuse(self, folder, thing, words):
        gamedp.save(thing, folder)
        with pytest.raises(DamagedFileError, match=words):
            gamedp.load(folder)

    @pytest.mark.parametrize(("made", "name", "number", "words"), FORGED)
    def test_numbers_of_a_state(self, made, name, number, words, tmp_path):
        solution = made()
        changed = put(getattr(solution, name), 0, number)
        self.refuse(tmp_path, attrs.evolve(solution, **{name: changed}), f"must be {words}")

    @pytest.mark.parametrize("number", [0, 3, 4])
    def test_choices_where_play_ends(self, number, tmp_path):
        solution = three_steps()
        changed = attrs.evolve(solution, policy=put(solution.policy, 2, number))
        self.refuse(tmp_path, changed, r"policy\[2\] in .* is \d; it must be a choice of the state")

    @pytest.mark.parametrize(
        ("place", "number", "words"),
        [
            ((0, 0), 2, "place of an action"),
            ((1, 1), 255, "place of an action"),
            ((0, 2), 1, "place of an action"),  # the end has none
            ((2, 0), None, "the policy's action"),
        ],
    )
    def test_policies_of_steps(self, place, number, words, tmp_path):
        solution = three_steps()
        other = 1 - solution.step_policies[place]
        changed = put(solution.step_policies, place, other if number is None else number)
        self.refuse(tmp_path, attrs.evolve(solution, step_policies=changed), words)

    def test_policies_of_more_steps_than_there_are(self, tmp_path):
        solution = three_steps()
        changed = attrs.evolve(solution, objective=gamedp.FiniteHorizon(4))
        self.refuse(tmp_path / "more", changed, "step_policies in .* is 3; it must be the horizon")
        changed = attrs.evolve(solution, objective=gamedp.Discounted(0.5))
        self.refuse(tmp_path / "other", changed, "it must be the horizon of the objective")

    @pytest.mark.parametrize("part", range(3))
    def test_values_after_a_step(self, part, tmp_path):
        solution = three_steps()
        following = list(solution.following)
        following[part] = put(following[part], 1, [1e6, 1e6, -1e6][part])
        changed = attrs.evolve(solution, following=tuple(following))
        self.refuse(tmp_path, changed, "following_")

    @pytest.mark.parametrize("number", [Fraction(7), Fraction(-(10**400)), float("-inf")])
    def test_exact_values(self, number, tmp_path):
        solution = by_rationals()
        changed = attrs.evolve(solution, exact=(solution.exact[0], number, solution.exact[2]))
        self.refuse(tmp_path, changed, r"exact\[1\] in .* between the bounds")

    @pytest.mark.parametrize("number", [NAN, np.inf])
    def test_biases(self, number, tmp_path):
        solution = in_the_long_run()
        low, high = solution.biases
        changed = attrs.evolve(solution, biases=(low, put(high, 1, number)))
        self.refuse(tmp_path, changed, "bias_upper")

    @pytest.mark.parametrize(
        ("name", "number", "words"),
        [
            ("errors", -1.0, "0 or more"),
            ("errors", NAN, "0 or more"),
            ("values", NAN, "known, if their errors are"),
            ("values", np.inf, "finite"),
        ],
    )
    def test_staged_ones(self, name, number, words, tmp_path):
        solution = gamedp.solve(Kniffel(dice=2, faces=2, threshold=3), compile="never")
        (start,) = solution.model.initial_states
        changed = put(getattr(solution, name), start, number)
        self.refuse(tmp_path, attrs.evolve(solution, **{name: changed}), f"must be {words}")

    @pytest.mark.parametrize(
        ("side", "number"), [("lower", NAN), ("upper", NAN), ("lower", 1e6), ("upper", -1e6)]
    )
    def test_certificates(self, side, number, tmp_path):
        certificate = gamedp.certify(by_rationals())
        changed = put(getattr(certificate, side), 0, number)
        changed = attrs.evolve(certificate, **{side: changed})
        self.refuse(tmp_path, changed, "it must be a number")

    def test_certificates_of_staged_games(self, tmp_path):
        solution = gamedp.solve(Kniffel(dice=2, faces=2, threshold=3), compile="never")
        certificate = gamedp.certify(solution)
        gamedp.save(certificate, tmp_path / "right")
        gamedp.load(tmp_path / "right")
        changed = attrs.evolve(certificate, upper=put(certificate.upper, 0, NAN))
        self.refuse(tmp_path / "wrong", changed, "upper.* is nan; it must be a number")

    @pytest.mark.parametrize("name", small_problems())
    def test_what_solvers_find_is_taken(self, name, tmp_path):
        problem = small_problems()[name]
        try:
            solution = gamedp.solve(problem.model, problem.objective)
        except gamedp.NotSolvedError as error:
            solution = error.solution
        gamedp.save(solution, tmp_path)
        assert gamedp.load(tmp_path).bounds(0) == solution.bounds(0)


class TestUnpacking:
    """A small file does not fill the memory."""

    def bomb(self, path, size):
        with gzip.open(path, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as tar:
            info = tarfile.TarInfo("state-to-choices.bin")
            info.size = size
            tar.addfile(info, io.BytesIO(bytes(size)))

    def test_an_archive_that_unpacks_to_much(self, tmp_path):
        self.bomb(tmp_path / "bomb.umb", 1 << 22)
        with pytest.raises(gamedp.errors.LimitExceededError, match="to more than 1,000,000 bytes"):
            gamedp.read_model(tmp_path / "bomb.umb", max_bytes=1e6)
        with pytest.raises(DamagedFileError, match=r"has no index\.json"):
            gamedp.read_model(tmp_path / "bomb.umb")  # 4 MiB are welcome

    def test_what_follows_the_last_member_counts(self, tmp_path):
        with gzip.open(tmp_path / "bomb.umb", "wb") as packed:
            packed.write(bytes(1 << 22))
        with pytest.raises(gamedp.errors.LimitExceededError, match="unpacks to more"):
            gamedp.read_model(tmp_path / "bomb.umb", max_bytes=1e6)

    def test_an_index_that_promises_much(self, tmp_path):
        model = gamedp.Model(**GOOD)
        gamedp.write_model(tmp_path / "model.umb", model)
        packed = archive.Archive(tmp_path / "model.umb", lambda _: True, 1 << 20)
        index = packed.index
        for name in ("#states", "#choices", "#branches"):
            index["transition-system"][name] = 10**12
        with (tmp_path / "huge.umb").open("wb") as file:
            archive.write_archive(file, index, {})
        with pytest.raises(gamedp.errors.LimitExceededError, match="has 1,000,000,000,000 states"):
            gamedp.read_model(tmp_path / "huge.umb")

    def test_a_text_with_a_state_of_a_huge_number(self, tmp_path):
        (tmp_path / "huge.tra").write_text("2000000000000 1\n0 1999999999999 1\n")
        with pytest.raises(gamedp.errors.LimitExceededError, match="2,000,000,000,000 states"):
            gamedp.read_model(tmp_path / "huge.tra")


class TestWriting:
    """Who writes meets nobody, and is led nowhere."""

    def test_a_link_of_the_old_temporary_name_is_not_followed(self, solved, tmp_path):
        (tmp_path / "precious").write_text("mine")
        for name in ("manifest.json", "values", "lower", "upper", "policy"):
            (solved / f"{name}.gamedp-tmp").symlink_to(tmp_path / "precious")
        solution = gamedp.load(solved)
        gamedp.save(solution, solved)
        assert (tmp_path / "precious").read_text() == "mine"

    def test_nothing_is_written_over_a_name_that_was_planted(self, tmp_path, monkeypatch):
        monkeypatch.setattr("secrets.token_hex", lambda _: "0" * 16)
        (tmp_path / "precious").write_text("mine")
        (tmp_path / f"games.{'0' * 16}.gamedp-tmp").symlink_to(tmp_path / "precious")
        with pytest.raises(FileExistsError):
            write_whole(tmp_path / "games", lambda file: file.write(b"text"))
        assert (tmp_path / "precious").read_text() == "mine"

    def test_a_failure_leaves_what_was_there_and_names_the_path(self, tmp_path):
        (tmp_path / "games").write_text("old")

        def fail(file):
            file.write(b"new")
            raise OSError(28, "No space left on device")

        with pytest.raises(OSError, match=r"No space left on device: .*games"):
            write_whole(tmp_path / "games", fail)
        assert [path.name for path in tmp_path.iterdir()] == ["games"]
        assert (tmp_path / "games").read_text() == "old"

    @pytest.mark.parametrize("linked", [False, True])
    def test_a_pipe_or_a_device_is_not_replaced(self, linked, tmp_path, pipe):
        pipe(tmp_path / "pipe")
        path = tmp_path / ("link" if linked else "pipe")
        if linked:
            path.symlink_to(tmp_path / "pipe")
        with pytest.raises(gamedp.errors.InvalidParameterError, match="is not a plain file"):
            write_whole(path, lambda file: file.write(b"text"))
        assert (tmp_path / "pipe").is_fifo()
        assert path.is_symlink() == linked

    def test_writers_wait_for_each_other(self, tmp_path):
        inside, order = threading.Event(), []

        def second():
            inside.wait(PATIENCE)
            order.append("asks")
            with locked(tmp_path):
                order.append("second")

        thread = threading.Thread(target=second)
        thread.start()
        with locked(tmp_path):
            inside.set()
            thread.join(0.2)
            order.append("first")
        thread.join(60)
        assert order == ["asks", "first", "second"]

    def test_two_who_save_to_one_folder(self, tmp_path):
        solutions = [gamedp.solve(game, compile="never") for game in (Matches(), Nim(heaps=(2, 3)))]

        def save(solution):
            for _ in range(15):
                gamedp.save(solution, tmp_path / "both")

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(save, solution) for solution in solutions]:
                done.result(120)
        assert gamedp.load(tmp_path / "both").model.rules.game in (Matches(), Nim(heaps=(2, 3)))
        assert not list((tmp_path / "both").glob("*.gamedp-tmp"))

    @pytest.mark.parametrize("linked", [False, True])
    @pytest.mark.parametrize(
        ("name", "read"),
        [
            ("pipe.drn", gamedp.read_model),
            ("pipe.umb", gamedp.read_model),
            ("pipe.tra", gamedp.read_model),
            ("games.jsonl", gamedp.play.load_games),
            ("kniffel.jsonl", load_record),
            ("robin.jsonl", lambda path: Book(path, {}, None)),
        ],
    )
    def test_nobody_waits_for_a_pipe_that_is_named(self, name, read, linked, tmp_path, pipe):
        place = tmp_path / (f"far-{name}" if linked else name)
        pipe(place)
        if linked:
            (tmp_path / name).symlink_to(place)
        with pytest.raises(DamagedFileError, match=r"a pipe,? .*a device"):
            read(tmp_path / name)

    def test_nobody_waits_for_a_pipe_to_save(self, tmp_path, pipe):
        pipe(tmp_path / "manifest.json")
        with pytest.raises(DamagedFileError, match="only plain files are read"):
            gamedp.save(gamedp.solve(Matches(), compile="never"), tmp_path)

    def test_a_link_to_a_file_that_is_named_is_followed(self, tmp_path):
        (tmp_path / "far.drn").write_text(COIN)
        (tmp_path / "coin.drn").symlink_to(tmp_path / "far.drn")
        assert gamedp.read_model(tmp_path / "coin.drn").model.num_states == 2

    @pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets with names here")
    def test_a_socket_is_no_file(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)  # the name of a socket has room for 100 letters
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.drn")
            with pytest.raises(DamagedFileError, match="only plain files are read"):
                gamedp.read_model("socket.drn")

    @pytest.mark.parametrize("what", ["folder", "link", "missing"])
    def test_only_plain_files_are_opened(self, what, tmp_path):
        path = tmp_path / "file"
        if what == "folder":
            path.mkdir()
        elif what == "link":
            path.symlink_to(tmp_path)
        with pytest.raises(FileNotFoundError if what == "missing" else DamagedFileError):
            open_plain(path)


COIN = """@type: DTMC
@reward_models

@nr_states
2
@model
state 0 init
    action 0
        0 : 0.5
        1 : 0.5
state 1
    action 0
        1 : 1
"""


COLD = """
import numba.core.caching
numba.core.caching.CacheImpl._locator_classes = []  # as where numba may write nowhere
import gamedp
from gamedp.runtime import jit
jit.SECONDS_BEFORE_COMPILING = 0.0
model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], rewards=[2.0], payoffs=[0.0])
print(model.coded_probabilities[1])  # by a small kernel
"""


@pytest.mark.slow
@pytest.mark.parametrize("writable", [True, False])
def test_a_folder_for_compiled_code_is_all_that_is_needed(writable, tmp_path):
    """And not even that: then everything is compiled anew."""
    cache = tmp_path / "cache"
    if not writable:
        cache.write_text("not a folder")
    environment = os.environ | {"GAMEDP_CACHE_DIR": str(cache), "NUMBA_CACHE_DIR": ""}
    for _ in range(2 if writable else 1):
        ran = subprocess.run(
            [sys.executable, "-c", COLD],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stdout.strip()) == (0, "[1.]"), ran.stderr
    if writable and not environment.get("NUMBA_DISABLE_JIT"):
        assert list((cache / "kernels").glob("*.nbi"))


DEEP = functools.reduce(lambda inner, _: [inner], range(500), 1)

ODD = [None, True, -1, 1e300, 2**70, "", "x", "\0", [], [1], {}, {"a": 1}, DEEP]
"""What may stand anywhere in a manifest."""


def places(content, way=()):
    """Yield the ways to all entries."""
    yield way
    if isinstance(content, (dict, list)):
        keys = content if isinstance(content, dict) else range(min(len(content), 2))
        for key in keys:
            yield from places(content[key], (*way, key))


def changed(content, way, value):
    """Return the content with another value there; without the entry for `...`."""
    if not way:
        return {} if value is ... else value
    content = copy.deepcopy(content)
    part = functools.reduce(lambda part, key: part[key], way[:-1], content)
    if value is ...:
        del part[way[-1]]
    else:
        part[way[-1]] = value
    return content


@pytest.mark.parametrize("kind", ["solution", "aims", "policy", "certificate"])
@pytest.mark.parametrize("values", first_of([2, 4]))
def test_whatever_a_manifest_says_is_refused_in_words(kind, values, tmp_path):
    model = gamedp.compile(Matches(matches=4), compile="never")
    ruin = gamedp.compile(GamblersRuin(goal=3, start=1), compile="never")
    things = {
        "solution": lambda: gamedp.solve(model),
        "aims": lambda: gamedp.solve(ruin, gamedp.Reachability(ruin.is_terminal)),
        "policy": lambda: gamedp.Policy.uniform(model),
        "certificate": lambda: gamedp.certify(gamedp.solve(model)),
    }
    folder = tmp_path / "saved"
    gamedp.save(things[kind](), folder)
    manifest = json.loads((folder / folders.MANIFEST).read_text())
    is_of = manifest["format"].removeprefix("gamedp ")
    count = 0
    for way in places(manifest["content"]):
        odd = (..., ODD[count % len(ODD)], ODD[(count + 5) % len(ODD)], DEEP)
        for value in odd[:values]:
            count += 1
            content = changed(manifest["content"], way, value)
            text = folders._manifest_text(manifest["gamedp"], content, is_of)
            (folder / folders.MANIFEST).write_text(text)
            with contextlib.suppress(gamedp.GamedpError):
                loaded = gamedp.load(folder)
                if isinstance(loaded, gamedp.Solution):  # what is accepted can be used
                    gamedp.certify(loaded)
                    gamedp.solve(loaded.model, loaded.objective).best_actions(loaded.model.state(0))
    assert count > 20 * values


def test_a_field_without_values_is_refused(tmp_path):
    folder = tmp_path / "saved"
    gamedp.save(gamedp.solve(Matches(matches=4), compile="never"), folder)
    manifest = json.loads((folder / folders.MANIFEST).read_text())
    content = manifest["content"]
    content["states"]["low"] = list(content["states"]["high"])
    text = folders._manifest_text(manifest["gamedp"], content, "solution")
    (folder / folders.MANIFEST).write_text(text)
    with pytest.raises(DamagedFileError, match="a field of the states has no values"):
        gamedp.load(folder)


HEADS = [
    f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}"
    for kind in ("'<f8'", "'|O'", "'<f99'", "(('<f8',),)", "{'names':[]}", "[[['a']]]", "None")
    for shape in ("(3,)", "(-1,)", "(2**70,)", "None", "('a',)", "(3.0,)", "()")
] + ["", "{}", "3", "(" * 300, "[" * 5000, "\0" * 50, "{'descr':" + "-" * 3000 + "1}", "1+1"]


@pytest.mark.parametrize("place", range(len(HEADS)))
def test_whatever_stands_in_the_head_of_an_array_is_refused(place, solved):
    head = HEADS[place].encode()
    file = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(23)
    sha256 = hashlib.sha256(file).hexdigest()
    name = f"values-{sha256[:16]}.npy"
    (solved / name).write_bytes(file)
    entry = {"file": name, "sha256": sha256}
    forge(solved, lambda content: content["arrays"].update(values=entry))
    with pytest.raises(DamagedFileError, match="is not an array of numbers"):
        gamedp.load(solved)


@pytest.mark.parametrize("path", ["", "a\0b", None, 3, b"x", "\ud800"])
def test_what_is_no_path_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = gamedp.compile(Matches(matches=4), compile="never")
    solution = gamedp.solve(model)
    anyone = gamedp.play.RandomPlayer(Matches(matches=4))
    uses = [
        lambda: gamedp.save(solution, path),
        lambda: gamedp.save(gamedp.Policy.uniform(model), path),
        lambda: gamedp.save(gamedp.certify(solution), path),
        lambda: gamedp.load(path),
        lambda: gamedp.read_model(path),
        lambda: gamedp.write_model(path, model),
        lambda: gamedp.play.load_games(path),
        lambda: gamedp.play.save_games(path, Matches(), []),
    ]
    if path is not None:
        players = {"a": anyone, "b": anyone}
        uses.append(lambda: gamedp.play.tournament(Matches(), players, games=2, save=path))
    for use in uses:
        with pytest.raises(InvalidParameterError, match="must name a file or a folder"):
            use()
    assert not any(tmp_path.iterdir())
