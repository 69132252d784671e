from .chain import InducedChain as InducedChain
from .evaluate import (
    Evaluation as Evaluation,
    evaluate as evaluate,
)
from .policy import Policy as Policy
