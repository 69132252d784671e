"""Components that sweeps alone hardly solve: slow ones, large ones, with opponents or costs."""

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.bellman.blocks import VALUE
from gamedp.bellman.component_sweeps import CHANGING_LITTLE
from gamedp.solvers.tools import components
from gamedp.solvers.tools.run import Run
from gamedp.testing.models import GamblersRuin, SlipperyGrid, SlowChain


def tug_of_war(size, probability):
    """Two opponents in turns pull one way or the other, or end it where they are, all by chance."""
    rng = np.random.default_rng(size)
    successors, probabilities = [], []
    for state in range(size):
        for pull in (0.4, 0.6):
            successors += [max(state - 1, 0), min(state + 1, size - 1), size, size + 1]
            up = pull * (1 - probability)
            end = probability * state / size
            probabilities += [1 - probability - up, up, probability - end, end]
    return gamedp.Model.from_arrays(
        [*range(0, 2 * size + 1, 2), 2 * size, 2 * size],
        range(0, 8 * size + 1, 4),
        successors,
        probabilities,
        rewards=1e-3 * rng.normal(size=2 * size),
        payoffs=[0.0, 1.0],
        num_players=2,
        players=np.arange(size + 2) % 2,
    )


def test_another_order_takes_no_room_and_comes_back():
    problem = gamedp.Problem(gamedp.compile(SlipperyGrid(rows=5, columns=5)))
    run = Run(problem, 1e-6, None)
    component = components.Component(run, int(np.diff(run.parts.component_offsets).argmax()))
    block, numbers = component.block, component.numbers
    before = [array.copy() for array in (*block.graph, *block[1:])]
    component.reorder()
    assert component.iterate(np.inf, 1) in {components.component_sweeps.MORE, CHANGING_LITTLE}
    assert sorted(component.reordered.sequence.tolist()) == list(range(component.size))
    assert component.reordered.numbers is not numbers
    found = component.reordered.numbers[VALUE].copy()
    component.prove(1.0)
    assert component.block is block
    here = numbers[VALUE, component.reordered.sequence]
    np.testing.assert_allclose(here, found, rtol=1e-12)  # proofs eliminate once more
    for name, array, old in zip(
        (*block.graph._fields, *block._fields[1:]), (*block.graph, *block[1:]), before, strict=True
    ):
        used = component.lengths[1] if name in {"successors", "probabilities"} else len(array)
        if name != "policy":
            np.testing.assert_array_equal(array[:used], old[:used])
    choice_offsets = block.graph.choice_offsets
    assert (choice_offsets[:-1] <= block.policy).all()
    assert (block.policy < choice_offsets[1:]).all()


CASES = {
    "a slippery grid": (lambda: gamedp.compile(SlipperyGrid(rows=12, columns=12)), None),
    "gambler's ruin": (lambda: gamedp.compile(GamblersRuin(goal=1000, start=500)), None),
    "slow chain": (lambda: gamedp.compile(SlowChain(length=15)), None),
    "opponents": (lambda: tug_of_war(300, 1e-5), None),
    "a discount": (lambda: tug_of_war(50, 1e-5), gamedp.Discounted(0.999)),
}


@pytest.mark.parametrize("inside", [True, False], ids=["in a kernel", "in pieces"])
@pytest.mark.parametrize("name", CASES)
def test_slow_components_take_few_sweeps(name, inside, monkeypatch):
    make, objective = CASES[name]
    model = make()
    if inside:
        monkeypatch.setattr(components, "HARD_COMPONENTS_BEFORE_COMPILING", 1)
    else:
        monkeypatch.setattr(components, "MAX_STATES_IN_KERNEL", 0)
        monkeypatch.setattr(components, "TRANSITIONS", 1000)
    solution = gamedp.solve(model, objective, gamedp.solvers.TopologicalValueIteration())
    truth = gamedp.solve(model, objective, gamedp.solvers.PolicyIteration())
    assert solution.status is gamedp.Status.SOLVED
    assert solution.statistics.sweeps <= 1000
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()


@pytest.mark.parametrize("inside", [True, False], ids=["in a kernel", "in pieces"])
@pytest.mark.parametrize("leave", [1e-3, 1e-9])
def test_play_that_may_take_long_by_choices_that_are_as_good_as_the_best(
    leave, inside, monkeypatch
):
    # Those who play from even numbers get 1/4 if they end it, at once or soon, and as much if they
    # change places, which hardly ever ends it.
    successors, probabilities, offsets = [], [], [0]
    for state in range(6):
        end = 6 + state % 2
        at_once = 1.0 if state % 4 < 2 else 0.5
        for choice in (
            {end: at_once, state: 1 - at_once},
            {(state + 1) % 6: (leave - 1) / 2, (state + 3) % 6: (leave - 1) / 2, end: leave},
        ):
            successors += choice.keys()
            probabilities += choice.values()
            offsets.append(len(successors))
    model = gamedp.Model.from_arrays(
        [*range(0, 13, 2), 12, 12],
        offsets,
        successors,
        probabilities,
        payoffs=[0.25, -0.25],
        num_players=2,
    )
    monkeypatch.setattr(components, "MAX_DENSE_STATES", 0)  # as if it were large
    if inside:
        monkeypatch.setattr(components, "HARD_COMPONENTS_BEFORE_COMPILING", 1)
    else:
        monkeypatch.setattr(components, "MAX_STATES_IN_KERNEL", 0)
    solution = gamedp.solve(model, solver=gamedp.solvers.TopologicalValueIteration())
    assert solution.width <= 1e-6
    truth = np.resize([0.25, -0.25], 8)
    assert (solution.lower <= truth).all()
    assert (truth <= solution.upper).all()
    assert solution.statistics.sweeps < 100


@pytest.mark.parametrize("size", [1, 1 << 25])
def test_what_is_too_large_to_be_gathered_is_swept_where_it_lies(size, monkeypatch):
    monkeypatch.setattr(components, "MAX_STATES_IN_KERNEL", 0)
    monkeypatch.setattr(components, "MAX_GATHERED_NUMBERS", size)
    model = tug_of_war(20, 0.1)
    solution = gamedp.solve(model, solver=gamedp.solvers.TopologicalValueIteration())
    truth = gamedp.solve(model, solver=gamedp.solvers.PolicyIteration())
    assert solution.width <= 1e-6
    np.testing.assert_allclose(solution.values, truth.values, atol=1e-6)


@pytest.mark.parametrize("limit", [{"max_sweeps": 1}, {"max_seconds": 1e-9}], ids=str)
def test_limits_leave_bounds_that_hold(limit, monkeypatch):
    monkeypatch.setattr(components, "MAX_STATES_IN_KERNEL", 0)
    monkeypatch.setattr(components, "TRANSITIONS", 1)
    monkeypatch.setattr(
        components, "MAX_ELIMINATION_TERMS", 0
    )  # or elimination would prove all that is asked for
    monkeypatch.setattr(components, "MAX_DENSE_STATES", 0)
    model = tug_of_war(100, 1e-2)
    truth = gamedp.solve(model, solver=gamedp.solvers.PolicyIteration())
    solver = gamedp.solvers.TopologicalValueIteration(**limit)
    with pytest.raises(gamedp.NotSolvedError, match="limit of") as caught:
        gamedp.solve(model, solver=solver)
    solution = caught.value.solution
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()


def in_a_row(count, size, probability):
    """Two opponents in turns pull one way or the other in a row of components, until each ends."""
    num_states = count * size
    successors, probabilities = [], []
    for state in range(num_states):
        first = state - state % size
        for pull in (0.4, 0.6):
            successors += [max(state - 1, first), min(state, first + size - 2) + 1, first + size]
            up = pull * (1 - probability)
            probabilities += [1 - probability - up, up, probability]
    return gamedp.Model.from_arrays(
        [*range(0, 2 * num_states + 1, 2), 2 * num_states],
        range(0, 6 * num_states + 1, 3),
        successors,
        probabilities,
        rewards=1e-3 * np.random.default_rng(size).normal(size=2 * num_states),
        payoffs=[0.0],
        num_players=2,
        players=np.arange(num_states + 1) % 2,
    )


@pytest.mark.parametrize("many", [1, 3, 100])
def test_only_the_first_hard_components_are_left_to_the_solver(many, monkeypatch):
    tried = []
    solve = components.solve_component

    def counted(run, number, max_sweeps):
        tried.append(number)
        solve(run, number, max_sweeps)

    monkeypatch.setattr(components, "solve_component", counted)
    monkeypatch.setattr(components, "HARD_COMPONENTS_BEFORE_COMPILING", many)
    monkeypatch.setattr(components, "INITIAL_CAPACITY", (2, 1 << 12, 1 << 14))  # too little
    model = in_a_row(8, 9, 0.1)
    solution = gamedp.solve(
        model, solver=gamedp.solvers.TopologicalValueIteration(), tolerance=1e-9
    )
    assert tried == [*range(1, min(many, 9))]  # after the end
    truth = gamedp.solve(model, solver=gamedp.solvers.PolicyIteration(), tolerance=1e-9)
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()


def test_what_a_kernel_has_proven_is_kept(monkeypatch):
    """If it is not close enough, the solver starts anew; what that proves must be closer."""
    starts = []

    def worse(run, number, max_sweeps):
        states = run.equation.order[slice(*run.component(number))]
        starts.extend(run.values[states].tolist())
        run.values[states], run.errors[states] = 1e6, 1e6

    monkeypatch.setattr(components, "solve_component", worse)
    solver = gamedp.solvers.TopologicalValueIteration()
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(tug_of_war(50, 0.1), solver=solver, tolerance=1e-300)
    assert starts
    assert not any(starts)
    assert caught.value.solution.width < 1e-9


def test_a_component_that_is_left_to_the_solver_is_tried_once(monkeypatch):
    tried = []
    solve = components.solve_component

    def counted(run, number, max_sweeps):
        tried.append(number)
        solve(run, number, max_sweeps)

    monkeypatch.setattr(components, "MAX_STATES_IN_KERNEL", 0)
    monkeypatch.setattr(components, "solve_component", counted)
    monkeypatch.setattr(components, "VISITS", 1)
    model = tug_of_war(50, 0.1)
    gamedp.solve(attrs.evolve(model), solver=gamedp.solvers.TopologicalValueIteration())
    assert tried == [2]  # after the two ends


def test_components_in_another_order_do_not_share_places():
    # Two rings of two states, and an end.
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 3, 4, 4],
        [0, 1, 3, 4, 6],
        [1, 0, 2, 3, 2, 4],
        [1.0, 0.5, 0.5, 1.0, 0.5, 0.5],
        payoffs=[1.0],
    )
    run = Run(gamedp.Problem(model, gamedp.TotalReward()), 1e-6, None)
    firsts = []
    for number in np.flatnonzero(model.structure.nontrivial).tolist():
        start, stop = run.component(number)
        states = run.equation.order[start:stop][::-1]
        firsts.append((start, stop, states, run.reordered(start, stop, states)))
    assert len(firsts) == 2
    for start, stop, states, other in firsts:
        np.testing.assert_array_equal(other.order[start:stop], states)
        np.testing.assert_array_equal(other.place[states], np.arange(start, stop))
        assert not other.order.flags.writeable
