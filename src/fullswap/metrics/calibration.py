"""Calibration error: among the events forecast at 20 %, did 20 % happen?

Two scales, apart by name. `calibration_error` is *per event*, a number between 0 and 1 (up
to 2 for joint vectors) that compares logs of different lengths. `l2_calibration_error` and
the discretised quantities are *sums over events*, as in the theorems: these are the numbers that
stand beside a guarantee.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.records import Record
from fullswap.metrics.groups import Groups, l2_of
from fullswap.metrics.reading import GIVE_BINS, as_edges, read, read_distinct, warn_if_distinct

NORMS = ("l1", "l2", "max")
KINDS = ("classwise", "top", "joint")


def calibration_error(
    y_true: Any, y_proba: Any, *, norm: str = "l2", sample_weight: Any = None, bins: Any = None,
    kind: str = "classwise", squared: bool = False, of: str = "issued",
) -> float:  # fmt: skip
    """Calibration error per event, over groups g of events with equal forecasts.

        l1: Σ_g (W_g/W)·|p_g − ȳ_g|    l2: √(Σ_g (W_g/W)·(p_g − ȳ_g)²)    max: max_g |p_g − ȳ_g|

    So l1 ≤ l2 ≤ max, as in torchmetrics. ``squared=True`` leaves the root of "l2" out: that is the
    reliability term of the Brier score, and W times it (without bins; "joint" for K classes) is
    the paper's `l2_calibration_error`.

    Parameters
    ----------
    y_true, y_proba, sample_weight, of
        As everywhere in `fullswap.metrics`.
    norm : {"l1", "l2", "max"}
        "l1" with bins is known as expected calibration error, "max" as maximum calibration error.
    bins : int, array or None
        None: groups of equal forecasts, right for forecasts on a grid. An integer: that many bins
        [e_i, e_{i+1}) of equal width, the last one closed. An array: their edges, from 0 to 1. The
        forecast p_g of a bin is its weighted mean.
    kind : {"classwise", "top", "joint"}
        For K classes. "classwise": mean over the classes, each against the rest ("max": the
        largest). "top": the likeliest class against the rest. "joint": groups of equal vectors,
        with Σ_k |·|, Σ_k (·)² and max_k |·| in place of one class; no bins.

    Examples
    --------
    >>> y, p = [1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9]
    >>> calibration_error(y, p), calibration_error(y, p, norm="l1")
    (0.1211, 0.12)
    >>> calibration_error([0, 2, 1], [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0, 1, 0]], kind="top")
    0.2082
    """
    groups = read(y_true, y_proba, sample_weight, of)
    events = None if isinstance(y_proba, Record) else len(groups)
    return error_per_event_of(groups, norm, bins, kind, squared, events)


def l2_calibration_error(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, of: str = "issued"
) -> float:
    """l2 calibration error, Σ_p W_p·‖p − ȳ_p‖²: a sum over events.

    Over distinct forecasts p; W_p weighs the events where p was issued and ȳ_p is their mean
    outcome. It is the full swap regret of the squared loss [FKO25, Lemma 26].

    For forecasts of a grid, or rounded ones. Raw probabilities are hardly ever made twice: each is
    then compared with its one outcome, which gives about T times the Brier score, and a warning.

    Examples
    --------
    >>> l2_calibration_error([1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9])
    0.0733
    >>> from fullswap import Record
    >>> even = Record.of_forecasts([0.25, 0.75], [[0, 1], [0, 1]], [[0.5, 0.5], [0.5, 0.5]])
    >>> l2_calibration_error([1, 0], even, of="distributions")
    0.125
    """
    return l2_of(read_distinct(y_true, y_proba, sample_weight, of))


def smooth_calibration_error(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, of: str = "issued"
) -> float:
    """Smooth calibration error of yes/no forecasts, exact, in O(T log T).

        smCE = sup_f Σ_t (w_t/W)·(y_t − p_t)·f(p_t)

    over the 1-Lipschitz functions f: [0, 1] → [−1, 1]. At most the l1 `calibration_error`, and
    continuous in the forecasts where that one jumps: neighbouring forecasts whose errors cancel
    count as calibrated.

    Examples
    --------
    >>> smooth_calibration_error([0, 1], [0.49, 0.51])  # errors −0.49 and 0.49, 0.02 apart
    0.0049
    """
    return smooth_of(read(y_true, y_proba, sample_weight, of).distinct())


def error_per_event_of(
    groups: Groups, norm: str, bins: Any, kind: str, squared: bool, events: float | None
) -> float:
    """`calibration_error` of groups; ``events`` is their number where forecasts may be raw."""
    checks.one_of("norm", norm, NORMS)
    compared = _compared(groups, bins, kind)
    if bins is None and events is not None:
        warn_if_distinct(max(map(len, compared)), events, GIVE_BINS)
    if norm == "max":
        return max(float(np.abs(part.gaps).max()) for part in compared)
    total = sum(part.total for part in compared)
    if norm == "l1":
        return sum(float(part.weights @ np.abs(part.gaps).sum(axis=1)) for part in compared) / total
    mean = sum(l2_of(part) for part in compared) / total
    return mean if squared else float(np.sqrt(mean))


def _compared(groups: Groups, bins: Any, kind: str) -> list[Groups]:
    """The groups whose forecasts are compared with their outcomes, class by class if need be."""
    checks.one_of("kind", kind, KINDS)
    edges = None if bins is None else as_edges(bins)
    if kind == "joint" and groups.classes > 1:
        if edges is not None:
            checks.refuse("bins", "be None for kind='joint'", bins)
        return [groups.distinct()]
    views = [groups.top()] if groups.classes > 1 and kind == "top" else groups.by_class()
    return [view.distinct() if edges is None else view.binned(edges) for view in views]


def smooth_of(groups: Groups) -> float:
    """Smooth calibration error of groups of distinct forecasts, in increasing order."""
    if groups.classes > 1:
        rule = "have shape (T,) of yes/no events (take one class against the rest)"
        raise ValueError(f"y_proba must {rule}, got {groups.classes} classes")
    from fullswap.kernels.calibration import cancellation_cost

    forecasts = groups.forecasts[:, 0]
    errors = (groups.sums[:, 0] - groups.weights * forecasts) / groups.total
    kinks = np.concatenate(([0.0], -np.cumsum(errors)))
    order = np.argsort(kinks[:-1], kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    cost = cancellation_cost(kinks[:-1], order, ranks, np.diff(forecasts), kinks[-1])
    return max(float(cost), 0.0)
