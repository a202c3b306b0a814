"""Axes of probabilities: the unit interval, the end of it that is used, or log-odds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.metrics.cells import Cells
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RARE, MOSTLY = 0.1, 0.9
"""Log-odds are used where this share of the weight is forecast below the one, or above 1 − it."""
SMALLEST = 1e-6
"""Log-odds axes show nothing nearer to 0 or 1."""
HISTOGRAM_BARS = 50
"""Bars of the counts where forecasts are continuous: two percent each on the unit interval."""
TOLD_APART = 0.05
"""Over the number of events: what lies nearer to 0 or 1 than this is as good as 0 or 1."""
MARGIN = 0.025
"""Room for half a dot at either end of a plain axis, as a share of it."""
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
    marked: bool = False
    """Whether the upper end has a tick, and a plain axis ticks at its lower end and middle too."""

    def place(self, values: Vector) -> Vector:
        """Where values are drawn: on log-odds axes 0 and 1 stand at the ends."""
        return np.clip(values, self.low, self.high) if self.log_odds else values

    def flat(self, values: Vector) -> Vector:
        """Values in proportion to where they are on the page."""
        return _odds(values) if self.log_odds else values

    def edges(self, bars: int = HISTOGRAM_BARS) -> Vector:
        """Ends of bars of equal width that fill the axis."""
        if self.log_odds:
            low, high = _odds([self.low, self.high])
            inner = _odds_back(np.linspace(low, high, bars + 1))[1:-1]
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
                # small diagrams have small numbers, and the ends alone say little
                ticks, names = self.ticks(max(most, 5) if self.marked else most)
                axis.set_major_locator(FixedLocator(ticks))
                axis.set_major_formatter(FixedFormatter(names))
                axis.set_minor_locator(NullLocator())
            else:
                axis.set_major_locator(
                    FixedLocator(np.linspace(*self.inner, 3).tolist()) if self.marked
                    else MaxNLocator(min(most, 6), steps=[1, 2, 2.5, 5, 10])
                )  # fmt: skip
                axis.set_major_formatter(lambda value, _: percent(value))

    @property
    def inner(self) -> tuple[float, float]:
        """The ends of a plain axis without its margins."""
        margin = MARGIN * (self.high - self.low) / (1 + 2 * MARGIN)
        return round(self.low + margin, 12), round(self.high - margin, 12)

    def ticks(self, most: int = 8) -> tuple[list[float], list[str]]:
        """Ticks of log-odds axes and their names: 0.1 %, 1 %, 10 %, …"""
        low, high = _odds([self.low, self.high])
        apart = 0.9 * (high - low) / most
        named = self.ends[0], self.ends[1] or self.marked
        taken = [end for end, shown in zip((low, high), named, strict=True) if shown]
        chosen: list[float] = []
        # Decades first, then parts of them where there is room.
        for part in (1, 5, 2, 3):
            small = [part * 10.0**-power for power in range(1, 10)]
            for tick in sorted({*small, *(1 - value for value in small)}):
                if self.low <= tick * (1 + 1e-9) and tick <= self.high:
                    place = float(_odds([tick])[0])
                    if all(abs(place - other) >= apart for other in taken):
                        taken.append(place)
                        chosen.append(tick)
            if len(chosen) >= most - 2:
                break
        names = {tick: percent(tick) for tick in chosen}
        if self.ends[0]:
            names[self.low] = "0"
        if self.ends[1]:
            names[self.high] = "100 %"
        elif self.marked:
            names[self.high] = percent(self.high)
        ticks = sorted(names)
        return ticks, [names[tick] for tick in ticks]


def scale_of(cells: Cells, shown: Vector, log_odds: bool | None = None) -> Scale:
    """The axis for these forecasts and all else that is `shown`, shares in [0, 1].

    Without `log_odds`: log-odds where nine tenths of the weight is below 10 %, or above 90 %.
    """
    forecast, weight = cells.forecast, cells.weight
    inner = (forecast > 0) & (forecast < 1)
    if log_odds is None:
        total = weight.sum()
        rare = weight[forecast < RARE].sum(), weight[forecast > 1 - RARE].sum()
        log_odds = bool(inner.any()) and max(rare) >= MOSTLY * total
    # A hundredth of the forecasts on either side may lie beyond: one stray forecast of a rare
    # event should not press all others into a corner.
    usual = _quantiles(forecast, weight, [0.01, 0.99])
    values = np.concatenate([shown, usual])
    if not log_odds:
        return _plain_scale(values)
    # So many events cannot tell less from 0; but dots are shown.
    least = float(shown[(shown > 0) & (shown < 1)].min(initial=0.5))
    most = float(shown[(shown > 0) & (shown < 1)].max(initial=0.5))
    finest = min(TOLD_APART / cells.rows, 0.9 * least, 0.9 * (1 - most))
    return _odds_scale(values, max(finest, SMALLEST))


def marked_scale(scales: Sequence[Scale]) -> Scale:
    """One axis for all of these, which are of one kind, from round number to round number."""
    log_odds = scales[0].log_odds
    if log_odds:
        low, high = min(scale.low for scale in scales), max(scale.high for scale in scales)
        ends = any(scale.ends[0] for scale in scales), any(scale.ends[1] for scale in scales)
        return Scale(low, high if ends[1] else _rounded_up(high), True, ends, marked=True)
    low = 1 - _rounded_up(1 - min(scale.inner[0] for scale in scales))
    high = _rounded_up(max(scale.inner[1] for scale in scales))
    margin = MARGIN * (high - low)
    return Scale(low - margin, high + margin, False, marked=True)


def _rounded_up(share: float) -> float:
    """The next round number: 1, 2, 3, 4, 5, 6 or 8 of a power of ten; near 1 one less such."""
    if share > 0.8:
        rest = 1 - share
        if rest < SMALLEST:
            return 1 - SMALLEST if rest > 0 else 1.0
        power = 10.0 ** math.floor(math.log10(rest * (1 + 1e-9)))
        return 1 - power * max(k for k in (1, 5) if k * power <= rest * (1 + 1e-9))
    power = 10.0 ** math.floor(math.log10(max(share, SMALLEST)))
    return min(k * power for k in (1, 2, 3, 4, 5, 6, 8, 10) if k * power >= share * (1 - 1e-9))


def _plain_scale(values: Vector) -> Scale:
    """The unit interval, or its end that holds the values, if less than half would do."""
    least, most = float(values.min()), float(values.max())
    low_end, high_end = 0.0, 1.0
    if 0 < most <= 0.5:
        high_end = most
    elif 0.5 <= least < 1:
        low_end = least
    margin = MARGIN * (high_end - low_end)
    return Scale(low_end - margin, high_end + margin, False)


def _odds_scale(values: Vector, finest: float) -> Scale:
    inner = values[(values > finest) & (values < 1 - finest)]
    low, high = (inner.min(), inner.max()) if len(inner) else (0.01, 0.99)
    ends = bool((values <= finest).any()), bool((values >= 1 - finest).any())
    span = _odds([low, high])
    # Half a step beyond, and so much room that a single forecast stands in the middle.
    room = max(0.06 * (span[1] - span[0]), 0.15, 0.5 * (2.5 - (span[1] - span[0])))
    reach = _odds([SMALLEST, 1 - SMALLEST])
    least, most = np.clip([span[0] - room, span[1] + room], *reach)
    low, high = _odds_back(np.array([least, most]))
    return Scale(float(low), float(high), True, ends)


def _odds(values: Vector | list[float]) -> Vector:
    shares = np.asarray(values, dtype=float)
    odds: Vector = np.log(shares) - np.log1p(-shares)
    return odds


def _odds_back(values: Vector) -> Vector:
    return 1 / (1 + np.exp(-values))


def _quantiles(values: Vector, weight: Vector, levels: list[float]) -> Vector:
    """Of values in ascending order."""
    ends = np.cumsum(weight)
    places = np.searchsorted(ends, np.array(levels) * ends[-1])
    found: Vector = values[np.minimum(places, len(values) - 1)]
    return found


def percent(share: float) -> str:
    """A share as people write it.

    Examples
    --------
    >>> percent(0.2), percent(0.001), percent(0.9999), percent(0.0)
    ('20 %', '0.1 %', '99.99 %', '0 %')
    """
    return f"{round(100 * share, 8) + 0.0:.8g} %"
