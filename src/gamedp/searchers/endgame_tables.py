"""Endgame tables: the value of every position with little left in play."""

from __future__ import annotations

import math
import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np

from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    NotSolvedError,
    UnsupportedProblemError,
    shown,
)
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules
from gamedp.runtime.block_file import BLOCK, BlockFile
from gamedp.runtime.limit import callback_of, shows_progress
from gamedp.runtime.machine import allocate_lazily, available_bytes
from gamedp.searchers.endgame_strata import METHODS, Builder, Home, Strata
from gamedp.searchers.root import refuse_chance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode

MOST_POSITIONS = 2**46
"""Largest number of positions in tables: address space has no room for more."""


@attrs.frozen(eq=False, repr=False)
class EndgameTables(Strata):
    """The value of every position with at most some material, one byte each.

    For deterministic games of two players that shed material: stones, pieces, empty squares. The
    positions with a given material form a stratum and are numbered; the strata are filled from the
    smallest up. Made by :meth:`build`; passed to a searcher, which then needs to look no further
    than to the first position in the table.

    The players' settled winnings are separated from the value still in play: the table holds one
    value for all positions that differ only in the former. The game defines this by these methods:

    ``material(state) -> int``
        The amount left; no action may raise it.
    ``settled(state, player) -> float``
        The settled winnings of `player`: the value of the state is their sum with the ending's.
    ``num_endings(material) -> int``
        The number of positions of a stratum; 0 where there is no table.
    ``ending_index(state) -> int``
        The number of the position among these, seen from the player to move, whatever is settled.
    ``ending_state(material, index) -> state``
        A position with this number, in which player 0 moves and nothing is settled.
    ``next_ending(state) -> state``, optional
        The same for the number after that of `state`, where that is faster.
    ``ending_range(state, value) -> (low, high)``, optional
        Bounds of the mover's value in `state`, if that of the ending alone is `value`; where it is
        left out, what is settled plus `value`.

    The positions of a stratum are valued in the order of their numbers. So an action that sheds
    nothing should lead to a smaller number, whose value is known by then. Otherwise the position
    has to wait and is looked at twice, which takes longer and changes nothing else.

    Attributes
    ----------
    game
    material : int
        The largest material that the tables cover; -1 for none.
    values : (N,) int8
        The values of all strata; read block by block if they are on disk.
    offsets : (material + 1,) int64
        The index in `values` at which each stratum begins.
    sizes : (material + 1,) int64
        The number of positions of each stratum.
    present : (N / BLOCK,) bool
        Whether each block has been read.
    files : list of BlockFile or None
        The file of each stratum, if it was opened.
    """

    @classmethod
    @shows_progress
    def build(
        cls,
        game: Any,
        material: int,
        *,
        folder: str | Path | None = None,
        compile: CompileMode = "auto",
        max_seconds: float = float("inf"),
        progress: ProgressCallback | bool | None = None,
    ) -> EndgameTables:
        """Build the tables, or open those that are already in the folder.

        Building takes one byte of memory for each position. Tables that are opened take memory only
        for the blocks of 64 KiB that a search reads.

        Parameters
        ----------
        game
            A game with the methods named above.
        material : int
            The largest material to cover.
        folder : str or Path, optional
            The folder of the strata, a file each, written when it is complete: building resumes
            where it was interrupted, for whatever reason. Several processes may build in one
            folder, each doing all the work. Without a folder the tables stay in memory.
        compile : {"auto", "always", "never"}
            As for :func:`gamedp.compile`.
        max_seconds : float
            The time limit; the error raised at it has the complete strata.
        progress : callable or bool, optional
            As for :func:`gamedp.solve`.

        Raises
        ------
        UnsupportedProblemError
            If the game lacks a method, does not have two players, or has non-integer values.
        InvalidModelError
            If the methods contradict the rules.
        LimitExceededError
            If there is not enough memory.
        NotSolvedError
            After `max_seconds`; its `solution` has the tables of the complete strata.
        DamagedFileError
            If a file is damaged, or is of another game.
        OSError
            If a file cannot be read or written.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.mancala import Mancala
        >>> game = Mancala(pits=3, stones=2)
        >>> tables = gamedp.searchers.EndgameTables.build(game, 4)
        >>> tables.num_positions
        210
        >>> tables.value(game.position((0, 1, 0), (0, 2, 1)))
        (-2.0, -2.0)
        >>> gamedp.searchers.AlphaBeta(endings=tables).search(game).value()
        0.0
        """
        *_, tables = cls.grow(
            game,
            material,
            folder=folder,
            compile=compile,
            max_seconds=max_seconds,
            progress=callback_of(progress),
        )
        return tables

    @classmethod
    def grow(
        cls,
        game: Any,
        material: int,
        *,
        folder: str | Path | None = None,
        compile: CompileMode = "auto",
        max_seconds: float = float("inf"),
        progress: ProgressCallback | None = None,
    ) -> Iterator[EndgameTables]:
        """Yield the tables after each further material, for a search that may need less.

        All share their values. Tables already in the folder come immediately. Parameters and errors
        are those of :meth:`build`; `max_seconds` count from the first step on, with what is done
        between the steps.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.mancala import Mancala
        >>> game = Mancala(pits=3, stones=2)
        >>> [tables.num_positions for tables in gamedp.searchers.EndgameTables.grow(game, 3)]
        [1, 7, 28, 84]
        """
        rules = Rules(game)
        if not max_seconds > 0:
            message = f"max_seconds is {shown(max_seconds)}; it must be positive."
            raise InvalidParameterError(message)
        sizes = _sizes(rules, material)
        home = None if folder is None else Home(Path(folder), rules)
        files = [None if home is None else home.open(*each) for each in enumerate(sizes)]
        tables = cls._empty(game, sizes, files)
        missing = [stratum for stratum, size in enumerate(sizes) if size and not files[stratum]]
        builder = None
        if missing:
            _check_room(tables.num_positions)
            builder = Builder(rules, tables, missing, compile, max_seconds, progress)
        complete = missing[0] if missing else len(sizes)
        for stratum in range(len(sizes)):
            if builder is not None and stratum in missing:
                if not builder.fill(stratum):
                    _stop(tables, stratum, max_seconds, folder)
                if home is not None:
                    home.write(stratum, tables.stratum(stratum))
            if stratum + 1 >= complete:
                yield tables.up_to(stratum)

    @classmethod
    def _empty(cls, game: Any, sizes: list[int], files: list[BlockFile | None]) -> EndgameTables:
        """Return tables with room for strata of some sizes, which takes no memory yet."""
        starts = np.cumsum([0, *(-(-size // BLOCK) * BLOCK for size in sizes)])
        return cls(
            game,
            len(sizes) - 1,
            allocate_lazily((int(starts[-1]),), np.int8),
            np.array(starts[:-1], np.int64),
            np.array(sizes, np.int64),
            np.zeros(int(starts[-1]) // BLOCK, np.bool_),
            files,
        )

    def up_to(self, material: int) -> EndgameTables:
        """Return the tables up to some material; they share their values with these."""
        count = material + 1
        return EndgameTables(
            self.game,
            material,
            self.values,
            self.offsets[:count],
            self.sizes[:count],
            self.present,
            self.files[:count],
        )

    def __repr__(self) -> str:
        """Return a summary of the coverage."""
        covered = f"material 0 to {self.material}" if self.material >= 0 else "nothing"
        return f"<EndgameTables of {shown(self.game)}: {covered}, {self.num_positions:,} positions>"

    def verify(self, samples: int = 1000, generator: np.random.Generator | None = None) -> int:
        """Check positions against their successors, by the rules in plain Python.

        Half of them have numbers drawn at random; the others come up in play at random from the
        start of the game, once it is in reach of the tables. Each is followed, at random, to its
        end.

        Parameters
        ----------
        samples : int
            The least number of positions to check.
        generator : numpy.random.Generator, optional
            The source of randomness; the same positions each time if not given.

        Returns
        -------
        checked : int
            The number of positions checked: the value of each agrees with those after its actions.

        Raises
        ------
        InvalidModelError
            At the first contradiction, which the message names: the game's methods are
            inconsistent, or its rules have changed.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.mancala import Mancala
        >>> gamedp.searchers.EndgameTables.build(Mancala(pits=2, stones=2), 4).verify(100) >= 100
        True
        """
        return verify(self, samples, generator or np.random.default_rng(0))


def _stop(tables: EndgameTables, stratum: int, max_seconds: float, folder: Any) -> NoReturn:
    """Raise the error of a limit, with the tables of less material."""
    way_out = (
        "Raise it, or take the smaller tables: they are the .solution of this error."
        if folder is None
        else f"Call again: building goes on with what is in {folder}. The smaller tables are the "
        ".solution of this error."
    )
    message = (
        f"EndgameTables stopped at its limit of {max_seconds:g} seconds in material {stratum} of "
        f"{tables.material}; {stratum} of {tables.material + 1} strata are complete. {way_out}"
    )
    raise NotSolvedError(message, tables.up_to(stratum - 1))


def _sizes(rules: Rules, material: int) -> list[int]:
    """Return the number of positions in each stratum, after checking that the game has strata."""
    game = rules.game
    name = type(game).__name__
    missing = [needed for needed in METHODS if not callable(getattr(game, needed, None))]
    if missing:
        message = f"{name} has no endgame tables: it lacks {', '.join(missing)}."
        raise UnsupportedProblemError(message)
    if not rules.has_opponents or rules.constant_sum != 0:
        message = f"endgame tables are for two players whose payoffs add up to 0; not so {name}."
        raise UnsupportedProblemError(message)
    try:
        last = operator.index(material)
    except TypeError:
        last = -1
    if last < 0:
        message = f"material is {shown(material)}; it must be a whole number, 0 or more."
        raise InvalidParameterError(message)
    sizes: list[int] = []
    for stratum in range(last + 1):
        size = operator.index(game.num_endings(stratum))
        if size < 0:
            message = f"num_endings({stratum}) is {size}; it must be 0 or more."
            raise InvalidModelError(message)
        if size == 0 and stratum > 0:
            message = (
                f"{shown(game)} has no endgame table for material {stratum}"
                f"{f': the largest is {stratum - 1}.' if stratum > 1 else ' or any other.'}"
            )
            raise UnsupportedProblemError(message)
        sizes.append(size)
        if sum(sizes) > MOST_POSITIONS:
            _check_room(sum(sizes))
    return sizes


def _check_room(positions: int) -> None:
    """Raise unless memory has room for some number of positions."""
    room = min(available_bytes(), MOST_POSITIONS)
    if positions > room:
        message = (
            f"the tables have {positions:,} positions or more, and take a byte of memory for each "
            f"while they are built; there is room for {room:,}. Build them up to less material."
        )
        raise LimitExceededError(message, states=positions, choices=0, transitions=0)


LONGEST = 10_000
"""Largest number of moves of a random game before it is given up."""


def verify(tables: Strata, samples: int, generator: np.random.Generator) -> int:
    """Verify endgame tables, see `EndgameTables.verify`."""
    if samples < 1:
        message = f"samples is {shown(samples)}; it must be at least 1."
        raise InvalidParameterError(message)
    check = _Check(tables, generator)
    while tables.num_positions > 0 and check.checked < samples:
        check.follow(check.drawn())
        played = check.played()
        if played is not None:
            check.follow(played)
    return check.checked


class _Check:
    """Checks positions, and counts them."""

    def __init__(self, tables: Strata, generator: np.random.Generator) -> None:
        self._tables = tables
        self._game = tables.game
        self._rules = Rules(tables.game)
        self._generator = generator
        self.checked = 0

    def drawn(self) -> Any:
        """Return a position with a randomly drawn number, after checking that number."""
        place = int(self._generator.integers(self._tables.num_positions))
        ends = np.cumsum(self._tables.sizes)
        material = int(np.searchsorted(ends, place, side="right"))
        index = place - int(ends[material] - self._tables.sizes[material])
        state = self._game.ending_state(material, index)
        found = int(self._game.material(state)), int(self._game.ending_index(state))
        if found != (material, index):
            message = (
                f"ending_state({material}, {index}) is {shown(state)}, which has material "
                f"{found[0]} and ending_index {found[1]}."
            )
            raise InvalidModelError(message)
        if self._game.is_terminal(state):
            self.checked += 1
            payoff = float(self._game.payoff(state, 0))
            value = int(self._tables.stratum(material)[index])
            if payoff != value:
                message = (
                    f"the endgame tables contradict the rules: {shown(state)} is worth {value} by "
                    f"the tables, but the payoff there is {payoff:g}."
                )
                raise InvalidModelError(message)
        return state

    def played(self) -> Any:
        """Return a position of random play from the start, or None if the tables cover none."""
        starts = self._rules.initial()
        state = starts[int(self._generator.integers(len(starts)))][1]
        for _ in range(LONGEST):
            if self._game.is_terminal(state):
                return None
            if self._game.material(state) <= self._tables.material:
                return state
            state = self._next(state)
        return None

    def _next(self, state: Any) -> Any:
        """Return a position after this one, by an action drawn at random."""
        choices = expand(self._rules, state).choices
        choice = choices[int(self._generator.integers(len(choices)))]
        successors = list(choice.outcomes)
        return successors[int(self._generator.integers(len(successors)))][0]

    def follow(self, state: Any) -> None:
        """Check a position, and those after it on a random path to the end."""
        for _ in range(LONGEST):
            state, _ = self._rules.canonical(state)
            if self._game.is_terminal(state):
                return
            self._check(state)
            state = self._next(state)

    def _check(self, state: Any) -> None:
        """Raise if the tables contradict themselves in this position and those after it."""
        self.checked += 1
        low, high = self._tables.value(state)
        least = most = -math.inf
        mover = self._rules.player(state)
        for choice in expand(self._rules, state).choices:
            if len(choice.outcomes) > 1:
                refuse_chance(state, choice.action, "EndgameTables")
            ((after, swapped),) = choice.outcomes
            reward = self._rules.reward(state, choice.action, mover)
            side = mover ^ swapped
            if self._game.is_terminal(after):
                ends = (float(self._game.payoff(after, side)),) * 2
            else:
                ends = self._tables.value(after)
                if self._rules.player(after) != side:
                    ends = -ends[1], -ends[0]
            least, most = max(least, reward + ends[0]), max(most, reward + ends[1])
        if most < low or least > high:
            message = (
                f"the endgame tables contradict the rules: {shown(state)} is worth "
                f"{_words(low, high)} to the mover by the tables, and {_words(least, most)} by "
                "what its actions lead to. Either material, settled, ending_index and ending_state "
                "do not fit together, or the tables are of other rules."
            )
            raise InvalidModelError(message)


def _words(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
