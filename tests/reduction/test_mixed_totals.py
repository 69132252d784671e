"""Totals of endless play that earns and loses: what the average tells, and what it does not."""

import math

import attrs
import numba
import numpy as np
import pytest
from forging import claimed, forged
from games_of_opponents import games_of_opponents
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from reductions import is_reduced, reduction_of

import gamedp
from gamedp import reduction
from gamedp.bellman import average
from gamedp.reduction.gains import sign_of_gain
from gamedp.testing import exact_values

relaxed = settings(
    # Plain Python takes long for each.
    max_examples=12 if numba.config.DISABLE_JIT else 50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
sides = st.sampled_from(["max", "min"])
drawn = games_of_opponents(st.sampled_from([-3, -1, 0, 2]))
SOLVERS = (
    gamedp.solvers.TopologicalValueIteration(max_sweeps=50_000),
    gamedp.solvers.IntervalIteration(max_sweeps=50_000),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.ValueIteration(max_sweeps=50_000),
    gamedp.solvers.OptimisticValueIteration(max_sweeps=50_000),
    gamedp.solvers.LinearProgramming(),
    gamedp.solvers.StrategyIteration(),
    gamedp.solvers.ExactPolicyIteration(),
)
PROVING = (
    gamedp.solvers.StrategyIteration,
    gamedp.solvers.IntervalIteration,
    gamedp.solvers.TopologicalValueIteration,
)


def has_mixed(model):
    """Say whether some end component has rewards of both signs."""
    structure = model.structure
    labels = np.where(structure.stays, structure.end_component[structure.owners], -1)
    return any(
        (model.rewards[labels == label] > 0).any() and (model.rewards[labels == label] < 0).any()
        for label in range(structure.num_end_components)
    )


def known_values(model, objective, **keywords):
    """Return the exact values; drop the example if some policy has none, though the best has."""
    try:
        return exact_values(model, objective, **keywords)
    except gamedp.UnsupportedProblemError:
        assume(False)


def assert_mixed_solved(model, objective, truth):
    problem = gamedp.Problem(model, objective)
    solved = 0
    for solver in SOLVERS:
        if not solver.supports(problem):
            continue
        try:
            solution = gamedp.solve(model, objective, solver, tolerance=1e-7)
        except gamedp.NotSolvedError as error:  # sweeps that prove nothing may go on for ever
            solution = error.solution
        assert solution.status is gamedp.Status.SOLVED or not isinstance(solver, PROVING)
        if solution.guarantee is gamedp.Guarantee.NONE:
            assert not isinstance(solver, PROVING)
            continue
        solved += 1
        all_bounds, refusal = [solution], ""
        try:
            all_bounds.append(gamedp.certify(solution))
        except gamedp.UnsupportedProblemError as error:
            refusal = str(error)
        assert not refusal or "earn and lose in turn" in refusal
        for bounds in all_bounds:
            for low, value, high in zip(
                bounds.lower.tolist(), truth, bounds.upper.tolist(), strict=True
            ):
                assert low <= value <= high
                assert low == high or high - low <= 1.1e-7
        for player in (0, 1):
            got = known_values(model, objective, policy=solution.policy.tolist(), player=player)
            wants_most = (player == 0) == (objective.optimum == "max")
            for value, best in zip(got, truth, strict=True):
                # Written so that an infinite value is equal to itself.
                lost = 0 if value == best else best - value if wants_most else value - best
                assert lost <= 1e-6
    assert solved >= 2


def is_solved(model, objective):
    reduction = reduction_of(gamedp.Problem(model, objective))
    return is_reduced(reduction)


@pytest.mark.slow
@relaxed
@given(drawn, sides, st.booleans())
def test_one_player(model, optimum, has_target):
    model = attrs.evolve(model, players=0 * model.players)
    assume(has_mixed(model))
    target = model.terminals.tolist() if has_target else None
    objective = gamedp.TotalReward(optimum, until=target)
    assume(is_solved(model, objective))
    truth = known_values(model, objective)
    known = reduction_of(gamedp.Problem(model, objective)).known
    # Who goes round as long as they like, and to the target then, does so without a fixed policy.
    assume(not (has_target and (known == -math.inf).any()))
    assert_mixed_solved(model, objective, truth)


@pytest.mark.slow
@relaxed
@given(drawn, sides)
def test_two_opponents(model, optimum):
    assume(has_mixed(model))
    objective = gamedp.TotalReward(optimum)
    assume(is_solved(model, objective))
    assert_mixed_solved(model, objective, known_values(model, objective))


@relaxed
@given(games_of_opponents(st.sampled_from([-1, 0, 0])), sides)
def test_what_can_be_put_off_for_ever(model, optimum):
    """Where that is minus infinity, it might as well be an end that is worth almost as little."""
    objective = gamedp.TotalReward(optimum, until=model.terminals.tolist())
    assume(is_solved(model, objective))
    solution = gamedp.solve(model, objective, gamedp.solvers.IntervalIteration(max_sweeps=50_000))
    endless = solution.values == -math.inf
    assume(endless.any())
    counts = np.where(endless, 0, np.diff(model.choice_offsets))
    kept = ~endless[model.structure.owners]
    lengths = np.diff(model.transition_offsets)
    ends = np.flatnonzero(counts == 0)
    payoffs = np.full(model.num_states, -1e9)
    payoffs[model.terminals] = model.payoffs
    ended = gamedp.Model.from_arrays(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([[0], np.cumsum(lengths[kept])]),
        model.successors[np.repeat(kept, lengths)],
        model.probabilities[np.repeat(kept, lengths)],
        rewards=model.rewards[kept],
        players=model.players,
        terminals=ends,
        payoffs=payoffs[ends],
        num_players=2,
    )
    truth = exact_values(ended, gamedp.TotalReward(optimum, until=ends.tolist()))
    for state in np.flatnonzero(~endless).tolist():
        assert solution.lower[state] <= truth[state] <= solution.upper[state]
        assert truth[state] > -1e6


@relaxed
@given(drawn, st.sampled_from([1, -1]))
def test_the_sign_of_the_best_average(model, sign):
    structure = model.structure
    assume(structure.num_end_components)
    members = structure.end_component == 0
    size = int(members.sum())
    inside = structure.stays & members[structure.owners]
    place = np.cumsum(members) - 1
    lengths = np.diff(model.transition_offsets)
    counts = np.bincount(structure.owners[inside], minlength=model.num_states)[members]
    component = gamedp.Model.from_arrays(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([[0], np.cumsum(lengths[inside])]),
        place[model.successors[np.repeat(inside, lengths)]],
        model.probabilities[np.repeat(inside, lengths)],
        rewards=sign * model.rewards[inside],
        players=[0] * size,
    )
    average = exact_values(component, gamedp.AverageReward())[0]
    assume(average == 0 or abs(average) > 1e-6)
    gain, policy, _ = sign_of_gain(model, members, structure.stays, sign)
    assert gain == (average > 0) - (average < 0)
    assert ((policy >= 0) == (members if gain > 0 else np.zeros_like(members))).all()


def round_trip(there, back, **keywords):
    """From 0 to 1 and back, or from 0 to the end."""
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 1, 2, 3],
        [1, 2, 0],
        np.ones(3),
        rewards=[there, 0.0, back],
        terminals=[2],
        **keywords,
    )


@pytest.mark.parametrize(
    ("there", "back", "optimum", "values"),
    [
        (2.0, -1.0, "max", [math.inf, math.inf, 5.0]),
        (2.0, -1.0, "min", [5.0, 4.0, 5.0]),
        (1.0, -2.0, "max", [5.0, 3.0, 5.0]),
        (1.0, -2.0, "min", [-math.inf, -math.inf, 5.0]),
    ],
)
def test_known_values(there, back, optimum, values):
    model = round_trip(there, back, payoffs=[5.0])
    solution = gamedp.solve(model, gamedp.TotalReward(optimum))
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert solution.values.tolist() == values
    assert exact_values(model, gamedp.TotalReward(optimum)) == values
    until = gamedp.solve(model, gamedp.TotalReward(optimum, until=[2]))
    if optimum == "min":
        assert until.values.tolist() == values
    else:
        assert until.values.tolist() == [math.inf, math.inf, 5.0]


def test_drifts_must_be_exceeded():
    """Two rounds of +3 and -1 earn 4; what proves it is refused as soon as it claims too much."""
    model = round_trip(3.0, -1.0)
    certificate = gamedp.certify(gamedp.solve(model))
    assert certificate.lower.tolist() == [math.inf, math.inf, 0.0]
    assert gamedp.verify(model, certificate).width == 0
    first, second = certificate.evidence["bias_lower"][:2]
    assert first < 3 + second
    assert second < -1 + first
    for state, other in ((0, 3 + second), (1, first - 1)):
        drifts = certificate.evidence["bias_lower"].copy()
        for number in (other, np.nextafter(other, np.inf), -np.inf):
            drifts[state] = number
            with pytest.raises(
                gamedp.errors.CertificateError, match=r"lower\[0\] = inf|lower\[1\] = inf"
            ):
                gamedp.verify(model, forged(certificate, bias_lower=drifts))
    for number in (math.inf, math.nan):
        drifts[0] = number
        with pytest.raises(gamedp.errors.CertificateError, match=r"bias_lower\[0\] is"):
            gamedp.verify(model, forged(certificate, bias_lower=drifts))


def test_drifts_and_gains_do_not_go_together():
    """From 0 by its drift to 1, and back as 1 is content: that loses 5 each time."""
    model = gamedp.Model.from_arrays([0, 1, 2], [0, 1, 2], [1, 0], np.ones(2), rewards=[-5.0, 0.0])
    for drifts in ([0.0, 10.0], [0.0, -np.inf], [-np.inf, 10.0], [-np.inf, -np.inf]):
        for gains in ([0, 0], [1, 0], [0, 1]):
            wrong = claimed(
                objective=gamedp.TotalReward(),
                lower=np.array([-5.0, 0.0]),
                upper=np.array([np.inf, np.inf]),
                lower_ranks=np.array([1, 1]),
                upper_ranks=np.array([-1, -1]),
                lower_gains=np.array(gains),
                upper_gains=np.array([0, 0]),
                bias_lower=np.array(drifts),
                bias_upper=np.array([np.inf, np.inf]),
                digest=model.digest(),
            )
            with pytest.raises(gamedp.errors.CertificateError, match=r"lower\["):
                gamedp.verify(model, wrong)


@relaxed
@given(drawn, sides, st.data())
def test_nothing_beyond_the_truth_is_accepted(model, optimum, data):
    """Whatever number is claimed, with ranks and drifts as they may be."""
    assume(has_mixed(model))
    objective = gamedp.TotalReward(optimum)
    assume(is_solved(model, objective))
    truth = known_values(model, objective)
    certificate = gamedp.certify(gamedp.solve(model, objective, SOLVERS[1], tolerance=1e-7))
    state = data.draw(st.integers(0, model.num_states - 1))
    for name, sign in (("lower", 1), ("upper", -1)):
        if truth[state] == sign * math.inf:
            continue
        bound = certificate.array(name).copy()
        claims = [sign * math.inf]
        if abs(truth[state]) < math.inf:
            claims.append(float(truth[state]) + sign * 1e-9)
        for claim in claims:
            bound[state] = claim
            changes = {name: bound}
            if data.draw(st.booleans()):
                ranks = certificate.array(f"{name}_ranks").copy()
                ranks[state] = data.draw(st.integers(-1, 4))
                changes[f"{name}_ranks"] = ranks
            drifts = certificate.array(f"bias_{name}")
            if drifts is not None and data.draw(st.booleans()):
                drifts = drifts.copy()
                drifts[state] = data.draw(st.sampled_from([-10.0, -1.0, 0.0, 1.0, 10.0]))
                changes[f"bias_{name}"] = drifts
            with pytest.raises(gamedp.errors.CertificateError):
                gamedp.verify(model, forged(certificate, **changes))


@pytest.mark.parametrize("objective", [gamedp.TotalReward(), gamedp.TotalReward("min", until=[2])])
def test_what_is_too_close_to_tell(objective):
    model = round_trip(0.1, -0.1 * (1 + 2e-16))
    with pytest.raises(
        gamedp.UnsupportedProblemError,
        match=r"around state 0, unless their sum surely grows .* 0, or too close to 0 to tell",
    ):
        gamedp.solve(model, objective, gamedp.solvers.IntervalIteration())


def test_end_components_of_either_sign():
    """Going round 0 and 1 earns, going round 2 and 3 loses; in each, either side may leave."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 6, 8, 8, 8],
        np.arange(9),
        [1, 4, 0, 5, 3, 5, 2, 4],
        np.ones(8),
        rewards=[1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0],
        players=[1, 0, 0, 1, 0, 0],
        terminals=[4, 5],
        payoffs=[5.0, 2.0],
    )
    solution = gamedp.solve(model)
    assert isinstance(solution.solver, gamedp.solvers.IntervalIteration)
    assert solution.values == pytest.approx([5.0, 5.0, 2.0, 2.0, 5.0, 2.0])
    assert exact_values(model) == [5, 5, 2, 2, 5, 2]
    assert "bounds are deflated there" in gamedp.explain(model)
    assert_mixed_solved(model, gamedp.TotalReward(), exact_values(model))
    with pytest.raises(gamedp.UnsupportedProblemError, match="rewards of one sign"):
        gamedp.solve(model, solver=gamedp.solvers.StrategyIteration())


def test_drifts_are_saved_and_loaded(tmp_path):
    model = round_trip(3.0, -1.0)
    certificate = gamedp.certify(gamedp.solve(model))
    gamedp.save(certificate, tmp_path / "proof")
    loaded = gamedp.load(tmp_path / "proof")
    assert np.array_equal(loaded.evidence["bias_lower"], certificate.evidence["bias_lower"])
    assert gamedp.verify(model, loaded).width == 0


@pytest.mark.parametrize("optimum", ["max", "min"])
def test_what_two_opponents_make_infinite_both_ways_is_refused_at_once(optimum):
    """From state 0, chance leads to gain or to loss for ever, whatever the players choose."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 3, 5, 7, 7],
        [0, 2, 3, 4, 5, 6, 7, 8],
        [1, 2, 1, 2, 0, 5, 3, 5],
        [0.5, 0.5, 1, 1, 1, 1, 1, 1],
        rewards=[0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0],
        players=[0, 0, 0, 1, 0, 0],
        terminals=[5],
        num_players=2,
    )
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"infinite both ways from state 0"):
        gamedp.solve(model, gamedp.TotalReward(optimum))


@pytest.mark.parametrize(
    ("there", "back", "optimum", "values"),
    [
        # All endless play earns: whoever wants the least must leave.
        (2.0, -1.0, "max", [6.0, 4.0]),
        # All of it loses: whoever wants the most leaves.
        (1.0, -2.0, "max", [3.0, 1.0]),
        (2.0, -1.0, "min", [3.0, 4.0]),
        (1.0, -2.0, "min", [3.0, 4.0]),
    ],
)
@pytest.mark.parametrize(
    "solver", [None, gamedp.solvers.StrategyIteration(), gamedp.solvers.IntervalIteration()]
)
def test_contests_that_earn_or_lose_in_turn_are_solved(there, back, optimum, values, solver):
    """State 0 leads to 1 or ends with 3; state 1, the opponent's, leads back or ends with 4."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        range(5),
        [1, 2, 0, 3],
        np.ones(4),
        rewards=[there, 0.0, back, 0.0],
        players=[0, 1, 0, 0],
        terminals=[2, 3],
        payoffs=[3.0, 4.0],
        num_players=2,
    )
    solution = gamedp.solve(model, gamedp.TotalReward(optimum), solver)
    assert solution.status is gamedp.Status.SOLVED
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert solution.width <= 1e-6
    assert solution.values[:2].tolist() == pytest.approx(values)


@pytest.mark.parametrize("sign", [1, -1])
def test_policies_attain_infinite_totals_that_earn_and_lose_in_turn(sign):
    """To stay at 1 earns more at once; the way that earns in the long run pays for that first."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 5],
        range(6),
        [0, 1, 0, 2, 0],
        np.ones(5),
        rewards=sign * np.array([-1.0, -2.0, 1.0, -3.0, 6.0]),
    )
    solution = gamedp.solve(model, gamedp.TotalReward("max" if sign > 0 else "min"))
    assert solution.values[:3].tolist() == [sign * math.inf] * 3
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert solution.policy[:3].tolist() == [1, 3, 4]
    assert exact_values(model, gamedp.AverageReward(), policy=solution.policy)[0] * sign > 0
    gamedp.verify(model, gamedp.certify(solution))


def test_the_sign_of_a_gain_that_sweeps_hardly_tell_takes_few_of_them(monkeypatch):
    """A ring that gains 2**-40 a round, whose states are hardly left: biases tell at once."""
    visits = []
    settle = average.settle_jit

    def counted(*arguments):
        found = settle(*arguments)
        visits.append(int(arguments[-1][0]))
        return found

    monkeypatch.setattr(average, "settle_jit", counted)
    rare = 2.0**-20
    model = gamedp.Model.from_arrays(
        range(4),
        [0, 2, 4, 6],
        [0, 1, 1, 2, 2, 0],
        [1 - rare, rare] * 3,
        rewards=[1.0, -1.0, 2.0**-40],
    )
    members = np.ones(3, np.bool_)
    for sign, wanted in ((1, 1), (-1, -1)):
        assert sign_of_gain(model, members, model.structure.stays, sign).sign == wanted
    assert sum(visits) < 1000


@pytest.mark.parametrize("name", ["IntervalIteration", "StrategyIteration", "ExactPolicyIteration"])
@pytest.mark.parametrize("two", [False, True])
def test_a_limit_of_time_holds_for_the_signs_of_gains(monkeypatch, name, two):
    """Nothing is swept when time is up; with more time, the same problem is solved after all."""
    solver = getattr(gamedp.solvers, name)
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4],
        range(5),
        [1, 2, 0, 2],
        np.ones(4),
        rewards=[2.0, 0.0, -1.0, 0.0],
        players=[0, int(two), 0],
        terminals=[2],
        payoffs=[5.0],
        num_players=1 + two,
    )
    problem = gamedp.Problem(model, gamedp.TotalReward("min"))
    swept = []
    settle = average.settle_jit

    def counted(*arguments):
        swept.append(arguments)
        return settle(*arguments)

    monkeypatch.setattr(average, "settle_jit", counted)
    assert solver(max_seconds=1e-9).supports(problem)  # as far as is known by then
    if not two:  # where both make an end, that is found without signs
        with pytest.raises(gamedp.NotSolvedError, match="Raise max_seconds") as caught:
            gamedp.solve(model, gamedp.TotalReward("min"), max_seconds=1e-9)
        assert caught.value.solution.solver.max_seconds == np.inf
    assert not swept
    with pytest.raises(gamedp.NotSolvedError, match=r"limit of time.*Raise max_seconds") as caught:
        solver(max_seconds=1e-9).solve(problem, tolerance=1e-6)
    assert not swept
    solution = caught.value.solution
    assert solution.status is gamedp.Status.TIME_LIMIT
    truth = exact_values(model, gamedp.TotalReward("min"))
    assert all(low <= value <= high for low, value, high in zip(
        solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
    ))  # fmt: skip
    assert solver().solve(problem, tolerance=1e-6).values.tolist() == truth
    assert swept


def test_the_sign_of_a_gain_is_given_up_when_time_is_up(monkeypatch):
    """Sweeps that never tell are done in pieces if there is a limit of time, else at once."""
    pieces = []

    def swept_in_vain(*arguments):
        pieces.append(arguments[4])
        arguments[-2][0] = -1.0, 1.0
        return 0

    for name, number in (("FEW_SWEEPS", 4), ("MOST_SWEEPS", 16), ("TIMED_TRANSITIONS", 9)):
        monkeypatch.setattr(reduction.gains, name, number)
    monkeypatch.setattr(average, "settle_jit", swept_in_vain)
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 0, 0], [0.3, 0.7, 1.0, 1.0], rewards=[0.0, 7.0, -3.0]
    )
    members, stays = np.ones(3, np.bool_), model.structure.stays
    assert sign_of_gain(model, members, stays, 1).sign == 0
    assert pieces == [4, 16]
    pieces.clear()
    assert sign_of_gain(model, members, stays, 1, lambda: False).sign == 0
    assert pieces == [2] * 10
    pieces.clear()
    with pytest.raises(reduction.OutOfTimeError):
        sign_of_gain(model, members, stays, 1, lambda: len(pieces) == 5)
    assert pieces == [2] * 5
