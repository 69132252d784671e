"""Results of a staged game under a policy: distributions of totals, and expected numbers."""

from gamedp.stages.totals.questions import (
    ExpectedEnds,
    distribution,
    distributions,
    end_probabilities,
    expected_ends,
)
from gamedp.stages.totals.result import Distribution

__all__ = [
    "Distribution",
    "ExpectedEnds",
    "distribution",
    "distributions",
    "end_probabilities",
    "expected_ends",
]
