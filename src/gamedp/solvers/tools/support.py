"""Whether a solver supports a problem, and why not."""

from __future__ import annotations

import numpy as np

from gamedp.model.objectives import AverageReward, FiniteHorizon, has_target
from gamedp.model.problem import Problem
from gamedp.solvers.tools.facts import OpenCases, Refusal, Support, refused_draws
from gamedp.solvers.tools.prepared import Prepared

__all__ = [
    "support_by",
    "support_of_deflating",
    "support_of_fixed_points",
    "support_of_proper",
    "support_of_rationals",
]


def support_of_fixed_points(prepared: Prepared) -> Support:
    """Return the support of solvers for Bellman's equation as a fixed point: no steps, no max-n."""
    problem = prepared.problem
    if isinstance(problem.objective, FiniteHorizon):
        return Support(False, "does not support finite horizons; BackwardInduction does.")
    if isinstance(problem.objective, AverageReward):
        return Support(False, "does not support long-run averages; RelativeValueIteration does.")
    if problem.model.num_players > 2:
        return Support(False, "is for one or two players; BackwardInduction supports more.")
    found = prepared.proper
    if isinstance(found, Refusal) and (
        found.is_undefined or has_target(problem.objective) or refused_draws(problem)
    ):
        return Support(False, found.reason)
    return Support(True, is_open=isinstance(found, OpenCases))


def support_of_proper(prepared: Prepared) -> Support:
    """Return the support of solvers of fixed points that need play to end, or to be made to."""
    support = support_of_fixed_points(prepared)
    return support_by(prepared.proper) if support else support


def support_of_deflating(prepared: Prepared) -> Support:
    """Return the support of solvers of proper problems that deflate bounds of two opponents."""
    support = support_of_proper(prepared)
    if support or prepared.reduction is None:
        return support
    return support_by(prepared.reduction)


def support_by(found: object) -> Support:
    """Return the support of a solver that needs exactly what was found: yes, no, or open."""
    if isinstance(found, Refusal):
        return Support(False, found.reason)
    return Support(True, is_open=isinstance(found, OpenCases))


def support_of_averages(problem: Problem) -> Support:
    """Return whether one player makes all choices, as solvers of averages require."""
    model = problem.model
    movers = model.players[np.diff(model.choice_offsets) > 0]
    are_opponents = len(movers) > 0 and (movers != movers[0]).any()
    if model.num_players > 2 or model.has_swaps or are_opponents:
        return Support(
            False,
            "is for one player: with opponents, an end component has no single gain. Use "
            "Discounted with a discount near one, or FiniteHorizon.",
        )
    return Support(True)


def support_of_rationals(prepared: Prepared) -> Support:
    """Return the support of solvers in rational numbers, however long they take."""
    problem = prepared.problem
    if isinstance(problem.objective, AverageReward):
        return support_of_averages(problem)
    if isinstance(problem.objective, FiniteHorizon):
        return Support(problem.model.num_players <= 2, "is for one or two players.")
    return support_by(prepared.opponents)
