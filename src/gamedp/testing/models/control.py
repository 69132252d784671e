"""Control in the long run: a stock, a queue, a machine."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import attrs

import gamedp
from gamedp.testing.exact import exact_values
from gamedp.testing.models._parameters import between, whole

CLOSED, OPEN = 0, 1
KEEP, REPLACE = 0, 1


class Stock(NamedTuple):
    """The level: goods in stock, customers in the queue, or wear."""

    level: int


def _probabilities(values: object) -> object:
    return tuple(values) if isinstance(values, list) else values


class _LongRun:
    """Models of the long run: they start with nothing, never end, and earn on the way."""

    __slots__ = ()

    @property
    def objective(self) -> gamedp.AverageReward:
        """The objective intended for the model; discounted or for some months it also works."""
        return gamedp.AverageReward()

    def initial_state(self) -> Stock:
        return Stock(0)

    def is_terminal(self, state: Stock) -> bool:
        return False

    def payoff(self, state: Stock, player: int) -> float:
        return 0.0


@attrs.frozen
class Inventory(_LongRun):
    """Each month goods are ordered, arrive immediately, and some of the stock is sold.

    The example of M. Puterman, "Markov Decision Processes", Wiley 1994, section 3.2.2: an order
    costs 4 and 2 a piece, a piece kept for a month 1, and one sold brings 8; what is asked for
    beyond the stock is lost. For three months, what is left over counting nothing, the book
    has the values 67/16, 129/16, 194/16 and 227/16 from a stock of 0, 1, 2 and 3 (section 4.6.1).

    In the long run, `exact` solves it in rational numbers; 97/44 a month with the default numbers.

    Parameters
    ----------
    capacity : int
        The number of pieces that fit into the stock.
    demand : tuple of float
        The probabilities that 0, 1, ... pieces are asked for.
    fixed, piece, holding, price : float
        The costs of an order, of a piece of it and of a piece kept, and the price of a piece sold.

    Examples
    --------
    >>> import gamedp
    >>> solution = gamedp.solve(Inventory(), gamedp.FiniteHorizon(3), compile="never")
    >>> [solution.value(Stock(level)) * 16 for level in range(4)]
    [67.0, 129.0, 194.0, 227.0]
    """

    capacity: int = attrs.field(default=3, validator=whole(1))
    demand: tuple[float, ...] = attrs.field(default=(0.25, 0.5, 0.25), converter=_probabilities)
    fixed: float = 4.0
    piece: float = 2.0
    holding: float = 1.0
    price: float = 8.0

    def exact(self) -> Fraction:
        """Return the best average profit; feasible for some dozens of pieces."""
        values = exact_values(gamedp.compile(self, compile="never"), self.objective)
        return Fraction(values[0])

    def actions(self, state: Stock) -> Iterator[int]:
        for pieces in range(self.capacity - state.level + 1):  # noqa: UP028 - numba knows no `yield from`
            yield pieces

    def reward(self, state: Stock, action: int, player: int) -> float:
        stock = state.level + action
        profit = -self.holding * stock - self.piece * action
        if action > 0:
            profit -= self.fixed
        for asked in range(len(self.demand)):
            profit += self.price * self.demand[asked] * min(asked, stock)
        return profit

    def outcomes(self, state: Stock, action: int) -> Iterator[tuple[float, Stock]]:
        stock = state.level + action
        for asked in range(len(self.demand)):
            yield self.demand[asked], Stock(max(stock - asked, 0))

    def action_name(self, state: Stock, action: int) -> str:
        return f"order {action}"


@attrs.frozen
class Queue(_LongRun):
    """A service counter with a queue; admitting customers or not decides the profit.

    In each slot of time one customer comes with probability a, or one leaves served with
    probability b. A customer who is admitted pays a fee; each one present costs 1. P. Naor, "The
    regulation of queue size by levying tolls", Econometrica 37 (1969): it is best to admit until
    there are n, for some n. Then length i occurs in proportion to (a/b)^i up to n, and what is
    earned per slot is ``fee * a * P(length < n) - E(length)``; `exact` is the best of these.

    Parameters
    ----------
    arrival, service : float
        The probabilities a and b, together at most 1.
    fee : float
    capacity : int
        The length beyond which nobody fits in.

    Examples
    --------
    >>> Queue(arrival=0.25, service=0.5, fee=8.0, capacity=1).exact()
    Fraction(1, 1)
    """

    arrival: float = attrs.field(default=0.25, validator=between(0, 1))
    service: float = attrs.field(default=0.375, validator=between(0, 1))
    fee: float = 20.0
    capacity: int = attrs.field(default=20, validator=whole(1))

    @service.validator
    def _leaves_room(self, _attribute: object, service: float) -> None:
        if self.arrival + service > 1:
            message = f"arrival={self.arrival} and service={service} are more than 1 together."
            raise gamedp.errors.InvalidParameterError(message)

    def exact(self) -> Fraction:
        """Return the best average profit."""
        return max(self.profit(limit) for limit in range(self.capacity + 1))

    def profit(self, limit: int) -> Fraction:
        """Return the average profit if customers are admitted up to a limit."""
        ratio = Fraction(self.arrival) / Fraction(self.service)
        weights = [ratio**length for length in range(limit + 1)]
        let_in = sum(weights[:limit], Fraction(0))
        length = sum((i * weight for i, weight in enumerate(weights)), Fraction(0))
        return (Fraction(self.fee) * Fraction(self.arrival) * let_in - length) / sum(weights)

    def actions(self, state: Stock) -> Iterator[int]:
        yield CLOSED
        if state.level < self.capacity:
            yield OPEN

    def reward(self, state: Stock, action: int, player: int) -> float:
        profit = -float(state.level)
        if action == OPEN:
            profit += self.fee * self.arrival
        return profit

    def outcomes(self, state: Stock, action: int) -> Iterator[tuple[float, Stock]]:
        same = 1.0
        if action == OPEN:
            yield self.arrival, Stock(state.level + 1)
            same -= self.arrival
        if state.level > 0:
            yield self.service, Stock(state.level - 1)
            same -= self.service
        if same > 0:
            yield same, state

    def action_name(self, state: Stock, action: int) -> str:
        return "let in" if action == OPEN else "turn away"


@attrs.frozen
class MachineReplacement(_LongRun):
    """A machine wears out and earns less and less, until it is replaced.

    A new one earns `income` a day, and `wear` less with each level of wear, of which it gains one a
    day with probability p. To replace it takes a day and costs `cost`. As a level earns less the
    higher it is, it is best to replace at some level n: C. Derman, "On optimal replacement rules
    when changes of state are Markovian", in "Mathematical Optimization Techniques", 1963. A cycle
    then has 1/p days at each level below n and one day for the new machine, and the average is what
    it earns over its days; `exact` is the best of these.

    Parameters
    ----------
    worst : int
        The level at which the machine must be replaced.
    decay : float
        The probability p.
    income, wear, cost : float

    Examples
    --------
    >>> MachineReplacement(worst=1, decay=0.5, income=10.0, cost=8.0).exact()
    Fraction(4, 1)
    """

    worst: int = attrs.field(default=10, validator=whole(1))
    decay: float = attrs.field(default=0.25, validator=between(0, 1))
    income: float = 10.0
    wear: float = attrs.field(default=1.0, validator=between(0, float("inf")))
    cost: float = 20.0

    def exact(self) -> Fraction:
        """Return the best average income."""
        return max(self.average(level) for level in range(1, self.worst + 1))

    def average(self, level: int) -> Fraction:
        """Return the average income if the machine is replaced at a level."""
        days = 1 / Fraction(self.decay)
        earned = sum(Fraction(self.income) - Fraction(self.wear) * i for i in range(level)) * days
        return (earned - Fraction(self.cost)) / (level * days + 1)

    def actions(self, state: Stock) -> Iterator[int]:
        if state.level < self.worst:
            yield KEEP
        if state.level > 0:
            yield REPLACE

    def reward(self, state: Stock, action: int, player: int) -> float:
        if action == REPLACE:
            return -self.cost
        return self.income - self.wear * state.level

    def outcomes(self, state: Stock, action: int) -> Iterator[tuple[float, Stock]]:
        if action == REPLACE:
            yield 1.0, Stock(0)
        else:
            yield self.decay, Stock(state.level + 1)
            yield 1.0 - self.decay, state

    def action_name(self, state: Stock, action: int) -> str:
        return "replace" if action == REPLACE else "keep"
