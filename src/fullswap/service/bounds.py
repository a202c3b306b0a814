"""How much the network side takes at once, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """What keeps slow clients, and many, from harming the others."""

    small_body: int = 64 * 1024
    """Bytes of a request that is no batch."""
    requests: int = 500
    """Requests at once; more are told to come again."""
    connections: int = 800
    """Open connections: below the 1,024 files that a process may open on most systems."""
    body_seconds: float = 20.0
    """Until all of a request has come."""
    answer_seconds: float = 30.0
    """Until the writer has answered; and until a client has taken a part of a long answer."""
    metric_streams: int = 1_000
    """Streams with numbers of their own in /metrics: those with an alarm, then the worst."""
