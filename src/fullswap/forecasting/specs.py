"""Which grid a forecaster plays: the one with the smallest guarantee, or ever finer ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.online.lattices import MOST_POINTS, Lattice, tapered
from fullswap.online.line import line_rounding
from fullswap.online.spec import Spec
from fullswap.theorems import THEOREMS, Constants, Geometry, Theorem
from fullswap.theorems.anytime import Schedule
from fullswap.theorems.calibration import squared_loss
from fullswap.theorems.means import LineForecasts, line_means_cost

Levels = tuple[tuple[Lattice, ...], tuple[float, ...]]
GeometryAt = Callable[[int], Geometry | None]


@lru_cache(maxsize=256)  # many streams of one kind share a spec
def line_spec(horizon: int | None, steps: int | None, feedback: str, max_weight: float) -> Spec:
    """Yes-or-no events, without a model."""
    levels: tuple[Lattice, ...]
    if steps is None:
        # weights are seen when they come: the grid is that of outcomes without
        levels, starts = tapered_levels(horizon, feedback == "realised")
    else:
        levels, starts = (Lattice("even", steps),), (0.0,)
    return Spec(
        "line", levels, starts, feedback=feedback, max_weight=max_weight, horizon=horizon,
        steps=steps,
    )  # fmt: skip


TAPERED_STARTS = {
    True: (
        0, 83, 285, 2509, 23330, 215823, 1963357, 17599792, 155882361, 1367439073, 11900668101,
        102883721873, 884420597985, 7565617688490, 64442829709517, 546854492189481,
        4625093521939040,
    ),
    False: (
        0, 118, 433, 3741, 33153, 291992, 2552738, 22284492, 193592573, 1671420441, 14349489380,
        122592727427, 1042917322381, 8839385498395, 74674086946481, 628999055697950,
        5284377131313678,
    ),
}  # fmt: skip
"""What ``tapered_levels`` finds for whole outcomes and for others: the search takes seconds, in
every process."""


def tapered_levels(horizon: int | None, whole: bool, known: bool = True) -> Levels:
    """Grids that are finer towards 0 and 1; ``known=False`` searches where the answer is known."""
    if known and horizon is None:
        starts = tuple(map(float, TAPERED_STARTS[whole]))
        return tuple(Lattice("tapered", 2 ** (k + 1)) for k in range(len(starts))), starts
    theorem, geometry_at = _line_theorem(tapered, whole), _tapered_geometry(horizon)
    return _levels(
        theorem, squared_loss(), geometry_at, horizon, "tapered", first=2, unit=2
    )  # fmt: skip


# --- grids of one shape ---------------------------------------------------------------------------

_ROW_5 = THEOREMS["strongly convex and smooth"]


def _levels(
    theorem: Theorem, constants: Constants, geometry_at: GeometryAt, horizon: int | None,
    shape: str, first: int = 1, unit: int = 1,
) -> Levels:  # fmt: skip
    """The best multiple of ``unit`` cells for a horizon, or numbers that double with the events."""
    if horizon is not None:
        best, _ = theorem.tune(
            constants, float(horizon), lambda k: geometry_at(unit * k), first // unit
        )
        return (Lattice(shape, unit * best),), (0.0,)
    schedule = Schedule(theorem, constants, lambda level: geometry_at(first * 2**level))
    starts = _starts(schedule)
    return tuple(Lattice(shape, first * 2**level) for level in range(len(starts))), starts


def _starts(schedule: Schedule) -> tuple[float, ...]:
    """Mass at which each level takes over; a level that is overtaken at once has no stretch."""
    starts = [0.0]
    while (end := schedule.level_ends(int(starts[-1]))) <= checks.MOST_EVENTS:
        starts.append(float(end))
    return tuple(starts)


def _limit(horizon: int | None) -> float:
    """Points of the largest grid tried: an event for each of them, and no more than fit."""
    return MOST_POINTS if horizon is None else min(MOST_POINTS, max(horizon, 8))


def _tapered_geometry(horizon: int | None) -> GeometryAt:
    limit = _limit(horizon)

    def geometry_at(cells: int) -> Geometry | None:
        if cells + 1 > limit:
            return None
        points = tapered(cells)
        # the squared loss has smoothness 2: its rounding cost is the variance
        return Geometry(cells + 1, float(np.diff(points).max()) / 2, 0.0, line_rounding(points))

    return geometry_at


def _line_theorem(points_at: Callable[[int], Vector], whole: bool) -> Theorem:
    """Row 5 with what running means cost on the grid of so many cells."""

    def learning(c: Constants, n: int, rounds: float) -> float:
        points = points_at(n - 1)
        rounding = line_rounding(points) * rounds
        return line_means_cost(LineForecasts(points, rounds, rounding, whole))

    return _ROW_5.with_cost(learning)
