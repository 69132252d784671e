"""The positions of a game by their material: their values, in memory or on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np

from gamedp.compiler.methods import disagree
from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules, method
from gamedp.runtime.block_file import BLOCK, BlockFile

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

__all__ = ["Strata", "number_in_stratum"]


@attrs.frozen(eq=False, repr=False)
class Strata:
    """The arrays of :class:`gamedp.searchers.EndgameTables`, described there."""

    game: Any
    material: int
    values: NDArray[np.int8]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    present: NDArray[np.bool_]
    files: list[BlockFile | None]

    @property
    def num_positions(self) -> int:
        """The number of positions that the tables cover."""
        return int(self.sizes.sum())

    @property
    def num_bytes(self) -> int:
        """The number of bytes of the values that are in memory."""
        return int(np.count_nonzero(self.present)) * BLOCK

    def read(self, block: int) -> None:
        """Read one block of the values from its file.

        Raises
        ------
        DamagedFileError
            If it is not what was written.
        """
        stratum = int(np.searchsorted(self.offsets, block * BLOCK, side="right")) - 1
        # Empty strata begin where the next one does.
        file = self.files[stratum]
        if file is not None:
            first = block * BLOCK
            data = file.read(block - int(self.offsets[stratum]) // BLOCK)
            self.values[first : first + len(data)] = data
        self.present[block] = True

    def value(self, state: Hashable) -> tuple[float, float]:
        """Return bounds of the mover's value in a position, from the tables alone.

        Raises
        ------
        UnsupportedProblemError
            If there is more material in it than the tables cover.
        InvalidModelError
            If the game gives it a number that its stratum does not have.
        """
        rules = Rules(self.game)
        state, _ = rules.canonical(state)
        if self.game.is_terminal(state):
            payoff = float(self.game.payoff(state, rules.player(state)))
            return payoff, payoff
        material = int(self.game.material(state))
        if material > self.material:
            message = (
                f"{shown(state)} has material {material}; the tables go to {self.material}. "
                "Build larger ones, or search."
            )
            raise UnsupportedProblemError(message)
        place = int(self.offsets[material]) + number_in_stratum(self.game, state, self.sizes)
        if not self.present[place // BLOCK]:
            self.read(place // BLOCK)
        low, high = method(self.game, "ending_range")(self.game, state, float(self.values[place]))
        return float(low), float(high)

    def refuse(self, state: Hashable) -> NoReturn:
        """Raise the error of a position without a number in the tables, or before such a one."""
        rules = Rules(self.game)
        after = [pair[0] for choice in expand(rules, state).choices for pair in choice.outcomes]
        for each in (state, *after):
            if not self.game.is_terminal(each) and self.game.material(each) <= self.material:
                number_in_stratum(self.game, each, self.sizes)
        disagree(f"at the endgame tables, after {shown(state)}", None)

    def stratum(self, material: int) -> NDArray[np.int8]:
        """Return the values of the positions with exactly some material, by their numbers.

        Raises
        ------
        UnsupportedProblemError
            If the tables do not go so far.
        DamagedFileError
            If a file is damaged.
        """
        if not 0 <= material <= self.material:
            message = (
                f"there is no material {shown(material)} in the tables, but 0 to {self.material}."
            )
            raise UnsupportedProblemError(message)
        first, size = int(self.offsets[material]), int(self.sizes[material])
        blocks = slice(first // BLOCK, -(-(first + size) // BLOCK))
        for block in np.flatnonzero(~self.present[blocks]):
            self.read(blocks.start + int(block))
        return self.values[first : first + size]


def number_in_stratum(game: Any, state: Any, sizes: NDArray[np.int64]) -> int:
    """Return the number of a position in its stratum.

    Raises
    ------
    InvalidModelError
        If its stratum, or that number, does not exist.
    """
    material = int(game.material(state))
    if not 0 <= material < len(sizes):
        message = (
            f"{shown(state)} has material {material}; the tables have strata for 0 to "
            f"{len(sizes) - 1}."
        )
        raise InvalidModelError(message)
    index, size = int(game.ending_index(state)), int(sizes[material])
    if not 0 <= index < size:
        message = (
            f"ending_index({shown(state)}) is {index}; by num_endings({material}) there are "
            f"numbers from 0 to {size - 1}."
        )
        raise InvalidModelError(message)
    return index
