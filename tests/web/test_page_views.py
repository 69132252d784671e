"""Each kind of view, for every reader: small screens, few colours, paper, a voice."""

import io

import pytest
from all_views import VIEWS, AllViews
from browser import axe_complaints, served
from PIL import Image
from play_page import MINUS, address, open_actions
from web_client import listed_game

from gamedp.web.app import make_app
from gamedp.web.tables import WebTables

pytestmark = pytest.mark.deep

PEOPLE = ["person", "person"]
KINDS = ("heaps", "pits", "pits", "grid", "dice", "card", "scores", "text")


@pytest.fixture(scope="module")
def gallery():
    tables = WebTables()
    with served(make_app({"views": listed_game("views", AllViews())}, tables, ())) as site:
        yield site
    tables.close()


def test_every_kind_of_view_fits_and_has_words(visit, gallery):
    page = visit(address("views", seats=PEOPLE), site=gallery, width=320)
    for moves, (kind, _) in enumerate(zip(KINDS, VIEWS, strict=True)):
        if moves:  # two kinds in a row are the same
            page.locator(".ply").nth(moves - 1).wait_for()
        page.locator(f".drawing-{kind}").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert axe_complaints(page) == []
        page.locator(".action").first.press("Enter")
    page.get_by_text("The game is over.").wait_for()


def test_numbers_of_a_card_stay_whole_and_every_player_has_a_colour(visit, gallery):
    page = visit(address("views", a=[0] * 5, seats=PEOPLE), site=gallery, width=320)
    cells = page.locator(".drawing-card tr").nth(1).locator("td")
    assert cells.all_inner_texts()[:2] == [f"{MINUS}5", "1000000000"]
    lines = "(cell) => { const all = document.createRange(); all.selectNodeContents(cell); "
    lines += "return all.getClientRects().length; }"
    assert [cells.nth(n).evaluate(lines) for n in range(2)] == [1, 1]
    page.locator(".action").first.press("Enter")
    page.locator(".drawing-scores").wait_for()
    grounds = page.locator(".safe").evaluate_all(
        "(bars) => bars.map((bar) => getComputedStyle(bar).backgroundColor)"
    )
    assert len(set(grounds)) == 3
    assert "rgba(0, 0, 0, 0)" not in grounds


def colours(element):
    """Return how many colours a part of the page has."""
    picture = Image.open(io.BytesIO(element.screenshot())).convert("RGB")
    return len(picture.getcolors(picture.width * picture.height))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_are_seen_where_the_reader_has_chosen_few_colours(visit, scheme):
    page = visit(
        address("wubbel", a=[0, 0, 1], o=[2, 2, 0], seats=PEOPLE),
        forced_colors="active",
        color_scheme=scheme,
    )
    open_actions(page)
    page.locator(".ply").nth(2).wait_for()
    for part in (".sign-0", ".sign-1", ".balance", ".score-0 .score-bar", ".bar", ".slide"):
        assert colours(page.locator(part).first) > 1
    switch = page.locator(".choices-head .slide")
    on = switch.screenshot()
    page.locator(".choices-head .toggle").click()
    page.mouse.move(0, 0)
    assert switch.screenshot() != on
    border = "(side) => getComputedStyle(side).borderTopColor"
    mover, other = page.locator(".to-move"), page.locator(".side:not(.to-move)")
    assert mover.evaluate(border) != other.evaluate(border)
    outline = "(ply) => getComputedStyle(ply).outlineStyle"
    assert page.locator(".ply").evaluate_all(f"(plies) => plies.map({outline})") == [
        *("none", "none"),
        "solid",
    ]


def test_a_page_on_paper_has_the_whole_game_and_no_buttons(visit):
    line = {"p": {"matches": 18}, "a": [1] * 18}
    page = visit(address("matches", seats=PEOPLE, **line), color_scheme="dark")
    page.locator(".ply").nth(17).wait_for()
    cut = "(plies) => plies.scrollHeight > plies.clientHeight"
    assert page.locator(".past > .plies").evaluate(cut)
    page.emulate_media(media="print")
    assert not page.locator(".past > .plies").evaluate(cut)
    for part in (".tools", ".arrows", ".seats", ".toggle", "#language", ".all", ".again"):
        assert not page.locator(part).first.is_visible()
    for part in (".drawing", ".standing", ".chart", ".report", ".title"):
        assert page.locator(part).first.is_visible()
