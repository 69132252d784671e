"""The compiled loop of depth-first proof-number search.

Depth first, on stacks of its own, so that the loop can stop at any position and go on later. It is
compiled once for all games, and asks the rules through pointers; see
:mod:`gamedp.searchers.position_loop`. All is seen from the side of the prover: the player who is to
reach the goal in question.
"""

from __future__ import annotations

from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.runtime.jit import inlined
from gamedp.searchers.node_loop import ENTER, ask_actions_jit, come_to_jit
from gamedp.searchers.position_loop import FULL, KNOWN, NO_NUMBER, UNREAD
from gamedp.searchers.stacks import POSITIONS, Fields, LoopStatus
from gamedp.searchers.transposition import BUCKET, find_entry_jit, hash_fields_jit

# Phases, besides ENTER.
UPDATE, RETURN, BEGIN = range(1, 4)

PLY = Fields("row first count current is_own most_proof most_disproof began")
"""A position on the way, its actions, the one being searched, and the limits of its numbers.

What the action at some place leads to stands in the row after that number. The last two fields of a
row are what the prover has banked on the way there, and the prover's number.
"""

MOST_LEAD = 1 << 10
"""Largest lead of an estimate beyond the goal that counts."""

SOLVED = 1 << 30
"""A proof number of a position that is disproven, and a disproof number of one that is proven."""


def meets(value: float, needed: float, exceeds: bool) -> bool:
    """Return whether a value reaches the goal, or exceeds it where it must."""
    return value > needed or (value == needed and not exceeds)


meets_jit = inlined(meets)


def keep_numbers(keys, infos, efforts, fields, proof, disproof, effort):
    """Enter the numbers of a position; in a full bucket, the cheapest entry is replaced."""
    first = (hash_fields_jit(fields) & (infos.size // BUCKET - 1)) * BUCKET
    place = first
    least = 1 << 62
    for entry in range(first, first + BUCKET):
        same = infos[entry] != 0
        for k in range(fields.size):
            if not same or keys[entry, k] != fields[k]:
                same = False
                break
        if same:
            place = entry
            effort += efforts[entry]
            break
        cost = -1 if infos[entry] == 0 else efforts[entry]
        if cost < least:
            least = cost
            place = entry
    for k in range(fields.size):
        keys[place, k] = fields[k]
    infos[place] = proof << 31 | disproof
    efforts[place] = effort


keep_numbers_jit = inlined(keep_numbers)


def count_action(work, page, rules, row, place):
    """Enter the proof and disproof numbers of the outcome of an action.

    Parameters
    ----------
    work, page, rules
        Of the loop; the position is the one at ``tally.ply``.
    row : int
        Of the position.
    place : int
        Of the action.

    Returns
    -------
    status : LoopStatus
        DONE; or why the loop must return. Where the fault is of the position after the action, that
        stands at ``tally.ply`` then.
    """
    tally, question, fields = work.tally[0], page.question[0], page.fields
    prover_field, infinity = fields.shape[1] - 1, float("inf")
    prover, banked = fields[row, prover_field], fields[row, prover_field - 1]
    action, after = page.actions[place], place + 1
    question.row = row
    question.first = after
    question.action = action.label
    question.mover = prover
    number = call_native(rules.follow_for_one, rules.game, rules.page)
    if number == FULL:
        tally.wanted = POSITIONS
        return LoopStatus.GROW
    if number > 1:
        return LoopStatus.CHANCE
    if number != 1:
        return LoopStatus.FAILED if number == RAISED else LoopStatus.BAD_RULES
    position = page.positions[after]
    side = prover ^ position.swapped
    action.proof = 0
    action.disproof = SOLVED
    if position.is_over:
        if not meets_jit(position.low, work.goal - banked, work.exceeds):
            action.proof = SOLVED
            action.disproof = 0
        return LoopStatus.DONE
    work.plies[tally.ply + 1].row = after
    if position.mover < 0 or position.mover >= work.num_players:
        tally.ply += 1
        return LoopStatus.BAD_RULES
    if position.ending == NO_NUMBER:
        return LoopStatus.OUTSIDE
    if position.ending == UNREAD:
        tally.wanted = position.block
        return LoopStatus.READ
    low, high = position.low, position.high
    if position.ending == KNOWN:
        tally.probes += 1
        one, other = position.ending_low, position.ending_high
        if position.mover != side:
            one, other = work.constant_sum - other, work.constant_sum - one
        low = max(low, one)
        high = min(high, other)
    is_whole = position.banked == round(position.banked)
    if not is_whole or not low <= high or low == infinity or high == -infinity:
        tally.ply += 1
        return LoopStatus.UNORDERED
    banked += int(position.banked)
    fields[after, prover_field] = side
    fields[after, prover_field - 1] = banked
    needed = work.goal - banked
    if meets_jit(low, needed, work.exceeds):
        return LoopStatus.DONE
    if not meets_jit(high, needed, work.exceeds):
        action.proof = SOLVED
        action.disproof = 0
        return LoopStatus.DONE
    if not abs(position.estimate) < infinity:
        tally.ply += 1
        return LoopStatus.BAD_ESTIMATE
    hashed = hash_fields_jit(fields[after])
    entry = find_entry_jit(work.keys, work.infos, fields[after], hashed)
    if entry >= 0:
        tally.hits += 1
        action.proof = work.infos[entry] >> 31
        action.disproof = work.infos[entry] & (2 * SOLVED - 1)
        return LoopStatus.DONE
    # What lies farther from an endgame table, or from the goal by the game's own estimate, is
    # likely to cost more.
    effort = 1
    if page.most_material >= 0:
        effort += max(0, position.material - page.most_material)
    lead = int(min(max(position.estimate - needed, -2.0 * MOST_LEAD), 2.0 * MOST_LEAD))
    action.proof = effort + min(max(0, -lead), MOST_LEAD)
    action.disproof = effort + min(max(0, lead), MOST_LEAD)
    return LoopStatus.DONE


count_action_jit = inlined(count_action)


def weigh(actions, first, count, is_own):
    """Return the cheapest action for the mover, its number, the next one, and the others' sum.

    Of the numbers of the positions after it, the least counts for the mover, and the others' add
    up: here as the greatest and one more for each, for where they share positions, a sum would
    count these twice.
    """
    least = 2 * SOLVED
    second = 2 * SOLVED
    chosen = first
    greatest = 0
    open_actions = 0
    for place in range(first, first + count):
        action, best = actions[place], actions[chosen]
        own = action.proof if is_own else action.disproof
        other = action.disproof if is_own else action.proof
        if own < least or (own == least and other < (best.disproof if is_own else best.proof)):
            second = least
            least = own
            chosen = place
        elif own < second:
            second = own
        if other > greatest:
            greatest = other
        if other != 0:
            open_actions += 1
    summed = greatest
    if greatest != 0 and greatest < SOLVED:
        summed = greatest + open_actions - 1
        if summed >= SOLVED:
            summed = SOLVED - 1
    if least > SOLVED:
        least = SOLVED
    if least == 0:
        summed = SOLVED
    elif summed == 0:
        least = SOLVED
    return chosen, least, second, summed


weigh_jit = inlined(weigh)


def prove(work, page, rules, budget):
    """Decide whether the prover reaches the goal in the position at ply 0.

    The phases::

        BEGIN   at the first position  --> ENTER
        ENTER   a position             --> UPDATE, with first numbers of all actions
        UPDATE  its numbers            --> ENTER one ply down; RETURN if they are beyond the limits
        RETURN  with its numbers       --> UPDATE one ply up

    Parameters
    ----------
    work
        ``plies`` is the stack; ``goal`` is what the prover wants to get, or to exceed where
        ``exceeds`` says so.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        DONE, with ``tally.proof`` 0 if it is proven and ``tally.disproof`` 0 if it is not so.
    """
    plies, positions, actions, fields = work.plies, page.positions, page.actions, page.fields
    tally, question = work.tally[0], page.question[0]
    prover_field = fields.shape[1] - 1
    ply, phase = tally.ply, tally.phase
    proof, disproof = tally.proof, tally.disproof
    last_node = tally.nodes + budget
    if phase == BEGIN:
        question.row = 0
        if call_native(rules.enter, rules.game, rules.page) == RAISED:
            return LoopStatus.FAILED
        phase = ENTER
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            row = here.row
            mover = positions[row].mover
            if mover < 0 or mover >= work.num_players:
                return LoopStatus.BAD_RULES
            is_own = mover == fields[row, prover_field]
            first = 0
            if ply > 0:
                first = plies[ply - 1].first + plies[ply - 1].count
            status, listed = ask_actions_jit(tally, question, rules, row, first)
            if status != LoopStatus.DONE:
                return status
            if first + listed >= len(positions):
                tally.wanted = POSITIONS
                return LoopStatus.GROW
            count = 0
            for place in range(first, first + listed):
                status = count_action_jit(work, page, rules, row, place)
                if status != LoopStatus.DONE:
                    return status
                count += 1
                if (actions[place].proof if is_own else actions[place].disproof) == 0:
                    break
            tally.nodes += 1
            if ply > tally.deepest:
                tally.deepest = ply
            here.first = first
            here.count = count
            here.is_own = is_own
            here.began = tally.nodes
            phase = UPDATE
        elif phase == UPDATE:
            is_own = here.is_own != 0
            chosen, least, second, summed = weigh_jit(actions, here.first, here.count, is_own)
            proof, disproof = (least, summed) if is_own else (summed, least)
            most_own = here.most_proof if is_own else here.most_disproof
            most_other = here.most_disproof if is_own else here.most_proof
            if least >= most_own or summed >= most_other or least == 0 or summed == 0:
                keep_numbers_jit(
                    work.keys, work.infos, work.efforts, fields[here.row], proof, disproof,
                    tally.nodes - here.began + 1,
                )  # fmt: skip
                phase = RETURN
                continue
            here.current = chosen
            other = actions[chosen].disproof if is_own else actions[chosen].proof
            own_limit = min(second + second // 4 + 1, most_own)
            other_limit = most_other - summed + other
            if other_limit > SOLVED or most_other >= SOLVED:
                other_limit = SOLVED
            ply += 1
            plies[ply].row = chosen + 1
            plies[ply].most_proof = own_limit if is_own else other_limit
            plies[ply].most_disproof = other_limit if is_own else own_limit
            phase = ENTER
        else:
            if ply == 0:
                tally.ply = 0
                tally.proof = proof
                tally.disproof = disproof
                return LoopStatus.DONE
            ply -= 1
            action = actions[plies[ply].current]
            action.proof = proof
            action.disproof = disproof
            phase = UPDATE


prove_jit = compiled_for_all(prove)
