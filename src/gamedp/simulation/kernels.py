"""Kernels that play games: random numbers, and walks: on a chain, known positions, a stage.

Each game has streams of random numbers of its own, which its number determines. A stream is a
counter that is mixed to 64 bits [1]_. So games may be played in any order, by any number of
threads. Those of a staged game continue from stage to stage.

References
----------
.. [1] G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014;
   the mixing function is David Stafford's variant 13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.runtime.jit import compiled, inlined
from gamedp.searchers.stacks import hash_fields_jit

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.runtime.arrays import Flags, Floats
    from gamedp.stages.vector_code import StageProgram

    Integers = npt.NDArray[Any]

GAMMA = np.uint64(0x9E3779B97F4A7C15)


ONCE = np.uint64(0xBF58476D1CE4E5B9)


TWICE = np.uint64(0x94D049BB133111EB)


S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)


UNIT = 2.0**-53
"""The unit of which random numbers are multiples."""


def mixed(number: Any) -> Any:
    """Return 64 bits, each of which depends on all bits of a number."""
    number = (number ^ (number >> S30)) * ONCE
    number = (number ^ (number >> S27)) * TWICE
    return number ^ (number >> S31)


mixed_jit = inlined(mixed)


ONE = np.uintp(1)
"""Unsigned one, for indices without a test for negative ones."""


PLIES, UNFINISHED = range(2)
"""Indices into `counters`."""

TOTAL, SQUARES = range(2)
"""Indices into `sums`: of the totals of games, and of their squares."""


class ChainBoard(NamedTuple):
    """A Markov chain in the arrays that walks read.

    Attributes
    ----------
    begin : int
        The node in which each game begins.
    firsts : (nodes,) int32
        The first successor of each node.
    scales : (nodes,) float64
        The number of successors times `UNIT`; negative if they are not equally likely, and 0 if the
        game is over.
    steps : (nodes,) int64
        The plies that a node counts for.
    cumulative : (T,) float64
        The cumulative probability of the successors of a node, in units of `UNIT`.
    successors : (T,) int32
    rewards : (nodes,) float64
        The reward in each node.
    results : (nodes,) int32
        The number of the payoff where the game is over.
    payoffs : (K,) float64
        All payoffs, each once.
    drawers : (nodes,) int8
        The stream from which the successor of a node is drawn, for walks in seats: that of a seat's
        dice, 0 or 1; of the random choices of its policy, 2 or 3; or of the start, 4.
    """

    begin: int
    firsts: Integers
    scales: Floats
    steps: Integers
    cumulative: Floats
    successors: Integers
    rewards: Floats
    results: Integers
    payoffs: Floats
    drawers: Integers


def walk(
    begin: int,
    end: int,
    key: Any,
    most: int,
    board: ChainBoard,
    has_rewards: bool,
    ends: Integers,
    counters: Integers,
    sums: Floats,
) -> None:
    """Play the games with the numbers from `begin` to `end`, as fast as random numbers are drawn.

    Parameters
    ----------
    begin, end : int
    key : uint64
        Of all games.
    most : int
        Plies after which a game is left unfinished.
    board : ChainBoard
    has_rewards : bool
    ends : (K,)
        The number of games that have ended with each payoff; increased.
    counters : (2,)
        The sum of plies, and the number of unfinished games; increased.
    sums : (2,)
        The sums of the totals of games that ended, and of their squares; increased.
    """
    firsts, scales, steps, successors = board.firsts, board.scales, board.steps, board.successors
    cumulative, rewards = board.cumulative, board.rewards
    results, payoffs = board.results, board.payoffs
    for game in range(begin, end):
        state = mixed_jit(key + np.uint64(game) * TWICE)
        node = np.uintp(board.begin)
        plies = 0
        earned = 0.0
        scale = scales[node]
        while scale != 0.0 and plies < most:
            place = np.uintp(firsts[node])
            plies += steps[node]
            if has_rewards:
                earned += rewards[node]
            state += GAMMA
            drawn = float(np.int64(mixed_jit(state) >> S11))
            if scale > 0.0:
                place += np.uintp(np.int64(drawn * scale))
            else:
                while cumulative[place] <= drawn:
                    place += ONE
            node = np.uintp(successors[place])
            scale = scales[node]
        counters[PLIES] += plies
        if scale != 0.0:
            counters[UNFINISHED] += 1
        else:
            result = np.uintp(results[node])
            ends[result] += 1
            earned += payoffs[result]
            sums[TOTAL] += earned
            sums[SQUARES] += earned * earned


walk_jit = compiled(walk)


def walk_in_seats(
    begin: int,
    end: int,
    key: Any,
    most: int,
    board: ChainBoard,
    seats_changed: bool,
    streams: Any,
    earned: Floats,
    paid: Floats,
    plies: Integers,
) -> None:
    """Play the games with the numbers from `begin` to `end`, with streams of numbers by seat.

    Each seat has its own dice, so that the k-th throw of a seat is the same in every game with that
    number, for any player there. The random choices of the policy at a seat have their own stream,
    too.

    Parameters
    ----------
    begin, end, key, most, board
        As for `walk`.
    seats_changed : bool
        Whether these are the games with swapped seats: the policies draw other numbers there.
    streams : (5,) uint64
        Working space for the streams.
    earned, paid : (end - begin,)
        The total and the final payoff of the first seat; written.
    plies : (end - begin,)
        The number of actions of each game; negative if it was left unfinished; written.
    """
    firsts, scales, steps, successors = board.firsts, board.scales, board.steps, board.successors
    cumulative, rewards = board.cumulative, board.rewards
    results, payoffs = board.results, board.payoffs
    for game in range(begin, end):
        row = game - begin
        root = np.uint64(mixed_jit(key + np.uint64(game) * TWICE))
        for stream in range(4):
            streams[stream] = np.uint64(mixed_jit(root + np.uint64(stream + 1) * ONCE))
        streams[4] = root
        if seats_changed:
            streams[2] ^= TWICE
            streams[3] ^= TWICE
        node = board.begin
        taken = 0
        total = 0.0
        scale = scales[node]
        while scale != 0.0 and taken < most:
            place = int(firsts[node])
            taken += steps[node]
            total += rewards[node]
            drawer = board.drawers[node]
            streams[drawer] += GAMMA
            drawn = float(np.int64(np.uint64(mixed_jit(streams[drawer])) >> S11))
            if scale > 0.0:
                place += int(drawn * scale)
            else:
                while cumulative[place] <= drawn:
                    place += 1
            node = int(successors[place])
            scale = scales[node]
        plies[row] = taken if scale == 0.0 else -1 - taken
        paid[row] = payoffs[results[node]]
        earned[row] = total + paid[row]


walk_in_seats_jit = compiled(walk_in_seats)


NODES, EDGES = range(2)
"""Indices into `used`."""


S32 = np.uint64(32)


def drawn_from(streams: Any, coming: Any, stream: Any) -> float:
    """Draw a number in [0, 1) from a stream.

    It is mixed in advance: a walk learns late from which stream it draws, and need not wait.

    Parameters
    ----------
    streams : (M,) uint64
        The counters; advanced.
    coming : (M,) uint64
        The mixed counters, which are drawn next; written.
    stream : int
    """
    number = coming[stream]
    streams[stream] += GAMMA
    coming[stream] = mixed_jit(streams[stream])
    return float(np.int64(number >> S11)) * UNIT


drawn_from_jit = inlined(drawn_from)


def node_of(slots: Integers, keys: Integers, used: Integers, fields: Integers) -> int:
    """Return the node of a position, a new one if it has none; -1 if there is no space for it.

    Parameters
    ----------
    slots : (2**k,) int32
        One more than the node of each position, 0 if empty; more than there are nodes.
    keys : (nodes, K) int64
    used : (2,) int64
        The numbers of nodes and edges; written.
    fields : (K,) int64
        The position.
    """
    slot = hash_fields_jit(fields) & (len(slots) - 1)
    while slots[slot] != 0:
        node = slots[slot] - 1
        is_same = True
        for field in range(len(fields)):
            if keys[node, field] != fields[field]:
                is_same = False
                break
        if is_same:
            return int(node)
        slot = (slot + 1) & (len(slots) - 1)
    node = used[NODES]
    if node == len(keys):
        return -1
    for field in range(len(fields)):
        keys[node, field] = fields[field]
    used[NODES] = node + 1
    slots[slot] = node + 1
    return int(node)


node_of_jit = compiled(node_of)


def node_of_action(
    firsts: Integers,
    sizes: Integers,
    successors: Integers,
    used: Integers,
    node: int,
    place: int,
    count: int,
) -> int:
    """Return the node of an action of a policy that randomises; -1 if there is no space.

    Parameters
    ----------
    firsts, sizes : (nodes,)
        As for `walk_on`; written.
    successors : (edges,)
        Likewise.
    used : (2,) int64
        The numbers of nodes and edges; written.
    node : int
        Of the position.
    place, count : int
        The index of the action, and the number of actions.
    """
    if sizes[node] == 0:
        first = used[EDGES]
        if used[NODES] + count > len(firsts) or first + count > len(successors):
            return -1
        for each in range(count):
            successors[first + each] = used[NODES] + each
        used[NODES] += count
        used[EDGES] += count
        firsts[node] = first
        sizes[node] = -count
    return int(successors[firsts[node] + place])


node_of_action_jit = compiled(node_of_action)


def walk_on(
    node: int,
    plies: int,
    most: int,
    streams: Any,
    coming: Any,
    firsts: Integers,
    sizes: Integers,
    drawers: Integers,
    cumulative: Floats,
    successors: Integers,
    has_rewards: bool,
    rewards: Floats,
    earned: Floats,
    row: int,
) -> tuple[int, int]:
    """Advance a game along the known positions; return the last node, and its plies.

    The first guess of the drawn outcome assumes that all are equally likely, which is usually
    right.

    Parameters
    ----------
    node : int
        Where the game is.
    plies, most : int
        The number of plies taken, and its limit.
    streams, coming : (M,) uint64
        As for `drawn_from`.
    firsts, sizes : (nodes,)
        The first edge of a node, and the number of its edges; negative if they are actions that
        chance decides between; 0 if unknown.
    drawers : (nodes,)
        The stream from which one of them is drawn.
    cumulative : (edges,) float64
        The cumulative probability of the outcomes of a node; infinite at the last one.
    successors : (edges,)
        The node that each leads to.
    has_rewards : bool
    rewards : (nodes, N) float64
        The rewards of each player in the node.
    earned : (games, N) float64
        The total rewards of each game; increased.
    row : int
        Of this game.
    """
    here = np.uintp(node)
    size = sizes[here]
    while size != 0 and plies < most:
        drawer = np.uintp(drawers[here])
        first = np.uintp(firsts[here])
        number = coming[drawer]
        drawn = float(np.int64(number >> S11)) * UNIT
        if size > 0:
            edge = first + np.uintp(((number >> S32) * np.uint64(size)) >> S32)
            while cumulative[edge] <= drawn:
                edge += ONE
            while edge > first and cumulative[edge - ONE] > drawn:
                edge -= ONE
            if has_rewards:
                for player in range(rewards.shape[1]):
                    earned[row, player] += rewards[here, player]
            plies += 1
            here = np.uintp(successors[edge])
        else:
            action = np.uintp(successors[first + np.uintp(np.int64(drawn * -size))])
            if sizes[action] == 0:
                break
            here = action
        drawn_from_jit(streams, coming, drawer)
        size = sizes[here]
    return np.int64(here), plies  # type: ignore[return-value] # an unsigned one would become a float


walk_on_jit = compiled(walk_on)


UNFINISHED, ASKS = -1, -2
"""Codes of `ends`: the game was left inside the stage; a player is to be asked."""


def walk_stage(
    program: StageProgram,
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
    program : StageProgram
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


def mark_possible(program: StageProgram, allowed: Flags, possible: Flags) -> None:
    """Mark the open choices in each context: those that do not force an end that it forbids.

    A choice is open if the state after each of its outcomes is an end that the context allows, or
    an inner state with an open choice.

    Parameters
    ----------
    program : StageProgram
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
