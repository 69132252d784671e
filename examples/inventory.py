"""How many to order: a shop that sells up to four pieces a week of something that takes up room.

Ordering costs 12 for the van, and 3 a piece; a piece kept for a week costs 1; one sold brings 10.
What is best is a rule of two numbers (H. Scarf, 1960): if the stock is s or less, fill it up to S,
else order nothing.

Run it with ``python examples/inventory.py``.
"""

from typing import NamedTuple

import attrs

import gamedp

DEMAND = (0.1, 0.2, 0.3, 0.25, 0.15)  # how likely it is that 0, 1, ... pieces are asked for


class Shelf(NamedTuple):
    stock: int


@attrs.frozen
class Shop:
    room: int = 15

    def initial_state(self):
        return Shelf(0)

    def is_terminal(self, state):
        return False

    def actions(self, state):
        for pieces in range(self.room - state.stock + 1):  # noqa: UP028 - numba knows no `yield from`
            yield pieces

    def reward(self, state, action, player):
        stock = state.stock + action
        profit = -3.0 * action - 1.0 * stock
        if action > 0:
            profit -= 12.0
        for asked in range(5):
            profit += DEMAND[asked] * 10.0 * min(asked, stock)
        return profit

    def outcomes(self, state, action):
        for asked in range(5):
            yield DEMAND[asked], Shelf(max(state.stock + action - asked, 0))

    def payoff(self, state, player):
        return 0.0

    def action_name(self, state, action):
        return f"order {action}"


solution = gamedp.solve(Shop(), gamedp.AverageReward(), tolerance=1e-9)
low, high = solution.bounds()
orders = [solution.best_action(Shelf(stock)) for stock in range(16)]
last = max(stock for stock, order in enumerate(orders) if order > 0)

print("stock  order")
for stock, order in enumerate(orders):
    print(f"{stock:5}  {order or '-':>5}  {'#' * (stock + order)}")
print(f"\nWith {last} or less, fill up to {last + orders[last]}.")
print(
    f"That earns {solution.value():.6f} a week in the long run, between {low:.9f} and {high:.9f}."
)

# With a horizon of four weeks one orders less: what is left over then is worth nothing.

hasty = gamedp.solve(Shop(), gamedp.FiniteHorizon(4))
print(f"With four weeks to go and nothing in stock: order {hasty.best_action(Shelf(0))}.")
