"""Proper scores of forecasts: Brier score and its parts, log loss, KL calibration error."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.metrics.groups import Groups, l2_of, sums_by
from fullswap.metrics.reading import GIVE_BINS, as_edges, read, read_distinct


@dataclass(frozen=True)
class BrierDecomposition:
    """Parts of a Brier score [M73]; all are per event.

    brier = reliability − resolution + uncertainty + within_variance − 2·within_covariance
    """

    reliability: float
    """Σ_g (W_g/W)·‖p_g − ȳ_g‖²: the calibration error; 0 is best."""
    resolution: float
    """Σ_g (W_g/W)·‖ȳ_g − ȳ‖²: how far the groups tell events apart; large is best."""
    uncertainty: float
    """Variance of the outcomes, ȳ(1 − ȳ) for 0/1 outcomes: nothing to do with the forecasts."""
    within_variance: float = 0.0
    """Variance of the forecasts inside their bins; 0 for groups of equal forecasts."""
    within_covariance: float = 0.0
    """Covariance of forecasts and outcomes inside the bins; 0 for groups of equal forecasts."""

    @property
    def brier(self) -> float:
        """The Brier score, as the sum of its parts."""
        within = self.within_variance - 2 * self.within_covariance
        return self.reliability - self.resolution + self.uncertainty + within


def brier_score(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, of: str = "issued"
) -> float:
    """Mean squared error of probabilities, Σ_t (w_t/W)·‖p_t − y_t‖².

    For yes/no events (p − y)², in [0, 1]; for K classes Σ_k (p_k − y_k)², in [0, 2]. Two classes
    written as rows (1 − p, p) therefore score twice what p alone does.

    Examples
    --------
    >>> brier_score([1, 0, 1], [0.9, 0.4, 0.6])
    0.11
    """
    return brier_of(read(y_true, y_proba, sample_weight, of))


def brier_decomposition(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, bins: Any = None, of: str = "issued"
) -> BrierDecomposition:
    """Reliability, resolution and uncertainty of a Brier score [M73].

    Groups are the events of equal forecasts (of equal vectors for K classes). With ``bins``, an
    integer for that many of equal width or an array of edges, groups are bins of the forecasts,
    class by class for K classes, and what happens inside the bins has its own two terms. The
    parts add up to `brier_score` in every case, soft outcomes included.

    Examples
    --------
    >>> parts = brier_decomposition([1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9])
    >>> parts.reliability, parts.resolution, parts.uncertainty
    (0.0147, 0.1067, 0.24)
    """
    if bins is None:
        return _decomposition(read_distinct(y_true, y_proba, sample_weight, of, GIVE_BINS))
    return decomposition_of(read(y_true, y_proba, sample_weight, of), bins)


def log_loss(y_true: Any, y_proba: Any, sample_weight: Any = None, *, of: str = "issued") -> float:
    """Mean logarithmic loss, −Σ_t (w_t/W)·Σ_k y_tk·ln p_tk (natural logarithm).

    For yes/no events −(y·ln p + (1 − y)·ln(1 − p)). Infinite as soon as something happens that
    was forecast with probability 0; nothing is clipped.

    Examples
    --------
    >>> log_loss([1, 0], [0.5, 0.5])
    0.693
    """
    return log_loss_of(read(y_true, y_proba, sample_weight, of))


def kl_calibration_error(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, of: str = "issued"
) -> float:
    """KL calibration error, Σ_p W_p·KL(ȳ_p ‖ p), a sum over events [LSS25].

    As `l2_calibration_error`, with another distance. Infinite if something happened that was
    forecast with probability 0.

    Examples
    --------
    >>> kl_calibration_error([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    0.523
    """
    return kl_of(read_distinct(y_true, y_proba, sample_weight, of))


def brier_of(groups: Groups) -> float:
    """Brier score of groups of equal forecasts."""
    return (l2_of(groups) + _spread(groups)) / groups.total


def _spread(groups: Groups) -> float:
    """Σ_g Σ_{t ∈ g} w_t·‖y_t − ȳ_g‖²."""
    inside = groups.squares - groups.sums * groups.means
    return float(np.maximum(inside, 0.0).sum())


def decomposition_of(groups: Groups, bins: Any = None) -> BrierDecomposition:
    """Decomposition of the Brier score of groups of equal forecasts."""
    if bins is None:
        return _decomposition(groups.distinct())
    edges = as_edges(bins)
    parts = [astuple(_binned_decomposition(one, edges)) for one in groups.by_class()]
    return BrierDecomposition(*map(sum, zip(*parts, strict=True)))


def _decomposition(groups: Groups) -> BrierDecomposition:
    shares, means = groups.weights / groups.total, groups.means
    resolution = float(shares @ np.square(means - shares @ means).sum(axis=1))
    uncertainty = resolution + _spread(groups) / groups.total
    return BrierDecomposition(l2_of(groups) / groups.total, resolution, uncertainty)


def _binned_decomposition(groups: Groups, edges: Vector) -> BrierDecomposition:
    bins, size = groups.bins(edges), len(edges) - 1
    parts = _decomposition(groups.merged(bins, size))
    shares = groups.weights / groups.total
    masses = sums_by(bins, shares, size)

    def offset(values: Vector) -> Vector:
        """Distance from the mean of the bin."""
        sums = sums_by(bins, shares * values, size)
        return values - np.divide(sums, masses, out=np.zeros(size), where=masses > 0)[bins]

    forecast, outcome = offset(groups.forecasts[:, 0]), offset(groups.means[:, 0])
    variance, covariance = shares @ np.square(forecast), shares @ (forecast * outcome)
    return replace(parts, within_variance=float(variance), within_covariance=float(covariance))


def log_loss_of(groups: Groups) -> float:
    """Log loss of groups of equal forecasts."""
    return (0.0 - float(_where_counted(groups, _logarithms(groups)).sum())) / groups.total


def kl_of(groups: Groups) -> float:
    """Σ_g W_g·KL(ȳ_g ‖ p_g)."""
    with np.errstate(divide="ignore"):
        observed = np.log(groups.counts / groups.weights[:, None])
    terms = _where_counted(groups, observed) - _where_counted(groups, _logarithms(groups))
    # rounding, or a row that sums to a little more than 1, must not count in favour
    return float(np.maximum(terms.sum(axis=1), 0.0).sum())


def _logarithms(groups: Groups) -> Points:
    """ln p of every class, −inf at 0."""
    with np.errstate(divide="ignore"):
        logarithms = np.log(groups.forecasts)
        if groups.classes > 1:
            return logarithms
        return np.column_stack((np.log1p(-groups.forecasts), logarithms))


def _where_counted(groups: Groups, values: Points) -> Points:
    """counts·values, and 0 where the count is 0 although the value may be infinite."""
    out = np.zeros_like(values)
    np.multiply(groups.counts, values, out=out, where=groups.counts > 0)
    return out
