"""``gamedp tables``: what it makes, shows and verifies, and what it refuses."""

import json

import pytest
from table_games import digest

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.wubbel import Wubbel

GAME = ("tables", "wubbel:12")


def test_words(run, tmp_path):
    code, out, err = run(*GAME, tmp_path, "--last-tier", 5, "--workers", 1)
    assert (code, err) == (0, "")
    assert "blocks      4 of 23" in out
    assert "value" not in out
    code, out, err = run(*GAME, tmp_path, "--verify", 50, "--workers", 1)
    assert (code, err) == (0, "")
    lines = dict(line.split(None, 1) for line in out.splitlines())
    tables = gamedp.tables.Tables.open(tmp_path, Wubbel(12))
    assert lines["tiers"] == "23"
    assert lines["blocks"] == "23 of 23"
    assert lines["kept"] == f"in     {tmp_path}, {tables.num_bytes:,} bytes"
    assert lines["width"] == f"at most {tables.width:.3g}, proven"
    assert lines["value"].startswith(repr(tables.value()))
    assert lines["bounds"].startswith("{!r} to {!r}".format(*tables.bounds()))
    assert lines["verified"].endswith("positions agree with what they lead to")


@pytest.mark.slow
def test_json_and_workers(run, tmp_path):
    command = (*GAME, tmp_path / "two", "--block-size", 40, "--json")
    code, out, err = run(*command, "--workers", 2, "--verify", "all")
    assert (code, err) == (0, "")
    found = json.loads(out)
    tables = gamedp.tables.tabulate(Wubbel(12), tmp_path / "one", block_size=40)
    assert digest(tmp_path / "one") == digest(tmp_path / "two")
    assert found["blocks_made"] == found["blocks"] == tables.num_blocks > found["tiers"]
    assert (found["bytes"], found["width"]) == (tables.num_bytes, tables.width)
    assert (found["value"], found["bounds"]) == (tables.value(), list(tables.bounds()))
    assert found["verified"] == 12**3
    code, out, _ = run("tables", "wubbel:12", tmp_path / "two", "--show", "--json")
    assert code == 0
    assert {**json.loads(out), "seconds": 0, "verified": 0} == {
        **found, "seconds": 0, "verified": 0,
    }  # fmt: skip


def test_numbered_positions(run, tmp_path):
    command = ("tables", "mancala", tmp_path, "--set", "pits=2,stones=2")
    code, out, err = run(*command, "--last-tier", 2, "--verify", 20)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["values", "tier", "positions", "won", "drawn", "lost", "least", "most"] in lines
    assert ["0", "1", "0", "1", "0", "0", "0"] in lines
    assert ["blocks", "3", "of", "8"] in lines
    code, out, err = run(*command, "--workers", 1, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    tables = gamedp.tables.Tables.open(tmp_path, Mancala(pits=2, stones=2))
    assert (found["places"], found["blocks_made"], found["value"]) == (tables.num_places, 8, None)
    for row in found["values"]:
        values = tables.for_search().of_tier(row["tier"])
        assert row["positions"] == len(values) == row["won"] + row["drawn"] + row["lost"]
        assert row["won"] == (values > 0).sum()
        assert (row["least"], row["most"]) == (values.min(), values.max())


def test_time_that_runs_out(run, tmp_path):
    code, out, err = run(*GAME, tmp_path, "--max-seconds", 1e-9, "--json")
    assert code == 1
    facts = json.loads(out)
    assert (facts["blocks_made"], facts["width"]) == (0, None)  # nothing is proven yet
    assert "width" not in run(*GAME, tmp_path, "--show")[1]
    assert "stopped at its limit of 1e-09 seconds in tier 2" in err


def test_an_interruption(run, tmp_path, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("gamedp.tables.filling.Filler.fill", interrupted)
    code, out, err = run(*GAME, tmp_path)
    assert (code, out) == (130, "")
    assert f"what is complete is in {tmp_path}; the same command goes on" in err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nim", "."), 1, "has no method tier and no method box"),
        (("wubbel:12",), 2, "FOLDER"),
        (("wubbel:12", "nowhere", "--show"), 1, "nowhere"),
        (("wubbel:12", "x", "--workers", 0), 2, "--workers is 0"),
        (("wubbel:12", "x", "--verify", -3), 2, "--verify is -3; it must be 0 or more, or all"),
        (("wubbel:12", "x", "--tolerance", 0), 2, "tolerance is 0.0"),
        (("wubbel:12", "x", "--block-size", 0), 2, "block_size is 0"),
        (("wubbel:12", "x", "--last-tier", -1), 2, "last_tier is -1; the tables of Wubbel("),
        (("wubbel:12", "x", "--last-tier", 25), 2, "have tiers 2 to 24."),
        (("kniffel", "x"), 1, "is a staged game, which `gamedp tables` cannot do"),
    ],
)
def test_what_is_refused(run, tmp_path, monkeypatch, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    found, _, err = run("tables", *arguments)
    assert found == code
    assert words in err
