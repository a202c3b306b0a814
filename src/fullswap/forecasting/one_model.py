"""The banks behind ``Recalibrator(method="per_bin")`` and ``method="one_weight"``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.forecasting.base import Recorded, crossing_support, empty_record
from fullswap.forecasting.experts import Claim
from fullswap.forecasting.recalibration_bounds import (
    one_weight_calibration,
    one_weight_excess,
    one_weight_rate,
    per_bin_regret,
)

USUAL_HORIZON = 10_000
"""Events for which the one weight's rate is chosen if no horizon is given."""
MOST_BINS = 4000
"""Of "per_bin", which keeps bins·(bins + 1) points."""


class _OneModelBank:
    """Means of outcomes on a grid for each bin of the model."""

    def __init__(self, cells: int, bins: int, rate: float) -> None:
        from fullswap.kernels import one_model as kernel

        self.cells, self._bins, self._rate = cells, bins, rate
        self._bank = np.zeros((5, bins * (cells + 1)))
        self._bank[kernel.POINT] = np.tile(np.arange(cells + 1) / cells, bins)
        self._totals = np.zeros(8)
        self._totals[kernel.LOG_WEIGHT] = math.log(rate) if rate > 0 else 0.0
        self._kernel = kernel

    @property
    def points(self) -> Vector:
        """The grid, once for each bin."""
        return self._bank[0]

    def mix(self, context: Any) -> tuple[Sequence[int], Sequence[float], Any]:
        """One point, or two neighbours."""
        memo = np.empty(7)
        model = float(np.asarray(context).reshape(()))
        left, share = self._kernel.one_model_mix(
            self._bank, self._totals, self._rate, self._bins, model, memo
        )
        return (*crossing_support(left, share), memo)

    def learn(
        self, indices: Sequence[int], scales: Sequence[float], outcome: float, memo: Any
    ) -> None:
        """Feed one outcome."""
        sides = [0.0, 0.0]
        for i, g in zip(indices, scales, strict=True):
            sides[i - int(memo[0])] = g
        self._kernel.one_model_learn(
            self._bank, self._totals, self._rate, memo, sides[0], sides[1], outcome
        )

    def run(
        self,
        contexts: Any,
        outcomes: Vector,
        scales: Vector,
        draws: Vector,
        realised: bool,
        record: bool,
    ) -> tuple[int, Recorded]:
        """All these events at once."""
        recorded = empty_record(len(outcomes) if record else 0)
        self._kernel.one_model_run(
            self._bank, self._totals, self._rate, self._bins, np.empty(7), realised,
            contexts, outcomes, scales, draws, *recorded,
        )  # fmt: skip
        return len(outcomes), recorded

    def _per_value(self) -> Vector:
        """Rows of the bank, summed over bins: shape (4, cells + 1)."""
        return self._bank[1:].reshape(4, self._bins, -1).sum(axis=1)

    def _error(self) -> float:
        """Calibration error Σ_s G_s·(s − ȳ_s)² over the distinct values."""
        weights, ones = self._per_value()[:2]
        points = self._bank[0, : self.cells + 1]
        return float((weights * np.square(points - _mean(ones, weights))).sum())

    def _regret(self) -> float:
        """What the recommendations lost in excess of the best constant of each sub-learner."""
        _, weights, ones, squares, lost = self._bank
        return float((lost - (squares - ones * _mean(ones, weights))).sum())

    def dump(self) -> dict[str, Any]:
        """All that was learnt; of the grid, the points that have learnt something."""
        touched = np.flatnonzero(self._bank[self._kernel.WEIGHT] > 0)
        return {
            "touched": touched.tolist(),
            "bank": self._bank[1:, touched].tolist(),
            "totals": self._totals.tolist(),
        }

    def load(self, stored: dict[str, Any]) -> None:
        """Take over what ``dump`` gave, on the same grid."""
        touched = np.array(stored["touched"], dtype=np.int64)
        self._bank[1:, touched] = np.array(stored["bank"], dtype=float).reshape(4, len(touched))
        self._totals[:] = stored["totals"]


class PerBinBank(_OneModelBank):
    """A calibrated forecaster for each bin of the model's probability; as many bins as cells."""

    def __init__(self, cells: int) -> None:
        if cells > MOST_BINS:
            raise ValueError(f"bins must be at most {MOST_BINS} with 'per_bin', got {cells}")
        super().__init__(cells, cells, 0.0)

    def bound(self, mass: float, horizon: bool) -> float:
        """J, which bounds the calibration error."""
        return per_bin_regret(mass, self.cells, self._bins)

    def claims(self) -> list[Claim]:
        """Calibration error, and Brier score in excess of the bins' mean outcomes."""
        kernel, totals = self._kernel, self._totals
        known = self.bound(float(totals[kernel.MASS]), False)
        after = min(known, float(totals[kernel.ROUNDING]) + self._regret())
        weights, ones, squares = self._bank[1:4].reshape(3, self._bins, -1).sum(axis=2)
        refinement = float((squares - ones * _mean(ones, weights)).sum())
        theorem = "FKO25, Thm calibration"
        excess = float(totals[kernel.PLAYED_LOSS]) - refinement
        name = "total Brier score in excess of the mean outcomes of the model's bins"
        return [
            Claim("l2 calibration error", self._error(), known, after, theorem, False),
            Claim(name, excess, known, after, theorem, False),
        ]


class OneWeightBank(_OneModelBank):
    """A calibrated forecaster and the model, mixed by one weight [CHJL26]."""

    def __init__(self, cells: int, horizon: int | None) -> None:
        super().__init__(cells, 1, one_weight_rate(horizon or USUAL_HORIZON))

    def bound(self, mass: float, horizon: bool) -> float:
        """Most calibration error; loss gaps are at most 1."""
        return one_weight_calibration(mass, self.cells, self._rate, mass)

    def claims(self) -> list[Claim]:
        """Calibration error, and Brier score in excess of the model."""
        kernel, totals = self._kernel, self._totals
        mass, rounding = float(totals[kernel.MASS]), float(totals[kernel.ROUNDING])
        known = self.bound(mass, False)
        mixed = float(totals[kernel.MIXED_LOSS] - self._bank[kernel.LOST].sum())
        excess = one_weight_excess(mass, self.cells, self._rate)
        model = float(totals[kernel.MODEL_LOSS])
        return [
            Claim(
                "l2 calibration error", self._error(), known,
                min(known, rounding + mixed + self._regret()), "CHJL26", True,
            ),
            Claim(
                "total Brier score in excess of the model",
                float(totals[kernel.PLAYED_LOSS]) - model, excess,
                min(excess, rounding + float(totals[kernel.MIXED_LOSS]) - model), "CHJL26", True,
            ),
        ]  # fmt: skip


def _mean(ones: Vector, weights: Vector) -> Vector:
    return np.divide(ones, weights, out=np.zeros_like(ones), where=weights > 0)
