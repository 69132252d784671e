"""Exceptions, one class for each kind of error; each is also the built-in a caller expects."""

from __future__ import annotations

import difflib
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CertificateError",
    "CompilationError",
    "CompilationWarning",
    "DamagedFileError",
    "GamedpError",
    "InvalidModelError",
    "InvalidParameterError",
    "KeptSolutionWarning",
    "LimitExceededError",
    "MissingPackageError",
    "NotSolvedError",
    "SearchInterrupted",
    "UnknownNameError",
    "UnknownStateError",
    "UnsupportedArithmeticError",
    "UnsupportedProblemError",
]

MOST_SHOWN = 200
"""Largest number of characters shown of a state or another object in a message."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called gamedp, from anywhere in gamedp."""
    level, frame = 2, sys._getframe(1)  # noqa: SLF001 - as the standard library's logging does
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("gamedp."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def shown(value: object, most: int = MOST_SHOWN) -> str:
    """Return the ``repr`` of an object, cut in the middle if it is longer than `most`."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deeply to be shown"
    if len(text) <= most:
        return text
    half = most // 2 - 3
    return f"{text[:half]} ... {text[-half:]}"


def _copied(kind: type[GamedpError], args: tuple[Any, ...], state: dict[str, Any]) -> GamedpError:
    """Return an error with given attributes, whatever its class is made with."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class GamedpError(Exception):
    """The base class of gamedp's errors.

    Examples
    --------
    >>> import gamedp
    >>> try:
    ...     gamedp.Discounted(1.5)
    ... except gamedp.GamedpError as error:
    ...     print(error)
    discount is 1.5; it must be at least 0 and below 1. For 1 use TotalReward.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of, in another process, too: attributes are kept."""
        return _copied, (type(self), self.args, self.__dict__)


class InvalidModelError(GamedpError, ValueError):
    """Rules or arrays that do not describe a game; the message names the state and the action.

    Examples
    --------
    >>> import gamedp
    >>> try:
    ...     gamedp.Model.from_arrays([0, 1, 1], [0, 1], [2], [1.0])
    ... except gamedp.InvalidModelError as error:
    ...     print(str(error).partition(" (1 of")[0])
    choice 0 (action 0) of state 0 leads to state 2, which does not exist
    """


class InvalidParameterError(GamedpError, ValueError):
    """An option or a parameter of a game that is not valid."""


class UnsupportedProblemError(GamedpError, ValueError):
    """A solver does not support the problem; the message says which one does.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     choice_offsets=[0, 2, 3], transition_offsets=[0, 1, 2, 3], successors=[0, 1, 1],
    ...     probabilities=[1.0, 1.0, 1.0], rewards=[1.0, 0.0, 3.0],
    ... )
    >>> try:
    ...     gamedp.solve(model, gamedp.AverageReward(), solver="backward-induction")
    ... except gamedp.UnsupportedProblemError as error:
    ...     print(error)
    BackwardInduction does not support long-run averages; RelativeValueIteration does.
    """


class UnsupportedArithmeticError(GamedpError, ArithmeticError):
    """The process does not compute with floating-point numbers as proofs assume."""


class CertificateError(GamedpError, ValueError):
    """A certificate that does not prove what it claims; names the state, action and numbers."""


class LimitExceededError(GamedpError, RuntimeError):
    """Exploration stopped at a limit; the message says how far it got and what would help.

    Attributes
    ----------
    states, choices, transitions : int
        The numbers found before it stopped.
    """

    def __init__(self, message: str, *, states: int, choices: int, transitions: int) -> None:
        super().__init__(message)
        self.states = states
        self.choices = choices
        self.transitions = transitions


class MissingPackageError(GamedpError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class NotSolvedError(GamedpError, RuntimeError):
    """A solver stopped before its bounds were within the tolerance.

    Attributes
    ----------
    solution : Solution, StagedSolution or Tables
        The result so far; its bounds hold.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     choice_offsets=[0, 2, 3], transition_offsets=[0, 1, 2, 3], successors=[0, 1, 1],
    ...     probabilities=[1.0, 1.0, 1.0], rewards=[1.0, 0.0, 3.0],
    ... )
    >>> solver = gamedp.solvers.ValueIteration(max_sweeps=3)
    >>> try:
    ...     gamedp.solve(model, gamedp.Discounted(0.9), solver)
    ... except gamedp.NotSolvedError as error:
    ...     lower, upper = error.solution.bounds(0)
    >>> lower < 27.0 < upper  # 0.9 · 3 / (1 - 0.9)
    True
    """

    def __init__(self, message: str, solution: Any) -> None:
        super().__init__(message)
        self.solution = solution


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a search: a KeyboardInterrupt with the result so far.

    Attributes
    ----------
    result : SearchResult or MaxNResult
        Its bounds hold.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("the search was interrupted; .result on this error has what is known.")
        self.result = result


class CompilationError(GamedpError, TypeError):
    """Rules that numba cannot compile, although ``compile="always"`` was given."""


class CompilationWarning(UserWarning):
    """Rules that numba cannot compile run as plain Python, far slower."""


class KeptSolutionWarning(UserWarning):
    """A kept solution cannot be used, or a solution cannot be kept; the answer is still right."""


class DamagedFileError(GamedpError, OSError):
    """A file that is damaged, incomplete, of another version, or not written by gamedp."""


SEVERAL_STARTS = "the game starts in one of several states; name the one that is meant."
"""Message where the start stands for a state that was not named."""


class UnknownStateError(GamedpError, LookupError):
    """A state that the model does not contain."""


class UnknownNameError(GamedpError, LookupError):
    """A name of a game, parameter, solver or action that does not exist."""

    @classmethod
    def nearest(cls, kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
        """Return the error for an unknown `name`, suggesting the nearest `known` ones."""
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names) or 'none'}."
        return cls(f"There is no {kind} {name!r}; {hint}")
