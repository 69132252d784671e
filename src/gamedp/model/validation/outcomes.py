"""Outcomes of choices: their probabilities checked, and scaled to a sum of 1."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError
from gamedp.model.validation.forms import ChoiceRows, how_many, offsets_of
from gamedp.rules.exactness import as_decimal, nearest
from gamedp.rules.layout import MAX_INT64
from gamedp.runtime.floats import FAINT, LEAST_PROBABILITY, SUM_ROUNDING, SUM_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Floats

    Integers = NDArray[np.int64]

LEAST_SUM, MOST_SUM = 0.9, 1.1
"""Range of sums that rounding may explain; beyond it there is another mistake."""

MOST_NEGATIVE = 1e-6
"""Largest distance of a probability below zero, as single precision leaves it."""

WAY_OUT = "normalise=True of from_arrays, from_scipy and read_model"


def hint_of_sum(total: float) -> str:
    """Return advice for probabilities that do not sum to one."""
    if LEAST_SUM <= total <= MOST_SUM:
        return f"If they are rounded, {WAY_OUT} divides them by their sum."
    return "If they are weights, such as percentages, divide them by their sum."


def hint_of_number(probability: float) -> str:
    """Return advice for a probability below 0 or above 1, with a space before it."""
    if -MOST_NEGATIVE <= probability < 0:
        return f" If this one is a rounding error, {WAY_OUT} takes it for 0."
    return f" {hint_of_sum(probability)}" if 1 < probability <= MOST_SUM else ""


def exact_totals(offsets: NDArray[np.int64], numbers: NDArray[Any]) -> dict[int, Fraction]:
    """Return the sum of the sizes in each finite row that has a Fraction, by the row's number.

    Parameters
    ----------
    offsets : (R+1,) int64
        The start of each row, and the end of the last one.
    numbers : (T,)
        As they were given: doubles, or objects if there are Fractions among them.
    """
    if numbers.dtype != object:
        return {}
    is_exact = np.array([isinstance(number, Fraction) for number in numbers.tolist()], np.bool_)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    totals: dict[int, Fraction] = {}
    found: dict[tuple[int, ...], Fraction] = {}  # many rows have the same numbers
    for row in np.unique(owners[is_exact]).tolist():
        its = numbers[offsets[row] : offsets[row + 1]].tolist()
        key = tuple(map(id, its))
        if key not in found and all(map(math.isfinite, its)):
            found[key] = sum((abs(as_decimal(number)) for number in its), Fraction(0))
        if key in found:
            totals[row] = found[key]
    return totals


def normalised(
    offsets: NDArray[np.int64], probabilities: NDArray[Any], *, signed: bool, rows: str = "choices"
) -> tuple[NDArray[Any], str]:
    """Return probabilities that sum to one in each row, and a description of the changes.

    Rows that are off by more than rounding explains are left unchanged, to be refused. Those with
    Fractions are divided exactly.

    Parameters
    ----------
    offsets : (R+1,) int64
        The start of each row, and the end of the last one.
    probabilities : (T,)
        As they were given: doubles, or objects if there are Fractions among them.
    signed : bool
        Whether a sign means that players change places: negative ones are then kept.
    rows : str
        A name for the rows, for messages.
    """
    doubles = nearest(probabilities)
    below = (doubles < 0) & (doubles >= -MOST_NEGATIVE) & (not signed)
    kept: NDArray[Any] = np.where(below, 0.0, probabilities)
    doubles = nearest(kept)
    wrong = (doubles < 0) & (not signed)
    filled = offsets[:-1] < offsets[1:]
    totals, scaled = np.ones(len(filled)), np.zeros(len(filled), np.bool_)
    if filled.any():
        begins = offsets[:-1][filled]
        totals[filled] = np.add.reduceat(np.abs(doubles), begins)
        scaled[filled] = ~np.logical_or.reduceat(wrong, begins)
    off, exact = totals - 1, exact_totals(offsets, kept)
    for row, total in exact.items():
        off[row] = total - 1
    scaled &= (off != 0) & (totals >= LEAST_SUM) & (totals <= MOST_SUM)
    divided = doubles / np.repeat(np.where(scaled, totals, 1.0), np.diff(offsets))
    divided = divided.astype(kept.dtype, copy=False)
    for row in exact:
        place = slice(*offsets[row : row + 2].tolist())
        its = kept[place].tolist()
        if scaled[row]:
            its = sum_to_one_exactly(its, its) or divided[place].tolist()
        divided[place] = its
    notes = []
    if below.any():
        notes.append(
            f"{np.count_nonzero(below):,} probabilities below 0, by at most "
            f"{-float(probabilities[below].min()):.2g}, were taken for 0"
        )
    if scaled.any():
        notes.append(
            f"the probabilities of {np.count_nonzero(scaled):,} of {len(totals):,} {rows}, which "
            f"sum to one within {np.abs(off[scaled]).max():.2g}, were divided by their sum"
        )
    return divided, "; ".join(notes)


GRID = 2.0**26

SHORT_RUN = 64
"""Up to this many equal outcomes are added up side by side in all choices; more, one after another.
"""


def check_outcomes(
    rows: ChoiceRows,
    successors: NDArray[np.signedinteger[Any]],
    probabilities: Floats,
    *,
    signed: bool,
    least: float = LEAST_PROBABILITY,
) -> None:
    """Check that every choice has a probability distribution over states that exist.

    No probability is smaller than `least`; they may be negative if `signed`.
    """
    num_states = len(rows.choice_offsets) - 1
    bad = (successors < 0) | (successors >= num_states)
    if bad.any():
        place = int(bad.argmax())
        message = (
            f"{rows.transition(place)} leads to state {successors[place]}, which does not exist "
            f"{how_many(bad, 'transitions')}. States are numbered 0 to {num_states - 1}."
        )
        raise InvalidModelError(message)
    bad = ~np.isfinite(probabilities)
    if not signed:
        bad |= probabilities < 0
    if bad.any():
        place = int(bad.argmax())
        message = (
            f"{rows.transition(place)} leads to state {successors[place]} with probability "
            f"{float(probabilities[place])!r} {how_many(bad, 'transitions')}. A probability is a "
            "number from 0 to 1; with num_players=2 a negative one says that the "
            f"players change places.{hint_of_number(float(probabilities[place]))}"
        )
        raise InvalidModelError(message)
    sizes = np.abs(probabilities)
    bad = sizes < least
    if bad.any() and (bad := bad & (sizes > 0)).any():
        place = int(bad.argmax())
        message = (
            f"{rows.transition(place)} leads to state {successors[place]} with probability "
            f"{float(probabilities[place])!r} {how_many(bad, 'transitions')}. {FAINT}"
        )
        raise InvalidModelError(message)
    _check_sums(rows, sizes)


def _check_sums(rows: ChoiceRows, sizes: Floats) -> None:
    starts = rows.transition_offsets[:-1]
    totals = np.zeros(len(starts))
    has_outcomes = starts < rows.transition_offsets[1:]
    # Between two rows with outcomes there are no others: reduceat ends each where the next begins.
    if has_outcomes.any():
        totals[has_outcomes] = np.add.reduceat(sizes, starts[has_outcomes])
    bad = np.abs(totals - 1) > SUM_TOLERANCE
    if bad.any():
        choice = int(bad.argmax())
        message = (
            f"the outcomes of {rows.choice(choice)} have total probability "
            f"{float(totals[choice])!r}, not 1 {how_many(bad, 'choices')}. Outcomes must sum to 1 "
            f"within {SUM_TOLERANCE:g}. {hint_of_sum(float(totals[choice]))}"
        )
        raise InvalidModelError(message)


def scale(offsets: Integers, probabilities: Floats) -> None:
    """Scale probabilities whose sum differs from one by more than rounding explains, in place.

    Sums of multiples of 1 / GRID are exact, and the rest of each is so small that its rounding does
    not matter: the excess or deficit is therefore known to the last digit.
    """
    starts = offsets[:-1]
    if not len(starts):
        return
    sizes = np.abs(probabilities)
    coarse = np.rint(sizes * GRID) / GRID
    excess = np.add.reduceat(coarse, starts) - 1
    excess += np.add.reduceat(sizes - coarse, starts)
    excess[np.abs(excess) <= SUM_ROUNDING] = 0
    if excess.any():
        probabilities /= np.repeat(1 + excess, np.diff(offsets))


def distributions(
    offsets: Integers, successors: Integers, given: NDArray[Any]
) -> tuple[Integers, Integers, NDArray[Any]]:
    """Return rows of probabilities that sum to one, each successor once on either side.

    Parameters
    ----------
    offsets : (C+1,)
    successors : (T,)
    given : (T,)
        Doubles, or objects: a row that contains a Fraction then becomes Fractions throughout, which
        sum to one exactly. A double among them stands for the decimal that is shown for it; if that
        does not make them one, it was rounded, and the row becomes doubles.
    """
    rows, places, probabilities = _merged(offsets, successors, nearest(given).copy())
    scale(rows, probabilities)
    if given.dtype != object:
        return rows, places, probabilities
    exact = probabilities.astype(object)
    is_exact = np.array([isinstance(number, Fraction) for number in given.tolist()])
    made: dict[tuple[int, ...], list[Fraction]] = {}  # many rows have the same numbers
    for row in np.flatnonzero(np.logical_or.reduceat(is_exact, offsets[:-1])).tolist():
        here, there = slice(*offsets[row : row + 2]), slice(*rows[row : row + 2])
        numbers = given[here].tolist()
        if len(numbers) == there.stop - there.start:
            key = tuple(map(id, numbers))
            if key not in made:
                made[key] = sum_to_one_exactly(numbers, numbers) or probabilities[there].tolist()
            exact[there] = made[key]
            continue
        totals: dict[tuple[int, bool], Fraction] = {}
        for place, number in zip(successors[here].tolist(), numbers, strict=True):
            side = place, number < 0
            totals[side] = totals.get(side, Fraction(0)) + as_decimal(number)
        sides = zip(places[there].tolist(), (probabilities[there] < 0).tolist(), strict=True)
        made_one = sum_to_one_exactly([totals[side] for side in sides], numbers)
        exact[there] = made_one or probabilities[there].tolist()
    return rows, places, exact


def sum_to_one_exactly(numbers: list[Any], given: list[Any]) -> list[Fraction] | None:
    """Return numbers divided by the sum of their sizes, exactly; None if some given are rounded."""
    exact = list(map(as_decimal, numbers))
    size = sum(map(abs, exact), Fraction(0))
    if size != 1 and any(isinstance(number, float) for number in given):
        return None
    return [number / size for number in exact]


def _merged(
    offsets: Integers, successors: Integers, probabilities: Floats
) -> tuple[Integers, Integers, Floats]:
    """Drop impossible outcomes, and add up those that lead to the same state on the same side."""
    keep = probabilities != 0
    probabilities = _add_up_duplicates(
        offsets, 2 * successors + (probabilities < 0), probabilities, keep
    )
    if keep.all():
        return offsets, successors, probabilities
    return offsets_of(keep)[offsets], successors[keep], probabilities[keep]


def _add_up_duplicates(
    offsets: Integers, successors: Integers, probabilities: Floats, keep: Flags
) -> Floats:
    """Add duplicates to the first of their kind, and clear `keep` for the others."""
    falls = np.zeros(len(successors) + 1, np.int64)
    falls[1:-1] = successors[1:] <= successors[:-1]
    falls[offsets] = 0  # the first of each row has nothing before it
    suspects = np.add.reduceat(falls, offsets)[:-1] > 0 if falls.any() else np.zeros(0, np.bool_)
    if not suspects.any():
        return probabilities
    lengths = np.diff(offsets)
    places = np.flatnonzero(np.repeat(suspects, lengths) & keep)
    rows = np.repeat(np.cumsum(suspects), lengths)[places]
    order = _by_row_and_successor(rows, successors[places])
    places, rows = places[order], rows[order]
    first = np.ones(len(places), np.bool_)
    first[1:] = (np.diff(rows) != 0) | (np.diff(successors[places]) != 0)
    if first.all():
        return probabilities
    keep[places[~first]] = False
    probabilities[places[first]] = _sums(probabilities[places], np.flatnonzero(first))
    return probabilities


def _sums(numbers: Floats, starts: NDArray[np.intp]) -> Floats:
    """Return the sum of each run of numbers, rounded once; a run ends where the next begins."""
    totals, lengths = numbers[starts], np.diff(starts, append=len(numbers))
    rests = np.zeros(len(starts))
    step, runs = 1, np.flatnonzero((lengths > 1) & (lengths <= SHORT_RUN))
    while len(runs):
        terms, before = numbers[starts[runs] + step], totals[runs]
        after = before + terms
        part = after - before
        rests[runs] += (before - (after - part)) + (terms - part)  # Knuth's two-sum
        totals[runs] = after
        step += 1
        runs = runs[lengths[runs] > step]
    totals += rests
    for run in np.flatnonzero(lengths > SHORT_RUN).tolist():
        first = int(starts[run])
        totals[run] = math.fsum(numbers[first : first + int(lengths[run])].tolist())
    return totals


def _by_row_and_successor(rows: Integers, successors: Integers) -> NDArray[np.intp]:
    """Return a stable order by both keys."""
    width = int(successors.max(initial=0)) + 1
    if width * (int(rows.max(initial=0)) + 1) > MAX_INT64:
        return np.lexsort((successors, rows))
    return np.argsort(rows * width + successors, kind="stable")  # many times faster
