"""The river adapter: its contract, and equality with a loop over the Recalibrator."""

import copy
import importlib.util
import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("river")

from river import (
    base,
    checks,
    compose,
    datasets,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
    preprocessing,
    stream,
    tree,
)

from fullswap.forecasting import Recalibrator
from fullswap.integrations.river import Calibrated

MODELS = [
    *(Calibrated(**parameters) for parameters in Calibrated._unit_test_params()),
    Calibrated(tree.HoeffdingTreeClassifier(), step=0.1),
]


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{model}-{check.__name__}-{number}")
        for model in MODELS
        for number, check in enumerate(checks.yield_checks(model))
        # thousands of events each, and our part of the memory is the same whatever the model
        if check.__name__ != "check_bounded_memory_growth" or model is MODELS[0]
    ],
)
def test_river_contract(model, check):
    assert not model._unit_test_skips()
    check(model.clone())


def correlated(events, classes=(False, True), seed=0):
    """A label seen through ten copies of one noisy feature: naive Bayes counts it ten times."""
    rng = np.random.default_rng(seed)
    for _ in range(events):
        place = int(rng.integers(len(classes)))
        common = place + rng.normal()
        yield {f"copy {i}": common + 0.3 * rng.normal() for i in range(10)}, classes[place]


def state(model):
    return model.calibrator.to_json()


def brier(model, events):
    """Mean Σ_k (p_k − y_k)², each event forecast before it is learnt."""
    total = count = 0.0
    for x, y in events:
        p = model.predict_proba_one(x)
        if p:
            total += sum((q - (label == y)) ** 2 for label, q in p.items()) + (y not in p)
            count += 1
        model.learn_one(x, y)
    return total / count


# --- what it is for -------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [(False, True), ("home", "draw", "away")], ids=["two", "three"])
def test_an_overconfident_model_is_repaired(labels):
    events = list(correlated(1500, labels))
    raw = brier(naive_bayes.GaussianNB(), events)
    assert brier(Calibrated(naive_bayes.GaussianNB()), events) < 0.9 * raw


def test_the_certificate_holds():
    model = Calibrated(naive_bayes.GaussianNB(), seed=0)
    for x, y in correlated(600):
        model.learn_one(x, y)
    certificate = model.certificate()
    assert certificate.rounds == 600
    assert certificate.holds


@pytest.mark.parametrize("data", [datasets.Phishing, datasets.Bananas, datasets.ImageSegments])
def test_naive_bayes_on_recorded_data(data):
    """Overconfident where features go together: websites, two bananas, pieces of pictures."""
    events = list(data().take(1200))
    raw = brier(naive_bayes.GaussianNB(), events)
    assert brier(Calibrated(naive_bayes.GaussianNB(), seed=0), events) < raw


# --- equality with the Recalibrator -----------------------------------------------------------


def test_the_score_is_taken_before_the_model_learns():
    model = Calibrated(linear_model.LogisticRegression(), seed=3, step=0.1)
    plain = linear_model.LogisticRegression()
    loop = Recalibrator(step=0.1, seed=3)
    for x, y in correlated(200):
        p = plain.predict_proba_one(x)[True]
        assert model.predict_proba_one(x)[True] == pytest.approx(loop.peek(p).mean)
        loop.update(int(y), loop.predict(p))
        plain.learn_one(x, y)
        model.learn_one(x, y)
    assert state(model) == loop.to_json()


def test_bare_probabilities_equal_a_loop():
    rng = np.random.default_rng(0)
    model, whole, loop = Calibrated(seed=0), Calibrated(seed=0), Recalibrator(seed=0)
    for p in rng.random(200).tolist():
        y = bool(rng.random() < 0.25 + 0.5 * p)
        loop.update(int(y), loop.predict(p))
        model.learn_one({True: p}, y)
        whole.learn_one({False: 1 - p, True: p}, y)
    assert state(model) == loop.to_json()
    assert whole.predict_proba_one({False: 0.7, True: 0.3}) == pytest.approx(
        model.predict_proba_one({True: 0.3})
    )


def test_several_labels_are_calibrated_class_by_class():
    model = Calibrated(seed=2)
    by_hand = Recalibrator(classes=3, seed=2)
    rng = np.random.default_rng(0)
    for _ in range(100):
        p, y = rng.multinomial(64, [0.5, 0.3, 0.2]) / 64, int(rng.integers(3))  # exactly 1 in all
        model.learn_one(dict(zip("abc", p.tolist(), strict=True)), "abc"[y])
        by_hand.run([p], [y])
    assert state(model) == by_hand.to_json()
    own = by_hand.certificate()
    assert model.certificate() == own and own.rounds == 100
    assert model.certificates() == by_hand.certificates()


def test_labels_that_emerge_are_classes_of_their_own():
    """As many as emerge: it is as if they had been there, never expected and never met."""
    model = Calibrated(naive_bayes.GaussianNB(), seed=1)
    plain, by_hand = naive_bayes.GaussianNB(), None
    known = []
    for number, (x, y) in enumerate(correlated(150, ("a", "b", "c", "d", "e"))):
        if number < 50 and y > "b":
            y = "a"  # others are heard of later
        scores = plain.predict_proba_one(x)
        plain.learn_one(x, y)
        model.learn_one(x, y)
        known += [label for label in (*scores, y) if label not in known]
        if len(known) < 2:
            continue
        if by_hand is None:
            by_hand = Recalibrator(classes=3, seed=1)
        while by_hand.classes < len(known):
            by_hand.add_class()
        total = sum(scores.values())
        p = [scores.get(label, 0.0) / total if total else 1 / len(known) for label in known]
        by_hand.run([p + [0.0] * (by_hand.classes - len(p))], [known.index(y)])
    assert set(known) == set("abcde") and model.labels == known
    np.testing.assert_allclose(model.calibrator._stream.row, by_hand._stream.row, atol=1e-9)
    found = model.predict_proba_one(x)
    assert sum(found.values()) == pytest.approx(1) and set(found) == set(known)


def test_labels_that_calibration_has_not_met_keep_their_scores():
    model = Calibrated(seed=0)
    assert model.predict_proba_one({"a": 0.25, "b": 0.75}) == {"a": 0.25, "b": 0.75}
    model.learn_one({"a": 1.0}, "a")
    assert model.labels == ["a"] and model.certificate().rounds == 0
    assert model.predict_proba_one({"a": 0.25, "b": 0.75}) == {"a": 0.25, "b": 0.75}
    model.learn_one({"a": 0.5, "b": 0.5}, "b")
    found = model.predict_proba_one({"a": 0.25, "b": 0.25, "c": 0.5})
    assert found["c"] == 0.5 and sum(found.values()) == pytest.approx(1.0)


def test_booleans_have_one_recalibrator_whatever_the_model():
    model = Calibrated(tree.HoeffdingTreeClassifier())
    for x, y in correlated(20):
        model.learn_one(x, np.bool_(y))
    assert isinstance(model.calibrator, Recalibrator) and model.labels == [True]
    assert set(model.predict_proba_one(x)) == {False, True}


class LabelsAlone(base.Classifier):
    """Says whether the first feature is above one half, and gives no probabilities."""

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return x["copy 0"] > 0.5


def test_a_model_of_labels_alone_counts_as_certain():
    model, loop = Calibrated(LabelsAlone(), seed=0), Recalibrator(seed=0)
    for x, y in correlated(400):
        model.learn_one(x, y)
        loop.update(int(y), loop.predict(float(x["copy 0"] > 0.5)))
    assert state(model) == loop.to_json()
    assert 0.6 < model.predict_proba_one({"copy 0": 1.0})[True] < 0.8  # it is right 7 times in 10


# --- river around it --------------------------------------------------------------------------


def test_pipelines_both_ways():
    inside = Calibrated(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    around = preprocessing.StandardScaler() | Calibrated(linear_model.LogisticRegression())
    for model in (inside, around):
        assert not model._multiclass
        for x, y in correlated(50):
            model.learn_one(x, y)
    assert isinstance(around, compose.Pipeline)
    assert inside.predict_proba_one(x)[True] == pytest.approx(
        around.predict_proba_one(x)[True], 0.2
    )


def test_late_labels():
    """river replays a stream whose labels come some events late."""
    events = list(correlated(300))
    delayed = Calibrated(naive_bayes.GaussianNB(), seed=0)
    metric = evaluate.progressive_val_score(
        dataset=[({**x, "moment": t}, y) for t, (x, y) in enumerate(events)],
        model=compose.Discard("moment") | delayed,
        metric=metrics.LogLoss(),
        moment="moment",
        delay=10,
    )
    assert np.isfinite(metric.get())
    by_hand = Calibrated(naive_bayes.GaussianNB(), seed=0)
    times = [({**x, "moment": t}, y) for t, (x, y) in enumerate(events)]
    for _, x, y in stream.simulate_qa(times, "moment", 10):
        if y is not None:
            by_hand.learn_one({k: v for k, v in x.items() if k != "moment"}, y)
    assert state(delayed) == state(by_hand)
    assert delayed.certificate().rounds == 300


def test_weights_go_to_both():
    model = Calibrated(linear_model.LogisticRegression(), max_weight=4.0, seed=0)
    plain, loop = linear_model.LogisticRegression(), Recalibrator(max_weight=4.0, seed=0)
    for t, (x, y) in enumerate(correlated(100)):
        p = plain.predict_proba_one(x)[True]
        loop.update(int(y), loop.predict(p), weight=t % 5)
        plain.learn_one(x, y, w=t % 5)
        model.learn_one(x, y, w=t % 5)
    assert state(model) == loop.to_json()
    assert model.classifier.weights == plain.weights


# --- no hidden state --------------------------------------------------------------------------


def test_asking_changes_nothing():
    model = Calibrated(naive_bayes.GaussianNB())
    for x, y in correlated(50, ("a", "b", "c")):
        model.learn_one(x, y)
    before = pickle.dumps(model)
    first = model.predict_proba_one(x)
    model.sample_one(x, np.random.default_rng(0))
    model.predict_one(x)
    model.certificate()
    model.labels.clear()
    assert model.predict_proba_one(x) == first
    assert pickle.dumps(model) == before


def test_samples_are_grid_points_with_the_right_mean():
    model = Calibrated(step=0.1, seed=0)
    rng = np.random.default_rng(0)
    for p in rng.random(300).tolist():
        model.learn_one({True: p}, bool(rng.random() < p))
    draws = np.array([model.sample_one({True: 0.33}, rng)[True] for _ in range(2000)])
    np.testing.assert_allclose(draws * 10, np.rint(draws * 10), atol=1e-9)
    assert draws.mean() == pytest.approx(model.predict_proba_one({True: 0.33})[True], abs=0.01)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_goes_on_with_the_same_numbers(again):
    events = list(correlated(60, ("a", "b", "c")))
    model = Calibrated(naive_bayes.GaussianNB())
    for x, y in events[:30]:
        model.learn_one(x, y)
    other = again(model)
    for x, y in events[30:]:
        model.learn_one(x, y)
        other.learn_one(x, y)
    assert state(other) == state(model)


def test_a_clone_has_the_settings_and_no_memory():
    model = Calibrated(linear_model.LogisticRegression(), step=0.125, seed=4)
    for x, y in correlated(20):
        model.learn_one(x, y)
    fresh = model.clone()
    assert fresh.step == 0.125 and fresh.seed == 4
    assert fresh.certificate().rounds == 0
    assert model.clone({"step": 0.2}).step == 0.2


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "w", "words"),
    [
        ({True: 1.5}, True, 1, r"x\[True\] must lie in \[0, 1\], got 1.5"),
        ({True: float("nan")}, True, 1, r"x\[True\] must be a finite number, got nan"),
        ({True: "high"}, True, 1, r"x\[True\] must be a finite number, got 'high'"),
        ({False: 0.5, True: 0.4}, True, 1, "adding up to 1"),
        ({}, True, 1, "adding up to 1"),
        ({True: 0.5}, "yes", 1, "y must be False or True for this classifier, got 'yes'"),
        ({True: 0.5}, True, 2, r"w must lie in \[0, max_weight = 1.0\], got 2"),
        ({True: 0.5}, True, -1, r"w must lie in \[0, max_weight = 1.0\], got -1"),
        ({True: 0.5}, True, None, "w must lie in"),
    ],
)
def test_bad_events_change_nothing(x, y, w, words):
    model = Calibrated()
    model.learn_one({True: 0.5}, True)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=words):
        model.learn_one(x, y, w=w)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("settings", [{"step": 0}, {"seed": "magic"}, {"max_weight": -1.0}])
def test_bad_settings_are_refused_at_once(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Calibrated(naive_bayes.GaussianNB(), **settings)


def test_all_certificates_of_yes_and_no():
    model = Calibrated(seed=1)
    for k in range(50):
        model.learn_one({True: 0.3}, k % 4 == 0)
    found, own = model.certificates(), model.calibrator.certificates()
    assert found[0] == model.certificate()
    assert [c.measured for c in found] == [c.measured for c in own]
    assert all("predict_proba_one" in c.about for c in found)


# --- an optional dependency -------------------------------------------------------------------


def test_without_river_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    spec = importlib.util.find_spec("fullswap.integrations.river")
    with pytest.raises(ImportError, match=r"pip install 'fullswap\[river\]'"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_package_does_not_import_river():
    code = "import sys, fullswap, fullswap.integrations; assert 'river' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
