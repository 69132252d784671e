"""Bounds finer than doubles, and totals that are minus infinity: made, accepted, and mutated."""

import itertools
import math
import pickle
from fractions import Fraction

import attrs
import numpy as np
import pytest
from depth import first_of
from forging import claimed, forged
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from solving import assert_contains, solve_best_effort

import gamedp
from gamedp.certificates.checking.choice_values import choice_values, exact_choice_value, slices
from gamedp.certificates.checking.directions import oriented
from gamedp.certificates.making.ranks import FirstLook, Ranking
from gamedp.certificates.making.refinement import Refining, _two_less, cut
from gamedp.errors import CertificateError
from gamedp.reduction.unfolding import fix
from gamedp.testing import exact_values
from gamedp.testing.models import GamblersRuin, SlowChain, random_model
from gamedp.testing.strategies import models

relaxed = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
EXACT = gamedp.solvers.ExactPolicyIteration()


# Where play lasts long ---------------------------------------------------------------------------


@pytest.mark.parametrize("length", [20, 40, 60, 100])
@pytest.mark.parametrize(
    "solver", [EXACT, gamedp.solvers.TopologicalValueIteration()], ids=["exact", "tvi"]
)
def test_slow_chains_are_certified(length, solver):
    """Play lasts 2**length steps: a unit in the last place of each may come to anything."""
    game = SlowChain(length)
    model = gamedp.compile(game, compile="never")
    solution = solve_best_effort(model, game.objective, solver)
    certificate = gamedp.certify(solution)
    verified = gamedp.verify(model, certificate)
    if length > 20 or solution.exact is not None:
        assert verified.width < 1e-12
        assert certificate.evidence["lower_rest"] is not None
    exact = solve_best_effort(model, game.objective, EXACT)
    assert_contains(certificate, exact.exact)
    assert abs(exact.exact_value(game.initial_state()) - Fraction(7, 10)) < 1e-15


def test_the_ruin_of_a_gambler_is_certified_to_the_last_digits():
    game = GamblersRuin(100)
    model = gamedp.compile(game, compile="never")
    solution = gamedp.solve(model, game.objective, EXACT)
    certificate = gamedp.certify(solution)
    assert_contains(certificate, solution.exact)
    assert gamedp.verify(model, certificate).width < 1e-12


@relaxed
@given(
    models(ends=False, max_states=5),
    st.sampled_from(["max", "min"]),
    st.sampled_from([1.0, 1e300, 1e-300, 5e-324]),
)
def test_exact_values_always_have_a_certificate(model, optimum, scale):
    model = attrs.evolve(model, rewards=model.rewards * scale, payoffs=model.payoffs * scale)
    assume(np.isfinite(model.rewards).all() and np.isfinite(model.payoffs).all())
    assume(model.constant_sum == 0 or model.structure.always_ends)
    problem = gamedp.Problem(model, gamedp.TotalReward(optimum))
    assume(EXACT.supports(problem))
    try:
        solution = gamedp.solve(model, problem.objective, EXACT)
    except gamedp.InvalidModelError:
        return  # beyond the range of doubles
    assert_contains(gamedp.certify(solution), solution.exact)


@pytest.mark.parametrize("seed", range(8))
def test_rare_events_have_certificates(seed):
    model = random_model(seed, num_states=6, num_players=1 + seed % 2, rare=1e-14, near_ties=True)
    objective = gamedp.Reachability(
        [model.num_states - 2], optimum="max" if seed % 4 < 2 else "min"
    )
    truth = gamedp.solve(model, objective, EXACT)
    for solution in (truth, solve_best_effort(model, objective, tolerance=1e-12)):
        assert_contains(gamedp.certify(solution), truth.exact)


@pytest.mark.parametrize("down", [1.7e308, math.inf])
def test_bounds_that_fall_below_all_doubles_are_minus_infinity(down):
    parts = np.array([[[-1.7e308, 1.0], [0.0, 0.25]]])
    with np.errstate(all="ignore"):
        lowered = _two_less(parts, np.array([[down, 0.5]]))
    assert lowered[0, :, 0].tolist() == [-math.inf, 0.0]
    assert lowered[0, :, 1].tolist() == [0.75, 0.0]


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("where", ["bound", "missed"])
def test_what_is_no_number_is_not_made_exact(where, wrong):
    """Sums of more than two doubles are lowered in rational numbers, which know no such things."""
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 2], [0, 1], [0.5, 0.5], rewards=[1.0], terminals=[1], payoffs=[0.0]
    )
    plain = gamedp.certify(gamedp.solve(model))
    parts = np.zeros((2, 4, 2))
    missed = np.array([[1.0, 0.0], [0.0, 0.0]])
    (parts[:1, 0, :1] if where == "bound" else missed[:1, :1])[...] = wrong
    active = np.array([[True, False], [False, False]])
    choices = np.array([[0, -1], [0, -1]])
    refining = Refining(model, plain, parts, 0, active, active, choices)
    assert not refining._lower(missed)
    refining.parts = np.zeros((2, 4, 2))
    assert refining._lower(np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert refining.parts[0, 0, 0] == -2.0


# What is claimed is what is proven ---------------------------------------------------------------


def refined(length=50):
    game = SlowChain(length)
    model = gamedp.compile(game, compile="never")
    return model, gamedp.certify(gamedp.solve(model, game.objective, EXACT))


def with_bound(certificate, name, state, number):
    """Return the certificate with another number proven for a state."""
    sign = 1 if name == "lower" else -1
    rests = certificate.array(f"{name}_rest").copy()
    bounds = certificate.array(name).copy()
    parts = sign * cut([sign * number], 1 + len(rests), 0)[:, 0]
    bounds[state], rests[:, state] = parts[0], parts[1:]
    return forged(certificate, **{name: bounds, f"{name}_rest": rests})


@pytest.mark.parametrize("length", first_of([50, 60]))
def test_any_number_moved_by_more_than_its_slack_is_refused(length):
    model, certificate = refined(length)
    moved = 0
    for name, sign in (("lower", 1.0), ("upper", -1.0)):
        side = oriented(model, certificate, certificate.objective, sign)
        inequality = side.inequalities[0]
        for state in np.flatnonzero(side.required).tolist():
            choices = range(*model.choice_offsets[state : state + 2].tolist())
            slack = max(exact_choice_value(model, side, inequality, c) for c in choices)
            slack -= inequality.exact(state)
            assert slack >= 0
            more = slack * Fraction(9, 8) + Fraction(1, 1 << 150)
            false = with_bound(
                certificate, name, state, int(sign) * (inequality.exact(state) + more)
            )
            with pytest.raises(CertificateError, match=rf"{name}\["):
                gamedp.verify(model, false)
            moved += 1
    assert moved == 2 * (2 * length - 1)


@pytest.mark.parametrize("state", [0, 3, 17])
def test_rests_must_have_their_sign(state):
    model, certificate = refined()
    for name in ("lower_rest", "upper_rest"):
        rest = certificate.array(name).copy()
        rest[0, state] = -rest[0, state] or math.copysign(1e-30, -1 if name == "lower_rest" else 1)
        with pytest.raises(CertificateError, match=rf"{name}\[0, {state}\] is"):
            gamedp.verify(model, forged(certificate, **{name: rest}))


def test_what_rests_must_look_like():
    model, certificate = refined(10)
    size = model.num_states
    for rest, match in (
        (np.zeros(size), "lower_rest holds float64 of shape"),
        (np.zeros((9, size)), rf"it must hold float64 of shape \(8, {size}\)"),
        (np.zeros((1, size), np.float32), "lower_rest holds float32"),
        (np.full((1, size), np.nan), "must be finite"),
        (np.full((1, size), np.inf), "must be finite"),
    ):
        with pytest.raises(CertificateError, match=match):
            gamedp.verify(model, forged(certificate, lower_rest=rest))
    for shift in (-1, 3000, 1.0):
        with pytest.raises(CertificateError, match="rest_shift"):
            gamedp.verify(model, forged(certificate, rest_shift=shift))
    lower = np.where(np.arange(size) == 0, -np.inf, certificate.lower)
    with pytest.raises(CertificateError, match="0 beside infinity"):
        gamedp.verify(model, forged(certificate, lower=lower, lower_rest=np.full((1, size), 1e-30)))
    # A known value has no room for any.
    rest = np.zeros((1, size))
    rest[0, model.terminals[0]] = 1e-300
    with pytest.raises(CertificateError, match="is wrong: the value there is"):
        gamedp.verify(model, forged(certificate, lower_rest=rest))


@relaxed
@given(
    models() | models(hard=True),
    st.data(),
    st.sampled_from([0, 40]),
    st.sampled_from([1.0, 0.3, 1 - 1e-9]),
)
def test_what_doubles_decide_holds_in_rationals(model, data, shift, discount):
    """With rests of any size, and a discount."""
    assume(not (model.has_swaps and model.constant_sum and discount != 1))
    numbers = st.floats(-10, 10) | st.sampled_from([0.0, 1e-320, 1e300, 1 / 3])
    bounds = np.array([data.draw(numbers) for _ in range(model.num_states)])
    rests = np.array(
        [
            [data.draw(st.sampled_from([0.0, 5e-324, 1e-20, 1e-16, 0.25])) for _ in bounds]
            for _ in range(data.draw(st.integers(1, 3)))
        ]
    )
    objective = gamedp.TotalReward() if discount == 1 else gamedp.Discounted(discount)
    certificate = claimed(
        objective=objective,
        lower=bounds,
        upper=bounds,
        lower_rest=rests,
        upper_rest=-rests,
        rest_shift=shift,
        digest=model.digest(),
    )
    for sign in (1.0, -1.0):
        with np.errstate(all="ignore"):
            side = oriented(model, certificate, objective, sign)
            inequality = side.inequalities[0]
            for rows in slices(model):
                sums = choice_values(model, side, inequality, rows)
                holds, fails = sums.compare(*inequality.of(rows.state_of))
                lower = sums.lower()
                for row, choice in enumerate(rows.choices):
                    exact = exact_choice_value(model, side, inequality, choice)
                    bound = inequality.exact(int(rows.state_of[row]))
                    assert not holds[row] or bound <= exact
                    assert not fails[row] or bound > exact
                    assert math.isnan(lower[row]) or float(lower[row]) <= exact
    for state, (top, bound) in enumerate(zip(inequality.top, inequality.bound, strict=True)):
        assert top >= inequality.exact(state) >= bound


def test_finer_certificates_are_saved_and_loaded(tmp_path):
    model, certificate = refined(60)
    certificate = forged(certificate, escapes=None)
    gamedp.save(certificate, tmp_path)
    for again in (gamedp.load(tmp_path), pickle.loads(pickle.dumps(certificate))):
        assert np.array_equal(again.evidence["lower_rest"], certificate.evidence["lower_rest"])
        assert np.array_equal(again.evidence["upper_rest"], certificate.evidence["upper_rest"])
        assert not again.evidence["lower_rest"].flags.writeable
        assert gamedp.verify(model, again).width < 1e-12


def test_rests_go_on_where_doubles_end(tmp_path):
    """Whoever wants the least goes round for ever, or not: it is about the least double."""
    least = 5e-324
    model = gamedp.Model.from_arrays(
        [0, 1, 3, 4, 4],
        [0, 2, 4, 6, 8],
        [1, 2, 0, 2, 0, 3, 0, 1],
        [0.7, 0.3, 0.4, 0.6, 0.2, 0.8, 0.9, 0.1],
        rewards=[least, least, -least, 2 * least],
        terminals=[3],
        payoffs=[-3 * least],
    )
    solution = gamedp.solve(model, gamedp.TotalReward("min"), EXACT)
    certificate = gamedp.certify(solution)
    assert_contains(certificate, solution.exact)
    gamedp.save(certificate, tmp_path)
    assert gamedp.load(tmp_path).rest_shift == certificate.rest_shift
    assert gamedp.verify(model, gamedp.load(tmp_path)).width <= 1e-322


# Targets that are missed, and minus infinity -----------------------------------------------------


def test_where_nothing_is_lost_a_target_may_be_missed_all_the_same():
    """No total is positive, but play never gets to the target: so it is plus infinity."""
    model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [0], [1.0], terminals=[1])
    objective = gamedp.TotalReward("min", until=[1])
    right = gamedp.certify(gamedp.solve(model, objective))
    assert right.upper[0] == np.inf
    for rank in (-1, 0, 1, 7):
        false = forged(right, upper=np.zeros(2), upper_ranks=np.array([rank, 0]))
        with pytest.raises(CertificateError, match=r"upper\[0\] = 0.0"):
            gamedp.verify(model, false)


def putting_off(reward=-1.0, exits=True, players=(0, 0)):
    """Whoever wants the least goes round at a reward, or to the target."""
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 1, 2, 3],
        [1, 2, 0] if exits else [1, 1, 0],
        np.ones(3),
        rewards=[reward, 0.0, 0.0],
        players=[*players, 0],
        terminals=[2],
        num_players=1 + max(players),
    )


UNTIL = gamedp.TotalReward("min", until=[2])


def test_who_earns_less_and_less_before_the_target():
    model = putting_off()
    certificate = gamedp.certify(gamedp.solve(model, UNTIL))
    assert (certificate.upper[:2] == -np.inf).all()
    gamedp.verify(model, certificate)
    assert (certificate.evidence["escapes"][:2] > 0).all()
    for name in ("escapes", "upper_ranks", "upper_gains"):
        numbers = certificate.array(name).copy()
        numbers[0] = -1 if name != "upper_gains" else numbers[0]
        if name == "upper_gains":
            numbers[1] = 0
        with pytest.raises(CertificateError, match=r"upper\[[01]\] = -inf"):
            gamedp.verify(model, forged(certificate, **{name: numbers}))
    with pytest.raises(CertificateError, match="escape"):
        gamedp.verify(model, forged(certificate, escapes=None))


@pytest.mark.parametrize(
    "model", [putting_off(reward=0.0), putting_off(reward=1.0), putting_off(exits=False)]
)
def test_minus_infinity_is_refused_where_it_is_wrong(model):
    """Where nothing is lost on the way round, or there is no way to the target."""
    right = gamedp.certify(gamedp.solve(putting_off(), UNTIL))
    with pytest.raises(CertificateError, match=r"upper\[[01]\] = -inf"):
        gamedp.verify(model, forged(right, digest=model.digest()))


def test_an_opponent_who_need_not_go_on():
    """The one in state 1 would rather go to the target at once."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 0, 2],
        np.ones(4),
        rewards=[-1.0, 0.0, 0.0, 0.0],
        players=[0, 1, 0],
        terminals=[2],
        num_players=2,
    )
    right = claimed(
        objective=UNTIL,
        lower=np.array([-1.0, 0.0, 0.0]),
        upper=np.array([-1.0, 0.0, 0.0]),
        lower_ranks=np.full(3, -1),
        upper_ranks=np.array([2, 3, 0]),
        digest=model.digest(),
    )
    with pytest.raises(CertificateError, match=r"upper\[0\] = -1.0"):
        gamedp.verify(model, right)  # for who says that the other one ever goes to the target?
    gamedp.verify(model, forged(right, upper=np.array([0.0, np.inf, 0.0])))
    false = forged(
        right,
        upper=np.array([-np.inf, -np.inf, 0.0]),
        upper_ranks=np.zeros(3, np.int64),
        escapes=np.array([1, 1, 0]),
    )
    with pytest.raises(CertificateError, match=r"upper\[1\] = -inf"):
        gamedp.verify(model, false)


def leading_back(*, exits=True):
    """An opponent in state 2 may lead back: to 1, or to 0, where the target is put off.

    From 1 it is best to go to 2; an escape costs 9.
    """
    return gamedp.Model.from_arrays(
        [0, 2, 4, 6, 6],
        [0, 1, 2, 3, 4, 5, 7],
        [0, 1, 2, 3 if exits else 2, 3, 0, 1],
        [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5],
        rewards=[-1.0, 0.0, 0.0, 9.0, 0.0, 0.0],
        players=[0, 0, 1, 0],
        terminals=[3],
        num_players=2,
    )


def test_an_opponent_who_may_lead_to_where_the_target_is_put_off():
    """Finite bounds may fall to minus infinity, and escapes need not keep to them."""
    model, objective = leading_back(), gamedp.TotalReward("min", until=[3])
    solution = gamedp.solve(model, objective)
    assert solution.values.tolist() == [-np.inf, 0.0, 0.0, 0.0]
    right = gamedp.certify(solution)
    assert right.upper[0] == -np.inf
    assert gamedp.verify(model, right).width <= 1e-6
    for name, state in (("escapes", 0), ("escapes", 1), ("upper_ranks", 1), ("upper_ranks", 2)):
        numbers = right.array(name).copy()
        numbers[state] = 0
        with pytest.raises(CertificateError, match=r"upper\[[12]\] = 0|upper\[0\] = -inf"):
            gamedp.verify(model, forged(right, **{name: numbers}))
    # Without an escape the opponent never lets play end.
    closed = leading_back(exits=False)
    assert (gamedp.solve(closed, objective).values[:3] == np.inf).all()
    with pytest.raises(CertificateError, match="escape"):
        gamedp.verify(closed, forged(right, digest=closed.digest()))


@pytest.mark.parametrize("seed", range(3))
def test_totals_of_two_opponents_that_may_be_infinite_both_ways(seed):
    """They are the worst of what one player gets against each policy of the other."""
    rng = np.random.default_rng(seed)
    solver = gamedp.solvers.TopologicalValueIteration(max_sweeps=3000)
    certified = 0
    for _ in range(120):
        after = [rng.choice(4, int(rng.integers(1, 3)), replace=False).tolist() for _ in range(6)]
        model = gamedp.Model.from_arrays(
            [0, 2, 4, 6, 6],
            np.cumsum([0, *map(len, after)]),
            np.concatenate(after),
            np.concatenate([np.full(len(row), 1 / len(row)) for row in after]),
            rewards=rng.choice([-2.0, -1.0, 0.0, 0.0, 1.0], 6),
            players=[*rng.permutation([0, 1, int(rng.integers(2))]).tolist(), 0],
            terminals=[3],
            num_players=2,
        )
        objective = gamedp.TotalReward("min", until=[3])
        try:
            solution = gamedp.solve(model, objective, solver)
            if not np.isinf(solution.values).any():
                continue
            worst = np.full(4, -np.inf)
            for policy in itertools.product(*([0, 1],) * 3):
                choices = np.append(np.arange(0, 6, 2) + policy, -1)
                fixed, _ = fix(model, choices, model.players == 1)
                worst = np.maximum(worst, gamedp.solve(fixed, objective, solver).values)
        except (gamedp.UnsupportedProblemError, gamedp.NotSolvedError):
            continue
        assert solution.values == pytest.approx(worst, abs=1e-6)
        assert gamedp.verify(model, gamedp.certify(solution)).width <= 1e-6
        certified += 1
    assert certified >= 20


def earns_less_and_less(model, target):
    """Say from which states a lone player earns ever less, and gets to the target all the same."""
    ends = np.diff(model.choice_offsets) == 0
    sure = ~(ends & ~target)
    offsets = model.transition_offsets.tolist()
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    leads = [set(model.successors[a:b].tolist()) for a, b in itertools.pairwise(offsets)]
    while True:
        safe = [c for c, after in enumerate(leads) if sure[owners[c]] and sure[list(after)].all()]
        reached = target.copy()
        for _ in range(model.num_states):
            for choice in safe:
                reached[owners[choice]] |= reached[list(leads[choice])].any()
        if (reached & sure == sure).all():
            break
        sure &= reached
    # In what is left, the least average is negative where it pays to go on.
    kept = [[c for c in safe if owners[c] == s and not target[s]] for s in range(model.num_states)]
    order = [c for row in kept for c in row]
    rows = [slice(*offsets[c : c + 2]) for c in order]
    terminals = [s for s in range(model.num_states) if not kept[s]]
    small = gamedp.Model.from_arrays(
        np.cumsum([0, *map(len, kept)]),
        np.cumsum([0, *(row.stop - row.start for row in rows)]),
        np.concatenate([model.successors[row] for row in rows] or [np.empty(0, np.int64)]),
        np.concatenate([model.probabilities[row] for row in rows] or [np.empty(0)]),
        rewards=[float(model.rewards[c]) for c in order],
        terminals=terminals,
        payoffs=np.zeros(len(terminals)),
    )
    averages = exact_values(small, gamedp.AverageReward("min"))
    return [bool(s) and average < 0 for s, average in zip(sure, averages, strict=True)]


@relaxed
@given(models(max_states=4, ends=False, players=[1]), st.data())
def test_totals_of_minus_infinity_are_certified_where_they_are(model, data):
    rewards = [data.draw(st.sampled_from([-2.0, -1.0, 0.0, 1.0])) for _ in model.rewards]
    model = attrs.evolve(model, rewards=np.array(rewards))
    flags = st.lists(st.booleans(), min_size=model.num_states, max_size=model.num_states)
    target = np.array(data.draw(flags))
    solver = gamedp.solvers.TopologicalValueIteration(max_sweeps=10_000)
    try:
        solution = solve_best_effort(model, gamedp.TotalReward("min", until=target), solver)
    except gamedp.UnsupportedProblemError:
        return
    assume(solution.guarantee is gamedp.Guarantee.TWO_SIDED)
    certificate = gamedp.certify(solution)
    gamedp.verify(model, certificate)
    infinite = earns_less_and_less(model, target)
    assert (certificate.upper == -np.inf).tolist() == infinite


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_accepted_as_minus_infinity_is_true(seed):
    """Claims drawn at random: those that happen to be accepted are true."""
    rng = np.random.default_rng(seed)
    accepted = 0
    for _ in range(800):
        after = [rng.choice(3, int(rng.integers(1, 3)), replace=False).tolist() for _ in range(4)]
        model = gamedp.Model.from_arrays(
            [0, 2, 4, 4],
            np.cumsum([0, *map(len, after)]),
            np.concatenate(after),
            np.concatenate([np.full(len(row), 1 / len(row)) for row in after]),
            rewards=rng.choice([-2.0, -1.0, 0.0, 1.0], 4),
            terminals=[2],
        )
        target = np.arange(3) == 2
        states = rng.random(2) < 0.7
        certificate = claimed(
            objective=gamedp.TotalReward("min", until=target),
            lower=np.full(3, -np.inf),
            upper=np.append(np.where(states, -np.inf, np.inf), 0.0),
            lower_ranks=np.full(3, -1),
            upper_ranks=rng.integers(0, 2, 3),
            upper_gains=rng.integers(0, 3, 3),
            bias_upper=rng.choice([-1.0, 0.0, 1.0, np.inf], 3),
            escapes=rng.integers(0, 3, 3),
            digest=model.digest(),
        )
        try:
            gamedp.verify(model, certificate)
        except CertificateError:
            continue
        truth = earns_less_and_less(model, target)
        accepted += states.any()
        assert all(not claimed or right for claimed, right in zip(states, truth, strict=False))
    assert accepted >= 10


def test_who_may_miss_the_target_has_plus_infinity_whatever_else_may_come():
    """One choice leads to where the target is put off for ever, or, as likely, missed."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 1, 3, 4, 5],
        [2, 1, 3, 1, 2],
        [1.0, 0.5, 0.5, 1.0, 1.0],
        rewards=[3.0, 0.0, -1.0, 0.0],
        terminals=[2, 3],
    )
    solution = gamedp.solve(model, gamedp.TotalReward("min", until=[2]))
    certificate = gamedp.certify(solution)
    assert certificate.lower.tolist() == [3.0, -np.inf, 0.0, np.inf]
    assert certificate.upper.tolist() == [3.0, -np.inf, 0.0, np.inf]
    false = forged(certificate, lower=np.array([3.5, -np.inf, 0.0, np.inf]))
    with pytest.raises(CertificateError, match=r"lower\[0\] = 3.5"):
        gamedp.verify(model, false)


# Where two opponents can keep each other from an end ----------------------------------------------


def contest(rows, payoffs):
    """Return a game of states (player, [(reward, {successor: weight}), ...]), and then its ends."""
    choices, offsets, successors, weights, rewards = [0], [0], [], [], []
    for _, actions in rows:
        for reward, after in actions:
            successors += after
            weights += [weight / sum(after.values()) for weight in after.values()]
            offsets.append(len(successors))
            rewards.append(float(reward))
        choices.append(len(rewards))
    return gamedp.Model.from_arrays(
        choices + [len(rewards)] * len(payoffs),
        offsets,
        successors,
        weights,
        rewards=rewards,
        players=[player for player, _ in rows] + [0] * len(payoffs),
        terminals=range(len(rows), len(rows) + len(payoffs)),
        payoffs=payoffs,
        num_players=2,
    )


RESTING = contest(
    [
        (0, [(0, {0: 1}), (1, {1: 1})]),
        (0, [(2, {3: 1, 13: 2, 6: 3}), (1, {0: 90, 3: 70, 15: 1})]),
        (1, [(0, {8: 1}), (0, {3: 1})]),
        (0, [(0, {10: 1})]),
        (1, [(0, {6: 3, 8: 2, 7: 3})]),
        (1, [(0, {5: 1}), (0, {4: 1})]),
        (1, [(0, {12: 350, 7: 1}), (1, {8: 1}), (0, {0: 1})]),
        (1, [(0, {0: 1}), (0, {6: 1})]),
        (1, [(1, {7: 2500, 2: 5000, 13: 1}), (1, {9: 1}), (2, {10: 100, 15: 1})]),
        (0, [(0, {7: 1}), (0, {11: 1})]),
        (0, [(1, {7: 4, 13: 2, 15: 1}), (0, {9: 1}), (0, {11: 1})]),
        (0, [(0, {4: 6000, 9: 6000, 14: 1}), (0, {10: 1}), (0, {10: 1})]),
        (1, [(0, {2: 4, 8: 8, 14: 3}), (0, {5: 1}), (0, {12: 1})]),
        (0, [(0, {3: 7, 6: 7, 7: 7, 15: 6}), (0, {6: 4, 9: 1, 11: 4}), (0, {12: 1})]),
    ],
    [1.0, -2.0, 0.5],
)
"""In which player 0 can rest in states 0, 3, 9, 10 and 11, and rounds elsewhere take long."""

MISSING = contest(
    [
        (1, [(0, {0: 1}), (0, {2: 1}), (1, {2: 1})]),
        (0, [(0, {0: 1, 2: 4}), (0, {2: 30, 0: 7})]),
        (1, [(2, {3: 6667, 1: 4444.5, 7: 1}), (0, {2: 5, 5: 1})]),
        (0, [(0, {2: 1})]),
        (1, [(0, {5: 9, 4: 4})]),
        (0, [(0, {1: 1})]),
    ],
    [1.0, -2.0, 0.5],
)
"""In which the players go round for nothing, unless player 1 takes the long way to the target."""


@pytest.mark.parametrize(
    "solver",
    [gamedp.solvers.IntervalIteration(), gamedp.solvers.StrategyIteration()],
    ids=["interval", "strategy"],
)
@pytest.mark.parametrize(
    ("model", "objective"),
    [
        (RESTING, gamedp.TotalReward("min")),
        (MISSING, gamedp.TotalReward("max", until=[6, 7, 8])),
    ],
    ids=["resting", "missing"],
)
def test_bounds_are_level_where_play_goes_on_for_ever(model, objective, solver):
    solution = gamedp.solve(model, objective, solver)
    certificate = gamedp.certify(solution)
    assert gamedp.verify(model, certificate).width < 1e-5
    other = gamedp.solve(model, objective, gamedp.solvers.StrategyIteration(), tolerance=1e-3)
    assert (certificate.lower <= other.upper).all()
    assert (certificate.upper >= other.lower).all()
    # A bound of those that were made level is not accepted beyond the value, by however little.
    for name, sign in (("lower", 1), ("upper", -1)):
        bound = certificate.array(name).copy()
        bound[0] = getattr(solution, "upper" if sign > 0 else "lower")[0] + sign * 1e-6
        with pytest.raises(CertificateError, match=rf"{name}\["):
            gamedp.verify(model, forged(certificate, **{name: bound}))


def test_who_gains_at_a_rank_has_a_choice_to_keep_to():
    """State 0 may wait, or earn 1 and ask the opponent, who comes back or ends play."""
    model = contest([(0, [(0, {0: 1}), (1, {1: 1})]), (1, [(0, {0: 1}), (0, {2: 1})])], [0.5])
    plain = claimed(
        objective=gamedp.TotalReward(),
        lower=np.array([1.5, 0.5, 0.5]),
        upper=np.array([1.5, 0.5, 0.5]),
        digest=model.digest(),
    )
    ranking = Ranking(FirstLook(model, plain), 0.0)
    assert ranking.ranks[0, 0] == ranking.ranks[0, 1] > 0
    assert ranking.via[0, 0] == 1
    gamedp.verify(model, ranking.certificate())
