"""The page in a real browser: playable by keyboard, legible, accessible."""

import json
import re

import numpy as np
import pytest
from browser import COUNT_MOVES, axe_complaints, axe_complaints_light_and_dark, focused
from play_page import GAMES, NOUGHTS, UNKNOWN, address, open_actions, seen, told_by
from web_client import listed_game

import gamedp
from gamedp.games.matches import Matches
from gamedp.games.wubbel import SAVE, State
from gamedp.runtime.options import settings_of
from gamedp.web.app import make_app
from gamedp.web.catalogue import Listed, from_registry
from gamedp.web.tables import WebTables

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_played_to_its_end_by_keyboard(visit, name):
    page = visit(address(name, seed=5))
    for _ in range(60):
        open_actions(page)
        if page.locator(".again").count():
            break
        for _ in range(40):
            if focused(page).startswith("BUTTON.action"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_timeout(20)
        assert not focused(page).startswith("BODY")
    status = page.locator(".status").inner_text()
    assert "The game is over." in status
    assert re.search(r"You have (won|lost)\.|A draw\.", status)
    page.locator(".report table").wait_for()
    assert page.locator(".report tbody tr").count() == 2
    assert not focused(page).startswith("BODY")


def test_axe_finds_nothing(visit):
    assert axe_complaints_light_and_dark(visit()) == []
    for name, rest in (
        ("matches", {"a": [2, 1, 1], "seats": ["person", "person"]}),
        ("wubbel", {"a": [0, 0], "o": [3, 2]}),
        ("mancala", {}),
        ("matches", {"a": [3, 3, 3]}),
    ):
        page = visit(address(name, **rest))
        page.locator(".legend").first.wait_for()
        assert axe_complaints_light_and_dark(page) == []


@pytest.mark.parametrize("name", ["", *GAMES])
def test_nothing_scrolls_sideways_on_a_narrow_screen(visit, name):
    """320 pixels: a small telephone, or 200 % zoom of 640."""
    page = visit(address(name) if name else "", width=320, locale="de-DE")
    if name:
        open_actions(page).first.click()
        open_actions(page)
    else:
        for summary in page.locator("summary").all():
            summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_report_fits_on_a_telephone(visit):
    seats = ["mistaken:90", "random"]
    page = visit(address("wubbel", p={"goal": 20}, seats=seats, seed=2), width=360, locale="de-DE")
    report = page.locator(".report")
    report.locator("table").wait_for()
    assert report.locator(".mistakes li").count() > 0
    assert report.evaluate("(report) => report.scrollWidth <= report.clientWidth")


def test_the_board_stays_in_view_while_one_steps_through_plies_on_a_telephone(visit):
    page = visit(address("mancala", seats=["person", "person"]), width=360, height=640)
    for _ in range(3):
        plies = page.locator(".past > .plies .ply").count()
        open_actions(page).first.click()
        page.locator(".past > .plies .ply").nth(plies).wait_for()
    page.evaluate("scrollTo(0, 0)")
    in_view = """(part) => {
        const {top, bottom} = part.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight && bottom > top;
    }"""
    seen = [page.locator(".board").inner_html()]
    for _ in range(2):
        page.locator(".arrow").nth(1).click()
        assert page.locator(".board").evaluate(in_view)
        assert page.locator(".arrows").evaluate(in_view)
        seen.append(page.locator(".board").inner_html())
    assert len(set(seen)) == 3  # each step shows another position


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_whom_motion_disturbs(visit, motion, moves):
    for name in ("mancala", "matches", "wubbel"):
        page = visit(address(name, seats=["person", "person"]), motion=motion, patched=COUNT_MOVES)
        open_actions(page).first.click()
        page.locator(".ply").first.wait_for()
        assert (page.evaluate("window.moves") > 0) == moves


@pytest.mark.parametrize("name", GAMES)
def test_a_link_holds_the_whole_game(visit, name):
    page = visit(address(name, seats=["person", "random"], seed=11))
    for _ in range(2):
        if open_actions(page).last.get_attribute("class") != "action again":
            open_actions(page).last.click()
            page.locator(".ply").first.wait_for()
    before = seen(page)
    again = visit("#" + page.url.partition("#")[2])
    assert seen(again) == before
    assert again.url == page.url


def test_a_link_is_of_the_game_as_its_server_has_it(visit, serve):
    """Parameters that were chosen where it is served are in the link, too."""

    def site_of(listed):
        tables = WebTables()
        return serve(make_app({"matches": listed}, tables, ()), tables)

    seats = ["person", "person"]
    for listed in (Listed("matches", Matches, {"matches": 9}), listed_game("matches", Matches(9))):
        page = visit(address("matches", p={}, seats=seats), site=site_of(listed))
        open_actions(page).first.click()
        page.locator(".ply").first.wait_for()
        assert told_by(page)["p"]["matches"] == 9
        before, link = seen(page), "#" + page.url.partition("#")[2]
        assert seen(visit(link, site=site_of(from_registry("matches")))) == before
        other = visit(link, site=site_of(listed_game("matches", Matches(7))), expected=422)
        other.get_by_text("is served as it is, and not with another 'matches'").first.wait_for()


def test_both_languages_have_the_same_words(visit, home):
    page = visit()
    english, german = page.evaluate(
        "import('/static/words.js').then((words) => [words.keys('en'), words.keys('de')])"
    )
    assert english == german
    english, german = page.evaluate(
        "import('/static/surface.js').then(({WORDS}) => [WORDS.en, WORDS.de].map(Object.keys))"
    )
    assert english == german
    page.get_by_role("button", name="Diese Seite auf Deutsch").click()
    page.get_by_role("heading", name="Spiele, und sieh, was jeder Zug wert ist").wait_for()
    assert page.locator("html").get_attribute("lang") == "de"
    page.get_by_text("So viele Punkte gewinnen.").wait_for(state="attached")
    assert page.locator(".offer [lang=en]").count() == 0  # games speak German, too
    names = {each.name for name in GAMES for each in settings_of(from_registry(name).kind).values()}
    labels = [text.lower() for text in page.locator(".offer label").all_text_contents()]
    assert len(labels) > 15
    assert not names & {label.replace(" ", "_") for label in labels}
    page.goto(home + address("wubbel", a=[0], o=[1]))
    open_actions(page)
    assert page.locator(".actions .name").all_inner_texts() == ["Würfeln", "Sichern"]
    assert "," in page.locator(".actions .number").first.inner_text()


def test_dice_may_be_real(visit):
    page = visit(address("wubbel", hand=True))
    faces = page.locator(".outcome")
    faces.first.wait_for()
    assert page.locator(".outcome .name").all_inner_texts() == [
        *(f"A {face}" for face in range(1, 6)),
        "A 6, which ends the turn",
    ]
    assert page.get_by_role("group", name="Your throw: what does the die show?").count() == 1
    assert focused(page).startswith("BUTTON.action outcome")
    faces.nth(2).press("Enter")
    page.locator(".ply").wait_for()
    assert page.locator(".ply-name").all_inner_texts() == ["Roll, a 3"]
    assert page.locator(".tray-words").inner_text() == "A 3"
    assert page.locator(".tray .pip").count() == 3
    faces.first.wait_for()
    assert page.locator(".actions > li > .action .name").all_inner_texts() == ["Roll", "Save"]
    page.locator(".action", has_text="Roll").click()  # leads to the faces, and no further
    assert focused(page).startswith("BUTTON.action outcome")
    page.keyboard.press("2")
    page.locator(".ply").nth(1).wait_for()
    faces.first.wait_for()
    assert focused(page).startswith("BUTTON.action outcome")
    page.locator(".action", has_text="Save").press("Enter")
    page.get_by_role("group", name="Throw for Player 2: what does the die show?").wait_for()
    assert "Throw for Player 2" in page.locator(".status").inner_text()
    assert focused(page).startswith("BUTTON.action outcome")
    page.keyboard.press("6")
    page.get_by_role("group", name="Your throw").wait_for()
    assert len(told_by(page)["a"]) == 4


@pytest.mark.parametrize("width", [360, 1280])
def test_two_clicks_lead_from_the_start_to_advice_on_a_real_throw(visit, width):
    page = visit(width=width, height=640)
    page.get_by_role("button", name="I have real dice: Wubbel").click()
    page.locator(".outcome").nth(3).click()
    page.locator(".ply").wait_for()
    open_actions(page)
    assert page.locator(".is-best .name").inner_text() == "Roll"
    assert told_by(page)["a"] == [0]
    assert told_by(page)["o"] == [3]


def test_no_dice_are_offered_where_nothing_is_thrown(visit):
    page = visit()
    assert page.get_by_role("button", name="I have real dice").count() == 1


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_jumps_when_dice_arrive(visit, width):
    page = visit(address("wubbel", hand=True), width=width, height=640)

    def places():
        page.locator(".outcome").first.wait_for()
        open_actions(page)
        parts = page.locator(".board, .faces, .standing").all()
        return page.evaluate("scrollY"), *(part.bounding_box()["y"] for part in parts)

    before = places()
    for ply in range(2):
        page.keyboard.press("1")
        page.locator(".ply").nth(ply).wait_for()
        assert places() == before


def test_board_and_status_stay_in_view_on_a_telephone(visit):
    page = visit(address("wubbel", a=[0] * 4, o=[1] * 4, hand=True), width=360, height=640)
    page.locator(".ply").nth(3).wait_for()
    status, board = (page.locator(part) for part in (".status", ".board"))
    top = status.bounding_box()["y"]
    page.evaluate("(top) => scrollTo(0, top + 200)", top)
    assert page.evaluate("scrollY") > top + 100
    box = status.bounding_box()
    assert box["y"] == pytest.approx(0, abs=1)
    assert board.bounding_box()["y"] == pytest.approx(box["height"], abs=20)


def test_a_computer_s_dice_may_be_real(visit):
    page = visit(address("wubbel", hand=True, seats=["solution", "solution"]))
    page.locator(".outcome").nth(5).click()
    page.locator(".ply").wait_for()
    page.locator(".outcome").nth(0).wait_for()
    assert page.locator(".ply-name").first.inner_text() == "Roll, a 6, which ends the turn"


def test_one_can_look_back_branch_and_undo(visit):
    page = visit(address("matches", a=[3, 1, 2], seats=["person", "person"]))
    page.locator(".ply").nth(2).wait_for()
    board = page.locator(".drawing").get_attribute("aria-label")
    page.locator(".ply").first.click()
    page.get_by_text("Move 1 of 3.").wait_for()
    assert page.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 6"
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("Player 2 is to move").wait_for()
    assert page.locator(".drawing").get_attribute("aria-label") == board == "Board: heap 1: 3"
    page.get_by_role("button", name="To the start").click()
    page.get_by_text("Move 0 of 3.").wait_for()
    page.locator(".action").first.click()  # a branch
    page.locator(".ply").nth(2).wait_for(state="detached")
    page.locator(".ply").wait_for()
    assert page.locator(".ply-name").all_inner_texts() == ["Take 1"]
    page.get_by_role("button", name="Undo").click()
    page.locator(".ply").wait_for(state="detached")
    assert page.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 9"


def test_what_was_left_is_a_branch_to_come_back_to(visit):
    page = visit(address("matches", a=[3, 1, 2], seats=["person", "person"]))
    page.locator(".ply").nth(2).wait_for()
    plies, branches = page.locator(".ply-name"), page.locator(".branches .line")
    assert branches.count() == 0
    page.locator(".ply").first.press("Enter")
    page.get_by_text("Move 1 of 3.").wait_for()
    page.locator(".action").nth(2).press("Enter")
    page.get_by_role("button", name="From move 2: Take 1, Take 2", exact=True).wait_for()
    plies.nth(1).wait_for()
    assert plies.all_inner_texts() == ["Take 3", "Take 3"]
    again = visit("#" + page.url.partition("#")[2])  # the link holds it, too
    for tab in (page, again):
        tab.get_by_role("button", name="From move 2: Take 1, Take 2", exact=True).press("Enter")
        tab.get_by_text("Move 2 of 3.").wait_for()
        tab.get_by_role("button", name="From move 2: Take 3", exact=True).wait_for()
        assert tab.locator(".ply-name").all_inner_texts() == ["Take 3", "Take 1", "Take 2"]
        assert tab.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 5"
        assert not focused(tab).startswith("BODY")
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("Player 2 is to move").wait_for()
    page.locator(".action").first.press("Enter")  # who goes on leaves nothing behind
    page.locator(".ply").nth(3).wait_for()
    assert branches.all_text_contents() == ["2From move 2: Take 3"]
    page.get_by_role("button", name="Remove: From move 2: Take 3").press("Enter")
    branches.wait_for(state="detached")
    assert "branches" not in json.dumps(told_by(page))


@pytest.mark.parametrize("given", ["x", [3, None], [{}], [{"a": ["x"]}], [{"a": [3]}]])
def test_a_link_with_no_branches_in_it_is_read(visit, given):
    page = visit(address("matches", a=[3], branches=given, seats=["person", "person"]))
    page.locator(".ply").wait_for()
    assert page.locator(".branches").count() == 0


def test_mistakes_are_told_with_their_cost(visit):
    """Who leaves 5 or 1 wins; from 8 and from 4 one must take 3 for that."""
    page = visit(address("matches", a=[1, 2, 1, 1, 1, 2, 1], seats=["person", "person"]))
    page.locator(".report table").wait_for()
    rows = page.locator(".report tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [
        ["Player", "1", "3", "1"],
        ["Player", "2", "3", "1"],
    ]
    heads = page.locator(".report thead th").all_inner_texts()
    assert heads == ["Player", "Decisions", "Mistakes"]  # a win or none, and nothing by luck
    assert sorted(page.locator(".mistakes .ply-name").all_inner_texts()) == [
        "Move 2, Player 2: take 2; best: take 3",
        "Move 5, Player 1: take 1; best: take 3",
    ]


def test_values_can_be_hidden_and_hints_asked_for(visit):
    page = visit(address("matches", a=[1], seats=["person", "person"], values=False))
    open_actions(page)
    page.locator(".ply").wait_for()
    assert page.locator(".number").count() == 0
    assert page.locator(".part").count() == 0
    assert page.locator(".side-value").all_inner_texts() == [UNKNOWN, UNKNOWN]
    page.get_by_role("button", name="Hint").click()
    assert page.locator(".status").inner_text() == "Best: Take 3."


def test_three_may_play_where_a_parameter_says_so(visit):
    page = visit(address("mancala", p={"players": 3, "pits": 2, "stones": 1}))
    open_actions(page).first.press("Enter")
    page.locator(".ply").nth(2).wait_for()
    open_actions(page)
    assert page.locator(".side-name").all_inner_texts() == ["You", "Player 2", "Player 3"]
    assert page.locator(".seat select").count() == 3
    assert UNKNOWN not in page.locator(".side-value").all_inner_texts()


def test_a_click_on_the_board_plays(visit):
    page = visit(address("nim", seats=["person", "person"]))
    open_actions(page)
    page.locator(".heap").nth(1).locator(".match").first.click()
    page.locator(".ply").wait_for()
    assert page.locator(".ply-name").all_inner_texts() == ["Take 2 from heap 2"]


@pytest.mark.parametrize(
    ("name", "line", "names", "words"),
    [
        ("mancala", {}, "2 1 1 2", "Player 2: pits 2, 2; store 0; Player 1: pits 2, 2; store 0"),
        ("mancala", {"a": [2]}, "2 1 1 2", "Player 2: pits 0, 2; store 0; "),
        (
            "mancala",
            {"p": {"players": 3, "pits": 2, "stones": 1}},
            "1 2 Player 1 1 2 Player 2 1 2 Player 3",
            "Player 1: pits 1, 1; store 0; ",
        ),
        ("nim", {}, "1 2 3", "heap 1: 1; heap 2: 2; heap 3: 3"),
        ("matches", {}, "", "heap 1: 9"),
        (NOUGHTS, {"a": [4]}, "3 2 1 a b c", "row 3: empty, empty, empty; row 2: empty, x, empty"),
    ],
)
def test_the_board_bears_the_names_that_actions_have(visit, name, line, names, words):
    page = visit(address(name, seats=["person", "person"], **line))
    open_actions(page)
    assert page.locator(".called").all_text_contents() == re.findall(r"Player \d|\w", names)
    assert page.locator(".drawing").get_attribute("aria-label").startswith(f"Board: {words}")
    for pit in page.locator(".pit[data-action]").all():
        action = page.locator(f'.action[data-action="{pit.get_attribute("data-action")}"] .name')
        assert action.inner_text() == f"Pit {pit.locator('.called').text_content()}"


@pytest.mark.parametrize(
    ("hash_", "words"),
    [
        ("#chess", "There is no game called “chess” here."),
        ("#nim/%%%", "This link holds no game that can be read."),
        ("#nim/bm90aGluZw", "This link holds no game that can be read."),
        (address("nim", a=["x"]), "This link holds no game that can be read."),
    ],
)
def test_a_link_that_holds_no_game_says_so(visit, hash_, words):
    assert visit(hash_).locator(".problem p").first.inner_text() == words


def test_the_server_answers_in_the_language_of_the_page(visit):
    link = address("nim", a=[77], o=[0])
    for locale, words in (("en-US", "no action 77 here"), ("de-DE", "Den Zug 77 gibt es hier")):
        page = visit(link, locale=locale, expected=422)
        assert words in page.locator(".problem p").first.inner_text()


SOLVING = {"phase": "solve", "done": 3, "total": 10, "seconds": 1.5, "detail": ""}


def test_progress_is_shown_and_can_be_stopped(visit, home):
    page = visit()
    answers = iter(range(10**6))

    def solving(route):
        if next(answers) > 400:
            route.abort()
        else:
            route.fulfill(status=202, json=SOLVING)

    page.route("**/position", solving)
    page.goto(home + address("matches"))
    page.get_by_text("Solving").wait_for()
    assert page.locator("progress").get_attribute("value") == "3"
    assert page.locator(".seconds").inner_text() == "1.5 s"
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped.").wait_for()
    page.unroute("**/position")
    page.get_by_role("button", name="Go on").click()
    open_actions(page)
    assert page.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 9"
    assert not focused(page).startswith("BODY")


def test_the_surface_is_drawn_turned_and_told_as_a_table(visit, listed):
    parameters = {"goal": 12, "faces": 3, "busts": [3]}
    game = listed["wubbel"].make(parameters).rules.game
    solution = gamedp.solve(game, tolerance=1e-9)
    page = visit(address("wubbel", p=parameters))
    page.get_by_text("Where the decision changes").click()
    canvas = page.locator("canvas")
    canvas.wait_for()
    assert axe_complaints(page) == []
    page.locator("#surface-slice").fill("5")
    heads, cells = (
        row.split("\t")[1:] for row in page.locator(".surface-table tr").all_inner_texts()
    )
    known = []
    for own in map(int, heads):
        turns = range(1, game.goal - own)
        saves = [turn for turn in turns if solution.best_action(State(0, own, 5, turn)) == SAVE]
        runs = [turn for turn in saves if turn - 1 not in saves]
        ends = [turn for turn in saves if turn + 1 not in saves]
        spans = [
            f"{low}\N{EN DASH}{high}" if low < high else f"{low}"
            for low, high in zip(runs, ends, strict=True)
        ]
        known.append(", ".join(spans) or "never")
    assert cells == known
    assert len(set(cells)) > 2
    parts = page.locator(".surface-flat .best")
    assert parts.count() == sum(cell.count(",") + 1 for cell in cells if cell != "never")
    colours = page.evaluate(READ_COLOURS, [{**AXES, "parameters": json.dumps(parameters)}, 5])
    drawn = parts.locator("rect").evaluate_all("(all) => all.map((each) => each.style.fill)")
    assert drawn == colours
    before = canvas.evaluate("(canvas) => canvas.toDataURL()")
    canvas.press("ArrowLeft")
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != before
    assert focused(page).startswith("CANVAS")
    pressed = canvas.evaluate("(canvas) => canvas.toDataURL()")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 60)
    page.mouse.up()
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != pressed


AXES = {"x": "own", "y": "opponent", "z": "turn", "action": "1"}

READ_COLOURS = """
    async ([query, slice]) => {
      const { read } = await import("/static/surface.js");
      const answer = await fetch("/api/games/wubbel/surface?" + new URLSearchParams(query));
      const data = read(await answer.arrayBuffer());
      const found = [];
      for (let i = 0; i < data.nx; i++) {
        const at = i * data.ny + slice;
        for (const { first, last } of data.intervals[at]) {
          let before = null;
          for (let z = first; z <= last; z++) {
            const share = (data.columns[at](z) - data.low) / (data.high - data.low);
            const percent = Math.round((100 * Math.round(share * 23)) / 23);
            if (percent !== before) {
              const probe = document.createElement("i");
              const most = `var(--surface-high) ${percent}%`;
              probe.style.color = `color-mix(in oklab, ${most}, var(--surface-low))`;
              found.push(probe.style.color);
            }
            before = percent;
          }
        }
      }
      return found;
    }
"""
"""The colours of a slice, by the values that the server sends; equal ones above each other once."""


def test_the_figure_opens_where_the_article_looks_and_goes_where_the_game_goes(visit):
    page = visit(address("wubbel", p={"goal": 50}, hand=True, seats=["person", "person"]))
    page.get_by_text("Where the decision changes").click()
    here = page.locator(".surface-here")
    here.wait_for()
    said = (
        "At 0 against 24, Save is best with 16\N{EN DASH}17 or 21\N{EN DASH}44 (points of the turn)"
    )
    said += ", but not with 18\N{EN DASH}20."
    assert said in here.inner_text()
    assert page.locator("#surface-slice").input_value() == "24"
    assert page.locator(".surface-flat .ring").count() == 0
    page.locator(".outcome").nth(4).click()
    page.get_by_text("The game is at 5:").wait_for()
    assert page.locator("#surface-slice").input_value() == "0"
    assert page.locator(".surface-flat .ring").count() == 1
    share = page.locator(".side-value").first.inner_text().split("\N{NO-BREAK SPACE}%")[0]
    assert here.inner_text().endswith(f"The game is at 5: {share}\N{NO-BREAK SPACE}%.")
    before = page.locator("canvas").evaluate("(canvas) => canvas.toDataURL()")
    page.locator(".action", has_text="Save").click()
    page.get_by_text("The game is at 0:").wait_for()
    assert page.locator("#surface-slice").input_value() == "5"
    assert page.locator("canvas").evaluate("(canvas) => canvas.toDataURL()") != before


def test_a_surface_of_very_many_places_is_drawn(visit):
    """More than a call of a function takes at once; no four of them are neighbours."""
    side = 520
    page = visit(address("wubbel"))
    there = np.indices((side, side)).sum(axis=0).ravel() % 2
    head = np.array([0, side, 0, side, 0, 9], "<i4")
    tops, counts = (there * 7 - 1).astype("<i2"), there.astype("<i2")
    reached = np.zeros(side * side, "u1")
    ends, values = np.full(2 * there.sum(), 5, "<i2"), np.zeros(7 * there.sum(), "<f4")
    parts = (head, tops, counts, reached, ends, values)
    body = b"".join(part.tobytes() for part in parts)
    page.route("**/surface?*", lambda route: route.fulfill(body=body))
    page.get_by_text("Where the decision changes").click()
    page.locator(".surface .problem, .surface canvas").wait_for()
    assert page.locator(".surface .problem").count() == 0
    assert page.locator(".surface-table td").all_inner_texts()[-1] == "5"


def test_nobody_waits_for_what_was_asked_before(visit):
    page = visit(address("matches", seats=["person", "person"], a=[1, 1]))
    open_actions(page)
    page.locator(".ply").nth(1).wait_for()
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.route("**/position", lambda route: None)  # is never answered
    page.locator(".action").first.click()
    page.get_by_text("Loading").wait_for()
    assert failed == []
    with page.expect_event("requestfailed"):
        page.get_by_role("button", name="To the end").click()
    page.unroute("**/position")
    open_actions(page)
    assert page.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 7"
    assert len(failed) == 1
