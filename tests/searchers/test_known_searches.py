"""The known values of searches: Mancala looked ahead, compiled and in plain Python."""

import numba
import pytest
from figures import BY_NAME, MANCALA_VALUES

import gamedp
from gamedp.games.mancala import Mancala

COMPILED = not numba.config.DISABLE_JIT

PERFT = BY_NAME["mancala.perft"].value
MINIMAX = BY_NAME["mancala.minimax"].value
# Pits, stones, by how much the first player wins Kalah, and the first moves that do: computed. With
# four pits, a table of all boards up to 32 stones says the same.
KALAH = [(4, 4, 2.0, (1,)), (5, 3, 6.0, (3,))]
MOST_NODES = 250_000
"""Positions that the search of these may enter."""

PLAIN_DEPTH = 4
"""Plies that plain Python can look ahead in little time."""

DEPTHS = [(stones, depth) for stones, rows in MINIMAX.items() for depth in range(1, len(rows) + 1)]
PLAIN_DEPTHS = [(stones, depth) for stones, depth in DEPTHS if depth <= PLAIN_DEPTH]
TABLES = {"with a table": 2.0**24, "with a small table": 2.0**12, "without a table": 0}


def lines_of_play(counted):
    """Return the lines of play by plies, after checking that none ended."""
    assert counted.positions[0] == 1
    assert counted.ended == (0,) * len(counted.positions)
    return list(counted.positions[1:])


@pytest.mark.parametrize("stones", PERFT)
def test_lines_of_play_of_mancala(stones):
    depth = len(PERFT[stones]) if COMPILED else PLAIN_DEPTH
    assert (
        lines_of_play(gamedp.searchers.perft(Mancala(stones=stones), depth))
        == PERFT[stones][:depth]
    )


@pytest.mark.parametrize("stones", PERFT)
def test_lines_of_play_of_mancala_in_plain_python(stones):
    game = Mancala(stones=stones)
    counted = gamedp.searchers.perft(game, PLAIN_DEPTH, compile="never")
    assert lines_of_play(counted) == PERFT[stones][:PLAIN_DEPTH]


def check_minimax(stones, depth, compile):
    """Check all that plain minimax finds."""
    result = gamedp.searchers.Minimax(depth=depth).search(Mancala(stones=stones), compile=compile)
    check_best(result, stones, depth)
    expected = MINIMAX[stones][depth - 1]
    assert [entry.value for entry in result.actions] == expected
    assert {entry.bound for entry in result.actions} == {"exact"}
    assert result.statistics.nodes == 1 + sum(PERFT[stones][:depth])


def check_best(result, stones, depth):
    """Check a value at a depth, and all actions that reach it, against the known ones."""
    expected = MINIMAX[stones][depth - 1]
    best = max(expected)
    assert result.value() == best
    assert result.best_actions == tuple(
        pit for pit, value in enumerate(expected, 1) if value == best
    )
    assert result.status is gamedp.Status.DEPTH_LIMIT
    assert result.statistics.depth == depth
    assert result.lower < best < result.upper  # a look ahead proves nothing here


def check_alpha_beta(stones, depth, table_bytes, compile):
    """Check what alpha-beta finds: the value, all best actions, and bounds of the others."""
    searcher = gamedp.searchers.AlphaBeta(depth=depth, table_bytes=table_bytes)
    result = searcher.search(Mancala(stones=stones), compile=compile)
    check_best(result, stones, depth)
    for entry, true in zip(result.actions, MINIMAX[stones][depth - 1], strict=True):
        if entry.bound == "exact":
            assert entry.value == true
        else:
            assert entry.bound == "at most"  # it cannot be best, for player 0 moves
            assert true <= entry.value < result.value()
    return result


@pytest.mark.parametrize(("stones", "depth"), DEPTHS if COMPILED else PLAIN_DEPTHS)
def test_moves_of_mancala_by_minimax(stones, depth):
    check_minimax(stones, depth, "auto")


@pytest.mark.parametrize(("stones", "depth"), PLAIN_DEPTHS)
def test_moves_of_mancala_by_minimax_in_plain_python(stones, depth):
    check_minimax(stones, depth, "never")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("stones", "depth"), DEPTHS if COMPILED else PLAIN_DEPTHS)
def test_moves_of_mancala_by_alpha_beta(stones, depth, table):
    result = check_alpha_beta(stones, depth, TABLES[table], "auto")
    if depth >= PLAIN_DEPTH:
        assert result.statistics.nodes < 1 + sum(PERFT[stones][:depth])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("stones", "depth"), PLAIN_DEPTHS)
def test_moves_of_mancala_by_alpha_beta_in_plain_python(stones, depth, table):
    check_alpha_beta(stones, depth, TABLES[table], "never")


def test_how_many_positions_four_plies_of_mancala_visit():
    figure = BY_NAME["mancala.bound"].value
    depth = figure["depth"]
    assert sum(6**ply for ply in range(1, depth + 1)) == figure["positions"]
    for stones in (3, 4):
        game = Mancala(stones=stones)
        visited = sum(gamedp.searchers.perft(game, depth).positions[1:])
        assert visited == figure[f"stones {stones}"] < figure["positions"]
        # Minimax counts the root, too.
        assert gamedp.searchers.Minimax(depth=depth).search(game).statistics.nodes == 1 + visited


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize(("pits", "stones"), [size for size in MANCALA_VALUES if sum(size) < 6])
def test_small_games_of_mancala_are_proven(pits, stones, stop, table):
    game = Mancala(pits=pits, stones=stones, majority_stop=stop)
    expected = MANCALA_VALUES[pits, stones][stop]
    result = gamedp.searchers.AlphaBeta(table_bytes=TABLES[table]).search(game)
    assert result.value() == result.lower == result.upper == max(expected)
    assert result.status is gamedp.Status.SOLVED
    for entry, true in zip(result.actions, expected, strict=True):
        assert entry.lower <= true <= entry.upper
        assert (entry.action in result.best_actions) == (true == max(expected))


def test_six_pits_with_one_stone_are_proven_a_draw():
    if not COMPILED:
        return  # a million nodes take minutes in plain Python
    figure = BY_NAME["mancala.article_claim"].value
    result = gamedp.searchers.AlphaBeta().search(Mancala(stones=figure["stones"]))
    assert result.value() == result.lower == result.upper == figure["value"]


@pytest.mark.parametrize(("pits", "stones", "value", "best"), KALAH)
@pytest.mark.parametrize("all_best", [False, True])
def test_kalah_is_solved_from_tables_of_small_boards(pits, stones, value, best, all_best):
    if not COMPILED:
        return  # hundreds of thousands of nodes take minutes in plain Python
    game = Mancala.kalah(pits, stones)
    tables = gamedp.tables.tabulate(game, last_tier=12)
    result = gamedp.searchers.AlphaBeta(endings=tables, all_best=all_best).search(game)
    assert result.value() == result.lower == result.upper == value
    assert result.best_actions == best
    assert result.statistics.nodes < MOST_NODES
