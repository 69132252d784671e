"""Chomp: two players in turn bite pieces off a bar of chocolate, whose first piece is poisoned.

A bite takes a piece and all that are below it and to its right. Whoever takes the poisoned piece,
at the top left, loses. The rules are David Gale's ("A curious Nim-type game", American Mathematical
Monthly 81, 1974), who also showed that whoever begins can win on every board but the smallest. With
two rows, a position is lost exactly if the second row is one piece shorter than the first.
"""

from typing import NamedTuple

import attrs

import gamedp

__all__ = ["Bar", "Chomp", "two_rows_winning"]


class Bar(NamedTuple):
    """What is left: who is to bite, and how many pieces each row has, the longest first."""

    player: int
    rows: tuple[int, ...]


@attrs.frozen
class Chomp:
    """Chomp on a bar of so many rows and columns.

    An action is ``row * columns + column`` of the piece bitten, both from 0.
    """

    rows: int = attrs.field(default=2, validator=attrs.validators.ge(1))
    columns: int = attrs.field(default=7, validator=attrs.validators.ge(1))

    num_players = 2
    acyclic = True

    def initial_state(self):
        return Bar(0, (self.columns,) * self.rows)

    def is_terminal(self, state):
        return state.rows[0] == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        for row in range(len(state.rows)):
            for column in range(state.rows[row]):
                yield row * self.columns + column

    def outcomes(self, state, action):
        rows = state.rows
        for row in range(action // self.columns, len(rows)):
            rows = gamedp.with_item(rows, row, min(rows[row], action % self.columns))
        yield 1.0, Bar(1 - state.player, rows)

    def payoff(self, state, player):
        return 1.0 if player == state.player else -1.0

    def canonical(self, state):
        return Bar(0, state.rows), state.player == 1

    def action_name(self, state, action):
        return f"bite at row {action // self.columns + 1}, column {action % self.columns + 1}"

    def view(self, state):
        width = self.columns
        rows = [[column < pieces for column in range(width)] for pieces in state.rows]
        cells = [[int(piece) for piece in row] for row in rows]
        cells[0][0] *= 2  # the poisoned piece
        spots = {action: divmod(action, width) for action in self.actions(state)}
        return gamedp.views.Grid(cells, symbols=("", "▢", "☠"), spots=spots)

    def render(self, state):
        return "\n".join("▢" * pieces for pieces in state.rows if pieces)


def two_rows_winning(first, second):
    """Say whether the player to move wins a bar with two rows, by the closed form."""
    return first - second != 1
