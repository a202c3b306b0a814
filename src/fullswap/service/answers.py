"""Whole answers: what was refused, in one form for everything, and headers that all have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from fullswap.service.messages import refusal

Scope = Any
"""Of ASGI: what is known of a request."""
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; "
     b"base-uri 'none'; form-action 'self'; object-src 'none'"),
    (b"x-frame-options", b"DENY"),
]  # fmt: skip
"""On every answer: a page shows nothing from elsewhere, and stands in no frame."""
NOT_KEPT = (b"cache-control", b"no-store")
"""Answers of the API are of this moment, and may be for one reader only."""
COME_AGAIN = [(b"retry-after", b"1")]
encode = msgspec.json.Encoder().encode


class HttpError(Exception):
    """A request that is answered with an error."""

    def __init__(
        self, status: int, code: str, message: str, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        """A status for machines, a word for programs, a sentence for people."""
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = headers or []


class Gone(Exception):
    """The client has left: nobody reads an answer."""


def busy(message: str) -> HttpError:
    """Too much at once: clients come again in a second."""
    return HttpError(503, "busy", message, COME_AGAIN)


def unavailable(message: str) -> HttpError:
    """The service cannot do it now; perhaps it can later."""
    return HttpError(503, "unavailable", message, COME_AGAIN)


async def send_json(send: Send, status: int, content: bytes, headers: Any = ()) -> None:
    """A whole answer."""
    length = (b"content-length", str(len(content)).encode())
    start = {"type": "http.response.start", "status": status, "headers": [JSON, length, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": content, "more_body": False})


async def send_refusal(send: Send, refused: HttpError) -> None:
    """An error, as JSON."""
    content = encode(refusal(refused.code, refused.message))
    await send_json(send, refused.status, content, refused.headers)
