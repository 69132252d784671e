"""A staged game as an ordinary one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from gamedp.rules.game import Rules, StagedRules

if TYPE_CHECKING:
    from collections.abc import Iterator


CACHED_CONTEXTS = 64
"""Number of contexts whose results inside are cached."""


class Position(NamedTuple):
    """A state inside the stage, and the context it is played in."""

    context: Any
    state: Any


@attrs.frozen
class Flattened:
    """A staged game as an ordinary one, whose states are positions, for small games.

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

    __gamedp_plain__ = True

    game: Any
    rules: StagedRules = attrs.field(init=False, eq=False, repr=False)
    stage: Rules = attrs.field(init=False, eq=False, repr=False)
    num_players: int = attrs.field(init=False, eq=False, repr=False)
    constant_sum: float = attrs.field(init=False, eq=False, repr=False)
    _can_end_in: dict[Any, dict[Any, bool]] = attrs.field(
        factory=dict, init=False, eq=False, repr=False
    )

    def __attrs_post_init__(self) -> None:
        """Read the rules of the two games once."""
        rules = StagedRules(self.game)
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "stage", Rules(self.game.stage()))
        object.__setattr__(self, "num_players", rules.num_players)
        object.__setattr__(self, "constant_sum", rules.constant_sum)

    def _begin(self, context: Any) -> Position:
        ((_, state),) = self.stage.initial()
        return Position(context, state)

    def initial_state(self) -> list[tuple[float, Position]]:
        """Return the initial positions."""
        return [
            (probability, self._begin(context)) for probability, context in self.rules.initial()
        ]

    def is_terminal(self, position: Position) -> bool:
        """Return whether the whole game is over."""
        return self.rules.is_terminal(position.context)

    def payoff(self, position: Position, player: int) -> float:
        """Return the payoff of the context."""
        return float(self.rules.call("payoff", position.context, player))

    def _swapped(self, position: Position) -> bool:
        return self.rules.canonical(position.context)[1]

    def player(self, position: Position) -> int:
        """Return the player to move, exchanged where places are swapped."""
        player = self.stage.player(position.state)
        return 1 - player if self._swapped(position) else player

    def actions(self, position: Position) -> Iterator[int]:
        """Yield the stage's actions after which an allowed end is possible."""
        context, state = position
        if self.stage.is_terminal(state):
            yield 0
            return
        known = self._can_end_in.get(context)
        if known is None:
            if len(self._can_end_in) >= CACHED_CONTEXTS:
                self._can_end_in.clear()
            known = self._can_end_in[context] = {}
        for action in self.stage.game.actions(state):
            if self._possible(context, state, action, known):
                yield action

    def _possible(self, context: Any, state: Any, action: int, known: dict[Any, bool]) -> bool:
        """Return whether play after an action and any outcome can end as the context allows."""
        return all(
            probability <= 0 or self._can_end(context, following, known)
            for probability, following in self.stage.game.outcomes(state, action)
        )

    def _can_end(self, context: Any, state: Any, known: dict[Any, bool]) -> bool:
        """Return whether the stage can be played from a state to an end that the context allows.

        The results are kept in `known` for the states in this context, as many paths share them.
        """
        answer = known.get(state)
        if answer is None:
            if self.stage.is_terminal(state):
                answer = bool(self.rules.call("allows", context, state))
            else:
                answer = any(
                    self._possible(context, state, action, known)
                    for action in self.stage.game.actions(state)
                )
            known[state] = answer
        return answer

    def outcomes(self, position: Position, action: int) -> Iterator[tuple[float, Position]]:
        """Yield the stage's outcomes; from its end, the next context."""
        context, state = position
        if self.stage.is_terminal(state):
            yield 1.0, self._begin(self.rules.call("following", context, state))
            return
        for probability, following in self.stage.game.outcomes(state, action):
            yield probability, Position(context, following)

    def reward(self, position: Position, action: int, player: int) -> float:
        """Return the stage's reward on the way, or the context's at the stage's end."""
        context, state = position
        if self.stage.is_terminal(state):
            return float(self.rules.call("reward", context, state, player))
        side = 1 - player if self._swapped(position) else player
        return self.stage.reward(state, action, side)

    def canonical(self, position: Position) -> tuple[Position, bool]:
        """Return the position in the representative context."""
        context, swapped = self.rules.canonical(position.context)
        return Position(context, position.state), swapped
