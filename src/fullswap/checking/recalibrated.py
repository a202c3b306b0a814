"""What recalibrating online would have given, tried on the last rows of a log."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.checking.answer import Recalibrated
from fullswap.checking.gather import Gathered
from fullswap.metrics.cells import Cells

MOST_RECALIBRATED = 8
"""Classes up to which recalibrating online is tried."""
SHARED_ROWS = 20_000
"""Rows on which it is tried where rows share outcomes, which is slower."""


def recalibrated_of(gathered: Gathered, same_outcome: bool) -> Recalibrated | None:
    """Recalibrate the last rows online, from a blank start, and score both."""
    if gathered.classes > MOST_RECALIBRATED:
        return None
    from fullswap.forecasting import Recalibrator
    from fullswap.metrics import brier_score, log_loss

    y, p, weight, event = gathered.tail()
    event = event if same_outcome else None
    if event is not None:
        y, p, weight, event = _whole_events(y, p, weight, event)
    result = y if gathered.classes == 2 else y.astype(np.int64)
    recalibrator = Recalibrator(classes=gathered.classes, seed=gathered.settings.seed)
    names = None if event is None else event.tolist()
    record = recalibrator.run(p, result, event=names, progress=False)
    assert record is not None
    after = record.mean if gathered.classes == 2 else record.mean / record.mean.sum(1)[:, None]
    after = np.clip(after, 0.0, 1.0)
    both: list[Cells | None] = [None, None]
    if gathered.classes == 2:
        both = [Cells.of_events(y, said, weight) for said in (p, after)]
    return Recalibrated(
        len(y), brier_score(result, p, weight), brier_score(result, after, weight),
        log_loss(result, p, weight), log_loss(result, after, weight),
        *both,
    )  # fmt: skip


def _whole_events(y: Vector, p: Any, weight: Vector | None, event: Indices) -> tuple[Any, ...]:
    """The last rows, without those of events that are cut by the limit."""
    start = max(len(y) - SHARED_ROWS, 0)
    cut = np.isin(event[start:], event[:start])
    return tuple(None if v is None else v[start:][~cut] for v in (y, p, weight, event))
