"""From rules to sparse arrays: transitions and states a second, on one core.

Beside it are the same rules as plain Python, at a smaller size and per transition, and
`peers/explore.c`, plain C that has the rules written into its loop and makes the same arrays. All
models of a size must agree: in their numbers, in the sums of rewards and payoffs, and in a checksum
over every transition.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

import measure
import numpy as np
from numpy.typing import NDArray
from problems import SlipGrid

import gamedp
from gamedp.games.wubbel import Wubbel

FIELD_BITS = 16  # of a field of a state in the peer's codes


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble words as the peer does."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def summary(model: gamedp.Model, fields: list[str]) -> dict[str, Any]:
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


def rows_of(
    name: str, large: Any, small: Any, fields: list[str], goal: tuple[str, float], rounds: int
) -> list[measure.Row]:
    """Return the rows of one game: `goal` is in the unit per second of exploration."""
    unit, least = goal
    peer = measure.build_peer("explore")
    size = next(iter(vars_of(large).values()))
    explored: list[float] = []
    models: dict[str, gamedp.Model] = {}
    printed: list[dict[str, Any]] = []

    def ours() -> float:
        models.clear()  # so that there is never more than one
        taken = measure.processor_seconds(lambda: models.update(model=gamedp.compile(large)))
        explored.append(models["model"].seconds["explore"])
        return taken

    def theirs() -> float:
        printed.append(measure.run_peer(peer, name, size))
        return float(printed[-1]["seconds"])

    in_c = measure.compare(
        f"{name} {size}: gamedp.compile",
        ours,
        None if peer is None else theirs,
        rounds=rounds,
        beside="C",
    )
    model = models.pop("model")
    found = summary(model, fields)
    agrees = None
    if printed:
        seconds = printed[-1].pop("seconds")
        agrees = printed[-1] == found
        printed[-1]["seconds"] = seconds
    count = found[unit]
    rate = count / statistics.median(explored[1:])
    transitions = model.num_transitions
    bytes_each = model.num_bytes / transitions
    del model

    def ours_each() -> float:
        return ours() / transitions

    def python_each() -> float:
        slow: list[gamedp.Model] = []
        taken = measure.processor_seconds(
            lambda: slow.append(gamedp.compile(small, compile="never"))
        )
        return taken / slow[0].num_transitions

    in_python = measure.compare(
        f"{name} {size}: a transition of it",
        ours_each,
        python_each,
        rounds=min(rounds, 3),
        beside="plain Python",
    )
    alone = measure.Row(
        what=f"{name} {size}: {unit} explored in a second",
        ours=rate,
        unit="",
        value=rate,
        goal=(">=", least),
        facts={"choices": found["choices"], "transitions": transitions,
               "bytes a transition": bytes_each},
    )  # fmt: skip
    facts = {"states": found["states"], "checksum": found["checksum"]}
    return [alone, measure.attrs.evolve(in_c, agrees=agrees, facts=facts), in_python]


def vars_of(game: Any) -> dict[str, Any]:
    """Return the parameters of a game."""
    parameters: dict[str, Any] = measure.attrs.asdict(game)
    return parameters


def exploration(quick: bool) -> list[measure.Row]:
    goal, size = (15, 20) if quick else (100, 1000)
    rounds = 2 if quick else 7
    return [
        *rows_of("wubbel", Wubbel(goal=goal), Wubbel(goal=10 if quick else 25),
                 ["own", "opponent", "turn"], ("transitions", 20e6), rounds),
        *rows_of("grid", SlipGrid(size=size), SlipGrid(size=10 if quick else 50),
                 ["row", "column"], ("states", 3e6), rounds),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(measure.main(exploration))
