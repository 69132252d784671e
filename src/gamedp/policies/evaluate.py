"""The values of policies against each other, between proven bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.errors import UnsupportedProblemError
from gamedp.model.problem import Problem
from gamedp.policies.chain import InducedChain, Seats, even_steps, induce
from gamedp.policies.evaluation import Evaluation
from gamedp.policies.followed import followed
from gamedp.policies.given import is_of_stages, listed, model_for
from gamedp.policies.solving import solved
from gamedp.runtime.options import CompileMode
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
    compile: CompileMode = "auto",
) -> Evaluation:
    """Compute the values of policies against each other, between proven bounds.

    The policies induce a Markov chain, :class:`gamedp.policies.InducedChain`; it is solved by the
    same methods as any model, with the same guarantees of the bounds.

    A staged game is followed from position to position, as in :class:`gamedp.stages.Flattened`, but
    only to the positions that its policies reach: in plain Python, up to a million positions. Each
    state is then a :class:`gamedp.stages.Position`, and moving on to the next context is an action.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game` or :class:`gamedp.StagedGame`, a
        Model or a StagedModel.
    policies : policy or sequence of policies
        One for each player; for a single player it need not be in a sequence. Each is a
        :class:`gamedp.Solution`, a :class:`gamedp.Policy`, an object with ``choose(state)``, or a
        function of a state that returns an action, or the probability of each action; for a Model
        also an array, see :meth:`gamedp.Policy.from_array`. For a staged game, as for
        :func:`gamedp.simulate`.
    objective : optional
        The quantity to compute; the total reward, payoff at the end included, if not given.
    tolerance : float
        Allowed distance between the bounds of a value. If rounding prevents it, wider bounds are
        returned, and the status says so.
    everywhere : bool
        Whether to evaluate all states, also those that are not reached; not for staged games.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Evaluation

    Raises
    ------
    InvalidParameterError
        If an argument is not a policy, or takes no existing action.
    NotSolvedError
        If the policies may play for ever, and the value of endless play is not declared.
    UnsupportedProblemError
        If the policies of a staged game reach too many positions.

    Examples
    --------
    Always taking one match, against random play:

    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=5), compile="never")
    >>> one = gamedp.Policy.from_function(model, lambda state: 1, "one")
    >>> found = gamedp.evaluate(model, [one, gamedp.Policy.uniform(model)])
    >>> found.value(), found.guarantee.name
    (0.0, 'TWO_SIDED')

    A small Kniffel, played at random:

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
