"""Calls of the verbs on policies as a program of a user makes them, for the type checker.

`mypy` reads this file as strictly as the library: what is right has a type, and what is wrong is an
error, which a comment expects. A test runs the right calls.
"""

from __future__ import annotations

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.matches import Matches, MatchesState
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.stages import Position


def one(state: MatchesState) -> int:
    """Take one match."""
    return 1 if state.left else 0


def either(_state: MatchesState) -> dict[int, float]:
    """Let chance decide."""
    return {1: 0.5, 2: 0.5}


def first(position: Position) -> int:
    """Take the first action."""
    return min(gamedp.stages.Flattened(SMALL).actions(position))


SMALL = Kniffel(dice=1, faces=2, throws=1, threshold=3)


def right_calls() -> list[float]:
    """Return the values of all kinds of games by all kinds of policies."""
    game = Matches(matches=5)
    model = gamedp.compile(game, compile="never")
    solution = gamedp.solve(model)
    uniform = gamedp.Policy.uniform(model)
    always = gamedp.Policy.from_function(model, one)
    random = gamedp.play.RandomPlayer(game)
    staged = gamedp.compile(SMALL, compile="never")
    best = gamedp.solve(staged)
    evaluation: gamedp.policies.Evaluation = gamedp.evaluate(model, [solution, one])
    response: gamedp.policies.Response = gamedp.best_response(model, {solution: 0.5, always: 0.5})
    table: gamedp.policies.CrossTable = gamedp.cross_table(model, {"best": solution, "one": one})
    found: gamedp.simulation.Simulation = gamedp.simulate(staged, best, games=10)
    pairs: gamedp.simulation.PairedSimulation = gamedp.simulation.simulate_pairs(
        Wubbel(goal=4), [Hold(2), Hold(3)], pairs=10, compile="never"
    )
    walk = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    trace: gamedp.policies.Trace = gamedp.policies.trace_sweeps(
        walk, gamedp.Discounted(0.5), policy=gamedp.Policy.uniform(walk), sweeps=2
    )
    return [
        evaluation.value(),
        gamedp.evaluate(game, [random, one], compile="never").value(),
        gamedp.evaluate(model, [solution.policy, uniform]).value(),
        gamedp.evaluate(SMALL, first).value(),
        gamedp.evaluate(staged, [best]).value(),
        response.value(),
        gamedp.best_response(game, one, compile="never").value(),
        gamedp.exploitability(model, [solution, either]).upper,
        float(table.means[0]),
        gamedp.policies.greatest_survival(game, 3, compile="never").bounds(3)[1],
        found.means[0],
        gamedp.simulate(SMALL, [first], games=10, compile="never").means[0],
        pairs.means[0],
        float(trace.values[-1, 0]),
    ]


def wrong_calls(model: gamedp.Model) -> None:
    """Call with what is no game, and no policy."""
    gamedp.evaluate("matches", one)  # type: ignore[arg-type]
    gamedp.evaluate(model, "one")  # type: ignore[arg-type]
    gamedp.evaluate(model, [one, 0.5j])  # type: ignore[list-item]
    gamedp.best_response(gamedp.compile(SMALL), one)  # type: ignore[arg-type]
    gamedp.cross_table(model, [one, either])  # type: ignore[arg-type]
    gamedp.exploitability(3, [one, either])  # type: ignore[arg-type]
    gamedp.simulate(model, [one, either], compile="often")  # type: ignore[arg-type]
    gamedp.simulation.simulate_pairs(model, one)  # type: ignore[arg-type]
