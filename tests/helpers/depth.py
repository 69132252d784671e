"""How deep an ordinary run goes."""

from itertools import combinations, product

import pytest


def first_of(cases, count=1):
    """Leave the cases after the first ones, which seldom find anything else, to the deep runs."""
    cases = list(cases)
    return cases[:count] + [pytest.param(case, marks=pytest.mark.deep) for case in cases[count:]]


def in_pairs(*options):
    """Leave combinations to the deep runs once any two options have been combined."""
    left, known, cases = list(product(*map(enumerate, options))), set(), []

    def new(case):
        pairs = combinations([(place, number) for place, (number, _) in enumerate(case)], 2)
        return set(pairs) - known

    while left:
        case = max(left, key=lambda case: len(new(case)))
        marks = [] if new(case) else [pytest.mark.deep]
        cases.append(pytest.param(*(option for _, option in case), marks=marks))
        known |= new(case)
        left.remove(case)
    return cases
