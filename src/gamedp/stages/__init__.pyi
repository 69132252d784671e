from .flattened import (
    Flattened as Flattened,
    Position as Position,
)
from .induction import StageInduction as StageInduction
from .totals.questions import (
    ExpectedEnds as ExpectedEnds,
    distribution as distribution,
    distributions as distributions,
    end_probabilities as end_probabilities,
    expected_ends as expected_ends,
)
from .totals.result import Distribution as Distribution
