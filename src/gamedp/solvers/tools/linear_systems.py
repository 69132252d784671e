"""The first policy of a component, and its equations as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.graph.sets import attractor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.bellman.equation import Equation
    from gamedp.solvers.tools.run import Run

__all__ = ["inner_matrix", "proper_policy"]


def proper_policy(run: Run) -> NDArray[np.int64]:
    """Return a policy along which play can end from every state; -1 in terminal states.

    The first choices if play ends whatever is chosen, or later rewards count less.
    """
    model, structure = run.problem.model, run.problem.model.structure
    first = model.choice_offsets[:-1]
    inner = first < model.choice_offsets[1:]
    policy = np.where(inner, first, -1)
    if run.problem.improper_is_worst:
        ends = np.zeros(model.num_states, np.bool_)
        ends[model.terminals] = True
        everyone = np.ones(model.num_states, np.bool_)
        _, via = attractor(structure, everyone, ends, np.ones(model.num_choices, np.bool_))
        policy = np.where(inner & (via >= 0), via, policy)
    return policy.astype(np.int64)


def inner_matrix(
    start: int,
    stop: int,
    equation: Equation,
    choices: NDArray[np.integer[Any]],
    values: NDArray[np.float64],
) -> tuple[Any, NDArray[np.float64]]:
    """Return choices of the component ``order[start:stop]`` as equations over its states.

    Parameters
    ----------
    choices : (R,) int
    values : (S,)
        The values of the states outside.

    Returns
    -------
    matrix : (R, stop - start) csr_array
        Discounted probabilities.
    known : (R,) float64
        The reward of a choice, and the contribution of the states outside.
    """
    import scipy.sparse  # noqa: PLC0415 - slow to import

    begin = equation.graph.transition_offsets[choices]
    lengths = equation.graph.transition_offsets[choices + 1] - begin
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(begin - offsets[:-1], lengths) + np.arange(offsets[-1])
    owners = np.repeat(np.arange(len(choices)), lengths)
    successors = equation.graph.successors[places]
    columns = equation.place[successors].astype(np.int64) - start
    probabilities = equation.discount * equation.probabilities[places]
    inside = (columns >= 0) & (columns < stop - start)
    outside = ~inside
    known = equation.constants[choices] + np.bincount(
        owners[outside], probabilities[outside] * values[successors[outside]], len(choices)
    )
    matrix = scipy.sparse.csr_array(
        (probabilities[inside], (owners[inside], columns[inside])),
        shape=(len(choices), stop - start),
    )
    return matrix, known
