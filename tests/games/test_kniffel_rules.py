"""The rules of Kniffel, in plain Python: throws, turns, sheets and cards."""

import math
import pickle
from collections import Counter, defaultdict
from functools import cache
from itertools import product

import attrs
import numpy as np
import pytest
from depth import in_pairs
from throws import multisets

import gamedp
from gamedp.games.kniffel import (
    ENTERING,
    KEEPING,
    ROLLING,
    Card,
    Kniffel,
    KniffelTurn,
    Sheet,
    Turn,
    box_names,
    box_number,
    kept,
    points,
    shown,
    throw,
)
from gamedp.testing import check_game

EINSER, ZWEIER, DREIER, VIERER, FUENFER, SECHSER = range(6)
DREIERPASCH, VIERERPASCH, FULL_HOUSE, KLEINE, GROSSE, KNIFFEL, CHANCE = range(6, 13)
SPIELER_1 = "1 8 9 16 20 18 21 0 25 30 0 0 24"
SPIELER_2 = "0 6 9 12 15 18 26 26 0 30 40 50 17"
EINZELABFRAGE = "- 8 - 16 15 - 15 9 25 30 40 - -"


def count_of_faces(shown_faces, faces):
    return tuple(shown_faces.count(face) for face in range(1, faces + 1))


def points_by_hand(shown_faces, faces, box, kniffel_is_full_house):
    """Count a throw from its list of faces, as one does at the table."""
    alike = sorted(Counter(shown_faces).values(), reverse=True)
    if box < faces:
        return sum(face for face in shown_faces if face == box + 1)

    def has_straight(length):
        starts = range(1, faces - length + 2)
        return any(set(range(start, start + length)) <= set(shown_faces) for start in starts)

    is_kniffel = len(alike) == 1
    is_full = len(alike) > 1 and alike[0] >= 3 and alike[1] >= 2
    return {
        0: sum(shown_faces) if alike[0] >= 3 else 0,
        1: sum(shown_faces) if alike[0] >= 4 else 0,
        2: 25 if is_full or (is_kniffel and kniffel_is_full_house) else 0,
        3: 30 if has_straight(4) else 0,
        4: 40 if has_straight(5) else 0,
        5: 50 if is_kniffel else 0,
        6: sum(shown_faces),
    }[box - faces]


class TestPoints:
    @pytest.mark.parametrize("kniffel_is_full_house", [True, False])
    @pytest.mark.parametrize(("dice", "faces"), [(5, 6), (2, 3), (6, 6), (5, 8), (1, 2)])
    def test_every_throw_counts_as_at_the_table(self, dice, faces, kniffel_is_full_house):
        for shown_faces in multisets(faces, dice):
            for box in range(faces + 7):
                expected = points_by_hand(shown_faces, faces, box, kniffel_is_full_house)
                found = points(count_of_faces(shown_faces, faces), box, kniffel_is_full_house)
                assert found == expected, (shown_faces, box)

    @pytest.mark.parametrize(
        ("shown_faces", "expected"),
        [
            ("11111", (5, 0, 0, 0, 0, 0, 5, 5, 25, 0, 0, 50, 5)),
            ("22333", (0, 4, 9, 0, 0, 0, 13, 0, 25, 0, 0, 0, 13)),
            ("12346", (1, 2, 3, 4, 0, 6, 0, 0, 0, 30, 0, 0, 16)),
            ("23456", (0, 2, 3, 4, 5, 6, 0, 0, 0, 30, 40, 0, 20)),
            ("13345", (1, 0, 6, 4, 5, 0, 0, 0, 0, 0, 0, 0, 16)),
            ("12356", (1, 2, 3, 0, 5, 6, 0, 0, 0, 0, 0, 0, 17)),
        ],
    )
    def test_throws_counted_by_hand(self, shown_faces, expected):
        found = tuple(points(throw(shown_faces), box, True) for box in range(13))
        assert found == expected


class Lattice:
    """A turn, followed in plain Python from any of its positions."""

    def __init__(self, turn):
        self.turn = turn

    def after_roll(self, dice):
        """Return the chance of each throw when these dice stay and the others are rolled."""
        probabilities = {Turn(ROLLING, 2, dice, 0, 0, 0): 1.0}
        thrown = defaultdict(float)
        while probabilities:
            following = defaultdict(float)
            for state, chance in probabilities.items():
                if state.phase != ROLLING:
                    thrown[state] += chance
                    continue
                assert list(self.turn.actions(state)) == [0]
                for probability, after in self.turn.outcomes(state, 0):
                    following[after] += chance * probability
            probabilities = following
        return thrown

    def ways_to_keep(self, dice):
        """Return all dice that may stay on the table, with what is thrown next."""
        waiting, found = [Turn(KEEPING, 1, dice, 0, 0, 0)], {}
        while waiting:
            state = waiting.pop()
            if state.dice in found:
                continue
            for action in self.turn.actions(state):
                ((probability, after),) = self.turn.outcomes(state, action)
                assert probability == 1
                if action == self.turn.faces:
                    found[state.dice] = after
                else:
                    waiting.append(after)
        return found


class TestTurn:
    @pytest.mark.parametrize(("dice", "faces"), [(5, 6), (2, 3)])
    def test_a_roll_has_the_chances_of_the_whole_throw(self, dice, faces):
        lattice = Lattice(KniffelTurn(dice=dice, faces=faces))
        rows = 0
        for size in range(dice):
            for shown_faces in multisets(faces, size):
                rows += 1
                rest = dice - size
                found = lattice.after_roll(count_of_faces(shown_faces, faces))
                assert all(state.phase == KEEPING and state.throws == 1 for state in found)
                expected = {}
                for fallen in multisets(faces, rest):
                    ways = math.factorial(rest)
                    for count in Counter(fallen).values():
                        ways //= math.factorial(count)
                    expected[count_of_faces(shown_faces + fallen, faces)] = ways / faces**rest
                assert {state.dice: chance for state, chance in found.items()} == pytest.approx(
                    expected, abs=1e-15
                )
        assert rows + len(multisets(faces, dice)) == math.comb(dice + faces, faces)

    @pytest.mark.parametrize(("dice", "faces"), [(5, 6), (2, 3)])
    def test_any_part_of_a_throw_may_be_kept(self, dice, faces):
        lattice = Lattice(KniffelTurn(dice=dice, faces=faces))
        for shown_faces in multisets(faces, dice):
            counts = count_of_faces(shown_faces, faces)
            found = lattice.ways_to_keep(counts)
            assert set(found) == set(product(*(range(count + 1) for count in counts)))
            for dice_kept, after in found.items():
                is_whole = dice_kept == counts
                expected = Turn(
                    ENTERING if is_whole else ROLLING, 0 if is_whole else 1, dice_kept, 0, 0, 0
                )
                assert after == expected

    def test_the_matrices_of_the_article(self):
        lattice = Lattice(KniffelTurn(dice=2, faces=3))
        throws = [count_of_faces(each, 3) for each in multisets(3, 2)]
        keeps = [count_of_faces(each, 3) for size in range(3) for each in multisets(3, size)]
        rolled = [
            {state.dice: chance for state, chance in lattice.after_roll(dice).items()}
            for dice in keeps[:4]
        ]
        ninths = [[round(9 * row.get(each, 0.0), 12) for each in throws] for row in rolled]
        assert ninths == [
            [1, 2, 2, 1, 2, 1],
            [3, 3, 3, 0, 0, 0],
            [0, 3, 0, 3, 3, 0],
            [0, 0, 3, 0, 3, 3],
        ]
        allowed = [
            "".join("1" if dice in lattice.ways_to_keep(each) else "0" for dice in keeps)
            for each in throws
        ]
        assert allowed == [
            "1100100000",
            "1110010000",
            "1101001000",
            "1010000100",
            "1011000010",
            "1001000001",
        ]

    def test_the_simple_game_of_the_article(self):
        turn = KniffelTurn(dice=2, faces=3)

        @cache
        def value(state):
            if state.phase == ENTERING:
                return 10 * math.prod(face**count for face, count in enumerate(state.dice, 1))
            return max(
                sum(chance * value(after) for chance, after in turn.outcomes(state, action))
                for action in turn.actions(state)
            )

        assert value(turn.initial_state()) == pytest.approx(65.31, abs=0.005)
        second = {
            shown(dice): value(Turn(KEEPING, 1, dice, 0, 0, 0)) for dice in ((2, 0, 0), (0, 1, 1))
        }
        assert second == pytest.approx({"11": 40, "23": 60}, abs=0.005)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "turn",
        [
            KniffelTurn(),
            KniffelTurn(throws=1, kniffel_is_full_house=False, tells_kniffels=True),
            Kniffel("yahtzee").stage(),
            KniffelTurn(dice=2, faces=3, jokers=True),
            KniffelTurn(dice=1, faces=3, throws=2),
        ],
        ids=repr,
    )
    def test_it_is_a_game(self, turn):
        check_game(turn)

    def test_its_size(self):
        model = gamedp.compile(KniffelTurn())
        assert model.num_states == 1930
        assert model.num_transitions == 10_500
        assert len(model.terminals) == 124

    def test_one_turn_alone(self):
        turn = KniffelTurn()
        solution = gamedp.solve(turn)
        assert solution.value(turn.initial_state()) == pytest.approx(28.463477, abs=5e-7)

    def test_one_throw_has_nothing_to_keep(self):
        turn = KniffelTurn(dice=1, throws=1)
        assert {after.phase for _, after in turn.outcomes(turn.initial_state(), 0)} == {ENTERING}

    def test_people_get_words(self):
        turn = KniffelTurn(language="en", jokers=True, kniffel_is_full_house=False)
        state = Turn(KEEPING, 2, throw("11456"), 0, 0, 0)
        ((chance, without_six),) = turn.outcomes(state, SECHSER)
        assert chance == 1
        assert turn.action_name(without_six, 6) == "keep 1145, throw 1"
        assert (
            turn.render(without_six) == "after throw 1 of 3: 1145 on the table, 1 back in the cup"
        )
        empty = Turn(KEEPING, 2, (0,) * 6, 0, 0, 0)
        assert turn.action_name(empty, 6) == "throw all 5"
        last = Turn(ENTERING, 0, throw("44444"), 0, 0, 0)
        names = [turn.action_name(last, action) for action in turn.actions(last)]
        assert names[:13] == list(box_names("en"))
        assert names[13:] == [
            "Full House (Joker)",
            "Small Straight (Joker)",
            "Large Straight (Joker)",
        ]
        end = turn.entry(throw("44444"), 13 + FULL_HOUSE)
        assert turn.render(end) == "25 points in Full House, all dice showing 4"


def allowed_entries(game, card, shown_faces):
    """Return {box: points} of what may be done with a throw, jokers and all."""
    ends = game.entries(card.sheet(game), throw(shown_faces))
    found = {end.box: end.points for end in ends}
    assert len(found) == len(ends), "two ways to fill the same box"
    return found


class TestJokers:
    """The rules for a Kniffel whose box is filled: US rules 40958 by Hasbro, and "free choice"."""

    @pytest.mark.parametrize("kniffel", ["50", "0"])
    def test_forced_into_the_box_of_its_face(self, kniffel):
        card = Card.of(f"- - - - - - - - - - - {kniffel} -")
        assert allowed_entries(Kniffel("yahtzee"), card, "44444") == {VIERER: 20}

    @pytest.mark.parametrize("kniffel", ["50", "0"])
    def test_forced_into_the_lower_part_if_that_is_filled(self, kniffel):
        card = Card.of(f"- - - 12 - - - - - - - {kniffel} -")
        expected = {
            DREIERPASCH: 20,
            VIERERPASCH: 20,
            FULL_HOUSE: 25,
            KLEINE: 30,
            GROSSE: 40,
            CHANCE: 20,
        }
        assert allowed_entries(Kniffel("yahtzee"), card, "44444") == expected

    def test_forced_to_strike_if_that_is_filled_too(self):
        card = Card.of("- - - 12 15 - 20 20 25 30 40 50 20")
        assert allowed_entries(Kniffel("yahtzee"), card, "44444") == {
            EINSER: 0,
            ZWEIER: 0,
            DREIER: 0,
            SECHSER: 0,
        }

    def test_a_free_joker_may_go_anywhere(self):
        game = Kniffel("yahtzee", joker="free")
        open_face = allowed_entries(game, Card.of("- 6 - - - - - - - - - 50 -"), "44444")
        assert open_face == {
            EINSER: 0, DREIER: 0, VIERER: 20, FUENFER: 0, SECHSER: 0,
            DREIERPASCH: 20, VIERERPASCH: 20, FULL_HOUSE: 0, KLEINE: 0, GROSSE: 0, CHANCE: 20,
        }  # fmt: skip
        filled_face = allowed_entries(game, Card.of("- 6 - 12 - - - - - - - 0 -"), "44444")
        assert filled_face == {
            EINSER: 0, DREIER: 0, FUENFER: 0, SECHSER: 0,
            DREIERPASCH: 20, VIERERPASCH: 20, FULL_HOUSE: 25, KLEINE: 30, GROSSE: 40, CHANCE: 20,
        }  # fmt: skip

    @pytest.mark.parametrize("joker", ["free", "forced"])
    def test_no_joker_while_the_box_is_free(self, joker):
        found = allowed_entries(
            Kniffel("yahtzee", joker=joker), Card.of("- - - 12" + " -" * 9), "44444"
        )
        assert found == {
            EINSER: 0, ZWEIER: 0, DREIER: 0, FUENFER: 0, SECHSER: 0, DREIERPASCH: 20,
            VIERERPASCH: 20, FULL_HOUSE: 0, KLEINE: 0, GROSSE: 0, KNIFFEL: 50, CHANCE: 20,
        }  # fmt: skip

    def test_the_article_knows_none(self):
        found = allowed_entries(Kniffel(), Card.of("- - - 12 - - - - - - - 50 -"), "44444")
        assert found[FULL_HOUSE] == 25
        assert found[KLEINE] == found[GROSSE] == 0
        assert KNIFFEL not in found
        assert VIERER not in found

    @pytest.mark.parametrize(
        "game", [Kniffel(), Kniffel("yahtzee"), Kniffel("yahtzee", joker="free")]
    )
    def test_other_throws_go_into_any_free_box(self, game):
        found = allowed_entries(game, Card.of("- - - 12 - - - - - - - 50 -"), "44443")
        assert set(found) == set(range(13)) - {VIERER, KNIFFEL}

    def test_with_a_kniffel_as_full_house_and_jokers(self):
        game = Kniffel("yahtzee", kniffel_is_full_house=True)
        found = allowed_entries(game, Card.of("-" + " -" * 12), "44444")
        assert (found[FULL_HOUSE], found[KLEINE], found[GROSSE]) == (25, 0, 0)
        found = allowed_entries(game, Card.of("- - - 12 - - - - - - - 0 -"), "44444")
        assert (found[FULL_HOUSE], found[KLEINE], found[GROSSE]) == (25, 30, 40)

    def test_the_bonus_is_paid_for_50_only(self):
        game = Kniffel("yahtzee")
        turn = game.stage()
        end = turn.entry(throw("44444"), VIERER)
        assert game.reward(Card.of("- - - - - - - - - - - 50 -").sheet(game), end, 0) == 120
        assert game.reward(Card.of("- - - - - - - - - - - 0 -").sheet(game), end, 0) == 20
        assert game.reward(Sheet(0, 0, 0), end, 0) == 20
        other = turn.entry(throw("44443"), VIERER)
        assert game.reward(Card.of("- - - - - - - - - - - 50 -").sheet(game), other, 0) == 16

    def test_a_bonus_without_jokers(self):
        game = Kniffel(further_bonus=50)
        sheet = Card.of("- - - - - - - - - - - 50 -").sheet(game)
        assert game.reward(sheet, game.stage().entry(throw("33333"), FULL_HOUSE), 0) == 75


def value_by_protocol(game, start):
    """Solve a staged game in plain Python: the turn's lattice anew for each sheet."""
    turn = game.stage()

    @cache
    def value_of_sheet(context):
        if game.is_terminal(context):
            return game.payoff(context, 0)

        @cache
        def value(state):
            if turn.is_terminal(state):
                if not game.allows(context, state):
                    return -math.inf
                following = game.following(context, state)
                assert game.tier(following) == game.tier(context) - 1
                assert game.is_state(following)
                for field, (first, last) in game.box().items():
                    assert first <= getattr(following, field) <= last
                return game.reward(context, state, 0) + value_of_sheet(following)
            return max(
                sum(chance * value(after) for chance, after in turn.outcomes(state, action))
                for action in turn.actions(state)
            )

        return value(turn.initial_state())

    return value_of_sheet(start)


def value_by_throws(game, free, kniffel):
    """Solve the same game over whole throws and named boxes, with rules written a second time.

    The points above are not cut off at the threshold, and the box of the Kniffel says what it
    holds: None while it is free.
    """
    faces, dice = game.faces, game.dice
    the_kniffel = faces + 5
    all_throws = multisets(faces, dice)

    def entries(shown_faces, free, kniffel):
        is_kniffel = len(set(shown_faces)) == 1
        face_box = shown_faces[0] - 1
        is_joker = is_kniffel and kniffel is not None and game.joker != "none"
        boxes = free
        if is_joker and game.joker == "forced":
            lower = {box for box in free if box >= faces}
            boxes = ({face_box} & free) or lower or free
        for box in boxes:
            counts = points_by_hand(shown_faces, faces, box, game.kniffel_is_full_house)
            if is_joker and face_box not in free:
                counts = {2: 25, 3: 30, 4: 40}.get(box - faces, counts)
            extra = game.further_bonus if is_kniffel and kniffel == 50 else 0
            yield box, counts, extra

    @cache
    def value(free, upper, kniffel):
        if not free:
            return game.upper_bonus if upper >= game.threshold else 0

        @cache
        def of_throw(shown_faces, left):
            if left == 0:
                return max(
                    counts
                    + extra
                    + value(
                        free - {box},
                        upper + (counts if box < faces else 0),
                        counts if box == the_kniffel else kniffel,
                    )
                    for box, counts, extra in entries(shown_faces, free, kniffel)
                )
            keeps = {
                tuple(face for face, stays in zip(shown_faces, choice, strict=True) if stays)
                for choice in product([False, True], repeat=dice)
            }
            return max(of_keep(keep, left) for keep in keeps)

        @cache
        def of_keep(keep, left):
            fallen = list(product(range(1, faces + 1), repeat=dice - len(keep)))
            return sum(of_throw(tuple(sorted(keep + each)), left - 1) for each in fallen) / len(
                fallen
            )

        return of_keep((), game.throws)

    assert all(tuple(sorted(each)) == each for each in all_throws)
    return value(frozenset(free), 0, kniffel)


class TestTinyGames:
    """Games small enough to be solved in plain Python twice, by rules written twice."""

    @pytest.mark.parametrize(
        ("further_bonus", "joker", "kniffel_is_full_house", "kniffel"),
        in_pairs([0, 10], ["none", "free", "forced"], [True, False], [None, 0, 50]),
    )
    def test_two_three_sided_dice(self, further_bonus, joker, kniffel_is_full_house, kniffel):
        game = Kniffel(
            dice=2,
            faces=3,
            threshold=4,
            upper_bonus=9,
            further_bonus=further_bonus,
            joker=joker,
            kniffel_is_full_house=kniffel_is_full_house,
        )
        free = {0, 1, 5, 6, 8, 9} - ({8} if kniffel is not None else set())
        filled = game.all_boxes - sum(1 << box for box in free)
        start = Sheet(0, filled, 1 if kniffel == 50 and further_bonus else 0)
        assert value_by_protocol(game, start) == pytest.approx(
            value_by_throws(game, free, kniffel), abs=1e-11
        )

    def test_a_whole_game(self):
        game = Kniffel("yahtzee", dice=2, faces=2, throws=2, threshold=4, upper_bonus=5)
        found = value_by_protocol(game, game.initial_state())
        assert found == pytest.approx(value_by_throws(game, range(9), None), abs=1e-11)

    def test_the_last_box_of_the_real_game(self):
        game = Kniffel()
        kniffel_left = Card.of("0 0 0 0 0 0 0 0 0 0 0 - 0").sheet(game)
        assert game.number(kniffel_left) == 393152
        assert value_by_protocol(game, kniffel_left) == pytest.approx(2.301432, abs=5e-7)
        grosse_left = Card.of("0 0 0 0 0 0 0 0 0 0 - 0 0").sheet(game)
        assert game.number(grosse_left) == 458688
        assert value_by_protocol(game, grosse_left) / 40 == pytest.approx(0.2611, abs=5e-5)


class TestSheets:
    @pytest.mark.parametrize(
        ("number", "binary"),
        [
            (0, "0000000000000 000000"),
            (1, "0000000000000 000001"),
            (2, "0000000000000 000010"),
            (64, "0000000000001 000000"),
            (65, "0000000000001 000001"),
            (134, "0000000000010 000110"),
            (2072, "0000000100000 011000"),
            (128679, "0011111011010 100111"),
            (524286, "1111111111111 111110"),
            (524287, "1111111111111 111111"),
        ],
    )
    def test_numbers_of_the_article(self, number, binary):
        game = Kniffel()
        boxes, upper = (int(part, 2) for part in binary.split())
        sheet = game.numbered(number)
        assert sheet == Sheet(upper, boxes, 0)
        assert game.number(sheet) == number
        assert game.tier(sheet) == binary[:13].count("0")

    @pytest.mark.parametrize(
        "game", [Kniffel("yahtzee", dice=2, faces=2, threshold=4), Kniffel(dice=2, faces=3)]
    )
    def test_numbers_count_all_sheets(self, game):
        found = 0
        ranges = [range(first, last + 1) for first, last in game.box().values()]
        for bonus, boxes, upper in product(*reversed(ranges)):
            sheet = Sheet(upper, boxes, bonus)
            if not game.is_state(sheet):
                with pytest.raises(gamedp.errors.UnknownStateError, match="no sheet"):
                    game.numbered(game.number(sheet))
                continue
            found += 1
            assert game.numbered(game.number(sheet)) == sheet
            assert game.tier(sheet) == game.num_boxes - boxes.bit_count()
            assert game.is_terminal(sheet) == (game.tier(sheet) == 0)
        assert found > 0

    def test_how_many_there_are(self):
        game = Kniffel()
        assert [last - first + 1 for first, last in game.box().values()] == [64, 8192, 1]
        assert Kniffel("yahtzee").box()["bonus"] == (0, 1)
        for number in (-1, 524288):
            with pytest.raises(gamedp.errors.UnknownStateError, match="524287"):
                game.numbered(number)

    def test_the_bonus_above(self):
        game = Kniffel()
        full = game.all_boxes
        assert game.payoff(Sheet(62, full, 0), 0) == 0
        assert game.payoff(Sheet(63, full, 0), 0) == 35
        end = game.stage().entry(throw("66661"), SECHSER)
        assert game.following(Sheet(50, 0, 0), end) == Sheet(63, 1 << SECHSER, 0)

    def test_words(self):
        game = Kniffel("yahtzee")
        sheet = Card.of("3 6 9 12 15 18 20 20 25 30 - 50 -").sheet(game)
        assert game.render(sheet) == (
            "free: Large Straight, Chance; the bonus above is reached; "
            "100 points for each further Yahtzee"
        )
        full = Sheet(0, game.all_boxes, 0)
        assert game.render(full).startswith("all boxes are filled; 0 points above")


class TestParameters:
    def test_presets(self):
        article, yahtzee = Kniffel(), Kniffel("yahtzee")
        assert (article.further_bonus, article.joker, article.kniffel_is_full_house) == (
            0,
            "none",
            True,
        )
        assert (yahtzee.further_bonus, yahtzee.joker, yahtzee.kniffel_is_full_house) == (
            100,
            "forced",
            False,
        )
        assert Kniffel("yahtzee", joker="none", further_bonus=0).stage().jokers is False

    @pytest.mark.parametrize(
        "game", [Kniffel(), Kniffel("yahtzee"), KniffelTurn(), Card.of(SPIELER_1)]
    )
    def test_a_value(self, game):
        assert pickle.loads(pickle.dumps(game)) == attrs.evolve(game) == game
        assert hash(attrs.evolve(game)) == hash(game)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"rules": "Kniffel"}, "rules must be one of article, yahtzee, not 'Kniffel'"),
            ({"rules": ["article"]}, "rules must be one of"),
            ({"joker": "maybe"}, "joker must be one of none, free, forced"),
            ({"further_bonus": -1}, "leave it out"),
            ({"further_bonus": True}, "leave it out"),
            ({"kniffel_is_full_house": 1}, "must be True or False"),
            ({"threshold": -1}, "at least 0"),
            ({"upper_bonus": 3.5}, "whole number"),
            ({"throws": 0}, "at least 1"),
            ({"dice": 0}, "at least 1"),
            ({"faces": 1}, "at least 2"),
            ({"faces": 40}, "at most 20"),
            ({"language": "fr"}, "language must be one of de, en"),
        ],
    )
    def test_refused(self, parameters, message):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
            Kniffel(**parameters)

    def test_a_turn_refuses_too(self):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="language must be one of"):
            KniffelTurn(language="")


class TestReading:
    @pytest.mark.parametrize(
        "text",
        ["13345", "54331", "1 3 3 4 5", "1,3,3,4,5", (5, 4, 3, 3, 1), np.array([3, 1, 3, 4, 5])],
    )
    def test_throws(self, text):
        assert throw(text) == (1, 0, 2, 1, 1, 0)
        assert shown(throw(text)) == "13345"

    def test_dice_of_many_faces(self):
        assert throw("10 12", dice=2, faces=12) == (0,) * 9 + (1, 0, 1)
        assert shown(throw("10 12", dice=2, faces=12)) == "10 12"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1334", "has 4 dice; it takes 5"),
            ("133456", "has 6 dice; it takes 5"),
            ("13347", "shows 7, which no die does; their faces are 1 to 6"),
            ("1334x", "shows x"),
            ("0 1 2 3 4", "shows 0"),
            ("", "has 0 dice"),
            ((1, 3, 3, 4, 2.5), "shows 2.5"),
            ((1, 3, 3, 4, True), "shows True"),
        ],
    )
    def test_no_throws(self, text, message):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
            throw(text)

    def test_kept_dice(self):
        thrown = throw("11336")
        assert kept("33", thrown) == (0, 0, 2, 0, 0, 0)
        assert kept("", thrown) == kept("-", thrown) == (0,) * 6
        with pytest.raises(
            gamedp.errors.InvalidParameterError,
            match="keeps 3 dice that show 3; the throw 11336 has 2",
        ):
            kept("333", thrown)

    @pytest.mark.parametrize("language", ["de", "en"])
    @pytest.mark.parametrize("faces", [2, 6, 8])
    def test_names_of_boxes(self, language, faces):
        names = box_names(language, faces)
        assert len(set(names)) == faces + 7
        assert [box_number(name, faces) for name in names] == list(range(faces + 7))
        assert [box_number(name.upper(), faces) for name in names] == list(range(faces + 7))

    @pytest.mark.parametrize(
        ("name", "box"),
        [
            ("1er", EINSER),
            ("Aces", EINSER),
            ("Fuenfer", FUENFER),
            ("FullHouse", FULL_HOUSE),
            ("Full-House", FULL_HOUSE),
            ("grosse strasse", GROSSE),
            ("3er Pasch", DREIERPASCH),
            ("3", DREIER),
            ("12", KNIFFEL),
        ],
    )
    def test_other_names_of_boxes(self, name, box):
        assert box_number(name) == box

    def test_no_box(self):
        with pytest.raises(
            gamedp.errors.InvalidParameterError,
            match="no box is called 'Siebener'; the boxes are Einser",
        ):
            box_number("Siebener")


class TestCards:
    @pytest.mark.parametrize(
        ("entries", "total"), [(SPIELER_1, 207), (SPIELER_2, 249), (EINZELABFRAGE, 158)]
    )
    def test_sums_of_the_article(self, entries, total):
        card = Card.of(entries)
        assert card.total == total
        assert card.arguments == entries
        assert Card.of(*entries.split()) == card == Card(card.entries)

    def test_the_query_of_the_article(self):
        card = Card.of("-", 8, None, "16", 15, "-", 15, 9, 25, 30, 40, "-", "-")
        assert Kniffel().number(card.sheet(Kniffel())) == 128679
        assert card.free_boxes("en") == ("Ones", "Threes", "Sixes", "Yahtzee", "Chance")
        assert (
            card.with_throw("13345", "Dreier", Kniffel()).arguments
            == "- 8 6 16 15 - 15 9 25 30 40 - -"
        )

    def test_the_empty_card(self):
        assert Card().total == 0
        assert Card().sheet(Kniffel()) == Kniffel().initial_state()

    def test_it_can_be_played_to_the_end(self):
        game, card = Kniffel("yahtzee"), Card()
        sheet = game.initial_state()
        for name, shown_faces, points_there in [
            ("Yahtzee", "66666", 50),
            ("Sixes", "66666", 30),
            ("Large Straight", "66666", 40),
            ("Full House", "66666", 25),
            ("Fives", "55511", 15),
            ("Fours", "44443", 16),
            ("Threes", "33322", 9),
            ("Twos", "11111", None),
            ("Ones", "11111", 5),
        ]:
            if points_there is None:
                with pytest.raises(
                    gamedp.errors.InvalidParameterError,
                    match="forbid to enter 11111 in Zweier now; allowed: Einser",
                ):
                    card.with_throw(shown_faces, name, game)
                continue
            (end,) = (
                each
                for each in game.entries(sheet, throw(shown_faces))
                if each.box == box_number(name)
            )
            sheet = game.following(sheet, end)
            card = card.with_throw(shown_faces, name, game)
            assert card.entries[box_number(name)] == points_there == end.points
            assert card.sheet(game) == sheet
        assert card.further == 4
        assert card.total == 50 + 30 + 40 + 25 + 15 + 16 + 9 + 5 + 35 + 400
        assert (
            card.total_by(attrs.evolve(game, upper_bonus=0, further_bonus=50)) == card.total - 235
        )

    @pytest.mark.parametrize(
        ("entries", "message"),
        [
            (
                "7" + " -" * 12,
                "no throw enters 7 in Einser: it takes 0 to 5, or - while it is free",
            ),
            ("- 7" + " -" * 11, "no throw enters 7 in Zweier: it takes 0, 2, 4, 6, 8, 10"),
            ("- - - - - - - - 24 - - - -", "24 in Full House: it takes 0, 25"),
            ("- - - - - - 4 - - - - - -", "4 in 3er-Pasch: it takes 0, 5 to 30"),
            ("- - - - - - - - - 25 - - -", "25 in Kleine Straße: it takes 0, 30"),
            ("- - - - - - - - - - - 51 -", "51 in Kniffel: it takes 0, 50"),
            ("- - - - - - - - - - - - 4", "4 in Chance: it takes 0, 5 to 30"),
            ("x" + " -" * 12, "no throw enters 'x' in Einser"),
            ("- - -", "a card has 13 boxes, and 3 are given"),
            ("-5" + " -" * 12, "no throw enters '-5' in Einser"),
        ],
    )
    def test_impossible_cards(self, entries, message):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
            Card.of(entries)

    def test_entries_are_whole_numbers(self):
        assert Card.of(*np.array([5] + [0] * 12)).total == 5
        with pytest.raises(
            gamedp.errors.InvalidParameterError, match="no throw enters True in Einser"
        ):
            Card((True, *[None] * 12))

    @pytest.mark.parametrize(
        ("entries", "further", "message"),
        [
            ("5 - - - - - - - - - - 0 -", 1, "does not hold 50"),
            ("5 - - - - - - - - - - - -", 1, "does not hold 50"),
            ("5 - - - - - - - - - - 50 -", 2, "1 boxes besides that of the Kniffel"),
            ("4 - - - - - 7 - - - - 50 11", 1, "0 boxes besides"),
            ("5 - - - - - - - - - - 50 -", -1, "at least 0"),
        ],
    )
    def test_impossible_further_kniffels(self, entries, further, message):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
            Card.of(entries, further=further)

    def test_entries(self):
        card = Card.of(EINZELABFRAGE)
        assert card.with_entry("Chance", 16) == card.with_entry(CHANCE, 16)
        with pytest.raises(
            gamedp.errors.InvalidParameterError,
            match="Zweier is filled, with 8 points; free boxes: Einser, D",
        ):
            card.with_entry("Zweier", 4)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="Zweier is filled"):
            card.with_throw("22222", ZWEIER, Kniffel())
        with pytest.raises(gamedp.errors.InvalidParameterError, match="no throw enters 4"):
            card.with_entry("Chance", 4)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="there is no box 13"):
            card.with_entry(13, 4)

    def test_rules_that_do_not_fit(self):
        with pytest.raises(
            gamedp.errors.InvalidParameterError,
            match="a card is for 5 dice with 6 faces, not for 2 with 3",
        ):
            Card().sheet(Kniffel(dice=2, faces=3))
        with pytest.raises(gamedp.errors.InvalidParameterError, match="the rules pay none"):
            Card.of("5 - - - - - - - - - - 50 -", further=1).sheet(Kniffel())

    def test_the_printed_card(self):
        lines = Card.of("5 - - - - - - - - - - 50 -", further=1).render("en").splitlines()
        assert "|   Extra Yahtzees   1 |" in lines
        assert "|   Total        155   |" in lines
        assert len({len(line) for line in lines}) == 1
        bonus = next(line for line in Card.of(SPIELER_1).render().splitlines() if "Bonus" in line)
        assert bonus == "|   Bonus           35 |"
