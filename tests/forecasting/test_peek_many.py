"""Forecasts of many events without learning, and classes that are heard of late."""

import numpy as np
import pytest

from fullswap.base.records import Record
from fullswap.forecasting import Forecaster, OneVsRest, Recalibrator

RECALIBRATORS = {
    "two classes": (lambda: Recalibrator(seed=1), 2, 1),
    "growing": (lambda: Recalibrator(None, seed=1), 2, 1),
    "models": (lambda: Recalibrator(0.1, models=3, seed=1), 2, 3),
    "three classes": (lambda: Recalibrator(0.05, classes=3, seed=1), 3, 1),
    "classes and models": (lambda: Recalibrator(0.25, classes=4, models=2, seed=1), 4, 2),
    "in distribution": (lambda: Recalibrator(0.1, feedback="distribution", seed=1), 2, 1),
}
ONE_VS_REST = {
    "one against the rest": (lambda: OneVsRest(7, Recalibrator(seed=1)), 7, 1),
    "two against each other": (lambda: OneVsRest(2, Recalibrator(seed=1)), 2, 1),
    "growing, one against the rest": (lambda: OneVsRest(3, Recalibrator(None, seed=1)), 3, 1),
    "models, one against the rest": (lambda: OneVsRest(3, Recalibrator(models=2, seed=1)), 3, 2),
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


@pytest.fixture(params=[*RECALIBRATORS, *ONE_VS_REST])
def case(request):
    """A forecaster that has seen 300 events, and the p of 40 others."""
    make, classes, models = {**RECALIBRATORS, **ONE_VS_REST}[request.param]
    vectors = classes > 2 or request.param in ONE_VS_REST
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
    with pytest.raises(ValueError, match=r"p must have shape \(T, 3\)"):
        OneVsRest(3, Recalibrator()).peek_many([0.5, 0.5])
    with pytest.raises(ValueError, match="p must be left out"):
        OneVsRest(3, Forecaster()).peek_many([[0.2, 0.3, 0.5]])


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
    added = OneVsRest(2, Recalibrator(seed=1))
    added.add_class()
    assert added.classes == 3
    assert added.to_json() == OneVsRest(3, Recalibrator(seed=1)).to_json()


def test_a_class_added_later_learns_from_then_on():
    grown = OneVsRest(2, Recalibrator(feedback="distribution", seed=1))
    p, y = events(2, 1, 50, vectors=True)
    grown.run(p, y)
    grown.add_class()
    p, y = events(3, 1, 80, vectors=True, seed=1)
    grown.run(p, y)
    alone = Recalibrator(feedback="distribution")
    alone.run(p[:, 0, 2], y == 2)
    assert [part.rounds for part in grown.certificates()] == [130, 130, 80]
    late, expected = grown.certificates()[2], alone.certificate()
    assert late.measured == pytest.approx(expected.measured)
    assert late.guaranteed == pytest.approx(expected.guaranteed)


def test_a_grown_forecaster_goes_on_after_a_restart():
    grown = OneVsRest(2, Recalibrator(seed=1))
    grown.run(*events(2, 1, 50, vectors=True))
    grown.add_class()
    p, y = events(3, 1, 30, vectors=True, seed=1)
    grown.run(p, y)
    ticket = grown.predict(p[0, 0])
    again = OneVsRest.from_json(grown.to_json())
    for one in (grown, again):
        one.update(2, ticket.id)
        one.run(p, y)
    assert again.to_json() == grown.to_json()
