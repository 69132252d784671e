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

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
