"""Sweeps over all states at once, and what their changes tell where there is a discount."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gamedp.kernels import bellman
from gamedp.solvers.base import Run

__all__ = ["jacobi_sweep", "move_to_middle", "spread"]

SLICE = 1 << 20
"""States in one call of a kernel."""


def jacobi_sweep(run: Run, kernel: Callable[..., Any] | None = None) -> tuple[float, float]:
    """Sweep over all states, each from the old values; return the extremes of the signed changes.

    Those of terminal states, which are none, included.

    Parameters
    ----------
    run : Run
    kernel : callable, optional
        Called as :func:`gamedp.kernels.bellman.sweep_apart`, which is called if it is not given.
    """
    kernel = bellman.sweep_apart_jit if kernel is None else kernel
    num_states, terminals = len(run.values), len(run.problem.model.terminals)
    run.visits[0] += num_states - terminals
    lowest, highest = (0.0, 0.0) if terminals else (np.inf, -np.inf)
    new_values = np.empty_like(run.values)
    for start in range(0, num_states, SLICE):
        stop = min(start + SLICE, num_states)
        low, high = kernel(start, stop, run.rows, run.values, new_values, run.policy)
        lowest, highest = min(lowest, low), max(highest, high)
    run.values = new_values
    return lowest, highest


def spread(run: Run, lowest: float, highest: float) -> float:
    """Return how wide the interval of the true values is, where the changes tell it [1]_.

    With a discount b and the changes d of a sweep of Bellman's operator, the true values lie in
    ``v + b/(1-b) * [min d, max d]``. Infinite without a discount, or if players change places.

    References
    ----------
    .. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, theorem 6.6.3.
    """
    discount = run.rows.discount
    if discount < 1 and not run.problem.model.has_swaps:
        return (highest - lowest) * discount / (1 - discount)
    return np.inf


def move_to_middle(run: Run, lowest: float, highest: float) -> None:
    """Move the values to the middle of that interval."""
    discount = run.rows.discount
    inner = np.ones(len(run.values), np.bool_)
    inner[run.problem.model.terminals] = False
    run.values[inner] += 0.5 * (lowest + highest) * discount / (1 - discount)
