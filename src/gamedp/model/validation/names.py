"""Names of actions, and variables of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.model.validation.forms import as_integers, check_length, how_many

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Variables: TypeAlias = Mapping[str, NDArray[np.int64] | NDArray[np.bool_]]

__all__ = ["check_names", "names_and_variables"]


def names_and_variables(action_names: Any, variables: Any) -> tuple[tuple[str, ...], Variables]:
    """Return both as a model keeps them, the arrays copied; they are not checked yet."""
    if isinstance(action_names, str) or not isinstance(action_names, Sequence):
        message = f"action_names is {shown(action_names)}; it must be a sequence of texts."
        raise InvalidModelError(message)
    if not isinstance(variables, Mapping):
        message = f"variables is {shown(variables)}; it must be a mapping of names to arrays."
        raise InvalidModelError(message)
    columns = {}
    for name, given in variables.items():
        is_truth = getattr(given, "dtype", None) == np.bool_
        columns[name] = np.array(given) if is_truth else as_integers(f"variable {name!r}", given)
    return tuple(action_names), columns


def check_names(model: Any) -> None:
    """Raise InvalidModelError unless actions and states have names that fit the model."""
    names, labels = model.action_names, model.action_labels
    for name in (*names, *model.variables):
        if not isinstance(name, str):
            message = f"{shown(name)} is no name of an action or a variable; it must be a text."
            raise InvalidModelError(message)
    bad = (labels < 0) | (labels >= len(names)) if names else np.zeros(0, np.bool_)
    if bad.any():
        message = (
            f"action_names has {len(names):,} names, and none for action {labels[bad.argmax()]} "
            f"{how_many(bad, 'choices')}. The name of an action stands at its number."
        )
        raise InvalidModelError(message)
    for name, column in model.variables.items():
        array: Any = column
        if not isinstance(array, np.ndarray) or array.dtype not in (np.int64, np.bool_):
            message = f"variable {name!r} is {shown(array)}; it must be an array of int64 or bool."
            raise InvalidModelError(message)
        check_length(f"variable {name!r}", array, model.num_states, "states")
