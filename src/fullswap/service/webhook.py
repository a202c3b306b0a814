"""Alarms sent on to an address, at least once each.

One JSON document is posted for every alarm that began. An alarm counts as sent when the other side
has answered with a 2xx status; the engine remembers that, so that alarms survive restarts. What
fails is tried again, later and later. A thread of its own does all this: no request waits.
"""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.error
import urllib.request
from concurrent.futures import TimeoutError as Late
from typing import Any
from urllib.parse import urlsplit

from fullswap.service.logs import Log

EVERY = 1.0
"""Seconds between looks for alarms."""
LONGEST_PAUSE = 300.0
TIMEOUT = 10.0


def check_address(url: str) -> str:
    """The address, if alarms can be sent there."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError(
            "webhook must be an address like https://example.org/alarms without a password, "
            f"got {parts.scheme or 'no scheme'}"
        )
    return url


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would turn what is posted into a question."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Webhook:
    """Sends alarms until it is closed."""

    def __init__(
        self, service: Any, address: str, log: Log, page: str | None = None, every: float = EVERY
    ) -> None:
        """``page``: where people look, sent along."""
        self.service, self.address, self.log = service, check_address(address), log
        self.page, self.every = page, every
        self.sent = self.failures = 0
        self._open = urllib.request.build_opener(_NoRedirects).open
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fullswap-webhook", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop after what is under way; what is not sent is sent after the next start."""
        self._stop.set()
        self._thread.join(timeout=TIMEOUT + 5)

    def counters(self) -> dict[str, int]:
        """For the metrics."""
        return {
            "fullswap_webhook_sent_total": self.sent,
            "fullswap_webhook_failures_total": self.failures,
        }

    def _run(self) -> None:
        pause = self.every
        while not self._stop.wait(pause):
            try:
                failed = self._send_all()
            except Exception as error:  # the engine is busy or closing
                if not isinstance(error, Late):
                    self.log.trouble("webhook", error)
                failed = True
            pause = min(LONGEST_PAUSE, 2 * max(pause, 0.5)) if failed else self.every

    def _send_all(self) -> bool:
        """Send all that wait; returns whether some could not be sent."""
        failed = False
        for alarm in self.service.ask(lambda engine: engine.alarms_to_send()).result(30):
            if self._stop.is_set():
                break
            if self._send(alarm):
                number = alarm["id"]
                self.service.ask(lambda engine, n=number: engine.alarms_sent([n])).result(30)
                self.sent += 1
            else:
                self.failures += 1
                failed = True
        return failed

    def _send(self, alarm: dict[str, Any]) -> bool:
        content = {"kind": "alarm", **alarm, **({"url": self.page} if self.page else {})}
        request = urllib.request.Request(
            self.address, json.dumps(content).encode(), {"Content-Type": "application/json"}
        )
        try:
            with self._open(request, timeout=TIMEOUT) as answer:
                status = answer.status
        except urllib.error.HTTPError as error:
            with contextlib.closing(error):
                status = error.code
        except (OSError, ValueError) as error:  # no connection, no answer, no HTTP
            self.log.write("warning", "webhook", error=type(error).__name__)
            return False
        if not 200 <= status < 300:
            self.log.write("warning", "webhook", status=status)
            return False
        return True
