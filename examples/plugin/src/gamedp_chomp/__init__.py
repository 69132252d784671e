"""Chomp: two players in turn bite pieces off a bar of chocolate, whose first piece is poisoned.

A bite takes a piece and all that are below it and to its right. Whoever takes the poisoned piece,
at the top left, loses. The game is Chomp, by David Gale ("A curious Nim-type game", American
Mathematical Monthly 81, 1974), who also showed that whoever begins can win on every board but the
smallest. With two rows, a position is lost exactly if the second row is one piece shorter than the
first.
"""

from typing import NamedTuple

import attrs

import gamedp

__all__ = ["Chomp", "State"]


class State(NamedTuple):
    """What is left: who is to bite, and how many pieces each row has, the longest first.

    A state holds all that matters for what follows, and cannot be changed: numbers and tuples.
    """

    player: int
    rows: tuple[int, ...]


@attrs.frozen
class Chomp:
    """Bite pieces off a bar of chocolate of so many rows and columns; the first one is poisoned.

    A bite takes a piece and all that are below it and to its right. Whoever takes the poisoned
    piece loses.
    """

    # The parameters, as `--set rows=3` gives them. A validator refuses what makes no game.
    rows: int = attrs.field(default=2, validator=attrs.validators.ge(1))
    columns: int = attrs.field(default=7, validator=attrs.validators.ge(1))

    num_players = 2
    acyclic = True  # a claim, which is checked: no state recurs; else leave it out

    def initial_state(self):
        """Return where play begins."""
        return State(0, (self.columns,) * self.rows)

    def is_terminal(self, state):
        """Return whether play is over."""
        return state.rows[0] == 0

    def player(self, state):
        """Return who is to move, 0 or 1; a game for one needs no such method."""
        return state.player

    def actions(self, state):
        """Yield what can be done, as integers: ``row * columns + column``, both from 0."""
        for row in range(len(state.rows)):
            for column in range(state.rows[row]):
                yield row * self.columns + column

    def outcomes(self, state, action):
        """Yield what an action leads to, each state with its probability: here there is one.

        With a die, there would be six: ``for face in range(1, 7): yield 1 / 6, State(...)``.
        """
        rows = state.rows
        for row in range(action // self.columns, len(rows)):
            rows = gamedp.with_item(rows, row, min(rows[row], action % self.columns))
        yield 1.0, State(1 - state.player, rows)

    def payoff(self, state, player):
        """Return what a player receives at the end; two players' payoffs add up to 0.

        What is received on the way is ``reward(state, action, player)``, which this game lacks.
        """
        return 1.0 if player == state.player else -1.0

    # All that follows is optional.

    def canonical(self, state):
        """Return the state that stands for this one, and whether the players change places in it.

        Here it does not matter who is who: player 0 is always to move, and there are half as many
        states to solve.
        """
        return State(0, state.rows), state.player == 1

    def action_name(self, state, action):
        """Return an action in words."""
        return f"bite at row {action // self.columns + 1}, column {action % self.columns + 1}"

    def view(self, state):
        """Return the board of the page in the browser, and where on it each action is played."""
        width = self.columns
        rows = [[column < pieces for column in range(width)] for pieces in state.rows]
        cells = [[int(piece) for piece in row] for row in rows]
        cells[0][0] *= 2  # the poisoned piece
        spots = {action: divmod(action, width) for action in self.actions(state)}
        return gamedp.views.Grid(cells, symbols=("", "▢", "☠"), spots=spots)

    def render(self, state):
        """Return a state in words, or as a picture of letters."""
        return "\n".join("▢" * pieces for pieces in state.rows if pieces)
