"""Forecasts that may only be multiples of a step, or some actions: what can be asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.base.records import Record
from fullswap.grids.steps import steps_of
from fullswap.metrics import regret
from fullswap.metrics.groups import Groups
from fullswap.metrics.reading import as_forecasts, read_distinct


def discretised_swap_regret(
    y_true: Any, y_proba: Any = None, step: float | str | None = None, *, actions: Any = None,
    sample_weight: Any = None, of: str = "issued",
) -> float:  # fmt: skip
    """Swap regret against multiples of a step, or against some actions: a sum over events.

        Σ_p W_p·max(‖p − ȳ_p‖² − ‖[ȳ_p] − ȳ_p‖², 0)

    where [ȳ] is the nearest multiple of ``step`` (which must divide 1), or the nearest of the
    ``actions``, shape (m,) or (m, K). Nobody is blamed for rounding that the grid makes
    unavoidable, so this is what a guarantee for discretised forecasts covers
    [FKO25, Thm 21]. The maximum lets a forecast off the grid stay where it is.

    With the record of a learner alone, ``discretised_swap_regret(record)``, the regret of its own
    losses against maps into ``actions`` (m, A), by default those of the record; exact for all.

    Examples
    --------
    >>> discretised_swap_regret([1, 1, 0, 1, 1], [0.5] * 5, step=0.25)
    0.4375
    >>> even = Record.of_forecasts([0.0, 0.5], [[0, 1]] * 4, [[0.5, 0.5]] * 4)
    >>> discretised_swap_regret([1, 1, 1, 0], even, step=0.5, of="distributions")
    1.0
    """
    if isinstance(y_true, Record) and y_proba is None:
        return regret.against_actions(y_true, actions)
    groups = read_distinct(y_true, y_proba, sample_weight, of)
    return swap_regret_of(groups, step, actions)


def discretised_calibration_error(
    y_true: Any, y_proba: Any, step: float | str | None = None, *, actions: Any = None,
    sample_weight: Any = None, of: str = "issued",
) -> float:  # fmt: skip
    """Distance of forecasts from the rounded mean outcomes, Σ_p W_p·‖p − [ȳ_p]‖².

    A diagnostic only: **no forecaster can keep it small**. If outcomes are fair coins with a
    probability half-way between two multiples of ε, the mean ȳ_p falls on either side by chance,
    and every forecaster has an expected Σ of order ε²·T. The quantity that can be guaranteed is
    `discretised_swap_regret`, which for multiples of a step is at most twice as large, and
    often far smaller. Ties of [ȳ] go to the lower multiple.

    Examples
    --------
    >>> discretised_calibration_error([1, 1, 0, 1, 1], [0.5] * 5, step=0.25)
    0.3125
    """
    groups = read_distinct(y_true, y_proba, sample_weight, of)
    gaps = groups.forecasts - nearest_allowed(groups, step, actions)
    return float(groups.weights @ np.square(gaps).sum(axis=1))


def swap_regret_of(groups: Groups, step: float | str | None, actions: Any) -> float:
    """`discretised_swap_regret` of groups of distinct forecasts."""
    means = groups.means
    here = np.square(groups.forecasts - means).sum(axis=1)
    there = np.square(nearest_allowed(groups, step, actions) - means).sum(axis=1)
    return float(groups.weights @ np.maximum(here - there, 0.0))


def nearest_allowed(groups: Groups, step: float | str | None, actions: Any) -> Points:
    """The allowed forecast that is nearest to each mean outcome, shape (G, C)."""
    if (step is None) == (actions is None):
        raise ValueError(
            f"one of step and actions must be given, the other None, got {step!r} and {actions!r}"
        )
    if actions is None:
        if groups.classes > 1:
            checks.refuse("step", "be None for classes (give actions (m, K))", step)
        parts = steps_of(step)
        allowed = (np.arange(parts + 1) / parts)[:, None]
    else:
        allowed = as_forecasts("actions", actions, "m")
    if allowed.shape[1] != groups.classes:
        rule = f"have {groups.classes} coordinates as forecasts have"
        checks.refuse("actions", rule, allowed.shape[1])
    if groups.classes > 1:
        from scipy.spatial import KDTree

        nearest: Points = allowed[KDTree(allowed).query(groups.means)[1]]
        return nearest
    line, means = np.sort(allowed[:, 0]), groups.means[:, 0]
    above = np.searchsorted(line, means).clip(max=len(line) - 1)
    below = np.maximum(above - 1, 0)
    lower = means - line[below] <= line[above] - means
    either: Vector = np.where(lower, line[below], line[above])
    return either[:, None]
