"""Which searcher fits a game: by how many play, and whether chance has a part in it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from gamedp.searchers.alpha_beta import AlphaBeta
from gamedp.searchers.expectiminimax import Expectiminimax
from gamedp.searchers.max_n import MaxN

if TYPE_CHECKING:
    from gamedp.rules.game import Rules

__all__ = ["searcher_for"]

Kind: TypeAlias = type[AlphaBeta] | type[Expectiminimax] | type[MaxN]

MOST_ASKED = 200
"""Positions that are asked for chance: some milliseconds of plain Python."""


def searcher_for(rules: Rules, state: Any = None) -> Kind:
    """Return the searcher that fits a game.

    :class:`MaxN` for three players and more, :class:`Expectiminimax` where there is chance, else
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
    if rules.num_players > 2:
        return MaxN
    return Expectiminimax if _has_chance(rules, state) else AlphaBeta


def _has_chance(rules: Rules, state: Any) -> bool:
    """Return whether an action has several outcomes in one of the positions that are asked."""
    try:
        starts = [state] if state is not None else [start for _, start in rules.initial()]
        line, near, met = deque(starts), deque[Any](), set(starts)
        for number in range(MOST_ASKED):
            if not line and not near:
                break
            # In turns where a line of play leads to, and what is nearest to the start.
            if number % 2 == 0:
                asked, later = line.pop() if line else near.popleft(), line
            else:
                asked, later = near.popleft() if near else line.popleft(), near
            following = _following(rules.game, asked)
            if following is None:
                return True
            later.extend(state for state in following if state not in met)
            met.update(following)
    except Exception:  # noqa: BLE001 - the search that follows words what is wrong with rules
        return False
    return False


def _following(game: Any, state: Any) -> list[Any] | None:
    """Return the positions that the actions in one lead to; None if chance decides."""
    found: list[Any] = []
    for action in () if game.is_terminal(state) else game.actions(state):
        before = len(found)
        for probability, following in game.outcomes(state, action):
            if probability > 0:
                if len(found) > before:
                    return None
                found.append(following)
    return list(dict.fromkeys(found))
