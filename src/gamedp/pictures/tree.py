"""A picture of the tree of a small game, with values and best actions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, warn
from gamedp.pictures.canvas import canvas, in_words, literal, short, what_values_are
from gamedp.results.solution import Solution
from gamedp.rules.expand import checked_action
from gamedp.runtime.options import checked_whole
from gamedp.verbs.solving import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from matplotlib.axes import Axes

    from gamedp.rules.game import Rules


MOST_NODES = 400
"""Largest number of nodes: more than can be read."""

MOST_LEAVES = 40
"""Largest number of leaves side by side."""

MOST_DENOMINATOR = 100
CHANCE, OVER = -2, -1
PAPERS = ("#BBDDF2", "#FBE0A6", "#BFE6D8", "#F3D3E3", "#F6C9AD", "#FAF6B8")
"""Light colours of players' boxes, on which black letters are readable."""
BOXES = ("round", "square", "round4", "sawtooth", "roundtooth", "larrow")
LINES = ("-", "--", "-.")
"""Edges that distinguish players in grey print, too."""

THIN, THICK = "#999999", "#D55E00"


@attrs.define
class _Node:
    """A position or a chance node, and its place.

    Attributes
    ----------
    state : object
        None for chance.
    mover : int
        A player, CHANCE or OVER.
    text : str
    level : float
        The number of actions below the root.
    is_board : bool
        Whether the state takes several lines.
    branches : list of (str, bool, _Node)
        The branches: in words, whether each is best, and its node.
    is_cut : bool
        Whether branches are left out.
    across : float
    """

    state: Any
    mover: int
    text: str
    level: float
    is_board: bool = False
    branches: list[tuple[str, bool, _Node]] = attrs.field(factory=list)
    is_cut: bool = False
    across: float = 0.0


def plot_tree(
    game: Any,
    state: Hashable | None = None,
    depth: int = 3,
    *,
    text: Callable[[Any], str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the tree of a small game from a state, with values, and best actions as thick lines.

    Several actions may be best. Values are player 0's; with three or more players, each has one. A
    position at which the picture ends, but not the game, has dots below its value. If a tree has
    more than forty leaves, only the first forty are drawn, with a warning, and dots for the rest.

    Parameters
    ----------
    game : game, Model or Solution
        A game or a model is solved first.
    state : optional
        The root; the start if not given.
    depth : int
        The number of actions from the root.
    text : callable, optional
        Returns the text for a state, perhaps of several lines; if not given, its fields except
        ``player``.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure, as large as the tree needs, if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidParameterError
        If the tree has more than 400 nodes, or `depth` is not a number of actions.
    UnknownStateError
        If there is no such state.
    UnsupportedProblemError
        If the model has no rules, or the best action depends on the remaining steps.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=4), compile="never")
    >>> ax = gamedp.pictures.plot_tree(solution, depth=1)
    >>> [box.get_text() for box in ax.texts if box.get_bbox_patch()]
    ['4\n1', '3\n-1\n…', '2\n-1\n…', '1\n1\n…']
    """
    solution = game if isinstance(game, Solution) else solve(game)
    rules = solution.model.rules
    if rules is None or solution.counts_steps:
        message = (
            "a tree needs the rules of the game: this model is made of arrays."
            if rules is None
            else "the best action depends on the steps that are left, which a tree does not show."
        )
        raise UnsupportedProblemError(message)
    levels = checked_whole("depth", depth, 0)
    start = solution.initial_state() if state is None else solution.model.own_state(state)
    nodes: list[_Node] = []
    root = _grow(solution, rules, start, levels, text or in_words, nodes)
    leaves = _place(nodes)
    if any(node.is_cut for node in nodes):
        message = f"the tree has more leaves than the {leaves} drawn; draw fewer actions (depth)."
        warn(message, RuntimeWarning)
    rows = max(node.level for node in nodes) + 1
    ax = canvas(ax, size=_size(nodes, leaves, rows))
    _draw(ax, nodes)
    ax.set(xlim=(-0.6, leaves - 0.4), ylim=(-rows + 0.5, 0.5))
    ax.set_axis_off()
    whose = what_values_are(solution) if solution.values.ndim == 1 else "values of the players"
    ax.set_title(f"below each position: {whose}")
    _explain(ax, {node.mover for node in nodes}, any(best for _, best, _ in root.branches))
    return ax


def _size(nodes: list[_Node], leaves: int, rows: float) -> tuple[float, float]:
    """Return the size of a figure, in inches, whose boxes do not overlap."""
    lines = [node.text.split("\n") for node in nodes]
    letters = max(len(line) for text in lines for line in text)
    height = max(1.4, 0.18 * max(map(len, lines)) + 0.8)
    return max(7.0, max(0.8, 0.1 * letters + 0.3) * leaves), height * rows + 0.6


def _grow(
    solution: Solution,
    rules: Rules,
    start: Any,
    depth: int,
    text: Callable[[Any], str],
    nodes: list[_Node],
) -> _Node:
    """Return the root of the tree; list all nodes in depth-first order."""
    leaves = 0

    def node_of(state: Any, level: int) -> _Node:
        nonlocal leaves
        over = rules.game.is_terminal(state)
        leaves += over or level == depth
        dots = "" if over or level < depth else "\n…"
        said = text(state)
        said = literal(said) if "\n" in said else short(said)
        node = _Node(
            state,
            OVER if over else rules.player(state),
            f"{said}\n{_value(solution, state)}{dots}",
            float(level),
            "\n" in said,
        )
        _add_node(nodes, node)
        if not over and level < depth:
            best = solution.best_actions(state)
            for action in rules.game.actions(state):
                if leaves >= MOST_LEAVES:
                    node.is_cut = True
                    node.text += "\n…"
                    break
                own = checked_action(state, action)
                following = follow(state, own, level)
                name = literal(rules.action_name(state, own))
                node.branches.append((name, own in best, following))
        return node

    def follow(state: Any, action: Any, level: int) -> _Node:
        outcomes = [pair for pair in rules.game.outcomes(state, action) if pair[0] > 0]
        if len(outcomes) == 1:
            return node_of(outcomes[0][1], level + 1)
        chance = _Node(None, CHANCE, "", level + 0.5)
        _add_node(nodes, chance)
        for probability, outcome, *_ in outcomes:
            if leaves >= MOST_LEAVES:
                chance.is_cut = True
                break
            branch = _chance(probability), False, node_of(outcome, level + 1)
            chance.branches.append(branch)
        return chance

    return node_of(start, 0)


def _chance(probability: float) -> str:
    """Return a probability as a fraction if it is a simple one."""
    fraction = Fraction(probability).limit_denominator(MOST_DENOMINATOR)
    return str(fraction) if abs(fraction - probability) < 1e-12 else f"{probability:.3g}"


def _add_node(nodes: list[_Node], node: _Node) -> None:
    """Add a node, unless there are too many."""
    if len(nodes) == MOST_NODES:
        message = f"the tree has more than {MOST_NODES} nodes; draw fewer actions (depth)."
        raise InvalidParameterError(message)
    nodes.append(node)


def _value(solution: Solution, state: Any) -> str:
    """Return the value of a state, for each player if there are three or more."""
    players = range(solution.model.num_players if solution.values.ndim > 1 else 1)
    return ", ".join(f"{solution.value(state, player) + 0.0:.3g}" for player in players)


def _place(nodes: list[_Node]) -> int:
    """Place leaves side by side, other nodes above the middle of their children; count leaves."""
    leaves = 0
    for node in nodes:
        if not node.branches:
            node.across = float(leaves)
            leaves += 1
    for node in reversed(nodes):  # those below stand after it
        if node.branches:
            below = [following.across for _, _, following in node.branches]
            node.across = (below[0] + below[-1]) / 2
    return leaves


def _draw(ax: Axes, nodes: list[_Node]) -> None:
    """Draw lines with their words, then the boxes above them."""
    for node in nodes:
        for name, best, following in node.branches:
            ends = (node.across, following.across), (-node.level, -following.level)
            ax.plot(
                *ends,
                color=THICK if best else THIN,
                linewidth=3 if best else 1,
                zorder=2 if best else 1,
            )
            leans, drop = following.across - node.across, node.level - following.level
            part = 0.6 if drop == -1 else 0.4  # where lines are apart, and boxes far
            # Above a slanted line, to the side of an upright one: the line runs through no letter.
            ax.annotate(
                name,
                (node.across + part * leans, -node.level + part * drop),
                xytext=(-4 if leans < 0 else 4, 0),
                textcoords="offset points",
                ha="right" if leans < 0 else "left",
                va="bottom" if leans else "center",
                size="small",
            )
    for node in nodes:
        if node.mover == CHANCE:
            ax.plot(node.across, -node.level, "D", color=THIN, markersize=6, zorder=3)
        else:
            paper, box, line = _look(node.mover)
            ax.text(
                node.across,
                -node.level,
                node.text,
                color="black",
                ha="center",
                va="center",
                size="small",
                family="monospace" if node.is_board else None,
                multialignment="left" if node.is_board else "center",
                zorder=4,
                bbox={
                    "boxstyle": box,
                    "facecolor": paper,
                    "edgecolor": "#666666",
                    "linestyle": line,
                },
            )


def _look(mover: int) -> tuple[str, str, Any]:
    """Return the colour, the form and the edge of a position's box."""
    if mover == OVER:
        return "#E6E6E6", "square", ":"
    form = f"{BOXES[mover % len(BOXES)]},pad=0.4"
    return PAPERS[mover % len(PAPERS)], form, LINES[mover % len(LINES)]


def _explain(ax: Axes, movers: set[int], has_best: bool) -> None:
    """Draw the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for mover in sorted(movers - {CHANCE}, key=lambda mover: (mover < 0, mover)):
        name = "game over" if mover == OVER else f"player {mover} to move"
        paper, _, line = _look(mover)
        handles.append(Patch(facecolor=paper, edgecolor="#666666", linestyle=line, label=name))
    if CHANCE in movers:
        handles.append(Line2D([], [], color=THIN, marker="D", linestyle="", label="chance"))
    if has_best:
        handles.append(Line2D([], [], color=THICK, linewidth=3, label="best action"))
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=len(handles),
        frameon=False,
        fontsize="small",
    )
