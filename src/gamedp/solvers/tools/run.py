"""A solver at work: the numbers of one run, their proofs, and its cost so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from gamedp.bellman import residuals
from gamedp.bellman.enclosures import rounded_outward
from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    is_probability,
    known_at_the_end,
    over_in,
)
from gamedp.reduction import never, quotient_kernels
from gamedp.results.status import Status, width_of
from gamedp.results.step_values import room_for_steps
from gamedp.runtime.floats import UNIT, UPWARD
from gamedp.runtime.limit import ProgressCallback, Reporter
from gamedp.runtime.slices import GATHERED_STATES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.bellman.equation import Equation
    from gamedp.graph.structure import Structure
    from gamedp.model.model import Model
    from gamedp.model.problem import Problem
    from gamedp.reduction import Reduction
    from gamedp.runtime.arrays import Flags, Floats, Integers

    Numbers = tuple[Floats, Floats, Floats]


class Components(NamedTuple):
    """The components that are left to solve, successors first; named as in a model's structure.

    Attributes
    ----------
    component_offsets : (K+1,)
    nontrivial : (K,) bool
    num_cyclic_levels : int
        Largest number of components with cycles on a path.
    """

    component_offsets: Integers
    nontrivial: Flags
    num_cyclic_levels: int

    @property
    def num_components(self) -> int:
        """The number of components (K)."""
        return len(self.nontrivial)

    @property
    def is_acyclic(self) -> bool:
        """Whether none has a cycle."""
        return self.num_cyclic_levels == 0


class DepthFirstResult(NamedTuple):
    """A problem with targets in which play surely leaves all cycles, except for dead ends.

    Attributes
    ----------
    values, errors : (S,) float64
        ``|values - true values| <= errors`` unless states are left; infinite values are exact.
    policy : (S,) int64
    equation : Equation
        Its order contains the states that are left.
    parts : Components
        The components that are left.
    seconds : float
        Duration of the search.
    """

    values: Floats
    errors: Floats
    policy: NDArray[np.int64]
    equation: Equation
    parts: Components
    seconds: float


@attrs.frozen(eq=False)
class RunResult:
    """The result of a run for a problem of S states, solved or not.

    Attributes
    ----------
    values, lower, upper : (S,) float64
    policy : (S,) int64
    status : Status
        Whether the bounds are as close as requested, and if not, the reason.
    sweeps : int
    """

    values: Floats
    lower: Floats
    upper: Floats
    policy: NDArray[np.int64]
    status: Status
    sweeps: int

    @classmethod
    def unknown(cls, model: Model) -> RunResult:
        """Return the answer without bounds if time was up before anything was found."""
        first = model.choice_offsets[:-1]
        infinite = np.full(model.num_states, np.inf)
        policy = np.where(first < model.choice_offsets[1:], first, -1).astype(np.int64)
        values = np.zeros(model.num_states)
        return cls(values, -infinite, infinite, policy, Status.TIME_LIMIT, 0)

    @property
    def numbers(self) -> Numbers:
        """The values, lower and upper bounds."""
        return self.values, self.lower, self.upper

    @property
    def width(self) -> float:
        """The largest distance of an upper from a lower bound."""
        return width_of(self.lower, self.upper)


class Run:
    """A solver at work: the arrays it fills, the limits it keeps, the work it counts.

    Attributes
    ----------
    tolerance : float
        The allowed distance between bounds.
    relative : bool
        Whether `tolerance` is to be multiplied by the absolute value of each state.
    stop : callable
        Returns whether to stop for another reason, such as the limit of a larger computation.
    searched : DepthFirstResult or None
        The part that a search has solved and ordered, if no reduction is needed.
    parts : Structure or Components
        The components, in the order of the equation.
    values, errors : (S,) float64
        ``|values - true values| <= errors`` once they are proven.
    policy : (S,) int64
    visits : (3,) int64
        The number of states visited, and the size of a component, as
        :func:`gamedp.bellman.topological.solve_components` counts them.
    bounds : tuple of two (S,) float64, or None
        Lower and upper bounds, if the solver proves them itself; `errors` do not count then.
    """

    def __init__(
        self,
        problem: Problem,
        tolerance: float,
        progress: ProgressCallback | None,
        max_seconds: float = float("inf"),
        *,
        relative: bool = False,
        stop: Callable[[], bool] = never,
        searched: DepthFirstResult | None = None,
    ) -> None:
        model = problem.model
        self.problem = problem
        self.tolerance = tolerance
        self.relative = relative
        self.max_seconds = max_seconds
        self.stop = stop
        self.reporter = Reporter(progress, "solve")
        self.parts: Structure | Components
        if searched is None:
            self.parts, self.equation = model.structure, problem.equation()
            self.values = np.zeros(model.num_states)
            self.values[model.terminals] = model.payoffs
            self.errors = np.zeros(model.num_states)
            self.policy = np.full(model.num_states, -1, np.int64)
        else:
            self.parts, self.equation = searched.parts, searched.equation
            self.values = searched.values.copy()
            self.errors = searched.errors.copy()
            self.policy = searched.policy.copy()
        self.searched = searched
        self.weights = np.zeros(model.num_states)  # except while a component is proven
        self.needs_sweeps = False  # whether the last proof needed more sweeps over them
        self.visits = np.zeros(3, np.int64)
        self.status = Status.SOLVED
        self.too_wide = Status.ROUNDING  # replaces SOLVED if bounds are too far apart
        self.bounds: tuple[Floats, Floats] | None = None
        self._other_order: tuple[Integers, NDArray[Any]] | None = None
        self.measured = -1, (0, 0)  # a component is measured a few times in a row

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.reporter.spent > self.max_seconds or self.stop()

    @property
    def sweeps(self) -> int:
        """The number of passes over all states, rounded up."""
        inner = max(1, self.problem.model.num_states - len(self.problem.model.terminals))
        return -(-int(self.visits[0]) // inner)

    @property
    def share(self) -> float:
        """The error that one component may add, so that no path adds more than allowed."""
        return 0.4 * self.tolerance / max(1, self.parts.num_cyclic_levels)

    def component(self, number: int) -> tuple[int, int]:
        """Return where in the order a component starts and stops."""
        offsets = self.parts.component_offsets
        return int(offsets[number]), int(offsets[number + 1])

    def reordered(self, start: int, stop: int, states: Integers) -> Equation:
        """Return the equation with the component ``order[start:stop]`` in the order of `states`.

        What it returned before changes with it: there is one other order, with room for all
        components, as they do not share places.
        """
        if self._other_order is None:
            self._other_order = self.equation.order.copy(), self.equation.place.copy()
        order, place = self._other_order
        order[start:stop] = states
        place[states] = np.arange(start, stop)
        views = order.view(), place.view()
        for view in views:
            view.flags.writeable = False  # typed as the equation's, so that kernels compile once
        return self.equation._replace(order=views[0], place=views[1])

    def measure(self, number: int) -> tuple[int, int]:
        """Return the number of choices and of transitions of a component's states."""
        if self.measured[0] == number:
            return self.measured[1]
        start, stop = self.component(number)
        states = self.equation.order[start:stop]
        first = self.equation.graph.choice_offsets[states]
        last = self.equation.graph.choice_offsets[states + 1]
        offsets = self.equation.graph.transition_offsets
        sizes = int((last - first).sum()), int((offsets[last] - offsets[first]).sum())
        self.measured = number, sizes
        return sizes

    def prove_all(self, max_sweeps: int = 1000) -> float:
        """Prove errors for all values, component by component; return the largest.

        Parameters
        ----------
        max_sweeps : int
            Largest number of sweeps over the weights of a component.
        """
        structure = self.parts
        arguments = (self.equation, self.values, self.errors, self.policy)
        needs_sweeps = False
        number = 0
        while number < structure.num_components:
            number = residuals.settle_components_jit(
                number,
                structure.num_components,
                structure.component_offsets,
                structure.nontrivial,
                *arguments,
            )
            if number < structure.num_components:
                self.prove(number, self.tolerance, max_sweeps)
                needs_sweeps |= self.needs_sweeps
                number += 1
        self.needs_sweeps = needs_sweeps
        return float(self.errors.max(initial=0.0))

    def prove(self, number: int, tolerance: float, max_sweeps: int) -> float:
        """Prove errors for the values of a component with cycles; return the width it adds.

        The weights count the steps of the greedy policy first; if that does not suffice, of nearly
        optimal actions; then of all.

        Parameters
        ----------
        number : int
            The component.
        tolerance : float
            The width that is good enough.
        max_sweeps : int
            Largest number of sweeps over the weights.
        """
        start, stop = self.component(number)
        states = self.equation.order[start:stop]
        width = np.inf
        if not self.problem.is_proper:
            self.errors[states] = np.inf
            return float(width)
        weights = self.weights
        self.needs_sweeps = False
        scale = float(np.abs(self.values[states]).max())
        for mode in (residuals.GREEDY, residuals.NEAR, residuals.ALL):
            if self.equation.discount < 1:
                weights[states] = 1 / (1 - self.equation.discount)
            else:
                weights[states] = 1.0
                self._weigh(start, stop, mode, 1e-3 * scale, max_sweeps)
            width = residuals.certify_jit(
                start,
                stop,
                self.equation,
                GATHERED_STATES,
                self.values,
                weights,
                self.errors,
                self.policy,
            )
            if width <= tolerance or self.equation.discount < 1 or self.out_of_time:
                break
            if np.isfinite(width):
                break
        return float(width)

    def better_of(self, states: Integers, width: float, prove: Callable[[], float]) -> float:
        """Prove errors in another way; keep the present ones if they are within a smaller width."""
        arrays = self.values, self.errors, self.policy
        kept = [array[states] for array in arrays]
        other = prove()
        if other < width:
            return other
        for array, parts in zip(arrays, kept, strict=True):
            array[states] = parts
        return width

    def _weigh(self, start: int, stop: int, mode: int, margin: float, max_sweeps: int) -> None:
        for count in range(1, max_sweeps + 1):
            self.reporter.report(
                count, None, f"{count:,} sweeps to prove the values of {stop - start:,} states"
            )
            increase = residuals.weigh_jit(
                start, stop, self.equation, self.values, self.policy, mode, margin, self.weights
            )
            if increase <= 0.5 or self.out_of_time:
                return
        self.needs_sweeps = True

    def end_unproven(self) -> None:
        """Record why values that no longer change are unproven, unless it is rounding."""
        if self.out_of_time:
            self.too_wide = Status.TIME_LIMIT
        elif self.needs_sweeps:
            self.too_wide = Status.SWEEP_LIMIT

    def results(
        self, *, proven: bool = True, reduction: Reduction | None = None
    ) -> tuple[Numbers, NDArray[np.int64]]:
        """Return values, lower and upper bounds, and the policy; set the status accordingly.

        Parameters
        ----------
        proven : bool
            Whether errors can be proven at all.
        reduction : Reduction, optional
            How the problem was derived from the one that is solved.
        """
        problem = self.problem
        if not np.isfinite(self.values).all():
            self._check_range(reduction)
        if not proven:
            self.prove_all()  # for states whose value does not depend on endless play
        low, high = problem.range_of_values() if proven else (-np.inf, np.inf)
        if self.bounds is None:
            model = problem.model if reduction is None else reduction.original.model
            numbers, policy, width = finished(
                model, reduction, self.values, self.errors, self.policy, low, high
            )
        else:
            numbers, policy, width = self._clipped(*self.bounds, reduction, low, high)
        if self.relative:
            width = width_of(*numbers[1:], relative=True)
        if not proven:
            self.status = Status.UNPROVEN if self.status is Status.SOLVED else self.status
        elif self.status is Status.SOLVED:
            self.status = Status.SOLVED if width <= self.tolerance else self.too_wide
        return numbers, policy

    def answer(self, *, proven: bool = True, reduction: Reduction | None = None) -> RunResult:
        """Return the same as an answer."""
        numbers, policy = self.results(proven=proven, reduction=reduction)
        return RunResult(*numbers, policy, self.status, self.sweeps)

    def _check_range(self, reduction: Reduction | None) -> None:
        """Refuse values that are too large for a number, except infinite ones."""
        if reduction is not None:
            known = reduction.project(reduction.known)
            check_range(reduction.original.model, reduction.expand(self.values), known)
            return
        infinite = np.zeros(1) if self.searched is None else self.searched.values
        known = np.where(np.isinf(infinite), infinite, np.nan)
        check_range(self.problem.model, self.values, known)

    def _clipped(
        self,
        lower: Floats,
        upper: Floats,
        reduction: Reduction | None,
        low: float,
        high: float,
    ) -> tuple[Numbers, NDArray[np.int64], float]:
        """Return the same if the solver has found bounds itself."""
        infinite = (lower == np.inf) | (upper == -np.inf)
        np.clip(lower, low, None, out=lower, where=~infinite)
        np.clip(upper, None, high, out=upper, where=~infinite)
        np.clip(self.values, lower, upper, out=self.values)
        width = width_of(lower, upper)
        if reduction is None:
            return (self.values, lower, upper), self.policy, width
        numbers = (
            reduction.expand(self.values),
            reduction.expand(lower, -1),
            reduction.expand(upper, 1),
        )
        return numbers, reduction.expand_policy(self.policy), max(width, width_of(*numbers[1:]))


MOST_SWEEPS = 10_000
"""Largest number of steps of play examined to bound its length: about a second for small models."""


def finished(
    model: Model,
    reduction: Reduction | None,
    values: Floats,
    errors: Floats,
    policy: NDArray[np.int64],
    low: float,
    high: float,
) -> tuple[Numbers, NDArray[np.int64], float]:
    """Return values, bounds and the policy for the states of a model, and the width.

    Parameters
    ----------
    model : Model
        A model with S states.
    reduction : Reduction or None
        How the problem was derived from the model's, if it is another one.
    values, errors, policy : (S',)
        Results for the problem that was solved.
    low, high : float
        Bounds of all finite values, known before solving.
    """
    if reduction is None:
        # Of the types that reductions have, so that the kernel compiles only once.
        none, choices = np.empty(0, model.successors.dtype), np.empty(0, np.int64)
        choices.flags.writeable = False
        expanding = (none, np.empty(0), none, choices)
    else:
        small, model = reduction.quotient, reduction.model
        expanding = (small.class_of, reduction.known, reduction.policy, small.choice_of)
    numbers = (np.empty(model.num_states), np.empty(model.num_states), np.empty(model.num_states))
    choices = np.empty(model.num_states, np.int64)
    width = quotient_kernels.finish_jit(
        values, errors, policy, low, high, *expanding, model.choice_offsets, *numbers, choices
    )
    if reduction is not None:
        reduction.leave(choices)
        value, lower, upper = numbers
        numbers = (
            reduction.project(value),
            reduction.project(lower, -1),
            reduction.project(upper, 1),
        )
        choices = reduction.project_policy(choices)
        width = max(width, width_of(*numbers[1:]) if reduction.recasts else 0.0)
    return numbers, choices, width


def outward(values: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper bounds, at least as wide as values minus and plus errors."""
    lower = np.nextafter(values - errors, -np.inf)
    upper = np.nextafter(values + errors, np.inf)
    exact = errors == 0
    lower[exact] = upper[exact] = values[exact]
    return lower, upper


def room_for_policies(model: Model, horizon: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return zeros for a policy of each step of a horizon, (H, S): positions among the actions.

    Raises
    ------
    LimitExceededError
        If there is not enough memory.
    """
    most_actions = int(np.diff(model.choice_offsets).max(initial=0))
    dtype: type[Any] = np.uint8 if most_actions <= 256 else np.uint32
    message = (
        f"a policy for each of {horizon:,} steps and {model.num_states:,} states is too large "
        "for this computer's memory. Take a shorter horizon, or Discounted or AverageReward, "
        "whose policies do not depend on the time."
    )
    return room_for_steps(model, (horizon, model.num_states), dtype, message)


def sweep_horizon(
    run: Run, horizon: int
) -> tuple[NDArray[np.unsignedinteger[Any]], Numbers | None]:
    """Sweep once for each step, and keep the best choices for each number of steps to go.

    Parameters
    ----------
    run : Run
        Its values, errors and policy are filled in, for all steps to go.
    horizon : int
        H steps.

    Returns
    -------
    step_policies : (H, S)
        Positions among the actions of a state; row h is for h + 1 steps to go.
    following : (values, lower, upper) or None
        The values with one step fewer to go, if there is any.
    """
    model = run.problem.model
    step_policies = room_for_policies(model, horizon)
    first_choices = model.choice_offsets[:-1]
    objective: Any = run.problem.objective
    counts, over = np.diff(model.choice_offsets), over_in(objective)
    states = np.flatnonzero(counts if over is None else np.where(over, 0, counts))
    scratch = np.empty((2, int(counts.max(initial=0))))
    chooses = len(scratch[0]) > 1
    values, errors = known_at_the_end(objective, model), run.errors
    if horizon and over is not None:
        run.policy[over] = np.where(counts, first_choices, -1)[over]  # any choice will do
    new_values, new_errors = values.copy(), errors.copy()
    following = None
    for step in range(horizon):
        residuals.step_jit(
            run.equation, states, values, errors, new_values, new_errors, run.policy, *scratch
        )
        values, errors, new_values, new_errors = new_values, new_errors, values, errors
        if chooses:  # or the zeros are right, and take no memory before they are written
            step_policies[step] = np.maximum(run.policy - first_choices, 0)
        run.visits[0] += len(states)
        run.reporter.report(step + 1, horizon, f"{step + 1:,} steps to go")
    if horizon:
        before = attrs.evolve(run.problem, objective=attrs.evolve(objective, horizon=horizon - 1))
        following = (new_values, *widened(before, *outward(new_values, new_errors)))
    run.values, run.errors = values, errors
    return step_policies, following


def check_range(model: Model, values: Floats, known: Floats | None = None) -> None:
    """Raise InvalidModelError if a value, of any player, is too large for a 64-bit number.

    Parameters
    ----------
    known : (S,), optional
        Known values, which may be infinite; NaN for the others.
    """
    finite = np.isfinite(values)
    if known is not None:
        finite |= ~np.isnan(known)
    if not finite.all():
        state = model.state(int(np.argwhere(~finite)[0, 0]))
        message = f"the value of {shown(state)} is beyond the range of 64-bit floating point."
        raise InvalidModelError(message)


def widened(
    problem: Problem,
    lower: Floats,
    upper: Floats,
    rounding: tuple[float, float, float] | None = None,
) -> tuple[Floats, Floats]:
    """Return bounds for the payoffs and rewards of the rules, which doubles may not hold.

    With payoffs off by at most p and rewards by r, the value of every policy is the same to within
    p, and r for each step, discounted. If steps are not bounded, but nothing is negative (or
    nothing positive), it is the same to within a part of itself, the largest part by which a number
    is off; the same then holds for the optimum. Otherwise it takes a bound of the expected steps.

    Parameters
    ----------
    problem : Problem
    lower, upper : (S,)
    rounding : (float, float, float), optional
        As in :class:`gamedp.Model`; by default the problem's own.

    Raises
    ------
    UnsupportedProblemError
        If rewards of both signs are rounded and play may last for ever, or very long.
    """
    model, objective = problem.model, problem.objective
    payoff, reward, part = rounding or problem.rounding
    if is_probability(objective) or not (payoff or reward):
        return lower, upper
    amount: Any = payoff
    if reward > 0:
        if isinstance(objective, Discounted):
            amount = payoff + reward / (1 - objective.discount) * (1 + 2.0**-40)
        elif isinstance(objective, FiniteHorizon):
            amount = payoff + reward * objective.horizon
        elif isinstance(objective, AverageReward):
            amount = reward
        elif not model.structure.cycle():
            amount = payoff + reward * model.structure.num_levels
        elif problem.has_one_sign and not model.has_swaps and part < 0.5:
            most = np.maximum(np.abs(lower), np.abs(upper))
            amount = np.where(np.isfinite(most), most * 2 * part, 0.0)
        else:
            amount = payoff + reward * _most_steps(model)
        if not np.isfinite(amount).all():
            message = (
                "some rewards are not 64-bit numbers, and with rewards of both signs their "
                "rounding adds up for as long as play lasts. Use ExactPolicyIteration, or give "
                "rewards that are (by float(...))."
            )
            raise UnsupportedProblemError(message)
    return rounded_outward(lower, upper, amount * (1 + 2.0**-40))


def _most_steps(model: Model) -> float:
    """Return a bound of the expected number of steps under any policy; may be infinite.

    If it lasts beyond m steps with probability at most q from everywhere, that is m / (1 - q).
    """
    if not model.structure.always_ends:
        return np.inf
    inner = np.flatnonzero(np.diff(model.choice_offsets))
    starts, rows = model.choice_offsets[inner], model.transition_offsets[:-1]
    shares = np.abs(model.probabilities)
    longest = int(np.diff(model.transition_offsets).max(initial=0))
    lasts = np.zeros(model.num_states)
    lasts[inner] = 1.0
    for steps in range(1, MOST_SWEEPS):
        of_choices = np.add.reduceat(shares * lasts[model.successors], rows)
        lasts[inner] = np.maximum.reduceat(of_choices, starts)
        most = float(lasts.max(initial=0.0)) * (1 + 2 * steps * (longest + 8) * UNIT)
        if most <= 0.5:
            return steps / (1 - most) * UPWARD
    return np.inf


def finer_tolerance(lower: Floats, upper: Floats, tolerance: float) -> float:
    """Return an absolute tolerance that may suffice for a relative one, by the bounds so far."""
    with np.errstate(invalid="ignore", over="ignore"):  # equal ones may be infinite
        wide = upper - lower > tolerance * np.maximum(lower, -upper)
    apart = (lower != upper) & wide
    most = np.maximum(np.abs(lower), np.abs(upper))[apart]
    return 0.5 * tolerance * float(most.min(initial=np.inf))
