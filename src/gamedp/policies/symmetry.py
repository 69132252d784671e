"""A check that a rule does the same in positions that a game merges."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from gamedp.errors import InvalidParameterError, shown
from gamedp.policies.choices import equal_choices
from gamedp.runtime.floats import SUM_TOLERANCE

if TYPE_CHECKING:
    from gamedp.model.model import Model

__all__ = ["check_symmetric", "merged_states"]

MOST_MET, MOST_ASKED = 300, 24
"""Largest numbers of states visited, and of states checked among them."""


def merged_states(model: Model) -> list[tuple[Any, Any]]:
    """Return the first states with a choice that another state represents.

    Each is paired with its representative, breadth first; `MOST_ASKED` at most.
    """
    rules = model.rules
    if rules is None or model.states is None or not hasattr(type(rules.game), "canonical"):
        return []
    game, found = rules.game, []
    waiting = [state for probability, state in rules.initial() if probability > 0]
    met = set(waiting)
    for state in waiting:  # the list grows meanwhile
        if game.is_terminal(state):
            continue
        actions = [int(action) for action in game.actions(state)]
        representative = rules.canonical(state)[0]
        if len(actions) > 1 and representative != state:
            found.append((state, representative))
            if len(found) == MOST_ASKED:
                break
        for action in actions:
            for probability, following in game.outcomes(state, action):
                if probability > 0 and following not in met and len(met) < MOST_MET:
                    met.add(following)
                    waiting.append(following)
    return found


def check_symmetric(
    model: Model, function: Callable[[Any], Any], name: str, pairs: list[tuple[Any, Any]]
) -> None:
    """Raise if a rule acts differently in states that the game declares equal.

    A rule is asked in the representatives alone, so the computed value would not be its own.

    Raises
    ------
    InvalidParameterError
        Names the two states, and the actions of the rule in them.
    """
    for state, representative in pairs:
        choices = equal_choices(model, state)
        alike = [set(same) for same in choices.values()]
        own = _taken(choices, function(state))
        its = _taken(equal_choices(model, representative), function(representative))
        if any(abs(_of(own, same) - _of(its, same)) > SUM_TOLERANCE for same in alike):
            message = (
                f"{name} chooses {shown(function(state))} in {shown(state)} and "
                f"{shown(function(representative))} in {shown(representative)}, and these do "
                "different things, though canonical says that the two states are the same. Let it "
                "not look at what canonical leaves out, or give a game without canonical."
            )
            raise InvalidParameterError(message)


def _taken(choices: Mapping[int, list[int]], answer: Any) -> list[tuple[int, float]]:
    """Return choices of the model with their probabilities; invalid actions are left out."""
    probabilities: Mapping[int, float] = {}
    if type(answer) is int:  # the usual case; the rest is slow
        probabilities = {answer: 1.0}
    elif isinstance(answer, Mapping):
        probabilities = answer
    elif isinstance(answer, SupportsIndex):
        probabilities = {operator.index(answer): 1.0}
    chances = [(same[0], float(probabilities.get(action, 0.0))) for action, same in choices.items()]
    return [(choice, chance) for choice, chance in chances if chance > 0]


def _of(taken: list[tuple[int, float]], choices: set[int]) -> float:
    """Return the probability that one of some choices is taken."""
    return sum(chance for choice, chance in taken if choice in choices)
