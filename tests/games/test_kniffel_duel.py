"""Playing for a total, and for victory: held against every way a small game can go."""

import functools
import math
from fractions import Fraction
from functools import cache

import attrs
import numba
import numpy as np
import pytest

import gamedp
from gamedp.games.kniffel import ENTERING, KEEPING, ROLLING, Card, Kniffel, Sheet, Turn, gain, throw
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.gains import _Drawn
from gamedp.games.kniffel.last_rounds import EitherTurn
from gamedp.games.kniffel.remainder import Remainder
from gamedp.games.kniffel.targets import ForPoints, ForTotal, Targets, beating, reaching, rest_after
from gamedp.testing import check_game

uncompiled_takes_minutes = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="real cards take minutes in plain Python"
)

SMALL = Kniffel(dice=2, faces=2, throws=2, threshold=3, upper_bonus=7)
JOKERS = Kniffel("yahtzee", dice=2, faces=2, throws=2, threshold=3, upper_bonus=4, further_bonus=9)


def sheet_of(game, *free, upper=0, bonus=0):
    return Sheet(upper, game.all_boxes - sum(1 << box for box in free), bonus)


def small_duel(*sides, **options):
    # Compiled, each takes longer than to be solved; real cards are compiled below.
    return Duel(*sides, **options, compile="never")


def points_to_come(game, sheet, end):
    """Return what an entry earns, with the bonus for the upper part if it is the last one."""
    after = game.following(sheet, end)
    last = game.payoff(after, 0) if game.is_terminal(after) else 0
    return int(game.reward(sheet, end, 0) + last)


def best_turn(game, sheet, worth, best=max, state=None):
    """Return what a turn is worth if its ends are, in fractions; from the start, or a state."""
    turn = game.stage()

    @cache
    def value(state):
        if turn.is_terminal(state):
            return worth(state) if game.allows(sheet, state) else None
        results = []
        for action in turn.actions(state):
            outcomes = [
                (Fraction(chance).limit_denominator(100), value(after))
                for chance, after in turn.outcomes(state, action)
            ]
            if all(result is not None for _, result in outcomes):
                results.append(sum(chance * result for chance, result in outcomes))
        return best(results) if results else None

    return value(turn.initial_state() if state is None else state)


solved = cache(functools.partial(gamedp.solve, tolerance=1e-9, compile="never"))


class ByHand:
    """The duel of two sheets by plain recursion, in fractions."""

    def __init__(self, game, draw=Fraction(1, 2)):
        self.game, self.draw = game, draw
        self.solution = solved(game)
        self.target = cache(self._target)
        self.utility = cache(self._utility)
        self.joint = cache(self._joint)
        self.ends = cache(self._ends)
        self.totals = cache(self._totals)

    def worth(self, lead):
        return self.draw if lead == 0 else Fraction(lead > 0)

    def after(self, sheet, end):
        return self.game.following(sheet, end), points_to_come(self.game, sheet, end)

    def _target(self, sheet, lead, state=None):
        """Return the best chance of a lead above 0 in the end, if nobody else plays."""
        if self.game.is_terminal(sheet):
            return self.worth(lead)

        def worth(end):
            after, points = self.after(sheet, end)
            return self.target(after, lead + points)

        return best_turn(self.game, sheet, worth, state=state)

    def _ends(self, sheet):
        """Return the chance of each end of a turn of one who plays for points."""
        inside, turn = self.solution.inside(sheet), self.game.stage()
        probabilities, found = {turn.initial_state(): Fraction(1)}, {}
        while probabilities:
            following = {}
            for state, chance in probabilities.items():
                if turn.is_terminal(state):
                    found[state] = found.get(state, 0) + chance
                    continue
                for probability, after in turn.outcomes(state, inside.best_action(state)):
                    share = chance * Fraction(probability).limit_denominator(100)
                    following[after] = following.get(after, 0) + share
            probabilities = following
        return found

    def _totals(self, sheet):
        if self.game.is_terminal(sheet):
            return {0: Fraction(1)}
        found = {}
        for end, chance in self.ends(sheet).items():
            after, points = self.after(sheet, end)
            for total, share in self.totals(after).items():
                found[total + points] = found.get(total + points, 0) + chance * share
        return found

    def _utility(self, sheet, his, lead):
        if self.game.is_terminal(sheet):
            return sum(c * self.worth(lead - total) for total, c in self.totals(his).items())

        def worth(end):
            after, points = self.after(sheet, end)
            return self.utility(after, his, lead + points)

        return best_turn(self.game, sheet, worth)

    def clairvoyant(self, sheet, his, lead):
        return sum(c * self.target(sheet, lead - total) for total, c in self.totals(his).items())

    def _joint(self, sheet, his, lead, opponent_to_move, plays_for, state=None):
        is_full, is_opponent_full = self.game.is_terminal(sheet), self.game.is_terminal(his)
        if is_full and is_opponent_full:
            return self.worth(lead)
        if (opponent_to_move and not is_opponent_full) or is_full:

            def worth(end):
                after, points = self.after(his, end)
                return self.joint(sheet, after, lead - points, False, plays_for)

            if plays_for == "victory":
                return best_turn(self.game, his, worth, min)
            return sum(chance * worth(end) for end, chance in self.ends(his).items())

        def worth(end):
            after, points = self.after(sheet, end)
            return self.joint(after, his, lead + points, True, plays_for)

        return best_turn(self.game, sheet, worth, state=state)


by_plain_recursion = cache(ByHand)
"""One for all tests of a game: what one of them has worked out, the others know."""

# Boxes: 0 Einser, 1 Zweier, 2 and 3 Pasch, 4 Full House, 5 and 6 Straßen, 7 Kniffel, 8 Chance.
SHEETS = [
    (SMALL, sheet_of(SMALL, 0, 1, 8), sheet_of(SMALL, 8), 0),
    (SMALL, sheet_of(SMALL, 1, 4, upper=1), sheet_of(SMALL, 0, 8, upper=2), -2),
    (SMALL, sheet_of(SMALL, 8), sheet_of(SMALL, 0, 7, upper=3), 1),
    (SMALL, sheet_of(SMALL, 1, 8, upper=3), sheet_of(SMALL), 20),
    (JOKERS, sheet_of(JOKERS, 0, 4), sheet_of(JOKERS, 1, 8, bonus=1), 5),
    (JOKERS, sheet_of(JOKERS, 0, 4, bonus=1), sheet_of(JOKERS, 7), -5),
]


@pytest.mark.parametrize(
    ("game", "sheet", "his", "lead"), [each for each in SHEETS if not each[0].is_terminal(each[1])]
)
@pytest.mark.parametrize("goal", ["beat", "reach"])
def test_one_decision_and_then_play_for_points_is_that_by_hand(game, sheet, his, lead, goal):
    by_hand = by_plain_recursion(game)
    rest = rest_after(by_hand.solution, sheet)
    mean = int(by_hand.solution.value(sheet))
    opponent = gamedp.stages.distribution(by_hand.solution, his)
    worth = beating(opponent, lead) if goal == "beat" else reaching(mean)
    play = ForPoints(by_hand.solution, sheet, rest, worth)

    def known(points):
        if goal == "reach":
            return Fraction(points >= mean)
        return sum(c * by_hand.worth(lead + points - t) for t, c in by_hand.totals(his).items())

    def after(sheet, earned):
        return sum(c * known(earned + total) for total, c in by_hand.totals(sheet).items())

    assert play.value == pytest.approx(float(after(sheet, 0)), abs=1e-12)
    inside, turn = by_hand.solution.inside(sheet), game.stage()

    @cache
    def value(state):
        if turn.is_terminal(state):
            return after(*by_hand.after(sheet, state))
        return sum(
            Fraction(chance).limit_denominator(100) * value(following)
            for chance, following in turn.outcomes(state, inside.best_action(state))
        )

    for dice in [(2, 0), (1, 1), (0, 2)]:
        for number in (1, 2):
            options = play.options(dice, number)
            for option in options:
                if option.kept is None:
                    [end] = [
                        end
                        for end in game.entries(sheet, dice)
                        if (end.box, end.points) == (option.box, option.points)
                    ]
                    exact = value(end)
                else:
                    exact = value(turn.on_the_table(game.throws - number, option.kept))
                assert option.value == pytest.approx(float(exact), abs=1e-12)
                assert option.lower <= exact
                assert option.upper == 1.0
                assert option.loss == pytest.approx(options[0].value - option.value, abs=1e-11)


@pytest.mark.parametrize(("game", "sheet", "his", "lead"), [SHEETS[2], SHEETS[5]])
def test_who_plays_to_win_reaches_at_least_as_much_as_by_play_for_points(game, sheet, his, lead):
    solution = solved(game)
    opponent = gamedp.stages.distribution(solution, his)
    rest = rest_after(solution, sheet)
    play = ForPoints(solution, sheet, rest, beating(opponent, lead), opponent.relative_error)
    endgame = small_duel(game, sheet, his, lead, solution=solution).endgame()
    assert play.value - play.slack <= endgame.bounds()[1]
    for dice in [(2, 0), (1, 1), (0, 2)]:
        for number in (1, 2):
            exactly = {each.decision: each for each in endgame.options(dice, number)}
            for option in play.options(dice, number):
                assert option.lower <= exactly[option.decision].upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "sheet", "his", "lead"),
    # Two free boxes against two: once by other rules, too, is for the deep runs.
    [pytest.param(*each, marks=[pytest.mark.deep] * (each is SHEETS[4])) for each in SHEETS],
)
def test_bounds_and_exact_endings_are_those_by_hand(game, sheet, his, lead):
    draw = Fraction(lead % 3, 4)
    by_hand = by_plain_recursion(game, draw)
    duel = small_duel(game, sheet, his, lead, draw=float(draw), solution=by_hand.solution)
    truth = by_hand.totals(his)
    assert duel.opponent.totals.tolist() == sorted(truth)
    lower, upper = by_hand.utility(sheet, his, lead), by_hand.clairvoyant(sheet, his, lead)
    assert duel.lower == pytest.approx(float(lower), abs=1e-12)
    assert duel.upper == pytest.approx(float(upper), abs=1e-12)
    assert duel.lower <= lower
    assert duel.upper >= upper
    for opponent_to_move in (False, True):
        exact = by_hand.joint(sheet, his, lead, opponent_to_move, "points")
        ending = duel.endgame(opponent_to_move=opponent_to_move)
        low, high = ending.bounds()
        assert low - 1e-12 <= exact <= high + 1e-12
        assert lower <= exact <= upper
        best_reply = by_hand.joint(sheet, his, lead, opponent_to_move, "victory")
        ending = duel.endgame(opponent_goal="victory", opponent_to_move=opponent_to_move)
        low, high = ending.bounds()
        assert low - 1e-12 <= best_reply <= high + 1e-12
        assert best_reply <= exact


@pytest.mark.slow
@pytest.mark.parametrize(("game", "sheet", "his", "lead"), [SHEETS[0], SHEETS[1], SHEETS[5]])
def test_advice_names_what_every_decision_leaves(game, sheet, his, lead):
    by_hand = by_plain_recursion(game)
    duel = small_duel(game, sheet, his, lead, solution=by_hand.solution)
    targets = Targets(game, sheet, draw=0.5, compile="never")
    thrown = throw([1, 2], dice=2, faces=game.faces)
    turn = game.stage()
    rows = [
        (
            lambda number: duel.endgame().options(thrown, number),
            by_hand.joint,
            (sheet, his, lead, False, "points"),
        ),
        (
            lambda number: duel.endgame(opponent_goal="victory").options(thrown, number),
            by_hand.joint,
            (sheet, his, lead, False, "victory"),
        ),
        (lambda number: targets.options(thrown, number, total=3), by_hand.target, (sheet, -3)),
    ]
    for options, value, arguments in rows:
        keeps = options(1)
        assert len(keeps) == 4
        for option in keeps:
            exact = value(*arguments, state=turn.on_the_table(1, option.kept))
            assert option.value == pytest.approx(float(exact), abs=1e-12)
            assert option.lower <= option.value <= option.upper
        entries = options(2)
        assert {option.box for option in entries} == {
            end.box for end in game.entries(sheet, thrown)
        }
        for option in entries:
            (end,) = (
                end
                for end in game.entries(sheet, thrown)
                if (end.box, end.points) == (option.box, option.points)
            )
            exact = value(*arguments, state=end)
            assert option.value == pytest.approx(float(exact), abs=1e-12)
        for found in (keeps, entries):
            losses = [option.loss for option in found]
            assert losses == sorted(losses)
            for option in found:
                assert option.loss == pytest.approx(found[0].value - option.value, abs=1e-12)
    # Whoever knows his total after the decision does as well as any answer to his throws.
    for number in (1, 2):
        exact = {each.decision: each for each in duel.endgame().options(thrown, number)}
        for option in duel.options(thrown, number, clairvoyant=True):
            assert option.lower <= exact[option.decision].upper
            assert exact[option.decision].lower <= option.upper
            after = (
                turn.on_the_table(1, option.kept)
                if number == 1
                else next(
                    end
                    for end in game.entries(sheet, thrown)
                    if (end.box, end.points) == (option.box, option.points)
                )
            )
            known = sum(
                chance * by_hand.target(sheet, lead - total, state=after)
                for total, chance in by_hand.totals(his).items()
            )
            assert option.upper == pytest.approx(float(known), abs=1e-12)
            assert option.upper >= known
    best = duel.best(thrown, 1)
    assert best == duel.options(thrown, 1)[0]
    assert best.name()
    assert duel.best(thrown, 2).box is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "sheet"),
    [
        (SMALL, sheet_of(SMALL, 0, 1, 8)),
        (SMALL, sheet_of(SMALL, 1, 7, upper=3)),
        (JOKERS, sheet_of(JOKERS, 0, 4, bonus=1)),
        (JOKERS, sheet_of(JOKERS, 0, 5, 7)),
    ],
)
def test_one_table_has_the_chances_of_all_totals(game, sheet):
    by_hand = by_plain_recursion(game, Fraction(1))
    targets = Targets(game, sheet, entered=10, compile="never")
    probabilities = [targets.at_least(total) for total in range(targets.most + 3)]
    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities[10] == 1
    assert probabilities[-2:] == [0, 0]
    for total, chance in enumerate(probabilities):
        exact = by_hand.target(sheet, 10 - total)
        assert chance == pytest.approx(float(exact), abs=1e-12)
        low, high = targets.bounds(total)
        assert low - 1e-12 <= exact <= high + 1e-12


@pytest.mark.slow
def test_who_plays_to_win_earns_fewer_points_than_who_plays_for_them():
    game, sheet, his, lead = SHEETS[1]
    duel = small_duel(game, sheet, his, lead)
    points = duel.points()
    most = gamedp.stages.distribution(duel.solution, sheet)
    assert points.mean <= most.mean + 1e-12
    wins = sum(chance * duel._worth(duel.lead + total) for total, chance in points)
    assert wins == pytest.approx(duel.lower, abs=1e-12)
    for_points = sum(chance * duel._worth(duel.lead + total) for total, chance in most)
    assert duel.lower >= for_points - 1e-12


def test_by_chance_the_numbers_come_true():
    game, sheet, his, lead = SHEETS[0]
    duel = small_duel(game, sheet, his, lead)
    found = gamedp.simulate(duel._solved.model, duel._solved, games=20_000, seed=1)
    assert abs(found.means[0] - duel.lower) < 4 * found.standard_error() + 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("game", [SMALL, JOKERS])
def test_the_staged_games_are_in_order(game):
    sheet = sheet_of(game, 1, 5)
    rest = ForTotal.of(Remainder.of(game, sheet), np.linspace(0, 1, 12))
    check_game(gamedp.stages.Flattened(rest), compile=False)
    check_game(EitherTurn(**attrs.asdict(game.stage())), compile=False)
    for plays_for in ("points", "victory"):
        duel = small_duel(game, sheet_of(game, 5), sheet_of(game, 1), 0)
        ending = duel.endgame(opponent_goal=plays_for)
        check_game(gamedp.stages.Flattened(ending.game), compile=False)


duel_of, targets_of = cache(Duel.of), cache(Targets.of)


@uncompiled_takes_minutes
class TestCards:
    MINE = Card.of("- 8 9 16 15 18 15 9 25 30 40 - 20")
    HIS = Card.of("3 8 9 16 15 24 - 9 25 30 40 0 -")

    @pytest.mark.deep
    def test_a_duel_of_two_cards(self):
        duel = Duel.of(self.MINE, self.HIS)
        assert duel.lead == self.MINE.total - 35 - (self.HIS.total - 35)
        ending = duel.endgame()
        assert duel.lower <= ending.value + 1e-12
        assert ending.value <= duel.upper + 1e-12
        assert duel.best("11266", 2).name() == ending.best("11266", 2).name()
        options = ending.options(throw("11266"), 3)
        assert {option.name("en") for option in options} == {"Ones", "Yahtzee"}

    @pytest.mark.slow
    def test_targets_of_a_card(self):
        targets = targets_of(self.MINE)
        assert targets.at_least(self.MINE.total) == pytest.approx(1, abs=1e-14)
        # Only a Kniffel earns that much; there are two turns for it, and 2.301432 / 50 for each.
        chance = 1 - (1 - 2.301432 / 50) ** 2
        assert targets.at_least(self.MINE.total + 6) == pytest.approx(chance, abs=1e-7)
        best = targets.best("11666", 1, total=self.MINE.total + 50)
        assert best.kept == throw("666", dice=3)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda card: Targets.of(Card()), "197,132,288 contexts.*max_contexts=197132288"),
            (lambda card: Duel.of(Card(), card).lower, "this duel takes a table of"),
            (
                lambda card: Duel.of(card, card, max_contexts=10).endgame(),
                "the last rounds of these",
            ),
            (lambda card: Duel.of(card, card, draw=2.0), "draw must lie between 0 and 1"),
            (lambda card: duel_of(card, card).endgame(opponent_goal="fun"), "not 'fun'"),
            (
                lambda card: duel_of(card, card).endgame(opponent_to_move=True).best("11111", 1),
                "not mine",
            ),
            (lambda card: duel_of(card, card).options("11111", 4), "there is no throw 4"),
            (lambda card: targets_of(card).best("11111", 1, total=1000), "out of reach"),
            (lambda card: targets_of(card).best("11111", 1, total=1), "are reached"),
        ],
    )
    def test_what_cannot_be_is_refused_in_words(self, call, words):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
            call(self.MINE)

    def test_a_full_card_has_nothing_to_decide(self):
        full = self.MINE.with_entry("Einser", 3).with_entry("Kniffel", 0)
        duel = Duel.of(full, self.HIS)
        assert duel.lower == pytest.approx(duel.upper, abs=1e-12)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="card is full"):
            duel.options("11111", 1)


def test_words_for_people():
    turn = EitherTurn(**attrs.asdict(SMALL.stage()))
    start = turn.initial_state()
    assert turn.render(start) == "before the turn"
    assert [turn.action_name(start, action) for action in turn.actions(start)] == [
        "my turn",
        "the opponent's turn",
    ]
    ((_, his),) = turn.outcomes(start, 1)
    assert turn.render(his) == "the opponent's turn, throw 1 of 2: - on the table, 2 to roll"
    assert turn.action_name(his, 0) == "roll a die"
    ending = small_duel(*SHEETS[0]).endgame()
    stage = ending.game.stage()
    result = next(after for _, after in stage.outcomes(start, 1))
    assert stage.render(result).startswith("the opponent has earned ")
    duel = small_duel(*SHEETS[0])
    game = duel._solved.model.rules.game
    assert game.render(game.initial_state()).startswith("0 points earned; free: Einser, Zweier")
    assert {ROLLING, KEEPING, ENTERING} == {0, 1, 2}
    assert Turn(0, 0, (), 0, 0, 0).phase == ROLLING


@pytest.fixture(scope="module")
def hand():
    return by_plain_recursion(SMALL)


def drawn_pairs(solution, free, seed, count):
    drawn = _Drawn(SMALL, solution, np.random.default_rng(seed))
    return [(drawn.card(free), drawn.card(free)) for _ in range(count)]


def small_gain(hand, free, **options):
    return gain(free, rules=SMALL, solution=hand.solution, compile="never", **options)


def test_each_gain_is_that_of_a_position_by_hand(hand):
    found = small_gain(hand, 3, positions=3, seed=0)
    advice = small_gain(hand, 3, positions=3, seed=0, exact=False)
    pairs = drawn_pairs(hand.solution, 3, 0, 3)
    for place, ((sheet, points), (opponent_sheet, opponent_points)) in enumerate(pairs):
        assert SMALL.tier(sheet) == SMALL.tier(opponent_sheet) == 3
        lead = points - opponent_points
        to_win = sum(
            hand.joint(sheet, opponent_sheet, lead, turn, "points") for turn in (False, True)
        )
        for_points = sum(
            chance * other * hand.worth(lead + mine - his)
            for mine, chance in hand.totals(sheet).items()
            for his, other in hand.totals(opponent_sheet).items()
        )
        assert found.for_points[place] == pytest.approx(float(for_points), abs=1e-12)
        assert found.gains[place] == pytest.approx(float(to_win / 2 - for_points), abs=found.error)
        by_advice = hand.utility(sheet, opponent_sheet, lead)
        assert advice.to_win[place] == pytest.approx(float(by_advice), abs=1e-8)
    assert found.error < 1e-8
    assert (advice.gains <= found.gains + found.error + advice.error).all()
    assert advice.gains.min() >= -advice.error
    assert found.gains.max() > 0.01


def test_positions_are_drawn_as_often_as_they_occur(hand):
    drawn = _Drawn(SMALL, hand.solution, np.random.default_rng(5))
    cards = [drawn.card(0) for _ in range(400)]
    seen = np.array([points + SMALL.payoff(sheet, 0) for sheet, points in cards])
    exact = gamedp.stages.distribution(hand.solution)
    apart = max(abs((seen >= total).mean() - exact.at_least(total)) for total, _ in exact)
    assert 2 * math.exp(-2 * len(seen) * apart**2) > 1e-4  # as in Simulation.agrees_with


def test_the_same_seed_gives_the_same_gain_with_its_interval(hand):
    one, same, other = (small_gain(hand, 1, positions=6, seed=seed) for seed in (1, 1, 2))
    assert one.to_win.tolist() == same.to_win.tolist() != other.to_win.tolist()
    low, high = one.interval()
    student = gamedp.policies.student_interval(one.mean, one.gains.std(ddof=1), 6)
    assert (low, high) == (student[0] - one.error, student[1] + one.error)
    assert repr(one).startswith("<Gain with 1 free boxes, 6 positions: ")
    alone = small_gain(hand, 1, positions=1, seed=1)
    assert alone.interval() == (-math.inf, math.inf)
    assert "at least" in repr(attrs.evolve(one, exact=False))


def test_two_who_play_for_points_win_equally_often(hand):
    sheet, _ = _Drawn(SMALL, hand.solution, np.random.default_rng(1)).card(2)
    duel = Duel(SMALL, sheet, sheet, 0, solution=hand.solution, compile="never")
    assert duel.for_points == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"free": 0}, "free must be a whole number of at least 1, not 0"),
        ({"free": 10}, "free is 10; a card has 9 boxes"),
        ({"positions": 0}, "positions must be"),
        ({"positions": 2.5}, "positions must be"),
        ({"seed": -1}, "seed must be"),
        ({"max_contexts": 10}, "max_contexts="),
    ],
)
def test_what_cannot_be_drawn_is_refused(hand, options, words):
    with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
        small_gain(hand, **({"free": 1, "positions": 1} | options))
