"""What a server of pages answers when many play at once.

`gamedp serve` in a process of its own; sixteen users play at random, each with a connection kept
open, and look back at their game after every fifth action. Seconds are on the clock, the users'
own work in this process included; how much of the processor the server takes for an answer is told
beside it, which other programs on the machine do not change much.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import measure
import numpy as np

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Nim
from gamedp.games.wubbel import Wubbel

if TYPE_CHECKING:
    from collections.abc import Iterator

USERS = 16
GAMES = {
    "wubbel": {"goal": 20},
    "nim": {"heaps": [3, 4, 5]},
    "mancala": {"pits": 3, "stones": 2},
}
A_SECOND = 300  # positions that are answered
MEDIAN, RARELY = 0.1, 0.25  # seconds that a click may take: half of all, and 99 %
AN_ANSWER = 0.005  # seconds of the server's processor


@contextlib.contextmanager
def serving() -> Iterator[tuple[str, int, int]]:
    """Start the server; yield its host and port, and the number of its process."""
    games = ",".join(GAMES)
    code = "from gamedp.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, "serve", f"--games={games}", "--port=0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = (re.search(r"http://([^:/]+):(\d+)/", line) for line in process.stdout or ())
            found = next(match for match in lines if match)
            yield found[1], int(found[2]), process.pid
        finally:
            process.terminate()


def processor_seconds(process: int) -> float | None:
    """Return what a process has taken of the processor so far; None where the system hides it."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@attrs.define
class User:
    """Plays games at random, and counts how long each answer takes."""

    host: str
    port: int
    seed: int
    clicks: list[float] = attrs.field(factory=list)
    looks: list[float] = attrs.field(factory=list)
    seen: list[tuple[str, list[int], list[int], float]] = attrs.field(factory=list)

    def play(self, answers: int) -> None:
        """Go on until there are so many positions."""
        rng = np.random.default_rng(self.seed)
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        while len(self.clicks) < answers:
            name = list(GAMES)[rng.integers(len(GAMES))]
            answer = self.ask(connection, name, "position", {"line": {}})
            while not answer["over"] and len(self.clicks) < answers:
                action = answer["actions"][rng.integers(len(answer["actions"]))]["action"]
                then = {"action": action, "seed": int(rng.integers(2**32))}
                line = answer["line"]
                answer = self.ask(connection, name, "position", {"line": line, "then": then})
                line = answer["line"]
                if len(line["actions"]) % 5 == 0:
                    self.ask(connection, name, "history", {"line": line})
                if answer["value"] is not None:
                    number = answer["value"]["number"]
                    self.seen.append((name, line["actions"], line["outcomes"], number))
        connection.close()

    def ask(self, connection: Any, name: str, what: str, body: dict[str, Any]) -> Any:
        """Return an answer; ask again while the game is being solved."""
        text = json.dumps({"parameters": GAMES[name], **body})
        headers = {"content-type": "application/json"}
        while True:
            began = time.perf_counter()
            connection.request("POST", f"/api/games/{name}/{what}", text, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status == 200:
                taken = time.perf_counter() - began
                (self.clicks if what == "position" else self.looks).append(taken)
                return answer
            if response.status not in {202, 503}:
                raise ValueError(answer)


def are_right(users: list[User]) -> bool:
    """Say whether the values of some answers are those of the library."""
    games = {
        "wubbel": Wubbel(goal=20),
        "nim": Nim(heaps=(3, 4, 5)),
        "mancala": Mancala(pits=3, stones=2),
    }
    solutions = {name: gamedp.solve(game, tolerance=1e-9) for name, game in games.items()}
    for name, actions, outcomes, number in (each for user in users for each in user.seen[::20]):
        game, state = games[name], games[name].initial_state()
        for action, outcome in zip(actions, outcomes, strict=True):
            state = list(game.outcomes(state, action))[outcome][1]
        if solutions[name].value(state, game.player(state)) != number:
            return False
    return True


def server(quick: bool) -> list[measure.Row]:
    answers = 20 if quick else 400
    with serving() as (host, port, process):
        first = User(host, port, USERS)
        first.play(30)  # solves what has to be solved
        users = [User(host, port, seed) for seed in range(USERS)]
        before = processor_seconds(process)
        began = time.perf_counter()
        with ThreadPoolExecutor(USERS) as pool:
            list(pool.map(lambda user: user.play(answers), users))
        seconds = time.perf_counter() - began
        after = processor_seconds(process)
    clicks = sorted(taken for user in users for taken in user.clicks)
    looks = sorted(taken for user in users for taken in user.looks)
    rate = len(clicks) / seconds
    rarely = clicks[int(0.99 * (len(clicks) - 1))]
    facts = {"positions": len(clicks), "histories": len(looks), "users": USERS}
    rows = []
    if before is not None and after is not None:
        each = (after - before) / (len(clicks) + len(looks))
        what = "processor time of the server, an answer"
        rows.append(measure.Row(what=what, ours=each, value=each, goal=("<=", AN_ANSWER)))
    return [
        measure.Row(
            what="positions a second, with a history now and then",
            ours=rate,
            unit="/s",
            value=rate,
            goal=(">=", A_SECOND),
            agrees=are_right(users),
            facts=facts,
        ),
        measure.Row(
            what="a position, median",
            ours=statistics.median(clicks),
            value=statistics.median(clicks),
            goal=("<=", MEDIAN),
        ),
        measure.Row(what="a position, 99 %", ours=rarely, value=rarely, goal=("<=", RARELY)),
        measure.Row(what="a history, median", ours=statistics.median(looks)),
        *rows,
    ]
