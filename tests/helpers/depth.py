"""How deep an ordinary run goes."""

import pytest


def first_of(cases, count=1):
    """Leave the cases after the first ones, which seldom find anything else, to the deep runs."""
    cases = list(cases)
    return cases[:count] + [pytest.param(case, marks=pytest.mark.deep) for case in cases[count:]]
