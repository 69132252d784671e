"""Whatever a stranger asks, the answer is no fault, and the headers are there."""

import asyncio
import contextlib
import gc
import json
import random
import socket
import sys
import threading
import time

import httpx
import pytest
from browser import served
from hostile_requests import HISTORY, HOSTILE, POSITION
from hypothesis import given, settings, strategies as st
from waiting import PATIENCE, wait_until
from web_client import HOME, Client

from gamedp.web import app, connections
from gamedp.web.app import HEADERS
from gamedp.web.tables import Limits, WebTables


@pytest.fixture(scope="module")
def client():
    with Client() as client:
        client.position("matches")
        yield client


def send(client, request):
    return client.request(
        request["method"],
        request["path"],
        headers=request.get("headers"),
        content=request.get("content"),
    )


def check_headers(answer):
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


def test_there_are_forty_kinds_at_least():
    assert len(HOSTILE) >= 40


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_request_is_refused(client, kind, caplog):
    request, status = HOSTILE[kind]
    answer = send(client, request)
    statuses = status if isinstance(status, tuple) else (status,)
    assert answer.status_code in statuses, answer.text
    check_headers(answer)
    assert set(answer.json()) <= {"error", "limit"}
    assert answer.json()["error"]
    assert not caplog.records


def test_every_answer_has_the_headers(client):
    for path in ("/", "/index.html", "/api/games", "/static/none.js", "/api/games/x/position"):
        check_headers(client.get(path))
    check_headers(client.post(POSITION, json={"line": {}}))
    routes = [route.path for route in client.app._app.routes]
    assert {"/", "/api/pages", "/api/games/{name}/surface"} <= set(routes)
    for path in routes:
        answer = client.get(path.replace("{name}", "matches"))
        check_headers(answer)
        if answer.status_code == 200 and "etag" in answer.headers:
            again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["vary"] == "accept-encoding"
            check_headers(again)
    policy = client.get("/api/games").headers["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_a_host_that_was_allowed_is_answered():
    with Client(allowed_hosts=("Games.example",)) as client:
        for host, status in (
            ("games.example", 200),
            ("games.example:8000", 200),
            ("localhost:80", 200),
            ("[::1]:80", 200),
            ("example", 403),
        ):
            answer = client.get("/api/games", headers={"host": host})
            assert answer.status_code == status, host
        own = {"host": "games.example:8000", "origin": "http://games.example:8000"}
        assert client.get("/api/games", headers=own).status_code == 200


def asked_in_parts(client, receive, path=POSITION):
    """Return what the application sends for a request whose parts come as `receive` says."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
    }
    sent = []

    async def send(message):
        sent.append(message)

    client._runner.run(client.app(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_a_request_that_never_arrives_is_given_up(client, monkeypatch):
    monkeypatch.setattr(app, "BODY_SECONDS", 0.05)
    parts = [{"type": "http.request", "body": b'{"line":', "more_body": True}]

    async def receive():
        if parts:
            return parts.pop()
        return await asyncio.Event().wait()

    status, answer = asked_in_parts(client, receive)
    assert status == 408
    assert answer == {"error": "the request arrives too slowly."}


def test_who_hangs_up_within_a_request_leaves_no_trace(client, caplog):
    parts = [
        {"type": "http.disconnect"},
        {"type": "http.request", "body": b'{"line":', "more_body": True},
    ]

    async def receive():
        return parts.pop()

    assert asked_in_parts(client, receive)[0] == 499
    assert not caplog.records


def test_more_at_once_than_can_be_answered_are_told_so(client, monkeypatch):
    monkeypatch.setattr(app, "MOST_AT_ONCE", 3)

    async def many(asking):
        answers = await asyncio.gather(*(asking.get("/api/games") for _ in range(12)))
        return answers, await asking.get("/api/games")

    answers, later = client.run(many)
    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(refused) == 9
    for answer in refused:
        check_headers(answer)
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["error"].startswith("too many")
    assert later.status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/games", POSITION, "/none"])
@pytest.mark.parametrize("method", ["OPTIONS", "HEAD", "PUT", "DELETE", "TRACE"])
def test_other_methods_are_refused_in_one_sentence(client, method, path):
    answer = client.request(method, path)
    check_headers(answer)
    if path == "/none":
        assert answer.status_code == 404
    elif method == "HEAD" and path != POSITION:
        assert answer.status_code == 200
    else:
        assert answer.status_code == 405
        assert "GET" in answer.headers["allow"] or path == POSITION
    if answer.status_code >= 400 and answer.content:
        assert answer.json()["error"].endswith(".")


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=6), parts),
    max_leaves=6,
)
small = st.integers(-1, 4)


def nearly(**fields):
    """Return objects that often have these fields, now and then with something else in them."""
    return st.fixed_dictionaries(
        {}, optional={name: value | anything for name, value in fields.items()}
    )


bodies = nearly(
    parameters=nearly(matches=st.integers(-1, 30), takes=st.lists(small, max_size=3), misere=small),
    line=nearly(
        start=nearly(drawn=small, seed=small, state=nearly(player=small, left=small)),
        actions=st.lists(small, max_size=3),
        outcomes=st.lists(small, max_size=3),
    ),
    then=nearly(
        action=small,
        outcome=small,
        seed=small,
        by_hand=st.booleans(),
        player=nearly(
            kind=st.sampled_from(["solution", "search", "random", "mistaken"]),
            depth=small,
            chance=st.floats(0, 1),
        ),
    ),
    look=nearly(depth=small, seconds=st.floats(0, 2)),
)


@settings(max_examples=150, deadline=None)
@given(body=bodies | anything, path=st.sampled_from([POSITION, HISTORY]))
def test_no_body_brings_the_server_down(client, body, path):
    content = json.dumps(body).encode()
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code in {200, 202, 400, 409, 422}, answer.text
    if answer.status_code >= 400:
        assert answer.json()["error"]


@settings(max_examples=100, deadline=None)
@given(body=st.binary(max_size=60))
def test_no_bytes_bring_the_server_down(client, body):
    answer = client.post(POSITION, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400


@pytest.fixture
def garbage_is_collected():
    """Look for garbage as often as a server does; other tests do so only between files."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.deep
@pytest.mark.usefixtures("garbage_is_collected")
def test_ten_thousand_mixed_requests(caplog):
    """Good ones are right, none is a fault, and memory does not grow."""
    resource = pytest.importorskip("resource")
    rng = random.Random(1)  # noqa: S311 - a choice of requests
    with Client(tables=WebTables(Limits(tables=8, searches=16))) as client:
        good = {
            left: client.position("matches", line={"start": {"state": {"player": 1, "left": left}}})
            for left in range(1, 18)
        }
        rolled = {"parameters": {"goal": 9}, "line": {"actions": [0, 1, 0], "outcomes": [3, 0, 5]}}
        wubbel = [
            (f"/api/games/wubbel/{what}", client.asked("wubbel", what, **rolled).json())
            for what in ("position", "history")
        ]
        hostile = list(HOSTILE.values())

        async def mixed(many):
            for _ in range(rounds):
                if rng.random() < 0.1:
                    path, right = rng.choice(wubbel)
                    answer = await many.post(path, json=rolled)
                    # The table may have been forgotten meanwhile, for others.
                    assert answer.status_code == 202 or answer.json() == right
                elif rng.random() < 0.5:
                    left = rng.randrange(1, 18)
                    line = {"start": {"state": {"player": 1, "left": left}}}
                    answer = await many.post(POSITION, json={"line": line})
                    assert answer.json() == good[left]
                elif rng.random() < 0.1:
                    parameters = {"matches": rng.randrange(1, 60)}
                    body = {"line": {}, "parameters": parameters}
                    assert (await many.post(POSITION, json=body)).status_code in {200, 202}
                else:
                    request, status = rng.choice(hostile)
                    answer = await many.request(
                        request["method"],
                        request["path"],
                        headers=request.get("headers"),
                        content=request.get("content"),
                    )
                    statuses = status if isinstance(status, tuple) else (status,)
                    assert answer.status_code in statuses

        rounds = 2_000
        client.run(mixed)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rounds = 10_000
        client.run(mixed)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000  # kilobytes
    assert not caplog.records


def test_json_of_answers_is_strict(client):
    def refuse(constant):
        raise AssertionError(constant)

    for answer in (client.get("/api/games"), client.post(POSITION, json={"line": {}})):
        json.loads(answer.text, parse_constant=refuse)


def alive(link):
    """Return whether the server has not hung up, as far as can be seen now."""
    link.setblocking(False)
    try:
        return bool(link.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False


@pytest.fixture
def site(client):
    with served(client.app) as address:
        yield address


def connected(site, source="127.0.0.1"):
    port = int(site.split(":")[2].strip("/"))
    return socket.create_connection(("127.0.0.1", port), source_address=(source, 0))


@pytest.mark.slow
@pytest.mark.parametrize("before", ["nothing", "a request"])
@pytest.mark.parametrize("part", [b"", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "])
def test_a_head_that_does_not_end_is_given_up(monkeypatch, site, before, part):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    with connected(site) as link:
        if before == "a request":
            link.sendall(b"GET /none HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            assert link.recv(12) == b"HTTP/1.1 404"
            while link.recv(65_536)[-1:] != b"}":
                pass
        link.sendall(part)
        with contextlib.suppress(OSError):
            while alive(link):  # a byte now and then is no head
                link.setblocking(True)
                link.sendall(b"x" if part else b"")
                time.sleep(0.01)


def test_an_answer_that_is_not_read_is_given_up(monkeypatch):
    monkeypatch.setattr(connections, "REST_SECONDS", 0.2)
    size, is_gone = 64 * 2**20, threading.Event()

    async def flood(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(size), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": True})  # is held here
        is_gone.set()

    with served(flood) as site, connected(site) as link:
        link.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert is_gone.wait(PATIENCE)
        received = 0
        with contextlib.suppress(OSError):
            while found := link.recv(2**20):
                received += len(found)
        assert received < size


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has 127.0.0.2 by itself")
def test_who_keeps_many_connections_waiting_loses_them_and_nobody_else(monkeypatch, site):
    monkeypatch.setattr(connections, "MOST_WAITING", 8)
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(connected(site, "127.0.0.2"))
        other.sendall(b"GET /none HTTP/1.1\r\n")
        links = []
        for _ in range(40):
            links.append(stack.enter_context(connected(site)))
            links[-1].sendall(b"GET / HTTP/1.1\r\n")
        assert httpx.get(site, timeout=PATIENCE).status_code == 200
        wait_until(lambda: sum(map(alive, links)) <= 8)
        assert alive(links[-1])
        other.setblocking(True)
        other.sendall(b"host: 127.0.0.1\r\n\r\n")
        assert other.recv(12) == b"HTTP/1.1 404"


def test_a_client_has_its_share_of_what_is_answered_at_once(client, monkeypatch):
    monkeypatch.setattr(app, "MOST_OF_ONE", 3)

    async def many(asking):
        other = httpx.ASGITransport(client.app, client=("10.0.0.1", 1))
        async with httpx.AsyncClient(transport=other, base_url=HOME) as someone:
            every = [*(asking.get("/api/games") for _ in range(9)), someone.get("/api/games")]
            return [answer.status_code for answer in await asyncio.gather(*every)]

    found = client.run(many)
    assert (found[:9].count(503), found[9]) == (6, 200)
