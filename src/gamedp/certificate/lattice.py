"""The stage of a staged game as a lattice, swept upwards from its ends in many contexts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.certificate.means import Group, groups_of, means_below, sums_below
from gamedp.certificate.worth import Rows
from gamedp.errors import InvalidModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model import Model

    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["Lattice"]


@attrs.frozen(eq=False)
class Movers:
    """Some states of a level whose movers want the same and have equally many choices.

    Attributes
    ----------
    states : (m,)
    choices : (k, m)
        The places of their choices in the level.
    is_first_player : bool
    """

    states: Integers
    choices: Integers
    is_first_player: bool


@attrs.frozen(eq=False)
class Level:
    """States that are equally many steps from the ends, on the longest way.

    Attributes
    ----------
    choices : (c,)
        The numbers of their choices.
    rewards : (c, 1) or None
        None if there are none.
    groups : list of Group
        The choices by the number of their outcomes.
    movers : list of Movers
    """

    choices: Integers
    rewards: Floats | None
    groups: list[Group]
    movers: list[Movers]

    @classmethod
    def of(cls, stage: Model, rows: Rows, states: Integers) -> Level:
        """Gather what is known of some states."""
        counts = stage.choice_offsets[states + 1] - stage.choice_offsets[states]
        ends = np.cumsum(counts)
        firsts = ends - counts
        choices = np.arange(ends[-1]) + np.repeat(stage.choice_offsets[states] - firsts, counts)
        is_first = stage.players[states] == 0
        movers = []
        for count in np.unique(counts).tolist():
            for first_player in (True, False):
                some = np.flatnonzero((counts == count) & (is_first == first_player))
                if len(some):
                    places = firsts[some] + np.arange(count)[:, None]
                    movers.append(Movers(states[some], places, first_player))
        rewards = stage.rewards[choices][:, None]
        return cls(choices, rewards if rewards.any() else None, groups_of(rows, choices), movers)


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
        """Take a stage apart.

        Raises
        ------
        InvalidModelError
            If it has a cycle.
        """
        rows = Rows.of(stage, 0, stage.num_states)
        levels = [Level.of(stage, rows, states) for states in _by_level(stage, rows)]
        return cls(stage.num_states, int(stage.initial_states[0]), stage.terminals, levels)

    @property
    def height(self) -> int:
        """How many rows a sweep works on at once, at most."""
        return self.num_states + max(len(level.choices) for level in self.levels)

    def sweep(self, ends: Floats, sign: float, wants_most: tuple[bool, bool]) -> Floats:
        """Return what the stage is worth at least.

        Parameters
        ----------
        ends : (E, n)
            What its ends are worth at least, for n contexts; NaN where an end is not allowed. A
            choice that may lead there cannot be taken.
        sign : {1.0, -1.0, 0.0}
            What to multiply by what is paid on the way.
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
            means = np.empty((len(level.choices), ends.shape[1]))
            means_below(level.groups, block, means)
            if level.rewards is not None and sign:
                means = sums_below(means, sign * level.rewards)
            for some in level.movers:
                most = wants_most[0 if some.is_first_player else 1]
                better = np.fmax if most else np.fmin  # of NaN and a number, the number
                best = means[some.choices[0]]
                for places in some.choices[1:]:
                    better(best, means[places], out=best)
                block[some.states] = best
        worth: Floats = block[self.start].copy()
        return worth


def _by_level(stage: Model, rows: Rows) -> list[Integers]:
    """Return the states that are no ends by the longest way from there to an end."""
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
