"""A scikit-learn classifier that is recalibrated event by event.

Calibration must learn from scores that the estimator gave before it saw the label. ``fit`` gets
them by cross-validation and replays them in the order of the rows; ``partial_fit`` scores each
batch before the estimator learns from it. Both feed the same `fullswap.Recalibrator`.
"""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.frozen import FrozenEstimator
    from sklearn.utils import _safe_indexing, get_tags, indexable
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError(
        "fullswap.integrations.sklearn needs scikit-learn 1.6 or later: "
        "pip install 'fullswap[sklearn]'"
    ) from error

from fullswap.base import checks
from fullswap.base.protocols import Points
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.one_vs_rest import OneVsRest
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.forecasting.vectors import OneVsRestRun
from fullswap.integrations.footnotes import about_means
from fullswap.integrations.sklearn_input import (
    as_rows,
    check_below,
    check_classes,
    check_known,
    checked_events,
    checked_labels,
    checked_weights,
    scores_of,
    seed_from,
    splits_of,
)

Calibrator = Recalibrator | OneVsRest
JOINT_CLASSES = 5
"""Up to so many classes whole vectors are recalibrated by default; beyond, grids are coarse."""


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
    step, horizon, feedback
        As in `fullswap.Recalibrator`.
    multiclass : {"auto", "joint", "one_vs_rest"}
        For three or more classes: a recalibrator of whole vectors, or
        `fullswap.forecasting.OneVsRest`, which gives vectors without a guarantee. "auto" is
        joint for up to five classes.
    max_weight : float or None
        Largest sample weight there will be. None: the largest in the first data, or 1.
    cv : int, splitter or iterable of (train, test)
        How `fit` gets out-of-sample scores. Rows in no test part (``TimeSeriesSplit``) teach
        the estimator alone. Not used for None and frozen estimators.
    random_state : int, RandomState, Generator or None
        Of the draws that learning makes; None: fresh entropy of the system.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels in sorted order.
    estimator_ : classifier or None
        The taught estimator.
    calibrator_ : Recalibrator or OneVsRest
        What has learnt from the scores.

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
        step: float | str | None = None,
        horizon: int | None = None,
        feedback: str = "realised",
        multiclass: str = "auto",
        max_weight: float | None = None,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.step = step
        self.horizon = horizon
        self.feedback = feedback
        self.multiclass = multiclass
        self.max_weight = max_weight
        self.cv = cv
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, event: Any = None
    ) -> CalibratedOnlineClassifier:
        """Start anew: teach the estimator all rows, the recalibrator their out-of-sample scores.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Whatever the estimator takes; without one, probabilities.
        y : array-like of shape (n,)
            Labels of any type, at least two different ones.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0, not all zero; rows of weight 0 teach nothing.
        event : array-like of shape (n,), optional
            Names of the events to which the rows belong, if several rows wait for one label: in
            calibration each event counts once, and learns at its last row. Its rows have one label
            and one weight, and cross-validation keeps them together, or their scores would not be
            out of sample. A row with None, NaN or "" is an event of its own.
        """
        y = checked_labels(y)
        X, y = indexable(X, y)
        classes = np.unique(y)
        if isinstance(self.estimator, FrozenEstimator):  # it may know labels that y does not show
            classes = np.union1d(classes, self.estimator.classes_)
        weights = checked_weights(sample_weight, len(y))
        seen = y if weights is None else y[weights > 0]
        check_classes(np.unique(seen), "y")
        events = checked_events(event, y, weights)
        scores, taught = self._fit_estimator(X, y, classes, weights, events)
        calibrator = self._new_calibrator(len(classes), weights)
        _replay(calibrator, scores, np.searchsorted(classes, y), weights, events)
        self.classes_, self.estimator_, self.calibrator_ = classes, taught, calibrator
        self._describe_features()
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, event: Any = None
    ) -> CalibratedOnlineClassifier:
        """Learn from a batch: score it, teach the estimator, then recalibrate with the scores.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like of shape (K,)
            All labels there will be; needed in the first call.
        event : array-like of shape (n,), optional
            As in `fit`. The rows of an event belong into one batch: in another they would count
            once more.
        """
        y = checked_labels(y)
        X, y = indexable(X, y)
        first = not hasattr(self, "calibrator_")
        labels = self._checked_classes(classes, first)
        check_known(y, labels)
        weights = checked_weights(sample_weight, len(y))
        events = checked_events(event, y, weights)
        calibrator = self._new_calibrator(len(labels), weights) if first else self.calibrator_
        check_below(weights, calibrator.spec.max_weight)
        model = self._begin() if first else self.estimator_
        scores = None
        if not first or model is None or isinstance(model, FrozenEstimator):
            scores = scores_of(model, X, labels)
        self._teach_batch(model, X, y, labels, weights, first)
        if scores is not None:
            _replay(calibrator, scores, np.searchsorted(labels, y), weights, events)
        if first:
            self.classes_, self.estimator_, self.calibrator_ = labels, model, calibrator
            self._describe_features()
        return self

    def predict_proba(self, X: Any) -> Points:
        """Mean of the recalibrated distribution, shape (n, K); nothing is drawn or changed."""
        return as_rows(np.minimum(self._forecasts(X).mean, 1.0))  # a mean may be rounded up

    def predict(self, X: Any) -> Any:
        """The label of largest probability, shape (n,)."""
        probabilities = self.predict_proba(X)  # first: it says so if there was no fit
        return self.classes_[np.argmax(probabilities, axis=1)]

    def sample(self, X: Any, random_state: Any = None) -> Points:
        """Forecasts drawn from the recalibrated distributions, shape (n, K).

        These are what to publish where the guarantee is for issued forecasts. The draws are
        independent of those that learning makes, and nothing is changed.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        random_state : int, RandomState, Generator or None
            Of the draws; None draws afresh in each call.
        """
        return as_rows(self._forecasts(X).draw(np.random.default_rng(seed_from(random_state))))

    def certificate(self) -> Certificate:
        """What was measured over all events learnt so far, beside what is guaranteed.

        With "one_vs_rest" the vectors have no guarantee; each class has its own in
        ``calibrator_.certificates()``, and this is their sum before normalisation.
        """
        check_is_fitted(self)
        calibrator: Calibrator = self.calibrator_
        return about_means(calibrator.certificate(), "predict_proba")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is None:
            # Probabilities, not a matrix of features: the generic checks have nothing to feed.
            tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        else:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # --- the estimator --------------------------------------------------------------------

    def _fit_estimator(
        self, X: Any, y: Any, classes: Any, weights: Any, events: list[Any] | None
    ) -> tuple[Any, Any]:
        """Out-of-sample scores, NaN in rows that have none, and the estimator taught all rows."""
        model = self._begin()
        if model is None or isinstance(model, FrozenEstimator):
            return scores_of(model, X, classes), model
        scores = np.full((len(y), len(classes)), np.nan)
        for train, test in splits_of(self.cv, X, y, events):
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

    # --- the recalibrator -----------------------------------------------------------------

    def _new_calibrator(self, classes: int, weights: Any) -> Calibrator:
        checks.one_of("multiclass", self.multiclass, ("auto", "joint", "one_vs_rest"))
        largest = self.max_weight
        if largest is None:
            largest = 1.0 if weights is None else float(weights.max())
        joint = (
            classes <= JOINT_CLASSES if self.multiclass == "auto" else self.multiclass == "joint"
        )
        apart = classes > 2 and not joint
        recalibrator = Recalibrator(
            self.step, classes=2 if apart else classes, horizon=self.horizon,
            feedback=self.feedback, seed=seed_from(self.random_state), max_weight=largest,
        )  # fmt: skip
        return OneVsRest(classes, recalibrator) if apart else recalibrator

    def _forecasts(self, X: Any) -> Record | OneVsRestRun:
        """Distributions for the rows of X."""
        if not hasattr(self, "calibrator_"):  # the check collects tags: that costs more than this
            check_is_fitted(self)
        calibrator: Calibrator = self.calibrator_
        return calibrator.peek_many(_contexts(scores_of(self.estimator_, X, self.classes_)))

    # --- checks ---------------------------------------------------------------------------

    def _checked_classes(self, classes: Any, first: bool) -> Any:
        if first and classes is None:
            checks.refuse("classes", "be passed in the first call to partial_fit", None)
        if classes is None:
            return self.classes_
        labels = np.unique(classes)
        check_classes(labels, "classes")
        if not first and not np.array_equal(labels, self.classes_):
            rule = f"stay as in the first call, {self.classes_.tolist()}"
            checks.refuse("classes", rule, labels.tolist())
        return labels


def _taught(teach: Any, X: Any, y: Any, weights: Any, **more: Any) -> Any:
    if weights is not None and "sample_weight" in signature(teach).parameters:
        more["sample_weight"] = weights
    elif weights is not None:
        warnings.warn(
            f"{teach.__qualname__} takes no sample_weight: the weights are for calibration alone",
            stacklevel=4,
        )
    return teach(X, y, **more)


def _replay(
    calibrator: Calibrator, scores: Points, codes: Any, weights: Any, events: list[Any] | None
) -> None:
    """Forecast and learn the scored rows in their order."""
    scored = np.isfinite(scores[:, 0])
    if scored.any():
        weights = None if weights is None else weights[scored]
        contexts = _contexts(scores[scored])
        names = None if events is None else [events[t] for t in np.flatnonzero(scored)]
        calibrator.run(contexts, codes[scored], sample_weight=weights, event=names, record=False)


def _contexts(scores: Points) -> Points:
    """What a recalibrator reads: the scores of the second of two classes, or of all."""
    return scores[:, 1] if scores.shape[1] == 2 else scores
