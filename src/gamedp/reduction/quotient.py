"""The quotient of a model: known values cut off, collapsed end components as single states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.model.model import Model
from gamedp.reduction import quotient_kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["Quotient", "quotient"]


@attrs.frozen(eq=False)
class Quotient:
    """A smaller model, and the origin of its states and choices in the given one.

    Attributes
    ----------
    model : Model
        A model with S' states, the last ones terminal, and C' choices.
    class_of : (S,)
        The state of the small model that represents each state; -1 where the value is known.
    choice_of : (C',) int64
        The given model's choice for each choice of the small model; `STOP` for staying for ever.
    """

    model: Model
    class_of: Integers
    choice_of: NDArray[np.int64]


def quotient(
    model: Model,
    players: Integers,
    known: Floats,
    rewards: Floats,
    labels: Integers | None,
    keep: Flags,
    may_stop: bool,
    ends: Floats,
) -> Quotient:
    """Collapse end components, and cut off known values.

    Parameters
    ----------
    model : Model
        A model with S states and C choices, in which no players change places.
    players : (S,)
        The player who chooses in each state.
    known : (S,)
        The values that are known; NaN for the states that are left.
    rewards : (C,) or (1,)
        Rewards of the choices; one number if all are equal.
    labels : (S,) or None
        The end component that each remaining state represents; -1 for a single state. All states of
        one belong to one player, and staying there earns nothing. None if none is collapsed.
    keep : (C,) bool
        The choices that are left: of states that are left, to such states or to known finite
        values. Of an end component only those that may leave it.
    may_stop : bool
        Whether staying in an end component for ever is a choice as well; its value is 0.
    ends : (Z,)
        The finite known values, and 0; ascending, without duplicates.
    """
    dtype = np.int32 if model.num_states + len(ends) < 2**31 else np.int64
    given = np.empty(0, dtype) if labels is None else labels.astype(dtype, copy=False)
    most = model.num_states + len(ends)
    class_of: Integers = np.empty(model.num_states, dtype)
    choice_offsets = np.empty(most + 1, np.int64)
    small_players = np.empty(most, np.int8)
    number, num_transitions = quotient_kernels.classify_jit(
        model.choice_offsets,
        model.transition_offsets,
        players,
        known,
        given,
        keep,
        may_stop,
        len(ends),
        class_of,
        np.empty_like(given),
        choice_offsets,
        small_players,
    )
    num_states = number + len(ends)
    choice_offsets, small_players = choice_offsets[: num_states + 1], small_players[:num_states]
    num_choices = int(choice_offsets[-1])
    choice_of = np.empty(num_choices, np.int64)
    transition_offsets = np.empty(num_choices + 1, np.int64)
    successors = np.empty(num_transitions, dtype)
    probabilities = np.empty(num_transitions)
    small_rewards = np.empty(num_choices)
    quotient_kernels.copy_choices_jit(
        model.choice_offsets,
        model.transition_offsets,
        model.successors,
        model.probabilities,
        rewards,
        known,
        keep,
        class_of,
        ends,
        choice_offsets,
        np.empty(number, np.int64),
        choice_of,
        transition_offsets,
        successors,
        probabilities,
        small_rewards,
    )
    small = Model.unchecked(
        choice_offsets=choice_offsets,
        transition_offsets=transition_offsets,
        successors=successors,
        probabilities=probabilities,
        rewards=small_rewards,
        players=small_players,
        terminals=np.arange(number, num_states),
        payoffs=ends,
        action_labels=choice_of,
        initial_states=np.zeros(1, np.int64),
        initial_probabilities=np.ones(1),
        num_players=model.num_players,
    )
    return Quotient(small, class_of, choice_of)
