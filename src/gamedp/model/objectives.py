"""Objectives: the quantities that solvers compute, and what all models that have them share."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, InvalidParameterError, shown
from gamedp.rules.exactness import as_given, as_real, errors_of, is_rounded, upward
from gamedp.runtime.options import checked_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

StateSet: TypeAlias = "Callable[[Any], bool] | Iterable[Any] | NDArray[np.bool_]"
"""A set of states: a mask (S,) of bool, some of the states, or a predicate."""

Optimum: TypeAlias = Literal["max", "min"]


class AnyModel(Protocol):
    """The common interface of models of ordinary games and of staged games."""

    @property
    def rules(self) -> Any:
        """The rules of its game; None for a model of arrays."""

    @property
    def num_players(self) -> int:
        """The number of players."""

    @property
    def constant_sum(self) -> float:
        """The sum of two players' payoffs."""

    @property
    def is_general_sum(self) -> bool:
        """Whether each player has payoffs of their own: three and more, or two that say so."""

    @property
    def has_opponents(self) -> bool:
        """Whether there are two players, of whom one gets what a constant sum leaves."""

    @property
    def num_states(self) -> int:
        """The number of states; for a staged game, of combinations in the box of contexts."""

    @property
    def initial_states(self) -> NDArray[np.int64]:
        """The states in which play begins."""

    @property
    def initial_probabilities(self) -> NDArray[np.float64]:
        """Their probabilities, with a minus sign where the players have changed places."""

    @property
    def fractions(self) -> Mapping[str, NDArray[Any]]:
        """Arrays again, with the Fractions that were given where no doubles are equal to them."""

    def state(self, index: int) -> Any:
        """Return the game's own state with that number."""

    def index(self, state: Hashable) -> tuple[int, bool]:
        """Return the number of a state's representative, and whether the players are swapped."""

    def digest(self) -> str:
        """Return a digest that only equal models share."""


def _is_optimum(_instance: object, _attribute: object, value: Any) -> None:
    if not isinstance(value, str) or value not in ("max", "min"):
        message = f'optimum is {shown(value)}; it must be "max" or "min" (what player 0 wants).'
        raise InvalidParameterError(message)


def _as_number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        message = f"discount is {shown(value)}; it must be a number, at least 0 and below 1."
        raise InvalidParameterError(message) from None
    if is_rounded(value):
        message = (
            f"discount is {shown(value)}, which no 64-bit float is equal to. Give float(...) to "
            "have it rounded: values are then those of the float."
        )
        raise InvalidParameterError(message)
    return number


def _as_steps(value: Any) -> int:
    return checked_whole("horizon", value, 0, math.inf)


def _is_discount(_instance: object, _attribute: object, value: float) -> None:
    if not 0 <= value < 1:
        message = (
            f"discount is {shown(value)}; it must be at least 0 and below 1. For 1 use TotalReward."
        )
        raise InvalidParameterError(message)


def _states(given: Any) -> Any:
    """Return a set of states as a locked mask, a function, or a tuple of states."""
    if callable(given):
        return given
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        mask = given.copy()
        mask.flags.writeable = False
        return mask
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        message = (
            f"{shown(given)} is not a set of states; give a mask of bool, a list of states, or a "
            "function that returns whether a state is in the set."
        )
        if isinstance(given, str):
            message += (
                f" If it is a label of a file that was loaded: loaded.states({shown(given)})."
            )
        raise InvalidParameterError(message)
    states = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    if isinstance(given, (list, tuple)) and set(map(type, states)) in ({bool}, {np.bool_}):
        return _states(np.array(states))
    return states


def _states_if_any(given: Any) -> Any:
    return None if given is None else _states(given)


def _final_if_any(given: Any) -> Any:
    """Return values of states as a locked array, a function, or a mapping."""
    if given is None or callable(given):
        return given
    return dict(given) if isinstance(given, Mapping) else _final_numbers(given)


def _final_numbers(given: Any) -> NDArray[Any]:
    """Return numbers as a locked array of doubles, and of Fractions where no double is equal."""
    listed: Any = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(given, str) or not isinstance(listed, (list, tuple)):
        message = (
            f"final is {shown(given)}; give an array of numbers, a mapping from states to numbers, "
            "or a function of a state."
        )
        raise InvalidParameterError(message)
    for place, number in enumerate(listed):
        try:
            is_finite = math.isfinite(as_real(number))
        except (TypeError, ValueError, OverflowError):
            is_finite = False
        if not is_finite:
            message = f"final has {shown(number)} for state {place}; it must be a finite number."
            raise InvalidParameterError(message)
    values = as_given(listed)
    values.flags.writeable = False
    return values


def _draw_if_any(given: Any) -> float | None:
    if given is None:
        return None
    try:
        number = float(given) if isinstance(given, numbers.Real) else math.nan
    except OverflowError:
        number = math.inf
    if math.isfinite(number) and number == given:
        return number + 0.0  # no negative zero
    message = (
        f"draw is {shown(given)}; it must be a finite number that a 64-bit float holds, or None."
    )
    raise InvalidParameterError(message)


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    return bool(first == second)


_by_content = attrs.cmp_using(eq=_same)


@attrs.frozen
class TotalReward:
    """The expected sum of all rewards and the payoff at the end; a winning probability is one.

    Play that never ends, and earns nothing on the way, counts `draw`. Without a `draw` it counts 0,
    unless the payoffs of two players add up to another constant: then it is undeclared who loses by
    endless play. A value is proven if it is the same for all numbers that endless play may count,
    from the least payoff to the greatest. If it is not, :func:`gamedp.solve` raises
    :class:`gamedp.NotSolvedError`, which names a state and asks for `draw`.

    With `until`, rewards count until the first of these states is reached, including payoffs of
    terminal states among them; if that happens with a probability below one, the total is infinite
    (``+inf``): a minimum is therefore taken over the policies that reach them almost surely. It
    is ``-inf`` where reaching them can be delayed at a profit without limit: no memoryless policy
    attains that. The policy of the solution is then the one that stays in the cycle; the policy of
    :class:`Reachability` then leads to the target from wherever it is.

    Parameters
    ----------
    optimum : {"max", "min"}
        Player 0's goal. A second player has the opposite one.
    until : StateSet, optional
        The states at which the sum ends. If not given, it only ends in terminal states.
    draw : float, optional
        The value of endless play for player 0, if there are payoffs only at the end and no
        rewards. If players change places (`canonical`), it counts half the constant sum, the
        same for both, and nothing else is possible.

    Examples
    --------
    The player to move may wait for ever, or end the game and lose:

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1], payoffs=[-1.0]
    ... )
    >>> gamedp.solve(model).value(), gamedp.solve(model, gamedp.TotalReward(draw=-0.5)).value()
    (0.0, -0.5)
    """

    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)
    until: Any = attrs.field(
        default=None, converter=_states_if_any, eq=_by_content, hash=False, kw_only=True
    )
    draw: float | None = attrs.field(default=None, converter=_draw_if_any, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse a draw if the objective itself gives endless play a value."""
        if self.until is not None and self.draw is not None:
            message = (
                f"draw is {shown(self.draw)}, but with until, play that misses these states for "
                "ever counts plus infinity. Leave one of them out."
            )
            raise InvalidParameterError(message)


@attrs.frozen
class Reachability:
    """The probability of reaching one of the target states; rewards and payoffs do not count.

    Parameters
    ----------
    target : StateSet
        A mask (S,) of bool, a list of states (the game's own, or indices for a model without a
        game), or a function that returns whether a state belongs to them.
    allowed : StateSet, optional
        The states that may be visited before: "`allowed` until `target`". By default all.
    optimum : {"max", "min"}
        Player 0's goal. A second player has the opposite one.

    Examples
    --------
    A door opens every second time, and jams permanently every fourth time:

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     choice_offsets=[0, 1, 1, 1], transition_offsets=[0, 3], successors=[0, 1, 2],
    ...     probabilities=[0.25, 0.5, 0.25], terminals=[1, 2],
    ... )
    >>> round(gamedp.solve(model, gamedp.Reachability([1])).value(0), 6)
    0.666667
    """

    target: Any = attrs.field(converter=_states, eq=_by_content, hash=False)
    allowed: Any = attrs.field(default=None, converter=_states_if_any, eq=_by_content, hash=False)
    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)


@attrs.frozen
class AverageReward:
    """The expected reward per step in the long run; payoffs do not count.

    After the end of play, in terminal states, the reward of every step is zero.

    Parameters
    ----------
    optimum : {"max", "min"}
        Player 0's goal.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     choice_offsets=[0, 2, 3], transition_offsets=[0, 1, 2, 3], successors=[0, 1, 1],
    ...     probabilities=[1.0, 1.0, 1.0], rewards=[1.0, 0.0, 3.0],
    ... )
    >>> gamedp.solve(model, gamedp.AverageReward()).value(0)  # go to state 1, for 3 a step
    3.0
    """

    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)


@attrs.frozen
class Discounted:
    """The expected sum of rewards, and of the payoff at the end, each step counting less.

    The reward of a step counts immediately, and the payoff is received in the terminal state, which
    is one step later: the value of an action that stops for the payoff z is ``discount * z``. Many
    textbooks count z itself, as for an option that is exercised. In that case let z be the `reward`
    of stopping, and 0 the payoff of the next state.

    Parameters
    ----------
    discount : float
        The factor for a value one step later; ``0 <= discount < 1``.
    optimum : {"max", "min"}
        Player 0's goal.

    Examples
    --------
    Stopping for 10, now or after a step: as a payoff, and as a reward.

    >>> import gamedp
    >>> stop = dict(choice_offsets=[0, 1, 1], transition_offsets=[0, 1], successors=[1],
    ...             probabilities=[1.0])
    >>> later = gamedp.Model.from_arrays(**stop, payoffs=[10.0])
    >>> now = gamedp.Model.from_arrays(**stop, rewards=[10.0], payoffs=[0.0])
    >>> [gamedp.solve(model, gamedp.Discounted(0.9)).value(0) for model in (later, now)]
    [9.0, 10.0]
    """

    discount: float = attrs.field(converter=_as_number, validator=_is_discount)
    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)


@attrs.frozen
class FiniteHorizon:
    """The expected sum of rewards over a number of steps; the best action depends on the time.

    A payoff counts if the game ends within the horizon. With a `target` it is the probability of
    reaching that within the horizon, and neither rewards nor payoffs count.

    Parameters
    ----------
    horizon : int
        Number of steps.
    optimum : {"max", "min"}
        Player 0's goal.
    target, allowed : StateSet, optional
        As for :class:`Reachability`.
    final : (S,) array, mapping or callable, optional
        The values with no steps to go (the terminal reward of [1]_, section 4.2), to player 0. An
        array has those of all states, and payoffs do not count. A mapping from states, or a
        function of those in which play goes on, leaves the other states their payoff, or 0. Numbers
        that are rational, such as Fractions, stay exact for solvers that are.

    References
    ----------
    .. [1] M. Puterman, "Markov Decision Processes" (1994).

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     choice_offsets=[0, 2, 3], transition_offsets=[0, 1, 2, 3], successors=[0, 1, 1],
    ...     probabilities=[1.0, 1.0, 1.0], rewards=[1.0, 0.0, 3.0],
    ... )
    >>> solution = gamedp.solve(model, gamedp.FiniteHorizon(2))
    >>> solution.value(0), solution.best_action(0)
    (3.0, 1)
    >>> solution.steps_left(1).value(0), solution.steps_left(1).best_action(0)
    (1.0, 0)

    The end within two steps, of a state that is left every second time:

    >>> model = gamedp.Model.from_arrays(
    ...     choice_offsets=[0, 1, 1], transition_offsets=[0, 2], successors=[0, 1],
    ...     probabilities=[0.5, 0.5], terminals=[1],
    ... )
    >>> gamedp.solve(model, gamedp.FiniteHorizon(2, target=[1])).value(0)
    0.75

    What 8 are still worth, if play has not ended by then:

    >>> gamedp.solve(model, gamedp.FiniteHorizon(2, final={0: 8})).value(0)
    2.0
    """

    horizon: int = attrs.field(converter=_as_steps)
    optimum: Optimum = attrs.field(default="max", validator=_is_optimum)
    target: Any = attrs.field(
        default=None, converter=_states_if_any, eq=_by_content, hash=False, kw_only=True
    )
    allowed: Any = attrs.field(
        default=None, converter=_states_if_any, eq=_by_content, hash=False, kw_only=True
    )
    final: Any = attrs.field(
        default=None, converter=_final_if_any, eq=_by_content, hash=False, kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        """Refuse allowed states without a target, and a target together with final values."""
        if self.allowed is not None and self.target is None:
            message = "allowed needs target: it names the states through which play may get there."
            raise InvalidParameterError(message)
        if self.final is not None and self.target is not None:
            message = "final cannot be combined with target: at the end, targets count 1, others 0."
            raise InvalidParameterError(message)


Objective: TypeAlias = TotalReward | Reachability | Discounted | FiniteHorizon | AverageReward


NAMES = {
    AverageReward: "average",
    Discounted: "discounted",
    FiniteHorizon: "horizon",
    Reachability: "reach",
    TotalReward: "total",
}
"""The short names of the objectives."""


def facts_of(objective: Objective) -> dict[str, Any]:
    """Return the name of an objective and its options, with sets of states as lists of numbers."""
    options = {
        name: _as_list(value) if isinstance(value, np.ndarray) else value
        for name, value in attrs.asdict(objective).items()
        if value is not None
    }
    return {"name": NAMES.get(type(objective), type(objective).__name__), **options}


def _as_list(array: NDArray[Any]) -> list[Any]:
    """Return the states of a mask, or values that JSON holds."""
    if array.dtype == np.bool_:
        found: list[Any] = np.flatnonzero(array).tolist()
        return found
    return [str(each) if isinstance(each, Fraction) else each for each in array.tolist()]


def value_of_endless_play(objective: Objective, model: Any) -> tuple[float, float]:
    """Return the least and the greatest possible value of endless play for player 0.

    They differ if two players share a constant other than 0 and no draw is declared: then every
    value from the least payoff to the greatest is possible, rounded outward. Only for totals
    without a target; rewards on the way are not included.

    Parameters
    ----------
    objective : Objective
    model : Model
    """
    if not isinstance(objective, TotalReward) or objective.until is not None:
        return 0.0, 0.0
    if objective.draw is not None:
        return objective.draw, objective.draw
    if not model.has_opponents or model.constant_sum == 0 or model.rewards.any():
        return 0.0, 0.0
    if model.has_swaps or not len(model.payoffs):
        return model.constant_sum / 2, model.constant_sum / 2
    payoffs = model.fractions.get("payoffs", model.payoffs)
    least, greatest = Fraction(payoffs.min()), Fraction(payoffs.max())
    return 0.0 - upward(-least), upward(greatest)


def draw_of(objective: Objective, model: Any) -> float:
    """Return the value of a draw for player 0, who is ahead if the value is higher.

    It is the value of endless play. If there is none and any value is possible, it is half of the
    constant sum.
    """
    low, high = value_of_endless_play(objective, model)
    half: float = model.constant_sum / 2
    if low != high:
        return half
    # If all payoffs are the same, that payoff is still no draw: a player may get less.
    is_declared = getattr(objective, "draw", None) is not None
    return half if low != half and not is_declared and model.structure.always_ends else low


def has_target(objective: Objective) -> bool:
    """Return whether an objective names states at which it ends."""
    return is_probability(objective) or getattr(objective, "until", None) is not None


def is_probability(objective: Objective) -> bool:
    """Return whether an objective is the probability of reaching a target: nothing is earned."""
    return getattr(objective, "target", None) is not None


def over_in(objective: Objective) -> NDArray[np.bool_] | None:
    """Return in which states a resolved objective has ended; None if it names no such states."""
    if not isinstance(objective, (Reachability, FiniteHorizon)) or objective.target is None:
        return getattr(objective, "until", None)
    target: NDArray[np.bool_] = objective.target
    return target if objective.allowed is None else target | ~objective.allowed


def known_at_the_end(objective: FiniteHorizon, model: Any) -> NDArray[np.float64]:
    """Return the values of a resolved finite horizon with no steps to go, (S,), in doubles."""
    if objective.target is not None:
        return np.array(objective.target, np.float64)
    if objective.final is not None:
        return np.array(objective.final, np.float64)
    values = np.zeros(model.num_states)
    values[model.terminals] = model.payoffs
    return values


def off_at_the_end(objective: FiniteHorizon, model: Any) -> float:
    """Return how far at most the doubles of :func:`known_at_the_end` are from what was given."""
    if is_probability(objective):
        return 0.0
    off: float = model.rounding[0]
    return off if objective.final is None else max(off, errors_of(objective.final)[0])


def sum_of_values(objective: Objective, constant_sum: float) -> float | None:
    """Return the sum of two opponents' values; None if it is not constant.

    Payoffs add up to the constant sum, and rewards to zero. If a payoff is discounted, or not
    reached by some plays, the sum is not constant. If one player reaches a target with some
    probability, the other one prevents it with the complementary one.
    """
    if is_probability(objective):
        return 1.0
    if constant_sum == 0 or isinstance(objective, AverageReward):
        return 0.0
    total = isinstance(objective, TotalReward) and objective.until is None
    return constant_sum if total else None


def check_objective(objective: Any) -> None:
    """Raise InvalidParameterError unless it is an objective; a class is not one."""
    if not isinstance(objective, Objective):
        name = objective.__name__ if isinstance(objective, type) else repr(objective)
        message = (
            f"the objective is {name}; it must be a TotalReward, Reachability, Discounted, "
            "FiniteHorizon or AverageReward, such as gamedp.TotalReward()."
        )
        raise InvalidParameterError(message)


def resolved(objective: Objective, model: Any) -> Objective:
    """Return the objective with its sets of states as masks over the states of a model.

    Raises
    ------
    InvalidParameterError
        If it is not an objective.
    InvalidModelError
        If a mask does not have one entry for each state.
    UnknownStateError
        If the model does not have one of the states.
    """
    check_objective(objective)
    if isinstance(objective, FiniteHorizon) and objective.final is not None:
        values = _final_values(objective.final, model)
        changed: Objective = attrs.evolve(objective, final=values)
        return objective if values is objective.final else changed
    if not has_target(objective):
        return objective
    sets: dict[str, Any] = {
        name: _mask(getattr(objective, name), name, model)
        for name in ("until", "target", "allowed")
        if getattr(objective, name, None) is not None
    }
    if all(mask is getattr(objective, name) for name, mask in sets.items()):
        return objective  # whose masks are locked copies already
    return attrs.evolve(objective, **sets)


def _final_values(final: Any, model: Any) -> NDArray[Any]:
    """Return the values at the end of a horizon, (S,): doubles, and Fractions if there are any."""
    if model.is_general_sum:
        message = "final is for one player or two opponents: its numbers are those of player 0."
        raise InvalidParameterError(message)
    if isinstance(final, np.ndarray):
        return _of_all_states(final, "final", "as an array it has one number", model)
    values: list[Any] = [0.0] * model.num_states
    payoffs = model.fractions.get("payoffs", model.payoffs).tolist()
    for end, payoff in zip(model.terminals.tolist(), payoffs, strict=True):
        values[end] = payoff
    if callable(final):
        for index in np.flatnonzero(np.diff(model.choice_offsets)).tolist():
            values[index] = final(model.state(index))
    else:
        for state, number in final.items():
            values[_index(state, "final", model)] = number
    return _final_numbers(values)


def _of_all_states(given: NDArray[Any], name: str, what: str, model: Any) -> NDArray[Any]:
    """Return an array unless its shape is another than that of the states."""
    if given.shape != (model.num_states,):
        message = (
            f"{name} has shape {given.shape}; {what} for each state of the model: "
            f"({model.num_states},)."
        )
        raise InvalidModelError(message)
    return given


def _mask(states: Any, name: str, model: Any) -> NDArray[np.bool_]:
    if isinstance(states, np.ndarray):
        return _of_all_states(states, name, "a mask has one entry", model)
    if callable(states):
        return _where(states, name, model)
    looks_like_a_mask = all(type(state) is int and state in (0, 1) for state in states)
    if model.states is None and len(states) == model.num_states > 2 and looks_like_a_mask:
        message = (
            f"{name} has a 0 or 1 for each state of the model, as a mask has; but as numbers, they "
            "are the states 0 and 1. Make it a mask: numpy.array(..., dtype=bool)."
        )
        raise InvalidModelError(message)
    mask = np.zeros(model.num_states, np.bool_)
    for state in states:
        mask[_index(state, name, model)] = True
    return mask


def _index(state: Any, name: str, model: Any) -> int:
    index, swapped = model.index(state)
    if swapped:
        message = (
            f"{name} has the state {shown(state)}, which is represented by "
            f"{shown(model.state(index))} with the players' places changed; give "
            "representatives."
        )
        raise InvalidModelError(message)
    number: int = index
    return number


def _where(belongs: Callable[[Any], Any], name: str, model: Any) -> NDArray[np.bool_]:
    mask = np.zeros(model.num_states, np.bool_)
    for index in range(model.num_states):
        answer = belongs(model.state(index))
        if answer is None or np.ndim(answer):
            message = (
                f"{name}, a function, returns {shown(answer)} for {shown(model.state(index))}; it "
                "must return True or False."
            )
            raise InvalidParameterError(message)
        mask[index] = bool(answer)
    return mask
