"""Games that are dealt to workers: the same, to the bit, whoever plays them."""

import os
import sys
import types
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from contextlib import closing

import attrs
import numba
import pytest
from executors import Shuffling, processes

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.games.kniffel import Kniffel
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.runtime.workers import PARTS, deal
from gamedp.simulation import simulate_pairs, staged_games, tally

GAME, SMALL = Wubbel(goal=15), Kniffel(dice=2, faces=2, threshold=3)
PAIR = [Hold(4), Hold(6)]
BLOCK = 16 if numba.config.DISABLE_JIT else 512


def asked():
    return gamedp.play.RandomPlayer(gamedp.stages.Flattened(SMALL))


WAYS = {
    "chain": lambda **more: gamedp.simulate(GAME, PAIR, games=9 * BLOCK + 1, **more),
    "model": lambda **more: gamedp.simulate(
        model := gamedp.compile(GAME), [gamedp.solve(model)] * 2, games=5 * BLOCK, **more
    ),
    "rules": lambda **more: gamedp.simulate(GAME, PAIR, games=9 * BLOCK + 1, by_rules=True, **more),
    "until known": lambda **more: gamedp.simulate(GAME, PAIR, games=99_999, width=0.1, **more),
    "solution": lambda **more: gamedp.simulate(
        SMALL, gamedp.solve(SMALL), games=9 * BLOCK + 1, **more
    ),
    "asked": lambda **more: gamedp.simulate(SMALL, asked(), games=BLOCK + 8, **more),
    "pairs": lambda **more: simulate_pairs(GAME, PAIR, pairs=3 * BLOCK, **more),
    "pairs by rules": lambda **more: simulate_pairs(
        GAME, PAIR, pairs=3 * BLOCK, by_rules=True, **more
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_games_do_not_depend_on_the_workers(way, pool, monkeypatch):
    monkeypatch.setattr(tally, "BLOCK", BLOCK)
    monkeypatch.setattr(staged_games, "GAMES_TOGETHER", 4 * BLOCK)

    def numbers(**more):
        return repr(attrs.asdict(WAYS[way](**more)))

    alone = numbers(seed=5)
    with ThreadPoolExecutor(2) as threads, Shuffling() as shuffling:
        for executor in (threads, shuffling, pool):
            assert numbers(seed=5, executor=executor) == alone
    assert numbers(seed=6) != alone


def test_results_come_in_order_and_in_few_parts(pool):
    handed = []

    def double(calls):
        handed.append(len(calls))
        return (2 * call for call in calls)

    for workers in (1, 3):
        handed.clear()
        with closing(deal(workers, double, range(10 * PARTS - 5))) as found:
            assert list(found) == list(range(0, 20 * PARTS - 10, 2))
        assert len(handed) <= PARTS
    assert list(deal(pool, str.upper, "abc")) == ["A", "B", "C"]
    assert list(deal(pool, str.upper, "")) == []


class Wrong(Hold):
    def choose(self, state):
        return 7


def test_errors_of_workers_are_those_of_the_call(pool):
    found = []
    for executor in (None, pool):
        with pytest.raises(InvalidParameterError, match="chooses 7 in") as caught:
            gamedp.simulate(GAME, [Wrong(1)] * 2, games=9, seed=1, by_rules=True, executor=executor)
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_what_cannot_be_dealt_is_refused(pool, monkeypatch):
    def refused(match, **more):
        arguments = {"games": 9, "seed": 1, "by_rules": True, "executor": pool} | more
        with pytest.raises(InvalidParameterError, match=match):
            gamedp.simulate(GAME, [odd, odd], **arguments)

    odd = lambda state: 1  # noqa: E731 - it has no name to be found by
    way_out = "in a module that the workers can import, or give an executor of threads"
    refused(f"one of the policies, .*lambda.* cannot be sent to workers: .*{way_out}")
    refused(r"threads is 2 beside an executor; give one of the two", threads=2)
    refused(r"executor is 2; it must be a concurrent\.futures\.Executor", executor=2)

    odd.__module__, odd.__qualname__ = "only_here", "odd"
    monkeypatch.setitem(sys.modules, "only_here", types.SimpleNamespace(odd=odd))
    refused(f"a worker does not find what it was sent: .*only_here.*{way_out}")


def test_a_worker_that_dies():
    with processes(1) as lost:
        lost.submit(os.abort)
        with pytest.raises(BrokenExecutor, match=r"a worker of .* Call again with a new executor"):
            gamedp.simulate(GAME, PAIR, games=9, by_rules=True, executor=lost)
