"""Octal games: taking from heaps and splitting them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, shown
from gamedp.rules.game import with_item
from gamedp.runtime.machine import available_bytes
from gamedp.runtime.options import checked_whole
from gamedp.runtime.slices import HEAPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE, SINGLE, SPLIT = 1, 2, 4
"""The bits of a digit: take a whole heap; take from a larger one; take, and split the rest."""

BYTES_OF_A_VALUE = 28
"""Bytes that each value of a period takes while they are put together."""

FIRST_SIZE = 256
"""Number of heaps computed before the first look for a period; it doubles from there on."""


class OctalPosition(NamedTuple):
    """A position of :class:`OctalGame`: the player to move, and how many heaps of each size."""

    player: int
    counts: tuple[int, ...]


@attrs.frozen
class Periodicity:
    """A proof that the nim-values of heaps repeat for ever from some size on.

    Attributes
    ----------
    period : int
        The smallest period.
    preperiod : int
        The smallest size n such that a heap of m + `period` has the same value as a heap of m for
        all m >= n.
    exceptions : tuple of int
        The sizes below `preperiod` whose value differs from what repetition from the beginning
        would give, ascending; including the empty heap, if it is one of them.
    known_up_to : int
        The largest heap whose value the proof needs.
    """

    period: int
    preperiod: int
    exceptions: tuple[int, ...]
    known_up_to: int

    def __str__(self) -> str:
        """Return the period in one line."""
        return (
            f"period {self.period:,} from heaps of {self.preperiod:,} on, proven by the values up "
            f"to {self.known_up_to:,}"
        )


def _as_whole(value: Any) -> Any:
    """Convert integers of other libraries to ints; leave anything else to the validator."""
    try:
        return value if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return value


def _digits(code: Any) -> Any:
    """Convert ``"0.77"`` to (0, 7, 7); leave an invalid code to the validator."""
    if isinstance(code, str):
        before, point, after = code.strip().partition(".")
        text = (before or "0") + after
        if not point or len(before) > 1 or not set(text) <= set("01234567"):
            return code
        code = [int(digit) for digit in text]
    if not isinstance(code, Iterable) or isinstance(code, str):
        return code
    digits = [_as_whole(digit) for digit in code]
    while len(digits) > 1 and digits[-1] == 0:
        digits.pop()
    return tuple(digits)


def _is_code(_game: object, _attribute: object, code: Any) -> None:
    """Refuse an invalid code."""
    wanted = (
        "a text like '0.77': one digit, which is 0 or 4, a point, and digits from 0 to 7, not all 0"
    )
    is_code = isinstance(code, tuple) and all(type(d) is int and 0 <= d < 8 for d in code)
    if not is_code or not any(code) or code[0] not in (0, SPLIT):
        message = f"code is {shown(code)}; an octal game is given by {wanted}."
        raise InvalidParameterError(message)


def _in_words(code: tuple[int, ...]) -> str:
    """Return the code as it is usually written."""
    return f"{code[0]}.{''.join(map(str, code[1:]))}"


def _whole_tuple(values: Any) -> Any:
    if isinstance(values, Iterable) and not isinstance(values, str):
        return tuple(_as_whole(value) for value in values)
    return (_as_whole(values),)


def _are_sizes(_game: object, attribute: Any, sizes: tuple[Any, ...]) -> None:
    if not all(type(size) is int and size >= 0 for size in sizes):
        message = f"{attribute.name} must be whole numbers from 0 on, not {shown(sizes)}."
        raise InvalidParameterError(message)


@attrs.frozen
class OctalGame:
    """A game of taking and splitting heaps, by its octal code; a player who cannot move loses.

    A move takes some matches from one heap. The k-th digit after the point says what may be done
    with the heap when k are taken: 1 if they may be the whole heap, plus 2 if the rest may be left
    as one heap, plus 4 if it may be left as two. A 4 before the point allows splitting a heap
    without taking any [1]_. So 0.77 is Kayles, 0.137 Dawson's chess, 0.333 the game in which 1, 2
    or 3 are taken, and 4.3 also has a move that only splits.

    As a game for :func:`gamedp.solve` and :func:`gamedp.sums.grundy_values`, it begins with
    `heaps`. `grundy_sequence` and `periodicity` are about single heaps, up to sizes that no table
    of positions could hold; the value of several heaps is the :func:`gamedp.sums.nim_sum` of their
    values.

    Parameters
    ----------
    code : str
        Or the digits, the one before the point first.
    heaps : tuple of int
        The sizes of the heaps at the start.

    Raises
    ------
    InvalidParameterError
        If the code or the sizes are not those of a game.

    References
    ----------
    .. [1] R. K. Guy, C. A. B. Smith, "The G-values of various games", Proceedings of the Cambridge
       Philosophical Society 52 (1956).

    Examples
    --------
    >>> import gamedp
    >>> kayles = gamedp.sums.OctalGame("0.77", heaps=(3, 5))
    >>> kayles.grundy_sequence(12).tolist()
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4]
    >>> gamedp.sums.grundy_value(kayles, compile="never") == 3 ^ 4
    True
    >>> print(kayles.periodicity())
    period 12 from heaps of 71 on, proven by the values up to 167
    """

    code: tuple[int, ...] = attrs.field(
        converter=_digits, validator=_is_code, repr=lambda code: repr(_in_words(code))
    )
    heaps: tuple[int, ...] = attrs.field(default=(), converter=_whole_tuple, validator=_are_sizes)

    num_players = 2
    constant_sum = 0.0
    acyclic = True

    @classmethod
    def of_takes(cls, takes: Iterable[int], heaps: Iterable[int] = ()) -> OctalGame:
        """Return the subtraction game in which a move takes one of the numbers `takes` from a heap.

        Subtraction games always have a period: a value is at most the number of `takes`, and
        follows from the ``max(takes)`` values before it, of which there are finitely many
        combinations.

        Examples
        --------
        >>> OctalGame.of_takes((1, 2, 3))
        OctalGame(code='0.333', heaps=())
        """
        numbers = _whole_tuple(takes)
        if not numbers or not all(type(take) is int and take > 0 for take in numbers):
            message = f"takes must be one or more whole numbers from 1 on, not {shown(numbers)}."
            raise InvalidParameterError(message)
        code = [0] * (max(numbers) + 1)
        for take in numbers:
            code[take] = WHOLE | SINGLE
        return cls(tuple(code), tuple(heaps))

    def initial_state(self) -> OctalPosition:
        """Return the heaps at the start, with player 0 to move."""
        sizes = range(max(self.heaps, default=0) + 1)
        return OctalPosition(0, tuple(self.heaps.count(size) * (size > 0) for size in sizes))

    def is_terminal(self, state: OctalPosition) -> bool:
        """Return whether there is no move."""
        for _ in self.actions(state):
            return False
        return True

    def player(self, state: OctalPosition) -> int:
        """Return the player to move."""
        return state.player

    def actions(self, state: OctalPosition) -> Iterator[int]:
        """Yield the moves: for each size of heap, the number taken, and how the rest is split."""
        for size in range(1, len(state.counts)):
            if state.counts[size] == 0:
                continue
            for taken in range(min(len(self.code), size + 1)):
                digit = self.code[taken]
                left = size - taken
                if digit & (WHOLE if left == 0 else SINGLE):
                    yield self.action(size, taken, 0)
                if digit & SPLIT:
                    for part in range(1, left // 2 + 1):
                        yield self.action(size, taken, part)

    def action(self, size: int, taken: int, part: int = 0) -> int:
        """Return the action on a heap of `size`: take `taken`, and split the rest, if at all.

        Parameters
        ----------
        size, taken : int
        part : int
            The smaller of the two heaps into which the rest is split; 0 to leave it whole.
        """
        largest = max(self.heaps) + 1
        return (size * len(self.code) + taken) * largest + part

    def outcomes(self, state: OctalPosition, action: int) -> Iterator[tuple[float, OctalPosition]]:
        """Yield the one position that follows."""
        largest = max(self.heaps) + 1
        part = action % largest
        size = action // largest // len(self.code)
        rest = size - action // largest % len(self.code) - part
        counts = with_item(state.counts, size, state.counts[size] - 1)
        if part > 0:
            counts = with_item(counts, part, counts[part] + 1)
        if rest > 0:
            counts = with_item(counts, rest, counts[rest] + 1)
        yield 1.0, OctalPosition(1 - state.player, counts)

    def payoff(self, state: OctalPosition, player: int) -> float:
        """Return -1 for the player who cannot move, and +1 for the other."""
        return -1.0 if player == state.player else 1.0

    def canonical(self, state: OctalPosition) -> tuple[OctalPosition, bool]:
        """Return the position with player 0 to move: the players are symmetric."""
        return OctalPosition(0, state.counts), state.player == 1

    def action_name(self, state: OctalPosition, action: int) -> str:  # noqa: ARG002
        """Return the action in words: ``take 2 from a heap of 7, leave 1 and 4``."""
        largest = max(self.heaps) + 1
        part = action % largest
        size, taken = divmod(action // largest, len(self.code))
        left = size - taken
        parts = f", leave {part} and {left - part}" if part else ""
        return f"take {taken} from a heap of {size}{parts}"

    def render(self, state: OctalPosition) -> str:
        """Return the position in words.

        Examples
        --------
        >>> game = OctalGame("0.77", heaps=(5, 3, 3))
        >>> game.render(game.initial_state())
        'first player to move: heaps of 3, 3, 5'
        """
        sizes = [str(size) for size, count in enumerate(state.counts) for _ in range(count)]
        mover = ("first", "second")[state.player]
        return f"{mover} player to move: heaps of {', '.join(sizes) or 'nothing'}"

    def grundy_sequence(self, up_to: int) -> NDArray[np.int32]:
        """Return the nim-values of single heaps of 0 to `up_to`.

        Once a period is proven, the rest follows from it. Without one, hundreds of thousands of
        values take seconds for most games.

        Parameters
        ----------
        up_to : int
            The largest heap.

        Examples
        --------
        >>> OctalGame("0.137").grundy_sequence(16).tolist()
        [0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3, 2, 2, 4, 0, 5, 2]
        """
        up_to = checked_whole("up_to", up_to, 0)
        values, found = _explored(self.code, up_to)
        if found is None:
            return values
        known = len(values)
        if BYTES_OF_A_VALUE * (up_to - known) > available_bytes():
            message = (
                f"up_to is {up_to:,}: so many values do not fit into memory. periodicity() says "
                "how they go on."
            )
            raise InvalidParameterError(message)
        sizes = np.arange(known, up_to + 1)
        following = values[found.preperiod + (sizes - found.preperiod) % found.period]
        return np.concatenate([values, following])[: up_to + 1]

    def periodicity(self, up_to: int = 100_000) -> Periodicity | None:
        """Return the period of the nim-values of single heaps, if one can be proven.

        It suffices that values repeat for a while [1]_. Let t be the most that a move takes, and
        let a heap of n + p have the value of one of n for all n >= 1 from n0 to 2 n0 + p + t - 1.
        Then for a larger N, a move from N + p leaves a heap of at least n0 + p, and the same move
        with that heap smaller by p leads from N to a position of equal value; and conversely. So
        the value of N + p is that of N. Without splits, n0 to n0 + t - 1 suffice.

        Parameters
        ----------
        up_to : int
            The largest heap to look at.

        Returns
        -------
        Periodicity or None
            None if the values up to there prove no period: there may still be one. Whether every
            octal game has one is an open problem.

        References
        ----------
        .. [1] E. Berlekamp, J. Conway, R. Guy, "Winning Ways for your Mathematical Plays",
           chapter 4.

        Examples
        --------
        >>> OctalGame("0.07").periodicity().period
        34
        >>> OctalGame("0.6").periodicity(up_to=10_000) is None
        True
        """
        return _explored(self.code, checked_whole("up_to", up_to, 0))[1]


def _explored(code: tuple[int, ...], up_to: int) -> tuple[NDArray[np.int32], Periodicity | None]:
    """Return the values of heaps up to a size, fewer once a period is proven, and the period."""
    from gamedp.sums import kernels  # noqa: PLC0415 - loads numba

    digits = np.array(code, np.int64)
    values = np.zeros(1, np.int32)
    done, size = 1, min(FIRST_SIZE, up_to) + 1
    while True:
        values = np.concatenate([values[:done], np.zeros(size - done, np.int32)])
        while done < size:
            is_common = _common_values(values[:done])
            rare_heaps = 1 + np.flatnonzero(~is_common[values[1:done]])
            stop = min(size, done + HEAPS)
            rare = np.concatenate([rare_heaps, np.zeros(stop - done, np.int64)])
            marks = np.full(len(is_common), -1, np.int64)
            done = kernels.heap_values_jit(
                digits, is_common, done, stop, len(rare_heaps), rare, marks, values
            )
        found = _period_of(code, values)
        if found is not None or size > up_to:
            return values, found
        size = min(2 * size, up_to + 1)


def _common_values(values: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return the values that count as common, chosen so that as few heaps as possible are rare.

    For :func:`gamedp.sums.kernels.heap_values`; several times as many as there are values.
    """
    counts = np.bincount(values)
    bits = max(4, int(len(counts) - 1).bit_length())
    numbers = np.arange(1 << bits, dtype=np.int64)
    masks = numbers[1:]
    parities = np.bitwise_count(masks[:, None] & np.flatnonzero(counts)) & 1
    num_common = parities @ counts[counts > 0]
    mask = int(masks[num_common.argmax()])
    is_common: NDArray[np.bool_] = np.bitwise_count(np.arange(1 << (bits + 3)) & mask) % 2 == 1
    return is_common


def _period_of(code: tuple[int, ...], values: NDArray[np.int32]) -> Periodicity | None:
    """Return the least period that the values prove; see :meth:`OctalGame.periodicity`."""
    from gamedp.sums import kernels  # noqa: PLC0415 - loads numba

    most = len(code) - 1
    lengths = np.zeros(len(values), np.int64)
    kernels.matches_at_end_jit(values, lengths)
    periods = np.arange(1, len(values))
    preperiods = len(values) - periods - lengths[1:]
    starts = np.maximum(preperiods, 1)
    splits = any(digit & SPLIT for digit in code)
    needed = starts + periods + most - 1 + (starts + periods if splits else 0)
    proven = np.flatnonzero(needed < len(values))
    if not len(proven):
        return None
    place = int(proven[0])
    period, preperiod = int(periods[place]), int(preperiods[place])
    early = np.arange(preperiod)
    repeated = values[preperiod + (early - preperiod) % period]
    return Periodicity(
        period=period,
        preperiod=preperiod,
        exceptions=tuple(np.flatnonzero(values[:preperiod] != repeated).tolist()),
        known_up_to=int(needed[place]),
    )
