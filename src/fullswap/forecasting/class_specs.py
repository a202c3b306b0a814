"""Soft bins of several classes."""

from __future__ import annotations

from functools import lru_cache

from fullswap.online.lattices import Lattice
from fullswap.online.spec import Spec

BINS = 10
"""Cells of the soft bins of a class. Nothing is rounded, so the Brier score hardly changes from 8
to 30, and fewer bins are fuller."""


@lru_cache(maxsize=256)
def classwise_spec(classes: int, models: int, horizon: int | None, max_weight: float) -> Spec:
    """Several classes, with models' probabilities or without."""
    return Spec(
        "classwise", (Lattice("classes", BINS),), classes=classes, models=models,
        feedback="distribution", max_weight=max_weight, horizon=horizon,
    )  # fmt: skip
