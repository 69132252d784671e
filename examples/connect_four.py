"""Connect four on a small board: stones fall into columns, and four in a row win.

With four columns of four cells, 161,029 positions can be met, and best play is a draw (J. Tromp,
"John's Connect Four Playground", has both for boards of many sizes).

Run it with ``python examples/connect_four.py``, or play against it with
``gamedp play examples/connect_four.py:ConnectFour``; ``--set columns=5`` widens the board.
"""

from typing import NamedTuple

import attrs

import gamedp


class State(NamedTuple):
    player: int
    first: int  # the stones of player 0: one bit for each cell, column by column from below
    second: int  # those of player 1


@gamedp.helper
def has_four(stones, height):
    """Look for four bits at equal steps; the top one of the `height` bits of a column is free."""
    for step in (1, height - 1, height, height + 1):  # upright, falling, level, rising
        pairs = stones & (stones >> step)
        if pairs & (pairs >> (2 * step)):
            return True
    return False


@attrs.frozen
class ConnectFour:
    columns: int = 4
    rows: int = 4

    num_players = 2

    def initial_state(self):
        return State(0, 0, 0)

    def player(self, state):
        return state.player

    def is_terminal(self, state):
        taken = state.first | state.second
        return self.has_lost(state) or taken == self.all_cells()

    def has_lost(self, state):
        """Say whether the last move has made four in a row."""
        return has_four(state.first if state.player == 1 else state.second, self.rows + 1)

    def all_cells(self):
        cells = 0
        for column in range(self.columns):
            cells |= ((1 << self.rows) - 1) << (column * (self.rows + 1))
        return cells

    def actions(self, state):
        taken = state.first | state.second
        for column in range(self.columns):
            if (taken >> (column * (self.rows + 1) + self.rows - 1)) & 1 == 0:
                yield column + 1

    def outcomes(self, state, action):
        taken = state.first | state.second
        cell = (action - 1) * (self.rows + 1)
        while (taken >> cell) & 1:
            cell += 1
        if state.player == 0:
            yield 1.0, State(1, state.first | (1 << cell), state.second)
        else:
            yield 1.0, State(0, state.first, state.second | (1 << cell))

    def payoff(self, state, player):
        if not self.has_lost(state):
            return 0.0
        return -1.0 if player == state.player else 1.0

    def action_name(self, state, action):
        return f"column {action}"

    def view(self, state):
        rows, spots = [], {}
        for row in reversed(range(self.rows)):
            cells = [column * (self.rows + 1) + row for column in range(self.columns)]
            rows.append([(state.first >> n & 1) + 2 * (state.second >> n & 1) for n in cells])
        for action in () if self.is_terminal(state) else self.actions(state):
            stones = sum(row[action - 1] > 0 for row in rows)
            spots[action] = (self.rows - 1 - stones, action - 1)  # the cell into which it falls
        names = [str(column + 1) for column in range(self.columns)]
        return gamedp.views.Grid(rows, (" ", "●", "○"), column_names=names, spots=spots)

    def render(self, state):
        lines = []
        for row in reversed(range(self.rows)):
            cells = [column * (self.rows + 1) + row for column in range(self.columns)]
            marks = ["x" * (state.first >> n & 1) or ".o"[state.second >> n & 1] for n in cells]
            lines.append(" ".join(marks))
        return "\n".join([*lines, " ".join(str(column + 1) for column in range(self.columns))])


if __name__ == "__main__":
    game = ConnectFour()
    solution = gamedp.solve(game)
    print(f"{solution.model.num_states:,} positions; the game is worth {solution.value():g}.")

    # The best against the best:
    record = gamedp.play.play_game(game, [solution, solution], seed=1)
    print(game.render(record.states[-1]))
