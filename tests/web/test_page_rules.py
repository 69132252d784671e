"""Rules that are told, and games with a name that a click chooses."""

import pytest
from browser import axe_complaints_light_and_dark
from play_page import address, open_actions, told_by
from web_client import listed_game

from gamedp.web.app import make_app
from gamedp.web.catalogue import from_registry
from gamedp.web.plugin import Page
from gamedp.web.tables import WebTables

pytestmark = pytest.mark.deep

RULES = {
    "matches": ("the last match loses", "There are 9 matches in a row.", "1, 2, or 3 of them."),
    "nim": (
        "the last match loses",
        "The matches lie in heaps of 1, 2, and 3.",
        "last match loses.",
    ),
    "wubbel": ("", "roll a die with 6 faces", "But a 6 ends the turn"),
    "mancala": ("", "Take all stones of one of your pits", "If the last stone makes two or three"),
}


@pytest.mark.parametrize("name", RULES)
def test_rules_are_unfolded_for_who_comes_first_and_folded_then(visit, name):
    title, *sentences = RULES[name]
    page = visit(address(name, seats=["person", "person"]), first=True, width=360)
    open_actions(page)
    rules = page.locator(".how-text")
    for sentence in sentences:
        assert sentence in rules.inner_text()
    assert title in page.locator(".title").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert axe_complaints_light_and_dark(page) == []
    open_actions(page).first.click()
    page.locator(".ply").wait_for()
    assert rules.is_visible()
    page.reload()
    open_actions(page)
    assert not rules.is_visible()
    page.locator(".how summary").press("Enter")
    assert rules.is_visible()
    page.get_by_role("button", name="Diese Seite auf Deutsch").click()
    page.locator(".how summary", has_text="Regeln").wait_for()


@pytest.mark.parametrize(
    ("name", "parameters", "has", "lacks"),
    [
        ("matches", {"misere": False}, ["last match wins", "have lost"], ["loses"]),
        (
            "wubbel",
            {"goal": 7, "busts": [1, 2], "grace": True},
            ["1 or 2 ends", "7 points"],
            ["6 ends"],
        ),
        ("mancala", {"chains": "never", "move_again": True}, ["you move again"], ["sow that pit"]),
        ("mancala", {"captures": "opposite"}, ["across the board, if"], ["two or three"]),
        ("mancala", {"skip_source": True}, ["is left out"], ["you move again"]),
    ],
)
def test_rules_are_those_that_are_played(visit, name, parameters, has, lacks):
    small = {"mancala": {"pits": 2, "stones": 1}, "wubbel": {"goal": 9}}.get(name, {})
    page = visit(address(name, p={**small, **parameters}), first=True)
    open_actions(page)
    text = page.locator(".how-text").inner_text()
    assert "{" not in text
    assert not [part for part in has if part not in text]
    assert not [part for part in lacks if part in text]


def test_a_game_of_one_s_own_shows_an_action(visit):
    page = visit(address("noughts-and-crosses"), first=True)
    open_actions(page)
    example = page.locator(".how .example")
    assert example.locator(".drawing-grid").count() == 2
    assert example.locator("figcaption").inner_text()


def chips(page, card):
    return (
        page.locator(".offer").filter(has=page.get_by_role("heading", name=card)).locator(".chip")
    )


def test_a_click_chooses_a_game_with_a_name(visit):
    page = visit()
    card = page.locator(".offer").filter(has=page.get_by_role("heading", name="Wubbel"))
    assert chips(page, "Wubbel").all_inner_texts() == ["Wubbel", "With a grace point", "Pig"]
    pressed = card.locator(".chip[aria-pressed=true]")
    assert pressed.all_inner_texts() == ["Wubbel"]
    pig = card.get_by_role("button", name="Pig")
    pig.focus()
    page.keyboard.press("Enter")
    assert pressed.all_inner_texts() == ["Pig"]
    card.locator("summary").click()
    assert card.get_by_label("Goal").input_value() == "100"
    card.get_by_label("Goal").fill("12")  # no game with a name any more
    assert pressed.count() == 0
    assert axe_complaints_light_and_dark(page) == []
    card.get_by_role("button", name="Play Wubbel").click()
    open_actions(page)
    assert told_by(page)["p"] == {"faces": 6, "goal": 12, "busts": [1], "grace": False}
    assert "busts: 1" in page.locator(".title").inner_text()


def test_a_name_stands_in_the_title(visit):
    page = visit(address("nim", p={"heaps": [1, 3, 5, 7]}), locale="de-DE")
    open_actions(page)
    words = page.locator(".title .rules").inner_text()
    assert words == "das letzte Streichholz verliert · Vier Haufen"


def test_a_game_for_three_has_a_card_of_its_own(visit):
    page = visit(locale="de-DE")
    heading = page.get_by_role("heading", name="Triancala")
    card = page.locator(".offer").filter(has=heading)
    assert "für 3" in heading.inner_text()
    assert chips(page, "Triancala").all_inner_texts() == ["Triancala", "Kleines Triancala"]
    assert "Triancala" not in chips(page, "Mancala").all_inner_texts()
    card.locator("summary").click()
    for label in ("Mulden", "Steine in jeder"):
        card.get_by_label(label).fill("2")
    card.get_by_role("button", name="Triancala spielen").click()
    open_actions(page)
    chosen = {"pits": 2, "stones": 2, "players": 3}
    assert told_by(page)["p"] | chosen == told_by(page)["p"]
    assert page.locator(".seat select").count() == 3


def test_a_page_of_its_own_is_opened_with_what_is_chosen(visit, serve):
    asked = []
    own = Page(
        name="own",
        title="Own",
        answer=lambda *_: {},
        draw=lambda _shared, query, _note: asked.append(dict(query)) or "<title>own</title>",
        presets={"One": {}, "Other": {"rules": "other"}},
    )
    tables = WebTables()
    site = serve(make_app({"nim": from_registry("nim")}, tables, (), [own]), tables)
    for name, more in (("One", {}), ("Other", {"rules": "other"})):
        page = visit(site=site, expected=404)
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("button", name="Play Own").click()
        page.wait_for_url("**/own?**")
        assert asked[-1] == {"lang": "en", **more}


class Told:
    """Take one of three.

    Who takes the last one wins; see ``outcomes``.

    There are no other rules.
    """

    num_players = 1

    def initial_state(self):
        return 3

    def is_terminal(self, state):
        return state == 0

    def actions(self, state):
        return [1]

    def outcomes(self, state, action):
        return [(1.0, state - 1)]

    def payoff(self, state, player):
        return 1.0


def test_what_an_author_writes_is_shown_as_it_is(visit, serve):
    tables = WebTables()
    site = serve(make_app({"told": listed_game("told", Told())}, tables), tables)
    page = visit("#told", site=site, first=True, locale="de-DE")
    open_actions(page)
    said = page.locator(".how-text p[lang=en]").all_inner_texts()
    rules = ["Who takes the last one wins; see outcomes.", "There are no other rules."]
    assert said == ["Take one of three.", *rules]


def test_what_is_no_list_of_games_seen_is_no_trouble(visit):
    page = visit(address("nim"), patched='localStorage.setItem("gamedp-rules", "[{%% nim")')
    open_actions(page)
    assert not page.locator(".how-text").is_visible()


def test_a_game_of_one_s_own_has_its_board_on_its_card(visit):
    offer = visit().locator(".offer").filter(has_text="Noughts and crosses")
    assert offer.locator(".icon .drawing-grid .piece").count() == 1  # after an action


def test_the_title_says_what_differs_from_the_game_as_it_is_known(visit):
    page = visit(address("wubbel", p={"goal": 50}))
    open_actions(page)
    assert page.locator(".title .rules").count() == 0
    page = visit(address("mancala", p={"pits": 2, "stones": 2, "move_again": True}))
    open_actions(page)
    assert page.locator(".title .rules").inner_text().endswith("move again: yes")
