"""Properties of JANI models as formulas in the PRISM property language."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NoReturn

from gamedp.errors import GamedpError, shown
from gamedp.languages.expressions import (
    BOOL,
    FUNCTIONS,
    Expression,
    Literal,
    Operation,
    Value,
    joined,
    substitute,
)
from gamedp.languages.programs import RewardItem

COMPARED = {"≤": "<=", "≥": ">=", "<": "<", ">": ">", "=": "="}

FILTERS = {
    "min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin",
    "argmax": "argmax", "∀": "forall", "∃": "exists", "values": "print",
}  # fmt: skip

LABELS = {"initial": '"init"', "deadlock": '"deadlock"'}

ENDS = ("reach", "step-instant", "time-instant", "reward-instants")
"""The parts of an expected value that say until when it counts."""

QUANTIFIERS = frozenset({"Pmin", "Pmax", "Emin", "Emax", "Smin", "Smax"})


class RefusedError(Exception):
    """A property that cannot be expressed; the message says why."""


def _refuse(message: str) -> NoReturn:
    raise RefusedError(message)


def written(expression: Expression) -> str:
    """Return an expression as text, with brackets around each operation."""
    if isinstance(expression, Literal):
        return _written_number(expression.value)
    if not isinstance(expression, Operation):
        return expression.name
    operator, parts = expression.operator, list(map(written, expression.operands))
    if operator in FUNCTIONS:
        return f"{operator}({', '.join(parts)})"
    if operator == "?":
        pairs = zip(parts[:-1:2], parts[1::2], strict=True)
        return f"({' '.join(f'{given} ? {value} :' for given, value in pairs)} {parts[-1]})"
    return f"({operator}{parts[0]})" if len(parts) == 1 else f"({f' {operator} '.join(parts)})"


def _written_number(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return f"({value.numerator}/{value.denominator})"
    return str(value) if value >= 0 else f"({value})"


class PropertyWriter:
    """Writes properties, and adds the rewards that they are about.

    Parameters
    ----------
    reader : JaniReader
        Has read the model.
    rewards : mapping of str to tuple of RewardItem
        The rewards of states, by the names of transient variables.
    transients : mapping of str to Expression
        The values of transient variables in a state, by their names in quotation marks.
    constants : mapping of str to value
        They stand in the text as numbers, whatever their names are.
    """

    def __init__(
        self,
        reader: Any,
        rewards: Mapping[str, tuple[RewardItem, ...]],
        transients: Mapping[str, Expression],
        constants: Mapping[str, Value],
    ) -> None:
        self.reader = reader
        self.rewards = dict(rewards)
        self.transients = transients
        place = reader.source.place("constants")
        self.known: dict[str, Expression] = {
            name: Literal(value, place) for name, value in constants.items()
        }
        self.known |= {f'"{name}"': transients[f'"{name}"'] for name in rewards}

    def text_of(self, value: Any, path: str) -> str:
        """Return the text of a property.

        Raises
        ------
        RefusedError
            If it cannot be expressed.
        """
        try:
            if isinstance(value, dict) and value.get("op") == "filter":
                return self._filter(value, path)
            return self._state(value, path)
        except GamedpError as error:
            raise RefusedError(str(error)) from None
        except RecursionError:
            _refuse("it is nested too deeply")

    def _filter(self, value: Any, path: str) -> str:
        inner, states = self._state(value.get("values"), path), value.get("states")
        is_initial = isinstance(states, dict) and states.get("op") == "initial"
        if is_initial and not self.reader.has_many_starts and value.get("fun") != "count":
            return inner
        kind = self.reader.part(value, "fun", str, path)
        if kind not in FILTERS:
            _refuse(f"the filter {shown(kind)} is not supported")
        return f"filter({FILTERS[kind]}, {inner}, {self._state(states, path)})"

    def _operator(self, value: Any, path: str) -> str:
        is_operation = isinstance(value, dict)
        return str(self.reader.part(value, "op", str, path, "")) if is_operation else ""

    def _state(self, value: Any, path: str) -> str:
        """Return the text of a formula that is true or false, or a number, in each state."""
        operator = self._operator(value, path)
        if operator in LABELS:
            return LABELS[operator]
        if operator in QUANTIFIERS:
            return self._quantified(value, path, "=?")
        if operator in COMPARED:
            left, right = value.get("left"), value.get("right")
            if self._operator(left, path) in QUANTIFIERS:
                bound = written(self._plain(right, path))
                return self._quantified(left, path, f"{COMPARED[operator]}{bound}")
        if operator in ("∧", "\N{LOGICAL OR}", "⇒"):
            sign = {"∧": "&", "\N{LOGICAL OR}": "|", "⇒": "=>"}[operator]
            left, right = (self._state(value.get(key), path) for key in ("left", "right"))
            return f"({left} {sign} {right})"
        is_not = operator == "¬"
        return (
            f"(!{self._state(value.get('exp'), path)})"
            if is_not
            else (written(self._plain(value, path)))
        )

    def _plain(self, value: Any, path: str) -> Expression:
        """Return an expression of variables and labels."""
        return substitute(self.reader.expression(value, path, self.reader.names), self.known)

    def _quantified(self, value: Any, path: str, bound: str) -> str:
        kind, optimum = value["op"][0], value["op"][1:]
        inner = value.get("exp")
        if kind == "P":
            return f"P{optimum}{bound} [ {self._path(inner, path)} ]"
        if kind == "S" and "accumulate" not in value:
            return f"S{optimum}{bound} [ {self._state(inner, path)} ]"
        accumulate = self.reader.entries(value, "accumulate", path, [], str)
        name = self._reward(inner, accumulate, path)
        ends = [key for key in ENDS if key in value]
        if kind == "S":
            what = "S"
        elif not accumulate and ends != ["step-instant"]:
            _refuse("without 'accumulate', a value is expected at a step: give 'step-instant'")
        elif ends == ["reach"]:
            what = f"F {self._state(value['reach'], path)}"
        elif ends == ["step-instant"]:
            sign = "C<=" if accumulate else "I="
            what = f"{sign}{written(self._plain(value['step-instant'], path))}"
        elif ends:
            _refuse(f"an expected value until {' and '.join(ends)} is not supported")
        else:
            what = "C"
        return f'R{{"{name}"}}{optimum}{bound} [ {what} ]'

    def _reward(self, value: Any, accumulate: list[str], path: str) -> str:
        """Return the name of the reward that an expected value is about.

        A step earns what an edge sets a transient variable to, else its initial value; the state
        that it leaves earns the value there. Only the variable's own reward knows of edges.
        """
        if not set(accumulate) <= {"steps", "exit"}:
            _refuse(f"to accumulate {shown(accumulate)} is not supported")
        reader, place = self.reader, self.reader.source.place(path)
        steps, exits = "steps" in accumulate, set(accumulate) != {"steps"}
        in_state = substitute(self._plain(value, path), self.transients)
        own = reader.names.get(value) if isinstance(value, str) else None
        name = own.name if own else ""
        kind, on_step = reader.transients.get(name, (BOOL, in_state))
        if kind == BOOL:
            name = written(in_state)
            if steps and not isinstance(in_state, Literal):
                _refuse("to accumulate an expression of variables at steps is not supported")
        else:
            name = name[1:-1]
            on_edges = name in reader.set_on_edges
            is_whole = _is_zero(on_step) if steps else not on_edges
            if is_whole and (exits or _is_zero(in_state)):
                return str(name)
            if steps and on_edges:
                _refuse(
                    f"{name!r} is set on edges: it is supported where both 'steps' and 'exit' are "
                    "accumulated and its initial value is 0"
                )
        earned = joined("+", [in_state] * exits + [on_step] * steps, place)
        name = f"{name} for each {' and '.join(accumulate) or 'state'}"
        self.rewards[name] = (RewardItem(None, Literal(True, place), earned, place),)
        return str(name)

    def _path(self, value: Any, path: str) -> str:
        if not isinstance(value, dict) or value.get("op") not in ("F", "G", "X", "U", "W", "R"):
            _refuse(f"the path formula {shown(value)} is not supported")
        for key in ("time-bounds", "reward-bounds"):
            if key in value:
                _refuse(f"{key!r} are not supported")
        operator = value["op"] + self._bounds(value.get("step-bounds"), path)
        if "exp" in value:
            return f"{operator} {self._state(value['exp'], path)}"
        left, right = (self._state(value.get(key), path) for key in ("left", "right"))
        return f"{left} {operator} {right}"

    def _bounds(self, bounds: Any, path: str) -> str:
        """Return the bounds of a number of steps."""
        if bounds is None:
            return ""
        if not isinstance(bounds, dict) or not set(bounds) & {"upper", "lower"}:
            _refuse(f"the bounds {shown(bounds)} are not supported")
        texts = {
            key: written(self._plain(bounds[key], path))
            for key in ("lower", "upper")
            if key in bounds
        }
        for key, sign in (("lower", "+"), ("upper", "-")):
            if bounds.get(f"{key}-exclusive") and key in texts:
                texts[key] = f"({texts[key]} {sign} 1)"
        if len(texts) == 2:
            return f"[{texts['lower']},{texts['upper']}]"
        (key,) = texts
        return f"{'>=' if key == 'lower' else '<='}{texts[key]}"


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value == 0
