"""Models made of a model: players who change places unfolded, and one player's policy fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.model.model import Model
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Floats, Integers


@attrs.frozen(eq=False)
class Unfolding:
    """A model in which the players keep their places, and the way back.

    Attributes
    ----------
    model : Model
        A model with 2 S states, as :func:`unfold` makes it.
    given : Model
    """

    model: Model
    given: Model

    def origin(self, state: int) -> int:
        """Return the state of the given model that a state represents."""
        return state % self.given.num_states

    def project(self, numbers: Floats, rounding: int) -> Floats:
        """Return the numbers of the given model's states; none of them is rounded."""
        del rounding
        return numbers[: self.given.num_states]

    def project_policy(self, policy: Integers) -> NDArray[np.int64]:
        """Return the same policy in the given model."""
        return policy[: self.given.num_states].astype(np.int64, copy=False)


def unfold(model: Model) -> Model:
    """Return a model of 2 S states in which the players keep their places.

    State s + S is state s with the players' places changed: player 0's choices become player
    1's, and so do player 0's payoffs. Its value is therefore `constant_sum` minus the value
    of state s, and no transition is negative.

    Parameters
    ----------
    model : Model
        A model with S states and two players.
    """
    num_states = model.num_states
    swapped = model.probabilities < 0
    probabilities = np.abs(model.probabilities)
    successors = model.successors.astype(np.int64)
    here = successors + num_states * swapped
    there = successors + num_states * ~swapped
    dtype: type[Any] = np.int32 if 2 * num_states < 2**31 else np.int64
    return Model.unchecked(
        choice_offsets=_twice(model.choice_offsets),
        transition_offsets=_twice(model.transition_offsets),
        successors=np.concatenate([here, there]).astype(dtype, copy=False),
        probabilities=np.concatenate([probabilities, probabilities]),
        rewards=np.concatenate([model.rewards, -model.rewards]),
        players=np.concatenate([model.players, 1 - model.players]).astype(np.int8),
        terminals=np.concatenate([model.terminals, model.terminals + num_states]),
        payoffs=np.concatenate([model.payoffs, model.constant_sum - model.payoffs]),
        action_labels=np.concatenate([model.action_labels, model.action_labels]),
        actions=model.actions,
        initial_states=model.initial_states + num_states * (model.initial_probabilities < 0),
        initial_probabilities=np.abs(model.initial_probabilities),
        num_players=2,
        constant_sum=model.constant_sum,
    )


def rounding_of(model: Model) -> float:
    """Return the error of a payoff in the unfolded model: the constant sum minus a payoff."""
    ends = model.constant_sum - model.payoffs
    back = ends - model.constant_sum
    lost = (model.constant_sum - (ends - back)) - (model.payoffs + back)
    return UNIT * float(np.abs(ends[lost != 0]).max(initial=0.0))


def with_error(lower: Floats, upper: Floats, error: float) -> tuple[Floats, Floats]:
    """Return bounds that are further apart by an error, where they are finite."""
    if error == 0:
        return lower, upper
    return (
        np.where(np.isfinite(lower), np.nextafter(lower - error, -np.inf), lower),
        np.where(np.isfinite(upper), np.nextafter(upper + error, np.inf), upper),
    )


def _twice(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([offsets, offsets[1:] + offsets[-1]])


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
        actions=model.actions,
        initial_states=model.initial_states,
        initial_probabilities=model.initial_probabilities,
        num_players=model.num_players,
        constant_sum=model.constant_sum,
    )
    return fixed, rows


def _offsets(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
