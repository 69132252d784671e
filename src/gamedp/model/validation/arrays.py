"""Arrays of models: given ones checked and copied, and those in the model's own form checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.model.validation.forms import (
    ARRAYS,
    ChoiceRows,
    as_index,
    as_integers,
    as_numbers,
    check_length,
    check_names,
    check_offsets,
    how_many,
)
from gamedp.model.validation.outcomes import check_outcomes, distributions, hint_of_sum, normalised
from gamedp.rules.exactness import (
    SEVERAL,
    as_array,
    as_given,
    as_rational,
    as_real,
    as_sum_of_two,
    model_numbers,
    nearest,
)
from gamedp.rules.game import MOST_PLAYERS
from gamedp.runtime.floats import FAINT, LEAST, LEAST_PROBABILITY, SUM_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from gamedp.runtime.arrays import Flags

    Integers = NDArray[np.int64]
    from numpy.typing import NDArray


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
    initial: int | Sequence[tuple[SupportsFloat, int]],
    num_players: int | None,
    constant_sum: float | None,
    normalise: bool,
) -> dict[str, Any]:
    """Return a model's fields from the arguments of :meth:`gamedp.Model.from_arrays`.

    Takes time linear in the size of the model, except for choices whose successors do not ascend:
    those are sorted to find duplicates.

    Returns
    -------
    dict
        The fields of the model by name; no array shares memory with an argument.

    Raises
    ------
    InvalidModelError
        If the arrays do not describe a model; the message names the state and the choice.
    """
    choices_from = as_integers("choice_offsets", choice_offsets)
    transitions_from = as_integers("transition_offsets", transition_offsets)
    successors = as_integers("successors", successors)
    probabilities = as_numbers("probabilities", probabilities)
    if len(successors) != len(probabilities):
        message = (
            f"there are {len(successors):,} successors and {len(probabilities):,} probabilities; "
            "every transition needs one of each."
        )
        raise InvalidModelError(message)
    num_choices = max(0, len(transitions_from) - 1)
    check_offsets("choice_offsets", choices_from, num_choices, "state", "choices")
    check_offsets("transition_offsets", transitions_from, len(successors), "choice", "transitions")
    num_states = len(choices_from) - 1
    if num_states == 0:
        message = "the model has no states; choice_offsets has one entry more than there are."
        raise InvalidModelError(message)

    labels = _labels(action_labels, choices_from)
    rows = ChoiceRows(choices_from, transitions_from, labels)
    movers, num_players = _movers(players, num_players, num_states)
    several = num_players > 2 or (num_players == 2 and constant_sum is None)
    total = _constant_sum(constant_sum, num_players)
    signed = num_players == 2 and not several
    notes = []
    if normalise:
        probabilities, changed = normalised(transitions_from, probabilities, signed=signed)
        notes.append(changed)
    doubles = nearest(probabilities)
    if probabilities.dtype == object:
        doubles[(doubles == 0) & (probabilities != 0)] = LEAST  # too small, not impossible
    check_outcomes(rows, successors, doubles, signed=signed)
    transitions_from, successors, probabilities = distributions(
        transitions_from, successors, probabilities
    )
    if probabilities.dtype == object:
        probabilities = as_given(probabilities.tolist())
    ends, received = endings(terminals, payoffs, choices_from, num_players, total, several=several)
    earned = checked_rewards(rewards, rows, num_players, several=several)
    starts, start_probabilities, changed = _start(
        initial, num_states, signed=signed, normalise=normalise
    )
    notes.append(changed)
    return {
        **model_numbers(
            probabilities=probabilities,
            rewards=earned,
            payoffs=received,
            initial_probabilities=start_probabilities,
        ),
        "choice_offsets": choices_from,
        "transition_offsets": transitions_from,
        "successors": successors.astype(np.int32 if num_states < 2**31 else np.int64, copy=False),
        "players": movers,
        "terminals": ends,
        "action_labels": labels,
        "initial_states": starts,
        "num_players": num_players,
        "constant_sum": total,
        "notes": tuple(filter(None, notes)),
    }


def _labels(labels: ArrayLike | None, choice_offsets: Integers) -> NDArray[np.signedinteger[Any]]:
    """Return the labels in the smallest integers that hold them; by default 0, 1, ... per state."""
    num_choices = int(choice_offsets[-1])
    if labels is None:
        numbers = np.arange(num_choices) - np.repeat(choice_offsets[:-1], np.diff(choice_offsets))
    else:
        numbers = as_integers("action_labels", labels)
        check_length("action_labels", numbers, num_choices, "choices")
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for dtype in (np.int8, np.int16, np.int32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return numbers.astype(dtype)
    return numbers


def _movers(
    players: ArrayLike | None, num_players: int | None, num_states: int
) -> tuple[NDArray[np.int8], int]:
    """Return the player to move in each state, and the number of players."""
    if num_players is not None:
        num_players = as_index("num_players", num_players)
        if not 1 <= num_players <= MOST_PLAYERS:
            message = f"num_players is {num_players}; there can be 1 to {MOST_PLAYERS}."
            raise InvalidModelError(message)
    if players is None:
        return np.zeros(num_states, np.int8), num_players or 1
    movers = as_integers("players", players)
    check_length("players", movers, num_states, "states")
    most = num_players or MOST_PLAYERS
    bad = (movers < 0) | (movers >= most)
    if bad.any():
        state = int(bad.argmax())
        message = (
            f"the player of state {state} is {movers[state]} {how_many(bad, 'states')}. Players "
            f"are numbered 0 to {most - 1}{' (set num_players)' if num_players else ''}."
        )
        raise InvalidModelError(message)
    return movers.astype(np.int8), num_players or int(movers.max()) + 1


def _constant_sum(constant_sum: float | None, num_players: int) -> float:
    total = 0.0 if constant_sum is None else as_sum_of_two(constant_sum)
    if total and num_players != 2:
        message = (
            f"constant_sum is {total!r}, but there is no pair of players to share it: the number "
            f"of players is {num_players}. Set num_players=2 or leave constant_sum out."
        )
        raise InvalidModelError(message)
    return total


def _start(
    initial: int | Sequence[tuple[SupportsFloat, int]],
    num_states: int,
    *,
    signed: bool,
    normalise: bool,
) -> tuple[Integers, NDArray[Any], str]:
    """Return the initial states, their probabilities, signed like transitions', and any note.

    The probabilities are doubles, or objects if there are Fractions among them.
    """
    pairs: Any = [(1.0, initial)] if isinstance(initial, (int, np.integer)) else initial
    if not isinstance(pairs, (list, tuple, np.ndarray)):
        pairs = [pairs]  # to be refused with a message
    given: list[Any] = []
    places: list[int] = []
    for pair in pairs:
        share, state = _start_pair(pair)
        probability = float(share)
        if not 0 <= state < num_states:
            message = (
                f"the initial state {state} does not exist; states are numbered 0 to "
                f"{num_states - 1}."
            )
            raise InvalidModelError(message)
        if not math.isfinite(probability) or (probability < 0 and not signed):
            message = (
                f"the game starts in state {state} with probability {probability!r}; a probability "
                "is a number from 0 to 1 (negative only for two opponents who have changed places)."
            )
            raise InvalidModelError(message)
        if 0 < abs(share) < LEAST_PROBABILITY:
            message = f"the game starts in state {state} with probability {probability!r}. {FAINT}"
            raise InvalidModelError(message)
        given.append(share)
        places.append(state)
    shares, changed = as_array(given), ""
    ends, states = np.array([0, len(given)]), np.array(places, np.int64)
    if normalise:
        shares, changed = normalised(ends, shares, signed=True, rows="starts")
    size = math.fsum(np.abs(nearest(shares)).tolist())
    if abs(size - 1) > SUM_TOLERANCE:
        hint = f" {hint_of_sum(size)}" if size else ""
        message = (
            f"the initial states have total probability {size!r}, not 1. Give one state, or a list "
            f"of (probability, state) pairs that sum to 1 within {SUM_TOLERANCE:g}.{hint}"
        )
        raise InvalidModelError(message)
    _, states, probabilities = distributions(ends, states, shares)
    return states, probabilities, changed


def _start_pair(pair: Any) -> tuple[Any, int]:
    """Return a probability, as a Fraction if given as a rational number, and its state."""
    try:
        given, state = pair
        exact = None if isinstance(given, SupportsIndex) else as_rational(given)
        probability = as_real(given) if exact is None else exact
    except (TypeError, ValueError, OverflowError):
        message = (
            f"initial contains {shown(pair)}; it must be one state, or a list of "
            "(probability, state) pairs."
        )
        raise InvalidModelError(message) from None
    return probability, as_index("an initial state", state)


TYPES: dict[str, tuple[type, ...]] = {
    "successors": (np.int32, np.int64),
    "probabilities": (np.float64,),
    "rewards": (np.float64,),
    "players": (np.int8,),
    "payoffs": (np.float64,),
    "action_labels": (np.int8, np.int16, np.int32, np.int64),
    "initial_probabilities": (np.float64,),
}
"""Types of the arrays of a model; all others are int64."""

KEPT = ("probabilities", "rewards", "payoffs", "initial_probabilities")
"""The arrays whose numbers may also be kept as Fractions."""

SCALED = LEAST_PROBABILITY / 2
"""Lower bound of the smallest probability after scaling."""


def check_model(model: Any) -> None:
    """Raise InvalidModelError unless the arrays of a model belong together.

    Models from :meth:`gamedp.Model.from_arrays` pass; nothing is converted, copied or scaled. It
    takes a few passes over the arrays.
    """
    _check_form(model)
    num_choices, num_transitions = len(model.action_labels), len(model.successors)
    check_offsets("choice_offsets", model.choice_offsets, num_choices, "state", "choices")
    check_offsets(
        "transition_offsets", model.transition_offsets, num_transitions, "choice", "transitions"
    )
    rows = ChoiceRows(model.choice_offsets, model.transition_offsets, model.action_labels)
    signed = model.has_opponents
    check_outcomes(rows, model.successors, model.probabilities, signed=signed, least=SCALED)
    _check_states(model)
    check_names(model)


def _check_form(model: Any) -> None:
    """Check types, and the lengths that follow from each other."""
    count: Any = model.num_players
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_PLAYERS:
        message = f"num_players is {shown(count)}; there can be 1 to {MOST_PLAYERS}."
        raise InvalidModelError(message)
    as_sum_of_two(model.constant_sum)
    for name in ARRAYS:
        array: Any = getattr(model, name)
        types = TYPES.get(name, (np.int64,))
        if not isinstance(array, np.ndarray) or array.dtype not in types:
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            wanted = " or ".join(its_type.__name__ for its_type in types)
            message = f"{name} holds {kind}, not {wanted}. Model.from_arrays converts what it gets."
            raise InvalidModelError(message)
    states, choices = len(model.choice_offsets) - 1, len(model.transition_offsets) - 1
    several = count > 2 or (count == 2 and np.ndim(model.payoffs) > 1)
    columns = (count,) if several else ()
    shapes: dict[str, tuple[int, ...]] = {
        "choice_offsets": (max(states, 1) + 1,),  # there is no model without states
        "transition_offsets": (max(choices, 0) + 1,),
        "probabilities": model.successors.shape[:1],
        "successors": model.probabilities.shape[:1],
        "rewards": (choices, *columns),
        "action_labels": (choices,),
        "players": (states,),
        "payoffs": (len(model.terminals), *columns),
        "terminals": model.payoffs.shape[:1],
        "initial_states": model.initial_probabilities.shape[:1],
        "initial_probabilities": model.initial_states.shape[:1],
    }
    for name in ARRAYS:
        if getattr(model, name).shape != shapes[name]:
            message = f"{name} has shape {getattr(model, name).shape}; it must be {shapes[name]}."
            raise InvalidModelError(message)
    for name, exact in model.fractions.items():
        if name not in KEPT or not np.array_equal(nearest(exact), getattr(model, name)):
            message = (
                f"fractions[{name!r}] does not round to the model's {name}. Change both, or leave "
                "the fractions out: fractions={}."
            )
            raise InvalidModelError(message)


def _check_states(model: Any) -> None:
    """Check the players, the terminal states and the initial states."""
    bad = (model.players < 0) | (model.players >= model.num_players)
    if bad.any():
        state = int(bad.argmax())
        message = (
            f"the player of state {state} is {model.players[state]} {how_many(bad, 'states')}. "
            f"Players are numbered 0 to {model.num_players - 1}."
        )
        raise InvalidModelError(message)
    if not np.array_equal(model.terminals, np.flatnonzero(np.diff(model.choice_offsets) == 0)):
        message = "terminals must be the states without choices, just these, in ascending order."
        raise InvalidModelError(message)
    starts, probabilities = model.initial_states, model.initial_probabilities
    bad = (starts < 0) | (starts >= model.num_states)
    if bad.any():
        message = (
            f"the initial state {starts[bad.argmax()]} does not exist; states are numbered 0 to "
            f"{model.num_states - 1}."
        )
        raise InvalidModelError(message)
    bad = (probabilities != 0) & (np.abs(probabilities) < SCALED)
    if bad.any():
        message = f"an initial probability is {float(probabilities[bad.argmax()])!r}. {FAINT}"
        raise InvalidModelError(message)
    if not model.has_opponents and (probabilities < 0).any():
        message = "an initial probability is negative; that is for two players who change places."
        raise InvalidModelError(message)
    total = float(np.abs(probabilities).sum())
    if not abs(total - 1) <= SUM_TOLERANCE:
        message = f"the initial states have total probability {total!r}, not 1."
        raise InvalidModelError(message)


def checked_rewards(
    rewards: ArrayLike | None, rows: ChoiceRows, num_players: int, *, several: bool
) -> NDArray[Any]:
    """Return the rewards of all choices, zero if not given."""
    table = _per_player("rewards", rewards, len(rows.labels), "choices", num_players, several)
    bad = _not_finite(table)
    if bad.any():
        choice = int(bad.argmax())
        message = (
            f"the reward of {rows.choice(choice)} is {_plain(table[choice])} "
            f"{how_many(bad, 'choices')}; it must be finite."
        )
        raise InvalidModelError(message)
    return table if several else _one_side("rewards", table, 0.0, "choices")


def endings(
    terminals: ArrayLike | None,
    payoffs: ArrayLike | None,
    choice_offsets: Integers,
    num_players: int,
    constant_sum: float,
    *,
    several: bool,
) -> tuple[Integers, NDArray[Any]]:
    """Return the terminal states in ascending order, and the payoffs there."""
    stuck = np.diff(choice_offsets) == 0
    if terminals is None:
        ends = np.flatnonzero(stuck).astype(np.int64)
        if payoffs is None and len(ends):
            message = (
                f"state {ends[0]} has no choices and is not terminal {how_many(stuck, 'states')}. "
                "Name the terminal states in `terminals`, or give each of these states a number in "
                "`payoffs`."
            )
            raise InvalidModelError(message)
    else:
        ends = as_integers("terminals", terminals)
        _check_terminals(ends, stuck)
    received = _per_player("payoffs", payoffs, len(ends), "terminal states", num_players, several)
    bad = _not_finite(received)
    if bad.any():
        place = int(bad.argmax())
        message = (
            f"the payoff in terminal state {ends[place]} is {_plain(received[place])} "
            f"{how_many(bad, 'terminal states')}; it must be finite."
        )
        raise InvalidModelError(message)
    order = np.argsort(ends)
    if not several:
        received = _one_side("payoffs", received, constant_sum, "terminal states")
    return ends[order], received[order]


def _check_terminals(ends: Integers, stuck: Flags) -> None:
    num_states = len(stuck)
    bad = (ends < 0) | (ends >= num_states)
    if bad.any():
        message = (
            f"terminals names state {ends[bad.argmax()]}, which does not exist "
            f"{how_many(bad, 'entries')}. States are numbered 0 to {num_states - 1}."
        )
        raise InvalidModelError(message)
    named = np.bincount(ends, minlength=num_states)
    bad = np.greater(named, 1)
    if bad.any():
        message = (
            f"terminals names state {bad.argmax()} twice {how_many(bad, 'states')}. Leave one "
            "out, and its payoff."
        )
        raise InvalidModelError(message)
    bad = stuck & (named == 0)
    if bad.any():
        message = (
            f"state {bad.argmax()} has no choices and is not terminal {how_many(bad, 'states')}. "
            "Name it in `terminals`, or give it a choice."
        )
        raise InvalidModelError(message)
    bad = ~stuck & (named == 1)
    if bad.any():
        message = (
            f"state {bad.argmax()} is terminal, but has choices {how_many(bad, 'states')}. "
            "Leave it out of `terminals`, or take its choices away."
        )
        raise InvalidModelError(message)


def _per_player(
    name: str, values: ArrayLike | None, length: int, items: str, num_players: int, several: bool
) -> NDArray[Any]:
    """Return `values` as a table with a column for each player, or only one for player 0."""
    if values is None:
        return np.zeros((length, num_players if several else 1))
    numbers = as_numbers(name, values, dimensions=(1, 2))
    if length == 0 == numbers.size:
        return np.zeros((0, num_players if several else 1))
    if numbers.shape != (length, num_players) and (several or numbers.shape != (length,)):
        wanted = f"({length}, {num_players})" if several else f"({length},)"
        message = (
            f"{name} has the shape {numbers.shape}; it must be {wanted} ({items}: {length:,}, "
            f"players: {num_players})."
        )
        raise InvalidModelError(message)
    if several and numbers.dtype == object:
        place, player = next(zip(*np.nonzero(numbers != nearest(numbers)), strict=True))
        message = (
            f"{name}[{place}] is {shown(numbers[place, player])} for player {player}, which no "
            f"64-bit number is equal to; {SEVERAL} Give float(...) to have it rounded."
        )
        raise InvalidModelError(message)
    return numbers if numbers.ndim > 1 else numbers[:, np.newaxis]


def _one_side(name: str, table: NDArray[Any], total: float, items: str) -> NDArray[Any]:
    """Keep player 0's column of two players', whose numbers must add up to `total`."""
    if table.shape[1] == 2:
        numbers = nearest(table)
        size = np.maximum(1, np.abs(numbers).max(axis=1))
        bad = np.abs(numbers.sum(axis=1) - total) > SUM_TOLERANCE * size
        if bad.any():
            place = int(bad.argmax())
            message = (
                f"{name}[{place}] is {_plain(table[place])}; the numbers of two players must add "
                f"up to {total!r} {how_many(bad, items)}. If each has payoffs of its own, give "
                "constant_sum=None."
            )
            raise InvalidModelError(message)
    return np.ascontiguousarray(table[:, 0])


def _not_finite(table: NDArray[Any]) -> Flags:
    bad: Flags = np.logical_not(np.isfinite(nearest(table)).all(axis=1))
    return bad


def _plain(numbers: NDArray[Any]) -> float | list[float]:
    """Return numbers for messages: a single one alone, or a list."""
    values: list[float] = nearest(numbers).tolist()
    return values[0] if len(values) == 1 else values
