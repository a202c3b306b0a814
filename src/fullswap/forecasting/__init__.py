"""Calibrated forecasts, one event after the other: presets over the template.

``Forecaster`` for yes-or-no events, ``MulticlassForecaster`` for several classes, ``Recalibrator``
for the probabilities of models. Each forecast is a distribution over a few grid points, from
which one is drawn and issued; its guarantee, a number, stands beside the measured error.
"""

from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.forecast import Forecast
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.forecasting.one_vs_rest import OneVsRest, OneVsRestForecast, OneVsRestRun
from fullswap.forecasting.recalibrator import Recalibrator

__all__ = [
    "Forecast",
    "Forecaster",
    "MulticlassForecaster",
    "OneVsRest",
    "OneVsRestForecast",
    "OneVsRestRun",
    "Recalibrator",
]
