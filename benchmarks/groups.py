"""Forecasts in groups against the same without: a run of a recalibrator, event by event.

The cost grows with the groups of an event, not with how many there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from benchmarks import Prepare, Result, best_times
from fullswap import Recalibrator

SIZES = {20: 0.11, 200: 0.11, 1000: 0.022}
"""Groups, and which share of them an event is in: 2, 22 and 22."""
LIMITS = {20: 3.0, 200: 8.0, 1000: 9.0}


def benchmark(quick: bool) -> list[Result]:
    """Cost of a run with groups as a multiple of one without."""
    events = 20_000 if quick else 100_000
    rng = np.random.default_rng(0)
    p = rng.random(events)
    outcomes = (rng.random(events) < p).astype(float)
    members = {
        groups: sparse.random_array((events, groups), density=share, rng=rng).astype(bool)
        for groups, share in SIZES.items()
    }

    def run(groups: int) -> Prepare:
        def prepare() -> Callable[[], object]:
            if not groups:
                plain = Recalibrator(seed=1)
                return lambda: plain.run(p, outcomes, record=False)
            grouped = Recalibrator(groups=range(groups), seed=1)
            return lambda: grouped.run(p, outcomes, groups=members[groups], record=False)

        return prepare

    best = best_times([(groups, run(groups)) for groups in (0, *SIZES)], 5)
    return [
        Result(
            f"groups: run with {groups} groups, {groups * share:.0f} in an event, against none",
            best[groups], best[0], LIMITS[groups],
        )
        for groups, share in SIZES.items()
    ]  # fmt: skip
