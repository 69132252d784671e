"""``gamedp evaluate`` and ``gamedp respond``: the values of policies, and the best response."""

from __future__ import annotations

import math
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
from gamedp.runtime.options import values_of
from gamedp.solvers.asked import checked_number

if TYPE_CHECKING:
    from gamedp.policies import Evaluation, Response

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
    if output.json:
        facts = [_facts(*each, how.plies) for each in found]
        head = {"game": game, "parameters": values_of(made)}
        report.print_json({**head, **facts[0]} if len(facts) == 1 else {**head, "seats": facts})
        return
    pairs = [("game", report.game_words(made))]
    for order, evaluation in found:
        pairs += _words(order, evaluation, how.plies)
    if how.both_seats:
        first, second = found[0][1].value(), found[1][1].value(player=1)
        pairs.append(("both seats", f"{first + (second - first) / 2!r}   for {names[0]}"))
    print(report.lines(pairs))


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
    if output.json:
        head = {"game": game, "parameters": values_of(made), "against": against}
        report.print_json({**head, **_facts_of_answer(found)})
        return
    low, high = found.bounds()
    pairs = [
        ("game", report.game_words(made)),
        ("against", against),
        *report.bounded(found.value(), low, high, player=found.player),
    ]
    if found.told is not None:
        pairs.append(("if told", f"{_between(found.told)}   if one were told who plays"))
    pairs += [
        ("guarantee", found.guarantee.value),
        ("status", found.status.value),
        ("size", f"{found.solution.model.num_states:,} states"),
    ]
    print(report.lines(pairs))


def _facts(order: list[str], found: Evaluation, plies: int | None) -> dict[str, Any]:
    """Return the results of some players, for JSON."""
    count = found.chain.of.num_players
    bounds = [found.bounds(player=player) for player in range(count)]
    length = found.mean_plies_bounds
    left = {} if plies is None else {"plies": plies, "unfinished": found.unfinished(plies)}
    return {
        "players": order,
        "values": [found.value(player=player) for player in range(count)],
        "lower": [low for low, _ in bounds],
        "upper": [high for _, high in bounds],
        "mean_plies": found.mean_plies,
        "mean_plies_bounds": length,
        **left,
        "guarantee": found.guarantee.name,
        "status": found.status.name,
        "states": found.chain.model.num_states,
    }


def _words(order: list[str], found: Evaluation, plies: int | None) -> list[tuple[str, str]]:
    """Return the same in words."""
    count = found.chain.of.num_players
    pairs = [("players", " against ".join(order))]
    for player in range(count if count > 2 else 1):
        low, high = found.bounds(player=player)
        value, width = report.bounded(found.value(player=player), low, high, player=None)
        whose = f"   for {order[player]}"
        if count > 1:
            whose += f" as {report.player_name(player)}"
        pairs += [(value[0], value[1] + whose), width]
    length = "it may never end" if math.isinf(found.mean_plies) else f"{found.mean_plies:.10g}"
    pairs.append(("plies", length if length[0] == "i" else f"{length} on average"))
    if plies is not None:
        pairs.append(("not over", f"{_between(found.unfinished(plies))}   after {plies:,} plies"))
    return [*pairs, ("guarantee", found.guarantee.value), ("status", found.status.value)]


def _between(bounds: tuple[float, float]) -> str:
    low, high = bounds
    return (
        report.exactly(low) if low == high else f"{report.exactly(low)} to {report.exactly(high)}"
    )


def _facts_of_answer(found: Response) -> dict[str, Any]:
    """Return the facts of a best response, for JSON."""
    low, high = found.bounds()
    told = {} if found.told is None else {"told": found.told}
    return {
        "player": found.player + 1,
        "value": found.value(),
        "lower": low,
        "upper": high,
        **told,
        "guarantee": found.guarantee.name,
        "status": found.status.name,
        "states": found.solution.model.num_states,
    }
