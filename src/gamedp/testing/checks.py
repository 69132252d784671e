"""The checks of a game, a solver or a searcher by their names, each of which may be a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gamedp.errors import InvalidParameterError, shown
from gamedp.testing.complaints import Check, Examination
from gamedp.testing.game_checks import examination_of_game
from gamedp.testing.searcher_checks import examination_of_searcher
from gamedp.testing.solver_checks import examination_of_solver

KINDS: tuple[tuple[tuple[str, ...], Callable[..., Examination[Any]]], ...] = (
    (("initial_state",), examination_of_game),
    (("supports", "solve"), examination_of_solver),
    (("search",), examination_of_searcher),
)
"""Kinds of things: the members by which each is known, and how it is examined."""


def checks_of(thing: Any, **options: Any) -> Iterator[tuple[str, Check]]:
    """Return the checks of a game, a solver or a searcher, each with its name.

    They are those that :func:`check_game`, :func:`check_solver` and :func:`check_searcher` make.
    Nothing is run before the first check; the others look at the same run.

    Parameters
    ----------
    thing
        An instance: a game if it has `initial_state`, a solver if it has `supports` and `solve`, a
        searcher if it has `search`.
    **options
        The options of the function that makes all checks together: `max_states` and `compile` of
        games, `problems` and `tolerance` of solvers, `games` and `compile` of searchers.

    Returns
    -------
    iterator of (str, callable)
        A check has no arguments. It raises :class:`ConformanceError`, with its name, the state and
        the action, if it fails; and ``unittest.SkipTest``, with the reason, if it could not be
        made: the model of a game is not looked at while its rules fail.

    Raises
    ------
    InvalidParameterError
        If the thing is a class, or none of the three.
    TypeError
        If an option is not one of its own.

    Examples
    --------
    >>> from gamedp.games.matches import Matches
    >>> for name, check in checks_of(Matches(matches=5), compile=False):
    ...     check()
    >>> name
    'the claim acyclic'
    """
    if isinstance(thing, type):
        message = f"{shown(thing)} is a class; give an instance, such as {thing.__name__}()."
        raise InvalidParameterError(message)
    for members, examination in KINDS:
        if all(hasattr(thing, member) for member in members):
            return examination(thing, **options).checks()
    message = (
        f"{shown(thing)} is none of these: a game has the method initial_state, a solver supports "
        "and solve, a searcher search."
    )
    raise InvalidParameterError(message)


def each_check(*things: Any, **options: Any) -> Callable[[Any], Any]:
    """Make a test of each check: decorates a test function with the argument ``check``.

    Needs pytest, which is imported when this is called::

        @each_check(MyGame(), MyGame(size=3))
        def test_rules(check):
            check()

    Parameters
    ----------
    *things
        Games, solvers or searchers.
    **options
        As for :func:`checks_of`.

    Returns
    -------
    callable
        ``pytest.mark.parametrize``, with the names of the checks as ids; if there are several
        things, after the thing.

    Raises
    ------
    InvalidParameterError
        If there is nothing to check, or as :func:`checks_of` does.
    """
    import pytest  # noqa: PLC0415 - only tests have it

    if not things:
        message = "there is nothing to check; give each_check a game, a solver or a searcher."
        raise InvalidParameterError(message)
    tests = [
        pytest.param(check, id=name if len(things) == 1 else f"{shown(thing)}: {name}")
        for thing in things
        for name, check in checks_of(thing, **options)
    ]
    return pytest.mark.parametrize("check", tests)
