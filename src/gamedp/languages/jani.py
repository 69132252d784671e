"""Models in the JANI format [1]_: networks of automata in JSON.

Each location becomes a value of a variable of its automaton, each edge a command. A variable that
is transient is a label if it is true or false, else a reward. Properties become formulas as text.

.. [1] https://jani-spec.org
"""

from __future__ import annotations

import itertools
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
    names_in,
    number_of,
    substitute,
)
from gamedp.languages.formulas import WORDS
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
        self.names: dict[str, Expression] = {}
        """The expression for each global variable; a transient one is a name in quotation marks."""
        self.transients: dict[str, tuple[str, Expression]] = {}
        """The type of each transient variable, and its value where no location sets it."""
        self.set_in_locations: dict[str, list[tuple[int, Expression, Expression]]] = {}
        """The automata that set a transient variable, the condition, and the value."""
        self.set_on_edges: set[str] = set()
        self.assigned: list[tuple[tuple[int, str], int, str, set[str]]] = []
        """Of each assignment: the automaton and action, the index, and what it sets and reads."""
        self.starts: list[Expression] = []
        self.has_many_starts = False
        self._automaton = -1
        self._taken = set(WORDS)
        self._functions: dict[str, tuple[Any, Names, dict[str, Any]]] = {}
        """Each function, and the variables and functions that it sees."""

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

    def entries(
        self, value: Any, key: str, path: str, default: Any = None, kind: Any = dict
    ) -> list[Any]:
        """Return the entries of a list in an object, all of a type."""
        found: list[Any] = self.part(value, key, list, path, default)
        for number, each in enumerate(found):
            if not isinstance(each, kind):
                self.refuse(f"{path}.{key}[{number}]", f"{shown(each)} is of a wrong type.")
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
            name = self.part(value, "constant", str, path)
            if name not in CONSTANTS:
                self.refuse(path, f"there is no constant {shown(name)}.")
            return Literal(CONSTANTS[name], place)
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
        function, seen, functions = self._functions[name]
        given = self.part(value, "args", list, path)
        parameters = [
            self.part(each, "name", str, f"functions.{name}")
            for each in self.entries(function, "parameters", f"functions.{name}")
        ]
        if len(given) != len(parameters):
            message = f"{name!r} takes {len(parameters)} arguments, not {len(given)}."
            self.refuse(path, message)
        arguments = {
            parameter: self.expression(each, f"{path}.args", names, depth + 1)
            for parameter, each in zip(parameters, given, strict=True)
        }
        body = self.part(function, "body", object, f"functions.{name}")
        before, self._functions = self._functions, functions
        found = self.expression(body, f"functions.{name}", {**seen, **arguments}, depth + 10)
        self._functions = before
        return found

    def functions(self, owner: Any, path: str, names: Names) -> None:
        """Note the functions of a model or an automaton, which see its variables."""
        self._functions = functions = dict(self._functions)
        for each in self.entries(owner, "functions", path, []):
            name = self.part(each, "name", str, f"{path}.functions")
            functions[name] = each, names, functions

    def unique(self, name: str) -> str:
        """Return a name like the given one that formulas can use, and no other variable has."""
        name = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
        if name[0].isdigit():
            name = f"_{name}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def variable(self, declared: Any, path: str, owner: str, names: dict[str, Expression]) -> None:
        """Read a variable; note what stands for it."""
        name = self.part(declared, "name", str, path)
        path = f"{path}.{name}"
        place = self.source.place(path)
        kind, low, high = self._type(declared.get("type"), path)
        given = declared.get("initial-value")
        if declared.get("transient"):
            default = False if kind == BOOL else 0
            start = self.expression(default if given is None else given, path, {})
            known = f'"{name}"'
            while known in self.transients:
                known = f'{known[:-1]}_"'
            self.transients[known] = kind, start
            names[name] = Name(known, place)
            return
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
        names[name] = Name(known, place)

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
        self._automaton += 1
        names, outer = dict(self.names), self._functions
        self.functions(declared, path, names)
        for each in self.entries(declared, "variables", path, []):
            self.variable(each, path, name, names)
        place = self.source.place(path)
        locations = [
            self.part(each, "name", str, f"{path}.locations")
            for each in self.entries(declared, "locations", path)
        ]
        numbers = {location: number for number, location in enumerate(locations)}
        starts = self.entries(declared, "initial-locations", path, kind=str)
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
        commands = [
            self._edge(edge, f"{path}.edges[{number}]", at, numbers, names)
            for number, edge in enumerate(self.entries(declared, "edges", path))
        ]
        self._functions = outer
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
        for each in self.entries(location, "transient-values", path, []):
            ref = self._target(each, path, names)
            if ref not in self.transients:
                self.refuse(path, f"{shown(each['ref'])} is not a transient variable.")
            value = self.expression(self.part(each, "value", object, path), path, names)
            place = self.source.place(path)
            here = _is(at, numbers[name], place) if at else Literal(True, place)
            self.set_in_locations.setdefault(ref, []).append((self._automaton, here, value))

    def _target(self, assignment: Any, path: str, names: Names) -> str:
        """Return the name by which the variable that is assigned is known."""
        ref = self.part(assignment, "ref", str, path)
        target = names.get(ref)
        return target.name if isinstance(target, Name) else ref

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
        common = self.entries(edge, "assignments", path, [])
        if any(self._target(each, path, names) not in self.transients for each in common):
            self.refuse(path, "assignments of an edge itself must be of transient variables.")
        action = self.part(edge, "action", str, path, "")
        branches = []
        for number, destination in enumerate(self.entries(edge, "destinations", path)):
            there = f"{path}.destinations[{number}]"
            branch = self._branch(destination, there, action, common, names)
            end = self.part(destination, "location", str, there)
            if end not in numbers:
                self.refuse(there, f"there is no location {shown(end)}.")
            if at and end != begin:
                updates = {**branch.updates, at: Literal(numbers[end], place)}
                branch = attrs.evolve(branch, updates=updates)
            branches.append(branch)
        if not branches:
            self.refuse(path, "an edge needs a destination.")
        return Command(action, guard, tuple(branches), place)

    def _branch(
        self, destination: Any, path: str, action: str, common: list[Any], names: Names
    ) -> Branch:
        probability: Expression = Literal(1, self.source.place(path))
        if "probability" in destination:
            given = self.part(destination["probability"], "exp", object, path)
            probability = self.expression(given, f"{path}.probability", names)
        listed = [*common, *self.entries(destination, "assignments", path, [])]

        def index_of(assignment: Any) -> int:
            return int(self.part(assignment, "index", int, path, 0))

        changed: dict[str, Expression] = {}
        # Those of one index are simultaneous; later ones see the values that earlier ones set.
        for index, group in itertools.groupby(sorted(listed, key=index_of), index_of):
            seen, now = dict(changed), set[str]()
            for each in group:
                target = self._target(each, path, names)
                if target in now:
                    self.refuse(path, f"{each['ref']!r} is assigned twice.")
                now.add(target)
                value = self.expression(self.part(each, "value", object, path), path, names)
                reads = names_in(value) - seen.keys()
                self.assigned.append(((self._automaton, action), index, target, reads))
                changed[target] = substitute(value, seen)
        updates = {name: changed[name] for name in changed if name not in self.transients}
        rewards = {
            name[1:-1]: value
            for name, value in changed.items()
            if self.transients.get(name, (BOOL,))[0] != BOOL
        }
        self.set_on_edges |= rewards.keys()
        return Branch(probability, updates, rewards)

    def values_of_transients(self) -> dict[str, Expression]:
        """Return the value of each transient variable in a state."""
        found = {}
        for name, (_, start) in self.transients.items():
            setting = self.set_in_locations.get(name, [])
            values = {value for _, _, value in setting}
            if len(values) > 1 and len({automaton for automaton, _, _ in setting}) > 1:
                start.place.refuse(f"locations of two automata set {name}; let those of one do so.")
            parts = [part for _, *pair in setting for part in pair]
            found[name] = Operation("?", (*parts, start), start.place) if parts else start
        return found


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
    reader.functions(content, "the model", reader.names)
    constants: dict[str, Constant] = {}
    for declared in reader.entries(content, "constants", "the model", []):
        name = reader.part(declared, "name", str, "constants")
        path = f"constants.{name}"
        value = reader.expression(declared["value"], path, {}) if "value" in declared else None
        constant_kind, _, _ = reader._type(declared.get("type"), path)  # noqa: SLF001 - own
        constants[name] = Constant(name, constant_kind, value, reader.source.place(path))
        reader.unique(name)
    for declared in reader.entries(content, "variables", "the model", []):
        reader.variable(declared, "variables", "", reader.names)
    system = reader.part(content, "system", dict, "the model")
    modules = _modules(reader, content, system)
    if "restrict-initial" in content:
        path = "restrict-initial"
        reader._restrict(content[path], path, reader.names)  # noqa: SLF001 - own
    transient = reader.values_of_transients()
    modules = with_expressions(tuple(modules), lambda each: substitute(each, transient))
    place = reader.source.place("the model")
    rewards = {
        name[1:-1]: (RewardItem(None, Literal(True, place), transient[name], place),)
        for name, (of_type, _) in reader.transients.items()
        if of_type != BOOL
    }
    values = values_of_constants(constants, given)
    writer = PropertyWriter(reader, rewards, transient, values)
    properties: dict[str, str] = {}
    notes = [
        f"the variable {name!r} is called {each.name!r} here"
        for name, each in reader.names.items()
        if isinstance(each, Name) and each.name.strip('"') != name
    ]
    for declared in reader.entries(content, "properties", "the model", []):
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
        constants=values,
        variables=tuple(variables),
        modules=modules,
        synchronisations=_synchronisations(reader, system, modules),
        labels={
            name[1:-1]: transient[name]
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
        for each in reader.entries(content, "automata", "the model")
    }
    modules: list[Module] = []
    for number, element in enumerate(reader.entries(system, "elements", "system")):
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
    late = [each for each in reader.assigned if each[1] > 0 and each[3]]
    for number, each in enumerate(reader.entries(system, "syncs", "system")):
        path = f"system.syncs[{number}]"
        listed = reader.entries(each, "synchronise", path, kind=(str, type(None)))
        if len(listed) != len(modules):
            reader.refuse(path, f"there are {len(modules)} automata, not {len(listed)}.")
        parts = [pair for pair in enumerate(listed) if pair[1] is not None]
        setting = [each for each in reader.assigned if late and each[0] in parts]
        for (one, index, name, _), (other, later, _, reads) in itertools.product(setting, late):
            if one != other and other in parts and index < later and name in reads:
                reader.refuse(
                    path,
                    f"{modules[other[0]].name!r} reads {name!r} at the index {later}, after "
                    f"{modules[one[0]].name!r} sets it; that is supported within an automaton.",
                )
        result = each.get("result") or ""
        if not isinstance(result, str):
            reader.refuse(path, f"{shown(result)} is no action.")
        if parts:
            found.append(Synchronisation(result, tuple(parts)))
    return tuple(found)
