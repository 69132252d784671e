"""One number or truth of many states: the least, the average, whether in all of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.questions.truth import StateNumbers, Truth

if TYPE_CHECKING:
    from gamedp.languages.formulas import Filter
    from gamedp.runtime.arrays import Flags


def filtered(given: Filter, inner: Truth | StateNumbers, chosen: Flags) -> Truth | StateNumbers:
    """Return a filter's number or truth of the states that it selects, the same in all states.

    Parameters
    ----------
    given : Filter
        Other than argmin and argmax, which are comparisons.
    inner : Truth or StateNumbers
        Of all states.
    chosen : (S,) bool
        The states that it looks at; at least one.
    """
    if given.kind == "print":
        return inner
    if given.kind in ("first", "state"):
        if given.kind == "state" and np.count_nonzero(chosen) > 1:
            count = np.count_nonzero(chosen)
            given.place.refuse(f"there are {count:,} such states, and not one; use first, or min.")
        chosen = _only(int(chosen.argmax()), len(chosen))
    if isinstance(inner, Truth):
        return _of_truth(given, inner, chosen)
    lower, upper = inner.lower[chosen], inner.upper[chosen]
    exact = None if inner.exact is None else inner.exact[chosen]
    if given.kind in ("sum", "avg"):
        found = _sum(lower, upper, exact, len(lower) if given.kind == "avg" else 1)
    elif given.kind == "range":
        found = lower.min(), upper.max(), None
    else:  # one of several states, or of one
        pick = np.max if given.kind == "max" else np.min
        found = pick(lower), pick(upper), None if exact is None else pick(exact)
    return _everywhere(*found, len(chosen), inner.solution)


def _of_truth(given: Filter, inner: Truth, chosen: Flags) -> Truth | StateNumbers:
    certain, possible = inner.certain[chosen], inner.possible[chosen]
    if given.kind == "count":
        low, high = int(certain.sum()), int(possible.sum())
        return _everywhere(low, high, low if low == high else None, len(chosen), None)
    join = np.any if given.kind == "exists" else np.all  # of one state, they are the same
    return Truth(np.full(len(chosen), join(certain)), np.full(len(chosen), join(possible)))


def _only(state: int, count: int) -> Flags:
    mask = np.zeros(count, np.bool_)
    mask[state] = True
    return mask


def _sum(lower: Any, upper: Any, exact: Any, parts: int) -> tuple[Any, Any, Any]:
    """Return bounds of a sum, or of an average of some parts, rounded outward."""
    if exact is not None and not any(isinstance(number, float) for number in exact.tolist()):
        total = Fraction(sum(exact.tolist())) / parts
        around = StateNumbers.of(np.array([total], object))
        return around.lower[0], around.upper[0], total
    low, high = _fsum(lower, -math.inf) / parts, _fsum(upper, math.inf) / parts
    for _ in range(2):  # for the sum, and for the division
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return low, high, None


def _fsum(numbers: Any, beyond: float) -> float:
    """Return a sum of doubles; `beyond` if it is larger than all doubles, or not one number."""
    try:
        return math.fsum(numbers.tolist())
    except (OverflowError, ValueError):
        return beyond


def _everywhere(lower: Any, upper: Any, exact: Any, count: int, solution: Any) -> StateNumbers:
    table = None if exact is None else np.full(count, exact, object)
    return StateNumbers(np.full(count, float(lower)), np.full(count, float(upper)), table, solution)
