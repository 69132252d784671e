"""The stage in the form of the sweep: inner states, successors first, in few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.stages.vector_code import Program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

__all__ = ["program_of"]


def program_of(
    stage: Model, *, optimum: str = "max", weights: bool = False, keeps_all: bool = False
) -> Program:
    """Return the stage in the form of the sweep.

    Parameters
    ----------
    stage : Model
        Acyclic, for one or two players; its first initial state is the one that counts.
    optimum : {"max", "min"}
        Player 0's aim.
    weights : bool
        For the largest expectation under any policies of both players, without rewards.
    keeps_all : bool
        Whether every state has a row of its own, those of inner states in their order.
    """
    counts = np.diff(stage.choice_offsets)
    order = np.asarray(stage.structure.order)
    start = int(stage.initial_states[0])
    inner = order[counts[order] > 0]
    # The value of the stage is the last row: nothing that comes after the start matters.
    inner = inner[: int(np.flatnonzero(inner == start)[0]) + 1]
    choices = _ranges(stage.choice_offsets[inner], counts[inner])
    lengths = np.diff(stage.transition_offsets)[choices]
    transitions = _ranges(stage.transition_offsets[choices], lengths)
    successors = np.asarray(stage.successors)[transitions]
    choice_offsets = np.concatenate([[0], np.cumsum(counts[inner])])
    transition_offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows, num_rows = _allocate(
        stage, inner.tolist(), choice_offsets, transition_offsets, successors, keeps_all
    )
    maximise = (stage.players[inner] == 0) == (optimum == "max")
    return Program(
        choice_offsets.astype(np.int64),
        transition_offsets.astype(np.int64),
        rows[successors],
        np.asarray(stage.probabilities)[transitions],
        np.zeros(len(choices)) if weights else np.asarray(stage.rewards)[choices],
        np.ones(len(inner), np.bool_) if weights else maximise,
        rows[inner],
        num_rows,
    )


def _ranges(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    shifts: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(total) + shifts


def _allocate(
    stage: Model,
    inner: list[int],
    choice_offsets: NDArray[np.int64],
    transition_offsets: NDArray[np.int64],
    successors: NDArray[Any],
    keeps_all: bool,
) -> tuple[NDArray[np.int64], int]:
    """Assign a row to every state; reuse a row once the last state that reads it is done.

    So the rows in use stay few enough for the processor's cache.
    """
    reads = np.diff(transition_offsets[choice_offsets])
    reader = np.full(stage.num_states, -1)
    # The last one that reads counts: of equal indices, numpy keeps the last.
    reader[successors] = np.repeat(np.arange(len(inner)), reads)
    rows = np.full(stage.num_states, -1, np.int64)
    rows[stage.terminals] = np.arange(len(stage.terminals))
    is_end = np.zeros(stage.num_states, np.bool_)
    is_end[stage.terminals] = True
    done: list[list[int]] = [[] for _ in inner]
    for state in [] if keeps_all else np.flatnonzero((reader >= 0) & ~is_end).tolist():
        done[reader[state]].append(state)
    free: list[int] = []
    num_rows = len(stage.terminals)
    for place, state in enumerate(inner):
        if not free:
            free.append(num_rows)
            num_rows += 1
        rows[state] = free.pop()
        # Only now: a state must not overwrite what it reads.
        free.extend(int(rows[one]) for one in done[place])
    return rows, num_rows
