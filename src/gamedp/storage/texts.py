"""Tables and policies as text for people and other programs: CSV, JSON and DOT."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import given_numbers
from gamedp.policies.arrays import columns_inside, columns_of_solution
from gamedp.policies.policy import Policy
from gamedp.results.solution import Solution
from gamedp.runtime.encoding import declared_fields
from gamedp.runtime.files import as_path, write_whole
from gamedp.runtime.slices import LINES
from gamedp.stages.solution import StagedSolution

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from gamedp.model.model import Model


SUFFIXES = (".csv", ".json", ".dot")


def check_suffix(path: Path) -> str:
    """Return the form that the name of a policy's file shows; raise if it shows none."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        message = (
            f"the name {path.name!r} does not show how to write a policy: let it end in "
            f"{', '.join(SUFFIXES)}."
        )
        raise InvalidParameterError(message)
    return suffix


def write_policy(path: str | os.PathLike[str], policy: Any) -> None:
    """Write a policy as text; see :func:`gamedp.write_policy`."""
    file = as_path(path)
    suffix = check_suffix(file)
    if not isinstance(policy, (Policy, Solution, StagedSolution)):
        message = f"{shown(policy)} is neither a solution nor a policy."
        raise InvalidParameterError(message)
    if suffix == ".dot":
        _write(file, _drawn(policy))
        return
    if isinstance(policy, Policy):
        columns = policy.to_columns()
    elif isinstance(policy, Solution):
        columns = columns_of_solution(policy)
    else:
        columns = columns_inside(policy)
    if suffix == ".csv":
        write_csv(file, columns)
    else:
        _write(file, _objects(columns))


def write_csv(path: Path, columns: Mapping[str, NDArray[Any]]) -> int:
    """Write columns to a file, completely or not at all; return the row count.

    Numbers have all their digits; masked values, such as the action in a terminal state, are empty.

    Raises
    ------
    OSError
        If it cannot be written; names the file.
    """
    _write(path, _lines(columns))
    return _count(columns)


def _write(path: Path, texts: Iterator[str]) -> None:
    """Write texts one after the other."""

    def write(file: Any) -> None:
        for text in texts:
            file.write(text.encode("utf-8", "backslashreplace"))

    write_whole(path, write)


def _count(columns: Mapping[str, NDArray[Any]]) -> int:
    return len(next(iter(columns.values())))


def _rows(columns: Mapping[str, NDArray[Any]], first: int) -> Iterator[tuple[Any, ...]]:
    """Yield some rows from one on; a masked value becomes None."""
    parts: list[np.ndarray[Any, Any]] = [
        column[first : first + LINES] for column in columns.values()
    ]
    yield from zip(*(part.tolist() for part in parts), strict=True)


def _lines(columns: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Yield a table with commas as text, some rows at a time."""
    yield _written([columns])
    for first in range(0, _count(columns), LINES):
        yield _written(_rows(columns, first))


def _written(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _objects(columns: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Yield a list of JSON objects as text, one a line."""
    yield "["
    for first in range(0, _count(columns), LINES):
        rows = (dict(zip(columns, row, strict=True)) for row in _rows(columns, first))
        texts = (json.dumps(row, default=str, allow_nan=False) for row in rows)
        yield ("," if first else "") + "\n" + ",\n".join(texts)
    yield "\n]\n"


def _drawn(policy: Policy | Solution | StagedSolution) -> Iterator[str]:
    """Return the lines of a picture of a policy's model."""
    if isinstance(policy, StagedSolution):
        message = (
            "a staged game has a stage in each context, and no single graph; write .csv or .json, "
            "or solution.inside(context) as .dot."
        )
        raise UnsupportedProblemError(message)
    if isinstance(policy, Policy):
        return dot_lines(policy.model, policy.probabilities)
    if policy.counts_steps:
        message = (
            "the best action depends on the steps that are left, which a graph does not show; "
            "write .csv or .json, or solution.steps_left(1) as one of them."
        )
        raise UnsupportedProblemError(message)
    return dot_lines(policy.model, Policy.from_solution(policy).probabilities)


MAX_STATES = 1000
"""Largest number of states: more than a picture of a graph can show."""

MOST_DENOMINATOR = 100
SHAPES = ("box", "ellipse", "hexagon", "diamond", "octagon", "house")
"""The shapes of the states of each player."""

TAKEN = ', style=bold, color="#D55E00"'
PLAIN = ', color="#666666"'


def dot_lines(model: Model, chances: NDArray[np.float64]) -> Iterator[str]:
    """Return the lines of a model's graph, with what a policy takes in bold.

    Parameters
    ----------
    model : Model
    chances : (C,) float64
        The probability of each choice in its state.

    Raises
    ------
    UnsupportedProblemError
        If the model has more than 1,000 states.
    """
    if model.num_states > MAX_STATES:
        message = (
            f"the model has {model.num_states:,} states, and a graph of more than {MAX_STATES:,} "
            "shows nothing; write the policy as .csv or .json."
        )
        raise UnsupportedProblemError(message)
    return _graph(model, chances)


def _graph(model: Model, chances: NDArray[np.float64]) -> Iterator[str]:
    """Yield the lines: states, then the choices of each with their outcomes."""
    yield 'digraph model {\n  node [fontname="sans-serif"];\n  edge [fontname="sans-serif"];\n'
    payoffs = dict(
        zip(model.terminals.tolist(), given_numbers(model, "payoffs").tolist(), strict=True)
    )
    starts = set(model.initial_states.tolist())
    for state in range(model.num_states):
        words = _words(model, state)
        shape = SHAPES[int(model.players[state]) % len(SHAPES)]
        if state in payoffs:
            paid = payoffs[state]
            earned = ", ".join(map(str, paid)) if isinstance(paid, list) else str(paid)
            words, shape = f"{words}\n{earned}", "note"
        rim = ", peripheries=2" if state in starts else ""
        yield f"  s{state} [label={_quoted(words)}, shape={shape}{rim}];\n"
    rewards = given_numbers(model, "rewards").tolist()
    for state in range(model.num_states):
        first, last = model.choice_offsets[state : state + 2].tolist()
        for choice in range(first, last):
            (action,) = model.actions_of(choice, choice + 1)
            words = model.action_name(action, model.state(state))
            chance, reward = float(chances[choice]), rewards[choice]
            if 0 < chance < 1:
                words = f"{words}, taken with {_fraction(chance)}"
            if np.any(np.asarray(reward, object) != 0):
                earned = ", ".join(map(str, reward)) if isinstance(reward, list) else str(reward)
                words = f"{words}\nearns {earned}"
            yield from _edges(model, state, choice, words, TAKEN if chance > 0 else PLAIN)
    yield "}\n"


def _edges(model: Model, state: int, choice: int, words: str, look: str) -> Iterator[str]:
    """Yield the arrows of a choice: one, or one to a point from which chance goes on."""
    row = slice(*model.transition_offsets[choice : choice + 2].tolist())
    outcomes = list(
        zip(model.successors[row].tolist(), model.probabilities[row].tolist(), strict=True)
    )
    source, label = f"s{state}", words
    if len(outcomes) > 1:
        yield f"  c{choice} [shape=point{look}];\n"
        yield f"  s{state} -> c{choice} [label={_quoted(words)}, arrowhead=none{look}];\n"
        source = f"c{choice}"
    for successor, probability in outcomes:
        if len(outcomes) > 1:
            label = _fraction(abs(probability))
        if probability < 0:
            label += "\nplaces change"
        yield f"  {source} -> s{successor} [label={_quoted(label)}{look}];\n"


def _words(model: Model, state: int) -> str:
    """Return a state in the words of its fields or variables."""
    own = model.state(state)
    fields = declared_fields(own)
    if fields is None:
        return model.state_name(own)
    return ", ".join(f"{name}={part}" for name, part in fields.items())


def _fraction(probability: float) -> str:
    """Return a probability as a simple fraction next to it, or with all its digits."""
    simple = Fraction(probability).limit_denominator(MOST_DENOMINATOR)
    return str(simple) if abs(simple - probability) < 1e-12 else repr(probability)


def _quoted(text: str) -> str:
    r"""Return a text as DOT writes it.

    >>> print(_quoted('say "\\n"'))
    "say \"\\n\""
    """
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\r", "").replace("\n", "\\n") + '"'
