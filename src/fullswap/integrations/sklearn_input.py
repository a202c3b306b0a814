"""What comes in through scikit-learn: labels, weights and scores, checked and in one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from fullswap.forecasting.one_vs_rest import normalised


def checked_weights(sample_weight: Any, events: int) -> Any:
    """Weights >= 0 of the events, or None."""
    if sample_weight is None:
        return None
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (events,):
        raise ValueError(f"sample_weight must have shape ({events},), got {weights.shape}")
    if weights.min() < 0:
        raise ValueError(f"sample_weight must not be negative, got {weights.min()}")
    if not weights.any():
        raise ValueError("sample_weight must not be zero in all rows")
    return weights


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
        raise ValueError(
            f"{name} must hold at least two classes (with weights above zero), "
            f"got {len(labels)} class: {labels.tolist()}"
        )


def check_known(y: Any, labels: Any) -> None:
    """Refuse labels that were not announced."""
    known = np.isin(y, labels)
    if not known.all():
        at = int(np.argmin(known))
        raise ValueError(f"y must hold classes among {labels.tolist()}, got {y[at]!r} in row {at}")


def scores_of(model: Any, X: Any, classes: Any) -> np.ndarray:
    """Probabilities of the classes, shape (n, K), rows adding up to 1."""
    if model is None:
        return _bare(X, len(classes))
    if not np.isin(model.classes_, classes).all():
        raise ValueError(
            f"estimator {type(model).__name__} knows the classes {model.classes_.tolist()}, "
            f"and classes must hold them all, got {classes.tolist()}"
        )
    if hasattr(model, "predict_proba"):
        raw = np.asarray(model.predict_proba(X), dtype=float)
    else:
        raw = _squashed(np.asarray(model.decision_function(X), dtype=float))
    scores = np.zeros((len(raw), len(classes)))
    scores[:, np.searchsorted(classes, model.classes_)] = raw
    if not np.isfinite(scores).all():
        raise ValueError(f"estimator {type(model).__name__} gave scores that are NaN or infinite")
    return normalised(np.clip(scores, 0, 1))


def _bare(X: Any, classes: int) -> np.ndarray:
    p = np.asarray(X, dtype=float)
    if p.ndim == 2 and p.shape[1] == 1:
        p = p[:, 0]
    if p.size == 0 or not (p.shape[1:] == (classes,) or (p.ndim == 1 and classes == 2)):
        allowed = "(n,), (n, 1) or (n, 2)" if classes == 2 else f"(n, {classes})"
        raise ValueError(
            f"X must hold probabilities of {classes} classes in shape {allowed}, got {p.shape}"
        )
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        raise ValueError(f"X must hold probabilities in [0, 1], got {p[wrong][0]}")
    if p.ndim == 1:
        return as_rows(p)
    off = np.abs(p.sum(axis=1) - 1)
    if off.max() > 1e-6:
        at = int(off.argmax())
        raise ValueError(f"X must have rows that sum to 1, got sum {p[at].sum()} in row {at}")
    return normalised(p)


def _squashed(decision: np.ndarray) -> np.ndarray:
    """Decision values as probabilities, to be put right by calibration."""
    if decision.ndim == 1:
        return as_rows(0.5 * (1 + np.tanh(decision / 2)))
    powers = np.exp(decision - decision.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def as_rows(p: np.ndarray) -> np.ndarray:
    """Probabilities of the second of two classes as those of both."""
    return np.column_stack([1 - p, p]) if p.ndim == 1 else p
