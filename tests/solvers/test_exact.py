"""Values in rational numbers: those of the judge, of the rules, and as they are saved."""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from solving import horizons

import gamedp
from gamedp.solvers.tools.exact import systems
from gamedp.solvers.tools.exact.process import StoppedError
from gamedp.solvers.tools.exact.work import Work
from gamedp.storage import kinds
from gamedp.testing import exact_values, small_problems
from gamedp.testing.strategies import models

SOLVER = gamedp.solvers.ExactPolicyIteration()

relaxed = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def solve_exactly(model, objective=None, solver=SOLVER, **keywords):
    return gamedp.solve(model, objective, solver, **keywords)


def assert_exact(solution):
    truth = exact_values(solution.model, solution.objective)
    assert list(solution.exact) == truth
    for low, value, middle, high in zip(
        solution.lower, truth, solution.values, solution.upper, strict=True
    ):
        assert low <= value <= high
        assert low <= middle <= high
        assert high <= math.nextafter(low, math.inf)
        assert (low == high) == (Fraction(float(low)) == value)


@relaxed
@given(models(), st.sampled_from(["max", "min"]))
def test_totals(model, optimum):
    assert_exact(solve_exactly(model, gamedp.TotalReward(optimum)))


@relaxed
@given(models(players=[1, 2], ends=False, swaps=False), st.sampled_from([0.0, 0.5, 0.99]))
def test_discounted(model, discount):
    assert_exact(solve_exactly(model, gamedp.Discounted(discount)))


@relaxed
@given(models(max_states=4), st.integers(0, 4), st.sampled_from(["max", "min"]))
def test_finite_horizons(model, horizon, optimum):
    model = attrs.evolve(model, constant_sum=0.0)
    solution = solve_exactly(model, gamedp.FiniteHorizon(horizon, optimum))
    assert_exact(solution)
    assert solution.step_policies.shape == (horizon, model.num_states)


@relaxed
@given(models(max_states=4), st.integers(0, 4), st.data())
def test_what_counts_at_the_end_of_a_horizon(model, horizon, data):
    assume(not (model.has_swaps and model.constant_sum))
    assert_exact(solve_exactly(model, data.draw(horizons(model, horizon))))


@relaxed
@given(
    models(max_states=4, players=[1], ends=False),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.sampled_from(["max", "min"]),
)
def test_reachability_of_one_player(model, target, optimum):
    mask = np.array(target)[: model.num_states]
    assert_exact(solve_exactly(model, gamedp.Reachability(mask, optimum=optimum)))


def fair_ring(states):
    """Walk round a ring until it is left: from each state with its own probability."""
    successors, probabilities = [], []
    for state in range(states):
        leaves = 1 / (state + 3)
        successors += [state, (state + 1) % states, states]
        probabilities += [(1 - leaves) / 2, (1 - leaves) / 2, leaves]
    return gamedp.Model.from_arrays(
        [*range(states + 1), states],
        range(0, 3 * states + 1, 3),
        successors,
        probabilities,
        rewards=[1.0] * states,
        terminals=[states],
    )


@pytest.mark.parametrize("states", [1, 2, 3, 12])
def test_fractions_stand_in_for_flint(states, monkeypatch):
    model = fair_ring(states)
    truth = exact_values(model)
    assert list(solve_exactly(model).exact) == truth
    monkeypatch.setattr(systems, "flint", None)
    assert type(systems.rational(1)) is Fraction
    assert list(solve_exactly(model).exact) == truth


def test_flint_is_used():
    assert type(systems.rational(Fraction(1, 3))).__name__ == "fmpq"
    assert systems.as_fraction(systems.rational(0.1)) == Fraction(0.1)


def test_a_chain_that_is_slow_to_converge():
    """From the middle of 40 steps, each back to the start with one half: 0.7 exactly."""
    steps = 20
    places = {step: step + steps for step in range(-steps, steps + 1)}
    rows = []
    for step in range(-steps, steps + 1):
        if step == 0:
            rows.append([(0.7, 1), (1 - 0.7, -1)])
        elif abs(step) < steps:
            rows.append([(0.5, step + (1 if step > 0 else -1)), (0.5, 0)])
        else:
            rows.append([])
    model = gamedp.Model.from_arrays(
        np.cumsum([0, *(bool(row) for row in rows)]),
        np.cumsum([0, *(len(row) for row in rows if row)]),
        [places[target] for row in rows for _, target in row],
        [probability for row in rows for probability, _ in row],
        terminals=[0, 2 * steps],
    )
    solution = solve_exactly(model, gamedp.Reachability([2 * steps]))
    right, left = Fraction(0.7), Fraction(1 - 0.7)
    assert solution.exact[steps] == right / (right + left)
    assert solution.exact == tuple(
        solve_exactly(model, gamedp.Reachability([2 * steps], optimum="min")).exact
    )


class Throws(NamedTuple):
    left: int


@attrs.frozen
class UntilSeven:
    """Throw a die of seven sides until it shows six or seven, or give up: all in Fractions."""

    exact: bool = True

    def initial_state(self):
        return [(Fraction(1, 3), Throws(3)), (Fraction(2, 3), Throws(2))]

    def is_terminal(self, state):
        return state.left < 2

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        part = Fraction(1, 7)
        if action:
            yield Fraction(1), Throws(0)
        elif self.exact:
            yield part, Throws(1)
            yield part, Throws(1)
            yield 1 - 2 * part, state
        else:
            yield float(2 * part), Throws(1)
            yield float(1 - 2 * part), state

    def reward(self, state, action, player):
        return Fraction(-1, 10)

    def payoff(self, state, player):
        return Fraction(state.left, 3)


def test_the_fractions_of_rules_are_kept():
    solution = solve_exactly(gamedp.compile(UntilSeven(), compile="never"))
    # Seven throws in two games, each costs a tenth, and the end is worth a third.
    value = Fraction(1, 3) - Fraction(7, 20)
    assert solution.exact_value(Throws(3)) == value
    assert solution.exact_value() == value  # from 2 as from 3
    assert solution.lower[0] < value < solution.upper[0]
    stored = solve_exactly(gamedp.compile(UntilSeven(exact=False), compile="never"))
    assert 0 < abs(stored.exact_value(Throws(3)) - value) < Fraction(1, 10**15)


def test_values_of_either_player_and_places():
    model = small_problems()["places change, one wins"].model
    solution = solve_exactly(model)
    for state, value in enumerate(exact_values(model)):
        assert solution.exact_value(state) == value
        assert solution.exact_value(state, player=1) == 1 - value
    assert solution.exact_value(player=1) == 1 - solution.exact_value()
    with pytest.raises(gamedp.UnsupportedProblemError, match="ExactPolicyIteration does"):
        gamedp.solve(model).exact_value(0)


def test_exact_values_are_saved(tmp_path):
    for number, (model, objective) in enumerate(
        [
            (fair_ring(40), None),
            (fair_ring(3), gamedp.TotalReward()),
            (infinite(), gamedp.TotalReward()),
        ]
    ):
        solution = solve_exactly(model, objective)
        gamedp.save(solution, tmp_path / str(number))
        loaded = gamedp.load(tmp_path / str(number))
        assert loaded.exact == solution.exact
        assert loaded.exact is not None
    gamedp.save(gamedp.solve(fair_ring(3)), tmp_path / "rough")
    assert gamedp.load(tmp_path / "rough").exact is None


@pytest.mark.parametrize("text", ["1/2", "1/2\n1/0", "1/2\nnan", "1/2\n1", "1/2\nx/1"])
def test_saved_numbers_that_are_none(text, tmp_path):
    arrays = {"exact": np.frombuffer(text.encode(), np.uint8)}
    with pytest.raises(gamedp.errors.DamagedFileError, match="are not 2 rational numbers"):
        kinds._exact_values(tmp_path, arrays, 2)


def infinite():
    """Nobody leaves a place that pays."""
    return gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[1.0, 0.0], terminals=[1], payoffs=[0.5]
    )


def test_infinite_totals():
    solution = solve_exactly(infinite())
    assert solution.exact == (math.inf, Fraction(1, 2))
    assert solution.exact_value() == math.inf


def test_limits_leave_the_bounds_that_are_known():
    model = fair_ring(30)
    model = gamedp.Model.from_arrays(
        model.choice_offsets,
        model.transition_offsets,
        model.successors,
        model.probabilities,
        rewards=model.rewards,
        terminals=model.terminals,
        payoffs=[0.1],
    )
    with pytest.raises(gamedp.NotSolvedError, match="limit of time") as caught:
        solve_exactly(model, solver=gamedp.solvers.ExactPolicyIteration(max_seconds=1e-9))
    assert caught.value.solution.exact is None
    for low, value, high in zip(
        caught.value.solution.lower, exact_values(model), caught.value.solution.upper, strict=True
    ):
        assert low <= value <= high


def almost_a_tie():
    """The longer way earns more by so little that no double tells."""
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 1, 2, 3],
        [2, 1, 2],
        [1.0, 1.0, 1.0],
        rewards=[0.0, 0.0, 2.0**-60],
        terminals=[2],
        payoffs=[1.0],
    )


def test_what_no_double_tells():
    solution = solve_exactly(almost_a_tie())
    assert solution.exact[0] == 1 + Fraction(1, 2**60)
    assert solution.policy.tolist() == [1, 2, -1]


def test_a_limit_of_policies():
    solver = gamedp.solvers.ExactPolicyIteration(max_policies=1)
    with pytest.raises(gamedp.NotSolvedError, match="Raise max_policies") as caught:
        solve_exactly(almost_a_tie(), solver=solver)
    known = caught.value.solution
    assert known.guarantee is gamedp.Guarantee.TWO_SIDED
    assert known.lower[0] <= 1 + Fraction(1, 2**60) <= known.upper[0]


def test_too_many_states_are_refused_if_that_is_asked():
    solver = gamedp.solvers.ExactPolicyIteration(max_states=5)
    assert solve_exactly(fair_ring(4), solver=solver).exact is not None
    with pytest.raises(gamedp.UnsupportedProblemError, match="and there are 6 states"):
        solve_exactly(fair_ring(5), solver=solver)


@pytest.mark.parametrize(
    "options", [{"max_states": 0}, {"max_policies": 0}, {"max_seconds": 0}, {"max_states": 1.5}]
)
def test_options_are_validated(options):
    with pytest.raises(gamedp.errors.InvalidParameterError):
        gamedp.solvers.ExactPolicyIteration(**options)


def test_a_coarse_double_is_no_error():
    """The bounds cannot be as close as was asked, but the value is known."""
    model = attrs.evolve(fair_ring(3), rewards=np.full(3, 1e15))
    solution = solve_exactly(model, tolerance=1e-9)
    assert solution.status is gamedp.Status.ROUNDING
    assert list(solution.exact) == exact_values(model)


def test_beyond_the_range_of_doubles():
    model = attrs.evolve(fair_ring(3), rewards=np.full(3, 1e308))
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(gamedp.InvalidModelError, match="beyond the range"),
    ):
        solve_exactly(model)


def random_system(count, seed):
    """Return a system x = P x + b with doubles, and denominators of their own in each row."""
    generator = np.random.default_rng(seed)
    rows, known = [], []
    for _ in range(count):
        columns = np.unique(generator.integers(0, count, 4)).tolist()
        weights = [Fraction(weight) for weight in generator.random(len(columns) + 1).tolist()]
        rows.append(
            {
                column: systems.rational(weight / sum(weights))
                for column, weight in zip(columns, weights, strict=False)
            }
        )
        known.append(systems.rational(Fraction(int(generator.integers(-9, 9)), 7)))
    return rows, known


def assert_solves(found, rows, known):
    for row, constant, value in zip(rows, known, found, strict=True):
        assert value == constant + sum(
            probability * found[column] for column, probability in row.items()
        )


@pytest.mark.parametrize("count", range(1, 7))
def test_linear_systems(count, monkeypatch):
    rows, known = random_system(count, count)
    found = systems.solve_linear_system(rows, list(known), no_pause)
    assert_solves(found, rows, known)
    monkeypatch.setattr(systems, "AT_ONCE", 0)
    again = systems.solve_linear_system(rows, list(known), no_pause)
    assert all(one == other for one, other in itertools.zip_longest(found, again))
    monkeypatch.setattr(systems, "flint", None)
    again = systems.solve_linear_system(rows, list(known), no_pause)
    assert all(one == other for one, other in itertools.zip_longest(found, again))


def no_pause():
    """Let a system be solved without a break."""


class Break:
    """Counts the breaks in the work; raises KeyboardInterrupt at that of some number."""

    def __init__(self, at=None):
        self.at = at
        self.count = 0

    def __call__(self):
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("with_flint", [True, False])
def test_large_linear_systems_are_solved_in_small_steps(with_flint, monkeypatch):
    """So that nobody waits for Ctrl-C: the more digits the numbers have, the more steps."""
    rows, known = random_system(150 if with_flint else 20, 1)
    if not with_flint:
        monkeypatch.setattr(systems, "flint", None)
        rows = [{column: systems.as_fraction(p) for column, p in row.items()} for row in rows]
        known = list(map(systems.as_fraction, known))
    steps = Break()
    found = systems.solve_linear_system(rows, list(known), steps)
    assert_solves(found, rows, known)
    assert steps.count >= len(rows)
    if with_flint:
        assert steps.count >= int(found[0].q).bit_length() / 62
    for at in (1, steps.count // 2, steps.count):
        with pytest.raises(KeyboardInterrupt):
            systems.solve_linear_system(rows, list(known), Break(at))


def test_a_system_whose_determinant_the_prime_divides(monkeypatch):
    monkeypatch.setattr(systems, "AT_ONCE", 0)
    stay = systems.rational(1 - Fraction(systems.FIRST_PRIME, 2**62))
    half = systems.rational(Fraction(1, 2))
    rows = [{0: stay}, {0: half}, {0: half, 1: half / 2}]
    known = [systems.rational(number) for number in (1, 0, Fraction(1, 3))]
    assert_solves(systems.solve_linear_system(rows, list(known), no_pause), rows, known)


def test_a_limit_of_time_holds_within_a_linear_system(monkeypatch):
    asked = [0]

    def check(self, last=None):
        asked[0] += 1
        if last is not None and asked[0] > last:
            raise StoppedError(gamedp.Status.TIME_LIMIT)

    monkeypatch.setattr(Work, "check_limits", check)
    monkeypatch.setattr(systems, "AT_ONCE", 0)
    ring = fair_ring(40)
    solve_exactly(ring)
    total = asked[0]
    assert total >= 40
    monkeypatch.setattr(Work, "check_limits", lambda self: check(self, total - 5))
    asked[0] = 0
    with pytest.raises(gamedp.NotSolvedError, match="its limit of time"):
        solve_exactly(ring)
