"""Staged games: the same sub-game, the stage, is played again and again, in many contexts.

A turn at Kniffel is such a stage and the score card its context; the value of the turn
depends on the card. The stage is an ordinary game, explored once; a solver sweeps it for many
contexts at a time. Nothing here solves anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import attrs

from gamedp.rules.game import DEFAULTS, AnyRules, Rules, require_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Flattened", "Position", "StagedGame", "StagedRules", "is_staged"]

STAGED_METHODS = ("is_terminal", "payoff", "following")
"""The methods that every staged game must write and that are compiled, and then the others."""

STAGED_REQUIRED = ("stage", "contexts", "initial_state", *STAGED_METHODS)


class StagedGame(Protocol):
    """The methods of a staged game.

    A context is a NamedTuple of ints, or of fixed-length tuples of ints. In each, the same stage is
    played from its start to one of its ends (its terminal states), which leads to the next context.
    What the stage pays on the way (``reward``) counts; its own ``payoff`` counts only when the
    stage is solved alone.

    Optional members, with what stands in for them:

    ``num_players = 1``, ``constant_sum = 0.0``
        As in :class:`gamedp.Game`. Who moves is said by the stage.
    ``allows(context, end) -> bool``
        Whether the stage may end so in this context; ``True``. A decision that would lead to an end
        that is not allowed cannot be taken.
    ``reward(context, end, player) -> float``
        What `player` earns by this end of the stage; 0.
    ``canonical(context) -> (representative, swapped)``
        Symmetry, as in :class:`gamedp.Game`.
    ``rank(context) -> int``
        A number that never rises from one context to the next; 0. Contexts of the same rank are
        solved together, by repeated sweeps if they lead to one another; those of higher rank
        after all of lower.
    ``is_state(context) -> bool``
        Which combinations in the box of contexts are real; ``True``.
    ``render(context) -> str``
        Words for people.
    """

    def stage(self) -> Any:
        """Return the game that is played in every context: acyclic, with one initial state."""

    def contexts(self) -> Mapping[str, tuple[int, int]]:
        """Return the range of each field of a context, both ends included."""

    def initial_state(self) -> Any:
        """Return the context at the start, or a list of ``(probability, context)``."""

    def is_terminal(self, context: Any, /) -> bool:
        """Say whether the game is over in `context`."""

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
"""The optional methods, each with what stands in for it; inside what numba compiles."""


def is_staged(game: object) -> bool:
    """Tell a staged game from an ordinary one: it has a stage, and no outcomes of its own."""
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
    """

    game: Any = attrs.field()

    @game.validator
    def _has_the_methods(self, _attribute: object, game: object) -> None:
        require_methods(game, STAGED_REQUIRED, "staged game")

    def initial(self) -> list[tuple[float, Any]]:
        """Return the initial distribution as (probability, context) pairs."""
        start = self.game.initial_state()
        return list(start) if isinstance(start, list) else [(1.0, start)]

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the game, or what stands in for it."""
        function = getattr(type(self.game), name, None) or STAGED_DEFAULTS[name]
        return function(self.game, *arguments)

    def canonical(self, context: Any) -> tuple[Any, bool]:
        """Return the representative of `context` and whether the players changed places."""
        representative, swapped = self.call("canonical", context)
        return representative, bool(swapped)


class Position(NamedTuple):
    """A state inside the stage, and the context it is played in."""

    context: Any
    state: Any


@attrs.frozen
class Flattened:
    """A staged game as an ordinary one, whose states are positions: for games that are small.

    What the staged game says in one step, from the last state of the stage to the next context, is
    one action here, so that an end of the stage is a position with one action. Contexts with the
    same representative must correspond end by end, for so do the positions inside them then.

    Parameters
    ----------
    game
        A staged game.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> flat = gamedp.stages.Flattened(Kniffel(dice=1, faces=2, throws=1))
    >>> gamedp.compile(flat, compile="never").num_players
    1
    """

    game: Any
    rules: StagedRules = attrs.field(init=False, eq=False, repr=False)
    stage: Rules = attrs.field(init=False, eq=False, repr=False)
    num_players: int = attrs.field(init=False, eq=False, repr=False)
    constant_sum: float = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Take the two games apart once."""
        rules = StagedRules(self.game)
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "stage", Rules(self.game.stage()))
        object.__setattr__(self, "num_players", rules.num_players)
        object.__setattr__(self, "constant_sum", rules.constant_sum)

    def _begin(self, context: Any) -> Position:
        ((_, state),) = self.stage.initial()
        return Position(context, state)

    def initial_state(self) -> list[tuple[float, Position]]:
        """Return the positions at the start."""
        return [(chance, self._begin(context)) for chance, context in self.rules.initial()]

    def is_terminal(self, position: Position) -> bool:
        """Say whether the whole game is over."""
        return bool(self.rules.call("is_terminal", position.context))

    def payoff(self, position: Position, player: int) -> float:
        """Return what the context pays."""
        return float(self.rules.call("payoff", position.context, player))

    def _swapped(self, position: Position) -> bool:
        return self.rules.canonical(position.context)[1]

    def player(self, position: Position) -> int:
        """Return who moves; where places are swapped, the other one."""
        player = self.stage.player(position.state)
        return 1 - player if self._swapped(position) else player

    def _ends(self, state: Any) -> bool:
        return bool(self.stage.game.is_terminal(state))

    def actions(self, position: Position) -> Iterator[int]:
        """Yield the stage's actions that do not force an end that is not allowed."""
        context, state = position
        if self._ends(state):
            yield 0
            return
        for action in self.stage.game.actions(state):
            if self._possible(context, state, action):
                yield action

    def _possible(self, context: Any, state: Any, action: int) -> bool:
        """Say whether an action, and whatever follows it, can end as the context allows."""
        for chance, following in self.stage.game.outcomes(state, action):
            if chance <= 0:
                continue
            if self._ends(following):
                if not self.rules.call("allows", context, following):
                    return False
            elif not any(
                self._possible(context, following, further)
                for further in self.stage.game.actions(following)
            ):
                return False
        return True

    def outcomes(self, position: Position, action: int) -> Iterator[tuple[float, Position]]:
        """Yield the stage's outcomes; from its end, the next context."""
        context, state = position
        if self._ends(state):
            yield 1.0, self._begin(self.rules.call("following", context, state))
            return
        for chance, following in self.stage.game.outcomes(state, action):
            yield chance, Position(context, following)

    def reward(self, position: Position, action: int, player: int) -> float:
        """Return what the stage pays on the way, or the context at the stage's end."""
        context, state = position
        if self._ends(state):
            return float(self.rules.call("reward", context, state, player))
        side = 1 - player if self._swapped(position) else player
        return self.stage.reward(state, action, side)

    def canonical(self, position: Position) -> tuple[Position, bool]:
        """Return the position in the representative context."""
        context, swapped = self.rules.canonical(position.context)
        return Position(context, position.state), swapped
