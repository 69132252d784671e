"""What is known of a problem is found once, by its graph alone, and handed on."""

import many_solutions
import numpy as np
import pytest

import gamedp
from gamedp.bellman import average
from gamedp.reduction import Reduction
from gamedp.solvers.request import Refusal, Undecided
from gamedp.solvers.tools import prepared as preparing
from gamedp.solvers.tools.opponents import Opponents
from gamedp.solvers.tools.prepared import Prepared, prepare

UNDECIDED_SOLVERS = [
    gamedp.solvers.ValueIteration(),
    gamedp.solvers.TopologicalValueIteration(),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.IntervalIteration(),
    gamedp.solvers.SoundValueIteration(),
    gamedp.solvers.LinearProgramming(),
    gamedp.solvers.BackwardInduction(),
    gamedp.solvers.StrategyIteration(),
    gamedp.solvers.ExactPolicyIteration(),
]


def earning_and_losing(reward=2.0):
    """Return a model in which play may go round, earn so much and lose 1, or end for 5."""
    return gamedp.Model.from_arrays(
        [0, 2, 4, 4],
        range(5),
        [1, 2, 0, 2],
        np.ones(4),
        rewards=[reward, 0.0, -1.0, 0.0],
        terminals=[2],
        payoffs=[5.0],
    )


def up_and_down(payoff):
    """Return a model in which sums go up to 1 and down to 0 for ever, or end with the payoff."""
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        range(4),
        [1, 2, 0],
        np.ones(3),
        rewards=[1.0, 0.0, -1.0],
        terminals=[2],
        payoffs=[payoff],
    )


@pytest.fixture
def iterated(monkeypatch):
    """Return a list of the numbers that were iterated to find something out."""
    calls = []
    for module, name in ((average, "settle_jit"), (preparing, "improve_policies")):
        function = getattr(module, name)

        def counted(*arguments, function=function, name=name):
            calls.append(name)
            return function(*arguments)

        monkeypatch.setattr(module, name, counted)
    return calls


@pytest.mark.parametrize("solver", UNDECIDED_SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("model", [earning_and_losing(), up_and_down(-3.0)], ids=["signs", "sums"])
def test_to_ask_is_not_to_iterate(solver, model, iterated):
    problem = gamedp.Problem(model)
    prepared = prepare(problem)
    support = solver.supports(prepared)
    assert support
    assert support.is_open
    assert not iterated
    solver.decide(prepared, lambda: False)
    assert iterated
    before = len(iterated)
    settled = solver.supports(prepared)
    assert len(iterated) == before  # and it is known
    assert not settled.is_open
    assert settled == solver.supports(problem)  # who hands over the problem alone is told the same
    if not settled:
        with pytest.raises(gamedp.UnsupportedProblemError) as caught:
            solver.solve(prepared, tolerance=1e-6)
        assert str(caught.value) == f"{type(solver).__name__} {settled.reason}"


def test_sums_that_may_be_better_are_told_by_numbers():
    for payoff, found in ((-3.0, Refusal), (3.0, Reduction)):
        prepared = Prepared(gamedp.Problem(up_and_down(payoff)))
        assert isinstance(prepared.reduction, Undecided)
        assert isinstance(prepared.reduction.reduction, Reduction)
        assert isinstance(prepared.opponents, Undecided)
        prepared.decide_opponents()
        assert isinstance(prepared.reduction, found)
        assert isinstance(prepared.opponents, Opponents if found is Reduction else Refusal)


def test_no_time_leaves_a_case_open():
    prepared = Prepared(gamedp.Problem(earning_and_losing()))
    for decide in (prepared.decide, prepared.decide_opponents):
        with pytest.raises(preparing.OutOfTimeError):
            decide(lambda: True)
    assert isinstance(prepared.reduction, Undecided)
    prepared.decide()
    assert isinstance(prepared.reduction, Reduction)


def test_what_is_prepared_stays_as_it_is():
    prepared = Prepared(gamedp.Problem(earning_and_losing()))
    assert prepare(prepared) is prepared


@pytest.mark.parametrize(
    ("model", "objective"),
    [
        (earning_and_losing(), gamedp.TotalReward("max")),
        (earning_and_losing(-2.0), gamedp.TotalReward("max")),
        (earning_and_losing(), gamedp.Reachability([2], optimum="min")),
        (earning_and_losing(), gamedp.TotalReward("min", until=[2])),
    ],
)
def test_everything_is_found_once(model, objective, monkeypatch):
    """Whoever chooses a solver hands on what it knows, and so do those that take over."""
    found = []
    for module, name in ((preparing, "search_depth_first"), (preparing, "reduce")):
        function = getattr(module, name)

        def counted(problem, *rest, function=function, name=name):
            found.append((name, problem.model))
            return function(problem, *rest)

        monkeypatch.setattr(module, name, counted)
    for ask in (gamedp.solve, gamedp.explain):
        found.clear()
        ask(model, objective)
        assert found.count(("search_depth_first", model)) == 1
        assert found.count(("reduce", model)) == 1


def test_shifted_payoffs_are_prepared_once(monkeypatch):
    """What endless play counts is shifted to 0 by whoever chooses, and solved as it is then."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2, 2],
        [0, 1, 3],
        [0, 1, 2],
        [1.0, 0.5, 0.5],
        terminals=[1, 2],
        payoffs=[0.0, 2.0],
    )
    reduced = []
    reduce = preparing.reduce
    monkeypatch.setattr(
        preparing,
        "reduce",
        lambda problem, *rest: reduced.append(problem) or reduce(problem, *rest),
    )
    solution = gamedp.solve(model, gamedp.TotalReward("max", draw=1.5))
    assert solution.bounds(0) == (1.5, 1.5)
    assert len(reduced) == 1


@pytest.mark.parametrize(("players", "swaps"), [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize("seed", range(3))
def test_states_in_the_order_of_the_sweeps_have_the_same_numbers(seed, players, swaps, monkeypatch):
    model = many_solutions.made_up(np.random.default_rng(seed), players, swaps)
    solvers = [each for each in many_solutions.methods() if getattr(each, "sweeps_in_order", 0)]
    assert len(solvers) >= 6
    objectives = [
        gamedp.TotalReward(),
        gamedp.Discounted(0.9),
        gamedp.Reachability([model.num_states - 1]),
    ]
    found = []
    for least in (0, 2**60):
        monkeypatch.setattr(preparing, "MIN_ORDERED_TRANSITIONS", least)
        found.append(
            [
                each
                for objective in objectives
                for each in many_solutions.solutions(model, objective, solvers)
            ]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("objective", [gamedp.Discounted(0.9), gamedp.Reachability([11])])
def test_states_are_put_in_the_order_of_the_sweeps(objective, monkeypatch):
    monkeypatch.setattr(preparing, "MIN_ORDERED_TRANSITIONS", 0)
    # Round a ring from 0 upwards: sweeps go from the last state down.
    model = gamedp.Model.from_arrays(
        range(13), range(13), [*range(1, 12), 0], np.ones(12), rewards=np.arange(12.0)
    )
    given = Prepared(gamedp.Problem(model, objective))
    assert given.in_order() is given.in_order()
    found = given.in_order().problem.model
    np.testing.assert_array_equal(found.structure.order, np.arange(found.num_states))
    anew = type(found.structure).of(
        found.choice_offsets, found.transition_offsets, found.successors
    )
    assert anew.num_components == found.structure.num_components
