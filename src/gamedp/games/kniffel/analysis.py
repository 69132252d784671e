"""Analysis of a game: the luck of each throw, and the loss of each decision."""

from __future__ import annotations

import math
from typing import Any

import attrs

from gamedp.games.kniffel.adviser import Adviser
from gamedp.games.kniffel.boxes import refuse, shown
from gamedp.games.kniffel.card import Situation
from gamedp.games.kniffel.prospects import Expectation, Option
from gamedp.games.kniffel.record import Record, RecordOfTwo


@attrs.frozen
class Decision:
    """A decision that was made, and the best one.

    Attributes
    ----------
    round : int
        The round, from 1.
    situation : Situation
    chosen, best : Option
    """

    round: int
    situation: Situation
    chosen: Option
    best: Option


@attrs.frozen
class Fortune:
    """A throw, and its effect.

    Attributes
    ----------
    round : int
        The round, from 1.
    number : int
        The number of the throw, from 1.
    thrown : tuple of int
        All dice on the table after it.
    luck : float
        The expectation after it minus that before.
    """

    round: int
    number: int
    thrown: tuple[int, ...]
    luck: float


@attrs.frozen
class Analysis:
    """The analysis of a game.

    The expectation at the start, plus the luck of all throws, minus the losses of all decisions, is
    the current expectation; at the end, the total.

    Attributes
    ----------
    record : Record
    start, now : Expectation
        The expectations at the start, and at the end of the record.
    decisions : tuple of Decision
    throws : tuple of Fortune
    """

    record: Record
    start: Expectation
    now: Expectation
    decisions: tuple[Decision, ...]
    throws: tuple[Fortune, ...]

    @property
    def handicap(self) -> float:
        """The expected points lost by wrong decisions so far."""
        return math.fsum(decision.chosen.loss for decision in self.decisions)

    @property
    def luck(self) -> float:
        """The points by which the throws have exceeded their expectation."""
        return math.fsum(throw.luck for throw in self.throws)

    @property
    def mistakes(self) -> tuple[Decision, ...]:
        """The decisions with losses, the worst first."""
        wrong = [decision for decision in self.decisions if decision.chosen.loss > 0]
        return tuple(sorted(wrong, key=lambda decision: -decision.chosen.loss))

    def to_dict(self, language: str | None = None) -> dict[str, Any]:
        """Return everything as numbers and texts that JSON has."""
        record = self.record
        language = language or record.rules.language
        return {
            "rules": attrs.asdict(record.rules),
            "seed": record.seed,
            "card": record.card.arguments,
            "further": record.card.further,
            "finished": record.is_over,
            "total": record.total,
            "start": attrs.asdict(self.start),
            "now": attrs.asdict(self.now),
            "luck": self.luck,
            "handicap": self.handicap,
            "decisions": [
                {
                    "round": decision.round,
                    "situation": decision.situation.arguments,
                    "further": decision.situation.card.further,
                    "decision": decision.chosen.kind,
                    "chosen": decision.chosen.name(language),
                    "points": decision.chosen.points,
                    "best": decision.best.name(language),
                    "value": decision.chosen.value,
                    "best_value": decision.best.value,
                    "loss": decision.chosen.loss,
                }
                for decision in self.decisions
            ],
            "throws": [
                {
                    "round": throw.round,
                    "throw": throw.number,
                    "dice": shown(throw.thrown),
                    "luck": throw.luck,
                }
                for throw in self.throws
            ],
        }


@attrs.frozen
class AnalysisOfTwo:
    """The analysis of a game of two: each player's points, independent of the other's.

    Attributes
    ----------
    game : RecordOfTwo
    players : tuple of two Analysis
    """

    game: RecordOfTwo
    players: tuple[Analysis, ...]

    def to_dict(self, language: str | None = None) -> dict[str, Any]:
        """Return everything as JSON values; players are 1 and 2."""
        game, finished = self.game, self.game.is_over
        return {
            "begins": game.begins + 1,
            "finished": finished,
            "winner": None if not finished or game.winner is None else game.winner + 1,
            "players": [each.to_dict(language) for each in self.players],
        }


def analyse_two(game: RecordOfTwo, adviser: Adviser) -> AnalysisOfTwo:
    """Analyse a game of two, each player's part as :func:`analyse` does.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the adviser is for other rules.

    Examples
    --------
    >>> game = RecordOfTwo((Record().thrown("11456").keeping("11"), Record()))
    >>> [round(each.handicap, 3) for each in analyse_two(game, Adviser.of()).players]
    [1.14, 0.0]
    """
    return AnalysisOfTwo(game, tuple(analyse(each, adviser) for each in game.records))


def analyse(record: Record, adviser: Adviser) -> Analysis:
    """Analyse a game: the luck of each throw, the loss of each decision.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the adviser is for other rules.

    Examples
    --------
    >>> adviser = Adviser.of()
    >>> record = Record(seed=1)
    >>> while record.waits_for != "nothing":
    ...     record = played_perfectly(record, adviser)
    >>> analysis = analyse(record, adviser)
    >>> analysis.handicap
    0.0
    >>> abs(analysis.start.value + analysis.luck - record.total) < 1e-9
    True
    """
    _check(record, adviser)
    decisions, throws = [], []
    start = adviser.expectation(Situation(record.start))
    before = start.value
    for step in record.steps:
        if step.thrown is not None:
            number = step.situation.number + 1
            after = adviser.expectation(Situation(step.situation.card, number, step.thrown)).value
            throws.append(Fortune(step.round, number, step.thrown, after - before))
            before = after
            continue
        what = step.kept if step.box is None else step.box
        chosen = adviser.option(step.situation, what)
        decisions.append(Decision(step.round, step.situation, chosen, adviser.best(step.situation)))
        before = chosen.value
    now = _expectation_of(record, adviser)
    return Analysis(record, start, now, tuple(decisions), tuple(throws))


def played_perfectly(record: Record, adviser: Adviser) -> Record:
    """Return the record with one more step: a throw by its seed, or the best decision.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the game is over, has no seed to throw by, or the adviser is for other rules.
    """
    _check(record, adviser)
    if record.waits_for == "throw":
        return record.thrown()
    best = adviser.best(record.situation)
    return record.decided(best.kept, best.box)


def _expectation_of(record: Record, adviser: Adviser) -> Expectation:
    """Return the expectation at the end of a record."""
    if record.waits_for != "throw" or record.situation.number == 0:
        return adviser.expectation(record.situation)
    return adviser.option(record.situation, record.kept).expectation


def _check(record: Record, adviser: Adviser) -> None:
    """Require the same rules, regardless of the language of the box names."""
    if attrs.evolve(record.rules, language=adviser.rules.language) != adviser.rules:
        refuse(f"the game is {record.rules}, and the adviser is for {adviser.rules}.")
