"""Forecasts of many events without learning, and classes that are heard of late."""

import numpy as np
import pytest

from fullswap.base.records import Record
from fullswap.forecasting import Recalibrator

RECALIBRATORS = {
    "two classes": (lambda: Recalibrator(seed=1), 2, 1),
    "growing": (lambda: Recalibrator(None, seed=1), 2, 1),
    "models": (lambda: Recalibrator(0.1, models=3, seed=1), 2, 3),
    "three classes": (lambda: Recalibrator(classes=3, seed=1), 3, 1),
    "in steps": (lambda: Recalibrator(0.1, seed=1), 2, 1),
    "many classes": (lambda: Recalibrator(classes=11, seed=1), 11, 1),
    "many classes and models": (lambda: Recalibrator(classes=9, models=2, seed=1), 9, 2),
}


def events(classes, models, count, vectors, seed=0):
    rng = np.random.default_rng(seed)
    if vectors:
        p = rng.dirichlet(np.ones(classes), (count, models))
    else:
        p = rng.random((count, models))
    if models > 1:
        p[rng.random(count) < 0.3, 0] = np.nan  # the first model is silent at times
    return p, rng.integers(0, classes, count)


@pytest.fixture(params=RECALIBRATORS)
def case(request):
    """A forecaster that has seen 300 events, and the p of 40 others."""
    make, classes, models = RECALIBRATORS[request.param]
    vectors = classes > 2
    forecaster = make()
    forecaster.run(*events(classes, models, 300, vectors), record=False)
    return forecaster, events(classes, models, 40, vectors, seed=1)[0]


def test_each_event_as_if_it_came_next(case):
    forecaster, p = case
    before = forecaster.to_json()
    many = forecaster.peek_many(p)
    assert forecaster.to_json() == before
    assert len(many) == len(p)
    for t, row in enumerate(p):
        mean = forecaster.copy().predict(row[0] if forecaster.spec.models == 1 else row).mean
        np.testing.assert_array_equal(many.mean[t], mean)


def test_the_same_as_events_of_weight_zero(case):
    forecaster, p = case
    nothing = np.zeros(len(p), int)
    run = forecaster.copy().run(p, nothing, sample_weight=nothing)
    np.testing.assert_array_equal(forecaster.peek_many(p).mean, run.mean)


def test_nothing_is_issued(case):
    forecaster, p = case
    many = forecaster.peek_many(p)
    with pytest.raises(ValueError, match="issued_indices must be given"):
        _ = many.issued


def test_a_row_is_forecast_alone_as_among_others(case):
    forecaster, p = case
    many = forecaster.peek_many(p).mean
    np.testing.assert_array_equal(forecaster.peek_many(p[7:8]).mean[0], many[7])
    np.testing.assert_array_equal(forecaster.peek_many(p[::-1]).mean[::-1], many)


def test_bad_p_is_refused():
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\], got 2.0"):
        Recalibrator().peek_many([0.5, 2.0])
    with pytest.raises(ValueError, match=r"p must have shape \(T, 9\)"):
        Recalibrator(classes=9).peek_many([0.5, 0.5])


def test_draws_of_a_record_have_the_law_of_its_mixtures():
    weights = np.tile([[0.2, 0.0, 0.8], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], (4000, 1))
    record = Record.of_forecasts(np.array([0.1, 0.5, 0.9]), np.tile([0, 1, 2], (12000, 1)), weights)
    drawn = record.draw(np.random.default_rng(0)).reshape(-1, 3)
    assert set(drawn[:, 0]) == {0.1, 0.9}
    assert (drawn[:, 0] == 0.1).mean() == pytest.approx(0.2, abs=0.02)
    assert (drawn[:, 1] == 0.1).all() and (drawn[:, 2] == 0.5).all()


def test_draws_where_shares_are_rounded_down():
    """The largest number below 1 still gets a point of positive weight."""

    class Last:
        def random(self, size):
            return np.full(size, np.nextafter(1.0, 0.0))

    weights = np.array([[0.3, 0.7 - 1e-12, 0.0]])
    record = Record.of_forecasts(np.array([0.0, 0.5, 1.0]), np.array([[0, 1, 2]]), weights)
    assert record.draw(Last()).tolist() == [0.5]


# --- classes that are heard of late ---------------------------------------------------------------


def test_a_class_added_at_once_was_there_from_the_beginning():
    added = Recalibrator(classes=9, seed=1)
    added.add_class()
    assert added.classes == 10
    assert added.to_json() == Recalibrator(classes=10, seed=1).to_json()


def test_a_class_added_later_changes_nothing_so_far():
    grown = Recalibrator(classes=9, models=2, seed=1)
    p, y = events(9, 2, 60, vectors=True)
    grown.run(p, y)
    before = grown.certificates()
    grown.predict(p[0], event="waits")
    grown.add_class()
    for old, new in zip(before, grown.certificates(), strict=True):
        assert (new.rounds, new.against) == (old.rounds, old.against)
        assert new.measured == pytest.approx(old.measured, abs=1e-12)
        assert new.after_the_fact == pytest.approx(old.after_the_fact, abs=1e-12)
    (waits,) = grown.pending
    assert waits.mean.shape == (10,) and waits.mean[9] == 0.0
    grown.update(9, "waits")
    p, y = events(10, 2, 80, vectors=True, seed=1)
    grown.run(p, y)
    assert grown.certificate().rounds == 141


def test_a_grown_forecaster_goes_on_after_a_restart():
    grown = Recalibrator(classes=3, seed=1)
    grown.run(*events(3, 1, 50, vectors=True))
    grown.add_class()
    p, y = events(4, 1, 30, vectors=True, seed=1)
    grown.run(p, y)
    ticket = grown.predict(p[0, 0])
    again = Recalibrator.from_json(grown.to_json())
    for one in (grown, again):
        one.update(2, ticket.id)
        one.run(p, y)
    assert again.to_json() == grown.to_json()


def test_no_class_is_added_to_yes_or_no():
    with pytest.raises(ValueError, match="classes must be a whole number >= 3, got 2"):
        Recalibrator(classes=2).add_class()
