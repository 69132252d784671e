"""A client that asks the server's application without a network."""

import asyncio

import httpx

from gamedp.web.app import make_app
from gamedp.web.catalogue import Listed, from_registry, made
from gamedp.web.tables import WebTables

HOME = "http://127.0.0.1"


def listed_game(name, game):
    """Return a game as the person who starts the server offers it."""
    return Listed(name, type(game), fixed=made(name, game))


class Client:
    """Asks one application, one request after the other or several at once."""

    def __init__(self, games=("matches", "nim", "wubbel"), tables=None, allowed_hosts=(), pages=()):
        self.games = {
            each.name: each
            for each in (from_registry(game) if isinstance(game, str) else game for game in games)
        }
        self.tables = WebTables() if tables is None else tables
        self.app = make_app(self.games, self.tables, allowed_hosts, pages)
        self._runner = asyncio.Runner()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tables.close()
        self._runner.close()

    def run(self, work):
        """Do what is done with an asynchronous client."""

        async def with_client():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
                return await work(client)

        return self._runner.run(with_client())

    def request(self, method, path, **options):
        return self.run(lambda client: client.request(method, path, **options))

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    def asked(self, name, what="position", **body):
        """Ask until there is an answer; return the one that is not of status 202."""
        while True:
            answer = self.post(f"/api/games/{name}/{what}", json={"line": {}, **body})
            if answer.status_code != 202:
                return answer

    def position(self, name, **body):
        answer = self.asked(name, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()
