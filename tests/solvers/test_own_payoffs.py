"""Two players with payoffs of their own: solved, searched, certified and played as three are."""

from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gamedp
from gamedp.testing import check_game
from gamedp.testing.strategies import models
from gamedp.testing.table_game import TableGame


class Leg(NamedTuple):
    turn: int
    is_taken: int


@attrs.frozen
class Centipede:
    """Take the larger heap, or pass, which doubles both heaps.

    R. McKelvey, T. Palfrey, "An experimental study of the centipede game", Econometrica 60 (1992):
    heaps of 0.40 and 0.10, four or six moves. Whoever moves first takes at once.
    """

    moves: int = 4
    num_players = 2
    constant_sum = None

    def initial_state(self):
        return Leg(0, 0)

    def is_terminal(self, state):
        return state.is_taken == 1 or state.turn == self.moves

    def player(self, state):
        return state.turn % 2

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        if action == 0:
            yield 1.0, Leg(state.turn, 1)
        else:
            yield 1.0, Leg(state.turn + 1, 0)

    def payoff(self, state, player):
        heap = 40.0 if player == state.turn % 2 else 10.0
        return heap * 2.0**state.turn


class Market(NamedTuple):
    stage: int
    has_entered: int
    is_fought: int


@attrs.frozen
class Entry:
    """An entrant stays out, or enters; then the incumbent shares the market, or fights.

    R. Selten, "The chain store paradox", Theory and Decision 9 (1978). The threat to fight is not
    credible: the entrant enters, and they share.
    """

    num_players = 2
    constant_sum = None

    def initial_state(self):
        return Market(0, 0, 0)

    def is_terminal(self, state):
        return state.stage == 2

    def player(self, state):
        return state.stage

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        if state.stage == 0:
            yield 1.0, Market(1 if action == 1 else 2, action, 0)
        else:
            yield 1.0, Market(2, 1, action)

    def payoff(self, state, player):
        if state.has_entered == 0:
            return 1.0 if player == 0 else 5.0
        if state.is_fought == 1:
            return 0.0
        return 2.0


@pytest.mark.parametrize("compile", ["never", "always"])
@pytest.mark.parametrize(
    ("game", "values"),
    [(Centipede(6), (40, 10)), (Entry(), (2, 2))],
    ids=repr,
)
def test_known_values(game, values, compile):
    solution = gamedp.solve(game, compile=compile)
    for player, value in enumerate(values):
        assert solution.bounds(player=player) == (value, value)
        assert solution.value(player=player) == value
    assert solution.guarantee is gamedp.Guarantee.EQUILIBRIUM
    assert solution.best_action() == (0 if isinstance(game, Centipede) else 1)
    assert gamedp.verify(solution.model, gamedp.certify(solution)).width == 0
    found = gamedp.search(game, compile=compile)
    assert found.values == values
    assert found.guarantee is gamedp.Guarantee.EQUILIBRIUM
    assert list(found.best_actions) == solution.best_actions()
    assert "BackwardInduction" in gamedp.explain(game)
    check_game(game)


def slow(model, optimum, chosen):
    """Return each state's exact values for both players by plain recursion.

    Raise AssertionError if a mover would gain by another choice.
    """
    found = {}

    def values_of(state):
        if state in found:
            return found[state]
        first, end = model.choice_offsets[state : state + 2].tolist()
        if first == end:
            place = model.terminals.tolist().index(state)
            found[state] = [Fraction(each) for each in model.payoffs[place].tolist()]
            return found[state]
        rows = []
        for choice in range(first, end):
            row = range(*model.transition_offsets[choice : choice + 2].tolist())
            chances = [Fraction(model.probabilities[place]) for place in row]
            after = [values_of(int(model.successors[place])) for place in row]
            rows.append(
                [
                    Fraction(model.rewards[choice, player])
                    + sum(p * each[player] for p, each in zip(chances, after, strict=True))
                    / sum(chances)
                    for player in (0, 1)
                ]
            )
        mover = int(model.players[state])
        best = (max if optimum == "max" else min)(row[mover] for row in rows)
        taken = rows[int(chosen[state]) - first]
        assert abs(float(taken[mover] - best)) <= 1e-9 * (1 + abs(float(best)))
        found[state] = taken
        return taken

    return [values_of(state) for state in range(model.num_states)]


@settings(deadline=None, max_examples=40)
@given(model=models(players=(2,), acyclic=True, own=True), optimum=st.sampled_from(["max", "min"]))
def test_bounds_contain_the_exact_values_of_an_equilibrium(model, optimum):
    solution = gamedp.solve(model, gamedp.TotalReward(optimum))
    truth = slow(model, optimum, solution.policy)
    for state, row in enumerate(truth):
        for player, value in enumerate(row):
            low, high = solution.bounds(state, player)
            assert Fraction(low) <= value <= Fraction(high)
    gamedp.verify(model, gamedp.certify(solution))


@settings(deadline=None, max_examples=15)
@given(model=models(players=(2,), acyclic=True, own=True))
def test_rules_searches_and_policies_agree(model):
    game = TableGame.of(model)
    again = gamedp.compile(game, compile="never")
    assert again.is_general_sum
    assert not again.has_opponents
    solution = gamedp.solve(again)
    found = gamedp.search(game, compile="never")
    uniform = gamedp.Policy.uniform(again)
    alone = gamedp.evaluate(again, [solution, solution])
    mixed = gamedp.evaluate(again, [uniform, uniform])
    for player in (0, 1):
        low, high = solution.bounds(player=player)
        size = 1e-9 * (1 + abs(low))
        assert found.bounds(player)[0] <= high
        assert low <= found.bounds(player)[1]
        assert alone.value(player=player) == pytest.approx((low + high) / 2, abs=size)
        answer = gamedp.best_response(again, solution, player)
        assert answer.bounds()[0] <= high + size  # nobody gains by deviating
        assert (
            gamedp.best_response(again, uniform, player).bounds()[1]
            >= (mixed.bounds(player=player)[0])
        )


def test_games_of_each_player_are_counted():
    model = gamedp.compile(Centipede(4), compile="never")
    uniform = gamedp.Policy.uniform(model)
    exact = gamedp.evaluate(model, [uniform, uniform])
    assert exact.value() == pytest.approx(20 + 5 + 20 + 5 + 40)
    assert exact.value(player=1) == pytest.approx(5 + 20 + 5 + 20 + 10)
    games = gamedp.simulate(model, [uniform, uniform], games=2000, seed=3)
    by_rules = gamedp.simulate(
        Centipede(4),
        [lambda state: 1, lambda state: int(state.turn != 3)],
        games=10,
        seed=3,
        by_rules=True,
        compile="never",
    )
    assert by_rules.means == (80, 320)
    for player in (0, 1):
        assert games.agrees_with(exact, player) > 1e-4
    with pytest.raises(gamedp.UnsupportedProblemError, match="with a constant sum"):
        gamedp.simulation.simulate_pairs(model, [uniform, uniform], pairs=10)


def test_they_are_saved_and_loaded(tmp_path):
    solution = gamedp.solve(Centipede(6), compile="never")
    gamedp.save(solution, tmp_path / "found")
    again = gamedp.load(tmp_path / "found", game=Centipede(6))
    assert again.bounds(player=1) == (10, 10)
    assert np.array_equal(again.values, solution.values)
    assert again.model.digest() == solution.model.digest()


def arrays(**options):
    """Return two choices of player 0, who likes what player 1 does not, and both of them."""
    given = {
        "choice_offsets": [0, 2, 2, 2],
        "transition_offsets": [0, 1, 2],
        "successors": [1, 2],
        "probabilities": [1.0, 1.0],
        "payoffs": [[1.0, 5.0], [2.0, 3.0]],
        "num_players": 2,
        "constant_sum": None,
    }
    return gamedp.Model.from_arrays(**given | options)


def test_arrays():
    solution = gamedp.solve(arrays())
    assert [solution.value(player=player) for player in (0, 1)] == [2, 3]
    assert solution.to_columns()["value_1"].tolist() == [3, 5, 3]
    with pytest.raises(gamedp.InvalidModelError, match="give constant_sum=None"):
        arrays(constant_sum=0.0)
    with pytest.raises(gamedp.InvalidModelError, match=r"must be \(2, 2\)"):
        arrays(payoffs=[1.0, 2.0])
    with pytest.raises(gamedp.InvalidModelError, match="payoffs of its own"):
        arrays(payoffs=[[Fraction(1, 3), 5], [2, 3]])
    with pytest.raises(gamedp.InvalidModelError, match="negative"):
        arrays(probabilities=[-1.0, 1.0])
    for objective in (gamedp.Discounted(0.5), gamedp.FiniteHorizon(2), gamedp.AverageReward()):
        with pytest.raises(gamedp.UnsupportedProblemError):
            gamedp.solve(arrays(), objective)


class Undeclared(Centipede):
    constant_sum = 0.0


class Turning(Centipede):
    def canonical(self, state):
        return Leg(state.turn, 0), state.is_taken == 1


@pytest.mark.parametrize("compile", ["never", "always"])
@pytest.mark.parametrize(
    ("game", "message"),
    [(Undeclared(), "set constant_sum = None"), (Turning(), "takes two opponents")],
    ids=lambda value: type(value).__name__,
)
def test_what_does_not_go(game, message, compile):
    with pytest.raises(gamedp.InvalidModelError, match=message):
        gamedp.solve(game, compile=compile)


def test_searchers_of_opponents_name_the_one_that_does():
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"payoffs of their own\. Use MaxN"):
        gamedp.search(Centipede(), searcher=gamedp.searchers.AlphaBeta())
