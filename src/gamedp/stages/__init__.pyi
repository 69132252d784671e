from .flattened import (
    Flattened as Flattened,
    Position as Position,
)
from .induction import StageInduction as StageInduction
from .totals.backward import distributions as distributions
from .totals.expected import (
    ExpectedEnds as ExpectedEnds,
    expected_ends as expected_ends,
)
from .totals.questions import (
    distribution as distribution,
    end_probabilities as end_probabilities,
)
from .totals.result import Distribution as Distribution
