"""Native functions made of rules, for loops that are compiled once for all games.

A loop into which rules are compiled is compiled anew for each game, which takes seconds. So one
step of the rules is a function of its own: it takes the addresses of a game and of a record of
arrays, whatever these hold, and returns a number. All such functions have one signature,
and a loop calls them through their address.

A call that raises returns `RAISED`. The same function, called from Python, then raises the error.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from llvmlite import ir
from numba import config, njit
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import (
    NativeValue,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from gamedp.compiler.bridge import (
    BoundRecord,
    RecordType,
    has_methods,
    in_place,
    method_of,
    unchanged,
)
from gamedp.compiler.cache import RulesCache
from gamedp.runtime.jit import PART, LinkingCompiler

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "RAISED",
    "NativeFunction",
    "RecordPointer",
    "call_native",
    "called_by_rules",
    "compiled_for_all",
    "held_at",
]

RAISED = -1
"""Return value of a native function if the rules raise an error."""


class RecordPointerType(types.Type):  # type: ignore[misc] # numba has no types
    """The address of a record of some type: of rules, also the receiver of their methods."""

    def __init__(self, record_type: RecordType) -> None:
        self.record_type = record_type
        self.rules_key = record_type.rules_key
        super().__init__(name=f"RecordPointer({record_type})")


@register_model(RecordPointerType)
class _RecordPointerModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, place_type: RecordPointerType) -> None:
        super().__init__(manager, place_type, ir.IntType(64))


@functools.lru_cache(maxsize=512)
def _pointer_type(record_type: RecordType) -> RecordPointerType:
    """Return the type of the address of a record."""
    return RecordPointerType(record_type)


@functools.lru_cache(maxsize=512)
def _size_of(record_type: RecordType) -> int:
    """Return the number of bytes of a record."""
    target = cpu_target.target_context
    return int(target.get_abi_sizeof(target.get_value_type(record_type)))


class RecordPointer:
    """A record in memory, where native functions find it.

    With numba's JIT disabled they take the record itself.

    Parameters
    ----------
    record
        As :func:`gamedp.compiler.bridge.record` or :func:`~gamedp.compiler.bridge.bind` made it.
    key : str
        Of the rules, if it is a game.
    """

    def __init__(self, record: Any, key: str = "") -> None:
        self.record = record
        self._key = key
        if isinstance(record, BoundRecord):
            self.numba_type = _pointer_type(record.numba_type)
            self._memory = np.zeros(_size_of(record.numba_type) // 8 + 1, np.int64)
            self.address = int(self._memory.ctypes.data)
            self.put(record)

    @property
    def given(self) -> Any:
        """The argument that a loop passes to native functions: the address or the record itself."""
        return self.address if isinstance(self.record, BoundRecord) else self.record

    @property
    def itself(self) -> Any:
        """The argument of native functions that are called from Python."""
        return self if isinstance(self.record, BoundRecord) else self.record

    def put(self, record: Any) -> None:
        """Write another record of the same type to this place."""
        self.record = record
        if isinstance(record, BoundRecord):
            _putting(self._key)(record, self.address)


@typeof_impl.register(RecordPointer)
def _typeof_pointer(place: RecordPointer, _context: Any) -> RecordPointerType:
    return place.numba_type


@unbox(RecordPointerType)
def _unbox_pointer(_place_type: RecordPointerType, boxed: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(boxed, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=c.pyapi.c_api_error())


@infer_getattr
class _RecordPointerAttributes(AttributeTemplate):  # type: ignore[misc]
    """Resolves ``place.name`` to a field of the record, or to a method of the rules."""

    key = RecordPointerType

    def generic_resolve(self, place_type: RecordPointerType, name: str) -> types.Type | None:
        method = method_of(place_type, place_type.record_type, name)
        return method or dict(place_type.record_type.fields).get(name)


@lower_getattr_generic(RecordPointerType)
def _lower_field(
    context: Any, builder: Any, place_type: RecordPointerType, address: Any, name: str
) -> Any:
    kind = context.get_value_type(place_type.record_type)
    names = [field for field, _ in place_type.record_type.fields]
    pointer = builder.inttoptr(address, kind.as_pointer())
    value = builder.load(cgutils.gep_inbounds(builder, pointer, 0, names.index(name)))
    # The record does not change while compiled code runs, so reads need not be repeated.
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    field_type = dict(place_type.record_type.fields)[name]
    return impl_ret_borrowed(context, builder, field_type, value)


@intrinsic
def _write(_typing_context: Any, record: Any, address: Any) -> Any:
    """Write a value of any type at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, place = arguments
        # Other objects that numba counts, texts and lists, are kept permanently: a game has few.
        if context.enable_nrt:
            context.nrt.incref(builder, signature.args[0], value)
        builder.store(value, builder.inttoptr(place, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(record, address), generate


def held_at(place: Any) -> Any:
    """Return the record at a place, whose fields can also be read without it.

    Rules stay where they are: a call of a method takes along their address, not all their fields.
    """
    return place


@in_place(held_at)
def _read(_typing_context: Any, place: Any) -> Any:
    if not isinstance(place, RecordPointerType):
        return None
    if has_methods(place.record_type):
        return place(place), unchanged

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        pointer = builder.inttoptr(arguments[0], kind.as_pointer())
        value = builder.load(pointer)
        return impl_ret_borrowed(context, builder, signature.return_type, value)

    return place.record_type(place), generate


def call_native(function: Any, game: Any, page: Any) -> Any:
    """Call a native function through its address, with the addresses of a game and a record.

    Compiled, the answer is RAISED if it has raised an error.
    """
    return function(game, page)


@in_place(call_native)
def _call(_typing_context: Any, function: Any, game: Any, page: Any) -> Any:
    if not all(kind is types.int64 for kind in (function, game, page)):
        return None

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        taken = (types.int64, types.int64)
        kind = context.call_conv.get_function_type(types.int64, taken)
        callee = builder.inttoptr(arguments[0], kind.as_pointer())
        status, value = context.call_conv.call_function(
            builder, callee, types.int64, taken, arguments[1:]
        )
        return builder.select(status.is_error, value.type(RAISED), value)

    return types.int64(function, game, page), generate


@attrs.frozen(eq=False)
class NativeFunction:
    """A function of two places that returns a number; from Python it is called like any other.

    Attributes
    ----------
    function : callable
    given : int or callable
        What `call_native` takes: the address of the compiled code, or the plain function.
    """

    function: Callable[[Any, Any], int]
    given: Any

    @classmethod
    def of(cls, dispatcher: Any, *places: RecordPointerType) -> NativeFunction:
        """Compile a function for places of some types, or load it from disk."""
        dispatcher.compile(places)
        found = dispatcher.overloads[places]
        return cls(dispatcher, found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def put(record: Any, address: Any) -> None:
    """Write a record to an address."""
    _write(record, address)


@functools.lru_cache(maxsize=64)
def _putting(key: str) -> Any:
    """Return the function that writes records of games with a key; of others without one."""
    dispatcher = njit(put, no_cfunc_wrapper=True, pipeline_class=LinkingCompiler)
    dispatcher._cache = RulesCache(put, key, "put")  # noqa: SLF001 - numba's own door for caches
    return dispatcher


def called_by_rules(function: Callable[..., Any], **options: bool) -> Any:
    """Compile a function that only compiled code calls, without wrappers for Python or C."""
    return njit(function, **PART, **options)


def compiled_for_all(function: Callable[..., Any]) -> Any:
    """Compile a loop independent of the rules; it is cached with the rules that it calls."""
    dispatcher = njit(
        function, nogil=True, no_cfunc_wrapper=True, _nrt=False, pipeline_class=LinkingCompiler
    )
    if not config.DISABLE_JIT:
        variant = f"boundscheck={config.BOUNDSCHECK}"
        dispatcher._cache = RulesCache(function, "for all", variant)  # noqa: SLF001
    return dispatcher
