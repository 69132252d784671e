"""Parts common to all formats: conversion of the arrays of a file to a model, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import attrs
import numpy as np

from gamedp.adapters.loaded import SIDES, LoadedModel
from gamedp.errors import InvalidModelError, LimitExceededError
from gamedp.model.model import Model
from gamedp.model.validation import means_of, varies
from gamedp.model.validation.outcomes import (
    exact_totals,
    hint_of_number,
    hint_of_sum,
    normalised,
    sum_to_one_exactly,
)
from gamedp.rules.exactness import as_given, errors_of, model_numbers, nearest
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.languages.expressions import Expression, Value
    from gamedp.runtime.arrays import Flags, Integers


STATES, CHOICES, TRANSITIONS = "states", "choices", "branches"
"""The entities that may have rewards; words of the UMB format."""

STATE_BYTES, ROW_BYTES, REWARD_BYTES, LABEL_BYTES, VARIABLE_BYTES = 72, 20, 24, 1, 18
"""Memory that a state takes while a file is read; besides, each choice or transition that the file
does not spell out, and each reward, label and variable of a state."""

ROUNDED_SUM_TOLERANCE = 1e-5
"""Tolerance for the sum of the probabilities of a choice if they were rounded."""


@attrs.frozen(eq=False, kw_only=True)
class Parts:
    """The content of a file, before the checks that are the same for all formats.

    Attributes
    ----------
    path : Path
        For messages.
    choice_offsets : (S+1,) int64
    transition_offsets : (C+1,) int64
    successors : (T,) int64
    probabilities : (T,) float64 or objects
        Objects where there are Fractions among the doubles; so are rewards.
    exact : (T,) objects, optional
        `probabilities` as Fractions where they are none of the doubles, known to sum to one.
    players : (S,) int64 or None
        The player to move; None for player 0 everywhere.
    num_players : int
        0 without choices (a Markov chain).
    player_names : tuple of str
    actions : (C,) int64 or None
        None where the choices of each state are numbered from 0.
    action_names : tuple of str
        Empty if `actions` have no names.
    initial : (I,) int64
    labels : mapping of str to (S,) bool
    rewards : mapping of str to a mapping of `STATES`, `CHOICES` or `TRANSITIONS` to an array
        Added up.
    variables : mapping of str to (S,) int64 or bool
        The value of each variable of the program in each state.
    constants : mapping of str to value
    formulas : mapping of str to Expression
        See :class:`LoadedModel`.
    properties : mapping of str to str
        The texts of formulas that stand beside the model, by name.
    lines : (C,) int64 or None
        The place of each choice in the file, for messages.
    notes : tuple of str
    """

    path: Path
    choice_offsets: Integers
    transition_offsets: Integers
    successors: Integers
    probabilities: NDArray[Any]
    exact: NDArray[Any] | None = None
    players: Integers | None = None
    num_players: int = 1
    player_names: tuple[str, ...] = ()
    actions: Integers | None = None
    action_names: tuple[str, ...] = ()
    initial: Integers
    labels: Mapping[str, Flags] = attrs.field(factory=dict)
    rewards: Mapping[str, Mapping[str, NDArray[Any]]] = attrs.field(factory=dict)
    variables: Mapping[str, Integers | Flags] = attrs.field(factory=dict)
    constants: Mapping[str, Value] = attrs.field(factory=dict)
    formulas: Mapping[str, Expression] = attrs.field(factory=dict)
    properties: Mapping[str, str] = attrs.field(factory=dict)
    lines: Integers | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether there are Fractions among the numbers."""
        columns = [column for kinds in self.rewards.values() for column in kinds.values()]
        return any(array.dtype == object for array in (self.probabilities, *columns))

    def where(self, choice: int) -> str:
        """Return words for a choice and its place."""
        state = int(np.searchsorted(self.choice_offsets, choice, side="right")) - 1
        number = choice - int(self.choice_offsets[state])
        line = "" if self.lines is None else f", line {self.lines[choice]}"
        return f"{self.path}{line}: choice {number} of state {state}"


@attrs.frozen
class FileFormat:
    """A format of files: its reader and its writer.

    :func:`gamedp.read_model`, :func:`gamedp.write_model` and the commands find it by the ending of
    a file's name, once it is registered as an entry point of that name in the group
    ``gamedp.formats``. :func:`gamedp.testing.check_format` checks it.

    Attributes
    ----------
    read : function
        ``read(path, max_bytes)`` returns the :class:`Parts` of a file. It raises
        :class:`gamedp.errors.DamagedFileError` if the file is malformed, naming the place, and
        :class:`gamedp.errors.LimitExceededError` if it unpacks to more.
    files : function, optional
        ``files(parts)`` returns the files to write, ``parts.path`` among them, each with a function
        that writes it into a binary file. It raises :class:`gamedp.InvalidModelError` if the format
        cannot express the model. None if the format can only be read.
    is_program : bool
        Whether a file says how states follow each other, so that they are explored. `read` then
        takes `constants`, `max_states`, `max_seconds` and `progress`, too, as keywords.

    Examples
    --------
    Distances as triples in JSON, ``[[from, to, length], ...]``; shortest paths are then the least
    totals:

    >>> import json, pathlib, tempfile
    >>> import gamedp, numpy as np
    >>> from gamedp.adapters import FileFormat, Parts
    >>> def read_roads(path, max_bytes):
    ...     roads = np.array(sorted(json.loads(path.read_text())))
    ...     counts = np.bincount(roads[:, 0], minlength=roads[:, :2].max() + 1)
    ...     return Parts(
    ...         path=path,
    ...         choice_offsets=np.concatenate([[0], counts.cumsum()]),
    ...         transition_offsets=np.arange(len(roads) + 1),
    ...         successors=roads[:, 1],
    ...         probabilities=np.ones(len(roads)),
    ...         rewards={"length": {"choices": roads[:, 2].astype(float)}},
    ...     )
    >>> ROADS = FileFormat(read=read_roads)
    """

    read: Callable[..., Parts]
    files: Callable[[Parts], Mapping[Path, Callable[[BinaryIO], object]]] | None = None
    is_program: bool = False


def check_memory(
    path: Path,
    most: int,
    *,
    states: int,
    rows: int = 0,
    rewards: int = 0,
    labels: int = 0,
    variables: int = 0,
) -> None:
    """Refuse a file of few bytes that would fill the memory.

    Raises
    ------
    LimitExceededError
    """
    each = STATE_BYTES + rewards * REWARD_BYTES + labels * LABEL_BYTES + variables * VARIABLE_BYTES
    if states * each + rows * ROW_BYTES > most:
        what = {"labels": labels, "reward structures": rewards, "variables": variables}
        named = "".join(f" with {count:,} {name}" for name, count in what.items() if count)
        raise too_large(path, f"has {states:,} states{named}, which take", most)


def too_large(path: Path, does: str, most: int) -> LimitExceededError:
    """Return the error for a small file that would fill the memory."""
    message = (
        f"{path} {does} more than {most:,} bytes. To allow more, pass "
        "max_bytes=1e10, or --max-bytes 1e10 on the command line."
    )
    return LimitExceededError(message, states=0, choices=0, transitions=0)


def offsets_of(counts: NDArray[Any]) -> Integers:
    """Return the offsets of rows of given lengths, including the end of the last one."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def spread(numbers: NDArray[Any], places: Any, count: int) -> NDArray[Any]:
    """Return an array with numbers in some places, and zeros elsewhere."""
    table = np.full((count, *numbers.shape[1:]), 0.0, numbers.dtype)
    table[places] = numbers
    return table


def assemble(
    parts: Parts, coalition: Iterable[str | int] | None, *, normalise: bool = False
) -> LoadedModel:
    """Return the model of the arrays of a file.

    Parameters
    ----------
    parts : Parts
    coalition : iterable of str or int, optional
        The players, by name or number, who together are player 0; all others are player 1.
    normalise : bool
        As for :meth:`gamedp.Model.from_arrays`.

    Raises
    ------
    InvalidModelError
        If the arrays do not describe a model.
    """
    notes = list(parts.notes)
    if normalise:
        offsets, given = parts.transition_offsets, parts.probabilities
        given, changed = normalised(offsets, given, signed=False)
        parts = attrs.evolve(parts, probabilities=given)
        notes += [changed] if changed else []
    probabilities = _probabilities(parts, notes)
    owners, num_players = _owners(parts)
    parts = attrs.evolve(parts, probabilities=probabilities)
    earned = {name: _expected(parts, name, kinds, notes) for name, kinds in parts.rewards.items()}
    notes += _lost_rewards(parts)
    starts = parts.initial
    if len(starts) == 0:
        starts = np.zeros(1, np.int64)
        notes.append("the file names no initial state; state 0 is taken as the start")
    elif len(starts) > 1:
        notes.append(
            f"the file names {len(starts):,} initial states; the start is one of them, each with "
            "the same probability"
        )
    stuck = np.flatnonzero(np.diff(parts.choice_offsets) == 0)
    try:
        model = Model.from_arrays(
            parts.choice_offsets,
            parts.transition_offsets,
            parts.successors,
            probabilities,
            players=owners if num_players == SIDES else None,
            terminals=stuck,
            action_labels=parts.actions,
            initial=[(Fraction(1, len(starts)), state) for state in starts.tolist()],
            num_players=num_players if num_players == SIDES else 1,
            action_names=parts.action_names,
            variables=parts.variables,
        )
    except InvalidModelError as error:
        message = f"{parts.path}: {error}"
        raise InvalidModelError(message) from None
    if parts.exact is not None:
        model = attrs.evolve(model, fractions={**model.fractions, "probabilities": parts.exact})
    numbers = model_numbers(**{name: reward for name, (reward, _) in earned.items()})
    fractions = numbers.pop("fractions")
    loaded = LoadedModel(
        model=model,
        labels=dict(parts.labels),
        rewards={name: numbers[name] for name in earned},
        fractions=fractions,
        rounding={name: errors for name, (_, errors) in earned.items()},
        means=frozenset(
            name
            for name, kinds in parts.rewards.items()
            if TRANSITIONS in kinds and varies(parts.transition_offsets, kinds[TRANSITIONS])
        ),
        owners=owners,
        num_players=num_players,
        player_names=parts.player_names,
        state_rewards={
            name: np.asarray(kinds[STATES])
            for name, kinds in parts.rewards.items()
            if STATES in kinds
        },
        constants=parts.constants,
        formulas=parts.formulas,
        properties=parts.properties,
        path=parts.path,
        notes=tuple(notes),
    )
    if len(earned) == 1:
        sides = loaded.with_coalition(range(num_players)) if num_players > SIDES else loaded
        loaded = attrs.evolve(loaded, model=sides.with_rewards(*earned))
    return loaded if coalition is None else loaded.with_coalition(coalition)


def _how_many(bad: Flags) -> str:
    count = int(np.count_nonzero(bad))
    return f"({count:,} of {len(bad):,} choices {'is' if count == 1 else 'are'} off)"


def _probabilities(parts: Parts, notes: list[str]) -> NDArray[Any]:
    """Return probabilities that sum to one for each choice as well as doubles can.

    Files of text often have probabilities of few digits. Where that shows, they are divided by
    their sum: bounds are proven for models whose probabilities sum to one. Choices with Fractions
    are scaled exactly.
    """
    given, offsets = parts.probabilities, parts.transition_offsets
    probabilities = nearest(given)
    counts = np.diff(offsets)
    if len(counts) == 0:
        return given
    _check_probabilities(parts, counts)
    totals = np.add.reduceat(probabilities.astype(np.longdouble), offsets[:-1])
    distance = np.abs(totals - 1).astype(np.float64)
    sums = exact_totals(offsets, given)
    for choice, total in sums.items():
        distance[choice] = abs(total - 1)
    wrong = distance > ROUNDED_SUM_TOLERANCE
    if wrong.any():
        choice = int(wrong.argmax())
        message = (
            f"{parts.where(choice)} has the total probability {float(totals[choice])!r}, not 1 "
            f"{_how_many(wrong)}. Correct the file, or write it with more digits; rates of "
            f"continuous time are not probabilities. {hint_of_sum(float(totals[choice]))}"
        )
        raise InvalidModelError(message)
    rounded = distance > (counts + 4) * UNIT
    if not rounded.any():
        return given
    notes.append(
        f"the probabilities of {int(np.count_nonzero(rounded)):,} of {len(rounded):,} choices were "
        f"rounded in the file: they sum to one within {distance.max():.2g}, and were divided by "
        "their sum"
    )
    divisors = np.repeat(np.where(rounded, totals, 1), counts)
    scaled: NDArray[Any] = (probabilities / divisors).astype(np.float64).astype(given.dtype)
    for choice in sums:
        row = slice(*offsets[choice : choice + 2].tolist())
        numbers = given[row].tolist()
        scaled[row] = sum_to_one_exactly(numbers, numbers) or scaled[row].tolist()
    return as_given(scaled.tolist()) if sums else scaled


def _check_probabilities(parts: Parts, counts: Integers) -> None:
    """Refuse choices without outcomes, and invalid probabilities."""
    empty = counts == 0
    if empty.any():
        message = (
            f"{parts.where(int(empty.argmax()))} leads nowhere {_how_many(empty)}. Give it a "
            "transition, or leave it out."
        )
        raise InvalidModelError(message)
    # A negative one would be taken for a swap of the players. Written so that NaN is bad, too.
    numbers = nearest(parts.probabilities)
    bad = ~((numbers >= 0) & (numbers <= 1 + ROUNDED_SUM_TOLERANCE))
    if bad.any():
        place = int(bad.argmax())
        choice = int(np.searchsorted(parts.transition_offsets, place, side="right")) - 1
        message = (
            f"{parts.where(choice)} leads to state {parts.successors[place]} with probability "
            f"{float(numbers[place])!r}; a probability is a number from 0 to 1."
            f"{hint_of_number(float(numbers[place]))}"
        )
        raise InvalidModelError(message)


def _owners(parts: Parts) -> tuple[Integers, int]:
    """Return the player to move in each state, and the number of players."""
    owners, count = parts.players, max(parts.num_players, 1)
    if owners is None:
        return np.zeros(len(parts.choice_offsets) - 1, np.int64), count
    if len(owners) and not 0 <= owners.max() < count:
        message = f"{parts.path}: a state belongs to player {owners.max()}; there are {count}."
        raise InvalidModelError(message)
    return owners.astype(np.int64), count


def _expected(
    parts: Parts, name: str, kinds: Mapping[str, NDArray[Any]], notes: list[str]
) -> tuple[NDArray[Any], tuple[float, float]]:
    """Return the expected reward of each choice, and its error bound.

    See :func:`gamedp.model.validation.means_of`.
    """
    for kind, array in kinds.items():
        bad = ~np.isfinite(nearest(array))
        if bad.any():
            place = int(bad.argmax())
            word = {STATES: "state", CHOICES: "choice", TRANSITIONS: "transition"}[kind]
            message = (
                f"{parts.path}: the reward {name!r} of {word} {place} is {float(array[place])!r}; "
                "it must be a finite number."
            )
            raise InvalidModelError(message)
    certain = []
    if STATES in kinds:
        certain.append(np.repeat(kinds[STATES], np.diff(parts.choice_offsets)))
    if CHOICES in kinds:
        certain.append(kinds[CHOICES])
    paid = kinds.get(TRANSITIONS, np.zeros(len(parts.successors)))
    try:
        means, errors = means_of(parts.transition_offsets, parts.probabilities, paid, *certain)
    except OverflowError:
        message = f"{parts.path}: the reward {name!r} of a choice is beyond the range of doubles."
        raise InvalidModelError(message) from None
    if errors[0] > errors_of(means)[0]:
        notes.append(
            f"the reward {name!r} depends on where a choice leads: its average is known to "
            f"{errors[0]:.2g} as probabilities are rounded, and bounds allow for that"
        )
    return means, errors


def _lost_rewards(parts: Parts) -> list[str]:
    """Return the names of rewards in states without choices, which are lost."""
    stuck = np.diff(parts.choice_offsets) == 0
    return [
        f"the reward {name!r} of states without choices does not count: play ends there"
        for name, kinds in parts.rewards.items()
        if STATES in kinds and kinds[STATES][stuck].any()
    ]
