"""Certificates of staged games, made of solutions.

What a solver has proven need not pass the checker to the last digit: it rounds in another order.
So bounds of a context are taken as they are, or as the checker finds them from those of the
contexts that follow, whichever are wider. Contexts that lead to each other within a rank have
weights, and bounds that are the farther apart, the greater the weight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gamedp.certificate.staged import OVER, Sheaf, StagedCertificate, Stages, verify_staged
from gamedp.errors import CertificateError, UnsupportedProblemError, shown
from gamedp.guarantees import Guarantee
from gamedp.objectives import TotalReward

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from gamedp.staged_solution import StagedSolution

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["certify_stages"]

MOST_KEPT = 1 << 20
"""Ends times contexts of a rank whose successors are kept in memory while it is settled."""

MOST_DOUBLINGS = 40
"""How often the distance of bounds is doubled, at first that by which they miss their proof."""

MOST_SWEEPS = 100_000
"""Sweeps over a rank to find weights."""

MOST_POLISHING = 60
"""Sweeps over a rank to bring values nearer to what follows from each other; each must halve it."""

ROOM = 2.0**-40
"""By what part weights are larger than they must be but for rounding."""


def certify_stages(solution: StagedSolution) -> StagedCertificate:
    """Return a certificate of a solution; see :meth:`gamedp.StagedSolution.certificate`."""
    if solution.guarantee is not Guarantee.TWO_SIDED:
        message = (
            f"there is no certificate for a solution whose guarantee is {solution.guarantee.name}: "
            f"{solution.guarantee.value}."
        )
        raise UnsupportedProblemError(message)
    objective = solution.objective
    if not isinstance(objective, TotalReward):
        message = f"there are no certificates of staged games for {type(objective).__name__}."
        raise UnsupportedProblemError(message)
    certificate = _Certifying(solution).certificate(objective)
    verify_staged(solution.model, certificate)
    return certificate


class _Rank:
    """The contexts of one rank, again and again; what the rules say of few is kept."""

    def __init__(self, stages: Stages, codes: Integers) -> None:
        self.stages = stages
        self.codes = codes
        self._kept: list[Sheaf] | None = None
        if len(codes) * len(stages.lattice.ends) <= MOST_KEPT:
            self._kept = list(stages.sheaves(codes))

    def __iter__(self) -> Iterator[Sheaf]:
        sheaves: Iterable[Sheaf] = self._kept or self.stages.sheaves(self.codes)
        return iter(sheaves)


class _Certifying:
    """Bounds and weights as they are found, from the lowest rank on."""

    def __init__(self, solution: StagedSolution) -> None:
        self.solution = solution
        self.stages = Stages(solution.model)
        # To start with, the solver's; those of higher ranks are not looked at.
        self.lower, self.upper = solution.lower.copy(), solution.upper.copy()
        over = self.stages.order == OVER
        self.lower[over] = self.upper[over] = self.stages.payoffs[over]
        # Between them, and for contexts that lead to each other also nearer to the truth.
        self.values = np.where(over, self.stages.payoffs, solution.values)
        self.weights = np.ones_like(self.lower)
        self.has_weights = False

    def certificate(self, objective: TotalReward) -> StagedCertificate:
        """Find the bounds, and put them together."""
        stages = self.stages
        with np.errstate(all="ignore"):  # what overflows is not proven
            for place in range(len(stages.offsets) - 1):
                codes = stages.codes[stages.offsets[place] : stages.offsets[place + 1]]
                if np.isfinite(self.solution.errors[codes]).all():
                    self._certify(_Rank(stages, codes))
        return StagedCertificate(
            objective=objective,
            lower=self.lower,
            upper=self.upper,
            weights=self.weights if self.has_weights else None,
            digest=self.solution.model.digest(),
        )

    def _certify(self, rank: _Rank) -> None:
        """Find the bounds of a rank."""
        for sheaf in rank:
            if sheaf.stays.any():
                self._settle(rank)
                return
            least, most = self._worths(sheaf)
            codes = sheaf.codes
            self.lower[codes] = np.minimum(self.lower[codes], least)
            self.upper[codes] = np.maximum(self.upper[codes], most)

    def _worths(
        self, sheaf: Sheaf, bounds: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Floats]:
        """Return what contexts are worth at least and at most, by the bounds that follow."""
        optimum = self.solution.objective.optimum
        least, most = (
            self.stages.worths(sheaf, bounds or (self.lower, self.upper), sign, optimum)
            for sign in (1.0, -1.0)
        )
        return least, -most

    def _settle(self, rank: _Rank) -> None:
        """Find weights, and bounds that are the farther apart, the greater the weight."""
        codes = rank.codes
        self._weigh(rank)
        self._polish(rank)
        weights, values = self.weights[codes], self.values[codes]
        below = self._distance_below(codes)
        self.lower[codes], self.upper[codes] = values - below, values + below
        apart = max(0.0, self._missed(rank)) * (1 + 2.0**-10)
        apart += math.ulp(np.abs(values).max(initial=0.0))
        for _ in range(MOST_DOUBLINGS):
            self.lower[codes] = values - below - apart * weights
            self.upper[codes] = values + below + apart * weights
            if self._missed(rank) <= 0:
                return
            apart *= 2
        message = (
            f"the bounds of {type(self.solution.solver).__name__} cannot be certified in "
            f"{shown(self.solution.model.state(int(codes[0])))}, nor where its rank is the same. "
            "Solve "
            "with a larger tolerance."
        )
        raise CertificateError(message)

    def _polish(self, rank: _Rank) -> None:
        """Bring the values of a rank nearer to those that follow from them, while that is quick."""
        before = np.inf
        for _ in range(MOST_POLISHING):
            change = 0.0
            for sheaf in rank:
                least, most = self._worths(sheaf, (self.values, self.values))
                middle = least + (most - least) / 2
                change = max(change, float(np.abs(middle - self.values[sheaf.codes]).max()))
                self.values[sheaf.codes] = middle
            if not 0 < change <= before / 2:
                return
            before = change

    def _distance_below(self, codes: Integers) -> float:
        """Return how far values are from their bounds at most, where those have been found."""
        order = self.stages.order
        done = order < order[codes[0]]
        distance = np.maximum(self.values - self.lower, self.upper - self.values)[done]
        return float(distance[np.isfinite(distance)].max(initial=0.0))

    def _missed(self, rank: _Rank) -> float:
        """Return by how much bounds of a rank miss their proof at most; infinite if unknown."""
        most = -np.inf
        for sheaf in rank:
            least, greatest = self._worths(sheaf)
            codes = sheaf.codes
            missed = np.maximum(self.lower[codes] - least, greatest - self.upper[codes])
            if np.isnan(missed).any():
                return np.inf
            most = max(most, float(missed.max()))
        return most

    def _weigh(self, rank: _Rank) -> None:
        """Find weights: of how many stages of a rank are to come at most, in the mean."""
        self.has_weights = True
        for _ in range(MOST_SWEEPS):
            rise = 0.0
            for sheaf in rank:
                codes = sheaf.codes
                least = self.stages.stages_to_come(sheaf, self.weights)
                rise = max(rise, float((least - self.weights[codes]).max()))
                self.weights[codes] = np.maximum(least, self.weights[codes])
            if not rise < np.inf:
                break
            # If one more sweep adds at most r < 1, the weights over 1 - r do what is asked of them.
            if rise <= 0.5:
                self.weights[rank.codes] *= (1 + ROOM) / (1 - rise)
                return
        message = (
            f"no weights show that play leaves the rank of "
            f"{shown(self.solution.model.state(int(rank.codes[0])))}."
        )
        raise CertificateError(message)
