"""A small example of every picture, made from small games, and what is on it.

``python tests/helpers/all_pictures.py`` writes what is on them down again, for comparison.
"""

import functools
import io
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.stats
from matplotlib.text import Text

import gamedp
from gamedp import pictures
from gamedp.games.kniffel import Kniffel
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import SAVE, Hold, Wubbel
from gamedp.testing.models import random_model


@functools.cache
def pig():
    return gamedp.solve(Wubbel(20, faces=4, busts=(2,)), compile="never")


@functools.cache
def matches():
    return gamedp.solve(Matches(18), compile="never")


@functools.cache
def hold():
    return gamedp.Policy.from_function(pig().model, Hold(7).choose, name="hold at 7")


@functools.cache
def kniffel():
    return gamedp.solve(Kniffel(dice=2, faces=2, throws=1), compile="never")


@functools.cache
def table(most):
    small = gamedp.solve(Wubbel(8, faces=4, busts=(2,)), compile="never")
    policies = {f"hold={k}": Hold(k) for k in range(1, most)} | {"best": small}
    return gamedp.cross_table(small.model, policies)


@functools.cache
def games():
    game = Matches(9)
    players = {
        "perfect": gamedp.searchers.AlphaBeta(),
        "two plies": gamedp.play.LevelPlayer(2),
        "random": gamedp.play.RandomPlayer(game),
    }
    return gamedp.play.tournament(game, players, games=40, seed=1, compile="never")


@functools.cache
def throws():
    """Forty games of perfect play against random play, the longest of them cut off."""
    game = Wubbel(12, faces=4, busts=(2,))
    players = gamedp.solve(game, compile="never"), gamedp.play.RandomPlayer(game)
    return gamedp.play.match(game, *players, games=40, seed=1, max_plies=22)


@functools.cache
def three():
    game = Mancala(players=3, pits=2, stones=2)
    players = {f"{depth} plies": gamedp.play.LevelPlayer(depth) for depth in (1, 2)}
    players |= {"random": gamedp.play.RandomPlayer(game)}
    players |= {"first pit": lambda state, _rng: min(game.actions(state))}
    return gamedp.play.tournament(game, players, games=24, seed=1, opening=2, compile="never")


def board(state):
    """Write a position of Mancala in two lines."""
    (first, second), kalahs, _ = Mancala(pits=2, stones=2).board(state)
    return f"{kalahs[1]} | {second[1]} {second[0]}\n    {first[0]} {first[1]} | {kalahs[0]}"


class Ways:
    """Three by three cells; one in a corner is the end, and a step goes astray now and then."""

    def initial_state(self):
        return 0, 0

    def is_terminal(self, state):
        return state == (2, 2)

    def actions(self, state):
        return range(4)

    def after(self, state, action):
        down, right = ((0, 1), (1, 0), (0, -1), (-1, 0))[action % 4]
        return min(max(state[0] + down, 0), 2), min(max(state[1] + right, 0), 2)

    def outcomes(self, state, action):
        return [(0.75, self.after(state, action)), (0.25, self.after(state, action + 1))]

    def reward(self, state, action, player):
        return -1.0

    def payoff(self, state, player):
        return 0.0


@functools.cache
def ways():
    return gamedp.solve(Ways(), compile="never")


def points():
    """Of forty throws of a coin, ten points each."""
    heads = np.arange(41)
    chances = scipy.stats.binom.pmf(heads, 40, 0.6)
    return gamedp.stages.Distribution(10 * heads, chances)


def wheel():
    """A model with all kinds of components: 2 and 3 may go on for ever, 1 and 4 take turns."""
    return gamedp.Model.from_arrays(
        [0, 2, 3, 5, 6, 7, 7],
        [0, 1, 2, 3, 4, 5, 6, 8],
        [1, 2, 4, 3, 5, 2, 1, 5],
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5],
        payoffs=[1.0],
    )


def trace(kind):
    make = getattr(gamedp.policies, f"trace_{kind}")
    options = {"sweeps": 120} if kind == "sweeps" else {}
    return make(random_model(3), gamedp.Discounted(0.9), **options)


def lengths():
    """How long games of the best last, games of one who holds at 7, and the longest."""
    model = pig().model
    given = [gamedp.evaluate(model, [one, one]).survival(60) for one in (pig(), hold())]
    return [*given, gamedp.policies.greatest_survival(model, 60)]


def compared():
    rows = (
        gamedp.comparison.Measurement(
            problem="pig", method=method, kind="solver", status="SOLVED", guarantee="TWO_SIDED",
            value=0.5, lower=0.5, upper=0.5, warm_seconds=(seconds, 1.5 * seconds, 3 * seconds),
        )
        for method, seconds in (("value-iteration", 0.02), ("policy-iteration", 0.3))
    )  # fmt: skip
    return gamedp.comparison.Comparison(tuple(rows), 1e-6)


PICTURES = {
    "comparison": lambda: pictures.plot_comparison(compared()),
    "values": lambda: pictures.plot_values(pig(), "opponent", "turn", where={"own": 0}),
    "values where": lambda: pictures.plot_values(
        pig(), "opponent", "turn", where={"own": 0}, action=SAVE
    ),
    "values line": lambda: pictures.plot_values(
        gamedp.solve(Wubbel(12, faces=2, busts=(2,)), tolerance=0.1, compile="never"),
        *("turn",),
        where={"own": 0, "opponent": 5},
    ),
    "policy": lambda: pictures.plot_policy(pig(), "opponent", "turn", where={"own": 0}),
    "policy of hold": lambda: pictures.plot_policy(hold(), "opponent", "turn", where={"own": 0}),
    "policy line": lambda: pictures.plot_policy(matches(), "left", where={"player": 0}),
    "arrows": lambda: pictures.plot_policy(ways(), "[1]", "[0]", arrows=True),
    "board": lambda: pictures.plot_board(gamedp.solve(Mancala(pits=3, stones=2), compile="never")),
    "surface": lambda: pictures.plot_surface(pig(), "own", "opponent", "turn", action=SAVE),
    "tree": lambda: pictures.plot_tree(Matches(5), depth=5),
    "tree of boards": lambda: pictures.plot_tree(Mancala(pits=2, stones=2), depth=3, text=board),
    "tree with chance": lambda: pictures.plot_tree(
        gamedp.solve(Wubbel(4, faces=3, busts=(3,)), compile="never"), depth=2
    ),
    "cross table": lambda: pictures.plot_cross_table(table(5)),
    "large cross table": lambda: pictures.plot_cross_table(table(12), "first"),
    "sweeps": lambda: pictures.plot_trace(trace("sweeps")),
    "sweeps of two": lambda: pictures.plot_trace(
        trace("sweeps"), label="one", ax=pictures.plot_trace(trace("sweeps"), label="other")
    ),
    "bounds by sweep": lambda: pictures.plot_trace(trace("sweeps"), state=0),
    "improvements": lambda: pictures.plot_trace(trace("improvements")),
    "components": lambda: pictures.plot_components(wheel()),
    "components of a game": lambda: pictures.plot_components(
        gamedp.compile(Matches(5), compile="never")
    ),
    "levels": lambda: pictures.plot_components(pig().model),
    "actions": lambda: pictures.plot_actions(pig(), pig().model.state(5)),
    "actions of a search": lambda: pictures.plot_actions(
        gamedp.search(Mancala(pits=4, stones=3), depth=4, compile="never")
    ),
    "ratings": lambda: pictures.plot_ratings(games()),
    "table of games": lambda: pictures.plot_cross_table(games()),
    "results": lambda: pictures.plot_results(throws()),
    "results of a pairing": lambda: pictures.plot_results(games().pairings[1]),
    "results of three": lambda: pictures.plot_results(three()),
    "gains": lambda: pictures.plot_gains(gamedp.exploitability(pig().model, [hold(), pig()])),
    "survival": lambda: pictures.plot_survival(*lengths()),
    "survival of one": lambda: pictures.plot_survival(
        gamedp.policies.greatest_survival(pig().model, 60)
    ),
    "payoffs": lambda: pictures.plot_distribution(gamedp.evaluate(pig().model, [hold(), pig()])),
    "games": lambda: pictures.plot_distribution(
        gamedp.simulate(pig().model, [hold(), pig()], games=1000, seed=7)
    ),
    "totals": lambda: pictures.plot_distribution(points()),
    "stages": lambda: pictures.plot_stages(kniffel()),
    "contexts": lambda: pictures.plot_values(kniffel(), "upper", where={"boxes": 0, "bonus": 0}),
}
"""What draws each of them, by name."""


REFERENCES = Path(__file__).parents[1] / "pictures" / "references.json"
SMALL = (16, 12)
"""Points of a small image."""


def sketch(figure):
    """What is on a picture: words, and numbers that do not depend on fonts."""
    figure.canvas.draw()
    return [_axes(ax) for ax in figure.axes] + [_small_image(figure)]


def _axes(ax):
    legend = ax.get_legend()
    lines = [np.ma.filled(np.ma.masked_invalid(line.get_xydata()), -99.0) for line in ax.lines]
    ticks = [axis.get_major_formatter() for axis in (ax.xaxis, ax.yaxis)]
    return {
        "title": ax.get_title(),
        "labels": [ax.get_xlabel(), ax.get_ylabel(), getattr(ax, "get_zlabel", str)()],
        "ticks": [list(getattr(one, "seq", [])) for one in ticks],
        "limits": [*_rounded(ax.get_xlim()), *_rounded(ax.get_ylim())],
        "scales": [ax.get_xscale(), ax.get_yscale()],
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "texts": [text.get_text() for text in ax.texts if text.get_text()],
        "lines": [_numbers(line) for line in lines],
        "patches": [_numbers(patch.get_path().vertices) for patch in ax.patches],
        "collections": [_numbers(one.get_array()) for one in ax.collections],
        "images": [_numbers(one.get_array()) for one in ax.images],
    }


def _rounded(numbers):
    return [float(f"{number:.6g}") for number in numbers]


def _numbers(array):
    """How many numbers there are, and their least, mean and largest."""
    if array is None:
        return []
    there = np.ma.masked_invalid(array).compressed()
    found = [there.min(), there.mean(), there.max()] if len(there) else []
    return [len(there), *_rounded(found)]


def _small_image(figure):
    """A picture without letters and axes, in a few points, as colours."""
    for text in figure.findobj(Text):
        text.set_visible(False)
    figure.set_layout_engine("none")
    count = len(figure.axes)
    for place, ax in enumerate(figure.axes):
        ax.set_axis_off()
        if ax.get_legend():
            ax.get_legend().remove()
        ax.set_position([place / count, 0, 1 / count, 1])
    figure.set_size_inches(6.4, 4.8)
    file = io.BytesIO()
    figure.savefig(file, format="rgba", dpi=50, facecolor="white")
    points = np.frombuffer(file.getvalue(), np.uint8).reshape(240, 320, 4)[:, :, :3]
    wide, high = SMALL
    blocks = points.reshape(high, 240 // high, wide, 320 // wide, 3).mean(axis=(1, 3))
    return [row.tobytes().hex() for row in blocks.round().astype(np.uint8)]


def small_image(found):
    """The colours of a small image."""
    return np.array([list(bytes.fromhex(row)) for row in found], float)


if __name__ == "__main__":
    plt.switch_backend("Agg")
    found = {}
    for name, draw in PICTURES.items():
        found[name] = sketch(draw().figure)
        plt.close("all")
    lines = (f"{json.dumps(name)}: {json.dumps(parts)}" for name, parts in found.items())
    REFERENCES.write_text("{\n" + ",\n".join(lines) + "\n}\n")
