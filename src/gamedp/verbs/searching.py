"""From rules straight to the value of one position: `search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown

if TYPE_CHECKING:
    from gamedp.results.search_result import SearchResult
    from gamedp.rules.game import Game
    from gamedp.runtime.options import Tier
    from gamedp.runtime.progress import ProgressCallback
    from gamedp.searchers.max_n import MaxNResult

__all__ = ["search"]


def search(
    game: Game,
    state: Any = None,
    searcher: Any = None,
    *,
    depth: int | None = None,
    max_seconds: float = float("inf"),
    compile: Tier = "auto",
    progress: ProgressCallback | None = None,
) -> SearchResult | MaxNResult:
    """Search from one position, without a model: for games that are too large to be solved.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.Game`.
    state : optional
        The position; the start if not given.
    searcher : searcher or str, optional
        A searcher, or the name of a registered one. If not given: :class:`gamedp.searchers.MaxN`
        for three players and more, else :class:`gamedp.searchers.AlphaBeta`, and where that meets
        chance :class:`gamedp.searchers.Expectiminimax`.
    depth : int, optional
        Actions to look ahead; to the end of the game if not given. For the searcher that is chosen.
    max_seconds : float
        Time at most, for the searcher that is chosen; what is known then is returned.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.

    Returns
    -------
    SearchResult
        For three players and more a :class:`gamedp.searchers.MaxNResult`.

    Raises
    ------
    InvalidModelError
        If the rules are wrong somewhere.
    InvalidParameterError
        If the searcher has options of its own that are given here, or lacks one of them.
    UnsupportedProblemError
        If the searcher cannot do the game.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> result = gamedp.search(Matches(matches=18), compile="never")
    >>> result.value(), result.best_actions
    (1.0, (1,))
    """
    from gamedp.runtime.registry import SEARCHERS, find

    if searcher is None:
        return _searched(game, state, depth, max_seconds, compile, progress)
    chosen: Any = find(SEARCHERS, searcher)() if isinstance(searcher, str) else searcher
    if isinstance(chosen, type) or not hasattr(chosen, "search"):
        message = f"searcher is {shown(searcher)}; it must be a searcher, such as "
        raise InvalidParameterError(message + "gamedp.searchers.AlphaBeta(depth=8).")
    options = {"depth": depth, "max_seconds": max_seconds}
    given = {name: value for name, value in options.items() if value not in (None, float("inf"))}
    if isinstance(searcher, str):
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
        game, state, compile=compile, progress=progress
    )
    return result


def _searched(
    game: Game,
    state: Any,
    depth: int | None,
    max_seconds: float,
    compile: Tier,
    progress: ProgressCallback | None,
) -> SearchResult | MaxNResult:
    """Search by the searcher that fits the game."""
    from gamedp.rules.game import Rules
    from gamedp.searchers.alpha_beta import AlphaBeta
    from gamedp.searchers.expectiminimax import Expectiminimax
    from gamedp.searchers.max_n import MaxN

    if Rules(game).num_players > 2:
        several = MaxN(depth=depth, max_seconds=max_seconds)
        return several.search(game, state, compile=compile, progress=progress)
    sure = AlphaBeta(depth=depth, max_seconds=max_seconds)
    try:
        return sure.search(game, state, compile=compile, progress=progress)
    except UnsupportedProblemError:  # chance; what else it may be, the other one refuses as well
        averaging = Expectiminimax(depth=depth, max_seconds=max_seconds)
        return averaging.search(game, state, compile=compile, progress=progress)
