"""The kernels of a whole discounted model: twins agree, and choices said to be clear are."""

import attrs
import numpy as np
import pytest
from depth import first_of
from equations import arrays_of, copied, locked
from hypothesis import given, settings, strategies as st

import gamedp
from gamedp.bellman import discounted, equation as bellman, policy_rows
from gamedp.bellman.equation import unordered_equation
from gamedp.graph.graph import Graph
from gamedp.solvers.tools import discounted as solving
from gamedp.solvers.tools.discounted import may_be_acyclic

cases = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.sampled_from([0.99, 0.5, 0.0]),
    st.booleans(),
    st.booleans(),
)


def random_graph(seed, num_states, *, ends):
    """Return offsets, successors, probabilities and rewards; the last state may be terminal."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, 4, num_states)
    counts[-1] = 0 if ends else 1
    choice_offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
    widths = random.integers(1, 10, int(choice_offsets[-1]))
    if seed % 2:
        widths[:] = widths[0]
    transition_offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.uint64)
    successors = random.integers(0, num_states, widths.sum()).astype(np.uint32)
    probabilities = random.random(len(successors)) + 0.05
    probabilities /= np.repeat(
        np.add.reduceat(probabilities, transition_offsets[:-1].astype(int)), widths
    )
    return (
        choice_offsets,
        transition_offsets,
        successors,
        probabilities,
        random.normal(size=len(widths)),
    )


def coded(probabilities):
    """Return the numbers of the probabilities in a codebook, and the codebook."""
    codebook, codes = np.unique(probabilities, return_inverse=True)
    return codes.astype(np.uint16), codebook


def laid_out(case):
    """Return the equation of a random model, room for the chosen rows, and first values."""
    seed, num_states, discount, ends, is_coded = case
    *graph, probabilities, rewards = map(locked, random_graph(seed, num_states, ends=ends))
    codebook = None
    if is_coded:
        probabilities, codebook = map(locked, coded(probabilities))
    maximise = np.random.default_rng(seed).random(num_states) < 0.5
    equation = unordered_equation(
        Graph(*graph), probabilities, rewards, maximise, discount, codebook
    )
    first = np.empty(num_states, np.uint64)
    room, shortest, longest, _, *others = policy_rows.survey_jit(equation, first)
    width = np.uint64(longest if shortest == longest and not ends else 0)
    extremes = policy_rows.Extremes(ends, longest, width, *others)
    own = np.empty(room, np.uint32), np.empty(room, probabilities.dtype)
    rows = policy_rows.PolicyRows(
        first,
        np.empty(num_states, np.uint64),
        *(locked(array.view()) for array in own),
        codebook,
        *own,
        np.empty(num_states),
        np.empty(num_states, np.int64),
        np.empty(num_states),
        np.empty(num_states, np.uint32),
    )
    values, before = np.zeros(num_states), np.zeros(num_states)
    marks = np.zeros(discounted.NUM_MARKS, np.int64)
    marks[discounted.MOST_IMPROVEMENTS] = 10**6
    marks[discounted.MOST_INNER] = 1000
    numbers = np.zeros(policy_rows.NUM_NUMBERS)
    return equation, extremes, rows, values, before, marks, numbers


def read_where_written(rows):
    """Return the rows, whose arrays that are read are those that are written."""
    return rows._replace(
        successors=locked(rows.room_successors.view()),
        probabilities=locked(rows.room_probabilities.view()),
    )


@settings(max_examples=20, deadline=None)
@given(cases)
def test_twins_agree(case):
    equation, extremes, rows, values, before, _, numbers = laid_out(case)
    num_states = np.uintp(len(values))
    graph = equation.graph
    rows.room_successors[:] = 0
    rows.room_probabilities[:] = 0
    for module, name, arguments in (
        (policy_rows, "survey", (equation, rows.first)),
        (policy_rows, "meets_itself", (graph, np.zeros(len(values), np.int32))),
        *(
            (policy_rows, "is_narrow", (graph, width))
            for width in (2, len(values) // 2, len(values))
        ),
        (policy_rows, "find_undecided", (np.uintp(0), num_states, 0.0, rows)),
        (discounted, "begin", (np.uintp(0), num_states, equation, rows, values, before)),
        (discounted, "prepare", (equation.discount, extremes, values, before, numbers)),
    ):
        outcomes = []
        for kernel in (getattr(module, f"{name}_jit"), getattr(module, name)):
            copies = [copied(argument) for argument in arguments]
            outcomes.append((kernel(*copies), list(arrays_of(copies))))
        (result, arrays), (other, others) = outcomes
        assert result == other
        for array, its in zip(arrays, others, strict=True):
            np.testing.assert_array_equal(array, its)


@pytest.mark.parametrize("largest", first_of([(12, 0.95), (40, 0.99)]))
@settings(max_examples=20, deadline=None)
@given(cases, st.sampled_from([1, 10**6]))
def test_whole_runs_agree(largest, case, budget):
    """Compiled or not, and in whatever slices: the same values, bounds and policy.

    Many sweeps of many states take long in plain Python.
    """
    seed, *size, ends, is_coded = case
    arguments = laid_out((seed, *map(min, size, largest), ends, is_coded))
    found = []
    for kernel, step in ((discounted.advance_jit, budget), (discounted.advance, 10**6)):
        equation, extremes, rows, values, before, marks, numbers = map(copied, arguments)
        rows = read_where_written(rows)
        phase = discounted.BEGIN
        while phase < discounted.DONE:
            phase = kernel(step, 1e-6, equation, extremes, rows, values, before, marks, numbers)
        if marks[discounted.FLIPPED]:
            values, before = before, values
        found.append((phase, values, before, rows.clear, rows.policy, marks))
    assert found[0][0] == found[1][0] == discounted.DONE
    for array, its in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_array_equal(array, its)


def worth_of(choice, equation, values):
    """Return what a choice is worth, added up in the order of the kernels."""
    total = 0.0
    for t in range(*equation.graph.transition_offsets[choice : choice + 2].tolist()):
        probability = bellman.probability(equation.probabilities, equation.codebook, t)
        total += float(probability) * float(values[equation.graph.successors[t]])
    return float(equation.constants[choice]) + equation.discount * total


@settings(max_examples=50, deadline=None)
@given(cases, st.floats(0.0, 0.5), st.integers(0, 2**32 - 1))
def test_what_is_clear_is_the_best(case, much, seed):
    """After any move of the values, an improvement is Bellman's operator, to the last digit."""
    equation, extremes, rows, values, other, _, numbers = laid_out(case)
    discounted.begin_jit(np.uintp(0), np.uintp(len(values)), equation, rows, values, other)
    sign = np.where(equation.maximise, 1.0, -1.0)
    num_states = np.uintp(len(values))
    random = np.random.default_rng(seed)
    inner = np.diff(equation.graph.choice_offsets) > 0
    for _ in range(4):
        discounted.prepare_jit(equation.discount, extremes, values, other, numbers)
        policy_rows.improve_jit(
            np.uintp(0), num_states, equation, extremes, rows, values, other, numbers
        )
        for state in np.flatnonzero(inner):
            first, last = equation.graph.choice_offsets[state : state + 2].tolist()
            worth = [
                sign[state] * worth_of(choice, equation, values) for choice in range(first, last)
            ]
            assert other[state] == sign[state] * max(worth)
            assert rows.policy[state] == first + int(np.argmax(worth))
        move = much * random.random(len(values)) * random.random() + (
            0 if extremes.has_terminals else 5
        )
        values, other = values + np.where(inner, move, 0), values


def model_leading_to(successors, ends):
    """Return a model in which each state but the last leads to the given ones in turn."""
    count = len(successors)
    rows = [list(row) for row in successors]
    return gamedp.Model.from_arrays(
        [*range(count + 1), *([count] * ends)],
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]),
        np.concatenate(rows),
        np.concatenate([np.full(len(row), 1 / len(row)) for row in rows]),
        payoffs=[0.0] * ends,
    )


def test_cycles_are_found_by_walking():
    assert not may_be_acyclic(model_leading_to([[1], [0]], ends=0))
    assert not may_be_acyclic(model_leading_to([[0, 1]], ends=1))
    assert not may_be_acyclic(model_leading_to([[1, 2], [0, 2]], ends=1))
    assert may_be_acyclic(model_leading_to([[1], [2], [3]], ends=1))


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.99])
def test_probabilities_that_do_not_sum_to_one(discount):
    """Where they are off, as in no model that is checked, bounds are of the arrays as they are."""
    chance = 0.5 + 4e-10
    model = gamedp.Model.from_arrays(
        [0, 1, 2], [0, 2, 4], [0, 1, 0, 1], [0.5] * 4, rewards=[3.0, 5.0]
    )
    model = attrs.evolve(model, probabilities=np.full(4, chance))
    solution = gamedp.solve(
        model, gamedp.Discounted(discount), gamedp.solvers.ModifiedPolicyIteration(), tolerance=1e-8
    )
    mean = 4.0 / (1 - 2 * chance * discount)
    for reward, low, high in zip((3.0, 5.0), solution.lower, solution.upper, strict=True):
        assert low <= reward + 2 * chance * discount * mean <= high
        assert high - low <= 1e-8


@settings(max_examples=20, deadline=None)
@given(cases)
def test_codes_change_no_digit(case):
    """The same values, bounds and policy with probabilities and with their numbers."""
    found = []
    for is_coded in (False, True):
        equation, extremes, rows, values, before, marks, numbers = laid_out((*case[:4], is_coded))
        phase = discounted.BEGIN
        rows = read_where_written(rows)
        while phase < discounted.DONE:
            phase = discounted.advance_jit(
                10**6, 1e-6, equation, extremes, rows, values, before, marks, numbers
            )
        found.append((values, before, rows.clear, rows.policy, marks, numbers))
    for array, its in zip(*found, strict=True):
        np.testing.assert_array_equal(array, its)


def collected(kernel, probabilities):
    slots, values = (
        np.zeros(bellman.SLOTS, np.uint16),
        np.zeros(bellman.MAX_CODES, np.uint64),
    )
    codes = np.empty(len(probabilities), np.uint16)
    return kernel(probabilities.view(np.uint64), slots, values, codes), values, codes


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(allow_nan=False), max_size=50))
def test_codebooks_have_the_very_numbers(probabilities):
    probabilities = np.array(probabilities * 2)
    (count, values, codes), other = (
        collected(kernel, probabilities) for kernel in (bellman.collect_jit, bellman.collect)
    )
    assert count == other[0] == len(set(probabilities.view(np.uint64).tolist()))
    assert (values[:count][codes] == probabilities.view(np.uint64)).all()
    np.testing.assert_array_equal(values, other[1])
    np.testing.assert_array_equal(codes, other[2])


def test_codebooks_have_their_limit():
    probabilities = np.arange(1.0, bellman.MAX_CODES + 2)
    count, values, codes = collected(bellman.collect_jit, np.tile(probabilities[:-1], 3))
    assert count == bellman.MAX_CODES
    assert (values.view(np.float64)[codes] == np.tile(probabilities[:-1], 3)).all()
    assert collected(bellman.collect_jit, probabilities)[0] == bellman.MAX_CODES + 1
    assert collected(bellman.collect, probabilities)[0] == bellman.MAX_CODES + 1


def rolls(num_states, *, distinct):
    """Return a model whose choices have the chances of a die, or each its own."""
    random = np.random.default_rng(0)
    probabilities = np.full((2 * num_states, 6), 1 / 6)
    if distinct:
        probabilities = random.random(probabilities.shape) + 0.1
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    return gamedp.Model.from_arrays(
        np.arange(num_states + 1) * 2,
        np.arange(2 * num_states + 1) * 6,
        np.sort(
            random.permuted(np.tile(np.arange(num_states), (2 * num_states, 1)), axis=1)[:, :6]
        ).ravel(),
        probabilities.ravel(),
        rewards=random.random(2 * num_states),
    )


def test_large_models_are_solved_by_codes(monkeypatch):
    model = rolls(100, distinct=False)
    codes, codebook = model.coded_probabilities
    assert codebook.tolist() == [1 / 6]
    assert (codebook[codes] == model.probabilities).all()
    assert not codes.flags.writeable
    assert not codebook.flags.writeable
    assert rolls(1000, distinct=True).coded_probabilities is None
    plain = gamedp.solve(model, gamedp.Discounted(0.99))
    monkeypatch.setattr(solving, "TRANSITIONS_IN_CACHE", model.num_transitions)
    equation, *_ = solving.equation_of(gamedp.Problem(model, gamedp.Discounted(0.99)))
    assert equation.probabilities is codes
    small = gamedp.solve(model, gamedp.Discounted(0.99))
    for name in ("values", "lower", "upper", "policy"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(small, name))
