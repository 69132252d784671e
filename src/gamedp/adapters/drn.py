"""Storm's text format DRN ("direct encoding"): states, actions and transitions, one a line.

Read as written by Storm 1.8 and newer. It has no players, so games are in UMB.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import attrs
import numpy as np

from gamedp.adapters.parts import CHOICES, STATES, FileFormat, Parts, check_memory, spread
from gamedp.adapters.text import TextFile, word_of, word_of_fraction, write_lines
from gamedp.adapters.writing import INITIAL, names_of
from gamedp.errors import InvalidModelError
from gamedp.runtime.slices import LINES

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Floats, Integers


KINDS = ("DTMC", "MDP")

RATIONAL = "rational"
"""The type of the values of a file in which decimals are exact."""

NAMELESS = "__NOLABEL__"
"""Storm's text for an action without a name."""

DEFAULT = "default"
"""Storm's name in other formats for a reward structure without a name."""

UNUSED = "// No state has these labels: "
"""First words of gamedp's comment with the labels that the format cannot store."""

LABELS = re.compile(r'"([^"]*)"|(\S+)')
"""The labels of a state; those with spaces are in quotation marks."""


NUMBER = re.compile("0|[1-9][0-9]{0,9}")
"""A number as Python writes it: another one, such as 01, is a name."""


@attrs.define(eq=False)
class _Head:
    """Content of the sections before the model."""

    kind: str = ""
    rewards: list[str] = attrs.field(factory=list)
    states: int | None = None
    choices: int | None = None
    unused: list[str] = attrs.field(factory=list)
    placeholders: dict[str, str] = attrs.field(factory=dict)


@attrs.define(eq=False)
class _DrnParts:
    """Content of the lines of the model; texts are converted to numbers together.

    Attributes
    ----------
    states, actions, transitions : (n,) int64
        On which line each stands, counted from 0.
    state_rewards, choice_rewards : list of str or None
        What stands in brackets behind each state and each action.
    """

    states: Integers
    actions: Integers
    transitions: Integers
    names: list[str] = attrs.field(factory=list)
    labels: dict[str, list[int]] = attrs.field(factory=dict)
    state_rewards: list[str | None] = attrs.field(factory=list)
    choice_rewards: list[str | None] = attrs.field(factory=list)


def read_drn(path: Path, most: int) -> Parts:
    """Read a file.

    Raises
    ------
    DamagedFileError
        If a line is not what it should be.
    InvalidModelError
        If the file holds a model of another kind.
    """
    file = TextFile(path)
    head, begin = _read_head(file)
    found = _sorted_lines(file, begin)
    _check_counts(file, head, found)
    _read_states(file, found)
    _read_actions(file, found)
    states, labels = len(found.states), len(found.labels) + len(head.unused)
    check_memory(path, most, states=states, rewards=len(head.rewards), labels=labels)
    rewards: dict[str, dict[str, Any]] = {name: {} for name in head.rewards}
    for kind, texts, places in (
        (STATES, found.state_rewards, found.states),
        (CHOICES, found.choice_rewards, found.actions),
    ):
        table = _rewards(file, head, texts, places)
        for name, column in zip(head.rewards, table.T, strict=True):
            rewards[name][kind] = column
    successors, probabilities = _read_transitions(file, head, found)
    actions, names = _actions(found.names)
    unused = [name for name in head.unused if name not in found.labels]
    return Parts(
        path=path,
        choice_offsets=_offsets(found.states, found.actions),
        transition_offsets=_offsets(found.actions, found.transitions),
        successors=successors,
        probabilities=probabilities,
        actions=actions,
        action_names=names,
        initial=np.array(found.labels.pop(INITIAL, []), np.int64),
        labels={
            name: np.isin(np.arange(states), listed)
            for name, listed in (found.labels | {name: [] for name in unused}).items()
        },
        rewards=rewards,
        lines=found.actions + 1,
    )


def _read_head(file: TextFile) -> tuple[_Head, int]:
    """Return the sections before the model, and the line on which the model begins."""
    head, section = _Head(), ""
    for place, full in enumerate(file.lines):
        line = full.strip()
        if line.startswith("@"):
            section = line.split(":", 1)[0].split(maxsplit=1)[0]
            if section == "@model":
                _check_head(file, head, place)
                return head, place + 1
            if section == "@type":
                head.kind = line.partition(":")[2].strip().upper()
                _check_kind(file, head.kind)
            if section == "@value_type":
                values = line.partition(":")[2].strip().lower()
                file.is_exact = values == RATIONAL
                if "interval" in values:
                    message = f"{file.path} has intervals of probabilities; gamedp reads numbers."
                    raise InvalidModelError(message)
        elif section == "@reward_models":
            # A structure without a name leaves nothing but the space behind it.
            head.rewards += full.removesuffix(" ").split(" ") if full else []
        elif full.startswith(UNUSED):
            head.unused += _labels_in(full.removeprefix(UNUSED))
        elif line and not line.startswith("//"):
            _read_section(file, head, section, place)
    raise file.damaged(len(file.lines), "there is no @model")


def _read_section(file: TextFile, head: _Head, section: str, place: int) -> None:
    """Read a line of a section before the model."""
    line = file.lines[place].strip()
    if section == "@parameters":
        message = f"{file.path} has the parameters {line}; give them values in Storm first."
        raise InvalidModelError(message)
    if section == "@nr_states":
        head.states = file.whole(line, place, "the number of states")
    elif section == "@nr_choices":
        head.choices = file.whole(line, place, "the number of choices")
    elif section == "@placeholders":
        name, _, value = line.partition(":")
        head.placeholders[name.strip()] = value.strip()


def _check_head(file: TextFile, head: _Head, place: int) -> None:
    """Name the reward models, and refuse sections that leave the model undefined."""
    if not head.kind:
        raise file.damaged(place, "there is no @type before the model")
    head.rewards = [name or DEFAULT for name in head.rewards]
    if len(set(head.rewards)) < len(head.rewards):
        raise file.damaged(place, f"two reward models have one name ({', '.join(head.rewards)})")


def _check_kind(file: TextFile, kind: str) -> None:
    if kind in KINDS:
        return
    way_out = "gamedp reads Markov chains (DTMC) and decision processes (MDP) of this format"
    if kind == "SMG":
        way_out = "this format does not say who moves: let Storm write the game as .umb"
    message = f"{file.path} holds a model of the type {kind}; {way_out}."
    raise InvalidModelError(message)


def _sorted_lines(file: TextFile, begin: int) -> _DrnParts:
    """Return the lines of the model that are states, actions and transitions."""
    firsts = file.lines.firsts()
    firsts[:begin] = 0
    is_state, is_action = firsts == ord("s"), firsts == ord("a")
    is_transition = (firsts >= ord("0")) & (firsts <= ord("9"))
    # A line of no kind, or of one that cannot come after what was last.
    bad = ~(is_state | is_action | is_transition | (firsts == 0) | (firsts == ord("/")))
    if bad.any():
        message = "a line must begin with state, action or a state's number"
        raise file.damaged(int(bad.argmax()), message)
    kinds = np.where(
        is_state, np.int8(1), np.where(is_action, np.int8(2), is_transition * np.int8(4))
    )
    places = np.flatnonzero(kinds)
    kinds = kinds[places]
    heads = np.maximum.accumulate(np.where(kinds < 4, np.arange(len(kinds)), -1))
    before = np.where(heads >= 0, kinds[heads], 0)
    for wrong, message in (
        ((kinds == 2) & (places < places[kinds == 1].min(initial=len(file.lines))), "a state"),
        ((kinds == 4) & (before != 2), "an action"),
    ):
        if wrong.any():
            what = {2: "an action", 4: "a transition"}[int(kinds[wrong.argmax()])]
            raise file.damaged(int(places[wrong.argmax()]), f"{what} must follow {message}")
    return _DrnParts(places[kinds == 1], places[kinds == 2], places[kinds == 4])


def _offsets(rows: Integers, items: Integers) -> Integers:
    """Return the offsets of the items of each row, given the lines of both."""
    return np.append(np.searchsorted(items, rows), len(items)).astype(np.int64)


def _read_states(file: TextFile, found: _DrnParts) -> None:
    known: dict[str, tuple[str | None, list[str]]] = {}  # but for numbers, many are the same
    for state, line in enumerate(file.lines.some(found.states)):
        word, _, rest = line.strip().partition(" ")
        number, _, rest = rest.partition(" ")
        if word != "state" or number != str(state):
            raise file.damaged(int(found.states[state]), f"state {state} must come next")
        if rest not in known:
            known[rest] = _read_state(file, int(found.states[state]), rest.strip())
        rewards, labels = known[rest]
        found.state_rewards.append(rewards)
        for label in labels:
            found.labels.setdefault(label, []).append(state)


def _read_state(file: TextFile, place: int, rest: str) -> tuple[str | None, list[str]]:
    """Read the rest of a state's line after its number; return its rewards and labels."""
    if rest.startswith("!"):
        raise file.damaged(place, "a state of discrete time has no exit rate")
    if rest.startswith("{"):
        raise file.damaged(place, "a state that is known has no observation")
    rewards = None
    if rest.startswith("["):
        rewards, rest = _bracket(file, place, rest[1:])
    return rewards or None, _labels_in(rest)


def _labels_in(text: str) -> list[str]:
    """Return the labels in a text."""
    return [quoted or plain for quoted, plain in LABELS.findall(text)]


def _read_actions(file: TextFile, found: _DrnParts) -> None:
    """Record the name of each action and the place of its rewards."""
    known: dict[str, tuple[str, str | None]] = {}  # many lines are the same
    for place, line in enumerate(file.lines.some(found.actions)):
        if line not in known:
            word, _, rest = line.strip().partition(" ")
            at = int(found.actions[place])
            if word != "action":
                raise file.damaged(at, "a line must begin with state, action or a state's number")
            name, bracket, numbers = rest.partition("[")
            reward = _bracket(file, at, numbers)[0] if bracket else None
            known[line] = name.strip(), reward
        name, reward = known[line]
        found.names.append(name)
        found.choice_rewards.append(reward)


def _read_transitions(file: TextFile, head: _Head, found: _DrnParts) -> tuple[Integers, Floats]:
    """Return the successors and probabilities of all transitions."""
    count = len(found.transitions)

    def columns(size: int) -> Iterator[tuple[Integers, Floats]]:
        for begin in range(0, count, size):
            places = found.transitions[begin : begin + size].tolist()
            states, words = _split(list(file.lines.some(found.transitions[begin : begin + size])))
            if head.placeholders:
                words = [head.placeholders.get(word, word) for word in words]
            yield (
                file.integers(states, places, "a state"),
                file.numbers(words, places, "a probability"),
            )

    read = [(np.empty(0, np.int64), np.empty(0)), *columns(LINES)]  # some at a time: few words
    if any(numbers.dtype != np.float64 for _, numbers in read):
        read = list(columns(count))  # where one is a fraction, all are what they are
    successors, probabilities = zip(*read, strict=True)
    return np.concatenate(successors), np.concatenate(probabilities)


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return what stands before and after the colon of each line."""
    words = " ".join(lines).split()
    if len(words) == 3 * len(lines) and set(words[1::3]) == {":"}:
        return words[::3], words[2::3]
    pairs = [line.partition(":") for line in lines]
    return [state for state, _, _ in pairs], [word.strip() for _, _, word in pairs]


def _bracket(file: TextFile, place: int, text: str) -> tuple[str, str]:
    """Return the numbers before a closing bracket, and the text after it."""
    numbers, bracket, rest = text.partition("]")
    if not bracket:
        raise file.damaged(place, "a bracket is not closed")
    return numbers, rest.strip()


def _check_counts(file: TextFile, head: _Head, found: _DrnParts) -> None:
    """Refuse a file whose numbers of states and choices differ from those it declares."""
    for what, said, there in (
        ("states", head.states, len(found.states)),
        ("choices", head.choices, len(found.actions)),
    ):
        if said is not None and said != there:
            message = f"there are {there:,} {what}, and @nr_{what} says {said:,}"
            raise file.damaged(len(file.lines), message)


def _rewards(file: TextFile, head: _Head, texts: list[str | None], lines: Integers) -> Any:
    """Return a table of rewards with a row for each state or choice, zero for those without."""
    words: list[str] = []
    places: list[int] = []
    kinds: dict[str | None, int] = {None: -1}  # many states and choices have the same
    for row, text in enumerate(texts):
        if text is None or text in kinds:
            continue
        kinds[text] = len(kinds) - 1
        numbers = text.split(",")
        if len(numbers) != len(head.rewards):
            message = f"there are {len(head.rewards)} reward models, and {len(numbers)} rewards"
            raise file.damaged(int(lines[row]), message)
        words += map(str.strip, numbers)
        places += [int(lines[row])] * len(numbers)
    if head.placeholders:
        words = [head.placeholders.get(word, word) for word in words]
    table = file.numbers(words, places, "a reward").reshape(len(kinds) - 1, len(head.rewards))
    which = np.fromiter((kinds[text] for text in texts), np.int64, len(texts))
    rows = np.flatnonzero(which >= 0)
    return spread(table[which[rows]], rows, len(texts))


def _actions(words: list[str]) -> tuple[Any, tuple[str, ...]]:
    """Return actions as numbers, and their names unless all are numbers themselves."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    if all(NUMBER.fullmatch(word) and int(word) < 2**31 for word in numbers):
        return np.array(list(map(int, words)), np.int64), ()
    actions = np.fromiter((numbers[word] for word in words), np.int64, len(words))
    return actions, tuple("" if word == NAMELESS else word for word in numbers)


def write_drn(file: BinaryIO, parts: Parts) -> None:
    """Write a model, each number with enough digits to be read back exactly.

    Where Fractions were given, all numbers are written as fractions. A label stands beside the
    states that have it. One that no state has is named in a comment, which other tools pass over.
    """
    if parts.num_players > 1:
        message = "a file of this format does not say who moves; write a game as .umb."
        raise InvalidModelError(message)
    states = len(parts.choice_offsets) - 1
    is_exact = parts.is_exact
    values = RATIONAL if is_exact else "double"
    kind = "DTMC" if parts.num_players == 0 else "MDP"
    structures = "".join(f"{_word(name)} " for name in parts.rewards)
    if structures.startswith("@"):
        message = f"a line that begins with @ is a keyword in this format: {structures.strip()!r}."
        raise InvalidModelError(message)
    unused = [_label(name) for name, mask in parts.labels.items() if not mask.any()]
    comment = f"{UNUSED}{' '.join(unused)}\n" if unused else ""
    head = (
        f"// Exported by gamedp\n{comment}@type: {kind}\n@value_type: {values}\n@parameters\n\n"
        f"@reward_models\n{structures}\n@nr_states\n{states}\n"
        f"@nr_choices\n{len(parts.transition_offsets) - 1}\n@model\n"
    )
    file.write(head.encode())
    labels: list[list[str]] = [[] for _ in range(states)]
    for state in parts.initial.tolist():
        labels[state].append(INITIAL)
    for name, mask in parts.labels.items():
        for state in np.flatnonzero(mask).tolist():
            labels[state].append(_label(name))
    word = word_of_fraction if is_exact else word_of
    write_lines(file, _lines(parts, labels, word))


def _lines(parts: Parts, labels: list[list[str]], word: Callable[[Any], str]) -> Iterable[str]:
    """Yield the lines of each state."""
    choices, transitions = parts.choice_offsets.tolist(), parts.transition_offsets.tolist()
    successors, probabilities = (
        parts.successors.tolist(),
        list(map(word, parts.probabilities.tolist())),
    )
    columns = [kinds[CHOICES].tolist() for kinds in parts.rewards.values()]
    zeros = f" [{', '.join(['0'] * len(columns))}]" if columns else ""
    rewards = [f" [{', '.join(map(word, row))}]" for row in zip(*columns, strict=True)]
    names = names_of(parts)
    for name in set(names):
        if "[" in name or not name.isprintable() or name != name.strip():
            message = f"this format allows no brackets in the name of an action, as in {name!r}."
            raise InvalidModelError(message)
        if name == NAMELESS:
            message = f"{name!r} stands for no name in this format; rename the action."
            raise InvalidModelError(message)
    for state, words in enumerate(labels):
        lines = [" ".join([f"state {state}{zeros}", *words])]
        for choice in range(choices[state], choices[state + 1]):
            reward = rewards[choice] if columns else ""
            lines.append(f"\taction {names[choice] or NAMELESS}{reward}")
            begin, end = transitions[choice], transitions[choice + 1]
            lines += [f"\t\t{successors[t]} : {probabilities[t]}" for t in range(begin, end)]
        yield "\n".join(lines)


def _label(name: str) -> str:
    """Return a label as a word: in quotation marks if it contains spaces.

    So may one that begins as what else can stand behind the number of a state.
    """
    if name and name.isprintable() and '"' not in name and (" " in name or name[0] in "[!{"):
        return f'"{name}"'
    return _word(name)


def _word(name: str) -> str:
    """Return a name without spaces."""
    if any(letter.isspace() for letter in name) or '"' in name or not name:
        message = f"this format allows no spaces or quotation marks in a name, as in {name!r}."
        raise InvalidModelError(message)
    return name


DRN = FileFormat(
    read=read_drn,
    files=lambda parts: {parts.path: functools.partial(write_drn, parts=parts)},
)
