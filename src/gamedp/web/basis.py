"""What the values of a game come from: its table, or a search of each position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from gamedp.policies.remoteness import Remoteness
    from gamedp.results.solution import Solution

__all__ = ["Basis", "NoLengths"]

NoLengths: TypeAlias = Literal["states", "time", "unknown"]
"""Why it is not known how long play lasts: too many states, no time left, or another reason."""


@attrs.frozen(eq=False)
class Basis:
    """What the values of a game come from.

    Attributes
    ----------
    solution : Solution or None
        The table; None for a game that is searched.
    why_not : str
        Why there is no table.
    range : tuple of two floats or None
        About how small and large values get.
    bytes : int
    remoteness : Remoteness or None
        How long play still lasts; None if that is not known.
    why_no_lengths : str or None
        Why it is not, of a table.
    """

    solution: Solution | None
    why_not: str
    range: tuple[float, float] | None
    bytes: int = 0
    remoteness: Remoteness | None = None
    why_no_lengths: NoLengths | None = None
