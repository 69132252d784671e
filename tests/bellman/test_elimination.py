"""What policies are worth by elimination, and how far off that is, against rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from equations import (
    arrays_of,
    blank,
    cases,
    changed,
    copied,
    equation_of,
    gathered,
    make,
    twins,
)
from hypothesis import assume, given, settings, strategies as st

from gamedp.bellman import (
    blocks,
    component_sweeps,
    dense_elimination,
    equation as bellman,
    policy_proofs,
    sparse_elimination,
)
from gamedp.graph.graph import Graph

relaxed = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)
ENOUGH = 1 << 20


def chain(seed, size, orders, discount, *, signs, swaps=False):
    """Return a random chain that stays long; its last state is terminal.

    Probabilities are within so many orders of magnitude; what they leave of one stays. They are
    multiples of powers of two, so that their sum is one exactly.
    """
    rng = np.random.default_rng(seed)
    successors, probabilities, offsets = [], [], [0]
    for state in range(size):
        targets = {int(t) for t in rng.integers(0, size, rng.integers(0, 5))} - {state}
        if not targets or rng.random() < 0.3:
            targets.add(size)
        row = [2.0 ** -rng.integers(3, 4 + 3.3 * orders) for _ in targets]
        targets, left = list(targets), 1.0 - sum(row)
        if left > 0:
            targets.append(state)
            row.append(left)
        successors += targets
        probabilities += row
        offsets.append(len(successors))
    constants = 10.0 ** rng.uniform(-3, 3, size)
    if signs:
        constants *= rng.choice([-1.0, 1.0], size)
    probabilities = np.array(probabilities)
    if swaps:
        probabilities *= rng.choice([-1.0, 1.0], len(probabilities))
    order = np.append(rng.permutation(size), size).astype(np.int32)
    return equation_of(
        order=order,
        place=np.argsort(order).astype(np.uint32),
        choice_offsets=np.minimum(np.arange(size + 2), size).astype(np.int64),
        transition_offsets=np.array(offsets, np.int64),
        successors=np.array(successors, np.int32),
        probabilities=probabilities,
        constants=constants,
        sizes=constants,
        maximise=np.ones(size + 1, np.bool_),
        discount=discount,
    )


def exact(equation, size, end, probabilities):
    """Solve a chain in rational numbers; what is left of one stays with each state."""
    discount = Fraction(equation.discount)
    equations = []
    for state in range(size):
        terms = [Fraction(0)] * size
        known = Fraction(float(equation.constants[state]))
        for t in range(*map(int, equation.graph.transition_offsets[state : state + 2])):
            target, signed = (
                int(equation.graph.successors[t]),
                Fraction(float(probabilities[t])) * discount,
            )
            if target == state and signed > 0:
                continue
            terms[state] += abs(signed)
            if target < size:
                terms[target] -= signed
            else:
                known += signed * end
        terms[state] += 1 - discount
        equations.append([*terms, known])
    for state in range(size):
        pivot = next((n for n in range(state, size) if equations[n][state] != 0), None)
        if pivot is None:
            return None
        equations[state], equations[pivot] = equations[pivot], equations[state]
        row = [number / equations[state][state] for number in equations[state]]
        equations[state] = row
        for number in range(size):
            factor = equations[number][state]
            if number != state and factor != 0:
                equations[number] = [
                    one - factor * other for one, other in zip(equations[number], row, strict=True)
                ]
    return [row[-1] for row in equations]


def apart(equation):
    """Return a chain's component with the end worth 0.25, and numbers to be filled."""
    values, errors, _ = blank(equation)
    values[-1] = 0.25
    size = len(values) - 1
    block, _, _ = blocks.isolate_jit(0, size, 0, size, equation, values, errors)
    component_sweeps.begin_jit(size, block)
    return block, np.zeros((blocks.NUMBERS, size))


def densely(size, discount, block, numbers, panel=4, suffix="_jit"):
    """Eliminate in a dense matrix, some states at a time."""
    lay_out, divide, put_in, conclude = (
        getattr(dense_elimination, name + suffix)
        for name in ("lay_out", "divide", "put_in", "conclude")
    )
    matrix = np.zeros((size, size + dense_elimination.EXTRA))
    costs = np.empty(size)
    clear = lay_out(size, discount, block, matrix, costs)
    narrowest = np.inf
    for first in range(0, size, panel):
        last = min(first + panel, size)
        narrowest = min(narrowest, divide(first, last, size, matrix, costs))
        if narrowest == 0:
            return np.inf
        put_in(first, last, last, size, size, matrix, costs)
    return conclude(size, clear, narrowest, matrix, costs, numbers)


chains = st.tuples(
    seeds, st.integers(1, 12), st.sampled_from([0.5, 3, 30]), st.sampled_from([1.0, 0.9, 1 - 1e-9])
)


@settings(max_examples=300, deadline=None)
@given(chains, st.booleans(), st.booleans(), st.booleans())
def test_errors_contain_the_truth_however_long_play_stays(case, signs, dense, disturbed):
    """Probabilities within 30 orders of magnitude; and for all that are off by two units."""
    seed, size, _, discount = case
    equation = chain(*case, signs=signs)
    block, numbers = apart(equation)
    if dense:
        relative = densely(size, discount, block, numbers)
    else:
        terms, relative = sparse_elimination.eliminate_jit(size, discount, block, ENOUGH, numbers)
        assume(terms >= 0)
    probabilities = equation.probabilities.copy()
    if disturbed:
        rng = np.random.default_rng(seed)
        for _ in range(2):
            towards = rng.choice([0.0, 2.0], len(probabilities))
            probabilities = np.nextafter(probabilities, towards)
    truth = exact(equation, size, Fraction(1, 4), probabilities)
    if truth is None:
        assert not relative < np.inf
        return
    assert relative < 1e-12
    for position, state in enumerate(equation.order[:-1]):
        error = abs(Fraction(float(numbers[blocks.VALUE, position])) - truth[state])
        assert error <= Fraction(float(numbers[blocks.ERROR, position]))
    if not signs:  # nothing cancels out: no digits are lost
        values = numbers[blocks.VALUE]
        assert (numbers[blocks.ERROR] <= 1e-12 * values).all()


@relaxed
@given(cases, st.integers(1, 5))
def test_the_dense_matrix_gives_the_same(case, panel):
    seed, num_states, discount, _, _ = case
    equation = make((seed, num_states, discount, True, False))
    values, errors, _ = blank(equation)
    values[-1], errors[-1] = 0.25, 1e-3
    block, numbers, _ = gathered(equation, 1, values, errors)
    size = num_states - 1
    component_sweeps.begin_jit(size, block)
    terms, relative = sparse_elimination.eliminate_jit(size, discount, block, ENOUGH, numbers)
    assert terms >= 0
    found = [np.zeros_like(numbers) for _ in range(2)]
    relatives = [
        densely(size, discount, block, its, panel, suffix)
        for its, suffix in zip(found, ("_jit", ""), strict=True)
    ]
    assert relatives[0] == relatives[1]
    # The dense one does not look how many numbers a sum has; the other one counts those that are 0.
    assert relative / 3 <= relatives[0] <= 3 * relative
    for its in found:
        np.testing.assert_allclose(its[:3], numbers[:3], rtol=1e-12, atol=1e-12)
        assert (its[blocks.ERROR] >= numbers[blocks.ERROR] / 3).all()
        assert (its[blocks.ERROR] <= 3 * numbers[blocks.ERROR]).all()
    if discount == 1:
        # What is outside is known to 1e-3; and all of play gets there.
        np.testing.assert_allclose(numbers[blocks.ERROR], 1e-3, rtol=1e-6)


def test_the_errors_of_a_long_chain_grow_with_its_states_not_with_their_square():
    relatives = []
    for size in (1000, 10_000):
        states = np.arange(size)
        near = np.stack([states - 1, states + 1], axis=1)
        near[0, 0], near[-1, 1] = size, size
        equation = chain(0, size, 1, 1.0, signs=False)
        equation = changed(
            equation,
            order=np.arange(size + 1, dtype=np.int32),
            place=np.arange(size + 1, dtype=np.uint32),
            graph=Graph(
                equation.graph.choice_offsets,
                2 * np.arange(size + 1),
                near.ravel().astype(np.int32),
            ),
            probabilities=np.full(2 * size, 0.5),
        )
        block, numbers = apart(equation)
        terms, relative = sparse_elimination.eliminate_jit(size, 1.0, block, ENOUGH, numbers)
        assert terms < 3 * size
        assert numbers[blocks.WEIGHT].max() == pytest.approx((size + 1) ** 2 / 4, rel=1e-3)
        relatives.append(relative)
    assert relatives[0] < 25 * 1000 * 2.0**-53
    assert relatives[1] == pytest.approx(10 * relatives[0], rel=0.01)


def test_what_underflows_is_counted():
    """A chain of steps that are hardly ever made; with more of them, nothing is claimed."""
    for rare, known in ((2.0**-100, True), (2.0**-400, False)):
        equation = chain(0, 3, 1, 1.0, signs=False)
        equation = changed(
            equation,
            order=np.array([0, 1, 2, 3], np.int32),
            place=np.arange(4, dtype=np.uint32),
            graph=Graph(
                equation.graph.choice_offsets,
                np.array([0, 2, 5, 8]),
                np.array([0, 1, 0, 1, 2, 0, 2, 3], np.int32),
            ),
            probabilities=np.array([1, rare, 0.5, 0.5, rare, 0.5, 0.5, rare]),
        )
        block, numbers = apart(equation)
        with np.errstate(over="ignore", invalid="ignore"):
            _, relative = sparse_elimination.eliminate_jit(3, 1.0, block, ENOUGH, numbers)
        assert (relative < 1e-13) == known
        assert np.isfinite(numbers[blocks.ERROR]).all() == known


def test_probabilities_far_from_a_sum_of_one_have_no_meaning():
    equation = chain(1, 5, 1, 1.0, signs=False)
    probabilities = equation.probabilities.copy()
    probabilities[0] *= 1 - 1e-11
    equation = changed(equation, probabilities=probabilities)
    block, numbers = apart(equation)
    found = [sparse_elimination.eliminate_jit(5, 1.0, block, ENOUGH, numbers)[1]]
    found.append(densely(5, 1.0, block, numbers))
    assert found == [np.inf, np.inf]
    assert np.isinf(numbers[blocks.ERROR]).all()


@relaxed
@given(chains)
def test_players_who_change_places_are_eliminated_on_both_sides(case):
    _, size, _, discount = case
    equation = chain(*case, signs=True, swaps=True)
    block, numbers = apart(equation)
    compiled, plain = twins(policy_proofs, "evaluate", size, discount, True, ENOUGH, block, numbers)
    assume(compiled[0][0] >= 0)
    numbers = compiled[1][-1]
    np.testing.assert_allclose(numbers, plain[1][-1], rtol=1e-9)
    truth = exact(equation, size, Fraction(1, 4), equation.probabilities)
    for position, state in enumerate(equation.order[:-1]):
        error = abs(Fraction(float(numbers[blocks.VALUE, position])) - truth[state])
        assert error <= Fraction(float(numbers[blocks.ERROR, position]))


@relaxed
@given(cases, st.booleans())
def test_policies_are_improved_and_proven(case, one_sign):
    """From any policy on; with choices that are copies of others, or as good."""
    seed, num_states, discount, _, swaps = case
    equation = make((seed, num_states, discount, True, swaps))
    rng = np.random.default_rng(seed)
    if one_sign:
        equation = changed(equation, constants=np.abs(equation.constants))
    if rng.random() < 0.5:
        equation = changed(equation, constants=np.zeros_like(equation.constants))
    values, errors, policy = blank(equation)
    values[-1] = 0.25
    block, numbers, _ = gathered(equation, 1, values, errors)
    size = num_states - 1
    for state in range(size):
        block.policy[state] = rng.integers(
            block.graph.choice_offsets[state], block.graph.choice_offsets[state + 1]
        )
    who = component_sweeps.chooser_jit(size, block, swaps)
    compiled, plain = twins(
        policy_proofs,
        "prove_policy",
        1,
        num_states,
        equation,
        0.0,
        ENOUGH,
        one_sign and not swaps,
        who,
        0.0,
        block,
        numbers,
        values,
        errors,
        policy,
    )
    for width, arrays in (compiled, plain):
        found, proven, chosen = arrays[-3:]
        if width == np.inf:  # of choices that are as good, some take longer
            continue
        assert width < 1e-9
        truth = copied(values)
        for _ in range(20_000):
            before = truth.copy()
            bellman.sweep_jit(1, num_states, equation, truth, policy)
            if np.abs(before - truth).max() == 0:
                break
        assert (np.abs(found - truth) <= proven + 1e-12 * (1 + np.abs(truth))).all()
        assert (chosen[:-1] >= equation.graph.choice_offsets[:-2]).all()
    assert len(list(arrays_of(compiled[1]))) == len(list(arrays_of(plain[1])))
