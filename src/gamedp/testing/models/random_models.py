"""Random models of given kinds, reproducible by seed."""

from __future__ import annotations

import numpy as np

import gamedp


def random_model(  # noqa: PLR0913 - each is one kind of difficulty
    seed: int,
    *,
    num_states: int = 20,
    num_players: int = 1,
    num_choices: int = 3,
    num_outcomes: int = 3,
    end_components: bool = True,
    near_ties: bool = False,
    magnitude: float = 1.0,
    rare: float = 0.0,
) -> gamedp.Model:
    """Return a random Markov decision process, or a stochastic game of two players.

    Parameters
    ----------
    seed : int
    num_states : int
        With choices; two terminal ones, which pay 1 and 0 times `magnitude`, come last.
    num_players : int
        1 or 2.
    num_choices, num_outcomes : int
        Of each state, and of each choice, at most.
    end_components : bool
        Whether play may go on for ever: some choices then lead back and forth between neighbours.
        Without, each choice may end the game.
    near_ties : bool
        Whether there is a copy of each choice that earns more by some units in the last place.
    magnitude : float
        The size of rewards and payoffs.
    rare : float
        If positive, one outcome of each choice has about this probability.

    Examples
    --------
    >>> model = random_model(3, num_players=2)
    >>> model.structure.always_ends, random_model(3, end_components=False).structure.always_ends
    (False, True)
    >>> model.digest() == random_model(3, num_players=2).digest()
    True
    """
    if num_players not in (1, 2) or min(num_states, num_choices, num_outcomes) < 1:
        message = "there are 1 or 2 players, and at least one state, choice and outcome."
        raise gamedp.errors.InvalidParameterError(message)
    rng = np.random.default_rng(seed)
    ends = num_states, num_states + 1
    choices, offsets = [0], [0]
    successors: list[int] = []
    probabilities: list[float] = []
    rewards: list[float] = []
    for state in range(num_states):
        rows = []
        for number in range(int(rng.integers(1, num_choices + 1))):
            if end_components and number == 0 and rng.random() < 0.5:
                neighbour = state + 1 if state % 2 == 0 and state + 1 < num_states else state
                neighbour = state - 1 if state % 2 else neighbour
                rows.append((float(rng.integers(-2, 3)), [neighbour], np.ones(1)))
                continue
            size = int(rng.integers(1, num_outcomes + 1))
            reached = rng.choice(num_states, min(size, num_states), replace=False).tolist()
            if not end_components or rng.random() < 0.2:
                reached.append(int(rng.choice(ends)))
            weights = rng.integers(1, 10, len(reached)).astype(float)
            if rare > 0 and len(reached) > 1:
                weights[-1] = rare * weights[:-1].sum()
            rows.append((float(rng.normal()), reached, weights / weights.sum()))
        if near_ties:
            rows += [(np.nextafter(reward, np.inf), *rest) for reward, *rest in rows]
        for reward, reached, row in rows:
            rewards.append(magnitude * reward)
            successors += reached
            probabilities += row.tolist()
            offsets.append(len(successors))
        choices.append(len(rewards))
    return gamedp.Model.from_arrays(
        [*choices, len(rewards), len(rewards)],
        offsets,
        successors,
        probabilities,
        rewards=rewards,
        players=[*rng.integers(0, num_players, num_states).tolist(), 0, 0],
        terminals=ends,
        payoffs=[magnitude, 0.0],
        num_players=num_players,
    )
