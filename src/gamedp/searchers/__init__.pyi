from .alpha_beta import AlphaBeta as AlphaBeta
from .expectiminimax import Expectiminimax as Expectiminimax
from .max_n import (
    MaxN as MaxN,
    MaxNAction as MaxNAction,
    MaxNResult as MaxNResult,
)
from .minimax import Minimax as Minimax
from .perft import (
    Perft as Perft,
    perft as perft,
)
from .proof_number import ProofNumberSearch as ProofNumberSearch
