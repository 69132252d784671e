"""The exact values of policies of staged games, from position to position."""

from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from staged_games import Debts, Journey, StagedWubbel

import gamedp
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.games.kniffel import Kniffel, Sheet
from gamedp.policies import arguments
from gamedp.stages import Flattened, Position


def solved(game, **options):
    # Compiled, small games take longer than to be solved.
    return gamedp.solve(game, tolerance=1e-9, compile="never", **options)


@attrs.frozen
class Apart(gamedp.stages.Flattened):
    """No position represents another one."""

    def canonical(self, position):
        return position, False


def bold(position):
    """Save from more points on the farther behind; player 1 one point earlier."""
    player, own, opponent = position.context
    wanted = 2 + (opponent > own) - player
    return int(position.state.turn >= wanted)


def timid(position):
    if position.state.turn > 0:
        return {0: 0.3, 1: 0.7} if position.state.turn < 5 else 1
    return 0


def first(game):
    flat = gamedp.stages.Flattened(game)
    return lambda position: min(flat.actions(position))


@pytest.mark.parametrize("pair", [(bold, timid), (timid, bold), (timid, timid)])
def test_values_are_those_of_all_positions(pair):
    game = StagedWubbel(5)
    flat = gamedp.compile(Apart(game), compile="never")
    true, found = gamedp.evaluate(flat, pair), gamedp.evaluate(game, pair)
    for player in (0, 1):
        low, high = found.bounds(player=player)
        assert high - low < 1e-8
        assert low <= true.bounds(player=player)[1]
        assert true.bounds(player=player)[0] <= high
    assert found.mean_plies == pytest.approx(true.mean_plies)
    assert found.chain.num_nodes == true.chain.num_nodes
    assert found.chain.of.num_states <= flat.num_states
    assert [policy.name for policy in found.policies] == [one.__name__ for one in pair]
    assert (
        gamedp.simulate(game, pair, games=2000, seed=3, compile="never").agrees_with(found) > 1e-4
    )


@pytest.mark.parametrize("game", [Journey(), StagedWubbel(5)])
@pytest.mark.parametrize("optima", [("max", "max"), ("max", "min"), ("min", "max")])
def test_each_seat_follows_its_own_solution(game, optima):
    pair = [solved(game, objective=gamedp.TotalReward(optimum=optimum)) for optimum in optima]
    found = gamedp.evaluate(game, pair)
    games = gamedp.simulate(game, pair, games=2000, seed=2)
    assert games.agrees_with(found) > 1e-4
    assert games.agrees_with(found, player=1) > 1e-4
    if optima == ("max", "max"):  # who plays at best against it gets its value
        low, high = pair[0].bounds()
        assert low - 1e-9 <= found.value() <= high + 1e-9
        assert found.guarantee.name == "TWO_SIDED"


def test_what_is_earned_on_the_way_counts():
    game = Debts()
    flat = gamedp.stages.Flattened(game)
    made = gamedp.compile(flat, compile="never")
    for policy in (first(game), gamedp.play.RandomPlayer(flat), gamedp.Policy.uniform(made)):
        true = gamedp.evaluate(made, policy)
        found = gamedp.evaluate(game, policy)
        assert found.value() == pytest.approx(true.value(), abs=1e-9)
        low, high = found.bounds()
        assert low <= found.value() <= high


def test_a_known_way_to_play_kniffel_is_that_of_its_exact_totals():
    game = Kniffel(dice=2, faces=2, throws=1, threshold=3, upper_bonus=7)
    model = gamedp.compile(game, compile="never")
    solution = solved(game)
    by_solution = gamedp.evaluate(model, solution)
    assert by_solution.value() == pytest.approx(solution.value(), abs=1e-9)
    assert by_solution.policies[0].name == "optimal"
    choose = first(game)
    exact = gamedp.stages.distribution(
        model, policy=lambda context, state: choose(gamedp.stages.Position(context, state))
    )
    found = gamedp.evaluate(game, choose)
    assert found.value() == pytest.approx(exact.mean, abs=1e-9)
    begin = gamedp.stages.Flattened(game).initial_state()[0][1]
    assert found.value(begin) == found.value()
    assert begin.context == Sheet(0, 0, 0)
    assert found.chain.of.num_states < 3000  # of all positions there are many more


def test_a_solution_that_was_stopped_before_it_got_there_is_refused():
    with pytest.raises(gamedp.NotSolvedError) as caught:
        solved(Journey(days=3), solver=gamedp.stages.StageInduction(max_sweeps=1))
    with pytest.raises(UnsupportedProblemError, match="the solution knows no values after Date"):
        gamedp.evaluate(Journey(days=3), [caught.value.solution] * 2)


def test_what_cannot_be_followed_is_refused(monkeypatch):
    game = StagedWubbel(5)
    with pytest.raises(UnsupportedProblemError, match="everywhere takes a table of all positions"):
        gamedp.evaluate(game, [bold, timid], everywhere=True)
    with pytest.raises(InvalidParameterError, match="1 policies are given for a game of 2 players"):
        gamedp.evaluate(game, bold)
    with pytest.raises(InvalidParameterError, match="is not a solution of"):
        gamedp.evaluate(game, [solved(StagedWubbel(4))] * 2)
    with pytest.raises(InvalidParameterError, match=r"chooses 99 in Position\(context=.*, where"):
        gamedp.evaluate(game, [lambda _: 99, timid])
    with pytest.raises(InvalidParameterError, match=r"probabilities of .* are invalid"):
        gamedp.evaluate(game, [lambda _: {0: np.nan}, timid])
    with pytest.raises(InvalidParameterError, match="searches, and there is no search"):
        gamedp.evaluate(game, [gamedp.play.LevelPlayer(3), timid])
    monkeypatch.setattr(arguments, "MOST_POSITIONS", 20)
    with pytest.raises(UnsupportedProblemError, match="reach more than 20 positions of StagedW"):
        gamedp.evaluate(game, [bold, timid])


class Spot(NamedTuple):
    number: int


class Round(NamedTuple):
    left: int


@attrs.frozen
class Detour:
    """Chance may lead to spot 1 by its names, but never does: nothing knows what to do there."""

    never: float | Fraction | int = 0.0

    def initial_state(self):
        return Spot(0)

    def is_terminal(self, spot):
        return spot.number > 1

    def actions(self, spot):
        return (0, 1)

    def outcomes(self, spot, action):
        if spot.number == 0:
            yield self.never, Spot(1)
        yield 1.0, Spot(2 + action)

    def payoff(self, spot, player):
        return 0.0


@attrs.frozen
class Detours:
    never: float | Fraction | int = 0.0

    def stage(self):
        return Detour(self.never)

    def box(self):
        return {"left": (0, 2)}

    def initial_state(self):
        return [(self.never, Round(2)), (1.0, Round(1))]

    def is_terminal(self, context):
        return context.left == 0

    def payoff(self, context, player):
        return 0.0

    def following(self, context, end):
        return Round(context.left - 1)

    def tier(self, context):
        return context.left

    def reward(self, context, end, player):
        return float(end.number)


def as_told(position):
    """Do the best in the first spot of the last round, the one position of a decision."""
    return {Position(Round(1), Spot(0)): 1}[position]


@pytest.mark.parametrize("never", [0.0, 0, Fraction(0)])
def test_nobody_is_asked_where_chance_never_leads(never):
    game = Detours(never)
    assert gamedp.evaluate(game, solved(game)).value() == 3.0
    assert gamedp.evaluate(game, as_told).value() == 3.0
    flat = gamedp.compile(Flattened(game), compile="never")
    assert gamedp.evaluate(flat, as_told).value() == 3.0
    assert gamedp.simulate(game, as_told, games=3, seed=1, compile="never").count(3.0) == 3
