"""Solutions as columns of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.results.choice_values import choice_values, opposite_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.base import Table


def numbers(
    values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Return values and bounds as columns, one for each player who has values of their own."""
    named = {"value": values, "lower": lower, "upper": upper}
    if values.ndim == 1:
        return named
    return {
        f"{name}_{player}": array[:, player]
        for player in range(values.shape[1])
        for name, array in named.items()
    }


def joined(
    fields: dict[str, NDArray[Any]], found: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return the columns of the states and of the results; no field of a state is hidden."""
    named = {f"state_{name}" if name in found else name: field for name, field in fields.items()}
    return named | found


def fields_of(model: Model) -> dict[str, NDArray[Any]]:
    """Return the states of a model, one column (S,) for each field."""
    layout = getattr(model.states, "layout", None)
    if layout is not None:
        packed = model.states.fields()  # type: ignore[union-attr] # a packed table has them
        return dict(zip(layout.names(), packed.T, strict=True))
    states = np.empty(model.num_states, object)
    states[:] = [model.state(index) for index in range(model.num_states)]
    named = {f"state_{name}" if name == "state" else name: a for name, a in model.variables.items()}
    return {"state": states, **named}


def actions_in(model: Model, labels: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return actions, and their names where a model has some, as columns."""
    found = {"action": _named(model.actions, labels) if model.actions else labels}
    if model.action_names:
        found["action_name"] = _named(model.action_names, labels)
    return found


def _named(words: Sequence[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Return the words with some numbers, masked where these are."""
    table = np.empty(len(words), object)
    table[:] = words
    found, mask = table[np.ma.getdata(labels)], np.ma.getmaskarray(labels)
    return np.ma.masked_array(found, mask) if mask.any() else found


def columns_of(solution: Table) -> dict[str, NDArray[Any]]:
    """Return the states of a solution as columns; see :meth:`gamedp.Solution.to_columns`."""
    model = solution.model
    fields = fields_of(model)
    found = numbers(solution.values, solution.lower, solution.upper)
    actions = np.append(model.action_labels, 0)[solution.policy]
    found |= actions_in(model, np.ma.masked_array(actions, solution.policy < 0))
    if solution.distances is not None:
        found["distance"] = np.ma.masked_less(solution.distances, 0)
    return joined(fields, found)


def choice_columns_of(solution: Table, player: int, total: float | None) -> dict[str, NDArray[Any]]:
    """Return a row for each action of each state; see :meth:`gamedp.Solution.q_table`.

    Parameters
    ----------
    solution : Solution
    player : int
    total : float or None
        The sum of two players' values, if the other player's values are wanted.
    """
    model = solution.model
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    found = choice_values(solution, 0, model.num_choices, player)
    if total is not None:
        found = opposite_values(total, found)
    columns = {
        **actions_in(model, model.action_labels),
        "value": found.values,
        "lower": found.lower,
        "upper": found.upper,
        "taken": solution.policy[owners] == np.arange(model.num_choices),
    }
    return joined({name: field[owners] for name, field in fields_of(model).items()}, columns)
