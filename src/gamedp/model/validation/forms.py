"""Forms of arrays from outside: vectors, one matrix per action, names of actions and variables."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.rules.exactness import (
    MAX_EXACT_INTEGER,
    are_own_decimals,
    as_given,
    as_real,
    exact_sum,
    mean_of,
    nearest,
    upward,
)
from gamedp.rules.layout import MAX_INT64
from gamedp.runtime.floats import lost

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from gamedp.runtime.arrays import Flags, Floats

    Integers = NDArray[np.int64]
    Variables: TypeAlias = Mapping[str, NDArray[np.int64] | Flags]


ARRAYS = (
    "choice_offsets",
    "transition_offsets",
    "successors",
    "probabilities",
    "rewards",
    "players",
    "terminals",
    "payoffs",
    "action_labels",
    "initial_states",
    "initial_probabilities",
)
"""The arrays that a model is made of."""


@attrs.frozen(eq=False)
class ChoiceRows:
    """The state and the label of each choice, as error messages need them."""

    choice_offsets: Integers
    transition_offsets: Integers
    labels: NDArray[np.signedinteger[Any]]

    def choice(self, choice: int) -> str:
        """Return a description of a choice."""
        state = _row_of(self.choice_offsets, choice)
        return f"choice {choice} (action {self.labels[choice]}) of state {state}"

    def transition(self, transition: int) -> str:
        """Return a description of the origin of a transition."""
        return self.choice(_row_of(self.transition_offsets, transition))


def _row_of(offsets: Integers, place: int) -> int:
    return int(np.searchsorted(offsets, place, side="right")) - 1


def offsets_of(counts: NDArray[Any]) -> Integers:
    """Return the start of each row, for rows of these lengths, and the end of the last one."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def how_many(bad: Flags, of_what: str) -> str:
    """Return the number of bad places, in brackets."""
    count = int(np.count_nonzero(bad))
    return f"({count:,} of {len(bad):,} {of_what} {'is' if count == 1 else 'are'} off)"


def _as_array(name: str, values: Any, dimensions: tuple[int, ...]) -> NDArray[Any]:
    """Return `values` as an array of one of these numbers of dimensions."""
    if isinstance(values, np.ma.MaskedArray):
        message = (
            f"{name} is a masked array, and what is masked has no number. Fill it first: "
            f"{name}.filled(...)."
        )
        raise InvalidModelError(message)
    try:
        array = np.asarray(values)
    except ValueError as error:
        message = f"{name} is not an array: its rows differ in length or kind ({error})."
        raise InvalidModelError(message) from None
    if array.ndim not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        message = f"{name} has {array.ndim} dimensions (shape {array.shape}) instead of {wanted}."
        raise InvalidModelError(message)
    return array


def as_integers(name: str, values: Any) -> Integers:
    """Return a copy as 64-bit integers."""
    array = _as_array(name, values, (1,))
    if array.size and (
        array.dtype.kind not in "iu" or (array.dtype == np.uint64 and array.max() > MAX_INT64)
    ):
        message = (
            f"{name} holds {array.dtype}; it must hold integers of at most 64 bits with a sign. "
            f"If these are whole numbers, convert them: {name}.astype(numpy.int64)."
        )
        raise InvalidModelError(message)
    return array.astype(np.int64)


def as_numbers(name: str, values: Any, dimensions: tuple[int, ...] = (1,)) -> NDArray[Any]:
    """Return a copy as doubles; as objects if some numbers are not equal to a double.

    Those are then Fractions, and the others floats.
    """
    array = _as_array(name, values, dimensions)
    if array.dtype.kind in "iufO":
        try:
            if not _may_round(array):
                return array.astype(np.float64)
            if not isinstance(values, np.ndarray):  # a list of ints and floats is made floats
                array = _as_array(name, np.asarray(values, object), dimensions)
            numbers = array.ravel().tolist() if array.dtype.itemsize <= 8 else list(array.flat)
            for number in numbers:
                as_real(number)  # refuses texts, among others
            return as_given(numbers).reshape(array.shape)
        except (TypeError, ValueError, OverflowError):
            pass  # objects that are not numbers
    message = f"{name} holds {array.dtype}; it must hold real numbers."
    raise InvalidModelError(message)


def _may_round(array: NDArray[Any]) -> bool:
    """Return whether an array or a list may contain numbers that are not equal to a double."""
    if array.dtype.kind == "O" or array.dtype.itemsize > 8:
        return True
    return array.dtype.itemsize == 8 and bool(
        array.max(initial=0) >= MAX_EXACT_INTEGER or array.min(initial=0) <= -MAX_EXACT_INTEGER
    )


def as_index(name: str, value: Any) -> int:
    """Return an integer of any library; bools do not count as such."""
    try:
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)
    except TypeError:
        pass  # not an integer either
    message = f"{name} is {shown(value)}; it must be an integer."
    raise InvalidModelError(message)


def check_offsets(name: str, offsets: Integers, end: int, row: str, items: str) -> None:
    """Refuse offsets that do not begin with 0, fall, or do not end where the items do."""
    if len(offsets) == 0 or offsets[0] != 0:
        begin = f"begins with {offsets[0]}" if len(offsets) else "is empty"
        message = f"{name} {begin}; the first entry must be 0, where the {items} begin."
        raise InvalidModelError(message)
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        place = int(falls.argmax())
        message = (
            f"{name} falls from {offsets[place]} to {offsets[place + 1]} at {row} {place} "
            f"{how_many(falls, f'{row}s')}. Offsets never fall; a {row} without {items} repeats "
            "the entry before."
        )
        raise InvalidModelError(message)
    if offsets[-1] != end:
        message = (
            f"{name} ends with {offsets[-1]}, but there are {end:,} {items}. The last entry must "
            f"be the number of {items}."
        )
        raise InvalidModelError(message)


def check_length(name: str, array: NDArray[Any], length: int, items: str) -> None:
    """Refuse an array that does not have exactly one entry for each item."""
    if len(array) != length:
        message = (
            f"{name} has {len(array):,} entries, but there are {length:,} {items}; each needs one."
        )
        raise InvalidModelError(message)


def names_and_variables(action_names: Any, variables: Any) -> tuple[tuple[str, ...], Variables]:
    """Return both as a model keeps them, the arrays copied; they are not checked yet."""
    if isinstance(action_names, str) or not isinstance(action_names, Sequence):
        message = f"action_names is {shown(action_names)}; it must be a sequence of texts."
        raise InvalidModelError(message)
    if not isinstance(variables, Mapping):
        message = f"variables is {shown(variables)}; it must be a mapping of names to arrays."
        raise InvalidModelError(message)
    columns = {}
    for name, given in variables.items():
        is_truth = getattr(given, "dtype", None) == np.bool_
        columns[name] = np.array(given) if is_truth else as_integers(f"variable {name!r}", given)
    return tuple(action_names), columns


def check_names(model: Any) -> None:
    """Raise InvalidModelError unless actions and states have names that fit the model."""
    names, labels = model.action_names, model.action_labels
    for name in (*names, *model.variables):
        if not isinstance(name, str):
            message = f"{shown(name)} cannot name an action or a variable; it must be a text."
            raise InvalidModelError(message)
    bad = (labels < 0) | (labels >= len(names)) if names else np.zeros(0, np.bool_)
    if bad.any():
        message = (
            f"action_names has {len(names):,} names, and none for action {labels[bad.argmax()]} "
            f"{how_many(bad, 'choices')}. The name of an action stands at its number."
        )
        raise InvalidModelError(message)
    for name, column in model.variables.items():
        array: Any = column
        if not isinstance(array, np.ndarray) or array.dtype not in (np.int64, np.bool_):
            message = f"variable {name!r} is {shown(array)}; it must be an array of int64 or bool."
            raise InvalidModelError(message)
        check_length(f"variable {name!r}", array, model.num_states, "states")


def arrays_of_matrices(matrices: Sequence[Any], rewards: ArrayLike | None) -> dict[str, Any]:
    """Return the arguments of :meth:`gamedp.Model.from_arrays` from one matrix for each action.

    Parameters
    ----------
    matrices : sequence of A (S, S) matrices
        Sparse or dense; not changed.
    rewards : (S, A) or (S,) array_like, or None
        With more than two players there is one more axis, for the players.

    Returns
    -------
    dict
        The arrays, with the numbers of the matrices as `action_labels`.

    Raises
    ------
    InvalidModelError
        If the matrices are not square and of one size, or the rewards do not fit them.
    """
    parts = _square_matrices(matrices)
    num_states = parts[0].shape[0]
    counts = np.stack([np.diff(part.indptr) for part in parts], axis=1).astype(np.int64)
    states, actions = np.nonzero(counts)
    ends = np.cumsum(counts).reshape(counts.shape)
    successors = np.empty(counts.sum(), np.int64)
    probabilities = np.empty(len(successors), np.float64)
    for action, part in enumerate(parts):
        # How far each row moves from its place in its matrix to its place in the model.
        moved = ends[:, action] - part.indptr[1:]
        places = np.arange(len(part.data)) + np.repeat(moved, counts[:, action])
        successors[places] = part.indices
        probabilities[places] = part.data
    return {
        "choice_offsets": offsets_of(np.count_nonzero(counts, axis=1)),
        "transition_offsets": offsets_of(counts[states, actions]),
        "successors": successors,
        "probabilities": probabilities,
        "rewards": _rewards_of_choices(rewards, num_states, states, actions, len(parts)),
        "action_labels": actions,
    }


def _square_matrices(matrices: Sequence[Any]) -> list[Any]:
    """Return the matrices as new sparse ones, without stored zeros."""
    import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed

    if scipy.sparse.issparse(matrices):
        message = "from_scipy takes a list of matrices, one for each action; put the one in a list."
        raise InvalidModelError(message)
    parts: list[Any] = []
    for action, matrix in enumerate(matrices):
        try:
            part = scipy.sparse.csr_array(matrix, copy=True)
        except (TypeError, ValueError) as error:
            message = f"the matrix of action {action} is not a matrix of numbers: {error}."
            raise InvalidModelError(message) from None
        expected = parts[0].shape if parts else (part.shape[0], part.shape[0])
        if part.shape != expected or part.dtype.kind not in "biuf":
            message = (
                f"the matrix of action {action} is {' x '.join(map(str, part.shape))} of "
                f"{part.dtype}; all matrices must be square, of one size (states x states), and "
                "of real numbers."
            )
            if part.ndim == 2 and part.shape[1] == len(matrices) != part.shape[0]:
                message += (
                    " This is an array of states x actions x states: pass "
                    "numpy.transpose(matrices, (1, 0, 2))."
                )
            raise InvalidModelError(message)
        part.sum_duplicates()
        part.eliminate_zeros()
        parts.append(part)
    if not parts:
        message = "there are no matrices; from_scipy takes one for each action."
        raise InvalidModelError(message)
    return parts


def _rewards_of_choices(
    rewards: ArrayLike | None,
    num_states: int,
    states: NDArray[np.intp],
    actions: NDArray[np.intp],
    num_actions: int,
) -> NDArray[Any] | None:
    """Return the rewards of the available actions; those of the others may be anything."""
    if rewards is None:
        return None
    numbers = as_numbers("rewards", rewards, dimensions=(1, 2, 3))
    expected = (num_states, num_actions)[: numbers.ndim]
    if numbers.shape[:2] != expected:
        message = (
            f"rewards has the shape {numbers.shape}; it must be ({num_states},), one number for "
            f"each state, or ({num_states}, {num_actions}), one for each state and action."
        )
        raise InvalidModelError(message)
    chosen: NDArray[Any] = numbers[states] if numbers.ndim == 1 else numbers[states, actions]
    return chosen


def expected_rewards(
    arrays: dict[str, Any], rewards: Sequence[Any]
) -> tuple[NDArray[Any], tuple[float, float], bool]:
    """Return the expected reward of each choice, if rewards depend on the next state.

    Parameters
    ----------
    arrays : dict
        Those of :func:`arrays_of_matrices`.
    rewards : sequence of A (S, S) matrices
        Sparse or dense; read where the probability is not zero.

    Returns
    -------
    rewards : (C,) float64, or objects
        As returned by :func:`gamedp.model.validation.forms.means_of`.
    errors : (float, float)
    differ : bool
        Whether the rewards of a choice differ between its outcomes.
    """
    labels, offsets = arrays["action_labels"], arrays["transition_offsets"]
    lengths, num_states = np.diff(offsets), len(arrays["choice_offsets"]) - 1
    owners = np.repeat(np.arange(num_states), np.diff(arrays["choice_offsets"]))
    sources, actions = np.repeat(owners, lengths), np.repeat(labels, lengths)
    successors = arrays["successors"]
    paid = np.zeros(len(successors), object)
    for action in range(int(labels.max(initial=-1)) + 1):
        here = actions == action
        paid[here] = _rewards_of_action(action, rewards, num_states)(
            sources[here], successors[here]
        )
    finite = np.isfinite(nearest(paid))
    if not finite.all():
        bad = int(np.flatnonzero(~finite)[0])
        message = (
            f"the reward of action {actions[bad]} from state {sources[bad]} to state "
            f"{successors[bad]} is {paid[bad]}; it must be a finite number."
        )
        raise InvalidModelError(message)
    means, errors = means_of(offsets, arrays["probabilities"], as_given(paid.tolist()))
    return means, errors, varies(offsets, paid)


def _rewards_of_action(
    action: int, rewards: Sequence[Any], num_states: int
) -> Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[Any]]:
    """Return the rewards of an action by state and next state."""
    import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed

    if action >= len(rewards):
        message = f"transition_rewards has {len(rewards)} matrices, and none for action {action}."
        raise InvalidModelError(message)
    given = rewards[action]
    is_sparse = scipy.sparse.issparse(given)
    matrix = given.tocsr() if is_sparse else as_numbers("transition_rewards", given, (2,))
    if matrix.shape != (num_states, num_states):
        message = (
            f"the rewards of action {action} have the shape {matrix.shape}; it must be "
            f"({num_states}, {num_states}), one for each state and the next one."
        )
        raise InvalidModelError(message)

    def earned(sources: NDArray[np.int64], successors: NDArray[np.int64]) -> NDArray[Any]:
        found: Any = matrix[sources, successors]
        dense = found.toarray() if hasattr(found, "toarray") else found
        return as_numbers("transition_rewards", np.asarray(dense).ravel())

    return earned


def varies(offsets: Integers, paid: NDArray[Any]) -> bool:
    """Return whether the payments of a choice differ between its transitions."""
    return bool((paid != np.repeat(paid[offsets[:-1]], np.diff(offsets))).any())


def means_of(
    offsets: Integers,
    probabilities: NDArray[Any],
    paid: NDArray[Any],
    *certain: NDArray[Any],
) -> tuple[NDArray[Any], tuple[float, float]]:
    """Return the expected reward of each choice: the average of its transitions, and fixed parts.

    Parameters
    ----------
    offsets : (C+1,) int64
        The transitions of each choice, at least one.
    probabilities, paid : (T,)
        Numbers as they were given: doubles, or objects if there are Fractions among them. The
        payment of a transition counts by its probability without the sign, in proportion.
    *certain : (C,)
        Rewards that do not depend on the outcome; added up.

    Returns
    -------
    means : (C,)
        Doubles, or objects if there are Fractions among them.
    errors : (float, float)
        Largest distance of a reward from the nearest double, and as a part of that: by rounding,
        and by two units in the last place of each probability that is a double.

    Raises
    ------
    OverflowError
        If a mean is beyond the range of doubles.
    """
    starts = offsets[:-1]
    if not len(starts):
        return np.zeros(0), (0.0, 0.0)
    numbers = nearest(paid)
    means = numbers[starts].copy()
    is_rounded = np.maximum.reduceat(numbers, starts) > np.minimum.reduceat(numbers, starts)
    if paid.dtype == object:
        is_rounded |= np.logical_or.reduceat(paid != numbers, starts)
    with np.errstate(over="ignore", invalid="ignore"):  # computed again, exactly
        for part in certain:
            before, term = means, nearest(part)
            means = before + term
            is_rounded |= (_lost(before, term, means) != 0) | (part != term)
            are_shown = are_own_decimals(before) & are_own_decimals(term)
            is_rounded |= (before != 0) & (term != 0) & ~are_shown
    found = means.astype(object)
    most, share = Fraction(0), Fraction(0)
    known = functools.cache(mean_of)  # many choices have the same numbers
    for choice in np.flatnonzero(is_rounded).tolist():
        row = slice(offsets[choice], offsets[choice + 1])
        mean, spread = known(tuple(probabilities[row].tolist()), tuple(paid[row].tolist()))
        parts = [part[choice] for part in certain]
        if parts and mean == paid[offsets[choice]]:
            parts, mean = [paid[offsets[choice]], *parts], Fraction(0)
        found[choice] = mean = mean + exact_sum(parts)
        stored = Fraction(float(mean))
        error = abs(mean - stored) + spread
        if error:
            most = max(most, error)
            share = max(share, error / abs(stored) if stored else Fraction(2))
    return as_given(found.tolist()), (upward(most), upward(share))


def _lost(first: Floats, second: Floats, total: Floats) -> Floats:
    """Return the rounding error of a sum, as :func:`gamedp.runtime.floats.lost` does."""
    rest: Any = lost(first, second, total)  # type: ignore[arg-type]
    return rest  # type: ignore[no-any-return]
