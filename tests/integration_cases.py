"""What tests of the adapters share: overconfident models and what they are measured by."""

import numpy as np

from fullswap.integrations.sklearn import CalibratedOnlineClassifier
from fullswap.kernels.columns import LEARNT


def online(estimator=None, **settings):
    """The classifier with a fixed seed, so that equal data give equal states."""
    return CalibratedOnlineClassifier(estimator, **{"random_state": 0, **settings})


def correlated(events, classes=2, seed=0):
    """A class seen through ten copies of one noisy feature: naive Bayes counts it ten times."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, events)
    common = y + rng.normal(0, 1, events)
    return common[:, None] + rng.normal(0, 0.3, (events, 10)), y


def probabilities(events, seed=0):
    """Overconfident forecasts and their outcomes."""
    rng = np.random.default_rng(seed)
    p = rng.random(events)
    return p, (rng.random(events) < 0.25 + 0.5 * p).astype(int)


def state(model):
    return model.calibrator_.to_json()


def learnt(recalibrator):
    """The row without the id that only single updates note: whole runs leave it out."""
    row = recalibrator._stream.row.copy()
    row[LEARNT] = -1
    return row.tolist()


def brier(rows, y):
    return float(((rows - np.eye(rows.shape[1])[y]) ** 2).sum(axis=1).mean())


def binned_error(p, y, bins=20):
    """Σ (W_b/W)(p̄_b − ȳ_b)² over equal-width bins."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    gap = np.bincount(place, p - y, minlength=bins)
    return float((gap**2 / np.maximum(count, 1)).sum() / len(p))
