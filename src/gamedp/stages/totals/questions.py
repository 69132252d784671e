"""Distributions of a staged game under a policy: of totals, and of the ends of a stage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.results.status import Guarantee
from gamedp.runtime.floats import UNIT
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.forward import ForwardPass
from gamedp.stages.totals.result import Distribution

if TYPE_CHECKING:
    from gamedp.stages.model import StagedModel
    from gamedp.stages.totals.forward import Policy

__all__ = ["distribution", "end_probabilities"]


def distribution(
    solution: StagedSolution | StagedModel,
    context: Any = None,
    *,
    policy: Policy | None = None,
    counting: Any = None,
) -> Distribution:
    """Return the distribution of player 0's total: all rewards, and the payoff at the end.

    Contexts are taken by their ranks, from the highest on: for each that is reached, play is
    followed through the stage to its ends, and its totals are passed on to the contexts after them.
    Only sums and products of positive numbers occur, so the error is relative, and small [1]_,
    but for what is smaller than 1e-300: see :class:`Distribution`. If the solution has proven
    bounds, the mean of its own policy is checked against them.

    Parameters
    ----------
    solution : StagedSolution or StagedModel
        The mover takes the first best choice by rounded numbers: where several are equally good,
        it may be another one than :meth:`StagedSolution.inside` takes, whose sums are rounded
        otherwise. A model will do if there is a `policy`.
    context : optional
        Where play begins; at the start if not given.
    policy : callable, optional
        ``policy(context, state) -> action``, to be followed instead. It is called in every state of
        the stage that is reached with more than one choice, with the context's representative.
    counting : optional
        A staged game with the same stage and the same contexts, whose rewards and payoffs are
        counted instead of the solution's own: for the points of those who play for something else.

    Raises
    ------
    UnsupportedProblemError
        If a total is not a whole number, or from 2**53 on; if totals lie too far apart; or if a
        context leads to one of the same rank.
    UnknownStateError
        If there is no such context.
    InvalidParameterError
        If a model comes without a policy, or `counting` leads elsewhere.
    InvalidModelError
        If the policy takes an invalid choice, or the mean is not the solution's value.

    References
    ----------
    .. [1] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, section 4.2.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> points = gamedp.stages.distribution(gamedp.solve(Kniffel(dice=2, faces=2), tolerance=1e-9))
    >>> points.quantile(0.005), round(points.at_least(85), 6)
    (84, 0.993732)
    """
    forward_pass = ForwardPass(solution, policy, counting)
    result = forward_pass.walk(context)
    if policy is None and counting is None and isinstance(solution, StagedSolution):
        _check_mean(solution, context, result)
    return result


def _check_mean(solution: StagedSolution, context: Any, result: Distribution) -> None:
    """Compare the mean with the value.

    The choices are best for values that are off by the solution's error, which sums up the rounding
    of all sweeps to come. Choosing by rounded numbers costs at most twice as much again.
    """
    low, high = solution.bounds(context)
    if solution.guarantee is not Guarantee.TWO_SIDED or high - low == math.inf:
        return
    value = solution.value(context)
    size = max(abs(value), result.expectation(abs))
    allowed = 2 * (high - low) + result.mean_error + 16 * UNIT * size
    if not abs(result.mean - value) <= allowed:
        message = (
            f"the distribution has the mean {result.mean!r}, and the solution the value {value!r}: "
            "the rules of the game must not change, nor depend on anything but the state."
        )
        raise InvalidModelError(message)


def end_probabilities(
    solution: StagedSolution | StagedModel, context: Any, *, policy: Policy | None = None
) -> dict[Any, float]:
    """Return the probability of each end of the stage when it is played in `context`.

    Parameters and errors are those of :func:`distribution`, but a policy is called with `context`
    itself. Ends of probability zero are left out.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel, Sheet
    >>> game = Kniffel(dice=1, faces=2, throws=1)
    >>> only_the_ones = Sheet(upper=0, boxes=game.all_boxes - 1, bonus=0)
    >>> ends = gamedp.stages.end_probabilities(gamedp.solve(game, tolerance=1e-9), only_the_ones)
    >>> sorted((end.points, probability) for end, probability in ends.items())
    [(0, 0.5), (1, 0.5)]
    """
    forward_pass = ForwardPass(solution, policy, None)
    _, swapped = forward_pass.model.index(context)
    codes = np.array([forward_pass.model.code(context)])
    onward = forward_pass.model.sweeper.follow(codes)
    if swapped:  # as the stage's players see it
        onward = attrs.evolve(onward, swaps=~onward.swaps, rewards=-onward.rewards)
    if onward.payoffs[0] == onward.payoffs[0]:
        message = f"the game is over in {shown(context)}: there is nothing to play inside."
        raise UnknownStateError(message)
    probabilities = forward_pass.probabilities(codes, onward)[0]
    result: dict[Any, float] = {}
    for node, probability in zip(
        forward_pass.unfolded.end_of_node.tolist(), probabilities.tolist(), strict=True
    ):
        if probability > 0:
            end = forward_pass.model.stage.state(int(forward_pass.model.stage.terminals[node]))
            result[end] = result.get(end, 0.0) + probability
    return result
