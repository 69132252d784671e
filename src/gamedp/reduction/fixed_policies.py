"""The decision process that remains of a model when one player follows a fixed policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.model.model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["fix"]


def fix(model: Model, policy: Integers, who: Flags) -> tuple[Model, Integers]:
    """Restrict some states to the one choice that a policy takes there.

    Parameters
    ----------
    model : Model
        A model with S states and C choices.
    policy : (S,)
        A choice of each state of `who`.
    who : (S,) bool
        The states that keep to it.

    Returns
    -------
    fixed : Model
        The same states, with C' choices.
    rows : (C',) int64
        The choice of the given model that each of them corresponds to.
    """
    owners = model.structure.owners
    keep = ~who[owners]
    keep[policy[who & (np.diff(model.choice_offsets) > 0)]] = True
    rows = np.flatnonzero(keep)
    lengths = np.diff(model.transition_offsets)
    places = np.repeat(keep, lengths)
    fixed = Model.unchecked(
        choice_offsets=_offsets(np.bincount(owners[rows], minlength=model.num_states)),
        transition_offsets=_offsets(lengths[rows]),
        successors=model.successors[places],
        probabilities=model.probabilities[places],
        rewards=model.rewards[rows],
        players=model.players,
        terminals=model.terminals,
        payoffs=model.payoffs,
        action_labels=model.action_labels[rows],
        initial_states=model.initial_states,
        initial_probabilities=model.initial_probabilities,
        num_players=model.num_players,
        constant_sum=model.constant_sum,
    )
    return fixed, rows


def _offsets(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
