"""Exact values where play may go on for ever, by enumeration of all policies of small models.

Memoryless deterministic policies suffice for reaching a target and for totals of endless play that
surely earns or loses [1]_, for one player and two opponents; so the best of them has the value.
They do not where a target may be put off while something is gained. Nothing here knows of end
components, attractors or any other shortcut that a solver takes.

Endless play that earns and loses in turn, and never more than some amount, has no total: its sums
go up and down. It is read once as the least and once as the most that they come back to. Where
values are the same by both readings, nobody plays like that, and they are right by any.

References
----------
.. [1] J. Filar, K. Vrieze, "Competitive Markov Decision Processes", Springer 1997.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import gamedp

__all__ = ["Missed", "Number", "best_of_all"]

Number: TypeAlias = Fraction | float
"""A rational number, or an infinite one."""

Missed: TypeAlias = Literal["nothing", "infinite", "sum"]
"""The value of play that never reaches an end."""

Chain: TypeAlias = list[tuple[Fraction, tuple[tuple[int, Fraction], ...]] | None]
"""For each state its reward and the (state, probability) pairs that follow; None for ends."""

MAX_POLICY_PAIRS = 20_000
"""Largest number of pairs of policies."""


def best_of_all(
    chains: list[list[tuple[Fraction, tuple[tuple[int, Fraction], ...]]]],
    maximise: list[bool],
    known: list[Number | None],
    missed: Missed,
    evaluate: Callable[[Chain, list[Number | None]], list[Number]],
) -> list[Number]:
    """Return the most that one player can force against every policy of the other.

    Parameters
    ----------
    chains
        The choices of each state: what they earn, and (state, probability) pairs. None for ends.
    maximise
        Whether the mover of a state wants the most.
    known
        The values of the ends, else None.
    missed
        The value of play that never reaches an end.
    evaluate
        Solves a linear system: the values of a chain in which ends are surely reached.

    Raises
    ------
    UnsupportedProblemError
        If there are too many policies, or the total of one is undefined.
    """
    pairs = math.prod(max(1, len(choices)) for choices in chains)
    if pairs > MAX_POLICY_PAIRS:
        message = (
            f"exact values compare all policies; these are {pairs:,}, more than "
            f"{MAX_POLICY_PAIRS:,}."
        )
        raise gamedp.UnsupportedProblemError(message)
    readings: list[list[Number]] = []
    for reading in (max, min):
        met: list[int] = []
        readings.append(_best(chains, maximise, known, missed, evaluate, reading, met))
        if not met:
            return readings[0]
    for state, (least, most) in enumerate(zip(*readings, strict=True)):
        if least != most:
            message = (
                f"sums that go up and down for ever may be the best from state {state}: they have "
                "no total."
            )
            raise gamedp.UnsupportedProblemError(message)
    return readings[0]


def _best(
    chains: list[list[Any]],
    maximise: list[bool],
    known: list[Number | None],
    missed: Missed,
    evaluate: Callable[[Chain, list[Number | None]], list[Number]],
    reading: Callable[[Iterable[Fraction]], Fraction],
    met: list[int],
) -> list[Number]:
    """Return the same for one reading of sums that go up and down; note where they occur."""
    best: list[Number] | None = None
    for first in _policies(chains, maximise, True):
        worst: list[Number] | None = None
        for second in _policies(chains, maximise, False):
            places = [a if most else b for a, b, most in zip(first, second, maximise, strict=True)]
            chain: Chain = [
                choices[place] if choices else None
                for choices, place in zip(chains, places, strict=True)
            ]
            values = _values(chain, known, missed, evaluate, reading, met)
            if missed == "infinite":
                _refuse_delay(chain, chains, maximise, evaluate)
            worst = values if worst is None else list(map(min, worst, values))
        assert worst is not None  # noqa: S101 - there is always a policy
        best = worst if best is None else list(map(max, best, worst))
    assert best is not None  # noqa: S101
    return best


def _policies(chains: list[list[Any]], maximise: list[bool], most: bool) -> Iterator[list[int]]:
    """Yield the policies of one side; the other's states have a 0."""
    options = [
        range(max(1, len(choices))) if maximise[state] == most else range(1)
        for state, choices in enumerate(chains)
    ]
    return map(list, itertools.product(*options))


def _values(
    chain: Chain,
    known: list[Number | None],
    missed: Missed,
    evaluate: Callable[[Chain, list[Number | None]], list[Number]],
    reading: Callable[[Iterable[Fraction]], Fraction],
    met: list[int],
) -> list[Number]:
    """Return the values of a policy: first where play never ends, then by linear equations."""
    reach = [_reachable(chain, state) for state in range(len(chain))]
    values = list(known)
    for state, row in enumerate(chain):
        if row is None or any(chain[other] is None for other in reach[state]):
            continue
        if missed == "nothing":
            values[state] = Fraction(0)
        elif missed == "infinite":
            values[state] = math.inf
        elif all(state in reach[other] for other in reach[state]):
            heights = _heights(chain, reach[state])
            if heights is not None and any(heights.values()):
                met.append(state)
                values[state] = heights[state] - reading(heights.values())
            else:
                values[state] = _endless(chain, reach[state], evaluate)
    for state, value in enumerate(values):
        if value is None:
            values[state] = _infinite(values, reach[state], state)
    return evaluate(
        [None if v is not None else row for v, row in zip(values, chain, strict=True)], values
    )


def _infinite(values: list[Number | None], reach: set[int], state: int) -> Number | None:
    """Return the infinite value of a state, from those it may lead to; None if it is finite."""
    infinite = {values[other] for other in reach if values[other] in (math.inf, -math.inf)}
    if len(infinite) > 1:
        message = f"the total of a policy is infinite both ways from state {state}."
        raise gamedp.UnsupportedProblemError(message)
    return infinite.pop() if infinite else None


def _refuse_delay(
    chain: Chain,
    chains: list[list[Any]],
    maximise: list[bool],
    evaluate: Callable[[Chain, list[Number | None]], list[Number]],
) -> None:
    """Refuse values that no memoryless policy attains: losing on a cycle, and ending later."""
    for state, row in enumerate(chain):
        if row is None or row[0] >= 0:
            continue
        reach = _reachable(chain, state)
        if any(chain[other] is None or state not in _reachable(chain, other) for other in reach):
            continue
        if _heights(chain, reach) is not None:
            continue  # to go round once more lowers nothing
        may_leave = any(not maximise[other] and len(chains[other]) > 1 for other in reach)
        if may_leave and _endless(chain, reach, evaluate) < 0:
            message = (
                f"who wants the least may put the end off from state {state}, as long as that "
                "lowers the total; exact totals compare memoryless policies alone."
            )
            raise gamedp.UnsupportedProblemError(message)


def _endless(
    chain: Chain, members: set[int], evaluate: Callable[[Chain, list[Number | None]], list[Number]]
) -> Number:
    """Return the total of play that stays among some states for ever, and visits all of them."""
    rewards = [chain[state][0] for state in members]  # type: ignore[index] # none of them ends
    if not any(rewards):
        return Fraction(0)
    # What is earned from one visit of a state to the next.
    first = min(members)
    round_trip: Chain = [row if state in members else None for state, row in enumerate(chain)]
    round_trip[first] = None
    ends = [None if row is not None else Fraction(0) for row in round_trip]
    values = evaluate(round_trip, list(ends))
    reward, outcomes = chain[first]  # type: ignore[misc]
    earned = reward + sum((p * values[state] for state, p in outcomes), Fraction(0))
    if earned != 0 or min(rewards) >= 0 or max(rewards) <= 0:
        return math.inf if earned > 0 else -math.inf
    message = "exact totals are for endless play that does not earn and lose in turn for ever."
    raise gamedp.UnsupportedProblemError(message)


def _heights(chain: Chain, members: set[int]) -> dict[int, Fraction] | None:
    """Return numbers that fall with each step among some states by its reward; None without any."""
    heights = {min(members): Fraction(0)}
    left = list(heights)
    while left:
        state = left.pop()
        reward, outcomes = chain[state]  # type: ignore[misc] # none of them ends
        for successor, _ in outcomes:
            if successor not in heights:
                heights[successor] = heights[state] - reward
                left.append(successor)
            elif heights[successor] != heights[state] - reward:
                return None
    return heights


def _reachable(chain: Chain, start: int) -> set[int]:
    seen, left = {start}, [start]
    while left:
        row = chain[left.pop()]
        for successor, _ in row[1] if row is not None else ():
            if successor not in seen:
                seen.add(successor)
                left.append(successor)
    return seen
