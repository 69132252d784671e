"""Tests of the rules of the line protocol with a program, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, shown
from gamedp.play.play import MOST_PLIES, Played, checked_seed, played
from gamedp.play.players import seated
from gamedp.play.programs import Program, Remote, Session
from gamedp.play.protocol import PROTOCOL, TIME, Fault
from gamedp.policies.policy import RandomPlayer
from gamedp.rules.game import Rules
from gamedp.runtime.notebook import html_table
from gamedp.runtime.options import checked_whole

SILENCE = 0.2
"""Seconds after a game in which a program must not write anything."""

MOST_STEPS = 10
"""Largest number of random plies before a position that is new to the program."""


@attrs.frozen
class ComplianceCheck:
    """One rule of the protocol, and whether a program keeps it.

    Attributes
    ----------
    rule : str
        The behaviour that the rule requires.
    is_kept : bool
    detail : str
        The program's answer, or a description of the failure.
    """

    rule: str
    is_kept: bool
    detail: str

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        kept = "yes" if self.is_kept else "no"
        return html_table({"rule": self.rule, "kept": kept, "detail": self.detail})


def check_program(
    game: Any, player: Any, *, games: int = 10, seed: int | None = None
) -> tuple[ComplianceCheck, ...]:
    """Check whether a program keeps the rules of the line protocol.

    It plays against random play, from the start and from positions in the middle, in every seat.

    Parameters
    ----------
    game
    player : Program or Remote
    games : int
        Number of games for each rule that is tested by games; at least 1.
    seed : int, optional
        Seed of chance and of the random play; a new one each time if not given.

    Returns
    -------
    tuple of ComplianceCheck
        One for each rule; only the first if the program does not start.

    Raises
    ------
    InvalidParameterError
        If the player is not a program.
    UnsupportedProblemError
        If positions of the game cannot be sent to programs.

    Examples
    --------
    >>> from gamedp.games.matches import Matches
    >>> from gamedp.play import Program
    >>> [found] = check_program(Matches(), Program("./no-such-program"))
    >>> found.rule, found.is_kept
    ('starts and says hello', False)
    """
    if not isinstance(player, (Program, Remote)):
        message = f"{shown(player)} is not a program; give a Program or a Remote."
        raise InvalidParameterError(message)
    games, rng = checked_whole("games", games, 1), np.random.default_rng(checked_seed(seed))
    trial = _ProgramTrial(Rules(game), player, games, rng)
    return tuple(trial.checks())


@attrs.define
class _ProgramTrial:
    """A program under test, with a separate session for each rule."""

    rules: Rules
    player: Program | Remote
    games: int
    rng: np.random.Generator

    def checks(self) -> Iterator[ComplianceCheck]:
        """Yield the result of each rule."""
        first = self._tried("starts and says hello", self._hello)
        yield first
        if not first.is_kept:
            return
        yield self._tried("plays whole games", self._whole_games)
        yield self._tried("plays on from positions that it has not seen", self._middles)
        yield self._tried("passes over what it does not know", self._news)
        yield self._tried("is silent unless it is asked", self._silence)
        if isinstance(self.player, Program):
            yield self._tried("ends when its input ends", self._end)

    def _tried(self, rule: str, attempt: Callable[[Session], str]) -> ComplianceCheck:
        session = Session(self.rules, self.player)
        try:
            return ComplianceCheck(rule, is_kept=True, detail=attempt(session))
        except Fault as fault:
            return ComplianceCheck(rule, is_kept=False, detail=str(fault))
        finally:
            session.close()

    def _hello(self, session: Session) -> str:
        session.begin(0)
        return session.name

    def _whole_games(self, session: Session) -> str:
        for number in range(self.games):
            self._play(session, number, Played.begin(self.rules, None, self.rng))
        return (
            f"{self.games:,} games, {session.questions:,} questions, slowest answer "
            f"{session.slowest:.3f} s"
        )

    def _middles(self, session: Session) -> str:
        anyone = [seated(self.rules, RandomPlayer(self.rules.game), "auto")]
        for number in range(self.games):
            line = Played.begin(self.rules, None, self.rng)
            line.play(anyone * self.rules.num_players, self.rng, MOST_STEPS)
            open_ones = line.states[:-1] or line.states  # not the last: the game may be over
            state = open_ones[int(self.rng.integers(len(open_ones)))]
            self._play(session, number, Played.begin(self.rules, state, self.rng))
        return f"{session.questions:,} questions in {self.games:,} games"

    def _play(self, session: Session, number: int, line: Played) -> None:
        """Play a game against random play; raise Fault if the program commits one."""
        count = self.rules.num_players
        seats = [seated(self.rules, RandomPlayer(self.rules.game), "auto") for _ in range(count)]
        seats[number % count] = session
        forfeit = played(line, seats, self.rng, MOST_PLIES).forfeit
        if forfeit is not None:
            raise Fault(forfeit.reason, f"in game {number + 1}, {forfeit.detail}")

    def _news(self, session: Session) -> str:
        session.begin(0)
        session.tell({"tell": "news", "text": "of a later version of the protocol"})
        session.news = {"news": ["of a later version of the protocol"]}
        self._play(session, 0, Played.begin(self.rules, None, self.rng))
        return "a message and a key that do not exist"

    def _silence(self, session: Session) -> str:
        self._play(session, 0, Played.begin(self.rules, None, self.rng))
        said = session.listen(SILENCE)
        if said:
            raise Fault(PROTOCOL, f"it writes {shown(said)} without being asked.")
        return f"for {SILENCE} s after a game"

    def _end(self, session: Session) -> str:
        session.begin(0)
        session.close()
        if session.ended is None:
            raise Fault(TIME, "it goes on for more than a second, and is killed.")
        return session.ended
