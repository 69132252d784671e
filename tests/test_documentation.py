"""The documentation: nothing public is missing from the reference, and no page from its index."""

import re
from pathlib import Path

import pytest

import gamedp
from gamedp.cli import COMMANDS

DOCS = Path(__file__).parent.parent / "docs"


def test_the_reference_lists_every_public_name_once():
    text = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. auto(?:class|function):: (\w+)$", text, flags=re.MULTILINE)
    assert sorted(listed) == sorted(gamedp.__all__)
    assert listed[0] == "Game"
    assert listed.index("solve") < listed.index("ValueIteration")


def test_the_reference_shows_the_help_of_every_command():
    text = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    shown = re.findall(r'^show_help\("gamedp", "(\w+)"\)$', text, flags=re.MULTILINE)
    assert sorted(shown) == sorted(COMMANDS)


@pytest.mark.parametrize("folder", ["tutorials", "howto", "explanation", "reference"])
def test_an_index_names_every_page(folder):
    text = (DOCS / folder / "index.md").read_text(encoding="utf-8")
    (listed,) = re.findall(
        r"^```\{toctree\}\n:maxdepth: 1\n\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE
    )
    pages = {page.stem for page in (DOCS / folder).glob("*.md")} - {"index"}
    assert sorted(listed.split()) == sorted(pages)
