"""`Model`: made of arrays and matrices, what it refuses and in which words, and as a value."""

import functools
import pickle
import sys
from fractions import Fraction

import attrs
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import gamedp
from gamedp.errors import InvalidModelError, UnknownStateError
from gamedp.games.matches import Matches, MatchesState
from gamedp.model.model import ARRAYS, Model, describe_choice

# State 0 has two choices, state 1 one; state 2 is terminal.
GOOD = {
    "choice_offsets": [0, 2, 3, 3],
    "transition_offsets": [0, 2, 3, 5],
    "successors": [0, 1, 2, 0, 2],
    "probabilities": [0.25, 0.75, 1.0, 0.5, 0.5],
    "payoffs": [7.0],
}
THREE = {"num_players": 3, "payoffs": [[1.0, 2.0, 3.0]]}


def good_model(**changes):
    return Model.from_arrays(**{**GOOD, **changes})


def test_what_is_left_out_has_a_default():
    model = good_model()
    assert model.num_players == 1
    assert model.constant_sum == 0
    assert model.players.tolist() == [0, 0, 0]
    assert model.rewards.tolist() == [0, 0, 0]
    assert model.terminals.tolist() == [2]
    assert model.action_labels.tolist() == [0, 1, 0]
    assert model.initial_states.tolist() == [0]
    assert model.initial_probabilities.tolist() == [1]
    assert model.states is None
    assert model.rules is None


def test_the_arrays_have_the_types_that_the_model_documents():
    model = good_model()
    assert {name: getattr(model, name).dtype.name for name in ARRAYS} == {
        "choice_offsets": "int64",
        "transition_offsets": "int64",
        "successors": "int32",
        "probabilities": "float64",
        "rewards": "float64",
        "players": "int8",
        "terminals": "int64",
        "payoffs": "float64",
        "action_labels": "int8",
        "initial_states": "int64",
        "initial_probabilities": "float64",
    }


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ([-128, 127, 0], np.int8),
        ([-129, 0, 0], np.int16),
        ([2**15, 0, 0], np.int32),
        ([2**31, 0, 0], np.int64),
    ],
)
def test_labels_take_the_smallest_integers_that_hold_them(labels, dtype):
    model = good_model(action_labels=labels)
    assert model.action_labels.dtype == dtype
    assert model.action_labels.tolist() == labels


def test_the_arguments_are_copied_and_stay_writable():
    arguments = {name: np.array(values) for name, values in GOOD.items()}
    before = {name: array.copy() for name, array in arguments.items()}
    model = Model.from_arrays(**arguments)
    for name, array in arguments.items():
        assert array.flags.writeable
        assert not np.shares_memory(array, getattr(model, name))
        array[:] = 77
        assert np.array_equal(getattr(model, name), before[name])


def test_integers_of_any_kind_are_welcome():
    small = {name: np.array(GOOD[name], np.uint8) for name in list(GOOD)[:3]}
    assert good_model(**small).digest() == good_model().digest()


def test_fractions_are_welcome():
    probabilities = [Fraction(1, 4), Fraction(3, 4), 1, Fraction(1, 2), Fraction(1, 2)]
    assert good_model(probabilities=probabilities).digest() == good_model().digest()


def test_terminals_may_come_in_any_order():
    model = Model.from_arrays(
        [0, 1, 1, 1], [0, 2], [1, 2], [0.5, 0.5], terminals=[2, 1], payoffs=[20.0, 10.0]
    )
    assert model.terminals.tolist() == [1, 2]
    assert model.payoffs.tolist() == [10.0, 20.0]


def test_named_terminals_pay_nothing_without_payoffs():
    assert good_model(terminals=[2], payoffs=None).payoffs.tolist() == [0.0]


def test_the_number_of_players_is_found():
    assert good_model(players=[1, 0, 0]).num_players == 2
    assert good_model(players=[2, 0, 0], payoffs=[[1, 2, 3]]).num_players == 3


def test_three_players_have_a_column_each():
    model = good_model(**THREE, rewards=[[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert model.rewards.shape == (3, 3)
    assert model.payoffs.tolist() == [[1, 2, 3]]
    assert good_model(**THREE).rewards.shape == (3, 3)


def test_of_two_players_the_first_ones_column_is_kept():
    rewards = [[1, -1], [2, -2], [-3, 3]]
    model = good_model(num_players=2, rewards=rewards, payoffs=[[0.75, 0.25]], constant_sum=1)
    assert model.rewards.tolist() == [1, 2, -3]
    assert model.payoffs.tolist() == [0.75]


def test_impossible_outcomes_are_dropped():
    model = Model.from_arrays([0, 1, 1], [0, 4], [0, 1, 0, 1], [0.0, 0.5, 0.5, -0.0], payoffs=[1])
    assert model.transition_offsets.tolist() == [0, 2]
    assert model.successors.tolist() == [1, 0]
    assert model.probabilities.tolist() == [0.5, 0.5]


def test_outcomes_with_one_successor_are_added_up_side_by_side():
    model = Model.from_arrays(
        [0, 1, 2, 2],
        [0, 5, 7],
        [2, 0, 2, 0, 2, 0, 2],
        [0.125, 0.25, -0.25, 0.25, 0.125, 0.5, 0.5],
        payoffs=[0.0],
        num_players=2,
    )
    assert model.transition_offsets.tolist() == [0, 3, 5]
    assert model.successors.tolist() == [2, 0, 2, 0, 2]
    assert model.probabilities.tolist() == [0.25, 0.5, -0.25, 0.5, 0.5]
    assert model.has_swaps


def test_a_random_start():
    model = good_model(initial=[(0.25, 1), (0.5, 0), (0.25, 1), (0.0, 2)])
    assert model.initial_states.tolist() == [1, 0]
    assert model.initial_probabilities.tolist() == [0.5, 0.5]
    swapped = good_model(initial=[(-0.5, 0), (0.5, 0)], num_players=2)
    assert swapped.initial_states.tolist() == [0, 0]
    assert swapped.initial_probabilities.tolist() == [-0.5, 0.5]
    one = good_model(initial=np.int8(1))
    assert (one.initial_states, one.initial_probabilities) == ([1], [1.0])


BAD = {
    # shapes and types
    "ragged": (
        {"probabilities": [[0.25, 0.75], [1.0], [0.5, 0.5]]},
        "probabilities is not an array: its rows differ in length or kind",
    ),
    "two dimensions": (
        {"successors": [[0, 1], [2, 0]]},
        "successors has 2 dimensions (shape (2, 2)) instead of 1.",
    ),
    "a number for an array": ({"choice_offsets": 3}, "choice_offsets has 0 dimensions"),
    "floats for indices": (
        {"successors": [0.0, 1.0, 2.0, 0.0, 2.0]},
        (
            "successors holds float64; it must hold integers of at most 64 bits with a sign. If "
            "these are whole numbers, convert them: successors.astype(numpy.int64)."
        ),
    ),
    "truth values for indices": (
        {"successors": [False, True, True, False, True]},
        "successors holds bool; it must hold integers",
    ),
    "text for indices": ({"successors": list("01202")}, "successors holds <U1; it must hold int"),
    "integers too large": (
        {"successors": np.array([2**63] * 5, np.uint64)},
        "successors holds uint64; it must hold integers of at most 64 bits with a sign",
    ),
    "integers far too large": ({"successors": [2**70] * 5}, "successors holds object"),
    "text for numbers": (
        {"probabilities": ["a"] * 5},
        "probabilities holds <U1; it must hold real numbers.",
    ),
    "complex numbers": ({"probabilities": [1j] * 5}, "probabilities holds complex128"),
    "objects for numbers": ({"probabilities": [{}] * 5}, "probabilities holds object"),
    # offsets
    "too few probabilities": (
        {"probabilities": [0.25, 0.75]},
        "there are 5 successors and 2 probabilities; every transition needs one of each.",
    ),
    "no offsets": (
        {"choice_offsets": []},
        "choice_offsets is empty; the first entry must be 0, where the choices begin.",
    ),
    "a late begin": (
        {"choice_offsets": [1, 2, 3, 3]},
        "choice_offsets begins with 1; the first entry must be 0, where the choices begin.",
    ),
    "falling offsets": (
        {"choice_offsets": [0, 3, 2, 3]},
        (
            "choice_offsets falls from 3 to 2 at state 1 (1 of 3 states is off). Offsets never "
            "fall; a state without choices repeats the entry before."
        ),
    ),
    "an early end": (
        {"choice_offsets": [0, 2, 2, 2]},
        (
            "choice_offsets ends with 2, but there are 3 choices. The last entry must be the "
            "number of choices."
        ),
    ),
    "falling transition offsets": (
        {"transition_offsets": [0, 3, 2, 5]},
        "transition_offsets falls from 3 to 2 at choice 1 (1 of 3 choices is off).",
    ),
    "a late end": (
        {"transition_offsets": [0, 2, 3, 6]},
        (
            "transition_offsets ends with 6, but there are 5 transitions. The last entry must be "
            "the number of transitions."
        ),
    ),
    "no states": (
        {
            "choice_offsets": [0],
            "transition_offsets": [0],
            "successors": [],
            "probabilities": [],
            "payoffs": None,
        },
        "the model has no states",
    ),
    # outcomes
    "a state that does not exist": (
        {"successors": [0, 3, 2, -1, 2]},
        (
            "choice 0 (action 0) of state 0 leads to state 3, which does not exist (2 of 5 "
            "transitions are off). States are numbered 0 to 2."
        ),
    ),
    "a negative state": (
        {"successors": [0, 1, 2, -1, 2], "action_labels": [4, 5, 6]},
        (
            "choice 2 (action 6) of state 1 leads to state -1, which does not exist (1 of 5 "
            "transitions is off)."
        ),
    ),
    "not a number": (
        {"probabilities": [0.25, 0.75, np.nan, 0.5, 0.5]},
        (
            "choice 1 (action 1) of state 0 leads to state 2 with probability nan (1 of 5 "
            "transitions is off). A probability is a number from 0 to 1; with num_players=2 a "
            "negative one says that the players change places."
        ),
    ),
    "infinite": ({"probabilities": [0.25, 0.75, np.inf, 0.5, 0.5]}, "with probability inf (1 of 5"),
    "negative for one player": (
        {"probabilities": [0.25, 0.75, 1, -0.5, 1.5]},
        "choice 2 (action 0) of state 1 leads to state 0 with probability -0.5 (1 of 5",
    ),
    "negative for three players": (
        {**THREE, "probabilities": [0.25, 0.75, -1, 0.5, 0.5]},
        "choice 1 (action 1) of state 0 leads to state 2 with probability -1.0",
    ),
    "sums off": (
        {"probabilities": [0.25, 0.65, 1.0, 0.5, 0.6]},
        (
            "the outcomes of choice 0 (action 0) of state 0 have total probability 0.9, not 1 (2 "
            "of 3 choices are off). Outcomes must sum to 1 within 1e-09."
        ),
    ),
    "a sum of signs": (
        {"probabilities": [0.25, 0.75, 1.0, -0.5, 1.5], "num_players": 2},
        "the outcomes of choice 2 (action 0) of state 1 have total probability 2.0, not 1",
    ),
    "a choice without outcomes": (
        {"transition_offsets": [0, 2, 2, 5], "probabilities": [0.25, 0.75, 0.25, 0.25, 0.5]},
        "the outcomes of choice 1 (action 1) of state 0 have total probability 0.0, not 1 (1 of 3",
    ),
    # rewards, labels, players
    "an infinite reward": (
        {"rewards": [0, -np.inf, 0]},
        (
            "the reward of choice 1 (action 1) of state 0 is -inf (1 of 3 choices is off); it must "
            "be finite."
        ),
    ),
    "one player's reward is not a number": (
        {**THREE, "rewards": [[0, 0, 0], [0, 0, 0], [1, np.nan, 2]]},
        "the reward of choice 2 (action 0) of state 1 is [1.0, nan, 2.0] (1 of 3",
    ),
    "too few rewards": (
        {"rewards": [1.0]},
        "rewards has the shape (1,); it must be (3,) (choices: 3, players: 1).",
    ),
    "rewards for one of three players": (
        {**THREE, "rewards": [1, 2, 3]},
        "rewards has the shape (3,); it must be (3, 3) (choices: 3, players: 3).",
    ),
    "rewards that do not cancel": (
        {"num_players": 2, "rewards": [[1, -1], [1, 1], [2, 2]]},
        (
            "rewards[1] is [1.0, 1.0]; the numbers of two players must add up to 0.0 (2 of 3 "
            "choices are off)."
        ),
    ),
    "too few labels": (
        {"action_labels": [1, 2]},
        "action_labels has 2 entries, but there are 3 choices; each needs one.",
    ),
    "too many players": (
        {"players": [0] * 4},
        "players has 4 entries, but there are 3 states; each needs one.",
    ),
    "a player that does not exist": (
        {"players": [0, 2, 0], "num_players": 2},
        (
            "the player of state 1 is 2 (1 of 3 states is off). Players are numbered 0 to 1 (set "
            "num_players)."
        ),
    ),
    "a negative player": ({"players": [0, -1, 0]}, "the player of state 1 is -1 (1 of 3 states"),
    "no players": ({"num_players": 0}, "num_players is 0; there can be 1 to 127."),
    "half a player": ({"num_players": 1.5}, "num_players is 1.5; it must be an integer."),
    "a sum of one player": (
        {"constant_sum": 1.0},
        (
            "constant_sum is 1.0, but there is no pair of players to share it: the number of "
            "players is 1. Set num_players=2 or leave constant_sum out."
        ),
    ),
    "no sum": (
        {"constant_sum": np.nan, "num_players": 2},
        "constant_sum is nan; it must be a finite number.",
    ),
    "a sum in words": ({"constant_sum": "zero"}, "constant_sum is 'zero'; it must be a finite"),
    # endings
    "no end": (
        {"payoffs": None},
        (
            "state 2 has no choices and is not terminal (1 of 3 states is off). Name the terminal "
            "states in `terminals`, or give each of these states a number in `payoffs`."
        ),
    ),
    "another end": (
        {"terminals": []},
        (
            "state 2 has no choices and is not terminal (1 of 3 states is off). Name it in "
            "`terminals`, or give it a choice."
        ),
    ),
    "an end with choices": (
        {"terminals": [2, 1], "payoffs": [0, 0]},
        (
            "state 1 is terminal, but has choices (1 of 3 states is off). Leave it out of "
            "`terminals`, or take its choices away."
        ),
    ),
    "an end named twice": (
        {"terminals": [2, 2], "payoffs": [0, 0]},
        "terminals names state 2 twice (1 of 3 states is off). Leave one out, and its payoff.",
    ),
    "an end that does not exist": (
        {"terminals": [3]},
        (
            "terminals names state 3, which does not exist (1 of 1 entries is off). States are "
            "numbered 0 to 2."
        ),
    ),
    "too many payoffs": (
        {"payoffs": [1, 2]},
        "payoffs has the shape (2,); it must be (1,) (terminal states: 1, players: 1).",
    ),
    "an infinite payoff": (
        {"payoffs": [np.inf]},
        "the payoff in terminal state 2 is inf (1 of 1 terminal states is off); it must be finite.",
    ),
    "payoffs that do not add up": (
        {"payoffs": [[1, 1]], "num_players": 2, "constant_sum": 1},
        "payoffs[0] is [1.0, 1.0]; the numbers of two players must add up to 1.0 (1 of 1",
    ),
    # the start
    "a start that does not exist": (
        {"initial": 3},
        "the initial state 3 does not exist; states are numbered 0 to 2.",
    ),
    "no start": ({"initial": []}, "the initial states have total probability 0.0, not 1. Give one"),
    "half a start": (
        {"initial": [(0.5, 1)]},
        (
            "the initial states have total probability 0.5, not 1. Give one state, or a list of "
            "(probability, state) pairs that sum to 1 within 1e-09."
        ),
    ),
    "a negative start": (
        {"initial": [(-1.0, 1)]},
        "the game starts in state 1 with probability -1.0; a probability is a number from 0 to 1",
    ),
    "a start in words": (
        {"initial": "first"},
        "initial contains 'first'; it must be one state, or a list of (probability, state) pairs.",
    ),
    "a start between states": ({"initial": 0.5}, "initial contains 0.5; it must be one state"),
    "a list of states": (
        {"initial": [0, 1]},
        "initial contains 0; it must be one state, or a list",
    ),
    "pairs the wrong way round": (
        {"initial": [(0, 0.5), (1, 0.5)]},
        "an initial state is 0.5; it must be an integer.",
    ),
    "a truth value": (
        {"initial": [(1.0, True)]},
        "an initial state is True; it must be an integer",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arrays_are_refused_in_words(case):
    changes, words = BAD[case]
    with pytest.raises(InvalidModelError) as caught:
        good_model(**changes)
    assert words in str(caught.value)


def test_matrices():
    model = Model.from_scipy(
        [
            scipy.sparse.csr_array([[0, 0.5, 0.5], [0, 0, 1], [0, 0, 0]]),
            np.array([[0, 0, 0], [1.0, 0, 0], [0, 0, 0]]),
            scipy.sparse.coo_matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]]),
        ],
        rewards=[[1, np.nan, 3], [4, 5, -np.inf], [np.nan, 0, 0]],
        payoffs=[9],
    )
    assert model.choice_offsets.tolist() == [0, 2, 4, 4]
    assert model.transition_offsets.tolist() == [0, 2, 3, 4, 5]
    assert model.successors.tolist() == [1, 2, 1, 2, 0]
    assert model.probabilities.tolist() == [0.5, 0.5, 1, 1, 1]
    assert model.rewards.tolist() == [1, 3, 4, 5]
    assert model.action_labels.tolist() == [0, 2, 0, 1]
    assert model.terminals.tolist() == [2]
    assert model.payoffs.tolist() == [9]


def test_matrices_with_a_reward_for_each_state():
    model = Model.from_scipy([np.eye(2), np.eye(2)[::-1]], rewards=[1, 2])
    assert model.rewards.tolist() == [1, 1, 2, 2]


def test_matrices_with_rewards_for_three_players():
    rewards = np.arange(12.0).reshape(2, 2, 3)
    model = Model.from_scipy([np.eye(2), np.eye(2)], rewards=rewards, num_players=3)
    assert np.array_equal(model.rewards, rewards.reshape(4, 3))


def test_rewards_that_depend_on_the_next_state():
    """A third of 1 is no double: the bounds contain the value all the same."""
    probabilities = np.array([[[0.25, 0.75], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]])
    paid = np.array([[[4.0, -1.0], [1.0, 1.0]], [[0.1, np.nan], [np.nan, 0.7]]])
    for rewards in (paid, [scipy.sparse.csr_array(part) for part in paid]):
        model = Model.from_scipy(probabilities, transition_rewards=rewards)
        assert model.rewards.tolist() == [0.25, 0.1, 1.0, 0.7]
        assert not model.fractions
        # Two units in the last place of 1/4 and 3/4: that of the mean of |4 - 1/4| and |-1 - 1/4|.
        assert model.rounding == (0.0, 1.875 * 2.0**-51, 7.5 * 2.0**-51)
    third = Model.from_scipy([[[1 / 3, 2 / 3], [0, 1]]], transition_rewards=[[[1, 0], [0, 0]]])
    chance = Fraction(1 / 3) / (Fraction(1 / 3) + Fraction(2 / 3))
    missed = abs(Fraction(third.rewards[0]) - chance)
    assert 0 < missed <= third.rounding[1] < 3e-16
    assert missed / chance <= third.rounding[2] < 2**-49
    assert third.fractions["rewards"].tolist() == [chance, 0]
    low, high = gamedp.solve(third, gamedp.FiniteHorizon(1)).bounds(0)
    assert low < chance < high
    assert low < Fraction(1, 3) < high


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"transition_rewards": [np.eye(2)]}, "1 matrices, and none for action 1"),
        ({"transition_rewards": [np.eye(2), np.eye(3)]}, "the shape (3, 3); it must be (2, 2)"),
        ({"transition_rewards": [np.eye(2), np.full((2, 2), np.inf)]}, "to state 1 is inf"),
        ({"transition_rewards": [np.eye(2)] * 2, "rewards": [1, 2]}, "not both"),
        ({"transition_rewards": [np.eye(2)] * 2, "num_players": 3}, "of each"),
        ({"transition_rewards": [np.eye(2), [["a", "b"]] * 2]}, "must hold real numbers"),
    ],
)
def test_bad_rewards_of_transitions(keywords, words):
    with pytest.raises(InvalidModelError) as caught:
        Model.from_scipy([np.eye(2), np.eye(2)[::-1]], **keywords)
    assert words in str(caught.value)


def test_matrices_are_not_changed():
    matrix = scipy.sparse.csr_array(
        (np.array([0.5, 0.0, 0.5, 1.0]), np.array([1, 0, 1, 0]), np.array([0, 3, 4])), shape=(2, 2)
    )
    model = Model.from_scipy([matrix])
    assert model.successors.tolist() == [1, 0]
    assert model.probabilities.tolist() == [1.0, 1.0]
    assert matrix.data.tolist() == [0.5, 0.0, 0.5, 1.0]
    assert matrix.indices.tolist() == [1, 0, 1, 0]


BAD_MATRICES = {
    "none": (([],), "there are no matrices; from_scipy takes one for each action."),
    "one alone": (
        (scipy.sparse.eye_array(2),),
        "from_scipy takes a list of matrices, one for each action; put the one in a list.",
    ),
    "not square": (
        ([np.ones((2, 3))],),
        (
            "the matrix of action 0 is 2 x 3 of float64; all matrices must be square, of one size "
            "(states x states), and of real numbers."
        ),
    ),
    "two sizes": (([np.eye(2), np.eye(3)],), "the matrix of action 1 is 3 x 3 of float64; all"),
    "complex": (([np.eye(2) * 1j],), "the matrix of action 0 is 2 x 2 of complex128; all"),
    "states first": (
        (np.full((3, 2, 3), 1 / 3),),
        (
            "the matrix of action 0 is 2 x 3 of float64; all matrices must be square, of one size "
            "(states x states), and of real numbers. This is an array of states x actions x "
            "states: pass numpy.transpose(matrices, (1, 0, 2))."
        ),
    ),
    "rows": ((np.eye(2),), "the matrix of action 0 is 2 of float64; all matrices must be square"),
    "words": ((["up", "down"],), "the matrix of action 0 is not a matrix of numbers"),
    "rewards": (
        ([np.eye(2)], [[1, 2, 3]]),
        (
            "rewards has the shape (1, 3); it must be (2,), one number for each state, or (2, 1), "
            "one for each state and action."
        ),
    ),
    "sums": (
        ([np.eye(2), np.eye(2) / 2],),
        "the outcomes of choice 1 (action 1) of state 0 have total probability 0.5, not 1 (2 of 4",
    ),
}


@pytest.mark.parametrize("case", BAD_MATRICES)
def test_bad_matrices_are_refused_in_words(case):
    arguments, words = BAD_MATRICES[case]
    with pytest.raises(InvalidModelError) as caught:
        Model.from_scipy(*arguments)
    assert words in str(caught.value)


@st.composite
def raw_models(draw):
    """Arrays of a model for two players, with zeros, duplicates and swaps."""
    num_states = draw(st.integers(1, 5))
    outcome = st.tuples(st.integers(0, num_states - 1), st.sampled_from([0, 1, 2, -1, -3]))
    possible = st.lists(outcome, min_size=1, max_size=7).filter(lambda row: any(w for _, w in row))
    rows = draw(st.lists(st.lists(possible, max_size=3), min_size=num_states, max_size=num_states))
    choices = [choice for state in rows for choice in state]
    return {
        "choice_offsets": np.cumsum([0] + [len(state) for state in rows]),
        "transition_offsets": np.cumsum([0] + [len(choice) for choice in choices]),
        "successors": np.array([s for choice in choices for s, _ in choice], np.int64),
        "probabilities": np.array(
            [w / sum(abs(v) for _, v in choice) for choice in choices for _, w in choice]
        ),
        "payoffs": np.zeros(sum(not state for state in rows)),
        "num_players": 2,
    }


def dense(arrays):
    """Return two dense (C, S) matrices of an array model: of the plain and the swapped edges."""
    num_choices = len(arrays["transition_offsets"]) - 1
    both = np.zeros((2, num_choices, len(arrays["choice_offsets"]) - 1))
    for choice in range(num_choices):
        begin, end = arrays["transition_offsets"][choice : choice + 2]
        for successor, probability in zip(
            arrays["successors"][begin:end], arrays["probabilities"][begin:end], strict=True
        ):
            both[int(probability < 0), choice, successor] += probability
    return both


@given(raw_models())
def test_merging_changes_nothing_but_the_number_of_transitions(arrays):
    model = Model.from_arrays(**arrays)
    merged = {name: getattr(model, name) for name in ARRAYS}
    assert np.allclose(dense(merged), dense(arrays), rtol=1e-15, atol=0)
    assert (model.probabilities != 0).all()
    for begin, end in zip(model.transition_offsets, model.transition_offsets[1:], strict=False):
        transitions = list(
            zip(model.successors[begin:end], model.probabilities[begin:end] < 0, strict=True)
        )
        assert len(set(transitions)) == len(transitions) > 0


@given(raw_models(), st.integers(0, 2**32))
def test_the_transition_matrix_is_the_dense_one(arrays, seed):
    model = Model.from_arrays(**arrays)
    values = np.random.default_rng(seed).normal(size=model.num_states)
    matrix = model.transition_matrix
    assert matrix.shape == (model.num_choices, model.num_states)
    assert np.allclose(matrix @ values, dense(arrays).sum(axis=0) @ values, atol=1e-12)
    assert np.shares_memory(matrix.data, model.probabilities) or not model.num_transitions
    assert np.shares_memory(matrix.indices, model.successors) or not model.num_transitions
    assert not matrix.data.flags.writeable


@given(raw_models())
def test_matrices_and_arrays_make_the_same_model(arrays):
    model = Model.from_arrays(**arrays)
    most = max([0, *np.diff(model.choice_offsets)])
    matrices = [
        scipy.sparse.lil_array((model.num_states, model.num_states)) for _ in range(max(1, most))
    ]
    for state in range(model.num_states):
        for action, choice in enumerate(range(*model.choice_offsets[state : state + 2])):
            row = slice(*model.transition_offsets[choice : choice + 2])
            if len(set(model.successors[row])) < len(model.successors[row]):
                return  # a matrix has no place for both sides of one edge
            for successor, chance in zip(
                model.successors[row], model.probabilities[row], strict=True
            ):
                matrices[action][state, successor] = chance
    again = Model.from_scipy(matrices, payoffs=arrays["payoffs"], num_players=2)
    assert (again.transition_matrix != model.transition_matrix).nnz == 0
    assert np.array_equal(again.choice_offsets, model.choice_offsets)
    assert np.array_equal(again.action_labels, model.action_labels)


@settings(max_examples=20)
@given(raw_models())
def test_a_checked_model_passes_its_own_check_unchanged(arrays):
    model = Model.from_arrays(**arrays)
    fields = {name: getattr(model, name) for name in ARRAYS if not name.startswith("initial")}
    again = Model.from_arrays(**fields, num_players=2)
    assert again.digest() == model.digest()


def counted_calls(function):
    """Return what a function returns, and how many functions were called meanwhile."""
    count = 0

    def profile(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        result = function()
    finally:
        sys.setprofile(before)
    return result, count


def test_a_million_transitions_are_checked_as_whole_arrays():
    """Whatever the size, as many functions are called: nothing is done one by one."""
    outcomes = 5
    rng = np.random.default_rng(7)
    counts = []
    for num_states in (10**3, 10**3, 10**5):  # the first time, something may be loaded
        num_choices = 2 * num_states
        arrays = (
            np.arange(num_states + 1) * 2,
            np.arange(num_choices + 1) * outcomes,
            rng.integers(0, num_states, num_choices * outcomes),
            np.full(num_choices * outcomes, 1 / outcomes),
        )
        model, count = counted_calls(functools.partial(Model.from_arrays, *arrays))
        counts.append(count)
        # A choice has two equal outcomes of five with probability 10 / S.
        assert 0 < num_choices * outcomes - model.num_transitions < 100
    assert counts[1] == counts[2] < 1000


def test_it_is_locked_also_after_pickling():
    for model in (
        good_model(**THREE),
        gamedp.compile(Matches(), compile="never"),
    ):
        again = pickle.loads(pickle.dumps(model))
        assert again.digest() == model.digest()
        for name in ARRAYS:
            assert not getattr(again, name).flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                getattr(again, name)[...] = 0
    assert not again.states.codes.flags.writeable
    assert again.index(MatchesState(1, 17)) == (1, True)
    assert again.state(1) == MatchesState(0, 17)


def test_computed_properties_are_not_pickled():
    model = good_model()
    size = len(pickle.dumps(model))
    assert model.transition_matrix is model.transition_matrix
    assert model.structure.num_states == 3
    assert len(pickle.dumps(model)) == size


CHANGES = [
    {"payoffs": [8.0]},
    {"rewards": [0, 0, 1]},
    {"successors": [0, 2, 2, 0, 2]},
    {"probabilities": [0.5, 0.5, 1.0, 0.5, 0.5]},
    {"initial": 1},
    {"num_players": 2},
    {"num_players": 2, "constant_sum": 1.0},
    {"players": [0, 1, 0]},
    {"action_labels": [0, 2, 0]},
    {"action_labels": [0, 200, 0]},
    THREE,
]


def test_the_digest_tells_models_apart():
    assert good_model().digest() == good_model().digest()
    digests = {good_model(**changes).digest() for changes in [{}, *CHANGES]}
    assert len(digests) == len(CHANGES) + 1


def test_a_changed_copy_has_a_digest_of_its_own():
    model = good_model()
    before = model.digest()
    assert attrs.evolve(model, rewards=model.rewards + 1.0).digest() != before
    assert pickle.loads(pickle.dumps(model)).digest() == before
    assert model.digest() == before


def test_it_says_how_large_it_is():
    assert repr(good_model()) == "<Model 3 states, 3 choices, 5 transitions>"
    model = gamedp.compile(Matches(matches=4), compile="never")
    assert repr(model) == (
        "<Model Matches(matches=4, takes=(1, 2, 3), misere=True): 5 states, 9 choices, "
        "9 transitions>"
    )
    arrays = sum(getattr(model, name).nbytes for name in ARRAYS)
    assert model.num_bytes == arrays + model.states.codes.nbytes
    assert good_model().num_bytes == sum(getattr(good_model(), name).nbytes for name in ARRAYS)


def test_without_a_game_states_are_numbers():
    model = good_model()
    assert model.index(1) == (1, False)
    assert model.index(np.int8(2)) == (2, False)
    assert model.state(np.int64(2)) == 2
    assert describe_choice(model, 2) == "choice 2 (action 0) of state 1"


@pytest.mark.parametrize("state", [3, -1, 1.0, "1", (1,), None])
def test_what_is_no_state(state):
    with pytest.raises(UnknownStateError, match=r"there is no state .*; the model has no game"):
        good_model().index(state)


def test_with_a_game_states_are_its_own():
    model = gamedp.compile(Matches(), compile="never")
    assert model.index(MatchesState(0, 18)) == (0, False)
    assert model.index(MatchesState(1, 18)) == (0, True)
    with pytest.raises(UnknownStateError, match=r"left=19\) is not a state of this model"):
        model.index(MatchesState(0, 19))
    assert describe_choice(model, 0) == "action 1 in MatchesState(player=0, left=18)"
