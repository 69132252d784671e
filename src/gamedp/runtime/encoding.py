"""Conversion of games' parameters and solvers' options to JSON data, and back.

A number, a string, a truth value or None is itself; a tuple is a list; anything else is a
table with a tag. An object is the module and name of its class, with the arguments that make it.

A text may come from anyone, so it never imports a module: the caller of the decoder passes a
function from names to the classes that may be made.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

Known: TypeAlias = "Callable[[str], type | None]"
"""Returns the class of a name ``"module:Class"`` if it may be made, else None."""


def nothing(_path: str) -> None:
    """Know no class at all."""


def near(kind: type) -> Known:
    """Return a lookup of the classes of a class's own module and package, as parts of its objects.

    Only what has been imported, and is made of declared fields or is an enumeration.
    """
    home = kind.__module__
    package = home.rpartition(".")[0]

    def known(path: str) -> type | None:
        module, _, name = path.partition(":")
        if module != home and not (package and module.startswith(f"{package}.")):
            return None
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        is_part = isinstance(found, type) and (
            _has_declared_fields(found) or issubclass(found, enum.Enum)
        )
        return found if is_part else None

    return known


def encode(value: Any) -> Any:
    """Return `value` as JSON data.

    Raises
    ------
    TypeError
        For what cannot be written down: functions, files, objects in general.

    Examples
    --------
    >>> encode((1, [2.5, "three"]))
    [1, {'list': [2.5, 'three']}]
    """
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if value is None or kind in {bool, int, float, str}:
        return value
    if kind is tuple:
        return [encode(item) for item in value]
    if _has_declared_fields(kind):
        return {
            "class": class_path(kind),
            "fields": {name: encode(item) for name, item in fields_of(value).items()},
        }
    return _encode_tagged(value)


def _encode_tagged(value: Any) -> dict[str, Any]:
    """Return a value that JSON does not support as a dict that names its kind."""
    kind = type(value)
    if kind is list:
        return {"list": [encode(item) for item in value]}
    if kind is dict:
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, enum.Enum):
        return {"enum": class_path(kind), "member": value.name}
    if kind is np.ndarray and value.dtype.kind in "biuf" and value.itemsize <= 8:
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}
    message = f"a {kind.__name__} cannot be written down"
    raise TypeError(message)


def decode(encoded: Any, known: Known = nothing) -> Any:
    """Return the value that `encode` has encoded.

    Parameters
    ----------
    encoded
        What JSON has.
    known : callable, optional
        Returns the classes and enumerations that may be in it; none if not given.

    Raises
    ------
    UnknownNameError
        If a class is not known.

    Examples
    --------
    >>> decode([1, {"list": [2.5, "three"]}])
    (1, [2.5, 'three'])
    """
    if isinstance(encoded, list):
        return tuple(decode(item, known) for item in encoded)
    if not isinstance(encoded, dict):
        return encoded
    if "class" in encoded:
        return decode_object(encoded, known)
    return _decode_tagged(encoded, known)


def _decode_tagged(encoded: dict[str, Any], known: Known) -> Any:
    """Return the value of a dict that names its kind."""
    if "list" in encoded:
        return [decode(item, known) for item in encoded["list"]]
    if "dict" in encoded:
        return {decode(key, known): decode(item, known) for key, item in encoded["dict"]}
    if "enum" in encoded:
        return _find(encoded["enum"], known)[encoded["member"]]
    dtype = np.dtype(encoded["dtype"])
    if dtype.kind not in "biuf":
        message = f"an array of {dtype} cannot be read"
        raise TypeError(message)
    return np.array(encoded["array"], dtype).reshape(encoded["shape"])


def encode_object(value: Any) -> dict[str, Any]:
    """Return the class and the fields of any object; see `is_unwritable` for some of them."""
    fields = {}
    for name, item in fields_of(value).items():
        try:
            fields[name] = encode(item)
        except TypeError:
            fields[name] = {"unwritable": type(item).__name__}
    return {"class": class_path(type(value)), "fields": fields}


def decode_object(encoded: dict[str, Any], known: Known) -> Any:
    """Return an object of the named class.

    Parameters
    ----------
    encoded : dict
    known : callable
        Says whether its class may be made. Its fields may have parts of the classes beside it.

    Raises
    ------
    UnknownNameError
        If the class is not known, or does not make the same object of the fields.
    """
    kind = _find(encoded["class"], known)
    beside = near(kind)
    reason = "some of them cannot be written down"
    if not any(is_unwritable(item) for item in encoded["fields"].values()):
        fields = {
            name: decode(item, lambda path: known(path) or beside(path))
            for name, item in encoded["fields"].items()
        }
        try:
            value = kind(**fields)
        except (TypeError, ValueError) as error:
            reason = str(error)
        else:
            # As text, in which NaN equals itself.
            if json.dumps(encode_object(value)["fields"]) == json.dumps(encoded["fields"]):
                return value
            reason = "it has others afterwards"
    message = f"{encoded['class']} cannot be made from its fields: {reason}."
    raise UnknownNameError(message)


def is_unwritable(encoded: Any) -> bool:
    """Return whether a value stands for a field of an object that cannot be encoded."""
    return isinstance(encoded, dict) and "unwritable" in encoded


def fields_of(value: Any) -> dict[str, Any]:
    """Return the arguments with which the class of `value` makes it."""
    kind = type(value)
    if attrs.has(kind):
        return {
            field.alias or field.name: getattr(value, field.name)
            for field in attrs.fields(kind)
            if field.init
        }
    names = field_names(kind)
    if names is None:
        return dict(getattr(value, "__dict__", {}))
    return {name: getattr(value, name) for name in names}


def field_names(kind: Any) -> tuple[str, ...] | None:
    """Return the arguments of a named tuple, a dataclass or an attrs class; None of other types."""
    if attrs.has(kind):
        return tuple(field.alias or field.name for field in attrs.fields(kind) if field.init)
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind) if field.init)
    return kind._fields if _is_named_tuple(kind) else None


def declared_fields(value: Any) -> dict[str, Any] | None:
    """Return the fields of a named tuple, a dataclass or an attrs class; None of anything else.

    Examples
    --------
    >>> from gamedp.games.matches import MatchesState
    >>> declared_fields(MatchesState(0, 3)), declared_fields((0, 3))
    ({'player': 0, 'left': 3}, None)
    """
    return fields_of(value) if _has_declared_fields(type(value)) else None


def without_classes(value: Any) -> Any:
    """Return a state as JSON data for programs in any language; it cannot be read back.

    A state with fields is an object of them, a tuple is a list, a member of an enumeration is its
    name.

    Raises
    ------
    TypeError
        For what cannot be written down.

    Examples
    --------
    >>> from gamedp.games.matches import MatchesState
    >>> without_classes((MatchesState(0, 3), [2.5]))
    [{'player': 0, 'left': 3}, [2.5]]
    """
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    kind = type(value)
    if value is None or kind in {bool, int, float, str}:
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if _has_declared_fields(kind):
        return {name: without_classes(item) for name, item in fields_of(value).items()}
    if kind in {tuple, list}:
        return [without_classes(item) for item in value]
    if kind is dict and all(isinstance(key, str) for key in value):
        return {key: without_classes(item) for key, item in value.items()}
    message = f"a {kind.__name__} cannot be written down"
    raise TypeError(message)


def _has_declared_fields(kind: type) -> bool:
    return attrs.has(kind) or dataclasses.is_dataclass(kind) or _is_named_tuple(kind)


def _is_named_tuple(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def class_path(kind: type) -> str:
    """Return the name of a class in files: ``"module:Class"``, see `stable_path`."""
    return stable_path(f"{kind.__module__}:{kind.__qualname__}")


def stable_path(path: str) -> str:
    """Return the name of a class in files, wherever in this library the class stands.

    Of gamedp's own classes but its games it is the name alone: their modules may move.

    Examples
    --------
    >>> stable_path("gamedp.model.objectives:Discounted"), stable_path("my_game:Game")
    ('gamedp:Discounted', 'my_game:Game')
    """
    module, _, name = path.partition(":")
    room = f"{module}.".split(".")[:2]
    if room[0] != "gamedp" or room[1] in {"games", "testing"}:
        return path
    return f"gamedp:{name}"


def _find(path: Any, known: Known) -> Any:
    """Return the class with a name, if it may be instantiated."""
    found = known(stable_path(path)) if isinstance(path, str) else None
    if found is None:
        module, _, name = str(path).partition(":")
        message = f"{name} of module {module} is not registered, and files do not import anything."
        raise UnknownNameError(message)
    return found
