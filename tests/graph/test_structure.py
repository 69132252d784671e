"""`Structure`: what it says about known graphs, and how it behaves as a value."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from gamedp.graph.structure import Structure


def structure_of(model, dtype=np.int32):
    """Build the structure of a model written as choices per state, successors per choice."""
    choices = [choice for state in model for choice in state]
    return Structure.of(
        np.cumsum([0] + [len(state) for state in model]),
        np.cumsum([0] + [len(choice) for choice in choices]),
        np.array([successor for choice in choices for successor in choice], dtype),
    )


# name: model, component, levels, nontrivial, end_component, stays, a shortest cycle
TABLE = {
    "empty": ([], [], [], [], [], [], ()),
    "single": ([[]], [0], [0], [False], [-1], [], ()),
    "self-loop": ([[[0]]], [0], [0], [True], [0], [True], (0,)),
    "chain": (
        [[[1]], [[2]], []],
        [2, 1, 0],
        [0, 1, 2],
        [False] * 3,
        [-1] * 3,
        [False] * 2,
        (),
    ),
    "cycle": ([[[1]], [[2]], [[0]]], [0] * 3, [0], [True], [0] * 3, [True] * 3, (0, 1, 2)),
    "two linked cycles": (
        [[[1]], [[0], [2]], [[3]], [[2]]],
        [1, 1, 0, 0],
        [0, 1],
        [True, True],
        [1, 1, 0, 0],
        [True, True, False, True, True],
        (0, 1),
    ),
    "cycle that ends by chance": (
        [[[1]], [[0, 2]], []],
        [1, 1, 0],
        [0, 1],
        [False, True],
        [-1, -1, -1],
        [False, False],
        (0, 1),
    ),
    "diamond": (
        [[[1], [2]], [[3]], [[3]], []],
        [3, 1, 2, 0],
        [0, 1, 1, 2],
        [False] * 4,
        [-1] * 4,
        [False] * 4,
        (),
    ),
    "binary tree": (
        [[[1, 2]], [[3, 4]], [[5], [6]], [], [], [], []],
        [6, 2, 5, 0, 1, 3, 4],
        [0, 0, 1, 0, 0, 1, 2],
        [False] * 7,
        [-1] * 7,
        [False] * 4,
        (),
    ),
}


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("name", TABLE)
def test_known_graphs(name, dtype):
    model, component, levels, nontrivial, end_component, stays, cycle = TABLE[name]
    structure = structure_of(model, dtype)
    assert structure.component.tolist() == component
    assert structure.levels.tolist() == levels
    assert structure.nontrivial.tolist() == nontrivial
    assert structure.end_component.tolist() == end_component
    assert structure.stays.tolist() == stays
    assert structure.cycle() == cycle
    assert structure.num_states == len(model)
    assert structure.num_components == len(levels) == len(structure.component_offsets) - 1
    assert structure.num_levels == (max(levels) + 1 if levels else 0)
    cyclic = {level for level, cycles in zip(levels, nontrivial, strict=True) if cycles}
    assert structure.num_cyclic_levels == len(cyclic)
    assert structure.num_end_components == max(end_component, default=-1) + 1
    assert structure.is_acyclic is (not cycle)
    assert structure.always_ends is (structure.num_end_components == 0)
    for array in (structure.component, structure.order, structure.levels, structure.end_component):
        assert array.dtype == dtype


def test_cycle_through_a_state_that_is_asked_for():
    structure = structure_of([[[1], [2]], [[0]], [[3]], [[0]], []])
    assert structure.cycle() == (0, 1)
    assert structure.cycle(3) == (3, 0, 2)
    assert structure.cycle(4) == ()


def test_cycle_starts_at_the_lowest_state_that_has_one():
    assert structure_of([[[1]], [[3], [2]], [[1]], [[3]]]).cycle() == (1, 2)


def test_end_components_are_found_once_and_on_request():
    structure = structure_of([[[0], [1]], []])
    assert structure.end_component is structure.end_component
    assert structure.stays is structure.stays


def test_all_arrays_are_locked_and_the_given_ones_left_alone():
    given = np.array([0, 1, 1]), np.array([0, 1]), np.array([1])
    structure = Structure.of(*given)
    assert all(array.flags.writeable for array in given)
    names = [name for name in dir(structure) if isinstance(getattr(structure, name), np.ndarray)]
    assert len(names) == 12
    for name in names:
        assert not getattr(structure, name).flags.writeable, name


def test_locked_arrays_are_shared():
    given = np.array([0, 1, 1]), np.array([0, 1]), np.array([1])
    for array in given:
        array.flags.writeable = False
    structure = Structure.of(*given)
    assert structure.choice_offsets is given[0]
    assert structure.transition_offsets is given[1]
    assert structure.successors is given[2]


def test_pickling_keeps_everything_locked():
    structure = structure_of([[[1]], [[0], [2]], []])
    copy = pickle.loads(pickle.dumps(structure))
    for name in ("component", "order", "levels", "end_component", "stays", "successors"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(structure, name))
        assert not getattr(copy, name).flags.writeable


def test_comparing_and_printing_never_touch_arrays():
    structure = structure_of([[[0]]])
    assert structure == structure  # noqa: PLR0124
    assert structure != structure_of([[[0]]])
    assert repr(structure) == "Structure(num_levels=1)"


def test_importing_the_module_brings_no_numba():
    code = "import sys, gamedp.graph.structure; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
