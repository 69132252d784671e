"""Players: searchers, solutions, functions and programs, each at a seat."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, shown
from gamedp.play.advice import own_action
from gamedp.play.programs import Program, Remote, Session
from gamedp.play.protocol import Seat
from gamedp.policies.arrays import is_array
from gamedp.policies.policy import Policy, RandomPlayer
from gamedp.results.solution import Solution
from gamedp.rules.game import Rules
from gamedp.runtime.encoding import encode_object
from gamedp.runtime.options import CompileMode, whole_and_positive
from gamedp.searchers.bound_rules import bind_once
from gamedp.searchers.choose import searcher_for
from gamedp.searchers.expectiminimax import Expectiminimax
from gamedp.searchers.max_n import MaxN

if TYPE_CHECKING:
    from gamedp.model.model import Model
    from gamedp.results.search_result import SearchResult
    from gamedp.runtime.limit import ProgressCallback

__all__ = ["LevelPlayer", "RandomPlayer", "seated", "seats_taken"]


@attrs.frozen
class LevelPlayer:
    """A player who looks a fixed number of plies ahead, in any game.

    It uses the searcher that :func:`gamedp.search` chooses. Its table of positions grows with the
    depth, so that a shallow search stays fast.

    Parameters
    ----------
    depth : int
        Number of plies; at least 1.

    Examples
    --------
    >>> from gamedp.games.matches import Matches
    >>> LevelPlayer(4).search(Matches(matches=5), compile="never").value()
    -1.0
    """

    depth: int = attrs.field(validator=whole_and_positive)

    def search(
        self,
        game: Any,
        state: Any = None,
        *,
        compile: CompileMode = "auto",
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """Search a position; the parameters and errors are those of :meth:`AlphaBeta.search`."""
        searcher = _searcher_at(self, Rules(game), state)
        found: SearchResult = searcher.search(game, state, compile=compile, progress=progress)
        return found


def _searcher_at(level: LevelPlayer, rules: Rules, state: Any = None) -> Any:
    """Return the searcher of a level player, chosen by the rules from a state on."""
    kind = searcher_for(rules, state)
    options: dict[str, Any] = {"depth": level.depth}
    if kind is not MaxN:
        options["table_bytes"] = 2.0 ** min(26, 14 + level.depth)
    if kind is Expectiminimax:
        options["bounds"] = False
    return kind(**options)


@contextlib.contextmanager
def seats_taken(rules: Rules, players: Sequence[Any], compile: CompileMode) -> Iterator[list[Seat]]:
    """Give each player a seat; programs are ended on exit.

    Raises
    ------
    InvalidParameterError
        If one of them cannot play the game.
    """
    seats = [seated(rules, player, compile) for player in players]
    with contextlib.ExitStack() as stack, bind_once():
        for seat in seats:
            stack.callback(seat.close)
        yield seats


def seated(rules: Rules, player: Any, compile: CompileMode) -> Seat:
    """Return the object that chooses the actions of a player; nothing is started yet.

    Raises
    ------
    InvalidParameterError
        If it cannot play the game.
    """
    if isinstance(player, (Program, Remote)):
        return Session(rules, player)
    if isinstance(player, Policy):
        _check_model(rules, player.model, "policy")
    if isinstance(player, Solution):
        _check_solution(rules, player)
        return _BySolution(player)
    if isinstance(player, LevelPlayer):
        player = _searcher_at(player, rules)  # the rules are queried once, not at every move
    if callable(getattr(player, "search", None)) and not isinstance(player, type):
        return _BySearch(rules.game, player, {} if compile == "auto" else {"compile": compile})
    is_none = isinstance(player, type) or is_array(player)  # numpy's arrays have `choose`, too
    if callable(getattr(player, "choose", None)) and not is_none:
        return _ByPolicy(player)
    if not callable(player) or is_none:
        message = (
            f"{shown(player)} is not a player; give a searcher, a Solution, a policy, a Program, a "
            "Remote, or a function of (state, rng) that returns an action."
        )
        raise InvalidParameterError(message)
    return _ByFunction(player)


@attrs.frozen
class _ByFunction(Seat):
    function: Any

    def choose(self, state: Any, actions: Sequence[Any], rng: np.random.Generator) -> Any:
        return _taken(self.function, self.function(state, rng), state, actions)


@attrs.frozen
class _ByPolicy(Seat):
    policy: Any

    def choose(self, state: Any, actions: Sequence[Any], rng: np.random.Generator) -> Any:
        if not isinstance(self.policy, Policy):
            return _taken(self.policy, self.policy.choose(state), state, actions)
        probabilities = self.policy.actions(state)
        if len(probabilities) > 1:
            place = rng.choice(len(probabilities), p=list(probabilities.values()))
            action = list(probabilities)[int(place)]
        else:
            action = self.policy.choose(state)
        return _taken(self.policy, action, state, actions)


def _taken(player: Any, action: Any, state: Any, actions: Sequence[Any]) -> Any:
    """Return the action of a player; raise InvalidParameterError if there is no such action."""
    if action not in actions:
        message = (
            f"{shown(player)} takes {shown(action)} in {shown(state)}; the actions are "
            f"{shown(list(actions))}."
        )
        raise InvalidParameterError(message)
    return actions[actions.index(action)]


@attrs.frozen
class _BySolution(Seat):
    solution: Solution

    def choose(self, state: Any, actions: Sequence[Any], rng: np.random.Generator) -> Any:  # noqa: ARG002 - the signature of all seats
        return own_action(self.solution, state)


def _check_model(rules: Rules, model: Model, noun: str) -> None:
    """Raise InvalidParameterError unless a model is of the game that is played."""
    own = None if model.rules is None else model.rules.game
    if own is not rules.game and (own is None or encode_object(own) != encode_object(rules.game)):
        what = "a model without a game" if own is None else repr(own)
        message = f"this {noun} is of {what}, not of {shown(rules.game)}; it cannot play here."
        raise InvalidParameterError(message)


def _check_solution(rules: Rules, solution: Solution) -> None:
    """Raise InvalidParameterError unless the solution can play the game."""
    _check_model(rules, solution.model, "solution")
    if solution.counts_steps:
        message = (
            "a solution for a finite horizon has another policy for each number of steps to go; "
            "it cannot play whole games. Solve for the TotalReward."
        )
        raise InvalidParameterError(message)


@attrs.frozen
class _BySearch(Seat):
    game: Any
    searcher: Any
    options: dict[str, Any]

    def choose(self, state: Any, actions: Sequence[Any], rng: np.random.Generator) -> Any:  # noqa: ARG002 - the signature of all seats
        best = self.searcher.search(self.game, state, **self.options).quickest_actions
        if not best:
            message = (
                f"{shown(self.searcher)} found no best action in {shown(state)} before its limit; "
                "give it more time, or less depth."
            )
            raise InvalidParameterError(message)
        return best[rng.integers(len(best))] if len(best) > 1 else best[0]
