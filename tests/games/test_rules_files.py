"""Games in a file of their own, as the commands take them: noughts and crosses, connect four."""

from pathlib import Path

import numba
import pytest

from gamedp.cli.games import make_game
from gamedp.testing import check_game

EXAMPLES = Path(__file__).parents[2] / "examples"
NOUGHTS = f"{EXAMPLES / 'noughts.py'}:NoughtsAndCrosses"
FOUR = f"{EXAMPLES / 'connect_four.py'}:ConnectFour"


def test_noughts_and_crosses_is_in_order():
    # So many positions can be met, as is well known.
    report = check_game(make_game(NOUGHTS, ()), compile=False)
    assert (report.complete, report.states) == (True, 5478)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [("columns=3",), ("rows=2",)])
def test_connect_four_is_in_order(settings):
    assert check_game(make_game(FOUR, settings)).complete


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="161,029 positions in plain Python")
def test_connect_four_on_four_columns_is_drawn(run_json):
    # John Tromp's result and number of positions.
    found = run_json("solve", FOUR)
    assert (found["states"], found["lower"], found["upper"]) == (161_029, 0, 0)


def test_pictures_of_boards():
    four = make_game(FOUR, ("rows=3",))
    state = four.initial_state()
    for column in (2, 2, 4):
        assert four.action_name(state, column) == f"column {column}"
        [(_, state)] = four.outcomes(state, column)
    assert four.render(state).splitlines() == [". . . .", ". o . .", ". x . x", "1 2 3 4"]
    noughts = make_game(NOUGHTS, ())
    [(_, state)] = noughts.outcomes(noughts.initial_state(), 5)
    assert noughts.render(state).splitlines()[1] == "2 . . x"
    assert noughts.action_name(state, 8) == "c1"


@pytest.mark.parametrize(
    ("cells", "won"),
    [
        ([0, 1, 2, 3], True),  # upright; a column has five bits, of which four are cells
        ([0, 5, 10, 15], True),  # level
        ([0, 6, 12, 18], True),  # rising
        ([3, 7, 11, 15], True),  # falling
        ([2, 3, 5, 6], False),  # not across the top of a column
        ([0, 1, 2, 5], False),
    ],
)
def test_four_in_a_row(cells, won):
    game = make_game(FOUR, ())
    state = game.initial_state()._replace(player=1, first=sum(1 << cell for cell in cells))
    assert game.has_lost(state) is won
    assert game.payoff(state, 0) == won
