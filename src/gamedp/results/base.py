"""Parts of all solutions: their arrays, means over the initial states, the base class.

Fractions of the start count exactly. A float agrees with the intended number to two units in the
last place, as the probability of any outcome does, and bounds are widened accordingly.
"""

from __future__ import annotations

import functools
import math
import sys
from abc import abstractmethod
from collections.abc import Hashable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.model.model import Model, given_numbers
from gamedp.model.objectives import (
    AnyModel,
    Objective,
    TotalReward,
    facts_of,
    has_target,
    sum_of_values,
)
from gamedp.results.status import Guarantee, Statistics, Status, check_player, opposite_bounds
from gamedp.runtime.floats import PROBABILITY_ROUNDING
from gamedp.runtime.notebook import html_table
from gamedp.runtime.options import values_of
from gamedp.runtime.registry import SOLVERS, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Numbers: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Values, lower and upper bounds."""


ModelT = TypeVar("ModelT", bound=AnyModel)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class BaseSolution(Generic[ModelT]):
    """Values between bounds, with their model, objective, status and guarantee.

    Attributes
    ----------
    model
    objective : Objective
        The meaning of the values.
    solver : object
        The solver with its options.
    values : float64
        The states lie along the first axis.
    status : Status
        Why the solver stopped.
    guarantee : Guarantee
        The guarantee that the bounds carry.
    statistics : Statistics
    """

    counted: ClassVar[str] = "states"
    """The plural noun for the items that have values."""

    model: ModelT
    objective: Objective
    solver: Any
    values: NDArray[np.float64]
    status: Status
    guarantee: Guarantee
    statistics: Statistics

    @abstractmethod
    def _numbers(self, states: NDArray[np.int64]) -> Numbers:
        """Return values, lower and upper bounds of player 0 (or each player) in some states."""

    @property
    @abstractmethod
    def width(self) -> float:
        """The largest distance of an upper from a lower bound."""

    def value(self, state: Hashable | None = None, player: int = 0) -> float:
        """Return what `player` can expect in `state`, or from the start.

        The probabilities of several initial states count as they were given, Fractions exactly and
        floats as stored, scaled to sum to one.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        check_player(self.model.num_players, player)
        if state is None:
            values = self._numbers(self.model.initial_states)[0]
            number = mean_at_start(self.model, values, values, player, total=self._start_sum)
            other_side = player == 1 and values.ndim == 1
        else:
            (number, _, _), other_side = self._at_state(state, player)
        return self._sum - number if other_side else number

    def bounds(self, state: Hashable | None = None, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` can expect in `state`, or from the start.

        If there are several initial states, probabilities given as Fractions count exactly. Floats
        count to two units in the last place, as the probabilities of outcomes do.
        """
        check_player(self.model.num_players, player)
        if state is None:
            _, lower, upper = self._numbers(self.model.initial_states)
            low, high = bounds_at_start(self.model, lower, upper, player, total=self._start_sum)
            other_side = player == 1 and lower.ndim == 1
        else:
            (_, low, high), other_side = self._at_state(state, player)
        if other_side:
            low, high = opposite_bounds(self._sum, low, high)
        return min(low, high), max(low, high)

    def _at_state(self, state: Hashable, player: int) -> tuple[tuple[float, float, float], bool]:
        """Return value and bounds in a state, and whether they are the other player's."""
        index, swapped = self._index(state)
        numbers = self._numbers(np.array([index]))
        if numbers[0].ndim > 1:
            value, low, high = (float(array[0, player]) for array in numbers)
            return (value, low, high), False
        value, low, high = (float(array[0]) for array in numbers)
        return (value, low, high), swapped ^ (player == 1)

    def _index(self, state: Hashable) -> tuple[int, bool]:
        """Return the index of a state's representative and whether the players are swapped."""
        index, swapped = self.model.index(state)
        self._check_side(state, index, swapped)
        return index, swapped

    def _check_side(self, state: Hashable, index: int, swapped: bool) -> None:
        """Raise if the objective has no value for a state whose players have changed places."""
        if swapped and has_target(self.objective):
            message = (
                f"{type(self.objective).__name__} names its states as representatives, and "
                f"{shown(state)} is represented by {shown(self.model.state(index))} with the "
                "players' places changed: it has no value of this objective. Ask for the "
                "representative."
            )
            raise UnsupportedProblemError(message)

    @property
    def _sum(self) -> float:
        """The sum of the two players' values."""
        total = sum_of_values(self.objective, self.model.constant_sum)
        if total is None:
            message = (
                f"with constant_sum={self.model.constant_sum:g}, the values of the two players do "
                f"not add up to a constant under {self.objective!r}: a payoff may count less, or "
                "not at all. Ask for player 0, in states whose places are not changed "
                "(canonical); or solve the game with the other player as player 0."
            )
            raise UnsupportedProblemError(message)
        return total

    @property
    def _start_sum(self) -> float:
        """The same for the start; only computed if some initial state is swapped."""
        return self._sum if (self.model.initial_probabilities < 0).any() else 0.0

    def facts(self, state: Hashable | None = None) -> dict[str, Any]:
        """Return all that is known about `state`, or about the start, by name.

        As ``gamedp solve --json`` prints it. With three or more players, ``"values"`` and
        ``"bounds"`` have those of all; ``"exact"`` is there if the solver finds exact values.
        """
        rules, statistics = self.model.rules, self.statistics
        count = self.model.num_players
        lower, upper = self.bounds(state)
        fraction, of_all = fraction_of(self, state), {}
        if count > 2:
            of_all = {
                "values": [self.value(state, player) for player in range(count)],
                "bounds": [self.bounds(state, player) for player in range(count)],
            }
        return {
            "parameters": {} if rules is None else values_of(rules.game),
            "objective": facts_of(self.objective),
            "solver": {"name": name_of(SOLVERS, self.solver), **values_of(self.solver)},
            "status": self.status.name,
            "guarantee": self.guarantee.name,
            "value": self.value(state),
            **({} if fraction is None else {"exact": fraction}),
            "lower": lower,
            "upper": upper,
            **of_all,
            "states": statistics.states,
            "choices": statistics.choices,
            "transitions": statistics.transitions,
            "sweeps": statistics.sweeps,
            "seconds": statistics.of_phases(),
            "bytes": statistics.bytes,
        }

    def __repr__(self) -> str:
        """Return the value at the start, its bounds and the guarantee behind them."""
        low, high = self.bounds()
        hint = hint_of(self)
        return (
            f"<{type(self).__name__} value={self.value()!r} lower={low!r} upper={high!r} "
            f"guarantee={self.guarantee.name} status={self.status.name}{hint and '; '}{hint}>"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        low, high = self.bounds()
        hint = hint_of(self)
        rows = {
            "value": f"{self.value()!r}",
            "bounds": f"{low!r} … {high!r}",
            "guarantee": self.guarantee.value,
            "status": self.status.value,
            "solver": repr(self.solver),
            self.counted: f"{self.statistics.states:,}",
            **({"hint": hint} if hint else {}),
        }
        return html_table(rows)


def fraction_of(solution: BaseSolution[Any], state: Hashable | None, player: int = 0) -> str | None:
    """Return a value as a fraction with all its digits, if the solver has computed it as one."""
    if getattr(solution, "exact", None) is None:
        return None
    value = solution.exact_value(state, player)  # type: ignore[attr-defined] # those have it
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # requested values are shown, however long
    try:
        return str(value)
    finally:
        sys.set_int_max_str_digits(limit)


def hint_of(solution: BaseSolution[Any]) -> str:
    """Return advice if the total from the start is infinite; empty if it is finite.

    Also empty if the objective has targets: then an infinite total means that they may be missed.
    """
    objective = solution.objective
    if not isinstance(objective, TotalReward) or objective.until is not None:
        return ""
    players = range(solution.model.num_players if solution.model.is_general_sum else 1)
    if all(math.isfinite(solution.value(player=player)) for player in players):
        return ""
    if solution.guarantee is Guarantee.NONE:
        return ""
    return (
        "the total is infinite, for play earns or loses without end; a discount (Discounted) or "
        "the average per step (AverageReward) tells such plays apart"
    )


def bounds_at_start(
    model: AnyModel,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    player: int = 0,
    *,
    total: float | None = None,
) -> tuple[float, float]:
    """Return bounds of the mean over the initial states, from those of each; see below."""
    return (
        mean_at_start(model, lower, upper, player, -math.inf, total=total),
        mean_at_start(model, upper, lower, player, math.inf, total=total),
    )


def mean_at_start(
    model: AnyModel,
    numbers: NDArray[np.float64],
    opposite: NDArray[np.float64],
    player: int = 0,
    outward: float | None = None,
    *,
    total: float | None = None,
) -> float:
    """Return the mean over the I initial states; swapped ones read from the opposite bound.

    With two players it is player 0's; their values add up to `total`, by default the constant
    sum. Rounded to nearest, or `outward`.

    Parameters
    ----------
    numbers, opposite : (I,) or (I, N)
        Numbers of the initial states.
    """
    probabilities = given_numbers(model, "initial_probabilities").tolist()
    total = model.constant_sum if total is None else total
    rows = [
        (other if probability < 0 else own)
        for own, other, probability in zip(numbers, opposite, probabilities, strict=True)
    ]
    return mean_of(
        [float(row if np.ndim(row) == 0 else row[player]) for row in rows],
        probabilities,
        total,
        outward,
    )


def mean_of(
    numbers: list[float],
    probabilities: Sequence[Fraction | float],
    constant_sum: float,
    outward: float | None = None,
) -> float:
    """Return the mean of numbers with probabilities, computed exactly.

    Parameters
    ----------
    numbers : list of float
    probabilities : sequence of Fraction or float
        Scaled to sum to one; negative where the players have changed places: then the constant
        sum minus the number counts.
    constant_sum : float
    outward : float, optional
        Minus or plus infinity, for a bound: beyond the mean for all probabilities that sum to one
        and agree with those given, Fractions exactly and floats to two units in the last place.
        If not given, the mean is rounded to the nearest double.

    Infinite numbers of both signs have no mean: bounds are then infinite, and so is the number in
    place of the mean, that of the lower bound.
    """
    infinite = {
        -number if probability < 0 else number
        for number, probability in zip(numbers, probabilities, strict=True)
        if not math.isfinite(number)
    }
    if len(infinite) > 1:
        return -math.inf if outward is None else outward
    if infinite:
        return infinite.pop()
    sizes = [abs(Fraction(probability)) for probability in probabilities]
    terms = [
        Fraction(constant_sum) - Fraction(number) if probability < 0 else Fraction(number)
        for number, probability in zip(numbers, probabilities, strict=True)
    ]
    mean = exact_mean(terms, sizes, 0.0)
    if outward is not None:
        # A mean m moves by the sum of w d (x - m) where each weight w becomes w (1 + d).
        away: list[Fraction | float] = [
            max(term - mean, mean - term) if isinstance(probability, float) else Fraction(0)
            for term, probability in zip(terms, probabilities, strict=True)
        ]
        spread = Fraction(math.copysign(PROBABILITY_ROUNDING, outward))
        mean += spread * exact_mean(away, sizes, 0.0)
    try:
        nearest = float(mean)
    except OverflowError:
        sign = 1.0 if mean > 0 else -1.0
        largest = math.nextafter(math.inf, 0.0)
        return sign * (largest if outward is not None and sign * outward < 0 else math.inf)
    if outward is None or Fraction(nearest) == mean or (nearest > mean) == (outward > 0):
        return nearest
    return math.nextafter(nearest, outward)


def exact_mean(
    numbers: Sequence[Fraction | float],
    probabilities: Sequence[Fraction | float],
    constant_sum: float,
) -> Fraction | float:
    """Return the mean of rational numbers, as :func:`mean_of`; a float if some are infinite."""
    weights = [Fraction(probability) for probability in probabilities]
    total: Fraction | float = Fraction(0)
    for number, weight in zip(numbers, weights, strict=True):
        total += abs(weight) * (Fraction(constant_sum) - number if weight < 0 else number)
    return total / sum(map(abs, weights))


def of_player(numbers: NDArray[Any], player: int) -> NDArray[Any]:
    """Return a player's column if there is one for each player."""
    return numbers if numbers.ndim == 1 else numbers[:, player]


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Table(BaseSolution[Model]):
    """The fields of a :class:`gamedp.Solution`, which are described there."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    policy: NDArray[np.int64]
    step_policies: NDArray[np.unsignedinteger[Any]] | None = None
    distances: NDArray[np.int64] | None = None
    exact: tuple[Fraction | float, ...] | None = None
    biases: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    following: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None = None
    tight: NDArray[np.bool_] | None = None
    is_part: bool = False

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        always = (self.values, self.lower, self.upper, self.policy)
        others = (self.step_policies, self.distances, self.tight)
        for array in (*always, *others, *(self.biases or ()), *(self.following or ())):
            if array is not None:
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Callable[[], Table], tuple[()]]:
        # Built again by the constructor, the arrays are locked: pickle returns them writable.
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        return functools.partial(type(self), **fields), ()
