"""Draw the picture of the front page and the README: when to save in Wubbel.

``python docs/draw_wubbel.py`` solves the game and writes ``docs/_static/wubbel-light.png`` and
``docs/_static/wubbel-dark.png``, for pages with a light and with a dark background.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.colors import Normalize

import gamedp
from gamedp.games.wubbel import SAVE, Wubbel

FOLDER = Path(__file__).parent / "_static"
INKS = {"light": "#24292f", "dark": "#d1d7de"}
CHANCES = Normalize(0.2, 1)  # winning probabilities, as colours


def draw(solution: gamedp.Solution, ink: str, file: Path) -> None:
    """Write the picture, its letters and lines in one colour on a transparent background."""
    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    with plt.rc_context(dict.fromkeys(inked, ink)):
        figure = plt.figure(figsize=(10, 4.4), layout="constrained")
        panel, space = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
        gamedp.pictures.plot_values(
            solution, "opponent", "turn", where={"own": 0}, action=SAVE, norm=CHANCES, ax=panel
        )
        panel.set(
            title="with no points of your own",
            xlabel="opponent's points",
            ylabel="points of the turn",
            ylim=(0, 50),
        )
        panel.text(10, 33, "save", size="large", color="white", weight="bold")
        panel.text(10, 8, "roll", size="large", weight="bold")
        panel.text(38, 40, "roll", size="large", weight="bold")
        panel.annotate(
            "against 24, save 16 or 17,\nbut roll with 18, 19 or 20",
            *((25, 16.8), (25, 5)),
            arrowprops={"arrowstyle": "->", "color": ink},
        )
        gamedp.pictures.plot_surface(
            *(solution, "own", "opponent", "turn"),
            action=SAVE,
            told_apart=False,
            norm=CHANCES,
            ax=space,
        )
        space.set(xlabel="your points", ylabel="opponent's points", zlabel="points of the turn")
        space.set(title="all positions in which to save", xlim=(0, 30), ylim=(0, 40), zlim=(0, 50))
        space.set_box_aspect((3, 4, 4), zoom=0.9)
        label = "winning probability"
        figure.colorbar(panel.collections[0], ax=[panel, space], label=label, shrink=0.8)
        figure.savefig(file, dpi=120, transparent=True, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    found = gamedp.solve(Wubbel(50), tolerance=1e-10)
    for theme, colour in INKS.items():
        draw(found, colour, FOLDER / f"wubbel-{theme}.png")
