"""The graph of a model: components, levels, cycles, end components."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from gamedp.runtime.arrays import places_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.graph.graph import Graph, Reverse
    from gamedp.runtime.arrays import Flags, Integers


@attrs.frozen(eq=False, repr=False)
class Structure:
    """The graph of a model and its decomposition: S states, C choices, T transitions, K components.

    Made by :meth:`of`, and kept by a model as ``model.structure``. Only which successors are
    possible counts, not their probabilities; a transition on which the players change places counts
    like any other. All arrays are read-only.

    Attributes
    ----------
    choice_offsets : (S+1,) int64
        The graph: the choices of state s are ``choice_offsets[s] .. choice_offsets[s+1] - 1``.
    transition_offsets : (C+1,) int64
        The transitions of choice c are ``transition_offsets[c] .. transition_offsets[c+1] - 1``.
    successors : (T,) int32 or int64
        The state a transition leads to. Arrays of states and components have its type, too.

    Examples
    --------
    State 0 may move to 1, or end the game in 2; state 1 moves back to 0.

    >>> structure = Structure.of(
    ...     choice_offsets=np.array([0, 2, 3, 3]),
    ...     transition_offsets=np.array([0, 1, 2, 3]),
    ...     successors=np.array([1, 2, 0]),
    ... )
    >>> structure.component, structure.is_acyclic, structure.cycle()
    (array([1, 1, 0]), False, (0, 1))
    >>> structure.end_component, structure.stays, structure.always_ends
    (array([ 0,  0, -1]), array([ True, False,  True]), False)
    """

    choice_offsets: Integers
    transition_offsets: Integers
    successors: Integers

    @classmethod
    def of(
        cls, choice_offsets: Integers, transition_offsets: Integers, successors: Integers
    ) -> Structure:
        """Analyse a graph: results are computed when needed, in time linear in its size.

        Parameters
        ----------
        choice_offsets, transition_offsets, successors
            The graph, as in :class:`gamedp.Model`. The arrays are trusted to form one.
        """
        # Locked arrays are a type of their own to numba: this way every kernel compiles only once.
        return cls(_locked(choice_offsets), _locked(transition_offsets), _locked(successors))

    def __repr__(self) -> str:
        """Return the number of levels."""
        return f"{type(self).__name__}(num_levels={self.num_levels})"

    def __reduce__(self) -> tuple[Callable[..., Structure], tuple[Integers, Integers, Integers]]:
        # The rest is found again about as fast as it could be read, and comes back locked.
        return Structure.of, (self.choice_offsets, self.transition_offsets, self.successors)

    @property
    def num_states(self) -> int:
        """The number of states (S)."""
        return len(self.choice_offsets) - 1

    @property
    def num_components(self) -> int:
        """The number of strongly connected components (K)."""
        return len(self._parts.nontrivial)

    @cached_property
    def _parts(self) -> _StructureParts:
        """Find the components and levels."""
        from gamedp.graph import graph  # noqa: PLC0415 - brings numba along

        num_states = self.num_states
        dtype = self.successors.dtype
        component, order = np.empty(num_states, dtype), np.empty(num_states, dtype)
        component_offsets = np.empty(num_states + 1, dtype)
        num_components = graph.strongly_connected_components_jit(
            self.transition_offsets[self.choice_offsets],
            self.successors,
            component,
            order,
            component_offsets,
            np.empty(num_states, dtype),
            np.empty(num_states, np.int64),
            np.empty(num_states, np.bool_),
        )
        component_offsets = component_offsets[: num_components + 1]
        levels = np.empty(num_components, dtype)
        nontrivial = np.empty(num_components, np.bool_)
        place = np.empty(num_states, np.uint32 if dtype.itemsize == 4 else np.uint64)
        num_levels, num_cyclic_levels, num_candidates = graph.describe_jit(
            self.graph,
            component,
            order,
            component_offsets,
            place,
            levels,
            nontrivial,
            np.empty(num_states, np.int8),
        )
        return _StructureParts(
            _locked(component),
            _locked(order),
            _locked(place),
            _locked(component_offsets),
            _locked(nontrivial),
            _locked(levels),
            num_levels,
            num_candidates,
            num_cyclic_levels,
        )

    @property
    def component(self) -> Integers:
        """The strongly connected component of each state; (S,).

        They are numbered in reverse topological order: no transition leads to a component with a
        higher number.
        """
        return self._parts.component

    @property
    def order(self) -> Integers:
        """The states by component, within a component as a depth-first search finishes them; (S,).

        Most successors of a state come before it, in an acyclic model all of them.
        """
        return self._parts.order

    @property
    def place(self) -> NDArray[np.unsignedinteger[Any]]:
        """The position of each state in the order, unsigned: ``order[place[s]] == s``; (S,)."""
        return self._parts.place

    @property
    def component_offsets(self) -> Integers:
        """Component k is ``order[component_offsets[k]:component_offsets[k+1]]``; (K+1,)."""
        return self._parts.component_offsets

    @property
    def nontrivial(self) -> Flags:
        """Whether a component contains a cycle; (K,).

        It then has several states, or one that may follow itself.
        """
        return self._parts.nontrivial

    @property
    def levels(self) -> Integers:
        """The number of steps from component to component on the longest way down; (K,).

        0 if none leads out. Components of one level do not depend on each other.
        """
        return self._parts.levels

    @property
    def num_levels(self) -> int:
        """The number of levels."""
        return self._parts.num_levels

    @cached_property
    def graph(self) -> Graph:
        """The three arrays in the form that kernels take."""
        from gamedp.graph.graph import Graph  # noqa: PLC0415 - brings numba along

        return Graph(self.choice_offsets, self.transition_offsets, self.successors)

    @cached_property
    def reverse(self) -> Reverse:
        """The transposed graph in the form that kernels take; no components are needed for it."""
        from gamedp.graph.graph import Reverse, transpose_jit  # noqa: PLC0415 - brings numba along

        offsets = np.empty(self.num_states + 1, np.int64)
        choices = np.empty(len(self.successors), self.choice_type)
        transpose_jit(self.transition_offsets, self.successors, None, offsets, choices)
        return Reverse(self.owners, _locked(offsets), _locked(choices))

    @cached_property
    def choice_type(self) -> np.dtype[np.signedinteger[Any]]:
        """The type in which choices are numbered: that of states if it has room for them."""
        dtype = self.successors.dtype
        fits = len(self.transition_offsets) - 1 <= np.iinfo(dtype).max
        return dtype if fits else np.dtype(np.int64)

    @cached_property
    def owners(self) -> Integers:
        """The state of each choice; (C,)."""
        states = np.arange(self.num_states, dtype=self.successors.dtype)
        return _locked(np.repeat(states, self.choice_offsets[1:] - self.choice_offsets[:-1]))

    @property
    def predecessors(self) -> tuple[Integers, Integers]:
        """The transposed graph: offsets, (S+1,), and choices, (T,).

        The choices that may lead to state s are ``choices[offsets[s]:offsets[s+1]]``, ascending.
        """
        return self.reverse.offsets, self.reverse.choices

    @property
    def num_cyclic_levels(self) -> int:
        """The number of levels with a cyclic component; no path visits more such components."""
        return self._parts.num_cyclic_levels

    @property
    def is_acyclic(self) -> bool:
        """Whether no state can ever recur."""
        return self._parts.num_cyclic_levels == 0

    def in_order(self) -> tuple[Structure, Integers, Integers]:
        """Return the same graph with its states numbered in `order`, and where its rows come from.

        Returns
        -------
        structure : Structure
            Its own order is 0, 1, 2 and so on; its components are the same.
        choices, transitions : (C,), (T,) int64
            The number here of each of its choices and transitions.
        """
        order, parts = self.order, self._parts
        counts = np.diff(self.choice_offsets)[order]
        choices, choice_offsets = places_of_rows(self.choice_offsets[order], counts)
        counts = np.diff(self.transition_offsets)[choices]
        transitions, transition_offsets = places_of_rows(self.transition_offsets[choices], counts)
        successors = self.place[self.successors[transitions]].astype(self.successors.dtype)
        structure = Structure.of(
            np.append(choice_offsets, len(choices)),
            np.append(transition_offsets, len(transitions)),
            successors,
        )
        numbers = np.arange(self.num_states, dtype=order.dtype)
        same = parts._replace(
            component=_locked(parts.component[order]),
            order=_locked(numbers),
            place=_locked(numbers.astype(parts.place.dtype)),
        )
        object.__setattr__(structure, "_parts", same)  # not found anew, as in another order
        return structure, choices, transitions

    def cycle(self, state: int | None = None) -> tuple[int, ...]:
        """Find a shortest cycle through a state.

        Parameters
        ----------
        state
            The index of the state. By default the lowest one that lies on a cycle: in a model
            explored from its initial states, one that is among the nearest to them.

        Returns
        -------
        tuple of int
            The states of the cycle, `state` first; each moves to the next, and the last to the
            first. Empty if there is no such cycle.
        """
        from gamedp.graph import graph  # noqa: PLC0415 - brings numba along

        if state is None:
            if self.is_acyclic:
                return ()
            state = int(self.nontrivial[self.component].argmax())
        component = self.component[state]
        size = self.component_offsets[component + 1] - self.component_offsets[component]
        states = np.empty(size, self.successors.dtype)
        state_offsets = self.transition_offsets[self.choice_offsets]
        length = graph.shortest_cycle_jit(
            state_offsets, self.successors, self.component, state, states
        )
        return tuple(states[:length].tolist())

    @property
    def end_component(self) -> Integers:
        """The maximal end component of each state, -1 for a state in none; (S,).

        An end component is a set of states in which play can go on for ever: each of them has a
        choice, of either player, whose successors all lie in the set, and by such choices every
        state of the set can be reached from every other. The maximal ones have no state in common.
        They are numbered from 0 in the order of the components in which they lie.
        """
        return self._end_components[0]

    @property
    def stays(self) -> Flags:
        """Whether a choice surely keeps play in the maximal end component of its state; (C,)."""
        return self._end_components[1]

    @property
    def num_end_components(self) -> int:
        """The number of maximal end components."""
        return self._end_components[2]

    @property
    def may_have_end_components(self) -> bool:
        """Whether examining each component alone leaves it open that there are any."""
        return self._parts.num_candidates > 0

    @cached_property
    def always_ends(self) -> bool:
        """Whether play reaches a terminal state almost surely, whatever the players do.

        With finitely many states this holds if and only if there is no end component. Within one,
        play can go on for ever. And under every policy, even one that remembers or randomises, the
        states and choices that occur infinitely often almost surely form an end component if play
        does not end [1]_.

        References
        ----------
        .. [1] L. de Alfaro, "Formal verification of probabilistic systems", PhD thesis, Stanford
           University, 1997: the fundamental theorem of end components.
        """
        if not self.may_have_end_components:
            return True
        from gamedp.graph.end_components import SETTLED, UNSETTLED  # noqa: PLC0415

        found = self.clear(np.ones(len(self.transition_offsets) - 1, np.uint8))
        return self.num_end_components == 0 if found == UNSETTLED else found != SETTLED

    def clear(self, sides: NDArray[np.uint8]) -> int:
        """Look for an end component in two parts of the graph, with some of the choices each.

        Parameters
        ----------
        sides : (C,) uint8
            The parts that a choice belongs to: 1 the first, 2 the second, 3 both.

        Returns
        -------
        int
            As for ``gamedp.graph.end_components.clear``.
        """
        from gamedp.graph import end_components  # noqa: PLC0415 - brings numba along

        return int(
            end_components.clear_jit(
                self.graph,
                self.order,
                self.component_offsets,
                self.nontrivial,
                sides,
                np.empty(self.num_states, np.uint8),
            )
        )

    @cached_property
    def _end_components(self) -> tuple[Integers, Flags, int]:
        """The results for `end_component`, `stays` and `num_end_components`."""
        from gamedp.graph import end_components  # noqa: PLC0415 - brings numba along

        num_choices = len(self.transition_offsets) - 1
        # The kernel also numbers choices in the type of this array.
        end_component = np.full(self.num_states, -1, self.choice_type)
        stays = np.zeros(num_choices, np.bool_)
        num_end_components = 0
        if self.may_have_end_components:
            num_end_components = end_components.maximal_end_components_jit(
                self.graph,
                self.component,
                self.order,
                self.component_offsets,
                self.nontrivial,
                end_component,
                stays,
            )
        return _locked(end_component), _locked(stays), int(num_end_components)


class _StructureParts(NamedTuple):
    """Results of :mod:`gamedp.graph.graph`, and the position of each state in the order."""

    component: Integers
    order: Integers
    place: NDArray[np.unsignedinteger[Any]]
    component_offsets: Integers
    nontrivial: Flags
    levels: Integers
    num_levels: int
    num_candidates: int
    num_cyclic_levels: int


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself if it is read-only, else a view that is."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
