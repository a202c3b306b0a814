"""How much the service takes, of everything that others can send."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds that keep one client, or a mistake, from taking everything."""

    body: int = 8 * 1024 * 1024
    """Bytes of a batch."""
    batch: int = 10_000
    """Items of a batch."""
    streams: int = 1_000_000
    name: int = 200
    """Characters of the name of a stream or spec, of an id, of an event."""
    pending: int = 100_000
    """Forecasts of a stream that wait for their outcome."""
    small_body: int = 64 * 1024
    """Bytes of any other request."""
    waiting: int = 50_000
    """Items that wait for the writer; beyond, clients are told to come again."""
    requests: int = 500
    """Requests at once; beyond, clients are told to come again."""
    connections: int = 800
    """Open connections: below the 1,024 files that a process may open on most systems."""
    body_seconds: float = 20.0
    """Until all of a request has come."""
    answer_seconds: float = 30.0
    """Until the writer has answered; and until a client has taken a part of a long answer."""
    metric_streams: int = 1_000
    """Streams with numbers of their own in /metrics: those with an alarm, then the worst."""
