"""Smooth calibration error: a measure that does not jump when forecasts move a little."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.metrics.outcomes import Groups, read_events


def smooth_calibration_error(y_true: Any, y_proba: Any, sample_weight: Any = None) -> float:
    """Smooth calibration error of yes/no forecasts, exact, in O(T log T).

        smCE = sup_f Σ_t (w_t/W)·(y_t − p_t)·f(p_t)

    over the 1-Lipschitz functions f: [0, 1] → [−1, 1]. At most the l1 `calibration_error`, and
    continuous in the forecasts where that one jumps: neighbouring forecasts whose errors cancel
    count as calibrated. ``y_true`` and ``y_proba`` have shape (T,).

    Examples
    --------
    >>> smooth_calibration_error([0, 1], [0.49, 0.51])  # errors −0.49 and 0.49, 0.02 apart
    0.0049
    >>> smooth_calibration_error([0, 0, 1], [0.8, 0.8, 0.8])
    0.467
    """
    return smooth_of(read_events(y_true, y_proba, sample_weight).distinct())


def smooth_of(groups: Groups) -> float:
    """Smooth calibration error of groups of distinct forecasts, in increasing order."""
    if groups.classes > 1:
        raise ValueError(
            f"y_proba has {groups.classes} classes; allowed: yes/no events with y_proba (T,) "
            "(take one class against the rest)"
        )
    from fullswap.kernels.calibration import cancellation_cost

    forecasts = groups.forecasts[:, 0]
    errors = (groups.sums[:, 0] - groups.weights * forecasts) / groups.total
    kinks = np.concatenate(([0.0], -np.cumsum(errors)))
    order = np.argsort(kinks[:-1], kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    cost = cancellation_cost(kinks[:-1], order, ranks, np.diff(forecasts), kinks[-1])
    return max(float(cost), 0.0)
