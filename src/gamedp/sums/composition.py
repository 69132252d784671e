"""A sum of games as one game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import attrs

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.rules.expand import checked_action, expand, refuse_rewards_of_outcomes
from gamedp.rules.game import Rules, with_item


class SumPosition(NamedTuple):
    """A position of a :class:`Sum`: the player to move, and the state of each game."""

    player: int
    parts: tuple[Any, ...]


def _check_parts(parts: tuple[Rules, ...]) -> None:
    """Refuse a game that cannot be a part of a sum, as far as its class and start show that."""
    for rules in parts:
        if not rules.has_opponents:
            message = (
                f"{type(rules.game).__name__} has num_players={rules.num_players}; a sum is of "
                "games for two."
            )
            raise InvalidParameterError(message)
        if len(rules.initial()) != 1:
            message = f"{type(rules.game).__name__} starts at random; a sum is of games without."
            raise InvalidParameterError(message)


@attrs.frozen(init=False, repr=False)
class Sum:
    """Several impartial games side by side: a player moves in one of them, and the last move wins.

    It is a game itself, so that :func:`gamedp.solve` can solve it by exploring all combinations in
    plain Python, if they are few. :func:`gamedp.sums.grundy_values` needs the parts alone.

    The sum keeps track of the player to move, so the games must be impartial: both players have the
    same moves. An action is ``action of the game * number of games + number of the
    game``; see :meth:`action`.

    Parameters
    ----------
    *parts
        Games for two players without chance, in which a player who cannot move has lost.
    games : iterable, optional
        More games.

    Raises
    ------
    InvalidParameterError
        If a game is not for two players, or starts at random.
    TypeError
        If a part is not a game.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> row = Matches(matches=5, misere=False)
    >>> gamedp.sums.grundy_value(gamedp.sums.Sum(row, row), compile="never")
    0
    >>> gamedp.solve(gamedp.sums.Sum(row, row), compile="never").value()
    -1.0
    """

    games: tuple[Any, ...]
    rules: tuple[Rules, ...] = attrs.field(init=False, eq=False)

    num_players = 2
    constant_sum = 0.0

    def __init__(self, *parts: Any, games: Iterable[Any] = ()) -> None:
        self.__attrs_init__((*parts, *games))

    def __attrs_post_init__(self) -> None:
        """Read the rules of the games once."""
        rules = tuple(Rules(game) for game in self.games)
        _check_parts(rules)
        object.__setattr__(self, "rules", rules)

    def __repr__(self) -> str:
        """Return the call that creates the sum."""
        return f"Sum({', '.join(repr(game) for game in self.games)})"

    def action(self, number: int, action: Any) -> Any:
        """Return the action of the sum for an `action` of the game with a number, from 0.

        It is an integer if that is one, else the pair of both.
        """
        return action * len(self.games) + number if isinstance(action, int) else (number, action)

    def _part_of(self, action: Any) -> tuple[Any, int]:
        """Return the action of a game, and the number of that game."""
        if isinstance(action, tuple):
            return action[1], action[0]
        part, number = divmod(action, len(self.games))
        return part, number

    def initial_state(self) -> SumPosition:
        """Return the initial states of the games, with player 0 to move."""
        parts = (rules.canonical(rules.initial()[0][1])[0] for rules in self.rules)
        return SumPosition(0, tuple(parts))

    def is_terminal(self, position: SumPosition) -> bool:
        """Return whether no game is left in which a move is possible."""
        pairs = zip(self.games, position.parts, strict=True)
        return all(game.is_terminal(part) for game, part in pairs)

    def player(self, position: SumPosition) -> int:
        """Return the player to move."""
        return position.player

    def actions(self, position: SumPosition) -> Iterator[Any]:
        """Yield the actions of all games, game by game."""
        for number, (game, part) in enumerate(zip(self.games, position.parts, strict=True)):
            if not game.is_terminal(part):
                for action in game.actions(part):
                    yield self.action(number, checked_action(part, action))

    def outcomes(self, position: SumPosition, action: Any) -> Iterator[tuple[float, SumPosition]]:
        """Yield the position after a move in one game; the others are unchanged."""
        action, number = self._part_of(action)
        rules, parts = self.rules[number], position.parts
        for chance, following, *reward in rules.game.outcomes(parts[number], action):
            if reward:
                refuse_rewards_of_outcomes(expand(rules, parts[number]), parts[number])
            part, _ = rules.canonical(following)
            yield chance, SumPosition(1 - position.player, with_item(parts, number, part))

    def payoff(self, position: SumPosition, player: int) -> float:
        """Return +1 for the player who moved last, and -1 for the other.

        Raises
        ------
        UnsupportedProblemError
            If a part is not a loss for the player who cannot move in it.
        """
        for rules, part in zip(self.rules, position.parts, strict=True):
            mover = rules.player(part)
            if not rules.game.payoff(part, mover) < rules.game.payoff(part, 1 - mover):
                message = (
                    "in a sum of games, the player who cannot move must lose; "
                    f"{shown(rules.game)} ends in {shown(part)}, where that is not so."
                )
                raise UnsupportedProblemError(message)
        return -1.0 if player == position.player else 1.0

    def canonical(self, position: SumPosition) -> tuple[SumPosition, bool]:
        """Return the position with player 0 to move: the players are symmetric."""
        return SumPosition(0, position.parts), position.player == 1

    def action_name(self, position: SumPosition, action: Any) -> str:
        """Return the action in the words of its game, and the number of that game, from 1."""
        action, number = self._part_of(action)
        name = self.rules[number].action_name(position.parts[number], action)
        return f"{name}, in game {number + 1}"

    def render(self, position: SumPosition) -> str:
        """Return the position of each game on a line."""
        pairs = zip(self.rules, position.parts, strict=True)
        return "\n".join(rules.render(part) for rules, part in pairs)
