"""Checks by their names: each is a test, and all of them share one run."""

from typing import NamedTuple
from unittest import SkipTest

import attrs
import pytest
from named_checks import failed_checks
from numba import config

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.games.matches import Matches, Nim
from gamedp.testing import (
    ConformanceError,
    check_game,
    check_searcher,
    check_solver,
    checks_of,
    each_check,
    small_games,
    small_problems,
)
from gamedp.testing.game_checks import ACYCLIC, COMPILED, COUNTS, ERRORS, MOVER, NAMES, NUMBERS
from gamedp.testing.searcher_checks import RUNS as SEARCH_RUNS

SOLVER, SEARCHER = gamedp.solvers.PolicyIteration(), gamedp.searchers.Minimax()
WALK = {"walk": small_problems()["a walk"]}
MOVES = {"moves": small_games()["moves"]}


@each_check(Matches(matches=5), Nim((1, 2)), compile=False)
def test_games(check):
    check()


@each_check(SOLVER, problems=WALK, tolerance=1e-9)
def test_a_solver(check):
    check()


@each_check(SEARCHER, games=MOVES)
def test_a_searcher(check):
    check()


def test_the_ids_are_the_names_and_of_several_things_begin_with_the_thing():
    names = [name for name, _ in checks_of(SEARCHER)]
    assert [test.id for test in each_check(SEARCHER).args[1]] == names
    game = Nim((1, 2))
    first, *_, last = each_check(SEARCHER, game, compile="never").args[1]
    assert first.id == f"{SEARCHER!r}: {names[0]}"
    assert last.id == f"{game!r}: {COMPILED}"


def test_all_at_once_are_the_same_checks():
    game = Matches(matches=5)
    made = check_game(game, compile=False).checks
    assert list(made) == [name for name, _ in checks_of(game, compile=False)]
    assert failed_checks(game, compile=False) == {}
    assert check_solver(SOLVER, WALK).solved == ("walk",)
    assert check_searcher(SEARCHER, MOVES).searched == (("moves", 10),)


class Steps(NamedTuple):
    left: int


asked = []


@attrs.frozen
class Countdown:
    """Count down; each question about an end is written down."""

    left: int = 3
    acyclic = True

    def initial_state(self):
        return Steps(self.left)

    def is_terminal(self, state):
        asked.append(state)
        return state.left == 0

    def actions(self, state):
        return (0,)

    def outcomes(self, state, action):
        yield 1.0, Steps(state.left - 1)

    def payoff(self, state, player):
        return 1.0


def test_nothing_runs_before_the_first_check_and_nothing_twice():
    asked.clear()
    checks = list(checks_of(Countdown(), compile=False))
    assert not asked
    for _, check in checks:
        check()
        count = len(asked)
        assert count > 0
    checks[0][1]()
    assert len(asked) == count


def reasons(game, **options):
    """Return why checks are not made, by their names."""
    found = {}
    for name, check in checks_of(game, **options):
        try:
            check()
        except SkipTest as reason:
            found[name] = str(reason)
        except ConformanceError:
            continue
    return found


class Unpaid(Countdown):
    def payoff(self, state, player):
        return float("nan")


class Texts(Countdown):
    def payoff(self, state, player):
        return float({"a": 1}["a"])


def test_what_could_not_be_checked_is_skipped_with_the_reason():
    few = "needs all states, and there are more than 2"
    assert reasons(Countdown(), max_states=2) == dict.fromkeys((COUNTS, ACYCLIC, COMPILED), few)
    others = "needs all other checks to pass"
    assert reasons(Unpaid()) == dict.fromkeys((COUNTS, ACYCLIC, COMPILED), others)
    assert list(failed_checks(Unpaid())) == [NUMBERS]


@pytest.mark.skipif(config.DISABLE_JIT, reason="with the JIT disabled nothing compiles")
def test_rules_that_need_not_compile_are_skipped_and_those_that_must_fail():
    (name, reason), *rest = reasons(Texts()).items()
    assert (name, rest) == (COMPILED, [])
    assert reason.startswith("the rules do not compile: the rules of Texts cannot be compiled")
    assert list(failed_checks(Texts(), compile=True)) == [COMPILED]


class Forever(Countdown):
    acyclic = False

    def is_terminal(self, state):
        return False

    def outcomes(self, state, action):
        yield 1.0, Steps((state.left - 1) % 3)


def test_one_check_warns_of_a_forgotten_end():
    for name, check in checks_of(Forever(), compile=False):
        if name == COUNTS:
            with pytest.warns(RuntimeWarning, match="Is an end missing"):
                check()
        else:
            check()


class Speechless(Countdown):
    """Its optional methods raise errors, or return nothing."""

    def render(self, state):
        return None

    def action_name(self, state, action):
        return [state.left][action + 1]

    def heuristic(self, state, player):
        return 1 / 0

    def is_state(self, state):
        raise KeyError(state)


def test_errors_of_optional_methods_are_complaints_too():
    failed = failed_checks(Speechless(), compile=False)
    assert list(failed) == [ERRORS, NAMES]
    assert "is_state(Steps(left=3)) raises KeyError" in failed[ERRORS]
    assert "heuristic(Steps(left=3), 0) raises ZeroDivisionError" in failed[ERRORS]
    assert "action_name(Steps(left=3), 0) raises IndexError" in failed[ERRORS]
    assert "render(Steps(left=3)) is not text" in failed[NAMES]


class Undecided(Countdown):
    """Forgets the return where play goes on."""

    def is_terminal(self, state):
        return True if state.left == 0 else None


class Nobody(Countdown):
    num_players = 2

    def player(self, state):
        return None

    def payoff(self, state, player):
        return 0.0


def test_a_missing_return_does_not_end_the_examination():
    failed = failed_checks(Undecided(), compile=False)
    assert list(failed) == [ERRORS]
    assert "is_terminal(Steps(left=3)) is None" in failed[ERRORS]
    failed = failed_checks(Nobody(), compile=False)
    assert list(failed) == [MOVER]
    assert "player(Steps(left=3)) is None; it must be one player's number. Is a" in failed[MOVER]


@attrs.frozen
class Crashing:
    def search(self, game, state=None, *, compile="auto", progress=None):
        return 1 / 0


def test_a_searcher_that_raises_an_error():
    failed = failed_checks(Crashing(), games=MOVES)
    assert list(failed) == [SEARCH_RUNS]
    words = "moves: search raises no error: in Place(side=0, number=0), search raises ZeroDivision"
    assert words in failed[SEARCH_RUNS]


@pytest.mark.parametrize(
    ("thing", "options", "error", "words"),
    [
        (Matches, {}, InvalidParameterError, r"is a class; give an instance, such as Matches\(\)"),
        (object(), {}, InvalidParameterError, "is none of these: a game has the method initial_"),
        (Matches(), {"tolerance": 1.0}, TypeError, "unexpected keyword argument 'tolerance'"),
        (SOLVER, {"compile": False}, TypeError, "unexpected keyword argument 'compile'"),
        (SEARCHER, {"max_states": 1}, TypeError, "unexpected keyword argument 'max_states'"),
    ],
)
def test_what_cannot_be_checked_is_refused_at_once(thing, options, error, words):
    for ask in (checks_of, each_check):
        with pytest.raises(error, match=words):
            ask(thing, **options)


def test_nothing_is_no_test():
    with pytest.raises(InvalidParameterError, match="there is nothing to check"):
        each_check()
