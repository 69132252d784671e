"""Checks of models whose arrays already have their own form; nothing is changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.model.validation.forms import ARRAYS, Rows, check_offsets, how_many
from gamedp.model.validation.names import check_names
from gamedp.model.validation.outcomes import check_outcomes
from gamedp.rules.answers import as_sum_of_two
from gamedp.rules.exactness import nearest
from gamedp.rules.game import MOST_PLAYERS
from gamedp.runtime.floats import FAINT, LEAST_PROBABILITY, SUM_TOLERANCE

__all__ = ["check_model"]

TYPES: dict[str, tuple[type, ...]] = {
    "successors": (np.int32, np.int64),
    "probabilities": (np.float64,),
    "rewards": (np.float64,),
    "players": (np.int8,),
    "payoffs": (np.float64,),
    "action_labels": (np.int8, np.int16, np.int32, np.int64),
    "initial_probabilities": (np.float64,),
}
"""Types of the arrays of a model; all others are int64."""

KEPT = ("probabilities", "rewards", "payoffs", "initial_probabilities")
"""The arrays whose numbers may also be kept as Fractions."""

SCALED = LEAST_PROBABILITY / 2
"""Lower bound of the smallest probability after scaling."""


def check_model(model: Any) -> None:
    """Raise InvalidModelError unless the arrays of a model belong together.

    Models from :meth:`gamedp.Model.from_arrays` pass; nothing is converted, copied or scaled. It
    takes a few passes over the arrays.
    """
    _check_form(model)
    num_choices, num_transitions = len(model.action_labels), len(model.successors)
    check_offsets("choice_offsets", model.choice_offsets, num_choices, "state", "choices")
    check_offsets(
        "transition_offsets", model.transition_offsets, num_transitions, "choice", "transitions"
    )
    rows = Rows(model.choice_offsets, model.transition_offsets, model.action_labels)
    check_outcomes(rows, model.successors, model.probabilities, model.num_players, least=SCALED)
    _check_states(model)
    check_names(model)


def _check_form(model: Any) -> None:
    """Check types, and the lengths that follow from each other."""
    count: Any = model.num_players
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_PLAYERS:
        message = f"num_players is {shown(count)}; there can be 1 to {MOST_PLAYERS}."
        raise InvalidModelError(message)
    as_sum_of_two(model.constant_sum)
    for name in ARRAYS:
        array: Any = getattr(model, name)
        types = TYPES.get(name, (np.int64,))
        if not isinstance(array, np.ndarray) or array.dtype not in types:
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            wanted = " or ".join(its_type.__name__ for its_type in types)
            message = f"{name} holds {kind}, not {wanted}. Model.from_arrays converts what it gets."
            raise InvalidModelError(message)
    states, choices = len(model.choice_offsets) - 1, len(model.transition_offsets) - 1
    columns = (count,) if count > 2 else ()
    shapes: dict[str, tuple[int, ...]] = {
        "choice_offsets": (max(states, 1) + 1,),  # there is no model without states
        "transition_offsets": (max(choices, 0) + 1,),
        "probabilities": model.successors.shape[:1],
        "successors": model.probabilities.shape[:1],
        "rewards": (choices, *columns),
        "action_labels": (choices,),
        "players": (states,),
        "payoffs": (len(model.terminals), *columns),
        "terminals": model.payoffs.shape[:1],
        "initial_states": model.initial_probabilities.shape[:1],
        "initial_probabilities": model.initial_states.shape[:1],
    }
    for name in ARRAYS:
        if getattr(model, name).shape != shapes[name]:
            message = f"{name} has shape {getattr(model, name).shape}; it must be {shapes[name]}."
            raise InvalidModelError(message)
    for name, exact in model.fractions.items():
        if name not in KEPT or not np.array_equal(nearest(exact), getattr(model, name)):
            message = (
                f"fractions[{name!r}] does not round to the model's {name}. Change both, or leave "
                "the fractions out: fractions={}."
            )
            raise InvalidModelError(message)


def _check_states(model: Any) -> None:
    """Check the players, the terminal states and the initial states."""
    bad = (model.players < 0) | (model.players >= model.num_players)
    if bad.any():
        state = int(bad.argmax())
        message = (
            f"the player of state {state} is {model.players[state]} {how_many(bad, 'states')}. "
            f"Players are numbered 0 to {model.num_players - 1}."
        )
        raise InvalidModelError(message)
    if not np.array_equal(model.terminals, np.flatnonzero(np.diff(model.choice_offsets) == 0)):
        message = "terminals must be the states without choices, just these, in ascending order."
        raise InvalidModelError(message)
    starts, probabilities = model.initial_states, model.initial_probabilities
    bad = (starts < 0) | (starts >= model.num_states)
    if bad.any():
        message = (
            f"the initial state {starts[bad.argmax()]} does not exist; states are numbered 0 to "
            f"{model.num_states - 1}."
        )
        raise InvalidModelError(message)
    bad = (probabilities != 0) & (np.abs(probabilities) < SCALED)
    if bad.any():
        message = f"an initial probability is {float(probabilities[bad.argmax()])!r}. {FAINT}"
        raise InvalidModelError(message)
    if model.num_players != 2 and (probabilities < 0).any():
        message = "an initial probability is negative; that is for two players who change places."
        raise InvalidModelError(message)
    total = float(np.abs(probabilities).sum())
    if not abs(total - 1) <= SUM_TOLERANCE:
        message = f"the initial states have total probability {total!r}, not 1."
        raise InvalidModelError(message)
