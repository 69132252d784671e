"""Searches take the win that comes first, and the loss that comes last."""

import attrs
import pytest
from numba import config
from quickest import ByHand, noughts_and_crosses

import gamedp
from gamedp.games.matches import Matches
from gamedp.searchers import AlphaBeta, Expectiminimax, Minimax, ProofNumberSearch

EVERY = 400 if config.DISABLE_JIT else 97
"""One position of so many is searched."""


@attrs.frozen
class EndsForSure(type(noughts_and_crosses())):
    """The same game, which says that no position recurs."""

    acyclic = True


def decided(game, every):
    """Return some positions that are won or lost, with what is known of them."""
    truth = ByHand(game)
    model = gamedp.compile(game, compile="never")
    states = [model.state(index) for index in range(0, model.num_states, every)]
    found = [(state, *truth.of(state), truth.after(state)) for state in states]
    return [entry for entry in found if entry[1] != 0 and entry[2] > 0]


@pytest.mark.slow
@pytest.mark.parametrize("game", [noughts_and_crosses(), EndsForSure()], ids=["", "acyclic"])
@pytest.mark.parametrize("searcher", [AlphaBeta(), AlphaBeta(depth=9)], ids=["", "depth"])
def test_alpha_beta_wins_soonest_and_loses_latest(game, searcher):
    cases = decided(game, EVERY)
    assert cases
    for state, value, length, after in cases:
        found = searcher.search(game, state)
        wanted = {action for action, known in after.items() if known == (value, length - 1)}
        assert set(found.quickest_actions) == wanted
        assert set(found.quickest_actions) <= set(found.best_actions)
        assert {found.action_value(action).plies for action in wanted} == {length}
        assert len(found.principal_variation) == length


@pytest.mark.parametrize(
    "searcher",
    [Minimax(), Expectiminimax(), ProofNumberSearch()],
    ids=["minimax", "expectiminimax", "proof-number"],
)
def test_every_search_takes_a_win_that_stands_there(searcher):
    game = EndsForSure()
    cases = [entry for entry in decided(game, EVERY) if entry[2] == 1]
    assert cases
    for state, value, _, after in cases:
        found = searcher.search(game, state)
        wanted = {action for action, known in after.items() if known == (value, 0)}
        assert set(found.quickest_actions) == wanted
        assert len(found.principal_variation) == 1


@pytest.mark.parametrize("name", ["alpha-beta", "minimax", None])
def test_players_by_search_win_at_once(name):
    game = noughts_and_crosses()
    # X X O / O X . / O . ., X to move: two squares win at once, the third one later.
    state = game.initial_state()._replace(cells=(1, 1, 2, 2, 1, 0, 2, 0, 0))
    found = gamedp.search(game, state, searcher=name)
    assert found.best_actions == (5, 7, 8)
    assert found.quickest_actions == (7, 8)
    assert found.principal_variation[0][0] == 7


def test_what_is_estimated_is_no_win():
    found = AlphaBeta(depth=2).search(Matches(matches=18), compile="never")
    assert found.quickest_actions == found.best_actions
    assert {each.plies for each in found.actions} == {None}


def test_looking_how_long_it_takes_ends_with_the_limit_of_the_search():
    # It takes few nodes to see who wins to the end, and many more to see how soon.
    game = Matches(matches=60)
    found = AlphaBeta(max_nodes=2_000).search(game, compile="never")
    assert found.statistics.nodes <= 2_000 + 256
    assert found.quickest_actions
