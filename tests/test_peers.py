"""The programs that gamedp is timed against give right answers themselves."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from figures import BY_NAME
from wubbel_reference import winning_probabilities

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
COMPILER = shutil.which("cc")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler to build peers")


@pytest.fixture(scope="module")
def wubbel(tmp_path_factory):
    """Return a function that runs the peer and returns what it printed and its table."""
    folder = tmp_path_factory.mktemp("peers")
    program = folder / "wubbel"
    build = [COMPILER, "-O3", "-Wall", "-Wextra", "-Werror", "-o", program, PEERS / "wubbel.c"]
    subprocess.run(build, check=True)

    def run(goal, change):
        table = folder / "table"
        command = [program, str(goal), str(change), table]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return json.loads(printed), np.fromfile(table).reshape(goal, goal, goal)

    run.program = program
    return run


def largest_error(table, goal):
    values = winning_probabilities(goal)
    return max(abs(table[position] - value) for position, value in values.items())


def test_the_article_s_precision(wubbel):
    figure = BY_NAME["wubbel.article_code"].value
    printed, table = wubbel(50, figure["change"])
    assert printed["value"] == table[0, 0, 0]
    assert printed["value"] == pytest.approx(figure["P000"], abs=1e-8)
    assert printed["sweeps"] == pytest.approx(figure["sweeps"], rel=1e-3)
    assert largest_error(table, 50) == pytest.approx(figure["largest error"], rel=0.1)


def test_a_higher_precision(wubbel):
    printed, table = wubbel(50, 1e-14)
    assert printed["value"] == pytest.approx(BY_NAME["wubbel.P000"].value, abs=3e-13)
    assert largest_error(table, 50) < 3e-13


@pytest.mark.parametrize("goal", [1, 2, 7, 16, 23])
def test_other_goals(wubbel, goal):
    printed, table = wubbel(goal, 1e-13)
    assert printed["goal"] == goal
    assert largest_error(table, goal) < 3e-12
    own, _, turn = np.indices(table.shape)
    assert (table[own + turn >= goal] == 1).all()


@pytest.mark.parametrize("arguments", [[], ["50"], ["0", "1e-8"], ["50", "1e-16"], ["50", "nan"]])
def test_arguments_that_make_no_sense(wubbel, arguments):
    outcome = subprocess.run(
        [wubbel.program, *arguments], check=False, capture_output=True, text=True
    )
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("usage: ")
