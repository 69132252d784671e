"""Processes that agree on a coin: the shared coin of a randomised consensus protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import attrs

import gamedp
from gamedp.testing.models._parameters import whole

__all__ = ["CoinState", "ConsensusCoin"]

FLIP, WRITE, CHECK, DONE = 0, 1, 2, 3


class CoinState(NamedTuple):
    """The shared counter, and for each process its next step and its coin: 2 * step + coin."""

    counter: int
    processes: tuple[int, ...]


@attrs.frozen
class ConsensusCoin:
    """N processes move a shared counter up and down by coins of their own, until it is far out.

    Each process flips a coin, moves the counter by it, and looks: with K * N or more above or below
    the middle, it is done and takes the side for its coin; else it begins anew. A scheduler, who
    knows everything, chooses which process takes the next step, and so may bring about that they
    end with different coins. The value is the probability that all coins agree: how likely at
    least, or at most.

    J. Aspnes, M. Herlihy, "Fast randomized consensus using shared memory", Journal of Algorithms 11
    (1990); as a model for checkers by M. Kwiatkowska, G. Norman, R. Segala, "Automated verification
    of a randomized distributed consensus protocol using Cadence SMV and PRISM", CAV 2001. For two
    processes the least probability of agreement is 5/6 with K = 1 and 107/120 with K = 2, where the
    model has 272 states.

    Parameters
    ----------
    processes : int
        The number N.
    bound : int
        The number K.

    Examples
    --------
    >>> coin = ConsensusCoin(processes=2, bound=1)
    >>> state = coin.initial_state()
    >>> list(coin.outcomes(state, 1))[1]
    (0.5, CoinState(counter=4, processes=(0, 3)))
    """

    processes: int = attrs.field(default=2, validator=whole(1))
    bound: int = attrs.field(default=2, validator=whole(1))

    @property
    def objective(self) -> gamedp.TotalReward:
        """The objective intended for the model: the worst scheduler; "max" is for the best."""
        return gamedp.TotalReward("min")

    @property
    def middle(self) -> int:
        """The initial value of the counter, which stays between 0 and twice that."""
        return (self.bound + 1) * self.processes

    def initial_state(self) -> CoinState:
        return CoinState(self.middle, (0,) * self.processes)

    def is_terminal(self, state: CoinState) -> bool:
        for process in state.processes:
            if process // 2 != DONE:
                return False
        return True

    def actions(self, state: CoinState) -> Iterator[int]:
        for number in range(self.processes):
            if state.processes[number] // 2 != DONE:
                yield number

    def outcomes(self, state: CoinState, action: int) -> Iterator[tuple[float, CoinState]]:
        step = state.processes[action] // 2
        coin = state.processes[action] % 2
        counter = state.counter
        if step == FLIP:
            for side in range(2):
                flipped = gamedp.with_item(state.processes, action, 2 * WRITE + side)
                yield 0.5, CoinState(counter, flipped)
        elif step == WRITE:
            counter = max(counter - 1, 0) if coin == 0 else min(counter + 1, 2 * self.middle)
            written = gamedp.with_item(state.processes, action, 2 * CHECK)
            yield 1.0, CoinState(counter, written)
        else:
            after = 2 * FLIP
            if counter <= self.processes:
                after = 2 * DONE
            elif counter >= 2 * self.middle - self.processes:
                after = 2 * DONE + 1
            yield 1.0, CoinState(counter, gamedp.with_item(state.processes, action, after))

    def payoff(self, state: CoinState, player: int) -> float:
        for process in state.processes:
            if process != state.processes[0]:
                return 0.0
        return 1.0

    def action_name(self, state: CoinState, action: int) -> str:
        return f"process {action}"
