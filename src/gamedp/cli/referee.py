"""``gamedp referee``: check that a program can play, before it meets others."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

import attrs
from cyclopts import Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import OUTPUT, GameName, GameSettings, OutputOptions
from gamedp.cli.players import program_named
from gamedp.errors import GamedpError

__all__ = ["referee"]


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
