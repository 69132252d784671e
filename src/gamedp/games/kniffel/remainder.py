"""The rest of a card: its free boxes, renumbered, and games whose contexts use these numbers.

Only free boxes are included in tables with one more dimension than that of the sheets: for the
points earned, or for the lead over an opponent.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games.kniffel.boxes import FULL_HOUSE, LARGE_STRAIGHT, points, points_as_joker, throw
from gamedp.games.kniffel.rules import Kniffel, Sheet

Compile: TypeAlias = Literal["auto", "always", "never"]
ProgressCallback: TypeAlias = Callable[["gamedp.Progress"], None]

MOST_CONTEXTS = 20_000_000
"""Largest number of contexts of a table that is built without a request: about a gigabyte."""


@attrs.frozen(eq=False)
class Remainder:
    """The rest of a sheet: its free boxes, renumbered from 0.

    Attributes
    ----------
    rules : Kniffel
    sheet : Sheet
    masks : (2**n,) int64
        For each subset of the n free boxes, `Sheet.boxes` when these are filled, too.
    upper_left : (2**n,) int64
        For each subset, the most points that the boxes of the upper part can still earn.
    most : int
        The most points that can be earned, the bonus for the upper part included.
    """

    rules: Kniffel
    sheet: Sheet
    masks: NDArray[np.int64] = attrs.field(repr=False)
    upper_left: NDArray[np.int64] = attrs.field(repr=False)
    most: int

    @classmethod
    def of(cls, rules: Kniffel, sheet: Sheet) -> Remainder:
        """Return the remainder of a sheet."""
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
        """The range of the upper part as far as it matters."""
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
        """The number of combinations of these and the boxes."""
        (low, high), (least, most) = self.uppers, self.bonuses
        return (high - low + 1) * (most - least + 1) * len(self.masks)


def _best_entry(rules: Kniffel, box: int) -> int:
    """Return the most points of a throw in a box."""
    lower = box - rules.faces
    best = 0
    if rules.joker != "none" and FULL_HOUSE <= lower <= LARGE_STRAIGHT:
        best = points_as_joker(rules.faces, box)
    for faces in combinations_with_replacement(range(1, rules.faces + 1), rules.dice):
        dice = throw(faces, dice=rules.dice, faces=rules.faces)
        best = max(best, points(dice, box, rules.kniffel_is_full_house))
    return best


class Size(NamedTuple):
    """The size of a table, and its cost as measured for such tables.

    Attributes
    ----------
    contexts : int
    work : float
        The time per context relative to a turn of one player.

    Examples
    --------
    >>> print(Size(197_132_288))
    197,132,288 contexts, about 9.9 GB and 789 seconds on one processor
    """

    contexts: int
    work: float = 1.0

    @property
    def gigabytes(self) -> float:
        """The approximate memory in gigabytes."""
        return self.contexts * 50 / 1e9

    @property
    def seconds(self) -> float:
        """The approximate time on one processor."""
        return self.contexts * self.work / 250_000

    def __str__(self) -> str:
        return (
            f"{self.contexts:,} contexts, about {self.gigabytes:.1f} GB and {self.seconds:,.0f} "
            "seconds on one processor"
        )


class TooLargeError(gamedp.errors.InvalidParameterError):
    """Raised if a table has more contexts than are built without a request.

    Attributes
    ----------
    size : Size
    """

    def __init__(self, message: str, size: Size) -> None:
        super().__init__(message)
        self.size = size


def check_size(size: Size, max_contexts: float, what: str) -> None:
    """Refuse a table that is too large.

    Parameters
    ----------
    size : Size
    max_contexts : float
    what : str
        The purpose of a table of that size, in words.

    Raises
    ------
    TooLargeError
        If there are more contexts than `max_contexts`.
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
    """Return which of the initially free boxes are filled after an entry.

    Parameters
    ----------
    masks : (2**n,) int64
        See :class:`Remainder`.
    boxes : int
        The boxes that are filled before it.
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
    """Games that begin with a sheet, with three fields of their contexts for its progress.

    `upper` and `bonus` are as in :class:`Sheet`; `boxes` is the set of the initially free boxes
    that are filled: the sum of ``1 << place``, with places counted from 0.

    Parameters
    ----------
    masks, upper_left, uppers, bonuses
        The sheet at the start: see :class:`Remainder`, whose :meth:`~Remainder.fields` they are.
    """

    masks: NDArray[np.int64] = attrs.field(repr=False)
    upper_left: NDArray[np.int64] = attrs.field(repr=False)
    uppers: tuple[int, int] = attrs.field(repr=False)
    bonuses: tuple[int, int] = attrs.field(repr=False)

    # The rules about a sheet, by names that are not used in the games.
    sheet_allows = Kniffel.allows
    sheet_following = Kniffel.following
    sheet_reward = Kniffel.reward
    sheet_payoff = Kniffel.payoff
    sheet_tier = Kniffel.tier
    is_sheet = Kniffel.is_state

    @property
    def all_filled(self) -> int:
        """The value of `boxes` when all are filled."""
        return len(self.masks) - 1

    def sheet(self, context: Any) -> Sheet:
        """Return the sheet of a context."""
        return Sheet(context.upper, self.masks[context.boxes], context.bonus)

    def upper_that_matters(self, upper: int, boxes: int) -> int:
        """Return the points in the upper part, dropped if they cannot lead to its bonus."""
        lost = upper + self.upper_left[boxes] < self.threshold
        return self.uppers[0] if lost else upper
