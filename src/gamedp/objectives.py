"""What a solver is to compute: the objectives."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from gamedp.errors import InvalidParameterError

__all__ = ["Discounted", "FiniteHorizon", "Objective", "Optimum", "TotalReward"]

Optimum: TypeAlias = Literal["max", "min"]


def _is_optimum(_instance: object, _attribute: object, value: str) -> None:
    if value not in ("max", "min"):
        message = f'optimum is {value!r}; it must be "max" or "min" (what player 0 wants).'
        raise InvalidParameterError(message)


def _is_discount(_instance: object, _attribute: object, value: float) -> None:
    if not 0 <= value < 1:
        message = (
            f"discount is {value!r}; it must be at least 0 and below 1. For 1 use TotalReward."
        )
        raise InvalidParameterError(message)


def _is_horizon(_instance: object, _attribute: object, value: int) -> None:
    if value < 0:
        message = f"horizon is {value!r}; it is a number of steps and cannot be negative."
        raise InvalidParameterError(message)


@attrs.frozen
class TotalReward:
    """The expected sum of all rewards and the payoff at the end; a winning probability is one.

    Play that never ends, and earns nothing on the way, has the sum 0. If the payoffs of two players
    add up to another constant, it would be lost for one of them, and who that is is for the rules
    to say: :class:`gamedp.Retrograde` then shares the constant equally, or counts such play as its
    option `draw` says. Other solvers prove nothing where play may go on for ever.

    Parameters
    ----------
    optimum : {"max", "min"}
        What player 0 wants. A second player wants the opposite.
    """

    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)


@attrs.frozen
class Discounted:
    """The expected sum of rewards, and of the payoff at the end, each step counting less.

    Parameters
    ----------
    discount : float
        What the value one step later counts; ``0 <= discount < 1``.
    optimum : {"max", "min"}
        What player 0 wants.
    """

    discount: float = attrs.field(converter=float, validator=_is_discount)
    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)


@attrs.frozen
class FiniteHorizon:
    """The expected sum of rewards over a number of steps; the best action depends on the time.

    A payoff counts if the game ends within the horizon.

    Parameters
    ----------
    horizon : int
        Number of steps.
    optimum : {"max", "min"}
        What player 0 wants.
    """

    horizon: int = attrs.field(converter=int, validator=_is_horizon)
    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)


Objective: TypeAlias = TotalReward | Discounted | FiniteHorizon
