"""Folders that earlier versions have saved are read, wherever classes stand by now."""

from pathlib import Path

import numpy as np
import pytest

import gamedp
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Hold, Wubbel

SAVED = Path(__file__).parents[1] / "saved"

SOLUTIONS = {
    "solution": ("BackwardInduction", gamedp.TotalReward(), Matches(matches=9)),
    "discounted-solution": ("ValueIteration", gamedp.Discounted(0.5), Matches(matches=9)),
    "draw-solution": ("Retrograde", gamedp.TotalReward(draw=0.5), None),
    "players-solution": ("BackwardInduction", gamedp.TotalReward(), None),
}
"""Who solved each, what for, and the game; None for a model of arrays."""

CERTIFICATES = {
    "certificate": "solution",
    "discounted-certificate": "discounted-solution",
    "draw-certificate": "draw-solution",
    "equilibrium-certificate": "players-solution",
}
"""Of which solution each is."""


def test_all_that_is_there_is_tried():
    tried = {*SOLUTIONS, *CERTIFICATES, "staged-certificate", "policy", "round-robin.jsonl"}
    assert {folder.name for folder in SAVED.iterdir()} == tried


@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_solution(name):
    solver, objective, game = SOLUTIONS[name]
    loaded = gamedp.load(SAVED / name, as_=gamedp.Solution)
    assert type(loaded.solver) is getattr(gamedp.solvers, solver)
    assert loaded.objective == objective
    assert loaded.status is gamedp.Status.SOLVED
    again = gamedp.solve(
        loaded.model if game is None else game, objective, loaded.solver, compile="auto"
    )
    assert np.array_equal(again.values, loaded.values)
    assert np.array_equal(again.policy, loaded.policy)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate(name):
    model = gamedp.load(SAVED / CERTIFICATES[name], as_=gamedp.Solution).model
    certificate = gamedp.load(SAVED / name)
    assert gamedp.verify(model, certificate).width < 1e-6


def test_a_certificate_of_a_staged_game():
    from staged_games import StagedWubbel

    certificate = gamedp.load(SAVED / "staged-certificate")
    verified = gamedp.verify(StagedWubbel(5), certificate, compile="never")
    assert verified.width < 1e-6


def test_a_policy():
    loaded = gamedp.load(SAVED / "policy", as_=gamedp.Policy)
    model = gamedp.compile(Matches(matches=9), compile="never")
    again = gamedp.Policy.uniform(model)
    assert loaded.name == "uniform"
    assert np.array_equal(again.probabilities, loaded.probabilities)
    assert loaded.model.digest() == model.digest()


def test_what_is_saved_today_says_no_module(tmp_path):
    loaded = gamedp.load(SAVED / "discounted-solution", as_=gamedp.Solution)
    gamedp.save(loaded, tmp_path)
    text = (tmp_path / "manifest.json").read_text()
    assert '"gamedp:ValueIteration"' in text
    assert '"gamedp:Discounted"' in text
    assert gamedp.load(tmp_path, as_=gamedp.Solution).solver == loaded.solver


def test_a_round_robin(tmp_path):
    path = tmp_path / "round-robin.jsonl"
    path.write_bytes((SAVED / path.name).read_bytes())
    game, players = Wubbel(goal=12), {f"hold={at}": Hold(at) for at in (3, 6, 9)}
    never = dict.fromkeys(players, lambda state, rng: 1 / 0)
    read = gamedp.play.tournament(game, never, games=4, max_plies=40, save=path)
    assert read.pairings[0].first == [1, 0, 1]
    assert path.read_bytes() == (SAVED / path.name).read_bytes()
    assert gamedp.play.tournament(game, players, games=4, max_plies=40, seed=1) == read
