"""Forecasts of several classes: vectors of probabilities that stay calibrated whatever happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.forecasting.class_specs import classwise_spec, is_classwise
from fullswap.forecasting.classes import OfClasses
from fullswap.forecasting.inputs import class_row, class_rows, labels_of
from fullswap.forecasting.specs import simplex_spec
from fullswap.forecasting.without_models import WithoutModels
from fullswap.online.spec import MOST_CLASSWISE


class MulticlassForecaster(OfClasses, WithoutModels):
    """Forecast events with K outcomes with small calibration error against any sequence.

    The l2 calibration error is Σ_p n_p·‖p − ȳ_p‖² over the distinct vectors p that were
    forecast, n_p times each, ȳ_p the mean of the outcomes that followed. On a grid of multiples
    of 1/N on the simplex, each forecast is a mixture of at most K neighbouring grid points.

    Guarantee: ``guarantee`` bounds it, as the full swap regret that it is [FKO25, Lemma 26], on
    average over our own draws and against outcomes that do not depend on the draw of their own
    event, constants included:
    T·V + (1 − 1/K)·n·Rt(T/n) with n = C(N + K − 1, K − 1) grid points and V ≤ K/(4N²), the N tuned
    to the horizon, Rt(x) = min(x, 1) + ln max(x, 1). It needs many events where K is large: at a
    million of them it is 6 percentage points for three classes, and 25 for eight.

    For more than 8 classes nobody can promise that [FGMS25; P25]. A forecast is then one vector of
    sum 1, calibrated class by class and for its declared label, in soft bins: ``certificates()``
    has both, for every sequence of outcomes, and ``explain()`` says what is not guaranteed.

    Parameters
    ----------
    classes : int or sequence
        Number of classes K, from 2 to 1000, or their names, which outcomes then have:
        ``["home", "tie", "away"]``.
    horizon : int or None
        Number of events; None if unknown (the grid is then refined as events go by).
    seed : int, Generator or None
        Of the draws; None: fresh entropy of the system, so that nobody can foresee them.
    max_weight : float
        Largest weight of an event in ``update``.
    calibration : {None, "full", "classwise"}
        What is calibrated: whole vectors on a grid, for up to 8 classes; or each class, and the
        declared label, for 3 to 1000. None: whole vectors as far as that goes.
    drawn : bool
        Class by class: whether what is issued is drawn, each class on its grid, which is safe on
        hard bins even against somebody who sees every forecast.

    Examples
    --------
    >>> forecaster = MulticlassForecaster(3, horizon=3000, seed=1)
    >>> run = forecaster.run([0, 1, 2, 0, 0, 1] * 500)
    >>> print(forecaster.certificate())
    3,000 forecasts: ... percentage points off in root mean square, as distance of vectors
    (chance alone would show ...);
    guaranteed at most ..., whatever happens.
    ...
    """

    _kinds = ("simplex", "classwise")
    _settings = ("classes", "horizon", "max_weight", "calibration", "drawn")

    def __init__(
        self,
        classes: int | Sequence[Any],
        horizon: int | None = None,
        seed: Any = None,
        *,
        max_weight: float = 1.0,
        calibration: str | None = None,
        drawn: bool = False,
    ) -> None:
        count, labels = labels_of(classes, 2, MOST_CLASSWISE)
        events, most = checks.horizon(horizon), checks.number("max_weight", max_weight, above=0)
        if is_classwise(count, calibration, drawn):
            spec = classwise_spec(count, 0, events, drawn, most)
        else:
            spec = simplex_spec(count, events, "realised", most)
        self._start(spec, seed, labels)

    def _outcome(self, outcome: Any) -> Vector:
        return class_row(outcome, self.classes, self._labels)

    def _outcomes(self, outcomes: Any, absent: bool = False) -> Any:
        return class_rows(outcomes, self.classes, absent, self._labels)
