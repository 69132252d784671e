"""Perft: counts of positions ply by ply, to measure a game and to compare programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.errors import LimitExceededError
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules
from gamedp.runtime.limit import callback_of, shows_progress
from gamedp.runtime.options import checked_whole
from gamedp.searchers.driver import Driver, Loop, OutOfTime, SearchBudget
from gamedp.searchers.position_loop import FULL, unfold
from gamedp.searchers.root import root_state
from gamedp.searchers.stacks import PLIES, POSITIONS, Fields, LoopStatus

if TYPE_CHECKING:
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode


def count_positions(work: Any, page: Any, rules: Any, budget: int) -> int:
    """Count the positions at each ply, and those among them that end the game: the compiled loop.

    It keeps no line of play: ply 0 holds the position in question.

    Parameters
    ----------
    work
        ``depths`` (P,) are the plies of the first positions of the page, a stack of
        ``tally.wanted`` that wait; ``found`` and ``over`` (depth + 1,) count; ``depth`` is where to
        stop.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.
    """
    fields, depths, found, over = page.fields, work.depths, work.found, work.over
    tally, question, depth = work.tally[0], page.question[0], work.depth
    height = tally.proven
    last_node = tally.nodes + budget
    while height > 0:
        tally.proven = height
        work.plies[0].row = height - 1
        if tally.nodes >= last_node:
            return LoopStatus.PAUSED
        ply = depths[height - 1] + 1
        question.row = height - 1
        # The position itself is needed until all that come after it are written.
        question.first = height
        question.action = 1 if ply < depth else 0
        many = call_native(rules.unfold, rules.game, rules.page)
        if many == RAISED:
            return LoopStatus.FAILED
        if many == FULL:
            tally.wanted = POSITIONS
            return LoopStatus.GROW
        if many == 0:
            return LoopStatus.BAD_RULES
        ended = question.number
        last = height
        if ply < depth:
            last += many - ended
        if last > depths.size:
            tally.wanted = PLIES
            return LoopStatus.GROW
        tally.nodes += many
        found[ply] += many
        over[ply] += ended
        for place in range(height, last):
            depths[place] = ply
        # The last one takes the place of the position that is done with.
        last -= 1
        if last >= height:
            for k in range(fields.shape[1]):
                fields[height - 1, k] = fields[last, k]
            depths[height - 1] = ply
        height = last
    tally.proven = 0
    return LoopStatus.DONE


LOOP = Loop(compiled_for_all(count_positions), (unfold,), Fields("row"))

MOST_PLIES = 10**6
"""Largest depth: longer games have too many positions to be counted one by one."""


@attrs.frozen
class Perft:
    """The number of positions at each ply.

    Attributes
    ----------
    positions : tuple of int
        The number of lines of play of d plies at index d; 1 at index 0.
    ended : tuple of int
        The number of them that end the game there.
    seconds : float
        The time for counting, without compiling.
    """

    positions: tuple[int, ...]
    ended: tuple[int, ...]
    seconds: float


@shows_progress
def perft(
    game: Any,
    depth: int,
    state: Any = None,
    *,
    compile: CompileMode = "auto",
    max_seconds: float = float("inf"),
    progress: ProgressCallback | bool | None = None,
) -> Perft:
    """Count the positions that a game leads to, ply by ply.

    Lines of play are counted, not different positions; with chance, every outcome is a line of its
    own. Chess programmers call it perft: programs that agree on these numbers have the same rules.

    Parameters
    ----------
    game
        For any number of players, with chance or without.
    depth : int
        Plies; 0 to `MOST_PLIES`.
    state
        The first position; the start of the game if not given.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    max_seconds : float
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Raises
    ------
    InvalidParameterError
        If `depth` is not such a number.
    LimitExceededError
        After `max_seconds`.
    InvalidModelError
        If the rules are wrong in a position, which the message names.

    Examples
    --------
    >>> from gamedp.games.matches import Matches
    >>> perft(Matches(matches=5), 4, compile="never").positions
    (1, 3, 8, 10, 5)
    """
    depth = checked_whole("depth", depth, 0, MOST_PLIES)
    rules = Rules(game)
    state = root_state(rules, state)
    is_over = expand(rules, state).payoffs is not None
    found, over = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    found[0], over[0] = 1, is_over
    driver = Driver(
        "perft",
        LOOP,
        rules,
        state,
        compile,
        arrays=lambda _: {
            "found": found,
            "over": over,
            "depth": depth,
            "depths": np.zeros(1 << 10, np.int64),
        },
        with_plies=("depths",),
    )
    budget = SearchBudget(max_seconds, float("inf"), callback_of(progress), lambda: driver.nodes)
    driver.enter(state)
    driver.tally.proven = int(depth > 0 and not is_over)
    try:
        driver.run(budget)
    except OutOfTime:
        message = (
            f"counting stopped at max_seconds={max_seconds:g} after {driver.nodes:,} positions. "
            "Raise the limit, or count fewer plies."
        )
        raise LimitExceededError(message, states=driver.nodes, choices=0, transitions=0) from None
    return Perft(tuple(found.tolist()), tuple(over.tolist()), budget.seconds)
