"""Instances of games and solvers, from the typed texts of their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gamedp.cli.texts import assignments, read_as
from gamedp.errors import GamedpError, InvalidParameterError, UnknownNameError
from gamedp.runtime.options import REQUIRED, settings_of

__all__ = ["make"]


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
        The texts given to `option`.
    name : str
        The user's name of the class.
    option : str
        ``"--set"`` or ``"--option"``.
    word : str
        ``"parameter"`` or ``"option"``.
    given : mapping, optional
        Values given in another way.

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
        # attrs' own validators append the field and the value to the arguments after the message.
        reason = str(error.args[0]) if error.args else type(error).__name__
        message = f"{name} refuses its {word}s: {reason}"
        raise InvalidParameterError(message) from error
