"""Forecasts of several classes: vectors of probabilities, calibrated class by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.forecasting.class_specs import classwise_spec
from fullswap.forecasting.classes import OfClasses
from fullswap.forecasting.inputs import class_row, class_rows, labels_of
from fullswap.forecasting.without_models import WithoutModels
from fullswap.online.spec import MOST_CLASSES


class MulticlassForecaster(OfClasses, WithoutModels):
    """Forecast events with K >= 3 outcomes, calibrated class by class against any sequence.

    A forecast is one vector of sum 1. Every class is calibrated in soft bins, and so is the
    declared label: ``certificates()`` has both errors beside their guarantees, for every sequence
    of outcomes, and ``explain()`` says what is not guaranteed. For two classes there is
    ``Forecaster``.

    Parameters
    ----------
    classes : int or sequence
        Number of classes K, from 3 to 1000, or their names, which outcomes then have:
        ``["home", "tie", "away"]``.
    horizon : int or None
        Number of events, for ``guarantee``; None if unknown.
    seed : int, Generator or None
        Of the draws; None: fresh entropy of the system, so that nobody can foresee them.
    max_weight : float
        Largest weight of an event in ``update``.

    Examples
    --------
    >>> forecaster = MulticlassForecaster(3, horizon=3000, seed=1)
    >>> run = forecaster.run([0, 1, 2, 0, 0, 1] * 500)
    >>> print(forecaster.certificate())
    3,000 forecasts: ... percentage points off in root mean square, class by class and all classes
    together (chance alone would show ...);
    guaranteed at most ..., whatever happens.
    ...
    """

    _kinds = ("classwise",)
    _settings = ("classes", "horizon", "max_weight")

    def __init__(
        self,
        classes: int | Sequence[Any],
        horizon: int | None = None,
        seed: Any = None,
        *,
        max_weight: float = 1.0,
    ) -> None:
        count, labels = labels_of(classes, 3, MOST_CLASSES, "; for two use Forecaster")
        events, most = checks.horizon(horizon), checks.number("max_weight", max_weight, above=0)
        self._start(classwise_spec(count, 0, events, most), seed, labels)

    def _outcome(self, outcome: Any) -> Vector:
        return class_row(outcome, self.classes, self._labels)

    def _outcomes(self, outcomes: Any, absent: bool = False) -> Any:
        return class_rows(outcomes, self.classes, absent, self._labels)
