"""Certificates of staged games, and the rules by which they are accepted.

Write T for one stage: values of contexts give those of the ends of the stage in each context, and
backward induction over the stage gives the value of the context. T is monotone.

**Theorem.** If ``lower <= T lower`` in every context, ``lower`` is at most the payoff where
the game is over, and no context leads to one of a higher tier, then ``lower`` holds, provided that
there are weights, one at least, such that in contexts which may lead to others of the same tier
``weight >= 1 + (the largest mean of the weights of the same tier that may come next)``.

*Proof.* By induction over the tiers: let ``lower`` hold in all lower ones. The weight of a context
is at least the expected number of stages until its tier is left, however both play: so play ends
almost surely. With the values of lower tiers fixed to ``lower``, T is a contraction in the maximum
norm weighted by ``weight``, with the factor ``1 - 1 / max(weight)``. Iterated from ``lower``, it
never falls, and converges to its unique fixed point: the value of the game that pays ``lower``
where the tier is left. That is at most the value of the game. ∎

An upper bound is a lower one of the game with all payoffs and rewards negated. After the players
change places, the bound for one of them is the constant sum minus the other's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.certificates.checking.choice_values import (
    Group,
    Rows,
    groups_of,
    means_below,
    sums_below,
)
from gamedp.certificates.checking.rule_set import ArraySpec, Counts, always, optional
from gamedp.errors import CertificateError, InvalidModelError, shown
from gamedp.model.model import check_finite
from gamedp.model.objectives import Objective, TotalReward
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gamedp.certificates.certificate import Certificate
    from gamedp.model.objectives import Optimum
    from gamedp.runtime.arrays import Flags, Floats
    from gamedp.runtime.limit import Reporter

    Integers = NDArray[np.int64]
    from gamedp.model.model import Model

BLOCK = 1 << 20
"""Number of values that a sweep processes together: they fit into a processor's cache."""

ENDS_PER_QUERY = 1 << 21
"""Number of ends times contexts in one query to the rules."""

OVER = -1
"""The place in the order of tiers of contexts where the game is over: before all others."""

NOWHERE = 1 << 62
"""The place of a non-context, or one represented by another: after all others."""


@attrs.frozen(eq=False)
class ContextBatch:
    """Some contexts, and where the ends of the stage lead to from each: n of them, with E ends.

    Attributes
    ----------
    codes : (n,)
        Of the contexts.
    allowed : (E, n) bool
        Whether the stage may end so.
    following : (E, n)
        The code of the next context's representative.
    swapped : (E, n) bool
        Whether the players change places on the way there.
    rewards : (E, n)
        The reward of the end.
    stays : (E, n) bool
        Whether the next context has the same tier.
    """

    codes: Integers
    allowed: Flags
    following: Integers
    swapped: Flags
    rewards: Floats
    stays: Flags


class Stages:
    """A staged model as the checker sees it: a lattice, and contexts in their order.

    Attributes
    ----------
    model : StagedModel
    lattice : Lattice
    codes : (n,)
        The contexts in which the stage is played, by tier.
    offsets : (R+1,)
        The index at which each tier begins.
    order : (B,)
        The place of each context's tier among them; OVER, or NOWHERE.
    payoffs : (B,)
        The payoffs where the game is over.
    """

    def __init__(self, model: StagedModel) -> None:
        check_finite(model.stage)
        self.model = model
        self.lattice = Lattice.of(model.stage)
        contexts = model.sweeper.survey()
        self.codes, self.offsets, self.payoffs = contexts.codes, contexts.offsets, contexts.values
        self.order: Integers = np.where(np.isnan(self.payoffs), NOWHERE, OVER)
        num_tiers = len(self.offsets) - 1
        self.order[self.codes] = np.repeat(np.arange(num_tiers), np.diff(self.offsets))
        self.width = max(16, BLOCK // self.lattice.height)

    def batches(self, codes: Integers) -> Iterator[ContextBatch]:
        """Yield batches of contexts with their successors, each of the size of a sweep.

        Raises
        ------
        InvalidModelError
            If a context leads to one of a higher tier, to something else, or earns no number.
        """
        num_ends = len(self.lattice.ends)
        many = -(-max(1, ENDS_PER_QUERY // num_ends) // self.width) * self.width
        for first in range(0, len(codes), many):
            some = codes[first : first + many]
            onward = self.model.sweeper.follow(some)
            allowed = onward.following >= 0
            own = self.order[some, None]
            next_ = np.where(allowed, self.order[onward.following], OVER)
            rises: Flags = next_ > own
            self._check(some, rises, "leads to one of a higher tier, or to none")
            odd: Flags = allowed & ~np.isfinite(onward.rewards)
            self._check(some, odd, "has an end whose reward is not a finite number")
            arrays = (allowed, onward.following, onward.swaps, onward.rewards, next_ == own)
            for start in range(0, len(some), self.width):
                part = slice(start, start + self.width)
                columns = (np.ascontiguousarray(array[part].T) for array in arrays)
                yield ContextBatch(some[part], *columns)

    def _check(self, codes: Integers, wrong: Flags, what: str) -> None:
        """Raise InvalidModelError for the first context with an end that is wrong."""
        if wrong.any():
            code = int(codes[wrong.any(axis=1).argmax()])
            message = f"{shown(self.model.state(code))} {what}. Fix the rules."
            raise InvalidModelError(message)

    def context_values(
        self, batch: ContextBatch, bounds: tuple[Floats, Floats], sign: float, optimum: Optimum
    ) -> Floats:
        """Return the least values of contexts, from the bounds of their successors; (n,).

        Parameters
        ----------
        batch : ContextBatch
        bounds : (lower, upper)
        sign : {1.0, -1.0}
            -1 for the greatest values, with the other sign.
        optimum : {"max", "min"}
            Player 0's aim.
        """
        own, other = (bounds[0], bounds[1]) if sign > 0 else (-bounds[1], -bounds[0])
        ends = own[batch.following]
        if batch.swapped.any():
            constant = np.full(ends.shape, sign * self.model.constant_sum)
            swapped = sums_below(constant, -other[batch.following])
            ends = np.where(batch.swapped, swapped, ends)
        if batch.rewards.any():
            ends = sums_below(ends, sign * batch.rewards)
        ends[~batch.allowed] = np.nan
        first = (sign > 0) == (optimum == "max")
        return self.lattice.sweep(ends, sign, (first, not first))

    def stages_to_come(self, batch: ContextBatch, weights: Floats) -> Floats:
        """Return the least weights of contexts, from those of their successors; (n,)."""
        ends = np.where(batch.stays, -weights[batch.following], 0.0)
        ends[~batch.allowed] = np.nan
        return -sums_below(
            self.lattice.sweep(ends, 0.0, (False, False)), np.full(len(batch.codes), -1.0)
        )


class StagesRules:
    """Bounds of all contexts of a staged game, and weights of contexts that form cycles.

    The theorem is at the head of this file.
    """

    name = "stages"
    model_type: type = StagedModel
    arrays: tuple[ArraySpec, ...] = (
        ArraySpec("lower", np.float64, "B", always),
        ArraySpec("upper", np.float64, "B", always),
        ArraySpec("weights", np.float64, "B", optional),
    )
    most_shift = 0

    def sizes(self, model: StagedModel) -> dict[str, int]:
        """Return the number of combinations in the box of contexts."""
        return {"B": model.num_states}

    def accepts(self, model: StagedModel, objective: Objective) -> str:
        """Return why there are no certificates for such a problem; ``""`` if there are."""
        del model
        if not isinstance(objective, TotalReward) or objective.until is not None:
            return "certificates of staged games are for the total reward without a target."
        return ""

    def claim(self, model: StagedModel, objective: Objective) -> str:
        """Return the claim in words."""
        del model
        who = "largest" if objective.optimum == "max" else "smallest"
        return (
            f"For every context, the {who} expected total that player 0 can secure lies between "
            "lower and upper."
        )

    def check(self, model: StagedModel, certificate: Certificate, reporter: Reporter) -> Counts:
        """Raise CertificateError unless everything holds."""
        stages = Stages(model)
        _check_numbers(stages, certificate)
        _check_ends(stages, certificate)
        num_contexts, done = len(stages.codes), 0
        with np.errstate(all="ignore"):  # what overflows is not proven
            for batch in stages.batches(stages.codes):
                reporter.report(done, num_contexts, f"{done:,} contexts")
                _check_weights(stages, batch, certificate)
                for sign, name in ((1.0, "lower"), (-1.0, "upper")):
                    _check_bounds(stages, batch, certificate, sign, name)
                done += len(batch.codes)
        return Counts(num_contexts, num_contexts * model.stage.num_choices, 0)


def _check_numbers(stages: Stages, certificate: Certificate) -> None:
    """Raise unless there are numbers for exactly the existing contexts."""
    real = stages.order != NOWHERE
    for name in ("lower", "upper", "weights"):
        array = certificate.array(name)
        if array is None:
            continue
        if name == "weights":
            wrong, what = real & ~((array >= 1) & (array < np.inf)), "it must be finite, 1 or more"
        else:
            outer = np.inf if name == "upper" else -np.inf
            wrong = np.isnan(array) == real
            wrong |= np.isinf(array) & (array != outer)
            what = f"it must be a finite number or {outer}, and nan where there is no context"
        if wrong.any():
            code = int(wrong.argmax())
            message = f"{name}[{code}] is {array[code]}; {what}."
            raise CertificateError(message)


def _check_ends(stages: Stages, certificate: Certificate) -> None:
    """Raise unless the bounds are right where the game is over."""
    over = stages.order == OVER
    wrong = over & ~((certificate.lower <= stages.payoffs) & (stages.payoffs <= certificate.upper))
    if wrong.any():
        code = int(wrong.argmax())
        message = (
            f"lower[{code}] = {float(certificate.lower[code])!r} and upper[{code}] = "
            f"{float(certificate.upper[code])!r} of {shown(stages.model.state(code))} are wrong: "
            f"the game is over there, and pays {float(stages.payoffs[code])!r}."
        )
        raise CertificateError(message)


def _check_weights(stages: Stages, batch: ContextBatch, certificate: Certificate) -> None:
    """Raise unless play certainly leaves the tier of contexts with a claim."""
    codes = batch.codes
    claimed = np.isfinite(certificate.lower[codes]) | np.isfinite(certificate.upper[codes])
    asked = batch.stays.any(axis=0) & claimed
    if not asked.any():
        return
    weights = certificate.evidence.get("weights")
    if weights is None:
        message = (
            f"{shown(stages.model.state(int(codes[asked.argmax()])))} may lead to a context of "
            "its own tier; so the certificate needs weights."
        )
        raise CertificateError(message)
    least = stages.stages_to_come(batch, weights)
    wrong = asked & ~(weights[codes] >= least)
    if wrong.any():
        place = int(wrong.argmax())
        code = int(codes[place])
        message = (
            f"weights[{code}] = {float(weights[code])!r} of "
            f"{shown(stages.model.state(code))} do not show that play leaves its tier: by those "
            f"that may follow it must be {float(least[place])!r} at least."
        )
        raise CertificateError(message)


def _check_bounds(
    stages: Stages, batch: ContextBatch, certificate: Certificate, sign: float, name: str
) -> None:
    """Raise unless the bounds follow from those of the next contexts."""
    codes = batch.codes
    bounds = (certificate.lower, certificate.upper)
    values = stages.context_values(batch, bounds, sign, certificate.objective.optimum)
    claimed = sign * getattr(certificate, name)[codes]
    wrong = ~(claimed <= values) & (claimed > -np.inf)
    if wrong.any():
        place = int(wrong.argmax())
        code, number = int(codes[place]), sign * float(values[place])
        limit = "no more" if sign > 0 else "no less"
        message = (
            f"{name}[{code}] = {sign * float(claimed[place])!r} of "
            f"{shown(stages.model.state(code))} is not certified: by the bounds that follow, "
            f"{limit} than {number!r} is guaranteed."
        )
        raise CertificateError(message)


@attrs.frozen(eq=False)
class Movers:
    """States of a level whose movers have the same aim and equally many choices.

    Attributes
    ----------
    states : (m,)
    player : int
        The player to move.
    is_sure : bool
        Whether every choice leads to one state for sure, and nothing is paid.
    sources : (k, m)
        These states; or else the places of the choices in the level.
    """

    states: Integers
    player: int
    is_sure: bool
    sources: Integers


@attrs.frozen(eq=False)
class Level:
    """States with the same number of steps to the ends, on the longest path.

    Attributes
    ----------
    rewards : (c, 1)
        Of the choices that are not sure.
    groups : list of Group
        These by the number of their outcomes.
    movers : list of Movers
    """

    rewards: Floats
    groups: list[Group]
    movers: list[Movers]

    @classmethod
    def of(cls, stage: Model, rows: Rows, states: Integers) -> Level:
        """Gather the data of some states."""
        firsts = stage.choice_offsets[states]
        counts = stage.choice_offsets[states + 1] - firsts
        sure = (rows.counts == 1) & (stage.rewards == 0)
        is_sure = np.array(
            [sure[first : first + count].all() for first, count in zip(firsts, counts, strict=True)]
        )
        numbers = np.where(is_sure, 0, counts)
        ends = np.cumsum(numbers)
        choices = np.arange(ends[-1]) + np.repeat(firsts - (ends - numbers), numbers)
        kinds = np.stack([counts, stage.players[states], is_sure], axis=1)
        movers = []
        for count, player, plain in np.unique(kinds, axis=0).tolist():
            some = np.flatnonzero((kinds == (count, player, plain)).all(axis=1))
            if plain:
                sources = rows.successors[rows.starts[firsts[some] + np.arange(count)[:, None]]]
            else:
                sources = (ends - numbers)[some] + np.arange(count)[:, None]
            movers.append(Movers(states[some], player, bool(plain), sources))
        return cls(stage.rewards[choices][:, None], groups_of(rows, choices), movers)


@attrs.frozen(eq=False)
class Lattice:
    """An acyclic model with one initial state, by levels.

    Attributes
    ----------
    num_states : int
    start : int
    ends : (E,)
        The terminal states.
    levels : list of Level
        Of all other states, successors first.
    """

    num_states: int
    start: int
    ends: Integers
    levels: list[Level]

    @classmethod
    def of(cls, stage: Model) -> Lattice:
        """Return the lattice of a stage.

        Raises
        ------
        InvalidModelError
            If it has a cycle.
        """
        rows = Rows.of(stage, np.arange(stage.num_states))
        levels = [Level.of(stage, rows, states) for states in _by_level(stage, rows)]
        return cls(stage.num_states, int(stage.initial_states[0]), stage.terminals, levels)

    @property
    def height(self) -> int:
        """The largest number of rows that a sweep processes together."""
        return self.num_states + max(len(level.rewards) for level in self.levels)

    def sweep(self, ends: Floats, sign: float, wants_most: tuple[bool, bool]) -> Floats:
        """Return the least value of the stage.

        Parameters
        ----------
        ends : (E, n)
            The least values of its ends, for n contexts; NaN where an end is not allowed. A
            choice that may lead there cannot be taken.
        sign : {1.0, -1.0, 0.0}
            The factor of the rewards on the way.
        wants_most : (bool, bool)
            Whether player 0 wants the most, and whether the other one does.

        Returns
        -------
        (n,) float64
            NaN where no way through the stage is allowed.
        """
        block = np.empty((self.num_states, ends.shape[1]))
        block[self.ends] = ends
        for level in self.levels:
            means = means_below(level.groups, block)
            if sign and level.rewards.any():
                means = sums_below(means, sign * level.rewards)
            for some in level.movers:
                better = np.fmax if wants_most[some.player] else np.fmin  # a number goes before NaN
                values = block if some.is_sure else means
                best = values[some.sources[0]]
                for source in some.sources[1:]:
                    better(best, values[source], out=best)
                block[some.states] = best
        own: Floats = block[self.start]
        return own.copy()


def _by_level(stage: Model, rows: Rows) -> list[Integers]:
    """Return the states other than ends, by the longest path to an end."""
    owners = np.repeat(rows.state_of, rows.counts)
    by_successor = np.argsort(rows.successors, kind="stable")
    offsets = np.searchsorted(rows.successors[by_successor], np.arange(stage.num_states + 1))
    waiting = np.bincount(owners, minlength=stage.num_states)
    done = np.flatnonzero(waiting == 0)
    left = stage.num_states - len(done)
    levels: list[Integers] = []
    while len(done):
        sources = [by_successor[slice(*offsets[state : state + 2])] for state in done.tolist()]
        states, times = np.unique(owners[np.concatenate(sources)], return_counts=True)
        waiting[states] -= times
        done = states[waiting[states] == 0]
        left -= len(done)
        if len(done):
            levels.append(done)
    if left:
        message = "the stage can go on for ever. A stage must be acyclic."
        raise InvalidModelError(message)
    return levels
