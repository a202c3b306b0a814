"""The bank behind ``Recalibrator(method="experts")``: experts shared by all points, then by each.

Two levels (see ``fullswap.kernels.experts``): what the models say and simple recalibrations of it
are merged into one advice; each grid point weighs that advice against its own mean outcome.
Learning which expert is best is thus paid once, not once a point, and a point never played
starts from all that is known already.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.forecasting.base import Recorded, crossing_support, empty_record
from fullswap.forecasting.recalibration_bounds import (
    OWN_PRIOR,
    experts_calibration,
    experts_excess,
)

MODEL_BINS = 20
"""Bins of a model's probability whose mean error one expert corrects."""
KINDS = ("", ", recalibrated", ", recalibrated with forgetting", ", shifted by bin")
"""Experts an input, in the order of the kernel."""


@dataclass(frozen=True)
class Claim:
    """A quantity of the events so far and its bound, both for weights of at most 1.

    ``in_order`` marks bounds that need each outcome before the next forecast, wherever it is
    made; the others only need that at each grid point.
    """

    quantity: str
    measured: float
    guaranteed: float
    after_the_fact: float
    theorem: str
    in_order: bool


class ExpertBank:
    """Experts on a line of cells + 1 points."""

    def __init__(self, cells: int, models: int) -> None:
        from fullswap.kernels import experts as kernel
        from fullswap.kernels.logistic import PLATT_VARIANCE

        self.cells, self.models = cells, models
        inputs = models + 1 if models > 1 else 1
        count = kernel.KINDS * inputs
        self._bank = np.zeros((6, cells + 1))
        self._bank[kernel.POINT] = np.arange(cells + 1) / cells
        self._bank[kernel.ODDS] = math.log(OWN_PRIOR / (1 - OWN_PRIOR))
        self._mix = np.zeros((4, count))
        self._mix[kernel.SHARE] = self._mix[kernel.PRIOR] = 1.0 / count
        self._platt = np.zeros((inputs, 10))
        self._platt[:, [1, 6]] = 1.0  # slopes; intercepts start at 0
        self._platt[:, [2, 4, 7, 9]] = 1.0 / PLATT_VARIANCE
        self._cells = np.zeros((inputs, MODEL_BINS, 2))
        self._totals = np.zeros(6)
        self._memo_size = kernel.HEAD + 2 * inputs + count
        self._input = np.empty(models)
        self._kernel = kernel
        self._shared = (self._mix, self._platt, self._cells)

    @property
    def points(self) -> Vector:
        """The grid, shape (n,)."""
        return self._bank[0]

    @property
    def names(self) -> list[str]:
        """The experts by name, in the order of the mix."""
        return expert_names(self.models, KINDS)

    def mix(self, context: Any) -> tuple[Sequence[int], Sequence[float], Any]:
        """One point, or two neighbours; the memo is all that was advised."""
        memo = np.empty(self._memo_size)
        self._input[:] = context
        left, share = self._kernel.experts_mix(self._bank, *self._shared, self._input, memo)
        return (*crossing_support(left, share), memo)

    def learn(
        self, indices: Sequence[int], scales: Sequence[float], outcome: float, memo: Any
    ) -> None:
        """Feed one outcome; recommendations are charged as of the forecast."""
        left, right, g_left, g_right = 0, 0, 0.0, 0.0
        for i, g in zip(indices, scales, strict=True):
            if self._bank[0, i] == memo[0]:
                left, g_left = i, g
            else:
                right, g_right = i, g
        self._kernel.experts_learn(
            self._bank, *self._shared, self._totals, memo, left, g_left, right, g_right, outcome
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
        self._kernel.experts_run(
            self._bank, *self._shared, self._totals, np.empty(self._memo_size), realised,
            contexts, outcomes, scales, draws, *recorded,
        )  # fmt: skip
        return len(outcomes), recorded

    def refined(self, cells: int) -> tuple[ExpertBank, Any]:
        """The bank on a finer grid that contains this one, and where the old points are in it."""
        finer = ExpertBank(cells, self.models)
        places = np.arange(self.cells + 1) * (cells // self.cells)
        finer._bank[1:, places] = self._bank[1:]
        for new, old in zip(finer._shared, self._shared, strict=True):
            new[:] = old
        finer._totals[:] = self._totals
        return finer, places

    # --- what is guaranteed -----------------------------------------------------------------

    def bound(self, mass: float, horizon: bool) -> float:
        """Most calibration error: for a horizon on this grid, or for the events so far."""
        rounding = None if horizon else float(self._totals[self._kernel.ROUNDING_MOST])
        return experts_calibration(mass, self.cells, rounding)

    def claims(self) -> list[Claim]:
        """Calibration error first, then the excess Brier score against each expert."""
        kernel, totals = self._kernel, self._totals
        points, weights, ones, squares, lost = self._bank[:5]
        mean = np.divide(ones, weights, out=np.zeros_like(ones), where=weights > 0)
        error = float((weights * np.square(points - mean)).sum())
        regret = float((lost - (squares - ones * mean)).sum())
        rounding = float(totals[kernel.ROUNDING])
        most = float(totals[kernel.ROUNDING_MOST])
        mass, updates = float(totals[kernel.MASS]), float(totals[kernel.UPDATES])
        known = experts_calibration(mass, self.cells, most)
        claims = [
            Claim(
                "l2 calibration error", error, known, min(known, rounding + regret),
                "FKO25, Thm calibration; HKW98", False,
            )
        ]  # fmt: skip
        for m, name in enumerate(self.names):
            prior = float(self._mix[kernel.PRIOR, m])
            # while an expert sleeps it is taken to say what the advice says
            gained = float(self._mix[kernel.AWAKE_LOSS, m] - self._mix[kernel.EXPERT_LOSS, m])
            advice = float(totals[kernel.ADVICE_LOSS])
            excess = experts_excess(mass, self.cells, prior, updates, most)
            claims.append(
                Claim(
                    f"total Brier score in excess of {name}",
                    float(totals[kernel.PLAYED_LOSS]) - advice + gained,
                    excess,
                    min(excess, rounding + float(lost.sum()) - advice + gained),
                    "HKW98",
                    True,
                )
            )
        return claims

    # --- saved state ------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All that was learnt; of the grid, the points that have learnt something."""
        touched = np.flatnonzero(self._bank[self._kernel.WEIGHT] > 0)
        return {
            "cells": self.cells,
            "touched": touched.tolist(),
            "bank": self._bank[1:, touched].tolist(),
            "mix": self._mix.tolist(),
            "recalibrations": self._platt.tolist(),
            "bins": self._cells.tolist(),
            "totals": self._totals.tolist(),
        }

    def load(self, stored: dict[str, Any]) -> None:
        """Take over what ``dump`` gave, on the same grid."""
        touched = np.array(stored["touched"], dtype=np.int64)
        self._bank[1:, touched] = np.array(stored["bank"], dtype=float).reshape(5, len(touched))
        for array, name in (
            (self._mix, "mix"), (self._platt, "recalibrations"), (self._cells, "bins"),
            (self._totals, "totals"),
        ):  # fmt: skip
            array[:] = np.array(stored[name], dtype=float).reshape(array.shape)


def expert_names(models: int, kinds: Sequence[str]) -> list[str]:
    """Every kind of every input: the models, and of several their pool too."""
    inputs = ["the model"]
    if models > 1:
        inputs = [f"model {j}" for j in range(models)] + ["the pool of models"]
    return [name + kind for name in inputs for kind in kinds]


def dump_memo(memo: Any) -> list[float | None]:
    """A memo as JSON knows it: NaN (an absent model) is null."""
    return [None if value != value else value for value in memo.ravel().tolist()]


def load_memo(stored: Sequence[float | None]) -> Any:
    """What ``dump_memo`` wrote."""
    return np.array([math.nan if value is None else value for value in stored])
