"""Conversion and validation of the arguments of the verbs."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from gamedp.compiler.build import compile_game
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.policies.arrays import is_array
from gamedp.policies.policy import AnyPolicy, RandomPlayer, model_of, refuse_other_game, rule_of
from gamedp.rules.game import Rules, is_staged
from gamedp.runtime.options import CompileMode
from gamedp.stages.model import StagedModel

__all__ = [
    "check_count",
    "check_counts",
    "checked_whole",
    "is_of_stages",
    "listed",
    "model_for",
    "refuse_by_rules",
    "refuse_others",
    "rules_for",
    "seeded",
]


def is_of_stages(given: Any) -> bool:
    """Return whether this is a staged game, or the model of one."""
    return isinstance(given, StagedModel) or is_staged(given)


def model_for(given: Any, policies: Sequence[AnyPolicy], mode: CompileMode) -> Model:
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


def listed(policies: Any) -> list[Any]:
    """Return policies as a list; a single policy, such as a list of numbers, need not be in one."""
    if isinstance(policies, Sequence) and not isinstance(policies, str) and not is_array(policies):
        return list(policies)
    return [policies]


LARGEST_COUNT = 10**12
"""Largest number of games, plies and the like: more take years, and may overflow."""


MOST_THREADS = 1_024


def seeded(seed: int | None) -> tuple[int, np.uint64]:
    """Return a seed, a new one for None, and the key of the games drawn from it."""
    seed = secrets.randbits(32) if seed is None else checked_whole("seed", seed, 0, math.inf)
    return seed, np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]


def checked_whole(name: str, number: Any, least: int, most: float = LARGEST_COUNT) -> int:
    """Return an integer; raise InvalidParameterError for other types, and beyond these limits."""
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        message = f"{name} is {shown(number)}; it must be an integer, {least} or more."
        raise InvalidParameterError(message)
    if number > most:
        message = f"{name} is {shown(number)}; it must be {most:,} at most."
        raise InvalidParameterError(message)
    return number


def check_counts(threads: Any, **numbers: Any) -> None:
    """Raise InvalidParameterError unless all are whole numbers above zero, and not too large."""
    checked_whole("threads", threads, 1, MOST_THREADS)
    for name, number in numbers.items():
        checked_whole(name, number, 1)


def check_count(policies: int, num_players: int) -> None:
    """Raise InvalidParameterError unless each player of a game has a policy."""
    if policies != num_players:
        message = (
            f"{policies} policies are given for a game of {num_players} players; each player "
            "needs one."
        )
        raise InvalidParameterError(message)


def refuse_by_rules(by_rules: bool) -> None:
    """Raise InvalidParameterError if a staged game is to be played by its rules alone."""
    if by_rules:
        message = (
            "a staged game is played from stage to stage, and no context is looked at that does "
            "not come up; leave by_rules out."
        )
        raise InvalidParameterError(message)


def refuse_others(policies: int, players: int) -> None:
    """Raise UnsupportedProblemError unless two policies play a game for two."""
    if players != 2 or policies != 2:
        message = "pairs are of two policies, in a game for two."
        raise UnsupportedProblemError(message)


def rules_for(given: Any, policies: list[Any]) -> Rules:
    """Return the rules for play by rules; raise if a policy cannot be played by rules."""
    rules = given.rules if isinstance(given, Model) else Rules(given)
    if rules is None:
        message = "this model has no game, whose rules could be followed; leave by_rules out."
        raise InvalidParameterError(message)
    check_count(len(policies), rules.num_players)
    for policy in policies:
        if model_of(policy) is not None:
            message = (
                f"{shown(policy)} is a table of positions; leave by_rules out, or give a function "
                "of a state."
            )
            raise InvalidParameterError(message)
        if isinstance(policy, RandomPlayer):
            refuse_other_game(policy, rules)
        else:
            rule_of(policy)
    return rules
