"""A quantity of the events so far beside its bound."""

from __future__ import annotations

from dataclasses import dataclass

from fullswap.base.protocols import Vector
from fullswap.certificates import Quantity


@dataclass(frozen=True)
class Claim:
    """A quantity and its bounds, all for weights of at most 1.

    ``in_order`` marks bounds that need each outcome before the next forecast, wherever it is made;
    the others only need that at each grid point. ``result`` names the entry of the ledger.
    ``noise`` is what a calibrated forecaster would show by chance; ``table`` what was said and how
    often it came true: forecasts, their weights and their mean outcomes, of yes-or-no events.
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
