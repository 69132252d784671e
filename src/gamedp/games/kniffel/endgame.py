"""The last rounds of two players, solved: the probability that I win, and the best decisions."""

from __future__ import annotations

from typing import Any

import attrs

import gamedp
from gamedp.games.kniffel.either_turn import mine
from gamedp.games.kniffel.last_rounds import LastRounds
from gamedp.games.kniffel.prospects import Prospect, as_thrown, prospects
from gamedp.games.kniffel.remainder import Compile, ProgressCallback
from gamedp.games.kniffel.rules import Kniffel

__all__ = ["Endgame"]


@attrs.frozen(eq=False)
class Endgame:
    """The last rounds of two players, solved exactly; see :meth:`Duel.endgame`."""

    game: LastRounds
    compile: Compile = "auto"
    progress: ProgressCallback | None = attrs.field(default=None, repr=False)
    solution: Any = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Solve the game."""
        solution = gamedp.solve(
            self.game, tolerance=1e-9, compile=self.compile, progress=self.progress
        )
        object.__setattr__(self, "solution", solution)

    @property
    def value(self) -> float:
        """The probability that I win, with draws counted by their value."""
        return float(self.solution.value())

    def bounds(self) -> tuple[float, float]:
        """Return proven bounds of that probability."""
        low, high = self.solution.bounds()
        return max(low, 0.0), min(high, 1.0)

    def options(self, dice: str | tuple[int, ...], number: int) -> tuple[Prospect, ...]:
        """Return all my decisions after a throw, as :meth:`Duel.options` does.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is no such throw, or it is not my turn.
        """
        thrown = as_thrown(self.game, dice, number)
        start = self.game.initial_state()
        if start.his_turn or self.game.is_terminal(start):
            message = "the next turn is not mine: there is nothing for me to decide."
            raise gamedp.errors.InvalidParameterError(message)
        turn = Kniffel.stage(self.game)
        sheet = self.game.sheet(start)
        plain = Kniffel(
            **{field.name: getattr(self.game, field.name) for field in attrs.fields(Kniffel)}
        )
        entries = plain.entries(sheet, thrown)
        return prospects(self.solution.inside(start), turn, entries, (number, thrown), mine)

    def best(self, dice: str | tuple[int, ...], number: int) -> Prospect:
        """Return my best decision; see :meth:`options`."""
        return self.options(dice, number)[0]
