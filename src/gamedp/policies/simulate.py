"""Games of given policies, played by the million, and what they say of the exact value."""

from __future__ import annotations

import math
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.objectives import TotalReward
from gamedp.policies import walk_kernels
from gamedp.policies.chain import InducedChain, Process, Seats, induce
from gamedp.policies.evaluation import Evaluation
from gamedp.policies.given import listed, model_for
from gamedp.results.status import check_player
from gamedp.runtime.options import Tier

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = ["Simulation", "simulate"]

Kind: TypeAlias = Literal["exact", "wilson"]

BLOCK = 8_192
"""Games of a block: what they earn is added up in their order, and then that of the blocks."""


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Simulation:
    """Games of given policies.

    The numbers depend on the seed alone, not on the number of threads.

    Attributes
    ----------
    names : tuple of str
        The policies, that of player 0 first.
    games : int
    seed : int
    unfinished : int
        Games that were left after so many plies.
    outcomes : tuple of dict of float to int
        For each player, how many games paid what at the end.
    means, deviations : tuple of float
        For each player what was earned and paid on average in the games that ended, and the
        standard deviation of it; NaN if none or one has ended.
    mean_plies : float
        How many actions a game took on average, those left unfinished among them.
    """

    names: tuple[str, ...]
    games: int
    seed: int
    unfinished: int
    outcomes: tuple[dict[float, int], ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    mean_plies: float
    _has_rewards: bool

    def __repr__(self) -> str:
        """Say who played, and what came of it."""
        names = " against ".join(self.names)
        return f"<Simulation of {names}: {self.games:,} games, player 0 got {self.means[0]:.6g}>"

    @property
    def finished(self) -> int:
        """How many games came to their end."""
        return self.games - self.unfinished

    def standard_error(self, player: int = 0) -> float:
        """Return the standard error of the mean."""
        check_player(len(self.means), player)
        return self.deviations[player] / math.sqrt(self.finished) if self.finished else math.nan

    def count(self, payoff: float, player: int = 0) -> int:
        """Return in how many games a player was paid that at the end."""
        check_player(len(self.means), player)
        return self.outcomes[player].get(payoff, 0)

    def interval(
        self,
        payoff: float,
        player: int = 0,
        *,
        kind: Kind = "exact",
        confidence: float = 0.95,
    ) -> tuple[float, float]:
        """Return a confidence interval of how likely a player is paid that, of games that end.

        Parameters
        ----------
        payoff : float
        player : int
        kind : {"exact", "wilson"}
            That of Clopper and Pearson, which contains the truth at least as often as it says; or
            Wilson's, which is narrower and does so on average.
        confidence : float

        Raises
        ------
        UnsupportedProblemError
            If no game has ended.
        """
        from scipy.stats import binomtest  # noqa: PLC0415 - slow to import, and rarely needed

        self._refuse_none()
        test = binomtest(self.count(payoff, player), self.finished)
        low, high = test.proportion_ci(confidence, kind)
        return float(low), float(high)

    def agrees_with(self, evaluation: Evaluation, player: int = 0) -> float:
        """Return the p-value of games like these, if the evaluation is right.

        Where there are two payoffs and nothing is earned on the way, by the exact binomial test;
        else by the normal distribution of the mean.

        Parameters
        ----------
        evaluation : Evaluation
            Of the same policies.
        player : int

        Raises
        ------
        UnsupportedProblemError
            If some games are unfinished, which the value counts, too; or it is not that of a total.
        """
        from scipy.stats import binomtest, norm  # noqa: PLC0415 - slow to import, and rarely needed

        self._refuse_none()
        if self.unfinished:
            message = f"{self.unfinished:,} games are unfinished; raise max_plies."
            raise UnsupportedProblemError(message)
        if not isinstance(evaluation.objective, TotalReward):
            message = f"games are counted as they are, and {evaluation.objective!r} does not."
            raise UnsupportedProblemError(message)
        value = evaluation.value(player=player)
        if not self._has_rewards:
            payoffs = sorted(evaluation.distribution(player))
            if len(payoffs) == 2:
                low, high = payoffs
                chance = min(max((value - low) / (high - low), 0.0), 1.0)
                return float(binomtest(self.count(high, player), self.games, chance).pvalue)
        error = self.standard_error(player)
        difference = abs(self.means[player] - value)
        if not error > 0:
            return 1.0 if difference <= 1e-9 * max(1.0, abs(value)) else 0.0
        return float(2 * norm.sf(difference / error))

    def _refuse_none(self) -> None:
        if not self.finished:
            message = f"none of {self.games:,} games has ended; raise max_plies."
            raise UnsupportedProblemError(message)


@attrs.frozen(eq=False)
class _Board:
    """A Markov chain as the loop takes it."""

    firsts: NDArray[np.int32]
    scales: NDArray[np.float64]
    steps: NDArray[np.int64]
    cumulative: NDArray[np.float64]
    successors: NDArray[np.int32]
    begin: int

    @classmethod
    def of(cls, process: Process) -> _Board:
        """Put a chain together; where play may begin in several states, a node draws that first."""
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
        scales[ordered] = np.diff(offsets) * walk_kernels.UNIT * np.where(is_even, 1.0, -1.0)
        steps = np.zeros(size + 1, np.int64)
        steps[rows] = process.sources >= 0
        begin = int(starts[0]) if len(starts) == 1 else size
        return cls(firsts, scales, steps, cumulative, successors, begin)


def _shares(
    probabilities: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which rows are all equally likely, and how likely all up to each one of the others."""
    counts = np.diff(offsets)
    firsts = probabilities[offsets[:-1]]
    same = np.maximum.reduceat(np.abs(probabilities - np.repeat(firsts, counts)), offsets[:-1])
    cumulative = np.zeros(len(probabilities))
    for row in np.flatnonzero((same != 0) & (counts > 1)).tolist():
        part = slice(offsets[row], offsets[row + 1])
        cumulative[part] = np.cumsum(probabilities[part]) / walk_kernels.UNIT
    cumulative[offsets[1:] - 1] = math.inf
    return same == 0, cumulative


def simulate(
    game_or_model: Any,
    policies: Any,
    *,
    games: int = 100_000,
    seed: int | None = None,
    threads: int = 1,
    max_plies: int = 1_000_000,
    compile: Tier = "auto",
) -> Simulation:
    """Play games of given policies, by the million.

    They are walks on the Markov chain that the policies leave. The exact value needs no games, see
    :func:`gamedp.evaluate`; these are for what is not computed, for checking it, and to see how
    much chance there is in so many games.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    policies : policy or sequence of policies
        As for :func:`gamedp.evaluate`.
    games : int
    seed : int, optional
        The same seed gives the same games; a new one each time if not given.
    threads : int
        How many play; the games are the same for any number.
    max_plies : int
        Leave a game unfinished after so many.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Simulation

    Raises
    ------
    InvalidParameterError
        If something is no policy, or takes no action that there is, or a number is not positive.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> pair = [gamedp.Policy.uniform(model), gamedp.solve(model)]
    >>> found = gamedp.simulate(model, pair, games=1000, seed=7)
    >>> found.agrees_with(gamedp.evaluate(model, pair)) > 0.001
    True
    """
    for name, number in (("games", games), ("threads", threads), ("max_plies", max_plies)):
        _checked(name, number, 1)
    given = listed(policies)
    model = model_for(game_or_model, given, compile)
    chain = InducedChain(model, given)
    seed = secrets.randbits(32) if seed is None else _checked("seed", seed, 0)
    processes = [chain.process]
    for column in range(1, model.num_players if model.num_players > 2 else 1):
        seats = Seats(tuple((policy,) for policy in chain.policies))
        processes.append(induce(model, seats, column=column))
    tables = [_played(process, games, seed, threads, max_plies) for process in processes]
    ends, counters, _ = tables[0]
    unfinished = int(counters[walk_kernels.UNFINISHED])
    means, deviations, outcomes = [], [], []
    for process, (_, _, sums) in zip(processes, tables, strict=True):
        mean, deviation = _moments(sums, games - unfinished)
        means.append(mean)
        deviations.append(deviation)
        outcomes.append(_outcomes(process.model.payoffs, ends[process.model.terminals]))
    if model.num_players == 2:
        total = model.constant_sum
        means.append(total - means[0])
        deviations.append(deviations[0])
        payoffs = total - chain.model.payoffs
        outcomes.append(_outcomes(payoffs, ends[chain.model.terminals]))
    return Simulation(
        names=tuple(policy.name for policy in chain.policies),
        games=games,
        seed=seed,
        unfinished=unfinished,
        outcomes=tuple(outcomes),
        means=tuple(means),
        deviations=tuple(deviations),
        mean_plies=float(counters[walk_kernels.PLIES] / games),
        has_rewards=bool(model.rewards.any()),
    )


def _checked(name: str, number: Any, least: int) -> int:
    """Return an integer that is not too small."""
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        message = f"{name} is {shown(number)}; it must be an integer, {least} or more."
        raise InvalidParameterError(message)
    return number


def _played(
    process: Process, games: int, seed: int, threads: int, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[float, float]]:
    """Play all games; return where they ended, the counters, and the sums of all blocks."""
    board, size = _Board.of(process), process.model.num_states + 1
    rewards, payoffs = np.zeros(size), np.zeros(size)
    rewards[:-1][~process.model.is_terminal] = process.model.rewards
    payoffs[process.model.terminals] = process.model.payoffs
    has_rewards = bool(rewards.any())
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    ends, counters = np.zeros((threads, size), np.int64), np.zeros((threads, 3), np.int64)
    blocks = math.ceil(games / BLOCK)
    sums = np.zeros((blocks, 2))

    def play(thread: int) -> None:
        with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
            for block in range(thread, blocks, threads):
                walk_kernels.walk_jit(
                    block * BLOCK, min((block + 1) * BLOCK, games), key, most, board.begin,
                    board.firsts, board.scales, board.steps, board.cumulative, board.successors,
                    has_rewards, rewards, payoffs, ends[thread], counters[thread], sums[block],
                )  # fmt: skip

    if threads == 1:
        play(0)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(play, range(threads)))
    return ends.sum(axis=0), counters.sum(axis=0), (math.fsum(sums[:, 0]), math.fsum(sums[:, 1]))


def _moments(sums: tuple[float, float], count: int) -> tuple[float, float]:
    """Return mean and standard deviation, NaN where so many games have none."""
    total, squares = sums
    mean = total / count if count else math.nan
    if count < 2:
        return mean, math.nan
    return mean, math.sqrt(max(0.0, squares - count * mean * mean) / (count - 1))


def _outcomes(payoffs: NDArray[np.float64], ends: NDArray[np.int64]) -> dict[float, int]:
    """Return how many games paid what."""
    found: dict[float, int] = {}
    for payoff, count in zip(payoffs.tolist(), ends.tolist(), strict=True):
        found[payoff] = found.get(payoff, 0) + count
    return dict(sorted(found.items()))
