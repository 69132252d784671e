"""Simulation of games as walks on the Markov chain that policies induce on a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.policies.chain import Process, Seats, induce
from gamedp.policies.random_kernels import UNIT
from gamedp.policies.tally import BLOCK, Played, Tally, as_paid, in_blocks
from gamedp.simulation import walk_kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.policies.policy import Policy

__all__ = ["ChainGames", "ChainPairs"]


@attrs.frozen(eq=False)
class _ChainBoard:
    """A Markov chain in the arrays that the loop reads."""

    firsts: NDArray[np.int32]
    scales: NDArray[np.float64]
    steps: NDArray[np.int64]
    cumulative: NDArray[np.float64]
    successors: NDArray[np.int32]
    begin: int

    @classmethod
    def of(cls, process: Process) -> _ChainBoard:
        """Build the board of a chain; if it has several initial states, a node draws one."""
        model = process.model
        size = model.num_states
        starts, begins = model.initial_states, model.initial_probabilities
        rows = np.flatnonzero(~model.is_terminal)
        successors = np.concatenate([model.successors, starts]).astype(np.int32)
        probabilities = np.concatenate([model.probabilities, begins / begins.sum()])
        offsets = np.concatenate([model.transition_offsets, [len(successors)]])
        is_even, cumulative = _shares(probabilities, offsets)
        ordered = np.concatenate([rows, [size]])
        firsts, scales = np.zeros(size + 1, np.int32), np.zeros(size + 1)
        firsts[ordered] = offsets[:-1]
        scales[ordered] = np.diff(offsets) * UNIT * np.where(is_even, 1.0, -1.0)
        steps = np.zeros(size + 1, np.int64)
        steps[rows] = process.sources >= 0
        begin = int(starts[0]) if len(starts) == 1 else size
        return cls(firsts, scales, steps, cumulative, successors, begin)


def _shares(
    probabilities: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which rows are uniform, and the cumulative probabilities of the others."""
    counts = np.diff(offsets)
    firsts = probabilities[offsets[:-1]]
    same = np.maximum.reduceat(np.abs(probabilities - np.repeat(firsts, counts)), offsets[:-1])
    cumulative = np.zeros(len(probabilities))
    for row in np.flatnonzero((same != 0) & (counts > 1)).tolist():
        part = slice(offsets[row], offsets[row + 1])
        cumulative[part] = np.cumsum(probabilities[part]) / UNIT
    cumulative[offsets[1:] - 1] = math.inf
    return same == 0, cumulative


def _paid(process: Process) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the reward and the payoff of each node."""
    size = process.model.num_states + 1
    rewards, payoffs = np.zeros(size), np.zeros(size)
    rewards[:-1][~process.model.is_terminal] = process.model.rewards
    paid = process.model.payoffs
    if process.of.num_players == 2:
        paid = as_paid(paid, process.of.constant_sum)
    payoffs[process.model.terminals] = paid
    return rewards, payoffs


class _Walks:
    """All games on one chain, with the earnings of one player."""

    def __init__(self, process: Process, key: np.uint64, most: int, threads: int) -> None:
        self.process = process
        self.board = _ChainBoard.of(process)
        size = process.model.num_states + 1
        self.rewards, self.payoffs = _paid(process)
        self.has_rewards = bool(self.rewards.any())
        self.key, self.most = key, most
        self.ends = np.zeros((threads, size), np.int64)
        self.counters = np.zeros((threads, 3), np.int64)
        self.sums = np.zeros((0, 2))

    def play(self, begin: int, end: int) -> None:
        """Play the next games, with one thread for each array."""
        self.sums = np.concatenate([self.sums, np.zeros((math.ceil((end - begin) / BLOCK), 2))])

        def walk(thread: int, block: int, first: int, last: int) -> None:
            board = self.board
            with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
                walk_kernels.walk_jit(
                    first, last, self.key, self.most, board.begin,
                    board.firsts, board.scales, board.steps, board.cumulative, board.successors,
                    self.has_rewards, self.rewards, self.payoffs,
                    self.ends[thread], self.counters[thread], self.sums[block],
                )  # fmt: skip

        in_blocks(begin, end, len(self.ends), walk)

    def outcomes(self) -> dict[float, int]:
        """Return the number of games by payoff."""
        terminals = self.process.model.terminals
        ends = self.ends.sum(axis=0)[terminals]
        found: dict[float, int] = {}
        for payoff, count in zip(self.payoffs[terminals].tolist(), ends.tolist(), strict=True):
            found[payoff] = found.get(payoff, 0) + count
        return dict(sorted(found.items()))


class ChainGames:
    """Plays the games of policies of a model, as walks on the chain that they induce.

    Parameters
    ----------
    model : Model
    policies : sequence of Policy
    key : uint64
        The key of the random numbers.
    most : int
        Number of plies after which a game is left unfinished.
    threads : int
    """

    def __init__(
        self, model: Model, policies: Sequence[Policy], key: np.uint64, most: int, threads: int
    ) -> None:
        seats = Seats(tuple((policy,) for policy in policies))
        columns = range(model.num_players if model.num_players > 2 else 1)
        self._walks = [
            _Walks(induce(model, seats, column=column), key, most, threads) for column in columns
        ]
        self.has_rewards = bool(model.rewards.any())
        self._games = 0

    def payoffs(self) -> tuple[set[float] | None, float, float]:
        """Return all payoffs of player 0, the least and the greatest."""
        walks = self._walks[0]
        payoffs = walks.payoffs[walks.process.model.terminals]
        if not len(payoffs):
            return set(), 0.0, 0.0
        return set(payoffs.tolist()), float(payoffs.min()), float(payoffs.max())

    def play(self, end: int) -> None:
        """Continue up to a number of games."""
        for walks in self._walks:
            walks.play(self._games, end)
        self._games = end

    def tally(self) -> Tally:
        """Return the tally of all games so far."""
        counters = self._walks[0].counters.sum(axis=0)
        sums = ((math.fsum(each.sums[:, 0]), math.fsum(each.sums[:, 1])) for each in self._walks)
        return Tally(
            games=self._games,
            unfinished=int(counters[walk_kernels.UNFINISHED]),
            plies=int(counters[walk_kernels.PLIES]),
            outcomes=tuple(walks.outcomes() for walks in self._walks),
            sums=tuple(sums),
        )


class ChainPairs:
    """Plays games of two policies in pairs, with swapped seats and the same dice for each seat.

    Parameters
    ----------
    model : Model
        For two players.
    policies : sequence of Policy
    key : uint64
        The key of the random numbers.
    most : int
        Number of plies after which a game is left unfinished.
    """

    def __init__(self, model: Model, policies: Sequence[Policy], key: np.uint64, most: int) -> None:
        one, other = policies
        orders = (((one,), (other,)), ((other,), (one,)))
        self._processes = [induce(model, Seats(seats)) for seats in orders]
        self._boards = [_ChainBoard.of(process) for process in self._processes]
        self._drawers = [_drawers(process) for process in self._processes]
        self._key, self._most = key, most
        self._total = model.constant_sum
        self.has_rewards = bool(model.rewards.any())

    def played(self, begin: int, end: int) -> tuple[Played, Played]:
        """Play the pairs with the numbers from `begin` to `end`; return both games of each."""
        first, second = (self._played(order, begin, end) for order in (0, 1))
        return first, second

    def _played(self, order: int, begin: int, end: int) -> Played:
        process, board = self._processes[order], self._boards[order]
        earned, paid = np.zeros(end - begin), np.zeros(end - begin)
        plies = np.zeros(end - begin, np.int64)
        with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
            walk_kernels.walk_in_seats_jit(
                begin, end, self._key, self._most, board.begin,
                board.firsts, board.scales, board.steps, board.cumulative, board.successors,
                self._drawers[order], order == 1, *_paid(process),
                np.zeros(5, np.uint64), earned, paid, plies,
            )  # fmt: skip
        is_over = plies >= 0
        return Played(
            np.stack([earned, self._total - earned], axis=1),
            np.stack([paid, self._total - paid], axis=1),
            np.where(is_over, plies, -1 - plies),
            is_over,
        )


def _drawers(process: Process) -> NDArray[np.int8]:
    """Return the stream from which the successor of each node is drawn; see `walk_in_seats`."""
    model, nodes = process.model, process.num_nodes
    drawers = np.full(model.num_states + 1, 4, np.int8)
    seats = (process.of.players[process.states] ^ process.is_changed).astype(np.int8)
    drawers[:nodes] = seats
    rows = np.flatnonzero(~model.is_terminal)
    choosing = np.flatnonzero(process.sources < 0)  # rows of nodes that lead to throws
    for row in choosing.tolist():
        node = int(rows[row])
        first, stop = model.transition_offsets[row : row + 2].tolist()
        drawers[model.successors[first:stop]] = seats[node]
        drawers[node] = 2 + seats[node]
    return drawers
