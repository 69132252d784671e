"""``gamedp evaluate``, ``gamedp respond`` and ``gamedp simulate``: what they print and refuse."""

from pathlib import Path

import attrs
import pytest
import staged_games

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.runtime.registry import PLAYERS

HOLD = "gamedp.games.wubbel:Hold"
SMALL = ("wubbel", "--set", "goal=8", "--compile", "never")


@attrs.frozen
class Lost:
    """Something that cannot play."""


@pytest.fixture
def model():
    return gamedp.compile(Wubbel(goal=8), compile="never")


def test_two_policies_are_compared_in_both_seats(run, run_json, model):
    players = f"{HOLD}=4,uniform"
    found = run_json("evaluate", *SMALL, "--players", players, "--both-seats", "--plies", 9)
    chance = gamedp.Policy.uniform(model)
    for facts, pair in zip(found["seats"], [(Hold(4), chance), (chance, Hold(4))], strict=True):
        true = gamedp.evaluate(model, pair)
        assert facts["values"] == [true.value(), true.value(player=1)]
        assert facts["lower"][0] <= true.value() <= facts["upper"][0]
        assert facts["mean_plies"] == true.mean_plies
        assert facts["unfinished"] == list(true.unfinished(9))
        assert facts["guarantee"] == "TWO_SIDED"
    code, out, err = run("evaluate", *SMALL, "--players", players, "--both-seats", "--plies", 9)
    assert (code, err) == (0, "")
    assert f"for {HOLD}=4 as the first player" in out
    assert "for uniform as the first player" in out
    assert "after 9 plies" in out
    assert out.count("on average") == 2


def test_the_optimal_policy_has_the_value_of_the_game(run_json, model):
    found = run_json("evaluate", *SMALL, "--players", "optimal,optimal")
    assert found["values"][0] == pytest.approx(gamedp.solve(model, tolerance=1e-9).value())
    assert found["players"] == ["optimal", "optimal"]
    assert found["parameters"]["goal"] == 8


def test_an_answer_to_a_field_is_given_with_what_telling_is_worth(run, run_json, model):
    field = f"{HOLD}=4:0.7,{HOLD}=2:0.3"
    found = run_json("respond", *SMALL, "--against", field, "--player", 2)
    true = gamedp.best_response(model, {Hold(4): 0.7, Hold(2): 0.3}, 1)
    assert found["value"] == true.value()
    assert found["told"] == list(true.told)
    assert found["player"] == 2
    _, out, _ = run("respond", *SMALL, "--against", field, "--player", 2)
    assert "for the second player" in out
    assert "if one were told who plays" in out
    alone = run_json("respond", *SMALL, "--against", f"{HOLD}=4")
    assert alone["value"] == gamedp.best_response(model, Hold(4)).value()
    assert "told" not in alone


def test_a_registered_policy_has_a_short_name(run_json, register):
    register(PLAYERS, HOLD)
    found = run_json("evaluate", *SMALL, "--players", f"{HOLD},{HOLD}=3")
    assert found["players"] == [HOLD, f"{HOLD}=3"]


def test_simulated_games_stand_beside_the_exact_value(run, run_json, model):
    asked = ("simulate", *SMALL, "--players", f"{HOLD}=4,uniform", "--games", 3000, "--seed", 5)
    found = run_json(*asked)
    pair = [Hold(4), gamedp.Policy.uniform(model)]
    same = gamedp.simulate(model, pair, games=3000, seed=5)
    true = gamedp.evaluate(model, pair)
    assert found["means"] == list(same.means)
    assert found["values"] == [true.value(), true.value(player=1)]
    assert found["p_value"] == same.agrees_with(true)
    assert found["outcomes"][0] == {"0.0": same.count(0.0), "1.0": same.count(1.0)}
    assert (found["seed"], found["unfinished"]) == (5, 0)
    _, out, _ = run(*asked, "--threads", 2)
    assert f"{same.means[0]:.10g}   for {HOLD}=4 as the first player" in out
    assert "p-value" in out
    _, out, _ = run(*asked, "--max-plies", 1)
    assert "p-value" not in out


def test_simulated_games_stop_once_enough_is_known(run, run_json, model):
    asked = ("simulate", *SMALL, "--players", f"{HOLD}=4,uniform", "--seed", 5, "--games", 9000)
    found = run_json(*asked, "--width", 0.2, "--confidence", 0.9)
    true = gamedp.evaluate(model, [Hold(4), gamedp.Policy.uniform(model)]).value()
    assert found["sequential"]["low"] <= true <= found["sequential"]["high"]
    assert found["sequential"]["confidence"] == 0.9
    _, out, _ = run(*asked, "--width", 0.2)
    assert "with 0.95 confidence, at look 1" in out
    _, out, _ = run(*asked, "--width", 1e-6)
    assert "not as narrow as asked" in out


def test_players_are_simulated_in_pairs(run, run_json, model):
    asked = ("simulate", *SMALL, "--players", f"{HOLD}=4,uniform", "--seed", 5, "--games", 2000)
    found = run_json(*asked, "--pairs")
    pair = [Hold(4), gamedp.Policy.uniform(model)]
    same = gamedp.simulation.simulate_pairs(model, pair, pairs=1000, seed=5)
    exact = [gamedp.evaluate(model, order) for order in (pair, pair[::-1])]
    assert found["means"] == list(same.means)
    assert found["standard_error"] == same.standard_error
    assert found["values"][0] == (exact[0].value() + exact[1].value(player=1)) / 2
    assert found["p_value"] == same.agrees_with(*exact)
    _, out, _ = run(*asked, "--pairs")
    assert f"for {HOLD}=4 in both seats" in out
    assert "dice of its own" in out
    _, out, _ = run(*asked, "--pairs", "--max-plies", 1)
    assert "p-value" not in out


def test_of_few_games_no_error_is_told(run, run_json):
    asked = ("simulate", *SMALL, "--players", f"{HOLD}=4,uniform", "--seed", 5)
    for more, words in (
        (("--games", 1), "no error: fewer than two games have ended"),
        (("--games", 2, "--pairs"), "no error: fewer than two pairs have ended"),
        (("--games", 4, "--max-plies", 1), "unknown"),
        (("--games", 4, "--max-plies", 1, "--pairs"), "unknown"),
    ):
        _, out, _ = run(*asked, *more)
        assert "nan" not in out
        assert words in out
        found = run_json(*asked, *more)
        assert None in (found.get("standard_error", 0), *found.get("standard_errors", ()))
        assert "nan" not in str(found)


@pytest.mark.slow
def test_staged_games_are_simulated_by_their_solution(run, run_json):
    asked = (
        "simulate",
        "kniffel",
        "--set",
        "dice=2,faces=2,threshold=3",
        "--compile",
        "never",
        "--seed",
        5,
    )
    asked = (*asked, "--games", 300, "--players")
    found = run_json(*asked, "optimal")
    game = Kniffel(dice=2, faces=2, threshold=3)
    solution = gamedp.solve(game, compile="never")
    same = gamedp.simulate(game, solution, games=300, seed=5)
    exact = gamedp.stages.distribution(solution)
    assert found["means"] == list(same.means)
    assert found["values"] == [solution.value()]
    assert found["p_value"] == same.agrees_with(exact)
    assert found["outcomes"][0][f"{exact.quantile(0.5):.1f}"] == same.count(exact.quantile(0.5))
    _, out, _ = run(*asked, "best", "--threads", 2)
    assert f"{same.means[0]:.10g}   for best" in out
    assert "at most the probability of such a deviation" in out
    _, out, _ = run(*asked, "optimal", "--width", 100)
    assert "with 0.95 confidence, at look 1, approximate" in out
    random = run_json(*asked, "random")
    same = gamedp.simulate(game, gamedp.play.RandomPlayer(game), games=300, seed=5)
    assert random["means"] == list(same.means)
    assert "values" not in random
    for players, status, words in (
        (("optimal", "--pairs"), 1, "pairs are of two policies"),
        (("optimal", "--by-rules"), 2, "leave by_rules out"),
        (("level=3",), 2, "level=3 cannot play a staged game. Who can: optimal, random"),
    ):
        code, _, errors = run(*asked, *players)
        assert (code, words in errors) == (status, True), errors


def test_players_of_a_staged_game_are_evaluated_without_a_game(run, run_json):
    game = f"{Path(staged_games.__file__)}:StagedWubbel"
    asked = ("evaluate", game, "--set", "goal=4", "--compile", "never", "--players")
    found = run_json(*asked, "optimal,random", "--both-seats")
    made = staged_games.StagedWubbel(4)
    pair = [gamedp.solve(made, compile="never"), gamedp.play.RandomPlayer(made)]
    for seats, order in zip(found["seats"], (pair, pair[::-1]), strict=True):
        true = gamedp.evaluate(made, order)
        assert seats["values"] == [true.value(), true.value(player=1)]
    _, out, _ = run(*asked, "random,random")
    assert "StagedWubbel" in out
    for players, words in (
        ("random", "1 policies are given for a game of 2 players"),
        ("level=2,random", "level=2 cannot play a staged game"),
    ):
        code, _, errors = run(*asked, players)
        assert (code, words in errors) == (2, True), errors


def test_players_of_a_staged_game_are_compared_in_pairs(run_json):
    game = f"{Path(staged_games.__file__)}:StagedWubbel"
    asked = ("simulate", game, "--set", "goal=5", "--compile", "never", "--seed", 5)
    asked = (*asked, "--players", "optimal,random", "--games", 200)
    found = run_json(*asked, "--pairs")
    made = staged_games.StagedWubbel(5)
    pair = [gamedp.solve(made, compile="never"), gamedp.play.RandomPlayer(made)]
    assert found["means"] == list(
        gamedp.simulation.simulate_pairs(made, pair, pairs=100, seed=5).means
    )
    assert found["means"][0] > 0.5
    assert run_json(*asked, "--width", 0.5)["sequential"]["confidence"] == 0.95


def test_a_staged_game_whose_totals_are_not_whole_is_set_beside_its_value(run):
    game = f"{Path(staged_games.__file__)}:Journey"
    _, out, _ = run("simulate", game, "--players", "optimal,optimal", "--games", 300, "--seed", 5)
    assert "probability of a deviation at least this large if the exact value is correct" in out
    _, out, _ = run("simulate", game, "--players", "optimal,optimal", "--max-plies", 1)
    assert "p-value" not in out


def test_players_are_simulated_by_the_rules_alone(run, run_json):
    asked = ("simulate", *SMALL, "--players", f"{HOLD}=4,random", "--seed", 5, "--games", 100)
    found = run_json(*asked, "--by-rules")
    game = Wubbel(goal=8)
    pair = [Hold(4), gamedp.play.RandomPlayer(game)]
    options = {"seed": 5, "by_rules": True, "compile": "never"}
    assert found["means"] == list(gamedp.simulate(game, pair, games=100, **options).means)
    assert "values" not in found
    both = run_json(*asked, "--by-rules", "--pairs")
    same = gamedp.simulation.simulate_pairs(game, pair, pairs=50, **options)
    assert both["means"] == list(same.means)
    _, out, _ = run(*asked, "--by-rules")
    assert "value " not in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("simulate", *SMALL, "--players", "random,random", "--games", "3", "--pairs"), "even"),
        (("simulate", *SMALL, "--players", "optimal,random", "--by-rules"), "optimal policy"),
        (("simulate", *SMALL, "--players", "level=2,random", "--by-rules"), "tournament"),
        (("simulate", *SMALL, "--players", "random,random", "--width", "0"), "width is 0"),
        (("evaluate", *SMALL, "--players", "nobody,uniform"), "nobody"),
        (("evaluate", *SMALL, "--players", f"{HOLD}=x,uniform"), "whole number"),
        (("evaluate", *SMALL, "--players", f"{HOLD}=0,uniform"), "points"),
        (("evaluate", *SMALL, "--players", ",uniform"), "names no players"),
        (("evaluate", *SMALL, "--players", "uniform"), "each player needs one"),
        (("evaluate", *SMALL, "--players", "uniform", "--both-seats"), "two players"),
        (("evaluate", "matches", "--players", f"{HOLD},uniform"), "plays Wubbel, not Matches"),
        (("simulate", *SMALL, "--players", "uniform,uniform", "--games", "0"), "games is 0"),
        (("respond", *SMALL, "--against", "uniform", "--player", "3"), "players are 1 to 2"),
        (("respond", *SMALL, "--against", f"{HOLD}=4:0.7,{HOLD}=2"), "a weight"),
        (("respond", *SMALL, "--against", f"{HOLD}=4:0.7,{HOLD}=2:0.7"), "sum to 1"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(run, arguments, word):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert word in err
    assert err.count("\n") == 1


KNIFFEL = ("kniffel", "--set", "dice=2,faces=2", "--compile", "never")
FIELD = f"optimal:0.7,{HOLD}=2:0.7"
ENTRANTS = ("--entrants", "optimal,random")
LEVELS = ("--level", "best", "--against", "1")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("simulate", *KNIFFEL, "--players", "optimal", "--by-rules"), "leave by_rules out"),
        (("simulate", *KNIFFEL, "--players", "optimal", "--width", 0), "width is 0"),
        (("simulate", *KNIFFEL, "--players", "optimal,optimal"), "each player needs one"),
        (("simulate", *SMALL, "--players", "optimal"), "each player needs one"),
        (("simulate", *SMALL, "--players", "optimal", "--pairs"), "pairs are of two policies"),
        (("simulate", *SMALL, "--players", "optimal,nobody"), "nobody"),
        (("simulate", *SMALL, "--players", "optimal,random", "--width", -1), "width is -1"),
        (("simulate", *SMALL, "--players", "optimal,random", "--games", 0), "games is 0"),
        (("simulate", *SMALL, "--players", "optimal,random", "--seed", -1), "seed is -1"),
        (
            ("simulate", *SMALL, "--players", "optimal,random", "--width=1", "--confidence=1"),
            "confidence is 1",
        ),
        (("evaluate", *SMALL, "--players", "optimal"), "each player needs one"),
        (("evaluate", *SMALL, "--players", "optimal", "--both-seats"), "two players"),
        (("evaluate", *SMALL, "--players", "optimal,random", "--plies", -1), "plies is -1"),
        (("evaluate", *SMALL, "--players", "optimal,random", "--tolerance", 0), "tolerance is 0"),
        (("respond", *SMALL, "--against", FIELD), "sum to 1"),
        (("respond", *SMALL, "--against", "optimal,nobody"), "nobody"),
        (("respond", *SMALL, "--against", "optimal", "--objective", "horizon"), "--horizon"),
        (("tournament", *SMALL, "--entrants", "optimal,nobody"), "nobody"),
        (("tournament", *SMALL, *ENTRANTS, "--games", 0), "games is 0"),
        (("tournament", *SMALL, *ENTRANTS, "--seed", -1), "seed is -1"),
        (("tournament", *SMALL, *ENTRANTS, "--max-plies", 0), "max_plies is 0"),
        (("tournament", *SMALL, *ENTRANTS, "--better-by", 5, 0), "the smaller one first"),
        (("tournament", *SMALL, *ENTRANTS, "--exact", "--random-opening", 2), "no opening"),
        (("tournament", *SMALL, *ENTRANTS, "--save", "nowhere/kept"), "no folder nowhere"),
        (("tournament", *SMALL, *ENTRANTS, "--save", __file__, "--resume"), "left as it is"),
        (("selfplay", *SMALL, "--level", "best", "--against", "nobody"), "nobody"),
        (("selfplay", *SMALL, *LEVELS, "--games", 0), "games is 0"),
        (("selfplay", *SMALL, *LEVELS, "--seed", -1), "seed is -1"),
        (("selfplay", *SMALL, *LEVELS, "--random-opening", 1_000), "below max_plies"),
        (("selfplay", *SMALL, *LEVELS, "--save", "nowhere/kept"), "no folder nowhere"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_solved(
    run, monkeypatch, arguments, word
):
    def solve(*_arguments, **_options):
        raise AssertionError

    monkeypatch.setattr(gamedp, "solve", solve)
    code, out, err = run(*arguments)
    assert (code in {1, 2}, out) == (True, "")
    assert word in err


def test_a_game_is_solved_once_for_all_who_play_by_its_solution(run, monkeypatch):
    solved, solve = [], gamedp.solve

    def counting(*arguments, **options):
        solved.append(arguments)
        return solve(*arguments, **options)

    monkeypatch.setattr(gamedp, "solve", counting)
    code, out, _ = run("evaluate", *SMALL, "--players", "optimal,optimal")
    assert (code, len(solved)) == (0, 1)
    assert "optimal" in out
