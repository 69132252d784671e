"""Expressions over variables and constants: syntax trees, their types, and exact values.

A number that is written is exact: ``0.1`` is one tenth. Precedence is that of the PRISM language
[1]_, from the weakest: ``? :``, ``=>``, ``<=>``, ``|``, ``&``, ``!``, ``= !=``, ``< <= > >=``,
``+ -``, ``* /``, unary ``-``.

.. [1] https://www.prismmodelchecker.org/manual/ThePRISMLanguage/Expressions
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import attrs

from gamedp.languages.tokens import END, NAME, NUMBER, QUOTED, Reader, TextPlace

BOOL, INT, DOUBLE = "bool", "int", "double"
"""Types of values: an integer can stand where a double is wanted."""

Value: TypeAlias = bool | int | Fraction | float
"""An exact value, or a float where there is none: logarithms, and irrational powers."""

MOST_DEPTH, MOST_PARTS = 120, 200_000
"""The deepest nesting of an expression, and the largest number of its parts."""

MOST_BITS, MOST_EXPONENT = 1 << 16, 400
"""Bits of an exact number that is worked out, and the exponent of one that is written."""

FUNCTIONS = {
    "min": (2, None),
    "max": (2, None),
    "floor": (1, 1),
    "ceil": (1, 1),
    "round": (1, 1),
    "pow": (2, 2),
    "mod": (2, 2),
    "log": (2, 2),
}
"""The least and largest number of arguments of each function."""

STRENGTHS = {"=>": 1, "<=>": 2, "|": 3, "&": 4, "=": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7}
STRENGTHS |= {"+": 8, "-": 8, "*": 9, "/": 9}
"""The strength with which each operator between two expressions binds."""

STRENGTH_OF_NOT = 5

LOGICAL = frozenset({"!", "&", "|", "=>", "<=>"})
"""Operators that join truth values."""

CHAINS = frozenset({"&", "|", "+", "*"})
"""Operators whose chains are one operation with many operands, from the left."""


@attrs.frozen
class Literal:
    """A number or truth value."""

    value: Value
    place: TextPlace = attrs.field(eq=False, repr=False)
    depth = 1
    parts = 1


@attrs.frozen
class Name:
    """A constant or variable."""

    name: str
    place: TextPlace = attrs.field(eq=False, repr=False)
    depth = 1
    parts = 1


@attrs.frozen
class Label:
    """The name of a set of states, in quotation marks."""

    name: str
    place: TextPlace = attrs.field(eq=False, repr=False)
    depth = 1
    parts = 1


@attrs.frozen
class Operation:
    """An operator or function, with its operands.

    Attributes
    ----------
    operator : str
        As it is written: one of `STRENGTHS`, of `FUNCTIONS`, ``"!"``, or ``"?"``.
    operands : tuple of Expression
        One for ``!`` and a negative number; two or more for `CHAINS`; for ``?`` conditions and
        values in turn, and the value if no condition holds.
    """

    operator: str
    operands: tuple[Expression, ...]
    place: TextPlace = attrs.field(eq=False, repr=False)
    depth: int = attrs.field(init=False, eq=False, repr=False)
    parts: int = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse an expression that is too deeply nested, or has too many parts."""
        depth = 1 + max(part.depth for part in self.operands)
        parts = 1 + sum(part.parts for part in self.operands)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "parts", parts)
        if depth > MOST_DEPTH:
            self.place.refuse(f"an expression is nested more than {MOST_DEPTH} times.")
        if parts > MOST_PARTS:
            message = f"an expression has more than {MOST_PARTS:,} parts, with formulas put in."
            self.place.refuse(message)


Expression: TypeAlias = Literal | Name | Label | Operation


def joined(operator: str, parts: Sequence[Expression], place: TextPlace) -> Expression:
    """Return what joins any number of parts; of none, true."""
    if len(parts) > 1:
        return Operation(operator, tuple(parts), place)
    return parts[0] if parts else Literal(True, place)


class ExpressionReader(Reader):
    """Reads expressions; a subclass that extends `term` reads a larger language."""

    _nested = 0

    def alone(self) -> Expression:
        """Read an expression that is all of the text, but for a semicolon."""
        found = self.expression()
        self.accepts(";")
        if self.token.kind != END:
            self.fail("the end")
        return found

    def expression(self) -> Expression:
        """Read an expression."""
        self._nested += 1
        if self._nested > MOST_DEPTH:
            self.token.place.refuse(f"an expression is nested more than {MOST_DEPTH} times.")
        parts = [self.between(1)]
        place = self.token.place
        while self.accepts("?"):
            parts.append(self.expression())
            self.expect(":")
            parts.append(self.between(1))
        self._nested -= 1
        return Operation("?", tuple(parts), place) if len(parts) > 1 else parts[0]

    def between(self, least: int) -> Expression:
        """Read terms with operators between them that bind at least as strongly as given."""
        left = self._signed()
        waiting = []  # => binds least, and from the right
        while (strength := STRENGTHS.get(self.token.text, 0)) >= least:
            token = self.take()
            right = self.between(strength + 1)
            if token.text == "=>":
                waiting.append((left, token))
                left = right
            elif token.text in CHAINS:
                left = self._chain(token.text, left, right, token.place)
            else:
                left = Operation(token.text, (left, right), token.place)
        for first, token in reversed(waiting):
            left = Operation(token.text, (first, left), token.place)
        return left

    def _chain(
        self, operator: str, left: Expression, right: Expression, place: TextPlace
    ) -> Operation:
        """Read the rest of a chain of one operator."""
        operands = [left, right]
        while self.accepts(operator):
            operands.append(self.between(STRENGTHS[operator] + 1))
        return Operation(operator, tuple(operands), place)

    def _signed(self) -> Expression:
        """Read a term behind any number of signs."""
        signs = []
        while self.token.text in ("!", "-"):
            signs.append(self.take())
            if signs[-1].text == "!" and self.token.text != "!":
                break
            if len(signs) > MOST_DEPTH:
                self.token.place.refuse(f"there are more than {MOST_DEPTH} signs in a row.")
        if signs and signs[-1].text == "!":
            inner = self.between(STRENGTH_OF_NOT + 1)
        else:
            inner = self.term()
        for sign in reversed(signs):
            inner = Operation(sign.text, (inner,), sign.place)
        return inner

    def term(self) -> Expression:
        """Read what stands between operators."""
        token = self.token
        if token.text == "(":
            self.take()
            inner = self.expression()
            self.expect(")")
            return inner
        if token.kind == NUMBER:
            self.take()
            return Literal(number_of(token.text, token.place), token.place)
        if token.text in ("true", "false"):
            return Literal(self.take().text == "true", token.place)
        if token.kind == QUOTED:
            return Label(self.take().text[1:-1], token.place)
        if token.kind != NAME:
            self.fail("an expression")
        return self._named()

    def _named(self) -> Expression:
        """Read a name, or the call of a function, also in the old form ``func(min, x, y)``."""
        token = self.take()
        if self.token.text != "(":
            return Name(token.text, token.place)
        self.expect("(")
        if token.text == "func":
            token = self.take_kind(NAME, "a function")
            self.expect(",")
        arguments = [self.expression()]
        while self.accepts(","):
            arguments.append(self.expression())
        self.expect(")")
        return called(token.text, tuple(arguments), token.place)


def called(function: str, arguments: tuple[Expression, ...], place: TextPlace) -> Operation:
    """Return the call of a function; refuse one that there is not, and a wrong number."""
    if function not in FUNCTIONS:
        place.refuse(f"there is no function {function!r}; there are {', '.join(FUNCTIONS)}.")
    least, most = FUNCTIONS[function]
    if not least <= len(arguments) <= (most or len(arguments)):
        few = "" if most else "at least "
        place.refuse(f"{function} takes {few}{least} arguments, not {len(arguments)}.")
    return Operation(function, arguments, place)


def number_of(text: str, place: TextPlace) -> int | Fraction:
    """Return the exact value of a number that is written."""
    if text.isdecimal():
        return int(text)
    exponent = text.lower().partition("e")[2]
    if exponent and not -MOST_EXPONENT <= int(exponent) <= MOST_EXPONENT:
        place.refuse(f"the exponent of {text} is beyond {MOST_EXPONENT}.")
    return Fraction(text)


def with_parts(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression with changed operands; the same one if none is changed."""
    if not isinstance(expression, Operation):
        return expression
    operands = tuple(map(change, expression.operands))
    for new, old in zip(operands, expression.operands, strict=True):
        if new is not old:
            return Operation(expression.operator, operands, expression.place)
    return expression


def substitute(
    expression: Expression,
    names: Mapping[str, Expression],
    labels: Mapping[str, Expression] | None = None,
) -> Expression:
    """Return an expression with others in place of names, and of labels."""
    if isinstance(expression, Name):
        return names.get(expression.name, expression)
    if isinstance(expression, Label):
        return expression if labels is None else labels.get(expression.name, expression)
    return with_parts(expression, lambda part: substitute(part, names, labels))


def names_in(expression: Expression) -> set[str]:
    """Return the names in an expression."""
    names: set[str] = set()
    rest = [expression]
    while rest:
        part = rest.pop()
        if isinstance(part, Name):
            names.add(part.name)
        elif isinstance(part, Operation):
            rest += part.operands
    return names


def type_of(expression: Expression, types: Mapping[str, str]) -> str:
    """Return the type of an expression, given those of names.

    Raises
    ------
    GamedpError
        At the first operand of a wrong type, and at names and labels that are not known.
    """
    if isinstance(expression, Literal):
        return type_of_value(expression.value)
    if isinstance(expression, Label):
        expression.place.refuse(f'the label "{expression.name}" cannot stand here.')
    if isinstance(expression, Name):
        if expression.name not in types:
            message = f"{expression.name!r} is not a constant, variable or formula."
            expression.place.refuse(message)
        return types[expression.name]
    return _type_of_operation(expression, [type_of(part, types) for part in expression.operands])


def _type_of_operation(operation: Operation, found: list[str]) -> str:
    """Return the type of an operation; refuse operands of a wrong one."""
    operator = operation.operator
    if operator == "?":
        _need(operation, found, BOOL, range(0, len(found) - 1, 2))
        values = {*found[1::2], found[-1]}
        if BOOL in values and len(values) > 1:
            operation.place.refuse("one value here is a number, another is true or false.")
        return type_of_result(operator, found)
    wanted = BOOL if operator in LOGICAL or (operator in ("=", "!=") and BOOL in found) else DOUBLE
    _need(operation, found, wanted, range(len(found)))
    if operator == "mod" and DOUBLE in found:
        operation.place.refuse("mod takes integers.")
    return type_of_result(operator, found)


def type_of_result(operator: str, found: list[str]) -> str:
    """Return the type of an operation whose operands have the right ones."""
    if operator == "?":
        found = [*found[1::2], found[-1]]
        return found[0] if len(set(found)) == 1 else DOUBLE
    if operator in LOGICAL or STRENGTHS.get(operator) in (6, 7):
        return BOOL
    if operator in ("floor", "ceil", "round", "mod"):
        return INT
    return DOUBLE if DOUBLE in found or operator in ("/", "log") else INT


def _need(operation: Operation, found: list[str], wanted: str, which: range) -> None:
    """Refuse operands of a wrong type."""
    for number in which:
        if (found[number] == BOOL) != (wanted == BOOL):
            is_wanted = "true or false" if wanted == BOOL else "a number"
            message = f"what {operation.operator!r} joins must be {is_wanted} here."
            raise operation.operands[number].place.error(message)


def evaluate_constant(expression: Expression, values: Mapping[str, Value]) -> Value:
    """Return the exact value of an expression, given those of names.

    Truth is looked for from the left and no further than needed, as in ``x = 0 | 1 / x > 2``.

    Raises
    ------
    GamedpError
        At names that have no value, wrong types, divisions by zero, and numbers too large.
    """
    type_of(expression, {name: type_of_value(value) for name, value in values.items()})
    return evaluate(expression, values)


def type_of_value(value: Value) -> str:
    """Return the type of a value."""
    return BOOL if isinstance(value, bool) else INT if isinstance(value, int) else DOUBLE


def evaluate(expression: Expression, values: Mapping[str, Value]) -> Value:
    """Return the value of an expression whose types are right."""
    if isinstance(expression, Literal):
        return expression.value
    if not isinstance(expression, Operation):
        return values[expression.name]
    operator, operands = expression.operator, expression.operands
    if operator in ("&", "|", "=>"):
        truths = (bool(evaluate(part, values)) for part in operands)
        if operator == "=>":
            return not next(truths) or next(truths)
        return all(truths) if operator == "&" else any(truths)
    if operator == "?":
        pairs = zip(operands[:-1:2], operands[1::2], strict=True)
        taken = next((value for given, value in pairs if evaluate(given, values)), operands[-1])
        return evaluate(taken, values)
    found = [evaluate(part, values) for part in operands]
    try:
        result: Value = _computed(operator, found)
    except ZeroDivisionError:
        expression.place.refuse("this divides by zero.")
    except (OverflowError, ValueError):
        expression.place.refuse(f"{operator!r} has no value here, or one too large.")
    if isinstance(result, (int, Fraction)) and _bits(result) > MOST_BITS:
        expression.place.refuse(f"a number has more than {MOST_BITS:,} bits.")
    return result


def _bits(number: int | Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


COMPUTED: Mapping[str, Callable[..., Value]] = {
    "!": lambda x: not x,
    "=": lambda x, y: x == y,
    "<=>": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "/": lambda x, y: x / y if isinstance(x, float) or isinstance(y, float) else Fraction(x, 1) / y,
    "min": min,
    "max": max,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": lambda x: math.floor(x + Fraction(1, 2)),
    "log": math.log,
}
"""The values of operators, given their operands."""


def _computed(operator: str, found: list[Any]) -> Any:
    """Return what an operator computes from values of the right types."""
    if operator in CHAINS or operator == "-":
        result = found[0]
        if len(found) == 1:
            return -result
        for other in found[1:]:
            if operator == "*":
                result *= other
                if not isinstance(result, float) and _bits(result) > MOST_BITS:
                    raise OverflowError
            else:
                result = result + other if operator == "+" else result - other
        return result
    if operator == "mod":
        if found[1] <= 0:
            raise ZeroDivisionError
        return found[0] % found[1]
    if operator == "pow":
        return power(*found)
    return COMPUTED[operator](*found)


def power(base: Any, exponent: Any) -> Value:
    """Return a power: a fraction where it is one, else a float; an integer of natural numbers."""
    if isinstance(base, float) or isinstance(exponent, float) or int(exponent) != exponent:
        return math.pow(base, exponent)
    if abs(exponent) * _bits(base) > MOST_BITS:
        raise OverflowError
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent < 0:
            raise ValueError
        return int(base**exponent)
    return Fraction(base) ** int(exponent)
