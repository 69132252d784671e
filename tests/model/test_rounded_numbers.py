"""Payoffs and rewards that no double holds: bounds contain what the rules give."""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import pytest

import gamedp

MODES = ["never", "auto"]
THIRD = Fraction(1, 3)
LARGE = 2**53 + 1


class Place(NamedTuple):
    """How many steps have been taken."""

    step: int


@attrs.frozen
class Steps:
    """Some steps, which earn; perhaps back to the start; and a payoff at the end."""

    earned: object = 0.0
    end: object = 0.0
    steps: int = 5
    back: float = 0.0
    costs: object = 0.0

    def initial_state(self):
        """Return the start."""
        return Place(0)

    def is_terminal(self, state):
        """Say whether all steps have been taken."""
        return state.step == self.steps

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the next step, and the way back."""
        yield 1.0 - self.back, Place(state.step + 1)
        if self.back > 0.0:
            yield self.back, Place(0)

    def reward(self, state, action, player):
        """Return what a step earns; the first one may cost something."""
        return self.costs if state.step == 0 and self.costs else self.earned

    def payoff(self, state, player):
        """Return the payoff."""
        return self.end


@attrs.frozen
class Last:
    """A payoff alone, an integer in compiled rules."""

    end: int = LARGE

    acyclic = True

    def initial_state(self):
        """Return the start."""
        return Place(0)

    def is_terminal(self, state):
        """Say whether the step has been taken."""
        return state.step == 1

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the end."""
        yield 1.0, Place(1)

    def payoff(self, state, player):
        """Return the payoff."""
        return self.end


def holds(solution, exact):
    """Say whether the bounds contain a value, and are no wider than they need be."""
    low, high = solution.bounds()
    assert low <= exact <= high
    return high - low


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("end", [LARGE, -LARGE, 2**60 + 3, 2**53, 7])
def test_integers_beyond_doubles(end, mode):
    solution = gamedp.solve(Last(end), compile=mode)
    assert holds(solution, end) <= 2 * abs(int(float(end)) - end) + math.ulp(end) * 4
    assert (solution.bounds(Place(1))[0] == end) == (float(end) == end)
    assert solution.bounds(Place(1))[0] <= end <= solution.bounds(Place(1))[1]


@pytest.mark.filterwarnings("ignore::gamedp.errors.CompilationWarning")
@pytest.mark.parametrize(
    ("game", "exact"),
    [
        (Steps(end=THIRD), THIRD),
        (Steps(earned=THIRD), 5 * THIRD),
        (Steps(earned=THIRD, end=-2 * THIRD), THIRD * 3),
        (Steps(earned=LARGE, end=-5 * LARGE), 0),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "objective", [None, gamedp.Discounted(0.5), gamedp.FiniteHorizon(3)], ids=str
)
def test_fractions_in_a_game_that_ends(game, exact, objective):
    size = float(max(abs(Fraction(game.earned)), abs(Fraction(game.end))))
    solution = gamedp.solve(game, objective, tolerance=1e-12 * size)
    if isinstance(objective, gamedp.Discounted):
        half = Fraction(1, 2)
        exact = sum(half**k for k in range(5)) * Fraction(game.earned) + half**5 * Fraction(
            game.end
        )
    if isinstance(objective, gamedp.FiniteHorizon):
        exact = 3 * Fraction(game.earned)
    assert holds(solution, exact) <= 80 * size * 2.0**-52


def test_an_average_of_fractions():
    for_ever = Steps(earned=THIRD, end=0.0, steps=4, back=1.0)
    objective = gamedp.AverageReward()
    assert holds(gamedp.solve(for_ever, objective, compile="never"), THIRD) < 1e-6


def test_fractions_where_states_come_again():
    game = Steps(earned=THIRD, end=THIRD, steps=3, back=0.5)
    # Three steps in a row, each with probability one half: 14 steps.
    exact = 14 * THIRD + THIRD
    solution = gamedp.solve(game, compile="never", tolerance=1e-12)
    assert holds(solution, exact) < 1e-12


@pytest.mark.parametrize(
    "solver",
    [None, gamedp.solvers.ValueIteration(), gamedp.solvers.ExactPolicyIteration()],
    ids=str,
)
def test_rounded_rewards_of_both_signs_where_play_ends(solver):
    game = Steps(earned=THIRD, end=0.0, steps=3, back=0.5, costs=-2 * THIRD)
    solution = gamedp.solve(game, None, solver, compile="never")
    # Of the 14 steps, 8 are the first one.
    exact = 6 * THIRD - 8 * 2 * THIRD
    assert holds(solution, exact) < 1e-6
    if solution.exact is not None:
        assert solution.exact_value() == exact


def test_rounded_rewards_of_both_signs_for_ever_are_for_exact_solvers():
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 1, 2, 3],
        [0, 1, 2],
        [1, 1, 1],
        rewards=[0, THIRD, -2 * THIRD],
        payoffs=[0],
    )
    objective = gamedp.TotalReward("min")
    with pytest.raises(gamedp.UnsupportedProblemError, match="ExactPolicyIteration"):
        gamedp.solve(model, objective, gamedp.solvers.TopologicalValueIteration())
    exact = gamedp.solve(model, objective, gamedp.solvers.ExactPolicyIteration())
    assert exact.exact_value(0) == -THIRD


@pytest.mark.parametrize(
    "game", [Steps(end=THIRD), Steps(earned=THIRD, end=LARGE), Last()], ids=str
)
def test_exact_answers_are_those_of_the_rules(game):
    solution = gamedp.solve(game, None, gamedp.solvers.ExactPolicyIteration(), compile="never")
    exact = 5 * Fraction(game.earned) + Fraction(game.end) if isinstance(game, Steps) else LARGE
    assert solution.exact_value() == exact
    assert holds(solution, exact) <= math.ulp(float(exact))


@attrs.frozen
class Three:
    """Three players; the first chooses between two ends, which pay, as the step there does."""

    ends: tuple = (0, 1)
    earned: object = 0

    num_players = 3

    def initial_state(self):
        """Return the start."""
        return Place(0)

    def is_terminal(self, state):
        """Say whether the step has been taken."""
        return state.step > 0

    def player(self, state):
        """Return the one who chooses."""
        return 1

    def actions(self, state):
        """Return the two actions."""
        return range(2)

    def outcomes(self, state, action):
        """Yield the end."""
        yield 1.0, Place(1 + action)

    def reward(self, state, action, player):
        """Return what a step earns."""
        return self.earned

    def payoff(self, state, player):
        """Return the payoff, the last player's only."""
        return self.ends[state.step - 1] if player == 2 else 0


REFUSED = "which no 64-bit number is equal to"


@pytest.mark.parametrize(
    ("game", "mode"),
    [
        (Three((LARGE, 0)), "never"),
        (Three((THIRD, 0)), "never"),
        (Three(earned=THIRD), "never"),
        (Three((LARGE, 0), 1), "auto"),
        (Three((0, 1), LARGE), "auto"),
    ],
    ids=str,
)
def test_with_three_players_they_are_refused(game, mode):
    """To round them may change what is best for one player, and so all values."""
    with pytest.raises(gamedp.InvalidModelError, match=REFUSED):
        gamedp.solve(game, compile=mode)
    fine = gamedp.solve(Three((2**60, 0), 0), compile=mode)
    assert fine.bounds(player=2) == (2.0**60, 2.0**60)


@attrs.frozen
class Ranged(Last):
    """A payoff in a range whose ends are integers."""

    most: int = LARGE

    def value_range(self, state, player):
        """Return the least and the greatest payoff."""
        return -self.most, self.most


SEARCHERS = [
    gamedp.searchers.AlphaBeta(),
    gamedp.searchers.Expectiminimax(),
    gamedp.searchers.MaxN(),
    gamedp.searchers.Minimax(),
    gamedp.searchers.ProofNumberSearch(),
]


@pytest.mark.parametrize("searcher", SEARCHERS, ids=lambda each: type(each).__name__)
def test_a_search_refuses_them(searcher):
    with pytest.raises(gamedp.InvalidModelError, match=rf"payoff\(.* is {LARGE}, {REFUSED}"):
        searcher.search(Last(LARGE), compile="never")
    if not isinstance(searcher, gamedp.searchers.ProofNumberSearch):
        assert searcher.search(Last(2**60), compile="never").value() == 2.0**60
    with pytest.raises(gamedp.InvalidModelError, match=r"value_range.* is "):
        searcher.search(Ranged(7, most=LARGE), compile="never")


@pytest.mark.parametrize("mode", MODES)
def test_a_search_refuses_them_where_it_meets_them(mode):
    searcher = gamedp.searchers.Minimax()
    with pytest.raises(gamedp.InvalidModelError, match=rf"payoff\(.* is {LARGE}, {REFUSED}"):
        searcher.search(Steps(earned=1, end=LARGE, costs=1, steps=3), compile=mode)
    with pytest.raises(
        gamedp.InvalidModelError, match=rf"reward\(.*step=[12].* is {LARGE}, {REFUSED}"
    ):
        searcher.search(Steps(earned=LARGE, end=1, costs=1, steps=3), compile=mode)
    fine = searcher.search(Steps(earned=2**60, end=1, costs=-(2**60), steps=2), compile=mode)
    assert fine.lower <= 1 <= fine.upper


@attrs.frozen
class Leg:
    """The stage: one step, which may earn."""

    earned: object = 0.0

    def initial_state(self):
        """Return the start."""
        return Place(0)

    def is_terminal(self, state):
        """Say whether it has been taken."""
        return state.step == 1

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the end."""
        yield 1.0, Place(1)

    def reward(self, state, action, player):
        """Return what the step earns."""
        return self.earned

    def payoff(self, state, player):
        """Return nothing: contexts pay."""
        return 0.0


class Round(NamedTuple):
    """How many legs have been gone."""

    number: int


@attrs.frozen
class Legs:
    """Three legs; each may earn, and so may the end."""

    earned: object = 0.0
    end: object = 0.0
    leg: object = 0.0

    num_players = 1
    constant_sum = 0.0

    def stage(self):
        """Return a leg."""
        return Leg(self.leg)

    def box(self):
        """Return the box."""
        return {"number": (0, 3)}

    def initial_state(self):
        """Return the start."""
        return Round(0)

    def is_terminal(self, context):
        """Say whether all have been gone."""
        return context.number == 3

    def payoff(self, context, player):
        """Return the payoff."""
        return self.end

    def following(self, context, end):
        """Return the next one."""
        return Round(context.number + end.step)

    def reward(self, context, end, player):
        """Return what a leg earns."""
        return self.earned

    def tier(self, context):
        """Return how many are left."""
        return -context.number


@pytest.mark.parametrize(
    ("where", "number", "mode"),
    [
        *itertools.product(["earned", "end", "leg"], [LARGE, THIRD], ["never"]),
        ("end", LARGE, "auto"),
        ("earned", LARGE, "auto"),
    ],
)
def test_a_staged_game_refuses_them(where, number, mode):
    numbers = {"earned": 0, "end": 0, "leg": 0}
    with pytest.raises(gamedp.InvalidModelError, match="64-bit number"):
        gamedp.solve(Legs(**(numbers | {where: number})), compile=mode)
    fine = gamedp.solve(Legs(**(numbers | {where: 2**60})), compile=mode, tolerance=1e6)
    assert fine.value() == 2.0**60 * (1 if where == "end" else 3)


WIDE = [
    (Last(LARGE), None, gamedp.solvers.BackwardInduction()),
    (Last(LARGE), None, gamedp.solvers.ValueIteration()),
    (Last(LARGE), None, gamedp.solvers.StrategyIteration()),
    (Last(LARGE), gamedp.Discounted(0.5), gamedp.solvers.ModifiedPolicyIteration()),
    (Steps(earned=LARGE), gamedp.FiniteHorizon(3), None),
    (
        Steps(earned=LARGE, back=1.0),
        gamedp.AverageReward(),
        gamedp.solvers.RelativeValueIteration(),
    ),
    (Steps(earned=THIRD, back=0.5), None, gamedp.solvers.OptimisticValueIteration()),
]


@pytest.mark.parametrize(("game", "objective", "solver"), WIDE, ids=str)
def test_what_rounding_makes_wider_than_asked_for_is_not_called_solved(game, objective, solver):
    """The doubles may be solved as closely as that; the rules are not."""
    tolerance = 0.5 if LARGE in attrs.astuple(game) else 1e-15
    with pytest.raises(gamedp.NotSolvedError, match="rounding") as caught:
        gamedp.solve(game, objective, solver, compile="never", tolerance=tolerance)
    solution = caught.value.solution
    assert solution.status is gamedp.Status.ROUNDING
    assert solution.width > tolerance


@pytest.mark.parametrize("tolerance", [8e3, 1e4, 1e5, 1e9])
def test_bounds_have_room_for_what_rounding_adds(tolerance):
    """A tolerance not far above rounding is reached, and not exceeded."""
    game = Steps(earned=LARGE, back=0.5, steps=3)
    for solver in (None, gamedp.solvers.OptimisticValueIteration()):
        solution = gamedp.solve(game, None, solver, compile="never", tolerance=tolerance)
        assert solution.status is gamedp.Status.SOLVED
        assert 0 < holds(solution, 14 * LARGE) <= tolerance


def test_exact_numbers_follow_where_rounding_makes_bounds_wide():
    for objective in (None, gamedp.Discounted(0.5)):
        solution = gamedp.solve(Last(LARGE), objective, compile="never", tolerance=0.5)
        exact = LARGE if objective is None else Fraction(LARGE, 2)
        assert solution.exact_value() == exact
        assert holds(solution, exact) <= math.ulp(float(LARGE))
        assert (solution.status is gamedp.Status.SOLVED) == (solution.width <= 0.5)


def test_a_model_that_was_kept_knows_it(tmp_path):
    solution = gamedp.solve(Last(), compile="never")
    gamedp.save(solution, tmp_path / "kept")
    kept = gamedp.load(tmp_path / "kept", game=Last())
    assert kept.model.rounding == solution.model.rounding == (1.0, 0.0, 2.0**-53)
    holds(gamedp.solve(kept.model), LARGE)


OFF = 2.0**-10
"""How far a payment is off: much more than what rounding is."""


def earning(reward_off=0.0, payoff_off=0.0):
    """Stay for 1, or leave for a payoff of 2."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[1.0, 0.0], terminals=[1], payoffs=[2.0]
    )
    return attrs.evolve(model, rounding=(payoff_off, reward_off, 1.0))


def contains(bounds, middle, off):
    """Check bounds of a number that is off: they contain both ends, and hardly more."""
    low, high = map(Fraction, bounds)
    middle, off = Fraction(middle), Fraction(off)
    assert low <= middle - off
    assert middle + off <= high
    assert high - low <= 2 * off + Fraction(1, 10**6)


def test_rewards_that_are_off_count_in_each_step():
    model, discount = earning(reward_off=OFF), 0.875
    stay, objective = gamedp.Policy(model, [1.0, 0.0], "stay"), gamedp.Discounted(discount)
    solver = gamedp.solvers.PolicyIteration()
    solution = gamedp.solve(model, objective, solver, tolerance=1.0)
    contains(solution.bounds(), 8, 8 * OFF)
    first, last = solution.action_values()
    contains((first.lower, first.upper), 8, 8 * OFF)
    assert last.lower <= 2 * discount - OFF < 2 * discount + OFF <= last.upper
    found = gamedp.evaluate(model, stay, objective, everywhere=True)
    contains(found.bounds(), 8, 8 * OFF)
    first = found.action_values()[0]
    contains((first.lower, first.upper), 8, 8 * OFF)
    contains(gamedp.best_response(model, [], objective=objective).bounds(), 8, 8 * OFF)
    for trace in (
        gamedp.policies.trace_sweeps(model, objective, sweeps=400),
        gamedp.policies.trace_improvements(model, objective),
    ):
        contains((trace.lower[-1, 0], trace.upper[-1, 0]), 8, 8 * OFF)


def test_rewards_that_are_off_count_for_each_step_to_go():
    model = earning(reward_off=OFF)
    solution = gamedp.solve(model, gamedp.FiniteHorizon(6), tolerance=1.0)
    for steps in range(1, 7):
        # The payoff of 2 is as good as two steps, one later.
        left = solution.steps_left(steps)
        contains(left.bounds(), steps + 1, steps * OFF)
        first = left.action_values()[0]
        contains((first.lower, first.upper), steps + 1 if steps > 1 else 1, steps * OFF)
    stay = gamedp.Policy(model, [1.0, 0.0], "stay")
    contains(gamedp.evaluate(model, stay, gamedp.FiniteHorizon(6)).bounds(), 6, 6 * OFF)


def test_payoffs_that_are_off_count_wherever_play_ends():
    model = earning(payoff_off=OFF)
    leave = gamedp.Policy(model, [0.0, 1.0], "leave")
    contains(gamedp.evaluate(model, leave).bounds(), 2, OFF)
    for solution in (
        gamedp.solve(model, gamedp.Discounted(0.25), tolerance=1.0),
        gamedp.solve(model, gamedp.FiniteHorizon(2), tolerance=1.0),
        gamedp.solve(model, gamedp.FiniteHorizon(3), tolerance=1.0).steps_left(1),
    ):
        last = solution.action_values()[1]
        discount = getattr(solution.objective, "discount", 1.0)
        contains((last.lower, last.upper), 2 * discount, discount * OFF)
    trace = gamedp.policies.trace_sweeps(model, gamedp.Discounted(0.25), sweeps=60)
    contains((trace.lower[-1, 1], trace.upper[-1, 1]), 2, OFF)
    assert trace.lower[-1, 0] <= 4 / 3 + OFF / 4
