from .game import Rules as Rules
from .ranking import (
    binomial as binomial,
    rank_distribution as rank_distribution,
    unrank_distribution as unrank_distribution,
)
from .staged import StagedRules as StagedRules
