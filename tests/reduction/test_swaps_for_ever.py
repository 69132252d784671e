"""Players who change places, and may go on for ever: against all policies of both sides."""

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from reductions import is_reduced, reduction_of

import gamedp
from gamedp.testing import exact_values

relaxed = settings(
    # Plain Python takes long for each.
    max_examples=10 if numba.config.DISABLE_JIT else 60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
PROPER = [
    gamedp.solvers.ValueIteration(),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.ModifiedPolicyIteration(),
    gamedp.solvers.OptimisticValueIteration(),
    gamedp.solvers.SoundValueIteration(),
    gamedp.solvers.PrioritizedSweeping(),
    gamedp.solvers.AndersonAcceleration(),
    gamedp.solvers.LinearProgramming(),
]
OF_OPPONENTS = [
    gamedp.solvers.IntervalIteration(),
    gamedp.solvers.TopologicalValueIteration(),
    gamedp.solvers.StrategyIteration(),
    gamedp.solvers.ExactPolicyIteration(),
]


@st.composite
def swapping_games(draw, rewards):
    """Draw a game of some states in which a step may change the players' places."""
    inner = draw(st.integers(1, 3))
    choices, offsets, successors, probabilities, earned = [0], [0], [], [], []
    for _ in range(inner):
        for number in range(draw(st.integers(1, 3 if inner < 3 else 2))):
            targets = [draw(st.integers(0, inner - 1))]
            if number:
                targets = [inner + draw(st.integers(0, 1)), *targets][: draw(st.integers(1, 2))]
            weights = [draw(st.integers(1, 3)) for _ in targets]
            sides = [draw(st.sampled_from([-1, 1])) for _ in targets]
            successors += targets
            probabilities += [
                side * weight / sum(weights) for side, weight in zip(sides, weights, strict=True)
            ]
            offsets.append(len(successors))
            earned.append(float(draw(rewards)))
        choices.append(len(earned))
    return gamedp.Model.from_arrays(
        choices + [len(earned)] * 2,
        offsets,
        successors,
        probabilities,
        rewards=earned,
        players=[draw(st.integers(0, 1)) for _ in range(inner + 2)],
        terminals=[inner, inner + 1],
        payoffs=[float(draw(st.integers(-2, 2))) for _ in range(2)],
        num_players=2,
    )


@pytest.mark.slow
@relaxed
@given(
    st.sampled_from([[0], [0, 0, 1], [-1, 0, 0]]).flatmap(
        lambda rewards: swapping_games(st.sampled_from(rewards))
    ),
    st.sampled_from(["max", "min"]),
)
def test_all_solvers(model, optimum):
    objective = gamedp.TotalReward(optimum)
    problem = gamedp.Problem(model, objective)
    assume(model.has_swaps and not model.structure.always_ends)
    reduction = reduction_of(problem)
    assume(is_reduced(reduction))
    truth = exact_values(model, objective)
    needs_deflation = reduction.problem.needs_deflation
    for solver in [*OF_OPPONENTS, *([] if needs_deflation else PROPER)]:
        if not solver.supports(problem):
            assert isinstance(
                solver, (gamedp.solvers.LinearProgramming, *map(type, OF_OPPONENTS[2:]))
            )
            continue
        solution = gamedp.solve(model, objective, solver, tolerance=1e-7)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        for low, value, high in zip(
            solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
        ):
            assert low <= value <= high
            assert low == high or high - low <= 1e-7
        for player in (0, 1):
            got = exact_values(model, objective, policy=solution.policy.tolist(), player=player)
            wants_most = (player == 0) == (optimum == "max")
            for attained, best in zip(got, truth, strict=True):
                # Written so that an infinite value is equal to itself.
                less = 0 if attained == best else best - attained if wants_most else attained - best
                assert less <= 1e-6


def test_each_can_send_the_other_back():
    """Whoever is to move may pass, or take an end that is worth 1 to the one who takes it later."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4],
        [0, 1, 3, 4, 5],
        [1, 2, 0, 0, 2],
        [-1.0, 0.5, -0.5, -1.0, 1.0],
        terminals=[2],
        payoffs=[-1.0],
        num_players=2,
    )
    truth = exact_values(model)
    for solver in (None, *OF_OPPONENTS):
        solution = gamedp.solve(model, solver=solver)
        assert solution.values == pytest.approx([float(value) for value in truth], abs=1e-6)
        assert gamedp.verify(model, gamedp.certify(solution)).width <= 1e-6


def test_a_constant_sum_is_shared_where_places_change():
    model = gamedp.Model.from_arrays(
        [0, 2, 2],
        [0, 1, 2],
        [0, 1],
        [-1.0, 1.0],
        terminals=[1],
        payoffs=[1.0],
        num_players=2,
        constant_sum=1.0,
    )
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"count 0, not 0\.5"):
        gamedp.solvers.PolicyIteration().solve(gamedp.Problem(model), tolerance=1e-6)
    for solver in (None, gamedp.solvers.StrategyIteration(), gamedp.solvers.IntervalIteration()):
        values = gamedp.solve(model, solver=solver).values
        assert values == pytest.approx([1.0, 1.0], abs=1e-6)


def test_large_enough_to_be_unfolded_in_compiled_code():
    """From each state one may go on and change places, or stop; the end is worth 1."""
    size = 1000
    states = np.arange(size)
    model = gamedp.Model.from_arrays(
        np.append(2 * np.arange(size + 1), 2 * size),
        np.arange(2 * size + 1),
        np.stack([(states + 1) % size, np.full(size, size)], axis=1).ravel(),
        np.tile([-1.0, 1.0], size),
        rewards=np.zeros(2 * size),
        terminals=[size],
        payoffs=[1.0],
        num_players=2,
    )
    solution = gamedp.solve(model, solver=gamedp.solvers.IntervalIteration())
    assert solution.values.tolist() == [1.0] * (size + 1)
    assert (solution.policy[:-1] % 2 == 1).all()
