"""``gamedp explain``: the structure of a game, and the solver that suits it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

import gamedp
from gamedp.cli.games import make_game
from gamedp.cli.options import ExploreOptions, GameSettings, ObjectiveOptions
from gamedp.cli.watch import watch

__all__ = ["explain"]


def explain(
    game: str,
    /,
    *,
    settings: GameSettings = None,
    objective: ObjectiveOptions = ObjectiveOptions(),
    explore: ExploreOptions = ExploreOptions(),
    quiet: Annotated[bool, Parameter(group="Output")] = False,
) -> None:
    """Say how a game is built, which solver is chosen for it, and why.

    Parameters
    ----------
    game
        A name that `gamedp games` lists, path/to/file.py:ClassName, or package.module:ClassName.
    quiet
        Do not show progress.
    """
    goal = objective.make()
    with watch(quiet=quiet) as progress:
        model = gamedp.compile(
            make_game(game, settings or ()), progress=progress, **explore.keywords()
        )
        words = gamedp.explain(model, goal)
    print(words)
