"""The unified Markov binary (UMB) format, which Storm, PRISM and others read and write.

The format is described at https://github.com/pmc-tools/umb. Of its models, this reads Markov
chains, Markov decision processes and turn-based games in discrete time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import attrs
import numpy as np

from gamedp.adapters.archive import (
    INDEX,
    Archive,
    bits_of,
    damaged,
    packed,
    unsupported,
    write_archive,
)
from gamedp.adapters.parts import (
    CHOICES,
    STATES,
    TRANSITIONS,
    FileFormat,
    Parts,
    check_memory,
    too_large,
)
from gamedp.errors import shown
from gamedp.rules.layout import MAX_INT64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.int64] | NDArray[np.bool_]


VERSIONS = (0, 1)
"""Supported major versions of the format, which do not differ in the parts read here."""

ROWS = {STATES: "#states", CHOICES: "#choices", TRANSITIONS: "#branches"}


LONGEST_NAME = 60
"""Largest length of an identifier: the name of a file in an archive has room for 100 letters."""


def _is_wanted(name: str) -> bool:
    """Return whether a file of an archive is read."""
    top, _, rest = name.partition("/")
    return (
        not rest
        or (top == "actions" and rest.startswith("choices/"))
        or name == VALUES
        or (top == "annotations" and rest.startswith(("aps/", "rewards/")))
    )


def read_umb(path: Path, most: int) -> Parts:
    """Read a file.

    Raises
    ------
    DamagedFileError
        If it is not what its index says.
    InvalidModelError
        If it holds a model of another kind.
    """
    archive = Archive(path, _is_wanted, most)
    system = _system(archive)
    counts = {
        name: _count(archive, system, name)
        for name in (*ROWS.values(), "#players", "#choice-actions", "#initial-states")
    }
    states, choices, branches = (counts[name] for name in ROWS.values())
    files = (choices, "choice-to-branches.bin"), (branches, "branch-to-target.bin")
    rows = sum(count for count, file in files if file not in archive)
    check_memory(path, archive.most, states=states, rows=rows)
    to_choices = archive.offsets("state-to-choices.bin", states, choices, "choices")
    to_branches = archive.offsets("choice-to-branches.bin", choices, branches, "branches")
    starts = np.flatnonzero(archive.bits("state-is-initial.bin", states))
    if len(starts) != counts["#initial-states"]:
        raise damaged(
            archive,
            f"has {len(starts):,} initial states in state-is-initial.bin; {INDEX} says "
            f"{counts['#initial-states']:,}",
        )
    players = None
    if counts["#players"] > 1:
        players = archive.integers("state-to-player.bin", states, 4)
    kind = system.get("branch-probability-type")
    variables, unread = read_variables(archive, states)
    return Parts(
        path=path,
        choice_offsets=to_choices,
        transition_offsets=to_branches,
        successors=archive.integers("branch-to-target.bin", branches, 8),
        probabilities=_probabilities(archive, kind, to_branches),
        players=players,
        num_players=counts["#players"],
        player_names=_player_names(archive, system, counts["#players"]),
        initial=starts,
        labels=_labels(archive, states),
        rewards=_rewards(archive, counts),
        variables=variables,
        notes=unread,
        **_actions(archive, counts["#choice-actions"], choices),
    )


def _system(archive: Archive) -> dict[str, Any]:
    """Return the index's description of the transition system, if its kind is supported."""
    version = archive.index.get("format-version")
    if version not in VERSIONS:
        raise damaged(
            archive,
            f"is of version {version!r} of the format, and this gamedp reads "
            f"{' and '.join(map(str, VERSIONS))}",
        )
    system = archive.index.get("transition-system")
    if not isinstance(system, dict):
        raise damaged(archive, f"has an {INDEX} without a transition-system")
    if system.get("time") != "discrete":
        raise unsupported(archive, f"holds a model with time {system.get('time')!r}")
    if system.get("#observations"):
        raise unsupported(archive, "holds a model with observations, which hide the state")
    return system


def _count(archive: Archive, system: dict[str, Any], name: str) -> int:
    number = system.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_INT64:
        raise damaged(archive, f"has {name} {number!r} in {INDEX}, which must be a number")
    if number * 8 > archive.most:  # what has no file of its own takes memory all the same
        does = f"has {number:,} {name.removeprefix('#')}, which take"
        raise too_large(archive.path, does, archive.most)
    return number


def _probabilities(archive: Archive, kind: Any, offsets: Any) -> Any:
    """Return the probability of each branch; without any, each choice must be deterministic."""
    if kind is not None:
        return archive.numbers("branch-to-probability.bin", kind, int(offsets[-1]))
    if (np.diff(offsets) > 1).any():
        raise unsupported(archive, "has choices with several branches and no probabilities")
    return np.ones(int(offsets[-1]))


def _player_names(archive: Archive, system: dict[str, Any], count: int) -> tuple[str, ...]:
    names = system.get("player-names", [])
    is_right = isinstance(names, list) and len(names) in {0, count}
    if not is_right or not all(isinstance(name, str) for name in names):
        raise damaged(archive, f"has player-names in {INDEX} that are not {count} texts")
    return tuple(names)


def _actions(archive: Archive, count: int, choices: int) -> dict[str, Any]:
    """Return the actions of the choices and their names, if the file has them."""
    if count == 0:
        return {}
    folder = "actions/choices"
    actions = archive.integers(f"{folder}/values.bin", choices, 4)
    if len(actions) and actions.max() >= count:
        raise damaged(
            archive,
            f"has action {actions.max()} in {folder}/values.bin; #choice-actions is {count}",
        )
    names = archive.strings(f"{folder}/string-mapping.bin", f"{folder}/strings.bin", count)
    return {"actions": actions, "action_names": names}


def _annotations(archive: Archive, group: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the annotations of a group: by name, the identifier and the index's description."""
    groups = archive.index.get("annotations", {})
    entries = groups.get(group, {}) if isinstance(groups, dict) else None
    if not isinstance(entries, dict) or not all(isinstance(e, dict) for e in entries.values()):
        raise damaged(archive, f"has annotations in {INDEX} that are not maps of names")
    named = {}
    for identifier, entry in entries.items():
        name = entry.get("alias", identifier)
        if not isinstance(name, str):
            raise damaged(archive, f"has the alias {shown(name)} in {INDEX}, which must be a text")
        named[name] = (identifier, entry)
    if len(named) != len(entries):
        raise damaged(archive, f"has two {group} of one name in {INDEX}")
    return named


def _labels(archive: Archive, states: int) -> dict[str, Any]:
    labels = {}
    named = _annotations(archive, "aps")
    check_memory(archive.path, archive.most, states=states, labels=len(named))
    for name, (identifier, entry) in named.items():
        file = f"annotations/aps/{identifier}/states/values.bin"
        if entry.get("applies-to") != [STATES] or file not in archive:
            raise damaged(archive, f"has the atomic proposition {name!r}, but not {file}")
        labels[name] = archive.bits(file, states)
    return labels


def _rewards(archive: Archive, counts: dict[str, int]) -> dict[str, dict[str, Any]]:
    """Return the numbers of each reward by its name and by the entity that it applies to."""
    rewards = {}
    for name, (identifier, entry) in _annotations(archive, "rewards").items():
        kinds = entry.get("applies-to")
        if not isinstance(kinds, list) or any(kind not in list(ROWS) for kind in kinds):
            raise damaged(archive, f"has the reward {name!r} apply to {kinds!r}")
        if "probability-type" in entry:
            raise unsupported(archive, f"has the random reward {name!r}")
        rewards[name] = {
            kind: archive.numbers(
                f"annotations/rewards/{identifier}/{kind}/values.bin",
                entry.get("type"),
                counts[ROWS[kind]],
            )
            for kind in kinds
        }
    return rewards


def write_umb(file: BinaryIO, parts: Parts) -> None:
    """Write a model, compressed by gzip."""
    files: dict[str, bytes] = {}
    states, choices = len(parts.choice_offsets) - 1, len(parts.transition_offsets) - 1
    if not np.array_equal(parts.choice_offsets, np.arange(states + 1)):
        files["state-to-choices.bin"] = parts.choice_offsets.astype("<u8").tobytes()
    if parts.players is not None:
        files["state-to-player.bin"] = parts.players.astype("<u4").tobytes()
    files["state-is-initial.bin"] = bits_of(np.isin(np.arange(states), parts.initial))
    # It may be left out where there is one each, but not every reader knows that.
    files["choice-to-branches.bin"] = parts.transition_offsets.astype("<u8").tobytes()
    files["branch-to-target.bin"] = parts.successors.astype("<u8").tobytes()
    of_probabilities, files["branch-to-probability.bin"] = packed(parts.probabilities)
    system: dict[str, Any] = {
        "time": "discrete",
        "#players": parts.num_players,
        "#states": states,
        "#initial-states": len(parts.initial),
        "#choices": choices,
        "#choice-actions": _write_actions(parts, files),
        "#branches": len(parts.successors),
        "#branch-actions": 0,
        "#observations": 0,
        "branch-probability-type": of_probabilities,
    }
    if parts.num_players > 1:
        system["player-names"] = list(parts.player_names)
    index = {
        "format-version": VERSIONS[-1],
        "format-revision": 0,
        "file-data": {"tool": "gamedp", "tool-version": _version()},
        "transition-system": system,
        "annotations": _write_annotations(parts, files),
    }
    valuations = write_variables(parts.variables, states, files)
    if valuations:
        index["valuations"] = valuations
    write_archive(file, index, files)


def _version() -> str:
    from importlib import metadata  # noqa: PLC0415 - slow to import, and for writing alone

    try:
        return metadata.version("gamedp")
    except metadata.PackageNotFoundError:
        return "unknown"  # run from a source tree


def _write_actions(parts: Parts, files: dict[str, bytes]) -> int:
    """Add the files of the actions; return the number of actions."""
    if parts.actions is None:
        return 0
    folder = "actions/choices"
    files[f"{folder}/values.bin"] = parts.actions.astype("<u4").tobytes()
    if parts.action_names:
        texts = [name.encode() for name in parts.action_names]
        ends = np.cumsum([0, *map(len, texts)])
        files[f"{folder}/string-mapping.bin"] = ends.astype("<u8").tobytes()
        files[f"{folder}/strings.bin"] = b"".join(texts)
    return max(len(parts.action_names), int(parts.actions.max(initial=0)) + 1)


def _write_annotations(parts: Parts, files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """Add the files of labels and rewards; return their entry in the index."""
    annotations: dict[str, dict[str, Any]] = {}
    contents = [
        ("aps", name, STATES, {"type": "bool", "size": 1}, bits_of(mask))
        for name, mask in parts.labels.items()
    ]
    contents += [
        ("rewards", name, kind, *packed(numbers))
        for name, kinds in parts.rewards.items()
        for kind, numbers in kinds.items()
    ]
    for group, name, kind, of_type, content in contents:
        entries = annotations.setdefault(group, {})
        identifier = _identifier(name, entries)
        entries[identifier] = {"alias": name, "applies-to": [kind], "type": of_type}
        files[f"annotations/{group}/{identifier}/{kind}/values.bin"] = content
    return annotations


def _identifier(name: str, taken: dict[str, Any]) -> str:
    """Return an unused identifier for a name, in the letters allowed in file names."""
    plain = re.sub(r"[^0-9a-z_-]", "_", name.lower())[:LONGEST_NAME] or "_"
    if plain not in taken:
        return plain
    number = 2
    while f"{plain}_{number}" in taken:
        number += 1
    return f"{plain}_{number}"


VALUES = f"valuations/{STATES}/valuations.bin"

MOST_BITS = 64
KINDS = ("bool", "int", "uint")


@attrs.frozen
class _Field:
    """A variable: its name, its kind, and the offset and number of its bits."""

    name: str
    kind: str
    begin: int
    size: int
    offset: int


def read_variables(archive: Archive, states: int) -> tuple[dict[str, Column], tuple[str, ...]]:
    """Return the variables of the states, and notes if they cannot be read.

    Not read are texts, numbers that are not whole, and states of which each kind has variables of
    its own: nothing that is computed needs them.

    Raises
    ------
    DamagedFileError
        If the index does not describe them as it should.
    """
    groups = archive.index.get("valuations", {})
    group = groups.get(STATES) if isinstance(groups, dict) else None
    if group is None:
        return {}, ()
    classes = group.get("classes") if isinstance(group, dict) else None
    if not isinstance(classes, list) or not all(isinstance(each, dict) for each in classes):
        raise damaged(archive, f"has valuations in {INDEX} without a list of classes")
    if len(classes) != 1:
        return {}, (_unread("there are several kinds of states"),)
    fields, bits, reason = _fields(archive, classes[0].get("variables"))
    if reason or bits % 8:
        return {}, (_unread(reason or "their bits do not fill whole bytes"),)
    check_memory(archive.path, archive.most, states=states, variables=len(fields))
    content = archive.content(VALUES, states, bits // 8)
    rows = np.frombuffer(content, np.uint8).reshape(states, bits // 8)
    variables = {}
    for field in fields:
        column = _unpacked(rows, field)
        if column is None:
            return {}, (_unread(f"{field.name} is too large for integers of 64 bits"),)
        variables[field.name] = column
    return variables, ()


def _unread(reason: str) -> str:
    return f"the variables of the states are not read: {reason}"


def _fields(archive: Archive, entries: Any) -> tuple[list[_Field], int, str]:
    """Return the variables, the number of bits of a state, and any reason against reading them."""
    wrong = damaged(archive, f"has valuations in {INDEX} that are not a list of variables")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise wrong
    fields: list[_Field] = []
    begin, reason = 0, ""
    for entry in entries:
        if "padding" in entry:
            begin += _whole(entry["padding"], wrong)
            continue
        kind = entry.get("type")
        if not isinstance(kind, dict) or not isinstance(entry.get("name"), str):
            raise wrong
        name, size = entry["name"], _whole(kind.get("size"), wrong)
        if kind.get("type") not in KINDS or size > MOST_BITS or entry.get("is-optional"):
            what = "optional" if entry.get("is-optional") else f"{kind.get('type')!r}, {size} bits"
            reason = reason or f"{name} is {what}"
        offset = entry.get("offset") or 0
        if not isinstance(offset, int) or abs(offset) >= 2**62:
            raise wrong
        fields.append(_Field(name, str(kind.get("type")), begin, size, offset))
        begin += size
    if len({field.name for field in fields}) < len(fields):
        raise damaged(archive, f"has two variables of one name in {INDEX}")
    return fields, begin, reason


def _whole(number: Any, wrong: Exception) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**20:
        raise wrong
    return number


def _unpacked(rows: NDArray[np.uint8], field: _Field) -> Column | None:
    """Return a variable in all states, its first bit the least significant; None if too large."""
    first, last = field.begin // 8, (field.begin + field.size + 7) // 8
    bits = np.unpackbits(rows[:, first:last], axis=1, bitorder="little")
    skipped = field.begin - 8 * first
    bits = bits[:, skipped : skipped + field.size]
    if field.kind == "bool":
        return np.asarray(bits.any(axis=1), np.bool_)
    numbers = np.zeros(len(rows), np.uint64)
    for place in range(field.size):
        numbers |= bits[:, place].astype(np.uint64) << np.uint64(place)
    if field.kind == "int" and field.size < MOST_BITS:
        negative = bits[:, -1].astype(np.bool_)
        numbers[negative] |= np.uint64(2**MOST_BITS - 2**field.size)
    plain = numbers.view(np.int64) if field.kind == "int" else numbers
    least = int(plain.min(initial=0)) + field.offset
    most = int(plain.max(initial=0)) + field.offset
    if not -(2**63) <= least <= most < 2**63:
        return None
    return numbers.view(np.int64) + field.offset


def write_variables(
    variables: Mapping[str, Column], states: int, files: dict[str, bytes]
) -> dict[str, Any]:
    """Add the file of the variables; return their entry in the index, empty without any."""
    if not variables:
        return {}
    entries: list[dict[str, Any]] = []
    columns: list[NDArray[np.uint8]] = []
    for name, column in variables.items():
        kind, size = _type_of(column)
        entries.append({"name": name, "type": {"type": kind, "size": size}, "is-optional": False})
        numbers = column.astype(np.int64).view(np.uint64)
        places = np.arange(size, dtype=np.uint64)
        columns.append(((numbers[:, None] >> places) & np.uint64(1)).astype(np.uint8))
    bits = np.concatenate(columns, axis=1)
    if bits.shape[1] % 8:
        entries.append({"padding": 8 - bits.shape[1] % 8})
    rows = np.packbits(bits, axis=1, bitorder="little")
    files[VALUES] = rows.tobytes()
    unique = len(np.unique(rows, axis=0)) == states
    return {STATES: {"unique": unique, "classes": [{"variables": entries}]}}


def _type_of(column: Column) -> tuple[str, int]:
    """Return the kind of a variable and the bits that it takes."""
    if column.dtype == np.bool_:
        return "bool", 1
    low, high = int(column.min(initial=0)), int(column.max(initial=0))
    if low >= 0:
        return "uint", max(1, high.bit_length())
    return "int", 1 + max(high.bit_length(), (-low - 1).bit_length())


UMB = FileFormat(
    read=read_umb,
    files=lambda parts: {parts.path: functools.partial(write_umb, parts=parts)},
)
