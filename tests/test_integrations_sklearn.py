"""The scikit-learn adapter: its contract, and equality with a loop over the Recalibrator."""

import importlib.util
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.integrations.sklearn import CalibratedOnlineClassifier

STREAM = "the rows are a stream: a weight of 2 is one event that counts more, not two events"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": STREAM,
    "check_sample_weight_equivalence_on_sparse_data": STREAM,
}


def expected_failures(model):
    return EXPECTED


# The checks fit on a handful of rows, where a fold may lack a class or a solver stop early.
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        CalibratedOnlineClassifier(LogisticRegression(), cv=3),
        CalibratedOnlineClassifier(GaussianNB(), cv=3, feedback="distribution"),
        CalibratedOnlineClassifier(LinearSVC(), cv=3, multiclass="one_vs_rest"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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
    return [calibrator.to_json() for calibrator in model.calibrators_]


def brier(rows, y):
    return float(((rows - np.eye(rows.shape[1])[y]) ** 2).sum(axis=1).mean())


def binned_error(p, y, bins=20):
    """Σ (W_b/W)(p̄_b − ȳ_b)² over equal-width bins."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    gap = np.bincount(place, p - y, minlength=bins)
    return float((gap**2 / np.maximum(count, 1)).sum() / len(p))


# --- what it is for -------------------------------------------------------------------------


def test_fit_repairs_an_overconfident_model():
    X, y = correlated(3000)
    X_new, y_new = correlated(3000, seed=1)
    raw = GaussianNB().fit(X, y).predict_proba(X_new)
    ours = CalibratedOnlineClassifier(GaussianNB()).fit(X, y).predict_proba(X_new)
    assert binned_error(ours[:, 1], y_new) < binned_error(raw[:, 1], y_new) / 4
    assert brier(ours, y_new) < 0.9 * brier(raw, y_new)


def test_partial_fit_repairs_an_overconfident_model():
    X, y = correlated(3000)
    X_new, y_new = correlated(3000, seed=1)
    model = CalibratedOnlineClassifier(GaussianNB())
    for part in np.array_split(np.arange(3000), 30):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    raw = GaussianNB().fit(X, y).predict_proba(X_new)
    ours = model.predict_proba(X_new)
    assert binned_error(ours[:, 1], y_new) < binned_error(raw[:, 1], y_new) / 4


@pytest.mark.parametrize("multiclass", ["joint", "one_vs_rest"])
def test_three_classes_are_repaired(multiclass):
    X, y = correlated(2000, classes=3)
    X_new, y_new = correlated(2000, classes=3, seed=1)
    raw = GaussianNB().fit(X, y).predict_proba(X_new)
    ours = CalibratedOnlineClassifier(GaussianNB(), multiclass=multiclass).fit(X, y)
    assert len(ours.calibrators_) == (1 if multiclass == "joint" else 3)
    assert brier(ours.predict_proba(X_new), y_new) < 0.9 * brier(raw, y_new)


def test_the_certificate_holds_in_distribution_mode():
    p, y = probabilities(2000)
    model = CalibratedOnlineClassifier(feedback="distribution").fit(p, y)
    certificate = model.certificate()
    assert certificate.rounds == 2000
    assert certificate.holds


# --- equality with the Recalibrator -----------------------------------------------------------


@pytest.mark.parametrize("feedback", ["realised", "distribution"])
def test_bare_probabilities_equal_a_loop(feedback):
    p, y = probabilities(300)
    model = CalibratedOnlineClassifier(feedback=feedback, seed=3, bins=10).fit(p[:200], y[:200])
    model.partial_fit(p[200:], y[200:])
    loop = Recalibrator(bins=10, feedback=feedback, seed=3)
    for score, outcome in zip(p, y, strict=True):
        loop.update(int(outcome), loop.predict(float(score)))
    assert state(model) == [loop.to_json()]
    expected = [loop.predict(float(score)).mean for score in p]
    np.testing.assert_allclose(model.predict_proba(p)[:, 1], expected, rtol=1e-12)


def test_fit_replays_cross_validated_scores_in_row_order():
    X, y = correlated(200)
    model = CalibratedOnlineClassifier(GaussianNB(), cv=4).fit(X, y)
    scores = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4), method="predict_proba")
    by_hand = Recalibrator()
    by_hand.run(scores[:, 1] / scores.sum(axis=1), y)
    assert state(model) == [by_hand.to_json()]
    whole = GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.estimator_.predict_proba(X), whole)


def test_partial_fit_scores_a_batch_before_it_learns_from_it():
    X, y = correlated(200)
    model = CalibratedOnlineClassifier(GaussianNB())
    plain, by_hand = GaussianNB(), Recalibrator()
    for number, part in enumerate(np.array_split(np.arange(200), 5)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
        if number:  # nothing can be scored before the first batch
            scores = plain.predict_proba(X[part])
            by_hand.run(scores[:, 1] / scores.sum(axis=1), y[part])
        plain.partial_fit(X[part], y[part], classes=[0, 1])
    assert state(model) == [by_hand.to_json()]
    assert model.certificate().rounds == 160


def test_joint_classes_equal_a_run():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 100)
    y = rng.integers(0, 3, 100)
    model = CalibratedOnlineClassifier(bins=6).fit(p, y)
    by_hand = Recalibrator(bins=6, classes=3)
    by_hand.run(p / p.sum(axis=1, keepdims=True), y)
    assert state(model) == [by_hand.to_json()]
    expected = np.array([by_hand.peek(row / row.sum()).mean for row in p])
    np.testing.assert_allclose(model.predict_proba(p), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(p[::-1])[::-1], model.predict_proba(p))


def test_one_vs_rest_divides_the_classes_by_their_sum():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(6), 300), rng.integers(0, 6, 300)
    model = CalibratedOnlineClassifier().fit(p, y)
    learnt = state(model)
    parts = np.column_stack(
        [[c.predict(q).mean for q in p[:5, k]] for k, c in enumerate(model.calibrators_)]
    )
    expected = parts / parts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(p[:5]), expected)
    certificate = model.certificate()
    assert certificate.guaranteed is None and not certificate.holds and certificate.broken
    total = sum(c.certificate().measured for c in model.calibrators_)
    assert certificate.measured == pytest.approx(total)
    seeds = np.random.SeedSequence(0).generate_state(6)
    for k, seed in enumerate(seeds):  # each class has draws of its own
        by_hand = Recalibrator(seed=int(seed))
        by_hand.run((p / p.sum(axis=1, keepdims=True))[:, k], y == k)
        assert by_hand.to_json() == learnt[k]


@pytest.mark.parametrize("method", ["experts", "per_bin", "one_weight"])
def test_settings_reach_the_recalibrator(method):
    p, y = probabilities(100)
    settings = {"bins": 10, "horizon": 100, "method": method, "max_weight": 2.0}
    model = CalibratedOnlineClassifier(**settings).fit(p, y)
    by_hand = Recalibrator(**settings)
    by_hand.run(p, y)
    assert state(model) == [by_hand.to_json()]
    stepped = CalibratedOnlineClassifier(step=0.25, method=method, horizon=100).fit(p, y)
    assert set(stepped.sample(p, random_state=0)[:, 1]) <= {0, 0.25, 0.5, 0.75, 1}


def test_methods_for_two_classes_take_several_one_by_one():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([1, 1, 1], 50), rng.integers(0, 3, 50)
    model = CalibratedOnlineClassifier(method="per_bin").fit(p, y)
    assert [calibrator.method for calibrator in model.calibrators_] == ["per_bin"] * 3


@given(st.lists(st.integers(1, 59), max_size=8))
def test_how_a_stream_is_cut_into_batches_does_not_matter(cuts):
    p, y = probabilities(60)
    whole = CalibratedOnlineClassifier().fit(p, y)
    parts = CalibratedOnlineClassifier()
    for part in np.split(np.arange(60), sorted(set(cuts))):
        parts.partial_fit(p[part], y[part], classes=[0, 1])
    assert state(parts) == state(whole)


# --- estimators -------------------------------------------------------------------------------


def test_time_series_split_leaves_the_first_rows_to_the_estimator():
    X, y = correlated(100)
    model = CalibratedOnlineClassifier(GaussianNB(), cv=TimeSeriesSplit(4)).fit(X, y)
    assert model.certificate().rounds == 80


def test_a_frozen_estimator_is_scored_and_never_taught():
    X, y = correlated(400)
    frozen = SGDClassifier(loss="log_loss", random_state=0).fit(X[:100], y[:100])
    before = pickle.dumps(frozen)
    model = CalibratedOnlineClassifier(FrozenEstimator(frozen)).fit(X[100:200], y[100:200])
    model.partial_fit(X[200:], y[200:])
    assert pickle.dumps(frozen) == before
    by_hand = Recalibrator()
    by_hand.run(frozen.predict_proba(X[100:])[:, 1], y[100:])
    assert state(model) == [by_hand.to_json()]
    afresh = CalibratedOnlineClassifier(FrozenEstimator(frozen))
    afresh.partial_fit(X[100:], y[100:], classes=[0, 1])  # scored from the first batch on
    assert state(afresh) == state(model)


def test_a_frozen_estimator_brings_its_classes():
    X, y = correlated(200, classes=3)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    model = CalibratedOnlineClassifier(frozen, multiclass="one_vs_rest").fit(X[y < 2], y[y < 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (200, 3)
    with pytest.raises(ValueError, match=r"knows the classes \[0, 1, 2\].* got \[0, 1\]"):
        CalibratedOnlineClassifier(frozen).partial_fit(X[y < 2], y[y < 2], classes=[0, 1])


def test_the_estimator_passed_in_is_not_touched():
    X, y = correlated(60)
    inner = GaussianNB()
    CalibratedOnlineClassifier(inner).fit(X, y)
    CalibratedOnlineClassifier(inner).partial_fit(X, y, classes=[0, 1])
    assert not hasattr(inner, "classes_")


def test_an_estimator_without_partial_fit_keeps_its_first_lesson():
    X, y = correlated(300)
    model = CalibratedOnlineClassifier(KNeighborsClassifier(15))
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    model.partial_fit(X[100:], y[100:])
    first = KNeighborsClassifier(15).fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.estimator_.predict_proba(X), first.predict_proba(X))
    by_hand = Recalibrator()
    by_hand.run(first.predict_proba(X[100:])[:, 1], y[100:])
    assert state(model) == [by_hand.to_json()]


def test_decision_values_are_squashed():
    X, y = correlated(300)
    model = CalibratedOnlineClassifier(FrozenEstimator(LinearSVC().fit(X, y))).fit(X, y)
    by_hand = Recalibrator()
    values = LinearSVC().fit(X, y).decision_function(X)
    by_hand.run(1 / (1 + np.exp(-values)), y)
    np.testing.assert_allclose(
        model.predict_proba(X[:20])[:, 1],
        [by_hand.peek(1 / (1 + np.exp(-value))).mean for value in values[:20]],
        atol=1e-9,
    )


def test_pipelines_and_searches_take_it():
    X, y = correlated(120)
    inside = make_pipeline(StandardScaler(), CalibratedOnlineClassifier(GaussianNB(), cv=3))
    search = GridSearchCV(
        inside, {"calibratedonlineclassifier__bins": [5, 10]}, scoring="neg_brier_score", cv=2
    ).fit(X, y)
    assert search.best_params_["calibratedonlineclassifier__bins"] in (5, 10)
    around = CalibratedOnlineClassifier(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y)
    assert around.predict_proba(X).shape == (120, 2)


# --- labels, weights, order -------------------------------------------------------------------


@pytest.mark.parametrize(
    "names", [["no", "yes"], [False, True], [-1, 1], [3, 7]], ids=["str", "bool", "sign", "int"]
)
def test_labels_of_any_type(names):
    p, y = probabilities(200)
    labels = np.array(names)[y]
    named = CalibratedOnlineClassifier().fit(p, labels)
    plain = CalibratedOnlineClassifier().fit(p, y)
    assert named.classes_.tolist() == names
    assert state(named) == state(plain)
    np.testing.assert_array_equal(named.predict(p), np.array(names)[plain.predict(p)])
    named.partial_fit(p, labels.astype(object).tolist(), classes=names[::-1])
    plain.partial_fit(p, y)
    assert state(named) == state(plain)


def test_shapes_of_bare_probabilities():
    p, y = probabilities(50)
    flat = CalibratedOnlineClassifier().fit(p.tolist(), y)
    for X in (p[:, None], np.column_stack([1 - p, p])):
        model = CalibratedOnlineClassifier().fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), flat.predict_proba(p), atol=1e-9)


def test_weights_are_the_recalibrators_weights():
    p, y = probabilities(200)
    weights = np.random.default_rng(1).integers(0, 5, 200).astype(float)
    model = CalibratedOnlineClassifier().fit(p, y, sample_weight=weights)
    by_hand = Recalibrator(max_weight=4.0)
    by_hand.run(p, y, weights)
    assert state(model) == [by_hand.to_json()]
    assert state(model) != state(CalibratedOnlineClassifier(max_weight=4.0).fit(p, y))
    batches = CalibratedOnlineClassifier(max_weight=4.0)
    for part in (slice(0, 50), slice(50, 200)):
        batches.partial_fit(p[part], y[part], [0, 1], weights[part])
    assert state(batches) == state(model)
    # only the ratio to the largest weight matters to what is forecast
    doubled = CalibratedOnlineClassifier().fit(p, y, sample_weight=2 * weights)
    np.testing.assert_array_equal(doubled.predict_proba(p), model.predict_proba(p))


def test_weights_reach_the_estimator():
    X, y = correlated(90)
    weights = np.where(y == 1, 3.0, 1.0)
    model = CalibratedOnlineClassifier(GaussianNB()).fit(X, y, sample_weight=weights)
    expected = GaussianNB().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.estimator_.class_prior_, expected.class_prior_)
    with pytest.warns(UserWarning, match="KNeighborsClassifier.* takes no sample_weight"):
        CalibratedOnlineClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weights)


def test_late_labels_are_learnt_when_they_come():
    X, y = correlated(200)
    batches = np.array_split(np.arange(200), 5)
    model = CalibratedOnlineClassifier(GaussianNB())
    plain, by_hand = GaussianNB(), Recalibrator()
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
    assert state(model) == [by_hand.to_json()]


# --- no hidden state --------------------------------------------------------------------------


def test_asking_changes_nothing():
    p, y = probabilities(200)
    model = CalibratedOnlineClassifier().fit(p, y)
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
    model = CalibratedOnlineClassifier(bins=10).fit(p, y)
    draws = model.sample(np.full(4000, 0.33), random_state=5)[:, 1]
    np.testing.assert_allclose(draws * 10, np.rint(draws * 10), atol=1e-9)
    assert draws.mean() == pytest.approx(model.predict_proba([0.33])[0, 1], abs=0.005)
    again = model.sample(np.full(4000, 0.33), random_state=np.random.default_rng(5))[:, 1]
    np.testing.assert_array_equal(draws, again)
    other = model.sample(np.full(4000, 0.33), random_state=6)[:, 1]
    assert len(np.unique(draws)) == 1 or (draws != other).any()


@pytest.mark.parametrize("multiclass", ["joint", "one_vs_rest"])
def test_samples_of_several_classes_are_distributions(multiclass):
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([1, 1, 1], 200), rng.integers(0, 3, 200)
    model = CalibratedOnlineClassifier(bins=6, multiclass=multiclass).fit(p, y)
    draws = model.sample(p, random_state=0)
    assert draws.shape == (200, 3) and (draws >= 0).all()
    np.testing.assert_allclose(draws.sum(axis=1), 1)


def test_a_pickled_model_goes_on_with_the_same_numbers():
    X, y = correlated(300)
    model = CalibratedOnlineClassifier(GaussianNB()).fit(X[:200], y[:200])
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.partial_fit(X[200:], y[200:])
    assert state(again) == state(model)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_clone_has_the_settings_and_no_memory():
    X, y = correlated(60)
    model = CalibratedOnlineClassifier(GaussianNB(), bins=8, seed=4).fit(X, y)
    fresh = clone(model)
    assert fresh.bins == 8 and fresh.seed == 4
    with pytest.raises(NotFittedError):
        fresh.predict_proba(X)
    assert state(fresh.fit(X, y)) == state(model)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": [0.5, 1.5]}, r"X must hold probabilities in \[0, 1\], got 1.5"),
        ({"X": [0.5, np.nan]}, r"X must hold probabilities in \[0, 1\], got nan"),
        ({"X": [[0.5, 0.4], [0.5, 0.5]]}, "rows that sum to 1, got sum 0.9 in row 0"),
        ({"X": np.full((2, 3), 1 / 3)}, r"2 classes in shape \(n,\), \(n, 1\) or \(n, 2\)"),
        ({"X": [0.5]}, "inconsistent numbers of samples"),
        ({"y": ["no", "maybe"]}, "y must hold classes among .*got .*maybe.* in row 1"),
        ({"y": None}, "y is None"),
        ({"classes": ["no", "perhaps"]}, "classes must stay as in the first call"),
        ({"sample_weight": [1, -1]}, "sample_weight must not be negative, got -1"),
        ({"sample_weight": [0, 0]}, "sample_weight must not be zero in all rows"),
        ({"sample_weight": [1, 3]}, "sample_weight must be at most max_weight = 1.0, got 3"),
        ({"sample_weight": [1]}, r"sample_weight must have shape \(2,\), got \(1,\)"),
        ({"sample_weight": [1, np.inf]}, "sample_weight contains infinity"),
    ],
)
def test_bad_batches_change_nothing(change, words):
    model = CalibratedOnlineClassifier().fit(*([0.2, 0.8] * 5, ["no", "yes"] * 5))
    before = state(model)
    with pytest.raises(ValueError, match=words):
        model.partial_fit(**{"X": [0.5, 0.5], "y": ["no", "yes"], **change})
    assert state(model) == before


def test_a_refused_weight_does_not_reach_the_estimator():
    X, y = correlated(40)
    model = CalibratedOnlineClassifier(GaussianNB()).fit(X, y)
    counts = model.estimator_.class_count_.copy()
    with pytest.raises(ValueError, match="max_weight"):
        model.partial_fit(X, y, sample_weight=np.full(40, 2.0))
    np.testing.assert_array_equal(model.estimator_.class_count_, counts)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"estimator": StandardScaler()}, "estimator must have predict_proba or decision_function"),
        ({"multiclass": "all"}, "multiclass must be 'auto', 'joint' or 'one_vs_rest', got 'all'"),
        ({"bins": 0}, "bins"),
        ({"method": "magic"}, "method"),
        ({"feedback": "none"}, "feedback"),
        ({"max_weight": -1.0}, "max_weight"),
    ],
)
def test_bad_settings_are_refused_by_fit(settings, words):
    model = CalibratedOnlineClassifier(**settings)
    with pytest.raises(ValueError, match=words):
        model.fit(*probabilities(20))
    assert not hasattr(model, "calibrators_")


def test_classes_must_be_known():
    with pytest.raises(ValueError, match="classes must be passed in the first call"):
        CalibratedOnlineClassifier().partial_fit([0.5], [1])
    with pytest.raises(ValueError, match="at least two classes"):
        CalibratedOnlineClassifier().partial_fit([0.5], [1], classes=[1])
    with pytest.raises(ValueError, match="at least two classes"):
        CalibratedOnlineClassifier().fit([0.5, 0.4], [1, 1])


# --- an optional dependency -------------------------------------------------------------------


def test_without_scikit_learn_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    spec = importlib.util.find_spec("fullswap.integrations.sklearn")
    with pytest.raises(ImportError, match=r"pip install 'fullswap\[sklearn\]'"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_package_does_not_import_scikit_learn():
    code = "import sys, fullswap, fullswap.integrations; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
