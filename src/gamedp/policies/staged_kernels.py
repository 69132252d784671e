"""Games of a staged game: many games, each taken through the stage once by policies that are known.

Each game has a stream of random numbers, as in :mod:`gamedp.policies.walk_kernels`, which goes on
from stage to stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.policies.walk_kernels import GAMMA, S11, UNIT, mixed_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.stages.vector_code import Program

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

__all__ = ["UNFINISHED", "walk_stage", "walk_stage_jit"]

UNFINISHED = -1
"""The end of a game that has been left inside the stage."""


def walk_stage(
    program: Program,
    movers: Integers,
    num_ends: int,
    chosen: Integers,
    tables: Integers,
    contexts: Integers,
    swapped: Flags,
    most: int,
    streams: Any,
    plies: Integers,
    ends: Integers,
    earned: Floats,
) -> None:
    """Play the stage once in each of m games.

    Parameters
    ----------
    program : Program
        With a row for every state: those of the ends, then the inner ones in their order.
    movers : (N,)
        Which player of the stage decides in each inner state.
    num_ends : int
    chosen : (K, n, N)
        What each of K solutions chooses in each of n contexts, where there are several choices.
    tables : (players,)
        Which of the solutions each player of the game follows.
    contexts : (m,)
        In which of the n contexts each game is.
    swapped : (m,) bool
        Whether the players have changed places there.
    most : int
        Plies after which a game is left unfinished.
    streams : (m,) uint64
        Where the random numbers of each game are; moved on.
    plies : (m,)
        Counted up.
    ends : (m,)
        Filled: the number of the end that is reached, or `UNFINISHED`.
    earned : (m,)
        Filled: what the stage has paid to its player 0.
    """
    for game in range(len(contexts)):
        stream = streams[game]
        taken = plies[game]
        total = 0.0
        place = len(movers) - 1
        end = UNFINISHED
        while end == UNFINISHED and taken < most:
            choice = program.choice_offsets[place]
            if program.choice_offsets[place + 1] - choice > 1:
                player = 1 - movers[place] if swapped[game] else movers[place]
                choice = chosen[tables[player], contexts[game], place]
            taken += 1
            total += program.rewards[choice]
            transition = program.transition_offsets[choice]
            last = program.transition_offsets[choice + 1] - 1
            if transition < last:
                stream += GAMMA
                drawn = float(np.int64(np.uint64(mixed_jit(stream)) >> S11)) * UNIT
                reached = program.probabilities[transition]
                # The last one where rounding leaves the sum a little short.
                while transition < last and reached <= drawn:
                    transition += 1
                    reached += program.probabilities[transition]
            row = program.rows[transition]
            if row < num_ends:
                end = row
            else:
                place = row - num_ends
        streams[game] = stream
        plies[game] = taken
        ends[game] = end
        earned[game] = total


walk_stage_jit: Any = compiled(walk_stage)
