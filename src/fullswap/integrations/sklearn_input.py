"""What goes to and fro in scikit-learn: labels, weights and scores, checked and in one shape."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from fullswap.base import checks
from fullswap.base.keys import event_names
from fullswap.base.protocols import Points
from fullswap.forecasting.events import last_rows


def seed_from(random_state: Any) -> Any:
    """scikit-learn's way to give a seed as ours; None stays fresh entropy."""
    if isinstance(random_state, np.random.RandomState):
        return int.from_bytes(random_state.bytes(16), "little")
    return random_state


def checked_weights(sample_weight: Any, events: int) -> Any:
    """Weights >= 0, one an event and not all 0; or None."""
    if sample_weight is None:
        return None
    weights = checks.vector("sample_weight", sample_weight, events)
    checks.refuse_at("sample_weight", "be at least 0", weights, weights < 0)
    if not weights.any():
        checks.refuse("sample_weight", "not be zero in all rows", sample_weight)
    return weights


def checked_events(event: Any, y: Any, weights: Any) -> list[Any] | None:
    """Names of the events of the rows, each event with one label and one weight; or None."""
    names = event_names(event, len(y))
    if names is not None:
        last_rows(names, None, y, np.zeros(0) if weights is None else weights)
    return names


def splits_of(cv: Any, X: Any, y: Any, events: list[Any] | None) -> Iterator[tuple[Any, Any]]:
    """Train and test rows; what is tested was not taught by another row of its event."""
    if events is None:
        splitter = check_cv(cv, y, classifier=True)
        if hasattr(splitter, "get_metadata_routing"):
            wanted = splitter.get_metadata_routing().split.requests.get("groups")
            if wanted is True:
                rule = (
                    "need no groups where no event is given: it is event that keeps rows together"
                )
                checks.refuse("cv", rule, cv)
        yield from splitter.split(X, y)
        return
    own = [("row", t) if name is None else ("named", name) for t, name in enumerate(events)]
    codes = {name: k for k, name in enumerate(dict.fromkeys(own))}
    groups = np.array([codes[name] for name in own])
    if cv is None or checks.is_whole(cv):
        cv = StratifiedGroupKFold(5 if cv is None else cv)
    with warnings.catch_warnings():
        # a splitter that knows no groups may cut an event in two; what is taught is then cut off
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        splits = list(check_cv(cv, y, classifier=True).split(X, y, groups))
    for train, test in splits:
        yield train[~np.isin(groups[train], groups[test])], test


def check_below(weights: Any, max_weight: float) -> None:
    """Refuse a batch before the estimator learns from it."""
    if weights is not None:
        rule = f"be at most max_weight = {max_weight}"
        checks.refuse_at("sample_weight", rule, weights, weights > max_weight)


def checked_labels(y: Any) -> Any:
    """Labels of any type, shape (n,)."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


def check_classes(labels: Any, name: str) -> None:
    """Refuse less than two classes."""
    if len(labels) < 2:
        # scikit-learn's own checks look for the words "class" and "classes"
        found = f"{len(labels)} class: {labels.tolist()}"
        raise ValueError(
            f"{name} must hold at least two classes (with weights above zero), got {found}"
        )


def check_known(y: Any, labels: Any) -> None:
    """Refuse labels that were not announced."""
    checks.refuse_at("y", f"hold classes among {labels.tolist()}", y, ~np.isin(y, labels))


def scores_of(model: Any, X: Any, classes: Any) -> Points:
    """Probabilities of the classes, shape (n, K), rows adding up to 1."""
    if model is None:
        return _bare(X, len(classes))
    if hasattr(model, "predict_proba"):
        raw = np.asarray(model.predict_proba(X), dtype=float)
    else:
        raw = _squashed(np.asarray(model.decision_function(X), dtype=float))
    scores = raw
    if not np.array_equal(model.classes_, classes):
        if not np.isin(model.classes_, classes).all():
            own = model.classes_.tolist()
            rule = f"hold all that {type(model).__name__} knows, {own}"
            checks.refuse("classes", rule, classes.tolist())
        scores = np.zeros((len(raw), len(classes)))
        scores[:, np.searchsorted(classes, model.classes_)] = raw
    if not (scores.size and scores.min() >= 0 and scores.max() <= 1):
        name = f"predict_proba of {type(model).__name__}"
        checks.refuse_at(name, "give finite scores", scores, ~np.isfinite(scores))
        scores = np.clip(scores, 0, 1)
    return _normalised(scores)


def taught(teach: Any, X: Any, y: Any, weights: Any, **more: Any) -> Any:
    """What ``teach`` returns; it gets the weights if it takes them."""
    if weights is not None and "sample_weight" in signature(teach).parameters:
        more["sample_weight"] = weights
    elif weights is not None:
        warnings.warn(
            f"{teach.__qualname__} takes no sample_weight: the weights are for calibration alone",
            stacklevel=4,
        )
    return teach(X, y, **more)


def _bare(X: Any, classes: int) -> Points:
    p = checks.numbers("X", X).astype(float, copy=False)
    if p.ndim == 2 and p.shape[1] == 1:
        p = p[:, 0]
    if p.size == 0 or not (p.shape[1:] == (classes,) or (p.ndim == 1 and classes == 2)):
        checks.refuse_shape("X", "(n,), (n, 1) or (n, 2)" if classes == 2 else f"(n, {classes})", X)
    checks.unit("X", p)
    return as_rows(p) if p.ndim == 1 else checks.probabilities("X", p)


def _squashed(decision: Points) -> Points:
    """Decision values as probabilities, to be put right by calibration."""
    if decision.ndim == 1:
        return as_rows(0.5 * (1 + np.tanh(decision / 2)))
    powers = np.exp(decision - decision.max(axis=1, keepdims=True))
    squashed: Points = powers / powers.sum(axis=1, keepdims=True)
    return squashed


def as_rows(p: NDArray[np.float64]) -> Points:
    """Probabilities of the second of two classes as those of both."""
    if p.ndim == 2:
        return p
    rows = np.empty((len(p), 2))
    rows[:, 0], rows[:, 1] = 1 - p, p
    return rows


def _normalised(rows: Points) -> Points:
    """Rows (n, K) of numbers >= 0 divided by their sums; uniform where all are 0."""
    sums = checks.row_sums(rows)[:, None]
    return np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / rows.shape[1])
