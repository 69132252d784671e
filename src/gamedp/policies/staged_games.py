"""Games of a staged game that is solved: its players follow the solution, or one each.

All games go from stage to stage together. Those that are in the same context share its choices,
which are found as for the distribution of totals: the first best one in each state.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies import staged_kernels
from gamedp.policies.given import check_count
from gamedp.policies.tally import Played, Tally
from gamedp.policies.walk_kernels import GAMMA, S11, TWICE, UNIT, mixed
from gamedp.rules.staged import StagedRules
from gamedp.runtime.slices import CONTEXTS
from gamedp.stages.model import StagedModel
from gamedp.stages.program import program_of
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.kernels import choose_jit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.stages.vector_code import Program

__all__ = ["StagedGames"]

TOGETHER = 1 << 20
"""Games that go from stage to stage together, about 50 bytes each."""


class StagedGames:
    """Plays the games of solutions of a staged game.

    What a game is said to pay is all that player 0 earns and is paid, as in the distribution of
    totals.

    Parameters
    ----------
    given
        The staged game or its model.
    solutions : sequence
        One StagedSolution for each player.
    key : uint64
        What the games are drawn from.
    most : int
        Plies after which a game is left unfinished.
    threads : int

    Raises
    ------
    InvalidParameterError
        If a player follows something else, or the solution of another game.
    """

    has_rewards = False
    """Besides what a game pays: its total."""

    def __init__(
        self, given: Any, solutions: Sequence[Any], key: np.uint64, most: int, threads: int
    ) -> None:
        self.model = _model_of(given, solutions)
        self._key, self._most, self._threads = key, most, threads
        self._solutions = list({id(one): one for one in solutions}.values())
        self._tables = np.array(
            [next(k for k, one in enumerate(self._solutions) if one is each) for each in solutions]
        )
        stage = self.model.stage
        self._programs: list[Program] = [
            program_of(stage, optimum=one.objective.optimum, keeps_all=True)
            for one in self._solutions
        ]
        order = np.asarray(stage.structure.order)
        inner = order[np.diff(stage.choice_offsets)[order] > 0]
        self._movers = stage.players[inner[: len(self._programs[0].own_rows)]].astype(np.int64)
        self._tallies: list[Tally] = []
        self._games = 0

    def play(self, end: int) -> None:
        """Play on, up to so many games."""
        with ThreadPoolExecutor(self._threads) as pool:
            for first in range(self._games, end, TOGETHER):
                games = _Games.begun(self.model, self._key, first, min(first + TOGETHER, end))
                while len(games.active):
                    list(pool.map(functools.partial(self._go_on, games), games.parts()))
                self._tallies.append(games.played().tally())
        self._games = end

    def tally(self) -> Tally:
        """Return what all games have brought so far."""
        return Tally.total(self._tallies)

    def _go_on(self, games: _Games, part: Part) -> None:
        """Take some games through one stage, or to their end."""
        model, (codes, some, contexts) = self.model, part
        onward = model.sweeper.follow(codes)
        paid = onward.payoffs[contexts]
        is_over = ~np.isnan(paid)
        games.finish(some[is_over], paid[is_over], model.constant_sum)
        some, contexts = some[~is_over], contexts[~is_over]
        chosen = self._chosen(codes, onward)
        swapped, streams, plies = games.swapped[some], games.streams[some], games.plies[some]
        ends, earned = np.zeros(len(some), np.int64), np.zeros(len(some))
        with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
            staged_kernels.walk_stage_jit(
                self._programs[0], self._movers, onward.following.shape[1], chosen, self._tables,
                contexts, swapped, self._most, streams, plies, ends, earned,
            )  # fmt: skip
        games.plies[some] = plies
        is_left = ends == staged_kernels.UNFINISHED
        games.leave(some[is_left])
        some, contexts, ends = some[~is_left], contexts[~is_left], ends[~is_left]
        rewards = earned[~is_left] + onward.rewards[contexts, ends]
        games.earned[some] += np.where(swapped[~is_left], -rewards, rewards)
        games.streams[some] = streams[~is_left]
        games.codes[some] = onward.following[contexts, ends]
        games.swapped[some] ^= onward.swaps[contexts, ends]

    def _chosen(self, codes: NDArray[np.int64], onward: Any) -> NDArray[np.int32]:
        """Return what each solution chooses in each inner state of each context."""
        shape = len(self._solutions), len(codes), len(self._movers)
        chosen = np.full(shape, -1, np.int32)
        inner = np.flatnonzero(np.isnan(onward.payoffs))
        following, swaps = onward.following[inner], onward.swaps[inner]
        for table, (solution, program) in enumerate(
            zip(self._solutions, self._programs, strict=True)
        ):
            end_values = solution.values[following]
            end_values[swaps] = self.model.constant_sum - end_values[swaps]
            end_values += onward.rewards[inner]
            end_values[following < 0] = np.nan
            found = np.full((len(inner), shape[2]), -1, np.int32)
            bad = choose_jit(program, end_values, found)
            if bad >= 0:
                context = shown(self.model.state(int(codes[inner[bad]])))
                message = (
                    f"the solution knows no values after {context}; it was stopped before it got "
                    "there."
                )
                raise UnsupportedProblemError(message)
            chosen[table, inner] = found
        return chosen


class Part(NamedTuple):
    """Some contexts, and the games in them.

    Attributes
    ----------
    codes : (n,) int64
        Of the contexts.
    games : (m,) int64
        The places of the games.
    contexts : (m,) int64
        Which of the n contexts each of these is in.
    """

    codes: NDArray[np.int64]
    games: NDArray[np.int64]
    contexts: NDArray[np.int64]


class _Games:
    """Games that go from stage to stage together.

    Attributes
    ----------
    codes, plies : (games,) int64
        Of the context that a game is in.
    swapped : (games,) bool
    streams : (games,) uint64
    earned : (games,) float64
        By player 0.
    active : (a,) int64
        The places of those that go on.
    """

    def __init__(
        self, codes: NDArray[np.int64], swapped: NDArray[np.bool_], streams: NDArray[np.uint64]
    ) -> None:
        count = len(codes)
        self.codes, self.swapped, self.streams = codes, swapped, streams
        self.plies = np.zeros(count, np.int64)
        self.earned = np.zeros(count)
        self.active = np.arange(count)
        self._goes_on = np.ones(count, np.bool_)
        self._is_over = np.zeros(count, np.bool_)

    @classmethod
    def begun(cls, model: StagedModel, key: np.uint64, first: int, end: int) -> _Games:
        """Return the games with the numbers from `first` to `end`, at their start."""
        streams = mixed(key + np.arange(first, end, dtype=np.uint64) * TWICE)
        places = np.zeros(end - first, np.int64)
        probabilities = np.abs(model.initial_probabilities)
        if len(probabilities) > 1:
            streams += GAMMA
            drawn = (mixed(streams) >> S11).astype(np.float64) * UNIT
            sums = np.cumsum(probabilities)
            places = np.searchsorted(sums[:-1], drawn, side="right")
        return cls(model.initial_states[places], (model.initial_probabilities < 0)[places], streams)

    def parts(self) -> list[Part]:
        """Return those that go on, by their contexts, a slice of these at a time."""
        self.active = self.active[self._goes_on[self.active]]
        contexts, places = np.unique(self.codes[self.active], return_inverse=True)
        order = np.argsort(places, kind="stable")
        games, places = self.active[order], places[order]
        firsts = np.arange(0, len(contexts), CONTEXTS)
        borders = np.searchsorted(places, [*firsts, len(contexts)])
        return [
            Part(contexts[first : first + CONTEXTS], games[begin:end], places[begin:end] - first)
            for first, begin, end in zip(firsts, borders[:-1], borders[1:], strict=True)
        ]

    def finish(
        self, some: NDArray[np.int64], paid: NDArray[np.float64], constant_sum: float
    ) -> None:
        """End some games with what the context pays to its player 0."""
        self.earned[some] += np.where(self.swapped[some], constant_sum - paid, paid)
        self._is_over[some] = True
        self._goes_on[some] = False

    def leave(self, some: NDArray[np.int64]) -> None:
        """Leave some games unfinished."""
        self._goes_on[some] = False

    def played(self) -> Played:
        """Return what they have brought."""
        earned = self.earned[:, None]
        return Played(earned, earned, self.plies, self._is_over)


def _model_of(given: Any, solutions: Sequence[Any]) -> StagedModel:
    """Return the model that is played, after a look at who plays."""
    rules = given.rules if isinstance(given, StagedModel) else StagedRules(given)
    check_count(solutions, rules.num_players)
    for solution in solutions:
        if not isinstance(solution, StagedSolution):
            message = (
                f"{shown(solution)} cannot play a staged game; give the StagedSolution that "
                "gamedp.solve returns, or play the ordinary game gamedp.stages.Flattened(game)."
            )
            raise InvalidParameterError(message)
        model = solution.model
        if isinstance(given, StagedModel):
            is_same = model is given or model.digest() == given.digest()
        else:
            is_same = bool(model.rules.game == given)
        if not is_same:
            message = f"{shown(solution)} is not a solution of {shown(given)}."
            raise InvalidParameterError(message)
    return given if isinstance(given, StagedModel) else solutions[0].model
