"""Validation of rewards of choices and of payoffs in terminal states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.model.validation.forms import Rows, as_integers, as_numbers, how_many
from gamedp.rules.exactness import SEVERAL, nearest
from gamedp.runtime.floats import SUM_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]


def checked_rewards(
    rewards: ArrayLike | None, rows: Rows, num_players: int, *, several: bool
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


def _check_terminals(ends: Integers, stuck: NDArray[np.bool_]) -> None:
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


def _not_finite(table: NDArray[Any]) -> NDArray[np.bool_]:
    bad: NDArray[np.bool_] = np.logical_not(np.isfinite(nearest(table)).all(axis=1))
    return bad


def _plain(numbers: NDArray[Any]) -> float | list[float]:
    """Return numbers for messages: a single one alone, or a list."""
    values: list[float] = nearest(numbers).tolist()
    return values[0] if len(values) == 1 else values
