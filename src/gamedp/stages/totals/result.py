"""The probability of each total."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError
from gamedp.runtime.floats import UNIT
from gamedp.runtime.notebook import html_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray


MAX_UNDERFLOW = 1e-300
"""Upper bound of what all probabilities lose to underflow: 2**-1075 with each product."""

SHOWN = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
"""Quantiles in notebooks."""


@attrs.frozen(eq=False, repr=False)
class Distribution:
    """The probability of each total.

    Attributes
    ----------
    totals : (K,) int64
        Ascending; those of probability zero, or smaller than 1e-300, may be left out.
    probabilities : (K,) float64
    relative_error : float
        Each probability, and each sum of some, has at most this relative error and, because of
        underflow, an additional one of at most 1e-300.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> solution = gamedp.solve(Kniffel(dice=1, faces=2, throws=1))
    >>> points = gamedp.stages.distribution(solution)
    >>> points
    <Distribution of 3 totals, 77 to 80: mean=79.97..., standard deviation=0.19...>
    """

    totals: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    relative_error: float = 0.0

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        self.totals.flags.writeable = False
        self.probabilities.flags.writeable = False

    @classmethod
    def of(cls, parts: Mapping[int, Iterable[float]], error: float) -> Distribution:
        """Return a distribution whose probabilities are sums, of parts off by `error` / UNIT."""
        totals = sorted(parts)
        probabilities = np.array([math.fsum(parts[total]) for total in totals])
        # (1 + u) ** n - 1 is at most n u / (1 - n u).
        relative = (error + UNIT) / (1 - error - UNIT) * (1 + 8 * UNIT)
        return cls(np.array(totals, np.int64), probabilities, relative)

    def __repr__(self) -> str:
        """Return a summary of the totals."""
        return (
            f"<Distribution of {len(self.totals)} totals, {self.totals[0]} to {self.totals[-1]}: "
            f"mean={self.mean!r}, standard deviation={self.standard_deviation!r}>"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {
            "totals": f"{self.totals[0]:,} to {self.totals[-1]:,}, {len(self.totals):,} of them",
            "mean": f"{self.mean!r}",
            "standard deviation": f"{self.standard_deviation!r}",
            **{f"quantile {share:g}": f"{self.quantile(share):,}" for share in SHOWN},
        }
        return html_table(rows)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Yield each total and its probability."""
        return zip(self.totals.tolist(), self.probabilities.tolist(), strict=True)

    def expectation(self, function: Callable[[int], float]) -> float:
        """Return the expectation of ``function(total)``."""
        return math.fsum(probability * function(total) for total, probability in self)

    @property
    def mean(self) -> float:
        """The expected total."""
        return self.expectation(float)

    @property
    def mean_error(self) -> float:
        """The error bound of the mean."""
        largest = 2.0**63  # of totals, those that are left out among them
        return (self.relative_error + 4 * UNIT) * self.expectation(abs) + MAX_UNDERFLOW * largest

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the total."""
        mean = self.mean
        return math.sqrt(self.expectation(lambda total: (total - mean) ** 2))

    def probability(self, total: int) -> float:
        """Return the probability of exactly `total`."""
        place = int(np.searchsorted(self.totals, total))
        if place == len(self.totals) or self.totals[place] != total:
            return 0.0
        return float(self.probabilities[place])

    def at_least(self, total: float) -> float:
        """Return the probability of `total` or more."""
        return math.fsum(self.probabilities[np.searchsorted(self.totals, total) :].tolist())

    def quantile(self, share: float) -> int:
        """Return the least total that is not exceeded with a probability of at least `share`.

        Raises
        ------
        InvalidParameterError
            If `share` is not a probability.
        """
        if not 0 <= share <= 1:
            message = f"the share {share!r} is not between 0 and 1."
            raise InvalidParameterError(message)
        cumulated = np.cumsum(self.probabilities)
        place = int(np.searchsorted(cumulated, min(share, float(cumulated[-1]))))
        return int(self.totals[place])
