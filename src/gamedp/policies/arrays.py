"""A policy as an array: a number for each state, or the probability of each action.

The meaning of the numbers is inferred if they fit exactly one meaning, and is never guessed.

As columns of tables, a policy has a row for each action that may be taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, TypeAlias, TypeGuard

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.results.columns import actions_in, fields_of, joined

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.runtime.arrays import Floats
    from gamedp.stages.solution import StagedSolution

    Integers = NDArray[np.int64]
    Columns = dict[str, NDArray[Any]]


Meaning: TypeAlias = Literal["choices", "places", "labels"]
"""The meaning of the numbers of a policy, or of the columns of a table: see `Policy.from_array`."""

MEANINGS: tuple[Meaning, ...] = ("choices", "places", "labels")


class _Reading(NamedTuple):
    """The content of an array under one meaning.

    Attributes
    ----------
    codes : (C,) integers
        The number that represents each choice.
    taken : (C,) float64
        The probability of each choice.
    fits : (S,) bool
        Whether the entries of each state fit this meaning.
    """

    codes: NDArray[Any]
    taken: Floats
    fits: NDArray[np.bool_]


def is_array(given: Any) -> TypeGuard[NDArray[Any]]:
    """Return whether this is an array, or a list of numbers, and so a single policy.

    Numpy's types are tested first: its arrays and numbers have a method ``choose``, too.
    """
    if isinstance(given, (list, tuple)):
        return bool(given) and all(map(_is_number, given))
    return isinstance(given, (np.ndarray, np.generic))


def _is_number(item: Any) -> bool:
    return isinstance(item, (SupportsIndex, float)) and not isinstance(item, (bool, np.ndarray))


def numbers_in(given: ArrayLike, words: str) -> Floats:
    """Return an array of doubles; raise InvalidParameterError for what are no real numbers."""
    array = _as_array(given, words)
    if array.dtype.kind not in "biufO":
        raise _no_numbers(given, words)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _no_numbers(given, words) from None


def _as_array(given: ArrayLike, words: str) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:  # rows of several lengths
        raise _no_numbers(given, words) from None


def _no_numbers(given: object, words: str) -> InvalidParameterError:
    return InvalidParameterError(f"{words}: {shown(given)} is not an array of real numbers.")


def probabilities_in(model: Model, given: ArrayLike, meaning: Meaning | None = None) -> Floats:
    """Return the probability of each choice in an array; see `Policy.from_array`."""
    if meaning is not None and meaning not in MEANINGS:
        message = f"meaning is {shown(meaning)}; it must be one of {', '.join(MEANINGS)}."
        raise InvalidParameterError(message)
    array = _as_array(given, "the array")
    kind, shape = array.dtype.kind, array.shape
    readings: dict[Meaning, _Reading] = {}
    if kind in "iu" and shape == (model.num_states,):
        readings = _of_numbers(model, array)
    elif kind in "iuf" and len(shape) == 2 and shape[0] == model.num_states:
        readings = _of_table(model, array.astype(np.float64))
    elif kind == "f" and shape == (model.num_choices,) and meaning in {None, "choices"}:
        return array.astype(np.float64)
    if meaning is not None:
        readings = {meaning: readings[meaning]} if meaning in readings else {}
    if not readings:
        raise InvalidParameterError(_of_shape(model, array))
    right = {meaning: reading for meaning, reading in readings.items() if reading.fits.all()}
    if not right:
        raise InvalidParameterError(_misfits(model, array, readings))
    first, *others = right.values()
    for other in others:
        if not np.array_equal(first.taken, other.taken, equal_nan=True):
            raise InvalidParameterError(_several(model, array, right))
    return first.taken


def _codes(model: Model) -> tuple[NDArray[np.int64], dict[Meaning, NDArray[Any]]]:
    """Return the state of each choice, and the choice's number by each meaning."""
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    choices = np.arange(model.num_choices)
    places = choices - model.choice_offsets[owners]
    return owners, {"choices": choices, "places": places, "labels": model.action_labels}


def _of_numbers(model: Model, numbers: NDArray[Any]) -> dict[Meaning, _Reading]:
    """Return the content of an array with a number for each state."""
    owners, codes_by = _codes(model)
    readings = {}
    for meaning, codes in codes_by.items():
        taken = numbers[owners] == codes
        once = np.bincount(owners[taken], minlength=model.num_states) == 1
        nothing = (numbers == -1) | ((numbers == 0) & (meaning != "choices"))
        fits = np.where(model.is_terminal, nothing, once)
        readings[meaning] = _Reading(codes, taken.astype(np.float64), fits)
    return readings


def _of_table(model: Model, table: Floats) -> dict[Meaning, _Reading]:
    """Return the content of a table of states and actions if it has the required width."""
    owners, codes_by = _codes(model)
    states, width = table.shape
    labels = np.unique(model.action_labels)
    columns: dict[Meaning, NDArray[Any]] = {}
    if width == np.diff(model.choice_offsets).max(initial=0):
        columns["places"] = codes_by["places"]
    if width == len(labels):
        columns["labels"] = np.searchsorted(labels, model.action_labels)
    elif labels.min(initial=0) >= 0 and labels.max(initial=-1) < width:
        columns["labels"] = model.action_labels
    readings = {}
    for meaning, column in columns.items():
        taken = table[owners, column]
        given, kept = np.count_nonzero(table, axis=1), np.bincount(owners[taken != 0], None, states)
        readings[meaning] = _Reading(column, taken, model.is_terminal | (given == kept))
    return readings


def _of_shape(model: Model, array: NDArray[Any]) -> str:
    """Return the message that an array does not have the shape of a policy."""
    states = model.num_states
    widths = {np.diff(model.choice_offsets).max(initial=0), len(np.unique(model.action_labels))}
    wide = " or ".join(f"({states}, {width})" for width in sorted(widths))
    return (
        f"an array of {array.dtype} of shape {array.shape} is not a policy of this model. It may "
        f"have an integer for each state, shape ({states},); or probabilities, a column for each "
        f"action, shape {wide}, or a number for each choice, shape ({model.num_choices},)."
    )


def _misfits(model: Model, array: NDArray[Any], readings: dict[Meaning, _Reading]) -> str:
    """Return the message that an array fits no meaning."""
    what = "numbers" if array.ndim == 1 else "columns"
    reasons = []
    for meaning, reading in readings.items():
        state = int((~reading.fits).argmax())
        own = reading.codes[slice(*model.choice_offsets[state : state + 2])].tolist()
        wanted = f"of which it has {own}" if own else "where play is over, and -1 must stand"
        reasons.append(f"{meaning} in state {state}, {wanted}: {shown(array[state].tolist())}")
    return f"an array is not a policy of this model. Its {what} are no {'; no '.join(reasons)}."


def _several(model: Model, array: NDArray[Any], readings: dict[Meaning, _Reading]) -> str:
    """Return the message that an array has different contents under several meanings."""
    owners, _ = _codes(model)
    rows = np.array([reading.taken for reading in readings.values()])
    state = int(owners[(rows != rows[0]).any(axis=0).argmax()])
    here = np.flatnonzero(owners == state)
    actions = model.actions_of(int(here[0]), int(here[-1]) + 1)
    says = ", ".join(
        f"{shown(actions[reading.taken[here].argmax()])} by {meaning}"
        for meaning, reading in readings.items()
    )
    lines = " or ".join(f'Policy.from_array(model, array, "{meaning}")' for meaning in readings)
    return (
        f"an array can mean several policies: in state {state}, {shown(array[state].tolist())} is "
        f"action {says}. Say what its {'numbers' if array.ndim == 1 else 'columns'} are: {lines}."
    )


MAX_ROWS = 10_000_000
"""Largest number of rows of a staged game: more than a spreadsheet or a person takes."""


def columns_of_chances(model: Model, chances: NDArray[np.float64]) -> Columns:
    """Return the rows of a policy; see :meth:`gamedp.Policy.to_columns`.

    Parameters
    ----------
    model : Model
    chances : (C,) float64
        The probability of each choice in its state.
    """
    counts = np.diff(model.choice_offsets)
    owners = np.repeat(np.arange(model.num_states), counts)
    taken = np.flatnonzero(chances > 0)
    answered = np.bincount(owners[taken], minlength=model.num_states) > 0
    silent = np.flatnonzero((counts > 0) & ~answered)
    states = np.concatenate([owners[taken], silent])
    order = np.argsort(states, kind="stable")
    choices = np.concatenate([taken, np.full(len(silent), -1)])[order]
    return _rows(model, states[order], choices, chances)


def columns_of_solution(solution: Solution, num_players: int | None = None) -> Columns:
    """Return the rows of a solution's policy, for a finite horizon with the steps that are left.

    Parameters
    ----------
    solution : Solution
    num_players : int, optional
        The number of players of the whole game; of the model if not given.

    Raises
    ------
    UnsupportedProblemError
        If the solver keeps no policy for the steps of a finite horizon.
    """
    model = solution.model
    inner = np.flatnonzero(np.diff(model.choice_offsets))
    ones = np.ones(model.num_choices)
    if not solution.counts_steps:
        return _rows(model, inner, solution.policy[inner], ones, num_players)
    steps = getattr(solution.objective, "horizon", 0)
    rows = solution.step_policies
    if rows is None or len(rows) != steps:
        message = (
            f"{type(solution.solver).__name__} keeps no policy for each number of steps that are "
            "left; BackwardInduction does."
        )
        raise UnsupportedProblemError(message)
    left = np.repeat(np.arange(steps, 0, -1), len(inner))
    states = np.tile(inner, steps)
    choices = model.choice_offsets[states] + rows[left - 1, states].astype(np.int64)
    return {"steps_left": left} | joined(_rows(model, states, choices, ones), {"steps_left": left})


def columns_inside(solution: StagedSolution) -> Columns:
    """Return the rows of a staged game: of each state of the stage, in each context.

    Raises
    ------
    UnsupportedProblemError
        If there may be more than ten million.
    """
    model = solution.model
    codes = np.flatnonzero(~np.isnan(solution.values)).tolist()
    most = len(codes) * model.stage.num_states
    if most > MAX_ROWS:
        message = (
            f"the policy has up to {most:,} rows, for {model.stage.num_states:,} states of the "
            f"stage in each of {len(codes):,} contexts; {MAX_ROWS:,} are the most. Write those of "
            "the contexts that matter: solution.inside(context)."
        )
        raise UnsupportedProblemError(message)
    parts: list[Columns] = []
    for code in codes:
        context = model.state(code)
        if model.rules.is_terminal(context):
            continue
        part = solution.inside(context)
        rows = columns_of_solution(part, model.num_players)
        if "mover" in rows:
            rows["mover"] = rows["mover"] ^ int(model.index(context)[1])
        count = len(rows["action"])
        fields = fields_of(part.model)
        named = {f"inside_{name}" if name in fields else name: rows[name] for name in rows}
        place = zip(model.layout.names(), model.codec.unpack(np.array([[code]]))[0], strict=True)
        parts.append(joined({name: np.full(count, number) for name, number in place}, named))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(
    model: Model,
    states: Integers,
    choices: Integers,
    chances: NDArray[np.float64],
    num_players: int | None = None,
) -> Columns:
    """Return rows of states with a choice each, which is -1 if nothing is known of it."""
    unknown = choices < 0  # of a policy that does not answer everywhere
    safe = np.maximum(choices, 0)
    labels = model.action_labels[safe] if model.num_choices else safe
    own = actions_in(model, labels)["action"]
    names = np.empty(len(choices), object)
    names[:] = [
        None if choice < 0 else model.action_name(action, model.state(state))
        for state, choice, action in zip(
            states.tolist(), choices.tolist(), own.tolist(), strict=True
        )
    ]
    taken = chances[safe] if model.num_choices else np.zeros(len(safe))
    has_mover = (num_players or model.num_players) > 1
    found: Columns = {"mover": model.players[states]} if has_mover else {}
    found |= {"action": own, "action_name": names, "probability": taken}
    if unknown.any():
        for name in ("action", "action_name", "probability"):
            found[name] = np.ma.masked_array(found[name], unknown)
    return joined({name: field[states] for name, field in fields_of(model).items()}, found)
