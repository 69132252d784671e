"""The value of one position directly from the rules: `search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, shown
from gamedp.runtime.limit import callback_of, shows_progress

if TYPE_CHECKING:
    from gamedp.results.search_result import SearchResult
    from gamedp.rules.game import Game
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode
    from gamedp.searchers.max_n import MaxNResult

__all__ = ["search"]


@shows_progress
def search(
    game: Game,
    state: Any = None,
    searcher: Any = None,
    *,
    depth: int | None = None,
    max_seconds: float = float("inf"),
    compile: CompileMode = "auto",
    progress: ProgressCallback | bool | None = None,
) -> SearchResult | MaxNResult:
    """Search from one position, without a model: for games that are too large to solve.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.Game`.
    state : optional
        The position; the start if not given.
    searcher : searcher or str, optional
        A searcher, or the name of a registered one. If not given: :class:`gamedp.searchers.MaxN`
        for three players and more, :class:`gamedp.searchers.Expectiminimax` where there is chance,
        else :class:`gamedp.searchers.AlphaBeta`.
    depth : int, optional
        The number of actions to look ahead; to the end of the game if not given. A searcher that
        is given as an object has its own.
    max_seconds : float
        The time limit, in the same way. The search looks further and further ahead within it, and
        returns what is known at its end.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Returns
    -------
    SearchResult
        For three players and more a :class:`gamedp.searchers.MaxNResult`.

    Raises
    ------
    InvalidModelError
        If the rules are wrong somewhere.
    InvalidParameterError
        If options are given beside a searcher object, or the named searcher lacks one of them.
    UnsupportedProblemError
        If the searcher does not support the game.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> result = gamedp.search(Matches(matches=18), compile="never")
    >>> result.value(), result.best_actions
    (1.0, (1,))
    """
    from gamedp.rules.game import Rules
    from gamedp.runtime.registry import SEARCHERS, find
    from gamedp.searchers.choose import searcher_for

    chosen: Any = searcher
    if searcher is None:
        chosen = searcher_for(Rules(game), state)()
    elif isinstance(searcher, str):
        chosen = find(SEARCHERS, searcher)()
    if isinstance(chosen, type) or not hasattr(chosen, "search"):
        message = f"searcher is {shown(searcher)}; it must be a searcher, such as "
        raise InvalidParameterError(message + "gamedp.searchers.AlphaBeta(depth=8).")
    options = {"depth": depth, "max_seconds": max_seconds}
    given = {name: value for name, value in options.items() if value not in (None, float("inf"))}
    if searcher is None or isinstance(searcher, str):
        for name in given:
            if not hasattr(chosen, name):
                message = f"{searcher} has no {name}; leave it out, or choose another searcher."
                raise InvalidParameterError(message)
        chosen = type(chosen)(**given)
    elif given:
        name = next(iter(given))
        message = f"{name} is an option of the searcher: give {type(chosen).__name__}({name}=...)."
        raise InvalidParameterError(message)
    result: SearchResult | MaxNResult = chosen.search(
        game, state, compile=compile, progress=callback_of(progress)
    )
    return result
