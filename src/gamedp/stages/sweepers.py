"""Sweeps over contexts, interpreted or compiled for the game."""

from __future__ import annotations

import functools
import re
import types
from typing import TYPE_CHECKING, Any

import attrs
import numba
import numpy as np
from numba import int64, typeof

from gamedp.compiler.bridge import bind, compiled_methods, record
from gamedp.compiler.cache import hash_of
from gamedp.compiler.methods import (
    compiled_twin,
    disagree,
    loops_over_rules,
    refuse_overflow_at,
    state_functions,
)
from gamedp.compiler.native import NativeFunction, RecordPointer
from gamedp.errors import shown
from gamedp.rules.anatomy import dissect, fields_read
from gamedp.rules.exactness import IN_STAGES, is_rounded, refuse_rounded
from gamedp.rules.game import STAGED_DEFAULTS, STAGED_METHODS, StagedRules
from gamedp.runtime.jit import LANES
from gamedp.stages import context_loop, unrolled_code
from gamedp.stages.kernels import PLACE, sweep_stage_jit, take_over_jit
from gamedp.stages.model import Contexts, Onward, Sweep
from gamedp.stages.plain_rules import PlainRules
from gamedp.stages.vector_code import REGISTER, StageProgram

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.rules.layout import Layout


UNROLLING_PAYS = 1 << 36
"""Least number of transitions times contexts for which unrolled code pays for its compilation:
some seconds."""


ASKED_OF_ENDS = ("allows", "following", "canonical", "reward")
"""The methods of the rules that are called for an end."""

PAGE = (
    "low",
    "high",
    "stride",
    "columns",
    "packed",
    "chosen",
    "following",
    "swaps",
    "rewards",
    "peaks",
    "end_fields",
    "numbers",
)
"""The parts of a call's work that the rules read and write."""

_ZERO, _ZEROS = np.zeros(1, np.int64), np.zeros(1)
NO_PROGRAM = StageProgram(_ZERO, _ZERO, _ZERO, _ZEROS, _ZEROS, np.zeros(1, np.bool_), _ZERO, 1)
"""The program of calls that do not sweep."""


def _aligned(shape: tuple[int, ...], number: float) -> NDArray[np.float64]:
    """Return an array aligned to the processor's cache lines, so that no vector crosses two."""
    size = int(np.prod(shape))
    room = np.full(size + REGISTER, number)
    first = -(room.ctypes.data // room.itemsize) % REGISTER
    return room[first : first + size].reshape(shape)


class PlainSweeper:
    """Runs the loop over contexts with the rules as plain Python."""

    def __init__(self, plain_rules: PlainRules) -> None:
        self.plain_rules = plain_rules
        self.rules, self.layout, self.codec = (
            plain_rules.rules,
            plain_rules.layout,
            plain_rules.codec,
        )
        self.end_layout = plain_rules.end_layout
        self.end_fields = _narrow(plain_rules.end_fields, plain_rules.end_fields)
        self.matters = _what_matters(self.rules, self.layout)
        self.game = self._bound()
        self._codes: list[object] = []  # in memory as long as somebody may sweep with them
        self._survey: Callable[..., int] = context_loop.survey
        self._fill: Callable[..., int] = context_loop.fill_ends
        self._follow: Callable[..., int] = context_loop.follow_contexts

    def __reduce__(self) -> tuple[Any, ...]:
        """Bind the rules anew where it is copied to: what numba knows of them is of one process."""
        return type(self), (self.plain_rules,)

    def _bound(self) -> Any:
        """Return the game with the methods that the loop calls."""
        return _PlainGame(self.rules, self.layout, self.end_layout)

    def _work(self, program: StageProgram = NO_PROGRAM) -> types.SimpleNamespace:
        """Return the work arrays of a call of a loop."""
        lanes, num_rows = program.lanes, program.num_rows
        columns = np.zeros(len(self.codec.low) * LANES, np.int64)
        return types.SimpleNamespace(
            low=self.codec.low,
            high=self.codec.high,
            stride=self.codec.stride,
            fields=np.zeros(len(self.codec.low), np.int64),
            columns=_narrow(columns, self.codec.low, self.codec.high),
            packed=_narrow(columns, self.codec.low, self.codec.high),
            chosen=np.zeros(LANES, np.int64),
            following=np.zeros(LANES, np.int64),
            swaps=np.zeros(LANES, np.bool_),
            rewards=np.zeros(LANES),
            end_values=np.zeros(LANES),
            thin=np.zeros(LANES),
            numbers=np.zeros(5, np.int64),
            num_ends=len(self.end_fields),
            peaks=np.zeros(LANES, np.int64),
            matters=self.matters,
            end_fields=self.end_fields,
            constant_sum=self.rules.constant_sum,
            block=_aligned((LANES // lanes, num_rows, lanes), program.never),
            alive=np.zeros(num_rows, np.bool_),
            scratch=_aligned((program.num_scratch, lanes), 0.0),
            results=np.zeros(3),
        )

    def survey(self) -> Contexts:
        """Examine every combination of the box."""
        kinds = np.zeros(self.codec.size, np.int8)
        tiers = np.zeros(self.codec.size, np.int64)
        values = np.full(self.codec.size, np.nan)
        bad = self._guarded(
            lambda: self._call(self._survey, self._work(), kinds, tiers, values), None
        )
        if bad >= 0:
            self.plain_rules.check(self.plain_rules.context(bad))
            disagree(f"in {shown(self.plain_rules.context(bad))}", None)
        codes = np.flatnonzero(kinds == context_loop.REAL)
        found = tiers[codes]
        if len(found) and found.min() >= -(2**15) and found.max() < 2**15:
            found = found.astype(np.int16)  # sorted in one pass
        order = np.argsort(found, kind="stable")
        found = found[order]
        borders = np.flatnonzero(np.diff(found)) + 1
        offsets = np.concatenate([[0], borders, [len(codes)]]) if len(codes) else np.zeros(1)
        return Contexts(codes[order], offsets.astype(np.int64), values)

    def sweep(
        self,
        program: StageProgram,
        codes: NDArray[np.int64],
        values: NDArray[np.float64],
        *,
        weights: bool = False,
        writes: bool = True,
    ) -> Sweep:
        """Sweep the stage for the contexts `codes`."""
        work = self._work(program)
        status = self._guarded(
            lambda: self._sweep(work, program, codes, values, weights, writes), codes
        )
        if status != context_loop.DONE:
            context = self.plain_rules.context(int(codes[int(work.results[PLACE])]))
            self.plain_rules.check(context)
            if status in {context_loop.BAD, context_loop.FAILED}:
                disagree(f"in {shown(context)}", None)
            return Sweep(is_complete=False)
        rise, change = work.results[:PLACE].tolist()
        return Sweep(True, rise, change, float(work.peaks.view(np.float64).max()))

    def follow(self, codes: NDArray[np.int64]) -> Onward:
        """Return the successors of the contexts `codes` after each end of the stage."""
        shape = (len(codes), len(self.end_fields))
        onward = Onward(
            np.empty(len(codes)),
            np.empty(shape, np.int64),
            np.zeros(shape, np.bool_),
            np.zeros(shape, np.int64),
            np.zeros(shape),
        )
        work, arrays = self._work(), attrs.astuple(onward, recurse=False)
        status = self._guarded(lambda: self._call(self._follow, work, codes, *arrays), codes)
        if status != context_loop.DONE:
            context = self.plain_rules.context(int(codes[int(work.results[PLACE])]))
            self.plain_rules.check(context)
            disagree(f"in {shown(context)}", None)
        return onward

    def unroll(self, program: StageProgram, columns: int, *, unrolls: bool | None) -> StageProgram:
        """Return the program as unrolled machine code, if that is possible and pays."""
        if numba.config.DISABLE_JIT or not unrolled_code.can_unroll(program):
            return program
        if unrolls is None:
            pays = columns * len(program.rows) >= UNROLLING_PAYS
            unrolls = pays or unrolled_code.is_unrolled(program)
        if not unrolls:
            return program
        unrolled, code = unrolled_code.unrolled(program)
        self._codes.append(code)
        return unrolled

    def _call(self, loop: Callable[..., int], work: Any, *arguments: Any) -> int:
        return loop(self.game, work, *arguments)

    def _sweep(
        self,
        work: Any,
        program: StageProgram,
        codes: NDArray[np.int64],
        values: NDArray[np.float64],
        weights: bool,
        writes: bool,
    ) -> int:
        """Sweep as `context_loop.sweep_contexts` does, with plain rules and compiled kernels."""
        rules = types.SimpleNamespace(answer=context_loop.answer_end, game=self.game, page=work)
        row = int(program.own_rows[-1])
        for first in range(0, len(codes), LANES):
            some = codes[first : first + LANES]
            status = self._fill(work, rules, program.never, some, values, weights)
            if status == context_loop.DONE:
                sweep_stage_jit(program, work.alive, work.block, work.scratch)
                column = take_over_jit(work.block, row, some, weights, writes, values, work.results)
                if column < 0:
                    continue
                work.results[PLACE] = column
                status = context_loop.BAD
            work.results[PLACE] += first
            return status
        return context_loop.DONE

    def values_of_ends(
        self, program: StageProgram, codes: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the value of each end in each of a few contexts, (E, n)."""
        work = self._work(program)
        self._guarded(
            lambda: self._sweep(work, program, codes, values, weights=False, writes=False), codes
        )
        ends: NDArray[np.float64] = work.block[0, : len(self.end_fields), : len(codes)]
        return ends

    def _guarded(self, call: Callable[[], int], codes: NDArray[np.int64] | None) -> int:
        """Call a loop; explain the error of the rules if they raise."""
        try:
            return int(call())
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            for code in range(self.codec.size) if codes is None else codes.tolist():
                context = self.plain_rules.context(code)
                self._refuse_overflow(context, error)
                if self.rules.call("is_state", context):
                    self.plain_rules.check(context)
            disagree("somewhere in the contexts", error)

    def _refuse_overflow(self, context: Any, error: Exception) -> None:
        """Raise InvalidModelError if compiled rules have overflowed 64 bits in a context."""


class _PlainGame:
    """A staged game with the methods that the loop calls besides its rules."""

    def __init__(self, rules: StagedRules, layout: Layout, end_layout: Layout) -> None:
        for name in (*STAGED_METHODS, *STAGED_DEFAULTS):
            ask = functools.partial(rules.call, name)
            setattr(self, name, _exactly(name, ask) if name in {"payoff", "reward"} else ask)
        self.tier = rules.tier
        functions = state_functions(layout, plain=True)
        functions |= state_functions(end_layout, of="_end", plain=True)
        for name, function in functions.items():
            setattr(
                self, name, lambda *arguments, function=function: function(rules.game, *arguments)
            )


def _exactly(name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that does the same but refuses numbers that no double is equal to."""

    def call(*arguments: Any) -> Any:
        answer = ask(*arguments)
        if is_rounded(answer):
            refuse_rounded(answer, f"{name}({', '.join(map(shown, arguments))})", IN_STAGES)
        return answer

    return call


class CompiledSweeper(PlainSweeper):
    """Runs the loop over contexts compiled for the game's rules."""

    def __init__(self, plain_rules: PlainRules) -> None:
        super().__init__(plain_rules)
        if not numba.config.DISABLE_JIT:
            self._survey, self._follow = self._loops

    def _bound(self) -> Any:
        anatomy = dissect(self.rules.game, STAGED_METHODS, STAGED_DEFAULTS)
        functions = state_functions(self.layout) | state_functions(self.end_layout, of="_end")
        layouts = hash_of(repr((self.layout, self.end_layout)))
        self._key = key = f"{type(self.rules.game).__name__}-{anatomy.digest[:24]}-stages-{layouts}"
        methods = anatomy.methods | functions
        game = bind(self.rules.game, key, methods, anatomy.helpers, anatomy.fields, exact=True)
        if not numba.config.DISABLE_JIT:
            context = (game.numba_type, typeof(self.rules.initial()[0][1]))
            end = typeof(self.end_layout.build(iter(self.end_fields[0].tolist())))
            signatures = {
                "is_terminal": context,
                "payoff": (*context, int64),
                "following": (*context, end),
                "allows": (*context, end),
                "reward": (*context, end, int64),
                "canonical": context,
                "tier": context,
                "is_state": context,
            }
            functions_of_rules = context_loop.survey, context_loop.follow_contexts
            self._loops = loops_over_rules(functions_of_rules, key, signatures)
            asked = {name: signatures[name] for name in ASKED_OF_ENDS}
            (self._answer_end,) = loops_over_rules((context_loop.answer_end,), key, asked)
        return game

    def _refuse_overflow(self, context: Any, error: Exception) -> None:
        if not isinstance(error, OverflowError) or not compiled_methods(self.game):
            return
        plain_rules, rules = (
            self.plain_rules,
            StagedRules(compiled_twin(self.rules.game, self.game)),
        )
        twin = PlainRules(rules, plain_rules.stage, plain_rules.layout, plain_rules.codec)

        def ask(each: PlainRules) -> None:
            if each.rules.call("is_state", context):
                each.check(context)

        refuse_overflow_at(lambda _: ask(twin), context, lambda _: ask(plain_rules))

    def warm_up(self) -> None:
        """Compile the loops, or load them from disk, by empty calls."""
        nothing, values = np.zeros(0, np.int64), np.zeros(1)
        self._call(self._survey, self._work(), np.zeros(0, np.int8), nothing, values)
        self._sweep(self._work(), NO_PROGRAM, nothing, values, weights=False, writes=True)

    def _call(self, loop: Callable[..., int], work: Any, *arguments: Any) -> int:
        return int(loop(self.game, record("stages", vars(work)), *arguments))

    def _sweep(
        self,
        work: Any,
        program: StageProgram,
        codes: NDArray[np.int64],
        values: NDArray[np.float64],
        weights: bool,
        writes: bool,
    ) -> int:
        game = RecordPointer(self.game, self._key)
        page = RecordPointer(record("ends", {name: getattr(work, name) for name in PAGE}))
        answer = self._native(game, page)
        rules = record(
            "rules of ends", {"answer": answer.given, "game": game.given, "page": page.given}
        )
        status = context_loop.sweep_contexts_jit(
            record("stages", vars(work)), rules, program, codes, values, weights, writes
        )
        if status == context_loop.FAILED:
            answer.function(game.itself, page.itself)
        return int(status)

    def _native(self, game: RecordPointer, page: RecordPointer) -> NativeFunction:
        """Return the native function that answers for an end."""
        if numba.config.DISABLE_JIT:
            return NativeFunction(context_loop.answer_end, context_loop.answer_end)
        return NativeFunction.of(self._answer_end, game.numba_type, page.numba_type)


def _narrow(fields: NDArray[np.int64], *extremes: NDArray[np.int64]) -> NDArray[Any]:
    """Return a copy of an array of fields, in 32 bits if all numbers fit.

    What is read from 32 bits and made an int of 64 cannot overflow in sums and differences of a
    few, and LLVM knows: it leaves out the checks, and rules without checks run in vectors.
    """
    limits = np.iinfo(np.int32)
    fits = all(((limits.min <= each) & (each <= limits.max)).all() for each in extremes)
    return fields.astype(np.int32 if fits else np.int64)


def _what_matters(rules: StagedRules, layout: Layout) -> NDArray[np.bool_]:
    """Return for each field of a context whether `allows` may depend on it."""
    function = getattr(type(rules.game), "allows", None)
    known = set() if function is None else fields_read(function, 1)
    names = [re.split(r"[.\[]", name)[0] for name in layout.names()]
    return np.array([known is None or name in known for name in names])
