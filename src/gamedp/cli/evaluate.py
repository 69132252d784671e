"""``gamedp evaluate``, ``respond``, ``simulate``: policies computed, and played by the million."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

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
    ruled,
    seated_in_stages,
)
from gamedp.cli.texts import refuse
from gamedp.errors import UnsupportedProblemError
from gamedp.policies.arguments import check_count
from gamedp.policies.lengths import MOST_PLIES
from gamedp.rules.game import is_staged
from gamedp.runtime.options import checked_whole
from gamedp.simulation.result import check_stopping
from gamedp.simulation.simulate import counts, refuse_by_rules, refuse_others
from gamedp.solvers.request import checked_number

if TYPE_CHECKING:
    from gamedp.policies import Evaluation
    from gamedp.simulation import PairedSimulation, Simulation


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
        refuse(f"--both-seats is for two players; these are {len(names)}.")
    if how.plies is not None:
        checked_whole("plies", how.plies, 0, MOST_PLIES)
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
        refuse(f"--player {player}: the players are 1 to {model.num_players}.")
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


logger = logging.getLogger("gamedp")

P_VALUE = "probability of a deviation at least this large if the exact value is correct"

P_VALUE_OF_TOTALS = "at most the probability of such a deviation if the exact totals are correct"


@Parameter(name="*", group=Group("Games", sort_key=1))
@attrs.frozen(kw_only=True)
class SimulationOptions:
    """The number of games, and how they are played.

    Parameters
    ----------
    games : int
        Play this many games.
    seed : int
        Set the seed of chance; a new one each time if not given.
    threads : int
        Use this many threads; the games are the same for any number.
    max_plies : int
        Stop a game after this many plies; it counts as unfinished.
    width : float
        Stop once the mean of the first player is known within an interval as narrow as this, or
        after --games. Where something is earned on the way, the interval is approximate.
    confidence : float
        Set the confidence of that interval.
    pairs : bool
        Play pairs of games, with the seats changed and the same dice, and compare the two players.
    by_rules : bool
        Follow the rules from position to position, for a game that is too large for a table of all
        positions. There is no exact value then.
    """

    players: Annotated[str, Parameter(help=f"Name who plays, with commas between them: {WAYS}.")]
    games: int = 100_000
    seed: int | None = None
    threads: int = 1
    max_plies: int = 1_000_000
    width: float | None = None
    confidence: float = 0.95
    pairs: Flag = False
    by_rules: Flag = False


def simulate(
    game: GameName,
    /,
    *,
    how: SimulationOptions,
    settings: GameSettings = None,
    compile: Compile = "auto",
    output: OutputOptions = OUTPUT,
) -> None:
    """Simulate millions of games between given players, and compare with the exact value.

    Of a staged game, an exact value is known where each player is `optimal`.
    """
    made = make_game(game, settings or ())
    names = names_of_players(how.players)
    _refuse(how, made, len(names))
    in_stages = is_staged(made)
    place: Any = made
    if in_stages:
        seated = seated_in_stages(names, made, compile, output)
    elif how.by_rules:
        seated = [ruled(name, gamedp.rules.Rules(made), _refuse_to_solve) for name in names]
    else:
        _, place, solve = compiled_game(game, settings, compile, output, command="simulate")
        players = read_players(how.players, place, solve)
        seated = [players[name] for name in names]
    has_table = not (in_stages or how.by_rules)
    options: dict[str, Any] = {
        "seed": how.seed,
        "threads": how.threads,
        "max_plies": how.max_plies,
        "by_rules": how.by_rules,
        "compile": compile,
    }
    if how.pairs:
        both = gamedp.simulation.simulate_pairs(place, seated, pairs=how.games // 2, **options)
        orders = [seated, seated[::-1]] if has_table else []
        exact = [gamedp.evaluate(place, order) for order in orders]
        p_value = _p_value(both, exact) if exact else None
        facts = both.facts()
        if exact:
            facts |= {"values": _values(exact), "p_value": p_value}
        meaning, words = P_VALUE, _words_of_pairs(both, exact, names)
    else:
        found = gamedp.simulate(
            place, seated, games=how.games, width=how.width, confidence=how.confidence, **options
        )
        true = gamedp.evaluate(place, seated) if has_table else _solution_of_all(seated)
        p_value, meaning = (None, "") if true is None else _agreement(found, true)
        facts = found.facts()
        if true is not None:
            values = [true.value(player=player) for player in range(len(names))]
            facts |= {"values": values, "p_value": p_value}
        words = _simulation_words(found, true, names, how.width)
    if p_value is not None:
        words = itertools.chain(words, [("p-value", f"{p_value:.3g}   {meaning}")])
    report.show(output, game, made, {"players": names} | facts, words)


def _refuse(how: SimulationOptions, made: Any, num_players: int) -> None:
    """Refuse options that make no sense, before any long work."""
    if how.pairs and (how.width is not None or how.games % 2):
        refuse("--pairs takes an even number of --games, and no --width.")
    counts(how.threads, games=how.games, max_plies=how.max_plies)
    if how.seed is not None:
        checked_whole("seed", how.seed, 0, math.inf)
    if how.width is not None:
        check_stopping(how.width, how.confidence)
    in_stages = is_staged(made)
    if in_stages:
        refuse_by_rules(how.by_rules)
    rules = (gamedp.rules.StagedRules if in_stages else gamedp.rules.Rules)(made)
    if how.pairs:
        refuse_others(num_players, rules)
    check_count(num_players, rules.num_players)


def _solution_of_all(seated: Sequence[Any]) -> gamedp.StagedSolution | None:
    """Return the solution that all players follow, if there is one."""
    first = seated[0]
    follows = isinstance(first, gamedp.StagedSolution) and all(one is first for one in seated)
    return first if follows else None


def _agreement(
    found: Simulation, true: Evaluation | gamedp.StagedSolution
) -> tuple[float | None, str]:
    """Return the p-value of the games, if all have ended, and its meaning in words."""
    if found.unfinished:
        return None, ""
    if isinstance(true, gamedp.StagedSolution):
        try:
            return found.agrees_with(gamedp.stages.distribution(true)), P_VALUE_OF_TOTALS
        except UnsupportedProblemError as error:  # totals are not integers, or contexts form cycles
            logger.info("there is no distribution of totals: %s", error)
    return _p_value_of(lambda: found.agrees_with(true)), P_VALUE


def _p_value_of(compute: Callable[[], float]) -> float | None:
    """Return a p-value, None if the games are too few."""
    try:
        return compute()
    except UnsupportedProblemError as error:
        logger.info("there is no p-value: %s", error)
        return None


def _refuse_to_solve() -> NoReturn:
    refuse("--by-rules makes no table of positions, so the optimal policy is not known.")


def _simulation_words(
    found: Simulation,
    true: Evaluation | gamedp.StagedSolution | None,
    names: Sequence[str],
    width: float | None,
) -> Iterator[tuple[str, str]]:
    """Yield the results of games in words, without the p-value."""
    yield "players", " against ".join(names)
    yield "games", f"{found.games:,}, of which {found.unfinished:,} unfinished"
    yield "seed", f"{found.seed}"
    for player, name in enumerate(names):
        whose = f"{name} as {report.player_name(player)}" if len(names) > 1 else name
        error = _give_or_take(found.standard_error(player), "games")
        yield "mean", f"{_mean(found.means[player])}   for {whose}, {error}"
        if true is not None:
            yield "value", f"{true.value(player=player)!r}"
    known = found.sequential
    if known is not None and width is not None:
        rough = ", approximate" if known.is_approximate else ""
        enough = "" if known.width <= width else ", not as narrow as asked"
        words = f"with {known.confidence:.6g} confidence, at look {known.looks}{rough}{enough}"
        yield "interval", f"{known.low:.6g} .. {known.high:.6g}   {words}"
    yield "plies", f"{found.mean_plies:.10g} on average"


def _mean(mean: float) -> str:
    return "unknown" if math.isnan(mean) else f"{mean:.10g}"


def _give_or_take(error: float, of: str) -> str:
    """Return the uncertainty of a mean in words."""
    few = f"no error: fewer than two {of} have ended"
    return few if math.isnan(error) else f"give or take {error:.2g}"


def _words_of_pairs(
    both: PairedSimulation, exact: list[Evaluation], names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the results of pairs of games in words, without the p-value."""
    yield "players", " against ".join(names)
    yield "pairs", f"{both.pairs:,} with the same dice, of which {both.unfinished:,} unfinished"
    yield "seed", f"{both.seed}"
    for player, name in enumerate(names):
        error = _give_or_take(both.standard_error, "pairs")
        yield "mean", f"{_mean(both.means[player])}   for {name} in both seats, {error}"
        if exact:
            yield "value", f"{_values(exact)[player]!r}"
    if both.finished > 1:
        alone = f"{both.independent_error:.2g} if every game had dice of its own"
        yield "error", f"{both.standard_error:.2g}; {alone}"


def _values(exact: list[Evaluation]) -> list[float]:
    """Return the average value of each player over both seats."""
    first, second = exact
    return [(first.value(player=player) + second.value(player=1 - player)) / 2 for player in (0, 1)]


def _p_value(both: PairedSimulation, exact: list[Evaluation]) -> float | None:
    """Return the p-value of the pairs, if all games have ended."""
    if both.unfinished:
        return None
    return _p_value_of(lambda: both.agrees_with(exact[0], exact[1]))
