"""Problems made proper: targets, end components and infinite totals dealt with once, for all."""

from gamedp.reduction.reduce import needs_reduction, reduce
from gamedp.reduction.reduction import Reduction

__all__ = ["Reduction", "needs_reduction", "reduce"]
