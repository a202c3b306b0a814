"""The adversaries of ``fullswap.adversaries`` against a binary forecaster, event by event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np

import fullswap as fs
from fullswap.base.protocols import Mixture
from fullswap.losses import LossClass
from fullswap.sets import Interval
from studies.adversaries import all_adversaries

MOST_EVENTS = 10_000
"""More would take minutes: they run in Python."""


def largest_of_the_house(
    make: Callable[[int], fs.Forecaster], events: int, seeds: Sequence[int], weighted: bool
) -> tuple[str, float]:
    """Name and mean error of the strongest one; ("", 0) for more events than it has time for."""
    if events > MOST_EVENTS:
        return "", 0.0
    errors: dict[str, list[float]] = {}
    for seed in seeds:
        line, squared = Interval(0, 1), LossClass.squared(1.0)
        for adversary in all_adversaries(line, squared, seed, rounds=events):
            errors.setdefault(adversary.name, []).append(
                error_against(adversary, make(seed), events, seed, weighted)
            )
    name = max(errors, key=lambda key: fmean(errors[key]))
    return name, fmean(errors[name])


def error_against(
    adversary: Any, forecaster: fs.Forecaster, events: int, seed: int, weighted: bool
) -> float:
    """Calibration error of a run, from what was forecast and what happened."""
    rng = np.random.default_rng([seed, events])
    masses: dict[float, float] = {}
    ones: dict[float, float] = {}
    realised = forecaster.feedback == "realised"
    for t in range(events):
        mixture = forecaster.peek()
        points = mixture.points.reshape(-1)
        loss = adversary.choose(Mixture(points[:, None], mixture.weights, mixture.indices), t)
        square, slope, _ = loss.coefficients  # a·(x − y)² has its least at the outcome
        outcome = float(np.clip(-slope / (2 * square), 0.0, 1.0))
        weight = float(rng.random()) if weighted else 1.0
        forecast = forecaster.predict()
        forecaster.update(outcome, forecast, weight=weight)
        shares = [(forecast.issued, 1.0)] if realised else zip(points, mixture.weights, strict=True)
        for point, share in shares:
            masses[point] = masses.get(point, 0.0) + share * weight
            ones[point] = ones.get(point, 0.0) + share * weight * outcome
    return sum(
        mass * (point - ones[point] / mass) ** 2 for point, mass in masses.items() if mass > 0
    )
