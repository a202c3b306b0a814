"""Calibrated forecasts, one event after the other: thin skins over rows of ``fullswap.online``.

``Forecaster`` for yes-or-no events, ``MulticlassForecaster`` for several classes, ``Recalibrator``
for the probabilities of models. Each forecast is a distribution over two grid points, from
which one is drawn and issued, or of many classes one vector; its guarantee, a number, stands beside
the measured error.
"""

from fullswap.forecasting.bank import Bank
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.forecasting.protocol import OnlineForecasting
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.forecasting.running import Answers
from fullswap.online.tickets import Forecast

__all__ = [
    "Answers",
    "Bank",
    "Forecast",
    "Forecaster",
    "MulticlassForecaster",
    "OnlineForecasting",
    "Recalibrator",
]
