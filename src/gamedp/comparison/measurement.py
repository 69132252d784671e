"""Measurements: the answer of one method to one problem, and what it cost."""

from __future__ import annotations

import json
import math
import statistics
from typing import Any, Literal, TypeAlias, get_args

import attrs

from gamedp.errors import InvalidParameterError, shown
from gamedp.results.status import Guarantee

Kind: TypeAlias = Literal["solver", "searcher", "peer"]
"""Whether a method solves a model, searches from the start, or is another program's."""

PROVEN = {Guarantee.TWO_SIDED.name, Guarantee.EQUILIBRIUM.name}
"""Guarantees of values that lie between proven bounds."""


@attrs.frozen(kw_only=True)
class Measurement:
    """One row of a comparison: the answer of one method to one problem, and its cost.

    All values are those of player 0. The examined states are the same for all methods of a problem:
    up to 64 of its model, evenly spaced, after the start.

    Attributes
    ----------
    problem : str
    size : float or None
        The value of the parameter that is varied.
    method : str
        The registered name of a solver, searcher or peer, or the solver as a constructor call if it
        has options of its own; ``"default"`` is what :func:`gamedp.solve` does on its own.
    kind : {"solver", "searcher", "peer"}
    status : str
        ``"SOLVED"`` or another name of :class:`gamedp.Status`; ``"UNSUPPORTED"`` if the method does
        not support the problem, ``"NOT_INSTALLED"`` for a peer, ``"FAILED"`` if it raised an error,
        ``"OUT_OF_TIME"`` and ``"OUT_OF_MEMORY"`` if its process was ended, ``"TOO_LARGE"`` if the
        model that it needs takes too much memory.
    reason : str
        The status in words.
    solver : str
        The method with all options, or the solver that was chosen, as a constructor call.
    guarantee : str or None
        A name of :class:`gamedp.Guarantee`; None if there is no value.
    value, lower, upper : float or None
        The value of the start and its bounds; without a guarantee both bounds are the value.
    examined : tuple of (lower, upper)
        The bounds in the examined states; the value twice without a guarantee. Empty if the method
        finds the value of the start alone.
    width : float or None
        The largest distance of the bounds of any state.
    states, choices, transitions : int or None
        The size of the model.
    sweeps : int or None
        Passes over all states, rounded up.
    depth, nodes : int or None
        Plies and positions looked at by a searcher.
    explore_seconds : float or None
        Wall-clock seconds of building the model, compilation not included.
    first_seconds : float or None
        Processor seconds of the first call, with all that it had to compile or to read from disk.
    compile_seconds : float or None
        Wall-clock seconds of numba in the first two calls.
    warm_seconds : tuple of float
        Processor seconds of each later call.
    peak_bytes : int or None
        The largest memory of the process; None if other methods ran in it, too.
    model : str
        A digest of the model, or of the rules.
    """

    problem: str
    method: str
    kind: Kind
    status: str
    size: float | None = None
    reason: str = ""
    solver: str = ""
    guarantee: str | None = None
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    examined: tuple[tuple[float, float], ...] = ()
    width: float | None = None
    states: int | None = None
    choices: int | None = None
    transitions: int | None = None
    sweeps: int | None = None
    depth: int | None = None
    nodes: int | None = None
    explore_seconds: float | None = None
    first_seconds: float | None = None
    compile_seconds: float | None = None
    warm_seconds: tuple[float, ...] = ()
    peak_bytes: int | None = None
    model: str = ""

    @property
    def is_solved(self) -> bool:
        """Whether the method came to its end."""
        return self.status == "SOLVED" or (self.status == "UNPROVEN" and self.value is not None)

    @property
    def is_proven(self) -> bool:
        """Whether there are proven bounds, however far apart."""
        return self.guarantee in PROVEN

    @property
    def seconds(self) -> float:
        """The median of the warm calls in processor seconds; NaN without any."""
        return statistics.median(self.warm_seconds) if self.warm_seconds else math.nan

    @property
    def spread(self) -> tuple[float, float]:
        """The least and the largest of the warm calls in processor seconds; NaN without any."""
        if not self.warm_seconds:
            return math.nan, math.nan
        return min(self.warm_seconds), max(self.warm_seconds)

    @property
    def touched(self) -> int | None:
        """The number of transitions looked at while sweeping: sweeps times transitions."""
        if self.sweeps is None or self.transitions is None:
            return None
        return self.sweeps * self.transitions

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """The bounds of the start, then of the examined states."""
        if self.lower is None or self.upper is None:
            return []
        return [(self.lower, self.upper), *self.examined]

    def to_json(self) -> str:
        """Return the row as one line of JSON."""
        return json.dumps(attrs.asdict(self))  # infinities as Python's JSON has them

    @classmethod
    def from_facts(cls, facts: Any) -> Measurement:
        """Return the row of the object that a line of JSON holds.

        Raises
        ------
        InvalidParameterError
            If it is none: a field is missing, unknown or of another type.
        """
        fields = attrs.fields_dict(cls)
        if not isinstance(facts, dict) or set(facts) - set(fields):
            message = f"{shown(facts)} is not a row of a comparison."
            raise InvalidParameterError(message)
        values = {
            name: _checked(name, str(fields[name].type), value) for name, value in facts.items()
        }
        needed = (name for name, field in fields.items() if field.default is attrs.NOTHING)
        missing = [name for name in needed if name not in values]
        if missing:
            message = f"a row of a comparison lacks {', '.join(missing)}: {shown(facts)}."
            raise InvalidParameterError(message)
        return cls(**values)


def _checked(name: str, kind: str, value: Any) -> Any:
    """Return a value of the declared type of a field; lists become tuples."""
    kinds = {part.strip() for part in kind.split("|")}
    is_plain = {"None": value is None, "str": isinstance(value, str), "int": type(value) is int}
    if any(is_plain.get(each) for each in kinds) or (kind == "Kind" and value in get_args(Kind)):
        return value
    if "float" in kinds and type(value) in {int, float}:
        return float(value)
    if kind == "tuple[float, ...]" and _are_numbers(value):
        return tuple(map(float, value))
    is_list = isinstance(value, list) and kind.startswith("tuple[tuple")
    if is_list and all(_are_numbers(pair) and len(pair) == 2 for pair in value):
        return tuple((float(low), float(high)) for low, high in value)
    message = f"a row of a comparison has {shown(value)} for {name}, which cannot be."
    raise InvalidParameterError(message)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) in {int, float} for value in values)
