"""What is left of a model once some values are known, states of the same worth as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["Quotient", "quotient"]

STOP = -1
"""The choice to stay for ever in a collapsed end component."""


@attrs.frozen(eq=False)
class Quotient:
    """A smaller model, and what its states and choices are in the one it was made of.

    Attributes
    ----------
    model : Model
        Of S' states, the last ones terminal; C' choices.
    class_of : (S,)
        The state of the small model that stands for each state; -1 where the value is known.
    choice_of : (C',) int64
        The choice that each choice of the small model is; `STOP` for one to stay for ever.
    """

    model: Model
    class_of: Integers
    choice_of: NDArray[np.int64]


def quotient(
    model: Model,
    players: Integers,
    known: Floats,
    rewards: Floats,
    labels: Integers,
    keep: Flags,
    may_stop: bool,
) -> Quotient:
    """Collapse end components, and cut off what is known already.

    Parameters
    ----------
    model : Model
        Of S states and C choices, in which no players change places.
    players : (S,)
        Who is to choose.
    known : (S,)
        The values that are known; NaN for the states that are left.
    rewards : (C,)
        What choices earn.
    labels : (S,)
        The end component of each state that is left; -1 for a state by itself. All states of one
        belong to one player, and it earns nothing to stay there.
    keep : (C,) bool
        The choices that are left: of states that are left, to such states or to known finite
        values. Of an end component just those that may leave it.
    may_stop : bool
        Whether to stay in an end component for ever is a choice, too; it is worth 0.
    """
    left = np.flatnonzero(np.isnan(known))
    labels = labels[left]
    # A class is named by its first state, so that neighbours stay together.
    first = left.copy()
    collapsed = np.flatnonzero(labels >= 0)
    _, first_places, inverse = np.unique(labels[collapsed], return_index=True, return_inverse=True)
    first[collapsed] = left[collapsed[first_places]][inverse]
    representatives, classes = np.unique(first, return_inverse=True)
    num_classes = len(representatives)
    class_of = np.full(model.num_states, -1, np.int64)
    class_of[left] = classes

    ends, number = np.unique(np.append(known[np.isfinite(known)], 0.0), return_inverse=True)
    target_of = class_of.copy()
    target_of[np.isfinite(known)] = num_classes + number[:-1]

    choice_of = np.flatnonzero(keep)
    owners = class_of[model.structure.owners[choice_of]]
    if may_stop:
        stopping = np.unique(classes[collapsed])
        choice_of = np.append(choice_of, np.full(len(stopping), STOP))
        owners = np.append(owners, stopping)
    sequence = np.argsort(owners, kind="stable")
    choice_of, owners = choice_of[sequence], owners[sequence]
    stops = choice_of == STOP
    lengths = np.where(stops, 1, np.diff(model.transition_offsets)[choice_of])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    # Where each transition stands in the given model.
    begin = np.where(stops, 0, model.transition_offsets[choice_of])
    places = np.repeat(begin - offsets[:-1], lengths) + np.arange(offsets[-1])
    successors = target_of[model.successors[places]]
    probabilities = model.probabilities[places]
    successors[offsets[:-1][stops]] = num_classes + number[-1]
    probabilities[offsets[:-1][stops]] = 1.0
    num_states = num_classes + len(ends)
    counts = np.bincount(owners, minlength=num_states)
    dtype = np.int32 if num_states < 2**31 else np.int64
    small = Model(
        choice_offsets=np.concatenate([[0], np.cumsum(counts)]),
        transition_offsets=offsets,
        successors=successors.astype(dtype),
        probabilities=probabilities,
        rewards=np.where(stops, 0.0, rewards[choice_of]),
        players=np.append(players[representatives], np.zeros(len(ends), np.int8)),
        terminals=np.arange(num_classes, num_states),
        payoffs=ends,
        action_labels=np.arange(len(choice_of)),
        initial_states=np.zeros(1, np.int64),
        initial_probabilities=np.ones(1),
        num_players=model.num_players,
    )
    return Quotient(small, class_of, choice_of)
