"""The best response to given policies, and the exploitability of joint policies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.bellman.enclosures import enclosed_sum
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.objectives import AverageReward
from gamedp.model.problem import Problem
from gamedp.policies.arguments import as_list, as_model
from gamedp.policies.chain import Process, Seats, even_steps, induce
from gamedp.policies.evaluation import evaluate
from gamedp.policies.policy import (
    Policy,
    PolicyLike,
    as_policies,
    choices_in,
    equal_choices,
    weights_of,
)
from gamedp.policies.solving import solved
from gamedp.results.base import mean_of
from gamedp.results.status import Guarantee, Status, check_player, opposite_bounds
from gamedp.runtime.notebook import html_table
from gamedp.runtime.options import CompileMode
from gamedp.solvers.request import checked_number, checked_objective

if TYPE_CHECKING:
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.results.solution import Solution
    from gamedp.rules.game import Game

Field: TypeAlias = Mapping[Any, float]
"""Policies with their weights; without a type, since a mapping is invariant in that of its keys."""

_COUNTS_STEPS = (
    "the best response for a finite horizon depends on the steps that are left, which a policy "
    "does not look at; ask choose(state, steps=2) if there are two."
)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Response:
    """The best response of one player to the policies of the others.

    Attributes
    ----------
    player : int
        The player who responds.
    against : tuple of Policy
        The policies of the other players, or the field, of which one plays.
    weights : tuple of float or None
        The probability of each member of a field.
    solution : Solution
        The solution of the induced decision process. ``gamedp.certify(solution)`` proves it.
    told : (float, float) or None
        Against a field, bounds of the value for a player who is told which member plays; never less
        than without that information.
    """

    player: int
    against: tuple[Policy, ...]
    weights: tuple[float, ...] | None
    solution: Solution
    told: tuple[float, float] | None
    _process: Process

    def __repr__(self) -> str:
        """Return the opponents and the value in short."""
        names = ", ".join(policy.name for policy in self.against)
        low, high = self.bounds()
        return f"<Response of player {self.player} to {names}: {low:.10g} ... {high:.10g}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        low, high = self.bounds()
        rows = {"player": str(self.player)}
        for place, policy in enumerate(self.against):
            share = "" if self.weights is None else f" with probability {self.weights[place]:g}"
            rows[f"against {place + 1}"] = policy.name + share
        rows["bounds"] = f"{low!r} … {high!r}"
        if self.told is not None:
            rows["if told who plays"] = f"{self.told[0]!r} … {self.told[1]!r}"
        rows |= {"guarantee": self.guarantee.value, "status": self.status.value}
        return html_table(rows)

    def facts(self) -> dict[str, Any]:
        """Return the response by name, as ``gamedp respond --json`` prints it; players from 1."""
        low, high = self.bounds()
        return {
            "player": self.player + 1,
            "value": self.value(),
            "lower": low,
            "upper": high,
            **({} if self.told is None else {"told": self.told}),
            "guarantee": self.guarantee.name,
            "status": self.status.name,
            "states": self.solution.model.num_states,
        }

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that the bounds carry."""
        return self.solution.guarantee

    @property
    def status(self) -> Status:
        """The status of the solver."""
        return self.solution.status

    def value(self, state: Any = None, possible: Sequence[int] | None = None) -> float:
        """Return the expectation of the player who responds in a state, or from the start.

        Parameters
        ----------
        state : optional
        possible : sequence of int, optional
            The members of a field that may still be the opponent; all if not given.

        Raises
        ------
        UnknownStateError
            If the model has no such state, or play does not reach it.
        """
        return self.solution.value(self._node(state, possible), self._seen)

    def bounds(
        self, state: Any = None, possible: Sequence[int] | None = None
    ) -> tuple[float, float]:
        """Return (lower, upper) of the expectation of the player who responds."""
        return self.solution.bounds(self._node(state, possible), self._seen)

    def choose(
        self, state: Any, possible: Sequence[int] | None = None, *, steps: int | None = None
    ) -> Any:
        """Return a best action in a state.

        Parameters
        ----------
        state
        possible : sequence of int, optional
            The members of a field that may still be the opponent; all if not given.
        steps : int, optional
            The number of remaining steps of a :class:`gamedp.FiniteHorizon`.

        Raises
        ------
        InvalidParameterError
            If another player moves there, or the horizon has fewer steps.
        UnknownStateError
            If the model has no such state, or play does not reach it.
        UnsupportedProblemError
            If `steps` is missing for a finite horizon, or given for another objective.

        Examples
        --------
        Waiting for the 3 of the last step is best until then:

        >>> import gamedp
        >>> model = gamedp.Model.from_arrays(
        ...     [0, 2, 3, 3], [0, 1, 2, 3], [0, 1, 2], [1.0] * 3, rewards=[1, 0, 3], terminals=[2],
        ...     players=[0, 1, 0], num_players=2,
        ... )
        >>> other = gamedp.Policy.uniform(model)
        >>> answer = gamedp.best_response(model, other, 0, gamedp.FiniteHorizon(3))
        >>> [answer.choose(0, steps=steps) for steps in (3, 2, 1)]
        [0, 1, 0]
        """
        node = self._node(state, possible)
        if steps is None and self.solution.counts_steps:
            raise UnsupportedProblemError(_COUNTS_STEPS)
        solution = self.solution if steps is None else self.solution.steps_left(steps)
        row = -1 if node is None else int(solution.policy[node])
        choice = -1 if row < 0 else int(self._process.sources[row])
        if choice < 0 or self._mover(node) != self.player:
            message = f"player {self.player} does not move in {shown(state)}."
            raise InvalidParameterError(message)
        actions = equal_choices(self._process.of, state)
        return next(action for action, choices in actions.items() if choice in choices)

    def possible_after(self, state: Any, action: Any, possible: Sequence[int]) -> tuple[int, ...]:
        """Return the members of a field that may still play after their action in a state.

        Raises
        ------
        InvalidParameterError
            If there is no such action.
        UnknownStateError
            If the model has no such state.
        """
        choices = dict(choices_in(self._process.of, state))
        if action not in choices:
            message = f"there is no action {shown(action)} in {shown(state)}."
            raise InvalidParameterError(message)
        if len(set(choices.values())) == 1:
            return tuple(possible)
        choice = choices[action]
        return tuple(
            member for member in possible if self.against[member].probabilities[choice] > 0
        )

    @property
    def policy(self) -> Policy:
        """The best response as a policy of the model; undefined where only others move.

        Raises
        ------
        UnsupportedProblemError
            Against a field, since the best action depends on the members that may still play; or
            for a finite horizon, since it depends on the remaining steps. See :meth:`choose`.
        """
        if self.weights is not None:
            message = "the response to a field depends on what was played; ask choose(state)."
            raise UnsupportedProblemError(message)
        if self.solution.counts_steps:
            raise UnsupportedProblemError(_COUNTS_STEPS)
        process, model = self._process, self._process.of
        rows = self.solution.policy[: process.num_nodes]
        movers = model.players[process.states]
        if model.has_opponents:
            movers = movers ^ process.is_changed
        choices = process.sources[rows[(movers == self.player) & (rows >= 0)]]
        numbers = np.zeros(model.num_choices)
        numbers[choices] = 1.0
        return Policy(model, numbers, f"best response of player {self.player}")

    @property
    def _seen(self) -> int:
        return self.player if self._process.of.has_opponents else 0

    def _mover(self, node: int | None) -> int:
        code = int(self._process.codes[node])
        mover = int(self._process.of.players[code % self._process.of.num_states])
        changed = code // self._process.of.num_states & 1
        return mover ^ changed if self._process.of.has_opponents else mover

    def _node(self, state: Any, possible: Sequence[int] | None) -> int | None:
        if state is None:
            return None
        count = 1 if self.weights is None else len(self.weights)
        members = set(range(count)) if possible is None else set(possible)
        if not members or not members <= set(range(count)):
            message = (
                f"possible is {shown(possible)}; it must name one or more of the policies of the "
                f"field, from 0 to {count - 1}."
            )
            raise InvalidParameterError(message)
        return self._process.node_of(state, sum(1 << int(member) for member in members))


def best_response(
    game_or_model: Game | Model,
    against: PolicyLike | Field | Sequence[PolicyLike],
    player: int = 0,
    objective: Objective | None = None,
    *,
    tolerance: float = 1e-9,
    everywhere: bool = False,
    compile: CompileMode = "auto",
) -> Response:
    """Find the best response to policies, and its value, between proven bounds.

    Fixing the policies of the others induces a decision process, which is solved. Against a field,
    one of several policies plays the whole game, and it is unknown which. The states of the process
    include the set of members that may still be playing: those that would have acted as observed,
    with their weights unchanged.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    against : policy, mapping of policy to float, or sequence of policies
        The other player's policy; or a field, policies with their weights; or with three players or
        more one policy for each of the others, in their order.
    player : int
        The player who responds.
    objective : optional
        The total reward, payoff at the end included, if not given.
    tolerance : float
        Allow this distance between the bounds of a value. Where rounding does not allow it, wider
        bounds are returned, and the status says so.
    everywhere : bool
        Whether to respond in all states, also those that are not reached.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Response

    Raises
    ------
    InvalidParameterError
        If something is not a policy, or takes an action that does not exist.
    UnsupportedProblemError
        If the policies of a field randomise, or any policy does and the objective is a long-run
        average.
    NotSolvedError
        If play may be endless, and the value of endless play is not declared.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> one = gamedp.Policy.from_function(model, lambda state: 1, "one")
    >>> two = gamedp.Policy.from_function(model, lambda state: min(2, state.left), "two")
    >>> gamedp.best_response(model, one, player=1).value()
    1.0
    >>> found = gamedp.best_response(model, {one: 0.5, two: 0.5}, player=1)
    >>> found.value(), found.told
    (1.0, (1.0, 1.0))
    """
    objective = checked_objective(objective)
    tolerance = checked_number("tolerance", tolerance)
    given, weights = as_list(against), None
    if isinstance(against, Mapping):
        given, weights = list(against), weights_of(against)
    model = as_model(game_or_model, given, compile)
    check_player(model.num_players, player)
    Problem(model, objective)  # refuses what no solver would do either
    policies = tuple(as_policies(given, model))
    told = None
    if weights is None or len(policies) == 1:
        weights = None
        seats = _seats(model, policies, player)
    else:
        if not model.has_opponents:
            message = f"a field is for one opponent; there are {model.num_players - 1}."
            raise UnsupportedProblemError(message)
        field: list[tuple[Policy, ...]] = [policies, policies]
        field[player] = ()
        seats = Seats(tuple(field), tuple(weights))
    process = induce(model, seats, column=player, everywhere=everywhere)
    if isinstance(objective, AverageReward):  # its even steps have no action in the state itself
        process.refuse_steps(objective)
    process = even_steps(process, objective)
    solution = solved(process, objective, tolerance)
    if weights is not None:
        each = [
            best_response(model, policy, player, objective, tolerance=tolerance).bounds()
            for policy in policies
        ]
        told = (
            mean_of([low for low, _ in each], weights, 0.0, -math.inf),
            mean_of([high for _, high in each], weights, 0.0, math.inf),
        )
    return Response(
        player=player,
        against=policies,
        weights=None if weights is None else tuple(weights),
        solution=solution,
        told=told,
        process=process,
    )


def _seats(model: Model, others: tuple[Policy, ...], player: int) -> Seats:
    """Fix the policies of the others, and leave one player free."""
    if len(others) != model.num_players - 1:
        message = (
            f"{len(others)} policies are given, and player {player} has "
            f"{model.num_players - 1} opponents."
        )
        raise InvalidParameterError(message)
    seats = [(policy,) for policy in others]
    return Seats((*seats[:player], (), *seats[player:]))


@attrs.frozen(kw_only=True)
class Exploitability:
    """The gain of each player from deviating unilaterally from a joint policy.

    Attributes
    ----------
    gains : tuple of (float, float)
        Bounds of the gain of each player from the best response to the others.
    """

    gains: tuple[tuple[float, float], ...]

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {
            f"player {player} gains": f"{low!r} … {high!r}"
            for player, (low, high) in enumerate(self.gains)
        }
        rows["on average"] = f"{self.lower!r} … {self.upper!r}"
        return html_table(rows)

    @property
    def nash_conv(self) -> tuple[float, float]:
        """Bounds of the sum of all gains; zero only for an equilibrium."""
        low, high = self._mean(1.0)
        return max(0.0, low), high

    @property
    def lower(self) -> float:
        """The lower bound of the average gain of a player."""
        return max(0.0, self._mean(1.0 / len(self.gains))[0])

    @property
    def upper(self) -> float:
        """The upper bound of the average gain of a player."""
        return self._mean(1.0 / len(self.gains))[1]

    def _mean(self, weight: float) -> tuple[float, float]:
        """Return bounds of the sum of all gains, each with the same weight."""
        low, high = zip(*self.gains, strict=True)
        return enclosed_sum([weight] * len(self.gains), low, high)


def exploitability(
    game_or_model: Game | Model,
    policies: PolicyLike | Sequence[PolicyLike],
    objective: Objective | None = None,
    *,
    tolerance: float = 1e-9,
    compile: CompileMode = "auto",
) -> Exploitability:
    """Bound each player's gain from deviating unilaterally from a joint policy.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    policies : sequence of policies
        One for each player, as for :func:`gamedp.evaluate`.
    objective, tolerance, compile
        As for :func:`gamedp.evaluate`.

    Returns
    -------
    Exploitability

    Raises
    ------
    InvalidParameterError, UnsupportedProblemError, NotSolvedError
        As for :func:`gamedp.evaluate` and :func:`gamedp.best_response`.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=6), compile="never")
    >>> gamedp.exploitability(solution.model, [solution, solution]).upper < 1e-300
    True
    """
    given = as_list(policies)
    model = as_model(game_or_model, given, compile)
    made = as_policies(given, model)
    known = evaluate(model, made, objective, tolerance=tolerance)
    gains = []
    for player in range(model.num_players):
        others = made[:player] + made[player + 1 :]
        response = best_response(model, others, player, objective, tolerance=tolerance)
        optimum = known.objective.optimum
        gains.append(gain_of(known.bounds(player=player), response.bounds(), optimum))
    return Exploitability(gains=tuple(gains))


def gain_of(
    own: tuple[float, float], response: tuple[float, float], optimum: str
) -> tuple[float, float]:
    """Return bounds of a player's gain from changing to the best response.

    The gain is not negative, since the player may keep the policy. Equal infinite totals have no
    gain.
    """
    if optimum == "min":
        own, response = (-own[1], -own[0]), (-response[1], -response[0])
    least, _ = _difference(response[0], own[1])
    _, most = _difference(response[1], own[0])
    return max(0.0, least), max(0.0, most)


def _difference(one: float, other: float) -> tuple[float, float]:
    """Return bounds of a difference; 0 for equal infinities."""
    return (0.0, 0.0) if one == other else opposite_bounds(one, other, other)
