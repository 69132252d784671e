"""Simulation of games as walks on the Markov chain that policies induce on a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gamedp.policies.chain import Process, Seats, induce
from gamedp.policies.statistics import as_paid
from gamedp.simulation import kernels
from gamedp.simulation.kernels import UNIT, ChainBoard
from gamedp.simulation.tally import BLOCK, Played, Tally, in_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.policies.policy import Policy


def _board(process: Process) -> ChainBoard:
    """Return the board of a chain; if it has several initial states, a node draws one."""
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
    rewards, payoffs = np.zeros(size + 1), np.zeros(size + 1)
    rewards[rows] = model.rewards
    paid = model.payoffs
    payoffs[model.terminals] = paid
    if process.of.has_opponents:
        payoffs[model.terminals] = as_paid(paid, process.of.constant_sum)
    begin = int(starts[0]) if len(starts) == 1 else size
    return ChainBoard(
        begin, firsts, scales, steps, cumulative, successors, rewards, payoffs, _drawers(process)
    )


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


def _drawers(process: Process) -> NDArray[np.int8]:
    """Return the stream from which the successor of each node is drawn; see `ChainBoard`."""
    model = process.model
    drawers = np.full(model.num_states + 1, 4, np.int8)
    # A throw leads on by the dice of the seat of the node that it comes from.
    seats = (process.of.players[process.states] ^ process.is_changed).astype(np.int8)
    drawers[: process.num_nodes] = seats
    rows = np.flatnonzero(process.sources < 0)  # of nodes that lead to throws
    nodes = np.flatnonzero(~model.is_terminal)[rows]
    lengths = np.diff(model.transition_offsets)
    leads_to_throw = np.repeat(process.sources < 0, lengths)
    drawers[model.successors[leads_to_throw]] = np.repeat(seats[nodes], lengths[rows])
    drawers[nodes] += 2
    return drawers


class _Walks:
    """All games on one chain, with the earnings of one player."""

    def __init__(self, process: Process, key: np.uint64, most: int, threads: int) -> None:
        self.board = _board(process)
        self.terminals = process.model.terminals
        self.has_rewards = bool(self.board.rewards.any())
        self.key, self.most = key, most
        self.ends = np.zeros((threads, len(self.board.scales)), np.int64)
        self.counters = np.zeros((threads, 2), np.int64)
        self.sums = np.zeros((0, 2))

    def play(self, begin: int, end: int) -> None:
        """Play the next games, with one thread for each array."""
        self.sums = np.concatenate([self.sums, np.zeros((math.ceil((end - begin) / BLOCK), 2))])

        def walk(thread: int, block: int, first: int, last: int) -> None:
            with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
                kernels.walk_jit(
                    first, last, self.key, self.most, self.board, self.has_rewards,
                    self.ends[thread], self.counters[thread], self.sums[block],
                )  # fmt: skip

        in_blocks(begin, end, len(self.ends), walk)

    def outcomes(self) -> dict[float, int]:
        """Return the number of games by payoff."""
        ends = self.ends.sum(axis=0)[self.terminals]
        found: dict[float, int] = {}
        payoffs = self.board.payoffs[self.terminals].tolist()
        for payoff, count in zip(payoffs, ends.tolist(), strict=True):
            found[payoff] = found.get(payoff, 0) + count
        return dict(sorted(found.items()))


class ChainGames:
    """Plays the games of policies of a model, as walks on the chain that they induce.

    Parameters
    ----------
    model : Model
        For two players if games come in pairs.
    policies : sequence of Policy
    key : uint64
        The key of the random numbers.
    most : int
        Number of plies after which a game is left unfinished.
    threads : int
    in_pairs : bool
        Whether games come in pairs, with the same dice for each seat and swapped seats.
    """

    def __init__(
        self,
        model: Model,
        policies: Sequence[Policy],
        key: np.uint64,
        most: int,
        threads: int,
        *,
        in_pairs: bool = False,
    ) -> None:
        self.names = tuple(policy.name for policy in policies)
        self.total = model.constant_sum
        self.has_rewards = bool(model.rewards.any())
        seats = tuple((policy,) for policy in policies)
        columns = range(model.num_players if model.is_general_sum else 1)
        processes = [induce(model, Seats(seats), column=column) for column in columns]
        if in_pairs:
            processes.append(induce(model, Seats(seats[::-1])))
        self._walks = [_Walks(process, key, most, threads) for process in processes]
        self._games = 0

    def payoffs(self) -> tuple[set[float] | None, float, float]:
        """Return all payoffs of player 0, the least and the greatest."""
        walks = self._walks[0]
        payoffs = walks.board.payoffs[walks.terminals]
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
        plies, unfinished = self._walks[0].counters.sum(axis=0).tolist()
        sums = ((math.fsum(each.sums[:, 0]), math.fsum(each.sums[:, 1])) for each in self._walks)
        return Tally(
            games=self._games,
            unfinished=unfinished,
            plies=plies,
            outcomes=tuple(walks.outcomes() for walks in self._walks),
            sums=tuple(sums),
        )

    def played_pairs(self, begin: int, end: int) -> tuple[Played, Played]:
        """Play the pairs with the numbers from `begin` to `end`; return both games of each."""
        first, second = (self._played(order, begin, end) for order in (0, 1))
        return first, second

    def _played(self, order: int, begin: int, end: int) -> Played:
        walks = self._walks[order]
        earned, paid = np.zeros((2, end - begin))
        plies = np.zeros(end - begin, np.int64)
        with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
            kernels.walk_in_seats_jit(
                begin, end, walks.key, walks.most, walks.board, order == 1,
                np.zeros(5, np.uint64), earned, paid, plies,
            )  # fmt: skip
        totals, payoffs = (np.stack([each, self.total - each], axis=1) for each in (earned, paid))
        return Played.of(totals, payoffs, plies)
