"""Hypothesis strategies for random models and games, for property-based tests.

Needs hypothesis, which nothing else here does, so this module must be imported by its own name.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import gamedp
from gamedp.testing.table_game import TableGame

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["games", "models"]

WEIGHTS = (1, 2, 3, 1e-2, 1e2)
SCALES = (1.0, 1.0, 1e6, 1e-9)
SIDES = ((1,), (-1,), (0.5, -0.5))

SIZES = (0.1, 1 / 3, 1.0, 3.0, 1e6, 1e-9, 2.0**53, 1e16, 1e-150, 1e-300, 2.0**-1074)
"""The sizes of which hard numbers are multiples."""
SPLITS = ((1,) * 3, (1,) * 6, (1,) * 7, (1,) * 36, (1, 2, 7), (1, 1e12), (1, 2.0**40, 2.0**53))
"""Proportions in which hard probabilities divide one, unless they are equal."""


@st.composite
def models(  # noqa: PLR0913 - all that a model may have
    draw: st.DrawFn,
    *,
    max_states: int = 7,
    players: Sequence[int] = (1, 2),
    acyclic: bool | None = None,
    ends: bool = True,
    swaps: bool | None = None,
    rewards: bool = True,
    sure: bool = False,
    hard: bool = False,
    own: bool = False,
) -> gamedp.Model:
    """Draw a small model: up to `max_states` states with choices, and one or two terminal ones.

    Parameters
    ----------
    max_states : int
        The largest number of states with choices.
    players : sequence of int
        The numbers of players to draw from.
    acyclic : bool, optional
        Whether no state can recur; either, if not given.
    ends : bool
        Whether every choice may end the game immediately, so that play ends almost surely.
    swaps : bool, optional
        Whether two players may change places; either, if not given.
    rewards : bool
        Whether choices may have rewards.
    sure : bool
        Whether every choice is deterministic; unless `acyclic`, play may then go on for ever,
        whatever `ends` says.
    hard : bool
        Whether rounding matters: numbers are huge, tiny, or nearly opposite, probabilities have no
        finite binary form, many outcomes are equal, and rewards nearly cancel what follows, or the
        share of the constant sum.
    own : bool
        Whether two players have payoffs of their own, and no constant sum.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(models(acyclic=True))
    ... def test_no_state_comes_again(model):
    ...     assert model.structure.is_acyclic
    >>> test_no_state_comes_again()
    """
    num_players = draw(st.sampled_from(list(players)))
    inner = draw(st.integers(1, max_states))
    total = inner + draw(st.integers(1, 2))
    acyclic = draw(st.booleans()) if acyclic is None else acyclic
    own = num_players > 2 or (num_players == 2 and own)
    swapping = num_players == 2 and not own and (draw(st.booleans()) if swaps is None else swaps)
    scale = draw(st.sampled_from(SCALES))
    numbers = hard_numbers(draw) if hard else st.floats(-10, 10).map(lambda x: x * scale)
    columns = num_players if own else 1
    earned = st.lists(
        st.one_of(st.just(0.0), numbers) if rewards else st.just(0.0),
        min_size=columns,
        max_size=columns,
    )
    choices, offsets, successors, probabilities, gains = [0], [0], [], [], []
    for state in range(inner):
        for _ in range(draw(st.integers(1, 3))):
            first = state + 1 if acyclic else 0
            reached = draw(
                st.lists(
                    st.integers(first, total - 1),
                    min_size=1 if sure else 1 - ends,
                    max_size=1 if sure else 3,
                    unique=True,
                )
            )
            if ends and not sure:
                end = draw(st.integers(inner, total - 1))
                reached = [*(state_after for state_after in reached if state_after != end), end]
            if hard and not sure and reached:
                parts = draw(st.sampled_from(SPLITS))
                reached = [reached[place % len(reached)] for place in range(len(parts))]
                weights = list(draw(st.permutations(parts)))
            else:
                weights = [draw(st.sampled_from(WEIGHTS)) for _ in reached]
            for state_after, weight in zip(reached, weights, strict=True):
                signs = draw(st.sampled_from(SIDES[: 2 if sure else 3])) if swapping else (1,)
                successors += [state_after] * len(signs)
                probabilities += [sign * weight / sum(weights) for sign in signs]
            gains.append(draw(earned))
            offsets.append(len(successors))
        choices.append(len(gains))
    payoffs = [[draw(numbers) for _ in range(columns)] for _ in range(total - inner)]
    constant_sum = draw(numbers if hard else st.sampled_from([0.0, 1.0])) if swapping else 0.0
    for choice, gain in enumerate(gains if hard else []):
        if columns == 1 and draw(st.booleans()):
            # All that follows, as if it were the last payoff: a reward that takes it back.
            row = probabilities[offsets[choice] : offsets[choice + 1]]
            swapped = -sum(each for each in row if each < 0)
            gain[0] = -(constant_sum * swapped + sum(row) * payoffs[-1][0])
    return gamedp.Model.from_arrays(
        choices + [len(gains)] * (total - inner),
        offsets,
        successors,
        probabilities,
        rewards=gains if columns > 1 else [row[0] for row in gains],
        players=[draw(st.integers(0, num_players - 1)) for _ in range(total)],
        terminals=range(inner, total),
        payoffs=payoffs if columns > 1 else [row[0] for row in payoffs],
        num_players=num_players,
        constant_sum=None if own else constant_sum,
    )


def hard_numbers(draw: st.DrawFn) -> st.SearchStrategy[float]:
    """Return a strategy for small multiples of one or two sizes, or numbers next to them."""
    sizes = draw(st.lists(st.sampled_from(SIZES), min_size=1, max_size=2))
    towards = st.sampled_from((0.0, -math.inf, math.inf))
    multiples = st.builds(
        lambda size, count: size * count, st.sampled_from(sizes), st.integers(-3, 3)
    )
    return multiples | st.builds(math.nextafter, multiples, towards)


def games(**parameters: Any) -> st.SearchStrategy[TableGame]:
    """Draw a small game whose rules are tables and compile; parameters as for :func:`models`.

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> from gamedp.testing import check_game
    >>> @settings(max_examples=5)
    ... @given(games(players=[3]))
    ... def test_the_conformance_kit(game):
    ...     check_game(game, compile=False)
    >>> test_the_conformance_kit()
    """
    return models(**parameters).map(TableGame.of)
