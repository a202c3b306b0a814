"""What all streams of a monitor or of a bank share, and how they take rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.checking.bets import prior_of
from fullswap.checking.evidence_inputs import MOST_CLASSES, half_of, probabilities_of, weights_of
from fullswap.checking.monitor_events import Batch
from fullswap.inputs.outcomes import outcome_numbers
from fullswap.kernels.evidence import run

_NO_HISTORY = np.zeros((1, 2, 0))
_ONCE: Indices = np.ones(1, np.int64)
LONGEST = 1e15
"""Run length at most."""


class Settings:
    """What all streams of a monitor or bank share."""

    def __init__(self, run_length: Any, classes: Any, step: Any) -> None:
        self.run_length = checks.setting("run_length", run_length, above=1.0, most=LONGEST)
        self.classes = checks.whole("classes", classes, 2, MOST_CLASSES)
        self.half = half_of(step)
        self.step = None if step is None else float(step)
        self.prior = prior_of(self.classes)
        self.work = np.zeros((3, len(self.prior)))

    def rows(self, y: Any, p: Any, weight: Any) -> tuple[Vector, Points, Vector]:
        """Columns of a call, checked: outcomes with NaN where they are not known."""
        table = probabilities_of(p, self.classes)
        own = outcome_numbers("y", y) if self.classes == 2 else checks.numbers("y", y)
        own = own.astype(np.float64)
        if own.ndim != 1:
            checks.refuse_shape("y", "(n,)", own)
        checks.same_length("y", own, "p", len(table))
        inside = (own >= 0) & (own < self.classes) & (own == np.floor(own))
        rule = "be 0 or 1" if self.classes == 2 else f"be a class from 0 to {self.classes - 1}"
        checks.refuse_at("y", f"{rule} (NaN: not known yet)", own, ~inside & ~np.isnan(own))
        return own, table, weights_of(weight, len(table))

    def outcome(self, y: Any) -> float:
        """One outcome, known."""
        if not checks.number("y", y, least=0, most=self.classes - 1).is_integer():
            checks.refuse("y", f"be a whole number from 0 to {self.classes - 1}", y)
        return float(y)

    def run(self, state: Points, batch: Batch, begin: int) -> int:
        """Events of a batch until an alarm rings; the number of the next one."""
        done: int = run(
            self.prior, state, self.work, self.run_length, self.half, batch.streams, batch.y,
            batch.table, batch.weights, batch.rows, batch.bounds, begin, -1, _NO_HISTORY, _ONCE,
        )  # fmt: skip
        return done
