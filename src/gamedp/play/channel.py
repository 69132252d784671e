"""Lines to and from a program, over pipes or TCP: each within a limit of time and of size.

Reading and writing never block: one loop waits for whatever comes first, also for the time to run
out. No event loop of asyncio: games are also played where one is running already, in notebooks.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.play.protocol import DISCONNECT, MOST_BYTES, NO_START, PROTOCOL, TIME
from gamedp.play.seat import Fault

__all__ = ["Channel", "Connection", "Pipes"]

CHUNK = 65_536
"""Bytes read at once."""

MOST_KEPT = 2_000
"""Bytes of the standard error that are kept, the last ones; the others are read and dropped."""

GRACE, DYING = 1.0, 5.0
"""Seconds: to end after the input has ended, and to be gone after being killed."""

LAST_WORDS = 0.25
"""Seconds to wait for the exit status of a program that has closed its output."""


class Channel:
    """Questions to a program and its answers, one line each.

    Parameters
    ----------
    source, sink : int or socket
        To read and to write, neither of which may block.
    receive, send : callable
        Read at most so many bytes from `source`; write some of the bytes to `sink`, and return how
        many.
    clock : callable, optional
        Returns the seconds since some moment.
    """

    def __init__(
        self,
        source: Any,
        sink: Any,
        receive: Callable[[int], bytes],
        send: Callable[[bytes], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._sink = source, sink
        self._receive, self._send = receive, send
        self._clock = clock
        self._selector = getattr(selectors, "PollSelector", selectors.SelectSelector)()
        self._selector.register(source, selectors.EVENT_READ, self._pull)
        self._received, self._unsent = bytearray(), bytearray()

    def ask(self, line: bytes, seconds: float) -> tuple[bytes, float]:
        """Send a line; return the line that answers it, without its end, and the seconds it took.

        Raises
        ------
        Fault
            If no answer comes within so many seconds, one is too long, more than one comes, or the
            program is gone.
        """
        began = self._clock()
        self._unsent += line
        self._push()
        while (answer := self._line()) is None:
            left = began + seconds - self._clock()
            ready = self._selector.select(max(left, 0.0))
            # What lies ready is taken, however late: this process may have slept, not the program.
            for key, _ in ready:
                key.data()
            if left <= 0 and self._line_ends() < 0:
                raise Fault(TIME, f"no answer within {seconds:.3f} s.")
        if self._received:
            lines = answer + b"\n" + self._received
            message = f"it writes more than its answer: {shown(lines)}."
            raise Fault(PROTOCOL, message)
        return answer, self._clock() - began

    def tell(self, line: bytes) -> None:
        """Send a line that wants no answer, as much of it as can be sent at once."""
        self._unsent += line
        self._push()

    def unasked(self, seconds: float) -> bytes:
        """Return what comes within so many seconds without being asked for.

        Raises
        ------
        Fault
            If the program is gone.
        """
        until = self._clock() + seconds
        while not self._received and (left := until - self._clock()) > 0:
            for key, _ in self._selector.select(left):
                key.data()
        return bytes(self._received)

    def watch(self, other: int, read: Callable[[], None]) -> None:
        """Call `read` whenever there is something in another file, while waiting for an answer."""
        self._selector.register(other, selectors.EVENT_READ, read)

    def forget(self, other: int) -> None:
        """Stop watching a file."""
        self._selector.unregister(other)

    def close(self) -> None:
        """Wait for nothing any more."""
        self._selector.close()

    def _line_ends(self) -> int:
        return self._received.find(b"\n")

    def _line(self) -> bytes | None:
        """Take the first whole line out of what has been received."""
        end = self._line_ends()
        if end >= MOST_BYTES or (end < 0 and len(self._received) >= MOST_BYTES):
            raise Fault(PROTOCOL, f"it writes a line of more than {MOST_BYTES:,} bytes.")
        if end < 0:
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _pull(self) -> None:
        """Read what is there."""
        try:
            found = self._receive(CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise Fault(DISCONNECT, f"reading fails: {error}.") from None
        if not found:
            raise Fault(DISCONNECT, "it has closed its output.")
        self._received += found

    def _push(self) -> None:
        """Write what can be written, and be woken for the rest."""
        try:
            while self._unsent:
                del self._unsent[: self._send(bytes(self._unsent[:CHUNK]))]
        except BlockingIOError:
            pass  # it reads slowly, or not at all; the time will tell
        except OSError as error:
            raise Fault(DISCONNECT, f"writing fails: {error}.") from None
        self._wait_to_write(bool(self._unsent))

    def _wait_to_write(self, wanted: bool) -> None:
        """Have the selector watch the sink, if something is left to be written."""
        if self._sink == self._source:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wanted else 0)
            if self._selector.get_key(self._source).events != events:
                self._selector.modify(self._source, events, self._both if wanted else self._pull)
        elif wanted != (self._sink in self._selector.get_map()):
            if wanted:
                self._selector.register(self._sink, selectors.EVENT_WRITE, self._push)
            else:
                self._selector.unregister(self._sink)

    def _both(self) -> None:
        self._push()
        self._pull()


class Connection:
    """A program that listens at an address.

    Raises
    ------
    Fault
        If none does, or it takes more than so many seconds to connect.
    """

    def __init__(self, host: str, port: int, seconds: float) -> None:
        try:
            self._socket = socket.create_connection((host, port), timeout=seconds)
        except OSError as error:
            raise Fault(NO_START, f"{host}:{port} does not answer: {error}.") from None
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.channel = Channel(self._socket, self._socket, self._socket.recv, self._socket.send)

    def last_words(self, *, wait: bool) -> str:  # noqa: ARG002 - as for pipes
        """Return what else there is to say of a fault."""
        return ""

    def close(self, *, kill: bool) -> str | None:
        """Hang up; a program that has done nothing wrong is left to read what was sent."""
        self.channel.close()
        if not kill:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
        self._socket.close()
        return None


def _signal_name(number: int) -> str:
    """Return the name of a signal, or its number: those for programs' own use have none.

    >>> _signal_name(9), _signal_name(40)
    ('SIGKILL', 'signal 40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Pipes:
    """A program that is started here, in a process group of its own, with pipes to all its files.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell reads them.
    max_bytes : float or None
        Of address space that each of its processes may have; kept by Linux alone.

    Raises
    ------
    Fault
        If the program cannot be started.
    """

    def __init__(self, command: Sequence[str], max_bytes: float | None) -> None:
        if not hasattr(os, "killpg"):
            message = "programs are started on POSIX systems; elsewhere, let it listen: Remote."
            raise UnsupportedProblemError(message)
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what the caller has asked for
                list(command),
                bufsize=0,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            hint = ""
            if isinstance(error, PermissionError):
                hint = f" Is it executable (chmod +x {command[0]})?"
            raise Fault(NO_START, f"it cannot be started: {error}.{hint}") from None
        self._limit(max_bytes)
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018
        self._sink, self._source, self._aside = (
            file.fileno()
            for file in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        for file in (self._sink, self._source, self._aside):
            os.set_blocking(file, False)
        self.channel = Channel(
            self._source,
            self._sink,
            lambda most: os.read(self._source, most),
            lambda data: os.write(self._sink, data),
        )
        self._said = b""
        self.channel.watch(self._aside, self._listen)

    def _limit(self, max_bytes: float | None) -> None:
        """Set limits of the process from outside: nothing of ours runs between fork and exec."""
        if max_bytes is None or not sys.platform.startswith("linux"):
            return
        import resource  # noqa: PLC0415 - POSIX alone

        most = int(max_bytes)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone already
            resource.prlimit(self._process.pid, resource.RLIMIT_AS, (most, most))
            resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (0, 0))

    def _listen(self) -> None:
        """Read what the program writes to its standard error, and keep the end of it."""
        try:
            found = os.read(self._aside, CHUNK)
        except BlockingIOError:
            return
        if not found:
            self.channel.forget(self._aside)
        self._said = (self._said + found)[-MOST_KEPT:]

    def last_words(self, *, wait: bool) -> str:
        """Return the exit status, if it has ended, and the last line of its standard error."""
        status = self._status(LAST_WORDS if wait else 0.0)
        words = "" if status is None else f" It has ended with {status}."
        lines = self._said.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return words + (f" Its last words: {shown(last)}." if last else "")

    def _status(self, seconds: float) -> str | None:
        """Return how the process ends within so many seconds, and read what it still writes.

        The system is not told that anyone has taken note of it: so the number of the process, and
        of its group, stays its own.
        """
        until = time.monotonic() + seconds
        while True:
            found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            for file in (self._source, self._aside):
                with contextlib.suppress(OSError):
                    read = os.read(file, CHUNK)
                    self._said = (self._said + (read if file == self._aside else b""))[-MOST_KEPT:]
            if found is not None:
                if found.si_code == os.CLD_EXITED:
                    return f"exit status {found.si_status}"
                return _signal_name(found.si_status)
            if time.monotonic() > until:
                return None
            time.sleep(0.005)

    def close(self, *, kill: bool) -> str | None:
        """End the program and all of its process group; return how it has ended by itself.

        One that has done nothing wrong sees the end of its input first, and has a second to end.
        """
        process = self._process
        assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018
        self.channel.close()
        process.stdin.close()
        status = None if kill else self._status(GRACE)
        # The process has not been waited for: its group is there, and nobody else's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.stderr.close()
        with contextlib.suppress(subprocess.TimeoutExpired):  # the system itself holds it
            process.wait(DYING)
        return status
