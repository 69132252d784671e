"""The compiled loop of depth-first proof-number search over a game's own methods."""

from __future__ import annotations

from gamedp.runtime.jit import inlined
from gamedp.searchers.transposition import BUCKET, find_entry_jit, hash_fields_jit

# What a call returns.
DONE, PAUSED, GROW_PLIES, GROW_CHILDREN, BAD, CHANCE, UNORDERED, READ, OUTSIDE = range(9)

# Where the loop goes on.
ENTER, UPDATE, RETURN = range(3)

# Places in `counters`.
PLY, PHASE, NODES, PROOF, DISPROOF, HITS, PROBES, WANTED, DEEPEST = range(9)
COUNTERS = 9

# Columns of `ints`.
FIRST, COUNT, CURRENT, IS_OWN, MOST_PROOF, MOST_DISPROOF, BEGAN = range(7)
INTS = 7

MOST_LEAD = 1 << 10
"""Of an estimate beyond the goal, no more than this counts."""

SOLVED = 1 << 30
"""A proof number of a position that is disproven, and a disproof number of one that is proven."""

BLOCK = 1 << 16
"""Positions in a block of an endgame table."""


def meets(value: float, needed: float, exceeds: bool) -> bool:
    """Say whether a value is as much as is needed, or more than that where it must exceed it."""
    return value > needed or (value == needed and not exceeds)


meets_jit = inlined(meets)


def keep_numbers(keys, infos, efforts, fields, proof, disproof, effort):
    """Enter the numbers of a position; in a full bucket, what cost the least to find goes."""
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
        worth = -1 if infos[entry] == 0 else efforts[entry]
        if worth < least:
            least = worth
            place = entry
    for k in range(fields.size):
        keys[place, k] = fields[k]
    infos[place] = proof << 31 | disproof
    efforts[place] = effort


keep_numbers_jit = inlined(keep_numbers)


def prove(game, work, budget):
    """Find out whether the prover gets what is wanted in the position at ply 0.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        ``fields`` (P, K + 2) is the stack, with what the prover has settled so far and the prover's
        number as the last fields; ``ints`` stands beside it; ``child_fields``, ``proofs`` and
        ``disproofs`` are those of the positions after it. ``goal`` is what the prover wants to
        get, or to exceed where ``exceeds`` says so.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : int
        DONE, with ``counters[PROOF]`` 0 if it is proven and ``counters[DISPROOF]`` 0 if it is not
        so; PAUSED, READ or GROW_* to be called again; or what is wrong in the position at
        ``counters[PLY]``: OUTSIDE if one after it has a number that is in no endgame table.
    """
    fields, ints, counters = work.fields, work.ints, work.counters
    child_fields, proofs, disproofs = work.child_fields, work.proofs, work.disproofs
    keys, infos, efforts = work.keys, work.infos, work.efforts
    goal, exceeds, strips = work.goal, work.exceeds, work.strips
    most_material = work.most_material
    total, last_field = work.constant_sum, fields.shape[1] - 1
    settled_field = last_field - 1
    infinity = float("inf")
    ply, phase = counters[PLY], counters[PHASE]
    proof, disproof = counters[PROOF], counters[DISPROOF]
    last_node = counters[NODES] + budget
    while True:
        if phase == ENTER:
            if counters[NODES] >= last_node or ply + 2 > ints.shape[0]:
                counters[PLY] = ply
                counters[PHASE] = ENTER
                return PAUSED if counters[NODES] >= last_node else GROW_PLIES
            counters[PLY] = ply
            counters[PHASE] = ENTER
            state = game.gamedp_decode(fields[ply])
            prover = fields[ply, last_field]
            mover = game.player(state)
            if mover < 0 or mover > 1:
                return BAD
            is_own = mover == prover
            first = 0
            if ply > 0:
                first = ints[ply - 1, FIRST] + ints[ply - 1, COUNT]
            count = 0
            for action in game.actions(state):
                found = 0
                if first + count >= proofs.size:
                    return GROW_CHILDREN
                child = first + count
                for probability, successor in game.outcomes(state, action):
                    if probability == 0.0:
                        continue
                    found += 1
                    if not probability > 1.0 - 1e-9:
                        found = 2
                    after, swapped = game.canonical(successor)
                    side = prover ^ 1 if swapped else prover
                    earned = fields[ply, settled_field]
                    proof = 1
                    disproof = 1
                    if game.is_terminal(after):
                        if meets_jit(game.payoff(after, side), goal - earned, exceeds):
                            proof = 0
                        else:
                            disproof = 0
                    else:
                        if strips:
                            before = game.settled(after, side)
                            after = game.remainder(after)
                            gained = before - game.settled(after, side)
                            if gained != round(gained):
                                return UNORDERED
                            earned += int(gained)
                        needed = goal - earned
                        low, high = game.value_range(after, side)
                        if most_material >= 0:
                            material = game.material(after)
                            if material <= most_material:
                                place = game.ending_index(after)
                                if (
                                    material < 0
                                    or place < 0
                                    or place >= work.ending_sizes[material]
                                ):
                                    return OUTSIDE
                                place += work.ending_offsets[material]
                                if not work.ending_present[place // BLOCK]:
                                    counters[WANTED] = place // BLOCK
                                    return READ
                                value = float(work.endings[place])
                                one, other = game.ending_range(after, value)
                                counters[PROBES] += 1
                                if game.player(after) != side:
                                    one, other = total - other, total - one
                                if one > low:
                                    low = one
                                if other < high:
                                    high = other
                        if not low <= high or low == infinity or high == -infinity:
                            return UNORDERED
                        if meets_jit(low, needed, exceeds):
                            proof = 0
                        elif not meets_jit(high, needed, exceeds):
                            disproof = 0
                        game.gamedp_flatten(after, child_fields[child])
                        child_fields[child, last_field] = side
                        child_fields[child, settled_field] = earned
                        # What lies farther from an endgame table, or from the goal by the game's
                        # own estimate, is likely to cost more.
                        effort = 1
                        if most_material >= 0:
                            effort += max(0, game.material(after) - most_material)
                        estimate = float(game.heuristic(after, side))
                        if not abs(estimate) < infinity:
                            return BAD
                        beyond = min(max(estimate - needed, -2.0 * MOST_LEAD), 2.0 * MOST_LEAD)
                        lead = int(beyond)
                        if proof:
                            proof = effort + min(max(0, -lead), MOST_LEAD)
                        if disproof:
                            disproof = effort + min(max(0, lead), MOST_LEAD)
                        if proof != 0 and disproof != 0:
                            hashed = hash_fields_jit(child_fields[child])
                            entry = find_entry_jit(keys, infos, child_fields[child], hashed)
                            if entry >= 0:
                                counters[HITS] += 1
                                proof = infos[entry] >> 31
                                disproof = infos[entry] & (2 * SOLVED - 1)
                    if proof == 0:
                        disproof = SOLVED
                    elif disproof == 0:
                        proof = SOLVED
                    proofs[child] = proof
                    disproofs[child] = disproof
                if found != 1:
                    return CHANCE if found else BAD
                count += 1
                if (proof == 0 and is_own) or (disproof == 0 and not is_own):
                    break
            if count == 0:
                return BAD
            counters[NODES] += 1
            if ply > counters[DEEPEST]:
                counters[DEEPEST] = ply
            ints[ply, FIRST] = first
            ints[ply, COUNT] = count
            ints[ply, IS_OWN] = is_own
            ints[ply, BEGAN] = counters[NODES]
            phase = UPDATE
        elif phase == UPDATE:
            first, count, is_own = ints[ply, FIRST], ints[ply, COUNT], ints[ply, IS_OWN]
            # Of the numbers of the positions after it, the least counts for the mover, and the
            # others' add up: here as the greatest and one more for each, for where they share
            # positions, a sum would count these twice.
            least = 2 * SOLVED
            second = 2 * SOLVED
            chosen = first
            greatest = 0
            open_children = 0
            for child in range(first, first + count):
                own = proofs[child] if is_own else disproofs[child]
                other = disproofs[child] if is_own else proofs[child]
                if own < least or (
                    own == least and other < (disproofs[chosen] if is_own else proofs[chosen])
                ):
                    second = least
                    least = own
                    chosen = child
                elif own < second:
                    second = own
                if other > greatest:
                    greatest = other
                if other != 0:
                    open_children += 1
            summed = greatest
            if greatest != 0 and greatest < SOLVED:
                summed = greatest + open_children - 1
                if summed >= SOLVED:
                    summed = SOLVED - 1
            if least > SOLVED:
                least = SOLVED
            if least == 0:
                summed = SOLVED
            elif summed == 0:
                least = SOLVED
            proof, disproof = (least, summed) if is_own else (summed, least)
            most_own = ints[ply, MOST_PROOF] if is_own else ints[ply, MOST_DISPROOF]
            most_other = ints[ply, MOST_DISPROOF] if is_own else ints[ply, MOST_PROOF]
            if least >= most_own or summed >= most_other or least == 0 or summed == 0:
                keep_numbers_jit(
                    keys, infos, efforts, fields[ply], proof, disproof,
                    counters[NODES] - ints[ply, BEGAN] + 1,
                )  # fmt: skip
                phase = RETURN
                continue
            ints[ply, CURRENT] = chosen
            other = disproofs[chosen] if is_own else proofs[chosen]
            own_limit = second + second // 4 + 1
            if own_limit > most_own:
                own_limit = most_own
            other_limit = most_other - summed + other
            if other_limit > SOLVED or most_other >= SOLVED:
                other_limit = SOLVED
            ply += 1
            ints[ply, MOST_PROOF] = own_limit if is_own else other_limit
            ints[ply, MOST_DISPROOF] = other_limit if is_own else own_limit
            for k in range(last_field + 1):
                fields[ply, k] = child_fields[chosen, k]
            phase = ENTER
        else:
            if ply == 0:
                counters[PLY] = 0
                counters[PROOF] = proof
                counters[DISPROOF] = disproof
                return DONE
            ply -= 1
            proofs[ints[ply, CURRENT]] = proof
            disproofs[ints[ply, CURRENT]] = disproof
            phase = UPDATE
