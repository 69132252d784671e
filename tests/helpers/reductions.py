"""What makes a problem proper, its open cases settled."""

from gamedp.reduction import Reduction, never
from gamedp.solvers.tools.prepared import Prepared


def reduction_of(problem, out_of_time=never):
    """Return the reduction, None if there is nothing to reduce, or the refusal."""
    prepared = Prepared(problem)
    prepared.decide(out_of_time)
    return prepared.reduction


def is_reduced(reduction):
    """Say whether there is a reduction."""
    return isinstance(reduction, Reduction)
