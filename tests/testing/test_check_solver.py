"""The conformance kit for solvers: good ones pass, and every broken one is caught in words."""

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from named_checks import failed_checks
from solving import REGISTERED

import gamedp
from gamedp.testing import (
    ConformanceError,
    TableGame,
    check_game,
    check_solver,
    exact_choice_values,
    exact_values,
    small_problems,
)
from gamedp.testing.advice import ACTION_VALUES, BEST_ACTIONS
from gamedp.testing.complaints import BOUNDS, DETERMINISTIC, STATUS, VALUE
from gamedp.testing.solver_checks import FORM, POLICY, RUNS, SOLVES, SUPPORTS, UNCHANGED
from gamedp.testing.strategies import games, models

relaxed = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


SOLVED = {
    gamedp.solvers.BackwardInduction(): 23,
    gamedp.solvers.TopologicalValueIteration(): 35,
    gamedp.solvers.ValueIteration(): 33,
    gamedp.solvers.ValueIteration(sweep="jacobi"): 33,
    gamedp.solvers.PolicyIteration(): 33,
    gamedp.solvers.OptimisticValueIteration(): 33,
    gamedp.solvers.IntervalIteration(): 35,
    gamedp.solvers.SoundValueIteration(): 27,
    gamedp.solvers.ModifiedPolicyIteration(): 33,
    gamedp.solvers.PrioritizedSweeping(): 33,
    gamedp.solvers.AndersonAcceleration(): 33,
    gamedp.solvers.LinearProgramming(): 19,
    gamedp.solvers.Retrograde(): 4,
    gamedp.solvers.RelativeValueIteration(): 2,
    gamedp.solvers.StrategyIteration(): 35,
    gamedp.solvers.ExactPolicyIteration(): 47,
}
"""How many of the small problems gamedp's own solvers do."""


@pytest.mark.parametrize("solver", {**dict.fromkeys(REGISTERED), **SOLVED}, ids=repr)
def test_registered_solvers_pass(solver):
    report = check_solver(solver)
    assert len(report.solved) == SOLVED.get(solver, len(report.solved)) > 0
    assert len(report.solved) + len(report.unfinished) + len(report.refused) == 49
    assert all(reason in str(report) for _, reason in report.refused)


def test_what_is_left_unfinished_is_told():
    limited = gamedp.solvers.ValueIteration(max_sweeps=2)
    report = check_solver(limited)
    reasons = dict(report.unfinished)
    assert "stopped at its limit of sweeps" in reasons["rarely ends"]
    assert "one sure step" in report.solved
    endless = check_solver(gamedp.solvers.ValueIteration())
    assert endless.unfinished == tuple(
        (name, gamedp.Guarantee.NONE.value)
        for name in (
            "two opponents, for ever",
            "places change, for ever",
        )
    )


def test_own_problems():
    walk = {"walk": small_problems()["a walk"]}
    assert check_solver(gamedp.solvers.PolicyIteration(), walk, tolerance=1e-9).solved == ("walk",)


def changed(solution, **arrays):
    """Return the solution with some of its arrays exchanged."""
    return attrs.evolve(solution, **arrays)


@attrs.frozen
class Outside:
    """Another's solver, which does all that ours can and passes."""

    inner: gamedp.solvers.TopologicalValueIteration = attrs.field(
        factory=gamedp.solvers.TopologicalValueIteration
    )

    def supports(self, problem):
        return self.inner.supports(problem)

    def solve(self, problem, *, tolerance, progress=None):
        solution = self.inner.solve(problem, tolerance=tolerance, progress=progress)
        return self.spoil(changed(solution, solver=self))

    def spoil(self, solution):
        return solution


class Hasty(Outside):
    """Sweeps until the last change is small, and calls that the error."""

    def solve(self, problem, *, tolerance, progress=None):
        solution = super().solve(problem, tolerance=tolerance)
        if problem.model.num_players > 1 or not problem.is_proper:
            return solution
        matrix, constants = problem.model.transition_matrix, problem.model.rewards
        offsets = problem.model.choice_offsets
        values, change = np.zeros(problem.model.num_states), 1.0
        values[problem.model.terminals] = problem.model.payoffs
        while change > 1e-3:
            worth = constants + problem.discount * (matrix @ values)
            best = min if problem.objective.optimum == "min" else max
            new = [
                best(worth[a:b]) if a < b else old
                for a, b, old in zip(offsets[:-1], offsets[1:], values, strict=True)
            ]
            change = np.abs(new - values).max()
            values = np.array(new)
        return changed(solution, values=values, lower=values - 1e-7, upper=values + 1e-7)


class Wide(Outside):
    def spoil(self, solution):
        return changed(solution, lower=solution.lower - 1)


class Crossed(Outside):
    def spoil(self, solution):
        return changed(solution, lower=solution.upper + 1, upper=solution.lower - 1)


class LastChoice(Outside):
    def spoil(self, solution):
        last = solution.model.choice_offsets[1:] - 1
        return changed(solution, policy=np.where(solution.policy >= 0, last, -1))


class NoChoice(Outside):
    def spoil(self, solution):
        return changed(solution, policy=np.zeros_like(solution.policy))


class Column(Outside):
    def spoil(self, solution):
        return changed(solution, values=solution.values[:, None])


class Someone(Outside):
    def spoil(self, solution):
        return changed(solution, solver=gamedp.solvers.ValueIteration())


class Moody(Outside):
    calls = 0

    def spoil(self, solution):
        Moody.calls += 1
        return changed(solution, values=solution.values + 1e-9 * Moody.calls)


class Vandal(Outside):
    def supports(self, problem):
        # Else what it has spoiled takes long to solve.
        return gamedp.solvers.Support(
            problem.is_proper, "" if problem.is_proper else "is for short work."
        )

    def spoil(self, solution):
        rewards = solution.model.rewards
        rewards.flags.writeable = True
        rewards += 1
        rewards.flags.writeable = False  # kernels would be compiled anew for arrays to write to
        return solution


class Silent(Outside):
    def supports(self, problem):
        return gamedp.solvers.Support(ok=self.inner.supports(problem).ok)


class Vague(Outside):
    def supports(self, problem):
        return self.inner.supports(problem).ok


class Eager(Outside):
    """Refuses, and then does it all the same."""

    def supports(self, problem):
        if problem.model.has_swaps:
            return gamedp.solvers.Support(False, "does not do that.")
        return super().supports(problem)


class Refusing(Outside):
    def supports(self, problem):
        return gamedp.solvers.Support(False, "does nothing.")

    def solve(self, problem, *, tolerance, progress=None):
        message = "nothing"
        raise gamedp.UnsupportedProblemError(message)


class Crashing(Outside):
    def solve(self, problem, *, tolerance, progress=None):
        return 1 / 0


class Numeric(Outside):
    def spoil(self, solution):
        return 0.5


class Pretending(Outside):
    """Calls itself done when it was stopped."""

    def solve(self, problem, *, tolerance, progress=None):
        solution = super().solve(problem, tolerance=tolerance)
        message = "stopped"
        raise gamedp.NotSolvedError(message, solution)


@attrs.frozen
class Patient(Outside):
    """Finds the values of what may go on for ever, and takes the first choice that has them."""

    inner: gamedp.solvers.Retrograde = attrs.field(factory=gamedp.solvers.Retrograde)

    def spoil(self, solution):
        model, policy = solution.model, solution.policy.copy()
        for state in np.flatnonzero(policy >= 0):
            choices = slice(*model.choice_offsets[state : state + 2])
            after = solution.values[model.successors[choices]]
            after = np.where(model.probabilities[choices] < 0, model.constant_sum - after, after)
            policy[state] = choices.start + np.flatnonzero(after == solution.values[state])[0]
        return changed(solution, policy=policy)


@attrs.frozen
class Hopeful(Patient):
    """Calls a draw won."""

    def spoil(self, solution):
        values = np.where(solution.distances < 0, 1.0, solution.values)
        return changed(solution, values=values, lower=values.copy(), upper=values.copy())


@attrs.define(unsafe_hash=True)
class Loose:
    tolerance: float = 1.0
    supports, solve, spoil = Outside.supports, Outside.solve, Outside.spoil
    inner = gamedp.solvers.TopologicalValueIteration()


def test_anothers_solver_passes():
    assert len(check_solver(Outside()).solved) == 35


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "checks", "words"),
    [
        (
            Hasty(),
            {BOUNDS, ACTION_VALUES},
            "rarely ends: the bounds hold: the value of state 0 is 1.0, not between",
        ),
        (Wide(), {STATUS}, "it is SOLVED, but bounds are"),
        (
            Crossed(),
            {BOUNDS, ACTION_VALUES, BEST_ACTIONS},
            "lower, value and upper are not in order",
        ),
        (
            LastChoice(),
            {BEST_ACTIONS, POLICY},
            "only the next reward: the policy is optimal: in state 0 it takes choice 1, which is ",
        ),
        (NoChoice(), {POLICY}, "one sure step: the policy is optimal: in state 1 it is 0"),
        (Column(), {FORM}, "values has shape (2, 1), not (2,)"),
        (Someone(), {FORM}, "it names ValueIteration("),
        (Moody(), {DETERMINISTIC, BOUNDS, ACTION_VALUES}, "values differ when solved again"),
        (
            Vandal(),
            {SUPPORTS, RUNS, DETERMINISTIC, BOUNDS, ACTION_VALUES, BEST_ACTIONS, POLICY, UNCHANGED},
            "the model's arrays were changed",
        ),
        (Silent(), {SUPPORTS}, "it refuses without a reason"),
        (Vague(), {SUPPORTS}, "it returns True, not a gamedp.solvers.Support"),
        (Eager(), {SUPPORTS}, "refused, but solve does not raise UnsupportedProblemError"),
        (Refusing(), {SOLVES}, "none of the problems was solved"),
        (Crashing(), {SUPPORTS, RUNS, SOLVES}, "solve raises ZeroDivisionError"),
        (Numeric(), {SOLVES, FORM}, "it is 0.5, not a gamedp.Solution"),
        (Pretending(), {SOLVES, STATUS}, "it is SOLVED, but NotSolvedError was raised"),
        (
            Patient(),
            {BEST_ACTIONS, POLICY},
            "from state 0, it brings player 0 only as far as 0.0; the value is 1.0",
        ),
        (
            Hopeful(),
            {BOUNDS, ACTION_VALUES, BEST_ACTIONS},
            "for ever: the bounds hold: the value of state 0 is 0.0, not between 1.0 and 1.0",
        ),
        (Loose(), {VALUE}, "tolerance can be changed; use attrs.frozen"),
    ],
    ids=lambda value: "" if isinstance(value, (str, set)) else type(value).__name__,
)
def test_broken_solvers_are_caught(solver, checks, words):
    failed = failed_checks(solver)
    assert failed.keys() == checks
    assert any(words in message for message in failed.values())


@relaxed
@given(models())
def test_the_best_choice_is_worth_what_its_state_is(model):
    values, worth = exact_values(model), exact_choice_values(model)
    for state, player in enumerate(model.players.tolist()):
        choices = worth[model.choice_offsets[state] : model.choice_offsets[state + 1]]
        if choices:
            assert values[state] == (min if player else max)(choices)


def test_another_value_of_a_draw():
    names = ("may go on for ever", "two opponents, for ever", "places change, for ever")
    problems = {name: small_problems()[name] for name in names}
    half = gamedp.TotalReward(draw=0.5)
    declared = {name: gamedp.Problem(problems[name].model, half) for name in names[:2]}
    report = check_solver(gamedp.solvers.Retrograde(), declared)
    assert report.solved == names[:2]
    assert exact_values(declared[names[0]].model, half)[0] == 1  # rather than to wait
    with pytest.raises(ConformanceError, match="something is solved: none"):
        check_solver(gamedp.solvers.ValueIteration(), declared)  # it refuses them, in words
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"a draw counts 0\.0 for both"):
        exact_values(problems[names[2]].model, half)


def test_where_no_exact_value_is_known():
    endless = gamedp.Model.from_arrays(
        [0, 1, 2], [0, 1, 2], [1, 0], [1.0, 1.0], rewards=[1.0, -1.0]
    )
    with pytest.raises(gamedp.UnsupportedProblemError, match="they have no total"):
        exact_values(endless)
    many = gamedp.Model.from_arrays(
        2 * np.arange(21), np.arange(41), np.repeat(np.arange(20), 2), np.ones(40)
    )
    with pytest.raises(gamedp.UnsupportedProblemError, match="compare all policies"):
        exact_values(many, gamedp.Reachability([0]))
    with pytest.raises(gamedp.UnsupportedProblemError, match="finite horizon"):
        exact_values(endless, gamedp.FiniteHorizon(2), policy=[0, 1])


@relaxed
@given(models())
def test_an_optimal_policy_gets_the_value_and_another_one_no_more(model):
    values, worth = exact_values(model), exact_choice_values(model)
    first, end = model.choice_offsets[:-1].tolist(), model.choice_offsets[1:].tolist()
    for player in range(model.num_players):
        sign = 1 - 2 * player
        best = [-1] * model.num_states
        for state, mover in enumerate(model.players.tolist()):
            if first[state] < end[state]:
                key = [(1 - 2 * mover) * number for number in worth[first[state] : end[state]]]
                best[state] = first[state] + key.index(max(key))
        assert exact_values(model, policy=best, player=player) == values
        last = [stop - 1 for stop in end]
        for got, value in zip(exact_values(model, policy=last, player=player), values, strict=True):
            assert sign * got <= sign * value


@pytest.mark.slow
@relaxed
@given(games(players=(1, 2, 3)))
def test_rules_of_tables_are_in_order_and_give_the_model_again(game):
    check_game(game, compile=False)
    model = gamedp.compile(game, compile="always")
    assert model.digest() == gamedp.compile(game, compile="never").digest()
    assert gamedp.compile(TableGame.of(model), compile="never").digest() == model.digest()


@relaxed
@given(models(acyclic=False, ends=False, swaps=True, rewards=False, players=[2]))
def test_options_of_the_strategies(model):
    assert model.num_players == 2
    assert not model.rewards.any()
