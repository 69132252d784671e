"""Puzzles: positions in which one action is proven to be the only best one."""

import enum

import attrs
import numpy as np
import pytest
from web_client import Client, listed_game

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.play.advice import bounds_in_equilibria
from gamedp.web import export as web_export, puzzles as web_puzzles
from gamedp.web.catalogue import made
from gamedp.web.states import plain_state
from gamedp.web.tables import Limits, WebTables


class Phase(enum.Enum):
    """Whose turn it is; a request cannot give it."""

    FIRST = 0
    SECOND = 1


@attrs.frozen
class Spot:
    """A position that a request cannot give."""

    phase: Phase
    left: int


class Hidden:
    """The game of matches, with states of its own class."""

    num_players = 2

    def initial_state(self):
        return [(0.5, Spot(Phase.FIRST, 9)), (0.5, Spot(Phase.FIRST, 8))]

    def is_terminal(self, state):
        return state.left == 0

    def player(self, state):
        return state.phase.value

    def actions(self, state):
        return range(1, min(3, state.left) + 1)

    def outcomes(self, state, action):
        return [(1.0, Spot(Phase(1 - state.phase.value), state.left - action))]

    def payoff(self, state, player):
        return 1.0 if player == state.phase.value else -1.0


def proven(solution, state):
    """Return the only best action and its gap, as the library proves them; None without one."""
    known = solution.action_values(state, solution.model.rules.player(state))
    certain = [each for each in known if each.best == "certain"]
    if len(known) < 2 or len(certain) != 1:
        return None
    gap = certain[0].lower - max(each.upper for each in known if each is not certain[0])
    return (certain[0].action, gap) if gap > 0 else None


GAMES = {
    "matches": Matches(),
    "nim": Nim(heaps=(2, 3, 3)),
    "wubbel": Wubbel(goal=9),
    "hidden": Hidden(),
}


@pytest.mark.parametrize("name", GAMES)
def test_puzzles_are_what_the_library_proves(name):
    game = GAMES[name]
    solution = gamedp.solve(game, compile="never", tolerance=1e-9)
    with Client((listed_game(name, game),)) as client:
        answer = client.asked(name, "puzzles", line=None)
        assert answer.status_code == 400  # there is no line in this request
        answer = asked(client, name).json()
        assert answer["basis"]["kind"] == "table"
        found = answer["puzzles"]
        gaps = [each["gap"] for each in found]
        assert gaps == sorted(gaps, reverse=True)
        bests = []
        for puzzle in found:
            position = client.position(name, line=puzzle["line"])
            for part in ("state", "view", "text", "mover", "players"):
                assert position[part] == puzzle[part]
            played = [each for each in position["actions"] if each["best"] == "certain"]
            assert len(played) == 1
            bests.append(played[0]["action"])
            assert len(position["actions"]) == puzzle["choices"]
            others = [each["upper"] for each in position["actions"] if each != played[0]]
            assert (played[0]["lower"], max(others)) == (puzzle["best"], puzzle["second"])
            assert puzzle["gap"] == puzzle["best"] - puzzle["second"] > 0
        all_gaps = sorted(
            (
                (found_gap[1], found_gap[0])
                for index in range(solution.model.num_states)
                if (found_gap := proven(solution, solution.model.state(index)))
            ),
            key=lambda pair: -pair[0],
        )
        assert len(all_gaps) > 0
        by_action = {action: [g for g, a in all_gaps if a == action] for _, action in all_gaps}
        most = sum(min(len(each), web_puzzles.MOST_ALIKE) for each in by_action.values())
        if name == "wubbel":  # whose gaps are of all sizes
            levels = [round(web_puzzles.LEVELS * gap / gaps[0]) for gap in gaps]
            kinds = list(zip(bests, levels, strict=True))
            assert max(map(kinds.count, kinds)) == web_puzzles.MOST_NEAR
            assert len(set(levels)) > len(levels) / 3
        elif name != "hidden":  # of which only what can be played to is asked
            assert len(found) == min(most, web_puzzles.MOST_PUZZLES)
        assert found[0]["gap"] == pytest.approx(all_gaps[0][0], abs=1e-6)
        assert max(map(bests.count, bests)) <= web_puzzles.MOST_ALIKE


def asked(client, name, **body):
    """Ask for the puzzles until there is an answer."""
    while True:
        answer = client.post(f"/api/games/{name}/puzzles", json=body)
        if answer.status_code != 202:
            return answer


def test_states_that_cannot_be_given_are_played_to():
    with Client((listed_game("hidden", Hidden()),)) as client:
        found = asked(client, "hidden").json()["puzzles"]
    starts = [each["line"]["start"] for each in found]
    assert {"drawn": 0} in starts
    assert all(set(start) == {"drawn"} for start in starts)
    assert any(each["line"]["actions"] for each in found)


def test_without_a_proof_there_are_no_puzzles():
    with Client((listed_game("matches", Matches()),), tables=WebTables(Limits(states=3))) as client:
        answer = asked(client, "matches")
        assert (answer.status_code, answer.json()["limit"]) == (409, "states")
        assert "no table, so no puzzles" in answer.json()["error"]
    with Client((listed_game("single", Matches(matches=5, takes=(1,))), "nim")) as client:
        assert asked(client, "single").json()["puzzles"] == []  # there is never a choice
        for body in ({"parameters": []}, {"parameters": {}, "more": 1}, [], 3, "x"):
            answer = client.post("/api/games/nim/puzzles", json=body)
            assert answer.status_code == 400
        assert asked(client, "nim", parameters={"heaps": [1, 2]}).status_code == 200
        assert asked(client, "nim", parameters={"heaps": "x"}).status_code == 422
        assert client.get("/api/games/nim/puzzles").status_code == 405


class Tied:
    """Player 0 chooses; then player 1, for whom its two actions are the same, decides.

    Player 0 gets 1 at once, or what player 1 grants: `few` or 3. A third action earns 0.
    """

    num_players = 3

    def __init__(self, few):
        self.few = few

    def initial_state(self):
        return "start"

    def is_terminal(self, state):
        return state in {"none", "one", "few", "many"}

    def player(self, state):
        return int(state != "start")

    def actions(self, state):
        return range(3) if state == "start" else range(2)

    def outcomes(self, state, action):
        following = ("none", "one", "other") if state == "start" else ("few", "many")
        return [(1.0, following[action])]

    def payoff(self, state, player):
        return (
            {"none": 0.0, "one": 1.0, "few": self.few, "many": 3.0}[state] if player == 0 else 2.0
        )


@pytest.mark.parametrize(("few", "gap"), [(0.0, None), (1.0, None), (2.0, 1.0)])
def test_ties_of_others_make_no_puzzle(few, gap):
    """Whichever way player 1 chooses, the third action is best only if both ways bring more."""
    solution = gamedp.solve(Tied(few), compile="never")
    assert {each.best for each in solution.action_values("start")} == {"certain", "no"}
    with Client((listed_game("tied", Tied(few)),)) as client:
        found = asked(client, "tied").json()
    assert found["basis"]["why"] == "equilibrium"
    assert [each["gap"] for each in found["puzzles"]] == ([] if gap is None else [gap])


def values_in_equilibria(game, state):
    """Return the values of all players in every equilibrium, by plain recursion."""
    if game.is_terminal(state):
        return {tuple(game.payoff(state, player) for player in range(game.num_players))}
    mover = game.player(state)
    each = [values_after(game, state, action) for action in game.actions(state)]
    most = max(min(value[mover] for value in values) for values in each)
    return {value for values in each for value in values if value[mover] >= most}


def values_after(game, state, action):
    """Return the values of all players after an action without chance, in every equilibrium."""
    [(_, following)] = game.outcomes(state, action)
    return values_in_equilibria(game, following)


def test_of_three_players_each_has_puzzles_of_its_own(monkeypatch):
    game = Mancala(pits=2, stones=2, players=3)
    with Client((listed_game("three", game),)) as client:
        found = asked(client, "three").json()["puzzles"]
    assert {each["mover"] for each in found} == {0, 1, 2}
    solution = gamedp.solve(game, compile="never")
    met = []
    whole = bounds_in_equilibria(solution, progress=met.append)
    monkeypatch.setattr("gamedp.play.advice.STATES", 5)
    np.testing.assert_array_equal(bounds_in_equilibria(solution), whole)
    assert {each.phase for each in met} == {"verify"}
    states = {repr(plain_state(each)): each for each in map(solution.model.state, range(122))}
    tight = 0
    for puzzle in found:
        state = states[repr(puzzle["line"]["start"]["state"])]
        mover = game.player(state)
        assert mover == puzzle["mover"]
        worth = sorted(
            (
                [value[mover] for value in values_after(game, state, action)]
                for action in game.actions(state)
            ),
            key=min,
        )
        assert puzzle["best"] == min(worth[-1])
        most = max(max(each) for each in worth[:-1])
        assert puzzle["second"] >= most  # bounds of each player apart from the others' are wider
        tight += puzzle["second"] == most
        known = solution.action_values(state, mover)
        assert [each.value >= puzzle["best"] for each in known if each.best == "certain"] == [True]
    assert tight > 0.8 * len(found) > 8


def test_a_folder_has_those_that_can_be_played_in_it():
    tables = WebTables()
    for game in (Matches(matches=9), Nim(heaps=(1, 2, 3)), Wubbel(goal=6), Hidden()):
        known = made(type(game).__name__, game)
        data = web_export.table_data(known, tables.prepare(known, None))
        states = [position["state"] for position in data["positions"]]
        assert data["puzzles"]
        for puzzle in data["puzzles"]:
            place = states.index(puzzle["line"]["start"]["state"])
            actions = data["positions"][place]["actions"]
            [best] = [each for each in actions if each["best"] != "no"]
            assert (
                best["lower"] - max(e["upper"] for e in actions if e is not best) == puzzle["gap"]
            )
    tables.close()
