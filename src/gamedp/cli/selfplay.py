"""``gamedp selfplay``: which of two depths of search plays better, and how certain that is."""

from __future__ import annotations

import math
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import OUTPUT, Compile, GameName, GameSettings, OutputOptions
from gamedp.cli.parameters import values_of
from gamedp.cli.watch import watch
from gamedp.errors import InvalidParameterError

if TYPE_CHECKING:
    from gamedp.tournaments import Tournament

__all__ = ["selfplay"]


@Parameter(name="*", group=Group("Games", sort_key=1))
@attrs.frozen(kw_only=True)
class GamesOptions:
    """Who plays, how often, and how the games differ.

    Parameters
    ----------
    level : int
        Plies that one player looks ahead.
    against : int
        Plies that the other one looks ahead.
    games : int
        How many games; each player begins every other one.
    seed : int
        What chance, openings and the choice among equals come from; another one each time if not
        given.
    random_opening : int
        Plies at the start that are played at random, the same ones in both games of a pair.
    max_plies : int
        Leave a game unfinished after so many.
    save : Path
        Keep the games in this file, for `gamedp.load_games`.
    """

    level: int
    against: int
    games: int = 100
    seed: int | None = None
    random_opening: int = 0
    max_plies: int = 1_000
    save: Path | None = None


def selfplay(
    game: GameName,
    /,
    *,
    how: GamesOptions,
    settings: GameSettings = None,
    compile: Compile = "auto",
    output: OutputOptions = OUTPUT,
) -> None:
    """Let the computer play against itself, looking ahead by two depths, and compare them."""
    made = make_ordinary_game(game, settings or (), command="selfplay")
    one, other = gamedp.LevelPlayer(how.level), gamedp.LevelPlayer(how.against)
    seed = secrets.randbits(32) if how.seed is None else how.seed
    if how.save is not None and not how.save.parent.is_dir():  # before hours of playing
        message = f"there is no folder {how.save.parent} to keep the games in."
        raise InvalidParameterError(message)
    with watch(quiet=output.quiet) as progress:
        result = gamedp.tournament(
            made,
            one,
            other,
            games=how.games,
            seed=seed,
            opening=how.random_opening,
            max_plies=how.max_plies,
            compile=compile,
            progress=progress,
        )
    if how.save is not None:
        gamedp.save_games(how.save, made, result.records)
    if output.json:
        report.print_json(_facts(game, made, how, seed, result))
    else:
        print(report.lines(_words(made, how, seed, result)))


def _facts(
    name: str, game: Any, how: GamesOptions, seed: int, result: Tournament
) -> dict[str, Any]:
    """Return the results, for JSON."""
    counts = ("wins", "draws", "losses", "unfinished", "distinct", "mean_plies",
              "mean_difference", "standard_error", "interval", "seconds")  # fmt: skip
    return {
        "game": name,
        "parameters": values_of(game),
        "level": how.level,
        "against": how.against,
        "games": how.games,
        "seed": seed,
        "random_opening": how.random_opening,
        **{count: getattr(result, count) for count in counts},
    }


def _words(game: Any, how: GamesOptions, seed: int, result: Tournament) -> list[tuple[str, str]]:
    """Return the results in words."""
    differ = f", {result.distinct:,} of them different" if result.distinct < how.games else ""
    unfinished = (
        f", {result.unfinished:,} unfinished after {how.max_plies:,} plies"
        if result.unfinished
        else ""
    )
    pairs = [
        ("game", report.game_words(game)),
        ("players", f"level {how.level} against level {how.against}"),
        ("games", f"{how.games:,}{differ}"),
        ("seed", f"{seed}"),
        (
            f"level {how.level}",
            f"wins {result.wins:,}, draws {result.draws:,}, loses {result.losses:,}{unfinished}",
        ),
        ("payoff", _difference(how, result)),
        ("length", f"{result.mean_plies:.1f} plies on average"),
        ("time", f"{result.seconds:.3f} s"),
    ]
    return [*pairs, *([] if how.save is None else [("saved in", str(how.save))])]


def _difference(how: GamesOptions, result: Tournament) -> str:
    """Say by how much one is better than the other, and how certain that is."""
    mean, error = result.mean_difference, result.standard_error
    if math.isnan(mean):
        return "unknown: no pair of games was finished"
    amount = f"{mean:+.3f} on average for level {how.level} over level {how.against}"
    if math.isnan(error):
        return f"{amount}\none pair of games does not tell how certain that is; play more --games"
    if error == 0:
        return (
            f"{amount}, the same in all pairs of games\nthat does not tell how certain it is; "
            "--random-opening makes games differ"
        )
    low, high = result.interval
    if low > 0:
        verdict = f"level {how.level} plays better"
    elif high < 0:
        verdict = f"level {how.against} plays better"
    else:
        verdict = "that does not tell which one plays better"
    return (
        f"{amount}, standard error {error:.3f}\n"
        f"between {low:+.3f} and {high:+.3f} with 95% confidence: {verdict}"
    )
