"""Games of Wubbel between two policies, beside plain C with rules and policies written into it.

Both players save as soon as a turn has brought 20 points. Ours walks the chain that the two
policies leave, and finds that chain each time; or it follows the compiled rules from position to
position. Seconds are of processor time, on one thread, but on the clock for the rows without a
rival. Both sides must win as often as the exact
value says, within five standard errors, and take as many plies.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import measure

import gamedp
from gamedp.games.wubbel import Hold, Wubbel

HOLD = 20
ON_CHAIN, BY_RULES = 3.0, 6.0  # times the peer's time at most: the goals
GAMES_TAKE, TABLE_TAKES = 15.0, 120.0  # seconds on the clock at most: the goals
FAR = 5  # standard errors
SAME_PLIES = 0.01  # relatively


def games(quick: bool) -> list[measure.Row]:
    count = 20_000 if quick else 2_000_000
    peer = measure.build_peer("games")
    game, hold = Wubbel(), Hold(HOLD)
    model = gamedp.compile(game)
    policy = gamedp.Policy.from_function(model, hold.choose)
    value = gamedp.evaluate(model, [policy, policy]).value()
    gamedp.simulate(game, [hold, hold], games=1, by_rules=True)  # compiles

    def on_chain() -> gamedp.simulation.Simulation:
        return gamedp.simulate(model, [policy, policy], games=count, seed=1)

    def by_rules() -> gamedp.simulation.Simulation:
        return gamedp.simulate(game, [hold, hold], games=count, seed=1, by_rules=True)

    rounds = 1 if quick else 5
    family = {f"hold={at}": Hold(at) for at in range(1, 4 if quick else 51)}
    many = 20_000 if quick else 10_000_000

    def on_two_threads() -> float:
        return _seconds(lambda: gamedp.simulate(game, [hold, hold], games=many, threads=2))

    def table() -> float:
        return _seconds(lambda: gamedp.cross_table(model, {"best": best, **family}))

    best = gamedp.solve(model, tolerance=1e-9)
    return [
        _alone(f"wubbel: {many:,} games on two threads", on_two_threads(), GAMES_TAKE),
        _alone(f"wubbel: {len(family) + 1} policies, each against each", table(), TABLE_TAKES),
        _row("on the chain", on_chain, count, value, peer, rounds, goal=("<=", ON_CHAIN)),
        _row("by the rules alone", by_rules, count, value, peer, rounds, goal=("<=", BY_RULES)),
    ]


def _seconds(action: Callable[[], object]) -> float:
    """Return how long something takes on the clock."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _alone(what: str, taken: float, most: float) -> measure.Row:
    """Return the row of something without a rival."""
    return measure.Row(what=what, ours=taken, beside="none", value=taken, goal=("<=", most))


def _row(
    how: str,
    play: Callable[[], gamedp.simulation.Simulation],
    count: int,
    value: float,
    peer: Path | None,
    rounds: int,
    **more: Any,
) -> measure.Row:
    """Measure one way to play, and check what it brings."""
    found: dict[str, Any] = {}

    def ours() -> float:
        return measure.processor_seconds(lambda: found.update(games=play()))

    def theirs() -> float:
        found["peer"] = measure.run_peer(peer, Wubbel().goal, HOLD, HOLD, count, 1)
        return float(found["peer"]["seconds"])

    row = measure.compare(
        f"wubbel: {count:,} games of hold-at-{HOLD} against itself, {how}",
        ours,
        None if peer is None else theirs,
        rounds=rounds,
        beside="C",
        **more,
    )
    simulation = found["games"]
    rates = [simulation.count(1.0) / count]
    agrees = None
    if peer is not None:
        theirs_found = found["peer"]
        rates.append(theirs_found["wins"] / count)
        reach = FAR * math.sqrt(value * (1 - value) / count)
        plies = theirs_found["plies"] / count
        agrees = all(abs(rate - value) <= reach for rate in rates) and (
            abs(simulation.mean_plies / plies - 1) <= SAME_PLIES
        )
    facts = {
        "exact": value,
        "wins": rates,
        "plies": simulation.mean_plies,
        "games a second": count / row.ours,
    }
    return attrs.evolve(row, agrees=agrees, facts=facts)
