"""A staged game under fixed policies, as an ordinary game of the positions that they reach."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from gamedp.compiler.build import compile_game
from gamedp.errors import UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.policies.policy import Policy
from gamedp.policies.staged_players import StageRule, check_players
from gamedp.results.solution import Solution
from gamedp.stages.flattened import Flattened, Position
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution

__all__ = ["followed"]

MOST_POSITIONS = 1_000_000
"""Largest number of positions followed one by one; it takes some minutes, and a gigabyte."""

KEPT = 512
"""Number of contexts for which the choices of a solution are cached."""

Shares = Mapping[int, float]
"""The probability of each action that is taken."""


@attrs.frozen(eq=False)
class _Followed(Flattened):
    """A staged game restricted to the actions that policies take.

    A position is the game's own, not its representative, so that players see their own position.

    Parameters
    ----------
    players : tuple of callables
        The choice of each player, as a function of a position and its actions.
    """

    players: tuple[Callable[[Position, list[int]], Shares], ...]
    known: dict[Position, Shares] = attrs.field(factory=dict, init=False)
    """The probabilities of the actions in the positions that have been visited."""

    def canonical(self, position: Position) -> tuple[Position, bool]:
        """Return the position itself."""
        return position, False

    def actions(self, position: Position) -> Iterator[int]:
        """Yield the actions that may be taken."""
        yield from self.shares(position)

    def shares(self, position: Position) -> Shares:
        """Return the probability of each action that may be taken."""
        found = self.known.get(position)
        if found is None:
            actions = list(Flattened.actions(self, position))
            found = dict.fromkeys(actions, 1.0)
            if len(actions) > 1:
                found = self.players[self.player(position)](position, actions)
            self.known[position] = found
            if len(self.known) > MOST_POSITIONS:
                message = (
                    f"these policies meet more than {MOST_POSITIONS:,} positions of "
                    f"{shown(self.game)}, too many to follow one by one. gamedp.simulate plays any "
                    "number of games, and gamedp.stages.distribution has the exact totals if they "
                    "are whole."
                )
                raise UnsupportedProblemError(message)
        return found


def followed(given: Any, policies: list[Any]) -> tuple[Model, list[Policy]]:
    """Return the positions that policies of a staged game reach as a model, and the policies.

    Raises
    ------
    InvalidParameterError
        If an argument is not a policy of this game, or takes no existing action.
    UnsupportedProblemError
        If they reach too many positions.
    """
    game = given.rules.game if isinstance(given, StagedModel) else given
    check_players(given, policies)
    rules = [None if isinstance(one, StagedSolution) else StageRule(one) for one in policies]
    players = [
        _by_solution(policy) if rule is None else rule.shares
        for policy, rule in zip(policies, rules, strict=True)
    ]
    followed_game = _Followed(game, tuple(players))
    model = compile_game(followed_game, compile="never")
    names = ["optimal" if rule is None else rule.name for rule in rules]
    return model, [Policy.from_function(model, followed_game.shares, name) for name in names]


def _by_solution(solution: StagedSolution) -> Callable[[Position, list[int]], Shares]:
    """Return the choices of a solution."""

    @functools.lru_cache(KEPT)
    def inside(context: Any) -> Solution:
        with np.errstate(invalid="ignore"):  # unknown values are refused below
            part = solution.inside(context)
        if not np.isfinite(part.values).all():
            message = (
                f"the solution knows no values after {shown(context)}; it was stopped before it "
                "got there."
            )
            raise UnsupportedProblemError(message)
        return part

    def shares(position: Position, _actions: list[int]) -> Shares:
        best = inside(position.context).best_action(position.state)
        return {} if best is None else {best: 1.0}  # it exists wherever there are actions

    return shares
