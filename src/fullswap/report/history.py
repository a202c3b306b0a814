"""How far off forecasts are as events go by, beside chance and beside what is guaranteed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate, Quantity, Subject
from fullswap.metrics.groups import Groups, distinct_rows, sums_by
from fullswap.metrics.reading import USE_BINS, as_forecasts, warn_if_distinct
from fullswap.report.bands import issued_events
from fullswap.report.history_picture import draw_history

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHECKPOINTS = 200
"""Numbers of events at which the error is measured: one for every few pixels."""

Guarantee = float | Certificate | Callable[[int], float] | None


@dataclass(frozen=True, eq=False)
class History:
    """How far off forecasts were after so many events: arrays of equal length, errors as shares.

    An error is √(mean of (p − ȳ_p)²) over all events up to there, ȳ_p the mean outcome where p was
    forecast; of several classes, the distance of the vectors.
    """

    events: Indices
    """Numbers of events, ascending."""
    error: Vector
    """Error of the forecasts."""
    noise: Vector
    """Error that chance alone would show with these forecasts; NaN: unknown."""
    guaranteed: Vector
    """At most so far off; NaN where nothing is guaranteed."""
    before: Vector
    """Error of the model's own probabilities, in bins around the same forecasts; NaN: no model."""
    unit: str = "events"
    """What is counted."""
    mass: Vector | None = None
    """Total weight up to there; None: every event counts once."""

    def __post_init__(self) -> None:
        if not len(self.events):
            checks.refuse_shape("events", "(n,), not empty", np.asarray(self.events))
        for name in ("error", "noise", "guaranteed", "before", "mass"):
            if getattr(self, name) is not None:
                checks.same_length(name, getattr(self, name), "events", len(self.events))

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        last = f"{100 * self.error[-1]:.2g} points off"
        if np.isfinite(self.guaranteed[-1]):
            last += f", guaranteed at most {100 * self.guaranteed[-1]:.2g}"
        return f"<History: {last} after {int(self.events[-1]):,} {self.unit}>"

    @property
    def weights(self) -> Vector:
        """Total weight up to each number of events."""
        return self.events.astype(float) if self.mass is None else self.mass


def history_of(
    y_true: ArrayLike,
    y_proba: ArrayLike | Record,
    *,
    guarantee: Guarantee = None,
    before: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    log: bool = False,
) -> History:
    """The error after t events, at about 200 values of t.

    Events of weight 0 are left out. For forecasts of a grid, or rounded ones: raw probabilities
    are hardly ever made twice, which gives a warning.

    Parameters
    ----------
    y_true, y_proba, sample_weight
        Outcomes and forecasts in the order of time, shapes (T,) or, of K classes, (T,) of classes
        and (T, K); or a `Record` for the forecasts that it issued; weights of the events.
    guarantee
        A bound on the summed l2 calibration error: a `Certificate`, a number (for all T events, so
        for fewer as well), or a function of the number of events. None or NaN: nothing is
        guaranteed.
    before
        A model's own probabilities of the same events, shaped as the forecasts.
    log
        Whether values of t are evenly spaced on a logarithmic axis.

    Examples
    --------
    >>> history = history_of([0, 1, 1, 1], [0.5, 0.5, 0.5, 0.5], guarantee=0.5)
    >>> history.error
    array([0.5       , 0.        , 0.16666667, 0.25      ])
    >>> history.guaranteed
    array([0.70710678, 0.5       , 0.40824829, 0.35355339])
    """
    own = None if before is None else as_forecasts("before", before, "T")
    if own is not None:
        checks.same_length("before", own, "y_proba", len(_issued(y_proba)))
    events = issued_events(y_true, y_proba, sample_weight)
    points, kinds = distinct_rows(events.forecasts)
    if not isinstance(y_proba, Record):
        warn_if_distinct(len(points), len(events), USE_BINS)
    rounds = checkpoints(len(events), log)
    mass = np.cumsum(events.weights)[rounds - 1]
    variances = np.sum(points * (1 - points), axis=1)  # of vectors: 1 − ‖p‖²
    model = np.full(len(rounds), np.nan)
    if own is not None:
        if own.shape[1] != events.classes:
            checks.refuse_shape("before", f"(T, {events.classes}) as y_proba", own)
        said = own[_weighted(sample_weight, len(own))]
        model = _running(_nearest(said, points), len(points), events, said, rounds) / mass
    error = _running(kinds, len(points), events, events.forecasts, rounds) / mass
    noise = _noise(kinds, variances, events.weights, rounds) / mass
    promised = _promised(guarantee, rounds, mass, 1.0 if events.classes == 1 else 2.0)
    whole = bool((events.weights == 1).all())
    return History(
        rounds, np.sqrt(error), np.sqrt(noise), promised, np.sqrt(model),
        mass=None if whole else mass,
    )  # fmt: skip


def calibration_history(
    y_true: ArrayLike,
    y_proba: ArrayLike | Record,
    *,
    guarantee: Guarantee = None,
    before: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
    log: bool = False,
    sums: bool = False,
) -> Figure:
    """How far off forecasts were after t events, in percentage points, beside the guarantee.

    `history_of` and `draw_history` in one: shaded is what chance alone would show.

    Parameters
    ----------
    y_true, y_proba, guarantee, before, sample_weight
        As in `history_of`.
    ax, log, sums
        As in `draw_history`.

    Examples
    --------
    >>> figure = calibration_history([0, 1, 1], [0.5, 0.5, 0.5], guarantee=0.5)
    >>> figure.axes[0].get_ylabel()
    'root mean square error (points)'
    """
    history = history_of(
        y_true, y_proba, guarantee=guarantee, before=before, sample_weight=sample_weight, log=log
    )
    return draw_history(history, ax, log=log, sums=sums)


def checkpoints(rounds: int, log: bool) -> Indices:
    """About 200 numbers from 1 to `rounds`, evenly spaced on the axis they are drawn on."""
    if rounds <= CHECKPOINTS:
        return np.arange(1, rounds + 1)
    spaced = np.geomspace if log else np.linspace
    return np.unique(np.rint(spaced(1, rounds, CHECKPOINTS)).astype(np.int64))


def _running(kinds: Indices, size: int, events: Groups, said: Points, rounds: Indices) -> Vector:
    """Σ_g ‖Σ w·(p − y)‖²/Σ w over these groups, after each of these numbers of events.

    For equal forecasts in a group this is Σ_g W_g·‖p_g − ȳ_g‖². O(T + checkpoints·groups).
    """
    gaps = events.weights[:, None] * said - events.sums
    weights, sums = np.zeros(size), np.zeros((size, gaps.shape[1]))
    errors, start = np.empty(len(rounds)), 0
    for k, stop in enumerate(rounds):
        fresh = kinds[start:stop]
        weights += sums_by(fresh, events.weights[start:stop], size)
        for column in range(gaps.shape[1]):
            sums[:, column] += sums_by(fresh, gaps[start:stop, column], size)
        squares = np.square(sums).sum(axis=1)
        errors[k] = np.divide(squares, weights, out=np.zeros(size), where=weights > 0).sum()
        start = stop
    return errors


def _noise(kinds: Indices, variances: Vector, weights: Vector, rounds: Indices) -> Vector:
    """The mean of `_running` if outcomes came with the forecast probabilities."""
    held, squared = np.zeros(len(variances)), np.zeros(len(variances))
    noise, start = np.empty(len(rounds)), 0
    for k, stop in enumerate(rounds):
        fresh, own = kinds[start:stop], weights[start:stop]
        held += sums_by(fresh, own, len(variances))
        squared += sums_by(fresh, np.square(own), len(variances))
        share = np.divide(squared, held, out=np.zeros(len(held)), where=held > 0)
        noise[k] = share @ variances
        start = stop
    return noise


def _nearest(said: Points, points: Points) -> Indices:
    """Which of the points is nearest to each row."""
    from scipy.spatial import cKDTree

    places: Indices = cKDTree(points).query(said)[1]
    return places


def _issued(y_proba: Any) -> Any:
    return y_proba.issued if isinstance(y_proba, Record) else y_proba


def _weighted(sample_weight: Any, count: int) -> Any:
    """Which events have a weight at all."""
    return slice(None) if sample_weight is None else np.asarray(sample_weight, float)[:count] > 0


def _promised(guarantee: Any, rounds: Indices, mass: Vector, most: float) -> Vector:
    """The guarantee as a share at each checkpoint; NaN where it promises nothing.

    A bound for all events is one for the first of them: it cannot fall as events go by.
    """
    if isinstance(guarantee, Certificate):
        sums = np.full(len(rounds), _squares(guarantee))
    elif guarantee is None or (isinstance(guarantee, float) and math.isnan(guarantee)):
        sums = np.full(len(rounds), np.nan)
    elif callable(guarantee):
        sums = np.array([_bound(f"guarantee({t})", guarantee(int(t))) for t in rounds])
    else:
        sums = np.full(len(rounds), _bound("guarantee", guarantee))
    squares = sums / mass
    return np.sqrt(np.where(squares < most, squares, np.nan))


def _squares(certificate: Certificate) -> float:
    """A certificate's bound on the sum of squares; NaN if it guarantees nothing."""
    own = certificate.quantity == Quantity.L2_CALIBRATION_ERROR
    about = own and certificate.subject != Subject.DISTRIBUTIONS
    if not about or certificate.mass is None:
        rule = "be a certificate of the calibration error of issued forecasts"
        checks.refuse("guarantee", rule, certificate.title)
    share = certificate.points_guaranteed
    return math.nan if share is None else share**2 * certificate.mass


def _bound(name: str, value: object) -> float:
    number = checks.number(name, value)
    if number < 0:
        checks.refuse(name, "be finite and at least 0", value)
    return number
