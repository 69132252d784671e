"""The programs that gamedp is timed against give right answers themselves."""

import json
import shutil
import subprocess
from pathlib import Path

import mancala_reference
import numpy as np
import pytest
from figures import BY_NAME
from wubbel_reference import winning_probabilities

from gamedp.games.mancala import Mancala

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
COMPILER = shutil.which("cc")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler to build peers")


def built_peer(name, folder):
    program = folder / name
    build = [COMPILER, "-O3", "-Wall", "-Wextra", "-Werror", "-o", program, PEERS / f"{name}.c"]
    subprocess.run(build, check=True)
    return program


@pytest.fixture(scope="module")
def wubbel_peer(tmp_path_factory):
    """Return a function that runs the peer and returns what it printed and its table."""
    folder = tmp_path_factory.mktemp("peers")
    program = built_peer("wubbel", folder)

    def run(goal, change):
        table = folder / "table"
        command = [program, str(goal), str(change), table]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return json.loads(printed), np.fromfile(table).reshape(goal, goal, goal)

    run.program = program
    return run


def largest_error(table, goal):
    values = winning_probabilities(goal)
    return max(abs(table[position] - value) for position, value in values.items())


def test_the_article_s_precision(wubbel_peer):
    figure = BY_NAME["wubbel.article_code"].value
    printed, table = wubbel_peer(50, figure["change"])
    assert printed["value"] == table[0, 0, 0]
    assert printed["value"] == pytest.approx(figure["P000"], abs=1e-8)
    assert printed["sweeps"] == pytest.approx(figure["sweeps"], rel=1e-3)
    assert largest_error(table, 50) == pytest.approx(figure["largest error"], rel=0.1)


def test_a_higher_precision(wubbel_peer):
    printed, table = wubbel_peer(50, 1e-14)
    assert printed["value"] == pytest.approx(BY_NAME["wubbel.P000"].value, abs=3e-13)
    assert largest_error(table, 50) < 3e-13


@pytest.mark.parametrize("goal", [1, 2, 7, 16, 23])
def test_other_goals(wubbel_peer, goal):
    printed, table = wubbel_peer(goal, 1e-13)
    assert printed["goal"] == goal
    assert largest_error(table, goal) < 3e-12
    own, _, turn = np.indices(table.shape)
    assert (table[own + turn >= goal] == 1).all()


@pytest.mark.parametrize("arguments", [[], ["50"], ["0", "1e-8"], ["50", "1e-16"], ["50", "nan"]])
def test_arguments_that_make_no_sense(wubbel_peer, arguments):
    outcome = subprocess.run(
        [wubbel_peer.program, *arguments], check=False, capture_output=True, text=True
    )
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("usage: ")


@pytest.fixture(scope="module")
def mancala(tmp_path_factory):
    """Return a function that runs the peer and returns what it printed."""
    program = built_peer("mancala", tmp_path_factory.mktemp("peers"))

    def run(*arguments):
        command = [program, *map(str, arguments)]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    run.program = program
    return run


@pytest.mark.parametrize("stones", [3, 4, 6])
def test_trees_of_mancala(mancala, stones):
    nodes = 1
    for depth, leaves in enumerate(BY_NAME["mancala.perft"].value[stones], 1):
        nodes += leaves
        printed = mancala("perft", 6, stones, depth)
        assert (printed["leaves"], printed["nodes"]) == (leaves, nodes)
        value = max(BY_NAME["mancala.minimax"].value[stones][depth - 1])
        printed = mancala("minimax", 6, stones, depth)
        assert (printed["value"], printed["nodes"]) == (value, nodes)
        for order in ((), ("down",)):
            printed = mancala("alphabeta", 6, stones, depth, *order)
            assert printed["value"] == value
            assert printed["nodes"] <= nodes
        printed = mancala("deepening", 6, stones, depth)
        assert printed["value"] == value


@pytest.mark.parametrize(("pits", "stones"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
def test_whole_games_of_mancala(mancala, pits, stones):
    # A move takes a stone out of play, or one in play nearer to a kalah: no game is longer.
    longest = sum(pits * in_play for in_play in range(2 * pits * stones + 1))
    value = max(BY_NAME["mancala.values"].value[pits, stones][True])
    assert mancala("alphabeta", pits, stones, longest)["value"] == value


@pytest.mark.parametrize("mode", ["endings", "endings-plain"])
@pytest.mark.parametrize(("pits", "stones"), [(1, 9), (2, 12), (3, 8), (4, 5), (6, 4)])
def test_endings_of_mancala(mancala, mode, pits, stones, tmp_path):
    printed = mancala(mode, pits, stones, tmp_path / "table")
    table = np.fromfile(tmp_path / "table", np.int8)
    game = Mancala(pits=pits, stones=-(-stones // (2 * pits)), majority_stop=False)
    value = mancala_reference.value_function(game)
    expected = [
        value(*game.board(game.tier_state(tier, index)))
        for tier in range(stones + 1)
        for index in range(game.tier_size(tier))
    ]
    assert table.tolist() == expected
    assert printed["boards"] == len(expected)
    checksum = 0
    for byte in table.tobytes():
        checksum = checksum * 1099511628211 % 2**64 ^ byte
    assert printed["checksum"] == checksum


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["perft", "6", "6"],
        ["perft", "6", "6", "3", "down"],
        ["minimax", "6", "0", "3"],
        ["alphabeta", "6", "6", "-1"],
        ["alphabeta", "6", "6", "3", "up"],
        ["alphabeta", "6", "43", "3"],
        ["deepening", "6", "6", "64"],
        ["endings", "0", "3"],
        ["endings", "6", "128"],
        ["endings-plain", "6", "128"],
        ["solve", "6", "6", "3"],
    ],
)
def test_arguments_that_make_no_mancala(mancala, arguments):
    command = [mancala.program, *arguments]
    outcome = subprocess.run(command, check=False, capture_output=True, text=True)
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("usage: ")


def test_more_endings_than_there_is_memory_for(mancala):
    command = [mancala.program, "endings", "6", "100"]
    outcome = subprocess.run(command, check=False, capture_output=True, text=True)
    assert outcome.returncode == 1
    assert "no memory for so many boards" in outcome.stderr
