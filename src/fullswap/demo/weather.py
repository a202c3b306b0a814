"""Rain in Seattle, day by day, and a simple model of whether it rains tomorrow."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fullswap.base.extras import is_installed
from fullswap.base.protocols import Points, Vector

EXTRA = "fullswap demo needs its extra: pip install 'fullswap[demo]'"
FILE = Path("_data") / "seattle-weather.csv"
"""In the package vega_datasets: 2012 to 2015, one row a day."""
FITTED = np.datetime64("2013-01-01")
"""The model learns from days before this one and forecasts all others."""
WINTER = (10, 11, 12, 1, 2, 3)
"""Months from which the model learns."""
PENALTY, STEPS = 1.0, 25
"""Of the logistic regression: ridge, and steps of Newton's method (it settles in ten)."""


@dataclass(frozen=True, eq=False)
class Rain:
    """Days that were forecast: what the model said the evening before, and what happened."""

    days: NDArray[np.datetime64]
    said: Vector
    """Probability of rain, a share."""
    happened: Vector
    """1 if it rained (or snowed), else 0."""
    learnt_from: int
    """Days that the model was fitted on."""


def read_rain() -> Rain:
    """The model's forecasts from 2013 on, each made from the day before it alone."""
    days, rain, features = _read(_file())
    known, target, when = features[:-1], rain[1:], days[1:]
    months = when.astype("datetime64[M]").astype(int) % 12 + 1
    fitted = (when < FITTED) & np.isin(months, WINTER)
    used = when >= FITTED
    said = _logistic(known[fitted], target[fitted], known[used])
    return Rain(when[used], said, target[used], int(fitted.sum()))


def _file() -> Path:
    """The file of the installed package, which is not imported: it would load pandas."""
    found = find_spec("vega_datasets") if is_installed("vega_datasets") else None
    if found is None or not found.submodule_search_locations:
        raise ImportError(EXTRA)
    return Path(found.submodule_search_locations[0]) / FILE


def _read(path: Path) -> tuple[NDArray[np.datetime64], Vector, Points]:
    """Days, whether it rained, and what is known in the evening of each."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    days = np.array([row["date"].replace("/", "-") for row in rows], dtype="datetime64[D]")
    fields = ("precipitation", "temp_max", "temp_min", "wind")
    fallen, warmest, coldest, wind = (np.array([float(r[f]) for r in rows]) for f in fields)
    rain = (fallen > 0).astype(float)
    span = warmest - coldest
    features = np.column_stack((rain, np.log1p(fallen), warmest, coldest, span, wind))
    return days, rain, features


def _logistic(known: Points, target: Vector, asked: Points) -> Vector:
    """Ridge logistic regression by Newton's method, features scaled as in what it is fitted on."""
    centre, scale = known.mean(axis=0), known.std(axis=0)

    def design(features: Points) -> Points:
        return np.column_stack((np.ones(len(features)), (features - centre) / scale))

    seen = design(known)
    weights = np.zeros(seen.shape[1])
    for _ in range(STEPS):
        chance = _sigmoid(seen @ weights)
        curvature = seen.T @ (seen * (chance * (1 - chance))[:, None])
        slope = seen.T @ (target - chance) - PENALTY * weights
        weights += np.linalg.solve(curvature + PENALTY * np.eye(len(weights)), slope)
    return _sigmoid(design(asked) @ weights)


def _sigmoid(values: Vector) -> Vector:
    return np.asarray(1 / (1 + np.exp(-values)))
