"""Checks of the places in tables that a game gives its positions, one position at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.rules.game import Rules, numbers_positions
from gamedp.tables.numbered_plan import NumberedPlan, check_numbers, number_in_tier
from gamedp.tables.plan import Box, refuse_rise, tier_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Places"]


class Places:
    """Where a game says that its positions stand, as :func:`tabulate` asks for it.

    No table is made: :func:`gamedp.testing.check_game` checks by these what it finds in play.

    Parameters
    ----------
    game
        As for :func:`tabulate`.

    Raises
    ------
    UnsupportedProblemError
        If tables cannot be made of the game.
    InvalidModelError, InvalidParameterError
        If the box, or a size of a tier, is none.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import State, Wubbel
    >>> places = gamedp.tables.Places(Wubbel.pig(20))
    >>> places.tier(State(player=0, own=12, opponent=15, turn=3))
    13
    >>> places.check(State(player=0, own=12, opponent=15, turn=3))
    """

    def __init__(self, game: Any) -> None:
        self._rules = Rules(game)
        self._plan = NumberedPlan.of(game) if numbers_positions(game) else Box.of_game(game)
        self._tiers: dict[Any, int] = {}

    def tier(self, state: Any) -> int:
        """Return the tier of a position in which play goes on, after a check of where it stands.

        Raises
        ------
        InvalidModelError
            If its tier is not an integer, or not that of its representative; if it is outside the
            box, or denied by ``is_state``; if it has a number that does not exist, or that is not
            the number of ``tier_state`` there.
        """
        tier = self._tiers.get(state)
        if tier is None:
            after, _ = self._rules.canonical(state)
            tier, own = tier_of(self._rules, after), tier_of(self._rules, state)
            if own != tier:
                message = (
                    f"canonical({shown(state)}) is {shown(after)}, which is of tier {tier} and not "
                    f"{own}; a state and its representative must be of one tier."
                )
                raise InvalidModelError(message)
            if isinstance(self._plan, Box):
                self._check_box(self._plan, after)
            elif tier < len(self._plan.sizes):  # there is no table above
                index = number_in_tier(self._rules.game, after, tier, self._plan.sizes)
                check_numbers(self._rules, tier, index)
            self._tiers[state] = tier
        return tier

    @staticmethod
    def _check_box(box: Box, state: Any) -> None:
        try:
            box.fields_within(state)
        except UnknownStateError as error:
            raise InvalidModelError(str(error)) from None
        if not box.is_position(state):
            message = f"{shown(state)} is not a position: is_state is false there."
            raise InvalidModelError(message)

    def check(self, state: Any) -> None:
        """Check where a position stands in which play goes on, and all that it leads to.

        Raises
        ------
        InvalidModelError
            As of :meth:`tier`, also after an action; if an action raises the tier; or if another
            position with its number goes on in another way.
        """
        game, plan = self._rules.game, self._plan
        tier = self.tier(state)
        for action in game.actions(state):
            way = f"action {shown(action)} in {shown(state)}"
            for after, _ in self._following(state, action, 0):
                if not game.is_terminal(after):
                    self._check_step(tier, way, after)
        if isinstance(plan, NumberedPlan) and tier < len(plan.sizes):
            self._check_twin(self._rules.canonical(state)[0], tier)

    def _check_step(self, tier: int, way: str, after: Any) -> None:
        risen = tier_of(self._rules, after)
        if risen > tier or (risen < 0 and isinstance(self._plan, NumberedPlan)):
            refuse_rise(way, after, risen, tier)
        try:
            self.tier(after)
        except InvalidModelError as error:
            message = f"{way} leads to {shown(after)}. {error}"
            raise InvalidModelError(message) from None

    def _check_twin(self, state: Any, tier: int) -> None:
        """Check that the position of a state's number goes on in the same way."""
        game = self._rules.game
        index = game.tier_index(state)
        other = game.tier_state(tier, index)
        if other == state or hasattr(game, "ending_range"):  # more may depend on what is settled
            return
        here, there = self._ways(state), self._ways(other)
        for one, ways, others in ((state, here, there), (other, there, here)):
            for way in ways.keys() - others.keys():
                message = (
                    f"{shown(state)} and {shown(other)}, which is tier_state({tier}, {index}), "
                    f"have one number, but action {shown(ways[way])} in {shown(one)} leads to "
                    "another number, or earns something else, than all in the other one. Positions "
                    "with one number may differ in settled() and in who is to move, but not in "
                    "what follows."
                )
                raise InvalidModelError(message)

    def _ways(self, state: Any) -> dict[Any, Any]:
        """Return what the mover earns by each way on, and the number after it; with an action."""
        rules, game = self._rules, self._rules.game
        if game.is_terminal(state):
            return {float(game.payoff(state, 0)): None}
        mover = rules.player(state)
        settled, ways = game.settled(state, mover), {}
        for action in game.actions(state):
            reward = rules.reward(state, action, mover)
            for after, player in self._following(state, action, mover):
                if game.is_terminal(after):
                    way: Any = reward + float(game.payoff(after, player)) - settled
                else:
                    earned = reward + float(game.settled(after, player)) - settled
                    moves_again = rules.player(after) == player
                    way = game.tier(after), game.tier_index(after), moves_again, earned
                ways[way] = action
        return ways

    def _following(self, state: Any, action: Any, player: int) -> Iterator[tuple[Any, int]]:
        """Yield what an action may lead to, and which player one is there."""
        for probability, successor in self._rules.game.outcomes(state, action):
            if probability > 0:
                after, swapped = self._rules.canonical(successor)
                yield after, 1 - player if swapped else player

    def drawn(self, samples: int, generator: np.random.Generator) -> Iterator[Any]:
        """Yield the positions at some places drawn at random, as far as there are any there.

        Play need not lead to them, but they are in the tables.
        """
        plan = self._plan
        for _ in range(samples):
            if isinstance(plan, Box):
                fields = [int(generator.integers(*each, endpoint=True)) for each in plan.box]
                state = plan.layout.build(iter(fields))
                if not plan.is_position(state):
                    continue
            else:
                tier = int(generator.choice(np.flatnonzero(plan.sizes)))
                state = plan.state(tier, int(generator.integers(plan.sizes[tier])))
            if not self._rules.game.is_terminal(state):
                yield state
