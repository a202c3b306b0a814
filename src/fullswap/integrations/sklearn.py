"""A scikit-learn classifier that is recalibrated event by event.

Calibration must learn from scores that the estimator gave before it saw the label. ``fit`` gets
them by cross-validation and replays them in the order of the rows; ``partial_fit`` scores each
batch before the estimator learns from it. Both feed the same `fullswap.Recalibrator`.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import check_cv
    from sklearn.utils import _safe_indexing, get_tags, indexable
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError(
        "fullswap.integrations.sklearn needs scikit-learn 1.6 or later: "
        "pip install 'fullswap[sklearn]'"
    ) from error

from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.one_vs_rest import normalised
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.integrations.sklearn_input import (
    as_rows,
    check_classes,
    check_known,
    checked_labels,
    checked_weights,
    scores_of,
)

JOINT_CLASSES = 5
"""Up to so many classes a grid over the simplex is small enough to calibrate them jointly."""


class CalibratedOnlineClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier whose probabilities stay calibrated while labels keep arriving.

    Wraps an estimator, or takes bare probabilities. `predict_proba` is the mean of the
    recalibrated distribution: it is deterministic and changes nothing. The guarantee of
    `certificate` is for what was forecast to each event before its label was learnt.

    Parameters
    ----------
    estimator : classifier or None
        Needs ``predict_proba`` or ``decision_function`` (squashed by the logistic function).
        A ``FrozenEstimator`` is never taught. None: X holds probabilities, (n,) or (n, 1) for
        the second of two classes, or (n, K) for the K classes in sorted order.
    bins, step, horizon, method, feedback
        As in `fullswap.Recalibrator`.
    multiclass : {"auto", "joint", "one_vs_rest"}
        For three or more classes: one recalibrator of whole vectors, or one for each class with
        the results divided by their sum, which then have no guarantee as vectors. "auto" is
        joint for up to five classes with ``method="experts"``.
    max_weight : float or None
        Largest sample weight there will be. None: the largest in the first data, or 1.
    cv : int, splitter or iterable of (train, test)
        How `fit` gets out-of-sample scores. Rows in no test part (``TimeSeriesSplit``) teach
        the estimator alone. Not used for None and frozen estimators.
    seed : int
        Seed of the draws.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels in sorted order.
    estimator_ : classifier or None
        The taught estimator.
    calibrators_ : list of Recalibrator
        One; with "one_vs_rest" one for each class.

    Notes
    -----
    The rows are a stream: calibration depends on their order, and a weight of 2 is not the same
    as two rows. The first batch given to `partial_fit` only teaches the estimator, which has no
    scores before. An estimator without ``partial_fit`` keeps what it was first taught, and later
    batches recalibrate it.

    Examples
    --------
    >>> import numpy as np
    >>> p, y = np.tile([0.9, 0.1], 500), np.tile(["yes", "yes", "no", "no"], 250)
    >>> model = CalibratedOnlineClassifier().fit(p, y)  # says 0.9 and 0.1, truth is one half
    >>> model.predict_proba([0.9]).round(2)
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        bins: int | None = 20,
        step: float | None = None,
        horizon: int | None = None,
        method: str = "experts",
        feedback: str = "realised",
        multiclass: str = "auto",
        max_weight: float | None = None,
        cv: Any = 5,
        seed: int | None = 0,
    ) -> None:
        self.estimator = estimator
        self.bins = bins
        self.step = step
        self.horizon = horizon
        self.method = method
        self.feedback = feedback
        self.multiclass = multiclass
        self.max_weight = max_weight
        self.cv = cv
        self.seed = seed

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CalibratedOnlineClassifier:
        """Start anew: teach the estimator all rows, the recalibrator their out-of-sample scores.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Whatever the estimator takes; without one, probabilities.
        y : array-like of shape (n,)
            Labels of any type, at least two different ones.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0, not all zero; rows of weight 0 teach nothing.
        """
        y = checked_labels(y)
        X, y = indexable(X, y)
        classes = np.unique(y)
        if isinstance(self.estimator, FrozenEstimator):  # it may know labels that y does not show
            classes = np.union1d(classes, self.estimator.classes_)
        weights = checked_weights(sample_weight, len(y))
        seen = y if weights is None else y[weights > 0]
        check_classes(np.unique(seen), "y")
        scores, taught = self._fit_estimator(X, y, classes, weights)
        calibrators = self._new_calibrators(len(classes), weights)
        _replay(calibrators, scores, np.searchsorted(classes, y), weights)
        self.classes_, self.estimator_, self.calibrators_ = classes, taught, calibrators
        self._describe_features()
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> CalibratedOnlineClassifier:
        """Learn from a batch: score it, teach the estimator, then recalibrate with the scores.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like of shape (K,)
            All labels there will be; needed in the first call.
        """
        y = checked_labels(y)
        X, y = indexable(X, y)
        first = not hasattr(self, "calibrators_")
        labels = self._checked_classes(classes, first)
        check_known(y, labels)
        weights = checked_weights(sample_weight, len(y))
        calibrators = self._new_calibrators(len(labels), weights) if first else self.calibrators_
        _check_below(weights, calibrators[0])
        model = self._begin() if first else self.estimator_
        scores = None
        if not first or model is None or isinstance(model, FrozenEstimator):
            scores = scores_of(model, X, labels)
        self._teach_batch(model, X, y, labels, weights, first)
        if scores is not None:
            _replay(calibrators, scores, np.searchsorted(labels, y), weights)
        if first:
            self.classes_, self.estimator_, self.calibrators_ = labels, model, calibrators
            self._describe_features()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Mean of the recalibrated distribution, shape (n, K); nothing is drawn or changed."""
        return _combined([run.mean for run in self._forecasts(X)])

    def predict(self, X: Any) -> np.ndarray:
        """The label of largest probability, shape (n,)."""
        probabilities = self.predict_proba(X)  # first: it says so if there was no fit
        return self.classes_[np.argmax(probabilities, axis=1)]

    def sample(self, X: Any, random_state: Any = None) -> np.ndarray:
        """Forecasts drawn from the recalibrated distributions, shape (n, K).

        These are what to publish where the guarantee is for issued forecasts. The draws are
        independent of those that learning makes, and nothing is changed.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        random_state : int, Generator or None
            Seed of the draws; None draws afresh in each call.
        """
        rng = np.random.default_rng(random_state)
        return _combined([_drawn(run, rng) for run in self._forecasts(X)])

    def certificate(self) -> Certificate:
        """What was measured over all events learnt so far, beside what is guaranteed.

        With "one_vs_rest" the vectors have no guarantee; each class has its own in
        ``calibrators_[k].certificate()``, and this is their sum before normalisation.
        """
        check_is_fitted(self)
        parts = [calibrator.certificate() for calibrator in self.calibrators_]
        return parts[0] if len(parts) == 1 else _summed(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is None:
            # Probabilities, not a matrix of features: the generic checks have nothing to feed.
            tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        else:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # --- the estimator --------------------------------------------------------------------

    def _fit_estimator(self, X: Any, y: Any, classes: Any, weights: Any) -> tuple[Any, Any]:
        """Out-of-sample scores, NaN in rows that have none, and the estimator taught all rows."""
        model = self._begin()
        if model is None or isinstance(model, FrozenEstimator):
            return scores_of(model, X, classes), model
        scores = np.full((len(y), len(classes)), np.nan)
        for train, test in check_cv(self.cv, y, classifier=True).split(X, y):
            part = None if weights is None else weights[train]
            fold = _taught(clone(model).fit, _safe_indexing(X, train), y[train], part)
            scores[test] = scores_of(fold, _safe_indexing(X, test), classes)
        return scores, _taught(model.fit, X, y, weights)

    def _begin(self) -> Any:
        """The estimator before it is taught; the one that was passed in is never touched."""
        if self.estimator is None:
            return None
        if not any(
            hasattr(self.estimator, name) for name in ("predict_proba", "decision_function")
        ):
            raise ValueError(
                "estimator must have predict_proba or decision_function, "
                f"got {type(self.estimator).__name__}"
            )
        return clone(self.estimator)

    def _teach_batch(
        self, model: Any, X: Any, y: Any, labels: Any, weights: Any, first: bool
    ) -> None:
        if model is None or isinstance(model, FrozenEstimator):
            return
        if hasattr(model, "partial_fit"):
            _taught(model.partial_fit, X, y, weights, **({"classes": labels} if first else {}))
        elif first:
            _taught(model.fit, X, y, weights)

    def _describe_features(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    # --- the recalibrators ----------------------------------------------------------------

    def _new_calibrators(self, classes: int, weights: Any) -> list[Recalibrator]:
        if self.multiclass not in ("auto", "joint", "one_vs_rest"):
            raise ValueError(
                f"multiclass must be 'auto', 'joint' or 'one_vs_rest', got {self.multiclass!r}"
            )
        joint = self.multiclass == "joint" or (
            self.multiclass == "auto" and classes <= JOINT_CLASSES and self.method == "experts"
        )
        top = self.max_weight
        if top is None:
            top = 1.0 if weights is None else float(weights.max())
        settings: dict[str, Any] = {
            "bins": self.bins,
            "step": self.step,
            "horizon": self.horizon,
            "method": self.method,
            "feedback": self.feedback,
            "max_weight": top,
        }
        if classes == 2 or joint:
            return [Recalibrator(**settings, classes=classes, seed=self.seed)]
        seeds = np.random.SeedSequence(self.seed).generate_state(classes)
        return [Recalibrator(**settings, seed=int(seed)) for seed in seeds]

    def _forecasts(self, X: Any) -> Iterator[Record]:
        """Distributions for the rows of X, from each recalibrator."""
        check_is_fitted(self)
        contexts = _contexts(self.calibrators_, scores_of(self.estimator_, X, self.classes_))
        for calibrator, context in zip(self.calibrators_, contexts, strict=True):
            # A copy learns nothing from events of weight 0, and forecasts them in compiled code.
            nothing = np.zeros(len(context))
            run = copy.copy(calibrator).run(context, nothing, nothing)
            assert run is not None  # it was to be recorded
            yield run

    # --- checks ---------------------------------------------------------------------------

    def _checked_classes(self, classes: Any, first: bool) -> Any:
        if first and classes is None:
            raise ValueError("classes must be passed in the first call to partial_fit")
        if classes is None:
            return self.classes_
        labels = np.unique(classes)
        check_classes(labels, "classes")
        if not first and not np.array_equal(labels, self.classes_):
            raise ValueError(
                f"classes must stay as in the first call, {self.classes_.tolist()}, "
                f"got {labels.tolist()}"
            )
        return labels


def _check_below(weights: Any, calibrator: Recalibrator) -> None:
    """Refuse a batch before the estimator learns from it."""
    if weights is not None and weights.max() > calibrator.max_weight:
        raise ValueError(
            f"sample_weight must be at most max_weight = {calibrator.max_weight}, "
            f"got {weights.max()}; set max_weight to the largest there will be"
        )


def _taught(teach: Any, X: Any, y: Any, weights: Any, **more: Any) -> Any:
    if weights is not None and "sample_weight" in signature(teach).parameters:
        more["sample_weight"] = weights
    elif weights is not None:
        warnings.warn(
            f"{teach.__qualname__} takes no sample_weight: the weights are for calibration alone",
            stacklevel=4,
        )
    return teach(X, y, **more)


def _replay(calibrators: list[Recalibrator], scores: Any, codes: Any, weights: Any) -> None:
    """Forecast and learn the scored rows in their order."""
    scored = np.isfinite(scores[:, 0])
    if not scored.any():
        return
    scores, codes = scores[scored], codes[scored]
    weights = None if weights is None else weights[scored]
    several = len(calibrators) > 1
    for k, context in enumerate(_contexts(calibrators, scores)):
        calibrators[k].run(context, codes == k if several else codes, weights, record=False)


def _contexts(calibrators: list[Recalibrator], scores: np.ndarray) -> list[np.ndarray]:
    """What each recalibrator is told: the score of its class, of the second one, or all."""
    if len(calibrators) > 1:
        return list(scores.T)
    return [scores[:, 1] if scores.shape[1] == 2 else scores]


def _drawn(run: Record, rng: np.random.Generator) -> np.ndarray:
    """One point of each row's distribution."""
    reached = np.cumsum(run.weights, axis=1) > rng.random(len(run))[:, None]
    # Rounding may leave the whole sum below the draw: then it is the last point with a weight.
    last = run.weights.shape[1] - 1 - np.argmax(run.weights[:, ::-1] > 0, axis=1)
    place = np.where(reached[:, -1], np.argmax(reached, axis=1), last)
    return run.points[run.indices[np.arange(len(run)), place]]


def _combined(values: list[np.ndarray]) -> np.ndarray:
    """Rows (n, K) from what one recalibrator says, or from one for each class."""
    if len(values) > 1:
        return normalised(np.column_stack(values))
    return as_rows(np.minimum(values[0], 1.0))  # a mean may be rounded up


def _summed(parts: list[Certificate]) -> Certificate:
    return Certificate(
        f"sum over the classes of their own {parts[0].quantity}",
        parts[0].rounds,
        math.fsum(part.measured for part in parts),
        None,
        None,
        parts[0].theorem,
        ("each class is calibrated before the classes are normalised, the vectors are not",),
    )
