"""The probability that play is not over after each number of actions."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import attrs

from gamedp.errors import InvalidParameterError, shown
from gamedp.runtime.notebook import html_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Survival"]

MOST_SHOWN = 12
"""Largest number of rows that notebooks show."""


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Survival:
    """The survival function: the probability that play is not over after n = 0 ... N actions.

    Attributes
    ----------
    lower, upper : (N+1,) float64
        Proven bounds.
    names : tuple of str
        The names of the policies, player 0's first; empty for the maximum over all policies.
    actions : tuple of int or None
        The actions that count; None if all do.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=4), compile="never")
    >>> chance = gamedp.Policy.uniform(model)
    >>> found = gamedp.evaluate(model, [chance, chance]).survival(4)
    >>> found
    <Survival of uniform against uniform: 0 ... 4 plies>
    >>> found.upper.round(6).tolist()
    [1.0, 1.0, 0.388889, 0.055556, 0.0]
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    names: tuple[str, ...]
    actions: tuple[int, ...] | None

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        for array in (self.lower, self.upper):
            array.flags.writeable = False

    def __repr__(self) -> str:
        """Return the policies and the range in short."""
        counted = "plies" if self.actions is None else "actions that count"
        return f"<Survival of {self.title}: 0 ... {self.plies:,} {counted}>"

    def _repr_html_(self) -> str:
        """Return some of the rows as a table for notebooks."""
        count = self.plies + 1
        places = range(count)
        if count > MOST_SHOWN:
            places = range(0, count, -(-self.plies // (MOST_SHOWN - 1)))
        numbers = dict.fromkeys([*places, self.plies])
        rows = [(f"{n:,}", f"{self.lower[n]:.10g} … {self.upper[n]:.10g}") for n in numbers]
        return html_rows(["plies" if self.actions is None else "actions", "not over"], rows)

    @property
    def title(self) -> str:
        """A title that names the policies."""
        return " against ".join(self.names) or "the longest games"

    @property
    def plies(self) -> int:
        """N, the largest number of actions."""
        return len(self.lower) - 1

    def bounds(self, plies: int) -> tuple[float, float]:
        """Return (lower, upper) of the probability that play is not over after a number of actions.

        Raises
        ------
        InvalidParameterError
            If it is not a number from 0 to `plies`.
        """
        try:
            number = operator.index(plies)
        except TypeError:
            number = -1
        if not 0 <= number <= self.plies:
            message = f"plies is {shown(plies)}; it must be an integer from 0 to {self.plies:,}."
            raise InvalidParameterError(message)
        return float(self.lower[number]), float(self.upper[number])
