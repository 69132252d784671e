"""The stage of a staged game as a lattice, swept from its ends in many contexts together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.certificates.checking.choice_values import Rows
from gamedp.certificates.checking.rounded_means import Group, groups_of, means_below, sums_below
from gamedp.errors import InvalidModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["Lattice"]


@attrs.frozen(eq=False)
class Movers:
    """States of a level whose movers have the same aim and equally many choices.

    Attributes
    ----------
    states : (m,)
    player : int
        The player to move.
    is_sure : bool
        Whether every choice leads to one state for sure, and nothing is paid.
    sources : (k, m)
        These states; or else the places of the choices in the level.
    """

    states: Integers
    player: int
    is_sure: bool
    sources: Integers


@attrs.frozen(eq=False)
class Level:
    """States with the same number of steps to the ends, on the longest path.

    Attributes
    ----------
    rewards : (c, 1)
        Of the choices that are not sure.
    groups : list of Group
        These by the number of their outcomes.
    movers : list of Movers
    """

    rewards: Floats
    groups: list[Group]
    movers: list[Movers]

    @classmethod
    def of(cls, stage: Model, rows: Rows, states: Integers) -> Level:
        """Gather the data of some states."""
        firsts = stage.choice_offsets[states]
        counts = stage.choice_offsets[states + 1] - firsts
        sure = (rows.counts == 1) & (stage.rewards == 0)
        is_sure = np.array(
            [sure[first : first + count].all() for first, count in zip(firsts, counts, strict=True)]
        )
        numbers = np.where(is_sure, 0, counts)
        ends = np.cumsum(numbers)
        choices = np.arange(ends[-1]) + np.repeat(firsts - (ends - numbers), numbers)
        kinds = np.stack([counts, stage.players[states], is_sure], axis=1)
        movers = []
        for count, player, plain in np.unique(kinds, axis=0).tolist():
            some = np.flatnonzero((kinds == (count, player, plain)).all(axis=1))
            if plain:
                sources = rows.successors[rows.starts[firsts[some] + np.arange(count)[:, None]]]
            else:
                sources = (ends - numbers)[some] + np.arange(count)[:, None]
            movers.append(Movers(states[some], player, bool(plain), sources))
        return cls(stage.rewards[choices][:, None], groups_of(rows, choices), movers)


@attrs.frozen(eq=False)
class Lattice:
    """An acyclic model with one initial state, by levels.

    Attributes
    ----------
    num_states : int
    start : int
    ends : (E,)
        The terminal states.
    levels : list of Level
        Of all other states, successors first.
    """

    num_states: int
    start: int
    ends: Integers
    levels: list[Level]

    @classmethod
    def of(cls, stage: Model) -> Lattice:
        """Return the lattice of a stage.

        Raises
        ------
        InvalidModelError
            If it has a cycle.
        """
        rows = Rows.of(stage, np.arange(stage.num_states))
        levels = [Level.of(stage, rows, states) for states in _by_level(stage, rows)]
        return cls(stage.num_states, int(stage.initial_states[0]), stage.terminals, levels)

    @property
    def height(self) -> int:
        """The largest number of rows that a sweep processes together."""
        return self.num_states + max(len(level.rewards) for level in self.levels)

    def sweep(self, ends: Floats, sign: float, wants_most: tuple[bool, bool]) -> Floats:
        """Return the least value of the stage.

        Parameters
        ----------
        ends : (E, n)
            The least values of its ends, for n contexts; NaN where an end is not allowed. A
            choice that may lead there cannot be taken.
        sign : {1.0, -1.0, 0.0}
            The factor of the rewards on the way.
        wants_most : (bool, bool)
            Whether player 0 wants the most, and whether the other one does.

        Returns
        -------
        (n,) float64
            NaN where no way through the stage is allowed.
        """
        block = np.empty((self.num_states, ends.shape[1]))
        block[self.ends] = ends
        for level in self.levels:
            means = means_below(level.groups, block)
            if sign and level.rewards.any():
                means = sums_below(means, sign * level.rewards)
            for some in level.movers:
                better = np.fmax if wants_most[some.player] else np.fmin  # a number goes before NaN
                values = block if some.is_sure else means
                best = values[some.sources[0]]
                for source in some.sources[1:]:
                    better(best, values[source], out=best)
                block[some.states] = best
        own: Floats = block[self.start]
        return own.copy()


def _by_level(stage: Model, rows: Rows) -> list[Integers]:
    """Return the states other than ends, by the longest path to an end."""
    owners = np.repeat(rows.state_of, rows.counts)
    by_successor = np.argsort(rows.successors, kind="stable")
    offsets = np.searchsorted(rows.successors[by_successor], np.arange(stage.num_states + 1))
    waiting = np.bincount(owners, minlength=stage.num_states)
    done = np.flatnonzero(waiting == 0)
    left = stage.num_states - len(done)
    levels: list[Integers] = []
    while len(done):
        sources = [by_successor[slice(*offsets[state : state + 2])] for state in done.tolist()]
        states, times = np.unique(owners[np.concatenate(sources)], return_counts=True)
        waiting[states] -= times
        done = states[waiting[states] == 0]
        left -= len(done)
        if len(done):
            levels.append(done)
    if left:
        message = "the stage can go on for ever. A stage must be acyclic."
        raise InvalidModelError(message)
    return levels
