"""Rules prepared for search, so that a loop compiled without them can call them by pointers.

Either compiled, or as plain Python for the same loop.
"""

from __future__ import annotations

import contextlib
import math
import types as python_types
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import attrs
import numba
import numpy as np
from numba import typeof

from gamedp.compiler.bridge import bind, record
from gamedp.compiler.build import fall_back
from gamedp.compiler.cache import hash_of
from gamedp.compiler.methods import disagree, native_function, refuse_overflow, state_functions
from gamedp.compiler.native import NativeFunction, RecordPointer
from gamedp.compiler.reasons import reason_at
from gamedp.errors import InvalidModelError, InvalidParameterError, shown
from gamedp.rules.anatomy import ENTRY_METHODS, dissect
from gamedp.rules.exactness import as_real, as_truth, is_rounded, refuse_rounded
from gamedp.rules.expand import ActionNumbers, expand, refuse_rewards_of_outcomes
from gamedp.rules.game import SEARCH_DEFAULTS, method
from gamedp.rules.layout import Layout
from gamedp.rules.slips import Calling
from gamedp.runtime.jit import uncompiled
from gamedp.runtime.machine import available_bytes
from gamedp.runtime.options import CompileMode, check_word, is_number
from gamedp.searchers.position_loop import OF_ENDINGS, QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NoReturn

    from numpy.typing import NDArray

    from gamedp.rules.game import Rules

ALWAYS_ROOM = 2**26
"""Bytes of a table that are never refused: the default."""

NUMBERS = frozenset({"payoff", "reward", "heuristic"})
"""Methods that answer with one number."""

_bound: ContextVar[dict[Any, tuple[Any, SearchRules | None]] | None] = ContextVar(
    "bound", default=None
)
"""Within `bind_once`: the games seen so far, each with its compiled rules, or None."""


@attrs.frozen(eq=False)
class SearchRules:
    """A game prepared for one loop.

    Attributes
    ----------
    rules : Rules
    num_fields : int
        Integers of a position on the loop's stack.
    game
        The game as the loop takes it.
    loop : callable
    is_compiled : bool
    place : RecordPointer
        The address of the game.
    actions : ActionNumbers
        The numbers of actions in the loop.
    """

    rules: Rules
    num_fields: int
    game: Any
    loop: Callable[..., int]
    is_compiled: bool
    place: RecordPointer
    _flatten: Callable[[Any], list[int]]
    _build: Callable[[list[int]], Any]
    _key: str
    _state_type: Any
    actions: ActionNumbers = attrs.field(factory=ActionNumbers)

    def flatten(self, state: Any) -> list[int]:
        """Return the integers of a position.

        Raises
        ------
        InvalidModelError
            If it is not laid out like the first one, or a field is beyond 64 bits.
        """
        fields = self._flatten(state)
        for value in fields:
            if not -(2**63) <= value < 2**63:
                message = (
                    f"{shown(state)} has a field beyond 64 bits. Bound it, or compile='never'."
                )
                raise InvalidModelError(message)
        return fields

    def build(self, fields: NDArray[np.int64]) -> Any:
        """Return the position with some integers."""
        return self._build(fields.tolist())

    def native(self, function: Callable[..., int], page: RecordPointer) -> NativeFunction:
        """Return one of the functions of `position_loop`, which writes to a page of arrays."""
        if not self.is_compiled:
            plain = uncompiled(function)
            return NativeFunction(plain, plain)
        types_of_places = self.place.numba_type, page.numba_type
        return native_function(
            function, QUESTIONS[function], self._key, *types_of_places, self._state_type
        )

    def record(self, name: str, values: dict[str, Any]) -> Any:
        """Return a record of named values for the loop."""
        return record(name, values) if self.is_compiled else python_types.SimpleNamespace(**values)

    def refuse_overflow(self, fields: NDArray[np.int64], error: Exception | None) -> None:
        """Raise InvalidModelError if compiled rules have left 64 bits in one of the positions.

        Or if a payment there is no double.
        """
        refuse_overflow(self.rules, self.game, map(self.build, fields[::-1]), error)
        if isinstance(error, OverflowError):
            for row in fields:
                with contextlib.suppress(Exception):  # what stands there may be no position
                    if (refused := self._rounded_at(self.build(row))) is not None:
                        break
            else:
                return
            raise refused

    def explain(self, fields: NDArray[np.int64], error: Exception | None = None) -> NoReturn:
        """Raise the error of the rules in one of the positions on the stack, the deepest first."""
        if isinstance(error, InvalidModelError):
            raise error
        for row in fields[::-1]:
            state = self.build(row)
            expansion = expand(self.rules, state)
            refuse_rewards_of_outcomes(expansion, state)
            self._look_ahead(state)
            for choice in expansion.choices:
                for successor, _ in choice.outcomes:
                    self.flatten(successor)
                    self._look_ahead(successor)
        if error is not None and not self.is_compiled:
            raise error
        disagree("during the search", error)

    def _look_ahead(self, state: Any) -> None:
        """Call the methods that only a search uses, so that their errors name the place."""
        game = self.rules.game
        names = ("payoff",) if game.is_terminal(state) else ("value_range", "heuristic")
        for name in names:
            for player in range(self.rules.num_players):
                with Calling(name, state, player):
                    method(game, name)(game, state, player)

    def _rounded_at(self, state: Any) -> InvalidModelError | None:
        """Return the error for a payment in a position, or right after it, that is not a double."""
        game = self.rules.game
        asked: list[tuple[Any, ...]] = [("value_range", state)]
        for choice in expand(self.rules, state).choices:
            asked.append(("reward", state, choice.action))
            for after, _ in choice.outcomes:
                asked.append(("payoff" if game.is_terminal(after) else "value_range", after))
        for name, *arguments in asked:
            for player in range(self.rules.num_players):
                answer = method(game, name)(game, *arguments, player)
                try:
                    refuse_rounded_payments(answer, name, (*arguments, player))
                except InvalidModelError as error:
                    return error
        return None


def search_rules(
    rules: Rules,
    state: Any,
    loop: Callable[..., int],
    warm_up: Callable[[SearchRules], None],
    *,
    compile: CompileMode,
    more: tuple[str, ...] = (),
    with_endings: bool = True,
) -> SearchRules:
    """Prepare a game for a search loop: compiled if possible, else as plain Python.

    Parameters
    ----------
    rules : Rules
    state
        A position of the game.
    loop : function
        Made by :func:`gamedp.compiler.native.compiled_for_all`.
    warm_up : callable
        Compiles all that a search with these rules needs.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    more : tuple of str
        Methods without a default that are asked, too.
    with_endings : bool
        Whether tables are read. If not, the fields of the game that serve these alone are
        left out: every call of a method hands on all fields.
    """
    check_word("compile", compile, CompileMode)
    if compile == "never":
        return _plain(rules, loop, more)
    layout, bound = Layout.of(state), _bound.get()
    key = (id(rules.game), repr(layout), loop, more, with_endings, compile)
    if bound is not None and key in bound:
        _, found = bound[key]
    else:
        found = _compile_and_test(
            rules,
            state,
            layout,
            loop,
            warm_up,
            must=compile == "always",
            more=more,
            with_endings=with_endings,
        )
        if bound is not None:
            bound[key] = rules.game, found  # the game too, for no other may get its id
    return _plain(rules, loop, more) if found is None else found


@contextlib.contextmanager
def bind_once() -> Iterator[None]:
    """Within this context, bind every game that is searched only once.

    For many short searches in a row: each would otherwise look through the text of the rules for
    changes.
    """
    if _bound.get() is not None:
        yield
        return
    token = _bound.set({})
    try:
        yield
    finally:
        _bound.reset(token)


def _compile_and_test(
    rules: Rules,
    state: Any,
    layout: Layout | None,
    loop: Callable[..., int],
    warm_up: Callable[[SearchRules], None],
    *,
    must: bool,
    more: tuple[str, ...],
    with_endings: bool,
) -> SearchRules | None:
    """Return the rules compiled, after a first call; None, after a warning, if that fails."""
    if layout is None or not layout.is_compilable:
        reason = f"its states ({shown(state)}) are not NamedTuples of ints and tuples of ints"
        fall_back(rules.game, reason, must=must)
        return None
    try:
        compiled = _compiled(rules, state, layout, loop, more, with_endings=with_endings)
        warm_up(compiled)
    except Exception as error:  # noqa: BLE001 - numba has errors outside its own family
        expansion = expand(rules, state)  # rules that do not compile are often just wrong
        fall_back(rules.game, reason_at(expansion, error), must=must)
        return None
    return compiled


def _compiled(
    rules: Rules,
    state: Any,
    layout: Layout,
    loop: Callable[..., int],
    more: tuple[str, ...],
    *,
    with_endings: bool,
) -> SearchRules:
    asked, left_out = SEARCH_DEFAULTS, {}
    if not with_endings:
        left_out = {name: SEARCH_DEFAULTS[name] for name in (*OF_ENDINGS, "next_in_tier")}
        asked = {name: each for name, each in asked.items() if name not in left_out}
    anatomy = dissect(rules.game, (*ENTRY_METHODS, *more), asked)
    key = f"{type(rules.game).__name__}-{anatomy.digest[:24]}-search-{hash_of(repr(layout))}"
    # Methods that are left out may be called by others, and are then the game's own; no loop calls
    # the defaults.
    methods = left_out | anatomy.methods | state_functions(layout)
    game = bind(rules.game, key, methods, anatomy.helpers, anatomy.fields, exact=True)
    is_compiled = not numba.config.DISABLE_JIT
    return SearchRules(
        rules,
        sum(1 for _ in layout.names()),
        game,
        loop,
        is_compiled,
        RecordPointer(game, key),
        layout.flatten,
        lambda fields: layout.build(iter(fields)),
        key,
        typeof(state) if is_compiled else None,
    )


def _plain(rules: Rules, loop: Callable[..., int], more: tuple[str, ...]) -> SearchRules:
    """Prepare the same loop as plain Python, where any hashable object is a position.

    The stack holds its number among the positions seen so far, and this is its key in a
    transposition table. So the two modes hash positions differently: once a bucket is full, they
    forget different ones, and visit different numbers of nodes. The proven results are the same.
    """
    numbers: dict[Any, int] = {}
    positions: list[Any] = []

    def flatten(state: Any) -> list[int]:
        number = numbers.setdefault(state, len(positions))
        if number == len(positions):
            positions.append(state)
        return [number]

    def gamedp_flatten(state: Any, fields: NDArray[np.int64]) -> None:
        fields[:] = flatten(state)

    def build(fields: list[int]) -> Any:
        return positions[fields[0]]

    def gamedp_decode(fields: NDArray[np.int64]) -> Any:
        return positions[int(fields[0])]

    names = (*ENTRY_METHODS, *SEARCH_DEFAULTS, *more)
    methods = {name: _checked_method(rules, name) for name in names}
    methods["player"] = rules.player
    actions = ActionNumbers()
    game = python_types.SimpleNamespace(
        **actions.numbering(methods), gamedp_decode=gamedp_decode, gamedp_flatten=gamedp_flatten
    )
    place = RecordPointer(game)
    return SearchRules(
        rules, 1, game, uncompiled(loop), False, place, flatten, build, "", None, actions
    )


def _checked_method(rules: Rules, name: str) -> Callable[..., Any]:
    """Return a method of a game that takes actions and players from a loop's arrays.

    Python's own integers do not overflow; one of numpy's would make all overflow that is computed
    with it. The result must be a number or a truth value, and an error names the call.
    """
    game, function = rules.game, method(rules.game, name)

    def call(*arguments: Any) -> Any:
        plain = [value.item() if isinstance(value, np.generic) else value for value in arguments]
        with Calling(name, *plain):
            answer = function(game, *plain)
            if isinstance(answer, python_types.GeneratorType):
                answer = list(answer)
            if name in NUMBERS and type(answer) is not float:
                _check_number(rules, answer, name, plain)
            elif name == "value_range":
                refuse_rounded_payments(answer, name, plain)
            elif name == "is_terminal":
                answer = as_truth(answer, name, *plain)
            elif name == "outcomes":
                for pair in answer:
                    if isinstance(pair[0], (str, bytes)):
                        _check_number(rules, pair[0], name, plain)
        return answer

    return call


def _check_number(rules: Rules, answer: Any, name: str, arguments: list[Any]) -> None:
    """Refuse an answer that is not a number, in the words of exploration where it asks, too.

    And one that no double is equal to: the bounds that a search proves are about what it is given.
    """
    try:
        as_real(answer)
    except (TypeError, ValueError, OverflowError):
        expand(rules, arguments[0])
        words = ", ".join(map(shown, arguments))
        message = f"{name}({words}) is {shown(answer)}; it must be one number."
        raise InvalidModelError(message) from None
    if name != "heuristic":
        refuse_rounded_payments(answer, name, arguments)


def refuse_rounded_payments(answer: Any, name: str, arguments: Sequence[Any]) -> None:
    """Refuse payments that no double is equal to."""
    for number in answer if isinstance(answer, tuple) else (answer,):
        if is_rounded(number):
            words = "an end of " if number is not answer else ""
            words += f"{name}({', '.join(map(shown, arguments))})"
            refuse_rounded(number, words, "a search proves bounds in these.")


def table_entries(num_bytes: float, num_fields: int) -> int:
    """Return the number of entries of a table of at most some bytes: a power of two, or 0."""
    if not (is_number(num_bytes) and 0 <= num_bytes <= max(ALWAYS_ROOM, available_bytes())):
        message = (
            f"table_bytes is {shown(num_bytes)}; it must be a number of bytes that are free here, "
            "or 0 for no table."
        )
        raise InvalidParameterError(message)
    entries = int(num_bytes // (8 * num_fields + 16))
    return 1 << int(math.log2(entries)) if entries >= 4 else 0
