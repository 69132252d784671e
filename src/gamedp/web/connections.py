"""Connections of slow clients: each step of a request has a time limit."""

from __future__ import annotations

import asyncio
import collections
import time

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["ImpatientProtocol"]

HEAD_SECONDS = 10.0
"""Seconds within which the complete head of a request must arrive."""

REST_SECONDS = 120.0
"""Seconds for the rest: the body, and the response, which the client must also read."""

MOST_WAITING = 256
"""Largest number of connections without a request, new or kept; beyond it, the client with the most
of them loses its oldest one."""


class ImpatientProtocol(H11Protocol):
    """HTTP of uvicorn, with time limits for each step of a request.

    uvicorn itself only limits the time between two requests, until the next byte arrives.
    """

    _timer: asyncio.TimerHandle | None = None
    _since = 0.0
    _waits = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        super().connection_made(transport)  # type: ignore[arg-type] # what it wants is one
        self._look()

    def data_received(self, data: bytes) -> None:
        """Check whether a request has arrived."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Check whether the connection waits for another request."""
        super().on_response_complete()
        self._look(anew=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timer."""
        super().connection_lost(exc)
        self._waits = False
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, *, anew: bool = False) -> None:
        """Set the timer for the step that begins, if one does."""
        is_sent = not self.transport.get_write_buffer_size()
        waits = self.conn.their_state is h11.IDLE and is_sent
        if self._timer is not None and waits == self._waits and not anew:
            return  # an incomplete head or body does not begin a new step
        self._waits, self._since = waits, time.monotonic()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(HEAD_SECONDS if waits else REST_SECONDS, self._hang_up)
        if waits:
            self._make_room()

    def _hang_up(self) -> None:
        self._waits = False
        self.transport.abort()  # merely closed, it would stay until all is read

    def _make_room(self) -> None:
        """Disconnect the client with the most connections without a request, if there are many."""
        waiting = [
            each
            for each in self.connections
            if isinstance(each, ImpatientProtocol) and each._waits  # noqa: SLF001 - of the same class
        ]
        if len(waiting) > MOST_WAITING:
            counts = collections.Counter(each.client and each.client[0] for each in waiting)
            ((most, _),) = counts.most_common(1)
            theirs = (each for each in waiting if (each.client and each.client[0]) == most)
            min(theirs, key=lambda each: each._since)._hang_up()  # noqa: SLF001 - likewise
