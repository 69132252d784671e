"""The states of a model: packed into integers, or kept as objects.

A state that is a NamedTuple of ints (and of fixed-length tuples of ints), or a frozen dataclass or
attrs class of these, is flattened to its fields, and the fields to as few 64-bit words as they
need, in mixed radix. Two states have the same code exactly when all their fields are equal.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.runtime.encoding import declared_fields

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = [
    "MOST_NESTED",
    "Codec",
    "Layout",
    "ObjectTable",
    "PackedTable",
    "StateTable",
    "rows_of_box",
    "shaped_like",
]

MAX_INT64 = 2**63 - 1
"""The largest number of 64 bits with a sign."""

WORD_LIMIT = 2**62
"""A word holds mixed-radix numbers below this; a field with a wider range has a word of its own."""

SLICE = 1 << 16
"""Number of states of a box that are looked at together."""

MOST_NESTED = 50
"""Largest nesting depth of the tuples of a state: the functions that walk them are recursive."""


def shaped_like(example: Any, state: Any, levels: int = MOST_NESTED) -> Any:
    """Return a state like an example: of a tuple, the object whose fields are the tuple's items.

    Anything that is not a tuple, has another number of items, or lies deeper than `levels` is
    returned unchanged.

    Examples
    --------
    >>> from gamedp.games.matches import MatchesState
    >>> shaped_like(MatchesState(0, 3), (1, 2)), shaped_like(MatchesState(0, 3), (1, 2, 3))
    (MatchesState(player=1, left=2), (1, 2, 3))
    """
    if type(state) is not tuple or levels < 0:
        return state
    fields = declared_fields(example)
    parts: Any = example if fields is None else tuple(fields.values())
    if not isinstance(parts, tuple) or len(parts) != len(state):
        return state
    items = [shaped_like(*pair, levels - 1) for pair in zip(parts, state, strict=True)]
    if fields is None:
        return tuple(items)
    try:
        return type(example)(**dict(zip(fields, items, strict=True)))
    except (TypeError, ValueError):  # its class refuses them
        return state


@attrs.frozen
class Layout:
    """The construction of a state from integers: a leaf, or an object of layouts.

    Attributes
    ----------
    kind : type or None
        ``int`` or ``bool`` for a leaf; the class of the fields, or ``tuple``, for a node.
    parts : tuple of Layout
        The layouts of a node's items.
    fields : tuple of str
        The names of a node's items; empty for a tuple.
    """

    kind: Any
    parts: tuple[Layout, ...] = ()
    fields: tuple[str, ...] = attrs.field(default=(), repr=False)

    @classmethod
    def of(cls, state: Any) -> Layout | None:
        """Return the layout of `state`, or None if it is not made of ints and tuples alone."""
        if isinstance(state, (bool, np.bool_)):
            return cls(bool)
        if isinstance(state, (int, np.integer)):
            return cls(int)
        fields = declared_fields(state)
        if not fields and not isinstance(state, tuple):
            return None
        parts = [cls.of(item) for item in (state if fields is None else fields.values())]
        if any(part is None for part in parts):
            return None
        known = tuple(part for part in parts if part is not None)
        return cls(type(state), known, tuple(fields or ()))

    @property
    def is_leaf(self) -> bool:
        """Whether this is a single integer."""
        return self.kind is int or self.kind is bool

    @property
    def is_compilable(self) -> bool:
        """Whether compiled rules can have such states: NamedTuples of ints and tuples of ints."""
        return not self.is_leaf and self._is_of_tuples

    @property
    def _is_of_tuples(self) -> bool:
        return self.is_leaf or (
            issubclass(self.kind, tuple) and all(part._is_of_tuples for part in self.parts)  # noqa: SLF001 - of this very class
        )

    def ranges(self) -> str:
        """Return what a game's `box` returns, in words for messages."""
        names = list(self.names())
        parts = [f"{name!r}: (first, last)" for name in names[:3]] + ["..."] * (len(names) > 3)
        return f"{{{', '.join(parts)}}}"

    def names(self, prefix: str = "") -> Iterator[str]:
        """Yield the fields' names in order: ``own``, ``board[3]``."""
        if self.is_leaf:
            yield prefix
            return
        for position, part in enumerate(self.parts):
            if not self.fields:
                yield from part.names(f"{prefix}[{position}]")
            else:
                name = self.fields[position]
                yield from part.names(f"{prefix}.{name}" if prefix else name)

    def flatten(self, state: Any) -> list[int]:
        """Return the integers of `state`; raise InvalidModelError if it is laid out otherwise."""
        fields: list[int] = []
        self._flatten_into(state, fields, state)
        return fields

    def _flatten_into(self, part: Any, fields: list[int], state: object) -> None:
        """Append the fields of a part of a state, in the order of the layout."""
        if self.is_leaf:
            try:
                fields.append(operator.index(bool(part) if isinstance(part, np.bool_) else part))
            except TypeError:
                message = (
                    f"{shown(part)} in {shown(state)} is not an integer, as it is in other states."
                )
                raise InvalidModelError(message) from None
            if self.kind is bool and fields[-1] not in {0, 1}:
                message = (
                    f"{shown(part)} in {shown(state)} is not a truth value, as it is in other "
                    "states."
                )
                raise InvalidModelError(message)
            return
        items = part
        if isinstance(part, self.kind) and not isinstance(part, tuple):
            items = tuple((declared_fields(part) or {}).values())
        if not isinstance(part, self.kind) or len(items) != len(self.parts):
            wanted = f"a {self.kind.__name__} of {len(self.parts)} items"
            place = "" if part is state else f" in {shown(state)}"
            message = (
                f"{shown(part)}{place} does not fit the states of this game: {wanted} is expected."
            )
            raise InvalidModelError(message)
        for item, layout in zip(items, self.parts, strict=True):
            if type(item) is int and layout.kind is int:
                fields.append(item)
            else:
                layout._flatten_into(item, fields, state)  # noqa: SLF001 - of this very class

    def build(self, fields: Iterator[int]) -> Any:
        """Return the state made of the next integers of `fields`."""
        if self.is_leaf:
            return self.kind(next(fields))
        items = [part.build(fields) for part in self.parts]
        if self.kind is tuple:
            return tuple(items)
        if issubclass(self.kind, tuple):
            return self.kind(*items)
        return self.kind(**dict(zip(self.fields, items, strict=True)))


def rows_of_box(box: Sequence[tuple[int, int]]) -> Iterator[NDArray[np.int64]]:
    """Yield the fields of the states of a box, in slices; the first field runs fastest."""
    low = np.array([first for first, _ in box], np.int64)
    extents = [last + 1 - first for first, last in reversed(box)]
    total = math.prod(extents)
    for first in range(0, total, SLICE):
        numbers = np.arange(first, min(first + SLICE, total))
        yield np.stack(np.unravel_index(numbers, extents)[::-1], axis=1) + low


@attrs.frozen(eq=False)
class Codec:
    """Mixed-radix packing of a state's fields into 64-bit words.

    Attributes
    ----------
    low, high : (K,) int64
        Field k takes values ``low[k] <= value < high[k]``.
    stride, word : (K,) int64
        Field k contributes ``(value - low[k]) * stride[k]`` to word ``word[k]``. A field whose
        range exceeds a word's limit, or ends where 64 bits do, has stride 0 and a word of its own
        that holds it unchanged.
    num_words : int
        Words of a code.
    size : int
        The number of codes if one word suffices, else 0.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    stride: NDArray[np.int64]
    word: NDArray[np.int64]
    num_words: int
    size: int

    @classmethod
    def of_ranges(cls, low: Sequence[int], high: Sequence[int]) -> Codec:
        """Lay out words for fields with values in ``low[k] .. high[k] - 1``."""
        strides, words = [], []
        word, product = 0, 1
        for lowest, end in zip(low, high, strict=True):
            extent = end - lowest
            if extent > WORD_LIMIT or end > MAX_INT64:
                word += product > 1
                strides.append(0)
                words.append(word)
                word, product = word + 1, 1
                continue
            if product * extent > WORD_LIMIT:
                word, product = word + 1, 1
            strides.append(product)
            words.append(word)
            product *= extent
        num_words = max(words, default=0) + 1
        wide = any(stride == 0 for stride in strides)
        return cls(
            # The ends of a wide field are not used; clipped so that they fit.
            np.array([max(value, -(2**63)) for value in low], np.int64),
            np.array([min(value, MAX_INT64) for value in high], np.int64),
            np.array(strides, np.int64),
            np.array(words, np.int64),
            num_words,
            0 if wide or num_words > 1 else product,
        )

    def pack(self, fields: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the codes (n, W) of the rows of `fields` (n, K), which must be in range."""
        codes = np.zeros((len(fields), self.num_words), np.int64)
        for k, (stride, word) in enumerate(zip(self.stride, self.word, strict=True)):
            if stride == 0:
                codes[:, word] = fields[:, k]
            else:
                codes[:, word] += (fields[:, k] - self.low[k]) * stride
        return codes

    def unpack(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the fields (n, K) of `codes` (n, W)."""
        fields = np.empty((len(codes), len(self.low)), np.int64)
        rests = codes.copy()
        # The last field of a word has the largest stride: so one division a field is enough.
        for k in reversed(range(len(self.low))):
            stride, rest = self.stride[k], rests[:, self.word[k]]
            if stride == 0:
                fields[:, k] = rest
                rest[:] = 0  # for the fields before it in its word, which have one value
            else:
                digits = rest // stride
                rest -= digits * stride
                fields[:, k] = digits + self.low[k]
        return fields

    def contains(self, fields: Sequence[int]) -> bool:
        """Return whether every field is in its range."""
        return all(
            (stride == 0 and -(2**63) <= value < 2**63) or low <= value < high
            for value, (low, high, stride, _) in zip(fields, self._columns, strict=True)
        )

    def code(self, fields: Sequence[int]) -> tuple[int, ...]:
        """Return the code of one state, as :meth:`pack` returns those of many."""
        words = [0] * self.num_words
        for value, (low, _, stride, word) in zip(fields, self._columns, strict=True):
            words[word] += (value - low) * stride if stride else value
        return tuple(words)

    @functools.cached_property
    def _columns(self) -> list[tuple[int, int, int, int]]:
        """Low, high, stride and word of each field, as Python's integers."""
        columns = (each.tolist() for each in (self.low, self.high, self.stride, self.word))
        return list(zip(*columns, strict=True))


class StateTable(Protocol):
    """The states of a model, in the order of their indices."""

    def __len__(self) -> int:
        """Return the number of states."""

    def state(self, index: int) -> Any:
        """Return the state with an index."""

    def index(self, state: Hashable) -> int:
        """Return the index of `state`; raise UnknownStateError if there is none."""

    def own(self, state: Any) -> Any:
        """Return the state whose fields are the items of a tuple; anything else unchanged."""


@attrs.frozen(eq=False)
class PackedTable:
    """States as packed codes, decoded when asked for.

    Attributes
    ----------
    layout : Layout
    codec : Codec
    codes : (S, W) int64
        Read-only.
    """

    layout: Layout
    codec: Codec
    codes: NDArray[np.int64]
    _sorted: list[NDArray[np.int64]] = attrs.field(factory=list, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Lock the codes."""
        self.codes.flags.writeable = False

    def __reduce__(self) -> tuple[type[PackedTable], tuple[Any, ...]]:
        # Made anew, the codes are locked again, and the look-up is sorted when first asked for.
        return PackedTable, (self.layout, self.codec, self.codes)

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.codes)

    def state(self, index: int) -> Any:
        """Return the state with an index."""
        fields = self.codec.unpack(self.codes[index : index + 1])[0]
        return self.layout.build(iter(fields.tolist()))

    def fields(self) -> NDArray[np.int64]:
        """Return all states' fields as one (S, K) array; its columns are `Layout.names`."""
        return self.codec.unpack(self.codes)

    def index(self, state: Hashable) -> int:
        """Return the index of `state`; raise UnknownStateError if there is none."""
        try:
            fields = self.layout.flatten(state)
        except InvalidModelError as error:
            raise UnknownStateError(str(error)) from None
        if self.codec.contains(fields):
            code = self.codec.code(fields)
            order, keys = self._lookup()
            key = np.array(code if len(code) > 1 else code[0], keys.dtype)
            place = int(keys.searchsorted(key))
            if place < len(keys) and keys[place] == key:
                return int(order[place])
        message = (
            f"{shown(state)} is not a state of this model: it cannot be reached from the start."
        )
        unreached = UnknownStateError(message)
        unreached.add_note(  # not for commands and pages, which take no `states`
            "For a table of all states, reached or not, let the game have a method box() that "
            f'returns {self.layout.ranges()}, and say states="all" to gamedp.solve.'
        )
        raise unreached

    def own(self, state: Any) -> Any:
        """Return the state whose fields are the items of a tuple; anything else unchanged."""
        return shaped_like(self._example, state) if type(state) is tuple else state

    @functools.cached_property
    def _example(self) -> Any:
        return self.state(0) if len(self) else None

    def _lookup(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Sort the codes once, on the first look-up."""
        if not self._sorted:
            keys = _as_keys(self.codes)
            order = np.argsort(keys, kind="stable")
            self._sorted.extend((order, keys[order]))
        return self._sorted[0], self._sorted[1]


def _as_keys(codes: NDArray[np.int64]) -> NDArray[Any]:
    """View (n, W) codes as n sortable keys."""
    if codes.shape[1] == 1:
        return codes[:, 0]
    names = [f"w{position}" for position in range(codes.shape[1])]
    return np.ascontiguousarray(codes).view([(name, np.int64) for name in names])[:, 0]


@attrs.frozen(eq=False)
class ObjectTable:
    """States as the hashable objects that the rules yield."""

    objects: list[Any]
    indices: dict[Any, int]

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.objects)

    def state(self, index: int) -> Any:
        """Return the state with an index."""
        return self.objects[index]

    def index(self, state: Hashable) -> int:
        """Return the index of `state`; raise UnknownStateError if there is none."""
        try:
            return self.indices[state]
        except KeyError:
            message = f"{shown(state)} is not a state of this model."
            raise UnknownStateError(message) from None

    def own(self, state: Any) -> Any:
        """Return the state whose fields are the items of a tuple; anything else unchanged.

        Raises
        ------
        UnknownStateError
            If there are several such states, of different classes.
        """
        if type(state) is not tuple:
            return state
        shaped = [shaped_like(example, state) for example in self._examples]
        found = {self.indices[each]: each for each in (state, *shaped) if each in self.indices}
        if len(found) > 1:
            listed = " or ".join(shown(each) for each in found.values())
            message = f"{shown(state)} may be {listed}; name the class."
            raise UnknownStateError(message)
        if found:
            return self.objects[next(iter(found))]
        return shaped[0] if len(shaped) == 1 else state

    @functools.cached_property
    def _examples(self) -> list[Any]:
        """One state of each class."""
        return list({type(each): each for each in reversed(self.objects)}.values())
