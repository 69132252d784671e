"""Solutions as lines for people and as JSON for programs."""

from __future__ import annotations

import enum
import json
import math
import numbers
import re
import sys
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    Objective,
    Reachability,
    TotalReward,
)
from gamedp.results.base import hint_of
from gamedp.runtime.options import settings_of, values_of
from gamedp.runtime.registry import SOLVERS, registered

if TYPE_CHECKING:
    from gamedp.results.solution import Solution
    from gamedp.results.status import Statistics
    from gamedp.stages.solution import StagedSolution

__all__ = [
    "OBJECTIVES",
    "bounded",
    "exactly",
    "facts",
    "game_words",
    "how_long",
    "lines",
    "measures",
    "player_name",
    "print_json",
    "registered_name",
    "value_lines",
    "wish",
    "with_options",
]

OBJECTIVES = {
    AverageReward: "average",
    Discounted: "discounted",
    FiniteHorizon: "horizon",
    Reachability: "reach",
    TotalReward: "total",
}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PHASES, LOAD = ("compile", "explore", "solve"), "load"
LONGEST_FRACTION = 200
"""Largest number of characters of an exact value in the output for people."""

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def _call(objective: Objective) -> str:
    """Return an objective as a constructor call, with sets of states by their size."""
    options = {
        name: f"{np.count_nonzero(value):,} of {len(value):,} states"
        if isinstance(value, np.ndarray)
        else repr(value)
        for name, value in attrs.asdict(objective).items()
    }
    words = ", ".join(f"{name}={text}" for name, text in options.items())
    return f"{type(objective).__name__}({words})"


def _words(objective: Objective) -> dict[str, Any]:
    """Return the options of an objective, with sets of states as lists of their numbers."""
    return {
        name: np.flatnonzero(value).tolist() if isinstance(value, np.ndarray) else value
        for name, value in attrs.asdict(objective).items()
        if value is not None
    }


def facts(
    name: str, solution: Solution | StagedSolution, state: Hashable | None = None
) -> dict[str, Any]:
    """Return the facts about a state, or about the start, for JSON.

    Parameters
    ----------
    name : str
        The user's name of the game.
    solution : Solution or StagedSolution
    state : optional
        The start if not given.
    """
    rules, statistics = solution.model.rules, solution.statistics
    lower, upper = solution.bounds(state)
    return {
        "game": name,
        "parameters": {} if rules is None else values_of(rules.game),
        "objective": {
            "name": OBJECTIVES.get(type(solution.objective), type(solution.objective).__name__),
            **_words(solution.objective),
        },
        "solver": {"name": registered_name(SOLVERS, solution.solver), **values_of(solution.solver)},
        "status": solution.status.name,
        "guarantee": solution.guarantee.name,
        "value": solution.value(state),
        **({} if (fraction := _fraction(solution, state)) is None else {"exact": fraction}),
        "lower": lower,
        "upper": upper,
        **_of_all_players(solution, state),
        "states": statistics.states,
        "choices": statistics.choices,
        "transitions": statistics.transitions,
        "sweeps": statistics.sweeps,
        "seconds": _seconds(statistics),
        "bytes": statistics.bytes,
    }


def _of_all_players(
    solution: Solution | StagedSolution, state: Hashable | None
) -> dict[str, list[Any]]:
    """Return the values and bounds of all players for JSON, in games for more than two."""
    count = solution.model.num_players
    if count < 3:
        return {}
    return {
        "values": [solution.value(state, player) for player in range(count)],
        "bounds": [solution.bounds(state, player) for player in range(count)],
    }


def _fraction(
    solution: Solution | StagedSolution, state: Hashable | None, player: int = 0
) -> str | None:
    """Return a value as a fraction with all its digits, if the solver has computed it as one."""
    if getattr(solution, "exact", None) is None:
        return None
    value = solution.exact_value(state, player)  # type: ignore[union-attr] # no staged one has it
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # requested values are shown, however long
    try:
        return str(value)
    finally:
        sys.set_int_max_str_digits(limit)


def _seconds(statistics: Statistics) -> dict[str, float]:
    """Return the seconds of each phase; for a stored solution, one of them is `load`."""
    seconds = statistics.seconds
    return {phase: seconds[phase] for phase in (*PHASES, LOAD) if phase in seconds}


def game_words(game: Any) -> str:
    """Return a game as a constructor call."""
    parameters = ", ".join(f"{name}={value!r}" for name, value in values_of(game).items())
    return f"{type(game).__name__}({parameters})"


def registered_name(group: str, tool: Any) -> str:
    """Return the registered name of a solver or a searcher, otherwise that of its class."""
    name = type(tool).__qualname__
    if type(tool).__module__.startswith("gamedp."):
        # All of the package's own are registered by the name of their class, without a look-up.
        return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    home = f"{type(tool).__module__}:{name}"
    names = (name for name, point in registered(group).items() if point.value == home)
    return next(names, name)


def _in_json(value: Any) -> Any:
    """Convert a value for JSON: infinities become texts, NaN None, tuples lists."""
    if isinstance(value, Mapping):
        return {str(key): _in_json(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # a numpy array
        return _in_json(value.tolist())
    if hasattr(value, "_asdict"):
        return _in_json(value._asdict())
    if isinstance(value, (list, tuple)):
        return [_in_json(item) for item in value]
    return _scalar_in_json(value)


def _scalar_in_json(value: Any) -> Any:
    """Return a value for JSON, as text if JSON does not have its type."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if math.isnan(number):
            return None
        return number if math.isfinite(number) else str(number)
    return repr(value)


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    print(json.dumps(_in_json(value), allow_nan=False))


def lines(pairs: Iterable[tuple[str, str]]) -> str:
    """Return labels and texts as two columns; a text may have several lines."""
    return "\n".join(
        f"{label if number == 0 else '':<10}  {line}"
        for label, text in pairs
        for number, line in enumerate(text.splitlines() or [""])
    )


def value_lines(
    solution: Solution | StagedSolution, state: Hashable | None = None
) -> list[tuple[str, str]]:
    """Return the value and its bounds in words, for each player with separate values."""
    count = solution.model.num_players
    pairs = []
    for player in range(count if count > 2 else 1):
        numbers = (solution.value(state, player), *solution.bounds(state, player))
        pairs += bounded(*numbers, player=None if count == 1 else player)
        fraction = _fraction(solution, state, player)
        if fraction is not None:
            long = len(fraction) > LONGEST_FRACTION
            short = f"a fraction of {len(fraction):,} letters, which --json shows"
            pairs.append(("exactly", short if long else fraction))
    return pairs


def bounded(
    value: float, lower: float, upper: float, *, player: int | None
) -> list[tuple[str, str]]:
    """Return a value and its bounds in words, and whose they are if there are several players."""
    whose = "" if player is None else f"   for {player_name(player)}"
    return [
        ("value", f"{value!r}{whose}"),
        ("bounds", f"{exactly(lower)} to {exactly(upper)}   ({_short(lower, upper)} apart)"),
    ]


def how_long(plies: float) -> str:
    """Return a number of plies in words; an expected one that is not whole, to six digits."""
    if not plies.is_integer():
        return f"about {plies:g} plies"
    return "1 ply" if plies == 1 else f"{plies:,.0f} plies"


def exactly(number: float) -> str:
    """Return a number with all its digits; the one next to 0 in words."""
    if number != 0 and abs(number) == math.ulp(0.0):
        return "just above 0" if number > 0 else "just below 0"
    return repr(number)


def _short(lower: float, upper: float) -> str:
    return "0" if lower == upper else f"{upper - lower:.3g}"


def player_name(player: int) -> str:
    """Return the name of a player in words."""
    return f"the {ORDINALS[player]} player" if player < len(ORDINALS) else f"player {player + 1}"


def wish(player: int, *, wants_most: bool) -> str:
    """Return in words one of two players, and whether they maximise the value shown."""
    goal = "as high" if wants_most else "as low"
    return f"{player_name(player)}, who wants the value {goal} as possible"


def measures(solution: Solution | StagedSolution) -> list[tuple[str, str]]:
    """Describe in words the basis of a solution and the effort."""
    statistics = solution.statistics
    seconds = _seconds(statistics)
    folder = getattr(statistics, "folder", None)
    hint = hint_of(solution)
    if LOAD in seconds:  # this run only loaded the solution
        seconds = {LOAD: seconds[LOAD]}
    codes = solution.model.num_states
    is_staged = hasattr(solution.model, "stage")
    played = "contexts" + (f" to play in, of {codes:,} in all" if codes > statistics.states else "")
    counts = (
        f"{statistics.states:,} {played if is_staged else 'states'}, {statistics.choices:,} "
        f"choices, {statistics.transitions:,} transitions"
    )
    return [
        *([("hint", hint)] if hint else []),
        ("guarantee", solution.guarantee.value),
        ("status", solution.status.value),
        ("objective", _call(solution.objective)),
        ("solver", with_options(solution.solver)),
        ("size", counts),
        ("work", f"{statistics.sweeps:,} sweep{'' if statistics.sweeps == 1 else 's'}"),
        ("time", ", ".join(f"{phase} {number:.3f} s" for phase, number in seconds.items())),
        ("memory", _amount(statistics.bytes)),
        *([] if folder is None else [("read from", str(folder))]),
    ]


def with_options(tool: Any, *, without: str = "") -> str:
    """Return a solver or a searcher with those of its options that differ from the defaults.

    The option `without` is left out.
    """
    settings = settings_of(type(tool))
    options = ", ".join(
        f"{name}={value!r}"
        for name, value in values_of(tool).items()
        if name != without and value != settings[name].default
    )
    return f"{type(tool).__name__}({options})"


def _amount(count: float) -> str:
    """Return a number of bytes in a readable unit."""
    power = min(int(math.log(max(count, 1), 1024)), len(UNITS) - 1)
    return f"{count / 1024**power:.{1 if power else 0}f} {UNITS[power]}"
