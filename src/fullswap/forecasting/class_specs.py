"""Soft bins of several classes: in how many cells."""

from __future__ import annotations

from functools import lru_cache

from fullswap.forecasting.specs import SHOWN_EVENTS
from fullswap.online.lattices import Lattice
from fullswap.online.spec import Spec
from fullswap.theorems.classwise import Classwise, classwise_total, draw_cost

BINS = 10
"""Cells of the soft bins of a class. Nothing is rounded, so the Brier score hardly changes from 8
to 30, and fewer bins are fuller."""
DRAWN_BINS, MOST_DRAWN_BINS = 24, 64
"""Where classes are rounded, at least and at most: the bound alone would choose too few, because it
is larger than what learning costs, and rounding costs what it says."""


@lru_cache(maxsize=256)
def classwise_spec(
    classes: int, models: int, horizon: int | None, drawn: bool, max_weight: float
) -> Spec:
    """Several classes, with models' probabilities or without."""
    cells = _drawn_cells(classes, float(horizon or SHOWN_EVENTS)) if drawn else BINS
    return Spec(
        "classwise", (Lattice("classes", cells),), classes=classes, models=models,
        feedback="realised" if drawn else "distribution", max_weight=max_weight, horizon=horizon,
        drawn=drawn,
    )  # fmt: skip


def _drawn_cells(classes: int, events: float) -> int:
    """The number of cells with the smallest bound for so many events; never too few."""

    def bound(cells: int) -> float:
        rounding = events * draw_cost(cells, classes)
        nodes = tuple(Lattice("classes", cells).nodes.tolist())
        return classwise_total(Classwise(events, classes, nodes, 0.0, rounding, True))

    return min(range(DRAWN_BINS, MOST_DRAWN_BINS + 1), key=bound)
