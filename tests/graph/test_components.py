"""Components, end components, cycles: against scipy, slow plain Python, and uncompiled twins."""

import inspect
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numba import config
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gamedp.graph import decomposition, end_components, graph as graphs
from gamedp.graph.graph import Graph
from gamedp.graph.structure import Structure

MODULES = decomposition, end_components, graphs
COMPILED = not config.DISABLE_JIT
LARGE = 1_000_000 if COMPILED else 3_000

no_deadline = settings(deadline=None)  # the first example waits for the compiler

# A model is written as for every state its choices, for every choice its successors.
MODELS = {
    "empty": [],
    "single": [[]],
    "self-loop": [[[0]]],
    "chain": [[[1]], [[2]], [[3]], []],
    "backward chain": [[], [[0]], [[1]], [[2]]],
    "cycle": [[[1]], [[2]], [[0]]],
    "two linked cycles": [[[1]], [[0], [2]], [[3]], [[2]]],
    "two cycles linked by chance": [[[1]], [[0, 2]], [[3]], [[2]]],
    "diamond": [[[1], [2]], [[3]], [[3]], []],
    "binary tree": [[[1, 2]], [[3, 4]], [[5], [6]], [], [], [], []],
    "cycle that may end": [[[1]], [[2]], [[0], [3]], []],
    "cycle that ends by chance": [[[1]], [[2]], [[0, 3]], []],
    "wait or end": [[[0], [1]], []],
    "same successor twice": [[[1], [1]], [[0]]],
    # A sweep in the order of the search keeps state 1, whose only choice leads back to state 0.
    "dropped after its predecessor": [[[1, 3]], [[0]], [[0]], []],
    "left or right by chance, or wait": [
        [[0], [1]],
        [[1], [0, 2]],
        [[2], [1, 3]],
        [[3], [2, 4]],
        [],
    ],
}


def necklace(beads, length):
    """Cycles in a row: forward by choice, back only by a chance of going forward; the last ends.

    Each cycle is an end component, but they show one by one, from the last one on.
    """
    model = []
    for bead in range(beads):
        first = bead * length
        cycle = [[[first + (i + 1) % length]] for i in range(length)]
        after = first + length
        cycle[-1].append([after])
        cycle[0].append([max(first - 1, 0), after])
        model += cycle
    return [*model, []]


MODELS["necklace of short cycles"] = necklace(4, 2)
MODELS["necklace of long cycles"] = necklace(4, 30)


def all_locked(*given_arrays):
    """Lock arrays as a model does: a kernel that wrote to them would fail."""
    for array in given_arrays:
        array.flags.writeable = False
    return given_arrays


def arrays(model, dtype=np.int32):
    choices = [choice for state in model for choice in state]
    choice_offsets = np.cumsum([0] + [len(state) for state in model])
    transition_offsets = np.cumsum([0] + [len(choice) for choice in choices])
    successors = np.array([state for choice in choices for state in choice], dtype)
    return all_locked(choice_offsets, transition_offsets, successors)


@st.composite
def random_models(draw):
    """Models of up to 12 states; if successors are near, end components hide in one another."""
    num_states = draw(st.integers(0, 12))
    reach = draw(st.sampled_from([1, 2, num_states]))

    def near(state):
        return st.integers(max(0, state - reach), min(num_states - 1, state + reach))

    return [
        draw(st.lists(st.lists(near(state), min_size=1, max_size=3), max_size=3))
        for state in range(num_states)
    ]


models = st.one_of(st.sampled_from(list(MODELS.values())), random_models())
dtypes = st.sampled_from([np.int32, np.int64])


def find_components(choice_offsets, transition_offsets, successors):
    """All that the kernels find about components; edge offsets first, for further calls."""
    state_offsets = transition_offsets[choice_offsets]
    num_states = len(choice_offsets) - 1
    component, order = np.empty((2, num_states), successors.dtype)
    offsets = np.empty(num_states + 1, successors.dtype)
    number = graphs.strongly_connected_components_jit(
        state_offsets,
        successors,
        component,
        order,
        offsets,
        np.empty_like(order),
        np.empty(num_states, np.int64),
        np.empty(num_states, np.bool_),
    )
    offsets = offsets[: number + 1]
    levels = np.empty(number, successors.dtype)
    nontrivial = np.empty(number, np.bool_)
    graph = Graph(choice_offsets, transition_offsets, successors)
    place = np.empty(num_states, f"u{order.itemsize}")
    num_levels, num_cyclic_levels, num_candidates = graphs.describe_jit(
        graph, component, order, offsets, place, levels, nontrivial, np.empty(num_states, np.int8)
    )
    assert (order[place] == np.arange(num_states)).all()
    assert num_cyclic_levels == len(set(levels[nontrivial].tolist()))
    all_locked(state_offsets, component, order, offsets, levels, nontrivial)
    return state_offsets, component, order, offsets, levels, nontrivial, num_levels, num_candidates


def find_end_components(choice_offsets, transition_offsets, successors):
    _, component, order, offsets, _, nontrivial, _, candidates = find_components(
        choice_offsets, transition_offsets, successors
    )
    end_component = np.empty_like(component)
    stays = np.empty(len(transition_offsets) - 1, np.bool_)
    whole = Graph(choice_offsets, transition_offsets, successors), component, order
    end_components.drop_leaving_choices_jit(*whole, nontrivial, end_component, stays)
    swept = end_component.copy(), stays.copy()
    number = end_components.maximal_end_components_jit(
        *whole, offsets, nontrivial, end_component, stays
    )
    return end_component, stays, number, candidates, *swept


def find_cycles(choice_offsets, transition_offsets, successors):
    """Return for every state a shortest cycle through it."""
    state_offsets, component, *_ = find_components(choice_offsets, transition_offsets, successors)
    cycle = np.zeros_like(component)
    found = []
    for start in range(len(component)):
        length = graphs.shortest_cycle_jit(state_offsets, successors, component, start, cycle)
        found.append(cycle[:length].tolist())
    return found


def edges(model):
    return [[successor for choice in state for successor in choice] for state in model]


def reachable_in_steps(successors, start):
    """The states that can be reached from `start` in one step or more."""
    seen, todo = set(), list(successors[start])
    while todo:
        state = todo.pop()
        if state not in seen:
            seen.add(state)
            todo += successors[state]
    return seen


def slow_end_components(model):
    """Baier and Katoen's algorithm 47, with the closure of reachability instead of components."""
    enabled = {(state, number) for state, own in enumerate(model) for number in range(len(own))}
    while True:
        successors = [
            [successor for number in range(len(own)) for successor in own[number]
             if (state, number) in enabled]
            for state, own in enumerate(model)
        ]  # fmt: skip
        reach = [reachable_in_steps(successors, state) for state in range(len(model))]
        staying = {
            (state, number)
            for state, number in enabled
            if all(state in reach[successor] for successor in model[state][number])
        }
        if staying == enabled:
            break
        enabled = staying
    return {frozenset(reach[state]) for state, _ in enabled}, enabled


def finishing_order(successors):
    """The states as a recursive depth-first search leaves them."""
    seen, finished = set(), []

    def visit(state):
        seen.add(state)
        for successor in successors[state]:
            if successor not in seen:
                visit(successor)
        finished.append(state)

    for state in range(len(successors)):
        if state not in seen:
            visit(state)
    return finished


def groups(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


@no_deadline
@given(model=models, dtype=dtypes)
def test_components_are_those_of_scipy(model, dtype):
    _, component, order, offsets, *_ = find_components(*arrays(model, dtype))
    successors = edges(model)
    if model:
        matrix = np.zeros((len(model), len(model)), bool)
        for state, own in enumerate(successors):
            matrix[state, own] = True
        number, labels = connected_components(csr_array(matrix), connection="strong")
        assert groups(component) == groups(labels)
        assert len(offsets) == number + 1
    assert component.dtype == order.dtype == offsets.dtype == dtype
    assert all(component[t] <= component[s] for s, own in enumerate(successors) for t in own)
    assert sorted(order.tolist()) == list(range(len(model)))
    for number, (first, last) in enumerate(pairwise(offsets.tolist())):
        assert (component[order[first:last]] == number).all()


@st.composite
def matrices(draw):
    """Rows of successors, all numbered below the number of states, each with a sign."""
    num_states = draw(st.integers(1, 6))
    entries = st.tuples(st.integers(0, num_states - 1), st.sampled_from([0.5, -0.5]))
    return num_states, draw(st.lists(st.lists(entries, max_size=4), max_size=8))


@no_deadline
@given(matrix=matrices(), dtype=dtypes, signed=st.booleans(), compiled=st.booleans())
def test_a_transposed_graph_lists_the_rows_that_lead_to_each_state(matrix, dtype, signed, compiled):
    num_states, given_rows = matrix
    row_offsets = np.cumsum([0] + [len(row) for row in given_rows])
    flat = [entry for row in given_rows for entry in row]
    successors = np.array([state for state, _ in flat], dtype)
    probabilities = np.array([probability for _, probability in flat]) if signed else None
    offsets = np.full(num_states + 1, 9)
    rows = np.full(len(flat), 99, dtype)
    transpose = graphs.transpose_jit if compiled else graphs.transpose
    transpose(row_offsets, successors, probabilities, offsets, rows)
    expected = [
        [
            -1 - number if signed and probability < 0 else number
            for number, row in enumerate(given_rows)
            for state, probability in row
            if state == wanted
        ]
        for wanted in range(num_states)
    ]
    assert offsets.tolist() == [0, *np.cumsum([len(row) for row in expected])]
    assert [rows[first:last].tolist() for first, last in pairwise(offsets)] == expected


@no_deadline
@given(model=models, dtype=dtypes)
def test_a_reverse_is_ascending_and_knows_owners(model, dtype):
    structure = Structure.of(*arrays(model, dtype))
    owners, offsets, choices = structure.reverse
    flat = [(state, choice) for state, own in enumerate(model) for choice in own]
    assert owners.tolist() == [state for state, _ in flat]
    assert owners.dtype == choices.dtype == dtype
    assert not any(array.flags.writeable for array in structure.reverse)
    assert [choices[first:last].tolist() for first, last in pairwise(offsets)] == [
        [number for number, (_, choice) in enumerate(flat) for after in choice if after == state]
        for state in range(len(model))
    ]


@no_deadline
@given(model=models)
def test_order_within_a_component_is_the_order_of_finishing(model):
    _, component, order, *_ = find_components(*arrays(model))
    finished = finishing_order(edges(model))
    assert order.tolist() == sorted(finished, key=lambda state: component[state])


@no_deadline
@given(model=models)
def test_in_an_acyclic_model_every_successor_comes_before(model):
    forward = [
        [[min(state + 1 + successor, len(model) - 1) for successor in choice] for choice in own]
        for state, own in enumerate(model[:-1])
    ] + [[]] * bool(model)
    _, _, order, _, _, nontrivial, *_ = find_components(*arrays(forward))
    assert not nontrivial.any()
    place = np.argsort(order)
    assert all(place[t] < place[s] for s, own in enumerate(edges(forward)) for t in own)


@no_deadline
@given(model=models, dtype=dtypes)
def test_levels_are_longest_ways_down(model, dtype):
    _, component, _, offsets, levels, nontrivial, num_levels, _ = find_components(
        *arrays(model, dtype)
    )
    below = [set() for _ in pairwise(offsets)]
    inside = [False] * len(below)
    for state, own in enumerate(edges(model)):
        below[component[state]] |= {int(component[t]) for t in own} - {int(component[state])}
        inside[component[state]] |= any(component[t] == component[state] for t in own)
    longest = []
    for others in below:  # they have lower numbers
        longest.append(max((longest[other] + 1 for other in others), default=0))
    assert levels.tolist() == longest
    assert num_levels == max(longest, default=-1) + 1
    assert nontrivial.tolist() == inside


@no_deadline
@given(model=models)
def test_cycles_are_shortest(model):
    successors = edges(model)
    for start, cycle in enumerate(find_cycles(*arrays(model))):
        # The distance from start to start, one breadth-first layer at a time.
        layer, distance = {start}, 0
        while layer and distance <= len(model):
            layer = {t for s in layer for t in successors[s]}
            distance += 1
            if start in layer:
                break
        assert len(cycle) == (distance if start in layer else 0)
        assert all(t in successors[s] for s, t in pairwise([*cycle, *cycle[:1]]))
        assert cycle[:1] in ([], [start])


@no_deadline
@given(model=models, dtype=dtypes)
def test_end_components_are_those_of_the_slow_algorithm(model, dtype):
    end_component, stays, number, candidates, swept_component, _ = find_end_components(
        *arrays(model, dtype)
    )
    expected, enabled = slow_end_components(model)
    assert groups(end_component) - {frozenset(np.flatnonzero(end_component < 0))} == expected
    assert number == len(expected)
    assert set(end_component.tolist()) <= {-1, *range(number)}
    flat = [(state, choice) for state, own in enumerate(model) for choice in range(len(own))]
    assert {flat[choice] for choice in np.flatnonzero(stays)} == enabled
    assert candidates >= sum(map(len, expected))
    assert candidates == np.count_nonzero(swept_component >= 0)


def clear(choice_offsets, transition_offsets, successors, sides):
    """Return what `clear` finds for each of the two parts together, and the marks it leaves."""
    graph = choice_offsets, transition_offsets, successors
    _, _, order, offsets, _, nontrivial, *_ = find_components(*graph)
    marks = np.full(len(choice_offsets) - 1, 9, np.uint8)
    found = end_components.clear_jit(Graph(*graph), order, offsets, nontrivial, sides, marks)
    return found, marks


@no_deadline
@given(model=models, dtype=dtypes, seed=st.integers(0, 99))
def test_parts_are_cleared_if_they_have_no_end_component(model, dtype, seed):
    num_choices = sum(map(len, model))
    sides = np.random.default_rng(seed).integers(0, 4, num_choices).astype(np.uint8)
    found, marks = clear(*arrays(model, dtype), sides)
    expected = []
    for part in (1, 2):
        flags = iter((sides & part) > 0)
        expected.append(slow_end_components([[c for c in own if next(flags)] for own in model])[0])
    if found != end_components.UNSETTLED:
        assert found == (end_components.SETTLED if any(expected) else end_components.CLEARED)
    if found == end_components.CLEARED:
        assert not marks.any()


@pytest.mark.parametrize("extra", [0, 1])
def test_what_is_not_cleared_soon_is_left_to_others(extra):
    length = end_components.SWEEPS + extra - 1
    # To and fro by chance. The search goes forth, so that each sweep drops one more state.
    walk = [[[state - 1, state + 1]] for state in range(1, length)]
    model = [[[length + 1, 1]], *walk, [[length - 1, length]], []]
    graph = arrays(model)
    found, _ = clear(*graph, np.ones(length + 1, np.uint8))
    assert found == (end_components.UNSETTLED if extra else end_components.CLEARED)
    structure = Structure.of(*graph)
    assert structure.always_ends


@pytest.mark.parametrize("name", MODELS)
def test_one_sweep_finds_that_there_is_none(name):
    end_component, stays, number, candidates, swept_component, swept_stays = find_end_components(
        *arrays(MODELS[name])
    )
    if name == "dropped after its predecessor":
        assert candidates > number == 0
        assert not stays.any()
    elif number == 0:
        assert candidates == 0
        assert not swept_stays.any()
        assert (swept_component == -1).all()
    else:
        assert set(np.flatnonzero(end_component >= 0)) <= set(np.flatnonzero(swept_component >= 0))


@pytest.mark.skipif(not COMPILED, reason="both twins are the same function with the JIT off")
@no_deadline
@given(model=models, dtype=dtypes)
def test_compiled_and_uncompiled_twins_agree(model, dtype):
    given_arrays = arrays(model, dtype)
    analyses = find_components, find_cycles, find_end_components
    compiled = [analyse(*given_arrays) for analyse in analyses]
    with pytest.MonkeyPatch.context() as patch:
        kernels = {name: kernel for module in MODULES for name, kernel in vars(module).items()}
        for module in MODULES:
            for name in vars(module).copy():
                if name.endswith("_jit"):
                    patch.setattr(module, name, kernels[name.removesuffix("_jit")])
        plain = [analyse(*given_arrays) for analyse in analyses]
    for ours, theirs in zip(compiled, plain, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other, strict=isinstance(one, np.ndarray))


def test_every_kernel_has_a_compiled_twin():
    kernels = [
        (module, name)
        for module in MODULES
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.endswith("_jit")
    ]
    assert len(kernels) == 18
    for module, name in kernels:
        twin = getattr(module, f"{name}_jit")
        assert getattr(twin, "py_func", twin) is getattr(module, name)


@pytest.mark.parametrize("name", ["chain", "backward chain", "cycle"])
def test_deep_graphs_need_no_recursion(name):
    states = np.arange(LARGE, dtype=np.int32)
    if name == "chain":
        successors, ends = states[1:], [LARGE - 1]
    elif name == "backward chain":
        successors, ends = states[:-1], [0]
    else:
        successors, ends = np.roll(states, -1), []
    choice_offsets = np.concatenate([[0], np.cumsum(~np.isin(states, ends))])
    given_arrays = all_locked(choice_offsets, np.arange(len(successors) + 1), successors)
    _, component, order, offsets, _, _, num_levels, _ = find_components(*given_arrays)
    _, stays, number, *_ = find_end_components(*given_arrays)
    if name == "cycle":
        assert (len(offsets) - 1, num_levels, number) == (1, 1, 1)
        assert stays.all()
        np.testing.assert_array_equal(order, states[::-1])
    else:
        assert (len(offsets) - 1, num_levels, number) == (LARGE, LARGE, 0)
        assert not stays.any()
        np.testing.assert_array_equal(order[component], states)


def test_end_components_that_show_one_by_one_take_no_longer():
    # Decomposing the whole graph once for each would take hours.
    num_states = LARGE // 5
    states = np.arange(num_states, dtype=np.int32)
    successors = np.stack([states, np.maximum(states - 1, 0), states + 1], axis=1).ravel()
    choice_offsets = np.append(2 * np.arange(num_states + 1), 2 * num_states)
    transition_offsets = np.concatenate([[0], np.cumsum(np.tile([1, 2], num_states))])
    given_arrays = all_locked(choice_offsets, transition_offsets, successors)
    end_component, stays, number, *_ = find_end_components(*given_arrays)
    assert number == num_states
    assert sorted(end_component.tolist()) == list(range(-1, num_states))
    assert stays.tolist() == [True, False] * num_states


def test_many_large_end_components_that_show_one_by_one():
    given_arrays = arrays(necklace(60, 50))
    end_component, _, number, *_ = find_end_components(*given_arrays)
    assert number == 60
    assert groups(end_component[:-1]) == {frozenset(range(k, k + 50)) for k in range(0, 3000, 50)}
