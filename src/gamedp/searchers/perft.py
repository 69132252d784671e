"""Perft: counts of positions ply by ply, to measure a game and to compare programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, LimitExceededError, shown
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules
from gamedp.searchers import tree_loop as loop
from gamedp.searchers.driver import Driver, Loop
from gamedp.searchers.position_loop import unfold
from gamedp.searchers.root import root_state
from gamedp.searchers.watch import OutOfTime, Watch

if TYPE_CHECKING:
    from gamedp.runtime.options import CompileMode
    from gamedp.runtime.progress import ProgressCallback

__all__ = ["Perft", "perft"]

LOOP = Loop(loop.perft_jit, (unfold,), loop.PERFT_PLY)


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


def perft(
    game: Any,
    depth: int,
    state: Any = None,
    *,
    compile: CompileMode = "auto",
    max_seconds: float = float("inf"),
    progress: ProgressCallback | None = None,
) -> Perft:
    """Count the positions that a game leads to, ply by ply.

    Lines of play are counted, not different positions; with chance, every outcome is a line of its
    own. Chess programmers call it perft: programs that agree on these numbers have the same rules.

    Parameters
    ----------
    game
        For any number of players, with chance or without.
    depth : int
        Plies; at least 0.
    state
        The first position; the start of the game if not given.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    max_seconds : float
    progress : callable, optional
        Called with a :class:`gamedp.Progress` now and then.

    Raises
    ------
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
    if depth < 0 or depth != int(depth):
        message = f"depth is {shown(depth)}; it must be a whole number, 0 or more."
        raise InvalidParameterError(message)
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
    watch = Watch(max_seconds, float("inf"), progress, lambda: driver.nodes)
    driver.enter(state)
    driver.tally.proven = int(depth > 0 and not is_over)
    try:
        driver.run(watch)
    except OutOfTime:
        message = (
            f"counting stopped at max_seconds={max_seconds:g} after {driver.nodes:,} positions. "
            "Raise the limit, or count fewer plies."
        )
        raise LimitExceededError(message, states=driver.nodes, choices=0, transitions=0) from None
    return Perft(tuple(found.tolist()), tuple(over.tolist()), watch.seconds)
