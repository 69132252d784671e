"""Players of a staged game that choose by the position.

A position is a :class:`gamedp.stages.Position`: a state of the stage, and the context. So a player
of the ordinary game :class:`gamedp.stages.Flattened` also plays the staged one.
"""

from __future__ import annotations

import math
import numbers
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.errors import InvalidModelError, InvalidParameterError, shown
from gamedp.policies import staged_kernels
from gamedp.policies.given import check_count
from gamedp.policies.policy import Policy, RandomPlayer, chosen_action, model_of, name_of, rule_of
from gamedp.policies.random_kernels import GAMMA, S11, UNIT, mixed
from gamedp.results.solution import Solution
from gamedp.rules.expand import Calling
from gamedp.rules.game import StagedRules
from gamedp.runtime.floats import SUM_TOLERANCE
from gamedp.stages.flattened import Flattened, Position
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.stages.vector_code import Program

__all__ = ["OwnContexts", "Stage", "StageRule", "check_players", "refuse_other_player"]

KEPT = 1 << 17
"""Number of contexts, and of steps between contexts, that are cached without a game in them: a few
dozen megabytes."""


class Stage:
    """The stage as seen by the players who are asked.

    Parameters
    ----------
    model : StagedModel
    inner : (N,) int64
        The decision and chance states of the stage, in the order of the program.
    program : Program
    """

    def __init__(self, model: StagedModel, inner: NDArray[np.int64], program: Program) -> None:
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
            staged_kernels.mark_possible_jit(self._program, following >= 0, found)
        return found

    def state(self, place: int) -> Any:
        """Return the state of the stage at a place of the program."""
        return self._stage.state(int(self._inner[place]))

    def actions(self, place: int, possible: NDArray[np.bool_]) -> dict[int, int]:
        """Return the actions at a place, each with its choice; `possible` is a context's row."""
        first, stop = self._program.choice_offsets[place : place + 2].tolist()
        own = int(self._stage.choice_offsets[self._inner[place]])
        labels = self._stage.action_labels[own : own + stop - first].tolist()
        choices = range(first, stop)
        return {label: c for label, c in zip(labels, choices, strict=True) if possible[c]}


class Answer(NamedTuple):
    """The distribution of a player's choices in a position.

    Attributes
    ----------
    choices : (k,) int64
    sums : (k - 1,) float64
        The cumulative probabilities of the choices, without the last one.
    """

    choices: NDArray[np.int64]
    sums: NDArray[np.float64]

    def drawn(self, streams: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Draw a choice for each of some games from their streams, which are advanced."""
        if not len(self.sums):
            return np.full(len(streams), self.choices[0])
        with np.errstate(over="ignore"):
            streams += GAMMA
            drawn = (mixed(streams) >> S11).astype(np.float64) * UNIT
        chosen: NDArray[np.int64] = self.choices[np.searchsorted(self.sums, drawn, side="right")]
        return chosen


class StageRule:
    """A player who is asked in each position.

    Parameters
    ----------
    given : policy
        An object with ``choose(position)``, a function of a position, RandomPlayer, or a table of
        the flattened game: a Policy or a Solution.
    """

    def __init__(self, given: Any) -> None:
        self.name = name_of(given)
        self._rule: Callable[[Any], Any] | None = None
        if isinstance(given, Solution):
            given = Policy.from_solution(given)
        if isinstance(given, Policy):
            self.name, self._rule = given.name, given.actions
        elif callable(getattr(given, "search", None)):
            message = (
                f"{shown(given)} searches, and there is no search of staged games; give a "
                "StagedSolution, a function of a gamedp.stages.Position, or a RandomPlayer."
            )
            raise InvalidParameterError(message)
        elif not isinstance(given, RandomPlayer):
            self._rule = rule_of(given)

    def answer(self, context: Any, state: Any, actions: dict[int, int]) -> Answer:
        """Return the player's answer.

        Parameters
        ----------
        context, state
            The position.
        actions : dict of int to int
            The actions there, each with its choice.

        Raises
        ------
        InvalidParameterError
            If it is neither one of the actions nor a distribution over them.
        """
        choices = np.array(list(actions.values()), np.int64)
        if len(choices) == 1:
            return Answer(choices, np.zeros(0))
        if self._rule is None:
            return Answer(choices, np.arange(1, len(choices)) / len(choices))
        likely = self.shares(Position(context, state), list(actions))
        sums = np.cumsum(list(likely.values()))[:-1]
        return Answer(np.array([actions[action] for action in likely], np.int64), sums)

    def shares(self, position: Position, actions: Sequence[int]) -> dict[int, float]:
        """Return the probability of each possible action; errors as for `answer`."""
        if self._rule is None:
            return dict.fromkeys(actions, 1 / len(actions))
        with Calling("choose", position):
            given = self._rule(position)
        shares = given.items() if isinstance(given, Mapping) else [(given, 1.0)]
        taken: dict[int, float] = {}
        for label, share in shares:
            action = chosen_action(label, self.name, position)
            if action not in actions and share != 0:
                message = (
                    f"{self.name} chooses {action} in {shown(position)}, where the actions are "
                    f"{shown(actions)}."
                )
                raise InvalidParameterError(message)
            taken[action] = float(share) if isinstance(share, numbers.Real) else math.nan
        if not (min(taken.values(), default=-1.0) >= 0) or not (
            abs(sum(taken.values()) - 1) <= SUM_TOLERANCE
        ):
            message = (
                f"the probabilities of {self.name} in {shown(position)}, {shown(given)}, are none."
            )
            raise InvalidParameterError(message)
        return {action: share for action, share in taken.items() if share > 0}


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
        if len(self._after) > KEPT:
            self._after.clear()
        if len(self.contexts) <= KEPT:
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
                    f"{shown(model.state(code))}: canonical() joins contexts that do not go on "
                    "alike end by end, so players who are asked cannot be told where they are. "
                    "Leave canonical() out to play it by rules."
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


def check_players(given: Any, policies: Sequence[Any]) -> list[StagedModel]:
    """Return the models of solutions that play a staged game.

    Parameters
    ----------
    given
        The staged game or its model.
    policies : sequence
        One for each player: a StagedSolution, or a player that is asked in a position.

    Raises
    ------
    InvalidParameterError
        If a player follows something else, or what is of another game.
    """
    rules = given.rules if isinstance(given, StagedModel) else StagedRules(given)
    check_count(len(policies), rules.num_players)
    models = []
    for policy in policies:
        if not isinstance(policy, StagedSolution):
            refuse_other_player(policy, rules.game)
            continue
        model = policy.model
        if isinstance(given, StagedModel):
            is_same = model is given or model.digest() == given.digest()
        else:
            is_same = bool(model.rules.game == given)
        if not is_same:
            message = f"{shown(policy)} is not a solution of {shown(given)}."
            raise InvalidParameterError(message)
        models.append(model)
    return models


def refuse_other_player(given: Any, game: Any) -> None:
    """Raise InvalidParameterError for a player of another game than this staged one."""
    model = model_of(given)
    own = None
    if isinstance(given, RandomPlayer):
        own = given.game
    elif model is not None:
        own = model.rules.game if model.rules is not None else model
    if own is not None and own not in (game, Flattened(game)):
        message = (
            f"{shown(given)} cannot play a staged game; give the StagedSolution that gamedp.solve "
            "returns, a function of a gamedp.stages.Position, or what plays the ordinary game "
            "gamedp.stages.Flattened(game)."
        )
        raise InvalidParameterError(message)
