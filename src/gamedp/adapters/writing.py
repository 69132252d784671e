"""Models in the form of other tools: fixed players, and loops at terminal states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.adapters.loaded import SIDES, LoadedModel
from gamedp.adapters.parts import CHOICES, Parts, offsets_of
from gamedp.errors import InvalidModelError, shown
from gamedp.model.model import Model, given_numbers
from gamedp.model.objectives import Reachability, resolved
from gamedp.model.validation import as_numbers
from gamedp.reduction.unfolding import unfold
from gamedp.rules.exactness import as_given

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Integers


Ends: TypeAlias = Literal["loop", "none"]

INITIAL = "init"
"""The label of initial states in other tools."""

OWN = "reward"
"""The name of a model's own rewards."""

SWAPPED = "swapped"
"""The label of the states in which the players have exchanged places."""


def parts_of(
    path: Path,
    given: Model | LoadedModel,
    labels: Mapping[str, Any] | None,
    rewards: Mapping[str, Any] | None,
    ends: Ends,
) -> Parts:
    """Return the parts of a model to be written.

    Parameters and errors are those of :func:`gamedp.write_model`.
    """
    model, owners, players = _players_of(given)
    _check(model)
    if labels is None:
        labels = given.labels if isinstance(given, LoadedModel) else {}
    if rewards is None and isinstance(given, LoadedModel):
        rewards = {**given.rewards, **given.fractions}
    own = rewards is None
    if rewards is None:
        earns = model.rewards.any() or model.payoffs.any()
        rewards = {OWN: given_numbers(model, "rewards")} if earns else {}
    names = model.action_names or _words_of(model.actions)
    for name in (*names, *model.variables, *labels, *rewards):
        if not _is_text(name):
            message = f"the name {shown(name)} is not text that a file can hold."
            raise InvalidModelError(message)
    masks = {name: _states(model, name, states) for name, states in labels.items()}
    columns = {name: _column(model, name, numbers) for name, numbers in rewards.items()}
    probabilities, payoffs = given_numbers(model, "probabilities"), given_numbers(model, "payoffs")
    if model.has_swaps or (model.initial_probabilities < 0).any():
        probabilities = np.tile(np.abs(probabilities), 2)
        payoffs = np.concatenate([payoffs, _opposite(model, payoffs)])
        model, masks, columns = _unfolded(model, masks, columns)
        owners = model.players.astype(np.int64)
    counts, actions = np.diff(model.choice_offsets), model.action_labels.astype(np.int64)
    numbered = np.arange(model.num_choices) - np.repeat(model.choice_offsets[:-1], counts)
    if not names and not np.array_equal(actions, numbered):
        actions, names = _named(model)
    is_chain = players == 1 and not names and not (counts > 1).any()
    parts = Parts(
        path=path,
        choice_offsets=model.choice_offsets,
        transition_offsets=model.transition_offsets,
        successors=model.successors.astype(np.int64),
        probabilities=probabilities,
        players=owners if players > 1 else None,
        num_players=0 if is_chain else players,
        player_names=_player_names(given, players),
        actions=None if is_chain else actions,
        action_names=names,
        initial=np.sort(model.initial_states),
        labels=masks,
        rewards={name: {CHOICES: column} for name, column in columns.items()},
        variables=model.variables,
    )
    if own and model.payoffs.any():
        parts = _with_sink(parts, model.terminals, payoffs)
    return _closed(parts) if ends == "loop" else parts


def _players_of(given: Model | LoadedModel) -> tuple[Model, Integers, int]:
    """Return a model with the players who own its states, without coalitions."""
    if not isinstance(given, LoadedModel):
        return given, given.players.astype(np.int64), given.num_players
    return given.together, given.owners, given.num_players


def _check(model: Model) -> None:
    """Refuse models that the formats cannot express."""
    if model.is_general_sum:
        message = (
            f"the model has {model.num_players} players, each with rewards of their own; files of "
            "other tools know at most two sides."
        )
        raise InvalidModelError(message)
    starts = np.abs(given_numbers(model, "initial_probabilities"))
    if (starts != starts[0]).any():
        message = (
            "the model starts in one of several states with unequal probabilities; a file can only "
            "name them. Add a state that leads to them, and start there."
        )
        raise InvalidModelError(message)


def _is_text(name: object) -> bool:
    """Return whether this is text without lone surrogates."""
    return isinstance(name, str) and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _opposite(model: Model, payoffs: NDArray[Any]) -> NDArray[Any]:
    """Return the constant sum minus each payoff."""
    total = Fraction(model.constant_sum)
    return as_given([total - Fraction(payoff) for payoff in payoffs.tolist()])


def _unfolded(
    model: Model, masks: dict[str, Flags], columns: dict[str, NDArray[Any]]
) -> tuple[Model, dict[str, Flags], dict[str, NDArray[Any]]]:
    """Return a model whose players keep their places, with its labels and rewards."""
    is_swapped = np.repeat([False, True], model.num_states)
    masks = {SWAPPED: is_swapped} | {name: np.tile(mask, 2) for name, mask in masks.items()}
    columns = {name: np.concatenate([column, -column]) for name, column in columns.items()}
    variables: dict[str, Any] = {
        name: np.tile(column, 2) for name, column in model.variables.items()
    }
    unfolded = attrs.evolve(unfold(model), action_names=model.action_names, variables=variables)
    return unfolded, masks, columns


def _player_names(given: Model | LoadedModel, players: int) -> tuple[str, ...]:
    if players == 1:
        return ()
    if isinstance(given, LoadedModel) and given.player_names:
        return given.player_names
    return ("max", "min") if players == SIDES else tuple(map(str, range(players)))


def _states(model: Model, name: str, states: Any) -> Flags:
    """Return the states with a label."""
    mask: Flags = resolved(Reachability(states), model).target  # type: ignore[union-attr]
    if name == INITIAL:
        message = f"the label {INITIAL!r} is kept for the initial states; choose another name."
        raise InvalidModelError(message)
    return mask


def _column(model: Model, name: str, numbers: Any) -> NDArray[Any]:
    column = as_numbers(f"the reward structure {name!r}", numbers, (0, 1, 2, 3))
    if column.shape != (model.num_choices,):
        message = (
            f"the reward structure {name!r} has the shape {column.shape}; it needs one number for "
            f"each choice: ({model.num_choices},)."
        )
        raise InvalidModelError(message)
    return column


def _named(model: Model) -> tuple[Integers, tuple[str, ...]]:
    """Return actions numbered without gaps, and their former names."""
    labels, actions = np.unique(model.action_labels, return_inverse=True)
    return actions.astype(np.int64), tuple(map(str, labels.tolist()))


def _closed(parts: Parts) -> Parts:
    """Add a loop to each state without choices."""
    stuck = np.flatnonzero(np.diff(parts.choice_offsets) == 0)
    return _with_choices(parts, stuck, stuck, np.zeros(len(stuck)))


def _with_sink(parts: Parts, terminals: Integers, payoffs: NDArray[Any]) -> Parts:
    """Turn payoffs into rewards of a further step, to a new last state."""
    sink = len(parts.choice_offsets) - 1
    variables: dict[str, Any] = {
        name: np.pad(column, (0, 1)) for name, column in parts.variables.items()
    }
    parts = attrs.evolve(
        parts,
        choice_offsets=np.append(parts.choice_offsets, parts.choice_offsets[-1]),
        players=None if parts.players is None else np.append(parts.players, 0),
        labels={label: np.append(mask, [False]) for label, mask in parts.labels.items()},
        variables=variables,
    )
    paid = payoffs != 0
    successors = np.full(np.count_nonzero(paid), sink)
    return _with_choices(parts, terminals[paid], successors, payoffs[paid])


def _with_choices(
    parts: Parts, states: Integers, successors: Integers, rewards: NDArray[Any]
) -> Parts:
    """Add a deterministic choice to each of the states without choices, which ascend."""
    places = parts.choice_offsets[states]
    counts = np.diff(parts.choice_offsets)
    counts[states] = 1
    widths = np.insert(np.diff(parts.transition_offsets), places, 1)
    spots = parts.transition_offsets[places]
    names = parts.action_names
    if names and "" not in names:
        names = (*names, "")
    action = names.index("") if names else 0
    return attrs.evolve(
        parts,
        choice_offsets=offsets_of(counts),
        transition_offsets=offsets_of(widths),
        successors=np.insert(parts.successors, spots, successors),
        probabilities=np.insert(parts.probabilities, spots, 1.0),
        actions=None if parts.actions is None else np.insert(parts.actions, places, action),
        action_names=names,
        rewards={
            name: {CHOICES: _inserted(kinds[CHOICES], places, rewards)}
            for name, kinds in parts.rewards.items()
        },
    )


def _inserted(column: NDArray[Any], places: Integers, rewards: NDArray[Any]) -> NDArray[Any]:
    """Insert rewards into a column; either may hold Fractions."""
    kind = np.result_type(column, rewards)
    return np.insert(column.astype(kind), places, rewards.astype(kind))


def _words_of(actions: Sequence[Any]) -> tuple[str, ...]:
    """Return the actions of a game that are not integers as texts, different ones for all."""
    words = tuple(map(str, actions))
    return tuple(map(repr, actions)) if "" in words or len(set(words)) < len(words) else words


def names_of(parts: Parts) -> Sequence[str]:
    """Return the name of each choice's action: its number if there are no names."""
    counts = np.diff(parts.choice_offsets)
    if parts.actions is None:
        numbers = np.arange(int(counts.sum())) - np.repeat(parts.choice_offsets[:-1], counts)
        return [str(number) for number in numbers.tolist()]
    if not parts.action_names:
        return [str(number) for number in parts.actions.tolist()]
    return [parts.action_names[number] for number in parts.actions.tolist()]
