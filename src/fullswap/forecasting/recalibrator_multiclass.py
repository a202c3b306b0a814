"""The bank behind ``Recalibrator(classes=K)`` for K > 2: experts on a Kuhn grid of the simplex."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.forecasting.base import Recorded, empty_record
from fullswap.forecasting.checks import class_row, class_rows
from fullswap.forecasting.experts import Claim, expert_names
from fullswap.forecasting.recalibration_bounds import (
    OWN_PRIOR,
    mesh_calibration,
    mesh_excess,
)
from fullswap.grids.kuhn import KuhnLocator, kuhn_simplex
from fullswap.sets import Simplex

MOST_POINTS = 1_000_000
KINDS = ("", ", recalibrated", ", recalibrated with forgetting", ", shifted by likeliest class")
"""Experts an input, in the order of the kernel."""


class MeshExpertBank:
    """Experts on the points of the simplex whose coordinates are multiples of 1/cells."""

    def __init__(self, cells: int, models: int, classes: int) -> None:
        from fullswap.kernels import experts_mesh as kernel
        from fullswap.kernels.logistic import SCALING_VARIANCE
        from fullswap.kernels.stationary import make_scratch

        if math.comb(cells + classes - 1, classes - 1) > MOST_POINTS:
            raise ValueError(
                f"bins must give at most {MOST_POINTS} grid points, got {cells} with "
                f"{classes} classes"
            )
        self.cells, self.models, self.classes = cells, models, classes
        grid = kuhn_simplex(Simplex(classes - 1), 1.0 / cells)
        locate = grid.locate
        assert isinstance(locate, KuhnLocator)
        self.points: Points = np.ascontiguousarray(grid.points)
        self._variance = float(grid.variance)
        self._lattice = (locate.cells, locate.strides, locate.lookup)
        n = len(self.points)
        inputs = models + 1 if models > 1 else 1
        count = kernel.KINDS * inputs
        self._bank = np.zeros((n, kernel.ONES + classes))
        self._bank[:, kernel.ODDS] = math.log(OWN_PRIOR / (1 - OWN_PRIOR))
        self._mix = np.zeros((4, count))
        self._mix[kernel.SHARE] = self._mix[kernel.PRIOR] = 1.0 / count
        self._scaling = np.zeros((inputs, 2, classes + 1, classes + 2))
        self._scaling[:, :, 0, 0] = 1.0  # slopes; biases start at 0
        self._scaling[:, :, :, 1:] = np.eye(classes + 1) / SCALING_VARIANCE
        self._cells = np.zeros((inputs, classes, 1 + classes))
        self._totals = np.zeros(5)
        self._memo_shape = (1 + 2 * inputs + count, classes)
        self._work = np.zeros((classes + 4, classes + 1))
        self._chain, self._stamps = make_scratch(n), np.zeros(1, np.int64)
        self._rows, self._shares = np.zeros((n, classes), np.int64), np.zeros((n, classes))
        self._kernel = kernel
        self._shared = (self._mix, self._scaling, self._cells)
        self._widen(4 * classes)

    def _widen(self, width: int) -> None:
        """Make room for supports of this size."""
        width = min(width, max(len(self.points), self.classes))
        members = np.zeros(max(len(self.points), width), np.int64)
        self._width = width
        self._walk = (
            self._chain, self._stamps, self._rows, self._shares, members,
            np.zeros((width, width)), np.zeros(width), np.zeros((3, 2 * self._kernel.HALF)),
            np.zeros(self._kernel.HALF, np.int64),
        )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """The experts by name, in the order of the mix."""
        return expert_names(self.models, KINDS)

    def mix(self, context: Any) -> tuple[Sequence[int], Sequence[float], Any]:
        """A stationary distribution on a few points; the memo is all that was advised."""
        memo = np.zeros(self._memo_shape)
        size = -1
        while size < 0:
            size = self._kernel.mesh_experts_mix(
                self.points, self._bank, *self._shared, self._lattice, self._walk, context, memo
            )
            if size < 0:
                self._widen(max(-size, 2 * self._width))
        return self._walk[4][:size].tolist(), self._walk[6][:size].tolist(), memo

    def learn(
        self, indices: Sequence[int], scales: Sequence[float], outcome: Vector, memo: Any
    ) -> None:
        """Feed one outcome (K,)."""
        self._kernel.mesh_experts_learn(
            self.points, self._bank, *self._shared, self._totals, self._variance, memo,
            np.array(indices), np.array(scales), outcome, self._work,
        )  # fmt: skip

    def run(
        self,
        contexts: Any,
        outcomes: Any,
        scales: Vector,
        draws: Vector,
        realised: bool,
        record: bool,
    ) -> tuple[int, Recorded]:
        """As many of these events as the present room for supports allows, at least one."""
        rows = outcomes
        if rows.ndim == 1:
            rows = np.eye(self.classes)[outcomes.astype(np.int64)]
        rows = np.ascontiguousarray(rows)
        while True:
            labels, weights, issued = empty_record(len(rows) if record else 0, self._width)
            ran = self._kernel.mesh_experts_run(
                self.points, self._bank, *self._shared, self._totals, self._variance,
                self._lattice, self._walk, np.zeros(self._memo_shape), self._work, realised,
                contexts, rows, scales, draws, labels, weights, issued,
            )  # fmt: skip
            if ran < len(rows):
                self._widen(2 * self._width)
            if ran:
                return ran, (labels[:ran], weights[:ran], issued[:ran])

    # --- what is guaranteed -----------------------------------------------------------------

    def bound(self, mass: float, horizon: bool) -> float:
        """Most calibration error."""
        return mesh_calibration(mass, len(self.points), self._variance, spread(self.points))

    def claims(self) -> list[Claim]:
        """Calibration error first, then the excess Brier score against each expert."""
        kernel, totals, bank = self._kernel, self._totals, self._bank
        weights, squares, lost = (bank[:, k] for k in (kernel.WEIGHT, kernel.SQUARES, kernel.LOST))
        ones = bank[:, kernel.ONES :]
        divisor = np.where(weights > 0, weights, 1.0)[:, None]
        mean = ones / divisor
        error = float((weights * np.square(self.points - mean).sum(axis=1)).sum())
        regret = float((lost - (squares - (ones * mean).sum(axis=1))).sum())
        mass, updates = float(totals[kernel.MASS]), float(totals[kernel.UPDATES])
        rounding = float(totals[kernel.ROUNDING_MOST])
        known = self.bound(mass, False)
        claims = [
            Claim(
                "l2 calibration error", error, known, min(known, rounding + regret),
                "FKO25, Thm calibration; VZ09", False,
            )
        ]  # fmt: skip
        advice = float(totals[kernel.ADVICE_LOSS])
        for m, name in enumerate(self.names):
            prior = float(self._mix[kernel.PRIOR, m])
            # while an expert sleeps it is taken to say what the advice says
            gained = float(self._mix[kernel.AWAKE_LOSS, m] - self._mix[kernel.EXPERT_LOSS, m])
            excess = mesh_excess(mass, len(self.points), self._variance, prior, updates)
            claims.append(
                Claim(
                    f"total Brier score in excess of {name}",
                    float(totals[kernel.PLAYED_LOSS]) - advice + gained,
                    excess,
                    min(excess, rounding + float(lost.sum()) - advice + gained),
                    "VZ09",
                    True,
                )
            )
        return claims

    # --- checks -----------------------------------------------------------------------------

    def as_outcome(self, outcome: Any) -> Vector:
        """One outcome as K probabilities."""
        return class_row(outcome, self.classes)

    def as_outcomes(self, outcomes: Any) -> Any:
        """Classes (T,) or rows of probabilities (T, K)."""
        return class_rows(outcomes, self.classes)

    # --- saved state --------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All that was learnt; of the grid, the points that have learnt something."""
        touched = np.flatnonzero(self._bank[:, self._kernel.WEIGHT] > 0)
        return {
            "touched": touched.tolist(),
            "bank": self._bank[touched].tolist(),
            "mix": self._mix.tolist(),
            "recalibrations": self._scaling.tolist(),
            "errors": self._cells.tolist(),
            "totals": self._totals.tolist(),
        }

    def load(self, stored: dict[str, Any]) -> None:
        """Take over what ``dump`` gave, on the same grid."""
        touched = np.array(stored["touched"], dtype=np.int64)
        bank = np.array(stored["bank"], dtype=float)
        self._bank[touched] = bank.reshape(len(touched), self._bank.shape[1])
        for array, name in (
            (self._mix, "mix"), (self._scaling, "recalibrations"), (self._cells, "errors"),
            (self._totals, "totals"),
        ):  # fmt: skip
            array[:] = np.array(stored[name], dtype=float).reshape(array.shape)


def spread(points: Points) -> float:
    """Sum over points of the squared distance to the farthest corner, ‖s‖² + 1 − 2·min s.

    Examples
    --------
    >>> spread(np.array([[1.0, 0.0, 0.0], [0.25, 0.25, 0.5]]))
    2.875
    """
    return float((np.square(points).sum(axis=1) + 1 - 2 * points.min(axis=1)).sum())


def mesh_cells(horizon: float, classes: int) -> int:
    """The number of cells a side with the smallest bound for this many events.

    Examples
    --------
    >>> mesh_cells(100_000, 3)
    9
    """
    best, lowest, worse, cells = 1, math.inf, 0, 0
    # the bound falls, then grows; a few steps past its minimum settle it
    while worse < 3 and math.comb(cells + classes, classes - 1) <= MOST_POINTS:
        cells += 1
        grid = kuhn_simplex(Simplex(classes - 1), 1.0 / cells)
        bound = mesh_calibration(
            horizon, len(grid.points), float(grid.variance), spread(grid.points)
        )
        worse = 0 if bound < lowest else worse + 1
        if bound < lowest:
            best, lowest = cells, bound
    return best
