from .game import (
    Rules as Rules,
    StagedRules as StagedRules,
)
from .ranking import (
    binomial as binomial,
    rank_distribution as rank_distribution,
    unrank_distribution as unrank_distribution,
)
