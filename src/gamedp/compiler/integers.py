"""Checked integers in compiled rules: overflow of 64 bits is an error, never a wrong number.

Python's integers are unbounded; compiled ones wrap around. So rules are compiled with an additional
pass after type inference: it replaces integer arithmetic by functions that compute the same, and
raise OverflowError where Python's result would be another. For an addition, LLVM's overflow flag
costs one jump that is never taken.

Not checked are numpy's own functions and what is stored in arrays, where numpy wraps around in
plain Python, too; and numbers of a variable that is an int in one place and a float in another,
which is a float throughout.

First come the functions, then the pass that puts them into the rules.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

from llvmlite import ir
from numba import literal_unroll, njit
from numba.core import cgutils, ir as numba_ir, types
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.ir_utils import mk_unique_var
from numba.core.typed_passes import PreLowerStripPhis
from numba.core.typing import signature
from numba.extending import intrinsic, overload

from gamedp.runtime.jit import PART, LinkingCompiler

__all__ = ["CheckedCompiler", "checked_function", "raise_if_rounded"]

EXACT = 2**53
"""Largest number up to which all integers are floating-point numbers."""

_WHOLE = (types.Integer, types.Boolean)


def _raise_if(context: Any, builder: Any, is_wrong: Any, text: str) -> None:
    with builder.if_then(is_wrong, likely=False):
        context.call_conv.return_user_exc(builder, OverflowError, (text,))


def _as(context: Any, builder: Any, value: Any, kind: Any, result: Any, text: str) -> Any:
    """Cast an operand to the type of the computation; raise if it does not fit."""
    cast = context.cast(builder, value, kind, result)
    turns = isinstance(kind, types.Integer) and kind.signed != result.signed
    if turns and (kind.signed or kind.bitwidth >= result.bitwidth):
        _raise_if(context, builder, builder.icmp_signed("<", cast, cast.type(0)), text)
    return cast


def raise_if_rounded(context: Any, builder: Any, value: Any, kind: Any, name: str) -> None:
    """Let machine code raise OverflowError if an integer, or one of several, is not a float."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.BaseTuple):
        for place, each in enumerate(kind):
            raise_if_rounded(context, builder, builder.extract_value(value, place), each, name)
    elif isinstance(kind, types.Integer) and kind.bitwidth == 64:
        inexact = _is_inexact(builder, value)
        _raise_if(context, builder, inexact, f"{name} is an int beyond 2**53 that no float equals")


def _is_inexact(builder: Any, value: Any) -> Any:
    """Return whether an integer of 64 bits is not a floating-point number."""
    zeros = builder.cttz(value, cgutils.false_bit)
    shift = builder.and_(zeros, value.type(63))
    odd = builder.ashr(value, shift)
    shifted = builder.add(odd, odd.type(EXACT))
    return builder.icmp_unsigned(">", shifted, odd.type(2 * EXACT))


def _arithmetic(operation: Any, sign: str, name: str) -> Any:
    """Return `operation` on integers, for which LLVM has an instruction that reports overflow."""
    text = f"a {sign} b is beyond 64 bits"

    def checked(typing_context: Any, a: Any, b: Any) -> Any:
        plain = typing_context.resolve_function_type(operation, (a, b), {})
        result = plain.return_type

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            left, right = (
                _as(context, builder, value, kind, result, text)
                for value, kind in zip(arguments, (a, b), strict=True)
            )
            instruction = f"{'s' if result.signed else 'u'}{name}_with_overflow"
            pair = getattr(builder, instruction)(left, right)
            _raise_if(context, builder, builder.extract_value(pair, 1), text)
            return builder.extract_value(pair, 0)

        return signature(result, a, b), generate

    return intrinsic(checked)


def _shift_left(operation: Any) -> Any:
    """Return a left shift, which raises if bits are lost."""

    def checked(typing_context: Any, a: Any, b: Any) -> Any:
        result = typing_context.resolve_function_type(operation, (a, b), {}).return_type
        text = "a << b is beyond 64 bits, or b is negative"

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            value = context.cast(builder, arguments[0], a, result)
            by = context.cast(builder, arguments[1], b, types.int64)
            if isinstance(value, ir.Constant) and value.constant > 0:  # as in 1 << b: one look
                room = value.type.width - result.signed - value.constant.bit_length()
                far = builder.icmp_unsigned(">", by, by.type(room))
                _raise_if(context, builder, far, text)
                return builder.shl(value, by, ("nuw", "nsw") if result.signed else ("nuw",))
            with builder.if_then(_is_far(builder, by), likely=False):
                some = builder.icmp_unsigned("!=", value, value.type(0))
                negative = builder.icmp_signed("<", by, by.type(0))
                _raise_if(context, builder, builder.or_(some, negative), text)
            places = builder.and_(by, by.type(63))
            shifted = builder.shl(value, places)
            back = (builder.ashr if result.signed else builder.lshr)(shifted, places)
            _raise_if(context, builder, builder.icmp_unsigned("!=", back, value), text)
            return shifted

        return signature(result, a, b), generate

    return intrinsic(checked)


def _is_far(builder: Any, by: Any) -> Any:
    """Return whether a shift is by a negative number of places, or by too many."""
    return builder.icmp_unsigned(">", by, by.type(63))


def _shift_right(operation: Any) -> Any:
    """Return a right shift, for any number of places."""

    def checked(typing_context: Any, a: Any, b: Any) -> Any:
        result = typing_context.resolve_function_type(operation, (a, b), {}).return_type

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            value = context.cast(builder, arguments[0], a, result)
            by = context.cast(builder, arguments[1], b, types.int64)
            start = builder.basic_block
            near = (builder.ashr if result.signed else builder.lshr)(
                value, builder.and_(by, by.type(63))
            )
            with builder.if_then(_is_far(builder, by), likely=False):
                negative = builder.icmp_signed("<", by, by.type(0))
                _raise_if(context, builder, negative, "a >> b with a negative b")
                none = value.type(0)
                if result.signed:
                    none = builder.ashr(value, value.type(63))
                far = builder.basic_block
            found = builder.phi(value.type)
            found.add_incoming(near, start)
            found.add_incoming(none, far)
            return found

        return signature(result, a, b), generate

    return intrinsic(checked)


def _bits(operation: Any, sign: str) -> Any:
    """Return a bitwise operation: with one signed operand, the result may be too large."""

    def checked(typing_context: Any, a: Any, b: Any) -> Any:
        plain = typing_context.resolve_function_type(operation, (a, b), {})
        text = f"a {sign} b is beyond 64 bits"

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            values = [
                context.cast(builder, value, kind, plain.return_type)
                for value, kind in zip(arguments, (a, b), strict=True)
            ]
            found = context.get_function(operation, plain)(builder, values)
            for value, kind in zip(values, (a, b), strict=True):
                if plain.return_type.signed and kind == types.uint64:
                    operand = found if sign == "&" else value
                    below = builder.icmp_signed("<", operand, value.type(0))
                    _raise_if(context, builder, below, text)
            return found

        return signature(plain.return_type, a, b), generate

    return intrinsic(checked)


def _division(operation: Any, sign: str) -> Any:
    """Return a division with remainder: the least integer divided by -1 is too large."""
    text = f"a {sign} b is beyond 64 bits"

    def checked(typing_context: Any, a: Any, b: Any) -> Any:
        plain = typing_context.resolve_function_type(operation, (a, b), {})
        result = plain.args[0] if operation is divmod else plain.return_type
        inner = signature(plain.return_type, result, result)

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            values = [
                _as(context, builder, value, kind, result, text)
                for value, kind in zip(arguments, (a, b), strict=True)
            ]
            if result.signed and sign != "%":
                least = builder.icmp_signed("==", values[0], values[0].type(result.minval))
                turns = builder.icmp_signed("==", values[1], values[1].type(-1))
                _raise_if(context, builder, builder.and_(least, turns), text)
            return context.get_function(operation, inner)(builder, values)

        return signature(plain.return_type, a, b), generate

    return intrinsic(checked)


def _quotient(operation: Any) -> Any:
    """Return the quotient as a float: Python divides exact integers, machines rounded ones."""

    def checked(typing_context: Any, a: Any, b: Any) -> Any:
        plain = typing_context.resolve_function_type(operation, (a, b), {})
        text = "a / b where a or b is not a float"

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            for value, kind in zip(arguments, (a, b), strict=True):
                whole = context.cast(builder, value, kind, types.int64)
                _raise_if(context, builder, _is_inexact(builder, whole), text)
            values = [
                context.cast(builder, value, kind, wanted)
                for value, kind, wanted in zip(arguments, (a, b), plain.args, strict=True)
            ]
            return context.get_function(operation, plain)(builder, values)

        return signature(plain.return_type, a, b), generate

    return intrinsic(checked)


def _comparison(operation: Any) -> Any:
    """Return a comparison of an integer with a float, which raises if rounding makes them equal."""

    def checked(typing_context: Any, a: Any, b: Any) -> Any:
        plain = typing_context.resolve_function_type(operation, (a, b), {})

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            values = [
                context.cast(builder, value, kind, types.float64)
                for value, kind in zip(arguments, (a, b), strict=True)
            ]
            number = arguments[0] if isinstance(a, _WHOLE) else arguments[1]
            whole = context.cast(builder, number, a if isinstance(a, _WHOLE) else b, types.int64)
            equal = builder.fcmp_ordered("==", *values)
            _raise_if(
                context,
                builder,
                builder.and_(equal, _is_inexact(builder, whole)),
                "an int beyond 2**53 is compared with a float",
            )
            of_floats = signature(plain.return_type, types.float64, types.float64)
            return context.get_function(operation, of_floats)(builder, values)

        return signature(plain.return_type, a, b), generate

    return intrinsic(checked)


def _negation() -> Any:
    """Return a negation, which raises at the least integer."""

    def checked(typing_context: Any, a: Any) -> Any:
        result = typing_context.resolve_function_type(operator.neg, (a,), {}).return_type

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            value = _as(context, builder, arguments[0], a, result, "-a is beyond 64 bits")
            name = "ssub_with_overflow" if result.signed else "usub_with_overflow"
            pair = getattr(builder, name)(value.type(0), value)
            _raise_if(context, builder, builder.extract_value(pair, 1), "-a is beyond 64 bits")
            return builder.extract_value(pair, 0)

        return signature(result, a), generate

    return intrinsic(checked)


def _absolute() -> Any:
    """Return the absolute value, which raises at the least integer."""

    def checked(typing_context: Any, a: Any) -> Any:
        plain = typing_context.resolve_function_type(abs, (a,), {})
        result = plain.return_type

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            value = context.cast(builder, arguments[0], a, result)
            if result.signed:
                least = builder.icmp_signed("==", value, value.type(result.minval))
                _raise_if(context, builder, least, "abs(a) is beyond 64 bits")
            return context.get_function(abs, plain)(builder, [value])

        return signature(result, a), generate

    return intrinsic(checked)


def _from_float(function: Any) -> Any:
    """Return the conversion of a float to an integer, if it fits into 64 bits."""

    def checked(typing_context: Any, a: Any) -> Any:
        kind = typing_context.resolve_value_type(function)
        plain = typing_context.resolve_function_type(kind, (a,), {})

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            number = context.cast(builder, arguments[0], a, types.float64)
            low = builder.fcmp_ordered(">=", number, number.type(-(2.0**63)))
            high = builder.fcmp_ordered("<", number, number.type(2.0**63))
            outside = builder.not_(builder.and_(low, high))  # also NaN
            _raise_if(context, builder, outside, "an int made of a float is beyond 64 bits")
            return context.get_function(kind, plain)(builder, arguments)

        return signature(plain.return_type, a), generate

    return intrinsic(checked)


def _narrowed(result: Any) -> Any:
    """Return the conversion of a number to one of numpy's integer types, if it fits."""
    text = f"a number is beyond {result}"

    def checked(_typing_context: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            cast = context.cast(builder, arguments[0], a, result)
            lost = builder.icmp_unsigned("!=", context.cast(builder, cast, result, a), arguments[0])
            if a.signed != result.signed:
                signed = arguments[0] if a.signed else cast
                below = builder.icmp_signed("<", signed, signed.type(0))
                lost = builder.or_(lost, below)
            _raise_if(context, builder, lost, text)
            return cast

        return signature(result, a), generate

    return intrinsic(checked)


_times = _arithmetic(operator.mul, "*", "mul")
_plus = _arithmetic(operator.add, "+", "add")


def _power(base: int, exponent: int) -> int:
    """Return a power of integers with an integer result."""
    raise NotImplementedError  # compiled rules alone call it, by what numba has in its place


@overload(_power, jit_options=PART, strict=False)
def _overload_power(base: Any, exponent: Any) -> Any:  # noqa: ARG001 - as the function has it
    def power(base, exponent):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        if exponent < 0:
            raise OverflowError("a ** b with a negative b is not an int")  # noqa: EM101, TRY003
        result = base**0
        while exponent > 0:
            if exponent & 1:
                result = _times(result, base)
            exponent >>= 1
            if exponent > 0:
                base = _times(base, base)
        return result

    return power


def _total(values: Any, start: Any = 0) -> Any:
    """Return the sum of integers."""
    raise NotImplementedError  # compiled rules alone call it, by what numba has in its place


@overload(_total, jit_options=PART, strict=False)
def _overload_total(values: Any, start: Any = 0) -> Any:  # noqa: ARG001
    if isinstance(values, types.Tuple):  # of several types

        def total_of_several(values, start=0):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
            found = start
            for value in literal_unroll(values):
                found = _plus(found, value)
            return found

        return total_of_several

    def total(values, start=0):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        found = start
        for value in values:
            found = _plus(found, value)
        return found

    return total


BINARY: dict[Any, Any] = {
    operator.add: _plus,
    operator.sub: _arithmetic(operator.sub, "-", "sub"),
    operator.mul: _times,
    operator.lshift: _shift_left(operator.lshift),
    operator.rshift: _shift_right(operator.rshift),
    operator.and_: _bits(operator.and_, "&"),
    operator.or_: _bits(operator.or_, "|"),
    operator.xor: _bits(operator.xor, "^"),
    operator.floordiv: _division(operator.floordiv, "//"),
    operator.mod: _division(operator.mod, "%"),
    operator.truediv: _quotient(operator.truediv),
    operator.pow: _power,
    divmod: _division(divmod, "//"),
    pow: _power,
}
"""Replacements of operations on two integers."""

LOGIC = (operator.and_, operator.or_, operator.xor)
"""Operations that also exist for truth values."""

COMPARISONS: dict[Any, Any] = {
    operation: _comparison(operation)
    for operation in (
        operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge
    )
}  # fmt: skip
"""Replacements of comparisons of an integer with a float."""

UNARY: dict[Any, Any] = {operator.neg: _negation(), abs: _absolute()}
"""Replacements of operations on one integer."""

FROM_FLOAT: dict[Any, Any] = {
    function: _from_float(function) for function in (int, round, math.floor, math.ceil, math.trunc)
}
"""Replacements of the functions that convert a float to an integer."""


NARROWED: dict[Any, Any] = {kind: _narrowed(kind) for kind in types.integer_domain}
"""Replacements of numpy's integer types, called with an integer."""


def checked_function(function: Any, kinds: tuple[Any, ...]) -> Any:
    """Return the replacement of a function for arguments of some types; None if it has none."""
    whole = [isinstance(kind, _WHOLE) for kind in kinds]
    fractions = any(isinstance(kind, types.Float) for kind in kinds)
    table: dict[Any, Any] = {}
    if isinstance(function, types.NumberClass):
        kind = function.instance_type
        if all(whole):
            table = {} if isinstance(kinds[0], types.Boolean) else NARROWED
        elif kind == types.int64:
            table = {kind: FROM_FLOAT[int]}
        function = kind
    elif function is sum and _holds_integers(kinds[0]):
        table = {sum: _total}
    elif len(kinds) == 1:
        table = UNARY if whole[0] else FROM_FLOAT if fractions else {}
    elif len(kinds) == 2 and all(whole):
        truths = any(isinstance(kind, types.Boolean) for kind in kinds)
        table = {} if truths and function in LOGIC else BINARY
    elif len(kinds) == 2 and any(whole) and fractions:
        table = COMPARISONS
    return table.get(function)


def _holds_integers(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):
        return all(isinstance(part, _WHOLE) for part in kind)
    return isinstance(kind, types.IterableType) and isinstance(
        kind.iterator_type.yield_type, _WHOLE
    )


@functools.cache
def _checked_dispatcher(dispatcher: Any) -> Any:
    """Return a function that numba compiles by itself, with checks; None if it has them already."""
    if dispatcher._compiler.pipeline_class is CheckedCompiler:  # noqa: SLF001 - nowhere else
        return None
    return njit(dispatcher.py_func, pipeline_class=CheckedCompiler, boundscheck=True)


@register_pass(mutates_CFG=False, analysis_only=False)
class _CheckIntegers(FunctionPass):  # type: ignore[misc] # numba has no types
    """Replaces operations on integers, once their types are known."""

    _name = "gamedp_check_integers"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Process all statements; return true, as something may have changed."""
        for block in state.func_ir.blocks.values():
            body = []
            for statement in block.body:
                is_assignment = isinstance(statement, numba_ir.Assign)
                if is_assignment and isinstance(statement.value, numba_ir.Expr):
                    body += _replace(state, block, statement.value)
                body.append(statement)
            block.body = body
        if not _counts_memory(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return True


def _counts_memory(state: Any) -> bool:
    """Return whether a function makes or keeps memory that numba counts references to.

    If not, any such memory is lent to it by the caller or the game.
    """
    models = state.targetctx.data_model_manager

    def is_counted(kind: Any) -> bool:
        return bool(models.lookup(kind).contains_nrt_meminfo())

    counted = {name for name, kind in state.typemap.items() if is_counted(kind)}
    if counted and isinstance(state.return_type, types.Generator):
        return True
    return is_counted(state.return_type) or any(
        statement.target.name in counted and not _is_lent(statement.value)
        for block in state.func_ir.blocks.values()
        for statement in block.body
        if isinstance(statement, numba_ir.Assign)
    )


def _is_lent(value: Any) -> bool:
    """Return whether a value is an argument, a field, or another name of such a value."""
    if isinstance(value, numba_ir.Expr):
        return value.op in ("getattr", "cast", "phi")
    return isinstance(value, (numba_ir.Arg, numba_ir.Var, numba_ir.Global, numba_ir.FreeVar))


def _replace(state: Any, block: Any, expression: Any) -> list[Any]:
    """Add checks to an expression; return the statements that must precede it."""
    if expression.op in ("binop", "inplace_binop"):
        operands = [expression.lhs, expression.rhs]
        function = expression.immutable_fn if expression.op == "inplace_binop" else expression.fn
    elif expression.op == "unary":
        operands, function = [expression.value], expression.fn
    elif expression.op == "getiter":
        _refuse_other_answers(expression, iter, _kinds(state, [expression.value]))
        return []
    elif expression.op == "call" and not expression.kws and expression.vararg is None:
        return _replace_call(state, block, expression)
    else:
        return []
    kinds = _kinds(state, operands)
    _refuse_other_answers(expression, function, kinds)
    checked = checked_function(function, kinds)
    if checked is not None:
        state.calltypes.pop(expression)
        expression.fn = checked
        if expression.op == "inplace_binop":
            expression.immutable_fn = checked
        _, state.calltypes[expression] = _resolved(state, checked, kinds)
    return []


def _refuse_other_answers(expression: Any, function: Any, kinds: tuple[Any, ...]) -> None:
    """Raise TypingError where compiled code would have another answer than Python."""
    reason = ""
    if function is operator.invert and isinstance(kinds[0], types.Boolean):
        reason = "~ of a truth value is a number in Python"
    elif function is round and len(kinds) > 1:
        reason = "round rounds other digits than in Python"
    elif function is iter and isinstance(kinds[0], types.Set):
        reason = "a set has another order than in Python"
    elif function in COMPARISONS and {types.uint64, types.int64} <= set(kinds):
        reason = "numbers of 64 bits with and without a sign are compared"
    if reason:
        raise TypingError(reason, loc=expression.loc)


def _replace_call(state: Any, block: Any, expression: Any) -> list[Any]:
    """Add checks to a call; return the statements that must precede it."""
    called = state.typemap[expression.func.name]
    kinds = _kinds(state, expression.args)
    checked = None
    if isinstance(called, types.Dispatcher):
        checked = _checked_dispatcher(called.dispatcher)
    elif isinstance(called, types.Function):
        _refuse_other_answers(expression, called.typing_key, kinds)
        checked = checked_function(called.typing_key, kinds)
    elif isinstance(called, types.NumberClass) and kinds:
        checked = checked_function(called, kinds)
    if checked is None:
        return []
    kind, signature = _resolved(state, checked, kinds)
    name = numba_ir.Var(block.scope, mk_unique_var("$checked"), expression.loc)
    state.typemap[name.name] = kind
    state.calltypes.pop(expression)
    expression.func = name
    state.calltypes[expression] = signature
    return [
        numba_ir.Assign(numba_ir.Global(name.name, checked, expression.loc), name, expression.loc)
    ]


def _kinds(state: Any, operands: Any) -> tuple[Any, ...]:
    """Return the types of some variables."""
    return tuple(types.unliteral(state.typemap[operand.name]) for operand in operands)


def _resolved(state: Any, function: Any, kinds: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the type of a function, and its signature for arguments of these types."""
    kind = state.typingctx.resolve_value_type(function)
    return kind, kind.get_call_type(state.typingctx, kinds, {})


class CheckedCompiler(LinkingCompiler):
    """Compiles a function as numba does, with integers that do not wrap around."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's own passes and the additional one."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_CheckIntegers, PreLowerStripPhis)
        passes.finalize()
        return [passes]
