"""Overflow of 64 bits in compiled rules: finds the call that caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from gamedp.compiler.bridge import compiled_methods
from gamedp.errors import InvalidModelError, shown
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["compiled_twin", "refuse_overflow", "refuse_overflow_at"]

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
