"""``gamedp endings``: what it prints, what it keeps, and what it refuses."""

import json

import pytest

import gamedp
from gamedp.games.mancala import Mancala

SMALL = ("endings", "mancala", "--set", "pits=2,stones=2", "--compile", "never")


def test_words(run, tmp_path):
    code, out, err = run(*SMALL, "--material", 2, "--folder", tmp_path, "--verify", 20)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["strata", "material", "positions", "won", "drawn", "lost", "least", "most"] in lines
    assert ["0", "1", "0", "1", "0", "0", "0"] in lines
    assert ["positions", "15"] in lines
    assert f"kept in     {tmp_path}" in out
    assert "positions agree with what they lead to" in out
    assert len(list(tmp_path.iterdir())) == 3


def test_json(run, tmp_path):
    code, out, err = run(*SMALL, "--material", 4, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    tables = gamedp.searchers.EndgameTables.build(Mancala(pits=2, stones=2), 4)
    assert found["positions"] == tables.num_positions
    for row in found["strata"]:
        values = tables.stratum(row["material"])
        assert row["positions"] == len(values) == row["won"] + row["drawn"] + row["lost"]
        assert row["won"] == (values > 0).sum()
        assert (row["least"], row["most"]) == (values.min(), values.max())
    assert (found["material"], found["folder"], found["verified"]) == (4, None, 0)


def test_time_that_runs_out(run):
    code, out, err = run(*SMALL, "--material", 4, "--max-seconds", 1e-9, "--json")
    assert code == 1
    assert json.loads(out)["material"] == 0
    assert "stopped at its limit of 1e-09 seconds in material 1 of 4" in err


def test_an_interruption(run, tmp_path, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("gamedp.searchers.endgame_strata.Builder.fill", interrupted)
    code, out, err = run(*SMALL, "--material", 4, "--folder", tmp_path)
    assert (code, out) == (130, "")
    assert f"what is complete is in {tmp_path}; the same command goes on" in err
    code, _, err = run(*SMALL, "--material", 4)
    assert (code, "what is complete" in err) == (130, False)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("endings", "wubbel", "--material", 3), 1, "Wubbel has no endgame tables: it lacks"),
        ((*SMALL, "--material", -1), 2, "must be a whole number, 0 or more"),
        ((*SMALL, "--material", 8), 1, "no endgame table for material 8: the largest is 7"),
        (SMALL, 2, "--material"),
    ],
)
def test_what_is_refused(run, arguments, code, words):
    found, _, err = run(*arguments)
    assert found == code
    assert words in err
