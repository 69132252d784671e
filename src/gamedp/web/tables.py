"""Tables and searches behind the answers, each computed once for all clients."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import (
    CompilationError,
    GamedpError,
    LimitExceededError,
    NotSolvedError,
    UnsupportedProblemError,
)
from gamedp.policies.lengths import remoteness
from gamedp.rules.game import PLAIN_MARK, method
from gamedp.verbs.searching import search
from gamedp.verbs.solving import solve
from gamedp.web.catalogue import Basis, NoLengths
from gamedp.web.jobs import Jobs
from gamedp.web.refusals import Refused, rules_fail
from gamedp.web.stakes import stakes_of

if TYPE_CHECKING:
    from gamedp.policies.lengths import Remoteness
    from gamedp.results.search_result import SearchResult
    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import Progress, ProgressCallback
    from gamedp.runtime.options import CompileMode
    from gamedp.web.catalogue import Made
    from gamedp.web.requests import Look

__all__ = ["Limits", "WebTables"]

TOLERANCE = 1e-9
"""Tolerance of solving, finer than the digits on a page."""

MOST_SECONDS = 2.0
"""Largest number of seconds of a search, for any number of plies."""

MOST_REMOTE = 100_000
"""Largest number of states of a table for which the length of play is computed."""

logger = logging.getLogger("gamedp")


@attrs.frozen
class Limits:
    """Limits for the games of clients.

    Attributes
    ----------
    states : float
        Largest number of states of a game that is solved; a larger one is searched.
    seconds : float
        Time limit of solving.
    plain : float
        Seconds to solve rules that are known to run as plain Python, a hundred times slower.
    lengths : float
        Seconds to compute the length of play, after solving.
    bytes : float
        Memory limit of all tables that are kept together, and of solving one.
    tables : int
        Largest number of games kept, solved or not.
    searches : int
        Largest number of search results kept.
    shapes : int
        Largest number of shapes of games, set by requests, whose rules are compiled; the rules of
        further ones run as plain Python. numba compiles anew for each length of a tuple, keeps the
        code on disk, and never frees its memory: one to three megabytes per shape.
    """

    states: float = 600_000
    seconds: float = 60.0
    plain: float = 5.0
    lengths: float = 20.0
    bytes: float = 2.0**31
    tables: int = 32
    searches: int = 512
    shapes: int = 32


class WebTables:
    """The tables and the searches of a server.

    Parameters
    ----------
    limits : Limits
    workers : int
        Number of games solved at the same time, and of searches.
    """

    def __init__(self, limits: Limits | None = None, workers: int = 2) -> None:
        self.limits = limits or Limits()
        self.solves = Jobs(workers, self.limits.tables, self.limits.bytes)
        self.searches = Jobs(workers, self.limits.searches)
        self._compiled: dict[bool, set[tuple[str, str]]] = {False: set(), True: set()}
        self._lock = threading.Lock()

    def basis(self, made: Made) -> Basis:
        """Return the source of a game's values.

        Raises
        ------
        Pending
            While it is being solved.
        Refused
            If the game cannot be served at all.
        """
        job = self.solves.find(
            made.key, lambda report: _solved(made, report, self.limits, self._mode(made))
        )
        found: Basis = job.value()
        return found

    def prepare(
        self, made: Made, progress: ProgressCallback | None, limits: Limits | None = None
    ) -> Basis:
        """Solve a game now, and keep the table permanently."""
        basis = _solved(made, progress, limits or self.limits)
        self.solves.put(made.key, basis)
        return basis

    def known(self, made: Made) -> Basis | None:
        """Return the source of a game's values if it is known already."""
        job = self.solves.known(made.key)
        return job.result if job is not None and isinstance(job.result, Basis) else None

    def search(self, made: Made, state: Any, look: Look) -> SearchResult:
        """Return the result of a search.

        Raises
        ------
        Pending
            While it is in progress.
        """
        key = (made.key, state, look)
        job = self.searches.find(
            key, lambda report: _searched(made, state, look, report, self._mode(made))
        )
        found: SearchResult = job.value()
        return found

    def _mode(self, made: Made) -> CompileMode:
        """Return whether the rules of a game may be compiled."""
        shape = made.shape
        with self._lock:
            own, foreign = self._compiled[False], self._compiled[True]
            if shape in own or shape in foreign:
                return "auto"
            if made.is_foreign and len(foreign) >= self.limits.shapes:
                return "never"
            self._compiled[made.is_foreign].add(shape)
            return "auto"

    def close(self) -> None:
        """Abandon all work in progress."""
        self.solves.close()
        self.searches.close()


def _solved(
    made: Made, report: ProgressCallback | None, limits: Limits, mode: CompileMode = "auto"
) -> Basis:
    """Solve a game; return the reason if it is too large."""
    if made.solution is not None:
        return _basis(made, made.solution, report, limits)
    is_plain = hasattr(made.rules.game, PLAIN_MARK)
    try:
        solution: Solution = solve(
            made.rules.game,
            tolerance=TOLERANCE,
            compile=mode,
            max_states=limits.states,
            max_seconds=limits.plain if is_plain else limits.seconds,
            max_bytes=limits.bytes,
            progress=report,
        )
    except NotSolvedError as error:
        solution = error.solution
    except (LimitExceededError, UnsupportedProblemError, CompilationError) as error:
        return _without(made, str(error))
    except GamedpError:
        raise
    except MemoryError:
        sentence = "{name} needs more memory than there is, with these parameters."
        raise Refused(409, sentence, "memory", name=made.name) from None
    except Exception as error:
        logger.exception("the rules of %s fail", made.name)
        raise rules_fail(error, made.name) from error
    return _basis(made, solution, report, limits)


def _basis(
    made: Made, solution: Solution, report: ProgressCallback | None, limits: Limits
) -> Basis:
    lows, highs = solution.lower, solution.upper
    least, most = float(lows.min(initial=0.0)), float(highs.max(initial=0.0))
    if made.rules.has_opponents:
        total = made.rules.constant_sum
        least, most = min(least, total - most), max(most, total - least)
    finite = abs(least) < float("inf") and abs(most) < float("inf")
    lengths, why_none = _lengths(solution, report, limits)
    size = solution.statistics.bytes
    if lengths is not None:
        size += lengths.lower.nbytes + lengths.upper.nbytes
    stakes = stakes_of(made.rules, solution, lengths)
    return Basis(solution, "", (least, most) if finite else None, size, lengths, why_none, stakes)


def _lengths(
    solution: Solution, report: ProgressCallback | None, limits: Limits
) -> tuple[Remoteness | None, NoLengths | None]:
    """Return the remaining length of play, or why it is unknown, apart from the table."""
    if solution.model.num_states > MOST_REMOTE:
        return None, "states"

    def tell(progress: Progress) -> None:
        assert report is not None  # noqa: S101 - it is not called without
        report(attrs.evolve(progress, phase="lengths"))

    try:
        tell_all = None if report is None else tell
        return remoteness(solution, max_seconds=limits.lengths, progress=tell_all), None
    except NotSolvedError as error:
        logger.info("how long play lasts is not found in time: %s", error)
        return None, "time"
    except (GamedpError, MemoryError) as error:
        logger.info("how long play lasts is not known: %s", error)
        return None, "unknown"


def _without(made: Made, why: str) -> Basis:
    """Return the basis of a game that is searched."""
    game = made.rules.game
    least, most = method(game, "value_range")(game, made.rules.initial()[0][1], 0)
    finite = abs(least) < float("inf") and abs(most) < float("inf")
    limits = (float(least), float(most)) if finite else None
    return Basis(None, why, limits, stakes=stakes_of(made.rules))


def _searched(
    made: Made, state: Any, look: Look, report: ProgressCallback, mode: CompileMode
) -> SearchResult:
    """Search a position."""
    seconds = MOST_SECONDS if look.seconds is None else look.seconds
    try:
        found: SearchResult = search(
            made.rules.game,
            state,
            depth=look.depth,
            max_seconds=seconds,
            compile=mode,
            progress=report,
        )
    except GamedpError:
        raise
    except Exception as error:
        logger.exception("the search of %s fails", made.name)
        raise rules_fail(error, made.name) from error
    return found
