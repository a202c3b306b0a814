"""A bank of sub-learners whose mixture is a stationary distribution, on any grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fullswap.forecasting.base import Recorded, draw, padded
from fullswap.grids import Grid
from fullswap.losses import Quadratic
from fullswap.protocols import Indices, Points, Vector
from fullswap.template.assembly import extend_rule
from fullswap.template.plan import Plan
from fullswap.template.rules import Stationary


class ChainBank:
    """The state of a stationary rule, with the verbs that a forecaster needs.

    Points and outcomes are numbers on a line, K probabilities on a simplex.
    """

    start = 0
    """Nothing to remember from looking: searches start where something was learnt last."""

    def __init__(self, rule: Any) -> None:
        self.rule: Stationary = rule
        n, width = rule.points.shape
        self._line = width == 1
        self.points = np.ascontiguousarray(rule.points[:, 0]) if self._line else rule.points
        self._sums = np.zeros((n, width + 3))
        """Columns: Σ g · Σ g·y (A) · Σ g·‖y‖² · Σ g·ℓ(q)."""

    def mix(self, memo: Any = None) -> tuple[Sequence[int], Sequence[float], Any]:
        """One recurrent class."""
        indices, weights = self.rule.mix()
        return indices.tolist(), weights.tolist(), memo

    def learn(self, indices: Sequence[int], scales: Sequence[float], outcome: Any) -> None:
        """Feed one outcome to these points."""
        where, g = np.array(indices), np.array(scales)
        y = np.atleast_1d(np.asarray(outcome, dtype=float))
        lost = self.rule.learn(Quadratic(y), where, g)
        sums = self._sums
        sums[where, 0] += g
        sums[where, 1:-2] += g[:, None] * y
        sums[where, -2] += g * float(y @ y)
        sums[where, -1] += g * lost

    def run(
        self, outcomes: Points, scales: Vector, draws: Vector, realised: bool, record: bool
    ) -> tuple[int, Recorded]:
        """All these events, one after the other."""
        labels, weights, issued = [], [], []
        for t, y in enumerate(outcomes):
            indices, shares, _ = self.mix()
            drawn = draw(shares, draws[t])
            scale = float(scales[t]) if len(scales) else 1.0
            if scale > 0 and realised:
                self.learn([indices[drawn]], [scale], y)
            elif scale > 0:
                self.learn(indices, [w * scale for w in shares], y)
            if record:
                labels.append(indices)
                weights.append(shares)
                issued.append(indices[drawn])
        width = max((len(row) for row in labels), default=1)
        return len(outcomes), (
            padded(labels, width, np.int32),
            padded(weights, width, np.float64),
            np.array(issued, dtype=np.int32),
        )

    def totals(self) -> tuple[Vector, Any, Vector]:
        """Σ g, Σ g·y and Σ g·‖y‖² at each point."""
        inner = self._sums[:, 1:-2]
        return (
            self._sums[:, 0].copy(),
            (inner[:, 0] if self._line else inner).copy(),
            (self._sums[:, -2].copy()),
        )

    def recommended(self) -> Vector:
        """Σ g·ℓ(q) at each point."""
        return self._sums[:, -1].copy()

    def extended(self, plan: Plan, grid: Grid, places: Indices) -> ChainBank:
        """The bank on a finer grid, where old point i is point places[i]."""
        finer = ChainBank(extend_rule(self.rule, plan, grid))
        finer._sums[places] = self._sums
        return finer

    def dump(self) -> dict[str, Any]:
        """The points that have learnt something; the others are as they began."""
        rule, touched = self.rule, np.flatnonzero(self._sums[:, 0] > 0)
        return {
            "touched": touched.tolist(),
            "sums": self._sums[touched].tolist(),
            "targets": rule.bank.targets[touched].tolist(),
            "weight_sums": rule.bank.weight_sums[touched].tolist(),
            "row_indices": rule.row_indices[touched].tolist(),
            "row_weights": rule.row_weights[touched].tolist(),
            "heaviest": int(rule.heaviest),
        }

    def load(self, stored: dict[str, Any]) -> None:
        """Take over what ``dump`` gave, on the same grid."""
        rule, touched = self.rule, np.array(stored["touched"], dtype=np.int64)
        for array, name in (
            (self._sums, "sums"),
            (rule.bank.targets, "targets"),
            (rule.bank.weight_sums, "weight_sums"),
            (rule.row_indices, "row_indices"),
            (rule.row_weights, "row_weights"),
        ):
            kept = np.array(stored[name], dtype=array.dtype)
            array[touched] = kept.reshape(len(touched), *array.shape[1:])
        rule.heaviest = stored["heaviest"]
