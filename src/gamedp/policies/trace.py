"""The classical methods step by step: the result of every sweep or improvement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import enclosed_sums, estimated_sums, rounded_outward
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.model.objectives import Discounted, Objective, TotalReward, sum_of_values
from gamedp.model.problem import Problem
from gamedp.policies.policy import as_policies
from gamedp.policies.solving import solved_problem
from gamedp.results.base import bounds_at_start, mean_at_start
from gamedp.results.columns import actions_in, fields_of, joined
from gamedp.runtime.notebook import html_rows
from gamedp.runtime.options import checked_whole
from gamedp.solvers.request import checked_objective

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from gamedp.policies.policy import PolicyLike
    from gamedp.runtime.arrays import Floats


MARGIN = 1e-12
"""Relative margin by which an action must be better to replace the policy's, so that rounding does
not."""

MOST_SHOWN, STEPS_AT_ENDS = 12, 5
"""Largest number of steps that notebooks show; number of the first and last steps shown
otherwise."""


@attrs.frozen(eq=False, repr=False)
class Trace:
    """The results of a method step by step: K sweeps or policies, over S states.

    Attributes
    ----------
    model : Model
    objective : Objective
    kind : {"sweeps", "improvements"}
    values : (K, S) float64
        The values after each sweep, beginning with the initial ones; or of each policy.
    lower, upper : (K, S) float64
        Proven bounds: of the solution for sweeps, infinite if nothing is proven; of the policy's
        own values for improvements.
    policies : (K, S) int64
        The number of the choice in each state, -1 in terminal states: the best by the values so far
        for sweeps; the policy itself for improvements.
    """

    model: Model
    objective: Objective
    kind: str
    values: Floats
    lower: Floats
    upper: Floats
    policies: NDArray[np.int64]

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        for array in (self.values, self.lower, self.upper, self.policies):
            array.flags.writeable = False

    def __repr__(self) -> str:
        """Return the length in short."""
        return f"<Trace of {len(self.values):,} {self._steps} of {self.model!r}>"

    def _repr_html_(self) -> str:
        """Return the first and last steps as a table for notebooks, with the values at a start."""
        count = len(self.values)
        places = (
            range(count)
            if count <= MOST_SHOWN
            else [*range(STEPS_AT_ENDS), *range(count - STEPS_AT_ENDS, count)]
        )
        changes = ["", *(f"{change:.3g}" for change in self.changes.tolist())]
        rows = []
        for place in places:
            value, low, high = self._at_start(place)
            bounds = f"{low:.10g} … {high:.10g}"
            rows.append((str(place), f"{value:.10g}", bounds, changes[place]))
        if count > MOST_SHOWN:
            rows.insert(STEPS_AT_ENDS, ("…", "", "", ""))
        return html_rows([self.step, "value at the start", "bounds", "largest change"], rows)

    def _at_start(self, place: int) -> tuple[float, float, float]:
        """Return the mean value over the initial states after a step, and its bounds."""
        model = self.model
        value, low, high = (
            each[place, model.initial_states] for each in (self.values, self.lower, self.upper)
        )
        total = sum_of_values(self.objective, model.constant_sum) or 0.0
        mean = mean_at_start(model, value, value, total=total)
        return mean, *bounds_at_start(model, low, high, total=total)

    @property
    def _steps(self) -> str:
        return "policies" if self.kind == "improvements" else "rows of values"

    @property
    def step(self) -> str:
        """The word for a row: ``"sweep"`` or ``"policy"``."""
        return "policy" if self.kind == "improvements" else "sweep"

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return a row for each state in each sweep, or of each policy, as columns.

        First comes its number, `sweep` or `policy`; then the fields of the state, `value`, the
        proven bounds `lower` and `upper`, and the `action` of the policy, as in
        :meth:`gamedp.Solution.to_columns`.

        Returns
        -------
        dict of str to (K * S,) array

        Examples
        --------
        >>> import gamedp
        >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
        >>> columns = trace_sweeps(model, gamedp.Discounted(0.5), sweeps=2).to_columns()
        >>> list(columns)
        ['sweep', 'state', 'value', 'lower', 'upper', 'action']
        >>> columns["sweep"].tolist(), columns["value"].tolist()
        ([0, 1, 2], [0.0, 1.0, 1.5])
        """
        steps, states = self.values.shape
        chosen = self.policies.ravel()
        labels = np.append(self.model.action_labels, 0)[chosen]
        number = np.repeat(np.arange(steps), states)
        found = {
            self.step: number,
            "value": self.values.ravel(),
            "lower": self.lower.ravel(),
            "upper": self.upper.ravel(),
            **actions_in(self.model, np.ma.masked_array(labels, chosen < 0)),
        }
        fields = {name: np.tile(field, steps) for name, field in fields_of(self.model).items()}
        return {self.step: number} | joined(fields, found)

    @property
    def changes(self) -> Floats:
        """The largest change of a value from each row to the next; (K-1,)."""
        changes: Floats = np.abs(np.diff(self.values, axis=0)).max(axis=1, initial=0.0)
        return changes

    @property
    def actions(self) -> NDArray[np.int64]:
        """The actions of the policies by `action_labels`; (K, S), -1 in terminal states."""
        labels = self.model.action_labels
        found: NDArray[np.int64] = np.where(self.policies >= 0, labels[self.policies], -1)
        return found


@attrs.frozen
class _Operator:
    """Bellman's operator of a problem with one equation, in plain numpy."""

    model: Model
    objective: TotalReward | Discounted

    @property
    def discount(self) -> float:
        return getattr(self.objective, "discount", 1.0)

    @property
    def owners(self) -> NDArray[np.int64]:
        counts = np.diff(self.model.choice_offsets)
        return np.repeat(np.arange(self.model.num_states), counts)

    def of_choices(self, values: Floats) -> Floats:
        """Return the value of each choice, given the values of the states."""
        model = self.model
        after = estimated_sums(
            model.transition_offsets, model.probabilities, values[model.successors]
        )
        found: Floats = model.rewards + self.discount * after
        return found

    def enclosed(self, values: Floats, probabilities: Floats | None) -> tuple[Floats, Floats]:
        """Return bounds of the values of the states after one sweep, by a policy or the best."""
        model = self.model
        offsets, after = model.choice_offsets, values[model.successors]
        earned = rounded_outward(model.rewards, model.rewards, model.rounding[1])
        of_choices = enclosed_sums(
            model.transition_offsets,
            model.probabilities,
            after,
            after,
            factor=self.discount,
            constants=earned,
        )
        if probabilities is not None:
            return enclosed_sums(offsets, probabilities, *of_choices)
        inner = np.flatnonzero(np.diff(offsets))
        most = (model.players[inner] == 0) == (self.objective.optimum == "max")
        found = np.zeros((2, model.num_states))
        for row, numbers in zip(found, of_choices, strict=True):
            if len(inner):
                greatest = np.maximum.reduceat(numbers, offsets[inner])
                row[inner] = np.where(most, greatest, np.minimum.reduceat(numbers, offsets[inner]))
        return found[0], found[1]

    def of_states(
        self, choices: Floats, current: NDArray[np.int64], width: float = 0.0
    ) -> NDArray[np.int64]:
        """Return the best choice of each state; the current one unless another is better.

        Values that are known to within `width` cannot distinguish smaller differences.
        """
        model, best = self.model, current.copy()
        most = (model.players == 0) == (self.objective.optimum == "max")
        signed = np.where(most[self.owners], choices, -choices)
        inner = np.flatnonzero(np.diff(model.choice_offsets))
        top = np.full(model.num_states, -np.inf)
        top[inner] = np.maximum.reduceat(signed, model.choice_offsets[inner]) if len(inner) else 0.0
        hits = np.flatnonzero(signed >= top[self.owners])[::-1]
        first = current.copy()
        first[self.owners[hits]] = hits  # the first of equally good ones is written last
        known = inner[current[inner] >= 0]
        best[inner] = first[inner]
        margin = MARGIN * np.maximum(1.0, np.abs(top[known])) + 2 * width
        stays = signed[current[known]] >= top[known] - margin
        best[known[stays]] = current[known[stays]]
        return best


def _operator(model: Any, objective: Objective | None) -> _Operator:
    """Return the operator of a problem, or raise if there is none."""
    asked = checked_objective(objective)
    if not isinstance(model, Model):
        message = f"a trace is of a Model, not of {shown(model)}; gamedp.compile makes one."
        raise InvalidParameterError(message)
    plain = isinstance(asked, Discounted) or (
        isinstance(asked, TotalReward) and asked.until is None
    )
    if not plain or model.is_general_sum or model.has_swaps:
        message = (
            "a trace is of a discounted or total reward without targets, for one or two players "
            "who keep their places."
        )
        raise UnsupportedProblemError(message)
    Problem(model, asked)  # refuses what no solver would do either
    return _Operator(model, asked)  # type: ignore[arg-type] # it is one of these


def _probabilities(model: Model, given: PolicyLike) -> Floats:
    """Return a policy's probability of each choice; it must be defined in every state."""
    (policy,) = as_policies([given], model)
    inner = np.flatnonzero(np.diff(model.choice_offsets))
    if len(inner):
        said = np.logical_or.reduceat(policy.probabilities > 0, model.choice_offsets[inner])
        if not said.all():
            state = model.state(int(inner[np.flatnonzero(~said)[0]]))
            message = f"{policy.name} says nothing in {shown(state)}; a trace is of all states."
            raise InvalidParameterError(message)
    return policy.probabilities


def trace_sweeps(
    model: Model,
    objective: Objective | None = None,
    *,
    policy: PolicyLike | None = None,
    start: ArrayLike | None = None,
    sweeps: int = 100,
    tolerance: float = 0.0,
) -> Trace:
    """Apply Bellman's operator to all states repeatedly, and keep every row.

    This is value iteration as in textbooks (Jacobi sweeps); with a `policy`, the evaluation of that
    policy by sweeps. To solve models, use :func:`gamedp.solve`: this function is for study.

    With a discount b, the true values lie in ``v + b/(1-b) * [min d, max d]``, d being the last
    change (Puterman [1]_, theorem 6.6.3), and the bounds here count rounding besides. Without one,
    a small change proves nothing.

    Parameters
    ----------
    model : Model
    objective : optional
        :class:`gamedp.Discounted` or :class:`gamedp.TotalReward`, the default.
    policy : optional
        As for :func:`gamedp.evaluate`; it may randomise. The best actions if not given.
    start : (S,) array_like, optional
        The values to begin with; 0 if not given. Terminal states have their payoffs.
    sweeps : int
        Largest number of sweeps.
    tolerance : float
        Stop once no value changes by more than this.

    Raises
    ------
    InvalidParameterError
        If an argument is not a number or a policy, or not of this model.
    UnsupportedProblemError
        If the objective has targets, or players swap places.

    References
    ----------
    .. [1] M. Puterman, "Markov Decision Processes", Wiley 1994.

    Examples
    --------
    A reward of 1 per step, at a discount of 1/2:

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> trace = trace_sweeps(model, gamedp.Discounted(0.5), sweeps=3)
    >>> trace.values[:, 0].tolist()
    [0.0, 1.0, 1.5, 1.75]
    >>> bool(trace.lower[1, 0] <= 2 <= trace.upper[1, 0])
    True
    """
    operator = _operator(model, objective)
    sweeps = checked_whole("sweeps", sweeps, 0)
    if not tolerance >= 0:
        message = f"tolerance is {shown(tolerance)}; it must be 0 or more."
        raise InvalidParameterError(message)
    probabilities = None if policy is None else _probabilities(model, policy)
    values = np.zeros(model.num_states) if start is None else np.array(start, np.float64)
    if values.shape != (model.num_states,) or not np.isfinite(values).all():
        message = f"start must be one finite number for each of the {model.num_states:,} states."
        raise InvalidParameterError(message)
    values[model.terminals] = model.payoffs
    inner = np.diff(model.choice_offsets) > 0
    nothing = np.full(model.num_states, -1, np.int64)
    unknown = np.full((2, model.num_states), np.inf)
    unknown[0] *= -1
    unknown[:, model.terminals] = rounded_outward(model.payoffs, model.payoffs, model.rounding[0])
    rows = [(values, unknown[0], unknown[1])]
    policies = [operator.of_states(operator.of_choices(values), nothing)]
    for _ in range(sweeps):
        choices = operator.of_choices(values)
        new = values.copy()
        if probabilities is None:
            new[inner] = choices[policies[-1][inner]]
        else:
            means = estimated_sums(model.choice_offsets, probabilities, choices)
            new[inner] = means[inner]
        rows.append((new, *_bounded(operator, values, probabilities, unknown)))
        change = np.abs(new - values).max(initial=0.0)
        values = new
        policies.append(operator.of_states(operator.of_choices(values), nothing))
        if change <= tolerance:
            break
    return _trace(operator, "sweeps", rows, policies)


def _trace(
    operator: _Operator,
    kind: str,
    rows: list[tuple[Floats, Floats, Floats]],
    policies: list[NDArray[np.int64]],
) -> Trace:
    """Return a trace of the given rows."""
    values, lower, upper = np.array(rows).swapaxes(0, 1).copy()
    chosen = np.array(policies)
    return Trace(operator.model, operator.objective, kind, values, lower, upper, chosen)


def _bounded(
    operator: _Operator, values: Floats, probabilities: Floats | None, unknown: Floats
) -> tuple[Floats, Floats]:
    """Return the bounds proven by the change in a sweep, otherwise the given ones."""
    if operator.discount >= 1:
        return unknown[0], unknown[1]
    inner = np.diff(operator.model.choice_offsets) > 0
    after = operator.enclosed(values, probabilities)
    low, high = (np.where(inner, *each) for each in zip(after, unknown, strict=True))
    # Bounds of the exact sweep, in which payoffs may change as they were rounded.
    least = float(np.nextafter((low - values).min(initial=np.inf), -np.inf))
    most = float(np.nextafter((high - values).max(initial=-np.inf), np.inf))
    size = len(values)
    ahead = np.full(size, operator.discount / (1 - operator.discount))
    lower, upper = enclosed_sums(
        np.arange(size + 1), ahead, np.full(size, least), np.full(size, most), constants=(low, high)
    )
    return np.where(inner, lower, unknown[0]), np.where(inner, upper, unknown[1])


def trace_improvements(
    model: Model,
    objective: Objective | None = None,
    *,
    start: PolicyLike | None = None,
    most: int = 1000,
) -> Trace:
    """Evaluate a policy, improve it in all states, and repeat; keep every policy.

    This is policy iteration as in textbooks (Howard [1]_). The last row is a policy that no action
    improves, unless `most` ends it. An action replaces the policy's own only if it is better by
    more than the uncertainty of the values. To solve models, use :func:`gamedp.solve`: this
    function is for study.

    Parameters
    ----------
    model : Model
        Of one player.
    objective : optional
        :class:`gamedp.Discounted` or :class:`gamedp.TotalReward`, the default.
    start : optional
        The first policy, as for :func:`gamedp.evaluate`; the first action of each state if not
        given. Each policy must have a finite total.
    most : int
        Largest number of policies.

    References
    ----------
    .. [1] R. Howard, "Dynamic Programming and Markov Processes", MIT Press 1960.

    Examples
    --------
    Stay for 1 per step, or go to where each step pays 3:

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1.0] * 3, rewards=[1.0, 0.0, 3.0]
    ... )
    >>> trace = trace_improvements(model, gamedp.Discounted(0.5))
    >>> trace.actions.tolist()
    [[0, 0], [1, 0]]
    >>> trace.values.round(9).tolist()
    [[2.0, 6.0], [3.0, 6.0]]
    """
    operator = _operator(model, objective)
    most = checked_whole("most", most, 1)
    if model.num_players > 1:
        message = "improvements are traced for one player."
        raise UnsupportedProblemError(message)
    counts = np.diff(model.choice_offsets)
    policy = np.where(counts > 0, model.choice_offsets[:-1], -1)
    if start is not None:
        probabilities = _probabilities(model, start)
        if ((probabilities > 0) & (probabilities < 1)).any():
            message = "the first policy leaves actions to chance; give one that does not."
            raise InvalidParameterError(message)
        taken = np.flatnonzero(probabilities)
        policy[operator.owners[taken]] = taken
    policies, rows = [policy], [_policy_values(operator, policy)]
    while len(policies) < most:
        values, lower, upper = rows[-1]
        width = float((upper - lower).max(initial=0.0))
        better = operator.of_states(operator.of_choices(values), policies[-1], width)
        if (better == policies[-1]).all():
            break
        policies.append(better)
        rows.append(_policy_values(operator, better))
    return _trace(operator, "improvements", rows, policies)


def _policy_values(operator: _Operator, policy: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Return the values of a policy, between proven bounds."""
    model = operator.model
    inner = policy >= 0
    rows = model.transition_matrix.copy()[policy[inner]]
    alone = Model.from_arrays(
        np.concatenate([[0], np.cumsum(inner)]),
        rows.indptr,
        rows.indices,
        rows.data,
        rewards=model.rewards[policy[inner]],
        terminals=model.terminals,
        payoffs=model.payoffs,
        num_players=1,
    )
    alone = attrs.evolve(alone, rounding=model.rounding)
    found = solved_problem(Problem(alone, operator.objective), 1e-9)
    if not np.isfinite(found.values).all():
        message = "a policy's total is infinite; use Discounted, or begin with a better policy."
        raise UnsupportedProblemError(message)
    return found.values, found.lower, found.upper
