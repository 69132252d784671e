"""How often each state of a Markov chain is visited, between proven bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.runtime.floats import TINY, UNIT, UPWARD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Floats = NDArray[np.float64]

__all__ = ["visits"]


def visits(chain: Model, longest: Floats) -> tuple[Floats, Floats]:
    """Return bounds of the expected number of visits of each state.

    They solve ``x = p + P' x`` for where play begins, p, and the probabilities P [1]_. For any x,
    what the equation misses is r = p + P' x - x, and the true numbers differ from x by
    ``inv(I - P') r``. The columns of this inverse sum to the expected lengths of play, so that all
    differences together are at most the sum of ``|r| * length``.

    Parameters
    ----------
    chain : Model
        One choice in each state; play surely ends.
    longest : (S,)
        No less than how many states play is expected to visit from each one, itself among them;
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

    size = chain.num_states
    begin = np.zeros(size)
    probabilities = np.abs(chain.initial_probabilities)
    np.add.at(begin, chain.initial_states, probabilities / probabilities.sum())
    owners = np.repeat(np.flatnonzero(~chain.is_terminal), np.diff(chain.transition_offsets))
    moves = scipy.sparse.csr_array(
        (np.abs(chain.probabilities), (chain.successors, owners)), shape=(size, size)
    )
    system = scipy.sparse.eye_array(size, format="csc") - moves.tocsc()
    found = np.maximum(scipy.sparse.linalg.spsolve(system, begin), 0.0)
    for _ in range(2):  # what was lost by rounding is found from what is missed
        missed = begin + moves @ found - found
        found = np.maximum(found + scipy.sparse.linalg.spsolve(system, missed), 0.0)
    missed = begin + moves @ found - found
    entries = np.diff(moves.indptr) + len(probabilities) + 8
    rounding = entries * UNIT * (begin + moves @ found + found) + TINY
    whole = np.sum((np.abs(missed) + rounding) * (longest + 1.0))
    error = float(whole * (1 + size * UNIT) * UPWARD)
    return np.maximum(found - error, 0.0), found + error
