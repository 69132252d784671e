"""Models in the JANI format [1]_: networks of automata in JSON.

Each location becomes a value of a variable of its automaton, each edge a command. A variable that
is transient is a label if it is true or false, else a reward. Properties become formulas as text.

.. [1] https://jani-spec.org
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import attrs

from gamedp.errors import shown
from gamedp.languages.expressions import (
    BOOL,
    CHAINS,
    DOUBLE,
    INT,
    MOST_DEPTH,
    Expression,
    Literal,
    Name,
    Operation,
    joined,
    number_of,
    substitute,
)
from gamedp.languages.jani_properties import PropertyWriter, RefusedError
from gamedp.languages.programs import (
    DTMC,
    MDP,
    Branch,
    Command,
    Constant,
    ModelProgram,
    Module,
    RewardItem,
    Synchronisation,
    Variable,
    check_program,
    values_of_constants,
    with_expressions,
)
from gamedp.languages.tokens import MOST_DIGITS, Source, TextPlace

KINDS = {"dtmc": DTMC, "mdp": MDP, "lts": MDP}

OPERATORS = {
    "∧": "&",
    "\N{LOGICAL OR}": "|",
    "⇒": "=>",
    "≠": "!=",
    "≤": "<=",
    "≥": ">=",
    "%": "mod",
}
"""JANI's signs for operators, where they differ."""

BINARY = frozenset(
    {"&", "|", "=>", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "mod", "min", "max"}
    | {"pow", "log"}
)

UNARY = {"¬": "!", "floor": "floor", "ceil": "ceil"}

MOST_PATH = 200
"""Largest number of characters with which a message names a place."""

Names: TypeAlias = "Mapping[str, Expression]"
"""Expressions, by the names that they stand for."""

CONSTANTS = {"e": math.e, "π": math.pi}


@attrs.frozen(eq=False)
class JaniSource(Source):
    """A text in JSON: places are paths to a part of it."""

    paths: list[str] = attrs.field(factory=list, repr=False)

    def where(self, at: int) -> str:
        """Return the path to a part."""
        return self.paths[at]

    def line(self, at: int) -> int:
        """Return 0: parts of JSON are not known by lines."""
        del at
        return 0

    def place(self, path: str) -> TextPlace:
        """Return the place of a part."""
        self.paths.append(path)
        return TextPlace(self, len(self.paths) - 1)


def _parsed(source: Source) -> Any:
    """Return the content of a text in JSON, numbers exact."""
    place = TextPlace(source, 0)

    def number(text: str) -> Any:
        if len(text) > MOST_DIGITS:
            place.refuse(f"a number has at most {MOST_DIGITS:,} digits.")
        sign = -1 if text.startswith("-") else 1
        return sign * number_of(text.lstrip("-"), place)

    def constant(text: str) -> NoReturn:
        place.refuse(f"{text} is no number.")

    try:
        return json.loads(
            source.text, parse_float=number, parse_int=number, parse_constant=constant
        )
    except json.JSONDecodeError as error:
        TextPlace(source, error.pos).refuse(f"this is not JSON: {error.msg}.")
    except RecursionError:
        place.refuse("parts are nested too deeply.")


class JaniReader:
    """Reads a model.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source: Source) -> None:
        self.content = _parsed(source)
        self.source = JaniSource(source.name, source.text, source.kind)
        self.variables: list[Variable] = []
        self.transients: dict[str, tuple[str, Expression]] = {}
        """The type of each transient variable, and its value where no location sets it."""
        self.set_in_locations: dict[str, list[tuple[Expression, Expression]]] = {}
        self.set_on_edges: set[str] = set()
        self.starts: list[Expression] = []
        self.has_many_starts = False
        self._taken: set[str] = set()
        self._functions: dict[str, Any] = {}

    def refuse(self, path: str, message: str) -> NoReturn:
        """Raise the error for something wrong in a part."""
        self.source.place(path).refuse(message)

    def part(self, value: Any, key: str, kind: type, path: str, default: Any = None) -> Any:
        """Return a part of an object, of a type; the default if there is none and one is given."""
        if not isinstance(value, dict):
            self.refuse(path, f"{shown(value)} stands where an object should be.")
        if key not in value:
            if default is None:
                self.refuse(path, f"{key!r} is missing.")
            return default
        found = value[key]
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            self.refuse(f"{path}.{key}", f"{shown(found)} is of a wrong type.")
        return found

    def expression(self, value: Any, path: str, names: Names, depth: int = 0) -> Expression:
        """Return an expression; `names` stand for others."""
        if depth > MOST_DEPTH:
            self.refuse(path, f"an expression is nested more than {MOST_DEPTH} times.")
        place = self.source.place(path)
        if isinstance(value, str):
            return names.get(value, Name(value, place))
        if not isinstance(value, dict):
            if isinstance(value, (list, type(None))):
                self.refuse(path, f"{shown(value)} stands where an expression should be.")
            return Literal(value, place)
        if "constant" in value:
            if value["constant"] not in CONSTANTS:
                self.refuse(path, f"there is no constant {shown(value['constant'])}.")
            return Literal(CONSTANTS[value["constant"]], place)
        return self._operation(value, path, names, depth)

    def _operation(self, value: Any, path: str, names: Names, depth: int) -> Expression:
        place = self.source.place(path)

        def operand(key: str) -> Expression:
            if key not in value:
                self.refuse(path, f"{key!r} is missing.")
            return self.expression(value[key], f"{path}.{key}", names, depth + 1)

        written = self.part(value, "op", str, path)
        operator = OPERATORS.get(written, written)
        if operator == "call":
            return self._call(value, path, names, depth)
        if operator == "ite":
            return Operation("?", self._cases(value, path, names, depth), place)
        if operator in UNARY or (operator == "-" and "exp" in value):
            return Operation(UNARY.get(operator, operator), (operand("exp"),), place)
        if operator in ("abs", "sgn", "trc"):
            return _derived(operator, operand("exp"), place)
        if operator not in BINARY:
            self.refuse(path, f"the operator {shown(written)} is not supported.")
        if operator in CHAINS:
            return Operation(operator, self._chain(value, path, names, depth), place)
        return Operation(operator, (operand("left"), operand("right")), place)

    def _cases(self, value: Any, path: str, names: Names, depth: int) -> tuple[Expression, ...]:
        """Return conditions and values in turn, and the value if no condition holds."""
        parts: list[Expression] = []
        rest = value
        while isinstance(rest, dict) and rest.get("op") == "ite":
            parts += [
                self.expression(rest.get(key), f"{path}.{key}", names, depth + 1)
                for key in ("if", "then")
            ]
            rest, path = rest.get("else"), f"{path}.else" if len(path) < MOST_PATH else path
        parts.append(self.expression(rest, path, names, depth + 1))
        return tuple(parts)

    def _chain(self, value: Any, path: str, names: Names, depth: int) -> tuple[Expression, ...]:
        """Return the operands of a chain of one operator, which is deep in JANI, and flat here."""
        operands: list[Expression] = []
        rest = [value]
        while rest:
            part = rest.pop()
            if isinstance(part, dict) and part.get("op") == value["op"]:
                rest += [part.get("right"), part.get("left")]
            else:
                operands.append(self.expression(part, path, names, depth + 1))
        return tuple(operands)

    def _call(self, value: Any, path: str, names: Names, depth: int) -> Expression:
        """Return the body of a function with arguments in it."""
        name = self.part(value, "function", str, path)
        if name not in self._functions:
            self.refuse(path, f"there is no function {shown(name)}.")
        function = self._functions[name]
        given = self.part(value, "args", list, path)
        parameters = [
            self.part(each, "name", str, f"functions.{name}")
            for each in self.part(function, "parameters", list, f"functions.{name}")
        ]
        if len(given) != len(parameters):
            message = f"{name!r} takes {len(parameters)} arguments, not {len(given)}."
            self.refuse(path, message)
        arguments = {
            parameter: self.expression(each, f"{path}.args", names, depth + 1)
            for parameter, each in zip(parameters, given, strict=True)
        }
        body = self.part(function, "body", object, f"functions.{name}")
        return self.expression(body, f"functions.{name}", {**names, **arguments}, depth + 10)

    def functions(self, owner: Any, path: str) -> None:
        """Note the functions of a model or an automaton."""
        for each in self.part(owner, "functions", list, path, []):
            self._functions[self.part(each, "name", str, f"{path}.functions")] = each

    def unique(self, name: str) -> str:
        """Return a name like the given one that formulas can use, and no other variable has."""
        name = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
        if name[0].isdigit():
            name = f"_{name}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def variable(self, declared: Any, path: str, owner: str) -> tuple[str, Expression] | None:
        """Read a variable; return its name and what stands for it, or None if it is transient."""
        name = self.part(declared, "name", str, path)
        path = f"{path}.{name}"
        place = self.source.place(path)
        kind, low, high = self._type(declared.get("type"), path)
        given = declared.get("initial-value")
        if declared.get("transient"):
            default = False if kind == BOOL else 0
            start = self.expression(default if given is None else given, path, {})
            self.transients[name] = kind, start
            return None
        if kind == DOUBLE:
            self.refuse(path, "a variable of type real is supported if it is transient.")
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        known = self.unique(f"{owner}_{name}" if owner and plain in self._taken else name)
        if given is None:
            self.has_many_starts = True
        else:
            value = self.expression(given, f"{path}.initial-value", {})
            self.starts.append(Operation("=", (Name(known, place), value), place))
        self.variables.append(Variable(known, kind, low, high, None, place))
        return name, Name(known, place)

    def _type(self, given: Any, path: str) -> tuple[str, Expression | None, Expression | None]:
        """Return a type, and the bounds of integers that have some."""
        if given in ("bool", "int", "real"):
            return {"bool": BOOL, "int": INT, "real": DOUBLE}[given], None, None
        if not isinstance(given, dict) or given.get("kind") != "bounded":
            self.refuse(f"{path}.type", f"the type {shown(given)} is not supported.")
        if given.get("base") == "real":
            return DOUBLE, None, None
        if "lower-bound" not in given or "upper-bound" not in given:
            self.refuse(f"{path}.type", "an integer needs both bounds, or none.")
        low, high = (
            self.expression(given[key], f"{path}.type", {})
            for key in ("lower-bound", "upper-bound")
        )
        return INT, low, high

    def automaton(self, declared: Any, name: str) -> Module:
        """Read an automaton."""
        path = f"automata.{name}"
        self.functions(declared, path)
        names: dict[str, Expression] = {}
        for each in self.part(declared, "variables", list, path, []):
            found = self.variable(each, path, name)
            if found is not None:
                names[found[0]] = found[1]
        place = self.source.place(path)
        locations = [
            self.part(each, "name", str, f"{path}.locations")
            for each in self.part(declared, "locations", list, path)
        ]
        numbers = {location: number for number, location in enumerate(locations)}
        starts = self.part(declared, "initial-locations", list, path)
        for start in starts:
            if start not in numbers:
                self.refuse(f"{path}.initial-locations", f"there is no location {shown(start)}.")
        at = ""
        if len(locations) > 1:
            at = self.unique(f"{name}_location")
            bounds = Literal(0, place), Literal(len(locations) - 1, place)
            self.variables.append(Variable(at, INT, *bounds, None, place))
            self.starts.append(
                joined("|", [_is(at, numbers[start], place) for start in starts], place)
            )
            self.has_many_starts |= len(starts) > 1
        for each in declared["locations"]:
            self._location(each, path, at, numbers, names)
        if "restrict-initial" in declared:
            self._restrict(declared["restrict-initial"], f"{path}.restrict-initial", names)
        edges = self.part(declared, "edges", list, path)
        commands = [
            self._edge(edge, f"{path}.edges[{number}]", at, numbers, names)
            for number, edge in enumerate(edges)
        ]
        return Module(name, (), tuple(commands), place)

    def _restrict(self, given: Any, path: str, names: Names) -> None:
        self.starts.append(self.expression(self.part(given, "exp", object, path), path, names))
        self.has_many_starts = True

    def _location(
        self, location: Any, path: str, at: str, numbers: Mapping[str, int], names: Names
    ) -> None:
        """Note the values of transient variables in a location."""
        name = location["name"]
        path = f"{path}.locations.{name}"
        if "time-progress" in location:
            self.refuse(path, "'time-progress' stands for continuous time; it is not supported.")
        for each in self.part(location, "transient-values", list, path, []):
            ref = self.part(each, "ref", str, path)
            if ref not in self.transients:
                self.refuse(path, f"{shown(ref)} is not a transient variable.")
            value = self.expression(self.part(each, "value", object, path), path, names)
            place = self.source.place(path)
            here = _is(at, numbers[name], place) if at else Literal(True, place)
            self.set_in_locations.setdefault(ref, []).append((here, value))

    def _edge(
        self, edge: Any, path: str, at: str, numbers: Mapping[str, int], names: Names
    ) -> Command:
        place = self.source.place(path)
        if "rate" in edge:
            self.refuse(f"{path}.rate", "a rate stands for continuous time; it is not supported.")
        begin = self.part(edge, "location", str, path)
        if begin not in numbers:
            self.refuse(path, f"there is no location {shown(begin)}.")
        conditions: list[Expression] = [_is(at, numbers[begin], place)] if at else []
        if "guard" in edge:
            given = self.part(edge["guard"], "exp", object, f"{path}.guard")
            conditions.append(self.expression(given, f"{path}.guard", names))
        guard = joined("&", conditions, place)
        common = self.part(edge, "assignments", list, path, [])
        branches = []
        for number, destination in enumerate(self.part(edge, "destinations", list, path)):
            there = f"{path}.destinations[{number}]"
            branch = self._branch(destination, there, common, names)
            end = self.part(destination, "location", str, there)
            if end not in numbers:
                self.refuse(there, f"there is no location {shown(end)}.")
            if at and end != begin:
                updates = {**branch.updates, at: Literal(numbers[end], place)}
                branch = attrs.evolve(branch, updates=updates)
            branches.append(branch)
        if not branches:
            self.refuse(path, "an edge needs a destination.")
        return Command(self.part(edge, "action", str, path, ""), guard, tuple(branches), place)

    def _branch(self, destination: Any, path: str, common: list[Any], names: Names) -> Branch:
        probability: Expression = Literal(1, self.source.place(path))
        if "probability" in destination:
            given = self.part(destination["probability"], "exp", object, path)
            probability = self.expression(given, f"{path}.probability", names)
        updates: dict[str, Expression] = {}
        rewards: dict[str, Expression] = {}
        for each in common:
            if each.get("ref") not in self.transients:
                self.refuse(path, "assignments of an edge itself must be of transient variables.")
        listed = [*common, *self.part(destination, "assignments", list, path, [])]
        # Those of one index are simultaneous; later ones see the values that earlier ones set.
        listed.sort(key=lambda each: self.part(each, "index", int, path, 0))
        seen: dict[str, Expression] = {}
        index, pending = 0, dict(updates)
        for each in listed:
            if each.get("index", 0) != index:
                index, seen = each.get("index", 0), dict(pending)
            ref = each.get("ref")
            if not isinstance(ref, str):
                self.refuse(path, f"an assignment to {shown(ref)} is not supported.")
            value = self.expression(self.part(each, "value", object, path), path, names)
            value = substitute(value, seen)
            if ref in self.transients:
                if self.transients[ref][0] != BOOL:
                    rewards[ref] = value
                    self.set_on_edges.add(ref)
                continue
            target = names.get(ref)
            known = target.name if isinstance(target, Name) else ref
            if known in pending and known not in seen:
                self.refuse(path, f"{ref!r} is assigned twice.")
            pending[known] = value
        return Branch(probability, pending, rewards)

    def value_of_transient(self, name: str) -> Expression:
        """Return the value of a transient variable in a state."""
        _, start = self.transients[name]
        parts = [part for pair in self.set_in_locations.get(name, ()) for part in pair]
        if not parts:
            return start
        return Operation("?", (*parts, start), start.place)


def _is(variable: str, number: int, place: TextPlace) -> Operation:
    return Operation("=", (Name(variable, place), Literal(number, place)), place)


def _derived(operator: str, inner: Expression, place: TextPlace) -> Operation:
    """Return the absolute value, sign, or integer part of an expression."""
    zero, minus = Literal(0, place), Operation("-", (inner,), place)
    positive = Operation(">", (inner, zero), place)
    if operator == "abs":
        return Operation("max", (inner, minus), place)
    if operator == "sgn":
        negative = Operation("<", (inner, zero), place)
        values = (positive, Literal(1, place), negative, Literal(-1, place), zero)
        return Operation("?", values, place)
    floor, ceil = (Operation(name, (inner,), place) for name in ("floor", "ceil"))
    return Operation("?", (positive, floor, ceil), place)


def read_jani(source: Source, given: Mapping[str, Any]) -> ModelProgram:
    """Return the program of a text.

    Parameters
    ----------
    source : Source
    given : mapping of str to number
        Values of constants.

    Raises
    ------
    GamedpError
        Of the source's kind, with the path to what is not a model, or not supported.
    """
    reader = JaniReader(source)
    content = reader.content
    kind = reader.part(content, "type", str, "the model")
    if kind not in KINDS:
        reader.refuse("type", f"{kind!r} is not supported; {', '.join(KINDS)} are.")
    reader.functions(content, "the model")
    constants: dict[str, Constant] = {}
    for declared in reader.part(content, "constants", list, "the model", []):
        name = reader.part(declared, "name", str, "constants")
        path = f"constants.{name}"
        value = reader.expression(declared["value"], path, {}) if "value" in declared else None
        constant_kind, _, _ = reader._type(declared.get("type"), path)  # noqa: SLF001 - own
        constants[name] = Constant(name, constant_kind, value, reader.source.place(path))
        reader.unique(name)
    for declared in reader.part(content, "variables", list, "the model", []):
        reader.variable(declared, "variables", "")
    system = reader.part(content, "system", dict, "the model")
    modules = _modules(reader, content, system)
    if "restrict-initial" in content:
        reader._restrict(content["restrict-initial"], "restrict-initial", {})  # noqa: SLF001 - own
    transient = {name: reader.value_of_transient(name) for name in reader.transients}
    modules = with_expressions(tuple(modules), lambda each: substitute(each, transient))
    place = reader.source.place("the model")
    rewards = {
        name: (RewardItem(None, Literal(True, place), transient[name], place),)
        for name, (of_type, _) in reader.transients.items()
        if of_type != BOOL
    }
    writer = PropertyWriter(reader, rewards)
    properties: dict[str, str] = {}
    notes: list[str] = []
    for declared in reader.part(content, "properties", list, "the model", []):
        name = reader.part(declared, "name", str, "properties")
        try:
            properties[name] = writer.text_of(declared.get("expression"), f"properties.{name}")
        except RefusedError as error:
            notes.append(f"the property {name!r} is left out: {error}")
    initial = joined("&", reader.starts, place) if reader.has_many_starts else None
    variables = reader.variables if initial is not None else _with_starts(reader)
    program = ModelProgram(
        source=reader.source,
        kind=KINDS[kind],
        constants=values_of_constants(constants, given),
        variables=tuple(variables),
        modules=modules,
        synchronisations=_synchronisations(reader, system, modules),
        labels={
            name: transient[name]
            for name, (of_type, _) in reader.transients.items()
            if of_type == BOOL
        },
        rewards=writer.rewards,
        initial=initial,
        properties=properties,
        notes=tuple(notes),
    )
    check_program(program)
    return program


def _with_starts(reader: JaniReader) -> list[Variable]:
    """Return the variables with their initial values."""
    found = {}
    for start in reader.starts:
        match start:
            case Operation(operator="=", operands=(Name() as variable, value)):
                found[variable.name] = value
    return [attrs.evolve(each, initial=found[each.name]) for each in reader.variables]


def _modules(reader: JaniReader, content: Any, system: Any) -> list[Module]:
    """Return an automaton for each element of the system."""
    declared = {
        reader.part(each, "name", str, "automata"): each
        for each in reader.part(content, "automata", list, "the model")
    }
    modules: list[Module] = []
    for number, element in enumerate(reader.part(system, "elements", list, "system")):
        path = f"system.elements[{number}]"
        name = reader.part(element, "automaton", str, path)
        if name not in declared:
            reader.refuse(path, f"there is no automaton {shown(name)}.")
        if element.get("input-enable"):
            reader.refuse(path, "'input-enable' is not supported.")
        module = reader.automaton(declared[name], name)
        count = sum(each.name.partition(" ")[0] == name for each in modules)
        modules.append(attrs.evolve(module, name=f"{name} {count + 1}" if count else name))
    return modules


def _synchronisations(
    reader: JaniReader, system: Any, modules: Sequence[Module]
) -> tuple[Synchronisation, ...]:
    """Return the synchronisations; without any, each automaton acts by itself."""
    if "syncs" not in system:
        return tuple(
            Synchronisation(action, ((number, action),))
            for number, module in enumerate(modules)
            for action in dict.fromkeys(each.action for each in module.commands)
            if action
        )
    found = []
    for number, each in enumerate(reader.part(system, "syncs", list, "system")):
        path = f"system.syncs[{number}]"
        listed = reader.part(each, "synchronise", list, path)
        if len(listed) != len(modules):
            reader.refuse(path, f"there are {len(modules)} automata, not {len(listed)}.")
        parts = []
        for place, action in enumerate(listed):
            if action is None:
                continue
            if not isinstance(action, str):
                reader.refuse(path, f"{shown(action)} is no action.")
            parts.append((place, action))
        result = each.get("result") or ""
        if not isinstance(result, str):
            reader.refuse(path, f"{shown(result)} is no action.")
        if parts:
            found.append(Synchronisation(result, tuple(parts)))
    return tuple(found)
