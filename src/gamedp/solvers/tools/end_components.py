"""The end components of a model, and policy iteration within one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman import average
from gamedp.bellman.equation import Equation, unordered_equation
from gamedp.graph.graph import Graph
from gamedp.graph.sets import attractor
from gamedp.graph.structure import Structure
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Floats, Integers

MAX_DENSE_STATES = 2000
MAX_ENTRIES = 1 << 26
MAX_OPERATIONS = 1 << 36
"""Largest numbers of states, of entries in memory and of operations of a linear system."""

MAX_POLICIES = 200
"""Largest number of policies evaluated in one call; sweeps continue from the last one."""


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
    """Return the starts of rows of these lengths, and the end of the last one."""
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
    node : (S,)
        For each state of the model, the node that represents it in the quotient: its end component,
        or for states in none, K and the following numbers.
    equation : Equation
        Rewards are signed so that larger is better.
    """

    states: NDArray[np.int64]
    offsets: NDArray[np.int64]
    choices: NDArray[np.int64]
    node: Integers
    equation: Equation

    @classmethod
    def of(cls, model: Model, sign: float) -> EndComponents:
        """Split a model into its end components."""
        structure = model.structure
        offsets = np.empty(structure.num_end_components + 1, np.int64)
        node, place = np.empty((2, model.num_states), structure.choice_type)
        states = np.empty(model.num_states, np.int64)
        choices = np.empty(model.num_choices, np.int64)
        room = Graph(
            np.empty_like(model.choice_offsets),
            np.empty_like(model.transition_offsets),
            np.empty_like(model.successors),
        )
        probabilities, rewards = np.empty_like(model.probabilities), np.empty_like(model.rewards)
        num_states, num_choices = average.take_apart_jit(
            structure.graph,
            model.probabilities,
            model.rewards,
            sign,
            structure.end_component,
            structure.stays,
            offsets,
            node,
            place,
            states,
            choices,
            room,
            probabilities,
            rewards,
        )
        num_transitions = int(room.transition_offsets[num_choices])
        part = Graph(
            _locked(room.choice_offsets[: num_states + 1]),
            _locked(room.transition_offsets[: num_choices + 1]),
            _locked(room.successors[:num_transitions]),
        )
        return cls(
            states[:num_states],
            offsets,
            choices[:num_choices],
            node,
            unordered_equation(
                part,
                _locked(probabilities[:num_transitions]),
                _locked(rewards[:num_choices]),
                np.ones(num_states, np.bool_),
            ),
        )

    def part(self, number: int) -> Equation:
        """Return the equation of one component, its states numbered from 0."""
        start, stop = self.offsets[number], self.offsets[number + 1]
        graph, equation = self.equation.graph, self.equation
        first, last = graph.choice_offsets[start], graph.choice_offsets[stop]
        begin, end = graph.transition_offsets[first], graph.transition_offsets[last]
        return unordered_equation(
            Graph(
                graph.choice_offsets[start : stop + 1] - first,
                graph.transition_offsets[first : last + 1] - begin,
                graph.successors[begin:end] - graph.successors.dtype.type(start),
            ),
            equation.probabilities[begin:end],
            equation.constants[first:last],
            equation.maximise[start:stop],
        )


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    """Lock an array: those of models are locked, and kernels are compiled for one kind only."""
    array.flags.writeable = False
    return array


def equation_of(model: Model, sign: float) -> Equation:
    """Return all states and choices of a model in the form that the kernels of averages take."""
    return unordered_equation(
        model.structure.graph,
        model.probabilities,
        _locked(sign * model.rewards),
        np.ones(model.num_states, np.bool_),
    )


def is_easy_to_eliminate(graph: Graph) -> bool:
    """Return whether linear systems of this graph take little time and memory.

    A few states always do; more of them if they can be ordered so that no transition leads far: in
    elimination, all nonzero entries stay within that distance [1]_.

    References
    ----------
    .. [1] A. George, J. Liu, "Computer Solution of Large Sparse Positive Definite Systems",
       Prentice-Hall 1981, chapter 4.
    """
    num_states = len(graph.choice_offsets) - 1
    if num_states <= MAX_DENSE_STATES or not len(graph.successors):
        return True
    import scipy.sparse  # noqa: PLC0415 - slow to import
    import scipy.sparse.csgraph  # noqa: PLC0415

    first_transitions = graph.transition_offsets[graph.choice_offsets]
    pattern = scipy.sparse.csr_array(
        (np.ones(len(graph.successors), np.int8), graph.successors, first_transitions),
        shape=(num_states, num_states),
    )
    order = scipy.sparse.csgraph.reverse_cuthill_mckee(pattern + pattern.T, symmetric_mode=True)
    place = np.empty(num_states, np.int64)
    place[order] = np.arange(num_states)
    reach = int(
        np.abs(place[graph.successors] - np.repeat(place, np.diff(first_transitions))).max(
            initial=0
        )
    )
    return num_states * reach <= MAX_ENTRIES and num_states * reach**2 <= MAX_OPERATIONS


def best_policy(
    equation: Equation,
    policy: NDArray[np.int64],
    tolerance: float,
    out_of_time: Callable[[], bool],
) -> Floats | None:
    """Improve a policy of a communicating model until it earns the most; return its biases.

    Howard's policy iteration. Each policy is first changed to one with a single recurrent class,
    the one in which it earns most: the other states take a shortest way there. A choice is replaced
    only by a better one, so that a new class can only appear if it earns more [1]_. Rounding may
    spoil this; nothing is proven here.

    Parameters
    ----------
    equation : Equation
    policy : (S,)
        The initial policy.
    tolerance : float
        Smaller improvements do not count.

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
    graph, rewards = equation.graph, equation.constants
    owner = owners(graph.choice_offsets)
    source = np.repeat(owner, np.diff(graph.transition_offsets))
    counts = np.diff(graph.transition_offsets) + 10
    biases: Floats | None = None
    for _ in range(MAX_POLICIES):
        chain = _ComponentChain.of(equation, policy)
        if chain.num_classes > 1:
            gains = chain.evaluate()
            if gains is None:
                return biases
            chain.lead_to(int(np.argmax(gains[1])), policy)
            chain = _ComponentChain.of(equation, policy)
        evaluated = chain.evaluate()
        if evaluated is None:
            return biases
        biases = evaluated[0]
        terms = equation.probabilities * (biases[graph.successors] - biases[source])
        rises = rewards + np.add.reduceat(terms, graph.transition_offsets[:-1])
        sizes = np.abs(rewards) + np.add.reduceat(np.abs(terms), graph.transition_offsets[:-1])
        noise = np.maximum.reduceat(counts * UNIT * sizes, graph.choice_offsets[:-1])
        best = np.maximum.reduceat(rises, graph.choice_offsets[:-1])
        better = best > rises[policy] + np.maximum(4 * noise, tolerance)
        if not better.any() or out_of_time():
            break
        tops = np.flatnonzero(rises == best[owner])
        states, places = np.unique(owner[tops], return_index=True)
        policy[states[better]] = tops[places[better]]
    return biases


@attrs.frozen(eq=False)
class _ComponentChain:
    """The Markov chain of a policy in an equation.

    Attributes
    ----------
    equation : Equation
    offsets, successors, probabilities
        The transitions of each state.
    rewards : (S,)
    structure : Structure
    classes : (S,)
        The recurrent class of each state, -1 for a transient one.
    num_classes : int
    """

    equation: Equation
    offsets: NDArray[np.int64]
    successors: NDArray[np.int64]
    probabilities: NDArray[Any]
    rewards: Floats
    structure: Structure
    classes: NDArray[np.int64]
    num_classes: int

    @classmethod
    def of(cls, equation: Equation, policy: NDArray[np.int64]) -> _ComponentChain:
        graph = equation.graph
        transitions = ragged(graph.transition_offsets, policy)
        offsets = offsets_of(np.diff(graph.transition_offsets)[policy])
        successors = graph.successors[transitions]
        # With one choice a state, the end components are the recurrent classes.
        structure = Structure.of(np.arange(len(policy) + 1), offsets, successors)
        return cls(
            equation,
            offsets,
            successors,
            equation.probabilities[transitions],
            equation.constants[policy],
            structure,
            structure.end_component,
            structure.num_end_components,
        )

    def evaluate(self) -> tuple[Floats, Floats] | None:
        """Return the biases, zero in one state of each class, and the gain of each class.

        Biases of transient states only if there is one class. None if the linear system is singular
        as far as these numbers can tell.
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
        # The column of a state whose bias is set to zero holds the gain of its class instead.
        kept &= ~is_pinned[self.successors]
        own = inside[~is_pinned[inside]]
        number = np.zeros(num_states, np.int64)
        number[inside] = np.arange(len(inside))
        matrix = scipy.sparse.csc_array(
            scipy.sparse.coo_array(
                (
                    np.concatenate([np.ones(len(own) + len(inside)), -self.probabilities[kept]]),
                    (
                        number[np.concatenate([own, inside, source[kept]])],
                        number[
                            np.concatenate([own, pinned[labels[inside]], self.successors[kept]])
                        ],
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
            # The residual, in differences, is far more exact than the solution of the system, which
            # it is used to correct.
            terms = self.probabilities * (biases[self.successors] - biases[source])
            left = self.rewards + np.add.reduceat(terms, self.offsets[:-1])
            correction = solver.solve((left - gains[labels])[inside])
            if not np.isfinite(correction).all():
                return None
            gains += correction[number[pinned]]
            correction[number[pinned]] = 0.0
            biases[inside] += correction
        return biases, gains

    def lead_to(self, best: int, policy: NDArray[np.int64]) -> None:
        """Change a policy so that it reaches one class from everywhere."""
        everyone = np.ones(len(policy), np.bool_)
        others = (self.classes >= 0) & (self.classes != best)
        astray, _ = attractor(self.structure, everyone, others, everyone)
        whole = Structure.of(*self.equation.graph)
        _, towards = attractor(
            whole, everyone, ~astray, np.ones(len(self.equation.constants), np.bool_)
        )
        policy[astray] = towards[astray]
