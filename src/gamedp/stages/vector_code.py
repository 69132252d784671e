"""One state of a stage for many contexts: vector instructions over the columns of a block.

LLVM does not vectorise such a loop as well on its own: it cannot see that two rows of a block do
not overlap, and keeps in memory sums that fit in registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from gamedp.runtime.arrays import places_of_rows
from gamedp.runtime.jit import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Floats, Integers


REGISTER = 8
"""Number of columns in a step of unrolled code: 64 bytes, a line of the processor's cache."""


class StageProgram(NamedTuple):
    """A stage in the form of the sweep: N inner states, successors first, E ends.

    Values of a state lie in one row of a block. A row is used again once no state to come needs it.
    So a type of its own beside :class:`gamedp.bellman.equation.Equation`: its transitions lead to
    rows, not to states, its numbers of choices and states are signed, as generated code needs them,
    and it carries the address of that code.

    Attributes
    ----------
    choice_offsets : (N+1,) int64
    transition_offsets : (C+1,) int64
    rows : (T,) int64
        The row of each transition's successor.
    probabilities : (T,) float64
    rewards : (C,) float64
    maximise : (N,) bool
    own_rows : (N,) int64
        The row for each inner state's values.
    num_rows : int
        Rows of a block; the first E are those of the ends.
    lanes : int
        Columns that lie together in memory: a block is (LANES / lanes, num_rows, lanes).
    never : float
        The number that stands for an end that is not allowed.
    address : int
        Of unrolled code for `lanes` columns; 0 for the sweep that reads this program.
    num_scratch : int
        Rows that unrolled code needs besides, the same for all columns.
    """

    choice_offsets: Integers
    transition_offsets: Integers
    rows: Integers
    probabilities: Floats
    rewards: Floats
    maximise: Flags
    own_rows: Integers
    num_rows: int
    lanes: int = LANES
    never: float = np.nan
    address: int = 0
    num_scratch: int = 1


ARRAYS = StageProgram._fields[: StageProgram._fields.index("num_rows")]


def settle_plainly(program: StageProgram, state: int, alive: Flags, block: Floats) -> bool:
    """Compute the values of a state in all columns; return whether it has any.

    A column is NaN where the context does not allow any choice; a choice with a successor that is
    NaN is not allowed. Rows that are not `alive` are NaN in all columns, and not read.
    """
    best = np.full(LANES, np.nan)
    found = False
    for choice in range(program.choice_offsets[state], program.choice_offsets[state + 1]):
        first, end = program.transition_offsets[choice : choice + 2]
        if not alive[program.rows[first:end]].all():
            continue
        found = True
        result = np.full(LANES, program.rewards[choice])
        for transition in range(first, end):
            result += program.probabilities[transition] * block[program.rows[transition]]
        better = (result > best) if program.maximise[state] else (result < best)
        best = np.where(better | np.isnan(best), result, best)
    if found:
        block[program.own_rows[state]] = best
    return found


@intrinsic
def settle_in_registers(typing_context, program, state, alive, block):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, ARG001
    """Compute the values of a state as `settle_plainly` does."""
    signature = types.boolean(program, types.int64, alive, block)

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _Writer(context, builder, signature, arguments).settle()

    return signature, write


class _Writer:
    """Writes the machine-independent code of `settle_in_registers`."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        program_type, _, alive_type, block_type = signature.args
        program, self.state, alive, block = arguments
        self.integer = ir.IntType(64)
        self.vector = ir.VectorType(ir.DoubleType(), LANES)
        self.arrays = {}
        for place, name in enumerate(ARRAYS):
            member = builder.extract_value(program, place)
            self.arrays[name] = context.make_array(program_type[place])(context, builder, member)
        self.arrays["alive"] = context.make_array(alive_type)(context, builder, alive)
        self.block = context.make_array(block_type)(context, builder, block)

    def item(self, name: str, index: Any) -> Any:
        """Load an item of an array; truth values as a bit."""
        builder = self.builder
        value = builder.load(builder.gep(self.arrays[name].data, [index]))
        if name in {"alive", "maximise"}:
            return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))
        return value

    def row(self, index: Any) -> Any:
        """Return the address of a row of the block, as one long vector."""
        builder = self.builder
        first = builder.gep(self.block.data, [builder.mul(index, ir.Constant(self.integer, LANES))])
        return builder.bitcast(first, self.vector.as_pointer())

    def all_lanes(self, number: Any) -> Any:
        """Return a vector of one number."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        place = ir.IntType(32)
        single = self.builder.insert_element(nothing, number, ir.Constant(place, 0))
        zeros = ir.Constant(ir.VectorType(place, LANES), [0] * LANES)
        return self.builder.shuffle_vector(single, nothing, zeros)

    def constant(self, number: float) -> Any:
        return ir.Constant(self.vector, [number] * LANES)

    def settle(self) -> Any:
        """Write the loops over choices and transitions."""
        builder, one = self.builder, ir.Constant(self.integer, 1)
        # A sign of -1 turns the minimiser's choice into the maximiser's.
        maximise = self.item("maximise", self.state)
        infinity = ir.Constant(ir.DoubleType(), float("inf"))
        sign = builder.select(
            maximise, ir.Constant(ir.DoubleType(), 1.0), ir.Constant(ir.DoubleType(), -1.0)
        )
        worst = self.all_lanes(builder.fneg(builder.fmul(sign, infinity)))
        best = cgutils.alloca_once(builder, self.vector)
        found = cgutils.alloca_once_value(builder, cgutils.false_bit)
        builder.store(worst, best)
        first = self.item("choice_offsets", self.state)
        end = self.item("choice_offsets", builder.add(self.state, one))
        with cgutils.for_range_slice(builder, first, end, one, self.integer) as (choice, _):
            start = self.item("transition_offsets", choice)
            stop = self.item("transition_offsets", builder.add(choice, one))
            allowed = cgutils.alloca_once_value(builder, cgutils.true_bit)
            builder.store(cgutils.true_bit, allowed)
            with cgutils.for_range_slice(builder, start, stop, one, self.integer) as (place, _):
                still = builder.and_(
                    builder.load(allowed), self.item("alive", self.item("rows", place))
                )
                builder.store(still, allowed)
            with builder.if_then(builder.load(allowed)):
                builder.store(cgutils.true_bit, found)
                result = self.result(choice, start, stop)
                known = builder.load(best)
                # False where either is NaN: then the present best stays.
                with builder.if_else(maximise) as (most, least):
                    with most:
                        better = builder.fcmp_ordered(">", result, known)
                        builder.store(builder.select(better, result, known), best)
                    with least:
                        better = builder.fcmp_ordered("<", result, known)
                        builder.store(builder.select(better, result, known), best)
        with builder.if_then(builder.load(found)):
            known = builder.load(best)
            none = builder.fcmp_ordered("==", known, worst)
            values = builder.select(none, self.constant(float("nan")), known)
            address = self.row(self.item("own_rows", self.state))
            builder.store(values, address, align=8)
        return builder.load(found)

    def result(self, choice: Any, start: Any, stop: Any) -> Any:
        """Write the expectation of a choice; a deterministic one without a reward is looked up."""
        builder, one = self.builder, ir.Constant(self.integer, 1)
        total = cgutils.alloca_once(builder, self.vector)
        reward = self.item("rewards", choice)
        zero, unit = (ir.Constant(ir.DoubleType(), number) for number in (0.0, 1.0))
        is_sure = builder.and_(
            builder.icmp_signed("==", stop, builder.add(start, one)),
            builder.and_(
                builder.fcmp_ordered("==", self.item("probabilities", start), unit),
                builder.fcmp_ordered("==", reward, zero),
            ),
        )
        with builder.if_else(is_sure) as (sure, uncertain):
            with sure:
                builder.store(builder.load(self.row(self.item("rows", start)), align=8), total)
            with uncertain:
                builder.store(self.all_lanes(reward), total)
                with cgutils.for_range_slice(builder, start, stop, one, self.integer) as (place, _):
                    probability = self.all_lanes(self.item("probabilities", place))
                    values = builder.load(self.row(self.item("rows", place)), align=8)
                    product = builder.fmul(probability, values)
                    builder.store(builder.fadd(builder.load(total), product), total)
        return builder.load(total)


@intrinsic
def run_unrolled_code(typing_context, address, block, scratch):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, ARG001
    """Call the machine code at an address with the rows of one register of columns."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[1:], arguments[1:], strict=True)
        ]
        kind = ir.FunctionType(ir.VoidType(), [data.type for data in rows])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), rows)
        return context.get_dummy_value()

    return types.void(types.int64, block, scratch), write


settle_row = settle_plainly if config.DISABLE_JIT else settle_in_registers


def program_of(
    stage: Model, *, optimum: str = "max", weights: bool = False, keeps_all: bool = False
) -> StageProgram:
    """Return the stage in the form of the sweep.

    Parameters
    ----------
    stage : Model
        Acyclic, for one or two players; its first initial state is the one that counts.
    optimum : {"max", "min"}
        Player 0's aim.
    weights : bool
        For the largest expectation under any policies of both players, without rewards.
    keeps_all : bool
        Whether every state has a row of its own, those of inner states in their order.
    """
    counts = np.diff(stage.choice_offsets)
    order = np.asarray(stage.structure.order)
    start = int(stage.initial_states[0])
    inner = order[counts[order] > 0]
    # The value of the stage is the last row: nothing that comes after the start matters.
    inner = inner[: int(np.flatnonzero(inner == start)[0]) + 1]
    choices, _ = places_of_rows(stage.choice_offsets[inner], counts[inner])
    lengths = np.diff(stage.transition_offsets)[choices]
    transitions, _ = places_of_rows(stage.transition_offsets[choices], lengths)
    successors = np.asarray(stage.successors)[transitions]
    choice_offsets = np.concatenate([[0], np.cumsum(counts[inner])])
    transition_offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows, num_rows = _allocate(
        stage, inner.tolist(), choice_offsets, transition_offsets, successors, keeps_all
    )
    maximise = (stage.players[inner] == 0) == (optimum == "max")
    return StageProgram(
        choice_offsets.astype(np.int64),
        transition_offsets.astype(np.int64),
        rows[successors],
        np.asarray(stage.probabilities)[transitions],
        np.zeros(len(choices)) if weights else np.asarray(stage.rewards)[choices],
        np.ones(len(inner), np.bool_) if weights else maximise,
        rows[inner],
        num_rows,
    )


def _allocate(
    stage: Model,
    inner: list[int],
    choice_offsets: NDArray[np.int64],
    transition_offsets: NDArray[np.int64],
    successors: NDArray[Any],
    keeps_all: bool,
) -> tuple[NDArray[np.int64], int]:
    """Assign a row to every state; reuse a row once the last state that reads it is done.

    So the rows in use stay few enough for the processor's cache.
    """
    reads = np.diff(transition_offsets[choice_offsets])
    reader = np.full(stage.num_states, -1)
    # The last one that reads counts: of equal indices, numpy keeps the last.
    reader[successors] = np.repeat(np.arange(len(inner)), reads)
    rows = np.full(stage.num_states, -1, np.int64)
    rows[stage.terminals] = np.arange(len(stage.terminals))
    is_end = np.zeros(stage.num_states, np.bool_)
    is_end[stage.terminals] = True
    done: list[list[int]] = [[] for _ in inner]
    for state in [] if keeps_all else np.flatnonzero((reader >= 0) & ~is_end).tolist():
        done[reader[state]].append(state)
    free: list[int] = []
    num_rows = len(stage.terminals)
    for place, state in enumerate(inner):
        if not free:
            free.append(num_rows)
            num_rows += 1
        rows[state] = free.pop()
        # Only now: a state must not overwrite what it reads.
        free.extend(int(rows[one]) for one in done[place])
    return rows, num_rows
