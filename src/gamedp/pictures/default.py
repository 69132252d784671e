"""The default picture of a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gamedp.comparison.comparison import Comparison
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.model.model import Model
from gamedp.pictures.actions import plot_actions
from gamedp.pictures.bars import plot_cross_table, plot_gains, plot_ratings, plot_results
from gamedp.pictures.board import plot_board
from gamedp.pictures.canvas import fields_in, select
from gamedp.pictures.components import plot_components
from gamedp.pictures.curves import plot_comparison, plot_stages, plot_survival, plot_trace
from gamedp.pictures.distribution import plot_distribution
from gamedp.pictures.slices import plot_policy, plot_values
from gamedp.pictures.surface import plot_surface
from gamedp.play.match import Match
from gamedp.play.pairing import Meeting, Pairing
from gamedp.play.statistics import Ratings
from gamedp.play.tournament import Tournament
from gamedp.policies.cross_table import CrossTable
from gamedp.policies.evaluation import Evaluation
from gamedp.policies.lengths import Survival
from gamedp.policies.policy import Policy
from gamedp.policies.response import Exploitability, Response
from gamedp.policies.trace import Trace
from gamedp.results.search_result import SearchResult
from gamedp.results.solution import Solution
from gamedp.simulation.result import Simulation
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.result import Distribution


def _plot_tournament(found: Tournament, **options: Any) -> Any:
    """Draw ratings, or mean payoffs of three or more players."""
    return (plot_ratings if found.pairings else plot_results)(found, **options)


WHOLE: dict[type, Callable[..., Any]] = {
    Trace: plot_trace,
    CrossTable: plot_cross_table,
    Tournament: _plot_tournament,
    Ratings: plot_ratings,
    Match: plot_results,
    Pairing: plot_results,
    Meeting: plot_results,
    Exploitability: plot_gains,
    Survival: plot_survival,
    Evaluation: plot_distribution,
    Simulation: plot_distribution,
    Distribution: plot_distribution,
    SearchResult: plot_actions,
    Comparison: plot_comparison,
    Model: plot_components,
}
"""The types drawn as a whole, without naming fields, and the function for each."""

FAINT = 50
"""Largest number of places per state in a readable picture of values."""


def plot(thing: Any, *fields: str, **options: Any) -> Any:
    """Draw the default picture of a result.

    - A solution by :func:`gamedp.pictures.plot_values`, over three fields with an action by
      :func:`gamedp.pictures.plot_surface`; a best response as its solution.
    - The solution of a staged game by :func:`gamedp.pictures.plot_stages`, over fields by
      :func:`gamedp.pictures.plot_values`.
    - A policy by :func:`gamedp.pictures.plot_policy`.
    - The result of a search by :func:`gamedp.pictures.plot_actions`.
    - A model by :func:`gamedp.pictures.plot_components`, that of a staged game as its stage.
    - An evaluation, a simulation or a distribution of totals by
      :func:`gamedp.pictures.plot_distribution`.
    - A cross table by :func:`gamedp.pictures.plot_cross_table`.
    - A tournament or ratings by :func:`gamedp.pictures.plot_ratings`; a match, a pairing, and
      a tournament or meeting of three and more by :func:`gamedp.pictures.plot_results`.
    - Exploitability by :func:`gamedp.pictures.plot_gains`.
    - The probability that play is not over by :func:`gamedp.pictures.plot_survival`.
    - A trace by :func:`gamedp.pictures.plot_trace`.
    - A game with a `view` by :func:`gamedp.pictures.plot_board`.
    - A comparison of solvers by :func:`gamedp.pictures.plot_comparison`.

    Without fields, a solution or policy is drawn over the two fields with the most values, or over
    one if there is no other; all others have their initial values. If fields are not integers, or
    the states are too few to be visible between empty places, a solution is drawn by
    :func:`gamedp.pictures.plot_actions`.

    Parameters
    ----------
    thing
        The result to draw.
    *fields : str
        Fields of the state, along the axes.
    **options
        Options of the drawing function, such as ``ax``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidParameterError
        If fields are named for a result without fields, or more than there are axes.
    UnsupportedProblemError
        If there is no picture for it.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=12, faces=2, busts=(2,)), compile="never")
    >>> ax = gamedp.pictures.plot(solution)
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.get_title()
    ('own', 'turn', 'winning probability of player 0, opponent = 0')
    """
    if isinstance(thing, Response):
        thing = thing.solution
    if isinstance(thing, StagedModel):
        thing = thing.stage
    if isinstance(thing, Solution | StagedSolution | Policy):
        return _over_fields(thing, fields, options)
    for kind, draw in WHOLE.items():
        if isinstance(thing, kind):
            if fields:
                message = f"a {kind.__name__} is drawn without fields: {', '.join(fields)}."
                raise InvalidParameterError(message)
            return draw(thing, **options)
    if not isinstance(thing, type) and hasattr(thing, "view") and not fields:
        return plot_board(thing, **options)
    message = (
        f"there is no picture of a {type(thing).__name__}; solve, evaluate or compile it first, "
        "or choose from gamedp.pictures."
    )
    raise UnsupportedProblemError(message)


def _over_fields(
    thing: Solution | StagedSolution | Policy, fields: tuple[str, ...], options: dict[str, Any]
) -> Any:
    """Draw a solution or policy over some fields, or those that vary most."""
    if len(fields) == 3 and isinstance(thing, Solution):
        return plot_surface(thing, *fields, **options)
    if len(fields) > 2:
        message = f"{', '.join(fields)} are more fields than a picture of this has axes."
        raise InvalidParameterError(message)
    if not fields and isinstance(thing, StagedSolution) and not options.get("where"):
        return plot_stages(thing, **options)
    if not fields:
        fields, where = _chosen(thing, dict(options.pop("where", None) or {}))
        if isinstance(thing, Solution) and not (fields and _fills(thing, fields, where)):
            return plot_actions(thing, **options)
        options["where"] = where
    if not fields:
        message = "no field of the states is an integer that varies; choose from gamedp.pictures."
        raise UnsupportedProblemError(message)
    if isinstance(thing, Policy):
        return plot_policy(thing, *fields, **options)
    return plot_values(thing, *fields, **options)


def _fills(thing: Solution, fields: tuple[str, ...], where: dict[str, Any]) -> bool:
    """Return whether a picture has enough states to be visible."""
    places = select(thing, fields, where).places
    cells = float(np.prod(np.ptp(places, axis=0) + 1.0))
    return len(places) > max(1.0, cells / FAINT)


def _chosen(thing: Any, where: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the one or two fields that vary most, and the initial values of all others."""
    table, there = fields_in(thing)
    start = int(thing.model.initial_states[0])
    varying = {}
    for name, column in table.items():
        if name in where:
            continue
        kinds = {type(value) for value in column} if column.dtype == object else {int}
        if kinds != {int}:
            return (), where
        number = len(np.unique(column[there]))
        if number > 1:
            varying[name] = number
    # The player to move tells no more than what follows from the others: never an axis.
    most = sorted(varying, key=lambda name: (name == "player", -varying[name]))[:2]
    if most[1:] == ["player"]:
        most = most[:1]
    where |= {name: int(table[name][start]) for name in varying if name not in most}
    return tuple(name for name in varying if name in most), where
