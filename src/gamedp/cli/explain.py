"""``gamedp explain``: the structure of a game or a model, and the solver that suits it."""

from __future__ import annotations

import gamedp
from gamedp.cli.games import is_model_file, is_saved, load_saved, make_game
from gamedp.cli.options import (
    EXPLORE,
    FILE,
    OBJECTIVE,
    ExploreOptions,
    FileOptions,
    GameOrFile,
    GameSettings,
    ObjectiveOptions,
    SavedGame,
)
from gamedp.cli.watch import watch
from gamedp.errors import InvalidParameterError

__all__ = ["explain"]


def explain(
    game: GameOrFile,
    /,
    *,
    rules: SavedGame = None,
    settings: GameSettings = None,
    file: FileOptions = FILE,
    objective: ObjectiveOptions = OBJECTIVE,
    explore: ExploreOptions = EXPLORE,
) -> None:
    """Describe the structure of a game or a file's model; say which solver fits, and why.

    Of a folder that `gamedp solve --save` has written, the model is taken as it is kept there.
    """
    if is_saved(game):
        if explore != EXPLORE:
            message = f"{game} holds a solution, whose model is explored: leave such options out."
            raise InvalidParameterError(message)
        file.refuse()
        goal = None if objective == OBJECTIVE else objective.make()
        print(gamedp.explain(load_saved(game, rules, settings), goal))
        return
    if rules is not None:
        message = f"--game is for the folder of a saved solution; {game} is none."
        raise InvalidParameterError(message)
    if is_model_file(game):
        if settings:
            message = f"{game} is a file; options for building a game do not apply."
            raise InvalidParameterError(message)
        from gamedp.cli.models import question_about  # noqa: PLC0415 - games do not need it

        loaded = file.read(game, explore.for_file())
        question = question_about(loaded, file, objective)
        print(gamedp.explain(question.model, question.objective))
        return
    file.refuse()
    goal = objective.make()
    with watch(quiet=False) as progress:
        model = gamedp.compile(
            make_game(game, settings or ()), progress=progress, **explore.keywords()
        )
        words = gamedp.explain(model, goal)
    print(words)
