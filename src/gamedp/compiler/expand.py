"""One state at a time in plain Python: what its choices are, with everything checked.

The interpreted tier is made of this, errors found by the compiled tier are worded by it, and every
compiled model is compared with it in places.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import InvalidModelError
from gamedp.model import SUM_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gamedp.game import Rules

__all__ = ["Choice", "Expansion", "canonical_state", "expand", "start"]

MAX_ACTION = 2**31


@attrs.frozen
class Choice:
    """An action with its expected rewards (one number, or one a player) and its outcomes.

    `outcomes` maps (representative, swapped) to the total probability, in order of appearance.
    """

    action: int
    rewards: tuple[float, ...]
    outcomes: dict[tuple[Any, bool], float]


@attrs.frozen
class Expansion:
    """What one state holds: payoffs if it is terminal, else its mover and the choices."""

    payoffs: tuple[float, ...] | None
    player: int
    choices: tuple[Choice, ...]


@contextlib.contextmanager
def _naming(words: str) -> Iterator[None]:
    """Add the place to whatever the rules themselves raise."""
    try:
        yield
    except InvalidModelError:
        raise
    except Exception as error:
        error.add_note(f"gamedp: raised by the rules, {words}")
        raise


def start(rules: Rules) -> list[tuple[float, Any, bool]]:
    """Return the initial distribution as (probability, representative, swapped) triples."""
    with _naming("in initial_state()"):
        pairs = rules.initial()
    merged: dict[tuple[Any, bool], float] = {}
    for pair in pairs:
        probability, state = _pair(pair, "initial_state()")
        _check_probability(probability, "a start", state)
        if probability > 0:
            key = canonical_state(rules, state)
            merged[key] = merged.get(key, 0.0) + probability
    _check_sum(merged, "the initial states")
    return [(probability, state, swapped) for (state, swapped), probability in merged.items()]


def expand(rules: Rules, state: Any) -> Expansion:
    """Return the choices of `state`, checked and with duplicate outcomes merged.

    Raises
    ------
    InvalidModelError
        If the rules are wrong there; the message names the state and the action.
    """
    with _naming(f"in {state!r}"):
        if rules.game.is_terminal(state):
            return Expansion(_numbers(rules, state), 0, ())
        player = rules.player(state)
        if not 0 <= player < rules.num_players:
            message = (
                f"player({state!r}) is {player}; players are numbered 0 to "
                f"{rules.num_players - 1} (set num_players)."
            )
            raise InvalidModelError(message)
        choices = tuple(_choice(rules, state, action) for action in rules.game.actions(state))
    if not choices:
        message = (
            f"{state!r} has no actions and is not terminal. "
            "Let is_terminal say so, or let actions yield at least one."
        )
        raise InvalidModelError(message)
    return Expansion(None, player, choices)


def _choice(rules: Rules, state: Any, action: Any) -> Choice:
    place = f"the outcomes of action {action!r} in {state!r}"
    if not hasattr(action, "__index__") or not -MAX_ACTION <= action < MAX_ACTION:
        message = f"action {action!r} in {state!r} is not an integer of at most 32 bits."
        raise InvalidModelError(message)
    outcomes: dict[tuple[Any, bool], float] = {}
    with _naming(f"in action {action!r} of {state!r}"):
        for pair in rules.game.outcomes(state, action):
            probability, successor = _pair(pair, place)
            _check_probability(probability, place, successor)
            if probability > 0:
                key = canonical_state(rules, successor, place)
                outcomes[key] = outcomes.get(key, 0.0) + probability
        _check_sum(outcomes, place)
        rewards = _rewards(rules, state, action)
    return Choice(int(action), rewards, outcomes)


def canonical_state(rules: Rules, state: Any, place: str = "initial_state()") -> tuple[Any, bool]:
    """Return (representative, swapped) of a state, which must be hashable and settled."""
    if state is None:
        message = f"{place} contain None, which is not a state."
        raise InvalidModelError(message)
    representative, swapped = rules.canonical(state)
    if swapped and rules.num_players != 2:  # noqa: PLR2004 - swapping takes two
        message = f"canonical({state!r}) swaps the players, but num_players is not 2."
        raise InvalidModelError(message)
    again, swapped_again = rules.canonical(representative)
    if again != representative or swapped_again:
        message = (
            f"canonical({state!r}) is {representative!r}, but canonical of that is "
            f"{(again, swapped_again)!r}. A representative must represent itself, not swapped."
        )
        raise InvalidModelError(message)
    try:
        hash(representative)
    except TypeError as error:
        message = f"{place} contain {representative!r}, which is not a state: {error}."
        raise InvalidModelError(message) from None
    return representative, swapped


def _pair(pair: Any, place: str) -> tuple[float, Any]:
    try:
        probability, state = pair
        return float(probability), state
    except (TypeError, ValueError):
        message = f"{place} contain {pair!r}, which is not a (probability, state) pair."
        raise InvalidModelError(message) from None


def _check_probability(probability: float, place: str, state: Any) -> None:
    if not 0 <= probability <= 1 + SUM_TOLERANCE:
        message = (
            f"{place} give {state!r} the probability {probability!r}. "
            "A probability lies between 0 and 1."
        )
        raise InvalidModelError(message)


def _check_sum(outcomes: dict[tuple[Any, bool], float], place: str) -> None:
    total = sum(outcomes.values())
    if abs(total - 1) > SUM_TOLERANCE:
        message = (
            f"{place} have total probability {total!r}, not 1. "
            f"Probabilities must sum to 1 within {SUM_TOLERANCE:g}."
        )
        raise InvalidModelError(message)


def _number(value: Any, words: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        message = f"{words} is {value!r}; it must be one finite number for each player."
        raise InvalidModelError(message)
    return number


def _numbers(rules: Rules, state: Any) -> tuple[float, ...]:
    """Return the payoffs in a terminal state, as the model stores them."""
    payoffs = tuple(
        _number(rules.game.payoff(state, player), f"payoff({state!r}, player={player})")
        for player in range(rules.num_players)
    )
    return _opposed(payoffs, rules.constant_sum, f"the payoffs in {state!r}", "constant_sum")


def _rewards(rules: Rules, state: Any, action: int) -> tuple[float, ...]:
    rewards = tuple(
        _number(rules.reward(state, action, player), f"reward({state!r}, {action}, {player})")
        for player in range(rules.num_players)
    )
    return _opposed(rewards, 0.0, f"the rewards of action {action} in {state!r}", "zero")


def _opposed(
    numbers: tuple[float, ...], total: float, words: str, total_name: str
) -> tuple[float, ...]:
    """Of two players' numbers keep the first, after checking what they add up to."""
    if len(numbers) != 2:  # noqa: PLR2004
        return numbers
    if abs(sum(numbers) - total) > SUM_TOLERANCE * max(1.0, *map(abs, numbers)):
        message = (
            f"{words} are {numbers[0]!r} and {numbers[1]!r}; of two players they must add up to "
            f"{total_name}{'' if total_name == 'zero' else f' = {total!r}'}."
        )
        raise InvalidModelError(message)
    return numbers[:1]
