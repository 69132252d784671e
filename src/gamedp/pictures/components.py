"""A picture of a model's graph: states that can recur, and where play may stay for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.pictures.canvas import canvas, in_words, short, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Integers = NDArray[np.int64]


EDGE = "#666666"

MOST_NODES = 60
"""Largest number of components that are drawn one by one."""

MOST_ACROSS = 12
"""Largest number of components side by side."""

MOST_NAMED = 3
"""Largest number of states of a component that are named one by one."""


@attrs.frozen
class _Kind:
    """The kind of play in a component."""

    name: str
    colour: str
    box: str
    line: Any
    hatch: str = ""


KINDS = (
    _Kind("game over", "#E6E6E6", "square", ":"),
    _Kind("once at most", "#BBDDF2", "round", "-"),
    _Kind("again, but not for ever", "#FBE0A6", "round4", "--", "..."),
    _Kind("play may stay (end component)", "#F6C9AD", "sawtooth", "-.", "///"),
)
"""Kinds of components, by how often play can visit their states."""

OVER, ONCE, AGAIN, STAYS = range(len(KINDS))


def plot_components(model: Model, *, ax: Axes | None = None) -> Axes:
    """Draw the strongly connected components of a model, and where play may stay for ever.

    Up to 60 components are drawn one by one, with arrows to their successors: the condensation of
    the graph. For larger models, it shows the number of states of each kind on each level, which is
    the largest number of steps between components that lead down from there. A component is of the
    last kind if it contains an end component, which need not have all of its states.

    Parameters
    ----------
    model : Model
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    State 0 may move to 1, or end the game in 2; state 1 moves back to 0.

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 3, 3], [0, 1, 2, 3], [1, 2, 0], [1.0, 1.0, 1.0], payoffs=[1.0]
    ... )
    >>> ax = gamedp.pictures.plot_components(model)
    >>> [text.get_text() for text in ax.texts if text.get_text()]
    ['2', '0, 1']
    """
    structure = model.structure
    kinds = _kinds(model)
    across = int(np.bincount(structure.levels).max(initial=1))
    if structure.num_components <= MOST_NODES and across <= MOST_ACROSS:
        return _draw_nodes(model, kinds, ax)
    return _draw_levels(model, kinds, ax)


def _kinds(model: Model) -> Integers:
    """Return the kind of each component; (K,)."""
    structure = model.structure
    kinds = np.where(structure.nontrivial, AGAIN, ONCE)
    kinds[structure.component[model.terminals]] = OVER
    kinds[structure.component[structure.end_component >= 0]] = STAYS
    return kinds


def _legend(ax: Axes, kinds: Integers, *, hatched: bool, **where: Any) -> None:
    """Draw the legend of the colours, and edges or hatches, that occur."""
    from matplotlib.patches import Patch

    found = [KINDS[number] for number in np.unique(kinds).tolist()]
    handles = [
        Patch(
            facecolor=kind.colour,
            edgecolor=EDGE,
            hatch=kind.hatch if hatched else "",
            linestyle="-" if hatched else kind.line,
            label=kind.name,
        )
        for kind in found
    ]
    ax.legend(handles=handles, frameon=False, fontsize="small", **where)


def _draw_levels(model: Model, kinds: Integers, ax: Axes | None) -> Axes:
    """Draw the number of states of each kind on each level."""
    structure = model.structure
    component = structure.component
    levels, kind_of = structure.levels[component], kinds[component]
    ax = canvas(ax)
    below = np.zeros(structure.num_levels)
    edges = np.arange(structure.num_levels + 1) - 0.5
    for number, kind in enumerate(KINDS):
        counts = np.bincount(levels[kind_of == number], minlength=structure.num_levels)
        if counts.any():
            ax.stairs(
                below + counts,
                edges,
                baseline=below,
                fill=True,
                facecolor=kind.colour,
                edgecolor=EDGE,
                hatch=kind.hatch,
                linewidth=0.3,
            )
            below = below + counts
    ax.set(xlabel="steps down from component to component, at most", ylabel="states")
    ax.set(xlim=(edges[-1], edges[0]), ylim=(0, None))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    whole_ticks(ax.xaxis)
    _legend(
        ax,
        kinds,
        hatched=True,
        loc="upper left",
        bbox_to_anchor=(0, -0.15),
        ncols=2,
        borderaxespad=0,
    )
    ax.set_title(_title(model))
    return ax


def _title(model: Model) -> str:
    """Return a title with the number of components."""
    structure = model.structure
    cyclic = int(structure.nontrivial.sum())
    return (
        f"{structure.num_components:,} components of {structure.num_states:,} states, "
        f"{cyclic:,} with a cycle"
    )


def _draw_nodes(model: Model, kinds: Integers, ax: Axes | None) -> Axes:
    """Draw each component as a box, and arrows between them."""
    edges = _edges(model)
    across, texts = _across(model, edges), _texts(model)
    levels = model.structure.levels
    widest = max(np.ptp(across) + 1, 4)
    letters = max(max(map(len, text.split("\n"))) for text in texts)
    size = max(6.4, (0.09 * letters + 0.5) * widest), max(3.0, 0.9 * (levels.max() + 1) + 0.8)
    ax = canvas(ax, size=size)
    boxes = []
    for number, text in enumerate(texts):
        kind = KINDS[kinds[number]]
        box = {"boxstyle": f"{kind.box},pad=0.5", "facecolor": kind.colour, "edgecolor": EDGE}
        boxes.append(
            ax.text(
                across[number],
                levels[number],
                text,
                color="black",
                ha="center",
                va="center",
                size="small",
                zorder=3,
                bbox=box | {"linestyle": kind.line, "linewidth": 1.2},
            )
        )
    ax.set(xlim=(-widest / 2, widest / 2), ylim=(-0.6, levels.max() + 0.6))
    ax.set_axis_off()
    for upper, lower in edges.T.tolist():
        far = levels[upper] - levels[lower] > 1
        ax.annotate(
            "",
            (across[lower], levels[lower]),
            (across[upper], levels[upper]),
            arrowprops={
                "arrowstyle": "-|>",
                "color": "#999999",
                "patchA": boxes[upper].get_bbox_patch(),
                "patchB": boxes[lower].get_bbox_patch(),
                "connectionstyle": "arc3,rad=0.25" if far else "arc3",
            },
        )
    _legend(ax, kinds, hatched=False, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2)
    ax.set_title(_title(model))
    return ax


def _edges(model: Model) -> Integers:
    """Return the edges between components, each pair once; (2, n)."""
    structure = model.structure
    counts = np.diff(structure.transition_offsets)
    sources = structure.component[np.repeat(structure.owners, counts)].astype(np.int64)
    targets = structure.component[structure.successors].astype(np.int64)
    pairs = np.stack([sources, targets])[:, sources != targets]
    found: Integers = np.unique(pairs, axis=1)
    return found


def _across(model: Model, edges: Integers) -> NDArray[np.float64]:
    """Return the place of each component: near the middle of its successors."""
    levels = model.structure.levels
    across = np.zeros(len(levels))
    for level in range(model.structure.num_levels):
        members = np.flatnonzero(levels == level)
        means = []
        for member in members:
            following = edges[1][edges[0] == member]
            means.append(across[following].mean() if len(following) else 0.0)
        order = members[np.argsort(means, kind="stable")]
        across[order] = np.arange(len(order)) - (len(order) - 1) / 2
    return across


def _texts(model: Model) -> list[str]:
    """Return the names of the states of each component, or their number."""
    structure = model.structure
    found = []
    for number in range(structure.num_components):
        first, last = structure.component_offsets[number : number + 2].tolist()
        if last - first > MOST_NAMED:
            found.append(f"{last - first:,} states")
            continue
        states = sorted(structure.order[first:last].tolist())
        names = [short(in_words(model.state(state))) for state in states]
        glue = ", " if all(name.isalnum() for name in names) else "\n"
        found.append(glue.join(names))
    return found
