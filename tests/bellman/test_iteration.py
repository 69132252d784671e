"""The kernels that iterate over a component: twins agree, and policies are worth what they say."""

import numpy as np
from equations import (
    blank,
    cases,
    changed,
    copied,
    fixed_point,
    gathered,
    make,
    random_equation,
    twins,
)
from hypothesis import assume, given, settings, strategies as st

from gamedp.bellman import (
    blocks,
    component_sweeps,
    policy_proofs,
    sparse_elimination,
    topological,
)

relaxed = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)
UNTIL_SOLVED = 1 << 30


def component(case, *, swaps=None):
    """Return a random bellman, all states but the last as a component, its numbers and sizes."""
    seed, num_states, discount, _, its_swaps = case
    case = seed, num_states, discount, True, its_swaps if swaps is None else swaps
    equation = make(case)
    values, errors, _ = blank(equation)
    values[-1] = 0.25
    block, numbers, _ = gathered(equation, 1, values, errors)
    component_sweeps.begin_jit(num_states - 1, block)
    sizes = (
        num_states - 1,
        len(block.constants),
        int(block.graph.transition_offsets[len(block.constants)]),
    )
    return equation, block, numbers, sizes


def choose(block, num_states, seed):
    """Give the component a random policy."""
    rng = np.random.default_rng(seed)
    for state in range(num_states):
        block.policy[state] = rng.integers(
            block.graph.choice_offsets[state], block.graph.choice_offsets[state + 1]
        )


def system(block, num_states, discount):
    """Return the policy's matrix and what is known, as a dense linear system."""
    matrix = np.zeros((num_states, num_states))
    for state in range(num_states):
        choice = int(block.policy[state])
        for t in range(*map(int, block.graph.transition_offsets[choice : choice + 2])):
            matrix[state, block.graph.successors[t]] += discount * block.probabilities[t]
    return np.eye(num_states) - matrix, block.constants[block.policy[:num_states]]


@relaxed
@given(cases, seeds)
def test_elimination_solves_the_policys_equation(case, seed):
    equation, block, numbers, (size, *_) = component(case, swaps=False)
    choose(block, size, seed)
    arguments = (size, equation.discount, block, 1 << 20, numbers)
    compiled, plain = twins(sparse_elimination, "eliminate", *arguments)
    assert compiled[0][0] == plain[0][0] >= 0
    for one, other in zip(compiled[1], plain[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    matrix, known = system(block, size, equation.discount)
    found = compiled[1][-1]
    np.testing.assert_allclose(found[blocks.VALUE], np.linalg.solve(matrix, known), rtol=1e-10)
    steps = np.linalg.solve(matrix, np.ones(size))
    np.testing.assert_allclose(found[blocks.WEIGHT], steps, rtol=1e-10)


def test_an_elimination_that_fails_changes_nothing():
    _, block, numbers, (size, *_) = component((5, 12, 1.0, True, False))
    numbers[:] = 7.0
    eliminate = sparse_elimination.eliminate_jit
    assert eliminate(size, 1.0, block, 0, numbers)[0] == sparse_elimination.TOO_EXPENSIVE
    block.leaving[:] = 0.0
    assert eliminate(size, 1.0, block, 1 << 20, numbers)[0] == sparse_elimination.STAYS
    assert (numbers == 7.0).all()
    assert eliminate(size, 0.5, block, 1 << 20, numbers)[0] >= 0


@relaxed
@given(cases, seeds)
def test_sweeps_of_twins_agree(case, seed):
    equation, block, numbers, sizes = component(case, swaps=False)
    choose(block, sizes[0], seed)
    numbers[:] = np.random.default_rng(seed).normal(size=numbers.shape)
    sequence = np.empty(sizes[0], np.uintp)
    for module, name, arguments in (
        (
            component_sweeps,
            "improve",
            (sizes[0], equation.discount, block, seed % 3, 1e-12, numbers),
        ),
        (component_sweeps, "follow", (sizes[0], equation.discount, block, 5, 0.1, numbers)),
        (blocks, "lead_out", (*sizes, block, sequence)),
        (blocks, "nearest_exits_first", (*sizes, block, numbers, sequence)),
        (policy_proofs, "dwell", (sizes[0], equation.discount, False, 1 << 20, block, numbers)),
    ):
        compiled, plain = twins(module, name, *arguments)
        for one, other in zip(compiled[1], plain[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@relaxed
@given(cases, st.booleans())
def test_iterating_finds_the_fixed_point(case, may_stay):
    equation, block, numbers, sizes = component(case)
    who = component_sweeps.chooser_jit(sizes[0], block, bool((equation.probabilities < 0).any()))
    truth = fixed_point(equation, start=0.25)
    for iterate in (component_sweeps.iterate_jit, component_sweeps.iterate):
        its_block, its_numbers = copied(block), numbers.copy()
        memory = np.zeros(component_sweeps.MEMORY)
        found, calls = component_sweeps.MORE, 0
        while found < component_sweeps.CHANGING_LITTLE:
            # A little at a time, as the solvers do.
            limits = 1e-13, UNTIL_SOLVED, 100
            arguments = (*sizes, equation.discount, who, may_stay, *limits)
            found = iterate(*arguments, its_block, its_numbers, memory)
            calls += 1
        assert calls <= memory[component_sweeps.SWEEPS] + 2
        values = its_numbers[blocks.VALUE]
        np.testing.assert_allclose(values, truth[equation.order[1:]].astype(float), atol=1e-10)


@relaxed
@given(cases)
def test_a_policy_that_was_eliminated_is_proven_without_doing_so_again(case):
    """The same numbers to the bit as if it were: sweeps may have gone on from its values."""
    equation, block, numbers, sizes = component(case, swaps=False)
    size = sizes[0]
    who = component_sweeps.chooser_jit(size, block, False)
    memory = np.zeros(component_sweeps.MEMORY)
    limits = 1e-13, UNTIL_SOLVED, 1 << 20
    component_sweeps.iterate_jit(
        *sizes, equation.discount, who, False, *limits, block, numbers, memory
    )
    relative = float(memory[component_sweeps.RELATIVE])
    assume(relative)
    assert 0 < relative < 1e-12
    answers = []
    for known in (relative, 0.0):
        values, errors, policy = blank(equation)
        values[-1] = 0.25
        width = policy_proofs.prove_policy_jit(
            1, size + 1, equation, 0.0, 1 << 20, False, who, known, copied(block), numbers.copy(),
            values, errors, policy,
        )  # fmt: skip
        answers.append([np.array(width), values, errors, policy])
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_reordered_leads_out():
    equation, block, numbers, sizes = component((3, 12, 1.0, True, False), swaps=False)
    numbers[:] = np.arange(sizes[0])
    sequence = np.empty(sizes[0], np.uintp)
    blocks.nearest_exits_first_jit(*sizes, block, numbers, sequence)
    assert sorted(sequence.tolist()) == list(range(sizes[0]))
    assert (block.signs * numbers[blocks.VALUE] < 0).all()  # worse than anything for everyone
    found = np.zeros_like(numbers)
    eliminate = sparse_elimination.eliminate_jit
    assert eliminate(sizes[0], equation.discount, block, 1 << 20, found)[0] >= 0
    matrix, known = system(block, sizes[0], equation.discount)
    np.testing.assert_allclose(found[blocks.VALUE], np.linalg.solve(matrix, known), rtol=1e-10)


@relaxed
@given(seeds, st.booleans())
def test_dwelling_weights_count_the_longest_of_equally_good_ways(seed, swaps):
    equation = random_equation(seed, 10, 1.0, cyclic=True, swaps=swaps)
    # So that all choices are equally good.
    equation = changed(equation, constants=np.zeros_like(equation.constants))
    values, errors, policy = blank(equation)
    block, numbers, _ = gathered(equation, 1, values, errors)
    component_sweeps.begin_jit(9, block)
    assert policy_proofs.evaluate_jit(9, 1.0, swaps, 1 << 20, block, numbers)[0] >= 0
    kept = block.policy.copy()
    assert policy_proofs.dwell_jit(9, 1.0, swaps, 1 << 20, block, numbers)
    np.testing.assert_array_equal(block.policy, kept)
    for state in range(9):
        for choice in range(*map(int, block.graph.choice_offsets[state : state + 2])):
            inside = slice(*map(int, block.graph.transition_offsets[choice : choice + 2]))
            after = numbers[blocks.WEIGHT, block.graph.successors[inside]]
            length = np.abs(block.probabilities[inside]) @ after
            assert numbers[blocks.WEIGHT, state] >= (1 + length) * (1 - 1e-6)
    who = component_sweeps.chooser_jit(9, block, swaps)
    question = equation, 0.0, 1e-9, 1 << 20, who, False, 0.0
    width = topological.prove_by_policy_jit(
        1, 10, *question, block, numbers, values, errors, policy
    )
    assert width < 1e-9
    assert (errors[:-1] <= width * (1 + 1e-9)).all()
