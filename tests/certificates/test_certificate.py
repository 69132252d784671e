"""Certificates: what solvers prove is accepted, what is false is refused, to the last digit."""

import contextlib
import itertools
import json
import math
import pickle
import subprocess
import sys
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from depth import first_of
from equations import locked
from forging import claimed, forged
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from solving import assert_contains, horizons, loop, solve_best_effort

import gamedp
from gamedp.bellman.equation import unordered_equation
from gamedp.certificates.checking import bounds
from gamedp.certificates.checking.checker import RULES
from gamedp.certificates.checking.choice_values import choice_values, exact_choice_value, slices
from gamedp.certificates.checking.directions import oriented
from gamedp.certificates.making import kernels
from gamedp.cli import verify as verifying
from gamedp.errors import CertificateError, DamagedFileError, UnsupportedProblemError
from gamedp.games.kniffel import Kniffel
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.graph.graph import Reverse, transpose, transpose_jit
from gamedp.runtime import limit
from gamedp.storage.kinds import CERTIFICATE_RULES
from gamedp.testing import exact_values
from gamedp.testing.strategies import models

SOLVERS = (
    gamedp.solvers.BackwardInduction(),
    gamedp.solvers.TopologicalValueIteration(),
    gamedp.solvers.ValueIteration(),
    gamedp.solvers.ValueIteration(sweep="jacobi"),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.Retrograde(),
)
CLOSE = 2.0**-40
"""How much wider than a solution's bounds those of its certificate may be, as a part of values."""

relaxed = settings(
    # Plain Python takes long for each.
    max_examples=25 if numba.config.DISABLE_JIT else 60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def assert_certified(solution, truth=None):
    """The certificate is accepted, hardly wider than the solution, and contains the truth."""
    certificate = gamedp.certify(solution)
    verified = gamedp.verify(solution.model, certificate)
    assert verified.states == solution.model.num_states
    for own, given_, sign in (
        (certificate.lower, solution.lower, 1),
        (certificate.upper, solution.upper, -1),
    ):
        finite = np.isfinite(given_)
        infinite = sign * given_ == np.inf  # on the other side, nothing is claimed
        assert (own[infinite] == given_[infinite]).all()
        size = np.abs(given_[finite]).max(initial=1e-300)
        assert (sign * (given_[finite] - own[finite]) <= CLOSE * size).all()
    if truth is not None:
        assert_contains(certificate, truth)
    return certificate


# What solvers prove ------------------------------------------------------------------------------


@relaxed
@given(models(), st.sampled_from([1e-3, 1e-8, 1e-15]), st.sampled_from(["max", "min"]))
def test_totals_of_all_solvers_are_certified(model, tolerance, optimum):
    objective = gamedp.TotalReward(optimum)
    truth = exact_values(model, objective)
    for solver in SOLVERS:
        if solver.supports(gamedp.Problem(model, objective)):
            assert_certified(solve_best_effort(model, objective, solver, tolerance), truth)


def test_the_claim_says_of_which_opponents_it_is_true():
    """Play until a target, with rewards of both signs, is bounded for finite memory alone."""
    arrays = {
        "choice_offsets": [0, 2, 3, 3],
        "transition_offsets": [0, 1, 2, 3],
        "successors": [1, 2, 2],
        "probabilities": np.ones(3),
        "terminals": [2],
    }
    for rewards, players, limited in (
        ([1.0, 0.0, -2.0], [0, 1, 0], True),
        ([1.0, 0.0, 2.0], [0, 1, 0], False),
        ([1.0, 0.0, -2.0], [0, 0, 0], False),
    ):
        model = gamedp.Model.from_arrays(
            **arrays, rewards=rewards, players=players, num_players=max(players) + 1
        )
        for objective in (gamedp.TotalReward("min", until=[2]), gamedp.TotalReward("min")):
            solution = gamedp.solve(model, objective)
            claim_ = gamedp.verify(model, gamedp.certify(solution)).claim
            words = "can secure against opponents with finite memory lies between"
            assert (words in claim_) == (limited and objective.until is not None)


@pytest.mark.parametrize("optimum", ["max", "min"])
def test_totals_without_any_terminal_state_are_certified(optimum):
    """Who is content with endless play gets a rank of at least 1: 0 is that of ends alone."""
    model = gamedp.Model.from_arrays(
        range(6), range(6), [0, 0, 3, 4, 4], np.ones(5), rewards=[0.0, -1.0, 1.0, 0.0, 0.0]
    )
    solution = gamedp.solve(model, gamedp.TotalReward(optimum))
    assert_certified(solution, [0, -1, 1, 0, 0])


@relaxed
@given(models(), st.sampled_from([0.0, 0.5, 0.99, 1 - 1e-6]), st.sampled_from(["max", "min"]))
def test_discounted_totals_are_certified(model, discount, optimum):
    assume(not (model.has_swaps and model.constant_sum))
    objective = gamedp.Discounted(discount, optimum)
    assert_certified(solve_best_effort(model, objective), exact_values(model, objective))


@relaxed
@given(models(), st.integers(0, 6), st.data())
def test_finite_horizons_are_certified(model, horizon, data):
    assume(not (model.has_swaps and model.constant_sum))
    objective = data.draw(horizons(model, horizon))
    assert_certified(solve_best_effort(model, objective), exact_values(model, objective))


QUESTIONS = {
    "total": gamedp.TotalReward,
    "until": lambda optimum: gamedp.TotalReward(optimum, until=[0]),
    "reachability": lambda optimum: gamedp.Reachability([0], optimum=optimum),
    "discounted": lambda optimum: gamedp.Discounted(0.999, optimum),
    "average": gamedp.AverageReward,
    "horizon": lambda optimum: gamedp.FiniteHorizon(7, optimum),
}


@settings(relaxed, max_examples=25)
@given(
    models(max_states=4, ends=False) | models(max_states=4, sure=True),
    st.sampled_from(sorted(QUESTIONS)),
    st.sampled_from(["max", "min"]),
    st.sampled_from([1e-2, 1e-6, 1e-10, 1e-13]),
)
def test_what_is_solved_is_certified_or_has_no_certificate(model, name, optimum, tolerance):
    """Of all objectives and tolerances: refused in words, if at all."""
    try:
        solution = gamedp.solve(
            model, QUESTIONS[name](optimum), tolerance=tolerance, max_seconds=0.3
        )
    except (UnsupportedProblemError, gamedp.errors.NotSolvedError):
        return
    if solution.guarantee is gamedp.Guarantee.TWO_SIDED:
        refusal = ""
        try:
            assert_certified(solution)
        except UnsupportedProblemError as error:
            refusal = str(error)
        assert not refusal or "earn and lose in turn" in refusal


@relaxed
@given(models(sure=True, rewards=False), st.sampled_from([None, -1.0, 0.5]))
def test_draws_are_certified(model, draw):
    assume(not model.has_swaps or draw is None)
    objective = gamedp.TotalReward(draw=draw)
    solver = gamedp.solvers.Retrograde()
    assume(solver.supports(gamedp.Problem(model, objective)))
    solution = solve_best_effort(model, objective, solver)
    certificate = assert_certified(solution, exact_values(model, objective))
    endless = solution.distances < 0
    draw = draw if draw is not None else model.constant_sum / 2
    assert (certificate.lower[endless] <= draw).all()
    assert (draw <= certificate.upper[endless]).all()


def plays(model):
    """Return every pair of policies without memory, of the two players."""
    ranges = [
        range(*model.choice_offsets[state : state + 2].tolist()) or (-1,)
        for state in range(model.num_states)
    ]
    return itertools.product(*ranges)


def values_of_play(model, policy, target=None):
    """Return the chance to reach a target by a policy, exactly; terminal states if not given."""
    size = model.num_states
    ends = np.diff(model.choice_offsets) == 0
    sought = ends if target is None else target
    rows = []
    for state in range(size):
        if ends[state] or sought[state]:
            rows.append({})
            continue
        transitions = slice(*model.transition_offsets[policy[state] : policy[state] + 2].tolist())
        probabilities = [Fraction(p) for p in model.probabilities[transitions].tolist()]
        total = sum(probabilities)
        rows.append(
            {
                target_: probability / total
                for target_, probability in zip(
                    model.successors[transitions].tolist(), probabilities, strict=True
                )
            }
        )
    possible = set(np.flatnonzero(sought).tolist())
    while more := {s for s in range(size) if s not in possible and possible & rows[s].keys()}:
        possible |= more
    values = {state: Fraction(int(sought[state])) for state in range(size)}
    unknown = [state for state in possible if not sought[state]]
    # Gauss and Jordan, in rational numbers.
    matrix = {
        state: {other: rows[state].get(other, Fraction(0)) for other in unknown}
        for state in unknown
    }
    right = {
        state: sum((p for other, p in rows[state].items() if sought[other]), Fraction(0))
        for state in unknown
    }
    for pivot in unknown:
        leaves = 1 - matrix[pivot][pivot]
        for other in unknown:
            matrix[pivot][other] = matrix[pivot][other] / leaves * (other != pivot)
        right[pivot] /= leaves
        for state in unknown:
            share = matrix[state][pivot]
            if state != pivot and share:
                for other in unknown:
                    matrix[state][other] += share * matrix[pivot][other]
                matrix[state][pivot] = Fraction(0)
                right[state] += share * right[pivot]
    return [right[state] if state in right else values[state] for state in range(size)]


@relaxed
@given(models(max_states=4, ends=False, swaps=False), st.data(), st.sampled_from(["max", "min"]))
def test_probabilities_to_reach_a_target_are_certified(model, data, optimum):
    flags = st.lists(st.booleans(), min_size=model.num_states, max_size=model.num_states)
    target = np.array(data.draw(flags))
    objective = gamedp.Reachability(target, optimum=optimum)
    try:
        solution = solve_best_effort(model, objective)
    except UnsupportedProblemError:
        return
    certificate = assert_certified(solution)
    # The best policy of player 0 against the best answer, among those without memory.
    mine = model.players == 0
    least_by_policy = {}
    for policy in plays(model):
        key = tuple(choice for choice, own in zip(policy, mine, strict=True) if own)
        values = values_of_play(model, policy, target)
        keep = min if optimum == "max" else max
        old = least_by_policy.get(key, values)
        least_by_policy[key] = [keep(pair) for pair in zip(old, values, strict=True)]
    best = max if optimum == "max" else min
    assert_contains(
        certificate, [best(column) for column in zip(*least_by_policy.values(), strict=True)]
    )


@relaxed
@given(
    models(max_states=5, ends=False, players=[1]),
    st.sampled_from(["as they are", "never negative", "never positive", "none"]),
    st.sampled_from(["max", "min"]),
)
def test_totals_of_one_player_who_may_go_on_are_certified(model, kind, optimum):
    rewards = {
        "as they are": model.rewards,
        "never negative": np.abs(model.rewards),
        "never positive": -np.abs(model.rewards),
        "none": np.zeros(model.num_choices),
    }[kind]
    model = attrs.evolve(model, rewards=rewards)
    solver = gamedp.solvers.TopologicalValueIteration(max_sweeps=10_000)
    try:
        solution = solve_best_effort(model, gamedp.TotalReward(optimum), solver)
    except UnsupportedProblemError:
        return
    assume(solution.guarantee is gamedp.Guarantee.TWO_SIDED)
    if kind != "as they are":
        assert_certified(solution)
        return
    refusal = ""
    try:
        assert_certified(solution)
    except UnsupportedProblemError as error:
        refusal = str(error)
    assert not refusal or "earn and lose in turn" in refusal


@relaxed
@given(models(max_states=5, ends=False, swaps=False), st.data(), st.sampled_from(["max", "min"]))
def test_totals_until_a_target_are_certified(model, data, optimum):
    flags = st.lists(st.booleans(), min_size=model.num_states, max_size=model.num_states)
    objective = gamedp.TotalReward(optimum, until=np.array(data.draw(flags)))
    solver = gamedp.solvers.TopologicalValueIteration(max_sweeps=10_000)
    try:
        solution = solve_best_effort(model, objective, solver)
    except UnsupportedProblemError:
        return
    assume(solution.guarantee is gamedp.Guarantee.TWO_SIDED)
    assert_certified(solution)


@pytest.mark.parametrize("game", [Wubbel(goal=20), Matches(), Nim(heaps=(3, 4, 5))], ids=str)
def test_games_are_certified_as_they_are_solved(game):
    solution = gamedp.solve(game, compile="never")
    certificate = assert_certified(solution)
    assert np.array_equal(certificate.lower, solution.lower)
    assert gamedp.verify(solution.model, certificate).in_rationals <= 10


def test_a_game_will_do_for_its_model():
    game = Matches(matches=9)
    proof = gamedp.certify(gamedp.solve(game, compile="never"))
    verified = gamedp.verify(game, proof, compile="never")
    assert verified == gamedp.verify(gamedp.compile(game, compile="never"), proof)
    with pytest.raises(gamedp.errors.CertificateError, match="another model"):
        gamedp.verify(Matches(matches=8), proof, compile="never")
    with pytest.raises(gamedp.errors.InvalidParameterError, match="is neither a game nor a model"):
        gamedp.verify(Matches, proof)
    with pytest.raises(gamedp.errors.InvalidParameterError, match="is not a certificate"):
        gamedp.verify(game, 3)


def test_a_staged_game_will_do_for_its_model():
    game = Kniffel(dice=2, faces=2, throws=1, threshold=3)
    proof = gamedp.certify(gamedp.solve(game, compile="never"))
    assert gamedp.verify(game, proof, compile="never").width < 1e-9


def test_bounds_that_would_take_rational_numbers_are_made_a_little_wider():
    """The solver leaves exactly as much room as there must be: too little for sums in doubles."""
    rng = np.random.default_rng(5)
    size, count = 400, 3
    successors = np.concatenate(
        [rng.choice(np.arange(state + 1, state + 30), count, False) for state in range(size)]
    )
    probabilities = rng.integers(1, 9, (size, count)).astype(float)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    last = size + 29
    model = gamedp.Model.from_arrays(
        np.minimum(np.arange(last + 1), size),
        np.arange(size + 1) * count,
        successors,
        probabilities.ravel(),
        terminals=np.arange(size, last),
        payoffs=np.zeros(last - size),
    )
    objective = gamedp.Reachability(np.arange(size, size + 10))
    solution = gamedp.solve(model, objective)
    certificate = assert_certified(solution)
    assert gamedp.verify(model, certificate).in_rationals <= 32


def test_a_walk_that_mixes_slowly_is_certified():
    """Steps to either side go back to the middle half of the time: the answer is 0.7."""
    length = 20
    size = 2 * length + 1  # place 0 is the middle, odd ones to the right
    successors, probabilities, offsets, choices = [1, 2], [0.7, 0.3], [0, 2], [0, 1]
    for place in range(1, size):
        if place + 2 < size:
            successors += [0, place + 2]
            probabilities += [0.5, 0.5]
            offsets.append(len(successors))
        choices.append(len(offsets) - 1)
    model = gamedp.Model.from_arrays(
        choices, offsets, successors, probabilities, payoffs=[1.0, 0.0], terminals=[39, 40]
    )
    solution = gamedp.solve(model)
    certificate = assert_certified(solution)
    assert certificate.lower[0] <= Fraction(7, 10) <= certificate.upper[0]
    assert certificate.evidence["lower_ranks"][0] == length


# What is false is refused ------------------------------------------------------------------------


def claim(model, lower, upper, lower_ranks, upper_ranks, objective=None, **more):
    fields = {"lower": lower, "upper": upper, "lower_ranks": lower_ranks}
    fields["upper_ranks"] = upper_ranks
    arrays = {
        name: None
        if values is None
        else np.array(values, np.int64 if name.endswith("ranks") else np.float64)
        for name, values in fields.items()
    }
    objective = gamedp.TotalReward() if objective is None else objective
    return claimed(objective=objective, digest=model.digest(), **arrays, **more)


@pytest.mark.parametrize("rank", [-1, 0, 1, 2, 3, 2**62 - 1])
def test_an_end_component_does_not_prove_itself(rank):
    """The classic mistake: a bound of 1 on states that lead to each other in a circle."""
    model = loop()
    with pytest.raises(CertificateError, match=r"lower\[0\] = 1.0 of state 0 is not certified"):
        gamedp.verify(model, claim(model, [1.0, 0.75], [2.0, 0.75], [rank, 0], [-1, 0]))
    gamedp.verify(model, claim(model, [0.75, 0.75], [0.75, 0.75], [1, 0], [-1, 0]))
    target = gamedp.Reachability([1])
    wrong = claim(model, [1.0, 1.0], [1.0, 1.0], [rank, 0], [-1, -1], target)
    if rank in {-1, 0}:
        with pytest.raises(CertificateError):
            gamedp.verify(model, wrong)
    else:  # here it is true
        assert gamedp.verify(model, wrong).width == 0


def test_two_states_in_a_circle_do_not_prove_each_other():
    """Nothing leads from them to the end, whatever the ranks say."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 1, 2], [1, 0], [1.0, 1.0], terminals=[2], payoffs=[1.0]
    )
    for ranks in itertools.product([-1, 0, 1, 2, 3], repeat=2):
        with pytest.raises(CertificateError):
            gamedp.verify(model, claim(model, [1, 1, 1], [1, 1, 1], [*ranks, 0], [-1, -1, 0]))
    gamedp.verify(model, claim(model, [0, 0, 1], [0, 0, 1], [-1, -1, 0], [-1, -1, 0]))


def test_infinite_totals():
    earning = loop(reward=1.0)
    infinite = claim(earning, [np.inf, 0.75], [np.inf, 0.75], [0, 0], [-1, 0])
    gamedp.verify(earning, infinite)
    for reward in (0.0, -1.0):
        model = loop(reward=reward)
        with pytest.raises(CertificateError, match=r"lower\[0\] = inf"):
            gamedp.verify(model, forged(infinite, digest=model.digest()))
    # Who must pay for ever, or may leave: minus infinity is for those who cannot leave.
    model = loop(reward=-1.0)
    with pytest.raises(CertificateError, match=r"upper\[0\] = -inf"):
        gamedp.verify(model, claim(model, [-np.inf, 0.75], [-np.inf, 0.75], [-1, 0], [0, 0]))
    trapped = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[-1.0])
    gamedp.verify(trapped, claim(trapped, [-np.inf], [-np.inf], [-1], [0]))
    with pytest.raises(CertificateError, match=r"upper\[0\] = -inf"):
        gamedp.verify(trapped, claim(trapped, [-np.inf], [-np.inf], [-1], [-1]))


def test_where_a_target_is_missed_the_total_is_infinite():
    model = loop(reward=0.0)
    missed = gamedp.TotalReward(until=[1])
    gamedp.verify(model, claim(model, [np.inf, 0.75], [np.inf, 0.75], [0, -1], [-1, 0], missed))
    # Nobody who wants the least stays for ever.
    least = gamedp.TotalReward("min", until=[1])
    gamedp.verify(model, claim(model, [0.75, 0.75], [0.75, 0.75], [-1, -1], [1, 0], least))
    with pytest.raises(CertificateError):
        gamedp.verify(model, claim(model, [np.inf, 0.75], [np.inf, 0.75], [0, -1], [-1, 0], least))
    # A finite upper bound needs a rank.
    with pytest.raises(CertificateError, match=r"upper\[0\]"):
        gamedp.verify(model, claim(model, [0.75, 0.75], [0.75, 0.75], [-1, -1], [-1, 0], least))


def head_starts(model, lower, upper, biases, optimum="max"):
    return claimed(
        objective=gamedp.AverageReward(optimum),
        lower=np.array(lower, float),
        upper=np.array(upper, float),
        bias_lower=np.array(biases, float),
        bias_upper=np.array(biases, float),
        digest=model.digest(),
    )


def test_averages():
    """One may earn 1 and 3 in turn, or 1.5 again and again after a first step that costs 7."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 0, 2],
        np.ones(4),
        rewards=[1.0, -7.0, 3.0, 1.5],
        terminals=[3],
    )
    right = head_starts(model, [2, 2, 1.5, 0], [2, 2, 1.5, 0], [0, 1, -1, 0])
    assert gamedp.verify(model, right).width == 0
    for state, bias in ((0, -0.5), (1, 1.5)):
        biases = right.evidence["bias_lower"].copy()
        biases[state] += bias
        with pytest.raises(CertificateError):
            gamedp.verify(model, forged(right, bias_lower=biases, bias_upper=biases))
    for name, sign in (("lower", 1), ("upper", -1)):
        for state in range(4):
            numbers = right.array(name).copy()
            numbers[state] = np.nextafter(numbers[state], sign * np.inf)
            with pytest.raises(CertificateError):
                gamedp.verify(model, forged(right, **{name: numbers}))
    worst = head_starts(model, [1.5, 1.5, 1.5, 0], [1.5, 1.5, 1.5, 0], [-8.5, -7, 0, 0], "min")
    gamedp.verify(model, worst)


def stronger(certificate, truth):
    """Yield a certificate for each bound, in which it claims a bit more than the truth."""
    for name, outward in (("lower", -np.inf), ("upper", np.inf)):
        for state, value in enumerate(truth):
            number = float(value)
            if math.isinf(number):
                continue
            while (Fraction(number) <= value) if outward < 0 else (Fraction(number) >= value):
                number = math.nextafter(number, -outward)
            bounds = certificate.array(name).copy()
            bounds[state] = number
            yield name, state, forged(certificate, **{name: bounds})


@relaxed
@given(models(), st.sampled_from(["max", "min"]))
def test_no_bound_beyond_the_truth_is_accepted(model, optimum):
    """Every number of the certificate, pushed past the exact value to the next one there is."""
    objective = gamedp.TotalReward(optimum)
    truth = exact_values(model, objective)
    certificate = gamedp.certify(solve_best_effort(model, objective, tolerance=1e-9))
    for name, state, false in stronger(certificate, truth):
        with pytest.raises(CertificateError, match=name):
            gamedp.verify(model, false)
        # Nor with any rank, also if it seems to be the most harmless one.
        for rank in (-1, 0, 2**40):
            ranks = false.array(f"{name}_ranks").copy()
            ranks[state] = rank
            with pytest.raises(CertificateError):
                gamedp.verify(model, forged(false, **{f"{name}_ranks": ranks}))


@relaxed
@given(models(), st.sampled_from([0.3, 0.99]))
def test_no_discounted_bound_beyond_the_truth_is_accepted(model, discount):
    assume(not (model.has_swaps and model.constant_sum))
    objective = gamedp.Discounted(discount)
    certificate = gamedp.certify(solve_best_effort(model, objective, tolerance=1e-9))
    for name, _, false in stronger(certificate, exact_values(model, objective)):
        with pytest.raises(CertificateError, match=name):
            gamedp.verify(model, false)


@relaxed
@given(models(), st.integers(0, 4), st.data())
def test_no_bound_of_a_horizon_beyond_the_truth_is_accepted(model, horizon, data):
    assume(not (model.has_swaps and model.constant_sum))
    objective = data.draw(horizons(model, horizon))
    certificate = gamedp.certify(solve_best_effort(model, objective))
    for name, _, false in stronger(certificate, exact_values(model, objective)):
        with pytest.raises(CertificateError, match=name):
            gamedp.verify(model, false)


@relaxed
@given(models(max_states=4, ends=False, swaps=False, players=[1]), st.data())
def test_no_probability_beyond_the_truth_is_accepted(model, data):
    """With end components, in which bounds without ranks would prove themselves."""
    flags = st.lists(st.booleans(), min_size=model.num_states, max_size=model.num_states)
    target = np.array(data.draw(flags))
    certificate = gamedp.certify(solve_best_effort(model, gamedp.Reachability(target)))
    columns = zip(*(values_of_play(model, policy, target) for policy in plays(model)), strict=True)
    truth = [max(column) for column in columns]
    assert_contains(certificate, truth)
    ranks = st.integers(-1, 6)
    for name, state, false in stronger(certificate, truth):
        with pytest.raises(CertificateError, match=name):
            gamedp.verify(model, false)
        other = false.array(f"{name}_ranks").copy()
        other[state] = data.draw(ranks)
        with pytest.raises(CertificateError):
            gamedp.verify(model, forged(false, **{f"{name}_ranks": other}))


@pytest.mark.slow
@relaxed
@given(models(players=[1]), st.sampled_from(["max", "min"]))
def test_ranks_must_fall(model, optimum):
    """None can be as low as those that follow, and bounds of 1 or more need one."""
    model = attrs.evolve(model, rewards=np.abs(model.rewards) + 1, payoffs=np.abs(model.payoffs))
    certificate = gamedp.certify(
        solve_best_effort(model, gamedp.TotalReward(optimum), tolerance=1e-9)
    )
    inner = np.flatnonzero(np.diff(model.choice_offsets))
    assert (certificate.lower[inner] > 0).all()
    after = np.minimum.reduceat(
        certificate.evidence["lower_ranks"][model.successors], model.transition_offsets[:-1]
    )
    for state in inner.tolist():
        choices = after[slice(*model.choice_offsets[state : state + 2])]
        for rank in {-1, 0, int(choices.min() if optimum == "min" else choices.max())}:
            ranks = certificate.evidence["lower_ranks"].copy()
            ranks[state] = rank
            with pytest.raises(CertificateError, match="lower"):
                gamedp.verify(model, forged(certificate, lower_ranks=ranks))


def at_random(rng):
    """Draw a small game of payoffs, in which two opponents may go on for ever."""
    inner = int(rng.integers(1, 4))
    choices, offsets, successors, probabilities = [0], [0], [], []
    for _ in range(inner):
        for _ in range(int(rng.integers(1, 3))):
            count = int(rng.integers(1, 3))
            successors += np.sort(rng.choice(inner + 2, count, replace=False)).tolist()
            probabilities += [1 / count] * count
            offsets.append(len(successors))
        choices.append(len(offsets) - 1)
    return gamedp.Model.from_arrays(
        [*choices, choices[-1], choices[-1]],
        offsets,
        successors,
        probabilities,
        players=rng.integers(0, 2, inner + 2),
        num_players=2,
        terminals=[inner, inner + 1],
        payoffs=rng.choice([-1.0, 0.0, 0.5, 1.0], 2),
    )


def values_of_game(model):
    """Return what the best policy of player 0 secures, by looking at all pairs of policies."""
    least_by_policy = {}
    for policy in plays(model):
        values = [Fraction(0)] * model.num_states
        for end, payoff in zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True):
            probabilities = values_of_play(model, policy, np.arange(model.num_states) == end)
            values = [v + Fraction(payoff) * c for v, c in zip(values, probabilities, strict=True)]
        key = tuple(c for c, mover in zip(policy, model.players, strict=True) if mover == 0)
        old = least_by_policy.get(key, values)
        least_by_policy[key] = [min(pair) for pair in zip(old, values, strict=True)]
    return [max(column) for column in zip(*least_by_policy.values(), strict=True)]


@pytest.mark.parametrize("seed", first_of(range(3)))
def test_whatever_is_accepted_is_true(seed):
    """Claims drawn at random, with random ranks: those that happen to be accepted are true."""
    rng = np.random.default_rng(seed)
    accepted = 0
    for trial in range(600):
        model = at_random(rng)
        inner = model.num_states - 2
        bounds = [
            np.append(rng.choice([-1, -0.5, -0.25, 0, 0.25, 0.5, 1], inner), model.payoffs)
            for _ in range(2)
        ]
        bounds[trial % 2][:inner] = np.inf if trial % 2 else -np.inf
        ranks = [np.append(rng.integers(-1, 4, inner), [0, 0]) for _ in range(2)]
        certificate = claim(model, *bounds, *ranks)
        try:
            gamedp.verify(model, certificate)
        except CertificateError:
            continue
        accepted += 1
        assert_contains(certificate, values_of_game(model))
    assert accepted >= 100


# Rounding ----------------------------------------------------------------------------------------


def test_rounding_and_probabilities_that_are_off_add_up():
    """Of two outcomes, by one unit of the sum and by four: allowing for either is too little."""
    unit = 2.0**-53
    low = -3 * unit + 2.0**-70  # differences to the mean, 1/2 - 3/2 units, are both rounded up
    model = gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 2], [1, 2], [0.5, 0.5],
        rewards=[1.5 * unit - 0.5], terminals=[1, 2], payoffs=[low, 1.0],
    )  # fmt: skip
    off = Fraction(2 * math.ulp(0.5))
    worst = (Fraction(0.5) + off) * Fraction(low) + (Fraction(0.5) - off)
    worst += Fraction(model.rewards[0])
    assert -2 * Fraction(unit) < worst < Fraction(-1.75 * unit)

    def claimed(bound):
        return claim(model, [bound, low, 1.0], [1.0, low, 1.0], [1, 0, 0], [1, 0, 0])

    gamedp.verify(model, claimed(-2 * unit))
    with pytest.raises(CertificateError, match=r"lower\[0\] = .* of state 0 is not certified"):
        gamedp.verify(model, claimed(-1.75 * unit))


@relaxed
@given(models() | models(hard=True), st.data())
def test_what_is_decided_in_floating_point_holds_in_rationals(model, data):
    numbers = st.floats(-10, 10) | st.sampled_from([0.0, 1.0, 1e-320, 1e300, -1e300, 1 / 3])
    numbers |= st.sampled_from([-model.constant_sum, *model.payoffs.tolist()])
    bounds = np.array([data.draw(numbers) for _ in range(model.num_states)])
    objective = gamedp.TotalReward()
    certificate = claim(model, bounds, bounds, [-1] * len(bounds), [-1] * len(bounds))
    for sign in (1.0, -1.0):
        with np.errstate(all="ignore"):
            side = oriented(model, certificate, objective, sign)
            for rows in slices(model):
                sums = choice_values(model, side, side.inequalities[0], rows)
                lower = sums.lower()
                for row, choice in enumerate(rows.choices):
                    exact = exact_choice_value(model, side, side.inequalities[0], choice)
                    assert math.isnan(lower[row]) or float(lower[row]) <= exact
                    near = float(exact) if abs(exact) < 2**1000 else 0.0
                    for bound in (near, math.nextafter(near, 1e308), math.nextafter(near, -1e308)):
                        holds, fails = sums.compare(np.full(len(lower), bound))
                        assert not holds[row] or Fraction(bound) <= exact
                        assert not fails[row] or Fraction(bound) > exact


def test_a_bound_that_holds_with_equality_is_accepted():
    """Mixtures of equal bounds, whose sums of products round to something else."""
    thirds = [0.1, 0.2, 0.7]
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4, 4],
        [0, 3, 4, 5, 6],
        [0, 1, 2, 3, 0, 0],
        [*thirds, 1.0, 1.0, 1.0],
        terminals=[3],
        payoffs=[1 / 3],
    )
    third = [1 / 3] * 4
    verified = gamedp.verify(model, claim(model, third, third, [1, 2, 2, 0], [-1, -1, -1, 0]))
    assert (verified.width, verified.in_rationals) == (0, 0)


def test_overflow_is_decided_in_rationals():
    model = gamedp.Model.from_arrays(
        [0, 1, 1, 1],
        [0, 2],
        [1, 2],
        [0.5, 0.5],
        rewards=[1e308],
        terminals=[1, 2],
        payoffs=[1.7e308, -1.7e308],
    )
    right = claim(
        model, [0.9e308, 1.7e308, -1.7e308], [1.1e308, 1.7e308, -1.7e308], [1] * 3, [1] * 3
    )
    assert gamedp.verify(model, right).in_rationals == 2
    with pytest.raises(CertificateError, match="lower"):
        gamedp.verify(model, forged(right, lower=np.array([1.01e308, 1.7e308, -1.7e308])))


def test_probabilities_count_up_to_two_units_in_the_last_place():
    """Ten pays one, at a chance of a tenth: no one knows which side of it is meant."""
    model = gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 2], [1, 2], [0.1, 0.9], terminals=[1, 2], payoffs=[10.0, 0.0]
    )
    exact = math.ulp(1.0)
    ranks = [1, 0, 0]
    for part, accepted in ((0.0, False), (1.0, False), (2.0, True)):
        low, high = 1 - part * exact, 1 + part * exact
        certificate = claim(model, [low, 10, 0], [high, 10, 0], ranks, ranks)
        if accepted:
            gamedp.verify(model, certificate)
        else:
            with pytest.raises(CertificateError):
                gamedp.verify(model, certificate)


def test_probabilities_that_do_not_sum_to_one():
    model = loop()
    fields = {field.name: getattr(model, field.name) for field in attrs.fields(gamedp.Model)}
    broken = gamedp.Model.unchecked(**(fields | {"probabilities": np.array([1.0, 0.5])}))
    with pytest.raises(gamedp.InvalidModelError, match=r"choice 1 .* do not sum to one"):
        gamedp.verify(broken, claim(broken, [0, 0.75], [1, 0.75], [-1, 0], [-1, 0]))


# What a certificate must look like ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"digest": "0" * 64}, "of another model"),
        ({"lower": np.zeros(3)}, r"lower holds float64 of shape \(3,\)"),
        ({"lower": np.zeros(2, np.float32)}, "lower holds float32"),
        ({"upper": np.array([np.nan, 0.75])}, r"upper\[0\] is nan"),
        ({"lower_ranks": None}, "needs lower_ranks"),
        ({"lower_ranks": np.array([-2, 0])}, r"lower_ranks\[0\] is -2"),
        ({"lower_ranks": np.array([2**62, 0])}, r"lower_ranks\[0\] is 4611686018427387904"),
        ({"upper_ranks": np.zeros(2)}, "upper_ranks holds float64"),
        ({"bias_lower": np.full(2, np.inf)}, r"bias_lower\[0\] is inf; it must be finite, or -inf"),
        (
            {
                "bias_lower": np.zeros(2),
                "objective": gamedp.Discounted(0.5),
                "lower_ranks": None,
                "upper_ranks": None,
            },
            "has no use for bias_lower",
        ),
        ({"ranks": np.array([1, 0])}, "by the rules 'bounds' has no use for ranks"),
        ({"upper_rest": 7}, "upper_rest holds int of shape"),
        ({"rules": "my own"}, "names the rules 'my own'; the checker knows 'bounds', 'equi"),
        ({"rules": None}, "names the rules None"),
        ({"lower": np.array([0.75, 0.8])}, r"lower\[1\] = 0.8 of state 1 is wrong.*0.75"),
    ],
)
def test_what_is_wrong_with_the_arrays_is_said(changes, match):
    model = loop()
    right = claim(model, [0.75, 0.75], [0.75, 0.75], [1, 0], [-1, 0])
    gamedp.verify(model, right)
    with pytest.raises(CertificateError, match=match):
        gamedp.verify(model, forged(right, **changes))


def test_evidence_is_locked():
    """Nobody changes what has been checked; and what is None is not there."""
    ranks = np.array([1, 0])
    certificate = claim(loop(), [0.75, 0.75], [0.75, 0.75], ranks, [-1, 0], escapes=None)
    assert list(certificate.evidence) == ["lower_ranks", "upper_ranks"]
    with pytest.raises(TypeError):
        certificate.evidence["lower_ranks"] = ranks
    with pytest.raises(ValueError, match="read-only"):
        certificate.evidence["lower_ranks"][0] = 0
    assert repr(certificate) == "<Certificate by the rules 'bounds' of 2 states: TotalReward>"


def test_a_draw_is_for_payoffs_alone():
    model = loop(reward=1.0)
    half = gamedp.TotalReward(draw=0.5)
    with pytest.raises(CertificateError, match=r"draw is 0\.5"):
        gamedp.verify(model, claim(model, [0, 0.75], [9, 0.75], [-1, 0], [-1, 0], half))


def test_two_draws_are_two_claims():
    """Whoever may wait for ever or lose is sure of the draw, whatever that is."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1], payoffs=[-1.0]
    )
    claims = set()
    for draw in (0.5, -0.5):
        solution = gamedp.solve(model, gamedp.TotalReward(draw=draw))
        certificate = gamedp.certify(solution)
        assert solution.value() == draw
        claims.add(gamedp.verify(model, certificate).claim)
        other = forged(certificate, objective=gamedp.TotalReward(draw=-draw))
        with pytest.raises(CertificateError, match="may go on for ever"):
            gamedp.verify(model, other)
    assert len(claims) == 2
    assert any("endless play counts -0.5" in words for words in claims)


def test_what_has_no_certificate():
    three = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [1.0], payoffs=[[1.0, 2.0, 3.0]], num_players=3
    )
    assert gamedp.certify(gamedp.solve(three)).rules == "equilibrium"
    with pytest.raises(UnsupportedProblemError, match="one player or two opponents"):
        gamedp.verify(three, claim(three, [0, 0], [1, 1], [-1, 0], [-1, 0]))
    swaps = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [-1.0], payoffs=[1.0], num_players=2, constant_sum=1.0
    )
    for objective in (
        gamedp.Reachability([1]),
        gamedp.TotalReward(until=[1]),
        gamedp.Discounted(0.5),
    ):
        with pytest.raises(UnsupportedProblemError):
            gamedp.verify(swaps, claim(swaps, [0, 0], [1, 1], [-1, 0], [-1, 0], objective))


def test_checking_needs_neither_numba_nor_a_solver(tmp_path):
    solution = gamedp.solve(Matches(), compile="never")
    gamedp.save(gamedp.certify(solution), tmp_path / "proof")
    fields = gamedp.model.model.ARRAYS
    arrays = {name: getattr(solution.model, name) for name in fields}
    np.savez(tmp_path / "model.npz", **arrays)
    program = (
        "import sys, numpy as np\n"
        "from gamedp.certificates import Certificate, verify\n"
        "from gamedp.model.model import Model\n"
        "from gamedp.model.objectives import TotalReward\n"
        "from pathlib import Path\n"
        "folder = Path(sys.argv[1])\n"
        f"model = Model(**np.load(folder / 'model.npz'), num_players=2, "
        f"constant_sum={solution.model.constant_sum!r})\n"
        "paths = (folder / 'proof').glob('*.npy')\n"
        "arrays = {path.name.rsplit('-', 1)[0]: np.load(path) for path in paths}\n"
        "pair = {name: arrays.pop(name) for name in ('lower', 'upper')}\n"
        "claim = {'objective': TotalReward(), 'digest': model.digest()}\n"
        "proof = Certificate(evidence=arrays, **claim, **pair)\n"
        "verify(model, proof)\n"
        "others = {'numba', 'scipy', 'gamedp.results.solution', 'gamedp.solvers'}\n"
        "print(sorted(others & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_slices_do_not_matter(monkeypatch):
    solution = gamedp.solve(Wubbel(goal=12), compile="never")
    certificate = gamedp.certify(solution)
    for size in (1, 7, 100):
        monkeypatch.setattr("gamedp.certificates.checking.choice_values.SLICE", size)
        assert gamedp.verify(solution.model, certificate).width == solution.width


# Making them -------------------------------------------------------------------------------------


def test_bounds_that_hide_their_proof_are_widened():
    """A sum without rounding, of a bound that was rounded by more than the next one."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2, 2],
        [0, 1, 3],
        [1, 2, 3],
        [1.0, 0.5, 0.5],
        rewards=[-0.5, 0.0],
        terminals=[2, 3],
        payoffs=[0.9, 1.1],
    )
    solution = gamedp.solve(model)
    lower = np.array([0.5, np.nextafter(1.0, 0), 0.9, 1.1])
    hidden = attrs.evolve(solution, lower=lower)
    certificate = gamedp.certify(hidden)
    assert certificate.lower[0] < lower[0]
    assert lower[0] - certificate.lower[0] < 1e-14
    gamedp.verify(model, certificate)


def test_the_smallest_numbers_have_certificates():
    """No part of these can be spared for rounding; bounds are widened in units of the least."""
    least = 5e-324
    model = gamedp.Model.from_arrays(
        [0, 1, 3, 3, 3],
        [0, 5, 7, 10],
        [2, 2, 0, 0, 1, 1, 2, 2, 2, 0],
        np.array([50, -50, 50, -50, 1, 134, 67, 3, -3, -200])
        / np.repeat([201, 201, 206], [5, 2, 3]),
        players=[0, 0, 0, 1],
        terminals=[2, 3],
        payoffs=[-least, -least],
        num_players=2,
    )
    solution = gamedp.solve(model, gamedp.TotalReward(), gamedp.solvers.ExactPolicyIteration())
    certificate = gamedp.certify(solution)
    assert_contains(certificate, solution.exact)
    assert gamedp.verify(model, certificate).width < 1e-300


def test_bounds_that_do_not_hold_are_not_certified():
    solution = gamedp.solve(Matches(), compile="never")
    state = int((solution.lower == -1).argmax())
    lower = solution.lower.copy()
    lower[state] = 0.5
    wrong = attrs.evolve(solution, lower=lower, upper=np.maximum(lower, solution.upper))
    with pytest.raises(CertificateError, match="are wrong: the value of"):
        gamedp.certify(wrong)


def test_what_is_not_proven_has_no_certificate():
    solution = gamedp.solve(loop())
    unproven = attrs.evolve(solution, guarantee=gamedp.Guarantee.NONE)
    with pytest.raises(UnsupportedProblemError, match="NONE"):
        gamedp.certify(unproven)


@relaxed
@given(models(ends=False), st.data())
def test_kernels_compiled_and_in_plain_python_agree(model, data):
    flags = st.lists(st.booleans(), min_size=model.num_states, max_size=model.num_states)
    structure = model.structure
    helps = np.array([data.draw(flags), data.draw(flags)])
    inside = np.array([data.draw(flags), data.draw(flags)])
    ranked = np.array([data.draw(flags), data.draw(flags)]) & ~inside
    equation = unordered_equation(
        structure.graph,
        model.probabilities,
        np.stack([model.rewards, -model.rewards]),
        helps,
    )
    good = np.ones((2, model.num_choices), np.bool_)
    chooses = np.diff(model.choice_offsets) > 0
    results = []
    for names in (
        ("keep_inside", "find_gains", "rank_in_order", "rank_along", "relax"),
        ("keep_inside_jit", "find_gains_jit", "rank_in_order_jit", "rank_along_jit", "relax_jit"),
    ):
        keep, find, rank_in_order, rank_along, relax = (getattr(kernels, name) for name in names)
        members, gains = inside.copy(), np.full(inside.shape, kernels.NONE)
        keep(equation, structure.order, good, ranked, members, gains)
        by = np.full(inside.shape, kernels.NONE)
        find(equation, structure.order, good, ranked, ranked ^ inside, inside, gains, by)
        bounds = np.where(inside, 1.0, 0.5)
        via = np.tile(model.choice_offsets[:-1], (2, 1))
        offsets = np.zeros(model.num_states + 1, np.int64)
        sources = np.empty(model.num_transitions, np.int32)
        turn = transpose_jit if relax is kernels.relax_jit else transpose
        turn(*structure.graph[1:], model.probabilities, offsets, sources)
        reverse = Reverse(structure.owners, locked(offsets), locked(sources))
        ranks = np.where(ranked, 0, kernels.NONE)
        rank_in_order(equation, False, good, inside, ranks, by)
        along, waiting = np.where(ranked, 0, kernels.NONE), inside & chooses
        rank_along(equation, True, via, waiting, along)
        dirty = ranked | inside
        relax(
            equation, True, reverse, via, inside,
            np.array([1.0, -1.0]), 0.9, dirty, bounds,
        )  # fmt: skip
        columns = np.tile(bounds.T, 2)
        shape = (2, model.num_choices)
        found = kernels.ChoiceMisses(
            np.empty(shape), np.empty(shape, bool), np.empty((2, len(inside.T)), int)
        )
        look = kernels.look_jit if relax is kernels.relax_jit else kernels.look
        look(equation, columns, 0.9, np.array([False, True]), True, found)
        look_along = getattr(
            kernels,
            "look_along_jit" if look is not kernels.look else "look_along",
        )
        fails = np.empty_like(inside)
        look_along(equation, columns, 0.9, inside & chooses, via, fails)
        # The same choices keep their bounds, as far as they are asked for.
        for number, state in np.argwhere(inside & chooses).tolist():
            misses = found.misses[number, slice(*model.choice_offsets[state : state + 2])]
            does = (misses == 0).any() if helps[number, state] else (misses == 0).all()
            assert fails[number, state] == (not does)
            if does and helps[number, state]:
                assert found.misses[number, via[number, state]] == 0
        results.append(
            (members, gains, by, ranks, along, waiting, bounds, sources, dirty, via, fails, *found)
        )
    for plain, compiled in zip(*results, strict=True):
        assert np.array_equal(plain, compiled)


# On disk, and from the command line --------------------------------------------------------------


def same(one, other):
    for name in ("rules", "objective", "rest_shift", "digest"):
        assert getattr(one, name) == getattr(other, name)
    assert one.evidence.keys() == other.evidence.keys()
    for name in ("lower", "upper", *one.evidence):
        a, b = one.array(name), other.array(name)
        assert np.array_equal(a, b)
        assert a.dtype == b.dtype
        assert not b.flags.writeable


OBJECTIVES = {
    "total": gamedp.TotalReward(),
    "least": gamedp.TotalReward("min"),
    "until": gamedp.TotalReward("min", until=[1]),
    "reach": gamedp.Reachability([1], [0, 1]),
    "discounted": gamedp.Discounted(0.5),
    "horizon": gamedp.FiniteHorizon(3),
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_certificates_are_saved_and_loaded(name, tmp_path):
    model = loop()
    certificate = gamedp.certify(gamedp.solve(model, OBJECTIVES[name]))
    gamedp.save(certificate, tmp_path / "proof")
    loaded = gamedp.load(tmp_path / "proof")
    same(certificate, loaded)
    same(certificate, pickle.loads(pickle.dumps(certificate)))
    gamedp.verify(model, loaded)
    gamedp.save(certificate, tmp_path / "proof")  # once more, over itself


def test_solutions_and_certificates_do_not_overwrite_each_other(tmp_path):
    solution = gamedp.solve(Matches(), compile="never")
    gamedp.save(solution, tmp_path / "solution")
    gamedp.save(gamedp.certify(solution), tmp_path / "proof")
    with pytest.raises(DamagedFileError, match="not of a saved certificate"):
        gamedp.save(gamedp.certify(solution), tmp_path / "solution")
    with pytest.raises(DamagedFileError, match="not of a saved solution"):
        gamedp.save(solution, tmp_path / "proof")
    assert isinstance(gamedp.load(tmp_path / "proof"), gamedp.Certificate)
    assert isinstance(gamedp.load(tmp_path / "solution", as_=gamedp.Solution), gamedp.Solution)
    with pytest.raises(DamagedFileError, match="holds a Certificate, not a Solution"):
        gamedp.load(tmp_path / "proof", as_=gamedp.Solution)
    with pytest.raises(DamagedFileError, match="holds a Solution, not a Certificate"):
        gamedp.load(tmp_path / "solution", as_=gamedp.Certificate)
    with pytest.raises(gamedp.errors.InvalidParameterError, match="needs no game"):
        gamedp.load(tmp_path / "proof", game=Matches())


def test_a_damaged_certificate_is_noticed(tmp_path):
    gamedp.save(gamedp.certify(gamedp.solve(loop())), tmp_path)
    path = next(tmp_path.glob("lower-*.npy"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(DamagedFileError, match="checksum"):
        gamedp.load(tmp_path)


@pytest.mark.parametrize("changes", [{"rules": "my own"}, {"guess": np.zeros(2)}])
def test_what_no_rules_know_is_not_saved(changes, tmp_path):
    certificate = gamedp.certify(gamedp.solve(loop()))
    with pytest.raises(gamedp.errors.InvalidParameterError, match="cannot be saved"):
        gamedp.save(forged(certificate, **changes), tmp_path / "proof")
    assert not (tmp_path / "proof").exists()


def test_a_target_that_cannot_be_written_down_is_said_to_be(tmp_path):
    certificate = gamedp.certify(gamedp.solve(loop()))
    function = forged(certificate, objective=gamedp.Reachability(lambda state: state == 1))
    with pytest.raises(gamedp.errors.InvalidParameterError, match="target of the objective"):
        gamedp.save(function, tmp_path)


def test_the_command_line_verifies(tmp_path, run):
    options = ("--compile", "never", "--set", "matches=9")
    saved, proof = tmp_path / "solution", tmp_path / "proof"
    code, out, _ = run("solve", "matches", *options, "--save", saved, "--certificate", proof)
    assert code == 0
    assert f"proof in    {proof}" in out
    code, out, _ = run("verify", "matches", proof, "--set", "matches=9")
    assert code == 0
    assert "verified    For every state" in out
    code, out, _ = run("verify", saved, proof, "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["verified"]
    assert facts["states"] == 10
    code, out, err = run("verify", "matches", proof, "--json")
    assert code == 1
    assert not json.loads(out)["verified"]
    assert "of another model" in err
    code, _, err = run("verify", "matches", proof, "--coalition", "0")
    assert code == 2
    assert "--coalition is for a model in a file" in err
    code, _, err = run("verify", saved, tmp_path / "none")
    assert code == 1
    assert "there is no folder" in err


def test_the_command_line_verifies_models_in_files(tmp_path, run):
    file, proof = tmp_path / "model.drn", tmp_path / "proof"
    gamedp.write_model(file, loop())
    code, out, err = run("solve", file, "--reach", 1, "--certificate", proof)
    assert (code, err) == (0, "")
    assert f"proof in    {proof}" in out
    code, out, _ = run("verify", file, proof)
    assert code == 0
    assert "objective   reach" in out
    code, _, err = run("verify", file, proof, "--set", "goal=3")
    assert code == 2
    assert "--set is for games and programs" in err


# Averages of the solver ---------------------------------------------------------------------------


@relaxed
@given(models(ends=False, swaps=False), st.sampled_from(["max", "min"]))
def test_averages_are_certified(model, optimum):
    try:
        solution = solve_best_effort(model, gamedp.AverageReward(optimum))
    except UnsupportedProblemError:
        return
    assume(solution.guarantee is gamedp.Guarantee.TWO_SIDED and solution.biases is not None)
    assert_certified(solution)


def test_every_set_of_rules_can_be_saved():
    assert sorted(CERTIFICATE_RULES.values()) == sorted(RULES)


class StopHereError(Exception):
    """It is to stop."""


def stop(told):
    raise StopHereError(told.phase)


ENDLESS = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
"""A state that is never left, and earns 1 in each step."""


@pytest.mark.parametrize("horizon", [10**9, 2**64])
def test_a_stranger_who_asks_for_too_many_steps_is_stopped(horizon):
    certificate = gamedp.certify(gamedp.solve(ENDLESS, gamedp.FiniteHorizon(3)))
    certificate = forged(certificate, objective=gamedp.FiniteHorizon(horizon))
    with pytest.raises(StopHereError, match="verify"):
        gamedp.verify(ENDLESS, certificate, progress=stop)


def test_steps_that_change_nothing_are_not_repeated(monkeypatch):
    model = gamedp.compile(Matches(matches=4), compile="never")
    certificate = gamedp.certify(gamedp.solve(model, gamedp.FiniteHorizon(4)))
    certificate = forged(certificate, objective=gamedp.FiniteHorizon(10**9))
    steps = itertools.count()

    def step_back(*given):
        assert next(steps) < 2 * (4 + 2)  # both bounds; the fifth step is the first one in vain
        return true(*given)

    true = bounds._step_back
    monkeypatch.setattr(bounds, "_step_back", step_back)
    assert gamedp.verify(model, certificate).width == 0
    with pytest.raises(CertificateError, match="not certified: step by step it comes to"):
        gamedp.verify(model, forged(certificate, lower=certificate.lower + 1))


@pytest.mark.parametrize(
    "game",
    [
        Matches(matches=6),
        Kniffel(dice=1, faces=2, throws=1, threshold=3),
        Mancala(players=3, pits=2, stones=2),
    ],
)
def test_every_check_says_how_far_it_has_got(game, monkeypatch):
    solution = gamedp.solve(game, compile="never")
    certificate, met = gamedp.certify(solution), []
    monkeypatch.setattr(limit, "INTERVAL", 0.0)
    monkeypatch.setattr(bounds, "look", lambda _, sides: [side.required for side in sides])
    gamedp.verify(solution.model, certificate, progress=met.append)
    assert {told.phase for told in met} == {"verify"}
    assert all(0 <= told.done < told.total for told in met)


def test_the_command_line_shows_how_far_it_has_got(tmp_path, run, monkeypatch):
    solution = gamedp.solve(Matches(matches=6), gamedp.FiniteHorizon(3), compile="never")
    gamedp.save(solution, tmp_path / "solution")
    gamedp.save(gamedp.certify(solution), tmp_path / "proof")
    met = []
    monkeypatch.setattr(limit, "INTERVAL", 0.0)
    monkeypatch.setattr(verifying, "watch", lambda **_: contextlib.nullcontext(met.append))
    assert run("verify", tmp_path / "solution", tmp_path / "proof")[0] == 0
    assert "verify" in {told.phase for told in met}
