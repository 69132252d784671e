"""Games that come with gamedp: plugins like anyone's, written against the public face alone.

One game, one file; each says where its rules and its known values come from.
"""

from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel

__all__ = ["Mancala", "Matches", "Nim", "Wubbel"]
