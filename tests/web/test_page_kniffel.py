"""The page of Kniffel in a real browser: a sheet to play on, whose numbers are the adviser's."""

import re
import time
from decimal import ROUND_HALF_UP, Decimal
from urllib.parse import parse_qsl, urlencode

import numba
import numpy as np
import pytest
from browser import COUNT_MOVES, axe_complaints_light_and_dark, focused, served, visits
from kniffel_games import almost_over

from gamedp.games.kniffel import (
    Adviser,
    Card,
    Kniffel,
    Opponent,
    Situation,
    outlook_against,
    played_perfectly,
)
from gamedp.games.kniffel.answers import game_text, read_query, reported
from gamedp.games.kniffel.boxes import shown, throw
from gamedp.games.kniffel.page import page as kniffel
from gamedp.games.kniffel.puzzles import puzzles
from gamedp.web.app import make_app
from gamedp.web.files import page_files
from gamedp.web.tables import WebTables

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(
        bool(numba.config.DISABLE_JIT), reason="the whole table takes minutes uncompiled"
    ),
]

ONE_LEFT = "3,8,9,16,15,18,15,9,25,30,40,-,20"
LAST_BOX = {"mode": "ask", "card": ONE_LEFT, "against": ONE_LEFT, "faces": "13345", "goal": "beat"}
CARD = "-,8,-,16,15,-,15,9,25,30,40,-,-"
EARLY_CARD = "-,-,-,16,-,-,15,-,25,-,-,-,20"
GAME = "13345.33.33456.33.33366.c_12345.12345.12345.12345.12345.k"
PROVEN = re.compile("(exact|proven)")
SOLVING = {"phase": "solve", "done": 3, "total": 10, "seconds": 1.5, "detail": ""}


@pytest.fixture(scope="module")
def adviser():
    return Adviser.of(Kniffel(), keep=True)


@pytest.fixture(scope="module")
def home(adviser):
    tables = WebTables()
    tables.solves.put(("page", "kniffel", ("rules", "article")), adviser)
    with served(make_app({}, tables, (), [kniffel])) as address:
        yield address
    tables.close()


@pytest.fixture
def visit(contexts, home):
    with visits(contexts, home) as open_page:

        def visit(lang="en", *, script=True, width=1000, motion="reduce", patched="", **state):
            options = {"width": width, "motion": motion, "patched": patched, "height": 800}
            address = f"{home}kniffel?lang={lang}#{urlencode(state)}"
            return open_page(
                address, ".sheet" if script else "", java_script_enabled=script, **options
            )

        yield visit


def advised(page):
    """Wait for the worth of this position; return the decisions."""
    page.locator(".advice-part[aria-busy=false] .worth").wait_for()
    return page.locator(".advice-part .action")


def game_of(page):
    """Return the game in the address of the page."""
    found = re.search(r"game=([^&]*)", page.url)
    return found[1] if found else ""


def test_a_game_is_played_to_its_end_by_keyboard_and_told_afterwards(visit, adviser):
    page = visit(told="test")
    for number in range(1, 14):
        page.get_by_text(f"Round {number} of 13").wait_for()
        page.locator(".throw").focus()
        page.keyboard.press("Enter")  # the focus stays where one throws again
        page.locator(".enter").first.wait_for()
        assert not focused(page).startswith("BODY")
        assert page.locator(".worth").count() == 0
        for _ in range(40):
            if "enter" in (page.evaluate("document.activeElement.className") or ""):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator(".enter").first.wait_for(state="detached")
    page.locator(".decisions").wait_for()
    assert not focused(page).startswith("BODY")
    record = read_query({"game": game_of(page)}).records[0]
    assert record.is_over
    assert f"The game is over: {record.total} points." in page.locator(".status").inner_text()
    known = reported(record, adviser, "en")
    rows = page.locator(".summary tr").all_inner_texts()
    assert f"Average loss per decision\t{known['mean_loss']:.2f}" in rows
    assert f"Result\t{record.total}" in rows
    assert [int(row.split("\t")[1]) for row in rows[-5:]] == known["classes"]
    losses = [each["loss"] for each in known["decisions"] if each["loss"] > 0]
    lost = page.locator(".decisions .lost").all_inner_texts()
    shown = [f"{loss:.2f}" if loss >= 0.005 else "< 0.01" for loss in losses]
    assert [text.removesuffix(" Why?") for text in lost] == shown
    assert f"it cost {max(losses):.2f} points" in page.locator(".banner").inner_text()
    page.locator(".show-mistake").press("Enter")
    assert focused(page).startswith("BUTTON.why")
    page.locator(".why").first.press("Enter")
    worth = page.locator(".why-table tr").last
    worst = next(each for each in known["decisions"] if each["loss"] > 0)
    assert worth.inner_text().split("\t") == [
        "Worth",
        f"{worst['chosen']['value']:.2f}",
        f"{worst['best']['value']:.2f}",
        f"\N{MINUS SIGN}{worst['loss']:.2f}",
    ]


READ = """
    async ([where, options]) => {
      document.querySelectorAll(".worth").forEach((each) => each.classList.add("old"));
      location.hash = where;
      const shown = ".advice-part[aria-busy=false] .worth:not(.old)";
      const isThere = () => document.querySelector(shown);
      for (let patience = 0; !isThere(); patience++) {
        if (patience > 12_000) throw new Error("the page does not show " + where);
        await new Promise((done) => setTimeout(done, 10));
      }
      const texts = (what) =>
        [...document.querySelectorAll(`.advice-part ${what}`)].map((each) => each.textContent);
      if (texts(".action").length < options) document.querySelector("[data-key=all]").click();
      return {
        value: texts(".bounds")[0].split(":")[0], numbers: texts("tbody td:nth-child(2)"),
        losses: texts("tbody td:nth-child(3)"), stars: texts(".action .star"),
        points: texts(".action .entry-points"), worth: texts(".worth")[0],
        said: texts(".action .number"),
      };
    }
"""


def printed(value, digits="1.0000"):
    """Return a number as the page prints it; of two that are equally near, the larger one."""
    return str(Decimal(value).quantize(Decimal(digits), ROUND_HALF_UP))


def random_situation(rng, rules):
    """Return a card with random throws in some of its boxes, and a throw."""
    card = Card()
    for box in rng.permutation(13)[: rng.integers(13)].tolist():
        thrown = "".join(map(str, rng.integers(1, 7, 5)))
        if box in {end.box for end in rules.entries(card.sheet(rules), throw(thrown))}:
            card = card.with_throw(thrown, box, rules)
    dice = "".join(map(str, sorted(rng.integers(1, 7, 5).tolist())))
    return Situation(card, int(rng.integers(1, 4)), dice)


def test_every_number_is_the_adviser_s(visit, adviser):
    rng = np.random.default_rng(4)
    page = visit(mode="ask")
    known = {"article": adviser, "yahtzee": Adviser.of(Kniffel("yahtzee"), keep=True)}
    numbers = set()
    for position in range(300):
        name = list(known)[position % 2]
        situation = random_situation(rng, known[name].rules)
        state = {
            "mode": "ask",
            "rules": name,
            "card": situation.card.arguments.replace(" ", ","),
            "further": situation.card.further,
            "throw": situation.number,
            "faces": shown(situation.dice),
        }
        options = known[name].options(situation)
        assert page.evaluate(READ, [urlencode(state), len(options)]) == {
            "value": printed(options[0].value),
            "worth": f"{printed(options[0].value, '1.0')} points expected in the end",
            "numbers": [printed(each.value) for each in options],
            "said": [printed(each.value, "1.0") for each in options],
            "stars": ["★" if each.loss == 0 else "" for each in options],
            "losses": ["\N{MINUS SIGN}" * (each.loss > 0) + printed(each.loss) for each in options],
            "points": [
                f" {each.points} {'point' if each.points == 1 else 'points'}"
                for each in options
                if each.kept is None
            ],
        }
        numbers.add(situation.number)
    assert numbers == {1, 2, 3}


def test_dice_are_clicked_typed_and_taken_back(visit):
    page = visit(dice="hand")
    page.locator("#typed").fill("1337")
    page.get_by_text("Type 5 faces").wait_for()
    page.locator("#typed").fill("6333")
    page.get_by_text("1 die to go").wait_for()
    page.locator("#typed").press("1")
    page.get_by_text("Throw 1 of 3").wait_for()
    dice = page.locator(".die-button")
    assert dice.count() == 5
    dice.nth(1).click()
    dice.nth(2).press("3")  # one more of this face
    assert page.locator(".die-button[aria-pressed=true]").count() == 2
    page.get_by_text("3 3 stays. What do the others show?").wait_for()
    page.locator("#typed").fill("254")
    page.get_by_text("Throw 2 of 3").wait_for()
    assert game_of(page) == "13336.33.23345"
    assert page.locator(".die-button").nth(1).get_attribute("aria-label") == "3, stays"
    advised(page)
    page.get_by_role("button", name="Small Straight: enter 30").click()
    page.get_by_text("Round 2 of 13").wait_for()
    assert game_of(page) == "13336.33.23345.23345.23345.j"
    assert page.locator(".grand td").inner_text() == "30"
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Throw 2 of 3").wait_for()
    assert game_of(page) == "13336.33.23345"
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Throw 1 of 3").wait_for()
    assert game_of(page) == "13336"


@pytest.mark.parametrize("players", [1, 2])
def test_what_a_throw_and_an_entry_have_done_is_told(visit, players):
    page = visit(dice="hand", game="13345", players=players, advice=0)
    status = page.locator(".status[role=status]")
    status.get_by_text("Throw 1 of 3").wait_for()
    assert "kept" not in status.inner_text()  # not here
    for die in (1, 2):
        page.locator(".die-button").nth(die).press("Enter")
    page.locator("#typed").fill("336")
    status.get_by_text("· kept 3 3, thrown 3 3 6").wait_for(state="attached")
    assert page.locator(".die-button.stays").count() == 2
    page.locator(".sheet [data-key=box-2]").press("Enter")
    status.get_by_text("· Threes: 12 points, 12 of 63 for the bonus").wait_for()
    page.locator("#typed").fill("66666")
    status.get_by_text("· thrown 6 6 6 6 6").wait_for(state="attached")
    page.locator(".sheet [data-key=box-11]").press("Enter")
    status.get_by_text("Yahtzee: 50 points").wait_for()
    assert "bonus" not in status.inner_text()
    page.get_by_role("button", name="Undo").press("Enter")
    status.get_by_text("Throw 1 of 3").wait_for()
    assert "50" not in status.inner_text()


def test_a_decision_of_the_list_is_taken(visit, adviser):
    page = visit(game=f"{GAME}_11446")
    advised(page).first.click()
    best = adviser.best(read_query({"game": f"{GAME}_11446"}).situation)
    stays = page.locator(".die-button[aria-pressed=true]")
    assert stays.count() == sum(best.kept)
    page.locator(".throw").press("Enter")
    page.get_by_text("Throw 2 of 3").wait_for()
    assert game_of(page).startswith(f"{GAME}_11446.{shown(best.kept)}.")


@pytest.mark.parametrize(("goal", "total"), [("points", "200"), ("total", "40")])
def test_what_is_best_entered_now_is_entered_by_one_click(visit, goal, total):
    page = visit(game="12345", goal=goal, total=total)
    best = advised(page).first
    assert best.locator(".name").inner_text() == "enter: Large Straight (40)"
    assert page.locator(".best-entry").get_attribute("data-key") == "box-10"
    best.click()
    page.get_by_text("Round 2 of 13").wait_for()
    assert game_of(page) == "12345.12345.12345.12345.12345.k"


def test_what_is_clicked_twice_is_done_once(visit):
    page = visit(advice=0)
    page.locator(".throw").evaluate("(button) => { button.click(); button.click(); }")
    page.get_by_text("Throw 1 of 3").wait_for()
    assert re.fullmatch("[1-6]{5}", game_of(page))
    page.locator(".die-button").first.click()
    page.locator(".throw").evaluate("(button) => { button.click(); button.click(); }")
    page.get_by_text("Throw 2 of 3").wait_for()
    assert re.fullmatch("[1-6]{5}[.][1-6][.][1-6]{5}", game_of(page))
    page.locator(".enter").first.evaluate("(button) => { button.click(); button.click(); }")
    page.get_by_text("Round 2 of 13").wait_for()
    assert game_of(page).count("_") == 0


def test_what_is_clicked_before_the_answer_is_there_does_nothing(visit):
    click = "(buttons) => buttons.forEach((button) => button.click())"
    page = visit(mode="ask", card=CARD, faces="13345", throw=3)
    first = advised(page).first.locator(".name").inner_text()
    page.locator(".advice-part .action").evaluate_all(click)  # all of them, at once
    page.get_by_text("Nothing to decide before the throw").wait_for()
    entries = re.search("card=([^&]*)", page.url)[1].replace("%2C", ",").split(",")
    assert entries.count("-") == CARD.split(",").count("-") - 1, first
    page = visit(game=f"{GAME}_11446")
    advised(page).first.click()
    stay = page.locator(".die-button[aria-pressed=true]").count()
    assert 0 < stay < 5
    page.locator("[data-key=all]").click()
    page.locator(".action", has_text="throw all again").evaluate(
        "(button) => { document.querySelector('.throw').click(); button.click(); }"
    )
    page.get_by_text("Throw 2 of 3").wait_for()
    assert page.locator(".die-button[aria-pressed=true]").count() == stay
    page.locator("[data-key=mode-ask], .throw").evaluate_all(click)  # and the console is clean
    page.locator("#faces").wait_for()


def test_a_field_that_is_hidden_keeps_no_game_from_beginning(visit):
    page = visit(total=5000, game=GAME)
    page.locator("[data-key=new]").click()
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("Round 1 of 13").wait_for()


def test_two_play_in_turns_and_to_win(visit, adviser):
    page = visit(game=GAME, players=2)
    page.get_by_text("Round 2 of 13, Player 1 to move").wait_for()
    assert page.locator(".grand td").all_inner_texts() == ["9", "40"]
    page.locator(".throw").press("Enter")
    page.locator(".sheet .active .enter").first.wait_for()
    text, records = almost_over(adviser, 2)
    page = visit(game=text, players=2, goal="beat")
    advised(page)
    known = outlook_against(adviser, records[0].situation, Opponent(records[1].card))
    assert known.exact
    page.locator(".bounds", has_text=PROVEN).wait_for(state="attached")
    worth = page.locator(".worth").inner_text()
    assert worth == f"{100 * known.value:.1f} % to win against play for points"
    page.locator(".exact summary").click()
    bounds = page.locator(".bounds").inner_text()
    assert bounds.startswith(f"{100 * known.value:.2f} %: ")
    assert bounds.endswith("a draw counts half")


@pytest.mark.parametrize("plays", ["points", "victory"])
def test_a_goal_that_takes_too_long_is_bounded_by_play_for_points(visit, plays):
    early = {"card": EARLY_CARD, "against": CARD, "faces": "13345", "plays": plays}
    page = visit("de", mode="ask", goal="beat", **early)
    options = advised(page)
    page.locator(".instead", has_text="Wenn beide von da an auf Punkte spielen.").wait_for()
    page.locator(".exact summary").click()
    assert "dieser Server rechnet" in page.locator(".too-large").inner_text()
    worth = page.locator(".worth").inner_text()
    least = re.fullmatch(
        r"mindestens (\d+,\d %) für den Sieg, wenn der andere auf Punkte spielt", worth
    )[1]
    bounds = page.locator(".bounds").inner_text()
    assert "Wenn beide von da an auf Punkte spielen" in bounds
    assert "Wer dann auf Sieg spielt," in bounds
    assert "erreicht mindestens ebenso viel." in bounds
    numbers = options.locator(".number").all_inner_texts()
    assert numbers[0] == f"≥ {least}"
    assert all(each.startswith("≥ ") for each in numbers)
    assert [each for each in options.locator(".star").all_inner_texts() if each] == ["★"]
    assert "empfohlen" in options.first.inner_text()


def test_bounds_are_shown_until_more_is_known(visit):
    page = visit(mode="ask", goal="beat", card=CARD, against=CARD)
    known = advised(page).count()
    assert known == 0  # nothing to decide before the throw
    held, quick, told = [], [], []

    def solving(route):
        if "quick=1" in route.request.url:
            quick.append(route)
        elif re.search("advice=0|goal=points", route.request.url):
            route.continue_()
        elif held:
            route.fallback()
        else:
            time.sleep(0.1)  # as the server holds what it cannot answer yet
            told.append(min(3 + len(told) // 3, 9))
            route.fulfill(status=202, json={**SOLVING, "done": told[-1], "seconds": len(told)})

    page.route("**/api/kniffel*", solving)
    page.locator("#faces").fill("13345")
    page.locator("#faces").press("Enter")
    page.get_by_text("Advice for points, until the advice to win is worked out.").wait_for()
    assert re.fullmatch(r"\d+\.\d", advised(page).first.locator(".number").inner_text())
    page.get_by_text(re.compile(r"^about [1-9]\d* s more$")).wait_for()
    quick[-1].continue_()
    page.locator(".instead", has_text="If both play for points from then on").wait_for()
    assert advised(page).first.locator(".number").inner_text().startswith("≥ ")
    assert page.locator("progress").count() == 1
    page.locator(".advice-part .action").first.focus()
    held.append(True)
    page.locator(".bounds", has_text=PROVEN).wait_for(state="attached")
    assert page.locator("progress").count() == 0
    assert focused(page).startswith("BUTTON.action")


def test_a_situation_is_looked_up_on_the_sheet(visit, adviser):
    page = visit(mode="ask")
    page.get_by_label("Twos, Card").fill("8")
    page.get_by_label("Chance, Card").fill("20")
    page.get_by_label("Chance, Card").press("Tab")
    assert not focused(page).startswith("BODY")
    page.locator("#faces").fill("13345")
    page.locator("#faces").press("Enter")
    page.locator(".advice-part .action").first.wait_for()
    page.locator("#throw").select_option("3")
    card = Card.of("- 8 - - - - - - - - - - 20")
    known = adviser.options(Situation(card, 3, "13345"))
    page.get_by_text(f"{known[0].value:.1f} points expected").wait_for()
    page.locator(".advice-part .action").first.click()
    page.get_by_text("Nothing to decide before the throw.").wait_for()
    filled = page.locator(".entry-input").evaluate_all("(all) => all.map((each) => each.value)")
    assert filled[known[0].box] == str(known[0].points)


def test_axe_finds_nothing(visit, adviser):
    _, (record,) = almost_over(adviser, 1)
    while not record.is_over:
        record = played_perfectly(record, adviser)
    over = game_text((record,))
    for state, part in (
        ({}, ".worth"),
        ({"game": f"{GAME}_13355", "players": 2, "goal": "beat"}, ".action"),
        (
            {
                "mode": "ask",
                "card": ONE_LEFT,
                "against": ONE_LEFT,
                "faces": "13345",
                "goal": "beat",
            },
            ".action",
        ),
        ({"game": over}, ".summary"),
    ):
        page = visit(**state)
        page.locator(f".advice-part[aria-busy=false] {part}").first.wait_for()
        if page.locator(".new-game summary").count():
            page.locator(".new-game summary").click()
        assert axe_complaints_light_and_dark(page) == []


@pytest.mark.parametrize(
    "state",
    [
        {"game": f"{GAME}_13355", "players": 2, "rules": "article"},
        LAST_BOX,
    ],
    ids=["play", "ask"],
)
def test_nothing_scrolls_sideways_on_a_narrow_screen(visit, state):
    page = visit("de", width=320, **state)
    advised(page)
    if "game" in state:
        page.locator(".so-far").click()
        page.locator(".why").first.click()
        page.locator(".why-table").wait_for()
        page.locator(".new-game summary").click()
        inner = page.locator(".decisions").first
        assert inner.evaluate("(part) => part.scrollWidth - part.clientWidth") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize(
    ("width", "display"), [(360, "grid"), (768, "grid"), (1280, "table-row"), (1600, "table-row")]
)
def test_a_line_of_the_report_is_as_wide_as_its_table(visit, width, display):
    page = visit(game=GAME, width=width)
    page.locator("[data-key=so-far]").click()
    row = page.locator(".decisions tbody > tr").first
    row.wait_for()
    assert row.evaluate("row => getComputedStyle(row).display") == display
    table = page.locator(".decisions > table").bounding_box()
    assert row.bounding_box()["width"] == pytest.approx(table["width"], abs=2)


@pytest.mark.parametrize("state", [{"dice": "hand"}, {"players": 2, "goal": "beat"}])
@pytest.mark.parametrize("lang", ["de", "en"])
def test_sheet_dice_and_advice_fit_one_screen(visit, lang, state):
    page = visit(lang, width=1280, game=f"{GAME}_13355", **state)
    assert advised(page).count() == 6
    for part in (".sheet", ".dice-part", ".advice-part"):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_on_a_telephone_advice_stands_between_the_dice_and_the_sheet(visit):
    page = visit(width=360, rules="article", mode="play")
    advised(page)
    parts = page.locator(".dice-row, .advice-part, .sheet-part").all()
    tops = {part.get_attribute("class"): part.bounding_box()["y"] for part in parts}
    assert sorted(tops, key=tops.get) == ["dice-row", "advice-part", "sheet-part"]
    page.evaluate("document.querySelector('.sheet-part').scrollIntoView()")
    status = page.locator(".status").bounding_box()
    assert status["y"] == pytest.approx(0, abs=1)
    assert page.locator(".dice-row").bounding_box()["y"] == pytest.approx(status["height"], abs=2)


def test_one_click_leads_from_the_start_to_real_dice(visit, home):
    page = visit()
    page.goto(home)
    page.get_by_role("button", name="Yahtzee", exact=True).click()
    page.get_by_role("button", name="I have real dice: Kniffel").click()
    page.locator("#typed:focus").wait_for()
    assert "rules=yahtzee" in page.url
    page.keyboard.type("13345")  # the last one enters them
    advised(page).first.wait_for()
    assert game_of(page) == "13345"


def test_real_dice_are_tapped_and_nothing_jumps(visit):
    page = visit(dice="hand", players=2, width=360)
    page.get_by_text("Player 1 throws. What do the dice show?").wait_for()

    def places():
        advised(page)
        parts = page.locator(".dice-help, .advice-part")
        return parts.evaluate_all(
            "(all) => all.map((each) => each.getBoundingClientRect().top + scrollY)"
        )

    page.locator("#typed:focus").wait_for()
    before = places()
    for text in ("Throw 1 of 3", "Throw 2 of 3", "The last throw"):
        page.locator("#typed:focus").wait_for()
        page.get_by_role("button", name="6", exact=True).click()
        page.get_by_role("button", name="Delete the last die").click()
        for face in "13345":
            page.locator(f".face-button[aria-label='{face}']").click()
        page.get_by_text(text).wait_for()
        assert places() == before
    page.locator(".enter").first.click()
    page.get_by_text("Player 2 throws. What do the dice show?").wait_for()
    page.locator("#typed:focus").wait_for()
    page.get_by_role("switch", name="I have real dice").press(" ")
    page.locator("button.throw").wait_for()
    assert "dice=" not in page.url


@pytest.mark.parametrize(("motion", "moves"), [("reduce", 0), ("no-preference", 5)])
def test_dice_fall_unless_motion_disturbs(visit, motion, moves):
    page = visit(motion=motion, patched=COUNT_MOVES, advice=0)
    page.locator(".throw").click()
    page.get_by_text("Throw 1 of 3").wait_for()
    page.locator(".die-button").nth(4).wait_for()
    assert page.evaluate("new Promise((done) => setTimeout(() => done(window.moves), 50))") == moves


def test_both_languages_have_the_same_words(visit, home):
    page = visit(game=GAME)
    english, german = page.evaluate(
        "import('/kniffel/static/words.js').then((words) => [words.keys('en'), words.keys('de')])"
    )
    assert english == german
    page.locator("#language").click()
    page.get_by_text("Runde 3 von 13").wait_for()
    assert page.locator("html").get_attribute("lang") == "de"
    assert game_of(page) == GAME
    assert "Große Straße" in page.locator(".sheet").inner_text()
    assert "," in page.locator(".worth").inner_text()


def test_advice_is_hidden_until_it_is_wanted(visit):
    page = visit(game=f"{GAME}_13355", advice=0)
    page.get_by_text("Advice is hidden.").wait_for()
    assert page.locator(".number").count() == 0
    page.get_by_label("Show advice").press("Space")
    advised(page)
    assert page.locator(".number").count() > 0
    assert not focused(page).startswith("BODY")


def test_puzzles_are_solved_and_failed_by_keyboard(visit, adviser):
    page = visit(width=360)
    page.locator("[data-key=mode-puzzles]").press("Enter")
    page.locator(".puzzle-list").wait_for()
    known = puzzles(adviser)
    assert page.locator(".puzzle-list li").count() == len(known)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert axe_complaints_light_and_dark(page) == []
    for number, puzzle in enumerate(known, start=1):
        if number == 1:
            page.locator(".puzzle-list a").first.press("Enter")
        else:
            page.locator("[data-key=next]").press("Enter")
        page.get_by_text(f"Puzzle {number}: ").wait_for()
        assert game_of(page) == game_text((puzzle.record,))
        assert page.get_by_text("Find the only best decision.").count() == 1
        assert page.locator(".worth, .action, .star").count() == 0  # nothing says what is best
        assert not focused(page).startswith("BODY")
        if number not in {1, len(known)}:
            continue
        best, second = puzzle.options[:2]
        for option, said in ((second, "Not solved. "), (best, "Solved. ")):
            choose(page, option)
            page.locator(".status").get_by_text(said).wait_for()
            assert not focused(page).startswith("BODY")
            advised(page)
            assert game_of(page) == game_text((puzzle.record,))  # nothing is thrown or entered
            text = page.locator(".status").inner_text()
            assert f" {Decimal(second.loss).quantize(Decimal('0.1'), ROUND_HALF_UP)} points" in text
        assert axe_complaints_light_and_dark(page) == []
        again = visit(**dict(parse_qsl(page.url.partition("#")[2])))
        again.locator(".status").get_by_text("Solved. ").wait_for()
    page.locator("[data-key=leave]").press("Enter")
    advised(page)
    assert page.get_by_role("button", name="Undo").count() == 1
    assert page.locator("[data-key=mode-play]").get_attribute("aria-pressed") == "true"


def choose(page, option):
    """Take a decision, by the keyboard."""
    if option.kept is None:
        page.locator(f".sheet [data-key=box-{option.box}]").press("Enter")
        return
    left = list(option.kept)
    for die in page.locator(".die-button").all():
        face = int(die.get_attribute("aria-label")[0]) - 1
        stays, left[face] = left[face] > 0, left[face] - 1
        if stays != (die.get_attribute("aria-pressed") == "true"):
            die.press("Enter")
    page.locator(".throw").press("Enter")


@pytest.mark.parametrize(
    "state",
    [
        {"puzzle": "<b>", "tried": "<b>", "game": f"{GAME}_13355"},
        {"puzzle": "1", "game": GAME},  # nothing is to be decided before a throw
        {"puzzle": "1", "tried": "b", "game": f"{GAME}_22222"},  # to enter all is best, elsewhere
    ],
)
def test_what_is_no_puzzle_is_called_neither_solved_nor_failed(visit, state):
    page = visit(**state)
    advised(page)
    assert page.locator(".status").get_by_text("olved.").count() == 0
    assert page.locator(".status b").count() == 0


def test_the_form_works_without_javascript(visit):
    page = visit(script=False)
    for box, entry in enumerate(CARD.split(",")):
        page.locator(f"#box{box}").fill(entry.replace("-", ""))
    page.locator("#throw").fill("3")
    page.locator("#dice").fill("13345")
    page.get_by_role("button", name="What to do?").click()
    assert page.locator("h2").inner_text() == "Best entry: Threes"
    assert page.locator("strong").inner_text() == "Expected points: 239.713069"


def test_who_has_no_javascript_finds_the_form(contexts, home):
    with visits(contexts, home) as open_page:
        page = open_page(home, "noscript a", java_script_enabled=False)
        page.locator("noscript a[lang=de]").click()
        page.get_by_role("button", name="Was tun?").wait_for()
        page = open_page(home, ".offer")
        assert "Five dice, thirteen boxes" in page.locator(".offer-text").inner_text()


@pytest.mark.parametrize("leave", ["undo", "only", "mode-ask"])
def test_a_reason_that_nobody_sees_any_more_is_not_asked_for(visit, leave):
    page = visit(game=GAME)
    advised(page)
    page.locator(".so-far").click()
    page.route(re.compile("why="), lambda route: None)  # never answered
    with page.expect_request(re.compile("why=")):
        page.locator(".why").first.click()
    with page.expect_event("requestfailed", lambda request: "why=" in request.url):
        page.locator(f"[data-key={leave}]").dispatch_event("click")


def test_progress_is_shown_and_can_be_stopped(visit):
    page = visit()
    advised(page)

    def solving(route):
        time.sleep(0.1)  # as the server holds what it cannot answer yet
        route.fulfill(status=202, json=SOLVING)

    page.route("**/api/kniffel*", solving)
    page.locator(".throw").click()
    page.get_by_text("Solving").wait_for()
    assert page.locator("progress").get_attribute("value") == "3"
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped.").wait_for()
    page.unroute("**/api/kniffel*")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("Throw 1 of 3").wait_for()
    advised(page)
    assert not focused(page).startswith("BODY")


def test_the_start_page_leads_here(visit, home):
    page = visit()
    page.goto(home)
    page.get_by_role("button", name="Play Kniffel (Yahtzee)").click()
    page.locator(".sheet").wait_for()


def test_the_page_is_small(visit, home):
    files = {f"{home}{path}": len(file.packed) for path, file in page_files().items()}
    page = visit()
    loaded = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
    assert sum(files.get(each, 0) for each in set(loaded)) <= 40_000
