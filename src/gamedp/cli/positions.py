"""Positions on the command line: from what was typed to a state, and back to what people read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gamedp
from gamedp.cli.texts import assignments, kind_of, read_as
from gamedp.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from gamedp.model.model import Model

__all__ = ["picture_of", "position_of", "starts_of"]


def position_of(starts: Sequence[Any], texts: Sequence[str], option: str) -> Any:
    """Return the state that is asked for; what is not said is as in all states of the start.

    Raises
    ------
    UnknownNameError
        For a field that states do not have.
    InvalidParameterError
        For a value that is not of the field's type, and if something must be said and is not.
    """
    example = starts[0]
    fields = getattr(example, "_fields", None)
    if fields is None:
        if len(texts) > 1 or (not texts and len(starts) > 1):
            message = f"give one {option}, such as the start, {example!r}."
            raise InvalidParameterError(message)
        return read_as(option, texts[0], kind_of(example)) if texts else example
    values = {
        field: column[0]
        for field, column in zip(fields, zip(*starts, strict=True), strict=True)
        if len(set(column)) == 1
    }
    for field, text in assignments(texts, option=option).items():
        if field not in fields:
            kind = f"field of {option.replace('--state', 'the state')} called"
            raise UnknownNameError.nearest(kind, field, fields)
        values[field] = read_as(field, text, kind_of(getattr(example, field)))
    missing = [field for field in fields if field not in values]
    if missing:
        message = f"{option} must say {', '.join(missing)}: the game starts at random."
        raise InvalidParameterError(message)
    return type(example)(**values)


def starts_of(origin: gamedp.rules.Rules | gamedp.rules.StagedRules | Model) -> list[Any]:
    """Return the states in which play can begin."""
    if not isinstance(origin, (gamedp.rules.Rules, gamedp.rules.StagedRules)):
        return [origin.state(int(index)) for index in origin.initial_states]
    try:
        starts = [state for _, state in origin.initial()]
        starts[0]
    except (IndexError, TypeError, ValueError):
        gamedp.compile(origin.game, compile="never")  # says what is wrong with the rules
        raise
    return starts


def picture_of(rules: gamedp.rules.Rules | gamedp.rules.StagedRules | None, position: Any) -> str:
    """Return a position as Python writes it, and as the game draws it."""
    shown = repr(position)
    if rules is not None and rules.render(position) not in {shown, str(position)}:
        shown += "\n" + rules.render(position)
    return shown
