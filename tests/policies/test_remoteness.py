"""How long play still lasts: against all that may be played, and against linear equations."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import gamedp
from gamedp.errors import InvalidParameterError, NotSolvedError, UnsupportedProblemError
from gamedp.games.matches import Matches, MatchesState
from gamedp.games.wubbel import Wubbel
from gamedp.policies import remoteness
from gamedp.runtime import limit
from gamedp.solvers import BackwardInduction
from gamedp.testing.strategies import models

relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def played_out(model, state=0, side=0):
    """Return the value for player 0 and the plies to the end: the tree of all play, searched."""
    if model.is_terminal[state]:
        payoff = Fraction(float(model.payoffs[np.searchsorted(model.terminals, state)]))
        return (Fraction(model.constant_sum) - payoff if side else payoff), 0
    row = range(*model.choice_offsets[state : state + 2])
    found = [
        played_out(model, int(model.successors[c]), side ^ int(model.probabilities[c] < 0))
        for c in row
    ]
    maximises = (model.players[state] == 0) ^ (side == 1)
    sign, draw = (1 if maximises else -1), Fraction(model.constant_sum) / 2
    best = max(sign * value for value, _ in found)
    lengths = [plies for value, plies in found if sign * value == best]
    is_won = best > sign * draw
    return sign * best, 1 + (min(lengths) if is_won or best == sign * draw else max(lengths))


@relaxed
@given(models(max_states=6, acyclic=True, rewards=False, sure=True))
def test_without_chance_it_is_that_of_the_tree_of_all_play(model):
    found = remoteness(gamedp.solve(model))
    assert found.kind == "forced"
    assert (found.lower == found.upper).all()
    for state in range(model.num_states):
        assert found.plies(state) == played_out(model, state)[1]
        after = found.after(state)
        row = range(*model.choice_offsets[state : state + 2])
        assert after == {
            int(model.action_labels[c]): 1.0 + played_out(model, int(model.successors[c]))[1]
            for c in row
        }


@relaxed
@given(models(acyclic=True))
def test_with_chance_it_solves_the_linear_equations(model):
    solution = gamedp.solve(model)
    found = remoteness(solution)
    if found.kind == "forced":
        return
    matrix = np.zeros((model.num_states, model.num_states))
    for state, choice in enumerate(solution.played.tolist()):
        if choice >= 0:
            row = slice(*model.transition_offsets[choice : choice + 2])
            np.add.at(matrix[state], model.successors[row], np.abs(model.probabilities[row]))
    steps = np.linalg.solve(np.eye(model.num_states) - matrix, ~model.is_terminal + 0.0)
    np.testing.assert_allclose([found.lower, found.upper], [steps, steps], atol=2e-6)
    for state in range(model.num_states):
        choice = int(solution.played[state])
        if choice >= 0:
            after = found.after(state)[int(model.action_labels[choice])]
            assert after == pytest.approx(found.plies(state), abs=4e-6)


@pytest.mark.parametrize("payoff", [1e-9, 7.7e-280])
def test_values_that_are_rounded_leave_it_exact(payoff):
    """The first player gets 1 - payoff, which is no 64-bit number."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 1, 2], [1, 2], [1.0, -1.0], players=[0, 0, 0],
        num_players=2, constant_sum=1.0, terminals=[2], payoffs=[payoff],
    )  # fmt: skip
    solution = gamedp.solve(model)
    assert solution.lower[0] < solution.upper[0]
    found = remoteness(solution)
    assert (found.kind, found.plies(0), found.plies(1)) == ("forced", 2.0, 1.0)


@pytest.mark.parametrize(("payoff", "plies"), [(0.0, 3), (0.5, 2), (1.0, 2)])
def test_who_always_loses_delays(payoff, plies):
    """Player 0 goes to the end directly, or by one more state; the other one gets the rest of 1."""
    model = gamedp.Model.from_arrays(
        [0, 1, 3, 4, 4], [0, 1, 2, 3, 4], [1, 2, 3, 3], [1.0] * 4, players=[0] * 4,
        num_players=2, constant_sum=1.0, terminals=[3], payoffs=[payoff],
    )  # fmt: skip
    found = remoteness(gamedp.solve(model))
    assert (found.kind, found.plies(0)) == ("forced", plies)
    draw = gamedp.solve(model, gamedp.TotalReward(draw=payoff))
    assert remoteness(draw).plies(0) == 2


def test_the_loser_of_matches_takes_one_at_a_time():
    """Who must move with 1, 5, 9 … left loses, and delays; the winner leaves one of these."""
    solution = gamedp.solve(Matches(matches=9, misere=True), compile="never")
    found = remoteness(solution)
    plies = {left: found.plies(MatchesState(0, left)) for left in range(1, 10)}
    assert plies == {1: 1, 2: 2, 3: 2, 4: 2, 5: 3, 6: 4, 7: 4, 8: 4, 9: 5}
    assert found.plies() == plies[9]
    other = {left: found.plies(MatchesState(1, left)) for left in range(1, 9)}
    assert other.items() <= plies.items()


def test_the_mean_is_that_of_the_evaluation():
    solution = gamedp.solve(Wubbel(goal=8), compile="never")
    found = remoteness(solution)
    low, high = gamedp.evaluate(solution.model, [solution, solution]).mean_plies_bounds
    assert found.kind == "mean"
    assert found.plies() == pytest.approx(low, abs=2e-6)
    assert low <= high


def test_endless_play_is_infinitely_long():
    """Nobody can force an end: one may go to and fro; from state 3 chance leads on or out."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4], [0, 1, 2, 3, 4], [1, 2, 0, 3], [1.0] * 4,
        players=[0, 1, 0, 0], terminals=[2, 3], payoffs=[-1.0, 1.0],
    )  # fmt: skip
    found = remoteness(gamedp.solve(model))
    assert [found.plies(state) for state in range(4)] == [math.inf, math.inf, 0, 0]
    assert found.after(0) == {0: math.inf, 1: 1.0}


def test_other_objectives_are_refused():
    model = gamedp.compile(Matches(matches=4), compile="never")
    for objective in (gamedp.FiniteHorizon(3), gamedp.Discounted(0.9)):
        solution = gamedp.solve(model, objective)
        with pytest.raises(UnsupportedProblemError, match="TotalReward"):
            remoteness(solution)


def test_three_players_have_a_mean():
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 2, 3], [1, 2, 2], [0.5, 0.5, 1.0],
        players=[0, 1, 0], num_players=3, terminals=[2], payoffs=[[1.0, 0.0, 0.0]],
        rewards=np.zeros((2, 3)),
    )  # fmt: skip
    found = remoteness(gamedp.solve(model))
    assert [found.plies(state) for state in (0, 1, 2)] == [1.5, 1.0, 0.0]
    assert list(itertools.chain(found.after(1))) == [0]


def walk(length):
    """Return a random walk to and fro, which lasts long: its mean is found by many sweeps."""
    ends = np.column_stack([np.arange(length) - 1, np.arange(length) + 1])
    ends[-1, 1], ends[0, 0] = length + 1, length
    return gamedp.Model.from_arrays(
        [*range(length + 1), length, length], range(0, 2 * length + 1, 2), ends.ravel(),
        [0.5] * ends.size, terminals=[length, length + 1], payoffs=[0.0, 1.0],
    )  # fmt: skip


def test_it_ends_when_time_is_up():
    solution = gamedp.solve(walk(1_000))
    with pytest.raises(NotSolvedError, match="time"):
        remoteness(solution, max_seconds=1e-9)
    with pytest.raises(InvalidParameterError, match="max_seconds"):
        remoteness(solution, max_seconds=-1.0)


@pytest.mark.parametrize("kind", ["forced", "mean"])
def test_it_tells_how_far_it_is_and_can_be_stopped(monkeypatch, kind):
    class Stopped(BaseException):
        pass

    def stop(told):
        seen.append(told.phase)
        if told.phase == "solve":
            raise Stopped

    monkeypatch.setattr(limit, "INTERVAL", 0.0)
    game = Matches(matches=9) if kind == "forced" else Wubbel(goal=8)
    solver = BackwardInduction() if kind == "forced" else None
    solution = gamedp.solve(game, solver=solver, compile="never")
    seen = []
    with pytest.raises(Stopped):
        remoteness(solution, progress=stop)
    assert seen[-1] == "solve"
    assert remoteness(solution).kind == kind
