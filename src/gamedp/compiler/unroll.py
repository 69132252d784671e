"""A stage as straight machine code: every row and every probability known when it is compiled.

The sweep in :mod:`gamedp.kernels.stages` reads from arrays what to do next. Where a stage is swept
for very many contexts, that reading is most of the work. Straight code for one register of contexts
at a time does without it, and the rows of one register all fit into the processor's nearest cache.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from gamedp.compiler.cache import RulesCache
from gamedp.kernels.lanes import REGISTER, Program

__all__ = ["can_unroll", "is_unrolled", "unrolled"]

MAX_TRANSITIONS = 1 << 15
"""Beyond that, code for all of them takes minutes to compile."""


def can_unroll(program: Program) -> bool:
    """Say whether a stage can become straight code: if it is small, and all movers agree."""
    return len(program.rows) <= MAX_TRANSITIONS and bool(
        program.maximise.all() or not program.maximise.any()
    )


def is_unrolled(program: Program) -> bool:
    """Say whether the code of a stage has been compiled before, and is on disk."""
    return _cache(program).holds_something


def unrolled(program: Program) -> tuple[Program, object]:
    """Return a program that runs as straight code, and what must live as long as it is used.

    Columns are swept by registers of `REGISTER`; where an end is not allowed, its value is the
    worst there is.
    """
    code = _code(_digest(program), _Frozen(program))
    worst = -np.inf if program.maximise.all() else np.inf
    return program._replace(address=code.address, lanes=REGISTER, never=worst), code


class _Frozen:
    """A program as an argument whose identity is given by another one."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen)

    def __hash__(self) -> int:
        return 0


def _digest(program: Program) -> str:
    text = hashlib.sha256()
    for array in program[: Program._fields.index("num_rows")]:
        text.update(f"{array.dtype} {array.shape} ".encode())  # type: ignore[union-attr]
        text.update(array.tobytes())  # type: ignore[union-attr]
    return text.hexdigest()


def _function() -> Any:
    """Return the function that is compiled; what `write` means is put in afterwards."""
    # Without a module's name, numba can write what it compiles to disk, but not read it again.
    namespace: dict[str, Any] = {"__name__": __name__}
    exec("def sweep(block):\n    write(block)", namespace)  # noqa: S102 - our own text
    return namespace["sweep"]


def _cache(program: Program) -> RulesCache:
    return RulesCache(_function(), _digest(program), "unrolled")


@functools.lru_cache(maxsize=8)
def _code(_digest: str, frozen: _Frozen) -> Any:
    """Return the compiled code of a program."""
    program = frozen.program

    @intrinsic
    def write(_typing_context, block):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            _write(builder, arguments[0], program)
            return context.get_dummy_value()

        return types.void(block), generate

    function = _function()
    function.__globals__["write"] = write
    signature = types.void(types.CPointer(types.float64))
    code = CFunc(function, (signature.args, signature.return_type), locals={}, options={})
    code._cache = RulesCache(function, _digest, "unrolled")  # noqa: SLF001 - where numba puts it
    code.compile()
    return code


def _write(builder: Any, address: Any, program: Program) -> None:
    """Write the code of all states, successors first."""
    number = ir.DoubleType()
    vector = ir.VectorType(number, REGISTER)
    base = builder.bitcast(address, vector.as_pointer())
    multiply_and_add = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(vector, [vector] * 3),
        f"llvm.fmuladd.v{REGISTER}f64",
    )

    def place(row: int) -> Any:
        return builder.gep(base, [ir.Constant(ir.IntType(64), int(row))])

    def constant(value: float) -> Any:
        return ir.Constant(vector, [float(value)] * REGISTER)

    comparison = ">" if program.maximise.all() else "<"
    for state in range(len(program.own_rows)):
        best = None
        for choice in range(*program.choice_offsets[state : state + 2].tolist()):
            transitions = range(*program.transition_offsets[choice : choice + 2].tolist())
            chances = program.probabilities[transitions.start : transitions.stop]
            reward = float(program.rewards[choice])
            if reward == 0 and len(transitions) == 1 and chances[0] == 1:
                result = builder.load(place(program.rows[transitions.start]))
            else:
                result = constant(reward)
                for transition, chance in zip(transitions, chances, strict=True):
                    values = builder.load(place(program.rows[transition]))
                    result = builder.call(multiply_and_add, [constant(chance), values, result])
            if best is None:
                best = result
            else:
                better = builder.fcmp_ordered(comparison, result, best)
                best = builder.select(better, result, best)
        builder.store(best, place(program.own_rows[state]))
