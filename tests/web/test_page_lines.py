"""Lines of play in a browser: branches, damaged links, what is said, where the focus is."""

import re

import pytest
from browser import focused
from play_page import address, open_actions, told_by
from web_client import listed_game

from gamedp.web.app import make_app
from gamedp.web.tables import WebTables

pytestmark = pytest.mark.deep

PERSONS = ["person", "person"]

HEAR = """
    window.said = [];
    new MutationObserver((changes) => {
      const status = document.querySelector(".status");
      const isIn = changes.some(({ target }) => status?.contains(target));
      if (isIn && status.textContent) window.said.push(status.textContent);
    }).observe(document, { subtree: true, childList: true, characterData: true });
"""
"""Put into a page, it hears what a screen reader would say of the one live region."""


def outline(part):
    """Return the branches of a list, once all are named, each with those that leave it."""
    part.page.locator(".line", has_text=re.compile(r":\s*$")).first.wait_for(state="detached")
    return part.evaluate(
        """(list) => (function read(list) {
          return [...list.children].map((item) => [
            item.querySelector(".line").textContent,
            ...[...item.querySelectorAll(":scope > .branches")].flatMap(read),
          ]);
        })(list)"""
    )


def test_branches_of_branches_stand_below_them(visit):
    page = visit(address("matches", a=[1, 1, 1], seats=PERSONS))
    page.locator(".ply").nth(2).wait_for()
    for back, action in ((1, "Take 2"), (None, "Take 3"), (1, "Take 3")):
        if back is not None:
            page.locator(".ply").nth(back - 1).click()
            page.get_by_text(f"Move {back} of").wait_for()
        page.locator(".action").filter(has_text=action).click()
        page.locator(".status").filter(has_text=f": {action.lower()}.").wait_for()
    page.locator(".ply").first.click()
    page.get_by_text("Move 1 of 2.").wait_for()
    again = visit("#" + page.url.partition("#")[2])  # the link holds them all, each once
    packed = told_by(again)["branches"]
    assert sum(len(each["a"]) for each in packed) == 2 + 2
    for tab in (page, again):
        branches = tab.locator(".plies > li").nth(1).locator("> .branches")
        tab.get_by_role("button", name="From move 2: Take 1, Take 1", exact=True).wait_for()
        assert outline(branches) == [
            ["2From move 2: Take 2, Take 3"],
            ["2From move 2: Take 1, Take 1"],
        ]
    # Gone into, the branch is the line, and the others leave it where they did.
    again.get_by_role("button", name="From move 2: Take 2, Take 3", exact=True).click()
    again.get_by_text("Move 2 of 3.").wait_for()
    assert again.locator(".ply-name").all_inner_texts() == ["Take 1", "Take 2", "Take 3"]


def test_a_branch_of_a_branch_is_indented(visit):
    branches = [{"f": 1, "a": [2, 1, 1]}, {"w": 1, "f": 2, "a": [3]}, {"w": 2, "f": 3, "a": [1]}]
    page = visit(address("matches", a=[1, 1, 1], branches=branches, seats=PERSONS))
    page.get_by_role("button", name="From move 3: Take 3, Take 1", exact=True).wait_for()
    assert outline(page.locator(".plies > li > .branches")) == [
        ["2From move 2: Take 2, Take 1, Take 1", ["3From move 3: Take 3, Take 1"]]
    ]
    left = [box["x"] for box in (page.locator(".line").nth(n).bounding_box() for n in (0, 1))]
    assert left[0] < left[1]


@pytest.mark.parametrize(
    "given",
    [
        [{"a": [9]}],  # is refused
        [
            {"w": 7, "a": [1]},
            {"w": "__proto__", "a": [1]},
            {"f": 99, "a": [2]},
            {"w": 0.5, "a": [2]},
        ],
        [{"f": -1, "a": [2]}, None, 3, [[]], {"a": [1], "o": [0, 0, 0]}],
    ],
)
def test_a_branch_that_cannot_be_played_is_left_out(visit, given):
    asked = []
    good = {"f": 1, "a": [2]}
    page = visit("", expected=422)
    page.on("request", lambda request: asked.append(request.url.endswith("/history")))
    page.goto(page.url + address("matches", a=[1, 1], branches=[*given, good], seats=PERSONS))
    page.get_by_role("button", name="From move 2: Take 2", exact=True).wait_for()
    refused = len(given) == 1
    if refused:
        page.get_by_text("One branch of this link cannot be played and is left out.").wait_for()
    assert page.locator(".line").count() == 1
    page.locator(".action").first.click()
    page.locator(".ply").nth(2).wait_for()
    assert told_by(page)["branches"] == [{"f": 1, "a": [2]}]
    assert sum(asked) <= 3 + refused  # the line and its branch, the longer line; each once


def test_who_cannot_go_into_a_branch_keeps_the_game(visit):
    page = visit(
        address("matches", a=[3, 1], branches=[{"f": 1, "a": [2, 2]}], seats=PERSONS),
        expected="ERR_FAILED",
    )
    button = page.get_by_role("button", name="From move 2: Take 2, Take 2", exact=True)
    button.wait_for()
    page.route("**/history", lambda route: route.abort())
    button.click()
    page.get_by_text("The server cannot be reached.").wait_for()
    assert focused(page).startswith("BUTTON.tool")
    page.get_by_role("switch", name="Values").click(force=True)
    assert page.get_by_text("The server cannot be reached.").is_visible()  # trouble stays
    page.unroute("**/history")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("Player 1 is to move").wait_for()
    assert page.locator(".ply-name").all_inner_texts() == ["Take 3", "Take 1"]
    assert not focused(page).startswith("BODY")
    assert told_by(page)["branches"] == [{"f": 1, "a": [2, 2]}]
    button.click()
    page.get_by_text("Move 2 of 3.").wait_for()


def test_a_branch_that_could_not_be_named_is_asked_for_again(visit):
    page = visit("", expected="ERR_FAILED")

    def is_its(request):
        return request.url.endswith("/history") and '"actions":[3,2]' in request.post_data

    page.route(
        "**/history",
        lambda route: route.abort() if is_its(route.request) else route.continue_(),
    )
    where = address("matches", a=[3, 1], branches=[{"f": 1, "a": [2]}], seats=PERSONS)
    with page.expect_event("requestfailed", is_its):
        page.goto(page.url + where)
    page.get_by_role("button", name="From move 2:", exact=True).wait_for()
    page.unroute("**/history")
    page.locator(".ply").first.click()
    page.get_by_role("button", name="From move 2: Take 2", exact=True).wait_for()


def test_a_line_that_cannot_be_played_is_left_for_a_new_game(visit):
    page = visit(address("matches", a=[1, 9], seats=PERSONS), expected=422)
    page.get_by_text("there is no action 9 here.").wait_for()
    assert page.get_by_role("button", name="Go on").count() == 0  # it would fail again
    page.get_by_role("button", name="Diese Seite auf Deutsch").click()
    page.get_by_text("there is no action 9 here.").wait_for()  # still said
    page.get_by_role("button", name="Neues Spiel").first.click()
    open_actions(page)
    assert page.locator(".problem").count() == 0
    page = visit(address("matches", p={"matches": -1}), expected=422)
    page.locator(".problem").get_by_role("button", name="All games").click()
    page.locator(".offer").first.wait_for()
    assert focused(page).startswith("H1")


@pytest.mark.parametrize(
    "seats",
    [["person:1", "search:x"], [["person"], "mistaken:101"], ["person", "search:1e9"], ["x", {}]],
)
def test_seats_that_there_are_not_are_taken_by_others(visit, seats):
    page = visit(address("matches", seats=seats))
    open_actions(page).first.click()
    page.locator(".ply").nth(1).wait_for()
    assert page.locator(".problem").count() == 0
    values = page.locator(".seat select").evaluate_all("(all) => all.map((each) => each.value)")
    assert values == ["person", "solution"]


def test_the_focus_stays_on_its_ply_when_names_arrive(visit):
    page = visit("")
    waiting = []

    def later(route):
        if route.request.post_data_json["line"]["actions"] == [1, 2]:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/history", later)
    page.goto(page.url + address("matches", a=[1, 1, 1], branches=[{"a": [1, 2]}], seats=PERSONS))
    page.locator(".ply").nth(2).wait_for()
    page.locator(".branches").wait_for()
    page.locator(".ply").first.focus()
    marked = page.locator(".ply").first.element_handle()
    while not waiting:
        page.wait_for_timeout(20)
    waiting[0].continue_()
    page.get_by_role("button", name="From move 2: Take 2", exact=True).wait_for()
    assert marked.evaluate("(ply) => ply === document.activeElement")


def test_who_takes_back_while_looking_back_loses_nothing(visit):
    page = visit(address("matches", a=[1, 1, 2, 1], seats=PERSONS))
    page.locator(".ply").nth(3).wait_for()
    page.locator(".ply").nth(1).click()
    page.get_by_text("Move 2 of 4.").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="From move 2: Take 1, Take 2, Take 1", exact=True).wait_for()
    assert page.locator(".ply-name").all_inner_texts() == ["Take 1"]
    assert page.locator(".legend").inner_text().startswith("Player 1")
    page.get_by_role("button", name="Undo").click()  # at the end, what is taken back is gone
    page.locator(".ply").wait_for(state="detached")
    assert page.locator(".line").count() == 1


def test_nothing_is_played_in_a_ply_that_is_no_longer_looked_at(visit):
    page = visit(address("matches", a=[3, 1, 2], seats=PERSONS))
    page.locator(".ply").nth(2).wait_for()
    waiting, asked = [], []
    page.on("request", lambda request: asked.append('"then"' in (request.post_data or "")))

    def later(route):
        waiting.append(route)

    page.route("**/position", later)
    page.locator(".ply").first.click()
    while not waiting:
        page.wait_for_timeout(20)
    page.locator(".action").first.click(force=True)
    waiting.pop(0).continue_()
    page.get_by_text("Move 1 of 3.").wait_for()
    assert not any(asked)
    assert page.locator(".ply-name").all_inner_texts() == ["Take 3", "Take 1", "Take 2"]


def test_what_is_taken_back_and_played_again_is_known_whole(visit):
    """While what it was worth meanwhile is not yet said."""
    page = visit(address("matches", a=[3, 1, 2], seats=PERSONS))
    page.locator(".ply").nth(2).wait_for()
    page.route("**/history", lambda route: None)
    page.get_by_role("button", name="Undo").click()
    page.locator(".ply").nth(2).wait_for(state="detached")
    page.unroute("**/history")
    page.locator(".action").nth(1).click()
    page.locator(".ply").nth(2).wait_for()
    assert page.locator(".ply-name").all_inner_texts() == ["Take 3", "Take 1", "Take 2"]


def test_real_dice_may_be_left_again(visit):
    page = visit(address("wubbel", a=[0], o=[3], seats=PERSONS))
    open_actions(page)
    assert page.locator(".outcome").count() == 0
    page.get_by_role("switch", name="I have real dice").press(" ")
    page.locator(".outcome").first.wait_for()
    assert focused(page).startswith("BUTTON.action outcome")
    page.get_by_role("switch", name="I have real dice").press(" ")
    page.locator(".outcome").first.wait_for(state="detached")
    assert page.locator(".action .name").all_inner_texts() == ["Roll", "Save"]
    assert page.locator(".ply").count() == 1


class TwoCoins:
    """Two coins to choose from, one of which is thrown."""

    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return state > 0

    def actions(self, state):
        return [0, 1]

    def action_name(self, state, action):
        return ("gold", "silver")[action]

    def outcomes(self, state, action):
        return [(0.5, 1), (0.5, 2 + action)]

    def payoff(self, state, player):
        return state


def test_of_several_throws_one_is_chosen_and_may_be_left(visit, serve):
    tables = WebTables()
    site = serve(make_app({"coins": listed_game("coins", TwoCoins())}, tables, ()), tables)
    page = visit(address("coins", hand=True), site=site)
    for leave in ("Undo", None):
        open_actions(page)
        assert page.locator(".action .name").all_inner_texts() == ["Gold", "Silver"]
        page.locator(".action").last.press("Enter")
        page.get_by_text("You: Silver. What was the outcome of chance?").wait_for()
        if leave:
            page.get_by_role("button", name=leave).press("Enter")
            page.get_by_text("Your turn").wait_for()
    page.locator(".action", has_text="Outcome 2").press("Enter")
    page.get_by_text("You have got 3.").wait_for()


WHILE_STONES_FLY = """() => new MutationObserver((_, watcher) => {
  if (!document.querySelector(".stone.flying")) return;
  watcher.disconnect();
  const seat = document.querySelectorAll(".seat select")[1];
  seat.value = "solution";
  seat.dispatchEvent(new Event("input", { bubbles: true }));
  seat.dispatchEvent(new Event("change", { bubbles: true }));
  document.body.dataset.taken = true;
}).observe(document.body, { childList: true, subtree: true })"""
"""Gives the second seat to someone else at the first moment at which stones fly: on a busy machine
they have landed before a test can look."""


def test_a_computer_plays_once_whoever_takes_its_seat_meanwhile(visit):
    page = visit(address("mancala", seats=["person", "random"]), motion="no-preference")
    open_actions(page)
    asked = []
    page.on("requestfinished", lambda request: asked.append("player" in (request.post_data or "")))
    page.evaluate(WHILE_STONES_FLY)
    page.locator(".action").first.click()
    page.locator("body[data-taken]").wait_for()
    assert page.locator(".seat select").nth(1).input_value() == "solution"
    open_actions(page)
    page.locator(".ply").nth(1).wait_for()
    page.wait_for_timeout(600)
    open_actions(page)  # whose turn it is may have come back
    movers = page.locator(".past > .plies .ply .sign").evaluate_all(
        "(signs) => signs.map((sign) => sign.className.at(-1))"
    )
    assert sum(asked) == movers.count("1")


SPOKEN = {
    "matches": {"seats": ["person", "mistaken:50"], "seed": 3},
    "mancala": {
        "p": {"players": 3, "pits": 2, "stones": 1},
        "seats": ["person", "random", "random"],
    },
    "wubbel": {"seats": ["person", "solution"], "seed": 5},
}


@pytest.mark.parametrize("name", SPOKEN)
def test_everything_is_said_once(visit, name):
    page = visit(address(name, **{"seed": 1, **SPOKEN[name]}), patched=HEAR)
    for _ in range(60):
        open_actions(page)
        if page.locator(".again").count():
            break
        plies = page.locator(".past > .plies .ply").count()
        page.locator(".action").first.press("Enter")
        page.locator(".past > .plies .ply").nth(plies).wait_for()
    page.locator(".report table").wait_for()
    said = page.evaluate("window.said")
    plies = page.locator(".past > .plies .ply").evaluate_all(
        """(plies) => plies.map((ply) => [
          ply.querySelector(".unseen").textContent.replace(": ", ""),
          ply.querySelector(".ply-name").textContent.toLowerCase(),
        ])"""
    )
    # One sentence tells each ply, in order, the last one after the result; chance is part of it.
    heads = [re.search(r"(?:^|\. )(You|Player \d): ([^.]*)\.", text) for text in said]
    assert [[head[1], head[2].lower()] for head in heads if head] == plies
    assert sum("The game is over." in text for text in said) == 1
    assert said[-1] == page.locator(".status").text_content()
    assert page.locator("[aria-live], [role=status], [role=alert]").count() == 1


def stops(page):
    """Return what Tab comes to, from the heading to the end of the page."""
    page.locator("h1").focus()
    found = []
    for _ in range(80):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => {
              const { activeElement: e } = document;
              return e === document.body ? null : e.className || e.localName;
            }"""
        )
        if here in {None, "brand"}:
            break
        found.append(here)
    return found


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("nim", {"a": [1]}),
        ("mancala", {"a": [1]}),
        ("noughts-and-crosses", {"a": [4]}),
        ("wubbel", {"a": [0], "o": [3]}),
    ],
)
def test_tab_goes_from_what_can_be_done_to_what_has_been(visit, name, line):
    branches = {"mancala": [{"a": [2]}], "noughts-and-crosses": [{"a": [2]}]}.get(name, [])
    page = visit(address(name, seats=PERSONS, branches=branches, **line))
    open_actions(page)
    page.locator(".ply").wait_for()
    if branches:
        page.get_by_role("button", name="From move 1: ").first.wait_for()
    kinds = [kind.split()[0] for kind in stops(page)]
    order = []
    for kind in kinds:
        if not order or order[-1] != kind:
            order.append(kind)
    branch = ["line", "quiet"] if branches else []
    surface = ["summary"] if name == "wubbel" else []
    toggle = ["input"] if name == "wubbel" else []
    tools = ["tool", *toggle, *(["tool"] if toggle else [])]
    expected = ["all", "summary", "input", "action", "summary", *tools]
    assert order == [*expected, "ply", *branch, "select", *surface]
    assert kinds.count("action") == page.locator(".action").count()


def test_the_arrows_of_the_keyboard_go_through_the_game(visit):
    page = visit(address("matches", a=[1, 2, 1], seats=PERSONS))
    open_actions(page)
    page.locator(".past > .plies .ply").nth(2).wait_for()
    for key, text in (
        ("Left", "Move 2 of 3."),
        ("Left", "Move 1 of 3."),
        ("Right", "Move 2 of 3."),
    ):
        page.keyboard.press(f"Arrow{key}")
        page.locator(".status").get_by_text(text).wait_for()
        assert not focused(page).startswith("BODY")
    page.locator(".seat select").first.focus()
    page.keyboard.press("Control+ArrowLeft")
    assert "Move 2 of 3." in page.locator(".status").inner_text()
    page.locator(".action").first.focus()
    for _ in range(3):  # not further than to the last move
        page.keyboard.press("ArrowRight")
    page.locator(".status").get_by_text("Player 2 is to move.").wait_for()
    assert page.locator(".ply[aria-current]").inner_text().startswith("3")
