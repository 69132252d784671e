"""Checks of a game's rules on its positions, which name the state and the action."""

from __future__ import annotations

import collections
import functools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs
import numpy as np

import gamedp
from gamedp.errors import shown, warn
from gamedp.testing.complaints import Complaints, can_set, check_value

__all__ = ["Report", "check_game"]

TOLERANCE = 1e-9


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
        The checks made, in words.
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
    distinct integers; that probabilities sum to one; that every outcome is a state and cannot be
    changed; that payoffs and rewards are finite and, of two players, add up to `constant_sum` and
    to zero; that `canonical` is settled and a true symmetry: a state and its representative have
    corresponding choices, outcomes and payoffs; the claim `acyclic`; `is_state`; `heuristic`; that
    names are text, and views are views whose spots play existing actions; and that compiled and
    plain rules give the same model. Warns if no play ends and nothing is earned.

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
      the game is a value
      deterministic
      actions, outcomes and probabilities
      payoffs and rewards
      canonical is a symmetry
      names are text
      views show actions that there are
      the claim acyclic
    """
    rules = gamedp.rules.Rules(game)
    complaints = Complaints()
    check_value(game, complaints)
    _check_players(rules, complaints)
    checker = _Checker(rules, complaints)
    complete = checker.explore(max_states)
    complaints.raise_if_any(f"{shown(game)} is not a valid game")
    checks = [
        "the game is a value",
        "deterministic",
        "actions, outcomes and probabilities",
        "payoffs and rewards",
        "canonical is a symmetry",
        "names are text",
        *(["views show actions that there are"] if hasattr(game, "view") else []),
    ]
    compared = False
    if complete:
        model = gamedp.compile(game, compile="never")
        if words := gamedp.Problem(model).nothing_counts():
            warn(words, RuntimeWarning)
        if rules.claims_acyclic:
            _check_acyclic(model, complaints)
            checks.append("the claim acyclic")
        compared = compile is not False and _compare_tiers(model, complaints, must=bool(compile))
    complaints.raise_if_any(f"{shown(game)} is not a valid game")
    if compared:
        checks.append("compiled and plain rules give the same model")
    return Report(repr(game), checker.states, checker.positions, complete, compared, tuple(checks))


def _changeable(state: Any) -> str | None:
    """Return the name of an attribute of a state that can be set, if there is one."""
    names = [*getattr(state, "__dict__", ()), *getattr(type(state), "__slots__", ())]
    return next((name for name in names if can_set(state, name)), None)


def _check_players(rules: gamedp.rules.Rules, complaints: Complaints) -> None:
    if rules.num_players < 1:
        complaints.add("players", f"num_players is {rules.num_players}")
    if rules.constant_sum and not rules.has_opponents:
        complaints.add("players", "constant_sum is for two players; leave it out")


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

    def explore(self, max_states: int) -> bool:
        """Check positions breadth first; return whether all of them were checked."""
        waiting: collections.deque[Any] = collections.deque()
        start = self._twice("initial_state()", self.rules.initial)
        if start is None or not self._check_probabilities(start, "initial_state()"):
            return False
        self.kind = type(start[0][1])
        for _, state in start:
            self._meet(state, "initial_state()", waiting)
        while waiting and self.positions < max_states:
            position = waiting.popleft()
            for state, place in self._look_at(position):
                self._meet(state, place, waiting)
            self.positions += 1
            self.states += position in self.representatives
        return not waiting

    def _add(self, kind: str, text: str) -> None:
        self.complaints.add(kind, text)

    def _twice(self, words: str, ask: Callable[[], Any]) -> Any:
        """Ask the rules twice; on an error, or two different answers, note it and return None."""
        try:
            first, second = ask(), ask()
            same = first == second
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            self._add("an error", f"{words} raises {type(error).__name__}: {error}")
            return None
        if not same and not (_is_nan(first) and _is_nan(second)):
            self._add(
                "not deterministic", f"{words} is {shown(first)} first and {shown(second)} then"
            )
            return None
        return first

    def _meet(self, state: Any, place: str, waiting: collections.deque[Any]) -> None:
        """Check a state that play may reach; queue it and its representative if they are new."""
        if not isinstance(state, self.kind):
            self._add("not a state", f"{place} leads to {shown(state)}, not a {self.kind.__name__}")
            return
        try:
            hash(state)
        except TypeError as error:
            self._add("not a state", f"{place} leads to {shown(state)}: {error}")
            return
        if state in self.seen:
            return
        self.seen.add(state)
        if name := _changeable(state):
            self._add(
                "not a state", f"{place} leads to {shown(state)}, whose {name} can be changed"
            )
        waiting.append(state)
        answer = self._twice(f"canonical({shown(state)})", lambda: self.rules.canonical(state))
        if answer is None:
            return
        representative, swapped = answer
        if swapped and not self.rules.has_opponents:
            self._add(
                "canonical",
                f"canonical({shown(state)}) swaps players, but there are not two opponents",
            )
        again = self._twice(
            f"canonical({shown(representative)})", lambda: self.rules.canonical(representative)
        )
        if again != (representative, False):
            self._add(
                "canonical",
                f"canonical({shown(state)}) is {shown(representative)}, whose own canonical is "
                f"{shown(again)}; a representative must represent itself, not swapped",
            )
            return
        if not self.rules.is_state(state):
            self._add("is_state", f"{place} leads to {shown(state)}, which is_state() denies")
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
        if terminal is None:
            return
        if terminal:
            self._check_view(state, [])
            self._check_numbers(
                lambda player: rules.game.payoff(state, player),
                f"payoff({shown(state)}, ",
                rules.constant_sum,
            )
            return
        player = self._twice(f"player({shown(state)})", lambda: rules.player(state))
        if player is not None and not 0 <= player < rules.num_players:
            self._add(
                "player", f"player({shown(state)}) is {player} of {rules.num_players} players"
            )
        actions = self._twice(f"actions({shown(state)})", lambda: list(rules.game.actions(state)))
        if actions is None:
            return
        if not actions:
            self._add("actions", f"{shown(state)} is not terminal and has no actions")
        if len(set(actions)) < len(actions):
            self._add("actions", f"actions({shown(state)}) repeats itself: {shown(actions)}")
        self._check_view(state, actions)
        for action in actions:
            if not hasattr(action, "__index__") or not -(2**31) <= action < 2**31:
                self._add(
                    "actions",
                    f"action {shown(action)} in {shown(state)} is not an integer of 32 bits",
                )
                continue
            yield from self._check_action(state, action)

    def _check_action(self, state: Any, action: Any) -> Iterator[tuple[Any, str]]:
        """Check the outcomes and rewards of an action; yield its successors."""
        rules = self.rules
        place = f"outcomes({shown(state)}, {shown(action)})"
        pairs = self._twice(place, lambda: list(rules.game.outcomes(state, action)))
        if pairs is None:
            return
        if not self._check_probabilities(pairs, place):
            return
        self._check_numbers(
            lambda player: rules.reward(state, action, player),
            f"reward({shown(state)}, {shown(action)}, ",
            0.0,
        )
        name = getattr(rules.game, "action_name", None)
        if name is not None and not isinstance(name(state, action), str):
            self._add("words", f"action_name({shown(state)}, {shown(action)}) is not text")
        words = getattr(rules.game, "outcome_name", lambda *_: "")
        for outcome in range(len(pairs)):
            if not isinstance(words(state, action, outcome), str):
                asked = f"outcome_name({shown(state)}, {shown(action)}, {outcome})"
                self._add("words", f"{asked} is not text")
            if hasattr(rules.game, "outcome_view"):
                asked = f"outcome_view({shown(state)}, {shown(action)}, {outcome})"
                self._twice(asked, functools.partial(rules.outcome_view, state, action, outcome))
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
            self._add("outcomes", f"{place} are {shown(pairs)}, not (probability, state) pairs")
            return False
        if not all(0 <= probability <= 1 + TOLERANCE for probability in probabilities):
            self._add("probabilities", f"{place} have probabilities {shown(probabilities)}")
        elif abs(math.fsum(probabilities) - 1) > TOLERANCE:
            self._add("probabilities", f"{place} sum to {math.fsum(probabilities)!r}, not 1")
        return bool(pairs)

    def _check_numbers(
        self, ask: Callable[[int], Any], words: str, total: float
    ) -> tuple[float, ...]:
        """Check the numbers of all players: finite, and for two players of sum `total`."""
        numbers = []
        for player in range(self.rules.num_players):
            answer = self._twice(f"{words}{player})", lambda player=player: ask(player))  # type: ignore[misc]
            try:
                number = float(answer)
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                self._add("payoffs and rewards", f"{words}{player}) is {shown(answer)}")
                return ()
            numbers.append(number)
        size = max(1.0, *map(abs, numbers))
        if self.rules.has_opponents and abs(sum(numbers) - total) > TOLERANCE * size:
            self._add(
                "payoffs and rewards",
                f"{words}player) are {numbers[0]!r} and {numbers[1]!r}, which do not add up to "
                f"{total!r}",
            )
        return tuple(numbers)

    def _check_words(self, state: Any) -> None:
        """Check the descriptions and estimates of a state."""
        game = self.rules.game
        if hasattr(game, "render") and not isinstance(game.render(state), str):
            self._add("words", f"render({shown(state)}) is not text")
        if hasattr(game, "heuristic"):
            for player in range(self.rules.num_players):
                estimate = game.heuristic(state, player)
                if not math.isfinite(estimate):
                    self._add(
                        "heuristic", f"heuristic({shown(state)}, {player}) is {shown(estimate)}"
                    )

    def _check_view(self, state: Any, actions: list[Any]) -> None:
        """Check the picture of a state."""
        if not hasattr(self.rules.game, "view"):
            return
        asked = f"view({shown(state)})"
        view = self._twice(asked, lambda: self.rules.view(state))
        for action in () if view is None else view.spots:
            if action not in actions:
                self._add("view", f"{asked} has a spot for action {action}, which is none there")

    def _check_symmetry(self, state: Any, representative: Any, swapped: bool) -> None:
        """Compare a state with its representative: all relevant content must agree."""
        try:
            one, other = self._picture(state, swapped), self._picture(representative, False)
            if not one.corresponds(other):
                one = self._picture(state, swapped, lenient=True)
                other = self._picture(representative, False, lenient=True)
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            self._add(
                "an error", f"the rules in {shown(state)} raise {type(error).__name__}: {error}"
            )
            return
        if not one.corresponds(other):
            self._add(
                "canonical",
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


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _check_acyclic(model: gamedp.Model, complaints: Complaints) -> None:
    cycle = model.structure.cycle()
    if cycle:
        path = " → ".join(str(model.state(index)) for index in (*cycle[:8], cycle[0]))
        complaints.add("acyclic", f"the game claims to be acyclic, but play can go {path}")


def _compare_tiers(model: gamedp.Model, complaints: Complaints, *, must: bool) -> bool:
    """Compare a plain model with the compiled one; return whether there was one."""
    assert model.rules is not None  # noqa: S101 - it was made of a game
    game = model.rules.game
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", gamedp.errors.CompilationWarning)
            compiled = gamedp.compile(game, compile="always")
    except gamedp.errors.CompilationError as error:
        if must:
            complaints.add("compiled rules", str(error))
        return False
    except gamedp.InvalidModelError as error:
        complaints.add("compiled rules", str(error))
        return True
    for field in attrs.fields(gamedp.Model):
        one, other = getattr(model, field.name), getattr(compiled, field.name)
        if isinstance(one, np.ndarray):
            same = one.shape == other.shape and np.allclose(one, other, rtol=1e-12, atol=0)
            if not same:
                complaints.add("compiled rules", f"{field.name} differs from the plain rules'")
    return True
