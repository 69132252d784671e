"""The long-run average: known values, exact ones, and numbers that prove the bounds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from solving import solve_within_rounding

import gamedp
from gamedp.solvers.tools import ways
from gamedp.solvers.tools.end_components import EndComponents
from gamedp.solvers.tools.ways import Ways
from gamedp.testing import check_solver, exact_values
from gamedp.testing.models import random_model
from gamedp.testing.strategies import models

relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def model_of(*states, **keywords):
    """Make a model of states: each a list of (reward, {successor: probability}), or a payoff."""
    offsets, transitions, rewards = [0], [0], []
    successors, probabilities, terminals, payoffs = [], [], [], []
    for number, state in enumerate(states):
        if not isinstance(state, list):
            terminals.append(number)
            payoffs.append(state)
        for reward, outcomes in state if isinstance(state, list) else []:
            rewards.append(reward)
            successors += outcomes.keys()
            probabilities += outcomes.values()
            transitions.append(len(successors))
        offsets.append(len(rewards))
    return gamedp.Model.from_arrays(
        offsets,
        transitions,
        successors,
        probabilities,
        rewards=rewards,
        terminals=terminals,
        payoffs=payoffs,
        **keywords,
    )


def mean(*terms):
    return float(sum(Fraction(probability) * reward for probability, reward in terms))


def taxicab():
    """Howard, "Dynamic Programming and Markov Processes", MIT Press 1960, chapter 4."""
    towns = [
        [
            [("1/2", 10), ("1/4", 4), ("1/4", 8)],
            [("1/16", 8), ("3/4", 2), ("3/16", 4)],
            [("1/4", 4), ("1/8", 6), ("5/8", 4)],
        ],
        [[("1/2", 14), ("0", 0), ("1/2", 18)], [("1/16", 8), ("7/8", 16), ("1/16", 8)]],
        [
            [("1/4", 10), ("1/4", 2), ("1/2", 8)],
            [("1/8", 6), ("3/4", 4), ("1/8", 2)],
            [("3/4", 4), ("1/16", 0), ("3/16", 8)],
        ],
    ]
    return model_of(
        *(
            [
                (
                    mean(*trips),
                    {
                        town: float(Fraction(probability))
                        for town, (probability, _) in enumerate(trips)
                    },
                )
                for trips in town
            ]
            for town in towns
        )
    )


def queue(up, down, size):
    """A queue that earns its length on each step."""
    states = []
    for length in range(size + 1):
        arrives, leaves = up if length < size else 0, down if length else 0
        outcomes = {length: float(1 - arrives - leaves)}
        outcomes |= {length + 1: float(up)} if arrives else {}
        outcomes |= {length - 1: float(down)} if leaves else {}
        states.append([(length, outcomes)])
    return model_of(*states)


def mean_length(up, down, size):
    """Detailed balance: each length is up/down times as likely as the one before."""
    weights = [Fraction(up, down) ** length for length in range(size + 1)]
    return sum(length * weight for length, weight in enumerate(weights)) / sum(weights)


def machine():
    """It runs for 10 a step and fails with probability 1/8; mended fast for 30, or slowly for 9.

    Running takes 8 steps on average. With the fast repair, 80 - 30 are earned in 8 + 1 steps; with
    the slow one, which succeeds with probability 1/2 each step, 80 - 18 in 8 + 2.
    """
    return model_of([(10, {0: 0.875, 1: 0.125})], [(-30, {0: 1.0}), (-9, {0: 0.5, 1: 0.5})])


def gamble():
    """From 0 one may stay for 1 a step, or leave: for 3 a step or the end, equally likely."""
    return model_of(
        [(1, {0: 1.0}), (100, {1: 0.5, 2: 0.5})], [(2, {3: 1.0})], 50.0, [(4, {1: 1.0})]
    )


def two_rooms(probability):
    """Two states, left rarely: as often the first as the second is left three times as rarely."""
    return model_of(
        [(1, {0: float(1 - 3 * probability), 1: float(3 * probability)})],
        [(0, {1: float(1 - probability), 0: float(probability)})],
    )


KNOWN = {
    # Its stationary distribution under the policy (2, 2, 2) is (8, 102, 9) / 119.
    "taxicab": (taxicab(), "max", [Fraction(1588, 119)] * 3),
    "machine": (machine(), "max", [Fraction(62, 10)] * 2),
    "machine, the least": (machine(), "min", [Fraction(50, 9)] * 2),
    "queue": (
        queue(Fraction(1, 4), Fraction(1, 2), 12),
        "max",
        [mean_length(Fraction(1, 4), Fraction(1, 2), 12)] * 13,
    ),
    "three in turn": (
        model_of([(1, {1: 1.0})], [(2, {2: 1.0})], [(6, {0: 1.0})]),
        "max",
        [3, 3, 3],
    ),
    "a long circle": (
        model_of(
            *([(1.0 if number == 0 else 0.0, {(number + 1) % 500: 1.0})] for number in range(500))
        ),
        "min",
        [Fraction(1, 500)] * 500,
    ),
    "gamble": (gamble(), "max", [Fraction(3, 2), 3, 0, 3]),
    "gamble, the least": (gamble(), "min", [1, 3, 0, 3]),
    "what is earned on the way": (model_of([(100, {0: 0.5, 1: 0.5})], 7.0), "max", [0, 0]),
    "an end alone": (model_of(7.0), "max", [0]),
    "rooms": (two_rooms(Fraction(1, 2**30)), "max", [Fraction(1, 4)] * 2),
    # Both for ever at 0, and back from 1, earn 1 a step: no policy is the one with one class.
    "two classes": (
        model_of([(1, {0: 1.0}), (-5, {1: 1.0})], [(1, {1: 1.0}), (-5, {0: 1.0})]),
        "max",
        [1, 1],
    ),
    # Staying at 0 or 1 earns 1; the exit is at 1, and leads to what earns 5.
    "an exit": (
        model_of(
            [(1, {0: 1.0}), (0, {1: 0.25, 0: 0.75})],
            [(1, {1: 1.0}), (0, {0: 1.0}), (-9, {2: 0.125, 0: 0.875})],
            [(5, {2: 1.0})],
        ),
        "max",
        [5, 5, 5],
    ),
}


def between(solution, numbers):
    return all(
        Fraction(low) <= number <= Fraction(high)
        for low, number, high in zip(
            solution.lower.tolist(), numbers, solution.upper.tolist(), strict=True
        )
    )


def assert_biases_prove_the_bounds(solution):
    """Puterman 1994, theorem 9.1.2, in rational numbers."""
    model = solution.model
    maximises = solution.objective.optimum == "max"
    for gains, biases, above in (
        (solution.lower, solution.biases[0], False),
        (solution.upper, solution.biases[1], True),
    ):
        g, h = ([Fraction(number) for number in array.tolist()] for array in (gains, biases))
        sign = 1 if above else -1
        for state in range(model.num_states):
            choices = range(*model.choice_offsets[state : state + 2].tolist())
            if choices and above != maximises:
                choices = [int(solution.policy[state])]
            for choice in choices:
                row = slice(*model.transition_offsets[choice : choice + 2].tolist())
                probabilities = [
                    Fraction(probability) for probability in model.probabilities[row].tolist()
                ]
                pairs = [
                    (probability / sum(probabilities), target)
                    for probability, target in zip(
                        probabilities, model.successors[row].tolist(), strict=True
                    )
                ]
                reward = Fraction(float(model.rewards[choice]))
                assert sign * (g[state] - sum(p * g[t] for p, t in pairs)) >= 0
                assert sign * (g[state] + h[state] - reward - sum(p * h[t] for p, t in pairs)) >= 0


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-10])
def test_known_values(name, tolerance):
    model, optimum, values = KNOWN[name]
    solution = gamedp.solve(model, gamedp.AverageReward(optimum), tolerance=tolerance)
    assert between(solution, values)
    assert solution.width <= tolerance
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert_biases_prove_the_bounds(solution)
    assert gamedp.verify(model, gamedp.certify(solution)).width == solution.width


@pytest.mark.parametrize("name", [name for name in KNOWN if "long" not in name])
def test_exact_values_are_the_known_ones(name):
    model, optimum, values = KNOWN[name]
    objective = gamedp.AverageReward(optimum)
    exact = exact_values(model, objective)
    for got, known in zip(exact, values, strict=True):
        # The stored probabilities of some of these add up to one only nearly.
        assert abs(got - known) <= Fraction(1, 10**15) * abs(known)


@relaxed
@given(
    models(players=[1], ends=False), st.sampled_from([1e-3, 1e-8]), st.sampled_from(["max", "min"])
)
@example(KNOWN["an exit"][0], 1e-8, "max")
@example(KNOWN["gamble"][0], 1e-8, "max")
@example(KNOWN["two classes"][0], 1e-8, "min")
def test_random_models(model, tolerance, optimum):
    objective = gamedp.AverageReward(optimum)
    before = model.digest()
    solution = solve_within_rounding(model, objective, None, tolerance)
    assert between(solution, exact_values(model, objective))
    assert between(solution, exact_values(model, objective, policy=solution.policy.tolist()))
    assert (solution.lower <= solution.values).all()
    assert (solution.values <= solution.upper).all()
    if solution.biases is not None:
        if solution.exact is None:
            assert_biases_prove_the_bounds(solution)
        gamedp.verify(model, gamedp.certify(solution))
    assert model.digest() == before


@pytest.mark.parametrize("name", [name for name in KNOWN if "long" not in name])
def test_averages_in_rational_numbers(name):
    model, optimum, _ = KNOWN[name]
    objective = gamedp.AverageReward(optimum)
    solution = gamedp.solve(model, objective, "exact-policy-iteration")
    assert list(solution.exact) == list(exact_values(model, objective))
    assert gamedp.verify(model, gamedp.certify(solution)).width < 1e-6


@relaxed
@given(models(players=[1], ends=False), st.sampled_from(["max", "min"]))
def test_random_averages_in_rational_numbers(model, optimum):
    objective = gamedp.AverageReward(optimum)
    solution = gamedp.solve(model, objective, "exact-policy-iteration")
    assert list(solution.exact) == list(exact_values(model, objective))
    policy = solution.policy.tolist()
    assert list(exact_values(model, objective, policy=policy)) == list(solution.exact)


def test_an_average_that_cancels_is_zero_relatively():
    """No double is relatively close to 0: rational numbers go on where rounding ends."""
    model = model_of([(1, {1: 1.0})], [(-1, {0: 1.0})])
    solution = gamedp.solve(model, gamedp.AverageReward(), relative=True)
    assert solution.bounds(0) == (0.0, 0.0)
    assert solution.status is gamedp.Status.SOLVED
    assert isinstance(solution.solver, gamedp.solvers.ExactPolicyIteration)
    gamedp.verify(model, gamedp.certify(solution))


def test_a_limit_of_policies_leaves_the_range_of_the_rewards():
    solver = gamedp.solvers.ExactPolicyIteration(max_policies=1)
    with pytest.raises(gamedp.NotSolvedError, match="Raise max_policies") as caught:
        gamedp.solve(taxicab(), gamedp.AverageReward(), solver)
    assert between(caught.value.solution, [Fraction(1588, 119)] * 3)


def chain_of_rooms(size, probability):
    """Rooms in a row, each left rarely, and earning more the farther one gets."""
    states = []
    for room in range(size):
        outcomes = {room: 1 - 2 * probability}
        for other in (max(room - 1, 0), min(room + 1, size - 1)):
            outcomes[other] = outcomes.get(other, 0) + probability
        states.append([(room, outcomes)])
    return model_of(*states)


@pytest.mark.parametrize("probability", [2.0**-10, 2.0**-20, 2.0**-30])
def test_chains_that_mix_slowly(probability):
    """Symmetric, so all rooms are equally likely in the long run; sweeps alone take 1/chance."""
    solution = gamedp.solve(chain_of_rooms(50, probability), gamedp.AverageReward(), tolerance=1e-6)
    assert between(solution, [Fraction(49, 2)] * 50)
    assert solution.statistics.sweeps < 1000


def test_it_does_not_sweep_on_where_rounding_forbids_more():
    """The values of the two pairs are so far apart that they say little of the states in each."""
    probability = 2.0**-40
    model = model_of(
        [(1, {0: 0.3, 1: 0.7 - probability, 2: probability})],
        [(0, {0: 0.6, 1: 0.4})],
        [(5, {2: 0.1, 3: 0.9})],
        [(3, {2: 0.8 - probability, 3: 0.2, 0: probability})],
    )
    with pytest.raises(gamedp.NotSolvedError, match="64-bit rounding") as caught:
        gamedp.solve(model, gamedp.AverageReward(), "relative-value-iteration", tolerance=1e-9)
    solution = caught.value.solution
    assert between(solution, exact_values(model, gamedp.AverageReward()))
    assert solution.width < 1e-2
    assert solution.statistics.sweeps < 100_000


@pytest.mark.parametrize("probability", [2.0**-6, 2.0**-14, 2.0**-24])
def test_exits_that_are_hardly_ever_found(probability):
    """Two places to stay at for 1 a step, each with an exit: to what earns 3, or else to the end.

    Whoever takes the first is out at once or back in the second; the value is that of a fair coin.
    """
    model = model_of(
        [(1, {0: 1.0}), (0, {1: 1 - 2 * probability, 2: probability, 3: probability})],
        [(1, {1: 1.0}), (0, {0: 1 - 2 * probability, 2: probability, 3: probability})],
        [(3, {2: 1.0})],
        0.0,
    )
    solution = gamedp.solve(model, gamedp.AverageReward(), tolerance=1e-6)
    assert between(solution, [Fraction(3, 2), Fraction(3, 2), 3, 0])
    assert_biases_prove_the_bounds(solution)
    assert solution.policy[:2].tolist() == [1, 3]


def test_many_states_in_a_row():
    """More than linear systems are solved for without a look at their structure."""
    size = 5000
    solution = gamedp.solve(chain_of_rooms(size, 0.25), gamedp.AverageReward(), tolerance=1e-3)
    assert between(solution, [Fraction(size - 1, 2)] * size)
    assert solution.statistics.sweeps < 10_000


def test_large_components_are_swept_one_sweep_at_a_time():
    """More than a kernel takes in one call, and too entangled for linear systems."""
    rng = np.random.default_rng(5)
    size, choices, successors = 17_000, 2, 3
    count = size * choices
    probabilities = rng.dirichlet(np.ones(successors), count)
    model = gamedp.Model.from_arrays(
        choices * np.arange(size + 1),
        successors * np.arange(count + 1),
        rng.integers(0, size, count * successors),
        probabilities.ravel(),
        rewards=rng.random(count),
    )
    seen = []
    solver = gamedp.solvers.RelativeValueIteration(max_sweeps=1000)
    solution = gamedp.solve(model, gamedp.AverageReward(), solver, progress=seen.append)
    assert solution.width <= 1e-6
    assert solution.lower.max() - solution.lower.min() <= 1e-6
    with pytest.raises(gamedp.NotSolvedError, match="limit of sweeps") as caught:
        gamedp.solve(
            model, gamedp.AverageReward(), gamedp.solvers.RelativeValueIteration(max_sweeps=5)
        )
    early = caught.value.solution
    assert early.status is gamedp.Status.SWEEP_LIMIT
    assert (early.lower <= solution.upper).all()
    assert (early.upper >= solution.lower).all()


def test_end_components_of_few_states_are_eliminated():
    """Thirty rings that mix slowly, each in front of the next: sweeps alone would take dozens."""
    rings, size = 30, 5
    choices, successors, probabilities, rewards = [], [], [], []
    for state in range(rings * size):
        first = state - state % size
        onward = first + (state + 1) % size
        choices.append([(onward, 0.1), (state, 0.9)])
        rewards.append(float(state % 7))
        choices.append([(onward, 0.15), (state, 0.85)])
        rewards.append(float(state % 5))
        if first + size < rings * size:
            choices.append([(first + size, 1.0)])
            rewards.append(0.0)
    counts = [3 if state < (rings - 1) * size else 2 for state in range(rings * size)]
    for choice in choices:
        successors += [target for target, _ in choice]
        probabilities += [probability for _, probability in choice]
    model = gamedp.Model.from_arrays(
        np.cumsum([0, *counts]),
        np.cumsum([0, *map(len, choices)]),
        successors,
        probabilities,
        rewards=rewards,
    )
    solution = gamedp.solve(model, gamedp.AverageReward())
    assert solution.statistics.sweeps <= 10
    gamedp.verify(model, gamedp.certify(solution))
    assert between(solution, exact_values(model, solution.objective, policy=solution.policy))


@pytest.mark.parametrize(
    ("solver", "status", "words"),
    [
        (gamedp.solvers.RelativeValueIteration(max_sweeps=1), "SWEEP_LIMIT", "Raise max_sweeps"),
        (
            gamedp.solvers.RelativeValueIteration(max_seconds=1e-9),
            "TIME_LIMIT",
            "Raise max_seconds",
        ),
    ],
)
def test_limits_leave_bounds_that_hold(solver, status, words):
    model = chain_of_rooms(50, 0.25)
    with pytest.raises(gamedp.NotSolvedError, match=words) as caught:
        gamedp.solve(model, gamedp.AverageReward(), solver)
    solution = caught.value.solution
    assert solution.status is gamedp.Status[status]
    assert between(solution, [Fraction(49, 2)] * 50)
    assert between(solution, exact_values(model, solution.objective, policy=solution.policy))
    assert 0 <= solution.lower.min() <= solution.upper.max() <= 49


def test_a_tolerance_finer_than_rounding_is_said_to_be():
    with pytest.raises(gamedp.NotSolvedError, match="64-bit rounding") as caught:
        gamedp.solve(taxicab(), gamedp.AverageReward(), "relative-value-iteration", tolerance=1e-18)
    assert between(caught.value.solution, [Fraction(1588, 119)] * 3)
    assert caught.value.solution.width < 1e-12


def test_what_nobody_would_choose_does_not_blur_the_answer():
    """Its rounding is larger than the tolerance."""
    model = model_of(
        [(1, {1: 0.5, 0: 0.5}), (-1e12, {1: 0.5, 0: 0.5})],
        [(0, {0: 0.25, 1: 0.75}), (-1e12, {1: 1.0})],
    )
    solution = gamedp.solve(model, gamedp.AverageReward(), tolerance=1e-10)
    assert between(solution, [Fraction(1, 3)] * 2)


def test_sure_gains_are_exact():
    solution = gamedp.solve(
        model_of([(0.1, {0: 1.0}), (0.1, {1: 1.0})], 3.0), gamedp.AverageReward()
    )
    assert solution.bounds(0) == (0.1, 0.1)
    assert solution.bounds(1) == (0.0, 0.0)


def test_rewards_beyond_the_range_are_an_error():
    model = model_of([(1e308, {1: 1.0})], [(-1e308, {0: 1.0})])
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(gamedp.InvalidModelError, match="beyond the range"),
    ):
        gamedp.solve(model, gamedp.AverageReward())


def test_rewards_close_to_zero():
    tiny = 2.0**-1074
    model = model_of([(tiny, {1: 0.3, 0: 0.7})], [(0.0, {0: 0.9, 1: 0.1})])
    solution = gamedp.solve(model, gamedp.AverageReward(), tolerance=1e-300)
    assert between(solution, exact_values(model, gamedp.AverageReward()))


def test_who_is_far_from_the_exit_does_not_wait():
    model, optimum, _ = KNOWN["an exit"]
    solution = gamedp.solve(model, gamedp.AverageReward(optimum))
    assert solution.policy.tolist() == [1, 4, 5]
    assert solution.best_actions(1) == [2]
    assert [action.value for action in solution.action_values(1)] == pytest.approx([5, 5, 5])


def test_actions_are_worth_the_average_after_them():
    solution = gamedp.solve(gamble(), gamedp.AverageReward("min"))
    assert [action.value for action in solution.action_values(0)] == pytest.approx([1, 1.5])
    assert solution.best_actions(0) == [0]


OPPONENTS = model_of([(1, {1: 1.0})], [(0, {0: 1.0}), (2, {1: 1.0})], players=[0, 1], num_players=2)


@pytest.mark.parametrize(
    ("model", "objective", "words"),
    [
        (OPPONENTS, gamedp.AverageReward(), "is for one player: with opponents"),
        (machine(), gamedp.TotalReward(), "is for AverageReward, not for TotalReward"),
    ],
)
def test_what_is_refused(model, objective, words):
    solver = gamedp.solvers.RelativeValueIteration()
    with pytest.raises(gamedp.UnsupportedProblemError, match=words):
        gamedp.solve(model, objective, solver)
    if model is OPPONENTS:
        with pytest.raises(gamedp.UnsupportedProblemError, match="one player"):
            exact_values(model, objective)


def test_an_opponent_who_never_moves_does_no_harm():
    model = model_of([(1, {0: 1.0}), (2, {1: 1.0})], 0.0, players=[1, 0], num_players=2)
    assert gamedp.solve(model, gamedp.AverageReward()).bounds(0) == (0.0, 0.0)
    assert gamedp.solve(model, gamedp.AverageReward("min")).bounds(0) == (1.0, 1.0)


@pytest.mark.parametrize(
    "solver",
    [
        gamedp.solvers.BackwardInduction(),
        gamedp.solvers.PolicyIteration(),
        gamedp.solvers.Retrograde(),
        gamedp.solvers.TopologicalValueIteration(),
        gamedp.solvers.ValueIteration(),
    ],
    ids=repr,
)
def test_others_do_not_do_averages(solver):
    for model in (machine(), model_of([(1, {1: 1.0})], 2.0)):
        with pytest.raises(gamedp.UnsupportedProblemError, match=r"AverageReward|averages"):
            gamedp.solve(model, gamedp.AverageReward(), solver)


def test_it_keeps_the_protocol_of_solvers():
    problems = {
        name: gamedp.Problem(model, gamedp.AverageReward(optimum))
        for name, (model, optimum, _) in KNOWN.items()
        if "long" not in name
    }
    report = check_solver(gamedp.solvers.RelativeValueIteration(), problems)
    assert report.solved == tuple(problems)


def test_it_is_chosen_and_says_why():
    assert "RelativeValueIteration: first the gain of" in gamedp.explain(
        machine(), gamedp.AverageReward()
    )


def test_biases_are_saved(tmp_path):
    solution = gamedp.solve(gamble(), gamedp.AverageReward())
    gamedp.save(solution, tmp_path)
    again = gamedp.load(tmp_path)
    for one, other in zip(solution.biases, again.biases, strict=True):
        assert np.array_equal(one, other)
        assert not other.flags.writeable
    assert again.objective == gamedp.AverageReward()


def test_a_least_average_of_nothing_has_no_minus():
    """Signs are turned round for a minimum: no zero is shown with one."""
    model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], rewards=[1.0], terminals=[1])
    solution = gamedp.solve(model, gamedp.AverageReward("min"))
    assert repr((*solution.bounds(0), solution.value(0))) == "(0.0, 0.0, 0.0)"


def ways_of(model):
    parts = EndComponents.of(model, 1.0)
    return Ways.of(model, 1.0, parts), len(parts.offsets) - 1


def test_ways_that_are_short_need_no_solver_of_totals(monkeypatch):
    def refuse(*arguments):
        raise AssertionError(arguments)

    monkeypatch.setattr(ways, "solved_total", refuse)
    monkeypatch.setattr(ways, "bound_of_total", refuse)
    for seed in range(5):
        model = random_model(seed, num_states=40)
        solution = gamedp.solve(model, gamedp.AverageReward(), tolerance=1e-9)
        assert solution.width <= 1e-9
        assert_biases_prove_the_bounds(solution)


def test_slow_ways_take_few_sweeps(monkeypatch):
    """Where changes decrease slowly, and at several rates; it took 45 sweeps at one rate."""

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(ways, "solved_total", refuse)
    monkeypatch.setattr(ways, "SWEEPS", 24)
    model = random_model(3, num_states=200)
    found = gamedp.solve(model, gamedp.AverageReward(), tolerance=1e-6)
    assert found.width <= 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_bounds_of_ways_hold_for_all_gains_within_theirs(seed):
    model = random_model(seed, num_states=30)
    ways, num_parts = ways_of(model)
    rng = np.random.default_rng(seed)
    gains = np.sort(rng.choice([-1.0, 0.0, 1 / 3, 1.0, 1e6], (num_parts, 2)), axis=1)
    gains += rng.choice([0.0, 1e-9], (num_parts, 1)) * [0.0, 1.0]
    tolerance = 1e-7
    found = ways.bounds(gains, 0.0, tolerance, lambda: np.inf, 1000)
    apart = np.diff(gains).max(initial=0.0)
    assert (found.upper - found.lower <= apart + 2 * tolerance).all()
    inside = len(found.lower)
    for own in (gains[:, 0], gains[:, 1], gains.mean(axis=1)):
        exact = ways._solved(own, 1e-10, np.inf, 100_000)
        assert (found.lower <= exact.upper[:inside]).all()
        assert (found.upper >= exact.lower[:inside]).all()


def test_gains_whose_differences_may_overflow_are_left_to_solvers():
    row = [(0, {0: 0.25, 1: 0.25, 2: 0.5})]
    ways, _ = ways_of(model_of(row, [(0, {1: 1.0})], [(0, {2: 1.0})]))
    assert ways._swept(np.array([[1e305] * 2, [-1e305] * 2]), 1e-6, 100) is None
    assert ways._swept(np.array([[1.0] * 2, [-1.0] * 2]), 1e-6, 100) is not None
