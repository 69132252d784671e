"""The page in a real browser: playable by keyboard, legible, accessible, and its numbers right.

All tests are in one file: one browser, one server, and games solved once.
"""

import base64
import json
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest
from browser import chromium, served
from starlette.staticfiles import StaticFiles
from web_client import listed_game

import gamedp
from gamedp.cli.games import make_ordinary_game
from gamedp.games.matches import MatchesState
from gamedp.games.wubbel import SAVE, State
from gamedp.runtime.settings import settings_of
from gamedp.web.app import make_app
from gamedp.web.catalogue import from_registry
from gamedp.web.export import export
from gamedp.web.tables import Limits, Tables

GAMES = {
    "mancala": {"pits": 2, "stones": 2},
    "matches": {"matches": 9},
    "nim": {"heaps": [1, 2, 3]},
    "wubbel": {"goal": 9},
}
NOUGHTS = "noughts-and-crosses"
EXAMPLES = Path(__file__).parents[2] / "examples"
MINUS, UNKNOWN = "\N{MINUS SIGN}", "\N{EN DASH}"
PATIENCE = 120_000  # milliseconds: the first to ask waits for compiling and solving


@pytest.fixture(scope="module")
def listed():
    rules = make_ordinary_game(f"{EXAMPLES / 'noughts.py'}:NoughtsAndCrosses", (), command="serve")
    return {**{name: from_registry(name) for name in GAMES}, NOUGHTS: listed_game(NOUGHTS, rules)}


@pytest.fixture(scope="module")
def home(listed):
    tables = Tables()
    with served(make_app(listed, tables, ())) as address:
        yield address
    tables.close()


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser, home):
    """Open the page in a fresh context; afterwards, nothing must stand in its console."""
    contexts, said = [], []

    def open_page(
        hash_="", *, width=900, height=700, motion="reduce", patched="", site=home, **options
    ):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            reduced_motion=motion,
            locale=options.pop("locale", "en-US"),
            **options,
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        if patched:
            page.add_init_script(patched)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request", lambda request: said.extend(() if site in request.url else [request.url])
        )
        page.goto(site + hash_)
        page.locator(".action, .offer, .problem").first.wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def address(name, **rest):
    text = json.dumps({"p": GAMES.get(name, {}), **rest}, separators=(",", ":"))
    code = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"#{name}/{code}"


def open_actions(page):
    """Wait until a person may act, or the game is over; return the buttons."""
    page.locator('.action:not([aria-disabled="true"])').first.wait_for()
    return page.locator(".action")


def focused(page):
    return page.evaluate("document.activeElement.tagName + '.' + document.activeElement.className")


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


def axe_complaints(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    violations = axe.Axe().run(page).response["violations"]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in violations]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit, scheme):
    assert axe_complaints(visit(color_scheme=scheme)) == []
    for name, rest in (
        ("matches", {"a": [2, 1, 1], "seats": ["person", "person"]}),
        ("wubbel", {"a": [0, 0], "o": [3, 2]}),
        ("mancala", {}),
        ("matches", {"a": [3, 3, 3]}),
    ):
        page = visit(address(name, **rest), color_scheme=scheme)
        page.locator(".legend").first.wait_for()
        assert axe_complaints(page) == []


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


COUNT = """
    window.moves = 0;
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...given) {
      window.moves++;
      return animate.apply(this, given);
    };
"""


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_whom_motion_disturbs(visit, motion, moves):
    for name in ("mancala", "matches", "wubbel"):
        page = visit(address(name, seats=["person", "person"]), motion=motion, patched=COUNT)
        open_actions(page).first.click()
        page.locator(".ply").first.wait_for()
        assert (page.evaluate("window.moves") > 0) == moves


def seen(page):
    """Return all that the page says of a position."""
    open_actions(page)
    code = page.url.partition("#")[2].partition("/")[2]
    plies = len(json.loads(base64.urlsafe_b64decode(code + "==="))["a"])
    page.locator(".past > .plies .ply").nth(plies - 1).wait_for()
    parts = (".title", ".standing", ".actions", ".past > .plies", ".report", ".basis")
    texts = [page.locator(part).first.inner_text() for part in parts]
    return [*texts, page.locator(".board").inner_html()]


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


def printed(value, *, sign=False, fixed=False):
    """Return a number as the page prints it; of two that are equally near, the larger one."""
    exact = Decimal(abs(value))
    is_short = value == int(value) and not fixed
    text = str(int(exact)) if is_short else str(exact.quantize(Decimal("1.0000"), ROUND_HALF_UP))
    if not float(text):
        return text
    return (MINUS if value < 0 else "+" if sign else "") + text


def random_line(rules, rng, plies):
    """Play at random, but not to the end; return the actions, the outcomes, and the positions."""
    states, actions, outcomes = [rules.initial()[0][1]], [], []
    for _ in range(plies):
        choices = list(rules.game.actions(states[-1]))
        action = choices[rng.integers(len(choices))]
        following = list(rules.game.outcomes(states[-1], action))
        place = int(rng.integers(len(following)))
        if rules.game.is_terminal(following[place][1]):
            break
        actions.append(action)
        outcomes.append(place)
        states.append(following[place][1])
    return actions, outcomes, states


READ = """
    async ([where, plies]) => {
      document.querySelector(".play").classList.add("old");
      location.hash = where;
      const found = (what) => [...document.querySelectorAll(`.play:not(.old) ${what}`)];
      const isThere = () =>
        found(".action").length > 0 && found(".past > .plies .ply").length === plies;
      for (let patience = 0; !isThere(); patience++) {
        if (patience > 12_000) throw new Error("the page does not show " + where);
        await new Promise((done) => setTimeout(done, 10));
      }
      const texts = (what) => found(what).map((each) => each.textContent);
      const last = (what) => found(what).map((each) => each.lastChild?.data ?? "");
      return {
        numbers: texts(".actions .number"), stars: texts(".actions .star"),
        losses: texts(".actions .more"), standing: texts(".side-value"),
        choices: last(".past > .plies .part-choice"), luck: last(".past > .plies .part-luck"),
        basis: texts(".basis")[0],
      };
    }
"""


def numbers_of(solution, rules, state):
    """Return what the page must show of a position."""
    known = solution.action_values(state, rules.player(state))
    fixed = not all(each.value.is_integer() for each in known)
    most = max(each.value for each in known)
    return {
        "numbers": [printed(each.value, fixed=fixed) for each in known],
        "stars": [{"certain": "★", "possible": "☆", "no": ""}[each.best] for each in known],
        "losses": [
            f"▼ {printed(most - each.value, fixed=fixed)}"
            if each.best == "no" and each.value < most
            else ""
            for each in known
        ],
        "standing": [printed(solution.value(state, player)) for player in (0, 1)],
    }


def parts_of(solution, rules, states, actions):
    """Return what the page must show of the plies of a line: choice and luck told apart."""
    choices, luck = [], []
    for state, following, action in zip(states, states[1:], actions, strict=False):
        mover = rules.player(state)
        known = {each.action: each for each in solution.action_values(state, mover)}
        chosen, most = known[action].value, max(each.value for each in known.values())
        after = rules.reward(state, action, mover) + solution.value(following, mover)
        is_mistake = known[action].best == "no" and chosen < most
        for parts, value in ((choices, chosen - most), (luck, after - chosen)):
            is_said = abs(value) >= 5e-5 or (parts is choices and is_mistake)
            parts.append(printed(value, sign=True) if is_said else "")
    return {"choices": choices, "luck": luck}


@pytest.mark.parametrize(
    "positions", [pytest.param(12, id="few"), pytest.param(100, id="many", marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("name", [*GAMES, NOUGHTS])
def test_every_number_is_the_library_s(visit, listed, name, positions):
    parameters = GAMES.get(name, {})
    game = listed[name].make(parameters).rules.game
    rules, solution = gamedp.rules.Rules(game), gamedp.solve(game, tolerance=1e-9)
    rng = np.random.default_rng(3)
    seats = ["person", "person"]
    page = visit(address(name, seats=seats))
    open_actions(page)
    longest = 0
    for seed in range(positions):
        actions, outcomes, states = random_line(rules, rng, int(rng.integers(12)))
        where = address(name, a=actions, o=outcomes, seats=seats, seed=seed)
        shown = page.evaluate(READ, [where, len(actions)])
        assert f"{solution.model.num_states:,} positions" in shown.pop("basis")
        assert shown == {
            **numbers_of(solution, rules, states[-1]),
            **parts_of(solution, rules, states, actions),
        }
        longest = max(longest, len(actions))
    assert longest > 3


def test_both_languages_have_the_same_words(visit, home):
    page = visit()
    english, german = page.evaluate(
        "import('/static/words.js').then((words) => [words.keys('en'), words.keys('de')])"
    )
    assert english == german
    page.get_by_role("button", name="Diese Seite auf Deutsch").click()
    assert page.locator("h1").inner_text() == "Spiele gegen den perfekten Spieler"
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
    open_actions(page).first.press("Enter")
    faces = page.locator(".outcome")
    faces.first.wait_for()
    assert page.locator(".outcome .name").all_inner_texts() == [
        *(f"A {face}" for face in range(1, 6)),
        "A 6, which ends the turn",
    ]
    assert focused(page).startswith("BUTTON.action")
    faces.nth(2).press("Enter")
    page.locator(".ply").wait_for()
    assert page.locator(".ply-name").all_inner_texts() == ["Roll, a 3"]
    assert page.locator(".tray-words").inner_text() == "A 3"
    assert page.locator(".tray .pip").count() == 3


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
    page.get_by_text("Ply 1 of 3.").wait_for()
    assert page.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 6"
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("Player 2 is to move").wait_for()
    assert page.locator(".drawing").get_attribute("aria-label") == board == "Board: heap 1: 3"
    page.get_by_role("button", name="To the start").click()
    page.get_by_text("Ply 0 of 3.").wait_for()
    page.locator(".action").first.click()  # a branch: what came afterwards is gone
    page.locator(".ply").nth(2).wait_for(state="detached")
    assert page.locator(".ply-name").all_inner_texts() == ["Take 1"]
    page.get_by_role("button", name="Undo").click()
    page.locator(".ply").wait_for(state="detached")
    assert page.locator(".drawing").get_attribute("aria-label") == "Board: heap 1: 9"


def test_mistakes_are_told_with_their_cost(visit):
    """Who leaves 5 or 1 wins; from 8 and from 4 one must take 3 for that."""
    page = visit(address("matches", a=[1, 2, 1, 1, 1, 2, 1], seats=["person", "person"]))
    page.locator(".report table").wait_for()
    rows = page.locator(".report tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [
        ["Player", "1", "3", "1", "2", "0"],
        ["Player", "2", "3", "1", "2", "0"],
    ]
    assert sorted(page.locator(".mistakes .ply-name").all_inner_texts()) == [
        "Ply 2, Player 2: take 2; best: take 3",
        "Ply 5, Player 1: take 1; best: take 3",
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
    ("hash_", "words"),
    [
        ("#chess", "There is no game called “chess” here."),
        ("#nim/%%%", "This link holds no game that can be read."),
        ("#nim/bm90aGluZw", "This link holds no game that can be read."),
        (address("nim", a=["x"]), "This link holds no game that can be read."),
    ],
)
def test_a_link_that_holds_no_game_says_so(visit, hash_, words):
    assert visit(hash_).locator(".problem").first.inner_text().strip() == words


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
    least = []
    for own in map(int, heads):
        turns = range(1, game.goal - own)
        saves = [turn for turn in turns if solution.best_action(State(0, own, 5, turn)) == SAVE]
        least.append(str(min(saves)) if saves else "never")
    assert cells == least
    assert len(set(cells)) > 2
    before = canvas.evaluate("(canvas) => canvas.toDataURL()")
    canvas.press("ArrowLeft")
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != before
    assert focused(page).startswith("CANVAS")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The address of an exported folder, on a server that knows nothing but files."""
    path = tmp_path_factory.mktemp("page")
    listed = [from_registry(name, parameters) for name, parameters in GAMES.items()]
    tables = Tables()
    for each in listed:
        tables.prepare(each.make({}), None)
    export(listed, tables, path)
    tables.close()
    (path / "embedding.html").write_text(
        '<!doctype html><title>x</title><link rel="icon" href="static/icon.svg"><input autofocus>'
        '<p style="height: 100vh"></p><iframe src="index.html#wubbel"></iframe>'
    )
    with served(StaticFiles(directory=path, html=True)) as address:
        yield address


@pytest.mark.parametrize("name", ["matches", "wubbel"])
def test_the_page_needs_no_server(visit, folder, name):
    line = {"matches": {"a": [1, 2, 1, 1, 1, 2, 1]}, "wubbel": {"a": [0, 0, 1], "o": [2, 3, 0]}}
    rest = {**line[name], "seats": ["person", "person"], "seed": 1}
    code = address(name, **rest).partition("/")[2]
    told = json.loads(base64.urlsafe_b64decode(code + "==="))
    del told["p"]  # of a folder, the rules of a game are fixed
    without = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
    offline = seen(visit(f"#{name}/{without}", site=folder))
    online = seen(visit(address(name, **rest)))
    assert offline == online
    page = visit(f"#{name}", site=folder)
    for _ in range(40):
        if open_actions(page).first.get_attribute("class") == "action again":
            break
        open_actions(page).first.press("Enter")
    assert "The game is over." in page.locator(".status").inner_text()


def test_a_page_that_embeds_a_game_keeps_the_focus(visit, folder):
    page = visit(site=folder)
    page.goto(f"{folder}embedding.html")
    frame = page.frame_locator("iframe")
    frame.locator(".ply").wait_for(state="detached")
    frame.locator('.action:not([aria-disabled="true"])').first.wait_for()
    assert focused(page).startswith("INPUT")
    assert page.evaluate("scrollY") == 0
    frame.locator(".action").first.press("Enter")  # inside, the focus stays on the actions
    frame.locator(".ply").first.wait_for()
    assert focused(page).startswith("IFRAME")
    inside = frame.locator("body").evaluate("() => document.activeElement.className")
    assert inside.startswith("action")


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


def test_of_a_game_that_is_searched_the_past_is_an_estimate(visit, listed):
    """As far as it has been played here; of a link, when it is asked for."""
    name, seats = "matches", ["person", "person"]
    solution = gamedp.solve(listed[name].make(GAMES[name]).rules.game)
    states = [MatchesState(mover, left) for mover, left in ((0, 9), (1, 7), (0, 5))]
    first, last = (printed(solution.value(state, 0)) for state in (states[0], states[-1]))
    words = f"What Player 1 can expect, over 2 plies: from {first} to {last}."
    tables = Tables(Limits(states=3, shapes=0))  # without compiling
    with served(make_app(listed, tables, ())) as site:
        page = visit(address(name, seats=seats), site=site)
        open_actions(page)
        for plies in range(2):
            open_actions(page).nth(1).click()
            page.locator(".ply").nth(plies).wait_for()
        page.locator(".chart .by-estimate").nth(1).wait_for(state="attached")
        assert page.locator(".chart").first.get_attribute("aria-label") == words
        assert "estimate" in page.locator(".past .legend").inner_text()
        again = visit("#" + page.url.partition("#")[2], site=site)
        again.get_by_role("button", name="Search the positions so far").click()
        again.locator(".chart .by-estimate").nth(1).wait_for(state="attached")
        assert again.locator(".chart").first.get_attribute("aria-label") == words
        assert again.get_by_role("button", name="Search the positions so far").count() == 0
        assert again.locator(".part-choice").count() == 0
    tables.close()
