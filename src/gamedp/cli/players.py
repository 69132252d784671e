"""Players by text: ``optimal``, ``level=6``, ``random``, ``hold=20``, ``./mybot``, and more."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import gamedp
from gamedp.cli.games import class_named, is_saved, make_ordinary_game
from gamedp.cli.options import Compile, GameSettings, OutputOptions
from gamedp.cli.report import watch
from gamedp.cli.texts import make, read_as, refuse
from gamedp.policies.policy import weights_of
from gamedp.runtime.options import settings_of
from gamedp.runtime.registry import PLAYERS

if TYPE_CHECKING:
    from pathlib import Path

    from gamedp.play.programs import Program, Remote


WAYS = (
    "optimal, the folder of a saved solution or policy (with a slash in its name), random (all "
    "actions equally likely), a registered policy with its number, as hold=20, or "
    "`path/to/file.py:ClassName` with its number behind an equals sign"
)
"""Help text for players whose actions depend on the position alone."""


ENTRANTS = (
    "optimal, level=6 (looks 6 plies ahead), random, a policy as for `gamedp evaluate`, such "
    "as hold=20, a program or what is saved, with a slash in its name, such as ./mybot, or "
    "tcp:host:port"
)
"""Help text for the players of games."""

PERSON = "person"
"""The name of a player who types actions, in `gamedp play`."""

RANDOM = ("random", "uniform")

TCP = "tcp:"

START_SECONDS = 10.0
"""Least number of seconds that a program has to start."""

Level: TypeAlias = int | Literal["best"]
"""The number of plies to look ahead, or ``"best"`` to play by the solution."""


def read_entrants(
    text: str, rules: gamedp.rules.Rules, solve: Callable[[], Any], seconds: float
) -> dict[str, Any]:
    """Return the players of a comma-separated text, by their names.

    Parameters
    ----------
    text : str
    rules : Rules
    solve : callable
        Solves the game if a player uses its solution.
    seconds : float
        Thinking time of programs per game.

    Raises
    ------
    UnknownNameError
        If there is no such policy.
    InvalidParameterError
        If a player is named twice, is of another game, or makes no sense.
    """
    names = names_of_players(text)
    for place, name in enumerate(names):
        if name in names[:place]:
            refuse(f"{name} is named twice; each entrant has a name of its own.")
    return read_all(names, lambda name: read_player(name, rules, solve, seconds))


def read_all(names: list[str], read: Callable[[str], Any]) -> dict[str, Any]:
    """Return players by their names, each read once, and those that require solving last."""
    each = dict.fromkeys(names)
    found = {name: read(name) for name in sorted(each, key=lambda name: read_level(name) == "best")}
    return {name: found[name] for name in each}


def read_player(
    text: str,
    rules: gamedp.rules.Rules | gamedp.rules.StagedRules,
    solve: Callable[[], Any],
    seconds: float,
) -> Any:
    """Return the player that a text names; parameters and errors as for :func:`read_entrants`."""
    level = read_level(text)
    if level is not None:
        return solve() if level == "best" else gamedp.play.LevelPlayer(level)
    if _is_program(text):
        return program_named(text, seconds)
    if text in RANDOM:
        return gamedp.play.RandomPlayer(rules.game)
    return _saved_or_policy(text, rules)


def read_level(text: str) -> Level | None:
    """Return the level in a text such as ``best``, ``6`` or ``level=6``; None if there is none.

    Raises
    ------
    InvalidParameterError
        If it is a level, but its number of plies is not an integer.
    """
    if text in {"best", "optimal"}:
        return "best"
    name, equals, plies = text.partition("=")
    if name == "level" and equals:
        return int(read_as("level", plies, int))
    try:
        return int(text)
    except ValueError:
        return None


def checked_solution(solution: Any, name: str) -> gamedp.Solution:
    """Return a saved solution that can play; raise InvalidParameterError for any other."""
    if not isinstance(solution, gamedp.Solution) or solution.model.rules is None:
        refuse(f"{name} holds no solution of a game that can be played.")
    objective = solution.objective
    is_total = isinstance(objective, gamedp.TotalReward) and objective.until is None
    if not is_total or objective.optimum != "max":
        refuse(
            f"{name} is solved for {objective!r}; whole games are played by a solution for the "
            "largest total reward."
        )
    return solution


def _is_folder(text: str) -> bool:
    """Return whether this is a folder, which can only be a saved solution."""
    return "/" in text and is_saved(text)


def _is_program(text: str) -> bool:
    is_file = ".py:" in text  # of a class
    is_path = "/" in text and not is_file and not _is_folder(text)
    return text.startswith(TCP) or " " in text or is_path


def program_named(text: str, seconds: float) -> Program | Remote:
    """Return the program that a text names: a command, or tcp:host:port."""
    start_seconds = max(START_SECONDS, seconds)
    if text.startswith(TCP):
        address = text.removeprefix(TCP)
        return gamedp.play.Remote(address, seconds=seconds, start_seconds=start_seconds)
    return gamedp.play.Program(text, seconds=seconds, start_seconds=start_seconds)


def compiled_game(
    name: str,
    settings: GameSettings,
    compile: Compile,
    output: OutputOptions,
    *,
    command: str,
) -> tuple[Any, gamedp.Model, Callable[[], gamedp.Solution]]:
    """Return a game, its model, and the function that solves it."""
    made = make_ordinary_game(name, settings or (), command=command)
    with watch(quiet=output.quiet) as progress:
        model = gamedp.compile(made, compile=compile, progress=progress)

    def solve() -> gamedp.Solution:
        with watch(quiet=output.quiet) as progress:
            solution: gamedp.Solution = gamedp.solve(model, tolerance=1e-9, progress=progress)
        return solution

    return made, model, solve


def seated_in_stages(
    names: Sequence[str], made: Any, compile: Compile, output: OutputOptions
) -> list[Any]:
    """Return the players of a staged game, which is solved once if a player is optimal."""

    @functools.cache
    def solve() -> Any:
        with watch(quiet=output.quiet) as progress:
            return gamedp.solve(made, compile=compile, keep=True, progress=progress)

    return [ruled(name, gamedp.rules.StagedRules(made), solve) for name in names]


def ruled(
    name: str, rules: gamedp.rules.Rules | gamedp.rules.StagedRules, solve: Callable[[], Any]
) -> Any:
    """Return a player that needs no table of positions."""
    player = read_player(name, rules, solve, 1.0)
    knows = isinstance(player, (gamedp.play.RandomPlayer, gamedp.StagedSolution))
    if not knows and not callable(getattr(player, "choose", None)):
        if isinstance(rules, gamedp.rules.StagedRules):
            refuse(
                f"{name} cannot play a staged game. Who can: optimal, random, and policies that "
                "choose in a gamedp.stages.Position."
            )
        refuse(f"{name} is not a policy by rule; `gamedp tournament` lets it play.")
    return player


def refuse_without_folder(path: Path | None) -> None:
    """Raise InvalidParameterError, before hours of playing, if the file cannot be written."""
    if path is not None and not path.parent.is_dir():
        refuse(f"there is no folder {path.parent} to keep the games in.")


def read_players(text: str, model: gamedp.Model, solve: Callable[[], Any]) -> dict[str, Any]:
    """Return the players of a comma-separated text, by their names.

    Parameters
    ----------
    text : str
    model : Model
    solve : callable
        Solves the model if a player uses its solution.

    Raises
    ------
    UnknownNameError
        If there is no such policy.
    InvalidParameterError
        If a policy is of another game, or refuses its number.
    """
    return read_all(names_of_players(text), lambda name: _read(name, model, solve))


def read_field(
    text: str, model: gamedp.Model, solve: Callable[[], Any]
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the players of a text such as ``hold=20:0.7,hold=10:0.3``, and their weights.

    Without weights in the text, there are none.
    """
    weights: dict[str, float] = {}
    names = []
    for item in names_of_players(text):
        name, colon, weight = item.rpartition(":")
        number = _number(weight) if colon else None
        names.append(item if number is None else name)
        if number is not None:
            weights[name] = number
    if weights and len(weights) < len(set(names)):
        refuse(f"{text}: give all of them a weight, as in hold=20:0.7,hold=10:0.3, or none.")
    if weights:
        weights_of(weights)  # refuses weights that do not sum to one
    return read_players(",".join(names), model, solve), weights


def names_of_players(text: str) -> list[str]:
    """Return the names of players in a comma-separated text."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        refuse(f"{text!r} names no players; give {WAYS}.")
    return names


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _read(text: str, model: gamedp.Model, solve: Callable[[], Any]) -> Any:
    """Return one player whose action in each position can be known in advance."""
    level = read_level(text)
    if level == "best":
        return solve()
    if level is not None or _is_program(text) or text == PERSON:
        refuse(
            f"the actions of {text} are known only in the positions that it is shown; "
            "`gamedp tournament` lets it play."
        )
    if text in RANDOM:
        return gamedp.Policy.uniform(model)
    return _saved_or_policy(text, model.rules)


def _saved_or_policy(text: str, rules: Any) -> Any:
    if text == PERSON:
        refuse("a person plays only in `gamedp play`.")
    if _is_folder(text):
        saved = gamedp.load(text)
        return saved if isinstance(saved, gamedp.Policy) else checked_solution(saved, text)
    return _policy_named(text, rules)


def _policy_named(text: str, rules: Any) -> Any:
    """Return a registered policy, or one from a file; it must be of the game of `rules`."""
    name, equals, value = text.partition("=")
    kind = class_named(name, PLAYERS)
    game = getattr(kind, "game", None)
    if isinstance(game, type) and rules is not None and not isinstance(rules.game, game):
        refuse(f"{name} plays {game.__name__}, not {type(rules.game).__name__}.")
    if not callable(getattr(kind, "choose", None)):
        refuse(f"{name} is not a policy: it has no choose(state).")
    settings = list(settings_of(kind))
    if equals and not settings:
        refuse(f"{name} takes no number; leave ={value} out.")
    texts = [f"{settings[0]}={value}"] if equals else []
    return make(kind, texts, name=name, option="--players", word="parameter")
