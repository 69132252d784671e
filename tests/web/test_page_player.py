"""An automatic player plays all that the start page offers to its end, and is never stuck."""

import re

import numba
import numpy as np
import pytest
from browser import focused, served, visits
from kniffel_games import almost_over
from play_page import offered, open_actions

from gamedp.games.kniffel import Adviser, Kniffel
from gamedp.games.kniffel.page import page as kniffel
from gamedp.web.app import make_app
from gamedp.web.tables import Limits, WebTables

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(
        bool(numba.config.DISABLE_JIT), reason="the whole table takes minutes uncompiled"
    ),
]

CARDS = {
    "Mancala": {"pits": "2", "stones": "2"},
    "Triancala": {"pits": "2", "stones": "1"},
    "Matches": {"matches": "7"},
    "Nim": {"heaps": "1, 2, 3"},
    "Wubbel": {"goal": "6"},
    "Noughts and crosses": {},
}
MOST_PLIES, MOST_STEPS = 80, 80
PATIENCE = 30_000
"""Milliseconds that a step of a game may take which is solved."""
BOXES, LEFT = 13, 2
"""Boxes of the sheet, and how many are still free when the player begins."""


@pytest.fixture(scope="module")
def adviser():
    return Adviser.of(Kniffel(), keep=True)


@pytest.fixture(scope="module")
def home(adviser):
    tables = WebTables()
    tables.solves.put(("page", "kniffel", ("rules", "article")), adviser)
    with served(make_app(offered(), tables, (), [kniffel])) as address:
        yield address
    tables.close()


def begin(page, card):
    """Choose a game on the start page, with small parameters."""
    offer = page.locator(".offer").filter(has=page.get_by_role("heading", name=card))
    if CARDS[card]:
        offer.locator("summary").press("Enter")
    for name, value in CARDS[card].items():
        offer.locator(f'[name="set-{name}"]').fill(value)
    offer.locator(".go").press("Enter")


def starred(page):
    """Return the action with a star, the first one if all are alike; None when the game is over."""
    actions = open_actions(page)
    if page.locator(".again").count():
        return None
    best = page.locator(".actions .is-best")
    return (best if best.count() else actions).first


def by_click(page, best):
    best.click()


def by_board(page, best):
    """Click the part of the board that plays the action; if none does, that of the list."""
    action = best.get_attribute("data-action")
    part = page.locator(f'.board [data-action="{action}"]')
    (part if part.count() else best).first.click()


def by_keyboard(page, best):
    tab_to(page, best)
    page.keyboard.press("Enter")


def tab_to(page, wanted):
    """Press Tab until an element has the focus."""
    element = wanted.element_handle()
    for _ in range(MOST_STEPS):
        if element.evaluate("(part) => part === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not come to {wanted.inner_text()}")


def play(page, act):
    """Follow the star to the end; return the number of plies."""
    plies = page.locator(".past > .plies .ply")
    for _ in range(MOST_PLIES):
        best = starred(page)
        if best is None:
            assert "The game is over." in page.locator(".status").inner_text()
            page.locator(".report table, .note:not(:empty)").first.wait_for()
            return plies.count()
        before = plies.count()
        act(page, best)
        plies.nth(before).wait_for()
        assert not focused(page).startswith("BODY")
    pytest.fail(f"the game is not over after {MOST_PLIES} plies")


def test_the_player_knows_every_card_of_the_start_page(visit):
    headings = visit().locator(".offer h2").all_inner_texts()
    assert {re.sub(r" for \d$", "", text) for text in headings} == {*CARDS, kniffel.title}


@pytest.mark.parametrize("act", [by_click, by_board, by_keyboard])
@pytest.mark.parametrize("card", CARDS)
def test_a_game_is_played_to_its_end(visit, card, act):
    page = visit()
    begin(page, card)
    assert play(page, act) > 1


@pytest.mark.parametrize("card", ["Triancala", "Noughts and crosses"])
def test_a_game_that_is_only_searched_is_played_to_its_end(contexts, card):
    tables = WebTables(Limits(states=10))
    with (
        served(make_app(offered(), tables)) as site,
        visits(contexts, site) as open_page,
    ):
        page = open_page(site, ".offer", locale="en-US")
        begin(page, card)
        assert play(page, by_click) > 1
        page.get_by_text("Too large to be solved: a search").wait_for()
        assert "NaN" not in page.locator("main").inner_text()
    tables.close()


def step(page, act):
    """Throw, keep or enter on the sheet, as the star says."""
    page.locator(".advice-part[aria-busy=false]").wait_for()
    best = page.locator(".advice-part .action.is-best").first
    before = page.url
    entry = page.locator(".enter.best-entry")
    if entry.count():
        act(page, entry.first)
    else:
        if best.count():
            act(page, best)
        act(page, page.locator(".throw"))
    page.wait_for_url(lambda url: url != before)


@pytest.mark.parametrize(("act", "players"), [(by_click, 1), (by_keyboard, 1), (by_keyboard, 2)])
def test_the_sheet_is_filled_to_its_end(visit, home, adviser, act, players):
    page = visit(site=home)
    page.set_default_timeout(PATIENCE)
    page.get_by_role("button", name=f"Play {kniffel.title}").press("Enter")
    page.locator(".sheet").wait_for()
    game, _ = almost_over(adviser, players, left=LEFT)
    page.evaluate(f"location.hash = 'players={players}&game={game}'")
    page.locator(".sheet .grand td").nth(players - 1).wait_for()
    for _ in range(4 * LEFT * players + 1):  # three throws and an entry a round
        page.locator(".advice-part[aria-busy=false]").wait_for()
        if "The game is over" in page.locator(".status").inner_text():
            break
        step(page, act)
        assert not focused(page).startswith("BODY")
    assert "The game is over" in page.locator(".status").inner_text()
    page.locator(".summary").first.wait_for()


def advised(page):
    """Ask by the form; return the best decision, and the points of an entry."""
    page.get_by_role("button", name="What to do?").press("Enter")
    row = page.locator("tr", has=page.locator("th", has_text="(best)")).first
    row.wait_for()
    name = row.locator("th").inner_text().replace(" (best)", "")
    return name, row.locator("td").first.inner_text()


def test_the_sheet_is_filled_to_its_end_without_a_script(visit, home):
    rng = np.random.default_rng(4)
    page = visit("kniffel?lang=en", site=home, java_script_enabled=False, wait_for="form")
    for box in range(LEFT, BOXES):
        page.locator(f"#box{box}").fill("0")
    for _ in range(LEFT):
        kept = ""
        for number in (1, 2, 3):
            faces = kept + "".join(map(str, rng.integers(1, 7, 5 - len(kept))))
            page.locator("#throw").fill(str(number))
            page.locator("#dice").fill(faces)
            best, points = advised(page)
            kept = "".join(re.findall("[1-6]", best))
        page.get_by_label(best, exact=True).fill(points)
    page.locator("#throw").fill("0")
    page.locator("#dice").fill("")
    page.get_by_role("button", name="What to do?").press("Enter")
    total = sum(int(page.locator(f"#box{box}").input_value()) for box in range(BOXES))
    page.get_by_text(f"Points so far: {total}").wait_for()
    assert page.locator(".problem").count() == 0
