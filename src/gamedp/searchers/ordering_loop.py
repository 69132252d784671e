"""Move ordering: small functions, compiled into the loops of search.

First comes the best action of an earlier search, from the transposition table; then the killers,
which have cut off elsewhere at the same ply; then what has cut off most often, by the history.
"""

from __future__ import annotations

from gamedp.runtime.jit import inlined

__all__ = [
    "ACTIONS_KEPT",
    "KEEPS_TURN",
    "NO_ACTION",
    "next_action_jit",
    "next_promising_jit",
    "note_success_jit",
    "order_actions_jit",
    "place_of_jit",
    "swap_actions_jit",
]

ACTIONS_KEPT = 1 << 12
"""Number of actions, by their last bits, whose success is kept in the history, per player."""

NO_ACTION = -(1 << 62)
"""Stands for a missing killer."""

PLACES = (1 << 20) - 1
"""Mask of an action's place, kept in its priority; earlier places have a higher priority."""

FROM_TABLE, KEEPS_TURN, KILLER, MOST_HISTORY = 1 << 42, 1 << 41, 1 << 40, 1 << 38
"""Priorities: of the best action of an earlier search, of one after which the mover moves again, of
a killer, and the most that an action can earn in the history."""

RANK = 61
"""Above this bit of an action's priority, only the first two of these stand."""


def order_actions(actions, first, count, history, mover, killer, older_killer, suggested):
    """Compute the priorities of the actions of a position.

    Parameters
    ----------
    actions
        Their stack.
    first, count : int
        Their range on it.
    history : (2, ACTIONS_KEPT) int64
        The credit of each player's actions for cutoffs.
    mover, killer, older_killer : int
    suggested : int
        Place of the action that the table names; -1 if it names none.
    """
    for place in range(count):
        each = actions[first + place]
        label = each.label
        priority = history[mover, label & (history.shape[1] - 1)]
        if label == killer:
            priority += KILLER
        elif label == older_killer:
            priority += KILLER >> 1
        if place == suggested:
            priority += FROM_TABLE
        each.order = (priority << 20) + PLACES - place


order_actions_jit = inlined(order_actions)


def place_of(action):
    """Return the place that an action had when it was given its priority."""
    return PLACES - (action.order & PLACES)


place_of_jit = inlined(place_of)


def note_success(history, mover, label, earned):
    """Credit an action that has caused a cutoff in the history."""
    slot = label & (history.shape[1] - 1)
    history[mover, slot] = min(MOST_HISTORY, history[mover, slot] + earned)


note_success_jit = inlined(note_success)


def next_action(actions, first, count, current):
    """Return the place of the action with the highest priority among those not yet searched."""
    chosen = first + current
    for place in range(chosen + 1, first + count):
        if actions[place].order > actions[chosen].order:
            chosen = place
    return chosen


next_action_jit = inlined(next_action)


def next_promising(actions, first, count, current):
    """Return the place of the next action in a search to the ends of games.

    That is the one from the table, then those after which the mover moves again, which say more
    about a position than a reply to them; among these what promises most; of equals the last.
    """
    chosen = first + current
    for place in range(chosen + 1, first + count):
        here, best = actions[place], actions[chosen]
        rank, best_rank = here.order >> RANK, best.order >> RANK
        if rank > best_rank or (
            rank == best_rank
            and (
                here.promise > best.promise
                or (here.promise == best.promise and here.order & PLACES < best.order & PLACES)
            )
        ):
            chosen = place
    return chosen


next_promising_jit = inlined(next_promising)


def swap_actions(actions, one, other):
    """Exchange two actions on their stack."""
    if one != other:
        first, second = actions[one], actions[other]
        label, order, row, promise = first.label, first.order, first.row, first.promise
        first.label, first.order = second.label, second.order
        first.row, first.promise = second.row, second.promise
        second.label, second.order, second.row, second.promise = label, order, row, promise


swap_actions_jit = inlined(swap_actions)
