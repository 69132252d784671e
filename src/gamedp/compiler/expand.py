"""One state at a time in plain Python: what its choices are, with everything checked.

The interpreted tier is made of this, errors found by the compiled tier are worded by it, and every
compiled model is compared with it in places.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.compiler.chances import Gathering
from gamedp.errors import InvalidModelError, shown
from gamedp.game import as_real, method
from gamedp.model import SUM_TOLERANCE

if TYPE_CHECKING:
    from gamedp.game import Rules

__all__ = ["Choice", "Expansion", "canonical_state", "expand", "is_state", "start"]

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


class _Calling:
    """Adds to whatever the rules themselves raise which method was called, and on what."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        self.arguments = arguments

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Add the note, unless the error is ours or has one."""
        if not isinstance(error, Exception) or isinstance(error, InvalidModelError):
            return
        if not any(note.startswith("gamedp:") for note in getattr(error, "__notes__", ())):
            arguments = ", ".join(map(repr, self.arguments))
            error.add_note(f"gamedp: raised by the rules in {self.name}({arguments})")


def start(rules: Rules) -> list[tuple[float, Any, bool]]:
    """Return the initial distribution as (probability, representative, swapped) triples."""
    place = "the initial states"
    with _Calling("initial_state"):
        pairs = rules.initial()
    gathered = Gathering()
    for pair in pairs:
        given, probability, state = _pair(pair, place)
        if probability > 0:
            gathered.add(canonical_state(rules, state, place), given)
    scaled = gathered.scaled(place)
    return [(probability, state, swapped) for (state, swapped), probability in scaled.items()]


def expand(rules: Rules, state: Any) -> Expansion:
    """Return the choices of `state`, checked and with duplicate outcomes merged.

    Raises
    ------
    InvalidModelError
        If the rules are wrong there; the message names the state and the action.
    """
    with _Calling("is_terminal", state):
        is_terminal = rules.game.is_terminal(state)
    if is_terminal:
        return Expansion(_payoffs(rules, state), 0, ())
    with _Calling("player", state):
        player = rules.player(state)
    if not 0 <= player < rules.num_players:
        message = (
            f"player({state!r}) is {player}; players are numbered 0 to {rules.num_players - 1} "
            "(set num_players)."
        )
        raise InvalidModelError(message)
    with _Calling("actions", state):
        actions = rules.game.actions(state)
        if not hasattr(actions, "__iter__"):
            message = f"actions({state!r}) returns {actions!r}; it must yield ints."
            raise InvalidModelError(message)
        choices = tuple(_choice(rules, state, action) for action in actions)
    if not choices:
        message = (
            f"{state!r} has no actions and is not terminal. "
            "Let is_terminal say so, or let actions yield at least one."
        )
        raise InvalidModelError(message)
    return Expansion(None, player, choices)


def _choice(rules: Rules, state: Any, action: Any) -> Choice:
    if not hasattr(action, "__index__"):
        message = f"action {action!r} in {state!r} is not an integer. Number the actions."
        raise InvalidModelError(message)
    if not -MAX_ACTION <= action < MAX_ACTION:
        message = f"action {action!r} in {state!r} is beyond 32 bits. Use smaller numbers."
        raise InvalidModelError(message)
    place = f"the outcomes of action {action!r} in {state!r}"
    gathered = Gathering()
    with _Calling("outcomes", state, action):
        pairs = rules.game.outcomes(state, action)
        if not hasattr(pairs, "__iter__"):
            message = f"{place} are {pairs!r}; they must be (probability, state) pairs."
            raise InvalidModelError(message)
        for pair in pairs:
            given, probability, successor = _pair(pair, place)
            if probability > 0:
                gathered.add(canonical_state(rules, successor, place, like=state), given)
    scaled = gathered.scaled(place)
    return Choice(int(action), _rewards(rules, state, action), scaled)


def is_state(rules: Rules, state: Any) -> bool:
    """Say whether a combination from a declared box is a real state."""
    with _Calling("is_state", state):
        return rules.is_state(state)


def canonical_state(rules: Rules, state: Any, place: str, like: Any = None) -> tuple[Any, bool]:
    """Return (representative, swapped) of a state, which must be hashable and settled.

    Parameters
    ----------
    rules : Rules
    state
    place : str
        Where it was met, for messages.
    like
        Another state of the game, if one is known.
    """
    _check_state(state, place, like)
    representative, swapped = _canonical(rules, state)
    if representative is not state:
        _check_state(representative, f"the answers of canonical({state!r})", like=state)
    if swapped and rules.num_players != 2:
        message = (
            f"canonical({state!r}) swaps the players, which takes two, but num_players is "
            f"{rules.num_players}."
        )
        raise InvalidModelError(message)
    again = _canonical(rules, representative)
    if again != (representative, False):
        message = (
            f"canonical({state!r}) is {representative!r}, but canonical of that is {again!r}. "
            "A representative must represent itself, not swapped."
        )
        raise InvalidModelError(message)
    return representative, swapped


def _canonical(rules: Rules, state: Any) -> tuple[Any, bool]:
    with _Calling("canonical", state):
        pair = method(rules.game, "canonical")(rules.game, state)
    if type(pair) is not tuple or len(pair) != 2:
        message = f"canonical({state!r}) is {pair!r}; it must be a pair (representative, swapped)."
        raise InvalidModelError(message)
    return pair[0], bool(pair[1])


def _check_state(state: Any, place: str, like: Any) -> None:
    """Refuse what can't be a state: None, what can't be hashed, numbers among NamedTuples."""
    if state is None or (_is_plain(state) and like is not None and not _is_plain(like)):
        hint = "" if like is None else f" like {like!r}"
        message = f"{place} contain {state!r}, which is not a state{hint}."
        raise InvalidModelError(message)
    try:
        hash(state)
    except TypeError as error:
        message = (
            f"{place} contain {state!r}, which cannot be a state: {error}. "
            "Use a NamedTuple of ints and tuples, or any other hashable object."
        )
        raise InvalidModelError(message) from None


def _is_plain(state: object) -> bool:
    return type(state).__module__ == "builtins"


def _pair(pair: Any, place: str) -> tuple[Any, float, Any]:
    """Return a probability as it is given, and as a double; and the state that it leads to."""
    try:
        given, state = pair
        probability = given if type(given) is float else as_real(given)
    except (TypeError, ValueError, OverflowError):
        message = f"{place} contain {shown(pair)}, which is not a (probability, state) pair."
        raise InvalidModelError(message) from None
    if hasattr(pair, "_fields"):  # a state of two fields, taken for a pair
        message = f"{place} contain {shown(pair)}, which is not a (probability, state) pair."
        raise InvalidModelError(message)
    if not 0 <= probability <= 1 + SUM_TOLERANCE:
        message = (
            f"{place} give {shown(state)} the probability {shown(given)}. "
            "A probability lies between 0 and 1."
        )
        raise InvalidModelError(message)
    return given, probability, state


def _number(value: Any, words: str) -> float:
    try:
        number = as_real(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        message = f"{words} is {value!r}; it must be one finite number."
        raise InvalidModelError(message)
    return number


def _payoffs(rules: Rules, state: Any) -> tuple[float, ...]:
    """Return the payoffs in a terminal state, as the model stores them."""
    payoffs = []
    for player in range(rules.num_players):
        with _Calling("payoff", state, player):
            payoff = rules.game.payoff(state, player)
        payoffs.append(_number(payoff, f"payoff({state!r}, {player})"))
    return _opposed(tuple(payoffs), rules.constant_sum, f"the payoffs in {state!r}", "constant_sum")


def _rewards(rules: Rules, state: Any, action: int) -> tuple[float, ...]:
    rewards = []
    for player in range(rules.num_players):
        with _Calling("reward", state, action, player):
            reward = method(rules.game, "reward")(rules.game, state, action, player)
        rewards.append(_number(reward, f"reward({state!r}, {action}, {player})"))
    return _opposed(tuple(rewards), 0.0, f"the rewards of action {action} in {state!r}", "zero")


def _opposed(
    numbers: tuple[float, ...], total: float, words: str, total_name: str
) -> tuple[float, ...]:
    """Of two players' numbers keep the first, after checking what they add up to."""
    if len(numbers) != 2:
        return numbers
    if abs(sum(numbers) - total) > SUM_TOLERANCE * max(1.0, *map(abs, numbers)):
        message = (
            f"{words} are {numbers[0]!r} and {numbers[1]!r}; of two players they must add up to "
            f"{total_name}{'' if total_name == 'zero' else f' = {total!r}'}."
        )
        raise InvalidModelError(message)
    return numbers[:1]
