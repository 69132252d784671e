"""Compilation of a staged game: explores the stage and prepares the rules of the contexts."""

from __future__ import annotations

import functools
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.compiler.build import compile_game, fall_back
from gamedp.compiler.reasons import first_reason
from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError, shown
from gamedp.rules.exactness import IN_STAGES
from gamedp.rules.expand import check_start
from gamedp.rules.game import StagedRules
from gamedp.rules.layout import Codec, Layout
from gamedp.stages.model import StagedModel
from gamedp.stages.plain_rules import PlainRules
from gamedp.stages.sweepers import CompiledSweeper, PlainSweeper
from gamedp.stages.vector_code import StageProgram

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode
    from gamedp.stages.model import Contexts, Onward, Sweep, Sweeper


MAX_CONTEXTS = 2**31
"""Largest number of combinations in the box: a table of more is not sensible."""

PLAIN_ENDS = 5_000
"""Largest number of ends times contexts for which sweeping begins in plain Python: ten sweeps take
a twentieth of the time for compiling the rules."""

SPOTS = 16
"""Number of contexts in which compiled rules are compared with plain ones."""


def compile_staged(
    game: Any,
    *,
    compile: CompileMode = "auto",
    progress: ProgressCallback | None = None,
    stage: Model | None = None,
) -> StagedModel:
    """Explore the stage of a staged game, and prepare the rules of its contexts.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.StagedGame`.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    progress : callable, optional
        Called with a :class:`gamedp.Progress` now and then.
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
    if layout is None or not layout.is_compilable:
        message = (
            f"{shown(example)} is no context: it must be a NamedTuple of ints and tuples of ints."
        )
        raise InvalidModelError(message)
    codec = _box(rules, layout)
    plain_rules = PlainRules(rules, stage, layout, codec)
    plain = PlainSweeper(plain_rules)
    sweeper: Sweeper = plain
    begin = time.perf_counter()

    # Not a closure, which could not be sent to another process.
    compiled = functools.partial(_compiled, plain_rules, plain, example, must=compile == "always")
    if compile == "auto" and codec.size * len(plain_rules.end_fields) <= PLAIN_ENDS:
        sweeper = PatientSweeper(plain, compiled)
    elif compile != "never":
        sweeper = compiled() or plain
    check_start(rules.initial())
    seconds = dict(stage.seconds)
    seconds["compile"] = seconds.get("compile", 0.0) + time.perf_counter() - begin
    return StagedModel(rules, stage, layout, codec, sweeper, seconds)


def _compiled(
    plain_rules: PlainRules, plain: PlainSweeper, example: Any, *, must: bool
) -> CompiledSweeper | None:
    """Return the sweeper of compiled rules, compared with the plain one; None if that fails."""
    try:
        compiled = CompiledSweeper(plain_rules)
        compiled.warm_up()
    except Exception as error:  # noqa: BLE001 - numba has errors outside its own family, too
        plain_rules.check(example)  # rules that do not compile are often just wrong
        fall_back(plain_rules.rules.game, first_reason(error), must=must)
        return None
    _spot_check(plain_rules, plain, compiled, example)
    return compiled


def _check_stage(rules: StagedRules, stage: Model) -> None:
    cycle = stage.structure.cycle()
    words = f"the stage of {shown(rules.game)}"
    if cycle:
        path = " → ".join(str(stage.state(index)) for index in (*cycle[:8], cycle[0]))
        message = (
            f"{words} can go on for ever: {path}. A stage must be acyclic; let such moves end the "
            "stage and lead to another context."
        )
        raise UnsupportedProblemError(message)
    if stage.rounding[1] > 0:
        message = (
            f"some rewards of {words} are not 64-bit numbers; {IN_STAGES} Return float(...) "
            "to have them rounded."
        )
        raise InvalidModelError(message)
    if len(stage.initial_states) != 1 or stage.initial_probabilities[0] < 0:
        message = f"{words} begins at random; give it one initial state, with a chance move there."
        raise UnsupportedProblemError(message)
    if stage.mean_rewards:
        message = (
            f"outcomes in {words} have rewards of their own, which stages cannot have; give their "
            "mean, as reward(state, action, player)."
        )
        raise UnsupportedProblemError(message)
    if stage.has_swaps:
        message = f"in {words} the players change places; let canonical() of the contexts do that."
        raise UnsupportedProblemError(message)
    if rules.is_general_sum or stage.num_players > rules.num_players:
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
    """Return the layout and the packing of contexts of the declared box."""
    declared = dict(rules.game.box())
    names = list(layout.names())
    if set(declared) != set(names):
        message = (
            f"box() must give a range for each field of a context, {', '.join(names)}; "
            f"it gives {', '.join(declared) or 'none'}."
        )
        raise InvalidModelError(message)
    ranges = [(int(first), int(last)) for first, last in (declared[name] for name in names)]
    for name, (first, last) in zip(names, ranges, strict=True):
        if first > last:
            message = f"box() gives {name} the range {first} to {last}, which is empty."
            raise InvalidModelError(message)
    codec = Codec.of_ranges([first for first, _ in ranges], [last + 1 for _, last in ranges])
    if not 0 < codec.size <= MAX_CONTEXTS:
        message = f"the box of contexts, {shown(declared)}, is too large for a table."
        raise InvalidParameterError(message)
    return codec


def _spot_check(
    plain_rules: PlainRules, plain: PlainSweeper, compiled: CompiledSweeper, example: Any
) -> None:
    """Compare compiled and plain rules in some contexts; raise InvalidModelError if they differ.

    With random numbers for values, the value of an end shows where it leads to.
    """
    size, num_ends = plain_rules.codec.size, len(plain_rules.end_fields)
    values = np.random.default_rng(size).random(size)
    spread = {int(code) for code in np.linspace(0, size - 1, SPOTS)}
    spread.add(int(plain_rules.codec.pack(np.array([plain_rules.layout.flatten(example)]))[0, 0]))
    codes = np.array(
        [code for code in sorted(spread) if plain_rules.is_played(plain_rules.context(code))],
        np.int64,
    )
    offsets = np.arange(num_ends + 1)
    one, ends = np.array([num_ends]), np.ones(num_ends)
    program = StageProgram(
        np.array([0, num_ends]), offsets, offsets[:-1], ends, ends - 1, one > 0, one, num_ends + 1
    )
    blocks = [sweeper.values_of_ends(program, codes, values) for sweeper in (plain, compiled)]
    differing = np.argwhere(~((blocks[0] == blocks[1]) | np.isnan(blocks[0] + blocks[1])))
    differing = np.concatenate([differing, np.argwhere(np.isnan(blocks[0]) != np.isnan(blocks[1]))])
    for place, column in differing.tolist():
        context, end = (
            plain_rules.context(int(codes[column])),
            plain_rules.stage.state(int(plain_rules.stage.terminals[place])),
        )
        message = (
            f"compiled rules and plain Python disagree on the value of {shown(end)} in "
            f"{shown(context)}. "
            "They may depend on integers beyond 64 bits or on something outside the game's own "
            "fields; compile='never' runs them as plain Python."
        )
        raise InvalidModelError(message)


SECONDS_BEFORE_COMPILING = 1.0
"""Seconds of processor time in plain Python before the rules are compiled, which takes seconds."""


class PatientSweeper:
    """Sweeps in plain Python for a second, and then by compiled rules.

    Both give the same values. Several threads may sweep concurrently.

    Parameters
    ----------
    plain : Sweeper
    make : callable
        Returns the sweeper of compiled rules, or None if they do not compile.
    """

    def __init__(self, plain: Sweeper, make: Callable[[], Sweeper | None]) -> None:
        self._plain = plain
        self._make = make
        self._compiled: Sweeper | None = None
        self._seconds = 0.0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Begin in plain Python again where it is copied to."""
        return PatientSweeper, (self._plain, self._make)

    def _call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Call the present sweeper."""
        with self._lock:
            if self._seconds > SECONDS_BEFORE_COMPILING:
                self._compiled = self._make()
                self._seconds = float("-inf")
        begin = time.thread_time()
        answer = getattr(self._compiled or self._plain, name)(*arguments, **options)
        with self._lock:
            self._seconds += time.thread_time() - begin
        return answer

    def survey(self) -> Contexts:
        """Examine every combination of the box."""
        contexts: Contexts = self._call("survey")
        return contexts

    def sweep(self, *arguments: Any, **options: Any) -> Sweep:
        """Sweep the stage for some contexts; see :class:`Sweeper`."""
        sweep: Sweep = self._call("sweep", *arguments, **options)
        return sweep

    def follow(self, codes: NDArray[np.int64]) -> Onward:
        """Return the successors of the contexts `codes` after each end of the stage."""
        onward: Onward = self._call("follow", codes)
        return onward

    def unroll(self, program: StageProgram, columns: int, *, unrolls: bool | None) -> StageProgram:
        """Return the program as unrolled machine code, which calls no rules."""
        return self._plain.unroll(program, columns, unrolls=unrolls)
