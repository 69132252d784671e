"""What an action has done is told and shown step by step, and who is in a hurry skips it."""

import pytest
from browser import COUNT_MOVES, axe_complaints_light_and_dark, focused
from play_page import address, open_actions

pytestmark = pytest.mark.deep

PEOPLE = ["person", "person"]
CHAIN = {"p": {"pits": 3, "stones": 3}, "seats": PEOPLE}


def told(page):
    return page.locator(".story-told p").all_inner_texts()


def test_a_move_is_told_in_the_language_of_the_page(visit):
    page = visit(address("mancala", **CHAIN, a=[3], o=[0]))
    open_actions(page)
    assert told(page) == ["3 stones of pit 3 are sown."]
    page = visit(address("mancala", **CHAIN, a=[3], o=[0]), locale="de-DE")
    open_actions(page)
    assert told(page) == ["3 Steine aus Mulde 3 werden gesät."]
    page.locator(".action").first.press("Enter")
    page.locator(".past > .plies .ply").nth(1).wait_for()
    assert axe_complaints_light_and_dark(page) == []
    assert page.locator(".story-told").get_attribute("role") == "log"
    page.locator(".arrow").nth(1).click()
    page.get_by_text("Zug 1 von 2.").wait_for()
    assert told(page) == ["3 Steine aus Mulde 3 werden gesät."]


def test_nothing_is_shown_again_to_whom_motion_disturbs(visit):
    page = visit(address("wubbel", seats=PEOPLE), patched=COUNT_MOVES)
    open_actions(page).first.press("Enter")
    page.locator(".story-told p").first.wait_for()
    assert page.evaluate("window.moves") == 0
    assert not page.locator(".story button").is_visible()


@pytest.mark.parametrize("way", ["Escape", "click", "button"])
def test_who_is_in_a_hurry_skips_the_steps(visit, way):
    """Time stands still, so without a skip they would not end."""
    page = visit(address("mancala", **CHAIN), motion="no-preference", patched=STANDING)
    open_actions(page).first.press("Enter")
    skip = page.get_by_role("button", name="Skip")
    skip.wait_for()
    assert page.locator(".action").first.get_attribute("aria-disabled") == "true"
    if way == "Escape":
        page.keyboard.press("Escape")
    elif way == "click":
        page.locator(".board").click()
    else:
        skip.press("Enter")
    open_actions(page)
    again = page.get_by_role("button", name="Show again")
    again.press("Enter")
    skip.wait_for()
    assert not focused(page).startswith("BODY")
    page.keyboard.press("Escape")
    again.wait_for()
    open_actions(page)
    page.locator(".ply").first.wait_for()
    assert page.locator(".ply").count() == 1


def test_what_becomes_known_while_steps_are_shown_again_is_seen_after_them(visit):
    page = visit(address("mancala", **CHAIN), motion="no-preference", patched=STANDING)
    asked = []

    def hold(route):
        asked.append(route)

    page.route("**/history", hold)
    open_actions(page).first.press("Enter")
    page.get_by_role("button", name="Skip").press("Enter")
    again = page.get_by_role("button", name="Show again")
    again.press("Enter")
    page.get_by_role("button", name="Skip").wait_for()
    with page.expect_response("**/history"):
        asked[-1].continue_()
    page.keyboard.press("Escape")
    page.locator(".ply").first.wait_for()
    assert page.locator(".ply").count() == 1


STANDING = """
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...given) {
      const move = animate.apply(this, given);
      move.pause();
      return move;
    };
"""
"""Put into a page, what is moved stays where it begins."""
