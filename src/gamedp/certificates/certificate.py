"""A certificate: what is claimed, by which rules, and the evidence; and what a check returns."""

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

    Array = NDArray[Any]
    Floats = NDArray[np.float64]

__all__ = ["Certificate", "Verified", "widest"]


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


def _given(arrays: Mapping[str, Array | None]) -> Mapping[str, Array]:
    """Return read-only views of the arrays that are not None."""
    given = {name: _locked(array) for name, array in arrays.items() if array is not None}
    return MappingProxyType(given)


@attrs.frozen(eq=False, kw_only=True, repr=False, getstate_setstate=False)
class Certificate:
    """Bounds of all values of a model, with the evidence that :func:`gamedp.verify` checks.

    Made by :func:`gamedp.certify`; or by hand, as all that counts is whether it is accepted. S
    states, N players, B combinations in the box of contexts of a staged game. All arrays are
    read-only.

    Attributes
    ----------
    rules : {"bounds", "equilibrium", "stages"}
        By which rules it is checked: ``"bounds"`` for one or two players, ``"equilibrium"`` for a
        policy of more, ``"stages"`` for a staged game. The checker knows these alone.
    objective : Objective
        What the values mean. By ``"equilibrium"`` and ``"stages"`` a :class:`TotalReward` without
        `until`.
    lower, upper : float64
        What is claimed: every value lies between them. An infinite number claims nothing if it is
        on the outer side, and else that the value is infinite.

        - bounds: (S,), the value of every state;
        - equilibrium: (S, N), what a player gets if all keep to the policy, and the most that it
          can get if all others do;
        - stages: (B,), the value of every context, by its code. NaN where there is no such
          context, or another one represents it.
    evidence : mapping of str to array
        What the rules ask for besides, see below. An array given as None is left out.
    rest_shift : int
        The rests below count 2 to the power of minus this: for numbers where doubles end.
    digest : str
        :meth:`gamedp.Model.digest` of the model, or that of the staged model.

    Notes
    -----
    Evidence for ``"bounds"``:

    lower_rest, upper_rest : (K, S) float64
        What is proven, where a double is too coarse for it: not `lower`, but its exact sum with the
        K numbers here, which are at least 0 and so imply the bound that is claimed; at most 0 for
        `upper`. For discounted and other totals, and for probabilities.
    lower_ranks, upper_ranks : (S,) int64
        For :class:`TotalReward` and :class:`Reachability`, which need them: a number that can fall
        with a step; or -1 for a state that needs none. In terminal states and targets it counts as
        0.
    lower_gains, upper_gains : (S,) int64
        Numbers that can fall while the rank stays, until something is earned (for the lower bound)
        or paid (for the upper one), or endless play is worth the bound.
    escapes : (S,) int64
        If some total until a target is minus infinity: a number that can fall until the target is
        reached, or -1 for a state that needs none, or whose rank does for it.
    bias_lower, bias_upper : (S,) float64
        For :class:`AverageReward`, which needs them: the bias of each state, for either bound. For
        a total of endless play that earns and loses: drifts, numbers that are less than the
        expected reward and drift after the next step (greater, for the upper bound); infinite for
        states that need none.

    For ``"equilibrium"``, both needed:

    policy : (S,) int64
        The number of the choice in each state; -1 where the game is over.
    ranks : (S,) int64
        Numbers from 0 on that fall with every step, whatever is chosen.

    For ``"stages"``:

    weights : (B,) float64
        For contexts that may lead to others of the same rank, which need them: a number that is
        more, by one, than the mean of those that may come next within the rank, whatever the
        players do; elsewhere 1, or more.

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
    evidence: Mapping[str, Array] = attrs.field(factory=dict, converter=_given)
    rest_shift: int = 0
    digest: str

    def array(self, name: str) -> Array | None:
        """Return `lower`, `upper` or a piece of evidence by its name; None if it is not there."""
        return getattr(self, name) if name in {"lower", "upper"} else self.evidence.get(name)

    def with_evidence(self, **arrays: Array | None) -> Certificate:
        """Return the same claim with other evidence; an array given as None is left out."""
        return attrs.evolve(self, evidence={**self.evidence, **arrays})

    def __repr__(self) -> str:
        """Say what is claimed, of how many states."""
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
