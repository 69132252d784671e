"""Puzzles: positions in which one action is proven to be the only best one."""

import enum

import attrs
import pytest
from web_client import Client, listed_game

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.web import export as web_export, puzzles as web_puzzles
from gamedp.web.catalogue import made
from gamedp.web.tables import Limits, Tables


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
        if name != "hidden":  # of which only what can be played to is asked
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
    with Client((listed_game("matches", Matches()),), tables=Tables(Limits(states=3))) as client:
        answer = asked(client, "matches")
        assert (answer.status_code, answer.json()["limit"]) == (409, "states")
        assert "no table, so no puzzles" in answer.json()["error"]
    with Client((listed_game("three", Mancala(pits=1, stones=2, players=3)),)) as client:
        answer = asked(client, "three")
        assert answer.status_code == 409
        assert "one player or two opponents" in answer.json()["error"]
    with Client((listed_game("single", Matches(matches=5, takes=(1,))), "nim")) as client:
        assert asked(client, "single").json()["puzzles"] == []  # there is never a choice
        for body in ({"parameters": []}, {"parameters": {}, "more": 1}, [], 3, "x"):
            answer = client.post("/api/games/nim/puzzles", json=body)
            assert answer.status_code == 400
        assert asked(client, "nim", parameters={"heaps": [1, 2]}).status_code == 200
        assert asked(client, "nim", parameters={"heaps": "x"}).status_code == 422
        assert client.get("/api/games/nim/puzzles").status_code == 405


def test_a_folder_has_those_that_can_be_played_in_it():
    tables = Tables()
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
