"""The gallery: what its pages compute is what the books print."""

import re
from pathlib import Path

import numba
import pytest
from depth import first_of

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
PAGES = sorted(page.stem for page in GALLERY.glob("*.md") if page.stem != "index")
ROWS = {"boards": 9, "chance": 50, "decisions": 25, "grids": 28}
"""Figures of each page."""


def test_no_page_is_without_figures():
    assert sorted(ROWS) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_each_section_says_what_one_learns_and_ends_with_an_exercise(name):
    text = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    _, *sections, beside = re.split(r"^## ", text, flags=re.MULTILINE)
    assert beside.startswith("Beside what is printed")
    assert len(sections) >= 4
    for section in sections:
        title, *paragraphs = section.strip().split("\n\n")
        assert "\nWhat one learns: " in section, title
        assert paragraphs[-1].startswith("*Exercise.* "), title
        assert "published.append(" in section, title


# The other pages take long, as all their games are in plain Python; the manual runs them, too.
@pytest.mark.parametrize("name", first_of(sorted(PAGES, reverse=True), 2))
def test_the_figures_of_the_books_come_out(name):
    if name == "decisions" and numba.config.DISABLE_JIT:
        pytest.skip("takes minutes in plain Python, with coverage")
    plt = pytest.importorskip("matplotlib.pyplot")
    text = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\} python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    page = {}
    for cell in cells:
        exec(compile(cell, f"{name}.md", "exec"), page)  # noqa: S102 - the page's own cells
    plt.close("all")
    assert len(page["published"]) == ROWS[name]
    for what, value, computed, decimals in page["published"]:
        # Some books round, and some cut off.
        assert abs(computed - value) <= (0.51 if decimals else 2e-6) * 10**-decimals, what
