"""The distribution of the totals of a staged game under a policy."""

from gamedp.stages.totals.questions import distribution, end_probabilities
from gamedp.stages.totals.result import Distribution

__all__ = ["Distribution", "distribution", "end_probabilities"]
