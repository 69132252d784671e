"""A staged game prepared for solving: the stage as a model, and the contexts it is played in."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.model.validation.outcomes import scale
from gamedp.runtime.notebook import html_table

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.rules.game import StagedRules
    from gamedp.rules.layout import Codec, Layout
    from gamedp.stages.vector_code import StageProgram


ENDS_PER_QUERY = 1 << 21
"""Number of ends times contexts in one query to the rules."""


class Sweeper(Protocol):
    """Sweeps over contexts with their rules, compiled or plain; made by :func:`gamedp.compile`."""

    def survey(self) -> Contexts:
        """Examine every combination of the box."""

    def sweep(
        self,
        program: StageProgram,
        codes: NDArray[np.int64],
        values: NDArray[np.float64],
        *,
        weights: bool = False,
        writes: bool = True,
    ) -> Sweep:
        """Sweep the stage for the contexts `codes`; see `gamedp.stages.context_loop`."""

    def unroll(self, program: StageProgram, columns: int, *, unrolls: bool | None) -> StageProgram:
        """Return the program as unrolled machine code, if that is possible and pays.

        It pays for very many `columns`, or if the caller asks for it.
        """

    def follow(self, codes: NDArray[np.int64]) -> Onward:
        """Return the successors of the contexts `codes` after each end of the stage."""


@attrs.frozen(eq=False)
class Contexts:
    """All contexts of a staged game, by their codes.

    Attributes
    ----------
    codes : (C,) int64
        The contexts in which the stage is played, sorted by tier, then by code.
    offsets : (T+1,) int64
        The contexts of one tier are ``codes[offsets[t]:offsets[t+1]]``, ascending.
    values : (B,) float64
        For every code of the box: the payoff where the game is over, else NaN.
    """

    codes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64]


@attrs.frozen(eq=False)
class Onward:
    """The successors of each of n contexts after the E ends of the stage.

    Attributes
    ----------
    payoffs : (n,) float64
        The payoffs where the game is over; else NaN.
    following : (n, E) int64
        The code of the next context's representative; -1 where the end is not allowed.
    swaps : (n, E) bool
        Whether the players change places on the way there.
    tiers : (n, E) int64
        The next context's tier.
    rewards : (n, E) float64
        The reward of player 0 for the end.
    """

    payoffs: NDArray[np.float64]
    following: NDArray[np.int64]
    swaps: NDArray[np.bool_]
    tiers: NDArray[np.int64]
    rewards: NDArray[np.float64]


@attrs.frozen
class Sweep:
    """The result of a sweep.

    Attributes
    ----------
    is_complete : bool
        False if a context leads to one without a value: then the other numbers are undefined.
    rise, change : float
        The largest rise, and the largest change, of a value.
    reward : float
        The largest absolute value of a reward.
    """

    is_complete: bool
    rise: float = 0.0
    change: float = 0.0
    reward: float = 0.0


@attrs.frozen(eq=False, repr=False)
class StagedModel:
    """A staged game: its stage as an ordinary model, its contexts as codes of a box.

    Made by :func:`gamedp.compile` of a :class:`gamedp.StagedGame`.

    Attributes
    ----------
    rules : StagedRules
    stage : Model
        The game that is played in every context.
    layout, codec
        Layout and packing of the contexts into codes, which are the indices of their values.
    sweeper : Sweeper
        The sweeper for solvers.
    seconds : mapping
        The time taken to ``"compile"`` the rules and to ``"explore"`` the stage and the contexts.
    """

    rules: StagedRules
    stage: Model
    layout: Layout
    codec: Codec
    sweeper: Sweeper
    seconds: Mapping[str, float]

    def __repr__(self) -> str:
        """Return the game and the size."""
        return (
            f"<StagedModel {self.rules.game!r}: {self.num_states:,} contexts, "
            f"a stage of {self.stage.num_states:,} states>"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {
            "game": shown(self.rules.game),
            "players": str(self.num_players),
            "contexts": f"{self.num_states:,}",
            "states of the stage": f"{self.stage.num_states:,}",
            "ends of the stage": f"{len(self.stage.terminals):,}",
        }
        return html_table(rows)

    @property
    def num_players(self) -> int:
        """The number of players."""
        return self.rules.num_players

    @property
    def is_general_sum(self) -> bool:
        """False: there are one or two players, and two are opponents."""
        return self.rules.is_general_sum

    @property
    def has_opponents(self) -> bool:
        """Whether there are two players, of whom one gets what a constant sum leaves."""
        return self.rules.has_opponents

    @property
    def constant_sum(self) -> float:
        """The sum of two players' payoffs."""
        return self.rules.constant_sum

    @property
    def num_states(self) -> int:
        """The number of combinations in the box of contexts."""
        return self.codec.size

    @functools.cached_property
    def ends(self) -> list[tuple[int, Any]]:
        """The ends of the stage: the index of each, and its state."""
        return [(index, self.stage.state(index)) for index in self.stage.terminals.tolist()]

    @property
    def starts(self) -> list[tuple[float, Any]]:
        """The initial distribution as (probability, context) pairs, scaled to sum to one."""
        pairs = self.rules.initial()
        probabilities = np.array([probability for probability, _ in pairs], np.float64)
        scale(np.array([0, len(probabilities)]), probabilities)
        return [
            (probability, pair[1])
            for probability, pair in zip(probabilities.tolist(), pairs, strict=True)
        ]

    @property
    def initial_states(self) -> NDArray[np.int64]:
        """The codes of the initial contexts, or of their representatives."""
        return np.array([self.index(context)[0] for _, context in self.starts])

    @property
    def initial_probabilities(self) -> NDArray[np.float64]:
        """The probability of each, with a minus sign where the players have changed places."""
        pairs = [(probability, self.index(context)[1]) for probability, context in self.starts]
        return np.array(
            [-probability if swapped else probability for probability, swapped in pairs]
        )

    @property
    def fractions(self) -> dict[str, NDArray[Any]]:
        """None: the probabilities and rewards of contexts are doubles."""
        return {}

    def digest(self) -> str:
        """Return the SHA-256 of the stage, and of the rules' answers for every context.

        Equal for equal models, however their rules are written.
        """
        return self._digest

    @functools.cached_property
    def _digest(self) -> str:
        contexts = self.sweeper.survey()
        box = (self.codec.low.tolist(), self.codec.high.tolist(), contexts.offsets.tolist())
        words = f"{self.stage.digest()} {self.num_players} {self.constant_sum!r} {box}"
        over = ~np.isnan(contexts.values)
        parts = [hashlib.sha256(words.encode()) for _ in range(4)]
        parts[0].update(contexts.codes.data)
        parts[0].update(np.flatnonzero(over).data)
        parts[0].update(contexts.values[over].data)
        many = max(1, ENDS_PER_QUERY // len(self.stage.terminals))
        for first in range(0, len(contexts.codes), many):
            onward = self.sweeper.follow(contexts.codes[first : first + many])
            for part, array in zip(
                parts[1:], (onward.following, onward.swaps, onward.rewards), strict=True
            ):
                part.update(array.data)
        return hashlib.sha256(b"".join(part.digest() for part in parts)).hexdigest()

    def state(self, index: int) -> Any:
        """Return the context with a code."""
        fields = self.codec.unpack(np.array([[index]], np.int64))[0]
        return self.layout.build(iter(fields.tolist()))

    def index(self, context: Hashable) -> tuple[int, bool]:
        """Return the code of a context's representative and whether the players are swapped.

        Raises
        ------
        UnknownStateError
            If the context is not in the box, or not real.
        """
        context = self.rules.own_state(context)
        self.code(context)
        representative, swapped = self.rules.canonical(context)
        if not self.rules.call("is_state", representative):
            message = f"{shown(context)} is not a context of this game: is_state() denies it."
            raise UnknownStateError(message)
        return self.code(representative), swapped

    def code(self, context: Hashable) -> int:
        """Return the code of a context itself, even if another one represents it.

        Raises
        ------
        UnknownStateError
            If the context is not in the box.
        """
        try:
            fields = self.layout.flatten(self.rules.own_state(context))
        except InvalidModelError as error:
            raise UnknownStateError(str(error)) from None
        if not self.codec.contains(fields):
            ranges = ", ".join(
                f"{name} {low} to {high - 1}"
                for name, low, high in zip(
                    self.layout.names(),
                    self.codec.low.tolist(),
                    self.codec.high.tolist(),
                    strict=True,
                )
            )
            message = f"{shown(context)} is outside the box of contexts: {ranges}."
            raise UnknownStateError(message)
        return int(self.codec.pack(np.array([fields], np.int64))[0, 0])
