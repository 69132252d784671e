"""Certificates on disk: their arrays and the digest of the model, but not the model itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.certificates.certificate import Certificate
from gamedp.certificates.checking.checker import RULES
from gamedp.certificates.checking.rule_set import always
from gamedp.errors import DamagedFileError, InvalidParameterError, shown
from gamedp.runtime.files import as_path
from gamedp.storage.arrays import check_arrays
from gamedp.storage.contents import check_contents
from gamedp.storage.folder import MANIFEST, UNFIT, read_folder, write_folder
from gamedp.storage.results import SETS, encode_objective, restore_objective, sets_of, with_draw

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gamedp.certificates.checking.rule_set import RuleSet

__all__ = ["load_certificate", "save_certificate"]

NOUN = "certificate"

KINDS = {"ordinary": "bounds", "staged": "stages", "equilibrium": "equilibrium"}
"""Names of a certificate's rules in the manifest."""


def save_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Save a certificate as a folder; see :func:`gamedp.save`.

    Raises
    ------
    DamagedFileError
        If the folder holds something else, such as a solution, which is not overwritten.
    InvalidParameterError
        If the objective has a set of states that cannot be written down, or the rules that it
        names, or its evidence, are none that this version could read.
    OSError
        If the files cannot be written; the folder then holds what it held before.
    """
    kind = next((kind for kind, rules in KINDS.items() if rules == certificate.rules), None)
    known = () if kind is None else [spec.name for spec in RULES[KINDS[kind]].arrays]
    unknown = sorted(set(certificate.evidence) - set(known))
    if kind is None or unknown:
        what = f"evidence {unknown[0]!r}" if kind else f"rules {shown(certificate.rules)}"
        message = f"a certificate with the {what} cannot be saved: nothing knows what they are."
        raise InvalidParameterError(message)
    content: dict[str, Any] = {
        "kind": kind,
        "objective": encode_objective(certificate.objective),
        "digest": certificate.digest,
    }
    if KINDS[kind] == "bounds":
        content["rest_shift"] = certificate.rest_shift
    given = {name: certificate.array(name) for name in known}
    arrays = {name: array for name, array in given.items() if array is not None}
    write_folder(as_path(path), content, arrays | sets_of(certificate.objective), NOUN)


def load_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Load a certificate that `save_certificate` has saved; see :func:`gamedp.load`."""
    folder = as_path(path)
    content, arrays = read_folder(folder, NOUN)
    kind = content.get("kind", "ordinary")
    if not isinstance(kind, str) or kind not in KINDS:
        message = (
            f"{folder} holds a certificate of the kind {kind!r}, written by gamedp "
            f"{content['gamedp']}, which this version cannot read. Use that one."
        )
        raise DamagedFileError(message)
    rules = RULES[KINDS[kind]]
    _check_arrays(folder, arrays, content["arrays"], rules)
    own: dict[str, Any] = {
        name: array for name, array in arrays.items() if name not in {*SETS, "lower", "upper"}
    }
    try:
        objective = restore_objective(content["objective"], arrays)
        rest_shift = 0
        if rules.name == "bounds":
            rest_shift = content["rest_shift"]
            objective = with_draw(objective, content.get("draw"))
        certificate = Certificate(
            rules=rules.name,
            objective=objective,
            lower=arrays["lower"],
            upper=arrays["upper"],
            evidence=own,
            rest_shift=rest_shift,
            digest=content["digest"],
        )
    except UNFIT as error:
        message = (
            f"{folder / MANIFEST} was written by gamedp {content['gamedp']} and does not fit this "
            f"version ({error!r}). Use that one, or make the certificate again."
        )
        raise DamagedFileError(message) from error
    check_contents(folder, certificate)
    return certificate


def _check_arrays(
    folder: Path, arrays: Mapping[str, NDArray[Any]], files: Any, rules: RuleSet
) -> None:
    """Raise unless all arrays are there, in the shapes and types that the rules require.

    The shape of `lower` gives the numbers of states and players.
    """
    specs = {spec.name: spec for spec in rules.arrays}
    axes, shape = specs["lower"].axes.split(), np.shape(arrays.get("lower", ()))
    sizes = dict.fromkeys(axes, 0) | dict(zip(axes, shape, strict=False))
    shapes = {name: spec.shape(arrays.get(name, ()), sizes) for name, spec in specs.items()}
    shapes |= dict.fromkeys(SETS, (sizes[axes[0]],))
    types = {name: (spec.dtype,) for name, spec in specs.items()} | dict.fromkeys(SETS, (np.bool_,))
    optional = {*SETS, *(name for name, spec in specs.items() if spec.needed is not always)}
    check_arrays(folder, arrays, files, shapes, types, optional)
