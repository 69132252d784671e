"""Certificates that are written, or changed, by hand."""

from typing import Any

import attrs
import pytest

import gamedp

FIELDS = {field.name for field in attrs.fields(gamedp.Certificate)}


def claimed(**parts: Any) -> gamedp.Certificate:
    """Return a certificate of fields and evidence alike."""
    fields = {name: part for name, part in parts.items() if name in FIELDS}
    evidence = {name: part for name, part in parts.items() if name not in FIELDS}
    return gamedp.Certificate(**fields, evidence=evidence)


def forged(certificate: gamedp.Certificate, **changes: Any) -> gamedp.Certificate:
    """Return a certificate with other fields and evidence; None leaves evidence out."""
    fields = {name: part for name, part in changes.items() if name in FIELDS}
    evidence = {name: part for name, part in changes.items() if name not in FIELDS}
    return attrs.evolve(certificate, **fields).with_evidence(**evidence)


def with_number(
    certificate: gamedp.Certificate, name: str, place: Any, number: float
) -> gamedp.Certificate:
    """Return a certificate with one number of an array exchanged."""
    array = certificate.array(name).copy()
    array[place] = number
    return forged(certificate, **{name: array})


def refused(model: Any, certificate: gamedp.Certificate, match: str | None = None) -> None:
    """Assert that a certificate is not accepted."""
    with pytest.raises(gamedp.errors.CertificateError, match=match):
        gamedp.verify(model, certificate)
