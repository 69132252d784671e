"""The parameters of a game, or the options of a solver: which there are, and of what types."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from gamedp.cli.texts import assignments, read_as
from gamedp.errors import GamedpError, InvalidParameterError, UnknownNameError

__all__ = ["REQUIRED", "Setting", "make", "settings_of", "values_of"]

REQUIRED = inspect.Parameter.empty
"""Stands for the default of a setting that has none."""


@attrs.frozen
class Setting:
    """One parameter of a class.

    Attributes
    ----------
    name : str
        As the class takes it.
    attribute : str
        Where an instance keeps it.
    kind : type
    default
        `REQUIRED` if there is none.
    """

    name: str
    attribute: str
    kind: Any
    default: Any


def settings_of(kind: type) -> dict[str, Setting]:
    """Return what a class takes, by name, in order.

    Examples
    --------
    >>> from gamedp import Discounted
    >>> [setting.default for setting in settings_of(Discounted).values()]
    [<class 'inspect._empty'>, 'max']
    """
    fields = {field.alias: field for field in getattr(kind, "__attrs_attrs__", ())}
    # A converter's annotation replaces that of the field in __init__: what the class says counts.
    hints = _hints(vars(kind).get("__init__")) | _hints(kind)
    settings = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
            continue
        attribute = fields[name].name if name in fields else name
        default = parameter.default
        if name in fields and isinstance(fields[name].default, attrs.Factory):  # type: ignore[arg-type] # attrs types it as a function
            factory = fields[name].default
            default = None if factory.takes_self else factory.factory()
        guess = Any if default is REQUIRED or default is None else type(default)
        settings[name] = Setting(name, attribute, hints.get(attribute, guess), default)
    return settings


def _hints(holder: Any) -> dict[str, Any]:
    """Return the annotations, or none if they name what cannot be found."""
    try:
        return typing.get_type_hints(holder)
    except (NameError, TypeError, AttributeError):
        return {}


def make(
    kind: type,
    texts: Iterable[str],
    *,
    name: str,
    option: str,
    word: str,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """Make an instance from ``name=value`` texts.

    Parameters
    ----------
    kind : type
        The class.
    texts : iterable of str
        What was given to `option`.
    name : str
        What the user calls the class.
    option : str
        ``"--set"`` or ``"--option"``.
    word : str
        ``"parameter"`` or ``"option"``.
    given : mapping, optional
        Values that have been given in another way.

    Raises
    ------
    UnknownNameError
        For a name that the class does not have; offers the nearest one.
    InvalidParameterError
        For a value that is not of its type, or that the class refuses.
    """
    settings = settings_of(kind)
    values = dict(given or {})
    for key, text in assignments(texts, option=option).items():
        if key not in settings:
            what = f"{word} of {name} called"
            raise UnknownNameError.nearest(what, key, settings)
        if key in values:
            message = f"{option} {key}={text} says again what another option has said."
            raise InvalidParameterError(message)
        values[key] = read_as(key, text, settings[key].kind)
    missing = [
        key for key, each in settings.items() if each.default is REQUIRED and key not in values
    ]
    if missing:
        needed = " ".join(f"{option} {key}=..." for key in missing)
        message = f"{name} needs {needed}."
        raise InvalidParameterError(message)
    try:
        return kind(**values)
    except GamedpError:
        raise
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        # attrs' own validators put the field and the value behind the message.
        reason = str(error.args[0]) if error.args else type(error).__name__
        message = f"{name} refuses its {word}s: {reason}"
        raise InvalidParameterError(message) from error


def values_of(instance: Any) -> dict[str, Any]:
    """Return the values that an instance was made with, as far as it keeps them."""
    settings = settings_of(type(instance)).values()
    return {each.name: getattr(instance, each.attribute, each.default) for each in settings}
