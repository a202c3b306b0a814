"""One binary stream a class: each calibrated for itself, the vectors normalised."""

import math
import pickle

import numpy as np
import pytest

from fullswap import Forecaster, MulticlassForecaster, Recalibrator
from fullswap.forecasting import OneVsRest
from fullswap.forecasting.vectors import normalised
from fullswap.kernels.columns import DELAY, OVERLAP
from fullswap.online import loop

PATTERNS = {
    "known": lambda: Forecaster(400, seed=3),
    "anytime": lambda: Forecaster(seed=3),
    "distributions": lambda: Forecaster(400, feedback="distribution", seed=3),
    "recalibrated": lambda: Recalibrator(step=None, seed=3),
    "weights": lambda: Forecaster(max_weight=2.0, seed=3),
}


def events(pattern, classes, count, seed=1):
    """Columns of ``run``: p where there are models, then soft outcomes (T, K)."""
    rng = np.random.default_rng(seed)
    outcomes = np.eye(classes)[rng.integers(0, classes, count)]
    outcomes[::5] = rng.dirichlet(np.ones(classes), len(outcomes[::5]))
    p = (rng.dirichlet(np.ones(classes), count),) if pattern.spec.models else ()
    return (*p, outcomes)


def looped(forecaster, *columns):
    shown = []
    for *p, outcome in zip(*columns, strict=True):
        shown.append(forecaster.predict(*p))
        forecaster.update(outcome)
    return shown


@pytest.mark.parametrize("make", PATTERNS.values(), ids=PATTERNS)
def test_it_is_a_binary_forecaster_for_each_class(make):
    columns = events(make(), 7, 400)
    fast, slow = OneVsRest(7, make()), OneVsRest(7, make())
    run, shown = fast.run(*columns), looped(slow, *columns)
    np.testing.assert_array_equal(run.issued, [forecast.issued for forecast in shown])
    np.testing.assert_array_equal(run.mean, [forecast.mean for forecast in shown])
    np.testing.assert_array_equal(run.unnormalised, [forecast.unnormalised for forecast in shown])
    np.testing.assert_allclose(run.issued.sum(axis=1), 1)
    assert fast.rounds == slow.rounds == 400
    outcomes = columns[-1]
    for k, (certificate, other) in enumerate(
        zip(fast.certificates(), slow.certificates(), strict=True)
    ):
        assert certificate == other
        # Σ n_p·(p − ȳ_p)² of this class, value by value
        if make().feedback == "realised":
            error = 0.0
            for value in np.unique(run.unnormalised[:, k]):
                own = outcomes[run.unnormalised[:, k] == value, k]
                error += len(own) * (value - own.mean()) ** 2
            assert certificate.measured == pytest.approx(error, rel=1e-9)
        assert certificate.holds or certificate.on_average
    assert len({tuple(part.draws.source) for part in fast._parts}) == 7  # each draws for itself


def test_classes_may_be_given_by_their_numbers():
    y = np.random.default_rng(0).integers(0, 5, 200)
    one, other = OneVsRest(5, Forecaster(seed=1)), OneVsRest(5, Forecaster(seed=1))
    one.run(y)
    other.run(np.eye(5)[y])
    assert one.to_json() == other.to_json()


def test_nothing_is_promised_for_the_vectors():
    forecaster = OneVsRest(3, Forecaster(seed=0))
    run = forecaster.run(np.arange(200) % 3)
    certificate, parts = forecaster.certificate(), forecaster.certificates()
    assert forecaster.guarantee is None
    assert certificate.guaranteed is None and not certificate.holds
    assert "normalised" in certificate.broken[0] and "normalised" in forecaster.explain()
    assert certificate.measured == pytest.approx(sum(part.measured for part in parts))
    assert len(run) == 200 and len(run.part(1)) == 200


def test_vectors_of_zeros_become_uniform():
    np.testing.assert_array_equal(normalised(np.zeros(4)), np.full(4, 0.25))
    shown = looped(OneVsRest(3, Forecaster(100, seed=2)), [0] * 100)
    assert all(forecast.issued.sum() == pytest.approx(1) for forecast in shown)


@pytest.mark.parametrize("horizon", [50, None])
def test_it_restarts_with_outcomes_outstanding(horizon):
    forecaster = OneVsRest(6, Forecaster(horizon, seed=5, max_weight=2.0))
    looped(forecaster, [0, 3, 5, 1])
    first, second, third = (forecaster.predict() for _ in range(3))
    again = OneVsRest.from_json(forecaster.to_json())
    assert [forecast.id for forecast in again.pending] == [4, 5, 6]
    for one in (forecaster, again, pickle.loads(pickle.dumps(forecaster)), forecaster.copy()):
        one.update(2, forecast=second.id, weight=2.0)
        one.drop(first)
        one.update(1)
        one.run([4, 4, 0])
        assert one.pending == () and one.rounds == 9
        assert one.to_json() == forecaster.to_json()
    with pytest.raises(ValueError, match="not pending"):
        forecaster.update(0, forecast=third)
    with pytest.raises(ValueError, match="read it with MulticlassForecaster"):
        OneVsRest.from_json(MulticlassForecaster(3).to_json())


@pytest.mark.parametrize("make", PATTERNS.values(), ids=PATTERNS)
def test_runs_while_forecasts_wait_are_those_of_the_loop(make):
    columns = events(make(), 4, 120)
    fast, slow = OneVsRest(4, make()), OneVsRest(4, make())
    for forecaster, feed in ((fast, fast.run), (slow, lambda *part: looped_late(slow, *part))):
        first = [forecaster.predict(*(column[k] for column in columns[:-1])) for k in range(3)]
        feed(*(column[3:100] for column in columns))
        for k, ticket in enumerate(first):
            forecaster.update(columns[-1][k], ticket)
    assert fast.certificates() == slow.certificates()
    assert [part.row[DELAY] for part in fast._parts] == [part.row[DELAY] for part in slow._parts]
    assert max(part.row[OVERLAP] for part in fast._parts) == 3


def looped_late(forecaster, *columns):
    for *p, outcome in zip(*columns, strict=True):
        forecaster.update(outcome, forecaster.predict(*p))


def test_an_interrupt_leaves_all_classes_after_the_same_event(monkeypatch):
    """Whatever breaks off in the middle of an event is undone for all classes."""
    monkeypatch.setattr(loop, "STRETCH", 8)
    outcomes = np.random.default_rng(0).integers(0, 3, 60)
    whole = OneVsRest(3, Forecaster(seed=1))
    for stop in range(1, 40, 3):
        forecaster = OneVsRest(3, Forecaster(seed=1))
        calls, refine = [], type(forecaster._rows).refine

        def fail(rows, stream, calls=calls, stop=stop, refine=refine):
            calls.append(stream)
            if len(calls) == stop:
                raise KeyboardInterrupt
            refine(rows, stream)

        with monkeypatch.context() as broken:
            broken.setattr(type(forecaster._rows), "refine", fail)
            try:
                forecaster.run(outcomes)
            except KeyboardInterrupt:
                pass
        rounds = {certificate.rounds for certificate in forecaster.certificates()}
        assert len(rounds) == 1
        forecaster.run(outcomes[forecaster.rounds :])
        whole = OneVsRest(3, Forecaster(seed=1))
        whole.run(outcomes)
        assert forecaster.to_json() == whole.to_json()


def test_an_update_that_fails_half_way_is_undone(monkeypatch):
    forecaster = OneVsRest(4, Forecaster(50, seed=1))
    looped(forecaster, [0, 1, 2])
    forecaster.predict()
    before, last = forecaster.to_json(), forecaster._parts[2]
    learn = type(last).learn

    def fail(part, *arguments):
        if part is last:
            raise KeyboardInterrupt
        learn(part, *arguments)

    with monkeypatch.context() as broken:
        broken.setattr(type(last), "learn", fail)
        with pytest.raises(KeyboardInterrupt):
            forecaster.update(3)
    assert forecaster.to_json() == before
    forecaster.update(3)
    assert forecaster.rounds == 4


def test_hundreds_of_classes():
    forecaster = OneVsRest(300, Forecaster(1000, seed=1))
    forecast = forecaster.predict()
    forecaster.update(299)
    assert forecast.issued.shape == forecast.mean.shape == (300,)
    assert forecast.issued.sum() == pytest.approx(1)


@pytest.mark.parametrize("classes", [1, 0, -3, 2.0, True, "3", None, math.nan, 1001])
def test_classes_are_a_whole_number(classes):
    with pytest.raises(ValueError, match="classes must be a whole number from"):
        OneVsRest(classes, Forecaster())


def test_what_is_refused_changes_nothing():
    used = Forecaster(seed=1)
    used.predict()
    for pattern in (used, MulticlassForecaster(3), 7):
        with pytest.raises(ValueError, match="pattern must be a forecaster"):
            OneVsRest(3, pattern)
    forecaster = OneVsRest(3, Recalibrator(seed=1))
    forecaster.predict([0.2, 0.3, 0.5])
    before = forecaster.to_json()
    for call in (
        lambda: forecaster.predict(),
        lambda: forecaster.predict([0.2, 0.3]),
        lambda: forecaster.predict([0.2, 0.3, 0.6]),
        lambda: forecaster.update(3),
        lambda: forecaster.update([0.5, 0.6, 0.1]),
        lambda: forecaster.update(1, weight=1.5),
        lambda: forecaster.update(1, forecast=9),
        lambda: forecaster.run([[0.2, 0.3, 0.5]]),
        lambda: forecaster.run([[0.2, 0.3, 0.5]], [1, 2]),
    ):
        with pytest.raises(ValueError):
            call()
        assert forecaster.to_json() == before
