"""Solvers that eliminate: answers of play that stays very long, bounded without a loss."""

from fractions import Fraction

import numba
import numpy as np
import pytest
from solving import assert_contains

import gamedp
from gamedp.bellman import component_sweeps
from gamedp.runtime import floats
from gamedp.solvers.tools import components
from gamedp.testing import exact_values
from gamedp.testing.models import SlipperyGrid, SlowChain

COMPILED = not numba.config.DISABLE_JIT
LONG = [100_000] if COMPILED else []
SOLVERS = [None, gamedp.solvers.TopologicalValueIteration(), gamedp.solvers.PolicyIteration()]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("length", [20, 40, 400])
def test_the_slow_chain_within_a_billionth(solver, length):
    chain = SlowChain(length=length)
    model = gamedp.compile(chain, compile="never")
    solution = gamedp.solve(model, solver=solver, tolerance=1e-9)
    start, _ = model.index(chain.initial_state())
    assert solution.lower[start] <= chain.exact() <= solution.upper[start]
    assert solution.width < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("goal", [10_000, *LONG])
def test_a_long_ruin_within_a_billionth(solver, goal):
    near = np.arange(1, goal)[:, None] + [-1, 1]
    model = gamedp.Model.from_arrays(
        np.concatenate([[0], np.arange(goal), [goal - 1]]),
        2 * np.arange(goal),
        near.ravel(),
        np.full(2 * (goal - 1), 0.5),
        terminals=[0, goal],
        payoffs=[0.0, 1.0],
    )
    solution = gamedp.solve(model, solver=solver, tolerance=1e-9)
    assert_contains(solution, [Fraction(start, goal) for start in range(goal + 1)])
    assert solution.width <= 1e-9


def slow_walk(size, *, players=1, copies=1, swaps=False, seed=0):
    """Return walks to either end that hardly ever move; each state has a slower and a better one.

    The choices of opponents differ in the side that they prefer.
    """
    rng = np.random.default_rng(seed)
    choice_offsets, offsets, successors, probabilities = [0], [0], [], []
    for state in range(size):
        for choice in range(2):
            moves = 2.0**-30 if choice else 2.0**-24
            right = float(rng.integers(1, 8)) / 8
            side = [-1.0, 1.0][int(swaps and rng.random() < 0.5)]
            for _ in range(copies):
                successors += [state - 1 if state else size, state + 1, state]
                if state + 1 == size:
                    successors[-2] = size + 1
                left = moves * (1 - right)
                probabilities += [side * left if swaps else left, moves * right, 1 - moves]
                offsets.append(len(successors))
        choice_offsets.append(len(offsets) - 1)
    return gamedp.Model.from_arrays(
        choice_offsets + choice_offsets[-1:] * 2,
        offsets,
        successors,
        probabilities,
        terminals=[size, size + 1],
        payoffs=[0.0, 1.0] if not swaps else [-0.5, 0.5],
        players=np.arange(size + 2) % players,
        num_players=max(players, 2 if swaps else 1),
    )


@pytest.mark.parametrize("solver", SOLVERS[1:], ids=str)
@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("optimum", ["max", "min"])
def test_choices_are_told_apart_however_slow_they_are(solver, players, copies, optimum):
    """Rounding on all steps of play would be 1e-7 here; the same choice twice is no doubt."""
    model = slow_walk(6, players=players, copies=copies)
    objective = gamedp.TotalReward(optimum)
    solution = gamedp.solve(model, objective, solver, tolerance=1e-11)
    assert_contains(solution, exact_values(model, objective))
    if players == 1:
        exact = exact_values(model, objective, policy=solution.policy.tolist())
        for value, low, high in zip(exact, solution.lower, solution.upper, strict=True):
            assert value >= low if optimum == "max" else value <= high


@pytest.mark.parametrize("seed", range(4))
def test_players_who_change_places_slowly(seed):
    model = slow_walk(4, players=2, swaps=True, seed=seed)
    truth = exact_values(model)
    for solver in SOLVERS[1:]:
        solution = gamedp.solve(model, solver=solver, tolerance=1e-9)
        assert_contains(solution, truth)
        assert solution.statistics.sweeps < 500_000


def scattered(size, branches, actions, leaving):
    """Return choices that lead to random states, and out of them hardly ever."""
    rng = np.random.default_rng(1)
    count = size * actions
    successors = rng.integers(0, size, (count, branches))
    probabilities = rng.random((count, branches))
    probabilities *= (1 - leaving) / probabilities.sum(axis=1, keepdims=True)
    ends = rng.integers(size, size + 2, (count, 1))
    probabilities = np.concatenate([probabilities, np.full((count, 1), leaving)], axis=1)
    probabilities[:, 0] += 1 - probabilities.sum(axis=1)
    return gamedp.Model.from_arrays(
        np.concatenate([actions * np.arange(size + 1), [count, count]]),
        (branches + 1) * np.arange(count + 1),
        np.concatenate([successors, ends], axis=1).ravel(),
        probabilities.ravel(),
        terminals=[size, size + 1],
        payoffs=[0.0, 1.0],
    )


@pytest.mark.parametrize("solver", SOLVERS[1:], ids=str)
@pytest.mark.parametrize("actions", [1, 2])
def test_where_elimination_fills_everything_it_is_dense(solver, actions, monkeypatch):
    """What would take a sparse elimination too long, and sweeps for ever."""
    monkeypatch.setattr(components, "MAX_ELIMINATION_TERMS", 1000)
    size, branches, at_once = (300, 30, 1 << 18) if COMPILED else (100, 10, 1 << 14)
    monkeypatch.setattr(components, "TRANSITIONS", at_once)
    monkeypatch.setattr(component_sweeps, "MAX_ELIMINATION_TERMS", 1000.0)
    model = scattered(size, branches, actions, 1e-9 if actions == 1 else 1e-7)
    solution = gamedp.solve(model, solver=solver, tolerance=1e-6)
    assert solution.width <= 1e-6
    values = np.array(solution.values)
    matrix = gamedp.Problem(model).model.transition_matrix
    choice_values = matrix @ values
    best = np.maximum.reduceat(choice_values, actions * np.arange(size))
    np.testing.assert_allclose(best, values[:size], rtol=1e-9)
    if actions == 1:
        system = np.eye(size) - matrix[:size, :size].toarray()
        np.fill_diagonal(system, 0)
        leaving = np.asarray(matrix[:, size:].sum(axis=1)).ravel()
        np.fill_diagonal(system, leaving - system.sum(axis=1))
        truth = np.linalg.solve(system, matrix[:, size + 1].toarray().ravel())
        np.testing.assert_allclose(values[:size], truth, rtol=1e-5)


def test_sweeps_take_over_where_policies_are_too_expensive(monkeypatch):
    monkeypatch.setattr(components, "MAX_ELIMINATION_TERMS", 10)
    monkeypatch.setattr(components, "MAX_DENSE_STATES", 10)
    monkeypatch.setattr(components, "TRANSITIONS", 1 << 12)
    grid = SlipperyGrid(rows=6, columns=6)
    model = gamedp.compile(grid, compile="never")
    solution = gamedp.solve(model, grid.objective, gamedp.solvers.PolicyIteration(), tolerance=1e-7)
    exact = gamedp.solve(
        model, grid.objective, gamedp.solvers.TopologicalValueIteration(), tolerance=1e-9
    )
    assert (solution.lower <= exact.upper).all()
    assert (solution.upper >= exact.lower).all()
    assert solution.width <= 1e-7
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(model, grid.objective, gamedp.solvers.PolicyIteration(max_seconds=1e-9))
    assert caught.value.solution.status is gamedp.Status.TIME_LIMIT


def test_a_policy_of_a_grid_takes_few_terms():
    """2500 states: a matrix of their own would have six million numbers."""
    side = 20 if numba.config.DISABLE_JIT else 50
    grid = SlipperyGrid(rows=side, columns=side)
    model = gamedp.compile(grid)
    solution = gamedp.solve(model, grid.objective, gamedp.solvers.PolicyIteration(), tolerance=1e-6)
    swept = gamedp.solve(model, grid.objective, gamedp.solvers.TopologicalValueIteration())
    assert (solution.lower <= swept.upper).all()
    assert (solution.upper >= swept.lower).all()
    assert floats.UNIT * solution.values.max() < solution.width <= 1e-6
