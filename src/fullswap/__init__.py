"""fullswap: full-swap-regret learners, each with its guarantee as a number.

Names load on first use, so that importing the package stays fast.

Examples
--------
>>> import fullswap as fs
>>> fs.sets.Interval(0, 1).diameter
1.0
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
    "OneVsRest": "fullswap.forecasting",
    "Recalibrator": "fullswap.forecasting",
    "Record": "fullswap.base.records",
    "check": "fullswap.checking",
    "simulate": "fullswap.play",
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
