"""Output: solutions as lines and as JSON, progress, and the terminal's width and encoding."""

from __future__ import annotations

import contextlib
import enum
import json
import math
import numbers
import re
import shutil
import sys
import textwrap
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.results.base import fraction_of, hint_of
from gamedp.runtime.encoding import declared_fields
from gamedp.runtime.limit import Display
from gamedp.runtime.options import settings_of, values_of

if TYPE_CHECKING:
    from gamedp.cli.options import OutputOptions
    from gamedp.model.objectives import Objective
    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.stages.solution import StagedSolution


OVER = "nobody: the game is over, and the value is the payoff"
"""The player to move at the end."""

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
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


def game_words(game: Any) -> str:
    """Return a game as a constructor call."""
    parameters = ", ".join(f"{name}={value!r}" for name, value in values_of(game).items())
    return f"{type(game).__name__}({parameters})"


def _in_json(value: Any) -> Any:
    """Convert a value for JSON: infinities become texts, NaN None, tuples lists."""
    if isinstance(value, Mapping):
        return {str(key): _in_json(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # a numpy array
        return _in_json(value.tolist())
    if isinstance(value, tuple) or not type(value).__module__.startswith("gamedp."):
        fields = declared_fields(value)  # of a state or an action; solvers and the like are named
        if fields is not None:
            return _in_json(fields)
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


def show(
    output: OutputOptions,
    name: str,
    game: Any,
    facts: Mapping[str, Any],
    words: Iterable[tuple[str, str]],
) -> None:
    """Print facts about a game as JSON, or their words.

    Parameters
    ----------
    output : OutputOptions
    name : str
        The user's name of the game.
    game
    facts : mapping
    words : iterable of (label, text)
        They are only asked for if they are printed.
    """
    if output.json:
        print_json({"game": name, "parameters": values_of(game), **facts})
    else:
        print(lines([("game", game_words(game)), *words]))


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as lines, with all columns aligned to the right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    return "\n".join(
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    )


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
        fraction = fraction_of(solution, state, player)
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
    apart = "0" if lower == upper else f"{upper - lower:.3g}"
    return [
        ("value", f"{value!r}{whose}"),
        ("bounds", f"{exactly(lower)} to {exactly(upper)}   ({apart} apart)"),
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


def between(bounds: tuple[float, float]) -> str:
    """Return two bounds in words; a single number if they are equal."""
    low, high = bounds
    return exactly(low) if low == high else f"{exactly(low)} to {exactly(high)}"


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
    seconds = statistics.of_phases()
    folder = getattr(statistics, "folder", None)
    hint = hint_of(solution)
    if "load" in seconds:  # this run only loaded the solution
        seconds = {"load": seconds["load"]}
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


@contextlib.contextmanager
def watch(*, quiet: bool) -> Iterator[ProgressCallback | None]:
    """Yield a callback that shows progress on stderr; None if stderr is not a terminal.

    Parameters
    ----------
    quiet : bool
        Whether to hide progress.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    display = Display()
    try:
        yield display.report
    finally:
        display.close()


def be_lenient() -> None:
    """Read invalid text in the terminal's encoding as a wrong answer, not as an error."""
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def columns() -> int | None:
    """Return the width of the terminal in characters; None if the output is redirected."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def say(text: str) -> None:
    """Print a text with the line breaks of `fitted`."""
    print(fitted(text))


def fitted(text: str) -> str:
    """Return a text; for a terminal, long lines are wrapped between words."""
    width = columns()
    return text if width is None else "\n".join(_wrapped(text, width))


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Yield the wrapped lines of a text, indented to the second column if there is one.

    >>> list(_wrapped("  undo   take back your last action", 22))
    ['  undo   take back', '         your last', '         action']
    """
    for line in text.split("\n"):
        head = re.match(r" *\S+ {2,}(?=\S)| *", line)
        indent = len(head[0]) if head is not None else 0
        yield from textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * (indent if indent < width // 2 else 0),
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
