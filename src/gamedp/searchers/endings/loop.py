"""The compiled loop that gives all positions of one stratum of an endgame table their values."""

from __future__ import annotations

from gamedp.compiler.bridge import as_action

# What a call returns.
DONE, PAUSED, GROW_STACK, BAD, CHANCE, LOOPS, RISES, OUTSIDE, MISNUMBERED, TOO_LARGE = range(10)

# Places in `counters`.
HEIGHT, NEXT, EXPANDED, VALUED, ACTION = range(5)
COUNTERS = 5

MOST = 125
"""The largest value that a byte has room for, beside the two marks."""

UNKNOWN, BEGUN = -128, -127
"""Marks: a position without a value yet, and one that waits for those it leads to."""

CHECKED = 63
"""Of so many positions and one more, one is checked to have the number that it was made by."""


def fill_stratum(game, work, budget):
    """Give every position of a stratum its value, those that it leads to in the same one first.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        ``values`` are those of all strata, stratum m has ``sizes[m]`` from ``offsets[m]`` on;
        ``material`` is the stratum that is filled; ``steps`` says whether the game can step from a
        position to the next; ``stack`` holds the ``counters[HEIGHT]`` positions that wait for
        others, and ``counters[NEXT]`` is the next one to begin with.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : int
        DONE, PAUSED, GROW_STACK; or what is wrong with the position on top of the stack: BAD rules,
        CHANCE, LOOPS if it comes again, RISES if an action (in ``counters[ACTION]``) leads to more
        material, OUTSIDE if it leads to a number that its stratum does not have, MISNUMBERED if it
        was not made by its own number, TOO_LARGE if the value is no whole number or too large for a
        byte.
    """
    values, offsets, sizes = work.values, work.offsets, work.sizes
    stack, counters = work.stack, work.counters
    material, has_rewards, steps = work.material, work.has_rewards, work.steps
    start, size = offsets[material], sizes[material]
    # As plain Python, rules are promised integers that do not wrap.
    height, upcoming = int(counters[HEIGHT]), int(counters[NEXT])
    last = counters[EXPANDED] + budget
    made = -1
    cursor = game.ending_state(material, 0)
    while True:
        if height == 0:
            while upcoming < size and values[start + upcoming] != UNKNOWN:
                upcoming += 1
            counters[NEXT] = upcoming
            if upcoming >= size or counters[EXPANDED] >= last:
                counters[HEIGHT] = 0
                return DONE if upcoming >= size else PAUSED
            index = upcoming
            stack[0] = index
            height = 1
            counters[HEIGHT] = 1
            # Stepping is for the positions in their order, which do not come from the stack.
            if steps and made == index - 1 and made >= 0:
                cursor = game.next_ending(cursor)
            else:
                cursor = game.ending_state(material, index)
            made = index
            state = cursor
            if index & CHECKED == 0 or index == size - 1:
                if game.material(state) != material or game.ending_index(state) != index:
                    return MISNUMBERED
                if not game.is_terminal(state) and (
                    game.player(state) != 0 or game.settled(state, 0) != 0
                ):
                    return MISNUMBERED
        else:
            counters[HEIGHT] = height
            if height == stack.size:
                return GROW_STACK
            index = int(stack[height - 1])
            state = game.ending_state(material, index)
        counters[EXPANDED] += 1
        waits = False
        best = -float("inf")
        if game.is_terminal(state):
            best = float(game.payoff(state, 0))
        else:
            for label in game.actions(state):
                action = as_action(label)
                counters[ACTION] = action
                found = 0
                value = 0.0
                for probability, successor in game.outcomes(state, action):
                    if probability > 0.0:
                        found += 1
                        if not probability > 1.0 - 1e-9:
                            found = 2
                        after, swapped = game.canonical(successor)
                        if game.is_terminal(after):
                            value = float(game.payoff(after, 1 if swapped else 0))
                            continue
                        left = game.material(after)
                        if left < 0 or left > material:
                            return RISES
                        place = game.ending_index(after)
                        if place < 0 or place >= sizes[left]:
                            return OUTSIDE
                        known = values[offsets[left] + place]
                        if known <= BEGUN:
                            if known == BEGUN or (place == index and left == material):
                                return LOOPS
                            stack[height] = place
                            waits = True
                            break
                        mover = game.player(after)
                        if mover < 0 or mover > 1:
                            return BAD
                        value = float(game.settled(after, mover)) + known
                        if (mover ^ swapped) != 0:
                            value = -value
                if waits:
                    break
                if found != 1:
                    return CHANCE if found else BAD
                if has_rewards:
                    value += float(game.reward(state, action, 0))
                if value > best:
                    best = value
        if waits:
            values[start + index] = BEGUN
            height += 1
            continue
        if best == -float("inf"):
            return BAD
        if not abs(best) <= MOST or best != float(int(best)):
            return TOO_LARGE
        values[start + index] = int(best)
        counters[VALUED] += 1
        height -= 1
