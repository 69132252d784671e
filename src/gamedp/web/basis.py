"""The source of a game's values: its table, or a search of each position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from gamedp.policies.lengths import Remoteness
    from gamedp.results.solution import Solution

__all__ = ["Basis", "NoLengths"]

NoLengths: TypeAlias = Literal["states", "time", "unknown"]
"""Reason why the length of play is unknown: too many states, no time left, or another one."""


@attrs.frozen(eq=False)
class Basis:
    """The source of a game's values.

    Attributes
    ----------
    solution : Solution or None
        The table; None for a game that is searched.
    why_not : str
        The reason why there is no table.
    range : tuple of two floats or None
        The approximate range of the values.
    bytes : int
    remoteness : Remoteness or None
        The remaining length of play; None if unknown.
    why_no_lengths : str or None
        The reason why it is unknown for a table.
    """

    solution: Solution | None
    why_not: str
    range: tuple[float, float] | None
    bytes: int = 0
    remoteness: Remoteness | None = None
    why_no_lengths: NoLengths | None = None
