"""The conformance kit for solvers catches every wrong one of a table, in every kind of problem."""

import attrs
import numpy as np
import pytest
from named_checks import failed_checks

import gamedp
from gamedp.testing import ConformanceError, check_solver, small_problems
from gamedp.testing.advice import ACTION_VALUES, BEST_ACTIONS
from gamedp.testing.complaints import BOUNDS
from gamedp.testing.solver_checks import POLICY


def with_model(problem, **changes):
    return attrs.evolve(problem.model, **changes), problem.objective


def with_objective(problem, **changes):
    return problem.model, attrs.evolve(problem.objective, **changes)


def of_player_1(model):
    """Return which choices player 1 has."""
    return np.repeat(model.players == 1, np.diff(model.choice_offsets))


def wants_the_opposite(problem):
    other = {"max": "min", "min": "max"}[problem.objective.optimum]
    return with_objective(problem, optimum=other)


def takes_all_for_player_0(problem):
    return with_model(problem, players=np.zeros_like(problem.model.players))


def takes_each_for_the_other(problem):
    return with_model(problem, players=(1 - problem.model.players).astype(np.int8))


def passes_the_turn_on(problem):
    return with_model(problem, players=((problem.model.players + 1) % 3).astype(np.int8))


def never_swaps(problem):
    return with_model(problem, probabilities=np.abs(problem.model.probabilities))


def always_swaps(problem):
    return with_model(problem, probabilities=-np.abs(problem.model.probabilities))


def swaps_without_the_constant_sum(problem):
    return with_model(problem, constant_sum=0.0)


def takes_outcomes_for_equally_likely(problem):
    model = problem.model
    lengths = np.diff(model.transition_offsets)
    even = np.sign(model.probabilities) / np.repeat(lengths, lengths)
    return with_model(problem, probabilities=even)


def discounts_less(problem):
    return with_objective(problem, discount=(problem.objective.discount + 1) / 2)


def discounts_rewards_too(problem):
    return with_model(problem, rewards=problem.model.rewards * problem.objective.discount)


def pays_without_discount(problem):
    return with_model(problem, payoffs=problem.model.payoffs / problem.objective.discount)


def earns_nothing(problem):
    return with_model(problem, rewards=np.zeros_like(problem.model.rewards))


def earns_nothing_from_player_1(problem):
    rewards = np.where(of_player_1(problem.model), 0.0, problem.model.rewards)
    return with_model(problem, rewards=rewards)


def earns_for_the_mover(problem):
    model = problem.model
    return with_model(problem, rewards=np.where(of_player_1(model), -1.0, 1.0) * model.rewards)


def never_pays(problem):
    return with_model(problem, payoffs=np.zeros_like(problem.model.payoffs))


def earns_for_another(problem):
    return with_model(problem, rewards=np.roll(problem.model.rewards, 1, axis=1))


def pays_another(problem):
    return with_model(problem, payoffs=np.roll(problem.model.payoffs, 1, axis=1))


def goes_on_after_the_target(problem):
    return with_objective(problem, until=None)


def ends_at_terminal_targets_alone(problem):
    return with_objective(problem, until=problem.objective.until & problem.model.is_terminal)


def passes_through_all(problem):
    return with_objective(problem, allowed=None)


def takes_the_target_for_barred(problem):
    return with_objective(problem, target=~problem.objective.target)


def counts_a_step_less(problem):
    return with_objective(problem, horizon=max(problem.objective.horizon - 1, 0))


def counts_a_step_more(problem):
    return with_objective(problem, horizon=problem.objective.horizon + 1)


ALONE, AGAINST, CHANGE, THREE = "alone", "two opponents", "places change", "three players"
TOTAL, ENDLESS, UNTIL, REACH, DISCOUNTED, STEPS, AVERAGE = (
    "total", "total without end", "total until", "reachability", "discounted", "steps", "average",
)  # fmt: skip


def kind_of(problem):
    """Return what a problem asks for, and who moves in it."""
    model, objective = problem.model, problem.objective
    named = {
        gamedp.TotalReward: TOTAL if model.structure.always_ends else ENDLESS,
        gamedp.Reachability: REACH,
        gamedp.Discounted: DISCOUNTED,
        gamedp.FiniteHorizon: STEPS,
        gamedp.AverageReward: AVERAGE,
    }
    what = UNTIL if getattr(objective, "until", None) is not None else named[type(objective)]
    if model.num_players > 2:
        return what, THREE
    if model.has_swaps:
        return what, CHANGE
    movers = model.players[np.diff(model.choice_offsets) > 1]
    return what, AGAINST if len(np.unique(movers)) > 1 else ALONE


PROBLEMS = {}
for name, problem in small_problems().items():
    PROBLEMS.setdefault(kind_of(problem), {})[name] = problem

EVERY = set(PROBLEMS)
EARNS = {kind for kind in EVERY if kind[0] in (TOTAL, UNTIL, DISCOUNTED, STEPS)}
PAYS = {kind for kind in EVERY if kind[0] in (TOTAL, ENDLESS, DISCOUNTED, STEPS)}


def kinds(what=None, who=None, among=EVERY):
    return {kind for kind in among if what in (None, kind[0]) and who in (None, kind[1])}


WRONG = {
    wants_the_opposite: EVERY,
    takes_all_for_player_0: kinds(who=AGAINST) | kinds(TOTAL, CHANGE) | kinds(who=THREE),
    takes_each_for_the_other: kinds(who=AGAINST) | kinds(who=CHANGE),
    passes_the_turn_on: kinds(who=THREE),
    never_swaps: kinds(who=CHANGE),
    always_swaps: kinds(TOTAL, CHANGE) | kinds(DISCOUNTED, CHANGE) | kinds(STEPS, CHANGE),
    swaps_without_the_constant_sum: kinds(TOTAL, CHANGE),
    takes_outcomes_for_equally_likely: EARNS | kinds(REACH) | kinds(AVERAGE),
    discounts_less: kinds(DISCOUNTED),
    discounts_rewards_too: kinds(DISCOUNTED),
    pays_without_discount: kinds(DISCOUNTED, AGAINST) | kinds(DISCOUNTED, CHANGE),
    earns_nothing: EARNS | kinds(AVERAGE) | kinds(ENDLESS, ALONE),
    earns_nothing_from_player_1: kinds(who=AGAINST, among=EARNS) | kinds(who=CHANGE, among=EARNS),
    earns_for_the_mover: kinds(who=AGAINST, among=EARNS) | kinds(who=CHANGE, among=EARNS),
    never_pays: PAYS - {(DISCOUNTED, ALONE)},
    earns_for_another: kinds(who=THREE),
    pays_another: kinds(who=THREE),
    goes_on_after_the_target: kinds(UNTIL),
    ends_at_terminal_targets_alone: kinds(UNTIL, AGAINST),
    passes_through_all: kinds(REACH),
    takes_the_target_for_barred: kinds(REACH),
    counts_a_step_less: kinds(STEPS),
    counts_a_step_more: kinds(STEPS),
}
"""What each solver gets wrong, and in which kinds of problems that must be seen."""


@attrs.frozen
class Wrong:
    """Solves another problem than it was given, exactly; or says something else of it."""

    change: object = None
    spoil: object = None

    def supports(self, problem):
        return gamedp.solvers.Support(True)

    def solve(self, problem, *, tolerance, progress=None):
        model, objective = problem.model, problem.objective
        if self.change is not None:
            model, objective = self.change(problem)
        solver = gamedp.solvers.ExactPolicyIteration()
        if isinstance(objective, gamedp.AverageReward):
            solver = gamedp.solvers.RelativeValueIteration()
        elif model.num_players > 2:
            solver = gamedp.solvers.BackwardInduction()
        found = solver.solve(gamedp.Problem(model, objective), tolerance=tolerance)
        found = attrs.evolve(found, model=problem.model, objective=problem.objective, solver=self)
        return found if self.spoil is None else attrs.evolve(found, **self.spoil(found))


def label(value):
    return value.__name__ if callable(value) else " ".join(value).replace(" ", "-")


def wrong_numbers(solver, kind):
    """Return the checks that fail: those of numbers and choices, and no other."""
    failed = failed_checks(solver, problems=PROBLEMS[kind]).keys()
    assert failed <= {BOUNDS, ACTION_VALUES, BEST_ACTIONS, POLICY}
    return failed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "kind"),
    [(change, kind) for change, seen in WRONG.items() for kind in sorted(seen)],
    ids=label,
)
def test_what_solves_another_problem_is_caught(change, kind):
    assert wrong_numbers(Wrong(change), kind) & {BOUNDS, POLICY}


@pytest.mark.parametrize("kind", sorted(EVERY), ids=label)
def test_what_solves_the_problem_itself_passes(kind):
    check_solver(Wrong(), PROBLEMS[kind])


def claims_too_much(found):
    values = found.values + 1e-9 * (1 + np.abs(found.values))
    return {"values": values, "lower": values.copy(), "upper": values.copy()}


def stops_early(found):
    """As after a sweep that changed little: what is left is not looked at."""
    values = found.values + 1e-4
    return {"values": values, "lower": values - 1e-7, "upper": values + 1e-7}


def with_the_worst_of(player, found):
    model, policy = found.model, found.policy.copy()
    for state in np.flatnonzero((policy >= 0) & (model.players == player)).tolist():
        values = [entry.value for entry in found.action_values(state)]
        most = (player == 0) == (found.objective.optimum == "max")
        policy[state] = model.choice_offsets[state] + (np.argmin if most else np.argmax)(values)
    return {"policy": policy}


def takes_the_worst_for_player_0(found):
    return with_the_worst_of(0, found)


def takes_the_worst_for_player_1(found):
    return with_the_worst_of(1, found)


def does_in_each_step_what_is_best_in_the_first(found):
    return {"step_policies": np.tile(found.step_policies[-1:], (len(found.step_policies), 1))}


def counts_steps_from_the_start(found):
    return {"step_policies": found.step_policies[::-1].copy()}


def calls_infinity_a_large_number(found):
    values = np.where(np.isinf(found.values), 1e9, found.values)
    return {"values": values, "lower": values.copy(), "upper": values.copy()}


SPOILT = {
    claims_too_much: EVERY,
    stops_early: EVERY,
    takes_the_worst_for_player_0: kinds(TOTAL) | kinds(DISCOUNTED) | kinds(UNTIL),
    takes_the_worst_for_player_1: kinds(who=AGAINST) - kinds(STEPS) - kinds(REACH),
    does_in_each_step_what_is_best_in_the_first: kinds(STEPS),
    counts_steps_from_the_start: kinds(STEPS),
    calls_infinity_a_large_number: kinds(UNTIL) | kinds(ENDLESS, ALONE),
}
"""What is wrong in which solutions of the right problem."""


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [(spoil, kind) for spoil, seen in SPOILT.items() for kind in sorted(seen)],
    ids=label,
)
def test_what_says_something_else_is_caught(spoil, kind):
    assert wrong_numbers(Wrong(spoil=spoil), kind)


def test_bounds_that_are_far_apart_are_not_solved():
    problem = small_problems()["rarely ends"]
    numbers = np.array([1.0, 1.0]), np.array([-4e3, 1.0]), np.array([4.5e3, 1.0])
    made = {"problem": problem, "solver": Wrong(), "numbers": numbers, "policy": np.array([0, -1])}
    with pytest.raises(gamedp.errors.InvalidParameterError, match="give make_solution the toler"):
        gamedp.solvers.make_solution(**made)
    for status in (None, gamedp.Status.SOLVED):
        with pytest.raises(gamedp.NotSolvedError, match=r"is known to within 8\.5e\+03"):
            gamedp.solvers.make_solution(**made, tolerance=1e-6, status=status)
    unproven = gamedp.solvers.make_solution(**made, guarantee=gamedp.Guarantee.NONE)
    assert unproven.status is gamedp.Status.UNPROVEN


@pytest.mark.parametrize("name", ["tight", "distances"])
def test_arrays_of_another_shape_are_named(name):
    def spoil(_found):
        return {name: np.zeros(1, {"tight": np.bool_, "distances": np.int64}[name])}

    kind = min(kinds(TOTAL))
    with pytest.raises(ConformanceError, match=rf"{name} has shape \(1,\), not"):
        check_solver(Wrong(spoil=spoil), PROBLEMS[kind])
