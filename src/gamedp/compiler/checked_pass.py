"""The compiler of rules, with an additional pass for checked integers."""

from __future__ import annotations

import functools
from typing import Any

from numba import njit
from numba.core import ir, types
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import mk_unique_var
from numba.core.typed_passes import PreLowerStripPhis

from gamedp.compiler.integers import checked_function
from gamedp.runtime.linking import LinkingCompiler

__all__ = ["CheckedCompiler"]


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
                if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
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
        if isinstance(statement, ir.Assign)
    )


def _is_lent(value: Any) -> bool:
    """Return whether a value is an argument, a field, or another name of such a value."""
    if isinstance(value, ir.Expr):
        return value.op in ("getattr", "cast", "phi")
    return isinstance(value, (ir.Arg, ir.Var, ir.Global, ir.FreeVar))


def _replace(state: Any, block: Any, expression: Any) -> list[Any]:
    """Add checks to an expression; return the statements that must precede it."""
    if expression.op in ("binop", "inplace_binop"):
        operands = [expression.lhs, expression.rhs]
        function = expression.immutable_fn if expression.op == "inplace_binop" else expression.fn
    elif expression.op == "unary":
        operands, function = [expression.value], expression.fn
    elif expression.op == "call" and not expression.kws and expression.vararg is None:
        return _replace_call(state, block, expression)
    else:
        return []
    kinds = _kinds(state, operands)
    checked = checked_function(function, kinds)
    if checked is not None:
        state.calltypes.pop(expression)
        expression.fn = checked
        if expression.op == "inplace_binop":
            expression.immutable_fn = checked
        _, state.calltypes[expression] = _resolved(state, checked, kinds)
    return []


def _replace_call(state: Any, block: Any, expression: Any) -> list[Any]:
    """Add checks to a call; return the statements that must precede it."""
    called = state.typemap[expression.func.name]
    kinds = _kinds(state, expression.args)
    checked = None
    if isinstance(called, types.Dispatcher):
        checked = _checked_dispatcher(called.dispatcher)
    elif isinstance(called, types.Function):
        checked = checked_function(called.typing_key, kinds)
    elif isinstance(called, types.NumberClass) and kinds:
        checked = checked_function(called, kinds)
    if checked is None:
        return []
    kind, signature = _resolved(state, checked, kinds)
    name = ir.Var(block.scope, mk_unique_var("$checked"), expression.loc)
    state.typemap[name.name] = kind
    state.calltypes.pop(expression)
    expression.func = name
    state.calltypes[expression] = signature
    return [ir.Assign(ir.Global(name.name, checked, expression.loc), name, expression.loc)]


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
