"""The compiled loop that gives all positions of one stratum of an endgame table their values."""

from __future__ import annotations

from gamedp.compiler.bridge import as_action

# What a call returns.
DONE, PAUSED, GROW_STACK, BAD, CHANCE, LOOPS, RISES, TOO_LARGE = range(8)

# Places in `counters`.
HEIGHT, NEXT, EXPANDED, ACTION, VALUE = range(5)
COUNTERS = 5

MOST = 125
"""The largest value that a byte has room for, beside the two marks."""

UNKNOWN, BEGUN = -128, -127
"""Marks: a position without a value yet, and one that waits for those it leads to."""


def fill_stratum(game, work, budget):
    """Give every position of a stratum its value, those that it leads to in the same one first.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        ``values`` are those of all strata, stratum m from ``offsets[m]`` on; ``material`` is the
        stratum that is filled, of ``size`` positions; ``stack`` holds the ``counters[HEIGHT]``
        positions that wait for others, and ``counters[NEXT]`` is the next one to begin with.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : int
        DONE, PAUSED, GROW_STACK; or what is wrong with the position on top of the stack: BAD rules,
        CHANCE, LOOPS if it comes again, RISES if an action (in ``counters[ACTION]``) leads to more
        material, TOO_LARGE if the value is no whole number or too large for a byte.
    """
    values, offsets, stack, counters = work.values, work.offsets, work.stack, work.counters
    material, size, has_rewards = work.material, work.size, work.has_rewards
    start = offsets[material]
    height, following_index = counters[HEIGHT], counters[NEXT]
    last = counters[EXPANDED] + budget
    while True:
        if height == 0:
            while following_index < size and values[start + following_index] != UNKNOWN:
                following_index += 1
            if following_index == size or counters[EXPANDED] >= last:
                counters[HEIGHT] = 0
                counters[NEXT] = following_index
                return DONE if following_index == size else PAUSED
            stack[0] = following_index
            height = 1
        if height == stack.size:
            counters[HEIGHT] = height
            counters[NEXT] = following_index
            return GROW_STACK
        index = stack[height - 1]
        counters[HEIGHT] = height
        counters[EXPANDED] += 1
        state = game.ending_state(material, index)
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
                        known = values[offsets[left] + place]
                        if known == UNKNOWN:
                            stack[height] = place
                            waits = True
                            break
                        if known == BEGUN:
                            return LOOPS
                        mover = game.player(after)
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
        if not abs(best) <= MOST or best != round(best):
            counters[VALUE] = 0
            return TOO_LARGE
        values[start + index] = int(best)
        height -= 1
