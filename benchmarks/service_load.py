"""The load of ``benchmarks.service``: many connections that ask, wait for the answer, ask again.

HTTP is written by hand over asyncio protocols, and bodies are put together from parts that were
encoded before: on a small machine every microsecond of the load is one that the service lacks.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from random import Random
from typing import Any

FORECASTS, OUTCOMES = "/v1/forecasts", "/v1/outcomes"
IDS = re.compile(rb'"id":"([^"]+)"')
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
PARTS = 4_096
"""Encoded items of a connection: streams and probabilities are drawn once, and taken in turn."""
Script = Generator[tuple[bytes, int], bytes, None]
"""Yields requests with the number of their items, and is sent the answers."""


@dataclass
class Tally:
    """What came of all requests of one part."""

    seconds: float = 0.0
    requests: int = 0
    forecasts: int = 0
    outcomes: int = 0
    errors: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Of each request, from the first byte sent to the last one read."""

    @property
    def events(self) -> int:
        """Items: a forecast is one, and an outcome is one."""
        return self.forecasts + self.outcomes

    def percentile(self, share: float) -> float:
        """The time that this share of all requests did not pass; NaN without requests."""
        times = sorted(self.times)
        return times[min(int(share * len(times)), len(times) - 1)] if times else float("nan")


def get(path: str) -> bytes:
    """A question."""
    return f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()


def post(path: str, body: bytes) -> bytes:
    """A request with a JSON body."""
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return b"%scontent-length: %d\r\n\r\n%s" % (head.encode(), len(body), body)


class Client:
    """One user of the service, with streams of its own; half of its models are too sure."""

    def __init__(self, number: int, streams: int, tally: Tally, check: bool, own_ids: bool) -> None:
        self.tally, self.check, self.number = tally, check, number
        self.random = Random(number)
        self.own_ids = own_ids
        """Whether it gives forecasts ids of its own, so that it could repeat a request."""
        self.made = 0
        self._at = 0
        self._heads, self._outcomes = [], []
        for k in range(max(PARTS, streams)):
            stream = k if k < streams else self.random.randrange(streams)
            p = round(self.random.random(), 6)
            truth = 0.5 + (p - 0.5) * (0.6 if stream % 2 else 1.0)
            self._heads.append(b'{"stream":"load-%d-%d","p":%s' % (number, stream, str(p).encode()))
            self._outcomes.append(b"1" if self.random.random() < truth else b"0")

    def rounds(self, sizes: Callable[[Random], int], listing: float = 0.0) -> Script:
        """Forecasts, then their outcomes, in batches of these sizes, without end.

        ``listing``: the share of rounds that also ask for the list of streams.
        """
        while True:
            count = sizes(self.random)
            at, heads = self._at, self._heads
            turn = [k % len(heads) for k in range(at, at + count)]
            self._at = (at + count) % len(heads)
            ids = [b"%d-%d" % (self.number, self.made + k) for k in range(count)]
            self.made += count
            own = [b',"id":"%s"}' % one for one in ids] if self.own_ids else [b"}"] * count
            body = b",".join(map(b"".join, zip(map(heads.__getitem__, turn), own, strict=True)))
            answer = yield post(FORECASTS, b'{"items":[%s]}' % body), count
            found = IDS.findall(answer)
            if len(found) != count or (self.own_ids and found != ids):
                self.tally.errors.append(f"{count} forecasts were asked for, got {answer[:300]!r}")
                return
            if self.check:
                check_forecasts(answer, self.tally)
            self.tally.forecasts += count
            items = (
                (b'{"id":"', one, b'","outcome":', self._outcomes[k], b"}")
                for one, k in zip(found, turn, strict=True)
            )
            body = b",".join(map(b"".join, items))
            answer = yield post(OUTCOMES, b'{"items":[%s]}' % body), count
            if answer.count(b'"learnt"') != count or IDS.findall(answer) != found:
                self.tally.errors.append(f"{count} outcomes were told, got {answer[:300]!r}")
                return
            self.tally.outcomes += count
            if listing and self.random.random() < listing:
                answer = yield get("/v1/streams?limit=20"), 0
                if self.check and len(json.loads(answer)["streams"]) != 20:
                    self.tally.errors.append("20 streams were asked for")


def check_forecasts(answer: bytes, tally: Tally) -> None:
    """Every forecast is one of its points, weights add up, and the mean is their average."""
    for item in json.loads(answer)["items"]:
        points, weights = item["points"], item["weights"]
        mean = sum(p * w for p, w in zip(points, weights, strict=True))
        whole = abs(sum(weights) - 1) < 1e-9 and abs(mean - item["mean"]) < 1e-9
        if not (whole and item["issued"] in points and 0 <= item["issued"] <= 1):
            tally.errors.append(f"no forecast: {item}")


class Connection(asyncio.Protocol):
    """Sends what a script says, one request at a time, until it is told to stop."""

    def __init__(self, script: Script, tally: Tally, go_on: Callable[[], bool]) -> None:
        self.script, self.tally, self.go_on = script, tally, go_on
        self.done = asyncio.get_running_loop().create_future()
        self._buffer, self._needed, self._body = bytearray(), 0, 0
        self._begun = 0.0

    def connection_made(self, transport: Any) -> None:
        """Ask for the first time."""
        self._transport = transport
        self._send(next(self.script))

    def _send(self, request: tuple[bytes, int]) -> None:
        self._begun = time.perf_counter()
        self._transport.write(request[0])

    def data_received(self, data: bytes) -> None:
        """A part of an answer."""
        self._buffer += data
        if not self._needed:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            length = LENGTH.search(self._buffer, 0, end + 2)
            if length is None:
                return self._finish("an answer without a length")
            self._body, self._needed = end + 4, end + 4 + int(length[1])
        if len(self._buffer) >= self._needed:
            answer = bytes(self._buffer)
            self._buffer.clear()
            self._needed = 0
            self._came(answer)

    def _came(self, answer: bytes) -> None:
        self.tally.times.append(time.perf_counter() - self._begun)
        self.tally.requests += 1
        if not answer.startswith(b"HTTP/1.1 200 "):
            return self._finish(answer[:300].decode("latin-1"))
        try:
            following = self.script.send(answer[self._body :])
        except StopIteration:
            return self._finish()
        # a round is finished once it has begun: what was forecast gets its outcome
        if not following[0].startswith(b"POST " + FORECASTS.encode()) or self.go_on():
            self._send(following)
        else:
            self._finish()

    def _finish(self, error: str | None = None) -> None:
        if error is not None:
            self.tally.errors.append(error)
        self._transport.close()
        if not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        """The service hung up, or we did."""
        if not self.done.done():
            self._finish(f"the connection was lost: {error}")


@dataclass(frozen=True)
class Load:
    """What one part asks of a service."""

    sizes: Callable[[Random], int]
    seconds: float
    most: int
    """Rounds of each connection, at most."""
    connections: int = 64
    streams: int = 100
    """Of each connection."""
    listing: float = 0.0
    own_ids: bool = False
    check: bool = False


async def drive(port: int, load: Load, first: int = 0) -> Tally:
    """Put this load on the service at a port of this machine. ``first``: number of a client."""
    tally, loop = Tally(), asyncio.get_running_loop()
    clients = [
        Client(first + k, load.streams, tally, load.check, load.own_ids)
        for k in range(load.connections)
    ]
    begun = time.perf_counter()
    end = begun + load.seconds

    async def one(client: Client) -> None:
        left = iter(range(load.most - 1))

        def go_on() -> bool:
            return time.perf_counter() < end and next(left, None) is not None

        script = client.rounds(load.sizes, load.listing)
        _, connection = await loop.create_connection(
            lambda: Connection(script, tally, go_on), "127.0.0.1", port
        )
        await asyncio.wait_for(connection.done, load.seconds + 60)

    failed = await asyncio.gather(*map(one, clients), return_exceptions=True)
    tally.errors += [repr(error) for error in failed if error is not None]
    tally.seconds = time.perf_counter() - begun
    return tally
