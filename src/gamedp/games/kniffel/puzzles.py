"""Puzzles: situations of well-played games with one best decision, which is not the obvious one."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import gamedp
from gamedp.games.kniffel.adviser import Adviser
from gamedp.games.kniffel.analysis import played_perfectly
from gamedp.games.kniffel.card import FACES
from gamedp.games.kniffel.prospects import Option
from gamedp.games.kniffel.record import Record
from gamedp.games.kniffel.remainder import ProgressCallback

SEEDS = range(40)
"""The seeds of the games, each of which takes about 0.1 seconds."""

MOST_OF_A_KIND = 12
"""Largest number of puzzles about keeps, and about entries."""

MOST_ALIKE = 3
"""Largest number of those with the same best box, or the same number of kept dice."""


class Puzzle(NamedTuple):
    """A puzzle: a game until a decision of which only one is best.

    Attributes
    ----------
    record : Record
    options : tuple of Option
        All decisions, the best one first.
    gap : float
        The points that any other decision is proven to lose, at least.
    """

    record: Record
    options: tuple[Option, ...]
    gap: float


def puzzles(adviser: Adviser, *, progress: ProgressCallback | None = None) -> list[Puzzle]:
    """Return the puzzles of games that are played perfectly, those that cost most first.

    In each, the lower bound of the best decision is above the upper bounds of all others, and it is
    not the obvious one: not the entry with the most points now; not the keep of all dice, of the
    most dice alike or of a run.

    Parameters
    ----------
    adviser : Adviser
    progress : callable, optional
        As for :func:`gamedp.solve`; it may raise to stop.

    Examples
    --------
    >>> first = puzzles(Adviser.of())[0]
    >>> first.options[0].name("en"), first.gap > 10
    ('Twos', True)
    """
    began = time.monotonic()
    found: list[Puzzle] = []
    for seed in SEEDS:
        if progress is not None:
            passed = time.monotonic() - began
            progress(gamedp.Progress("play", seed, len(SEEDS), passed, f"{seed} games"))
        record = Record(adviser.rules, seed=seed)
        while record.waits_for != "nothing":
            if record.waits_for != "throw":
                options = adviser.options(record.situation)
                gap = _gap(options)
                if gap > 0 and not is_obvious(record.situation.dice, options):
                    found.append(Puzzle(record, options, gap))
            record = played_perfectly(record, adviser)
    found.sort(key=lambda each: -each.gap)
    kinds: Counter[str] = Counter()
    alike: Counter[tuple[str, int]] = Counter()
    chosen = []
    for each in found:
        best = each.options[0]
        what = best.kind, sum(best.kept) if best.box is None and best.kept else best.box or 0
        if kinds[best.kind] < MOST_OF_A_KIND and alike[what] < MOST_ALIKE:
            kinds[best.kind] += 1
            alike[what] += 1
            chosen.append(each)
    return chosen


def _gap(options: Sequence[Option]) -> float:
    """Return the least loss of any other decision, rounded down; 0 if there is none."""
    if len(options) < 2:
        return 0.0
    gap = options[0].lower - max(option.upper for option in options[1:])
    return math.nextafter(gap, -math.inf)


def is_obvious(dice: tuple[int, ...], options: Sequence[Option]) -> bool:
    """Return whether the first decision is one that anybody would take.

    Examples
    --------
    >>> from gamedp.games.kniffel import Situation
    >>> situation = Situation.of("- - 9 12 15 18 28 27 25 - 40 - - 3 22223")
    >>> options = Adviser.of().options(situation)
    >>> options[0].name("en"), options[0].points, is_obvious(situation.dice, options)
    ('Twos', 8, False)
    """
    best = options[0]
    if best.kept is None:
        return best.points == max(option.points for option in options)
    return best.kept in _obvious_keeps(dice)


def _obvious_keeps(dice: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield dice
    for face in range(FACES):
        if dice[face] == max(dice):
            yield tuple(dice[face] if other == face else 0 for other in range(FACES))
    for low, high in combinations(range(FACES + 1), 2):
        if high - low > 2 and all(dice[low:high]):  # a run of three at least
            yield tuple(int(low <= face < high) for face in range(FACES))
