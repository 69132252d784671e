"""Certificates of bounds: what they claim, in words and arrays, and each bound as a lower one.

An upper bound is a lower one of the model in which all rewards and payoffs have the other sign and
the players want the opposite. So there is one set of rules, which is applied twice.
"""

from __future__ import annotations

import enum
import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.certificates.checking.rule_set import ArraySpec, always
from gamedp.errors import CertificateError
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    Objective,
    Reachability,
    TotalReward,
    has_target,
    is_probability,
    value_of_endless_play,
)
from gamedp.rules.exactness import nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.certificates.certificate import Certificate
    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Floats

    Integers = NDArray[np.int64]
    Array = NDArray[Any]

LARGEST_REST = 2.0**1000


def may_drift(model: Model, objective: Objective) -> bool:
    """Return whether endless play may earn and lose, and earn ever more in the long run."""
    return isinstance(objective, TotalReward) and not model.has_swaps


def sums_until(objective: Objective) -> bool:
    """Return whether a total is summed until a target is reached, and infinite otherwise."""
    return isinstance(objective, TotalReward) and objective.until is not None


# Which arrays there are, and what they must be ---------------------------------------------------


def _of_ranks(model: Model, objective: Objective) -> bool | None:
    """Require ranks where play may go on for ever without a discount."""
    del model
    return True if isinstance(objective, (TotalReward, Reachability)) else None


def _of_gains(model: Model, objective: Objective) -> bool | None:
    """Allow gains where the certificate has ranks."""
    return None if _of_ranks(model, objective) is None else False


def _of_rests(model: Model, objective: Objective) -> bool | None:
    """Allow rests for all objectives but averages and finite horizons."""
    del model
    return False if isinstance(objective, (TotalReward, Reachability, Discounted)) else None


def _of_escapes(model: Model, objective: Objective) -> bool | None:
    """Allow escapes for totals until a target."""
    del model
    return False if sums_until(objective) else None


def _of_biases(model: Model, objective: Objective) -> bool | None:
    """Require biases for averages; allow drifts for totals."""
    if isinstance(objective, AverageReward):
        return True
    return False if may_drift(model, objective) else None


def _bounds(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
    """Allow infinite bounds, except of averages."""
    del model
    if isinstance(certificate.objective, AverageReward):
        return np.isfinite(array), "it must be a finite number"
    return ~np.isnan(array), "it must be a number"


def _ranks(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
    """Allow integers whose sums fit into 64 bits."""
    del model, certificate
    return (array >= -1) & (array < 1 << 62), "it must be -1, or from 0 to 2**62 - 1"


def _rests(sign: int) -> Callable[..., tuple[Flags, str]]:
    """Allow rests that imply the lower bound, for the sign 1, or the upper one."""

    def limits(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
        del model
        bound = certificate.lower if sign > 0 else certificate.upper
        most = np.where(np.isinf(bound), 0.0, LARGEST_REST)
        right = (sign * array >= 0) & (np.abs(array) <= most)
        least = "least" if sign > 0 else "most"
        return right, f"it must be finite and at {least} 0, or 0 beside infinity"

    return limits


def _biases(outer: float) -> Callable[..., tuple[Flags, str]]:
    """Allow finite numbers; for drifts, also the one that claims nothing."""

    def limits(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
        del model
        if isinstance(certificate.objective, AverageReward):
            return np.isfinite(array), "it must be a finite number"
        return np.isfinite(array) | (array == outer), f"it must be finite, or {outer!r}"

    return limits


ARRAYS: tuple[ArraySpec, ...] = (
    ArraySpec("lower", np.float64, "S", always, _bounds),
    ArraySpec("upper", np.float64, "S", always, _bounds),
    ArraySpec("lower_rest", np.float64, "K S", _of_rests, _rests(1)),
    ArraySpec("upper_rest", np.float64, "K S", _of_rests, _rests(-1)),
    ArraySpec("lower_ranks", np.int64, "S", _of_ranks, _ranks),
    ArraySpec("upper_ranks", np.int64, "S", _of_ranks, _ranks),
    ArraySpec("lower_gains", np.int64, "S", _of_gains, _ranks),
    ArraySpec("upper_gains", np.int64, "S", _of_gains, _ranks),
    ArraySpec("escapes", np.int64, "S", _of_escapes, _ranks),
    ArraySpec("bias_lower", np.float64, "S", _of_biases, _biases(-np.inf)),
    ArraySpec("bias_upper", np.float64, "S", _of_biases, _biases(np.inf)),
)


# The claims, and their problems ------------------------------------------------------------------


def refusal(model: Model, objective: Objective) -> str:
    """Return why a problem has no certificates of bounds; ``""`` if it has."""
    if model.is_general_sum:
        return (
            "such a certificate is for one player or two opponents; of others, equilibria are "
            "certified."
        )
    if model.has_swaps and has_target(objective):
        return (
            "there are no certificates for a target where the players change places (canonical): "
            "one player wants to reach it, and the other does not."
        )
    if model.has_swaps and model.constant_sum and not isinstance(objective, TotalReward):
        return (
            f"{type(objective).__name__} cannot be combined with constant_sum="
            f"{model.constant_sum:g} and players who change places (canonical): truncated totals "
            "no longer add up to that."
        )
    return ""


def check_draw(model: Model, objective: Objective) -> None:
    """Raise unless the objective gives endless play a possible value."""
    draw = getattr(objective, "draw", None)
    if draw and model.rewards.any():
        message = (
            f"draw is {draw!r}; only a total of payoffs alone, where no step earns anything, may "
            "let endless play count another number than 0."
        )
        raise CertificateError(message)


def words_of(model: Model, objective: Objective) -> str:
    """Return the claim of certificates of bounds."""
    what = {
        TotalReward: "expected total",
        Reachability: "probability that the target is reached",
        Discounted: "expected discounted total",
        FiniteHorizon: "expected total over the horizon",
        AverageReward: "expected reward per step in the long run",
    }[type(objective)]
    if isinstance(objective, FiniteHorizon) and is_probability(objective):
        what = "probability that the target is reached within the horizon"
    who = "largest" if objective.optimum == "max" else "smallest"
    return (
        f"For every state, the {who} {what} that player 0 can secure"
        f"{_against(model, objective)} lies between lower and upper"
        f"{_words_of_draws(model, objective)}."
    )


def _against(model: Model, objective: Objective) -> str:
    """Return the class of opponents for which the claim is true, if it is not true for all.

    A maximiser may play a fair game until they are ahead, which takes an infinite expected time: so
    with rewards of both signs, a total until a target is bounded from below only for opponents with
    finite memory.
    """
    if not sums_until(objective):
        return ""
    movers = model.players[np.diff(model.choice_offsets) > 0]
    has_opponents = len(movers) > 0 and bool((movers != movers[0]).any())
    if not has_opponents or not (model.rewards > 0).any() or not (model.rewards < 0).any():
        return ""
    return " against opponents with finite memory"


def _words_of_draws(model: Model, objective: Objective) -> str:
    """Return the value of endless play in words, if it has any."""
    if not isinstance(objective, TotalReward) or objective.until is not None:
        return ""
    low, high = value_of_endless_play(objective, model)
    if low != high:
        return f", whatever endless play counts from {low!r} to {high!r}"
    if low == 0:
        return ", where endless play counts what it earns on the way"
    return f", where endless play counts {low!r}"


GROWTH = 2.0**-40
"""Upper bound of the relative rounding error of a sum of rests."""

LEAST = 2.0**-1074
"""The least double."""

NEVER = 1 << 62
"""The rank of states from which play need not end; written -1 in a certificate."""


class Ending(enum.Enum):
    """The evidence that a finite lower bound needs besides its inequality."""

    FREE = enum.auto()
    """Nothing: later steps count less, or the value of endless play exceeds any bound."""
    RANKED = enum.auto()
    """Ranks that fall until play ends, or a bound and rewards that allow endless play."""
    STRICT = enum.auto()
    """Ranks that fall until play ends, also where the bound is plus infinity."""


@attrs.frozen(eq=False)
class Inequality:
    """A bound that must not exceed the value of a choice by the bounds of what follows.

    Attributes
    ----------
    bound, other : (S,)
        The bound, and the opposite one, which counts after a change of places.
    rewarded : bool
        Whether the reward counts.
    gain : (S,) or None
        The number subtracted from the reward.
    rests, other_rests : (K, S) or None
        The rests to add to `bound`, and to `other`, times 2 to the power of minus `shift`.
    """

    bound: Floats
    other: Floats
    rewarded: bool = True
    gain: Floats | None = None
    rests: Floats | None = None
    other_rests: Floats | None = None
    shift: int = 0

    @functools.cached_property
    def rest(self) -> Floats | None:
        """The sum of the rests of the bound, up to K u of itself, or the least double; (S,)."""
        return _summed(self.rests, self.shift)

    @functools.cached_property
    def other_rest(self) -> Floats | None:
        """The same of the opposite bound."""
        return _summed(self.other_rests, self.shift)

    @functools.cached_property
    def top(self) -> Floats:
        """Doubles that are at least the bound with its rests; (S,)."""
        if self.rest is None:
            return self.bound
        above = np.nextafter(self.bound + self.rest * (1 + GROWTH), np.inf)
        return np.where(self.rest > 0, above, self.bound)

    def of(self, states: Integers) -> tuple[Floats, Floats | None]:
        """Return the bounds of some states, and their rests."""
        return self.bound[states], None if self.rest is None else self.rest[states]

    def exact(self, state: int) -> Fraction | float:
        """Return the bound of a state with its rests."""
        return _exactly(self.bound, self.rests, state, self.shift)

    def exact_other(self, state: int) -> Fraction | float:
        """Return the opposite bound of a state with its rests."""
        return _exactly(self.other, self.other_rests, state, self.shift)


def _summed(rests: Floats | None, shift: int) -> Floats | None:
    """Return the sums of the rests, at least the least double where they are not 0; (S,)."""
    if rests is None:
        return None
    total: Floats = rests.sum(axis=0)
    sizes = np.maximum(np.ldexp(np.abs(total), -shift), LEAST)
    return np.where(total == 0, 0.0, np.copysign(sizes, total))


def _exactly(bound: Floats, rests: Floats | None, state: int, shift: int) -> Fraction | float:
    """Return a bound with its rests as a rational number, or infinity."""
    number = float(bound[state])
    if rests is None or math.isinf(number):
        return number if math.isinf(number) else Fraction(number)
    more = sum(map(Fraction, rests[:, state].tolist()), Fraction(0))
    return Fraction(number) + more / (1 << shift)


@attrs.frozen(eq=False, kw_only=True)
class Direction:
    """One of the two bounds, oriented so that it is a lower one.

    Attributes
    ----------
    sign : float
        -1 for the upper bound: what was multiplied by it.
    inequalities : tuple
        The first one is about what is claimed.
    ranks, traps : (S,), (S,)
        Ranks of finite bounds, 0 where the bound is plus infinity; and of those, NEVER elsewhere.
        Each with that of the opposite bound, which counts after a change of places.
    escapes : (S,) or None
        If ranks must fall until play ends, and some bound is plus infinity: numbers that fall until
        the target is reached, whatever its value.
    gains : (S,), (S,); or None
        The numbers that fall until something is earned, and those of the opposite bound.
    ends : (S,) bool
        Whether the value is known, namely `values`.
    required : (S,) bool
        Whether something must be checked.
    ending : Ending
    until : bool
        Whether a total is infinite if a target is missed.
    maximise : (S,) bool
        Whether the mover wants the most.
    discount : float
    constant : float
        The number from which a change of places subtracts the value.
    draw : float
        The value of endless play; NaN if there is no such number.
    never_earns : bool
        Whether no choice of the model has a positive reward.
    drift : Inequality or None
        That of the numbers below what the next step earns and leads to; minus infinity for none.
    """

    sign: float
    inequalities: tuple[Inequality, ...]
    ending: Ending
    until: bool
    ranks: tuple[Integers, Integers]
    traps: tuple[Integers, Integers]
    escapes: Integers | None
    gains: tuple[Integers, Integers] | None
    maximise: Flags
    ends: Flags
    values: Floats
    required: Flags
    discount: float
    constant: float
    draw: float
    never_earns: bool
    drift: Inequality | None

    @property
    def name(self) -> str:
        """The bound's name in the certificate."""
        return "lower" if self.sign > 0 else "upper"

    @property
    def missing_counts(self) -> bool:
        """Whether the value of missing a target is plus infinity in every case."""
        return self.until and self.ending is Ending.FREE

    @property
    def bound(self) -> Floats:
        """The claimed bound, oriented; (S,)."""
        return self.inequalities[0].bound

    @property
    def top(self) -> Floats:
        """Doubles that are at least the proven bound; (S,)."""
        return self.inequalities[0].top


def known_values(model: Model, objective: Objective) -> tuple[Flags, Floats]:
    """Return the states whose value is known from the outset, and these values."""
    ends = np.diff(model.choice_offsets) == 0
    values = np.zeros(model.num_states)
    if isinstance(objective, (Reachability, FiniteHorizon)) and is_probability(objective):
        values[objective.target] = 1.0
        ends |= objective.target
        if objective.allowed is not None:
            ends |= ~objective.allowed
    elif isinstance(objective, FiniteHorizon) and objective.final is not None:
        values = nearest(objective.final).copy()
    elif not isinstance(objective, AverageReward):
        values[model.terminals] = model.payoffs
        if isinstance(objective, TotalReward) and objective.until is not None:
            values[ends & ~objective.until] = np.inf
            ends |= objective.until
    return ends, values


def oriented(
    model: Model, certificate: Certificate, objective: Objective, sign: float
) -> Direction:
    """Return the lower bound for the sign 1, the upper one for -1."""
    pair = (certificate.lower, certificate.upper)
    evidence = certificate.evidence
    ranks = (evidence.get("lower_ranks"), evidence.get("upper_ranks"))
    gains = (evidence.get("lower_gains"), evidence.get("upper_gains"))
    biases = (evidence.get("bias_lower"), evidence.get("bias_upper"))
    if sign < 0:
        pair, ranks, gains, biases = (-pair[1], -pair[0]), ranks[::-1], gains[::-1], biases[::-1]
    ends, values = known_values(model, objective)
    reaching = is_probability(objective)
    rests = (evidence.get("lower_rest"), evidence.get("upper_rest"))
    if sign < 0:
        low, high = (None if rest is None else -rest for rest in rests)
        rests = (high, low)
    claimed = Inequality(*pair, not reaching, None, *rests, certificate.rest_shift)
    inequalities: tuple[Inequality, ...] = (claimed,)
    drift = None
    if may_drift(model, objective) and biases[0] is not None:
        drift = Inequality(sign * biases[0], sign * biases[0])
    elif biases[0] is not None and biases[1] is not None:
        head_starts = Inequality(sign * biases[0], sign * biases[1], gain=pair[0])
        inequalities = (Inequality(*pair, rewarded=False), head_starts)
    free = ends & (sign * values > -np.inf)  # nothing more is to be shown
    earned = np.zeros(1) if reaching else sign * model.rewards
    ending = _ending(objective, sign)
    # Where nothing can be lost in the whole model, no total is negative, and no probability; unless
    # missing a target has the value minus infinity.
    # An undeclared value is taken at its worst for the bound.
    draw = value_of_endless_play(objective, model)[0 if sign > 0 else 1]
    gives = not model.has_swaps and sign * draw >= 0 and ending is not Ending.STRICT
    if gives and (earned >= 0).all() and (sign * values >= 0).all():
        free |= claimed.top <= 0
    # After a change of places, endless play has the same value for both, or an undeclared one.
    is_fair = not model.has_swaps or 2 * Fraction(draw) == Fraction(model.constant_sum)
    own_ranks, traps = _falling(ranks[0], pair[0], free), _trapping(ranks[0], pair[0], ends)
    other_ranks, other_traps = own_ranks, traps  # of no use where nobody changes places
    if model.has_swaps:
        other_ranks = _falling(ranks[1], -pair[1], ends)
        other_traps = _trapping(ranks[1], -pair[1], ends)
    infinite = (pair[0] == np.inf) & ~free
    escapes = None
    if ending is Ending.STRICT and infinite.any():
        escapes = _escapes(evidence.get("escapes"), np.where(infinite, NEVER, own_ranks), free)
    return Direction(
        sign=sign,
        inequalities=inequalities,
        ending=ending,
        until=sums_until(objective),
        ranks=(own_ranks, other_ranks),
        traps=(traps, other_traps),
        escapes=escapes,
        gains=_gains(gains, model.num_states),
        maximise=(model.players == 0) == ((objective.optimum == "max") == (sign > 0)),
        ends=ends,
        values=sign * values,
        required=~ends & ~free & (pair[0] > -np.inf),
        discount=objective.discount if isinstance(objective, Discounted) else 1.0,
        constant=sign * model.constant_sum,
        draw=sign * draw if is_fair else math.nan,
        never_earns=not (earned.any() if model.has_swaps else (earned > 0).any()),
        drift=drift,
    )


def _ending(objective: Objective, sign: float) -> Ending:
    """Return the evidence that a finite lower bound needs besides its inequality."""
    if not isinstance(objective, (TotalReward, Reachability)):
        return Ending.FREE
    if not sums_until(objective):
        return Ending.RANKED
    return Ending.FREE if sign > 0 else Ending.STRICT


def _gains(
    gains: tuple[Integers | None, Integers | None], count: int
) -> tuple[Integers, Integers] | None:
    """Return the gains of both bounds; None if none of them can fall."""
    if all(numbers is None or not numbers.any() for numbers in gains):
        return None  # none of them can fall
    return _or_zeros(gains[0], count), _or_zeros(gains[1], count)


def _or_zeros(numbers: Integers | None, count: int) -> Integers:
    """Return the numbers, or zeros if they are missing."""
    return np.zeros(count, np.int64) if numbers is None else numbers


def _falling(ranks: Integers | None, bound: Floats, free: Flags) -> Integers:
    """Return ranks of finite bounds: 0 where nothing more must be shown, NEVER for -1."""
    ranks = _or_zeros(ranks, len(bound))
    return np.where(free | (bound == np.inf), 0, np.where(ranks < 0, NEVER, ranks))


def _escapes(escapes: Integers | None, ranks: Integers, free: Flags) -> Integers:
    """Return escapes: ranks where none are given, and 0 where nothing more must be shown."""
    if escapes is not None:
        ranks = np.where(escapes < 0, ranks, escapes)
    return np.where(free, 0, ranks)


def _trapping(ranks: Integers | None, bound: Floats, ends: Flags) -> Integers:
    """Return ranks of bounds of plus infinity: NEVER elsewhere, 0 where it is known."""
    infinite = bound == np.inf
    if not infinite.any():
        return np.broadcast_to(np.int64(NEVER), len(bound))
    ranks = _or_zeros(ranks, len(bound))
    return np.where(infinite, np.where(ends, 0, np.where(ranks >= 0, ranks, NEVER)), NEVER)
