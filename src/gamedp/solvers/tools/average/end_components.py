"""The end components of a model by themselves, and policy iteration within one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.average import Graph
from gamedp.graph.sets import positive
from gamedp.graph.structure import Structure
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.model import Model

__all__ = [
    "EndComponents",
    "best_policy",
    "graph_of",
    "is_easy_to_eliminate",
    "offsets_of",
    "owners",
    "ragged",
]

FEW = 2000
MAX_ENTRIES = 1 << 26
MAX_OPERATIONS = 1 << 36
"""How many states, numbers in memory and operations a linear system may take at most."""

MAX_POLICIES = 200
"""Policies evaluated in one go; sweeps go on from the last one."""


def ragged(offsets: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places ``offsets[row] .. offsets[row + 1] - 1`` of some rows, in their order."""
    lengths = offsets[rows + 1] - offsets[rows]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(offsets[rows] - ends + lengths, lengths) + np.arange(total)


def owners(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row to which each place belongs."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def offsets_of(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where rows of these lengths begin, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


@attrs.frozen(eq=False)
class EndComponents:
    """The maximal end components of a model, with the choices that stay in them: M states.

    Attributes
    ----------
    states : (M,)
        The states of the model, by component.
    offsets : (K + 1,)
        The states of component k are ``states[offsets[k]:offsets[k + 1]]``.
    choices : (C,)
        The choices of the model.
    graph : Graph
        Rewards are signed so that the most is wanted.
    """

    states: NDArray[np.int64]
    offsets: NDArray[np.int64]
    choices: NDArray[np.int64]
    graph: Graph

    @classmethod
    def of(cls, model: Model, sign: float) -> EndComponents:
        """Take a model apart."""
        structure = model.structure
        component = structure.end_component
        states = np.argsort(component, kind="stable")
        states = states[component[states] >= 0]
        sizes = np.bincount(component[states], minlength=structure.num_end_components)
        choices = ragged(model.choice_offsets, states)
        rows = np.repeat(np.arange(len(states)), np.diff(model.choice_offsets)[states])
        staying = structure.stays[choices]
        choices, rows = choices[staying], rows[staying]
        transitions = ragged(model.transition_offsets, choices)
        place = np.full(model.num_states, -1, model.successors.dtype)
        place[states] = np.arange(len(states))
        return cls(
            states,
            offsets_of(sizes),
            choices,
            Graph(
                offsets_of(np.bincount(rows, minlength=len(states))),
                offsets_of(np.diff(model.transition_offsets)[choices]),
                place[model.successors[transitions]],
                model.probabilities[transitions],
                sign * model.rewards[choices],
            ),
        )

    def part(self, number: int) -> Graph:
        """Return the graph of one component, its states numbered from 0."""
        start, stop = self.offsets[number], self.offsets[number + 1]
        graph = self.graph
        first, last = graph.first_choice[start], graph.first_choice[stop]
        begin, end = graph.first_transition[first], graph.first_transition[last]
        return Graph(
            graph.first_choice[start : stop + 1] - first,
            graph.first_transition[first : last + 1] - begin,
            graph.targets[begin:end] - graph.targets.dtype.type(start),
            graph.chances[begin:end],
            graph.rewards[first:last],
        )


def graph_of(model: Model, sign: float) -> Graph:
    """Return all states and choices of a model as the kernels of averages take them."""
    return Graph(
        model.choice_offsets,
        model.transition_offsets,
        model.successors,
        model.probabilities,
        sign * model.rewards,
    )


def is_easy_to_eliminate(graph: Graph) -> bool:
    """Say whether linear systems of this graph take little time and memory.

    A few states always do; more of them if they can be put in an order in which none leads far: by
    elimination, what is not zero stays within that distance [1]_.

    References
    ----------
    .. [1] A. George, J. Liu, "Computer Solution of Large Sparse Positive Definite Systems",
       Prentice-Hall 1981, chapter 4.
    """
    num_states = len(graph.first_choice) - 1
    if num_states <= FEW or not len(graph.targets):
        return True
    import scipy.sparse  # noqa: PLC0415 - slow to import
    import scipy.sparse.csgraph  # noqa: PLC0415

    edges = graph.first_transition[graph.first_choice]
    pattern = scipy.sparse.csr_array(
        (np.ones(len(graph.targets), np.int8), graph.targets, edges), shape=(num_states, num_states)
    )
    order = scipy.sparse.csgraph.reverse_cuthill_mckee(pattern + pattern.T, symmetric_mode=True)
    place = np.empty(num_states, np.int64)
    place[order] = np.arange(num_states)
    reach = int(np.abs(place[graph.targets] - np.repeat(place, np.diff(edges))).max(initial=0))
    return num_states * reach <= MAX_ENTRIES and num_states * reach**2 <= MAX_OPERATIONS


def best_policy(
    graph: Graph,
    policy: NDArray[np.int64],
    tolerance: float,
    out_of_time: Callable[[], bool],
) -> NDArray[np.float64] | None:
    """Improve a policy of a communicating model until it earns the most; return its biases.

    Howard's policy iteration. Each policy is first made one with a single recurrent class, that in
    which it earns most: the other states take a shortest way there. A choice is replaced only by a
    better one, so that a new class can only come up if it earns more [1]_. Rounding may spoil this;
    nothing is proven here.

    Parameters
    ----------
    graph : Graph
    policy : (S,)
        Where to begin.
    tolerance : float
        Improvements that are smaller do not count.

    Returns
    -------
    (S,) float64 or None
        None if a linear system cannot be solved.

    References
    ----------
    .. [1] M. Haviv, M. Puterman, "An improved algorithm for solving communicating average reward
       Markov decision processes", Annals of Operations Research 28 (1991).
    """
    policy = policy.copy()
    owner = owners(graph.first_choice)
    source = np.repeat(owner, np.diff(graph.first_transition))
    counts = np.diff(graph.first_transition) + 10
    biases: NDArray[np.float64] | None = None
    for _ in range(MAX_POLICIES):
        chain = _Chain.of(graph, policy)
        if chain.num_classes > 1:
            gains = chain.evaluate()
            if gains is None:
                return biases
            chain.lead_to(int(np.argmax(gains[1])), policy)
            chain = _Chain.of(graph, policy)
        evaluated = chain.evaluate()
        if evaluated is None:
            return biases
        biases = evaluated[0]
        terms = graph.chances * (biases[graph.targets] - biases[source])
        rises = graph.rewards + np.add.reduceat(terms, graph.first_transition[:-1])
        sizes = np.abs(graph.rewards) + np.add.reduceat(np.abs(terms), graph.first_transition[:-1])
        noise = np.maximum.reduceat(counts * UNIT * sizes, graph.first_choice[:-1])
        best = np.maximum.reduceat(rises, graph.first_choice[:-1])
        better = best > rises[policy] + np.maximum(4 * noise, tolerance)
        if not better.any() or out_of_time():
            break
        tops = np.flatnonzero(rises == best[owner])
        states, places = np.unique(owner[tops], return_index=True)
        policy[states[better]] = tops[places[better]]
    return biases


@attrs.frozen(eq=False)
class _Chain:
    """What a policy makes of a graph.

    Attributes
    ----------
    graph : Graph
    offsets, targets, chances
        The transitions of each state.
    rewards : (S,)
    structure : Structure
    classes : (S,)
        The recurrent class of each state, -1 for a transient one.
    num_classes : int
    """

    graph: Graph
    offsets: NDArray[np.int64]
    targets: NDArray[np.int64]
    chances: NDArray[np.float64]
    rewards: NDArray[np.float64]
    structure: Structure
    classes: NDArray[np.int64]
    num_classes: int

    @classmethod
    def of(cls, graph: Graph, policy: NDArray[np.int64]) -> _Chain:
        transitions = ragged(graph.first_transition, policy)
        offsets = offsets_of(np.diff(graph.first_transition)[policy])
        targets = graph.targets[transitions]
        # With one choice a state, the end components are the recurrent classes.
        structure = Structure.of(np.arange(len(policy) + 1), offsets, targets)
        return cls(
            graph,
            offsets,
            targets,
            graph.chances[transitions],
            graph.rewards[policy],
            structure,
            structure.end_component,
            structure.num_end_components,
        )

    def evaluate(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the biases, zero in one state of each class, and the gain of each class.

        Of transient states only if there is one class. None if the linear system is singular as far
        as these numbers can tell.
        """
        import scipy.sparse  # noqa: PLC0415 - slow to import
        import scipy.sparse.linalg  # noqa: PLC0415

        num_states = len(self.rewards)
        labels = self.classes if self.num_classes > 1 else np.zeros(num_states, np.int64)
        pinned = np.full(self.num_classes, -1)
        recurrent = np.flatnonzero(self.classes >= 0)
        pinned[self.classes[recurrent]] = recurrent
        source = owners(self.offsets)
        inside = np.flatnonzero(labels >= 0)
        kept = labels[source] >= 0
        is_pinned = np.zeros(num_states, np.bool_)
        is_pinned[pinned] = True
        # In the column of a state whose bias is set to zero stands the gain of its class instead.
        kept &= ~is_pinned[self.targets]
        own = inside[~is_pinned[inside]]
        number = np.zeros(num_states, np.int64)
        number[inside] = np.arange(len(inside))
        matrix = scipy.sparse.csc_array(
            scipy.sparse.coo_array(
                (
                    np.concatenate([np.ones(len(own) + len(inside)), -self.chances[kept]]),
                    (
                        number[np.concatenate([own, inside, source[kept]])],
                        number[np.concatenate([own, pinned[labels[inside]], self.targets[kept]])],
                    ),
                ),
                shape=(len(inside), len(inside)),
            )
        )
        try:
            solver = scipy.sparse.linalg.splu(matrix)
        except RuntimeError:
            return None
        biases = np.zeros(num_states)
        gains = np.zeros(self.num_classes)
        for _ in range(3):
            # The residual, in differences, is far more exact than the solution of the system: with
            # it the solution is corrected.
            terms = self.chances * (biases[self.targets] - biases[source])
            left = self.rewards + np.add.reduceat(terms, self.offsets[:-1])
            correction = solver.solve((left - gains[labels])[inside])
            if not np.isfinite(correction).all():
                return None
            gains += correction[number[pinned]]
            correction[number[pinned]] = 0.0
            biases[inside] += correction
        return biases, gains

    def lead_to(self, best: int, policy: NDArray[np.int64]) -> None:
        """Change a policy so that it comes to one class from everywhere."""
        graph = self.graph
        everyone = np.ones(len(policy), np.bool_)
        others = (self.classes >= 0) & (self.classes != best)
        astray, _ = positive(self.structure, everyone, others, everyone)
        whole = Structure.of(graph.first_choice, graph.first_transition, graph.targets)
        _, towards = positive(whole, everyone, ~astray, np.ones(len(graph.rewards), np.bool_))
        policy[astray] = towards[astray]
