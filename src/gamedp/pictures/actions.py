"""A picture of the values of the actions in one state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.pictures.canvas import COLOURS, canvas, legend_beside, short
from gamedp.play.advice import AdvisedAction
from gamedp.results.search_result import SearchResult
from gamedp.runtime.encoding import declared_fields

if TYPE_CHECKING:
    from collections.abc import Hashable

    from matplotlib.axes import Axes

    from gamedp.policies.evaluation import Evaluation
    from gamedp.results.solution import Solution


MOST_ACTIONS = 40
"""Largest number of readable rows."""

MOST_SAID = 60
"""Largest number of characters of the state."""

MARKERS = {"exact": "o", "at least": ">", "at most": "<"}


def plot_actions(
    found: SearchResult | Solution | Evaluation,
    state: Hashable | None = None,
    *,
    player: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a player's value after each action in one state, with its bounds.

    Points of actions that may be best are filled. A search need not find the value of an action
    that is not best: an arrow shows that it is less, or more, than the point. Infinite bounds
    extend to the edge of the picture. At most forty actions are drawn, the best ones.

    Parameters
    ----------
    found : SearchResult, Solution or gamedp.policies.Evaluation
    state : optional
        The state; the start if not given. A search result has its own.
    player : int
        The player whose values are drawn; for a search result, player 0.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnknownStateError
        If there is no such state.
    UnsupportedProblemError
        If there is no action, another state or player is given for a search result, or the start is
        not a single state.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=6), compile="never")
    >>> ax = gamedp.pictures.plot_actions(solution)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['take 1', 'take 2', 'take 3']
    """
    rows, said = _rows(found, state, player)
    if not rows:
        message = f"there is no action in {said}."
        raise UnsupportedProblemError(message)
    title = f"actions in {said}"
    if len(rows) > MOST_ACTIONS:
        title = f"{MOST_ACTIONS} of {len(rows):,} {title}"
        rows = _best(rows)
    ax = canvas(ax, size=(6.4, max(2.4, 0.32 * len(rows) + 1.4)))
    _draw(ax, rows)
    ax.set(xlabel=f"value for player {player}" if _players(found) > 1 else "value", title=title)
    return ax


def _players(found: Any) -> int:
    """Return the number of players."""
    if isinstance(found, SearchResult):
        return found.rules.num_players
    chain = getattr(found, "chain", None)
    model = found.model if chain is None else chain.of
    return int(model.num_players)


def _rows(found: Any, state: Any, player: int) -> tuple[list[AdvisedAction], str]:
    """Return the actions, and the state in words."""
    if isinstance(found, SearchResult):
        if (state is not None and state != found.state) or player != 0:
            message = "a search tells of one position, and of player 0; name neither."
            raise UnsupportedProblemError(message)
        rows = [
            AdvisedAction(
                entry.action,
                entry.name or str(entry.action),
                *(entry.value, entry.lower, entry.upper),
                "possible" if entry.action in found.best_actions else "no",
                entry.bound,
            )
            for entry in found.actions
        ]
        return rows, _said(found.state)
    entries = found.action_values(state, player=player)
    rows = [AdvisedAction(**attrs.asdict(entry)) for entry in entries]
    return rows, "the first state" if state is None else _said(state)


def _said(state: Any) -> str:
    """Return the fields of a state but the player to move, with names, if all are numbers."""
    fields = declared_fields(state)
    if fields is None:
        return f"{state}" if isinstance(state, int) else "this position"
    parts = [(name, part) for name, part in fields.items() if name != "player"]
    if not all(isinstance(part, int) for _, part in parts):
        return "this position"
    return short(", ".join(f"{name} = {part}" for name, part in parts), MOST_SAID)


def _best(rows: list[AdvisedAction]) -> list[AdvisedAction]:
    """Return the best of very many actions, in the game's order."""
    best = [row.value for row in rows if row.best != "no"]
    wants_more = bool(best) and max(best) >= max(row.value for row in rows)
    order = sorted(range(len(rows)), key=lambda place: rows[place].value, reverse=wants_more)
    chosen = sorted(sorted(order, key=lambda place: rows[place].best == "no")[:MOST_ACTIONS])
    return [rows[place] for place in chosen]


def _draw(ax: Axes, rows: list[AdvisedAction]) -> None:
    """Draw a point and its bounds for each action, the first one at the top."""
    numbers = np.array([(row.lower, row.value, row.upper) for row in rows])
    finite = numbers[np.isfinite(numbers)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    margin = 0.08 * (high - low) or 0.5
    left, right = low - margin, high + margin
    places = np.arange(len(rows))
    colours = [COLOURS[3] if row.best != "no" else COLOURS[7] for row in rows]
    clipped = np.clip(np.nan_to_num(numbers), left, right)
    ax.hlines(places, clipped[:, 0], clipped[:, 2], colors=colours, linewidth=4, alpha=0.5)
    for place, row in enumerate(rows):
        ax.plot(
            clipped[place, 1],
            place,
            MARKERS[row.bound],
            color=colours[place],
            markerfacecolor=colours[place] if row.best != "no" else "none",
            markersize=8,
        )
    ax.set_yticks(places, [short(row.name) for row in rows])
    ax.set(xlim=(left, right), ylim=(len(rows) - 0.5, -0.5))
    _explain(ax, rows, bounded=bool((clipped[:, 0] < clipped[:, 2]).any()))


def _explain(ax: Axes, rows: list[AdvisedAction], *, bounded: bool) -> None:
    """Draw the legend."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=COLOURS[3], marker="o", linestyle="", label="may be best")]
    for bound in dict.fromkeys(row.bound for row in rows if row.best == "no"):
        label = "not best" if bound == "exact" else f"not best, {bound} this"
        handles.append(
            Line2D(
                *([], []),
                color=COLOURS[7],
                marker=MARKERS[bound],
                markerfacecolor="none",
                linestyle="",
                label=label,
            )
        )
    if bounded:
        handles.append(Line2D([], [], color=COLOURS[7], linewidth=4, alpha=0.5, label="bounds"))
    legend_beside(ax, handles)
