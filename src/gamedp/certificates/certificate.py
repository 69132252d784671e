"""Certificates, which have a claim, its rules and the evidence; and the result of a check."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.runtime.notebook import html_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gamedp.model.objectives import Objective
    from gamedp.runtime.arrays import Floats

    Array = NDArray[Any]


@attrs.frozen
class Verified:
    """The result of :func:`verify`: the proven claim.

    Attributes
    ----------
    claim : str
        The proven claim in words.
    width : float
        The largest distance of an upper from a lower bound.
    states, choices : int
        The size of the model; of a staged game, its contexts, and the stage's choices in all.
    in_rationals : int
        The number of inequalities that were too close for floating point, and were decided in
        rational numbers.
    """

    claim: str
    width: float
    states: int
    choices: int
    in_rationals: int

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {
            "proven": self.claim,
            "width": f"{self.width!r}",
            "states": f"{self.states:,}",
            "choices": f"{self.choices:,}",
            "decided in rational numbers": f"{self.in_rationals:,}",
        }
        return html_table(rows)


def _locked(array: Any) -> Any:
    """Return a read-only view of an array; anything else is left for the checker to refuse."""
    if isinstance(array, np.ndarray):
        array = array.view()
        array.flags.writeable = False
    return array


def _lock_arrays(arrays: Mapping[str, Array | None]) -> Mapping[str, Array]:
    """Return read-only views of the arrays that are not None."""
    given = {name: _locked(array) for name, array in arrays.items() if array is not None}
    return MappingProxyType(given)


@attrs.frozen(eq=False, kw_only=True, repr=False, getstate_setstate=False)
class Certificate:
    """Bounds of all values of a model, with the evidence that :func:`gamedp.verify` checks.

    Made by :func:`gamedp.certify`, or by hand: only acceptance by the checker matters. There are S
    states, N players and, in a staged game, B combinations in the box of contexts. All arrays are
    read-only.

    Attributes
    ----------
    rules : {"bounds", "equilibrium", "stages"}
        The rules by which it is checked: ``"bounds"`` for one or two players, ``"equilibrium"`` for
        a policy of more, ``"stages"`` for a staged game. The checker knows no others.
    objective : Objective
        The meaning of the values. For ``"equilibrium"`` and ``"stages"`` a :class:`TotalReward`
        without `until`.
    lower, upper : float64
        The claim: every value lies between them. An infinite number on the outer side claims
        nothing; on the inner side, it claims that the value is infinite.

        - bounds: (S,), the value of every state;
        - equilibrium: (S, N), a player's value if all keep to the policy, and the most that the
          player can get if all others do;
        - stages: (B,), the value of every context, by its code. NaN where there is no such
          context, or another one represents it.
    evidence : mapping of str to array
        The arrays that the rules need besides, see below. An array given as None is left out.
    rest_shift : int
        The rests below are scaled by 2 to the power of minus this, for numbers near the least
        double.
    digest : str
        :meth:`gamedp.Model.digest` of the model, or that of the staged model.

    Notes
    -----
    Evidence for ``"bounds"``:

    lower_rest, upper_rest : (K, S) float64
        For bounds finer than doubles: not `lower` is proven, but its exact sum with these K
        numbers, which are at least 0, so that the claimed bound follows; at most 0 for `upper`. For
        discounted and other totals, and for probabilities.
    lower_ranks, upper_ranks : (S,) int64
        Required for :class:`TotalReward` and :class:`Reachability`: a number that can fall with a
        step; or -1 for a state that needs none. In terminal states and targets it counts as 0.
    lower_gains, upper_gains : (S,) int64
        Numbers that can fall while the rank stays, until something is earned (for the lower bound)
        or paid (for the upper one), or the value of endless play is the bound.
    escapes : (S,) int64
        If some total until a target is minus infinity: a number that can fall until the target is
        reached, or -1 for a state that needs none, or whose rank suffices.
    bias_lower, bias_upper : (S,) float64
        Required for :class:`AverageReward`: the bias of each state, for either bound. For
        a total of endless play that earns and loses: drifts, numbers that are less than the
        expected reward and drift after the next step (greater, for the upper bound); infinite for
        states that need none.

    Evidence for ``"equilibrium"``, both required:

    policy : (S,) int64
        The number of the choice in each state; -1 where the game is over.
    ranks : (S,) int64
        Non-negative integers that fall with every step, whatever is chosen.

    Evidence for ``"stages"``:

    weights : (B,) float64
        Required for contexts that may lead to others of the same tier: a number that exceeds by at
        least one the mean of those that may come next within the tier, whatever the players do;
        elsewhere 1, or more.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=18), compile="never")
    >>> certificate = gamedp.certify(solution)
    >>> certificate.rules, certificate.lower.shape, sorted(certificate.evidence)
    ('bounds', (19,), ['lower_ranks', 'upper_ranks'])
    """

    rules: str = "bounds"
    objective: Objective
    lower: Floats = attrs.field(converter=_locked)
    upper: Floats = attrs.field(converter=_locked)
    evidence: Mapping[str, Array] = attrs.field(factory=dict, converter=_lock_arrays)
    rest_shift: int = 0
    digest: str

    def array(self, name: str) -> Array | None:
        """Return `lower`, `upper` or a piece of evidence by its name; None if it is not there."""
        return getattr(self, name) if name in {"lower", "upper"} else self.evidence.get(name)

    def with_evidence(self, **arrays: Array | None) -> Certificate:
        """Return the same claim with other evidence; an array given as None is left out."""
        return attrs.evolve(self, evidence={**self.evidence, **arrays})

    def __repr__(self) -> str:
        """Return a summary of the claim and the number of states."""
        what = f"{len(self.lower):,} states: {type(self.objective).__name__}"
        return f"<Certificate by the rules {self.rules!r} of {what}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {
            "rules": self.rules,
            "objective": repr(self.objective),
            "states": f"{len(self.lower):,}",
            "evidence": ", ".join(self.evidence),
            "digest of the model": self.digest,
        }
        return html_table(rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields."""
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        return {**fields, "evidence": dict(self.evidence)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the fields and lock the arrays again: pickle returns them writable."""
        self.__init__(**state)  # type: ignore[misc]


def widest(certificate: Certificate) -> float:
    """Return the largest distance of an upper from a lower bound."""
    with np.errstate(over="ignore", invalid="ignore"):  # of one infinity less itself
        widths = certificate.upper - certificate.lower
    different = certificate.lower < certificate.upper
    return float(widths.max(where=different, initial=0.0))
