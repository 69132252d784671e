"""Models as discrete dynamic programs of QuantEcon, which have no ends."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from gamedp.adapters.packages import installed
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model

__all__ = ["as_discrete_dp", "discrete_dp_of", "endless"]


def endless(model: Model, discount: float, sign: float = 1.0) -> Model:
    """Return a one-player model in which a terminal state earns nothing, or its payoff at once.

    Packages for decision processes have no terminal states; a state that leads to itself and earns
    (1 - discount) · payoff in each step has the same value. Rewards are multiplied by `sign`.
    """
    counts = np.diff(model.choice_offsets)
    at = model.choice_offsets[model.terminals]  # where their new choices begin
    first = model.transition_offsets[at]
    lengths = np.insert(np.diff(model.transition_offsets), at, 1)
    return Model.from_arrays(
        np.concatenate([[0], np.cumsum(np.maximum(counts, 1))]),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.insert(model.successors, first, model.terminals),
        np.insert(model.probabilities, first, 1.0),
        rewards=sign * np.insert(model.rewards, at, (1 - discount) * model.payoffs),
    )


def as_discrete_dp(model: Any, discount: float) -> Any:
    """Return a model of one player as a discounted program of QuantEcon [1]_.

    Its states are numbered as the model's, its actions from 0 in each state, in the order of the
    model's choices. A terminal state leads to itself and earns (1 - discount) times its payoff in
    each step, so that its value is the payoff; all values are then those of
    ``gamedp.Discounted(discount)``. Numbers that no double is equal to are rounded.

    Parameters
    ----------
    model : Model, LoadedModel or game
        A model of one player, who maximises; a game is compiled first.
    discount : float
        The factor for a value one step later; ``0 <= discount < 1``.

    Returns
    -------
    quantecon.markov.DiscreteDP
        In the form of pairs of a state and an action, with sparse transitions.

    Raises
    ------
    UnsupportedProblemError
        If there are several players.
    InvalidParameterError
        If the discount is out of range.
    MissingPackageError
        If QuantEcon is not installed: ``pip install gamedp[quantecon]``.

    References
    ----------
    .. [1] https://quanteconpy.readthedocs.io/en/latest/markov/ddp.html

    Examples
    --------
    To stay for a reward of 1 in each step, or to leave for 3, once:

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[1.0, 3.0], terminals=[1]
    ... )
    >>> program = gamedp.adapters.as_discrete_dp(model, 0.5)
    >>> program.num_states, program.beta
    (2, 0.5)
    """
    given: Any = discount
    if not (isinstance(given, numbers.Real) and 0 <= given < 1):  # type: ignore[operator]
        message = f"discount is {shown(given)}; it must be a number from 0 to below 1."
        raise InvalidParameterError(message)
    from gamedp.adapters.positions import model_of  # noqa: PLC0415 - brings the compiler along

    found = model_of(model)
    if found.num_players != 1:
        message = f"a DiscreteDP has one player, and this model {found.num_players}."
        raise UnsupportedProblemError(message)
    markov = installed("quantecon.markov", "gamedp[quantecon]")
    return discrete_dp_of(markov, endless(found, float(discount)), float(discount))


def discrete_dp_of(markov: Any, model: Model, discount: float) -> Any:
    """Return a program of QuantEcon's module `markov` for a model without terminal states."""
    import scipy.sparse  # noqa: PLC0415 - only needed here

    counts = np.diff(model.choice_offsets)
    first = np.repeat(model.choice_offsets[:-1], counts)
    return markov.DiscreteDP(
        model.rewards.copy(),
        scipy.sparse.csr_matrix(model.transition_matrix.copy()),
        discount,
        s_indices=np.repeat(np.arange(model.num_states), counts),
        a_indices=np.arange(model.num_choices) - first,
    )
