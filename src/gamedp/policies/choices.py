"""The actions of a game's own state, and the choices of the model that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.rules.symmetry import counterparts

if TYPE_CHECKING:
    from gamedp.model.model import Model

__all__ = ["choices_in"]


def choices_in(model: Model, state: Any) -> list[tuple[int, int]]:
    """Return the actions of a game's own state, each with a choice of the model that does the same.

    Raises
    ------
    UnknownStateError
        If the model has no such state.
    InvalidModelError
        If the state is not symmetric to its representative, as `canonical` says it is.
    """
    representative, index, swapped = model.represented(state)
    first, stop = model.choice_offsets[index : index + 2].tolist()
    labels = model.action_labels[first:stop].tolist()
    pairs = list(zip(labels, range(first, stop), strict=True))
    if model.rules is None or model.states is None or representative == state:
        return pairs
    known = dict(pairs)
    same = counterparts(model.rules, state, representative, swapped).of_state
    return [(own, known[its]) for own, its in same.items() if its in known]
