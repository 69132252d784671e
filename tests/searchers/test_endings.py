"""Endgame tables: right in both modes; what is wrong with rules, files or limits is noticed."""

import errno
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import shedding_games as games
from depth import first_of
from shedding_games import Heap, Rewarding, Shedding, Stepping, Symmetric

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.runtime import block_file
from gamedp.runtime.block_file import BLOCK, BlockFile
from gamedp.searchers import AlphaBeta, EndgameTables

MODES = ("never", "always")
IS_POSIX = os.name == "posix"

MANCALAS = [
    (Mancala(pits=2, stones=2), 7),
    (Mancala(pits=3, stones=2), 6),
    (Mancala(pits=1, stones=4, majority_stop=False), 8),
    (Mancala(pits=3, stones=1, majority_stop=False, captures="opposite", ends="either"), 6),
    (Mancala(pits=2, stones=3, majority_stop=False, move_again=True, chains="move"), 8),
    (Mancala(pits=2, stones=3, chains="never", leftover="out"), 11),
    (Mancala(pits=2, stones=3, captures="run-unchained", occupied="before"), 11),
    (Mancala(pits=2, stones=3, majority_stop=False, leftover="nobody", skip_source=True), 9),
    (Mancala(pits=3, stones=2, captures="opposite-empty", move_again=True, ends="either"), 6),
    (Mancala.kalah(pits=3, stones=2), 7),
    (Mancala(), 3),
]


@attrs.frozen
class FromAnywhere:
    """A game that begins in any of its endings: the sparse core then values them all."""

    game: Any = attrs.field()
    material: int = 0
    num_players = 2

    def initial_state(self):
        states = [
            self.game.tier_state(material, index)
            for material in range(self.material + 1)
            for index in range(self.game.tier_size(material))
        ]
        return [(1 / len(states), state) for state in states]

    def __getattr__(self, name):
        return getattr(self.game, name)

    def is_terminal(self, state):
        return self.game.is_terminal(state)

    def actions(self, state):
        return self.game.actions(state)

    def outcomes(self, state, action):
        return self.game.outcomes(state, action)

    def payoff(self, state, player):
        return self.game.payoff(state, player)

    def player(self, state):
        return self.game.player(state)

    def reward(self, state, action, player):
        has = hasattr(self.game, "reward")
        return self.game.reward(state, action, player) if has else 0.0

    constant_sum = 0.0


def true_values(game, material):
    """Return the values of all endings, by their strata, as the sparse core has them."""
    if getattr(game, "majority_stop", False):
        game = attrs.evolve(game, majority_stop=False)
    solution = gamedp.solve(FromAnywhere(game, material), compile="never")
    return [
        [solution.value(game.tier_state(stratum, index)) for index in range(size)]
        for stratum in range(material + 1)
        if (size := game.tier_size(stratum)) is not None
    ]


def table_of(tables):
    return [tables.stratum(material).tolist() for material in range(tables.material + 1)]


class TestValues:
    @pytest.mark.parametrize(("game", "material"), MANCALAS, ids=repr)
    def test_of_mancala_are_those_of_the_sparse_core(self, game, material):
        expected = true_values(game, material)
        for mode in MODES:
            tables = EndgameTables.build(game, material, compile=mode)
            assert table_of(tables) == expected
            assert tables.verify(300) >= 300
        assert tables.num_positions == sum(map(len, expected))

    @pytest.mark.parametrize("kind", [Shedding, Stepping, Symmetric, Rewarding])
    @pytest.mark.parametrize("ahead", [False, True])
    @pytest.mark.parametrize("seed", first_of(range(3)))
    def test_of_made_up_games(self, kind, ahead, seed):
        game = kind(seed=seed, ahead=ahead)
        expected = true_values(game, 4)
        for mode in MODES:
            tables = EndgameTables.build(game, 4, compile=mode)
            assert table_of(tables) == expected
            assert tables.verify(200) >= 200
            settled = Heap(1, 3, 17, 5)
            if not game.is_terminal(settled):
                assert tables.value(settled) == (expected[3][17] - 5,) * 2

    def test_positions_that_wait_deeper_than_the_stack(self):
        @attrs.frozen
        class Chain(Shedding):
            def is_terminal(self, state):
                return state.left == 0 or state.place == self.width - 1

            def outcomes(self, state, action):
                yield 1.0, Heap(1 - state.player, state.left, state.place + 1, state.won)

        game = Chain(width=5000)
        tables = EndgameTables.build(game, 1, compile="never")
        last = int(game.payoff(Heap(0, 1, 4999, 0), 0))
        assert table_of(tables)[1] == [last * (-1) ** (4999 - place) for place in range(5000)]

    @pytest.mark.parametrize("mode", first_of(MODES))
    @pytest.mark.parametrize(
        ("game", "materials"),
        [
            (Mancala(pits=2, stones=3), (0, 3, 6, 11)),
            (Mancala(pits=3, stones=2), (4,)),
            (Mancala.kalah(pits=2, stones=3), (5, 12)),
            (Symmetric(seed=1, layers=6), (2, 5)),
            (Rewarding(seed=2, layers=6, ahead=True), (3,)),
        ],
        ids=repr,
    )
    def test_search_with_tables_is_search_without(self, game, materials, mode):
        value = gamedp.solve(game, compile=mode).value()
        plain = AlphaBeta().search(game, compile=mode)
        assert plain.value() == value
        for material in materials:
            tables = EndgameTables.build(game, material, compile=mode)
            found = AlphaBeta(endings=tables).search(game, compile=mode)
            assert found.value() == value
            assert found.best_actions == plain.best_actions
            if material == materials[-1]:
                assert found.statistics.ending_probes > 0

    @pytest.mark.parametrize("game", [Mancala(pits=2, stones=2), Mancala(pits=3, stones=1)])
    def test_bounds_hold_though_the_tables_know_nothing_of_the_majority(self, game):
        total = 2 * game.pits * game.stones
        tables = EndgameTables.build(game, total - 1, compile="never")
        solution = gamedp.solve(game, compile="never")
        checked = exact = 0
        for index in range(solution.model.num_states):
            state = solution.model.state(index)
            if game.material(state) == total:
                continue
            low, high = tables.value(state)
            value = solution.value(state) * (1 if game.player(state) == 0 else -1)
            assert low <= value <= high
            assert (low > 0) == (value > 0)
            assert (high < 0) == (value < 0)
            checked += 1
            exact += low == high
        assert 0 < exact < checked

    def test_the_state_of_a_terminal_position(self):
        game = Mancala(pits=2, stones=2)
        tables = EndgameTables.build(game, 4)
        state = game.position((0, 0), (1, 0), kalahs=(4, 3), player=1)
        assert not game.is_terminal(state)
        ended = game.position((0, 0), (1, 0), kalahs=(4, 3), player=0)
        assert game.is_terminal(ended)
        assert tables.value(ended) == (0.0, 0.0)

    def test_more_material_than_the_tables_cover(self):
        game = Mancala(pits=2, stones=2)
        tables = EndgameTables.build(game, 3)
        with pytest.raises(
            gamedp.UnsupportedProblemError, match="has material 8; the tables go to"
        ):
            tables.value(game.initial_state())
        with pytest.raises(gamedp.UnsupportedProblemError, match="no material 4 in the tables"):
            tables.stratum(4)
        assert repr(tables) == f"<EndgameTables of {game!r}: material 0 to 3, 35 positions>"


WRONG = [
    (
        "RISING",
        gamedp.InvalidModelError,
        r"action 1 in Heap.*of material 1, leads to.*must nev",
    ),
    (
        "NEGATIVE",
        gamedp.InvalidModelError,
        r"leads to Heap.*place=40.*of material -1",
    ),
    (
        "TOO_HIGH",
        gamedp.InvalidModelError,
        r"tier_index\(Heap.*is 93.*numbers from 0 to 89",
    ),
    (
        "TOO_LOW",
        gamedp.InvalidModelError,
        r"tier_index\(Heap.*is -2.*numbers from 0 to 89",
    ),
    (
        "SHARED",
        gamedp.InvalidModelError,
        r"tier_state\(0, \d+\) is Heap.*tier_index",
    ),
    ("stumbling", gamedp.InvalidModelError, r"next_in_tier\(Heap.*place=30.*tier_index 31"),
    (
        "UNSETTLED",
        gamedp.InvalidModelError,
        r"tier_state\(1, 0\).*nothing be settled",
    ),
    (
        "OPPOSED",
        gamedp.InvalidModelError,
        r"tier_state\(1, 0\).*player 1 is to move",
    ),
    (
        "LOOPING",
        gamedp.UnsupportedProblemError,
        r"can come again.*Use Retrograde",
    ),
    (
        "STAYING",
        gamedp.UnsupportedProblemError,
        r"can come again.*Use Retrograde",
    ),
    (
        "DICING",
        gamedp.UnsupportedProblemError,
        r"action 0 in Heap.*more than one outcome",
    ),
    ("IDLE", gamedp.InvalidModelError, r"place=50.*has no actions"),
    (
        "HUGE",
        gamedp.UnsupportedProblemError,
        r"not a whole number between -125 and 125",
    ),
    (
        "FINE",
        gamedp.UnsupportedProblemError,
        r"not a whole number between -125 and 125",
    ),
    ("UNDEFINED", gamedp.InvalidModelError, r"payoff\(Heap.*is nan"),
    ("FAILING", ValueError, r"no way on from here"),
]


class TestWrongRules:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        ("fault", "error", "words"), WRONG, ids=[fault for fault, _, _ in WRONG]
    )
    def test_are_refused_while_building(self, fault, error, words, mode):
        named = fault == "stumbling"
        game = games.Stumbling() if named else games.Wrong(fault=getattr(games, fault))
        with pytest.raises(error, match=words):
            EndgameTables.build(game, 2, compile=mode)

    @pytest.mark.parametrize("mode", MODES)
    def test_a_number_outside_the_tables_stops_a_search(self, mode):
        game = games.Wrong(layers=8, fault=games.LATE_OUTSIDE)
        tables = EndgameTables.build(game, 1, compile=mode)
        with pytest.raises(gamedp.InvalidModelError, match=r"tier_index\(Heap.*is -?10000000000"):
            AlphaBeta(endings=tables).search(game, compile=mode)
        with pytest.raises(gamedp.InvalidModelError, match=r"tier_index\(Heap.*is 10000000000"):
            tables.value(Heap(0, 1, 5, 9))

    @pytest.mark.parametrize(
        "game",
        [games.Forgetful(layers=6), games.Wrong(layers=6, fault=games.LATE_OUTSIDE)],
        ids=["Forgetful", "LateOutside"],
    )
    def test_what_building_cannot_see_is_found_by_verify(self, game):
        tables = EndgameTables.build(game, 4, compile="never")
        with pytest.raises(gamedp.InvalidModelError, match=r"contradict the rules|tier_index\("):
            tables.verify()

    def test_chance_is_found_by_verify(self):
        tables = EndgameTables.build(Shedding(), 2, compile="never")
        with pytest.raises(gamedp.UnsupportedProblemError, match="EndgameTables is for games wi"):
            attrs.evolve(tables, game=games.Wrong(fault=games.DICING)).verify()

    def test_one_wrong_value_is_found_by_verify(self):
        game = Mancala(pits=2, stones=2)
        tables = EndgameTables.build(game, 4)
        assert tables.verify(50, np.random.default_rng(3)) >= 50
        tables.stratum(4)[20] += 1
        with pytest.raises(gamedp.InvalidModelError, match="contradict the rules: MancalaState"):
            tables.verify(2000)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="samples is 0"):
            tables.verify(0)

    def test_only_terminal_positions_are_verified_too(self):
        tables = EndgameTables.build(Shedding(), 0)
        assert tables.verify(20) >= 20
        tables.stratum(0)[:] += 1
        with pytest.raises(gamedp.InvalidModelError, match="but the payoff there is"):
            tables.verify(1)

    def test_games_without_tables(self):
        with pytest.raises(gamedp.UnsupportedProblemError, match="it lacks material, settled"):
            EndgameTables.build(_Plain(), 3)
        with pytest.raises(gamedp.UnsupportedProblemError, match="for two players"):
            EndgameTables.build(Mancala(pits=2, stones=1, players=3), 1)
        with pytest.raises(gamedp.UnsupportedProblemError, match="material 4: the largest is 3"):
            EndgameTables.build(Mancala(pits=2, stones=1), 5)
        for material in (-1, 2.5, "3", math.inf):
            with pytest.raises(gamedp.errors.InvalidParameterError, match="must be a whole number"):
                EndgameTables.build(Mancala(), material)
        for seconds in (0, -1, math.nan):
            with pytest.raises(gamedp.errors.InvalidParameterError, match="max_seconds is"):
                EndgameTables.build(Mancala(), 1, max_seconds=seconds)

    def test_more_positions_than_memory_has_room_for(self, tmp_path, monkeypatch):
        EndgameTables.build(Mancala(), 4, folder=tmp_path)
        monkeypatch.setattr("gamedp.searchers.endgame_tables.available_bytes", lambda: 1000)
        assert EndgameTables.build(Mancala(), 4, folder=tmp_path).num_positions > 1000
        for game, material in ((Mancala(), 5), (Mancala(majority_stop=False), 72)):
            with pytest.raises(
                gamedp.errors.LimitExceededError, match="take a byte of memory for each"
            ):
                EndgameTables.build(game, material)


class _Plain:
    num_players = 2

    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return True

    def player(self, state):
        return 0

    def actions(self, state):
        return ()

    def outcomes(self, state, action):
        return ()

    def payoff(self, state, player):
        return 0.0


GAME = Mancala(pits=2, stones=4, majority_stop=False)
MATERIAL = 12

# Builds what GAME and MATERIAL say in the folder that is named on its command line, in plain
# Python: slowly enough to be killed on the way. `KILL` names the call of fsync at which it kills
# itself.
CHILD = """
import os, signal, sys
from gamedp.searchers import EndgameTables
from gamedp.games.mancala import Mancala

calls = 0
fsync = os.fsync

def dying(handle):
    global calls
    calls += 1
    if calls == int(os.environ.get("KILL", -1)):
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(handle)

os.fsync = dying
game = Mancala(pits=2, stones=4, majority_stop=False)
print("begins", flush=True)
EndgameTables.build(game, 12, folder=sys.argv[1], compile="never")
"""


def child(folder, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, folder],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def expected():
    return table_of(EndgameTables.build(GAME, MATERIAL))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


COMPLETE = [f"endings-{material:03d}.blocks" for material in range(MATERIAL + 1)]


class TestFiles:
    def test_what_was_built_is_opened(self, tmp_path, expected, monkeypatch):
        built = EndgameTables.build(GAME, MATERIAL, folder=tmp_path / "new" / "folder")
        assert table_of(built) == expected
        assert names(tmp_path / "new" / "folder") == COMPLETE
        monkeypatch.setattr("gamedp.searchers.endgame_tables.Builder", None)
        opened = EndgameTables.build(GAME, MATERIAL, folder=tmp_path / "new" / "folder")
        assert opened.num_bytes == 0
        assert table_of(opened) == expected
        smaller = EndgameTables.build(GAME, 3, folder=str(tmp_path / "new" / "folder"))
        assert table_of(smaller) == expected[:4]
        assert opened.verify(100) >= 100

    def test_only_the_blocks_that_are_touched_are_read(self, tmp_path, monkeypatch):
        game = Shedding(width=5 * BLOCK + 3, layers=1)
        EndgameTables.build(game, 1, folder=tmp_path)
        read = []
        original = BlockFile.read
        monkeypatch.setattr(
            BlockFile, "read", lambda file, block: read.append(block) or original(file, block)
        )
        tables = EndgameTables.build(game, 1, folder=tmp_path)
        assert tables.num_bytes == 0
        for place in (3 * BLOCK + 5, 3 * BLOCK + 6, 5 * BLOCK + 2):
            state = Heap(0, 1, place, 0)
            while game.is_terminal(state):
                state = state._replace(place=state.place - 1)
            tables.value(state)
        assert read in ([3, 5], [3, 4])
        assert tables.num_bytes == 2 * BLOCK
        start = Heap(0, 1, 2 * BLOCK + 9, 0)
        while game.is_terminal(start):
            start = start._replace(place=start.place + 1)
        AlphaBeta(endings=tables).search(game, start, compile="never")
        assert 2 <= len(read) <= 6
        assert tables.num_bytes == len(read) * BLOCK

    def test_building_goes_on_with_more_material(self, tmp_path, expected):
        EndgameTables.build(GAME, 5, folder=tmp_path)
        (tmp_path / COMPLETE[2]).unlink()
        before = {name: (tmp_path / name).stat().st_mtime_ns for name in names(tmp_path)}
        assert table_of(EndgameTables.build(GAME, MATERIAL, folder=tmp_path)) == expected
        assert names(tmp_path) == COMPLETE
        assert all((tmp_path / name).stat().st_mtime_ns == time for name, time in before.items())

    @pytest.mark.skipif(not IS_POSIX, reason="there is no SIGKILL")
    @pytest.mark.parametrize("call", [1, 2, 8, 15])
    def test_a_process_that_is_killed_while_it_writes(self, tmp_path, expected, call):
        process = child(tmp_path, KILL=str(call))
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
        left = [name for name in names(tmp_path) if name.endswith(".gamedp-tmp")]
        assert len(left) == call % 2  # the second call of each file comes after it is renamed
        complete = [name for name in names(tmp_path) if name not in left]
        assert complete == COMPLETE[: call // 2]
        assert table_of(EndgameTables.build(GAME, MATERIAL, folder=tmp_path)) == expected
        assert names(tmp_path) == sorted(COMPLETE + left)  # it may be of a process that still works
        for name in left:
            os.utime(tmp_path / name, (0, 0))
        EndgameTables.build(GAME, MATERIAL, folder=tmp_path)
        assert names(tmp_path) == COMPLETE

    @pytest.mark.skipif(not IS_POSIX, reason="there is no SIGKILL")
    def test_a_process_that_is_killed_at_some_moment(self, tmp_path, expected):
        draw = np.random.default_rng(5)
        for _ in range(2):
            process = child(tmp_path)
            process.stdout.readline()
            time.sleep(draw.uniform(0.0, 0.6))
            process.kill()
            process.communicate(timeout=120)
            complete = [name for name in names(tmp_path) if name.endswith(".blocks")]
            assert complete == COMPLETE[: len(complete)]
        assert table_of(EndgameTables.build(GAME, MATERIAL, folder=tmp_path)) == expected

    def test_two_processes_in_one_folder(self, tmp_path, expected):
        processes = [child(tmp_path), child(tmp_path)]
        for process in processes:
            process.communicate(timeout=240)
        assert [process.returncode for process in processes] == [0, 0]
        assert names(tmp_path) == COMPLETE
        assert table_of(EndgameTables.build(GAME, MATERIAL, folder=tmp_path)) == expected

    @pytest.mark.parametrize("where", ["begin", "header", "newline", "checksum", "block", "end"])
    def test_one_byte_that_is_flipped(self, tmp_path, where):
        EndgameTables.build(GAME, 6, folder=tmp_path)
        path = tmp_path / COMPLETE[6]
        data = bytearray(path.read_bytes())
        header = data.index(b"\n")
        place = {
            "begin": 0,
            "header": data.index(b"crc32") + 9,
            "newline": header,
            "checksum": header + 10,
            "block": header + 66 + 5,
            "end": len(data) - 1,
        }[where]
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises(
                gamedp.errors.DamagedFileError, match=f"{COMPLETE[6]} is damaged: .*Remove"
            ):
                EndgameTables.build(GAME, 6, folder=tmp_path).stratum(6)
            with pytest.raises(gamedp.errors.DamagedFileError):
                EndgameTables.build(GAME, 7, folder=tmp_path)
            assert names(tmp_path) == COMPLETE[:7]

    @pytest.mark.parametrize("change", ["shorter", "longer", "empty", "cut", "headless"])
    def test_a_file_of_another_length(self, tmp_path, change):
        EndgameTables.build(GAME, 2, folder=tmp_path)
        path = tmp_path / COMPLETE[2]
        data = path.read_bytes()
        changed = {
            "shorter": data[:-1],
            "longer": data + b"\0",
            "empty": b"",
            "cut": data[:30],
            "headless": data[50:],
        }
        path.write_bytes(changed[change])
        with pytest.raises(gamedp.errors.DamagedFileError, match="is damaged"):
            EndgameTables.build(GAME, 2, folder=tmp_path)

    def test_a_file_of_another_version(self, tmp_path, monkeypatch):
        monkeypatch.setattr(block_file, "VERSION", 99)
        EndgameTables.build(GAME, 1, folder=tmp_path)
        monkeypatch.undo()
        with pytest.raises(gamedp.errors.DamagedFileError, match="another version of the format"):
            EndgameTables.build(GAME, 1, folder=tmp_path)

    @pytest.mark.parametrize(
        "change",
        [
            {"format": "another"},
            {"bytes": -1},
            {"bytes": 2**70},
            {"bytes": "many"},
            {"lengths": None},
            {"lengths": [-5]},
            {"lengths": [2**70]},
            {"crc32": [True]},
            {"crc32": []},
            {"content": []},
            "[" * 100_000,
            "[1]",
        ],
    )
    def test_a_beginning_that_somebody_made_up(self, tmp_path, change):
        EndgameTables.build(GAME, 1, folder=tmp_path)
        path = tmp_path / COMPLETE[1]
        line, _, blocks = path.read_bytes().split(b"\n", 2)
        forged = change if isinstance(change, str) else json.dumps(json.loads(line) | change)
        checksum = hashlib.sha256(forged.encode()).hexdigest()
        path.write_bytes(b"\n".join([forged.encode(), checksum.encode(), blocks]))
        with pytest.raises(gamedp.errors.DamagedFileError, match=f"{COMPLETE[1]} is damaged"):
            EndgameTables.build(GAME, 1, folder=tmp_path)

    @pytest.mark.parametrize("data", [b"\0" * 10**6, b"", None])
    def test_a_block_that_somebody_made_up(self, tmp_path, data):
        EndgameTables.build(GAME, 1, folder=tmp_path)
        path = tmp_path / COMPLETE[1]
        block = b"not compressed" if data is None else zlib.compress(data)
        line = path.read_bytes().split(b"\n", 1)[0]
        forged = json.loads(line) | {"lengths": [len(block)], "crc32": [zlib.crc32(block)]}
        begin = json.dumps(forged).encode()
        checksum = hashlib.sha256(begin).hexdigest().encode()
        path.write_bytes(b"\n".join([begin, checksum, block]))
        tables = EndgameTables.build(GAME, 1, folder=tmp_path)
        with pytest.raises(gamedp.errors.DamagedFileError, match="block 0 does not hold"):
            tables.stratum(1)

    def test_a_damaged_block_stops_a_search(self, tmp_path):
        EndgameTables.build(GAME, 6, folder=tmp_path)
        path = tmp_path / COMPLETE[6]
        data = bytearray(path.read_bytes())
        data[-3] ^= 4
        path.write_bytes(data)
        tables = EndgameTables.build(GAME, 6, folder=tmp_path)
        with pytest.raises(
            gamedp.errors.DamagedFileError, match="block 0 does not match its checksum"
        ):
            AlphaBeta(endings=tables).search(GAME)

    def test_a_file_of_another_game_or_of_other_rules(self, tmp_path, monkeypatch):
        EndgameTables.build(GAME, 1, folder=tmp_path)
        words = "is not of .* with the rules that it has now"
        other = attrs.evolve(GAME, chains="never")
        with pytest.raises(gamedp.errors.DamagedFileError, match=words):
            EndgameTables.build(other, 1, folder=tmp_path)
        (tmp_path / COMPLETE[0]).rename(tmp_path / "other")
        (tmp_path / COMPLETE[1]).rename(tmp_path / COMPLETE[0])
        (tmp_path / "other").rename(tmp_path / COMPLETE[1])
        with pytest.raises(gamedp.errors.DamagedFileError, match=words):
            EndgameTables.build(GAME, 1, folder=tmp_path)

    @pytest.mark.parametrize("name", ["tier_index", "settled", "payoff", "next_in_tier"])
    def test_a_file_of_rules_that_have_changed(self, tmp_path, monkeypatch, name):
        game = Stepping()
        EndgameTables.build(game, 1, folder=tmp_path)
        changed = {
            "tier_index": lambda self, state: self.width - 1 - state.place,
            "settled": lambda self, state, player: 0.0,
            "payoff": lambda self, state, player: 0.0,
            "next_in_tier": lambda self, state: Heap(0, state.left, 1 + state.place, 0),
        }
        monkeypatch.setattr(Stepping, name, changed[name])
        with pytest.raises(gamedp.errors.DamagedFileError, match="with the rules that it has now"):
            EndgameTables.build(game, 1, folder=tmp_path)

    def test_rules_that_cannot_be_followed(self, tmp_path):
        @attrs.frozen
        class Hidden(Shedding):
            @staticmethod
            def worth():
                return 0.0

            def payoff(self, state, player):
                return self.worth()

        with pytest.raises(gamedp.UnsupportedProblemError, match="Leave the folder out"):
            EndgameTables.build(Hidden(), 1, folder=tmp_path, compile="never")
        assert table_of(EndgameTables.build(Hidden(), 1, compile="never"))[0] == [0] * 90

    @pytest.mark.parametrize("call", [0, 1, 3])
    def test_a_full_disk_leaves_nothing_half_written(self, tmp_path, expected, monkeypatch, call):
        calls = []

        def full(handle):
            calls.append(handle)
            if len(calls) > 2 * call:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=COMPLETE[call]) as caught:
            EndgameTables.build(GAME, MATERIAL, folder=tmp_path)
        assert caught.value.errno == errno.ENOSPC
        assert names(tmp_path) == COMPLETE[:call]
        monkeypatch.undo()
        assert table_of(EndgameTables.build(GAME, MATERIAL, folder=tmp_path)) == expected

    def test_a_folder_that_is_read_only(self, tmp_path, expected, monkeypatch):
        """Forbidden by hand: nothing is forbidden to root, who runs many a test."""
        EndgameTables.build(GAME, 3, folder=tmp_path)
        real_open = Path.open

        def read_only(path, mode="r", *arguments, **options):
            if tmp_path in path.parents and mode.strip("bt") != "r":
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real_open(path, mode, *arguments, **options)

        monkeypatch.setattr(Path, "open", read_only)
        assert table_of(EndgameTables.build(GAME, 3, folder=tmp_path)) == expected[:4]
        with pytest.raises(PermissionError):
            EndgameTables.build(GAME, 4, folder=tmp_path)

    def test_a_folder_that_is_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(FileExistsError):
            EndgameTables.build(GAME, 3, folder=tmp_path / "file")

    def test_a_block_is_compressed(self, tmp_path):
        path = tmp_path / "bytes"
        data = np.arange(3 * BLOCK + 7, dtype=np.int64).astype(np.int8)
        block_file.write_blocks(path, {"what": "ever"}, data)
        assert path.stat().st_size < len(data) / 4
        file = BlockFile.open(path)
        assert (len(file), file.num_bytes, file.content) == (4, len(data), {"what": "ever"})
        assert np.array_equal(np.concatenate([file.read(block) for block in range(4)]), data)
        assert zlib.crc32(data.tobytes()) == zlib.crc32(
            b"".join(file.read(k).tobytes() for k in range(4))
        )


class TestLimits:
    @pytest.mark.parametrize("mode", MODES)
    def test_time_that_runs_out(self, tmp_path, expected, mode):
        with pytest.raises(
            gamedp.NotSolvedError, match="stopped at its limit of 1e-09 seconds"
        ) as caught:
            EndgameTables.build(GAME, MATERIAL, max_seconds=1e-9, compile=mode)
        tables = caught.value.solution
        assert 0 <= tables.material < MATERIAL
        assert table_of(tables) == expected[: tables.material + 1]
        assert "Raise it" in str(caught.value)
        assert f"material 0 to {tables.material}," in repr(tables)
        found = AlphaBeta(endings=tables).search(Mancala(pits=2, stones=4, majority_stop=False))
        assert found.value() == gamedp.solve(GAME).value()
        for _ in range(2):
            with pytest.raises(gamedp.NotSolvedError, match="Call again: building goes on with"):
                EndgameTables.build(GAME, MATERIAL, max_seconds=1e-9, folder=tmp_path, compile=mode)
        assert len(names(tmp_path)) >= 2
        assert table_of(EndgameTables.build(GAME, MATERIAL, folder=tmp_path)) == expected

    def test_tables_of_nothing(self):
        game = Shedding(width=20_000)
        with pytest.raises(gamedp.NotSolvedError) as caught:
            EndgameTables.build(game, 1, max_seconds=1e-9, compile="never")
        tables = caught.value.solution
        assert repr(tables) == f"<EndgameTables of {game!r}: nothing, 0 positions>"
        assert tables.verify() == 0
        assert AlphaBeta(endings=tables, depth=2).search(game).statistics.ending_probes == 0

    def test_progress_and_an_interruption(self, tmp_path, expected, monkeypatch):
        monkeypatch.setattr("gamedp.runtime.limit.INTERVAL", 0.0)
        reports = []
        EndgameTables.build(GAME, MATERIAL, progress=reports.append)
        total = sum(map(len, expected))
        assert {report.total for report in reports} == {total}
        assert [report.done for report in reports] == sorted(report.done for report in reports)
        assert reports[-1].done == total
        assert reports[-1].detail == f"material {MATERIAL}, {total:,} positions"

        def interrupt(progress):
            if progress.done > 500:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            EndgameTables.build(GAME, MATERIAL, folder=tmp_path, progress=interrupt)
        complete = names(tmp_path)
        assert 0 < len(complete) < MATERIAL
        assert complete == COMPLETE[: len(complete)]
        assert table_of(EndgameTables.build(GAME, MATERIAL, folder=tmp_path)) == expected
