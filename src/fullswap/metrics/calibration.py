"""Calibration error: among the events forecast at 20 %, did 20 % happen?

Two scales, kept apart by name. `calibration_error` is *per event*, a number between 0 and 1 (up
to 2 for joint vectors) that compares logs of different lengths. `l2_calibration_error` and
the discretised quantities are *sums over events*, as in the theorems: these are the numbers that
stand beside a guarantee. Outcomes and forecasts: yes/no events have ``y_true`` and ``y_proba`` of
shape (T,) in [0, 1], soft outcomes allowed; events with K classes have ``y_proba`` (T, K) and
``y_true`` class indices (T,) or rows (T, K). Weights w_t default to 1, W = Σ w_t.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.metrics import scores, smooth
from fullswap.metrics.outcomes import (
    Groups,
    as_edges,
    nearest_allowed,
    read_distributions,
    read_events,
)

NORMS = ("l1", "l2", "max")
KINDS = ("classwise", "top", "joint")


def calibration_error(
    y_true: Any,
    y_proba: Any,
    *,
    norm: str = "l2",
    sample_weight: Any = None,
    bins: Any = None,
    kind: str = "classwise",
    squared: bool = False,
) -> float:
    """Calibration error per event, over groups g of events with equal forecasts.

        l1: Σ_g (W_g/W)·|p_g − ȳ_g|    l2: √(Σ_g (W_g/W)·(p_g − ȳ_g)²)    max: max_g |p_g − ȳ_g|

    So l1 ≤ l2 ≤ max, as in torchmetrics. ``squared=True`` leaves the root of "l2" out: that is the
    reliability term of the Brier score, and W times it (without bins; "joint" for K classes) is
    the paper's `l2_calibration_error`.

    Parameters
    ----------
    y_true, y_proba, sample_weight : array
        See the top of this module.
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
    squared : bool
        True: "l2" without its root. Other norms have no use for it.

    Examples
    --------
    >>> y, p = [1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9]
    >>> calibration_error(y, p), calibration_error(y, p, norm="l1")
    (0.1211, 0.12)
    >>> calibration_error([0, 2, 1], [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0, 1, 0]], kind="top")
    0.2082
    """
    groups = read_events(y_true, y_proba, sample_weight)
    return _error_per_event(groups, norm, bins, kind, squared)


def l2_calibration_error(y_true: Any, y_proba: Any, sample_weight: Any = None) -> float:
    """l2 calibration error of issued forecasts, Σ_p W_p·‖p − ȳ_p‖²: a sum over events.

    Over distinct forecasts p; W_p weighs the events where p was issued and ȳ_p is their mean
    outcome. It is the full swap regret of the squared loss [FKO25, Thm calibration].

    Examples
    --------
    >>> l2_calibration_error([1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9])
    0.0733
    """
    return _l2_sum(read_events(y_true, y_proba, sample_weight).distinct())


def l2_calibration_error_of(
    points: Any, labels: Any, weights: Any, outcomes: Any, sample_weight: Any = None
) -> float:
    """l2 calibration error of distributions, Σ_p (Σ_t w_t·x_t[p])·‖p − ȳ(p)‖²: a sum over events.

    In round t the point ``points[labels[t, j]]`` has probability x_t[p] = ``weights[t, j]``;
    ``points`` is (n,) or (n, K), ``labels`` and ``weights`` are (T, w), as in a run of a
    forecaster. ȳ(p) is the mean outcome with weights w_t·x_t[p]. See [FKO25, Thm calibration].

    Examples
    --------
    >>> l2_calibration_error_of([0.25, 0.75], [[0, 1], [0, 1]], [[0.5, 0.5], [0.5, 0.5]], [1, 0])
    0.125
    """
    return _l2_sum(read_distributions(points, labels, weights, outcomes, sample_weight))


def discretised_swap_regret_issued(
    y_true: Any,
    y_proba: Any,
    step: float | None = None,
    *,
    actions: Any = None,
    sample_weight: Any = None,
) -> float:
    """Swap regret of issued forecasts against multiples of a step: a sum over events.

        Σ_p W_p·max(‖p − ȳ_p‖² − ‖[ȳ_p] − ȳ_p‖², 0)

    where [ȳ] is the nearest multiple of ``step`` (which must divide 1), or the nearest of the
    ``actions``, shape (m,) or (m, K). Nobody is blamed for rounding that the grid makes
    unavoidable, so this is what a guarantee for discretised forecasts covers
    [FKO25, Thm disc-main]. The maximum lets a forecast off the grid stay where it is.

    Examples
    --------
    >>> discretised_swap_regret_issued([1, 1, 0, 1, 1], [0.5] * 5, step=0.25)
    0.4375
    """
    groups = read_events(y_true, y_proba, sample_weight).distinct()
    return _swap_regret(groups, step, actions)


def discretised_swap_regret_of(
    points: Any,
    labels: Any,
    weights: Any,
    outcomes: Any,
    step: float | None = None,
    *,
    actions: Any = None,
    sample_weight: Any = None,
) -> float:
    """Swap regret of distributions against multiples of a step: a sum over events.

    `discretised_swap_regret_issued` with W_p = Σ_t w_t·x_t[p]; arguments as in
    `l2_calibration_error_of`. Of a transcript: `discretised_swap_regret`.

    Examples
    --------
    >>> even = [[0.5, 0.5]] * 4
    >>> discretised_swap_regret_of([0.0, 0.5], [[0, 1]] * 4, even, [1, 1, 1, 0], step=0.5)
    1.0
    """
    groups = read_distributions(points, labels, weights, outcomes, sample_weight)
    return _swap_regret(groups, step, actions)


def discretised_calibration_error(
    y_true: Any,
    y_proba: Any,
    step: float | None = None,
    *,
    actions: Any = None,
    sample_weight: Any = None,
) -> float:
    """Distance of issued forecasts from the rounded mean outcomes, Σ_p W_p·‖p − [ȳ_p]‖².

    A diagnostic only: **no forecaster can keep it small**. If outcomes are fair coins with a
    probability half-way between two multiples of ε, the mean ȳ_p falls on either side by chance,
    and every forecaster has an expected Σ of order ε²·T. The quantity that can be guaranteed is
    `discretised_swap_regret_issued`, which for multiples of a step is at most twice as large, and
    often far smaller. Ties of [ȳ] go to the lower multiple.

    Examples
    --------
    >>> discretised_calibration_error([1, 1, 0, 1, 1], [0.5] * 5, step=0.25)
    0.3125
    """
    groups = read_events(y_true, y_proba, sample_weight).distinct()
    return _rounded_sum(groups, step, actions)


def discretised_calibration_error_of(
    points: Any,
    labels: Any,
    weights: Any,
    outcomes: Any,
    step: float | None = None,
    *,
    actions: Any = None,
    sample_weight: Any = None,
) -> float:
    """`discretised_calibration_error` of distributions, with W_p = Σ_t w_t·x_t[p].

    Examples
    --------
    >>> even = [[0.5, 0.5]] * 4
    >>> discretised_calibration_error_of([0.0, 0.5], [[0, 1]] * 4, even, [1, 1, 1, 0], step=0.5)
    0.5
    """
    groups = read_distributions(points, labels, weights, outcomes, sample_weight)
    return _rounded_sum(groups, step, actions)


class CalibrationTally:
    """Metrics of forecasts as a stream: memory for distinct forecasts, not for events.

    Every method gives what the function of that name gives for all events so far, up to rounding.
    ``classes`` is 2 for yes/no events with one probability each, else the number K ≥ 3 of classes.

    Examples
    --------
    >>> tally = CalibrationTally()
    >>> for y, p in [(1, 0.2), (0, 0.2), (0, 0.2), (1, 0.9), (1, 0.9)]:
    ...     tally.update(y, p)
    >>> tally.l2_calibration_error(), tally.brier_score()
    (0.0733, 0.148)
    """

    def __init__(self, classes: int = 2) -> None:
        if isinstance(classes, bool) or not isinstance(classes, int | np.integer) or classes < 2:
            raise ValueError(f"classes is {classes!r}; allowed: integers >= 2")
        self.classes = int(classes)
        self._kept = Groups.empty(1 if classes == 2 else self.classes)
        # Events wait until they are as many as the groups: merging then costs O(log) an event.
        self._waiting: list[Groups] = []
        self._singles: list[tuple[float, float, float]] = []
        self._late = 0

    def update(self, y: Any, p: Any, weight: float = 1.0) -> None:
        """Add one event: its outcome, its forecast (one number, or K), its weight ≥ 0."""
        if self.classes == 2:
            _check_number("y", y, 1.0)
            _check_number("p", p, 1.0)
            _check_number("weight", weight, 1e300)
            self._singles.append((float(y), float(p), float(weight)))
            self._wait(1)
        else:
            names = ("y", "p", "weight")
            self._add(read_events([y], [p], [weight], weightless=True, names=names), "p")

    def update_many(self, y_true: Any, y_proba: Any, sample_weight: Any = None) -> None:
        """Add many events at once, in arrays as for the functions."""
        self._add(read_events(y_true, y_proba, sample_weight, weightless=True), "y_proba")

    def merge(self, other: CalibrationTally) -> None:
        """Add all events of another tally."""
        if not isinstance(other, CalibrationTally) or other.classes != self.classes:
            raise ValueError(
                f"other is {other!r}; allowed: a CalibrationTally of {self.classes} classes"
            )
        self._add(other._settled(), "other")

    @property
    def weight(self) -> float:
        """Weight of all events so far: their number, if all weigh 1."""
        return self._settled().total

    @property
    def forecasts(self) -> Points:
        """The distinct forecasts so far, shape (G,) or (G, K)."""
        forecasts = self._settled().forecasts
        return forecasts[:, 0].copy() if self.classes == 2 else forecasts.copy()

    def calibration_error(
        self,
        *,
        norm: str = "l2",
        bins: Any = None,
        kind: str = "classwise",
        squared: bool = False,
    ) -> float:
        """`calibration_error` of all events so far."""
        return _error_per_event(self._groups(), norm, bins, kind, squared)

    def l2_calibration_error(self) -> float:
        """`l2_calibration_error` of all events so far."""
        return _l2_sum(self._groups())

    def kl_calibration_error(self) -> float:
        """`kl_calibration_error` of all events so far."""
        return scores.kl_of(self._groups())

    def smooth_calibration_error(self) -> float:
        """`smooth_calibration_error` of all events so far."""
        return smooth.smooth_of(self._groups())

    def discretised_swap_regret(self, step: float | None = None, *, actions: Any = None) -> float:
        """`discretised_swap_regret_issued` of all events so far."""
        return _swap_regret(self._groups(), step, actions)

    def brier_score(self) -> float:
        """`brier_score` of all events so far."""
        return scores.brier_of(self._groups())

    def brier_decomposition(self, *, bins: Any = None) -> scores.BrierDecomposition:
        """`brier_decomposition` of all events so far."""
        return scores.decomposition_of(self._groups(), bins)

    def log_loss(self) -> float:
        """`log_loss` of all events so far."""
        return scores.log_loss_of(self._groups())

    def _add(self, fresh: Groups, name: str) -> None:
        if fresh.classes != self._kept.classes:
            width = "(T,)" if self.classes == 2 else f"(T, {self.classes})"
            raise ValueError(
                f"{name} has {fresh.classes} probabilities an event; allowed: {width}, because "
                f"this tally has {self.classes} classes"
            )
        self._waiting.append(fresh)
        self._wait(len(fresh.weights))

    def _wait(self, events: int) -> None:
        self._late += events
        if self._late > max(1024, len(self._kept.weights)):
            self._settled()

    def _settled(self) -> Groups:
        """Groups of all events so far, none waiting."""
        if self._singles:
            y, p, weight = np.array(self._singles).T
            self._waiting.append(read_events(y, p, weight, weightless=True))
        if self._waiting:
            self._kept = Groups.joined([self._kept, *self._waiting]).distinct()
        self._waiting, self._singles, self._late = [], [], 0
        return self._kept

    def _groups(self) -> Groups:
        groups = self._settled()
        if not len(groups.weights):
            raise ValueError("the tally has no events of positive weight; allowed: at least one")
        return groups


def _check_number(name: str, value: Any, top: float) -> None:
    number = isinstance(value, int | float | np.integer | np.floating | np.bool_)
    if not (number and 0 <= value <= top):
        raise ValueError(f"{name} is {value!r}; allowed: numbers in [0, {top:g}]")


def _l2_sum(groups: Groups) -> float:
    return float(groups.weights @ np.square(groups.forecasts - groups.means).sum(axis=1))


def _error_per_event(groups: Groups, norm: str, bins: Any, kind: str, squared: bool) -> float:
    if norm not in NORMS:
        raise ValueError(f"norm is {norm!r}; allowed: {', '.join(map(repr, NORMS))}")
    weights, gaps = _gaps(groups, bins, kind)
    if norm == "max":
        return float(np.abs(gaps).max())
    if norm == "l1":
        return float(weights @ np.abs(gaps).sum(axis=1) / weights.sum())
    mean = float(weights @ np.square(gaps).sum(axis=1) / weights.sum())
    return mean if squared else float(np.sqrt(mean))


def _gaps(groups: Groups, bins: Any, kind: str) -> tuple[Vector, Points]:
    """Weights (n,) and p_g − ȳ_g (n, C) of the groups that are compared."""
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; allowed: {', '.join(map(repr, KINDS))}")
    edges = None if bins is None else as_edges(bins)
    if kind == "joint" and groups.classes > 1:
        if edges is not None:
            raise ValueError(f"bins is {bins!r}; allowed: None for kind='joint'")
        compared = [groups.distinct()]
    else:
        if groups.classes == 1:
            views = [groups]
        elif kind == "top":
            views = [groups.top()]
        else:
            views = [groups.of_class(k) for k in range(groups.classes)]
        compared = [view.distinct() if edges is None else view.binned(edges) for view in views]
    weights = np.concatenate([group.weights for group in compared])
    return weights, np.concatenate([group.forecasts - group.means for group in compared])


def _swap_regret(groups: Groups, step: float | None, actions: Any) -> float:
    means = groups.means
    here = np.square(groups.forecasts - means).sum(axis=1)
    there = np.square(nearest_allowed(groups, step, actions) - means).sum(axis=1)
    return float(groups.weights @ np.maximum(here - there, 0.0))


def _rounded_sum(groups: Groups, step: float | None, actions: Any) -> float:
    gaps = groups.forecasts - nearest_allowed(groups, step, actions)
    return float(groups.weights @ np.square(gaps).sum(axis=1))
