"""A model as environments play it: what is observed, which actions are possible, and chance."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

import attrs
import numpy as np

from gamedp.adapters.loaded import LoadedModel
from gamedp.compiler.build import compile_game
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.rules.game import is_staged
from gamedp.rules.layout import PackedTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


Observed: TypeAlias = Literal["fields", "index"]
"""The part of a state that is observed: its fields, or its number in the model."""

MOST_LISTED = 20
"""Largest number of actions that a message lists."""


class Seating(NamedTuple):
    """The number of a state in the model, and whether the two players have changed places."""

    state: int
    swapped: bool


def model_of(given: Any) -> Model:
    """Return a model unchanged, and compile a game to its model.

    Raises
    ------
    UnsupportedProblemError
        If the game is staged.
    """
    if isinstance(given, LoadedModel):
        return given.model
    if isinstance(given, Model):
        return given
    if is_staged(given):
        message = (
            f"{type(given).__name__} is a staged game; pass the ordinary game "
            "gamedp.stages.Flattened(game)."
        )
        raise UnsupportedProblemError(message)
    return compile_game(given)


@attrs.frozen(eq=False, slots=False)
class Positions:
    """The positions of a model, without any of them being the present one.

    Parameters
    ----------
    model : Model
    observed : {"fields", "index"}
        A model whose states are not made of integers has its indices observed in either case.

    Raises
    ------
    InvalidParameterError
        If `observed` is something else.
    UnsupportedProblemError
        If play may be over at the start, or a state has two choices of the same action.
    """

    model: Model
    observed: Observed = "fields"

    def __attrs_post_init__(self) -> None:
        """Refuse what environments cannot express."""
        model = self.model
        if self.observed not in ("fields", "index"):
            message = f'observed is {shown(self.observed)}; it must be "fields" or "index".'
            raise InvalidParameterError(message)
        if model.is_terminal[model.initial_states].any():
            message = "play may be over at the start, and an environment begins with an action."
            raise UnsupportedProblemError(message)
        owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
        order = np.lexsort((self._numbers, owners))
        same = (np.diff(owners[order]) == 0) & (np.diff(self._numbers[order]) == 0)
        if same.any():
            choice = int(order[same.argmax()])
            (action,) = model.actions_of(choice, choice + 1)
            message = (
                f"state {shown(model.state(int(owners[choice])))} has action "
                f"{shown(action)} twice; an environment needs a number for each."
            )
            raise UnsupportedProblemError(message)

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        """Return the same positions: nothing of them ever changes."""
        return self

    @functools.cached_property
    def labels(self) -> NDArray[np.signedinteger[Any]]:
        """The actions of all states, ascending: (A,); an environment numbers them from 0."""
        return np.unique(self.model.action_labels)

    @functools.cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """The number of each choice's action in `labels`: (C,)."""
        return np.searchsorted(self.labels, self.model.action_labels)

    @functools.cached_property
    def fields(self) -> NDArray[np.int64] | None:
        """The fields of all states: (S, K); None if indices are observed."""
        table = self.model.states
        if self.observed == "index" or not isinstance(table, PackedTable):
            return None
        return table.fields()

    def observation(self, position: Seating) -> Any:
        """Return a copy of a state's fields (K,), or its index."""
        if self.fields is None:
            return np.int64(position.state)
        return self.fields[position.state].copy()

    def choices(self, position: Seating) -> dict[int, int]:
        """Return the choice of each possible action, by the action's number."""
        first, end = self.model.choice_offsets[position.state : position.state + 2].tolist()
        return dict(zip(self._numbers[first:end].tolist(), range(first, end), strict=True))

    def mask(self, position: Seating) -> NDArray[np.int8]:
        """Return 1 for each possible action and 0 for the others: (A,)."""
        mask = np.zeros(len(self.labels), np.int8)
        mask[list(self.choices(position))] = 1
        return mask

    def refused(
        self, position: Seating, action: Any, listed: str, remedy: str = ""
    ) -> InvalidParameterError:
        """Return the error for an action that is not possible; `listed` has those that are."""
        model, possible = self.model, list(self.choices(position))
        words = ", ".join(map(str, possible[:MOST_LISTED]))
        more = ", ..." if len(possible) > MOST_LISTED else ""
        return InvalidParameterError(
            f"action {shown(action)} is not possible in {shown(model.state(position.state))}, "
            f"where the possible ones are {words}{more}, as {listed} says.{remedy}"
        )

    def is_over(self, position: Seating) -> bool:
        """Return whether play has ended."""
        return bool(self.model.is_terminal[position.state])

    def mover(self, position: Seating) -> int:
        """Return the player to move."""
        player = int(self.model.players[position.state])
        return 1 - player if position.swapped else player

    @functools.cached_property
    def starts(self) -> list[tuple[float, Seating]]:
        """The positions at which the game may begin, with the probability of each."""
        model = self.model
        return _seated(model.initial_probabilities, model.initial_states, swapped=False)

    def outcomes(self, position: Seating, choice: int) -> list[tuple[float, Seating]]:
        """Return the positions to which a choice may lead, with the probability of each."""
        model = self.model
        first, end = model.transition_offsets[choice : choice + 2].tolist()
        probabilities, successors = model.probabilities[first:end], model.successors[first:end]
        return _seated(probabilities, successors, swapped=position.swapped)

    def received(self, position: Seating, choice: int, following: Seating) -> list[float]:
        """Return what each player receives for a choice: its reward, and the payoff at the end."""
        model = self.model
        received = self._of_all(model.rewards[choice], 0.0, swapped=position.swapped)
        if self.is_over(following):
            place = int(np.searchsorted(model.terminals, following.state))
            total = model.constant_sum
            payoffs = self._of_all(model.payoffs[place], total, swapped=following.swapped)
            received = [sum(pair) for pair in zip(received, payoffs, strict=True)]
        return received

    def _of_all(self, number: Any, total: float, *, swapped: bool) -> list[float]:
        """Return the numbers of all players, from one row of the model."""
        if self.model.num_players == 1:
            return [float(number)]
        if self.model.is_general_sum:
            return [float(each) for each in number]
        pair = [float(number), total - float(number)]
        return pair[::-1] if swapped else pair

    @property
    def name(self) -> str:
        """The name of the game's class."""
        return "Model" if self.model.rules is None else type(self.model.rules.game).__name__

    def render(self, position: Seating) -> str:
        """Return a state in words, or as its game draws it."""
        state = self.model.state(position.state)
        if self.model.rules is None:
            return self.model.state_name(state)
        return self.model.rules.render(state)


def _seated(
    signed: NDArray[np.float64], states: NDArray[np.signedinteger[Any]], *, swapped: bool
) -> list[tuple[float, Seating]]:
    """Return each state with its probability; where that is negative, the players change places."""
    pairs = zip(signed.tolist(), states.tolist(), strict=True)
    return [(abs(each), Seating(state, swapped != (each < 0))) for each, state in pairs]


def drawn(outcomes: list[tuple[float, Seating]], rng: np.random.Generator) -> Seating:
    """Return one of some positions, drawn with their probabilities."""
    return outcomes[rng.choice(len(outcomes), p=[chance for chance, _ in outcomes])][1]
