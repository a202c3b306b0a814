"""Axes of probabilities: the unit interval, the end of it that is used, or log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RARE, MOSTLY = 0.1, 0.9
"""Log-odds are used where this share of the weight is forecast below the one, or above 1 − it."""
SMALLEST = 1e-6
"""Log-odds axes show nothing nearer to 0 or 1."""
HISTOGRAM_BARS = 50
"""Bars of the counts where forecasts are continuous: two percent each on the unit interval."""
TICK = 0.42
"""Inches for a tick and its name."""


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`."""

    low: float
    high: float
    log_odds: bool
    ends: tuple[bool, bool] = (False, False)
    """On log-odds axes: whether 0, and 1, are shown, at the very ends."""

    def place(self, values: Vector) -> Vector:
        """Where values are drawn: on log-odds axes 0 and 1 stand at the ends."""
        return np.clip(values, self.low, self.high) if self.log_odds else values

    def flat(self, values: Vector) -> Vector:
        """Values in proportion to where they are on the page."""
        return _odds(values) if self.log_odds else values

    def edges(self, bars: int = HISTOGRAM_BARS) -> Vector:
        """Ends of bars of equal width that fill the axis."""
        if self.log_odds:
            inner = _odds_back(np.linspace(*_odds([self.low, self.high]), bars + 1))[1:-1]
            return np.concatenate([[self.low], inner, [self.high]])
        return np.linspace(max(self.low, 0.0), min(self.high, 1.0), bars + 1)

    def dress(self, ax: Axes, x: bool = True, y: bool = True) -> None:
        """Scale, limits and ticks of axes."""
        from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

        if x:
            ax.set_xscale("logit" if self.log_odds else "linear")
            ax.set_xlim(self.low, self.high)
        if y:
            ax.set_yscale("logit" if self.log_odds else "linear")
            ax.set_ylim(self.low, self.high)
        most = int(np.clip(style.inches_of(ax) / TICK, 2, 8))
        for axis in (ax.xaxis,) * x + (ax.yaxis,) * y:
            if self.log_odds:
                ticks, names = self.ticks(most)
                axis.set_major_locator(FixedLocator(ticks))
                axis.set_major_formatter(FixedFormatter(names))
                axis.set_minor_locator(NullLocator())
            else:
                axis.set_major_locator(MaxNLocator(min(most, 6)))
                axis.set_major_formatter(lambda value, _: percent(value))

    def ticks(self, most: int = 8) -> tuple[list[float], list[str]]:
        """Ticks of log-odds axes and their names: 0.1 %, 1 %, 10 %, …"""
        exponents = np.arange(1, 10)
        ticks = np.array([])
        # Decades, then with parts of them if these are few.
        for parts in ([1.0], [1.0, 3.0], [1.0, 2.0, 5.0]):
            low = (np.array(parts)[:, None] * 10.0**-exponents).ravel()
            every = np.unique(np.concatenate([low[low < 0.5], [0.5], 1 - low[low < 0.5]]))
            inside = every[(every >= self.low * (1 - 1e-9)) & (every <= self.high)]
            if len(ticks) and len(inside) > most:
                break
            ticks = inside
            if len(ticks) >= most - 2:
                break
        span = _odds([self.low, self.high])
        apart = 0.09 * (span[1] - span[0])
        # The ends need their room.
        left = _odds(ticks) - span[0] > apart if self.ends[0] else np.ones(len(ticks), bool)
        right = span[1] - _odds(ticks) > apart if self.ends[1] else np.ones(len(ticks), bool)
        chosen = [float(tick) for tick in ticks[left & right]]
        chosen = chosen[:: -(-len(chosen) // most)] if len(chosen) > most else chosen
        names = [percent(tick) for tick in chosen]
        if self.ends[0]:
            chosen, names = [self.low, *chosen], ["0", *names]
        if self.ends[1]:
            chosen, names = [*chosen, self.high], [*names, "100 %"]
        return chosen, names


def scale_of(
    forecast: Vector, weight: Vector, shown: Vector, log_odds: bool | None = None
) -> Scale:
    """The axis for these forecasts and all else that is `shown`, shares in [0, 1].

    Without `log_odds`: log-odds where nine tenths of the weight is below 10 %, or above 90 %.
    """
    inner = (forecast > 0) & (forecast < 1)
    if log_odds is None:
        total = weight.sum()
        rare = weight[forecast < RARE].sum(), weight[forecast > 1 - RARE].sum()
        log_odds = bool(inner.any()) and max(rare) >= MOSTLY * total
    # A hundredth of the forecasts on either side may lie beyond: one stray forecast of a rare
    # event should not press all others into a corner.
    usual = _quantiles(forecast, weight, [0.01, 0.99])
    values = np.concatenate([shown, usual])
    return _odds_scale(values) if log_odds else _plain_scale(values)


def _plain_scale(values: Vector) -> Scale:
    """The unit interval, or its end that holds the values, if less than half would do."""
    least, most = float(values.min()), float(values.max())
    low_end, high_end = 0.0, 1.0
    if 0 < most <= 0.5:
        high_end = most
    elif 0.5 <= least < 1:
        low_end = least
    margin = 0.025 * (high_end - low_end)  # room for half a dot
    return Scale(low_end - margin, high_end + margin, False)


def _odds_scale(values: Vector) -> Scale:
    inner = values[(values > SMALLEST) & (values < 1 - SMALLEST)]
    low, high = (inner.min(), inner.max()) if len(inner) else (0.01, 0.99)
    ends = bool((values <= SMALLEST).any()), bool((values >= 1 - SMALLEST).any())
    span = _odds([low, high])
    # Half a step beyond, and so much room that a single forecast stands in the middle.
    room = max(0.06 * (span[1] - span[0]), 0.15, 0.5 * (2.5 - (span[1] - span[0])))
    reach = _odds([SMALLEST, 1 - SMALLEST])
    least, most = np.clip([span[0] - room, span[1] + room], *reach)
    low, high = _odds_back(np.array([least, most]))
    return Scale(float(low), float(high), True, ends)


def _odds(values: Vector | list[float]) -> Vector:
    shares = np.asarray(values, dtype=float)
    return np.log(shares) - np.log1p(-shares)


def _odds_back(values: Vector) -> Vector:
    return 1 / (1 + np.exp(-values))


def _quantiles(values: Vector, weight: Vector, levels: list[float]) -> Vector:
    """Of values in ascending order."""
    ends = np.cumsum(weight)
    places = np.searchsorted(ends, np.array(levels) * ends[-1])
    return values[np.minimum(places, len(values) - 1)]


def percent(share: float) -> str:
    """A share as people write it.

    Examples
    --------
    >>> percent(0.2), percent(0.001), percent(0.9999), percent(0.0)
    ('20 %', '0.1 %', '99.99 %', '0 %')
    """
    return f"{round(100 * share, 8) + 0.0:.8g} %"
