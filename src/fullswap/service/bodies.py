"""From the bytes of a request to items, with bounds on everything."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct

from fullswap.service.answers import Gone, Headers, HttpError, Receive
from fullswap.service.messages import ForecastItem, OutcomeItem, Refusal, refusal

Item = TypeVar("Item", bound=Struct)
DISCARD_SECONDS = 2.0


def declared_length(headers: Headers) -> int:
    """What the request says about its body: bytes, 0 for none, -1 for "you will see"."""
    length = 0
    for name, value in headers:
        if name == b"transfer-encoding":
            return -1
        if name == b"content-length":
            length = int(value) if value.isdigit() and len(value) < 19 else -1
    return length


def check_type(headers: Headers) -> None:
    """Bodies are JSON, and say so: a page from elsewhere cannot send that unasked."""
    given = b""
    for name, value in headers:
        if name == b"content-type":
            given = value
        elif name == b"content-encoding" and value.lower() != b"identity":
            raise HttpError(415, "unsupported-media-type", "a compressed body is not read")
    if given != b"application/json" and not _is_json(given):
        raise HttpError(
            415, "unsupported-media-type",
            "the body must be JSON, with the header Content-Type: application/json",
        )  # fmt: skip


def _is_json(given: bytes) -> bool:
    kind, _, rest = given.partition(b";")
    charset = rest.replace(b" ", b"").replace(b'"', b"").lower()
    return kind.strip().lower() == b"application/json" and charset in (b"", b"charset=utf-8")


async def read_body(receive: Receive, length: int, most: int, seconds: float) -> bytes:
    """All of the body, if it is not too large and comes in time."""
    if length > most:
        await _discard(receive)
        raise _too_large(most)
    try:
        async with asyncio.timeout(seconds):
            content, more = await _read_up_to(receive, most)
    except TimeoutError:
        raise HttpError(
            408, "too-slow", f"the body did not come within {seconds:g} seconds",
            [(b"connection", b"close")],
        ) from None  # fmt: skip
    if len(content) > most:
        if more:
            await _discard(receive)
        raise _too_large(most)
    return content


async def _read_up_to(receive: Receive, most: int) -> tuple[bytes, bool]:
    """The body, or a little more than ``most`` bytes of it; and whether there is more."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part, more = message.get("body", b""), message.get("more_body", False)
        parts.append(part)
        size += len(part)
        if not more or size > most:
            return b"".join(parts), more


async def _discard(receive: Receive) -> None:
    """Take some more of what comes: many clients read no answer before they have sent it all."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            more = True
            while more:
                more = (await receive()).get("more_body", False)


def _too_large(most: int) -> HttpError:
    # not all that comes is read: the connection cannot be used again
    return HttpError(
        413, "too-large", f"a body may have at most {most:,} bytes", [(b"connection", b"close")]
    )


class _Loose(Struct, forbid_unknown_fields=True):
    """A batch whose items are looked at one by one."""

    items: list[Raw]


class Batches(Generic[Item]):
    """Reads the items of a batch, in one go where all of them are well."""

    def __init__(self, kind: type[Item], most: int) -> None:
        """Items of this kind, at most so many."""
        whole = msgspec.defstruct("Batch", [("items", list[kind])], forbid_unknown_fields=True)  # type: ignore[valid-type]
        self.most = most
        self._whole: msgspec.json.Decoder[Any] = msgspec.json.Decoder(whole)
        self._loose = msgspec.json.Decoder(_Loose)
        self._item = msgspec.json.Decoder(kind)

    def decode(self, body: bytes) -> list[Item | Refusal]:
        """The items in order; in the place of one that is malformed, why it is refused."""
        try:
            items: list[Item | Refusal] = self._whole.decode(body).items
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raws = self._raw_items(body)
            self._check_count(len(raws))
            return [self._one(raw) for raw in raws]
        self._check_count(len(items))
        return items

    def _raw_items(self, body: bytes) -> list[Raw]:
        try:
            return self._loose.decode(body).items
        except RecursionError:
            raise HttpError(400, "invalid", "the body is nested too deeply") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            hint = 'it must be {"items": [...]}'
            raise HttpError(400, "invalid", f"the body cannot be read: {error}; {hint}") from None

    def _one(self, raw: Raw) -> Item | Refusal:
        try:
            return self._item.decode(raw)
        except RecursionError:
            return refusal("bad-item", "the item is nested too deeply")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return refusal("bad-item", f"the item cannot be read: {error}")

    def _check_count(self, count: int) -> None:
        if count > self.most:
            raise HttpError(413, "too-many", f"a batch may have at most {self.most:,} items")


def forecast_batches(most: int) -> Batches[ForecastItem]:
    """For POST /v1/forecasts."""
    return Batches(ForecastItem, most)


def outcome_batches(most: int) -> Batches[OutcomeItem]:
    """For POST /v1/outcomes."""
    return Batches(OutcomeItem, most)
