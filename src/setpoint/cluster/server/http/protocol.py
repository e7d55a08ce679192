"""HTTP/1.1 on one connection, by uvicorn and httptools, with the real server's limits: a head that is or takes too long ends it.

What is no HTTP is answered in Go's words, and logged nowhere: whoever may connect may send anything.
"""

from __future__ import annotations

import asyncio

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from setpoint.cluster.server.http.asgi import ABORT

HEAD_LIMIT = 1024 * 1024
"""Bytes of a request's line and headers."""
HEAD_SECONDS = 32.0
"""Seconds within which they must have come, from the first byte on, or from the connection's beginning."""


class Protocol(HttpToolsProtocol):
    """One connection."""

    _head: asyncio.TimerHandle | None = None
    _size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """See uvicorn."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See uvicorn."""
        self._got_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See uvicorn."""
        self._unset_keepalive_if_required()
        if self._head is not None:
            self._size += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # nothing is spoken here but HTTP/1.1, which is how it goes on
        except httptools.HttpParserError:
            self._refuse("400 Bad Request")
        if self._head is not None and self._size > HEAD_LIMIT:
            self._refuse("431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """See uvicorn."""
        super().on_message_begin()
        self.scope["state"][ABORT] = self.transport.abort
        if self._head is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """See uvicorn."""
        self._got_head()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._size = 0
        self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _got_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _refuse(self, text: str) -> None:
        self._got_head()
        if not self.transport.is_closing():
            head = f"HTTP/1.1 {text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
            self.transport.write((head + text).encode())
            self.transport.close()
