"""Staged games for tests: Wubbel's turns, and one that has everything a staged game may have."""

from collections.abc import Iterator
from typing import NamedTuple

import attrs

from gamedp.games.wubbel import ROLL, SAVE


class Roll(NamedTuple):
    """A turn of Wubbel so far; it is over when saved, or with `turn` 0 when busted."""

    turn: int
    over: bool


@attrs.frozen
class WubbelTurn:
    """One turn, seen by whoever plays it; nobody needs more than `goal` points."""

    goal: int = 50

    def initial_state(self) -> Roll:
        return Roll(-1, False)

    def is_terminal(self, state: Roll) -> bool:
        return state.over

    def actions(self, state: Roll) -> Iterator[int]:
        if state.turn < self.goal:
            yield ROLL
        if state.turn > 0:
            yield SAVE

    def outcomes(self, state: Roll, action: int) -> Iterator[tuple[float, Roll]]:
        if action == SAVE:
            yield 1.0, Roll(state.turn, True)
        else:
            yield 1 / 6, Roll(0, True)
            for face in range(1, 6):
                yield 1 / 6, Roll(min(max(state.turn, 0) + face, self.goal), False)

    def payoff(self, state: Roll, player: int) -> float:
        return float(state.turn)


class Scores(NamedTuple):
    """Who is to move, and the safe points of that player and of the other one."""

    player: int
    own: int
    opponent: int


@attrs.frozen
class StagedWubbel:
    """Wubbel by its turns; two contexts lead to each other when both players bust."""

    goal: int = 50

    num_players = 2
    constant_sum = 1.0

    def stage(self) -> WubbelTurn:
        return WubbelTurn(self.goal)

    def box(self) -> dict[str, tuple[int, int]]:
        return {"player": (0, 1), "own": (0, self.goal - 1), "opponent": (0, self.goal)}

    def initial_state(self) -> Scores:
        return Scores(0, 0, 0)

    def is_terminal(self, context: Scores) -> bool:
        return context.opponent >= self.goal

    def payoff(self, context: Scores, player: int) -> float:
        return 0.0 if player == context.player else 1.0

    def following(self, context: Scores, end: Roll) -> Scores:
        reached = min(context.own + end.turn, self.goal)
        return Scores(1 - context.player, context.opponent, reached)

    def canonical(self, context: Scores) -> tuple[Scores, bool]:
        return Scores(0, context.own, context.opponent), context.player == 1

    def tier(self, context: Scores) -> int:
        return -context.own - context.opponent


class Walk(NamedTuple):
    """Where a traveller is within a day, who moves next, and whether the last move was a rest."""

    place: int
    mover: int
    step: int
    rested: bool


@attrs.frozen
class Day:
    """Two movers and chance push a traveller along, at a price."""

    num_players = 2

    def initial_state(self) -> Walk:
        return Walk(2, 0, 0, False)

    def is_terminal(self, state: Walk) -> bool:
        return state.step == 3

    def player(self, state: Walk) -> int:
        return state.mover

    def actions(self, state: Walk) -> Iterator[int]:
        yield 0
        yield 1
        if state.place == 2:
            yield 2

    def outcomes(self, state: Walk, action: int) -> Iterator[tuple[float, Walk]]:
        mover, step = 1 - state.mover, state.step + 1
        if action == 2:
            yield 1.0, Walk(2, mover, step, True)
        else:
            way = 2 * action - 1
            yield 0.75, Walk(state.place + way, mover, step, False)
            yield 0.25, Walk(state.place, mover, step, False)

    def payoff(self, state: Walk, player: int) -> float:
        return float(state.place) * (1 - 2 * player)

    def reward(self, state: Walk, action: int, player: int) -> float:
        return (0.5 - action * 0.25) * (1 - 2 * player)


class Date(NamedTuple):
    """How many days are left, and how much luck has been used."""

    left: int
    luck: int


@attrs.frozen
class Journey:
    """Days that all look alike; late ones forbid some ends, and a bad end may cost the day."""

    days: int = 3
    again: bool = True

    num_players = 2

    def stage(self) -> Day:
        return Day()

    def box(self) -> dict[str, tuple[int, int]]:
        return {"left": (0, self.days), "luck": (0, 1)}

    def initial_state(self) -> list[tuple[float, Date]]:
        return [(0.25, Date(self.days, 0)), (0.75, Date(self.days, 1))]

    def is_terminal(self, context: Date) -> bool:
        return context.left == 0

    def payoff(self, context: Date, player: int) -> float:
        return (3.0 - 2.0 * context.luck) * (1 - 2 * player)

    def allows(self, context: Date, end: Walk) -> bool:
        return context.left > 1 or context.luck == 0 or not end.rested

    def following(self, context: Date, end: Walk) -> Date:
        if self.again and end.place == 0:
            return Date(context.left, 1 - context.luck)
        return Date(context.left - 1, int(end.place > 2))

    def reward(self, context: Date, end: Walk, player: int) -> float:
        return (end.place - 0.5 * context.luck) * (1 - 2 * player)

    def tier(self, context: Date) -> int:
        return context.left


class Purse(NamedTuple):
    """How many rounds are left, and which debts have been paid: one bit each."""

    left: int
    paid: int


class Toss(NamedTuple):
    """Coins that show heads so far, coins still to fall, and the debt that is paid; -1 if none."""

    heads: int
    falling: int
    debt: int


@attrs.frozen
class Tosses:
    """Toss three coins, one by one, then choose which debt they pay off."""

    def initial_state(self) -> Toss:
        return Toss(0, 3, -1)

    def is_terminal(self, state: Toss) -> bool:
        return state.debt >= 0

    def actions(self, state: Toss) -> Iterator[int]:
        if state.falling > 0:
            yield -1
        else:
            for debt in range(3):  # noqa: UP028 - numba knows no `yield from`
                yield debt

    def outcomes(self, state: Toss, action: int) -> Iterator[tuple[float, Toss]]:
        if state.falling > 0:
            yield 0.4, Toss(state.heads + 1, state.falling - 1, -1)
            yield 0.6, Toss(state.heads, state.falling - 1, -1)
        else:
            yield 1.0, Toss(state.heads, 0, action)

    def payoff(self, state: Toss, player: int) -> float:
        return 0.0

    def reward(self, state: Toss, action: int, player: int) -> float:
        return -0.125 if action == 2 else 0.0


@attrs.frozen
class Debts:
    """Three debts, each to be paid once in three rounds: all that can be had are losses."""

    def stage(self) -> Tosses:
        return Tosses()

    def box(self) -> dict[str, tuple[int, int]]:
        return {"left": (0, 3), "paid": (0, 7)}

    def initial_state(self) -> Purse:
        return Purse(3, 0)

    def is_state(self, context: Purse) -> bool:
        paid = context.paid
        return (paid & 1) + (paid >> 1 & 1) + (paid >> 2) == 3 - context.left

    def is_terminal(self, context: Purse) -> bool:
        return context.left == 0

    def payoff(self, context: Purse, player: int) -> float:
        return -100.0

    def allows(self, context: Purse, end: Toss) -> bool:
        return (context.paid >> end.debt) & 1 == 0

    def following(self, context: Purse, end: Toss) -> Purse:
        return Purse(context.left - 1, context.paid | (1 << end.debt))

    def reward(self, context: Purse, end: Toss, player: int) -> float:
        return -float((3 - end.heads) * (end.debt + 1))

    def tier(self, context: Purse) -> int:
        return context.left
