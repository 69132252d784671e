"""The expected number of visits of each state of a Markov chain, between proven bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.enclosures import (
    Products,
    enclosed_sum,
    enclosed_sums,
    rounded_outward,
    scaled,
)
from gamedp.runtime.floats import PROBABILITY_ROUNDING, TINY, UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Floats = NDArray[np.float64]

__all__ = ["visits"]


def visits(chain: Model, longest: Floats) -> tuple[Floats, Floats]:
    """Return bounds of the expected number of visits of each state.

    They solve ``x = p + P' x`` for the initial distribution p and the probabilities P [1]_. For any
    x, the residual is r = p + P' x - x, and the true numbers differ from x by ``inv(I - P') r``.
    The columns of this inverse sum to the expected lengths of play, so that all differences
    together are at most the sum of ``|r| * length``.

    Parameters
    ----------
    chain : Model
        One choice in each state; play surely ends.
    longest : (S,)
        Upper bounds of the expected number of states visited from each state, itself included;
        terminal ones need not be counted.

    Returns
    -------
    lower, upper : (S,)

    References
    ----------
    .. [1] J. Kemeny, J. Snell, "Finite Markov Chains" (1960), theorem 3.2.4.
    """
    import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed
    import scipy.sparse.linalg  # noqa: PLC0415 - likewise

    size, lengths = chain.num_states, np.diff(chain.transition_offsets)
    weights, off = scaled(chain.initial_probabilities)
    order = np.argsort(chain.initial_states, kind="stable")
    offsets = np.searchsorted(chain.initial_states[order], np.arange(size + 1))
    ones = np.ones(len(order))
    # Of several starts none is certain, however close to 1 its probability is.
    least_off = TINY if len(order) > 1 else 0.0
    begins = enclosed_sums(offsets, weights[order], ones, ones, relative=off, absolute=least_off)
    owners = np.repeat(np.flatnonzero(~chain.is_terminal), lengths)
    moves = scipy.sparse.csr_array(
        (np.abs(chain.probabilities), (chain.successors, owners)), shape=(size, size)
    )
    # Parallel transitions have been added up.
    products = Products(moves, PROBABILITY_ROUNDING + UNIT * int(lengths.max(initial=0)))
    system = scipy.sparse.eye_array(size, format="csc") - moves.tocsc()

    def missing(visits: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the residual."""
        came = products.enclosed(visits, visits)
        terms = (
            np.column_stack([*each, -visits]).ravel() for each in zip(begins, came, strict=True)
        )
        return enclosed_sums(3 * np.arange(size + 1), np.ones(3 * size), *terms, relative=0.0)

    # A state is visited no more often than play from there is long.
    most = np.nextafter(longest + 1.0, np.inf)
    least = np.maximum(begins[0], 0.0)
    try:
        solve = scipy.sparse.linalg.splu(system).solve
        found = np.clip(solve(begins[0]), 0.0, most)
        for _ in range(2):  # what was lost by rounding is found from what is missed
            low, high = missing(found)
            found = np.clip(found + solve((low + high) / 2), 0.0, most)
    except RuntimeError:  # singular, as far as doubles can tell
        return least, most
    with np.errstate(over="ignore"):
        low, high = missing(found)
        _, error = enclosed_sum(np.maximum(-low, high), most, most, relative=0.0)
        lower, upper = rounded_outward(found, found, error)
    # What is no number comes from where play is too long for doubles.
    return np.fmax(lower, least), np.fmin(upper, most)
