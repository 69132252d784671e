"""Expected length of play, and the equally good choices that win soonest or lose latest."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.model.objectives import Reachability, TotalReward, draw_of
from gamedp.results.choice_values import decided
from gamedp.results.status import Guarantee, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.results.base import Table
    from gamedp.results.optimal_choices import OptimalChoices
    from gamedp.runtime.arrays import Flags, Floats

    Integers = NDArray[np.int64]

MOST_TRANSITIONS = 10_000_000
"""Largest number of transitions for which lengths are computed, in a second or two."""
LEAST_VISITS, VISITS_OF_EACH = 5_000_000, 30
"""Limits on visits to transitions on cycles: in total, and for each one in a large model."""

logger = logging.getLogger("gamedp")


class Plies(NamedTuple):
    """The number of plies left, and the choices that lead to it.

    Attributes
    ----------
    left : (S,) float64
        The expected number; infinite if it is unknown, or if play may go on for ever.
    policy : (S,) int64
        The choice of each state: the policy's own, unless an equally good one has a better
        length.
    equal : (C,) bool
        Where `counts`, the choices that are as good as the policy's and have the same length.
    counts : (S,) bool
        Where one player is ahead and the length of play is known.
    """

    left: Floats
    policy: Integers
    equal: Flags
    counts: Flags


def plies_of(solution: Table, best: OptimalChoices) -> Plies | None:
    """Return the length of play if each player takes the equally good action that suits them.

    The player who is ahead takes the quickest way, the one behind the longest; with chance, by the
    expected number of plies. Player 0 is ahead where the value is more than a draw counts (see
    :func:`gamedp.model.objectives.draw_of`), behind where it is less; for a
    :class:`gamedp.Reachability`, where the target can be reached at all. If that is open, or the
    value is a draw, the policy decides. A single player who earns or pays something on the way
    takes the quickest way.

    Equally good are choices that the bounds cannot distinguish and that are proven to lose at most
    a billionth of the largest value. The choices played therefore have the value of the policy's
    choices, whatever rounding did, and each brings the end nearer.

    Returns
    -------
    Plies or None
        None where length does not break ties: with a discount, a horizon, or for the long-run
        average; with three players or more, who have an equilibrium and no common measure; with
        two players and rewards on the way, where a state does not show who is ahead; inside a
        stage, whose end is not the game's; if nothing is proven; and beyond `MOST_TRANSITIONS`,
        which is logged.
    """
    model = solution.model
    hurry = _hurry(solution)
    if hurry is None:
        return None
    if model.num_transitions > MOST_TRANSITIONS:
        logger.info(
            "with more than %s transitions it is not found how long play lasts; of equally good "
            "actions, the policy's is taken",
            f"{MOST_TRANSITIONS:,}",
        )
        return None
    from gamedp.bellman.plies import count_plies_jit  # noqa: PLC0415 - brings numba along

    structure = model.structure
    equal = best.nearly_certain()
    policy = solution.policy.copy()
    over = decided(solution)
    if over is not None:
        policy[over] = -1
    equal[policy[policy >= 0]] = True
    left = np.empty(model.num_states)
    count_plies_jit(
        structure.graph,
        model.probabilities,
        structure.order,
        structure.component_offsets,
        structure.nontrivial,
        hurry,
        max(LEAST_VISITS, VISITS_OF_EACH * model.num_transitions),
        equal,
        policy,
        left,
    )
    if over is not None:
        policy[over] = solution.policy[over]
    counts = (hurry != 0) & np.isfinite(left)
    for array in (left, policy, equal, counts):
        array.flags.writeable = False
    return Plies(left, policy, equal, counts)


def _hurry(solution: Table) -> NDArray[np.int8] | None:
    """Return where players want an early end (1), a late one (-1) or neither (0).

    The result is (S,), or None where length does not break ties, see :func:`plies_of`.
    """
    model, objective = solution.model, solution.objective
    is_total = isinstance(objective, TotalReward)
    if not (is_total or isinstance(objective, Reachability)) or solution.values.ndim > 1:
        return None
    if solution.is_part:
        return None
    if solution.status is not Status.SOLVED or solution.guarantee is not Guarantee.TWO_SIDED:
        return None
    finite = np.isfinite(solution.values)
    if is_total and model.rewards.any():
        return finite.astype(np.int8) if model.num_players == 1 else None
    draw = draw_of(objective, model) if is_total else 0.0
    ahead = (solution.lower > draw).astype(np.int8) - (solution.upper < draw).astype(np.int8)
    wants_most: Any = (model.players == 0) == (objective.optimum == "max")
    return np.where(finite, np.where(wants_most, ahead, -ahead), 0).astype(np.int8)
