"""Rows of exact models, and linear systems of them, solved by elimination."""

from __future__ import annotations

from fractions import Fraction

import attrs

__all__ = ["Row", "choice_value", "evaluated"]


@attrs.frozen
class Row:
    """A choice: its reward, and the states that follow with their probabilities."""

    reward: Fraction
    outcomes: tuple[tuple[int, Fraction], ...]


def choice_value(row: Row, values: list[Fraction]) -> Fraction:
    """Return the value of a choice from the values of its successors."""
    return row.reward + sum((p * values[successor] for successor, p in row.outcomes), Fraction(0))


def evaluated(
    rows: list[list[Row]], policy: list[int], known: list[Fraction | None]
) -> list[Fraction]:
    """Solve the linear system of a policy by elimination, state by state."""
    equations: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for state, choices in enumerate(rows):
        if not choices:
            continue
        row = choices[policy[state]]
        terms: dict[int, Fraction] = {}
        constant = row.reward
        for successor, p in row.outcomes:
            payoff = known[successor]
            if payoff is None:
                terms[successor] = terms.get(successor, Fraction(0)) + p
            else:
                constant += p * payoff
        equations[state] = (terms, constant)
    solved: list[tuple[int, dict[int, Fraction], Fraction]] = []
    while equations:
        state, (terms, constant) = equations.popitem()
        leaves = 1 - terms.pop(state, Fraction(0))
        terms = {successor: p / leaves for successor, p in terms.items()}
        constant /= leaves
        solved.append((state, terms, constant))
        for other, (its_terms, its_constant) in equations.items():
            share = its_terms.pop(state, None)
            if share is not None:
                for successor, p in terms.items():
                    its_terms[successor] = its_terms.get(successor, Fraction(0)) + share * p
                equations[other] = (its_terms, its_constant + share * constant)
    values = [Fraction(0) if value is None else value for value in known]
    for state, terms, constant in reversed(solved):
        values[state] = constant + sum((p * values[t] for t, p in terms.items()), Fraction(0))
    return values
