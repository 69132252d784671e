"""The answer to a formula: bounds in every state, whether it holds, and the solution behind it."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnknownStateError, UnsupportedProblemError
from gamedp.results.columns import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.adapters.loaded import LoadedModel
    from gamedp.results.solution import Solution
    from gamedp.runtime.arrays import Flags, Floats

YES, NO, UNDECIDED = "yes", "no", "undecided"

HOW_FOUND = (
    "solver", "status", "guarantee", "states", "choices", "transitions", "sweeps", "seconds",
    "bytes",
)  # fmt: skip
"""The facts of a solution that say how it was found."""


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Answer:
    """The answer to a formula about a model.

    Bounds are in the formula's own sense: those of ``P=? [G safe]`` contain the probability of
    staying safe, although it is found by way of its opposite. For a formula that is true or false,
    both are 0 or both are 1; they are 0 and 1 where it is undecided.

    Attributes
    ----------
    loaded : LoadedModel
        The model that was asked about.
    formula : str
        As it was given.
    lower, upper : (S,) float64
    is_boolean : bool
        Whether the formula is true or false, and no number.
    solution : Solution or None
        The one behind the outermost operator, with its policy; its model may be another than the
        one that was read, as :attr:`notes` say. None where nothing had to be solved.
    notes : tuple of str
        What the numbers rest on, besides the notes of the model: what is undecided, and why.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
    ...     variables={"x": [0, 1, 2]},
    ... )
    >>> answer = gamedp.ask(model, "Pmax=? [F x=1]")
    >>> answer.value(), answer.solution.best_action(0)
    (0.5, 1)
    >>> gamedp.ask(model, "P<=0.5 [F x=1]").holds
    'yes'
    """

    loaded: LoadedModel
    formula: str
    lower: Floats
    upper: Floats
    is_boolean: bool
    solution: Solution | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the formula and what is known of it."""
        known = self.holds if self.is_boolean else f"from {self._low()!r} to {self._high()!r}"
        return f"<Answer {self.formula}: {known}>"

    @property
    def holds(self) -> str | None:
        """Whether the formula holds at the start: yes, no or undecided; None for a number.

        With several initial states: whether it holds in all of them.
        """
        if not self.is_boolean:
            return None
        if self._low() == 1:
            return YES
        starts = self.starts
        return NO if (self.upper[starts] == 0).any() else UNDECIDED

    def verdicts(self) -> NDArray[Any] | None:
        """Return whether the formula holds, for each state, as `holds`; (S,) texts."""
        if not self.is_boolean:
            return None
        return np.where(self.lower == 1, YES, np.where(self.upper == 0, NO, UNDECIDED))

    def states(self) -> Flags:
        """Return the states in which the formula holds; (S,).

        Raises
        ------
        UnsupportedProblemError
            If it is a number, or undecided in some state.
        """
        if not self.is_boolean:
            message = f"{self.formula} is a number; states in which it holds are of a bound."
            raise UnsupportedProblemError(message)
        undecided = np.flatnonzero(self.lower != self.upper)
        if len(undecided):
            name = self.loaded.state_name(int(undecided[0]))
            message = (
                f"{self.formula} is undecided in {len(undecided):,} states, such as "
                f"{undecided[0]}{f' ({name})' if name else ''}."
            )
            raise UnsupportedProblemError(message)
        return np.asarray(self.lower == 1)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The initial states."""
        return self.loaded.together.initial_states

    def _low(self) -> float:
        return float(self.lower[self.starts].min())

    def _high(self) -> float:
        return float(self.upper[self.starts].max())

    def bounds(self, state: int | None = None) -> tuple[float, float]:
        """Return the bounds of a state's number, or of the start's.

        With several initial states, they contain the numbers of all.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        if state is None:
            return self._low(), self._high()
        if not 0 <= state < len(self.lower):
            message = f"there is no state {state}; they are numbered 0 to {len(self.lower) - 1}."
            raise UnknownStateError(message)
        return float(self.lower[state]), float(self.upper[state])

    def value(self, state: int | None = None) -> float:
        """Return a number between the bounds of a state, or of the start.

        Raises
        ------
        UnknownStateError
            If the model has no such state; or starts in one of several whose numbers differ.
        UnsupportedProblemError
            If nothing is known of it.
        """
        low, high = self.bounds(state)
        if state is None:
            starts = self.starts
            if float(self.lower[starts].max()) > float(self.upper[starts].min()):
                message = (
                    f"the model starts in one of {len(starts):,} states, whose numbers differ: "
                    f"they are from {low!r} to {high!r}. Ask for "
                    f'filter(min, {self.formula}, "init"), with max or avg.'
                )
                raise UnknownStateError(message)
        if low == high:
            return low
        if math.isinf(low) or math.isinf(high):
            if math.isinf(low) and math.isinf(high):
                message = f"nothing is known of {self.formula} there."
                raise UnsupportedProblemError(message)
            return low if math.isinf(high) else high
        return low + (high - low) / 2

    def solution_of_states(self) -> Solution:
        """Return the solution, if its states are those of the model and its values the formula's.

        Raises
        ------
        UnsupportedProblemError
            If nothing was solved, or another model or event was.
        """
        solution = self.solution
        if solution is None or self.is_boolean:
            what = "a number" if solution is None else "true or false"
            message = f"{self.formula} is {what}, so no action has a value."
            raise UnsupportedProblemError(message)
        same = solution.model.num_states == len(self.lower)
        if not same or not np.array_equal(solution.lower, self.lower):
            message = (
                f"{self.formula} is answered by way of another question, whose actions have other "
                "values; see `solution` and `notes`."
            )
            raise UnsupportedProblemError(message)
        return solution

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return one column for each variable of a state, the bounds, and whether it holds.

        The best action is in it if the solution is of the model that was read, state by state.
        """
        count = len(self.lower)
        fields = {"state": np.arange(count), **self.loaded.variables}
        found: dict[str, NDArray[Any]] = {"lower": self.lower, "upper": self.upper}
        verdicts = self.verdicts()
        if verdicts is not None:
            found["holds"] = verdicts
        solution = self.solution
        if solution is not None and solution.model.num_states == count:
            columns = solution.to_columns()
            found |= {name: columns[name] for name in ("action", "action_name") if name in columns}
        return joined(fields, found)

    def facts(self) -> dict[str, Any]:
        """Return the answer at the start, for JSON.

        What :meth:`gamedp.Solution.facts` says of how it was found has the same names here, if a
        model was solved for it. ``"value"`` is None where :meth:`value` raises, and for a formula
        that is true or false.
        """
        lower, upper = self.bounds()
        value = None
        if not self.is_boolean:
            with contextlib.suppress(UnknownStateError, UnsupportedProblemError):
                value = self.value()
        found = {} if self.solution is None else self.solution.facts()
        return {
            "formula": self.formula,
            "value": value,
            "lower": lower,
            "upper": upper,
            "holds": self.holds,
            **{key: found[key] for key in HOW_FOUND if key in found},
            "notes": [*self.notes, *self.loaded.notes],
        }
