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
from gamedp.simulation.tally import PlayedGames, Playing, Tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.policies.policy import Policy
    from gamedp.runtime.workers import Workers


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
    rewards, results = np.zeros(size + 1), np.zeros(size + 1, np.int32)
    rewards[rows] = model.rewards
    paid = model.payoffs + 0.0
    if process.of.has_opponents:
        paid = as_paid(paid, process.of.constant_sum)
    payoffs, results[model.terminals] = np.unique(paid, return_inverse=True)
    begin = int(starts[0]) if len(starts) == 1 else size
    return ChainBoard(
        begin, firsts, scales, steps, cumulative, successors, rewards, results, payoffs,
        _drawers(process),
    )  # fmt: skip


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


class ChainGames(Playing):
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
    workers : int or Executor
    in_pairs : bool
        Whether games come in pairs, with the same dice for each seat and swapped seats.
    """

    def __init__(
        self,
        model: Model,
        policies: Sequence[Policy],
        key: np.uint64,
        most: int,
        workers: Workers,
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
        self._boards = list(map(_board, processes))
        self._earns = [bool(board.rewards.any()) for board in self._boards]
        self._key, self._most = key, most
        super().__init__(workers, [board.payoffs.tolist() for board in self._boards])

    def payoffs(self) -> tuple[set[float] | None, float, float]:
        """Return all payoffs of player 0, the least and the greatest."""
        payoffs = self._boards[0].payoffs.tolist()
        return set(payoffs), min(payoffs, default=0.0), max(payoffs, default=0.0)

    def block(self, begin: int, end: int) -> Tally:
        """Play the games with the numbers from `begin` to `end`; return their tally."""
        counters, outcomes, sums = np.zeros(2, np.int64), [], []
        for board, earns in zip(self._boards, self._earns, strict=True):
            counters[:] = 0  # plies, and the games left unfinished: the same on all boards
            ends, own = np.zeros(len(board.payoffs), np.int64), np.zeros(2)
            with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
                kernels.walk_jit(
                    begin, end, self._key, self._most, board, earns,
                    ends, counters, own,
                )  # fmt: skip
            some = np.flatnonzero(ends)
            found = zip(board.payoffs[some].tolist(), ends[some].tolist(), strict=True)
            outcomes.append(dict(found))
            sums.append(((float(own[0]), float(own[1])),))
        plies, unfinished = counters.tolist()
        return Tally(end - begin, unfinished, plies, tuple(outcomes), tuple(sums))

    def played_pairs(self, begin: int, end: int) -> tuple[PlayedGames, PlayedGames]:
        """Play the pairs with the numbers from `begin` to `end`; return both games of each."""
        first, second = (self._played(order, begin, end) for order in (0, 1))
        return first, second

    def _played(self, order: int, begin: int, end: int) -> PlayedGames:
        earned, paid = np.zeros((2, end - begin))
        plies = np.zeros(end - begin, np.int64)
        with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
            kernels.walk_in_seats_jit(
                begin, end, self._key, self._most, self._boards[order], order == 1,
                np.zeros(5, np.uint64), earned, paid, plies,
            )  # fmt: skip
        totals, payoffs = (np.stack([each, self.total - each], axis=1) for each in (earned, paid))
        return PlayedGames.of(totals, payoffs, plies)
