"""A picture of a position: the board, the heaps, the dice or the card that the game shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from gamedp.errors import UnsupportedProblemError
from gamedp.pictures.canvas import COLOURS, canvas, literal, short
from gamedp.results.search_result import SearchResult
from gamedp.results.solution import Solution
from gamedp.rules.game import Rules
from gamedp.views import Card, Dice, Grid, Heaps, Pits, Scores

if TYPE_CHECKING:
    from collections.abc import Hashable

    from matplotlib.axes import Axes

Spots: TypeAlias = Callable[[tuple[int, ...]], tuple[float, float]]
"""Where a part of a view is on the picture."""


INK, LINE, PAPER, WOOD = "#222222", "#666666", "#F7F3E8", "#E9D8B4"
"""Colours that are read on light pages and on dark ones, as the board has a ground of its own."""

INCHES_OF_CELL = 0.55
INCHES_OF_LETTER = 0.11
INCHES_OF_LINE = 0.25

LETTER_OF_CELL = 0.2
"""Width of a letter beside the board, in cells."""

MOST_STROKES = 60
"""Largest heap whose matches are drawn one by one."""


def plot_board(
    thing: Any, state: Hashable | None = None, *, best: bool = True, ax: Axes | None = None
) -> Axes:
    """Draw a position as the game shows it, by its ``view(state)``: as a board, heaps or dice.

    A game without a `view` is drawn in its own letters. For a solution or a search, rings mark
    the best actions where they are played, if the game says where.

    Parameters
    ----------
    thing : game, Model, Solution or SearchResult
    state : optional
        The position; the start, or that of the search, if not given.
    best : bool
        Whether to mark the best actions.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure, as large as the board needs, if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnsupportedProblemError
        If the model has no rules.
    UnknownStateError
        If there is no such state in a solution, or no position is named where the game starts in
        one of several.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.mancala import Mancala
    >>> ax = gamedp.pictures.plot_board(Mancala(pits=3, stones=4))
    >>> [text.get_text() for text in ax.texts]
    ['0', '0', '4', '4', '4', '4', '4', '4', 'second player', 'first player']
    """
    rules = _rules_of(thing)
    if state is None:
        state = _start(thing, rules)
    actions = _best(thing, state) if best else []
    view = rules.view(state)
    draw: Callable[..., Spots] = DRAWN.get(type(view), _draw_text)
    ax = canvas(ax, size=_size(view))
    spots = draw(ax, view)
    for action in actions:
        if action in view.spots:
            ax.plot(
                *spots(view.spots[action]),
                "o",
                markersize=26,
                markerfacecolor="none",
                markeredgecolor=COLOURS[3],
                markeredgewidth=3,
                zorder=5,
            )
    ax.set_axis_off()
    return ax


def _rules_of(thing: Any) -> Rules:
    """Return the rules of a game, or of what was found about it."""
    model = getattr(thing, "model", thing)
    rules = model.rules if hasattr(model, "rules") else Rules(thing)
    if not isinstance(rules, Rules):
        message = "a board needs the rules of a game: a model of arrays or stages has none."
        raise UnsupportedProblemError(message)
    return rules


def _start(thing: Any, rules: Rules) -> Any:
    """Return the position of a search, or the only one in which play begins."""
    if isinstance(thing, SearchResult):
        return thing.state
    return rules.only_start()


def _best(thing: Any, state: Any) -> list[int]:
    """Return the best actions, if they are known."""
    if isinstance(thing, SearchResult):
        return list(thing.best_actions) if state == thing.state else []
    return thing.best_actions(state) if isinstance(thing, Solution) else []


def _size(view: Any) -> tuple[float, float]:
    """Return the size of a figure in inches."""
    lines = str(view).split("\n")
    wide, high = max(map(len, lines)) * INCHES_OF_LETTER, len(lines) * INCHES_OF_LINE
    if isinstance(view, (Grid, Pits)):
        cells = max(map(len, view.rows), default=1) + (2.0 if isinstance(view, Pits) else 1.0)
        if isinstance(view, Pits) and len(view.rows) != 2:
            cells += LETTER_OF_CELL * max((len(short(name)) for name in view.names), default=0)
        wide, high = cells * INCHES_OF_CELL, (len(view.rows) + 1) * INCHES_OF_CELL
    elif isinstance(view, Dice):
        wide, high = len(view.faces) * INCHES_OF_CELL * 1.3, 1.3
    elif isinstance(view, (Heaps, Scores)):
        wide, high = 6.4, len(lines) * 0.45
    return min(max(wide + 0.6, 2.8), 14.0), min(max(high + 0.6, 1.4), 14.0)


def _draw_grid(ax: Axes, view: Grid) -> Spots:
    """Draw cells with their symbols, and the names of rows and columns."""
    from matplotlib.patches import Rectangle

    height, width = len(view.rows), max(map(len, view.rows), default=0)
    for row, cells in enumerate(view.rows):
        for column, number in enumerate(cells):
            ground = PAPER if (row + column) % 2 else WOOD
            corner = (column - 0.5, row - 0.5)
            ax.add_patch(Rectangle(corner, 1, 1, facecolor=ground, edgecolor=LINE))
            _write(ax, column, row, view.symbols[number].strip(), size="x-large")
    for row, name in enumerate(view.row_names):
        _write(ax, -0.9, row, name, colour=None)
    for column, name in enumerate(view.column_names):
        _write(ax, column, height - 0.1, name, colour=None)
    _fit(ax, (-1.2 if view.row_names else -0.6, width - 0.4), (-0.6, height - 0.4 + 0.6))
    return lambda place: (place[1], place[0])


def _draw_pits(ax: Axes, view: Pits) -> Spots:
    """Draw pits and stores with the number of their stones, and whose they are."""
    from matplotlib.patches import Circle

    height, width = len(view.rows), max(map(len, view.rows), default=0)
    two = height == 2
    low, high = (-1.5, width + 0.5) if two else (-0.6, width + 0.5)
    _add_box(ax, (low, -0.5), (high - low, height), pad=0.1, facecolor=WOOD)
    for row, store in enumerate(view.stores):
        across = -1 if two and row == 0 else width
        down = 0.5 if two else float(row)
        tall = 0.75 if two else 0.4
        _add_box(ax, (across - 0.2, down - tall + 0.2), (0.4, 2 * tall - 0.4), pad=0.2)
        _write(ax, across, down, str(store), size="large")
    for row, pits in enumerate(view.rows):
        for column, stones in enumerate(pits):
            ax.add_patch(Circle((column, row), 0.4, facecolor=PAPER, edgecolor=LINE))
            _write(ax, column, row, str(stones), size="large")
    for row, name in enumerate(view.names):
        down = (-0.9 if row == 0 else height - 0.1) if two else row
        middle = (width - 1) / 2 if two else -0.8
        _write(ax, middle, down, name, side="center" if two else "right", colour=None)
    room = (
        0.0 if two else LETTER_OF_CELL * max((len(short(name)) for name in view.names), default=0)
    )
    _fit(ax, (low - 0.2 - room, high + 0.2), (-1.2 if two else -0.8, height + 0.2))
    return lambda place: (place[1], place[0])


def _draw_heaps(ax: Axes, view: Heaps) -> Spots:
    """Draw a stroke for each match, heap below heap."""
    most = max(view.counts, default=0)
    for row, count in enumerate(view.counts):
        _write(ax, -0.03 * most - 1, row, str(row + 1), colour=None)
        if most > MOST_STROKES:
            ax.barh(row, count, left=-0.5, height=0.5, color=COLOURS[1])
        else:
            places = range(count)
            ax.vlines(places, row - 0.3, row + 0.3, color=COLOURS[1], linewidth=4)
            ax.plot(places, [row - 0.3] * count, "o", color=COLOURS[3], markersize=5)
        _write(ax, 1.05 * most + 0.5, row, str(count), colour=None)
    ax.set(xlim=(-0.04 * most - 1.5, 1.1 * most + 1), ylim=(len(view.counts) - 0.5, -0.6))
    # An action takes the last ones of a heap: the ring is around the first of them.
    return lambda place: (view.counts[place[0]] - place[1], place[0])


def _draw_dice(ax: Axes, view: Dice) -> Spots:
    """Draw dice; those that stay have a thick edge."""
    kept = view.kept or (False,) * len(view.faces)
    for place, (face, stays) in enumerate(zip(view.faces, kept, strict=True)):
        rim = {"edgecolor": COLOURS[0], "linewidth": 3} if stays else {"linewidth": 1}
        _add_box(ax, (place - 0.25, -0.25), (0.5, 0.5), pad=0.12, **rim)
        _write(ax, place, 0, str(face), size="x-large")
    _fit(ax, (-0.6, len(view.faces) - 0.4), (-0.6, 0.6))
    return lambda place: (place[0], 0)


def _draw_card(ax: Axes, view: Card) -> Spots:
    """Draw lines with their entries."""
    from matplotlib.patches import Rectangle

    columns = max(map(len, view.rows), default=1)
    for row, (name, *entries) in enumerate(view.rows):
        ground = PAPER if row % 2 else WOOD
        ax.add_patch(Rectangle((-0.1, row - 0.5), columns + 1.1, 1, facecolor=ground))
        _write(ax, 0, row, name, side="left")
        for place, entry in enumerate(entries):
            _write(ax, place + 2.5, row, "-" if entry is None else str(entry))
    ax.set(xlim=(-0.2, columns + 1.1), ylim=(len(view.rows) - 0.4, -0.6))
    return lambda place: (2.5, place[0])


def _draw_scores(ax: Axes, view: Scores) -> Spots:
    """Draw a bar for each player, up to the goal."""
    for row, (name, *parts) in enumerate(view.rows):
        _write(ax, -0.02 * view.most, row, name, side="right", colour=None)
        left = 0
        for number, part in enumerate(parts):
            colour = COLOURS[0] if number == 0 else COLOURS[4]
            ax.barh(row, part, left=left, color=colour, height=0.6)
            left += part
        words = " + ".join(map(str, parts))
        _write(ax, left + 0.02 * view.most, row, words, side="left", colour=None)
    ax.axvline(view.most, color=LINE, linestyle="--")
    _write(ax, view.most, len(view.rows) - 0.3, f"up to {view.most}", side="right", colour=None)
    longest = max((len(short(row[0])) for row in view.rows), default=0)
    most = max([view.most, *(sum(row[1:]) for row in view.rows)])
    ax.set(xlim=(-0.028 * longest * view.most, 1.2 * most), ylim=(len(view.rows), -0.6))
    return lambda place: (0, place[0])


def _draw_text(ax: Axes, view: Any) -> Spots:
    """Draw the position in the game's own letters."""
    ax.text(
        0.5,
        0.5,
        literal(str(view)),
        family="monospace",
        ha="center",
        va="center",
        multialignment="left",
        transform=ax.transAxes,
    )
    return lambda _: (0.5, 0.5)


DRAWN: dict[type, Callable[..., Any]] = {
    Grid: _draw_grid,
    Pits: _draw_pits,
    Heaps: _draw_heaps,
    Dice: _draw_dice,
    Card: _draw_card,
    Scores: _draw_scores,
}


def _add_box(
    ax: Axes, corner: tuple[float, float], size: tuple[float, float], *, pad: float, **look: Any
) -> None:
    """Draw a box with round corners."""
    from matplotlib.patches import FancyBboxPatch

    look = {"facecolor": PAPER, "edgecolor": LINE} | look
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=f"round,pad={pad}", **look))


def _fit(ax: Axes, across: tuple[float, float], down: tuple[float, float]) -> None:
    """Show a part of the plane, rows from the top, with cells as wide as high."""
    ax.set(xlim=across, ylim=(down[1], down[0]), aspect="equal")


def _write(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    *,
    side: str = "center",
    size: str = "medium",
    colour: str | None = INK,
) -> None:
    """Write a word; beside the board, in the colour of all letters."""
    from matplotlib import rcParams

    ax.text(
        x,
        y,
        short(text),
        ha=side,
        va="center",
        size=size,
        color=colour or rcParams["text.color"],
        zorder=4,
    )
