"""Mancala: sow the stones of a pit around the board, and capture what you can.

The rules are those of "Eine Strategie für Mancala" (Matthias Rosin), the first part of a magazine's
course of riddles for the C 64 and C 128. Each player has a row of pits and, to its right, a kalah.
A move takes all stones out of one of the own pits and sows them one by one anticlockwise: into
the own pits that follow, into the own kalah, into the opponent's pits, and round again; only the
opponent's kalah is left out. It may go on as a chain, and end with a capture. The player
with more in their kalah at the end wins by the difference. :class:`Mancala` has all the rules.

Points that the article leaves open are settled there; every other reading is a parameter. Some
related games are available, too: :meth:`Mancala.kalah` is the Kalah sold since the 1950s, and the
article's idea of "Triancala" for three is ``Mancala(players=3)``.

Known values, by perfect play under the default reading: six pits with one, two and three stones
each are draws. The article says that strategies are known for up to three stones that guarantee a
win; there is none.
"""

from gamedp.games.mancala.board import Board, MancalaState
from gamedp.games.mancala.rules import Mancala

__all__ = ["Board", "Mancala", "MancalaState"]
