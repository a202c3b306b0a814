"""Calibration in soft bins, which overlap linearly: of every class, and of the likeliest one.

Symbols: knots 0 = s_0 < … < s_N = 1 · hat weights h_i(x) of a forecast x, at most two of them
positive: they sum to 1 and Σ_i h_i(x)·s_i = x · W_i = Σ_t w_t·h_i(x_t) ·
R_i = Σ_t w_t·h_i(x_t)·(y_t − x_t).

A soft bin is a bin that a forecast enters by degrees: the error changes little when forecasts do,
where a forecast that crosses the edge of a hard bin moves all its weight at once. That is what a
deterministic forecaster can be calibrated to, whatever happens. Against somebody who sees its
forecasts none is calibrated in hard bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.base.records import Record
from fullswap.metrics.calibration import NORMS
from fullswap.metrics.groups import sums_by
from fullswap.metrics.reading import MOST_BINS, as_edges, as_forecasts, as_outcomes, as_weights


@dataclass(frozen=True, eq=False)
class ClasswiseError:
    """Calibration error of each class against the rest, in soft bins; shares, per event."""

    sums: Vector
    """Σ_i R_i²/W_i of each class, shape (K,): sums over events, as guarantees are."""
    noise: Vector
    """What a calibrated forecaster would show of ``sums``, on average, shape (K,)."""
    weight: float
    """Weight W of all events."""

    @property
    def by_class(self) -> Vector:
        """√(Σ_i R_i²/W_i / W) of each class, shape (K,)."""
        rooted: Vector = np.sqrt(self.sums / self.weight)
        return rooted

    @property
    def chance(self) -> Vector:
        """What chance alone would show of ``by_class``, shape (K,)."""
        rooted: Vector = np.sqrt(self.noise / self.weight)
        return rooted

    @property
    def error(self) -> float:
        """Root of the mean over classes: what `calibration_error` is in hard bins."""
        return float(np.sqrt(self.sums.mean() / self.weight))

    @property
    def total(self) -> float:
        """Root of the sum over classes: the length of the error of the whole vector."""
        return float(np.sqrt(self.sums.sum() / self.weight))

    @property
    def worst(self) -> int:
        """The class with the largest error, the first of several."""
        return int(self.sums.argmax())


def classwise_calibration_error(
    y_true: Any, y_proba: Any, *, bins: Any = 10, sample_weight: Any = None
) -> ClasswiseError:
    """Calibration error of every class against the rest, in soft bins.

        of class k: √(Σ_i R_i²/W_i / W)

    that is the root mean square, over events, of the gap between forecast and outcome in a soft
    bin: `calibration_error` with bins that overlap linearly.

    Parameters
    ----------
    y_true, y_proba, sample_weight
        As everywhere in `fullswap.metrics`; of a `Record` the issued forecasts are taken.
        Yes/no events have one class.
    bins : int or array
        N for the knots s_i = sin²(πi/2N), closer towards 0 and 1, where forecasts of many classes
        are; or the knots, from 0 to 1.

    Examples
    --------
    >>> y, p = [0, 2, 1], [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.1, 0.9, 0.0]]
    >>> found = classwise_calibration_error(y, p)
    >>> found.by_class
    array([0.1414, 0.1403, 0.1826])
    >>> found.error, found.total
    (0.156, 0.2703)
    """
    forecasts, outcomes, weights = class_events(y_true, y_proba, sample_weight)
    knots = knots_of(bins)
    sums, noise = np.empty((2, forecasts.shape[1]))
    for k in range(len(sums)):
        own = np.ascontiguousarray(forecasts[:, k])
        held, gaps, spread = soft_sums(own, hits_of(outcomes, k), weights, knots)
        sums[k], noise[k] = float(held @ np.square(gaps)), float(spread.sum())
    return ClasswiseError(sums, noise, float(weights.sum()))


def top_label_calibration_error(
    y_true: Any, y_proba: Any, declared: Any = None, *, bins: Any = 10, soft: bool = True,
    norm: str = "l2", sample_weight: Any = None,
) -> float:  # fmt: skip
    """Calibration error of the declared class: did the label come true as often as it was said?

    Parameters
    ----------
    y_true, y_proba, sample_weight
        As everywhere in `fullswap.metrics`; of a `Record` the issued forecasts are taken.
    declared
        The class that each forecast declared, shape (T,); None: the likeliest, the first of
        several. Its probability is compared with how often it came true.
    bins : int or array
        Of soft bins as for `classwise_calibration_error`; of hard bins as for `calibration_error`.
    soft : bool
        False: hard bins [e_i, e_{i+1}), as "top-label ECE" has them with ``norm="l1"``.
    norm : {"l1", "l2", "max"}
        As for `calibration_error`.

    Examples
    --------
    >>> y, p = [0, 2, 1], [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.1, 0.9, 0.0]]
    >>> top_label_calibration_error(y, p), top_label_calibration_error(y, p, soft=False, bins=15)
    (0.2133, 0.216)
    """
    checks.one_of("norm", norm, NORMS)
    if not isinstance(soft, bool | np.bool_):
        checks.refuse("soft", "be True or False", soft)
    said, hits, weights = top_label_events(y_true, y_proba, declared, sample_weight)
    if soft:
        held, gaps, _ = soft_sums(said, hits, weights, knots_of(bins))
    else:
        held, gaps = _hard_sums(said, hits, weights, as_edges(bins))
    gaps, held = np.abs(gaps[held > 0]), held[held > 0]
    if norm == "max":
        return float(gaps.max())
    mean = float(held @ (gaps if norm == "l1" else np.square(gaps)) / weights.sum())
    return mean if norm == "l1" else float(np.sqrt(mean))


def top_label_events(
    y_true: Any, y_proba: Any, declared: Any = None, sample_weight: Any = None
) -> tuple[Vector, Vector, Vector]:
    """Probability of the declared class, whether it came true, and weight of each event."""
    forecasts, outcomes, weights = class_events(y_true, y_proba, sample_weight)
    if forecasts.shape[1] == 1:  # yes/no events have the classes (no, yes)
        forecasts = np.column_stack((1.0 - forecasts, forecasts))
        outcomes = np.column_stack((1.0 - outcomes, outcomes))
    rows = np.arange(len(forecasts))
    if declared is None:
        labels: Indices = forecasts.argmax(axis=1)
    else:
        labels = checks.indices("declared", declared, forecasts.shape[1])
        if labels.shape != rows.shape:
            checks.refuse_shape("declared", f"({len(rows)},)", labels)
    hits = (outcomes == labels).astype(float) if outcomes.ndim == 1 else outcomes[rows, labels]
    return forecasts[rows, labels], hits, weights


def hits_of(outcomes: Any, label: int) -> Vector:
    """Whether each event was of this class, from classes (T,) or rows (T, K)."""
    hits: Vector = (outcomes == label).astype(float) if outcomes.ndim == 1 else outcomes[:, label]
    return hits


def soft_sums(
    forecasts: Vector, outcomes: Vector, weights: Vector, knots: Vector
) -> tuple[Vector, Vector, Vector]:
    """Of every soft bin, (N + 1,) each: W_i, R_i/W_i, and what R_i²/W_i is by chance, on average.

    The last two are 0 where nothing lies. By chance: if outcomes came with the probabilities.
    """
    left = np.clip(np.searchsorted(knots, forecasts, side="right") - 1, 0, len(knots) - 2)
    upper = (forecasts - knots[left]) / (knots[left + 1] - knots[left])
    size = len(knots)
    held, residual, spread = np.zeros((3, size))
    for places, shares in ((left, weights * (1.0 - upper)), (left + 1, weights * upper)):
        held += sums_by(places, shares, size)
        residual += sums_by(places, shares * (outcomes - forecasts), size)
        spread += sums_by(places, np.square(shares) * forecasts * (1.0 - forecasts), size)
    gaps, noise = np.zeros((2, size))
    np.divide(residual, held, out=gaps, where=held > 0)
    np.divide(spread, held, out=noise, where=held > 0)
    return held, gaps, noise


def arcsine_knots(steps: int) -> Vector:
    """s_i = sin²(πi/2N), i = 0 … N.

    Examples
    --------
    >>> arcsine_knots(2)
    array([0. , 0.5, 1. ])
    """
    knots: Vector = np.square(np.sin(np.pi * np.arange(steps + 1) / (2 * steps)))
    knots[-1] = 1.0
    return knots


def _hard_sums(
    forecasts: Vector, outcomes: Vector, weights: Vector, edges: Vector
) -> tuple[Vector, Vector]:
    places = np.searchsorted(edges, forecasts, side="right") - 1
    places = np.minimum(places, len(edges) - 2)
    held = sums_by(places, weights, len(edges) - 1)
    residual = sums_by(places, weights * (outcomes - forecasts), len(edges) - 1)
    return held, np.divide(residual, held, out=np.zeros_like(held), where=held > 0)


def knots_of(bins: Any) -> Vector:
    """Knots of soft bins: `arcsine_knots` for a whole number, else as they are given."""
    if checks.is_whole(bins):
        return arcsine_knots(checks.whole("bins", bins, 1, MOST_BINS))
    knots = as_edges(bins)
    if knots[0] != 0 or knots[-1] != 1:
        checks.refuse("bins", "be a whole number, or knots from 0 to 1", bins)
    return knots


def class_events(y_true: Any, y_proba: Any, sample_weight: Any) -> tuple[Points, Any, Vector]:
    """Forecasts (T, C), outcomes and weights; classes stay numbers (T,), a table would be large."""
    issued = y_proba.issued if isinstance(y_proba, Record) else y_proba
    forecasts = as_forecasts("y_proba", issued, "T")
    rounds, classes = forecasts.shape
    weights = as_weights("sample_weight", sample_weight, rounds)
    if classes > 1 and np.ndim(y_true) == 1 and len(y_true) == rounds:
        numbers = checks.numbers("y_true", y_true)
        return forecasts, checks.indices("y_true", numbers, classes), weights
    return forecasts, as_outcomes("y_true", y_true, rounds, classes), weights
