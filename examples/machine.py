"""When to replace a machine: too early is a waste, too late as well.

A machine earns 100 a week when it is new, and 8 less with each level of wear. Each week it wears by
one level with probability 0.4, or by two with 0.1. A new one costs 300 and takes the week; from
level 10 on it must be bought.

Run it with ``python examples/machine.py``.
"""

from typing import NamedTuple

import attrs

import gamedp

KEEP, REPLACE = 0, 1


class Wear(NamedTuple):
    level: int


@attrs.frozen
class Machine:
    price: float = 300.0
    worst: int = 10

    def initial_state(self):
        return Wear(0)

    def is_terminal(self, state):
        return False

    def actions(self, state):
        if state.level < self.worst:
            yield KEEP
        if state.level > 0:
            yield REPLACE

    def reward(self, state, action, player):
        return -self.price if action == REPLACE else 100.0 - 8.0 * state.level

    def outcomes(self, state, action):
        if action == REPLACE:
            yield 1.0, Wear(0)
        else:
            yield 0.5, state
            yield 0.4, Wear(min(state.level + 1, self.worst))
            yield 0.1, Wear(min(state.level + 2, self.worst))

    def payoff(self, state, player):
        return 0.0

    def action_name(self, state, action):
        return "replace" if action == REPLACE else "keep"


print("price  replace at  a week in the long run")
for price in (100.0, 300.0, 600.0, 1200.0):
    solution = gamedp.solve(Machine(price), gamedp.AverageReward(), tolerance=1e-9)
    low, high = solution.bounds()
    at = min(level for level in range(1, 11) if solution.best_action(Wear(level)) == REPLACE)
    print(f"{price:5.0f}  {at:10}  {solution.value():9.6f}, between {low:.9f} and {high:.9f}")

# An impatient owner keeps the machine longer: next week counts only 0.9.

patient = gamedp.solve(Machine(), gamedp.AverageReward())
hasty = gamedp.solve(Machine(), gamedp.Discounted(0.9))
for name, one in (("in the long run", patient), ("at 0.9 a week", hasty)):
    words = ["replace" if one.best_action(Wear(n)) == REPLACE else "keep" for n in range(11)]
    print(f"{name:>16}: replaces from level {words.index('replace')} on")
