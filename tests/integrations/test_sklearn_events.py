"""Rows that share an outcome, with scikit-learn: every event counts once."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression, SGDClassifier  # noqa: E402
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit  # noqa: E402

from fullswap import Recalibrator  # noqa: E402
from fullswap.integrations.sklearn import CalibratedOnlineClassifier  # noqa: E402
from fullswap.kernels.columns import MASS  # noqa: E402


def log(events=60, forecasts=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(classes, size=events), forecasts)
    X = y[:, None] + 1.5 * rng.normal(size=(len(y), 2))
    return X, y, np.repeat(np.arange(events), forecasts)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_bare_probabilities_go_to_run_with_their_events(classes):
    _, y, event = log(classes=classes)
    p = np.random.default_rng(1).dirichlet(np.ones(classes), len(y))
    weights = 0.25 + 0.5 * (event % 2)
    model = CalibratedOnlineClassifier(random_state=1)
    model.fit(p, y, weights, event=[f"game {e}" for e in event])
    plain = Recalibrator(classes=classes, seed=1, max_weight=0.75)
    plain.run(p[:, 1] if classes == 2 else p, y, sample_weight=weights, event=event)
    mine, theirs = (own._stream.row for own in (model.calibrator_, plain))
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)  # vectors are made to sum to 1


def test_cross_validation_keeps_the_rows_of_an_event_together():
    X, y, event = log()

    class Watched(LogisticRegression):
        """Remembers what it was taught."""

        taught: list = []

        def fit(self, X, y, sample_weight=None):
            self.taught.append(set(map(tuple, X)))
            return super().fit(X, y, sample_weight)

    for cv in (3, StratifiedGroupKFold(3)):
        Watched.taught.clear()
        model = CalibratedOnlineClassifier(Watched(), cv=cv, random_state=1)
        model.fit(X, y, event=event)
        assert len(Watched.taught) == 4
        for taught in Watched.taught:
            inside = np.array([tuple(row) in taught for row in X]).reshape(-1, 4)
            assert (inside.all(axis=1) | ~inside.any(axis=1)).all()
        assert model.calibrator_._stream.row[MASS] == pytest.approx(60)  # every event counts once


def test_rows_without_scores_are_left_out():
    X, y, event = log()
    model = CalibratedOnlineClassifier(LogisticRegression(), cv=TimeSeriesSplit(4), random_state=1)
    model.fit(X, y, event=event)
    assert model.calibrator_.rounds == 4 * (len(y) // 5)


def test_batches():
    X, y, event = log(80)
    model = CalibratedOnlineClassifier(SGDClassifier(loss="log_loss"), random_state=1)
    model.partial_fit(X[:80], y[:80], classes=[0, 1], event=event[:80])
    model.partial_fit(X[80:], y[80:], event=event[80:])
    assert model.calibrator_._stream.row[MASS] == pytest.approx(60)
    assert model.calibrator_.rounds == 240 and not model.calibrator_.pending
    before, taught = model.calibrator_.to_json(), model.estimator_.coef_.copy()
    for message, wrong in {
        "event 'a' must have one outcome": ["a"] * 80,
        "event must be as long as": event[:79],
    }.items():
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X[:80], y[:80], event=wrong)
        assert model.calibrator_.to_json() == before
        np.testing.assert_array_equal(model.estimator_.coef_, taught)


def test_events_of_their_own_change_nothing():
    X, y, _ = log()
    with_names, without = (
        CalibratedOnlineClassifier(random_state=1).fit(1 / (1 + np.exp(-X[:, 0])), y, event=event)
        for event in ([None, "", float("nan"), None] * 60, None)
    )
    assert with_names.calibrator_.to_json() == without.calibrator_.to_json()
