"""Late labels and repeated forecasts with river: what was forecast is what is learnt."""

import pickle

import numpy as np
import pytest

river = pytest.importorskip("river")

from river import evaluate, linear_model, metrics, naive_bayes, stream  # noqa: E402

from fullswap import Recalibrator  # noqa: E402
from fullswap.integrations.river import Calibrated  # noqa: E402


def games(count, forecasts, seed=0):
    """(features, label, name) of games that are forecast several times."""
    rng = np.random.default_rng(seed)
    rows = []
    for game in range(count):
        y = bool(rng.random() < 0.5)
        for _ in range(forecasts):
            p = float(np.clip(0.5 + 0.3 * (y - 0.5) + 0.2 * rng.normal(), 0.01, 0.99))
            rows.append(({True: p}, y, f"game {game}"))
    return rows


def test_it_is_the_recalibrator_with_events():
    model, plain = Calibrated(seed=1), Recalibrator(seed=1)
    for k, (x, y, name) in enumerate(games(30, 3)):
        shown = model.forecast_one(x, name)
        forecast = plain.predict(x[True], event=name)
        assert shown == {False: 1 - forecast.mean, True: forecast.mean}
        assert shown.issued[True] == forecast.issued and shown.event == name
        if k % 3 == 2:
            model.resolve(name, y)
            plain.resolve(name, float(y))
    assert model.calibrator.to_json() == plain.to_json()
    assert pickle.loads(pickle.dumps(model)).calibrator.to_json() == plain.to_json()


def test_rivers_delay_learns_from_what_was_forecast():
    """The name goes with each row, and comes to both verbs."""
    rows = games(40, 3)
    dataset = [(x, y, {"event": name}) for x, y, name in rows]
    model, plain = Calibrated(seed=1), Recalibrator(seed=1)
    evaluate.progressive_val_score(iter(dataset), model, metrics.LogLoss(), delay=7)
    for _, x, y, own in stream.simulate_qa(iter(dataset), moment=None, delay=7):
        if y is None:
            plain.predict(x[True], event=own["event"])
        elif plain.is_pending(own["event"]):  # a later row of an event that had its label
            plain.resolve(own["event"], float(y))
    assert model.calibrator.to_json() == plain.to_json()
    assert not plain.pending and plain.rounds == len(rows)


def test_a_row_without_a_name_is_an_event_of_its_own():
    model = Calibrated(seed=1)
    shown = [model.forecast_one({True: 0.3}) for _ in range(3)]
    assert len({forecast.event for forecast in shown}) == 3
    model.resolve(shown[1].event, True)
    model.learn_one({True: 0.3}, False, event=shown[0].event)
    assert model.calibrator.rounds == 2 and len(model.calibrator.pending) == 1


def test_the_classifier_learns_the_row_and_is_not_scored_again():
    model = Calibrated(linear_model.LogisticRegression(), seed=1)
    for k in range(40):
        model.learn_one({"a": float(k % 2)}, k % 2 == 0)
    then = model.forecast_one({"a": 1.0}, "game")
    for _ in range(200):  # the classifier changes its mind
        model.classifier.learn_one({"a": 1.0}, True)
    ticket = model.calibrator.pending[0]
    assert ticket.mean == then[True]
    rounds = model.calibrator.rounds
    before = model.classifier.predict_proba_one({"a": 1.0})[True]
    model.learn_one({"a": 1.0}, True, event="game")
    assert model.calibrator.rounds == rounds + 1
    assert model.classifier.predict_proba_one({"a": 1.0})[True] > before
    model.learn_one({"a": 1.0}, True, event="game")  # its label is known: the classifier alone
    assert model.calibrator.rounds == rounds + 1


def test_labels_that_come_up_while_forecasts_wait():
    model = Calibrated(naive_bayes.GaussianNB(), seed=1)
    assert model.forecast_one({"a": 0.0}, "first") == {}
    model.resolve("first", "red")
    model.classifier.learn_one({"a": 0.0}, "red")
    rng = np.random.default_rng(0)
    labels = ["red", "green", "blue", "white"]
    for k in range(60):
        label = labels[min(k // 15, int(rng.integers(4)))]
        x, name = {"a": labels.index(label) + rng.normal()}, f"event {k // 2}"
        shown = model.forecast_one(x, name)
        assert sum(shown.values()) == pytest.approx(1) == sum(shown.issued.values())
        if k % 2:
            model.learn_one(x, label, event=name)
        else:
            model.classifier.learn_one(x, label)
    assert set(model.labels) == set(labels)
    assert not model.calibrator.pending and model.calibrator.rounds > 40


def test_what_is_refused_changes_nothing():
    model = Calibrated(seed=1)
    model.forecast_one({True: 0.4}, "game")
    model._binary = True
    before = model.calibrator.to_json()
    for message, act in {
        "event 'cup' has no pending forecast": lambda: model.resolve("cup", True),
        "y must be False or True": lambda: model.resolve("game", "red"),
        "weight must lie in": lambda: model.resolve("game", True, 2.0),
        "event must be a text": lambda: model.forecast_one({True: 0.4}, ["game"]),
        "w must lie in": lambda: model.learn_one({True: 0.4}, True, event="game", w=2.0),
    }.items():
        with pytest.raises(ValueError, match=message):
            act()
        assert model.calibrator.to_json() == before
