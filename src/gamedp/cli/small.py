"""``gamedp explain``, ``perft`` and ``grundy``: structure, lines of play, and nim-values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import (
    is_model_file,
    is_saved,
    load_saved,
    make_game,
    make_ordinary_game,
)
from gamedp.cli.options import (
    EXPLORE,
    FILE,
    OBJECTIVE,
    OUTPUT,
    Compile,
    ExploreOptions,
    FileOptions,
    GameName,
    GameOrFile,
    GameSettings,
    ObjectiveOptions,
    OutputOptions,
    SavedGame,
    StateTexts,
)
from gamedp.cli.positions import position_of, starts_of
from gamedp.cli.watch import watch
from gamedp.errors import InvalidParameterError
from gamedp.runtime.options import values_of

if TYPE_CHECKING:
    from gamedp.verbs.solving import Explanation

__all__ = ["explain", "grundy", "perft"]

MOST_EXCEPTIONS = 20
"""Largest number of exceptions listed in full; of more, only the first and the last ones."""


def explain(
    game: GameOrFile,
    /,
    *,
    rules: SavedGame = None,
    settings: GameSettings = None,
    file: FileOptions = FILE,
    objective: ObjectiveOptions = OBJECTIVE,
    explore: ExploreOptions = EXPLORE,
    output: OutputOptions = OUTPUT,
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
        solution = load_saved(game, rules, settings)
        _print_words(game, solution.model, gamedp.explain(solution, goal), output)
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
        words = gamedp.explain(question.model, question.objective)
        _print_words(game, question.model, words, output)
        return
    file.refuse()
    goal = objective.make()
    with watch(quiet=output.quiet) as progress:
        model = gamedp.compile(
            make_game(game, settings or ()), progress=progress, **explore.keywords()
        )
        words = gamedp.explain(model, goal)
    _print_words(game, model, words, output)


def _print_words(game: str, model: Any, words: Explanation, output: OutputOptions) -> None:
    """Print an explanation, or its lines as JSON with the size of the model."""
    if not output.json:
        print(words)
        return
    size = getattr(model, "stage", model)
    counts = {"contexts": model.num_states} if size is not model else {}
    counts |= {
        "states": size.num_states,
        "choices": size.num_choices,
        "transitions": size.num_transitions,
    }
    facts = {"game": game, **counts, "solver": words.solver, "lines": words.split("\n")}
    report.print_json(facts)


def perft(
    game: GameName,
    /,
    *,
    depth: int,
    state: StateTexts = None,
    settings: GameSettings = None,
    compile: Compile = "auto",
    max_seconds: float = float("inf"),
    output: OutputOptions = OUTPUT,
) -> None:
    """Count the lines of play, ply by ply, to compare two versions of the same rules.

    Parameters
    ----------
    depth
        Plies.
    max_seconds
        Stop with an error after this many seconds.
    """
    made = make_ordinary_game(game, settings or (), command="perft")
    position = position_of(starts_of(gamedp.rules.Rules(made)), state or (), "--state")
    with watch(quiet=output.quiet) as progress:
        found = gamedp.searchers.perft(
            made, depth, position, compile=compile, max_seconds=max_seconds, progress=progress
        )
    total = sum(found.positions)
    a_second = total / found.seconds if found.seconds > 0 else 0.0
    if output.json:
        counts = {name: getattr(found, name) for name in ("positions", "ended", "seconds")}
        where = {"game": game, "parameters": values_of(made), "state": position}
        report.print_json({**where, "depth": depth, **counts, "positions_per_second": a_second})
        return
    rows = [("ply", "positions", "ended")]
    rows += [
        (str(ply), f"{positions:,}", f"{ended:,}")
        for ply, (positions, ended) in enumerate(zip(found.positions, found.ended, strict=True))
    ]
    pairs = [("game", report.game_words(made)), ("lines", report.table(rows))]
    time = f"{found.seconds:.3f} s, {a_second:,.0f} positions a second"
    print(report.lines([*pairs, ("in all", f"{total:,}"), ("time", time)]))


def grundy(
    code: str,
    /,
    *,
    up_to: int = 100_000,
    values: int = 24,
    as_json: Annotated[bool, Parameter(name="--json", show_default=False)] = False,
) -> None:
    """Print the nim-values of the heaps of an octal game, and their period.

    Parameters
    ----------
    code
        Such as 0.77, Kayles; or 0.137, Dawson's chess.
    up_to
        Look for a period in heaps up to this size.
    values
        Show the values of heaps up to this size.
    as_json
        Print one JSON object.
    """
    if values < 0:
        message = f"--values is {values}; it must be a heap, from 0 on."
        raise InvalidParameterError(message)
    game = gamedp.sums.OctalGame(code)
    found = game.periodicity(up_to)
    shown = game.grundy_sequence(values).tolist()
    if as_json:
        facts = {"period": None, "preperiod": None, "exceptions": None, "known_up_to": up_to}
        if found is not None:
            facts |= {name: getattr(found, name) for name in facts}
        report.print_json({"code": code, "values": shown, **facts})
        return
    pairs = [("code", code), ("values", f"{' '.join(map(str, shown))} ...")]
    if found is None:
        pairs.append(("period", f"none is proven by heaps up to {up_to:,}; there may be one"))
    else:
        pairs += [
            ("period", str(found).removeprefix("period ")),
            ("exceptions", _listed(found.exceptions)),
        ]
    print(report.lines(pairs))


def _listed(sizes: tuple[int, ...]) -> str:
    """Return the sizes in words, in short if there are many."""
    texts = [f"{size:,}" for size in sizes]
    if len(sizes) > MOST_EXCEPTIONS:
        half = MOST_EXCEPTIONS // 2
        listed = ", ".join([*texts[:half], "...", *texts[-half:]])
        return f"{len(sizes):,} heaps: {listed}"
    return ", ".join(texts) or "none"
