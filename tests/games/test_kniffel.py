"""The adviser of Kniffel, records of games, and the sheet to play at."""

import functools
import json
import math
import types
from fractions import Fraction
from itertools import pairwise

import attrs
import numba
import pytest
from figures import BY_NAME, FIGURES
from throws import multisets

import gamedp
from gamedp.games.kniffel import (
    DONE,
    ENTERING,
    KEEPING,
    WORDS,
    Adviser,
    Card,
    Dialogue,
    Kniffel,
    KniffelTurn,
    Record,
    RecordOfTwo,
    Round,
    Sheet,
    Situation,
    Turn,
    advice,
    analyse,
    answer,
    box_names,
    chance_of,
    load_record,
    play_perfectly,
    played_perfectly,
    replay,
    report,
    shown,
    throw,
)
from gamedp.stages import solution as staged_solution
from gamedp.testing import exact_values

COMPILED = not numba.config.DISABLE_JIT

CARD = "- 8 - 16 15 - 15 9 25 30 40 - -"
EMPTY = " ".join("-" * 13)
FULL = "1 8 9 16 20 18 21 0 25 30 0 0 24"
NOTHING = (0, 0, 0, 0, 0, 0)


# Uncompiled, the table of all sheets takes many minutes; what needs it is left to compiled runs.
needs_table = pytest.mark.skipif(not COMPILED, reason="the whole table takes minutes uncompiled")


@attrs.frozen
class NextEntry(KniffelTurn):
    """A turn played for the points of its entry alone."""

    rules: Kniffel = attrs.Factory(Kniffel)
    sheet: Sheet = attrs.Factory(lambda: Sheet(0, 0, 0))

    def actions(self, state):
        for action in KniffelTurn.actions(self, state):
            is_entry = state.phase == ENTERING
            if not is_entry or self.rules.allows(self.sheet, self.entry(state.dice, action)):
                yield action

    def payoff(self, state, player):
        return self.rules.reward(self.sheet, state, player)


class Myopic:
    """Stands in for a solution, by which nothing counts but the next entry."""

    def __init__(self, rules):
        self.model = types.SimpleNamespace(rules=gamedp.rules.StagedRules(rules))
        self.inside = functools.cache(self.inside)

    def value(self, sheet):
        rules = self.model.rules.game
        return rules.payoff(sheet, 0) if rules.is_terminal(sheet) else 0.0

    def bounds(self, sheet):
        return self.value(sheet), self.value(sheet)

    def inside(self, sheet):
        rules = self.model.rules.game
        turn = NextEntry(**attrs.asdict(rules.stage()), rules=rules, sheet=sheet)
        return gamedp.solve(turn, compile="never")


def make_adviser(rules):
    """Make an adviser; uncompiled, one that answers the same questions worse."""
    return Adviser.of(rules) if COMPILED else Adviser(Myopic(rules))


@pytest.fixture(scope="module")
def adviser():
    return make_adviser(Kniffel())


@pytest.fixture(scope="module")
def yahtzee():
    return make_adviser(Kniffel("yahtzee"))


@needs_table
class TestFigures:
    """Each of the article's, in the words of the adviser."""

    @pytest.mark.parametrize(
        "figure",
        [figure for figure in FIGURES if figure.name.startswith("kniffel.state.")],
        ids=lambda figure: figure.name,
    )
    def test_encoded_states(self, adviser, figure):
        sheet = adviser.rules.numbered(int(figure.name.rpartition(".")[2]))
        low, high = adviser.solution.bounds(sheet)
        assert abs(adviser.solution.value(sheet) - figure.value) <= figure.tolerance
        assert low - figure.tolerance <= figure.value <= high + figure.tolerance

    @pytest.mark.parametrize("name", ["kniffel.only", "kniffel.erwartung"])
    def test_expectations(self, adviser, name):
        figure = BY_NAME[name]
        situation = Situation.of(figure.value["situation"])
        found = adviser.expectation(situation)
        assert abs(found.value - figure.value["value"]) <= figure.tolerance
        assert found.value == situation.card.total + found.rest
        assert found.lower <= found.value <= found.upper
        assert found.upper - found.lower < 1e-9

    @pytest.mark.parametrize(
        "name",
        [
            "kniffel.query.13345",
            "kniffel.handicap.11456",
            "kniffel.11336",
            "kniffel.11245.first",
            "kniffel.11245.second",
        ],
    )
    def test_decisions(self, adviser, name):
        figure = BY_NAME[name]
        situation = Situation.of(figure.value["situation"])
        options = adviser.options(situation)
        assert options[0].name() == next(iter(figure.value["rests"]))
        losses = [option.loss for option in options]
        assert losses == sorted(losses)
        assert losses[0] == 0
        for name_of_option, rest in figure.value["rests"].items():
            option = adviser.option(situation, name_of_option)
            assert option.name() == name_of_option
            assert abs(option.rest - rest) <= figure.tolerance
            assert abs(option.loss - (options[0].rest - option.rest)) <= 1e-12
            assert option.lower <= option.value <= option.upper
            assert option.value == situation.card.total + option.rest

    def test_the_value_of_the_whole_game(self, adviser):
        figure = BY_NAME["kniffel.E0"]
        assert abs(adviser.expectation(Situation()).value - figure.value) <= figure.tolerance

    def test_the_handicap(self, adviser):
        figure = BY_NAME["kniffel.handicap.11456"]
        loss = adviser.loss(Situation.of(figure.value["situation"]), "11")
        assert abs(loss - figure.value["loss of 11"]) <= figure.tolerance
        assert loss < figure.value["printed"]

    def test_a_card_with_one_free_box_gives_the_chance_of_its_pattern(self, adviser):
        figure = BY_NAME["kniffel.only"]
        kniffel = adviser.expectation(Situation.of(figure.value["situation"])).value / 50
        assert abs(kniffel - figure.value["chance"]) <= figure.tolerance
        assert abs(kniffel - chance_of("Kniffel").value) < 1e-12
        figure = BY_NAME["kniffel.grosse"]
        grosse = adviser.expectation(Situation.of(figure.value["situation"])).value / 40
        assert abs(grosse - figure.value["chance"]) <= figure.tolerance
        assert abs(grosse - chance_of("Große Straße").value) < 1e-12


@attrs.frozen
class Product(KniffelTurn):
    """The article's small example: ten times the product of two dice."""

    def actions(self, state):
        if state.phase == ENTERING:
            yield 0
        else:
            yield from KniffelTurn.actions(self, state)

    def entry(self, dice, action):
        product = math.prod(face**count for face, count in enumerate(dice, start=1))
        return Turn(DONE, 0, self.empty_table, 0, 10 * product, 0)


class TestFiguresThatNeedNoTable:
    def test_two_dice(self):
        figure = BY_NAME["kniffel.two_dice"].value
        turn = Product(dice=2, faces=3)
        model = gamedp.compile(turn, compile="never")
        truth = exact_values(model)
        throws = [throw(faces, dice=2, faces=3) for faces in multisets(3, 2)]
        keeps = [
            throw(faces, dice=len(faces), faces=3) for n in (0, 1, 2) for faces in multisets(3, n)
        ]
        states = {
            "a priori": [turn.initial_state()],
            "after the first throw": [Turn(KEEPING, 2, dice, 0, 0, 0) for dice in throws],
            "after the first keep": [turn.on_the_table(2, dice) for dice in keeps],
            "after the second throw": [Turn(KEEPING, 1, dice, 0, 0, 0) for dice in throws],
            "after the second keep": [turn.on_the_table(1, dice) for dice in keeps],
            "after the third throw": [Turn(ENTERING, 0, dice, 0, 0, 0) for dice in throws],
        }
        for when, column in states.items():
            known = figure[when]
            assert [truth[model.index(state)[0]] for state in column] == [
                Fraction(*value) if isinstance(value, tuple) else value
                for value in ([known] if when == "a priori" else known)
            ], when

    def test_encoding(self):
        rules = Kniffel()
        for number, digits in BY_NAME["kniffel.encoding"].value.items():
            boxes, upper = (int(part, 2) for part in digits.split())
            assert rules.numbered(number) == Sheet(upper, boxes, 0)
            assert rules.number(Sheet(upper, boxes, 0)) == number

    def test_sizes(self):
        figure = BY_NAME["kniffel.states"].value
        ranges = Kniffel().box().values()
        assert math.prod(high - low + 1 for low, high in ranges) == figure["sheets"]
        assert figure["sheets"] * 8 == figure["bytes"]
        # An upper box is free or has one of six entries, a Pasch 0 or 5 to 30, Chance 5 to 30.
        assert figure["cards"] == 7**6 * 28**2 * 3**4 * 27
        uppers = {(0, 0)}
        for face in range(1, 7):
            uppers |= {
                (boxes | 1 << face, min(upper + face * count, 63))
                for boxes, upper in uppers
                for count in range(6)
            }
        assert len(uppers) * 2**7 == figure["reachable"]

    def test_sums_of_cards(self):
        for card, total in BY_NAME["kniffel.sheet_sums"].value.items():
            assert Card.of(card).total == total


class TestChances:
    @pytest.mark.parametrize(("box", "printed"), [("Kniffel", 0.0460), ("Grosse Strasse", 0.2611)])
    def test_as_printed(self, box, printed):
        chance = chance_of(box)
        assert abs(chance.value - printed) <= 5e-5
        assert chance.lower <= chance.value <= chance.upper

    def test_one_throw_by_counting(self):
        for box in range(13):
            good = sum(
                math.factorial(5) / math.prod(math.factorial(count) for count in throw(faces))
                for faces in multisets(6, 5)
                if KniffelTurn().entry(throw(faces), box).points > 0
            )
            assert abs(chance_of(box, throws=1).value - good / 6**5) < 1e-12

    def test_more_throws_and_fewer_points_help(self):
        assert chance_of("Kniffel", throws=4).value > chance_of("Kniffel").value
        assert chance_of("Sechser", at_least=18).value < chance_of("Sechser", at_least=12).value
        assert chance_of("Sixes", at_least=31).value == 0
        # Five dice: at least one six in three throws.
        assert abs(chance_of("Sechser").value - (1 - (5 / 6) ** 15)) < 1e-12

    def test_other_dice(self):
        assert chance_of("Kniffel", dice=1, faces=2).value == 1
        # Two coins, thrown until they show the same, three times at most.
        assert abs(chance_of("Kniffel", dice=2, faces=2).value - 7 / 8) < 1e-12

    def test_a_kniffel_may_be_no_full_house(self):
        with_it = chance_of("Full House", throws=1).value
        without = chance_of("Full House", throws=1, kniffel_is_full_house=False).value
        assert abs(with_it - without - 6 / 6**5) < 1e-15

    @pytest.mark.parametrize(
        ("box", "options", "words"),
        [
            (13, {}, "there is no box 13"),
            ("Zehner", {}, "no box is called 'Zehner'"),
            ("Kniffel", {"at_least": 0}, "at_least must be a whole number of at least 1"),
            ("Kniffel", {"throws": 0}, "throws must be"),
        ],
    )
    def test_refuses_in_words(self, box, options, words):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
            chance_of(box, **options)


class TestSituation:
    @pytest.mark.parametrize(
        "arguments", [f"{EMPTY} 0", f"{CARD} 3 13345", f"{CARD} 1 66666", f"{FULL} 0"]
    )
    def test_reads_what_it_writes(self, arguments):
        situation = Situation.of(arguments)
        assert situation.arguments == arguments
        assert Situation.of(*arguments.split()) == situation

    def test_dice_may_be_in_any_order_and_apart(self):
        assert Situation.of(f"{CARD} 2 5 4 3 3 1") == Situation.of(f"{CARD} 2 13345")
        assert Situation(Card(), 1, "54331").dice == throw("13345")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ("3 3", "Given are 2 words"),
            (EMPTY, "Given are 13 words"),
            (f"{EMPTY} one 13345", "and not 'one'"),
            (f"{EMPTY} 1", "come its dice"),
            (f"{EMPTY} 0 13345", "before the first throw no dice"),
            (f"{EMPTY} 1 1334", "it takes 5"),
            (f"{EMPTY} 1 13347", "which no die does"),
            (f"{FULL} 1 13345", "the card is full"),
            ("7" + EMPTY[1:] + " 0", "no throw enters 7 in Einser"),
        ],
    )
    def test_refuses_in_words(self, arguments, words):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
            Situation.of(arguments)

    def test_refuses_dice_that_are_no_throw(self):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="is not a throw of 5 dice"):
            Situation(Card(), 1, (1, 1, 1, 1, 0, 0))
        with pytest.raises(gamedp.errors.InvalidParameterError, match="whole number of at least 0"):
            Situation(Card(), -1)


class TestAdviser:
    @pytest.mark.parametrize("dice", ["11245", "11111", "12345", "33366"])
    def test_a_keep_is_worth_what_the_stage_says(self, adviser, dice):
        # Between the keep and the throw there are the stage's decisions to put single dice back:
        # the best keep is worth what the stage says of all dice on the table.
        situation = Situation.of(f"{CARD} 1 {dice}")
        options = adviser.options(situation)
        counts = throw(dice)
        assert len(options) == math.prod(count + 1 for count in counts)
        inside = adviser.solution.inside(situation.card.sheet(adviser.rules))
        assert options[0].rest == inside.value(Turn(KEEPING, 2, counts, 0, 0, 0))
        found = adviser.expectation(situation)
        assert found.value == options[0].value
        everything = adviser.option(situation, dice)
        assert everything.rest == inside.value(Turn(KEEPING, 1, counts, 0, 0, 0))

    def test_entries_are_those_of_the_stage(self, adviser, yahtzee):
        for each in (adviser, yahtzee):
            situation = Situation.of(f"{CARD} 3 33333")
            inside = each.solution.inside(situation.card.sheet(each.rules))
            state = Turn(ENTERING, 0, throw("33333"), 0, 0, 0)
            options = each.options(situation)
            found = {entry.action: entry.value for entry in inside.action_values(state)}
            for option in options:
                assert option.rest == pytest.approx(found[option.box], abs=1e-12)
            assert options[0].name("en") == "Yahtzee"

    @needs_table
    def test_the_bonus_counts_once(self, adviser):
        card = Card.of("3 6 9 12 15 18 26 26 25 30 40 50 -")
        found = adviser.expectation(Situation(card))
        assert 295 + 5 < found.value < 295 + 30
        full = card.with_throw("66666", "Chance", adviser.rules)
        found = adviser.expectation(Situation(full))
        assert found.value == found.lower == found.upper == full.total == 295 + 30
        assert found.rest == 35

    @needs_table
    def test_further_yahtzees_count(self, yahtzee):
        card = Card.of("- 6 9 12 15 18 25 26 - - - 50 -", further=1)
        plain = Card.of("- 6 9 12 15 18 25 26 - - - 50 -")
        difference = (
            yahtzee.expectation(Situation(card)).value - yahtzee.expectation(Situation(plain)).value
        )
        assert difference == pytest.approx(100)
        best = yahtzee.best(Situation(card, 3, "11111"))
        assert best.name("en") == "Ones"
        assert best.points == 5
        assert best.rest > 105

    def test_forced_jokers_leave_one_box(self, yahtzee):
        situation = Situation(Card.of("- - - 12 - - - - - - - 50 -"), 3, "33333")
        assert [option.name("en") for option in yahtzee.options(situation)] == ["Threes"]
        with pytest.raises(
            gamedp.errors.InvalidParameterError, match="cannot be entered in Chance"
        ):
            yahtzee.option(situation, "Chance")

    def test_decisions_that_are_equal_lose_nothing(self, adviser):
        # Only the Kniffel is free, and no throw is left after this one: it does not matter what
        # counts nothing, and what keeps most dice comes first.
        situation = Situation.of("0 0 0 0 0 0 0 0 0 - - 0 0 3 11111")
        options = adviser.options(situation)
        assert [option.points for option in options] == [0, 0]
        situation = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 1 22222")
        assert adviser.best(situation).name() == "22222"
        assert adviser.best(situation).value == 50

    def test_nothing_to_decide(self, adviser):
        assert adviser.options(Situation()) == ()
        for situation, words in [
            (Situation(), "before the first throw"),
            (Situation.of(f"{FULL} 0"), "the card is full"),
        ]:
            with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
                adviser.best(situation)

    @pytest.mark.parametrize(
        ("situation", "decision", "words"),
        [
            (f"{CARD} 1 11456", "33", "has 0 of them"),
            (f"{CARD} 1 11456", (0, 0, 2, 0, 0, 0), "has 0 of them"),
            (f"{CARD} 1 11456", "Chance", "which no die does"),
            (f"{CARD} 1 11456", (1, 2), "which no die does"),
            (f"{CARD} 3 11456", "Zweier", "cannot be entered in Zweier; it can in Einser, Dreier"),
            (f"{CARD} 3 11456", 17, "cannot be entered in 17"),
            (f"{CARD} 3 11456", "Zehner", "no box is called"),
            (f"{CARD} 4 11456", "Chance", "there is no throw 4"),
        ],
    )
    def test_refuses_in_words(self, adviser, situation, decision, words):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
            adviser.option(Situation.of(situation), decision)

    def test_keeps_by_faces_or_counts(self, adviser):
        situation = Situation.of(f"{CARD} 1 11456")
        assert adviser.option(situation, "11") == adviser.option(situation, (2, 0, 0, 0, 0, 0))
        assert adviser.option(situation, "-") == adviser.option(situation, NOTHING)

    @needs_table
    def test_solves_each_turn_once(self, adviser, monkeypatch):
        """For a card it has not seen, one sweep of the turn; for further questions none."""
        solved, solve = [], staged_solution._solve_inside

        def counted(solution, context, **more):
            solved.append(context)
            return solve(solution, context, **more)

        monkeypatch.setattr(staged_solution, "_solve_inside", counted)
        adviser.solution._inside.clear()
        again = Adviser(adviser.solution)
        cards = [f"- {2 * two} - - - - - - - - - - {chance}" for two in (1, 2) for chance in (8, 9)]
        situations = [Situation.of(f"{card} 1 12456") for card in cards]
        for situation in situations:
            again.best(situation)
            again.best(Situation(situation.card, 2, "12356"))
        sheets = [situation.card.sheet(again.rules) for situation in situations]
        assert solved == list(dict.fromkeys(sheets))
        assert len(solved) == 2  # what the chance has brought does not matter

    def test_forgets_what_was_asked_long_ago(self, adviser, monkeypatch):
        monkeypatch.setattr("gamedp.games.kniffel.adviser.MOST_KNOWN", 2)
        for dice in ("11111", "22222", "33333", "11111"):
            assert adviser.best(Situation.of(f"{CARD} 3 {dice}")).name() == "Kniffel"


class TestWhatMakesAnAdviser:
    def test_a_solution_of_something_else_is_refused(self):
        with pytest.raises(
            gamedp.errors.InvalidParameterError, match="needs the solution of a Kniffel"
        ):
            Adviser(gamedp.solve(KniffelTurn(dice=1, faces=2, throws=1), compile="never"))

    def test_other_dice_are_refused_before_they_are_solved(self):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="a card is for 5 dice"):
            Adviser.of(Kniffel(dice=2))

    def test_entries_need_nothing_but_values(self):
        best = Adviser(Myopic(Kniffel())).best(Situation.of(f"{CARD} 3 44444"))
        assert (best.name("en"), best.value, best.rest) == ("Yahtzee", 208, 50)


GAME = ("11456", "11", "11336", "33", "13345", "Dreier")


def played(record, *words):
    for word in words:
        step = {"throw": record.thrown, "keep": record.keeping, "entry": record.entered}
        record = step[record.waits_for](word)
    return record


class TestRecord:
    def test_one_round(self):
        record = played(Record(start=Card.of(CARD)), *GAME)
        assert record.card.total == 164
        assert record.total == 164
        assert record.waits_for == "throw"
        assert record.situation == Situation(record.card)
        assert [step.round for step in record.steps] == [1] * 6
        assert [shown(step.thrown) for step in record.steps if step.thrown] == list(GAME[::2][:3])
        assert record.steps[-1].box == 2

    def test_every_step_can_be_taken_back(self):
        records = [Record(start=Card.of(CARD))]
        for word in (*GAME, *GAME[:-1], "Chance"):
            records.append(played(records[-1], word))
        for before, after in pairwise(records):
            assert after.taken_back() == before
        assert records[0].taken_back() is records[0]

    def test_throws_come_from_the_seed(self):
        first, again = Record(seed=3).thrown(), Record(seed=3).thrown()
        assert first == again
        assert Record(seed=4).thrown() != first
        kept = first.keeping(shown(first.situation.dice)[:2])
        after = kept.thrown()
        assert after == kept.thrown()
        assert after.taken_back().thrown() == after
        assert all(one <= other for one, other in zip(kept.kept, after.situation.dice, strict=True))

    def test_throws_are_fair(self):
        counts = [0] * 6
        for seed in range(600):
            for face, count in enumerate(Record(seed=seed).thrown().situation.dice):
                counts[face] += count
        assert sum(counts) == 3000
        assert all(abs(count - 500) < 5 * math.sqrt(3000 * 5 / 36) for count in counts)

    def test_nothing_waits_when_the_card_is_full(self):
        record = Record(start=Card.of(FULL))
        assert record.waits_for == "nothing"
        with pytest.raises(gamedp.errors.InvalidParameterError, match="no throw is due"):
            record.thrown("12345")

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("11456", "33"), "has 0 of them"),
            (("11456", "11", "12345"), "lacks dice that were kept, 11"),
            (("11456", "11", "11456", "-", "66666", "Vierer"), "round 1: Vierer is filled"),
            (("11456", "11", "11456", "-", "66666", "Zehner"), "no box is called"),
            (("1145",), "it takes 5"),
        ],
    )
    def test_steps_that_cannot_be(self, words, message):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
            played(Record(start=Card.of(CARD)), *words)

    def test_steps_out_of_turn(self):
        record = Record(seed=1)
        with pytest.raises(
            gamedp.errors.InvalidParameterError, match="no keep is due; next comes throw"
        ):
            record.keeping("1")
        with pytest.raises(gamedp.errors.InvalidParameterError, match="no entry is due"):
            record.entered("Chance")
        with pytest.raises(gamedp.errors.InvalidParameterError, match="no seed to throw by"):
            Record().thrown()

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"seed": -1}, "seed must be"),
            ({"seed": "7"}, "seed must be"),
            ({"rules": Kniffel(dice=3)}, "a card is for 5 dice"),
            ({"rounds": [Round()]}, "0 throws, 0 keeps and no entry make no round"),
            ({"rounds": [Round((throw("12345"),), (), 12)]}, "an entry make no round"),
            ({"rounds": [Round((throw("12345"),)), Round((throw("12345"),))]}, "others follow it"),
            ({"rounds": [Round((NOTHING,))]}, "is not a throw"),
        ],
    )
    def test_records_that_cannot_be(self, fields, words):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
            Record(**fields)

    def test_other_numbers_of_throws(self):
        record = played(Record(Kniffel(throws=1)), "13345", "Dreier", "66666", "Kniffel")
        assert record.total == 56
        record = played(Record(Kniffel(throws=2)), "13345", "33", "33345", "Dreier")
        assert record.total == 9

    def test_yahtzees_as_jokers(self):
        start = Card.of("- - 9 - - - - - - - - 50 -")
        record = played(
            Record(Kniffel("yahtzee"), start), "33333", "33333", "33333", "33333", "33333", "Chance"
        )
        assert record.card.further == 1
        assert record.total == 9 + 50 + 15 + 100
        assert Record.from_text(record.to_text()) == record


class TestFiles:
    @pytest.mark.parametrize("rules", [Kniffel(), Kniffel("yahtzee"), Kniffel(threshold=20)])
    @pytest.mark.parametrize("length", range(len(GAME) + 1))
    def test_come_back(self, tmp_path, rules, length):
        record = played(Record(rules, Card.of(CARD), seed=9), *GAME[:length])
        path = tmp_path / "game.jsonl"
        record.save(path)
        assert Record.load(path) == record
        assert [file.name for file in tmp_path.iterdir()] == ["game.jsonl"]
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 1 + len(record.rounds)
        assert all(isinstance(json.loads(line), dict) for line in lines)

    def test_what_cannot_be_written_leaves_the_old_one(self, tmp_path, monkeypatch):
        path = tmp_path / "game.jsonl"
        old = Record(seed=1)
        old.save(path)

        def no_room(handle):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", no_room)
        with pytest.raises(OSError, match="No space"):
            old.thrown().save(path)
        assert Record.load(path) == old

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda text: "", "does not say that it is a gamedp-kniffel-record"),
            (lambda text: "no JSON", "line 1 is not JSON"),
            (lambda text: "[]", "line 1 is not a JSON object"),
            (lambda text: text.replace("-record", "-other"), "does not say"),
            (lambda text: text.replace('"version": 1', '"version": 2'), "version 2; known here"),
            (lambda text: text.replace('"seed"', '"sead"'), "it lacks 'seed'"),
            (lambda text: text.replace('"throws": 3', '"trows": 3'), "trows"),
            (lambda text: text.replace('"article"', '"mine"'), "must be one of article, yahtzee"),
            (lambda text: text.replace("11336", "11337"), "which no die does"),
            (lambda text: text.replace('"33"', '"44"'), "has 0 of them"),
            (lambda text: text.replace("Dreier", "Zehner"), "no box is called"),
            (lambda text: text.replace('"Dreier"', "33"), "no box is called 33"),
            (lambda text: text.replace("Dreier", "Zweier"), "Zweier is filled"),
            (lambda text: text.replace('"13345"', "13345"), "is not a record"),
            (lambda text: text.replace(', "13345"', ""), "make no round"),
            (lambda text: text.replace('["11", "33"]', '["11", "33", "5", "-"]'), "4 keeps and 3"),
            (lambda text: text[:-5], "line 2 is not JSON"),
        ],
    )
    def test_that_are_damaged_are_refused_in_words(self, tmp_path, change, words):
        path = tmp_path / "game.jsonl"
        text = played(Record(start=Card.of(CARD)), *GAME).to_text()
        path.write_text(change(text), encoding="utf-8")
        with pytest.raises(gamedp.errors.DamagedFileError, match=words) as caught:
            Record.load(path)
        assert str(path) in str(caught.value)

    def test_that_are_no_text_or_not_there(self, tmp_path):
        path = tmp_path / "game.jsonl"
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(gamedp.errors.DamagedFileError, match="is not a record"):
            Record.load(path)
        with pytest.raises(FileNotFoundError):
            Record.load(tmp_path / "other")


ONE_FREE = Card.of("1 8 9 16 20 18 21 0 25 30 0 0 -")
TWO_FREE = Card.of("1 8 - 16 20 18 21 0 25 30 0 0 -")


def of_two(*cards, begins=0):
    return RecordOfTwo([Record(start=card, seed=seed) for seed, card in enumerate(cards)], begins)


def games_of_two(game):
    """Play a game of two by its seeds, entering where the first box is free; yield each state."""
    yield game
    while not game.is_over:
        record = game.record
        if record.waits_for == "throw":
            record = record.thrown()
        elif record.waits_for == "keep":
            record = record.keeping("-")
        else:
            record = record.entered(record.card.entries.index(None))
        game = game.with_record(record)
        yield game


class TestRecordOfTwo:
    @pytest.mark.parametrize(
        ("cards", "begins", "order"),
        [
            ((ONE_FREE, TWO_FREE), 0, (0, 1, 1)),
            ((ONE_FREE, TWO_FREE), 1, (1, 0, 1)),
            ((TWO_FREE, TWO_FREE), 0, (0, 1, 0, 1)),
            ((Card.of(FULL), TWO_FREE), 0, (1, 1)),
            ((Card.of(CARD), Card.of(FULL)), 1, (0,) * 5),
        ],
    )
    def test_players_take_turns(self, cards, begins, order, tmp_path):
        games = list(games_of_two(of_two(*cards, begins=begins)))
        assert games[-1].order == order
        assert games[-1].is_over
        for before, after in pairwise(games):
            assert after.taken_back() == before
            after.save(tmp_path / "game")
            assert load_record(tmp_path / "game") == after
            assert RecordOfTwo.load(tmp_path / "game").turn == after.turn
        assert games[0].taken_back() is games[0]
        steps = list(games[-1].steps)
        assert len(steps) == len(games) - 1
        assert [player for player, step in steps if step.box is not None] == list(order)

    def test_the_winner_has_more_points(self):
        behind, ahead = Card.of(FULL), Card.of(FULL.replace("24", "25"))
        assert of_two(behind, ahead).winner == 1
        assert of_two(ahead, behind).winner == 0
        assert of_two(ahead, ahead).winner is None

    def test_what_is_no_game_is_refused(self):
        one = Record(start=Card.of(CARD))
        for records, begins, words in [
            ((one,), 0, "two records, not 1"),
            ((one, Record(Kniffel("yahtzee"))), 0, "the same rules"),
            ((one, one), 2, "begins must be 0 or 1"),
            ((one, played(one, "13345")), 0, "not played in turns"),
            ((played(one, "13345"), played(one, "13345")), 0, "not played in turns"),
            ((played(one, *GAME, "12345"), one), 0, "not played in turns"),
        ]:
            with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
                RecordOfTwo(records, begins)

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("-of-two", "-of-six", "a gamedp-kniffel-record"),
            ('"version": 1', '"version": 2', "version 2; known here"),
            ('"begins"', '"first"', "it lacks 'begins'"),
            ('"begins": 1', '"begins": 2', "not played in turns"),
            ('"begins": 1', '"begins": 3', "must be 0 or 1"),
            ('"player": 2', '"player": 1', "not played in turns"),
            ('"player": 2', '"player": 3', "not played in turns"),
            ('"player": 2', '"player": []', "not played in turns"),
            ("13345", "11445", "player 1, round 1: the throw"),
            ("[0, 1]", "[0]", "is not a record"),
        ],
    )
    def test_damaged_files_are_refused_in_words(self, tmp_path, old, new, words):
        game = of_two(Card.of(CARD), Card.of(CARD))
        game = game.with_record(played(game.record, *GAME))
        game = game.with_record(played(game.record, "11456"))
        path = tmp_path / "game.jsonl"
        game.save(path)
        assert load_record(path) == game
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        with pytest.raises(gamedp.errors.DamagedFileError, match=words) as caught:
            load_record(path)
        assert str(path) in str(caught.value)

    @pytest.mark.parametrize("text", ["", "[]", "{", "{}", "[" * 100_000])
    def test_what_is_no_record_is_refused(self, tmp_path, text):
        (tmp_path / "game").write_text(text)
        with pytest.raises(gamedp.errors.DamagedFileError, match="is not a record of a game"):
            load_record(tmp_path / "game")


class TestAnalysis:
    @pytest.mark.parametrize("seed", range(4))
    def test_perfect_play_loses_nothing(self, adviser, yahtzee, seed):
        for each in (adviser, yahtzee):
            record = Record(each.rules, seed=seed)
            while record.waits_for != "nothing":
                record = played_perfectly(record, each)
            analysis = analyse(record, each)
            assert analysis.handicap == 0
            assert analysis.mistakes == ()
            assert len(analysis.decisions) == len(analysis.throws) == 39
            assert analysis.now.value == record.total
            assert analysis.start.value + analysis.luck == pytest.approx(record.total, abs=1e-9)

    @pytest.mark.parametrize("length", range(len(GAME) + 1))
    def test_luck_and_handicap_tell_all(self, adviser, length):
        record = played(Record(start=Card.of(CARD)), *GAME[:length])
        analysis = analyse(record, adviser)
        now = analysis.start.value + analysis.luck - analysis.handicap
        assert analysis.now.value == pytest.approx(now, abs=1e-9)
        assert json.loads(json.dumps(analysis.to_dict())) == analysis.to_dict()

    @needs_table
    def test_the_round_of_the_article(self, adviser):
        analysis = analyse(played(Record(start=Card.of(CARD)), *GAME), adviser)
        assert analysis.handicap == pytest.approx(0.868221421, abs=1e-8)
        (mistake,) = analysis.mistakes
        assert (mistake.round, mistake.situation.number) == (1, 1)
        assert (mistake.chosen.name(), mistake.best.name()) == ("11", "6")
        # What the last throw has left of the expectation is what the article's query says.
        assert analysis.decisions[-1].chosen.value == pytest.approx(239.713069, abs=5e-7)

    def test_other_rules_are_refused_other_languages_are_not(self, adviser):
        record = Record(Kniffel(language="en"), seed=1).thrown()
        assert analyse(record, adviser).to_dict()["rules"]["language"] == "en"
        with pytest.raises(gamedp.errors.InvalidParameterError, match="and the adviser is for"):
            analyse(Record(Kniffel("yahtzee")), adviser)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="and the adviser is for"):
            played_perfectly(Record(Kniffel("yahtzee"), seed=1), adviser)


class TestTexts:
    @needs_table
    def test_the_query_of_the_article(self, adviser):
        text = answer(adviser, Situation.of(f"{CARD} 3 13345"))
        assert "|   Summe        158   |\n|   Erwartung    246.5 |" in text
        assert "3. Wurf: 13345\nBester Eintrag: Dreier\nPunkterwartung: 239.713069\n" in text
        assert text.splitlines()[-5].split() == ["Dreier", "6", "239.713069", "0.000000"]
        text = answer(adviser, Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 0"))
        assert "Punkterwartung: 2.301432\n" in text

    @needs_table
    def test_in_english(self, adviser):
        text = answer(adviser, Situation.of(f"{CARD} 1 11456"), "en")
        assert "Throw 1: 11456\nBest keep: 6\nExpected points: 244.833481\n" in text

    def test_advice_may_be_cut(self, adviser):
        options = adviser.options(Situation.of(f"{CARD} 1 11456"))
        lines = advice(options, "de", 3).splitlines()
        assert len(lines) == 5
        assert lines[-1] == "... und 21 weitere"

    @pytest.mark.parametrize("language", ["de", "en"])
    @pytest.mark.parametrize("length", range(len(GAME) + 1))
    def test_reports_at_any_time(self, adviser, language, length):
        record = played(Record(start=Card.of(CARD)), *GAME[:length])
        text = report(analyse(record, adviser), language)
        words = WORDS[language]
        assert words["report_rows"][0] in text
        assert words["report_end"] not in text.split("\n")[3]
        assert (words["mistakes"] in text) == (length > 1)

    def test_report_of_a_whole_game(self, adviser):
        record = Record(seed=2)
        while record.waits_for != "nothing":
            record = played_perfectly(record, adviser)
        text = report(analyse(record, adviser), "en")
        assert f"Result                  {record.total:>9}\n" in text
        assert text.endswith("Every decision was the best one.")


class TestWords:
    def test_both_languages_fill_in_the_same(self):
        import string

        def holes(text):
            if isinstance(text, dict):
                return {name: holes(each) for name, each in text.items()}
            if isinstance(text, list):
                return [holes(each) for each in text]
            return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)

        assert holes(WORDS["de"]) == holes(WORDS["en"])


@pytest.fixture
def talk(adviser):
    """Play by typing lines; return the dialogue and what it said, the questions included."""

    def player(*typed, record=None, language=None, save=None):
        said = []
        answers = iter(typed)

        def ask(question):
            said.append(question)
            try:
                return next(answers)
            except StopIteration:
                raise EOFError from None

        record = Record(start=Card.of(CARD), seed=5) if record is None else record
        dialogue = Dialogue(record, adviser, ask=ask, say=said.append, save=save, language=language)
        dialogue.run()
        return dialogue, said

    return player


class TestDialogue:
    @needs_table
    def test_the_round_of_the_article(self, talk):
        dialogue, said = talk(*GAME)
        assert dialogue.record == played(Record(start=Card.of(CARD), seed=5), *GAME)
        assert said[2].endswith("|   Erwartung    246.5 |\n ---------------------- ")
        assert said[3:12] == [
            "1. Wurf: ",
            "1. Wurf: 11456 Auswahl: ",
            "Beste Auswahl:    6              Handicap: 0.868",
            "2. Wurf, 11 liegt: ",
            "2. Wurf: 11336 Auswahl: ",
            "Beste Auswahl:    33             Handicap: 0.868",
            "3. Wurf, 33 liegt: ",
            "3. Wurf: 13345 Wohin: ",
            "Bester Eintrag:   Dreier         Handicap: 0.868",
        ]
        assert said[-1] == "Abgebrochen in Runde 2, Handicap bisher: 0.868."

    @needs_table
    def test_advice_loses_nothing(self, talk):
        dialogue, said = talk("?", "11456", "?", "11", "?", "336", "?")
        assert "Punkterwartung: 246.452" in said
        assert "Punkterwartung: 243.965" in said
        assert sum(text.startswith("Auswahl   Erwartung") for text in said) == 2
        assert dialogue.record.situation.arguments.endswith(" 2 11336")

    @pytest.mark.parametrize(
        ("typed", "words"),
        [
            (("1145",), "'1145' ist kein Wurf: 5 Würfel mit 1 bis 6 Augen, etwa 13345."),
            (("Kniffel",), "'Kniffel' ist kein Wurf"),
            (("!",), "Hier ist nichts zu entscheiden"),
            (("z",), "Es gibt nichts zurückzunehmen."),
            (("11456", "33"), "'33' ist nicht im Wurf 11456"),
            (("11456", ""), "'' ist nicht im Wurf 11456"),
            (("11456", "Foo"), "'Foo' ist kein Feld; frei: Einser, Dreier, Sechser, Kniffel"),
            (("11456", "Zweier"), "'Zweier' ist kein Feld"),
            (("11456", "11", "12345"), "Liegen geblieben ist 11: das muss im Wurf '12345'"),
            (("11456", "11", "12"), "'12' ist kein Wurf: 3 Würfel"),
            (("11456", "+", "+", "2"), "'2' ist kein Feld"),
        ],
    )
    def test_wrong_answers_are_asked_again(self, talk, typed, words):
        dialogue, said = talk(*typed)
        right, _ = talk(*typed[:-1])
        assert dialogue.record == right.record
        assert words in said[-4]
        assert said[-3] == said[-5]  # the same question again

    def test_wrong_answers_in_english(self, talk):
        _, said = talk("11456", "33", language="en")
        assert said[-4] == ("'33' is not in the throw 11456; - throws all dice again, + keeps all.")

    def test_forced_jokers(self, yahtzee):
        start = Card.of("- - - 12 - - - - - - - 50 -")
        answers, said = iter(["33333", "Chance", "Threes", "q"]), []
        dialogue = Dialogue(
            Record(yahtzee.rules, start),
            yahtzee,
            ask=lambda _: next(answers),
            say=said.append,
        )
        dialogue.run()
        assert "33333 must not go to Chance; allowed: Threes." in said
        assert dialogue.record.total == 12 + 50 + 15 + 100

    def test_only_the_new_dice_may_be_typed(self, talk):
        assert talk("11456", "11", "336")[0].record == talk("11456", "11", "11336")[0].record

    def test_the_name_of_a_box_enters_at_once(self, talk):
        dialogue, said = talk("22222", "Kniffel")
        assert dialogue.record.card.entries[11] == 50
        assert dialogue.record.steps[-1].situation.number == 3
        assert sum("Beste Auswahl:    22222" in text for text in said) == 2
        assert any("Bester Eintrag:   Kniffel        Handicap: 0.000" in text for text in said)

    @pytest.mark.parametrize("language", sorted(WORDS))
    def test_the_longest_name_of_a_box_is_apart_from_what_follows(self, language):
        for line in (WORDS[language]["best_entry"], WORDS[language]["best_keep"]):
            longest = max(box_names(language), key=len)
            said = line.format(best=longest, handicap=1.0)
            assert f"{longest} " in said

    def test_keeping_all_throws_nothing_and_can_be_taken_back(self, talk):
        dialogue, _ = talk("11456", "+")
        assert dialogue.record.situation.number == 2
        dialogue, _ = talk("11456", "+", "z")
        assert dialogue.record == talk("11456")[0].record
        dialogue, _ = talk("11456", "+", "+", "u")
        assert dialogue.record == talk("11456", "+")[0].record

    def test_undo_over_the_end_of_a_round(self, talk):
        dialogue, said = talk(*GAME, "undo")
        assert dialogue.record == talk(*GAME[:-1])[0].record
        assert said[-3] == "3. Wurf: 13345 Wohin: "
        first = Record(start=Card.of(CARD), seed=5)
        assert talk(*GAME, *["z"] * 7)[0].record == first

    def test_an_undone_throw_falls_again(self, talk):
        assert talk("")[0].record == talk("", "z", "")[0].record
        assert talk("")[0].record == Record(start=Card.of(CARD), seed=5).thrown()

    def test_without_a_seed_nothing_is_thrown(self, talk):
        _, said = talk("", record=Record())
        assert "'' ist kein Wurf" in said[-4]

    def test_card_and_help(self, talk):
        dialogue, said = talk("h", "k", "hilfe", "card")
        assert said.count(WORDS["de"]["help"]) == 2
        assert sum("Einser" in text for text in said) == 3
        assert dialogue.record.rounds == ()

    def test_best_decisions_on_demand(self, talk):
        dialogue, said = talk("11456", "!", "", "!", "", "!")
        assert dialogue.record.steps[-1].box is not None
        best = [text for text in said if text.startswith("Best")]
        assert len(best) == 3
        assert all(text.endswith("Handicap: 0.000") for text in best)

    @pytest.mark.parametrize("word", ["q", "quit", "ENDE", "exit"])
    def test_quitting(self, talk, word):
        dialogue, said = talk("11456", word, "11")
        assert dialogue.record.situation.number == 1
        assert said[-1] == "Abgebrochen in Runde 1, Handicap bisher: 0.000."

    def test_interruption_leaves_in_order(self, adviser):
        saved, said = [], []
        answers = iter(["11456", "11"])

        def ask(question):
            try:
                return next(answers)
            except StopIteration:
                raise KeyboardInterrupt from None

        dialogue = Dialogue(Record(), adviser, ask=ask, say=said.append, save=saved.append)
        with pytest.raises(KeyboardInterrupt):
            dialogue.run()
        assert saved[-1] == dialogue.record == played(Record(), "11456", "11")
        assert said[-1].startswith("Abgebrochen in Runde 1")

    def test_every_step_is_saved_at_once(self, talk):
        saved = []
        start = Record(start=Card.of(CARD), seed=5)
        talk(*GAME, save=saved.append)
        assert saved == [played(start, *GAME[:length]) for length in range(len(GAME) + 1)]

    def test_what_cannot_be_saved_is_said_and_play_goes_on(self, talk):
        def save(record):
            raise OSError(28, "No space left on device")

        dialogue, said = talk("11456", save=save)
        assert any("wurde nicht gespeichert" in text and "No space" in text for text in said)
        assert dialogue.record.situation.number == 1

    def test_a_whole_game_and_its_replay(self, adviser):
        said, saved = [], []
        record = play_perfectly(Record(seed=11), adviser, said.append, saved.append)
        assert record.waits_for == "nothing"
        assert saved[-1] == record
        assert said[-2] == f"Ergebnis: {record.total} Punkte."
        again = []
        replay(record, adviser, again.append)
        assert again == said
        english = []
        replay(record, adviser, english.append, "en")
        assert english[-2] == f"Result: {record.total} points."

    def test_replays_of_unfinished_games(self, adviser, talk):
        dialogue, _ = talk("11456", "+", "-", "11111", "Kniffel")
        said = []
        replay(dialogue.record, adviser, said.append)
        assert "3. Wurf: 11111 Wohin: Kniffel" in said
        assert said[-1].startswith("Abgebrochen in Runde 2")

    def test_a_card_is_shown_at_each_start_of_a_round(self, talk):
        _, said = talk(*GAME)
        assert sum("Erwartung" in text and "Einser" in text for text in said) == 2


def test_names_of_boxes_never_shadow_commands():
    from gamedp.games.kniffel.dialogue import COMMANDS

    names = {name.casefold() for language in WORDS for name in box_names(language)}
    assert not names & set(COMMANDS)


@needs_table
def test_sheets_of_cards_are_what_the_solution_knows(adviser):
    sheet = Card.of(CARD).sheet(adviser.rules)
    assert sheet == Sheet(39, 2010, 0)
    assert adviser.rules.number(sheet) == 128679
