"""What policies are worth against each other, between proven bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.compiler.build import compile_game
from gamedp.errors import NotSolvedError
from gamedp.model.model import Model
from gamedp.model.problem import Problem
from gamedp.policies.chain import InducedChain, Process, Seats, induce
from gamedp.policies.policy import AnyPolicy, Policy, model_of
from gamedp.results.solution import Solution
from gamedp.results.status import Guarantee, Status, check_player
from gamedp.solvers.asked import checked_number, checked_objective
from gamedp.solvers.choose import solve_problem
from gamedp.solvers.tools.limit import Limit

if TYPE_CHECKING:
    from gamedp.model.objectives import Objective

__all__ = ["Evaluation", "bounds_of", "evaluate", "model_for", "solved"]

Tier: TypeAlias = Literal["auto", "always", "never"]


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Evaluation:
    """What policies are worth against each other.

    Attributes
    ----------
    chain : InducedChain
    objective : Objective
        What the values mean.
    solutions : tuple of Solution
        Of the chain's model: one with player 0's values, or with three players and more one for
        each. ``gamedp.certify(solution)`` proves it.
    """

    chain: InducedChain
    objective: Objective
    solutions: tuple[Solution, ...]
    _processes: tuple[Process, ...]
    _tolerance: float

    def __repr__(self) -> str:
        """Say whose values these are."""
        names = " against ".join(policy.name for policy in self.chain.policies)
        low, high = self.bounds()
        return f"<Evaluation of {names}: player 0 gets {low:.10g} ... {high:.10g}>"

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies, of player 0 first."""
        return self.chain.policies

    @property
    def guarantee(self) -> Guarantee:
        """What one may rely on."""
        proven = all(one.guarantee is Guarantee.TWO_SIDED for one in self.solutions)
        return Guarantee.TWO_SIDED if proven else Guarantee.NONE

    @property
    def status(self) -> Status:
        """How far the solver got."""
        others = (one.status for one in self.solutions if one.status is not Status.SOLVED)
        return next(others, Status.SOLVED)

    def value(self, state: Any = None, player: int = 0) -> float:
        """Return what a player can expect in a state, or from the start.

        Raises
        ------
        UnknownStateError
            If the model has no such state, or play does not get there.
        """
        node, solution, seen = self._of(state, player)
        return solution.value(node, seen)

    def bounds(self, state: Any = None, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what a player can expect in a state, or from the start."""
        node, solution, seen = self._of(state, player)
        return bounds_of(solution, self._processes[0].loss, node, seen)

    def _of(self, state: Any, player: int) -> tuple[int | None, Solution, int]:
        """Return where a state's value stands, and which player's column to ask for."""
        check_player(self.chain.of.num_players, player)
        node = None if state is None else self.chain.number(state)
        if len(self.solutions) > 1:
            return node, self.solutions[player], 0
        return node, self.solutions[0], player


def bounds_of(
    solution: Solution, loss: float, node: int | None = None, player: int = 0
) -> tuple[float, float]:
    """Return the bounds of a process's solution, and `loss` beyond them."""
    low, high = solution.bounds(node, player)
    if loss:
        low, high = math.nextafter(low - loss, -math.inf), math.nextafter(high + loss, math.inf)
    return low, high


def model_for(given: Any, policies: Sequence[AnyPolicy], tier: Tier) -> Model:
    """Return a model as it is; of a game that of a policy, or the one that it is compiled to."""
    if isinstance(given, Model):
        return given
    for policy in policies:
        model = model_of(policy)
        if model is not None and model.rules is not None and model.rules.game == given:
            return model
    return compile_game(given, compile=tier)


def solved(process: Process, objective: Objective, tolerance: float) -> Solution:
    """Return the solution of a process; wider bounds than asked for are bounds.

    Raises
    ------
    NotSolvedError
        If values depend on what endless play counts, which is not declared.
    """
    low, high = process.draws(objective)
    first = _solved(process, process.objective(objective, low), tolerance)
    if low == high or process.model.structure.always_ends:
        return first
    second = _solved(process, process.objective(objective, high), tolerance)
    lower, upper = np.minimum(first.lower, second.lower), np.maximum(first.upper, second.upper)
    both = attrs.evolve(first, lower=lower, upper=upper)
    if np.abs(first.values - second.values).max() <= 2 * tolerance:
        return both
    message = (
        f"these policies may play for ever, and it is not declared who gets the constant sum "
        f"{process.of.constant_sum:g} then. Give the objective TotalReward(draw=...)."
    )
    raise NotSolvedError(message, attrs.evolve(both, status=Status.UNDECLARED))


def _solved(process: Process, objective: Objective, tolerance: float) -> Solution:
    problem = Problem(process.model, objective)
    try:
        return solve_problem(problem, None, tolerance, relative=False, limit=Limit(math.inf))
    except NotSolvedError as error:
        known = error.solution
        if isinstance(known, Solution) and known.status is Status.ROUNDING:
            return known
        raise


def evaluate(
    game_or_model: Any,
    policies: Any,
    objective: Objective | None = None,
    *,
    tolerance: float = 1e-9,
    everywhere: bool = False,
    compile: Tier = "auto",
) -> Evaluation:
    """Compute what policies are worth against each other, between proven bounds.

    The policies leave a Markov chain, :class:`gamedp.policies.InducedChain`; it is solved by the
    same methods as any model, so all that is said of bounds holds here.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    policies : policy or sequence of policies
        One for each player; of a single player it may stand alone. Each is a
        :class:`gamedp.Solution`, a :class:`gamedp.Policy`, an object with ``choose(state)``, or a
        function of a state that returns an action, or how likely each action is.
    objective : optional
        What to compute; the total reward, payoff at the end included, if not given.
    tolerance : float
        Allow this distance between the bounds of a value. Where rounding does not allow it, wider
        bounds are returned, and the status says so.
    everywhere : bool
        Whether to evaluate all states, also those that are not met.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Evaluation

    Raises
    ------
    InvalidParameterError
        If something is no policy, or takes no action that there is.
    UnsupportedProblemError
        If a policy leaves actions to chance and the objective counts steps.
    NotSolvedError
        If the policies may play for ever, and it is not declared what that counts.

    Examples
    --------
    Taking one match always, against chance:

    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=5), compile="never")
    >>> one = gamedp.Policy.from_function(model, lambda state: 1, "one")
    >>> found = gamedp.evaluate(model, [one, gamedp.Policy.uniform(model)])
    >>> found.value(), found.guarantee.name
    (0.0, 'TWO_SIDED')
    """
    given = _listed(policies)
    model = model_for(game_or_model, given, compile)
    objective = checked_objective(objective)
    tolerance = checked_number("tolerance", tolerance)
    Problem(model, objective)  # refuses what no solver would do either
    chain = InducedChain(model, given, everywhere=everywhere)
    chain.process.refuse_steps(objective)
    processes = [chain.process]
    for column in range(1, model.num_players if model.num_players > 2 else 1):
        seats = Seats(tuple((policy,) for policy in chain.policies))
        processes.append(induce(model, seats, column=column, everywhere=everywhere))
    return Evaluation(
        chain=chain,
        objective=objective,
        solutions=tuple(solved(process, objective, tolerance) for process in processes),
        processes=tuple(processes),
        tolerance=tolerance,
    )


def _listed(policies: Any) -> list[Any]:
    """Return policies as a list; a single one may stand alone."""
    if isinstance(policies, Sequence) and not isinstance(policies, str):
        return list(policies)
    return [policies]
