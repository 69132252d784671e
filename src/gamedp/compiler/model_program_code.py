"""Expressions of a program as instructions of the stack machine of its exploration."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import attrs

from gamedp.compiler import model_program_loop as loop
from gamedp.errors import GamedpError
from gamedp.languages.expressions import (
    BOOL,
    CHAINS,
    DOUBLE,
    Expression,
    Literal,
    Name,
    Operation,
    Value,
    evaluate,
    names_in,
    substitute,
    type_of_result,
    type_of_value,
    with_parts,
)

MOST_MAGNITUDE = 1 << 61
"""Largest integer that the stack machine computes; it has 64 bits."""

COMPARED = {
    "=": loop.EQUAL_TO,
    "!=": loop.UNEQUAL_TO,
    "<": loop.LESS_THAN,
    "<=": loop.AT_MOST,
    ">": loop.MORE_THAN,
    ">=": loop.AT_LEAST,
}
"""Instructions that compare a variable with a constant."""

SIMPLE = {
    "+": loop.ADD,
    "-": loop.SUBTRACT,
    "*": loop.MULTIPLY,
    "=": loop.EQUAL,
    "<=>": loop.EQUAL,
    "!=": loop.UNEQUAL,
    "<": loop.LESS,
    "<=": loop.NO_MORE,
    ">": loop.MORE,
    ">=": loop.NO_LESS,
    "min": loop.MINIMUM,
    "max": loop.MAXIMUM,
    "mod": loop.REMAINDER,
}
"""Instructions for the two topmost numbers."""


@attrs.frozen
class Nature:
    """The nature of an expression to the stack machine.

    Attributes
    ----------
    kind : str
        Its type.
    is_looked_up : bool
        Whether integers cannot compute it, so that its value is looked up.
    magnitude : int
        Largest absolute value.
    """

    kind: str
    is_looked_up: bool
    magnitude: int


@attrs.frozen
class LookedUp:
    """An expression whose values are looked up.

    Attributes
    ----------
    expression : Expression
    what : str
        ``"probability"``, ``"reward"``, or empty for an integer or truth value.
    variables : tuple of int
        Those that it depends on.
    """

    expression: Expression
    what: str
    variables: tuple[int, ...]


class Code:
    """Growing instructions.

    Parameters
    ----------
    constants : mapping of str to Value
    ranges : mapping of str to (str, int, int)
        The type, and the least and largest value, of each variable, in their order.
    """

    def __init__(
        self, constants: Mapping[str, Value], ranges: Mapping[str, tuple[str, int, int]]
    ) -> None:
        self._constants: dict[str, Expression] = {}
        self._values = constants
        self._ranges = ranges
        self._numbers = {name: number for number, name in enumerate(ranges)}
        self._natures: dict[int, tuple[Expression, Nature]] = {}
        self.kinds: list[int] = []
        self.first: list[int] = []
        self.second: list[int] = []
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.looked_up: list[LookedUp] = []
        self.depth = 1

    def folded(self, expression: Expression) -> Expression:
        """Return an expression with the values of constants in it, and constant parts worked out.

        What has no value, such as a division by zero, is left: perhaps it is never asked for.
        """
        place = expression.place
        names = {
            name: Literal(value, place)
            for name in names_in(expression)
            if (value := self._values.get(name)) is not None
        }
        return self._worked_out(substitute(expression, names))

    def _worked_out(self, expression: Expression) -> Expression:
        expression = with_parts(expression, self._worked_out)
        if not isinstance(expression, Operation):
            return expression
        operator, operands = expression.operator, expression.operands
        if all(isinstance(part, Literal) for part in operands):
            try:
                return Literal(evaluate(expression, {}), expression.place)
            except GamedpError:
                return expression
        if operator in ("&", "|"):
            # A neutral operand is dropped; one that decides ends the chain.
            kept: list[Expression] = []
            for part in operands:
                if isinstance(part, Literal):
                    if part.value == (operator == "&"):
                        continue
                    kept.append(part)
                    break
                kept.append(part)
            if len(kept) == 1:
                return kept[0]
            return Operation(operator, tuple(kept), expression.place)
        return expression

    def add(self, expression: Expression) -> int:
        """Add an expression of integers or truth values, already folded; return its number."""
        self.begins.append(len(self.kinds))
        self._emit(expression, 1)
        self.ends.append(len(self.kinds))
        return len(self.begins) - 1

    def add_number(self, expression: Expression, what: str) -> int:
        """Add an expression whose exact value has a number; return the expression's own."""
        self.begins.append(len(self.kinds))
        self._look_up(expression, what)
        self.ends.append(len(self.kinds))
        return len(self.begins) - 1

    def is_integer(self, expression: Expression) -> bool:
        """Return whether the stack machine computes an expression by itself."""
        nature = self._nature(expression)
        return nature.kind != DOUBLE and not nature.is_looked_up

    def _instruct(self, kind: int, first: int = 0, second: int = 0) -> int:
        self.kinds.append(kind)
        self.first.append(first)
        self.second.append(second)
        return len(self.kinds) - 1

    def _look_up(self, expression: Expression, what: str = "") -> None:
        variables = tuple(sorted(self._numbers[name] for name in names_in(expression)))
        self._instruct(loop.LOOKED_UP, len(self.looked_up))
        self.looked_up.append(LookedUp(expression, what, variables))

    def _emit(self, expression: Expression, depth: int) -> None:
        """Add the instructions that put a value on the stack, as its number `depth`."""
        self.depth = max(self.depth, depth)
        if isinstance(expression, Literal) and not self._nature(expression).is_looked_up:
            self._instruct(loop.CONSTANT, int(expression.value))
        elif isinstance(expression, Name):
            self._instruct(loop.VARIABLE, self._numbers[expression.name])
        elif isinstance(expression, Operation) and not self._nature(expression).is_looked_up:
            self._emit_operation(expression, depth)
        else:
            self._look_up(expression)

    def _emit_operation(self, operation: Operation, depth: int) -> None:
        operator, operands = operation.operator, operation.operands
        if operator == "?":
            ends = []
            for condition, value in zip(operands[:-1:2], operands[1::2], strict=True):
                self._emit(condition, depth)
                past = self._instruct(loop.IF)
                self._emit(value, depth)
                ends.append(self._instruct(loop.JUMP))
                self.first[past] = len(self.kinds)
            self._emit(operands[-1], depth)
            self._end_at(ends)
            return
        if operator in ("&", "|", "=>"):
            self._emit(operands[0], depth)
            if operator == "=>":
                self._instruct(loop.NOT)
            ends = []
            for part in operands[1:]:
                ends.append(self._instruct(loop.AND if operator == "&" else loop.OR))
                self._emit(part, depth)
            self._end_at(ends)
            return
        first, *others = operands
        if operator in COMPARED and isinstance(first, Name) and isinstance(others[0], Literal):
            number = self._numbers[first.name]
            self._instruct(COMPARED[operator], number, int(others[0].value))
            return
        self._emit(first, depth)
        if not others and operator in ("!", "-"):
            self._instruct(loop.NOT if operator == "!" else loop.NEGATE)
        for part in others:
            self._emit(part, depth + 1)
            self._instruct(SIMPLE[operator])

    def _end_at(self, jumps: list[int]) -> None:
        """Let jumps lead to the next instruction."""
        for jump in jumps:
            self.first[jump] = len(self.kinds)

    def _nature(self, expression: Expression) -> Nature:
        """Return the nature of an expression; kept with the expression, whose `id` stays its."""
        known = self._natures.get(id(expression))
        if known is None:
            known = self._natures[id(expression)] = expression, self._found_nature(expression)
        return known[1]

    def _found_nature(self, expression: Expression) -> Nature:
        if isinstance(expression, Literal):
            value = expression.value
            if isinstance(value, (Fraction, float)):
                return Nature(DOUBLE, True, 0)
            return Nature(type_of_value(value), abs(value) > MOST_MAGNITUDE, abs(int(value)))
        if isinstance(expression, Name):
            kind, low, high = self._ranges[expression.name]
            return Nature(kind, False, max(abs(low), abs(high)))
        if not isinstance(expression, Operation):
            return expression.place.refuse("a label cannot stand here.")
        operator = expression.operator
        parts = [self._nature(part) for part in expression.operands]
        kind = type_of_result(operator, [part.kind for part in parts])
        magnitude = _magnitude_of(operator, [part.magnitude for part in parts])
        if kind == BOOL:
            magnitude = 1
        is_looked_up = (
            any(part.kind == DOUBLE for part in parts)
            or operator in ("/", "pow", "log", "floor", "ceil", "round")
            or magnitude > MOST_MAGNITUDE
            or (operator == "mod" and not _is_positive(expression.operands[1]))
        )
        # An integer that is looked up has no known magnitude: so has all that is made of it.
        return Nature(kind, is_looked_up, MOST_MAGNITUDE if is_looked_up else magnitude)


def _magnitude_of(operator: str, sizes: list[int]) -> int:
    """Return the largest absolute value that an operation of integers can have."""
    if operator == "?":
        return max(*sizes[1::2], sizes[-1])
    if operator == "*":
        product = 1
        for size in sizes:
            # Zero times what is larger than any is computed as well.
            product = min(product * max(size, 1), 2 * MOST_MAGNITUDE)
        return product
    if operator in CHAINS or operator == "-":
        return sum(sizes)
    return max(sizes)


def _is_positive(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value > 0
