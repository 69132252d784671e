"""The compiled loop that gives all positions of one stratum of an endgame table their values.

It is compiled once for all games, and asks the rules through pointers; see
:func:`gamedp.searchers.position_loop.value_endings`.
"""

from __future__ import annotations

from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.searchers.position_loop import BEGUN
from gamedp.searchers.stacks import PLIES, Fields, LoopStatus

PLY = Fields("index")
"""At ply 0, the next ending in the order of numbers; above, each is one that the ply below waits
for."""


def fill_stratum(work, page, rules, budget):
    """Compute the value of every position of a stratum, after its successors in the same stratum.

    Parameters
    ----------
    work
        ``plies`` is the stack of what waits.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`. The stratum is
        ``question.material``.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        BAD_RULES if the ending numbered ``question.first`` is wrong; ``question.fault`` says how.
    """
    plies, tally, question, values = work.plies, work.tally[0], page.question[0], page.endings
    material = question.material
    start, size = page.ending_offsets[material], page.ending_sizes[material]
    ply, left = tally.ply, budget
    while True:
        here = plies[ply]
        tally.ply = ply
        if left <= 0:
            return LoopStatus.PAUSED
        if ply + 2 > len(plies):
            tally.wanted = PLIES
            return LoopStatus.GROW
        question.first = here.index
        question.last = here.index + 1
        if ply == 0:
            question.last = min(size, here.index + left)
        found = call_native(rules.value_endings, rules.game, rules.page)
        here.index = question.first
        tally.nodes += question.number
        left -= question.number + 1
        if found < 0:
            return LoopStatus.FAILED if found == RAISED else LoopStatus.BAD_RULES
        if found > 0:
            values[start + here.index] = BEGUN
            ply += 1
            plies[ply].index = question.row
        elif ply > 0:
            ply -= 1
        elif here.index == size:
            return LoopStatus.DONE


fill_stratum_jit = compiled_for_all(fill_stratum)
