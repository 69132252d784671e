"""Exact values of small models, in rational numbers: what solvers are held against.

Plain Python over :class:`fractions.Fraction`; shares no code with solvers, kernels, or numpy's
linear algebra. Good for some dozens of states.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs

import gamedp

__all__ = ["exact_choice_values", "exact_values"]


@attrs.frozen
class _Row:
    """A choice: what it earns and the states that follow, with their probabilities."""

    reward: Fraction
    outcomes: tuple[tuple[int, Fraction], ...]


def exact_values(model: gamedp.Model, objective: Any = None) -> list[Fraction]:
    """Return the exact value of every state of a model.

    Rewards and payoffs are taken as they are stored, probabilities after they were scaled to sum to
    one exactly: three times the stored 1/3 is a little less.

    Parameters
    ----------
    model : Model
        Of one or two players. For total reward, play must end almost surely whatever they do.
    objective : TotalReward, Discounted or FiniteHorizon, optional
        The total reward if not given.

    Returns
    -------
    list of Fraction
        S numbers.

    Raises
    ------
    UnsupportedProblemError
        If there is no such number: more players, or play that may go on for ever.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 1, 1], [0, 2], [0, 1], [0.25, 0.75], rewards=[3.0], terminals=[1], payoffs=[0.5]
    ... )
    >>> exact_values(model)
    [Fraction(9, 2), Fraction(1, 2)]
    """
    objective = gamedp.TotalReward() if objective is None else objective
    if model.num_players > 2:
        message = "exact values are for one or two players."
        raise gamedp.UnsupportedProblemError(message)
    discount = Fraction(getattr(objective, "discount", 1))
    rows, maximise, known = _unfolded(model, objective, discount)
    if isinstance(objective, gamedp.FiniteHorizon):
        return _after_steps(rows, maximise, known, objective.horizon)[: model.num_states]
    if discount == 1 and not model.structure.always_ends:
        message = "play may go on for ever; exact total rewards are for models where it ends."
        raise gamedp.UnsupportedProblemError(message)
    return _best_policies(rows, maximise, known)[: model.num_states]


def exact_choice_values(model: gamedp.Model, objective: Any = None) -> list[Fraction]:
    """Return what every choice of a model is worth, exactly, if play is at its best afterwards.

    Parameters and errors are those of :func:`exact_values`; a finite horizon is at least 1.

    Returns
    -------
    list of Fraction
        C numbers.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1.0], terminals=[1], payoffs=[0.5]
    ... )
    >>> exact_choice_values(model, gamedp.Discounted(0.5))
    [Fraction(3, 16), Fraction(1, 4)]
    """
    objective = gamedp.TotalReward() if objective is None else objective
    following = objective
    if isinstance(objective, gamedp.FiniteHorizon):
        following = attrs.evolve(objective, horizon=objective.horizon - 1)
    values = exact_values(model, following)
    values += [Fraction(model.constant_sum) - value for value in values]
    rows, _, _ = _unfolded(model, objective, Fraction(getattr(objective, "discount", 1)))
    return [_result(row, values) for choices in rows[: model.num_states] for row in choices]


def _unfolded(
    model: gamedp.Model, objective: Any, discount: Fraction
) -> tuple[list[list[_Row]], list[bool], list[Fraction | None]]:
    """Return the choices of each state, twice: as it is, and with the players' places changed.

    The second S states are worth the constant sum minus the first: so no edge swaps players.
    """
    num_states = model.num_states
    known: list[Fraction | None] = [None] * (2 * num_states)
    for state, payoff in zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True):
        known[state] = Fraction(payoff)
        known[state + num_states] = Fraction(model.constant_sum) - Fraction(payoff)
    rows: list[list[_Row]] = [[] for _ in range(2 * num_states)]
    maximise: list[bool] = []
    for side in (0, 1):
        for state in range(num_states):
            wants_most = (model.players[state] == 0) == (objective.optimum == "max")
            maximise.append(bool(wants_most) ^ bool(side))
            for choice in range(model.choice_offsets[state], model.choice_offsets[state + 1]):
                row = slice(*model.transition_offsets[choice : choice + 2].tolist())
                signed = [Fraction(p) for p in model.probabilities[row].tolist()]
                total = sum(map(abs, signed))
                outcomes = tuple(
                    (target + num_states * (side ^ (p < 0)), discount * abs(p) / total)
                    for target, p in zip(model.successors[row].tolist(), signed, strict=True)
                )
                reward = Fraction(float(model.rewards[choice]))
                rows[state + side * num_states].append(_Row(-reward if side else reward, outcomes))
    return rows, maximise, known


def _result(row: _Row, values: list[Fraction]) -> Fraction:
    return row.reward + sum((p * values[target] for target, p in row.outcomes), Fraction(0))


def _after_steps(
    rows: list[list[_Row]], maximise: list[bool], known: list[Fraction | None], steps: int
) -> list[Fraction]:
    values = [Fraction(0) if value is None else value for value in known]
    for _ in range(steps):
        values = [
            values[state]
            if not choices
            else (max if maximise[state] else min)(_result(row, values) for row in choices)
            for state, choices in enumerate(rows)
        ]
    return values


def _best_policies(
    rows: list[list[_Row]], maximise: list[bool], known: list[Fraction | None]
) -> list[Fraction]:
    """Improve the maximiser's policy, each time against the minimiser's best answer."""
    policy = [0] * len(rows)
    while True:
        while True:
            values = _evaluated(rows, policy, known)
            if not _improve(rows, policy, values, [not most for most in maximise], maximise):
                break
        if not _improve(rows, policy, values, maximise, maximise):
            return values


def _improve(
    rows: list[list[_Row]],
    policy: list[int],
    values: list[Fraction],
    who: list[bool],
    maximise: list[bool],
) -> bool:
    changed = False
    for state, choices in enumerate(rows):
        if not who[state]:
            continue
        for number, row in enumerate(choices):
            result = _result(row, values)
            present = _result(choices[policy[state]], values)
            if result > present if maximise[state] else result < present:
                policy[state] = number
                changed = True
    return changed


def _evaluated(
    rows: list[list[_Row]], policy: list[int], known: list[Fraction | None]
) -> list[Fraction]:
    """Solve the linear system of a policy by elimination, state by state."""
    equations: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for state, choices in enumerate(rows):
        if not choices:
            continue
        row = choices[policy[state]]
        terms: dict[int, Fraction] = {}
        constant = row.reward
        for target, p in row.outcomes:
            payoff = known[target]
            if payoff is None:
                terms[target] = terms.get(target, Fraction(0)) + p
            else:
                constant += p * payoff
        equations[state] = (terms, constant)
    solved: list[tuple[int, dict[int, Fraction], Fraction]] = []
    while equations:
        state, (terms, constant) = equations.popitem()
        leaves = 1 - terms.pop(state, Fraction(0))
        terms = {target: p / leaves for target, p in terms.items()}
        constant /= leaves
        solved.append((state, terms, constant))
        for other, (its_terms, its_constant) in equations.items():
            share = its_terms.pop(state, None)
            if share is not None:
                for target, p in terms.items():
                    its_terms[target] = its_terms.get(target, Fraction(0)) + share * p
                equations[other] = (its_terms, its_constant + share * constant)
    values = [Fraction(0) if value is None else value for value in known]
    for state, terms, constant in reversed(solved):
        values[state] = constant + sum((p * values[t] for t, p in terms.items()), Fraction(0))
    return values
