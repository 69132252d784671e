"""A problem: a model and an objective to compute on it."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs
import numpy as np

from gamedp.bellman.equation import Equation, swap_constants_jit
from gamedp.errors import UnsupportedProblemError, shown
from gamedp.model.model import Model, check_finite, describe_choice
from gamedp.model.objectives import (
    AnyModel,
    AverageReward,
    Discounted,
    FiniteHorizon,
    Objective,
    TotalReward,
    has_target,
    is_probability,
    known_at_the_end,
    off_at_the_end,
    resolved,
    value_of_endless_play,
)
from gamedp.runtime.floats import check_arithmetic, lost

if TYPE_CHECKING:
    from numpy.typing import NDArray

ModelT = TypeVar("ModelT", bound=AnyModel)


@attrs.frozen(eq=False)
class AnyProblem(Generic[ModelT]):
    """A model, of an ordinary game or a staged one, and an objective.

    Attributes
    ----------
    model
    objective : Objective
    """

    model: ModelT
    objective: Objective = attrs.field(factory=TotalReward)

    def __attrs_post_init__(self) -> None:
        """Refuse numbers that are not computed as proofs assume."""
        check_arithmetic()


@attrs.frozen(eq=False)
class Problem(AnyProblem[Model]):
    """A model and an objective: what a solver is given.

    In state s, player ``model.players[s]`` chooses. Player 0 wants the `optimum` of the objective,
    the most or the least of what player 0 receives. With two players, player 1 wants the opposite;
    with three or more, each wants that optimum of what they receive themselves. A choice's value is
    its constant (:meth:`constants`) plus :attr:`discount` times the values of its successors,
    weighted by :attr:`gamedp.Model.transition_matrix`; where `objective` has targets, a horizon or
    an average, that is not all that counts. Terminal states have their payoffs.

    Attributes
    ----------
    model : Model
        The arrays, which are read-only.
    objective : Objective
        What is computed. Sets of states in it are masks, (S,) bool, whatever was given.
    improper_is_worst : bool
        Whether every state has a proper policy, and improper ones are infinitely bad for the player
        who could choose them: then errors of a total reward can be bounded as well.
    improper_value : float or None
        If two opponents can keep each other from an end: the value of endless play that
        earns nothing, 0 or plus infinity. Bellman's equation then has many solutions, and bounds
        of its values need to be deflated. None for all other problems.
    presumes_ends : bool
        Whether to prove errors as if play surely ended, though it need not. They hold if, under the
        policy found, each of two opponents makes play end whatever the other one does: the solver
        has to check that (:mod:`gamedp.solvers.tools.endless_play`).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=18), compile="never")
    >>> problem = gamedp.Problem(model, gamedp.TotalReward())
    >>> bool(gamedp.solvers.BackwardInduction().supports(problem))
    True

    How many states are those of a player who wants the most:

    >>> int(problem.maximise.sum()), problem.discount
    (19, 1.0)
    """

    improper_is_worst: bool = attrs.field(default=False, kw_only=True)
    improper_value: float | None = attrs.field(default=None, kw_only=True)
    presumes_ends: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse numbers that no solver could work with; convert sets of states to masks."""
        AnyProblem.__attrs_post_init__(self)
        check_finite(self.model)
        object.__setattr__(self, "objective", resolved(self.objective, self.model))
        swaps = self.model.has_swaps or (
            self.model.has_opponents and bool((self.model.initial_probabilities < 0).any())
        )
        if swaps and has_target(self.objective):
            message = (
                f"{type(self.objective).__name__} with targets cannot be combined with players who "
                "change places (canonical): one of them wants to reach a target, the other does "
                "not. Use a game without canonical."
            )
            raise UnsupportedProblemError(message)
        if self.model.constant_sum != 0 and swaps and not isinstance(self.objective, TotalReward):
            message = (
                f"{type(self.objective).__name__} cannot be combined with constant_sum="
                f"{self.model.constant_sum:g} and players who change places (canonical): a payoff "
                "that is discounted or cut off no longer adds up to a constant. Use TotalReward, "
                "or a game without canonical."
            )
            raise UnsupportedProblemError(message)
        final = getattr(self.objective, "final", None)
        if final is not None and self.model.has_opponents and self.model.constant_sum != 0:
            message = (
                f"final cannot be combined with constant_sum={self.model.constant_sum:g}: "
                "it does not say what the other player has with no steps to go. Use payoffs that "
                "add up to 0."
            )
            raise UnsupportedProblemError(message)
        self._check_draw()

    @classmethod
    def reduced(cls, model: Model, objective: TotalReward, improper_value: float | None) -> Problem:
        """Make the reduced problem of one that was checked; nothing is checked again.

        Parameters
        ----------
        improper_value : float or None
            As the attribute; if None, :attr:`improper_is_worst`.
        """
        return cls._unchecked(model, objective, improper_value is None, improper_value, False)

    @classmethod
    def _unchecked(cls, *fields: Any) -> Problem:
        """Return the problem with these attributes, in their order; nothing is checked."""
        problem = cls.__new__(cls)
        for name, value in zip(FIELDS, fields, strict=True):
            object.__setattr__(problem, name, value)
        return problem

    def presuming_ends(self) -> Problem:
        """Return the same problem that presumes that play ends; nothing is checked again."""
        return self._unchecked(
            self.model, self.objective, self.improper_is_worst, self.improper_value, True
        )

    def _check_draw(self) -> None:
        """Refuse a draw that these rules do not allow."""
        model, draw = self.model, getattr(self.objective, "draw", None)
        message = ""
        if draw is None:
            # Where endless play counts half of it, that must not be rounded.
            total, counts = model.constant_sum, isinstance(self.objective, TotalReward)
            is_halved = total / 2 * 2 != total and (model.has_swaps or not len(model.payoffs))
            counts = is_halved and counts and not has_target(self.objective)
            if counts and not model.rewards.any():
                message = (
                    f"half of constant_sum={total!r}, which endless play counts, is no 64-bit "
                    "float. Multiply all payoffs and their sum by a power of two."
                )
        elif model.is_general_sum:
            message = (
                f"draw={draw!r} is for one player or two opponents; these are {model.num_players} "
                "with payoffs of their own."
            )
        elif model.has_swaps and Fraction(draw) * 2 != Fraction(model.constant_sum):
            message = (
                f"draw={draw!r} cannot be what endless play counts: the players change places "
                f"(canonical), so it counts the same for both, {model.constant_sum / 2!r}. Leave "
                "draw out, or solve a game without canonical."
            )
        elif draw != 0 and model.rewards.any():
            choice = int(np.flatnonzero(model.rewards)[0])
            message = (
                f"draw={draw!r} is for payoffs at the end alone; {describe_choice(model, choice)} "
                f"earns {float(model.rewards[choice])!r} on the way, and endless play counts "
                "what it earns. Leave draw out."
            )
        if message:
            raise UnsupportedProblemError(message)

    @functools.cached_property
    def draws(self) -> tuple[float, float]:
        """The least and the greatest value of endless play; 0 and 0 if all play ends.

        They differ if it is not declared, see :class:`gamedp.TotalReward`.
        """
        low, high = value_of_endless_play(self.objective, self.model)
        if (low == 0 == high) or self.model.structure.always_ends:
            return 0.0, 0.0
        return low, high

    @functools.cached_property
    def maximise(self) -> NDArray[np.bool_]:
        """Whether the player to move wants the most for player 0; (S,)."""
        wants = np.equal if self.objective.optimum == "max" else np.not_equal
        mask: NDArray[np.bool_] = wants(self.model.players, 0)
        return mask

    @property
    def lacks_draw(self) -> bool:
        """Whether it is undeclared who loses a constant sum if play never ends."""
        return self.model.constant_sum != 0 and getattr(self.objective, "draw", None) is None

    def nothing_counts(self) -> str:
        """Return why every value of a game is 0, if no play ends and nothing is earned; else ""."""
        model, objective = self.model, self.objective
        if model.rules is None or len(model.terminals):
            return ""
        aims = has_target(objective) or getattr(objective, "draw", None) is not None
        if aims or model.rewards.any():
            return ""
        cycle = model.structure.cycle()
        path = " → ".join(shown(model.state(state), 80) for state in [*cycle[:6], cycle[0]])
        return (
            "no play ends, and nothing is ever earned, so every value is 0: is_terminal(state) is "
            f"false in all {model.num_states:,} states, as play can go {path}, and there are no "
            "rewards. Is an end missing? If it is about reaching a state, ask for Reachability."
        )

    def undeclared(self) -> str:
        """Return the message that endless play has no declared value, and how to declare it."""
        model = self.model
        state = model.state(int((model.structure.end_component >= 0).argmax()))
        way_out = f"TotalReward(draw={model.constant_sum / 2:g}) shares the constant sum equally"
        if model.rewards.any():
            way_out = "TotalReward(draw=0) counts what it earns on the way"
            if model.has_swaps:
                way_out = "let the game end after a fixed number of turns, or use constant_sum=0"
        return (
            f"needs to know what endless play counts, as around {shown(state)}: the payoffs "
            f"add up to {model.constant_sum:g}, and it is not declared who gets it. To "
            f"declare it, {way_out}."
        )

    @property
    def discount(self) -> float:
        """The discount factor; 1 if the objective does not discount."""
        return self.objective.discount if isinstance(self.objective, Discounted) else 1.0

    @property
    def needs_deflation(self) -> bool:
        """Whether either player can prolong play for ever."""
        return self.improper_value is not None

    @property
    def is_proper(self) -> bool:
        """Whether errors can be proven: play surely ends, or rewards are discounted."""
        return (
            isinstance(self.objective, (Discounted, FiniteHorizon))
            or self.improper_is_worst
            or self.presumes_ends
            or (isinstance(self.objective, TotalReward) and self.model.structure.always_ends)
        )

    @functools.cached_property
    def _extremes(self) -> tuple[float, float, float, float]:
        """The least and the greatest that is received at the end, and on the way, or 0."""
        earned = self._paid(), self.model.rewards
        return tuple(  # type: ignore[return-value] # four of them
            float(extreme.reduce(numbers, axis=None, initial=0.0))
            for numbers in earned
            for extreme in (np.minimum, np.maximum)
        )

    @functools.cached_property
    def has_one_sign(self) -> bool:
        """Whether no two rewards or payoffs have different signs, to whichever player."""
        if is_probability(self.objective):
            return True  # nothing but 1 at the target
        if self.model.has_swaps:
            return False
        least, most, lowest, highest = self._extremes
        return least == lowest == 0 or most == highest == 0

    def equation(self) -> Equation:
        """Return Bellman's equation of the problem as arrays for gamedp's own kernels.

        Raises
        ------
        UnsupportedProblemError
            If there are more than two players.
        """
        model = self.model
        if model.is_general_sum:
            message = (
                "where each player has payoffs of their own, values are found by BackwardInduction "
                "alone."
            )
            raise UnsupportedProblemError(message)
        structure = model.structure
        constants, sizes = self._constants
        if isinstance(self.objective, FiniteHorizon) and is_probability(self.objective):
            constants = sizes = np.zeros(model.num_choices)
            constants.flags.writeable = False  # typed as others, so that kernels compile once
        return Equation(
            graph=structure.graph,
            probabilities=model.probabilities,
            codebook=None,
            constants=constants,
            sizes=sizes,
            maximise=self.maximise,
            discount=self.discount,
            order=structure.order,
            place=structure.place,
        )

    def constants(self) -> NDArray[np.float64]:
        """Return the constant part of each choice's value, (C,): its reward and share of the sum.

        With them, ``constants + discount * transition_matrix @ values`` are the choices' values.
        Read-only; of three or more players, the rewards, (C, N).
        """
        return self._constants[0]

    @functools.cached_property
    def _constants(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The constants and their sizes, as :class:`gamedp.bellman.equation.Equation` has them."""
        model = self.model
        if model.constant_sum == 0 or not model.has_swaps:
            return model.rewards, model.rewards
        constants, sizes = np.empty((2, model.num_choices))
        swap_constants_jit(
            model.transition_offsets,
            model.probabilities,
            model.rewards,
            model.constant_sum,
            constants,
            sizes,
        )
        constants.flags.writeable = sizes.flags.writeable = False
        return constants, sizes

    def _paid(self) -> NDArray[np.float64]:
        """Return what may be received at the end of play, or of a horizon."""
        if isinstance(self.objective, FiniteHorizon):
            return known_at_the_end(self.objective, self.model)
        return self.model.payoffs

    @functools.cached_property
    def rounding(self) -> tuple[float, float, float]:
        """The distances of doubles from what was given, as in :class:`gamedp.Model`.

        What counts at the end of a horizon counts as payoffs do.
        """
        payoffs, rewards, part = self.model.rounding
        if isinstance(self.objective, FiniteHorizon):
            payoffs = off_at_the_end(self.objective, self.model)
        return payoffs, rewards, part

    def range_of_values(self) -> tuple[float, float]:
        """Return bounds of finite values that hold without any computation.

        These are the bounds of probabilities; those of payoffs, if nothing else is received; and
        zero if all that is received has one sign.
        """
        model = self.model
        if is_probability(self.objective):
            return 0.0, 1.0
        if isinstance(self.objective, AverageReward):
            return -np.inf, np.inf
        low, high, lowest, highest = self._extremes
        if lowest < 0 or highest > 0:
            low = -np.inf if lowest < 0 else low
            high = np.inf if highest > 0 else high
        elif isinstance(self.objective, TotalReward) and not has_target(self.objective):
            # Play surely ends, or endless play has a value of its own.
            low, high = float(model.payoffs.min()), float(model.payoffs.max())
        if model.has_swaps:
            total = model.constant_sum
            # The differences may be rounded, which must not narrow the interval.
            other_low, other_high = total - high, total - low
            if lost(total, -high, other_low) < 0:
                other_low = math.nextafter(other_low, -math.inf)
            if lost(total, -low, other_high) > 0:
                other_high = math.nextafter(other_high, math.inf)
            low, high = min(low, other_low), max(high, other_high)
        return low, high


FIELDS = tuple(field.name for field in attrs.fields(Problem))
"""The names of a problem's attributes, without those that are computed lazily."""
