"""Policies as columns of tables: a row for each action that may be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.results.columns import actions_in, fields_of, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

    Integers = NDArray[np.int64]
    Columns = dict[str, NDArray[Any]]

__all__ = ["columns_inside", "columns_of_chances", "columns_of_solution"]

MAX_ROWS = 10_000_000
"""Largest number of rows of a staged game: more than a spreadsheet or a person takes."""


def columns_of_chances(model: Model, chances: NDArray[np.float64]) -> Columns:
    """Return the rows of a policy; see :meth:`gamedp.Policy.to_columns`.

    Parameters
    ----------
    model : Model
    chances : (C,) float64
        The probability of each choice in its state.
    """
    counts = np.diff(model.choice_offsets)
    owners = np.repeat(np.arange(model.num_states), counts)
    taken = np.flatnonzero(chances > 0)
    answered = np.bincount(owners[taken], minlength=model.num_states) > 0
    silent = np.flatnonzero((counts > 0) & ~answered)
    states = np.concatenate([owners[taken], silent])
    order = np.argsort(states, kind="stable")
    choices = np.concatenate([taken, np.full(len(silent), -1)])[order]
    return _rows(model, states[order], choices, chances)


def columns_of_solution(solution: Solution, num_players: int | None = None) -> Columns:
    """Return the rows of a solution's policy, for a finite horizon with the steps that are left.

    Parameters
    ----------
    solution : Solution
    num_players : int, optional
        The number of players of the whole game; of the model if not given.

    Raises
    ------
    UnsupportedProblemError
        If the solver keeps no policy for the steps of a finite horizon.
    """
    model = solution.model
    inner = np.flatnonzero(np.diff(model.choice_offsets))
    ones = np.ones(model.num_choices)
    if not solution.counts_steps:
        return _rows(model, inner, solution.policy[inner], ones, num_players)
    steps = getattr(solution.objective, "horizon", 0)
    rows = solution.step_policies
    if rows is None or len(rows) != steps:
        message = (
            f"{type(solution.solver).__name__} keeps no policy for each number of steps that are "
            "left; BackwardInduction does."
        )
        raise UnsupportedProblemError(message)
    left = np.repeat(np.arange(steps, 0, -1), len(inner))
    states = np.tile(inner, steps)
    choices = model.choice_offsets[states] + rows[left - 1, states].astype(np.int64)
    return {"steps_left": left} | joined(_rows(model, states, choices, ones), {"steps_left": left})


def columns_inside(solution: StagedSolution) -> Columns:
    """Return the rows of a staged game: of each state of the stage, in each context.

    Raises
    ------
    UnsupportedProblemError
        If there may be more than ten million.
    """
    model = solution.model
    codes = np.flatnonzero(~np.isnan(solution.values)).tolist()
    most = len(codes) * model.stage.num_states
    if most > MAX_ROWS:
        message = (
            f"the policy has up to {most:,} rows, for {model.stage.num_states:,} states of the "
            f"stage in each of {len(codes):,} contexts; {MAX_ROWS:,} are the most. Write those of "
            "the contexts that matter: solution.inside(context)."
        )
        raise UnsupportedProblemError(message)
    parts: list[Columns] = []
    for code in codes:
        context = model.state(code)
        if model.rules.is_terminal(context):
            continue
        part = solution.inside(context)
        rows = columns_of_solution(part, model.num_players)
        if "mover" in rows:
            rows["mover"] = rows["mover"] ^ int(model.index(context)[1])
        count = len(rows["action"])
        fields = fields_of(part.model)
        named = {f"inside_{name}" if name in fields else name: rows[name] for name in rows}
        place = zip(model.layout.names(), model.codec.unpack(np.array([[code]]))[0], strict=True)
        parts.append(joined({name: np.full(count, number) for name, number in place}, named))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(
    model: Model,
    states: Integers,
    choices: Integers,
    chances: NDArray[np.float64],
    num_players: int | None = None,
) -> Columns:
    """Return rows of states with a choice each, which is -1 if nothing is known of it."""
    unknown = choices < 0  # of a policy that does not answer everywhere
    safe = np.maximum(choices, 0)
    labels = model.action_labels[safe] if model.num_choices else safe
    own = actions_in(model, labels)["action"]
    names = np.empty(len(choices), object)
    names[:] = [
        None if choice < 0 else model.action_name(action, model.state(state))
        for state, choice, action in zip(
            states.tolist(), choices.tolist(), own.tolist(), strict=True
        )
    ]
    taken = chances[safe] if model.num_choices else np.zeros(len(safe))
    has_mover = (num_players or model.num_players) > 1
    found: Columns = {"mover": model.players[states]} if has_mover else {}
    found |= {"action": own, "action_name": names, "probability": taken}
    if unknown.any():
        for name in ("action", "action_name", "probability"):
            found[name] = np.ma.masked_array(found[name], unknown)
    return joined({name: field[states] for name, field in fields_of(model).items()}, found)
