"""The arguments of the verbs, in the forms that are computed with: games, models and policies."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from gamedp.compiler.build import compile_game
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.policies.arrays import is_array
from gamedp.policies.policy import (
    Policy,
    PolicyLike,
    RandomPlayer,
    chosen_action,
    model_of,
    name_of,
    rule_of,
)
from gamedp.results.solution import Solution
from gamedp.rules.game import StagedRules, is_staged
from gamedp.rules.slips import Calling
from gamedp.runtime.floats import SUM_TOLERANCE
from gamedp.runtime.options import CompileMode
from gamedp.stages.flattened import Flattened, Position
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution


def is_of_stages(given: Any) -> bool:
    """Return whether this is a staged game, or the model of one."""
    return isinstance(given, StagedModel) or is_staged(given)


def as_model(given: Any, policies: Sequence[PolicyLike], mode: CompileMode) -> Model:
    """Return a given model; for a game, the model of a policy, or the compiled one.

    Raises
    ------
    UnsupportedProblemError
        If it is staged.
    InvalidParameterError
        If a policy is an array, but there is no model whose numbering is known.
    """
    if isinstance(given, Model):
        return given
    if is_of_stages(given):
        message = (
            f"{shown(given)} is staged, and has no table of positions. gamedp.solve, "
            "gamedp.evaluate, gamedp.simulate and gamedp.stages.distribution take it; if it is "
            "small, give the ordinary game gamedp.stages.Flattened(game)."
        )
        raise UnsupportedProblemError(message)
    for policy in policies:
        model = model_of(policy)
        if model is not None and model.rules is not None and model.rules.game == given:
            return model
    if any(map(is_array, policies)):
        message = (
            "an array is a policy by the numbers of a Model's states; give that Model, such as "
            "solution.model, and not a game."
        )
        raise InvalidParameterError(message)
    return compile_game(given, compile=mode)


def as_list(policies: object) -> list[Any]:
    """Return policies as a list; a single policy, such as a list of numbers, need not be in one."""
    if isinstance(policies, Sequence) and not isinstance(policies, str) and not is_array(policies):
        return list(policies)
    return [policies]


def check_count(policies: int, num_players: int) -> None:
    """Raise InvalidParameterError unless each player of a game has a policy."""
    if policies != num_players:
        message = (
            f"{policies} policies are given for a game of {num_players} players; each player "
            "needs one."
        )
        raise InvalidParameterError(message)


class StageRule:
    """A player who is asked in each position.

    Parameters
    ----------
    given : policy
        An object with ``choose(position)``, a function of a position, RandomPlayer, or a table of
        the flattened game: a Policy or a Solution.
    """

    def __init__(self, given: Any) -> None:
        self.name = name_of(given)
        self._rule: Callable[[Any], Any] | None = None
        if isinstance(given, Solution):
            given = Policy.from_solution(given)
        if isinstance(given, Policy):
            self.name, self._rule = given.name, given.actions
        elif callable(getattr(given, "search", None)):
            message = (
                f"{shown(given)} searches, and there is no search of staged games; give a "
                "StagedSolution, a function of a gamedp.stages.Position, or a RandomPlayer."
            )
            raise InvalidParameterError(message)
        elif not isinstance(given, RandomPlayer):
            self._rule = rule_of(given)

    def shares(self, position: Position, actions: Sequence[int]) -> dict[int, float]:
        """Return the probability of each action that is taken, out of the possible ones.

        Raises
        ------
        InvalidParameterError
            If what is chosen is neither one of the actions nor a distribution over them.
        """
        if self._rule is None or len(actions) == 1:
            return dict.fromkeys(actions, 1 / len(actions))
        with Calling("choose", position):
            given = self._rule(position)
        shares = given.items() if isinstance(given, Mapping) else [(given, 1.0)]
        taken: dict[int, float] = {}
        for label, share in shares:
            action = chosen_action(label, self.name, position, known=actions)
            if action not in actions and share != 0:
                message = (
                    f"{self.name} chooses {shown(action)} in {shown(position)}, where the actions "
                    f"are {shown(actions)}."
                )
                raise InvalidParameterError(message)
            taken[action] = float(share) if isinstance(share, numbers.Real) else math.nan
        if not (min(taken.values(), default=-1.0) >= 0) or not (
            abs(sum(taken.values()) - 1) <= SUM_TOLERANCE
        ):
            message = (
                f"probabilities of {self.name} in {shown(position)} are invalid: {shown(given)}."
            )
            raise InvalidParameterError(message)
        return {action: share for action, share in taken.items() if share > 0}


def check_players(given: Any, policies: Sequence[Any]) -> list[StagedModel]:
    """Return the models of solutions that play a staged game.

    Parameters
    ----------
    given
        The staged game or its model.
    policies : sequence
        One for each player: a StagedSolution, or a player that is asked in a position.

    Raises
    ------
    InvalidParameterError
        If a player follows something else, or what is of another game.
    """
    rules = given.rules if isinstance(given, StagedModel) else StagedRules(given)
    check_count(len(policies), rules.num_players)
    models = []
    for policy in policies:
        if not isinstance(policy, StagedSolution):
            refuse_other_player(policy, rules.game)
            continue
        model = policy.model
        if isinstance(given, StagedModel):
            is_same = model is given or model.digest() == given.digest()
        else:
            is_same = bool(model.rules.game == given)
        if not is_same:
            message = f"{shown(policy)} is not a solution of {shown(given)}."
            raise InvalidParameterError(message)
        models.append(model)
    return models


def refuse_other_player(given: Any, game: Any) -> None:
    """Raise InvalidParameterError for a player of another game than this staged one."""
    model = model_of(given)
    own = None
    if isinstance(given, RandomPlayer):
        own = given.game
    elif model is not None:
        own = model.rules.game if model.rules is not None else model
    if own is not None and own not in (game, Flattened(game)):
        message = (
            f"{shown(given)} cannot play a staged game; give the StagedSolution that gamedp.solve "
            "returns, a function of a gamedp.stages.Position, or what plays the ordinary game "
            "gamedp.stages.Flattened(game)."
        )
        raise InvalidParameterError(message)


MOST_POSITIONS = 1_000_000
"""Largest number of positions followed one by one; it takes some minutes, and a gigabyte."""


CACHED_CONTEXTS = 512
"""Number of contexts for which the choices of a solution are cached."""


Shares = Mapping[int, float]
"""The probability of each action that is taken."""


@attrs.frozen(eq=False)
class _Restricted(Flattened):
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
                    f"these policies reach more than {MOST_POSITIONS:,} positions of "
                    f"{shown(self.game)}, too many to follow one by one. gamedp.simulate plays any "
                    "number of games, and gamedp.stages.distribution has the exact totals if they "
                    "are whole."
                )
                raise UnsupportedProblemError(message)
        return found


def flatten_policies(given: Any, policies: list[Any]) -> tuple[Model, list[Policy]]:
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
    restricted = _Restricted(game, tuple(players))
    model = compile_game(restricted, compile="never")
    names = ["optimal" if rule is None else rule.name for rule in rules]
    return model, [Policy.from_function(model, restricted.shares, name) for name in names]


def _by_solution(solution: StagedSolution) -> Callable[[Position, list[int]], Shares]:
    """Return the choices of a solution."""

    @functools.lru_cache(CACHED_CONTEXTS)
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
