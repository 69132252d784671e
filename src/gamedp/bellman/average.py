"""Gains of end components: the average reward per step of play that stays in one for ever.

For any numbers v, the optimal gain g of a communicating model lies between bounds,

    min over s of (Tv - v)(s)  <=  g  <=  max over s of (Tv - v)(s),

Tv being the best of ``r + sum(P * v)`` over the choices of each state [1]_, [2]_. The lower one
holds for the greedy policy. (With h = v, ``g + h >= r + P h`` for all choices bounds every policy's
average by g, and ``g + h <= r + P h`` for one policy bounds its own from below, as the sums of n
steps telescope: Puterman [2]_, theorem 9.1.2. The gain is one number, as play gets from every state
to every other.) Whatever v the sweeps have reached, the bounds are therefore proven by evaluating
it once more. Probabilities sum to one, therefore

    (r + sum(P * v))(s, a) - v(s)  =  r(s, a) + sum(P(t | s, a) * (v(t) - v(s))),

and this is how it is computed: a constant in v, however large, costs no accuracy. Rounding is
allowed for as in :mod:`gamedp.bellman.residuals`, with two more operations for each term.

A sweep moves v towards Tv only in part. That is value iteration on the chain that stays where it
is with the remaining probability, and whose convergence no periodicity prevents [3]_; the bounds
are those of the chain itself.

The equation is that of the end components alone, renumbered, with the discount 1. Its constants
are rewards, signed so that every state maximises: `maximise` is ignored.

References
----------
.. [1] A. Odoni, "On finding the maximal gain for Markov decision processes", Operations Research 17
   (1969).
.. [2] M. Puterman, "Markov Decision Processes", Wiley 1994, theorem 8.5.5.
.. [3] P. Schweitzer, "Iterative solution of the functional equations of undiscounted Markov renewal
   programming", Journal of Mathematical Analysis and Applications 34 (1971).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.equation import ONE
from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.graph.graph import Graph
    from gamedp.runtime.arrays import Flags, Floats, Integers


STEP = 0.75
"""Step size of a sweep. With period 2, the remaining part of a difference is |1 - 2 * STEP|
of it; if mixing is slow, sweeps cost 1 / STEP of full ones."""

REPEATS = 6
"""Sweeps along a policy between two that may improve it; fewer if these achieve nothing."""

MOST_DENSE = 128
"""Largest number of states of an end component that are eliminated."""


def drift(choice: int, state: int, equation: Equation, values: Floats) -> tuple[float, float]:
    """Return by how much a choice raises the value of its state, and the rounding in that."""
    graph = equation.graph
    here = values[state]
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    total = equation.constants[choice]
    moved = 0.0
    moves = False
    for t in range(first, last):
        difference = values[graph.successors[t]] - here
        term = equation.probabilities[t] * difference
        total += term
        moved += abs(term)
        moves |= difference != 0.0
    if not moves:
        return total, 0.0
    count = last - first + 10
    return total, count * (UNIT * (abs(equation.constants[choice]) + moved) + TINY)


drift_jit = compiled(drift)


def sweep(
    start: int,
    stop: int,
    shift: float,
    equation: Equation,
    values: Floats,
    new_values: Floats,
    policy: Integers,
) -> tuple[float, float, float]:
    """Update once the states ``start .. stop - 1`` of an end component (Jacobi).

    Fills `new_values`, lowered by `shift` a step so that they stay small, and the greedy `policy`.

    Returns
    -------
    lowest, highest : float
        Bounds of the gain, proven; the lower one holds for the policy. Infinite on overflow.
    noise : float
        The largest rounding that they allow for, of choices that may be best.
    """
    graph = equation.graph
    lowest = np.inf
    highest = -np.inf
    noise = 0.0
    for state in range(start, stop):
        best = -np.inf
        best_slack = 0.0
        most = -np.inf
        most_slack = 0.0
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            rise, slack = drift_jit(choice, state, equation, values)
            if rise - rise != 0.0:  # infinite, or no number
                return -np.inf, np.inf, np.inf
            if rise > best:
                best = rise
                best_slack = slack
                policy[state] = choice
            if rise + slack > most:
                most = rise + slack
                most_slack = slack
        if best - best_slack < lowest:
            lowest = best - best_slack
        if most > highest:
            highest = most
        if best_slack > noise:
            noise = best_slack
        if most_slack > noise:
            noise = most_slack
        new_values[state] = values[state] + STEP * (best - shift)
    return lowest, highest, noise


sweep_jit = compiled(sweep)


def follow(
    start: int,
    stop: int,
    shift: float,
    repeats: int,
    equation: Equation,
    values: Floats,
    new_values: Floats,
    policy: Integers,
) -> None:
    """Move `new_values` to the values, and sweep along the policy alone; nothing is proven here."""
    graph = equation.graph
    for state in range(start, stop):
        values[state] = new_values[state]
    for _ in range(repeats):
        for state in range(start, stop):
            choice = policy[state]
            total = equation.constants[choice] - shift
            here = values[state]
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                total += equation.probabilities[t] * (values[graph.successors[t]] - here)
            new_values[state] = here + STEP * total
        for state in range(start, stop):
            values[state] = new_values[state]


follow_jit = compiled(follow)


def evaluate(
    start: int, stop: int, equation: Equation, policy: Integers, matrix: Floats, values: Floats
) -> bool:
    """Set values to the policy's biases by elimination; return whether play reaches one state.

    All but the first state are eliminated: play that would reach them goes on immediately. There
    remain the reward from the first state until play returns to it, and the number of these steps.
    Nothing is subtracted in the process [1]_. These values are proposals, and prove nothing.

    Parameters
    ----------
    matrix : (n, n + 2)
        Scratch, for at least as many states.

    References
    ----------
    .. [1] W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions
       for Markov chains", Operations Research 33 (1985).
    """
    graph = equation.graph
    size = stop - start
    steps = size + 1
    matrix[:size, : size + 2] = 0.0
    for place in range(size):
        choice = policy[start + place]
        for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
            matrix[place, graph.successors[t] - start] += equation.probabilities[t]
        matrix[place, size] = equation.constants[choice]
        matrix[place, steps] = 1.0
    for place in range(size - 1, 0, -1):
        out = 0.0
        for other in range(place):
            out += matrix[place, other]
        if not out > 0.0:
            return False
        for other in range(place):
            matrix[place, other] /= out
        matrix[place, size] /= out
        matrix[place, steps] /= out
        for other in range(place):
            probability = matrix[other, place]
            if probability > 0.0:
                for column in range(place):
                    matrix[other, column] += probability * matrix[place, column]
                matrix[other, size] += probability * matrix[place, size]
                matrix[other, steps] += probability * matrix[place, steps]
    gain = matrix[0, size] / matrix[0, steps]
    values[start] = 0.0
    for place in range(1, size):
        total = matrix[place, size] - gain * matrix[place, steps]
        for other in range(place):
            total += matrix[place, other] * values[start + other]
        values[start + place] = total
    return True


evaluate_jit = compiled(evaluate)


def settle(
    first: int,
    last: int,
    offsets: Integers,
    max_size: int,
    max_sweeps: int,
    tolerance: float,
    equation: Equation,
    values: Floats,
    new_values: Floats,
    policy: Integers,
    bounds: Floats,
    visits: Integers,
) -> int:
    """Find the gains of the end components ``first .. last - 1``, until each is known.

    By modified policy iteration: sweeps that prove bounds and improve the policy, and some along
    the policy in between. Small components are also eliminated, once sweeps have taken as long.

    Parameters
    ----------
    offsets
        The states of component k are ``offsets[k] .. offsets[k + 1] - 1``.
    max_size, max_sweeps
        Stops before a component with more states, and at one that takes more sweeps.
    bounds : (K, 2)
        Filled: the bounds of each gain, which hold for the resulting `values` and `policy`.
    visits : (1,) int64
        Counts the states visited.

    Returns
    -------
    component : int
        The first component whose gain is not known well enough.
    """
    graph = equation.graph
    matrix = np.empty((MOST_DENSE, MOST_DENSE + 2))
    for number in range(first, last):
        start = offsets[number]
        stop = offsets[number + 1]
        size = stop - start
        if size > max_size:
            return number
        transitions = graph.transition_offsets[graph.choice_offsets[stop]]
        transitions -= graph.transition_offsets[graph.choice_offsets[start]]
        patience = size * size // (4 * transitions + 1)
        repeats = REPEATS
        before = np.inf
        shift = 0.0
        settled = False
        for sweep_number in range(max_sweeps):
            lowest, highest, noise = sweep_jit(
                start, stop, shift, equation, values, new_values, policy
            )
            visits[0] += size
            bounds[number, 0] = lowest
            bounds[number, 1] = highest
            if highest - lowest <= tolerance or highest - lowest <= 4.0 * noise:
                settled = True
                break
            if sweep_number > 0 and not highest - lowest <= 0.9 * before:
                repeats //= 2
            before = highest - lowest
            shift = lowest + 0.5 * (highest - lowest)
            if size <= MOST_DENSE and sweep_number >= patience:
                patience = 2 * sweep_number + 2
                if evaluate_jit(start, stop, equation, policy, matrix, values):
                    shift = 0.0
                    continue
            follow_jit(start, stop, shift, repeats, equation, values, new_values, policy)
        if not settled:
            return number
    return last


settle_jit = compiled(settle)


def excess(
    sign: float, equation: Equation, gains: Floats, biases: Floats, policy: Integers
) -> float:
    """Return by how much gains and biases miss their inequality, rounding included.

    With sign 1, ``g(s) + h(s) >= r + sum(P * h)`` for all choices; with sign -1, the opposite for
    those of the policy. Negative if it holds with a margin.
    """
    graph = equation.graph
    worst = -np.inf
    for state in range(len(gains)):
        first = graph.choice_offsets[state]
        last = graph.choice_offsets[state + 1]
        if first < last and sign < 0.0:
            first = policy[state]
            last = first + 1
        for choice in range(first, last):
            rise, slack = drift_jit(choice, state, equation, biases)
            # The sign of a difference is exact, and the slack has room for rounding here.
            over = sign * (rise - gains[state]) + slack
            if over - over != 0.0:  # infinite, or no number
                return np.inf
            if over > worst:
                worst = over
    return worst


excess_jit = inlined(excess)


def cover(
    equation: Equation,
    lower: Floats,
    upper: Floats,
    low: Floats,
    high: Floats,
    policy: Integers,
    most: float,
) -> bool:
    """Move bounds outward until biases prove them, if that is little; return whether they do.

    Parameters
    ----------
    lower, upper : (S,)
        Moved, except for terminal states, whose value is zero.
    low, high : (S,)
        The biases for each.
    most : float
        The distance that moved bounds may have, or a thousandth more than they have.
    """
    width = 0.0
    for state in range(len(lower)):
        width = max(width, upper[state] - lower[state])
    fall = max(0.0, excess_jit(-1.0, equation, lower, low, policy))
    rise = max(0.0, excess_jit(1.0, equation, upper, high, policy))
    if not width + fall + rise <= max(most, 1.001 * width):
        return False
    offsets = equation.graph.choice_offsets
    for state in range(len(lower)):
        if offsets[state] < offsets[state + 1]:
            if fall > 0.0:
                lower[state] = np.nextafter(lower[state] - fall * (1.0 + 2.0**-40), -np.inf)
            if rise > 0.0:
                upper[state] = np.nextafter(upper[state] + rise * (1.0 + 2.0**-40), np.inf)
    return True


cover_jit = compiled(cover)


OUTSIDE = -1
"""The end component of a state in none."""


def take_apart(
    graph: Graph,
    probabilities: Floats,
    rewards: Floats,
    sign: float,
    end_component: Integers,
    stays: Flags,
    offsets: Integers,
    node: Integers,
    place: Integers,
    states: Integers,
    choices: Integers,
    part: Graph,
    own_probabilities: Floats,
    own_rewards: Floats,
) -> tuple[int, int]:
    """Copy the choices that stay in an end component, and number the nodes of the quotient.

    Parameters
    ----------
    graph, probabilities, rewards
        The model: S states, C choices, T transitions.
    sign : float
        The factor of the rewards.
    end_component, stays : (S,), (C,)
        As :mod:`gamedp.graph.end_components` fills them, with K end components.
    offsets : (K + 1,)
        Filled: the states of component k are ``states[offsets[k]:offsets[k + 1]]``, ascending.
    node : (S,)
        Filled: the end component of each state; K, K + 1, ... for states in none.
    place : (S,)
        Filled where a state is in an end component: its position in `states`.
    states, choices : (S,), (C,)
        Filled from the start: the states and the choices of the end components.
    part : Graph
        Filled from the start, for as many states, choices and transitions: the end components,
        their states numbered by `place`.
    own_probabilities, own_rewards : (T,), (C,)
        Filled from the start: of its transitions and choices.

    Returns
    -------
    num_states, num_choices : int
        Their number in end components.
    """
    for number in range(len(offsets)):  # a slice takes longer to compile
        offsets[number] = 0
    num_nodes = len(offsets) - 1
    for state in range(len(node)):
        if end_component[state] == OUTSIDE:
            node[state] = num_nodes
            num_nodes += 1
        else:
            node[state] = end_component[state]
            offsets[end_component[state] + 1] += 1
    for number in range(1, len(offsets)):
        offsets[number] += offsets[number - 1]
    # While the lists are filled, the offset of a component is where its next state belongs; in the
    # end, that is where the next list begins.
    for state in range(len(node)):
        number = end_component[state]
        if number != OUTSIDE:
            place[state] = offsets[number]
            states[offsets[number]] = state
            offsets[number] += 1
    for number in range(len(offsets) - 1, 0, -1):
        offsets[number] = offsets[number - 1]
    offsets[0] = 0
    num_states = int(offsets[-1])
    num_choices = num_transitions = 0
    part.choice_offsets[0] = part.transition_offsets[0] = 0
    for number in range(num_states):
        state = states[number]
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            if not stays[choice]:
                continue
            first = np.uintp(graph.transition_offsets[choice])
            for t in range(first, np.uintp(graph.transition_offsets[choice + ONE])):
                part.successors[num_transitions] = place[np.uintp(graph.successors[t])]
                own_probabilities[num_transitions] = probabilities[t]
                num_transitions += 1
            choices[num_choices] = choice
            own_rewards[num_choices] = sign * rewards[choice]
            num_choices += 1
            part.transition_offsets[num_choices] = num_transitions
        part.choice_offsets[number + 1] = num_choices
    return num_states, num_choices


take_apart_jit = compiled(take_apart)
