"""A model read from a file, with the labels and names in the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnknownNameError, shown
from gamedp.model.model import Model, with_rewards

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.languages.expressions import Expression, Value
    from gamedp.model.validation.forms import Variables
    from gamedp.runtime.arrays import Integers


Array = TypeVar("Array")

SIDES = 2
"""The largest number of players of a model that questions can be asked about."""


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
        With three or more players, there is none before :meth:`with_coalition`: to ask for it
        raises :class:`gamedp.InvalidModelError`.
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
    owners : (S,) int64
        The player of the file to whom each state belongs, from 0 on.
    num_players : int
        The number of players in the file, at least 1.
    player_names : tuple of str
        The names in the file; empty if it has none.
    coalition : tuple of int or None
        The players of the file who are player 0 of the model together, if they were named.
    state_rewards : mapping of str to (S,) float64 or objects
        The part of the rewards of each structure that states earn, whatever is chosen in them.
    constants : mapping of str to value
        The constants of a program: bool, int, :class:`fractions.Fraction`, or float.
    formulas : mapping of str to Expression
        The expressions that a program has names for, see :mod:`gamedp.languages.expressions`; or a
        file of properties labels, which are in quotation marks here.
    properties : mapping of str to str
        The formulas in the file, or in one of properties, by their names: what :func:`gamedp.ask`
        may be asked.
    path : Path
        The file that was read.
    notes : tuple of str
        The changes against the file, in words, such as probabilities that were rounded in it.
    """

    _model: Model
    labels: Mapping[str, NDArray[np.bool_]] = attrs.field(factory=dict)
    rewards: Mapping[str, NDArray[np.float64]] = attrs.field(factory=dict)
    fractions: Mapping[str, NDArray[Any]] = attrs.field(factory=dict)
    rounding: Mapping[str, tuple[float, float]] = attrs.field(factory=dict)
    means: frozenset[str] = frozenset()
    owners: Integers
    num_players: int = 1
    player_names: tuple[str, ...] = ()
    coalition: tuple[int, ...] | None = None
    state_rewards: Mapping[str, NDArray[Any]] = attrs.field(factory=dict)
    constants: Mapping[str, Value] = attrs.field(factory=dict)
    formulas: Mapping[str, Expression] = attrs.field(factory=dict)
    properties: Mapping[str, str] = attrs.field(factory=dict)
    path: Path
    notes: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        self._lock()

    def _lock(self) -> None:
        named: tuple[Mapping[str, NDArray[Any]], ...]
        named = (self.labels, self.rewards, self.fractions, self.state_rewards)
        self.owners.flags.writeable = False
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
        return f"<{'; '.join([f'LoadedModel {self.path.name}: {self._model!r}', *names])}>"

    @property
    def model(self) -> Model:
        """The model, if it is clear who plays with whom."""
        if self.num_players > SIDES and self.coalition is None:
            message = (
                f"{self.path} has {self.num_players} players ({self.all_players()}); name those "
                "who play together as the first side by `coalition`, or in the formula, as in "
                "<<1,2>> Pmax=? [...]: the others are the second."
            )
            raise InvalidModelError(message)
        return self._model

    @property
    def together(self) -> Model:
        """The model if all players play together."""
        return self.with_coalition(range(self.num_players)).model

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
        InvalidModelError
            If there are three or more players, and no coalition.
        UnknownNameError
            If the model has no such reward structure.
        """
        rewards = self.fractions.get(name, _named("reward structure", name, self.rewards))
        model = with_rewards(self.model, rewards, *self.rounding.get(name, (0.0, 0.0)))
        return attrs.evolve(model, mean_rewards=name in self.means)

    def with_coalition(self, players: Iterable[str | int]) -> LoadedModel:
        """Return the model with some players together as player 0, all others as player 1.

        If all play together, player 0 is alone.

        Parameters
        ----------
        players : iterable of str or int
            Their names, or their numbers from 0 on.

        Raises
        ------
        InvalidModelError
            If the file has no such player.
        """
        named = (players,) if isinstance(players, (str, int)) else players
        chosen = tuple(sorted({self.player(player) for player in named}))
        sides = 1 if len(chosen) == self.num_players else 2
        players = np.where(np.isin(self.owners, chosen), 0, 1).astype(np.int8)
        model = attrs.evolve(self._model, players=players, num_players=sides)
        if sides == 1:  # nobody shares a sum
            model = attrs.evolve(model, constant_sum=0.0)
        return attrs.evolve(self, model=model, coalition=chosen)

    def player(self, player: str | int) -> int:
        """Return the number of a player of the file, from a name or a number.

        Raises
        ------
        InvalidModelError
            If the file has no such player.
        """
        if player in self.player_names:
            return self.player_names.index(str(player))
        try:
            number = int(player) if str(player).isdecimal() else -1
        except ValueError:  # more digits than Python converts
            number = -1
        if not 0 <= number < self.num_players:
            message = (
                f"{self.path} has no player {shown(player)}; the players are {self.all_players()}."
            )
            raise InvalidModelError(message)
        return number

    def all_players(self) -> str:
        """Return the names of all players in words; their numbers if they have none."""
        return ", ".join(self.player_names) or f"0 to {self.num_players - 1}"

    @property
    def action_names(self) -> tuple[str, ...]:
        """The name of each action's number; empty if the file has only numbers."""
        return self._model.action_names

    @property
    def variables(self) -> Variables:
        """The value of each variable of the program in each state; empty if the file has none."""
        return self._model.variables

    def action_name(self, action: int) -> str:
        """Return the name of an action, see :meth:`gamedp.Model.action_name`."""
        return self._model.action_name(action)

    def state_name(self, state: int) -> str:
        """Return the values of the variables in a state, see :meth:`gamedp.Model.state_name`."""
        return self._model.state_name(state)
