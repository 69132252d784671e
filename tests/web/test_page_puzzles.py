"""Puzzles on the page: a list, and a position each in which the only best move is to be found."""

import pytest
from browser import axe_complaints_light_and_dark, focused, served
from play_page import GAMES, address, open_actions
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from gamedp.web.catalogue import from_registry
from gamedp.web.export import export
from gamedp.web.tables import WebTables

pytestmark = pytest.mark.deep

LIST = ".puzzle-list, .problem"


def all_of(name):
    """Return the address of the puzzles of a game."""
    return address(name).replace("/", "/puzzles/")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("page")
    listed = [from_registry("matches", GAMES["matches"])]
    tables = WebTables()
    tables.prepare(listed[0].make({}), None)
    export(listed, tables, path)
    tables.close()
    with served(Starlette(routes=[Mount("/", StaticFiles(directory=path, html=True))])) as home:
        yield home


def test_a_puzzle_is_failed_tried_again_and_solved_by_keyboard(visit):
    """Of 9 matches the mover of 8 takes 3 and leaves 5."""
    page = visit(all_of("matches"), wait_for=LIST, width=360)
    assert axe_complaints_light_and_dark(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    items = page.locator(".puzzle-list li")
    count = items.count()
    place = [items.nth(n).locator(".count").text_content() for n in range(count)].index("8")
    assert "turns a win into a loss" in items.nth(place).inner_text()
    items.nth(place).locator("a").press("Enter")
    task = page.locator(".puzzle [role=status]")
    task.get_by_text("Find the only best move.").wait_for()
    open_actions(page)
    assert page.locator(".worth").count() == 0  # nothing says what moves are worth
    page.locator(".action[data-action='1']").press("Enter")
    task.get_by_text("Not solved: Take 1 is not the best move; it loses in").wait_for()
    assert axe_complaints_light_and_dark(page) == []
    page.get_by_role("button", name="Try again").press("Enter")
    task.get_by_text("Find the only best move.").wait_for()
    assert not focused(page).startswith("BODY")
    open_actions(page)
    page.locator(".action[data-action='3']").press("Enter")
    task.get_by_text("Solved: Take 3 is the only best move.").wait_for()
    again = visit("#" + page.url.partition("#")[2])
    again.locator(".puzzle").get_by_text("Solved: Take 3").wait_for()
    page.get_by_role("button", name="Next puzzle").press("Enter")
    following = (place + 1) % count + 1
    task.get_by_text(f"Puzzle {following}:").wait_for()
    page.get_by_role("link", name="All puzzles").press("Enter")
    page.locator(LIST).wait_for()
    assert focused(page).startswith("H1")


@pytest.mark.parametrize("name", ["nim", "wubbel", "mancala", "noughts-and-crosses"])
def test_every_solved_game_leads_to_its_puzzles(visit, name):
    page = visit(address(name, seats=["person", "person"]), locale="de-DE")
    open_actions(page)
    page.get_by_role("link", name="Aufgaben").press("Enter")
    page.locator(LIST).wait_for()
    assert page.locator(".puzzle-list li").count() > 0
    text = page.locator(".puzzles").inner_text()
    assert "Jeder andere" in text or "wird aus" in text
    page.locator(".puzzle-list a").first.press("Enter")
    page.locator(".puzzle").get_by_text("Finde den einzigen besten Zug.").wait_for()
    page.get_by_role("button", name="This page in English").click()
    page.locator(".puzzle").get_by_text("Find the only best move.").wait_for()


def test_three_have_puzzles_where_each_plays_for_itself(visit):
    small = {"pits": 3, "stones": 1, "players": 3}
    page = visit(address("mancala", p=small, seats=["person"] * 3))
    open_actions(page)
    page.get_by_role("link", name="Puzzles").press("Enter")
    page.locator(".puzzle-list").wait_for()
    page.get_by_text("whichever of their equally good moves").wait_for()
    assert axe_complaints_light_and_dark(page) == []
    first = page.locator(".puzzle-list li").first
    assert "Any but the best one costs at least 3" in first.inner_text()
    said = set()
    first.locator("a").press("Enter")
    task = page.locator(".puzzle [role=status]")
    task.get_by_text("Find the only best move.").wait_for()
    open_actions(page)
    for n in range(page.locator(".action").count()):
        page.locator(".action").nth(n).press("Enter")
        page.locator(".puzzle.solved, .puzzle.failed").wait_for()
        said.add("Solved" if task.inner_text().startswith("Solved") else "Not solved")
        if page.locator(".puzzle.failed").count():
            assert "it costs" in task.inner_text()
            page.get_by_role("button", name="Try again").press("Enter")
            task.get_by_text("Find the only best move.").wait_for()
            open_actions(page)
            continue
        break
    assert "Solved" in said


def test_a_folder_has_puzzles_too(visit, folder):
    page = visit("#matches/puzzles", site=folder, wait_for=LIST)
    page.locator(".puzzle-list a").first.press("Enter")
    page.locator(".puzzle").get_by_text("Find the only best move.").wait_for()
    open_actions(page)
    page.locator(".action").first.press("Enter")
    page.locator(".puzzle.solved, .puzzle.failed").wait_for()


def test_what_has_no_puzzles_says_so(visit, folder):
    page = visit(
        address("matches", p={"takes": [1]}).replace("/", "/puzzles/"), wait_for=".puzzles p"
    )
    page.get_by_text("No position of this game has a single best move that is proven.").wait_for()
    page = visit("#matches/puzzles/bm9uc2Vuc2U", wait_for=".problem")
    assert "no game that can be read" in page.locator(".problem").inner_text()
    english, german = page.evaluate(
        "import('/static/puzzles.js').then(({WORDS}) => [WORDS.en, WORDS.de].map(Object.keys))"
    )
    assert english == german
    hostile = address("matches", puzzle={"n": "<b>", "at": -1}, seats=["person", "person"])
    page = visit(hostile)
    open_actions(page)
    assert not page.locator(".puzzle").is_visible()
