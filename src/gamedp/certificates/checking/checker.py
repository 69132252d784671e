"""The checker: finds the rules that a certificate names, and applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.certificates.certificate import Certificate, Verified, widest
from gamedp.certificates.checking.bounds import BoundsRules
from gamedp.certificates.checking.equilibrium import EquilibriumRules
from gamedp.certificates.checking.rule_set import check_arrays, check_digest
from gamedp.certificates.checking.stages import StagesRules
from gamedp.errors import CertificateError, InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.model.objectives import check_objective
from gamedp.runtime.limit import Reporter
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from gamedp.certificates.checking.rule_set import RuleSet
    from gamedp.runtime.limit import ProgressCallback

_RULE_SETS: tuple[RuleSet, ...] = (BoundsRules(), EquilibriumRules(), StagesRules())

RULES = {rules.name: rules for rules in _RULE_SETS}
"""All rules by name; a certificate that names others is refused."""


def verify(
    model: Model | StagedModel, certificate: Certificate, progress: ProgressCallback | None = None
) -> Verified:
    """Check a certificate by a model; :func:`gamedp.verify` says what is accepted, and raised."""
    _check_kinds(model, certificate)
    check_digest(model, certificate)
    return accept(model, certificate, progress)


def accept(
    model: Model | StagedModel, certificate: Certificate, progress: ProgressCallback | None = None
) -> Verified:
    """Check a certificate that is surely of this model."""
    rules, objective = RULES[certificate.rules], certificate.objective
    check_objective(objective)
    refusal = rules.accepts(model, objective)
    if refusal:
        raise UnsupportedProblemError(refusal)
    check_arrays(rules, model, certificate)
    counts = rules.check(model, certificate, Reporter(progress, "verify"))
    return Verified(
        claim=rules.claim(model, objective), width=widest(certificate), **counts._asdict()
    )


def _check_kinds(model: Any, certificate: Any) -> None:
    """Refuse an object that is not a certificate or not a model, and those that do not match."""
    if not isinstance(certificate, Certificate):
        message = (
            f"{shown(certificate)} is not a certificate; gamedp.certify(solution) makes one, and "
            "gamedp.load reads one from a folder."
        )
        raise InvalidParameterError(message)
    if not isinstance(model, (Model, StagedModel)):
        way_out = "give its `.model`" if hasattr(model, "model") else "give a game or its model"
        message = f"{shown(model)} is neither a game nor a model; {way_out}."
        raise InvalidParameterError(message)
    if certificate.rules not in RULES:
        message = (
            f"the certificate names the rules {shown(certificate.rules)}; the checker knows "
            f"{', '.join(map(repr, RULES))} alone."
        )
        raise CertificateError(message)
    if not isinstance(model, RULES[certificate.rules].model_type):
        message = (
            f"{shown(certificate)} cannot be of {shown(model)}: one of them is of a staged game."
        )
        raise CertificateError(message)
