"""Random equations for the tests of kernels, and what they are compared with."""

import numpy as np
from hypothesis import strategies as st

from gamedp.bellman import blocks
from gamedp.bellman.equation import Equation
from gamedp.graph.graph import Graph


def locked(array):
    """Return an array that cannot be written to, as those of models are.

    numba compiles a kernel anew for arrays that can be.
    """
    array.flags.writeable = False
    return array


def equation_of(**arrays):
    """Return an equation with the kinds of arrays that solvers make."""
    kept = {"maximise", "discount"}
    arrays = {name: array if name in kept else locked(array) for name, array in arrays.items()}
    graph = Graph(*(arrays.pop(name) for name in Graph._fields))
    return Equation(graph=graph, codebook=None, **arrays)


def changed(equation, **arrays):
    """Return an equation with other arrays, locked as well."""
    graph = arrays.pop("graph", None)
    arrays = {name: locked(array) for name, array in arrays.items()}
    if graph is not None:
        arrays["graph"] = Graph(*map(locked, graph))
    return equation._replace(**arrays)


def random_equation(seed, num_states, discount, *, cyclic, swaps):
    """Return the equation of a random model whose last state is terminal and always near."""
    rng = np.random.default_rng(seed)
    choice_counts = rng.integers(1, 4, num_states)
    choice_counts[-1] = 0
    choice_offsets = np.concatenate([[0], np.cumsum(choice_counts)])
    num_choices = int(choice_offsets[-1])
    successors, probabilities, offsets = [], [], [0]
    state_of = np.repeat(np.arange(num_states), choice_counts)
    for choice in range(num_choices):
        first = 0 if cyclic else state_of[choice] + 1
        count = int(rng.integers(0, 4))
        targets = rng.integers(first, num_states, count) if first < num_states else []
        weights = rng.random(len(targets) + 1) + 0.05
        weights /= weights.sum()
        if swaps:
            weights *= rng.choice([-1.0, 1.0], len(weights))
        successors.extend([*targets, num_states - 1])
        probabilities.extend(weights)
        offsets.append(len(successors))
    constants = rng.normal(size=num_choices)
    return equation_of(
        order=np.arange(num_states)[::-1].astype(np.int32),
        place=np.arange(num_states)[::-1].astype(np.uint32),
        choice_offsets=choice_offsets.astype(np.int64),
        transition_offsets=np.array(offsets, np.int64),
        successors=np.array(successors, np.int32),
        probabilities=np.array(probabilities),
        constants=constants,
        sizes=constants,
        maximise=rng.random(num_states) < 0.5,
        discount=discount,
    )


cases = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
    st.sampled_from([1.0, 0.9, 0.0]),
    st.booleans(),
    st.booleans(),
)


def make(case):
    seed, num_states, discount, cyclic, swaps = case
    return random_equation(seed, num_states, discount, cyclic=cyclic, swaps=swaps)


def blank(equation):
    num_states = len(equation.maximise)
    return np.zeros(num_states), np.zeros(num_states), np.full(num_states, -1, np.int64)


def gathered(equation, start, values, errors):
    """Return the component from `start` on by itself, its numbers, and what `gather` returns."""
    stop = len(values)
    block, *found = blocks.isolate_jit(start, stop, start, stop, equation, values, errors)
    return block, np.zeros((blocks.NUMBERS, stop - start)), found


def copied(argument):
    """Return a copy of an array, or of a tuple of arrays."""
    if isinstance(argument, tuple):
        return type(argument)(*map(copied, argument))
    if not isinstance(argument, np.ndarray):
        return argument
    copy = argument.copy()
    return copy if argument.flags.writeable else locked(copy)


def arrays_of(arguments):
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from arrays_of(argument)
        elif isinstance(argument, np.ndarray):
            yield argument


def twins(module, name, *arguments):
    """Run a kernel compiled and plain on copies of its arrays; return both with what they gave."""
    outcomes = []
    for kernel in (getattr(module, f"{name}_jit"), getattr(module, name)):
        copies = [copied(argument) for argument in arguments]
        with np.errstate(all="ignore"):
            result = kernel(*copies)
        outcomes.append((result, list(arrays_of(copies))))
    return outcomes


def fixed_point(equation, sweeps=20_000, start=0.0):
    """Return the values after very many plain sweeps in extended precision."""
    values = np.full(len(equation.maximise), start, np.longdouble)
    offsets, starts = equation.graph.choice_offsets, equation.graph.transition_offsets[:-1]
    terms = equation.probabilities.astype(np.longdouble)
    sign = np.where(equation.maximise[:-1], 1, -1)
    for _ in range(sweeps):
        totals = np.add.reduceat(terms * values[equation.graph.successors], starts)
        results = equation.constants + equation.discount * totals
        counts = np.diff(offsets)[:-1]
        best = sign * np.maximum.reduceat(np.repeat(sign, counts) * results, offsets[:-2])
        change = np.abs(best - values[:-1]).max()
        values[:-1] = best
        if change < 1e-18:
            break
    return values
