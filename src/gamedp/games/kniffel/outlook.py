"""The probability that a player reaches a goal in a situation: a total, or a win."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import attrs

from gamedp.games.kniffel.adviser import Adviser
from gamedp.games.kniffel.boxes import refuse
from gamedp.games.kniffel.card import Card, Situation
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.prospects import Prospect
from gamedp.games.kniffel.remainder import Size, TooLargeError
from gamedp.games.kniffel.targets import ForPoints, Targets

SMALL_TABLE = 1_500_000
"""Largest number of contexts for which the last rounds are solved exactly without a request: this
takes some seconds."""

MOST_FREE = 8
"""Largest number of the opponent's free boxes for which that is tried: with more, the
opponent's turns alone take longer."""


@attrs.frozen
class Opponent:
    """The opponent: the card, and the way of playing.

    Parameters
    ----------
    card : Card
    plays_for : {"points", "victory"}
        The opponent's goal: the most expected points in any case, or to win.
    is_next : bool
        Whether the next turn is the opponent's.
    draw : float
        The value of a draw for me; a victory counts 1.
    """

    card: Card
    plays_for: Literal["points", "victory"] = "points"
    is_next: bool = False
    draw: float = 0.5


@attrs.frozen(kw_only=True)
class Outlook:
    """The probability that a player reaches a goal, and the probability after every decision.

    Attributes
    ----------
    situation : Situation
    goal : int or Opponent
        The least total to reach, or the opponent to beat.
    value : float
        The probability if every decision follows the advice.
    lower, upper : float
        Proven bounds of the best probability.
    exact : bool
        Whether the advice is optimal, and `value` the best probability, up to rounding.
    options : tuple of Prospect
        All decisions, the best one first; empty before the first throw, and when nothing depends on
        them.
    larger : Size or None
        If it is not exact, the size of a table that would make it so, or a larger one; None if it
        was not computed.
    """

    situation: Situation
    goal: int | Opponent
    value: float
    lower: float
    upper: float
    exact: bool
    options: tuple[Prospect, ...] = ()
    larger: Size | None = None

    @property
    def best(self) -> Prospect | None:
        """The best decision; None if there is nothing to decide."""
        return self.options[0] if self.options else None


def outlook_for_total(
    adviser: Adviser,
    situation: Situation,
    total: int,
    *,
    targets: Targets | None = None,
    **options: Any,
) -> Outlook:
    """Return the probability of at least `total` points.

    Parameters
    ----------
    adviser : Adviser
    situation : Situation
    total : int
    targets : Targets, optional
        The targets of the same card from an earlier query.
    **options
        `max_contexts`, `compile` and `progress`, as for :class:`Targets`.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the rules do not allow the situation, or the table would be too large.

    Examples
    --------
    >>> situation = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 2 11166")
    >>> found = outlook_for_total(Adviser.of(), situation, 50)
    >>> found.best.name(), round(1 / found.value)
    ('111', 36)
    """
    adviser.expectation(situation)  # reports what is wrong with the situation
    targets = targets or Targets.of(situation.card, adviser.rules, **options)
    found: tuple[Prospect, ...] = ()
    if situation.number > 0 and targets.is_open(total):
        found = targets.options(situation.dice, situation.number, total=total)
    whole = targets.at_least(total), *targets.bounds(total)
    return _outlook(situation, total, found, lambda: whole, exact=True)


def outlook_against(
    adviser: Adviser,
    situation: Situation,
    opponent: Opponent,
    *,
    exact: bool = False,
    duel: Duel | None = None,
    **options: Any,
) -> Outlook:
    """Return the probability that I win.

    Near the end, every decision takes both cards into account, and the outlook is exact. Before
    that, it assumes an opponent who plays for points, and lies between two bounds: see
    :class:`Duel`.

    Parameters
    ----------
    adviser : Adviser
    situation : Situation
        Mine.
    opponent : Opponent
    exact : bool
        Whether to solve the remaining rounds exactly even if that takes more than some seconds,
        which is required if the opponent plays for victory.
    duel : Duel, optional
        The duel of the same two cards from an earlier query; its tables are reused.
    **options
        `max_contexts`, `compile` and `progress`, as for :class:`Duel`.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the rules do not allow the situation or the opponent's card, it is my turn and not mine,
        or a table would be too large.

    Examples
    --------
    >>> mine = Situation.of("- 8 9 16 15 18 15 9 25 30 40 0 20 2 11266")
    >>> other = Opponent(Card.of("3 8 9 16 15 18 17 9 25 30 40 0 -"))
    >>> found = outlook_against(Adviser.of(), mine, other)
    >>> print(found.exact, found.best.name(), f"{found.value:.4f}")
    True 11 0.0...
    """
    if situation.number > 0 and opponent.is_next:
        refuse("is_next is for a situation before my first throw: after a throw, the turn is mine.")
    adviser.expectation(situation)  # reports what is wrong with the situation
    if duel is None:
        duel = duel_of(adviser, situation.card, opponent, **options)
    if exact or opponent.plays_for == "victory":
        return _exactly(duel, situation, opponent, duel.max_contexts)
    if len(opponent.card.free_boxes()) > MOST_FREE:
        return _between_bounds(duel, situation, opponent, None)
    try:
        return _exactly(duel, situation, opponent, min(duel.max_contexts, SMALL_TABLE))
    except TooLargeError as error:
        return _between_bounds(duel, situation, opponent, error.size)


def outlook_for_points(play: ForPoints, situation: Situation, goal: int | Opponent) -> Outlook:
    """Return the probability of a goal if each decision is followed by play for points."""
    found = play.options(situation.dice, situation.number) if situation.number > 0 else ()
    return _outlook(
        situation,
        goal,
        found,
        lambda: (play.value, max(play.value - play.slack, 0.0), 1.0),
        exact=False,
    )


def duel_of(adviser: Adviser, card: Card, opponent: Opponent, **options: Any) -> Duel:
    """Return the duel of a card and an opponent, by the rules of the adviser."""
    return Duel.of(
        card,
        opponent.card,
        adviser.rules,
        draw=opponent.draw,
        solution=adviser.solution,
        **options,
    )


def _exactly(duel: Duel, situation: Situation, opponent: Opponent, max_contexts: float) -> Outlook:
    endgame = duel.endgame(
        opponent_goal=opponent.plays_for,
        opponent_to_move=opponent.is_next,
        max_contexts=max_contexts,
    )
    found = endgame.options(situation.dice, situation.number) if situation.number > 0 else ()
    whole = endgame.value, *endgame.bounds()
    return _outlook(situation, opponent, found, lambda: whole, exact=True)


def _between_bounds(
    duel: Duel, situation: Situation, opponent: Opponent, larger: Size | None
) -> Outlook:
    found: tuple[Prospect, ...] = ()
    if situation.number > 0:
        found = duel.options(situation.dice, situation.number, clairvoyant=True)

    def whole() -> tuple[float, float, float]:
        return duel.lower, duel.lower, duel.upper

    return _outlook(situation, opponent, found, whole, exact=False, larger=larger)


def _outlook(
    situation: Situation,
    goal: int | Opponent,
    options: tuple[Prospect, ...],
    whole: Callable[[], tuple[float, float, float]],
    *,
    exact: bool,
    larger: Size | None = None,
) -> Outlook:
    """Return the outlook of a situation by its decisions; by a value and its bounds without."""
    numbers = [(each.value, each.lower, each.upper) for each in options] or [whole()]
    values, lowers, uppers = zip(*numbers, strict=True)
    return Outlook(
        situation=situation,
        goal=goal,
        value=values[0],
        lower=max(lowers),
        upper=max(uppers),
        exact=exact,
        options=options,
        larger=larger,
    )
