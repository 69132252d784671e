"""Distribution of the remaining points under play for points.

The distribution of one sheet requires those of all sheets after it, so that many are computed
together. The early ones are kept: every new game needs them, and they take longest.
"""

from __future__ import annotations

from typing import Any

import attrs

import gamedp
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.remainder import ProgressCallback
from gamedp.games.kniffel.rules import Kniffel, Sheet

__all__ = ["EARLY", "Rest", "early_rest", "rest_after"]

EARLY = 10
"""Least number of free boxes of the sheets that are kept."""


@attrs.frozen(eq=False)
class Rest:
    """The remaining points from some sheets on, with the bonus for the upper part.

    Attributes
    ----------
    known : dict
        The distribution for each :class:`Sheet`.
    """

    known: dict[Sheet, Any] = attrs.field(repr=False)

    @property
    def bytes(self) -> int:
        """The approximate memory in bytes."""
        return sum(each.totals.nbytes + each.probabilities.nbytes for each in self.known.values())


def early_rest(solution: Any, *, progress: ProgressCallback | None = None) -> Rest:
    """Return the remaining points from every reachable sheet with `EARLY` free boxes."""
    rules: Kniffel = solution.model.rules.game
    sheets = [Card().sheet(rules)]
    known = set(sheets)
    for sheet in sheets:  # grows during the iteration
        if rules.rank(sheet) > EARLY:
            after = [each for each in _following(solution, sheet) if each not in known]
            known.update(after)
            sheets += after
    return _found(solution, sheets, progress)


def rest_after(solution: Any, sheet: Sheet, *, progress: ProgressCallback | None = None) -> Rest:
    """Return the remaining points from a sheet, and from each sheet after a turn."""
    return _found(solution, [sheet, *_following(solution, sheet)], progress)


def _found(solution: Any, sheets: list[Sheet], progress: ProgressCallback | None) -> Rest:
    found = gamedp.stages.distributions(solution, sheets, progress=progress)
    return Rest(dict(zip(sheets, found, strict=True)))


def _following(solution: Any, sheet: Sheet) -> list[Sheet]:
    """Return the distinct sheets after a turn."""
    rules: Kniffel = solution.model.rules.game
    ends = [end for _, end in solution.model.ends if rules.allows(sheet, end)]
    return list(dict.fromkeys(rules.following(sheet, end) for end in ends))
