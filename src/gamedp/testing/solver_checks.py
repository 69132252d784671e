"""Checks of a solver on problems with known exact values, and a table of what solvers support."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib.metadata import entry_points
from typing import Any, TypeAlias

import attrs
import numpy as np

import gamedp
from gamedp.errors import shown
from gamedp.testing.advice import ACTION_VALUES, BEST_ACTIONS, AdviceTrial, may_miss_its_end
from gamedp.testing.complaints import (
    BOUNDS,
    DETERMINISTIC,
    STATUS,
    VALUE,
    Complaints,
    Examination,
    check_value,
)
from gamedp.testing.exact import exact_choice_values, exact_max_n, exact_values

SUPPORTS = "supports gives reasons"
RUNS = "solve raises no error"
SOLVES = "something is solved"
FORM = "solutions have their form"
POLICY = "the policy is optimal"
UNCHANGED = "models are unchanged"
"""Names of checks."""

CHECKS = (
    VALUE,
    SUPPORTS,
    RUNS,
    SOLVES,
    FORM,
    DETERMINISTIC,
    STATUS,
    BOUNDS,
    ACTION_VALUES,
    BEST_ACTIONS,
    POLICY,
    UNCHANGED,
)

Choice: TypeAlias = tuple[float, Sequence[tuple[float, int]]]
"""The reward of a choice, and its (signed probability, state) pairs."""


@attrs.frozen
class SolverReport:
    """The checks that :func:`check_solver` has made without finding an error.

    Attributes
    ----------
    solver : str
    solved : tuple of str
        The problems that were solved as requested.
    unfinished : tuple of (str, str)
        The problems at which it stopped early, or proved nothing, and its message.
    refused : tuple of (str, str)
        The problems that it does not support, and the reasons.
    """

    solver: str
    solved: tuple[str, ...]
    unfinished: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """Return the report in a few lines."""
        lines = [f"{self.solver} is in order:", *(f"  solved: {name}" for name in self.solved)]
        lines += [f"  unfinished: {name}: {reason}" for name, reason in self.unfinished]
        lines += [f"  refused: {name}: it {reason}" for name, reason in self.refused]
        return "\n".join(lines)


def check_solver(
    solver: Any,
    problems: Mapping[str, gamedp.Problem] | None = None,
    *,
    tolerance: float = 1e-6,
) -> SolverReport:
    """Verify the promises of a solver's solutions.

    Checks that the solver is a value: hashed, pickled, frozen; that `supports` gives a reason for
    each refusal, and `solve` then raises UnsupportedProblemError; that proven bounds contain the
    exact value and are within the tolerance; that action values contain the exact ones; that the
    best actions are those of the exact values and others that the bounds cannot distinguish from
    them, and the certain ones only the former; that the policy's choices are optimal as far as the
    bounds can tell, with any number of steps to go of a finite horizon, and where play may go on
    for ever, that the policy attains its claimed value; that the policy of three or more players
    has the claimed values, and none gains by another choice; that the model is unchanged; and that
    a second solution agrees.

    Parameters
    ----------
    solver
        An object that fulfils the protocol of solvers: ``supports(problem)`` and
        ``solve(problem, *, tolerance, progress=None)``.
    problems : mapping of name to Problem, optional
        Small problems, as they are also solved in rational numbers; :func:`small_problems` if not
        given. Where :func:`exact_values` has none, as for sums that go up and down for ever, only
        the form of the solution is checked.
    tolerance : float
        The tolerance requested of the solver.

    Returns
    -------
    SolverReport

    Raises
    ------
    ConformanceError
        If anything is wrong; the message lists the complaints, each with the problem and the state.

    Examples
    --------
    >>> import gamedp
    >>> problem = gamedp.Problem(small_problems()["rarely ends"].model)
    >>> print(check_solver(gamedp.solvers.ValueIteration(), {"rarely ends": problem}))
    ValueIteration(...) is in order:
      solved: rarely ends
    """
    return examination_of_solver(solver, problems, tolerance=tolerance).report()


def examination_of_solver(
    solver: Any,
    problems: Mapping[str, gamedp.Problem] | None = None,
    *,
    tolerance: float = 1e-6,
) -> Examination[SolverReport]:
    """Return the named checks of a solver, with the options of :func:`check_solver`."""
    examine = functools.partial(_examine, solver, problems, tolerance)
    return Examination(f"{shown(solver)} does not keep the protocol of solvers", CHECKS, examine)


def _examine(
    solver: Any,
    problems: Mapping[str, gamedp.Problem] | None,
    tolerance: float,
    complaints: Complaints,
) -> SolverReport:
    """Solve all problems and check everything, by the names of the checks."""
    check_value(solver, complaints)
    solved, unfinished, refused = [], [], []
    for name, problem in (small_problems() if problems is None else problems).items():
        before = _bytes_of(problem.model)
        trial = _SolverTrial(solver, name, problem, tolerance, complaints)
        reason = trial.refusal()
        if reason is None:
            stopped = trial.run()
            if stopped:
                unfinished.append((name, stopped))
            else:
                solved.append(name)
        else:
            refused.append((name, reason))
        if _bytes_of(problem.model) != before:
            complaints.add(UNCHANGED, "the model's arrays were changed", name)
    if not solved:
        complaints.add(SOLVES, "none of the problems was solved as asked")
    return SolverReport(repr(solver), tuple(solved), tuple(unfinished), tuple(refused))


def _bytes_of(model: gamedp.Model) -> str:
    """Return a digest of all arrays in their present state; a model computes its own only once."""
    digest = hashlib.sha256()
    for value in attrs.astuple(model, recurse=False):
        if isinstance(value, np.ndarray):
            digest.update(np.ascontiguousarray(value).data)
    return digest.hexdigest()


@attrs.frozen(eq=False)
class _SolverTrial:
    """One solver at one problem."""

    solver: Any
    name: str
    problem: gamedp.Problem
    tolerance: float
    complaints: Complaints

    def _add(self, check: str, text: str) -> None:
        self.complaints.add(check, text, self.name)

    def refusal(self) -> str | None:
        """Return why the solver does not support the problem, or None if it does."""
        support = self.solver.supports(self.problem)
        if not isinstance(support, gamedp.solvers.Support):
            self._add(SUPPORTS, f"it returns {shown(support)}, not a gamedp.solvers.Support")
        if support:
            return None
        reason = str(getattr(support, "reason", ""))
        if not reason:
            self._add(SUPPORTS, "it refuses without a reason")
        try:
            self.solver.solve(self.problem, tolerance=self.tolerance)
        except gamedp.UnsupportedProblemError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever a solver may raise
            self._add(SUPPORTS, f"refused, but solve raises {type(error).__name__}: {error}")
        else:
            self._add(SUPPORTS, "refused, but solve does not raise UnsupportedProblemError")
        return reason

    def run(self) -> str:
        """Solve the problem and check the result; return in words what stopped the solver."""
        try:
            solution, stopped = self._solution()
            again, _ = self._solution()
        except Exception as error:  # noqa: BLE001 - whatever a solver may raise
            self._add(RUNS, f"solve raises {type(error).__name__}: {error}")
            return "an error"
        if not isinstance(solution, gamedp.Solution):
            self._add(FORM, f"it is {shown(solution)}, not a gamedp.Solution")
            return "no solution"
        for array in ("values", "lower", "upper", "policy"):
            if not np.array_equal(getattr(solution, array), getattr(again, array), equal_nan=True):
                self._add(DETERMINISTIC, f"{array} differ when solved again")
        if self._has_its_form(solution):
            self._check_bounds(solution, stopped)
            if solution.values.ndim > 1 and solution.guarantee is not gamedp.Guarantee.NONE:
                self._check_max_n(solution)
            elif solution.guarantee is gamedp.Guarantee.TWO_SIDED:
                self._check_truth(solution)
        unproven = solution.guarantee is gamedp.Guarantee.NONE
        return stopped or (solution.guarantee.value if unproven else "")

    def _solution(self) -> tuple[Any, str]:
        try:
            solution = self.solver.solve(
                self.problem, tolerance=self.tolerance, progress=lambda _report: None
            )
        except gamedp.NotSolvedError as error:
            return error.solution, str(error)
        return solution, ""

    def _has_its_form(self, solution: gamedp.Solution) -> bool:
        """Return whether all arrays have their shapes, and the policy valid choices."""
        model = self.problem.model
        shape: tuple[int, ...] = (model.num_states,)
        if model.is_general_sum:
            shape = (model.num_states, model.num_players)
        shapes = {"values": shape, "lower": shape, "upper": shape, "policy": (model.num_states,)}
        shapes |= {"distances": (model.num_states,), "tight": (model.num_choices,)}
        fine = True
        for name, wanted in shapes.items():
            array = getattr(solution, name)
            if array is not None and array.shape != wanted:
                self._add(FORM, f"{name} has shape {array.shape}, not {wanted}")
                fine = False
        if solution.model is not model or solution.objective != self.problem.objective:
            self._add(FORM, "it is not of this model and objective")
        if solution.solver != self.solver:
            self._add(FORM, f"it names {shown(solution.solver)} as its solver")
        if not fine:
            return False
        if getattr(solution.objective, "horizon", 1) == 0:
            return True  # with no steps to go, there is nothing to choose
        first, end = model.choice_offsets[:-1], model.choice_offsets[1:]
        outside = (solution.policy < first) | (solution.policy >= end)
        wrong = np.flatnonzero(np.where(first == end, solution.policy != -1, outside))
        for state in wrong.tolist():
            self._add(POLICY, f"in {self._state(state)} it is {solution.policy[state]}")
        return not len(wrong)

    def _check_bounds(self, solution: gamedp.Solution, stopped: str) -> None:
        """Check that the numbers are consistent."""
        ordered = (solution.lower <= solution.values) & (solution.values <= solution.upper)
        proven = solution.guarantee is not gamedp.Guarantee.NONE
        if proven and not ordered.all():
            index = tuple(np.argwhere(~ordered)[0].tolist())
            numbers = solution.lower[index], solution.values[index], solution.upper[index]
            self._add(
                BOUNDS,
                f"in {self._state(index[0])} lower, value and upper are not in order: "
                f"{', '.join(repr(float(number)) for number in numbers)}",
            )
        if stopped and solution.status is gamedp.Status.SOLVED:
            self._add(STATUS, "it is SOLVED, but NotSolvedError was raised")
        two_sided = solution.guarantee is gamedp.Guarantee.TWO_SIDED
        if solution.status is gamedp.Status.SOLVED and two_sided:
            width = solution.width
            if not width <= self.tolerance:
                self._add(
                    STATUS,
                    f"it is SOLVED, but bounds are {width!r} apart, not {self.tolerance!r}",
                )

    def _check_truth(self, solution: gamedp.Solution) -> None:
        """Compare the bounds and the policy with the exact values."""
        model, objective = self.problem.model, self.problem.objective
        try:
            truth = exact_values(model, objective)
        except gamedp.UnsupportedProblemError:
            return
        lower, upper = solution.lower.tolist(), solution.upper.tolist()
        for state, value in enumerate(truth):
            if not lower[state] <= value <= upper[state]:
                self._add(
                    BOUNDS,
                    f"the value of {self._state(state)} is {float(value)!r}, not between "
                    f"{lower[state]!r} and {upper[state]!r}",
                )
        if getattr(objective, "horizon", 1) == 0:
            return
        # A choice that is best by values that are off by a width is off by at most two of them.
        slack = 2 * Fraction(solution.width)
        advice = AdviceTrial.of(solution, truth, slack)
        choice_values = advice.choice_values
        finite = [abs(number) for number in choice_values if math.isfinite(number)]
        slack += Fraction(1, 10**12) * max(finite, default=Fraction(0))
        for check, words in attrs.evolve(advice, slack=slack).complaints():
            self._add(check, words)
        for state, choice in enumerate(solution.policy.tolist()):
            best = truth[state]
            if (
                choice >= 0
                and choice_values[choice] != best
                and abs(choice_values[choice] - best) > slack
            ):
                self._add(
                    POLICY,
                    f"in {self._state(state)} it takes choice {choice}, which is worth "
                    f"{float(choice_values[choice])!r}; the best is worth {float(truth[state])!r}",
                )
        if may_miss_its_end(model, objective):
            self._check_progress(solution.policy.tolist(), truth, slack)
        if solution.step_policies is not None:
            self._check_steps(solution, slack)

    def _check_steps(self, solution: gamedp.Solution, slack: Fraction) -> None:
        """Check that the choices for each number of remaining steps are optimal."""
        model, objective = self.problem.model, self.problem.objective
        places = solution.step_policies
        horizon = objective.horizon if isinstance(objective, gamedp.FiniteHorizon) else 0
        if places is None or places.shape != (horizon, model.num_states):
            self._add(POLICY, "step_policies have no row for each number of steps to go")
            return
        inner = np.flatnonzero(np.diff(model.choice_offsets)).tolist()
        for steps in range(1, horizon + 1):
            left = attrs.evolve(objective, horizon=steps)  # type: ignore[arg-type] # it is one
            truth, choice_values = exact_values(model, left), exact_choice_values(model, left)
            for state in inner:
                first, end = model.choice_offsets[state : state + 2].tolist()
                choice = first + int(places[steps - 1, state])
                if choice >= end or abs(choice_values[choice] - truth[state]) > slack:
                    self._add(
                        POLICY,
                        f"in {self._state(state)} with {steps} steps to go it takes choice "
                        f"{choice}, which is not best then",
                    )

    def _check_max_n(self, solution: gamedp.Solution) -> None:
        """Compare three or more players with the exact values of their own policy.

        They are max-n values if no player gains by another choice.
        """
        model = self.problem.model
        if not isinstance(self.problem.objective, gamedp.TotalReward) or not (
            model.structure.is_acyclic
        ):
            return
        truth, choice_values = exact_max_n(model, solution.policy.tolist())
        slack = 2 * Fraction(solution.width)
        sign = 1 if self.problem.objective.optimum == "max" else -1
        for state, values in enumerate(truth):
            for player, value in enumerate(values):
                if not solution.lower[state, player] <= value <= solution.upper[state, player]:
                    self._add(
                        BOUNDS,
                        f"by the policy, player {player} gets {float(value)!r} from "
                        f"{self._state(state)}, which is not between its bounds",
                    )
            mover = int(model.players[state])
            for choice in range(*model.choice_offsets[state : state + 2].tolist()):
                gain = sign * (choice_values[choice][mover] - values[mover])
                if gain > slack:
                    self._add(
                        POLICY,
                        f"in {self._state(state)}, player {mover} would get {float(gain)!r} more "
                        f"by choice {choice}",
                    )

    def _check_progress(self, policy: list[int], truth: list[Fraction], slack: Fraction) -> None:
        """Check that the policy attains the value: waiting for ever does not win."""
        model, objective = self.problem.model, self.problem.objective
        movers = model.players[model.choice_offsets[:-1] < model.choice_offsets[1:]]
        for player in sorted(set(movers.tolist())):
            wants_most = (player == 0) == (objective.optimum == "max")
            sign = 1 if wants_most else -1
            got = exact_values(model, objective, policy=policy, player=player)
            for state, value in enumerate(truth):
                if value != got[state] and sign * (value - got[state]) > slack:
                    self._add(
                        POLICY,
                        f"from {self._state(state)}, it brings player {player} only as far as "
                        f"{float(got[state])!r}; the value is {float(value)!r}",
                    )

    def _state(self, state: int) -> str:
        return f"state {self.problem.model.state(state)!r}"


def small_problems() -> dict[str, gamedp.Problem]:
    """Return problems of different kinds, by name, for :func:`check_solver`.

    Examples
    --------
    >>> small_problems()["rarely ends"].model
    <Model 2 states, 1 choices, 2 transitions>
    """
    walk = _walk()
    waiting = _model(
        [(0.0, [(1.0, 0)]), (1.0, [(0.25, 1), (0.75, 2)])],
        [(2.0, [(1.0, 0)])],
        0.5,
        [(3.0, [(1.0, 3)]), (4.0, [(1.0, 2)])],
    )
    ring = _model(
        [(1.0, [(0.5, 1), (0.5, 2)]), (0.0, [(1.0, 2)])],
        [(-1.0, [(1.0, 0)]), (3.0, [(0.9, 1), (0.1, 2)])],
        [(0.5, [(1.0, 0)])],
    )
    models = {
        "one sure step": _model([(1.0, [(1.0, 1)])], 0.5),
        "nothing to choose": _model(2.0),
        "no cycles": _model(
            [(0.0, [(0.5, 1), (0.5, 2)]), (1.0, [(1.0, 2)])],
            [(2.0, [(0.25, 2), (0.75, 3)])],
            [(-1.0, [(1.0, 3)]), (0.0, [(0.5, 3), (0.5, 4)])],
            1.0,
            4.0,
        ),
        "no cycles, places change": _model(
            [(0.0, [(0.25, 2), (-0.75, 1)]), (0.0, [(-1.0, 2)])],
            [(0.0, [(0.75, 3), (-0.25, 2)])],
            [(0.0, [(0.5, 3), (-0.5, 3)]), (0.0, [(-1.0, 3)])],
            0.75,
            players=[0, 1, 0, 0],
            num_players=2,
            constant_sum=1.0,
        ),
        "a walk": walk,
        "rarely ends": _model([(0.0, [(0.999, 0), (0.001, 1)])], 1.0),
        "equally good": _model(
            [(0.0, [(1.0, 1)]), (0.0, [(1.0, 2)])], [(1.0, [(1.0, 2)])], [(0.0, [(1.0, 3)])], 0.0
        ),
        "large and small": _model(
            [(1e-3, [(0.5, 0), (0.5, 1)])], [(-1e5, [(1.0, 2)]), (-1e5 + 1e-3, [(1.0, 2)])], 1e5
        ),
        "two opponents": _model(
            [(0.0, [(0.6, 1), (0.4, 3)]), (0.5, [(0.9, 2), (0.1, 3)])],
            [(0.0, [(0.7, 0), (0.3, 3)]), (-1.0, [(0.2, 1), (0.8, 4)])],
            [(1.0, [(0.5, 1), (0.5, 4)]), (0.0, [(0.4, 0), (0.6, 4)])],
            1.0,
            -1.0,
            players=[0, 1, 1, 0, 0],
        ),
        "places change, one wins": _model(
            [(0.0, [(0.3, 1), (-0.7, 0)]), (0.0, [(-1.0, 2)])],
            [(0.0, [(0.5, 3), (-0.5, 0)])],
            [(0.0, [(0.8, 3), (-0.2, 1)]), (0.0, [(-0.6, 1), (0.4, 2)])],
            1.0,
            num_players=2,
            constant_sum=1.0,
        ),
        "places change, nothing is lost": _model(
            [(1.0, [(-0.9, 1), (0.1, 2)]), (0.0, [(-0.5, 0), (-0.5, 2)])],
            [(-0.5, [(-0.8, 0), (0.2, 2)])],
            2.0,
            num_players=2,
        ),
        "may go on for ever": _model([(0.0, [(1.0, 0)]), (0.0, [(1.0, 1)])], 1.0),
        "two opponents, for ever": _model(
            [(0.0, [(1.0, 1)]), (0.0, [(1.0, 2)])],
            [(0.0, [(1.0, 0)]), (0.0, [(1.0, 4)])],
            [(0.0, [(1.0, 2)]), (0.0, [(1.0, 3)]), (0.0, [(1.0, 1)])],
            [(0.0, [(1.0, 5)]), (0.0, [(1.0, 2)])],
            1.0,
            [(0.0, [(1.0, 6)]), (0.0, [(1.0, 5)]), (0.0, [(1.0, 7)])],
            -1.0,
            [(0.0, [(1.0, 7)]), (0.0, [(1.0, 6)])],
            players=[0, 1, 0, 1, 0, 1, 0, 0],
        ),
        "places change, for ever": _model(
            [(0.0, [(-1.0, 1)]), (0.0, [(-1.0, 0)])],
            [(0.0, [(-1.0, 2)]), (0.0, [(-1.0, 0)])],
            [(0.0, [(-1.0, 1)]), (0.0, [(-1.0, 3)])],
            -1.0,
            [(0.0, [(-1.0, 4)]), (0.0, [(-1.0, 5)])],
            [(0.0, [(-1.0, 4)]), (0.0, [(1.0, 2)])],
            num_players=2,
        ),
        "three players": _model(
            [([0.0, 1.0, 0.0], [(1.0, 1)]), ([0.5, 0.0, 0.0], [(0.25, 1), (0.75, 2)])],
            [([0.0, 0.0, 1.0], [(1.0, 3)]), ([2.0, 0.0, 0.0], [(1.0, 2)])],
            [([0.0, 1.0, 0.0], [(1.0, 3)]), ([0.0, 0.0, 3.0], [(0.5, 3), (0.5, 4)])],
            [1.0, 2.0, 3.0],
            [3.0, 0.0, 1.0],
            players=[0, 2, 1, 0, 0],
            num_players=3,
        ),
        "places change, both choose": _model(
            [(1.0, [(-0.9, 1), (0.1, 3)]), (0.0, [(0.5, 1), (-0.5, 2)])],
            [(-0.5, [(-0.8, 0), (0.2, 2)]), (0.25, [(0.6, 2), (-0.4, 0)])],
            [(0.5, [(-0.7, 0), (0.3, 3)]), (0.0, [(-0.5, 1), (0.5, 3)])],
            2.0,
            players=[0, 1, 0, 0],
            num_players=2,
        ),
    }
    opponents, changing = models["two opponents"], models["places change, both choose"]
    chase = _chase()
    problems = {name: gamedp.Problem(model) for name, model in models.items()}
    return problems | {
        "a walk, the least": gamedp.Problem(walk, gamedp.TotalReward(optimum="min")),
        "discounted, without end": gamedp.Problem(ring, gamedp.Discounted(0.9)),
        "hardly discounted, the least": gamedp.Problem(ring, gamedp.Discounted(0.999, "min")),
        "only the next reward": gamedp.Problem(ring, gamedp.Discounted(0.0)),
        "three steps": gamedp.Problem(ring, gamedp.FiniteHorizon(3)),
        "ten steps of a walk": gamedp.Problem(walk, gamedp.FiniteHorizon(10)),
        "no steps": gamedp.Problem(ring, gamedp.FiniteHorizon(0)),
        "to reach within three steps": gamedp.Problem(
            opponents, gamedp.FiniteHorizon(3, target=[3])
        ),
        "to reach within three steps, through some": gamedp.Problem(
            waiting, gamedp.FiniteHorizon(3, "min", target=[2], allowed=[0])
        ),
        "three steps, and what they leave": gamedp.Problem(
            ring, gamedp.FiniteHorizon(3, final={1: 2.5})
        ),
        "to reach, not to wait": gamedp.Problem(waiting, gamedp.Reachability([2])),
        "to reach, at the least": gamedp.Problem(waiting, gamedp.Reachability([2], None, "min")),
        "to reach through some": gamedp.Problem(waiting, gamedp.Reachability([2], allowed=[0])),
        "to reach, against another": gamedp.Problem(opponents, gamedp.Reachability([3])),
        "to be kept from it": gamedp.Problem(opponents, gamedp.Reachability([3], None, "min")),
        "to be kept from it, through some": gamedp.Problem(
            opponents, gamedp.Reachability([3], [0, 1], "min")
        ),
        "a target that may be missed": gamedp.Problem(waiting, gamedp.TotalReward(until=[2])),
        "a target at least cost": gamedp.Problem(waiting, gamedp.TotalReward("min", until=[2])),
        "a target that another puts off": gamedp.Problem(
            chase, gamedp.TotalReward("min", until=[2])
        ),
        "a target that another hurries to": gamedp.Problem(chase, gamedp.TotalReward(until=[2])),
        "waiting earns without end": gamedp.Problem(waiting),
        "two opponents, the least": gamedp.Problem(opponents, gamedp.TotalReward("min")),
        "places change, the least": gamedp.Problem(changing, gamedp.TotalReward("min")),
        "discounted, two opponents": gamedp.Problem(opponents, gamedp.Discounted(0.9)),
        "discounted, two opponents, the least": gamedp.Problem(
            opponents, gamedp.Discounted(0.5, "min")
        ),
        "discounted, places change": gamedp.Problem(changing, gamedp.Discounted(0.9)),
        "three steps, two opponents": gamedp.Problem(opponents, gamedp.FiniteHorizon(3)),
        "three steps, two opponents, the least": gamedp.Problem(
            opponents, gamedp.FiniteHorizon(3, "min")
        ),
        "four steps, places change": gamedp.Problem(changing, gamedp.FiniteHorizon(4)),
        "four steps, and what they leave, places change": gamedp.Problem(
            changing, gamedp.FiniteHorizon(4, final={0: 3, 3: -1})
        ),
        "three players, the least": gamedp.Problem(
            models["three players"], gamedp.TotalReward("min")
        ),
        "in the long run": gamedp.Problem(_resorts(), gamedp.AverageReward()),
        "the least in the long run": gamedp.Problem(_resorts(), gamedp.AverageReward("min")),
    }


def _resorts() -> gamedp.Model:
    """Return a model of places to stay in for ever, some of which can be left, and an end."""
    return _model(
        [(1.0, [(1.0, 0)]), (0.0, [(0.25, 1), (0.75, 0)])],
        [(1.0, [(1.0, 1)]), (0.0, [(1.0, 0)]), (-9.0, [(0.125, 2), (0.5, 0), (0.375, 4)])],
        [(5.0, [(1.0, 3)]), (0.0, [(0.5, 2), (0.5, 3)])],
        [(4.0, [(0.5, 2), (0.5, 3)])],
        3.0,
    )


def _chase() -> gamedp.Model:
    """Return a model of a path to a target that one player may lengthen, and the other block."""
    return _model(
        [(1.0, [(0.625, 1), (0.375, 2)]), (3.0, [(1.0, 2)])],
        [(2.0, [(1.0, 0)]), (0.5, [(0.25, 0), (0.75, 2)])],
        [(5.0, [(1.0, 4)])],
        [(1.0, [(1.0, 0)]), (0.0, [(0.25, 3), (0.75, 4)])],
        1.0,
        players=[0, 1, 0, 1, 0],
        num_players=2,
    )


def _walk() -> gamedp.Model:
    """Return a gambler's model, from 1 to 4 of 5: small stakes are fair, large ones are not."""
    states: list[Any] = [-1.0]
    for have in range(1, 5):
        stake = min(have, 5 - have)
        small = [(0.5, have - 1), (0.5, have + 1)]
        large = [(0.625, have - stake), (0.375, have + stake)]
        states.append([(-0.125, small), (0.0, large)])
    return _model(*states, 5.0, initial=2)


def _model(*states: Any, **keywords: Any) -> gamedp.Model:
    """Return a model of states, each given by a list of choices or by its payoff."""
    choices, offsets = [0], [0]
    successors: list[int] = []
    probabilities: list[float] = []
    rewards: list[Any] = []
    terminals, payoffs = [], []
    for number, state in enumerate(states):
        is_inner = isinstance(state, list) and isinstance(state[0], tuple)
        if not is_inner:
            terminals.append(number)
            payoffs.append(state)
        for reward, outcomes in state if is_inner else []:
            rewards.append(reward)
            probabilities += [probability for probability, _ in outcomes]
            successors += [target for _, target in outcomes]
            offsets.append(len(successors))
        choices.append(len(rewards))
    return gamedp.Model.from_arrays(
        choices,
        offsets,
        successors,
        probabilities,
        rewards=rewards,
        terminals=terminals,
        payoffs=payoffs,
        **keywords,
    )


def problem_kinds() -> dict[str, gamedp.Problem]:
    """Return one small problem of each kind, by name: an objective and a kind of model.

    Examples
    --------
    >>> problem_kinds()["total"].model
    <Model 4 states, 4 choices, 8 transitions>
    """
    alone, opponents = _two_states(), _two_states(mover=1)
    acyclic, swaps = _two_states(mover=1, back=2), _two_states(sign=-1)
    sure = _model(
        [(0.0, [(1.0, 1)]), (0.0, [(1.0, 2)])],
        [(0.0, [(1.0, 0)]), (0.0, [(1.0, 3)])],
        1.0,
        -1.0,
        players=[0, 1, 0, 0],
    )
    return {
        "total": gamedp.Problem(alone),
        "2 players": gamedp.Problem(opponents),
        "swaps": gamedp.Problem(swaps),
        "acyclic": gamedp.Problem(acyclic),
        "sure, 2 pl.": gamedp.Problem(sure),
        "until": gamedp.Problem(alone, gamedp.TotalReward("min", until=[2])),
        "until, 2 pl.": gamedp.Problem(opponents, gamedp.TotalReward("min", until=[2, 3])),
        "reach": gamedp.Problem(alone, gamedp.Reachability([2])),
        "reach, 2 pl.": gamedp.Problem(opponents, gamedp.Reachability([2])),
        "discounted": gamedp.Problem(alone, gamedp.Discounted(0.5)),
        "disc., 2 pl.": gamedp.Problem(opponents, gamedp.Discounted(0.5)),
        "horizon": gamedp.Problem(opponents, gamedp.FiniteHorizon(3)),
        "average": gamedp.Problem(alone, gamedp.AverageReward()),
    }


def support_table(
    solvers: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, gamedp.solvers.Support]]:
    """Return which solvers support which kinds of problems.

    Parameters
    ----------
    solvers : mapping of name to solver, optional
        If not given, all registered ones but that of staged games, by their class names.

    Returns
    -------
    dict
        For each solver, its answer to each of the :func:`problem_kinds`.

    Examples
    --------
    >>> import gamedp
    >>> table = support_table({"mine": gamedp.solvers.LinearProgramming()})
    >>> bool(table["mine"]["total"]), table["mine"]["2 players"].reason
    (True, 'is for one player alone; PolicyIteration does two opponents who choose.')
    """
    if solvers is None:
        made = [point.load()() for point in entry_points(group="gamedp.solvers")]
        solvers = {
            type(solver).__name__: solver
            for solver in sorted(made, key=lambda solver: type(solver).__name__)
            if not isinstance(solver, gamedp.stages.StageInduction)
        }
    kinds = problem_kinds()
    return {
        name: {kind: solver.supports(problem) for kind, problem in kinds.items()}
        for name, solver in solvers.items()
    }


def _two_states(*, mover: int = 0, back: int = 0, sign: int = 1) -> gamedp.Model:
    """Return two states with two choices each, which have rewards and may end in two ways.

    The mover decides in the second one, which may lead back, or to an end.
    """
    return _model(
        [(1.0, [(sign * 0.5, 1), (0.5, 2)]), (2.0, [(sign * 0.25, 1), (0.75, 3)])],
        [(0.0, [(sign * 0.5, back), (0.5, 2)]), (1.0, [(sign * 0.75, back), (0.25, 3)])],
        1.0,
        0.0,
        players=[0, mover, 0, 0],
        num_players=2 if sign < 0 or mover else 1,
    )
