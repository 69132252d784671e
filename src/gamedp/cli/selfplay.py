"""``gamedp selfplay``: compare two players by games, with a confidence interval."""

from __future__ import annotations

import collections
import functools
import math
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import OUTPUT, Compile, GameName, GameSettings, OutputOptions
from gamedp.cli.players import ENTRANTS, read_all, read_level, read_player, refuse_without_folder
from gamedp.cli.watch import watch
from gamedp.play.match import rounds_of
from gamedp.runtime.settings import values_of

if TYPE_CHECKING:
    from gamedp.play.match import Match
    from gamedp.runtime.progress import ProgressCallback

__all__ = ["selfplay"]


@Parameter(name="*", group=Group("Games", sort_key=1))
@attrs.frozen(kw_only=True)
class GamesOptions:
    """The number and the variation of the games.

    Parameters
    ----------
    games : int
        Play this many games, rounded up so that each player takes every seat equally often.
    seed : int
        Set the seed of chance, of openings and of the choice among equally good actions; a new one
        each time if not given.
    random_opening : int
        Play this many plies at the start at random, the same ones in both games of a pair (in one
        game for each seat, if there are more).
    max_plies : int
        Stop a game after this many plies; it counts as unfinished.
    seconds : float
        Set the seconds of thinking that a program has for a game; it has 10 at least to start.
    save : Path
        Keep the games in this file, for `gamedp.play.load_games`.
    """

    level: Annotated[
        str,
        Parameter(help=f"Set the plies that one player looks ahead, or name it: {ENTRANTS}."),
    ]
    against: Annotated[
        str,
        Parameter(help="Set the same for the other one; with three and more, for all others."),
    ]
    games: int = 100
    seed: int | None = None
    random_opening: int = 0
    max_plies: int = 1_000
    seconds: float = 10.0
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
    """Let two players play many games, and compare them."""
    made = make_ordinary_game(game, settings or (), command="selfplay")
    seed = secrets.randbits(32) if how.seed is None else how.seed
    refuse_without_folder(how.save)
    options: dict[str, Any] = {
        "games": how.games,
        "seed": seed,
        "opening": how.random_opening,
        "max_plies": how.max_plies,
    }
    rounds_of(gamedp.rules.Rules(made), **options)  # before solving
    with watch(quiet=output.quiet) as progress:
        result = gamedp.play.match(
            made,
            *_players(made, how, compile, progress),
            **options,
            compile=compile,
            progress=progress,
        )
    if how.save is not None:
        gamedp.play.save_games(how.save, made, result.records)
    if output.json:
        report.print_json(_facts(game, made, how, seed, result))
    else:
        print(report.lines(_words(made, how, seed, result)))


def _players(
    game: Any, how: GamesOptions, compile: Compile, progress: ProgressCallback | None
) -> list[Any]:
    """Return both players; the game is solved at most once."""
    solve = functools.cache(lambda: gamedp.solve(game, compile=compile, progress=progress))
    rules = gamedp.rules.Rules(game)
    names = [how.level, how.against]
    found = read_all(names, lambda name: read_player(name, rules, solve, how.seconds))
    return [found[name] for name in names]


def _level_or_name(text: str) -> int | str:
    """Return a player for JSON: plies, ``best`` or another name."""
    level = read_level(text)
    return text if level is None else level


def _called(text: str) -> str:
    """Return a player in words."""
    level = read_level(text)
    return text if level is None else f"level {level}"


def _facts(name: str, game: Any, how: GamesOptions, seed: int, result: Match) -> dict[str, Any]:
    """Return the results, for JSON."""
    counts = ("wins", "draws", "losses", "unfinished", "distinct", "mean_plies",
              "mean_difference", "standard_error", "interval", "seconds")  # fmt: skip
    return {
        "game": name,
        "parameters": values_of(game),
        "level": _level_or_name(how.level),
        "against": _level_or_name(how.against),
        "games": len(result.records),
        "seed": seed,
        "random_opening": how.random_opening,
        **{count: getattr(result, count) for count in counts},
    }


def _words(game: Any, how: GamesOptions, seed: int, result: Match) -> list[tuple[str, str]]:
    """Return the results in words."""
    games = len(result.records)
    differ = f", {result.distinct:,} of them different" if result.distinct < games else ""
    rounded = "" if games == how.games else f", instead of {how.games:,}: each takes all seats"
    unfinished = (
        f", {result.unfinished:,} unfinished after {how.max_plies:,} plies"
        if result.unfinished
        else ""
    )
    pairs = [
        ("game", report.game_words(game)),
        ("players", f"{_called(how.level)} against {_called(how.against)}"),
        ("games", f"{games:,}{rounded}{differ}"),
        ("seed", f"{seed}"),
        (
            _called(how.level),
            f"{_score(result)}{unfinished}",
        ),
        ("payoff", _difference(how, result)),
        ("length", f"{result.mean_plies:.1f} plies on average"),
        ("time", f"{result.seconds:.3f} s"),
        *_forfeits(how, result),
    ]
    return [*pairs, *([] if how.save is None else [("saved in", str(how.save))])]


def _forfeits(how: GamesOptions, result: Match) -> list[tuple[str, str]]:
    """Describe in words the games that were forfeited, and the reasons."""
    counts = collections.Counter(
        (how.level if number % result.players == record.forfeit.player else how.against,
         record.forfeit.reason)
        for number, record in enumerate(result.records)
        if record.forfeit is not None
    )  # fmt: skip
    faults = [
        f"{_called(name)}: {reason}, {games:,} games" for (name, reason), games in counts.items()
    ]
    return [("forfeits", "\n".join(faults))] if faults else []


def _score(result: Match) -> str:
    """Return in words how often one player got more than the other, or than all others."""
    wins, draws, losses = (f"{count:,}" for count in (result.wins, result.draws, result.losses))
    if result.players == 2:
        return f"wins {wins}, draws {draws}, loses {losses}"
    return f"gets the most in {wins}, shares the most in {draws}, gets less in {losses}"


def _difference(how: GamesOptions, result: Match) -> str:
    """Return in words the difference between the players, and its uncertainty."""
    mean, error = result.mean_difference, result.standard_error
    group = result.group_word
    if math.isnan(mean):
        return f"unknown: no {group} of games was finished"
    amount = f"{mean:+.3f} on average for {_called(how.level)} over {_called(how.against)}"
    if result.interval is None:
        return (
            f"{amount}\none {group} of games does not tell how certain that is; play more --games"
        )
    if error == 0:
        return (
            f"{amount}, the same in all {group}s of games\nthat does not tell how certain it is; "
            "--random-opening makes games differ"
        )
    low, high = result.interval
    if low > 0:
        verdict = f"{_called(how.level)} plays better"
    elif high < 0:
        verdict = f"{_called(how.against)} plays better"
    else:
        verdict = "not enough to say which one plays better"
    return (
        f"{amount}, standard error {error:.3f}\n"
        f"between {low:+.3f} and {high:+.3f} with 95% confidence: {verdict}"
    )
