"""How long it takes until gamedp is there.

The second start of `gamedp solve wubbel`, as a whole process, beside `python -c "import numba"`,
and `import gamedp` beside `python -c pass`. The first start, with the caches for compiled code
still empty, is stated apart: it compiles the kernels and the rules. Seconds are on the clock.
"""

from __future__ import annotations

import sys
import tempfile

import attrs
import measure

COMMAND_LINE = "import sys; from gamedp.cli import main; sys.exit(main())"
LOADED = "import sys, gamedp; print(*sorted({'numba', 'numpy', 'scipy'} & set(sys.modules)))"
AT_MOST = 2.0  # times the import of numba: the goal
BEYOND = 0.1  # seconds that `import gamedp` may take beyond Python's own start


def python(text: str, *arguments: str) -> list[str]:
    """Return the command that runs a line of Python."""
    return [sys.executable, "-c", text, *arguments]


def of_the_command(quick: bool, rounds: int) -> list[measure.Row]:
    arguments = ["--set", "goal=10"] if quick else []
    command = python(COMMAND_LINE, "solve", "wubbel", *arguments)
    words = " ".join(["gamedp solve wubbel", *arguments])
    with tempfile.TemporaryDirectory(prefix="gamedp-start-") as folder:
        caches = {"GAMEDP_CACHE_DIR": f"{folder}/rules", "NUMBA_CACHE_DIR": f"{folder}/kernels"}
        environment = measure.with_bytecode(folder) | caches
        cold = measure.run_child(command, environment)
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
    agrees = value_in(cold.output) == value_in(last.output)
    first = measure.Row(
        what=f"{words}: first start, caches empty",
        ours=cold.seconds,
        facts={"processor seconds": cold.processor_seconds},
    )
    facts = {"processor seconds": last.processor_seconds}
    return [first, attrs.evolve(warm, agrees=agrees, facts=facts)]


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
    return [*of_the_command(quick, rounds), *of_the_import(rounds)]


if __name__ == "__main__":
    sys.exit(measure.main(start))
