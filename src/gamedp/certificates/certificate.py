"""What all certificates have in common, of whatever kind of model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from gamedp.errors import CertificateError
from gamedp.runtime.floats import check_arithmetic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.objectives import Objective

    Floats = NDArray[np.float64]

__all__ = ["AnyCertificate", "Verified", "check_array", "check_digest", "widest"]


@attrs.frozen
class Verified:
    """The result of :func:`verify`: what it has proven.

    Attributes
    ----------
    claim : str
        In words.
    width : float
        The largest distance of an upper from a lower bound.
    states, choices : int
        Size of the model; of a staged game, its contexts, and the stage's choices in all of them.
    in_rationals : int
        Inequalities that were too close for floating point, and were decided in rational numbers.
    """

    claim: str
    width: float
    states: int
    choices: int
    in_rationals: int


@attrs.frozen(eq=False, kw_only=True, repr=False)
class AnyCertificate:
    """The part of a certificate that does not depend on what kind of model it is of.

    Subclasses say ``getstate_setstate=False``, or attrs would write these methods for them.

    Attributes
    ----------
    objective : Objective
    lower, upper : float64
        What is claimed; the first axis is that of the states.
    digest : str
        Of the model.
    """

    objective: Objective
    lower: Floats
    upper: Floats
    digest: str

    def __attrs_post_init__(self) -> None:
        """Keep read-only views of the arrays."""
        for field in attrs.fields(type(self)):
            array = getattr(self, field.name)
            if isinstance(array, np.ndarray):
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, field.name, array)

    def __repr__(self) -> str:
        """Say what is claimed, of how many states."""
        kind, objective = type(self).__name__, type(self.objective).__name__
        return f"<{kind} of {len(self.lower):,} states: {objective}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields."""
        return {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the fields and lock the arrays again: pickle returns them writable."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__attrs_post_init__()


class _WithDigest(Protocol):
    def digest(self) -> str: ...


def check_digest(model: _WithDigest, certificate: AnyCertificate) -> None:
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
            f"{certificate.digest[:16]}…, while this one's is {digest[:16]}…. Check it with the "
            "model that it was made for."
        )
        raise CertificateError(message)


def check_array(name: str, array: Any, kind: type, shape: tuple[int, ...]) -> None:
    """Raise CertificateError unless an array has the type and the shape that it must have."""
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
        what = getattr(array, "dtype", type(array).__name__)
        message = (
            f"{name} holds {what} of shape {np.shape(array)}; it must hold {kind.__name__} of "
            f"shape {shape}."
        )
        raise CertificateError(message)


def widest(certificate: AnyCertificate) -> float:
    """Return the largest distance of an upper from a lower bound."""
    different = certificate.lower < certificate.upper
    with np.errstate(over="ignore"):
        widths = certificate.upper[different] - certificate.lower[different]
    return float(widths.max(initial=0.0))
