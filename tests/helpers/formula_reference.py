"""Small games and what formulas say of them, in Fractions, by looking at all strategies.

Nothing here is shared with what answers formulas: paths are looked at as sequences of states, and
targets without a bound by comparing all memoryless strategies, for which there are theorems.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from gamedp.adapters.parts import Parts, assemble


@attrs.frozen
class SmallGame:
    """A game of few states.

    Attributes
    ----------
    rows
        For each state its choices: a reward, and the states that follow with their probabilities.
    owners
        The player who chooses in each state.
    labels
        Sets of states.
    earned
        The reward of each state.
    """

    rows: list[list[tuple[Fraction, dict[int, Fraction]]]]
    owners: list[int]
    labels: dict[str, set[int]]
    earned: list[Fraction]
    starts: tuple[int, ...] = (0,)

    def loaded(self, *, players: int | None = None) -> Any:
        """Return it as if it had been read from a file; its variable is the number of a state."""
        choices = [row for rows in self.rows for row in rows]
        outcomes = [pair for _, row in choices for pair in row.items()]
        states = np.arange(len(self.rows))
        count = max(self.owners) + 1 if players is None else players
        return assemble(
            Parts(
                path=Path("small.game"),
                choice_offsets=np.cumsum([0, *map(len, self.rows)]),
                transition_offsets=np.cumsum([0, *(len(row) for _, row in choices)]),
                successors=np.array([state for state, _ in outcomes], np.int64),
                probabilities=_objects([p for _, p in outcomes]),
                players=np.array(self.owners, np.int64),
                num_players=count,
                player_names=tuple(f"p{number + 1}" for number in range(count)),
                initial=np.array(self.starts, np.int64),
                labels={name: np.isin(states, list(among)) for name, among in self.labels.items()},
                rewards={
                    "cost": {
                        "choices": _objects([reward for reward, _ in choices]),
                        "states": _objects(self.earned),
                    }
                },
                variables={"s": states, "odd": states % 2 == 1},
                constants={"half": Fraction(1, 2), "three": 3},
            ),
            None,
        )


def _objects(numbers: Sequence[Fraction]) -> Any:
    table = np.empty(len(numbers), object)
    table[:] = list(numbers)
    return table


Chooses = Callable[[int], Callable[[Any], Any]]
"""For each state, the function by which its owner picks a number: `max` or `min`."""


def by_paths(
    game: SmallGame, chooses: Chooses, length: int, holds: Callable[[tuple[int, ...]], bool]
) -> list[Fraction]:
    """Return the probability from each state that the first states of a path are as wanted.

    Parameters
    ----------
    game : SmallGame
    chooses : function
    length : int
        How many steps are looked at.
    holds : function
        Whether a path of so many steps is as wanted.
    """

    def after(path: tuple[int, ...]) -> Fraction:
        if len(path) > length:
            return Fraction(holds(path))
        return chooses(path[-1])(
            sum(p * after((*path, state)) for state, p in row.items())
            for _, row in game.rows[path[-1]]
        )

    return [after((state,)) for state in range(len(game.rows))]


def earned_by_steps(game: SmallGame, chooses: Chooses, steps: int) -> list[Fraction]:
    """Return what is earned within some steps."""
    values = [Fraction(0)] * len(game.rows)
    for _ in range(steps):
        values = [
            chooses(state)(
                game.earned[state] + reward + sum(p * values[t] for t, p in row.items())
                for reward, row in rows
            )
            for state, rows in enumerate(game.rows)
        ]
    return values


def at_step(game: SmallGame, chooses: Chooses, steps: int) -> list[Fraction]:
    """Return the reward of the state after some steps."""
    values = list(game.earned)
    for _ in range(steps):
        values = [
            chooses(state)(sum(p * values[t] for t, p in row.items()) for _, row in rows)
            for state, rows in enumerate(game.rows)
        ]
    return values


def reached(
    game: SmallGame, wants_most: Sequence[bool], allowed: set[int], target: set[int]
) -> list[Fraction]:
    """Return the probability of reaching states by way of others, by comparing all strategies.

    Memoryless deterministic strategies suffice for both players of a simple stochastic game [1]_.

    .. [1] A. Condon, "The complexity of stochastic games", 1992.
    """
    states = range(len(game.rows))
    own, its = ([s for s in states if wants_most[s] == most] for most in (True, False))

    def plans(among: list[int]) -> list[dict[int, int]]:
        inside = [s for s in among if s in allowed - target]
        choices = [range(len(game.rows[s])) for s in inside]
        return [dict(zip(inside, picked, strict=True)) for picked in itertools.product(*choices)]

    best = [Fraction(0)] * len(game.rows)
    for mine in plans(own):
        worst = None
        for other in plans(its):
            values = _of_chain(game, mine | other, target)
            worst = values if worst is None else list(map(min, worst, values))
        best = list(map(max, best, worst or []))
    return best


def _of_chain(game: SmallGame, plan: dict[int, int], target: set[int]) -> list[Fraction]:
    """Return the probability of reaching a target in a chain; without a plan, play stays."""
    count = len(game.rows)
    rows = {s: game.rows[s][choice][1] for s, choice in plan.items()}
    can = set(target)
    while more := {s for s, row in rows.items() if s not in can and can & row.keys()}:
        can |= more
    inside = [s for s in rows if s in can]
    # (I - P) x = b, by Gauss and Jordan.
    system = [
        [Fraction(s == t) - rows[s].get(t, 0) for t in inside]
        + [sum((p for t, p in rows[s].items() if t in target), Fraction(0))]
        for s in inside
    ]
    for column in range(len(inside)):
        pivot = next(row for row in range(column, len(inside)) if system[row][column])
        system[column], system[pivot] = system[pivot], system[column]
        system[column] = [number / system[column][column] for number in system[column]]
        for row in range(len(inside)):
            if row != column and system[row][column]:
                factor = system[row][column]
                system[row] = [
                    a - factor * b for a, b in zip(system[row], system[column], strict=True)
                ]
    values = [Fraction(s in target) for s in range(count)]
    for number, s in enumerate(inside):
        values[s] = system[number][-1]
    return values
