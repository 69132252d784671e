"""Work that is dealt to threads or to the workers of an executor.

Threads share their data. To other workers it is sent, and they keep what they were sent last: it is
pickled once, and unpickled once by each of them.
"""

from __future__ import annotations

import functools
import pickle
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

from gamedp.errors import InvalidParameterError, shown

Workers: TypeAlias = int | Executor
"""A number of threads, or an executor of the caller's."""

Call = TypeVar("Call")
Result = TypeVar("Result")
Work: TypeAlias = Callable[[Sequence[Call]], Iterable[Result]]
"""It takes some calls, and yields the result of each."""

PARTS = 256
"""Number of parts in which calls are dealt at most: what they need is sent with each."""

LOCAL = threading.local()
"""The work that a worker was sent last, as bytes and unpacked."""

WAY_OUT = (
    "Define it, or its class, in a module that the workers can import, or give an executor of "
    "threads."
)


def check_executor(executor: Any, needed: Mapping[str, Any]) -> None:
    """Refuse an executor to whose workers something cannot be sent.

    Parameters
    ----------
    executor
        None for no executor.
    needed : mapping of str to object
        What is sent, by what it is called in a message.

    Raises
    ------
    InvalidParameterError
        If it is not an executor, or cannot be sent something.
    """
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        return
    if not isinstance(executor, Executor):
        message = f"executor is {shown(executor)}; it must be a concurrent.futures.Executor."
        raise InvalidParameterError(message)
    for name, thing in needed.items():
        try:
            pickle.dumps(thing)
        except Exception as error:
            message = f"{name}, {shown(thing)}, cannot be sent to workers: {error}. {WAY_OUT}"
            raise InvalidParameterError(message) from error


def deal(workers: Workers, work: Work[Call, Result], calls: Sequence[Call]) -> Generator[Result]:
    """Deal calls to workers; yield the results in the order of the calls.

    One thread is this one. Closing the generator withdraws what has not been begun.

    Raises
    ------
    concurrent.futures.BrokenExecutor
        If a worker is lost.
    InvalidParameterError
        If a worker cannot import what it is sent.
    """
    if workers == 1:
        yield from work(calls)
        return
    if not isinstance(workers, Executor):
        with ThreadPoolExecutor(workers) as pool:
            yield from deal(pool, work, calls)
        return
    do: Callable[[Sequence[Call]], list[Result]] = functools.partial(_done, work)
    if not isinstance(workers, ThreadPoolExecutor):
        do = functools.partial(_done_by_sent, pickle.dumps(work))
    size = max(1, -(-len(calls) // PARTS))
    asked: deque[Future[list[Result]]] = deque()
    try:
        for first in range(0, len(calls), size):
            asked.append(workers.submit(do, calls[first : first + size]))
        while asked:
            yield from asked.popleft().result()
    except BrokenExecutor as error:
        message = f"a worker of {shown(workers)} has ended: {error} Call again with a new executor."
        raise BrokenExecutor(message) from error
    finally:
        for future in asked:
            future.cancel()


def _done(work: Work[Call, Result], calls: Sequence[Call]) -> list[Result]:
    return list(work(calls))


def _done_by_sent(sent: bytes, calls: Sequence[Any]) -> list[Any]:
    """Do work that was sent, and keep it for further calls."""
    if getattr(LOCAL, "sent", None) != sent:
        try:
            LOCAL.work = pickle.loads(sent)  # noqa: S301 - from this program itself
        except (AttributeError, ImportError) as error:
            message = f"a worker does not find what it was sent: {error}. {WAY_OUT}"
            raise InvalidParameterError(message) from error
        LOCAL.sent = sent
    return _done(LOCAL.work, calls)
