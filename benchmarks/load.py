"""A server in a process of its own, and requests to it over connections that stay."""

from __future__ import annotations

import asyncio
import atexit
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

PATIENCE = 120.0
Round = Generator[tuple[str, Any], Any, None]
"""Yields (path, body) of a request, and is sent the answer."""


class Server:
    """``python ARGUMENTS``, which says on standard error where it listens; ended with its owner."""

    def __init__(self, arguments: list[str], address: str) -> None:
        self._log = Path(tempfile.mkstemp(prefix="fullswap-server-")[1])
        with open(self._log, "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, *arguments], stdin=subprocess.DEVNULL, stderr=log, stdout=log
            )
        atexit.register(self.process.kill)
        end, found = time.monotonic() + PATIENCE, None
        while found is None:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"it does not listen: {self._log.read_text()[-1000:]}")
            time.sleep(0.005)
            found = re.search(address, self._log.read_text())
        self.port = int(found[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """A request on the one connection that stays; the answer of JSON."""
        data = None if body is None else json.dumps(body).encode()
        head = {} if data is None else {"content-type": "application/json"}
        self.connection.request(method or ("GET" if data is None else "POST"), path, data, head)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{path}: {answer.status} {text[:300]!r}")
        return json.loads(text)

    def spent(self) -> float:
        """Milliseconds of processor time so far, of all its threads; Linux alone."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def stop(self) -> None:
        """Have it write everything down and leave."""
        self.connection.close()
        self.process.terminate()
        self.process.wait(PATIENCE)
        atexit.unregister(self.process.kill)
        self._log.unlink()


def drive(port: int, rounds: list[Round]) -> tuple[float, list[float]]:
    """Each of these over a connection of its own, at once: seconds in all, and of each request."""
    times: list[float] = []

    async def one(script: Round) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        path, body = next(script)
        while True:
            data = json.dumps(body).encode()
            begun = time.perf_counter()
            writer.write(
                f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                f"content-length: {len(data)}\r\n\r\n".encode()
                + data
            )
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"\r\ncontent-length: (\d+)\r\n", head, re.IGNORECASE)
            text = await reader.readexactly(int(found[1]) if found else 0)
            times.append(time.perf_counter() - begun)
            if not head.startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(f"{path}: {head[:60]!r} {text[:300]!r}")
            try:
                path, body = script.send(json.loads(text))
            except StopIteration:
                return writer.close()

    async def every() -> float:
        begun = time.perf_counter()
        await asyncio.gather(*map(one, rounds))
        return time.perf_counter() - begun

    return asyncio.run(every()), times
