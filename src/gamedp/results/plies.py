"""How long play lasts, and which of equally good choices win soonest or lose latest."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.model.objectives import Reachability, TotalReward, draw_of
from gamedp.results.choice_values import decided
from gamedp.results.status import Guarantee, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.results.optimal_choices import OptimalChoices
    from gamedp.results.table import Table

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Integers = NDArray[np.int64]

__all__ = ["Plies", "plies_of"]

MOST_TRANSITIONS = 10_000_000
"""Of a model whose lengths are found: a second or two, and ten bytes a state and choice."""
LEAST_VISITS, VISITS_OF_EACH = 5_000_000, 30
"""Looks at transitions on cycles there is time for: in all, and of each in a large model."""

logger = logging.getLogger("gamedp")


class Plies(NamedTuple):
    """How many plies are left, and the choices that make it so many.

    Attributes
    ----------
    left : (S,) float64
        The expected number; infinite where it is not known, or play may go on for ever.
    policy : (S,) int64
        The choice of each state: the policy's own unless another one, which is as good, is better
        by its length.
    equal : (C,) bool
        Where `counts`, the choices that are as good as the policy's, and of the same length.
    counts : (S,) bool
        Where somebody is ahead, and it is known how long play lasts.
    """

    left: Floats
    policy: Integers
    equal: Flags
    counts: Flags


def plies_of(solution: Table, best: OptimalChoices) -> Plies | None:
    """Return how long play lasts if, of equally good actions, each takes the one that suits it.

    Who is ahead takes the quickest way, who is behind the longest one; with chance, by the expected
    number of plies. Player 0 is ahead where the value is more than a draw counts (see
    :func:`gamedp.model.objectives.draw_of`), behind where it is less; for a
    :class:`gamedp.Reachability`, where the target can be reached at all. Where that is open, or the
    value is a draw, the policy says what to do. A single player who earns or pays something on the
    way takes the quickest way.

    Equally good are choices that the bounds do not tell apart, and of which it is proven that they
    lose at most a billionth of the largest value. So what is played is worth what the policy's
    choices are worth, whatever rounding did; and each choice brings the end nearer.

    Returns
    -------
    Plies or None
        None where length is not what is left to choose by: with a discount, a horizon, or in the
        long run; with three players and more, who have an equilibrium and no common measure; with
        two players and rewards on the way, where a state does not say who is ahead; inside a stage,
        whose end is not the game's; where nothing is proven; and beyond `MOST_TRANSITIONS`, which
        the log says.
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
    """Return who wants the end soon (1) or late (-1), or does not care (0); None where none does.

    The result is (S,).
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
