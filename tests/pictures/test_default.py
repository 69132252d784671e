"""One function draws whatever has a picture."""

import numpy as np
import pytest

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import SAVE, Wubbel
from gamedp.pictures import plot

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def pig():
    return gamedp.solve(Wubbel(8, faces=2, busts=(2,)), compile="never")


@pytest.fixture(scope="module")
def matches():
    return gamedp.solve(Matches(6), compile="never")


def axes(ax):
    return ax.get_xlabel(), ax.get_ylabel(), ax.get_title()


def test_a_solution_is_drawn_over_the_fields_that_vary(pig, matches):
    what = "winning probability of player 0"
    assert axes(plot(pig)) == ("own", "turn", f"{what}, opponent = 0")
    assert axes(plot(pig, where={"turn": 0})) == ("own", "opponent", f"{what}, turn = 0")
    assert axes(plot(pig, "turn", where={"own": 1, "opponent": 2}))[0] == "turn"
    assert axes(plot(matches)) == ("left", "value of player 0", "value of player 0")
    both = gamedp.solve(InTurns(6), compile="never")
    assert axes(plot(both)) == ("left", "value of player 0", "value of player 0, player = 0")
    ax = plot(pig, "own", "opponent", "turn", action=SAVE)
    assert (*axes(ax), ax.get_zlabel())[2:] == ("all states in which to SAVE", "turn")
    _, given = plt.subplots()
    assert plot(pig, ax=given) is given


def test_a_policy_is_drawn_over_the_fields_that_vary(pig):
    policy = gamedp.Policy.from_solution(pig)
    assert axes(plot(policy)) == ("own", "turn", "action of optimal, opponent = 0")


def test_states_without_fields_show_their_actions():
    class Words:
        def initial_state(self):
            return "first"

        def is_terminal(self, state):
            return state == "last"

        def actions(self, state):
            return [0, 1]

        def outcomes(self, state, action):
            return [(1.0, "last")]

        def payoff(self, state, player):
            return 1.0

    solution = gamedp.solve(Words(), compile="never")
    assert axes(plot(solution)) == ("value", "", "actions in the first state")
    with pytest.raises(gamedp.UnsupportedProblemError, match="no field of the states"):
        plot(gamedp.Policy.from_solution(solution))


def test_a_few_states_far_apart_show_their_actions():
    solution = gamedp.solve(Mancala(pits=2, stones=2), compile="never")
    ax = plot(solution)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["pit 1", "pit 2"]
    assert axes(plot(solution, "sides[0]", "sides[1]"))[0] == "sides[0]"


def test_states_of_arrays_are_numbers():
    model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0])
    assert axes(plot(gamedp.solve(model)))[0] == "state"
    assert axes(plot(model))[2] == "2 components of 2 states, 0 with a cycle"


def test_what_was_found_is_drawn_as_a_whole(pig, matches):
    model = matches.model
    chance = gamedp.Policy.uniform(model)
    evaluation = gamedp.evaluate(model, [chance, chance])
    table = gamedp.cross_table(model, {"a": chance, "b": matches})
    trace = gamedp.policies.trace_sweeps(gamedp.compile(Walk(), compile="never"), sweeps=5)
    ratings = gamedp.play.Ratings(("a", "b"), np.array([1.0, -1.0]), np.ones(2), 0.0, 1.0)
    response = gamedp.best_response(model, against=chance)
    staged = gamedp.solve(Kniffel(dice=1, faces=2, throws=1, threshold=3), compile="never")
    for thing, label in (
        (evaluation, "payoff of player 0"),
        (gamedp.simulate(model, [chance, chance], games=10, seed=1), "payoff of player 0"),
        (table, "against"),
        (trace, "sweep"),
        (ratings, "rating in Elo, from the mean of the players"),
        (response, "state"),
        (gamedp.search(Matches(6), compile="never"), "value for player 0"),
        (staged, "tier of the context"),
        (gamedp.stages.distribution(staged), "total of player 0"),
        (staged.model, ""),
    ):
        assert axes(plot(thing))[0] == label
    with pytest.raises(gamedp.errors.InvalidParameterError, match="drawn without fields: left"):
        plot(table, "left")


class InTurns(Matches):
    """Positions of the two players are not merged."""

    def canonical(self, state):
        return state, False


class Walk:
    """Two steps to the end, a point each."""

    num_players = 1

    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return state == 2

    def actions(self, state):
        return [0]

    def outcomes(self, state, action):
        return [(1.0, state + 1)]

    def reward(self, state, action, player):
        return 1.0

    def payoff(self, state, player):
        return 0.0


def test_what_has_no_picture_is_refused(pig):
    with pytest.raises(gamedp.UnsupportedProblemError, match="no picture of a Discounted; solve"):
        plot(gamedp.Discounted(0.9))
    with pytest.raises(gamedp.errors.InvalidParameterError, match="more fields than"):
        plot(gamedp.Policy.from_solution(pig), "own", "opponent", "turn")
