"""Spot checks: calls the rules again in some states of a model, in plain Python, and compares."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.rules.expand import expand, start
from gamedp.rules.layout import PackedTable
from gamedp.runtime.slices import UNPACKED_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gamedp.model.model import Model
    from gamedp.rules.expand import Choice
    from gamedp.rules.game import Rules

__all__ = ["ask_again", "differences", "spot_check"]

SPOT_CHECKS = 24
"""Number of states of a model that are expanded again in plain Python."""

START_CHECKS = 5
"""Number of times that the rules are asked for the start again."""

ENDS = 4
"""Number of these at either end of a model that was explored in plain Python."""

MIN_SPOT_CHECKS = 3
"""Number of states that are expanded again however long it takes."""

LEAST, SHARE = 1000, 32
"""Number of transitions that are checked again: `LEAST`, or one in `SHARE` if that is more."""

MOST_SECONDS = 0.3
"""Seconds of processor time after which no other state is expanded again."""

WIDE_RANGE = 2.0**31
"""Range of a field beyond which the states with its largest numbers are checked, too."""


def spot_check(rules: Rules, model: Model) -> None:
    """Compare states spread over a compiled model with the same rules in plain Python.

    Those in which a field is very large come first, then the first and the last, then others spread
    evenly; as many as come to a small share of the transitions, and to a fraction of a second.

    Raises
    ------
    InvalidModelError
        At a difference: between the two modes, or between two answers of the plain rules.
    """
    extreme = sorted(_extreme_states(model))
    _ask_for_start(rules, model)
    for index in _within_bounds(model, [*extreme, *_evenly(model)]):
        difference = differences(rules, model, index)
        if difference:
            _ask_twice(rules, model.state(index))
            message = (
                f"the compiled rules and the same rules in plain Python differ: {difference}. They "
                "may depend on integers beyond 64 bits or on something outside the game's own "
                "fields; compile='never' runs them as plain Python."
            )
            raise InvalidModelError(message)


def ask_again(rules: Rules, model: Model) -> None:
    """Call plain rules again in some states of the model that they have given.

    The first and the last states, and others spread evenly; as many as come to a small share of the
    transitions, and to a fraction of a second.

    Raises
    ------
    InvalidModelError
        If an answer has changed, or a state has: rules must not depend on chance or on what was
        asked before.
    """
    _ask_for_start(rules, model)
    last = model.num_states - 1
    ends = [index for near in range(min(ENDS, last + 1)) for index in (near, last - near)]
    for index in _within_bounds(model, [*ends, *_evenly(model)]):
        state = model.state(index)
        difference = ""
        try:
            if model.states is not None and model.states.index(state) != index:
                difference = f"{shown(state)} is another state now"
        except UnknownStateError:
            difference = f"{shown(state)} is another state now"
        difference = difference or differences(rules, model, index, "when asked again")
        if difference := difference or _turn_by_an_answer(rules, state):
            raise InvalidModelError(_changed(difference))


def _ask_for_start(rules: Rules, model: Model) -> None:
    """Raise InvalidModelError if the rules give another start than they gave."""
    known = {model.state(index) for index in model.initial_states[:SPOT_CHECKS].tolist()}
    for _ in range(START_CHECKS if len(model.initial_states) <= SPOT_CHECKS else 0):
        found = {state for _, state, _ in start(rules)}
        if found != known:
            difference = f"initial_state() gives {shown(known)}, when asked again {shown(found)}"
            raise InvalidModelError(_changed(difference))


def _turn_by_an_answer(rules: Rules, state: Any) -> str:
    """Return in words how the outcomes of one action change who moves; an even number may not."""
    for action in () if rules.is_terminal(state) else rules.game.actions(state):
        mover = rules.player(state)
        for _ in rules.game.outcomes(state, action):
            pass
        if (then := rules.player(state)) != mover:
            return f"the mover is {mover}, {then} after outcomes({shown(state)}, {shown(action)})"
        break
    return ""


def _within_bounds(model: Model, indices: Iterable[int]) -> Iterator[int]:
    """Yield a few of the `indices`, and more while they take few transitions and little time."""
    left = max(LEAST, model.num_transitions // SHARE)
    begin = time.thread_time()
    for number, index in enumerate(dict.fromkeys(indices), 1):
        yield index
        left -= int(np.diff(model.transition_offsets[model.choice_offsets[index : index + 2]])[0])
        if number >= MIN_SPOT_CHECKS and (left < 0 or time.thread_time() - begin > MOST_SECONDS):
            return


def _ask_twice(rules: Rules, state: Any) -> None:
    """Raise InvalidModelError if the plain rules do not repeat their answers in a state."""
    one, other = expand(rules, state), expand(rules, state)
    if one != other:
        for before, after in zip(one.choices, other.choices, strict=False):
            if before != after:
                difference = (
                    f"action {shown(before.action)} in {shown(state)} yields "
                    f"{shown(before.outcomes)} with reward {before.rewards}, when asked again "
                    f"{shown(after.outcomes)} with {after.rewards}"
                )
                raise InvalidModelError(_changed(difference))
        raise InvalidModelError(_changed(f"{shown(one)}, when asked again {shown(other)}"))


def _changed(difference: str) -> str:
    return (
        f"the rules answer differently when asked twice: {difference}. They must not draw random "
        "numbers (yield each outcome with its probability), change a state in place, or depend on "
        "anything but the state and the game's own fields."
    )


def _evenly(model: Model) -> list[int]:
    """Return states spread evenly over a model: both ends, the middle, then those between."""
    count = min(SPOT_CHECKS, model.num_states)
    evenly: list[int] = np.linspace(0, model.num_states - 1, count).astype(int).tolist()
    between = sorted(range(1, count - 1), key=lambda place: f"{place:b}"[::-1])
    return [evenly[place] for place in (0, count - 1, *between)]


def _extreme_states(model: Model) -> set[int]:
    """Return the states in which a field that can be large is largest, where it may overflow."""
    table = model.states
    if not isinstance(table, PackedTable):
        return set()
    codec = table.codec
    extents = codec.high.astype(np.float64) - codec.low
    extremes: dict[tuple[int, int], tuple[int, int]] = {}
    for k in np.flatnonzero(extents > WIDE_RANGE).tolist():
        for first in range(0, len(table), UNPACKED_STATES):
            numbers = codec.unpack(table.codes[first : first + UNPACKED_STATES])[:, k]
            for sign in (1, -1):
                place = int(numbers.argmax() if sign > 0 else numbers.argmin())
                found = (sign * int(numbers[place]), first + place)
                extremes[k, sign] = max(extremes.get((k, sign), found), found)
    return {index for _, index in extremes.values()}


def differences(rules: Rules, model: Model, index: int, when: str = "in plain Python") -> str:
    """Return in words the difference between the model's rows of a state and the plain rules."""
    state = model.state(index)
    expected = expand(rules, state)
    choices = range(int(model.choice_offsets[index]), int(model.choice_offsets[index + 1]))
    if expected.payoffs is not None:
        place = int(np.searchsorted(model.terminals, index))
        found = place < len(model.terminals) and model.terminals[place] == index
        if not found or not _close(model.payoffs[place], expected.payoffs):
            stored = f"{model.payoffs[place]}" if found else "none"
            return f"the payoffs in {shown(state)} are {stored}, {when} {expected.payoffs}"
        return ""
    actions = [choice.action for choice in expected.choices]
    known = model.actions_of(choices.start, choices.stop)
    if actions != known:
        return f"the actions in {shown(state)} are {shown(known)}, {when} {shown(actions)}"
    if model.players[index] != expected.player:
        return f"the mover in {shown(state)} is {model.players[index]}, {when} {expected.player}"
    for number, choice in zip(choices, expected.choices, strict=True):
        outcomes = _outcomes(model, number)
        if not _same(outcomes, choice) or not _close(model.rewards[number], choice.rewards):
            return (
                f"action {shown(choice.action)} in {shown(state)} yields {shown(outcomes)} with "
                f"reward {model.rewards[number]}, {when} {shown(choice.outcomes)} with "
                f"{choice.rewards}"
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
