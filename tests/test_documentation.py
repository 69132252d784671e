"""The documentation: nothing public is missing from the reference, and no page from its index."""

import importlib
import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import gamedp
from gamedp.cli import COMMANDS, PLUGINS
from gamedp.runtime.registry import registered

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def public_names():
    """Every public object by its name: in gamedp, or else in one of its packages."""
    parts = {name: getattr(gamedp, name) for name in gamedp.__all__}
    packages = {name: part for name, part in parts.items() if isinstance(part, ModuleType)}
    found = {name: part for name, part in parts.items() if name not in packages}
    for package, module in packages.items():
        if package != "testing":  # it has a page of its own
            for name in module.__all__:
                part = getattr(module, name)
                if name not in found and callable(part):
                    found[f"gamedp.{package}.{name}"] = part
    return found


def test_the_reference_lists_every_public_name_once(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    registered_lists = importlib.import_module("registered")
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md")]
    texts = [registered_lists.with_solvers(page) for page in pages]
    assert texts != pages
    pattern = r"^\.\. auto(?:class|function):: ([\w.]+)$"
    listed = [name for text in texts for name in re.findall(pattern, text, flags=re.MULTILINE)]
    assert sorted(listed) == sorted(public_names())


def test_the_reference_has_properties_that_are_computed_once(monkeypatch):
    """Classes of attrs have slots for them, which Sphinx does not see."""
    monkeypatch.syspath_prepend(DOCS)
    lines = importlib.import_module("registered").property_lines(gamedp.Problem)
    assert [line for line in lines if line.startswith(".. ")] == [
        ".. py:property:: draws",
        ".. py:property:: maximise",
        ".. py:property:: has_one_sign",
        ".. py:property:: rounding",
    ]
    assert "   They differ if it is not declared, see :class:`gamedp.TotalReward`." in lines


def test_public_names_are_few_and_in_standard_places():
    assert len(gamedp.__all__) <= 64
    for name, part in public_names().items():
        assert getattr(part, "__doc__", None), name


STAGED = {"StagedGame", "StagedModel", "StagedSolution"}
"""Shown in the lesson about staged games, which takes a page."""


def test_each_class_and_function_at_the_top_has_an_example():
    without = {
        name
        for name in gamedp.__all__
        if not isinstance(found := getattr(gamedp, name), ModuleType)
        and ">>> " not in (found.__doc__ or "")
    }
    assert without == STAGED | {"Verified"}  # which the example of `verify` makes


def test_a_misspelt_name_at_the_top_gets_the_nearest_one():
    with pytest.raises(AttributeError) as raised:
        gamedp.Discount  # noqa: B018 - what is read is the point
    assert (raised.value.name, raised.value.obj) == ("Discount", gamedp)  # what Python goes by
    assert "Discounted" in dir(gamedp)


def test_the_reference_shows_the_help_of_every_command():
    text = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    shown = re.findall(r'^show_help\("gamedp", "(\w+)"\)$', text, flags=re.MULTILINE)
    assert sorted(shown) == sorted([*COMMANDS, *registered(PLUGINS)])


QUAINT = (
    "games that come along",
    "for player 2, counted from 0",
    "whoever names no",
    "models that are no games",
    "vouches for",
    "on the mean",
    "told with the state",
    "the same answers when asked twice",
    "breaks the protocol of a game",
    "of which each can keep",
    "a game unfinished after so many",
    "meet each other one",
    "who knows how the other one plays",
    "of whom one is not told",
)
"""Phrases over which readers stumbled, in small letters."""


def test_quaint_phrases_do_not_come_back():
    paths = [ROOT / "README.md", *DOCS.rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    paths += (ROOT / "examples").rglob("*.py")
    for path in paths:
        text = " ".join(path.read_text(encoding="utf-8").lower().split())
        assert not [phrase for phrase in QUAINT if re.search(rf"\b{phrase}\b", text)], path


@pytest.mark.parametrize(
    "folder", ["doors", "tutorials", "gallery", "howto", "explanation", "reference"]
)
def test_an_index_names_every_page(folder):
    text = (DOCS / folder / "index.md").read_text(encoding="utf-8")
    (listed,) = re.findall(
        r"^```\{toctree\}\n:maxdepth: 1\n\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE
    )
    pages = {page.stem for page in (DOCS / folder).glob("*.md")} - {"index"}
    assert sorted(listed.split()) == sorted(pages)


def test_pages_embed_the_games_that_the_site_holds(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    playable = importlib.import_module("playable")
    pages = [path.read_text(encoding="utf-8") for path in DOCS.glob("*/*.md")]
    for use in ("src", "href"):  # in the page, and alone
        pattern = rf'{use}="\.\./play/index.html#(\w+)"'
        found = [name for page in pages for name in re.findall(pattern, page)]
        assert sorted(found) == sorted(playable.GAMES)


def test_the_picture_of_the_packages_is_the_import_contract():
    """Line by line, from the top; and each package has a row in the table below."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each["id"] == "one-way")
    text = (DOCS / "explanation" / "data-flow.md").read_text(encoding="utf-8")
    section = text.partition("\n## The packages\n")[2].partition("\n## ")[0]
    (picture,) = re.findall(r"^```text\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    # What a line says of its packages stands in a column of its own.
    drawn = [line[:42].split() for line in picture.splitlines()]
    assert [sorted(line) for line in drawn] == [sorted(re.findall(r"\w+", each)) for each in layers]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"\w+", row)}
    files = {"__main__", "cli", "errors", "games", "testing", "verbs"}  # said in the picture
    assert listed == {name for line in drawn for name in line} - files


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation/data-flow.md"])
def test_what_guides_name_in_the_source_is_there(page):
    """Files and folders by their paths, modules and what is in them by dots."""
    text = (ROOT / page).read_text(encoding="utf-8")
    home = Path(gamedp.__file__).parent
    packages = {path.stem for path in home.iterdir()}
    named = {
        name.removeprefix("src/gamedp/").rstrip("/")
        for name in re.findall(r"`([\w./]+)`", text)
        if re.split(r"[./]", name.removeprefix("src/gamedp/"))[0] in packages
    }
    assert len(named) > 3
    for name in named:
        if "/" in name or (home / name).exists():
            assert (home / name).exists(), name
        else:
            module, _, part = name.rpartition(".")
            found = importlib.import_module(f"gamedp.{module or part}")
            assert (
                not module or hasattr(found, part) or importlib.util.find_spec(f"gamedp.{name}")
            ), name


def named(path):
    """Return what a dotted name stands for, a field that only its class names included."""
    parts = path.split(".")
    depth = next(n for n in range(len(parts), 0, -1) if is_module(".".join(parts[:n])))
    found = importlib.import_module(".".join(parts[:depth]))
    for part in parts[depth:]:
        found = getattr(found, part, None) or getattr(found, "__annotations__", {}).get(part)
    return found


def is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is none
        return False


def test_what_docstrings_refer_to_is_there():
    """Sphinx looks at those of the reference alone."""
    text = "".join(
        path.read_text(encoding="utf-8") for path in Path(gamedp.__file__).parent.rglob("*.py")
    )
    paths = set(re.findall(r":(?:mod|func|class|meth|attr):`~?(gamedp\.[\w.]+)`", text))
    assert len(paths) > 100
    assert [path for path in sorted(paths) if not named(path)] == []


def test_the_result_of_a_cell_does_not_hang_on_the_pieces_in_which_it_was_printed(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    results = importlib.import_module("results")

    def stream(text):
        return {"output_type": "stream", "name": "stdout", "text": text}

    returned = {"output_type": "execute_result", "data": {"text/plain": "3"}}
    whole = {"outputs": [stream("one\ntwo\n"), returned]}
    # MyST-NB has added the second piece to the first, and left it where it was.
    in_pieces = {"outputs": [stream("one\ntwo\n"), stream("two\n"), returned]}
    assert results.text_of(in_pieces) == results.text_of(whole) == "one\ntwo\n\n3"


def test_a_line_that_was_printed_in_two_pieces_is_the_same_line(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    results = importlib.import_module("results")
    kept = "sweeps: 20, error 2.0676e-07\n<Solution>"
    assert results.are_the_same(kept, "sweeps:\n20, error 2.06760001e-07\n\n<Solution>")
    assert not results.are_the_same(kept, "sweeps: 20, error 2.2e-07\n<Solution>")
    assert not results.are_the_same(kept, "rounds: 20, error 2.0676e-07\n<Solution>")
