"""Reduction to proper problems: targets, end components and infinite totals, for all solvers."""

from gamedp.reduction.gains import OutOfTimeError, never
from gamedp.reduction.reduce import UndefinedTotalError, needs_reduction, reduce
from gamedp.reduction.reduction import Reduction, in_order

__all__ = [
    "OutOfTimeError",
    "Reduction",
    "UndefinedTotalError",
    "in_order",
    "needs_reduction",
    "never",
    "reduce",
]
