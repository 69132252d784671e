"""From a staged game to its model: the stage explored, the rules of the contexts made callable."""

from __future__ import annotations

import re
import time
import types
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numba
import numpy as np
from numba import int64, typeof

from gamedp.compiler import ends_loop, stage_loop, unroll
from gamedp.compiler.bridge import bind, record
from gamedp.compiler.build import compile_game, fall_back, first_reason
from gamedp.compiler.compiled import disagree, hash_of, loops_over_rules, state_functions
from gamedp.compiler.digest import dissect, fields_read
from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError
from gamedp.kernels.lanes import LANES, REGISTER, Program
from gamedp.kernels.stages import sweep_stage_jit
from gamedp.staged_game import STAGED_DEFAULTS, STAGED_METHODS, StagedRules
from gamedp.staged_model import Contexts, Onward, StagedModel, Sweep
from gamedp.states import Codec, Layout, PackedTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model import Model
    from gamedp.progress import ProgressCallback

__all__ = ["compile_staged"]

MAX_CONTEXTS = 2**31
"""Beyond this many combinations in the box, a table of all of them is no longer sensible."""


SPOTS = 16
"""Contexts in which compiled rules are compared with plain ones."""

UNROLLING_PAYS = 1 << 36
"""Transitions times contexts from which on straight code saves more time than it takes to compile:
some seconds."""


_ZERO, _ZEROS = np.zeros(1, np.int64), np.zeros(1)
NO_PROGRAM = Program(_ZERO, _ZERO, _ZERO, _ZEROS, _ZEROS, np.zeros(1, np.bool_), _ZERO, 1)
"""For calls that do not sweep."""


def _aligned(shape: tuple[int, ...], number: float) -> NDArray[np.float64]:
    """Return an array that begins with a line of the processor's cache: no vector lies in two."""
    size = int(np.prod(shape))
    room = np.full(size + REGISTER, number)
    first = -(room.ctypes.data // room.itemsize) % REGISTER
    return room[first : first + size].reshape(shape)


def compile_staged(
    game: Any,
    *,
    compile: Literal["auto", "always", "never"] = "auto",
    progress: ProgressCallback | None = None,
    stage: Model | None = None,
) -> StagedModel:
    """Explore the stage of a staged game, and make the rules of its contexts ready.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.StagedGame`.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.
    stage : Model, optional
        The stage, if it has been explored before.

    Raises
    ------
    InvalidModelError
        If the rules of the stage are wrong somewhere, or no contexts are declared.
    UnsupportedProblemError
        If the stage can go on for ever, or begins at random.
    """
    rules = StagedRules(game)
    if stage is None:
        stage = compile_game(game.stage(), compile=compile, progress=progress)
    _check_stage(rules, stage)
    example = rules.initial()[0][1]
    layout = Layout.of(example)
    if layout is None or layout.is_leaf:
        message = f"{example!r} is no context: it must be a NamedTuple of ints and tuples of ints."
        raise InvalidModelError(message)
    codec = _box(rules, layout)
    plain = PlainSweeper(rules, stage, layout, codec)
    sweeper: PlainSweeper = plain
    begin = time.perf_counter()
    if compile != "never":
        try:
            compiled = CompiledSweeper(rules, stage, layout, codec)
            compiled.warm_up()
        except Exception as error:  # noqa: BLE001 - numba has errors outside its own family, too
            plain.check(example)  # rules that do not compile are often just wrong
            fall_back(game, first_reason(error), must=compile == "always")
        else:
            _spot_check(plain, compiled, example)
            sweeper = compiled
    seconds = dict(stage.seconds)
    seconds["compile"] = seconds.get("compile", 0.0) + time.perf_counter() - begin
    return StagedModel(rules, stage, layout, codec, sweeper, seconds)


def _check_stage(rules: StagedRules, stage: Model) -> None:
    cycle = stage.structure.cycle()
    words = f"the stage of {rules.game!r}"
    if cycle:
        path = " → ".join(str(stage.state(index)) for index in (*cycle[:8], cycle[0]))
        message = (
            f"{words} can go on for ever: {path}. A stage must be acyclic; let such moves end the "
            "stage and lead to another context."
        )
        raise UnsupportedProblemError(message)
    if len(stage.initial_states) != 1 or stage.initial_probabilities[0] < 0:
        message = f"{words} begins at random; give it one initial state, with a chance move there."
        raise UnsupportedProblemError(message)
    if stage.has_swaps:
        message = f"in {words} the players change places; let canonical() of the contexts do that."
        raise UnsupportedProblemError(message)
    if rules.num_players > 2 or stage.num_players > rules.num_players:
        message = (
            f"{words} has {stage.num_players} players, the staged game {rules.num_players}; a "
            "staged game is for one player, or for two opponents."
        )
        raise UnsupportedProblemError(message)
    if (
        stage.structure.order[-1:].size
        and not np.diff(stage.choice_offsets)[stage.initial_states[0]]
    ):
        message = f"{words} is over where it begins."
        raise InvalidModelError(message)


def _box(rules: StagedRules, layout: Layout) -> Codec:
    """Return how contexts of the declared box become codes."""
    declared = dict(rules.game.contexts())
    names = list(layout.names())
    if set(declared) != set(names):
        message = (
            f"contexts() must give a range for each field of a context, {', '.join(names)}; "
            f"it gives {', '.join(declared) or 'none'}."
        )
        raise InvalidModelError(message)
    ranges = [(int(first), int(last)) for first, last in (declared[name] for name in names)]
    for name, (first, last) in zip(names, ranges, strict=True):
        if first > last:
            message = f"contexts() gives {name} the range {first} to {last}, which is empty."
            raise InvalidModelError(message)
    codec = Codec.of_ranges([first for first, _ in ranges], [last + 1 for _, last in ranges])
    if not 0 < codec.size <= MAX_CONTEXTS:
        message = f"the box of contexts, {declared!r}, is too large for a table."
        raise InvalidParameterError(message)
    return codec


def _spot_check(plain: PlainSweeper, compiled: CompiledSweeper, example: Any) -> None:
    """Compare compiled and plain rules in some contexts; raise InvalidModelError if they differ.

    With random numbers for values, what an end is worth tells where it leads to.
    """
    size, num_ends = plain.codec.size, len(plain.end_fields)
    values = np.random.default_rng(size).random(size)
    spread = {int(code) for code in np.linspace(0, size - 1, SPOTS)}
    spread.add(int(plain.codec.pack(np.array([plain.layout.flatten(example)]))[0, 0]))
    codes = np.array(
        [code for code in sorted(spread) if plain.is_played(plain.context(code))], np.int64
    )
    offsets = np.arange(num_ends + 1)
    one, ends = np.array([num_ends]), np.ones(num_ends)
    program = Program(
        np.array([0, num_ends]), offsets, offsets[:-1], ends, ends - 1, one > 0, one, num_ends + 1
    )
    blocks = [sweeper.worth_of_ends(program, codes, values) for sweeper in (plain, compiled)]
    differing = np.argwhere(~((blocks[0] == blocks[1]) | np.isnan(blocks[0] + blocks[1])))
    differing = np.concatenate([differing, np.argwhere(np.isnan(blocks[0]) != np.isnan(blocks[1]))])
    for place, column in differing.tolist():
        context, end = (
            plain.context(int(codes[column])),
            plain.stage.state(int(plain.stage.terminals[place])),
        )
        message = (
            f"compiled rules and plain Python disagree on what {end!r} is worth in {context!r}. "
            "They may depend on integers beyond 64 bits or on something outside the game's own "
            "fields; compile='never' runs them as plain Python."
        )
        raise InvalidModelError(message)


class PlainSweeper:
    """Runs the loop over contexts with the rules as plain Python."""

    def __init__(self, rules: StagedRules, stage: Model, layout: Layout, codec: Codec) -> None:
        self.rules = rules
        self.stage = stage
        self.layout = layout
        self.codec = codec
        self.end_layout, self.end_fields = _ends(stage)
        self.matters = _what_matters(rules, layout)
        self.game = self._bound()
        self._codes: list[object] = []  # in memory as long as somebody may sweep with them
        self._survey: Callable[..., int] = stage_loop.survey
        self._fill: Callable[..., int] = ends_loop.fill_ends
        self._follow: Callable[..., int] = stage_loop.follow_contexts

    def _bound(self) -> Any:
        """Return the game with the methods that the loop calls."""
        return _PlainGame(self.rules, self.layout, self.end_layout)

    def _work(self, program: Program = NO_PROGRAM) -> types.SimpleNamespace:
        """Return all that a call of a loop works on."""
        lanes, num_rows = program.lanes, program.num_rows
        return types.SimpleNamespace(
            low=self.codec.low,
            high=self.codec.high,
            stride=self.codec.stride,
            fields=np.zeros(len(self.codec.low), np.int64),
            columns=np.zeros(len(self.codec.low) * LANES, np.int64),
            packed=np.zeros(len(self.codec.low) * LANES, np.int64),
            chosen=np.zeros(LANES, np.int64),
            following=np.zeros(LANES, np.int64),
            swaps=np.zeros(LANES, np.bool_),
            rewards=np.zeros(LANES),
            worths=np.zeros(LANES),
            thin=np.zeros(LANES),
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
        """Look at every combination of the box."""
        kinds = np.zeros(self.codec.size, np.int8)
        ranks = np.zeros(self.codec.size, np.int64)
        values = np.full(self.codec.size, np.nan)
        bad = self._guarded(
            lambda: self._call(self._survey, self._work(), kinds, ranks, values), None
        )
        if bad >= 0:
            self.check(self.context(bad))
            disagree(f"in {self.context(bad)!r}", None)
        codes = np.flatnonzero(kinds == stage_loop.REAL)
        found = ranks[codes]
        if len(found) and found.min() >= -(2**15) and found.max() < 2**15:
            found = found.astype(np.int16)  # sorted in one pass
        order = np.argsort(found, kind="stable")
        found = found[order]
        borders = np.flatnonzero(np.diff(found)) + 1
        offsets = np.concatenate([[0], borders, [len(codes)]]) if len(codes) else np.zeros(1)
        return Contexts(codes[order], offsets.astype(np.int64), values)

    def sweep(
        self,
        program: Program,
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
        if status != ends_loop.DONE:
            context = self.context(int(codes[int(work.results[ends_loop.PLACE])]))
            self.check(context)
            if status == ends_loop.BAD:
                disagree(f"in {context!r}", None)
            return Sweep(is_complete=False)
        rise, change = work.results[: ends_loop.PLACE].tolist()
        return Sweep(True, rise, change, float(work.peaks.view(np.float64).max()))

    def follow(self, codes: NDArray[np.int64]) -> Onward:
        """Say where each end of the stage leads to from the contexts `codes`."""
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
        if status != ends_loop.DONE:
            context = self.context(int(codes[int(work.results[ends_loop.PLACE])]))
            self.check(context)
            disagree(f"in {context!r}", None)
        return onward

    def straighten(self, program: Program, columns: int, *, unrolls: bool | None) -> Program:
        """Return the program as straight machine code, if that is possible, and worth it."""
        if numba.config.DISABLE_JIT or not unroll.can_unroll(program):
            return program
        if unrolls is None:
            pays = columns * len(program.rows) >= UNROLLING_PAYS
            unrolls = pays or unroll.is_unrolled(program)
        if not unrolls:
            return program
        straight, code = unroll.unrolled(program)
        self._codes.append(code)
        return straight

    def _call(self, loop: Callable[..., int], work: Any, *arguments: Any) -> int:
        return loop(self.game, work, *arguments)

    def _sweep(
        self,
        work: Any,
        program: Program,
        codes: NDArray[np.int64],
        values: NDArray[np.float64],
        weights: bool,
        writes: bool,
    ) -> int:
        """Do what `stage_loop.sweep_contexts` does, with plain rules and compiled kernels."""
        row = int(program.own_rows[-1])
        for first in range(0, len(codes), LANES):
            some = codes[first : first + LANES]
            status = self._fill(self.game, work, program.never, some, values, weights)
            if status == ends_loop.DONE:
                sweep_stage_jit(program, work.alive, work.block, work.scratch)
                column = stage_loop.take_over_jit(
                    work.block, row, some, weights, writes, values, work.results
                )
                if column < 0:
                    continue
                work.results[ends_loop.PLACE] = column
                status = ends_loop.BAD
            work.results[ends_loop.PLACE] += first
            return status
        return ends_loop.DONE

    def context(self, code: int) -> Any:
        """Return the context with that code."""
        return self.layout.build(iter(self.codec.unpack(np.array([[code]]))[0].tolist()))

    def worth_of_ends(
        self, program: Program, codes: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what each end is worth in each of a few contexts, (E, n)."""
        work = self._work(program)
        self._guarded(
            lambda: self._sweep(work, program, codes, values, weights=False, writes=False), codes
        )
        ends: NDArray[np.float64] = work.block[0, : len(self.end_fields), : len(codes)]
        return ends

    def is_played(self, context: Any) -> bool:
        """Say whether the stage is played in a context, and it stands for itself."""
        rules = self.rules
        return bool(
            rules.call("is_state", context)
            and rules.canonical(context) == (context, False)
            and not rules.call("is_terminal", context)
        )

    def _guarded(self, call: Callable[[], int], codes: NDArray[np.int64] | None) -> int:
        """Make a call of a loop; have the rules' mistake explained if they raise."""
        try:
            return int(call())
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            for code in range(self.codec.size) if codes is None else codes.tolist():
                context = self.context(code)
                if self.rules.call("is_state", context):
                    self.check(context)
            disagree("somewhere in the contexts", error)

    def check(self, context: Any) -> None:
        """Look at one context in plain Python; raise InvalidModelError if something is wrong."""
        try:
            self._check(context)
        except InvalidModelError:
            raise
        except Exception as error:
            error.add_note(f"gamedp: raised by the rules in {context!r}")
            raise

    def _check(self, context: Any) -> None:
        rules = self.rules
        representative, swapped = self._settled(context, f"canonical({context!r})")
        if swapped and rules.num_players != 2:
            message = f"canonical({context!r}) swaps the players, which takes two."
            raise InvalidModelError(message)
        if rules.call("is_terminal", representative):
            payoff = rules.call("payoff", representative, 0)
            if not abs(payoff) < np.inf:
                message = (
                    f"payoff({representative!r}, 0) is {payoff!r}; it must be a finite number."
                )
                raise InvalidModelError(message)
            return
        rank, some = rules.call("rank", representative), False
        for fields in self.end_fields.tolist():
            end = self.end_layout.build(iter(fields))
            if not rules.call("allows", representative, end):
                continue
            some = True
            place = f"following({representative!r}, {end!r})"
            following, _ = self._settled(rules.call("following", representative, end), place)
            if rules.call("rank", following) > rank:
                message = (
                    f"{place} is {following!r} of rank {rules.call('rank', following)}, from rank "
                    f"{rank}; a rank must never rise."
                )
                raise InvalidModelError(message)
            reward = rules.call("reward", representative, end, 0)
            if not abs(reward) < np.inf:
                message = f"reward({representative!r}, {end!r}, 0) is {reward!r}, not finite."
                raise InvalidModelError(message)
        if not some or not self._can_end(representative):
            message = (
                f"in {representative!r} the stage cannot be played to an end that allows() accepts."
                " Let is_terminal() say that the game is over, is_state() that there is no such "
                "context, or allow more ends."
            )
            raise InvalidModelError(message)

    def _settled(self, context: Any, place: str) -> tuple[Any, bool]:
        """Return the representative of a context, which must be in the box and represent itself."""
        representative, swapped = self.rules.canonical(context)
        fields = self.layout.flatten(representative)
        if not self.codec.contains(fields):
            message = (
                f"{place} leads to {representative!r}, which is outside the box of contexts, "
                f"{self.rules.game.contexts()!r}."
            )
            raise InvalidModelError(message)
        if not self.rules.call("is_state", representative):
            message = f"{place} leads to {representative!r}, which is_state() denies."
            raise InvalidModelError(message)
        again = self.rules.canonical(representative)
        if again != (representative, False):
            message = f"canonical({representative!r}) is {again!r}; it must represent itself."
            raise InvalidModelError(message)
        return representative, swapped

    def _can_end(self, context: Any) -> bool:
        """Say whether the mover can always keep to ends that are allowed."""
        stage = self.stage
        allowed = np.ones(stage.num_states, np.bool_)
        for index, fields in zip(stage.terminals.tolist(), self.end_fields.tolist(), strict=True):
            end = self.end_layout.build(iter(fields))
            allowed[index] = self.rules.call("allows", context, end)
        for state in stage.structure.order.tolist():
            first, last = stage.choice_offsets[state : state + 2].tolist()
            if first < last:
                allowed[state] = any(
                    allowed[
                        stage.successors[slice(*stage.transition_offsets[c : c + 2].tolist())]
                    ].all()
                    for c in range(first, last)
                )
        return bool(allowed[stage.initial_states[0]])


class _PlainGame:
    """A staged game with what the loop calls besides its rules."""

    def __init__(self, rules: StagedRules, layout: Layout, end_layout: Layout) -> None:
        for name in (*STAGED_METHODS, *STAGED_DEFAULTS):
            setattr(self, name, lambda *arguments, name=name: rules.call(name, *arguments))
        functions = state_functions(layout) | state_functions(end_layout, of="_end")
        for name, function in functions.items():
            setattr(
                self, name, lambda *arguments, function=function: function(rules.game, *arguments)
            )


class CompiledSweeper(PlainSweeper):
    """Runs the loop over contexts compiled for the game's rules."""

    def __init__(self, rules: StagedRules, stage: Model, layout: Layout, codec: Codec) -> None:
        super().__init__(rules, stage, layout, codec)
        if not numba.config.DISABLE_JIT:
            self._survey, self._sweep_contexts, self._follow = self._loops
        else:
            self._sweep_contexts = stage_loop.sweep_contexts

    def _bound(self) -> Any:
        anatomy = dissect(self.rules.game, STAGED_METHODS, STAGED_DEFAULTS)
        functions = state_functions(self.layout) | state_functions(self.end_layout, of="_end")
        layouts = hash_of(repr((self.layout, self.end_layout)))
        key = f"{type(self.rules.game).__name__}-{anatomy.digest[:24]}-{layouts}"
        methods = anatomy.methods | functions
        game = bind(self.rules.game, key, methods, anatomy.helpers, anatomy.fields)
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
                "rank": context,
                "is_state": context,
            }
            functions_of_rules = (
                stage_loop.survey,
                stage_loop.sweep_contexts,
                stage_loop.follow_contexts,
            )
            self._loops = loops_over_rules(functions_of_rules, key, signatures)
        return game

    def warm_up(self) -> None:
        """Compile the loops, or load them from disk, by calls that have nothing to do."""
        nothing, values = np.zeros(0, np.int64), np.zeros(1)
        self._call(self._survey, self._work(), np.zeros(0, np.int8), nothing, values)
        self._sweep(self._work(), NO_PROGRAM, nothing, values, weights=False, writes=True)

    def _call(self, loop: Callable[..., int], work: Any, *arguments: Any) -> int:
        return int(loop(self.game, record("stages", vars(work)), *arguments))

    def _sweep(
        self,
        work: Any,
        program: Program,
        codes: NDArray[np.int64],
        values: NDArray[np.float64],
        weights: bool,
        writes: bool,
    ) -> int:
        return self._call(self._sweep_contexts, work, program, codes, values, weights, writes)


def _what_matters(rules: StagedRules, layout: Layout) -> NDArray[np.bool_]:
    """Return for each field of a context whether `allows` may depend on it."""
    function = getattr(type(rules.game), "allows", None)
    known = set() if function is None else fields_read(function, 1)
    names = [re.split(r"[.\[]", name)[0] for name in layout.names()]
    return np.array([known is None or name in known for name in names])


def _ends(stage: Model) -> tuple[Layout, NDArray[np.int64]]:
    """Return the layout of the stage's states, and the fields of those in which it may end."""
    table = stage.states
    if not isinstance(table, PackedTable):
        message = "the states of a stage must be NamedTuples of ints and tuples of ints."
        raise InvalidModelError(message)
    return table.layout, table.fields()[stage.terminals]
