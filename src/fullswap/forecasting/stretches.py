"""From what the loop wrote down to a record."""

from __future__ import annotations

from fullswap.base.records import Record
from fullswap.online.kind import Kind
from fullswap.online.loop import Recorded


def record_of(kind: Kind, level: int, recorded: Recorded) -> Record:
    """Forecasts on one grid: that of this level, the finest that was reached."""
    indices, weights, issued = recorded
    if level:
        finest = kind.finest(level).astype(indices.dtype)
        indices, issued = finest[indices], finest[issued]
    return Record.of_forecasts(kind.points(level), indices, weights, issued)
