"""Positions on the command line: from typed text to a state, and back to readable text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import gamedp
from gamedp.cli.texts import assignments, kind_of, read_as
from gamedp.errors import InvalidParameterError, UnknownNameError, shown
from gamedp.runtime.encoding import declared_fields, fields_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

__all__ = ["picture_of", "position_of", "starts_of", "state_where", "states_where"]

WHOLE = re.compile(r"-?\d{1,18}")


def position_of(starts: Sequence[Any], texts: Sequence[str], option: str) -> Any:
    """Return the state in the texts; omitted fields are as in all states of the start.

    Raises
    ------
    UnknownNameError
        For a field that states do not have.
    InvalidParameterError
        For a value that is not of the field's type, and if a required field is missing.
    """
    example = starts[0]
    fields = declared_fields(example)
    if fields is None:
        if len(texts) > 1 or (not texts and len(starts) > 1):
            message = f"give one {option}, such as the start, {example!r}."
            raise InvalidParameterError(message)
        return read_as(option, texts[0], kind_of(example)) if texts else example
    values = {
        field: column[0]
        for field, column in zip(
            fields, zip(*(fields_of(each).values() for each in starts), strict=True), strict=True
        )
        if len(set(column)) == 1
    }
    for field, text in assignments(texts, option=option).items():
        if field not in fields:
            kind = f"field of {option.replace('--state', 'the state')} called"
            raise UnknownNameError.nearest(kind, field, fields)
        values[field] = read_as(field, text, kind_of(fields[field]))
    missing = [field for field in fields if field not in values]
    if missing:
        message = f"{option} must say {', '.join(missing)}: the game starts at random."
        raise InvalidParameterError(message)
    return type(example)(**values)


def states_where(model: Model, conditions: Sequence[str], option: str) -> NDArray[np.bool_]:
    """Return the states in which variables have values, as in ``x=2``, ``b=true``; (S,).

    Raises
    ------
    UnknownNameError
        If there is no such variable, or no such state.
    InvalidParameterError
        For a value that is not of the variable's type.
    """
    found = np.ones(model.num_states, np.bool_)
    for condition in conditions:
        name, _, value = condition.partition("=")
        if name not in model.variables:
            kind = "variable"
            raise UnknownNameError.nearest(kind, name, model.variables)
        column = model.variables[name]
        words = ("false", "true") if column.dtype == np.bool_ else ()
        if value not in words and (words or not WHOLE.fullmatch(value)):
            wanted = " or ".join(words) or "a whole number"
            message = f"{option}: {name} is {wanted}, not {shown(value)}."
            raise InvalidParameterError(message)
        found &= column == (words.index(value) if words else int(value))
    if not found.any():
        message = f"{option}: there is no state with {', '.join(conditions)}."
        raise UnknownNameError(message)
    return found


def state_where(model: Model, texts: Sequence[str], option: str) -> int:
    """Return the one state in which variables have values.

    Raises
    ------
    InvalidParameterError
        If there are several.
    """
    conditions = [condition for text in texts for condition in text.split(",")]
    states = np.flatnonzero(states_where(model, conditions, option)).tolist()
    if len(states) > 1:
        examples = " and ".join(f"{one} ({model.state_name(one)})" for one in states[:2])
        message = (
            f"{option}: there are {len(states):,} states with {', '.join(conditions)}, such as "
            f"{examples}. Say more of it, or give its number."
        )
        raise InvalidParameterError(message)
    return int(states[0])


def starts_of(origin: gamedp.rules.Rules | gamedp.rules.StagedRules | Model) -> list[Any]:
    """Return the states in which play can begin."""
    if not isinstance(origin, (gamedp.rules.Rules, gamedp.rules.StagedRules)):
        return [origin.state(int(index)) for index in origin.initial_states]
    try:
        starts = [state for _, state in origin.initial()]
        starts[0]
    except (IndexError, TypeError, ValueError):
        gamedp.compile(origin.game, compile="never")  # reports what is wrong with the rules
        raise
    return starts


def picture_of(rules: gamedp.rules.Rules | gamedp.rules.StagedRules | None, position: Any) -> str:
    """Return a position as Python writes it, and the game's drawing of it."""
    written = repr(position)
    if rules is not None and rules.render(position) not in {written, str(position)}:
        written += "\n" + rules.render(position)
    return written
