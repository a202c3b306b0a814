"""Which grid a recalibrator plays: the one with the smallest guarantee, or ever finer ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from fullswap.base import checks
from fullswap.forecasting.specs import Levels
from fullswap.online.expert_rows import premises_of, spread_of
from fullswap.online.lattices import TAPERED_LENGTH, Lattice
from fullswap.online.spec import Spec
from fullswap.theorems.groups import InGroup, equal_share, group_total, reserved_share
from fullswap.theorems.recalibration import recalibration_total

MOST_TUNED_CELLS = 4096
"""Finest grid to which a recalibrator is tuned, or grows."""
FEWEST_CELLS = 64
"""Where no step is given. Drawing between neighbours 1/64 apart adds at most a thousandth to the
Brier score."""
FEWEST_IN_GROUPS = 20
"""Cells where there are groups and no model."""


@lru_cache(maxsize=256)
def experts_spec(steps: int | None, models: int, horizon: int | None, max_weight: float) -> Spec:
    """Events with models' probabilities; no steps: a fine grid, finer for many events."""
    starts: tuple[float, ...] = (0.0,)
    if steps is not None:
        levels: tuple[Lattice, ...] = (Lattice("even", steps),)
    elif horizon is not None:
        levels = (Lattice("tapered", _best_cells(horizon)),)
    else:
        levels, starts = _experts_levels()
    return Spec("experts", levels, starts, 2, models, max_weight=max_weight, horizon=horizon)


@lru_cache(maxsize=256)
def groups_spec(
    steps: int | None, models: int, horizon: int | None, feedback: str, max_weight: float,
    groups: int, open_groups: bool,
) -> Spec:  # fmt: skip
    """Yes-or-no events in groups, with models' probabilities or without (0 models)."""
    prior = reserved_share(groups) if open_groups else equal_share(groups)
    # the bound alone would choose coarser grids, on which errors are two to four times as large
    fewest = FEWEST_CELLS if models else FEWEST_IN_GROUPS

    def total(mass: float, cells: int) -> float:
        lattice = Lattice("tapered", cells)
        delta = (TAPERED_LENGTH / cells) ** 2 / 4
        spread = spread_of(lattice)
        return group_total(InGroup(mass, lattice.size(2), mass * delta, spread, prior))

    starts: tuple[float, ...] = (0.0,)
    if steps is not None:
        levels: tuple[Lattice, ...] = (Lattice("even", steps),)
    elif horizon is not None:
        levels = (Lattice("tapered", _least(lambda cells: total(horizon, cells), fewest)),)
    else:
        levels, starts = _doubled(total, fewest)
    return Spec(
        "groups", levels, starts, 2, models, feedback, max_weight=max_weight, horizon=horizon,
        groups=groups, open_groups=open_groups,
    )  # fmt: skip


def _experts_total(mass: float, cells: int) -> float:
    """The bound on a grid with so many cells, without the trivial one."""
    delta = (TAPERED_LENGTH / cells) ** 2 / 4
    return recalibration_total(premises_of(Lattice("tapered", cells), mass, mass * delta))


@lru_cache
def _experts_levels() -> Levels:
    return _doubled(_experts_total, FEWEST_CELLS)


def _doubled(total: Callable[[float, int], float], cells: int) -> Levels:
    """Cells that double as soon as the bound, of mass and cells, is smaller for it."""
    mass = 1
    lattices, starts = [Lattice("tapered", cells)], [0.0]
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
        lattices.append(Lattice("tapered", cells))
        starts.append(float(mass))
    return tuple(lattices), tuple(starts)


@lru_cache
def _best_cells(horizon: int) -> int:
    """The number of cells with the smallest bound for this many events; never too few."""
    return _least(lambda cells: _experts_total(horizon, cells), FEWEST_CELLS)


def _least(total: Callable[[int], float], fewest: int) -> int:
    """The number of cells with the smallest bound, from so many on."""
    best, lowest, worse, cells = 0, math.inf, 0, fewest - 1
    # the bound falls, then grows; a few steps past its minimum settle it
    while worse < 3 and cells < MOST_TUNED_CELLS:
        cells += 1
        value = total(cells)
        worse = 0 if value < lowest else worse + 1
        if value < lowest:
            best, lowest = cells, value
    return best
