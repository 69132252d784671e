"""Storm's format of text, DRN ("direct encoding"): states, actions and transitions, one a line.

Read as Storm 1.8 and newer write it. It does not say who moves in a game, so games come in UMB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import attrs
import numpy as np

from gamedp.adapters.parts import CHOICES, STATES, Parts, offsets_of
from gamedp.adapters.text import TextFile, write_lines
from gamedp.adapters.writing import INITIAL, names_of
from gamedp.errors import InvalidModelError

__all__ = ["read_drn", "write_drn"]

KINDS = ("DTMC", "MDP")

NAMELESS = "__NOLABEL__"
"""What Storm writes for an action without a name."""

DEFAULT = "default"
"""What Storm calls a reward structure without a name in other formats."""

LABELS = re.compile(r'"([^"]*)"|(\S+)')
"""The labels of a state; one with a space in it stands in quotation marks."""


@attrs.define(eq=False)
class _Head:
    """What the sections before the model say."""

    kind: str = ""
    rewards: list[str] = attrs.field(factory=list)
    states: int | None = None
    choices: int | None = None
    placeholders: dict[str, str] = attrs.field(factory=dict)


@attrs.define(eq=False)
class _Found:
    """What has been read so far; lists hold texts, which become numbers all at once."""

    choices_of_state: list[int] = attrs.field(factory=list)
    state_rewards: list[tuple[int, int, str]] = attrs.field(factory=list)
    labels: dict[str, list[int]] = attrs.field(factory=dict)
    choice_lines: list[int] = attrs.field(factory=list)
    ends_of_choices: list[int] = attrs.field(factory=list)
    actions: list[str] = attrs.field(factory=list)
    choice_rewards: list[tuple[int, int, str]] = attrs.field(factory=list)
    successors: list[str] = attrs.field(factory=list)
    probabilities: list[str] = attrs.field(factory=list)
    lines: list[int] = attrs.field(factory=list)


def read_drn(path: Path) -> Parts:
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
    found = _read_model(file, begin)
    _check_counts(file, head, found)
    probabilities = found.probabilities
    if head.placeholders:
        probabilities = [head.placeholders.get(word, word) for word in probabilities]
    rewards: dict[str, dict[str, Any]] = {name: {} for name in head.rewards}
    states, choices = len(found.choices_of_state), len(found.actions)
    for kind, listed, count in (
        (STATES, found.state_rewards, states),
        (CHOICES, found.choice_rewards, choices),
    ):
        table = _rewards(file, head, listed, count)
        for name, column in zip(head.rewards, table.T, strict=True):
            rewards[name][kind] = column
    actions, names = _actions(found.actions)
    return Parts(
        path=path,
        choice_offsets=offsets_of(np.array(found.choices_of_state, np.int64)),
        transition_offsets=np.array([0, *found.ends_of_choices], np.int64),
        successors=file.integers(found.successors, found.lines, "a state"),
        probabilities=file.numbers(probabilities, found.lines, "a probability"),
        actions=actions,
        action_names=names,
        initial=np.array(found.labels.pop(INITIAL, []), np.int64),
        labels={name: _mask(listed, states) for name, listed in found.labels.items()},
        rewards=rewards,
        lines=np.array(found.choice_lines, np.int64) + 1,
    )


def _read_head(file: TextFile) -> tuple[_Head, int]:
    """Return what stands before the model, and on which line that begins."""
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
        elif section == "@reward_models":
            # A structure without a name leaves nothing but the space behind it.
            head.rewards += full.removesuffix(" ").split(" ") if full else []
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
    """Give reward models their names, and refuse what leaves the model undefined."""
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


def _read_model(file: TextFile, begin: int) -> _Found:
    """Read states, actions and transitions: the loop that a large file keeps busy."""
    found = _Found()
    successors, probabilities, lines = found.successors, found.probabilities, found.lines
    for place in range(begin, len(file.lines)):
        line = file.lines[place].strip()
        successor, colon, probability = line.partition(":")
        if colon and line[0].isdecimal():
            successors.append(successor)
            probabilities.append(probability.strip())
            lines.append(place)
            continue
        if not line or line.startswith("//"):
            continue
        word, _, rest = line.partition(" ")
        if word == "state":
            _close_choice(file, found)
            _read_state(file, found, place, rest)
        elif word == "action":
            _close_choice(file, found)
            _read_action(file, found, place, rest)
        else:
            raise file.damaged(place, "a line must begin with state, action or a state's number")
    _close_choice(file, found)
    return found


def _close_choice(file: TextFile, found: _Found) -> None:
    """Note where the transitions of the last choice end."""
    end = len(found.successors)
    if found.actions and len(found.ends_of_choices) < len(found.actions):
        found.ends_of_choices.append(end)
    elif end > (found.ends_of_choices[-1] if found.ends_of_choices else 0):
        raise file.damaged(found.lines[-1], "a transition must follow an action")


def _read_state(file: TextFile, found: _Found, place: int, rest: str) -> None:
    number, _, rest = rest.strip().partition(" ")
    state = len(found.choices_of_state)
    if number != str(state):
        raise file.damaged(place, f"state {state} must come next")
    found.choices_of_state.append(0)
    rest = rest.strip()
    if rest.startswith("!"):
        raise file.damaged(place, "a state of discrete time has no exit rate")
    if rest.startswith("{"):
        raise file.damaged(place, "a state that is known has no observation")
    rest, numbers = _bracket(file, place, rest)
    if numbers:
        found.state_rewards.append((state, place, numbers))
    for quoted, plain in LABELS.findall(rest):
        found.labels.setdefault(quoted or plain, []).append(state)


def _read_action(file: TextFile, found: _Found, place: int, rest: str) -> None:
    if not found.choices_of_state:
        raise file.damaged(place, "an action must follow a state")
    choice = len(found.actions)
    found.choices_of_state[-1] += 1
    found.choice_lines.append(place)
    name, bracket, numbers = rest.partition("[")
    found.actions.append(name.strip())
    if bracket:
        _, numbers = _bracket(file, place, bracket + numbers)
        found.choice_rewards.append((choice, place, numbers))


def _bracket(file: TextFile, place: int, text: str) -> tuple[str, str]:
    """Return what follows the numbers in brackets, and these."""
    if not text.startswith("["):
        return text, ""
    numbers, bracket, rest = text[1:].partition("]")
    if not bracket:
        raise file.damaged(place, "a bracket is not closed")
    return rest.strip(), numbers


def _check_counts(file: TextFile, head: _Head, found: _Found) -> None:
    """Refuse a file that has not as many states and choices as it says."""
    for what, said, there in (
        ("states", head.states, len(found.choices_of_state)),
        ("choices", head.choices, len(found.actions)),
    ):
        if said is not None and said != there:
            message = f"there are {there:,} {what}, and @nr_{what} says {said:,}"
            raise file.damaged(len(file.lines), message)


def _rewards(
    file: TextFile, head: _Head, listed: Iterable[tuple[int, int, str]], count: int
) -> Any:
    """Return a table of rewards with a row for each state or choice, zero where none are listed."""
    table = np.zeros((count, len(head.rewards)))
    for row, place, text in listed:
        words = [head.placeholders.get(word, word) for word in map(str.strip, text.split(","))]
        if len(words) != len(head.rewards):
            message = f"there are {len(head.rewards)} reward models, and {len(words)} rewards"
            raise file.damaged(place, message)
        table[row] = file.numbers(words, [place] * len(words), "a reward")
    return table


def _mask(listed: Iterable[int], count: int) -> Any:
    mask = np.zeros(count, np.bool_)
    mask[list(listed)] = True
    return mask


def _actions(words: list[str]) -> tuple[Any, tuple[str, ...]]:
    """Return actions as numbers, and their names unless all are numbers themselves."""
    if all(word.isdecimal() and int(word) < 2**31 for word in words):
        return np.array(list(map(int, words)), np.int64), ()
    numbers: dict[str, int] = {}
    actions = [numbers.setdefault(word, len(numbers)) for word in words]
    return np.array(actions, np.int64), tuple("" if w == NAMELESS else w for w in numbers)


def write_drn(file: BinaryIO, parts: Parts) -> None:
    """Write a model, each number with as many digits as it takes to read the same one again."""
    if parts.num_players > 1:
        message = "a file of this format does not say who moves; write a game as .umb."
        raise InvalidModelError(message)
    states = len(parts.choice_offsets) - 1
    kind = "DTMC" if parts.num_players == 0 else "MDP"
    structures = "".join(f"{_word(name)} " for name in parts.rewards)
    head = (
        f"// Exported by gamedp\n@type: {kind}\n@value_type: double\n@parameters\n\n"
        f"@reward_models\n{structures}\n@nr_states\n{states}\n"
        f"@nr_choices\n{len(parts.transition_offsets) - 1}\n@model\n"
    )
    file.write(head.encode())
    labels: list[list[str]] = [[] for _ in range(states)]
    for state in parts.initial.tolist():
        labels[state].append(INITIAL)
    for name, mask in parts.labels.items():
        for state in np.flatnonzero(mask).tolist():
            labels[state].append(_word(name))
    write_lines(file, _lines(parts, labels))


def _lines(parts: Parts, labels: list[list[str]]) -> Iterable[str]:
    """Yield the lines of each state."""
    choices, transitions = parts.choice_offsets.tolist(), parts.transition_offsets.tolist()
    successors, probabilities = parts.successors.tolist(), parts.probabilities.tolist()
    columns = [kinds[CHOICES].tolist() for kinds in parts.rewards.values()]
    zeros = f" [{', '.join(['0'] * len(columns))}]" if columns else ""
    rewards = [f" [{', '.join(map(repr, row))}]" for row in zip(*columns, strict=True)]
    names = names_of(parts)
    for state, words in enumerate(labels):
        lines = [" ".join([f"state {state}{zeros}", *words])]
        for choice in range(choices[state], choices[state + 1]):
            reward = rewards[choice] if columns else ""
            lines.append(f"\taction {names[choice] or NAMELESS}{reward}")
            begin, end = transitions[choice], transitions[choice + 1]
            lines += [f"\t\t{successors[t]} : {probabilities[t]!r}" for t in range(begin, end)]
        yield "\n".join(lines)


def _word(name: str) -> str:
    """Return a name as it may stand between spaces."""
    if any(letter.isspace() for letter in name) or '"' in name or not name:
        message = f"a name in this format has no spaces and no quotation marks, not {name!r}."
        raise InvalidModelError(message)
    return name
