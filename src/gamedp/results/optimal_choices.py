"""Optimal choices of a solved model: proven, or as far as the bounds can decide.

A choice is best if some policy that always takes it in its state attains the value. It must
therefore be *tight*: Bellman's equation holds for it with equality. If play may go on for ever,
that is not enough: waiting for ever may be tight in every step and never attain the value. A policy
of tight choices attains the value if and only if it does not stay for ever where that is worse than
the value, whatever the opponent does (the values along a play are then a bounded martingale against
best replies, a submartingale against others, and play stops almost surely). Hence a tight choice of
a state s is best if and only if one of its outcomes is in the attractor of the ends without s:
there, tight choices lead to an end with positive probability from all states except s, and s leads
there. (A cycle with positive rewards and no negative ones is as good as an end.) Where missing a
target has an infinite value, a choice is best if, always taken, it keeps the other player from
reaching the target almost surely [2]_.

References
----------
.. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, chapters 7 and 9.
.. [2] K. Chatterjee, T. Henzinger, "Value iteration", in 25 Years of Model Checking, LNCS 5000,
   2008: attractors and end components.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np

from gamedp.graph.structure import Structure
from gamedp.model.objectives import AverageReward, Reachability, TotalReward, value_of_endless_play
from gamedp.results.choice_values import choice_values, decided, exact_choice_bounds
from gamedp.results.status import Guarantee
from gamedp.runtime.slices import CHOICES

if TYPE_CHECKING:
    from gamedp.results.base import Table
    from gamedp.results.status import Best
    from gamedp.runtime.arrays import Flags, Floats, Integers


Certainty: TypeAlias = Literal["possible", "certain"]

NEXT_TO_NOTHING = 1e-9
"""Largest loss, relative to the largest value, of an action that is taken to win sooner."""


class Candidates(NamedTuple):
    """Choices that may be best, and choices that certainly are; (n,) bool each."""

    possible: Flags
    certain: Flags


@attrs.frozen(eq=False)
class OptimalChoices:
    """The best choices of a solution; results that need a pass over the model are cached.

    Attributes
    ----------
    solution : Table
        A solution for one or two players.
    """

    solution: Table

    def of_state(self, state: int, tolerance: float = 0.0) -> list[Best]:
        """Return for each choice of a state whether it is best.

        Parameters
        ----------
        state : int
            The state's index.
        tolerance : float
            Choices that are worse by at most this much count as best, too.
        """
        solution, model = self.solution, self.solution.model
        first, end = model.choice_offsets[state : state + 2].tolist()
        possible, certain = self._candidates(state, tolerance)
        own = int(solution.policy[state]) - first
        if 0 <= own < end - first:
            possible[own] = True
        certain &= possible
        standings: list[Best] = [
            "certain" if sure else "possible" if may_be else "no"
            for may_be, sure in zip(possible.tolist(), certain.tolist(), strict=True)
        ]
        return standings

    def _candidates(self, state: int, tolerance: float) -> Candidates:
        """Return the best choices of a state, the policy's own not included."""
        solution, model = self.solution, self.solution.model
        first, end = model.choice_offsets[state : state + 2].tolist()
        if end - first <= 1 or (self._decided is not None and self._decided[state]):
            return Candidates(np.ones(end - first, np.bool_), np.ones(end - first, np.bool_))
        found = self._tight(state, state + 1, tolerance)
        if isinstance(solution.objective, AverageReward):
            return self._with_bias(state, found)
        if solution.distances is not None and tolerance <= 0 and solution.distances[state] >= 0:
            return self._nearer(state, found)
        if self._may_wait:
            self._drop_waits(state, found)
        return found

    @property
    def _decided(self) -> Flags | None:
        return decided(self.solution)

    def nearly_certain(self) -> Flags:
        """Return which choices may be best and lose next to nothing if they are not; (C,).

        The loss is proven to be at most `NEXT_TO_NOTHING` of the largest value. The policy's own
        choice need not be among them.
        """
        solution, offsets = self.solution, self.solution.model.choice_offsets
        sizes = np.abs(solution.values[np.isfinite(solution.values)])
        loss = NEXT_TO_NOTHING * float(sizes.max(initial=0.0))
        found = np.zeros(int(offsets[-1]), np.bool_)
        first = 0
        while first < len(offsets) - 1:
            end = int(np.searchsorted(offsets, offsets[first] + CHOICES, side="right")) - 1
            end = max(end, first + 1)
            if offsets[first] < offsets[end]:
                of_states = self._tight(first, end, loss=loss)
                found[offsets[first] : offsets[end]] = of_states.possible & of_states.certain
            first = end
        return found

    def _wants_most(self) -> Flags:
        """Return the states whose player maximises player 0's value; (S,)."""
        solution = self.solution
        most: Flags = (solution.model.players == 0) == (solution.objective.optimum == "max")
        return most

    def _tight(
        self, first_state: int, end_state: int, tolerance: float = 0.0, loss: float = 0.0
    ) -> Candidates:
        """Return the choices of some states whose value equals that of their state.

        A choice is possible if no other choice's lower bound exceeds its upper bound, nor does the
        state's own; it is certain if no other's upper bound exceeds its lower bound by more than
        `loss`, or the state's does not.
        """
        solution, model = self.solution, self.solution.model
        offsets = model.choice_offsets[first_state : end_state + 1]
        first, end = int(offsets[0]), int(offsets[-1])
        if solution.tight is not None and tolerance <= 0:
            tight = solution.tight[first:end]
            return Candidates(tight.copy(), tight.copy())
        proven = solution.guarantee is not Guarantee.NONE
        inner = np.flatnonzero(np.diff(offsets))
        places, counts = offsets[inner] - first, np.diff(offsets)[inner]
        states = first_state + inner
        own: Any = (solution.lower[states], solution.upper[states])
        worse: list[Any] = [tolerance, loss]
        lower: Any
        upper: Any
        if proven and solution.exact is not None:  # the same comparisons, in rational numbers
            lower, upper = exact_choice_bounds(solution, first, end)
            own = (np.array([solution.exact[state] for state in states.tolist()], object),) * 2
            worse = [Fraction(each) if math.isfinite(each) else each for each in worse]
        else:
            numbers = choice_values(solution, first, end)
            lower, upper = numbers.lower, numbers.upper
            if not proven:
                rounding = 1e-12 * np.abs(numbers.values)
                rounding[~np.isfinite(rounding)] = 0.0
                lower, upper = numbers.values - rounding, numbers.values + rounding
        wants = self._wants_most()[states]
        most = np.repeat(wants, counts)
        low, high = np.where(most, lower, -upper), np.where(most, upper, -lower)
        floor = np.maximum.reduceat(low, places)
        ceiling = np.full(len(inner), np.inf)
        if proven:
            floor = np.maximum(floor, np.where(wants, own[0], -own[1]))
            ceiling = np.where(wants, own[1], -own[0])
        possible = high >= np.repeat(floor, counts) - worse[0]
        others = np.minimum(_best_of_others(high, places, counts), np.repeat(ceiling, counts))
        certain = (low >= others - worse[0] - worse[1]) & proven
        return Candidates(possible, certain)

    def _nearer(self, state: int, found: Candidates) -> Candidates:
        """Keep the certain choices that lead one step nearer to the end, if there are any."""
        model, distances = self.solution.model, self.solution.distances
        assert distances is not None  # noqa: S101 - for the type checker
        first, end = model.choice_offsets[state : state + 2].tolist()
        successors = model.successors[model.transition_offsets[first:end]]
        nearer = distances[successors] == distances[state] - 1
        if not (found.possible & nearer).any():
            return found  # rounding may separate equal values: then those are all that is known
        return Candidates(found.possible & nearer, found.certain & nearer)

    def _with_bias(self, state: int, found: Candidates) -> Candidates:
        """Keep the choices with the best bias among those with the best average after them.

        These are the choices for which the solution's numbers h prove its bound of the average as
        they do for the policy's; see :class:`gamedp.solvers.RelativeValueIteration`. However
        little an average may be better, no bias makes up for it. So a choice is dropped where the
        averages are equal for sure; or where play stays for less than the state's average, so that
        the way out has to be taken at some time.
        """
        solution, model = self.solution, self.solution.model
        # If its average is certainly better, the bias need not be compared.
        alone = found.certain & (found.possible.sum() == 1)
        if solution.biases is None:
            return Candidates(found.possible, alone)
        first, end = model.choice_offsets[state : state + 2].tolist()
        row = slice(*model.transition_offsets[[first, end]].tolist())
        starts = model.transition_offsets[first:end] - row.start
        most = bool(self._wants_most()[state])
        bias = solution.biases[0 if most else 1]
        # Relative to the state's own bias: only differences count, and they are smaller.
        steps = np.abs(model.probabilities[row]) * (bias[model.successors[row]] - bias[state])
        values = model.rewards[first:end] + np.add.reduceat(steps, starts)
        values = values if most else -values
        size = np.abs(model.rewards[first:end]).max() + np.abs(steps).max()
        width = float(solution.upper[state] - solution.lower[state])
        best = values[found.possible].max(initial=-math.inf)
        worse = values < best - 2 * width - 1e-12 * size
        if not self._averages_are_equal(state, found.possible):
            structure = model.structure
            least = solution.lower[state] if most else -solution.upper[state]
            least -= 1e-12 * size
            stays = structure.stays[first:end]
            worse &= stays & (self._most_for_staying[most][structure.end_component[state]] < least)
        return Candidates(found.possible & ~worse, alone)

    @functools.cached_property
    def _most_for_staying(self) -> tuple[Floats, Floats]:
        """The largest cost, and reward, of the choices that stay in an end component.

        (K + 1,) each; the last is for the states in none.
        """
        model = self.solution.model
        structure = model.structure
        there = structure.end_component[structure.owners[structure.stays]]
        largest = np.full((2, structure.num_end_components + 1), -np.inf)
        rewards = model.rewards[structure.stays]
        np.maximum.at(largest[0], there, -rewards)
        np.maximum.at(largest[1], there, rewards)
        return largest[0], largest[1]

    def _averages_are_equal(self, state: int, choices: Flags) -> bool:
        """Return whether the best averages after some choices of a state are equal for sure.

        They are in the states of one end component, as the player can go from each to each; and
        everywhere, if all play ends up in the same one.
        """
        model = self.solution.model
        if self.solution.tight is not None:
            return True
        ends = model.structure.end_component
        if not len(model.terminals) and ends.max() == 0:
            return True
        first, end = model.choice_offsets[state : state + 2].tolist()
        row = slice(*model.transition_offsets[[first, end]].tolist())
        lengths = np.diff(model.transition_offsets[first : end + 1])
        reached = ends[model.successors[row][np.repeat(choices, lengths)]]
        return bool((reached >= 0).all() and (reached == reached[:1]).all())

    # Waiting: where play may go on for ever.

    @functools.cached_property
    def _may_wait(self) -> bool:
        """Whether some choices are tight, and lead nowhere or past the target."""
        solution = self.solution
        until_the_end = isinstance(solution.objective, (TotalReward, Reachability))
        return until_the_end and not (solution.model.structure.always_ends and self._until is None)

    @property
    def _until(self) -> Flags | None:
        """The states that a total must reach to be finite; None if there are none."""
        until: Flags | None = getattr(self.solution.objective, "until", None)
        return until

    def _drop_waits(self, state: int, found: Candidates) -> None:
        """Remove the choices of a state with which play may never attain its value."""
        solution, model = self.solution, self.solution.model
        first, end = model.choice_offsets[state : state + 2].tolist()
        sign = 1.0 if self._wants_most()[state] else -1.0
        value = sign * float(solution.values[state])
        if value == -math.inf:
            return  # nothing helps
        if value == math.inf and sign > 0 and self._until is not None:
            misses = self._misses(state, self._until)
            found.possible[:] &= misses
            found.certain[:] &= misses
            return
        if value == math.inf:
            found.certain[:] = False  # the bounds do not prove that the policy gets there
            found.possible[:] &= self._leads_on(state, sign, "possible", infinite=True)
            return
        waits = model.structure.stays[first:end]
        if found.possible.sum() == 1 or not (found.possible & waits).any():
            return
        found.possible[:] &= ~waits | self._leads_on(state, sign, "possible")
        if (found.certain & waits).any():
            found.certain[:] &= ~waits | self._leads_on(state, sign, "certain")
        if found.possible.sum() == 1 and self._is_complete:
            # One of them must be best: where the value is finite, some policy attains it.
            found.certain[:] = found.possible & (solution.guarantee is not Guarantee.NONE)

    def _misses(self, state: int, until: Flags) -> Flags:
        """Return the choices with which, if always taken, the target may be missed in any case.

        The graph decides that: a player who keeps the total finite must reach it almost surely.
        """
        from gamedp.graph.sets import almost_sure  # noqa: PLC0415 - brings numba along

        structure, least = self.solution.model.structure, ~self._wants_most()
        first, end = structure.choice_offsets[state : state + 2].tolist()
        active = np.ones(len(structure.owners), np.bool_)
        misses = np.empty(end - first, np.bool_)
        for choice in range(first, end):
            active[first:end] = False
            active[choice] = True
            sure = almost_sure(structure, least, until, active)
            misses[choice - first] = not sure.members[state]
        return misses

    def _leads_on(
        self, state: int, sign: float, certainty: Certainty, *, infinite: bool = False
    ) -> Flags:
        """Return which choices of a state may lead to an end without returning to it first."""
        from gamedp.graph import attractors  # noqa: PLC0415 - brings numba along

        model = self.solution.model
        first, end = model.choice_offsets[state : state + 2].tolist()
        members = self._ends(sign, certainty, infinite=infinite).copy()
        classes = self._lasting
        if classes is not None and classes[state] >= 0 and not self._has_one_sign:
            members[: model.num_states][classes == classes[state]] = False
        if infinite and classes is not None and classes[state] >= 0:
            members[: model.num_states][classes == classes[state]] = False
        if members[state]:
            return np.ones(end - first, np.bool_)
        graph = self._unfolded.graph
        barred = np.zeros(len(members), np.bool_)
        barred[state] = True
        helps = self._sides == (sign > 0)
        own = helps[self._unfolded.owners]
        active = np.where(own, np.tile(self._all_tight[certainty == "certain"], self._copies), True)
        earns = np.zeros(len(active), np.bool_) if infinite else self._earns(sign)
        if earns.any():
            # As good as an end; the opponent will not continue it, and gets what is left.
            members |= _combined(graph, earns & active & own, np.logical_or)
            members |= ~helps & _combined(graph, earns, np.logical_and)
            members[state] = False
            active &= own | ~earns
        via, queue, missing = np.empty((3, len(members)), self._unfolded.choice_type)
        hit = np.empty(len(active), np.bool_)
        reverse = self._unfolded.reverse
        attractors.attract_jit(
            graph, reverse, helps, active, barred, members, via, queue, missing, hit
        )
        begin, stop = self._unfolded.transition_offsets[[first, end]].tolist()
        starts = self._unfolded.transition_offsets[first:end] - begin
        reached = members[self._unfolded.successors[begin:stop]]
        leads: Flags = np.logical_or.reduceat(reached, starts) | earns[first:end]
        return leads

    def _earns(self, sign: float) -> Flags:
        """Return which choices, repeated for ever, earn a player more than any end."""
        solution = self.solution
        counts = isinstance(solution.objective, TotalReward) and solution.objective.until is None
        if counts and self._has_one_sign and not solution.model.has_swaps:
            earns: Flags = sign * solution.model.rewards > 0
            return earns
        return np.zeros(len(self._unfolded.owners), np.bool_)

    @property
    def _copies(self) -> int:
        """The number of copies of each state in the unfolded graph: two with swaps, else one."""
        return 2 if self.solution.model.has_swaps else 1

    @functools.cached_property
    def _unfolded(self) -> Structure:
        """The graph without swaps: in the second S states the players have changed places."""
        model = self.solution.model
        if not model.has_swaps:
            return model.structure
        size, swaps = model.num_states, model.probabilities < 0
        dtype = np.promote_types(model.successors.dtype, np.min_scalar_type(-2 * size))
        sides = [model.successors + (swaps ^ side) * dtype.type(size) for side in (False, True)]
        return Structure.of(
            np.append(model.choice_offsets, model.choice_offsets[1:] + model.num_choices),
            np.append(model.transition_offsets, model.transition_offsets[1:] + len(swaps)),
            np.concatenate(sides),
        )

    @functools.cached_property
    def _sides(self) -> Flags:
        """Whether the player to move maximises, for each state of the unfolded graph."""
        most = self._wants_most()
        return np.concatenate([most, ~most]) if self._copies == 2 else most

    @functools.cached_property
    def _all_tight(self) -> Candidates:
        """The tight choices of all states."""
        model = self.solution.model
        found = self._tight(0, model.num_states)
        if self._decided is not None:
            over = np.repeat(self._decided, np.diff(model.choice_offsets))
            for flags in found:
                flags[over] = False
        return found

    @functools.cached_property
    def _has_one_sign(self) -> bool:
        """Whether no play can both earn and lose."""
        model = self.solution.model
        if isinstance(self.solution.objective, Reachability):
            return True
        if model.has_swaps:
            return not model.rewards.any()
        return bool((model.rewards >= 0).all() or (model.rewards <= 0).all())

    @property
    def _is_complete(self) -> bool:
        """Whether all best choices are found wherever values are finite."""
        return self._has_one_sign or self._until is not None

    def _value_of_endless_play(self, sign: float, certainty: Certainty) -> float:
        """Return the value for one side of endless play that earns nothing: its most, or least."""
        solution = self.solution
        if isinstance(solution.objective, Reachability):
            return 0.0
        if self._until is not None:
            return sign * math.inf
        ends = value_of_endless_play(solution.objective, solution.model)
        return (max if certainty == "possible" else min)(sign * end for end in ends)

    def _ends(self, sign: float, certainty: Certainty, *, infinite: bool) -> Flags:
        """Return the states at which a player has received the value.

        Terminal states, those where the objective ends, and those in which going on for ever is as
        good as the value; if rewards have both signs, also those among which the policy goes on.
        """
        model = self.solution.model
        ends = np.zeros(model.num_states, np.bool_)
        if infinite:
            if self._lasting is not None:
                ends |= (self._lasting >= 0) & (self.solution.values == sign * math.inf)
            return np.concatenate([ends, np.zeros_like(ends)]) if self._copies == 2 else ends
        if not self._has_one_sign and self._lasting is not None:
            ends |= self._lasting >= 0
        ends |= model.is_terminal
        if self._decided is not None:
            ends |= self._decided
        sides = []
        for side in range(self._copies):
            low, high = self._bounds_seen(side)
            low, high = (low, high) if sign > 0 else (-high, -low)
            number = low if certainty == "possible" else high
            best = high if certainty == "possible" else low
            good = best == math.inf
            limit = self._value_of_endless_play(sign, certainty)
            if self._has_one_sign or math.isinf(limit):
                good |= number <= limit
            sides.append(ends | good)
        return np.concatenate(sides)

    def _bounds_seen(self, side: int) -> tuple[Floats, Floats]:
        """Return lower and upper bounds of the states of one side of the unfolded graph."""
        solution = self.solution
        if not side:
            return solution.lower, solution.upper
        total = solution.model.constant_sum
        return (
            np.nextafter(total - solution.upper, -np.inf),
            np.nextafter(total - solution.lower, np.inf),
        )

    @functools.cached_property
    def _lasting(self) -> Integers | None:
        """The set of states in which the policy stays for ever, by number, -1 for none; (S,).

        None with two opponents, because the other one need not stay.
        """
        solution, model = self.solution, self.solution.model
        movers = model.players[np.diff(model.choice_offsets) > 0]
        if model.has_swaps or (len(movers) and (movers != movers[0]).any()):
            return None
        goes_on = solution.policy >= 0
        if self._decided is not None:
            goes_on &= ~self._decided
        chosen = solution.policy[goes_on]
        lengths = np.diff(model.transition_offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        rows = np.repeat(model.transition_offsets[chosen], lengths) + places
        chain = Structure.of(
            np.concatenate([[0], np.cumsum(goes_on)]), offsets, model.successors[rows]
        )
        return chain.end_component


def _combined(graph: Any, choices: Flags, combine: Any) -> Flags:
    """Return for each state whether any or all (`combine`) of its choices belong to a set."""
    offsets = graph.choice_offsets
    found = np.zeros(len(offsets) - 1, np.bool_)
    inner = np.flatnonzero(np.diff(offsets))
    found[inner] = combine.reduceat(choices, offsets[inner])
    return found


def _best_of_others(high: Floats, places: Integers, counts: Integers) -> Floats:
    """Return for each number the largest other number of its group."""
    largest = np.repeat(np.maximum.reduceat(high, places), counts)
    is_largest = high == largest
    alone = np.repeat(np.add.reduceat(is_largest.astype(np.int64), places) == 1, counts)
    second = np.repeat(np.maximum.reduceat(np.where(is_largest, -np.inf, high), places), counts)
    return np.where(is_largest & alone, second, largest)
