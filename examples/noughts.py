"""Noughts and crosses: the rules as one class in one file, which every command takes.

Run it with ``python examples/noughts.py``, play against it with
``gamedp play examples/noughts.py:NoughtsAndCrosses``, or solve, query and explain it in the same
way.
"""

from typing import NamedTuple

import attrs

import gamedp

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class State(NamedTuple):
    player: int
    cells: tuple[int, ...]  # 0 empty, 1 a cross of player 0, 2 a nought of player 1


@gamedp.helper
def has_three(cells, mark):
    for a, b, c in LINES:
        if cells[a] == mark and cells[b] == mark and cells[c] == mark:
            return True
    return False


@attrs.frozen
class NoughtsAndCrosses:
    num_players = 2

    def initial_state(self):
        return State(0, (0,) * 9)

    def player(self, state):
        return state.player

    def is_terminal(self, state):
        return min(state.cells) > 0 or has_three(state.cells, 2 - state.player)

    def actions(self, state):
        for cell in range(9):
            if state.cells[cell] == 0:
                yield cell

    def outcomes(self, state, action):
        cells = gamedp.with_item(state.cells, action, state.player + 1)
        yield 1.0, State(1 - state.player, cells)

    def payoff(self, state, player):
        if not has_three(state.cells, 2 - state.player):
            return 0.0
        return -1.0 if player == state.player else 1.0  # who has just moved has won

    def action_name(self, state, action):
        return "abc"[action % 3] + "321"[action // 3]

    def view(self, state):
        rows = [state.cells[3 * row : 3 * row + 3] for row in range(3)]
        free = () if self.is_terminal(state) else self.actions(state)
        spots = {cell: divmod(cell, 3) for cell in free}
        names = {"row_names": ("3", "2", "1"), "column_names": ("a", "b", "c")}
        return gamedp.views.Grid(rows, symbols=(" ", "x", "o"), spots=spots, **names)

    def render(self, state):
        marks = [".xo"[cell] for cell in state.cells]
        rows = (f"{3 - row} {' '.join(marks[3 * row : 3 * row + 3])}" for row in range(3))
        return "\n".join([*rows, "  a b c"])


if __name__ == "__main__":
    game = NoughtsAndCrosses()
    solution = gamedp.solve(game)
    print(f"{solution.model.num_states:,} positions; the game is worth {solution.value():g}.")

    # After a cross in a corner, only one answer does not lose.
    [(_, state)] = game.outcomes(game.initial_state(), 0)
    print(game.render(state))
    answers = [game.action_name(state, action) for action in solution.best_actions(state)]
    print("The only answer:", *answers)
