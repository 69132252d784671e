"""How the totals of a staged game are distributed under a policy: more than their mean."""

from gamedp.totals.questions import distribution, end_probabilities
from gamedp.totals.result import Distribution

__all__ = ["Distribution", "distribution", "end_probabilities"]
