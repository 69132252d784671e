"""Draw the picture of the front page and the README: when to save in Wubbel.

``python docs/draw_wubbel.py`` solves the game and writes ``docs/_static/wubbel-light.png`` and
``docs/_static/wubbel-dark.png``, for pages with a light and with a dark background.
"""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import NDArray

import gamedp
from gamedp.games.wubbel import SAVE, Wubbel

FOLDER = Path(__file__).parent / "_static"
INKS = {"light": "#24292f", "dark": "#d1d7de"}
GOAL = 50
CHANCES = Normalize(0.2, 1)  # winning probabilities, as colours
SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def decisions() -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return where saving is best, and the winning probability, by own, opponent's, turn's points.

    Returns
    -------
    tuple of (50, 50, 51) arrays
    """
    solution = gamedp.solve(Wubbel(GOAL), tolerance=1e-10)
    columns = solution.to_columns()
    place = columns["own"], columns["opponent"], columns["turn"]
    saves = np.zeros((GOAL, GOAL, GOAL + 1), bool)
    saves[place] = columns["action"].filled(1 - SAVE) == SAVE
    winning = np.full(saves.shape, np.nan)
    winning[place] = solution.values
    return saves, winning


def draw_slice(panel: Any, ink: str, saves: NDArray[np.bool_], winning: NDArray[np.float64]) -> Any:
    """Draw the decisions of a player who has no safe points; return what the colours belong to."""
    shown = panel.pcolormesh(np.where(saves[0], winning[0], np.nan).T, norm=CHANCES)
    panel.set(
        title="with no points of your own",
        xlabel="opponent's points",
        ylabel="points of the turn",
        ylim=(0, GOAL),
    )
    panel.text(10, 33, "save", size="large", color="white", weight="bold")
    panel.text(10, 8, "roll", size="large", weight="bold")
    panel.text(38, 40, "roll", size="large", weight="bold")
    panel.annotate(
        "against 24, save 16 or 17,\nbut roll with 18, 19 or 20",
        *((25, 16.8), (27, 5)),
        arrowprops={"arrowstyle": "->", "color": ink},
    )
    return shown


def draw_body(space: Any, saves: NDArray[np.bool_], winning: NDArray[np.float64]) -> None:
    """Draw the body of all positions in which to save, seen from the opponent's side."""
    faces, chances = [], []
    for axis in range(3):
        for cell in np.argwhere(np.diff(saves, axis=axis)):  # a save on one side, a roll beyond
            face = np.tile(cell.astype(float), (4, 1))
            face[:, axis] += 0.5
            face[:, np.arange(3) != axis] += SQUARE
            faces.append(face)
            chances.append(winning[tuple(cell)])
    colours = plt.get_cmap()(CHANCES(chances))
    space.add_collection3d(
        Poly3DCollection(faces, facecolor=colours, edgecolor="#0003", linewidth=0.2)
    )
    tens = range(0, 60, 10)
    space.set(xticks=tens[:4], yticks=tens[:5], zticks=tens)
    space.set(xlabel="your points", ylabel="opponent's points", zlabel="points of the turn")
    space.set(title="all positions in which to save")
    space.view_init(18, -140)
    space.set_box_aspect((3, 4, 4), zoom=0.9)  # room for the labels
    for axis in (space.xaxis, space.yaxis, space.zaxis):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.08))


def draw(ink: str, file: Path, saves: NDArray[np.bool_], winning: NDArray[np.float64]) -> None:
    """Write the picture, its letters and lines in one colour on a transparent background."""
    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    style = dict.fromkeys(inked, ink)
    with plt.rc_context(style):
        figure = plt.figure(figsize=(10, 4.4), layout="constrained")
        panel, space = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
        shown = draw_slice(panel, ink, saves, winning)
        draw_body(space, saves, winning)
        figure.colorbar(shown, ax=[panel, space], label="winning probability", shrink=0.8)
        figure.savefig(file, dpi=120, transparent=True, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    found = decisions()
    for theme, ink in INKS.items():
        draw(ink, FOLDER / f"wubbel-{theme}.png", *found)
