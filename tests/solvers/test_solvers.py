"""Every solver on random models: the bounds contain the exact value, and agree with each other."""

import pickle
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings, strategies as st
from solving import (
    FIXED_POINT,
    SOLVERS,
    assert_contains,
    horizons,
    loop,
    solve_within_rounding,
    walk,
)

import gamedp
from gamedp.testing import exact_values
from gamedp.testing.strategies import models

relaxed = settings(
    # Plain Python takes long for each.
    max_examples=30 if numba.config.DISABLE_JIT else 100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def supporting(problem):
    return [solver for solver in SOLVERS if solver.supports(problem)]


def assert_policy_attains(solution, truth):
    """The policy of player 0, and the best answers to it, give no less than the lower bound."""
    model = solution.model
    kept, offsets, counts = [], [0], []
    for state in range(model.num_states):
        first, last = model.choice_offsets[state : state + 2].tolist()
        chosen = range(first, last)
        if first < last:
            assert first <= solution.policy[state] < last
            chosen = [int(solution.policy[state])]
        kept += chosen
        counts.append(len(chosen))
    rows = [slice(*model.transition_offsets[c : c + 2].tolist()) for c in kept]
    for row in rows:
        offsets.append(offsets[-1] + row.stop - row.start)
    followed = gamedp.Model.from_arrays(
        np.concatenate([[0], np.cumsum(counts)]),
        offsets,
        np.concatenate([model.successors[row] for row in rows]),
        np.concatenate([model.probabilities[row] for row in rows]),
        rewards=model.rewards[kept],
        players=model.players,
        terminals=model.terminals,
        payoffs=model.payoffs,
        num_players=model.num_players,
        constant_sum=model.constant_sum,
    )
    slack = Fraction(solution.width) * 2 + Fraction(1, 10**12)
    for got, best in zip(exact_values(followed, solution.objective), truth, strict=True):
        assert abs(got - best) <= slack * 20 + abs(best) / 10**12


@relaxed
@given(models(), st.sampled_from([1e-3, 1e-8]), st.sampled_from(["max", "min"]))
def test_total_reward(model, tolerance, optimum):
    objective = gamedp.TotalReward(optimum=optimum)
    problem = gamedp.Problem(model, objective)
    truth = exact_values(model, objective)
    solvers = supporting(problem)
    retrograde = model.is_deterministic and not model.rewards.any()
    straight = not model.has_swaps
    free = model.players[np.diff(model.choice_offsets) > 1]
    alone = straight and len(np.unique(free)) < 2
    names = {type(solver).__name__ for solver in solvers}
    assert {"TopologicalValueIteration", "ValueIteration", "PolicyIteration"} <= names
    assert ("SoundValueIteration" in names) == straight
    assert ("LinearProgramming" in names) == alone
    assert ("BackwardInduction" in names) == model.structure.is_acyclic
    assert ("Retrograde" in names) == retrograde
    assert "RelativeValueIteration" not in names
    before = model.digest()
    for solver in solvers:
        solution = solve_within_rounding(model, objective, solver, tolerance)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        assert_contains(solution, truth)
        if solution.status is gamedp.Status.SOLVED:
            assert solution.width <= tolerance
        assert_policy_attains(solution, truth)
    assert model.digest() == before


@relaxed
@given(models(), st.sampled_from([0.0, 0.5, 0.99, 1 - 1e-6]))
def test_discounted(model, discount):
    objective = gamedp.Discounted(discount)
    if model.has_swaps and model.constant_sum:
        with pytest.raises(gamedp.UnsupportedProblemError, match="constant_sum"):
            gamedp.Problem(model, objective)
        return
    problem = gamedp.Problem(model, objective)
    truth = exact_values(model, objective)
    for solver in supporting(problem):
        solution = solve_within_rounding(model, objective, solver, 1e-6)
        assert_contains(solution, truth)


@relaxed
@given(models(), st.integers(0, 6))
def test_finite_horizon(model, horizon):
    objective = gamedp.FiniteHorizon(horizon)
    if model.has_swaps and model.constant_sum:
        return
    solution = solve_within_rounding(model, objective, None, 1e-6)
    assert_contains(solution, exact_values(model, objective))
    assert solution.step_policies.shape == (horizon, model.num_states)


@relaxed
@given(models(swaps=False), st.integers(0, 6), st.data())
def test_all_kinds_of_horizons(model, horizon, data):
    """Against sums in rational numbers; and step by step, as much as shorter horizons."""
    objective = data.draw(horizons(model, horizon))
    solution = solve_within_rounding(model, objective, None, 1e-9)
    assert_contains(solution, exact_values(model, objective))
    for steps in range(horizon + 1):
        left = solution.steps_left(steps)
        shorter = attrs.evolve(objective, horizon=steps)
        assert left.objective == gamedp.Problem(model, shorter).objective
        assert_contains(left, exact_values(model, shorter))


@relaxed
@given(models(), st.randoms(use_true_random=False))
def test_renaming_states_changes_nothing(model, random):
    order = list(range(model.num_states))
    random.shuffle(order)
    place = np.argsort(order)
    rows = [
        (choice, slice(*model.transition_offsets[choice : choice + 2].tolist()))
        for old in order
        for choice in range(*model.choice_offsets[old : old + 2].tolist())
    ]
    counts = np.diff(model.choice_offsets)[order]
    terminals = place[model.terminals]
    by_place = np.argsort(terminals)
    renamed = gamedp.Model.from_arrays(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([[0], np.cumsum([row.stop - row.start for _, row in rows])]),
        np.concatenate([place[model.successors[row]] for _, row in rows]),
        np.concatenate([model.probabilities[row] for _, row in rows]),
        rewards=model.rewards[[choice for choice, _ in rows]],
        players=model.players[order],
        terminals=terminals[by_place],
        payoffs=model.payoffs[by_place],
        num_players=model.num_players,
        constant_sum=model.constant_sum,
    )
    one, other = (solve_within_rounding(m, None, None, 1e-7) for m in (model, renamed))
    assert (one.lower[order] <= other.upper).all()
    assert (other.lower <= one.upper[order]).all()


@relaxed
@given(models(swaps=False), st.sampled_from([0.25, 8.0]))
def test_scaling_rewards_scales_values(model, factor):
    sizes = np.abs(np.concatenate([model.rewards, model.payoffs]))
    assume(not ((sizes < 1e-290) & (sizes > 0)).any())  # a quarter of the least doubles is rounded
    scaled = attrs.evolve(model, rewards=factor * model.rewards, payoffs=factor * model.payoffs)
    one, other = (solve_within_rounding(m, None, None, 1e-7) for m in (model, scaled))
    assert (factor * one.lower <= other.upper).all()
    assert (other.lower <= factor * one.upper).all()


@pytest.mark.parametrize("solver", FIXED_POINT, ids=str)
def test_a_random_walk_is_solved_to_what_was_asked(solver):
    solution = gamedp.solve(walk(), solver=solver, tolerance=1e-9)
    truth = [Fraction(state, 49) for state in range(50)]
    assert_contains(solution, truth)
    assert solution.width <= 1e-9


@pytest.mark.parametrize("sweep", ["jacobi", "gauss-seidel"])
def test_a_small_change_is_not_taken_for_a_small_error(sweep):
    """A chain that mixes so slowly that the change per sweep is tiny from the start."""
    model = walk(up=0.5, states=400)
    solver = gamedp.solvers.ValueIteration(sweep=sweep, max_sweeps=300)
    with pytest.raises(gamedp.NotSolvedError, match="its limit of sweeps") as caught:
        gamedp.solve(model, solver=solver, tolerance=1e-6)
    solution = caught.value.solution
    assert solution.status is gamedp.Status.SWEEP_LIMIT
    assert_contains(solution, [Fraction(state, 399) for state in range(400)])
    assert 0 <= solution.lower.min() <= solution.upper.max() <= 1


def both_ways():
    """Play that earns without end, or loses without end: its total is undefined."""
    return gamedp.Model.from_arrays(
        [0, 1, 2, 3],
        [0, 2, 3, 4],
        [1, 2, 1, 2],
        [0.5, 0.5, 1.0, 1.0],
        rewards=[0.0, 1.0, -1.0],
    )


@pytest.mark.parametrize(
    "solver",
    [
        gamedp.solvers.TopologicalValueIteration(),
        gamedp.solvers.ValueIteration(),
        gamedp.solvers.ValueIteration(sweep="jacobi"),
        gamedp.solvers.PolicyIteration(),
    ],
    ids=str,
)
def test_to_wait_for_ever_is_worth_what_it_earns(solver):
    solution = gamedp.solve(loop(payoff=1.0), solver=solver)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert solution.bounds(0) == (1.0, 1.0)
    assert solution.policy.tolist() == [1, -1]
    solution = gamedp.solve(loop(payoff=1.0), gamedp.TotalReward("min"), solver=solver)
    assert solution.bounds(0) == (0.0, 0.0)
    assert solution.policy.tolist() == [0, -1]


def test_policy_iteration_refuses_play_without_end():
    with pytest.raises(gamedp.UnsupportedProblemError, match="infinite both ways"):
        gamedp.solve(both_ways(), solver=gamedp.solvers.PolicyIteration())


def test_backward_induction_shows_the_cycle():
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"in 2 steps \(1 → 2 → 1\)"):
        gamedp.solve(walk(states=4), solver=gamedp.solvers.BackwardInduction())


def test_rewards_without_end_are_not_called_solved():
    with pytest.raises(gamedp.NotSolvedError, match="nothing is proven"):
        gamedp.solve(both_ways(), solver=gamedp.solvers.ValueIteration(max_sweeps=50))
    assert gamedp.solve(loop(payoff=1.0, reward=1.0)).bounds(0) == (np.inf, np.inf)


def test_a_tolerance_finer_than_rounding_is_said_to_be():
    with pytest.raises(gamedp.NotSolvedError, match="64-bit rounding") as caught:
        gamedp.solve(walk(), solver="topological-value-iteration", tolerance=1e-18)
    assert_contains(caught.value.solution, [Fraction(state, 49) for state in range(50)])


def test_a_limit_of_time_is_said_to_be():
    solver = gamedp.solvers.ValueIteration(max_seconds=1e-9)
    with pytest.raises(gamedp.NotSolvedError, match="limit of time") as caught:
        gamedp.solve(walk(), solver=solver)
    assert caught.value.solution.status is gamedp.Status.TIME_LIMIT


def test_overflow_is_an_error():
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [1.0], rewards=[1e308], terminals=[1], payoffs=[1e308]
    )
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(gamedp.InvalidModelError, match="beyond the range"),
    ):
        gamedp.solve(model)


def test_three_players():
    """Player 2 chooses an end; its favourite one counts, for all."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2, 2],
        [0, 1, 2],
        [1, 2],
        [1.0, 1.0],
        players=[2, 0, 0],
        terminals=[1, 2],
        payoffs=[[5.0, 1.0, 2.0], [1.0, 1.0, 3.0]],
        num_players=3,
    )
    solution = gamedp.solve(model)
    assert [solution.value(player=player) for player in range(3)] == [1.0, 1.0, 3.0]
    assert solution.guarantee is gamedp.Guarantee.EQUILIBRIUM
    for solver in SOLVERS:
        if not isinstance(solver, gamedp.solvers.BackwardInduction):
            with pytest.raises(gamedp.UnsupportedProblemError):
                gamedp.solve(model, solver=solver)
    with pytest.raises(gamedp.UnsupportedProblemError, match="BackwardInduction"):
        gamedp.solve(model, solver="value-iteration")


def exact_max_n(model, policy):
    """Return what every player gets in every state under a policy, and after each choice of it."""

    def after(choice):
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        probabilities = [Fraction(probability) for probability in model.probabilities[row].tolist()]
        following = [values[target] for target in model.successors[row].tolist()]
        return [
            Fraction(model.rewards[choice, player])
            + sum(p * v[player] for p, v in zip(probabilities, following, strict=True))
            / sum(probabilities)
            for player in range(model.num_players)
        ]

    values = {
        state: [Fraction(payoff) for payoff in payoffs]
        for state, payoffs in zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True)
    }
    choices = {}
    for state in model.structure.order.tolist():
        if policy[state] >= 0:
            rows = range(model.choice_offsets[state], model.choice_offsets[state + 1])
            choices |= {choice: after(choice) for choice in rows}
            values[state] = choices[int(policy[state])]
    return values, choices


BARELY = gamedp.Model.from_arrays(
    [0, 1, 2, 3, 4, 4],
    [0, 4, 5, 6, 7],
    [1, 2, 3, 4, 4, 4, 4],
    [0.25, 0.25, 0.25, 0.25, 1.0, 1.0, 1.0],
    terminals=[4],
    payoffs=[[0.0, 0.0, 6 * 2.0**-1074]],
    num_players=3,
)
"""Of a payoff so small that its products are rounded to multiples of the smallest number."""


@relaxed
@given(models(players=[3, 4], acyclic=True), st.sampled_from(["max", "min"]))
@example(BARELY, "max")
def test_several_players_each_do_what_is_best_for_them(model, optimum):
    solution = solve_within_rounding(model, gamedp.TotalReward(optimum), None, 1e-6)
    assert solution.guarantee is gamedp.Guarantee.EQUILIBRIUM
    values, choices = exact_max_n(model, solution.policy)
    sign = 1 if optimum == "max" else -1
    for state in range(model.num_states):
        for player in range(model.num_players):
            low, high = solution.bounds(state, player)
            assert Fraction(low) <= values[state][player] <= Fraction(high)
        if solution.policy[state] < 0:
            continue
        mover = int(model.players[state])
        rows = range(model.choice_offsets[state], model.choice_offsets[state + 1])
        best = max(sign * choices[choice][mover] for choice in rows)
        slack = 2 * Fraction(solution.width)
        assert best - sign * values[state][mover] <= slack
        if solution.width == 0 and not model.rewards.any():
            assert solution.policy[state] == next(
                choice for choice in rows if sign * choices[choice][mover] == best
            )


def three(**options):
    """Player 1 chooses one of two ends, after a step of player 0."""
    given = {
        "players": [0, 1, 2, 2],
        "terminals": [2, 3],
        "payoffs": [[1.0, 2.0, 3.0], [5.0, 2.0, 0.0]],
        **options,
    }
    return gamedp.Model.from_arrays(
        [0, 1, 3, 3, 3], [0, 1, 2, 3], [1, 2, 3], [1.0, 1.0, 1.0], num_players=3, **given
    )


def test_of_equally_good_actions_the_first_counts():
    """It is all the same to player 1, and not to the others: so the values speak of this policy."""
    solution = gamedp.solve(three())
    assert solution.values[0].tolist() == [1.0, 2.0, 3.0]
    assert solution.width == 0
    assert gamedp.solve(three(payoffs=[[1, 2, 3], [5, 2.5, 0]])).value(player=2) == 0


def test_several_players_do_not_hide_overflow_and_rounding():
    rewards = [[1e308, 0.0, 0.0], [1e308, 0.0, 0.0], [0.0, 0.0, 0.0]]
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(gamedp.InvalidModelError, match="value of 0 is beyond the range"),
    ):
        gamedp.solve(three(rewards=rewards))
    rewards = [[0.1, 0.0, 0.0]] * 3
    with pytest.raises(gamedp.NotSolvedError, match="64-bit rounding") as caught:
        gamedp.solve(three(rewards=rewards), tolerance=1e-30)
    assert caught.value.solution.status is gamedp.Status.ROUNDING
    assert gamedp.solve(three(rewards=rewards)).status is gamedp.Status.SOLVED


def circle_of_three():
    return gamedp.Model.from_arrays(
        [0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 0], [1.0] * 3, players=[0, 1, 2], num_players=3
    )


@pytest.mark.parametrize(
    ("model", "objective", "words"),
    [
        (circle_of_three(), None, r"\(0 → 1 → 2 → 0\)\. No solver does that where each"),
        (three(), gamedp.Discounted(0.5), "supports neither discounts nor targets"),
        (three(), gamedp.FiniteHorizon(3), "finite horizons for one player and two opponents"),
    ],
)
def test_what_is_not_done_for_several_players(model, objective, words):
    with pytest.raises(gamedp.UnsupportedProblemError, match=f"^BackwardInduction .*{words}"):
        gamedp.solve(model, objective)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (gamedp.solvers.ValueIteration, {"sweep": "sideways"}),
        (gamedp.solvers.ValueIteration, {"max_sweeps": 0}),
        (gamedp.solvers.ValueIteration, {"max_sweeps": 1.5}),
        (gamedp.solvers.TopologicalValueIteration, {"max_seconds": -1}),
        (gamedp.solvers.PolicyIteration, {"max_policies": 0}),
        (gamedp.Discounted, {"discount": 1.0}),
        (gamedp.FiniteHorizon, {"horizon": -1}),
        (gamedp.TotalReward, {"optimum": "most"}),
        (gamedp.solve, {"game_or_model": walk(), "tolerance": 0}),
    ],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_options_are_validated(make, options):
    with pytest.raises(gamedp.errors.InvalidParameterError):
        make(**options)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_solvers_are_values(solver):
    assert solver == attrs.evolve(solver)
    assert hash(solver) == hash(attrs.evolve(solver))
    assert pickle.loads(pickle.dumps(solver)) == solver


@pytest.mark.parametrize("discount", [1 - 2**-53, 1 - 2**-50, 1 - 1e-12])
def test_discounts_next_to_one_leave_bounds_that_hold(discount):
    # The last digits of ten tenths matter as much as what the discount falls short of one.
    tenths = [0.1] * 10
    model = gamedp.Model.from_arrays(
        choice_offsets=[0, 2, 3],
        transition_offsets=[0, 1, 11, 12],
        successors=[0, *[0, 1] * 5, 0],
        probabilities=[1.0, *tenths, 1.0],
        rewards=[0.0, 3.0, 1.0],
    )
    try:
        solution = gamedp.solve(model, gamedp.Discounted(discount))
    except gamedp.NotSolvedError as error:
        solution = error.solution
    exact = exact_values(model, gamedp.Discounted(discount))
    assert np.isfinite(solution.values).all()
    for state, value in enumerate(exact):
        assert solution.lower[state] <= value <= solution.upper[state]
