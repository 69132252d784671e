"""PRISM's explicit files: transitions (.tra), and beside them labels, rewards and variables.

Described in the manual of PRISM,
https://www.prismmodelchecker.org/manual/Appendices/ExplicitModelFiles. Storm's dialect without
numbers in the headers is read as well.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import attrs
import numpy as np

from gamedp.adapters.parts import (
    CHOICES,
    STATES,
    TRANSITIONS,
    FileFormat,
    Parts,
    check_memory,
    offsets_of,
    spread,
)
from gamedp.adapters.text import TextFile, word_of, write_lines
from gamedp.adapters.writing import INITIAL, names_of
from gamedp.errors import InvalidModelError, InvalidParameterError

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Integers


DIALECT = {"dtmc": False, "mdp": True}
"""The headers of Storm's dialect, and whether there are choices."""

NUMBERED = re.compile(r'(\d+)="([^"]*)"')
"""A label in the first line of a file of PRISM's, with its number."""

MAX_UNREACHED_RATIO = 1000
"""Ratio of declared states to those in the transitions above which the number is refused."""

VALUES = re.compile(r"\(([^()]*)\)")
"""The names of all variables, or their values in a state."""

TRUTH = {"false": False, "true": True}

STRUCTURE = re.compile(r'Reward structure:?\s*"([^"]*)"')
"""The comment in which newer releases of PRISM name a reward structure."""


class _PrismTable:
    """The rows of a file of numbers, all words in one list; comments begin with ``#``.

    Attributes
    ----------
    header : list of str
        The words of the first row, which is not counted among the others.
    places : list of int
        On which line each row stands, counted from 0.
    """

    def __init__(self, path: Path, *, with_header: bool = True) -> None:
        self.file = TextFile(path)
        lines = self.file.lines
        firsts = lines.firsts()
        is_comment = firsts == ord("#")
        self.comments = "\n".join(lines.some(np.flatnonzero(is_comment)))
        self.places = np.flatnonzero((firsts != 0) & ~is_comment).tolist()
        self.header: list[str] = []
        if with_header:
            if not self.places:
                raise self.file.damaged(len(lines), "there is nothing in the file")
            self.header = lines[self.places.pop(0)].split()
        rows = list(lines.some(np.array(self.places, np.int64)))
        self._widths = np.array([len(row.split()) for row in rows], np.int64)
        self._starts = offsets_of(self._widths)
        self._words = "\n".join(rows).split()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.places)

    def words(self, number: int) -> list[str]:
        """Return a column of words, empty ones where a row is too short."""
        if len(self) and (self._widths == self._widths[0]).all():
            width = int(self._widths[0])
            return self._words[number::width] if number < width else [""] * len(self)
        starts, widths = self._starts.tolist(), self._widths.tolist()
        return [
            self._words[start + number] if number < width else ""
            for start, width in zip(starts, widths, strict=False)
        ]

    def column(self, number: int, what: str) -> Any:
        """Return a column of whole numbers."""
        numbers = self.file.integers(self.words(number), self.places, what)
        if len(numbers) and numbers.min() < 0:
            place = int(numbers.argmin())
            raise self.file.damaged(self.places[place], f"{what} cannot be negative")
        return numbers

    def values(self, number: int, what: str) -> Any:
        """Return a column of numbers."""
        return self.file.numbers(self.words(number), self.places, what)

    def check_widths(self, *widths: int) -> None:
        """Refuse rows with a wrong number of words."""
        wrong = ~np.isin(self._widths, widths)
        if wrong.any():
            place = int(wrong.argmax())
            wanted = " or ".join(map(str, widths))
            message = f"there must be {wanted} entries, not {self._widths[place]}"
            raise self.file.damaged(self.places[place], message)

    def check_count(self, said: str, there: int, what: str) -> None:
        """Refuse a header with other counts."""
        if self.file.whole(said, 0, f"the number of {what}") != there:
            message = f"there are {there:,} {what}, and the first line says {said}"
            raise self.file.damaged(len(self.file.lines), message)


def read_prism(path: Path, most: int) -> Parts:
    """Read a file of transitions, and the files beside it that belong to it.

    Raises
    ------
    DamagedFileError
        If a line is not what it should be.
    """
    table = _PrismTable(path)
    is_dialect = table.header[0].lower() in DIALECT
    if is_dialect:
        has_choices = DIALECT[table.header[0].lower()]
    elif len(table.header) in (2, 3):
        has_choices = len(table.header) == 3
    else:
        message = (
            "the first line must have two numbers (a Markov chain) or three (a decision process); "
            "a model with hidden states has four, and is not read"
        )
        raise table.file.damaged(0, message)
    skipped = int(has_choices)
    table.check_widths(3 + skipped, 4 + skipped)
    sources = table.column(0, "a state")
    choices = table.column(1, "a choice") if has_choices else np.zeros(len(sources), np.int64)
    successors = table.column(1 + skipped, "a state")
    states = int(max(sources.max(initial=-1), successors.max(initial=-1))) + 1
    if not is_dialect:
        states = _states(table, states)
    check_memory(path, most, states=states, rewards=len(_beside(path)))
    order = np.lexsort((choices, sources))
    sources, choices = sources[order], choices[order]
    begins = np.flatnonzero(
        np.diff(sources, prepend=-1).astype(np.bool_)
        | np.diff(choices, prepend=-1).astype(np.bool_)
    )
    counts = np.bincount(sources[begins], minlength=states)
    choice_offsets = offsets_of(counts)
    _check_choices(table, sources[begins], choices[begins], choice_offsets, order[begins])
    if not is_dialect:
        table.check_count(table.header[-1], len(sources), "transitions")
        if has_choices:
            table.check_count(table.header[1], len(begins), "choices")
    actions, names = _actions(table, order[begins]) if has_choices else (None, ())
    parts = Parts(
        path=path,
        choice_offsets=choice_offsets,
        transition_offsets=np.append(begins, len(sources)).astype(np.int64),
        successors=successors[order],
        probabilities=table.values(2 + skipped, "a probability")[order],
        num_players=skipped,
        actions=actions,
        action_names=names,
        initial=np.zeros(0, np.int64),
        lines=np.array(table.places, np.int64)[order[begins]] + 1,
    )
    parts = attrs.evolve(
        parts,
        **_labels(path.with_suffix(".lab"), states, most),
        variables=_variables(path.with_suffix(".sta"), states),
    )
    return attrs.evolve(parts, rewards=_rewards(parts, with_header=not is_dialect))


def _states(table: _PrismTable, least: int) -> int:
    """Return the number of states in the header."""
    states = table.file.whole(table.header[0], table.places[0] - 1 if table.places else 0, "states")
    if states < least:
        message = f"there is a state {least - 1}, and the first line says there are {states}"
        raise table.file.damaged(len(table.file.lines), message)
    if states > max(MAX_UNREACHED_RATIO, MAX_UNREACHED_RATIO * least):
        message = f"the last state that leads anywhere or is reached is {least - 1} of {states:,}"
        raise table.file.damaged(table.places[0] - 1 if table.places else 0, message)
    return states


def _check_choices(
    table: _PrismTable, states: Integers, numbers: Integers, offsets: Integers, rows: Integers
) -> None:
    """Refuse choices of a state that are not numbered from 0 without gaps."""
    wrong = numbers != np.arange(len(numbers)) - offsets[states]
    if wrong.any():
        place = int(wrong.argmax())
        message = f"the choices of state {states[place]} are not numbered 0, 1, 2, ..."
        raise table.file.damaged(table.places[int(rows[place])], message)


def _actions(table: _PrismTable, rows: Integers) -> tuple[Integers | None, tuple[str, ...]]:
    """Return the actions of the choices, each from its first row; None if they are unnamed."""
    column = table.words(4)
    words = [column[row] for row in rows.tolist()]
    if not any(words):
        return None, ()
    numbers: dict[str, int] = {}
    actions = [numbers.setdefault(word, len(numbers)) for word in words]
    return np.array(actions, np.int64), tuple(numbers)


def _labels(path: Path, states: int, most: int) -> dict[str, Any]:
    """Return the labels in a file and the initial states; none if the file is missing."""
    if not path.exists():
        return {}
    file = TextFile(path)
    lines = file.lines or [""]
    is_dialect = lines[0].strip().upper() == "#DECLARATION"
    ends = [place for place, line in enumerate(lines) if line.strip().upper() == "#END"]
    if is_dialect and not ends:
        raise file.damaged(len(lines), "there is no #END")
    begin = ends[0] + 1 if is_dialect else 1
    if is_dialect:
        words = " ".join(lines[1 : ends[0]]).split()
        names = {word: word for word in words}
    else:
        names = _numbered(file, lines[0])
    check_memory(path, most, states=states, labels=len(names))
    masks = {name: np.zeros(states, np.bool_) for name in names.values()}
    for place in range(begin, len(lines)):
        words = lines[place].replace(":", " ", 1).split()
        if not words:
            continue
        state = file.whole(words[0], place, "a state")
        if state >= states:
            raise file.damaged(place, f"there is no state {state}, for there are {states}")
        if len(words) == 1:
            raise file.damaged(place, f"state {state} has no label: is the file cut off?")
        for word in words[1:]:
            if word not in names:
                raise file.damaged(place, f"there is no label {word}")
            masks[names[word]][state] = True
    starts = np.flatnonzero(masks.pop(INITIAL, np.zeros(states, np.bool_)))
    return {"labels": masks, "initial": starts}


def _numbered(file: TextFile, line: str) -> dict[str, str]:
    """Return the labels of the first line by their numbers."""
    pairs = NUMBERED.findall(line)
    names = dict(pairs)
    if not names or NUMBERED.sub("", line).strip():
        raise file.damaged(0, 'the first line must name the labels, as in 0="init"')
    if len(names) < len(pairs) or len(set(names.values())) < len(pairs):
        raise file.damaged(0, "the first line has a label or its number twice")
    return names


def _variables(path: Path, states: int) -> dict[str, Any]:
    """Return the values of the variables in each state from a file; none if it is missing."""
    if not path.exists():
        return {}
    file = TextFile(path)
    first = file.lines[0].strip() if file.lines else ""
    names = [] if (match := VALUES.fullmatch(first)) is None else _parts(match[1])
    if not names or not all(names) or len(set(names)) < len(names):
        raise file.damaged(0, "the first line must name the variables, as in (x,y)")
    places = [place for place, line in enumerate(file.lines) if place and line.strip()]
    rows = []
    for state, place in enumerate(places):
        number, _, values = file.lines[place].strip().partition(":")
        match = VALUES.fullmatch(values)
        if number != str(state):
            raise file.damaged(place, f"state {state} must come next")
        if match is None or match[1].count(",") != len(names) - 1:
            message = f"there must be a value for each of ({','.join(names)}), as in 0:(1,true)"
            raise file.damaged(place, message)
        rows.append(_parts(match[1]))
    if len(rows) != states:
        message = (
            f"there are {len(rows):,} states, and {path.with_suffix('.tra').name} has {states:,}"
        )
        raise file.damaged(len(file.lines), message)
    return {
        name: _column(file, [row[number] for row in rows], places)
        for number, name in enumerate(names)
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _column(file: TextFile, words: list[str], places: list[int]) -> Any:
    """Return the values of a variable: all truth values, or all numbers."""
    if words and TRUTH.keys() >= set(words):
        return np.array([TRUTH[word] for word in words], np.bool_)
    return file.integers(words, places, "the value of a variable")


def _beside(path: Path) -> dict[str, list[Path]]:
    """Return the files of rewards that belong to a file of transitions, by their numbers."""
    wanted = re.compile(re.escape(path.stem) + r"(\d*)\.(?:srew|trew)")
    found: dict[str, list[Path]] = {}
    for file in sorted(path.parent.iterdir()):
        match = wanted.fullmatch(file.name)
        # They may go with another file whose name ends in that number.
        if match and (not match[1] or not path.with_name(f"{path.stem}{match[1]}.tra").exists()):
            found.setdefault(match[1], []).append(file)
    return found


def _rewards(parts: Parts, *, with_header: bool) -> dict[str, dict[str, Any]]:
    """Return the rewards in the files that belong to a file of transitions."""
    rewards: dict[str, dict[str, Any]] = {}
    for number, files in _beside(parts.path).items():
        name, kinds = f"reward{number}", {}
        for file in files:
            table = _PrismTable(file, with_header=with_header)
            match = STRUCTURE.search(table.comments)
            name = match[1] if match else name
            if file.suffix == ".srew":
                kinds[STATES] = _state_rewards(parts, table)
            else:
                kinds[TRANSITIONS] = _transition_rewards(parts, table)
        if name in rewards:
            raise table.file.damaged(0, f"there are two reward structures {name!r}")
        rewards[name] = kinds
    return rewards


def _state_rewards(parts: Parts, table: _PrismTable) -> Any:
    table.check_widths(2)
    states, count = table.column(0, "a state"), len(parts.choice_offsets) - 1
    _check_header(table, count)
    _check_below(table, states, count, "state")
    _check_once(table, states)
    return spread(table.values(1, "a reward"), states, count)


def _transition_rewards(parts: Parts, table: _PrismTable) -> Any:
    """Return the reward of every transition, zero where the file has none."""
    skipped = int(parts.num_players > 0)
    table.check_widths(3 + skipped)
    states = len(parts.choice_offsets) - 1
    _check_header(table, states)
    sources, successors = table.column(0, "a state"), table.column(1 + skipped, "a state")
    _check_below(table, sources, states, "state")
    _check_below(table, successors, states, "state")
    choices = parts.choice_offsets[sources]
    if skipped:
        numbers = table.column(1, "a choice")
        _check_below(table, numbers, int(parts.choice_offsets[-1]), "choice")
        choices = choices + numbers
    known = np.repeat(np.arange(len(parts.lines)), np.diff(parts.transition_offsets))  # type: ignore[arg-type]
    keys, of_key = np.unique(known * states + parts.successors, return_inverse=True)
    wanted = choices * states + successors
    places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    wrong = (
        (keys[places] != wanted) | (choices >= parts.choice_offsets[sources + 1])
        if len(keys)
        else np.ones(len(wanted), np.bool_)
    )
    if wrong.any():
        message = "there is no such transition to have a reward"
        raise table.file.damaged(table.places[int(wrong.argmax())], message)
    _check_once(table, places)
    return spread(table.values(2 + skipped, "a reward"), places, len(keys))[of_key]


def _check_header(table: _PrismTable, states: int) -> None:
    """Check the counts in the first line of a file of rewards, if it has any."""
    if table.header:
        table.check_count(table.header[-1], len(table), "rewards")
    if len(table.header) > 1:
        table.check_count(table.header[0], states, "states")


def _check_once(table: _PrismTable, numbers: Integers) -> None:
    """Refuse two rewards of the same thing."""
    _, first = np.unique(numbers, return_index=True)
    again = np.ones(len(numbers), np.bool_)
    again[first] = False
    if again.any():
        message = "this has a reward already, in a line above"
        raise table.file.damaged(table.places[int(again.argmax())], message)


def _check_below(table: _PrismTable, numbers: Integers, end: int, what: str) -> None:
    wrong = numbers >= end
    if wrong.any():
        place = int(wrong.argmax())
        message = f"there is no {what} {numbers[place]}, for there are {end}"
        raise table.file.damaged(table.places[place], message)


def prism_files(parts: Parts) -> dict[Path, Callable[[BinaryIO], object]]:
    """Return the files for a model, each with its writer.

    Raises
    ------
    InvalidModelError
        If the format cannot express the model.
    InvalidParameterError
        If there are other files beside that would be taken for rewards or variables of this model.
    """
    if parts.num_players > 1:
        message = "files of this format do not say who moves; write a game as .umb."
        raise InvalidModelError(message)
    _check_names(parts)
    path = parts.path
    lines = {path: _transitions(parts), path.with_suffix(".lab"): _label_lines(parts)}
    for number, (name, kinds) in enumerate(parts.rewards.items(), start=1):
        which = "" if len(parts.rewards) == 1 else str(number)
        beside = path.with_name(f"{path.stem}{which}.trew")
        lines[beside] = _reward_lines(parts, name, kinds[CHOICES].tolist())
    if parts.variables:
        lines[path.with_suffix(".sta")] = _variable_lines(parts)
    others = [file for files in _beside(path).values() for file in files]
    others = [file for file in [path.with_suffix(".sta"), *others] if file not in lines]
    others = [file for file in others if file.exists()]
    if others:
        message = (
            f"{others[0]} is there already, and would be taken for a part of this model; move it "
            "away, or choose another name."
        )
        raise InvalidParameterError(message)
    return {file: functools.partial(write_lines, lines=texts) for file, texts in lines.items()}


def _rows(parts: Parts) -> Iterable[tuple[str, int, int, int]]:
    """Yield the beginning of each transition's line, its choice, its successor and its index."""
    choices, transitions = parts.choice_offsets.tolist(), parts.transition_offsets.tolist()
    successors = parts.successors.tolist()
    for state in range(len(choices) - 1):
        for choice in range(choices[state], choices[state + 1]):
            number = f" {choice - choices[state]}" if parts.num_players else ""
            for transition in range(transitions[choice], transitions[choice + 1]):
                yield f"{state}{number}", choice, successors[transition], transition


def _transitions(parts: Parts) -> Iterable[str]:
    """Yield the lines of a file of transitions."""
    states, choices = len(parts.choice_offsets) - 1, len(parts.transition_offsets) - 1
    middle = f" {choices}" if parts.num_players else ""
    yield f"{states}{middle} {len(parts.successors)}"
    probabilities = list(map(word_of, parts.probabilities.tolist()))
    names = parts.action_names
    actions = [] if parts.actions is None else parts.actions.tolist()
    for begin, choice, successor, transition in _rows(parts):
        name = f" {names[actions[choice]]}" if names else ""
        yield f"{begin} {successor} {probabilities[transition]}{name}".rstrip()


def _label_lines(parts: Parts) -> Iterable[str]:
    states = len(parts.choice_offsets) - 1
    masks = {INITIAL: np.isin(np.arange(states), parts.initial), **parts.labels}
    yield " ".join(f'{number}="{name}"' for number, name in enumerate(masks))
    table = np.array(list(masks.values()))
    for state in np.flatnonzero(table.any(axis=0)).tolist():
        yield f"{state}: {' '.join(map(str, np.flatnonzero(table[:, state]).tolist()))}"


def _variable_lines(parts: Parts) -> Iterable[str]:
    yield f"({','.join(parts.variables)})"
    columns = [array.tolist() for array in parts.variables.values()]
    for state, values in enumerate(zip(*columns, strict=True)):
        yield f"{state}:({','.join(str(value).lower() for value in values)})"


def _reward_lines(parts: Parts, name: str, rewards: list[Any]) -> Iterable[str]:
    """Yield the lines of rewards: each transition has the reward of its choice."""
    earning = [row for row in _rows(parts) if rewards[row[1]]]
    states, choices = len(parts.choice_offsets) - 1, len(parts.transition_offsets) - 1
    middle = f" {choices}" if parts.num_players else ""
    yield f'# Reward structure "{name}"'
    yield "# Transition rewards"
    yield f"{states}{middle} {len(earning)}"
    for begin, choice, successor, _ in earning:
        yield f"{begin} {successor} {word_of(rewards[choice])}"


def _check_names(parts: Parts) -> None:
    """Refuse names that could not be read back."""
    for name in (*parts.labels, *parts.rewards):
        if '"' in name or not name.isprintable():
            message = f"this format allows no quotation marks in a name, as in {name!r}."
            raise InvalidModelError(message)
    for name in parts.variables:
        if not name.isprintable() or name != name.strip() or not name or set(name) & set("(),"):
            message = f"this format cannot name a variable {name!r}: no brackets, no commas."
            raise InvalidModelError(message)
    for name in parts.action_names:
        if any(letter.isspace() for letter in name):
            message = f"this format allows no spaces in the name of an action, as in {name!r}."
            raise InvalidModelError(message)
    if parts.action_names and not any(names_of(parts)):
        message = (
            "the action of every choice has the name '', and in this format it would have none but "
            "its number; write the model as .umb or .drn, or give it other action_names."
        )
        raise InvalidModelError(message)


TRA = FileFormat(read=read_prism, files=prism_files)
