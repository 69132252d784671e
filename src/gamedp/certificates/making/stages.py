"""Certificates of staged games, made from solutions.

Proven bounds need not pass the checker to the last digit: it rounds in another order. So the bounds
of a context are the solver's, or those that the checker computes from the contexts that follow,
whichever are wider. Contexts that lead to each other within a tier have weights; the greater the
weight, the farther apart the bounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gamedp.certificates.certificate import Certificate
from gamedp.certificates.checking.checker import accept
from gamedp.certificates.checking.stages import OVER, ContextBatch, Stages
from gamedp.errors import CertificateError, UnsupportedProblemError, shown
from gamedp.model.objectives import TotalReward
from gamedp.results.status import Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Floats
    from gamedp.stages.solution import StagedSolution

    Integers = NDArray[np.int64]

MOST_KEPT = 1 << 20
"""Largest number of ends times contexts of a tier whose successors are kept in memory."""

MOST_TOGETHER = 1 << 20
"""Largest number of ends times contexts of the tiers that are processed together."""

MOST_DOUBLINGS = 40
"""Largest number of doublings of the distance by which bounds miss their proof."""

MOST_SWEEPS = 100_000
"""Largest number of sweeps over a tier to find weights."""

ENOUGH_SWEEPS = 4
"""Number of sweeps over a tier after which larger weights than needed are accepted."""

MOST_POLISHING = 60
"""Largest number of sweeps over a tier to polish values; each must halve their distance."""

ROOM = 2.0**-38
"""Relative excess of weights, as a margin for rounding."""


def certify_stages(solution: StagedSolution) -> Certificate:
    """Return a certificate of a solution; see :func:`gamedp.certify`."""
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
    accept(solution.model, certificate)
    return certificate


class _Tiers:
    """The contexts of some tiers, iterated repeatedly; few answers of the rules are kept."""

    def __init__(self, stages: Stages, codes: Integers) -> None:
        self.stages = stages
        self.codes = codes
        self._kept: list[ContextBatch] | None = None
        if len(codes) * len(stages.lattice.ends) <= MOST_KEPT:
            self._kept = list(stages.batches(codes))

    def __iter__(self) -> Iterator[ContextBatch]:
        batches: Iterable[ContextBatch] = self._kept or self.stages.batches(self.codes)
        return iter(batches)


class _Certifying:
    """Bounds and weights found so far, from the lowest tier on."""

    def __init__(self, solution: StagedSolution) -> None:
        self.solution = solution
        self.stages = Stages(solution.model)
        # To start with, the solver's; those of higher tiers are not looked at.
        self.lower, self.upper = solution.lower.copy(), solution.upper.copy()
        over = self.stages.order == OVER
        self.lower[over] = self.upper[over] = self.stages.payoffs[over]
        # Between them, and for contexts that lead to each other also nearer to the truth.
        self.values = np.where(over, self.stages.payoffs, solution.values)
        self.weights = np.ones_like(self.lower)
        self.has_weights = False

    def certificate(self, objective: TotalReward) -> Certificate:
        """Find the bounds, and return their certificate."""
        stages = self.stages
        place, end = 0, len(stages.offsets) - 1
        with np.errstate(all="ignore"):  # what overflows is not proven
            while place < end:
                first, place = place, place + 1
                tiers = self._tiers(first, place)
                if not self._is_known(tiers.codes):
                    continue
                if not any(batch.stays.any() for batch in tiers):
                    self._bound(tiers)
                    continue
                # What takes many sweeps is done for many tiers at once.
                while place < end and self._fits(first, place + 1):
                    place += 1
                self._settle(self._tiers(first, place))
        return Certificate(
            rules="stages",
            objective=objective,
            lower=self.lower,
            upper=self.upper,
            evidence={"weights": self.weights if self.has_weights else None},
            digest=self.solution.model.digest(),
        )

    def _codes(self, first: int, stop: int) -> Integers:
        """Return the contexts of the tiers from `first` on, before `stop`."""
        stages = self.stages
        return stages.codes[stages.offsets[first] : stages.offsets[stop]]

    def _tiers(self, first: int, stop: int) -> _Tiers:
        """Return some contexts, to iterate over repeatedly."""
        return _Tiers(self.stages, self._codes(first, stop))

    def _is_known(self, codes: Integers) -> bool:
        """Return whether the solution bounds all of some contexts."""
        return bool(np.isfinite(self.solution.errors[codes]).all())

    def _fits(self, first: int, stop: int) -> bool:
        """Return whether the last one of some tiers can be processed with the others."""
        size = len(self._codes(first, stop)) * len(self.stages.lattice.ends)
        return size <= MOST_TOGETHER and self._is_known(self._codes(stop - 1, stop))

    def _bound(self, tier: _Tiers) -> None:
        """Find the bounds of a tier whose contexts do not lead to each other."""
        for batch in tier:
            least, most = self._values(batch)
            codes = batch.codes
            self.lower[codes] = np.minimum(self.lower[codes], least)
            self.upper[codes] = np.maximum(self.upper[codes], most)

    def _values(
        self, batch: ContextBatch, bounds: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Floats]:
        """Return the least and greatest values of contexts, from the bounds of their successors."""
        optimum = self.solution.objective.optimum
        least, most = (
            self.stages.context_values(batch, bounds or (self.lower, self.upper), sign, optimum)
            for sign in (1.0, -1.0)
        )
        return least, -most

    def _settle(self, tiers: _Tiers) -> None:
        """Find weights, and bounds whose distance grows with the weight."""
        codes = tiers.codes
        self._weigh(tiers)
        self._polish(tiers)
        weights, values = self.weights[codes], self.values[codes]
        below = self._distance_below(codes)
        # Below each tier, those lower ones have the distance of their largest weights.
        heaviest = np.zeros(len(self.stages.offsets))
        np.maximum.at(heaviest, self.stages.order[codes] + 1, weights)
        weights = weights + np.cumsum(heaviest)[self.stages.order[codes]]
        self.lower[codes], self.upper[codes] = values - below, values + below
        apart = max(0.0, self._missed(tiers)) * (1 + 2.0**-10)
        apart += math.ulp(np.abs(values).max(initial=0.0))
        for _ in range(MOST_DOUBLINGS):
            self.lower[codes] = values - below - apart * weights
            self.upper[codes] = values + below + apart * weights
            if self._missed(tiers) <= 0:
                return
            apart *= 2
        message = (
            f"the bounds of {type(self.solution.solver).__name__} cannot be certified in "
            f"{shown(self.solution.model.state(int(codes[0])))}, nor where its tier is the same. "
            "Solve "
            "with a larger tolerance."
        )
        raise CertificateError(message)

    def _polish(self, tiers: _Tiers) -> None:
        """Polish the values of tiers by sweeps, as long as they converge fast."""
        before = np.inf
        for _ in range(MOST_POLISHING):
            change = 0.0
            for batch in tiers:
                least, most = self._values(batch, (self.values, self.values))
                middle = least + (most - least) / 2
                change = max(change, float(np.abs(middle - self.values[batch.codes]).max()))
                self.values[batch.codes] = middle
            if not 0 < change <= before / 2:
                return
            before = change

    def _distance_below(self, codes: Integers) -> float:
        """Return the largest distance of values from their bounds, where those have been found."""
        order = self.stages.order
        done = order < order[codes[0]]
        distance = np.maximum(self.values - self.lower, self.upper - self.values)[done]
        return float(distance[np.isfinite(distance)].max(initial=0.0))

    def _missed(self, tiers: _Tiers) -> float:
        """Return the largest miss of bounds of some tiers in their proof; infinite if unknown."""
        most = -np.inf
        for batch in tiers:
            least, greatest = self._values(batch)
            codes = batch.codes
            missed = np.maximum(self.lower[codes] - least, greatest - self.upper[codes])
            if np.isnan(missed).any():
                return np.inf
            most = max(most, float(missed.max()))
        return most

    def _weigh(self, tiers: _Tiers) -> None:
        """Find weights: the largest expected numbers of further stages of a tier."""
        self.has_weights = True
        largest = int(np.bincount(self.stages.order[tiers.codes]).max())
        for number in range(MOST_SWEEPS):
            rise = self._rise(tiers, writes=True)
            # Where play surely leaves, it may have left after as many stages as there are contexts.
            if not rise < np.inf or (rise >= 1 and number > largest):
                break
            # If one more sweep adds at most r < 1, the weights over 1 - r do what is asked of them.
            # Where r is close to 1, they are larger than they must be, and found soon.
            if rise <= 0.5 or (rise < 1 and number >= ENOUGH_SWEEPS and number.bit_count() == 1):
                weights = self.weights[tiers.codes]
                room = 1 - rise - ROOM * float(weights.max())
                if room <= 0:
                    continue
                self.weights[tiers.codes] = weights / room
                if self._rise(tiers) <= 0:
                    return
                self.weights[tiers.codes] = weights
        message = (
            f"there is no certificate: no weights show that play leaves the tier of "
            f"{shown(self.solution.model.state(int(tiers.codes[0])))}, or one of those after it, "
            "however both play. The solver has proven its bounds in another way."
        )
        raise CertificateError(message)

    def _rise(self, tiers: _Tiers, *, writes: bool = False) -> float:
        """Return by how much weights fall short at most; raise them if `writes` is true.

        None is raised before all are compared: so none rises by one or more where play leaves.
        """
        rise, raised = -np.inf, []
        for batch in tiers:
            least = self.stages.stages_to_come(batch, self.weights)
            rise = max(rise, float((least - self.weights[batch.codes]).max()))
            raised.append((batch.codes, least))
        for codes, least in raised if writes else ():
            self.weights[codes] = np.maximum(least, self.weights[codes])
        return rise
