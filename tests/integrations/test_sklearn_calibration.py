"""The scikit-learn adapter: what it is for, and equality with a loop over the Recalibrator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from sklearn import datasets
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from fullswap.forecasting import Recalibrator
from integration_cases import (
    binned_error,
    brier,
    correlated,
    learnt,
    online,
    probabilities,
    state,
)

# --- what it is for -------------------------------------------------------------------------


def test_fit_repairs_an_overconfident_model():
    X, y = correlated(3000)
    X_new, y_new = correlated(3000, seed=1)
    raw = GaussianNB().fit(X, y).predict_proba(X_new)
    ours = online(GaussianNB()).fit(X, y).predict_proba(X_new)
    assert binned_error(ours[:, 1], y_new) < binned_error(raw[:, 1], y_new) / 4
    assert brier(ours, y_new) < 0.9 * brier(raw, y_new)


def test_partial_fit_repairs_an_overconfident_model():
    X, y = correlated(3000)
    X_new, y_new = correlated(3000, seed=1)
    model = online(GaussianNB())
    for part in np.array_split(np.arange(3000), 30):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    raw = GaussianNB().fit(X, y).predict_proba(X_new)
    ours = model.predict_proba(X_new)
    assert binned_error(ours[:, 1], y_new) < binned_error(raw[:, 1], y_new) / 4


def test_three_classes_are_repaired():
    X, y = correlated(2000, classes=3)
    X_new, y_new = correlated(2000, classes=3, seed=1)
    raw = GaussianNB().fit(X, y).predict_proba(X_new)
    ours = online(GaussianNB()).fit(X, y)
    assert brier(ours.predict_proba(X_new), y_new) < 0.9 * brier(raw, y_new)


def test_the_certificate_holds():
    p, y = probabilities(2000)
    model = online().fit(p, y)
    certificate = model.certificate()
    assert certificate.rounds == 2000
    assert certificate.holds


# --- equality with the Recalibrator -----------------------------------------------------------


def test_bare_probabilities_equal_a_loop():
    p, y = probabilities(300)
    model = online(random_state=3, step=0.1).fit(p[:200], y[:200])
    model.partial_fit(p[200:], y[200:])
    loop = Recalibrator(step=0.1, seed=3)
    for score, outcome in zip(p, y, strict=True):
        loop.update(int(outcome), loop.predict(float(score)))
    assert learnt(model.calibrator_) == learnt(loop)
    expected = [loop.predict(float(score)).mean for score in p]
    np.testing.assert_allclose(model.predict_proba(p)[:, 1], expected, rtol=1e-12)


def test_fit_replays_cross_validated_scores_in_row_order():
    X, y = correlated(200)
    model = online(GaussianNB(), cv=4).fit(X, y)
    scores = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4), method="predict_proba")
    by_hand = Recalibrator(seed=0)
    by_hand.run(scores[:, 1] / scores.sum(axis=1), y)
    assert state(model) == by_hand.to_json()
    whole = GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.estimator_.predict_proba(X), whole)


def test_partial_fit_scores_a_batch_before_it_learns_from_it():
    X, y = correlated(200)
    model = online(GaussianNB())
    plain, by_hand = GaussianNB(), Recalibrator(seed=0)
    for number, part in enumerate(np.array_split(np.arange(200), 5)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
        if number:  # nothing can be scored before the first batch
            scores = plain.predict_proba(X[part])
            by_hand.run(scores[:, 1] / scores.sum(axis=1), y[part])
        plain.partial_fit(X[part], y[part], classes=[0, 1])
    assert state(model) == by_hand.to_json()
    assert model.certificate().rounds == 160


def test_many_classes_equal_a_run():
    rng = np.random.default_rng(0)
    p = rng.multinomial(64, np.arange(1, 13) / 78, 300) / 64  # exactly 1 in all
    y = rng.integers(0, 12, 300)
    model = online().fit(p[:200], y[:200])
    model.partial_fit(p[200:], y[200:])
    by_hand = Recalibrator(classes=12, seed=0)
    by_hand.run(p, y)
    assert state(model) == by_hand.to_json()
    expected = np.array([by_hand.peek(row).mean for row in p[:5]])
    np.testing.assert_allclose(model.predict_proba(p[:5]), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(p).sum(axis=1), 1, atol=1e-12)
    certificate = model.certificate()
    assert certificate.measured == by_hand.certificate().measured
    assert certificate.measured <= certificate.after_the_fact  # on every sequence


def test_settings_reach_the_recalibrator():
    p, y = probabilities(100)
    settings = {"step": 0.1, "horizon": 100, "max_weight": 2.0}
    model = online(**settings).fit(p, y)
    by_hand = Recalibrator(**settings, seed=0)
    by_hand.run(p, y)
    assert state(model) == by_hand.to_json()
    stepped = online(step="25%", horizon=100).fit(p, y)
    assert set(stepped.sample(p, random_state=0)[:, 1]) <= {0, 0.25, 0.5, 0.75, 1}
    growing = online(step=None).fit(p, y)
    assert growing.calibrator_.step is None


def test_vectors_have_no_step():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    with pytest.raises(ValueError, match="step must be None for more than two classes"):
        online(step=0.25).fit(p, np.arange(50) % 3)


def test_random_states_of_scikit_learn():
    p, y = probabilities(100)
    same = [
        state(online(random_state=np.random.RandomState(5)).fit(p, y))
        for _ in range(2)  # noqa: NPY002
    ]
    assert same[0] == same[1]
    fresh = [state(online(random_state=None).fit(p, y)) for _ in range(2)]
    assert fresh[0] != fresh[1]


@given(st.lists(st.integers(1, 59), max_size=8))
def test_how_a_stream_is_cut_into_batches_does_not_matter(cuts):
    p, y = probabilities(60)
    whole = online().fit(p, y)
    parts = online()
    for part in np.split(np.arange(60), sorted(set(cuts))):
        parts.partial_fit(p[part], y[part], classes=[0, 1])
    assert state(parts) == state(whole)


# --- recorded data ------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [datasets.load_breast_cancer, datasets.load_digits])
def test_naive_bayes_on_recorded_data(load):
    """Overconfident on both: thirty features that go together, and pixels of ten digits."""
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    raw = GaussianNB(var_smoothing=1e-3).fit(X[train], y[train]).predict_proba(X[test])
    model = online(GaussianNB(var_smoothing=1e-3)).fit(X[train], y[train])
    ours = model.predict_proba(X[test])
    assert brier(ours, y[test]) < brier(raw, y[test])
