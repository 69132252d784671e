"""How likely a player is to reach what he wants, in a situation: a total, or to win."""

from __future__ import annotations

from typing import Any, Literal

import attrs

import gamedp
from gamedp.games.kniffel.adviser import Adviser
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.for_points import ForPoints
from gamedp.games.kniffel.prospects import Prospect
from gamedp.games.kniffel.remainder import Size, TooLargeError
from gamedp.games.kniffel.situation import Situation
from gamedp.games.kniffel.targets import Targets

__all__ = [
    "Opponent",
    "Outlook",
    "duel_of",
    "outlook_against",
    "outlook_for_points",
    "outlook_for_total",
]

SMALL_TABLE = 1_500_000
"""The last rounds are solved exactly without being asked for if this many contexts will do: for
some seconds."""

MOST_FREE = 8
"""Nor is that tried while the opponent has more free boxes: his turns alone would take longer."""


@attrs.frozen
class Opponent:
    """Whom to win against: the card, and how he plays.

    Parameters
    ----------
    card : Card
    plays_for : {"points", "victory"}
        What he wants: as many points as can be expected, whatever happens, or to win.
    is_next : bool
        Whether the next turn is his.
    draw : float
        What a draw counts for me; a victory counts 1.
    """

    card: Card
    plays_for: Literal["points", "victory"] = "points"
    is_next: bool = False
    draw: float = 0.5


@attrs.frozen(kw_only=True)
class Outlook:
    """The probability of what a player wants, and what every decision leaves of it.

    Attributes
    ----------
    situation : Situation
    goal : int or Opponent
        At least so many points in the end; or whom to win against.
    value : float
        What is reached if every decision is the one advised.
    lower, upper : float
        The best that can be reached is proven to lie between these.
    exact : bool
        Whether the advice is the best there is, and `value` the best that can be reached, but for
        rounding.
    options : tuple of Prospect
        All decisions, the best one first; none before the first throw, and when nothing depends on
        them.
    larger : Size or None
        If it is not exact: how large a table would make it so, or a larger one; None if nobody
        looked.
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
    adviser: Adviser, situation: Situation, total: int, **options: Any
) -> Outlook:
    """Return how likely at least `total` points are.

    Parameters
    ----------
    adviser : Adviser
    situation : Situation
    total : int
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
    adviser.expectation(situation)  # says what is wrong with the situation
    targets = Targets.of(situation.card, adviser.rules, **options)
    if situation.number > 0 and targets.is_open(total):
        found = targets.options(situation.dice, situation.number, total=total)
        return _decided(situation, total, found, exact=True)
    lower, upper = targets.bounds(total)
    return Outlook(
        situation=situation,
        goal=total,
        value=targets.at_least(total),
        lower=lower,
        upper=upper,
        exact=True,
    )


def outlook_against(
    adviser: Adviser,
    situation: Situation,
    opponent: Opponent,
    *,
    exact: bool = False,
    duel: Duel | None = None,
    **options: Any,
) -> Outlook:
    """Return how likely I am to win.

    Near the end, every decision knows both cards, and the outlook is exact. Before that, it is for
    an opponent who plays for points, and between two bounds: see :class:`Duel`.

    Parameters
    ----------
    adviser : Adviser
    situation : Situation
        Mine.
    opponent : Opponent
    exact : bool
        Whether to solve the rounds to come exactly even if that takes longer than some seconds, as
        it must if the opponent plays for victory.
    duel : Duel, optional
        Of the same two cards, from an earlier question: what it has solved is not solved again.
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
    >>> his = Opponent(Card.of("3 8 9 16 15 18 17 9 25 30 40 0 -"))
    >>> found = outlook_against(Adviser.of(), mine, his)
    >>> print(found.exact, found.best.name(), f"{found.value:.4f}")
    True 11 0.0...
    """
    if situation.number > 0 and opponent.is_next:
        message = "after a throw of mine the turn is mine; the next one is his before it only."
        raise gamedp.errors.InvalidParameterError(message)
    adviser.expectation(situation)  # says what is wrong with the situation
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
    """Return how likely a goal is if each decision is followed by play for points."""
    if situation.number > 0:
        found = play.options(situation.dice, situation.number)
        return _decided(situation, goal, found, exact=False)
    value = play.value
    lower = max(value - play.slack, 0.0)
    return Outlook(situation=situation, goal=goal, value=value, lower=lower, upper=1.0, exact=False)


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
        he_plays_for=opponent.plays_for, his_turn=opponent.is_next, max_contexts=max_contexts
    )
    if situation.number > 0:
        found = endgame.options(situation.dice, situation.number)
        return _decided(situation, opponent, found, exact=True)
    lower, upper = endgame.bounds()
    return Outlook(
        situation=situation,
        goal=opponent,
        value=endgame.value,
        lower=lower,
        upper=upper,
        exact=True,
    )


def _between_bounds(
    duel: Duel, situation: Situation, opponent: Opponent, larger: Size | None
) -> Outlook:
    if situation.number > 0:
        found = duel.options(situation.dice, situation.number, clairvoyant=True)
        return _decided(situation, opponent, found, exact=False, larger=larger)
    return Outlook(
        situation=situation,
        goal=opponent,
        value=duel.lower,
        lower=duel.lower,
        upper=duel.upper,
        exact=False,
        larger=larger,
    )


def _decided(
    situation: Situation,
    goal: int | Opponent,
    options: tuple[Prospect, ...],
    *,
    exact: bool,
    larger: Size | None = None,
) -> Outlook:
    """Make the outlook of a situation in which there is something to decide."""
    return Outlook(
        situation=situation,
        goal=goal,
        value=options[0].value,
        lower=max(each.lower for each in options),
        upper=max(each.upper for each in options),
        exact=exact,
        options=options,
        larger=larger,
    )
