"""Simulation of staged games, whose players follow solutions or rules.

All games advance from stage to stage together. Games in the same context share its choices: those
of a solution are found as for the distribution of totals, the first best one in each state; a rule
is asked once for all games that wait in the same position.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from gamedp.compiler.methods import disagree
from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.policies.arguments import StageRule, check_players
from gamedp.policies.statistics import as_paid
from gamedp.runtime.options import CompileMode
from gamedp.runtime.slices import CONTEXTS
from gamedp.runtime.workers import Workers, deal
from gamedp.simulation import kernels
from gamedp.simulation.kernels import GAMMA, ONCE, S11, TWICE, UNIT, mixed
from gamedp.simulation.staged_players import OwnContexts, Stage
from gamedp.simulation.tally import PlayedGames, Playing, Tally, blocks
from gamedp.stages.compile import compile_staged
from gamedp.stages.flattened import Position
from gamedp.stages.model import StagedModel
from gamedp.stages.plain_rules import PlainRules
from gamedp.stages.solution import StagedSolution
from gamedp.stages.sweepers import PlainSweeper
from gamedp.stages.totals.kernels import choose_jit
from gamedp.stages.vector_code import program_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.stages.vector_code import StageProgram

GAMES_TOGETHER = 1 << 20
"""Number of games that advance from stage to stage together, about 60 bytes each."""


class StagedGames(Playing):
    """Plays the games of policies of a staged game.

    The payoff of a game is the total of player 0, rewards and payoffs, as in the distribution of
    totals.

    Parameters
    ----------
    given
        The staged game or its model.
    policies : sequence
        One for each player: a StagedSolution, or a player that is asked in a
        `gamedp.stages.Position`.
    key : uint64
        What the games are drawn from.
    most : int
        Plies after which a game is left unfinished.
    workers : int or Executor
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`, for a game without a solution.
    in_pairs : bool
        Whether each player has its own dice, the same in both games of a pair.

    Raises
    ------
    InvalidParameterError
        If a player follows something else, or a solution or policy of another game.
    """

    def __init__(
        self,
        given: Any,
        policies: Sequence[Any],
        key: np.uint64,
        most: int,
        workers: Workers,
        compile: CompileMode = "auto",
        *,
        in_pairs: bool = False,
    ) -> None:
        self.model = _model_of(given, policies, compile)
        self.total = self.model.constant_sum
        self._key, self._most = key, most
        self._in_pairs = in_pairs
        distinct = list({id(one): one for one in policies}.values())
        self._solutions = [one for one in distinct if isinstance(one, StagedSolution)]
        asked = [one for one in distinct if not isinstance(one, StagedSolution)]
        self._rules = [StageRule(one) for one in asked]
        tables = {id(one): place for place, one in enumerate(self._solutions)}
        tables |= {id(one): -1 - place for place, one in enumerate(asked)}
        self._tables = np.array([tables[id(one)] for one in policies])
        self.names = tuple(
            "optimal" if table >= 0 else self._rules[-1 - table].name for table in self._tables
        )
        stage = self.model.stage
        declares = hasattr(type(self.model.rules.game), "reward")
        self.has_rewards = declares or bool(stage.rewards.any())
        self._programs: list[StageProgram] = [
            program_of(stage, optimum=one.objective.optimum, keeps_all=True)
            for one in self._solutions
        ]
        # Solutions differ in their objective alone.
        self._program = next(iter(self._programs), None) or program_of(stage, keeps_all=True)
        order = np.asarray(stage.structure.order)
        inner = order[np.diff(stage.choice_offsets)[order] > 0]
        inner = inner[: len(self._program.own_rows)]
        self._movers = stage.players[inner].astype(np.int64)
        self._stage = Stage(self.model, inner, self._program)
        self._asking = Lock()
        if self._rules and stage.rules is not None and hasattr(type(stage.rules.game), "canonical"):
            message = (
                f"the stage of {shown(self.model.rules.game)} has canonical(), so policies that "
                "choose by the position cannot see which of the merged states it is. Leave it out "
                "to play by rules."
            )
            raise UnsupportedProblemError(message)
        super().__init__(workers, [()])

    def payoffs(self) -> tuple[set[float] | None, float, float]:
        """Return all payoffs of player 0, the least and the greatest.

        A declared reward that is always 0 does not count; all contexts are examined to find that
        out.
        """
        self.has_rewards = self.has_rewards and _earns(self.model)
        found = self.model.sweeper.survey().values
        paid = set(np.unique(found[~np.isnan(found)]).tolist())
        if self.model.has_opponents:  # as player 1 of a representative context
            total = self.model.constant_sum
            paid |= {total - payoff for payoff in paid}
            paid = set(as_paid(np.array(list(paid)), total).tolist())
        return paid, min(paid, default=0.0), max(paid, default=0.0)

    def play(self, end: int) -> None:
        """Play on, up to a number of games.

        Own threads share the contexts of a stage; an executor is dealt blocks of games.
        """
        for first in range(self._games, end, GAMES_TOGETHER):
            stop = min(first + GAMES_TOGETHER, end)
            if isinstance(self.workers, Executor):
                with closing(deal(self.workers, self.blocks, blocks(first, stop))) as found:
                    played = PlayedGames.joined(found)
            else:
                with ThreadPoolExecutor(self.workers) as pool:
                    played = self._played(first, stop, lambda *args: list(pool.map(*args)))
            self._tally = Tally.total([self._tally, played.tally(1)])
        self._games = end

    def block(self, begin: int, end: int, *, is_changed: bool = False) -> PlayedGames:
        """Play the games with the numbers from `begin` to `end`."""
        return self._played(begin, end, lambda *args: list(map(*args)), is_changed=is_changed)

    def played_pairs(self, begin: int, end: int) -> tuple[PlayedGames, PlayedGames]:
        """Play the pairs with the numbers from `begin` to `end`; return both games of each."""
        return self.block(begin, end), self.block(begin, end, is_changed=True)

    def _played(
        self, begin: int, end: int, each: Callable[..., Any], *, is_changed: bool = False
    ) -> PlayedGames:
        """Play the games with these numbers; `each` maps a function over parts of them."""
        streams = _streams(self._key, begin, end, in_pairs=self._in_pairs, is_changed=is_changed)
        games = _Games.begun(self.model, streams, OwnContexts.of(self.model, self._rules))
        while len(games.active):
            each(functools.partial(self._go_on, games, is_changed=is_changed), games.parts())
        return games.played(self.model)

    def _go_on(self, games: _Games, part: Part, *, is_changed: bool) -> None:
        """Advance some games through one stage, or to their end."""
        model, (codes, some, contexts) = self.model, part
        onward = model.sweeper.follow(codes)
        paid = onward.payoffs[contexts]
        is_over = ~np.isnan(paid)
        self._refuse_first(codes[contexts], is_over & ~np.isfinite(paid))
        games.finish(some[is_over], paid[is_over], model.constant_sum)
        some, contexts = some[~is_over], contexts[~is_over]
        chosen = self._chosen(codes, onward)
        tables = self._seated(is_changed)
        players = np.arange(len(tables))
        dice = players if self._in_pairs else np.zeros_like(players)
        swapped, streams, plies = games.swapped[some], games.streams[some], games.plies[some]
        places = np.full(len(some), len(self._movers) - 1)
        answers, earned = np.full(len(some), -1), np.zeros(len(some))
        ends = np.full(len(some), kernels.ASKS)
        possible = None
        while True:
            with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
                kernels.walk_stage_jit(
                    self._program, self._movers, onward.following.shape[1], chosen, tables,
                    dice, contexts, swapped, self._most, streams, plies, places, answers, ends,
                    earned,
                )  # fmt: skip
            waiting = np.flatnonzero(ends == kernels.ASKS)
            if not len(waiting):
                break
            if possible is None:
                possible = self._stage.possible(onward.following)
            movers = self._movers[places[waiting]] ^ swapped[waiting]
            there = codes[contexts[waiting]]
            at = there if games.known is None else games.own[some[waiting]]
            positions = np.stack([movers, at, places[waiting]])
            open_choices = possible[contexts[waiting]]
            self._ask(
                games.known, waiting, positions, there, open_choices, streams, answers,
                is_changed=is_changed,
            )  # fmt: skip
        games.plies[some] = plies
        is_left = ends == kernels.UNFINISHED
        games.leave(some[is_left])
        some, contexts, ends = some[~is_left], contexts[~is_left], ends[~is_left]
        is_wrong = (onward.following[contexts, ends] < 0) | ~np.isfinite(
            onward.rewards[contexts, ends]
        )
        self._refuse_first(codes[contexts], is_wrong)
        rewards = earned[~is_left] + onward.rewards[contexts, ends]
        games.earned[some] += np.where(swapped[~is_left], -rewards, rewards)
        games.streams[some] = streams[~is_left]
        games.codes[some] = onward.following[contexts, ends]
        games.swapped[some] ^= onward.swaps[contexts, ends]
        if games.known is not None:
            games.own[some] = games.known.after(
                games.own[some], ends, games.codes[some], games.swapped[some]
            )

    def _refuse_first(self, codes: NDArray[np.int64], is_wrong: NDArray[np.bool_]) -> None:
        """Raise InvalidModelError for the first context in which the rules are wrong."""
        if not is_wrong.any():
            return
        code = int(codes[is_wrong][0])
        self._check_rules(code)
        message = (
            f"in {shown(self.model.state(code))} the stage ends in a way that allows() forbids, "
            "whatever the players do. Let every action and every throw of the stage leave a way to "
            "an end that is allowed."
        )
        raise InvalidModelError(message)

    def _check_rules(self, code: int) -> None:
        """Raise InvalidModelError if the rules of a context are wrong, or compiled ones differ."""
        model, context = self.model, self.model.state(code)
        plain_rules = PlainRules(model.rules, model.stage, model.layout, model.codec)
        plain_rules.check(context)
        plain = PlainSweeper(plain_rules).follow(np.array([code]))
        played = model.sweeper.follow(np.array([code]))
        for one, other in zip(attrs.astuple(plain), attrs.astuple(played), strict=True):
            if not np.array_equal(one, other, equal_nan=True):
                disagree(f"in {shown(context)}", None)

    def _seated(self, is_changed: bool) -> NDArray[np.int64]:
        """Return what each player follows: the number of a solution, or -1 minus that of a rule."""
        return self._tables[::-1].copy() if is_changed else self._tables

    def _ask(
        self,
        known: OwnContexts | None,
        waiting: NDArray[np.int64],
        positions: NDArray[np.int64],
        codes: NDArray[np.int64],
        possible: NDArray[np.bool_],
        streams: NDArray[np.uint64],
        answers: NDArray[np.int64],
        *,
        is_changed: bool,
    ) -> None:
        """Ask the players of w games, once for all games in the same position.

        Parameters
        ----------
        known : OwnContexts or None
            The numbering of the positions' contexts; if None, they are given by codes.
        waiting : (w,)
        positions : (3, w)
            The player that is asked, the context, and the place in the stage.
        codes : (w,)
            Codes of the contexts that represent these.
        possible : (w, C) bool
        streams, answers
            Those of all games; streams are advanced, and answers filled, for games that wait.
        """
        _, firsts, groups = np.unique(positions, axis=1, return_index=True, return_inverse=True)
        groups = groups.ravel()  # in numpy 2.0 it has two axes
        order = np.argsort(groups, kind="stable")
        borders = np.cumsum(np.bincount(groups))[:-1]
        for first, group in zip(firsts.tolist(), np.split(order, borders), strict=True):
            player, context, place = positions[:, first].tolist()
            own = self.model.state(context) if known is None else known.contexts[context]
            rule = self._rules[-1 - self._seated(is_changed)[player]]
            actions = self._stage.actions(place, possible[first])
            if not actions:
                self._refuse_first(codes[first : first + 1], np.ones(1, np.bool_))
            with self._asking:  # not every function is thread-safe
                shares = rule.shares(Position(own, self._stage.state(place)), list(actions))
            games = waiting[group]
            choices = np.array([actions[action] for action in shares])
            column = 2 + (player ^ is_changed) if self._in_pairs else 0
            if len(choices) > 1:
                drawn = _drawn(streams, games, column)
                sums = np.cumsum(list(shares.values()))[:-1]
                choices = choices[np.searchsorted(sums, drawn, side="right")]
            answers[games] = choices

    def _chosen(self, codes: NDArray[np.int64], onward: Any) -> NDArray[np.int32]:
        """Return the choice of each solution in each inner state of each context."""
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
                code = int(codes[inner[bad]])
                self._check_rules(code)
                message = (
                    f"the solution knows no values after {shown(self.model.state(code))}; it was "
                    "stopped before it got there."
                )
                raise UnsupportedProblemError(message)
            chosen[table, inner] = found
        return chosen


class Part(NamedTuple):
    """Some contexts, and the games in them.

    Attributes
    ----------
    codes : (n,) int64
        The codes of the contexts.
    games : (m,) int64
        The indices of the games.
    contexts : (m,) int64
        The number of the context of each of these games.
    """

    codes: NDArray[np.int64]
    games: NDArray[np.int64]
    contexts: NDArray[np.int64]


class _Games:
    """Games that advance from stage to stage together.

    Parameters
    ----------
    codes : (games,) int64
        Codes of the contexts in which the games begin.
    swapped : (games,) bool
    streams : (games, S) uint64
    own : (games,) int64
        The contexts in the players' own view, by their numbers in `known`.
    known : OwnContexts or None
        None if the codes suffice.

    Attributes
    ----------
    plies : (games,) int64
    earned : (games,) float64
        Rewards and payoffs of player 0.
    active : (a,) int64
        The indices of the games in progress.
    """

    def __init__(
        self,
        codes: NDArray[np.int64],
        swapped: NDArray[np.bool_],
        streams: NDArray[np.uint64],
        own: NDArray[np.int64],
        known: OwnContexts | None,
    ) -> None:
        count = len(codes)
        self.codes, self.swapped, self.streams, self.own = codes, swapped, streams, own
        self.known = known
        self.plies = np.zeros(count, np.int64)
        self.earned = np.zeros(count)
        self.active = np.arange(count)
        self._goes_on = np.ones(count, np.bool_)
        self._is_over = np.zeros(count, np.bool_)

    @classmethod
    def begun(
        cls, model: StagedModel, streams: NDArray[np.uint64], known: OwnContexts | None
    ) -> _Games:
        """Return games at their start, which is drawn from the last stream of each."""
        places = np.zeros(len(streams), np.int64)
        probabilities = np.abs(model.initial_probabilities)
        if len(probabilities) > 1:
            drawn = _drawn(streams, slice(None), -1)
            places = np.searchsorted(np.cumsum(probabilities)[:-1], drawn, side="right")
        swapped = (model.initial_probabilities < 0)[places]
        own = places if known is None else known.starts[places]
        return cls(model.initial_states[places], swapped, streams, own, known)

    def parts(self) -> list[Part]:
        """Return the games in progress by their contexts, a slice of contexts at a time."""
        self.active = self.active[self._goes_on[self.active]]
        if self.known is not None:
            self.own[self.active] = self.known.kept(self.own[self.active])
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
        """End some games with the payoff of the context to its player 0."""
        self.earned[some] += np.where(self.swapped[some], constant_sum - paid, paid)
        self._is_over[some] = True
        self._goes_on[some] = False

    def leave(self, some: NDArray[np.int64]) -> None:
        """Leave some games unfinished."""
        self._goes_on[some] = False

    def played(self, model: StagedModel) -> PlayedGames:
        """Return the results of the games."""
        earned = self.earned[:, None]
        if model.has_opponents:
            earned = np.concatenate([earned, model.constant_sum - earned], axis=1)
        return PlayedGames(earned, earned, self.plies, self._is_over)


def _streams(
    key: np.uint64, begin: int, end: int, *, in_pairs: bool, is_changed: bool
) -> NDArray[np.uint64]:
    """Return the streams of the games with these numbers.

    Returns
    -------
    streams : (games, 1) or (games, 5) uint64
        In pairs, those of each player's dice, of each policy's random choices, and of the start, as
        in :func:`gamedp.simulation.kernels.walk_in_seats`.
    """
    with np.errstate(over="ignore"):
        roots = mixed(key + np.arange(begin, end, dtype=np.uint64) * TWICE)
        if not in_pairs:
            return np.ascontiguousarray(roots[:, None])
        steps = np.arange(1, 5, dtype=np.uint64) * ONCE
        streams = mixed(roots[:, None] + steps)
    if is_changed:
        streams[:, 2:] ^= TWICE
    return np.concatenate([streams, roots[:, None]], axis=1)


def _drawn(
    streams: NDArray[np.uint64], games: NDArray[np.int64] | slice, column: int
) -> NDArray[np.float64]:
    """Return a number in [0, 1) from one stream of each of some games, which is advanced."""
    with np.errstate(over="ignore"):
        streams[games, column] += GAMMA
    drawn: NDArray[np.float64] = (mixed(streams[games, column]) >> S11) * UNIT
    return drawn


def _earns(model: StagedModel) -> bool:
    """Return whether any context has rewards on the way."""
    if model.stage.rewards.any():
        return True
    codes = model.sweeper.survey().codes
    for first in range(0, len(codes), CONTEXTS):
        onward = model.sweeper.follow(codes[first : first + CONTEXTS])
        if onward.rewards[onward.following >= 0].any():
            return True
    return False


def _model_of(given: Any, policies: Sequence[Any], compile: CompileMode) -> StagedModel:
    """Return the model that is played, after a check of the players."""
    own = [given] if isinstance(given, StagedModel) else []
    models = own + check_players(given, policies)
    return models[0] if models else compile_staged(given, compile=compile)
