"""The scikit-learn adapter: estimators, labels, weights, and no hidden state."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fullswap.forecasting import Recalibrator
from integration_cases import correlated, online, probabilities, state

# --- estimators -------------------------------------------------------------------------------


def test_time_series_split_leaves_the_first_rows_to_the_estimator():
    X, y = correlated(100)
    model = online(GaussianNB(), cv=TimeSeriesSplit(4)).fit(X, y)
    assert model.certificate().rounds == 80


def test_a_frozen_estimator_is_scored_and_never_taught():
    X, y = correlated(400)
    frozen = SGDClassifier(loss="log_loss", random_state=0).fit(X[:100], y[:100])
    before = pickle.dumps(frozen)
    model = online(FrozenEstimator(frozen)).fit(X[100:200], y[100:200])
    model.partial_fit(X[200:], y[200:])
    assert pickle.dumps(frozen) == before
    by_hand = Recalibrator(seed=0)
    by_hand.run(frozen.predict_proba(X[100:])[:, 1], y[100:])
    assert state(model) == by_hand.to_json()
    afresh = online(FrozenEstimator(frozen))
    afresh.partial_fit(X[100:], y[100:], classes=[0, 1])  # scored from the first batch on
    assert state(afresh) == state(model)


def test_a_frozen_estimator_brings_its_classes():
    X, y = correlated(200, classes=3)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    model = online(frozen).fit(X[y < 2], y[y < 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (200, 3)
    with pytest.raises(
        ValueError, match=r"classes must hold all that .* knows, \[0, 1, 2\], got \[0, 1\]"
    ):
        online(frozen).partial_fit(X[y < 2], y[y < 2], classes=[0, 1])


def test_the_estimator_passed_in_is_not_touched():
    X, y = correlated(60)
    inner = GaussianNB()
    online(inner).fit(X, y)
    online(inner).partial_fit(X, y, classes=[0, 1])
    assert not hasattr(inner, "classes_")


def test_an_estimator_without_partial_fit_keeps_its_first_lesson():
    X, y = correlated(300)
    model = online(KNeighborsClassifier(15))
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    model.partial_fit(X[100:], y[100:])
    first = KNeighborsClassifier(15).fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.estimator_.predict_proba(X), first.predict_proba(X))
    by_hand = Recalibrator(seed=0)
    by_hand.run(first.predict_proba(X[100:])[:, 1], y[100:])
    assert state(model) == by_hand.to_json()


def test_decision_values_are_squashed():
    X, y = correlated(300)
    model = online(FrozenEstimator(LinearSVC().fit(X, y))).fit(X, y)
    by_hand = Recalibrator(seed=0)
    values = LinearSVC().fit(X, y).decision_function(X)
    by_hand.run(1 / (1 + np.exp(-values)), y)
    np.testing.assert_allclose(
        model.predict_proba(X[:20])[:, 1],
        [by_hand.peek(1 / (1 + np.exp(-value))).mean for value in values[:20]],
        atol=1e-9,
    )


def test_pipelines_and_searches_take_it():
    X, y = correlated(120)
    inside = make_pipeline(StandardScaler(), online(GaussianNB(), cv=3))
    search = GridSearchCV(
        inside, {"calibratedonlineclassifier__step": [0.2, 0.1]}, scoring="neg_brier_score", cv=2
    ).fit(X, y)
    assert search.best_params_["calibratedonlineclassifier__step"] in (0.2, 0.1)
    around = online(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y)
    assert around.predict_proba(X).shape == (120, 2)


# --- labels, weights, order -------------------------------------------------------------------


@pytest.mark.parametrize(
    "names", [["no", "yes"], [False, True], [-1, 1], [3, 7]], ids=["str", "bool", "sign", "int"]
)
def test_labels_of_any_type(names):
    p, y = probabilities(200)
    labels = np.array(names)[y]
    named = online().fit(p, labels)
    plain = online().fit(p, y)
    assert named.classes_.tolist() == names
    assert state(named) == state(plain)
    np.testing.assert_array_equal(named.predict(p), np.array(names)[plain.predict(p)])
    named.partial_fit(p, labels.astype(object).tolist(), classes=names[::-1])
    plain.partial_fit(p, y)
    assert state(named) == state(plain)


def test_shapes_of_bare_probabilities():
    p, y = probabilities(50)
    flat = online().fit(p.tolist(), y)
    for X in (p[:, None], np.column_stack([1 - p, p])):
        model = online().fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), flat.predict_proba(p), atol=1e-9)


def test_weights_are_the_recalibrators_weights():
    p, y = probabilities(200)
    weights = np.random.default_rng(1).integers(0, 5, 200).astype(float)
    model = online().fit(p, y, sample_weight=weights)
    by_hand = Recalibrator(max_weight=4.0, seed=0)
    by_hand.run(p, y, weights)
    assert state(model) == by_hand.to_json()
    assert state(model) != state(online(max_weight=4.0).fit(p, y))
    batches = online(max_weight=4.0)
    for part in (slice(0, 50), slice(50, 200)):
        batches.partial_fit(p[part], y[part], [0, 1], weights[part])
    assert state(batches) == state(model)
    # only the ratio to the largest weight matters to what is forecast
    doubled = online().fit(p, y, sample_weight=2 * weights)
    np.testing.assert_array_equal(doubled.predict_proba(p), model.predict_proba(p))


def test_weights_reach_the_estimator():
    X, y = correlated(90)
    weights = np.where(y == 1, 3.0, 1.0)
    model = online(GaussianNB()).fit(X, y, sample_weight=weights)
    expected = GaussianNB().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.estimator_.class_prior_, expected.class_prior_)
    with pytest.warns(UserWarning, match="KNeighborsClassifier.* takes no sample_weight"):
        online(KNeighborsClassifier()).fit(X, y, sample_weight=weights)


def test_late_labels_are_learnt_when_they_come():
    X, y = correlated(200)
    batches = np.array_split(np.arange(200), 5)
    model = online(GaussianNB())
    plain, by_hand = GaussianNB(), Recalibrator(seed=0)
    waiting, issued = [], 0
    for number, part in enumerate(batches):
        if number > 2:
            issued += len(model.predict_proba(X[part]))  # forecasts while labels are missing
        waiting.append(part)
        if number < 2:
            continue
        late = waiting.pop(0)  # two batches late
        model.partial_fit(X[late], y[late], classes=[0, 1])
        if number > 2:
            scores = plain.predict_proba(X[late])
            by_hand.run(scores[:, 1] / scores.sum(axis=1), y[late])
        plain.partial_fit(X[late], y[late], classes=[0, 1])
    assert issued == 80
    assert state(model) == by_hand.to_json()


# --- no hidden state --------------------------------------------------------------------------


def test_asking_changes_nothing():
    p, y = probabilities(200)
    model = online().fit(p, y)
    before = state(model)
    first = model.predict_proba(p)
    model.sample(p, random_state=0)
    model.predict(p)
    model.certificate()
    np.testing.assert_array_equal(model.predict_proba(p), first)
    assert state(model) == before
    assert first.shape == (200, 2) and np.allclose(first.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(p), first.argmax(axis=1))


def test_samples_are_grid_points_with_the_right_mean():
    p, y = probabilities(500)
    model = online(step=0.1).fit(p, y)
    draws = model.sample(np.full(4000, 0.33), random_state=5)[:, 1]
    np.testing.assert_allclose(draws * 10, np.rint(draws * 10), atol=1e-9)
    assert draws.mean() == pytest.approx(model.predict_proba([0.33])[0, 1], abs=0.005)
    again = model.sample(np.full(4000, 0.33), random_state=np.random.default_rng(5))[:, 1]
    np.testing.assert_array_equal(draws, again)
    other = model.sample(np.full(4000, 0.33), random_state=6)[:, 1]
    assert len(np.unique(draws)) == 1 or (draws != other).any()


def test_samples_of_several_classes_are_distributions():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([1, 1, 1], 200), rng.integers(0, 3, 200)
    model = online().fit(p, y)
    draws = model.sample(p, random_state=0)
    assert draws.shape == (200, 3) and (draws >= 0).all()
    np.testing.assert_allclose(draws.sum(axis=1), 1)


def test_a_pickled_model_goes_on_with_the_same_numbers():
    X, y = correlated(300)
    model = online(GaussianNB()).fit(X[:200], y[:200])
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.partial_fit(X[200:], y[200:])
    assert state(again) == state(model)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_clone_has_the_settings_and_no_memory():
    X, y = correlated(60)
    model = online(GaussianNB(), step=0.125, random_state=4).fit(X, y)
    fresh = clone(model)
    assert fresh.step == 0.125 and fresh.random_state == 4
    with pytest.raises(NotFittedError):
        fresh.predict_proba(X)
    assert state(fresh.fit(X, y)) == state(model)
