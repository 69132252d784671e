"""Dialogues at one score sheet, or two: they ask for throws, keeps and entries, and advise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import attrs

import gamedp
from gamedp.games.kniffel.adviser import Adviser
from gamedp.games.kniffel.analysis import analyse, played_perfectly
from gamedp.games.kniffel.boxes import box_names, box_number, in_words, kept, shown, throw
from gamedp.games.kniffel.card import DICE, FACES, Card, Situation
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.outlook import Opponent, Outlook, duel_of, outlook_against
from gamedp.games.kniffel.record import Record, RecordOfTwo, Step
from gamedp.games.kniffel.remainder import TooLargeError
from gamedp.games.kniffel.reports import (
    advice,
    prospects_in_words,
    side_by_side,
    winner_in_words,
    winning_in_words,
)

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

MOST_CONTEXTS = 4_000_000
"""Largest table built at a question, to keep the wait short."""


class WrongAnswerError(Exception):
    """Raised for invalid input; the message gives the reason in the player's language."""


@attrs.define(eq=False)
class Dialogue:
    """A game of one player or two that is played by question and answer.

    With two players, advice is for winning against the other card, if the other player plays for
    points, or as `opponent` says; it is for points while too many boxes are free. The handicap
    counts lost points.

    Parameters
    ----------
    game : Record or RecordOfTwo
        The game so far.
    adviser : Adviser
    ask : callable
        Called with a question, returns the answer; raises EOFError if there will be none.
    say : callable
        Called with the text to show.
    save : callable, optional
        Called with the game after each step.
    language : {"de", "en"}, optional
        The language; that of the rules if not given.
    opponent : Opponent
        The assumed play of either player for the other, and the value of a draw; the rest is
        ignored.
    exact, max_contexts
        As for :func:`outlook_against`. While a table would take more contexts, advice is for
        points.

    Examples
    --------
    >>> answers = iter(["11456", "11", "q"])
    >>> said = []
    >>> dialogue = Dialogue(Record(), Adviser.of(), ask=lambda _: next(answers), say=said.append)
    >>> print(len(dialogue.run().steps), said[-1])
    2 Abgebrochen in Runde 1, Handicap bisher: 1.140.
    """

    game: Record | RecordOfTwo
    adviser: Adviser
    ask: Callable[[str], str] = attrs.field(kw_only=True)
    say: Callable[[str], None] = attrs.field(kw_only=True)
    save: Callable[[Any], None] | None = attrs.field(default=None, kw_only=True)
    language: str | None = attrs.field(default=None, kw_only=True)
    opponent: Opponent = attrs.field(factory=lambda: Opponent(Card()), kw_only=True)
    exact: bool = attrs.field(default=False, kw_only=True)
    max_contexts: float = attrs.field(default=MOST_CONTEXTS, kw_only=True)
    _card_shown: Card | None = attrs.field(default=None, init=False)
    _duel: tuple[Any, Duel] | None = attrs.field(default=None, init=False)

    @property
    def record(self) -> Record:
        """The record of the player whose turn it is."""
        return self.game.record

    @property
    def _language(self) -> str:
        return self.language or self.game.rules.language

    def _in_words(self, name: str, /, **parts: object) -> str:
        return in_words(self._language, name, **parts)

    def _refuse(self, name: str, /, **parts: object) -> NoReturn:
        raise WrongAnswerError(self._in_words(name, **parts))

    def run(self) -> Any:
        """Play until the game is over or the player leaves; return the game."""
        self.say(self._in_words("welcome"))
        if self.record.seed is not None:
            self.say(self._in_words("seed", seed=self.record.seed))
        self._keep_game()
        try:
            while self._step():
                pass
        except EOFError:
            self.say("")
            self._leave()
        except KeyboardInterrupt:
            self.say("")
            self._leave()
            raise
        return self.game

    def _step(self) -> bool:
        """Ask one question; return whether the game continues."""
        record = self.record
        if record.is_over:
            self._finish()
            return False
        if _cup_is_empty(record):
            self._go_on(record.thrown(record.kept))
            return True
        if record.situation.number == 0 and record.card != self._card_shown:
            self._card()
        typed = self.ask(self._player(self.game.turn, ", ") + self._question()).strip()
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
            self.say(str(error))
        return True

    def _player(self, player: int, then: str) -> str:
        """Return the beginning of a line about one of two players; empty if there is only one."""
        if len(self.game.records) == 1:
            return ""
        return self._in_words("player", number=player + 1) + then

    def _question(self) -> str:
        situation, lying = self.record.situation, self.record.kept
        if self.record.waits_for == "throw":
            name = "throw_again" if sum(lying) else "throw"
            return self._in_words(name, number=situation.number + 1, kept=shown(lying))
        name = "keep" if self.record.waits_for == "keep" else "enter"
        return self._in_words(name, number=situation.number, dice=shown(situation.dice))

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
        record = self.record
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
            self._refuse("lacks", text=typed, kept=shown(record.kept))
        return self._refuse("no_throw", text=typed, missing=missing, example=EXAMPLE[:missing])

    def _kept(self, typed: str) -> Record:
        dice = self.record.situation.dice
        text = shown(dice) if typed == "+" else typed
        try:
            if text:
                return self.record.keeping(kept(text, dice))
        except gamedp.errors.InvalidParameterError:
            pass
        return self._refuse("no_keep", text=typed, dice=shown(dice))

    def _entered(self, record: Record, typed: str) -> Record:
        names = box_names(self._language)
        try:
            box = box_number(typed)
        except gamedp.errors.InvalidParameterError:
            box = -1
        if box < 0 or record.card.entries[box] is not None:
            free = ", ".join(record.card.free_boxes(self._language))
            self._refuse("no_box", text=typed, free=free)
        try:
            return record.entered(box)
        except gamedp.errors.InvalidParameterError:  # a Kniffel whose box the rules determine
            options = self.adviser.options(record.situation)
            allowed = ", ".join(names[each] for each in sorted(each.box or 0 for each in options))
            dice = shown(record.situation.dice)
            return self._refuse("not_allowed", dice=dice, text=names[box], free=allowed)

    def _go_on(self, record: Record) -> None:
        self._come_to(self.game.with_record(record))

    def _come_to(self, game: Record | RecordOfTwo) -> None:
        if game.turn != self.game.turn:
            self._card_shown = None
        self.game = game
        self._keep_game()

    def _decide(self, record: Record) -> None:
        """Continue after decisions, and show the best ones for points."""
        before = len(analyse(self.record, self.adviser).decisions)
        self._go_on(record)
        decisions = analyse(record, self.adviser).decisions
        handicap = sum(each.chosen.loss for each in decisions[:before])
        for each in decisions[before:]:
            handicap += each.chosen.loss
            name = "best_entry" if each.best.kept is None else "best_keep"
            best = each.best.name(self._language)
            line = self._in_words(name, best=best, handicap=handicap)
            is_alone = len(self.game.records) == 1
            self.say(line if is_alone else self._in_words("for_points", line=line))

    def _keep_game(self) -> None:
        try:
            if self.save is not None:
                self.save(self.game)
        except OSError as error:
            self.say(self._in_words("not_saved", reason=error))

    def _outlook(self) -> Outlook | None:
        """Return the probability of winning; None while that takes too large a table, or alone."""
        if isinstance(self.game, Record):
            return None
        cards = self.record.card, self.game.records[1 - self.game.turn].card
        opponent = attrs.evolve(self.opponent, card=cards[1], is_next=False)
        try:
            if self._duel is None or self._duel[0] != cards:
                options = {"max_contexts": self.max_contexts}
                self._duel = cards, duel_of(self.adviser, cards[0], opponent, **options)
            situation, duel = self.record.situation, self._duel[1]
            return outlook_against(self.adviser, situation, opponent, exact=self.exact, duel=duel)
        except TooLargeError:
            return None

    def _advise(self) -> None:
        record, adviser, outlook = self.record, self.adviser, self._outlook()
        if outlook is None and isinstance(self.game, RecordOfTwo):
            self.say(self._in_words("too_early"))
        if record.waits_for != "throw":
            if outlook is not None:
                expected = adviser.expected_after(record.situation)
                for line in prospects_in_words(outlook, expected, self._language):
                    self.say(line)
                return
            options = adviser.options(record.situation)
            most = None if record.waits_for == "entry" else MOST_ADVICE
            self.say(advice(options, self._language, most))
            return
        if outlook is not None:
            for each in outlook.options:
                if each.kept == record.kept:  # this has been decided already
                    best = {name: getattr(each, name) for name in ("value", "lower", "upper")}
                    outlook = attrs.evolve(outlook, **best)
            self.say(winning_in_words(outlook, self._language))
        value = (
            adviser.option(record.situation, record.kept)
            if record.situation.number
            else adviser.expectation(record.situation)
        ).value
        self.say(self._in_words("expected", value=value))

    def _best(self) -> None:
        record = self.record
        if record.waits_for == "throw":
            self._refuse("nothing_to_decide")
        outlook = self._outlook()
        if outlook is None or outlook.best is None:
            self._decide(played_perfectly(record, self.adviser))
            return
        expected = self.adviser.expected_after(record.situation)
        equal = [each for each in outlook.options if each.loss == 0]
        best = max(equal, key=lambda each: expected[each.decision])  # then the most points
        self._decide(record.decided(best.kept, best.box))

    def _help(self) -> None:
        self.say(self._in_words("help"))

    def _undo(self) -> None:
        game = self.game.taken_back()
        while _cup_is_empty(game.record):
            game = game.taken_back()  # the throw after it was not a step of a player
        if game is self.game:
            self._refuse("nothing_to_undo")
        self._come_to(game)

    def _card(self) -> None:
        self._card_shown = self.record.card
        cards = [record.card for record in self.game.records]
        if len(cards) == 1:
            expected = self.adviser.expectation(Situation(cards[0])).value
            self.say(cards[0].render(self._language, expected))
            return
        heads = [self._player(player, "") for player in range(2)]
        if not self.game.is_over:
            heads[self.game.turn] += ", " + self._in_words("to_move")
        self.say(side_by_side(self.adviser, cards, heads, self._language))

    def _leave(self) -> None:
        for player, record in enumerate(self.game.records):
            playing = len(record.rounds) + (not record.rounds or record.rounds[-1].box is not None)
            handicap = analyse(record, self.adviser).handicap
            left = self._in_words("left", round=playing, handicap=handicap)
            self.say(self._player(player, ": ") + left)

    def _finish(self) -> None:
        self._card()
        if isinstance(self.game, Record):
            self.say(self._in_words("result", total=self.game.total))
        else:
            self.say(winner_in_words(self.game, self._language))
        for player, record in enumerate(self.game.records):
            analysis = analyse(record, self.adviser)
            balance = self._in_words(
                "balance",
                start=analysis.start.value,
                luck=analysis.luck,
                handicap=analysis.handicap,
                now=analysis.now.value,
            )
            self.say(self._player(player, ": ") + balance)


def _cup_is_empty(record: Record) -> bool:
    """Return whether all dice have been kept, so that the next throw throws none."""
    return record.waits_for == "throw" and sum(record.kept) == DICE


def replay(
    game: Record | RecordOfTwo,
    adviser: Adviser,
    say: Callable[[str], None],
    language: str | None = None,
) -> None:
    """Show a recorded game as if it were typed again."""
    steps = game.steps if isinstance(game, Record) else (step for _, step in game.steps)
    answers = _answers(steps, language or game.rules.language)

    def ask(question: str) -> str:
        typed = next(answers, None)
        if typed is None:
            raise EOFError
        say(question + typed)
        return typed

    Dialogue(game.begun(), adviser, ask=ask, say=say, language=language).run()


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
    played: Record = dialogue.run()
    return played
