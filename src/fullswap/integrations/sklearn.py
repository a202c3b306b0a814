"""A scikit-learn classifier that is recalibrated event by event.

Calibration must learn from scores that the estimator gave before it saw the label. ``fit`` gets
them by cross-validation and replays them in the order of the rows; ``partial_fit`` scores each
batch before the estimator learns from it. Both feed the same `fullswap.Recalibrator`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.frozen import FrozenEstimator
    from sklearn.utils import _safe_indexing, get_tags, indexable
    from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted
except ImportError as error:
    raise ImportError(
        "fullswap.integrations.sklearn needs scikit-learn 1.6 or later: "
        "pip install 'fullswap[sklearn]'"
    ) from error

from fullswap.base import checks
from fullswap.base.protocols import Points
from fullswap.base.records import Record
from fullswap.certificates import Certificate, GroupTable
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.integrations.footnotes import about_means
from fullswap.integrations.group_input import Names, table_about_means
from fullswap.integrations.sklearn_groups import check_groups, names_in, without_groups
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
    taught,
)


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
    step, horizon
        As in `fullswap.Recalibrator`.
    max_weight : float or None
        Largest sample weight there will be. None: the largest in the first data, or 1.
    cv : int, splitter or iterable of (train, test)
        How `fit` gets out-of-sample scores. Rows in no test part (``TimeSeriesSplit``) teach
        the estimator alone. Not used for None and frozen estimators.
    groups : column, list of columns, callable or None
        Where to find the groups in each of which two classes are to be calibrated: names of columns
        of X, or their numbers in an array; a row belongs to ``"column=value"`` for each of them, to
        none where it has no value. Or a function of X that gives what `fit` takes as ``groups``.
    drop_groups : bool
        Whether the estimator gets X without these columns. Without an estimator it is always so.
    random_state : int, RandomState, Generator or None
        Of the draws that learning makes; None: fresh entropy of the system.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels in sorted order.
    estimator_ : classifier or None
        The taught estimator.
    calibrator_ : Recalibrator
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
        max_weight: float | None = None,
        cv: Any = 5,
        random_state: Any = None,
        groups: Any = None,
        drop_groups: bool = False,
    ) -> None:
        self.estimator = estimator
        self.step = step
        self.horizon = horizon
        self.max_weight = max_weight
        self.cv = cv
        self.random_state = random_state
        self.groups = groups
        self.drop_groups = drop_groups

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, event: Any = None, groups: Any = None
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
        groups : sequence of names or of lists of names, frame or None
            Groups to which rows belong, in each of which they are to be calibrated, where no
            columns were named: all forms of `fullswap.Recalibrator`'s ``run``. They may overlap.
            They never steer how rows are split: scikit-learn's splitters have a ``groups`` of their
            own, and here it is ``event`` that keeps rows together.
        """
        y = checked_labels(y)
        X, y = indexable(X, y)
        joined = names_in(X, self.groups, groups)
        whole, X = X, self._for_estimator(X)
        classes = np.unique(y)
        if isinstance(self.estimator, FrozenEstimator):  # it may know labels that y does not show
            classes = np.union1d(classes, self.estimator.classes_)
        weights = checked_weights(sample_weight, len(y))
        seen = y if weights is None else y[weights > 0]
        check_classes(np.unique(seen), "y")
        events = checked_events(event, y, weights)
        check_groups(joined, len(classes), ())
        scores, model = self._fit_estimator(X, y, classes, weights, events)
        calibrator = self._new_calibrator(len(classes), weights, joined is not None)
        _replay(calibrator, scores, np.searchsorted(classes, y), weights, events, joined)
        self.classes_, self.estimator_, self.calibrator_ = classes, model, calibrator
        self._describe_features(whole)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, event: Any = None,
        groups: Any = None,
    ) -> CalibratedOnlineClassifier:  # fmt: skip
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
        groups : sequence of names or of lists of names, frame or None
            As in `fit`, from the first batch on; names that are new are new groups.
        """
        y = checked_labels(y)
        X, y = indexable(X, y)
        joined = names_in(X, self.groups, groups)
        whole, X = X, self._for_estimator(X)
        first = not hasattr(self, "calibrator_")
        labels = self._checked_classes(classes, first)
        check_known(y, labels)
        weights = checked_weights(sample_weight, len(y))
        events = checked_events(event, y, weights)
        calibrator = self.calibrator_ if not first else None
        if calibrator is None:
            calibrator = self._new_calibrator(len(labels), weights, joined is not None)
        check_groups(joined, len(labels), calibrator.groups if calibrator.spec.groups else None)
        check_below(weights, calibrator.spec.max_weight)
        model = self._begin() if first else self.estimator_
        scores = None
        if not first or model is None or isinstance(model, FrozenEstimator):
            scores = scores_of(model, X, labels)
        self._teach_batch(model, X, y, labels, weights, first)
        if scores is not None:
            _replay(calibrator, scores, np.searchsorted(labels, y), weights, events, joined)
        if first:
            self.classes_, self.estimator_, self.calibrator_ = labels, model, calibrator
            self._describe_features(whole)
        return self

    def predict_proba(self, X: Any, groups: Any = None) -> Points:
        """Mean of the recalibrated distribution, shape (n, K); nothing is drawn or changed.

        ``groups`` as in `fit`; without them rows belong to no group, and scikit-learn's scorers
        never pass them: what is to be scored there names columns.
        """
        return as_rows(np.minimum(self._forecasts(X, groups).mean, 1.0))  # it may be rounded up

    def predict(self, X: Any, groups: Any = None) -> Any:
        """The label of largest probability, shape (n,)."""
        probabilities = self.predict_proba(X, groups)  # first: it says so if there was no fit
        return self.classes_[np.argmax(probabilities, axis=1)]

    def sample(self, X: Any, random_state: Any = None, groups: Any = None) -> Points:
        """Forecasts drawn from the recalibrated distributions, shape (n, K).

        These are what to publish where the guarantee is for issued forecasts. The draws are
        independent of those that learning makes, and nothing is changed. Of three or more classes
        nothing is drawn, and these are the vectors of `predict_proba`.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        random_state : int, RandomState, Generator or None
            Of the draws; None draws afresh in each call.
        groups : sequence of names or of lists of names, frame or None
            As in `fit`.
        """
        draws = np.random.default_rng(seed_from(random_state))
        return as_rows(self._forecasts(X, groups).draw(draws))

    def certificate(self, group: Any = None) -> Certificate:
        """What was measured over all events learnt so far, beside what is guaranteed.

        ``group``: over the events of this group alone, by its name; see `by_group`.

        Of three or more classes it is that of all classes together; that of the declared class,
        mostly the likeliest one, is in ``calibrator_.certificates()``.
        """
        check_is_fitted(self)
        calibrator: Recalibrator = self.calibrator_
        return about_means(calibrator.certificate(group=group), "predict_proba")

    def by_group(self) -> GroupTable:
        """Certificates of everybody and of all groups, those least explained by chance first."""
        check_is_fitted(self)
        calibrator: Recalibrator = self.calibrator_
        return table_about_means(calibrator.by_group(), "predict_proba")

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
            fold = taught(clone(model).fit, _safe_indexing(X, train), y[train], part)
            scores[test] = scores_of(fold, _safe_indexing(X, test), classes)
        return scores, taught(model.fit, X, y, weights)

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
            taught(model.partial_fit, X, y, weights, **({"classes": labels} if first else {}))
        elif first:
            taught(model.fit, X, y, weights)

    def _for_estimator(self, X: Any) -> Any:
        return without_groups(X, self.groups) if self.drop_groups or self.estimator is None else X

    def _describe_features(self, X: Any) -> None:
        if self.drop_groups and self.groups is not None and self.estimator is not None:
            _check_n_features(self, X, reset=True)
            _check_feature_names(self, X, reset=True)
            return
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    # --- the recalibrator -----------------------------------------------------------------

    def _new_calibrator(self, classes: int, weights: Any, grouped: bool) -> Recalibrator:
        largest = self.max_weight
        if largest is None:
            largest = 1.0 if weights is None else float(weights.max())
        return Recalibrator(
            self.step, classes=classes, horizon=self.horizon,
            seed=seed_from(self.random_state), max_weight=largest,
            groups="open" if grouped else None,
        )  # fmt: skip

    def _forecasts(self, X: Any, groups: Any) -> Record:
        """Distributions for the rows of X."""
        if not hasattr(self, "calibrator_"):  # the check collects tags: that costs more than this
            check_is_fitted(self)
        calibrator: Recalibrator = self.calibrator_
        joined = names_in(X, self.groups, groups)
        scores = scores_of(self.estimator_, self._for_estimator(X), self.classes_)
        return calibrator.peek_many(_contexts(scores), groups=joined)

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


def _replay(
    calibrator: Recalibrator, scores: Points, codes: Any, weights: Any, events: list[Any] | None,
    groups: Names | None,
) -> None:  # fmt: skip
    """Forecast and learn the scored rows in their order."""
    scored = np.isfinite(scores[:, 0])
    if scored.any():
        weights = None if weights is None else weights[scored]
        contexts = _contexts(scores[scored])
        names = None if events is None else [events[t] for t in np.flatnonzero(scored)]
        joined = None if groups is None else [groups[t] for t in np.flatnonzero(scored)]
        calibrator.run(contexts, codes[scored], weights, groups=joined, event=names, record=False)


def _contexts(scores: Points) -> Points:
    """What a recalibrator reads: the scores of the second of two classes, or of all."""
    return scores[:, 1] if scores.shape[1] == 2 else scores
