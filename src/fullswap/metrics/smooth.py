"""Smooth calibration error: a measure that does not jump when forecasts move a little."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.metrics.groups import Groups
from fullswap.metrics.reading import read


def smooth_calibration_error(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, of: str = "issued"
) -> float:
    """Smooth calibration error of yes/no forecasts, exact, in O(T log T).

        smCE = sup_f Σ_t (w_t/W)·(y_t − p_t)·f(p_t)

    over the 1-Lipschitz functions f: [0, 1] → [−1, 1]. At most the l1 `calibration_error`, and
    continuous in the forecasts where that one jumps: neighbouring forecasts whose errors cancel
    count as calibrated.

    Examples
    --------
    >>> smooth_calibration_error([0, 1], [0.49, 0.51])  # errors −0.49 and 0.49, 0.02 apart
    0.0049
    """
    return smooth_of(read(y_true, y_proba, sample_weight, of).distinct())


def smooth_of(groups: Groups) -> float:
    """Smooth calibration error of groups of distinct forecasts, in increasing order."""
    if groups.classes > 1:
        rule = "have shape (T,) of yes/no events (take one class against the rest)"
        raise ValueError(f"y_proba must {rule}, got {groups.classes} classes")
    from fullswap.kernels.calibration import cancellation_cost

    forecasts = groups.forecasts[:, 0]
    errors = (groups.sums[:, 0] - groups.weights * forecasts) / groups.total
    kinks = np.concatenate(([0.0], -np.cumsum(errors)))
    order = np.argsort(kinks[:-1], kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    cost = cancellation_cost(kinks[:-1], order, ranks, np.diff(forecasts), kinks[-1])
    return max(float(cost), 0.0)
