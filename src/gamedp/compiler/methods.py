"""The compiled mode: a game's methods, and the loops over them, as machine code."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numba
import numpy as np
from numba import njit, typeof, types

from gamedp.compiler import explore_loop
from gamedp.compiler.bridge import (
    BoundRecord,
    as_field,
    as_flag,
    as_tuple,
    bind,
    compiled_methods,
    returns_counted_memory,
)
from gamedp.compiler.cache import RulesCache, key_of, variant
from gamedp.compiler.native import NativeFunction, RecordPointer, RecordPointerType
from gamedp.errors import InvalidModelError, shown
from gamedp.rules.anatomy import ENTRY_METHODS, dissect
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules
from gamedp.runtime.jit import LANES, LinkingCompiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gamedp.rules.layout import Layout

__all__ = [
    "CompiledRules",
    "compile_rules",
    "compiled_twin",
    "disagree",
    "loops_over_rules",
    "refuse_overflow",
    "refuse_overflow_at",
    "state_functions",
]


@attrs.frozen(eq=False)
class CompiledRules:
    """A game in the form for loops, and the functions that they call."""

    game: RecordPointer
    key: str
    _state_type: Any

    @property
    def is_compiled(self) -> bool:
        """Whether numba compiles the rules: false with its JIT disabled."""
        return isinstance(self.game.record, BoundRecord)

    def expand(self, page: RecordPointer) -> NativeFunction:
        """Return the function that writes the choices of a state to a page."""
        return self.native(explore_loop.expand_state, ASKED, page)

    def expand_in_tier(self, page: RecordPointer) -> NativeFunction:
        """Return the same for states of one tier; the rules must be compiled with that method."""
        return self.native(explore_loop.expand_in_tier, (*ASKED, "tier"), page)

    def represent(self, page: RecordPointer) -> NativeFunction:
        """Return the function that writes the representative of a state to a page."""
        return self.native(explore_loop.represent_state, ASKED, page)

    def native(
        self,
        function: Callable[..., int],
        asked: tuple[str, ...],
        page: RecordPointer,
        table: RecordPointer | None = None,
        joined: str = "",
    ) -> NativeFunction:
        """Return a function that calls these rules, or others as well that are joined to them.

        Parameters
        ----------
        function : callable
        asked : tuple of str
            The methods of these rules that it calls.
        page : RecordPointer
            The page to which it writes.
        table : RecordPointer, optional
            The record that these rules are part of.
        joined : str
            The key of these rules and of all that is compiled with them.
        """
        if not self.is_compiled:
            return NativeFunction(function, function)
        return native_function(
            function,
            asked,
            self.key,
            self.game.numba_type,
            page.numba_type,
            self._state_type,
            None if table is None else table.numba_type,
            joined,
        )


def state_functions(
    layout: Layout, of: str = "", *, plain: bool = False
) -> dict[str, Callable[..., Any]]:
    """Generate the conversions between a state and its fields, for the state's class.

    They are ``gamedp_decode`` (from fields), ``gamedp_decode_column`` (from a column of a table
    with a row of `LANES` for each field), ``gamedp_flatten`` and ``gamedp_encode`` (-1 if outside),
    with `of` behind. ``gamedp_ranges`` makes tuples of the arrays that ``gamedp_encode`` needs. If
    `plain`, they are not for the compiler, and integers are Python's, which do not overflow.
    """
    names: dict[Any, str] = {}  # of the classes of named tuples
    parts: list[str] = []
    leaves: list[str] = []

    def build(part: Layout, path: str) -> str:
        """Record how `part` is taken apart, and return the source text that builds it."""
        if part.is_leaf:
            leaves.append(f"{'as_flag' if part.kind is bool else 'as_field'}({path})")
            return f"{'truth' if part.kind is bool else 'integer'}(fields[{len(leaves) - 1}])"
        name = "" if part.kind is tuple else names.setdefault(part.kind, f"class_{len(names)}")
        whole = f"part_{len(parts)}"
        parts.append(f"    {whole} = as_tuple({path}, {name or None}, {len(part.parts)})")
        items = [build(item, f"{whole}[{place}]") for place, item in enumerate(part.parts)]
        return f"{name}({''.join(f'{item}, ' for item in items)})"

    state = build(layout, "state")
    in_column = re.sub(
        r"fields\[(\d+)\]", lambda found: f"columns[{int(found[1]) * LANES} + column]", state
    )
    numbers = range(len(leaves))
    lines = [
        f"def gamedp_decode{of}(self, fields):",
        f"    return {state}",
        f"def gamedp_decode_column{of}(self, columns, column):",
        f"    return {in_column}",
        f"def gamedp_flatten{of}(self, state, fields):",
        *parts,
        *(f"    fields[{k}] = {leaf}" for k, leaf in enumerate(leaves)),
        "    return",
        f"def gamedp_encode{of}(self, state, low, high, stride):",
        *parts,
        *(f"    field_{k} = {leaf}" for k, leaf in enumerate(leaves)),
        *(f"    if not low[{k}] <= field_{k} < high[{k}]:\n        return -1" for k in numbers),
        "    return 0" + "".join(f" + (field_{k} - low[{k}]) * stride[{k}]" for k in numbers),
        f"def gamedp_ranges{of}(self, low, high, stride):",
        *(
            f"    {name}s = ({''.join(f'{name}[{k}], ' for k in numbers)})"
            for name in ("low", "high", "stride")
        ),
        "    return lows, highs, strides",
    ]
    namespace: dict[str, Any] = {name: kind for kind, name in names.items()}
    # A number that an array keeps in 32 bits becomes an int of 64; `int` would have to be compiled.
    integer = int if plain or numba.config.DISABLE_JIT else np.int64
    namespace |= {"truth": bool, "integer": integer}
    namespace |= {"as_field": as_field, "as_flag": as_flag, "as_tuple": as_tuple}
    exec("\n".join(lines), namespace)  # noqa: S102 - our own text, the names apart are numbers
    return {
        f"gamedp_{what}{of}": namespace[f"gamedp_{what}{of}"]
        for what in ("decode", "decode_column", "flatten", "ranges", "encode")
    }


def compile_rules(
    rules: Rules, layout: Layout, state: Any, more: tuple[str, ...] = ()
) -> CompiledRules:
    """Bind the game; numba compiles (or loads) each function at its first call.

    Parameters
    ----------
    rules : Rules
    layout : Layout
        Of the game's states.
    state
        One of them.
    more : tuple of str
        Methods that the game has, besides those of all games.

    Raises
    ------
    numba.core.errors.NumbaError
        If a method cannot be compiled.
    """
    anatomy = dissect(rules.game, (*ENTRY_METHODS, *more))
    methods = anatomy.methods | state_functions(layout)
    key = key_of(rules, anatomy, layout)
    game = bind(rules.game, key, methods, anatomy.helpers, anatomy.fields)
    state_type = None if numba.config.DISABLE_JIT else typeof(state)
    return CompiledRules(RecordPointer(game, key), key, state_type)


ASKED = (
    "is_terminal",
    "actions",
    "outcomes",
    "payoff",
    "player",
    "reward",
    "canonical",
    "is_state",
)
"""Methods of a game that exploration calls."""


@functools.lru_cache(maxsize=256)
def native_function(
    function: Callable[..., int],
    asked: tuple[str, ...],
    key: str,
    game_type: RecordPointerType,
    page_type: RecordPointerType,
    state_type: types.Type,
    table_type: RecordPointerType | None = None,
    joined: str = "",
) -> NativeFunction:
    """Return a native function that calls some rules; cached in the process.

    Parameters
    ----------
    function
        Of the places of a game and of a page.
    asked : tuple of str
        The methods that it calls.
    key : str
        Of the rules.
    game_type, page_type, state_type
        Numba's types of a game, a page and a state.
    table_type : RecordPointerType, optional
        Numba's type of the record that is given in place of the game.
    joined : str
        As for :func:`loops_over_rules`.
    """
    # A loop calls the methods of rules where they are, unless they are part of something larger.
    receiver = game_type if table_type is None else game_type.record_type
    signatures = signatures_of(receiver, state_type)
    used = {name: signatures[name] for name in asked}
    (dispatcher,) = loops_over_rules((function,), key, used, joined)
    return NativeFunction.of(dispatcher, table_type or game_type, page_type)


def signatures_of(game: types.Type, state: types.Type) -> dict[str, tuple[types.Type, ...]]:
    """Return the signatures with which compiled code calls each method of a game."""
    number, real = types.int64, types.float64
    return {
        "is_terminal": (game, state),
        "actions": (game, state),
        "outcomes": (game, state, number),
        "payoff": (game, state, number),
        "player": (game, state),
        "reward": (game, state, number, number),
        "canonical": (game, state),
        "is_state": (game, state),
        "heuristic": (game, state, number),
        "value_range": (game, state, number),
        "tier": (game, state),
        "settled": (game, state, number),
        "remainder": (game, state),
        "tier_index": (game, state),
        "ending_range": (game, state, real),
        "tier_state": (game, number, number),
        "next_in_tier": (game, state),
    }


def loops_over_rules(
    functions: tuple[Callable[..., Any], ...],
    key: str,
    signatures: dict[str, tuple[Any, ...]],
    joined: str = "",
) -> list[Callable[..., Any]]:
    """Return loops that take bound rules, compiled before or ready to be.

    Parameters
    ----------
    functions : tuple of functions
    key : str
        Of the rules.
    signatures : dict of method name to argument types
        The signatures with which the loops call the rules.
    joined : str
        The key under which the loops are kept, if they take more than these rules.
    """
    variants = []
    for counting in (False, True):
        caches = [RulesCache(function, joined or key, variant(counting)) for function in functions]
        dispatchers = []
        for function, cache in zip(functions, caches, strict=True):
            dispatcher = njit(
                function,
                nogil=True,
                no_cfunc_wrapper=True,
                _nrt=counting,
                pipeline_class=LinkingCompiler,
            )
            dispatcher._cache = cache  # noqa: SLF001 - numba's own door for caches
            dispatchers.append(dispatcher)
        if any(cache.holds_something for cache in caches):
            return dispatchers
        variants.append(dispatchers)
    return variants[returns_counted_memory(key, signatures)]


def disagree(place: str, error: Exception | None) -> NoReturn:
    """Raise the error of rules that fail only when compiled."""
    reason = "" if error is None else f" with {type(error).__name__}: {error}"
    message = (
        f"the compiled rules fail {place}{reason}; the same rules in plain Python do not. They may "
        "depend on integers beyond 64 bits or on something outside the game's own fields; "
        "compile='never' runs them as plain Python."
    )
    raise InvalidModelError(message) from error


OF_PLAYERS = ("heuristic", "value_range", "settled")
OF_STATES = ("is_state", "canonical", "tier", "remainder", "tier_index")
"""Methods of a state and a player, and of a state alone, that `expand` does not call on it."""


class _Overflow(Exception):  # noqa: N818 - it is caught here
    """The call of a compiled method that raised OverflowError."""


@attrs.frozen(eq=False)
class _Twin:
    """A game whose methods are the compiled ones; the others are the game's own."""

    _game: object
    _bound: Any
    last: dict[str, tuple[Any, ...]] = attrs.field(factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)


def compiled_twin(game: object, bound: Any) -> _Twin:
    """Return a game that answers as its compiled methods do, one call at a time."""
    methods = compiled_methods(bound)
    kind = type("Twin", (_Twin,), {name: _calling(name, methods[name]) for name in methods})
    return kind(game, bound)  # type: ignore[no-any-return] # made of a class that is one


def _calling(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of the rules that records its arguments and names them in errors."""

    def call(self: Any, *arguments: Any) -> Any:
        self.last[name] = arguments
        try:
            answer = function(self._bound, *arguments)
            return list(answer) if hasattr(answer, "__next__") else answer
        except OverflowError as error:
            text = f"{name}({', '.join(map(shown, arguments))})"
            if name == "canonical" and "outcomes" in self.last:
                state, action = self.last["outcomes"]
                text += f", after action {action} in {shown(state)}"
            raise _Overflow(text) from error

    return call


def refuse_overflow(
    rules: Rules, bound: Any, states: Iterable[Any], error: Exception | None
) -> None:
    """Raise InvalidModelError if compiled rules have raised `error` because of 64-bit overflow.

    Parameters
    ----------
    rules : Rules
    bound
        The game as compiled loops take it.
    states : iterable
        The positions in which it may have happened.
    error : Exception or None
        The error that the loop has raised.
    """
    if not isinstance(error, OverflowError) or not compiled_methods(bound):
        return
    twin = compiled_twin(rules.game, bound)

    def ask(state: Any) -> None:
        expand(Rules(twin), state)
        for name in OF_STATES:
            getattr(twin, name, _nothing)(state)
        for name in OF_PLAYERS:
            for player in range(rules.num_players):
                getattr(twin, name, _nothing)(state, player)

    for state in states:
        refuse_overflow_at(ask, state, lambda state: expand(rules, state))


def refuse_overflow_at(
    ask: Callable[[Any], object], state: Any, ask_plainly: Callable[[Any], object]
) -> None:
    """Raise InvalidModelError if compiled rules overflow where plain ones raise nothing.

    Parameters
    ----------
    ask : callable
        Calls all methods of a twin that are called in a state.
    state
    ask_plainly : callable
        Does the same with the plain rules.
    """
    try:
        ask(state)
    except _Overflow as overflow:
        ask_plainly(state)  # the rules may raise such an error themselves
        call = str(overflow)
        place = "" if shown(state) in call else f"in {shown(state)}, "
        message = (
            f"{place}{call} computes with numbers that compiled rules cannot hold: "
            f"{overflow.__cause__}. Bound them; or compile='never' runs the rules as plain Python, "
            "whose integers have no end."
        )
        raise InvalidModelError(message) from overflow.__cause__
    except Exception:  # noqa: BLE001, S110 - something else is wrong there, and found elsewhere
        pass


def _nothing(*_: Any) -> None:
    """Stand in for a missing method."""
