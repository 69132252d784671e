"""Pictures of positions, as returned by a game's ``view(state)``.

A view describes the content of a picture, not its drawing: the page in the browser draws shapes,
the terminal letters (`str` of a view). It is plain data of bounded size, and needs no other part of
this library. `spots` says which part of the picture plays which action: the action itself if it is
an integer, else its place among the actions of the state. The place of a part is a tuple of whole
numbers from 0, which each class explains.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from gamedp.errors import InvalidParameterError, shown

__all__ = [
    "Card",
    "Dice",
    "Grid",
    "Heaps",
    "Pattern",
    "Pits",
    "Scores",
    "Text",
    "View",
    "to_plain",
]

MOST_PARTS = 4096
"""Largest number of heaps, cells, dice or rows of a view, and of spots."""

MOST_LETTERS = 20_000
"""Largest number of characters in a text of a view."""

MAX_BROWSER_INTEGER = 2**53 - 1
"""The largest number that a browser holds exactly."""

MAX_STROKES = 40
"""Largest number of strokes of a heap or a bar in the terminal, if they fit."""

COLUMNS = 80
"""Default width of the terminal in characters."""

CLAIMS = ("win", "draw", "loss")
"""Results that a pattern may claim for the player to move."""

Place: TypeAlias = tuple[int, ...]


def _refused(view: object, problem: str) -> InvalidParameterError:
    return InvalidParameterError(f"{type(view).__name__}: {problem}.")


def _tuple(values: Any) -> Any:
    """Convert a sequence and the sequences in it to tuples; leave anything else.

    A sequence that is too large for a view is read only as far as needed to see that: of MOST_PARTS
    rows with MOST_PARTS entries in all, each is read, and so is the end of all of them.
    """
    return _few(values, iter(range(3 * MOST_PARTS + 2)), 2)


def _few(values: Any, left: Iterator[int], depth: int) -> Any:
    if depth == 0 or isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        return _whole(values)
    return tuple(_few(value, left, depth - 1) for _, value in zip(left, values, strict=False))


def _whole(value: Any) -> Any:
    """Convert integers of other libraries to ints; leave anything else to the validator."""
    if value is None or isinstance(value, (bool, str)):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value


def _spots(spots: Any) -> Any:
    """Convert the keys of a mapping to ints and its places to tuples."""
    if not isinstance(spots, Mapping):
        return spots
    return {_whole(action): _tuple(place) for action, place in spots.items()}


def _is_whole(value: object, least: int = 0) -> bool:
    return type(value) is int and least <= value <= MAX_BROWSER_INTEGER


def _check_sequence(view: object, name: str, values: Any, what: str) -> None:
    if not isinstance(values, tuple):
        raise _refused(view, f"{name} must be a sequence of {what}, not {shown(values)}")
    if len(values) > MOST_PARTS:
        raise _refused(view, f"{name} has more than {MOST_PARTS:,} entries")


def _check_wholes(view: object, name: str, values: Any) -> None:
    """Require a tuple of non-negative integers."""
    _check_sequence(view, name, values, "whole numbers")
    for value in values:
        if not _is_whole(value):
            problem = (
                f"{name} must be whole numbers, 0 to {MAX_BROWSER_INTEGER}, not {shown(value)}"
            )
            raise _refused(view, problem)


def _check_table(view: object, rows: Any, what: str) -> None:
    """Require a sequence of rows with at most MOST_PARTS entries in all."""
    _check_sequence(view, "rows", rows, what)
    if sum(len(row) for row in rows if isinstance(row, tuple)) > MOST_PARTS:
        raise _refused(view, f"rows have more than {MOST_PARTS:,} entries in all")


def _check_rows(view: object, rows: Any) -> None:
    """Require rows of integers, all of the same length."""
    _check_table(view, rows, "rows of whole numbers")
    for row in rows:
        _check_wholes(view, "rows", row)
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise _refused(view, f"rows must be equally long; they have {sorted(lengths)} entries")


def _check_texts(view: object, name: str, texts: Any) -> None:
    _check_sequence(view, name, texts, "texts")
    for text in texts:
        _check_text(view, name, text)


def _check_text(view: object, name: str, text: object, most: int = 200) -> None:
    if not isinstance(text, str):
        raise _refused(view, f"{name} must be text, not {shown(text)}")
    if len(text) > most:
        raise _refused(view, f"{name} has {len(text):,} letters; the most is {most:,}")


@attrs.frozen
class _Picture:
    """Base class of all pictures: which part of them plays which action."""

    spots: dict[int, Place] = attrs.field(
        factory=dict, converter=_spots, kw_only=True, hash=False, repr=False
    )

    def __attrs_post_init__(self) -> None:
        """Check all fields; `_has` of a class says where a spot may be."""
        self._check()
        spots = self.spots
        if not isinstance(spots, dict):
            raise _refused(self, f"spots must map actions to places, not {shown(spots)}")
        if len(spots) > MOST_PARTS:
            raise _refused(self, f"spots has {len(spots):,} entries; the most is {MOST_PARTS:,}")
        for action, place in spots.items():
            if not _is_whole(action, -MAX_BROWSER_INTEGER):
                raise _refused(self, f"spots names {shown(action)}, which is not a whole number")
            if not self._has(place):
                problem = f"spots puts action {action} at {shown(place)}, and there is no such part"
                raise _refused(self, problem)

    def _check(self) -> None:
        raise NotImplementedError  # each kind of view has limits of its own

    def _has(self, place: Any) -> bool:
        """Return whether the picture has a part at a place."""
        raise NotImplementedError  # each kind of view has parts of its own

    def draw(self, columns: int = COLUMNS) -> str:
        """Return the picture in characters, in lines of at most `columns` characters if possible.

        Parameters
        ----------
        columns : int
            Heaps and bars are shortened to fit; other pictures have the width that they need.

        Returns
        -------
        str
        """
        raise NotImplementedError  # each kind of view has a drawing of its own

    def __str__(self) -> str:
        """Return the picture in characters."""
        return self.draw()


def _is_place(place: Any, *lengths: int) -> bool:
    """Return whether a place has, for each length, an index from 0 to below that length."""
    return (
        isinstance(place, tuple)
        and len(place) == len(lengths)
        and all(
            _is_whole(number) and number < length
            for number, length in zip(place, lengths, strict=True)
        )
    )


@attrs.frozen
class Heaps(_Picture):
    """Heaps of matches or the like.

    Parameters
    ----------
    counts : sequence of int
        The size of each heap.
    spots : mapping of int to (int, int), optional
        For an action, the heap, from 0, and the number that the action takes from it.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the arguments do not make a picture.

    Examples
    --------
    >>> print(Heaps((3, 5), spots={1: (0, 1)}))
    1  | | |      3
    2  | | | | |  5
    """

    counts: tuple[int, ...] = attrs.field(converter=_tuple)

    def _check(self) -> None:
        _check_wholes(self, "counts", self.counts)

    def _has(self, place: Any) -> bool:
        if not (isinstance(place, tuple) and len(place) == 2):
            return False
        heap, taken = place
        return _is_place((heap,), len(self.counts)) and (
            _is_whole(taken, 1) and taken <= self.counts[heap]
        )

    def draw(self, columns: int = COLUMNS) -> str:
        """Return a line for each heap, with a stroke for each that is there."""
        most, first = max(self.counts, default=0), len(str(len(self.counts)))
        room = max(columns - first - len(str(most)) - 4, 1)
        for gap, limit in ((" ", MAX_STROKES), ("", MAX_STROKES), ("", max(room - 4, 1))):
            strokes = [_strokes(count, gap, limit) for count in self.counts]
            width = max(map(len, strokes), default=0)
            if width <= room:
                break
        return "\n".join(
            f"{number:>{first}}  {line:{width}}  {count}"
            for number, (line, count) in enumerate(zip(strokes, self.counts, strict=True), start=1)
        )


def _strokes(count: int, gap: str, limit: int) -> str:
    """Return `count` strokes, or as many as fit and three dots."""
    return gap.join("|" * min(count, limit)) + (" ..." if count > limit else "")


@attrs.frozen
class Pits(_Picture):
    """A board of pits with stones, row below row, and a store at the end of each row.

    Stones are sown anticlockwise. Of two rows, the upper one's store lies to the left and the
    lower one's to the right, as between two players; of more, each to the right of its row.

    Parameters
    ----------
    rows : sequence of sequences of int
        The stones in the pits as they are seen, the upper row first, each from left to right.
    stores : sequence of int
        The stones in the store of each row.
    names : sequence of str, optional
        The owner of each row.
    pit_names : sequence of sequences of str, optional
        The name of each pit, as `rows`.
    spots : mapping of int to (int, int), optional
        For an action, the row and the place in it, as they are seen, from 0.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the arguments do not make a picture.

    Examples
    --------
    >>> print(Pits(rows=((3, 0), (1, 12)), stores=(4, 2), names=("second", "first")))
    second      3  0
             4        2
    first       1 12
    >>> print(Pits(rows=((3, 0), (1, 12)), stores=(4, 2), pit_names=(("2", "1"), ("1", "2"))))
          2  1
          3  0
       4        2
          1 12
          1  2
    """

    rows: tuple[tuple[int, ...], ...] = attrs.field(converter=_tuple)
    stores: tuple[int, ...] = attrs.field(converter=_tuple)
    names: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    pit_names: tuple[tuple[str, ...], ...] = attrs.field(default=(), converter=_tuple)

    def _check(self) -> None:
        _check_rows(self, self.rows)
        _check_wholes(self, "stores", self.stores)
        _check_sequence(self, "pit_names", self.pit_names, "rows of texts")
        for row in self.pit_names:
            _check_texts(self, "pit_names", row)
        if self.pit_names and [*map(len, self.pit_names)] != [*map(len, self.rows)]:
            raise _refused(self, "pit_names must have a name for each pit of the rows, or none")
        _check_texts(self, "names", self.names)
        if len(self.stores) != len(self.rows):
            problem = f"{len(self.stores)} stores and {len(self.rows)} rows; give each row one"
            raise _refused(self, problem)
        if self.names and len(self.names) != len(self.rows):
            problem = f"{len(self.names)} names and {len(self.rows)} rows; give each row one"
            raise _refused(self, problem)

    def _has(self, place: Any) -> bool:
        return _is_place(place, len(self.rows), len(self.rows[0]) if self.rows else 0)

    def draw(self, columns: int = COLUMNS) -> str:  # noqa: ARG002 - it needs what it needs
        """Return the numbers where the pits are, and their names above and below."""
        texts = [str(number) for row in (self.stores, *self.rows) for number in row]
        texts += [name for row in self.pit_names for name in row]
        cell = max(map(len, texts), default=1)
        names = self.names or ("",) * len(self.rows)
        first = max(map(len, names), default=0)
        lines = [" ".join(f"{stones:{cell}}" for stones in row) for row in self.rows]
        called = [" ".join(f"{name:>{cell}}" for name in row) for row in self.pit_names]
        if len(self.rows) != 2:
            drawn = []
            for row, (name, line) in enumerate(zip(names, lines, strict=True)):
                drawn.append(f"{name:{first}}  {line}  {self.stores[row]:{cell + 2}}")
                if called and called[row : row + 1] != called[row + 1 : row + 2]:
                    drawn.append(f"{'':{first}}  {called[row]}")
            return "\n".join(drawn)
        left, right = self.stores
        margin, between = " " * cell, " " * len(lines[0])
        drawn = [
            f"{names[0]:{first}}  {margin} {lines[0]}",
            f"{'':{first}}  {left:{cell}} {between} {right:{cell}}",
            f"{names[1]:{first}}  {margin} {lines[1]}",
        ]
        above, below = [[f"{'':{first}}  {margin} {line}"] for line in called] or ([], [])
        return "\n".join([*above, *drawn, *below])


@attrs.frozen
class Grid(_Picture):
    """A board of cells, each with a symbol or empty.

    Parameters
    ----------
    rows : sequence of sequences of int
        The number of each cell's symbol, the upper row first.
    symbols : sequence of str
        The symbols by their numbers; a blank or an empty text is an empty cell.
    row_names, column_names : sequence of str, optional
        The name of each row and each column, as actions use them.
    spots : mapping of int to (int, int), optional
        For an action, the row and the column of a cell, from 0.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the arguments do not make a picture.

    Examples
    --------
    >>> print(Grid(rows=((1, 0, 0), (0, 2, 1)), symbols=("", "X", "O")))
    X . .
    . O X
    >>> print(Grid(((1, 0), (0, 2)), ("", "X", "O"), row_names=("2", "1"), column_names=("a", "b")))
    2 X .
    1 . O
      a b
    """

    rows: tuple[tuple[int, ...], ...] = attrs.field(converter=_tuple)
    symbols: tuple[str, ...] = attrs.field(converter=_tuple)
    row_names: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    column_names: tuple[str, ...] = attrs.field(default=(), converter=_tuple)

    def _check(self) -> None:
        _check_rows(self, self.rows)
        _check_texts(self, "symbols", self.symbols)
        lengths = {
            "row_names": len(self.rows),
            "column_names": len(self.rows[0]) if self.rows else 0,
        }
        for field, length in lengths.items():
            names = getattr(self, field)
            _check_texts(self, field, names)
            if names and len(names) != length:
                raise _refused(self, f"{field} has {len(names)} entries, and must have {length}")
        for row in self.rows:
            for symbol in row:
                if symbol >= len(self.symbols):
                    problem = f"a cell has symbol {symbol}, and there are {len(self.symbols)}"
                    raise _refused(self, problem)

    def _has(self, place: Any) -> bool:
        return _is_place(place, len(self.rows), len(self.rows[0]) if self.rows else 0)

    def draw(self, columns: int = COLUMNS) -> str:  # noqa: ARG002 - it needs what it needs
        """Return the symbols, dots for empty cells, and the names of rows and columns."""
        symbols = [symbol.strip() or "." for symbol in self.symbols]
        width = max(map(len, (*symbols, *self.column_names)), default=1)
        lines = [[symbols[number] for number in row] for row in self.rows]
        names = list(self.row_names) or [""] * len(lines)
        if self.column_names:
            lines, names = [*lines, list(self.column_names)], [*names, ""]
        first = max(map(len, names), default=0)
        return "\n".join(
            (
                f"{name:{first}} " * bool(first) + " ".join(f"{each:{width}}" for each in line)
            ).rstrip()
            for name, line in zip(names, lines, strict=True)
        )


@attrs.frozen
class Dice(_Picture):
    """Dice on the table.

    Parameters
    ----------
    faces : sequence of int
        The face of each die.
    kept : sequence of bool, optional
        Whether the die stays on the table; if not given, none does.
    spots : mapping of int to (int,), optional
        For an action, the number of a die, from 0.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the arguments do not make a picture.

    Examples
    --------
    >>> print(Dice((3, 3, 6), kept=(True, True, False)))
    [3] [3]  6
    """

    faces: tuple[int, ...] = attrs.field(converter=_tuple)
    kept: tuple[bool, ...] = attrs.field(default=(), converter=_tuple)

    def _check(self) -> None:
        _check_wholes(self, "faces", self.faces)
        _check_sequence(self, "kept", self.kept, "truth values")
        if any(type(each) is not bool for each in self.kept):
            raise _refused(self, f"kept must be truth values, not {shown(self.kept)}")
        if self.kept and len(self.kept) != len(self.faces):
            problem = f"kept says it of {len(self.kept)} dice, and there are {len(self.faces)}"
            raise _refused(self, problem)

    def _has(self, place: Any) -> bool:
        return _is_place(place, len(self.faces))

    def draw(self, columns: int = COLUMNS) -> str:  # noqa: ARG002 - it needs what it needs
        """Return the faces, those that stay in brackets."""
        kept = self.kept or (False,) * len(self.faces)
        return " ".join(
            f"[{face}]" if stays else f" {face} "
            for face, stays in zip(self.faces, kept, strict=True)
        ).rstrip()


@attrs.frozen
class Card(_Picture):
    """A card with lines to be filled in, such as a score sheet.

    Parameters
    ----------
    rows : sequence of sequences
        For each line its name, then an entry for each column: an integer, a text, or None for an
        empty one.
    spots : mapping of int to (int,), optional
        For an action, the number of a line, from 0.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the arguments do not make a picture.

    Examples
    --------
    >>> print(Card((("Ones", 3), ("Twos", None))))
    Ones  3
    Twos  -
    """

    rows: tuple[tuple[Any, ...], ...] = attrs.field(converter=_tuple)

    def _check(self) -> None:
        _check_table(self, self.rows, "lines")
        for row in self.rows:
            _check_sequence(self, "rows", row, "a name and entries")
            _check_text(self, "the name of a line", row[0] if row else None)
            for entry in row[1:]:
                if isinstance(entry, str):
                    _check_text(self, "an entry", entry)
                elif entry is not None and not _is_whole(entry, -MAX_BROWSER_INTEGER):
                    problem = f"an entry must be a whole number, text or None, not {shown(entry)}"
                    raise _refused(self, problem)
        if len({len(row) for row in self.rows}) > 1:
            raise _refused(self, "all lines must have equally many entries")

    def _has(self, place: Any) -> bool:
        return _is_place(place, len(self.rows))

    def draw(self, columns: int = COLUMNS) -> str:  # noqa: ARG002 - it needs what it needs
        """Return the lines below each other, with a dash for each empty entry."""
        first = max((len(row[0]) for row in self.rows), default=0)
        entries = [["-" if entry is None else str(entry) for entry in row[1:]] for row in self.rows]
        width = max((len(entry) for line in entries for entry in line), default=0)
        return "\n".join(
            f"{row[0]:{first}}  " + "  ".join(f"{entry:>{width}}" for entry in line)
            for row, line in zip(self.rows, entries, strict=True)
        )


@attrs.frozen
class Scores(_Picture):
    """The score of each player, as bars up to a goal.

    Parameters
    ----------
    rows : sequence of sequences
        For each player the name, then integers that add up: first the safe points, then the others.
    most : int
        The length of a full bar.
    spots : mapping of int to (int,), optional
        For an action, the number of a row, from 0.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the arguments do not make a picture.

    Examples
    --------
    >>> print(Scores((("first", 10, 5), ("second", 20)), most=40))
    first   ##########.....                           10 + 5
    second  ####################                      20
            up to 40
    """

    rows: tuple[tuple[Any, ...], ...] = attrs.field(converter=_tuple)
    most: int = attrs.field(converter=_whole)

    def _check(self) -> None:
        if not _is_whole(self.most, 1):
            raise _refused(self, f"most must be a whole number from 1, not {shown(self.most)}")
        _check_table(self, self.rows, "rows")
        for row in self.rows:
            _check_sequence(self, "rows", row, "a name and numbers")
            _check_text(self, "the name of a row", row[0] if row else None)
            _check_wholes(self, "rows", row[1:])

    def _has(self, place: Any) -> bool:
        return _is_place(place, len(self.rows))

    def draw(self, columns: int = COLUMNS) -> str:
        """Return bars, with crosses for safe points, followed by the numbers."""
        first = max((len(row[0]) for row in self.rows), default=0)
        numbers = [" + ".join(map(str, parts)) for _, *parts in self.rows]
        room = columns - first - max(map(len, numbers), default=0) - 4
        width = max(min(room, MAX_STROKES), 5)
        lines = []
        for (name, *parts), known in zip(self.rows, numbers, strict=True):
            bar, total = "", 0
            for number, part in enumerate(parts):
                total += part
                length = min(total, self.most) * width // self.most
                bar = f"{bar:{'.' if number else '#'}<{length}}"
            lines.append(f"{name:{first}}  {bar:{width}}  {known}")
        return "\n".join([*lines, f"{'':{first}}  up to {self.most}"])


@attrs.frozen
class Text(_Picture):
    """A position in words, or drawn with letters.

    Parameters
    ----------
    text : str
    spots : mapping, optional
        Must be empty: no part of a text plays an action.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If `text` is not a text, or too long.

    Examples
    --------
    >>> print(Text("white to move"))
    white to move
    """

    text: str

    def _check(self) -> None:
        _check_text(self, "text", self.text, MOST_LETTERS)

    def _has(self, place: Any) -> bool:  # noqa: ARG002 - of no place at all
        return False

    def draw(self, columns: int = COLUMNS) -> str:  # noqa: ARG002 - it is as wide as it is
        """Return the text itself."""
        return self.text


View: TypeAlias = Heaps | Pits | Grid | Dice | Card | Scores | Text
"""The types that ``view(state)`` of a game may return."""

KINDS: tuple[type[_Picture], ...] = (Heaps, Pits, Grid, Dice, Card, Scores, Text)


def _row(pairs: Any) -> Any:
    """Convert a sequence to a tuple, its states left as they are; leave anything else."""
    if isinstance(pairs, (str, bytes, Mapping)) or not isinstance(pairs, Iterable):
        return pairs
    return tuple(itertools.islice(pairs, MOST_PARTS + 1))


@attrs.frozen
class Pattern:
    """A pattern of why positions are won or lost, as returned by a game's ``pattern(state)``.

    The page in the browser holds it against the solution: `words` are shown only where `claim` is
    proven there, and each position of `row` is coloured by what its player to move is proven to
    get.

    Parameters
    ----------
    words : str
        What the pattern says of this position, such as ``the nim-sum is 0``.
    claim : {"", "win", "draw", "loss"}
        What `words` say that the player to move gets; empty if they say nothing of it.
    view : View, optional
        A picture of the pattern.
    row : sequence of (str, state)
        Positions side by side, each with a short name: all numbers of matches, for example.
    here : int, optional
        The place in `row` of the position itself.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the arguments are none of these.

    Examples
    --------
    >>> Pattern("the nim-sum is 0", claim="loss", view=Card((("sum", "0 0 0"),))).claim
    'loss'
    """

    words: str = ""
    claim: str = attrs.field(default="", kw_only=True)
    view: View | None = attrs.field(default=None, kw_only=True)
    row: Sequence[tuple[str, Any]] = attrs.field(default=(), converter=_row, kw_only=True)
    here: int | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Check all fields."""
        _check_text(self, "words", self.words)
        if self.claim not in ("", *CLAIMS):
            raise _refused(self, f"claim is {shown(self.claim)}; it is one of {', '.join(CLAIMS)}")
        if not (self.view is None or isinstance(self.view, View)):
            raise _refused(self, f"view is {shown(self.view)}, and no view")
        pairs: Any = self.row
        _check_sequence(self, "row", pairs, "(name, state) pairs")
        for pair in pairs:
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise _refused(self, f"row has {shown(pair)}, which is not a (name, state) pair")
            _check_text(self, "row", pair[0])
        if not (self.here is None or _is_place((self.here,), len(self.row))):
            raise _refused(self, f"here is {shown(self.here)}, which is not a place in the row")


def to_plain(view: View) -> dict[str, Any]:
    """Return a view as JSON data: its kind, its fields, its spots and its text.

    Parameters
    ----------
    view : View

    Returns
    -------
    dict
        ``kind``, the name of the class in small letters; each field by its name, tuples as lists;
        ``spots``, a list of ``{"action": int, "place": [int, ...]}``; ``text``, the drawing for
        the terminal.

    Raises
    ------
    TypeError
        If `view` is not a view.

    Examples
    --------
    >>> to_plain(Heaps((1,), spots={1: (0, 1)}))  # doctest: +NORMALIZE_WHITESPACE
    {'kind': 'heaps', 'counts': [1], 'spots': [{'action': 1, 'place': [0, 1]}],
     'text': '1  |  1'}
    """
    if type(view) not in KINDS:
        names = ", ".join(kind.__name__ for kind in KINDS)
        message = f"{shown(view)} is not a view; a view is one of gamedp.views: {names}."
        raise TypeError(message)
    fields = {
        field.name: _as_lists(getattr(view, field.name))
        for field in attrs.fields(type(view))
        if field.name != "spots"
    }
    spots = [{"action": action, "place": list(place)} for action, place in view.spots.items()]
    return {"kind": type(view).__name__.lower(), **fields, "spots": spots, "text": str(view)}


def _as_lists(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_as_lists(item) for item in value]
    return value
