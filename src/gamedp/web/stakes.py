"""The meaning of a value for a player: a probability to win, a result, a lead, or a sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.web.states import plain_number

if TYPE_CHECKING:
    from gamedp.policies.lengths import Remoteness
    from gamedp.results.solution import Solution
    from gamedp.rules.game import Rules

__all__ = ["stakes_of"]


def stakes_of(
    rules: Rules, solution: Solution | None = None, lengths: Remoteness | None = None
) -> dict[str, Any]:
    """Return what a game is played for, as far as its table proves it.

    Parameters
    ----------
    rules : Rules
    solution : Solution, optional
        Without one, nothing is said of the payoffs that occur.
    lengths : Remoteness, optional
        The remaining length of play.

    Returns
    -------
    dict
        ``kind``: of two players, ``"win"`` if each end is a win for one of them, so that a value is
        a probability; ``"result"`` if there are draws, halfway between the payoffs ``low`` and
        ``high``; ``"lead"`` if what one gets the other loses; else ``"sum"``. ``certain``: whether
        there is no chance. ``rewards``: whether payoffs come on the way, too; None if unknown.
    """
    is_lead = rules.num_players == 2 and rules.constant_sum == 0
    found: dict[str, Any] = {
        "kind": "lead" if is_lead else "sum",
        "low": None,
        "high": None,
        "certain": None,
        "rewards": None,
    }
    if solution is None:
        return found
    model = solution.model
    found["certain"] = bool(model.is_deterministic)
    found["rewards"] = bool(np.any(model.rewards))
    if rules.num_players != 2 or found["rewards"] or rules.constant_sum not in {0.0, 1.0}:
        return found
    low, high = rules.constant_sum - 1.0, 1.0
    if not np.isin(model.payoffs, (low, rules.constant_sum / 2, high)).all():
        return found
    ends = rules.claims_acyclic or (lengths is not None and bool(np.isfinite(lengths.upper).all()))
    if np.isin(model.payoffs, (low, high)).all() and ends:
        kind = "win"
    elif low < 0 or ends:  # endless play has the value 0: a draw, if that is halfway
        kind = "result"
    else:
        return found
    return found | {"kind": kind, "low": plain_number(low), "high": plain_number(high)}
