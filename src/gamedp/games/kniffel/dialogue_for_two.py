"""Two players at one sheet: they take turns, and each is advised how to win."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from gamedp.games.kniffel.adviser import Adviser, Option
from gamedp.games.kniffel.analysis import analyse
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.dialogue import Dialogue, WrongAnswerError
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.outlook import Opponent, Outlook, duel_of, outlook_against
from gamedp.games.kniffel.record import Record
from gamedp.games.kniffel.remainder import TooLargeError
from gamedp.games.kniffel.reports import prospects_in_words, side_by_side, winning_in_words

__all__ = ["DialogueForTwo"]

MOST_CONTEXTS = 4_000_000
"""A table of more takes longer than one likes to wait at a question."""


class DialogueForTwo(Dialogue):
    """A game for two that is played by question and answer.

    Advice is for winning against the other card, if the other one plays for points, or as
    `opponent` says; for points while too many boxes are free. The handicap counts lost points.

    Parameters
    ----------
    records : tuple of two Record
        The games of both, by the same rules.
    adviser : Adviser
    ask, say, language
        As for :class:`Dialogue`.
    opponent : Opponent
        How either plays in the eyes of the other, and what a draw counts; the card is not read.
        `is_next` says that the second player begins.
    exact : bool
        As for :func:`outlook_against`.
    max_contexts : float
        How large a table may become before advice is for points.

    Attributes
    ----------
    records : list of two Record
        The games so far.
    turn : int
        Whose turn it is, 0 or 1.
    record : Record
        The game of that player.
    """

    def __init__(
        self,
        records: tuple[Record, Record],
        adviser: Adviser,
        *,
        ask: Callable[[str], str],
        say: Callable[[str], None],
        language: str | None = None,
        opponent: Opponent | None = None,
        exact: bool = False,
        max_contexts: float = MOST_CONTEXTS,
    ) -> None:
        self.records = list(records)
        self._opponent = Opponent(Card()) if opponent is None else opponent
        self._exact = exact
        self._max_contexts = max_contexts
        self._entries: list[int] = []
        self._duel: tuple[Any, Duel] | None = None
        self.turn = int(self._opponent.is_next)
        if self.records[self.turn].waits_for == "nothing":
            self.turn = 1 - self.turn
        super().__init__(self.records[self.turn], adviser, ask=ask, say=say, language=language)

    def _name(self, player: int) -> str:
        return self._words.player.format(number=player + 1)

    def _question(self) -> str:
        return f"{self._name(self.turn)}, {super()._question()}"

    def _go_on(self, record: Record) -> None:
        entered = _entries(record) > _entries(self.record)
        super()._go_on(record)
        self.records[self.turn] = record
        if entered:
            self._entries.append(self.turn)
            if self.records[1 - self.turn].waits_for != "nothing":
                self._pass_to(1 - self.turn)

    def _pass_to(self, player: int) -> None:
        self.turn, self.record = player, self.records[player]
        self._card_shown = None

    def _undo(self) -> None:
        if self.record.situation.number == 0:  # what was last is the entry of whoever made it
            if not self._entries:
                raise WrongAnswerError(self._words.nothing_to_undo)
            self._pass_to(self._entries.pop())
        super()._undo()

    def _show_card(self) -> None:
        self._card_shown = self.record.card
        heads = [self._name(player) for player in range(2)]
        if self.record.waits_for != "nothing":
            heads[self.turn] += f", {self._words.to_move}"
        cards = self.records[0].card, self.records[1].card
        self._say(side_by_side(self._adviser, cards, (heads[0], heads[1]), self._language))

    def _outlook(self) -> Outlook | None:
        """Return how likely the player is to win; None while that takes too large a table."""
        cards = self.record.card, self.records[1 - self.turn].card
        opponent = attrs.evolve(self._opponent, card=cards[1], is_next=False)
        try:
            if self._duel is None or self._duel[0] != cards:
                options = {"max_contexts": self._max_contexts}
                self._duel = cards, duel_of(self._adviser, cards[0], opponent, **options)
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
        for each in kept:  # what has been decided already
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
        now = self.turn
        for player in range(2):
            self.turn, self.record = player, self.records[player]
            super()._leave()
        self.turn, self.record = now, self.records[now]

    def _left_in_words(self, playing: int, handicap: float) -> str:
        return f"{self._name(self.turn)}: {super()._left_in_words(playing, handicap)}"

    def _finish(self) -> None:
        self._show_card()
        first, second = (record.total for record in self.records)
        self._say(self._words.points_of_both.format(first=first, second=second))
        if first == second:
            self._say(self._words.no_winner)
        else:
            self._say(self._words.winner.format(player=self._name(int(second > first))))
        for player, record in enumerate(self.records):
            analysis = analyse(record, self._adviser)
            line = self._words.balance.format(
                start=analysis.start.value,
                luck=analysis.luck,
                handicap=analysis.handicap,
                now=analysis.now.value,
            )
            self._say(f"{self._name(player)}: {line}")


def _entries(record: Record) -> int:
    """Return how many entries were made."""
    return sum(each.box is not None for each in record.rounds)
