"""Each game is solved once, whoever asks; and not at all any more when nobody waits."""

import asyncio
import gc
import http.client
import json
import threading
import time
import weakref

import httpx
import pytest
from browser import served
from waiting import wait_until
from web_client import HOME, Client, listed_game

import gamedp
from gamedp.games.matches import Matches
from gamedp.runtime import limit
from gamedp.runtime.limit import Progress
from gamedp.web import app, jobs, positions, tables
from gamedp.web.jobs import Jobs, Pending
from gamedp.web.refusals import Refused
from gamedp.web.tables import Limits, WebTables

PATIENCE = 60.0


@pytest.fixture
def slow(monkeypatch):
    """Let solving wait for an event, reporting all the time; count what begins and is given up."""

    class Slow:
        def __init__(self):
            self.go_on = threading.Event()
            self.begun = threading.Semaphore(0)
            self.count = 0
            self.given_up = threading.Event()

        def solve(self, game, *, progress, **options):
            self.count += 1
            self.begun.release()
            try:
                while not self.go_on.wait(0.01):
                    progress(Progress("solve", 3, 7, 0.1, "slowly"))
            except jobs.GivenUp:
                self.given_up.set()
                raise
            return gamedp.solve(game, **options)

    slow = Slow()
    monkeypatch.setattr(tables, "solve", slow.solve)
    monkeypatch.setattr(jobs, "LEASE_SECONDS", PATIENCE)  # however busy the machine is
    yield slow
    slow.go_on.set()


def ask(client, name="matches", **body):
    return client.post(f"{HOME}/api/games/{name}/position", json={"line": {}, **body})


def test_one_solve_for_many_who_ask(slow):
    with Client() as client:

        async def all_at_once(many):
            answers = await asyncio.gather(*(ask(many) for _ in range(12)))
            assert {answer.status_code for answer in answers} == {202}
            assert {answer.headers["retry-after"] for answer in answers} == {"1"}
            deadline = time.monotonic() + PATIENCE
            told = answers[0].json()
            while told["phase"] == "wait" and time.monotonic() < deadline:
                told = (await ask(many)).json()
            assert (told["phase"], told["done"], told["total"]) == ("solve", 3, 7)
            assert told["detail"] == "slowly"
            slow.go_on.set()
            while time.monotonic() < deadline:
                answers = await asyncio.gather(*(ask(many) for _ in range(12)))
                if {answer.status_code for answer in answers} == {200}:
                    return {answer.text for answer in answers}
            return set()

        assert len(client.run(all_at_once)) == 1
        assert slow.count == client.tables.solves.started == 1


def test_a_solve_ends_when_who_asked_has_hung_up(slow):
    """As a browser does when the tab is closed: nobody asked at all before."""
    with Client() as client:
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/api/games/matches/position",
            "raw_path": b"/api/games/matches/position",
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 1),
        }
        sent = []

        async def hang_up():
            parts = [{"type": "http.request", "body": b'{"line": {}}', "more_body": False}]

            async def receive():
                return parts.pop() if parts else {"type": "http.disconnect"}

            async def send(message):
                sent.append(message)

            await client.app(scope, receive, send)

        client._runner.run(hang_up())
        assert slow.given_up.wait(PATIENCE)
        assert sent[0]["status"] == 499
        # Who comes later finds no ruin: it is solved anew.
        slow.go_on.set()
        assert client.position("matches")["value"]["number"] == 1
        assert slow.count == 2


def test_a_solve_ends_when_nobody_asks_again(slow, monkeypatch):
    monkeypatch.setattr(jobs, "LEASE_SECONDS", 0.05)
    with Client() as client:
        assert client.post("/api/games/matches/position", json={"line": {}}).status_code == 202
        assert slow.given_up.wait(PATIENCE)


@pytest.fixture
def slow_lengths(monkeypatch):
    """Let a second part of the work, how long play lasts, go on until it is given up."""
    begun, given_up = threading.Event(), threading.Event()

    def remoteness(solution, *, max_seconds, progress):
        begun.set()
        try:
            while True:
                progress(Progress("solve", 2, 5, 0.1, "slowly"))
                time.sleep(0.01)
        except jobs.GivenUp:
            given_up.set()
            raise

    monkeypatch.setattr(tables, "remoteness", remoteness)
    return begun, given_up


def test_how_long_play_lasts_is_told_apart_and_given_up_as_well(slow_lengths, monkeypatch):
    begun, given_up = slow_lengths
    monkeypatch.setattr(jobs, "LEASE_SECONDS", PATIENCE)
    with Client() as client:
        told = {"phase": "wait"}
        while told["phase"] != "lengths":
            told = client.post("/api/games/matches/position", json={"line": {}}).json()
        assert (told["done"], told["total"]) == (2, 5)
        (job,) = client.tables.solves._jobs.values()
        job._leases.clear()  # as when that of the last who asked is over
        assert given_up.wait(PATIENCE)
        assert job.done.wait(PATIENCE)
        assert comes_true(lambda: not client.tables.solves._jobs)
    assert begun.is_set()


def test_without_time_left_a_table_is_served_without_lengths(monkeypatch):
    asked = []

    def remoteness(solution, *, max_seconds, progress):
        asked.append(max_seconds)
        message = "no time is left."
        raise gamedp.NotSolvedError(message, solution)

    monkeypatch.setattr(tables, "remoteness", remoteness)
    with Client(tables=WebTables(Limits(lengths=7.5))) as client:
        answer = client.position("matches")
        assert (answer["plies"], answer["ends"]) == (None, None)
        assert (answer["basis"]["plies"], answer["basis"]["why_no_plies"]) == (None, "time")
        assert answer["value"]["number"] == 1
        assert {each["plies"] for each in answer["actions"]} == {None}
        monkeypatch.setattr(tables, "MOST_REMOTE", 3)
        answer = client.position("matches", parameters={"matches": 5})
        assert answer["basis"]["why_no_plies"] == "states"
    assert asked == [7.5]


def test_who_still_waits_keeps_it_going(slow, monkeypatch):
    monkeypatch.setattr(app, "HOLD_SECONDS", 0.05)
    with Client() as client:

        async def one_leaves(many):
            stays = asyncio.create_task(ask(many))
            for _ in range(5):
                assert (await ask(many)).status_code == 202
            assert (await stays).status_code == 202

        client.run(one_leaves)
        assert slow.begun.acquire(timeout=PATIENCE)
        assert not slow.given_up.is_set()
        slow.go_on.set()
        assert client.position("matches")["value"]["number"] == 1
        assert slow.count == 1


def test_games_wait_for_their_turn_and_too_many_are_refused(slow, monkeypatch):
    monkeypatch.setattr(jobs, "MOST_WAITING", 3)
    monkeypatch.setattr(jobs, "SHORT_TURN_SECONDS", PATIENCE)
    monkeypatch.setattr(app, "HOLD_SECONDS", 0.02)
    with Client(tables=WebTables(workers=1)) as client:
        path = "/api/games/matches/position"
        answers = [client.post(path, json={"line": {}, "parameters": {"matches": 5}})]
        assert slow.begun.acquire(timeout=PATIENCE)
        answers += [
            client.post(path, json={"line": {}, "parameters": {"matches": matches}})
            for matches in range(6, 10)
        ]
        assert [answer.status_code for answer in answers] == [202, 202, 202, 202, 503]
        assert [answer.json()["phase"] for answer in answers[2:4]] == ["wait", "wait"]
        assert answers[4].headers["retry-after"] == "1"
        assert slow.count == 2  # one of them in a short turn


def from_address(app, number):
    """Return a client with another address."""
    transport = httpx.ASGITransport(app, client=(f"10.0.0.{number}", 1))
    return httpx.AsyncClient(transport=transport, base_url=HOME)


@pytest.mark.parametrize("addresses", [1, 6])
def test_a_small_game_does_not_wait_for_large_ones(monkeypatch, addresses):
    monkeypatch.setattr(jobs, "SHORT_TURN_SECONDS", 0.05)
    monkeypatch.setattr(jobs, "LEASE_SECONDS", PATIENCE)
    monkeypatch.setattr(app, "HOLD_SECONDS", 0.02)
    go_on, tries = threading.Event(), []

    def solve(game, *, progress, **options):
        tries.append(game.matches)
        while game.matches > 5 and not go_on.wait(0.01):
            progress(Progress("solve", 3, 7, 0.1, "slowly"))
        return gamedp.solve(game, **options)

    monkeypatch.setattr(tables, "solve", solve)

    async def solved(address, matches):
        status = 202
        async with from_address(client.app, address) as asking:
            while status == 202:
                status = (await ask(asking, parameters={"matches": matches})).status_code
        return status

    async def all_of_them():
        large = [asyncio.create_task(solved(number % addresses, 6 + number)) for number in range(6)]
        # One for long, and the others each in its short turn.
        await asyncio.to_thread(wait_until, lambda: len(set(tries)) >= 4)
        small = await solved(7, 5)
        assert not go_on.is_set()
        go_on.set()
        return [small, *await asyncio.gather(*large)]

    with Client(tables=WebTables(workers=1)) as client:
        assert client._runner.run(all_of_them()) == [200] * 7
    assert tries.count(5) == 1


def test_a_client_has_its_share_of_the_work(slow, monkeypatch):
    monkeypatch.setattr(jobs, "MOST_OF_ONE", 2)
    monkeypatch.setattr(app, "HOLD_SECONDS", 0.02)

    async def many():
        found = []
        for address, matches in [(1, 5), (1, 6), (1, 7), (2, 7), (1, 7)]:
            async with from_address(client.app, address) as asking:
                answer = await ask(asking, parameters={"matches": matches})
                found.append(answer.status_code)
        return found

    with Client() as client:
        # Who asks for what is under way already asks for no more.
        assert client._runner.run(many()) == [202, 202, 503, 202, 202]


def test_the_next_turn_is_of_who_has_fewest(monkeypatch):
    monkeypatch.setattr(jobs, "SHORT_TURN_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "LEASE_SECONDS", PATIENCE)
    some, order, go_on = Jobs(1, 9), [], threading.Event()

    def work(name, report):
        report(Progress("solve", 0, None, 0.0, ""))  # gives back a short turn
        order.append(name)
        if name == "a0":
            assert go_on.wait(PATIENCE)

    for name in ("a0", "a1", "a2", "b0"):
        token = jobs.CLIENT.set(name[0])
        some.find(name, lambda report, name=name: work(name, report))
        jobs.CLIENT.reset(token)
        while name == "a0" and not order:
            time.sleep(0.001)
    while len(some._turns._waiting) < 3 or not all(short for _, short in some._turns._waiting):
        time.sleep(0.001)
    some._turns._at_work["a"] += 1  # as if another one were at work
    go_on.set()
    for name in ("a1", "a2", "b0"):
        assert some.known(name) or some._jobs[name].done.wait(PATIENCE)
    assert order == ["a0", "b0", "a1", "a2"]


def test_tables_that_nobody_asks_for_are_forgotten():
    with Client(tables=WebTables(Limits(tables=3))) as client:
        for matches in (5, 6, 7, 5, 8):
            client.position("matches", parameters={"matches": matches})
        kept = client.tables.solves._jobs
        assert comes_true(lambda: len(kept) <= 3)  # room is made when the last answer is there
        assert [key[1].partition(")")[0][-1] for key in kept] == ["7", "5", "8"]
        assert client.tables.solves.started == 4


def test_tables_take_no_more_memory_than_they_may():
    with Client(tables=WebTables(Limits(bytes=2e6))) as client:
        for matches in (100, 101, 102):
            client.position("matches", parameters={"matches": matches})
        sizes = [job.result.bytes for job in client.tables.solves._jobs.values()]
        assert all(size > 1_000 for size in sizes)
        client.tables.solves._kept_bytes = sum(sizes[-2:])
        client.position("matches", parameters={"matches": 103})
        assert comes_true(lambda: len(client.tables.solves._jobs) < 4)


def test_what_the_server_was_started_for_is_kept():
    with Client(tables=WebTables(Limits(tables=1))) as client:
        client.tables.prepare(client.games["matches"].make({}), None)
        for matches in (5, 6, 7):
            client.position("matches", parameters={"matches": matches})
        assert client.tables.known(client.games["matches"].make({})) is not None
        client.position("matches")
        assert client.tables.solves.started == 3


def test_strangers_have_rules_compiled_for_a_few_shapes_only(monkeypatch):
    modes = []

    def solve(game, **options):
        modes.append(options["compile"])
        return gamedp.solve(game, **{**options, "compile": "never"})

    monkeypatch.setattr(tables, "solve", solve)
    with Client(tables=WebTables(Limits(shapes=1))) as client:
        for heaps in ([1, 2], [2, 3], [1, 2, 1], [1, 1, 1, 1]):
            client.position("nim", parameters={"heaps": heaps})
        client.position("nim", parameters={"misere": False})
        client.position("nim")
        client.position("nim", parameters={"heaps": [2, 2, 2]})
    assert modes == ["auto", "auto", "never", "never", "never", "auto", "auto"]


def test_a_search_of_further_shapes_is_not_compiled_either(monkeypatch):
    modes = []

    def search(*given, **options):
        modes.append(options["compile"])
        return gamedp.search(*given, **{**options, "compile": "never"})

    monkeypatch.setattr(tables, "search", search)
    with Client(tables=WebTables(Limits(states=3, shapes=1))) as client:
        for heaps in ([2, 2], [2, 1], [1, 2, 2]):
            client.position("nim", parameters={"heaps": heaps}, look={"depth": 2})
    assert modes == ["auto", "auto", "never"]


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_work_that_ends_its_thread_is_an_answer(monkeypatch, caplog, error):
    def end(*_, **__):
        raise error

    monkeypatch.setattr(tables, "solve", end)
    with Client() as client:
        answer = client.asked("matches")
    assert answer.status_code == 422
    assert "end the work without a result" in answer.json()["error"]
    assert "work ends without a result" in caplog.text


def test_a_start_that_is_too_large_is_refused():
    class Wide:
        def initial_state(self):
            return tuple(range(10_000))

        def is_terminal(self, state):
            return True

        def actions(self, state):
            return []

        def outcomes(self, state, action):
            return []

        def payoff(self, state, player):
            return 0.0

    with pytest.raises(Refused) as refused:
        listed_game("wide", Wide())
    assert (refused.value.status, refused.value.limit) == (409, "size")


def test_a_game_that_neither_can_be_solved_nor_searched_names_the_limit(monkeypatch):
    def refuse(*_, **__):
        message = "nobody can."
        raise gamedp.UnsupportedProblemError(message)

    monkeypatch.setattr(tables, "search", refuse)
    with Client([listed_game("large", Matches(90))], WebTables(Limits(states=9))) as client:
        answer = client.asked("large")
    assert answer.status_code == 409
    assert answer.json()["limit"] == "states"
    assert "nobody can." in answer.json()["error"]


def test_rules_that_fail_are_an_answer_and_are_logged(caplog):
    class Broken(Matches):
        def outcomes(self, state, action):
            message = "broken rules"
            raise ZeroDivisionError(message)

    with Client([listed_game("broken", Broken())]) as client:
        answer = client.asked("broken")
    assert answer.status_code == 422
    assert "broken rules" in answer.json()["error"]
    assert "the rules of broken fail" in caplog.text


def test_rules_that_need_too_much_memory_meet_a_limit():
    class Wide(Matches):
        def render(self, state):
            raise MemoryError

    with Client([listed_game("wide", Wide())]) as client:
        answer = client.asked("wide")
    assert answer.status_code == 409
    assert answer.json()["limit"] == "memory"
    assert "more memory than there is" in answer.json()["error"]


def test_a_result_is_the_same_however_often_its_error_is_raised():
    """An error that is raised again and again does not grow."""
    board = Jobs(1, 4)

    def fail(_report):
        message = "no"
        raise Refused(422, message)

    job = board.find("key", fail)
    assert job.done.wait(PATIENCE)
    depths = []
    for _ in range(3):
        with pytest.raises(Refused) as refused:
            job.value()
        depths.append(len(refused.traceback))
    assert len(set(depths)) == 1
    assert board.find("key", fail) is job


def test_work_that_has_failed_is_tried_again_later(monkeypatch):
    found, results = Jobs(1, kept=8), iter([MemoryError("now"), 7])

    def work(_report):
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    first = found.find("key", work)
    assert first.done.wait(PATIENCE)
    assert found.find("key", work) is first
    monkeypatch.setattr(jobs, "RETRY_SECONDS", 0.0)
    second = found.find("key", work)
    assert second.done.wait(PATIENCE)
    assert (second.value(), found.find("key", work)) == (7, second)


def test_what_is_tried_again_is_not_the_first_to_be_forgotten(monkeypatch):
    """Or whoever has waited for it would find nothing, and have it done once more."""

    class Large:
        bytes = 6

    def fail(_report):
        raise MemoryError

    found = Jobs(1, kept=8, kept_bytes=10)
    for key, work in (("tried", fail), ("other", lambda _report: Large())):
        assert found.find(key, work).done.wait(PATIENCE)
    monkeypatch.setattr(jobs, "RETRY_SECONDS", 0.0)
    again = found.find("tried", lambda _report: Large())
    # The thread makes room after it has said that it is done.
    assert comes_true(lambda: len(found._jobs) == 1)
    assert list(found._jobs.values()) == [again]


def test_what_is_not_done_has_no_value():
    go_on = threading.Event()
    board = Jobs(1, 4)
    job = board.find("key", lambda _report: go_on.wait(PATIENCE))
    with pytest.raises(Pending):
        job.value()
    go_on.set()
    assert job.done.wait(PATIENCE)
    assert job.value() is True


def test_requests_share_a_table_in_threads():
    """Values are right when many ask at once, and the table comes with the first of them."""
    solution = gamedp.solve(Matches(matches=30), tolerance=1e-9)
    with Client() as client:

        async def one(many, left):
            line = {"start": {"state": {"player": 1, "left": left}}}
            while True:
                answer = await ask(many, parameters={"matches": 30}, line=line)
                if answer.status_code == 200:
                    return answer.json()["value"]["number"]

        async def all_at_once(many):
            return await asyncio.gather(*(one(many, left) for left in range(1, 31)))

        found = client.run(all_at_once)
        assert client.tables.solves.started == 1
    kind = gamedp.games.matches.MatchesState
    assert found == [solution.value(kind(1, left), 1) for left in range(1, 31)]


def test_giving_up_is_no_reason_not_to_compile(compile_at_once):
    """A job that is given up while rules are compiled ends, and leaves no warning behind."""
    board = Jobs(1, 4)
    phases = []

    def work(report):
        def given_up(progress):
            phases.append(progress.phase)
            if progress.phase == "compile":
                job.give_up()
            report(progress)

        return gamedp.solve(Matches(matches=11), progress=given_up)

    begin = threading.Event()
    job = board.find("key", lambda report: begin.wait(PATIENCE) and work(report))
    begin.set()
    assert job.done.wait(PATIENCE)
    assert isinstance(job.result, (Refused, gamedp.Solution))
    if "compile" in phases:
        assert isinstance(job.result, Refused)
        assert phases[-1] == "compile"


def waiting_client(client, address):
    """Return what asks by a connection of its own."""
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(client.app, client=address), base_url=HOME
    )


def test_who_hangs_up_takes_nobody_else_s_place(slow, monkeypatch):
    """One was told to ask again; another one comes, and leaves before that."""
    monkeypatch.setattr(app, "HOLD_SECONDS", 0.02)
    with Client() as client:

        async def two():
            async with waiting_client(client, ("10.0.0.1", 1)) as first:
                assert (await ask(first)).status_code == 202
            (job,) = client.tables.solves._jobs.values()
            assert job.join(("10.0.0.2", 2))
            job.leave(("10.0.0.2", 2), coming_back=False)
            assert job.is_wanted()
            async with waiting_client(client, ("10.0.0.1", 1)) as first:
                assert (await ask(first)).status_code == 202
            # The place of one who comes back is not kept twice.
            assert len(job._leases) == 1
            assert job.join(("10.0.0.1", 1))
            job.leave(("10.0.0.1", 1), coming_back=False)
            assert not job.is_wanted()

        client._runner.run(two())
        assert slow.given_up.wait(PATIENCE)
        assert slow.count == 1


class Tab:
    """A browser's tab: a connection that asks, and that is closed with it."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address.split("/")[2], timeout=PATIENCE)

    def ask(self):
        self.connection.request(
            "POST",
            "/api/games/matches/position",
            json.dumps({"line": {}}),
            {"content-type": "application/json"},
        )

    def answer(self):
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())

    def close(self):
        self.connection.close()


def comes_true(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


def test_a_solve_goes_on_until_the_last_tab_is_closed(slow, monkeypatch):
    """Over the network: five tabs, one solve; it ends while the last one's request is held."""
    monkeypatch.setattr(app, "HOLD_SECONDS", PATIENCE)
    with Client() as client, served(client.app) as address:
        tabs = [Tab(address) for _ in range(5)]
        for tab in tabs:
            tab.ask()
        assert slow.begun.acquire(timeout=PATIENCE)
        assert comes_true(lambda: client.tables.solves._jobs)  # its thread has begun before that
        (job,) = client.tables.solves._jobs.values()
        assert comes_true(lambda: job._waiting == 5)
        for tab in tabs[1:]:
            tab.close()
        assert comes_true(lambda: job._waiting == 1)
        assert job.is_wanted()
        assert not slow.given_up.is_set()
        tabs[0].close()
        assert slow.given_up.wait(PATIENCE)
        assert comes_true(lambda: not client.tables.solves._jobs)
    assert slow.count == client.tables.solves.started == 1


def test_a_closed_tab_leaves_no_lease_behind(slow, monkeypatch):
    """It was told to ask again, has done so by the same connection, and is closed."""
    monkeypatch.setattr(app, "HOLD_SECONDS", 0.02)
    with Client() as client, served(client.app) as address:
        tab = Tab(address)
        for _ in range(3):
            tab.ask()
            assert tab.answer()[0] == 202
        monkeypatch.setattr(app, "HOLD_SECONDS", PATIENCE)
        tab.ask()
        (job,) = client.tables.solves._jobs.values()
        assert comes_true(lambda: job._waiting == 1)
        assert not job._leases
        tab.close()
        assert slow.given_up.wait(PATIENCE)
    assert slow.count == 1


def test_progress_and_the_end_are_looked_at_often_enough():
    """A reader sees progress within half a second, and a closed tab is seen at once."""
    assert app.HOLD_SECONDS <= 0.45
    assert app.CHECK_SECONDS <= 0.05
    assert limit.INTERVAL <= 0.2  # a solve is asked that often whether it goes on
    assert jobs.GLANCE_SECONDS <= 0.1


def test_work_that_has_failed_keeps_nothing_of_what_it_had_built():
    class Large:
        pass

    built = []

    def work(_report):
        large = Large()
        built.append(weakref.ref(large))
        try:
            bytearray(2**62)
        except (MemoryError, OverflowError) as error:
            raise Refused(409, "no", "memory") from error

    board = Jobs(1, 4)
    job = board.find("key", work)
    assert job.done.wait(PATIENCE)
    for _ in range(200):  # the thread has to leave its frames first
        gc.collect()
        if built[0]() is None:
            break
        time.sleep(0.01)
    assert built[0]() is None
    with pytest.raises(Refused):
        job.value()


def test_without_a_thread_the_work_is_refused_and_can_be_asked_for_again(monkeypatch):
    board = Jobs(1, 4)
    start = threading.Thread.start

    def refuse(thread):
        message = "can't start new thread"
        raise RuntimeError(message)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(Refused) as refused:
        board.find("key", lambda _report: 7)
    assert refused.value.status == 503
    monkeypatch.setattr(threading.Thread, "start", start)
    job = board.find("key", lambda _report: 7)
    assert job.done.wait(PATIENCE)
    assert job.value() == 7


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, RecursionError])
def test_rules_that_would_end_the_server_are_refused(caplog, error):
    class Ends(Matches):
        def render(self, state):
            raise error

    with Client([listed_game("ends", Ends()), "matches"]) as client:
        answer = client.asked("ends")
        assert answer.status_code == 422
        assert "the rules of the game" in answer.json()["error"]
        assert client.asked("matches").status_code == 200
    assert caplog.records


def test_numbers_that_json_has_not_are_no_fault():
    class Odd(Matches):
        """Too large for a table; chance is wrong where nobody has looked."""

        def outcomes(self, state, action):
            nan = float("nan")
            yield (1.0 if state.left < 40 else nan), self.after(state, action)

        def after(self, state, action):
            return type(state)(1 - state.player, state.left - action)

    with Client([listed_game("odd", Odd(matches=40))], WebTables(Limits(states=3))) as client:
        answer = client.asked("odd", look=None)
    assert answer.status_code in {200, 422}
    if answer.is_success:
        json.loads(answer.text, parse_constant=pytest.fail)


class Widening:
    """One step with one outcome, then one with many."""

    num_players = 1

    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return state > 1

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        if state == 0:
            yield 1.0, 1
            return
        for number in range(1024):
            yield 2.0**-10, number + 2

    def payoff(self, state, player):
        return 0.0


def test_a_later_position_that_no_page_can_show_is_refused(monkeypatch):
    monkeypatch.setattr(positions, "MOST_OUTCOMES", 1500)
    with Client([listed_game("widening", Widening())]) as client:
        assert client.asked("widening").status_code == 200
        line = {"start": None, "actions": [0], "outcomes": [0]}
        answer = client.asked("widening", line=line)
    assert (answer.status_code, answer.json()["limit"]) == (409, "size")
    assert "1,500 outcomes" in answer.json()["error"]
