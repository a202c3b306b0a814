"""What forecasts cost somebody who acts on them, against the best re-reading of the same forecasts.

Protecting costs c, an event that meets nobody prepared costs 1; who protects when the forecast p
exceeds c regrets (c − ȳ)₊ an event where p > c, and (ȳ − c)₊ where p ≤ c. So the regret of a
forecast that came true with frequency ȳ is |c − ȳ| on the half-open interval between ȳ and p, and 0
elsewhere: straight lines between the forecasts and frequencies of a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector

Table = tuple[Vector, Vector, Vector]
"""Of yes-or-no events: forecasts, their weights, and how often they came true."""


@dataclass(frozen=True)
class Decision:
    """What acting on forecasts lost against the best re-reading of them, as shares of the loss.

    All numbers are per event (per unit of weight), in units of the loss at stake.
    """

    cost_loss: float
    """Cost of protection over the loss that it prevents."""
    measured: float
    """Regret of this run at that ratio."""
    average: float
    """Regret of this run on average over all ratios: half the mean squared calibration error."""
    guaranteed: float | None
    """Bound at every ratio; None where nothing is guaranteed."""
    guaranteed_average: float | None
    """Bound on the average over ratios."""
    worst: bool = False
    """Whether no other ratio has a larger measured regret."""
    on_average: bool = False
    """Whether the guarantee is for the average over our own draws."""

    def __str__(self) -> str:
        who = "Anyone who protects when the forecast exceeds their cost/loss ratio loses, "
        who += "against the best possible re-reading of these forecasts, "
        ratio = f"{'the worst ratio, ' if self.worst else ''}{self.cost_loss:.3g}"
        seen = f"{percent(self.measured)} at {ratio}, and {percent(self.average)} on average"
        if self.guaranteed is None or self.guaranteed_average is None:
            unit = "of the loss at stake per event"
            return f"{who}{seen} over ratios, {unit} (measured; nothing is guaranteed)."
        most, average = (
            percent(bound, up=True) for bound in (self.guaranteed, self.guaranteed_average)
        )
        draws = " (Guaranteed on average over our own draws.)" if self.on_average else ""
        return (
            f"{who}at most {most} of the loss at stake per event, whatever the ratio, and "
            f"{average} on average over ratios; measured {seen}.{draws}"
        )


def regret_at(table: Table, ratios: Vector, below: bool = False) -> Vector:
    """Regret per event at these cost/loss ratios; ``below``: just below them.

    Examples
    --------
    >>> table = np.array([0.5]), np.array([10.0]), np.array([0.25])
    >>> regret_at(table, np.array([0.25, 0.375, 0.5]))
    array([0.   , 0.125, 0.   ])
    """
    forecasts, weights, means = table
    share = weights / weights.sum()
    low, high = np.minimum(forecasts, means), np.maximum(forecasts, means)
    slopes = np.where(forecasts > means, share, -share)
    side = "left" if below else "right"
    slope, height = np.zeros(len(ratios)), np.zeros(len(ratios))
    for ends, sign in ((low, 1.0), (high, -1.0)):
        order = np.argsort(ends, kind="stable")
        passed = np.searchsorted(ends[order], ratios, side=side)  # type: ignore[call-overload]
        slope += sign * np.append(0.0, np.cumsum(slopes[order]))[passed]
        height += sign * np.append(0.0, np.cumsum((slopes * means)[order]))[passed]
    # sums of many terms that cancel: what is below 0 is rounding
    return np.maximum(ratios * slope - height, 0.0)


def worst_ratio(table: Table) -> tuple[float, float]:
    """The ratio with the largest regret per event, and that regret.

    It is at a forecast or at a frequency, for there the straight lines end; just below a forecast
    that was too high, where it may be approached only.
    """
    forecasts, _, means = table
    candidates = np.concatenate((forecasts, forecasts, means))
    at, below = regret_at(table, candidates), regret_at(table, forecasts, below=True)
    values = np.concatenate((below, at[len(forecasts) :]))
    best = int(values.argmax())
    return float(candidates[best]), float(values[best])


def average_regret(table: Table) -> float:
    """∫₀¹ of the regret per event over the ratio: half the mean of (p − ȳ)²."""
    forecasts, weights, means = table
    return float(weights @ np.square(forecasts - means) / weights.sum() / 2)


def checked_ratio(cost_loss: float) -> float:
    """A cost/loss ratio strictly between 0 and 1."""
    ratio = checks.number("cost_loss", cost_loss)
    if not 0 < ratio < 1:
        checks.refuse("cost_loss", "lie strictly between 0 and 1", cost_loss)
    return ratio


def percent(share: float, up: bool = False) -> str:
    """A share in percent: two significant figures, or three that are rounded up.

    Examples
    --------
    >>> percent(0.0153), percent(0.000123), percent(0.0), percent(0.01521, up=True)
    ('1.5 %', '0.012 %', '0 %', '1.53 %')
    """
    value = 100 * share
    if up and value > 0:
        unit = 10.0 ** (math.floor(math.log10(value)) - 2)
        return f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.3g} %"
    return f"{float(f'{value:.2g}'):g} %"
