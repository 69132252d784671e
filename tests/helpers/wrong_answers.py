"""Solvers that answer wrongly, never, or not as they should, to be compared with right ones."""

import os
import time

import attrs
import numpy as np

import gamedp

RIGHT = gamedp.solvers.ValueIteration()


@attrs.frozen
class _Changed:
    """What value iteration finds, changed."""

    def supports(self, problem):
        return RIGHT.supports(problem)

    def solve(self, problem, *, tolerance, progress=None):
        return self.change(RIGHT.solve(problem, tolerance=tolerance, progress=progress))


class Wrong(_Changed):
    def change(self, solution):
        numbers = {name: getattr(solution, name) + 1 for name in ("values", "lower", "upper")}
        return attrs.evolve(solution, **numbers)


class Endless(_Changed):
    def change(self, solution):
        while solution:
            time.sleep(0.1)


class Greedy(_Changed):
    def change(self, solution):
        kept = [solution]
        while kept:
            kept.append(np.ones(10**7))
            time.sleep(0.01)


class Raising(_Changed):
    def change(self, solution):
        raise ZeroDivisionError("on purpose")  # noqa: EM101, TRY003 - the words are tested


@attrs.frozen
class RaisingLater(_Changed):
    calls: list = attrs.field(factory=list, repr=False)

    def change(self, solution):
        self.calls.append(1)
        if len(self.calls) > 3:
            raise ZeroDivisionError("on purpose")  # noqa: EM101, TRY003 - the words are tested
        return solution


class Dying(_Changed):
    def change(self, solution):
        os._exit(7)


class Mute(Dying):
    """It does not even say what it supports."""

    def supports(self, problem):
        os._exit(7)


class Loud(_Changed):
    def change(self, solution):
        print("here I am")  # noqa: T201 - on purpose
        return solution
