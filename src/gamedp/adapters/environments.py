"""Games as those of Gymnasium, PettingZoo and OpenSpiel, and models as programs of QuantEcon."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gamedp.adapters.packages import installed
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model

if TYPE_CHECKING:
    from gamedp.adapters.gymnasium_environment import GameEnvironment
    from gamedp.adapters.openspiel_game import GameForOpenSpiel
    from gamedp.adapters.pettingzoo_environment import GameForAgents
    from gamedp.adapters.positions import Observed


# What plays a game is imported when an environment is made: files of other tools need none of it.


def as_environment(
    game: Any,
    *,
    illegal: Literal["error", "stay"] = "error",
    observed: Observed = "fields",
    render_mode: str | None = None,
) -> GameEnvironment:
    """Return a game of one player as an environment of Gymnasium [1]_.

    The sum of the rewards of an episode has the game's value as its mean, if the policy is optimal:
    :class:`gamedp.TotalReward`. The payoff comes with the step that ends the episode, so a learner
    that discounts counts it once less than :class:`gamedp.Discounted`, which takes it to come a
    step later. There is no limit of time; ``gymnasium.wrappers.TimeLimit`` sets one.

    Parameters
    ----------
    game : game, Model or LoadedModel
        A game of one player, which is compiled first; or its model, from :func:`gamedp.compile`
        with limits and options of its own. A symmetric game is played on the representatives.
    illegal : {"error", "stay"}
        The effect of an action that is not possible: an error, or none, with the reward 0. What
        draws actions without looking at the mask, such as ``check_env``, needs ``"stay"``.
    observed : {"fields", "index"}
        Whether a state is observed as its fields, a `Box` of K integers with the range of each over
        all states; or as its number in the model, a `Discrete` of S. Numbers also where the states
        are not made of integers.
    render_mode : {"ansi"}, optional
        Whether ``render()`` returns the state as text: the game's `render`, or its `view` drawn.

    Returns
    -------
    gymnasium.Env
        Actions are numbered 0 to A - 1: the game's own, ascending, in ``positions.labels`` of the
        environment; if they are not integers, these are places in ``positions.model.actions``.
        ``info["action_mask"]``, (A,) int8, has a 1 for each that is possible.
        ``state`` is the game's present state.

    Raises
    ------
    UnsupportedProblemError
        If the game has several players, is staged, or may be over at the start.
    InvalidParameterError
        If an option is none of those above.
    InvalidModelError
        If the rules are wrong somewhere.
    MissingPackageError
        If Gymnasium is not installed: ``pip install gamedp[gymnasium]``.

    References
    ----------
    .. [1] https://gymnasium.farama.org

    Examples
    --------
    >>> import gamedp
    >>> class Dice:  # roll until you stop; you get the points of the last roll, and none for a 1
    ...     def initial_state(self):
    ...         return 0, False
    ...     def is_terminal(self, state):
    ...         return state[1]
    ...     def actions(self, state):
    ...         return [0, 1] if state[0] else [1]
    ...     def outcomes(self, state, action):
    ...         if action == 0:
    ...             return [(1.0, (state[0], True))]
    ...         return [(1 / 6, (face, face == 1)) for face in range(1, 7)]
    ...     def payoff(self, state, player):
    ...         return 0.0 if state[0] == 1 else float(state[0])
    >>> env = gamedp.adapters.as_environment(Dice())
    >>> observation, info = env.reset(seed=1)
    >>> observation.tolist(), info["action_mask"].tolist()
    ([0, 0], [0, 1])
    >>> observation, reward, terminated, truncated, info = env.step(1)
    >>> bool(1 <= observation[0] <= 6)
    True
    """
    installed("gymnasium", "gamedp[gymnasium]")
    from gamedp.adapters.gymnasium_environment import GameEnvironment  # noqa: PLC0415
    from gamedp.adapters.positions import Positions, model_of  # noqa: PLC0415

    positions = Positions(model_of(game), observed)
    return GameEnvironment(positions, illegal=illegal, render_mode=render_mode)


def as_pettingzoo(
    game: Any, *, observed: Observed = "fields", render_mode: str | None = None
) -> GameForAgents:
    """Return a game of any number of players as an environment of PettingZoo [1]_.

    Player n is the agent ``"player_n"``. All observe the whole state; ``infos`` of the agent to
    move has the actions that are possible as ``"action_mask"``, and others have none. With two
    opponents, player 1 receives the negative reward, and the rest of the constant sum as payoff.
    Where the symmetry of a game makes the players change places, agents stay who they are, and they
    observe the representative.

    Parameters
    ----------
    game : game, Model or LoadedModel
        A game, which is compiled first; or its model.
    observed, render_mode
        As for :func:`gamedp.adapters.as_environment`; actions are numbered as there, too.

    Returns
    -------
    pettingzoo.AECEnv

    Raises
    ------
    UnsupportedProblemError
        If the game is staged, or may be over at the start.
    InvalidParameterError
        If an option is none of those above; later, if an action is not possible.
    InvalidModelError
        If the rules are wrong somewhere.
    MissingPackageError
        If PettingZoo is not installed: ``pip install gamedp[pettingzoo]``.

    References
    ----------
    .. [1] J. Terry et al., "PettingZoo: Gym for multi-agent reinforcement learning", NeurIPS 2021.
       https://pettingzoo.farama.org

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> env = gamedp.adapters.as_pettingzoo(Matches(matches=4))
    >>> env.reset(seed=1)
    >>> env.agent_selection, env.infos["player_0"]["action_mask"].tolist()
    ('player_0', [1, 1, 1])
    >>> env.step(2)
    >>> env.agent_selection, env.infos["player_1"]["action_mask"].tolist()
    ('player_1', [1, 0, 0])
    """
    installed("pettingzoo", "gamedp[pettingzoo]")
    from gamedp.adapters.pettingzoo_environment import GameForAgents  # noqa: PLC0415
    from gamedp.adapters.positions import Positions, model_of  # noqa: PLC0415

    return GameForAgents(Positions(model_of(game), observed), render_mode=render_mode)


def as_openspiel(
    game: Any, *, zero_sum: bool = False, observed: Observed = "fields"
) -> GameForOpenSpiel:
    """Return a game of any number of players as a game of OpenSpiel [1]_.

    Its algorithms in Python and in C++ take it as it is; it has no name by which it could be
    loaded. Chance is a player of its own there, and moves after each action with several outcomes.
    The text of a state begins with the game's own, and has the number of the state in the model, so
    that equal texts are equal states. A game that may go on for ever states a largest number of
    moves of 2³⁰; what follows such games to the end does not come back.

    Parameters
    ----------
    game : game, Model or LoadedModel
        A game, which is compiled first; or its model.
    zero_sum : bool
        Whether each of two opponents is paid half of their constant sum less, and values are less
        by that: many algorithms of OpenSpiel take zero-sum games alone.
    observed
        As for :func:`gamedp.adapters.as_environment`; actions are numbered as there, too.

    Returns
    -------
    pyspiel.Game
        ``state`` of its states is the game's own state.

    Raises
    ------
    UnsupportedProblemError
        If the game is staged, or may be over at the start; or two players with payoffs of their own
        are to have a sum of zero.
    InvalidParameterError
        If an option is none of those above; later, if an action is not possible.
    InvalidModelError
        If the rules are wrong somewhere.
    MissingPackageError
        If OpenSpiel is not installed: ``pip install gamedp[openspiel]``.

    References
    ----------
    .. [1] M. Lanctot et al., "OpenSpiel: A Framework for Reinforcement Learning in Games", 2019.
       https://github.com/google-deepmind/open_spiel

    Examples
    --------
    The player to move wins with six matches, by leaving five:

    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> from open_spiel.python.algorithms import minimax
    >>> game = gamedp.adapters.as_openspiel(Matches(matches=6))
    >>> value, action = minimax.alpha_beta_search(game)
    >>> value, game.new_initial_state().action_to_string(action)
    (1.0, 'take 1')
    """
    installed("pyspiel", "gamedp[openspiel]")
    from gamedp.adapters.openspiel_game import GameForOpenSpiel  # noqa: PLC0415
    from gamedp.adapters.positions import Positions, model_of  # noqa: PLC0415

    positions = Positions(model_of(game), observed)
    return GameForOpenSpiel(positions, zero_sum=zero_sum)


def endless(model: Model, discount: float, sign: float = 1.0) -> Model:
    """Return a one-player model in which a terminal state earns nothing, or its payoff immediately.

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
