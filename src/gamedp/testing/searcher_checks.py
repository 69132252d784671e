"""Checks of a searcher on small games with known exact values."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import attrs

import gamedp
from gamedp.errors import shown
from gamedp.testing.complaints import (
    BOUNDS,
    DETERMINISTIC,
    STATUS,
    VALUE,
    Complaints,
    Examination,
    check_value,
)
from gamedp.testing.exact import exact_choice_values, exact_values
from gamedp.testing.solver_checks import small_problems
from gamedp.testing.table_game import Place, TableGame

RUNS = "search raises no error"
SEARCHES = "something is searched"
FORM = "results have their form"
BEST = "the best actions are best"
LINE = "the line is play by the rules"
"""Names of checks."""

CHECKS = (VALUE, RUNS, SEARCHES, FORM, DETERMINISTIC, STATUS, BOUNDS, BEST, LINE)

Mode: TypeAlias = Literal["auto", "always", "never"]


@attrs.frozen
class SearcherReport:
    """The checks that :func:`check_searcher` has made without finding an error.

    Attributes
    ----------
    searcher : str
    searched : tuple of (str, int)
        The games, and the number of their positions that were searched.
    solved : int
        The number of all these positions that the searcher called solved.
    refused : tuple of (str, str)
        The games that it does not support, and the reasons.
    """

    searcher: str
    searched: tuple[tuple[str, int], ...]
    solved: int
    refused: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """Return the report in a few lines."""
        lines = [f"{self.searcher} is in order:"]
        lines += [f"  searched: {name}, {count} positions" for name, count in self.searched]
        lines += [f"  refused: {name}: {reason}" for name, reason in self.refused]
        return "\n".join(lines)


def check_searcher(
    searcher: Any,
    games: Mapping[str, Any] | None = None,
    *,
    compile: Mode = "never",
) -> SearcherReport:
    """Verify the results of a searcher in every position of small games.

    Checks that the searcher is a value: hashed, pickled, frozen; that the bounds of a position and
    of each of its actions contain the exact values, for either player; that certainly best actions
    are best, and best actions are not ruled out; that a value is a number, whether it was found or
    not; that a result that is SOLVED has a value within the bounds, and that its best actions reach
    it; that the principal variation is play by the rules; and that a second search agrees.

    Parameters
    ----------
    searcher
        An object with the method ``search(game, state=None, *, compile="auto", progress=None)``
        that returns a :class:`gamedp.SearchResult`.
    games : mapping of name to game, optional
        Small games of one or two players, as they are also solved in rational numbers;
        :func:`small_games` if not given.
    compile : {"auto", "always", "never"}
        Whether to search with compiled rules, as for :func:`gamedp.compile`.

    Returns
    -------
    SearcherReport

    Raises
    ------
    ConformanceError
        If anything is wrong; the message lists the complaints, each with the game and the position.
    UnsupportedProblemError
        If no exact values of a game are known, as for :func:`exact_values`.

    Examples
    --------
    >>> import gamedp
    >>> games = {"moves": small_games()["moves"]}
    >>> print(check_searcher(gamedp.searchers.ProofNumberSearch(), games))
    ProofNumberSearch(...) is in order:
      searched: moves, 10 positions
    """
    return examination_of_searcher(searcher, games, compile=compile).report()


def examination_of_searcher(
    searcher: Any, games: Mapping[str, Any] | None = None, *, compile: Mode = "never"
) -> Examination[SearcherReport]:
    """Return the named checks of a searcher, with the options of :func:`check_searcher`."""
    examine = functools.partial(_examine, searcher, games, compile)
    return Examination(f"{shown(searcher)} does not keep what searchers promise", CHECKS, examine)


def _examine(
    searcher: Any, games: Mapping[str, Any] | None, compile: Mode, complaints: Complaints
) -> SearcherReport:
    """Search all positions and check everything, by the names of the checks."""
    check_value(searcher, complaints)
    searched, refused, solved = [], [], 0
    for name, game in (small_games() if games is None else games).items():
        model = gamedp.compile(game, compile="never")
        values, choice_values = exact_values(model), exact_choice_values(model)
        try:
            for number, value in enumerate(values):
                first, end = model.choice_offsets[number : number + 2].tolist()
                actions = model.actions_of(first, end)
                truth = dict(zip(actions, choice_values[first:end], strict=True))
                trial = _SearcherTrial(
                    searcher, name, game, model.state(number), value, truth, complaints
                )
                solved += trial.run(compile)
        except gamedp.UnsupportedProblemError as error:
            refused.append((name, str(error)))
        else:
            searched.append((name, len(values)))
    if not searched:
        complaints.add(SEARCHES, "every game was refused")
    return SearcherReport(repr(searcher), tuple(searched), solved, tuple(refused))


@attrs.frozen(eq=False)
class _SearcherTrial:
    """One searcher at one position whose value and action values are known."""

    searcher: Any
    name: str
    game: Any
    state: Any
    value: Fraction
    truth: dict[int, Fraction]
    complaints: Complaints

    def _add(self, check: str, text: str) -> None:
        self.complaints.add(check, f"in {shown(self.state)}, {text}", self.name)

    def run(self, compile: Mode) -> bool:
        """Search, and check the result; return whether the searcher called it solved."""
        try:
            found = self.searcher.search(self.game, self.state, compile=compile)
            again = self.searcher.search(self.game, self.state, compile=compile)
        except gamedp.UnsupportedProblemError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a searcher may raise
            self._add(RUNS, f"search raises {type(error).__name__}: {error}")
            return False
        if not isinstance(found, gamedp.SearchResult):
            self._add(FORM, f"it is {found!r}, not a gamedp.SearchResult")
            return False
        for name in ("lower", "upper", "best_actions", "actions", "principal_variation"):
            if repr(getattr(found, name)) != repr(getattr(again, name)):
                self._add(DETERMINISTIC, f"{name} differ when searched again")
        if found.state != self.state or found.searcher != self.searcher:
            self._add(FORM, "it is not of this state and searcher")
            return False
        is_solved = found.status is gamedp.Status.SOLVED
        if found.guarantee is gamedp.Guarantee.TWO_SIDED:
            self._check_bounds(found, is_solved=is_solved)
            self._check_standing(found)
        self._check_best(found, is_solved=is_solved)
        self._check_line(found)
        return is_solved

    def _check_bounds(self, found: gamedp.SearchResult, *, is_solved: bool) -> None:
        """Compare all bounds with the exact values."""
        if not found.lower <= self.value <= found.upper:
            self._add(
                BOUNDS,
                f"the value is {float(self.value)!r}, not between {found.lower!r} and "
                f"{found.upper!r}",
            )
        if math.isnan(found.value()):
            self._add(FORM, "the value is NaN; where none was found, give the game's estimate")
        is_known = is_solved and found.has_value
        if is_known and not found.lower <= found.value() <= found.upper:
            self._add(BOUNDS, f"the value {found.value()!r} is not between them")
        if is_known and math.isinf(found.upper - found.lower):
            self._add(STATUS, "it is SOLVED and has a value, but a bound is infinite")
        labels = [entry.action for entry in found.actions]
        if labels and labels != list(self.truth):
            self._add(FORM, f"they are {labels}, not {list(self.truth)}")
            return
        for entry in found.actions:
            value = self.truth[entry.action]
            if not entry.lower <= value <= entry.upper:
                self._add(
                    BOUNDS,
                    f"action {entry.action} is worth {float(value)!r}, not between "
                    f"{entry.lower!r} and {entry.upper!r}",
                )

    def _check_standing(self, found: gamedp.SearchResult) -> None:
        """Check the actions that are claimed to be best for certain, or not to be."""
        best = {action for action, value in self.truth.items() if value == self.value}
        for action in set(found.certain_actions) - best:
            self._add(BEST, f"action {action} is said to be best for certain")
        if found.actions:
            for action in best - set(found.possible_actions):
                self._add(BEST, f"action {action} is best, and said not to be")

    def _check_best(self, found: gamedp.SearchResult, *, is_solved: bool) -> None:
        """Check that the best actions are actions and, once all is solved, optimal."""
        best = list(found.best_actions)
        if best != [action for action in self.truth if action in best]:
            self._add(BEST, f"they are {best}, out of {list(self.truth)}")
            return
        if not is_solved or found.guarantee is not gamedp.Guarantee.TWO_SIDED:
            return
        if self.truth and not best and found.has_value:
            self._add(BEST, "there are none, though the value is known")
        wants_most = self.truth and gamedp.rules.Rules(self.game).player(self.state) == 0
        promised = found.lower if wants_most else found.upper
        if math.isinf(promised):
            return
        # Rounding may have widened the bounds of a value, and of each action.
        room = 2 * (found.upper - found.lower) if found.has_value else 0.0
        for action in best:
            value = self.truth[action]
            short = Fraction(promised) - value if wants_most else value - Fraction(promised)
            if short > room:
                self._add(
                    BEST,
                    f"action {action} is worth {float(value)!r}, out of bounds from "
                    f"{found.lower!r} to {found.upper!r}",
                )

    def _check_line(self, found: gamedp.SearchResult) -> None:
        """Check that the principal variation is play by the rules."""
        state = self.state
        for action, following in found.principal_variation:
            if following not in [after for _, after in self.game.outcomes(state, action)]:
                self._add(LINE, f"action {action} does not lead to {shown(following)}")
                return
            state = following


@attrs.frozen(kw_only=True)
class Moves:
    """Moves without chance or rewards from one numbered position to another.

    Parameters
    ----------
    moves : tuple of tuple of int
        The successors of each position, one for each action; none at an end.
    players : tuple of int
        The player to move in each position.
    payoffs : tuple of float
        Player 0's payoff at an end.
    ranges : tuple of (float, float)
        Certain bounds of player 0's value in each position.
    """

    moves: tuple[tuple[int, ...], ...]
    players: tuple[int, ...]
    payoffs: tuple[float, ...]
    ranges: tuple[tuple[float, float], ...]
    num_players = 2
    acyclic = True

    def initial_state(self) -> Place:
        """Return the first position."""
        return Place(0, 0)

    def is_terminal(self, state: Place) -> bool:
        """Return whether there is no move."""
        return len(self.moves[state.number]) == 0

    def player(self, state: Place) -> int:
        """Return the player to move."""
        return self.players[state.number]

    def actions(self, state: Place) -> Iterator[int]:
        """Yield the numbers of the moves."""
        yield from range(len(self.moves[state.number]))

    def outcomes(self, state: Place, action: int) -> Iterator[tuple[float, Place]]:
        """Yield the outcome of a move."""
        yield 1.0, Place(0, self.moves[state.number][action])

    def payoff(self, state: Place, player: int) -> float:
        """Return the payoff at an end."""
        payoff = self.payoffs[state.number]
        return payoff if player == 0 else -payoff

    def heuristic(self, state: Place, player: int) -> float:
        """Return an arbitrary estimate."""
        estimate = float(state.number * 5 % 7 - 3)
        return estimate if player == 0 else -estimate

    def value_range(self, state: Place, player: int) -> tuple[float, float]:
        """Return certain bounds of the value."""
        low, high = self.ranges[state.number]
        return (low, high) if player == 0 else (-high, -low)


def small_games() -> dict[str, Any]:
    """Return games of different kinds, by name, for :func:`check_searcher`.

    Examples
    --------
    >>> small_games()["moves"].moves[0]
    (1, 2, 3)
    """
    moves = Moves(
        moves=((1, 2, 3), (4, 5), (4, 6, 7), (5, 8), (9,), (8, 9), (), (), (), ()),
        players=(0, 1, 1, 0, 0, 1, 0, 0, 0, 0),
        payoffs=(0.0,) * 6 + (0.0, 2.0, -1.0, 1.0),
        ranges=((-math.inf, math.inf),) * 6 + ((0.0, 0.0),) * 4,
    )
    values = (0.0, -1.0, 0.0, -1.0, 1.0, -1.0, 0.0, 2.0, -1.0, 1.0)  # of player 0
    at_most = tuple((-3.0, value) for value in values)
    exact = tuple((value, value) for value in values)
    games: dict[str, Any] = {
        "moves": moves,
        "moves for the other one": attrs.evolve(moves, players=(1, 0, 0, 1, 1, 0, 0, 0, 0, 0)),
        "ranges from above": attrs.evolve(moves, ranges=at_most),
        "the range of the start is its value": attrs.evolve(
            moves, ranges=exact[:1] + ((-3.0, 3.0),) * 9
        ),
        "ranges that are values": attrs.evolve(moves, ranges=exact),
    }
    for name in ("nothing to choose", "one sure step", "no cycles", "no cycles, places change"):
        games[name] = TableGame.of(small_problems()[name].model)
    return games
