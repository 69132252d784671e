"""Seats of players, and the messages of the line protocol between a game and programs at them.

One JSON object per line, in UTF-8. This module handles text and values only; it sends nothing and
waits for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.runtime.encoding import fields_of, without_classes
from gamedp.runtime.registry import GAMES, registered

if TYPE_CHECKING:
    from gamedp.rules.game import Rules


VERSION = 1

MOST_BYTES = 65_536
"""Largest size of a line, its end included, in both directions."""

MOST_NAME = 100
"""Largest number of characters kept of a program's name."""

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)

NO_START, DISCONNECT, TIME = "no start", "disconnect", "time"
ILLEGAL, PROTOCOL = "illegal action", "protocol error"
REASONS = (NO_START, DISCONNECT, TIME, ILLEGAL, PROTOCOL)


def message_line(message: dict[str, Any]) -> bytes:
    """Return a message as a line.

    Raises
    ------
    UnsupportedProblemError
        If it is too long for a line, or holds a number that JSON lacks.
    """
    try:
        line = ENCODER.encode(message).encode() + b"\n"
    except ValueError as error:
        reason = f"{shown(message)} cannot be sent to a program: {error}."
        raise UnsupportedProblemError(reason) from None
    if len(line) > MOST_BYTES:
        reason = (
            f"{shown(message)} takes {len(line):,} bytes; a line to a program has at most "
            f"{MOST_BYTES:,}."
        )
        raise UnsupportedProblemError(reason)
    return line


def game_facts(game: Any) -> dict[str, Any]:
    """Return the name and the parameters of a game for programs, as far as JSON can represent them.

    Examples
    --------
    >>> from gamedp.games.matches import Nim
    >>> game_facts(Nim(heaps=(3, 5)))
    {'game': 'nim', 'parameters': {'heaps': [3, 5], 'misere': True}}
    """
    kind = type(game)
    home = f"{kind.__module__}:{kind.__qualname__}"
    names = (name for name, point in registered(GAMES).items() if point.value == home)
    parameters = {}
    for field, value in fields_of(game).items():
        try:
            parameters[field] = without_classes(value)
        except TypeError:
            continue  # for example a function, which a program cannot read
    return {"game": next(names, kind.__name__), "parameters": parameters}


def question(rules: Rules, state: Any, actions: Sequence[Any]) -> dict[str, Any]:
    """Return the question to a program in a state.

    Raises
    ------
    UnsupportedProblemError
        If the state or an action holds what JSON lacks.

    Examples
    --------
    >>> from gamedp.games.wubbel import State, Wubbel
    >>> from gamedp.rules import Rules
    >>> question(Rules(Wubbel()), State(0, 0, 24, 17), [0, 1])  # doctest: +NORMALIZE_WHITESPACE
    {'ask': 'action', 'state': {'player': 0, 'own': 0, 'opponent': 24, 'turn': 17},
     'actions': [0, 1], 'names': ['ROLL', 'SAVE']}
    """
    try:
        position = without_classes(state)
    except TypeError as error:
        message = f"{shown(state)} cannot be sent to a program: {error}."
        raise UnsupportedProblemError(message) from None
    try:
        written = [without_classes(action) for action in actions]
    except TypeError as error:
        message = f"the actions in {shown(state)} cannot be sent to a program: {error}."
        raise UnsupportedProblemError(message) from None
    if len({json.dumps(each, sort_keys=True) for each in written}) < len(written):
        message = (
            f"the actions in {shown(state)} cannot be told apart by a program, in which they are "
            f"{shown(written)}."
        )
        raise UnsupportedProblemError(message)
    names = [rules.action_name(state, action) for action in actions]
    return {"ask": "action", "state": position, "actions": written, "names": names}


def end_message(payoffs: Sequence[float] | None, forfeit: Forfeit | None) -> dict[str, Any]:
    """Return the message to programs at the end of a game."""
    message: dict[str, Any] = {"tell": "end", "payoffs": None if payoffs is None else list(payoffs)}
    if forfeit is not None:
        message["forfeit"] = {"player": forfeit.player, "reason": forfeit.reason}
    return message


def read_answer(line: bytes, number: int) -> dict[str, Any]:
    """Return a program's answer to the question of this number.

    Raises
    ------
    Fault
        If it is not an answer to it.

    Examples
    --------
    >>> read_answer(b'{"id": 7, "action": 1}', 7)
    {'id': 7, 'action': 1}
    """
    try:
        answer = DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise Fault(PROTOCOL, f"it answers {shown(line)}, which is not UTF-8.") from None
    except RecursionError:
        raise Fault(PROTOCOL, f"it answers {shown(line)}, nested too deeply.") from None
    except ValueError as error:
        raise Fault(PROTOCOL, f"it answers {shown(line)}, which is not JSON: {error}.") from None
    if not isinstance(answer, dict):
        raise Fault(PROTOCOL, f"it answers {shown(answer)}, which is not a JSON object.")
    found = answer.get("id")
    if type(found) is not int or found != number:
        message = f"it answers {shown(answer)}, and the id of the question is {number}."
        raise Fault(PROTOCOL, message)
    return answer


def _refuse(name: str) -> None:
    """Refuse the numbers that Python reads and JSON lacks."""
    message = f"{name} is not a JSON number"
    raise ValueError(message)


DECODER = json.JSONDecoder(parse_constant=_refuse)


def action_in(answer: dict[str, Any], actions: Collection[Any]) -> Any:
    """Return the action of an answer; raise Fault if it is not one of these."""
    given = answer.get("action")
    if type(given) is int and given in actions:  # as nearly always
        return given
    text = json.dumps(given, sort_keys=True)  # in which true is not 1
    for action in actions:
        if type(action) is not int and json.dumps(without_classes(action), sort_keys=True) == text:
            return action
    message = f"it takes the action {shown(given)}; the actions are {shown(list(actions))}."
    raise Fault(ILLEGAL, message)


def name_in(answer: dict[str, Any], otherwise: str) -> str:
    """Return the name in a program's answer to a hello, in printable characters.

    Examples
    --------
    >>> name_in({"id": 0, "name": "mybot 3"}, "a bot"), name_in({"id": 0}, "a bot")
    ('mybot 3', 'a bot')
    """
    name = answer.get("name")
    if name is None:
        return otherwise
    if not isinstance(name, str):
        raise Fault(PROTOCOL, f"its name is {shown(name)}, which is not text.")
    return "".join(letter for letter in name[:MOST_NAME] if letter.isprintable()) or otherwise


@attrs.frozen
class Forfeit:
    """A game that a program has lost without playing it to the end.

    Attributes
    ----------
    player : int
        The loser.
    reason : str
        ``"no start"``, ``"disconnect"``, ``"time"``, ``"illegal action"`` or ``"protocol error"``.
    detail : str
        What happened, as a sentence.
    """

    player: int
    reason: str
    detail: str


class Fault(Exception):  # noqa: N818 - it is the program's, not an error of whoever calls
    """Raised when a fault of a program loses it the game."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Seat:
    """Chooses the actions of one player."""

    def begin(self, number: int) -> None:
        """Prepare for a game as this player; raise Fault if that is impossible."""

    def choose(self, state: Any, actions: Sequence[Any], rng: np.random.Generator) -> Any:
        """Return one of the actions; raise Fault if a program does not."""
        raise NotImplementedError  # implemented by each kind of player

    def end(self, payoffs: Sequence[float] | None, forfeit: Forfeit | None) -> None:
        """Receive the end of the game."""

    def close(self) -> None:
        """Leave the seat permanently."""
