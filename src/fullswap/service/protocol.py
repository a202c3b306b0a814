"""Connections that take their time.

uvicorn waits for the head of a request for ever, and its quick parser takes a head of any
length. Here a head must come within some seconds, and may not be longer than 64 KiB.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fullswap.service.answers import encode
from fullswap.service.messages import refusal

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 15.0


class CarefulProtocol(HttpToolsProtocol):
    """One connection."""

    _timer: TimerHandle | None = None
    _head = 0
    """Bytes of a head that is not complete."""
    _within = False
    """Whether a head is being read."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """No longer wait."""
        self._disarm()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._within, self._head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._within = False
        self._disarm()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a head or a body."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        idle = self.cycle is None or self.cycle.response_complete
        if self._within:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self.send_400_response("the head of a request may have at most 64 KiB")
                return
        if (self._within or idle) and self.timeout_keep_alive_task is None:
            self._arm()

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as HTTP, refused in the form of all errors."""
        content = encode(refusal("invalid", msg))
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + content)
        self.transport.close()

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()
