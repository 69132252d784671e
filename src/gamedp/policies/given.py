"""What the verbs are given: a model, or a game that becomes one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gamedp.compiler.build import compile_game
from gamedp.model.model import Model
from gamedp.policies.policy import AnyPolicy, model_of
from gamedp.runtime.options import Tier

__all__ = ["listed", "model_for"]


def model_for(given: Any, policies: Sequence[AnyPolicy], tier: Tier) -> Model:
    """Return a model as it is; of a game that of a policy, or the one that it is compiled to."""
    if isinstance(given, Model):
        return given
    for policy in policies:
        model = model_of(policy)
        if model is not None and model.rules is not None and model.rules.game == given:
            return model
    return compile_game(given, compile=tier)


def listed(policies: Any) -> list[Any]:
    """Return policies as a list; a single one may stand alone."""
    if isinstance(policies, Sequence) and not isinstance(policies, str):
        return list(policies)
    return [policies]
