"""The reasons for the value of a decision: the expected points of each box after it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement

import attrs

import gamedp
from gamedp.games.kniffel.adviser import Adviser
from gamedp.games.kniffel.card import DICE, FACES, Situation
from gamedp.games.kniffel.prospects import Option
from gamedp.games.kniffel.rules import Sheet
from gamedp.games.kniffel.turn import Turn

__all__ = ["BoxOutlook", "Reason", "reasons"]


@attrs.frozen
class BoxOutlook:
    """The expected points of a free box.

    Attributes
    ----------
    box : int
        Its number, from 0.
    now : float
        The probability that this turn is entered there.
    points : float
        Its expected points at the end.
    """

    box: int
    now: float
    points: float


@attrs.frozen
class Reason:
    """The parts that add up to the value of a decision under perfect play afterwards.

    Attributes
    ----------
    option : Option
    entered : int
        The points on the card, without the bonus for the upper part.
    boxes : tuple of BoxOutlook
        All free boxes, in their order.
    bonus : float
        The expectation of the bonus for the upper part.
    further : float
        The expectation of bonuses for further Kniffels.
    """

    option: Option
    entered: int
    boxes: tuple[BoxOutlook, ...]
    bonus: float
    further: float

    @property
    def total(self) -> float:
        """The sum of all parts: the option's value, up to rounding."""
        points = [box.points for box in self.boxes]
        return math.fsum([self.entered, *points, self.bonus, self.further])


def reasons(
    adviser: Adviser,
    situation: Situation,
    options: Sequence[Option],
    *,
    progress: Callable[[gamedp.Progress], None] | None = None,
) -> list[Reason]:
    """Return the reasons for the values of some decisions.

    Perfect play is followed from the situation to the end of the game, for all options together:
    this takes seconds in the first round, and half as long in each later one.

    Parameters
    ----------
    adviser : Adviser
    situation : Situation
    options : sequence of Option
        Decisions in this situation.
    progress : callable, optional
        As for :func:`gamedp.solve`; it may raise to stop.

    Examples
    --------
    >>> situation = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 2 11166")
    >>> adviser = Adviser.of()
    >>> [reason] = reasons(adviser, situation, [adviser.option(situation, "111")])
    >>> [(box.box, box.now, round(box.points, 4)) for box in reason.boxes]
    [(11, 1.0, 1.3889)]
    >>> abs(reason.total - reason.option.value) < 1e-9
    True
    """
    rules, card = adviser.rules, situation.card
    sheet = card.sheet(rules)
    turns = [list(_ends(adviser, situation, option)) for option in options]
    starts: list[dict[Sheet, float]] = []
    for turn in turns:
        starts.append(defaultdict(float))
        for probability, end in turn:
            starts[-1][rules.following(sheet, end)] += probability
    found = gamedp.stages.expected_ends(adviser.solution, starts, progress=progress)
    result = []
    for option, turn, later in zip(options, turns, found, strict=True):
        now: dict[int, list[float]] = defaultdict(list)
        points: dict[int, list[float]] = defaultdict(list)
        further = [later.rewards]
        for probability, end in turn:
            now[end.box].append(probability)
            points[end.box].append(probability * end.points)
            further.append(probability * (rules.reward(sheet, end, 0) - end.points))
        for end, count in later.counts.items():
            points[end.box].append(count * end.points)
            further.append(-count * end.points)
        free = [box for box, entry in enumerate(card.entries) if entry is None]
        boxes = tuple(BoxOutlook(box, math.fsum(now[box]), math.fsum(points[box])) for box in free)
        bonuses = math.fsum(further) if rules.further_bonus else 0.0
        result.append(Reason(option, card.entered(rules), boxes, later.payoff, bonuses))
    return result


def _ends(adviser: Adviser, situation: Situation, option: Option) -> Iterator[tuple[float, Turn]]:
    """Yield the ends of a turn after a decision, with their probabilities."""
    card, rules = situation.card, adviser.rules
    reached = {situation.dice: 1.0}
    number, decided = situation.number, {situation.dice: option}
    while number < rules.throws:
        thrown: dict[tuple[int, ...], float] = defaultdict(float)
        for dice, probability in reached.items():
            for part, after in _throws_after(decided[dice].kept or dice):
                thrown[after] += probability * part
        number += 1
        reached = dict(thrown)
        decided = {dice: adviser.best(Situation(card, number, dice)) for dice in reached}
    sheet = card.sheet(rules)
    for dice, probability in reached.items():
        taken = decided[dice].box, decided[dice].points
        ends = rules.entries(sheet, dice)
        yield probability, next(end for end in ends if (end.box, end.points) == taken)


def _throws_after(stay: tuple[int, ...]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield the dice on the table after the other dice are thrown, with their probabilities."""
    left = DICE - sum(stay)
    for faces in combinations_with_replacement(range(FACES), left):
        counts = [faces.count(face) for face in range(FACES)]
        ways = math.factorial(left) / math.prod(math.factorial(count) for count in counts)
        after = tuple(count + more for count, more in zip(stay, counts, strict=True))
        yield ways / FACES**left, after
