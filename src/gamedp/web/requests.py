"""Requests: untrusted data of a declared shape, with bounds for each number."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import attrs
import cattrs

from gamedp.web.refusals import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "HistoryRequest",
    "Line",
    "Look",
    "Player",
    "PositionRequest",
    "PuzzlesRequest",
    "Start",
    "Then",
    "read",
    "read_parameters",
]

MOST_PLIES = 2_000
"""Largest number of plies in a line."""

MOST_SEED = 2**53 - 1
"""The largest integer that a browser represents exactly."""

MOST_ACTION = 2**31 - 1

DEEPEST, LEAST_SECONDS, MOST_SECONDS = 30, 0.05, 2.0
"""Limits of a search: depth, and least and greatest number of seconds."""

MOST_PARAMETERS = 40

RequestT = TypeVar("RequestT")


def _between(least: float, most: float) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    """Return a validator that requires a number in a range, or None."""

    def check(_request: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is not None and not least <= value <= most:
            message = f"{attribute.name} must be from {least:g} to {most:.16g}"
            raise ValueError(message)

    return check


def _numbers(least: int, most: int) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    """Return a validator that requires a short list of numbers in a range."""

    def check(_request: object, attribute: attrs.Attribute[Any], values: Any) -> None:
        if len(values) > MOST_PLIES:
            message = f"{attribute.name} has more than {MOST_PLIES:,} entries"
            raise ValueError(message)
        if any(not least <= value <= most for value in values):
            message = f"{attribute.name} must be from {least} to {most}"
            raise ValueError(message)

    return check


seed = functools.partial(attrs.field, default=None, validator=_between(0, MOST_SEED))


@attrs.frozen
class Start:
    """The start of a line, if not the only start: one of these fields."""

    drawn: int | None = attrs.field(default=None, validator=_between(0, MOST_ACTION))
    seed: int | None = seed()
    state: Any = None

    def __attrs_post_init__(self) -> None:
        """Require exactly one of them."""
        if sum(each is not None for each in (self.drawn, self.seed, self.state)) != 1:
            message = "start must have one of drawn, seed and state"
            raise ValueError(message)


@attrs.frozen
class Line:
    """The game so far."""

    start: Start | None = None
    actions: tuple[int, ...] = attrs.field(
        default=(), validator=_numbers(-MOST_ACTION, MOST_ACTION)
    )
    outcomes: tuple[int, ...] = attrs.field(default=(), validator=_numbers(0, MOST_ACTION))

    def __attrs_post_init__(self) -> None:
        """Require an outcome for each action."""
        if len(self.actions) != len(self.outcomes):
            message = "actions and outcomes must be equally many"
            raise ValueError(message)


@attrs.frozen
class Look:
    """The depth or time of a search."""

    depth: int | None = attrs.field(default=None, validator=_between(1, DEEPEST))
    seconds: float | None = attrs.field(
        default=None, validator=_between(LEAST_SECONDS, MOST_SECONDS)
    )

    def __attrs_post_init__(self) -> None:
        """Require exactly one of them."""
        if (self.depth is None) == (self.seconds is None):
            message = "a search needs one of depth and seconds"
            raise ValueError(message)


@attrs.frozen
class Player:
    """The method of the computer's play."""

    kind: Literal["solution", "search", "random", "mistaken"]
    depth: int | None = None
    seconds: float | None = None
    chance: float | None = attrs.field(default=None, validator=_between(0.0, 1.0))

    def __attrs_post_init__(self) -> None:
        """Require the fields of the kind, and no others."""
        if self.kind == "search":
            Look(self.depth, self.seconds)
        elif (self.depth, self.seconds) != (None, None):
            message = "depth and seconds are for a search"
            raise ValueError(message)
        if (self.chance is not None) != (self.kind == "mistaken"):
            message = "chance is for who is mistaken, and needed there"
            raise ValueError(message)

    @property
    def look(self) -> Look | None:
        """The depth or time of its search, if it searches."""
        return Look(self.depth, self.seconds) if self.kind == "search" else None


@attrs.frozen
class Then:
    """The next step."""

    action: int | None = attrs.field(default=None, validator=_between(-MOST_ACTION, MOST_ACTION))
    outcome: int | None = attrs.field(default=None, validator=_between(0, MOST_ACTION))
    player: Player | None = None
    seed: int | None = seed()
    by_hand: bool = False

    def __attrs_post_init__(self) -> None:
        """Require an action or a player, with an outcome or a seed for chance."""
        if (self.action is None) == (self.player is None):
            message = "then needs one of action and player"
            raise ValueError(message)
        if (self.seed is None) == (self.outcome is None):
            message = "then needs one of seed and outcome"
            raise ValueError(message)
        if self.player is not None and self.seed is None:
            message = "a player needs a seed"
            raise ValueError(message)
        if self.by_hand and self.player is None:
            message = "by_hand goes with a player"
            raise ValueError(message)


@attrs.frozen
class PositionRequest:
    """The request of `position`."""

    line: Line
    parameters: dict[str, Any] = attrs.field(factory=dict)
    then: Then | None = None
    look: Look | None = Look(seconds=0.5)


@attrs.frozen
class HistoryRequest:
    """The request of `history`."""

    line: Line
    parameters: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class PuzzlesRequest:
    """The request of `puzzles`."""

    parameters: dict[str, Any] = attrs.field(factory=dict)


def _refuse_constant(text: str) -> Any:
    message = f"{text} is not a JSON number"
    raise ValueError(message)


def _parsed(text: bytes | str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refused(400, "the request is not JSON: {reason}.", reason=reason) from None


def read(body: bytes, kind: type[RequestT]) -> RequestT:
    """Return a request that has the declared shape.

    Raises
    ------
    Refused
        If it does not have that shape.
    """
    parsed = _parsed(body)
    try:
        return _converter().structure(parsed, kind)
    except Exception as error:  # noqa: BLE001 - what cattrs raises has no other class in common
        sentence = "the request is invalid: {reason}."
        raise Refused(400, sentence, reason=_reason(error)) from None


def read_parameters(text: str) -> dict[str, Any]:
    """Return the parameters in the text of an address, as :func:`read` does."""
    parsed = _parsed(text)
    try:
        return _checked(parsed)
    except ValueError as error:
        sentence = "the request is invalid: {reason}."
        raise Refused(400, sentence, reason=error) from None


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text if len(text) <= 200 else f"{text[:200]} ..."


def _checked(parameters: Any) -> dict[str, Any]:
    if type(parameters) is not dict or len(parameters) > MOST_PARAMETERS:
        message = f"parameters must be an object with {MOST_PARAMETERS} entries at most"
        raise ValueError(message)
    return parameters


@functools.cache
def _converter() -> cattrs.Converter:
    """Return a converter that refuses implicit type conversion."""
    converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=False)

    def exactly(*kinds: type) -> Callable[[Any, type], Any]:
        def structure(value: Any, wanted: type) -> Any:
            if type(value) not in kinds:
                message = f"there is a {type(value).__name__} where {wanted.__name__} must be"
                raise TypeError(message)
            return wanted(value)

        return structure

    def whole_numbers(value: Any, _wanted: Any) -> tuple[int, ...]:
        if type(value) is not list or any(type(item) is not int for item in value):
            message = "there must be a list of whole numbers"
            raise TypeError(message)
        return tuple(value)

    converter.register_structure_hook(int, exactly(int))
    converter.register_structure_hook(float, exactly(int, float))
    converter.register_structure_hook(bool, exactly(bool))
    converter.register_structure_hook_func(lambda kind: kind == tuple[int, ...], whole_numbers)
    converter.register_structure_hook_func(
        lambda kind: kind == dict[str, Any], lambda value, _kind: _checked(value)
    )
    for kind in (Start, Line, Look, Player, Then, PositionRequest, HistoryRequest, PuzzlesRequest):
        structure = converter.get_structure_hook(kind)

        def of_object(value: Any, wanted: Any, structure: Any = structure) -> Any:
            if type(value) is not dict:
                message = f"there is a {type(value).__name__} where an object must be"
                raise TypeError(message)
            return structure(value, wanted)

        converter.register_structure_hook(kind, of_object)
    return converter
