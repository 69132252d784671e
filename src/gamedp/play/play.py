"""Playing one game from start to end, and its record."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, InvalidParameterError, shown
from gamedp.play.players import seats_taken
from gamedp.play.protocol import Fault, Forfeit, Seat
from gamedp.rules.exactness import added, as_exact, as_real
from gamedp.rules.expand import checked_action
from gamedp.rules.game import Rules, method
from gamedp.runtime.options import CompileMode, checked_whole

Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator | None

MOST_PLIES = 1_000
"""Default number of plies after which a game is left unfinished."""


@attrs.frozen
class GameRecord:
    """The record of a played game.

    Attributes
    ----------
    states : tuple
        The positions, beginning with the start.
    actions : tuple
        Action k leads from position k to position k + 1.
    outcomes : tuple of int
        The number of the outcome drawn after each action, in the order of the rules; 0 where there
        is no chance.
    payoffs : tuple of float or None
        The total of each player, rewards on the way included. None if the game was left unfinished.
        After a forfeit, the loser gets the least total that the `value_range` of the rules leaves
        open, and the other player the rest of the constant sum; None if the rules have no such
        range, or with more than two players.
    forfeit : Forfeit or None
        A description of how a program has lost the game without playing it to the end.
    """

    states: tuple[Any, ...]
    actions: tuple[Any, ...]
    outcomes: tuple[int, ...]
    payoffs: tuple[float, ...] | None
    forfeit: Forfeit | None = None

    @property
    def plies(self) -> int:
        """The number of actions taken."""
        return len(self.actions)

    @property
    def is_finished(self) -> bool:
        """Whether the game was played to its end."""
        return self.payoffs is not None and self.forfeit is None


@attrs.define
class Played:
    """A game in progress: its positions so far, and the rewards of the players."""

    rules: Rules
    states: list[Any]
    actions: list[Any] = attrs.field(factory=list)
    outcomes: list[int] = attrs.field(factory=list)
    earned: list[Fraction | float] = attrs.field(
        default=attrs.Factory(lambda self: [0] * self.rules.num_players, takes_self=True)
    )

    @classmethod
    def begin(cls, rules: Rules, start: Any, rng: np.random.Generator) -> Played:
        """Return a new game that begins at `start`, or where the rules let it begin."""
        if start is None:
            starts = rules.initial()
            place = drawn(rng, [_probability(given, "the start") for given, _ in starts])
            start = starts[place][1]
        return cls(rules, [rules.own_state(start)])

    def copy(self) -> Played:
        """Return a copy of the game that can be continued independently."""
        parts = (self.states, self.actions, self.outcomes, self.earned)
        return Played(self.rules, *(list(part) for part in parts))

    @property
    def is_over(self) -> bool:
        """Whether the rules say that the game has ended."""
        return bool(self.rules.game.is_terminal(self.states[-1]))

    def choices(self) -> list[Any]:
        """Return the actions of the player to move.

        Raises
        ------
        InvalidModelError
            If there is no action.
        """
        state = self.states[-1]
        actions = [checked_action(state, action) for action in self.rules.game.actions(state)]
        if not actions:
            message = f"there is no action in {shown(state)}, which is not terminal."
            raise InvalidModelError(message)
        return actions

    def numbered(self) -> dict[int, Any]:
        """Return the actions of the player to move, by the numbers that a page gives them.

        An integer is its own number. If some actions are not integers, each is its place.
        """
        actions = self.choices()
        if all(type(action) is int for action in actions):
            return {action: action for action in actions}
        return dict(enumerate(actions))

    def take(self, action: Any, draw: Callable[[list[float]], int]) -> None:
        """Take an action; `draw` chooses one of its outcomes by their probabilities."""
        state, rules = self.states[-1], self.rules
        pairs = list(rules.game.outcomes(state, action))
        number = draw([_probability(pair[0], state, action) for pair in pairs])
        for player in range(rules.num_players):
            reward = rules.earned(state, action, pairs[number], player)
            self.earned[player] = added(self.earned[player], reward)
        self.actions.append(action)
        self.outcomes.append(number)
        self.states.append(pairs[number][1])

    def play(
        self,
        seats: Sequence[Seat],
        rng: np.random.Generator,
        max_plies: int,
        dice: Sequence[np.random.Generator] = (),
    ) -> GameRecord:
        """Continue to the end, to the limit of plies, or until a player forfeits the game.

        Each player has `dice`, from which the outcomes of the player's actions are drawn; if none
        are given, they are drawn from `rng`, as are the random choices of the players.
        """
        while not self.is_over and len(self.actions) < max_plies:
            state, actions = self.states[-1], self.choices()
            action = actions[0]
            if len(actions) > 1:
                mover = self.rules.player(state)
                try:
                    action = seats[mover].choose(state, actions, rng)
                except Fault as fault:
                    return self.record(Forfeit(mover, fault.reason, fault.detail))
            source = dice[self.rules.player(state)] if dice else rng
            self.take(action, functools.partial(drawn, source))
        return self.record()

    def record(self, forfeit: Forfeit | None = None) -> GameRecord:
        """Return the game as it is now."""
        payoffs = None
        if forfeit is not None:
            payoffs = self._forfeited(forfeit.player)
        elif self.is_over:
            game, end = self.rules.game, self.states[-1]
            payoffs = tuple(
                float(added(earned, as_exact(game.payoff(end, player))))
                for player, earned in enumerate(self.earned)
            )
        states, actions, outcomes = tuple(self.states), tuple(self.actions), tuple(self.outcomes)
        return GameRecord(states, actions, outcomes, payoffs, forfeit)

    def _forfeited(self, loser: int) -> tuple[float, ...] | None:
        """Return the payoffs if one player loses all that can still be lost; None if unknown."""
        rules = self.rules
        if not rules.has_opponents:
            return None
        low, _ = method(rules.game, "value_range")(rules.game, self.states[-1], loser)
        lost = float(self.earned[loser] + float(low))
        if not math.isfinite(lost):
            return None
        won = rules.constant_sum - lost
        return (lost, won) if loser == 0 else (won, lost)


def played(
    line: Played,
    seats: Sequence[Seat],
    rng: np.random.Generator,
    max_plies: int,
    dice: Sequence[np.random.Generator] = (),
) -> GameRecord:
    """Play a game to the end; tell the players when it begins, and how it has ended."""
    record = None
    for number, seat in enumerate(seats):
        try:
            seat.begin(number)
        except Fault as fault:
            record = line.record(Forfeit(number, fault.reason, fault.detail))
            break
    if record is None:
        record = line.play(seats, rng, max_plies, dice)
    for seat in seats:
        seat.end(record.payoffs, record.forfeit)
    return record


def _probability(given: Any, *place: Any) -> float:
    """Return a probability of the rules as a double; raise InvalidModelError if it is no number."""
    try:
        return as_real(given)
    except (TypeError, ValueError, OverflowError):
        where = " after ".join(map(shown, reversed(place)))
        message = f"the rules give {where} the probability {shown(given)}, which is not a number."
        raise InvalidModelError(message) from None


def drawn(rng: np.random.Generator, probabilities: Sequence[float]) -> int:
    """Draw an index by the probabilities; a certain outcome takes nothing from the generator."""
    possible = [place for place, chance in enumerate(probabilities) if chance > 0]
    if not possible:
        message = f"outcomes have the probabilities {list(probabilities)!r}, none of them above 0."
        raise InvalidModelError(message)
    if len(possible) == 1:
        return possible[0]
    sums = list(itertools.accumulate(probabilities[place] for place in possible))
    # The last one if rounding leaves the sum slightly below 1.
    place = bisect.bisect_right(sums, rng.random() * sums[-1])
    return possible[min(place, len(possible) - 1)]


def play_game(
    game: Any,
    players: Sequence[Any],
    seed: Seed = None,
    *,
    start: Hashable | None = None,
    max_plies: int = MOST_PLIES,
    compile: CompileMode = "auto",
) -> GameRecord:
    """Play one game.

    Parameters
    ----------
    game
        For any number of players, with chance or without; not a staged one.
    players : sequence
        One for each of the game's players. A searcher plays one of its best actions, all equally
        likely; a :class:`gamedp.Solution` and a policy play their own actions; an object with
        ``choose(state)`` returns an action, and so does a callable, which is called with the state
        and the generator; a :class:`gamedp.play.Program` or a :class:`gamedp.play.Remote` answers
        over pipes or TCP. No player is asked where there is only one action.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Source of chance and of the choice among equally good actions. The same seed gives the same
        game; a new one is drawn each time if not given.
    start
        The position to begin in; the start of the game if not given.
    max_plies : int
        A game that has not ended after this many plies is left unfinished, without payoffs.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`; for searchers.

    Raises
    ------
    InvalidParameterError
        If there are too few or too many players, one of them is not a player, or takes an action
        that does not exist. A fault of a program is not an error: the program loses the game, as
        the record says.

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
    max_plies, _ = checked_plies(max_plies)
    rng = np.random.default_rng(checked_seed(seed))
    with seats_taken(rules, players, compile) as seats:
        return played(Played.begin(rules, start, rng), seats, rng, max_plies)


def checked_plies(max_plies: Any, opening: Any = 0) -> tuple[int, int]:
    """Return the numbers of plies and of random plies; raise InvalidParameterError for others."""
    max_plies = checked_whole("max_plies", max_plies, 1)
    opening = checked_whole("opening", opening, 0)
    if opening >= max_plies:
        message = f"opening is {opening:,}; it must be below max_plies, {max_plies:,}."
        raise InvalidParameterError(message)
    return max_plies, opening


def drawn_seed(seed: Any) -> int:
    """Return a seed, a new one for None; raise InvalidParameterError if it is not an integer."""
    if seed is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    return checked_whole("seed", seed, 0, math.inf)


def checked_seed(seed: Any) -> Any:
    """Return a seed that numpy accepts; raise InvalidParameterError if it does not."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        np.random.SeedSequence(getattr(seed, "entropy", seed))
    except (TypeError, ValueError):
        message = f"seed is {shown(seed)}; it must be a whole number, 0 or more."
        raise InvalidParameterError(message) from None
    return seed
