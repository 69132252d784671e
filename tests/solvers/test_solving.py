"""Where the chosen solver gets stuck, others go on, within budgets that are counted."""

import gc
import weakref
from fractions import Fraction

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.results.status import TOLERANCE, Tolerance
from gamedp.runtime import limit
from gamedp.solvers import choose, solving
from gamedp.solvers.tools import components
from gamedp.solvers.tools.base import solve_as_asked, way_out
from gamedp.testing import exact_values

NONE_TO_FOLLOW = []


def model_with_ends(*states, players=None, terminals=2, payoffs=(1.0, 0.0)):
    """Make a model of lists of choices (reward, [(chance, state)]); the ends come after them."""
    choices, offsets, successors, probabilities, rewards = [0], [0], [], [], []
    for options in states:
        for reward, outcomes in options:
            successors += [state for _, state in outcomes]
            probabilities += [probability for probability, _ in outcomes]
            offsets.append(len(successors))
            rewards.append(reward)
        choices.append(len(rewards))
    size = len(states)
    return gamedp.Model.from_arrays(
        choices + [len(rewards)] * terminals,
        offsets,
        successors,
        probabilities,
        rewards=rewards,
        players=None if players is None else [*players, *[0] * terminals],
        num_players=1 if players is None else 2,
        terminals=range(size, size + terminals),
        payoffs=payoffs,
    )


def chain_for_two(length):
    """Haddad and Monmege's chain, in which each of two could do what is worse for them: 0.7."""
    win, lose = 2 * length - 1, 2 * length
    good = [0, *range(1, length), win]
    bad = [0, *range(length, 2 * length - 1), lose]
    states, players = [[(0.0, [(0.7, good[1]), (0.3, bad[1])])]], [0]
    for side, worse in ((good, 0), (bad, 1)):
        for step in range(1, length):
            mover = step % 2
            onward, other = side[step + 1], (bad if side is good else good)[step + 1]
            # To go on for sure ends well on the good side, and badly on the other.
            second = [(1.0, onward)] if mover != worse else [(0.5, other), (0.5, 0)]
            states.append([(0.0, [(0.5, onward), (0.5, 0)]), (0.0, second)])
            players.append(mover)
    return model_with_ends(*states, players=players)


def test_two_opponents_on_a_slow_chain():
    model = chain_for_two(60)
    objective = gamedp.Reachability([119])
    with pytest.raises(gamedp.NotSolvedError, match="rounding") as caught:
        gamedp.solve(model, objective, gamedp.solvers.TopologicalValueIteration())
    assert caught.value.solution.width > 0.5
    solution = gamedp.solve(model, objective)
    assert isinstance(solution.solver, gamedp.solvers.StrategyIteration)
    low, high = solution.bounds(0)
    assert low <= 0.7 <= high <= low + 1e-6
    assert solution.statistics.sweeps < 1000
    assert "makes no progress: StrategyIteration" in gamedp.explain(model, objective)


def test_relative_tolerances():
    """Ten steps that each succeed once in 40000 tries, or lose: 1e-46 is the answer."""
    probability, length = 2.5e-5, 10
    states = [
        [
            (
                0.0,
                [
                    (probability, step + 1),
                    (1e-3, max(step - 1, 0)),
                    (1 - 1e-3 - probability, length + 1),
                ],
            )
        ]
        for step in range(length)
    ]
    model = model_with_ends(*states)
    objective = gamedp.Reachability([length])
    with pytest.raises(gamedp.NotSolvedError, match=r"Use gamedp\.solvers\.ExactPolicyIteration"):
        gamedp.solve(model, objective, gamedp.solvers.TopologicalValueIteration(), relative=True)
    solution = gamedp.solve(model, objective, relative=True)
    low, high = solution.bounds(0)
    assert 0 < low <= exact_values(model, objective)[0] <= high <= low * (1 + 1e-6)
    assert solution.statistics.sweeps < 100


def test_large_games_with_few_places_to_stay():
    rng = np.random.default_rng(1)
    size = 1200
    states = []
    for state in range(size):
        options = []
        for _ in range(2):
            targets = [*np.unique(rng.integers(0, size, 2)).tolist(), size + int(rng.integers(2))]
            probabilities = rng.dirichlet(np.ones(len(targets))).tolist()
            options.append((0.0, list(zip(probabilities, targets, strict=True))))
        if state < 10:
            options.append((0.0, [(1.0, state ^ 1)]))
        states.append(options)
    model = model_with_ends(*states, players=[state % 2 for state in range(size)])
    objective = gamedp.Reachability([size])
    words = "bounds are deflated there.\nIf it makes no progress: StrategyIteration"
    assert words in gamedp.explain(model, objective)
    solution = gamedp.solve(model, objective)
    assert isinstance(solution.solver, gamedp.solvers.IntervalIteration)
    assert solution.width <= 1e-6
    assert solution.statistics.sweeps < 100


def gains_and_losses():
    """One can go on gaining for ever, the other losing; neither needs to, nor ends play."""
    return model_with_ends(
        [(1.0, [(1.0, 0)]), (0.0, [(1.0, 1)])],
        [(-1.0, [(1.0, 1)]), (0.0, [(1.0, 0)]), (0.0, [(1.0, 2)])],
        players=[0, 1],
    )


def test_where_nothing_is_proven_it_ends_soon_and_says_why(monkeypatch):
    monkeypatch.setattr(solving, "MAX_BUDGET_SWEEPS", 40)
    model = gains_and_losses()
    with pytest.raises(gamedp.NotSolvedError, match="nothing is proven") as caught:
        gamedp.solve(model)
    assert caught.value.solution.guarantee is gamedp.Guarantee.NONE
    assert caught.value.solution.statistics.sweeps <= 41
    assert "play may go on for ever" in str(caught.value)


def random_model(size, discount_seed):
    rng = np.random.default_rng(discount_seed)
    states = []
    for _ in range(size):
        options = []
        for _ in range(3):
            targets = np.unique(rng.integers(0, size, 2)).tolist()
            probabilities = rng.dirichlet(np.ones(len(targets))).tolist()
            options.append(
                (float(rng.integers(-3, 4)), list(zip(probabilities, targets, strict=True)))
            )
        states.append(options)
    return model_with_ends(*states, terminals=0, payoffs=())


def test_discounts_next_to_one():
    """The sweeps of the whole model at once stop at rounding, or go on and on."""
    model = random_model(40, 2)
    objective = gamedp.Discounted(1 - 1e-6)
    sweeping = gamedp.solvers.ModifiedPolicyIteration(max_sweeps=1000)
    with pytest.raises(gamedp.NotSolvedError):
        gamedp.solve(model, objective, sweeping, tolerance=1e-5)
    solution = gamedp.solve(model, objective, tolerance=1e-5)
    assert solution.width <= 1e-5
    assert isinstance(solution.solver, gamedp.solvers.TopologicalValueIteration)


def symmetric_walk(size):
    """Every step costs one: from the middle, ``size**2 / 4`` on average until either end."""
    inner = np.arange(1, size)
    states = np.concatenate([[0], np.arange(size), [size - 1]])
    return gamedp.Model.from_arrays(
        states,
        2 * np.arange(size),
        np.stack([inner - 1, inner + 1], axis=1).ravel(),
        np.full(2 * (size - 1), 0.5),
        rewards=np.ones(size - 1),
        terminals=[0, size],
        initial=size // 2,
    )


@pytest.mark.parametrize("size", [1000, 3000])
def test_a_tolerance_that_is_not_given_grows_with_the_values(size):
    solution = gamedp.solve(symmetric_walk(size))
    low, high = solution.bounds()
    assert low <= size**2 / 4 <= high
    assert solution.status is gamedp.Status.SOLVED
    assert 1e-6 < solution.width < 1e-6 * size**2 / 4
    assert solution.statistics.sweeps < 10


def test_a_tolerance_that_is_given_is_kept_to():
    """No time is spent where rounding is the limit: 100,000 sweeps would not help."""
    with pytest.raises(gamedp.NotSolvedError, match="rounding") as caught:
        gamedp.solve(symmetric_walk(1500), tolerance=1e-6)
    assert caught.value.solution.status is gamedp.Status.ROUNDING
    assert caught.value.solution.statistics.sweeps < 1000


def test_large_discounted_totals():
    """Two states that earn 1 a step."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3], [0, 1, 3, 4], [1, 0, 1, 0], [1.0, 0.5, 0.5, 1.0], rewards=[1.0, 1.0, 1.0]
    )
    solution = gamedp.solve(model, gamedp.Discounted(0.999999))
    low, high = solution.bounds()
    assert Fraction(low) <= 1 / (1 - Fraction(0.999999)) <= Fraction(high)
    assert solution.status is gamedp.Status.SOLVED
    assert high - low <= 1e-6 * high


def test_what_a_tolerance_admits():
    lower = np.array([0.0, 1e9, -np.inf, np.inf, -1e9 - 500])
    upper = np.array([1e-6, 1e9 + 900, -np.inf, np.inf, -1e9])
    assert TOLERANCE.admits(lower, upper)
    assert not Tolerance(1e-6).admits(lower, upper)
    assert not TOLERANCE.scaled(5e-7).admits(lower, upper)
    assert not TOLERANCE.admits(np.array([-np.inf]), np.array([np.inf]))
    assert not Tolerance(0.0, 0.5).admits(np.array([-1.0]), np.array([1.0]))


def test_a_state_by_itself_is_looked_at_once(monkeypatch):
    """A lazy chain: however fine the tolerance, no more can be found out about one unknown."""

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(components, "solve_component", refuse)
    size = 300
    model = model_with_ends(
        *([(1e3, [(0.9, state), (0.1, state + 1)])] for state in range(size)),
        terminals=1,
        payoffs=[0.0],
    )
    with pytest.raises(gamedp.NotSolvedError, match="rounding") as caught:
        gamedp.solve(model, solver=gamedp.solvers.TopologicalValueIteration(), tolerance=1e-6)
    solution = caught.value.solution
    assert solution.lower[0] <= 1e4 * size <= solution.upper[0]
    assert solution.width < 1e-5
    assert solution.statistics.sweeps < 10
    # Nor is it handed to those that would take the components one by one, if there are many.
    monkeypatch.setattr(choose, "MAX_STATES_TIMES_COMPONENTS", size)
    with pytest.raises(gamedp.NotSolvedError, match=r"^TopologicalValueIteration") as caught:
        gamedp.solve(model, tolerance=1e-6)
    assert "StrategyIteration" not in str(caught.value)
    assert caught.value.solution.statistics.sweeps == solution.statistics.sweeps
    assert "digits of each value with relative=True" in str(caught.value)


def test_a_budget_ends_what_goes_on(monkeypatch):
    monkeypatch.setattr(solving, "MIN_BUDGET_SWEEPS", 1)
    monkeypatch.setattr(solving, "MAX_BUDGET_SWEEPS", 1)
    model = random_model(40, 1)
    objective = gamedp.Discounted(0.99)
    solution = gamedp.solve(model, objective)
    assert not isinstance(solution.solver, gamedp.solvers.ModifiedPolicyIteration)
    monkeypatch.setattr(solving, "followers", lambda *_, **__: NONE_TO_FOLLOW)
    again = gamedp.solve(model, objective)
    assert again.solver == gamedp.solvers.ModifiedPolicyIteration()
    assert (again.lower <= solution.upper).all()
    assert (solution.lower <= again.upper).all()
    monkeypatch.undo()
    alone = gamedp.solve(model, objective)
    assert again.statistics.sweeps > alone.statistics.sweeps  # those of the first attempt, too
    assert np.array_equal(again.values, alone.values)


@attrs.frozen
class Stopped:
    """A solver that knows a bound or two, and stops."""

    low: float
    high: float

    def supports(self, problem):
        return problem is not None

    def solve(self, problem, *, tolerance, progress=None):
        solution = gamedp.solve(problem.model, solver="value-iteration")
        known = attrs.evolve(
            solution,
            solver=self,
            lower=np.array([self.low, 1.0, 0.0]),
            upper=np.array([self.high, 1.0, 0.0]),
            values=np.array([(self.low + self.high) / 2, 1.0, 0.0]),
            status=gamedp.Status.ROUNDING,
        )
        raise gamedp.NotSolvedError(str(tolerance), known)


COIN = model_with_ends([(0.0, [(0.5, 1), (0.5, 2)])])


def in_turn(monkeypatch, *solvers):
    monkeypatch.setattr(solving, "followers", lambda *_, **__: solvers[1:])
    problem = gamedp.Problem(COIN)
    return solving.solve_in_turn(problem, solvers[0], Tolerance(1e-6), None)


def test_bounds_of_all_hold_at_once(monkeypatch):
    solution = in_turn(monkeypatch, Stopped(0.5, 1.0), Stopped(0.0, 0.5))
    assert solution.bounds(0) == (0.5, 0.5)
    assert solution.value(0) == 0.5
    assert solution.status is gamedp.Status.SOLVED
    with pytest.raises(gamedp.NotSolvedError) as caught:
        in_turn(monkeypatch, Stopped(0.25, 1.0), Stopped(0.0, 0.5), Stopped(0.1, 0.9))
    assert caught.value.solution.bounds(0) == (0.25, 0.5)
    # What helps comes first: to want less is the last of it.
    message = str(caught.value)
    assert (
        "Use gamedp.solvers.ExactPolicyIteration(), which does not round, ask for a tol" in message
    )
    assert message.count("Stopped stopped at the limit of 64-bit rounding") == 1


def test_only_what_supports_the_problem_is_named_as_a_way_out():
    known = attrs.evolve(gamedp.solve(COIN), status=gamedp.Status.ROUNDING)

    def names_exact(*states, players, objective=None):
        asked = objective or gamedp.TotalReward()
        problem = gamedp.Problem(model_with_ends(*states, players=players), asked)
        return "ExactPolicyIteration" in way_out(problem, known, relative=False)

    coin = [(0.0, [(0.5, 1), (0.5, 2)])]
    assert names_exact(coin, players=None)
    assert names_exact(coin, players=None, objective=gamedp.AverageReward())
    # Rounds of 1 and -1 go on for ever or are left: what two opponents make of it is refused.
    rounds = [(1.0, [(1.0, 1)])], [(-1.0, [(1.0, 0)]), (0.0, [(1.0, 2)])]
    assert names_exact(*rounds, players=None, objective=gamedp.TotalReward(until=[2]))
    assert not names_exact(*rounds, players=None)  # numbers must tell
    both = [(1.0, [(1.0, 1)]), (0.0, [(1.0, 2)])], [(-1.0, [(1.0, 0)]), (0.0, [(1.0, 3)])]
    assert not names_exact(*both, players=[0, 1])


def test_proofs_that_contradict_each_other_are_a_bug(monkeypatch):
    with pytest.raises(RuntimeError, match="contradict each other at 0"):
        in_turn(monkeypatch, Stopped(0.0, 0.25), Stopped(0.5, 1.0))


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@attrs.frozen
class Slow:
    """A solver that takes four seconds of a clock, and stops."""

    clock: Clock
    given: list
    max_seconds: float = float("inf")

    def supports(self, problem):
        self.given.append(("asked", self.max_seconds))
        return problem is not None

    def solve(self, problem, *, tolerance, progress=None):
        assert tolerance == 1e-6
        assert progress is None
        self.given.append(self.max_seconds)
        self.clock.now += 4
        solution = gamedp.solve(problem.model, solver="value-iteration")
        status = gamedp.Status.SWEEP_LIMIT if self.max_seconds > 4 else gamedp.Status.TIME_LIMIT
        known = attrs.evolve(
            solution, solver=self, lower=solution.lower - 1, status=status, values=solution.lower
        )
        raise gamedp.NotSolvedError(str(self.max_seconds), known)


def test_one_limit_of_time_for_all_of_them(monkeypatch):
    clock, given = Clock(), []
    monkeypatch.setattr(limit, "time", clock)
    monkeypatch.setattr(limit.compile_clock, "seconds_within", lambda _: 0.0)
    slow = Slow(clock, given)

    @attrs.frozen
    class Other(Slow):
        pass

    monkeypatch.setattr(choose, "_others", lambda *_, **__: [Other(clock, given)] * 5)
    both = limit.Limit(10.0)
    with pytest.raises(
        gamedp.NotSolvedError, match=r"no time is left.*Raise max_seconds"
    ) as caught:
        solving.solve_in_turn(gamedp.Problem(COIN), slow, Tolerance(1e-6), None, limit=both)
    assert given == [10.0, *[("asked", 6.0)] * 5, 6.0, 2.0]  # and then none is left
    assert caught.value.solution.status is gamedp.Status.TIME_LIMIT
    assert caught.value.solution.solver.max_seconds == float("inf")


def test_relative_tolerances_have_one_limit_of_time(monkeypatch):
    clock, given = Clock(), []
    monkeypatch.setattr(limit, "time", clock)
    monkeypatch.setattr(limit.compile_clock, "seconds_within", lambda _: 0.0)

    @attrs.frozen
    class Steps(Slow):
        def solve(self, problem, *, tolerance, progress=None):
            self.given.append(self.max_seconds)
            self.clock.now += 4
            solution = gamedp.solve(problem.model, solver="value-iteration", tolerance=tolerance)
            lower = solution.lower * (1 - min(tolerance, 0.5))
            return attrs.evolve(solution, solver=self, lower=lower, values=lower)

    solver = Steps(clock, given, 10.0)
    problem = gamedp.Problem(model_with_ends([(0.0, [(1e-3, 1), (1 - 1e-3, 2)])]))
    solution = solve_as_asked(solver, problem, Tolerance(0.0, 1e-4), None)
    assert given == [10.0, 6.0]
    assert solution.solver == solver


@pytest.mark.parametrize("objective", [gamedp.TotalReward(), gamedp.Reachability([2])], ids=str)
def test_what_is_solved_is_freed_with_its_last_user(objective):
    model = model_with_ends(
        [(0.0, [(1.0, 1)]), (0.0, [(0.5, 2), (0.5, 3)])],
        [(0.0, [(1.0, 0)]), (0.0, [(0.25, 2), (0.75, 3)])],
        players=[0, 1],
    )
    gamedp.solve(model, objective)
    gamedp.solve(model, objective, gamedp.solvers.TopologicalValueIteration())
    known = weakref.ref(model)
    del model
    gc.collect()
    assert known() is None
