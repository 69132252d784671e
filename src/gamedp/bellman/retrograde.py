"""Retrograde analysis: values propagate backwards from terminal states along certain moves.

Values are numbered in ascending order, so that kernels compare whole numbers: level l of 0 .. last.
One of them is the draw, the value of endless play. A step on which the players change places
turns level l into last - l; where there are such steps, the numbering is symmetric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Floats, Integers


HEAD, TAIL, SEED = 0, 1, 2


def spread(
    budget: int,
    seeds: Integers,
    rounds: Integers,
    offsets: Integers,
    sources: Integers,
    maximises: Flags,
    last: int,
    draw: int,
    cursor: Integers,
    queue: Integers,
    levels: Integers,
    distances: Integers,
    undecided: Integers,
) -> bool:
    """Go backwards from the ends, those furthest from the draw first.

    Each round handles the highest and the lowest level that are left. In it, a state gets its level
    immediately if its player wants it, and otherwise when the last of its choices turns out to be
    no better. States wait in a queue; within a round they are therefore sorted by distance, and the
    winner's shortest way is found before longer ones, the loser's longest after all shorter ones.
    The last round has the ends that are draws, to which all remaining states take the shortest way.

    Parameters
    ----------
    budget : int
        Largest number of states to take from the queue.
    seeds : (Z,)
        The terminal states by round.
    rounds : (Z,)
        The round of each seed, ascending.
    offsets, sources
        The transposed graph: the steps to state s come from
        ``sources[offsets[s]:offsets[s + 1]]``, ``-1 - source`` where the players change places.
    maximises : (S,) bool
        Whether the player to move maximises the level.
    last, draw : int
        The highest level, and that of the draw.
    cursor : (3,)
        The start and the end of the queue, and the next seed: zeros at first.
    queue : (S,)
    levels : (S,)
        Given for seeds, and -1 elsewhere at first; -1 at the end where play never ends.
    distances : (S,)
        Steps to the end: 0 for seeds.
    undecided : (S,)
        The number of choices of a state not known to be against its player: all at first.

    Returns
    -------
    bool
        Whether the search is finished.
    """
    head = cursor[HEAD]
    tail = cursor[TAIL]
    seed = cursor[SEED]
    stop = head + budget
    while head < stop:
        if head == tail:
            if seed == len(seeds):
                break
            present = rounds[seed]
            while seed < len(seeds) and rounds[seed] == present:
                queue[tail] = seeds[seed]
                tail += 1
                seed += 1
        successor = queue[head]
        head += 1
        for place in range(offsets[successor], offsets[successor + 1]):
            state = sources[place]
            level = levels[successor]
            if state < 0:
                state = -1 - state
                level = last - level
            if levels[state] >= 0:
                continue
            if level != draw and (level > draw) != maximises[state]:
                undecided[state] -= 1
                if undecided[state] > 0:
                    continue
            levels[state] = level
            distances[state] = distances[successor] + 1
            queue[tail] = state
            tail += 1
    cursor[HEAD] = head
    cursor[TAIL] = tail
    cursor[SEED] = seed
    return bool(head == tail and seed == len(seeds))


def choose(
    choice_offsets: Integers,
    successors: Integers,
    probabilities: Floats,
    last: int,
    levels: Integers,
    distances: Integers,
    policy: Integers,
) -> None:
    """Take in each state the first choice that keeps its level and is one step nearer to the end.

    `distances` are -1 where play never ends; there, the first choice that keeps it so.
    """
    for state in range(len(levels)):
        wanted = distances[state] - 1 if distances[state] > 0 else -1
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            successor = successors[choice]
            level = levels[successor] if probabilities[choice] > 0 else last - levels[successor]
            if level == levels[state] and distances[successor] == wanted:
                policy[state] = choice
                break


spread_jit = compiled(spread)
choose_jit = compiled(choose)
