"""Logs of real events that come inside packages: no harm is done, and some good."""

import numpy as np
import pytest

from fullswap import MulticlassForecaster, Recalibrator

datasets = pytest.importorskip("river.datasets", reason="river brings the logs")


def brier(forecasts, outcomes):
    return float(np.square(forecasts - outcomes).reshape(len(outcomes), -1).sum(axis=1).mean())


def log_of(events, model, classes):
    """What an online model says before each outcome, (T, K), and the outcomes, (T, K)."""
    claims, outcomes = [], []
    for x, y in events:
        said = model.predict_proba_one(x)
        row = np.array([said.get(k, 0.0) for k in classes])
        claims.append(row / row.sum() if row.sum() > 0 else np.full(len(row), 1 / len(row)))
        outcomes.append([float(y == k) for k in classes])
        model.learn_one(x, y)
    return np.array(claims), np.array(outcomes)


@pytest.mark.parametrize("name", ["Phishing", "Bananas"])
def test_a_model_of_yes_or_no(name):
    from river import linear_model, preprocessing

    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    claims, outcomes = log_of(getattr(datasets, name)(), model, (False, True))
    p, y = claims[:, 1], outcomes[:, 1]
    recalibrator = Recalibrator(seed=1)
    run = recalibrator.run(p, y)
    assert brier(run.issued, y) < 1.005 * brier(p, y)
    assert brier(run.mean, y) < brier(p, y)
    assert all(certificate.holds for certificate in recalibrator.certificates())


def test_a_model_of_three_classes():
    from river import naive_bayes

    classes = ("cement", "foliage", "window")
    events = [(x, y) for x, y in datasets.ImageSegments() if y in classes]
    p, y = log_of(events, naive_bayes.GaussianNB(), classes)
    recalibrator = Recalibrator(classes=3, seed=1)
    run = recalibrator.run(p, y)
    assert brier(run.issued, y) < 1.005 * brier(p, y)
    assert all(certificate.holds for certificate in recalibrator.certificates())


def test_classes_in_the_order_in_which_they_were_written_down():
    from sklearn.datasets import load_wine

    y = np.eye(3)[load_wine().target]
    forecaster = MulticlassForecaster(3, len(y), seed=1)
    run = forecaster.run(y)
    certificate = forecaster.certificate()
    assert certificate.holds and certificate.measured < certificate.guaranteed / 2
    assert brier(run.mean, y) < brier(np.full_like(y, 1 / 3), y)
