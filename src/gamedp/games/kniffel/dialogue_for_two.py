"""A dialogue for two players at one sheet, who take turns, with advice on how to win."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from gamedp.games.kniffel.adviser import Adviser, Option
from gamedp.games.kniffel.card import DICE, Card
from gamedp.games.kniffel.dialogue import Dialogue, WrongAnswerError, as_typed
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.outlook import Opponent, Outlook, duel_of, outlook_against
from gamedp.games.kniffel.record import Record
from gamedp.games.kniffel.record_of_two import RecordOfTwo
from gamedp.games.kniffel.remainder import TooLargeError
from gamedp.games.kniffel.reports import (
    prospects_in_words,
    side_by_side,
    winner_in_words,
    winning_in_words,
)

__all__ = ["DialogueForTwo", "replay_of_two"]

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
