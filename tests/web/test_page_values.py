"""Every number of the page is the library's, and what is only estimated says so."""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from play_page import GAMES, NOUGHTS, address, open_actions, printed

import gamedp
from gamedp.games.matches import MatchesState
from gamedp.web.app import make_app
from gamedp.web.tables import Limits, WebTables

pytestmark = pytest.mark.deep


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
      const exact = (what) => found(what).map(({ dataset }) => dataset.number ?? null);
      const board = found(".board [data-actions]").map((part) =>
        [part.dataset.actions, part.querySelector("[data-number]")?.dataset.number ?? null]);
      return {
        numbers: exact(".actions .number"), stars: texts(".actions .star"),
        exact: texts(".exact td.value"), board,
        lengths: texts(".actions .plies-left"), words: texts(".actions .number"),
        standing: exact(".side-value"),
        choices: exact(".past > .plies .part-choice"), luck: exact(".past > .plies .part-luck"),
        basis: texts(".basis")[0],
      };
    }
"""


def lengths_of(found, rules, state, known):
    """Return what the page must show of how long play lasts after each action."""
    after, half = found.after(state), rules.constant_sum / 2
    return [ending(found.kind, after[each.action], each.value - half) for each in known]


def ending(kind, plies, lead):
    """Return how a length is shown; `lead` is what the mover has beyond the half of all."""
    if kind == "forced":
        place = f"{plies:.0f}"
        result = "wins in {}" if lead > 0 else "loses in {} at best" if lead < 0 else "draws in {}"
        return f", {result.format(place)}"
    about = Decimal(plies).quantize(Decimal("1.0" if plies < 10 else "1"), ROUND_HALF_UP)
    return f", \N{ALMOST EQUAL TO} {int(plies) if plies.is_integer() else about} moves"


def in_words(name, value, length):
    """Return an action's value as a player reads it."""
    if name == "mancala":
        size = f"{abs(value):.0f} stone{'' if abs(value) == 1 else 's'}"
        return f", {size} {'ahead' if value > 0 else 'behind'}" if value else ", level"
    if name != "wubbel":
        return length
    share = f"{Decimal(100 * value).quantize(Decimal('1.0'), ROUND_HALF_UP)}"
    if 0 < value < 0.0005 or 0.9995 <= value < 1:
        share = "< 0.1" if value < 0.5 else "> 99.9"
    return f", {int(value * 100) if value in {0, 1} else share}\N{NO-BREAK SPACE}% to win"


STARS = {"certain": "★", "possible": "☆", "no": ""}


def numbers_of(name, solution, found, rules, state):
    """Return what the page must show of a position."""
    known = solution.action_values(state, rules.player(state))
    lengths = lengths_of(found, rules, state, known)
    values = {each.action: each.value for each in known}
    are_alike = all(each.best != "no" for each in known)  # then no mark says anything
    marks = {"certain": "", "possible": "", "no": ""} if are_alike else STARS
    is_said_once = name not in {"mancala", "wubbel"}
    return {
        "numbers": [each.value for each in known],
        "stars": [marks[each.best] for each in known],
        "exact": [printed(each.value) for each in known],
        "board": {action: values[action] for action in rules.view(state).spots},
        "lengths": [""] * len(known) if is_said_once else lengths,
        "words": [
            in_words(name, each.value, length) for each, length in zip(known, lengths, strict=True)
        ],
        "standing": [solution.value(state, player) for player in (0, 1)],
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
            parts.append(value if is_said else None)
    return {"choices": choices, "luck": luck}


def as_numbers(shown):
    """Read the numbers of a page where they have every digit."""
    for kind in ("numbers", "standing", "choices", "luck"):
        shown[kind] = [None if each is None else float(each) for each in shown[kind]]
    shown["board"] = {int(action): float(number) for action, number in shown["board"]}
    return shown


@pytest.mark.parametrize("name", [*GAMES, NOUGHTS])
def test_every_number_is_the_library_s(visit, listed, name):
    parameters = GAMES.get(name, {})
    game = listed[name].make(parameters).rules.game
    rules, solution = gamedp.rules.Rules(game), gamedp.solve(game, tolerance=1e-9)
    found = gamedp.policies.remoteness(solution)
    assert found.kind == ("mean" if name == "wubbel" else "forced")
    rng = np.random.default_rng(3)
    seats = ["person", "person"]
    page = visit(address(name, seats=seats))
    open_actions(page)
    longest = 0
    for seed in range(100):
        actions, outcomes, states = random_line(rules, rng, int(rng.integers(12)))
        where = address(name, a=actions, o=outcomes, seats=seats, seed=seed)
        shown = page.evaluate(READ, [where, len(actions)])
        assert f"{solution.model.num_states:,} positions" in shown.pop("basis")
        assert as_numbers(shown) == {
            **numbers_of(name, solution, found, rules, states[-1]),
            **parts_of(solution, rules, states, actions),
        }
        longest = max(longest, len(actions))
    assert longest > 3


def test_a_small_width_has_one_digit(visit):
    widths = [4e-12, 4.1e-12, 9.99e-10, 1e-9, 0.095]
    small = "(given) => import('/static/words.js').then(({ small }) => given.map(small))"
    assert visit().evaluate(small, widths) == [
        "4·10⁻¹²",
        "5·10⁻¹²",
        "1·10⁻⁹",
        "1·10⁻⁹",
        "1·10⁻¹",
    ]


def test_of_a_game_that_is_searched_the_past_is_an_estimate(visit, serve, listed):
    """As far as it has been played here; of a link, when it is asked for."""
    name, seats = "matches", ["person", "person"]
    solution = gamedp.solve(listed[name].make(GAMES[name]).rules.game)
    states = [MatchesState(mover, left) for mover, left in ((0, 9), (1, 7), (0, 5))]
    first, last = (printed(solution.value(state, 0)) for state in (states[0], states[-1]))
    words = f"What Player 1 can expect, over 2 moves: from {first} to {last}."
    words += " (estimate, not proven)"
    tables = WebTables(Limits(states=3, shapes=0))  # without compiling
    site = serve(make_app(listed, tables, ()), tables)
    page = visit(address(name, seats=seats), site=site)
    open_actions(page)
    for plies in range(2):
        open_actions(page).nth(1).click()
        page.locator(".ply").nth(plies).wait_for()
    page.locator(".chart .by-estimate").nth(1).wait_for(state="attached")
    assert page.locator(".chart").first.get_attribute("aria-label") == words
    assert "estimate, not proven" in page.locator(".past .legend").inner_text()
    again = visit("#" + page.url.partition("#")[2], site=site)
    again.get_by_role("button", name="Search the positions so far").click()
    again.locator(".chart .by-estimate").nth(1).wait_for(state="attached")
    assert again.locator(".chart").first.get_attribute("aria-label") == words
    assert again.get_by_role("button", name="Search the positions so far").count() == 0
    assert again.locator(".part-choice").count() == 0


SAID = """
    async (given) => {
      const { costOf, said } = await import("/static/worth.js");
      const actions = given.map((each) => ({ best: "no", loss: 1, ...each }));
      const stakes = { kind: "lead" };
      const value = { number: 2, lower: -60, upper: 60, relation: "=" };
      const now = { basis: { kind: "search", stakes }, actions, value, earned: [], over: false };
      return actions.map((each) => [said(now, each), costOf(now, each)]);
    }
"""


def test_what_a_search_only_thinks_is_not_said_to_be_proven(visit):
    """What is at most 1 by a search may be anything up to what is proven; without bounds, too."""
    wide = {"number": 1, "lower": -60, "upper": 60}
    given = [
        {**wide, "relation": "\N{LESS-THAN OR EQUAL TO}"},
        {**wide, "relation": "\N{LESS-THAN OR EQUAL TO}", "upper": 1},
        {**wide, "relation": "="},
        {"number": 1, "lower": None, "upper": None, "relation": "="},
        {"number": 1, "lower": 1, "upper": 1, "relation": "="},
    ]
    about = "\N{ALMOST EQUAL TO} 1"
    assert visit().evaluate(SAID, given) == [
        ["likely at most 1 ahead", "costs likely at least 1"],
        ["at most 1 ahead", "costs likely at least 1"],
        [f"{about} ahead", f"costs {about}"],
        [f"{about} ahead", f"costs {about}"],
        ["1 ahead", f"costs {about}"],
    ]
