"""What it takes to ask a program instead of a function.

Games of Wubbel between two programs over pipes, the example bot in C (in Python without a
compiler), beside the same games between functions that play the same. Seconds are on the clock,
for most of them are the programs' and the system's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import attrs
import measure

import gamedp
from gamedp.games.wubbel import Hold, Wubbel

BOTS = Path(__file__).resolve().parent.parent / "examples" / "bots"
A_QUESTION = 1e-3  # seconds that one may take: the goal
A_SECOND = 300  # games of two idle programs: the goal


def example_bot(folder: str) -> tuple[str, ...]:
    """Return the command of the bot in C, or of that in Python."""
    path = Path(folder, "hold")
    try:
        subprocess.run(["cc", "-O2", "-o", path, BOTS / "hold.c"], check=True)
    except FileNotFoundError:
        return (sys.executable, str(BOTS / "hold.py"))
    return (str(path),)


def referee(quick: bool) -> list[measure.Row]:
    game, games = Wubbel(), 10 if quick else 600
    records: dict[str, Any] = {}

    def play(side: str, player: Any) -> float:
        began = time.perf_counter()
        result = gamedp.play.match(game, player, player, games=games, seed=1)
        taken = time.perf_counter() - began
        records[side] = result.records
        return taken

    with tempfile.TemporaryDirectory(prefix="gamedp-bots-") as folder:
        command = example_bot(folder)
        bot = gamedp.play.Program(command, seconds=600, start_seconds=60)
        row = measure.compare(
            f"wubbel: {games} games between programs",
            lambda: play("programs", bot),
            lambda: play("functions", Hold(20)),
            rounds=1 if quick else 5,
            beside="functions",
        )
    questions = sum(
        state.turn > 0 for record in records["programs"] for state in record.states[: record.plies]
    )
    facts = {"program": Path(command[-1]).name, "questions": questions}
    a_question = (row.ours - (row.theirs or 0.0)) / questions
    agrees = records["programs"] == records["functions"]
    return [
        attrs.evolve(row, agrees=agrees, facts=facts),
        measure.Row(
            what="wubbel: a question, beyond that to a function",
            ours=a_question,
            value=a_question,
            goal=("<=", A_QUESTION),
        ),
        measure.Row(
            what="wubbel: games a second between two programs",
            ours=games / row.ours,
            unit="/s",
            value=games / row.ours,
            goal=(">=", A_SECOND),
        ),
    ]
