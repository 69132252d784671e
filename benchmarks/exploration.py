"""From rules to sparse arrays: transitions and states a second, on one core.

Seconds are of processor time, for all that `gamedp.compile` does once the rules have been compiled.
Beside it are the same rules as plain Python, at a smaller size and per transition, and
`peers/explore.c`, plain C that has the rules written into its loop and makes the same arrays. All
models of a size must agree: in their numbers, in the sums of rewards and payoffs, and in a checksum
over every transition. A last row has the same rules compiled without a look at whether integers
overflow.

Then all of the box of Pig is explored with a direct table of codes, beside a table that is looked
up by hashing.
"""

from __future__ import annotations

from typing import Any

import attrs
import measure
import numpy as np
from numba.core.compiler import Compiler
from numpy.typing import NDArray
from problems import SlipGrid

import gamedp
from gamedp.compiler import bridge, explorer
from gamedp.games.wubbel import Wubbel

CHECKS = 1.1  # times as long with checked integers as without them, at most
OF_HASHING = 1 / 1.3  # of the time with hashing
FIELD_BITS = 16  # of a field of a state in the peer's codes


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble words as the peer does."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def summary(model: gamedp.Model, fields: tuple[str, ...]) -> dict[str, Any]:
    """Return what the peer prints of its model; `fields` are the peer's, in its order."""
    names = list(model.states.layout.names())
    columns = model.states.fields().astype(np.uint64)
    codes = np.zeros(model.num_states, np.uint64)
    for place, name in enumerate(fields):
        codes |= columns[:, names.index(name)] << np.uint64(FIELD_BITS * place)
    labels = model.action_labels.astype(np.uint64)
    words = mixed(mixed(np.repeat(codes, np.diff(model.choice_offsets))) + labels)
    words = np.repeat(words, np.diff(model.transition_offsets)) + codes[model.successors]
    checksum = mixed(mixed(words) + model.probabilities.view(np.uint64)).sum(dtype=np.uint64)
    return {
        "states": model.num_states,
        "choices": model.num_choices,
        "transitions": model.num_transitions,
        "terminals": len(model.terminals),
        "rewards": float(model.rewards.sum()),
        "payoffs": float(model.payoffs.sum()),
        "checksum": f"{int(checksum):016x}",
    }


@attrs.frozen
class Case:
    """A game to explore.

    Attributes
    ----------
    name : str
        Of the game; also what the peer calls it.
    game, small : object
        What is explored, and what plain Python explores instead.
    size : int
        Of the game, as the peer takes it.
    fields : tuple of str
        Of the state, in the order of the peer's codes.
    unit : str
        What the goal counts.
    goal : float
        Of these at least in a second.
    """

    name: str
    game: Any
    small: Any
    size: int
    fields: tuple[str, ...]
    unit: str
    goal: float


def unchecked(game: Any) -> Any:
    """Return the same game, whose rules from now on run without a look at their integers."""
    kind = type(f"Unchecked{type(game).__name__}", (type(game),), {})  # rules are kept by name
    twin = kind(**{field.name: getattr(game, field.name) for field in attrs.fields(type(game))})
    checked = dict(bridge.CHECKS)
    bridge.CHECKS["pipeline_class"] = Compiler
    try:
        gamedp.compile(twin, compile="always")
    finally:
        bridge.CHECKS.update(checked)
    return twin


def rows_of(case: Case, rounds: int) -> list[measure.Row]:
    """Return the rows of one game."""
    peer = measure.build_peer("explore")
    kept: dict[str, gamedp.Model] = {}
    printed: dict[str, Any] = {}

    def ours() -> float:
        kept.clear()  # never two at a time
        return measure.processor_seconds(
            lambda: kept.update(model=gamedp.compile(case.game, compile="always"))
        )

    def theirs() -> float:
        printed.update(measure.run_peer(peer, case.name, case.size))
        return float(printed.pop("seconds"))

    def python_per_transition() -> float:
        slow: list[gamedp.Model] = []
        seconds = measure.processor_seconds(
            lambda: slow.append(gamedp.compile(case.small, compile="never"))
        )
        return seconds / slow[0].num_transitions

    in_c = measure.compare(
        f"{case.name} {case.size}: gamedp.compile",
        ours,
        None if peer is None else theirs,
        rounds=rounds,
        beside="C",
    )
    found = summary(kept["model"], case.fields)
    size, seconds = kept["model"].num_bytes, dict(kept["model"].seconds)
    twin = unchecked(case.game)

    def without_checks() -> float:
        kept.clear()
        return measure.processor_seconds(
            lambda: kept.update(model=gamedp.compile(twin, compile="always"))
        )

    checks = measure.compare(
        f"{case.name} {case.size}: with checked integers",
        ours,
        without_checks,
        rounds=rounds,
        beside="without",
        goal=("<=", CHECKS),
    )
    rate = found[case.unit] / in_c.ours
    in_python = measure.compare(
        f"{case.name} {case.size}: a transition of it",
        lambda: ours() / found["transitions"],
        python_per_transition,
        rounds=min(rounds, 3),
        beside="plain Python",
    )
    return [
        measure.Row(
            what=f"{case.name} {case.size}: {case.unit} explored in a second",
            ours=rate,
            unit="",
            value=rate,
            goal=(">=", case.goal),
            facts={
                "bytes a transition": size / found["transitions"],
                "seconds on the clock": seconds,
            },
        ),
        attrs.evolve(in_c, agrees=printed == found if printed else None, facts=found),
        in_python,
        checks,
    ]


def box_row(goal: int, rounds: int) -> measure.Row:
    """Return the row of the box of Pig, beside a table that is looked up by hashing."""
    found: dict[str, str] = {}

    def seconds(factor: int, direct_size: int) -> float:
        kept = explorer.DIRECT_FACTOR, explorer.Explorer.direct_size
        explorer.DIRECT_FACTOR, explorer.Explorer.direct_size = factor, direct_size
        models: list[gamedp.Model] = []
        try:
            taken = measure.processor_seconds(
                lambda: models.append(
                    gamedp.compile(Wubbel.pig(goal), compile="always", states="all")
                )
            )
        finally:
            explorer.DIRECT_FACTOR, explorer.Explorer.direct_size = kept
        found[f"{factor}"] = models[0].digest()
        return taken

    row = measure.compare(
        f"pig {goal}: all of its box",
        lambda: seconds(explorer.DIRECT_FACTOR, explorer.DIRECT_SIZE),
        lambda: seconds(0, 0),
        rounds=rounds,
        beside="hashing",
        goal=("<=", OF_HASHING),
    )
    return attrs.evolve(row, agrees=len(set(found.values())) == 1)


def exploration(quick: bool) -> list[measure.Row]:
    goal, size, rounds = (15, 20, 2) if quick else (100, 1000, 7)
    wubbel = Case(
        "wubbel",
        Wubbel(goal=goal),
        Wubbel(goal=min(goal, 25)),
        goal,
        ("own", "opponent", "turn"),
        "transitions",
        20e6,
    )
    grid = Case(
        "grid",
        SlipGrid(size=size),
        SlipGrid(size=min(size, 50)),
        size,
        ("row", "column"),
        "states",
        3e6,
    )
    pig = box_row(20 if quick else 200, min(rounds, 3))
    return [*rows_of(wubbel, rounds), *rows_of(grid, rounds), pig]
