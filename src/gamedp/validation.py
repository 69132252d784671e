"""Arrays from outside: checked, put into the model's own form, and copied.

What is wrong is said once, for the first place, with how many places there are of the kind.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError
from gamedp.model import SUM_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["arrays_of_matrices", "checked_arrays"]

LARGEST = 2**63 - 1
MOST_PLAYERS = int(np.iinfo(np.int8).max)


def checked_arrays(  # noqa: PLR0913 - they are what a model is
    *,
    choice_offsets: ArrayLike,
    transition_offsets: ArrayLike,
    successors: ArrayLike,
    probabilities: ArrayLike,
    rewards: ArrayLike | None,
    players: ArrayLike | None,
    terminals: ArrayLike | None,
    payoffs: ArrayLike | None,
    action_labels: ArrayLike | None,
    initial: int | Sequence[tuple[float, int]],
    num_players: int | None,
    constant_sum: float,
) -> dict[str, Any]:
    """Return what :class:`gamedp.Model` takes, made of what :meth:`gamedp.Model.from_arrays` takes.

    Takes time linear in the size of the model, but for the choices whose successors do not ascend:
    those are sorted to find what is there twice.

    Returns
    -------
    dict
        The fields of the model by name; no array shares memory with an argument.

    Raises
    ------
    InvalidModelError
        If the arrays do not describe a model; the message names the state and the choice.
    """
    choices_from = _integers("choice_offsets", choice_offsets)
    transitions_from = _integers("transition_offsets", transition_offsets)
    targets = _integers("successors", successors)
    chances = _numbers("probabilities", probabilities)
    if len(targets) != len(chances):
        message = (
            f"there are {len(targets):,} successors and {len(chances):,} probabilities; "
            "every transition needs one of each."
        )
        raise InvalidModelError(message)
    num_choices = max(0, len(transitions_from) - 1)
    _check_offsets("choice_offsets", choices_from, num_choices, "state", "choices")
    _check_offsets("transition_offsets", transitions_from, len(targets), "choice", "transitions")
    num_states = len(choices_from) - 1
    if num_states == 0:
        message = "the model has no states; choice_offsets has one entry more than there are."
        raise InvalidModelError(message)

    labels = _labels(action_labels, choices_from)
    rows = _Rows(choices_from, transitions_from, labels)
    movers, num_players = _movers(players, num_players, num_states)
    constant_sum = _constant_sum(constant_sum, num_players)
    _check_outcomes(rows, targets, chances, num_players)
    transitions_from, targets, chances = _merged(transitions_from, targets, chances)
    ends, received = _endings(terminals, payoffs, choices_from, num_players, constant_sum)
    starts, start_chances = _start(initial, num_states, num_players)
    return {
        "choice_offsets": choices_from,
        "transition_offsets": transitions_from,
        "successors": targets.astype(np.int32 if num_states < 2**31 else np.int64, copy=False),
        "probabilities": chances,
        "rewards": _rewards(rewards, rows, num_players),
        "players": movers,
        "terminals": ends,
        "payoffs": received,
        "action_labels": labels,
        "initial_states": starts,
        "initial_probabilities": start_chances,
        "num_players": num_players,
        "constant_sum": constant_sum,
    }


def arrays_of_matrices(matrices: Sequence[Any], rewards: ArrayLike | None) -> dict[str, Any]:
    """Return what :meth:`gamedp.Model.from_arrays` takes, made of one matrix for each action.

    Parameters
    ----------
    matrices : sequence of A (S, S) matrices
        Sparse or dense; not changed.
    rewards : (S, A) or (S,) array_like, or None
        For more than two players with one more axis, of the players.

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
        "choice_offsets": _offsets(np.count_nonzero(counts, axis=1)),
        "transition_offsets": _offsets(counts[states, actions]),
        "successors": successors,
        "probabilities": probabilities,
        "rewards": _rewards_of_choices(rewards, num_states, states, actions, len(parts)),
        "action_labels": actions,
    }


def _square_matrices(matrices: Sequence[Any]) -> list[Any]:
    """Return the matrices as sparse ones of our own, without stored zeros."""
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
) -> Floats | None:
    """Return the rewards of the available actions; those of the others may be anything."""
    if rewards is None:
        return None
    numbers = _numbers("rewards", rewards, dimensions=(1, 2, 3))
    expected = (num_states, num_actions)[: numbers.ndim]
    if numbers.shape[:2] != expected:
        message = (
            f"rewards has the shape {numbers.shape}; it must be ({num_states},), one number for "
            f"each state, or ({num_states}, {num_actions}), one for each state and action."
        )
        raise InvalidModelError(message)
    chosen: Floats = numbers[states] if numbers.ndim == 1 else numbers[states, actions]
    return chosen


@attrs.frozen(eq=False)
class _Rows:
    """Which choice belongs to which state, and its label: what a complaint needs to name one."""

    choice_offsets: Integers
    transition_offsets: Integers
    labels: NDArray[np.signedinteger[Any]]

    def choice(self, choice: int) -> str:
        """Return words for a choice."""
        state = _row_of(self.choice_offsets, choice)
        return f"choice {choice} (action {self.labels[choice]}) of state {state}"

    def transition(self, transition: int) -> str:
        """Return words for where a transition comes from."""
        return self.choice(_row_of(self.transition_offsets, transition))


def _row_of(offsets: Integers, place: int) -> int:
    return int(np.searchsorted(offsets, place, side="right")) - 1


def _offsets(counts: NDArray[Any]) -> Integers:
    """Return where each row begins, for rows of these lengths, and where the last one ends."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _how_many(bad: NDArray[np.bool_], of_what: str) -> str:
    count = int(np.count_nonzero(bad))
    return f"({count:,} of {len(bad):,} {of_what} {'is' if count == 1 else 'are'} off)"


def _array(name: str, values: Any, dimensions: tuple[int, ...]) -> NDArray[Any]:
    """Return `values` as an array of one of these numbers of dimensions."""
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


def _integers(name: str, values: Any) -> Integers:
    """Return a copy as 64-bit integers."""
    array = _array(name, values, (1,))
    if array.size and (
        array.dtype.kind not in "iu" or (array.dtype == np.uint64 and array.max() > LARGEST)
    ):
        message = (
            f"{name} holds {array.dtype}; it must hold integers of at most 64 bits with a sign. "
            f"If these are whole numbers, convert them: {name}.astype(numpy.int64)."
        )
        raise InvalidModelError(message)
    return array.astype(np.int64)


def _numbers(name: str, values: Any, dimensions: tuple[int, ...] = (1,)) -> Floats:
    """Return a copy as floating-point numbers. Objects such as fractions are welcome."""
    array = _array(name, values, dimensions)
    if array.dtype.kind in "iufO":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass  # objects that are no numbers
    message = f"{name} holds {array.dtype}; it must hold real numbers."
    raise InvalidModelError(message)


def _check_offsets(name: str, offsets: Integers, end: int, row: str, items: str) -> None:
    if len(offsets) == 0 or offsets[0] != 0:
        begin = f"begins with {offsets[0]}" if len(offsets) else "is empty"
        message = f"{name} {begin}; the first entry must be 0, where the {items} begin."
        raise InvalidModelError(message)
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        place = int(falls.argmax())
        message = (
            f"{name} falls from {offsets[place]} to {offsets[place + 1]} at {row} {place} "
            f"{_how_many(falls, f'{row}s')}. Offsets never fall; a {row} without {items} repeats "
            "the entry before."
        )
        raise InvalidModelError(message)
    if offsets[-1] != end:
        message = (
            f"{name} ends with {offsets[-1]}, but there are {end:,} {items}. The last entry must "
            f"be the number of {items}."
        )
        raise InvalidModelError(message)


def _labels(labels: ArrayLike | None, choice_offsets: Integers) -> NDArray[np.signedinteger[Any]]:
    """Return the labels in the smallest integers that hold them; by default 0, 1, ... per state."""
    num_choices = int(choice_offsets[-1])
    if labels is None:
        numbers = np.arange(num_choices) - np.repeat(choice_offsets[:-1], np.diff(choice_offsets))
    else:
        numbers = _integers("action_labels", labels)
        _check_length("action_labels", numbers, num_choices, "choices")
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for dtype in (np.int8, np.int16, np.int32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return numbers.astype(dtype)
    return numbers


def _check_length(name: str, array: NDArray[Any], length: int, items: str) -> None:
    if len(array) != length:
        message = (
            f"{name} has {len(array):,} entries, but there are {length:,} {items}; each needs one."
        )
        raise InvalidModelError(message)


def _movers(
    players: ArrayLike | None, num_players: int | None, num_states: int
) -> tuple[NDArray[np.int8], int]:
    """Return who moves in each state, and how many players there are."""
    if num_players is not None:
        num_players = _index("num_players", num_players)
        if not 1 <= num_players <= MOST_PLAYERS:
            message = f"num_players is {num_players}; there can be 1 to {MOST_PLAYERS}."
            raise InvalidModelError(message)
    if players is None:
        return np.zeros(num_states, np.int8), num_players or 1
    movers = _integers("players", players)
    _check_length("players", movers, num_states, "states")
    most = num_players or MOST_PLAYERS
    bad = (movers < 0) | (movers >= most)
    if bad.any():
        state = int(bad.argmax())
        message = (
            f"the player of state {state} is {movers[state]} {_how_many(bad, 'states')}. Players "
            f"are numbered 0 to {most - 1}{' (set num_players)' if num_players else ''}."
        )
        raise InvalidModelError(message)
    return movers.astype(np.int8), num_players or int(movers.max()) + 1


def _constant_sum(constant_sum: float, num_players: int) -> float:
    try:
        total = float(constant_sum)
    except (TypeError, ValueError):
        total = math.nan
    if not math.isfinite(total):
        message = f"constant_sum is {constant_sum!r}; it must be a finite number."
        raise InvalidModelError(message)
    if total and num_players != 2:
        message = (
            f"constant_sum is {total!r}, but there is no pair of players to share it: the number "
            f"of players is {num_players}. Set num_players=2 or leave constant_sum out."
        )
        raise InvalidModelError(message)
    return total


def _check_outcomes(rows: _Rows, successors: Integers, chances: Floats, num_players: int) -> None:
    """Check that every choice has a probability distribution over states that exist."""
    num_states = len(rows.choice_offsets) - 1
    bad = (successors < 0) | (successors >= num_states)
    if bad.any():
        place = int(bad.argmax())
        message = (
            f"{rows.transition(place)} leads to state {successors[place]}, which does not exist "
            f"{_how_many(bad, 'transitions')}. States are numbered 0 to {num_states - 1}."
        )
        raise InvalidModelError(message)
    bad = ~np.isfinite(chances)
    if num_players != 2:
        bad |= chances < 0
    if bad.any():
        place = int(bad.argmax())
        message = (
            f"{rows.transition(place)} leads to state {successors[place]} with probability "
            f"{float(chances[place])!r} {_how_many(bad, 'transitions')}. A probability is a number "
            "from 0 to 1; with num_players=2 a negative one says that the players change places."
        )
        raise InvalidModelError(message)
    _check_sums(rows, chances)


def _check_sums(rows: _Rows, chances: Floats) -> None:
    starts = rows.transition_offsets[:-1]
    totals = np.zeros(len(starts))
    has_outcomes = starts < rows.transition_offsets[1:]
    # Between two rows with outcomes there are no others: reduceat ends each where the next begins.
    if has_outcomes.any():
        totals[has_outcomes] = np.add.reduceat(np.abs(chances), starts[has_outcomes])
    bad = np.abs(totals - 1) > SUM_TOLERANCE
    if bad.any():
        choice = int(bad.argmax())
        message = (
            f"the outcomes of {rows.choice(choice)} have total probability "
            f"{float(totals[choice])!r}, not 1 {_how_many(bad, 'choices')}. Outcomes must sum to 1 "
            f"within {SUM_TOLERANCE:g}."
        )
        raise InvalidModelError(message)


def _merged(
    offsets: Integers, successors: Integers, chances: Floats
) -> tuple[Integers, Integers, Floats]:
    """Drop impossible outcomes, and add up those that lead to one state on the same side."""
    keep = chances != 0
    chances = _add_up_duplicates(offsets, 2 * successors + (chances < 0), chances, keep)
    if keep.all():
        return offsets, successors, chances
    return _offsets(keep)[offsets], successors[keep], chances[keep]


def _add_up_duplicates(
    offsets: Integers, targets: Integers, chances: Floats, keep: NDArray[np.bool_]
) -> Floats:
    """Add what is there twice to the first of its kind, and clear `keep` for the others."""
    falls = np.zeros(len(targets) + 1, np.int64)
    falls[1:-1] = targets[1:] <= targets[:-1]
    falls[offsets] = 0  # the first of each row has nothing before it
    suspects = np.add.reduceat(falls, offsets)[:-1] > 0 if falls.any() else np.zeros(0, np.bool_)
    if not suspects.any():
        return chances
    lengths = np.diff(offsets)
    places = np.flatnonzero(np.repeat(suspects, lengths) & keep)
    rows = np.repeat(np.cumsum(suspects), lengths)[places]
    order = _by_row_and_target(rows, targets[places])
    places, rows = places[order], rows[order]
    first = np.ones(len(places), np.bool_)
    first[1:] = (np.diff(rows) != 0) | (np.diff(targets[places]) != 0)
    if first.all():
        return chances
    keep[places[~first]] = False
    chances[places[first]] = np.add.reduceat(chances[places], np.flatnonzero(first))
    return chances


def _by_row_and_target(rows: Integers, targets: Integers) -> NDArray[np.intp]:
    """Return a stable order by both."""
    width = int(targets.max(initial=0)) + 1
    if width * (int(rows.max(initial=0)) + 1) > LARGEST:
        return np.lexsort((targets, rows))
    return np.argsort(rows * width + targets, kind="stable")  # many times as fast


def _endings(
    terminals: ArrayLike | None,
    payoffs: ArrayLike | None,
    choice_offsets: Integers,
    num_players: int,
    constant_sum: float,
) -> tuple[Integers, Floats]:
    """Return the terminal states in ascending order, and the payoffs there."""
    stuck = np.diff(choice_offsets) == 0
    if terminals is None:
        ends = np.flatnonzero(stuck).astype(np.int64)
        if payoffs is None and len(ends):
            message = (
                f"state {ends[0]} has no choices and is not terminal {_how_many(stuck, 'states')}. "
                "Name the terminal states in `terminals`, or give each of these states a number in "
                "`payoffs`."
            )
            raise InvalidModelError(message)
    else:
        ends = _integers("terminals", terminals)
        _check_terminals(ends, stuck)
    received = _per_player("payoffs", payoffs, len(ends), "terminal states", num_players)
    bad = _not_finite(received)
    if bad.any():
        place = int(bad.argmax())
        message = (
            f"the payoff in terminal state {ends[place]} is {_plain(received[place])} "
            f"{_how_many(bad, 'terminal states')}; it must be finite."
        )
        raise InvalidModelError(message)
    order = np.argsort(ends)
    received = _one_side("payoffs", received, constant_sum, num_players, "terminal states")
    return ends[order], received[order]


def _check_terminals(ends: Integers, stuck: NDArray[np.bool_]) -> None:
    num_states = len(stuck)
    bad = (ends < 0) | (ends >= num_states)
    if bad.any():
        message = (
            f"terminals names state {ends[bad.argmax()]}, which does not exist "
            f"{_how_many(bad, 'entries')}. States are numbered 0 to {num_states - 1}."
        )
        raise InvalidModelError(message)
    named = np.bincount(ends, minlength=num_states)
    bad = np.greater(named, 1)
    if bad.any():
        message = (
            f"terminals names state {bad.argmax()} twice {_how_many(bad, 'states')}. Leave one "
            "out, and its payoff."
        )
        raise InvalidModelError(message)
    bad = stuck & (named == 0)
    if bad.any():
        message = (
            f"state {bad.argmax()} has no choices and is not terminal {_how_many(bad, 'states')}. "
            "Name it in `terminals`, or give it a choice."
        )
        raise InvalidModelError(message)
    bad = ~stuck & (named == 1)
    if bad.any():
        message = (
            f"state {bad.argmax()} is terminal, but has choices {_how_many(bad, 'states')}. "
            "Leave it out of `terminals`, or take its choices away."
        )
        raise InvalidModelError(message)


def _per_player(
    name: str, values: ArrayLike | None, length: int, items: str, num_players: int
) -> Floats:
    """Return `values` as a table with a column for each player, or just one for player 0."""
    several = num_players > 2
    if values is None:
        return np.zeros((length, num_players if several else 1))
    numbers = _numbers(name, values, dimensions=(1, 2))
    if length == 0 == numbers.size:
        return np.zeros((0, num_players if several else 1))
    if numbers.shape != (length, num_players) and (several or numbers.shape != (length,)):
        wanted = f"({length}, {num_players})" if several else f"({length},)"
        message = (
            f"{name} has the shape {numbers.shape}; it must be {wanted} ({items}: {length:,}, "
            f"players: {num_players})."
        )
        raise InvalidModelError(message)
    return numbers if numbers.ndim > 1 else numbers[:, np.newaxis]


def _one_side(name: str, table: Floats, total: float, num_players: int, items: str) -> Floats:
    """Keep player 0's column of two players', whose numbers must add up to `total`."""
    if num_players > 2:
        return table
    if table.shape[1] == 2:
        size = np.maximum(1, np.abs(table).max(axis=1))
        bad = np.abs(table.sum(axis=1) - total) > SUM_TOLERANCE * size
        if bad.any():
            place = int(bad.argmax())
            message = (
                f"{name}[{place}] is {_plain(table[place])}; the numbers of two players must add "
                f"up to {total!r} {_how_many(bad, items)}."
            )
            raise InvalidModelError(message)
    return np.ascontiguousarray(table[:, 0])


def _rewards(rewards: ArrayLike | None, rows: _Rows, num_players: int) -> Floats:
    table = _per_player("rewards", rewards, len(rows.labels), "choices", num_players)
    bad = _not_finite(table)
    if bad.any():
        choice = int(bad.argmax())
        message = (
            f"the reward of {rows.choice(choice)} is {_plain(table[choice])} "
            f"{_how_many(bad, 'choices')}; it must be finite."
        )
        raise InvalidModelError(message)
    return _one_side("rewards", table, 0.0, num_players, "choices")


def _not_finite(table: Floats) -> NDArray[np.bool_]:
    bad: NDArray[np.bool_] = np.logical_not(np.isfinite(table).all(axis=1))
    return bad


def _plain(numbers: Floats) -> float | list[float]:
    """Return numbers as people write them: one alone, or a list."""
    values: list[float] = numbers.tolist()
    return values[0] if len(values) == 1 else values


def _index(name: str, value: Any) -> int:
    """Return an integer of any library; bools do not count as such."""
    try:
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)
    except TypeError:
        pass  # not an integer either
    message = f"{name} is {value!r}; it must be an integer."
    raise InvalidModelError(message)


def _start(
    initial: int | Sequence[tuple[float, int]], num_states: int, num_players: int
) -> tuple[Integers, Floats]:
    """Return the initial states, each with a probability that is signed like a transition's."""
    pairs: Any = [(1.0, initial)] if isinstance(initial, (int, np.integer)) else initial
    if not isinstance(pairs, (list, tuple, np.ndarray)):
        pairs = [pairs]  # to be refused in words
    total: dict[tuple[int, bool], float] = {}
    for pair in pairs:
        chance, state = _start_pair(pair)
        if not 0 <= state < num_states:
            message = (
                f"the initial state {state} does not exist; states are numbered 0 to "
                f"{num_states - 1}."
            )
            raise InvalidModelError(message)
        if not math.isfinite(chance) or (chance < 0 and num_players != 2):
            message = (
                f"the game starts in state {state} with probability {chance!r}; a probability is a "
                "number from 0 to 1 (negative only with num_players=2, for players who have "
                "changed places)."
            )
            raise InvalidModelError(message)
        if chance:
            key = (state, chance < 0)
            total[key] = total.get(key, 0.0) + chance
    size = sum(map(abs, total.values()))
    if abs(size - 1) > SUM_TOLERANCE:
        message = (
            f"the initial states have total probability {size!r}, not 1. Give one state, or a list "
            f"of (probability, state) pairs that sum to 1 within {SUM_TOLERANCE:g}."
        )
        raise InvalidModelError(message)
    states = np.array([state for state, _ in total], np.int64)
    return states, np.array(list(total.values()), np.float64)


def _start_pair(pair: Any) -> tuple[float, int]:
    try:
        chance, state = pair
        chance = float(chance)
    except (TypeError, ValueError):
        message = (
            f"initial contains {pair!r}; it must be one state, or a list of (probability, state) "
            "pairs."
        )
        raise InvalidModelError(message) from None
    return chance, _index("an initial state", state)
