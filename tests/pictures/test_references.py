"""Every picture has on it what it had when somebody last looked at it."""

import itertools
import json

import numpy as np
import pytest

plt = pytest.importorskip("matplotlib.pyplot")

from all_pictures import PICTURES, REFERENCES, sketch, small_image  # noqa: E402 - needs matplotlib

import gamedp  # noqa: E402

KNOWN = json.loads(REFERENCES.read_text())


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def agree(found, expected):
    """Compare what is on two pictures: words to the letter, numbers nearly."""
    assert type(found) is type(expected)
    if isinstance(found, dict):
        assert found.keys() == expected.keys()
        for name, part in found.items():
            agree(part, expected[name])
    elif isinstance(found, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agree(one, other)
    elif isinstance(found, float):
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)
    else:
        assert found == expected


def all_is_inside_and_apart(figure):
    """Nothing is cut off, and the words at the ticks do not overlap."""
    figure.canvas.draw()
    needed, there = figure.get_tightbbox(), figure.bbox_inches
    assert needed.x0 > there.x0 - 0.02
    assert needed.y0 > there.y0 - 0.02
    assert needed.x1 < there.x1 + 0.02
    assert needed.y1 < there.y1 + 0.02
    for ax in figure.axes:
        if not ax.axison or hasattr(ax, "get_zlabel"):
            continue
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            labels = [
                label.get_window_extent()
                for tick in axis.get_major_ticks()
                for label in (tick.label1, tick.label2)
                if low <= tick.get_loc() <= high and label.get_visible() and label.get_text()
            ]
            for one, other in itertools.pairwise(labels):
                assert not one.overlaps(other)


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was_and_nothing_is_cut_off(name):
    figure = PICTURES[name]().figure
    all_is_inside_and_apart(figure)
    *axes, image = sketch(figure)
    *known, known_image = KNOWN[name]
    agree(json.loads(json.dumps(axes)), known)
    differences = np.abs(small_image(image) - small_image(known_image))
    assert differences.mean() < 4  # of 255
    assert (differences > 64).mean() < 0.02


def test_every_picture_has_an_example():
    drawn = {name for name in gamedp.pictures.__all__ if name != "plot"}
    used = {constant for draw in PICTURES.values() for constant in draw.__code__.co_names}
    assert drawn <= used
    assert KNOWN.keys() == PICTURES.keys()
