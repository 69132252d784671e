"""The solution of the stage in one context of a solved staged game, as an ordinary solution."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnknownStateError, shown
from gamedp.model.model import Model
from gamedp.results.solution import Solution
from gamedp.results.status import Statistics
from gamedp.rules.layout import PackedTable
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.results.base import BaseSolution
    from gamedp.stages.model import StagedModel

    Floats = NDArray[np.float64]

__all__ = ["solve_inside"]


def solve_inside(
    solution: BaseSolution[StagedModel], errors: Floats, context: Any, *, swapped: bool
) -> Solution:
    """Solve the stage in one context, given the values of the next contexts.

    Parameters
    ----------
    solution : StagedSolution
    errors : (B,) float64
        Of its values.
    context
    swapped : bool
        Whether player 1 of the game is player 0 of the stage.
    """
    from gamedp.bellman.equation import Equation  # noqa: PLC0415 - numba takes long to load
    from gamedp.stages import kernels  # noqa: PLC0415 - numba takes long to load

    begin = time.perf_counter()
    model = solution.model
    if model.rules.is_terminal(context):
        message = f"the game is over in {shown(context)}: there is nothing to play inside."
        raise UnknownStateError(message)
    part, errors_of_ends = _restricted(solution, errors, context, int(swapped))
    values, off = np.zeros(part.num_states), np.zeros(part.num_states)
    values[part.terminals], off[part.terminals] = part.payoffs, errors_of_ends
    policy = np.full(part.num_states, -1)
    structure = part.structure
    equation = Equation(
        graph=structure.graph,
        probabilities=part.probabilities,
        codebook=None,
        constants=part.rewards,
        sizes=part.rewards,
        maximise=(part.players == 0) == (solution.objective.optimum == "max"),
        discount=1.0,
        order=structure.order,
        place=structure.place,
    )
    kernels.evaluate_jit(structure.order, equation, values, off, policy)
    return Solution(
        model=part,
        objective=solution.objective,
        solver=solution.solver,
        values=values,
        lower=np.nextafter(values - off, -np.inf),
        upper=np.nextafter(values + off, np.inf),
        policy=policy,
        status=solution.status,
        guarantee=solution.guarantee,
        is_part=True,
        statistics=Statistics(
            states=part.num_states,
            choices=part.num_choices,
            transitions=part.num_transitions,
            sweeps=1,
            seconds={"compile": 0.0, "explore": 0.0, "solve": time.perf_counter() - begin},
            bytes=part.num_bytes,
        ),
    )


def _value_after(
    solution: BaseSolution[StagedModel], errors: Floats, context: Any, player: int
) -> tuple[float, float]:
    """Return the value of a context to a player, and its error bound."""
    code, swapped = solution.model.index(context)
    value, error = float(solution.values[code]), float(errors[code])
    if swapped == (player == 1):
        return value, error
    total = solution.model.constant_sum
    other = total - value
    return other, error if total == 0 else error + 2 * UNIT * abs(other)


def _restricted(
    solution: BaseSolution[StagedModel], errors: Floats, context: Any, player: int
) -> tuple[Model, Floats]:
    """Return the stage with the ends that a context allows, and their values as payoffs.

    Parameters
    ----------
    player : int
        The player who is the stage's player 0: the other one where places are changed.

    Returns
    -------
    model : Model
    errors : (E,) float64
        The error bounds of its payoffs.
    """
    from gamedp.stages import kernels  # noqa: PLC0415

    stage, rules = solution.model.stage, solution.model.rules
    possible = np.zeros(stage.num_states, np.bool_)
    payoffs, off = np.zeros(stage.num_states), np.zeros(stage.num_states)
    for index, end in solution.model.ends:
        if rules.call("allows", context, end):
            possible[index] = True
            following = rules.call("following", context, end)
            value, error = _value_after(solution, errors, following, player)
            payoffs[index] = value + rules.call("reward", context, end, player)
            off[index] = error + 2 * UNIT * abs(payoffs[index])
    kept, reached = np.zeros(stage.num_choices, np.bool_), np.zeros(stage.num_states, np.bool_)
    kernels.restrict_jit(
        stage.structure.order, stage.choice_offsets, stage.transition_offsets, stage.successors,
        int(stage.initial_states[0]), possible, kept, reached,
    )  # fmt: skip
    numbers = np.cumsum(reached) - 1
    counts = np.add.reduceat(np.append(kept, False), stage.choice_offsets[:-1])
    counts[np.diff(stage.choice_offsets) == 0] = 0
    lengths = np.diff(stage.transition_offsets)
    transitions = np.repeat(kept, lengths)
    ends = stage.terminals[reached[stage.terminals]]
    part = Model.unchecked(
        choice_offsets=np.concatenate([[0], np.cumsum(counts[reached])]),
        transition_offsets=np.concatenate([[0], np.cumsum(lengths[kept])]),
        successors=numbers[stage.successors[transitions]],
        probabilities=stage.probabilities[transitions],
        rewards=stage.rewards[kept],
        players=stage.players[reached],
        terminals=numbers[ends],
        payoffs=payoffs[ends],
        action_labels=stage.action_labels[kept],
        initial_states=numbers[stage.initial_states],
        initial_probabilities=stage.initial_probabilities.copy(),
        num_players=stage.num_players,
        constant_sum=rules.constant_sum,
        states=_some_of(stage, reached),
        rules=stage.rules,
    )
    return part, off[ends]


def _some_of(stage: Model, chosen: NDArray[np.bool_]) -> PackedTable:
    """Return the chosen states, in their order."""
    table = stage.states
    if not isinstance(table, PackedTable):
        message = "the states of a stage must be packed."
        raise TypeError(message)
    return attrs.evolve(table, codes=table.codes[chosen])
