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
    Label,
    Literal,
    Operation,
    Value,
)
from gamedp.languages.programs import RewardItem

COMPARED = {"≤": "<=", "≥": ">=", "<": "<", ">": ">", "=": "="}

FILTERS = {
    "min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin",
    "argmax": "argmax", "∀": "forall", "∃": "exists", "values": "print",
}  # fmt: skip

LABELS = {"initial": '"init"', "deadlock": '"deadlock"'}

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
        is_label = isinstance(expression, Label)
        return f'"{expression.name}"' if is_label else expression.name
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
    """

    def __init__(self, reader: Any, rewards: Mapping[str, tuple[RewardItem, ...]]) -> None:
        self.reader = reader
        self.rewards = dict(rewards)

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

    def _filter(self, value: Any, path: str) -> str:
        inner, states = self._state(value.get("values"), path), value.get("states")
        is_initial = isinstance(states, dict) and states.get("op") == "initial"
        if is_initial and not self.reader.has_many_starts and value.get("fun") != "count":
            return inner
        if value.get("fun") not in FILTERS:
            _refuse(f"the filter {shown(value.get('fun'))} is not supported")
        return f"filter({FILTERS[value['fun']]}, {inner}, {self._state(states, path)})"

    def _state(self, value: Any, path: str) -> str:
        """Return the text of a formula that is true or false, or a number, in each state."""
        operator = value.get("op") if isinstance(value, dict) else None
        if operator in LABELS:
            return LABELS[operator]
        if operator in QUANTIFIERS:
            return self._quantified(value, path, "=?")
        if operator in COMPARED:
            left, right = value.get("left"), value.get("right")
            if isinstance(left, dict) and left.get("op") in QUANTIFIERS:
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
        place = self.reader.source.place(path)
        names: dict[str, Expression] = {}
        for name, (kind, _) in self.reader.transients.items():
            is_label = kind == BOOL
            names[name] = Label(name, place) if is_label else self.reader.value_of_transient(name)
        found: Expression = self.reader.expression(value, path, names)
        return found

    def _quantified(self, value: Any, path: str, bound: str) -> str:
        kind, optimum = value["op"][0], value["op"][1:]
        inner = value.get("exp")
        if kind == "P":
            return f"P{optimum}{bound} [ {self._path(inner, path)} ]"
        if kind == "S" and "accumulate" not in value:
            return f"S{optimum}{bound} [ {self._state(inner, path)} ]"
        name = self._reward(inner, value.get("accumulate", []), path)
        if kind == "S":
            what = "S"
        elif "reach" in value:
            what = f"F {self._state(value['reach'], path)}"
        elif "step-instant" in value:
            what = f"I={written(self._plain(value['step-instant'], path))}"
        elif "time-instant" in value or "reward-instants" in value:
            _refuse("rewards at a time are not supported")
        else:
            what = "C"
        return f'R{{"{name}"}}{optimum}{bound} [ {what} ]'

    def _reward(self, value: Any, accumulate: Any, path: str) -> str:
        """Return the name of the reward that an expected value is about."""
        if not isinstance(accumulate, list) or not set(accumulate) <= {"steps", "exit"}:
            _refuse(f"to accumulate {shown(accumulate)} is not supported")
        reader = self.reader
        transients = reader.transients
        is_reward = isinstance(value, str) and value in transients
        if is_reward and transients[value][0] != BOOL:
            in_states = value in reader.set_in_locations or not _is_zero(transients[value][1])
            on_edges = value in reader.set_on_edges
            if ("exit" in accumulate or not in_states) and ("steps" in accumulate or not on_edges):
                return str(value)
            if on_edges and in_states:
                _refuse(f"{value!r} is earned in states and on edges; both must be accumulated")
        place = reader.source.place(path)
        found = self._plain(value, path)
        if is_reward:
            # What is not accumulated is not earned.
            found = Literal(0, place)
        elif not isinstance(found, Literal) and "steps" in accumulate:
            _refuse("to accumulate an expression of variables at steps is not supported")
        elif len(set(accumulate)) == 2:
            found = Operation("+", (found, found), place)
        name = f"{written(found)} for each {' and '.join(accumulate) or 'nothing'}".replace('"', "")
        self.rewards[name] = (RewardItem(None, Literal(True, place), found, place),)
        return name

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
