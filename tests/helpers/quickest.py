"""Noughts and crosses, and how soon it is won or lost, from the rules alone."""

import functools
import runpy
from pathlib import Path

import attrs

EXAMPLES = Path(__file__).parents[2] / "examples"


@functools.cache
def noughts_and_crosses():
    return runpy.run_path(str(EXAMPLES / "noughts.py"), run_name="noughts")["NoughtsAndCrosses"]()


@attrs.frozen
class ByHand:
    """Values and lengths of an acyclic game without chance that pays 1, 0 or -1, from its rules."""

    game: object
    known: dict = attrs.Factory(dict)

    def of(self, state):
        """Return the value, and the length when the winner hurries and the loser delays."""
        if state not in self.known:
            self.known[state] = self._found(state)
        return self.known[state]

    def after(self, state):
        return {
            action: self.of(following)
            for action in self.game.actions(state)
            for _, following in self.game.outcomes(state, action)
        }

    def _found(self, state):
        if self.game.is_terminal(state):
            return self.game.payoff(state, 0), 0
        found = list(self.after(state).values())
        side = 1 if self.game.player(state) == 0 else -1
        value = side * max(side * number for number, _ in found)
        lengths = [length for number, length in found if number == value]
        return value, 1 + (min(lengths) if side * value > 0 else max(lengths))
