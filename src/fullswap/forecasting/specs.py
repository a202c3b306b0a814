"""Which grid a forecaster plays: the one with the smallest guarantee, or ever finer ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.grids.kuhn import simplex_geometry
from fullswap.online.lattices import (
    MOST_CELLS,
    MOST_POINTS,
    Lattice,
    logits,
    sines,
    tapered,
)
from fullswap.online.line_rows import line_rounding
from fullswap.online.spec import Spec
from fullswap.sets import Simplex
from fullswap.theorems import LEDGER, THEOREMS, Constants, Geometry, Theorem
from fullswap.theorems.anytime import Schedule
from fullswap.theorems.calibration import LogForecasts, log_loss_rounding, squared_loss
from fullswap.theorems.learning import best_ratio, nearly_strongly_convex_cost
from fullswap.theorems.means import (
    ClassForecasts,
    LineForecasts,
    class_means_cost,
    line_means_cost,
)

MOST_LOOKUP = 20_000_000
"""Entries of the table from lattice points of a simplex to its grid points."""
MOST_TUNED_CELLS = 4096
"""Finest grid to which a recalibrator is tuned, or grows."""
ANYTIME_RATIO = 2.0
"""τ of the schedule in given steps when there is no horizon to tune it for."""
SHOWN_EVENTS = 100_000
"""Events at which plans without a horizon are compared."""

Levels = tuple[tuple[Lattice, ...], tuple[float, ...]]
GeometryAt = Callable[[int], Geometry | None]


@lru_cache(maxsize=256)  # many streams of one kind share a spec
def line_spec(
    horizon: int | None, steps: int | None, rule: str, loss: str, feedback: str, max_weight: float,
    pick_steps: bool = False,
) -> Spec:  # fmt: skip
    """Yes-or-no events, without a model."""
    ratio: float | None = None
    starts: tuple[float, ...] = (0.0,)
    # weights are seen when they come: the grid is that of outcomes without
    crossing, whole = rule == "crossing", feedback == "realised"
    if loss == "log":
        levels, starts = _levels(_log_theorem(), Constants(math.inf, 1.0), _log_geometry, horizon,
                                 "sines", first=2)  # fmt: skip
    elif steps is None:
        levels, starts = tapered_levels(horizon, crossing, whole)
    elif pick_steps:
        levels, starts, ratio = _in_steps(steps, horizon, crossing, whole)
    else:
        levels = (Lattice("even", steps),)
    return Spec(
        "line" if crossing else "chain", levels, starts, feedback=feedback, loss=loss,
        max_weight=max_weight, horizon=horizon, steps=steps, ratio=ratio,
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
"""What ``tapered_levels`` finds with crossings, for whole outcomes and for others: the search
takes seconds, in every process."""


def tapered_levels(horizon: int | None, crossing: bool, whole: bool, known: bool = True) -> Levels:
    """Grids that are finer towards 0 and 1; ``known=False`` searches where the answer is known."""
    if known and horizon is None and crossing:
        starts = tuple(map(float, TAPERED_STARTS[whole]))
        return tuple(Lattice("tapered", 2 ** (k + 1)) for k in range(len(starts))), starts
    theorem, geometry_at = _line_theorem(tapered, crossing, whole), _tapered_geometry(horizon)
    return _levels(
        theorem, squared_loss(), geometry_at, horizon, "tapered", first=2, unit=2
    )  # fmt: skip


@lru_cache(maxsize=256)
def simplex_spec(classes: int, horizon: int | None, feedback: str, max_weight: float) -> Spec:
    """Several classes, without a model."""
    limit = _limit(horizon, classes - 1)

    def geometry_at(cells: int) -> Geometry | None:
        if (cells + 1.0) ** (classes - 1) > MOST_LOOKUP:
            return None
        geometry = simplex_geometry(Simplex(classes - 1), cells)
        return geometry if geometry.size <= limit else None

    whole = feedback == "realised"
    theorem = _ROW_5.with_cost(
        lambda c, n, rounds: class_means_cost(ClassForecasts(classes, n, rounds, whole=whole))
    )
    levels, starts = _levels(theorem, squared_loss(2.0), geometry_at, horizon, "simplex")
    return Spec(
        "simplex", levels, starts, classes, feedback=feedback, max_weight=max_weight,
        horizon=horizon,
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


def _limit(horizon: int | None, dim: int) -> float:
    """Points of the largest grid tried: an event for each of them, and no more than fit."""
    return MOST_POINTS if horizon is None else min(MOST_POINTS, max(horizon, 2 ** (dim + 2)))


def _tapered_geometry(horizon: int | None) -> GeometryAt:
    limit = _limit(horizon, 1)

    def geometry_at(cells: int) -> Geometry | None:
        if cells + 1 > limit:
            return None
        points = tapered(cells)
        # the squared loss has smoothness 2: its rounding cost is the variance
        return Geometry(cells + 1, float(np.diff(points).max()) / 2, 0.0, line_rounding(points))

    return geometry_at


def _line_theorem(points_at: Callable[[int], Vector], crossing: bool, whole: bool) -> Theorem:
    """Row 5 with what running means cost on the grid of so many cells."""

    def learning(c: Constants, n: int, rounds: float) -> float:
        points = points_at(n - 1)
        rounding = line_rounding(points) * rounds
        return line_means_cost(LineForecasts(points, rounds, rounding, crossing, whole))

    return _ROW_5.with_cost(learning)


# --- the log loss --------------------------------------------------------------------------------


def _log_geometry(cells: int) -> Geometry | None:
    """The geometry of these grids carries the rounding cost itself in place of a variance."""
    if cells > MOST_CELLS:
        return None
    points = sines(cells)
    widest = float((points[1:] - points[:-1]).max())
    return Geometry(cells + 1, widest / 2, 0.0, log_loss_rounding(logits(points)))


def _log_theorem() -> Theorem:
    def learning(c: Constants, n: int, rounds: float) -> float:
        return LEDGER["calibration for the log loss"].bound(LogForecasts(rounds, n, 0.0))

    return Theorem(
        "log loss", "LSS25; KT81", "outcomes in [0, 1]", lambda c, g: g.variance, learning,
        _ROW_5.exponent, needs_convexity=True,
    )  # fmt: skip


# --- given steps ---------------------------------------------------------------------------------


def _in_steps(
    steps: int, horizon: int | None, crossing: bool, whole: bool
) -> tuple[tuple[Lattice, ...], tuple[float, ...], float | None]:
    """All multiples of the step, or means on a sub-grid of them: whichever is guaranteed less."""
    constants = squared_loss(gap=1.0 / steps)
    ratio = ANYTIME_RATIO if horizon is None else best_ratio(constants, steps + 1, horizon)
    events = float(horizon or SHOWN_EVENTS)
    all_of_them = nearly_strongly_convex_cost(constants, steps + 1, events, ratio)
    picks, starts, some_of_them = _sub_grids(steps, horizon, crossing, whole)
    # ties (at the trivial bound) go to the case of given steps
    if min(all_of_them, events) <= min(some_of_them, events):
        return (Lattice("even", steps),), (0.0,), ratio
    return tuple(_lattice(steps, pick) for pick in picks), starts, None


def _lattice(steps: int, pick: tuple[int, ...]) -> Lattice:
    return Lattice("even", steps) if len(pick) == steps + 1 else Lattice("picks", steps, pick)


def _sub_grids(
    steps: int, horizon: int | None, crossing: bool, whole: bool
) -> tuple[list[tuple[int, ...]], tuple[float, ...], float]:
    constants = squared_loss()
    grids: dict[int, Vector] = {}

    def geometry(pick: tuple[int, ...]) -> Geometry:
        points = grids[len(pick) - 1] = np.array(pick) / steps
        return Geometry(len(pick), float(np.diff(points).max()) / 2, 0.0, line_rounding(points))

    theorem = _line_theorem(grids.__getitem__, crossing, whole)

    if horizon is None:
        nested = _halvings(steps)
        schedule = Schedule(
            theorem, constants, lambda k: geometry(nested[k]) if k < len(nested) else None
        )
        starts = _starts(schedule)
        return nested[: len(starts)], starts, schedule.bound(SHOWN_EVENTS)
    # Coarse to fine, the smallest stride for each number of cells; learning costs more on finer
    # grids, so none that costs more for that alone than the best grid can be better.
    best, chosen, last = math.inf, (0, steps), 0
    for cells in range(1, min(steps, MOST_TUNED_CELLS) + 1):
        if -(-steps // cells) == last:
            continue
        last = -(-steps // cells)
        pick = (*range(0, steps, last), steps)
        own = geometry(pick)
        if theorem.learning_cost(constants, own.size, float(horizon)) > best:
            break
        total = theorem.total(constants, own, float(horizon))
        if total < best:
            best, chosen = total, pick
    return [chosen], (0.0,), best


def _halvings(last: int) -> list[tuple[int, ...]]:
    """Nested choices among 0, …, last: both ends, then every gap halved until none is left.

    Examples
    --------
    >>> _halvings(5)
    [(0, 5), (0, 2, 5), (0, 1, 2, 3, 5), (0, 1, 2, 3, 4, 5)]
    """
    choices: list[tuple[int, ...]] = [(0, last)]
    while len(choices[-1]) <= last:
        middles = {(i + j) // 2 for i, j in pairwise(choices[-1])}
        choices.append(tuple(sorted(middles.union(choices[-1]))))
    return choices
