"""The actions of a game's own state, and the corresponding choices of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.rules.symmetry import counterparts

if TYPE_CHECKING:
    from gamedp.model.model import Model
    from gamedp.rules.symmetry import Counterparts

__all__ = ["choices_in", "equal_choices"]


def choices_in(model: Model, state: Any) -> list[tuple[int, int]]:
    """Return the actions of a game's own state, each with an equivalent choice of the model.

    Raises
    ------
    UnknownStateError
        If the model has no such state.
    InvalidModelError
        If the state is not symmetric to its representative, as `canonical` says it is.
    """
    pairs, same = _known(model, state)
    if same is None:
        return pairs
    known = dict(pairs)
    return [(own, known[its]) for own, its in same.of_state.items() if its in known]


def equal_choices(model: Model, state: Any) -> dict[int, list[int]]:
    """Return all choices of the model that are equivalent to each action of a game's own state.

    In a state that represents itself, each action corresponds to its own choice. Elsewhere, two
    equivalent choices of the representative both correspond to each of the two actions.

    Raises
    ------
    UnknownStateError, InvalidModelError
        As for :func:`choices_in`.
    """
    pairs, same = _known(model, state)
    if same is None:
        return {action: [choice] for action, choice in pairs}
    alike: dict[int, list[int]] = {}
    for its, choice in pairs:
        alike.setdefault(same.of_state[same.of_representative[its]], []).append(choice)
    return {own: alike[its] for own, its in same.of_state.items() if its in alike}


def _known(model: Model, state: Any) -> tuple[list[tuple[int, int]], Counterparts | None]:
    """Return the representative's actions with their choices, and their images in the state.

    None for a state that represents itself.
    """
    representative, index, swapped = model.represented(state)
    first, stop = model.choice_offsets[index : index + 2].tolist()
    labels = model.action_labels[first:stop].tolist()
    pairs = list(zip(labels, range(first, stop), strict=True))
    if model.rules is None or model.states is None or representative == state:
        return pairs, None
    return pairs, counterparts(model.rules, state, representative, swapped)
