"""How much a service takes before it says no."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Largest sizes; more is refused with a clear error."""

    body: int = 8 * 2**20
    """Bytes of a request."""
    batch: int = 10_000
    """Items of a request."""
    streams: int = 1_000_000
    name: int = 200
    """Characters of a stream's, event's or spec's name, and of an id."""
    pending: int = 100_000
    """Forecasts of a stream that wait."""
    numbers: int = 1_000_000
    """Probabilities of a stream that wait: with many classes fewer forecasts can."""
    waiting: int = 200_000
    """Items that wait for the writer; more are told to come again."""

    def pending_of(self, classes: int) -> int:
        """Forecasts that wait of a stream with so many classes."""
        return min(self.pending, max(1, self.numbers // classes))
