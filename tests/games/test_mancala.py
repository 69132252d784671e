"""Mancala: its rules move by move, its packed boards, and what search and tables read of it."""

import itertools
import math
import pickle
import re

import attrs
import mancala_reference as reference
import numpy as np
import pytest
from depth import first_of
from hypothesis import HealthCheck, given, settings, strategies as st
from numba import njit

import gamedp
from gamedp.compiler.bridge import bind
from gamedp.games.mancala import Board, Mancala, MancalaState
from gamedp.rules.anatomy import dissect
from gamedp.testing import check_game

relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

OPTIONS = {
    "skip_source": (False, True),
    "chains": ("sowing", "move", "never"),
    "occupied": ("now", "before"),
    "captures": ("run", "run-unchained", "opposite", "opposite-empty"),
    "move_again": (False, True),
    "majority_stop": (True, False),
    "ends": ("mover", "either"),
    "leftover": ("owner", "out", "nobody"),
}
VARIANTS = [
    {},
    *({name: value} for name, values in OPTIONS.items() for value in values[1:]),
    {"captures": "opposite-empty", "chains": "move", "occupied": "before", "move_again": True},
    {"majority_stop": False, "ends": "either", "leftover": "out"},
    {"majority_stop": False, "ends": "either", "leftover": "nobody", "skip_source": True},
]
"""One option at a time, and some together."""


def after(game, board, pit):
    """Return the board after a move."""
    state = game.position(*board.rows, kalahs=board.kalahs, player=board.player)
    assert pit in list(game.actions(state))
    [(chance, following)] = game.outcomes(state, pit)
    assert chance == 1.0
    return game.board(following)


# name: size, options, rows, kalahs, pit of player 0, rows, kalahs, next player
MOVES = {
    "one by one": (
        (3, 2), {}, ((2, 2, 2), (2, 2, 2)), (0, 0), 1, ((0, 3, 3), (2, 2, 2)), (0, 0), 1,
    ),
    "into the own kalah": (
        (3, 2), {}, ((2, 2, 2), (2, 2, 2)), (0, 0), 2, ((2, 0, 3), (2, 2, 2)), (1, 0), 1,
    ),
    "and once more": (
        (3, 2), {"move_again": True},
        ((2, 2, 2), (2, 2, 2)), (0, 0), 2, ((2, 0, 3), (2, 2, 2)), (1, 0), 0,
    ),
    "a capture of all pits": (
        (3, 2), {}, ((0, 0, 4), (2, 1, 2)), (2, 1), 3, ((0, 0, 0), (0, 0, 0)), (11, 1), 1,
    ),
    "a capture ends at a pit with neither two nor three": (
        (3, 2), {}, ((0, 0, 4), (4, 1, 2)), (1, 0), 3, ((0, 0, 0), (5, 0, 0)), (7, 0), 1,
    ),
    "no capture of one": (
        (3, 2), {}, ((1, 0, 3), (1, 0, 2)), (3, 2), 3, ((1, 0, 0), (2, 1, 2)), (4, 2), 1,
    ),
    "no capture of four": (
        (3, 2), {}, ((1, 0, 3), (1, 3, 2)), (1, 1), 3, ((1, 0, 0), (2, 4, 2)), (2, 1), 1,
    ),
    "a chain": (
        (3, 2), {}, ((1, 0, 5), (0, 0, 1)), (3, 2), 3, ((0, 1, 1), (1, 1, 2)), (4, 2), 1,
    ),
    "no chain from an empty pit": (
        (3, 2), {}, ((0, 1, 5), (0, 0, 1)), (3, 2), 3, ((1, 1, 0), (1, 1, 2)), (4, 2), 1,
    ),
    "no chain without a stone for the opponent": (
        (3, 2), {}, ((1, 2, 1), (3, 3, 2)), (0, 0), 1, ((0, 3, 1), (3, 3, 2)), (0, 0), 1,
    ),
    "the second sowing stays at home": (
        (4, 1), {},
        ((1, 0, 1, 6), (0, 0, 0, 0)), (0, 0), 4, ((0, 1, 2, 0), (1, 1, 1, 1)), (1, 0), 1,
    ),
    "but the first one did not": (
        (4, 1), {"chains": "move"},
        ((1, 0, 1, 6), (0, 0, 0, 0)), (0, 0), 4, ((0, 1, 0, 1), (1, 1, 1, 1)), (2, 0), 1,
    ),
    "no chains at all": (
        (4, 1), {"chains": "never"},
        ((1, 0, 1, 6), (0, 0, 0, 0)), (0, 0), 4, ((2, 0, 1, 0), (1, 1, 1, 1)), (1, 0), 1,
    ),
    "13 stones end in the source": (
        (6, 2), {}, ((0, 0, 13, 0, 0, 0), (4, 1, 0, 0, 0, 0)), (2, 4), 3,
        ((1, 1, 1, 1, 1, 1), (5, 2, 1, 1, 1, 1)), (3, 4), 1,
    ),
    "which was occupied before": (
        (6, 2), {"occupied": "before"}, ((0, 0, 13, 0, 0, 0), (4, 1, 0, 0, 0, 0)), (2, 4), 3,
        ((1, 1, 0, 2, 1, 1), (5, 2, 1, 1, 1, 1)), (3, 4), 1,
    ),
    "or after it, if the source is left out": (
        (6, 2), {"skip_source": True, "chains": "never"},
        ((0, 0, 13, 0, 0, 0), (4, 1, 0, 0, 0, 0)), (2, 4), 3,
        ((1, 1, 0, 2, 1, 1), (5, 2, 1, 1, 1, 1)), (3, 4), 1,
    ),
    "more than a lap, a chain, a capture": (
        (2, 2), {}, ((6, 0), (0, 0)), (1, 1), 1, ((1, 0), (0, 1)), (5, 1), 1,
    ),
    "an unchained capture only": (
        (2, 2), {"captures": "run-unchained"},
        ((6, 0), (0, 0)), (1, 1), 1, ((1, 0), (2, 1)), (3, 1), 1,
    ),
    "a pit filled by the same sowing is not occupied before": (
        (2, 2), {"occupied": "before"}, ((6, 0), (0, 0)), (1, 1), 1, ((1, 2), (1, 1)), (2, 1), 1,
    ),
    "the pit across the board": (
        (3, 2), {"captures": "opposite"},
        ((1, 0, 2), (2, 3, 1)), (2, 1), 1, ((0, 0, 2), (2, 0, 1)), (6, 1), 1,
    ),
    "an empty pit across": (
        (3, 2), {"captures": "opposite"},
        ((1, 0, 2), (2, 0, 1)), (4, 2), 1, ((0, 1, 2), (2, 0, 1)), (4, 2), 1,
    ),
    "an empty pit across, captured": (
        (3, 2), {"captures": "opposite-empty"},
        ((1, 0, 2), (2, 0, 1)), (4, 2), 1, ((0, 0, 2), (2, 0, 1)), (5, 2), 1,
    ),
    "three: past every side, and a capture that stays on one": (
        (2, 2, 3), {}, ((0, 4), (1, 1), (1, 1)), (2, 1, 1), 2,
        ((0, 0), (2, 2), (0, 1)), (5, 1, 1), 1,
    ),
    "three: a chain round the ring": (
        (2, 2, 3), {}, ((1, 6), (1, 1), (0, 1)), (1, 1, 0), 2,
        ((0, 1), (2, 2), (1, 2)), (3, 1, 0), 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_moves(name):
    size, options, rows, kalahs, pit, rows_after, kalahs_after, following = MOVES[name]
    game = Mancala(**dict(zip(("pits", "stones", "players"), size, strict=False)), **options)
    for player in range(game.players):  # whoever makes it: seats are alike
        seats = [(seat - player) % game.players for seat in range(game.players)]
        board = Board([rows[seat] for seat in seats], [kalahs[seat] for seat in seats], player)
        assert after(game, board, pit) == Board(
            tuple(rows_after[seat] for seat in seats),
            tuple(kalahs_after[seat] for seat in seats),
            (following + player) % game.players,
        )


def end(rows, kalahs, player=0, size=(2, 2), **options):
    """Return whether the game is over, and what it pays to the players if so."""
    game = Mancala(*size, **options)
    state = game.position(*rows, kalahs=kalahs, player=player)
    if not game.is_terminal(state):
        return None
    return tuple(game.payoff(state, player) for player in range(game.players))


class TestEnds:
    def test_more_than_half_ends_the_game_and_what_is_left_does_not_count(self):
        assert end(((0, 1), (1, 1)), (5, 0), player=1) == (5.0, -5.0)
        assert end(((0, 1), (1, 1)), (0, 5), player=0) == (-5.0, 5.0)
        assert end(((0, 1), (1, 1)), (5, 0), player=1, majority_stop=False) is None

    def test_rows_alone_are_played_to_the_end(self):
        # Five stones in a kalah are the majority of eight; with one missing nobody can tell.
        game = Mancala(pits=2, stones=2)
        assert game.is_terminal(MancalaState(0, (0x502, 0x001)))
        assert not game.is_terminal(MancalaState(0, (0x501, 0x001)))
        assert game.payoff(MancalaState(0, (0x500, 0x001)), 0) == 5 - 1

    def test_half_is_not_more_than_half(self):
        assert end(((0, 1), (1, 1)), (4, 1), player=1) is None

    def test_the_majority_goes_before_an_empty_row(self):
        assert end(((0, 1), (0, 0)), (5, 2), player=1) == (3.0, -3.0)
        assert end(((0, 1), (0, 0)), (5, 2), player=1, majority_stop=False) == (4.0, -4.0)

    @pytest.mark.parametrize(
        ("leftover", "first"), [("owner", 2 + 3 - 3), ("out", 2 - 3 - 3), ("nobody", 2 - 3)]
    )
    def test_what_is_left_when_the_mover_is_out(self, leftover, first):
        kept = end(((1, 2), (0, 0)), (2, 3), player=1, leftover=leftover)
        assert kept == (first, -first)

    def test_the_other_row_may_be_empty_or_not(self):
        assert end(((1, 2), (0, 0)), (2, 3), player=0) is None
        assert end(((1, 2), (0, 0)), (2, 3), player=0, ends="either") == (2.0, -2.0)
        assert end(((1, 2), (0, 0)), (2, 3), player=0, ends="either", leftover="out") == (-4, 4)

    def test_nothing_left_at_all(self):
        assert end(((0, 0), (0, 0)), (4, 4)) == (0.0, -0.0)

    @pytest.mark.parametrize(
        ("leftover", "kept"),
        [("owner", (3, 3, 6)), ("out", (3, 5, 4)), ("nobody", (3, 3, 4))],
    )
    def test_of_three_each_has_the_own_kalah(self, leftover, kept):
        rows, kalahs = ((0, 0), (0, 0), (1, 1)), (3, 3, 4)
        assert end(rows, kalahs, 1, (2, 2, 3), leftover=leftover) == kept

    def test_of_three_somebody_else_may_be_out(self):
        rows, kalahs = ((0, 0), (1, 0), (1, 1)), (3, 2, 4)
        assert end(rows, kalahs, 1, (2, 2, 3)) is None
        assert end(rows, kalahs, 1, (2, 2, 3), ends="either") == (3.0, 3.0, 6.0)
        out = end(rows, kalahs, 2, (2, 2, 3), ends="either", leftover="out")
        assert out == (6.0, 2.0, 4.0)

    def test_of_three_more_than_half_is_more_than_all_others(self):
        rows = ((0, 1), (1, 0), (1, 1))
        assert end(rows, (7, 1, 0), 1, (2, 2, 3)) == (7.0, 1.0, 0.0)
        assert end(rows, (6, 1, 1), 1, (2, 2, 3)) is None


@st.composite
def mancala_games(draw, players=(2, 2, 2, 3, 4), pits=6, stones=5):
    """Draw a game with any options."""
    chosen = {name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()}
    chosen["players"] = draw(st.sampled_from(players))
    if chosen["players"] > 2:
        chosen["captures"] = draw(st.sampled_from(("run", "run-unchained")))
    return Mancala(draw(st.integers(1, pits)), draw(st.integers(1, stones)), **chosen)


@st.composite
def boards(draw, game):
    """Draw any board with all stones of the game, heaps of many stones among them."""
    total = game.players * game.pits * game.stones
    fields = game.players * (game.pits + 1)
    cuts = draw(st.lists(st.integers(0, total), min_size=fields - 1, max_size=fields - 1))
    cuts = [0, *sorted(cuts), total]
    counts = draw(st.permutations([high - low for low, high in itertools.pairwise(cuts)]))
    rows = tuple(
        tuple(counts[seat * game.pits : (seat + 1) * game.pits]) for seat in range(game.players)
    )
    kalahs = tuple(counts[game.players * game.pits :])
    return Board(rows, kalahs, draw(st.integers(0, game.players - 1)))


@relaxed
@given(st.data())
def test_the_rules_are_those_stone_by_stone(data):
    game = data.draw(mancala_games())
    board = data.draw(boards(game))
    rows, kalahs, player = board
    state = game.position(*rows, kalahs=kalahs, player=player)
    assert game.board(state) == board
    over = reference.is_over(game, rows, kalahs, player)
    assert game.is_terminal(state) == over
    if over:
        kept = reference.results(game, rows, kalahs, player)
        if game.players == 2:
            kept = [kept[0] - kept[1], kept[1] - kept[0]]
        assert [game.payoff(state, each) for each in range(game.players)] == kept
        return
    pits = [pit for pit in range(1, game.pits + 1) if rows[player][pit - 1]]
    assert list(game.actions(state)) == pits
    for pit in pits:
        expected = reference.moved(game, rows, kalahs, player, pit)
        found = after(game, board, pit)
        assert [list(map(list, found.rows)), list(found.kalahs), found.player] == list(expected)
        [(_, following)] = game.outcomes(state, pit)
        assert game.tier(following) <= game.tier(state)
        now, then = (game.value_range(each, player) for each in (state, following))
        assert now[0] <= then[0] <= then[1] <= now[1]


class TestBoards:
    def test_a_side_is_its_fields_from_the_first_pit_on(self):
        game = Mancala(pits=2, stones=1)  # 3 bits a field
        state = game.position((0, 2), (1, 0), kalahs=(0, 1), player=1)
        assert state == MancalaState(1, (0b001_000_001, 0b000_010_000))

    def test_rows_alone_have_empty_kalahs(self):
        game = Mancala(pits=2, stones=2)
        board = game.board(game.position((0, 3), (1, 0)))
        assert board == Board(((0, 3), (1, 0)), (0, 0), 0)

    @pytest.mark.parametrize(
        ("rows", "kalahs", "player", "words"),
        [
            (((2, 2),), None, 0, "rows of [2] pits; give 2 rows of 2"),
            (((2, 2), (2, 2, 0)), None, 0, "rows of [2, 3] pits"),
            (((2, 2), (2, 2)), (0,), 0, "1 kalahs; give 2, or none at all"),
            (((2, 2), (2, -1)), None, 0, "not a number of stones"),
            (((2, 2), (2, 1.5)), None, 0, "not a number of stones"),
            (((2, 2), (2, True)), None, 0, "not a number of stones"),
            (((2, 2), (2, 3)), (0, 0), 0, "9 stones, but the game has 8 in all; take 1 away"),
            (((2, 2), (2, 3)), None, 0, "9 stones, but the game has 8 in all"),
            (((2, 2), (2, 0)), (0, 0), 0, "6 of the 8 stones; put the other 2 into"),
            (((2, 2), (2, 2)), (0, 0), 2, "player=2 to move; the players are 0 to 1"),
            (((2, 2), (2, 2)), (0, 0), True, "player=True to move"),
        ],
    )
    def test_what_is_no_board_is_refused(self, rows, kalahs, player, words):
        with pytest.raises(gamedp.errors.InvalidParameterError) as caught:
            Mancala(pits=2, stones=2).position(*rows, kalahs=kalahs, player=player)
        assert words in str(caught.value)

    def test_a_drawing_of_two_sides(self):
        game = Mancala(pits=3, stones=4)
        state = game.position((0, 2, 12), (3, 0, 1), kalahs=(4, 2), player=1)
        assert game.render(state).splitlines() == [
            "second player to move",
            "             3  2  1",
            "second       1  0  3",
            "         2             4",
            "first        0  2 12",
            "             1  2  3",
        ]

    def test_a_drawing_of_the_end(self):
        game = Mancala(pits=2, stones=2)
        state = game.position((1, 2), (0, 0), kalahs=(2, 3), player=1)
        head, *_ = game.render(state).splitlines()
        assert head == "game over: first player 5, second player 3"

    def test_a_drawing_of_three_sides(self):
        game = Mancala(pits=2, stones=1, players=3)
        assert game.render(game.initial_state()).splitlines() == [
            "player 1 to move",
            "          1 2  kalah",
            "player 1  1 1      0",
            "player 2  1 1      0",
            "player 3  1 1      0",
        ]

    def test_pits_have_names(self):
        game = Mancala()
        start = game.initial_state()
        names = [game.action_name(start, action) for action in game.actions(start)]
        assert names == ["pit 1", "pit 2", "pit 3", "pit 4", "pit 5", "pit 6"]


class TestParameters:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"pits": 0}, "pits must be a whole number of at least 1"),
            ({"stones": 0}, "stones must be a whole number of at least 1"),
            ({"stones": 2.5}, "stones must be a whole number of at least 1"),
            ({"players": 1}, "players must be a whole number of at least 2"),
            ({"skip_source": 1}, "skip_source must be True or False"),
            ({"chains": "always"}, "chains must be one of 'sowing', 'move', 'never'"),
            ({"occupied": True}, "occupied must be one of 'now', 'before'"),
            ({"captures": "all"}, "captures must be one of 'run', 'run-unchained', 'opposite'"),
            ({"ends": "both"}, "ends must be one of 'mover', 'either'"),
            ({"leftover": None}, "leftover must be one of 'owner', 'out', 'nobody'"),
            ({"players": 3, "captures": "opposite"}, "for two players: with players=3"),
            ({"pits": 6, "stones": 43}, "takes 70 bits, and there are 63; take at most 42 stones"),
            ({"pits": 20, "stones": 1}, "takes 126 bits, and there are 63; take fewer pits"),
        ],
    )
    def test_what_makes_no_game_is_refused(self, options, words):
        with pytest.raises(gamedp.errors.InvalidParameterError) as caught:
            Mancala(**options)
        assert words in str(caught.value)

    def test_all_63_bits_are_used(self):
        game = Mancala(pits=6, stones=42)
        state = game.position((0,) * 6, (0,) * 6, kalahs=(504, 0))
        assert state.sides[0].bit_length() == 63
        assert game.payoff(state, 0) == 504.0

    @pytest.mark.parametrize("options", VARIANTS, ids=repr)
    def test_a_game_is_a_value(self, options):
        game = Mancala(**options)
        assert pickle.loads(pickle.dumps(game)) == attrs.evolve(game) == game
        assert hash(attrs.evolve(game)) == hash(game)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            game.pits = 3

    def test_presets(self):
        kalah = Mancala.kalah()
        assert (kalah.pits, kalah.stones, kalah.chains, kalah.move_again) == (6, 4, "never", True)
        oware = Mancala.oware_style(stones=3)
        assert (oware.pits, oware.stones, oware.skip_source, oware.chains) == (6, 3, True, "never")


SMALL_GAMES = [
    *(Mancala(pits=2, stones=2, **options) for options in VARIANTS),
    Mancala(pits=1, stones=4),
    Mancala(pits=3, stones=1),
    Mancala.kalah(pits=2, stones=3),
    Mancala.oware_style(pits=2, stones=3),
    Mancala(pits=1, stones=2, players=3),
    Mancala(pits=2, stones=1, players=3, chains="move", ends="either", leftover="out"),
    Mancala(pits=1, stones=1, players=4, move_again=True, majority_stop=False),
]


@pytest.mark.slow
@pytest.mark.parametrize("game", SMALL_GAMES, ids=repr)
def test_small_games_keep_what_they_promise(game):
    report = check_game(game, max_states=3000, compile=True)
    assert report.complete
    assert "the claim acyclic" in report.checks
    assert "compiled and plain rules give the same model" in report.checks


@pytest.mark.slow
@pytest.mark.parametrize("options", VARIANTS, ids=repr)
@pytest.mark.parametrize("size", first_of([(2, 9), (3, 5)]))
def test_moves_are_told_to_where_the_packed_rules_lead(options, size):
    """Long sowings and chains, by rules in lists that share nothing with those on integers."""
    report = check_game(Mancala(*size, **options), max_states=40, compile=False)
    assert "steps end at the next position" in report.checks


def test_a_move_is_told_stone_by_stone():
    game = Mancala(pits=3, stones=3)
    start = game.initial_state()
    [(_, board)] = game.outcomes(start, 3)
    told = list(game.steps(start, 3, 0))
    assert [words for words, _ in told] == ["3 stones of pit 3 are sown", "", "", ""]
    assert [view.stores for _, view in told] == [(0, 0), (0, 1), (0, 1), (0, 1)]
    assert str(told[-1][1]) == str(attrs.evolve(game.view(board), spots={}))
    kalah = Mancala.kalah(pits=3, stones=3)
    *_, (words, _) = kalah.steps(kalah.initial_state(), 1, 0)
    assert words == "the last stone falls into the own store, which gives another move"


@pytest.mark.parametrize("leftover", ["owner", "out", "nobody"])
@pytest.mark.parametrize(("players", "majority_stop"), [(2, False), (2, True), (3, False)])
def test_the_end_is_told_so_that_the_payoff_can_be_counted(leftover, players, majority_stop):
    game = Mancala(3, 3, players=players, leftover=leftover, majority_stop=majority_stop)
    state, rng = game.initial_state(), np.random.default_rng(7)
    while not game.is_terminal(state):
        before, action = state, int(rng.choice(list(game.actions(state))))
        [(_, state)] = game.outcomes(before, action)
    kept = list(game.board(state).kalahs)
    told = " ".join(words for words, _ in game.steps(before, action, 0))
    names = ["player 1", "player 2", "player 3"]
    if players == 2:
        names = ["the first player", "the second player"]
    for player, name in enumerate(names):
        has_most = f"{name} has more than half of all stones" in told
        assert has_most == (majority_stop and kept[player] > 3 * 3 * players / 2)
        found = re.search(f"counts for {name}: (\\d+)", told)
        kept[player] += int(found[1]) if found else 0
    payoffs = [game.payoff(state, player) for player in range(players)]
    assert payoffs == (kept if players == 3 else [kept[0] - kept[1], kept[1] - kept[0]])


@pytest.mark.parametrize("game", [g for g in SMALL_GAMES if g.players == 2], ids=repr)
def test_values_stone_by_stone(game):
    value = reference.value_function(game)
    solution = gamedp.solve(game, compile="never")
    model = solution.model
    for index in range(model.num_states):
        state = model.state(index)
        expected = value(*game.board(state))
        assert solution.value(state) == expected, state
        low, high = game.value_range(state, 0)
        assert low <= expected <= high
        assert game.value_range(state, 1) == (-high, -low)
        if game.is_terminal(state):
            assert low == high == game.payoff(state, 0)


def test_three_players_end_within_their_ranges():
    game = Mancala(pits=2, stones=1, players=3)
    solution = gamedp.solve(game, compile="never")
    for index in range(solution.model.num_states):
        state = solution.model.state(index)
        for player in range(3):
            low, high = game.value_range(state, player)
            over = game.is_terminal(state)
            assert low == (game.payoff if over else game.heuristic)(state, player)
            assert low <= solution.value(state, player) <= high


def every_board(game, most=None):
    """Yield rows of two players with up to `most` stones, all of them."""
    most = 2 * game.pits * game.stones if most is None else most
    for counts in itertools.product(range(most + 1), repeat=2 * game.pits):
        if sum(counts) <= most:
            yield counts[: game.pits], counts[game.pits :]


TABLE_GAMES = [
    *(
        Mancala(2, 2, move_again=again, majority_stop=stop, ends=ends, leftover=leftover)
        for again, stop, ends, leftover in itertools.product(
            (False, True), (True, False), OPTIONS["ends"], OPTIONS["leftover"]
        )
    ),
    Mancala(pits=2, stones=2, captures="opposite-empty"),
    Mancala(pits=1, stones=5),
    Mancala(pits=2, stones=3),
    Mancala(pits=3, stones=1),
]


class TestEndings:
    @pytest.mark.slow
    @pytest.mark.parametrize("game", TABLE_GAMES, ids=repr)
    def test_what_a_table_says_of_every_position(self, game):
        """Every board, with every way to have the other stones in kalahs that ends no game."""
        total = 2 * game.pits * game.stones
        with_stop = reference.value_function(game)
        without = reference.value_function(attrs.evolve(game, majority_stop=False))
        narrow = 0
        for own, opponent in every_board(game):
            left = total - sum(own) - sum(opponent)
            alone = without((own, opponent), (0, 0), 0)
            for kalah in range(left + 1):
                kalahs = (kalah, left - kalah)
                state = game.position(own, opponent, kalahs=kalahs)
                value = with_stop((own, opponent), kalahs, 0)
                low, high = game.ending_range(state, alone)
                assert low <= value <= high, state
                mirrored = MancalaState(1, state.sides)
                assert game.ending_range(mirrored, alone) == (low, high)
                if game.majority_stop and not game.is_terminal(state):
                    assert (low > 0) - (high < 0) == (value > 0) - (value < 0)
                else:
                    assert low == high
                narrow += low == high
                if not game.majority_stop:
                    settled = game.settled(state, 0)
                    assert settled == kalahs[0] - kalahs[1] == -game.settled(state, 1)
                    assert value == settled + alone
        assert narrow > 0

    @pytest.mark.parametrize("game", TABLE_GAMES, ids=repr)
    def test_boards_have_numbers_without_a_gap(self, game):
        total = 2 * game.pits * game.stones
        most = total - game.majority_stop
        found = {}
        for own, opponent in every_board(game):
            state = game.position(own, opponent)
            assert game.tier(state) == sum(own) + sum(opponent)
            if game.tier(state) <= most:
                found.setdefault(game.tier(state), []).append(game.tier_index(state))
        for tier in range(total + 2):
            count = math.comb(tier + 2 * game.pits - 1, 2 * game.pits - 1)
            assert game.tier_size(tier) == (count if tier <= most else 0)
            indices = sorted(found.get(tier, []))
            assert indices == list(range(game.tier_size(tier)))
            for index in indices:
                state = game.tier_state(tier, index)
                assert game.tier(state) == tier
                assert game.tier_index(state) == index
                assert game.settled(state, 0) == state.player == 0
                if index < len(indices) - 1:
                    assert game.next_in_tier(state) == game.tier_state(tier, index + 1)

    @pytest.mark.parametrize("game", TABLE_GAMES, ids=repr)
    def test_moves_that_keep_all_stones_lead_to_smaller_numbers(self, game):
        kept = 0
        for own, opponent in every_board(game):
            state = game.position(own, opponent)
            if game.tier_size(game.tier(state)) == 0 or game.is_terminal(state):
                continue
            for action in game.actions(state):
                [(_, following)] = game.outcomes(state, action)
                if game.tier(following) == game.tier(state):
                    kept += 1
                    assert game.tier_index(following) < game.tier_index(state)
        assert kept > 0 or game.pits == 1

    @given(st.data())
    def test_numbers_of_the_real_game(self, data):
        game = Mancala()
        tier = data.draw(st.integers(0, 36))
        index = data.draw(st.integers(0, game.tier_size(tier) - 1))
        state = game.tier_state(tier, index)
        assert game.tier(state) == tier
        assert game.tier_index(state) == index
        if index + 1 < game.tier_size(tier):
            assert game.tier_index(game.next_in_tier(state)) == index + 1
        first, second = state.sides
        full = MancalaState(1, (first | 7 << 42, second | 9 << 42))
        assert game.tier_index(full) == index

    def test_values_of_moves_fit_the_table(self):
        """A table built by the rules from the empty board up is right about every position."""
        game = Mancala(pits=2, stones=3)
        table = {}

        def value(state):
            if game.is_terminal(state):
                return game.payoff(state, state.player)
            return max(
                (1 if following.player == state.player else -1)
                * (game.settled(following, following.player) + entry(following))
                for action in game.actions(state)
                for _, following in game.outcomes(state, action)
            )

        def entry(state):
            place = game.tier(state), game.tier_index(state)
            if place not in table:
                table[place] = value(game.tier_state(*place))
            return table[place]

        without = reference.value_function(attrs.evolve(game, majority_stop=False))
        for tier in range(7):
            for index in range(game.tier_size(tier)):
                state = game.tier_state(tier, index)
                assert entry(state) == without(*game.board(state))

    def test_where_tables_are_not_for(self):
        assert Mancala(pits=2, stones=2, players=3).tier_size(1) == 0
        assert Mancala().tier_size(-1) == Mancala().tier_size(72) == 0
        assert Mancala(majority_stop=False).tier_size(72) == math.comb(83, 11)
        large = Mancala(pits=8, stones=7, majority_stop=False)
        counts = [large.tier_size(tier) for tier in range(113)]
        boards = [math.comb(tier + 15, 15) for tier in range(113)]
        assert counts == [count if count < 2**63 else 0 for count in boards]
        assert counts[-1] == 0
        assert Mancala(pits=11, stones=1).tier_size(11) == math.comb(32, 21)
        wide = Mancala(pits=1, stones=200, majority_stop=False)
        assert [wide.tier_size(tier) for tier in (255, 256)] == [256, 0]
        with pytest.raises(ValueError, match="no board has this number"):
            Mancala().tier_state(3, Mancala().tier_size(3))
        with pytest.raises(ValueError, match="no board has this number"):
            Mancala().tier_state(72, 0)
        with pytest.raises(ValueError, match="no table has that many stones"):
            Mancala().tier_index(Mancala().initial_state())


METHODS = (
    "heuristic", "value_range", "tier", "settled", "tier_size", "tier_index",
    "tier_state", "next_in_tier", "ending_range",
)  # fmt: skip


@njit
def all_about(game, state, value):
    """Return what the optional methods say of a position; they must compile."""
    tier = game.tier(state)
    count = game.tier_size(tier)
    index = game.tier_index(state) if count else 0
    same = game.tier_state(tier, index).sides if count else state.sides
    following = game.next_in_tier(state).sides
    numbers = (
        game.heuristic(state, 0), game.heuristic(state, 1), game.settled(state, 1),
        game.value_range(state, 0)[0], game.value_range(state, 1)[1],
        game.ending_range(state, value)[0], game.ending_range(state, value)[1],
    )  # fmt: skip
    return tier, index, count, same[0], same[1], following[0], following[1], numbers


@pytest.mark.slow
@pytest.mark.parametrize("game", [Mancala(), Mancala.kalah(stones=2)], ids=repr)
def test_optional_methods_compile_and_say_the_same(game):
    anatomy = dissect(game, METHODS)
    key = f"optional-{anatomy.digest}"
    bound = bind(game, key, anatomy.methods, anatomy.helpers, anatomy.fields)
    plain = getattr(all_about, "py_func", all_about)
    state = game.initial_state()
    for turn in range(40):
        assert all_about(bound, state, -3.0) == plain(game, state, -3.0)
        if game.is_terminal(state):
            break
        pits = list(game.actions(state))
        [(_, state)] = game.outcomes(state, pits[turn * 5 % len(pits)])
    assert turn > 15


def test_compiled_rules_count_stones_without_integers_beyond_64_bits():
    """Seven fields of nine bits: a product over all fields would not fit."""
    game = Mancala(stones=6)
    assert gamedp.searchers.perft(game, 2, compile="always").positions == (1, 6, 36)
