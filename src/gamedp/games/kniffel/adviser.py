"""The adviser: the value of every keep and every entry, the losses of others, and the reasons."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import attrs

import gamedp
from gamedp.errors import shown as in_short
from gamedp.games.kniffel.boxes import box_names, box_number, faces_of, kept, refuse, shown
from gamedp.games.kniffel.card import BOXES, DICE, FACES, Card, Situation
from gamedp.games.kniffel.prospects import Expectation, Option, with_losses
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.turn import Turn

MOST_KNOWN = 1024


@attrs.frozen(eq=False)
class Adviser:
    """The values of all decisions in all situations of a game by given rules.

    Parameters
    ----------
    solution : gamedp.StagedSolution
        The solution of a :class:`Kniffel` with five ordinary dice. :meth:`of` computes it.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If it is the solution of another game.

    Examples
    --------
    >>> adviser = Adviser.of(Kniffel())
    >>> situation = Situation.of("- 8 - 16 15 - 15 9 25 30 40 - - 3 13345")
    >>> best = adviser.best(situation)
    >>> print(best.name(), round(best.value, 6))
    Dreier 239.713069
    >>> for option in adviser.options(situation)[1:3]:
    ...     print(option.name("en"), round(option.value, 6), round(option.loss, 6))
    Ones 238.187854 1.525215
    Yahtzee 236.554161 3.158908
    """

    solution: Any = attrs.field(repr=False)
    rules: Kniffel = attrs.field(init=False)
    _known: dict[Situation, tuple[Option, ...]] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Take the rules from the solution."""
        rules = getattr(getattr(getattr(self.solution, "model", None), "rules", None), "game", None)
        if not isinstance(rules, Kniffel):
            refuse(
                f"an adviser needs the solution of a Kniffel, not {in_short(self.solution)}; "
                "Adviser.of(Kniffel()) makes one."
            )
        Card().sheet(rules)  # reports what is wrong with other dice
        object.__setattr__(self, "rules", rules)

    @classmethod
    def of(cls, rules: Kniffel | None = None, **options: Any) -> Adviser:
        """Solve a game and return its adviser.

        Parameters
        ----------
        rules : Kniffel, optional
            Those of the article if not given.
        **options
            As for :func:`gamedp.solve`.
        """
        game = Kniffel() if rules is None else rules
        Card().sheet(game)  # before it is solved in vain
        return cls(gamedp.solve(game, **options))

    def expectation(self, situation: Situation) -> Expectation:
        """Return the expectation in a situation.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the rules do not allow the situation.

        Examples
        --------
        >>> adviser = Adviser.of()
        >>> round(adviser.expectation(Situation()).value, 6)
        245.904728
        """
        options = self.options(situation)
        if not options:
            sheet = situation.card.sheet(self.rules)
            value, bounds = self.solution.value(sheet), self.solution.bounds(sheet)
            return Expectation(**self._total(situation.card, value, *bounds))
        upper = max(option.upper for option in options)
        return attrs.evolve(options[0].expectation, upper=upper)

    def options(self, situation: Situation) -> tuple[Option, ...]:
        """Return all possible decisions, the best one first.

        Before the first throw, and when the card is full, there are none. Among decisions none of
        which is proven to be worse than another, the one that keeps the most dice comes first.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the rules do not allow the situation.
        """
        found = self._known.get(situation)
        if found is None:
            found = _sorted(list(self._options(situation)))
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[situation] = found  # another thread may clear them now
        return found

    def best(self, situation: Situation) -> Option:
        """Return the best decision.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the rules do not allow the situation, or there is nothing to decide.
        """
        options = self.options(situation)
        if not options:
            refuse(
                "the card is full, and there is nothing more to decide."
                if None not in situation.card.entries
                else "before the first throw there is nothing to decide; say what it shows."
            )
        return options[0]

    def expected_after(
        self, situation: Situation
    ) -> dict[tuple[tuple[int, ...] | None, int | None, int], float]:
        """Return the expectation after each decision, given as its keep, or its box and its points.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the rules do not allow the situation.
        """
        return {option.decision: option.value for option in self.options(situation)}

    def option(self, situation: Situation, decision: str | int | tuple[int, ...]) -> Option:
        """Return one decision and its value.

        Parameters
        ----------
        situation : Situation
        decision : str, int or tuple of int
            After the last throw, a box: its name, or its number from 0. Otherwise the dice that are
            kept: their faces as a text, or their number by face.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the decision is not possible.

        Examples
        --------
        >>> adviser = Adviser.of()
        >>> situation = Situation.of("- 8 - 16 15 - 15 9 25 30 40 - - 1 11456")
        >>> option = adviser.option(situation, "11")
        >>> print(round(option.rest, 6), round(option.loss, 6), adviser.best(situation).name())
        85.965259 0.868221 6
        """
        self.best(situation)
        if situation.number < self.rules.throws:
            dice = situation.dice
            if isinstance(decision, tuple) and len(decision) == len(dice):
                stay = kept(faces_of(decision), dice)
            else:
                stay = kept(str(decision), dice)
            return next(each for each in self.options(situation) if each.kept == stay)
        box = box_number(decision) if isinstance(decision, str) else decision
        for option in self.options(situation):
            if option.box == box:
                return option
        names = box_names(self.rules.language)
        word = names[box] if isinstance(box, int) and 0 <= box < BOXES else repr(box)
        allowed = ", ".join(
            name
            for number, name in enumerate(names)
            if any(option.box == number for option in self.options(situation))
        )
        return refuse(f"{shown(situation.dice)} cannot be entered in {word}; it can in {allowed}.")

    def loss(self, situation: Situation, decision: str | int | tuple[int, ...]) -> float:
        """Return the expected points that a decision loses; see :meth:`option`."""
        return self.option(situation, decision).loss

    def _options(self, situation: Situation) -> Iterator[Option]:
        rules, card = self.rules, situation.card
        if situation.number > rules.throws:
            refuse(
                f"these rules have {rules.throws} throws a turn, and there is no throw "
                f"{situation.number}."
            )
        sheet = card.sheet(rules)
        if situation.number == rules.throws:
            yield from self._entries(card, sheet, situation.dice)
        elif situation.number > 0:
            inside, turn = self.solution.inside(sheet), rules.stage()
            left = rules.throws - situation.number
            for stay in product(*(range(count + 1) for count in situation.dice)):
                index, _ = inside.model.index(turn.on_the_table(left, stay))
                numbers = inside.values[index], inside.lower[index], inside.upper[index]
                yield Option(**self._total(card, *map(float, numbers)), kept=stay)

    def _entries(self, card: Card, sheet: Sheet, dice: tuple[int, ...]) -> Iterator[Option]:
        for end in self.rules.entries(sheet, dice):
            following = self.rules.following(sheet, end)
            reward = self.rules.reward(sheet, end, 0)
            lower, upper = self.solution.bounds(following)
            total = self._total(
                card,
                reward + self.solution.value(following),
                _sum(reward, lower, -math.inf),
                _sum(reward, upper, math.inf),
            )
            yield Option(**total, box=end.box, points=end.points)

    def _total(self, card: Card, rest: float, lower: float, upper: float) -> dict[str, Any]:
        entered = card.entered(self.rules)
        return {
            "value": entered + rest,
            "lower": _sum(entered, lower, -math.inf),
            "upper": _sum(entered, upper, math.inf),
            "rest": rest,
        }


def _sorted(options: list[Option]) -> tuple[Option, ...]:
    """Sort options and fill in their losses."""
    if not options:
        return ()
    return tuple(
        sorted(
            with_losses(options, lambda option: option.rest),
            key=lambda option: (
                (option.loss,)
                if option.loss
                else (option.loss, -sum(option.kept or ()), -option.points)
            ),
        )
    )


def _sum(whole: float, bound: float, direction: float) -> float:
    """Add a bound to an integer and round outwards."""
    total = whole + bound
    return total if bound.is_integer() else math.nextafter(total, direction)


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
