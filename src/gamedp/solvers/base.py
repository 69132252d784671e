"""What all solvers share: the problem they are given, and the solution they put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from gamedp.errors import (
    InvalidModelError,
    LimitExceededError,
    NotSolvedError,
    UnsupportedProblemError,
)
from gamedp.kernels import proofs, quotients
from gamedp.objectives import AverageReward, FiniteHorizon, has_target
from gamedp.problem import Problem
from gamedp.progress import ProgressCallback, Reporter
from gamedp.reduction import Reduction, needs_reduction, reduce
from gamedp.solution import Guarantee, Solution, Statistics, Status, width_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model import Model

    Numbers = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

__all__ = [
    "FixedPointSolver",
    "Run",
    "Solver",
    "Support",
    "check_range",
    "deflatable",
    "make_solution",
    "require",
    "room_for_policies",
    "solve_as_asked",
    "support_of_deflating",
    "support_of_fixed_points",
    "support_of_proper",
]

PIECE = 1 << 10
"""States gathered at a time to prove a component: they fit into the processor's cache."""


@attrs.frozen
class Support:
    """Whether a solver can do a problem, and why not.

    Attributes
    ----------
    ok : bool
    reason : str
        In words; empty if `ok`.
    """

    ok: bool
    reason: str = ""

    def __bool__(self) -> bool:
        """Return `ok`."""
        return self.ok


class Solver(Protocol):
    """A way to solve problems: an immutable value, its attributes are its options.

    A solver need not know of relative tolerances: see :func:`solve_as_asked`.
    """

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        """Solve the problem so that every value is known within `tolerance`."""


def support_of_fixed_points(problem: Problem) -> Support:
    """Say what solvers of Bellman's equation as a fixed point can do: not steps, not max-n."""
    if isinstance(problem.objective, FiniteHorizon):
        return Support(False, "does not do finite horizons; BackwardInduction does.")
    if isinstance(problem.objective, AverageReward):
        return Support(False, "does not do long-run averages; RelativeValueIteration does.")
    if problem.model.num_players > 2:
        return Support(False, "is for one or two players; BackwardInduction does more.")
    reduction = reduction_of(problem)
    if isinstance(reduction, str) and has_target(problem.objective):
        return Support(False, reduction)
    return Support(True)


def support_of_proper(problem: Problem) -> Support:
    """Say what solvers of fixed points can do that need play to end, or to be made to."""
    support = support_of_fixed_points(problem)
    reduction = reduction_of(problem) if support else None
    return Support(False, reduction) if isinstance(reduction, str) else support


def support_of_deflating(problem: Problem) -> Support:
    """Say what solvers of proper problems can do that deflate bounds where opponents go on."""
    support = support_of_proper(problem)
    reduction = deflatable(problem)
    if support or reduction is None:
        return support
    return Support(False, reduction) if isinstance(reduction, str) else Support(True)


def reduction_of(problem: Problem) -> Reduction | str | None:
    """Return what makes the problem proper: None if nothing need to, or why nothing does."""
    reduction = deflatable(problem)
    if isinstance(reduction, Reduction) and reduction.problem.is_contested:
        state = reduction.original.model.state(reduction.contested)
        return (
            "does no two opponents of whom each can keep play from ending, as around state "
            f"{state!r}; StrategyIteration, IntervalIteration and TopologicalValueIteration do."
        )
    return reduction


def deflatable(problem: Problem) -> Reduction | str | None:
    """Return what makes the problem proper, but for two opponents who can keep play from ending."""
    if not needs_reduction(problem):
        return None
    if problem not in _REDUCTIONS:
        try:
            _REDUCTIONS[problem] = reduce(problem)
        except UnsupportedProblemError as error:
            _REDUCTIONS[problem] = str(error)
    return _REDUCTIONS[problem]


_REDUCTIONS: WeakKeyDictionary[Problem, Reduction | str] = WeakKeyDictionary()
"""Found once for each problem: to be asked whether it is supported is half of solving it."""


def require(solver: Solver, problem: Problem) -> None:
    """Raise UnsupportedProblemError with the solver's reason if it cannot do the problem."""
    support = solver.supports(problem)
    if not support:
        message = f"{type(solver).__name__} {support.reason}"
        raise UnsupportedProblemError(message)


class Run:
    """A solver at work: the arrays it fills, the limits it minds, the work it counts.

    Attributes
    ----------
    tolerance : float
        How far apart bounds may be.
    relative : bool
        Whether `tolerance` is to be multiplied by the absolute value of each state.
    values, errors : (S,) float64
        ``|values - true values| <= errors`` once they are proven.
    policy : (S,) int64
    visits : (1,) int64
        States looked at.
    bounds : tuple of two (S,) float64, or None
        Lower and upper bounds, where the solver proves them itself; `errors` do not count then.
    """

    def __init__(
        self,
        problem: Problem,
        tolerance: float,
        progress: ProgressCallback | None,
        max_seconds: float = float("inf"),
        *,
        relative: bool = False,
    ) -> None:
        model = problem.model
        self.problem = problem
        self.tolerance = tolerance
        self.relative = relative
        self.max_seconds = max_seconds
        self.reporter = Reporter(progress, "solve")
        self.rows = problem.rows()
        self.values = np.zeros(model.num_states)
        self.values[model.terminals] = model.payoffs
        self.errors = np.zeros(model.num_states)
        self.policy = np.full(model.num_states, -1, np.int64)
        self.weights = np.zeros(model.num_states)  # but while a component is proven
        self.visits = np.zeros(1, np.int64)
        self.status = Status.SOLVED
        self.bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    @property
    def out_of_time(self) -> bool:
        """Whether the limit of time is passed."""
        return self.reporter.seconds > self.max_seconds

    @property
    def sweeps(self) -> int:
        """How often every state was looked at, rounded up."""
        inner = max(1, self.problem.model.num_states - len(self.problem.model.terminals))
        return -(-int(self.visits[0]) // inner)

    def component(self, number: int) -> tuple[int, int]:
        """Return where in the order a component starts and stops."""
        offsets = self.problem.model.structure.component_offsets
        return int(offsets[number]), int(offsets[number + 1])

    def prove_all(self) -> float:
        """Prove errors for all values, component by component; return the largest."""
        structure = self.problem.model.structure
        arguments = (self.rows, self.values, self.errors, self.policy)
        number = 0
        while number < structure.num_components:
            number = proofs.settle_components_jit(
                number,
                structure.num_components,
                structure.component_offsets,
                structure.nontrivial,
                *arguments,
            )
            if number < structure.num_components:
                self.prove(number, self.tolerance, max_sweeps=1000)
                number += 1
        return float(self.errors.max(initial=0.0))

    def prove(
        self,
        number: int,
        tolerance: float,
        max_sweeps: int,
        steps: NDArray[np.float64] | None = None,
    ) -> float:
        """Prove errors for the values of a component with cycles; return the width it adds.

        The weights count the steps of the greedy policy first; if that does not do, of nearly
        optimal actions; then of all.

        Parameters
        ----------
        number : int
            The component.
        tolerance : float
            The width that is good enough.
        max_sweeps : int
            Sweeps over the weights at most.
        steps : (states of the component,) float64, optional
            The expected steps of the greedy policy, if they are known, in the order of the states.
        """
        start, stop = self.component(number)
        states = self.rows.order[start:stop]
        width = np.inf
        if not self.problem.is_proper:
            self.errors[states] = np.inf
            return float(width)
        weights = self.weights
        scale = float(np.abs(self.values[states]).max())
        for mode in (proofs.GREEDY, proofs.NEAR, proofs.ALL):
            if self.rows.discount < 1:
                weights[states] = 1 / (1 - self.rows.discount)
            else:
                weights[states] = 1.0
                if mode == proofs.GREEDY and steps is not None:
                    weights[states] = steps
                else:
                    self._weigh(start, stop, mode, 1e-3 * scale, max_sweeps)
            width = proofs.certify_jit(
                start, stop, self.rows, PIECE, self.values, weights, self.errors, self.policy
            )
            if width <= tolerance or self.rows.discount < 1 or self.out_of_time:
                break
            if np.isfinite(width):
                break
        return float(width)

    def _weigh(self, start: int, stop: int, mode: int, margin: float, max_sweeps: int) -> None:
        for _ in range(max_sweeps):
            increase = proofs.weigh_jit(
                start, stop, self.rows, self.values, self.policy, mode, margin, self.weights
            )
            if increase <= 0.5 or self.out_of_time:
                return

    def solution(
        self, solver: Any, *, proven: bool = True, reduction: Reduction | None = None
    ) -> Solution:
        """Put the solution together; raise NotSolvedError if it is not what was asked for.

        Parameters
        ----------
        solver
            Whose name the solution bears.
        proven : bool
            Whether errors can be proven at all.
        reduction : Reduction, optional
            How the problem came out of the one that is solved.
        """
        problem = self.problem
        if reduction is None:
            check_range(problem.model, self.values)
        elif not np.isfinite(self.values).all():
            check_range(reduction.original.model, reduction.lift(self.values), reduction.known)
        if not proven:
            self.prove_all()  # what does not depend on endless play is known all the same
        low, high = problem.range_of_values() if proven else (-np.inf, np.inf)
        if reduction is not None:
            problem = reduction.original
        if self.bounds is None:
            numbers, policy, width = finished(
                problem.model, reduction, self.values, self.errors, self.policy, low, high
            )
        else:
            numbers, policy, width = self._clipped(*self.bounds, reduction, low, high)
        if self.relative:
            width = width_of(*numbers[1:], relative=True)
        if not proven:
            self.status = Status.UNPROVEN if self.status is Status.SOLVED else self.status
        elif self.status is Status.SOLVED:
            self.status = Status.SOLVED if width <= self.tolerance else Status.ROUNDING
        return make_solution(
            problem,
            solver,
            numbers,
            policy,
            guarantee=Guarantee.TWO_SIDED if proven else Guarantee.NONE,
            status=self.status,
            sweeps=self.sweeps,
            seconds=self.reporter.seconds,
            relative=self.relative,
        )

    def _clipped(
        self,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        reduction: Reduction | None,
        low: float,
        high: float,
    ) -> tuple[Numbers, NDArray[np.int64], float]:
        """Return the same where the solver has found bounds itself."""
        np.clip(lower, low, None, out=lower)
        np.clip(upper, None, high, out=upper)
        np.clip(self.values, lower, upper, out=self.values)
        width = width_of(lower, upper)
        if reduction is None:
            return (self.values, lower, upper), self.policy, width
        numbers = (reduction.lift(self.values), reduction.lift(lower), reduction.lift(upper))
        return numbers, reduction.lift_policy(self.policy), width


def finished(
    model: Model,
    reduction: Reduction | None,
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    policy: NDArray[np.int64],
    low: float,
    high: float,
) -> tuple[Numbers, NDArray[np.int64], float]:
    """Return values, bounds and the policy for the states of a model, and the width.

    Parameters
    ----------
    model : Model
        Of S states.
    reduction : Reduction or None
        How the problem came out of the model's, if it is another one.
    values, errors, policy : (S',)
        Of the problem that was solved.
    low, high : float
        Bounds that hold for all values anyhow.
    """
    if reduction is None:
        none = np.empty(0, np.int64)
        lifting = (none, np.empty(0), none, none)
    else:
        small = reduction.quotient
        lifting = (small.class_of, reduction.known, reduction.policy, small.choice_of)
    numbers = (np.empty(model.num_states), np.empty(model.num_states), np.empty(model.num_states))
    choices = np.empty(model.num_states, np.int64)
    width = quotients.finish_jit(
        values, errors, policy, low, high, *lifting, model.choice_offsets, *numbers, choices
    )
    if reduction is not None:
        reduction.leave(choices)
    return numbers, choices, width


def outward(
    values: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper bounds that are values minus and plus errors at least."""
    lower = np.nextafter(values - errors, -np.inf)
    upper = np.nextafter(values + errors, np.inf)
    exact = errors == 0
    lower[exact] = upper[exact] = values[exact]
    return lower, upper


class FixedPointSolver:
    """What solvers of Bellman's equation as a fixed point have in common.

    A solver is a frozen attrs class with the option `max_seconds`, and says in `iterate` how values
    are found. Targets, end components and infinite totals are dealt with before and after
    (:mod:`gamedp.reduction`): whatever `iterate` sees is proper, but for total rewards of play
    without end that nothing can be proven of.
    """

    max_seconds: float
    goes_relative: ClassVar[bool] = False
    """Whether `iterate` minds `run.relative`; if not, smaller tolerances are tried."""
    deflates: ClassVar[bool] = False
    """Whether `iterate` can do what is contested (:attr:`gamedp.Problem.is_contested`)."""

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""
        return support_of_fixed_points(problem)

    def solve(
        self,
        problem: Problem,
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
        relative: bool = False,
    ) -> Solution:
        """Solve the problem so that every value is known within `tolerance`.

        Parameters
        ----------
        relative : bool
            Whether that is `tolerance` times the absolute value, for each state.
        """
        at_once = None if relative else self.solved_at_once(problem, tolerance, progress)
        if at_once is not None:
            return at_once
        require(self, problem)
        if relative and not self.goes_relative:
            solution: Solution = solve_as_asked(self, problem, tolerance, progress, relative=True)
            return solution
        found = deflatable(problem) if self.deflates else reduction_of(problem)
        reduction = found if isinstance(found, Reduction) else None
        proper = problem if reduction is None else reduction.problem
        run = Run(proper, tolerance, progress, self.max_seconds, relative=relative)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in the end
            self.iterate(run)
            proven = proper.is_proper or proper.is_contested
            return run.solution(self, proven=proven, reduction=reduction)

    def solved_at_once(
        self, problem: Problem, tolerance: float, progress: ProgressCallback | None
    ) -> Solution | None:
        """Return the solution where a method has a way of its own to it, without a run."""
        del problem, tolerance, progress
        return None

    def iterate(self, run: Run) -> None:
        """Fill in the values of a run and, where that can be done, prove them."""
        raise NotImplementedError  # what each method has of its own


def solve_as_asked(
    solver: Any,
    problem: Any,
    tolerance: float,
    progress: ProgressCallback | None,
    *,
    relative: bool,
) -> Any:
    """Solve a problem with an absolute tolerance or a relative one, whatever the solver knows.

    One that knows no relative tolerance solves again with a smaller absolute one, as long as that
    helps.

    Raises
    ------
    NotSolvedError
        As the solver does; or where 64-bit rounding ends before the relative tolerance is reached.
    """
    if not relative:
        return solver.solve(problem, tolerance=tolerance, progress=progress)
    if getattr(solver, "goes_relative", False):
        return solver.solve(problem, tolerance=tolerance, progress=progress, relative=True)
    absolute = tolerance
    while True:
        stopped = None
        try:
            solution = solver.solve(problem, tolerance=absolute, progress=progress)
        except NotSolvedError as error:
            stopped, solution = error, error.solution
        lower, upper = solution.lower, solution.upper
        if width_of(lower, upper, relative=True) <= tolerance:
            return attrs.evolve(solution, status=Status.SOLVED)
        if solution.guarantee is Guarantee.NONE:
            return solution
        if stopped is not None and solution.status is not Status.ROUNDING:
            raise stopped
        with np.errstate(invalid="ignore", over="ignore"):  # equal ones may be infinite
            wide = upper - lower > tolerance * np.maximum(lower, -upper)
        apart = (lower != upper) & wide
        most = np.maximum(np.abs(lower), np.abs(upper))[apart]
        finer = 0.5 * tolerance * float(most.min(initial=np.inf))
        if stopped is not None or not 0 < finer < absolute:
            width = solution.width
            message = (
                f"{type(solver).__name__} stopped at the limit of 64-bit rounding: every value is "
                f"known to within {width:.3g}, and some are too close to 0 for the relative "
                f"tolerance {tolerance:g}. Loosen tolerance, or read .solution on this error."
            )
            raise NotSolvedError(message, attrs.evolve(solution, status=Status.ROUNDING))
        absolute = finer


def room_for_policies(model: Model, horizon: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return zeros for a policy of each step of a horizon, (H, S): places among the actions.

    Raises
    ------
    LimitExceededError
        If there is not so much memory.
    """
    most_actions = int(np.diff(model.choice_offsets).max(initial=0))
    dtype: type[Any] = np.uint8 if most_actions <= 256 else np.uint32
    shape = (horizon, model.num_states)
    try:
        return np.zeros(shape, dtype)
    except (MemoryError, ValueError):  # ValueError: beyond what an array can be
        message = (
            f"a policy for each of {horizon:,} steps and {model.num_states:,} states is too large "
            "for this computer's memory. Take a shorter horizon, or Discounted or AverageReward, "
            "whose policies do not depend on the time."
        )
        raise LimitExceededError(
            message,
            states=model.num_states,
            choices=model.num_choices,
            transitions=model.num_transitions,
        ) from None


def check_range(
    model: Model, values: NDArray[np.float64], known: NDArray[np.float64] | None = None
) -> None:
    """Raise InvalidModelError if a value, of any player, is too large for a 64-bit number.

    Parameters
    ----------
    known : (S,), optional
        Values that are known, and may be infinite; NaN for the others.
    """
    finite = np.isfinite(values)
    if known is not None:
        finite |= ~np.isnan(known)
    if not finite.all():
        state = model.state(int(np.argwhere(~finite)[0, 0]))
        message = f"the value of {state!r} is beyond the range of 64-bit floating point."
        raise InvalidModelError(message)


def make_solution(  # noqa: PLR0913 - what a solution consists of
    problem: Problem,
    solver: Any,
    numbers: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    policy: NDArray[np.int64],
    *,
    guarantee: Guarantee,
    status: Status,
    sweeps: int,
    seconds: float,
    relative: bool = False,
) -> Solution:
    """Make the Solution, and raise NotSolvedError if it is not what was asked for.

    Parameters
    ----------
    numbers : (values, lower, upper)
    seconds : float
        How long solving took.
    relative : bool
        Whether a relative tolerance was asked for.
    """
    model = problem.model
    values, lower, upper = numbers
    num_bytes = sum(array.nbytes for array in (*numbers, policy))
    solution = Solution(
        model=model,
        objective=problem.objective,
        solver=solver,
        values=values,
        lower=lower,
        upper=upper,
        policy=policy,
        status=status,
        guarantee=guarantee,
        statistics=Statistics(
            states=model.num_states,
            choices=model.num_choices,
            transitions=model.num_transitions,
            sweeps=sweeps,
            seconds={"compile": 0.0, "explore": 0.0, **model.seconds, "solve": seconds},
            bytes=model.num_bytes + num_bytes,
        ),
    )
    if status in {Status.SWEEP_LIMIT, Status.TIME_LIMIT, Status.ROUNDING}:
        what = {
            Status.SWEEP_LIMIT: "its limit of sweeps",
            Status.TIME_LIMIT: "its limit of time",
            Status.ROUNDING: "the limit of 64-bit rounding",
        }[status]
        way_out = {
            Status.SWEEP_LIMIT: (
                f"Raise {'max_policies' if hasattr(solver, 'max_policies') else 'max_sweeps'}, "
                "loosen tolerance"
            ),
            Status.TIME_LIMIT: "Raise max_seconds, loosen tolerance",
            Status.ROUNDING: "Loosen tolerance",
        }[status]
        width = width_of(lower, upper, relative=relative)
        known = (
            f"every value is known to within {width:.3g}{' of itself' if relative else ''}"
            if guarantee is not Guarantee.NONE and np.isfinite(width)
            else "nothing is proven yet for some values"
        )
        message = (
            f"{type(solver).__name__} stopped at {what} after {sweeps:,} sweeps; {known}. "
            f"{way_out}, or read .solution on this error."
        )
        raise NotSolvedError(message, solution)
    return solution
