"""The solvers that tests compare, small models for them, and what their bounds must contain."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import gamedp
from gamedp.runtime import registry
from gamedp.runtime.registry import find, registered
from gamedp.solvers.tools.base import FixedPointSolver

REGISTERED = tuple(
    # Staged games have a solver of their own, and tests of their own.
    find(registry.SOLVERS, name)()
    for name in registered(registry.SOLVERS)
    if name != "stage-induction"
)
"""Every registered solver, with its usual options."""

SOLVERS = (
    *REGISTERED,
    gamedp.solvers.ValueIteration(sweep="jacobi"),
    gamedp.solvers.ModifiedPolicyIteration(inner_sweeps=3),
)
FIXED_POINT = tuple(s for s in SOLVERS if isinstance(s, FixedPointSolver))
"""Those that approach Bellman's fixed point, and do all that is proper."""


def assert_contains(solution, truth):
    for low, value, high in zip(
        solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
    ):
        assert low <= value <= high  # of a float and a Fraction, Python compares the numbers


@st.composite
def horizons(draw, model, horizon):
    """Draw a horizon, perhaps with a target, through some states alone, or values at its end."""
    size, optimum = model.num_states, draw(st.sampled_from(["max", "min"]))
    kinds = ["plain"]
    kinds += ["target"] * (not model.has_swaps)
    kinds += ["all", "some"] * (not (model.has_opponents and model.constant_sum))
    kind = draw(st.sampled_from(kinds))
    if kind == "target":
        masks = st.lists(st.booleans(), min_size=size, max_size=size).map(np.array)
        target, allowed = draw(masks), draw(st.none() | masks)
        return gamedp.FiniteHorizon(horizon, optimum, target=target, allowed=allowed)
    values = st.integers(-3, 3) | st.just(Fraction(1, 3)) | st.floats(-1e3, 1e3)
    final = None
    if kind == "all":
        final = draw(st.lists(values, min_size=size, max_size=size))
    elif kind == "some":
        final = draw(st.dictionaries(st.integers(0, size - 1), values))
    return gamedp.FiniteHorizon(horizon, optimum, final=final)


def walk(up=0.5, states=50):
    """A random walk that ends at either side, and pays 1 at the top."""
    inner = states - 2
    return gamedp.Model.from_arrays(
        [0, 0, *range(1, inner + 1), inner],
        2 * np.arange(inner + 1),
        np.stack([np.arange(inner), np.arange(2, states)], axis=1).ravel(),
        np.tile([1 - up, up], inner),
        terminals=[0, states - 1],
        payoffs=[0.0, 1.0],
        initial=1,
    )


def loop(payoff=0.75, reward=0.0):
    """Stay for ever, or take the payoff."""
    return gamedp.Model.from_arrays(
        [0, 2, 2],
        [0, 1, 2],
        [0, 1],
        [1.0, 1.0],
        rewards=[reward, 0.0],
        terminals=[1],
        payoffs=[payoff],
    )


def solve_best_effort(model, objective=None, solver=None, tolerance=1e-6):
    """Return the solution, or what is known where it is not what was asked."""
    try:
        return gamedp.solve(model, objective, solver, tolerance=tolerance)
    except gamedp.NotSolvedError as error:
        return error.solution


def solve_within_rounding(model, objective, solver, tolerance):
    """Solve, and take what is known when rounding forbids the tolerance."""
    try:
        return gamedp.solve(model, objective, solver, tolerance=tolerance)
    except gamedp.NotSolvedError as error:
        if error.solution.status is not gamedp.Status.ROUNDING:
            raise
        return error.solution
