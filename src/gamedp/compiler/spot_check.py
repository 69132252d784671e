"""Compares a compiled model, in places, with the same rules run as plain Python."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.compiler.expand import expand
from gamedp.errors import InvalidModelError
from gamedp.states import PackedTable

if TYPE_CHECKING:
    from gamedp.compiler.expand import Choice
    from gamedp.game import Rules
    from gamedp.model import Model

__all__ = ["differences", "spot_check"]

SPOT_CHECKS = 24
"""States of a compiled model that are expanded again in plain Python."""

LARGE = 2.0**31
"""In fields with a range beyond this, also the states with the largest numbers are checked."""

BLOCK = 1 << 16
"""States that are unpacked at a time, which bounds the memory this takes."""


def spot_check(rules: Rules, model: Model) -> None:
    """Compare states spread evenly over the model; raise InvalidModelError at a difference."""
    count = min(SPOT_CHECKS, model.num_states)
    evenly = np.linspace(0, model.num_states - 1, count).astype(int).tolist()
    for index in sorted({*evenly, *_extreme_states(model)}):
        difference = differences(rules, model, index)
        if difference:
            message = (
                f"the compiled rules and the same rules in plain Python differ: {difference}. They "
                "may depend on integers beyond 64 bits, on something outside the game's own "
                "fields, or on chance; compile='never' runs them as plain Python."
            )
            raise InvalidModelError(message)


def _extreme_states(model: Model) -> set[int]:
    """Return the states in which a field that can be large is largest: there it may overflow."""
    table = model.states
    if not isinstance(table, PackedTable):
        return set()
    codec = table.codec
    extents = codec.high.astype(np.float64) - codec.low
    extremes: dict[tuple[int, int], tuple[int, int]] = {}
    for k in np.flatnonzero(extents > LARGE).tolist():
        for first in range(0, len(table), BLOCK):
            numbers = codec.unpack(table.codes[first : first + BLOCK])[:, k]
            for sign in (1, -1):
                place = int(numbers.argmax() if sign > 0 else numbers.argmin())
                found = (sign * int(numbers[place]), first + place)
                extremes[k, sign] = max(extremes.get((k, sign), found), found)
    return {index for _, index in extremes.values()}


def differences(rules: Rules, model: Model, index: int) -> str:
    """Return in words what differs between the model's rows of a state and the plain rules."""
    state = model.state(index)
    expected = expand(rules, state)
    choices = range(int(model.choice_offsets[index]), int(model.choice_offsets[index + 1]))
    if expected.payoffs is not None:
        place = int(np.searchsorted(model.terminals, index))
        found = place < len(model.terminals) and model.terminals[place] == index
        if not found or not _close(model.payoffs[place], expected.payoffs):
            return f"{state!r} is terminal in plain Python, with payoffs {expected.payoffs}"
        return ""
    actions = [choice.action for choice in expected.choices]
    labels = model.action_labels[choices.start : choices.stop].tolist()
    if actions != labels:
        return f"the actions in {state!r} are {labels}, in plain Python {actions}"
    if model.players[index] != expected.player:
        return (
            f"the mover in {state!r} is {model.players[index]}, in plain Python {expected.player}"
        )
    for number, choice in zip(choices, expected.choices, strict=True):
        outcomes = _outcomes(model, number)
        if not _same(outcomes, choice) or not _close(model.rewards[number], choice.rewards):
            return (
                f"action {choice.action} in {state!r} yields {outcomes} with reward "
                f"{model.rewards[number]}, in plain Python {choice.outcomes} with {choice.rewards}"
            )
    return ""


def _outcomes(model: Model, choice: int) -> dict[tuple[Any, bool], float]:
    """Return the outcomes of a choice in the game's own states."""
    row = slice(int(model.transition_offsets[choice]), int(model.transition_offsets[choice + 1]))
    return {
        (model.state(successor), probability < 0): abs(probability)
        for successor, probability in zip(
            model.successors[row].tolist(), model.probabilities[row].tolist(), strict=True
        )
    }


def _same(outcomes: dict[tuple[Any, bool], float], choice: Choice) -> bool:
    return outcomes.keys() == choice.outcomes.keys() and all(
        math.isclose(outcomes[key], probability, rel_tol=1e-12)
        for key, probability in choice.outcomes.items()
    )


def _close(found: Any, expected: tuple[float, ...]) -> bool:
    """Compare one number, or one for each of several players, with those of the plain rules."""
    return all(
        math.isclose(one, other, rel_tol=1e-12)
        for one, other in zip(np.atleast_1d(found).tolist(), expected, strict=True)
    )
