"""A table of which solvers support which problems, generated on request."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

import gamedp

__all__ = ["problem_kinds", "support_table"]


def problem_kinds() -> dict[str, gamedp.Problem]:
    """Return one small problem of each kind, by name: an objective and a kind of model.

    Examples
    --------
    >>> problem_kinds()["total"].model
    <Model 4 states, 4 choices, 8 transitions>
    """
    alone, opponents = _model([0, 0, 0, 0]), _model([0, 1, 0, 0])
    acyclic = _model([0, 1, 0, 0], back=2)
    swaps = _model([0, 0, 0, 0], sign=-1)
    sure = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 0, 3],
        [1.0] * 4,
        players=[0, 1, 0, 0],
        terminals=[2, 3],
        payoffs=[1.0, -1.0],
    )
    return {
        "total": gamedp.Problem(alone),
        "2 players": gamedp.Problem(opponents),
        "swaps": gamedp.Problem(swaps),
        "acyclic": gamedp.Problem(acyclic),
        "sure, 2 pl.": gamedp.Problem(sure),
        "until": gamedp.Problem(alone, gamedp.TotalReward("min", until=[2])),
        "until, 2 pl.": gamedp.Problem(opponents, gamedp.TotalReward("min", until=[2, 3])),
        "reach": gamedp.Problem(alone, gamedp.Reachability([2])),
        "reach, 2 pl.": gamedp.Problem(opponents, gamedp.Reachability([2])),
        "discounted": gamedp.Problem(alone, gamedp.Discounted(0.5)),
        "disc., 2 pl.": gamedp.Problem(opponents, gamedp.Discounted(0.5)),
        "horizon": gamedp.Problem(opponents, gamedp.FiniteHorizon(3)),
        "average": gamedp.Problem(alone, gamedp.AverageReward()),
    }


def support_table(
    solvers: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, gamedp.solvers.Support]]:
    """Return which solvers support which kinds of problems.

    Parameters
    ----------
    solvers : mapping of name to solver, optional
        If not given, all registered ones but that of staged games, by their class names.

    Returns
    -------
    dict
        For each solver, its answer to each of the :func:`problem_kinds`.

    Examples
    --------
    >>> import gamedp
    >>> table = support_table({"mine": gamedp.solvers.LinearProgramming()})
    >>> bool(table["mine"]["total"]), table["mine"]["2 players"].reason
    (True, 'is for one player alone; PolicyIteration does two opponents who choose.')
    """
    if solvers is None:
        made = [point.load()() for point in entry_points(group="gamedp.solvers")]
        solvers = {
            type(solver).__name__: solver
            for solver in sorted(made, key=lambda solver: type(solver).__name__)
            if not isinstance(solver, gamedp.stages.StageInduction)
        }
    kinds = problem_kinds()
    return {
        name: {kind: solver.supports(problem) for kind, problem in kinds.items()}
        for name, solver in solvers.items()
    }


def _model(players: list[int], *, back: int = 0, sign: int = 1) -> gamedp.Model:
    """Return two states with two choices each, which have rewards and may end in two ways."""
    return gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 2, 4, 6, 8],
        [1, 2, 1, 3, back, 2, back, 3],
        [sign * 0.5, 0.5, sign * 0.25, 0.75, sign * 0.5, 0.5, sign * 0.75, 0.25],
        rewards=[1.0, 2.0, 0.0, 1.0],
        players=players,
        terminals=[2, 3],
        payoffs=[1.0, 0.0],
        num_players=2 if sign < 0 or any(players) else 1,
    )
