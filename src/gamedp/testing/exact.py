"""Exact values of small models, in rational numbers, with which solvers are compared.

Plain Python over :class:`fractions.Fraction`; shares no code with solvers, kernels, or numpy's
linear algebra. Feasible for some dozens of states.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import attrs

import gamedp
from gamedp.testing.rational import (
    Missed,
    Number,
    RationalGame,
    Row,
    best_of_all,
    choice_value,
    evaluated,
    long_run,
)


def exact_values(
    model: gamedp.Model,
    objective: Any = None,
    *,
    policy: Sequence[int] | None = None,
    player: int = 0,
) -> list[Any]:
    """Return the exact value of every state of a model.

    Rewards and payoffs are taken as stored, probabilities after scaling to sum to exactly one:
    three times the stored 1/3 is slightly less.

    Parameters
    ----------
    model : Model
        A model of one or two players. Where play may go on for ever, all policies are compared, so
        it must have few states, unless every step is deterministic without a reward, and endless
        play is a draw. For the long-run average, one player must make all choices.
    objective : TotalReward, Reachability, Discounted, FiniteHorizon or AverageReward, optional
        The total reward if not given. If the value of endless play is not declared, a `policy` is
        evaluated with the worst one for its player.
    policy : (S,) sequence of int, optional
        Choices to which `player` keeps, while the other plays a best response: then the values are
        those of the policy. Not for finite horizons.
    player : int
        The player who keeps to it.

    Returns
    -------
    list of Fraction
        S numbers; ``math.inf`` or ``-math.inf`` where a total is infinite.

    Raises
    ------
    UnsupportedProblemError
        If there is no such number: more players, too many policies to compare, play that may go on
        for ever and earns rewards of both signs, or opponents in the long run; or if it depends on
        the value of endless play, which is not declared.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 1, 1], [0, 2], [0, 1], [0.25, 0.75], rewards=[3.0], terminals=[1], payoffs=[0.5]
    ... )
    >>> exact_values(model)
    [Fraction(9, 2), Fraction(1, 2)]

    A player who may stay for ever need not go to an end that is worse than a draw:

    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1], payoffs=[-1.0]
    ... )
    >>> exact_values(model), exact_values(model, policy=[1, -1])
    ([Fraction(0, 1), Fraction(-1, 1)], [Fraction(-1, 1), Fraction(-1, 1)])
    """
    objective = gamedp.TotalReward() if objective is None else objective
    if policy is None:
        return _solved(model, objective)
    if isinstance(objective, gamedp.FiniteHorizon):
        message = "a policy that does not count the steps has no values for a finite horizon."
        raise gamedp.UnsupportedProblemError(message)
    wants_most = (player == 0) == (objective.optimum == "max")
    return _solved(
        model, objective, lambda rows: _keep_to(rows, model, policy, player), wants_most=wants_most
    )


def _solved(
    model: gamedp.Model,
    objective: Any,
    restrict: Callable[[list[list[Row]]], None] | None = None,
    *,
    wants_most: bool = True,
) -> list[Any]:
    """Return the exact values of a model, from which some choices may be removed first.

    The removed choices are of one side; an undeclared value of endless play is then the worst for
    that side.
    """
    if model.is_general_sum:
        message = "exact values are for one or two players."
        raise gamedp.UnsupportedProblemError(message)
    game, ends_early = _unfolded(model, objective), _has_target(objective)
    if isinstance(objective, gamedp.FiniteHorizon):
        ends, _ = _ends(model, objective, game.known)
        game = attrs.evolve(game, known=ends)
        return _after_steps(game, objective.horizon, _final(model, objective))[: model.num_states]
    if restrict is not None:
        restrict(game.rows)
    if isinstance(objective, gamedp.AverageReward):
        return long_run(game.some(model.num_states), model)
    is_discounted = getattr(objective, "discount", 1) < 1
    if is_discounted or (model.structure.always_ends and not ends_early):
        return _best_policies(game)[: model.num_states]
    if ends_early or model.rewards.any():
        return _enumerated(game, model, objective)[: model.num_states]
    draws = _draws(model, objective)
    if restrict is not None:
        draws = (draws[0], draws[0]) if wants_most else (draws[1], draws[1])
    # The values, if they are the same for all values that endless play may have.
    found = []
    for draw in sorted(set(draws)):
        less = attrs.evolve(game, known=_less(game.known, model, draw))
        values: list[Any] = (
            _with_draws(less) if model.is_deterministic else _enumerated(less, model, objective)
        )
        found.append([value + draw for value in values[: model.num_states]])
    if found[0] != found[-1]:
        message = "the value depends on what endless play counts, which is not declared."
        raise gamedp.UnsupportedProblemError(message)
    return found[0]


def _has_target(objective: Any) -> bool:
    names = ("target", "until")
    return any(getattr(objective, name, None) is not None for name in names)


def exact_choice_values(model: gamedp.Model, objective: Any = None) -> list[Any]:
    """Return the exact value of every choice of a model, with optimal play afterwards.

    In the long run, the reward of a choice itself does not count.

    Parameters and errors are those of :func:`exact_values`; a finite horizon is at least 1.

    Returns
    -------
    list of Fraction
        C numbers.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1.0], terminals=[1], payoffs=[0.5]
    ... )
    >>> exact_choice_values(model, gamedp.Discounted(0.5))
    [Fraction(3, 16), Fraction(1, 4)]
    """
    objective = gamedp.TotalReward() if objective is None else objective
    following = objective
    if isinstance(objective, gamedp.FiniteHorizon):
        following = attrs.evolve(objective, horizon=objective.horizon - 1)
    values = exact_values(model, following)
    values += [Fraction(model.constant_sum) - value for value in values]
    game = _unfolded(model, objective)
    rows, (ends, _) = game.rows, _ends(model, objective, game.known)
    if isinstance(objective, gamedp.AverageReward):
        rows = [[attrs.evolve(row, reward=Fraction(0)) for row in choices] for choices in rows]
    # After the end, one choice is as good as another.
    return [
        choice_value(row, values) if ends[state] is None else values[state]
        for state, choices in enumerate(rows[: model.num_states])
        for row in choices
    ]


def exact_committed_values(model: gamedp.Model, objective: Any = None) -> list[Any]:
    """Return for every choice the value of its state if its mover always takes that choice there.

    A choice is best exactly if that is the value of the state. It is less than
    :func:`exact_choice_values` where the choice returns to the state, so that taking it once is not
    the same as waiting for ever. For a finite horizon, the two are the same.

    Parameters and errors are those of :func:`exact_values`.

    Returns
    -------
    list of Fraction
        C numbers.

    Examples
    --------
    Waiting has the value of going, if the player goes at some time:

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], payoffs=[0.5])
    >>> exact_choice_values(model)
    [Fraction(1, 2), Fraction(1, 2)]
    >>> exact_committed_values(model)
    [Fraction(0, 1), Fraction(1, 2)]
    """
    objective = gamedp.TotalReward() if objective is None else objective
    if isinstance(objective, gamedp.FiniteHorizon):
        return exact_choice_values(model, objective)
    found = []
    for state, (first, end) in enumerate(itertools.pairwise(model.choice_offsets.tolist())):
        for place in range(end - first):

            def restrict(rows: list[list[Row]], state: int = state, place: int = place) -> None:
                rows[state] = [rows[state][place]]

            wants_most = (model.players[state] == 0) == (objective.optimum == "max")
            found.append(_solved(model, objective, restrict, wants_most=wants_most)[state])
    return found


def _enumerated(game: RationalGame, model: gamedp.Model, objective: Any) -> list[Number]:
    """Return the values of a problem in which play may miss its end."""
    if model.constant_sum and model.rewards.any() and not _has_target(objective):
        message = "who loses the constant sum of endless play is for the rules to say."
        raise gamedp.UnsupportedProblemError(message)
    ends, missed = _ends(model, objective, game.known)
    rows = [
        [] if end is not None else choices for end, choices in zip(ends, game.rows, strict=True)
    ]
    game = RationalGame(rows, game.maximise, ends)
    # If nothing leads to the other side, its policies would be compared for nothing.
    return best_of_all(game if model.has_swaps else game.some(model.num_states), missed)


def _ends(
    model: gamedp.Model, objective: Any, known: list[Fraction | None]
) -> tuple[list[Number | None], Missed]:
    """Return the values at which an objective ends, and the value of play that never ends."""
    objective = gamedp.Problem(model, objective).objective
    ends: list[Number | None] = list(known)
    missed: Missed = "sum"
    if getattr(objective, "target", None) is not None:
        missed = "nothing"
        for state in range(len(known)):
            original = state % model.num_states
            closed = objective.allowed is not None and not objective.allowed[original]
            if objective.target[original]:
                ends[state] = Fraction(1)
            elif closed or known[state] is not None:
                ends[state] = Fraction(0)
    elif getattr(objective, "until", None) is not None:
        missed = "infinite"
        for state in range(len(known)):
            if not objective.until[state % model.num_states]:
                ends[state] = None if known[state] is None else math.inf
            elif known[state] is None:
                ends[state] = Fraction(0)
    return ends, missed


def exact_from(model: gamedp.Model, policy: Sequence[int], objective: Any) -> list[Fraction]:
    """Return the exact values for one player, by policy iteration.

    The policy ends the game almost surely, and no better one goes on for ever: as where each step
    costs something. Then every policy on the way ends it, too, and the last one is the best that
    does (D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems",
    Mathematics of Operations Research 16, 1991).

    Parameters
    ----------
    model : Model
    policy : (S,) sequence of int
        The number of a choice in each state; anything in terminal states.
    objective : TotalReward
        "max" or "min"; that is all that counts.
    """
    size = model.num_states
    game = _unfolded(model, objective).some(size)
    places = [int(policy[state]) - int(model.choice_offsets[state]) for state in range(size)]
    while True:
        values = evaluated(game.rows, places, game.known)
        if not game.improve(places, values, [True] * size):
            return values


def exact_max_n(
    model: gamedp.Model, policy: Sequence[int]
) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Return each of several players' exact values of a policy, where play has no cycles.

    Parameters
    ----------
    model : Model
        Of three players and more, acyclic.
    policy : (S,) sequence of int
        The number of a choice in each state; anything in terminal states.

    Returns
    -------
    values : list of list of Fraction
        Of each state, for each player.
    choice_values : list of list of Fraction
        Of each choice, if all keep to the policy afterwards.
    """
    known = dict(zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True))
    values: dict[int, list[Fraction]] = {
        state: list(map(Fraction, payoffs)) for state, payoffs in known.items()
    }

    def choice_value_of(choice: int) -> list[Fraction]:
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        shares = [Fraction(p) for p in model.probabilities[row].tolist()]
        after = [value_of(state) for state in model.successors[row].tolist()]
        return [
            Fraction(reward)
            + sum((p * value[player] for p, value in zip(shares, after, strict=True)), Fraction(0))
            / sum(shares)
            for player, reward in enumerate(model.rewards[choice].tolist())
        ]

    def value_of(state: int) -> list[Fraction]:
        if state not in values:
            values[state] = choice_value_of(int(policy[state]))
        return values[state]

    of_states = [value_of(state) for state in range(model.num_states)]
    return of_states, [choice_value_of(choice) for choice in range(model.num_choices)]


def _unfolded(model: gamedp.Model, objective: Any) -> RationalGame:
    """Return the choices of each state twice: unchanged, and with the players' places exchanged.

    The values of the second S states are the constant sum minus those of the first: so no edge
    swaps players.
    """
    num_states, discount = model.num_states, Fraction(getattr(objective, "discount", 1))
    counts = getattr(objective, "target", None) is None
    known: list[Fraction | None] = [None] * (2 * num_states)
    for state, payoff in zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True):
        known[state] = Fraction(payoff)
        known[state + num_states] = Fraction(model.constant_sum) - Fraction(payoff)
    rows: list[list[Row]] = [[] for _ in range(2 * num_states)]
    maximise: list[bool] = []
    for side in (0, 1):
        for state in range(num_states):
            wants_most = (model.players[state] == 0) == (objective.optimum == "max")
            maximise.append(bool(wants_most) ^ bool(side))
            for choice in range(model.choice_offsets[state], model.choice_offsets[state + 1]):
                row = slice(*model.transition_offsets[choice : choice + 2].tolist())
                signed = [Fraction(p) for p in model.probabilities[row].tolist()]
                total = sum(map(abs, signed))
                outcomes = tuple(
                    (target + num_states * (side ^ (p < 0)), discount * abs(p) / total)
                    for target, p in zip(model.successors[row].tolist(), signed, strict=True)
                )
                reward = Fraction(float(model.rewards[choice])) if counts else Fraction(0)
                rows[state + side * num_states].append(Row(-reward if side else reward, outcomes))
    return RationalGame(rows, maximise, known)


def _keep_to(
    rows: list[list[Row]], model: gamedp.Model, policy: Sequence[int], player: int
) -> None:
    """Restrict a player to the choices of a policy."""
    for side in (0, 1):
        for state, mover in enumerate(model.players.tolist()):
            if mover ^ side == player and rows[state + side * model.num_states]:
                place = int(policy[state]) - int(model.choice_offsets[state])
                rows[state + side * model.num_states] = [
                    rows[state + side * model.num_states][place]
                ]


def _draws(model: gamedp.Model, objective: Any) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest value that endless play may have."""
    total = Fraction(model.constant_sum) if model.has_opponents else Fraction(0)
    if objective.draw is not None:
        draw = Fraction(objective.draw)
        if model.has_swaps and 2 * draw != total:
            message = f"where players change places, a draw counts {float(total / 2)!r} for both."
            raise gamedp.UnsupportedProblemError(message)
        return draw, draw
    if total == 0 or model.has_swaps or not len(model.payoffs):
        return total / 2, total / 2
    return Fraction(float(model.payoffs.min())), Fraction(float(model.payoffs.max()))


def _less(
    known: list[Fraction | None], model: gamedp.Model, draw: Fraction
) -> list[Fraction | None]:
    """Return payoffs less a draw; with exchanged places, less what the draw leaves the other."""
    other = Fraction(model.constant_sum) - draw
    return [
        payoff if payoff is None else payoff - (draw if state < model.num_states else other)
        for state, payoff in enumerate(known)
    ]


def _with_draws(game: RationalGame) -> list[Fraction]:
    """Return the values of deterministic play, in which endless play counts 0.

    What is better than a draw, one player must reach; all else, that player can only avoid what is
    worse. These games are determined, so what neither can force is a draw.
    """
    draw = Fraction(0)
    values = [draw] * len(game.rows)
    ends = {payoff for payoff in game.known if payoff is not None}
    for most in (True, False):
        # The better the end, the later it is written.
        for value in sorted(ends, reverse=not most):
            if value > draw if most else value < draw:
                for state in _forced(game, value, most):
                    values[state] = value
    for state, payoff in enumerate(game.known):
        if payoff is not None:
            values[state] = payoff
    return values


def _forced(game: RationalGame, value: Fraction, most: bool) -> set[int]:
    """Return the states from which a player can force a payoff of `value`, or better."""
    forced = {
        state
        for state, payoff in enumerate(game.known)
        if payoff is not None and (payoff >= value if most else payoff <= value)
    }
    grows = True
    while grows:
        grows = False
        for state, choices in enumerate(game.rows):
            if state in forced or not choices:
                continue
            enough = any if game.maximise[state] == most else all
            if enough(row.outcomes[0][0] in forced for row in choices):
                forced.add(state)
                grows = True
    return forced


def _final(model: gamedp.Model, objective: Any) -> list[Fraction]:
    """Return the values that a horizon names for its end, for both players; none if it doesn't."""
    final = gamedp.Problem(model, objective).objective.final  # type: ignore[union-attr]
    numbers = [] if final is None else [Fraction(number) for number in final.tolist()]
    return numbers + [-number for number in numbers]


def _after_steps(game: RationalGame, steps: int, final: list[Fraction]) -> list[Fraction]:
    """Return the values with `steps` steps to go."""
    values = final or [Fraction(0) if value is None else value for value in game.known]
    for _ in range(steps):
        values = [
            values[state]
            if game.known[state] is not None
            else (max if most else min)(choice_value(row, values) for row in choices)
            for state, (choices, most) in enumerate(zip(game.rows, game.maximise, strict=True))
        ]
    return values


def _best_policies(game: RationalGame) -> list[Fraction]:
    """Improve the maximiser's policy repeatedly against the minimiser's best response."""
    policy = [0] * len(game.rows)
    minimise = [not most for most in game.maximise]
    while True:
        while True:
            values = evaluated(game.rows, policy, game.known)
            if not game.improve(policy, values, minimise):
                break
        if not game.improve(policy, values, game.maximise):
            return values
