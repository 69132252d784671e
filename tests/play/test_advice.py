"""Advice: the same from a solution and a complete search, at the terminal and on the page."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gamedp
from gamedp.cli import play as terminal
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel
from gamedp.play.advice import advise
from gamedp.play.play import Played
from gamedp.web.positions import basis_facts, shown_position
from gamedp.web.stakes import stakes_of

GAMES = [
    Matches(matches=11),
    Wubbel(goal=4),
    Mancala(pits=2, stones=2),
    Mancala(pits=1, stones=3, players=3),
]
MOST = 200
SIGNS = {"exact": "=", "at least": "≥", "at most": "≤"}


def positions(game):
    """Return positions of random games, the first ones where the game is not over."""
    rng, rules = np.random.default_rng(3), gamedp.rules.Rules(game)
    found = {}
    for _ in range(60):
        line = Played.begin(rules, None, rng)
        while not line.is_over:
            found[line.states[-1]] = None
            action = int(rng.choice(list(line.choices())))
            line.take(action, lambda shares: int(rng.choice(len(shares), p=shares)))
    return rules, list(found)[:MOST]


def shown(rules, advice):
    """Return the answer of the page."""
    is_solved = advice.depth is None
    basis = SimpleNamespace(solution=advice.result if is_solved else None, remoteness=None,
                            why_not=None, why_no_lengths=None, stakes=stakes_of(rules))  # fmt: skip
    made = SimpleNamespace(name="game", parameters={}, rules=rules)
    played = Played(rules, [advice.state], earned=[0.0] * rules.num_players)
    assert basis_facts(basis, advice)["why"] == advice.basis
    return shown_position(made, played, advice, basis)


def check_words_and_answer(rules, advice):
    """Compare what the terminal and the page show with the advice, and so with each other."""
    answer, mover = shown(rules, advice), rules.player(advice.state)
    lines = terminal._hint(advice, frozenset({0})).splitlines()
    rows = lines[1 : 1 + len(advice.actions)]
    for each, row, entry in zip(advice.actions, rows, answer["actions"], strict=True):
        assert (entry["action"], entry["name"], entry["best"]) == (
            each.action,
            each.name,
            each.best,
        )
        assert entry["number"] == each.value
        assert entry["relation"] == SIGNS[each.bound]
        assert row.startswith("  " if entry["best"] == "no" else "* ")
        assert float(row.split()[-1]) == pytest.approx(entry["number"], abs=1e-6)
        assert ("at " in row) == (entry["relation"] != "=")
    assert [each["player"] for each in answer["each"]] == [
        (mover + later) % rules.num_players for later in range(rules.num_players)
    ]
    is_sure = {"are", "is"} & set(lines[1 + len(rows)].split())
    assert len(rows) == 1 or bool(is_sure) == advice.is_certain
    assert set(advice.chosen) <= {each.action for each in advice.best}


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_advice_of_a_solution(game):
    rules, states = positions(game)
    solution = gamedp.solve(game, compile="never")
    for state in states:
        advice = advise(solution, state)
        check_words_and_answer(rules, advice)
        found = solution.action_values(state, rules.player(state))
        assert [(each.value, each.lower, each.upper) for each in advice.actions] == [
            (each.value, each.lower, each.upper) for each in found
        ]
        assert [each.action for each in advice.best] == (
            solution.best_actions(state)
            if rules.num_players < 3
            else _as_good(solution, found, state)
        )
        value, lower, upper = advice.values[0][1:]
        assert lower <= value <= upper


def _as_good(solution, found, state):
    own = next(each.value for each in found if each.action == solution.best_action(state))
    return [each.action for each in found if each.value >= own - 1e-12]


@pytest.mark.parametrize("depth", [1, 3, 40])
@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_advice_of_a_search(game, depth):
    rules, states = positions(game)
    player = gamedp.play.LevelPlayer(depth)
    solution = gamedp.solve(game, compile="never")
    for state in states[: 200 if depth < 40 else 3]:
        advice = advise(player.search(game, state, compile="never"), state)
        check_words_and_answer(rules, advice)
        known = advise(solution, state)
        for found, true in zip(advice.actions, known.actions, strict=True):
            slack = 1e-6
            assert found.lower - slack <= true.value <= found.upper + slack
        if advice.basis == "proven":
            assert advice.values[0][1] == pytest.approx(known.values[0][1])
            if advice.is_certain:
                best = {each.action for each in known.best}
                assert {each.action for each in advice.best} <= best


def test_only_advice_turns_bounds_around():
    root = Path(gamedp.__file__).parent
    files = [path for room in ("cli", "web") for path in (root / room).rglob("*.py")]
    assert len(files) > 20
    assert [path for path in files if "opposite_bounds" in path.read_text(encoding="utf-8")] == []
