"""A model read from a file, with the labels and names in the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from gamedp.errors import UnknownNameError
from gamedp.model.model import Model, with_rewards

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gamedp.model.validation.forms import Variables


Array = TypeVar("Array")


def _named(kind: str, name: str, known: Mapping[str, Array]) -> Array:
    if name not in known:
        raise UnknownNameError.nearest(kind, name, known)
    return known[name]


@attrs.frozen(eq=False, kw_only=True, repr=False)
class LoadedModel:
    """A model read from a file of another tool; its arrays are read-only.

    Attributes
    ----------
    model : Model
        The model, with the rewards of the file's reward structure if there is just one, else with
        none: see :meth:`with_rewards`. It has the names of actions and the variables of states.
    labels : mapping of str to (S,) bool
        The states with each label (atomic proposition). Initial states are not among them: see
        `initial_states` of :class:`gamedp.Model`.
    rewards : mapping of str to (C,) float64
        The expected reward of each choice, for each reward structure: rewards of states and of
        transitions are in it.
    fractions : mapping of str to (C,) objects
        The arrays of `rewards` that no doubles are equal to, with :class:`fractions.Fraction`.
    rounding : mapping of str to (float, float)
        The largest absolute and relative errors of the doubles in `rewards`.
    means : frozenset of str
        The reward structures that differ between the outcomes of a choice: `rewards` holds their
        means.
    player_names : tuple of str
        The names in the file; empty if it has none.
    path : Path
        The file that was read.
    notes : tuple of str
        The changes against the file, in words, such as probabilities that were rounded in it.
    """

    model: Model
    labels: Mapping[str, NDArray[np.bool_]] = attrs.field(factory=dict)
    rewards: Mapping[str, NDArray[np.float64]] = attrs.field(factory=dict)
    fractions: Mapping[str, NDArray[Any]] = attrs.field(factory=dict)
    rounding: Mapping[str, tuple[float, float]] = attrs.field(factory=dict)
    means: frozenset[str] = frozenset()
    player_names: tuple[str, ...] = ()
    path: Path
    notes: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        self._lock()

    def _lock(self) -> None:
        named: tuple[Mapping[str, NDArray[Any]], ...]
        named = (self.labels, self.rewards, self.fractions)
        for arrays in named:
            for array in arrays.values():
                array.flags.writeable = False

    def __setstate__(self, state: Any) -> None:
        """Set the fields and lock the arrays again: pickle returns them writable."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self._lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields."""
        return {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}

    def __repr__(self) -> str:
        """Return a summary of the model and its names."""
        names = [
            f"{word} {', '.join(map(repr, names))}"
            for word, names in (
                ("labels", self.labels),
                ("rewards", self.rewards),
                ("variables", self.variables),
            )
            if names
        ]
        return f"<{'; '.join([f'LoadedModel {self.path.name}: {self.model!r}', *names])}>"

    def states(self, label: str) -> NDArray[np.bool_]:
        """Return the states with a label, as a mask for objectives.

        Returns
        -------
        (S,) bool

        Raises
        ------
        UnknownNameError
            If the model has no such label.
        """
        return _named("label", label, self.labels)

    def with_rewards(self, name: str) -> Model:
        """Return the model with the rewards of one reward structure.

        Raises
        ------
        UnknownNameError
            If the model has no such reward structure.
        """
        rewards = self.fractions.get(name, _named("reward structure", name, self.rewards))
        model = with_rewards(self.model, rewards, *self.rounding.get(name, (0.0, 0.0)))
        return attrs.evolve(model, mean_rewards=name in self.means)

    @property
    def action_names(self) -> tuple[str, ...]:
        """The name of each action's number; empty if the file has only numbers."""
        return self.model.action_names

    @property
    def variables(self) -> Variables:
        """The value of each variable of the program in each state; empty if the file has none."""
        return self.model.variables

    def action_name(self, action: int) -> str:
        """Return the name of an action, see :meth:`gamedp.Model.action_name`."""
        return self.model.action_name(action)

    def state_name(self, state: int) -> str:
        """Return the values of the variables in a state, see :meth:`gamedp.Model.state_name`."""
        return self.model.state_name(state)
