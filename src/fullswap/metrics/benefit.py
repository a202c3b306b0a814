"""What forecasts are worth to those who act on them."""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.metrics.cells import Cells


def net_benefit(cells: Cells, thresholds: Vector) -> Vector:
    """Net benefit of acting when p >= t, for thresholds t in [0, 1): TP/W − FP/W·t/(1 − t).

    The threshold says what a needless act costs: t/(1 − t) of the gain of a needed one (Vickers,
    Elkin 2006). Never acting has net benefit 0.

    Examples
    --------
    >>> cells = Cells.of_events(np.array([1.0, 0, 1, 0]), np.array([0.9, 0.6, 0.5, 0.1]))
    >>> net_benefit(cells, np.array([0.5]))
    array([0.25])
    """
    weight, yes = _from(cells.weight), _from(cells.yes)
    at = np.searchsorted(cells.forecast, thresholds)
    benefit: Vector = yes[at] - (weight[at] - yes[at]) * thresholds / (1 - thresholds)
    return benefit / cells.total


def treat_all(cells: Cells, thresholds: Vector) -> Vector:
    """Net benefit of acting whatever the forecast."""
    mean = cells.yes.sum() / cells.total
    benefit: Vector = mean - (1 - mean) * thresholds / (1 - thresholds)
    return benefit


def _from(values: Vector) -> Vector:
    """Sums of the values from each place on, and 0 behind the last, shape (m + 1,)."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))
