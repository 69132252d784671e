"""Policies of small models in rational numbers: their values, and the best of them.

Where play may go on for ever, all policies are compared. Memoryless deterministic policies suffice
for reaching a target and for totals of endless play that surely earns or loses [1]_, for one player
and two opponents; so the best of them has the value. They do not where a target may be put off
while something is gained. Nothing here uses end components, attractors or any other shortcut of a
solver.

Endless play that earns and loses in turn, and never more than some amount, has no total: its sums
go up and down. It is counted once as the least and once as the greatest number to which they
return. Where both give the same values, nobody plays like that, and the values are right.

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

import attrs

import gamedp


@attrs.frozen
class Row:
    """A choice: its reward, and the states that follow with their probabilities."""

    reward: Fraction
    outcomes: tuple[tuple[int, Fraction], ...]


@attrs.frozen(eq=False)
class RationalGame:
    """A model in rational numbers: each state's choices, whose mover may want the most.

    Attributes
    ----------
    rows
        The choices of each state; none for ends.
    maximise
        Whether the mover of a state wants the most.
    known
        The values of the ends, else None.
    """

    rows: list[list[Row]]
    maximise: list[bool]
    known: list[Any]

    def some(self, count: int) -> RationalGame:
        """Return the first states alone, from which none leads to others."""
        return RationalGame(self.rows[:count], self.maximise[:count], self.known[:count])

    def improve(self, policy: list[int], values: list[Fraction], who: list[bool]) -> bool:
        """Change a policy where another choice is better; return whether it changed."""
        changed = False
        for state, choices in enumerate(self.rows):
            if not who[state]:
                continue
            for number, row in enumerate(choices):
                result = choice_value(row, values)
                present = choice_value(choices[policy[state]], values)
                if result > present if self.maximise[state] else result < present:
                    policy[state] = number
                    changed = True
        return changed


def choice_value(row: Row, values: list[Fraction]) -> Fraction:
    """Return the value of a choice from the values of its successors."""
    return row.reward + sum((p * values[successor] for successor, p in row.outcomes), Fraction(0))


def evaluated(
    rows: list[list[Row]], policy: list[int], known: list[Fraction | None]
) -> list[Fraction]:
    """Solve the linear system of a policy by elimination, state by state."""
    equations: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for state, choices in enumerate(rows):
        if not choices:
            continue
        row = choices[policy[state]]
        terms: dict[int, Fraction] = {}
        constant = row.reward
        for successor, p in row.outcomes:
            payoff = known[successor]
            if payoff is None:
                terms[successor] = terms.get(successor, Fraction(0)) + p
            else:
                constant += p * payoff
        equations[state] = (terms, constant)
    solved: list[tuple[int, dict[int, Fraction], Fraction]] = []
    while equations:
        state, (terms, constant) = equations.popitem()
        leaves = 1 - terms.pop(state, Fraction(0))
        terms = {successor: p / leaves for successor, p in terms.items()}
        constant /= leaves
        solved.append((state, terms, constant))
        for other, (its_terms, its_constant) in equations.items():
            share = its_terms.pop(state, None)
            if share is not None:
                for successor, p in terms.items():
                    its_terms[successor] = its_terms.get(successor, Fraction(0)) + share * p
                equations[other] = (its_terms, its_constant + share * constant)
    values = [Fraction(0) if value is None else value for value in known]
    for state, terms, constant in reversed(solved):
        values[state] = constant + sum((p * values[t] for t, p in terms.items()), Fraction(0))
    return values


def long_run(game: RationalGame, model: gamedp.Model) -> list[Fraction]:
    """Return the gains of a best policy: Howard's policy iteration for several recurrent classes.

    A policy that neither of the two steps can improve fulfils the optimality equations (Puterman,
    "Markov Decision Processes", Wiley 1994, theorems 9.1.2 and 9.2.3).
    """
    rows = game.rows
    choosing = {most for most, choices in zip(game.maximise, rows, strict=True) if choices}
    if len(choosing) > 1 or model.has_swaps:
        message = "exact averages are for one player who makes all choices."
        raise gamedp.UnsupportedProblemError(message)
    sign = 1 if True in choosing else -1
    policy = [0] * len(rows)
    while True:
        chain = [
            [choices[number]] if choices else []
            for choices, number in zip(rows, policy, strict=True)
        ]
        gains, biases = _gains_and_biases(chain)
        improved = False
        for state, choices in enumerate(rows):
            following = [sign * _mean(row, gains) for row in choices]
            if following and max(following) > following[policy[state]]:
                policy[state] = following.index(max(following))
                improved = True
        if improved:
            continue
        for state, choices in enumerate(rows):
            if not choices:
                continue
            following = [sign * _mean(row, gains) for row in choices]
            choice_values = [sign * choice_value(row, biases) for row in choices]
            kept = [number for number, mean in enumerate(following) if mean == max(following)]
            best = max(kept, key=choice_values.__getitem__)
            if choice_values[best] > choice_values[policy[state]]:
                policy[state] = best
                improved = True
        if not improved:
            return gains


def _mean(row: Row, values: list[Fraction]) -> Fraction:
    return choice_value(row, values) - row.reward


def _gains_and_biases(chain: list[list[Row]]) -> tuple[list[Fraction], list[Fraction]]:
    """Return the gains of a Markov chain per step in the long run, and its biases.

    The bias is zero in the first state of each recurrent class. Between two visits of that state,
    the class earns its gain times the steps.
    """
    gains: list[Fraction | None] = [None if choices else Fraction(0) for choices in chain]
    biases = list(gains)
    for members in _recurrent_classes(chain):
        first = min(members)
        known: list[Fraction | None] = [None] * len(chain)
        known[first] = Fraction(0)
        cycle = [
            [] if state == first or state not in members else row for state, row in enumerate(chain)
        ]
        steps = [[attrs.evolve(row, reward=Fraction(1)) for row in choices] for choices in cycle]
        earned = evaluated(cycle, [0] * len(chain), known)
        passed = evaluated(steps, [0] * len(chain), known)
        gain = choice_value(chain[first][0], earned) / (1 + _mean(chain[first][0], passed))
        for state in members:
            gains[state] = gain
            biases[state] = earned[state] - gain * passed[state]
    outside = [[] if gain is not None else row for gain, row in zip(gains, chain, strict=True)]
    free = [[attrs.evolve(row, reward=Fraction(0)) for row in choices] for choices in outside]
    gain_of = evaluated(free, [0] * len(chain), gains)
    beyond = [
        [attrs.evolve(row, reward=row.reward - gain_of[state]) for row in choices]
        for state, choices in enumerate(outside)
    ]
    return gain_of, evaluated(beyond, [0] * len(chain), biases)


def _recurrent_classes(chain: list[list[Row]]) -> list[set[int]]:
    """Return the recurrent classes: the minimal sets of states that a Markov chain cannot leave."""
    rows = [choices[0] if choices else None for choices in chain]
    reached = [_reachable(rows, start) for start in range(len(chain))]
    return [
        members
        for state, members in enumerate(reached)
        if chain[state] and state == min(members) and all(state in reached[s] for s in members)
    ]


Number: TypeAlias = Fraction | float
"""A rational number, or an infinite one."""


Missed: TypeAlias = Literal["nothing", "infinite", "sum"]
"""The value of play that never reaches an end."""


Chain: TypeAlias = "list[Row | None]"
"""The choice that is taken in each state; None for ends."""


MAX_POLICY_PAIRS = 20_000
"""Largest number of pairs of policies."""


def best_of_all(game: RationalGame, missed: Missed) -> list[Number]:
    """Return the most that one player can force against every policy of the other.

    Parameters
    ----------
    game
    missed
        The value of play that never reaches an end.

    Raises
    ------
    UnsupportedProblemError
        If there are too many policies, or the total of one is undefined.
    """
    pairs = math.prod(max(1, len(choices)) for choices in game.rows)
    if pairs > MAX_POLICY_PAIRS:
        message = (
            f"exact values compare all policies; these are {pairs:,}, more than "
            f"{MAX_POLICY_PAIRS:,}."
        )
        raise gamedp.UnsupportedProblemError(message)
    readings: list[list[Number]] = []
    for reading in (max, min):
        met: list[int] = []
        readings.append(_best(game, missed, reading, met))
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
    game: RationalGame,
    missed: Missed,
    reading: Callable[[Iterable[Fraction]], Fraction],
    met: list[int],
) -> list[Number]:
    """Return the same for one reading of sums that go up and down; note where they occur."""
    best: list[Number] | None = None
    for first in _policies(game, True):
        worst: list[Number] | None = None
        for second in _policies(game, False):
            chain: Chain = [
                choices[a if most else b] if choices else None
                for choices, a, b, most in zip(game.rows, first, second, game.maximise, strict=True)
            ]
            values = _values(chain, game.known, missed, reading, met)
            if missed == "infinite":
                _refuse_delay(chain, game)
            worst = values if worst is None else list(map(min, worst, values))
        assert worst is not None  # noqa: S101 - there is always a policy
        best = worst if best is None else list(map(max, best, worst))
    assert best is not None  # noqa: S101
    return best


def _policies(game: RationalGame, most: bool) -> Iterator[tuple[int, ...]]:
    """Yield the policies of one side; the other's states have a 0."""
    options = [
        range(max(1, len(choices))) if wants_most == most else range(1)
        for choices, wants_most in zip(game.rows, game.maximise, strict=True)
    ]
    return itertools.product(*options)


def _values(
    chain: Chain,
    known: list[Number | None],
    missed: Missed,
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
                values[state] = _endless(chain, reach[state])
    for state, value in enumerate(values):
        if value is None:
            values[state] = _infinite(values, reach[state], state)
    return _chain_values(
        [None if v is not None else row for v, row in zip(values, chain, strict=True)], values
    )


def _infinite(values: list[Number | None], reach: set[int], state: int) -> Number | None:
    """Return the infinite value of a state, from those it may lead to; None if it is finite."""
    infinite = {values[other] for other in reach if values[other] in (math.inf, -math.inf)}
    if len(infinite) > 1:
        message = f"the total of a policy is infinite both ways from state {state}."
        raise gamedp.UnsupportedProblemError(message)
    return infinite.pop() if infinite else None


def _refuse_delay(chain: Chain, game: RationalGame) -> None:
    """Refuse values that no memoryless policy attains: losing on a cycle, and ending later."""
    for state, row in enumerate(chain):
        if row is None or row.reward >= 0:
            continue
        reach = _reachable(chain, state)
        if any(chain[other] is None or state not in _reachable(chain, other) for other in reach):
            continue
        if _heights(chain, reach) is not None:
            continue  # to go round once more lowers nothing
        may_leave = any(not game.maximise[other] and len(game.rows[other]) > 1 for other in reach)
        if may_leave and _endless(chain, reach) < 0:
            message = (
                f"who wants the least may put the end off from state {state}, as long as that "
                "lowers the total; exact totals compare memoryless policies alone."
            )
            raise gamedp.UnsupportedProblemError(message)


def _endless(chain: Chain, members: set[int]) -> Number:
    """Return the total of play that stays among some states for ever, and visits all of them."""
    rewards = [chain[state].reward for state in members]  # type: ignore[union-attr] # none ends
    if not any(rewards):
        return Fraction(0)
    # What is earned from one visit of a state to the next.
    first = min(members)
    round_trip: Chain = [row if state in members else None for state, row in enumerate(chain)]
    round_trip[first] = None
    ends = [None if row is not None else Fraction(0) for row in round_trip]
    values = _chain_values(round_trip, list(ends))
    earned = choice_value(chain[first], values)  # type: ignore[arg-type] # none ends
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
        row = chain[state]
        assert row is not None  # noqa: S101 - none of them ends
        for successor, _ in row.outcomes:
            if successor not in heights:
                heights[successor] = heights[state] - row.reward
                left.append(successor)
            elif heights[successor] != heights[state] - row.reward:
                return None
    return heights


def _reachable(chain: Chain, start: int) -> set[int]:
    seen, left = {start}, [start]
    while left:
        row = chain[left.pop()]
        for successor, _ in row.outcomes if row is not None else ():
            if successor not in seen:
                seen.add(successor)
                left.append(successor)
    return seen


def _chain_values(chain: Chain, known: list[Number | None]) -> list[Number]:
    """Solve the linear system of a chain for the values that are not known."""
    rows = [[] if row is None else [row] for row in chain]
    finite = [None if value in (math.inf, -math.inf) else value for value in known]
    values: list[Any] = list(evaluated(rows, [0] * len(rows), finite))  # type: ignore[arg-type]
    return [own if value is None else value for own, value in zip(values, known, strict=True)]
