"""Players of a staged game that choose by the position.

A position is a :class:`gamedp.stages.Position`: a state of the stage, and the context. So a player
of the ordinary game :class:`gamedp.stages.Flattened` also plays the staged one.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.simulation import kernels
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.policies.arguments import StageRule
    from gamedp.stages.vector_code import StageProgram

CACHED_CONTEXTS = 1 << 17
"""Number of contexts, and of steps between contexts, that are cached without a game in them: a few
dozen megabytes."""


class Stage:
    """The stage as seen by policies that choose by the position.

    Parameters
    ----------
    model : StagedModel
    inner : (N,) int64
        The decision and chance states of the stage, in the order of the program.
    program : StageProgram
    """

    def __init__(self, model: StagedModel, inner: NDArray[np.int64], program: StageProgram) -> None:
        self._stage, self._inner, self._program = model.stage, inner, program

    def possible(self, following: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which choices can reach an end that each context allows.

        Parameters
        ----------
        following : (n, E) int64
            The contexts after each end, -1 if it is not allowed.

        Returns
        -------
        possible : (n, C) bool
        """
        found = np.ones((len(following), len(self._program.rewards)), np.bool_)
        if (following < 0).any():
            kernels.mark_possible_jit(self._program, following >= 0, found)
        return found

    def state(self, place: int) -> Any:
        """Return the state of the stage at a place of the program."""
        return self._stage.state(int(self._inner[place]))

    def actions(self, place: int, possible: NDArray[np.bool_]) -> dict[Any, int]:
        """Return the actions at a place, each with its choice; `possible` is a context's row."""
        first, stop = self._program.choice_offsets[place : place + 2].tolist()
        own = int(self._stage.choice_offsets[self._inner[place]])
        actions = self._stage.actions_of(own, own + stop - first)
        choices = range(first, stop)
        return {action: c for action, c in zip(actions, choices, strict=True) if possible[c]}


class OwnContexts:
    """The games' own contexts where others represent them: rules see their own context.

    Each batch of games that are played together has its own instance: a game refers to its context
    by a number that changes when others are discarded.

    Parameters
    ----------
    model : StagedModel

    Attributes
    ----------
    contexts : list
        The contexts in the order of their occurrence; a game refers to one by its index.
    starts : (K,) int64
        The contexts at the start.
    """

    def __init__(self, model: StagedModel) -> None:
        self.contexts: list[Any] = []
        self._model = model
        self._numbers: dict[Any, int] = {}
        self._after: dict[tuple[int, int, int, int], int] = {}
        self._lock = threading.Lock()
        self.starts = np.array([self._number(context) for _, context in model.starts])

    @classmethod
    def of(cls, model: StagedModel, rules: list[StageRule]) -> OwnContexts | None:
        """Return an instance if there are rules to ask, and contexts that represent others."""
        has_symmetry = hasattr(type(model.rules.game), "canonical")
        return cls(model) if rules and has_symmetry else None

    def kept(self, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Discard unused contexts if there are many; return the numbers of the others.

        To be called while no thread plays.

        Parameters
        ----------
        own : (n,) int64
            The contexts of all games in progress.

        Returns
        -------
        own : (n,) int64
            The same contexts, by their new numbers.
        """
        if len(self._after) > CACHED_CONTEXTS:
            self._after.clear()
        if len(self.contexts) <= CACHED_CONTEXTS:
            return own
        self._after.clear()  # it contains numbers, too
        used, places = np.unique(own, return_inverse=True)
        self.contexts = [self.contexts[number] for number in used.tolist()]
        self._numbers = {context: number for number, context in enumerate(self.contexts)}
        return places

    def after(
        self,
        own: NDArray[np.int64],
        ends: NDArray[np.int64],
        codes: NDArray[np.int64],
        swapped: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Return the contexts that follow some, each after one of the ends of the stage.

        Parameters
        ----------
        own, ends : (n,) int64
        codes, swapped : (n,)
            The contexts that represent the following ones, and whether players swapped places
            there.

        Raises
        ------
        InvalidModelError
            If these are not the representatives of the following contexts: rules would see other
            contexts than those that are played.
        """
        if not len(own):
            return own
        steps = np.stack([own, ends, codes, swapped])
        distinct, places = np.unique(steps, axis=1, return_inverse=True)
        with self._lock:
            found = [self._following(*step) for step in distinct.T.tolist()]
        return np.array(found)[places.ravel()]

    def _following(self, number: int, end: int, code: int, swapped: int) -> int:
        step = number, end, code, swapped
        if step not in self._after:
            model, (_, state) = self._model, self._model.ends[end]
            context = model.rules.call("following", self.contexts[number], state)
            representative, is_swapped = model.rules.canonical(context)
            if (model.code(representative), is_swapped) != (code, bool(swapped)):
                message = (
                    f"following({shown(self.contexts[number])}, {shown(state)}) is "
                    f"{shown(context)}, but what represents the former leads to "
                    f"{shown(model.state(code))}: canonical() merges contexts that "
                    "continue differently after the same end, so policies that choose by the "
                    "position cannot see it. Leave canonical() out to play it by rules."
                )
                raise InvalidModelError(message)
            self._after[step] = self._number(context)
        return self._after[step]

    def _number(self, context: Any) -> int:
        """Return the number of a context, a new number for a new context."""
        number = self._numbers.setdefault(context, len(self.contexts))
        if number == len(self.contexts):
            self.contexts.append(context)
        return number
