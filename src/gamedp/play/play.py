"""Playing games: what chooses the actions, one game from start to end, and its record."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    UnsupportedProblemError,
    shown,
)
from gamedp.results.solution import Solution
from gamedp.rules.game import Rules
from gamedp.runtime.encoding import encode_object
from gamedp.runtime.options import whole_and_positive
from gamedp.searchers.alpha_beta import AlphaBeta
from gamedp.searchers.bound_rules import bind_once
from gamedp.searchers.max_n import MaxN
from gamedp.searchers.minimax import Minimax

if TYPE_CHECKING:
    from gamedp.results.search_result import SearchResult
    from gamedp.runtime.progress import ProgressCallback

__all__ = [
    "GameRecord",
    "LevelPlayer",
    "Line",
    "RandomPlayer",
    "Seat",
    "check_plies",
    "checked_seed",
    "drawn",
    "play_game",
    "seated",
]

Compile: TypeAlias = Literal["auto", "always", "never"]
Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator | None
Seat: TypeAlias = Callable[[Any, Sequence[int], np.random.Generator], int]
"""Chooses one of several actions in a state."""

MOST_PLIES = 1_000
"""Plies after which a game is left unfinished, if nothing else is said."""


@attrs.frozen
class GameRecord:
    """A game as it was played.

    Attributes
    ----------
    states : tuple
        The positions, the start first.
    actions : tuple of int
        Each leads from the position at its place to the next one.
    outcomes : tuple of int
        Which of the outcomes of each action came up, in the order of the rules; 0 where there is
        no chance.
    payoffs : tuple of float or None
        What each player got in all, rewards on the way among it. None if the game was left
        unfinished.
    """

    states: tuple[Any, ...]
    actions: tuple[int, ...]
    outcomes: tuple[int, ...]
    payoffs: tuple[float, ...] | None

    @property
    def plies(self) -> int:
        """How many actions were taken."""
        return len(self.actions)

    @property
    def is_finished(self) -> bool:
        """Whether the game was played to its end."""
        return self.payoffs is not None


@attrs.frozen
class RandomPlayer:
    """A player who takes a random action, all equally likely.

    Parameters
    ----------
    game
        What is played.

    Examples
    --------
    >>> import numpy as np
    >>> from gamedp.games.matches import Matches, MatchesState
    >>> RandomPlayer(Matches())(MatchesState(0, 1), np.random.default_rng(0))
    1
    """

    game: Any

    def __call__(self, state: Any, rng: np.random.Generator) -> int:
        """Return an action in `state`."""
        actions = list(self.game.actions(state))
        return int(actions[rng.integers(len(actions))])


@attrs.frozen
class LevelPlayer:
    """A player who looks a fixed number of plies ahead, in any game.

    By :class:`gamedp.searchers.AlphaBeta`; where it meets chance, by
    :class:`gamedp.searchers.Minimax`; with three players and more, by
    :class:`gamedp.searchers.MaxN`. The table of positions is as small as the depth, so that a
    shallow search takes no longer than it must.

    Parameters
    ----------
    depth : int
        Plies; at least 1.

    Examples
    --------
    >>> from gamedp.games.matches import Matches
    >>> LevelPlayer(4).search(Matches(matches=5), compile="never").value
    -1.0
    """

    depth: int = attrs.field(validator=whole_and_positive)

    def search(
        self,
        game: Any,
        state: Any = None,
        *,
        compile: Compile = "auto",
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """Search a position; the parameters and errors are those of :meth:`AlphaBeta.search`."""
        if Rules(game).num_players > 2:
            many = MaxN(depth=self.depth)
            return many.search(game, state, compile=compile, progress=progress)
        table_bytes = 2.0 ** min(26, 14 + self.depth)
        sure = AlphaBeta(depth=self.depth, table_bytes=table_bytes)
        try:
            return sure.search(game, state, compile=compile, progress=progress)
        except UnsupportedProblemError:  # chance; what else it may be, Minimax refuses as well
            averaging = Minimax(depth=self.depth)
            return averaging.search(game, state, compile=compile, progress=progress)


@attrs.define
class Line:
    """A game under way: its positions so far, and what the players have earned."""

    rules: Rules
    states: list[Any]
    actions: list[int] = attrs.field(factory=list)
    outcomes: list[int] = attrs.field(factory=list)
    earned: list[float] = attrs.field(factory=list)

    @classmethod
    def begin(cls, rules: Rules, start: Any, rng: np.random.Generator) -> Line:
        """Return a game that has just begun: at `start`, or where the rules let it begin."""
        if start is None:
            starts = rules.initial()
            start = starts[drawn(rng, [probability for probability, _ in starts])][1]
        return cls(rules, [start], earned=[0.0] * rules.num_players)

    def copy(self) -> Line:
        """Return the same game, to be gone on with in another way."""
        parts = (self.states, self.actions, self.outcomes, self.earned)
        return Line(self.rules, *(list(part) for part in parts))

    @property
    def is_over(self) -> bool:
        """Whether the rules say that the game has ended."""
        return bool(self.rules.game.is_terminal(self.states[-1]))

    def choices(self) -> list[int]:
        """Return the actions of the player to move.

        Raises
        ------
        InvalidModelError
            If there is none.
        """
        actions = [int(action) for action in self.rules.game.actions(self.states[-1])]
        if not actions:
            message = f"there is no action in {shown(self.states[-1])}, which is not terminal."
            raise InvalidModelError(message)
        return actions

    def take(self, action: int, draw: Callable[[list[float]], int]) -> None:
        """Go on with an action; `draw` says which of its outcomes comes, by their probabilities."""
        state, rules = self.states[-1], self.rules
        pairs = list(rules.game.outcomes(state, action))
        number = draw([probability for probability, _ in pairs])
        for player in range(rules.num_players):
            self.earned[player] += rules.reward(state, action, player)
        self.actions.append(action)
        self.outcomes.append(number)
        self.states.append(pairs[number][1])

    def play(self, seats: Sequence[Seat], rng: np.random.Generator, max_plies: int) -> GameRecord:
        """Play on to the end, or until there are so many plies."""
        while not self.is_over and len(self.actions) < max_plies:
            state, actions = self.states[-1], self.choices()
            action = actions[0]
            if len(actions) > 1:
                action = seats[self.rules.player(state)](state, actions, rng)
            self.take(action, functools.partial(drawn, rng))
        return self.record()

    def record(self) -> GameRecord:
        """Return the game as it is now."""
        payoffs = None
        if self.is_over:
            game, end = self.rules.game, self.states[-1]
            payoffs = tuple(
                earned + float(game.payoff(end, player))
                for player, earned in enumerate(self.earned)
            )
        return GameRecord(tuple(self.states), tuple(self.actions), tuple(self.outcomes), payoffs)


def drawn(rng: np.random.Generator, chances: Sequence[float]) -> int:
    """Draw a place by the probabilities; what is certain takes nothing from the generator."""
    possible = [place for place, chance in enumerate(chances) if chance > 0]
    if not possible:
        message = f"outcomes have the probabilities {list(chances)!r}, none of them above 0."
        raise InvalidModelError(message)
    if len(possible) == 1:
        return possible[0]
    sums = np.cumsum([chances[place] for place in possible])
    # The last one where rounding leaves the sum a little short.
    place = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
    return possible[min(place, len(possible) - 1)]


def play_game(
    game: Any,
    players: Sequence[Any],
    seed: Seed = None,
    *,
    start: Hashable | None = None,
    max_plies: int = MOST_PLIES,
    compile: Compile = "auto",
) -> GameRecord:
    """Play one game.

    Parameters
    ----------
    game
        For any number of players, with chance or without; not a staged one.
    players : sequence
        One for each of the game's players. A searcher plays any of its best actions, all equally
        likely; a :class:`gamedp.Solution` its policy; a callable is asked with the state and the
        generator, and returns an action. None is asked where there is but one action.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where chance and the choice among equals come from: the same seed, the same game. Another
        one each time if not given.
    start
        Where to begin; the start of the game if not given.
    max_plies : int
        A game that has not ended by then is left unfinished, without payoffs.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`; for searchers.

    Raises
    ------
    InvalidParameterError
        If there are too few or too many players, one is none, or takes an action that there is
        not.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=9)
    >>> players = gamedp.searchers.AlphaBeta(), gamedp.play.RandomPlayer(game)
    >>> record = gamedp.play.play_game(game, players, seed=1, compile="never")
    >>> len(record.states) - len(record.actions), record.payoffs in {(1.0, -1.0), (-1.0, 1.0)}
    (1, True)
    """
    rules = Rules(game)
    if len(players) != rules.num_players:
        message = (
            f"{type(game).__name__} has {rules.num_players} players, and {len(players)} are given."
        )
        raise InvalidParameterError(message)
    check_plies(max_plies)
    rng = np.random.default_rng(checked_seed(seed))
    seats = [seated(rules, player, compile) for player in players]
    with bind_once():
        return Line.begin(rules, start, rng).play(seats, rng, max_plies)


def check_plies(max_plies: float) -> None:
    """Raise InvalidParameterError unless so many plies can be played."""
    if max_plies < 1 or max_plies != int(max_plies):
        message = f"max_plies is {shown(max_plies)}; it must be a whole number, at least 1."
        raise InvalidParameterError(message)


def checked_seed(seed: Any) -> Any:
    """Return what numpy makes generators of; raise InvalidParameterError if it cannot."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        np.random.SeedSequence(getattr(seed, "entropy", seed))
    except (TypeError, ValueError):
        message = f"seed is {shown(seed)}; it must be a whole number, 0 or more."
        raise InvalidParameterError(message) from None
    return seed


def seated(rules: Rules, player: Any, compile: Compile) -> Seat:
    """Return what chooses the actions of a player.

    Raises
    ------
    InvalidParameterError
        If this is nothing that can play the game.
    """
    if isinstance(player, Solution):
        return _by_solution(rules, player)
    if callable(getattr(player, "search", None)) and not isinstance(player, type):
        return _by_search(rules, player, compile)
    if not callable(player) or isinstance(player, type):
        message = (
            f"{shown(player)} is not a player; give a searcher, a Solution, or a function of "
            "(state, rng) that returns an action."
        )
        raise InvalidParameterError(message)

    def choose(state: Any, actions: Sequence[int], rng: np.random.Generator) -> int:
        action = player(state, rng)
        if action not in actions:
            message = (
                f"{shown(player)} takes {shown(action)} in {shown(state)}; the actions are "
                f"{shown(list(actions))}."
            )
            raise InvalidParameterError(message)
        return int(action)

    return choose


def _by_solution(rules: Rules, solution: Solution) -> Seat:
    solved = solution.model.rules
    if solved is None or not _is_same_game(solved.game, rules.game):
        what = "a model without a game" if solved is None else repr(solved.game)
        message = f"this solution is of {what}, not of {shown(rules.game)}; it cannot play here."
        raise InvalidParameterError(message)
    if solution.step_policies is not None:
        message = (
            "a solution for a finite horizon has another policy for each number of steps to go; "
            "it cannot play whole games. Solve for the TotalReward."
        )
        raise InvalidParameterError(message)

    def choose(state: Any, _actions: Sequence[int], _rng: np.random.Generator) -> int:
        action = solution.best_action(state)
        if action is None:
            message = f"the solution takes {shown(state)} for an end of the game, unlike the rules."
            raise InvalidModelError(message)
        return action

    return choose


def _is_same_game(one: Any, other: Any) -> bool:
    return one is other or encode_object(one) == encode_object(other)


def _by_search(rules: Rules, searcher: Any, compile: Compile) -> Seat:
    options = {} if compile == "auto" else {"compile": compile}

    def choose(state: Any, _actions: Sequence[int], rng: np.random.Generator) -> int:
        best = searcher.search(rules.game, state, **options).best_actions
        if not best:
            message = (
                f"{shown(searcher)} found no best action in {shown(state)} before its limit; give "
                "it more time, or less depth."
            )
            raise InvalidParameterError(message)
        return int(best[rng.integers(len(best))] if len(best) > 1 else best[0])

    return choose
