"""The first look of the checker: all that it settles is so in exact arithmetic."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from forging import claimed, forged
from hypothesis import HealthCheck, given, settings, strategies as st

import gamedp
from gamedp.certificates.checking import first_look
from gamedp.certificates.checking.bounds import progresses
from gamedp.certificates.checking.choice_values import Rows, exact_choice_value, exactly_keeps
from gamedp.certificates.checking.directions import oriented
from gamedp.certificates.checking.first_look import look
from gamedp.errors import CertificateError, InvalidModelError
from gamedp.games.wubbel import Wubbel
from gamedp.model.objectives import resolved
from gamedp.testing.models import random_model
from gamedp.testing.strategies import models

SHARES = [[0.5, 0.5], [0.25, 0.75], [0.1, 0.2, 0.7], [1 / 3] * 3, [1 / 17] * 17, [1.0]]


def settled(model, certificate):
    """Return both sides, and which of their states are settled; (S,) each."""
    with np.errstate(all="ignore"):
        sides = [oriented(model, certificate, certificate.objective, sign) for sign in (1.0, -1.0)]
        left = look(model, sides)
    return [(side, side.required & ~its) for side, its in zip(sides, left, strict=True)]


def is_right(model, side, state):
    """Say whether a state keeps its bound by choices that its rank allows, in rationals."""
    with np.errstate(all="ignore"):
        progress = progresses(model, side, Rows.of(model, np.array([state])))
    good = [
        bool(does) and exactly_keeps(model, side, choice)
        for does, choice in zip(
            progress, range(*model.choice_offsets[state : state + 2].tolist()), strict=True
        )
    ]
    return any(good) if side.maximise[state] else all(good)


def wrongly_settled(model, certificate):
    """Return the states that are settled and wrong, and how many are settled."""
    found = [
        (side.name, state)
        for side, done in settled(model, certificate)
        for state in np.flatnonzero(done).tolist()
    ]
    sides = {side.name: side for side, _ in settled(model, certificate)}
    return [place for place in found if not is_right(model, sides[place[0]], place[1])], len(found)


def close_claims(rng, discount, *, constant=None, scale=1.0):
    """Return a model with one step to go, and claims about it a few units off what is exact."""
    shares = [SHARES[i] for i in rng.integers(len(SHARES), size=150)]
    counts = [len(each) for each in shares]
    count = len(shares)
    ends = np.arange(count, count + 40)
    signs = np.ones(sum(counts)) if constant is None else rng.choice([-1.0, 1.0], sum(counts))
    payoffs = rng.choice([rng.uniform(-2, 2, 40), np.exp(rng.uniform(-40, 3, 40))]) * scale
    model = gamedp.Model.from_arrays(
        np.append(np.arange(count), [count] * 41),
        np.cumsum([0, *counts]),
        np.concatenate([rng.choice(ends, each, replace=False) for each in counts]),
        np.concatenate(shares) * signs,
        rewards=rng.choice([0.0, 1.0, 1 / 3, -1e3], count) * scale,
        terminals=ends,
        payoffs=payoffs,
        num_players=1 if constant is None else 2,
        players=None if constant is None else rng.integers(0, 2, count + 40),
        constant_sum=constant or 0.0,
    )
    objective = gamedp.TotalReward() if discount == 1 else gamedp.Discounted(discount)
    values = np.append(np.zeros(count), payoffs)
    ranks = np.append(np.ones(count, np.int64), np.zeros(40, np.int64))
    ranked = {"lower_ranks": ranks, "upper_ranks": ranks} if discount == 1 else {}
    claim = claimed(
        objective=objective, lower=values, upper=values, digest=model.digest(), **ranked
    )
    pair = []
    for side, _ in settled(model, claim):
        near = values.copy()
        for state in range(count):
            bound = float(exact_choice_value(model, side, side.inequalities[0], state))
            for _ in range(int(rng.integers(0, 14))):
                bound = np.nextafter(bound, -np.inf)
            near[state] = side.sign * bound
        pair.append(near)
    return model, forged(claim, lower=pair[0], upper=pair[1])


@pytest.mark.parametrize(
    ("discount", "constant"),
    [
        *((1.0, constant) for constant in (None, 0.0, 1.0, 1e6)),
        *((discount, constant) for discount in (0.9, 1 - 1e-9) for constant in (None, 0.0)),
    ],
)
def test_what_is_settled_is_right(discount, constant):
    """Bounds within a few units in the last place of what they may be."""
    rng = np.random.default_rng(1)
    total = 0
    for trial in range(4):
        scale = (1.0, 1e-200, 1e200, 2.0**-690)[trial]
        model, certificate = close_claims(rng, discount, constant=constant, scale=scale)
        wrong, count = wrongly_settled(model, certificate)
        assert not wrong
        total += count
    assert total >= 100


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("constant", [None, 0.0])
def test_slices_do_not_matter_and_rare_numbers_of_outcomes_are_left_open(
    monkeypatch, constant, few, alike
):
    if alike:
        monkeypatch.setitem(globals(), "SHARES", SHARES[:2])
    rng = np.random.default_rng(2)
    model, certificate = close_claims(rng, 1.0, constant=constant)
    lower, upper, inner = certificate.lower, certificate.upper, np.diff(model.choice_offsets) > 0
    off = inner * np.where(np.arange(model.num_states) % 3, 1e-6, -1e-6)  # not by roundings alone
    lower, upper = lower - off * (1 + np.abs(lower)), upper + off * (1 + np.abs(upper))
    if few:  # only these are looked at
        lower[inner & (np.arange(model.num_states) % 5 > 0)] = -np.inf
    certificate = forged(certificate, lower=lower, upper=upper)
    whole = [done for _, done in settled(model, certificate)]
    for size in (1, 20):
        monkeypatch.setattr(first_look, "SLICE", size)
        for done, expected in zip(settled(model, certificate), whole, strict=True):
            assert np.array_equal(done[1], expected)
    if alike:
        return
    monkeypatch.setattr(first_look, "MOST_GROUPS", 2)
    counts = np.diff(model.transition_offsets)
    common = np.argsort(np.bincount(counts) * np.arange(counts.max() + 1))[-2:]
    kept = np.append(np.isin(counts, common), np.zeros(40, np.bool_))
    for done, expected in zip(settled(model, certificate), whole, strict=True):
        assert np.array_equal(done[1], expected & kept)
        assert 0 < (expected & kept).sum() < expected.sum()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models() | models(hard=True), st.integers(0, 2**32 - 1), st.booleans())
def test_ranks_and_bounds_at_random(model, seed, reaches):
    """Whatever is settled of claims drawn at random is right: by its bounds, and by its ranks."""
    rng = np.random.default_rng(seed)
    size = model.num_states
    objective = gamedp.TotalReward()
    if reaches and not model.has_swaps:
        objective = gamedp.Reachability(rng.choice(size, 1), optimum=("min", "max")[seed % 2])
    numbers = rng.choice([-1.0, -0.5, 0.0, 0.0, 0.25, 0.5, 1.0, np.inf, -np.inf], 3)
    ends = rng.choice([*numbers, *model.payoffs.tolist()], 2 * size)
    ranks = rng.integers(rng.integers(-1, 2), rng.integers(2, 4), 2 * size)
    drifts = rng.choice([-np.inf, 0.0, -0.5], size)
    rest = rng.choice([0.0, 0.0, 0.25], (1, size)) * np.isfinite(ends[:size])
    claim = claimed(
        objective=resolved(objective, model),
        lower=ends[:size],
        upper=ends[size:],
        lower_ranks=ranks[:size],
        upper_ranks=ranks[size:],
        lower_gains=rng.integers(-1, 3, size) if seed % 3 else None,
        bias_lower=drifts if seed % 5 == 1 and not model.has_swaps and not reaches else None,
        lower_rest=rest if seed % 5 == 2 else None,
        digest=model.digest(),
    )
    wrong, _ = wrongly_settled(model, claim)
    assert not wrong


def test_it_settles_what_usual_solvers_prove():
    """Or else the rest of the checker would have all to do."""
    for model, objective in (
        (gamedp.compile(Wubbel(goal=12), compile="never"), None),
        (random_model(1, num_states=300, end_components=False), None),
        (random_model(5, num_states=300), gamedp.AverageReward()),
        (random_model(6, num_states=300), gamedp.Discounted(0.9)),
    ):
        certificate = gamedp.certify(gamedp.solve(model, objective))
        for side, done in settled(model, certificate):
            assert done.sum() >= side.required.sum() - 5


def test_many_numbers_of_outcomes():
    """Choices whose number of outcomes is rare are left to the rest of the checker."""
    counts = np.arange(1, 31)
    ends = np.arange(30, 60)
    payoffs = np.linspace(0, 1, 30)
    rows = [np.full(count, 1 / count) for count in counts]
    model = gamedp.Model.from_arrays(
        np.append(np.arange(30), [30] * 31),
        np.cumsum([0, *counts]),
        np.concatenate([ends[:count] for count in counts]),
        np.concatenate(rows),
        terminals=ends,
        payoffs=payoffs,
    )
    certificate = gamedp.certify(gamedp.solve(model))
    gamedp.verify(model, certificate)
    done = settled(model, certificate)[0][1]
    assert not done[:30].all()
    for state in range(30):
        lower = certificate.lower.copy()
        lower[state] += 1e-13
        with pytest.raises(CertificateError, match=rf"lower\[{state}\]"):
            gamedp.verify(model, forged(certificate, lower=lower))


@pytest.mark.parametrize("player", [0, 1])
def test_probabilities_that_do_not_sum_to_one_are_refused(player):
    """Also where the bounds would settle all, or ask for nothing."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2, 2], [0, 2, 4], [1, 2, 1, 2], [0.5] * 4, terminals=[1, 2], payoffs=[0.0, 0.0],
        players=[player] * 3, num_players=2,
    )  # fmt: skip
    probabilities = np.array([0.5, 0.5, 0.5, 0.25])
    broken = attrs.evolve(model)
    object.__setattr__(
        broken, "probabilities", probabilities
    )  # no other way passes the model's checks
    zeros, ranks = np.zeros(3), np.array([1, 0, 0])
    for lower in (zeros, np.array([-np.inf, 0, 0])):
        claim = claimed(
            objective=gamedp.TotalReward(), lower=lower, upper=-lower,
            lower_ranks=ranks, upper_ranks=ranks, digest=broken.digest(),
        )  # fmt: skip
        with pytest.raises(InvalidModelError, match="do not sum to one"):
            gamedp.verify(broken, claim)


def test_rounding_and_probabilities_that_are_off_add_up():
    """Of differences near a half, to means whose last digits are dropped: all ways to be off."""
    unit = 2.0**-53
    parts = np.arange(0, 4, 0.25) * unit
    lows, rewards = (each.ravel() for each in np.meshgrid(2.0**-70 - parts, parts - 0.5))
    count = len(lows)
    payoffs = np.append(lows, 1.0)
    model = gamedp.Model.from_arrays(
        np.append(np.arange(count), [count] * (count + 2)),
        np.arange(0, 2 * count + 1, 2),
        np.stack([count + np.arange(count), np.full(count, 2 * count)], axis=1).ravel(),
        np.full(2 * count, 0.5),
        rewards=rewards,
        terminals=count + np.arange(count + 1),
        payoffs=payoffs,
    )
    ranks = np.append(np.ones(count, np.int64), np.zeros(count + 1, np.int64))
    values = np.append(np.zeros(count), payoffs)
    claim = claimed(
        objective=gamedp.TotalReward(), lower=values, upper=values, lower_ranks=ranks,
        upper_ranks=ranks, digest=model.digest(),
    )  # fmt: skip
    side = settled(model, claim)[0][0]
    exact = [exact_choice_value(model, side, side.inequalities[0], state) for state in range(count)]
    for off in np.arange(-12, 13) * 0.25 * unit:
        lower = np.append([float(each) + off for each in exact], payoffs)
        done = settled(model, forged(claim, lower=lower))[0][1]
        assert all(lower[state] <= exact[state] for state in np.flatnonzero(done))
    assert done.sum() == 0


def in_a_circle(rewards, bound, **more):
    """Return a model of two states that lead to each other, and a claim of rank 1 about them."""
    model = gamedp.Model.from_arrays([0, 1, 2], [0, 1, 2], [1, 0], [1.0, 1.0], rewards=rewards)
    ranks = np.ones(2, np.int64)
    claim = claimed(
        objective=gamedp.TotalReward(), lower=np.full(2, bound), upper=np.full(2, np.inf),
        lower_ranks=ranks, upper_ranks=ranks, digest=model.digest(), **more,
    )  # fmt: skip
    return model, claim


def test_who_stays_at_a_rank_has_to_earn():
    """Or to be content; and where numbers say how much is earned, more than they fall."""
    for rewards, bound, drifts, count in (
        ([1.0, 1.0], 1.0, None, 2),
        ([1.0, 1.0], 1.0, [5.0, 0.0], 0),
        ([0.0, 0.0], 1.0, None, 0),
    ):
        more = {} if drifts is None else {"bias_lower": np.array(drifts)}
        model, claim = in_a_circle(rewards, bound, **more)
        assert settled(model, claim)[0][1].sum() == count


def test_escapes_are_left_to_the_rest_of_the_checker():
    """They are asked for besides all else."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 1, 2], [2, 1], [1.0, 1.0], rewards=[0.0, -1.0], terminals=[2],
        payoffs=[0.0],
    )  # fmt: skip
    claim = claimed(
        objective=resolved(gamedp.TotalReward(until=[2]), model), lower=np.zeros(3),
        upper=np.array([0.0, -np.inf, 0.0]), lower_ranks=np.array([1, 1, 0]),
        upper_ranks=np.array([1, 1, 0]), digest=model.digest(),
    )  # fmt: skip
    (_, _), (side, done) = settled(model, claim)
    assert side.escapes is not None
    assert not done.any()


def with_many_zeros():
    """Return a model, most of which the target need not be reached from, and a certificate."""
    model = random_model(3, num_states=300)
    objective = gamedp.Reachability(np.array([300]), optimum="min")
    return model, gamedp.certify(gamedp.solve(model, objective))


def test_who_loses_nothing_by_endless_play_needs_no_sums(monkeypatch):
    """It is enough that nothing less can follow."""
    model, certificate = with_many_zeros()
    monkeypatch.setattr(first_look, "_does", lambda _model, _quick, group: group.slack < 0)
    (_, done_below), (side, done) = settled(model, certificate)
    assert not done_below.any()
    lasts = side.required & (side.bound == 0) & (certificate.evidence["upper_ranks"] == -1)
    assert np.array_equal(done, lasts)
    assert lasts.sum() > 200
    wrong, _ = wrongly_settled(model, certificate)
    assert not wrong


@pytest.mark.parametrize("num_players", [1, 2])
@pytest.mark.parametrize("rewarded", [False, True])
def test_forged_claims_to_lose_nothing(rewarded, num_players):
    """Of bounds that are zero where they must not be: nothing wrong is settled, all is refused."""
    rng = np.random.default_rng(5)
    model = random_model(3, num_states=120, num_players=num_players)
    objective = gamedp.Reachability(np.array([120]), optimum="min")
    if rewarded:
        objective = gamedp.TotalReward()
        rewards = rng.choice([0.0, 0.0, 0.0, 1.0, -1.0], model.num_choices)
        model = attrs.evolve(model, rewards=rewards)
    ends = np.diff(model.choice_offsets) == 0
    counts = {"right": 0, "refused": 0}
    for _ in range(20):
        bounds = np.where(rng.random(model.num_states) < rng.uniform(0.4, 1), 0.0, 1.0)
        bounds[ends] = model.payoffs if rewarded else np.arange(model.num_states)[ends] == 120
        ranks = np.where(ends, 0, -1)
        claim = claimed(
            objective=resolved(objective, model), upper=bounds,
            lower=np.full(model.num_states, -np.inf),
            lower_ranks=ranks, upper_ranks=ranks, digest=model.digest(),
        )  # fmt: skip
        wrong, count = wrongly_settled(model, claim)
        assert not wrong
        counts["right"] += count
        side, _ = settled(model, claim)[1]
        if not all(is_right(model, side, state) for state in np.flatnonzero(side.required)):
            with pytest.raises(CertificateError, match=r"upper\["):
                gamedp.verify(model, claim)
            counts["refused"] += 1
    assert counts["right"] > 0
    assert counts["refused"] > 0


def test_probabilities_are_summed_where_nothing_else_is_asked_of_them():
    """Who loses nothing whatever they are has to have some."""
    model, certificate = with_many_zeros()
    state = int(np.flatnonzero((certificate.upper == 0) & (np.diff(model.choice_offsets) > 0))[0])
    there = model.transition_offsets[model.choice_offsets[state]]
    broken = attrs.evolve(model)
    object.__setattr__(broken, "probabilities", model.probabilities.copy())
    broken.probabilities[there] *= 1.001
    with pytest.raises(InvalidModelError, match="do not sum to one"):
        gamedp.verify(broken, forged(certificate, digest=broken.digest()))
