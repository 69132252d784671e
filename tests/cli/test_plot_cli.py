"""`gamedp plot` writes the pictures that `gamedp.pictures` draws."""

from pathlib import Path
from typing import get_args

import pytest

import gamedp
from gamedp.cli import plot as command
from gamedp.games.matches import Matches

plt = pytest.importorskip("matplotlib.pyplot")

SMALL = ("--set", "goal=6,faces=3,busts=2", "--compile", "never")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


def drawn(path):
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--kind", "values", "--fields", "own,opponent", "--where", "turn=0"),
        ("--kind", "values", "--fields", "own", "--where", "turn=0,opponent=0", "--player", "1"),
        ("--kind", "values", "--fields", "own,turn", "--where", "opponent=0", "--action", "0"),
        ("--kind", "policy", "--fields", "own,opponent", "--where", "turn=1"),
        ("--kind", "policy", "--fields", "own,opponent", "--where", "turn=1", "--arrows"),
        ("--kind", "surface", "--fields", "own,opponent,turn", "--action", "0"),
        ("--kind", "actions", "--state", "turn=1", "--player", "1"),
        ("--kind", "tree", "--depth", "1", "--state", "turn=1"),
        ("--kind", "board", "--state", "turn=1"),
        ("--kind", "components"),
        ("--kind", "payoffs", "--player", "0"),
        ("--kind", "survival", "--steps", "20"),
    ],
)
def test_each_kind_is_drawn(run, options):
    kind = options[1] if options else ""
    code, out, err = run("plot", "wubbel", *SMALL, *options)
    path = Path(f"wubbel-{kind}.png" if kind else "wubbel.png")
    assert (code, err) == (0, "")
    assert out == f"picture in  {path}\n"
    assert drawn(path)


def test_every_kind_is_drawn_and_says_what_it_takes():
    assert set(command.KINDS) == set(get_args(command.Kind))


@pytest.mark.parametrize("kind", ["sweeps", "improvements"])
def test_methods_of_the_textbooks_and_a_model_in_a_file(run, run_json, kind):
    model = gamedp.Model.from_arrays(
        [0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1.0] * 3, rewards=[1.0, 0.0, 3.0]
    )
    gamedp.write_model("two.drn", model)
    options = ("--kind", kind, "--discount", "0.5", "--steps", "9", "--output", "two.svg")
    facts = run_json("plot", "two.drn", *options)
    assert facts == {"game": "two.drn", "kind": kind, "picture": "two.svg"}
    assert "<svg" in Path("two.svg").read_text()
    assert run("plot", "two.drn", *options, "--state", "1")[0] == 0


def test_a_saved_solution_shows_what_is_best(run):
    gamedp.save(gamedp.solve(Matches(6), compile="never"), "kept")
    code, out, err = run("plot", "kept", "--kind", "board", "--output", "board.pdf")
    assert (code, out, err) == (0, "picture in  board.pdf\n", "")
    assert Path("board.pdf").read_bytes().startswith(b"%PDF")
    code, _, err = run("plot", "kept", "--tolerance", "0.1")
    assert (code, "options for solving" in err) == (2, True)


def test_stages(run):
    small = ("kniffel", "--set", "dice=1,faces=2,throws=1,threshold=3", "--compile", "never")
    assert run("plot", *small, "--kind", "stages")[0] == 0
    assert drawn(Path("kniffel-stages.png"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kind", "tree", "--steps", "0"), "--steps is for --kind"),
        (("--kind", "values", "--depth", "2"), "--depth is for --kind tree; this is values"),
        (("--kind", "values", "--state", "turn=1"), "--state is for --kind"),
        (("--kind", "surface", "--fields", "own,turn"), "three fields and an action"),
        (("--output", "picture.txt"), "ends in none of .png, .svg, .pdf"),
        (("--output", "no/picture.png"), "there is no folder"),
        (("--kind", "values", "--fields", "owned"), "owned"),
        (("--kind", "values", "--where", "own=x"), "not a whole number"),
    ],
)
def test_what_makes_no_picture_is_refused(run, tmp_path, options, words):
    code, out, err = run("plot", "wubbel", *SMALL, *options)
    assert (code, out) == (2, "")
    assert words in err
    assert not list(tmp_path.glob("*.png"))
