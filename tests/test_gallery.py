"""The gallery: what its pages compute is what the books print."""

import gzip
import importlib
import json
import re
from pathlib import Path

import numba
import pytest
from depth import first_of

import gamedp

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
PAGES = sorted(page.stem for page in GALLERY.glob("*.md") if page.stem != "index")
ROWS = {"boards": 9, "chance": 51, "decisions": 28, "grids": 29}
"""Figures of each page."""


LARGEST_GAME = 300_000
"""Bytes of the positions of one game: a page is to be there at once."""


@pytest.fixture
def playable(monkeypatch):
    """Return the part of the manual that writes the games beside its pages."""
    monkeypatch.syspath_prepend(GALLERY.parent)
    return importlib.import_module("playable")


def test_no_page_is_without_figures(playable):
    assert sorted(ROWS) == sorted(playable.PAGES) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_each_section_says_what_one_learns_and_ends_with_an_exercise(name):
    text = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    _, *sections, beside = re.split(r"^## ", text, flags=re.MULTILINE)
    assert beside.startswith("Compared with the printed numbers")
    assert len(sections) >= 4
    for section in sections:
        title, *paragraphs = section.strip().split("\n\n")
        assert "\nWhat you learn: " in section, title
        assert paragraphs[-1].startswith("*Exercise.* "), title
        assert "published.append(" in section, title


# The other pages take long, as all their games are in plain Python; the manual runs them, too.
@pytest.mark.parametrize("name", first_of(sorted(PAGES, reverse=True), 2))
def test_the_figures_of_the_books_come_out(playable, name):
    if name == "decisions" and numba.config.DISABLE_JIT:
        pytest.skip("takes minutes in plain Python, with coverage")
    plt = pytest.importorskip("matplotlib.pyplot")
    cells = [cell for section in playable.sections_of(name) for cell in section.cells]
    page = {}
    for cell in cells:
        exec(compile(cell, f"{name}.md", "exec"), page)  # noqa: S102 - the page's own cells
    plt.close("all")
    assert len(page["published"]) == ROWS[name]
    for what, value, computed, decimals in page["published"]:
        # Some books round, and some cut off.
        assert abs(computed - value) <= (0.51 if decimals else 2e-6) * 10**-decimals, what


def test_each_problem_has_a_picture_and_is_played_or_says_why_not(playable):
    sections = [each for page in PAGES for each in playable.sections_of(page)]
    problems = [each for each in sections if each.block]
    others = {each.title for each in sections} - {each.title for each in problems}
    assert len({each.name for each in problems}) == len(problems)
    assert others == {
        section.title for section in sections if "published.append" not in "".join(section.cells)
    }
    for each in problems:
        *options, said, end, _ = each.block.split("\n")[1:]
        assert (end, ":" in said[:1], len(said) > 30) == ("```", False, True), each.title
        assert (each.game is None) == any(line.startswith(":why: ") for line in options)
    index = playable.with_problems((GALLERY / "index.md").read_text(encoding="utf-8"))
    assert [each for each in problems if index.count(each.block) != 1] == []


@pytest.mark.deep
@pytest.mark.parametrize("page", PAGES)
def test_readers_play_the_games_of_a_page_by_its_values(playable, tmp_path, page):
    pytest.importorskip("matplotlib")
    games = {game.name: game.make({}).rules for game in playable.write_gallery(tmp_path, [page])}
    problems = [each for each in playable.sections_of(page) if each.block]
    drawn = {path.stem for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {each.name for each in problems}
    listed = json.loads((tmp_path / "play" / "data" / "games.json").read_text(encoding="utf-8"))
    assert {each["name"] for each in listed} == {each.name for each in problems if each.game}
    for each in listed:
        assert each["title"], each["name"]
        path = tmp_path / "play" / each["file"]
        assert path.stat().st_size < LARGEST_GAME
        data = json.loads(gzip.decompress(path.read_bytes()))
        rules = games[each["name"]]
        solution = gamedp.solve(rules.game, compile="never", tolerance=1e-9)
        for start, (_, state) in zip(data["starts"], rules.initial(), strict=True):
            value = data["positions"][start["position"]]["value"]["number"]
            assert value == pytest.approx(solution.value(state, rules.player(state)), abs=2e-6)
