"""Parameters of games and options of solvers in what JSON has, and back.

A number, a string, a truth value or None is itself; a tuple is a list; what else there is, is a
table with a tag. An object is its class's place and name, with the arguments that make it.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["decode", "decode_object", "encode", "encode_object", "is_unwritable"]


def encode(value: Any) -> Any:
    """Return `value` in what JSON has.

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
            "class": _path(kind),
            "fields": {name: encode(item) for name, item in _fields(value).items()},
        }
    return _encode_tagged(value)


def _encode_tagged(value: Any) -> dict[str, Any]:
    kind = type(value)
    if kind is list:
        return {"list": [encode(item) for item in value]}
    if kind is dict:
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, enum.Enum):
        return {"enum": _path(kind), "member": value.name}
    if kind is np.ndarray and value.dtype.kind in "biuf" and value.itemsize <= 8:
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}
    message = f"a {kind.__name__} cannot be written down"
    raise TypeError(message)


def decode(encoded: Any) -> Any:
    """Return the value that `encode` has encoded.

    Raises
    ------
    UnknownNameError
        If a class cannot be found.

    Examples
    --------
    >>> decode([1, {"list": [2.5, "three"]}])
    (1, [2.5, 'three'])
    """
    if isinstance(encoded, list):
        return tuple(decode(item) for item in encoded)
    if not isinstance(encoded, dict):
        return encoded
    if "class" in encoded:
        return decode_object(encoded, _has_declared_fields)
    return _decode_tagged(encoded)


def _decode_tagged(encoded: dict[str, Any]) -> Any:
    if "list" in encoded:
        return [decode(item) for item in encoded["list"]]
    if "dict" in encoded:
        return {decode(key): decode(item) for key, item in encoded["dict"]}
    if "enum" in encoded:
        return _find(encoded["enum"], lambda kind: issubclass(kind, enum.Enum))[encoded["member"]]
    return np.array(encoded["array"], encoded["dtype"]).reshape(encoded["shape"])


def encode_object(value: Any) -> dict[str, Any]:
    """Return the class and the fields of any object; see `is_unwritable` for some of them."""
    fields = {}
    for name, item in _fields(value).items():
        try:
            fields[name] = encode(item)
        except TypeError:
            fields[name] = {"unwritable": type(item).__name__}
    return {"class": _path(type(value)), "fields": fields}


def decode_object(encoded: dict[str, Any], is_right: Callable[[type], bool]) -> Any:
    """Return an object of the class that is named, if `is_right` says that it may be made.

    Raises
    ------
    UnknownNameError
        If there is no such class, or it does not make the same object of the fields.
    """
    kind = _find(encoded["class"], is_right)
    reason = "some of them cannot be written down"
    if not any(is_unwritable(item) for item in encoded["fields"].values()):
        try:
            value = kind(**{name: decode(item) for name, item in encoded["fields"].items()})
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
    """Say whether this stands for a field of an object that cannot be written down."""
    return isinstance(encoded, dict) and "unwritable" in encoded


def _fields(value: Any) -> dict[str, Any]:
    """Return what the class of `value` is called with to make it."""
    kind = type(value)
    if attrs.has(kind):
        return {
            field.alias or field.name: getattr(value, field.name)
            for field in attrs.fields(kind)
            if field.init
        }
    if dataclasses.is_dataclass(kind):
        return {
            field.name: getattr(value, field.name)
            for field in dataclasses.fields(kind)
            if field.init
        }
    if _is_named_tuple(kind):
        return dict(zip(kind._fields, value, strict=True))
    return dict(getattr(value, "__dict__", {}))


def _has_declared_fields(kind: type) -> bool:
    return attrs.has(kind) or dataclasses.is_dataclass(kind) or _is_named_tuple(kind)


def _is_named_tuple(kind: Any) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _find(path: str, is_right: Callable[[type], bool]) -> Any:
    """Import the class that ``"module:name"`` names, and check that it is of the right sort."""
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # a module may fail in any way
        message = f"{name} of module {module} cannot be imported ({error})."
        raise UnknownNameError(message) from error
    if not isinstance(found, type) or not is_right(found):
        message = f"{name} of module {module} is something else now."
        raise UnknownNameError(message)
    return found
