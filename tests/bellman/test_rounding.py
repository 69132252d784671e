"""What kernels claim of rounding, held against rational numbers where it bears all that it may.

Successors are worth as much less or more than their values as their errors say, probabilities are
off by two units in the last place, and constants are what they were added up from: all towards the
side that hurts.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from equations import blank, changed, equation_of, twins
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from gamedp.bellman import (
    average,
    blocks,
    component_sweeps,
    dense_elimination,
    depth_first,
    equation as bellman,
    intervals,
    policy_proofs,
    residuals,
    sparse_elimination,
)

relaxed = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SIZES = (0.1, 1 / 3, 1.0, 1e6, 1e-9, 2.0**53, 1e16, 2.0**-1060, 2.0**-1074)
ERRORS = (0.0, 0.0, 1e6, 1.0, 1e-3, 2.0**-52, 1e-16, 2.0**-1074)
"""As parts of a number, or of the largest one."""
PARTS = ((1,), (1, 1), (1,) * 3, (1,) * 7, (1,) * 36, (1, 2, 7), (1, 1e12), (1, 2**40, 2**53))


class Case(NamedTuple):
    """One state, the first, with some choices that lead to others; they have values and errors."""

    equation: bellman.Equation
    rewards: np.ndarray
    constant_sum: float
    values: np.ndarray
    errors: np.ndarray


@st.composite
def states(draw, *, swaps=True, stays=False, discounts=(1.0, 1.0, 0.9, 1 - 2.0**-30)):
    """Draw an equation that rounding does its worst to.

    With `stays`, choices may lead to the state itself.
    """
    size = draw(st.sampled_from(SIZES))
    number = st.builds(
        lambda size, count, up: float(np.nextafter(size * count, np.inf) if up else size * count),
        st.sampled_from((size, draw(st.sampled_from(SIZES)))),
        st.integers(-3, 3),
        st.booleans(),
    )
    count = draw(st.integers(1, 4))
    values = np.array([0.0, *(draw(number) for _ in range(count))])
    scale = float(np.abs(values).max())
    errors = np.array([0.0, *(draw(st.sampled_from(ERRORS)) * scale for _ in range(count))])
    discount = draw(st.sampled_from(discounts))
    constant_sum = draw(number) if swaps and discount == 1.0 else 0.0
    offsets, successors, probabilities, rewards = [0], [], [], []
    for _ in range(draw(st.integers(1, 3))):
        parts = draw(st.sampled_from(PARTS))
        sides = [draw(st.sampled_from((1, 1, -1))) if swaps else 1 for _ in parts]
        row = [side * part / sum(parts) for side, part in zip(sides, parts, strict=True)]
        first = 0 if stays and len(parts) > 1 and draw(st.booleans()) else 1
        targets = [first, *(draw(st.integers(1, count)) for _ in parts[1:])]
        swapped = -sum(probability for probability in row if probability < 0)
        cancelling = -(constant_sum * swapped + sum(row) * values[-1])
        rewards.append(draw(st.sampled_from((cancelling, -constant_sum * swapped, draw(number)))))
        successors += targets
        probabilities += row
        offsets.append(len(successors))
    rewards, probabilities = np.array(rewards), np.array(probabilities)
    constants = sizes = rewards
    if constant_sum:
        constants, sizes = np.empty((2, len(rewards)))
        bellman.swap_constants(
            np.array(offsets), probabilities, rewards, constant_sum, constants, sizes
        )
    num_choices = len(rewards)
    equation = equation_of(
        order=np.array([*range(1, count + 1), 0], np.int32),
        place=np.array([count, *range(count)], np.uint32),
        choice_offsets=np.array([0] + [num_choices] * (count + 1)),
        transition_offsets=np.array(offsets),
        successors=np.array(successors, np.int32),
        probabilities=probabilities,
        constants=constants,
        sizes=sizes,
        maximise=np.full(count + 1, draw(st.booleans())),
        discount=discount,
    )
    return Case(equation, rewards, constant_sum, values, errors)


def extremes(case, choice, lower=None, upper=None):
    """Return the least and the most that a choice can be worth, exactly."""
    equation = case.equation
    if lower is None:
        lower = [Fraction(v) - Fraction(e) for v, e in zip(case.values, case.errors, strict=True)]
        upper = [Fraction(v) + Fraction(e) for v, e in zip(case.values, case.errors, strict=True)]
    first, last = (int(t) for t in equation.graph.transition_offsets[choice : choice + 2])
    sure = last - first == 1
    found = []
    for sign in (-1, 1):
        total = Fraction(case.rewards[choice])
        for t in range(first, last):
            probability = float(equation.probabilities[t])
            target = int(equation.graph.successors[t])
            bound = (upper if (sign > 0) == (probability > 0) else lower)[target]
            worth = bound if probability > 0 else Fraction(case.constant_sum) - bound
            off = 0 if sure else Fraction(2 * np.spacing(abs(probability)))
            discounted = Fraction(equation.discount) * worth
            total += Fraction(abs(probability)) * discounted
            total += sign * off * abs(discounted)
        found.append(total)
    return found


def of_state(case, bounds):
    """Return the least and the most that the state can be worth, by those of its choices."""
    best = max if case.equation.maximise[0] else min
    return best(low for low, _ in bounds), best(high for _, high in bounds)


def kernels(module, name):
    return getattr(module, f"{name}_jit"), getattr(module, name)


@relaxed
@given(states())
def test_a_choice(case):
    for rounded in kernels(residuals, "rounded"):
        for choice in range(len(case.rewards)):
            value, error = rounded(choice, case.equation, case.values, case.errors)
            low, high = extremes(case, choice)
            assert Fraction(value) - Fraction(error) <= low
            assert Fraction(value) + Fraction(error) >= high


@relaxed
@given(states())
def test_bounds_of_a_choice(case):
    lower, upper = case.values - case.errors, case.values + case.errors
    exactly = [[Fraction(bound) for bound in bounds] for bounds in (lower, upper)]
    for enclose in kernels(intervals, "enclose"):
        for choice in range(len(case.rewards)):
            below, above = enclose(choice, case.equation, lower, upper)
            low, high = extremes(case, choice, *exactly)
            equation = case.equation
            first, last = equation.graph.transition_offsets[choice : choice + 2]
            if equation.discount == 1 and not (equation.probabilities[first:last] < 0).any():
                # Probabilities sum to one: a mean lies between what it is a mean of.
                targets = equation.graph.successors[first:last]
                reward = Fraction(case.rewards[choice])
                low = max(low, reward + min(exactly[0][target] for target in targets))
                high = min(high, reward + max(exactly[1][target] for target in targets))
            assert Fraction(below) <= low
            assert Fraction(above) >= high


@relaxed
@given(states(), st.sampled_from((0.0, 0.0, 1.0, -1.0, 1e-3)))
def test_a_state(case, disturbance):
    """Whatever its value is: `settle` takes any, `conclude` and `step` that of the best choice."""
    low, high = of_state(case, [extremes(case, choice) for choice in range(len(case.rewards))])
    results, slacks = np.empty((2, len(case.rewards)))
    for settle, conclude, step in zip(
        *(kernels(residuals, name) for name in ("settle", "conclude", "step")), strict=True
    ):
        values, errors = case.values.copy(), case.errors.copy()
        policy = np.full(len(values), -1)
        values[0], errors[0], _ = conclude(0, case.equation, values, errors, results, slacks)
        assert Fraction(values[0]) - Fraction(errors[0]) <= low
        assert Fraction(values[0]) + Fraction(errors[0]) >= high
        new_values, new_errors = np.zeros((2, len(values)))
        both = case.values, case.errors, new_values, new_errors
        step(case.equation, np.zeros(1, np.int64), *both, policy, results, slacks)
        assert Fraction(new_values[0]) - Fraction(new_errors[0]) <= low
        assert Fraction(new_values[0]) + Fraction(new_errors[0]) >= high
        values[0] += disturbance * max(1.0, abs(values[0]))
        error = settle(0, case.equation, values, case.errors, policy)
        assert Fraction(values[0]) - Fraction(error) <= low
        assert Fraction(values[0]) + Fraction(error) >= high


@relaxed
@given(states(stays=True), st.sampled_from((0.0, 1e-12, 1e-3, -1.0)), st.sampled_from((1, 2)))
def test_a_state_that_comes_again(case, disturbance, rounds):
    """A component of one state: its worth is found from the chance to leave it, exactly."""
    equation, start = case.equation, len(case.values) - 1
    worths = []
    for choice in range(len(case.rewards)):
        first, last = (int(t) for t in equation.graph.transition_offsets[choice : choice + 2])
        both = []
        for sign in (-1, 1):
            total, own = Fraction(case.rewards[choice]), Fraction(0)
            for t in range(first, last):
                probability, target = (
                    Fraction(equation.probabilities[t]),
                    int(equation.graph.successors[t]),
                )
                if probability < 0:
                    total += -probability * Fraction(case.constant_sum)
                probability *= Fraction(equation.discount)
                if target == 0:
                    own += probability
                    continue
                off = sign * Fraction(case.errors[target])
                total += probability * Fraction(case.values[target]) + abs(probability) * off
            assume(own < 1)
            both.append(total / (1 - own))
        worths.append(both)
    low, high = of_state(case, worths)
    values, _, policy = blank(equation)
    values[:] = case.values
    errors = case.errors.copy()
    for _ in range(300):
        bellman.sweep_jit(start, start + 1, equation, values, policy)
    values[0] += disturbance * max(1.0, abs(values[0]))
    weights = np.zeros(len(values))
    weights[0] = 1.0 if rounds == 1 else 50.0
    for certify in kernels(residuals, "certify"):
        found = errors.copy()
        certify(start, start + 1, equation, 1, values, weights.copy(), found, policy)
        if np.isfinite(found[0]):
            assert Fraction(values[0]) - Fraction(found[0]) <= low
            assert Fraction(values[0]) + Fraction(found[0]) >= high


def chains():
    """Cases whose policy is eliminated: no swaps but to the outside, where they are only known."""
    return states(stays=True).filter(
        lambda case: (
            not ((case.equation.probabilities < 0) & (case.equation.graph.successors == 0)).any()
        )
    )


@pytest.mark.slow
@relaxed
@given(chains(), st.integers(0, 2))
def test_an_eliminated_policy(case, chosen):
    equation, start = case.equation, len(case.values) - 1
    chosen %= len(case.rewards)
    first, last = (int(t) for t in equation.graph.transition_offsets[chosen : chosen + 2])
    block, _, _ = blocks.isolate(
        start, start + 1, start, start + 1, equation, case.values, case.errors
    )
    component_sweeps.begin(1, block)
    block.policy[0] += np.uintp(chosen)
    stored, leaving = Fraction(case.rewards[chosen]), Fraction(0)
    spread = Fraction(0)
    for t in range(first, last):
        probability, target = Fraction(equation.probabilities[t]), int(equation.graph.successors[t])
        stored += max(-probability, 0) * Fraction(case.constant_sum)
        probability *= Fraction(equation.discount)
        if target:
            leaving += abs(probability)
            stored += probability * Fraction(case.values[target])
            spread += abs(probability) * Fraction(case.errors[target])
    leaving += 1 - Fraction(equation.discount)
    assume(leaving > 0)
    matrix, costs = np.zeros((1, 1 + dense_elimination.EXTRA)), np.empty(1)
    dense = np.zeros((blocks.NUMBERS, 1))
    clear = dense_elimination.lay_out(1, equation.discount, block, matrix, costs)
    dense_elimination.conclude(
        1, clear, dense_elimination.divide(0, 1, 1, matrix, costs), matrix, costs, dense
    )
    found = [dense]
    for eliminate in kernels(sparse_elimination, "eliminate"):
        numbers = np.zeros((blocks.NUMBERS, 1))
        eliminate(1, equation.discount, block, 1000, numbers)
        found.append(numbers)
    for numbers in found:
        value, error = float(numbers[blocks.VALUE, 0]), float(numbers[blocks.ERROR, 0])
        if np.isfinite(error):
            assert abs(Fraction(value) - stored / leaving) + spread / leaving <= Fraction(error)


@relaxed
@given(states(swaps=False, discounts=(1.0,)))
def test_means_of_several_players(case):
    equation, count = case.equation, len(case.values)
    values, errors = case.values[:, None].copy(), case.errors[:, None].copy()
    policy = np.full(count, -1)
    arguments = (
        equation.order, *equation.graph,
        equation.probabilities, case.rewards[:, None], np.zeros(count, np.int8), 1.0,
        values, errors, policy,
    )  # fmt: skip
    for _, arrays in twins(bellman, "solve_max_n", *arguments):
        value, error = Fraction(arrays[-3][0, 0]), Fraction(arrays[-2][0, 0])
        low, high = extremes(case, int(arrays[-1][0]))
        assert value - error <= low
        assert high <= value + error


@relaxed
@given(states(swaps=False, discounts=(1.0,)))
def test_a_state_without_way_back(case):
    equation, count = case.equation, len(case.values)
    low, high = of_state(case, [extremes(case, choice) for choice in range(len(case.rewards))])
    status = np.full(count, depth_first.DONE, np.int8)
    status[0] = depth_first.UNSEEN
    for leave in kernels(depth_first, "leave"):
        values, errors = case.values.copy(), case.errors.copy()
        leave(0, equation, False, status.copy(), values, errors, np.full(count, -1))
        assert Fraction(values[0]) - Fraction(errors[0]) <= low
        assert Fraction(values[0]) + Fraction(errors[0]) >= high


@relaxed
@given(states(swaps=False, discounts=(1.0,)), st.sampled_from(SIZES))
def test_how_much_a_choice_raises_its_state(case, here):
    equation = case.equation
    average_of = changed(equation, constants=case.rewards)
    values = case.values.copy()
    values[0] = here
    for drift in kernels(average, "drift"):
        for choice in range(len(case.rewards)):
            first, last = (int(t) for t in equation.graph.transition_offsets[choice : choice + 2])
            rise, slack = drift(choice, 0, average_of, values)
            terms = [
                (
                    abs(float(equation.probabilities[t])),
                    Fraction(values[equation.graph.successors[t]]) - Fraction(here),
                )
                for t in range(first, last)
            ]
            truth = Fraction(case.rewards[choice])
            truth += sum(
                (Fraction(probability) * apart for probability, apart in terms), Fraction(0)
            )
            off = sum((Fraction(2 * np.spacing(p)) * abs(apart) for p, apart in terms), Fraction(0))
            assert abs(Fraction(rise) - truth) + (off if len(terms) > 1 else 0) <= Fraction(slack)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_errors_that_come_back_from_the_other_side_add_up(sign):
    """Each counts by its probability, whoever is to choose there; at any tolerance."""
    equation = equation_of(
        order=np.array([1, 2, 0], np.int32),
        place=np.array([2, 0, 1], np.uint32),
        choice_offsets=np.array([0, 1, 1, 1]),
        transition_offsets=np.array([0, 2]),
        successors=np.array([1, 2], np.int32),
        probabilities=np.array([0.5, -0.5 * sign]),
        constants=np.zeros(1),
        sizes=np.zeros(1),
        maximise=np.ones(3, np.bool_),
        discount=1.0,
    )
    values, errors = np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.25, 0.5])
    for rounded in kernels(residuals, "rounded"):
        assert rounded(0, equation, values, errors)[1] == pytest.approx(0.375)


def test_sizes_of_constants():
    """Reward and share are what they are of, not their difference; where it is exact, it counts."""
    rewards = np.array([-1.0, -0.3, 2.0, -1.0, 0.1])
    probabilities = np.array([-1.0, -0.1, -0.2, 0.7, 1.0, -0.5, -0.5, -1.0])
    offsets = np.array([0, 1, 4, 5, 7, 8])
    for set_constants in kernels(bellman, "swap_constants"):
        constants, sizes = np.empty((2, 5))
        set_constants(offsets, probabilities, rewards, 1.0, constants, sizes)
        assert constants.tolist() == [0.0, -0.3 + (0.1 + 0.2), 2.0, 0.0, 1.1]
        assert sizes[[0, 2]].tolist() == [0.0, 2.0]
        assert sizes[[1, 3, 4]].tolist() == pytest.approx([0.6, 2.0, 1.1], rel=1e-13)
        assert sizes[4] > constants[4]  # 0.1 + 1 is rounded


def test_many_products_that_underflow_are_allowed_for():
    """Each loses less than the smallest number; but there are many of them."""
    count = 1 << 17
    small = 1.5 * 2.0**-1058
    equation = equation_of(
        order=np.array([1, 0], np.int32),
        place=np.array([1, 0], np.uint32),
        choice_offsets=np.array([0, 1, 1]),
        transition_offsets=np.array([0, count]),
        successors=np.ones(count, np.int32),
        probabilities=np.full(count, 1.0 / count),
        constants=np.zeros(1),
        sizes=np.zeros(1),
        maximise=np.ones(2, np.bool_),
        discount=1.0,
    )
    values, errors = np.array([0.0, small]), np.zeros(2)
    value, error = residuals.rounded_jit(0, equation, values, errors)
    assert abs(value - small) > 2.0**-1060  # more than is allowed for a few
    assert abs(value - small) <= error < 2.0**-1035
    swapped = changed(equation, probabilities=-equation.probabilities)
    for sign, one in ((1, equation), (-1, swapped)):
        low, high = intervals.enclose_jit(0, one, values, values)
        assert low <= sign * small <= high
    rise, slack = average.drift_jit(0, 0, equation, values)
    assert abs(rise - small) <= slack
    status = np.full(2, depth_first.DONE, np.int8)
    depth_first.leave_jit(0, equation, False, status, values, errors, np.full(2, -1))
    assert abs(values[0] - small) <= errors[0]


def test_a_constant_that_cancels_counts_with_all_that_it_is_of():
    """A reward of nearly the share of a constant sum; the ends are worth nothing."""
    total = 1e6
    rewards, offsets = np.array([-total * (0.1 + 0.2)]), np.array([0, 3])
    probabilities = np.array([-0.1, -0.2, 0.7])
    constants, sizes = np.empty((2, 1))
    bellman.swap_constants(offsets, probabilities, rewards, total, constants, sizes)
    equation = equation_of(
        order=np.array([1, 2, 3, 0], np.int32),
        place=np.array([3, 0, 1, 2], np.uint32),
        choice_offsets=np.array([0, 1, 1, 1, 1]),
        transition_offsets=offsets,
        successors=np.array([1, 2, 3], np.int32),
        probabilities=probabilities,
        constants=constants,
        sizes=sizes,
        maximise=np.ones(4, np.bool_),
        discount=1.0,
    )
    zeros = np.zeros(4)
    low, high = extremes(Case(equation, rewards, total, zeros, zeros), 0)
    assert low < -1e-10 < 4e-11 < high
    for rounded, enclose in zip(
        kernels(residuals, "rounded"), kernels(intervals, "enclose"), strict=True
    ):
        value, error = rounded(0, equation, zeros, zeros)
        assert Fraction(value) - Fraction(error) <= low
        assert high <= Fraction(value) + Fraction(error)
        below, above = enclose(0, equation, zeros, zeros)
        assert Fraction(below) <= low
        assert high <= Fraction(above)
    block, _, _ = blocks.isolate_jit(3, 4, 3, 4, equation, zeros, zeros)
    component_sweeps.begin_jit(1, block)
    numbers = np.zeros((blocks.NUMBERS, 1))
    sparse_elimination.eliminate_jit(1, 1.0, block, 1000, numbers)
    value, error = Fraction(numbers[blocks.VALUE, 0]), Fraction(numbers[blocks.ERROR, 0])
    assert value - error <= low
    assert high <= value + error
    values, errors, policy = blank(equation)
    values[0] = constants[0]
    residuals.certify_jit(3, 4, equation, 1, values, np.array([1.0, 0, 0, 0]), errors, policy)
    assert Fraction(values[0]) - Fraction(errors[0]) <= low
    assert high <= Fraction(values[0]) + Fraction(errors[0])
    numbers[blocks.WEIGHT] = 1.0
    total, slack, size, _ = policy_proofs.advantage_jit(
        0, 0, 3, 4, equation, zeros, zeros, numbers, 0.0
    )
    assert Fraction(total) - Fraction(slack) <= low
    assert high <= Fraction(total) + Fraction(slack)
    assert size > 5e5


def test_each_bound_is_widened_by_its_own_size():
    equation = equation_of(
        order=np.array([1, 0], np.int32),
        place=np.array([1, 0], np.uint32),
        choice_offsets=np.array([0, 2, 2]),
        transition_offsets=np.array([0, 3, 4]),
        successors=np.array([1, 1, 1, 1], np.int32),
        probabilities=np.array([-0.01, -0.02, 0.97, -1.0]),
        constants=np.array([0.0, 0.1 + 1.0]),
        sizes=np.array([0.0, 1.1 * residuals.UPWARD]),
        maximise=np.ones(2, np.bool_),
        discount=1.0,
    )
    nothing, much = np.zeros(2), np.array([0.0, 1.0])
    for enclose in kernels(intervals, "enclose"):
        low, high = enclose(0, equation, nothing, much)
        most = [Fraction(p) + Fraction(2 * np.spacing(p)) for p in (0.01, 0.02, 0.97)]
        assert Fraction(low) <= -most[0] - most[1]
        assert Fraction(high) >= most[2]
        # What a sure step earns is a rounded sum: it is not exact, though nothing is added.
        low, high = enclose(1, equation, nothing, nothing)
        assert Fraction(low) < Fraction(0.1) + 1 < Fraction(high)


def test_a_constant_of_steps_that_stay_inside_is_allowed_for():
    """Though no successor is outside: what the swaps are worth is as much off as anywhere."""
    total = 1e6
    rewards, offsets = np.array([-total * (0.1 + 0.2), 0.0]), np.array([0, 3, 4])
    probabilities = np.array([-0.1, -0.2, 0.7, 1.0])
    constants, sizes = np.empty((2, 2))
    bellman.swap_constants(offsets, probabilities, rewards, total, constants, sizes)
    equation = equation_of(
        order=np.array([0, 1], np.int32),
        place=np.array([0, 1], np.uint32),
        choice_offsets=np.array([0, 1, 2]),
        transition_offsets=offsets,
        successors=np.array([0, 1, 1, 0], np.int32),
        probabilities=probabilities,
        constants=constants,
        sizes=sizes,
        maximise=np.ones(2, np.bool_),
        discount=1.0,
    )
    zeros = np.zeros(2)
    meant = [
        Fraction(p) + sign * Fraction(2 * np.spacing(p)) for p in (0.1, 0.2) for sign in (1, -1)
    ]
    ends = [Fraction(rewards[0]) + Fraction(total) * (meant[0 + k] + meant[2 + k]) for k in (0, 1)]
    for gather in kernels(blocks, "gather"):
        block = blocks.reserve(2, 2, 4, equation)
        gather(0, 2, 0, 2, equation, zeros, zeros, block)
        for end in ends:
            assert abs(Fraction(block.constants[0]) - end) <= Fraction(block.slacks[0])
        assert block.slacks[1] == 0.0
