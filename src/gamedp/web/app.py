"""The server: addresses, limits of requests, and headers of responses."""

from __future__ import annotations

import collections
import json
import logging
import re
import time
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import anyio
from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from gamedp.errors import GamedpError
from gamedp.web.catalogue import said_by
from gamedp.web.files import PageFile, files_of_pages, page_files
from gamedp.web.history import history_answer
from gamedp.web.jobs import CLIENT, Pending
from gamedp.web.positions import position_answer
from gamedp.web.puzzles import puzzles_answer
from gamedp.web.refusals import Refused, ends_the_work, nobody_waits, rules_fail, too_busy
from gamedp.web.requests import (
    HistoryRequest,
    PositionRequest,
    PuzzlesRequest,
    read,
    read_parameters,
)
from gamedp.web.sentences import PHASES
from gamedp.web.surface import AXES, surface_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.web.catalogue import Listed, Made
    from gamedp.web.jobs import Job
    from gamedp.web.plugin import Page
    from gamedp.web.tables import WebTables

__all__ = ["make_app"]

MOST_BODY = 16 * 1024
"""Largest size of a request in bytes: a game of 2,000 plies fits, and the page's address holds no
more."""

MOST_ADDRESS = 4 * 1024
"""Largest size of a path with its query in bytes."""

MOST_AT_ONCE = 200
"""Largest number of requests answered at the same time."""

MOST_OF_ONE = 100
"""The same for one client."""

BODY_SECONDS = 10.0
"""Seconds within which the body of a request must arrive."""

HOLD_SECONDS = 0.4
"""Seconds that a request waits for work in progress before the client is told to ask again."""

CHECK_SECONDS = 0.02
"""Seconds between two checks of whether it is done."""

LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")
"""Hosts that are always allowed."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every response."""

HTML = "text/html; charset=utf-8"

ERROR_PAGE = (
    '<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>gamedp</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark">'
    '<link rel="stylesheet" href="/static/style.css"></head>'
    '<body><main id="page"><h1>gamedp</h1><p>{sentence}</p>'
    '<p><a href="/">{games}</a></p></main></body></html>'
)
"""The page shown at an unknown address."""

in_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

Answered = TypeVar("Answered")

GameRequest = TypeVar("GameRequest", PositionRequest, HistoryRequest, PuzzlesRequest)

Language: TypeAlias = Literal["en", "de"]

logger = logging.getLogger("gamedp")


def answer_of(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer in JSON."""
    return Response(
        in_json(content).encode("utf-8", "replace"),
        status,
        {"cache-control": "no-store", **(headers or {})},
        "application/json",
    )


def refusal(error: Refused, language: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response with the reason for a refusal."""
    content = {"error": error.message_in(language)}
    if error.limit is not None:
        content["limit"] = error.limit
    if error.status == 503:
        headers = {"retry-after": "1", **(headers or {})}
    return answer_of(content, error.status, {**(headers or {}), "content-language": language})


def language_of(accepted: str) -> Language:
    """Return the first supported language of an ``accept-language`` header.

    >>> language_of("fr-CH, de;q=0.9, en;q=0.8"), language_of("*"), language_of("en-GB,de")
    ('de', 'en', 'en')
    """
    for part in accepted[:200].split(","):
        name = part.partition(";")[0].partition("-")[0].strip().lower()
        if name in {"de", "en"}:
            return "de" if name == "de" else "en"
    return "en"


def make_app(
    games: Mapping[str, Listed],
    tables: WebTables,
    allowed_hosts: tuple[str, ...] = (),
    pages: Sequence[Page] = (),
) -> ASGIApp:
    """Return the server's application.

    Parameters
    ----------
    games : mapping of str to Listed
        The games on offer.
    tables : WebTables
    allowed_hosts : tuple of str
        Names by which browsers may know this machine, besides the local ones.
    pages : sequence of Page
        Pages that games provide.
    """
    server = _Server(games, tables, pages)
    own_pages = _OwnPages(pages, tables)
    routes = [
        Route("/api/games", server.list_games),
        Route("/api/games/{name}/position", server.position, methods=["POST"]),
        Route("/api/games/{name}/history", server.history, methods=["POST"]),
        Route("/api/games/{name}/puzzles", server.puzzles, methods=["POST"]),
        Route("/api/games/{name}/surface", server.surface),
        Route("/api/pages", own_pages.list_all),
        *(Route(f"/{page.name}", own_pages.draw) for page in pages),
        *(Route(f"/api/{page.name}", own_pages.answer) for page in pages),
        *(Route(path, server.page) for path in server.pages),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            Refused: _refused,
            HTTPException: _http_error,
            Exception: _failed,
        },
    )
    return _Guard(app, frozenset((*LOCAL, *(host.lower() for host in allowed_hosts))))


def _refused(request: Request, error: Exception) -> Response:
    """Answer a program in JSON, and a person at the address in a browser with a page."""
    assert isinstance(error, Refused)  # noqa: S101 - it is registered for this class
    return _error_response(request, error)


def _http_error(request: Request, error: Exception) -> Response:
    """Answer in the same form for an unknown address, or another method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - likewise
    sentences = {404: "there is nothing at this address.", 405: "this address has other methods."}
    sentence = sentences.get(error.status_code, "this request cannot be answered.")
    return _error_response(request, Refused(error.status_code, sentence), error.headers)


def _failed(request: Request, _error: Exception) -> Response:
    sentence = "the server has a fault; its log says more."
    return _error_response(request, Refused(500, sentence))


def _language_for(request: Request) -> Language:
    """Return the language that a page declares, otherwise the browser's preference."""
    wanted = request.scope.get("language") or request.headers.get("accept-language", "")
    return language_of(wanted)


def _error_response(
    request: Request, error: Refused, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error in the requested language, and as a page for a browser."""
    language = _language_for(request)
    answer = refusal(error, language, headers)
    if "text/html" not in request.headers.get("accept", ""):
        return answer
    sentence = error.message_in(language)
    page = ERROR_PAGE.format(
        language=language,
        sentence=escape(sentence[:1].upper() + sentence[1:]),
        games={"de": "Alle Spiele", "en": "All games"}[language],
    )
    del answer.headers["content-length"], answer.headers["content-type"]
    return Response(page, error.status, dict(answer.headers), HTML)


class _Guard:
    """Middleware that checks the host and the sizes of requests, and adds headers to responses."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts
        self._running: collections.Counter[str] = collections.Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in added if name not in names),
                ]
            await send(message)

        error = self._objection(scope)
        if error is not None:
            accepted = _header(scope, b"accept-language") or ""
            await refusal(error, language_of(accepted))(scope, receive, send_guarded)
            return
        client = _client(scope)
        CLIENT.set(client)
        self._running[client] += 1
        try:
            await self._app(scope, receive, send_guarded)
        finally:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]

    def _objection(self, scope: Scope) -> Refused | None:
        """Return the reason to refuse a request, if any."""
        host = _without_port(_header(scope, b"host") or "")
        if host not in self._hosts:
            return Refused(403, "this server was not started for that host; see --allow-host.")
        origin = _header(scope, b"origin")
        if origin is not None and _without_port(origin.partition("://")[2]) not in self._hosts:
            return Refused(403, "this server answers only its own pages.")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_ADDRESS:
            return Refused(400, "the address is too long.")
        if self._running.total() >= MOST_AT_ONCE or self._running[_client(scope)] >= MOST_OF_ONE:
            return too_busy()
        return None


def _client(scope: Scope) -> str:
    """Return the address of a client, the same for all its connections."""
    return scope["client"][0] if scope.get("client") else ""


def _header(scope: Scope, name: bytes) -> str | None:
    """Return a header of a request, the last one if there are several; None without."""
    values = [value for each, value in scope["headers"] if each.lower() == name]
    return values[-1].decode("latin-1") if values else None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


def _with_links(start: PageFile, own_pages: Sequence[Page]) -> PageFile:
    """Return the start page with links to the pages that work without JavaScript."""
    links = "".join(
        f'<p>{escape(page.title)}: <a href="{page.name}?lang=en" lang="en" hreflang="en">works '
        f'without it</a>, <a href="{page.name}?lang=de" lang="de" hreflang="de">geht auch ohne</a>'
        "</p>"
        for page in own_pages
    )
    end = b"</noscript>"
    return PageFile.of(start.content.replace(end, links.encode() + end), start.kind)


class _Server:
    """The handlers of the addresses."""

    def __init__(
        self, games: Mapping[str, Listed], tables: WebTables, own_pages: Sequence[Page]
    ) -> None:
        self._games = games
        self._tables = tables
        files = {**page_files(), **files_of_pages(own_pages)}
        self.pages = {f"/{path}": file for path, file in files.items()}
        if "/index.html" in self.pages:
            start = _with_links(self.pages["/index.html"], own_pages)
            self.pages["/"] = self.pages["/index.html"] = start

    async def page(self, request: Request) -> Response:
        """Answer with a file of the page."""
        found = self.pages[request.url.path]
        headers = {"etag": found.tag, "cache-control": "no-cache", "content-type": found.kind}
        headers["vary"] = "accept-encoding"
        if request.headers.get("if-none-match") == found.tag:
            return Response(b"", 304, headers)
        if "gzip" in request.headers.get("accept-encoding", "") and len(found.packed) < len(
            found.content
        ):
            return Response(found.packed, 200, {**headers, "content-encoding": "gzip"})
        return Response(found.content, 200, headers)

    async def list_games(self, _request: Request) -> Response:
        """Answer with the list of games."""
        return answer_of(await to_thread.run_sync(self._list_games))

    def _list_games(self) -> list[dict[str, Any]]:
        games = self._games.values()
        return [listed.list_facts(self._tables.known(listed.make({}))) for listed in games]

    async def position(self, request: Request) -> Response:
        """Answer with a position."""
        return await self._of_game(request, PositionRequest, position_answer)

    async def history(self, request: Request) -> Response:
        """Answer with a game so far."""
        return await self._of_game(request, HistoryRequest, history_answer)

    async def puzzles(self, request: Request) -> Response:
        """Answer with the positions of a game that have a single best action."""
        return await self._of_game(request, PuzzlesRequest, puzzles_answer)

    async def _of_game(
        self,
        request: Request,
        kind: type[GameRequest],
        answer: Callable[[WebTables, Made, GameRequest], dict[str, Any]],
    ) -> Response:
        """Answer a request about a game."""
        asked = read(await _body(request), kind)
        listed = self._find_listed(request)

        def work() -> Response:
            made = listed.make(asked.parameters)
            return answer_of(answer(self._tables, made, asked))

        return await _answered(request, work)

    async def surface(self, request: Request) -> Response:
        """Answer with a surface, in binary numbers."""
        query = dict(request.query_params)
        plain = read_parameters(query.pop("parameters", "{}"))
        if query.keys() != set(AXES) or not re.fullmatch(r"-?[0-9]{1,9}", query["action"]):
            sentence = "a surface needs {list}, the last of which is a number."
            raise Refused(400, sentence, list=", ".join(AXES))
        listed = self._find_listed(request)

        def work() -> Response:
            made = listed.make(plain)
            solution = self._tables.basis(made).solution
            if solution is None:
                sentence = "{name} has no table, so no surface."
                raise Refused(409, sentence, "states", name=made.name)
            tag = f'"{solution.model.digest()[:20]}"'
            headers = {"etag": tag, "cache-control": "no-cache"}
            if request.headers.get("if-none-match") == tag:
                return Response(b"", 304, headers)
            x, y, z, action = (query[name] for name in AXES)
            content = surface_bytes(solution, x, y, z, int(action))
            return Response(content, 200, headers, "application/octet-stream")

        return await _answered(request, work)

    def _find_listed(self, request: Request) -> Listed:
        listed = self._games.get(request.path_params["name"])
        if listed is None:
            raise Refused(404, "there is no game of that name here.")
        return listed


def _progress_response(job: Job) -> Response:
    """Return the response with the progress of work."""
    return answer_of(job.progress_facts(), 202, {"retry-after": "1"})


async def _answered(
    request: Request,
    work: Callable[[], Response],
    waiting: Callable[[Job], Response] = _progress_response,
) -> Response:
    """Return the result of the work, its progress, or its refusal."""
    until = time.monotonic() + HOLD_SECONDS
    while True:
        try:
            return await to_thread.run_sync(_guarded, work)
        except Pending as pending:
            job = pending.job
        if not job.join(request.client):
            continue
        came_back = False
        try:
            while not job.done.is_set():
                if await request.is_disconnected():
                    raise nobody_waits()
                if time.monotonic() >= until:
                    came_back = True
                    return waiting(job)
                await anyio.sleep(CHECK_SECONDS)
        finally:
            job.leave(request.client, coming_back=came_back)


class _OwnPages:
    """The handlers of pages that games provide."""

    def __init__(self, pages: Sequence[Page], tables: WebTables) -> None:
        self._pages = {page.name: page for page in pages}
        self._tables = tables

    async def list_all(self, _request: Request) -> Response:
        """Answer with the list of pages."""
        return answer_of(
            [
                {
                    "name": each.name,
                    "title": each.title,
                    "about": each.about,
                    "presets": {name: dict(query) for name, query in each.presets.items()},
                    "by_hand": dict(each.by_hand),
                    **said_by(each),
                }
                for each in self._pages.values()
            ]
        )

    async def answer(self, request: Request) -> Response:
        """Answer a question in JSON."""
        page, query, shared = self._parse_query(request)
        return await _answered(request, lambda: answer_of(dict(page.answer(shared, query))))

    async def draw(self, request: Request) -> Response:
        """Answer with the whole page; it reloads itself while it has to wait."""
        page, query, shared = self._parse_query(request)
        headers = {"cache-control": "no-store"}

        def work() -> Response:
            try:
                return Response(page.draw(shared, query, ""), 200, headers, HTML)
            except GamedpError as error:
                return Response(page.draw(shared, query, str(error)), 422, headers, HTML)

        def waiting(job: Job) -> Response:
            told = job.progress_facts()
            phase = PHASES[_language_for(request)].get(told["phase"], told["phase"])
            note = f"{phase}, {told['seconds']:.0f} s"
            return Response(page.draw(None, query, note), 200, {**headers, "refresh": "1"}, HTML)

        return await _answered(request, work, waiting)

    def _parse_query(self, request: Request) -> tuple[Page, dict[str, str], _SharedBy]:
        """Return the requested page, the query, and the shared work of the page."""
        page = self._pages[request.url.path.rpartition("/")[2]]
        query = dict(request.query_params)
        if page.language is not None:
            request.scope["language"] = page.language(query)
        return page, query, _SharedBy(page.name, self._tables)


class _SharedBy:
    """The shared work of a page: :class:`gamedp.web.plugin.Shared`."""

    def __init__(self, name: str, tables: WebTables) -> None:
        self._name = name
        self._tables = tables

    @property
    def bytes(self) -> float:
        """Return the memory limit of a table, as for one of a game."""
        return self._tables.limits.bytes

    def table(
        self, key: Hashable, work: Callable[[ProgressCallback], Any], *, kept: bool = False
    ) -> Any:
        """Return a table, among those of all games."""
        return self._tables.solves.find(("page", self._name, key), work, kept=kept).value()

    def result(self, key: Hashable, work: Callable[[ProgressCallback], Any]) -> Any:
        """Return a result, among those of searches."""
        return self._tables.searches.find(("page", self._name, key), work).value()


def _guarded(work: Callable[[], Answered]) -> Answered:
    """Do the work; turn an error of the rules into a refusal."""
    try:
        return work()
    except (Pending, Refused):
        raise
    except GamedpError as error:
        raise Refused(422, "{reason}", reason=error) from None
    except Exception as error:
        logger.exception("a request fails")
        raise rules_fail(error) from error
    except BaseException as error:  # SystemExit, for example, would end the server
        logger.exception("a request ends its thread")
        raise ends_the_work() from error


async def _body(request: Request) -> bytes:
    """Return the body of a request if it is JSON by its headers and not too long."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "the content type must be application/json.")
    body = b""
    try:
        with anyio.fail_after(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BODY:
                    raise Refused(413, "the request has more than {most:,} bytes.", most=MOST_BODY)
    except TimeoutError:
        raise Refused(408, "the request arrives too slowly.") from None
    except ClientDisconnect:
        raise nobody_waits() from None
    return body
