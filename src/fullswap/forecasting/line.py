"""A bank of sub-learners on a line, over packed arrays and compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.forecasting.base import Recorded, crossing_support, empty_record
from fullswap.forecasting.log_loss import LogCrossing
from fullswap.grids import Grid
from fullswap.template.assembly import extend_rule
from fullswap.template.plan import Plan
from fullswap.template.rules import Crossing


class LineBank:
    """The state of a crossing rule, with the verbs that a forecaster needs."""

    def __init__(self, rule: Any) -> None:
        from fullswap.kernels import forecast

        self.rule: Crossing = rule
        self.points = rule.points[:, 0].copy()  # plans share their grids
        self._kind = forecast.LINEARISED if rule.linearised else forecast.SQUARED
        if isinstance(rule, LogCrossing):
            self._kind = forecast.LOG
        self._rate = tuple(float(part) for part in rule.rate)
        self._state = rule.state
        self.start = int(rule.hint)
        self._mix_kernel, self._learn_kernel = forecast.forecast_mix, forecast.forecast_learn

    def mix(self, memo: Any = None) -> tuple[Sequence[int], Sequence[float], Any]:
        """One point, or two neighbours; the next search starts there."""
        left, share = self._mix_kernel(self._state, self.start)
        self.start = left
        return (*crossing_support(left, share), memo)

    def learn(self, indices: Sequence[int], scales: Sequence[float], outcome: float) -> None:
        """Feed one outcome to these points."""
        for k, i in enumerate(indices):
            self._learn_kernel(self._state, self._kind, self._rate, i, scales[k], outcome)

    def run(
        self, outcomes: Vector, scales: Vector, draws: Vector, realised: bool, record: bool
    ) -> tuple[int, Recorded]:
        """All these events at once."""
        from fullswap.kernels.forecast import forecast_run

        recorded = empty_record(len(outcomes) if record else 0)
        self.start = forecast_run(
            self._state, self._kind, self._rate, realised, self.start,
            outcomes, scales, draws, *recorded,
        )  # fmt: skip
        return len(outcomes), recorded

    def totals(self) -> tuple[Vector, Vector, Vector]:
        """Σ g, Σ g·y and Σ g·y² at each point."""
        return self._state[2].copy(), -0.5 * self._state[5], self._state[6].copy()

    def recommended(self) -> Vector:
        """Σ g·ℓ(q) at each point."""
        return self._state[3].copy()

    def extended(self, plan: Plan, grid: Grid, places: Indices) -> LineBank:
        """The bank on a finer grid, where old point i is point places[i]."""
        self.rule.hint = self.start
        return type(self)(extend_rule(self.rule, plan, grid))

    def dump(self) -> dict[str, Any]:
        """The points that have learnt something; the others are as they began."""
        touched = np.flatnonzero(self._state[2] > 0)
        return {
            "touched": touched.tolist(),
            "state": self._state[1:, touched].tolist(),
            "hint": int(self.start),
        }

    def load(self, stored: dict[str, Any]) -> None:
        """Take over what ``dump`` gave, on the same grid."""
        touched = np.array(stored["touched"], dtype=np.int64)
        self._state[1:, touched] = np.array(stored["state"]).reshape(6, len(touched))
        self.start = stored["hint"]
