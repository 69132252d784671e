"""The structure of a model: components and levels of a chain of 10^7 states, and of a slip grid.

Nothing is deeper than a chain, for a search has to go down all of it. Beside it is
`scipy.sparse.csgraph.connected_components`, which finds the components alone: not their order,
their levels, or which of them have a cycle; edges listed twice must be kept away from it. Each run
is a process of its own, which tells the seconds of processor time and by how much its peak memory
rose.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import attrs
import measure
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from problems import SlipGrid, chain
from scipy.sparse.csgraph import connected_components

import gamedp
from gamedp.runtime.machine import peak_bytes

Graph = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]


def graph_of(shape: str, size: int) -> Graph:
    """Return a graph as the offsets of choices and of transitions, and the successors."""
    if shape == "chain":
        offsets, successors = chain(size)
        return offsets, np.arange(len(successors) + 1, dtype=np.int64), successors
    model = gamedp.compile(SlipGrid(size=size))
    return model.choice_offsets, model.transition_offsets, model.successors


def gamedp_components(graph: Graph) -> Callable[[], int]:
    """Return a call that takes the graph apart and says how many components there are."""
    return lambda: gamedp.graph.Structure.of(*graph).num_components


def scipy_components(graph: Graph) -> Callable[[], int]:
    """Return the call of scipy that does so."""
    choice_offsets, transition_offsets, successors = graph
    offsets = transition_offsets[choice_offsets].astype(np.int32)
    num_states = len(choice_offsets) - 1
    matrix = scipy.sparse.csr_array(
        (np.ones(len(successors)), successors.copy(), offsets), (num_states, num_states)
    )
    matrix.sum_duplicates()  # it does not come to an end where an edge is listed twice
    return lambda: int(connected_components(matrix, connection="strong", return_labels=True)[0])


SIDES = {"gamedp": gamedp_components, "scipy": scipy_components}


def child(side: str, shape: str, size: int) -> dict[str, Any]:
    """Run one side in this process and return what that took."""
    prepare = SIDES[side]
    prepare(graph_of(shape, 10))()  # compiles what is to be compiled
    graph = graph_of(shape, size)
    find = prepare(graph)
    measure.forget_peak()
    before = peak_bytes()
    found: list[int] = []
    seconds = measure.processor_seconds(lambda: found.append(find()))
    return {
        "seconds": seconds,
        "memory": peak_bytes() - before,
        "components": found[0],
        "states": len(graph[0]) - 1,
        "edges": len(graph[2]),
    }


def of_shape(shape: str, size: int, rounds: int) -> list[measure.Row]:
    last: dict[str, dict[str, Any]] = {}

    def run(side: str) -> float:
        command = [sys.executable, __file__, side, shape, str(size)]
        last[side] = json.loads(measure.run_child(command).output)
        return float(last[side]["seconds"])

    row = measure.compare(
        f"{shape} {size:,}: structure",
        lambda: run("gamedp"),
        lambda: run("scipy"),
        rounds=rounds,
        beside="scipy",
    )
    mine, other = last["gamedp"], last["scipy"]
    facts = {
        "states": mine["states"],
        "edges": mine["edges"],
        "components": mine["components"],
        "memory": measure.scaled(mine["memory"], "B"),
        "scipy's memory": measure.scaled(other["memory"], "B"),
        "bytes a state": mine["memory"] / mine["states"],
    }
    agrees = mine["components"] == other["components"]
    return [attrs.evolve(row, agrees=agrees, facts=facts)]


def graph(quick: bool) -> list[measure.Row]:
    if quick:
        return [*of_shape("chain", 1000, 1), *of_shape("grid", 20, 1)]
    return [*of_shape("chain", 10_000_000, 3), *of_shape("grid", 1000, 3)]


if __name__ == "__main__":
    side, shape, size = sys.argv[1:]
    print(json.dumps(child(side, shape, int(size))))
