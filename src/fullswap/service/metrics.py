"""Numbers for Prometheus, in its text format.

By hand: the format is a few lines, and a client library would count in its own locks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Of the histogram of times, in seconds."""
CONTENT_TYPE = "text/plain; version=0.0.4"
"""To which Litestar adds the charset."""
OF_STREAMS = ("fullswap_evidence_log10", "fullswap_alarm", "fullswap_pending")
_HELP = {
    "fullswap_requests_total": "Requests answered.",
    "fullswap_request_seconds": "Time from request to answer.",
    "fullswap_items_total": "Items of batches, by what became of them.",
    "fullswap_waiting_items": "Items that wait for the writer.",
    "fullswap_requests_at_once": "Requests under way.",
    "fullswap_log_lines_dropped_total": "Lines of the log that could not be written.",
    "fullswap_webhook_sent_total": "Alarms delivered.",
    "fullswap_webhook_failures_total": "Deliveries of alarms that failed and are tried again.",
    "fullswap_streams": "Streams.",
    "fullswap_pending_all": "Forecasts that wait for their outcome, of all streams.",
    "fullswap_alarms": "Active alarms.",
    "fullswap_forecasts_total": "Forecasts made since the start.",
    "fullswap_outcomes_total": "Outcomes taken since the start.",
    "fullswap_refused_total": "Items refused since the start.",
    "fullswap_alarms_total": "Alarms that began, those that were active at the start among them.",
    "fullswap_journal_bytes": "Entries of the journal that are not in the tables yet.",
    "fullswap_unsaved_streams": "Streams that have changed since they were written.",
    "fullswap_evidence_log10": "Evidence against calibration, as a power of ten.",
    "fullswap_alarm": "1 where an alarm is active.",
    "fullswap_pending": "Forecasts of a stream that wait for their outcome.",
}


class Metrics:
    """Counts requests; renders them together with the engine's numbers."""

    def __init__(self) -> None:
        """All zero."""
        self.requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self.times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self.seconds: dict[str, float] = defaultdict(float)
        self.items: dict[tuple[str, str], int] = defaultdict(int)
        self.waiting = 0
        """Items that wait for the writer."""
        self.at_once = 0
        """Requests under way."""

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request."""
        self.requests[route, method, status] += 1
        self.times[route][bisect_left(BOUNDS, seconds)] += 1
        self.seconds[route] += seconds

    def count_items(self, route: str, taken: int, refused: int) -> None:
        """The items of one batch."""
        self.items[route, "taken"] += taken
        self.items[route, "refused"] += refused

    def render(
        self, numbers: Mapping[str, float], rows: Iterable[Mapping[str, Any]], more: dict[str, int]
    ) -> str:
        """Everything as text; ``numbers`` of the engine, ``rows`` of streams, ``more`` counters."""
        page = _Page()
        for (route, method, status), n in sorted(self.requests.items()):
            labels = {"path": route, "method": method, "status": str(status)}
            page.add("fullswap_requests_total", n, labels)
        for route, counts in sorted(self.times.items()):
            self._histogram(page, route, counts)
        for (route, result), n in sorted(self.items.items()):
            page.add("fullswap_items_total", n, {"path": route, "result": result})
        page.add("fullswap_waiting_items", self.waiting)
        page.add("fullswap_requests_at_once", self.at_once)
        for name, value in {**more, **numbers}.items():
            page.add(_family(name), value)
        for row in rows:
            labels = {"stream": row["stream"]}
            page.add("fullswap_evidence_log10", row["evidence_log10"], labels)
            page.add("fullswap_alarm", float(row["alarm"] is not None), labels)
            page.add("fullswap_pending", row["pending"], labels)
        return page.text()

    def _histogram(self, page: _Page, route: str, counts: list[int]) -> None:
        name = "fullswap_request_seconds"
        lines = page.head(name, "histogram")
        for bound, n in zip((*BOUNDS, "+Inf"), accumulate(counts), strict=True):
            lines.append(_line(f"{name}_bucket", n, {"path": route, "le": str(bound)}))
        lines.append(_line(f"{name}_sum", self.seconds[route], {"path": route}))
        lines.append(_line(f"{name}_count", sum(counts), {"path": route}))


class _Page:
    """Lines by family: those of one must stand together, beneath its head."""

    def __init__(self) -> None:
        self.families: dict[str, list[str]] = {}

    def head(self, name: str, kind: str) -> list[str]:
        """The lines of a family, which gets a head when it is new."""
        if name not in self.families:
            about = [f"# HELP {name} {_HELP[name]}"] if name in _HELP else []
            self.families[name] = [*about, f"# TYPE {name} {kind}"]
        return self.families[name]

    def add(self, name: str, value: float | None, labels: Mapping[str, str] | None = None) -> None:
        """One number; none is no line."""
        if value is not None:
            kind = "counter" if name.endswith("_total") else "gauge"
            self.head(name, kind).append(_line(name, value, labels))

    def text(self) -> str:
        """The whole page."""
        return "\n".join(line for lines in self.families.values() for line in lines) + "\n"


def _line(name: str, value: float, labels: Mapping[str, str] | None = None) -> str:
    shown = ",".join(f'{key}="{escaped(text)}"' for key, text in (labels or {}).items())
    return f"{name}{{{shown}}} {_number(value)}" if shown else f"{name} {_number(value)}"


def escaped(text: str) -> str:
    r"""The value of a label.

    Examples
    --------
    >>> print(escaped('a "b"' + chr(10) + "c" + chr(92)))
    a \"b\"\nc\\
    """
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _family(name: str) -> str:
    """A name that Prometheus takes, ours to be seen, and not one of a number of each stream."""
    plain = re.sub(r"[^a-zA-Z0-9_:]", "_", name)
    plain = plain if plain.startswith("fullswap_") else f"fullswap_{plain}"
    return f"{plain}_all" if plain in OF_STREAMS else plain


def _number(value: float) -> str:
    return repr(int(value)) if float(value).is_integer() else repr(float(value))
