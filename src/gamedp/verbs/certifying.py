"""Proofs of solutions: `certify` makes them, `verify` checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, shown
from gamedp.rules.game import REQUIRED, STAGED_REQUIRED
from gamedp.runtime.limit import callback_of, shows_progress
from gamedp.verbs.compiling import compile as compile_rules

if TYPE_CHECKING:
    from gamedp.certificates import Certificate, Verified
    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.rules.game import Game, StagedGame
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode
    from gamedp.stages.model import StagedModel
    from gamedp.stages.solution import StagedSolution

__all__ = ["certify", "verify"]


def certify(solution: Solution | StagedSolution) -> Certificate:
    """Return the bounds of a solution with the evidence that :func:`gamedp.verify` checks.

    The bounds are those of the solution, or slightly wider where rounding hides the proof. Where
    rounding stopped the solver, or contexts lead to each other, they may be narrower: the bounds of
    a certificate can be finer than doubles. The certificate has already been verified. With more
    than two players it certifies the policy: that it is an equilibrium, and its value for each
    player.

    Parameters
    ----------
    solution : Solution or StagedSolution

    Returns
    -------
    Certificate
        Its rules are ``"bounds"``; for more than two players ``"equilibrium"``, for a staged game
        ``"stages"``.

    Raises
    ------
    UnsupportedProblemError
        If nothing is proven, or for objectives without certificates.
    CertificateError
        If rounding leaves no room for a proof.
    InvalidParameterError
        If this is not a solution.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(), compile="never")
    >>> gamedp.verify(solution.model, gamedp.certify(solution)).width
    0.0
    """
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

    if isinstance(solution, StagedSolution):
        from gamedp.certificates.making.stages import certify_stages

        return certify_stages(solution)
    given: Any = solution
    if not isinstance(given, Solution):
        message = f"{shown(given)} is not a solution; gamedp.solve(game) makes one."
        raise InvalidParameterError(message)
    from gamedp.certificates.making.bounds import certify as certify_bounds

    return certify_bounds(solution)


@shows_progress
def verify(
    game_or_model: Game | StagedGame | Model | StagedModel,
    certificate: Certificate,
    *,
    compile: CompileMode = "auto",
    progress: ProgressCallback | bool | None = None,
) -> Verified:
    """Check a certificate independently of the solver that made it.

    An accepted claim holds for every model whose probabilities are positive where the stored ones
    are, sum to one exactly, and agree with the stored ones to two units in the last place, or, for
    a choice whose stored ones need more than that to sum to one, to as much as scaling them takes.
    Rewards and payoffs are taken as stored.

    The time is linear in the size of the model, times the steps of a finite horizon; the memory
    besides the arrays does not depend on the number of transitions.

    Parameters
    ----------
    game_or_model
        A Model or a StagedModel; or a game, which is compiled first: then nothing but the
        certificate is taken from its author.
    certificate : Certificate
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`; it may raise to stop: a certificate from somebody else may ask
        for any number of steps.

    Returns
    -------
    Verified

    Raises
    ------
    CertificateError
        If an inequality does not hold; the message names the first state and choice, and the
        numbers. Also if the certificate is of another model, or its arrays are not as required.
    UnsupportedProblemError
        If there are no certificates for this kind of problem.
    InvalidModelError
        If a reward or payoff is not finite, or probabilities are far from summing to one; or if a
        staged game's tier rises from a context to the next.
    InvalidParameterError
        If the first argument is neither a game nor a model, or the second is not a certificate.

    Examples
    --------
    A proof made by somebody else, checked with the rules alone:

    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> proof = gamedp.certify(gamedp.solve(Matches(matches=9), compile="never"))
    >>> gamedp.verify(Matches(matches=9), proof, compile="never").width
    0.0
    >>> gamedp.verify(Matches(matches=8), proof, compile="never")
    Traceback (most recent call last):
        ...
    gamedp.errors.CertificateError: ...

    A player who may go on for ever or take 3/4 gets 3/4. The rank of state 0 shows that play can
    end:

    >>> import numpy as np
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1], payoffs=[0.75]
    ... )
    >>> def claim(value, rank):
    ...     return gamedp.Certificate(
    ...         objective=gamedp.TotalReward(),
    ...         lower=np.array([value, 0.75]),
    ...         upper=np.array([value, 0.75]),
    ...         evidence={"lower_ranks": np.array([rank, 0]), "upper_ranks": np.array([-1, 0])},
    ...         digest=model.digest(),
    ...     )
    >>> gamedp.verify(model, claim(0.75, rank=1)).width
    0.0

    The value 1 is not proven by the fact that the player may stay in a state where it is 1:

    >>> gamedp.verify(model, claim(1.0, rank=-1))
    Traceback (most recent call last):
        ...
    gamedp.errors.CertificateError: lower[0] = 1.0 of state 0 is not certified: no action...
    """
    from gamedp.certificates import Certificate, verify as verify_model

    model: Any = game_or_model
    report = callback_of(progress)
    if _is_game(model) and isinstance(certificate, Certificate):
        model = compile_rules(model, compile=compile, progress=report)
    return verify_model(model, certificate, report)


def _is_game(given: Any) -> bool:
    """Return whether an object has the methods of a game; a class has them, but is not a game."""
    if isinstance(given, type):
        return False
    return any(
        all(callable(getattr(given, name, None)) for name in names)
        for names in (REQUIRED, STAGED_REQUIRED)
    )
