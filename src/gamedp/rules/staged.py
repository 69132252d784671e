"""Staged games: the same sub-game, the stage, is played again and again, in many contexts.

A turn at Kniffel is such a stage and the score card its context; the value of the turn
depends on the card. The stage is an ordinary game, explored once; a solver sweeps it for many
contexts at a time. Nothing here solves anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs

from gamedp.rules.answers import as_truth
from gamedp.rules.game import DEFAULTS, AnyRules, require_methods
from gamedp.rules.slips import refuse_hidden, refuse_no_mover

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["StagedGame", "StagedRules", "is_staged"]

STAGED_METHODS = ("is_terminal", "payoff", "following")
"""Methods that every staged game must have: first those that are compiled, then the others."""

STAGED_REQUIRED = ("stage", "contexts", "initial_state", *STAGED_METHODS)


class StagedGame(Protocol):
    """The methods of a staged game.

    A context is a NamedTuple of ints, or of fixed-length tuples of ints. In each, the same stage is
    played from its start to one of its ends (its terminal states), which leads to the next context.
    The stage's rewards on the way (``reward``) count; its own ``payoff`` counts only when the
    stage is solved alone.

    Optional members, with their defaults:

    ``num_players = 1``, ``constant_sum = 0.0``
        As in :class:`gamedp.Game`. The stage says who moves.
    ``allows(context, end) -> bool``
        Whether the stage may end in `end` in this context; ``True``. A decision that would lead to
        an end that is not allowed cannot be taken.
    ``reward(context, end, player) -> float``
        The reward of `player` for this end of the stage; 0.
    ``canonical(context) -> (representative, swapped)``
        Symmetry, as in :class:`gamedp.Game`.
    ``rank(context) -> int``
        A number that never rises from one context to the next; 0. Contexts of the same rank are
        solved together, by repeated sweeps if they lead to one another; those of higher rank after
        all those of lower rank.
    ``is_state(context) -> bool``
        Whether a combination in the box of contexts is a real context; ``True``.
    ``render(context) -> str``
        A description for people.
    """

    def stage(self) -> Any:
        """Return the game that is played in every context: acyclic, with one initial state."""

    def contexts(self) -> Mapping[str, tuple[int, int]]:
        """Return the range of each field of a context, both ends included."""

    def initial_state(self) -> Any:
        """Return the context at the start, or a list of ``(probability, context)``."""

    def is_terminal(self, context: Any, /) -> bool:
        """Return whether the game is over in `context`."""

    def payoff(self, context: Any, player: int, /) -> float:
        """Return what `player` receives when the game is over."""

    def following(self, context: Any, end: Any, /) -> Any:
        """Return the context after the stage has ended in the terminal state `end`."""


def _allows(self: Any, context: Any, end: Any) -> bool:  # noqa: ARG001 - the protocol's signature
    return True


def _reward(self: Any, context: Any, end: Any, player: int) -> float:  # noqa: ARG001
    return 0.0


def _rank(self: Any, context: Any) -> int:  # noqa: ARG001
    return 0


STAGED_DEFAULTS: dict[str, Callable[..., Any]] = {
    "allows": _allows,
    "reward": _reward,
    "canonical": DEFAULTS["canonical"],
    "rank": _rank,
    "is_state": DEFAULTS["is_state"],
}
"""The optional methods, each with its default; within what numba compiles."""


def is_staged(game: object) -> bool:
    """Return whether a game is staged: it has a stage, and no outcomes of its own."""
    return callable(getattr(game, "stage", None)) and not hasattr(game, "outcomes")


@attrs.frozen
class StagedRules(AnyRules):
    """A staged game with all optional methods: those that its class lacks have their defaults.

    Parameters
    ----------
    game
        An instance of any class that fulfils :class:`StagedGame`.

    Raises
    ------
    TypeError
        If the game lacks one of the methods, or is a class and not an instance.
    InvalidModelError
        If the game has several players and its stage does not say who moves.
    """

    game: Any = attrs.field()

    def __attrs_post_init__(self) -> None:
        """Refuse invalid numbers of players, and games that do not say who moves."""
        super().__attrs_post_init__()
        refuse_no_mover(self.game, self.num_players, self.game.stage)

    @game.validator
    def _has_the_methods(self, _attribute: object, game: object) -> None:
        require_methods(game, STAGED_REQUIRED, "staged game")
        refuse_hidden(game, STAGED_DEFAULTS)

    def initial(self) -> list[tuple[float, Any]]:
        """Return the initial distribution as (probability, context) pairs."""
        start = self.game.initial_state()
        return list(start) if isinstance(start, list) else [(1.0, start)]

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the game, or its default."""
        function = getattr(type(self.game), name, None) or STAGED_DEFAULTS[name]
        return function(self.game, *arguments)

    def is_terminal(self, context: Any) -> bool:
        """Return whether the game is over; raise InvalidModelError if the rules do not say so."""
        return as_truth(self.call("is_terminal", context), "is_terminal", context)

    def canonical(self, context: Any) -> tuple[Any, bool]:
        """Return the representative of `context` and whether the players changed places."""
        representative, swapped = self.call("canonical", context)
        return representative, bool(swapped)
