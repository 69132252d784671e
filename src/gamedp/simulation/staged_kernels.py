"""Kernels that take many games of a staged game through the stage once.

Each game has streams of random numbers, as in :mod:`gamedp.simulation.kernels`, which continue
from stage to stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.jit import compiled
from gamedp.simulation.kernels import GAMMA, S11, UNIT, mixed_jit

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.stages.vector_code import Program

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

__all__ = [
    "ASKS",
    "UNFINISHED",
    "mark_possible",
    "mark_possible_jit",
    "walk_stage",
    "walk_stage_jit",
]

UNFINISHED, ASKS = -1, -2
"""Codes of `ends`: the game was left inside the stage; a player is to be asked."""


def walk_stage(
    program: Program,
    movers: Integers,
    num_ends: int,
    chosen: Integers,
    tables: Integers,
    dice: Integers,
    contexts: Integers,
    swapped: Flags,
    most: int,
    streams: Any,
    plies: Integers,
    places: Integers,
    answers: Integers,
    ends: Integers,
    earned: Floats,
) -> None:
    """Play the stage once in each of m games, or until a player is asked.

    Parameters
    ----------
    program : Program
        A program with a row for every state: those of the ends, then the inner ones in their order.
    movers : (N,)
        The player of the stage who decides in each inner state.
    num_ends : int
    chosen : (K, n, N)
        The choice of each of K solutions in each of n contexts, where there are several choices.
    tables : (players,)
        The solution that each player of the game follows; negative for a player who is asked.
    dice : (players,)
        The stream of a game from which each player throws.
    contexts : (m,)
        The number of the context of each game.
    swapped : (m,) bool
        Whether the players have swapped places there.
    most : int
        Plies after which a game is left unfinished.
    streams : (m, S) uint64
        The random streams of each game; advanced.
    plies : (m,)
        Counted up.
    places : (m,)
        The inner state of each game; advanced.
    answers : (m,)
        The choice in that state of a player who has been asked; -1 once it is made.
    ends : (m,)
        `ASKS` for games to play; afterwards the number of the end that is reached, `UNFINISHED`, or
        `ASKS` if a player is to be asked.
    earned : (m,)
        Increased by the payments of the stage to its player 0.
    """
    for game in range(len(contexts)):
        if ends[game] != ASKS:
            continue
        taken = plies[game]
        total = earned[game]
        place = places[game]
        end = UNFINISHED
        while end == UNFINISHED and taken < most:
            choice = program.choice_offsets[place]
            player = 1 - movers[place] if swapped[game] else movers[place]
            if program.choice_offsets[place + 1] - choice > 1:
                if tables[player] >= 0:
                    choice = chosen[tables[player], contexts[game], place]
                elif answers[game] >= 0:
                    choice = answers[game]
                    answers[game] = -1
                else:
                    end = ASKS
                    break
            taken += 1
            total += program.rewards[choice]
            transition = program.transition_offsets[choice]
            last = program.transition_offsets[choice + 1] - 1
            if transition < last:
                streams[game, dice[player]] += GAMMA
                number = np.uint64(mixed_jit(streams[game, dice[player]]))
                drawn = float(np.int64(number >> S11)) * UNIT
                reached = program.probabilities[transition]
                # The last one if rounding leaves the sum slightly below 1.
                while transition < last and reached <= drawn:
                    transition += 1
                    reached += program.probabilities[transition]
            row = program.rows[transition]
            if row < num_ends:
                end = row
            else:
                place = row - num_ends
        places[game] = place
        plies[game] = taken
        ends[game] = end
        earned[game] = total


walk_stage_jit: Any = compiled(walk_stage)


def mark_possible(program: Program, allowed: Flags, possible: Flags) -> None:
    """Mark the open choices in each context: those that do not force an end that it forbids.

    A choice is open if the state after each of its outcomes is an end that the context allows, or
    an inner state with an open choice.

    Parameters
    ----------
    program : Program
        As for `walk_stage`.
    allowed : (n, E) bool
        The ends that each of n contexts allows.
    possible : (n, C) bool
        Filled: whether each choice is open in each context.
    """
    num_ends = allowed.shape[1]
    can_end = np.zeros(program.num_rows, np.bool_)
    for context in range(len(allowed)):
        can_end[:num_ends] = allowed[context]
        for place in range(len(program.own_rows)):
            some = False
            for choice in range(program.choice_offsets[place], program.choice_offsets[place + 1]):
                every = True
                for transition in range(
                    program.transition_offsets[choice], program.transition_offsets[choice + 1]
                ):
                    every = every and can_end[program.rows[transition]]
                possible[context, choice] = every
                some = some or every
            can_end[program.own_rows[place]] = some


mark_possible_jit: Any = compiled(mark_possible)
