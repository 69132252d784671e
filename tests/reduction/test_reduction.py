"""Targets, end components and infinite totals, against all policies of small models."""

import math
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import gamedp
from gamedp.reduction import needs_reduction, reduce
from gamedp.testing import exact_choice_values, exact_values
from gamedp.testing.strategies import models

relaxed = settings(
    # Plain Python takes long for each.
    max_examples=60 if numba.config.DISABLE_JIT else 150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
SOLVERS = [
    gamedp.solvers.TopologicalValueIteration(),
    gamedp.solvers.ValueIteration(),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.OptimisticValueIteration(),
    gamedp.solvers.IntervalIteration(),
    gamedp.solvers.SoundValueIteration(),
    gamedp.solvers.ModifiedPolicyIteration(),
    gamedp.solvers.PrioritizedSweeping(),
    gamedp.solvers.AndersonAcceleration(),
    gamedp.solvers.LinearProgramming(),
]


def model_of_choices(*states, rewards=None, **keywords):
    """Make a model of states: each a list of choices, a choice a dict of probabilities."""
    choices = [choice for state in states for choice in state]
    return gamedp.Model.from_arrays(
        np.cumsum([0, *map(len, states)]),
        np.cumsum([0, *map(len, choices)]),
        [target for choice in choices for target in choice],
        [chance for choice in choices for chance in choice.values()],
        rewards=rewards,
        terminals=[state for state, its in enumerate(states) if not its],
        **keywords,
    )


WAITING = model_of_choices([{0: 1.0}, {1: 0.5, 2: 0.5}], [{0: 1.0}], [], [{3: 1.0}, {2: 1.0}])
"""State 0 may wait for ever or try for the end, 2; state 3 may wait, or go there."""

MAX, MIN = "max", "min"

KNOWN = [
    # Who may wait for ever must not be promised what only trying attains (the classic bug).
    (WAITING, gamedp.Reachability([2]), [1, 1, 1, 1], [1, 2, -1, 4]),
    (WAITING, gamedp.Reachability([2], optimum=MIN), [0, 0, 1, 0], [0, 2, -1, 3]),
    (WAITING, gamedp.Reachability([2], allowed=[0]), [0.5, 0, 1, 0], [1, 2, -1, 3]),
    (WAITING, gamedp.TotalReward(until=[2]), [math.inf, math.inf, 0, math.inf], [0, 2, -1, 3]),
    (WAITING, gamedp.TotalReward(MIN, until=[2]), [0, 0, 0, 0], [1, 2, -1, 4]),
    # Trying costs one each time, waiting nothing.
    (
        model_of_choices([{0: 1.0}, {0: 0.75, 1: 0.25}], [], rewards=[0.0, 1.0]),
        gamedp.TotalReward(MIN, until=[1]),
        [4, 0],
        [1, -1],
    ),
    # To wait costs, too: nobody does.
    (
        model_of_choices([{0: 1.0}, {0: 0.75, 1: 0.25}], [], rewards=[1.0, 3.0]),
        gamedp.TotalReward(MIN, until=[1]),
        [12, 0],
        [1, -1],
    ),
    (
        model_of_choices([{0: 1.0}, {1: 1.0}], [], rewards=[1.0, 0.0]),
        gamedp.TotalReward(),
        [math.inf, 0],
        [0, -1],
    ),
    (
        model_of_choices([{0: 1.0}, {1: 1.0}], [], rewards=[-1.0, -5.0], payoffs=[2.0]),
        gamedp.TotalReward(),
        [-3, 2],
        [1, -1],
    ),
    (model_of_choices([{0: 1.0}], rewards=[-1.0]), gamedp.TotalReward(), [-math.inf], [0]),
    (model_of_choices([{0: 1.0}], rewards=[1.0]), gamedp.TotalReward(MIN), [math.inf], [0]),
    # To stay earns nothing, which is better than the end.
    (
        model_of_choices([{0: 1.0}, {1: 1.0}], [{0: 1.0}, {2: 1.0}], [], payoffs=[-1.0]),
        gamedp.TotalReward(),
        [0, 0, -1],
        [0, 2, -1],
    ),
]


@pytest.mark.parametrize("solver", [None, *SOLVERS], ids=str)
@pytest.mark.parametrize(("model", "objective", "values", "policy"), KNOWN)
def test_known_values(model, objective, values, policy, solver):
    solution = gamedp.solve(model, objective, solver, tolerance=1e-9)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert exact_values(model, objective) == values
    assert (solution.lower <= values).all()
    assert (solution.upper >= values).all()
    assert solution.width <= 1e-9
    assert solution.policy.tolist() == policy


@pytest.mark.parametrize("solver", [None, *SOLVERS], ids=str)
def test_free_play_that_stays_long_is_proven_to_be_free(solver):
    """Values are right from the first sweep on; a proof has to see that play comes to its end."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4, 5], [0, 1, 3, 5, 7, 8], [0, 0, 1, 2, 3, 0, 1, 1],
        [1.0, 0.5, 0.5, 0.5, 0.5, 1 / 101, 100 / 101, 1.0], rewards=[0.0, -1.0, 0.0, 0.0, 0.0],
    )  # fmt: skip
    solution = gamedp.solve(model, gamedp.TotalReward("max"), solver, tolerance=1e-9)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert (solution.lower <= 0).all()
    assert (solution.upper >= 0).all()
    assert solution.width <= 1e-9


def attained(model, objective, policy, player=0):
    return exact_values(model, objective, policy=policy.tolist(), player=player)


def check_against_policies(model, objective, solver):
    """Solve, and hold bounds and policy against all policies."""
    truth = exact_values(model, objective)
    scale = max([abs(float(v)) for v in truth if abs(v) != math.inf], default=0.0)
    tolerance = 1e-7 * max(scale, 1e-6)
    if hasattr(solver, "max_sweeps"):
        solver = attrs.evolve(solver, max_sweeps=10_000)  # in plain Python, too, in a moment
    try:
        solution = gamedp.solve(model, objective, solver, tolerance=tolerance)
    except gamedp.NotSolvedError as error:
        solution = error.solution
        # Endless play that costs next to nothing is all but as good as an end; or play lasts so
        # long that sweeps do not come to an end of it.
        costs = np.abs(model.rewards[model.rewards != 0])
        most = max(costs.max(initial=0.0), np.abs(model.payoffs).max(initial=0.0))
        is_slow = solution.status is gamedp.Status.SWEEP_LIMIT
        assert is_slow or (len(costs) and costs.min() < 1e-5 * most)
        tolerance = math.inf
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert solution.width <= tolerance
    for state, value in enumerate(truth):
        assert solution.lower[state] <= value <= solution.upper[state]
    if tolerance == math.inf:
        return
    # Bellman's equation holds for the policy's choices, and whoever keeps to it gets the value.
    worth = exact_choice_values(model, objective)
    for player in range(model.num_players):
        wants_most = (player == 0) == (objective.optimum == "max")
        got = attained(model, objective, solution.policy, player)
        for state, choice in enumerate(solution.policy.tolist()):
            assert choice < 0 or abs_less(worth[choice], truth[state], 4 * tolerance)
            lost = truth[state] - got[state] if wants_most else got[state] - truth[state]
            assert truth[state] == got[state] or lost <= 4 * tolerance


def abs_less(first, second, slack):
    return first == second or abs(first - second) <= slack


masks = st.lists(st.booleans(), min_size=10, max_size=10)


def mask_of(mask, model):
    return np.array(mask[: model.num_states], np.bool_)


@relaxed
@given(
    models(max_states=5, players=[1], swaps=False, ends=False),
    masks,
    st.one_of(st.none(), masks),
    st.sampled_from([MAX, MIN]),
    st.sampled_from(SOLVERS),
)
def test_probabilities_of_one_player(model, target, allowed, optimum, solver):
    allowed = None if allowed is None else mask_of(allowed, model)
    check_against_policies(
        model, gamedp.Reachability(mask_of(target, model), allowed, optimum), solver
    )


@pytest.mark.slow
@relaxed
@given(
    models(max_states=5, players=[1], swaps=False, ends=False),
    masks,
    st.sampled_from([MAX, MIN]),
    st.sampled_from([1, -1, 0]),
    st.booleans(),
    st.sampled_from(SOLVERS),
)
def test_totals_of_one_player(model, target, optimum, sign, has_target, solver):
    model = with_rewards(model, sign * np.abs(model.rewards))
    until = mask_of(target, model) if has_target else None
    # To pump a negative cost before the target is no memoryless policy.
    assume(not (has_target and optimum == MIN and sign < 0))
    objective = gamedp.TotalReward(optimum, until=until)
    try:
        exact_values(model, objective)
    except gamedp.UnsupportedProblemError:
        assume(False)
    check_against_policies(model, objective, solver)


@relaxed
@given(
    models(max_states=5, players=[2], swaps=False, ends=False),
    masks,
    st.sampled_from([MAX, MIN]),
    st.booleans(),
    st.sampled_from(SOLVERS),
)
def test_what_two_opponents_can_be_asked(model, target, optimum, totals, solver):
    model = with_rewards(model, np.abs(model.rewards))
    mask = mask_of(target, model)
    objective = (
        gamedp.TotalReward(optimum, until=mask)
        if totals
        else gamedp.Reachability(mask, optimum=optimum)
    )
    if solver.supports(gamedp.Problem(model, objective)):
        check_against_policies(model, objective, solver)
    else:
        with pytest.raises(
            gamedp.UnsupportedProblemError, match=r"either player can prolong|one player alone"
        ):
            gamedp.solve(model, objective, solver)


def with_rewards(model, rewards):
    return gamedp.Model.from_arrays(
        model.choice_offsets,
        model.transition_offsets,
        model.successors,
        model.probabilities,
        rewards=rewards,
        players=model.players,
        terminals=model.terminals,
        payoffs=model.payoffs,
        num_players=model.num_players,
    )


def test_a_negative_cycle_on_the_way_to_the_target_is_minus_infinity():
    model = model_of_choices([{0: 1.0}, {1: 1.0}], [], [{0: 0.5, 1: 0.5}], rewards=[-1.0, 5.0, 0.0])
    solution = gamedp.solve(model, gamedp.TotalReward(MIN, until=[1]))
    assert solution.values.tolist() == [-math.inf, 0.0, -math.inf]
    assert solution.width == 0


def test_rewards_that_cancel_out_in_a_cycle():
    model = model_of_choices([{1: 1.0}, {2: 1.0}], [{0: 1.0}], [], rewards=[2.0, 0.0, -2.0])
    objective = gamedp.TotalReward(MIN, until=[2])
    solution = gamedp.solve(model, objective, gamedp.solvers.TopologicalValueIteration())
    assert solution.values.tolist() == [0.0, -2.0, 0.0]
    assert solution.policy.tolist() == [1, 2, -1]


def test_infinite_both_ways_is_refused():
    pump, drain = {1: 1.0}, {2: 1.0}
    model = model_of_choices([{1: 0.5, 2: 0.5}], [pump], [drain], rewards=[0.0, 1.0, -1.0])
    problem = gamedp.Problem(model)
    assert needs_reduction(problem)
    with pytest.raises(gamedp.UnsupportedProblemError, match="infinite both ways"):
        reduce(problem)
    # So no fixed point proves anything.
    with pytest.raises(gamedp.NotSolvedError, match="nothing is proven"):
        gamedp.solve(model, solver=gamedp.solvers.ValueIteration(max_sweeps=50))


def test_a_long_chain_takes_no_recursion():
    size = 20_000 if numba.config.DISABLE_JIT else 200_000
    model = gamedp.Model.from_arrays(
        np.append(np.arange(size), size - 1),
        np.arange(size),
        np.arange(1, size),
        np.ones(size - 1),
        terminals=[size - 1],
    )
    for optimum in (MAX, MIN):
        solution = gamedp.solve(model, gamedp.Reachability([size - 1], optimum=optimum))
        assert (solution.lower == 1).all()


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (np.ones(2, np.bool_), r"has shape \(2,\)"),
        ([7], "there is no state 7"),
    ],
)
def test_a_target_that_is_none(states, message):
    with pytest.raises(gamedp.GamedpError, match=message):
        gamedp.solve(WAITING, gamedp.Reachability(states))


def test_a_target_may_be_a_function():
    solution = gamedp.solve(WAITING, gamedp.Reachability(lambda state: state == 2))
    assert solution.values.tolist() == [1.0] * 4
    assert solution.objective == gamedp.Problem(WAITING, gamedp.Reachability([2])).objective


def test_the_slow_chain_is_no_trap():
    """Haddad and Monmege (2018): the change per sweep is tiny from the start, the answer is 1/2."""
    size = 30
    rows = []
    for side in (0, 1):
        for step in range(size):
            onward = side * size + step + 1 if step + 1 < size else 2 * size + 1 + side
            rows.append([{onward: 0.5, 2 * size: 0.5}])
    rows.append([{0: 0.5, size: 0.5}])
    model = model_of_choices(*rows, [], [])
    solver = gamedp.solvers.ValueIteration(max_sweeps=1000)
    with pytest.raises(gamedp.NotSolvedError, match="limit of sweeps") as caught:
        gamedp.solve(model, gamedp.Reachability([2 * size + 1]), solver)
    solution = caught.value.solution
    assert solution.lower[2 * size] <= Fraction(1, 2) <= solution.upper[2 * size]
    assert solution.lower[2 * size] < 0.01


@pytest.mark.parametrize("solver", [None, gamedp.solvers.IntervalIteration()])
def test_who_may_keep_play_from_its_target_is_not_made_to_go_where_it_is_put_off(solver):
    """State 0 may wait for ever, which is worth the most; state 1 earns less and less."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4],
        range(5),
        [1, 0, 2, 1],
        np.ones(4),
        rewards=[1.0, 1.0, 2.0, -1.0],
        players=[1, 0, 0],
        terminals=[2],
        num_players=2,
    )
    solution = gamedp.solve(model, gamedp.TotalReward("min", until=[2]), solver)
    assert solution.lower[:2].tolist() == solution.upper[:2].tolist() == [np.inf, -np.inf]
    assert solution.policy[:2].tolist() == [1, 3]
    gamedp.verify(model, gamedp.certify(solution))
