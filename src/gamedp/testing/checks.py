"""The checks of a game, a solver or a searcher by their names, each of which may be a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gamedp.errors import InvalidParameterError, shown
from gamedp.testing.check_game import examination_of_game
from gamedp.testing.check_searcher import examination_of_searcher
from gamedp.testing.check_solver import examination_of_solver
from gamedp.testing.complaints import Check

__all__ = ["checks_of", "each_check"]


def checks_of(thing: Any, **options: Any) -> Iterator[tuple[str, Check]]:
    """Return the checks of a game, a solver or a searcher, each with its name.

    They are those that :func:`check_game`, :func:`check_solver` and :func:`check_searcher` make.
    Nothing is run before the first check; the others look at the same run.

    Parameters
    ----------
    thing
        An instance: a solver if it has `supports` and `solve`, a searcher if it has `search`,
        otherwise a game.
    **options
        The options of the function that makes all checks at once: `max_states` and `compile` of
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
        If the thing is a class.
    TypeError
        If it is none of the three, or an option is not one of its own.

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
    if hasattr(thing, "supports") and hasattr(thing, "solve"):
        return examination_of_solver(thing, **options).checks()
    if hasattr(thing, "search"):
        return examination_of_searcher(thing, **options).checks()
    return examination_of_game(thing, **options).checks()


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
