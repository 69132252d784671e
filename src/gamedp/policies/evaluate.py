"""The values of policies against each other, between proven bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.errors import UnsupportedProblemError
from gamedp.model.problem import Problem
from gamedp.policies.chain import InducedChain, Seats, induce
from gamedp.policies.evaluation import Evaluation
from gamedp.policies.followed import followed
from gamedp.policies.given import is_of_stages, listed, model_for
from gamedp.policies.solving import solved
from gamedp.policies.stepwise import even_steps
from gamedp.runtime.options import Tier
from gamedp.solvers.asked import checked_number, checked_objective

if TYPE_CHECKING:
    from gamedp.model.objectives import Objective

__all__ = ["evaluate"]


def evaluate(
    game_or_model: Any,
    policies: Any,
    objective: Objective | None = None,
    *,
    tolerance: float = 1e-9,
    everywhere: bool = False,
    compile: Tier = "auto",
) -> Evaluation:
    """Compute the values of policies against each other, between proven bounds.

    The policies leave a Markov chain, :class:`gamedp.policies.InducedChain`; it is solved by the
    same methods as any model, so all that is said of bounds holds here.

    A staged game is followed from position to position, as in :class:`gamedp.stages.Flattened`, but
    only where its policies get to: by plain Python, up to a million positions. States are then a
    :class:`gamedp.stages.Position` each, and to go on to the next context is an action.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game` or :class:`gamedp.StagedGame`, a
        Model or a StagedModel.
    policies : policy or sequence of policies
        One for each player; of a single player it may stand alone. Each is a
        :class:`gamedp.Solution`, a :class:`gamedp.Policy`, an object with ``choose(state)``, or a
        function of a state that returns an action, or how likely each action is; of a Model also an
        array, see :meth:`gamedp.Policy.from_array`. Of a staged game, as for
        :func:`gamedp.simulate`.
    objective : optional
        What to compute; the total reward, payoff at the end included, if not given.
    tolerance : float
        Allow this distance between the bounds of a value. Where rounding does not allow it, wider
        bounds are returned, and the status says so.
    everywhere : bool
        Whether to evaluate all states, also those that are not met; not for staged games.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Evaluation

    Raises
    ------
    InvalidParameterError
        If something is no policy, or takes no action that there is.
    NotSolvedError
        If the policies may play for ever, and it is not declared what that counts.
    UnsupportedProblemError
        If the policies of a staged game meet too many positions.

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

    A small Kniffel, played by chance:

    >>> from gamedp.games.kniffel import Kniffel
    >>> small = Kniffel(dice=1, faces=2, throws=1, threshold=3)
    >>> found = gamedp.evaluate(small, gamedp.play.RandomPlayer(small))
    >>> found.value() < gamedp.solve(small, compile="never").value()
    True
    """
    given = listed(policies)
    objective = checked_objective(objective)
    tolerance = checked_number("tolerance", tolerance)
    if is_of_stages(game_or_model):
        if everywhere:
            message = "everywhere takes a table of all positions, which a staged game has not."
            raise UnsupportedProblemError(message)
        model, given = followed(game_or_model, given)
    else:
        model = model_for(game_or_model, given, compile)
    Problem(model, objective)  # refuses what no solver would do either
    chain = InducedChain(model, given, everywhere=everywhere)
    processes = [chain.process]
    for column in range(1, model.num_players if model.num_players > 2 else 1):
        seats = Seats(tuple((policy,) for policy in chain.policies))
        processes.append(induce(model, seats, column=column, everywhere=everywhere))
    solutions = tuple(
        solved(even_steps(process, objective), objective, tolerance) for process in processes
    )
    return Evaluation(
        chain=chain,
        objective=objective,
        solutions=solutions,
        processes=tuple(processes),
        tolerance=tolerance,
    )
