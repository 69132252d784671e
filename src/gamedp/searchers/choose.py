"""The choice of a searcher, by the number of players and whether there is chance."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from gamedp.searchers.alpha_beta import AlphaBeta
from gamedp.searchers.expectiminimax import Expectiminimax
from gamedp.searchers.max_n import MaxN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gamedp.rules.game import Rules

Kind: TypeAlias = type[AlphaBeta] | type[Expectiminimax] | type[MaxN]

MAX_ANSWERS = 4_000
"""Largest number of answers of the rules searched for chance: some milliseconds of plain Python."""


def searcher_for(rules: Rules, state: Any = None) -> Kind:
    """Return the searcher that fits a game.

    :class:`MaxN` for players with payoffs of their own, :class:`Expectiminimax` for chance, else
    :class:`AlphaBeta`. The rules are asked for chance in some hundred positions, near ones and on
    lines to the end of the game; a game that hides it from these is refused by :class:`AlphaBeta`,
    in words.

    Parameters
    ----------
    rules : Rules
    state
        The position to be searched; the start of the game if not given.

    Examples
    --------
    >>> from gamedp.games.wubbel import Wubbel
    >>> from gamedp.rules import Rules
    >>> searcher_for(Rules(Wubbel(goal=50))).__name__
    'Expectiminimax'
    """
    if rules.is_general_sum:
        return MaxN
    return Expectiminimax if _has_chance(rules, state) else AlphaBeta


def _has_chance(rules: Rules, state: Any) -> bool:
    """Return whether an action has several outcomes in one of the positions examined."""
    try:
        starts = [start for _, start in rules.initial()]
        if state is not None:
            starts = [rules.own_state(state)]
        return any(itertools.islice(_look_for_chance(rules.game, starts), MAX_ANSWERS))
    except Exception:  # noqa: BLE001 - the search that follows words what is wrong with rules
        return False


def _look_for_chance(game: Any, starts: list[Any]) -> Iterator[bool]:
    """Yield for each outcome of each action whether it is a second one that may occur.

    In turns of a position that a line of play leads to, and of the nearest to the start.
    """
    line, near, met = deque(starts), deque[Any](), set(starts)
    for number in itertools.count():
        if not line and not near:
            return
        if number % 2 == 0:
            state, later = line.pop() if line else near.popleft(), line
        else:
            state, later = near.popleft() if near else line.popleft(), near
        for action in () if game.is_terminal(state) else game.actions(state):
            yield False
            possible = 0
            for probability, following, *_ in game.outcomes(state, action):
                possible += probability > 0
                yield possible > 1
                if probability > 0 and following not in met:
                    met.add(following)
                    later.append(following)
