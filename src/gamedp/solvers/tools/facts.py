"""Answers to whether a solver supports a problem: yes, no and why, or open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from gamedp.errors import shown
from gamedp.reduction import Reduction

if TYPE_CHECKING:
    from gamedp.model.problem import Problem


@attrs.frozen
class Refusal:
    """The reason why nothing makes a problem proper, or one of two opponents.

    Attributes
    ----------
    reason : str
        A phrase that follows a solver's name.
    is_undefined : bool
        Whether each of two opponents can make the total infinite, in their own direction.
    """

    reason: str
    is_undefined: bool = False


@attrs.frozen(eq=False)
class Undecided:
    """Cases that the graph does not decide, but numbers do.

    Attributes
    ----------
    reduction : Reduction or None
        The reduction that makes the problem proper, unless it might be better to alternate between
        earning and losing for ever; None if even that is unknown, as endless play earns and loses.
    """

    reduction: Reduction | None = None


def refused_endless_value(problem: Problem) -> str:
    """Return why no solver takes this draw; empty if it is 0, or all play ends."""
    if problem.draws == (0.0, 0.0):
        return ""
    low, high = problem.draws
    if low != high:
        return f"{problem.undeclared()} gamedp.solve finds out whether it matters."
    return f"takes endless play to count 0, not {low:g}; gamedp.solve shifts all payoffs for it."


def refused_opponents(reduction: Reduction) -> Refusal:
    """Return why solvers that do not deflate refuse opponents who can prolong play for ever."""
    state = reduction.original.model.state(reduction.improper_state)
    return Refusal(
        "does not solve games in which either player can prolong play for ever, as around "
        f"state {shown(state)}; StrategyIteration, IntervalIteration and "
        "TopologicalValueIteration do."
    )


@attrs.frozen
class Support:
    """Whether a solver supports a problem, and why not.

    Attributes
    ----------
    ok : bool
    reason : str
        The reason in words; empty if `ok`.
    is_open : bool
        Whether `ok` holds only as far as the graph tells, and numbers must decide the rest: `solve`
        does, and then refuses the problem if necessary.
    """

    ok: bool
    reason: str = ""
    is_open: bool = attrs.field(default=False, repr=False)

    def __bool__(self) -> bool:
        """Return `ok`."""
        return self.ok
