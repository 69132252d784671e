"""Programs of modelling languages: variables, and modules of guarded commands that change them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import attrs

from gamedp.errors import InvalidParameterError, UnknownNameError, shown
from gamedp.languages.expressions import (
    BOOL,
    DOUBLE,
    INT,
    Expression,
    ExpressionReader,
    Value,
    evaluate_constant,
    names_in,
    type_of,
    type_of_value,
)
from gamedp.languages.tokens import Source, TextPlace

DTMC, MDP, SMG = "dtmc", "mdp", "smg"
"""Kinds of models: chains, decision processes, and games whose players move in turn."""

OF_EVERY_MODEL = INITIAL, DEADLOCK = "init", "deadlock"
"""Labels that every model has: the states in which play begins, and those without choices."""


@attrs.frozen
class Constant:
    """A constant as it is declared.

    Attributes
    ----------
    kind : str
        `BOOL`, `INT` or `DOUBLE`.
    value : Expression or None
    """

    name: str
    kind: str
    value: Expression | None
    place: TextPlace = attrs.field(eq=False, repr=False)


@attrs.frozen
class Variable:
    """A variable: a truth value, or an integer with a range.

    Attributes
    ----------
    low, high : Expression or None
        None for truth values, and for integers without a range.
    initial : Expression or None
        None for the least value.
    """

    name: str
    kind: str
    low: Expression | None
    high: Expression | None
    initial: Expression | None
    place: TextPlace = attrs.field(eq=False, repr=False)


@attrs.frozen
class Branch:
    """An outcome of a command.

    Attributes
    ----------
    probability : Expression
    updates : mapping of str to Expression
        The next values of variables; the others stay.
    rewards : mapping of str to Expression
        The rewards earned on this outcome, by the name of their structure.
    """

    probability: Expression
    updates: Mapping[str, Expression]
    rewards: Mapping[str, Expression] = attrs.field(factory=dict)


@attrs.frozen
class Command:
    """A choice of a module where a guard holds.

    Attributes
    ----------
    action : str
        Empty if it has no name, so that it is done alone.
    """

    action: str
    guard: Expression
    branches: tuple[Branch, ...]
    place: TextPlace = attrs.field(eq=False, repr=False)


@attrs.frozen
class Module:
    """Commands, and the variables that they own."""

    name: str
    variables: tuple[Variable, ...]
    commands: tuple[Command, ...]
    place: TextPlace = attrs.field(eq=False, repr=False)


@attrs.frozen
class RewardItem:
    """A reward of states, or of an action in them.

    Attributes
    ----------
    action : str or None
        None for a reward of states; empty for commands without an action.
    """

    action: str | None
    guard: Expression
    value: Expression
    place: TextPlace = attrs.field(eq=False, repr=False)


@attrs.frozen
class ProgramPlayer:
    """A player of a game, and the modules and actions that it controls."""

    name: str
    modules: tuple[str, ...]
    actions: tuple[str, ...]
    place: TextPlace = attrs.field(eq=False, repr=False)


@attrs.frozen
class Synchronisation:
    """Modules that act together.

    Attributes
    ----------
    result : str
        The name of the common action.
    parts : tuple of (int, str)
        The number of each module that takes part, and the action of its commands; a module may
        take part by commands without a name.
    """

    result: str
    parts: tuple[tuple[int, str], ...]


@attrs.frozen(eq=False, kw_only=True)
class ModelProgram:
    """A program whose formulas have been put in, and whose constants have values.

    Attributes
    ----------
    kind : str
        `DTMC`, `MDP` or `SMG`.
    constants : mapping of str to Value
        Those of type `DOUBLE` are Fractions, or floats.
    variables : tuple of Variable
        All of them, those of modules included.
    synchronisations : tuple of Synchronisation
    initial : Expression or None
        What holds in all initial states; None where each variable has one initial value.
    formulas : mapping of str to Expression
        For properties.
    properties : mapping of str to str
        The names and texts of properties that stand beside the program.
    notes : tuple of str
        What was left out.
    """

    source: Source
    kind: str
    constants: Mapping[str, Value]
    variables: tuple[Variable, ...]
    modules: tuple[Module, ...]
    synchronisations: tuple[Synchronisation, ...]
    labels: Mapping[str, Expression] = attrs.field(factory=dict)
    rewards: Mapping[str, tuple[RewardItem, ...]] = attrs.field(factory=dict)
    players: tuple[ProgramPlayer, ...] = ()
    initial: Expression | None = None
    formulas: Mapping[str, Expression] = attrs.field(factory=dict)
    properties: Mapping[str, str] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def types(self) -> dict[str, str]:
        """The type of each constant and variable."""
        known = {name: type_of_value(value) for name, value in self.constants.items()}
        return known | {variable.name: variable.kind for variable in self.variables}


def with_expressions(
    part: Any, change: Callable[[Expression], Expression], rename: Callable[[str], str] = str
) -> Any:
    """Return parts of a program with all of their expressions changed, and their names."""

    def changed(part: Any) -> Any:
        if isinstance(part, Expression):
            return change(part)
        if isinstance(part, str):
            return rename(part)
        if isinstance(part, tuple):
            return tuple(map(changed, part))
        if isinstance(part, Mapping):
            return {rename(name): changed(each) for name, each in part.items()}
        if not isinstance(part, (Constant, Variable, Branch, Command, Module, RewardItem)):
            return part
        names = [field.name for field in attrs.fields(type(part))]
        return attrs.evolve(part, **{name: changed(getattr(part, name)) for name in names})

    return changed(part)


def values_of_constants(
    declared: Mapping[str, Constant], given: Mapping[str, Any]
) -> dict[str, Value]:
    """Return the value of each constant: the given one, or else that in the text.

    Raises
    ------
    GamedpError
        Of the source's kind, where a constant has a value of another type, or none.
    InvalidParameterError
        If a given value is of another type.
    UnknownNameError
        If a given constant is not declared.
    """
    for name in given:
        if name not in declared:
            error = UnknownNameError.nearest("constant", name, declared)
            raise error
    values: dict[str, Value] = {}
    rest = dict(declared)
    missing = [name for name, each in rest.items() if each.value is None and name not in given]
    if missing:
        message = (
            f"the constant{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            f"{'have' if len(missing) > 1 else 'has'} no value. Pass constants="
            f"{{{missing[0]!r}: 2}}, or --set {missing[0]}=2 on the command line."
        )
        declared[missing[0]].place.refuse(message)
    while rest:
        known = len(values)
        for constant in list(rest.values()):
            value = _value_if_known(constant, given, values, rest)
            if value is not None:
                values[constant.name] = value
                del rest[constant.name]
        if len(values) == known:
            first = next(iter(rest.values()))
            first.place.refuse(f"the constant {first.name!r} depends on itself.")
    return {name: values[name] for name in declared}


def _value_if_known(
    constant: Constant,
    given: Mapping[str, Any],
    values: Mapping[str, Value],
    rest: Mapping[str, Constant],
) -> Value | None:
    """Return the value of a constant; None while others that it depends on have none."""
    if constant.name in given:
        value = given_value(constant.name, given[constant.name])
        place: TextPlace | None = None
    else:
        if constant.value is None or any(name in rest for name in names_in(constant.value)):
            return None
        value = evaluate_constant(constant.value, values)
        place = constant.value.place
    kind = type_of_value(value)
    if constant.kind == DOUBLE and kind != BOOL:
        return value if isinstance(value, float) else Fraction(value)
    if constant.kind == INT and isinstance(value, Fraction) and place is None:
        value, kind = (int(value), INT) if value == int(value) else (value, kind)
    if kind != constant.kind:
        message = f"the constant {constant.name!r} is of type {constant.kind}, not {kind}"
        if place is None:
            message += f", as {shown(given[constant.name])} is."
            raise InvalidParameterError(message)
        place.refuse(f"{message}.")
    return value


def given_value(name: str, value: Any) -> Value:
    """Return the value that a caller gives a constant; a float is the decimal that it shows."""
    if isinstance(value, (bool, Fraction)):
        return value
    if hasattr(value, "__index__"):
        return operator.index(value)
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(repr(float(value)))
    if isinstance(value, str):
        source = Source(f"constant {name}", value, InvalidParameterError)
        return evaluate_constant(ExpressionReader(source).alone(), {})
    message = f"the constant {name!r} cannot be {shown(value)}; give a number, or true or false."
    raise InvalidParameterError(message)


def check_program(program: ModelProgram) -> None:
    """Refuse wrong types, and updates of variables that are not the module's.

    Raises
    ------
    GamedpError
        Of the source's kind, with line and column.
    """
    types = program.types
    owned = {each.name for module in program.modules for each in module.variables}
    shared = {each.name for each in program.variables} - owned
    for variable in program.variables:
        _check_variable(variable, types)
    for module in program.modules:
        own = shared | {each.name for each in module.variables}
        for command in module.commands:
            _check_command(command, own, types)
    _check_synchronisations(program)
    for name, label in program.labels.items():
        if name in OF_EVERY_MODEL:
            label.place.refuse(f"every model has a label {name!r}; give this one another name.")
        _need(label, BOOL, types, f"the label {name!r}")
    for items in program.rewards.values():
        for item in items:
            _need(item.guard, BOOL, types, "a guard")
            _need(item.value, DOUBLE, types, "a reward")
    if program.initial is not None:
        _need(program.initial, BOOL, types, "what holds in initial states")


def _check_variable(variable: Variable, types: Mapping[str, str]) -> None:
    for bound in (variable.low, variable.high):
        if bound is not None:
            _need(bound, INT, types, "a bound of a range")
    if variable.initial is not None:
        _need(variable.initial, variable.kind, types, "an initial value")


def _check_synchronisations(program: ModelProgram) -> None:
    """Refuse commands of two modules that would change one variable together."""
    changed: dict[tuple[int, str], dict[str, TextPlace]] = {}
    for number, module in enumerate(program.modules):
        for command in module.commands:
            places = changed.setdefault((number, command.action), {})
            for branch in command.branches:
                changes = (*branch.updates.items(), *branch.rewards.items())
                places.update({name: value.place for name, value in changes})
    for synchronisation in program.synchronisations:
        known: set[str] = set()
        for part in synchronisation.parts:
            places = changed.get(part, {})
            for name in sorted(known & places.keys()):
                places[name].refuse(
                    f"{name!r} is changed by two modules at once, in the action "
                    f"{synchronisation.result!r}."
                )
            known |= places.keys()


def _check_command(command: Command, own: set[str], types: Mapping[str, str]) -> None:
    _need(command.guard, BOOL, types, "a guard")
    for branch in command.branches:
        _need(branch.probability, DOUBLE, types, "a probability")
        for name, value in branch.updates.items():
            if name not in own:
                kind = "another module" if name in types else "no module"
                value.place.refuse(f"{name!r} is a variable of {kind}; only its own can change it.")
            _need(value, types[name], types, f"the next value of {name!r}")
        for value in branch.rewards.values():
            _need(value, DOUBLE, types, "a reward")


def _need(expression: Expression, wanted: str, types: Mapping[str, str], what: str) -> None:
    """Refuse an expression of another type."""
    found = type_of(expression, types)
    if found != wanted and not (wanted == DOUBLE and found == INT):
        expression.place.refuse(f"{what} must be of type {wanted}, not {found}.")
