"""Why a move is good or bad: in words, by the rule that the table proves, and in a picture."""

import pytest
from browser import axe_complaints_light_and_dark, focused
from play_page import address, open_actions

from gamedp.games.matches import matches_winning
from gamedp.web.app import make_app
from gamedp.web.tables import Limits, WebTables

pytestmark = pytest.mark.deep

PEOPLE = ["person", "person"]


def why(page):
    """Open the box; return it when it is full."""
    open_actions(page)
    if not page.locator(".because-text").count():
        page.locator(".because summary").press("Enter")
    page.locator(".because-text p").nth(1).wait_for()
    return page.locator(".because")


def test_the_rule_is_read_from_the_table(visit):
    page = visit(address("matches", p={}, seats=PEOPLE))
    box = why(page)
    ends = box.locator(".strip li").evaluate_all(
        "(all) => all.map((each) => [each.querySelector('b').textContent, each.className])"
    )
    assert ends == [
        [str(left), "tone-win" if matches_winning(left) else "tone-loss"] for left in range(19)
    ]
    rule = box.locator(".because-rule").inner_text()
    assert rule.startswith("Whoever is to move at 1, 5, 9, 13, or 17 loses")
    assert rule.endswith("They are 4 apart.")
    assert box.locator("[aria-current]").inner_text().startswith("18")
    assert "It is the only best move." in box.inner_text()
    box.locator("select").select_option("3")
    box.get_by_text("Best: Take 1").wait_for()
    box.get_by_text("Player 2: the best reply is take 2.").wait_for()
    assert box.locator("[data-after]").inner_text().startswith("15")
    assert axe_complaints_light_and_dark(page) == []
    page = visit(address("matches", p={"takes": [1, 3, 4]}, seats=PEOPLE), locale="de-DE")
    rule = why(page).locator(".because-rule").inner_text()
    assert rule.startswith("Wer bei 1, 3, 8, 10, 15 oder 17 am Zug ist, verliert")
    assert "auseinander" not in rule


def test_nim_shows_its_sums_before_and_after(visit):
    page = visit(address("nim", p={"heaps": [3, 5, 7], "misere": False}, seats=PEOPLE))
    box = why(page)
    box.locator(".because-side").nth(1).wait_for()
    before, after = box.locator(".because-side").all_inner_texts()
    assert "The nim-sum is 1: whoever is to move wins by making it 0." in before
    assert "The nim-sum is 0: whoever is to move loses." in after
    assert axe_complaints_light_and_dark(page) == []
    page = visit(address("nim", seats=PEOPLE), locale="de-DE", width=320)
    assert "Nim-Summe" in why(page).inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_chance_is_told_outcome_by_outcome_with_the_slice_of_the_surface(visit):
    page = visit(address("wubbel", a=[0], o=[3], seats=PEOPLE))
    open_actions(page)
    page.locator(".because summary").press("Enter")
    box = page.locator(".because")
    box.locator(".surface-flat .ring").wait_for()
    rows = box.locator(".because-table tbody tr")
    assert rows.count() == 6
    told = [rows.nth(n).locator("td").nth(1).get_attribute("data-number") for n in range(6)]
    entry = page.evaluate(
        "(body) => fetch('api/games/wubbel/position', {method: 'POST', "
        "headers: {'Content-Type': 'application/json'}, body}).then((answer) => answer.json())",
        '{"parameters": {"goal": 9}, "line": {"actions": [0], "outcomes": [3]}}',
    )["actions"][0]
    assert [float(each) for each in told] == [each["number"] for each in entry["chance"]]
    assert "Player 2: Roll" in rows.last.inner_text()
    assert axe_complaints_light_and_dark(page) == []


def test_it_follows_the_game_and_is_read_by_keyboard(visit):
    page = visit(address("mancala", seats=PEOPLE))
    box = why(page)
    box.locator("select").focus()
    page.keyboard.press("ArrowDown")
    first = page.locator(".action .name").nth(1).inner_text()
    box.locator(".because-text p").get_by_text(f"{first}:").wait_for()
    assert focused(page).startswith("SELECT")
    page.locator(".action").first.press("Enter")
    page.locator(".past > .plies .ply").first.wait_for()
    box.get_by_text("Player 1: ").wait_for()
    english, german = page.evaluate(
        "import('/static/why.js').then(({WORDS}) => [WORDS.en, WORDS.de].map(Object.keys))"
    )
    assert english == german


def test_mistakes_of_a_search_are_proven_or_its_opinion(visit, serve, listed):
    """A search sees all of so small a game, so what it says here is proven."""
    name = "matches"
    line = {"a": [1, 2, 1, 1, 1, 2, 1], "o": [0] * 7}
    tables = WebTables(Limits(states=3, shapes=0))
    site = serve(make_app({name: listed[name]}, tables, ()), tables)
    page = visit(address(name, **line, seats=PEOPLE), site=site)
    page.get_by_role("button", name="Search the positions so far").press("Enter")
    mistakes = page.locator(".mistakes .ply")
    mistakes.first.wait_for()
    texts = mistakes.all_inner_texts()
    assert all("proven: costs at least 2" in text for text in texts)
    places = [int(text.split()[1].rstrip(",")) for text in texts]
    left = [9, 8, 6, 5, 4, 3, 1]
    spoilt = [each for each in range(6) if all(map(matches_winning, left[each : each + 2]))]
    assert places == [ply + 1 for ply in spoilt] == [2, 5]
    mistakes.first.press("Enter")
    page.get_by_text(f"Move {places[0] - 1} of 7.").wait_for()
    box = why(page)
    box.get_by_text("Proven: even at its best, it is worse.").wait_for()


def test_what_bounds_do_not_prove_is_called_an_opinion(visit):
    """Of two mistakes, the proven one comes first though it costs less."""
    page = visit(address("matches", seats=PEOPLE))
    open_actions(page)
    texts = page.evaluate(OPINIONS)
    assert [text.split("best: ")[1] for text in texts] == [
        "twoproven: costs at least 1",
        "twoa search\N{RIGHT SINGLE QUOTATION MARK}s opinion: costs \N{ALMOST EQUAL TO} 3",
    ]


OPINIONS = """async () => {
    const { searchedReport } = await import("/static/past.js");
    const number = (action, name, best, number, lower, upper, loss) =>
        ({ action, name, best, number, lower, upper, loss, relation: "=" });
    const seen = (low, high, loss) => ({
        basis: { kind: "search", stakes: { kind: "lead" } }, value: { lower: low },
        actions: [
            number(2, "two", "possible", 5, low, 9, 0), number(1, "one", "no", 2, -9, high, loss),
        ],
    });
    const play = { nameOf: String, positionOf: (ply) => [seen(4, 3, 3), seen(0, 5, 3)][1 - ply] };
    const plies = [0, 1].map((ply) => ({ ply, mover: 0, action: 1, name: "one" }));
    const parts = searchedReport(play, { plies }, () => {});
    return [...parts.at(-1).querySelectorAll("li")].map((each) => each.textContent);
}"""
