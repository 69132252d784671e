"""Programs as players: started here and asked over pipes, or listening elsewhere over TCP."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, shown
from gamedp.play.channel import Connection, Pipes
from gamedp.play.protocol import (
    DISCONNECT,
    VERSION,
    Fault,
    Forfeit,
    Seat,
    action_in,
    end_message,
    game_facts,
    message_line,
    name_in,
    question,
    read_answer,
)
from gamedp.runtime.options import finite, positive

if TYPE_CHECKING:
    from gamedp.rules.game import Rules


GIB = 2.0**30

Answer = TypeVar("Answer")


def _from_zero(_instance: object, attribute: Any, value: float) -> None:
    """Refuse negative numbers and NaN."""
    if not value >= 0:
        message = f"{attribute.name} is {shown(value)}; it must be 0 or more."
        raise InvalidParameterError(message)


@attrs.frozen(kw_only=True)
class _Timed:
    """The time limits of a program."""

    seconds: float = attrs.field(default=10.0, validator=[positive, finite])
    increment: float = attrs.field(default=0.1, validator=[_from_zero, finite])
    margin: float = attrs.field(default=0.1, validator=[_from_zero, finite])
    start_seconds: float = attrs.field(default=10.0, validator=[positive, finite])


def _positive_or_none(instance: object, attribute: Any, value: float | None) -> None:
    """Refuse numbers that are not above zero."""
    if value is not None:
        positive(instance, attribute, value)


def _words(command: str | Sequence[str]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else tuple(command)
    except ValueError as error:
        message = f"command is {shown(command)}, which cannot be split into words: {error}."
        raise InvalidParameterError(message) from None
    if not words or not all(isinstance(word, str) for word in words):
        message = f"command is {shown(command)}; it must be a program and its arguments."
        raise InvalidParameterError(message)
    return words


@attrs.frozen
class Program(_Timed):
    """A program that is started here and plays over pipes.

    It speaks the line protocol: it reads questions from its standard input and writes answers to
    its standard output, one JSON object per line. Its standard error is dropped, except for the
    last line, which explains a fault. A program that does anything other than answer in time loses
    the game (:class:`gamedp.play.Forfeit`), is killed with its whole process group, and is started
    again for the next game.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments; a string is split as a shell splits it, but no shell runs.
    seconds : float
        Thinking time for the whole game.
    increment : float
        Seconds added after each answer.
    margin : float
        Seconds over the limit that are tolerated.
    start_seconds : float
        Time to start, and to answer that it is ready for a game.
    max_bytes : float, optional
        Limit of the address space of each of its processes, on Linux; None for no limit. The
        virtual machines of Java and JavaScript reserve more than they use.

    Examples
    --------
    >>> Program("./mybot --level 3", seconds=60)  # doctest: +NORMALIZE_WHITESPACE
    Program(seconds=60, increment=0.1, margin=0.1, start_seconds=10.0,
            command=('./mybot', '--level', '3'), max_bytes=4294967296.0)
    """

    command: tuple[str, ...] = attrs.field(converter=_words)
    max_bytes: float | None = attrs.field(
        default=4 * GIB, kw_only=True, validator=_positive_or_none
    )

    def __str__(self) -> str:
        """Return the command."""
        return shlex.join(self.command)


def _is_address(_instance: object, _attribute: object, address: str) -> None:
    host, _, port = str(address).rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 2**16):
        message = f"address is {shown(address)}; it must be host:port, as 127.0.0.1:7000."
        raise InvalidParameterError(message)


@attrs.frozen
class Remote(_Timed):
    """A program that listens at an address and plays over TCP.

    Each seat has its own connection, which is kept between games. The program speaks the same
    protocol as a :class:`gamedp.play.Program`, and loses for the same reasons; the connection is
    then closed, and a new one is opened for the next game.

    Parameters
    ----------
    address : str
        ``"host:port"``.
    seconds, increment, margin, start_seconds : float
        As for :class:`gamedp.play.Program`.

    Examples
    --------
    >>> str(Remote("127.0.0.1:7000"))
    'tcp:127.0.0.1:7000'
    """

    address: str = attrs.field(validator=_is_address)

    def __str__(self) -> str:
        """Return the address, as the command line takes it."""
        return f"tcp:{self.address}"


def _opened(player: Program | Remote) -> Pipes | Connection:
    """Start a program, or connect to one."""
    if isinstance(player, Program):
        return Pipes(player.command, player.max_bytes)
    host, _, port = player.address.rpartition(":")
    return Connection(host.strip("[]"), int(port), player.start_seconds)


@attrs.define
class Clock:
    """The remaining time of a program.

    Examples
    --------
    >>> clock = Clock(left=1.0, increment=0.5, margin=0.25)
    >>> clock.limit
    1.25
    >>> clock.charge(1.125)
    >>> clock.left
    0.5
    """

    left: float
    increment: float
    margin: float

    @property
    def limit(self) -> float:
        """The seconds within which an answer must come."""
        return self.left + self.margin

    def charge(self, seconds: float) -> None:
        """Subtract the seconds of an answer, and add the increment."""
        self.left = max(0.0, self.left - seconds) + self.increment


class Session(Seat):
    """A running program: started on demand, kept between games, closed after a fault.

    Attributes
    ----------
    name : str
        The name that the program gives itself.
    news : dict
        Keys added to each question besides those of the protocol.
    questions : int
        Number of actions it has been asked for.
    slowest : float
        Seconds of the slowest answer to such a question.
    ended : str or None
        The program's own exit status; None if it had to be killed, or listens elsewhere.
    """

    def __init__(self, rules: Rules, player: Program | Remote) -> None:
        self.name = str(player)
        self.news: dict[str, Any] = {}
        self.questions, self.slowest = 0, 0.0
        self.ended: str | None = None
        self._rules, self._player = rules, player
        self._game = game_facts(rules.game)
        self._link: Pipes | Connection | None = None
        self._clock = Clock(0.0, 0.0, 0.0)
        self._is_in_game = False

    def begin(self, number: int) -> None:
        """Start the program if it is not running, and ask whether it is ready."""
        player = self._player
        if self._link is None:
            self._link = _opened(player)
        self._clock = Clock(player.seconds, player.increment, player.margin)
        facts = {"protocol": VERSION, **self._game, "seat": number}
        times = {"seconds": player.seconds, "increment": player.increment}
        self.name, _ = self._ask(
            {"ask": "hello", **facts, **times},
            player.start_seconds,
            lambda answer: name_in(answer, str(player)),
        )
        self._is_in_game = True

    def choose(self, state: Any, actions: Sequence[Any], rng: np.random.Generator) -> Any:  # noqa: ARG002 - the signature of all seats
        """Ask for an action, while the program's clock runs."""
        left = {"left": round(self._clock.left, 6)}
        asked = question(self._rules, state, actions) | left | self.news
        action, seconds = self._ask(
            asked, self._clock.limit, lambda answer: action_in(answer, actions)
        )
        self._clock.charge(seconds)
        self.questions, self.slowest = self.questions + 1, max(self.slowest, seconds)
        return action

    def end(self, payoffs: Sequence[float] | None, forfeit: Forfeit | None) -> None:
        """Tell the program how the game has ended, unless it has lost by a fault."""
        if self._is_in_game:
            self.tell(end_message(payoffs, forfeit))
        self._is_in_game = False

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that needs no answer."""
        if self._link is not None:
            try:
                self._link.channel.tell(message_line(message))
            except Fault:  # it is gone; the next question finds out
                self._part(kill=True)

    def listen(self, seconds: float) -> bytes:
        """Return what the program writes unasked within the given seconds."""
        return b"" if self._link is None else self._link.channel.unasked(seconds)

    def close(self) -> None:
        """End the program, or hang up."""
        self._part(kill=False)

    def _ask(
        self, message: dict[str, Any], seconds: float, read: Callable[[dict[str, Any]], Answer]
    ) -> tuple[Answer, float]:
        """Return what `read` finds in the answer, and the seconds the answer took."""
        assert self._link is not None  # noqa: S101 - begin has opened it
        number = secrets.randbits(31)  # unguessable: no answer comes before its question
        line = message_line({"ask": message["ask"], "id": number} | message)
        try:
            answer, taken = self._link.channel.ask(line, seconds)
            return read(read_answer(answer, number)), taken
        except Fault as fault:
            words = self._link.last_words(wait=fault.reason == DISCONNECT)
            self._part(kill=True)
            raise Fault(fault.reason, fault.detail + words) from None

    def _part(self, *, kill: bool) -> None:
        link, self._link = self._link, None
        if link is not None:
            self.ended = link.close(kill=kill)
