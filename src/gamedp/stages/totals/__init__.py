"""What a staged game brings under a policy: the distribution of totals, and what is expected."""

from gamedp.stages.totals.backward import distributions
from gamedp.stages.totals.expected import ExpectedEnds, expected_ends
from gamedp.stages.totals.questions import distribution, end_probabilities
from gamedp.stages.totals.result import Distribution

__all__ = [
    "Distribution",
    "ExpectedEnds",
    "distribution",
    "distributions",
    "end_probabilities",
    "expected_ends",
]
