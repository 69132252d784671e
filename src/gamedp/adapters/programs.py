"""Programs in the PRISM language and in JANI: their states as the content of a file."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.adapters.parts import CHOICES, STATES, FileFormat, Parts
from gamedp.compiler.limits import ExplorationBudget, ExplorationLimits
from gamedp.errors import DamagedFileError, InvalidModelError, shown
from gamedp.languages.expressions import Literal, Operation, type_of_value
from gamedp.languages.formulas import PropertiesReader
from gamedp.languages.jani import read_jani
from gamedp.languages.prism import read_prism
from gamedp.languages.programs import (
    DEADLOCK,
    DTMC,
    OF_EVERY_MODEL,
    SMG,
    Constant,
    ModelProgram,
    values_of_constants,
)
from gamedp.languages.tokens import Source, TextPlace
from gamedp.runtime.machine import available_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.adapters.loaded import LoadedModel
    from gamedp.compiler.model_programs import Explored
    from gamedp.runtime.limit import ProgressCallback

MOST_EXACT = 200_000
"""Number of transitions, and of rewards, up to which Fractions are kept for exact solvers. In
larger models numbers are the nearest doubles, and bounds allow for that."""

MOST_TEXT = 1 << 26
"""Bytes of a program's text."""


def text_of(path: Path) -> str:
    """Return the text of a program.

    Raises
    ------
    DamagedFileError
        If it is none.
    """
    if path.stat().st_size > MOST_TEXT:
        message = f"{path} has more than {MOST_TEXT:,} bytes; a program is shorter."
        raise DamagedFileError(message)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path} is not text: byte {error.start} is not of UTF-8."
        raise DamagedFileError(message) from None


def properties_in(path: Path) -> PropertiesReader:
    """Read a file of properties.

    Raises
    ------
    DamagedFileError
        If it is not text.
    InvalidModelError
        At a declaration that is none, with line and column.
    """
    return PropertiesReader(Source(str(path), text_of(path)))


def with_properties(
    loaded: LoadedModel, reader: PropertiesReader, given: Mapping[str, Any]
) -> LoadedModel:
    """Return a model with the properties of a file and the constants and labels they use.

    Parameters
    ----------
    loaded : LoadedModel
    reader : PropertiesReader
        Has read the file.
    given : mapping of str to number
        Values of constants that the file declares.
    """
    place = TextPlace(reader.source, 0)
    labels = {f'"{name}"': label for name, label in reader.labels.items()}
    taken = {*loaded.constants, *loaded.formulas, *loaded.variables}
    taken |= {f'"{name}"' for name in (*loaded.labels, *OF_EVERY_MODEL)}
    for name, declared in {**reader.constants, **reader.formulas, **labels}.items():
        if name in taken:
            declared.place.refuse(f"{name} has been declared in {loaded.path.name}.")
    known = {
        name: Constant(name, type_of_value(value), Literal(value, place), place)
        for name, value in loaded.constants.items()
    }
    return attrs.evolve(
        loaded,
        constants=values_of_constants(known | reader.constants, given),
        formulas={**loaded.formulas, **reader.formulas, **labels},
        properties={**loaded.properties, **reader.properties},
    )


def parts_of_program(
    path: Path,
    max_bytes: float,
    *,
    read: Callable[[Source, Mapping[str, Any]], ModelProgram],
    constants: Mapping[str, Any] | None = None,
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    progress: ProgressCallback | None = None,
) -> Parts:
    """Return the content of a file with a program.

    Parameters
    ----------
    path : Path
    max_bytes, max_states, max_seconds : float
        Limits of the exploration; of memory, nine tenths of what is free if it is infinite.
    read : function
        Returns the program of a text with values of constants.
    constants : mapping of str to number, optional
    progress : callable, optional

    Raises
    ------
    GamedpError
        If the text is not a program, with line and column; or a limit is reached.
    """
    from gamedp.compiler.model_programs import Exploration  # noqa: PLC0415 - brings numba along

    program = read(Source(str(path), text_of(path)), constants or {})
    room = available_bytes() if max_bytes == math.inf else max_bytes
    limits = ExplorationLimits(max_states, max_seconds, room)
    explored = Exploration(program, ExplorationBudget(limits, progress)).run()
    is_chain = program.kind == DTMC
    offsets, ends = explored.choice_offsets, explored.transition_offsets
    states, deadlocks = len(offsets) - 1, explored.commands < 0
    counts = np.diff(offsets)
    state_of_choice = np.repeat(np.arange(states), counts)
    stuck = np.zeros(states, np.bool_)
    stuck[state_of_choice[deadlocks]] = True
    labels = {
        name: explored.evaluated(label)[0].astype(np.bool_)
        for name, label in program.labels.items()
    }
    rewards, notes = _rewards(explored, state_of_choice, stuck)
    ends = ends[offsets] if is_chain else ends
    numbers: NDArray[Any] = _column(explored, explored.probabilities)
    exact = None
    if numbers.dtype == object and _sum_to_one(explored, ends):
        numbers, exact = _doubles(explored)[explored.probabilities], numbers
    lines = _lines(program, explored) if program.source.line(0) > 0 else None
    names = dict.fromkeys(("", *(each.result for each in program.synchronisations)))
    listed = np.array(
        [0, *(list(names).index(each.result) for each in program.synchronisations)], np.int64
    )
    if any(isinstance(value, float) for value in explored.values):
        notes.append("some numbers are not rational; they are the nearest doubles")
    return Parts(
        path=path,
        choice_offsets=np.arange(states + 1) if is_chain else offsets,
        transition_offsets=ends,
        successors=explored.successors,
        probabilities=numbers,
        exact=exact,
        players=_players(explored, state_of_choice) if program.kind == SMG else None,
        num_players=len(program.players) if program.kind == SMG else int(not is_chain),
        player_names=tuple(player.name for player in program.players),
        actions=None if is_chain else listed[explored.synchronisations + 1],
        action_names=() if is_chain else tuple(names),
        initial=np.arange(explored.num_starts),
        labels={**labels, DEADLOCK: stuck},
        rewards=rewards,
        variables=explored.variables,
        constants=program.constants,
        formulas=program.formulas,
        properties=program.properties,
        lines=lines[offsets[:-1]] if is_chain and lines is not None else lines,
        notes=(*program.notes, *notes),
    )


def _column(explored: Explored, numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return exact values as an array: of doubles where they are, or are too many."""
    values, doubles = explored.values, _doubles(explored)
    is_rounded = np.array([Fraction(d) != v for d, v in zip(doubles.tolist(), values, strict=True)])
    if len(numbers) > MOST_EXACT or not is_rounded[numbers].any():
        return doubles[numbers]
    mixed = [v if is_off else float(v) for v, is_off in zip(values, is_rounded, strict=True)]
    return np.array(mixed, object)[numbers]


def _doubles(explored: Explored) -> NDArray[np.float64]:
    """Return the double nearest to each exact value."""
    try:
        return np.array([float(value) for value in explored.values])
    except OverflowError:
        message = f"{explored.program.source.name}: a number is beyond the range of doubles."
        raise InvalidModelError(message) from None


def _sum_to_one(explored: Explored, ends: NDArray[np.int64]) -> bool:
    """Return whether all exact probabilities sum to one, as far as 64 bits can tell."""
    used = np.unique(explored.probabilities)
    values = [explored.values[number] for number in used.tolist()]
    if any(isinstance(value, float) for value in values):
        return False
    common = math.lcm(*(value.denominator for value in values))
    if common >= 1 << 40 or np.diff(ends).max() >= 1 << 20:
        return False
    parts = np.zeros(len(explored.values), np.int64)
    parts[used] = [int(value * common) for value in values]
    return bool((np.add.reduceat(parts[explored.probabilities], ends[:-1]) == common).all())


def _lines(program: ModelProgram, explored: Explored) -> NDArray[np.int64]:
    """Return the line of the first command of each choice."""
    lines = [
        command.place.source.line(command.place.at)
        for module in program.modules
        for command in module.commands
    ]
    return np.array([*lines, 1], np.int64)[explored.commands]


def _players(explored: Explored, state_of_choice: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the player to move in each state; player 0 where there is nothing to choose.

    Raises
    ------
    InvalidModelError
        If choices of a state belong to two players, or to none.
    """
    program = explored.program
    of_module = {name: i for i, player in enumerate(program.players) for name in player.modules}
    of_action = {name: i for i, player in enumerate(program.players) for name in player.actions}
    commands = [(command, module.name) for module in program.modules for command in module.commands]
    owners = np.full(len(commands) + 1, -1, np.int64)
    for number, (command, module) in enumerate(commands):
        owner = of_module.get(module) if not command.action else of_action.get(command.action)
        owners[number] = -1 if owner is None else owner
    found = owners[explored.commands]
    deadlock = explored.commands < 0
    nobody = (found < 0) & ~deadlock
    if nobody.any():
        command, module = commands[int(explored.commands[nobody.argmax()])]
        what = f"the action {command.action!r}" if command.action else f"the module {module!r}"
        command.place.refuse(
            f"{what} belongs to no player, but is enabled in the state "
            f"{_state(explored, int(state_of_choice[nobody.argmax()]))}."
        )
    players = np.zeros(len(explored.choice_offsets) - 1, np.int64)
    # Written from the end, so that the first choice of a state is the last to be written.
    players[state_of_choice[::-1]] = np.maximum(found, 0)[::-1]
    other = (players[state_of_choice] != found) & ~deadlock
    if other.any():
        place = int(other.argmax())
        state = int(state_of_choice[place])
        command, _ = commands[int(explored.commands[place])]
        first, second = (program.players[number].name for number in (players[state], found[place]))
        command.place.refuse(
            f"in the state {_state(explored, state)} both {first} and {second} may move; each "
            "state belongs to one player."
        )
    return players


def _state(explored: Explored, state: int) -> str:
    return shown({name: column[state].item() for name, column in explored.variables.items()})


def _rewards(
    explored: Explored, state_of_choice: NDArray[np.int64], stuck: NDArray[np.bool_]
) -> tuple[dict[str, dict[str, NDArray[Any]]], list[str]]:
    """Return the rewards of states and of choices by name, and what is to be known of them."""
    program, notes = explored.program, []
    found: dict[str, dict[str, NDArray[Any]]] = {}
    names = dict.fromkeys((*program.rewards, *explored.structures))
    for name in names:
        of_states: list[NDArray[np.int64]] = []
        of_choices: list[NDArray[np.int64]] = []
        for item in program.rewards.get(name, ()):
            # Where the guard does not hold, the reward may have no value.
            guarded = _guarded(explored, item.guard, item.value)
            if item.action is None:
                of_states.append(guarded)
                continue
            wanted = [
                number
                for number, each in enumerate(program.synchronisations)
                if each.result == item.action
            ]
            is_meant = np.isin(explored.synchronisations, wanted if item.action else [-1])
            is_meant &= explored.commands >= 0
            of_choices.append(np.where(is_meant, guarded[state_of_choice], 0))
        if name in explored.structures:
            of_choices.append(explored.rewards[:, explored.structures.index(name)])
        columns: dict[str, NDArray[Any]] = {}
        if of_states:
            totals = _totals(explored, of_states)
            columns[STATES] = _column(explored, totals)
            if (totals[stuck] != 0).any():
                notes.append(
                    f"the reward {name!r} is earned in deadlocks at each step; other tools drop it"
                )
        if of_choices:
            totals = _totals(explored, of_choices)
            if program.kind == DTMC:
                totals = _means(explored, totals)
            columns[CHOICES] = _column(explored, totals)
        found[name] = columns or {STATES: np.zeros(len(stuck))}
    return found, notes


def _guarded(explored: Explored, guard: Any, value: Any) -> NDArray[np.int64]:
    """Return the numbers of the values of a reward in each state; zero where the guard fails."""
    place = value.place
    chosen = Operation("?", (guard, value, Literal(0, place)), place)
    found, is_number = explored.evaluated(chosen)
    if is_number:
        return found
    least = int(found.min())
    span = int(found.max()) - least + 1
    if span <= len(found) + 1000:  # as a table: to sort takes far longer
        is_there = np.zeros(span, np.bool_)
        is_there[found - least] = True
        integers = np.flatnonzero(is_there)
        numbers = np.zeros(span, np.int64)
        numbers[integers] = [explored.number_of(each + least) for each in integers.tolist()]
        return numbers[found - least]
    integers, places = np.unique(found, return_inverse=True)
    numbers = np.array([explored.number_of(each) for each in integers.tolist()], np.int64)
    return numbers[places]


def _totals(explored: Explored, columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the numbers of the sums of exact values."""
    if len(columns) == 1:
        return columns[0]
    rows, places = np.unique(np.stack(columns), axis=1, return_inverse=True)
    values = explored.values
    sums = [explored.number_of(sum(values[number] for number in row)) for row in rows.T.tolist()]
    return np.array(sums, np.int64)[places.ravel()]


def _means(explored: Explored, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the average over the commands enabled in each state, all equally likely."""
    offsets, values = explored.choice_offsets, explored.values
    counts = np.diff(offsets)
    if (counts == 1).all():
        return numbers
    means = numbers[offsets[:-1]]
    for state in np.flatnonzero(counts > 1).tolist():
        row = numbers[offsets[state] : offsets[state + 1]].tolist()
        means[state] = explored.number_of(sum(values[number] for number in row) / len(row))
    return means


PRISM = FileFormat(functools.partial(parts_of_program, read=read_prism), is_program=True)
"""The PRISM language."""

JANI = FileFormat(functools.partial(parts_of_program, read=read_jani), is_program=True)
"""The JANI format."""
