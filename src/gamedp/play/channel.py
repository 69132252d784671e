"""Lines to and from a program, over pipes or TCP, each with a limit of time and of size.

Reading and writing never block: one loop waits for the first event, the end of the time included.
It does not use the event loop of asyncio: in notebooks, where games are also played, one is already
running.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.play.protocol import DISCONNECT, MOST_BYTES, NO_START, PROTOCOL, TIME, Fault

KEEPER = Path(__file__).with_name("keeper.py")
"""The script that starts a program and ends it."""

CHUNK = 65_536
"""Largest number of bytes per read."""

MOST_KEPT = 2_000
"""Number of bytes kept from the end of the standard error; earlier ones are read and dropped."""

GRACE, DYING = 1.0, 5.0
"""Seconds a program has to end after its input has ended, and to disappear after being killed."""

MOST_START, WAKING = 60.0, 0.1
"""Seconds until a program must have been started, and between attempts to wake its keeper."""

LAST_WORDS = 0.25
"""Seconds to wait for the exit status of a program that has closed its output."""


class Channel:
    """Questions to a program and its answers, one line each.

    Parameters
    ----------
    source, sink : int or socket
        To read and to write, neither of which may block.
    receive, send : callable
        Read at most a given number of bytes from `source`; write some of the given bytes to `sink`,
        and return their number.
    clock : callable, optional
        Returns the seconds since a fixed moment.
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
        """Send a line; return the answering line without its end, and the seconds it took.

        Raises
        ------
        Fault
            If no answer comes within the given seconds, an answer is too long, more than one comes,
            or the program is gone.
        """
        began = self._clock()
        self._unsent += line
        self._push()
        while (answer := self._line()) is None:
            left = began + seconds - self._clock()
            ready = self._selector.select(max(left, 0.0))
            # Data that is ready is accepted, however late: this process may have slept, not the
            # program.
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
        """Send as much of a line without an answer as can be sent immediately."""
        self._unsent += line
        self._push()

    def unasked(self, seconds: float) -> bytes:
        """Return the data that arrives unasked within the given seconds.

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
        """Call `read` whenever another file has data, while waiting for an answer."""
        self._selector.register(other, selectors.EVENT_READ, read)

    def forget(self, other: int) -> None:
        """Stop watching a file."""
        self._selector.unregister(other)

    def close(self) -> None:
        """Close the selector."""
        self._selector.close()

    def _line_ends(self) -> int:
        return self._received.find(b"\n")

    def _line(self) -> bytes | None:
        """Remove and return the first complete line of the received data."""
        end = self._line_ends()
        if end >= MOST_BYTES or (end < 0 and len(self._received) >= MOST_BYTES):
            raise Fault(PROTOCOL, f"it writes a line of more than {MOST_BYTES:,} bytes.")
        if end < 0:
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _pull(self) -> None:
        """Read the available data."""
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
        """Write as much as possible, and schedule the rest."""
        try:
            while self._unsent:
                del self._unsent[: self._send(bytes(self._unsent[:CHUNK]))]
        except BlockingIOError:
            pass  # it reads slowly, or not at all; the time limit decides
        except OSError as error:
            raise Fault(DISCONNECT, f"writing fails: {error}.") from None
        self._wait_to_write(bool(self._unsent))

    def _wait_to_write(self, wanted: bool) -> None:
        """Let the selector watch the sink if data is left to be written."""
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
        If none does, or connecting takes more than the given seconds.
    """

    def __init__(self, host: str, port: int, seconds: float) -> None:
        try:
            self._socket = socket.create_connection((host, port), timeout=seconds)
        except (OSError, UnicodeError) as error:  # a name that cannot be one
            raise Fault(NO_START, f"{host}:{port} does not answer: {error}.") from None
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.channel = Channel(self._socket, self._socket, self._socket.recv, self._socket.send)

    def last_words(self, *, wait: bool) -> str:  # noqa: ARG002 - as for pipes
        """Return further details of a fault."""
        return ""

    def close(self, *, kill: bool) -> str | None:
        """Close the connection; a program without a fault can still read what was sent."""
        self.channel.close()
        if not kill:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
        self._socket.close()
        return None


def _signal_name(number: int) -> str:
    """Return the name of a signal, or its number if it has no name.

    >>> _signal_name(9), _signal_name(40)
    ('SIGKILL', 'signal 40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _has_ended(process: int) -> bool:
    """Return whether a child process has ended, without waiting for it.

    Its number is not reused before it is waited for, so killing by the number hits no other
    process.
    """
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process, options) is not None


class Pipes:
    """A program that is started here, in its own process group, with pipes to its standard files.

    It ends with this object and with this process, however these end; :mod:`gamedp.play.keeper`
    ensures that.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell reads them.
    max_bytes : float or None
        Limit of the address space of each of its processes; enforced on Linux only.

    Raises
    ------
    Fault
        If the program cannot be started.
    """

    _process: subprocess.Popen[bytes] | None = None
    _pipes: tuple[IO[bytes], ...] = ()

    def __init__(self, command: Sequence[str], max_bytes: float | None) -> None:
        if not hasattr(os, "killpg") or not sys.executable:
            message = "programs are started on POSIX systems; elsewhere, let it listen: Remote."
            raise UnsupportedProblemError(message)
        is_linux = sys.platform.startswith("linux")
        try:
            process = self._start(command, int(max_bytes) if max_bytes and is_linux else 0)
        except BaseException as error:
            self._end()
            if not isinstance(error, (OSError, ValueError)):
                raise
            raise Fault(NO_START, f"it cannot be started: {error}.") from None
        assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018
        self._sink, self._source, self._aside = (
            file.fileno() for file in (process.stdin, process.stdout, process.stderr)
        )
        for file in (self._sink, self._source, self._aside, self._report):
            os.set_blocking(file, False)
        self.channel = Channel(
            self._source,
            self._sink,
            lambda most: os.read(self._source, most),
            lambda data: os.write(self._sink, data),
        )
        self._said, self._reported = b"", b""
        self.channel.watch(self._aside, self._listen)

    def __del__(self) -> None:
        """Kill a program that has not been closed: Ctrl-C may come at any moment."""
        self._end()

    def _start(self, command: Sequence[str], most: int) -> subprocess.Popen[bytes]:
        """Start the keeper; return once the program runs."""
        life, told = self._pipe(), self._pipe()
        self._report = told[0].fileno()
        with life[0], told[1]:  # the keeper has them
            numbers = (life[0].fileno(), told[1].fileno())
            words = [sys.executable, "-I", "-S", str(KEEPER), *map(str, numbers), str(most)]
            pipe = subprocess.PIPE
            self._process = process = subprocess.Popen(  # noqa: S603 - what the caller has asked for
                [*words, *command],
                bufsize=0,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                pass_fds=numbers,
                start_new_session=True,
            )
        until = time.monotonic() + MOST_START
        while not select.select(told[:1], (), (), WAKING)[0]:
            # The program runs before the keeper can say so, and may have stopped it.
            os.kill(process.pid, signal.SIGCONT)
            if time.monotonic() > until:
                raise Fault(NO_START, f"it has not been started within {MOST_START:g} s.")
        found = told[0].readline()
        if not found.endswith(b"\n"):
            assert process.stderr  # noqa: S101 - a pipe, as asked for
            os.set_blocking(process.stderr.fileno(), False)  # the program may hold it open
            reason = (process.stderr.read(MOST_KEPT) or b"").decode(errors="replace").strip()
            reason = reason or "it was killed, perhaps by the program"
            raise Fault(NO_START, f"the Python that starts it has ended: {reason}.")
        number, _, reason = found.decode(errors="replace").strip().partition(" ")
        if number:
            is_refused = int(number) == errno.EACCES
            hint = f" Is it executable (chmod +x {command[0]})?" if is_refused else ""
            raise Fault(NO_START, f"it cannot be started: {reason}.{hint}")
        return process

    def _pipe(self) -> tuple[IO[bytes], IO[bytes]]:
        """Return the two ends of a new pipe; both are closed at the end at the latest."""
        ends = os.pipe()
        files = open(ends[0], "rb", buffering=0), open(ends[1], "wb", buffering=0)  # noqa: PTH123, SIM115 - numbers of files
        self._pipes += files  # before anything is started
        return files

    def _listen(self) -> None:
        """Read the program's standard error, and keep its end."""
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
        return words + (f" Its last output: {shown(last)}." if last else "")

    def _status(self, seconds: float) -> str | None:
        """Return the exit status, None if it does not end in time; read the last output."""
        until = time.monotonic() + seconds
        while True:
            is_late = time.monotonic() > until
            is_gone = False
            for file in (self._report, self._source, self._aside):
                with contextlib.suppress(OSError):
                    read = os.read(file, CHUNK)
                    if file == self._report:
                        self._reported += read
                        is_gone = not read
                    elif file == self._aside:
                        self._said = (self._said + read)[-MOST_KEPT:]
            if self._reported.endswith(b"\n"):
                status = int(self._reported)
                return f"exit status {status}" if status >= 0 else _signal_name(-status)
            if is_gone:  # the keeper itself has been killed, and so has all of the group
                return signal.SIGKILL.name
            if is_late:
                return None
            time.sleep(0.005)

    def close(self, *, kill: bool) -> str | None:
        """End the program and its process group; return its own exit status.

        A program without a fault first sees the end of its input, and has a second to end.
        """
        assert self._process and self._process.stdin  # noqa: S101, PT018
        try:
            self.channel.close()
            self._process.stdin.close()
            return None if kill else self._status(GRACE)
        finally:
            self._end()

    def _end(self) -> None:
        """Kill the program and all of its process group, and close all files."""
        for pipe in self._pipes:
            pipe.close()  # one of them is the end that the keeper watches: it then kills the group
        process = self._process
        if process is None or process.returncode is not None:
            return
        for file in (process.stdin, process.stdout, process.stderr):
            if file is not None:
                file.close()
        until = time.monotonic() + DYING
        while not _has_ended(process.pid) and time.monotonic() < until:
            time.sleep(0.001)
        # The keeper has not been waited for, so the group still exists and its number is not
        # reused.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # the system itself delays its end
            process.wait(DYING)
