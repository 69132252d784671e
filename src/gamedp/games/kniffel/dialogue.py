"""Dialogues at one score sheet, or two: they ask for throws, keeps and entries, and advise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

import gamedp
from gamedp.games.kniffel.adviser import Adviser, Option
from gamedp.games.kniffel.analysis import analyse, played_perfectly
from gamedp.games.kniffel.boxes import box_names, box_number, kept, shown, throw
from gamedp.games.kniffel.card import DICE, FACES, Card
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.outlook import Opponent, Outlook, duel_of, outlook_against
from gamedp.games.kniffel.record import Record, Step
from gamedp.games.kniffel.record_of_two import RecordOfTwo
from gamedp.games.kniffel.remainder import TooLargeError
from gamedp.games.kniffel.reports import (
    advice,
    prospects_in_words,
    side_by_side,
    winner_in_words,
    winning_in_words,
)
from gamedp.games.kniffel.situation import Situation
from gamedp.games.kniffel.words import WORDS, Words

__all__ = ["Dialogue", "DialogueForTwo", "as_typed", "play_perfectly", "replay", "replay_of_two"]


COMMANDS = {
    "?": "advise",
    "!": "best",
    **dict.fromkeys(("h", "help", "hilfe"), "help"),
    **dict.fromkeys(("k", "karte", "c", "card"), "card"),
    **dict.fromkeys(("z", "zurück", "zurueck", "u", "undo"), "undo"),
    **dict.fromkeys(("q", "quit", "ende", "exit"), "quit"),
}
"""Commands that may be typed at every question, in either language."""

MOST_ADVICE = 10
EXAMPLE = "13345"


class WrongAnswerError(Exception):
    """Raised for invalid input; the message gives the reason in the player's language."""


class Dialogue:
    """A game that is played by question and answer.

    Parameters
    ----------
    record : Record
        The game so far.
    adviser : Adviser
    ask : callable
        Called with a question, returns the answer; raises EOFError if there will be none.
    say : callable
        Called with the text to show.
    save : callable, optional
        Called with the record after each step.
    language : {"de", "en"}, optional
        The language; that of the rules if not given.

    Attributes
    ----------
    record : Record
        The game so far.

    Examples
    --------
    >>> answers = iter(["11456", "11", "q"])
    >>> said = []
    >>> dialogue = Dialogue(Record(), Adviser.of(), ask=lambda _: next(answers), say=said.append)
    >>> print(len(dialogue.run().steps), said[-1])
    2 Abgebrochen in Runde 1, Handicap bisher: 1.140.
    """

    def __init__(
        self,
        record: Record,
        adviser: Adviser,
        *,
        ask: Callable[[str], str],
        say: Callable[[str], None],
        save: Callable[[Record], None] | None = None,
        language: str | None = None,
    ) -> None:
        self.record = record
        self._adviser = adviser
        self._ask = ask
        self._say = say
        self._save = save
        self._language = language or record.rules.language
        self._card_shown: Card | None = None

    @property
    def _words(self) -> Words:
        return WORDS[self._language]

    def run(self) -> Record:
        """Play until the game is over or the player leaves; return the record."""
        self._say(self._words.welcome)
        if self.record.seed is not None:
            self._say(self._words.seed.format(seed=self.record.seed))
        self._keep_record()
        try:
            while self._step():
                pass
        except EOFError:
            self._say("")
            self._leave()
        except KeyboardInterrupt:
            self._say("")
            self._leave()
            raise
        return self.record

    def _step(self) -> bool:
        """Ask one question; return whether the game continues."""
        record = self.record
        if record.is_over:
            self._finish()
            return False
        if record.waits_for == "throw" and sum(record.kept) == DICE:
            self._go_on(record.thrown(record.kept))  # the cup is empty
            return True
        if record.situation.number == 0 and record.card != self._card_shown:
            self._show_card()
        typed = self._ask(self._question()).strip()
        command = COMMANDS.get(typed.casefold())
        if command == "quit":
            self._leave()
            return False
        try:
            if command is None:
                self._take(typed)
            else:
                getattr(self, f"_{command}")()
        except WrongAnswerError as error:
            self._say(str(error))
        return True

    def _question(self) -> str:
        words, situation = self._words, self.record.situation
        dice = shown(situation.dice)
        if self.record.waits_for == "throw":
            question = words.throw_again if sum(self.record.kept) else words.throw
            number = situation.number + 1
            return question.format(number=number, kept=shown(self.record.kept))
        question = words.keep if self.record.waits_for == "keep" else words.enter
        return question.format(number=situation.number, dice=dice)

    def _take(self, typed: str) -> None:
        """Take one step of the game, or several, as the player types."""
        record = self.record
        if record.waits_for == "throw":
            self._go_on(self._thrown(typed))
        elif record.waits_for == "entry":
            self._decide(self._entered(record, typed))
        elif any(letter.isalpha() for letter in typed):  # the name of a box: enter it at once
            dice = record.situation.dice
            for _ in range(record.situation.number, record.rules.throws):
                record = record.keeping(dice).thrown(dice)
            self._decide(self._entered(record, typed))
        else:
            self._decide(self._kept(typed))

    def _thrown(self, typed: str) -> Record:
        record, words = self.record, self._words
        missing = DICE - sum(record.kept)
        if not typed and record.seed is not None:
            return record.thrown()
        for count, lying in ((DICE, (0,) * FACES), (missing, record.kept)):
            try:
                fallen = throw(typed, dice=count)
            except gamedp.errors.InvalidParameterError:
                continue
            dice = tuple(one + other for one, other in zip(fallen, lying, strict=True))
            if all(stays <= there for stays, there in zip(record.kept, dice, strict=True)):
                return record.thrown(dice)
            raise WrongAnswerError(words.lacks.format(text=typed, kept=shown(record.kept)))
        example = EXAMPLE[:missing]
        raise WrongAnswerError(words.no_throw.format(text=typed, missing=missing, example=example))

    def _kept(self, typed: str) -> Record:
        dice = self.record.situation.dice
        text = shown(dice) if typed == "+" else typed
        try:
            if text:
                return self.record.keeping(kept(text, dice))
        except gamedp.errors.InvalidParameterError:
            pass
        raise WrongAnswerError(self._words.no_keep.format(text=typed, dice=shown(dice)))

    def _entered(self, record: Record, typed: str) -> Record:
        words, names = self._words, box_names(self._language)
        try:
            box = box_number(typed)
        except gamedp.errors.InvalidParameterError:
            box = -1
        if box < 0 or record.card.entries[box] is not None:
            free = ", ".join(record.card.free_boxes(self._language))
            raise WrongAnswerError(words.no_box.format(text=typed, free=free))
        try:
            return record.entered(box)
        except gamedp.errors.InvalidParameterError:  # a Kniffel whose box the rules determine
            allowed = sorted(option.box or 0 for option in self._adviser.options(record.situation))
            raise WrongAnswerError(
                words.not_allowed.format(
                    dice=shown(record.situation.dice),
                    text=names[box],
                    free=", ".join(names[each] for each in allowed),
                )
            ) from None

    def _go_on(self, record: Record) -> None:
        self.record = record
        self._keep_record()

    def _decide(self, record: Record) -> None:
        """Continue after decisions, and show the best ones."""
        before = len(analyse(self.record, self._adviser).decisions)
        self._go_on(record)
        decisions = analyse(record, self._adviser).decisions
        handicap = sum(each.chosen.loss for each in decisions[:before])
        for each in decisions[before:]:
            handicap += each.chosen.loss
            self._say(self._best_in_words(each.best, handicap))

    def _best_in_words(self, best: Option, handicap: float) -> str:
        line = self._words.best_entry if best.kept is None else self._words.best_keep
        return line.format(best=best.name(self._language), handicap=handicap)

    def _keep_record(self) -> None:
        try:
            self._write()
        except OSError as error:
            self._say(self._words.not_saved.format(reason=error))

    def _write(self) -> None:
        if self._save is not None:
            self._save(self.record)

    def _advise(self) -> None:
        record, adviser = self.record, self._adviser
        if record.waits_for != "throw":
            options = adviser.options(record.situation)
            most = None if record.waits_for == "entry" else MOST_ADVICE
            self._say(advice(options, self._language, most))
            return
        expected = (
            adviser.option(record.situation, record.kept)
            if record.situation.number
            else adviser.expectation(record.situation)
        )
        self._say(self._words.expected.format(value=expected.value))

    def _best(self) -> None:
        if self.record.waits_for == "throw":
            raise WrongAnswerError(self._words.nothing_to_decide)
        self._decide(played_perfectly(self.record, self._adviser))

    def _help(self) -> None:
        self._say(self._words.help)

    def _card(self) -> None:
        self._show_card()

    def _undo(self) -> None:
        record = self.record.taken_back()
        while record.waits_for == "throw" and sum(record.kept) == DICE:
            record = record.taken_back()  # the throw after it was not a step of the player
        if record is self.record:
            raise WrongAnswerError(self._words.nothing_to_undo)
        self._go_on(record)

    def _show_card(self) -> None:
        card = self._card_shown = self.record.card
        expected = self._adviser.expectation(Situation(card)).value
        self._say(card.render(self._language, expected))

    def _leave(self) -> None:
        self._say(self._left_in_words(self.record))

    def _left_in_words(self, record: Record) -> str:
        playing = len(record.rounds) + (not record.rounds or record.rounds[-1].box is not None)
        handicap = analyse(record, self._adviser).handicap
        return self._words.left.format(round=playing, handicap=handicap)

    def _finish(self) -> None:
        self._show_card()
        self._say(self._words.result.format(total=self.record.total))
        self._say(self._balance_in_words(self.record))

    def _balance_in_words(self, record: Record) -> str:
        analysis = analyse(record, self._adviser)
        return self._words.balance.format(
            start=analysis.start.value,
            luck=analysis.luck,
            handicap=analysis.handicap,
            now=analysis.now.value,
        )


def replay(
    record: Record, adviser: Adviser, say: Callable[[str], None], language: str | None = None
) -> None:
    """Show a recorded game as if it were typed again."""
    language = language or record.rules.language
    ask = as_typed(record.steps, say, language)
    start = attrs.evolve(record, rounds=())
    Dialogue(start, adviser, ask=ask, say=say, language=language).run()


def as_typed(
    steps: Iterable[Step], say: Callable[[str], None], language: str
) -> Callable[[str], str]:
    """Return a function that answers questions from the record, and shows the answers."""
    answers = _answers(steps, language)

    def ask(question: str) -> str:
        try:
            typed = next(answers)
        except StopIteration:
            raise EOFError from None
        say(question + typed)
        return typed

    return ask


def _answers(steps: Iterable[Step], language: str) -> Iterator[str]:
    """Yield the answers as typed, or as they could have been."""
    names = box_names(language)
    for step in steps:
        if step.box is not None:
            yield names[step.box]
        elif step.thrown is None:
            yield shown(step.kept)
        elif sum(step.kept) < DICE:
            yield shown(step.thrown)


def play_perfectly(
    record: Record,
    adviser: Adviser,
    say: Callable[[str], None],
    save: Callable[[Record], None] | None = None,
    language: str | None = None,
) -> Record:
    """Play a game to its end by its seed with the best decisions, and show it step by step."""

    def ask(question: str) -> str:
        after = played_perfectly(dialogue.record, adviser)
        *_, typed = _answers(after.steps, language or record.rules.language)
        say(question + typed)
        return typed

    dialogue = Dialogue(record, adviser, ask=ask, say=say, save=save, language=language)
    return dialogue.run()


MOST_CONTEXTS = 4_000_000
"""Largest table built at a question, to keep the wait short."""


class DialogueForTwo(Dialogue):
    """A game for two that is played by question and answer.

    Advice is for winning against the other card, if the other player plays for points, or as
    `opponent` says; it is for points while too many boxes are free. The handicap counts lost
    points.

    Parameters
    ----------
    game : RecordOfTwo
        The game so far.
    adviser : Adviser
    ask, say, language
        As for :class:`Dialogue`.
    save : callable, optional
        Called with the game after each step.
    opponent : Opponent
        The assumed play of either player for the other, and the value of a draw; the rest is
        ignored.
    **options
        `exact` and `max_contexts`, as for :func:`outlook_against`. While a table would take more
        contexts, by default 4 million, advice is for points.

    Attributes
    ----------
    game : RecordOfTwo
        The game so far.
    record : Record
        The record of the player whose turn it is.
    """

    def __init__(
        self,
        game: RecordOfTwo,
        adviser: Adviser,
        *,
        ask: Callable[[str], str],
        say: Callable[[str], None],
        save: Callable[[RecordOfTwo], None] | None = None,
        language: str | None = None,
        opponent: Opponent | None = None,
        **options: Any,
    ) -> None:
        self.game = game
        self._opponent = Opponent(Card()) if opponent is None else opponent
        self._options = {"max_contexts": MOST_CONTEXTS} | options
        self._exact = self._options.pop("exact", False)
        self._save_game = save
        self._duel: tuple[Any, Duel] | None = None
        super().__init__(game.record, adviser, ask=ask, say=say, language=language)

    def _name(self, player: int) -> str:
        return self._words.player.format(number=player + 1)

    def _question(self) -> str:
        return f"{self._name(self.game.turn)}, {super()._question()}"

    def _go_on(self, record: Record) -> None:
        self._come_to(self.game.with_record(record))

    def _come_to(self, game: RecordOfTwo) -> None:
        if game.turn != self.game.turn:
            self._card_shown = None
        self.game, self.record = game, game.record
        self._keep_record()

    def _write(self) -> None:
        if self._save_game is not None:
            self._save_game(self.game)

    def _undo(self) -> None:
        game = self.game.taken_back()
        while game.record.waits_for == "throw" and sum(game.record.kept) == DICE:
            game = game.taken_back()  # the throw after it was not a step of a player
        if game is self.game:
            raise WrongAnswerError(self._words.nothing_to_undo)
        self._come_to(game)

    def _show_card(self) -> None:
        self._card_shown = self.record.card
        heads = [self._name(player) for player in range(2)]
        if not self.game.is_over:
            heads[self.game.turn] += f", {self._words.to_move}"
        first, second = self.game.records
        cards = first.card, second.card
        self._say(side_by_side(self._adviser, cards, (heads[0], heads[1]), self._language))

    def _outlook(self) -> Outlook | None:
        """Return the player's probability of winning; None while that takes too large a table."""
        cards = self.record.card, self.game.records[1 - self.game.turn].card
        opponent = attrs.evolve(self._opponent, card=cards[1], is_next=False)
        try:
            if self._duel is None or self._duel[0] != cards:
                self._duel = cards, duel_of(self._adviser, cards[0], opponent, **self._options)
            return outlook_against(
                self._adviser,
                self.record.situation,
                opponent,
                exact=self._exact,
                duel=self._duel[1],
            )
        except TooLargeError:
            return None

    def _advise(self) -> None:
        outlook = self._outlook()
        if outlook is None:
            self._say(self._words.too_early)
            super()._advise()
            return
        if self.record.waits_for != "throw":
            expected = self._adviser.expected_after(self.record.situation)
            for line in prospects_in_words(outlook, expected, self._language):
                self._say(line)
            return
        kept = [each for each in outlook.options if each.kept == self.record.kept]
        for each in kept:  # decisions that have been made already
            best = {name: getattr(each, name) for name in ("value", "lower", "upper")}
            outlook = attrs.evolve(outlook, **best)
        self._say(winning_in_words(outlook, self._language))
        super()._advise()

    def _best(self) -> None:
        outlook = None if self.record.waits_for == "throw" else self._outlook()
        if outlook is None or outlook.best is None:
            super()._best()
            return
        record = self.record
        expected = self._adviser.expected_after(record.situation)
        equal = [each for each in outlook.options if each.loss == 0]
        best = max(equal, key=lambda each: expected[each.decision])  # then the most points
        self._decide(
            record.entered(best.box or 0) if best.kept is None else record.keeping(best.kept)
        )

    def _best_in_words(self, best: Option, handicap: float) -> str:
        return self._words.for_points.format(line=super()._best_in_words(best, handicap))

    def _leave(self) -> None:
        for player, record in enumerate(self.game.records):
            self._say(f"{self._name(player)}: {self._left_in_words(record)}")

    def _finish(self) -> None:
        self._show_card()
        self._say(winner_in_words(self.game, self._language))
        for player, record in enumerate(self.game.records):
            self._say(f"{self._name(player)}: {self._balance_in_words(record)}")


def replay_of_two(
    game: RecordOfTwo, adviser: Adviser, say: Callable[[str], None], language: str | None = None
) -> None:
    """Show a recorded game of two as if it were typed again."""
    language = language or game.rules.language
    ask = as_typed((each.step for each in game.steps), say, language)
    start = attrs.evolve(game, records=[attrs.evolve(each, rounds=()) for each in game.records])
    DialogueForTwo(start, adviser, ask=ask, say=say, language=language).run()
