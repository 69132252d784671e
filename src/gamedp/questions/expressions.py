"""Sets of states, and numbers of states, by expressions over variables, labels and constants."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import GamedpError, InvalidParameterError, UnknownNameError
from gamedp.languages.expressions import (
    BOOL,
    INT,
    Expression,
    ExpressionReader,
    Label,
    Literal,
    Name,
    Operation,
    Value,
    evaluate_constant,
    names_in,
    substitute,
    type_of,
    with_parts,
)
from gamedp.languages.programs import DEADLOCK, INITIAL
from gamedp.languages.tokens import Source
from gamedp.model.model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.adapters.loaded import LoadedModel
    from gamedp.languages.tokens import TextPlace
    from gamedp.runtime.arrays import Flags


LARGEST_INTEGER = 1 << 62
"""Integers up to this are computed by numpy; with larger ones, by Python."""


@attrs.frozen(eq=False)
class States:
    """The states of a model, to evaluate expressions in.

    Attributes
    ----------
    count : int
    columns : mapping of str to (S,) int64 or bool
        The value of each variable in each state; labels are variables in quotation marks.
    labels : mapping of str to (S,) bool
    constants : mapping of str to value
    formulas : mapping of str to Expression
        Expressions with names, or with labels in quotation marks.
    """

    count: int
    columns: Mapping[str, NDArray[Any]]
    labels: Mapping[str, Flags]
    constants: Mapping[str, Value] = attrs.field(factory=dict)
    formulas: Mapping[str, Expression] = attrs.field(factory=dict)

    @property
    def starts(self) -> Flags:
        """The states in which play begins."""
        return self.labels[INITIAL]

    def resolved(self, expression: Expression) -> Expression:
        """Return an expression over variables alone; labels become variables.

        Raises
        ------
        UnknownNameError
            At a name or a label that the model does not have.
        """
        labels = {name[1:-1]: each for name, each in self.formulas.items() if name[0] == '"'}
        for _ in range(len(self.formulas) + 1):  # formulas may contain others
            before, expression = expression, substitute(expression, self.formulas, labels)
            if expression is before:
                break
        return self._known(expression)

    def _known(self, expression: Expression) -> Expression:
        if isinstance(expression, Label):
            if expression.name not in self.labels:
                raise unknown(expression.place, "label", expression.name, self.labels)
            return Name(f'"{expression.name}"', expression.place)
        if isinstance(expression, Name):
            if expression.name in self.columns:
                return expression
            if expression.name not in self.constants:
                kind = "variable or constant"
                known = [*self.columns, *self.constants]
                raise unknown(expression.place, kind, expression.name, known)
            return Literal(self.constants[expression.name], expression.place)
        return with_parts(expression, self._known)

    def column(self, name: str) -> NDArray[Any]:
        """Return the values of a variable, or the states with a label in quotation marks."""
        return self.columns[name] if name in self.columns else self.labels[name[1:-1]]

    def type_of(self, expression: Expression) -> str:
        """Return the type of a resolved expression.

        Raises
        ------
        GamedpError
            At an operand of a wrong type.
        """
        names = names_in(expression)
        return type_of(
            expression,
            {name: BOOL if self.column(name).dtype == np.bool_ else INT for name in names},
        )

    def mask(self, expression: Expression) -> Flags:
        """Return the states in which a resolved expression is true; (S,).

        Raises
        ------
        GamedpError
            If it is a number, or has no value in some state, as where it divides by zero.
        """
        if self.type_of(expression) != BOOL:
            expression.place.refuse("this is a number, and should be true or false.")
        try:
            return self._mask(expression)
        except GamedpError:  # perhaps where it does not count, as in x = 0 | 1 / x > 2
            return self._by_rows(expression).astype(np.bool_)

    def _mask(self, expression: Expression) -> Flags:
        """Return where an expression is true, with all of its parts evaluated everywhere."""
        if isinstance(expression, Operation) and expression.operator in ("!", "&", "|", "=>"):
            parts = [self._mask(part) for part in expression.operands]
            if expression.operator == "!":
                return ~parts[0]
            if expression.operator == "=>":
                return ~parts[0] | parts[1]
            join = np.logical_and if expression.operator == "&" else np.logical_or
            found: Flags = join.reduce(parts)
            return found
        fast = self._fast(expression)
        if fast is None:
            return self._by_rows(expression).astype(np.bool_)
        return np.broadcast_to(fast, self.count).astype(np.bool_)

    def values(self, expression: Expression) -> NDArray[Any]:
        """Return the exact value of a resolved expression in each state; (S,) objects."""
        fast = self._fast(expression)
        if fast is None:
            return self._by_rows(expression)
        return np.broadcast_to(fast, self.count).astype(object)

    def constant(self, expression: Expression) -> Value:
        """Return the value of an expression in which no variables are.

        Raises
        ------
        GamedpError
            At a variable, or if there is no such value.
        """
        resolved = self.resolved(expression)
        for part in _leaves(resolved):
            if isinstance(part, Name):
                part.place.refuse(f"{part.name} is not a constant, and must be one.")
        return evaluate_constant(resolved, {})

    def _fast(self, expression: Expression) -> Any:
        """Return the values in machine words; None where they may not fit, or are fractions."""
        if isinstance(expression, Literal):
            small = isinstance(expression.value, int) and abs(expression.value) < LARGEST_INTEGER
            return np.array(expression.value) if small else None
        if isinstance(expression, Name):
            return self.column(expression.name)
        assert isinstance(expression, Operation)  # noqa: S101 - labels are resolved
        if expression.operator not in FAST:
            return None
        parts = [self._fast(part) for part in expression.operands]
        if any(part is None for part in parts) or not _fit(expression.operator, parts):
            return None
        if len(parts) == 1 and expression.operator == "-":
            return -parts[0]
        return functools.reduce(FAST[expression.operator], parts)

    def _by_rows(self, expression: Expression) -> NDArray[Any]:
        """Return the exact values, each found once for all states with the same variables."""
        names = sorted(names_in(expression))
        kinds = np.zeros(self.count, np.int64)
        first = np.zeros(min(1, self.count), np.int64)
        for name in names:
            each, numbers = np.unique(self.column(name), return_inverse=True)
            pairs = kinds * len(each) + numbers
            _, first, kinds = np.unique(pairs, return_index=True, return_inverse=True)
        rows = zip(*(self.column(name)[first].tolist() for name in names), strict=True)
        if not names:
            return np.full(self.count, evaluate_constant(expression, {}), object)
        found = [evaluate_constant(expression, dict(zip(names, row, strict=True))) for row in rows]
        return np.array(found, object)[kinds]


FAST = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "=": np.equal,
    "!=": np.not_equal,
    "<=>": np.equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
"""The operators that numpy computes; none of them has errors, unlike division."""


def _fit(operator: str, parts: list[Any]) -> bool:
    """Return whether what is computed of integers is one of machine words."""
    if operator not in ("+", "-", "*"):
        return True
    most = [max(abs(int(part.min())), abs(int(part.max()))) for part in parts]
    return (math.prod(most) if operator == "*" else sum(most)) < LARGEST_INTEGER


def _leaves(expression: Expression) -> list[Expression]:
    if not isinstance(expression, Operation):
        return [expression]
    return [leaf for part in expression.operands for leaf in _leaves(part)]


def unknown(place: TextPlace, kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the error for a name in a text that a model does not have."""
    found = UnknownNameError.nearest(kind, name, known)
    return UnknownNameError(f"{place.source.name}, {place}: {found}")


def states_of(given: LoadedModel | Model) -> States:
    """Return the states of a model, with the labels that every model has, and those of a file."""
    if isinstance(given, Model):
        return States(given.num_states, given.variables, _always(given))
    labels = _always(given.together) | dict(given.labels)
    count = given.together.num_states
    return States(count, given.variables, labels, given.constants, given.formulas)


def _always(model: Model) -> dict[str, Flags]:
    """Return the labels that every model has."""
    starts = np.zeros(model.num_states, np.bool_)
    starts[model.initial_states] = True
    return {INITIAL: starts, DEADLOCK: np.diff(model.choice_offsets) == 0}


def states_where(states: States, text: str, name: str) -> Flags:
    """Return the states in which an expression is true; (S,).

    Parameters
    ----------
    states : States
    text : str
        Such as ``x = 2 & !"bad"``.
    name : str
        What to call the text in messages.

    Raises
    ------
    InvalidParameterError
        If the text is malformed, or a number; the message names the column.
    UnknownNameError
        At a name that the model does not have, and if there are no such states.
    """
    expression = ExpressionReader(Source(name, text, InvalidParameterError)).alone()
    found = states.mask(states.resolved(expression))
    if not found.any():
        message = f"{name}: there is no state with {text}."
        raise UnknownNameError(message)
    return found
