"""The gate: every request goes through here before the framework sees it.

It finds the path in the one table of `paths`, asks `access` who comes, reads the body within
bounds, counts, logs, and turns whatever goes wrong into JSON. The two paths that carry the load,
forecasts and outcomes, are answered right here: Litestar would spend 26 of 28 µs of such a request
on what is known already. All other paths go on to it.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from fullswap.service import paths
from fullswap.service.access import NOBODY, Access
from fullswap.service.answers import (
    NOT_KEPT,
    SECURITY,
    Gone,
    HttpError,
    Receive,
    Scope,
    Send,
    busy,
    encode,
    send_json,
    send_refusal,
    unavailable,
)
from fullswap.service.bodies import (
    check_type,
    declared_length,
    forecast_batches,
    outcome_batches,
    read_body,
)
from fullswap.service.bounds import Bounds
from fullswap.service.limits import Limits
from fullswap.service.logs import Log
from fullswap.service.messages import Refusal
from fullswap.service.metrics import Metrics
from fullswap.service.problems import Unavailable

T = TypeVar("T")
LEFT = 499
"""Status, in logs alone, of requests whose client has gone."""


class Desk:
    """What handlers share: the service behind it, limits, counts and the log."""

    def __init__(
        self, service: Any, log: Log, limits: Limits | None = None, bounds: Bounds | None = None
    ) -> None:
        """A desk for this service."""
        self.service, self.log = service, log
        self.limits, self.bounds = limits or Limits(), bounds or Bounds()
        self.metrics = Metrics()
        self.begun = self.clock()
        self.counters: Callable[[], dict[str, int]] = dict
        """Numbers that others add to the metrics."""

    def clock(self) -> float:
        """Seconds, for how long the service has run."""
        return time.monotonic()

    async def ask(self, question: Callable[[Any], T], seconds: float | None = None) -> T:
        """What the engine answers, asked on its own thread."""
        return await self.wait(self.service.ask(question), seconds)

    async def wait(self, future: Future[T], seconds: float | None = None, items: int = 0) -> T:
        """The result, once it is there; who gives up waiting stops nothing."""
        answer = asyncio.wrap_future(future)
        self.metrics.waiting += items
        answer.add_done_callback(partial(self._came, items))
        limit = self.bounds.answer_seconds if seconds is None else seconds
        done, _ = await asyncio.wait((answer,), timeout=limit)
        if not done:
            raise unavailable(f"there was no answer within {limit:g} seconds; ask again")
        return answer.result()

    def _came(self, items: int, answer: asyncio.Future[Any]) -> None:
        self.metrics.waiting -= items
        if not answer.cancelled():
            answer.exception()  # looked at: an error that nobody waits for any more is no news


class Exchange:
    """One request and its answer: sends, and remembers what logs and metrics want to know."""

    __slots__ = ("send", "id", "status", "items", "who", "route", "started", "seconds", "kept")

    def __init__(self, send: Send, number: str, seconds: float) -> None:
        """``seconds``: how long a client may take for a part of an answer."""
        self.send, self.id, self.seconds = send, number, seconds
        self.status, self.items = 500, 0
        self.who, self.route = NOBODY, paths.UNKNOWN
        self.started = self.kept = False

    async def __call__(self, message: Any) -> None:
        """Send on, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            own = [] if self.kept else [NOT_KEPT]
            headers = [*message["headers"], *SECURITY, *own, (b"x-request-id", self.id.encode())]
            await self.send({**message, "headers": headers})
        elif message.get("more_body"):
            try:
                async with asyncio.timeout(self.seconds):
                    await self.send(message)
            except TimeoutError:
                raise Gone from None
        else:
            await self.send(message)


class Gate:
    """An ASGI application around another one."""

    def __init__(self, inner: Any, desk: Desk, access: Access) -> None:
        """``inner`` answers what is not answered here."""
        self.inner, self.desk, self.access = inner, desk, access
        limits = desk.limits
        self.batches: dict[str, tuple[Any, Any]] = {
            paths.FORECASTS: (forecast_batches(limits.batch), desk.service.forecasts),
            paths.OUTCOMES: (outcome_batches(limits.batch), desk.service.outcomes),
        }
        self._start, self._count = secrets.token_hex(4), itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return await self.inner(scope, receive, send)  # type: ignore[no-any-return]
        begun = time.perf_counter()
        metrics = self.desk.metrics
        number = f"{self._start}-{next(self._count):x}"
        exchange = Exchange(send, number, self.desk.bounds.answer_seconds)
        metrics.at_once += 1
        try:
            await self._answer(scope, receive, exchange)
        except HttpError as refused:
            await self._refuse(exchange, refused)
        except Unavailable as error:
            await self._refuse(exchange, unavailable(str(error) or "the service is closing"))
        except Gone:
            exchange.status = LEFT
            if exchange.started:
                raise  # the server cuts the connection: half an answer must not look whole
        except Exception as error:
            self.desk.log.trouble("error", error, request=number, path=exchange.route)
            words = f"something went wrong in the service; its log says what, at request {number}"
            await self._refuse(exchange, HttpError(500, "internal", words))
        finally:
            metrics.at_once -= 1
            self._note(scope["method"], exchange, time.perf_counter() - begun)

    async def _answer(self, scope: Scope, receive: Receive, exchange: Exchange) -> None:
        bounds, headers = self.desk.bounds, scope["headers"]
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        try:
            place = paths.locate(scope.get("raw_path") or scope["path"].encode())
        except ValueError as error:
            self.access.admit(paths.READ, headers)
            raise HttpError(400, "invalid", str(error)) from None
        if place is None:
            self.access.admit(paths.READ, headers)
            raise HttpError(404, "not-found", "there is nothing at this path")
        exchange.route = place.route
        methods = paths.ROUTES[place.route]
        # of a method that there is not, nobody learns more than readers may
        role = methods.get(method, min(methods.values(), key=paths.RANK.__getitem__))
        exchange.who = self.access.admit(role, headers)
        if method not in methods:
            allowed = ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])
            raise HttpError(
                405, "method-not-allowed", f"this path takes {allowed}",
                [(b"allow", allowed.encode())],
            )  # fmt: skip
        if self.desk.metrics.at_once > bounds.requests and role != paths.OPEN:
            raise busy("too many requests at once")
        batch = self.batches.get(place.route)
        if method in ("POST", "PUT"):
            check_type(headers)
        length = declared_length(headers)
        body = b""
        if length:
            most = self.desk.limits.body if batch else bounds.small_body
            body = await read_body(receive, length, most, bounds.body_seconds)
        if batch:
            await self._answer_batch(batch, body, exchange)
        else:
            inside = {**scope, "method": method, "path": paths.inner_path(place), "root_path": ""}
            inside["fullswap_exchange"] = exchange
            await self.inner(inside, _replay(body, receive), exchange)

    async def _answer_batch(self, batch: Any, body: bytes, exchange: Exchange) -> None:
        """The hot path: decode, hand over to the writer, wait, encode."""
        reader, hand_over = batch
        metrics = self.desk.metrics
        items = reader.decode(body)
        exchange.items = len(items)
        if metrics.waiting and metrics.waiting + len(items) > self.desk.limits.waiting:
            raise busy("too many items wait already")
        answers = await self.desk.wait(hand_over(items), items=len(items))
        refused = sum(type(answer) is Refusal for answer in answers)
        metrics.count_items(exchange.route, len(answers) - refused, refused)
        await send_json(exchange, 200, encode({"items": answers}))

    async def _refuse(self, exchange: Exchange, refused: HttpError) -> None:
        if exchange.started:
            raise Gone  # too late for a status: the connection is cut
        await send_refusal(exchange, refused)

    def _note(self, method: str, exchange: Exchange, seconds: float) -> None:
        status = exchange.status
        known = method if method in KNOWN_METHODS else "other"
        self.desk.metrics.count(exchange.route, known, status, seconds)
        level = "info" if status < 500 else "warning" if status == 503 else "error"
        if self.desk.log.wants(level):
            self.desk.log.write(
                level, "request", request=exchange.id, method=known, path=exchange.route,
                status=status, ms=round(seconds * 1000, 3), items=exchange.items,
                token=exchange.who,
            )  # fmt: skip


KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"})


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body once more, then whatever else comes: that the client leaves."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Any:
        return left.pop() if left else await receive()

    return replayed
