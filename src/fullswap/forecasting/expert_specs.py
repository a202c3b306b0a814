"""Which grid a recalibrator plays: the one with the smallest guarantee, or ever finer ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from fullswap.base import checks
from fullswap.forecasting.specs import MOST_LOOKUP, MOST_TUNED_CELLS, Levels
from fullswap.grids.kuhn import simplex_geometry
from fullswap.online.expert_rows import premises_of, spread_of
from fullswap.online.lattices import MOST_POINTS, TAPERED_LENGTH, Lattice
from fullswap.online.spec import Spec
from fullswap.sets import Simplex
from fullswap.theorems.groups import InGroup, equal_share, group_total, reserved_share
from fullswap.theorems.recalibration import recalibration_total

FEWEST_CELLS = {2: 64, 3: 20, 4: 10, 5: 8, 6: 7, 7: 6, 8: 5}
"""Where no step is given, by classes. Drawing between neighbours 1/64 apart adds at most a
thousandth to the Brier score; grids of several classes have some hundreds of points."""
FEWEST_IN_GROUPS = 20
"""Cells where there are groups and no model."""


@lru_cache(maxsize=256)
def experts_spec(
    steps: int | None, classes: int, models: int, horizon: int | None, max_weight: float
) -> Spec:
    """Events with models' probabilities; no steps: a fine grid, finer for many events."""
    shape = "even" if classes == 2 else "simplex"
    starts: tuple[float, ...] = (0.0,)
    if steps is not None:
        levels: tuple[Lattice, ...] = (Lattice(shape, steps),)
    elif horizon is not None:
        levels = (_experts_lattice(_best_cells(horizon, classes), classes),)
    elif classes == 2:
        levels, starts = _experts_levels()
    else:
        levels = (_experts_lattice(FEWEST_CELLS[classes], classes),)
    if not _fits(levels[0].cells, classes):
        most = next(cells for cells in range(levels[0].cells, 0, -1) if _fits(cells, classes))
        checks.refuse("step", f"be at least 1/{most} for {classes} classes", f"1/{levels[0].cells}")
    return Spec(
        "experts" if classes == 2 else "mesh", levels, starts, classes, models,
        max_weight=max_weight, horizon=horizon,
    )  # fmt: skip


@lru_cache(maxsize=256)
def groups_spec(
    steps: int | None, models: int, horizon: int | None, feedback: str, max_weight: float,
    groups: int, open_groups: bool,
) -> Spec:  # fmt: skip
    """Yes-or-no events in groups, with models' probabilities or without (0 models)."""
    prior = reserved_share(groups) if open_groups else equal_share(groups)
    # the bound alone would choose coarser grids, on which errors are two to four times as large
    fewest = FEWEST_CELLS[2] if models else FEWEST_IN_GROUPS

    def total(mass: float, cells: int) -> float:
        lattice = _experts_lattice(cells, 2)
        delta = (TAPERED_LENGTH / cells) ** 2 / 4
        spread = spread_of(lattice, 2)
        return group_total(InGroup(mass, lattice.size(2), mass * delta, spread, prior))

    starts: tuple[float, ...] = (0.0,)
    if steps is not None:
        levels: tuple[Lattice, ...] = (Lattice("even", steps),)
    elif horizon is not None:
        levels = (_experts_lattice(_least(lambda cells: total(horizon, cells), fewest), 2),)
    else:
        levels, starts = _doubled(total, fewest)
    return Spec(
        "groups", levels, starts, 2, models, feedback, max_weight=max_weight, horizon=horizon,
        groups=groups, open_groups=open_groups,
    )  # fmt: skip


def _experts_lattice(cells: int, classes: int) -> Lattice:
    return Lattice("tapered" if classes == 2 else "simplex", cells)


def _experts_total(mass: float, cells: int, classes: int) -> float:
    """The bound on a grid with so many cells, without the trivial one."""
    lattice = _experts_lattice(cells, classes)
    if classes == 2:
        delta = (TAPERED_LENGTH / cells) ** 2 / 4
    else:
        delta = simplex_geometry(Simplex(classes - 1), cells).variance
    return recalibration_total(premises_of(lattice, classes, mass, mass * delta))


@lru_cache
def _experts_levels() -> Levels:
    return _doubled(lambda mass, cells: _experts_total(mass, cells, 2), FEWEST_CELLS[2])


def _doubled(total: Callable[[float, int], float], cells: int) -> Levels:
    """Cells that double as soon as the bound, of mass and cells, is smaller for it."""
    mass = 1
    lattices, starts = [_experts_lattice(cells, 2)], [0.0]
    while cells < MOST_TUNED_CELLS:
        while total(mass, 2 * cells) > total(mass, cells):
            mass *= 2
        low = mass // 2
        while mass - low > 1:
            middle = (low + mass) // 2
            if total(middle, 2 * cells) > total(middle, cells):
                low = middle
            else:
                mass = middle
        if mass > checks.MOST_EVENTS:
            break
        cells *= 2
        lattices.append(_experts_lattice(cells, 2))
        starts.append(float(mass))
    return tuple(lattices), tuple(starts)


def _fits(cells: int, classes: int) -> bool:
    """Whether a grid with so many cells a side, and its table of lattice points, can be kept."""
    small = classes == 2 or (cells + 1.0) ** (classes - 1) <= MOST_LOOKUP
    return small and math.comb(cells + classes - 1, classes - 1) <= MOST_POINTS


@lru_cache
def _best_cells(horizon: int, classes: int) -> int:
    """The number of cells with the smallest bound for this many events; never too few."""
    return _least(
        lambda cells: _experts_total(horizon, cells, classes), FEWEST_CELLS[classes], classes
    )


def _least(total: Callable[[int], float], fewest: int, classes: int = 2) -> int:
    """The number of cells with the smallest bound, from so many on."""
    best, lowest, worse, cells = 0, math.inf, 0, fewest - 1
    # the bound falls, then grows; a few steps past its minimum settle it
    while worse < 3 and cells < MOST_TUNED_CELLS and _fits(cells + 1, classes):
        cells += 1
        value = total(cells)
        worse = 0 if value < lowest else worse + 1
        if value < lowest:
            best, lowest = cells, value
    return best
