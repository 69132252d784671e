from .chain import InducedChain as InducedChain
from .cross_table import (
    CrossTable as CrossTable,
    cross_table as cross_table,
)
from .evaluate import (
    Evaluation as Evaluation,
    evaluate as evaluate,
)
from .policy import Policy as Policy
from .response import (
    Exploitability as Exploitability,
    Response as Response,
    best_response as best_response,
    exploitability as exploitability,
)
