"""`gamedp tournament`: who takes part, by text, and what comes out."""

import json
import sys
from pathlib import Path

import pytest

import gamedp
from gamedp.cli import main
from gamedp.games.mancala import Mancala
from gamedp.games.wubbel import Hold, Wubbel

BOT = Path(__file__).parent.parent.parent / "examples" / "bots" / "hold.py"
COMMAND = ["tournament", "wubbel", "--set", "goal=9", "--quiet", "--compile", "never"]


@pytest.fixture
def run_tournament(capsys):
    def run_tournament(*arguments):
        code = main([*COMMAND, *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_tournament


def test_it_is_the_round_robin_of_these_players(run_tournament):
    code, out, _ = run_tournament(
        "--entrants", f"optimal,random,hold=6,level=1,{sys.executable} {BOT}",
        "--games=4", "--seed=7", "--seconds=600", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    game = Wubbel(goal=9)
    players = {
        "optimal": gamedp.solve(game, compile="never"),
        "random": gamedp.play.RandomPlayer(game),
        "hold=6": Hold(6),
        "level=1": gamedp.play.LevelPlayer(1),
    }
    expected = gamedp.play.tournament(game, players, games=4, seed=7, compile="never")
    names = {*players}
    counts = {
        (each["one"], each["other"]): each["pair_scores"]
        for each in found["pairings"]
        if {each["one"], each["other"]} <= names
    }
    assert counts == {(each.one, each.other): each.pair_scores for each in expected.pairings}
    assert len(found["pairings"]) == 10
    assert found["entrants"][4]["name"].endswith("hold.py")
    assert all(each["forfeits"] == [] for each in found["pairings"])
    assert sum(each["points"] for each in found["entrants"]) == 40


def test_it_goes_on_with_a_file_only_if_told(run_tournament, tmp_path):
    path = tmp_path / "table.jsonl"
    entrants = ("--entrants", "random,hold=6", "--games=6", "--save", path)
    code, out, _ = run_tournament(*entrants)
    assert code == 0
    code, _, err = run_tournament(*entrants)
    assert (code, "--resume" in err) == (2, True)
    code, again, _ = run_tournament(*entrants, "--resume")
    assert (code, again) == (0, out)


def test_the_report_names_the_strongest_first_and_all_faults(run_tournament, tmp_path):
    code, out, _ = run_tournament(
        "--entrants", f"{tmp_path}/missing,hold=6", "--games=4", "--seed=1"
    )
    assert code == 0
    lines = out.splitlines()
    assert lines[1] == "games       4 finished, in pairs with the same dice"
    assert lines[3].split()[:4] == ["players", "hold=6", "4.0", "points"]
    assert f"{tmp_path}/missing against hold=6: wins 0, draws 0, loses 4" in out
    assert f"forfeits    {tmp_path}/missing against hold=6: no start, 4 games" in out
    code, out, _ = run_tournament("--entrants", "random,hold=6", "--games=4", "--max-plies=1")
    assert (code, "unfinished  4 after 1 plies" in out) == (0, True)


def test_a_match_stops_when_it_is_decided(run_tournament):
    command = ("--entrants", "hold=6,random", "--games=2000", "--seed=1", "--better-by", "0", "100")
    code, out, _ = run_tournament(*command)
    assert code == 0
    assert "test        hold=6 is better than random by 100 normalized Elo, not by 0" in out
    code, out, _ = run_tournament(*command, "--json")
    found = json.loads(out)
    assert (code, found["test"]["verdict"]) == (0, "better")
    assert sum(found["pairings"][0]["pair_scores"]) < 500


def test_what_is_no_entrant_is_refused(run_tournament):
    for entrants, part in [
        ("random,random", "named twice"),
        ("random", "two or more"),
        ("random,level=x", "not a whole number"),
        ("random,level=0", "depth is 0"),
        ("random,nobody", "no player 'nobody'"),
        ("random,tcp:here", "host:port"),
        ("random,,hold=3", "names no players"),
        ("random,person", "only in `gamedp play`"),
    ]:
        code, _, err = run_tournament("--entrants", entrants, "--games=4")
        assert (code, part in err) == (2, True), err


def test_where_nothing_is_drawn_nothing_is_said_of_sampling(run_tournament):
    command = ("--entrants", "optimal,hold=6,random", "--exact")
    _, out, _ = run_tournament(*command)
    assert "exact       3 matches without playing" in out
    assert "% of the points" in out
    for word in ("±", "seed  ", "games ", "confidence"):
        assert word not in out
    found = json.loads(run_tournament(*command, "--json")[1])
    assert found["seed"] is None
    assert found["first_move_error"] == 0
    assert {each["error"] for each in found["entrants"]} == {0}
    first, *_ = out[out.index("players") :].split("\n", 1)
    best = max(found["entrants"], key=lambda each: each["elo"])
    share = best["points"] / (2 * found["games"])
    assert f"{best['name']}" in first
    assert f"{share:.6%} of the points" in first


def test_where_nothing_is_drawn_among_three(capsys):
    command = ["tournament", "mancala", "--set=players=3,pits=2,stones=1", "--quiet", "--exact"]
    command += ["--entrants", "optimal,random,uniform", "--compile", "never"]
    assert main(command) == 0
    out = capsys.readouterr().out
    for word in ("±", "seed  ", "games ", "standard error", "no error"):
        assert word not in out
    assert "on average" in out


@pytest.mark.parametrize(
    "game", [Wubbel(goal=9), Mancala(players=3, pits=2, stones=1)], ids=["two", "three"]
)
def test_notebooks_show_no_errors_of_what_is_exact(game):
    players = {name: gamedp.play.RandomPlayer(game) for name in ("one", "two", "three")}
    exact = gamedp.play.tournament(game, players, games=6, exact=True, compile="never")
    played = gamedp.play.tournament(game, players, games=12, seed=1, compile="never")
    assert exact.is_exact
    assert not played.is_exact
    for found in (exact, *(each for each in exact.meetings if len(players) == game.num_players)):
        assert "±" not in found._repr_html_()
        assert "error" not in found._repr_html_()
    assert "±" in played._repr_html_()


def test_policies_need_not_play(run_tournament):
    command = ("--entrants", "optimal,hold=6,level=1", "--games=4", "--seed=1", "--exact")
    _, out, _ = run_tournament(*command)
    assert "exact       1 matches without playing" in out
    assert "games       8 finished" in out
    _, out, _ = run_tournament(*command, "--json")
    found = json.loads(out)
    game = Wubbel(goal=9)
    pair = [gamedp.solve(game, compile="never"), Hold(6)]
    value = gamedp.evaluate(game, pair).value()
    assert [each["is_exact"] for each in found["pairings"]] == [True, False, False]
    assert found["pairings"][0]["first"][0] == pytest.approx(2 * value)
