"""Records of games of two at one sheet: a record of each, and the player who began."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import attrs

import gamedp
from gamedp.errors import shown
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.record import (
    Record,
    Round,
    Step,
    as_text,
    format_of,
    load_text,
    read_lines,
    save_text,
)
from gamedp.games.kniffel.rules import Kniffel

__all__ = ["RecordOfTwo", "StepOfTwo", "load_record"]

FORMAT = "gamedp-kniffel-record-of-two"


class StepOfTwo(NamedTuple):
    """One event in a game of two, and its player, 0 or 1."""

    player: int
    step: Step


def _as_pair(records: Iterable[Record]) -> tuple[Record, ...]:
    return tuple(records)


@attrs.frozen
class RecordOfTwo:
    """The record of a game of two players at one sheet, finished or in progress.

    The players take turns until the card of one is full; the other one then continues alone.

    Parameters
    ----------
    records : tuple of two Record
        The record of each player, by the same rules.
    begins : int
        The player who begins, 0 or 1.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the game is impossible.

    Examples
    --------
    >>> game = RecordOfTwo((Record(seed=7), Record(seed=8)))
    >>> game = game.with_record(game.record.thrown().keeping("66").thrown())
    >>> game.turn, game.record.waits_for
    (0, 'keep')
    """

    records: tuple[Record, ...] = attrs.field(converter=_as_pair)
    begins: int = attrs.field(default=0)

    @records.validator
    def _play_by_the_same_rules(self, _attribute: object, records: tuple[Record, ...]) -> None:
        if len(records) != 2:
            message = f"a game of two has two records, not {len(records)}."
            raise gamedp.errors.InvalidParameterError(message)
        if records[0].rules != records[1].rules:
            message = "both players must play by the same rules."
            raise gamedp.errors.InvalidParameterError(message)

    @begins.validator
    def _is_a_player(self, _attribute: object, begins: int) -> None:
        if begins not in {0, 1}:
            message = f"begins must be 0 or 1, not {shown(begins)}."
            raise gamedp.errors.InvalidParameterError(message)

    def __attrs_post_init__(self) -> None:
        """Refuse rounds that were not played in turns."""
        if len(self.order) != sum(len(record.rounds) for record in self.records):
            message = "the rounds are not played in turns."
            raise gamedp.errors.InvalidParameterError(message)

    @property
    def rules(self) -> Kniffel:
        """The rules by which both play."""
        return self.records[0].rules

    @functools.cached_property
    def order(self) -> tuple[int, ...]:
        """The player of each round, in the order of play."""
        return tuple(self._in_turns())

    @functools.cached_property
    def turn(self) -> int:
        """The player whose turn it is, 0 or 1; when both cards are full, the last one."""
        last = self.order[-1] if self.order else None
        if last is not None and self.records[last].rounds[-1].box is None:
            return last
        following = self.begins if last is None else 1 - last
        others = [following, 1 - following]
        return next((each for each in others if not self.records[each].is_over), 1 - following)

    @property
    def record(self) -> Record:
        """The record of the player whose turn it is."""
        return self.records[self.turn]

    @property
    def is_over(self) -> bool:
        """Whether both cards are full."""
        return self.record.is_over

    @property
    def winner(self) -> int | None:
        """The player with more points, 0 or 1; None for a draw."""
        first, second = (record.total for record in self.records)
        return None if first == second else int(second > first)

    @property
    def steps(self) -> Iterator[StepOfTwo]:
        """All steps, in order."""
        done = [0, 0]
        for player in self.order:
            done[player] += 1
            for step in self.records[player].steps:
                if step.round == done[player]:
                    yield StepOfTwo(player, step)

    def with_record(self, record: Record) -> RecordOfTwo:
        """Return the game with a new record of the player whose turn it is."""
        pair = list(self.records)
        pair[self.turn] = record
        return attrs.evolve(self, records=pair)

    def taken_back(self) -> RecordOfTwo:
        """Return the game without its last step; the same one if there is none."""
        if not self.order:
            return self
        pair, last = list(self.records), self.order[-1]
        pair[last] = pair[last].taken_back()
        return attrs.evolve(self, records=pair)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the game to a file, as :meth:`Record.save` does."""
        save_text(path, self.to_text())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RecordOfTwo:
        """Read a file that :meth:`save` has written; errors are those of :meth:`Record.load`."""
        return load_text(path, cls.from_text)

    def to_text(self) -> str:
        """Return the text that :meth:`save` writes."""
        head = {
            "rules": attrs.asdict(self.rules),
            "seeds": [record.seed for record in self.records],
            "cards": [record.start.arguments for record in self.records],
            "further": [record.start.further for record in self.records],
            "begins": self.begins + 1,
        }
        rounds = [iter(record.rounds) for record in self.records]
        lines = [
            {"player": player + 1} | next(rounds[player]).to_line(self.rules.language)
            for player in self.order
        ]
        return as_text(FORMAT, head, lines)

    @classmethod
    def from_text(cls, text: str) -> RecordOfTwo:
        """Return the game in a text of :meth:`to_text`.

        Raises
        ------
        ValueError, TypeError, LookupError, AttributeError
            If it is none.
        """
        head, lines = read_lines(text, FORMAT)
        rules, order = Kniffel(**head["rules"]), [line["player"] for line in lines]
        records = [
            _of_player(number, rules, head, [line for line in lines if line["player"] == number])
            for number in (1, 2)
        ]
        game = cls(tuple(records), head["begins"] - 1)
        if order != [player + 1 for player in game.order]:
            message = "the rounds are not played in turns."
            raise ValueError(message)
        return game

    def _in_turns(self) -> Iterator[int]:
        """Yield the player of each round, as far as there are rounds."""
        played = [len(record.rounds) for record in self.records]
        free = [record.start.entries.count(None) for record in self.records]
        done, turn = [0, 0], self.begins
        while True:
            if done[turn] == free[turn]:
                turn = 1 - turn
            if done[turn] == played[turn]:
                return
            yield turn
            if self.records[turn].rounds[done[turn]].box is None:
                return
            done[turn] += 1
            turn = 1 - turn


def _of_player(
    number: int, rules: Kniffel, head: dict[str, Any], lines: list[dict[str, Any]]
) -> Record:
    """Return the record of player 1 or 2."""
    card, further, seed = (head[name][number - 1] for name in ("cards", "further", "seeds"))
    try:
        start = Card.of(card, further=further)
        return Record(rules, start, seed=seed, rounds=[Round.of_line(line) for line in lines])
    except gamedp.errors.InvalidParameterError as error:
        message = f"player {number}, {error}"
        raise gamedp.errors.InvalidParameterError(message) from None


def load_record(path: str | os.PathLike[str]) -> Record | RecordOfTwo:
    """Read the record in a file, of a game of one player or of two.

    Raises
    ------
    gamedp.errors.DamagedFileError
        If it is not such a file, its version is unknown, or the game is impossible.
    OSError
        If it cannot be read.
    """

    def read(text: str) -> Record | RecordOfTwo:
        kind: type[Record | RecordOfTwo] = RecordOfTwo if format_of(text) == FORMAT else Record
        return kind.from_text(text)

    return load_text(path, read)
