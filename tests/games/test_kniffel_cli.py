"""``gamedp kniffel``: the article's queries, the sheet, and games that are kept."""

import io
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
from gamedp.games.kniffel import Card, Duel, Kniffel, Record, RecordOfTwo

pytestmark = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="the whole table takes minutes uncompiled"
)

CARD = "- 8 - 16 15 - 15 9 25 30 40 - -"
EMPTY = " ".join("-" * 13)
FULL = "1 8 9 16 20 18 21 0 25 30 0 0 24"


@pytest.fixture
def kniffel(run):
    """Run the command of Kniffel in this process, as a line is typed."""
    return lambda *given: run("kniffel", *(word for each in given for word in str(each).split(" ")))


@pytest.fixture
def kniffel_json(kniffel):
    """Run the command of Kniffel, which succeeds; return its JSON."""

    def runner(*given):
        code, out, err = kniffel(*given, "--json")
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
    def test_the_chance_of_a_kniffel(self, kniffel, kniffel_json):
        figure = BY_NAME["kniffel.only"]
        code, out, err = kniffel(figure.value["situation"])
        assert (code, err) == (0, "")
        assert "Punkterwartung: 2.301432\n" in out
        facts = kniffel_json(figure.value["situation"])
        assert abs(facts["value"] - figure.value["value"]) <= figure.tolerance
        assert facts["lower"] <= facts["value"] <= facts["upper"]
        assert (facts["best"], facts["decision"], facts["options"]) == (None, None, [])

    def test_the_chance_of_a_box(self, capsys):
        figure = BY_NAME["kniffel.only"]
        assert main(["kniffel", "--chance", "Kniffel"]) == 0
        out, err = capsys.readouterr()
        assert (out.splitlines()[0], err) == ("Kniffel in 3 Würfen: 4.60 %", "")
        assert main(["kniffel", "--chance", "Large Straight", "--lang", "en"]) == 0
        assert "Large Straight in 3 throws: 26.11 %\nProven: 0.261" in capsys.readouterr().out
        assert main(["kniffel", "--chance", "12", "--set", "throws=1"]) == 0
        assert "Kniffel in 1 Wurf: 0.08 %\n" in capsys.readouterr().out
        assert main(["kniffel", "--chance", "Yahtzee", "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert (facts["box"], facts["throws"]) == ("Kniffel", 3)
        assert facts["lower"] <= facts["value"] <= facts["upper"]
        assert abs(50 * facts["value"] - figure.value["value"]) <= figure.tolerance

    def test_the_best_entry(self, kniffel, kniffel_json):
        figure = BY_NAME["kniffel.query.13345"]
        code, out, err = kniffel(figure.value["situation"])
        assert (code, err) == (0, "")
        assert "Bester Eintrag: Dreier\nPunkterwartung: 239.713069\n" in out
        facts = kniffel_json(figure.value["situation"])
        assert facts["points"] == 158
        assert facts["best"] == "Dreier"
        assert abs(facts["value"] - figure.value["value"]) <= figure.tolerance
        rests = {option["name"]: option["rest"] for option in facts["options"]}
        assert rests == pytest.approx(figure.value["rests"], abs=figure.tolerance)
        assert list(rests) == list(figure.value["rests"])

    def test_a_keep_in_english(self, kniffel, kniffel_json):
        code, out, _ = kniffel(f"{CARD} 1 11456 --lang en")
        assert code == 0
        assert "|12 Yahtzee            |" in out
        assert "Best keep: 6\n" in out
        facts = kniffel_json(f"{CARD} 1 11456 --lang en")
        assert facts["decision"] == "keep"
        (loss,) = (option["loss"] for option in facts["options"] if option["name"] == "11")
        figure = BY_NAME["kniffel.handicap.11456"]
        assert abs(loss - figure.value["loss of 11"]) <= figure.tolerance

    def test_other_rules(self, kniffel, kniffel_json):
        facts = kniffel_json(f"{EMPTY} 0 --set rules=yahtzee")
        assert abs(facts["value"] - 254.587729) < 5e-7
        assert facts["parameters"]["joker"] == "forced"
        further = kniffel_json("- 6 9 12 15 18 25 26 - - - 50 - 0 --set rules=yahtzee --further 1")
        assert further["points"] == 6 + 9 + 12 + 15 + 18 + 25 + 26 + 50 + 100
        code, out, _ = kniffel(f"{EMPTY} 0 --set rules=yahtzee,throws=1")
        assert code == 0
        assert "|12 Yahtzee            |" in out

    def test_options_may_stand_anywhere(self, kniffel_json):
        assert kniffel_json(f"--lang en {CARD} 3 13345")["best"] == "Threes"
        assert kniffel_json(f"{CARD} --lang=en 3 13345")["best"] == "Threes"

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ("3 3 3", "Given are 3 words"),
            (f"{CARD} 4 13345", "there is no throw 4"),
            (f"{CARD} 3 1334", "it takes 5"),
            (f"{CARD} 3 13345 --seed 3", "a query, --seed cannot be combined"),
            (f"{CARD} 3 13345 --auto --replay x", "a query, --replay, --auto cannot be combined"),
            (f"{CARD} 3 --sed 5", "Unknown option: --sed"),
            (f"{CARD} 3 13345 --further 1", "further"),
            (f"{CARD} 3 13345 --set rules=mine", "must be one of article, yahtzee"),
            (f"{CARD} 3 13345 --set rulez=mine", "rulez"),
            (f"{CARD} 3 13345 --set dice=4", "a card is for 5 dice"),
            (f"{CARD} 3 13345 --lang fr", "fr"),
            ("--json", "--json cannot be combined with a game that asks"),
            ("--seed -3 --auto", "seed must be a whole number of at least 0"),
            ("--chance Kniffel --auto", "--chance, --auto cannot be combined"),
            (f"{CARD} 3 13345 --chance Kniffel", "a query, --chance cannot be combined"),
            ("--chance Knifffel", "no box is called 'Knifffel'"),
            ("--replay a --analyse b", "--replay, --analyse cannot be combined"),
            ("--replay a --seed 3", "--replay, --seed cannot be combined"),
        ],
    )
    def test_refused_in_words(self, kniffel, arguments, words):
        code, out, err = kniffel(arguments)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1

    def test_help(self, kniffel):
        code, out, _ = kniffel("--help")
        assert code == 0
        options = ("--set", "--lang", "--record", "--replay", "--analyse", "--seed", "--auto")
        for option in (*options, "--against", "--target", "--exact", "--max-contexts"):
            assert option in out


MINE = "- 8 9 16 15 18 15 9 25 30 40 - 20"
HIS = "3 8 9 16 15 24 - 9 25 30 40 0 -"
FIVE_LEFT, HIS_FIVE = CARD, "- 8 9 16 15 - 15 9 25 30 - - -"


class TestGoals:
    @pytest.fixture
    def ask(self, capsys):
        """Ask about a situation and a goal; return the exit code and what was written."""

        def asker(situation, *options):
            code = main(["kniffel", *situation.split(), *options])
            return code, *capsys.readouterr()

        return asker

    @pytest.fixture
    def ask_json(self, ask):
        def asker(situation, *options):
            code, out, err = ask(situation, *options, "--json")
            assert (code, err) == (0, "")
            return json.loads(out, parse_constant=pytest.fail)

        return asker

    @pytest.mark.slow
    def test_winning_near_the_end_is_exact(self, ask, ask_json):
        facts = ask_json(f"{MINE} 2 11266", "--against", HIS)
        duel = Duel.of(Card.of(MINE), Card.of(HIS))
        ending = duel.endgame()
        best = ending.best("11266", 2)
        assert facts["exact"]
        assert (facts["best"], facts["decision"]) == (best.name(), "keep")
        assert facts["value"] == pytest.approx(best.value, abs=1e-12)
        assert facts["lower"] <= facts["value"] <= facts["upper"] <= facts["lower"] + 1e-11
        assert facts["against"] == {
            "card": list(Card.of(HIS).entries),
            "further": 0,
            "points": Card.of(HIS).total,
            "plays_for": "points",
            "is_next": False,
            "draw": 0.5,
        }
        assert len(facts["options"]) == 18
        code, out, err = ask(f"{MINE} 2 11266", "--against", HIS)
        assert (code, err) == (0, "")
        assert re.search(r"^ Deine Karte +Die des Gegners$", out, re.MULTILINE)
        assert f"Gewinnwahrscheinlichkeit: {best.value:.6f}\n" in out
        assert "Der Gegner spielt auf Punkte; ein Unentschieden zählt 0.5.\n" in out
        before = ask_json(f"{MINE} 0", "--against", HIS)
        assert before["value"] == pytest.approx(ending.value, abs=1e-12)
        assert (before["best"], before["decision"], before["options"]) == (None, None, [])

    @pytest.mark.deep
    def test_options_of_the_opponent_change_the_number(self, ask, ask_json):
        against = (f"{MINE} 0", "--against", HIS)
        duel = Duel.of(Card.of(MINE), Card.of(HIS))
        usual = ask_json(*against)["value"]
        wants_to_win = ask_json(*against, "--opponent-plays-for", "victory")["value"]
        assert wants_to_win == pytest.approx(duel.endgame(opponent_goal="victory").value, abs=1e-12)
        assert wants_to_win < usual
        last = ask_json(*against, "--opponent-is-next")
        assert last["against"]["is_next"]
        assert last["value"] >= usual
        lost = ask_json(*against, "--draw", "0")["value"]
        won = ask_json(*against, "--draw", "1")["value"]
        assert lost < usual < won
        out = ask(*against, "--opponent-is-next", "--draw", "0", "--lang", "en")[1]
        assert "The opponent plays for points, and is next to move; a draw counts 0.\n" in out

    @pytest.mark.deep
    def test_winning_earlier_lies_between_two_bounds(self, ask, ask_json):
        facts = ask_json(f"{FIVE_LEFT} 3 11266", "--against", HIS_FIVE)
        duel = Duel.of(Card.of(FIVE_LEFT), Card.of(HIS_FIVE))
        options = duel.options("11266", 3, clairvoyant=True)
        assert not facts["exact"]
        assert [each["name"] for each in facts["options"]] == [each.name() for each in options]
        assert facts["value"] == pytest.approx(options[0].value, abs=1e-12)
        assert facts["upper"] == pytest.approx(max(each.upper for each in options), abs=1e-12)
        assert facts["lower"] <= facts["value"] < facts["upper"] < 1
        code, out, _ = ask(f"{FIVE_LEFT} 0", "--against", HIS_FIVE, "--lang", "en")
        assert code == 0
        line = f"Probability of winning: at least {duel.lower:.6f}, at most {duel.upper:.6f}\n"
        assert line in out
        assert "The least is reached by taking the advice each time" in out

    def test_an_exact_ending_is_offered_with_its_price_and_given_when_asked_for(
        self, ask, ask_json
    ):
        place = (f"{MINE} 2 11266", "--against", HIS)
        exact = ask_json(*place)
        between = ask_json(*place, "--max-contexts", "1000")
        assert exact["exact"]
        assert not between["exact"]
        assert between["lower"] <= exact["value"] <= between["upper"]
        exactly = {each["name"]: each for each in exact["options"]}
        assert exactly.keys() == {each["name"] for each in between["options"]}
        for option in between["options"]:
            assert option["lower"] <= exactly[option["name"]]["upper"]
            assert exactly[option["name"]]["lower"] <= option["upper"]
        code, out, _ = ask(*place, "--max-contexts", "1000", "--lang", "en")
        assert code == 0
        (size,) = re.findall(r"--exact solves .* a table of ([\d,]+) contexts,$", out, re.MULTILINE)
        code, out, err = ask(*place, "--max-contexts", "1000", "--exact")
        assert (code, out) == (2, "")
        assert f"take a table of {size} contexts" in err
        assert f"--max-contexts {size.replace(',', '')} at the command line" in err

    def test_what_is_better_for_points_is_said(self, ask, ask_json):
        place = ("- 8 9 16 15 - 15 9 25 30 40 - 20 3 11266", "--max-contexts", "100000")
        against = (*place, "--against", "- 8 9 - 15 18 15 9 25 30 0 0 20")
        facts = ask_json(*against)
        assert (facts["best"], facts["best_for_points"]) == ("Sechser", "Einser")
        out = ask(*against, "--lang", "en")[1]
        assert "Better for points: Ones, 225.846 expected, not 223.429\n" in out
        same = ("- 8 9 16 15 18 15 9 25 30 40 - 20 3 11266", "--target", "242", "--lang", "en")
        assert "Best entry: Ones\n" in ask(*same)[1]
        assert "Better for points" not in ask(*same)[1]

    def test_a_total(self, ask, ask_json):
        # Only a Kniffel brings 50 more; there is one turn for it.
        chance = BY_NAME["kniffel.only"].value["value"] / 50
        card = MINE.replace("-", "5", 1)
        total = Card.of(card).total + 50
        facts = ask_json(f"{card} 0", "--target", str(total))
        assert facts["target"] == total
        assert facts["value"] == pytest.approx(chance, abs=1e-7)
        code, out, err = ask(f"{card} 2 11566", "--target", str(total), "--lang", "en")
        assert (code, err) == (0, "")
        assert f"Probability of at least {total} points: {1 / 6**3:.6f}\n" in out
        assert re.search(r"^keep +reaches +loss +expected$", out, re.MULTILINE)
        for target, value in ((total + 1, 0), (Card.of(card).entered(Kniffel()), 1)):
            facts = ask_json(f"{card} 2 11566", "--target", str(target))
            assert (facts["value"], facts["best"], facts["options"]) == (value, None, [])
        out = ask(f"{card} 2 11566", "--target", str(total + 1))[1]
        assert out.endswith("Keine Entscheidung ändert etwas daran.\n")

    def test_further_yahtzees_of_both(self, ask_json):
        mine = "- 6 9 12 15 18 25 26 25 30 40 50 -"
        his = "4 6 9 12 15 18 25 26 25 30 40 50 -"
        options = ("--set", "rules=yahtzee", "--against", his)
        usual = ask_json(f"{mine} 0", *options)
        ahead = ask_json(f"{mine} 0", *options, "--further", "1")
        behind = ask_json(f"{mine} 0", *options, "--against-further", "1")
        assert behind["against"]["points"] == usual["against"]["points"] + 100
        assert behind["value"] < usual["value"] < ahead["value"]

    @pytest.mark.parametrize(
        ("situation", "options", "words"),
        [
            (f"{EMPTY} 0", ("--target", "300"), "--max-contexts 197132288 at the command"),
            (f"{EMPTY} 0", ("--against", EMPTY), "this duel takes a table of 197,132,288"),
            (
                f"{FIVE_LEFT} 0",
                ("--against", EMPTY, "--opponent-plays-for", "victory"),
                "the last rounds of these two cards, solved exactly, take",
            ),
            (f"{MINE} 0", ("--against", "3 3"), "--against: a card has 13 boxes"),
            (f"{MINE} 0", ("--against", HIS, "--against-further", "1"), "--against: further=1"),
            (f"{MINE} 0", ("--against", HIS, "--draw", "2"), "draw must lie between 0 and 1"),
            (f"{MINE} 0", ("--against", HIS, "--opponent-plays-for", "fun"), "fun"),
            (f"{MINE} 1 11266", ("--against", HIS, "--opponent-is-next"), "the turn is mine"),
            (f"{MINE} 4 11266", ("--against", HIS), "there is no throw 4"),
            (f"{MINE} 4 11266", ("--target", "1"), "there is no throw 4"),
            (f"{MINE} 0", ("--against", HIS, "--target", "3"), "cannot be combined"),
            (f"{MINE} 0", ("--target", "300", "--exact"), "--exact needs --against"),
            (f"{MINE} 0", ("--max-contexts", "3"), "needs --against or --target"),
            ("", ("--auto", "--against", HIS), "--auto cannot be combined with --against"),
            ("", ("--auto", "--target", "300"), "--target goes with a query"),
        ],
    )
    def test_refused_in_words(self, ask, situation, options, words):
        code, out, err = ask(situation, *options)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1


ONE_LEFT, HIS_ONE = "- 8 9 16 15 18 15 9 25 30 40 0 20", "3 8 9 16 15 24 17 9 25 30 40 0 -"


class TestTwoAtOneSheet:
    @pytest.fixture
    def play_together(self, capsys, monkeypatch):
        """Type lines into a game of two; return what was written."""

        def player(typed, *options):
            monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
            code = main(["kniffel", *options])
            out, err = capsys.readouterr()
            assert (code, err) == (0, "")
            return out

        return player

    def test_each_is_advised_how_to_win(self, play_together):
        typed = ["?", "11266", "?", "q"]
        out = play_together(typed, "--card", MINE, "--against", HIS, "--seed", "1", "--lang=en")
        ending = Duel.of(Card.of(MINE), Card.of(HIS)).endgame()
        assert f"Probability of winning: {ending.value:.6f}\n" in out
        for option in ending.options("11266", 1):
            assert re.search(rf"^(.*Keep: )?{option.name('en')} +{option.value:.6f} ", out,
                             re.MULTILINE), option  # fmt: skip
        head, *_ = (line for line in out.splitlines() if "Player 2" in line)
        assert head.split() == ["Player", "1,", "to", "move", "Player", "2"]
        [row] = {line for line in out.splitlines() if "13 Chance" in line}
        assert row == "|13 Chance          20 |   |13 Chance             |"
        assert "Player 2: Left in round 1" in out

    def test_they_take_turns_and_the_better_one_wins(self, play_together):
        typed = ["11266", "11", "11266", "11", "11266", "1"]  # the Ones: 2 points
        typed += ["z", "1", "13456", "456", "13456", "456", "66456", "13"]
        out = play_together(typed, "--card", ONE_LEFT, "--against", HIS_ONE, "--lang=en")
        assert "Player 1, Throw 3: 11266 Enter in: " in out
        # The second player takes back the entry of the first, who makes it again.
        assert "Player 2, Throw 1: Player 1, Throw 3: 11266 Enter in: For points: " in out
        mine, his = 205 + 35 + 2, 196 + 35 + 27
        assert f"Player 1: {mine} points, player 2: {his} points.\nPlayer 2 wins.\n" in out
        assert "Player 1: Expected at first" in out

    def test_the_second_may_begin_and_has_throws_of_its_own(self, play_together):
        cards = ("--card", ONE_LEFT, "--against", HIS_ONE, "--seed", "5", "--lang=en")
        dice = []
        for more in ((), ("--opponent-is-next",)):
            out = play_together(["", "q"], *cards, *more)
            player, thrown = re.search(r"Player (\d), Throw 1: (\d{5}) Keep", out).groups()
            dice.append((player, thrown))
        assert [player for player, _ in dice] == ["1", "2"]
        assert dice[0][1] != dice[1][1]

    def test_the_best_decision_is_that_for_winning(self, play_together):
        cards = ("--card", MINE, "--against", HIS, "--lang=en")
        out = play_together(["11266", "!", "q"], *cards)
        ending = Duel.of(Card.of(MINE), Card.of(HIS)).endgame()
        best = ending.best("11266", 1).name("en")
        assert f"Throw 2, {best} kept" in out
        assert "For points: Best keep: " in out

    def test_long_before_the_end_advice_is_for_points(self, play_together):
        out = play_together(["12345", "?", "!", "q"], "--against", "-", "--lang=en")
        assert "Too many boxes are free to advise how to win" in out
        assert re.search(r"^12345 +253\.510897 +0\.000000$", out, re.MULTILINE)
        assert out.count("|13 Chance             |   |13 Chance             |") == 1

    def test_the_end_of_input_and_nothing_to_undo(self, play_together):
        out = play_together(["z"], "--against", "-", "--lang=en")
        assert "There is nothing to undo." in out
        assert out.endswith("Player 2: Left in round 1, handicap so far: 0.000.\n")

    @pytest.mark.parametrize(
        ("lang", "words"),
        [
            ("de", ("Spieler 2 gewinnt.", "Erwartung am Anfang", "Abgebrochen in Runde 1")),
            ("en", ("Player 2 wins.", "Expected at the start", "Left in round 1")),
        ],
    )
    def test_a_recorded_game_goes_on_and_is_analysed(self, play_together, tmp_path, lang, words):
        won, began, left = words
        path = str(tmp_path / "game.jsonl")
        cards = ("--card", ONE_LEFT, "--against", HIS_ONE)
        record = ("--record", path)
        typed = ["11266", "11", "11266", "11", "11266", "1", "13456", "456", "q"]
        out = play_together(typed, *cards, *record, "--lang", lang, "--seed", "4")
        assert left in out
        assert f"--record {path}" in out
        kept = RecordOfTwo.load(path)
        assert [record.start for record in kept.records] == [Card.of(ONE_LEFT), Card.of(HIS_ONE)]
        assert (kept.turn, kept.record.waits_for, kept.records[0].is_over) == (1, "throw", True)
        # It goes on without being told about the cards, back over the turn of the other player.
        out = play_together(["z", "z", "z", "1", "13456", "456", "q"], *record)
        assert RecordOfTwo.load(path) == kept
        out = play_together(["13456", "456", "66456", "13"], *record, *cards)
        assert f"--analyse {path}" in out
        assert won in out
        for look in ("--analyse", "--replay"):
            out = play_together([], look, path)
            assert won in out
            facts = json.loads(play_together([], look, path, "--json"))
            assert [each["total"] for each in facts["players"]] == [242, 258]
            assert (facts["begins"], facts["winner"], facts["finished"]) == (1, 2, True)
            for each in facts["players"]:
                balance = each["start"]["value"] + each["luck"] - each["handicap"]
                assert balance == pytest.approx(each["total"], abs=1e-9)
        assert began in play_together([], "--analyse", path)
        replayed = play_together([], "--replay", path)
        assert replayed.index("45666") > replayed.index("11266")
        assert ("Spieler" in replayed) == (lang == "de")

    def test_recorded_games_of_one_and_of_two_are_not_mixed_up(self, capsys, monkeypatch, tmp_path):
        one, two, over = (str(tmp_path / name) for name in ("one", "two", "over"))
        start = Record(start=Card.of(ONE_LEFT), seed=1)
        start.save(one)
        RecordOfTwo((start, Record(start=Card.of(HIS_ONE), seed=2))).save(two)
        RecordOfTwo((Record(start=Card.of(FULL)),) * 2).save(over)
        monkeypatch.setattr(sys, "stdin", io.StringIO(""))
        for options, words in [
            (("--record", one, "--against", HIS_ONE), "another one than --against would make"),
            (("--record", two, "--against", MINE), "another one than --against would make"),
            (
                ("--record", two, "--against", HIS_ONE, "--opponent-is-next"),
                "another one than --opponent-is-next would make",
            ),
            (("--record", two, "--seed", "2"), "another one than --seed would make"),
            (("--record", two, "--auto"), "--auto plays a game of one player"),
            (("--record", over), "is over; --analyse"),
        ]:
            assert main(["kniffel", *options]) == 2
            out, err = capsys.readouterr()
            assert (out, err.count("\n")) == ("", 1)
            assert words in err

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--replay", "x"), "--replay cannot be combined with --against"),
            (("--auto",), "--auto cannot be combined with --against"),
            (("--json",), "--json cannot be combined with a game that asks"),
            (("--draw", "2"), "draw must lie between 0 and 1"),
        ],
    )
    def test_refusals(self, capsys, monkeypatch, arguments, words):
        monkeypatch.setattr(sys, "stdin", io.StringIO("?\n"))
        code = main(["kniffel", "--card", MINE, "--against", HIS, *arguments])
        assert code == 2
        assert words in capsys.readouterr().err


class TestGames:
    def test_one_that_plays_itself(self, kniffel, kniffel_json, tmp_path):
        path = tmp_path / "game.jsonl"
        code, out, err = kniffel(f"--auto --seed 3 --record {path}")
        assert (code, err) == (0, "")
        record = Record.load(path)
        assert record.seed == 3
        assert f"Ergebnis: {record.total} Punkte.\n" in out
        assert out.endswith(f"--analyse {path} nimmt sie auseinander.\n")
        facts = kniffel_json("--auto --seed 3")
        assert facts["card"] == record.card.arguments
        assert (facts["finished"], facts["handicap"]) == (True, 0)
        assert facts == kniffel_json(f"--analyse {path}") == kniffel_json(f"--replay {path}")
        replayed = kniffel(f"--replay {path}")[1]
        assert out.startswith(replayed)
        code, out, _ = kniffel(f"--analyse {path} --lang en")
        assert code == 0
        assert re.search(rf"^Result +{record.total}$", out, re.MULTILINE)

    def test_one_in_english_is_looked_at_in_english(self, capsys, tmp_path):
        path = str(tmp_path / "game.jsonl")
        made = ["--card", MINE, "--record", path, "--lang", "en", "--auto", "--seed", "3"]
        assert main(["kniffel", *made]) == 0
        assert capsys.readouterr().out.startswith("Kniffel: ? advises")
        for look in ("--analyse", "--replay"):
            assert main(["kniffel", look, path]) == 0
            out = capsys.readouterr().out
            assert ("Yahtzee" in out, "Kniffel: ? rät" in out) == (True, False)
        assert Record.load(path).rules == Kniffel(language="en")
        assert main(["kniffel", "--analyse", path, "--lang", "de"]) == 0
        assert "Erwartung am Anfang" in capsys.readouterr().out

    def test_one_in_english_goes_on_in_english(self, kniffel, capsys, tmp_path):
        path = tmp_path / "game.jsonl"
        Record(Kniffel(language="en"), Card.of(MINE), seed=4).save(path)
        code, out, err = kniffel(f"--auto --record {path} --set rules=article")
        assert (code, err) == (0, "")
        assert "Expected at first" in out

    def test_one_from_a_card(self, kniffel_json, tmp_path):
        code = main(["kniffel", "--card", CARD, "--auto", "--seed", "1", "--record",
                     str(tmp_path / "game"), "--quiet"])  # fmt: skip
        assert code == 0
        record = Record.load(tmp_path / "game")
        assert record.start == Card.of(CARD)
        assert len(record.rounds) == 5

    def test_another_seed_each_time(self, kniffel_json):
        assert kniffel_json("--auto")["seed"] != kniffel_json("--auto")["seed"]

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

    def test_games_that_are_kept_are_not_mixed_up(self, kniffel, tmp_path):
        path = tmp_path / "game.jsonl"
        record = Record(Kniffel("yahtzee"), seed=4).thrown()
        record.save(path)
        for option in ("--set rules=article", "--seed 5", "--further 1"):
            code, out, err = kniffel(f"--auto --record {path} {option}")
            assert (code, out) == (2, "")
            assert "is another one than --" in err or "further" in err
        assert Record.load(path) == record
        code, out, _ = kniffel(f"--auto --record {path} --set rules=yahtzee --seed 4")
        assert code == 0
        assert "Expected" in out
        code, out, err = kniffel(f"--record {path}")
        assert (code, out) == (2, "")
        assert "is over; --analyse" in err

    def test_files_that_cannot_be_used(self, kniffel, tmp_path):
        (tmp_path / "text").write_text("no game")
        for arguments, words in [
            (f"--analyse {tmp_path / 'nothing'}", "No such file"),
            (f"--replay {tmp_path / 'text'}", "is not a record of a game"),
            (f"--auto --record {tmp_path / 'text'}", "is not a record of a game"),
            (f"--auto --record {tmp_path / 'no' / 'folder'}", "No such file"),
        ]:
            code, out, err = kniffel(arguments)
            assert (code, out) == (1, "")
            assert words in err
        code, out, err = kniffel(f"--replay {tmp_path / 'text'} --set rules=yahtzee")
        assert (code, out) == (2, "")
        assert "has its rules already" in err

    def test_a_full_card_is_over_at_once(self, capsys):
        assert main(["kniffel", "--card", FULL, "--auto", "--seed", "1"]) == 0
        assert "Ergebnis: 207 Punkte." in capsys.readouterr().out
