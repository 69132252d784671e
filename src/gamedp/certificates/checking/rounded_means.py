"""Means of bounds in many columns together, rounded down.

A block has a row for each state, and a column for each context of a stage, or for each player. For
k outcomes and u = 2**-53, each product passes k roundings at most until it is in the sum, so that
the sum is off by k u B, where B is the sum of the absolute products, up to terms of the second
order [1]_; and by rho B more if each probability may be off by rho times itself. Two more u B pay
for those terms, for the rounding of B, and for the subtraction of the slack itself.

An outcome without an alternative is sure, and its bound is taken as it is.

References
----------
.. [1] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, chapter 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.certificates.checking.choice_values import TINY, UNIT, two_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.certificates.checking.choice_values import Rows

    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["Group", "groups_of", "means_below", "sums_below"]


@attrs.frozen(eq=False)
class Group:
    """Some choices that have equally many outcomes: m of them, with k outcomes each.

    Attributes
    ----------
    places : (m,)
        Which of the choices they are.
    successors, probabilities : (k, m)
    slack : (m,)
        The error bound of a mean, as a part of the sum of the absolute products.
    """

    places: Integers
    successors: Integers
    probabilities: Floats
    slack: Floats


def groups_of(rows: Rows, chosen: Integers | None = None) -> list[Group]:
    """Sort choices by their number of outcomes.

    Parameters
    ----------
    rows : Rows
    chosen : (c,), optional
        Which of their choices; all if not given. The groups' places are places in this list.
    """
    chosen = np.arange(len(rows.counts)) if chosen is None else chosen
    counts, starts = rows.counts[chosen], rows.starts[chosen]
    groups = []
    for count in np.unique(counts).tolist():
        places = np.flatnonzero(counts == count)
        transitions = starts[places] + np.arange(count)[:, None]
        slack = ((count + 2) * UNIT + rows.radius[chosen[places]]) * (1 + 2.0**-20)
        groups.append(
            Group(places, rows.successors[transitions], rows.probabilities[transitions], slack)
        )
    return groups


def means_below(groups: list[Group], block: Floats) -> Floats:
    """Return the least values of choices, by the bounds of their successors.

    Parameters
    ----------
    groups : list of Group
    block : (S, n)
        The bounds: NaN where there is no way to go on, minus infinity where nothing is known.

    Returns
    -------
    (c, n)
        One row for each choice of the groups.
    """
    means = np.empty((sum(len(group.places) for group in groups), block.shape[1]))
    for group in groups:
        count = len(group.successors)
        if count == 1:
            means[group.places] = block[group.successors[0]]
            continue
        shape = (len(group.places), block.shape[1])
        total, size = np.zeros(shape), np.zeros(shape)
        for successors, probabilities in zip(group.successors, group.probabilities, strict=True):
            part = block[successors]
            part *= probabilities[:, None]
            total += part
            size += np.abs(part, out=part)
        size *= group.slack[:, None]
        size += count * TINY
        means[group.places] = np.subtract(total, size, out=total)
    return means


def sums_below(one: Floats, other: Floats) -> Floats:
    """Return sums, rounded down where they are rounded."""
    total, lost = two_sum(one, other)
    return np.where(lost < 0, np.nextafter(total, -np.inf), total)
