"""fullswap: probabilities that can be taken at face value, whatever happens.

``check`` says whether forecasts are calibrated, ``Recalibrator`` corrects those of a model,
``Forecaster`` makes them alone, ``games.solve`` finds correlated equilibria, and
``FullSwapLearner`` is what all of it rests on. Each comes with its guarantee as a number.

Names load on first use, so that importing the package stays fast.

Examples
--------
>>> import fullswap as fs
>>> said, happened = [0.9, 0.1] * 100, [1, 1, 1, 0, 0, 0, 1, 0, 1, 0] * 20
>>> fs.check(happened, said).verdict
'miscalibrated'
>>> forecast = fs.Recalibrator(seed=1).predict(0.9)
>>> 0 < forecast.issued < 1
True
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_HOMES = {
    "Bank": "fullswap.forecasting",
    "Certificate": "fullswap.certificates",
    "Check": "fullswap.checking",
    "Comparison": "fullswap.checking",
    "Forecast": "fullswap.forecasting",
    "Forecaster": "fullswap.forecasting",
    "FullSwapLearner": "fullswap.template",
    "LossClass": "fullswap.losses",
    "Mixture": "fullswap.base.protocols",
    "Monitor": "fullswap.checking.monitor",
    "MonitorBank": "fullswap.checking.monitor_bank",
    "MulticlassForecaster": "fullswap.forecasting",
    "Recalibrator": "fullswap.forecasting",
    "Record": "fullswap.base.records",
    "check": "fullswap.checking",
    "simulate": "fullswap.play",
    "warm_up": "fullswap.warming",
}
_MODULES = (
    "adversaries",
    "checking",
    "forecasting",
    "games",
    "grids",
    "learners",
    "losses",
    "metrics",
    "report",
    "rounding",
    "sets",
    "theorems",
)

__all__ = sorted([*_HOMES, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"fullswap.{name}")
    raise AttributeError(f"module 'fullswap' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
