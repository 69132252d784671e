"""Executors whose workers are to change no result."""

import multiprocessing
import random
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor


def processes(number=2):
    return ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"))


class Shuffling(Executor):
    """One worker that takes what has been submitted in a random order, each of it twice."""

    def __init__(self):
        self._waiting, self._thread = [], ThreadPoolExecutor(1)
        self._drawn = random.Random(3)  # noqa: S311 - no secret

    def submit(self, function, /, *arguments, **named):
        future = Future()
        self._waiting.append((future, function, arguments))
        self._thread.submit(self._one)
        return future

    def _one(self):
        place = self._drawn.randrange(len(self._waiting))
        future, function, arguments = self._waiting.pop(place)
        if future.set_running_or_notify_cancel():
            function(*arguments)
            future.set_result(function(*arguments))

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._thread.shutdown(wait, cancel_futures=cancel_futures)
