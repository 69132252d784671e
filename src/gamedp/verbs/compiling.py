"""From rules to a model: `compile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from gamedp.errors import InvalidParameterError
from gamedp.rules.game import is_staged
from gamedp.runtime.limit import callback_of, shows_progress

if TYPE_CHECKING:
    from gamedp.model.model import Model
    from gamedp.rules.game import Game, StagedGame
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode, StateChoice
    from gamedp.stages.model import StagedModel

__all__ = ["compile"]


@overload
def compile(
    game: StagedGame,
    *,
    compile: CompileMode = "auto",
    progress: ProgressCallback | bool | None = None,
) -> StagedModel: ...


@overload
def compile(
    game: Game,
    *,
    compile: CompileMode = "auto",
    states: StateChoice = "reachable",
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    progress: ProgressCallback | bool | None = None,
) -> Model: ...


@shows_progress
def compile(
    game: Game | StagedGame,
    *,
    compile: CompileMode = "auto",
    states: StateChoice = "reachable",
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    progress: ProgressCallback | bool | None = None,
) -> Model | StagedModel:
    """Explore a game from its initial states and return it as sparse arrays.

    The exploration is breadth first: states are numbered in the order of their discovery, with
    compiled rules or without.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.Game`; or :class:`gamedp.StagedGame`,
        whose stage is explored. `states` and the limits are for ordinary games.
    compile : {"auto", "always", "never"}
        Whether numba compiles the rules. "auto" begins in plain Python, which finishes a small game
        before numba would have started, and compiles the rules of a game that turns out to be
        large; if they cannot be compiled, a warning gives numba's reason, and plain Python goes on.
        "always" raises instead. The model is the same.
    states : {"reachable", "all"}
        "reachable": those that can be reached from the start. "all": also those that cannot, of the
        ranges that the game's ``box()`` gives to the fields; its ``is_state`` says which are real.
    max_states, max_seconds, max_bytes : float, optional
        Limits that stop the exploration with an error. `max_bytes` is nine tenths of the free
        memory if not given.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Returns
    -------
    Model
        For a staged game, a :class:`gamedp.StagedModel`.

    Raises
    ------
    InvalidModelError
        If the rules are wrong somewhere; the message names the state and the action.
    LimitExceededError
        At a limit; the message says how far the exploration got.
    UnsupportedProblemError
        If all states are asked for, and the game has no ``box()``.
    CompilationError
        If the rules cannot be compiled and ``compile="always"``.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> gamedp.compile(Matches(matches=18), compile="never")
    <Model Matches(matches=18, takes=(1, 2, 3), misere=True): 19 states, 51 choices, 51 transitions>
    """
    report = callback_of(progress)
    if is_staged(game):
        from gamedp.stages.compile import compile_staged

        if states != "reachable":
            message = f"states is for ordinary games; {type(game).__name__} is a game of stages."
            raise InvalidParameterError(message)
        return compile_staged(game, compile=compile, progress=report)
    from gamedp.compiler.build import compile_game

    return compile_game(
        game,
        compile=compile,
        states=states,
        max_states=max_states,
        max_seconds=max_seconds,
        max_bytes=max_bytes,
        progress=report,
    )
