"""Problems that are not games, and games that may not end, with exactly known answers.

Each is a class like any game. Its `objective` says what it is meant for, and `exact()` returns the
value at the start as a rational number, from a formula where there is one.

Examples
--------
>>> import gamedp
>>> from gamedp.testing.models import GamblersRuin
>>> ruin = GamblersRuin(goal=10, start=3)
>>> ruin.exact()
Fraction(3, 10)
>>> low, high = gamedp.solve(ruin, ruin.objective, compile="never").bounds()
>>> low <= ruin.exact() <= high
True
"""

from gamedp.testing.models.control import Inventory, MachineReplacement, Queue, Stock
from gamedp.testing.models.pig import Pig, PigState
from gamedp.testing.models.random_models import random_model
from gamedp.testing.models.walks import (
    Cell,
    CoinState,
    ConsensusCoin,
    GamblersRuin,
    Ladder,
    Rung,
    SlipperyGrid,
    SlowChain,
    Spot,
)

__all__ = [
    "Cell",
    "CoinState",
    "ConsensusCoin",
    "GamblersRuin",
    "Inventory",
    "Ladder",
    "MachineReplacement",
    "Pig",
    "PigState",
    "Queue",
    "Rung",
    "SlipperyGrid",
    "SlowChain",
    "Spot",
    "Stock",
    "random_model",
]
