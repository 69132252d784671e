"""Records of games of one player or two: they can be continued, undone, saved and loaded."""

from __future__ import annotations

import functools
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar

import attrs
import numpy as np

import gamedp
from gamedp.errors import shown as in_short
from gamedp.games._parameters import as_whole
from gamedp.games.kniffel.boxes import box_names, box_number, faces_of, kept, refuse, shown, throw
from gamedp.games.kniffel.card import DICE, EMPTY_TABLE, FACES, Card, Situation
from gamedp.games.kniffel.rules import Kniffel

VERSION = 1


class Step(NamedTuple):
    """One event in a game: a throw, a keep, or an entry.

    Attributes
    ----------
    round : int
        The round, from 1.
    situation : Situation
        The situation before it; for a throw, that of the previous throw.
    kept : tuple of int
        For a keep, and the throw after it, the dice that stayed on the table.
    thrown : tuple of int or None
        For a throw, all dice on the table after it.
    box : int or None
        For an entry, the number of the box.
    """

    round: int
    situation: Situation
    kept: Dice
    thrown: Dice | None = None
    box: int | None = None


Kind = TypeVar("Kind", bound="SavedGame")


class SavedGame:
    """Games that are saved to files of JSON lines: one for the game, then one for each round."""

    __slots__ = ()
    FORMAT: ClassVar[str]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the game to a file.

        It is written to a temporary file, synced and renamed: in any case, the file holds either
        its earlier content or the whole game.
        """
        target = Path(path)
        beside = target.with_name(f"{target.name}.{secrets.token_hex(8)}.gamedp-tmp")
        try:
            with beside.open("x", encoding="utf-8") as file:  # never the target of a link
                file.write(self.to_text())
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        except OSError as error:
            error.filename = str(target)  # missing when a disk is full
            raise
        finally:
            beside.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that :meth:`save` has written.

        Raises
        ------
        gamedp.errors.DamagedFileError
            If it is not such a file, its version is unknown, or the game is impossible.
        OSError
            If it cannot be read.
        """
        return _load(path, [cls])

    def to_text(self) -> str:
        """Return the text that :meth:`save` writes."""
        head, rounds = self.to_lines()
        lines = [{"format": self.FORMAT, "version": VERSION} | head, *rounds]
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the game in a text of :meth:`to_text`; raise some built-in error if it is none."""
        return _of_text(text, [cls])

    def to_lines(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the line of the game and those of its rounds."""
        raise NotImplementedError  # abstract: records of one and of two players differ

    @classmethod
    def of_lines(cls, head: dict[str, Any], rounds: list[dict[str, Any]]) -> Self:
        """Return the game of some lines; raise some error of lookup or type if they are not one."""
        raise NotImplementedError  # likewise


def _as_rounds(rounds: Iterable[Round]) -> tuple[Round, ...]:
    return tuple(rounds)


@attrs.frozen
class Record(SavedGame):
    """The record of a game, finished or in progress.

    Records are immutable: each step makes a new one.

    Parameters
    ----------
    rules : Kniffel
    start : Card
        The card at the start.
    seed : int or None
        The seed of throws that are not given.
    rounds : tuple of Round
        All but the last one are finished.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the game is impossible; the message names the round.

    Examples
    --------
    >>> record = Record(seed=7).thrown().keeping("66").thrown()
    >>> record.situation.number, record.waits_for
    (2, 'keep')
    >>> record == record.keeping("-").taken_back()
    True
    """

    rules: Kniffel = attrs.field(factory=Kniffel)
    start: Card = attrs.field(factory=Card)
    seed: int | None = attrs.field(
        default=None, converter=attrs.converters.optional(as_whole), kw_only=True
    )
    rounds: tuple[Round, ...] = attrs.field(default=(), converter=_as_rounds)

    FORMAT = "gamedp-kniffel-record"
    turn = 0
    begins = 0

    @seed.validator
    def _seed_is_whole(self, _attribute: object, seed: object) -> None:
        if seed is not None and (not isinstance(seed, int) or seed < 0):
            refuse(f"seed must be a whole number of at least 0, not {in_short(seed)}.")

    @rounds.validator
    def _rounds_can_be_played(self, _attribute: object, _rounds: object) -> None:
        self.start.sheet(self.rules)  # reports what is wrong with the rules
        for _step in self._replayed():
            pass

    @functools.cached_property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return tuple(self._replayed())

    @functools.cached_property
    def card(self) -> Card:
        """The card with all entries."""
        card = self.start
        for each in self.rounds:
            if each.box is not None:
                card = card.with_throw(shown(each.throws[-1]), each.box, self.rules)
        return card

    @property
    def situation(self) -> Situation:
        """The player's situation; before the next throw, that of the previous throw."""
        now = self._now
        return Situation(self.card, len(now.throws), now.throws[-1] if now.throws else EMPTY_TABLE)

    @property
    def kept(self) -> Dice:
        """The dice that stay on the table when the next throw is due."""
        return self._now.keeps[-1] if self._now.keeps else EMPTY_TABLE

    @property
    def waits_for(self) -> Literal["throw", "keep", "entry", "nothing"]:
        """The kind of the next step; nothing when the card is full."""
        if None not in self.card.entries:
            return "nothing"
        now = self._now
        if len(now.throws) == len(now.keeps):
            return "throw"
        return "keep" if len(now.throws) < self.rules.throws else "entry"

    @property
    def is_over(self) -> bool:
        """Whether the card is full."""
        return self.waits_for == "nothing"

    @property
    def total(self) -> int:
        """The points on the card."""
        return self.card.total_by(self.rules)

    @property
    def _now(self) -> Round:
        """The current round."""
        return self.rounds[-1] if self.rounds and self.rounds[-1].box is None else Round()

    def thrown(self, dice: str | Dice | None = None) -> Record:
        """Return the record with a throw.

        Parameters
        ----------
        dice : str or tuple of int, optional
            The dice on the table after it: the faces, such as ``"13345"``, or the number of dice by
            face. If not given, they are drawn from the seed: always the same for the throw with
            this number in a game with this seed.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is nothing to throw now, or a die that was kept has changed.
        """
        self._expect("throw")
        if dice is None:
            dice = self._fallen()
        elif isinstance(dice, str):
            dice = throw(dice)
        return self._with(attrs.evolve(self._now, throws=(*self._now.throws, dice)))

    def keeping(self, dice: str | Dice) -> Record:
        """Return the record with a decision on which dice stay on the table.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is nothing to keep now, or the throw has no such dice.
        """
        self._expect("keep")
        stay = kept(dice, self.situation.dice) if isinstance(dice, str) else dice
        return self._with(attrs.evolve(self._now, keeps=(*self._now.keeps, stay)))

    def entered(self, box: str | int) -> Record:
        """Return the record with an entry.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is nothing to enter now, or the rules do not allow it.
        """
        self._expect("entry")
        number = box_number(box) if isinstance(box, str) else box
        return self._with(attrs.evolve(self._now, box=number))

    def decided(self, stay: Dice | None, box: int | None) -> Record:
        """Return the record with a decision that is possible: a keep, or an entry."""
        return self.entered(box or 0) if stay is None else self.keeping(stay)

    def taken_back(self) -> Record:
        """Return the record without its last step; the same one if there is none."""
        if not self.rounds:
            return self
        last = self.rounds[-1]
        if last.box is not None:
            last = attrs.evolve(last, box=None)
        elif len(last.throws) == len(last.keeps):
            last = attrs.evolve(last, keeps=last.keeps[:-1])
        else:
            last = attrs.evolve(last, throws=last.throws[:-1])
        return attrs.evolve(self, rounds=(*self.rounds[:-1], *((last,) if last.throws else ())))

    @property
    def records(self) -> tuple[Record, ...]:
        """The records of all players: this one. Games of one player and two have these members."""
        return (self,)

    @property
    def record(self) -> Record:
        """The record of the player whose turn it is: this one."""
        return self

    def with_record(self, record: Record) -> Record:
        """Return the game with a new record of its player."""
        return record

    def begun(self) -> Record:
        """Return the record before the first step."""
        return attrs.evolve(self, rounds=())

    def to_lines(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        head = {
            "rules": attrs.asdict(self.rules),
            "seed": self.seed,
            "card": self.start.arguments,
            "further": self.start.further,
        }
        return head, [each.to_line(self.rules.language) for each in self.rounds]

    @classmethod
    def of_lines(cls, head: dict[str, Any], rounds: list[dict[str, Any]]) -> Record:
        start = Card.of(head["card"], further=head["further"])
        played = [Round.of_line(each) for each in rounds]
        return cls(Kniffel(**head["rules"]), start, seed=head["seed"], rounds=played)

    def _expect(self, step: str) -> None:
        if self.waits_for != step:
            refuse(f"no {step} is due; next comes {self.waits_for}.")

    def _with(self, now: Round) -> Record:
        done = self.rounds[:-1] if self.rounds and self.rounds[-1].box is None else self.rounds
        return attrs.evolve(self, rounds=(*done, now))

    def _fallen(self) -> Dice:
        """Return the next throw by the seed."""
        if self.seed is None:
            refuse("the game has no seed to throw by; give the dice, or make it with a seed.")
        # A generator for each throw: a throw that is undone is repeated with the same dice, and an
        # interrupted game continues as it would have.
        number = sum(len(each.throws) for each in self.rounds)
        generator = np.random.default_rng([self.seed, number])
        faces = generator.integers(1, FACES + 1, size=DICE).tolist()[: DICE - sum(self.kept)]
        return tuple(count + faces.count(face) for face, count in enumerate(self.kept, start=1))

    def _replayed(self) -> Iterator[Step]:
        """Yield the steps; raise InvalidParameterError at the first impossible one."""
        card = self.start
        for number, each in enumerate(self.rounds, start=1):
            try:
                yield from self._steps_of(number, each, card)
                if each.box is None and number < len(self.rounds):
                    refuse("it has no entry, and others follow it.")
                if each.box is not None:
                    card = card.with_throw(shown(each.throws[-1]), each.box, self.rules)
            except gamedp.errors.InvalidParameterError as error:
                message = f"round {number}: {error}"
                raise gamedp.errors.InvalidParameterError(message) from None

    def _steps_of(self, number: int, played: Round, card: Card) -> Iterator[Step]:
        throws, keeps, most = len(played.throws), len(played.keeps), self.rules.throws
        if (
            throws > most
            or keeps not in {throws, throws - 1}
            or keeps == most
            or (played.box is not None and (throws, keeps) != (most, most - 1))
            or throws == 0
        ):
            refuse(
                f"{throws} throws, {keeps} keeps and {'an' if played.box is not None else 'no'} "
                f"entry make no round: up to {most} throws with a keep between any "
                "two, and then the entry."
            )
        situation, lying = Situation(card), EMPTY_TABLE
        for place, dice in enumerate(played.throws, start=1):
            after = Situation(card, place, dice)
            if any(stays > count for stays, count in zip(lying, dice, strict=True)):
                refuse(f"the throw {shown(dice)} lacks dice that were kept, {shown(lying)}.")
            yield Step(number, situation, lying, thrown=dice)
            situation = after
            if place <= keeps:
                stay = played.keeps[place - 1]
                lying = kept(faces_of(stay), dice)
                yield Step(number, situation, lying)
        if played.box is not None:
            yield Step(number, situation, EMPTY_TABLE, box=played.box)


Dice: TypeAlias = tuple[int, ...]


@attrs.frozen
class Round:
    """The record of a turn, finished or in progress.

    Attributes
    ----------
    throws : tuple of dice
        All dice on the table after each throw.
    keeps : tuple of dice
        The dice that stayed there, after each throw except the last.
    box : int or None
        The box in which the last throw was entered, from 0; None until then.
    """

    throws: tuple[Dice, ...] = ()
    keeps: tuple[Dice, ...] = ()
    box: int | None = None

    def to_line(self, language: str) -> dict[str, Any]:
        """Return the turn as a JSON value, with its box named in a language."""
        return {
            "throws": [shown(dice) for dice in self.throws],
            "keeps": [shown(dice) for dice in self.keeps],
            "entry": None if self.box is None else box_names(language)[self.box],
        }

    @classmethod
    def of_line(cls, line: dict[str, Any]) -> Round:
        """Return the turn in a value of :meth:`to_line`.

        Raises
        ------
        ValueError, TypeError, KeyError, AttributeError
            If it is not such a value.
        """
        box = line["entry"]
        number = None if box is None else box_number(box)
        throws = tuple(throw(dice) for dice in line["throws"])
        keeps = tuple(kept(dice, after) for dice, after in zip(line["keeps"], throws, strict=False))
        if len(keeps) < len(line["keeps"]):
            message = f"a round has {len(line['keeps'])} keeps and {len(throws)} throws."
            raise ValueError(message)
        return cls(throws, keeps, number)


def _as_pair(records: Iterable[Record]) -> tuple[Record, ...]:
    return tuple(records)


@attrs.frozen
class RecordOfTwo(SavedGame):
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

    FORMAT = "gamedp-kniffel-record-of-two"

    @records.validator
    def _play_by_the_same_rules(self, _attribute: object, records: tuple[Record, ...]) -> None:
        if len(records) != 2:
            refuse(f"a game of two has two records, not {len(records)}.")
        if records[0].rules != records[1].rules:
            refuse("both players must play by the same rules.")

    @begins.validator
    def _is_a_player(self, _attribute: object, begins: int) -> None:
        if begins not in {0, 1}:
            refuse(f"begins must be 0 or 1, not {in_short(begins)}.")

    def __attrs_post_init__(self) -> None:
        """Refuse rounds that were not played in turns."""
        if len(self.order) != sum(len(record.rounds) for record in self.records):
            refuse("the rounds are not played in turns.")

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
    def steps(self) -> Iterator[tuple[int, Step]]:
        """All steps, in order, each with its player."""
        done = [0, 0]
        for player in self.order:
            done[player] += 1
            for step in self.records[player].steps:
                if step.round == done[player]:
                    yield player, step

    def with_record(self, record: Record) -> RecordOfTwo:
        """Return the game with a new record of the player whose turn it is."""
        pair = list(self.records)
        pair[self.turn] = record
        return attrs.evolve(self, records=pair)

    def begun(self) -> RecordOfTwo:
        """Return the game before the first step."""
        return attrs.evolve(self, records=[record.begun() for record in self.records])

    def taken_back(self) -> RecordOfTwo:
        """Return the game without its last step; the same one if there is none."""
        if not self.order:
            return self
        pair, last = list(self.records), self.order[-1]
        pair[last] = pair[last].taken_back()
        return attrs.evolve(self, records=pair)

    def to_lines(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        head = {
            "rules": attrs.asdict(self.rules),
            "seeds": [record.seed for record in self.records],
            "cards": [record.start.arguments for record in self.records],
            "further": [record.start.further for record in self.records],
            "begins": self.begins + 1,
        }
        rounds = [iter(record.rounds) for record in self.records]
        language = self.rules.language
        return head, [
            {"player": player + 1} | next(rounds[player]).to_line(language) for player in self.order
        ]

    @classmethod
    def of_lines(cls, head: dict[str, Any], rounds: list[dict[str, Any]]) -> RecordOfTwo:
        rules, order = Kniffel(**head["rules"]), [line["player"] for line in rounds]
        records = [
            _of_player(number, rules, head, [line for line in rounds if line["player"] == number])
            for number in (1, 2)
        ]
        game = cls(records, head["begins"] - 1)
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
    return _load(path, [Record, RecordOfTwo])


def _load(path: str | os.PathLike[str], kinds: list[type[Kind]]) -> Kind:
    """Read the file of a game of one of some kinds; raise errors as for :func:`load_record`."""
    file = Path(path)
    if file.exists() and not file.is_file():  # a pipe may have no end
        message = f"{path} is a folder, a pipe or a device; name a file that holds a game."
        raise gamedp.errors.DamagedFileError(message)
    try:
        return _of_text(file.read_text(encoding="utf-8"), kinds)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        reason = f"it lacks {error}." if isinstance(error, KeyError) else str(error)
        message = f"{os.fspath(path)} is not a record of a game of Kniffel: {reason}"
        raise gamedp.errors.DamagedFileError(message) from error


def _of_text(text: str, kinds: list[type[Kind]]) -> Kind:
    """Return the game of the kind that the first line of a text names."""
    head, *rounds = (
        _line(number, line) for number, line in enumerate(text.splitlines() or ["{}"], start=1)
    )
    named = head.get("format")
    kind = next((each for each in kinds if named == each.FORMAT), kinds[0])
    if named != kind.FORMAT:
        message = f"its first line does not say that it is a {kind.FORMAT}."
        raise ValueError(message)
    if head["version"] != VERSION:
        message = f"it is of version {head['version']!r}; known here is {VERSION}."
        raise ValueError(message)
    return kind.of_lines(head, rounds)


def _line(number: int, text: str) -> dict[str, Any]:
    """Read a line of a file."""
    try:
        line = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"line {number} is not JSON, {error}."
        raise ValueError(message) from None
    if not isinstance(line, dict):
        message = f"line {number} is not a JSON object."
        raise TypeError(message)
    return line
