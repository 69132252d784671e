"""``gamedp explain``: the structure of a game, and the solver that suits it."""

from __future__ import annotations

import gamedp
from gamedp.cli.games import make_game
from gamedp.cli.options import (
    EXPLORE,
    OBJECTIVE,
    ExploreOptions,
    GameName,
    GameSettings,
    ObjectiveOptions,
)
from gamedp.cli.watch import watch

__all__ = ["explain"]


def explain(
    game: GameName,
    /,
    *,
    settings: GameSettings = None,
    objective: ObjectiveOptions = OBJECTIVE,
    explore: ExploreOptions = EXPLORE,
) -> None:
    """Say how a game is built, which solver is chosen for it, and why."""
    goal = objective.make()
    with watch(quiet=False) as progress:
        model = gamedp.compile(
            make_game(game, settings or ()), progress=progress, **explore.keywords()
        )
        words = gamedp.explain(model, goal)
    print(words)
