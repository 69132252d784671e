"""Certificates made from solutions: bounds that keep their inequalities, with ranks.

Proven bounds need not satisfy all inequalities to the last digit, as they were rounded after the
proof. Where one fails, the bounds are widened a little along one policy until it holds; they remain
true. Where play lasts so long that this would widen them too much, they are made finer than
doubles.

Where the solver's policy satisfies the inequalities up to rounding, and reaches states that need no
proof, only the policy's choices of a helper are used: nothing need be known of the others.

Equilibria, of players with payoffs of their own, are certified below. Proven bounds of the policy
need not bound the values of other choices to the last digit. They are then moved apart a little for
every step that may remain, so that those of a state are farther apart than those of any
successor.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.certificates.certificate import Certificate
from gamedp.certificates.checking.bounds import recompute
from gamedp.certificates.checking.checker import accept
from gamedp.certificates.checking.choice_values import choice_values, exactly_keeps, slices
from gamedp.certificates.checking.directions import Ending, oriented
from gamedp.certificates.checking.equilibrium import needed
from gamedp.certificates.making import kernels
from gamedp.certificates.making.endless import refuse_oscillations
from gamedp.certificates.making.ranks import (
    FEWEST,
    MOST_EXACT as MOST_DECIDED,
    NONE,
    FirstLook,
    Ranking,
    Sides,
)
from gamedp.certificates.making.refinement import Refining, cut
from gamedp.errors import CertificateError, UnsupportedProblemError, shown
from gamedp.graph.structure import Structure
from gamedp.model.objectives import AverageReward, FiniteHorizon, TotalReward
from gamedp.results.solution import Solution
from gamedp.results.status import Guarantee, Status
from gamedp.runtime.arrays import places_of_rows
from gamedp.runtime.floats import UNIT
from gamedp.runtime.limit import Reporter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Floats

    Integers = NDArray[np.int64]
    from gamedp.model.model import Model
    from gamedp.results.solution import Solution


Ranked: TypeAlias = tuple[Certificate, bool]
"""A certificate, and whether it has all the ranks that it needs."""

MARGINS = (2.0**-50, 2.0**-44, 2.0**-38, 2.0**-30)
"""Relative errors by which a choice may miss its inequality and still be used as bounds move."""

MOST_MOVED = 2.0**-40
"""Largest desired shift of bounds for rounding, as a part of the largest one."""

FEW_EXACT = 16
"""Number of choices decided in rational numbers before wider bounds, which need none, are tried."""

FEW_SWEEPS, MOST_SWEEPS = 50, 3000
"""Number of sweeps to widen bounds, before finer ones, which need no sweeps, and after."""

LEAST_MOVED = 2.0**-1040
"""Shift that is always allowed: the smallest numbers have no room for a relative one."""

PARTS = (2, 4, 9)
"""Numbers of doubles whose sums are the finer bounds; more than two need rational numbers."""

MOST_EXACT = 100_000
"""Largest number of transitions of models whose bounds are refined in rational numbers."""

NEAR_THE_END = 2.0**-600
SHIFT = 1000
"""If all bounds are tiny, their rests are scaled by 2 to the power of minus this."""


def certify(solution: Solution) -> Certificate:
    """Return a certificate of a solution; see :func:`gamedp.certify`."""
    model, objective = solution.model, solution.objective
    if solution.guarantee is Guarantee.EQUILIBRIUM:
        return certify_equilibrium(solution)
    if solution.guarantee is not Guarantee.TWO_SIDED:
        message = (
            f"there is no certificate for a solution whose guarantee is {solution.guarantee.name}: "
            f"{solution.guarantee.value}."
        )
        raise UnsupportedProblemError(message)
    refuse_oscillations(solution)
    plain = Certificate(
        objective=objective,
        lower=solution.lower,
        upper=solution.upper,
        digest=model.digest(),
    )
    if isinstance(objective, AverageReward):
        return _averages(solution, plain)
    if isinstance(objective, FiniteHorizon):
        with np.errstate(all="ignore"):  # what overflows is not proven
            lower, upper = recompute(model, plain, objective, Reporter(None, "verify"))
        plain = attrs.evolve(
            plain,
            lower=np.minimum(solution.lower, lower),
            upper=np.maximum(solution.upper, upper),
        )
        accept(model, plain)
        return plain
    return _proven(solution, plain)


def _averages(solution: Solution, plain: Certificate) -> Certificate:
    """Return a certificate of averages, with the solver's biases, or zeros if there are none.

    The latter do for those bounds alone that hold for each step.
    """
    none = np.zeros(solution.model.num_states)
    low, high = solution.biases or (none, none)
    plain = plain.with_evidence(bias_lower=low, bias_upper=high)
    try:
        accept(solution.model, plain)
    except CertificateError as error:
        if solution.biases is None:
            message = (
                f"{type(solution.solver).__name__} gives no biases, which a proof needs: doubles "
                "are too coarse for them, or it was stopped. Use Discounted with a discount near "
                "one, or FiniteHorizon."
            )
            raise UnsupportedProblemError(message) from error
        for candidate in itertools.chain([plain], _wider_by_steps(solution, plain)):
            wider = _as_wide_as_means(solution, candidate)
            if wider is None or (candidate is plain and not _is_close(plain, wider)):
                continue
            with contextlib.suppress(CertificateError):
                accept(solution.model, wider)
                return wider
        raise
    return plain


def _wider_by_steps(solution: Solution, plain: Certificate) -> Iterator[Certificate]:
    """Yield bounds of averages, widened by the rounding of each step of the way to the gains.

    With the steps of the policy, ``w = 1 + P w``, bounds ``g - e w`` have e to spare on each of
    them. Where play goes round for long before it stays somewhere, a few sweeps do not reach means.
    What the biases lack where they are rounded is made up for by a constant, before the end.
    """
    import scipy.sparse.linalg  # noqa: PLC0415 - slow to import

    model, policy = solution.model, np.asarray(solution.policy, np.int64)
    movers = np.flatnonzero(policy >= 0)
    lengths = np.diff(model.transition_offsets)[policy[movers]]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    taken, _ = places_of_rows(model.transition_offsets[policy[movers]], lengths)
    sources, successors = np.repeat(movers, lengths), model.successors[taken]
    choice_offsets = np.searchsorted(movers, np.arange(model.num_states + 1))
    chain = Structure.of(choice_offsets, offsets, successors)
    passing = (policy >= 0) & (chain.end_component < 0)
    probabilities = np.where(passing[sources] & passing[successors], model.probabilities[taken], 0)
    everyone = np.arange(model.num_states)
    matrix = scipy.sparse.coo_array(
        (
            np.concatenate([np.ones(model.num_states), -probabilities]),
            (np.concatenate([everyone, sources]), np.concatenate([everyone, successors])),
        )
    )
    try:
        steps = scipy.sparse.linalg.splu(matrix.tocsc()).solve(passing.astype(np.float64))
    except RuntimeError:  # singular, as far as doubles can tell
        return
    if not np.isfinite(steps).all():
        return
    size = max(float(np.abs(bound).max(initial=0.0)) for bound in (plain.lower, plain.upper))
    earned = float(np.abs(model.rewards).max(initial=0.0))
    assert solution.biases is not None  # noqa: S101 - or there is nothing to widen
    beyond = max(float(np.abs(bias).max(initial=0.0)) for bias in solution.biases)
    once = np.where(np.diff(model.choice_offsets) > 0, size + earned + 2 * beyond, 0.0)
    on_the_way = size * np.abs(steps)
    for amount in (on_the_way, once, once + on_the_way):
        for units in (4.0, 64.0, 1024.0):
            off = units * UNIT * amount
            yield attrs.evolve(plain, lower=plain.lower - off, upper=plain.upper + off)


def _as_wide_as_means(solution: Solution, plain: Certificate) -> Certificate | None:
    """Return bounds of averages that are no narrower than the means of their successors.

    A bound that was rounded on its own may miss the mean by a unit in the last place. It is moved
    there, along the solution's policy; so are then those before it. None where that goes on.
    """
    model, wider = solution.model, plain
    place = np.asarray(solution.policy, np.int64) - model.choice_offsets[:-1]
    for _ in range(FEW_SWEEPS):
        sides = []
        for sign in (1.0, -1.0):
            direction = oriented(model, wider, plain.objective, sign)
            bound = direction.bound.copy()
            for rows in slices(model, direction.required):
                with np.errstate(all="ignore"):  # what overflows is not proven
                    values = choice_values(model, direction, direction.inequalities[0], rows)
                    holds, _ = values.compare(direction.bound[rows.state_of])
                    means = np.where(holds, np.inf, values.lower())
                least = np.minimum.reduceat(means, rows.first_choices)
                own = means[rows.first_choices + place[rows.movers]]
                means = np.where(direction.maximise[rows.movers], own, least)
                bound[rows.movers] = np.minimum(bound[rows.movers], means)
            sides.append(bound)
        before, wider = wider, attrs.evolve(wider, lower=sides[0], upper=-sides[1])
        if (before.lower == wider.lower).all() and (before.upper == wider.upper).all():
            return wider
    return None


def _proven(solution: Solution, plain: Certificate) -> Certificate:
    """Return the first certificate that is accepted and whose bounds have hardly moved.

    If there are none, of the narrowest ones.
    """
    refused: CertificateError | None = None
    narrowest: Certificate | None = None
    for certificate in _likely_first(_candidates(solution, plain)):
        try:
            accept(solution.model, certificate)
        except CertificateError as error:
            refused = refused or error
            continue
        _require_agreement(solution, certificate)
        if _is_close(plain, certificate):
            return certificate
        if narrowest is None or _width(certificate) < _width(narrowest):
            narrowest = certificate
    if narrowest is not None:
        return narrowest
    message = (
        f"the bounds of {type(solution.solver).__name__} cannot be certified: {refused} Solve with "
        "a larger tolerance, or by another solver."
    )
    raise CertificateError(message) from refused


def _require_agreement(solution: Solution, certificate: Certificate) -> None:
    """Raise CertificateError if the certified bounds contradict the solution."""
    apart = (certificate.lower > solution.upper) | (certificate.upper < solution.lower)
    if apart.any():
        state = int(apart.argmax())
        message = (
            f"the bounds of {type(solution.solver).__name__} are wrong: the value of "
            f"{shown(solution.model.state(state))} lies between "
            f"{float(certificate.lower[state])!r} and {float(certificate.upper[state])!r}, as a "
            f"certificate proves, and not between {float(solution.lower[state])!r} and "
            f"{float(solution.upper[state])!r}."
        )
        raise CertificateError(message)


def _likely_first(candidates: Iterator[Ranked]) -> Iterator[Certificate]:
    """Leave out bounds that lack a rank, except the last, whose error is reported."""
    lacking: Certificate | None = None
    for certificate, is_complete in candidates:
        if is_complete:
            yield certificate
        elif lacking is None:
            lacking = certificate
    if lacking is not None:
        yield lacking


def _candidates(solution: Solution, plain: Certificate) -> Iterator[Ranked]:
    """Yield bounds that may be accepted, the best ones first.

    First along the solver's policy, if that does. The bounds as they are; else a little wider, if
    few sweeps do; else values finer than doubles, as exact ones are already; else bounds that
    were swept for long. Where rounding has stopped a solver, its values may be known more closely
    than it could say: they come first. So do wider bounds, where much would have to be decided in
    rational numbers.
    """
    model = solution.model
    stopped_by_rounding = solution.status is Status.ROUNDING and solution.exact is None
    yield from _along_policy(solution, plain)
    few = {} if solution.exact else {"most_exact": FEW_EXACT}
    look = FirstLook(model, plain, **few)
    if not stopped_by_rounding:
        is_open = look.num_open > 0
        if not is_open and look.allows(0.0):
            yield _ranked(look)
        if solution.exact is None:
            yield from _wider(look, FEW_SWEEPS)
        if is_open:
            look.decide(MOST_DECIDED)
            yield _ranked(look)
    for finer in _finer(solution, plain):
        if not stopped_by_rounding or _width(finer) <= _width(plain):
            yield _ranked(FirstLook(model, finer))
    if stopped_by_rounding:
        look.decide(MOST_DECIDED)
        yield _ranked(look)
    yield from _wider(look, MOST_SWEEPS)
    if not look.allows(0.0):
        yield _ranked(look)


def _along_policy(solution: Solution, plain: Certificate) -> Iterator[Ranked]:
    """Return bounds that the solver's policy keeps, if they have hardly moved."""
    if solution.status is Status.SOLVED and solution.exact is None:
        along = certified_along_policy(solution, plain, FEW_EXACT)
        if along is not None and _is_close(plain, along):
            yield along, True


def _ranked(look: FirstLook) -> Ranked:
    """Return bounds with ranks, from the choices that certainly keep them."""
    ranking = Ranking(look, 0.0)
    return ranking.certificate(), ranking.is_complete


def _width(certificate: Certificate) -> float:
    """Return the largest distance of finite bounds."""
    with np.errstate(invalid="ignore"):
        apart = certificate.upper - certificate.lower
    return float(np.max(apart, where=np.isfinite(apart), initial=0.0))


def _wider(look: FirstLook, most_sweeps: int) -> Iterator[Ranked]:
    """Yield bounds that were widened along a policy, unless that takes too long."""
    lacking = []
    for margin in MARGINS:
        ranking = Ranking(look, margin) if look.allows(margin) else None
        if ranking is not None and ranking.is_complete:
            yield from _relaxed(ranking, most_sweeps)
        else:
            lacking.append(margin)
    for margin in lacking:
        yield from _relaxed(Ranking(look, margin), most_sweeps)


def _relaxed(ranking: Ranking, most_sweeps: int) -> Iterator[Ranked]:
    """Return bounds that are widened with their ranks, and then with the new ranks."""
    wider = ranking.relaxed(most_sweeps)
    if wider is not None and _is_close(ranking.plain, wider):
        yield wider, ranking.is_complete
        yield _ranked(FirstLook(ranking.model, wider))


def _finer(solution: Solution, plain: Certificate) -> Iterator[Certificate]:
    """Yield bounds near the values as sums of doubles: of two, and of more in small models."""
    values: Any = solution.exact
    if values is None:
        values = solution.values.tolist()
        plain = attrs.evolve(plain, lower=solution.values, upper=solution.values)
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0)
    look = FirstLook(solution.model, plain, most_exact=0)
    rankings = [Ranking(look, margin) for margin in MARGINS]
    for parts in PARTS if solution.model.num_transitions <= MOST_EXACT else PARTS[:1]:
        shift = SHIFT if parts > 2 and largest < NEAR_THE_END else 0
        start = np.stack(
            [cut([sign * value for value in values], parts, shift) for sign in (1, -1)]
        )
        tried: set[bytes] = set()
        for ranking in rankings:
            refining = _refining(solution, ranking, start, shift)
            if refining.choices.tobytes() in tried:
                continue
            tried.add(refining.choices.tobytes())
            if refining.refine(signed=0 if solution.exact else 3):
                yield refining.certificate()


def _refining(solution: Solution, ranking: Ranking, start: Floats, shift: int) -> Refining:
    """Return a refinement that starts from some bounds, and keeps infinite and known ones."""
    inside = ranking.active & np.isfinite(start[:, 0])
    as_it_is = np.zeros_like(start)
    for number, direction in enumerate(ranking.directions):
        as_it_is[number, 0] = np.where(direction.ends, direction.values, direction.bound)
    helps = ranking.equation.maximise
    return Refining(
        model=solution.model,
        plain=ranking.plain,
        parts=np.where(inside[:, None, :], start, as_it_is),
        shift=shift,
        active=inside,
        helps=helps,
        choices=np.where(
            helps & ~ranking.free & (ranking.via >= 0),
            ranking.via,
            np.asarray(solution.policy, np.int64),
        ),
    )


def _is_close(plain: Certificate, wider: Certificate) -> bool:
    """Return whether bounds have moved by at most the rounding, or their former distance.

    A solver may know one bound of a state more closely than follows from those of its neighbours.
    """
    if (plain.lower == wider.lower).all() and (plain.upper == wider.upper).all():
        return True
    with np.errstate(invalid="ignore"):  # infinite bounds stay what they are
        moved = np.fmax(plain.lower - wider.lower, wider.upper - plain.upper)
    size = max(
        float(np.abs(bounds).max(where=np.isfinite(bounds), initial=0.0))
        for bounds in (plain.lower, plain.upper)
    )
    return not (moved > MOST_MOVED * size + LEAST_MOVED + _width(plain)).any()


MOST_POLICY_SWEEPS = 20
"""Largest number of sweeps to rank nodes, and to widen bounds, before another method is used."""


def certified_along_policy(
    solution: Solution, plain: Certificate, most_exact: int
) -> Certificate | None:
    """Return bounds that the policy keeps, widened for rounding where needed, with ranks.

    None if that takes too long, or if other choices are needed.

    Parameters
    ----------
    solution : Solution
    plain : Certificate
        Its bounds.
    most_exact : int
        States to decide in rational numbers, rather than to widen their bounds.
    """
    sides = Sides(solution.model, plain)
    if (sides.active != sides.required).any():
        return None  # what is infinite takes more than a policy
    via = np.tile(np.asarray(solution.policy, np.int64), (2, 1))
    fails = np.empty_like(sides.required)
    discount = sides.directions[0].discount
    with np.errstate(all="ignore"):  # what overflows fails
        count = kernels.look_along_jit(
            sides.equation, sides.columns(), discount, sides.required, via, fails
        )
    ranks = _ranks(sides, via) if sides.ranked else None
    if sides.ranked and ranks is None:
        return None
    wider = plain
    if count and not (count <= most_exact and _keep_exactly(sides, fails)):
        bounds = _widened(sides, via, fails)
        if bounds is None:
            return None
        wider = attrs.evolve(plain, lower=bounds[0], upper=-bounds[1])
    if ranks is None:
        return wider
    return wider.with_evidence(lower_ranks=ranks[0], upper_ranks=ranks[1])


def _keep_exactly(sides: Sides, fails: Flags) -> bool:
    """Return whether nodes keep their bounds after all, in rational numbers."""
    offsets = sides.model.choice_offsets
    for number, state in np.argwhere(fails).tolist():
        direction = sides.directions[number]
        keep = (
            exactly_keeps(sides.model, direction, choice)
            for choice in range(*offsets[state : state + 2].tolist())
        )
        if not (any(keep) if sides.equation.maximise[number, state] else all(keep)):
            return False
    return True


def _widened(sides: Sides, via: Integers, fails: Flags) -> Floats | None:
    """Return bounds that are lowered until they keep their inequalities; None if they do not."""
    bounds = sides.bounds.copy()
    constants = np.array([direction.constant for direction in sides.directions])
    for sweep in range(MOST_POLICY_SWEEPS):
        kernels.relax_jit(
            sides.equation, sweep % 2 == 1, sides.reverse, via, sides.active, constants,
            sides.directions[0].discount, fails, bounds,
        )  # fmt: skip
        if not fails.any():
            return bounds
    return None


def _ranks(sides: Sides, via: Integers) -> Integers | None:
    """Return the ranks of the nodes by the policy; None if one is missing."""
    free = np.array([[direction.ending is Ending.FREE] for direction in sides.directions])
    ranks = np.full(sides.required.shape, NONE)
    for number, direction in enumerate(sides.directions):
        ranks[number, (direction.ranks[0] == 0) & ~free[number]] = 0
    needed = sides.active & ~free & (ranks == NONE)
    content = _content(sides)
    for candidates in (needed & ~content, needed):
        waiting = int(np.count_nonzero(candidates))
        for by_number in (True, False):  # which is often enough, and needs no order
            for sweep in range(MOST_POLICY_SWEEPS if waiting else 0):
                ranked = kernels.rank_along_jit(
                    sides.equation if by_number else sides.ordered,
                    sweep % 2 == 1 or not by_number,
                    via,
                    candidates,
                    ranks,
                )
                waiting -= ranked
                if not waiting or FEWEST * ranked < waiting:
                    break
        if not (needed & ~content & (ranks == NONE)).any():
            return ranks
    return None


def _content(sides: Sides) -> Flags:
    """Return the nodes that need no rank, as endless play loses nothing there; (2, S).

    Only where no choice of the whole model loses anything, or none earns.
    """
    content = np.zeros_like(sides.required)
    for number, direction in enumerate(sides.directions):
        loses = not direction.never_earns and (sides.equation.constants[number] < 0).any()
        if direction.ending is Ending.RANKED and not loses:
            content[number] = direction.bound <= direction.draw
    return content


MOST_DOUBLINGS = 40
"""Largest number of doublings of the distance by which bounds miss their proof."""


def certify_equilibrium(solution: Solution) -> Certificate:
    """Return a certificate of a policy of several players; see :func:`gamedp.certify`."""
    model, structure, objective = solution.model, solution.model.structure, solution.objective
    if not isinstance(objective, TotalReward):
        message = f"there are no certificates of equilibria for {type(objective).__name__}."
        raise UnsupportedProblemError(message)
    certificate = Certificate(
        rules="equilibrium",
        objective=objective,
        lower=solution.lower,
        upper=solution.upper,
        evidence={
            "policy": solution.policy,
            "ranks": structure.levels[structure.component].astype(np.int64),
        },
        digest=model.digest(),
    )
    for sign in (1.0, -1.0):
        certificate = _moved(model, certificate, sign)
    accept(model, certificate)
    return certificate


def _moved(model: Model, certificate: Certificate, sign: float) -> Certificate:
    """Return the certificate with lower bounds (upper ones for -1) that are low enough."""
    name = "lower" if sign > 0 else "upper"
    bounds, steps = getattr(certificate, name), certificate.evidence["ranks"][:, None]
    apart = 0.0
    for _ in range(MOST_DOUBLINGS):
        missed = _missed(model, certificate, sign, getattr(certificate, name))
        if missed <= 0:
            break
        apart = max(2 * apart, missed)
        certificate = attrs.evolve(certificate, **{name: bounds - sign * apart * steps})
    return certificate


def _missed(model: Model, certificate: Certificate, sign: float, bounds: Floats) -> float:
    """Return the largest amount by which bounds miss their proof."""
    most = 0.0
    for rows in slices(model):
        least = needed(model, certificate, rows, sign)
        most = max(most, float((sign * bounds[rows.movers] - least).max()))
    return most
