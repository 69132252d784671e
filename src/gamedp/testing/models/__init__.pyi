from .control import (
    Inventory as Inventory,
    MachineReplacement as MachineReplacement,
    Queue as Queue,
    Stock as Stock,
)
from .pig import (
    Pig as Pig,
    PigState as PigState,
)
from .random_models import random_model as random_model
from .walks import (
    Cell as Cell,
    CoinState as CoinState,
    ConsensusCoin as ConsensusCoin,
    GamblersRuin as GamblersRuin,
    Ladder as Ladder,
    Rung as Rung,
    SlipperyGrid as SlipperyGrid,
    SlowChain as SlowChain,
    Spot as Spot,
)
