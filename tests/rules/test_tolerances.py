"""What may differ by rounding, by the size of the numbers: small, large and negative ones."""

from typing import NamedTuple

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.rules.game import Rules
from gamedp.rules.symmetry import counterparts

MODES = ["never", "always"]

NEAR, FAR = 5e-10, 2e-9
"""Parts of the larger number, or of one: near enough to be rounding, and too far from it."""


# Numbers of two players must add up ---------------------------------------------------------------

PAIRS = [
    (1e12, -1e12, 1e12),
    (-1e12, 1e12, 1e12),
    (-1e12, -3e12, 3e12),
    (-3e12, -1e12, 3e12),
    (1e12, 1.0, 1e12),
    (1e-3, -1e-3, 1.0),
    (-0.25, -0.5, 1.0),
    (0.0, 0.0, 1.0),
]
"""The first player's number, the second one's, and the size that the tolerance goes by."""


@pytest.mark.parametrize(("first", "second", "size"), PAIRS)
@pytest.mark.parametrize("part", [NEAR, -NEAR, FAR, -FAR])
def test_columns_of_two_players_add_up_by_their_size(first, second, size, part):
    pair, total = [[first, second + part * size]], first + second

    def payoffs():
        return gamedp.Model.from_arrays(
            [0, 0], [0], [], [], terminals=[0], payoffs=pair, num_players=2, constant_sum=total
        )

    if abs(part) == NEAR:
        assert payoffs().payoffs.tolist() == [first]
    else:
        with pytest.raises(gamedp.InvalidModelError, match="must add up to"):
            payoffs()


@pytest.mark.parametrize(("number", "size"), [(1e12, 1e12), (-1e12, 1e12), (1e-3, 1.0), (0.0, 1.0)])
@pytest.mark.parametrize("part", [NEAR, -NEAR, FAR, -FAR])
def test_rewards_of_two_players_add_up_by_their_size(number, size, part):
    def rewards():
        pair = [[number, -number + part * size]]
        return gamedp.Model.from_arrays(
            [0, 1], [0, 1], [0], [1.0], rewards=pair, num_players=2
        ).rewards

    if abs(part) == NEAR:
        assert rewards().tolist() == [number]
    else:
        with pytest.raises(gamedp.InvalidModelError, match="must add up to"):
            rewards()


class Spot(NamedTuple):
    """A number of steps, and whether the players have changed places."""

    step: int
    mirrored: int


@attrs.frozen
class Paid:
    """One step, which pays; and a payoff at the end."""

    rewards: tuple[float, float] = (0.0, 0.0)
    payoffs: tuple[float, float] = (0.0, 0.0)
    constant_sum: float = 0.0
    num_players: int = 2

    def initial_state(self):
        """Return the start."""
        return Spot(0, 0)

    def is_terminal(self, state):
        """Say whether the step has been taken."""
        return state.step == 1

    def player(self, state):
        """Return the one who moves."""
        return 0

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the end."""
        yield 1.0, Spot(1, 0)

    def payoff(self, state, player):
        """Return the payoff of a player."""
        return self.payoffs[player]

    def reward(self, state, action, player):
        """Return the reward of a player."""
        return self.rewards[player]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("first", "second", "size"), PAIRS)
def test_rules_of_two_players_add_up_by_the_size_of_their_numbers(first, second, size, mode):
    total = first + second
    for part in (NEAR, -NEAR, FAR, -FAR):
        payoffs = Paid(payoffs=(first, second + part * size), constant_sum=total)
        opposite = first, -first + part * max(1.0, abs(first))
        for game, words in (
            (payoffs, "the payoffs in"),
            (Paid(rewards=opposite), "the rewards of"),
        ):
            if abs(part) == NEAR:
                model = gamedp.compile(game, compile=mode)
                assert first in {model.payoffs[0], model.rewards[0]}
            else:
                with pytest.raises(gamedp.InvalidModelError, match=words):
                    gamedp.compile(game, compile=mode)


# Symmetric states ---------------------------------------------------------------------------------


@attrs.frozen
class Mirrored:
    """A state and its mirror image, in which the other player moves and all signs are opposite."""

    reward_here: float
    reward_there: float
    end: float = 0.0
    ends_swapped: bool = False
    constant_sum: float = 0.0
    num_players: int = 2

    def initial_state(self):
        """Return the state as it is."""
        return Spot(0, 0)

    def is_terminal(self, state):
        """Say whether the step has been taken."""
        return state.step == 1

    def player(self, state):
        """Return who moves."""
        return state.mirrored

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the end: the same one for both, or the mirror image of it."""
        yield 1.0, Spot(1, 0 if self.ends_swapped else state.mirrored)

    def reward(self, state, action, player):
        """Return what player 0 earns, and its opposite."""
        earned = -self.reward_there if state.mirrored else self.reward_here
        return earned if player == 0 else -earned

    def payoff(self, state, player):
        """Return what player 0 gets at the end, and the rest."""
        first = self.constant_sum - self.end if state.mirrored else self.end
        return first if player == 0 else self.constant_sum - first

    def canonical(self, state):
        """Return the state that is not mirrored."""
        return Spot(state.step, 0), bool(state.mirrored)


def are_symmetric(game):
    """Say whether a state and its mirror image pass for symmetric."""
    try:
        found = counterparts(Rules(game), Spot(0, 1), Spot(0, 0), swapped=True)
    except gamedp.InvalidModelError:
        return False
    assert found.of_state == found.of_representative == {0: 0}
    return True


@pytest.mark.parametrize(
    ("number", "size"), [(1e12, 1e12), (-1e12, 1e12), (1e-3, 1.0), (-0.5, 1.0)]
)
@pytest.mark.parametrize("part", [NEAR, -NEAR, FAR, -FAR])
def test_symmetric_rewards_agree_by_their_size(number, size, part):
    game = Mirrored(number, number + part * size)
    assert are_symmetric(game) == (abs(part) == NEAR)
    assert are_symmetric(Mirrored(number + part * size, number)) == (abs(part) == NEAR)


@pytest.mark.parametrize(
    ("constant_sum", "size"), [(0.0, 1.0), (1e12, 1e12), (-1e12, 1e12), (1e-3, 1.0), (-0.5, 1.0)]
)
@pytest.mark.parametrize("part", [NEAR, -NEAR, FAR, -FAR])
def test_a_draw_is_its_own_mirror_image_by_its_size(constant_sum, size, part):
    """Both lead to one end as it is: that is no difference where the end is a draw."""
    end = (constant_sum + part * size) / 2
    game = Mirrored(0.0, 0.0, end=end, ends_swapped=True, constant_sum=constant_sum)
    assert are_symmetric(game) == (abs(part) == NEAR)


def test_sums_of_probabilities_have_the_same_tolerance_everywhere():
    for part in (NEAR, -NEAR, FAR, -FAR):
        probabilities = np.array([0.5, 0.5 + part])

        def made(probabilities=probabilities):
            return gamedp.Model.from_arrays(
                [0, 1, 1, 1], [0, 2], [1, 2], probabilities, terminals=[1, 2], payoffs=[0.0, 0.0]
            )

        if abs(part) == NEAR:
            assert abs(made().probabilities.sum() - 1) < 1e-15
        else:
            with pytest.raises(gamedp.InvalidModelError, match="sum to 1 within 1e-09"):
                made()
