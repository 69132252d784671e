"""Policies given as arrays: what they mean, where that can be told, and what is refused."""

import numpy as np
import pytest

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.games.matches import Matches
from gamedp.testing.models import random_model

Policy = gamedp.Policy


def model_of(*counts, labels=None, players=None, payoffs=None):
    """Return a model with so many choices in each state; all lead to the end, the last state."""
    offsets = np.concatenate([[0], np.cumsum([*counts, 0])])
    every = np.arange(offsets[-1] + 1)
    return gamedp.Model.from_arrays(
        offsets,
        every,
        np.full(offsets[-1], len(counts)),
        np.ones(offsets[-1]),
        rewards=np.arange(offsets[-1]),
        action_labels=labels,
        payoffs=[0.0] if payoffs is None else payoffs,
        players=players,
        initial=[(1 / len(counts), state) for state in range(len(counts))],
    )


def taken(policy):
    """Return the choices that a policy takes for sure."""
    return np.flatnonzero(policy.probabilities == 1).tolist()


SMALL = model_of(2, 2, 1)
"""Choices 0, 1 and 2, 3 and 4: as places 0, 1 and 0, 1 and 0."""


class TestNumbers:
    """An integer for each state."""

    @pytest.mark.parametrize("kind", [np.array, list, tuple, np.uint8, np.int32])
    @pytest.mark.parametrize("end", [0, -1])
    def test_places_of_actions_are_what_other_tools_give(self, kind, end):
        given = [1, 0, 0, end]
        if kind is np.uint8 and end < 0:
            return
        given = (
            np.array(given, kind)
            if isinstance(kind, type) and issubclass(kind, np.integer)
            else kind(given)
        )
        assert taken(Policy.from_array(SMALL, given)) == [1, 2, 4]

    def test_choices_are_what_a_solution_has(self):
        assert taken(Policy.from_array(SMALL, [1, 3, 4, -1])) == [1, 3, 4]

    @pytest.mark.parametrize("seed", range(30))
    def test_the_policy_of_a_solution_is_never_taken_for_another(self, seed):
        solution = gamedp.solve(random_model(seed), gamedp.Discounted(0.9))
        wanted = Policy.from_solution(solution).probabilities
        try:
            found = Policy.from_array(solution.model, solution.policy)
        except InvalidParameterError as error:
            assert 'Policy.from_array(model, array, "choices")' in str(error)  # noqa: PT017
            found = Policy.from_array(solution.model, solution.policy, "choices")
        assert (found.probabilities == wanted).all()

    def test_what_fits_twice_and_differs_is_refused(self):
        model = model_of(1, 3)
        words = (
            r"in state 1, 1 is action 0 by choices, 1 by places, 1 by labels\. Say what its "
            r'numbers are: Policy\.from_array\(model, array, "choices"\) or .*"places"\) or '
        )
        with pytest.raises(InvalidParameterError, match=words):
            gamedp.evaluate(model, [0, 1, -1])
        assert taken(Policy.from_array(model, [0, 1, -1], "choices")) == [0, 1]
        for meaning in ("places", "labels"):
            assert taken(Policy.from_array(model, [0, 1, -1], meaning)) == [0, 2]

    def test_what_fits_twice_and_is_the_same_is_taken(self):
        assert taken(Policy.from_array(model_of(3), [2, -1])) == [2]

    def test_labels_are_told_from_places(self):
        model = model_of(2, 2, labels=[7, 5, 0, 1])
        assert taken(Policy.from_array(model, [5, 1, 0])) == [1, 3]
        with pytest.raises(
            InvalidParameterError, match=r"in state 0, 1 is action 2 by places, 1 by"
        ):
            Policy.from_array(model_of(2, 2, labels=[1, 2, 1, 2]), [1, 1, -1])

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ([1, 9, 4, -1], r"no choices in state 1, of which it has \[2, 3\]: 9; no places in"),
            ([1, 3, 4, 0], r"no choices in state 3, where play is over, and -1 must stand: 0"),
            ([1, 3, 4, 5], r"no choices in state 3, where play is over"),
            ([-1, 3, 4, -1], r"no choices in state 0, of which it has \[0, 1\]: -1"),
            ([-2, 0, 0, -1], r"no places in state 0, of which it has \[0, 1\]: -2"),
            ([10**8, 0, 0, -1], "100000000"),
            (np.array([2**63, 0, 0, 0], np.uint64), "9223372036854775808"),
            ([1, 0, 0], r"an array of int64 of shape \(3,\) is not a policy of this model"),
            (
                [1.0, 0.0, 0.0, 0.0],
                r"array of float64 of shape \(4,\).* shape \(4, 2\), or .*\(5,\)",
            ),
            (np.array([True, False, False, False]), "array of bool of shape"),
            (np.array([None] * 4), "array of object of shape"),
            (np.array(1), r"of shape \(\)"),
            (np.int64(1), r"of shape \(\)"),
            (np.zeros((4, 1, 1), int), "is not a policy"),
        ],
    )
    def test_what_is_no_policy_is_refused(self, given, words):
        with pytest.raises(InvalidParameterError, match=words):
            gamedp.evaluate(SMALL, given)

    def test_a_meaning_that_is_asked_for_is_the_only_one(self):
        with pytest.raises(InvalidParameterError, match="no places in state 1"):
            Policy.from_array(SMALL, [1, 3, 4, -1], "places")
        with pytest.raises(InvalidParameterError, match="must be one of choices, places, labels"):
            Policy.from_array(SMALL, [1, 3, 4, -1], "actions")
        with pytest.raises(InvalidParameterError, match="is not a policy of this model"):
            Policy.from_array(SMALL, np.ones((4, 2)), "choices")


class TestProbabilities:
    """How likely each action is."""

    @pytest.mark.parametrize("end", [[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    def test_a_column_for_each_action(self, end):
        table = np.array([[0.25, 0.75], [1.0, 0.0], [1.0, 0.0], end])
        found = Policy.from_array(SMALL, table).probabilities
        assert found.tolist() == [0.25, 0.75, 1.0, 0.0, 1.0]
        assert (Policy.from_array(SMALL, found).probabilities == found).all()

    def test_whole_numbers_are_probabilities_too(self):
        found = Policy.from_array(SMALL, np.array([[0, 1], [1, 0], [1, 0], [0, 0]]))
        assert taken(found) == [1, 2, 4]

    def test_columns_of_matrices_are_their_actions_where_some_are_not_available(self):
        go, stay = [[0.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
        model = gamedp.Model.from_scipy([go, np.zeros((2, 2)), stay])
        found = Policy.from_array(model, [[0.25, 0.0, 0.75], [0.0, 0.0, 1.0]])
        assert found.probabilities.tolist() == [0.25, 0.75, 1.0]
        two = gamedp.Model.from_scipy([go, stay])
        assert Policy.from_array(two, [[0.5, 0.5], [0.0, 1.0]]).probabilities.tolist() == [
            *(0.5, 0.5, 1.0)
        ]

    def test_columns_that_can_be_both_are_refused(self):
        model = model_of(2, 2, labels=[0, 1, 1, 0])
        table = [[1.0, 0.0], [0.25, 0.75], [0.0, 0.0]]
        words = r"in state 1, \[0.25, 0.75\] is action 0 by places, 1 by labels. .* its columns are"
        with pytest.raises(InvalidParameterError, match=words):
            gamedp.evaluate(model, np.array(table))
        by = {meaning: Policy.from_array(model, table, meaning) for meaning in ("places", "labels")}
        assert by["places"].actions(1) == {1: 0.25, 0: 0.75}
        assert by["labels"].actions(1) == {0: 0.25, 1: 0.75}

    @pytest.mark.parametrize(
        ("table", "words"),
        [
            ([[0.5, 0.25], [1, 0], [1, 0], [0, 0]], "sum to 0.75, not 1"),
            ([[1.5, -0.5], [1, 0], [1, 0], [0, 0]], "with probability 1.5"),
            ([[np.nan, 1], [1, 0], [1, 0], [0, 0]], "with probability nan"),
            (
                [[1.0, 0], [1, 0], [0.5, 0.5], [0, 0]],
                r"no places in state 2, of which it has \[0\]",
            ),
            ([[1.0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], "no labels in state 2"),
            (np.ones((4, 1)), r"shape \(4, 1\) is not a policy"),
            (np.ones((3, 2)), r"shape \(3, 2\) is not a policy"),
            ([[0, 0], [1, 0], [1, 0], [0, 0]], r"array chooses .* in 0, where the actions are"),
        ],
    )
    def test_what_is_no_distribution_is_refused(self, table, words):
        with pytest.raises(InvalidParameterError, match=words):
            gamedp.evaluate(SMALL, np.array(table))


class TestVerbs:
    """Wherever a policy is taken, an array is."""

    def test_one_player(self):
        solution = gamedp.solve(SMALL)
        wanted = gamedp.evaluate(SMALL, solution).bounds()
        places = solution.policy - SMALL.choice_offsets[:-1]
        places[-1] = 0
        for given in (solution.policy, solution.policy.tolist(), places, [places]):
            assert gamedp.evaluate(SMALL, given).bounds() == wanted
            assert gamedp.exploitability(SMALL, given).upper < 1e-9
            assert gamedp.simulate(SMALL, given, games=10, seed=1).finished == 10

    def test_two_players(self):
        model = model_of(2, 2, 2, players=[0, 1, 0, 0])
        best = gamedp.solve(model)
        policy = best.policy
        pair = [policy, tuple(policy.tolist())]
        assert gamedp.evaluate(model, pair).bounds() == gamedp.evaluate(model, [best] * 2).bounds()
        assert gamedp.exploitability(model, pair).upper < 1e-9
        for given in (policy, [policy], policy.tolist(), [policy.tolist()]):
            response = gamedp.best_response(model, given)
            assert response.bounds() == gamedp.best_response(model, best).bounds()
        table = gamedp.cross_table(model, {"array": policy, "solution": best})
        assert np.ptp(table.first) < 1e-9
        found = gamedp.simulation.simulate_pairs(model, pair, pairs=10, seed=1)
        assert found.pairs == 10

    def test_a_trace(self):
        plain = gamedp.policies.trace_sweeps(SMALL, policy=gamedp.solve(SMALL).policy)
        assert plain.values[-1].tolist() == gamedp.solve(SMALL).values.tolist()

    def test_the_numbers_are_those_of_a_model(self):
        solution = gamedp.solve(Matches(matches=6), compile="never")
        pair = [solution.policy] * 2
        assert gamedp.evaluate(solution.model, pair).bounds() == solution.bounds()
        with pytest.raises(InvalidParameterError, match="give that Model, such as"):
            gamedp.evaluate(Matches(matches=6), pair, compile="never")
        with pytest.raises(InvalidParameterError, match="or for a Model an array"):
            gamedp.simulate(Matches(matches=6), pair, by_rules=True, compile="never")

    @pytest.mark.parametrize("answer", [np.array([0.5, 0.5]), [0.5, 0.5], 0.0, None])
    def test_a_function_returns_no_array(self, answer):
        with pytest.raises(InvalidParameterError, match="an action is an integer"):
            gamedp.evaluate(SMALL, lambda _state: answer)
