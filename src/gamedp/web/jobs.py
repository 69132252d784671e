"""Long work in threads, shared by all clients that wait for it, and abandoned when none does."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import attrs

from gamedp.runtime.limit import Progress, ProgressCallback
from gamedp.web.refusals import Refused, ends_the_work, too_busy

__all__ = ["CLIENT", "GivenUp", "Job", "Jobs", "Pending"]

CLIENT: contextvars.ContextVar[str] = contextvars.ContextVar("client", default="")
"""The client by address, which determines the turn of its work."""

LEASE_SECONDS = 5.0
"""Seconds that work continues after a waiting client was told to ask again."""

RETRY_SECONDS = 30.0
"""Seconds before work that has failed is tried again: memory may be free by then."""

GLANCE_SECONDS = 0.05
"""Seconds between checks, while waiting for a turn, of whether the result is still wanted."""

BEFORE = Progress("wait", 0, None, 0.0, "")
"""The progress of work that waits for its turn."""

MOST_WAITING = 16
"""Largest number of jobs that wait for their turn; more are refused."""

MOST_OF_ONE = 8
"""Largest number of unfinished jobs of one client; more are refused."""

SHORT_TURN_SECONDS = 2.0
"""Seconds of a short turn, in which small games are solved while large ones are running."""

logger = logging.getLogger("gamedp")


class GivenUp(BaseException):
    """Raised in the work's own progress callback.

    It is not an `Exception`, which during compilation would be taken for a reason not to compile.
    """


class _TurnIsOver(BaseException):
    """Raised in the same place when a short turn is over."""


class Pending(Exception):  # noqa: N818 - the answer is on its way
    """Raised if a request needs a job that is not done.

    Attributes
    ----------
    job : Job
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job


@attrs.frozen
class Lease:
    """A client that was told to ask again, and the time until which it counts as waiting."""

    client: Hashable
    until: float


@attrs.define(eq=False)
class Job:
    """Work in its own thread, and the clients that wait for it.

    A waiting client counts while its request is held, and some seconds after it was told to ask
    again; a request by the same connection then takes its place. A disconnected client does not
    count.

    Attributes
    ----------
    done : threading.Event
    client : str
        The first client to ask.
    since : float
        The time of that request.
    result
        The result of the work, or the exception that it has raised. Its `bytes`, if any, count as
        memory.
    """

    kept: bool = False
    client: str = ""
    done: threading.Event = attrs.field(factory=threading.Event)
    result: Any = None
    _progress: Progress = BEFORE
    since: float = attrs.field(factory=time.monotonic, init=False)
    _waiting: int = 0
    _leases: list[Lease] = attrs.field(factory=list)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _given_up: bool = False
    _failed_at: float | None = None
    _turn_ends: float | None = None

    def lease(self, client: Hashable = None) -> None:
        """Count a client for some seconds, so that it can ask again; None before it has joined."""
        self._leases.append(Lease(client, time.monotonic() + LEASE_SECONDS))

    def join(self, client: Hashable = None) -> bool:
        """Count a waiting client; return False if the work has been abandoned."""
        with self._lock:
            if self._given_up:
                return False
            self._drop_old()
            held = [each.client for each in self._leases]
            for place in (client, None):
                if place in held:
                    del self._leases[held.index(place)]
                    break
            self._waiting += 1
            return True

    def leave(self, client: Hashable = None, *, coming_back: bool) -> None:
        """Stop counting a client, after some seconds if it was told to ask again."""
        with self._lock:
            self._waiting -= 1
            if coming_back:
                self.lease(client)

    def wait_again(self) -> None:
        """Report that the work waits for its turn."""
        self._progress = BEFORE

    def end(self, result: Any) -> None:
        """Store the result of the work, or the exception that it has raised."""
        if isinstance(result, BaseException):
            # Its frames would keep alive everything that the work has built.
            result.__traceback__ = result.__cause__ = result.__context__ = None
        self.result = result
        self._failed_at = time.monotonic() if isinstance(result, BaseException) else None
        self.done.set()

    def is_over(self) -> bool:
        """Return whether it is done, and not failed so long ago that it is tried again."""
        failed = self._failed_at
        return self.done.is_set() and (failed is None or time.monotonic() < failed + RETRY_SECONDS)

    def progress_facts(self) -> dict[str, Any]:
        """Return the progress of the work, in the form of the response with status 202."""
        last = self._progress
        return {
            "phase": last.phase,
            "done": last.done,
            "total": last.total,
            "seconds": round(time.monotonic() - self.since, 3),
            "detail": last.detail,
        }

    def report(self, progress: Progress) -> None:
        """Store the progress of the work; abandon it if no client wants the result.

        Raises
        ------
        GivenUp
            If so, now and in all later calls.
        """
        self._progress = progress
        if not self.is_wanted():
            raise GivenUp
        ends = self._turn_ends
        # Compiled code is kept, so a compilation is not interrupted.
        if ends is not None and time.monotonic() > ends and progress.phase != "compile":
            raise _TurnIsOver

    @contextlib.contextmanager
    def limit_time(self, seconds: float | None) -> Iterator[None]:
        """Limit the time of the work inside, if there is a limit."""
        self._turn_ends = None if seconds is None else time.monotonic() + seconds
        try:
            yield
        finally:
            self._turn_ends = None

    def is_wanted(self) -> bool:
        """Return whether a client waits; if not, the work is abandoned permanently."""
        with self._lock:
            self._drop_old()
            if not (self._waiting or self._leases):
                self._given_up = True
            return not self._given_up

    def give_up(self) -> None:
        """Stop the work, regardless of waiting clients."""
        with self._lock:
            self._given_up = True

    def value(self) -> Any:
        """Return the result; raise the exception that the work has raised.

        Raises
        ------
        Pending
            If the work is not done.
        """
        if not self.done.is_set():
            raise Pending(self)
        if isinstance(self.result, BaseException):
            raise self.result.with_traceback(None)  # otherwise it would grow with every raise
        return self.result

    def _drop_old(self) -> None:
        now = time.monotonic()
        self._leases = [each for each in self._leases if each.until >= now]


class _Turns:
    """A scheduler of the turns of jobs.

    A limited number of jobs runs at a time, without a time limit. The next one is of the client
    with the fewest running jobs. One more runs for a short turn, so that small games do not wait
    for large ones; if it is not done by then, it waits for the others.
    """

    def __init__(self, at_a_time: int) -> None:
        self._changed = threading.Condition()
        self._long, self._short = at_a_time, 1
        self._waiting: list[tuple[Job, bool]] = []
        self._at_work: collections.Counter[str] = collections.Counter()

    def take(self, job: Job, *, was_short: bool) -> float | None:
        """Wait for a turn, and return its length in seconds, None without a limit.

        Raises
        ------
        GivenUp
            If no client wants the result any more.
        """
        entry = job, was_short
        with self._changed:
            self._waiting.append(entry)
            try:
                while True:
                    if not job.is_wanted():
                        raise GivenUp
                    if self._long and entry is min(self._waiting, key=self._place):
                        self._long -= 1
                        seconds = None
                        break
                    # Among equals, the newest: earlier ones have had such a turn, or are about to.
                    small = [each for each in reversed(self._waiting) if not each[1]]
                    if self._short and small and entry is min(small, key=self._share):
                        self._short -= 1
                        seconds = SHORT_TURN_SECONDS
                        break
                    self._changed.wait(GLANCE_SECONDS)
            finally:
                self._waiting.remove(entry)
                self._changed.notify_all()
            self._at_work[job.client] += 1
        return seconds

    def give_back(self, job: Job, seconds: float | None) -> None:
        """Release the turn."""
        with self._changed:
            self._at_work[job.client] -= 1
            if seconds is None:
                self._long += 1
            else:
                self._short += 1
            self._changed.notify_all()

    def _share(self, entry: tuple[Job, bool]) -> int:
        return self._at_work[entry[0].client]

    def _place(self, entry: tuple[Job, bool]) -> tuple[int, float]:
        return self._share(entry), entry[0].since


class Jobs:
    """Jobs by key, each run once, a limited number at a time, with a cache of results.

    Parameters
    ----------
    at_a_time : int
    kept : int
        Largest number of results kept, the most recently used ones.
    kept_bytes : float
        Largest memory of these, as far as they declare it.
    """

    def __init__(self, at_a_time: int, kept: int, kept_bytes: float = float("inf")) -> None:
        self._turns = _Turns(at_a_time)
        self._kept = kept
        self._kept_bytes = kept_bytes
        self._jobs: collections.OrderedDict[Hashable, Job] = collections.OrderedDict()
        self._lock = threading.Lock()
        self.started = 0

    def find(
        self, key: Hashable, work: Callable[[ProgressCallback], Any], *, kept: bool = False
    ) -> Job:
        """Return the job of a key; a new one if there is none.

        The result of a `kept` job is never discarded once it is done.

        Raises
        ------
        Refused
            If too many jobs wait for their turn.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and (job.is_over() or (not job.done.is_set() and job.is_wanted())):
                self._jobs.move_to_end(key)
                return job
            client = CLIENT.get()
            running = [each.client for each in self._jobs.values() if not each.done.is_set()]
            if len(running) > MOST_WAITING or running.count(client) >= MOST_OF_ONE:
                raise too_busy()
            job = Job(kept=kept, client=client)
            job.lease()
            thread = threading.Thread(target=self._run, args=(key, job, work), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system has no more threads
                raise too_busy() from None
            self._jobs[key] = job
            self._jobs.move_to_end(key)  # it may replace one that has failed
            self.started += 1
        return job

    def put(self, key: Hashable, result: Any) -> None:
        """Keep a result permanently."""
        job = Job(kept=True)
        job.end(result)
        with self._lock:
            self._jobs[key] = job

    def known(self, key: Hashable) -> Job | None:
        """Return the job of a key if it is done."""
        with self._lock:
            job = self._jobs.get(key)
            return job if job is not None and job.done.is_set() else None

    def close(self) -> None:
        """Abandon all unfinished jobs."""
        with self._lock:
            for job in self._jobs.values():
                job.give_up()

    def _run(self, key: Hashable, job: Job, work: Callable[[ProgressCallback], Any]) -> None:
        try:
            result = self._worked(job, work)
        except GivenUp:
            result = None
        except Exception as error:  # noqa: BLE001 - whoever asks is told
            result = error
        except BaseException:  # rules may end the thread, for example by SystemExit
            logger.exception("work ends without a result")
            result = ends_the_work()
        if job._given_up:  # noqa: SLF001 - whatever the work has made of that
            self._forget(key, job)
        else:
            job.end(result)
            self._make_room()

    def _worked(self, job: Job, work: Callable[[ProgressCallback], Any]) -> Any:
        """Return the result of the work, which is restarted after a turn that was too short."""
        was_short = False
        while True:
            seconds = self._turns.take(job, was_short=was_short)
            try:
                with job.limit_time(seconds):
                    return work(job.report)
            except _TurnIsOver:
                job.wait_again()
                was_short = True
            finally:
                self._turns.give_back(job, seconds)

    def _forget(self, key: Hashable, job: Job) -> None:
        job.end(Refused(503, "the work was given up; ask again."))
        with self._lock:
            if self._jobs.get(key) is job:
                del self._jobs[key]

    def _make_room(self) -> None:
        """Discard the least recently used results."""
        with self._lock:
            done = [
                (key, job) for key, job in self._jobs.items() if job.done.is_set() and not job.kept
            ]
            count, size = len(done), sum(_bytes_of(job) for _, job in done)
            for key, job in done[:-1]:
                if count <= self._kept and size <= self._kept_bytes:
                    break
                del self._jobs[key]
                count, size = count - 1, size - _bytes_of(job)


def _bytes_of(job: Job) -> int:
    return int(getattr(job.result, "bytes", 0))
