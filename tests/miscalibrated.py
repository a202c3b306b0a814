"""Streams of forecasts that are wrong in known ways, and one that is right.

Each has a function from forecasts p, shape (n,), to the chances of yes that these events really
have. ``stream(name, n, rng)`` draws forecasts and outcomes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
SPREAD = 1.5
"""Standard deviation of the logits of the forecasts."""
RARE = 0.02
"""Middle forecast of rare events."""


def sigmoid(x: Vector) -> Vector:
    """1/(1 + e^-x)."""
    return np.asarray(1 / (1 + np.exp(-x)))


def logit(p: Vector) -> Vector:
    """ln(p/(1 − p))."""
    return np.asarray(np.log(p) - np.log1p(-p))


def flipped(p: Vector) -> Vector:
    """0.4 logits more for the first half, 0.4 less for the second."""
    half = np.arange(len(p)) < len(p) / 2
    return sigmoid(logit(p) + np.where(half, 0.4, -0.4))


CHANCES: dict[str, Callable[[Vector], Vector]] = {
    "right": lambda p: p,
    "slope .75": lambda p: sigmoid(0.75 * logit(p)),
    "slope .6": lambda p: sigmoid(0.6 * logit(p)),
    "shift .25": lambda p: sigmoid(logit(p) + 0.25),
    "top": lambda p: np.where(p > 0.75, p - 0.1, p),
    "wiggle": lambda p: np.clip(p + 0.08 * np.sin(6 * np.pi * p), 0, 1),
    "flip": flipped,
    "rare": lambda p: np.minimum(1.4 * p, 1),
}
"""The chance of yes, by what is wrong with the forecasts."""
TABLE = ("slope .75", "slope .6", "shift .25", "top", "wiggle", "flip", "rare")
"""The wrong ones."""


def forecasts(name: str, n: int, rng: np.random.Generator) -> Vector:
    """Forecasts as one would see them beside this flaw."""
    if name == "rare":
        return sigmoid(np.log(RARE / (1 - RARE)) + 0.5 * rng.standard_normal(n))
    return sigmoid(SPREAD * rng.standard_normal(n))


def stream(name: str, n: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Outcomes and forecasts, shape (n,) each."""
    p = forecasts(name, n, rng)
    y = (rng.random(n) < CHANCES[name](p)).astype(np.float64)
    return y, p
