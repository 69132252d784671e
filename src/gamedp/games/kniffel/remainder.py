"""What is left of a card: its free boxes, numbered anew, and games whose contexts count them so.

Only boxes that are free take part in tables that have one more dimension than that of the sheets:
for the points that are earned, or for the lead over somebody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games.kniffel.boxes import FULL_HOUSE, LARGE_STRAIGHT, points, points_as_joker, throw
from gamedp.games.kniffel.rules import Kniffel, Sheet

__all__ = [
    "MOST_CONTEXTS",
    "Compile",
    "Remainder",
    "RestOfCard",
    "Size",
    "TooLargeError",
    "check_size",
    "filled_with",
]

Compile: TypeAlias = Literal["auto", "always", "never"]
ProgressCallback: TypeAlias = Callable[["gamedp.Progress"], None]

MOST_CONTEXTS = 20_000_000
"""Beyond this, a table of contexts is made only if it is asked for: about a gigabyte."""


@attrs.frozen(eq=False)
class Remainder:
    """What is still to be played on a sheet: its free boxes, numbered anew from 0.

    Attributes
    ----------
    rules : Kniffel
    sheet : Sheet
    masks : (2**n,) int64
        For each subset of the n free boxes: `Sheet.boxes` when these are filled, too.
    upper_left : (2**n,) int64
        For each: the most points that the boxes of the upper part can still earn.
    most : int
        No more points than this can be earned, the bonus for the upper part included.
    """

    rules: Kniffel
    sheet: Sheet
    masks: NDArray[np.int64] = attrs.field(repr=False)
    upper_left: NDArray[np.int64] = attrs.field(repr=False)
    most: int

    @classmethod
    def of(cls, rules: Kniffel, sheet: Sheet) -> Remainder:
        """Take the free boxes of a sheet."""
        free = [box for box in range(rules.num_boxes) if not (sheet.boxes >> box) & 1]
        best = {box: _best_entry(rules, box) for box in free}
        masks, upper_left = np.zeros(1, np.int64), np.zeros(1, np.int64)
        for box in free:
            masks = np.concatenate([masks, masks | (1 << box)])
            more = best[box] * (box < rules.faces)
            upper_left = np.concatenate([upper_left + more, upper_left])
        further = len(free) if sheet.bonus else len(free) - 1
        is_open = sheet.bonus or rules.kniffel_box in free
        most = sum(best.values()) + rules.further_bonus * max(0, further if is_open else 0)
        if sheet.upper + int(upper_left[0]) >= rules.threshold:
            most += rules.upper_bonus
        return cls(rules, sheet, masks | sheet.boxes, upper_left, most)

    @property
    def uppers(self) -> tuple[int, int]:
        """The range of the upper part, where it matters."""
        low, threshold = self.sheet.upper, self.rules.threshold
        highest = low + int(self.upper_left[0])
        return low, (low if highest < threshold else min(highest, threshold))

    @property
    def bonuses(self) -> tuple[int, int]:
        """The range of `Sheet.bonus`."""
        pays = self.rules.further_bonus > 0 and not (self.sheet.boxes >> self.rules.kniffel_box) & 1
        return self.sheet.bonus, 1 if pays else self.sheet.bonus

    def fields(self) -> dict[str, Any]:
        """Return the fields of a :class:`RestOfCard`, besides those of the rules."""
        return {
            "masks": self.masks,
            "upper_left": self.upper_left,
            "uppers": self.uppers,
            "bonuses": self.bonuses,
        }

    @property
    def num_sheets(self) -> int:
        """How many combinations of these and the boxes there are."""
        (low, high), (least, most) = self.uppers, self.bonuses
        return (high - low + 1) * (most - least + 1) * len(self.masks)


def _best_entry(rules: Kniffel, box: int) -> int:
    """Return the most that a throw can count in a box."""
    lower = box - rules.faces
    best = 0
    if rules.joker != "none" and FULL_HOUSE <= lower <= LARGE_STRAIGHT:
        best = points_as_joker(rules.faces, box)
    for dice in _throws(rules.dice, rules.faces):
        best = max(best, points(dice, box, rules.kniffel_is_full_house))
    return best


def _throws(dice: int, faces: int) -> Iterator[tuple[int, ...]]:
    """Yield all throws of some dice."""
    for shown_faces in combinations_with_replacement(range(1, faces + 1), dice):
        yield throw(shown_faces, dice=dice, faces=faces)


class Size(NamedTuple):
    """How large a table is, and what it takes, by what such tables have taken.

    Attributes
    ----------
    contexts : int
    work : float
        How much longer than in a turn of one player each context takes.

    Examples
    --------
    >>> print(Size(197_132_288))
    197,132,288 contexts, about 9.9 GB and 789 seconds on one processor
    """

    contexts: int
    work: float = 1.0

    @property
    def gigabytes(self) -> float:
        """About how much memory it takes."""
        return self.contexts * 50 / 1e9

    @property
    def seconds(self) -> float:
        """About how long it takes on one processor."""
        return self.contexts * self.work / 250_000

    def __str__(self) -> str:
        return (
            f"{self.contexts:,} contexts, about {self.gigabytes:.1f} GB and {self.seconds:,.0f} "
            "seconds on one processor"
        )


class TooLargeError(gamedp.errors.InvalidParameterError):
    """A table has more contexts than are made unless asked for.

    Attributes
    ----------
    size : Size
    """

    def __init__(self, message: str, size: Size) -> None:
        super().__init__(message)
        self.size = size


def check_size(size: Size, max_contexts: float, what: str) -> None:
    """Refuse a table that is too large, in words.

    Parameters
    ----------
    size : Size
    max_contexts : float
    what : str
        What takes a table of that size, in words.

    Raises
    ------
    TooLargeError
        If there are more contexts than that.
    """
    if size.contexts > max_contexts:
        message = (
            f"{what} {size}; at most {max_contexts:,.0f} contexts are made unless asked for. Fill "
            f"more boxes, or ask for them: max_contexts={size.contexts} in Python, --max-contexts "
            f"{size.contexts} at the command line."
        )
        raise TooLargeError(message, size)


@gamedp.helper
def filled_with(masks: NDArray[np.int64], boxes: int, after: int) -> int:
    """Return which of the boxes that were free are filled after an entry.

    Parameters
    ----------
    masks : (2**n,) int64
        See :class:`Remainder`.
    boxes : int
        Which are filled before it.
    after : int
        `Sheet.boxes` after it.
    """
    bit = 1
    while bit < len(masks):
        if masks[boxes | bit] == after:
            return boxes | bit
        bit <<= 1
    return boxes


@attrs.frozen(eq=False, kw_only=True)
class RestOfCard(Kniffel):
    """Games that begin with a sheet, in contexts that have three fields for what becomes of it.

    `upper` and `bonus` are as in :class:`Sheet`; `boxes` says which of the boxes that were free are
    filled: the sum of ``1 << place``, their places counted from 0.

    Parameters
    ----------
    masks, upper_left, uppers, bonuses
        The sheet at the start: see :class:`Remainder`, whose :meth:`~Remainder.fields` they are.
    """

    masks: NDArray[np.int64] = attrs.field(repr=False)
    upper_left: NDArray[np.int64] = attrs.field(repr=False)
    uppers: tuple[int, int] = attrs.field(repr=False)
    bonuses: tuple[int, int] = attrs.field(repr=False)

    # What the rules say of a sheet, by names that are not taken in the games.
    sheet_allows = Kniffel.allows
    sheet_following = Kniffel.following
    sheet_reward = Kniffel.reward
    sheet_payoff = Kniffel.payoff
    sheet_rank = Kniffel.rank
    is_sheet = Kniffel.is_state

    @property
    def all_filled(self) -> int:
        """What `boxes` is when all are filled."""
        return len(self.masks) - 1

    @property
    def least_upper(self) -> int:
        """Where the upper part begins."""
        return self.uppers[0]

    def sheet(self, context: Any) -> Sheet:
        """Return the sheet of a context."""
        return Sheet(context.upper, self.masks[context.boxes], context.bonus)

    def upper_that_matters(self, upper: int, boxes: int) -> int:
        """Return the points in the upper part, forgotten if they cannot lead to its bonus."""
        if upper + self.upper_left[boxes] < self.threshold:
            return self.least_upper
        return upper
