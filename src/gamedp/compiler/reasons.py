"""Explanations of what a compiler or compiled rules could not do: numba's errors, and overflow."""

from __future__ import annotations

import linecache
import re
import textwrap
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.compiler.bridge import compiled_methods
from gamedp.errors import InvalidModelError, shown
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["compiled_twin", "first_reason", "refuse_overflow", "refuse_overflow_at"]

LINE_WIDTH = 100

OURS = ("gamedp/compiler", "gamedp/searchers", "gamedp/stages", "<string>")
"""Parts of paths of files that contain no rules."""

REMEDIES = (
    (r"yield in a closure", "write a loop instead of the generator expression"),
    (r"YIELD_FROM", "write a loop with `yield` instead of `yield from`"),
    (r"global name 'super'", "write the method in full, or a helper that both classes use"),
    (r"global name '(\w+)': .*<class 'function'>", "mark {0} with @gamedp.helper"),
    (r"global name '\w+': .*<class 'dict'>", "use a tuple, indexed by number, instead of the dict"),
    (r"global name '(all|any|filter|iter|map|next|reversed)'", "write a loop instead of {0}(...)"),
    (r"global name '(\w+)'", "use numbers, tuples and helpers instead of {0}"),
    (r"reflected list", "make the list a tuple"),
    (r"getitem\(\w*Tuple.*slice", "change an item with gamedp.with_item instead of slices"),
    (r"'_replace' of type (\w+)", "write {0}(...) with all its fields instead of _replace"),
    (r"'_asdict' of type", "read the fields of the state by their names instead of _asdict"),
    (r"attribute 'add' of type iter", "write a loop instead of the set in braces"),
    (r"attribute '(\w+)' of type \w*Tuple", "write a loop instead of .{0}(...)"),
    (r"attribute '(\w+)' of type Module", "write what {0} does as a loop or a helper"),
    (
        r"compile tuple\(",
        "begin with a tuple, such as the state's own, and change items with gamedp.with_item",
    ),
    (r"compile (sum|min|max)\(.*generator", "write a loop instead of the generator"),
    (r"compile mul\(\w*Tuple", "write the tuple out, or keep one in a field of the game"),
    (r"Cannot unify .*Tuple", "make both tuples equally long, or yield their items one by one"),
    (r"getitem\(Tuple\(", "give the tuple items of one type, such as floats alone"),
    (r"getiter.*Tuple", "give the tuple items of one type, and tuples in it one length"),
    (r"float\(\) only support", "write 1.0 if ... else 0.0 instead of float(...)"),
    (r"Exception matching", "test beforehand instead of catching the error"),
    (r"compile pow\(.*,.*,", "write a loop that takes % after each product"),
    (r"keyword argument 'key'", "write a loop instead of key="),
    (r"isinstance", "tell states apart by a field instead of isinstance"),
    (r"re-entrant", "write a loop instead of a method that calls itself"),
    (
        r"the game's attribute '(\w+)'",
        "make {0} a number, a tuple of one type or a numpy array",
    ),
    (r"Literal\[str\]|unicode|f-strings", "use numbers instead of texts"),
)
"""Texts in numba's reasons, and what to write instead; the first match counts."""


def first_reason(error: Exception) -> str:
    """Return the essence of numba's long message: the reason, the line, and the remedy."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    reason = _reason(text) or type(error).__name__
    reason = re.sub(r"[.,]? *(Raised from|defined at) \S+ \(\d+\)$", "", reason).rstrip(".")
    return f"{reason}{_place(text)}{_remedy(reason)}"


def _reason(text: str) -> str | None:
    """Return numba's description of the error."""
    unknown: list[str] = re.findall(r"Unknown attribute '(\w+)' of type (?:Place\()?Record", text)
    if unknown:
        return f"numba knows no type for the game's attribute {unknown[-1]!r}"
    inner: list[str] = [
        sentence.strip()
        for sentence in re.findall(r"^\s*\w*Error: (.+)", text, re.MULTILINE)
        if not re.match(r"too many positional|Typing and implementation", sentence)
    ]
    if inner:
        return inner[-1]
    calls: list[str] = re.findall(r"No implementation of function .*\n\s*\n?\s*>>> (.+)", text)
    if calls:
        return f"numba cannot compile {calls[-1].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    plain = [line for line in lines if not re.match(r"Failed in|During:|- Resolution|None$", line)]
    return next(iter(plain), None)


def _place(text: str) -> str:
    """Return the file and the line of the rules, and the line itself."""
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    places += re.findall(r"Raised from (\S+) \((\d+)\)", text)
    for path, number in places:
        if not any(part in path for part in OURS):
            line = linecache.getline(path, int(number)).strip()
            quoted = f": `{textwrap.shorten(line, LINE_WIDTH, placeholder=' ...')}`" if line else ""
            return f" ({path}, line {number}{quoted})"
    return ""


def _remedy(reason: str) -> str:
    """Return what to write instead, if that is known."""
    for pattern, remedy in REMEDIES:
        found = re.search(pattern, reason)
        if found:
            return f"; {remedy.format(*found.groups())}"
    return ""


OF_PLAYERS = ("heuristic", "value_range", "settled")
OF_STATES = ("is_state", "canonical", "material", "remainder", "ending_index")
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
