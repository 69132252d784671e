"""Running the server until Ctrl-C."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from gamedp.errors import InvalidParameterError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import uvicorn
    from starlette.types import ASGIApp

    from gamedp.web.catalogue import Listed
    from gamedp.web.plugin import Page
    from gamedp.web.tables import WebTables

__all__ = ["configured", "require_packages", "serve"]

MOST_CONNECTIONS = 1_000
"""Largest number of connections; further ones are rejected briefly. The application's own refusals
begin before that."""


def require_packages() -> None:
    """Raise unless the packages of the server are installed.

    Raises
    ------
    MissingPackageError
        If not; the message says how to install them.
    """
    try:
        import starlette  # noqa: F401, PLC0415 - only to see whether it is there
        import uvicorn  # noqa: F401, PLC0415 - likewise
    except ImportError as error:
        message = "pages in the browser need more packages: pip install gamedp[web]"
        raise MissingPackageError(message) from error


def _own_names(host: str) -> tuple[str, ...]:
    """Return the names by which browsers call a listening address; none for a wildcard.

    A foreign page can point its own host name to this machine, but not an address.
    """
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - to compare, not to bind
        return ()
    return (f"[{host}]" if ":" in host else host,)


def configured(app: ASGIApp) -> uvicorn.Config:
    """Return the configuration of the server, with limits for clients."""
    import uvicorn  # noqa: PLC0415 - an extra

    from gamedp.web.connections import ImpatientProtocol  # noqa: PLC0415 - likewise

    return uvicorn.Config(
        app,
        http=ImpatientProtocol,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=1,
        limit_concurrency=MOST_CONNECTIONS,
        ws="none",
    )


def serve(
    games: Mapping[str, Listed],
    tables: WebTables,
    *,
    host: str,
    port: int,
    allowed_hosts: tuple[str, ...],
    pages: Sequence[Page],
    ready: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    games, tables, allowed_hosts, pages
        As for :func:`gamedp.web.app.make_app`.
    host : str
        The address to listen at.
    port : int
        The port; 0 for any free one.
    ready : callable
        Called with the address as soon as the server answers there.

    Raises
    ------
    MissingPackageError
        If a package is missing.
    InvalidParameterError
        If the port is taken.
    """
    require_packages()
    import uvicorn  # noqa: PLC0415 - an extra

    from gamedp.web.app import make_app  # noqa: PLC0415 - likewise

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if sockets and self.started:
                name = next(iter((*_own_names(host), *allowed_hosts, "127.0.0.1")))
                ready(f"http://{name}:{sockets[0].getsockname()[1]}/")

    app = make_app(games, tables, (*allowed_hosts, *_own_names(host)), pages)
    config = configured(app)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except (OSError, OverflowError) as error:
            message = f"port {port} of {host} cannot be listened at: {error}. Name another, or 0."
            raise InvalidParameterError(message) from error
        # uvicorn ends cleanly after Ctrl-C, and then passes it on.
        with contextlib.suppress(KeyboardInterrupt):
            try:
                Server(config).run(sockets=[listening])
            finally:
                tables.close()
