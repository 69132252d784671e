"""The page of an exported folder: it needs no server of ours, and says what it lacks."""

import base64
import gzip
import json
import re
import shutil

import pytest
from browser import axe_complaints_light_and_dark, focused, served
from play_page import GAMES, address, open_actions, seen
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from gamedp.web.catalogue import from_registry
from gamedp.web.export import export
from gamedp.web.tables import WebTables

pytestmark = pytest.mark.deep


def files(path):
    """Return a server that knows nothing but the files of a folder."""
    return Starlette(routes=[Mount("/", StaticFiles(directory=path, html=True))])


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """An exported folder, and a page in it that embeds a game."""
    path = tmp_path_factory.mktemp("page")
    listed = [from_registry(name, parameters) for name, parameters in GAMES.items()]
    tables = WebTables()
    for each in listed:
        tables.prepare(each.make({}), None)
    export(listed, tables, path)
    tables.close()
    (path / "embedding.html").write_text(
        '<!doctype html><title>x</title><link rel="icon" href="static/icon.svg"><input autofocus>'
        '<p style="height: 100vh"></p><iframe src="index.html#wubbel"></iframe>'
    )
    return path


@pytest.fixture(scope="module")
def folder(exported):
    """The address of the exported folder."""
    with served(files(exported)) as address:
        yield address


def without_rules(address):
    """Return an address without the parameters of the game."""
    name, _, code = address.partition("/")
    told = json.loads(base64.urlsafe_b64decode(code + "==="))
    del told["p"]
    return f"{name}/" + base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


@pytest.mark.parametrize("name", ["matches", "wubbel"])
def test_the_page_needs_no_server(visit, folder, name):
    line = {"matches": {"a": [1, 2, 1, 1, 1, 2, 1]}, "wubbel": {"a": [0, 0, 1], "o": [2, 3, 0]}}
    where = address(name, **line[name], seats=["person", "person"], seed=1)
    online, offline = seen(visit(where)), seen(visit(without_rules(where), site=folder))
    assert offline[1:] == online[1:]
    for rule in re.split(r"\n| · ", online[0]):  # here all are said, as nobody can change them
        assert rule in offline[0]
    assert seen(visit(where, site=folder))[1:] == online[1:]  # the same rules, said in the link
    page = visit(f"#{name}", site=folder)
    for _ in range(40):
        if open_actions(page).first.get_attribute("class") == "action again":
            break
        open_actions(page).first.press("Enter")
    assert "The game is over." in page.locator(".status").inner_text()


def test_the_surface_needs_no_server(visit, folder):
    tables = []
    for page in (visit(address("wubbel")), visit("#wubbel", site=folder)):
        page.locator(".surface summary").click()
        page.locator("canvas").wait_for()
        tables.append(page.locator(".surface").inner_text())
    assert tables[0] == tables[1]
    assert "never" in tables[0]


def test_of_a_game_too_large_for_a_folder_there_is_the_figure(visit, serve, tmp_path, monkeypatch):
    monkeypatch.setattr("gamedp.web.export.MOST_POSITIONS", 100)
    tables = WebTables()
    listed = from_registry("wubbel", {"goal": 16, "faces": 3, "busts": [3]})
    tables.prepare(listed.make({}), None)
    export([listed], tables, tmp_path)
    tables.close()
    site = serve(files(tmp_path))
    page = visit(site=site)
    assert page.get_by_role("button", name="I have real dice").count() == 0
    page.get_by_role("button", name="Where the decision changes: Wubbel").click()
    page.locator("canvas").wait_for()
    assert focused(page).startswith("H1")
    assert axe_complaints_light_and_dark(page) == []
    page.locator("#surface-slice").fill("5")
    assert "\N{NO-BREAK SPACE}%" in page.locator(".legend").inner_text()
    page.locator("#language").click()
    page.get_by_text("Alle Stellungen, in denen „Sichern“ am besten ist.").wait_for()
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_page_that_embeds_a_game_keeps_the_focus(visit, folder):
    page = visit(site=folder)
    page.goto(f"{folder}embedding.html")
    frame = page.frame_locator("iframe")
    frame.locator(".ply").wait_for(state="detached")
    frame.locator('.action:not([aria-disabled="true"])').first.wait_for()
    assert frame.locator(".brand").is_visible() is False
    assert frame.locator(".rules").is_visible() is False
    assert focused(page).startswith("INPUT")
    assert page.evaluate("scrollY") == 0
    frame.locator(".action").first.press("Enter")  # inside, the focus stays on the actions
    frame.locator(".ply").first.wait_for()
    assert focused(page).startswith("IFRAME")
    inside = frame.locator("body").evaluate("() => document.activeElement.className")
    assert inside.startswith("action")


def test_axe_finds_nothing_in_a_folder(visit, folder):
    for where in ("", "#nim"):
        page = visit(where, site=folder, width=320)
        assert axe_complaints_light_and_dark(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


OTHER_RULES = "This link is to a game with other rules than it has here."
NO_SEARCH = "Only a server looks ahead: choose another player."
NO_GAME = "This link holds no game that can be read."


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (address("matches", p={"matches": 10}), OTHER_RULES),
        (address("matches", p={"sticks": 9}), OTHER_RULES),
        (address("matches", seats=["search:6", "person"]), NO_SEARCH),
        (address("matches", s={"drawn": 1}), NO_GAME),
        (address("matches", s={"drawn": "length"}), NO_GAME),
        (address("matches", s={"state": {"player": 0, "left": 10}}), NO_GAME),
    ],
)
def test_what_a_folder_has_not_is_said(visit, folder, where, words):
    page = visit(where, site=folder)
    page.locator(".problem").wait_for()
    assert page.locator(".problem p").inner_text() == words


def test_a_folder_knows_positions_but_looks_not_ahead(visit, folder):
    rest = {"s": {"state": {"player": 1, "left": 5}}, "seats": ["person", "person"]}
    page = visit(address("matches", **rest), site=folder)
    open_actions(page)
    assert page.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 5"
    search = page.locator(".seat option[value=search]").first
    assert search.is_disabled()
    assert search.inner_text() == "Looks ahead (by a server)"


def cut_short(text):
    return text[: len(text) // 2]


def torn(packed):
    return packed[:-20]


def of_another_format(text):
    return json.dumps({**json.loads(text), "format": 2})


def of_other_rules(text):
    return text.replace('"matches":9', '"matches":8', 1)


def with_a_hole(text):
    table = json.loads(text)
    del table["positions"][-1]
    return json.dumps(table)


def emptied(text):
    return text and "[]"


@pytest.mark.parametrize(
    "damage", [None, cut_short, torn, of_another_format, of_other_rules, with_a_hole, emptied]
)
def test_a_file_that_is_missing_or_damaged_is_named(visit, serve, exported, tmp_path, damage):
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "data" / "matches.json.gz"
    packed = file.read_bytes()
    whole = gzip.decompress(packed).decode()
    if damage is None:
        file.unlink()
    elif damage is torn:
        file.write_bytes(torn(packed))
    else:
        file.write_bytes(gzip.compress(damage(whole).encode()))
    site = serve(files(tmp_path))
    page = visit("#matches", site=site, expected=404 if damage is None else None)
    page.locator(".problem").wait_for()
    words = "data/matches.json.gz is missing or damaged here: write the folder anew."
    assert page.locator(".problem p").inner_text() == words
    file.write_text(whole)  # as from a server that unpacks it
    page.get_by_role("button", name="Go on").click()
    open_actions(page)


def test_a_list_that_is_damaged_is_named(visit, serve, exported, tmp_path):
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    (tmp_path / "data" / "games.json").write_text('[{"name": "matches"}]')
    site = serve(files(tmp_path))
    problem = visit(site=site).locator(".problem")
    words = "data/games.json is missing or damaged here: write the folder anew."
    assert problem.locator("p").inner_text() == words


def test_a_folder_that_is_opened_as_a_file_says_what_to_do(browser, exported):
    context = browser.new_context()
    page = context.new_page()
    page.goto((exported / "index.html").as_uri())
    page.get_by_text("python -m http.server").first.wait_for()
    assert page.locator("[lang=de]").first.is_visible()
    context.close()
