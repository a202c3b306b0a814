"""Calibrated forecasts, one event after the other: presets over the template.

``Forecaster`` for yes-or-no events. Each forecast is a distribution over a few grid points, from
which one is drawn and issued; its guarantee, a number, stands beside the measured error.
"""

from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.forecast import Forecast, ForecastRun

__all__ = ["Forecast", "ForecastRun", "Forecaster"]
