"""What a solution tells, in the words of the game."""

import functools
import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from staged_games import Roll, Scores, StagedWubbel

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, MatchesState
from gamedp.games.wubbel import State, Wubbel


def matches():
    return gamedp.solve(Matches(matches=6), compile="never")


def test_it_introduces_itself():
    solution = matches()
    assert repr(solution).startswith("<Solution value=1.0 lower=1.0 upper=1.0 guarantee=TWO_SIDED")
    table = solution._repr_html_()
    assert "<th>guarantee</th><td>the true value lies between the bounds</td>" in table


def test_the_principal_variation_counts_the_steps_of_a_horizon():
    """To stay pays 1, to leave 5 and then nothing: so stay twice, and leave with the last step."""
    model = gamedp.Model.from_arrays([0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[1.0, 5.0],
                                     terminals=[1])  # fmt: skip
    solution = gamedp.solve(model, gamedp.FiniteHorizon(3))
    assert solution.value() == 7.0
    assert solution.principal_variation() == [0, 0, 0, 1]


def test_the_principal_variation_follows_the_best_actions():
    line = matches().principal_variation()
    assert line[0] == MatchesState(0, 6)
    assert [state.left for state in line] == [6, 5, 4, 1, 0]
    assert len(matches().principal_variation(length=2)) == 2


def test_the_principal_variation_stops_at_chance():
    solution = gamedp.solve(Wubbel(goal=6), compile="never")
    assert solution.principal_variation() == [State(0, 0, 0, 0)]


def model_without_game():
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3], [0, 1, 2, 3], [1, 2, 2], [1.0, 1.0, 1.0], rewards=[0.5, 0.25, 0.5],
        terminals=[2], payoffs=[1.0],
    )  # fmt: skip


def test_without_a_game_states_are_numbers():
    solution = gamedp.solve(model_without_game())
    assert solution.value() == solution.value(0) == 2.0
    assert solution.principal_variation() == [0, 1, 2]
    assert [entry.value for entry in solution.action_values(0)] == [2.0, 1.25]
    assert solution.best_actions(0) == [0]
    assert solution.best_actions(0, tolerance=1.0) == [0, 1]
    assert solution.best_action(2) is None
    assert solution.best_actions(2) == []


def test_to_minimise_takes_the_other_action():
    solution = gamedp.solve(model_without_game(), gamedp.TotalReward(optimum="min"))
    assert solution.value() == 1.25
    assert solution.best_actions(0) == [1]


def test_columns_are_what_tables_take():
    columns = matches().to_columns()
    assert list(columns) == ["player", "left", "value", "lower", "upper", "action"]
    assert columns["action"].mask.sum() == 1
    plain = gamedp.solve(model_without_game()).to_columns()
    assert plain["state"].tolist() == [0, 1, 2]


def test_columns_of_three_players_are_one_for_each():
    solution = gamedp.solve(Mancala(players=3, pits=2, stones=1), compile="never")
    columns = solution.to_columns()
    assert all(column.ndim == 1 for column in columns.values())
    for player in range(3):
        assert columns[f"value_{player}"].tolist() == solution.values[:, player].tolist()
        assert columns[f"upper_{player}"].tolist() == solution.upper[:, player].tolist()


class Reading(NamedTuple):
    value: int
    action: int


@attrs.frozen
class Gauge:
    """A state whose fields have the names of columns."""

    def initial_state(self):
        return Reading(7, 1)

    def is_terminal(self, state):
        return state.value == 0

    def actions(self, state):
        return (4,)

    def outcomes(self, state, action):
        return [(1.0, Reading(0, 2))]

    def payoff(self, state, player):
        return 0.5


def test_columns_hide_no_field_of_the_state():
    columns = gamedp.solve(Gauge(), compile="never").to_columns()
    assert columns["state_value"].tolist() == [7, 0]
    assert columns["state_action"].tolist() == [1, 2]
    assert columns["value"].tolist() == [0.5, 0.5]
    assert columns["action"].tolist() == [4, None]


def test_columns_of_a_staged_game():
    game = Kniffel(dice=2, faces=2, throws=1, threshold=3)
    solution = gamedp.solve(game, compile="never")
    columns = solution.to_columns()
    assert list(columns) == ["state_upper", "boxes", "bonus", "value", "lower", "upper"]
    assert len({len(column) for column in columns.values()}) == 1
    model = solution.model
    real = [model.state(code) for code in range(model.num_states)
            if model.rules.call("is_state", model.state(code))]  # fmt: skip
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    for sheet, (upper, boxes, bonus, *numbers) in zip(real, rows, strict=True):
        assert (upper, boxes, bonus) == tuple(sheet)
        assert numbers == pytest.approx([solution.value(sheet), *solution.bounds(sheet)], abs=1e-13)


def test_swapped_positions_are_seen_from_the_other_side():
    solution = gamedp.solve(Wubbel(goal=12), compile="never", tolerance=1e-9)
    state, mirror = State(0, 3, 5, 4), State(1, 3, 5, 4)
    assert solution.value(state) + solution.value(mirror) == pytest.approx(1, abs=1e-15)
    assert solution.value(state, player=1) == solution.value(mirror)
    low, high = solution.bounds(mirror)
    assert low <= solution.value(mirror) <= high
    for one, other in zip(
        solution.action_values(state), solution.action_values(mirror), strict=True
    ):
        assert one.value + other.value == pytest.approx(1, abs=1e-15)
        assert other.lower <= other.value <= other.upper
    assert solution.best_actions(state) == solution.best_actions(mirror)


def test_questions_without_an_answer_are_refused():
    solution = matches()
    with pytest.raises(gamedp.errors.UnknownNameError, match="there is no player 2"):
        solution.value(player=2)
    steps = gamedp.solve(model_without_game(), gamedp.FiniteHorizon(3))
    with pytest.raises(gamedp.UnsupportedProblemError, match="one step fewer to go"):
        attrs.evolve(steps, following=None).action_values(0)


class Seat(NamedTuple):
    player: int


class Choosing:
    """The third of three players chooses an end."""

    num_players = 3

    def initial_state(self):
        return Seat(2)

    def is_terminal(self, state):
        return state.player < 2

    def player(self, state):
        return state.player

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        yield 1.0, Seat(action)

    def payoff(self, state, player):
        return float(state.player * 2 + player)


def test_three_players_each_have_a_value():
    solution = gamedp.solve(Choosing(), compile="never")
    assert [solution.value(player=player) for player in range(3)] == [2.0, 3.0, 4.0]
    assert solution.bounds(Seat(2), player=1) == (3.0, 3.0)
    assert solution.best_actions(Seat(2)) == [1]
    for player in range(3):
        entries = solution.action_values(Seat(2), player)
        assert [entry.value for entry in entries] == [player, 2.0 + player]
        assert [entry.best for entry in entries] == ["no", "certain"]
    with pytest.raises(gamedp.errors.UnknownNameError, match="no player 3"):
        solution.action_values(Seat(2), 3)


def three_in_layers(seed, optimum):
    """Solve a model of three players with chance, in layers; some of its numbers are thirds."""
    rng = np.random.default_rng(seed)
    layers, width, actions = 4, 3, 3
    inner = layers * width
    offsets = [0, *np.cumsum([actions] * inner), *[inner * actions] * width]
    later = [rng.permutation(width)[:2] + width * (1 + k // width) for k in range(inner)
             for _ in range(actions)]  # fmt: skip
    chance = [sorted([1 / 3, 2 / 3], key=lambda _: rng.random()) for _ in later]
    model = gamedp.Model.from_arrays(
        offsets,
        2 * np.arange(len(later) + 1),
        np.concatenate(later),
        np.concatenate(chance),
        players=[*rng.integers(0, 3, inner), *[0] * width],
        rewards=rng.integers(-2, 3, (len(later), 3)) / 3,
        payoffs=rng.integers(-2, 3, (width, 3)) / 3,
        num_players=3,
    )
    return gamedp.solve(model, gamedp.TotalReward(optimum))


@pytest.mark.parametrize("optimum", ["max", "min"])
@pytest.mark.parametrize("seed", range(5))
def test_action_values_of_three_players_follow_the_policy(seed, optimum):
    solution = three_in_layers(seed, optimum)
    model = solution.model

    @functools.cache
    def after(choice):
        row = slice(*model.transition_offsets[choice : choice + 2])
        total = [Fraction(reward) for reward in model.rewards[choice].tolist()]
        probabilities = model.probabilities[row].tolist()
        for chance, successor in zip(probabilities, model.successors[row].tolist(), strict=True):
            total = [old + Fraction(chance) * new for old, new in
                     zip(total, of_state(successor), strict=True)]  # fmt: skip
        return total

    def of_state(state):
        if solution.policy[state] < 0:
            return [Fraction(value) for value in solution.values[state].tolist()]
        return after(int(solution.policy[state]))

    certain = 0
    for state in range(int(model.terminals[0])):
        first = int(model.choice_offsets[state])
        own, mover = int(solution.policy[state]) - first, int(model.players[state])
        for player in range(3):
            entries = solution.action_values(state, player)
            for entry, choice in zip(entries, range(first, first + 3), strict=True):
                assert entry.lower <= after(choice)[player] <= entry.upper
                assert entry.upper - entry.lower < 1e-13
            assert entries[own].value == solution.value(state, player)
            wanted = [after(choice)[mover] for choice in range(first, first + 3)]
            best = max(wanted) if optimum == "max" else min(wanted)
            if entries[own].best == "certain":
                certain += 1
                assert wanted[own] == best
            assert [entry.best for entry in entries].count("no") == 2
    assert certain > 15


def test_the_second_of_two_players_gets_the_rest():
    """In a state whose places are changed, and in the stage of such a context, too."""
    whole = gamedp.solve(Wubbel(goal=6), compile="never")
    staged = gamedp.solve(StagedWubbel(6), compile="never")
    asked = [
        *[functools.partial(whole.action_values, State(turn, 2, 1, 2)) for turn in (0, 1)],
        *[functools.partial(staged.action_values, Scores(turn, 2, 1), Roll(2, over=False))
          for turn in (0, 1)],
    ]  # fmt: skip
    for ask in asked:
        for first, second in zip(ask(), ask(player=1), strict=True):
            assert second.value == 1.0 - first.value
            assert second.lower <= second.value <= second.upper
            assert (first.action, first.name, first.best) == (
                second.action,
                second.name,
                second.best,
            )


def test_a_value_lies_between_its_bounds():
    for game in (Wubbel(goal=9), Matches(9)):
        solution = gamedp.solve(game, compile="never")
        assert (solution.lower <= solution.values).all()
        assert (solution.values <= solution.upper).all()


def test_arrays_are_locked():
    solution = matches()
    with pytest.raises(ValueError, match="read-only"):
        solution.values[0] = 0.0
    assert not solution.policy.flags.writeable
    assert isinstance(solution.statistics.seconds["solve"], float)
    assert np.isfinite(solution.width)


def test_explain_says_why():
    assert "BackwardInduction: one sweep for each step" in gamedp.explain(
        model_without_game(), gamedp.FiniteHorizon(2)
    )
    cyclic = gamedp.compile(Wubbel(goal=5), compile="never")
    assert "play ends almost surely" in gamedp.explain(cyclic)
    assert "TopologicalValueIteration" in gamedp.explain(cyclic)


def test_an_infinite_total_says_what_to_ask_instead():
    model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    solution = gamedp.solve(model)
    assert solution.value() == np.inf
    assert "AverageReward" in repr(solution)
    assert "a discount (Discounted)" in solution._repr_html_()
    averages = gamedp.solve(model, gamedp.AverageReward())
    assert "infinite" not in repr(averages) + repr(matches())
    # Where a target may be missed, infinity is what was asked for.
    asked = gamedp.solve(model, gamedp.TotalReward(until=[False]))
    assert (asked.value(), "hint" in asked._repr_html_()) == (np.inf, False)


def test_a_state_that_is_not_reached_is_found_in_a_box():
    """Nobody who starts with 12 matches ever has 13."""
    short = gamedp.solve(Matches(matches=12), compile="never")
    state = MatchesState(0, 13)
    with pytest.raises(
        gamedp.errors.UnknownStateError, match=r"returns \{'player': \(first, last\), 'left'"
    ):
        short.value(state)

    class Boxed(Matches):
        def box(self):
            return {"player": (0, 1), "left": (0, 13)}

    table = gamedp.solve(Boxed(matches=12), states="all", compile="never")
    assert table.value(state) == -1.0


def test_advice_is_for_the_start_if_no_state_is_given():
    solution = gamedp.solve(Matches(10), compile="never")
    start = solution.initial_state()
    assert solution.best_action() == solution.best_action(start) == 1
    assert solution.best_actions() == solution.best_actions(start) == [1]
    assert solution.actions() == solution.actions(start)
    assert solution.action_values() == solution.action_values(start)
    several = gamedp.solve(
        gamedp.Model.from_arrays(
            [0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0], initial=[(0.5, 0), (0.5, 1)]
        )
    )
    for ask in (several.best_action, several.best_actions, several.actions, several.action_values):
        with pytest.raises(gamedp.errors.UnknownStateError, match="one of several states"):
            ask()


START_OF_BOTH = gamedp.Model.from_arrays(
    [0, 1, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[1, -1], terminals=[2],
    players=[0, 0, 0], num_players=2, initial=[(0.5, 0), (0.5, 1)],
)  # fmt: skip
"""One start earns without end, and one loses."""


def test_a_start_that_may_be_infinite_both_ways_has_infinite_bounds():
    everything = (-math.inf, math.inf)
    exact = gamedp.solve(START_OF_BOTH, solver=gamedp.solvers.ExactPolicyIteration())
    uniform = gamedp.Policy.uniform(START_OF_BOTH)
    known = gamedp.evaluate(START_OF_BOTH, [uniform, uniform])
    for solution in (gamedp.solve(START_OF_BOTH), exact, known):
        for player in range(2):
            assert solution.bounds(player=player) == everything
            assert math.isinf(solution.value(player=player))
        assert "nan" not in repr(solution)
    with pytest.raises(gamedp.errors.UnsupportedProblemError, match="infinite both ways"):
        exact.exact_value()
    other = gamedp.Policy(START_OF_BOTH, [1.0, 1.0], "other")
    told = gamedp.best_response(START_OF_BOTH, {uniform: 0.5, other: 0.5}, 0)
    assert told.bounds() == told.told == everything
    both = attrs.evolve(
        START_OF_BOTH,
        initial_states=np.zeros(2, np.int64),
        initial_probabilities=np.array([0.5, -0.5]),
    )
    assert gamedp.solve(both).bounds() == everything


@pytest.mark.filterwarnings("error")
def test_a_cross_table_of_totals_that_are_infinite_both_ways_is_refused():
    with pytest.raises(gamedp.errors.UnsupportedProblemError, match="infinite"):
        gamedp.cross_table(START_OF_BOTH, {"uniform": gamedp.Policy.uniform(START_OF_BOTH)})
