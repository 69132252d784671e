"""How long it takes until gamedp is there.

The second start of `gamedp solve wubbel`, as a whole process, beside `python -c "import numba"`,
and `import gamedp` beside `python -c pass`. The first start, with the caches for compiled code
still empty, is stated apart: it compiles the kernels and the rules. And a game of 20,000 states,
each time after an edit of its rules: a script that solves it, as a whole process. Seconds are on
the clock.
"""

from __future__ import annotations

import pathlib
import statistics
import sys
import tempfile

import attrs
import measure

COMMAND_LINE = "import sys; from gamedp.cli import main; sys.exit(main())"
LOADED = "import sys, gamedp; print(*sorted({'numba', 'numpy', 'scipy'} & set(sys.modules)))"
CACHES = ("GAMEDP_CACHE_DIR", "NUMBA_CACHE_DIR")
FIRST_STARTS = 3
COMPILED = 8.0  # seconds that the first start may take, in which kernels and rules are compiled
AT_MOST = 2.0  # times the import of numba: the goal
BEYOND = 0.1  # seconds that `import gamedp` may take beyond Python's own start
EDITED = 0.7  # seconds from the start of Python to the value, after an edit

SCRIPT = """
from typing import NamedTuple
import gamedp


class Place(NamedTuple):
    x: int
    y: int


class Grid:
    def initial_state(self):
        return Place(0, 0)

    def is_terminal(self, state):
        return state.x >= SIDE or state.y >= SIDE

    def actions(self, state):
        return range(2)

    def outcomes(self, state, action):
        yield 0.7, Place(state.x + action, state.y + 1 - action)
        yield 0.3, state

    def payoff(self, state, player):
        return state.x + EDIT * 0.0


solution = gamedp.solve(Grid())
print(solution.statistics.states, "states, value", solution.value())
"""


def python(text: str, *arguments: str) -> list[str]:
    """Return the command that runs a line of Python."""
    return [sys.executable, "-c", text, *arguments]


def of_the_command(quick: bool, rounds: int) -> list[measure.Row]:
    arguments = ["--set", "goal=10"] if quick else []
    command = python(COMMAND_LINE, "solve", "wubbel", *arguments)
    words = " ".join(["gamedp solve wubbel", *arguments])
    with tempfile.TemporaryDirectory(prefix="gamedp-start-") as folder:
        colds = []
        for first in range(1 + min(rounds, FIRST_STARTS)):
            caches = {name: f"{folder}/{name}{first}" for name in CACHES}
            environment = measure.with_bytecode(folder) | caches
            colds.append(measure.run_child(command, environment))
        del colds[0]  # it has written the bytecode, as an installation does
        warm = measure.compare(
            f"{words}: second start",
            lambda: measure.run_child(command, environment).seconds,
            lambda: measure.run_child(python("import numba"), environment).seconds,
            rounds=rounds,
            beside="import numba",
            goal=("<=", AT_MOST),
        )
        last = measure.run_child(command, environment)
    # The rounds are alike to a user, too: the same value, whether compiled just now or before.
    agrees = len({value_in(each.output) for each in [*colds, last]}) == 1
    seconds = statistics.median(each.seconds for each in colds)
    first = measure.Row(
        what=f"{words}: first start, caches empty",
        ours=seconds,
        value=seconds,
        goal=("<=", COMPILED),
        facts={"processor seconds": statistics.median(each.processor_seconds for each in colds)},
    )
    facts = {"processor seconds": last.processor_seconds}
    return [first, attrs.evolve(warm, agrees=agrees, facts=facts)]


def after_an_edit(quick: bool, rounds: int) -> measure.Row:
    with tempfile.TemporaryDirectory(prefix="gamedp-start-") as folder:
        environment = measure.with_bytecode(folder) | {name: f"{folder}/{name}" for name in CACHES}
        script = pathlib.Path(folder, "grid.py")
        children = []
        for edit in range(rounds + 1):
            text = SCRIPT.replace("SIDE", "12" if quick else "140").replace("EDIT", str(edit + 1))
            script.write_text(text, encoding="utf-8")
            children.append(measure.run_child([sys.executable, str(script)], environment))
    seconds = statistics.median(child.seconds for child in children[1:])
    return measure.Row(
        what="a game's first value after an edit of its rules",
        ours=seconds,
        value=seconds,
        goal=("<=", EDITED),
        agrees=len({value_in(child.output) for child in children}) == 1,
        facts={
            "processor seconds": statistics.median(
                child.processor_seconds for child in children[1:]
            ),
            "found": value_in(children[-1].output),
        },
    )


def value_in(output: str) -> str:
    """Return the line that tells the value."""
    return next((line for line in output.splitlines() if "value" in line), output)


def of_the_import(rounds: int) -> list[measure.Row]:
    def ours() -> float:
        return measure.run_child(python("import gamedp")).seconds

    def theirs() -> float:
        return measure.run_child(python("pass")).seconds

    row = measure.compare("import gamedp", ours, theirs, rounds=rounds, beside="python -c pass")
    beyond = row.ours - (row.theirs or 0.0)
    return [
        row,
        measure.Row(
            what="import gamedp: beyond python -c pass",
            ours=beyond,
            value=beyond,
            goal=("<=", BEYOND),
            facts={"brings along": measure.run_child(python(LOADED)).output.strip() or "nothing"},
        ),
    ]


def start(quick: bool) -> list[measure.Row]:
    rounds = 1 if quick else 9
    return [
        *of_the_command(quick, rounds),
        after_an_edit(quick, rounds),
        *of_the_import(rounds),
    ]
