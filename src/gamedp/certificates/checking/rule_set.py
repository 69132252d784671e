"""The parts of a set of rules, and the checks common to all: digest and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import attrs
import numpy as np

from gamedp.errors import CertificateError
from gamedp.runtime.floats import check_arithmetic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from gamedp.certificates.certificate import Certificate
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.runtime.arrays import Flags
    from gamedp.runtime.limit import Reporter
    from gamedp.stages.model import StagedModel

    Array = NDArray[Any]

MOST_ROWS = 8
"""Largest number of rests of a bound: so few that their sum is rounded seven times."""

MOST_SHIFT = 2000


def always(model: Any, objective: Objective) -> bool:
    """Require an array for every claim."""
    del model, objective
    return True


def optional(model: Any, objective: Objective) -> bool:
    """Allow an array for every claim."""
    del model, objective
    return False


@attrs.frozen
class ArraySpec:
    """Requirements for an array of a certificate, for the checker and for storage.

    Attributes
    ----------
    name : str
    dtype : type
    axes : str
        A letter for each axis, whose size the rules give: ``"S"``, ``"S N"``, ``"B"``; a ``"K"``
        has any size from 1 to `MOST_ROWS`.
    needed : callable
        Takes the model and the objective. Returns True if the array is required, False if it is
        optional, None if the rules do not use it.
    limits : callable, optional
        Takes the model, the certificate and the array. Returns which numbers are valid, and the
        requirement in words. None if the rules themselves check that.
    """

    name: str
    dtype: type[np.generic]
    axes: str
    needed: Callable[[Any, Objective], bool | None]
    limits: Callable[[Any, Certificate, Array], tuple[Flags, str]] | None = None

    def shape(self, array: Any, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the required shape of an array, given the size of each axis."""
        axes, rows = self.axes.split(), 1
        if isinstance(array, np.ndarray) and array.ndim == len(axes):
            rows = max(1, min(len(array), MOST_ROWS))
        return tuple(rows if axis == "K" else sizes[axis] for axis in axes)


class Counts(NamedTuple):
    """The counts of a check, see :class:`gamedp.certificates.certificate.Verified`."""

    states: int
    choices: int
    in_rationals: int


class RuleSet(Protocol):
    """Rules for accepting a claim; their docstring has the theorem, or refers to it.

    The set of rules is closed: a certificate names its rules, and cannot add any.

    Attributes
    ----------
    name : str
        The name in certificates.
    model_type : type
        The type of model that they apply to, Model or StagedModel.
    arrays : tuple of ArraySpec
        The bounds, and the evidence.
    most_shift : int
        The largest `rest_shift` that they use.
    """

    name: str
    model_type: type
    arrays: tuple[ArraySpec, ...]
    most_shift: int

    def sizes(self, model: Any) -> Mapping[str, int]:
        """Return the size of each axis that the arrays have."""

    def accepts(self, model: Any, objective: Objective) -> str:
        """Return why there are no certificates for such a problem; ``""`` if there are."""

    def claim(self, model: Any, objective: Objective) -> str:
        """Return the claim in words."""

    def check(self, model: Any, certificate: Certificate, reporter: Reporter) -> Counts:
        """Raise CertificateError unless everything holds; the arrays are as they must be."""


def check_digest(model: Model | StagedModel, certificate: Certificate) -> None:
    """Raise CertificateError if the certificate is of another model.

    Raises
    ------
    UnsupportedArithmeticError
        If this process does not compute as the checker assumes.
    """
    check_arithmetic()
    digest = model.digest()
    if certificate.digest != digest:
        message = (
            f"the certificate is of another model: of the one with the digest "
            f"{str(certificate.digest)[:16]}…, while this one's is {digest[:16]}…. Check it with "
            "the model that it was made for."
        )
        raise CertificateError(message)


def check_arrays(rules: RuleSet, model: Any, certificate: Certificate) -> None:
    """Raise CertificateError unless all required arrays are there, with valid contents."""
    objective = certificate.objective
    names = {spec.name for spec in rules.arrays}
    for name in certificate.evidence:
        if name not in names or name in {"lower", "upper"}:
            message = f"a certificate by the rules {rules.name!r} has no use for {name}."
            raise CertificateError(message)
    sizes = rules.sizes(model)
    for spec in rules.arrays:
        array, needed = certificate.array(spec.name), spec.needed(model, objective)
        if needed if array is None else needed is None:
            verb = "needs" if array is None else "has no use for"
            message = f"a certificate for {type(objective).__name__} {verb} {spec.name}."
            raise CertificateError(message)
        if array is not None:
            _check_array(spec, array, spec.shape(array, sizes))
    for spec in rules.arrays:
        array = certificate.array(spec.name)
        if array is not None and spec.limits is not None:
            _check_numbers(spec.name, array, *spec.limits(model, certificate, array))
    shift = certificate.rest_shift
    if type(shift) is not int or not 0 <= shift <= rules.most_shift:
        message = f"rest_shift is {shift!r}; it must be from 0 to {rules.most_shift}."
        raise CertificateError(message)


def _check_array(spec: ArraySpec, array: Any, shape: tuple[int, ...]) -> None:
    """Raise CertificateError unless an array has the required type and shape."""
    if not isinstance(array, np.ndarray) or array.dtype != spec.dtype or array.shape != shape:
        what = getattr(array, "dtype", type(array).__name__)
        message = (
            f"{spec.name} holds {what} of shape {np.shape(array)}; it must hold "
            f"{spec.dtype.__name__} of shape {shape}."
        )
        raise CertificateError(message)


def _check_numbers(name: str, array: Array, right: Flags, words: str) -> None:
    """Raise CertificateError for the first invalid number."""
    if not right.all():
        place = np.argwhere(~right)[0].tolist()
        message = f"{name}[{', '.join(map(str, place))}] is {array[tuple(place)]}; {words}."
        raise CertificateError(message)
