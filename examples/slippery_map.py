"""The way across a frozen lake with holes in it.

A step goes where it is meant to with probability 0.8, and to either side of that with 0.1 each; at
the shore one stays where one is. Whoever falls into a hole climbs out at the start. How many steps
does it take on average, and which way is best?

Run it with ``python examples/slippery_map.py``.
"""

from typing import NamedTuple

import attrs

import gamedp

LAKE = (
    "S....",
    ".O.O.",
    ".O...",
    "...O.",
    ".O..G",
)
ARROWS = "→↓←↑"
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Ice(NamedTuple):
    row: int
    column: int


@attrs.frozen
class Lake:
    holes: tuple[tuple[int, int], ...]
    size: int
    slip: float = 0.2

    def initial_state(self):
        return Ice(0, 0)

    def is_terminal(self, state):
        return state.row == self.size - 1 and state.column == self.size - 1

    def actions(self, state):
        for direction in range(4):  # noqa: UP028 - numba knows no `yield from`
            yield direction

    def reward(self, state, action, player):
        return 1.0

    def outcomes(self, state, action):
        yield 1.0 - self.slip, self.after(state, action)
        yield 0.5 * self.slip, self.after(state, (action + 1) % 4)
        yield 0.5 * self.slip, self.after(state, (action + 3) % 4)

    def after(self, state, direction):
        row = min(max(state.row + MOVES[direction][0], 0), self.size - 1)
        column = min(max(state.column + MOVES[direction][1], 0), self.size - 1)
        for hole in self.holes:
            if hole[0] == row and hole[1] == column:
                return Ice(0, 0)
        return Ice(row, column)

    def payoff(self, state, player):
        return 0.0

    def action_name(self, state, action):
        return ARROWS[action]


holes = tuple(
    (row, column)
    for row, line in enumerate(LAKE)
    for column, sign in enumerate(line)
    if sign == "O"
)
goal = Ice(4, 4)

# To go on for ever without getting there counts as infinitely long: the sum goes `until` the goal.
objective = gamedp.TotalReward("min", until=[goal])

for slip in (0.0, 0.2, 0.4):
    lake = Lake(holes, size=5, slip=slip)
    solution = gamedp.solve(lake, objective, tolerance=1e-9)
    low, high = solution.bounds()
    print(f"slip {slip}: {solution.value():.6f} steps, between {low:.9f} and {high:.9f}")
    reached = {solution.model.state(index) for index in range(solution.model.num_states)}
    for row, line in enumerate(LAKE):
        for column, sign in enumerate(line):
            here = Ice(row, column)
            known = sign != "O" and here != goal and here in reached
            print(ARROWS[solution.best_action(here)] if known else sign, end=" ")
        print()
    print()
