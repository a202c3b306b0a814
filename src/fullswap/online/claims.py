"""A quantity of the events so far beside its bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.certificates import Quantity


@dataclass(frozen=True)
class Claim:
    """A quantity and its bounds, all for weights of at most 1.

    ``in_order`` marks bounds that need each outcome before the next forecast, wherever it is made;
    the others only need that at each grid point. ``result`` names the entry of the ledger.
    ``noise`` is what a calibrated forecaster would show by chance; ``table`` what was said and how
    often it came true: forecasts, their weights and their mean outcomes, of yes-or-no events.
    ``brier`` is the total Brier score beside an excess of it; ``about`` a sentence on what exactly
    is measured, where that needs one. A bound is infinite where nothing is known. ``largest`` is
    the most that an event of scale 1 can add, where that is not the kind's squared diameter.
    """

    quantity: Quantity
    measured: float
    guaranteed: float
    after_the_fact: float
    result: str
    in_order: bool = False
    against: str = ""
    noise: float | None = None
    table: tuple[Vector, Vector, Vector] | None = None
    brier: float | None = None
    about: str = ""
    group: str | None = None
    """Which group it is about; None: all events."""
    rounds: int | None = None
    """Forecasts with an outcome, where it is about a group."""
    mass: float | None = None
    """Their mass."""
    largest: float | None = None


def chance_of(points: Vector, weights: Vector) -> float:
    """Error that a calibrated forecaster would show by chance: Σ p(1 − p).

    For weights of at most 1; a point of mass below 1 shows no more than that share of it.

    Examples
    --------
    >>> chance_of(np.array([0.5, 0.1]), np.array([7.0, 0.0]))
    0.25
    """
    return float(np.minimum(weights, 1.0) @ (points * (1 - points)))
