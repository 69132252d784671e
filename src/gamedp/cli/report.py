"""Solutions as lines for people and as JSON for programs."""

from __future__ import annotations

import enum
import json
import math
import numbers
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.cli.parameters import values_of
from gamedp.objectives import Discounted, FiniteHorizon, TotalReward
from gamedp.registry import SOLVERS, registered

if TYPE_CHECKING:
    from gamedp.solution import Solution

__all__ = ["facts", "game_words", "lines", "measures", "print_json", "value_lines"]

OBJECTIVES = {TotalReward: "total", Discounted: "discounted", FiniteHorizon: "horizon"}
PLAYERS = ("the first player", "the second player")
PHASES = ("compile", "explore", "solve")
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def facts(name: str, solution: Solution, state: Hashable | None = None) -> dict[str, Any]:
    """Return what is known of a state, or of the start, for JSON.

    Parameters
    ----------
    name : str
        What the user calls the game.
    solution : Solution
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
            **attrs.asdict(solution.objective),
        },
        "solver": {"name": _solver_name(solution.solver), **values_of(solution.solver)},
        "status": solution.status.name,
        "guarantee": solution.guarantee.name,
        "value": solution.value(state),
        "lower": lower,
        "upper": upper,
        "states": statistics.states,
        "choices": statistics.choices,
        "transitions": statistics.transitions,
        "sweeps": statistics.sweeps,
        "seconds": {phase: statistics.seconds[phase] for phase in PHASES},
        "bytes": statistics.bytes,
    }


def game_words(game: Any) -> str:
    """Return a game as the call that makes it."""
    parameters = ", ".join(f"{name}={value!r}" for name, value in values_of(game).items())
    return f"{type(game).__name__}({parameters})"


def _solver_name(solver: Any) -> str:
    """Return the name by which a solver is registered, or else that of its class."""
    home = f"{type(solver).__module__}:{type(solver).__qualname__}"
    names = (name for name, point in registered(SOLVERS).items() if point.value == home)
    return next(names, type(solver).__qualname__)


def _in_json(value: Any) -> Any:
    """Turn a value into what JSON has: infinities and NaN become texts, tuples become lists."""
    if isinstance(value, Mapping):
        return {str(key): _in_json(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # an array of numpy's
        return _in_json(value.tolist())
    if hasattr(value, "_asdict"):
        return _in_json(value._asdict())
    if isinstance(value, (list, tuple)):
        return [_in_json(item) for item in value]
    return _scalar_in_json(value)


def _scalar_in_json(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
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


def value_lines(solution: Solution, state: Hashable | None = None) -> list[tuple[str, str]]:
    """Return the value and its bounds in words, for each player that has values of its own."""
    count = solution.model.num_players
    pairs = []
    for player in range(count if count > 2 else 1):
        lower, upper = solution.bounds(state, player)
        whose = "" if count == 1 else f"   for {player_name(player)}"
        pairs += [
            ("value", f"{solution.value(state, player)!r}{whose}"),
            ("bounds", f"{lower!r} to {upper!r}   ({_short(upper - lower)} apart)"),
        ]
    return pairs


def _short(width: float) -> str:
    return f"{width:.1e}" if width else "0"


def player_name(player: int) -> str:
    """Return who a player is, in words."""
    return PLAYERS[player] if player < len(PLAYERS) else f"player {player}, counted from 0"


def measures(solution: Solution) -> list[tuple[str, str]]:
    """Return what a solution rests on, and what it took, in words."""
    statistics = solution.statistics
    seconds = statistics.seconds
    phases = ", ".join(f"{phase} {seconds[phase]:.3f} s" for phase in PHASES)
    counts = (
        f"{statistics.states:,} states, {statistics.choices:,} choices, "
        f"{statistics.transitions:,} transitions"
    )
    return [
        ("guarantee", solution.guarantee.value),
        ("status", solution.status.value),
        ("objective", repr(solution.objective)),
        ("solver", repr(solution.solver)),
        ("size", counts),
        ("work", f"{statistics.sweeps:,} sweep{'' if statistics.sweeps == 1 else 's'}"),
        ("time", phases),
        ("memory", _amount(statistics.bytes)),
    ]


def _amount(count: float) -> str:
    """Return a number of bytes in the unit that people would take."""
    power = min(int(math.log(max(count, 1), 1024)), len(UNITS) - 1)
    return f"{count / 1024**power:.{1 if power else 0}f} {UNITS[power]}"
