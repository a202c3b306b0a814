"""Logs: one line of JSON for each request, on standard error.

Lines say what happened and how long it took, and nothing of what was sent: no payloads, names of
streams, ids or tokens. Errors say where they arose; what their message says, which may quote a
payload, is shown with the level "debug" alone. A thread of its own writes, many lines at once,
so that a slow reader of the log holds up no request; if it falls far behind, lines are dropped
and counted.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections import deque
from typing import Any, TextIO

import msgspec

from fullswap.service.answers import Gone

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
MOST_WAITING = 20_000
"""Lines; beyond, they are dropped."""
EVERY = 0.1
"""Seconds between looks at what waits."""
_encode = msgspec.json.Encoder().encode


class Log:
    """Writes lines of JSON."""

    def __init__(self, level: str = "info", out: TextIO | None = None) -> None:
        """``out``: standard error if left out."""
        if level not in LEVELS:
            raise ValueError(f"log level must be one of {', '.join(LEVELS)}, got {level!r}")
        self.level = LEVELS[level]
        self.dropped = 0
        self._out = out
        self._lines: deque[dict[str, Any]] = deque()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write_on, name="fullswap-log", daemon=True)
        self._thread.start()

    def wants(self, level: str) -> bool:
        """Whether lines of this level are written."""
        return LEVELS[level] >= self.level

    def write(self, level: str, event: str, **fields: Any) -> None:
        """One line."""
        if LEVELS[level] < self.level:
            return
        if len(self._lines) >= MOST_WAITING:
            self.dropped += 1
            return
        self._lines.append({"time": time.time(), "level": level, "event": event, **fields})

    def trouble(self, event: str, error: BaseException, **fields: Any) -> None:
        """An error, with the places that it came through."""
        frames = traceback.extract_tb(error.__traceback__)[-8:]
        places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        said = {"message": str(error)} if self.wants("debug") else {}
        self.write("error", event, error=type(error).__name__, at=places, **said, **fields)

    def close(self) -> None:
        """Write what waits, and stop."""
        self._stop.set()
        self._thread.join(timeout=5)

    def _write_on(self) -> None:
        while not self._stop.wait(EVERY):
            self._write_waiting()
        self._write_waiting()

    def _write_waiting(self) -> None:
        lines = [self._lines.popleft() for _ in range(len(self._lines))]
        if not lines:
            return
        try:
            out = self._out or sys.stderr
            out.write("".join(_encode(line).decode() + "\n" for line in lines))
            out.flush()
        except (OSError, ValueError, AttributeError):  # nobody reads: the service goes on
            self.dropped += len(lines)


class Through(logging.Handler):
    """What libraries log, as lines of the same kind."""

    def __init__(self, log: Log) -> None:
        """Into this log."""
        super().__init__()
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One line; of an error where it arose."""
        known = record.levelname.lower()
        level = known if known in LEVELS else "error"
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Gone):  # a connection that was cut on purpose
            return
        if error is not None:
            self.log.trouble(record.name, error)
        elif level == "error" or self.log.wants("debug"):
            self.log.write(level, record.name, message=record.getMessage())
