"""Settings of a class: the parameters of a game or the options of a solver, with their types."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import attrs

__all__ = ["REQUIRED", "Setting", "settings_of", "values_of"]

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
    """Return the settings of a class by name, in order.

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
    """Return the annotations, or none if they contain unknown names."""
    try:
        return typing.get_type_hints(holder)
    except (NameError, TypeError, AttributeError):
        return {}


def values_of(instance: Any) -> dict[str, Any]:
    """Return the values with which an instance was created, as far as it keeps them."""
    settings = settings_of(type(instance)).values()
    return {each.name: getattr(instance, each.attribute, each.default) for each in settings}
