"""Functions that take a game as well as its model: a game is compiled first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from gamedp.certificates import verify as verify_model
from gamedp.certificates.certificate import AnyCertificate
from gamedp.rules.game import REQUIRED
from gamedp.rules.staged import STAGED_REQUIRED

if TYPE_CHECKING:
    from gamedp.certificates import Certificate, EquilibriumCertificate, StagedCertificate, Verified

__all__ = ["verify"]


def verify(
    game_or_model: Any,
    certificate: Certificate | EquilibriumCertificate | StagedCertificate,
    *,
    compile: Literal["auto", "always", "never"] = "auto",
) -> Verified:
    """Check a certificate independently of the solver that made it.

    What is accepted holds for every model whose probabilities are positive where the stored ones
    are, sum to one exactly, and agree with the stored ones to two units in the last place, or, for
    a choice whose stored ones need more than that to sum to one, to as much as scaling them takes.
    Rewards and payoffs count as they are stored.

    Takes time linear in the size of the model, times the steps of a finite horizon; memory besides
    the arrays does not depend on the number of transitions.

    Parameters
    ----------
    game_or_model
        A Model or a StagedModel; or a game, which is compiled first: so nothing of the one who made
        the certificate is used but the certificate.
    certificate : Certificate, EquilibriumCertificate or StagedCertificate
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Verified

    Raises
    ------
    CertificateError
        If something does not hold: names the first state and choice, and the numbers. Also if the
        certificate is of another model, or its arrays are not what they should be.
    UnsupportedProblemError
        If there are no certificates for such a problem.
    InvalidModelError
        If a reward or payoff is not finite, or probabilities are far from summing to one; or if a
        staged game's rank rises from a context to the next.
    InvalidParameterError
        If this is neither a game nor a model, or no certificate.

    Examples
    --------
    A proof that somebody else has made, checked by the rules alone:

    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> proof = gamedp.certify(gamedp.solve(Matches(matches=9), compile="never"))
    >>> gamedp.verify(Matches(matches=9), proof, compile="never").width
    0.0
    >>> gamedp.verify(Matches(matches=8), proof, compile="never")
    Traceback (most recent call last):
        ...
    gamedp.errors.CertificateError: ...

    Who may go on for ever or take 3/4, gets 3/4. The rank of state 0 says that play can end:

    >>> import numpy as np
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1], payoffs=[0.75]
    ... )
    >>> def claim(value, rank):
    ...     return gamedp.Certificate(
    ...         objective=gamedp.TotalReward(),
    ...         lower=np.array([value, 0.75]),
    ...         upper=np.array([value, 0.75]),
    ...         lower_ranks=np.array([rank, 0]),
    ...         upper_ranks=np.array([-1, 0]),
    ...         digest=model.digest(),
    ...     )
    >>> gamedp.verify(model, claim(0.75, rank=1)).width
    0.0

    To be worth 1 because one may stay where one is worth 1 is no proof:

    >>> gamedp.verify(model, claim(1.0, rank=-1))
    Traceback (most recent call last):
        ...
    gamedp.errors.CertificateError: lower[0] = 1.0 of state 0 is not certified: no action...
    """
    model = game_or_model
    if _is_game(model) and isinstance(certificate, AnyCertificate):
        from gamedp.compiler import compile_game  # noqa: PLC0415 - a model is checked without numba

        model = compile_game(model, compile=compile)
    return verify_model(model, certificate)


def _is_game(given: Any) -> bool:
    """Say whether this has the methods of a game; a class has them, and is none."""
    if isinstance(given, type):
        return False
    return any(
        all(callable(getattr(given, name, None)) for name in names)
        for names in (REQUIRED, STAGED_REQUIRED)
    )
