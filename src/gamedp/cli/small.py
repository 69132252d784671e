"""Short commands: explain, perft, grundy, referee, help and completion."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import attrs
import numpy as np
from cyclopts import Parameter

import gamedp
from gamedp.cli import COMMANDS, PLUGINS, make_app, report
from gamedp.cli.games import (
    is_saved,
    load_saved,
    make_game,
    make_ordinary_game,
    position_of,
    starts_of,
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
from gamedp.cli.players import program_named
from gamedp.cli.report import watch
from gamedp.cli.solve import names_file, question_about
from gamedp.cli.texts import refuse
from gamedp.errors import GamedpError
from gamedp.runtime.options import values_of
from gamedp.runtime.registry import registered

if TYPE_CHECKING:
    from gamedp.adapters import LoadedModel


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

    Of a file, without a question: what is in it, and what can be asked.
    Of a folder that `gamedp solve --save` has written, the model is taken as it is kept there.
    """
    if is_saved(game):
        if explore != EXPLORE:
            refuse(f"{game} holds a solution, whose model is explored: leave such options out.")
        file.refuse()
        goal = None if objective == OBJECTIVE else objective.make()
        solution = load_saved(game, rules, settings)
        model, words = solution.model, gamedp.explain(solution, goal)
    elif names_file(game, rules):
        with watch(quiet=output.quiet) as progress:
            loaded = file.read(game, settings, explore, progress)
        kept = {name: getattr(file, name) for name in ("properties", "coalition", "normalise")}
        asks_nothing = attrs.evolve(FILE, **kept)
        if (file, objective) == (asks_nothing, OBJECTIVE):
            _print_contents(game, contents_of(loaded), output)
            return
        question = question_about(loaded, file, objective)
        model, words = question.model, gamedp.explain(question.model, question.objective)
    else:
        file.refuse()
        goal, made = objective.make(), make_game(game, settings or ())
        with watch(quiet=output.quiet) as progress:
            model = gamedp.compile(made, progress=progress, **explore.keywords())
            words = gamedp.explain(model, goal)
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


def contents_of(loaded: LoadedModel) -> dict[str, Any]:
    """Return what is in a file, by names, and what can be asked of it."""
    model = loaded.together
    sizes = (model.num_states, model.num_choices, model.num_transitions)
    return {
        "states": sizes[0],
        "choices": sizes[1],
        "transitions": sizes[2],
        "initial": len(model.initial_states),
        "labels": {name: int(np.count_nonzero(mask)) for name, mask in loaded.labels.items()},
        "rewards": list(loaded.rewards),
        "variables": {
            name: [column.min().item(), column.max().item()]
            for name, column in loaded.variables.items()
            if len(column)
        },
        "constants": {name: str(value) for name, value in loaded.constants.items()},
        "formulas": list(loaded.formulas),
        "players": list(loaded.player_names) or list(range(1, loaded.num_players + 1)),
        "properties": dict(loaded.properties),
        "asks": _examples(loaded),
        "notes": list(loaded.notes),
    }


def _examples(loaded: LoadedModel) -> list[str]:
    """Return formulas that can be asked of a model, each of another kind."""
    model = loaded.together
    choice = "max" if model.num_choices > model.num_states else ""
    side = "<<1>> " if loaded.num_players > 1 else ""
    labels = [f'"{name}"' for name in loaded.labels]
    variables = [
        f"{name}={column.max()}" if column.dtype != np.bool_ else name
        for name, column in loaded.variables.items()
    ]
    target = (labels or variables or ['"deadlock"'])[0]
    asks = [f"{side}P{choice}=? [ F {target} ]", f"P>=0.9 [ F<=20 {target} ]"]
    if loaded.rewards:
        name = next(iter(loaded.rewards))
        asks += [
            f'{side}R{{"{name}"}}{choice}=? [ F {target} ]',
            f'R{{"{name}"}}{choice}=? [ C<=20 ]',
        ]
    return asks


def _print_contents(game: str, contents: dict[str, Any], output: OutputOptions) -> None:
    """Print what is in a file."""
    if output.json:
        report.print_json({"model": game, **contents})
        return
    sizes = ", ".join(f"{contents[name]:,} {name}" for name in ("states", "choices", "transitions"))
    labels = [
        f'"{name}" ({count:,} state{"" if count == 1 else "s"})'
        for name, count in contents["labels"].items()
    ]
    variables = [
        f"{name} (true or false)" if isinstance(low, bool) else f"{name} ({low} to {high})"
        for name, (low, high) in contents["variables"].items()
    ]
    constants = [f"{name}={value}" for name, value in contents["constants"].items()]
    properties = [f"{name}: {text}" for name, text in contents["properties"].items()]
    players = [] if len(contents["players"]) < 2 else list(map(str, contents["players"]))
    listed = {
        "labels": ", ".join(labels),
        "rewards": ", ".join(contents["rewards"]),
        "variables": ", ".join(variables),
        "constants": ", ".join(constants),
        "formulas": ", ".join(contents["formulas"]),
        "players": ", ".join(players),
        "properties": "\n".join(properties),
        "asks": "\n".join(f"--property '{text}'" for text in contents["asks"]),
    }
    pairs = [("model", game), ("size", sizes)]
    pairs += [(name, text) for name, text in listed.items() if text]
    print(report.lines([*pairs, *(("note", note) for note in contents["notes"])]))


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
        refuse(f"--values is {values}; it must be a heap, from 0 on.")
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
            ("exceptions", _list_sizes(found.exceptions)),
        ]
    print(report.lines(pairs))


def _list_sizes(sizes: tuple[int, ...]) -> str:
    """Return the sizes in words, in short if there are many."""
    texts = [f"{size:,}" for size in sizes]
    if len(sizes) > MOST_EXCEPTIONS:
        half = MOST_EXCEPTIONS // 2
        listed = ", ".join([*texts[:half], "...", *texts[-half:]])
        return f"{len(sizes):,} heaps: {listed}"
    return ", ".join(texts) or "none"


CommandName: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="A command; all if not given.", completer=lambda _: [*COMMANDS, *registered(PLUGINS)]
    ),
]


def print_help(command: CommandName = None, /) -> None:
    """Show what a command does and its options; without a command, list all commands."""
    app = make_app()
    if command is None:
        app.resolved_commands()  # to show the help of each command
    words = ["--help"] if command is None else [command, "--help"]
    app(words, exit_on_error=False, print_error=False, result_action="return_value")


def completion(shell: Literal["bash", "fish", "zsh"], /) -> None:
    """Print a script that lets the Tab key complete commands, options and names.

    Parameters
    ----------
    shell
        The shell that reads the script: for bash, and for zsh after compinit,
        `source <(gamedp completion bash)`; for fish, `gamedp completion fish | source`.
    """
    script = make_app().generate_completion(shell=shell)
    if shell == "bash":  # if nothing else fits, a game may be a file
        script = script.replace("complete -F", "complete -o default -F")
    if shell == "zsh":  # the script is sourced, and not a file that compinit finds
        script += "compdef _cyclopts_gamedp gamedp"
    print(script)


def referee(
    task: Literal["check"],
    program: str,
    game: GameName,
    /,
    *,
    games: int = 10,
    seconds: Annotated[float, Parameter(help="Set the seconds of thinking for a game.")] = 10.0,
    seed: int | None = None,
    settings: GameSettings = None,
    output: OutputOptions = OUTPUT,
) -> None:
    """Check that a program in any language keeps the rules of the line protocol.

    The exit code is 0 if it keeps them all, and 1 if not.

    Parameters
    ----------
    task
        What to do: check.
    program
        A command, in quotes if it has arguments; or tcp:host:port of a program that listens.
    games
        Play this many games for each rule that is checked by games.
    seed
        Set the seed of chance and of the random play that it meets; a new one each time if not
        given.
    """
    made = make_ordinary_game(game, settings or (), command="referee")
    player = program_named(program, seconds)
    seed = secrets.randbits(32) if seed is None else seed
    found = gamedp.play.check_program(made, player, games=games, seed=seed)
    broken = [check.rule for check in found if not check.is_kept]
    if output.json:
        facts: dict[str, Any] = {"task": task, "program": program, "game": game, "seed": seed}
        report.print_json(
            facts | {"passed": not broken, "checks": [attrs.asdict(check) for check in found]}
        )
    else:
        width = max(len(check.rule) for check in found)
        for check in found:
            word = "ok    " if check.is_kept else "BROKEN"
            print(f"{word}  {check.rule:<{width}}  {check.detail}")
    if broken:
        message = f"{program} breaks the line protocol; the first rule that it breaks: {broken[0]}."
        raise GamedpError(message)
