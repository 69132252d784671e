"""Policies in rational numbers: their values by elimination, and the best long-run average."""

from __future__ import annotations

from fractions import Fraction

import attrs

import gamedp

__all__ = ["Row", "choice_value", "evaluated", "long_run"]


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


def long_run(rows: list[list[Row]], maximise: list[bool], model: gamedp.Model) -> list[Fraction]:
    """Return the gains of a best policy: Howard's policy iteration for several recurrent classes.

    A policy that neither of the two steps can improve fulfils the optimality equations (Puterman,
    "Markov Decision Processes", Wiley 1994, theorems 9.1.2 and 9.2.3).
    """
    choosing = {most for most, choices in zip(maximise, rows, strict=True) if choices}
    if len(choosing) > 1 or model.has_swaps:
        message = "exact averages are for one player who makes all choices."
        raise gamedp.UnsupportedProblemError(message)
    sign = 1 if True in choosing else -1
    policy = [0] * len(rows)
    while True:
        chain = [
            [choices[number]] if choices else []
            for choices, number in zip(rows, policy, strict=True)
        ]
        gains, biases = _gains_and_biases(chain)
        improved = False
        for state, choices in enumerate(rows):
            following = [sign * _mean(row, gains) for row in choices]
            if following and max(following) > following[policy[state]]:
                policy[state] = following.index(max(following))
                improved = True
        if improved:
            continue
        for state, choices in enumerate(rows):
            if not choices:
                continue
            following = [sign * _mean(row, gains) for row in choices]
            choice_values = [sign * choice_value(row, biases) for row in choices]
            kept = [number for number, mean in enumerate(following) if mean == max(following)]
            best = max(kept, key=choice_values.__getitem__)
            if choice_values[best] > choice_values[policy[state]]:
                policy[state] = best
                improved = True
        if not improved:
            return gains


def _mean(row: Row, values: list[Fraction]) -> Fraction:
    return choice_value(row, values) - row.reward


def _gains_and_biases(chain: list[list[Row]]) -> tuple[list[Fraction], list[Fraction]]:
    """Return the gains of a Markov chain per step in the long run, and its biases.

    The bias is zero in the first state of each recurrent class. Between two visits of that state,
    the class earns its gain times the steps.
    """
    gains: list[Fraction | None] = [None if choices else Fraction(0) for choices in chain]
    biases = list(gains)
    for members in _recurrent_classes(chain):
        first = min(members)
        known: list[Fraction | None] = [None] * len(chain)
        known[first] = Fraction(0)
        cycle = [
            [] if state == first or state not in members else row for state, row in enumerate(chain)
        ]
        steps = [[attrs.evolve(row, reward=Fraction(1)) for row in choices] for choices in cycle]
        earned = evaluated(cycle, [0] * len(chain), known)
        passed = evaluated(steps, [0] * len(chain), known)
        gain = choice_value(chain[first][0], earned) / (1 + _mean(chain[first][0], passed))
        for state in members:
            gains[state] = gain
            biases[state] = earned[state] - gain * passed[state]
    outside = [[] if gain is not None else row for gain, row in zip(gains, chain, strict=True)]
    free = [[attrs.evolve(row, reward=Fraction(0)) for row in choices] for choices in outside]
    gain_of = evaluated(free, [0] * len(chain), gains)
    beyond = [
        [attrs.evolve(row, reward=row.reward - gain_of[state]) for row in choices]
        for state, choices in enumerate(outside)
    ]
    return gain_of, evaluated(beyond, [0] * len(chain), biases)


def _recurrent_classes(chain: list[list[Row]]) -> list[set[int]]:
    """Return the recurrent classes: the minimal sets of states that a Markov chain cannot leave."""
    reached = []
    for start in range(len(chain)):
        seen, queue = {start}, [start]
        while queue:
            for row in chain[queue.pop()]:
                new = {successor for successor, _ in row.outcomes} - seen
                seen |= new
                queue += new
        reached.append(seen)
    return [
        members
        for state, members in enumerate(reached)
        if chain[state] and state == min(members) and all(state in reached[s] for s in members)
    ]
