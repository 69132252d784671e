"""Connections of clients that take their time: each step of a request has a limit."""

from __future__ import annotations

import asyncio
import collections
import time

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["ImpatientProtocol"]

HEAD = 10.0
"""Seconds in which the head of a request must be here, whole."""

REST = 120.0
"""Seconds for all that follows: its body, and the answer, which the client must also read."""

MOST_WAITING = 256
"""Connections without a request at a time, new ones and those that are kept; of more, the client
loses one that has most of them, its oldest."""


class ImpatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with limits of time for each step of a request.

    uvicorn itself has one for connections between two requests alone, until the next byte comes.
    """

    _timer: asyncio.TimerHandle | None = None
    _since = 0.0
    _waits = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        super().connection_made(transport)  # type: ignore[arg-type] # what it wants is one
        self._look()

    def data_received(self, data: bytes) -> None:
        """Look whether a request is here."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Look whether the connection waits for another request."""
        super().on_response_complete()
        self._look(anew=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        self._waits = False
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, *, anew: bool = False) -> None:
        """Set the time for the step that begins, if one does."""
        is_sent = not self.transport.get_write_buffer_size()
        waits = self.conn.their_state is h11.IDLE and is_sent
        if self._timer is not None and waits == self._waits and not anew:
            return  # part of a head is no head, nor part of a body all of it
        self._waits, self._since = waits, time.monotonic()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(HEAD if waits else REST, self._hang_up)
        if waits:
            self._make_room()

    def _hang_up(self) -> None:
        self._waits = False
        self.transport.abort()  # closed, it would stay until all is read

    def _make_room(self) -> None:
        """Hang up on the client that has most connections without a request, if there are many."""
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
