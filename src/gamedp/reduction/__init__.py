"""Problems made proper: targets, end components and infinite totals dealt with once, for all."""

from gamedp.reduction.reduce import UndefinedTotalError, needs_reduction, reduce
from gamedp.reduction.reduction import Reduction

__all__ = ["Reduction", "UndefinedTotalError", "needs_reduction", "reduce"]
