"""Pig as its rules read, in which play could go on for ever, beside rules by which it must end.

Both players might hold with nothing in hand, again and again, or roll on with the goal in hand.
What that would count is not declared, and does not matter: to prove that must not cost much. Each
side is measured from the rules on: exploration, structure, solve. Seconds are of processor time.
"""

from __future__ import annotations

import measure

import gamedp
from gamedp.testing.models import Pig

AT_MOST = 1.5  # times as long as by rules by which play must end


def of_form(goal: int, throws: bool, rounds: int) -> measure.Row:
    """Return the row of one way to write the rules."""

    def solved(ends: bool) -> gamedp.Solution:
        return gamedp.solve(Pig(goal, ends=ends, throws=throws))

    natural, ending = solved(ends=False), solved(ends=True)
    (low, high), (least, most) = natural.bounds(), ending.bounds()
    return measure.compare(
        f"Pig to {goal}{', throws as states' * throws}",
        lambda: measure.processor_seconds(lambda: solved(ends=False)),
        lambda: measure.processor_seconds(lambda: solved(ends=True)),
        rounds=rounds,
        beside="must end",
        goal=("<=", AT_MOST),
        agrees=low <= most and least <= high,
        facts={
            "states": natural.statistics.states,
            "status": natural.status.name,
            "guarantee": natural.guarantee.name,
            "proven width": natural.width,
            "of the other": ending.width,
            "sweeps": natural.statistics.sweeps,
        },
    )


def pig(quick: bool = False) -> list[measure.Row]:
    """Measure both ways to write the rules."""
    goal, rounds = (12, 1) if quick else (100, 9)
    return [of_form(goal, throws, rounds) for throws in (False, True)]
