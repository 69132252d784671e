"""Exact values of two opponents by looking at all their policies: what solvers are held against.

For some four states. Both sides have best policies that keep to one choice in each state, in all
problems that are asked here; so the largest of the smallest values is the value.
"""

from fractions import Fraction
from itertools import product

import numpy as np

import gamedp
from gamedp.reduction.unfolding import unfold

INFINITE = float("inf")


def values_by_policies(problem):
    """Return the value of every state of the original model."""
    model, objective = problem.model, problem.objective
    payoffs = {s: Fraction(p) for s, p in zip(model.terminals, model.payoffs.tolist(), strict=True)}
    if model.has_swaps:
        whole, count = Fraction(model.constant_sum), model.num_states
        payoffs |= {state + count: whole - payoff for state, payoff in payoffs.items()}
    sets = {
        name: getattr(objective, name)
        for name in ("target", "allowed", "until")
        if getattr(objective, name, None) is not None
    }
    if model.has_swaps:
        model = unfold(model)
        sets = {name: np.tile(mask, 2) for name, mask in sets.items()}
    maximise = (model.players == 0) == (objective.optimum == "max")
    over = sets.get("target", sets.get("until", np.zeros(model.num_states, bool))).copy()
    over |= ~sets.get("allowed", ~np.zeros(model.num_states, bool))
    options = [
        list(range(*model.choice_offsets[s : s + 2].tolist())) or [-1]
        for s in range(model.num_states)
    ]
    options = [row[:1] if stop else row for row, stop in zip(options, over, strict=True)]

    def policies(side):
        return product(
            *(row if most == side else [None] for row, most in zip(options, maximise, strict=True))
        )

    minimisers = list(policies(False))
    best = None
    for most in policies(True):
        answers = [
            chain_values(model, payoffs, objective, sets, over, merge(most, least))
            for least in minimisers
        ]
        least = [min(column) for column in zip(*answers, strict=True)]
        best = least if best is None else [max(pair) for pair in zip(best, least, strict=True)]
    return best[: problem.model.num_states]


def merge(one, other):
    return [a if b is None else b for a, b in zip(one, other, strict=True)]


def chain_values(model, payoffs, objective, sets, over, policy):
    """Return what play by one choice in each state is worth from each state."""
    count = model.num_states
    is_total = isinstance(objective, gamedp.TotalReward)
    rows, rewards = [], []
    for state in range(count):
        choice = policy[state]
        row = {}
        if choice >= 0 and not over[state]:
            part = slice(*model.transition_offsets[choice : choice + 2].tolist())
            chances = [Fraction(p) for p in model.probabilities[part].tolist()]
            for successor, p in zip(model.successors[part].tolist(), chances, strict=True):
                row[successor] = row.get(successor, Fraction(0)) + p / sum(chances)
        rows.append(row)
        rewards.append(Fraction(float(model.rewards[choice])) if row and is_total else Fraction(0))
    reach = [reached(rows, state) for state in range(count)]
    known = {}
    for state in range(count):
        if not rows[state]:
            if not is_total:
                known[state] = Fraction(int(sets["target"][state]))
            elif "until" in sets and not over[state]:
                known[state] = INFINITE
            else:
                known[state] = payoffs.get(state, Fraction(0))
        elif all(state in reach[other] for other in reach[state]):  # play never leaves these
            earned = sum(rewards[other] for other in reach[state])
            if "until" in sets:
                known[state] = INFINITE
            else:
                known[state] = INFINITE * int(earned > 0 or -1) if earned else Fraction(0)
    for state in range(count):
        ends = {known[other] for other in reach[state] if other in known}
        infinite = {end for end in ends if isinstance(end, float)}
        assert len(infinite) <= 1
        if infinite:
            known[state] = infinite.pop()
    return solved(rows, rewards, known)


def reached(rows, state):
    seen, queue = {state}, [state]
    while queue:
        for successor in rows[queue.pop()]:
            if successor not in seen:
                seen.add(successor)
                queue.append(successor)
    return seen


def solved(rows, rewards, known):
    """Solve for the states that are not known, by elimination."""
    unknown = [state for state in range(len(rows)) if state not in known]
    place = {state: number for number, state in enumerate(unknown)}
    size = len(unknown)
    matrix = []
    for state in unknown:
        line = [Fraction(0)] * size + [rewards[state]]
        line[place[state]] += 1
        for successor, chance in rows[state].items():
            if successor in place:
                line[place[successor]] -= chance
            else:
                line[size] += chance * known[successor]
        matrix.append(line)
    for number in range(size):
        pivot = next(row for row in range(number, size) if matrix[row][number])
        matrix[number], matrix[pivot] = matrix[pivot], matrix[number]
        matrix[number] = [entry / matrix[number][number] for entry in matrix[number]]
        for row in range(size):
            share = matrix[row][number]
            if row != number and share:
                matrix[row] = [
                    a - share * b for a, b in zip(matrix[row], matrix[number], strict=True)
                ]
    return [
        known[state] if state in known else matrix[place[state]][size] for state in range(len(rows))
    ]
