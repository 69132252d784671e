"""Every number with bounds, of policies in random games, beside the same in exact fractions.

The games are made to be unkind: probabilities in elevenths, of which doubles hold none, rewards and
payoffs of opposite signs that cancel under the policies, as large or as small as numbers get,
merged seats, starts by chance, and policies that leave actions to chance.
"""

import itertools
import random
from fractions import Fraction

import attrs
import numpy as np
import pytest
from exact_play import Exact

import gamedp
from gamedp.errors import UnknownStateError, UnsupportedProblemError
from gamedp.policies import InducedChain
from gamedp.policies.chain import even_steps
from gamedp.policies.solving import solved_problem
from gamedp.runtime.floats import UNIT

GAMES, MANY = 12, 400
"""Of each kind and objective; and where they are looked for at length."""

HORIZON = 3
DISCOUNTS = (0.5, 0.9)
SUMS = (11, 997, 1024, 3 * 7 * 13)
"""Probabilities are parts of these."""


def parts(rng, count):
    """Return so many positive fractions that sum to one."""
    whole = rng.choice(SUMS)
    cuts = sorted(rng.sample(range(1, whole), count - 1))
    return [Fraction(high - low, whole) for low, high in itertools.pairwise([0, *cuts, whole])]


@attrs.frozen(eq=False)
class Case:
    """A model, what its probabilities mean, and policies: as doubles, and as they are meant."""

    model: gamedp.Model
    chances: list
    policies: list
    shares: list

    @property
    def players(self):
        return range(self.model.num_players)

    def exact(self, player=0, discount=1):
        column = player if self.model.num_players > 2 else 0
        return Exact(self.model, column, discount, self.chances)

    def size(self):
        """The largest number that is earned or paid."""
        numbers = (self.model.rewards, self.model.payoffs, [self.model.constant_sum])
        return max(np.abs(each).max(initial=0.0) for each in numbers)


def cancelling(rng, chances, scale):
    """Return numbers whose mean is all but 0."""
    numbers = [rng.choice([1.0, -1.0]) * rng.uniform(0.5, 1) * scale for _ in chances]
    if len(numbers) > 1:
        mean = sum(Fraction(x) * p for x, p in zip(numbers[:-1], chances[:-1], strict=True))
        numbers[-1] = float(-mean / chances[-1])
    return numbers


def random_case(rng, kind, constant_sums, *, ends=True):
    """Return a case; where play has ends, each choice may lead to one."""
    inner, players = rng.randint(1, 3), 3 if kind == "three" else 2
    scale = rng.choice([1.0, 700.0, 1e15, 1e-200, 1e100])
    counts = [rng.randint(1, 3) for _ in range(inner)]
    owners = [rng.randrange(players) for _ in range(inner)]
    rows, ending = [], parts(rng, 2)
    for _ in range(sum(counts)):
        if ends and rng.random() < 0.3:
            rows.append(([inner, inner + 1], ending, [1, 1]))
            continue
        reached = rng.sample(range(inner), rng.randint(1, min(2, inner)))
        if ends:
            reached += rng.sample([inner, inner + 1], rng.randint(1, 2))
        elif 0 not in reached:
            reached.append(0)
        signs = [rng.choice([1, -1]) if kind == "swaps" else 1 for _ in reached]
        rows.append((reached, parts(rng, len(reached)), signs))
    shares = [[] for _ in range(players)]
    for count in counts:
        for row in shares:
            taken = sorted(rng.sample(range(count), rng.randint(1, count)))
            given = dict(zip(taken, parts(rng, len(taken)), strict=True))
            row.extend(given.get(place, Fraction(0)) for place in range(count))
    columns = players if players == 3 else 1
    rewards = np.zeros((sum(counts), columns))
    offsets = np.cumsum([0, *counts])
    for column in range(columns):
        for owner, (first, stop) in zip(owners, itertools.pairwise(offsets), strict=True):
            chances = [share for share in shares[owner][first:stop] if share]
            if len(chances) == 1 and rng.random() < 0.7:
                continue  # nothing to be cancelled by
            taken = [choice for choice in range(first, stop) if shares[owner][choice]]
            rewards[taken, column] = cancelling(rng, chances, scale)
    if rng.random() < 0.3:
        rewards[:] = 0.0
    payoffs = np.zeros((2, columns))
    for column in range(columns if rng.random() < 0.7 else 0):
        payoffs[:, column] = cancelling(rng, ending, scale)
    starts = rng.sample(range(inner), rng.randint(1, inner))
    cuts = sorted(rng.sample(range(1, 64), len(starts) - 1))
    weights = [(high - low) / 64 for low, high in itertools.pairwise([0, *cuts, 64])]
    model = gamedp.Model.from_arrays(
        np.cumsum([0, *counts, *[0] * (2 * ends)]),
        np.cumsum([0, *(len(reached) for reached, _, _ in rows)]),
        [state for reached, _, _ in rows for state in reached],
        [sign * float(p) for row in rows for p, sign in zip(*row[1:], strict=True)],
        players=owners + [0] * (2 * ends),
        rewards=rewards if columns > 1 else rewards[:, 0],
        terminals=[inner, inner + 1] if ends else [],
        payoffs=(payoffs if columns > 1 else payoffs[:, 0])[: 2 * ends],
        num_players=players,
        constant_sum=rng.choice(constant_sums) * scale,
        initial=[
            ((-p if kind == "swaps" and rng.random() < 0.5 else p), state)
            for p, state in zip(weights, starts, strict=True)
        ],
    )  # fmt: skip
    policies = [
        gamedp.Policy(model, [*map(float, row)], f"policy {player}")
        for player, row in enumerate(shares)
    ]
    return Case(model, [p for _, chances, _ in rows for p in chances], policies, shares)


def between(bounds, truth, room):
    low, high = map(float, bounds)
    assert Fraction(low) <= truth <= Fraction(high), (low, float(truth), high)
    assert high - low <= room, (low, high, room)


def other_side(case, objective, number, player):
    """Return what is the player's, of what is player 0's."""
    if player == 0 or case.model.num_players > 2:
        return number
    has_sum = isinstance(objective, gamedp.TotalReward)
    return Fraction(case.model.constant_sum if has_sum else 0.0) - number


def check_values(case, objective, own, best, room):
    """Hold values, answers, gains and tables against exact numbers.

    `own` has the value of a player's column by its number; `best` what the player attains.
    """
    model, policies = case.model, case.policies
    found, gains = gamedp.evaluate(model, policies, objective), []
    for player in case.players:
        truth = other_side(case, objective, own(player), player)
        between(found.bounds(player=player), truth, room)
        low, high = found.bounds(player=player)
        assert low <= found.value(player=player) <= high
        answer = other_side(case, objective, best(player), player)
        others = policies[:player] + policies[player + 1 :]
        between(gamedp.best_response(model, others, player, objective).bounds(), answer, room)
        gains.append(answer - truth)
    exploited = gamedp.exploitability(model, policies, objective)
    for bounds, gain in zip(exploited.gains, gains, strict=True):
        between(bounds, gain, 2 * room)
    between(exploited.nash_conv, sum(gains), 6 * room)
    between((exploited.lower, exploited.upper), sum(gains) / len(gains), 2 * room)
    return found


def check_table(case, objective, exact, room):
    """Hold a table of three policies against exact numbers, with its means."""
    model = case.model
    if model.num_players != 2:
        return
    named = {"one": 0, "other": 1}
    table = gamedp.cross_table(
        model, {name: case.policies[place] for name, place in named.items()}, objective
    )
    firsts = {
        (one, other): exact([case.shares[named[one]], case.shares[named[other]]])
        for one in named
        for other in named
    }
    for (one, other), truth in firsts.items():
        between(table.bounds(one, other), truth, room)
    low, high = table.mean_bounds
    for place, (one, other) in enumerate((("one", "other"), ("other", "one"))):
        second = other_side(case, objective, firsts[other, one], 1)
        between((low[place], high[place]), (firsts[one, other] + second) / 2, 2 * room)
        assert low[place] <= table.means[place] <= high[place]


def check_actions(case, exact, values, found, room):
    """Hold what follows each action against exact numbers, in all states that are not swapped."""
    for state in range(case.model.num_states):
        try:
            between(found.bounds(state), values[state, 0], 4 * room)
            actions = found.action_values(state)
        except UnknownStateError:
            continue
        for one, choice in zip(actions, exact.choices(state), strict=True):
            between((one.lower, one.upper), exact.worth(choice, 0, values), 4 * room)
            assert one.lower <= one.value <= one.upper


def totals(rng, kind):
    case = random_case(rng, kind, (0.0, 1.0, 0.1) if kind == "swaps" else (0.0,))
    room = 1e-8 + 1e-9 * case.size()

    def best(player):
        sign = -1 if player == 1 and kind != "three" else 1
        return case.exact(player).of_response(case.shares, player, sign)

    found = check_values(
        case, gamedp.TotalReward(), lambda p: case.exact(p).of_policies(case.shares),
        best, room,
    )  # fmt: skip
    check_table(case, gamedp.TotalReward(), case.exact().of_policies, room)
    exact = case.exact()
    check_actions(case, exact, exact.values(exact.following(case.shares)), found, room)
    check_counts(case, exact, found)


def check_counts(case, exact, found):
    """Hold visits, lengths and distributions against exact numbers."""
    plies = exact.survival(case.shares, 8)
    survival = found.survival(8)
    for bounds, truth in zip(
        zip(survival.lower.tolist(), survival.upper.tolist(), strict=True), plies, strict=True
    ):
        between(bounds, truth, 1e-12)
    visits = exact.visits(case.shares)
    lower, upper = found.visits()
    chain, seen = found.chain, 0
    for number in range(chain.num_nodes):
        node = chain.state(number), int(chain.is_changed(number))
        between((lower[number], upper[number]), visits[node], 1e-8)
        seen += visits[node]
    ends = sum(number for (state, _), number in visits.items() if state in exact.ends)
    assert ends == 1
    between(found.mean_plies_bounds, seen - 1, 1e-6)
    if case.model.rewards.any():
        return
    for player in case.players:
        own, likely = case.exact(player), {}
        for (state, side), number in visits.items():
            if state in own.ends and number:
                paid = other_side(case, gamedp.TotalReward(), own.paid(state, side), player)
                likely[float(paid)] = likely.get(float(paid), 0) + number
        known = found.distribution(player)
        for paid, number in likely.items():
            nearest = [
                bounds for key, bounds in known.items() if abs(key - paid) <= 1e-12 * abs(paid)
            ]
            low, high = (sum(each) for each in zip(*nearest, strict=True))
            assert low - 1e-15 <= number <= high + 1e-15
            assert high - low < 1e-7


def discounted(rng, kind):
    case, discount = random_case(rng, kind, (0.0,)), rng.choice(DISCOUNTS)
    objective = gamedp.Discounted(discount)
    room = 1e-8 + 1e-9 * case.size()

    def best(player):
        sign = -1 if player == 1 and kind != "three" else 1
        return case.exact(player, discount).of_response(case.shares, player, sign)

    found = check_values(
        case, objective, lambda p: case.exact(p, discount).of_policies(case.shares), best, room
    )
    exact = case.exact(0, discount)
    check_table(case, objective, exact.of_policies, room)
    check_actions(case, exact, exact.values(exact.following(case.shares)), found, room)


def horizons(rng, kind):
    case, objective = random_case(rng, kind, (0.0,)), gamedp.FiniteHorizon(HORIZON)
    room = 1e-8 + 1e-9 * case.size()

    def attained(player, free=None):
        exact = case.exact(player)
        sign = -1 if player == 1 and kind != "three" else 1
        return exact.at_start(exact.after_steps(HORIZON, case.shares, free, sign))

    check_values(case, objective, attained, lambda player: attained(player, player), room)

    def of_pair(pair):
        exact = case.exact()
        return exact.at_start(exact.after_steps(HORIZON, pair))

    check_table(case, objective, of_pair, room)


def averages(rng, kind):
    case = random_case(rng, kind, (0.0,), ends=False)
    found = gamedp.evaluate(case.model, case.policies, gamedp.AverageReward())
    room = 1e-8 + 1e-6 * case.size()
    for player in case.players:
        truth = case.exact(player).average(case.shares)
        between(
            found.bounds(player=player), -truth if player == 1 and kind == "two" else truth, room
        )


def targets(rng, kind):
    case = random_case(rng, kind, (0.0,))
    model = case.model
    target = np.array([rng.random() < 0.4 for _ in range(model.num_states)])
    target[-1] = True
    objective, exact = gamedp.Reachability(target), case.exact()
    found = gamedp.evaluate(model, case.policies, objective)
    between(found.bounds(), exact.at_start(exact.reach(case.shares, target)), 1e-7)
    pure = []
    for taken in itertools.product(*(exact.choices(s) for s in range(model.num_states - 2))):
        own = [Fraction(choice in taken) for choice in range(model.num_choices)]
        pure.append(exact.at_start(exact.reach([own, case.shares[1]], target)))
    answer = gamedp.best_response(model, case.policies[1], 0, objective)
    between(answer.bounds(), max(pure), 1e-7)


CHECKS = [
    *(
        (check, kind)
        for check in (totals, discounted, horizons)
        for kind in ("two", "swaps", "three")
    ),
    (averages, "two"),
    (averages, "three"),
    (targets, "two"),
]


@pytest.mark.parametrize(
    ("check", "kind"), CHECKS, ids=lambda each: getattr(each, "__name__", each)
)
def test_every_bound_contains_the_exact_number(check, kind):
    for seed in range(GAMES):
        check(random.Random(f"{check.__name__} {kind} {seed}"), kind)  # noqa: S311 - games, no secrets


@pytest.mark.deep
@pytest.mark.parametrize(
    ("check", "kind"), CHECKS, ids=lambda each: getattr(each, "__name__", each)
)
def test_every_bound_of_many_games_contains_the_exact_number(check, kind):
    for seed in range(MANY):
        check(random.Random(f"many {check.__name__} {kind} {seed}"), kind)  # noqa: S311 - likewise


TWO_LOOPS = [
    ([7682634567168466.0, -4824547939636795.0], [Fraction(395, 1024), Fraction(629, 1024)]),
    ([700.0, -300.0], [Fraction(3, 10), Fraction(7, 10)]),
]
"""Rewards of two loops, and how likely they are taken: all but nothing is earned on average."""


@pytest.mark.parametrize(("rewards", "shares"), TWO_LOOPS)
@pytest.mark.parametrize("objective", [gamedp.Discounted(0.5), gamedp.FiniteHorizon(5)], ids=repr)
def test_rewards_that_cancel_under_a_policy_with_chance(objective, rewards, shares):
    """Of player 1, whose policy it is; player 0 has a move that changes nothing."""
    model = gamedp.Model.from_arrays(
        [0, 1, 3], [0, 1, 2, 3], [1, 0, 0], [1.0] * 3,
        rewards=[0.0, *rewards], players=[0, 1], num_players=2, initial=1,
    )  # fmt: skip
    mixed = gamedp.Policy(model, [1.0, *map(float, shares)], "mixed")
    discount = getattr(objective, "discount", 1.0)
    found = gamedp.evaluate(model, [mixed, mixed], objective)
    size = max(map(abs, rewards))
    # As it was meant, and as it is stored.
    for chances in (shares, [*map(Fraction, map(float, shares))]):
        exact = Exact(model, 0, discount)
        own = [[Fraction(1), *chances]] * 2
        truth = exact.at_start(
            exact.after_steps(5, own) if discount == 1 else exact.values(exact.following(own))
        )
        answer = gamedp.best_response(model, mixed, 0, objective)
        table = gamedp.cross_table(model, {"mixed": mixed}, objective)
        for bounds in (found.bounds(), answer.bounds(), table.bounds("mixed", "mixed")):
            between(bounds, truth, 1e-14 * size)
    assert (found.status is gamedp.Status.ROUNDING) == (size > 1e9)
    gains = gamedp.exploitability(model, [mixed, mixed], objective).gains
    assert 0 <= gains[0][0] <= gains[0][1] <= 1e-13 * size


def test_outcomes_that_cancel_after_an_action():
    chances, paid = [Fraction(3, 11), Fraction(8, 11)], [8e15, -3e15]
    model = gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 2], [1, 2], [*map(float, chances)], terminals=[1, 2], payoffs=paid
    )
    (one,) = gamedp.evaluate(model, gamedp.Policy.uniform(model)).action_values()
    stored = sum(Fraction(p) * Fraction(x) for p, x in zip(model.probabilities, paid, strict=True))
    for truth in (0, stored):
        between((one.lower, one.upper), truth, 30)


def test_the_second_players_actions_have_no_value_where_it_does_not_follow():
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [1.0], players=[0, 0], terminals=[1], payoffs=[0.25],
        num_players=2, constant_sum=1.0,
    )  # fmt: skip
    uniform = gamedp.Policy.uniform(model)
    found = gamedp.evaluate(model, [uniform, uniform], gamedp.Discounted(0.5))
    assert found.action_values()[0].value == 0.125
    with pytest.raises(UnsupportedProblemError, match="do not add up"):
        found.action_values(player=1)  # 0.375, not 1 less what the first one gets


@pytest.mark.parametrize("objective", [gamedp.Discounted(0.5), gamedp.FiniteHorizon(3)], ids=repr)
def test_probabilities_that_are_products_count_as_they_are_off(objective):
    model = gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 3], [0, 1, 2], [0.25, 0.5, 0.25], rewards=[3.0],
        terminals=[1, 2], payoffs=[4.0, -1.0],
    )  # fmt: skip
    off = Fraction(1, 10**6)
    found = solved_problem(gamedp.Problem(model, objective), 1e-9, probabilities_off=float(off))
    stored = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    for sign in (1, -1):
        chances = [stored[0] * (1 - sign * off), stored[1] * (1 + sign * off), stored[2]]
        chances[2] = 1 - chances[0] - chances[1]
        exact = Exact(model, 0, getattr(objective, "discount", 1), chances)
        everything = exact.following([[Fraction(1)]] * 2)
        values = (
            exact.values(everything)
            if hasattr(objective, "discount")
            else exact.after_steps(3, [[Fraction(1)]] * 2)
        )
        between(found.bounds(0), values[0, 0], 1e-4)


def test_only_what_is_multiplied_is_off():
    model = gamedp.Model.from_arrays([0, 2], [0, 1, 2], [0, 0], [1.0, 1.0], rewards=[3.0, 1.0])
    for numbers, is_mixed in (([0.5, 0.5], True), ([1.0, 0.0], False)):
        process = InducedChain(model, [gamedp.Policy(model, numbers)]).process
        even = even_steps(process, gamedp.Discounted(0.5))
        assert (even.probabilities_off >= 5 * UNIT) == is_mixed
        assert (even.model.rounding[1] > 0) == is_mixed
        assert even.model.rewards.tolist() == [2.0 if is_mixed else 3.0]


def test_products_are_off_by_the_values_that_follow_and_not_by_those_that_are_left():
    """After two steps, all have earned nothing; with one to go, each is worth 1000, or costs it."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 3, 4, 5], [0, 2, 3, 4, 5, 6], [1, 2, 3, 4, 1, 2], [0.5, 0.5, *[1.0] * 4],
        rewards=[0.0, 1000.0, -1000.0, -1000.0, 1000.0],
    )  # fmt: skip
    problem = gamedp.Problem(model, gamedp.FiniteHorizon(2))
    assert solved_problem(problem, 1e-9).values.tolist() == [0.0] * 5
    low, high = solved_problem(problem, 1e-9, probabilities_off=1e-6).bounds(0)
    truth = 1000 * Fraction(1, 10**6)
    assert low <= -truth < truth <= high


def test_what_the_constant_sum_less_a_payoff_loses_is_in_the_bounds():
    """The players change places on the way to an end, where one of them gets 1e-17 of 1."""
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [-1.0], terminals=[1], payoffs=[1e-17],
        players=[0, 0], num_players=2, constant_sum=1.0,
    )  # fmt: skip
    only, truth = gamedp.Policy.uniform(model), 1 - Fraction(1e-17)
    assert float(truth) == 1.0
    found = gamedp.evaluate(model, [only, only])
    for bounds in (
        found.bounds(),
        gamedp.best_response(model, only).bounds(),
        gamedp.cross_table(model, {"only": only}).bounds("only", "only"),
    ):
        between(bounds, truth, 1e-15)
    (one,) = found.action_values()
    between((one.lower, one.upper), truth, 1e-15)


def test_the_mean_over_the_start_goes_outward():
    model = gamedp.Model.from_arrays(
        [0, 0, 0], [0], [], [], terminals=[0, 1], payoffs=[1e16, 1.0],
        initial=[(0.25, 0), (0.75, 1)],
    )  # fmt: skip
    truth = Fraction(10**16 + 3, 4)
    assert truth != Fraction(float(truth))
    between(gamedp.evaluate(model, gamedp.Policy.uniform(model)).bounds(), truth, 30)
    between(gamedp.solve(model).bounds(), truth, 30)
