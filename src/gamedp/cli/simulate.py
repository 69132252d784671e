"""``gamedp simulate``: games of given policies, by the million, beside their exact value."""

from __future__ import annotations

from typing import Annotated

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.options import OUTPUT, Compile, GameName, GameSettings, OutputOptions
from gamedp.cli.players import WAYS, compiled_game, read_players
from gamedp.runtime.settings import values_of

__all__ = ["simulate"]


@Parameter(name="*", group=Group("Games", sort_key=1))
@attrs.frozen(kw_only=True)
class SimulationOptions:
    """Who plays, and how often.

    Parameters
    ----------
    games : int
        Play so many games.
    seed : int
        Set the seed of chance; a new one each time if not given.
    threads : int
        Play with so many threads; the games are the same for any number.
    max_plies : int
        Leave a game unfinished after so many.
    """

    players: Annotated[str, Parameter(help=f"Name who plays, with commas between them: {WAYS}.")]
    games: int = 100_000
    seed: int | None = None
    threads: int = 1
    max_plies: int = 1_000_000


def simulate(
    game: GameName,
    /,
    *,
    how: SimulationOptions,
    settings: GameSettings = None,
    compile: Compile = "auto",
    output: OutputOptions = OUTPUT,
) -> None:
    """Play games of given players by the million, beside the exact value."""
    made, model, solve = compiled_game(game, settings, compile, output, command="simulate")
    given = read_players(how.players, model, solve)
    names = [name.strip() for name in how.players.split(",")]
    seated = [given[name] for name in names]
    found = gamedp.simulate(
        model,
        seated,
        games=how.games,
        seed=how.seed,
        threads=how.threads,
        max_plies=how.max_plies,
    )
    true = gamedp.evaluate(model, seated)
    agrees = None if found.unfinished else found.agrees_with(true)
    count = model.num_players
    if output.json:
        report.print_json(
            {
                "game": game,
                "parameters": values_of(made),
                "players": names,
                "games": found.games,
                "seed": found.seed,
                "unfinished": found.unfinished,
                "means": found.means,
                "standard_errors": [found.standard_error(player) for player in range(count)],
                "outcomes": found.outcomes,
                "mean_plies": found.mean_plies,
                "values": [true.value(player=player) for player in range(count)],
                "p_value": agrees,
            }
        )
        return
    pairs = [
        ("game", report.game_words(made)),
        ("players", " against ".join(names)),
        ("games", f"{found.games:,}, of which {found.unfinished:,} unfinished"),
        ("seed", f"{found.seed}"),
    ]
    for player in range(count):
        whose = f"{names[player]} as {report.player_name(player)}" if count > 1 else names[0]
        error = found.standard_error(player)
        pairs.append(
            ("mean", f"{found.means[player]:.10g}   for {whose}, give or take {error:.2g}")
        )
        pairs.append(("value", f"{true.value(player=player)!r}"))
    pairs.append(("plies", f"{found.mean_plies:.10g} on average"))
    if agrees is not None:
        words = "games as far off or farther are so likely, if the exact value is right"
        pairs.append(("p-value", f"{agrees:.3g}   {words}"))
    print(report.lines(pairs))
