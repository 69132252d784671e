"""The numba bridge: makes the methods of a game's class callable from compiled loops.

The one place that knows ``numba.extending``. A game enters a compiled loop as a struct of the
attributes that its methods read; a method call on it is resolved to the method of the class, which
numba compiles as it stands, together with the methods and helpers that it calls in turn. With
numba's JIT disabled the loops run as plain Python, and so do the methods.
"""

from __future__ import annotations

import functools
import operator
import types as python_types
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numba import config, njit, typeof
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.core.registry import cpu_target
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer,
    infer_getattr,
    infer_global,
    make_intrinsic_template,
)
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_getattr_generic,
    models,
    overload,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)

from gamedp.compiler.integers import CheckedCompiler, raise_if_rounded
from gamedp.errors import shown
from gamedp.rules.exactness import is_rounded
from gamedp.rules.fingerprint import Fingerprint
from gamedp.rules.game import HELPER_MARK, with_item
from gamedp.runtime.jit import PART

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "BoundRecord",
    "as_action",
    "as_field",
    "as_flag",
    "as_tuple",
    "bind",
    "compiled_methods",
    "has_methods",
    "in_place",
    "method_of",
    "record",
    "returns_counted_memory",
    "unchanged",
]

_dispatchers: dict[tuple[str, str], Any] = {}
"""The compiled method for each (key of the rules, method name) bound in this process."""

CHECKS: dict[str, Any] = {"boundscheck": True, "pipeline_class": CheckedCompiler}
"""Options with which the methods of rules are compiled."""

_lowered_names: set[str] = set()
_bound_keys: set[str] = set()
_known_helpers: dict[Any, str] = {}
_exact_rules: set[str] = set()

PAID = ("payoff", "reward", "value_range")
"""Methods whose numbers enter proofs of bounds; a heuristic is an estimate anyway."""


class RecordType(types.Type):  # type: ignore[misc] # numba has no types
    """A record of named fields; with the key of rules, also the receiver of their methods."""

    def __init__(self, key: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.rules_key = key
        self.fields = fields
        super().__init__(name=f"Record({key}, {fields})")


@register_model(RecordType)
class _RecordModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, record_type: RecordType) -> None:
        members = [(_member(name), field_type) for name, field_type in record_type.fields]
        super().__init__(manager, record_type, members)

    # Arrays are lent, see `_lent`, so nothing in them is counted: to count references wherever
    # rules pass the record on takes most of the time of a call, and keeps it from being inlined.

    def traverse(self, builder: Any) -> list[Any]:
        """Return the members in which numba counts references, each with its getter."""
        return [
            (member, getter)
            for member, getter in super().traverse(builder)
            if not isinstance(member, types.Array)
        ]

    def inner_models(self) -> list[Any]:
        """Return their models."""
        return [
            model
            for member, model in zip(self._members, self._models, strict=True)
            if not isinstance(member, types.Array)
        ]


def _member(name: str) -> str:
    """Return the name of a field in the struct: numba reserves names with an underscore."""
    return f"field_{name}"


@attrs.frozen(eq=False)
class BoundRecord:
    """Named values for a compiled loop: their numba type, and the values themselves."""

    numba_type: RecordType
    values: python_types.SimpleNamespace


@typeof_impl.register(BoundRecord)
def _typeof_record(record: BoundRecord, _context: Any) -> RecordType:
    return record.numba_type


@unbox(RecordType)
def _unbox_record(record_type: RecordType, boxed: Any, c: Any) -> NativeValue:
    """Read each field of the Python object into the struct.

    Arrays are lent, without a reference to count: the Python side holds them while the loop runs.
    """
    record = cgutils.create_struct_proxy(record_type)(c.context, c.builder)
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    values = c.pyapi.object_getattr_string(boxed, "values")
    for name, field_type in record_type.fields:
        item = c.pyapi.object_getattr_string(values, name)
        native = c.unbox(field_type, item)
        setattr(record, _member(name), _lent(c, field_type, native.value))
        c.pyapi.decref(item)
        with c.builder.if_then(native.is_error):
            c.builder.store(cgutils.true_bit, failed)
    c.pyapi.decref(values)
    return NativeValue(record._getvalue(), is_error=c.builder.load(failed))  # noqa: SLF001


def _lent(c: Any, field_type: types.Type, value: Any) -> Any:
    """Drop an array's reference to its memory."""
    if not isinstance(field_type, types.Array):
        return value
    if c.context.enable_nrt:
        c.context.nrt.decref(c.builder, field_type, value)
    array = c.context.make_array(field_type)(c.context, c.builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    return array._getvalue()  # noqa: SLF001


@infer_getattr
class _RecordAttributes(AttributeTemplate):  # type: ignore[misc]
    """Resolves ``record.name`` to a field, or to a method of the rules."""

    key = RecordType

    def generic_resolve(self, record_type: RecordType, name: str) -> types.Type | None:
        method = method_of(record_type, record_type, name)
        return method or dict(record_type.fields).get(name)


def method_of(receiver: types.Type, record_type: RecordType, name: str) -> types.Type | None:
    """Return the type of a method of the rules, called on a record or on its place."""
    dispatcher = _dispatchers.get((record_type.rules_key, name))
    if dispatcher is None:
        return None
    dispatcher_type = types.Dispatcher(dispatcher)

    class MethodTemplate(AbstractTemplate):  # type: ignore[misc]
        key = _method_key(name)

        def generic(self, arguments: Any, keywords: Any) -> Any:
            signature = dispatcher_type.get_call_type(
                self.context, (receiver, *arguments), keywords
            )
            if name in {"player", "tier"}:
                _require_integer(name, signature.return_type)
            return signature.as_method()

    return types.BoundFunction(MethodTemplate, receiver)


def has_methods(record_type: RecordType) -> bool:
    """Return whether a record has methods, as that of rules does."""
    return any(key == record_type.rules_key for key, _ in _dispatchers)


def _require_integer(name: str, kind: types.Type) -> None:
    """Refuse a method of the rules that numba would round to an integer."""
    if not isinstance(types.unliteral(kind), (types.Boolean, types.Integer, types.IntEnumMember)):
        message = f"{name}() returns values of type {kind}; it must be an integer"
        raise TypingError(message)


def _method_key(name: str) -> tuple[type, str]:
    return (RecordType, name)


def _lower_method(name: str) -> None:
    """Declare to numba, once, how a call of the method `name` on any game is lowered."""
    if name in _lowered_names:
        return
    _lowered_names.add(name)

    @lower_builtin(_method_key(name), types.Any, types.VarArg(types.Any))
    def call_method(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        dispatcher = _dispatchers[signature.args[0].rules_key, name]
        call = context.get_function(types.Dispatcher(dispatcher), signature)
        result = call(builder, arguments)
        for library in getattr(call, "libs", ()):
            context.add_linking_libs([library])
        if name in PAID and signature.args[0].rules_key in _exact_rules:
            raise_if_rounded(context, builder, result, signature.return_type, f"{name}()")
        return impl_ret_new_ref(context, builder, signature.return_type, result)


@lower_getattr_generic(RecordType)
def _lower_field(context: Any, builder: Any, record_type: RecordType, value: Any, name: str) -> Any:
    game = cgutils.create_struct_proxy(record_type)(context, builder, value=value)
    field_type = dict(record_type.fields)[name]
    return impl_ret_borrowed(context, builder, field_type, getattr(game, _member(name)))


@overload(with_item, jit_options=PART, strict=False)
def _overload_with_item(values: Any, index: Any, value: Any) -> Any:  # noqa: ARG001
    if not isinstance(values, types.UniTuple):
        return None
    item_type = values.dtype
    if isinstance(item_type, types.Integer) and isinstance(value, types.Float):
        return None  # compiled, the fraction would be cut off

    def with_item_in_compiled_rules(values, index, value):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        if index < 0 or index >= len(values):
            raise IndexError("with_item: the index is outside the tuple")  # noqa: EM101, TRY003
        return tuple_setitem(values, index, item_type(value))

    return with_item_in_compiled_rules


def in_place(function: Callable[..., Any], *, prefer_literal: bool = False) -> Callable[..., Any]:
    """Declare the instructions that replace a call of a plain function in compiled code.

    An overload would be a function of its own, and each takes about as long to compile as a method
    of short rules.

    Parameters
    ----------
    function : callable
    prefer_literal : bool
        Whether constants among the arguments are distinguished by their values.
    """

    def declare(definition: Callable[..., Any]) -> Callable[..., Any]:
        """Register the definition of an intrinsic, a function of a context and argument types."""
        template = make_intrinsic_template(
            function, definition, function.__name__, prefer_literal=prefer_literal
        )
        infer(template)
        infer_global(function, types.Function(template))
        return definition

    return declare


def _converted(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Convert the one argument to the type that is returned."""
    return context.cast(builder, arguments[0], signature.args[0], signature.return_type)


def unchanged(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the first argument."""
    return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])


def as_field(value: Any) -> int:
    """Return an integer field of a state, in 64 bits; compiled, refuse all other types."""
    return (int(value) + 2**63) % 2**64 - 2**63


@in_place(as_field)
def _field_in_place(_typing_context: Any, value: Any) -> Any:
    kind = types.unliteral(value)
    if isinstance(kind, types.Boolean) or (
        isinstance(kind, types.Integer) and kind.name != "uint64"
    ):
        return types.int64(value), _converted
    message = (
        f"a field of a state is of type {kind} in some outcome; all fields must be signed integers"
    )
    raise TypingError(message)


def as_flag(value: Any) -> int:
    """Return a truth value in a state as 0 or 1; compiled, refuse all other types."""
    return int(value)


@in_place(as_flag)
def _flag_in_place(_typing_context: Any, value: Any) -> Any:
    kind = types.unliteral(value)
    if isinstance(kind, types.Boolean):
        return types.int64(value), _converted
    message = (
        f"a field of a state is of type {kind} in some outcome; it is a truth value in the first "
        "state, so it must be one in all"
    )
    raise TypingError(message)


def as_tuple(value: Any, kind: type | None, length: int) -> Any:
    """Return a (named) tuple in a state unchanged; refuse other classes, types and lengths."""
    if not isinstance(value, kind or tuple) or len(value) != length:  # type: ignore[arg-type]
        message = f"{shown(value)} is not laid out as other states are"
        raise TypeError(message)
    return value


@in_place(as_tuple, prefer_literal=True)
def _tuple_in_place(_typing_context: Any, value: Any, kind: Any, length: Any) -> Any:
    found = getattr(value, "instance_class", tuple)
    wanted = getattr(kind, "instance_class", tuple)
    items = getattr(length, "literal_value", None)
    if items is None:
        return None  # numba asks with literals first, and that answer counts
    if isinstance(value, types.BaseTuple) and found is wanted and value.count == items:
        return value(value, kind, length), unchanged
    message = (
        f"a state is of type {value} in some outcome; in the first state there is a "
        f"{wanted.__name__} of {items} items"
    )
    raise TypingError(message)


def as_action(action: Any) -> int:
    """Return an action as an integer; compiled, refuse all other types."""
    return operator.index(action)


@in_place(as_action)
def _action_in_place(_typing_context: Any, action: Any) -> Any:
    kind = types.unliteral(action)
    if isinstance(kind, (types.Boolean, types.Integer, types.IntEnumMember)):
        return types.int64(action), _converted
    message = f"actions() yields values of type {kind}; an action must be an integer"
    raise TypingError(message)


def _make_helper_known(function: Callable[..., Any]) -> None:
    """Register a helper, once: numba keeps what it is and all that it reads.

    Raises
    ------
    numba.core.errors.TypingError
        If something that it reads has changed since.
    """
    if not getattr(function, HELPER_MARK, False):
        return
    fingerprint = Fingerprint()
    fingerprint.add_function("helper", function)
    if function not in _known_helpers:
        _known_helpers[function] = fingerprint.hexdigest()
        register_jitable(**(PART | CHECKS))(function)
    elif _known_helpers[function] != fingerprint.hexdigest():
        message = (
            f"the helper {function.__name__} reads something that has changed since it was "
            "compiled; define the helper again, too, or restart Python"
        )
        raise TypingError(message)


def returns_counted_memory(key: str, signatures: Mapping[str, tuple[types.Type, ...]]) -> bool:
    """Return whether a method returns memory with reference counts: lists, arrays, text.

    A loop over methods that do not can be compiled without counting, which halves its time.

    Parameters
    ----------
    key : str
        Of rules that are bound.
    signatures : mapping of method name to argument types
        The signatures with which the loop calls them.

    Raises
    ------
    numba.core.errors.NumbaError
        If a method cannot be compiled.
    """
    counted = cpu_target.target_context.data_model_manager
    for name, arguments in signatures.items():
        dispatcher = _dispatchers[key, name]
        dispatcher.compile(arguments)
        result = dispatcher.overloads[arguments].signature.return_type
        parts = [result]
        if isinstance(result, types.Generator):
            parts = [result.yield_type, *result.state_types]
        for part in parts:
            if not isinstance(part, RecordType) and counted.lookup(part).contains_nrt_meminfo():
                return True
    return False


def compiled_methods(bound: Any) -> dict[str, Any]:
    """Return the compiled methods of a game, as functions of the bound game and the arguments.

    They are compiled once more, at their first call: those that loops call can't be called from
    here. There are none where numba's JIT is disabled.
    """
    if not isinstance(bound, BoundRecord):
        return {}
    key = bound.numba_type.rules_key
    names = [name for of, name in _dispatchers if of == key and not name.startswith("gamedp_")]
    return {name: _callable_method(key, name) for name in names}


@functools.cache
def _callable_method(key: str, name: str) -> Any:
    return njit(_dispatchers[key, name].py_func, **CHECKS)


def _type_of(value: Any) -> types.Type:
    """Return numba's type of a value; cached for arrays of records, where it is slow to find."""
    if type(value) is np.ndarray and value.dtype.names and value.flags.c_contiguous:
        return _stack_type(value.dtype)
    return typeof(value)


@functools.cache
def _stack_type(dtype: np.dtype[Any]) -> types.Type:
    return typeof(np.zeros(1, dtype))


@functools.lru_cache(maxsize=512)
def _record_type(key: str, fields: tuple[tuple[str, types.Type], ...]) -> RecordType:
    """Return the type of a record; cached, as its long name is slow to build."""
    return RecordType(key, fields)


def record(key: str, values: Mapping[str, Any]) -> Any:
    """Return a record of all `values` whose types numba knows.

    The others are left out: compiling a method that needs one then fails with numba's reason.
    """
    if config.DISABLE_JIT:
        return python_types.SimpleNamespace(**values)
    field_types = []
    for name, value in values.items():
        try:
            field_types.append((name, _type_of(value)))
        except (ValueError, TypeError):
            continue
    return BoundRecord(
        _record_type(key, tuple(field_types)),
        python_types.SimpleNamespace(**{name: values[name] for name, _ in field_types}),
    )


def _exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that does the same, and raises OverflowError as compiled code would."""

    def call(*arguments: Any) -> Any:
        answer = function(*arguments)
        if any(map(is_rounded, answer if isinstance(answer, tuple) else (answer,))):
            raise OverflowError(shown(answer))
        return answer

    return call


def bind(
    game: object,
    key: str,
    methods: Mapping[str, Callable[..., Any]],
    helpers: tuple[Callable[..., Any], ...],
    fields: tuple[str, ...],
    *,
    exact: bool = False,
) -> Any:
    """Prepare `game` for compiled loops.

    Parameters
    ----------
    game
        The instance whose attributes the rules read.
    key : str
        Identifies the rules; the same key must mean the same methods and helpers.
    methods : mapping of name to function
        The functions that calls ``game.name(...)`` in compiled code stand for.
    helpers : tuple of functions
        Marked module-level functions that the methods call.
    fields : tuple of str
        The attributes that the methods read.
    exact : bool
        Whether to raise OverflowError where payments are integers that no float is equal to.
    """
    if config.DISABLE_JIT:
        bound: dict[str, Any] = {name: getattr(game, name) for name in fields}
        bound |= {name: functools.partial(function, game) for name, function in methods.items()}
        if exact:
            bound |= {name: _exactly(bound[name]) for name in PAID if name in bound}
        return python_types.SimpleNamespace(**bound)
    if exact:
        _exact_rules.add(key)
    if key not in _bound_keys:  # else these helpers are known as they are
        for function in helpers:
            _make_helper_known(function)
        _bound_keys.add(key)
    for name, function in methods.items():
        _lower_method(name)
        if (key, name) not in _dispatchers:
            # Our own functions index arrays of known lengths, and checks keep loops from vectors.
            checks = {} if name.startswith("gamedp_") else CHECKS
            _dispatchers[key, name] = njit(function, **(PART | checks))
    return record(key, {name: getattr(game, name) for name in fields})
