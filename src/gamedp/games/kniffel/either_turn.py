"""A turn of either of two players; or that of one of them, and the results of the other's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.games.kniffel.turn import KniffelTurn, Turn

__all__ = ["HIS", "MINE", "WAITING", "EitherTurn", "MyTurnOrHisResult", "Play", "mine"]

WAITING, MINE, HIS = range(3)


class Play(NamedTuple):
    """A position in the turn of either player.

    Attributes
    ----------
    mover : int
        `WAITING` before the first throw; then the player whose turn it is: `MINE` or `HIS`.
    turn : Turn
        The position in that turn.
    sheet, following, points : int
        If only the result of his turn is known, the numbers of his sheet before and after it, and
        the points he has earned; otherwise 0.
    """

    mover: int
    turn: Turn
    sheet: int
    following: int
    points: int


def mine(turn: Turn) -> Play:
    """Return a position in my turn."""
    return Play(MINE, turn, 0, 0, 0)


@attrs.frozen(eq=False, kw_only=True)
class EitherTurn(KniffelTurn):
    """A turn of either of two players; the game determines whose by the ends that it allows."""

    num_players = 2

    # A turn of one player, by names that are not used here.
    turn_start = KniffelTurn.initial_state
    turn_is_over = KniffelTurn.is_terminal
    turn_actions = KniffelTurn.actions
    turn_outcomes = KniffelTurn.outcomes

    def initial_state(self) -> Any:
        return Play(WAITING, self.turn_start(), 0, 0, 0)

    def is_terminal(self, state: Any) -> bool:
        return self.turn_is_over(state.turn)

    def player(self, state: Any) -> int:
        return 1 if state.mover == HIS else 0

    def actions(self, state: Any) -> Iterator[int]:
        if state.mover == WAITING:
            yield 0
            yield 1
        else:
            for action in self.turn_actions(state.turn):  # noqa: UP028 - numba knows no `yield from`
                yield action

    def outcomes(self, state: Any, action: int) -> Iterator[tuple[float, Any]]:
        if state.mover == WAITING:
            yield 1.0, Play(MINE + action, state.turn, 0, 0, 0)
        else:
            for chance, turn in self.turn_outcomes(state.turn, action):
                yield chance, Play(state.mover, turn, 0, 0, 0)

    def payoff(self, state: Any, player: int) -> float:
        return 0.0

    def action_name(self, state: Any, action: int) -> str:
        if state.mover == WAITING:
            return "his turn" if action else "my turn"
        return KniffelTurn.action_name(self, state.turn, action)

    def render(self, state: Any) -> str:
        if state.mover == WAITING:
            return "before the turn"
        words = KniffelTurn.render(self, state.turn)
        return f"{'his' if state.mover == HIS else 'my'} turn, {words}"


@attrs.frozen(eq=False, kw_only=True)
class MyTurnOrHisResult(EitherTurn):
    """My turn, or the result of his, which is random: he ignores my card.

    Parameters
    ----------
    offsets : (H+1,) int64
        The results of a turn that begins with his sheet h are ``offsets[h] .. offsets[h+1] - 1``.
    probabilities : (R,) float64
    followings : (R,) int64
        The number of his sheet after it.
    earned : (R,) int64
        His points.
    """

    offsets: NDArray[np.int64] = attrs.field(repr=False)
    probabilities: NDArray[np.float64] = attrs.field(repr=False)
    followings: NDArray[np.int64] = attrs.field(repr=False)
    earned: NDArray[np.int64] = attrs.field(repr=False)

    num_players = 1

    def player(self, state: Any) -> int:
        return 0

    def is_terminal(self, state: Any) -> bool:
        return state.mover == HIS or self.turn_is_over(state.turn)

    def actions(self, state: Any) -> Iterator[int]:
        if state.mover == WAITING:
            yield 0
            for sheet in range(len(self.offsets) - 1):
                if self.offsets[sheet] < self.offsets[sheet + 1]:
                    yield 1 + sheet
        else:
            for action in self.turn_actions(state.turn):  # noqa: UP028 - numba knows no `yield from`
                yield action

    def outcomes(self, state: Any, action: int) -> Iterator[tuple[float, Any]]:
        if state.mover == WAITING:
            if action == 0:
                yield 1.0, Play(MINE, state.turn, 0, 0, 0)
            else:
                sheet = action - 1
                for place in range(self.offsets[sheet], self.offsets[sheet + 1]):
                    following, points = self.followings[place], self.earned[place]
                    yield (
                        self.probabilities[place],
                        Play(HIS, state.turn, sheet, following, points),
                    )
        else:
            for chance, turn in self.turn_outcomes(state.turn, action):
                yield chance, Play(state.mover, turn, 0, 0, 0)

    def render(self, state: Any) -> str:
        if state.mover == HIS:
            return f"he has earned {state.points}"
        return EitherTurn.render(self, state)
