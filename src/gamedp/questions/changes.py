"""Models changed so that an objective answers a question about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.model.model import Model, given_numbers
from gamedp.model.validation.forms import offsets_of
from gamedp.questions.truth import decimals
from gamedp.rules.exactness import WRITTEN_DIGITS, are_own_decimals, as_given, is_written

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Floats, Integers


def without_payoffs(model: Model) -> Model:
    """Return a model in which ends pay nothing."""
    if not model.payoffs.any():
        return model
    kept = {name: array for name, array in model.fractions.items() if name != "payoffs"}
    nothing = np.zeros(len(model.payoffs))
    return attrs.evolve(model, payoffs=nothing, constant_sum=0.0, fractions=kept)


def bare(model: Model) -> Model:
    """Return a model in which nothing is earned."""
    kept = {name: array for name, array in model.fractions.items() if name != "rewards"}
    nothing = np.zeros(model.num_choices)
    rounding = (model.rounding[0], 0.0, 0.0)
    return without_payoffs(attrs.evolve(model, rewards=nothing, fractions=kept, rounding=rounding))


def cut(model: Model, ends: Flags, payoffs: NDArray[Any]) -> Model:
    """Return a model in which play ends in some states, and in those without choices.

    Parameters
    ----------
    model : Model
    ends : (S,) bool
    payoffs : (S,)
        What each end pays.
    """
    counts = np.diff(model.choice_offsets)
    ends = ends | (counts == 0)
    kept = np.repeat(~ends, counts)
    lengths = np.diff(model.transition_offsets)
    return _with_choices(
        model,
        np.where(ends, 0, counts),
        lengths[kept],
        np.asarray(model.successors)[np.repeat(kept, lengths)].astype(np.int64),
        given_numbers(model, "probabilities")[np.repeat(kept, lengths)],
        given_numbers(model, "rewards")[kept],
        model.action_labels[kept],
        payoffs=payoffs[ends],
    )


def looped(model: Model) -> Model:
    """Return a model whose states without choices lead to themselves, for no reward."""
    counts = np.diff(model.choice_offsets)
    stuck = np.flatnonzero(counts == 0)
    if not len(stuck):
        return model
    at = model.choice_offsets[stuck]
    lengths = np.diff(model.transition_offsets)
    places = model.transition_offsets[at]
    return _with_choices(
        model,
        np.maximum(counts, 1),
        np.insert(lengths, at, 1),
        np.insert(np.asarray(model.successors).astype(np.int64), places, stuck),
        _inserted(given_numbers(model, "probabilities"), places, 1.0),
        _inserted(given_numbers(model, "rewards"), at, 0.0),
        np.insert(model.action_labels, at, 0),
    )


def _inserted(numbers: NDArray[Any], at: Integers, number: float) -> NDArray[Any]:
    return as_given(np.insert(numbers.astype(object), at, number).tolist())


def _with_choices(
    model: Model,
    counts: Integers,
    lengths: Integers,
    successors: Integers,
    probabilities: NDArray[Any],
    rewards: NDArray[Any],
    labels: Integers,
    payoffs: NDArray[Any] | None = None,
) -> Model:
    """Return a model with other choices in the same states."""
    changed = Model.from_arrays(
        offsets_of(counts),
        offsets_of(lengths),
        successors,
        probabilities,
        rewards=rewards,
        players=model.players,
        terminals=np.flatnonzero(counts == 0),
        payoffs=payoffs,
        action_labels=labels,
        initial=beginning(model, model.initial_states),
        num_players=model.num_players,
        action_names=model.action_names,
        variables=model.variables,
        # Of ends that pay probabilities, or nothing.
        constant_sum=float(model.num_players > 1 and payoffs is not None and payoffs.any()),
    )
    first, second, third = map(max, changed.rounding, model.rounding)
    if _are_as_given(model):  # then Fractions alone are off, and some may be left out
        _, second, third = changed.rounding
    return attrs.evolve(changed, rounding=(first, second, third))


def _are_as_given(model: Model) -> bool:
    """Return whether the rewards are no averages of rounded numbers."""
    return not model.mean_rewards and (model.rounding[1] == 0 or "rewards" in model.fractions)


def beginning(model: Model, states: Integers) -> list[tuple[Any, int]]:
    """Return the model's initial probabilities, each with another state."""
    weights = given_numbers(model, "initial_probabilities").tolist()
    return list(zip(weights, states.tolist(), strict=True))


def as_written(model: Model) -> Model | str:
    """Return the model with decimals as they are written; or why there is none, in words.

    A double stands for the shortest decimal that is read as it: 0.1 for a tenth. It is what was
    meant only if it is short, and if the probabilities of each choice then add up to one exactly.
    """
    if not _are_as_given(model):
        return "rewards of the model are averages of numbers that are rounded."
    given = [given_numbers(model, name) for name in ("probabilities", "rewards", "payoffs")]
    probabilities = decimals(given[0])
    starts = model.transition_offsets[:-1]
    if len(starts) and (np.add.reduceat(probabilities, starts) != 1).any():
        return "the decimals of the model do not add up to one, so they are rounded."
    chances = {number for number in given[0].tolist() if isinstance(number, float)}
    for number in chances.union(*(array.tolist() for array in given[1:])):
        if not is_written(number):
            return (
                f"{float(number)!r} in the model has more than {WRITTEN_DIGITS} digits, as if it "
                "were rounded."
            )
    return _with_choices(
        attrs.evolve(model, rounding=(0.0, 0.0, 0.0)),
        np.diff(model.choice_offsets),
        np.diff(model.transition_offsets),
        np.asarray(model.successors),
        as_given(probabilities.tolist()),
        as_given(decimals(given[1]).tolist()),
        model.action_labels,
        payoffs=as_given(decimals(given[2]).tolist()),
    )


def with_room_for_decimals(model: Model) -> Model:
    """Return a model whose bounds allow for decimals in place of the doubles next to them."""
    (payoffs, one), (rewards, other) = map(_off_as_decimals, (model.payoffs, model.rewards))
    if not (payoffs or rewards):
        return model
    first, second, third = map(max, model.rounding, (payoffs, rewards, max(one, other)))
    return attrs.evolve(model, rounding=(first, second, third))


def _off_as_decimals(numbers: Floats) -> tuple[float, float]:
    """Return bounds of how far doubles are from the decimals shown for them, also as a part."""
    others = np.unique(np.abs(numbers[~are_own_decimals(numbers)]))
    if not len(others):
        return 0.0, 0.0
    return float(np.spacing(others.max())), float((np.spacing(others) / others).max())
