"""Long work in threads: shared by all who wait for it, and given up when nobody does any more."""

from __future__ import annotations

import collections
import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

import attrs

from gamedp.runtime.progress import Progress, ProgressCallback
from gamedp.web.refusals import Refused, ends_the_work, too_busy

__all__ = ["GivenUp", "Job", "Jobs", "Pending"]

LEASE = 5.0
"""Seconds that work goes on after a waiting client was told to ask again."""

FORGIVE = 30.0
"""Seconds after which work that has failed is tried again: memory may be free by then."""

GLANCE = 0.05
"""Seconds after which who waits for a turn looks whether anybody still wants the result."""

BEFORE = Progress("wait", 0, None, 0.0, "")
"""What is told of work that waits for its turn."""

MOST_WAITING = 16
"""Jobs that wait for their turn; more are refused."""


logger = logging.getLogger("gamedp")


class GivenUp(BaseException):
    """Is raised in the work's own progress callback.

    Not an `Exception`: one while rules are compiled would be taken for a reason not to compile.
    """


class Pending(Exception):  # noqa: N818 - the answer is on its way
    """What was asked needs a job that is not done.

    Attributes
    ----------
    job : Job
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job


@attrs.frozen
class Lease:
    """A client that was told to ask again, and until when it counts as one who waits."""

    client: Hashable
    until: float


@attrs.define(eq=False)
class Job:
    """Work in a thread of its own, and who waits for it.

    A client that waits counts while its request is held, and some seconds after it was told to ask
    again: whoever comes back by the same connection takes the place of that. One that has hung up
    does not count.

    Attributes
    ----------
    done : threading.Event
    result
        What the work has returned, or the exception that it has raised. If it has `bytes`, these
        count.
    """

    kept: bool = False
    done: threading.Event = attrs.field(factory=threading.Event)
    result: Any = None
    _progress: Progress = BEFORE
    _since: float = attrs.field(factory=time.monotonic)
    _waiting: int = 0
    _leases: list[Lease] = attrs.field(factory=list)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _given_up: bool = False
    _failed_at: float | None = None

    def lease(self, client: Hashable = None) -> None:
        """Count a client for some seconds, so that it can ask again; None before it has joined."""
        self._leases.append(Lease(client, time.monotonic() + LEASE))

    def join(self, client: Hashable = None) -> bool:
        """Count one who waits; false if the work has been given up."""
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
        """Count one less; for some seconds more, if that one was told to ask again."""
        with self._lock:
            self._waiting -= 1
            if coming_back:
                self.lease(client)

    def end(self, result: Any) -> None:
        """Keep what the work has returned, or the exception that it has raised."""
        if isinstance(result, BaseException):
            # The frames that it has passed through keep alive all that the work had built.
            result.__traceback__ = result.__cause__ = result.__context__ = None
        self.result = result
        self._failed_at = time.monotonic() if isinstance(result, BaseException) else None
        self.done.set()

    def is_over(self) -> bool:
        """Say whether it is done, but has not failed some time ago."""
        failed_at = self._failed_at
        return self.done.is_set() and (failed_at is None or time.monotonic() < failed_at + FORGIVE)

    def told(self) -> dict[str, Any]:
        """Return how far the work is, as the answer with status 202 has it."""
        last = self._progress
        return {
            "phase": last.phase,
            "done": last.done,
            "total": last.total,
            "seconds": round(time.monotonic() - self._since, 3),
            "detail": last.detail,
        }

    def report(self, progress: Progress) -> None:
        """Keep how far the work is; give it up if nobody wants the result.

        Raises
        ------
        GivenUp
            If so, now and whenever it is called later.
        """
        self._progress = progress
        if not self.is_wanted():
            raise GivenUp

    def is_wanted(self) -> bool:
        """Say whether anybody waits; if not, the work is given up for good."""
        with self._lock:
            self._drop_old()
            if not (self._waiting or self._leases):
                self._given_up = True
            return not self._given_up

    def give_up(self) -> None:
        """Stop the work, whoever waits."""
        with self._lock:
            self._given_up = True

    def value(self) -> Any:
        """Return the result; raise the exception that the work has raised.

        Raises
        ------
        Pending
            If it is not done.
        """
        if not self.done.is_set():
            raise Pending(self)
        if isinstance(self.result, BaseException):
            raise self.result.with_traceback(None)  # or it would grow with every raise
        return self.result

    def _drop_old(self) -> None:
        now = time.monotonic()
        self._leases = [each for each in self._leases if each.until >= now]


class Jobs:
    """Jobs by their keys: some at a time, each once; results are kept while there is room.

    Parameters
    ----------
    at_a_time : int
    kept : int
        Results kept at most; those that were asked for last.
    kept_bytes : float
        Memory that these may take, as far as they say it.
    """

    def __init__(self, at_a_time: int, kept: int, kept_bytes: float = float("inf")) -> None:
        self._turns = threading.Semaphore(at_a_time)
        self._kept = kept
        self._kept_bytes = kept_bytes
        self._jobs: collections.OrderedDict[Hashable, Job] = collections.OrderedDict()
        self._lock = threading.Lock()
        self.started = 0

    def find(
        self, key: Hashable, work: Callable[[ProgressCallback], Any], *, kept: bool = False
    ) -> Job:
        """Return the job of a key; a new one if there is none.

        One that is to be `kept` is not forgotten, once it is done.

        Raises
        ------
        Refused
            If too many wait for their turn.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and (job.is_over() or (not job.done.is_set() and job.is_wanted())):
                self._jobs.move_to_end(key)
                return job
            running = sum(not each.done.is_set() for each in self._jobs.values())
            if running > MOST_WAITING:
                raise too_busy()
            job = Job(kept=kept)
            job.lease()
            thread = threading.Thread(target=self._run, args=(key, job, work), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system has no more threads
                raise too_busy() from None
            self._jobs[key] = job
            self._jobs.move_to_end(key)  # where one that has failed was before
            self.started += 1
        return job

    def put(self, key: Hashable, result: Any) -> None:
        """Keep a result for good."""
        job = Job(kept=True)
        job.end(result)
        with self._lock:
            self._jobs[key] = job

    def known(self, key: Hashable) -> Job | None:
        """Return the job of a key, if there is one that is done."""
        with self._lock:
            job = self._jobs.get(key)
            return job if job is not None and job.done.is_set() else None

    def close(self) -> None:
        """Give up all that is not done."""
        with self._lock:
            for job in self._jobs.values():
                job.give_up()

    def _run(self, key: Hashable, job: Job, work: Callable[[ProgressCallback], Any]) -> None:
        while not self._turns.acquire(timeout=GLANCE):
            if not job.is_wanted():
                self._forget(key, job)
                return
        result: Any = None
        try:
            if job.is_wanted():
                result = work(job.report)
        except GivenUp:
            pass
        except Exception as error:  # noqa: BLE001 - whoever asks is told
            result = error
        except BaseException:  # rules may end the thread, by SystemExit for one
            logger.exception("work ends without a result")
            result = ends_the_work()
        finally:
            self._turns.release()
        if job._given_up:  # noqa: SLF001 - whatever the work has made of that
            self._forget(key, job)
        else:
            job.end(result)
            self._make_room()

    def _forget(self, key: Hashable, job: Job) -> None:
        job.end(Refused(503, "the work was given up; ask again."))
        with self._lock:
            if self._jobs.get(key) is job:
                del self._jobs[key]

    def _make_room(self) -> None:
        """Forget the results that nobody has asked for longest."""
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
