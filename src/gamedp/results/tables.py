"""Solutions as text and as tables."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.model.objectives import TotalReward
from gamedp.results.status import Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

__all__ = ["columns_of", "columns_of_stages", "hint_of", "html_table", "in_short"]


def hint_of(solution: Solution | StagedSolution) -> str:
    """Return what to ask instead where the total from the start is infinite; empty if it is not.

    Not where the objective has targets: there it says that they may be missed.
    """
    objective = solution.objective
    if not isinstance(objective, TotalReward) or objective.until is not None:
        return ""
    players = range(solution.model.num_players if solution.model.num_players > 2 else 1)
    if all(math.isfinite(solution.value(player=player)) for player in players):
        return ""
    if solution.guarantee is Guarantee.NONE:
        return ""
    return (
        "the total is infinite, for play earns or loses without end; a discount (Discounted) or "
        "the average per step (AverageReward) tells such plays apart"
    )


def in_short(solution: Solution | StagedSolution) -> str:
    """Return the value at the start, its bounds and what they rest on, on one line."""
    low, high = solution.bounds()
    hint = hint_of(solution)
    return (
        f"<{type(solution).__name__} value={solution.value()!r} lower={low!r} upper={high!r} "
        f"guarantee={solution.guarantee.name} status={solution.status.name}{hint and '; '}{hint}>"
    )


def html_table(solution: Solution | StagedSolution, counted: str) -> str:
    """Return a solution in short as a table for notebooks; `counted` names its states."""
    low, high = solution.bounds()
    hint = hint_of(solution)
    rows = {
        "value": f"{solution.value()!r}",
        "bounds": f"{low!r} … {high!r}",
        "guarantee": solution.guarantee.value,
        "status": solution.status.value,
        "solver": repr(solution.solver),
        counted: f"{solution.statistics.states:,}",
        **({"hint": hint} if hint else {}),
    }
    cells = "".join(
        f"<tr><th>{key}</th><td>{html.escape(text)}</td></tr>" for key, text in rows.items()
    )
    return f"<table>{cells}</table>"


def _numbers(
    values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Return values and bounds as columns: of each player, where each has their own."""
    named = {"value": values, "lower": lower, "upper": upper}
    if values.ndim == 1:
        return named
    return {
        f"{name}_{player}": array[:, player]
        for player in range(values.shape[1])
        for name, array in named.items()
    }


def _joined(
    fields: dict[str, NDArray[Any]], found: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return the columns of states and of what was found; no field of a state is hidden."""
    named = {f"state_{name}" if name in found else name: field for name, field in fields.items()}
    return named | found


def columns_of_stages(solution: StagedSolution) -> dict[str, NDArray[Any]]:
    """Return the contexts as columns; see :meth:`gamedp.StagedSolution.to_columns`."""
    model = solution.model
    codes = np.flatnonzero(~np.isnan(solution.values))
    fields = model.codec.unpack(codes[:, None])
    found = _numbers(solution.values[codes], solution.lower[codes], solution.upper[codes])
    return _joined(dict(zip(model.layout.names(), fields.T, strict=True)), found)


def columns_of(solution: Solution) -> dict[str, NDArray[Any]]:
    """Return the states of a solution as columns; see :meth:`gamedp.Solution.to_columns`."""
    model = solution.model
    layout = getattr(model.states, "layout", None)
    if layout is not None:
        packed = model.states.fields()  # type: ignore[union-attr] # a packed table has them
        fields = dict(zip(layout.names(), packed.T, strict=True))
    else:
        states = np.empty(model.num_states, object)
        states[:] = [model.state(index) for index in range(model.num_states)]
        fields = {"state": states}
    found = _numbers(solution.values, solution.lower, solution.upper)
    has_choice = solution.policy >= 0
    actions = np.where(has_choice, model.action_labels[solution.policy * has_choice], 0)
    found["action"] = np.ma.masked_array(actions, ~has_choice)
    if solution.distances is not None:
        found["distance"] = np.ma.masked_less(solution.distances, 0)
    return _joined(fields, found)
