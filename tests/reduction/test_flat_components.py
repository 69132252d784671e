"""End components that earn and lose in turn, on every way round as much: what they are worth."""

import math

import attrs
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from reductions import is_reduced, reduction_of

import gamedp
from gamedp.reduction import OutOfTimeError, reduce
from gamedp.reduction.potentials import flat_parts
from gamedp.solvers.request import Refusal
from gamedp.testing import exact_values

relaxed = settings(
    # Plain Python takes long for each.
    max_examples=12 if numba.config.DISABLE_JIT else 60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
SOLVERS = (
    gamedp.solvers.TopologicalValueIteration(),
    gamedp.solvers.IntervalIteration(),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.OptimisticValueIteration(),
    gamedp.solvers.LinearProgramming(),
    gamedp.solvers.StrategyIteration(),
    gamedp.solvers.ExactPolicyIteration(),
)


@st.composite
def landscapes(draw):
    """Draw states at heights; most steps earn what they fall, others lead to an end or do not."""
    inner = draw(st.integers(2, 4))
    heights = [draw(st.integers(-2, 2)) for _ in range(inner)]
    choices, offsets, successors, probabilities, earned = [0], [0], [], [], []
    for state in range(inner):
        for number in range(draw(st.integers(1, 3))):
            kind = draw(st.sampled_from(["step", "step", "end", "else"])) if number else "step"
            targets = [draw(st.integers(0, inner - 1))]
            reward = heights[state] - heights[targets[0]]
            if kind == "end":
                targets = [inner + draw(st.integers(0, 1)), *targets][: draw(st.integers(1, 2))]
                reward = draw(st.sampled_from([-3, -1, 0, 0.1, 2]))
            elif kind == "else":
                targets = list({*targets, draw(st.integers(0, inner - 1))})
                reward -= draw(st.sampled_from([0, 0, 0, 1, 2, -1]))
            weights = [draw(st.integers(1, 3)) for _ in targets]
            successors += targets
            probabilities += [weight / sum(weights) for weight in weights]
            offsets.append(len(successors))
            earned.append(float(reward))
        choices.append(len(earned))
    return gamedp.Model.from_arrays(
        choices + [len(earned)] * 2,
        offsets,
        successors,
        probabilities,
        rewards=earned,
        terminals=[inner, inner + 1],
        payoffs=[float(draw(st.integers(-2, 2))) for _ in range(2)],
    )


def assert_flat_solved(model, objective):
    """Whatever is not refused is right, by every solver; the policy attains it."""
    problem = gamedp.Problem(model, objective)
    reduction = reduction_of(problem)
    assume(is_reduced(reduction) and reduction.recasts)
    try:
        truth = exact_values(model, objective)
    except gamedp.UnsupportedProblemError as error:
        assume("may put the end off" not in str(error))  # for that is minus infinity
        raise
    for solver in SOLVERS:
        solution = gamedp.solve(model, objective, solver, tolerance=1e-7)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        if isinstance(solver, gamedp.solvers.ExactPolicyIteration):
            assert list(solution.exact) == truth
        for low, value, high in zip(
            solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
        ):
            assert low <= value <= high
            assert low == high or high - low <= 1.1e-7
        got = exact_values(model, objective, policy=solution.policy.tolist())
        for attained, value in zip(got, truth, strict=True):
            assert attained == value or abs(attained - value) <= 1e-6
        try:
            certificate = gamedp.certify(solution)
        except gamedp.UnsupportedProblemError:
            assert objective.until is None
        else:
            assert (certificate.lower <= [float(value) for value in truth]).all()
            assert (certificate.upper >= [float(value) for value in truth]).all()


@pytest.mark.slow
@relaxed
@given(landscapes())
def test_the_least_until_a_target(model):
    assert_flat_solved(model, gamedp.TotalReward("min", until=model.terminals.tolist()))


@pytest.mark.slow
@relaxed
@given(landscapes(), st.sampled_from(["max", "min"]))
def test_play_that_may_go_on(model, optimum):
    assert_flat_solved(model, gamedp.TotalReward(optimum))


@relaxed
@given(landscapes(), st.sampled_from(["max", "min"]))
def test_what_has_no_total_is_refused(model, optimum):
    """Where the least and the most of sums that go up and down are not the same, nothing is said.

    The judge refuses some policies that a solver need not look at, but never the other way.
    """
    objective = gamedp.TotalReward(optimum)
    reduction = reduction_of(gamedp.Problem(model, objective))
    try:
        exact_values(model, objective)
    except gamedp.UnsupportedProblemError as error:
        assume("go up and down" in str(error))
        assert isinstance(reduction, Refusal)
    else:
        assume(is_reduced(reduction) and reduction.recasts)


def swing(out=0.5, back=-2.0):
    """From 0 to 1 earns 2, and back costs 2; from 0 one may leave, too."""
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 1, 2, 3],
        [1, 2, 0],
        [1.0, 1.0, 1.0],
        rewards=[2.0, out, back],
        terminals=[2],
    )


@pytest.mark.parametrize("solver", [None, *SOLVERS], ids=str)
def test_a_swing(solver):
    until = gamedp.TotalReward("min", until=[2])
    solution = gamedp.solve(swing(), until, solver)
    assert solution.values.tolist() == [0.5, -1.5, 0.0]
    assert solution.policy.tolist() == [1, 2, -1]
    # To leave brings 3, and no sum on the swing is above 2.
    solution = gamedp.solve(swing(3.0), gamedp.TotalReward(), solver or SOLVERS[1])
    assert solution.values.tolist() == [3.0, 1.0, 0.0]


def test_no_certificate_of_a_swing():
    """Whoever swings loses what they earn: no rule says so. There is one if they have to leave."""
    objective = gamedp.TotalReward()
    for solver in SOLVERS:
        solution = gamedp.solve(swing(3.0), objective, solver)
        with pytest.raises(gamedp.UnsupportedProblemError, match="in turn, as around state 0:"):
            gamedp.certify(solution)
    solution = gamedp.solve(swing(3.0), gamedp.TotalReward("min", until=[2]))
    assert gamedp.verify(swing(3.0), gamedp.certify(solution)).width <= 1e-9
    # Nothing is claimed of a bound that is infinite, and nothing is asked of who goes round.
    solution = gamedp.solve(swing(3.0), objective, SOLVERS[0])
    unknown = attrs.evolve(solution, upper=np.array([np.inf, np.inf, 0.0]))
    assert gamedp.verify(swing(3.0), gamedp.certify(unknown)).width == math.inf
    # Nor does it matter if each round earns a little, or costs it.
    for back, value in ((-1.75, math.inf), (-2.25, 3.0)):
        solution = gamedp.solve(swing(3.0, back), objective, SOLVERS[0])
        assert solution.value(0) == value
        gamedp.verify(swing(3.0, back), gamedp.certify(solution))


def test_no_certificate_of_a_place_to_rest_on_a_costly_way_round():
    """A way round costs 2 in the mean, but the one who may go it can rest, and earns on it."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4],
        [0, 1, 3, 4, 5],
        [0, 0, 1, 1, 0],
        [1.0, 0.75, 0.25, 1.0, 1.0],
        rewards=[0.0, -1.0, 0.0, 2.0],
    )
    for solver in SOLVERS:
        solution = gamedp.solve(model, solver=solver)
        assert solution.lower[1] <= 2 <= solution.upper[1]
        with pytest.raises(gamedp.UnsupportedProblemError, match="earn and lose in turn"):
            gamedp.certify(solution)


def test_no_certificate_of_a_way_round_on_which_the_other_player_has_no_choice():
    """From 0 to 2 to 1 and back earns -1 + 2 - 1; only state 0 has another way to go."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4, 4, 4],
        [0, 1, 4, 5, 6],
        [2, 2, 3, 4, 0, 1],
        [1.0, 2 / 7, 3 / 7, 2 / 7, 1.0, 1.0],
        rewards=[-1.0, 2.0, -1.0, 2.0],
        players=[0, 1, 0, 0, 0],
        terminals=[3, 4],
        payoffs=[1.0, 0.0],
        num_players=2,
    )
    solution = gamedp.solve(model)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert solution.value(0) == pytest.approx(3.8)
    with pytest.raises(gamedp.UnsupportedProblemError, match="earn and lose in turn"):
        gamedp.certify(solution)


@pytest.mark.parametrize("out", [0.0, 1.0])
def test_to_go_round_may_be_better(out):
    """Sums on the swing are 2 again and again, which leaving does not bring."""
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"state 0: .* without a limit"):
        gamedp.solve(swing(out), solver=gamedp.solvers.PolicyIteration())
    with pytest.raises(gamedp.UnsupportedProblemError, match="from state 0: they have no total"):
        exact_values(swing(out))
    # But whoever wants the least goes back to 0 at least.
    assert gamedp.solve(swing(-1.0), gamedp.TotalReward("min")).values.tolist() == [-1, -3, 0]


def test_a_limit_of_time_holds_where_going_round_is_compared_with_leaving():
    """Whenever time is up on the way, nothing is kept; and the problem is solved after that."""
    # The swing, but whoever leaves it comes back from 3 with probability 1/4.
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3, 4],
        [0, 1, 2, 3, 5],
        [1, 3, 0, 0, 2],
        [1.0, 1.0, 1.0, 0.25, 0.75],
        rewards=[2.0, 3.0, -2.0, 0.0],
        terminals=[2],
    )
    asked = [0]

    def count():
        asked[0] += 1
        return False

    reduce(gamedp.Problem(model), count)
    before, asked[0] = asked[0], 0
    reduction_of(gamedp.Problem(model), count)
    assert asked[0] > before
    for last in range(asked[0]):
        asked[0] = 0
        problem = gamedp.Problem(model)
        with pytest.raises(OutOfTimeError):
            reduction_of(problem, lambda last=last: count() or asked[0] > last)
        assert asked[0] == last + 1
        solution = gamedp.solvers.PolicyIteration().solve(problem, tolerance=1e-6)
        assert solution.values.tolist() == pytest.approx([4.0, 2.0, 0.0, 1.0])


def test_no_way_out():
    model = gamedp.Model.from_arrays([0, 1, 2], [0, 1, 2], [1, 0], [1.0, 1.0], rewards=[1.0, -1.0])
    with pytest.raises(gamedp.UnsupportedProblemError, match="play goes on for ever there, earns"):
        gamedp.solve(model, solver=gamedp.solvers.PolicyIteration())


def test_a_place_to_rest():
    """State 1 may stay for nothing: so there is a total without leaving, at the better height."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 0, 1],
        [1.0] * 4,
        rewards=[2.0, -5.0, -2.0, 0.0],
        terminals=[2],
    )
    for solver in SOLVERS:
        solution = gamedp.solve(model, solver=solver)
        assert solution.values.tolist() == [2.0, 0.0, 0.0]
        assert solution.policy.tolist() == [0, 3, -1]
        assert exact_values(model, policy=solution.policy.tolist()) == [2, 0, 0]


def test_parts_within_an_end_component():
    """Two swings, and a costly way from each to the other: the better one has the way out."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 5, 7, 7],
        [0, 1, 2, 3, 4, 5, 6, 7],
        [1, 2, 0, 3, 0, 2, 4],
        [1.0] * 7,
        rewards=[1.0, 4.0, -1.0, -3.0, 5.0, 3.0, 0.25],
        terminals=[4],
    )
    objective = gamedp.TotalReward("min", until=[4])
    for solver in SOLVERS:
        solution = gamedp.solve(model, objective, solver)
        assert solution.values.tolist() == [1.25, 0.25, -2.75, 0.25, 0.0]
        assert gamedp.verify(model, gamedp.certify(solution)).width <= 1e-9
    assert [float(value) for value in exact_values(model, objective)] == solution.values.tolist()


def test_a_fair_game_is_refused():
    """Whoever may play on until they are ahead has no bound; the slightest bias decides."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4, 4],
        [0, 2, 3, 4, 5],
        [1, 2, 3, 0, 0],
        [0.5, 0.5, 1.0, 1.0, 1.0],
        rewards=[0.0, 0.0, 1.0, -1.0],
        terminals=[3],
    )
    objective = gamedp.TotalReward("min", until=[3])
    with pytest.raises(gamedp.UnsupportedProblemError, match="around state 0, unless"):
        gamedp.solve(model, objective)
    with pytest.raises(gamedp.UnsupportedProblemError, match="earn and lose in turn"):
        exact_values(model, objective)
    # With nothing to gamble for, it is a walk of which only the way out counts.
    even = attrs.evolve(model, rewards=np.array([0.0, 0.0, 1.0, 1.0]))
    assert gamedp.solve(even, objective).value(0) == 0


def big_round(states):
    """A circle on which every step earns 1 but the last, which costs all; one may leave anywhere.

    The price of leaving falls by a half from state to state, and then does not make up for that.
    """
    ways = np.arange(states)
    successors = np.stack([np.append(ways[1:], 0), np.full(states, states)], axis=1).ravel()
    rewards = np.stack([np.where(ways < states - 1, 1.0, 1.0 - states), -0.5 * ways], axis=1)
    return gamedp.Model.from_arrays(
        np.append(2 * np.arange(states + 1), 2 * states),
        np.arange(2 * states + 1),
        successors,
        np.ones(2 * states),
        rewards=rewards.ravel(),
        terminals=[states],
    )


@pytest.mark.parametrize("states", [10, 200_000 if not numba.config.DISABLE_JIT else 500])
def test_a_long_way_round(states):
    """The total is n/2 if one walks n steps on and leaves there; best is the start of the circle.

    From the start on, every step earns 1 and makes leaving dearer by 1/2.
    """
    model = big_round(states)
    objective = gamedp.TotalReward("min", until=[states])
    solution = gamedp.solve(model, objective)
    assert solution.values[:states].tolist() == (np.arange(states) * -1.0).tolist()
    assert gamedp.verify(model, gamedp.certify(solution)).width == 0


def heights(model, states):
    """Return the heights of states that form an end component; None if they have none."""
    labels = np.where(np.arange(model.num_states) < states, 0, -1)
    inside = labels[model.successors] == 0  # every step is sure
    parts = flat_parts(model, labels, inside & (labels >= 0)[model.structure.owners])
    return None if parts is None else parts.heights[:states].tolist()


def test_heights_are_exact():
    model = swing(back=-2.0)
    assert heights(model, 2) == [0.0, -2.0]
    for reward in (0.1, 2.0**-1074, 1e300, np.finfo(float).max):
        model = attrs.evolve(model, rewards=np.array([reward, 0.0, -reward]))
        assert heights(model, 2) == [0.0, -reward]
    # One unit in the last place is no swing any more.
    model = attrs.evolve(model, rewards=np.array([0.1, 0.0, -np.nextafter(0.1, 1)]))
    assert heights(model, 2) is None
    # Nor is anything claimed of sums that may be rounded.
    three = gamedp.Model.from_arrays(
        [0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 0], [1.0] * 3, rewards=[1e300, 1.0, -1e300]
    )
    assert heights(three, 3) is None


def test_each_part_has_a_unit_of_its_own():
    """Beside each other: a swing of 1e300, one that is none, and one of the smallest number."""
    sizes = np.array([1e300, 1.0, 2.0**-1074])
    model = gamedp.Model.from_arrays(
        np.arange(7),
        np.arange(7),
        [1, 0, 3, 2, 5, 4],
        np.ones(6),
        rewards=np.stack([sizes, [-1e300, -2.0, -(2.0**-1074)]], axis=1).ravel(),
    )
    parts = flat_parts(model, np.arange(6) // 2, np.ones(6, np.bool_))
    assert parts.labels.tolist() == [0, 0, -1, -1, 1, 1]
    assert parts.heights.tolist() == [0.0, -1e300, 0.0, 0.0, 0.0, -(2.0**-1074)]
    assert parts.stays.tolist() == [True, True, False, False, True, True]


def test_rationals_that_are_no_doubles_are_refused():
    """Thirds that cancel out do so as rationals alone: sums of the stored ones prove nothing."""

    @attrs.frozen
    class Thirds:
        def initial_state(self):
            return 0

        def is_terminal(self, state):
            return state == 2

        def actions(self, state):
            return [0, 1] if state == 0 else [0]

        def outcomes(self, state, action):
            return [(1, 2 if action else 1 - state)]

        def payoff(self, state, player):
            return 0

        def reward(self, state, action, player):
            from fractions import Fraction

            return 0 if action else Fraction(1 - 2 * state, 3)

    model = gamedp.compile(Thirds(), compile="never")
    objective = gamedp.TotalReward("min", until=[2])
    for solver in (None, gamedp.solvers.ExactPolicyIteration()):
        with pytest.raises(gamedp.UnsupportedProblemError, match="not 64-bit numbers"):
            gamedp.solve(model, objective, solver)


def test_infinite_totals_beside_it():
    """Going round 0 and 1 is a swing; from 0 one may also go where every step earns."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 0, 2],
        [1.0] * 4,
        rewards=[1.0, 0.0, -1.0, 1.0],
    )
    solution = gamedp.solve(model, solver=gamedp.solvers.PolicyIteration())
    assert solution.values.tolist() == [math.inf] * 3
    got = exact_values(model, policy=solution.policy.tolist())
    assert got == [math.inf] * 3
