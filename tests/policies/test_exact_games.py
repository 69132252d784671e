"""Values, answers, gains and tables of small random games, beside the same in exact fractions.

The games have probabilities and policies in eighths, changes of places, several starts, or three
players. What is compared shares no code with gamedp: linear equations, and policy iteration.
"""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from exact_play import Exact

import gamedp

KINDS = ("two", "swaps", "three")
GAMES = 30
"""Of each kind."""


def eighths(rng, count):
    """Return so many positive numbers that sum to one."""
    cuts = sorted(rng.sample(range(1, 8), count - 1))
    return [(high - low) / 8 for low, high in zip([0, *cuts], [*cuts, 8], strict=True)]


def random_game(rng, kind):
    """A model in which each choice may end play; the last two of its states are ends."""
    inner, players = rng.randint(1, 3), 3 if kind == "three" else 2
    choices = [rng.randint(1, 3) for _ in range(inner)]
    rows = []
    for _ in range(sum(choices)):
        ends = [inner + rng.randrange(2)]
        reached = ends + rng.sample(range(inner), rng.randint(1, min(2, inner)))
        signs = [rng.choice([1, -1]) if kind == "swaps" else 1 for _ in reached]
        rows.append((reached, np.multiply(eighths(rng, len(reached)), signs)))
    shape = (players,) if players == 3 else ()
    numbers = [0.0, 1.0, -2.0, 0.5]
    start = rng.sample(range(inner), rng.randint(1, inner))
    return gamedp.Model.from_arrays(
        np.cumsum([0, *choices, 0, 0]),
        np.cumsum([0, *(len(reached) for reached, _ in rows)]),
        [state for reached, _ in rows for state in reached],
        np.concatenate([chances for _, chances in rows]),
        players=[rng.randrange(players) for _ in range(inner)] + [0, 0],
        rewards=np.array(rng.choices(numbers, k=sum(choices) * max(1, *shape, 1))).reshape(
            sum(choices), *shape
        ),
        terminals=[inner, inner + 1],
        payoffs=np.array(rng.choices(numbers, k=2 * max(1, *shape, 1))).reshape(2, *shape),
        num_players=players,
        constant_sum=1.0 if kind == "swaps" else 0.0,
        initial=[
            ((-p if kind == "swaps" and rng.random() < 0.5 else p), state)
            for p, state in zip(eighths(rng, len(start)), start, strict=True)
        ],
    )


def random_policy(rng, model, name, *, pure=False):
    numbers = np.zeros(model.num_choices)
    offsets = model.choice_offsets.tolist()
    for first, stop in itertools.pairwise(offsets):
        if stop > first:
            taken = rng.sample(range(first, stop), 1 if pure else rng.randint(1, stop - first))
            numbers[taken] = eighths(rng, len(taken))
    return gamedp.Policy(model, numbers, name)


def between(bounds, true):
    low, high = bounds
    assert Fraction(low) <= true <= Fraction(high), (low, float(true), high)
    assert high - low < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_policies_answers_and_gains_are_exact(kind):
    for seed in range(GAMES):
        rng = random.Random(f"{kind} {seed}")  # noqa: S311 - games, no secrets
        model = random_game(rng, kind)
        players = range(model.num_players)
        policies = [random_policy(rng, model, f"policy {player}") for player in players]
        gains = []
        found = gamedp.evaluate(model, policies)
        for player in players:
            exact = Exact(model, player if kind == "three" else 0)
            own, best = (
                exact.of_policies(policies),
                exact.of_response(policies, player, -1 if player == 1 and kind != "three" else 1),
            )
            if player == 1 and kind != "three":
                own, best = (Fraction(model.constant_sum) - value for value in (own, best))
            between(found.bounds(player=player), own)
            others = [policy for place, policy in enumerate(policies) if place != player]
            between(gamedp.best_response(model, others, player).bounds(), best)
            gains.append(best - own)
        for bounds, gain in zip(gamedp.exploitability(model, policies).gains, gains, strict=True):
            between(bounds, gain)


@pytest.mark.parametrize("kind", KINDS[:2])
def test_tables_of_all_pairs_are_exact(kind):
    for seed in range(GAMES):
        rng = random.Random(f"table {kind} {seed}")  # noqa: S311 - games, no secrets
        model = random_game(rng, kind)
        policies = {name: random_policy(rng, model, name) for name in "abc"}
        table, exact = gamedp.cross_table(model, policies), Exact(model)
        for one, row in policies.items():
            for other, column in policies.items():
                between(table.bounds(one, other), exact.of_policies([row, column]))


def test_discounted_answers_to_policies_with_chance_are_exact():
    discount = gamedp.Discounted(0.875)
    for seed in range(GAMES):
        rng = random.Random(f"discount {seed}")  # noqa: S311 - games, no secrets
        model = random_game(rng, "two")
        policies = [random_policy(rng, model, name) for name in "ab"]
        exact = Exact(model, discount=0.875)
        between(gamedp.evaluate(model, policies, discount).bounds(), exact.of_policies(policies))
        for player, sign in ((0, 1), (1, -1)):
            response = gamedp.best_response(model, policies[1 - player], player, discount)
            between(response.bounds(), sign * exact.of_response(policies, player, sign))


def test_answers_to_a_field_lie_between_those_to_its_mixture_and_to_who_is_told():
    for seed in range(GAMES):
        rng = random.Random(f"field {seed}")  # noqa: S311 - games, no secrets
        model = random_game(rng, "two")
        weights = eighths(rng, 3)
        field = [random_policy(rng, model, name, pure=True) for name in "abc"]
        found = gamedp.best_response(model, dict(zip(field, weights, strict=True)))
        exact = Exact(model)
        told = sum(
            Fraction(weight) * exact.of_response([None, policy], 0, 1)
            for weight, policy in zip(weights, field, strict=True)
        )
        between(found.told, told)
        assert found.bounds()[0] <= told
        for _ in range(4):  # no policy without a memory does better
            own = random_policy(rng, model, "own", pure=True)
            mean = sum(
                Fraction(weight) * exact.of_policies([own, policy])
                for weight, policy in zip(weights, field, strict=True)
            )
            assert mean <= found.bounds()[1]
