"""Small models as text in DOT, the language of Graphviz, with the actions that a policy takes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.model.model import given_numbers
from gamedp.runtime.encoding import declared_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gamedp.model.model import Model

__all__ = ["dot_lines"]

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
    return _lines(model, chances)


def _lines(model: Model, chances: NDArray[np.float64]) -> Iterator[str]:
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
