"""What actions are worth stands on the board, for whichever game says where they are played."""

from typing import NamedTuple

import pytest
from browser import axe_complaints_light_and_dark, focused, served
from play_page import GAMES, NOUGHTS, address, open_actions
from web_client import listed_game

import gamedp
from gamedp.web.app import make_app
from gamedp.web.tables import Limits, WebTables

pytestmark = pytest.mark.deep

PEOPLE = ["person", "person"]
PATHS = 3


class Walk(NamedTuple):
    """Where a pawn is on a narrow board, whose turn it is, and what it has picked up."""

    player: int
    row: int
    column: int
    lead: int


class Stranger:
    """A pawn goes down, straight or aside; who moves it takes what lies there."""

    num_players = 2
    constant_sum = 0.0
    acyclic = True
    coins = ((0, 3, 1), (2, 0, 1), (1, 5, 0), (4, 1, 2))

    def initial_state(self):
        return Walk(0, -1, 1, 0)

    def is_terminal(self, state):
        return state.row == len(self.coins) - 1

    def player(self, state):
        return state.player

    def actions(self, state):
        for column in range(PATHS):
            if abs(column - state.column) <= 1:
                yield column

    def outcomes(self, state, action):
        got = self.coins[state.row + 1][action]
        sign = 1 if state.player == 0 else -1
        yield 1.0, Walk(1 - state.player, state.row + 1, action, state.lead + sign * got)

    def payoff(self, state, player):
        return float(state.lead if player == 0 else -state.lead)

    def view(self, state):
        rows = [list(row) for row in self.coins]
        if state.row >= 0:
            rows[state.row][state.column] = 6
        spots = {}
        if not self.is_terminal(state):
            spots = {action: (state.row + 1, action) for action in self.actions(state)}
        return gamedp.views.Grid(rows, symbols=("", "1", "2", "3", "4", "5", "P"), spots=spots)


class Crowded(Stranger):
    """The same game, with every action in one place."""

    def view(self, state):
        spots = {} if self.is_terminal(state) else dict.fromkeys(self.actions(state), (0,))
        return gamedp.views.Dice((1,), spots=spots)


@pytest.fixture(scope="module")
def strangers():
    tables = WebTables()
    games = {"walk": Stranger(), "crowded": Crowded()}
    listed = {name: listed_game(name, game) for name, game in games.items()}
    with served(make_app(listed, tables, ())) as site:
        yield site
    tables.close()


def on_the_board(page):
    """Return the value that stands where each action is played, and the text of each chip."""
    read = """(parts) => parts.map((part) => {
        const worth = part.querySelector(".worth");
        return [Number(part.dataset.action), worth.dataset.number, worth.textContent];
    })"""
    parts = page.locator(".board [data-action]").evaluate_all(read)
    return {action: (float(value), text) for action, value, text in parts}


def last(page):
    """Return the places on the board that are marked as the last move."""
    return page.locator(".board .last").evaluate_all("(all) => all.map((each) => each.dataset.at)")


def test_a_stranger_s_game_has_its_values_on_its_board(visit, strangers):
    game = Stranger()
    solution = gamedp.solve(game)
    page = visit(address("walk", seats=PEOPLE), site=strangers)
    state, plies = game.initial_state(), 0
    while not game.is_terminal(state):
        open_actions(page)
        known = {each.action: each.value for each in solution.action_values(state, state.player)}
        shown = on_the_board(page)
        assert {action: value for action, (value, _) in shown.items()} == known
        most = max(known.values())
        stars = {action for action, (_, text) in shown.items() if "★" in text}
        alike = len(set(known.values())) == 1
        assert stars == (set() if alike else {each for each in known if known[each] == most})
        assert last(page) == ([] if plies == 0 else [f"{state.row},{state.column}"])
        action = min(known)
        page.locator(f".board [data-action='{action}']").click()
        plies += 1
        page.locator(".past > .plies .ply").nth(plies - 1).wait_for()
        [(_, state)] = game.outcomes(state, action)
    page.get_by_text("The game is over.").wait_for()
    assert page.locator(".board .worth").count() == 0


def test_of_several_actions_in_one_place_the_list_asks_which(visit, strangers):
    page = visit(address("crowded", seats=PEOPLE), site=strangers)
    open_actions(page)
    solution = gamedp.solve(Stranger())
    best = max(each.value for each in solution.action_values(Stranger().initial_state(), 0))
    chip = page.locator(".board .worth")
    assert float(chip.get_attribute("data-number")) == best
    assert "…" in chip.text_content()
    page.locator(".board .die").click()
    assert focused(page).startswith("BUTTON.action")
    assert page.locator(".ply").count() == 0


@pytest.mark.parametrize("name", ["mancala", "nim", NOUGHTS])
def test_list_and_board_point_at_each_other(visit, name):
    page = visit(address(name, seats=PEOPLE))
    button = open_actions(page).nth(1)
    action = button.get_attribute("data-action")
    place = page.locator(f".board [data-action='{action}']")
    for enter, leave in (
        (button.focus, button.blur),
        (button.hover, lambda: page.mouse.move(0, 0)),
        (place.hover, lambda: page.mouse.move(0, 0)),
    ):
        enter()
        for part in (button, place):
            assert "pointed" in part.get_attribute("class").split()
        leave()
        assert "pointed" not in place.get_attribute("class").split()


@pytest.mark.parametrize(
    ("name", "actions", "places"), [("mancala", [1], ["1,0"]), (NOUGHTS, [4], ["1,1"])]
)
def test_the_last_move_is_marked_where_it_was_played(visit, name, actions, places):
    page = visit(address(name, a=actions, o=[0] * len(actions), seats=PEOPLE))
    page.locator(".ply").first.wait_for()
    assert last(page) == places


def test_the_matches_that_went_last_are_marked(visit):
    page = visit(address("matches", a=[2, 3], o=[0, 0], seats=PEOPLE))
    page.locator(".ply").nth(1).wait_for()
    places = "(all) => all.map((each) => Number(each.dataset.place))"
    assert page.locator(".match.last").evaluate_all(places) == [4, 5, 6]


def test_the_end_has_a_banner_that_leads_to_the_costliest_mistake(visit):
    """Who leaves 5 or 1 wins: both players spoil a win, and the first one does it last."""
    page = visit(address("matches", a=[1, 2, 1, 1, 1, 2, 1], seats=["person", "solution"]))
    words = "Costliest mistake: Move 5, You: take 1; best: take 3; it turned a win into a loss."
    page.locator(".banner").get_by_text(words).wait_for()
    assert axe_complaints_light_and_dark(page) == []
    page.get_by_role("button", name="Show it").press("Enter")
    page.get_by_text("Move 4 of 7.").wait_for()
    assert not page.locator(".banner").is_visible()
    assert not focused(page).startswith("BODY")


BOX = "(part) => { const {top, bottom, height} = part.getBoundingClientRect(); "
BOX += "return [top, bottom, height]; }"


CUT = """
    (all) => all.filter((part) => {
      const [own, around] = [part, part.closest("button, .side")].map((each) =>
        each.getBoundingClientRect());
      return part.scrollWidth > part.clientWidth + 1 || own.right > around.right
        || getComputedStyle(part).overflowWrap !== "normal";
    }).map((part) => part.textContent)
"""
"""Texts that are wider than what they stand in, or may be broken within a word."""


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
@pytest.mark.parametrize(("name", "line"), [("wubbel", [0]), ("matches", [1]), ("mancala", [1])])
def test_actions_are_at_the_thumb_on_a_telephone(visit, name, line, locale):
    page = visit(
        address(name, a=line, o=[1 - len(line)], seats=PEOPLE), width=360, height=640, locale=locale
    )
    open_actions(page)
    page.locator(".ply").first.wait_for(state="attached")
    assert axe_complaints_light_and_dark(page) == []
    arrows, *_ = page.locator(".arrows").evaluate(BOX)
    for place in (0, 500, 10_000):
        page.evaluate(f"scrollTo(0, {place})")
        for button in page.locator(".action").all():
            top, bottom, height = button.evaluate(BOX)
            assert height >= 44
            assert 320 < top < bottom <= arrows
    assert page.locator(".action :is(.name, .number), .side-value").evaluate_all(CUT) == []
    page.evaluate("scrollTo(0, 0)")
    top, bottom, _ = page.locator(".drawing").first.evaluate(BOX)
    assert top >= 0
    assert bottom <= page.locator(".actions").evaluate(BOX)[0]


@pytest.mark.parametrize(("players", "pits"), [(2, 6), (3, 6)])
def test_pits_are_large_enough_for_a_thumb(visit, players, pits):
    parameters = {"pits": pits, "stones": 1, "players": players}
    page = visit(
        address("mancala", p=parameters, seats=["person"] * players), width=360, height=740
    )
    open_actions(page)
    widths = "(all) => all.map((each) => each.getBoundingClientRect().width)"
    found = page.locator(".board .pit:not(.store) .hollow").evaluate_all(widths)
    assert len(found) == players * pits
    assert min(found) >= 44
    assert page.locator(".drawing").evaluate(BOX)[1] <= 640


@pytest.mark.parametrize(("seats", "below"), [(["solution", "person"], 1), (PEOPLE, 0)])
@pytest.mark.parametrize("width", [360, 1280])
def test_one_s_own_row_lies_below_and_its_store_to_the_right(visit, seats, below, width):
    page = visit(address("mancala", seats=seats), width=width, height=740)
    open_actions(page)
    boxes = {
        group.get_attribute("data-key"): group.locator(".hollow").bounding_box()
        for group in page.locator(".board .pit").all()
    }
    own, other = 1 - below, below  # the row of the first player is the second one
    assert boxes[f"{own},0"]["y"] > boxes[f"{other},0"]["y"]
    along = "x" if width > 360 else "y"
    assert boxes[f"store,{own}"][along] > boxes[f"store,{other}"][along]
    row = [boxes[key]["x"] for key in boxes if key.startswith(f"{own},")]
    assert row == sorted(row, reverse=below == 1)


LETTERS = """
    (all) => all.map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)
"""


@pytest.mark.parametrize(
    ("name", "rest"), [("mancala", {"p": {"pits": 6, "stones": 1}}), (NOUGHTS, {"a": [4]})]
)
def test_values_on_the_board_can_be_read_on_a_telephone(visit, name, rest):
    page = visit(address(name, seats=PEOPLE, **rest), width=360, height=740)
    open_actions(page)
    assert min(page.locator(".board .worth text").evaluate_all(LETTERS)) >= 11


def test_letters_on_the_board_are_explained(visit):
    page = visit(address("matches", a=[1], seats=PEOPLE))
    open_actions(page)
    assert page.locator(".board .letters").inner_text() == "W: wins · L: loses"
    page.get_by_text("Values", exact=True).click()
    page.locator(".board .letters").wait_for(state="detached")


def test_how_it_has_ended_comes_first_and_is_in_view_on_a_telephone(visit):
    """The action that ends it is far below the board."""
    actions = {"p": {"heaps": [1, 1, 1, 1, 1, 1, 1, 1]}, "seats": PEOPLE}
    page = visit(address("nim", **actions), width=360, height=740)
    for plies in range(8):
        open_actions(page).last.click()
        page.locator(".past > .plies .ply").nth(plies).wait_for()
    page.locator(".status b").wait_for()
    assert page.locator(".status b").inner_text() == "Player 1 has won."
    top, bottom, _ = page.locator(".status b").evaluate(BOX)
    assert 0 <= top < bottom <= page.locator(".again").evaluate(BOX)[0]


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
def test_names_of_players_fit_into_their_seats(visit, serve, listed, locale):
    tables = WebTables(Limits(states=3, shapes=0))  # without compiling
    site = serve(make_app({"matches": listed["matches"]}, tables, ()), tables)
    page = visit(address("matches"), site=site, locale=locale)
    page.locator(".seats .note:not(:empty)").wait_for()
    widths = """
        (seat) => [...seat.options].map((option) => {
          const pen = document.createElement("canvas").getContext("2d");
          pen.font = getComputedStyle(seat).font;
          return pen.measureText(option.text).width;
        })
    """
    seat = page.locator(".seat select").first
    arrow_and_padding = 40
    most = seat.evaluate("(seat) => seat.clientWidth") - arrow_and_padding
    assert max(seat.evaluate(widths)) <= most


def test_only_what_is_solved_is_called_so(visit, serve, listed):
    name = "matches"
    tables = WebTables(Limits(states=3, shapes=0))  # without compiling
    site = serve(make_app({name: listed[name]}, tables, ()), tables)
    page = visit("", site=site)
    assert "solved when opened" in page.locator(".solved").inner_text()
    page = visit(address(name, p={}), site=site)
    open_actions(page)
    page.locator(".seats .note").get_by_text("too large to be solved").wait_for()
    for text in page.locator(".seat option").all_text_contents():
        assert "erfect" not in text
    page = visit("", site=site)
    assert page.locator(".solved").inner_text() == "searched: too large to be solved"
    page = visit(address(name))
    open_actions(page)
    assert "Perfect player" in page.locator(".seat option").all_text_contents()


def test_exact_numbers_are_reached_by_keyboard(visit):
    page = visit(address("wubbel", seats=PEOPLE))
    open_actions(page)
    page.locator(".exact summary").press("Enter")
    table = page.locator(".exact table")
    table.wait_for()
    assert table.locator("tbody tr").count() == page.locator(".action").count()
    assert table.locator("td.value").first.inner_text().startswith("0.")
    assert axe_complaints_light_and_dark(page) == []


def test_a_value_is_said_in_the_unit_of_the_game(visit):
    for locale, words in (("en-US", "stone"), ("de-DE", "Stein")):
        page = visit(address("mancala", seats=PEOPLE), locale=locale)
        open_actions(page)
        assert any(words in text for text in page.locator(".number").all_inner_texts())
    assert set(GAMES) >= {"mancala"}


@pytest.mark.parametrize(
    ("number", "relation", "words"),
    [
        ("-2", "≤", "at least 2 behind"),
        ("-2", "≥", "at most 2 behind"),
        ("2", "≤", "at most 2 ahead"),
        ("2", "≥", "at least 2 ahead"),
        ("-2", "=", "2 behind"),
    ],
)
def test_a_bound_of_a_lead_says_so_the_right_way_round(visit, number, relation, words):
    basis = {"kind": "table", "stakes": {"kind": "lead"}}
    entry = {"number": number, "relation": relation, "lower": "-9", "upper": "9", "plies": None}
    said = visit().evaluate(
        "([now, entry]) => import('/static/worth.js').then(({said}) => said(now, entry))",
        [{"basis": basis, "earned": ["0", "0"]}, entry],
    )
    assert said == words
