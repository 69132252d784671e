"""Built-in games, written as plugins that use the public interface only.

Each game is one file, which names the sources of its rules and its known values.
"""

from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel

__all__ = ["Mancala", "Matches", "Nim", "Wubbel"]
