"""Problems made proper: targets, end components and infinite totals dealt with once, for all."""

from gamedp.reduction.reduce import Reduction, needs_reduction, reduce

__all__ = ["Reduction", "needs_reduction", "reduce"]
