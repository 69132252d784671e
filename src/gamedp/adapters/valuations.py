"""Values of a program's variables in each state, packed as in UMB: bit after bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.adapters.archive import INDEX, Archive, damaged
from gamedp.adapters.parts import STATES, check_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.int64] | NDArray[np.bool_]

__all__ = ["VALUES", "read_variables", "write_variables"]

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
