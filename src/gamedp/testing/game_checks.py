"""Checks of a game's rules on its positions, which name the state and the action."""

from __future__ import annotations

import collections
import functools
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex, TypeAlias

import attrs
import numpy as np

import gamedp
from gamedp.errors import shown
from gamedp.testing.complaints import (
    DETERMINISTIC,
    VALUE,
    Complaints,
    Examination,
    can_set,
    check_value,
)
from gamedp.testing.place_checks import TABLES, PlaceChecks, can_have_tables

TOLERANCE = 1e-9

ERRORS = "no rule raises an error"
STATES = "outcomes lead to states"
IS_STATE = "is_state accepts all states"
MOVER = "the mover is a player"
ACTIONS = "actions are distinct"
PROBABILITIES = "probabilities add up to one"
NUMBERS = "payoffs and rewards are finite and add up"
CANONICAL = "canonical is a symmetry"
NAMES = "names are text"
HEURISTIC = "the heuristic is finite"
VIEWS = "views show actions that there are"
STEPS = "steps end at the next position"
PATTERNS = "patterns are of positions"
COUNTS = "something counts"
ACYCLIC = "the claim acyclic"
COMPILED = "compiled and plain rules give the same model"
"""Names of checks."""

OPTIONAL = {
    IS_STATE: ("is_state",),
    CANONICAL: ("canonical",),
    NAMES: ("action_name", "outcome_name", "render"),
    HEURISTIC: ("heuristic",),
    VIEWS: ("view", "outcome_view"),
}
"""Checks of methods that a game need not have."""

MOST_POSITIONS_TOLD = 200
"""Largest number of positions whose steps and patterns are checked: they have many pictures."""

OF_THE_MODEL = (COUNTS, ACYCLIC, COMPILED)
"""Checks that need all states, and rules without a fault."""

FAILED = object()
"""The answer of a rule that has raised an error, or given two answers."""


@attrs.frozen
class Report:
    """The parts of a game that :func:`check_game` has checked without finding an error.

    Attributes
    ----------
    game : str
    states : int
        The number of states examined, as a model counts them: representatives only.
    positions : int
        The number of all positions examined; those that `canonical` merges count separately.
    complete : bool
        Whether these are all reachable positions.
    compiled : bool
        Whether the compiled rules were compared with the plain ones.
    checks : tuple of str
        The names of the checks made.
    """

    game: str
    states: int
    positions: int
    complete: bool
    compiled: bool
    checks: tuple[str, ...]

    def __str__(self) -> str:
        """Return the report in a few lines."""
        reach = "all that can be reached" if self.complete else "the first ones, there are more"
        merged = f", {self.positions:,} before merging" if self.positions > self.states else ""
        lines = [f"{self.game}: {self.states:,} states{merged} ({reach}) are in order:"]
        return "\n".join([*lines, *(f"  {check}" for check in self.checks)])


def check_game(game: Any, *, max_states: int = 20_000, compile: bool | None = None) -> Report:
    """Verify the promises of a game's rules on its explored graph.

    Checks that the game is a value: it can be hashed and pickled, an attrs class is frozen, and its
    parameters make it again; that the rules give the same answer when asked twice; that actions are
    distinct; that probabilities sum to one; that every outcome is a state and cannot be
    changed; that payoffs and rewards are finite and, of two players, add up to `constant_sum` and
    to zero; that `canonical` is settled and a true symmetry: a state and its representative have
    corresponding choices, outcomes and payoffs; the claim `acyclic`; `is_state`; `heuristic`; that
    names are text, and views are views whose spots play existing actions; that the steps from the
    first 200 positions end with the picture of the next one, and their patterns name positions;
    that `tier` never rises, and positions are where `box`, or the game's numbers, say, at 200 more
    places as well; and that compiled and plain rules give the same model. Warns if no play ends and
    nothing is earned.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.Game`.
    max_states : int
        The largest number of positions to check, breadth first from the start.
    compile : bool, optional
        Whether the rules must compile; if not given, they may or may not. Compiling takes some
        seconds.

    Returns
    -------
    Report

    Raises
    ------
    ConformanceError
        If anything is wrong; the message lists the complaints, each with its state and action.

    Examples
    --------
    >>> from gamedp.games.matches import Matches
    >>> print(check_game(Matches(matches=5), compile=False))  # doctest: +ELLIPSIS
    Matches(matches=5, ...): 6 states, 11 before merging (all that can be reached) are in order:
      is a value
      no rule raises an error
      deterministic
      outcomes lead to states
      the mover is a player
      actions are distinct
      probabilities add up to one
      payoffs and rewards are finite and add up
      canonical is a symmetry
      names are text
      views show actions that there are
      steps end at the next position
      patterns are of positions
      something counts
      the claim acyclic
    """
    return examination_of_game(game, max_states=max_states, compile=compile).report()


def examination_of_game(
    game: Any, *, max_states: int = 20_000, compile: bool | None = None
) -> Examination[Report]:
    """Return the named checks of a game, with the options of :func:`check_game`."""
    rules = gamedp.rules.Rules(game)
    names = [VALUE, ERRORS, DETERMINISTIC, STATES, MOVER, ACTIONS, PROBABILITIES, NUMBERS]
    names += [name for name, members in OPTIONAL.items() if any(hasattr(game, m) for m in members)]
    names += [STEPS] * rules.has_steps + [PATTERNS] * rules.has_pattern
    names += [TABLES] * can_have_tables(game)
    names += [COUNTS, *[ACYCLIC] * rules.claims_acyclic, *[COMPILED] * (compile is not False)]
    examine = functools.partial(_examine, rules, max_states, bool(compile))
    return Examination(f"{shown(game)} is not a valid game", tuple(names), examine)


def _examine(
    rules: gamedp.rules.Rules,
    max_states: int,
    must_compile: bool,
    complaints: Complaints,
) -> Report:
    """Explore a game and check everything, by the names of the checks."""
    check_value(rules.game, complaints)
    _check_players(rules, complaints)
    checker = _Checker(rules, complaints)
    complete = checker.explore(max_states)
    checker.places.check_drawn()
    if not complaints and not complete:
        _omit_model(f"needs all states, and there are more than {max_states:,}", complaints)
    elif not complaints:
        _check_model(rules, complaints, must_compile=must_compile)
    else:
        _omit_model("needs all other checks to pass", complaints)
    made = complaints.made
    return Report(
        repr(rules.game), checker.states, checker.positions, complete, COMPILED in made, made
    )


def _check_model(rules: gamedp.rules.Rules, complaints: Complaints, *, must_compile: bool) -> None:
    """Make the checks that need the model of all states."""
    try:
        model = gamedp.compile(rules.game, compile="never")
    except gamedp.InvalidModelError as error:
        complaints.add(ERRORS, str(error))
        _omit_model("needs all other checks to pass", complaints)
        return
    if words := gamedp.Problem(model).nothing_counts():
        complaints.warnings[COUNTS] = words
    if ACYCLIC in complaints.names:
        _check_acyclic(model, complaints)
    if COMPILED in complaints.names:
        _compare_tiers(model, complaints, must=must_compile)


def _omit_model(reason: str, complaints: Complaints) -> None:
    """Note why the checks of the model are not made."""
    for name in OF_THE_MODEL:
        complaints.omit(name, reason)


def _changeable(state: Any) -> str | None:
    """Return the name of an attribute of a state that can be set, if there is one."""
    names = [*getattr(state, "__dict__", ()), *getattr(type(state), "__slots__", ())]
    return next((name for name in names if can_set(state, name)), None)


def _check_players(rules: gamedp.rules.Rules, complaints: Complaints) -> None:
    if rules.num_players < 1:
        complaints.add(MOVER, f"num_players is {rules.num_players}")
    if rules.constant_sum and not rules.has_opponents:
        complaints.add(NUMBERS, "constant_sum is for two players; leave it out")


_Row: TypeAlias = tuple[tuple[float, ...], frozenset[tuple[tuple[Any, bool], float]]]
"""The rewards of an action, and its outcomes as ((representative, swapped), probability) pairs."""


@attrs.frozen
class _CheckedPicture:
    """The relevant content of a position, as seen by its representative's players.

    Attributes
    ----------
    payoffs : tuple of float or None
        None if the game is not over.
    side : int or None
        The player to move; None if there is no choice.
    actions : dict
        The distinct rows of actions, each with one action that has it.
    """

    payoffs: tuple[float, ...] | None
    side: int | None
    actions: dict[_Row, Any]

    def corresponds(self, other: _CheckedPicture) -> bool:
        """Return whether two positions agree in all relevant content."""
        return (self.payoffs, self.side, self.actions.keys()) == (
            other.payoffs,
            other.side,
            other.actions.keys(),
        )

    def difference(self, other: _CheckedPicture, state: Any, representative: Any) -> str:
        """Return a description of the difference, with the state and the action."""
        pictures = ((state, self), (representative, other))
        if self.payoffs is not None and other.payoffs is not None:
            return f"their payoffs are {self.payoffs} and {other.payoffs}"
        for place, picture in pictures:
            if picture.payoffs is not None:
                return f"only in {shown(place)} the game is over"
        for (place, picture), (_, opposite) in (pictures, pictures[::-1]):
            for row, action in picture.actions.items():
                if row not in opposite.actions:
                    rewards, outcomes = row
                    leads = ", ".join(
                        f"{shown(following)}{' (swapped)' * swapped} with probability "
                        f"{shown(probability)}"
                        for (following, swapped), probability in sorted(outcomes, key=repr)
                    )
                    return (
                        f"action {shown(action)} in {shown(place)} earns {rewards} and leads to "
                        f"{leads}, as the representative's players see it, and no action in the "
                        "other one does"
                    )
        return f"player {self.side} chooses in the one, player {other.side} in the other"


class _Checker:
    """Visits the positions of a game and checks each."""

    def __init__(self, rules: gamedp.rules.Rules, complaints: Complaints) -> None:
        self.rules = rules
        self.complaints = complaints
        self.seen: set[Any] = set()
        self.representatives: set[Any] = set()
        self.positions = self.states = 0
        self.kind: type = object
        self.places = PlaceChecks(rules.game, complaints)

    def explore(self, max_states: int) -> bool:
        """Check positions breadth first; return whether all of them were checked."""
        waiting: collections.deque[Any] = collections.deque()
        start = self._twice("initial_state()", self.rules.initial)
        if start is FAILED or not self._check_probabilities(start, "initial_state()"):
            return False
        self.kind = type(start[0][1])
        for _, state in start:
            self._meet(state, "initial_state()", waiting)
        while waiting and self.positions < max_states:
            position = waiting.popleft()
            for state, place in self._look_at(position):
                self._meet(state, place, waiting)
            self.places.check(position)
            self.positions += 1
            self.states += position in self.representatives
        return not waiting

    def _add(self, kind: str, text: str) -> None:
        self.complaints.add(kind, text)

    def _twice(self, words: str, ask: Callable[[], Any], wrong: str = ERRORS) -> Any:
        """Ask the rules twice; note an error, or two different answers, and return `FAILED`.

        The check `wrong` is the one that an answer of the wrong kind fails.
        """
        try:
            first, second = ask(), ask()
            same = first == second
        except gamedp.InvalidModelError as error:
            self._add(wrong, str(error))
            return FAILED
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            self._add(ERRORS, f"{words} raises {type(error).__name__}: {error}")
            return FAILED
        if not same and not (_is_nan(first) and _is_nan(second)):
            self._add(DETERMINISTIC, f"{words} is {shown(first)} first and {shown(second)} then")
            return FAILED
        return first

    def _meet(self, state: Any, place: str, waiting: collections.deque[Any]) -> None:
        """Check a state that play may reach; queue it and its representative if they are new."""
        if not isinstance(state, self.kind):
            self._add(STATES, f"{place} leads to {shown(state)}, not a {self.kind.__name__}")
            return
        try:
            hash(state)
        except TypeError as error:
            self._add(STATES, f"{place} leads to {shown(state)}: {error}")
            return
        if state in self.seen:
            return
        self.seen.add(state)
        if name := _changeable(state):
            self._add(STATES, f"{place} leads to {shown(state)}, whose {name} can be changed")
        waiting.append(state)
        asked = f"canonical({shown(state)})"
        answer = self._twice(asked, lambda: self.rules.canonical(state))
        if answer is FAILED:
            return
        representative, swapped = answer
        if swapped and not self.rules.has_opponents:
            words = f"canonical({shown(state)}) swaps players, but there are not two opponents"
            self._add(CANONICAL, words)
        again = self._twice(
            f"canonical({shown(representative)})", lambda: self.rules.canonical(representative)
        )
        if again != (representative, False):
            self._add(
                CANONICAL,
                f"canonical({shown(state)}) is {shown(representative)}, whose own canonical is "
                f"{shown(again)}; a representative must represent itself, not swapped",
            )
            return
        asked = f"is_state({shown(state)})"
        if self._twice(asked, lambda: self.rules.is_state(state)) is False:
            self._add(IS_STATE, f"{place} leads to {shown(state)}, which is_state() denies")
        self.representatives.add(representative)
        if state != representative:
            self._check_symmetry(state, representative, swapped)
            self._meet(representative, f"canonical({shown(state)})", waiting)

    def _look_at(self, state: Any) -> Iterator[tuple[Any, str]]:
        """Check one position; yield the successors of its outcomes, and where each comes from."""
        rules = self.rules
        self._check_words(state)
        terminal = self._twice(
            f"is_terminal({shown(state)})", lambda: rules.game.is_terminal(state)
        )
        if terminal is FAILED:
            return
        if terminal:
            self._check_view(state, [])
            self._check_numbers(
                lambda player: rules.game.payoff(state, player),
                f"payoff({shown(state)}, ",
                rules.constant_sum,
            )
            return
        player = self._twice(f"player({shown(state)})", lambda: rules.player(state), MOVER)
        if player is not FAILED and not 0 <= player < rules.num_players:
            self._add(MOVER, f"player({shown(state)}) is {player} of {rules.num_players} players")
        actions = self._twice(f"actions({shown(state)})", lambda: list(rules.game.actions(state)))
        if actions is FAILED:
            return
        if not actions:
            self._add(ACTIONS, f"{shown(state)} is not terminal and has no actions")
        possible = [action for action in actions if _is_action(action)]
        if len(possible) < len(actions):
            wrong = next(action for action in actions if not _is_action(action))
            self._add(
                ACTIONS,
                f"action {shown(wrong)} in {shown(state)} is neither an integer of 32 bits nor "
                "hashable and equal to itself",
            )
        if len(set(possible)) < len(possible):
            self._add(ACTIONS, f"actions({shown(state)}) repeats itself: {shown(actions)}")
        self._check_view(state, actions)
        if rules.has_pattern and self.positions < MOST_POSITIONS_TOLD:
            self._check_pattern(state)
        for action in possible:
            yield from self._check_action(state, action)

    def _check_action(self, state: Any, action: Any) -> Iterator[tuple[Any, str]]:
        """Check the outcomes and rewards of an action; yield its successors."""
        rules = self.rules
        place = f"outcomes({shown(state)}, {shown(action)})"
        pairs = self._twice(place, lambda: list(rules.game.outcomes(state, action)))
        if pairs is FAILED or not self._check_probabilities(pairs, place):
            return
        self._check_numbers(
            lambda player: rules.reward(state, action, player),
            f"reward({shown(state)}, {shown(action)}, ",
            0.0,
        )
        self._check_text("action_name", state, action)
        for outcome in range(len(pairs)):
            self._check_text("outcome_name", state, action, outcome)
            if hasattr(rules.game, "outcome_view"):
                asked = f"outcome_view({shown(state)}, {shown(action)}, {outcome})"
                shows = functools.partial(rules.outcome_view, state, action, outcome)
                self._twice(asked, shows, VIEWS)
            if rules.has_steps and self.positions < MOST_POSITIONS_TOLD:
                self._check_steps(state, action, outcome, pairs[outcome][1])
        yield from ((successor, place) for probability, successor, *_ in pairs if probability)

    def _check_probabilities(self, pairs: list[Any], place: str) -> bool:
        """Check a distribution; return whether it is at least a list of states."""
        try:
            fits = all(
                len(pair) == (3 if type(pair) is tuple and pair[2:] else 2) for pair in pairs
            )
            probabilities = [float(pair[0]) for pair in pairs if fits]
        except (TypeError, ValueError):
            fits = False
        if not fits:
            self._add(PROBABILITIES, f"{place} are {shown(pairs)}, not (probability, state) pairs")
            return False
        if not all(0 <= probability <= 1 + TOLERANCE for probability in probabilities):
            self._add(PROBABILITIES, f"{place} have probabilities {shown(probabilities)}")
        elif abs(math.fsum(probabilities) - 1) > TOLERANCE:
            self._add(PROBABILITIES, f"{place} sum to {math.fsum(probabilities)!r}, not 1")
        return bool(pairs)

    def _check_numbers(
        self, ask: Callable[[int], Any], words: str, total: float
    ) -> tuple[float, ...]:
        """Check the numbers of all players: finite, and for two players of sum `total`."""
        numbers = []
        for player in range(self.rules.num_players):
            asked = f"{words}{player})"
            answer = self._twice(asked, functools.partial(ask, player))
            if answer is FAILED:
                return ()
            try:
                number = float(answer)
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                self._add(NUMBERS, f"{asked} is {shown(answer)}")
                return ()
            numbers.append(number)
        size = max(1.0, *map(abs, numbers))
        if self.rules.has_opponents and abs(sum(numbers) - total) > TOLERANCE * size:
            self._add(
                NUMBERS,
                f"{words}player) are {numbers[0]!r} and {numbers[1]!r}, which do not add up to "
                f"{total!r}",
            )
        return tuple(numbers)

    def _check_words(self, state: Any) -> None:
        """Check the description and the estimates of a state."""
        self._check_text("render", state)
        game = self.rules.game
        for player in range(self.rules.num_players) if hasattr(game, "heuristic") else ():
            asked = f"heuristic({shown(state)}, {player})"
            estimate = self._twice(asked, lambda p=player: float(game.heuristic(state, p)))  # type: ignore[misc]
            if estimate is not FAILED and not math.isfinite(estimate):
                self._add(HEURISTIC, f"{asked} is {shown(estimate)}")

    def _check_text(self, method: str, *arguments: Any) -> None:
        """Check that a method, if the game has it, returns text."""
        ask = getattr(self.rules.game, method, None)
        if ask is None:
            return
        asked = f"{method}({', '.join(map(shown, arguments))})"
        text = self._twice(asked, lambda: ask(*arguments))
        if text is not FAILED and not isinstance(text, str):
            self._add(NAMES, f"{asked} is not text")

    def _check_view(self, state: Any, actions: list[Any]) -> None:
        """Check the picture of a state."""
        if not hasattr(self.rules.game, "view"):
            return
        asked = f"view({shown(state)})"
        view = self._twice(asked, lambda: self.rules.view(state), VIEWS)
        is_numbered = all(isinstance(action, SupportsIndex) for action in actions)
        for action in () if view is FAILED else view.spots:
            if action not in (actions if is_numbered else range(len(actions))):
                self._add(
                    VIEWS, f"{asked} has a spot for {shown(action)}, which is not an action there"
                )

    def _check_pattern(self, state: Any) -> None:
        """Check that a pattern is one, and names states."""
        asked = f"pattern({shown(state)})"
        pattern = self._twice(asked, lambda: self.rules.pattern(state), PATTERNS)
        if pattern is FAILED or pattern is None:
            return
        for name, other in pattern.row:
            if not isinstance(other, self.kind):
                words = f"{asked} calls {shown(other)} {name}, which is not a {self.kind.__name__}"
                self._add(PATTERNS, words)
        if pattern.here is not None and pattern.row[pattern.here][1] != state:
            self._add(PATTERNS, f"{asked} has another position where here says it is")

    def _check_steps(self, state: Any, action: Any, outcome: int, following: Any) -> None:
        """Check that the steps of an action end with the picture of the next position."""
        asked = f"steps({shown(state)}, {shown(action)}, {outcome})"
        ask = functools.partial(self.rules.steps, state, action, outcome)
        told = self._twice(asked, ask, STEPS)
        if told is FAILED or not told:
            return
        view = self._twice(f"view({shown(following)})", lambda: self.rules.view(following), VIEWS)
        last = told[-1][1]
        if view is not FAILED and attrs.evolve(last, spots={}) != attrs.evolve(view, spots={}):
            self._add(
                STEPS,
                f"{asked} ends with another picture than that of {shown(following)}:\n"
                f"{last}\nand not\n{view}",
            )

    def _check_symmetry(self, state: Any, representative: Any, swapped: bool) -> None:
        """Compare a state with its representative: all relevant content must agree."""
        try:
            one, other = self._picture(state, swapped), self._picture(representative, False)
            if not one.corresponds(other):
                one = self._picture(state, swapped, lenient=True)
                other = self._picture(representative, False, lenient=True)
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            self._add(ERRORS, f"the rules in {shown(state)} raise {type(error).__name__}: {error}")
            return
        if not one.corresponds(other):
            self._add(
                CANONICAL,
                f"{shown(state)} is represented by {shown(representative)}"
                f"{', swapped,' if swapped else ''} but they do not correspond: "
                + one.difference(other, state, representative),
            )

    def _picture(self, state: Any, swapped: bool, *, lenient: bool = False) -> _CheckedPicture:
        """Return the relevant content of a position, as seen by the representative's players.

        If `lenient`, it does not matter whether players change places on the way to a position that
        is its own mirror image, like a draw, or a throw for who begins.
        """
        rules = self.rules
        players = [1, 0] if swapped else range(rules.num_players)
        if rules.game.is_terminal(state):
            payoffs = tuple(round(float(rules.game.payoff(state, p)), 9) for p in players)
            return _CheckedPicture(payoffs, None, {})
        mover = rules.player(state)
        actions: dict[_Row, Any] = {}
        for action in rules.game.actions(state):
            probabilities: collections.Counter[Any] = collections.Counter()
            pairs = list(rules.game.outcomes(state, action))
            for probability, successor, *_ in pairs:
                representative, changed = rules.canonical(successor)
                if probability:
                    goes_swapped = bool(changed) ^ swapped
                    if lenient and self._picture(representative, False).corresponds(
                        self._picture(representative, True)
                    ):
                        goes_swapped = False
                    probabilities[representative, goes_swapped] += probability
            rewards = tuple(
                round(
                    rules.reward(state, action, p)
                    + sum(float(pair[0]) * rules.outcome_reward(pair, p) for pair in pairs),
                    9,
                )
                for p in players
            )
            outcomes = frozenset(
                (key, round(probability, 9)) for key, probability in probabilities.items()
            )
            actions.setdefault((rewards, outcomes), action)
        # With nothing to choose, it does not matter whose choice it is.
        side = None if len(actions) == 1 else 1 - mover if swapped else mover
        return _CheckedPicture(None, side, actions)


def _is_action(action: Any) -> bool:
    """Return whether an object can be an action."""
    if isinstance(action, SupportsIndex):
        return -(2**31) <= operator.index(action) < 2**31
    try:
        hash(action)
    except TypeError:
        return False
    return action is not None and bool(action == action)  # noqa: PLR0124 - nan is not


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _check_acyclic(model: gamedp.Model, complaints: Complaints) -> None:
    cycle = model.structure.cycle()
    if cycle:
        path = " → ".join(str(model.state(index)) for index in (*cycle[:8], cycle[0]))
        complaints.add(ACYCLIC, f"the game claims to be acyclic, but play can go {path}")


def _compare_tiers(model: gamedp.Model, complaints: Complaints, *, must: bool) -> None:
    """Compare a plain model with the compiled one, if there is one."""
    assert model.rules is not None  # noqa: S101 - it was made of a game
    game = model.rules.game
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", gamedp.errors.CompilationWarning)
            compiled = gamedp.compile(game, compile="always")
    except gamedp.errors.CompilationError as error:
        if must:
            complaints.add(COMPILED, str(error))
        else:
            complaints.omit(COMPILED, f"the rules do not compile: {error}")
        return
    except gamedp.InvalidModelError as error:
        complaints.add(COMPILED, str(error))
        return
    for field in attrs.fields(gamedp.Model):
        one, other = getattr(model, field.name), getattr(compiled, field.name)
        if isinstance(one, np.ndarray):
            same = one.shape == other.shape and np.allclose(one, other, rtol=1e-12, atol=0)
            if not same:
                complaints.add(COMPILED, f"{field.name} differs from the plain rules'")
