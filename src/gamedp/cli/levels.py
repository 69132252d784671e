"""Advice for the computer's play, by the solution of the game or by a search to some depth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import attrs

import gamedp
from gamedp.cli.report import winner
from gamedp.cli.texts import read_as
from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    NotSolvedError,
    UnknownStateError,
    UnsupportedProblemError,
    shown,
)

if TYPE_CHECKING:
    from gamedp.cli.options import Compile
    from gamedp.results.search_result import SearchResult
    from gamedp.results.solution import Solution
    from gamedp.runtime.progress import ProgressCallback

__all__ = [
    "Advice",
    "Adviser",
    "BySearch",
    "BySolution",
    "Entry",
    "Level",
    "check_known",
    "checked_solution",
    "read_level",
    "solve_if_small",
]

Level: TypeAlias = int | Literal["best"]
"""The number of plies to look ahead, or ``"best"`` to play by the solution."""

MOST_STATES, MOST_IN_PYTHON = 600_000, 20_000
"""Largest number of positions of a game that is solved without a request, and that in plain
Python."""

MOST_SECONDS = 20.0
"""Longest time to find the positions of such a game."""

SLACK = 1e-12
"""Largest relative difference that rounding may cause between two equal sums."""


@attrs.frozen
class Entry:
    """One action, and the expectation of the player to move after it.

    Attributes
    ----------
    action : int
    name : str
    value : float
    bound : {"exact", "at least", "at most"}
        The meaning of `value`.
    is_best : bool
        Whether it is best, or appears to be.
    """

    action: int
    name: str
    value: float
    bound: Literal["exact", "at least", "at most"]
    is_best: bool


@attrs.frozen
class Advice:
    """The options of the player to move.

    Attributes
    ----------
    entries : tuple of Entry
        All actions, in the game's order; empty if nothing was found.
    is_certain : bool
        Whether the best actions are proven to be best.
    basis : str
        The basis of the values, as a sentence.
    chosen : tuple of int
        The actions to choose from for play that attains the value, and wins soonest or loses
        latest.
    plies : float
        The number of remaining plies if all choose from these; infinite if unknown.
    winner : int or None
        The certain winner in a game without chance.
    """

    entries: tuple[Entry, ...]
    is_certain: bool
    basis: str
    chosen: tuple[int, ...]
    plies: float = math.inf
    winner: int | None = None

    @property
    def best(self) -> list[str]:
        """The names of the best actions."""
        return [entry.name for entry in self.entries if entry.is_best]

    def verdict(self) -> str:
        """Return in words which actions are best, and whether that is certain."""
        best = self.best
        how = "are" if self.is_certain else "seem"
        if not best:
            return "Nothing is known of the actions."
        if len(self.entries) == 1:
            return "There is nothing else to do."
        if len(best) == 1:
            return f"{best[0]} {'is' if self.is_certain else 'seems'} best."
        if len(best) == len(self.entries):
            return f"{'Both' if len(best) == 2 else 'All'} actions {how} equally good."
        return f"{', '.join(best[:-1])} and {best[-1]} {how} equally good."


class Adviser(Protocol):
    """Base of advisers, which recommend actions to the player to move."""

    def introduction(self) -> str:
        """Return a sentence about the method of the computer's play."""

    def advise(self, state: Any) -> Advice:
        """Return the advice in a state that is not the end of the game."""


@attrs.frozen
class BySolution:
    """Advises by the solution of the game."""

    solution: Solution

    def introduction(self) -> str:
        """Return a sentence about the size of the solution, and what is proven."""
        return f"The computer plays by {self._rests_on()}."

    def advise(self, state: Any) -> Advice:
        """Return the values of all actions, and which are best."""
        solution, rules = self.solution, self.solution.model.rules
        assert rules is not None  # noqa: S101 - solutions of other models are refused
        mover = rules.player(state)
        own = self._own(state)
        basis = f"This rests on {self._rests_on()}."
        if rules.num_players > 2:
            entries = self._of_many(state, mover, own)
            return Advice(entries, is_certain=True, basis=basis, chosen=(own,))
        found = solution.action_values(state)
        best = [entry for entry in found if entry.best != "no"]
        is_certain = all(entry.best == "certain" for entry in best)
        entries = tuple(
            Entry(
                each.action,
                each.name,
                each.value if mover == 0 else rules.constant_sum - each.value,
                "exact",
                each.best != "no",
            )
            for each in found
        )
        return Advice(
            entries,
            is_certain,
            basis,
            chosen=tuple(solution.quickest_actions(state)),
            plies=solution.plies(state),
            winner=winner(solution, state),
        )

    def _own(self, state: Any) -> int:
        """Return the action of the solution's policy."""
        action = self.solution.best_action(state)
        if action is None:
            message = f"the solution takes {shown(state)} for an end of the game, unlike the rules."
            raise InvalidModelError(message)
        return action

    def _of_many(self, state: Any, mover: int, own: int) -> tuple[Entry, ...]:
        """Return the mover's expectation after each action in a game for more than two."""
        found = self.solution.action_values(state, mover)
        value_of_own = next(each.value for each in found if each.action == own)
        return tuple(
            Entry(
                each.action, each.name, each.value, "exact", not _is_less(each.value, value_of_own)
            )
            for each in found
        )

    def _rests_on(self) -> str:
        """Return a sentence about what is proven of the solution."""
        solution = self.solution
        whole = f"the solution of all {solution.model.num_states:,} positions"
        if solution.guarantee is gamedp.Guarantee.NONE:
            return f"{whole}, of which nothing is proven"
        if solution.guarantee is gamedp.Guarantee.EQUILIBRIUM:
            return f"{whole}, a proven equilibrium: no player gains by deviating alone"
        close = f"to within {solution.width:.1g}" if solution.width > 0 else "exactly"
        return f"{whole}; values are proven {close}"


@attrs.frozen
class BySearch:
    """Advises by looking ahead.

    Attributes
    ----------
    game
    depth : int
        Plies.
    search : callable
        Searches a state.
    """

    game: Any
    depth: int
    search: Callable[[Any], SearchResult]

    def introduction(self) -> str:
        """Return a sentence about how far the computer looks ahead."""
        plies = "1 ply" if self.depth == 1 else f"{self.depth} plies"
        beyond = "estimated" if hasattr(self.game, "heuristic") else "counted as 0"
        return f"The computer looks {plies} ahead; what lies beyond is {beyond}."

    def advise(self, state: Any) -> Advice:
        """Return the advice of a search."""
        result = self.search(state)
        rules = result.rules
        mover = rules.player(state)
        flipped: dict[str, Literal["exact", "at least", "at most"]] = {
            "exact": "exact",
            "at least": "at most",
            "at most": "at least",
        }
        values = {each.action: self._seen(each, rules, mover) for each in result.actions}
        best = set(result.best_actions)
        if rules.num_players > 2:  # the search names one of them, and all values are exact
            most = max((values[action] for action in best), default=0.0)
            best = {action for action, value in values.items() if not _is_less(value, most)}
        entries = tuple(
            Entry(
                each.action,
                each.name,
                values[each.action],
                flipped[each.bound] if mover == 1 and rules.num_players == 2 else each.bound,
                each.action in best,
            )
            for each in result.actions
        )
        is_certain = set(result.best_actions) <= set(result.certain_actions)
        depth = result.statistics.depth
        basis = (
            "The values are proven: the search has seen all that matters."
            if result.is_proven
            else f"The values are estimates: a search to depth {depth}."
        )
        actions = [int(action) for action in rules.game.actions(state)]
        return Advice(
            entries,
            is_certain,
            basis,
            chosen=result.quickest_actions or tuple(actions),
            plies=result.plies,
            winner=int(result.lower <= rules.constant_sum / 2) if rules.num_players == 2 else None,
        )

    @staticmethod
    def _seen(each: Any, rules: gamedp.rules.Rules, mover: int) -> float:
        """Return the mover's value after an action."""
        if rules.num_players > 2:
            return float(each.values[mover])
        return float(each.value if mover == 0 else rules.constant_sum - each.value)


def _is_less(value: float, most: float) -> bool:
    """Return whether a value is less than another one by more than rounding."""
    return value < most - SLACK * max(1.0, abs(most))


def read_level(text: str) -> Level | None:
    """Return the level in a text such as ``best``, ``6`` or ``level=6``; None if there is none.

    Raises
    ------
    InvalidParameterError
        If it is a level, but its number of plies is not an integer.
    """
    if text in {"best", "optimal"}:
        return "best"
    name, equals, plies = text.partition("=")
    if name == "level" and equals:
        return int(read_as("level", plies, int))
    try:
        return int(text)
    except ValueError:
        return None


def solve_if_small(
    game: Any,
    state: Any,
    compile: Compile,
    progress: ProgressCallback | None,
) -> Solution | str:
    """Return the solution of a game with few positions, or the reason for none in words.

    Parameters
    ----------
    game
    state
        A position that the solution must know.
    compile, progress
        As for :func:`gamedp.solve`.
    """
    most = MOST_IN_PYTHON if compile == "never" else MOST_STATES
    try:
        solution: Solution = gamedp.solve(
            game, compile=compile, max_states=most, max_seconds=MOST_SECONDS, progress=progress
        )
        check_known(solution, state)
    except LimitExceededError as error:
        if error.states < most:
            return (
                f"To find its positions takes longer than {MOST_SECONDS:g} seconds, or too much "
                "memory; --level best goes on all the same."
            )
        return f"More than {most:,} positions are too many to solve now; --level best solves them."
    except (NotSolvedError, UnsupportedProblemError):
        return "The game is not easily solved; `gamedp solve` says why."
    except UnknownStateError:
        return "The game is solved from its start, and this position cannot be reached from there."
    if solution.guarantee is gamedp.Guarantee.NONE:
        return "Solving the game proves nothing, since play may go on for ever."
    return solution


def check_known(solution: Solution, state: Any) -> None:
    """Raise UnknownStateError if a solution does not know a state, for any reason."""
    try:
        solution.model.index(state)
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        message = f"{shown(state)} is not a position that can be reached: {error}"
        raise UnknownStateError(message) from None


def checked_solution(solution: Any, name: str) -> Solution:
    """Return a saved solution that can play; raise InvalidParameterError for any other."""
    if not isinstance(solution, gamedp.Solution) or solution.model.rules is None:
        message = f"{name} holds no solution of a game that can be played."
        raise InvalidParameterError(message)
    objective = solution.objective
    is_total = isinstance(objective, gamedp.TotalReward) and objective.until is None
    if not is_total or objective.optimum != "max":
        message = (
            f"{name} is solved for {objective!r}; whole games are played by a solution for the "
            "largest total reward."
        )
        raise InvalidParameterError(message)
    return solution
