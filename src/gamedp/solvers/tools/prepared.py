"""A problem with its known facts, found once before numbers are iterated and then shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman import depth_first
from gamedp.bellman.equation import Equation, unordered_equation
from gamedp.errors import UnsupportedProblemError, shown
from gamedp.graph.graph import Graph
from gamedp.model.objectives import (
    AverageReward,
    FiniteHorizon,
    Reachability,
    TotalReward,
    has_target,
)
from gamedp.model.problem import Problem
from gamedp.reduction import (
    OutOfTimeError,
    Reduction,
    UndefinedTotalError,
    in_order,
    needs_reduction,
    never,
    reduce,
)
from gamedp.results.status import Status
from gamedp.runtime.limit import Limit, Reporter
from gamedp.runtime.slices import VISITS
from gamedp.solvers.request import (
    Refusal,
    Support,
    Undecided,
    refused_endless_value,
    refused_opponents,
)
from gamedp.solvers.tools.opponents import Opponents, find_opponents
from gamedp.solvers.tools.policies import improve_policies
from gamedp.solvers.tools.run import (
    Components,
    DepthFirstResult,
    Run,
    RunResult,
    check_range,
    widened,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Floats, Integers
    from gamedp.runtime.limit import ProgressCallback

MIN_ORDERED_TRANSITIONS = 1 << 15
"""Least number of transitions for which states are put in the order of the sweeps: what is smaller
stays in the processor's cache."""

UNKNOWN = Undecided()
"""A fact that has not been asked for yet."""


def _no_time() -> bool:
    """Return True: there is no time for numbers, and only the graph is examined."""
    return True


class Prepared:
    """A problem, and what is known of it before numbers are iterated.

    Each fact is found when first needed, by passes over the graph alone, and kept for all that
    share the object: the choice of a solver, and the solver. Whatever the graph cannot decide is an
    open case until :meth:`decide` decides it numerically. No fact changes.

    Attributes
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem, progress: ProgressCallback | None = None) -> None:
        self.problem = problem
        self._progress = progress
        self._searched: DepthFirstResult | Undecided | None = UNKNOWN
        self._reduction: Reduction | Refusal | Undecided | None = UNKNOWN
        self._opponents: Opponents | Refusal | Undecided = UNKNOWN
        self._in_order: Reduction | None = None

    @property
    def searched(self) -> DepthFirstResult | None:
        """The result of a depth-first search, if there is a target and nothing needs to be reduced.

        Deciding this requires most of the work of solving.
        """
        if isinstance(self._searched, Undecided):
            self._searched = search_depth_first(self.problem, self._progress)
        return self._searched

    @property
    def depth_first_solution(self) -> DepthFirstResult | None:
        """The same if it is the whole answer: no cycle that matters is left."""
        found = self.searched
        return found if found is not None and not found.parts.num_components else None

    @property
    def reduction(self) -> Reduction | Refusal | Undecided | None:
        """The reduction that makes the problem proper; None if it is proper already.

        Opponents who can prolong play for ever are left to deflation: see :attr:`proper`.
        """
        if self._reduction is UNKNOWN:
            self._reduction = find_reduction(self.problem, _no_time)
        return self._reduction

    @property
    def proper(self) -> Reduction | Refusal | Undecided | None:
        """The same for solvers that do not deflate: refused if play can be prolonged for ever."""
        found = self.reduction
        if isinstance(found, Reduction) and found.problem.needs_deflation:
            return refused_opponents(found)
        return found

    def in_order(self) -> Reduction | None:
        """Return the reduction, once it is decided, to states in the order of the sweeps.

        That is the reduction itself, or None, where it makes no difference.
        """
        found = self.reduction
        assert not isinstance(found, Undecided | Refusal)  # noqa: S101 - `require` comes first
        model = (self.problem if found is None else found.problem).model
        if model.num_transitions < MIN_ORDERED_TRANSITIONS or (
            (model.structure.order[1:] > model.structure.order[:-1]).all()
        ):
            return found
        if self._in_order is None:
            self._in_order = in_order(self.problem, found)
        return self._in_order

    @property
    def opponents(self) -> Opponents | Refusal | Undecided:
        """The two opponents of the problem, for policy against policy."""
        if self._opponents is UNKNOWN:
            self._opponents = self._find_opponents(_no_time)
        return self._opponents

    def _find_opponents(self, out_of_time: Callable[[], bool]) -> Opponents | Refusal | Undecided:
        def reduce(problem: Problem) -> Reduction | Refusal | Undecided | None:
            if problem is not self.problem:
                return find_reduction(problem, out_of_time)
            self._find_reduction(out_of_time)
            return self._reduction

        return find_opponents(self.problem, out_of_time, reduce)

    def decide(self, out_of_time: Callable[[], bool] = never) -> None:
        """Decide numerically what makes the problem proper, if the graph does not tell.

        Parameters
        ----------
        out_of_time : callable
            Called now and then; returns whether to give up.

        Raises
        ------
        OutOfTimeError
            If it returns True: the case stays open.
        """
        self._find_reduction(out_of_time)
        if isinstance(self._reduction, Undecided):
            raise OutOfTimeError

    def decide_opponents(self, out_of_time: Callable[[], bool] = never) -> None:
        """Decide numerically who the opponents are, or that there are none; as :meth:`decide`."""
        if isinstance(self._opponents, Undecided):
            self._opponents = self._find_opponents(out_of_time)
        if isinstance(self._opponents, Undecided):
            raise OutOfTimeError

    def _find_reduction(self, out_of_time: Callable[[], bool]) -> None:
        if isinstance(self._reduction, Undecided):
            self._reduction = find_reduction(self.problem, out_of_time, self._reduction)

    def support_of_fixed_points(self) -> Support:
        """Return the support of solvers of Bellman's equation: neither horizons nor max-n."""
        problem = self.problem
        if isinstance(problem.objective, FiniteHorizon):
            return Support(False, "does not support finite horizons; BackwardInduction does.")
        if isinstance(problem.objective, AverageReward):
            return Support(
                False, "does not support long-run averages; RelativeValueIteration does."
            )
        if problem.model.is_general_sum:
            return Support(False, "is for one or two players; BackwardInduction supports more.")
        found = self.proper
        if isinstance(found, Refusal) and (
            found.is_undefined or has_target(problem.objective) or refused_endless_value(problem)
        ):
            return Support(False, found.reason)
        return Support(True, is_open=isinstance(found, Undecided))

    def support_of_proper(self) -> Support:
        """Return the support of solvers of fixed points that need play to end, or to be made to."""
        support = self.support_of_fixed_points()
        return support_by(self.proper) if support else support

    def support_of_deflating(self) -> Support:
        """Return the support of solvers of proper problems that deflate bounds of two opponents."""
        support = self.support_of_proper()
        if support or self.reduction is None:
            return support
        return support_by(self.reduction)

    def support_of_rationals(self) -> Support:
        """Return the support of solvers in rational numbers, however long they take."""
        problem = self.problem
        if isinstance(problem.objective, AverageReward):
            return support_of_averages(problem)
        if isinstance(problem.objective, FiniteHorizon):
            return Support(not problem.model.is_general_sum, "is for one player or two opponents.")
        return support_by(self.opponents)


def prepare(problem: Problem | Prepared, progress: ProgressCallback | None = None) -> Prepared:
    """Return a problem with its known facts; a prepared one unchanged.

    Parameters
    ----------
    problem : Problem or Prepared
    progress : callable, optional
        Called with a :class:`gamedp.Progress` now and then.
    """
    return problem if isinstance(problem, Prepared) else Prepared(problem, progress)


def support_by(found: object) -> Support:
    """Return the support of a solver that needs exactly what was found: yes, no, or open."""
    if isinstance(found, Refusal):
        return Support(False, found.reason)
    return Support(True, is_open=isinstance(found, Undecided))


def support_of_averages(problem: Problem) -> Support:
    """Return whether one player makes all choices, as solvers of averages require."""
    model = problem.model
    if model.num_players > 1 and (model.is_general_sum or model.has_swaps or _takes_turns(model)):
        return Support(
            False,
            "is for one player: with opponents, an end component has no single gain. Use "
            "Discounted with a discount near one, or FiniteHorizon.",
        )
    return Support(True)


def _takes_turns(model: Model) -> bool:
    """Return whether several players make choices."""
    movers = model.players[np.diff(model.choice_offsets) > 0]
    return len(movers) > 0 and bool((movers != movers[0]).any())


MAX_SEARCHED_TRANSITIONS = 1 << 14
"""Transitions beyond which a model with choices is not searched. By then it likely has an end
component, which the search may only reach at its end; and on such a model passes over sets cost
less than the search."""


def search_depth_first(
    problem: Problem, progress: ProgressCallback | None = None
) -> DepthFirstResult | None:
    """Search a problem with targets depth first; return the results, and what is left to solve.

    None for other problems, for those with choices beyond `MAX_SEARCHED_TRANSITIONS`, and as soon
    as play turns out to be able to stay somewhere for ever where someone chooses, or one player
    alone can make a total infinite.
    """
    model, objective = problem.model, problem.objective
    if model.is_general_sum or not has_target(objective) or isinstance(objective, FiniteHorizon):
        return None
    free = model.num_choices > model.num_states - len(model.terminals)
    if free and model.num_transitions > MAX_SEARCHED_TRANSITIONS:
        return None
    reporter = Reporter(progress, "solve")
    probable = isinstance(objective, Reachability)
    size, dtype = model.num_states, model.successors.dtype
    status = np.zeros(size, np.int8)
    status[model.terminals] = depth_first.MISSED
    values = np.zeros(size)
    rewards = model.rewards
    if isinstance(objective, Reachability):
        if objective.allowed is not None:
            status[~objective.allowed] = depth_first.MISSED
        status[objective.target] = depth_first.SURE
        values[objective.target] = 1.0
        rewards = np.zeros(model.num_choices)
        rewards.flags.writeable = False
    elif isinstance(objective, TotalReward) and objective.until is not None:
        status[objective.until] = depth_first.DONE
        values[model.terminals] = np.where(objective.until[model.terminals], model.payoffs, np.inf)
    equation = unordered_equation(
        Graph(model.choice_offsets, model.transition_offsets, model.successors),
        model.probabilities,
        rewards,
        problem.maximise,
    )
    errors = np.zeros(size)
    policy = model.choice_offsets[:-1].copy()
    policy[model.terminals] = depth_first.NONE
    cursor = np.zeros(depth_first.CURSOR, np.int64)
    cursor[depth_first.WAITING] = size
    scratch = (
        np.empty(size, dtype),
        np.empty(size, np.int64),
        np.empty(size, np.bool_),
        np.empty(size, dtype),
        np.zeros(size, dtype),
    )
    order = np.empty(size, dtype)
    place = np.full(size, -1, dtype).view(f"u{dtype.itemsize}")
    offsets = np.zeros(size + 1, dtype)
    nontrivial = np.empty(size, np.bool_)
    found = depth_first.MORE
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused below
        while found == depth_first.MORE:
            found = depth_first.search_jit(
                VISITS,
                equation,
                probable,
                cursor,
                *scratch,
                status,
                values,
                errors,
                policy,
                order,
                place,
                offsets,
                nontrivial,
            )
            done = size if found == depth_first.ALL else int(cursor[depth_first.SEEN])
            reporter.report(done, size, f"{done:,} of {size:,} states seen")
    if found != depth_first.ALL:
        return None
    if not probable:
        check_range(model, np.where(status == depth_first.MISSED, 0.0, values))
    count = int(cursor[depth_first.COMPONENTS])
    kept = order[: offsets[count]], place, offsets[: count + 1], nontrivial[:count]
    for array in kept:
        array.flags.writeable = False  # typed as in a structure, so kernels compile once
    equation = Equation(*equation[:-2], *kept[:2])
    parts = Components(*kept[2:], int(cursor[depth_first.LEVELS]))
    return DepthFirstResult(values, errors, policy, equation, parts, reporter.seconds)


def find_reduction(
    problem: Problem,
    out_of_time: Callable[[], bool] = never,
    undecided: Undecided | None = None,
) -> Reduction | Refusal | Undecided | None:
    """Return the reduction that makes a problem proper, None if it is, or why there is none.

    Parameters
    ----------
    problem : Problem
    out_of_time : callable
        Called before numbers are iterated, and now and then on the way; returns whether to stop.
    undecided : Undecided, optional
        What is already known of the graph.

    Returns
    -------
    Undecided
        If no time is left to find it out.
    """
    if not needs_reduction(problem):
        return None
    if refusal := refused_endless_value(problem):
        return Refusal(refusal)
    reduction = None if undecided is None else undecided.reduction
    try:
        reduction = reduction or reduce(problem, out_of_time)
        states, limsups = reduction.open_cases()
        if not len(states):
            return reduction
        return _decided(reduction, states, limsups, out_of_time)
    except UnsupportedProblemError as error:
        return Refusal(str(error), isinstance(error, UndefinedTotalError))
    except OutOfTimeError:
        return Undecided(reduction)


def _decided(
    reduction: Reduction,
    states: Integers,
    limsups: Floats,
    out_of_time: Callable[[], bool],
) -> Reduction | Refusal:
    """Return the reduction, unless it might be better to earn and lose in turn for ever."""
    if out_of_time():
        raise OutOfTimeError
    small = reduction.problem
    size = max(
        float(np.abs(numbers).max(initial=0.0)) for numbers in (small.model.rewards, limsups)
    )
    run = Run(small, 1e-9 * size, None, stop=out_of_time)
    with np.errstate(over="ignore", invalid="ignore"):
        improve_policies(run)
        if run.status is Status.TIME_LIMIT:
            raise OutOfTimeError
        (_, lower, upper), _ = run.results()
    lower, upper = reduction.expand(lower), reduction.expand(upper)
    maximises = reduction.original.objective.optimum == "max"
    worse = upper[states] < limsups if maximises else lower[states] > limsups
    if not worse.any():
        return reduction
    name = reduction.original.model.state(int(states[worse.argmax()]))
    return Refusal(
        f"finds no total around state {shown(name)}: to go on for ever there earns and loses in "
        "turn, and may be better than to stop, but such sums go up and down without a limit. Use "
        "AverageReward, Discounted, or TotalReward with until."
    )


def solve_process(problem: Problem, tolerance: float, max_seconds: float) -> RunResult:
    """Solve a problem as :class:`gamedp.solvers.PolicyIteration` does, as far as possible.

    Parameters
    ----------
    problem : Problem
        A problem of one player, or of two who cannot keep each other from an end.
    tolerance : float
    max_seconds : float
        Time limit.

    Raises
    ------
    UnsupportedProblemError
        If nothing makes it proper.
    InvalidModelError
        If a value is beyond the range of 64-bit numbers.
    """
    limit = Limit(max_seconds)
    prepared = prepare(problem)
    try:
        prepared.decide(limit)
    except OutOfTimeError:
        return RunResult.unknown(problem.model)
    support = prepared.support_of_proper()
    if not support:
        message = f"PolicyIteration {support.reason}"
        raise UnsupportedProblemError(message)
    reduction = prepared.proper if isinstance(prepared.proper, Reduction) else None
    proper = problem if reduction is None else reduction.problem
    run = Run(proper, tolerance, None, limit.left)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused at the end
        improve_policies(run)
        answer = run.answer(proven=proper.is_proper, reduction=reduction)
    if any(problem.model.rounding) and proper.is_proper:
        lower, upper = widened(problem, answer.lower, answer.upper)
        answer = attrs.evolve(answer, lower=lower, upper=upper)
        if answer.status is Status.SOLVED and not answer.width <= tolerance:
            answer = attrs.evolve(answer, status=Status.ROUNDING)
    return answer
