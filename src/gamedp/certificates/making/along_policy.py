"""Certificates along the solver's policy: of a helper's choices, only the policy's are used.

Where a policy keeps its bounds, but for rounding, and gets to where nothing is left to be shown,
nothing need be known of other choices of those whom a bound helps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.certificates.checking.choice_values import exactly_keeps
from gamedp.certificates.checking.directions import Ending
from gamedp.certificates.making import first_look_kernels, rank_kernels as kernels
from gamedp.certificates.making.ranks import FEWEST, NONE, Sides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.certificates.certificate import Certificate
    from gamedp.results.solution import Solution

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.int64]

__all__ = ["certified_along_policy"]

MOST_SWEEPS = 20
"""Largest number of sweeps to rank nodes, and to widen bounds, before another method is used."""


def certified_along_policy(
    solution: Solution, plain: Certificate, most_exact: int
) -> Certificate | None:
    """Return bounds that the policy keeps, widened for rounding where needed, with ranks.

    None if that takes too long, or if other choices are needed.

    Parameters
    ----------
    solution : Solution
    plain : Certificate
        Its bounds.
    most_exact : int
        States to decide in rational numbers, rather than to widen their bounds.
    """
    sides = Sides(solution.model, plain)
    if (sides.active != sides.required).any():
        return None  # what is infinite takes more than a policy
    via = np.tile(np.asarray(solution.policy, np.int64), (2, 1))
    fails = np.empty_like(sides.required)
    columns = sides.columns()
    discount = sides.directions[0].discount
    with np.errstate(all="ignore"):  # what overflows fails
        count = first_look_kernels.look_along_jit(
            sides.equation, columns, discount, sides.required, via, fails
        )
    ranks = _ranks(sides, via) if sides.ranked else None
    if sides.ranked and ranks is None:
        return None
    wider = plain
    if count and not (count <= most_exact and _keep_exactly(sides, fails)):
        bounds = _widened(sides, via, fails)
        if bounds is None:
            return None
        wider = attrs.evolve(plain, lower=bounds[0], upper=-bounds[1])
    if ranks is None:
        return wider
    return wider.with_evidence(lower_ranks=ranks[0], upper_ranks=ranks[1])


def _keep_exactly(sides: Sides, fails: Flags) -> bool:
    """Return whether nodes keep their bounds after all, in rational numbers."""
    offsets = sides.model.choice_offsets
    for number, state in np.argwhere(fails).tolist():
        direction = sides.directions[number]
        keep = (
            exactly_keeps(sides.model, direction, choice)
            for choice in range(*offsets[state : state + 2].tolist())
        )
        if not (any(keep) if sides.equation.maximise[number, state] else all(keep)):
            return False
    return True


def _widened(sides: Sides, via: Integers, fails: Flags) -> NDArray[np.float64] | None:
    """Return bounds that are lowered until they keep their inequalities; None if they do not."""
    bounds = sides.bounds.copy()
    constants = np.array([direction.constant for direction in sides.directions])
    for sweep in range(MOST_SWEEPS):
        kernels.relax_jit(
            sides.equation, sweep % 2 == 1, sides.reverse, via, sides.active, constants,
            sides.directions[0].discount, fails, bounds,
        )  # fmt: skip
        if not fails.any():
            return bounds
    return None


def _ranks(sides: Sides, via: Integers) -> Integers | None:
    """Return the ranks of the nodes by the policy; None if a node that needs one has none."""
    free = np.array([[direction.ending is Ending.FREE] for direction in sides.directions])
    ranks = np.stack([np.where(each.ranks[0] == 0, 0, NONE) for each in sides.directions])
    ranks[free[:, 0]] = NONE
    needed = sides.active & ~free & (ranks == NONE)
    content = _content(sides)
    for candidates in (needed & ~content, needed):
        waiting = int(np.count_nonzero(candidates))
        for sweep in range(MOST_SWEEPS):
            ranked = kernels.rank_along_jit(sides.equation, sweep % 2 == 1, via, candidates, ranks)
            waiting -= ranked
            if not waiting or FEWEST * ranked < waiting:
                break
        if not (needed & ~content & (ranks == NONE)).any():
            return ranks
    return None


def _content(sides: Sides) -> Flags:
    """Return the nodes that need no rank, as endless play loses nothing there; (2, S).

    Only where no choice of the whole model loses anything, or none earns.
    """
    content = np.zeros_like(sides.required)
    for number, direction in enumerate(sides.directions):
        loses = not direction.never_earns and (sides.equation.constants[number] < 0).any()
        if direction.ending is Ending.RANKED and not loses:
            content[number] = direction.bound <= direction.draw
    return content
