"""Nim-values of positions: who wins a sum of games, and how."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model, check_finite, describe_choice
from gamedp.rules.expand import checked_action
from gamedp.rules.game import is_staged
from gamedp.runtime.notebook import html_table
from gamedp.sums.composition import Sum, SumPosition

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from gamedp.runtime.options import CompileMode

SPOT_CHECKS = 1000
"""Number of states in which the moves of the two players are compared."""

CLAIM = (
    "Nim-values are for impartial games in normal play: two players in turn, no chance, nothing "
    "earned on the way, and the player who makes the last move wins"
)

MISERE = "gamedp.solve tells who wins, but such games do not add up by nim-values"


def mex(values: Iterable[int]) -> int:
    """Return the minimum excludant: the least non-negative integer that is not among the values.

    Examples
    --------
    >>> mex([0, 1, 3, 1]), mex([1, 2]), mex([])
    (2, 0, 0)
    """
    present = set(values)
    least = 0
    while least in present:
        least += 1
    return least


def nim_sum(*values: int) -> int:
    """Return the sum of nim-values: their bitwise exclusive or.

    Parameters
    ----------
    *values : int
        None of them negative.

    Raises
    ------
    InvalidParameterError
        If one of them is not a nim-value.

    Examples
    --------
    >>> nim_sum(3, 5, 7), nim_sum(1, 2, 3), nim_sum()
    (1, 0, 0)
    """
    try:
        numbers = [operator.index(value) for value in values]
    except TypeError:
        numbers = [-1]
    if any(number < 0 for number in numbers):
        message = f"nim_sum{shown(values)}: nim-values are whole numbers from 0 on."
        raise InvalidParameterError(message)
    return functools.reduce(operator.xor, numbers, 0)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class GrundyValues:
    """The nim-value of every state of an impartial game.

    Made by :func:`grundy_values`. A position is lost for the player to move exactly if its value is
    0; and the value of several positions side by side, of which a player moves in one, is the
    :func:`nim_sum` of their values [1]_ [2]_.

    Attributes
    ----------
    model : Model
    values : (S,) int32
        Read-only.

    References
    ----------
    .. [1] R. Sprague, "Über mathematische Kampfspiele", Tohoku Mathematical Journal 41 (1935).
    .. [2] P. Grundy, "Mathematics and games", Eureka 2 (1939).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches, MatchesState
    >>> row = gamedp.sums.grundy_values(Matches(misere=False), compile="never")
    >>> [row.value(MatchesState(0, left)) for left in range(8)]
    [0, 1, 2, 3, 0, 1, 2, 3]
    >>> row.winning_actions(MatchesState(0, 18)), row.winning_actions(MatchesState(0, 18), rest=1)
    ([2], [1])
    """

    model: Model
    values: NDArray[np.int32]

    def __attrs_post_init__(self) -> None:
        """Lock the values."""
        self.values.flags.writeable = False

    def __repr__(self) -> str:
        """Return the game and the largest value."""
        return f"<GrundyValues of {self.model!r}, 0 to {int(self.values.max())}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {} if self.model.rules is None else {"game": repr(self.model.rules.game)}
        if len(self.model.initial_states) == 1:
            rows["nim-value at the start"] = f"{self.values[self.model.initial_states[0]]:,}"
        rows |= {
            "largest nim-value": f"{self.values.max():,}",
            "states": f"{self.values.size:,}",
            "lost for the player to move": f"{(self.values == 0).sum():,}",
        }
        return html_table(rows)

    def value(self, state: Hashable | None = None) -> int:
        """Return the nim-value of a state (given by its index, for a model without a game).

        Parameters
        ----------
        state
            The state at the start if not given.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        state = self.model.only_start() if state is None else state
        return int(self.values[self.model.index(state)[0]])

    def mover_wins(self, state: Hashable | None = None, rest: int = 0) -> bool:
        """Return whether the player to move can force a win; parameters as `winning_actions`."""
        return self.value(state) != _checked_rest(rest)

    def winning_actions(self, state: Hashable | None = None, rest: int = 0) -> list[int]:
        """Return the actions in this game that force a win of the sum it is a part of.

        Parameters
        ----------
        state
            The state at the start if not given.
        rest : int
            The nim-value of all other parts together; 0 if there are none.

        Returns
        -------
        list of int
            In the order of the game's `actions`. Empty if there is none in this game, though there
            may be one in another part.
        """
        rest = _checked_rest(rest)
        model = self.model
        state = model.only_start() if state is None else model.own_state(state)
        if model.rules is None:
            index, _ = model.index(state)
            choices = slice(*model.choice_offsets[index : index + 2].tolist())
            after = self.values[model.successors[choices]]
            return [int(label) for label in model.action_labels[choices][after == rest]]
        game = model.rules.game
        self.value(state)  # so that an unknown state is an error
        if game.is_terminal(state):
            return []
        return [checked_action(state, action) for action in game.actions(state)
                if self.value(_outcome(game, state, action)) == rest]  # fmt: skip


@attrs.frozen(eq=False, kw_only=True)
class SumValues:
    """The nim-values of a sum of games, from those of its parts; the sum is not explored.

    Made by :func:`grundy_values`.

    Attributes
    ----------
    game : Sum
    parts : tuple of GrundyValues
        One for each of the games.
    """

    game: Sum
    parts: tuple[GrundyValues | SumValues, ...]

    def _values_at(self, position: Any) -> list[int]:
        if not isinstance(position, SumPosition) or len(position.parts) != len(self.parts):
            message = (
                f"{shown(position)} is not a gamedp.sums.SumPosition of {len(self.parts)} parts."
            )
            raise InvalidParameterError(message)
        return [part.value(state) for part, state in zip(self.parts, position.parts, strict=True)]

    def value(self, position: Hashable | None = None) -> int:
        """Return the nim-value of a position of the sum; of the start, if none is given."""
        position = self.game.initial_state() if position is None else position
        return nim_sum(*self._values_at(position))

    def mover_wins(self, position: Hashable | None = None, rest: int = 0) -> bool:
        """Return whether the player to move can force a win; see `GrundyValues.mover_wins`."""
        return self.value(position) != _checked_rest(rest)

    def winning_actions(self, position: Any = None, rest: int = 0) -> list[int]:
        """Return the actions of the sum that force a win; see `GrundyValues.winning_actions`."""
        position = self.game.initial_state() if position is None else position
        values = self._values_at(position)
        total = nim_sum(*values, _checked_rest(rest))
        return [
            self.game.action(number, action)
            for number, part in enumerate(self.parts)
            for action in part.winning_actions(position.parts[number], total ^ values[number])
        ]


def grundy_values(game_or_model: Any, *, compile: CompileMode = "auto") -> Any:
    """Return the nim-value of every state of an impartial game.

    Takes one pass over the model, ends first. Refuses games of other kinds: with chance, rewards,
    cycles, players who do not alternate, or ends that are not a win for the player who moved last.
    The rules must ensure that both players have the same moves; the arrays do not show it. In a
    game whose states have a field `player`, a thousand states are compared with those in which the
    other player is to move.

    Parameters
    ----------
    game_or_model
        A game, or what :func:`gamedp.compile` made of one.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.

    Returns
    -------
    GrundyValues
        For a :class:`gamedp.sums.Sum`, a :class:`gamedp.sums.SumValues`: its parts are explored one
        by one.

    Raises
    ------
    UnsupportedProblemError
        If the game is not of this kind; the message names the state and the action.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches, Nim
    >>> row, heaps = Matches(matches=18, misere=False), Nim(heaps=(1, 4), misere=False)
    >>> both = gamedp.sums.grundy_values(gamedp.sums.Sum(row, heaps), compile="never")
    >>> both.value(), both.mover_wins()
    (7, True)
    >>> both.game.action_name(both.game.initial_state(), both.winning_actions()[0])
    'take 1 from heap 2, in game 2'
    """
    if isinstance(game_or_model, Sum):
        parts = tuple(grundy_values(game, compile=compile) for game in game_or_model.games)
        return SumValues(game=game_or_model, parts=parts)
    if isinstance(game_or_model, Model):
        model = game_or_model
    else:
        from gamedp.compiler import compile_game  # noqa: PLC0415 - not needed for models

        if is_staged(game_or_model):
            message = f"{CLAIM}; {type(game_or_model).__name__} is a staged game."
            raise UnsupportedProblemError(message)
        model = compile_game(game_or_model, compile=compile)
    check_finite(model)
    _check_normal_play(model)
    _check_impartial(model)
    from gamedp.sums import kernels  # noqa: PLC0415 - loads numba

    most_choices = int(np.diff(model.choice_offsets).max(initial=0))
    values = np.zeros(model.num_states, np.int32)
    marks = np.full(most_choices + 2, -1, np.int64)
    kernels.model_values_jit(
        model.structure.order, model.choice_offsets, model.successors, marks, values
    )
    return GrundyValues(model=model, values=values)


def grundy_value(
    game_or_model: Any,
    state: Hashable | None = None,
    *,
    compile: CompileMode = "auto",
) -> int:
    """Return the nim-value of one position of an impartial game, or of its start.

    Explores the game; for more than one position, call :func:`grundy_values` once. The parameters
    and errors are the same.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Nim
    >>> gamedp.sums.grundy_value(Nim(heaps=(3, 5, 7), misere=False), compile="never")
    1
    """
    return int(grundy_values(game_or_model, compile=compile).value(state))


def _checked_rest(rest: int) -> int:
    return nim_sum(rest)


def _outcome(game: Any, state: Any, action: int) -> Any:
    """Return the only successor."""
    return next(following for chance, following, *_ in game.outcomes(state, action) if chance > 0)


def _check_normal_play(model: Model) -> None:
    """Raise unless two players alternate in deterministic moves, and the last to move wins."""
    reason = ""
    if not model.has_opponents:
        reason = f"the number of players is {model.num_players}"
    elif not model.is_deterministic:
        offsets = model.transition_offsets
        unsure = (np.diff(offsets) > 1) | (abs(model.probabilities[offsets[:-1]]) != 1)
        reason = f"{describe_choice(model, int(unsure.argmax()))} is left to chance"
    elif model.rewards.any():
        reason = f"{describe_choice(model, int((model.rewards != 0).argmax()))} earns something"
    elif not model.structure.is_acyclic:
        state = model.state(model.structure.cycle()[0])
        reason = f"{shown(state)} can be reached from itself"
    if reason:
        message = f"{CLAIM}; here {reason}."
        raise UnsupportedProblemError(message)
    if model.num_choices == 0:
        _check_lone_end(model)
        return
    sources = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    swapped = model.probabilities < 0
    payoffs = np.full(model.num_states, np.nan)
    payoffs[model.terminals] = model.payoffs
    ends = ~np.isnan(payoffs[model.successors])
    movers = model.players[sources]
    again = ~ends & ((model.players[model.successors] ^ swapped) == movers)
    if again.any():
        choice = int(again.argmax())
        where = describe_choice(model, choice)
        message = f"{CLAIM}; here the same player moves again after {where}."
        raise UnsupportedProblemError(message)
    # Half of what the mover is ahead of the other one: enough to see who wins.
    ahead = (payoffs[model.successors] - model.constant_sum / 2) * np.where(movers == 0, 1, -1)
    ahead = np.where(swapped, -ahead, ahead)[ends]
    if not (ahead > 0).all() or (ahead != ahead[0]).any():
        choice = int(np.flatnonzero(ends)[(ahead <= 0) | (ahead != ahead.max())][0])
        how = (
            f"the player who makes the last move loses (misère play). {MISERE}"
            if (ahead < 0).all()
            else f"{describe_choice(model, choice)} ends the game otherwise. {MISERE}"
        )
        message = f"{CLAIM}; here {how}."
        raise UnsupportedProblemError(message)


def _check_lone_end(model: Model) -> None:
    """Raise if a game that is over at its start is a win for the player to move."""
    if model.rules is None:
        return
    game = model.rules.game
    for _, state in model.rules.initial():
        mover = model.rules.player(state)
        if not game.payoff(state, mover) < game.payoff(state, 1 - mover):
            message = (
                f"{CLAIM}; here the player who cannot move in {shown(state)} does not lose (misère "
                f"play?). {MISERE}."
            )
            raise UnsupportedProblemError(message)


def _check_impartial(model: Model) -> None:
    """Raise if the other player has other moves in one of some states."""
    if model.rules is None or "player" not in getattr(model.state(0), "_fields", ()):
        return
    game = model.rules.game
    places = np.linspace(0, model.num_states - 1, min(SPOT_CHECKS, model.num_states))
    for index in np.unique(places.astype(np.int64)).tolist():
        state = model.state(index)
        other = state._replace(player=1 - state.player)
        if _moves(game, state) != _moves(game, other):
            message = (
                f"{CLAIM}; and both have the same moves. In {shown(state)} they are not those of "
                f"{shown(other)}, so the game is partisan: solve it with gamedp.solve."
            )
            raise UnsupportedProblemError(message)


def _moves(game: Any, state: Any) -> Any:
    """Return the states that a player can move to, whichever player it is."""
    if game.is_terminal(state):
        return None
    return {
        (checked_action(state, action), _outcome(game, state, action)._replace(player=0))
        for action in game.actions(state)
    }
