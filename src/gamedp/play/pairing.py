"""The games between some players: counted, or computed where nobody needs to play."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import InvalidParameterError, shown
from gamedp.policies.evaluate import evaluate
from gamedp.policies.given import model_for
from gamedp.policies.policy import Policy, model_of
from gamedp.policies.random_player import RandomPlayer
from gamedp.results.solution import Solution

if TYPE_CHECKING:
    from gamedp.play.play import GameRecord
    from gamedp.rules.game import Rules
    from gamedp.runtime.options import Tier

__all__ = ["SCORES", "Meeting", "Pairing", "Result", "computed"]

SCORES = {"win": 1.0, "draw": 0.5, "loss": 0.0}
"""What each result of a game is worth."""

Result = tuple[str, str]
"""What has become of a game for the first one of its pairing, and how: a win, draw or loss, or
``"none"`` if it was left unfinished; ``"played"``, or the reason of a forfeit."""


@attrs.define
class Pairing:
    """The games between two players, `one` and `other`, counted or computed.

    Attributes
    ----------
    one, other : str
        Their names.
    first, second : list of 3 float
        Games that `one` has won, drawn and lost, sitting first, and sitting second. Where these are
        computed, it is how many are expected.
    pair_scores : list of 5 int
        Pairs of games in which `one` has got 0, 1/2, 1, 3/2 and 2 points; what
        :func:`gamedp.play.sprt` takes.
    unfinished : int
        Games that were left at the limit of plies; `pair_scores` leaves out their pairs.
    forfeits : dict
        How many of the games were lost by a program's fault, by (name, reason).
    is_exact : bool
        Whether the numbers were computed, within 1e-9 of each game, and no games played;
        `pair_scores` are then 0.
    """

    one: str
    other: str
    first: list[float] = attrs.field(factory=lambda: [0] * 3)
    second: list[float] = attrs.field(factory=lambda: [0] * 3)
    pair_scores: list[int] = attrs.field(factory=lambda: [0] * 5)
    unfinished: float = 0
    forfeits: dict[tuple[str, str], int] = attrs.field(factory=dict)
    is_exact: bool = False

    @property
    def games(self) -> float:
        """Games that were won, drawn or lost."""
        return sum(self.first) + sum(self.second)

    @property
    def score(self) -> float:
        """The share of the points that `one` has got; NaN before the first game."""
        wins, draws = self.first[0] + self.second[0], self.first[1] + self.second[1]
        return (wins + 0.5 * draws) / self.games if self.games else math.nan

    def add(self, results: Iterable[Result]) -> None:
        """Count a pair of games: `one` sits first in the first of them."""
        points = 0.0
        for seat, (result, how) in enumerate(results):
            if result == "none":
                self.unfinished += 1
                points = math.nan
                continue
            counts = (self.first, self.second)[seat]
            counts[list(SCORES).index(result)] += 1
            points += SCORES[result]
            if how != "played":
                key = (self.one if result == "loss" else self.other), how
                self.forfeits[key] = self.forfeits.get(key, 0) + 1
        if not math.isnan(points):
            self.pair_scores[int(2 * points)] += 1

    @classmethod
    def exact(cls, one: str, other: str, games: int, model: Any, pair: list[Any]) -> Pairing:
        """Return the expected results of two policies of a model, in so many games."""
        first, second = (
            [games / 4 * (low + high) for low, high in evaluate(model, order).results(seat)]
            for seat, order in ((0, pair), (1, pair[::-1]))
        )
        never = games - math.fsum([*first, *second])
        unfinished = never if never > 1e-6 * games else 0
        return cls(one, other, first, second, unfinished=unfinished, is_exact=True)


@attrs.define
class Meeting:
    """The games between three players or more, as many as the game has seats.

    Games come in groups, one for each order of the players, with the same opening and the same dice
    at each seat. Groups are independent of one another.

    Attributes
    ----------
    names : tuple of str
        The players.
    payoffs : list of tuple of float
        What each player got on average, for each group of games that were played to the end.
    unfinished : int
        Games that were left at the limit of plies; `payoffs` leaves out their groups.
    forfeits : dict
        How many games were lost by a program's fault, by (name, reason); `payoffs` leaves out their
        groups, for rules do not say what the others get then.
    """

    names: tuple[str, ...]
    payoffs: list[tuple[float, ...]] = attrs.field(factory=list)
    unfinished: int = 0
    forfeits: dict[tuple[str, str], int] = attrs.field(factory=dict)

    def add(self, games: Iterable[tuple[tuple[str, ...], GameRecord]]) -> None:
        """Count a group of games, each with the players in the order of their seats."""
        earned: dict[str, list[float]] = {name: [] for name in self.names}
        for order, record in games:
            if record.forfeit is not None:
                key = order[record.forfeit.player], record.forfeit.reason
                self.forfeits[key] = self.forfeits.get(key, 0) + 1
            elif record.payoffs is None:
                self.unfinished += 1
            else:
                for name, payoff in zip(order, record.payoffs, strict=True):
                    earned[name].append(payoff)
        size = math.factorial(len(self.names))
        if all(len(payoffs) == size for payoffs in earned.values()):
            self.payoffs.append(tuple(math.fsum(earned[name]) / size for name in self.names))

    def payoff(self, name: str) -> tuple[float, float]:
        """Return what a player got on average, and its standard error; NaN where it is not known.

        Raises
        ------
        InvalidParameterError
            If the player does not take part.
        """
        if name not in self.names:
            message = f"{shown(name)} is not one of {', '.join(self.names)}."
            raise InvalidParameterError(message)
        place, count = self.names.index(name), len(self.payoffs)
        own = [group[place] for group in self.payoffs]
        mean = math.fsum(own) / count if count else math.nan
        if count < 2:
            return mean, math.nan
        squares = math.fsum((payoff - mean) ** 2 for payoff in own)
        return mean, math.sqrt(squares / (count - 1) / count)


def computed(
    rules: Rules,
    players: Mapping[str, Any],
    pairs: Iterable[tuple[str, ...]],
    games: int,
    compile: Tier,
) -> dict[tuple[str, ...], Pairing]:
    """Return the pairings that need no games, with the results that are expected.

    Parameters
    ----------
    rules : Rules
        Of the game.
    players : mapping of str to player
    pairs : iterable of two str
        Who meets whom.
    games : int
        Of a pairing.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    """
    known = {name for name, player in players.items() if _is_policy(player)}
    wanted = [pair for pair in pairs if known.issuperset(pair)]
    if not wanted:
        return {}
    model = model_for(rules.game, [players[name] for name in known], compile)
    if model.rewards.any():
        return {}
    return {
        (one, other): Pairing.exact(one, other, games, model, [players[one], players[other]])
        for one, other in wanted
    }


def _is_policy(player: Any) -> bool:
    """Say whether the actions of a player depend on the position alone."""
    if isinstance(player, (Policy, Solution, RandomPlayer)):
        return True
    if isinstance(player, type) or callable(getattr(player, "search", None)):
        return False
    return model_of(player) is None and callable(getattr(player, "choose", None))
