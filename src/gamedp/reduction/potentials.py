"""Flat end components: rewards are the differences of a potential, and a hub replaces the states.

The potential is called heights here: each choice that stays in the end component has the reward
``r(s, a) = h(s) - h(t)`` for every possible successor t.

*Lemma.* Every path from s to t within the end component earns ``h(s) - h(t)``: the sum telescopes.
Endless play therefore alternates between earning and losing [1]_, unless h is constant, and partial
sums stay between the least and the greatest difference of heights.

*Theorem.* If play has to end, values are those of the quotient: a hub represents the end component,
each state s of it leads to the hub with reward h(s), and from there one step leads to each exit
(t, a), with reward -h(t). The one player who chooses there gets from every state to every exit
almost surely, by choices that stay; by the lemma that earns ``h(s) - h(t)``, for all probabilities.
And every policy that leaves, leaves by some of the exits, with these rewards: its total is a convex
combination of their values, and no better than the best of them. ∎

References
----------
.. [1] C. Baier, N. Bertrand, C. Dubslaff, D. Gburek, O. Sankur, "Stochastic shortest paths and
   weight-bounded properties in Markov decision processes", LICS 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.graph.sets import attractor, end_components, first_choices, leads_into
from gamedp.model.model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Floats, Integers


LEG = -1
"""Represents a choice that is not one of the given model."""

NONE = -1

MARGINS = (2.0**-40, 2.0**-30, 2.0**-20, 2.0**-10)
"""Parts of the largest reward that choices may seem to lose and still be examined."""

LARGEST_EXACT_INTEGER = 2.0**53
"""Integers up to here are exact, and so are their sums and differences."""


@attrs.frozen(eq=False)
class FlatParts:
    """End components whose potential, the height of each state, is known.

    Attributes
    ----------
    labels : (S,)
        The end component of each state, -1 for none.
    stays : (C,) bool
        The choices that stay in them.
    heights : (S,)
        The reward from state s to state t of the same component is ``heights[s] - heights[t]``,
        exactly.
    """

    labels: Integers
    stays: Flags
    heights: Floats


def find_flat_parts(model: Model, members: Flags, stays: Flags, gaps: Floats) -> FlatParts | None:
    """Find parts of end components that are flat; None if none is found.

    Parameters
    ----------
    model : Model
        A model with S states and C choices.
    members : (S,) bool
        The states of the end components.
    stays : (C,) bool
        Their choices.
    gaps : (C,)
        The apparent shortfall of choices from the best average, 0. It only guides the search:
        the parts that are found are certainly flat.
    """
    structure = model.structure
    active = stays & members[structure.owners]
    size = float(np.abs(np.asarray(model.rewards)[active]).max(initial=0.0))
    for margin in MARGINS:
        near = active & (gaps <= margin * size)
        found = end_components(structure, members, near)
        if found is not None:
            parts = flat_parts(model, *found)
            if parts is not None:
                return parts
    return None


def flat_parts(model: Model, labels: Integers, stays: Flags) -> FlatParts | None:
    """Return the flat ones of some end components; None if there are none.

    In each of them, rewards are counted as integer multiples of their largest common unit;
    a component that needs larger numbers than are exact is not considered flat.

    Parameters
    ----------
    labels : (S,)
        The end component of each state, -1 for a state in none.
    stays : (C,) bool
        The choices that stay in the end component of their state.
    """
    owners = model.structure.owners
    states = np.flatnonzero(labels >= 0)
    choices = np.flatnonzero(stays & (labels >= 0)[owners])
    if not len(choices):
        return None
    _, part = np.unique(labels[states], return_inverse=True)
    mine = part[np.searchsorted(states, owners[choices])]
    earned, shifts = _whole(np.asarray(model.rewards)[choices], mine, int(part.max()) + 1)

    lengths = np.diff(model.transition_offsets)[choices]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    begin = model.transition_offsets[choices]
    places = np.repeat(begin - starts[:-1], lengths) + np.arange(starts[-1])
    sources = np.repeat(np.searchsorted(states, owners[choices]), lengths)
    successors = np.searchsorted(states, model.successors[places])
    falls = np.repeat(earned, lengths)
    heights = _fallen(part, sources, successors, falls)

    # A sum that is not exact is at least as large as the first number that need not be.
    wrong = np.zeros(len(shifts), np.bool_)
    wrong[part[~(np.abs(heights) < LARGEST_EXACT_INTEGER)]] = True
    wrong[mine[~(np.abs(earned) < LARGEST_EXACT_INTEGER)]] = True
    with np.errstate(invalid="ignore"):  # infinite results are wrong already
        wrong[part[sources[heights[sources] - heights[successors] != falls]]] = True
    if wrong.all():
        return None
    numbers = np.where(wrong, NONE, np.cumsum(~wrong) - 1)
    flat = np.full(len(labels), NONE, np.int64)
    flat[states] = numbers[part]
    exact = np.zeros(len(labels))
    fine = ~wrong[part]
    exact[states[fine]] = np.ldexp(heights[fine], -shifts[part[fine]])
    return FlatParts(flat, stays & (flat[owners] >= 0), exact)


def _fallen(part: Integers, sources: Integers, successors: Integers, falls: Floats) -> Floats:
    """Traverse parts from their first states; return the heights found on the way."""
    from scipy.sparse import csgraph, csr_array  # noqa: PLC0415 - slow to import, seldom needed

    root = len(part)
    _, first = np.unique(part, return_index=True)
    pairs = np.concatenate([sources * (root + 1) + successors, root * (root + 1) + first])
    pairs, where = np.unique(pairs, return_index=True)
    graph = csr_array(
        (np.ones(len(pairs), np.int8), (pairs // (root + 1), pairs % (root + 1))),
        shape=(root + 1, root + 1),
    )
    order, before = csgraph.breadth_first_order(graph, root)
    later = order[1:].astype(np.int64)
    taken = np.searchsorted(pairs, before[later].astype(np.int64) * (root + 1) + later)
    steps = np.append(falls, np.zeros(len(first)))[where[taken]]
    heights = [0.0] * (root + 1)
    for state, source, fall in zip(
        later.tolist(), before[later].tolist(), steps.tolist(), strict=True
    ):
        heights[state] = heights[source] - fall
    return np.array(heights[:root])


def _whole(numbers: Floats, part: Integers, count: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return the numbers of each part as integers times 2**-shift, and the shifts, (parts,)."""
    mantissas, exponents = np.frexp(numbers)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = exponents.astype(np.int64) - 53
    some = whole != 0
    lowest[some] += np.log2((whole[some] & -whole[some]).astype(np.float64)).astype(np.int64)
    unit = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(unit, part[some], lowest[some])
    shifts = np.where(unit == np.iinfo(np.int64).max, 0, -unit)
    with np.errstate(over="ignore"):  # results beyond the range are too large
        return np.ldexp(numbers, shifts[part]), shifts


@attrs.frozen(eq=False)
class Flattening:
    """A model with hubs instead of flat end components, and the way back.

    Attributes
    ----------
    model : Model
        The S states of the given one come first.
    given : Model
    parts : FlatParts
    choice_of : (C',)
        The choice of the given model that each choice corresponds to, or `LEG`.
    hubs : (number of parts,)
        The state for each part, to which all of its states lead.
    exits : (S,)
        The state by which a state of a part is left; -1 if it has no other choices.
    idle : (S,) bool
        Where a part may stay for ever without further rewards, at the best such height.
    stopped : int
        The terminal state that represents that; -1 if it does not count.
    sign : float
        1 if the one player maximises, else -1.
    """

    model: Model
    given: Model
    parts: FlatParts
    choice_of: NDArray[np.int64]
    hubs: Integers
    exits: Integers
    idle: Flags
    stopped: int
    sign: float

    def origin(self, state: int) -> int:
        """Return the state of the given model that a state represents."""
        size, number = self.given.num_states, len(self.hubs)
        if state < size:
            return state
        if state < size + number:
            return int((self.parts.labels == state - size).argmax())
        return int((self.exits == state).argmax())

    def project(self, numbers: Floats, rounding: int) -> Floats:
        """Return the numbers of the given model's states.

        Those of a part are the hub's plus the reward on the way there: the hub's may have been
        improved after theirs, and all of them must be consistent.
        """
        projected = numbers[: self.given.num_states].copy()
        inside = np.flatnonzero(self.parts.labels >= 0)
        heights = self.parts.heights[inside]
        there = numbers[self.hubs[self.parts.labels[inside]]]
        with np.errstate(invalid="ignore"):  # infinite ones are unchanged
            total = heights + there
            shown = total - heights
            lost = (heights - (total - shown)) + (there - shown)
            wrong = rounding * lost > 0
        projected[inside] = np.where(wrong, np.nextafter(total, rounding * np.inf), total)
        return projected

    def project_policy(self, policy: Integers) -> NDArray[np.int64]:
        """Return the same policy in the given model: it goes to the state that leaves a part."""
        parts, structure = self.parts, self.given.structure
        inside = np.flatnonzero(parts.labels >= 0)
        given = np.where(policy >= 0, self.choice_of[policy], NONE)
        projected = given[: self.given.num_states].astype(np.int64)
        chosen = self.model.successors[
            self.model.transition_offsets[policy[self.hubs[parts.labels[inside]]]]
        ]
        leaves = inside[chosen == self.exits[inside]]
        rests = inside[(chosen == self.stopped) & self.idle[inside]]
        goals = np.zeros(len(projected), np.bool_)
        goals[leaves] = goals[rests] = True
        _, via = attractor(structure, np.ones_like(goals), goals, parts.stays)
        projected[inside] = via[inside]
        projected[leaves] = given[self.exits[leaves]]
        free = parts.stays & (np.asarray(self.given.rewards) == 0)
        idle = free & self.idle[structure.owners]
        keeps = first_choices(structure, idle & ~leads_into(structure, ~self.idle))
        projected[rests] = keeps[rests]
        return projected

    def open_cases(self) -> tuple[Integers, Floats]:
        """Return where alternating for ever might be better, and its largest possible value.

        Sums that go up and down for ever have no limit. None of them is above the reward on
        the way to the lowest state.

        Returns
        -------
        states : (number,)
            One of each part in which that is more than stopping.
        worth : (number,)
        """
        if self.stopped < 0:
            return np.empty(0, np.int64), np.empty(0)
        labels, heights = self.parts.labels, self.sign * self.parts.heights
        inside = np.flatnonzero(labels >= 0)
        least = np.full(len(self.hubs), np.inf)
        np.minimum.at(least, labels[inside], heights[inside])
        settled = np.zeros(len(self.hubs), np.bool_)
        low = inside[self.idle[inside]]
        settled[labels[low]] = heights[low] == least[labels[low]]
        first = np.full(len(self.hubs), NONE)
        first[labels[inside[::-1]]] = inside[::-1]
        states = first[~settled]
        return states, self.sign * (heights[states] - least[~settled])


def flattened(
    model: Model, parts: FlatParts, sign: float, mover: int, *, may_stop: bool
) -> Flattening:
    """Make the model in which flat end components have hubs.

    Parameters
    ----------
    model : Model
        A model in which one player chooses.
    parts : FlatParts
    sign : float
        1 if that player maximises, else -1.
    mover : int
        The number of that player.
    may_stop : bool
        Whether staying for ever where nothing is earned has the value of the previous rewards.
    """
    labels, heights = parts.labels, parts.heights
    structure = model.structure
    owners = structure.owners
    inside = np.flatnonzero(labels >= 0)
    number = int(labels.max()) + 1
    hubs = model.num_states + np.arange(number)
    leaving = (labels[owners] >= 0) & ~parts.stays
    sources = np.unique(owners[leaving])
    exits = np.full(model.num_states, NONE, np.int64)
    exits[sources] = model.num_states + number + np.arange(len(sources))
    size = model.num_states + number + len(sources) + may_stop
    stopped = size - 1 if may_stop else NONE
    idle, best = _idle(model, parts, sign, number) if may_stop else (labels < NONE, None)

    # The copied choices are those that are left, with the state that now has them.
    left = np.flatnonzero(~parts.stays)
    now = np.where(labels[owners[left]] >= 0, exits[owners[left]], owners[left])
    legs = [(inside, hubs[labels[inside]], heights[inside])]
    legs.append((hubs[labels[sources]], exits[sources], -heights[sources]))
    if best is not None:
        at = best[best >= 0]
        legs.append((hubs[labels[at]], np.full(len(at), stopped), -heights[at]))
    froms, tos, earned = (np.concatenate(column) for column in zip(*legs, strict=True))

    movers = np.concatenate([now, froms])
    sequence = np.argsort(movers, kind="stable")
    choice_of = np.concatenate([left, np.full(len(froms), LEG)])[sequence]
    own = choice_of >= 0
    lengths = np.where(own, np.diff(model.transition_offsets)[choice_of], 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    successors = np.empty(offsets[-1], np.int64)
    probabilities = np.ones(offsets[-1])
    rewards = np.concatenate([np.asarray(model.rewards)[left], earned])[sequence]
    copied = np.repeat(own, lengths)
    begin = model.transition_offsets[choice_of[own]]
    places = np.repeat(begin - offsets[:-1][own], lengths[own]) + np.flatnonzero(copied)
    successors[copied] = model.successors[places]
    probabilities[copied] = model.probabilities[places]
    successors[~copied] = np.concatenate([np.zeros(len(left), np.int64), tos])[sequence][~own]
    ends = model.terminals, model.payoffs
    if may_stop:
        ends = np.append(ends[0], stopped), np.append(ends[1], 0.0)
    dtype: type[Any] = np.int32 if size < 2**31 else np.int64
    small = Model.unchecked(
        choice_offsets=np.concatenate([[0], np.cumsum(np.bincount(movers, minlength=size))]),
        transition_offsets=offsets,
        successors=successors.astype(dtype, copy=False),
        probabilities=probabilities,
        rewards=rewards,
        players=np.append(model.players, np.full(size - model.num_states, mover, np.int8)),
        terminals=ends[0],
        payoffs=ends[1],
        action_labels=np.zeros(len(choice_of), np.int64),
        initial_states=model.initial_states,
        initial_probabilities=model.initial_probabilities,
        num_players=model.num_players,
        constant_sum=model.constant_sum,
    )
    return Flattening(small, model, parts, choice_of, hubs, exits, idle, stopped, sign)


def without_end(model: Model, parts: FlatParts) -> int:
    """Return a state of a part that cannot be left, and in which all play earns and loses; or -1.

    Parameters
    ----------
    model, parts
        As for :func:`flattened`.
    """
    owners = model.structure.owners
    number = int(parts.labels.max()) + 1
    ends = _idle(model, parts, 1.0, number)[1] >= 0
    ends[parts.labels[owners[(parts.labels[owners] >= 0) & ~parts.stays]]] = True
    lost = (parts.labels >= 0) & ~np.append(ends, True)[parts.labels]
    return int(lost.argmax()) if lost.any() else NONE


def _idle(
    model: Model, parts: FlatParts, sign: float, number: int
) -> tuple[Flags, NDArray[np.int64]]:
    """Find the states in which nothing is earned for ever, at the best height to stop at.

    Returns
    -------
    idle : (S,) bool
    best : (number of parts,)
        A state at that height; -1 if there is no such place.
    """
    free = parts.stays & (np.asarray(model.rewards) == 0)
    best = np.full(number, NONE, np.int64)
    idle = np.zeros(model.num_states, np.bool_)
    found = end_components(model.structure, parts.labels >= 0, free)
    if found is None:
        return idle, best
    rests = np.flatnonzero(found[0] >= 0)
    least = np.full(number, np.inf)
    np.minimum.at(least, parts.labels[rests], sign * parts.heights[rests])
    rests = rests[sign * parts.heights[rests] == least[parts.labels[rests]]]
    idle[rests] = True
    best[parts.labels[rests]] = rests
    return idle, best
