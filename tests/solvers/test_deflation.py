"""Bounds that are deflated where two opponents keep each other from an end."""

import math

import attrs
import numba
import numpy as np
import pytest
from games_of_opponents import big_circle, games_of_opponents
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from reductions import is_reduced, reduction_of

import gamedp
from gamedp.bellman import intervals
from gamedp.graph.sets import buchi_states
from gamedp.solvers.tools import deflation as deflating
from gamedp.testing import exact_values

SOLVERS = (
    gamedp.solvers.IntervalIteration(max_sweeps=50_000),
    gamedp.solvers.TopologicalValueIteration(max_sweeps=50_000),
)
relaxed = settings(
    # Plain Python takes long for each.
    max_examples=12 if numba.config.DISABLE_JIT else 50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
sides = st.sampled_from(["max", "min"])


def assert_deflation_solves(model, objective):
    """Bounds meet about the value, each side's policy attains it, the certificate is accepted."""
    problem = gamedp.Problem(model, objective)
    reduction = reduction_of(problem)
    assume(is_reduced(reduction))
    assume(reduction.problem.needs_deflation)
    truth = exact_values(model, objective)
    for solver in SOLVERS:
        solution = solver.solve(problem, tolerance=1e-7)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        assert solution.width <= 1e-7
        for bounds in (solution, gamedp.certify(solution)):
            for low, value, high in zip(
                bounds.lower.tolist(), truth, bounds.upper.tolist(), strict=True
            ):
                assert low <= value <= high
        for player in (0, 1):
            got = exact_values(model, objective, policy=solution.policy.tolist(), player=player)
            wants_most = (player == 0) == (objective.optimum == "max")
            for value, best in zip(got, truth, strict=True):
                # Written so that an infinite value is equal to itself.
                lost = 0 if value == best else best - value if wants_most else value - best
                assert lost <= 1e-6


@relaxed
@given(games_of_opponents(st.just(0)), sides)
def test_reachability(model, optimum):
    assert_deflation_solves(model, gamedp.Reachability([model.num_states - 1], optimum=optimum))


@relaxed
@given(games_of_opponents(st.sampled_from([0, 0, 1, 2])), sides)
def test_totals_until_a_target(model, optimum):
    target = model.terminals.tolist()
    assert_deflation_solves(model, gamedp.TotalReward(optimum, until=target))


@relaxed
@given(
    st.sampled_from([1, -1]).flatmap(
        lambda sign: games_of_opponents(st.sampled_from([0, 0, sign]))
    ),
    sides,
)
def test_totals_of_play_that_may_go_on(model, optimum):
    assert_deflation_solves(model, gamedp.TotalReward(optimum))


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_what_sweeps_alone_do_not_find(solver):
    """From above, all of the circle keeps the best that any way out of it promises."""
    model = big_circle(100)
    objective = gamedp.Reachability([100])
    solution = gamedp.solve(model, objective, solver, tolerance=1e-9)
    truth = gamedp.solve(model, objective, gamedp.solvers.StrategyIteration(), tolerance=1e-9)
    assert np.allclose(solution.values, truth.values, rtol=0, atol=2e-9)
    assert solution.width <= 1e-9
    assert gamedp.verify(model, gamedp.certify(solution)).width <= 1e-9


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_where_play_hardly_ever_leaves(solver):
    """Sweeps would take as many steps as play does; the policies' linear systems do not.

    States 2 and 3 are a circle of their own, which 0 and 1 lead to.
    """
    rare = 1e-7
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 6, 8, 8, 8],
        [0, 1, 4, 5, 8, 9, 12, 13, 16],
        [1, 0, 2, 4, 0, 1, 3, 5, 3, 2, 4, 5, 2, 3, 4, 5],
        [
            *(1.0, 1 - rare, rare / 2, rare / 2, 1.0, 1 - rare, rare / 2, rare / 2),
            *(1.0, 1 - rare, rare / 4, 3 * rare / 4, 1.0, 1 - rare, rare / 2, rare / 2),
        ],
        players=[0, 1, 0, 1, 0, 0],
        terminals=[4, 5],
    )
    objective = gamedp.Reachability([5])
    truth = exact_values(model, objective)
    solution = gamedp.solve(model, objective, solver, tolerance=1e-6)
    assert solution.statistics.sweeps < 10_000
    for low, value, high in zip(
        solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
    ):
        assert low <= value <= high
    for player in (0, 1):
        got = exact_values(model, objective, policy=solution.policy.tolist(), player=player)
        assert got == pytest.approx(truth, abs=1e-5)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_a_relative_tolerance(solver):
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 1, 3, 4, 6],
        [1, 2, 3, 0, 2, 3],
        [1.0, 1 - 1e-9, 1e-9, 1.0, 0.25, 0.75],
        players=[0, 1, 0, 0],
        terminals=[2, 3],
    )
    objective = gamedp.Reachability([3])
    solution = gamedp.solve(model, objective, solver, tolerance=1e-6, relative=True)
    assert solution.lower[0] <= 1e-9 <= solution.upper[0]
    assert solution.upper[0] - solution.lower[0] <= 1e-15


@pytest.mark.parametrize(
    ("options", "status"),
    [({"max_sweeps": 1}, "SWEEP_LIMIT"), ({"max_seconds": 1e-9}, "TIME_LIMIT")],
)
def test_limits_leave_bounds_that_hold(options, status):
    model, objective = big_circle(40), gamedp.Reachability([40])
    truth = gamedp.solve(model, objective, gamedp.solvers.StrategyIteration(), tolerance=1e-9)
    with pytest.raises(gamedp.NotSolvedError, match="Raise max_") as caught:
        gamedp.solve(model, objective, gamedp.solvers.IntervalIteration(**options), tolerance=1e-9)
    solution = caught.value.solution
    assert solution.status.name == status
    assert solution.width > 1e-9
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()


def rewarded_circle(states):
    """The same circle, in which each step earns 1, to the loss of who must end play."""
    model = big_circle(states)
    rewards = np.ones(model.num_choices)
    return attrs.evolve(model, rewards=rewards), gamedp.TotalReward(until=model.terminals.tolist())


def proves_nothing(self, policy, who, tolerance):
    """Stand for policies that prove no finite bound."""
    del policy, tolerance
    maximises = (who == self.run.equation.maximise).all()
    size = self.run.problem.model.num_states
    return np.full(size, -math.inf if maximises else math.inf)


@pytest.mark.parametrize(
    ("options", "status"),
    [({"max_sweeps": 3}, "SWEEP_LIMIT"), ({"max_seconds": 1e-9}, "TIME_LIMIT")],
)
def test_limits_hold_while_first_bounds_are_looked_for(monkeypatch, options, status):
    """Sweeps for policies that prove something end there, too, also if none ever does."""
    model, objective = rewarded_circle(12)
    monkeypatch.setattr(deflating._Deflating, "_proven_by", proves_nothing)
    monkeypatch.setattr(deflating._Deflating, "improve_policies", lambda *_: None)
    with pytest.raises(gamedp.NotSolvedError, match="Raise max_") as caught:
        gamedp.solve(model, objective, gamedp.solvers.IntervalIteration(**options))
    solution = caught.value.solution
    assert solution.status.name == status
    assert solution.statistics.sweeps <= 5
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    truth = exact_values(model, objective)
    for low, value, high in zip(
        solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
    ):
        assert low <= value <= high


def test_a_limit_of_time_is_one_for_its_parts(monkeypatch):
    """Whatever is solved on the way gets what is left of the time."""
    model, objective = rewarded_circle(12)
    given_seconds = []

    def recording(solve):
        def recorded(asked, tolerance, max_seconds, **options):
            given_seconds.append(max_seconds)
            return solve(asked, tolerance, max_seconds, **options)

        return recorded

    for name in ("solve_process", "_bound_opponents"):
        monkeypatch.setattr(deflating, name, recording(getattr(deflating, name)))
    monkeypatch.setattr(deflating, "SWEEPS_BEFORE_POLICIES", 2)
    solver = gamedp.solvers.IntervalIteration(max_seconds=1000.0)
    solution = gamedp.solve(model, objective, solver, tolerance=1e-9)
    assert solution.width <= 1e-9
    assert len(given_seconds) >= 2
    assert max(given_seconds) < 1000.0
    assert given_seconds == sorted(given_seconds, reverse=True)


def test_no_policies_are_improved_when_time_is_up(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(deflating, "_bound_opponents", refuse)
    monkeypatch.setattr(deflating._Deflating, "_proven_by", proves_nothing)
    model, objective = rewarded_circle(12)
    with pytest.raises(gamedp.NotSolvedError, match="Raise max_seconds") as caught:
        gamedp.solve(model, objective, gamedp.solvers.IntervalIteration(max_seconds=1e-9))
    assert caught.value.solution.status is gamedp.Status.TIME_LIMIT


def test_where_all_can_end_nothing_is_deflated(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(intervals, "narrow_jit", refuse)
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3], [0, 2, 3, 5], [1, 2, 2, 0, 2], [0.5, 0.5, 1.0, 0.5, 0.5], terminals=[2],
        players=[0, 1, 0], rewards=[1.0, 2.0, 0.5],
    )  # fmt: skip
    assert gamedp.solve(model, solver=gamedp.solvers.IntervalIteration()).width <= 1e-6
    with pytest.raises(AssertionError):
        gamedp.solve(big_circle(4), gamedp.Reachability([4]), gamedp.solvers.IntervalIteration())


def test_what_is_infinite_for_two_opponents():
    """In 0 and 1 the maximiser earns 1 a round for ever; from 2 the minimiser may let them."""
    model = gamedp.Model.from_arrays(
        [0, 1, 3, 5, 5],
        [0, 1, 2, 3, 4, 5],
        [1, 0, 3, 2, 0],
        [1.0] * 5,
        rewards=[1.0, 0.0, 0.0, 0.0, 0.0],
        players=[0, 0, 1, 0],
        terminals=[3],
        payoffs=[7.0],
    )
    solution = gamedp.solve(model, solver=gamedp.solvers.IntervalIteration())
    assert solution.values.tolist() == [math.inf, math.inf, 0.0, 7.0]
    assert solution.policy.tolist()[:3] == [0, 1, 3]
    gamedp.certify(solution)
    # If the minimiser decides about the second step, it is leaving that they choose.
    model = gamedp.Model.from_arrays(
        model.choice_offsets,
        model.transition_offsets,
        model.successors,
        model.probabilities,
        rewards=model.rewards,
        players=[0, 1, 1, 0],
        terminals=[3],
        payoffs=[7.0],
    )
    solution = gamedp.solve(model, solver=gamedp.solvers.IntervalIteration())
    assert solution.values == pytest.approx([8.0, 7.0, 0.0, 7.0])


@relaxed
@given(games_of_opponents(st.sampled_from([0, 0, 1])))
def test_who_can_force_choices_again_and_again(model):
    """A total of rewards that are never negative is infinite from there, and from nowhere else."""
    helps = model.players == 0
    members, _ = buchi_states(
        model.structure, helps, model.rewards > 0, np.ones(model.num_choices, np.bool_)
    )
    truth = exact_values(model, gamedp.TotalReward())
    assert members.tolist() == [value == math.inf for value in truth]


@relaxed
@given(games_of_opponents(st.just(0)), st.data())
def test_kernels_compiled_and_in_plain_python_agree(model, data):
    equation = gamedp.Problem(model).equation()
    size = model.num_states
    numbers = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=size, max_size=size)
    lower = np.array(data.draw(numbers)) - 1
    upper = np.array(data.draw(numbers)) + 1
    members = np.array(data.draw(st.permutations(range(size))))
    offsets = np.array([0, size // 2, size])
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(model.rewards))))
    inside = np.resize(inside, model.num_choices)
    side = data.draw(st.booleans())
    results = []
    for suffix in ("", "_jit"):
        narrow, reply, deflate = (
            getattr(intervals, name + suffix) for name in ("narrow", "reply", "deflate")
        )
        low, high = lower.copy(), upper.copy()
        policy, replies = np.full(size, -1), np.full(size, -1)
        moved = narrow(0, size, equation, low, high, policy)
        changed = reply(members, equation, low, side, replies)
        moved += deflate(offsets, members, inside, equation, low, high, side, 0.0, replies, policy)
        results.append((low, high, policy, replies, np.array([moved, changed])))
    for plain, compiled in zip(*results, strict=True):
        assert np.array_equal(plain, compiled)
