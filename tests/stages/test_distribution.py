"""The distribution of totals: as counted by hand in rational numbers, and refused in words."""

import functools
from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

import attrs
import numba
import numpy as np
import pytest
from staged_games import Date, Day, Debts, Journey, Tosses as SpareTosses, Walk

import gamedp
from gamedp.games.kniffel import ENTERING, KEEPING, Kniffel, Sheet
from gamedp.stages.totals import forward, questions

SMALL = Kniffel(dice=2, faces=3, throws=2, threshold=5, upper_bonus=7)
JOKERS = Kniffel("yahtzee", dice=2, faces=2, throws=2, threshold=3, upper_bonus=4, further_bonus=9)


@functools.cache
def solve_uncompiled(game):
    # Compiled, small games take longer than to be solved.
    return gamedp.solve(game, tolerance=1e-9, compile="never")


def nearly_full(game, *free, upper=0, bonus=0):
    return Sheet(upper, game.all_boxes - sum(1 << box for box in free), bonus)


class ByHand:
    """Follows a policy through a staged game, in fractions."""

    def __init__(self, game, policy):
        self.game = game
        self.rules = gamedp.rules.StagedRules(game)
        self.stage = gamedp.rules.Rules(game.stage())
        self.policy = policy
        self.known = {}

    def totals(self, context, side=0):
        """Return the chance of each total of player `side` of this context."""
        context, swapped = self.rules.canonical(context)
        side ^= swapped
        if (context, side) not in self.known:
            self.known[context, side] = self._totals(context, side)
        return self.known[context, side]

    def _totals(self, context, side):
        if self.rules.call("is_terminal", context):
            return {Fraction(self.rules.call("payoff", context, side)): Fraction(1)}
        found = defaultdict(Fraction)
        ((_, start),) = self.stage.initial()
        for (end, paid), chance in self.ends(context, start, side).items():
            earned = paid + Fraction(self.rules.call("reward", context, end, side))
            following = self.rules.call("following", context, end)
            for total, share in self.totals(following, side).items():
                found[total + earned] += chance * share
        return found

    def ends(self, context, start, side):
        probabilities = {(start, Fraction(0)): Fraction(1)}
        found = defaultdict(Fraction)
        while probabilities:
            after = defaultdict(Fraction)
            for (state, paid), chance in probabilities.items():
                if self.stage.game.is_terminal(state):
                    found[state, paid] += chance
                    continue
                action = self.policy(context, state)
                earned = paid + Fraction(self.stage.reward(state, action, side))
                for probability, following in self.stage.game.outcomes(state, action):
                    share = Fraction(probability).limit_denominator(1000)
                    after[following, earned] += chance * share
            probabilities = after
        return found


def assert_equal(found, truth):
    assert found.totals.tolist() == sorted(int(total) for total in truth if truth[total])
    for total, chance in found:
        exact = truth[Fraction(total)]
        assert abs(Fraction(chance) - exact) <= Fraction(found.relative_error) * exact
    assert found.relative_error < 1e-11


def policy_of(solution):
    return lambda context, state: solution.inside(context).best_action(state)


@pytest.mark.parametrize(
    ("game", "context"),
    [
        (SMALL, nearly_full(SMALL, 0, 1, 2, 9)),
        (SMALL, nearly_full(SMALL, 1, 8, 9, upper=3)),
        (SMALL, nearly_full(SMALL)),
        (JOKERS, nearly_full(JOKERS, 0, 1, 4, 7)),
        (JOKERS, nearly_full(JOKERS, 1, 4, 5, bonus=1)),
    ],
)
def test_points_of_kniffel_are_those_counted_by_hand(game, context):
    solution = solve_uncompiled(game)
    found = gamedp.stages.distribution(solution, context)
    assert_equal(found, ByHand(game, policy_of(solution)).totals(context))
    assert found.mean == pytest.approx(solution.value(context), abs=1e-12)


@attrs.frozen
class PaidDay(Day):
    def reward(self, state, action, player):
        return (2 * action - 1) * (1 - 2 * player)


@attrs.frozen
class PaidJourney(Journey):
    """A journey that counts in whole numbers, on the way and at the end of a day."""

    again: bool = False

    def stage(self):
        return PaidDay()

    def reward(self, context, end, player):
        return (end.place - 2 * context.luck) * (1 - 2 * player)


@pytest.mark.slow
@pytest.mark.parametrize(("optimum", "mode"), [("max", "never"), ("min", "always")])
def test_rewards_on_the_way_and_two_movers(mode, optimum):
    game = PaidJourney(days=3)
    solution = gamedp.solve(game, gamedp.TotalReward(optimum=optimum), compile=mode)
    by_hand = ByHand(game, policy_of(solution))
    assert_equal(gamedp.stages.distribution(solution, Date(3, 1)), by_hand.totals(Date(3, 1)))
    mixed = defaultdict(Fraction)
    for chance, context in game.initial_state():
        for total, share in by_hand.totals(context).items():
            mixed[total] += Fraction(chance) * share
    assert_equal(gamedp.stages.distribution(solution), mixed)


class Toss(NamedTuple):
    coins: int
    is_over: bool


@attrs.frozen
class Tossing:
    """Up to three coins, or stop; the last toss may lose all."""

    def initial_state(self):
        return Toss(0, False)

    def is_terminal(self, state):
        return state.is_over

    def actions(self, state):
        yield 0
        if state.coins < 3:
            yield 1

    def outcomes(self, state, action):
        if action == 0:
            yield 1.0, Toss(state.coins, True)
        else:
            yield 2 / 3, Toss(state.coins + 1, False)
            yield 1 / 3, Toss(0, True)

    def payoff(self, state, player):
        return 0.0


class Coins(NamedTuple):
    mover: int
    left: int
    own: int
    other: int


@attrs.frozen
class Tosses:
    """Two players take turns, seen by whoever is to move: rewards, and 5 for the winner."""

    rounds: int = 3

    num_players = 2
    constant_sum = 5.0

    def stage(self):
        return Tossing()

    def box(self):
        most = 3 * self.rounds + 1
        return {"mover": (0, 1), "left": (0, self.rounds), "own": (0, most), "other": (0, most)}

    def initial_state(self):
        return Coins(1, self.rounds, 0, 1)

    def is_terminal(self, context):
        return context.left == 0

    def payoff(self, context, player):
        ahead = context.own - context.other
        if (player == 1) == (context.mover == 0):
            ahead = -ahead
        return 5.0 if ahead > 0 or (ahead == 0 and player == context.mover) else 0.0

    def following(self, context, end):
        return Coins(1 - context.mover, context.left - 1, context.other, context.own + end.coins)

    def reward(self, context, end, player):
        earned = 1.0 if end.coins == 2 else 0.0
        return earned if player == context.mover else -earned

    def is_state(self, context):
        most = 3 * (self.rounds - context.left) + 1
        return context.own <= most and context.other <= most

    def canonical(self, context):
        return Coins(0, context.left, context.own, context.other), context.mover == 1

    def tier(self, context):
        return context.left


def test_players_who_change_places():
    game = Tosses()
    solution = gamedp.solve(game, compile="never", tolerance=1e-9)
    by_hand = ByHand(game, policy_of(solution))
    found = gamedp.stages.distribution(solution)
    assert_equal(found, by_hand.totals(game.initial_state()))
    assert found.mean == pytest.approx(solution.value(), abs=1e-12)
    context = Coins(0, 2, 1, 0)
    assert_equal(gamedp.stages.distribution(solution, context), by_hand.totals(context))


def assert_same(found, alone):
    assert found.totals.tolist() == alone.totals.tolist()
    assert found.probabilities == pytest.approx(alone.probabilities, rel=2e-14)


def test_totals_of_many_contexts_are_found_together():
    sheets = [nearly_full(JOKERS, 0, 4, bonus=1), nearly_full(JOKERS), nearly_full(JOKERS, 4)]
    solution = solve_uncompiled(JOKERS)
    found = gamedp.stages.distributions(solution, sheets)
    by_hand = ByHand(JOKERS, policy_of(solution))
    for sheet, each in zip(sheets, found, strict=True):
        assert_equal(each, by_hand.totals(sheet))
        assert_same(each, gamedp.stages.distribution(solution, sheet))
    assert gamedp.stages.distributions(solution, []) == []


def test_totals_of_many_contexts_with_two_movers_who_change_places():
    game = PaidJourney(days=3)
    solution = gamedp.solve(game, compile="never")
    by_hand = ByHand(game, policy_of(solution))
    dates = [Date(3, 1), Date(1, 0), Date(3, 0), Date(3, 1)]
    for date, each in zip(dates, gamedp.stages.distributions(solution, dates), strict=True):
        assert_equal(each, by_hand.totals(date))
    game = Tosses()
    solution = gamedp.solve(game, compile="never", tolerance=1e-9)
    by_hand = ByHand(game, policy_of(solution))
    contexts = [Coins(1, 2, 1, 0), game.initial_state(), Coins(0, 2, 1, 0), Coins(1, 2, 0, 1)]
    for context, each in zip(
        contexts, gamedp.stages.distributions(solution, contexts), strict=True
    ):
        assert_equal(each, by_hand.totals(context))


def keeps_all_and_enters_the_last_box(context, state):
    if state.phase == KEEPING:
        return len(state.dice)
    assert state.phase == ENTERING
    return max(box for box in range(len(state.dice) + 7) if not (context.boxes >> box) & 1)


@pytest.mark.parametrize("is_solved", [False, True])
def test_any_policy_may_be_followed(is_solved):
    context = nearly_full(SMALL, 0, 1, 2, 9)
    problem = solve_uncompiled(SMALL) if is_solved else gamedp.compile(SMALL, compile="never")
    policy = keeps_all_and_enters_the_last_box
    found = gamedp.stages.distribution(problem, context, policy=policy)

    def by_hand(context, state):
        return 0 if state.phase == 0 else policy(context, state)

    assert_equal(found, ByHand(SMALL, by_hand).totals(context))
    ends = gamedp.stages.end_probabilities(problem, context, policy=policy)
    assert {end.box for end in ends} == {9}
    assert sum(ends.values()) == pytest.approx(1)


@attrs.frozen
class Entries(Kniffel):
    """The same game, where each entry with points counts one."""

    def reward(self, context, end, player):
        return 1.0 if end.points > 0 else 0.0

    def payoff(self, context, player):
        return 0.0


def test_something_else_may_be_counted():
    context = nearly_full(SMALL, 0, 1, 2, 9)
    solution = solve_uncompiled(SMALL)
    game = Entries(**attrs.asdict(SMALL))
    counting = gamedp.compile(game, compile="never")
    found = gamedp.stages.distribution(solution, context, counting=counting)
    assert_equal(found, ByHand(game, policy_of(solution)).totals(context))


@attrs.frozen
class Elsewhere(Kniffel):
    def following(self, context, end):
        return Sheet(self.threshold, context.boxes | (1 << end.box), 0)


@pytest.mark.parametrize(
    ("counting", "words"),
    [
        (Kniffel(dice=3, faces=3, throws=2, threshold=5), "does not have the stage"),
        (Kniffel(dice=2, faces=3, throws=2, threshold=6), "and the contexts"),
        (Elsewhere(**attrs.asdict(SMALL)), "does not lead to where"),
    ],
)
def test_what_leads_elsewhere_cannot_count(counting, words):
    solution = solve_uncompiled(SMALL)
    counting = gamedp.compile(counting, compile="never")
    with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
        gamedp.stages.distribution(solution, nearly_full(SMALL, 0, 1), counting=counting)


def test_games_that_count_are_compiled():
    solution = gamedp.solve(PaidJourney(days=2), gamedp.TotalReward(optimum="min"))
    same = gamedp.stages.distribution(solution, counting=PaidJourney(days=2))
    np.testing.assert_array_equal(
        same.probabilities, gamedp.stages.distribution(solution).probabilities
    )


@attrs.frozen
class HalfPaid(PaidJourney):
    def reward(self, context, end, player):
        return 0.5


@attrs.frozen
class HalfOwed(PaidJourney):
    def payoff(self, context, player):
        return 0.25


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Journey(again=False), "a reward on the way, in Walk.* is 0.5, not a whole number"),
        (HalfPaid(), "the reward for Walk.* in Date.* is 0.5, not a whole number"),
        (HalfOwed(), "the payoff in Date\\(left=0, luck=.\\) is 0.25, not a whole number"),
        (PaidJourney(again=True), "Date.* leads to Date.* of the same tier"),
    ],
    ids=["on the way", "reward", "payoff", "cycle"],
)
def test_what_has_no_distribution_is_refused(game, words):
    solution = gamedp.solve(game, tolerance=1e-6, compile="never")
    with pytest.raises(gamedp.UnsupportedProblemError, match=words):
        gamedp.stages.distribution(solution)
    together = words.replace("leads to Date.*", "is reached from a context")
    with pytest.raises(gamedp.UnsupportedProblemError, match=together):
        gamedp.stages.distributions(solution, [solution.model.starts[0][1]])


def test_policies_that_take_no_choice_are_refused():
    model = gamedp.compile(SMALL, compile="never")
    context = nearly_full(SMALL, 0, 1)
    with pytest.raises(gamedp.InvalidModelError, match=r"takes 17 in Turn.*the actions there are"):
        gamedp.stages.distribution(model, context, policy=lambda context, state: 17)
    with pytest.raises(gamedp.InvalidModelError, match="takes None in Turn"):
        gamedp.stages.distribution(model, context, policy=lambda context, state: None)
    with pytest.raises(gamedp.InvalidModelError, match="which is not allowed"):
        gamedp.stages.distribution(
            model, context, policy=lambda context, state: 3 if state.phase == KEEPING else 2
        )
    with pytest.raises(gamedp.errors.InvalidParameterError, match="StagedModel with a policy"):
        gamedp.stages.distribution(model, context)
    with pytest.raises(gamedp.errors.InvalidParameterError, match="int is neither"):
        gamedp.stages.distribution(5)


def test_ends_of_one_stage():
    game = PaidJourney(days=2)
    solution = solve_uncompiled(game)
    ends = gamedp.stages.end_probabilities(solution, Date(1, 1))
    by_hand = defaultdict(Fraction)
    start = Walk(2, 0, 0, False)
    hand = ByHand(game, policy_of(solution)).ends(Date(1, 1), start, 0)
    for (end, _), chance in hand.items():
        by_hand[end] += chance
    assert ends == pytest.approx({end: float(chance) for end, chance in by_hand.items()})
    with pytest.raises(gamedp.errors.UnknownStateError, match="the game is over"):
        gamedp.stages.end_probabilities(solution, Date(0, 1))


def test_a_solution_that_stopped_early_is_refused():
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(SMALL, solver=gamedp.stages.StageInduction(max_seconds=1e-9), compile="never")
    with pytest.raises(gamedp.UnsupportedProblemError, match="knows no values after Sheet"):
        gamedp.stages.distribution(caught.value.solution)


def test_a_mean_that_is_not_the_value_is_noticed():
    solution = solve_uncompiled(SMALL)
    context = nearly_full(SMALL, 0, 1)
    values = solution.values.copy()
    values[solution.model.index(context)[0]] += 0.001
    with pytest.raises(gamedp.InvalidModelError, match="the distribution has the mean"):
        gamedp.stages.distribution(attrs.evolve(solution, values=values), context)


def test_what_a_distribution_says():
    found = gamedp.stages.Distribution(np.array([-2, 1, 5]), np.array([0.25, 0.5, 0.25]))
    assert found.mean == 1.25
    assert found.standard_deviation == pytest.approx(np.sqrt(0.25 * 4 + 0.5 + 0.25 * 25 - 1.25**2))
    assert [found.quantile(q) for q in (0, 0.25, 0.26, 0.75, 0.8, 1)] == [-2, -2, 1, 1, 5, 5]
    assert [found.at_least(t) for t in (-9, -2, -1, 1, 1.5, 5, 6)] == [
        1,
        1,
        0.75,
        0.75,
        0.25,
        0.25,
        0,
    ]
    assert [found.probability(t) for t in (-3, -2, 0, 5, 6)] == [0, 0.25, 0, 0.25, 0]
    assert found.expectation(lambda total: total**2) == 0.25 * 4 + 0.5 + 0.25 * 25
    assert repr(found).startswith("<Distribution of 3 totals, -2 to 5: mean=1.25")
    assert not found.totals.flags.writeable
    with pytest.raises(gamedp.errors.InvalidParameterError, match="not between 0 and 1"):
        found.quantile(1.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "mean", "deviation", "quantiles"),
    [
        ("article", 245.904728, 39.8160, (180, 218, 247, 270, 316)),
        # 254.59 and 59.61: Tom Verhoeff, "How to Maximize Your Score in Solitaire Yahtzee", 1999.
        pytest.param(
            "yahtzee", 254.587729, 59.6077, (180, 217, 248, 272, 388), marks=pytest.mark.deep
        ),
    ],
)
def test_kniffel(rules, mean, deviation, quantiles):
    if numba.config.DISABLE_JIT:
        # Small games have the same distributions checked in plain Python, in exact fractions.
        pytest.skip("the whole table takes hours uncompiled")
    found = gamedp.stages.distribution(gamedp.solve(Kniffel(rules), tolerance=1e-8))
    assert found.mean == pytest.approx(mean, abs=5e-7)
    assert found.standard_deviation == pytest.approx(deviation, abs=5e-5)
    assert tuple(found.quantile(q) for q in (0.05, 0.25, 0.5, 0.75, 0.95)) == quantiles
    assert abs(sum(found.probabilities.tolist()) - 1) < 1e-12


@pytest.mark.parametrize(
    ("game", "games", "mode"),
    [
        (attrs.evolve(SMALL, faces=2), 600, "never"),
        pytest.param(Kniffel(), 400, "auto", marks=pytest.mark.deep),
    ],
    ids=["small", "whole"],
)
def test_games_that_are_played_have_this_distribution(game, games, mode):
    if numba.config.DISABLE_JIT and game.dice > 2:
        pytest.skip("the whole table takes hours uncompiled")
    solution = gamedp.solve(game, tolerance=1e-8, compile=mode)
    stage, rng = game.stage(), np.random.default_rng(2)
    inside = functools.cache(solution.inside)
    totals = []
    for _ in range(games):
        context, total = game.initial_state(), 0
        while not game.is_terminal(context):
            state = stage.initial_state()
            while not stage.is_terminal(state):
                outcomes = list(stage.outcomes(state, inside(context).best_action(state)))
                place = rng.choice(len(outcomes), p=[chance for chance, _ in outcomes])
                state = outcomes[place][1]
            total += game.reward(context, state, 0)
            context = game.following(context, state)
        totals.append(total + game.payoff(context, 0))
    exact = gamedp.stages.distribution(solution)
    shares = [np.mean(np.array(totals) >= total) for total in range(int(max(totals)) + 2)]
    apart = max(abs(share - exact.at_least(total)) for total, share in enumerate(shares))
    # By chance one seed of a thousand is farther away: Dvoretzky, Kiefer and Wolfowitz; Massart.
    assert apart < (np.log(2 / 0.001) / (2 * games)) ** 0.5


class Luck(NamedTuple):
    left: int
    wins: int


@attrs.frozen
class Rare:
    """Hardly anyone wins twice: there is no number for how rarely that is."""

    chance: float = 2.0**-600

    def stage(self):
        return Ticket(self.chance)

    def box(self):
        return {"left": (0, 2), "wins": (0, 2)}

    def is_state(self, context):
        return context.left + context.wins <= 2

    def initial_state(self):
        return Luck(2, 0)

    def is_terminal(self, context):
        return context.left == 0

    def payoff(self, context, player):
        return 10.0 * (context.wins == 2)

    def following(self, context, end):
        return Luck(context.left - 1, context.wins + end.coins)

    def tier(self, context):
        return context.left


@attrs.frozen
class Ticket:
    chance: float

    def initial_state(self):
        return Toss(0, False)

    def is_terminal(self, state):
        return state.is_over

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        yield self.chance, Toss(1, True)
        yield 1.0, Toss(0, True)

    def payoff(self, state, player):
        return 0.0


@pytest.mark.parametrize("exponent", [-600, -530])
def test_what_underflows_is_allowed_for(exponent):
    """Both of a total whose probability is zero, and of one that has few digits."""
    game = Rare(2.0**exponent * 1.1)
    found = gamedp.stages.distribution(solve_uncompiled(game))
    truth = Fraction(game.chance) ** 2
    stored = Fraction(found.probability(10))
    assert stored != truth
    assert abs(stored - truth) > Fraction(found.relative_error) * truth
    assert abs(stored - truth) <= Fraction(found.relative_error) * truth + Fraction(1e-300)
    assert abs(Fraction(found.mean) - 10 * truth) <= Fraction(found.mean_error)
    assert found.mean_error < 1e-280


def test_ends_are_expected_as_often_as_play_by_hand_reaches_them():
    game = Kniffel(dice=2, faces=2, threshold=3)
    solution = solve_uncompiled(game)
    first, second = Sheet(0, 3, 0), Sheet(0, game.all_boxes - 3, 0)
    starts = [{first: 0.25, second: 0.75}, {second: 1.0}, {Sheet(0, game.all_boxes, 0): 1.0}]
    both, alone, over = gamedp.stages.expected_ends(solution, starts)
    for found, start in ((both, starts[0]), (alone, starts[1])):
        counts, earned = defaultdict(float), 0.0
        reached = dict(start)
        while reached:
            sheet = max(reached, key=game.tier)
            weight = reached.pop(sheet)
            if game.is_terminal(sheet):
                continue
            for end, chance in gamedp.stages.end_probabilities(solution, sheet).items():
                counts[end] += weight * chance
                earned += weight * chance * game.reward(sheet, end, 0)
                after = game.following(sheet, end)
                reached[after] = reached.get(after, 0.0) + weight * chance
        assert found.counts == pytest.approx(dict(counts))
        assert found.rewards == pytest.approx(earned)
        value = sum(weight * solution.value(sheet) for sheet, weight in start.items())
        assert found.rewards + found.payoff == pytest.approx(value)
    assert (over.counts, over.rewards, over.payoff) == ({}, 0.0, 0.0)


class FreeTosses(SpareTosses):
    def reward(self, state, action, player):
        return 0.0


class Unranked(Debts):
    def stage(self):
        return FreeTosses()

    def tier(self, context):
        return 0


@pytest.mark.parametrize("chance", [float("nan"), float("inf"), -0.25])
def test_ends_are_expected_of_true_chances_alone(chance):
    solution = solve_uncompiled(Kniffel(dice=1, faces=2, throws=1, threshold=3))
    begin = solution.model.starts[0][1]
    with pytest.raises(
        gamedp.errors.InvalidParameterError, match=r"begin in Sheet.* with probability"
    ):
        gamedp.stages.expected_ends(solution, [{begin: 1.0}, {begin: chance}])


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Tosses(), "games of one player, not of 2"),
        (Journey(again=False), "a reward on the way, in Walk.* is 0.5, not a whole number"),
        (Unranked(), "Purse.* is reached from a context of the same tier"),
    ],
    ids=["two players", "on the way", "cycle"],
)
def test_what_is_expected_of_other_games_is_refused(game, words):
    solution = gamedp.solve(game, tolerance=1e-6, compile="never")
    with pytest.raises(gamedp.UnsupportedProblemError, match=words):
        gamedp.stages.expected_ends(solution, [{solution.model.starts[0][1]: 1.0}])


class Drawn(NamedTuple):
    draws: int
    points: int


@attrs.frozen
class Draws:
    """As many draws as there are prizes, each of which is won, or not; `sure` ones always are."""

    prizes: tuple[float, ...] = ()
    sure: bool = False

    def initial_state(self):
        return Drawn(0, 0)

    def is_terminal(self, state):
        return state.draws == len(self.prizes) + 1

    def actions(self, state):
        return (0,) if self.sure or state.draws == len(self.prizes) else (0, 1)

    def outcomes(self, state, action):
        if state.draws < len(self.prizes):
            yield 1.0, Drawn(state.draws + 1, 0)
        else:
            yield 0.5, Drawn(state.draws + 1, 0)
            yield 0.5, Drawn(state.draws + 1, 1)

    def payoff(self, state, player):
        return 0.0

    def reward(self, state, action, player):
        won = action == 0 and state.draws < len(self.prizes)
        return float(self.prizes[state.draws]) if won else 0.0


class Left(NamedTuple):
    left: int


@attrs.frozen
class Lottery:
    """Some rounds of draws; a last one is lost, or worth `jackpot`."""

    jackpot: float = 0.0
    prizes: tuple[float, ...] = ()
    sure: bool = False
    rounds: int = 1

    def stage(self):
        return Draws(self.prizes, self.sure)

    def box(self):
        return {"left": (0, self.rounds)}

    def initial_state(self):
        return Left(self.rounds)

    def is_terminal(self, context):
        return context.left == 0

    def payoff(self, context, player):
        return 0.0

    def following(self, context, end):
        return Left(context.left - 1)

    def tier(self, context):
        return context.left

    def reward(self, context, end, player):
        return end.points * self.jackpot


@pytest.mark.parametrize(
    ("game", "words"),
    [
        *(
            (Lottery(jackpot), "the contexts of one tier have 1,000,000,000,001 totals from")
            for jackpot in (1e12, -1e12)
        ),
        *(
            (Lottery(jackpot), "the reward for Drawn.* in Left.*, too large.* a larger unit")
            for jackpot in (2.0**53, -1e18, 1e300)
        ),
        (Lottery(prizes=(2.0**64,)), "a reward on the way, in Drawn.*, too large"),
        (
            Lottery(prizes=(2.0**52,) * 2, sure=True),
            "the sum of rewards on the way to Drawn.*, too",
        ),
        (Lottery(prizes=(2.0**52,), sure=True, rounds=2), "a total is 9007199254740992, too large"),
        (Lottery(prizes=(-(2.0**52),), sure=True, rounds=2), "a total is 9007199254740992, too"),
        (Lottery(prizes=tuple(2.0**n for n in range(24))), "pays more than .* different sums"),
    ],
)
def test_totals_too_large_or_too_far_apart_are_refused(game, words):
    solution = gamedp.solve(game, compile="never")
    start = solution.model.starts[0][1]
    with pytest.raises(gamedp.UnsupportedProblemError, match=words):
        gamedp.stages.distribution(solution)
    with pytest.raises(gamedp.UnsupportedProblemError, match=words):
        gamedp.stages.distributions(solution, [start])


def test_contexts_whose_totals_have_no_room_together_are_refused(monkeypatch):
    solution = solve_uncompiled(SMALL)
    monkeypatch.setattr(questions, "CONTEXTS", 2)
    monkeypatch.setattr(forward, "MOST_TOTALS", 100)  # of two contexts, but not of all
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"room for 100\. Count in"):
        gamedp.stages.distributions(solution, [nearly_full(SMALL, 0, 1, 2)])


def test_totals_below_the_limit_are_told_apart():
    solution = gamedp.solve(Lottery(1.0, prizes=(2.0**53 - 2,), sure=True), compile="never")
    assert list(gamedp.stages.distribution(solution)) == [(2**53 - 2, 0.5), (2**53 - 1, 0.5)]
