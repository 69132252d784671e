"""Values and policies over one or two fields of the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnknownNameError, UnsupportedProblemError
from gamedp.pictures.canvas import (
    COLOURS,
    HATCHES,
    Selection,
    canvas,
    colour_bar,
    fields_in,
    legend_beside,
    literal,
    select,
    short,
    values_of,
    what_values_are,
    whole_ticks,
)
from gamedp.policies.policy import Policy
from gamedp.stages.solution import StagedSolution

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution


ARROW = 0.7
"""Length of an arrow, in places."""

FAINTEST_WAY = 1e-9
"""Length of the mean way below which a policy leads nowhere."""


def plot_values(
    solution: Solution | StagedSolution,
    x: str | None = None,
    y: str | None = None,
    *,
    where: Mapping[str, int] | None = None,
    action: Hashable | None = None,
    player: int = 0,
    norm: Normalize | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw values over two fields of the state as colours, or over one as a line with its bounds.

    Infinite values are left blank, as are places without a state.

    Parameters
    ----------
    solution : Solution or StagedSolution
    x, y : str
        Fields of the state, or of the context of a staged game, named as in
        :meth:`gamedp.Solution.to_columns`; ``"state"`` for a model of arrays. If only one or two
        fields vary, they need not be named.
    where : mapping of str to int, optional
        The fields that all states of the picture have in common. Every field that still varies
        must be named.
    action : optional
        Show only where the policy takes this action; not for a staged game.
    player : int
        The player whose values are drawn. Where `canonical` merges positions, they are those of the
        representatives.
    norm : matplotlib.colors.Normalize, optional
        The mapping of values to colours, for several pictures with one colour bar; none is drawn
        then.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnknownNameError
        If there is no such field or player.
    InvalidParameterError
        If several states share a place, or no state is left.
    UnsupportedProblemError
        If a field is not an integer.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=12, faces=2, busts=(2,)), compile="never")
    >>> ax = gamedp.pictures.plot_values(solution, "opponent", "turn", where={"own": 0})
    >>> ax.get_title()
    'winning probability of player 0, own = 0'
    """
    selection = select(solution, _names(solution, x, y, where), where)
    values, lower, upper = (
        _taken(solution, selection, action, numbers) for numbers in values_of(solution, player)
    )
    what = what_values_are(solution, player)
    ax = canvas(ax)
    if len(selection.names) == 1:
        at, low, high = (selection.grid(numbers) for numbers in (values, lower, upper))
        line = np.arange(len(at)) + selection.low[0]
        ax.plot(line, at, marker=".", color=COLOURS[0])
        if (high > low).any():
            ax.fill_between(line, low, high, color=COLOURS[0], alpha=0.3, linewidth=0)
        ax.set_ylabel(what)
    else:
        shown = _mesh(ax, selection, selection.grid(values), norm=norm)
        if norm is None:
            colour_bar(ax, shown, what)
    if action is not None:
        what = f"{what} where to {named(solution, selection, action)}"
    _name_axes(ax, selection, what)
    return ax


def plot_policy(
    solution: Solution | Policy,
    x: str | None = None,
    y: str | None = None,
    *,
    where: Mapping[str, int] | None = None,
    arrows: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the action that a policy takes over two fields of the state, or over one.

    Actions have a colour and a name each; if there are more than eight of them, their numbers are
    drawn with a colour bar. Where several actions are equally good, it shows the one that the
    policy takes. Places where the game is over, or without a state, are left blank.

    Parameters
    ----------
    solution : Solution or Policy
    x, y, where, ax
        As for :func:`plot_values`.
    arrows : bool
        Draw an arrow in each place instead, as on a grid: from the place to where the policy leads
        on average in the next step; a point if that is the place itself. Needs two fields.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnknownNameError, InvalidParameterError, UnsupportedProblemError, MissingPackageError
        As for :func:`plot_values`.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=12, faces=2, busts=(2,)), compile="never")
    >>> ax = gamedp.pictures.plot_policy(solution, "opponent", "turn", where={"own": 0})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ROLL', 'SAVE']
    """
    model = solution.model
    selection = select(solution, _names(solution, x, y, where), where)
    if arrows and len(selection.names) == 1:
        message = "arrows point from place to place; name two fields, x and y."
        raise InvalidParameterError(message)
    what = (
        f"action of {short(solution.name, 40)}" if isinstance(solution, Policy) else "best action"
    )
    if arrows:
        ax = canvas(ax)
        _draw_arrows(ax, solution, selection)
        _name_axes(ax, selection, what)
        return ax
    choices = _choices(solution)[selection.states]
    kinds = _named(model, selection, choices)
    few = len(kinds) <= len(COLOURS)
    if few:
        numbers = np.full(len(choices), np.nan)
        for place, members in enumerate(kinds.values()):
            numbers[members] = place
    else:
        labels = model.action_labels[np.maximum(choices, 0)]
        numbers = np.where(choices >= 0, labels, np.nan)
    table = selection.grid(numbers)
    ax = canvas(ax)
    if len(selection.names) == 1:
        _draw_line(ax, selection, table, list(kinds) if few else None)
    elif few:
        _draw_kinds(ax, selection, table, list(kinds))
    else:
        colour_bar(ax, _mesh(ax, selection, table), "action")
    _name_axes(ax, selection, what)
    return ax


def _names(
    thing: Solution | StagedSolution | Policy,
    x: str | None,
    y: str | None,
    where: Mapping[str, int] | None,
) -> tuple[str, ...]:
    """Return the named fields, or the one or two that vary.

    Raises
    ------
    InvalidParameterError
        If none is named and more than two vary, or none does.
    """
    if x is not None:
        return (x,) if y is None else (x, y)
    fields, there = fields_in(thing)
    for name, value in (where or {}).items():
        there = there & np.asarray(fields.get(name, value) == value, np.bool_)
    varying = [
        name
        for name, column in fields.items()
        if name not in (where or {}) and len(set(column[there].tolist())) > 1
    ]
    if len(varying) in {1, 2} and y is None:
        return tuple(varying)
    known = f"{', '.join(varying)} vary" if varying else "no field varies"
    message = f"name a field for each axis: {known}."
    raise InvalidParameterError(message)


def _draw_arrows(ax: Axes, thing: Solution | Policy, selection: Selection) -> None:
    """Draw where the policy leads on average from each place, as arrows of one length."""
    model, fields = thing.model, fields_in(thing)[0]
    chances = (
        thing.probabilities
        if isinstance(thing, Policy)
        else Policy.from_solution(thing).probabilities
    )
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    sources = np.repeat(np.arange(model.num_choices), np.diff(model.transition_offsets))
    weights = chances[sources] * np.abs(model.probabilities)
    ways = np.zeros((model.num_states, 2))
    for axis, name in enumerate(selection.names):
        places = fields[name].astype(np.float64)
        moved = places[model.successors] - places[owners[sources]]
        ways[:, axis] = np.bincount(owners[sources], weights * moved, minlength=model.num_states)
    answered = np.bincount(owners, chances, minlength=model.num_states) > 0
    chosen = selection.states[answered[selection.states]]
    starts = selection.places[answered[selection.states]]
    lengths = np.hypot(*ways[chosen].T)
    moves = lengths > FAINTEST_WAY
    ways = ARROW * ways[chosen[moves]] / lengths[moves, None]
    ax.quiver(
        *(starts[moves] - ways / 2).T,
        *ways.T,
        angles="xy",
        scale_units="xy",
        scale=1,
        color="white",
        edgecolor="black",
        linewidth=0.8,
    )
    ax.plot(*starts[~moves].T, "o", color="white", markeredgecolor="black", markersize=6)
    edges = selection.edges(0), selection.edges(1)
    ax.set(xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]], aspect="equal")


def _taken(
    solution: Solution | StagedSolution,
    selection: Selection,
    action: Hashable | None,
    numbers: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the numbers of the selected states, finite ones alone, where an action is taken."""
    found = numbers[selection.states]
    found = np.where(np.isfinite(found), found, np.nan)
    if action is None:
        return found
    return np.where(taking(solution, action)[selection.states], found, np.nan)


def taking(solution: Solution | StagedSolution, action: Hashable) -> NDArray[np.bool_]:
    """Return for each state whether the policy takes an action there; (S,).

    Raises
    ------
    InvalidParameterError
        If no state has this action.
    UnsupportedProblemError
        If the states are contexts of a staged game.
    """
    if isinstance(solution, StagedSolution):
        message = "a context of a staged game has no action of its own; draw solution.inside(...)."
        raise UnsupportedProblemError(message)
    model, chosen = solution.model, solution.policy
    labels = model.action_labels
    try:
        label = model.action_label(action)
    except UnknownNameError as error:
        raise InvalidParameterError(str(error)) from None
    if not (labels == label).any():
        known = ", ".join(map(str, np.unique(labels)[:20].tolist()))
        message = f"no state has an action {action!r}; there are {known}."
        raise InvalidParameterError(message)
    takes: NDArray[np.bool_] = (chosen >= 0) & (labels[np.maximum(chosen, 0)] == label)
    return takes


def named(solution: Any, selection: Selection, action: Hashable) -> str:
    """Return an action in the words of the first of some states in which the policy takes it."""
    model = solution.model
    states = selection.states[taking(solution, action)[selection.states]]
    if not len(states) or (model.rules is None and not model.action_names):
        return f"take action {action}"
    return literal(model.action_name(action, model.state(int(states[0]))))


MIXED, SILENT = -2, -1
"""Stand for a choice: a random choice between several; none."""


def _choices(solution: Solution | Policy) -> NDArray[np.int64]:
    """Return the choice taken in each state, or MIXED, or SILENT; (S,)."""
    if not isinstance(solution, Policy):
        return solution.policy
    model = solution.model
    taken = np.flatnonzero(solution.probabilities > 0)
    owners = np.searchsorted(model.choice_offsets, taken, side="right") - 1
    counts = np.bincount(owners, minlength=model.num_states)
    found = np.full(model.num_states, SILENT, np.int64)
    found[owners] = taken
    found[counts > 1] = MIXED
    return found


def _named(
    model: Model, selection: Selection, choices: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Return the selected states that take an action of each name, the least action first."""
    found: dict[str, list[int]] = {}
    labels = model.action_labels[np.maximum(choices, 0)]
    for place in np.lexsort((np.arange(len(choices)), labels)).tolist():
        if choices[place] < 0:
            continue
        (action,) = model.actions_of(choices[place], choices[place] + 1)
        name = model.action_name(action, model.state(int(selection.states[place])))
        found.setdefault(literal(name), []).append(place)
    mixed = np.flatnonzero(choices == MIXED).tolist()
    if mixed:
        found["left to chance"] = mixed
    return {name: np.array(members) for name, members in found.items()}


def _mesh(
    ax: Axes, selection: Selection, table: NDArray[np.float64], norm: Normalize | None = None
) -> Any:
    """Draw a table over two fields as colours."""
    return ax.pcolormesh(
        selection.edges(0), selection.edges(1), np.ma.masked_invalid(table.T), norm=norm
    )


def _draw_kinds(
    ax: Axes, selection: Selection, table: NDArray[np.float64], names: list[str]
) -> None:
    """Draw actions, each in a colour with a name in the legend."""
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    edges = selection.edges(0), selection.edges(1)
    norm = BoundaryNorm(np.arange(len(COLOURS) + 1) - 0.5, len(COLOURS))
    ax.pcolormesh(*edges, np.ma.masked_invalid(table.T), cmap=ListedColormap(COLOURS), norm=norm)
    for place, hatch in enumerate(HATCHES[: len(names)]):
        if hatch:
            ax.pcolor(
                *edges,
                np.ma.masked_not_equal(table.T, place),
                cmap=ListedColormap([(0, 0, 0, 0)]),
                hatch=hatch,
            )
    patches = [
        Patch(facecolor=colour, hatch=hatch, label=name)
        for name, colour, hatch in zip(names, COLOURS, HATCHES, strict=False)
    ]
    legend_beside(ax, patches)


def _draw_line(
    ax: Axes, selection: Selection, table: NDArray[np.float64], names: list[str] | None
) -> None:
    """Draw actions over one field as points."""
    ax.plot(np.arange(len(table)) + selection.low[0], table, "o", color=COLOURS[0], markersize=4)
    if names is None:
        whole_ticks(ax.yaxis)
        ax.set_ylabel("action")
    else:
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(-0.5, len(names) - 0.5)


def _name_axes(ax: Axes, selection: Selection, what: str) -> None:
    """Write the names of the fields along the axes, and the title above them."""
    whole_ticks(ax.xaxis)
    ax.set_xlabel(selection.names[0])
    if len(selection.names) > 1:
        whole_ticks(ax.yaxis)
        ax.set_ylabel(selection.names[1])
    ax.set_title(f"{what}, {selection.where}" if selection.where else what)
