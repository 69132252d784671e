"""Exploration of a program in a modelling language: the arrays of its states and choices.

Nothing is compiled for a program: it is read by :mod:`gamedp.compiler.model_program_loop`, the same
for all, in plain Python while a model is small. All numbers are exact.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np
from numba import config

from gamedp.compiler import model_program_loop as loop
from gamedp.compiler.limits import SHOWN_STATES, ExplorationBudget
from gamedp.compiler.model_program_code import MOST_MAGNITUDE, Code, LookedUp
from gamedp.errors import shown
from gamedp.languages.expressions import (
    BOOL,
    Expression,
    Literal,
    Name,
    Operation,
    Value,
    evaluate,
    joined,
    names_in,
)
from gamedp.languages.programs import DTMC, Branch, ModelProgram, Variable
from gamedp.runtime.jit import MAX_INTERPRETED_NUMBERS, uncompiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNBOUNDED = 1 << 31
"""The range of an integer that has none: from its negative to below it."""

MOST_BITS_OF_A_VARIABLE = 60

PLAIN_SECONDS, KEPT_SECONDS = 1.2, 0.1
"""Processor time of plain Python before the loops are compiled, or read from disk if they are kept
there: about what that takes."""

PLAIN_WORK, COMPILED_WORK = 4_000, 1 << 21
"""Commands looked at, and transitions, in one call of a loop."""

FIRST_ROOM = 256

MOST_CASES = 4096
"""Largest number of values of a variable that commands are sorted by."""


class ExactNumbers:
    """Exact values, each with a number."""

    def __init__(self) -> None:
        self.values: list[Fraction | float] = []
        self._numbers: dict[tuple[type, Any], int] = {}
        self.number_of(Fraction(0))
        self.number_of(Fraction(1))

    def number_of(self, value: Value) -> int:
        """Return the number of a value."""
        exact = value if isinstance(value, float) else Fraction(value)
        number = self._numbers.setdefault((type(exact), exact), len(self.values))
        if number == len(self.values):
            self.values.append(exact)
        return number


@attrs.frozen(eq=False, kw_only=True)
class Explored:
    """The states of a program that can be reached.

    Attributes
    ----------
    program : ModelProgram
    values : list of Fraction or float
        What `probabilities` and rewards are numbers of.
    num_starts : int
        The first states are those in which the program starts.
    choice_offsets : (S+1,) int64
    synchronisations : (C,) int64
        The number of the synchronisation of each choice; -1 for commands that are done alone. In a
        chain these are the commands that may be done, one as likely as the other.
    commands : (C,) int64
        The number of the first command of each choice; -1 for a deadlock, which leads to itself.
    rewards : (C, R) int64
        The rewards of branches.
    transition_offsets : (C+1,) int64
        In a chain, all transitions of a state are listed with the last of its choices.
    successors, probabilities : (T,) int64
    variables : mapping of str to (S,) int64 or bool
    """

    program: ModelProgram
    values: list[Fraction | float]
    num_starts: int
    choice_offsets: NDArray[np.int64]
    synchronisations: NDArray[np.int64]
    commands: NDArray[np.int64]
    rewards: NDArray[np.int64]
    structures: tuple[str, ...]
    transition_offsets: NDArray[np.int64]
    successors: NDArray[np.int64]
    probabilities: NDArray[np.int64]
    variables: Mapping[str, NDArray[Any]]
    evaluated: Callable[[Expression], tuple[NDArray[np.int64], bool]]
    number_of: Callable[[Value], int]


@functools.cache
def _plain(name: str) -> Callable[..., int]:
    return uncompiled(getattr(loop, name))


class LookUpTable:
    """A hash table that loops look at: the size, where keys, values and masks begin, then these.

    Parameters
    ----------
    width : int
        ExactNumbers of a key.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[tuple[list[int], int]] = []
        self.masks: list[int] = []

    def flat(self) -> list[int]:
        """Return the table as a list, with room for as many rows as it has."""
        room = 2 * len(self.rows) + 16
        size = 1 << (2 * room).bit_length()
        keys = 8 + size
        values = keys + self.width * room
        masks = values + room
        found = [size, keys, values, masks, self.width - 1, room, 0, 0, *[-1] * size]
        found += [0] * (masks - keys)
        found += self.masks
        for place, (key, value) in enumerate(self.rows):
            self._write(found, place, key, value)
        return found

    def enter(self, key: list[int], value: int, flat: Any) -> bool:
        """Enter a row; write it into the table if there is room, and return whether there was."""
        place = len(self.rows)
        self.rows.append((key, value))
        if place >= flat[5]:
            return False
        self._write(flat, place, key, value)
        return True

    def _write(self, flat: Any, place: int, key: list[int], value: int) -> None:
        size, keys, values = int(flat[0]), int(flat[1]), int(flat[2])
        h = functools.reduce(loop.mixed, key[1:], key[0]) & (size - 1)
        while flat[8 + h] >= 0:
            h = (h + 1) & (size - 1)
        flat[8 + h] = place
        begin = keys + place * self.width
        for number, word in enumerate(key):
            flat[begin + number] = word
        flat[values + place] = value


def _parts_of(condition: Expression) -> tuple[Expression, ...]:
    """Return the parts of a conjunction."""
    is_chain = isinstance(condition, Operation) and condition.operator == "&"
    return condition.operands if isinstance(condition, Operation) and is_chain else (condition,)


def _test_of(expression: Expression) -> tuple[str, int] | None:
    """Return the variable and the integer that an expression compares, if it is no more."""
    if not isinstance(expression, Operation) or expression.operator != "=":
        return None
    left, right = expression.operands
    if isinstance(left, Name) and isinstance(right, Literal) and type(right.value) is int:
        return left.name, right.value
    return None


def _patience() -> float:
    """Return the seconds of plain Python that are no longer than compiled loops take to get."""
    loops = loop.explore_jit
    if loops.overloads:
        return 0.0
    return KEPT_SECONDS if loops._cache.kept else PLAIN_SECONDS  # noqa: SLF001 - the project's own


class Exploration:
    """A running exploration.

    Parameters
    ----------
    program : ModelProgram
    budget : ExplorationBudget
    """

    def __init__(self, program: ModelProgram, budget: ExplorationBudget) -> None:
        self.program = program
        self.budget = budget
        self.numbers = ExactNumbers()
        self._is_plain = True
        self._patience = float("inf") if config.DISABLE_JIT else _patience()
        self._spent = 0.0
        self._lay_out()
        self.code = Code(program.constants, self.ranges)
        self._make_program()
        self._make_room()

    def _lay_out(self) -> None:
        """Give each variable its range and its bits."""
        self.ranges: dict[str, tuple[str, int, int]] = {}
        space: list[int] = []
        words, used = 0, 0
        for variable in self.program.variables:
            least, largest = _range_of(variable, self.program)
            self.ranges[variable.name] = variable.kind, least, largest
            bits = (largest - least).bit_length()
            if used + bits > loop.BITS:
                words, used = words + 1, 0
            space += [least, largest, words, used, (1 << bits) - 1]
            used += bits
        self.width = words + 1
        self.space: Any = space

    def _make_program(self) -> None:
        """Write the commands as numbers."""
        program, code = self.program, self.code
        guards: list[int] = []
        alone: list[int] = []
        branch_offsets = [0]
        listed: list[int] = []
        assignments: list[int] = []
        self.assigned: list[tuple[str, Expression]] = []
        places = {name: number for number, name in enumerate(self.ranges)}
        of_action: dict[tuple[int, str], list[int]] = {}
        found: list[Branch] = []
        steady: list[int] = []
        switches: list[int] = []
        cases = [0]
        switched: list[int] = []
        self.owners: list[int] = []  # the module of each command
        for module_number, module in enumerate(program.modules):
            folded = [code.folded(command.guard) for command in module.commands]
            name, values, folded = self._switched(folded)
            of_value: dict[int, list[int]] = {}
            for command, guard, value in zip(module.commands, folded, values, strict=True):
                number = len(guards)
                self.owners.append(module_number)
                guards.append(code.add(guard))
                (steady if value is None else of_value.setdefault(value, [])).append(number)
                of_action.setdefault((module_number, command.action), []).append(number)
                if not command.action:
                    alone.append(number)
                for branch in command.branches:
                    probability = code.folded(branch.probability)
                    is_constant = isinstance(probability, Literal)
                    for variable, next_value in branch.updates.items():
                        assignments += [places[variable], code.add(code.folded(next_value))]
                        self.assigned.append((variable, next_value))
                    listed += [
                        self._number(LookedUp(probability, "probability", ()), {})
                        if is_constant
                        else -1,
                        -1 if is_constant else code.add_number(probability, "probability"),
                        len(self.assigned),
                    ]
                    found.append(branch)
                branch_offsets.append(len(found))
            if name:
                _, least, largest = self.ranges[name]
                switches += [places[name], least, len(cases) - 1]
                for value in range(least, largest + 1):
                    switched += of_value.get(value, [])
                    cases.append(len(switched))
        self.structures = tuple(dict.fromkeys(name for branch in found for name in branch.rewards))
        earned = [
            code.add_number(code.folded(branch.rewards[name]), "reward")
            if name in branch.rewards
            else -1
            for branch in found
            for name in self.structures
        ]
        part_offsets, command_offsets = [0], [0]
        commands: list[int] = []
        for synchronisation in program.synchronisations:
            for part in synchronisation.parts:
                commands += of_action.get(part, [])
                command_offsets.append(len(commands))
            part_offsets.append(len(command_offsets) - 1)
        self.arrays: tuple[Any, ...] = (
            guards, steady, switches, cases, switched, alone, part_offsets, command_offsets,
            commands,
        )  # fmt: skip
        self.num_branches = len(found) + 1
        # One branch more, so that there is always one.
        self.branches: tuple[Any, ...] = (
            branch_offsets, [*listed, -1, -1, 0], [*earned, *([-1] * len(self.structures))],
            assignments,
        )  # fmt: skip
        self.most_parts = max([1, *np.diff(part_offsets).tolist()])
        self.most_commands = max([1, *np.diff(command_offsets).tolist()])

    def _switched(self, guards: list[Expression]) -> tuple[str, list[int | None], list[Expression]]:
        """Return the variable that most guards of a module compare with a constant.

        And the constants, and what is left of the guards; most modules have such a variable, and
        only the commands for its value are looked at.
        """
        tests: dict[str, dict[int, tuple[int, Expression]]] = {}
        for number, guard in enumerate(guards):
            parts = _parts_of(guard)
            for place, part in enumerate(parts):
                test = _test_of(part)
                if test is not None:
                    name, value = test
                    rest: list[Expression] = [*parts[:place], *parts[place + 1 :]]
                    left = joined("&", rest, guard.place)
                    tests.setdefault(name, {}).setdefault(number, (value, left))
        tests = {
            name: found
            for name, found in tests.items()
            if len(found) > 2 and self.ranges[name][2] - self.ranges[name][1] < MOST_CASES
        }
        if not tests:
            return "", [None] * len(guards), guards
        name = max(tests, key=lambda each: len(tests[each]))
        found = tests[name]
        return (
            name,
            [found[number][0] if number in found else None for number in range(len(guards))],
            [found[number][1] if number in found else guard for number, guard in enumerate(guards)],
        )

    def _make_room(self) -> None:
        """Make the lists that grow, and room for a state."""
        width = self.width
        self.counters: Any = [0] * 8
        self.room = 0, 0, 0
        self.states: list[Any] = [[], [-1] * 2, []]
        self.rows: list[Any] = [[] for _ in range(4)]
        self.work: tuple[Any, ...] = (
            [0] * len(self.owners), [0] * self.most_parts, [0] * self.most_parts,
            [0] * (self.most_parts * self.most_commands), [0] * self.most_parts,
            [0] * self.num_branches, [0] * (width * self.num_branches),
            [0] * (self.most_parts + 1), [0] * (width * (self.most_parts + 1)),
        )  # fmt: skip
        self.looked, self.pairs = LookUpTable(width + 1), LookUpTable(3)
        self.memory: Any = []
        self._settle_code()
        self.counters[loop.NEEDED] = FIRST_ROOM
        self._grow()
        if not self._patience:
            self._compile()

    def _settle_code(self) -> None:
        """Let the loops know of expressions that were added."""
        code, variables = self.code, len(self.ranges)
        self.words_at = 2 * variables
        instructions = [
            number
            for row in zip(code.kinds, code.first, code.second, strict=True)
            for number in row
        ]
        for i in range(0, len(instructions), 3):
            if instructions[i] in loop.JUMPS:  # to an instruction
                instructions[i + 1] = 8 + 3 * instructions[i + 1]
        spans = [
            8 + 3 * number for row in zip(code.begins, code.ends, strict=True) for number in row
        ]
        stack = self.words_at + 2 * self.width
        head = [8 + len(instructions), self.words_at, stack, self.width, 0, 0, 0, 0]
        self.instructions = self._form([*head, *instructions, *spans])
        masks: list[int] = []
        for looked_up in code.looked_up:
            row = [0] * self.width
            for variable in looked_up.variables:
                _, _, word, shift, mask = self._space_of(variable)
                row[word] |= mask << shift
            masks += row
        self.looked.masks = masks
        self._form_tables()
        # The first place of the stack is for a message.
        size = stack + code.depth + 2
        self.memory = self._form([*map(int, self.memory[:stack]), *[0] * size][:size])

    def _form_tables(self) -> None:
        """Write the tables in the form that the loops are given."""
        self.known = self._form(self.looked.flat()), self._form(self.pairs.flat())

    def _space_of(self, variable: int) -> list[int]:
        """Return the least and largest value of a variable, its word, shift and mask."""
        return [int(each) for each in self.space[5 * variable : 5 * variable + 5]]

    def _form(self, column: Sequence[int]) -> Any:
        """Return numbers in the form that the loops are given: a list, or an array."""
        return column if self._is_plain else np.array(column, np.int64)

    def _compile(self) -> None:
        """Go over from lists to arrays, and to compiled loops."""
        self._is_plain = False
        self.space = self._form(self.space)
        self.arrays, self.branches, self.work = (
            tuple(map(self._form, each)) for each in (self.arrays, self.branches, self.work)
        )
        self.states = list(map(self._form, self.states))
        self.rows = list(map(self._form, self.rows))
        self.counters = self._form(self.counters)
        self._settle_code()
        # Where arrays are small, a kernel would run in plain Python, and slowly.
        self.counters[loop.NEEDED] = MAX_INTERPRETED_NUMBERS // 8  # the table of states has 8 times
        self._grow()

    def _call(self, name: str, *arguments: Any) -> int:
        """Call a loop; count the time that plain Python takes, and go over when it is up."""
        if not self._is_plain:
            return int(getattr(loop, f"{name}_jit")(*arguments))
        begin = time.thread_time()
        status = _plain(name)(*arguments)
        self._spent += time.thread_time() - begin
        return status

    def _machine(self) -> loop.Machine:
        """Return what the loops work on."""
        return loop.Machine(
            self.instructions, *self.known, self.memory, self.space, self.arrays, self.branches,
            tuple(self.states), tuple(self.rows), self.work, self.counters,
        )  # fmt: skip

    @property
    def _work_at_once(self) -> int:
        return PLAIN_WORK if self._is_plain else COMPILED_WORK

    def run(self) -> Explored:
        """Explore all states that can be reached."""
        self._start()
        num_starts = int(self.counters[loop.STATES])
        self._drive(
            lambda: self._call(
                "explore", self._machine(), self.program.kind == DTMC, self._work_at_once
            )
        )
        states, choices, transitions = (
            int(self.counters[place]) for place in (loop.STATES, loop.CHOICES, loop.TRANSITIONS)
        )
        self.count = states
        structures = max(1, len(self.structures))
        used = (states + 1, 3 * choices, structures * choices, 2 * transitions)
        offsets, listed, rewards, pairs = (
            np.array(column[:size], np.int64) for column, size in zip(self.rows, used, strict=True)
        )
        synchronisations, commands, ends = (
            np.ascontiguousarray(column) for column in listed.reshape(-1, 3).T
        )
        successors, numbers = (np.ascontiguousarray(column) for column in pairs.reshape(-1, 2).T)
        words = np.array(self.states[0][: states * self.width], np.int64)
        self.states = [self.states[0], *map(self._form, ([], []))]
        self.rows = [self._form([]) for _ in range(4)]
        return Explored(
            program=self.program,
            values=self.numbers.values,
            num_starts=num_starts,
            choice_offsets=offsets,
            synchronisations=synchronisations,
            commands=commands,
            rewards=rewards.reshape(choices, -1)[:, : len(self.structures)],
            structures=self.structures,
            transition_offsets=np.concatenate([np.zeros(1, np.int64), ends]),
            successors=successors,
            probabilities=numbers,
            variables=self._columns(words.reshape(states, self.width)),
            evaluated=self.evaluated,
            number_of=self.numbers.number_of,
        )

    def _columns(self, words: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the values of each variable."""
        found: dict[str, NDArray[Any]] = {}
        for i, (name, (kind, low, _)) in enumerate(self.ranges.items()):
            _, _, word, shift, mask = self._space_of(i)
            column = ((words[:, word] >> shift) & mask) + low
            found[name] = column.astype(np.bool_) if kind == BOOL else column
        return found

    def _drive(self, call: Callable[[], int]) -> None:
        """Call a loop until it is done, with what it is missing."""
        while (status := call()) != loop.DONE:
            if status == loop.UNKNOWN_VALUE:
                self._learn_value()
            elif status == loop.UNKNOWN_PAIR:
                self._learn_pair()
            elif status == loop.FULL:
                self._grow()
            elif status == loop.BEYOND:
                self._refuse_value()
            else:
                self._check_limits()
            if self._is_plain and self._spent > self._patience:
                self._compile()
        self._check_limits()

    def _check_limits(self, more: int = 0) -> None:
        states, done, choices, transitions = (int(each) for each in self.counters[:4])
        structures = max(1, len(self.structures))
        size = (
            states * (8 * self.width + 24) + choices * (24 + 8 * structures) + transitions * 16
        ) + 8 * len(self.states[1])
        self.budget.check(
            done, states, choices, transitions, size + more, self._late_states, 1 << 62
        )

    def _late_states(self) -> list[Any]:
        """Return the states found last."""
        found = int(self.counters[loop.STATES])
        return [self._values_of(state) for state in range(max(0, found - SHOWN_STATES), found)]

    def _values_of(self, state: int) -> dict[str, Any]:
        """Return the values of the variables in a state, by name."""
        words = self.states[0][state * self.width : (state + 1) * self.width]
        spaces = map(self._space_of, range(len(self.ranges)))
        return self._named(
            [((int(words[word]) >> shift) & mask) + low for low, _, word, shift, mask in spaces]
        )

    def _named(self, values: Sequence[int]) -> dict[str, Any]:
        """Return values with the names of the variables."""
        return {
            name: bool(value) if kind == BOOL else int(value)
            for value, (name, (kind, _, _)) in zip(values, self.ranges.items(), strict=True)
        }

    def _start(self) -> None:
        """Enter the states in which the program starts."""
        program = self.program
        if program.initial is None:
            values = []
            for variable, (_, low, high) in zip(
                program.variables, self.ranges.values(), strict=True
            ):
                value = low
                if variable.initial is not None:
                    value = int(evaluate(_known(variable.initial, program), program.constants))
                    if not low <= value <= high:
                        message = f"{variable.name!r} starts with {value}, outside [{low}..{high}]."
                        variable.initial.place.refuse(message)
                values.append(value)
            for place, value in enumerate(values):
                self.memory[place] = value
            loop.pack(self.space, self.memory, 0, self.words_at, self.width)
            words, table, last = self.states
            loop.number_of_state(words, table, last, self.memory, self.words_at, self.width, 0)
            self.counters[loop.STATES] = 1
            return
        for variable in program.variables:
            if variable.initial is not None:
                variable.initial.place.refuse(
                    "a variable has no initial value where there is init ... endinit."
                )
        self._seek_starts(self.code.folded(program.initial))

    def _seek_starts(self, condition: Expression) -> None:
        """Enter all states in which an expression holds."""
        low = [least for _, least, _ in self.ranges.values()]
        high = [largest for _, _, largest in self.ranges.values()]
        places = {name: number for number, name in enumerate(self.ranges)}
        for part in _parts_of(condition):
            # A variable that can have but one value is not gone through.
            test = _test_of(part)
            if test is not None:
                place, value = places[test[0]], test[1]
                if low[place] <= value <= high[place]:
                    low[place] = high[place] = value
        number = self.code.add(condition)
        self._settle_code()
        for place, value in enumerate(low):
            self.memory[place] = value
        self._drive(
            lambda: self._call(
                "seek_starts", self._machine(), number, self._form(low), self._form(high),
                self._work_at_once,
            )
        )  # fmt: skip
        if not self.counters[loop.STATES]:
            condition.place.refuse("no state is an initial one.")

    def evaluated(self, expression: Expression) -> tuple[NDArray[np.int64], bool]:
        """Return the value of an expression in each state; and whether they are exact numbers' own.

        Integers and truth values are themselves; others are the numbers of exact values.
        """
        folded = self.code.folded(expression)
        if isinstance(folded, Literal):
            is_number = isinstance(folded.value, (Fraction, float))
            value = self.numbers.number_of(folded.value) if is_number else int(folded.value)
            return np.full(self.count, value, np.int64), is_number
        is_number = not self.code.is_integer(folded)
        number = self.code.add_number(folded, "reward") if is_number else self.code.add(folded)
        self._settle_code()
        found: Any = [0] * self.count if self._is_plain else np.zeros(self.count, np.int64)
        self.counters[loop.NEXT] = 0
        while self.counters[loop.NEXT] < self.count:
            step = PLAIN_WORK if self._is_plain else COMPILED_WORK
            end = min(self.count, int(self.counters[loop.NEXT]) + step)
            status = self._call("evaluate", self._machine(), number, end, found)
            if status == loop.UNKNOWN_VALUE:
                self._learn_value()
            self._check_limits()
        return np.array(found, np.int64), is_number

    def _learn_value(self) -> None:
        """Work out a value that a loop has looked up and not found."""
        number = int(self.counters[loop.FIRST])
        looked_up = self.code.looked_up[number]
        values = self._named(self.memory[: len(self.ranges)])
        value = self._number(looked_up, values)
        words = self.memory[self.words_at : self.words_at + self.width]
        masks = self.looked.masks[number * self.width : (number + 1) * self.width]
        key = [number, *(int(word) & mask for word, mask in zip(words, masks, strict=True))]
        self._enter(0, self.looked, key, value)

    def _number(self, looked_up: LookedUp, values: Mapping[str, Any]) -> int:
        """Return the value of an expression, or the number of its exact value."""
        value: Any = evaluate(looked_up.expression, values)
        where = f" in the state {shown(values)}" if values else ""
        place = looked_up.expression.place
        if isinstance(value, float) and not math.isfinite(value):
            place.refuse(f"this has the value {value}{where}.")
        if looked_up.what:
            if looked_up.what == "probability" and not 0 <= value <= 1:
                place.refuse(f"a probability is {value}{where}; it must be from 0 to 1.")
            return self.numbers.number_of(value)
        if abs(value) > MOST_MAGNITUDE:
            place.refuse(f"this is {value}{where}, beyond 61 bits.")
        return int(value)

    def _learn_pair(self) -> None:
        """Work out a product or sum of two values."""
        first, second, operation = (
            int(self.counters[place]) for place in (loop.FIRST, loop.SECOND, loop.OPERATION)
        )
        values = self.numbers.values
        if operation == loop.INVERSE:
            result: Value = Fraction(1, first)
        elif operation == loop.PRODUCT:
            result = values[first] * values[second]
        else:
            result = values[first] + values[second]
        number = self.numbers.number_of(result)
        self._enter(1, self.pairs, [operation, first, second], number)

    def _enter(self, place: int, table: LookUpTable, key: list[int], value: int) -> None:
        """Enter a key and its value into a table that the loops look at."""
        if not table.enter(key, value, self.known[place]):
            self._form_tables()

    def _grow(self) -> None:
        """Make more room, the same for all arrays of states, choices, and transitions."""
        states, _, choices, transitions = (int(each) for each in self.counters[:4])
        needed = int(self.counters[loop.NEEDED]) + 4
        width, structures = self.width, max(1, len(self.structures))
        self._check_limits(needed * (40 + 8 * width))
        room_of_states, room_of_choices, room_of_transitions = (
            room if used + needed <= room else 2 * (used + needed)
            for room, used in zip(self.room, (states, choices, transitions), strict=True)
        )
        self.room = room_of_states, room_of_choices, room_of_transitions
        sizes = (room_of_states * width, None, room_of_states)
        self.states = [
            column if size is None else self._larger(column, size)
            for column, size in zip(self.states, sizes, strict=True)
        ]
        sizes_of_rows = (
            room_of_states, 3 * room_of_choices, room_of_choices * structures,
            2 * room_of_transitions,
        )  # fmt: skip
        self.rows = [
            self._larger(column, size)
            for column, size in zip(self.rows, sizes_of_rows, strict=True)
        ]
        if len(self.states[1]) < 2 * room_of_states:
            size = 1 << (4 * room_of_states).bit_length()
            self.states[1] = [-1] * size if self._is_plain else np.full(size, -1, np.int64)
            self._call("index_states", tuple(self.states), states, width)

    def _larger(self, column: Any, room: int) -> Any:
        """Return a column with room for more; the same one if there is enough."""
        more = room - len(column)
        if more <= 0:
            return column
        if self._is_plain:
            return [*column, *([0] * more)]
        larger = np.empty(room, np.int64)
        larger[: len(column)] = column
        return larger

    def _refuse_value(self) -> NoReturn:
        """Refuse an update that leaves the range of a variable."""
        name, value = self.assigned[int(self.counters[loop.FIRST])]
        _, low, high = self.ranges[name]
        state = self._values_of(int(self.counters[loop.NEXT]))
        value.place.refuse(
            f"{name!r} becomes {int(self.counters[loop.SECOND])}, outside its range [{low}..{high}]"
            f", from the state {shown(state)}."
        )


def _known(expression: Expression, program: ModelProgram) -> Expression:
    """Return an expression of constants alone; refuse variables in it."""
    for name in sorted(names_in(expression)):
        if name not in program.constants:
            expression.place.refuse(f"{name!r} is a variable; a constant must stand here.")
    return expression


def _range_of(variable: Variable, program: ModelProgram) -> tuple[int, int]:
    """Return the least and largest value of a variable."""
    if variable.kind == BOOL:
        return 0, 1
    if variable.low is None or variable.high is None:
        return -UNBOUNDED, UNBOUNDED - 1
    low, high = (
        int(evaluate(_known(bound, program), program.constants))
        for bound in (variable.low, variable.high)
    )
    if low > high:
        variable.place.refuse(f"the range [{low}..{high}] of {variable.name!r} is empty.")
    if max(abs(low), abs(high)) >= 1 << MOST_BITS_OF_A_VARIABLE:
        variable.place.refuse(f"the range of {variable.name!r} is beyond 60 bits.")
    return low, high
