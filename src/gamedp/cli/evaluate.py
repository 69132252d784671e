"""``gamedp evaluate`` and ``gamedp respond``: the values of policies, and the best response."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_game
from gamedp.cli.options import (
    OBJECTIVE,
    OUTPUT,
    Compile,
    Flag,
    GameName,
    GameSettings,
    ObjectiveOptions,
    OutputOptions,
)
from gamedp.cli.players import (
    WAYS,
    compiled_game,
    names_of_players,
    read_field,
    read_players,
    seated_in_stages,
)
from gamedp.errors import InvalidParameterError
from gamedp.policies.arguments import check_count
from gamedp.policies.lengths import checked_plies
from gamedp.rules.game import is_staged
from gamedp.solvers.request import checked_number

if TYPE_CHECKING:
    from gamedp.policies import Evaluation

__all__ = ["evaluate", "respond"]


@Parameter(name="*", group=Group("Players", sort_key=1))
@attrs.frozen(kw_only=True)
class PlayersOptions:
    """The players, and the figures to show.

    Parameters
    ----------
    both_seats : bool
        Evaluate two players with their seats changed, too.
    plies : int
        Show how likely a game still goes on after this many plies.
    """

    players: Annotated[str, Parameter(help=f"Name who plays, with commas between them: {WAYS}.")]
    both_seats: Flag = False
    plies: int | None = None


def evaluate(
    game: GameName,
    /,
    *,
    how: PlayersOptions,
    settings: GameSettings = None,
    objective: ObjectiveOptions = OBJECTIVE,
    tolerance: float = 1e-9,
    compile: Compile = "auto",
    output: OutputOptions = OUTPUT,
) -> None:
    """Compute the values of players against each other, exactly, without playing a game.

    A staged game is followed where its players get to, up to a million positions.

    Parameters
    ----------
    tolerance
        Allow this distance between the bounds of a value.
    """
    names = names_of_players(how.players)
    if how.both_seats and len(names) != 2:
        message = f"--both-seats is for two players; these are {len(names)}."
        raise InvalidParameterError(message)
    if how.plies is not None:
        checked_plies(how.plies)
    checked_number("tolerance", tolerance)
    wanted = objective.make()
    made = make_game(game, settings or ())
    model: Any = made
    if is_staged(made):
        check_count(len(names), gamedp.rules.StagedRules(made).num_players)
        seated = seated_in_stages(names, made, compile, output)
    else:
        made, model, solve = compiled_game(game, settings, compile, output, command="evaluate")
        check_count(len(names), model.num_players)
        given = read_players(how.players, model, solve)
        seated = [given[name] for name in names]
    orders = [(0, 1), (1, 0)] if how.both_seats else [tuple(range(len(seated)))]
    found = [
        ([names[seat] for seat in order],
         gamedp.evaluate(model, [seated[seat] for seat in order], wanted, tolerance=tolerance))
        for order in orders
    ]  # fmt: skip
    facts = [{"players": order} | evaluation.facts(how.plies) for order, evaluation in found]
    words = itertools.chain.from_iterable(_words(*each, how.plies) for each in found)
    if how.both_seats:
        first, second = found[0][1].value(), found[1][1].value(player=1)
        average = f"{first + (second - first) / 2!r}   for {names[0]}"
        words = itertools.chain(words, [("both seats", average)])
    report.show(output, game, made, {"seats": facts} if how.both_seats else facts[0], words)


def respond(
    game: GameName,
    /,
    *,
    against: Annotated[
        str,
        Parameter(
            help=f"Name the other player: {WAYS}. Several, each with a weight, as in "
            "hold=20:0.7,hold=10:0.3, are a field: one of them, drawn by weight, plays the whole "
            "game."
        ),
    ],
    player: int = 1,
    settings: GameSettings = None,
    objective: ObjectiveOptions = OBJECTIVE,
    tolerance: float = 1e-9,
    compile: Compile = "auto",
    output: OutputOptions = OUTPUT,
) -> None:
    """Find the best response to one player, or to a field: one of several, drawn by weight.

    Parameters
    ----------
    player
        Say who answers: 1 for the first player, 2 for the second.
    tolerance
        Allow this distance between the bounds of a value.
    """
    wanted = objective.make()
    checked_number("tolerance", tolerance)
    made, model, solve = compiled_game(game, settings, compile, output, command="respond")
    if not 1 <= player <= model.num_players:
        message = f"--player {player}: the players are 1 to {model.num_players}."
        raise InvalidParameterError(message)
    given, weights = read_field(against, model, solve)
    opponents: Any = list(given.values())
    if weights:
        opponents = {given[name]: weight for name, weight in weights.items()}
    found = gamedp.best_response(model, opponents, player - 1, wanted, tolerance=tolerance)
    pairs = [
        ("against", against),
        *report.bounded(found.value(), *found.bounds(), player=found.player),
    ]
    if found.told is not None:
        pairs.append(("if told", f"{report.between(found.told)}   if one were told who plays"))
    pairs += [
        ("guarantee", found.guarantee.value),
        ("status", found.status.value),
        ("size", f"{found.solution.model.num_states:,} states"),
    ]
    report.show(output, game, made, {"against": against} | found.facts(), pairs)


def _words(order: list[str], found: Evaluation, plies: int | None) -> Iterator[tuple[str, str]]:
    """Yield the results of some players in words."""
    count = found.chain.of.num_players
    yield "players", " against ".join(order)
    for player in range(count if count > 2 else 1):
        bounds = found.bounds(player=player)
        value, width = report.bounded(found.value(player=player), *bounds, player=None)
        seat = f" as {report.player_name(player)}" if count > 1 else ""
        yield value[0], f"{value[1]}   for {order[player]}{seat}"
        yield width
    endless = math.isinf(found.mean_plies)
    yield "plies", "it may never end" if endless else f"{found.mean_plies:.10g} on average"
    if plies is not None:
        yield "not over", f"{report.between(found.unfinished(plies))}   after {plies:,} plies"
    yield "guarantee", found.guarantee.value
    yield "status", found.status.value
