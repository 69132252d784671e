"""``gamedp tournament``: all play all, rated; ``gamedp selfplay``: a match of two players."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import OUTPUT, Compile, Flag, GameName, GameSettings, OutputOptions
from gamedp.cli.players import (
    ENTRANTS,
    names_of_players,
    read_all,
    read_entrants,
    read_level,
    read_player,
    refuse_without_folder,
)
from gamedp.cli.report import watch
from gamedp.cli.texts import refuse
from gamedp.play.match import rounds_of
from gamedp.play.tournament import begun

if TYPE_CHECKING:
    from gamedp.play.match import Match
    from gamedp.play.pairing import Pairing
    from gamedp.play.tournament import Tournament
    from gamedp.runtime.limit import ProgressCallback


@Parameter(name="*", group=Group("Games", sort_key=1))
@attrs.frozen(kw_only=True)
class EntrantsOptions:
    """The number and the variation of the games.

    Parameters
    ----------
    games : int
        Play this many games between each two, or of each set of as many players as there are
        seats, in all orders of the seats; rounded up, so that each order comes equally often.
    seed : int
        Set the seed of chance, of openings and of what players leave to chance; a new one if not
        given.
    random_opening : int
        Play this many plies at the start at random, the same ones in all orders of the seats.
    max_plies : int
        Stop a game after this many plies; it counts as unfinished.
    seconds : float
        Set the seconds of thinking that a program has for a game; it has 10 at least to start.
    better_by : (float, float)
        With two players, stop once a sequential test shows that the first one is better by the
        second number, or by no more than the first number, in normalized Elo; at most 5% err.
    exact : bool
        Compute the results of players whose actions depend on the position alone, instead of
        playing: optimal, random, policies such as hold=20, and what is saved.
    save : Path
        Append the results of each pair of games, or of each set of orders, to this file.
    resume : bool
        Go on with the file of --save, if it is there.
    """

    entrants: Annotated[
        str, Parameter(help=f"Name who takes part, with commas between: {ENTRANTS}.")
    ]
    games: int = 100
    seed: int | None = None
    random_opening: int = 0
    max_plies: int = 1_000
    seconds: float = 10.0
    better_by: tuple[float, float] | None = None
    exact: Flag = False
    save: Path | None = None
    resume: Flag = False


def tournament(
    game: GameName,
    /,
    *,
    how: EntrantsOptions,
    settings: GameSettings = None,
    compile: Compile = "auto",
    output: OutputOptions = OUTPUT,
) -> None:
    """Let several players all play each other, and rate them.

    Games come in pairs: the seats change, and the dice are the same. In a game for three players
    and more, every set of as many as there are seats meets, in all orders, and what is compared is
    the mean payoff.
    """
    made = make_ordinary_game(game, settings or (), command="tournament")
    is_there = how.save is not None and how.save.exists()
    if is_there and not how.resume:
        refuse(f"{how.save} is there already; --resume goes on with it.")
    seed = how.seed
    if seed is None and not is_there:
        seed = secrets.randbits(32)
    refuse_without_folder(how.save)
    rules = gamedp.rules.Rules(made)
    options: dict[str, Any] = {
        "games": how.games,
        "seed": seed,
        "opening": how.random_opening,
        "max_plies": how.max_plies,
        "better_by": how.better_by,
        "exact": how.exact,
        "save": how.save,
    }
    begun(rules, names_of_players(how.entrants), **options)  # before solving
    with watch(quiet=output.quiet) as progress:
        players = read_entrants(
            how.entrants,
            rules,
            lambda: gamedp.solve(made, compile=compile, progress=progress),
            how.seconds,
        )
        result = gamedp.play.tournament(
            made,
            players,
            **options,
            compile=compile,
            progress=progress,
        )
    facts = result.facts()
    head = {name: facts.pop(name) for name in ("games", "seed")}
    words = (_words if result.pairings else _words_of_many)(how, result)
    report.show(
        output,
        game,
        made,
        {**head, "random_opening": how.random_opening, **facts},
        itertools.chain(words, _saved_in(how.save)),
    )


def _saved_in(path: Path | None) -> list[tuple[str, str]]:
    """Return in words where results are saved."""
    return [] if path is None else [("saved in", str(path))]


def _games(how: EntrantsOptions, result: Tournament, of: str) -> list[tuple[str, str]]:
    """Return the number of games that count, and the seed, in words."""
    if result.is_exact:
        return [("exact", f"{len(result.meetings):,} matches without playing")]
    is_rounded = result.games != how.games
    each = f"; {result.games:,} each instead of {how.games:,}" if is_rounded else ""
    played = sum(meeting.games for meeting in result.meetings if not meeting.is_exact)
    computed = sum(meeting.is_exact for meeting in result.meetings)
    return [
        (
            "games",
            f"{played:,} {of} with the same dice{each}",
        ),
        *([("exact", f"{computed:,} matches without playing")] if computed else []),
        ("seed", f"{result.seed}"),
    ]


def _with_error(mean: float, error: float, *, is_exact: bool) -> str:
    """Return a mean payoff and its standard error, in a column."""
    if is_exact:
        return f"{mean:>11,.6g}"
    if math.isnan(mean):
        return f"{'unknown':>11}"
    return f"{mean:>11,.6g} " + ("(no error: one group)" if math.isnan(error) else f"± {error:.2g}")


def _words_of_many(how: EntrantsOptions, result: Tournament) -> list[tuple[str, str]]:
    """Return the results of games of three or more in words, the highest payoff first."""
    payoffs = {name: result.payoff(name) for name in result.names}
    order = sorted(result.names, key=lambda name: payoffs[name][0], reverse=True)
    width = max(map(len, result.names))
    meetings = [each for each in result.meetings if isinstance(each, gamedp.play.Meeting)]
    size = math.factorial(len(meetings[0].names))
    table = [
        f"{name:<{width}}  {_with_error(*payoffs[name], is_exact=result.is_exact)}"
        for name in order
    ]
    about = "on average" if result.is_exact else "on average, with the standard error"
    lines = [
        f"{', '.join(meeting.names)}: "
        + (
            ", ".join(f"{meeting.payoff(name)[0]:.6g}" for name in meeting.names)
            if meeting.payoffs
            else "no group was played to the end"
        )
        + (", exactly" if meeting.is_exact else "")
        for meeting in meetings
    ]
    pairs = [
        *_games(how, result, f"count, in groups of {size} orders"),
        ("payoffs", "\n".join([*table, about])),
        ("matches", "\n".join(lines)),
    ]
    unfinished = sum(meeting.unfinished for meeting in meetings)
    if unfinished:
        words = f"{unfinished:,} after {how.max_plies:,} plies; their groups do not count"
        pairs.append(("unfinished", words))
    faults = [
        f"{loser} in {', '.join(meeting.names)}: {reason}, {games:,} games; their groups do not "
        "count"
        for meeting in meetings
        for (loser, reason), games in meeting.forfeits.items()
    ]
    return [*pairs, *([("forfeits", "\n".join(faults))] if faults else [])]


def _words(how: EntrantsOptions, result: Tournament) -> list[tuple[str, str]]:
    """Return the results of games of two in words, the strongest player first."""
    ratings = result.ratings()
    order = sorted(range(len(result.names)), key=lambda place: -ratings.elo[place])
    width = max(map(len, result.names))

    def elo(number: float, error: float, width: int = 0) -> str:
        room = "" if result.is_exact else f" ± {1.96 * error:.0f}"
        return f"{number:+{width}.0f}{room} Elo"

    def points(name: str) -> str:
        score = result.score(name)
        if not result.is_exact:
            return f"{score:>9,.1f} points"
        games = sum(each.games for each in result.pairings if name in {each.one, each.other})
        return f"{score / games:>11.6%} of the points" if games else f"{'unknown':>11}"

    table = [
        f"{result.names[place]:<{width}}  {points(result.names[place])}  "
        f"{elo(ratings.elo[place], ratings.errors[place], 7)}"
        for place in order
    ]
    first = f"worth {elo(ratings.first_move, ratings.first_move_error)}"
    pairs = [
        *_games(how, result, "finished, in pairs"),
        ("players", "\n".join(table)),
        ("first seat", first if result.is_exact else f"{first}; all with 95% confidence"),
        ("matches", "\n".join(map(_match, result.pairings))),
    ]
    unfinished = sum(pairing.unfinished for pairing in result.pairings if not pairing.is_exact)
    if unfinished:
        pairs.append(("unfinished", f"{unfinished:,} after {how.max_plies:,} plies"))
    if result.test is not None:
        pairs.append(("test", _verdict(result, how)))
    faults = [
        f"{loser} against {pairing.other if loser == pairing.one else pairing.one}: "
        f"{reason}, {games:,} games"
        for pairing in result.pairings
        for (loser, reason), games in pairing.forfeits.items()
    ]
    return [*pairs, *([("forfeits", "\n".join(faults))] if faults else [])]


def _verdict(result: Tournament, how: EntrantsOptions) -> str:
    """Return the result of the sequential test in words."""
    assert result.test is not None  # noqa: S101 - who calls has looked
    assert how.better_by is not None  # noqa: S101 - likewise
    low, high = how.better_by
    one, other = result.names
    words = {
        "better": f"{one} is better than {other} by {high:g} normalized Elo, not by {low:g}",
        "not better": f"{one} is better than {other} by no more than {low:g} normalized Elo",
        "undecided": f"undecided whether {one} is better than {other} by {low:g} or {high:g}",
    }[result.test.verdict]
    llr, lower, upper = result.test.llr, result.test.lower, result.test.upper
    return f"{words}\nLLR {llr:.2f}, ends at {lower:.2f} and {upper:.2f}"


def _match(pairing: Pairing) -> str:
    """Return the games between two in words, from the first one's point of view."""
    wins, draws, losses = (
        first + second for first, second in zip(pairing.first, pairing.second, strict=True)
    )
    if pairing.is_exact:
        games = pairing.games + pairing.unfinished
        shares = [("wins", wins), ("draws", draws), ("loses", losses)]
        if pairing.unfinished:
            shares.append(("plays for ever", pairing.unfinished))
        words = ", ".join(f"{verb} {share / games:.6%}" for verb, share in shares)
        return f"{pairing.one} against {pairing.other}: {words}, exactly"
    return (
        f"{pairing.one} against {pairing.other}: wins {wins:,}, draws {draws:,}, loses {losses:,}"
    )


@Parameter(name="*", group=Group("Games", sort_key=1))
@attrs.frozen(kw_only=True)
class MatchOptions:
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
    how: MatchOptions,
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
            *_pair(made, how, compile, progress),
            **options,
            compile=compile,
            progress=progress,
        )
    if how.save is not None:
        gamedp.play.save_games(how.save, made, result.records)
    facts = result.facts()
    head = {
        "level": _level_or_name(how.level),
        "against": _level_or_name(how.against),
        "games": facts.pop("games"),
        "seed": seed,
        "random_opening": how.random_opening,
    }
    report.show(output, game, made, head | facts, _match_words(how, seed, result))


def _pair(
    game: Any, how: MatchOptions, compile: Compile, progress: ProgressCallback | None
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


def _match_words(how: MatchOptions, seed: int, result: Match) -> Iterator[tuple[str, str]]:
    """Yield the results in words."""
    games = len(result.records)
    differ = f", {result.distinct:,} of them different" if result.distinct < games else ""
    rounded = "" if games == how.games else f", instead of {how.games:,}: each takes all seats"
    unfinished = (
        f", {result.unfinished:,} unfinished after {how.max_plies:,} plies"
        if result.unfinished
        else ""
    )
    yield "players", f"{_called(how.level)} against {_called(how.against)}"
    yield "games", f"{games:,}{rounded}{differ}"
    yield "seed", f"{seed}"
    yield _called(how.level), f"{_match_score(result)}{unfinished}"
    yield "payoff", _match_difference(how, result)
    yield "length", f"{result.mean_plies:.1f} plies on average"
    yield "time", f"{result.seconds:.3f} s"
    yield from _match_forfeits(how, result)
    yield from _saved_in(how.save)


def _match_forfeits(how: MatchOptions, result: Match) -> list[tuple[str, str]]:
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


def _match_score(result: Match) -> str:
    """Return in words how often one player got more than the other, or than all others."""
    wins, draws, losses = (f"{count:,}" for count in (result.wins, result.draws, result.losses))
    if result.players == 2:
        return f"wins {wins}, draws {draws}, loses {losses}"
    return f"gets the most in {wins}, shares the most in {draws}, gets less in {losses}"


def _match_difference(how: MatchOptions, result: Match) -> str:
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
