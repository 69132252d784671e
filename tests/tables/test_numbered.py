"""Tables of numbered positions: right in both modes; wrong rules, files and limits are noticed."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
import zlib
from concurrent.futures import Executor, ThreadPoolExecutor
from fractions import Fraction
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
from gamedp.searchers import AlphaBeta, ProofNumberSearch

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
    tier: int = 0
    num_players = 2

    def initial_state(self):
        states = [
            self.game.tier_state(tier, index)
            for tier in range(self.tier + 1)
            for index in range(self.game.tier_size(tier))
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


def true_values(game, last_tier):
    """Return the values of all positions, by their tiers, as the sparse core has them."""
    if getattr(game, "majority_stop", False):
        game = attrs.evolve(game, majority_stop=False)
    solution = gamedp.solve(FromAnywhere(game, last_tier), compile="never")
    return [
        [solution.value(game.tier_state(tier, index)) for index in range(size)]
        for tier in range(last_tier + 1)
        if (size := game.tier_size(tier)) is not None
    ]


def tables_of(game, last_tier, folder=None, **options):
    return gamedp.tables.tabulate(game, folder, last_tier=last_tier, **options)


def for_mover(tables, state):
    return tables.bounds(state, tables.game.player(state))


def table_of(tables):
    made = tables.for_search()
    return [made.of_tier(tier).tolist() for tier in range(made.top + 1)]


class TestValues:
    @pytest.mark.slow
    @pytest.mark.parametrize(("game", "tier"), MANCALAS, ids=repr)
    def test_of_mancala_are_those_of_the_sparse_core(self, game, tier):
        expected = true_values(game, tier)
        for mode in MODES:
            tables = tables_of(game, tier, compile=mode)
            assert table_of(tables) == expected
            assert tables.verify(300) >= 300
        assert tables.num_places == sum(map(len, expected))

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", [Shedding, Stepping, Symmetric, Rewarding])
    @pytest.mark.parametrize("ahead", [False, True])
    @pytest.mark.parametrize("seed", first_of(range(3)))
    def test_of_made_up_games(self, kind, ahead, seed):
        game = kind(seed=seed, ahead=ahead)
        expected = true_values(game, 4)
        for mode in MODES:
            tables = tables_of(game, 4, compile=mode)
            assert table_of(tables) == expected
            assert tables.verify(200) >= 200
            settled = Heap(1, 3, 17, 5)
            if not game.is_terminal(settled):
                assert for_mover(tables, settled) == (expected[3][17] - 5,) * 2

    def test_positions_that_wait_deeper_than_the_stack(self):
        @attrs.frozen
        class Chain(Shedding):
            def is_terminal(self, state):
                return state.left == 0 or state.place == self.width - 1

            def outcomes(self, state, action):
                yield 1.0, Heap(1 - state.player, state.left, state.place + 1, state.won)

        game = Chain(width=5000)
        tables = tables_of(game, 1, compile="never")
        last = int(game.payoff(Heap(0, 1, 4999, 0), 0))
        assert table_of(tables)[1] == [last * (-1) ** (4999 - place) for place in range(5000)]

    @pytest.mark.parametrize("mode", first_of(MODES))
    @pytest.mark.parametrize(
        ("game", "tiers"),
        [
            (Mancala(pits=2, stones=3), (0, 3, 6, 11)),
            (Mancala(pits=3, stones=2), (4,)),
            (Mancala.kalah(pits=2, stones=3), (5, 12)),
            (Symmetric(seed=1, layers=6), (2, 5)),
            (Rewarding(seed=2, layers=6, ahead=True), (3,)),
        ],
        ids=repr,
    )
    def test_search_with_tables_is_search_without(self, game, tiers, mode):
        value = gamedp.solve(game, compile=mode).value()
        plain = AlphaBeta().search(game, compile=mode)
        assert plain.value() == value
        for tier in tiers:
            tables = tables_of(game, tier, compile=mode)
            found = AlphaBeta(endings=tables).search(game, compile=mode)
            assert found.value() == value
            assert found.best_actions == plain.best_actions
            if tier == tiers[-1]:
                assert found.statistics.ending_probes > 0

    @pytest.mark.parametrize("game", [Mancala(pits=2, stones=2), Mancala(pits=3, stones=1)])
    def test_bounds_hold_though_the_tables_know_nothing_of_the_majority(self, game):
        total = 2 * game.pits * game.stones
        tables = tables_of(game, total - 1, compile="never")
        solution = gamedp.solve(game, compile="never")
        checked = exact = 0
        for index in range(solution.model.num_states):
            state = solution.model.state(index)
            if game.tier(state) == total:
                continue
            low, high = for_mover(tables, state)
            value = solution.value(state) * (1 if game.player(state) == 0 else -1)
            assert low <= value <= high
            assert (low > 0) == (value > 0)
            assert (high < 0) == (value < 0)
            checked += 1
            exact += low == high
        assert 0 < exact < checked

    def test_the_state_of_a_terminal_position(self):
        game = Mancala(pits=2, stones=2)
        tables = tables_of(game, 4)
        state = game.position((0, 0), (1, 0), kalahs=(4, 3), player=1)
        assert not game.is_terminal(state)
        ended = game.position((0, 0), (1, 0), kalahs=(4, 3), player=0)
        assert game.is_terminal(ended)
        assert tables.bounds(ended) == (0.0, 0.0)

    def test_positions_that_the_tables_do_not_cover(self):
        game = Mancala(pits=2, stones=2)
        tables = tables_of(game, 3)
        with pytest.raises(gamedp.errors.UnknownStateError, match="is of tier 8; the game numbers"):
            tables.value(game.initial_state())
        with pytest.raises(gamedp.errors.UnknownStateError, match="tier 4 is not in the tables"):
            tables.value(game.tier_state(4, 20))
        assert repr(tables) == f"<Tables of {game!r}: 4 of 8 tiers>"
        assert (tables.num_places, tables.last_tier, tables.width) == (35, 3, 0.0)

    def test_values_and_best_actions_for_either_player(self):
        game = Mancala(pits=2, stones=3, majority_stop=False)
        tables, solution = tables_of(game, 12), gamedp.solve(game)
        for index in range(0, solution.model.num_states, 7):
            state = solution.model.state(index)
            assert tables.value(state) == solution.value(state) == -tables.value(state, 1)
            assert tables.best_actions(state) == solution.best_actions(state)
        assert tables.value() == solution.value()
        assert tables.best_actions() == solution.best_actions()


WRONG = [
    (
        "RISING",
        gamedp.InvalidModelError,
        r"action 1 in Heap.*leads to.*must nev",
    ),
    (
        "NEGATIVE",
        gamedp.InvalidModelError,
        r"leads to Heap.*place=40.*of tier -1",
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
        r"can recur.*Use Retrograde",
    ),
    (
        "STAYING",
        gamedp.UnsupportedProblemError,
        r"can recur.*Use Retrograde",
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
        r"not a whole number between -127 and 127",
    ),
    (
        "FINE",
        gamedp.UnsupportedProblemError,
        r"not a whole number between -127 and 127",
    ),
    ("UNDEFINED", gamedp.InvalidModelError, r"payoff\(Heap.*is nan"),
    ("FAILING", ValueError, r"no way on from here"),
]


@attrs.frozen
class Faint(Rewarding):
    """What is won is not whole, but by so little that a sum with a whole number is."""

    faint: float = 2.0**-60

    def reward(self, state, action, player):
        return self.faint if player == state.player else -self.faint


@attrs.frozen
class Owing(Shedding):
    owes: int = 2**53

    def settled(self, state, player):
        mine = float(state.won) if state.won < 50 else float(state.won + self.owes)
        return mine if player == 0 else -mine


class TestExactness:
    @pytest.mark.parametrize("mode", MODES)
    def test_sums_that_are_rounded_to_whole_numbers_are_refused(self, mode):
        with pytest.raises(gamedp.UnsupportedProblemError, match="not a whole number"):
            tables_of(Faint(), 2, compile=mode)

    def test_bounds_hold_what_is_settled_beyond_whole_numbers(self):
        tables = tables_of(Owing(), 3)
        place, value = next((k, v) for k, v in enumerate(table_of(tables)[3]) if v % 2)
        state = Heap(0, 3, place, 60)
        low, high = tables.bounds(state)
        assert low <= 2**53 + 60 + value <= high
        assert low < high

    @pytest.mark.parametrize("tier", [-1, 5])
    def test_last_tiers_that_are_not_there(self, tier):
        words = rf"last_tier is {tier}; the tables of Shedding.* have tiers 0 to 4\."
        with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
            tables_of(Shedding(), tier)


class TestWrongRules:
    @pytest.mark.slow
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        ("fault", "error", "words"), WRONG, ids=[fault for fault, _, _ in WRONG]
    )
    def test_are_refused_while_building(self, fault, error, words, mode):
        named = fault == "stumbling"
        game = games.Stumbling() if named else games.Wrong(fault=getattr(games, fault))
        with pytest.raises(error, match=words):
            tables_of(game, 2, compile=mode)

    @pytest.mark.parametrize("mode", MODES)
    def test_a_number_outside_the_tables_stops_a_search(self, mode, monkeypatch):
        monkeypatch.setattr("gamedp.tables.tables.Tables.verify", lambda *_: None)
        game = games.Wrong(layers=8, fault=games.LATE_OUTSIDE)
        tables = tables_of(game, 1, compile=mode)
        with pytest.raises(gamedp.InvalidModelError, match=r"tier_index\(Heap.*is -?10000000000"):
            AlphaBeta(endings=tables).search(game, compile=mode)
        with pytest.raises(gamedp.InvalidModelError, match=r"tier_index\(Heap.*is 10000000000"):
            tables.value(Heap(0, 1, 5, 9))

    @pytest.mark.parametrize(
        "game",
        [games.Forgetful(layers=6), games.Wrong(layers=6, fault=games.LATE_OUTSIDE)],
        ids=["Forgetful", "LateOutside"],
    )
    def test_what_filling_cannot_see_is_found_by_verify(self, game):
        with pytest.raises(gamedp.InvalidModelError, match=r"contradict the rules|tier_index\("):
            tables_of(game, 4, compile="never")

    def test_one_wrong_value_is_found_by_verify(self):
        game = Mancala(pits=2, stones=2)
        tables = tables_of(game, 4)
        assert tables.verify(50, np.random.default_rng(3)) >= 50
        tables.for_search().of_tier(4)[20] += 1
        with pytest.raises(gamedp.InvalidModelError, match="contradict the rules: MancalaState"):
            tables.verify(2000)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="samples is 0"):
            tables.verify(0)

    def test_only_terminal_positions_are_verified_too(self):
        tables = tables_of(Shedding(), 0)
        assert tables.verify(20) >= 20
        tables.for_search().of_tier(0)[:] += 1
        with pytest.raises(gamedp.InvalidModelError, match="but the payoff there is"):
            tables.verify(1)

    def test_games_without_tables(self, tmp_path):
        with pytest.raises(gamedp.UnsupportedProblemError, match="no method tier_state, settled"):
            tables_of(Half(), 3)
        for game in (Mancala(pits=2, stones=1, players=3), Half()):
            with pytest.raises(gamedp.UnsupportedProblemError):
                tables_of(game, 1)
        with pytest.raises(gamedp.UnsupportedProblemError, match="for two players"):
            tables_of(Mancala(pits=2, stones=1, players=3), 1)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="give a ThreadPoolExecutor"):
            tables_of(Shedding(), 1, folder=tmp_path, executor=Executor())

    def test_sizes_that_are_none(self):
        for size, error, words in (
            (-1, gamedp.InvalidModelError, r"tier_size\(0\) is -1"),
            (0.5, gamedp.InvalidModelError, r"tier_size\(0\) is 0.5; it must be an integer"),
            (0, gamedp.UnsupportedProblemError, "numbers no positions"),
        ):
            with pytest.raises(error, match=words):
                tables_of(Sized(size=size), 1)

    def test_more_positions_than_memory_has_room_for(self, tmp_path, monkeypatch):
        tables_of(Mancala(), 4, folder=tmp_path)
        monkeypatch.setattr("gamedp.tables.whole_numbers.available_bytes", lambda: 1000)
        assert tables_of(Mancala(), 4, folder=tmp_path).num_places > 1000
        for game, tier in ((Mancala(), 5), (Mancala(majority_stop=False), None)):
            with pytest.raises(
                gamedp.errors.LimitExceededError, match="take a byte of memory for each"
            ):
                tables_of(game, tier)


class Half:
    """It says how many positions there are, and not which."""

    num_players = 2

    def initial_state(self, *_):
        return 0

    is_terminal = actions = outcomes = payoff = player = initial_state

    def tier(self, state):
        return 0

    def tier_size(self, tier):
        return 1

    def tier_index(self, state):
        return 0


@attrs.frozen
class Sized(Shedding):
    size: Any = 0

    def tier_size(self, tier):
        return self.size


GAME = Mancala(pits=2, stones=4, majority_stop=False)
TIER = 12

# Builds what GAME and TIER say in the folder that is named on its command line, in plain
# Python: slowly enough to be killed on the way. `KILL` names the call of fsync at which it kills
# itself.
CHILD = """
import os, signal, sys
import gamedp
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
gamedp.tables.tabulate(game, sys.argv[1], last_tier=12, compile="never")
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
    return table_of(tables_of(GAME, TIER))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


COMPLETE = ["plan.blocks", *(f"tier-{tier:06d}-0000.blocks" for tier in range(TIER + 1))]


class TestFiles:
    def test_what_was_built_is_opened(self, tmp_path, expected, monkeypatch):
        built = tables_of(GAME, TIER, folder=tmp_path / "new" / "folder")
        assert table_of(built) == expected
        assert names(tmp_path / "new" / "folder") == COMPLETE
        monkeypatch.setattr("gamedp.tables.tables.WholeFiller", None)
        opened = tables_of(GAME, TIER, folder=tmp_path / "new" / "folder")
        assert table_of(opened) == expected
        assert opened.verify(100) >= 100

    def test_only_the_blocks_that_are_touched_are_read(self, tmp_path, monkeypatch):
        game = Shedding(width=5 * BLOCK + 3, layers=1)
        tables_of(game, 1, folder=tmp_path)
        read = []
        original = BlockFile.read
        monkeypatch.setattr(
            BlockFile, "read", lambda file, block: read.append(block) or original(file, block)
        )
        tables = tables_of(game, 1, folder=tmp_path)
        for place in (3 * BLOCK + 5, 3 * BLOCK + 6, 5 * BLOCK + 2):
            state = Heap(0, 1, place, 0)
            while game.is_terminal(state):
                state = state._replace(place=state.place - 1)
            tables.value(state)
        assert read in ([0, 3, 5], [0, 3, 4])  # of the plan, the first one
        start = Heap(0, 1, 2 * BLOCK + 9, 0)
        while game.is_terminal(start):
            start = start._replace(place=start.place + 1)
        AlphaBeta(endings=tables).search(game, start, compile="never")
        assert 3 <= len(read) <= 7

    def test_building_goes_on_with_more_tier(self, tmp_path, expected):
        tables_of(GAME, 5, folder=tmp_path)
        (tmp_path / COMPLETE[3]).unlink()
        before = {name: (tmp_path / name).stat().st_mtime_ns for name in names(tmp_path)}
        assert table_of(tables_of(GAME, TIER, folder=tmp_path)) == expected
        assert names(tmp_path) == COMPLETE
        assert all((tmp_path / name).stat().st_mtime_ns == time for name, time in before.items())

    @pytest.mark.slow
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
        assert table_of(tables_of(GAME, TIER, folder=tmp_path)) == expected
        assert names(tmp_path) == sorted(COMPLETE + left)  # it may be of a process that still works
        for name in left:
            os.utime(tmp_path / name, (0, 0))
        tables_of(GAME, TIER, folder=tmp_path)
        assert names(tmp_path) == COMPLETE

    @pytest.mark.slow
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
        assert table_of(tables_of(GAME, TIER, folder=tmp_path)) == expected

    def test_two_processes_in_one_folder(self, tmp_path, expected):
        processes = [child(tmp_path), child(tmp_path)]
        for process in processes:
            process.communicate(timeout=240)
        assert [process.returncode for process in processes] == [0, 0]
        assert names(tmp_path) == COMPLETE
        assert table_of(tables_of(GAME, TIER, folder=tmp_path)) == expected

    def test_a_file_of_another_version(self, tmp_path, monkeypatch):
        monkeypatch.setattr(block_file, "VERSION", 99)
        tables_of(GAME, 1, folder=tmp_path)
        monkeypatch.undo()
        with pytest.raises(gamedp.errors.DamagedFileError, match="another version of the format"):
            tables_of(GAME, 1, folder=tmp_path)

    def test_a_damaged_block_stops_a_search(self, tmp_path):
        tables_of(GAME, 6, folder=tmp_path)
        path = tmp_path / COMPLETE[6]
        data = bytearray(path.read_bytes())
        data[-3] ^= 4
        path.write_bytes(data)
        tables = gamedp.tables.Tables.open(tmp_path, GAME)
        with pytest.raises(
            gamedp.errors.DamagedFileError, match="block 0 does not match its checksum"
        ):
            AlphaBeta(endings=tables).search(GAME)

    @pytest.mark.parametrize("name", ["tier_index", "settled", "payoff", "next_in_tier"])
    def test_a_file_of_rules_that_have_changed(self, tmp_path, monkeypatch, name):
        game = Stepping()
        tables_of(game, 1, folder=tmp_path)
        changed = {
            "tier_index": lambda self, state: self.width - 1 - state.place,
            "settled": lambda self, state, player: 0.0,
            "payoff": lambda self, state, player: 0.0,
            "next_in_tier": lambda self, state: Heap(0, state.left, 1 + state.place, 0),
        }
        monkeypatch.setattr(Stepping, name, changed[name])
        with pytest.raises(gamedp.errors.DamagedFileError, match="with its present rules"):
            tables_of(game, 1, folder=tmp_path)

    def test_rules_that_cannot_be_followed(self, tmp_path):
        @attrs.frozen
        class Hidden(Shedding):
            @staticmethod
            def worth():
                return 0.0

            def payoff(self, state, player):
                return self.worth() + (state.won if player == 0 else -state.won)

        with pytest.raises(gamedp.UnsupportedProblemError, match="Leave the folder out"):
            tables_of(Hidden(), 1, folder=tmp_path, compile="never")
        assert table_of(tables_of(Hidden(), 1, compile="never"))[0] == [0] * 90

    @pytest.mark.parametrize("call", [0, 1, 3])
    def test_a_full_disk_leaves_nothing_half_written(self, tmp_path, expected, monkeypatch, call):
        calls = []

        def full(handle):
            calls.append(handle)
            if len(calls) > 2 * call:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=COMPLETE[call]) as caught:
            tables_of(GAME, TIER, folder=tmp_path)
        assert caught.value.errno == errno.ENOSPC
        assert names(tmp_path) == COMPLETE[:call]
        monkeypatch.undo()
        assert table_of(tables_of(GAME, TIER, folder=tmp_path)) == expected

    def test_a_folder_that_is_read_only(self, tmp_path, expected, monkeypatch):
        """Forbidden by hand: nothing is forbidden to root, who runs many a test."""
        tables_of(GAME, 3, folder=tmp_path)
        real_open = Path.open

        def read_only(path, mode="r", *arguments, **options):
            if tmp_path in path.parents and mode.strip("bt") != "r":
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real_open(path, mode, *arguments, **options)

        monkeypatch.setattr(Path, "open", read_only)
        assert table_of(tables_of(GAME, 3, folder=tmp_path)) == expected[:4]
        with pytest.raises(PermissionError):
            tables_of(GAME, 4, folder=tmp_path)

    def test_a_folder_that_is_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(FileExistsError):
            tables_of(GAME, 3, folder=tmp_path / "file")

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


class TestThreads:
    @pytest.mark.parametrize("count", [1, 2, 4])
    def test_the_bytes_do_not_depend_on_them(self, count, tmp_path, monkeypatch):
        for name in ("CHUNK", "SHARE"):
            monkeypatch.setattr(f"gamedp.tables.whole_numbers.{name}", 16)
        monkeypatch.setattr("gamedp.tables.whole_numbers.processors", lambda: count)
        game = Stepping(seed=4, layers=3, width=2000, ahead=True)
        with ThreadPoolExecutor(count) as threads:
            for each, executor in (("own", None), ("given", threads)):
                tables_of(game, 3, folder=tmp_path / each, executor=executor)
        alone = tables_of(game, 3, compile="never")
        for each in ("own", "given"):
            for path in (tmp_path / each).glob("tier*"):
                file, other = BlockFile.open(path), BlockFile.open(alone.folder / path.name)
                assert file.read(0).tobytes() == other.read(0).tobytes()

    def test_an_error_in_one_ends_all(self, monkeypatch):
        for name in ("CHUNK", "SHARE"):
            monkeypatch.setattr(f"gamedp.tables.whole_numbers.{name}", 16)
        monkeypatch.setattr("gamedp.tables.whole_numbers.processors", lambda: 3)
        for fault in (games.RISING, games.LOOPING, games.HUGE):
            with pytest.raises((gamedp.InvalidModelError, gamedp.UnsupportedProblemError)):
                tables_of(games.Wrong(fault=fault, width=5000), 2, compile="always")


class TestOtherEyes:
    """What others see while tables are made, read or forged."""

    def test_a_search_refuses_tables_of_another_game(self):
        game, other = Mancala(pits=2, stones=2), Mancala(pits=2, stones=2, chains="never")
        tables = tables_of(game, 3)
        for searcher in (AlphaBeta, ProofNumberSearch):
            assert searcher(endings=tables).search(attrs.evolve(game)).is_proven
            with pytest.raises(gamedp.errors.InvalidParameterError, match="these are tables of"):
                searcher(endings=tables).search(other)
            with pytest.raises(gamedp.errors.InvalidParameterError, match="it must be what"):
                searcher(endings="tables").search(game)

    def test_making_again_changes_nothing_that_is_read(self, monkeypatch):
        tables = tables_of(GAME, 8)
        before, made = table_of(tables), tables.for_search()
        monkeypatch.setattr("gamedp.tables.whole_numbers.TICK", 0.0)

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("gamedp.tables.whole_numbers.wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tables.verify(None)
        assert table_of(tables) == before
        assert [made.of_tier(tier).tolist() for tier in range(9)] == before

    def test_several_starts(self):
        @attrs.frozen
        class Starts(Shedding):
            def initial_state(self):
                return [(1 / 3, Heap(0, 2, place, won)) for place, won in WON]

        WON = ((3, 1), (40, 2), (77, -3))
        tables = tables_of(Starts(layers=2), 2, compile="never")
        low, high = tables.bounds()
        exact = sum(map(Fraction, (tables.value(state) for _, state in Starts().initial_state())))
        assert low <= exact / 3 <= high < low + 1e-13

    @pytest.mark.slow
    @pytest.mark.parametrize("mode", MODES)
    def test_numbers_that_are_none(self, mode):
        with pytest.raises(gamedp.InvalidModelError, match=r"payoff\(Heap.*is nan"):
            tables_of(games.Undefined(seed=3), 3, compile=mode)
        with pytest.raises(gamedp.InvalidModelError, match=r"settled\(Heap.*is nan"):
            tables_of(games.Unsettling(seed=3), 3, compile=mode)
        with pytest.raises(gamedp.InvalidModelError, match=r"ending_range\(Heap.*lower one first"):
            tables_of(games.Reversed(seed=3), 3, compile=mode)

    def test_states_that_are_none(self):
        tables = tables_of(Shedding(), 4)
        for state in ((0, 3, 9), Heap(0, 1, 1.5, 0), "x", 5, ()):
            with pytest.raises(gamedp.errors.UnknownStateError):
                tables.bounds(state)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="compile is"):
            tables_of(Shedding(), 1, compile="perhaps")

    @pytest.mark.parametrize("change", [{"low": 50.0}, {"step": 3.0}, {"error": 9.0}, {}])
    def test_a_forged_block(self, change, tmp_path):
        tables_of(GAME, 3, folder=tmp_path)
        path = tmp_path / COMPLETE[4]
        file = BlockFile.open(path)
        data = np.concatenate([file.read(0)])
        if not change:
            data[5] = -128
        block_file.write_blocks(path, file.content | change, data)
        with pytest.raises(gamedp.errors.DamagedFileError, match="is damaged"):
            gamedp.tables.Tables.open(tmp_path, GAME).bounds(GAME.tier_state(3, 6))

    def test_what_does_not_change_a_byte_is_not_asked(self, tmp_path):
        tables_of(GAME, 3, folder=tmp_path, tolerance=0.5, block_size=7)
        assert tables_of(GAME, 4, folder=tmp_path).last_tier == 4

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
    def test_temporary_folders_end_with_their_process(self):
        program = """
            import os, sys
            import gamedp
            from gamedp.games.mancala import Mancala
            tables = gamedp.tables.tabulate(Mancala(pits=2, stones=1), last_tier=1, compile="never")
            child = os.fork()
            if child == 0:
                sys.exit()
            os.waitpid(child, 0)
            assert tables.folder.exists()
            print(tables.folder)
        """
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert not Path(ended.stdout.strip()).exists()


class TestLimits:
    @pytest.mark.parametrize("mode", MODES)
    def test_time_that_runs_out(self, tmp_path, expected, mode):
        with pytest.raises(
            gamedp.NotSolvedError, match="stopped at its limit of 1e-09 seconds"
        ) as caught:
            tables_of(GAME, TIER, max_seconds=1e-9, compile=mode)
        tables = caught.value.solution
        assert (tables.last_tier, tables.num_places, table_of(tables)) == (None, 0, [])
        assert tables.verify() == 0
        found = AlphaBeta(endings=tables).search(GAME)
        assert (found.value(), found.statistics.ending_probes) == (gamedp.solve(GAME).value(), 0)
        with pytest.raises(gamedp.NotSolvedError, match="Call again: it goes on with"):
            tables_of(GAME, TIER, max_seconds=1e-9, folder=tmp_path, compile=mode)
        assert names(tmp_path) == COMPLETE[:1]
        assert table_of(tables_of(GAME, TIER, folder=tmp_path)) == expected

    def test_an_interruption_within_a_tier(self, tmp_path, monkeypatch):
        monkeypatch.setattr("gamedp.runtime.limit.INTERVAL", 0.0)
        monkeypatch.setattr("gamedp.tables.whole_numbers.TICK", 0.001)
        game = Shedding(width=20_000, layers=1)

        def interrupt(progress):
            if progress.done > game.width:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            tables_of(game, 1, folder=tmp_path, compile="never", progress=interrupt)
        assert names(tmp_path) == COMPLETE[:2]
        again = tables_of(game, 1, folder=tmp_path)
        assert table_of(again) == table_of(tables_of(game, 1))

    def test_progress_and_an_interruption(self, tmp_path, expected, monkeypatch):
        monkeypatch.setattr("gamedp.runtime.limit.INTERVAL", 0.0)
        reports = []
        tables_of(GAME, TIER, progress=reports.append)
        total = sum(map(len, expected))
        assert {report.total for report in reports} == {total}
        assert [report.done for report in reports] == sorted(report.done for report in reports)
        assert reports[-1].done == total
        assert reports[-1].detail == f"tier {TIER}"

        def interrupt(progress):
            if progress.done > 500:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            tables_of(GAME, TIER, folder=tmp_path, progress=interrupt)
        complete = names(tmp_path)
        assert 0 < len(complete) < TIER
        assert complete == COMPLETE[: len(complete)]
        assert table_of(tables_of(GAME, TIER, folder=tmp_path)) == expected
