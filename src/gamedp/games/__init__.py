"""Built-in games, written as plugins that use the public interface only.

One game, one file; each says where its rules and its known values come from.
"""

from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel

__all__ = ["Mancala", "Matches", "Nim", "Wubbel"]
