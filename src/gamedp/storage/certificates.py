"""Certificates on disk: their arrays and the digest of the model; the model itself is elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.certificates import Certificate, EquilibriumCertificate, StagedCertificate
from gamedp.certificates.checking.claims import ARRAYS
from gamedp.errors import DamagedFileError
from gamedp.storage.arrays import check_arrays, length
from gamedp.storage.folder import MANIFEST, read_folder, write_folder
from gamedp.storage.results import SETS, encode_objective, restore_objective, sets_of, with_draw

if TYPE_CHECKING:
    import os

    from gamedp.certificates.certificate import AnyCertificate

    _Kinds = Certificate | EquilibriumCertificate | StagedCertificate

__all__ = ["load_certificate", "save_certificate"]

NOUN = "certificate"


KINDS: dict[str, tuple[type[_Kinds], tuple[str, ...]]] = {
    "ordinary": (Certificate, ARRAYS),
    "staged": (StagedCertificate, ("lower", "upper", "weights")),
    "equilibrium": (EquilibriumCertificate, ("lower", "upper", "policy", "ranks")),
}
"""What the manifest calls the kinds of certificates, and the arrays that they have."""


def save_certificate(certificate: AnyCertificate, path: str | os.PathLike[str]) -> None:
    """Save a certificate as a folder; see :func:`gamedp.save`.

    Raises
    ------
    DamagedFileError
        If the folder holds something else, such as a solution, which is not overwritten.
    InvalidParameterError
        If the objective has a set of states that cannot be written down.
    OSError
        If the files cannot be written; the folder then holds what it held before.
    """
    kind = next(
        kind for kind, (its_class, _) in KINDS.items() if isinstance(certificate, its_class)
    )
    own = {name: getattr(certificate, name) for name in KINDS[kind][1]}
    arrays = {name: array for name, array in own.items() if array is not None}
    content: dict[str, Any] = {
        "kind": kind,
        "objective": encode_objective(certificate.objective),
        "digest": certificate.digest,
    }
    if isinstance(certificate, Certificate):
        content["rest_shift"] = certificate.rest_shift
    write_folder(Path(path), content, arrays | sets_of(certificate.objective), NOUN)


def load_certificate(
    path: str | os.PathLike[str],
) -> Certificate | EquilibriumCertificate | StagedCertificate:
    """Load a certificate of any kind that `save_certificate` has saved; see :func:`gamedp.load`."""
    folder = Path(path)
    content, arrays = read_folder(folder, NOUN)
    kind = content.get("kind", "ordinary")
    if kind not in KINDS:
        message = (
            f"{folder} holds a certificate of the kind {kind!r}, written by gamedp "
            f"{content['gamedp']}, which this version cannot read. Use that one."
        )
        raise DamagedFileError(message)
    its_class, names = KINDS[kind]
    shape = (length(arrays, "lower"),)
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys((*names, *SETS), shape)
    for name in ("lower_rest", "upper_rest"):
        if name in arrays:
            shapes[name] = (length(arrays, name), *shape)
    if kind == "equilibrium":
        columns = arrays["lower"].shape[1:] if "lower" in arrays else ()
        shapes["lower"] = shapes["upper"] = (*shape, *columns)
    check_arrays(folder, arrays, content["arrays"], shapes)
    own: dict[str, Any] = {name: array for name, array in arrays.items() if name in names}
    try:
        objective = restore_objective(content["objective"], arrays)
        if its_class is Certificate:
            own["rest_shift"] = content["rest_shift"]
            objective = with_draw(objective, content.get("draw"))
        return its_class(
            objective=objective,
            digest=content["digest"],
            **own,
        )
    except (LookupError, TypeError, ValueError) as error:
        message = (
            f"{folder / MANIFEST} was written by gamedp {content['gamedp']} and does not fit this "
            f"version ({error!r}). Use that one, or make the certificate again."
        )
        raise DamagedFileError(message) from error
