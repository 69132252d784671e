"""Sweeps along a policy: how they are extrapolated, and which states need none."""

import numpy as np
import pytest

from gamedp.bellman import chains


@pytest.mark.parametrize("name", ["combine", "combine_jit"])
@pytest.mark.parametrize("size", [1, 3, 5, chains.REPEATS - 1])
def test_sweeps_in_few_dimensions_are_extrapolated_to_their_end(size, name):
    """With more sweeps than dimensions there is a combination that does not change any more."""
    random = np.random.default_rng(size)
    factors = random.random((size, size))
    factors *= 0.99 / factors.sum(axis=1, keepdims=True)
    constants = random.random(size)
    values, deltas = np.zeros(size), np.full((chains.REPEATS, size + 2), np.nan)
    for sweep in range(chains.REPEATS):
        deltas[sweep, :size] = factors @ values + constants - values
        values += deltas[sweep, :size]
    weights = np.empty(chains.REPEATS)
    assert getattr(chains, name)(size, deltas, weights)
    end = np.linalg.solve(np.eye(size) - factors, constants)
    before = np.abs(values - end).max()
    found = values - weights @ np.where(np.isnan(deltas), 0.0, deltas)[:, :size]
    assert np.abs(found - end).max() <= 1e-4 * before
    assert before >= 1.0


@pytest.mark.parametrize("name", ["combine", "combine_jit"])
@pytest.mark.parametrize("change", [0.0, float("inf"), float("nan")])
def test_sweeps_that_change_nothing_or_too_much_are_not_extrapolated(change, name):
    deltas = np.ones((chains.REPEATS, 4)) + np.arange(4)
    deltas[3] = change
    assert not getattr(chains, name)(4, deltas, np.empty(chains.REPEATS))


def chain_of(random, size):
    """Return the arguments of a chain of so many states, two of them known, and its values."""
    counts = random.integers(1, 4, size)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    successors = random.integers(0, size, offsets[-1]).astype(np.int32)
    successors[offsets[:-1]] = random.integers(size - 2, size, size)  # play ends
    probabilities = random.random(offsets[-1]) + 0.01
    probabilities /= np.repeat(np.add.reduceat(probabilities, offsets[:-1]), counts)
    extra, values = random.normal(size=size), random.normal(size=size)
    exits = random.permutation(size)  # the choice of each state
    exits[-2:] = chains.STAY
    matrix, right = np.zeros((size, size)), values.copy()
    for state in range(size - 2):
        row = slice(offsets[exits[state]], offsets[exits[state] + 1])
        np.add.at(matrix[state], successors[row], probabilities[row])
        right[state] = extra[exits[state]]
    for array in (offsets, successors, probabilities):
        array.flags.writeable = False
    found = np.linalg.solve(np.eye(size) - matrix, right)
    room = chains.room_for(size, int(offsets[-1]))
    nodes = random.permutation(size)
    return (size, nodes, offsets, successors, probabilities, extra, exits), values, room, found


@pytest.mark.parametrize("name", ["settle", "settle_jit"])
@pytest.mark.parametrize("size", [3, 4, 7, 30, 200])
def test_a_chain_settles_at_its_values(size, name):
    for seed in range(5):
        arguments, values, room, found = chain_of(np.random.default_rng(seed), size)
        assert getattr(chains, name)(*arguments, 1e-13, values, room)
        assert np.abs(values - found).max() <= 1e-11 * max(1.0, np.abs(found).max())
        assert (room.marks == chains.KNOWN).all()


@pytest.mark.parametrize("name", ["shorten", "shorten_jit"])
def test_few_states_of_a_chain_are_swept(name):
    """None of a tree; one of a ring."""
    size = 50
    ahead = np.arange(1, size + 1, dtype=np.int32)
    offsets, probabilities = np.arange(size + 1), np.full(size, 0.5)
    exits, nodes = np.arange(size + 1), np.arange(size)
    extra, values = np.ones(size), np.zeros(size + 1)
    for last, num_kept in ((size, 0), (7, 1)):
        successors = ahead.copy()
        successors[-1] = last
        for array in (offsets, successors, probabilities):
            array.flags.writeable = False
        room = chains.room_for(size + 1, size)
        arguments = (size, nodes, offsets, successors, probabilities, extra, values, exits, room)
        assert getattr(chains, name)(*arguments) == (size, num_kept)


@pytest.mark.parametrize("name", ["settle", "settle_jit"])
def test_a_chain_without_room_is_left_as_it_was(name):
    arguments, values, room, found = chain_of(np.random.default_rng(1), 30)
    before = values.copy()
    small = room._replace(columns=room.columns[:20], shares=room.shares[:20])
    assert not getattr(chains, name)(*arguments, 1e-13, values, small)
    assert (values == before).all()
    assert (small.marks == chains.KNOWN).all()
    assert getattr(chains, name)(*arguments, 1e-13, values, small._replace(
        columns=room.columns, shares=room.shares))  # fmt: skip
    assert np.abs(values - found).max() <= 1e-11 * np.abs(found).max()


@pytest.mark.parametrize("name", ["settle", "settle_jit"])
def test_a_chain_that_never_ends_is_left_as_it_was(name):
    offsets, successors, probabilities = np.arange(3), np.array([1, 0], np.int32), np.ones(2)
    for array in (offsets, successors, probabilities):
        array.flags.writeable = False
    extra, values, states = np.ones(2), np.array([3.0, 4.0]), np.arange(2)
    room = chains.room_for(2, 2)
    arguments = (2, states, offsets, successors, probabilities, extra, states.copy())
    assert not getattr(chains, name)(*arguments, 1e-13, values, room)
    assert values.tolist() == [3.0, 4.0]
