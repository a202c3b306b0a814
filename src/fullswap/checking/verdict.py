"""From numbers to one of four verdicts: how big and how sure are two questions."""

from __future__ import annotations

import math

from fullswap.checking.evidence import Evidence
from fullswap.checking.settings import Settings
from fullswap.metrics.chance import Chance
from fullswap.metrics.cox import Cox
from fullswap.metrics.windows import Windows

MISCALIBRATED = "miscalibrated"
LITTLE = "miscalibrated, but little"
NO_EVIDENCE = "no evidence of miscalibration"
TOO_LITTLE = "too little data to say"
VERDICTS = (MISCALIBRATED, LITTLE, NO_EVIDENCE, TOO_LITTLE)
UPSIDE_DOWN = "upside down"
"""The higher the forecast, the less it happens."""
NOTICEABLE = 2.0
"""Standard errors from which a direction has a name."""


def verdict_of(evidence: Evidence, size: float, smallest_seen: float, settings: Settings) -> str:
    """One of the four; ``size``: the error beyond chance, a share."""
    if is_strong(evidence, settings):
        return MISCALIBRATED if size > settings.tolerance else LITTLE
    return NO_EVIDENCE if smallest_seen <= settings.tolerance else TOO_LITTLE


def is_strong(evidence: Evidence, settings: Settings) -> bool:
    """Whether calibrated forecasters come to such a record at most at the given level."""
    impossible = len(evidence.impossible) > 0
    return impossible or evidence.log10_most >= math.log10(settings.threshold)


def size_of(error: float, chance: Chance, windows: Windows | None, classes: int) -> float:
    """The error without the part that chance explains, pooled or over time, whichever is more.

    Squares of one error and of its noise add up; a sum over many classes has so much noise that
    only what is beyond its median counts. What is too high in spring and too low in autumn may
    vanish in the pool, so the windows have their say.
    """
    pooled = max(error - chance.median, 0.0)
    if classes == 2 and error > chance.high:
        pooled = math.sqrt(error**2 - chance.median**2)
    return pooled if windows is None else max(pooled, windows.beyond_chance)


def directions(cox: Cox) -> list[str]:
    """Which way the forecasts are off, the clearest first; empty if none stands out."""
    found = []
    if cox.bias_error > 0 and abs(cox.bias / cox.bias_error) > NOTICEABLE:
        found.append((abs(cox.bias / cox.bias_error), "too high" if cox.bias > 0 else "too low"))
    if cox.slope is not None and cox.slope_error:
        if cox.slope + NOTICEABLE * cox.slope_error < 0:
            return [UPSIDE_DOWN]
        z = (cox.slope - 1) / cox.slope_error
        if abs(z) > NOTICEABLE:
            found.append((abs(z), "over-confident" if z < 0 else "under-confident"))
    return [word for _, word in sorted(found, reverse=True)]
