"""Soft bins of many classes: what is calibrated, and in how many cells."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fullswap.base import checks
from fullswap.forecasting.specs import SHOWN_EVENTS
from fullswap.online.lattices import Lattice
from fullswap.online.spec import MOST_CLASSES, Spec
from fullswap.theorems.classwise import Classwise, classwise_total, draw_cost

CALIBRATIONS = ("full", "classwise")
"""Of whole vectors on a grid; of each class, and of the declared label."""
BINS = 10
"""Cells of the soft bins of a class. Nothing is rounded, so the Brier score hardly changes from 8
to 30, and fewer bins are fuller."""
DRAWN_BINS, MOST_DRAWN_BINS = 24, 64
"""Where classes are rounded, at least and at most: the bound alone would choose too few, because it
is larger than what learning costs, and rounding costs what it says."""


def is_classwise(classes: int, calibration: Any, drawn: Any) -> bool:
    """Whether forecasts are calibrated class by class: as asked for, else beyond the grids."""
    if calibration is not None:
        checks.one_of("calibration", calibration, CALIBRATIONS)
    if not isinstance(drawn, bool):
        checks.refuse("drawn", "be True or False", drawn)
    classwise = classes > MOST_CLASSES if calibration is None else calibration == "classwise"
    if not classwise and classes > MOST_CLASSES:
        rule = f"be 'classwise' or None for more than {MOST_CLASSES} classes"
        checks.refuse("calibration", rule, calibration)
    if classwise and classes == 2:
        rule = "be 'full' or None for two classes, of which each is calibrated if the other is"
        checks.refuse("calibration", rule, calibration)
    if drawn and not classwise:
        checks.refuse("drawn", "be False but for calibration='classwise'", drawn)
    return classwise


def calibration_of(spec: Spec) -> str:
    """What is calibrated, as users name it."""
    return "classwise" if spec.kind == "classwise" else "full"


@lru_cache(maxsize=256)
def classwise_spec(
    classes: int, models: int, horizon: int | None, drawn: bool, max_weight: float
) -> Spec:
    """Many classes, with models' probabilities or without."""
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
