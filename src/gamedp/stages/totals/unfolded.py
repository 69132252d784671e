"""A stage whose states include the rewards collected on the way."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.stages.totals.kernels import Nodes
    from gamedp.stages.vector_code import Program

__all__ = ["TOO_LARGE", "Unfolded", "are_countable", "not_counted", "unfolded_stage"]

TOO_LARGE = 2**53
"""A total must be smaller, without its sign: from here on, floats are not told from neighbours."""

MOST_NODES = 1_000_000
"""More are not unfolded: half a gigabyte."""


@functools.lru_cache(maxsize=4)
def unfolded_stage(stage: Model, optimum: str) -> Unfolded:
    """Unfold a stage, unless it has just been done."""
    return Unfolded.of(stage, optimum)


@attrs.frozen(eq=False)
class Unfolded:
    """A stage whose states include the rewards collected on the way.

    Attributes
    ----------
    program : Program
        With a row for every state.
    inner : list of int
        The inner states of the program.
    nodes : Nodes
    end_of_node : (Z,) int64
        Which end each node in which the stage is over is: its place in ``stage.terminals``.
    paid : (Z,) int64
        The sum of the stage's rewards on the way there.
    relative_error : float
        How far off the probability of a node may be by rounding, as a part of itself, and apart
        from what is too small for a number.
    """

    program: Program
    inner: list[int]
    nodes: Nodes
    end_of_node: NDArray[np.int64]
    paid: NDArray[np.int64]
    relative_error: float

    @classmethod
    def of(cls, stage: Model, optimum: str) -> Unfolded:
        """Unfold a stage from its start, in an order in which successors come later."""
        from gamedp.stages.program import program_of  # noqa: PLC0415 - likewise
        from gamedp.stages.totals.kernels import Nodes  # noqa: PLC0415 - brings numba along

        bad = np.flatnonzero(~are_countable(stage.rewards))
        if len(bad):
            state = int(np.searchsorted(stage.choice_offsets, bad[0], side="right")) - 1
            where = f"a reward on the way, in {shown(stage.state(state))},"
            raise UnsupportedProblemError(not_counted(where, float(stage.rewards[bad[0]])))
        program = program_of(stage, optimum=optimum, keeps_all=True)
        counts = np.diff(stage.choice_offsets)
        inner = [state for state in stage.structure.order.tolist() if counts[state] > 0]
        inner = inner[: len(program.own_rows)]
        found = _reached_with(stage, inner[::-1])
        ends = stage.terminals.tolist()
        numbers: dict[tuple[int, int], int] = {}
        for state in (*inner[::-1], *ends):
            for paid in sorted(found.get(state, ())):
                numbers[state, paid] = len(numbers)
        firsts: list[int] = []
        successors: list[int] = []
        errors, reads = np.zeros(len(numbers)), np.zeros(len(numbers))
        for (state, paid), number in numbers.items():
            firsts.append(len(successors))
            errors[number] += reads[number] * UNIT  # of adding up; all that leads here is known
            for following, reward, probability in _transitions(stage, state):
                successor = numbers[following, paid + reward]
                successors.append(successor)
                # Of the product, and of a probability that is off by two units in the last place.
                step = 0.0 if probability == 1 else 5 * UNIT
                errors[successor] = max(errors[successor], errors[number] + step)
                reads[successor] += 1
        places = {state: place for place, state in enumerate(inner)}
        places_of_ends = {state: place for place, state in enumerate(ends)}
        over = [(number, key) for key, number in numbers.items() if key[0] in places_of_ends]
        nodes = Nodes(
            np.array([places.get(state, -1) for state, _ in numbers]),
            np.array(firsts),
            np.array(successors),
            np.array([number for number, _ in over]),
        )
        return cls(
            program,
            inner,
            nodes,
            np.array([places_of_ends[state] for _, (state, _) in over]),
            np.array([paid for _, (_, paid) in over]),
            float(errors.max()),
        )


def _transitions(stage: Model, state: int) -> Iterator[tuple[int, int, float]]:
    """Yield (successor, reward, probability) of all choices of a state."""
    for choice in range(*stage.choice_offsets[state : state + 2].tolist()):
        row = slice(*stage.transition_offsets[choice : choice + 2].tolist())
        reward = int(stage.rewards[choice])
        for following, probability in zip(
            stage.successors[row].tolist(), stage.probabilities[row].tolist(), strict=True
        ):
            yield following, reward, probability


def _reached_with(stage: Model, states: list[int]) -> dict[int, set[int]]:
    """Return the sums of rewards with which each state can be reached from the first one."""
    found: dict[int, set[int]] = {states[0]: {0}}
    nodes = 1
    for state in states:
        if state in found:
            for following, reward, _ in _transitions(stage, state):
                sums = found.setdefault(following, set())
                nodes -= len(sums)
                sums.update(paid + reward for paid in found[state])
                nodes += len(sums)
                if nodes > MOST_NODES:
                    message = (
                        f"the stage pays more than {MOST_NODES:,} different sums on the way to its "
                        "states, too many to follow each. Count in a larger unit."
                    )
                    raise UnsupportedProblemError(message)
    for state, sums in found.items():
        largest = max(sums, key=abs)
        if abs(largest) >= TOO_LARGE:
            where = f"the sum of rewards on the way to {shown(stage.state(state))}"
            raise UnsupportedProblemError(not_counted(where, largest))
    return found


def are_countable(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which numbers are whole, and small enough to be counted."""
    countable: NDArray[np.bool_] = (np.rint(numbers) == numbers) & (np.abs(numbers) < TOO_LARGE)
    return countable


def not_counted(where: str, number: float) -> str:
    """Return the message that a number is not whole, or too large."""
    why, unit = "not a whole number", "smaller"
    if abs(number) >= TOO_LARGE:
        why, unit = "too large: from 2**53 on, floats are not told from their neighbours", "larger"
    return (
        f"{where} is {number!r}, {why}; the distribution of a total is found for games that count "
        f"in whole numbers. Count in a {unit} unit."
    )
