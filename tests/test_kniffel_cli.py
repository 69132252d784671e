"""``gamedp kniffel``: the article's queries, the sheet, and games that are kept."""

import json
import os
import re
import signal
import subprocess
import sys

import numba
import pytest
from figures import BY_NAME

from gamedp.cli import main
from gamedp.games.kniffel import Card, Kniffel, Record

pytestmark = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="the whole table takes minutes uncompiled"
)

CARD = "- 8 - 16 15 - 15 9 25 30 40 - -"
EMPTY = " ".join("-" * 13)
FULL = "1 8 9 16 20 18 21 0 25 30 0 0 24"


@pytest.fixture
def run(capsys):
    """Run a command in this process; return its exit code and what it wrote."""

    def runner(*arguments):
        code = main(["kniffel", *(word for each in arguments for word in str(each).split(" "))])
        out, err = capsys.readouterr()
        return code, out, err

    return runner


@pytest.fixture
def run_json(run):
    def runner(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=pytest.fail)

    return runner


def start(*arguments):
    """Start a process that plays."""
    command = [
        sys.executable,
        "-c",
        "import sys, gamedp.cli; sys.exit(gamedp.cli.main())",
        "kniffel",
        *map(str, arguments),
    ]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"},
        encoding="utf-8",
    )


def play(typed, *arguments):
    """Type lines into a process; return its exit code and what it wrote."""
    with start(*arguments) as process:
        out, err = process.communicate("".join(f"{line}\n" for line in typed), timeout=300)
    return process.returncode, out, err


class TestQueries:
    def test_the_chance_of_a_kniffel(self, run, run_json):
        figure = BY_NAME["kniffel.only"]
        code, out, err = run(figure.value["situation"])
        assert (code, err) == (0, "")
        assert "Punkterwartung: 2.301432\n" in out
        facts = run_json(figure.value["situation"])
        assert abs(facts["value"] - figure.value["value"]) <= figure.tolerance
        assert facts["lower"] <= facts["value"] <= facts["upper"]
        assert (facts["best"], facts["decision"], facts["options"]) == (None, None, [])

    def test_the_best_entry(self, run, run_json):
        figure = BY_NAME["kniffel.query.13345"]
        code, out, err = run(figure.value["situation"])
        assert (code, err) == (0, "")
        assert "Bester Eintrag: Dreier\nPunkterwartung: 239.713069\n" in out
        facts = run_json(figure.value["situation"])
        assert facts["points"] == 158
        assert facts["best"] == "Dreier"
        assert abs(facts["value"] - figure.value["value"]) <= figure.tolerance
        rests = {option["name"]: option["rest"] for option in facts["options"]}
        assert rests == pytest.approx(figure.value["rests"], abs=figure.tolerance)
        assert list(rests) == list(figure.value["rests"])

    def test_a_keep_in_english(self, run, run_json):
        code, out, _ = run(f"{CARD} 1 11456 --lang en")
        assert code == 0
        assert "|12 Yahtzee            |" in out
        assert "Best keep: 6\n" in out
        facts = run_json(f"{CARD} 1 11456 --lang en")
        assert facts["decision"] == "keep"
        (loss,) = (option["loss"] for option in facts["options"] if option["name"] == "11")
        figure = BY_NAME["kniffel.handicap.11456"]
        assert abs(loss - figure.value["loss of 11"]) <= figure.tolerance

    def test_other_rules(self, run, run_json):
        facts = run_json(f"{EMPTY} 0 --set rules=yahtzee")
        assert abs(facts["value"] - 254.587729) < 5e-7
        assert facts["parameters"]["joker"] == "forced"
        further = run_json("- 6 9 12 15 18 25 26 - - - 50 - 0 --set rules=yahtzee --further 1")
        assert further["points"] == 6 + 9 + 12 + 15 + 18 + 25 + 26 + 50 + 100
        code, out, _ = run(f"{EMPTY} 0 --set rules=yahtzee,throws=1")
        assert code == 0
        assert "|12 Yahtzee            |" in out

    def test_options_may_stand_anywhere(self, run_json):
        assert run_json(f"--lang en {CARD} 3 13345")["best"] == "Threes"
        assert run_json(f"{CARD} --lang=en 3 13345")["best"] == "Threes"

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ("3 3 3", "Given are 3 words"),
            (f"{CARD} 4 13345", "there is no throw 4"),
            (f"{CARD} 3 1334", "it takes 5"),
            (f"{CARD} 3 13345 --seed 3", "a query, --seed do not go together"),
            (f"{CARD} 3 13345 --auto --replay x", "a query, --replay, --auto do not go together"),
            (f"{CARD} 3 --sed 5", "Unknown option: --sed"),
            (f"{CARD} 3 13345 --further 1", "further"),
            (f"{CARD} 3 13345 --set rules=mine", "must be one of article, yahtzee"),
            (f"{CARD} 3 13345 --set rulez=mine", "rulez"),
            (f"{CARD} 3 13345 --set dice=4", "a card is for 5 dice"),
            (f"{CARD} 3 13345 --lang fr", "fr"),
            ("--json", "--json does not go with a game that asks"),
            ("--seed -3 --auto", "seed must be a whole number of at least 0"),
            ("--replay a --analyse b", "--replay, --analyse do not go together"),
            ("--replay a --seed 3", "--replay, --seed do not go together"),
        ],
    )
    def test_refused_in_words(self, run, arguments, words):
        code, out, err = run(arguments)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1

    def test_help(self, run):
        code, out, _ = run("--help")
        assert code == 0
        for option in ("--set", "--lang", "--record", "--replay", "--analyse", "--seed", "--auto"):
            assert option in out


class TestGames:
    def test_one_that_plays_itself(self, run, run_json, tmp_path):
        path = tmp_path / "game.jsonl"
        code, out, err = run(f"--auto --seed 3 --record {path}")
        assert (code, err) == (0, "")
        record = Record.load(path)
        assert record.seed == 3
        assert f"Ergebnis: {record.total} Punkte.\n" in out
        assert out.endswith(f"--analyse {path} nimmt sie auseinander.\n")
        facts = run_json("--auto --seed 3")
        assert facts["card"] == record.card.arguments
        assert (facts["finished"], facts["handicap"]) == (True, 0)
        assert facts == run_json(f"--analyse {path}") == run_json(f"--replay {path}")
        replayed = run(f"--replay {path}")[1]
        assert out.startswith(replayed)
        code, out, _ = run(f"--analyse {path} --lang en")
        assert code == 0
        assert re.search(rf"^Result +{record.total}$", out, re.MULTILINE)

    def test_one_from_a_card(self, run_json, tmp_path):
        code = main(["kniffel", "--card", CARD, "--auto", "--seed", "1", "--record",
                     str(tmp_path / "game"), "--quiet"])  # fmt: skip
        assert code == 0
        record = Record.load(tmp_path / "game")
        assert record.start == Card.of(CARD)
        assert len(record.rounds) == 5

    def test_another_seed_each_time(self, run_json):
        assert run_json("--auto")["seed"] != run_json("--auto")["seed"]

    def test_typed_in(self, tmp_path):
        path = tmp_path / "game.jsonl"
        typed = ["11456", "?", "44", "11", "336", "33", "13345", "Dreier", "q"]
        code, out, err = play(typed, "--card", CARD, "--record", path)
        assert (code, err) == (0, "")
        assert "1. Wurf: 11456 Auswahl: " in out
        assert "Beste Auswahl:    6              Handicap: 0.868\n" in out
        assert "'44' ist nicht im Wurf 11456" in out
        assert "Abgebrochen in Runde 2, Handicap bisher: 0.868.\n" in out
        record = Record.load(path)
        assert record.total == 164
        # It goes on where it was left, and the file ends in the middle of a round.
        code, out, err = play(["22222"], "--record", path, "--lang", "en")
        assert (code, err) == (0, "")
        assert "Left in round 2" in out
        assert out.endswith(f"The game is in {path}; --record {path} goes on with it.\n")
        assert Record.load(path) == record.thrown("22222")

    def test_ctrl_c_leaves_in_order(self, tmp_path):
        path = tmp_path / "game.jsonl"
        with start("--record", path, "--seed", 2) as process:
            process.stdin.write("11456\n11\n")
            process.stdin.flush()
            seen = ""
            while "2. Wurf, 11 liegt: " not in seen:
                letter = process.stdout.read(1)
                assert letter, process.stderr.read()
                seen += letter
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err == "gamedp: interrupted.\n"
        assert "Abgebrochen in Runde 1" in out
        assert f"--record {path} setzt sie fort." in out
        assert Record.load(path) == Record(seed=2).thrown("11456").keeping("11")

    def test_what_is_no_text_is_a_wrong_answer(self):
        with start() as process:
            process.stdin.buffer.write(b"\xff\xfe\n11456\n")
            out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        assert "ist kein Wurf" in out
        assert "1. Wurf: 11456 Auswahl: " in out

    def test_games_that_are_kept_are_not_mixed_up(self, run, tmp_path):
        path = tmp_path / "game.jsonl"
        record = Record(Kniffel("yahtzee"), seed=4).thrown()
        record.save(path)
        for option in ("--set rules=article", "--seed 5", "--further 1"):
            code, out, err = run(f"--auto --record {path} {option}")
            assert (code, out) == (2, "")
            assert "is another one than --" in err or "further" in err
        assert Record.load(path) == record
        code, out, _ = run(f"--auto --record {path} --set rules=yahtzee --seed 4")
        assert code == 0
        assert "Expected" in out
        code, out, err = run(f"--record {path}")
        assert (code, out) == (2, "")
        assert "is over; --analyse" in err

    def test_files_that_cannot_be_used(self, run, tmp_path):
        (tmp_path / "text").write_text("no game")
        for arguments, words in [
            (f"--analyse {tmp_path / 'nothing'}", "No such file"),
            (f"--replay {tmp_path / 'text'}", "is no record of a game"),
            (f"--auto --record {tmp_path / 'text'}", "is no record of a game"),
            (f"--auto --record {tmp_path / 'no' / 'folder'}", "No such file"),
        ]:
            code, out, err = run(arguments)
            assert (code, out) == (1, "")
            assert words in err
        code, out, err = run(f"--replay {tmp_path / 'text'} --set rules=yahtzee")
        assert (code, out) == (2, "")
        assert "has its rules already" in err

    def test_a_full_card_is_over_at_once(self, capsys):
        assert main(["kniffel", "--card", FULL, "--auto", "--seed", "1"]) == 0
        assert "Ergebnis: 207 Punkte." in capsys.readouterr().out
