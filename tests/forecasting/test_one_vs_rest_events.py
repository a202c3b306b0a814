"""Events of one against the rest: all classes share them."""

import numpy as np
import pytest

from fullswap.forecasting import Forecaster, OneVsRest, Recalibrator
from fullswap.kernels.columns import LEARNT

PATTERNS = {
    "forecaster": lambda: Forecaster(seed=1),
    "recalibrator": lambda: Recalibrator(seed=1),
    "models": lambda: Recalibrator(step=None, models=2, seed=1),
}
each = pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)


def log_of(forecaster, count, seed=0):
    """Contexts, classes and names: events of five forecasts, some rows without a name."""
    rng = np.random.default_rng(seed)
    names = [None if rng.random() < 0.2 else f"event {t // 5}" for t in range(count)]
    classes = np.repeat(rng.integers(3, size=count // 5), 5)
    models = forecaster.spec.models
    p = rng.dirichlet(np.ones(3), (count, models)) if models else None
    return (p[:, 0] if models == 1 else p), classes, names


def rows(forecaster):
    copies = [part.row.copy() for part in forecaster._parts]
    for row in copies:
        row[LEARNT] = -1
    return [row.tobytes() for row in copies]


@each
def test_a_run_is_the_loop_and_restarts_go_unnoticed(pattern):
    ran, looped = OneVsRest(3, pattern()), OneVsRest(3, pattern())
    p, classes, names = log_of(ran, 60)
    columns = (classes,) if p is None else (p, classes)
    run = ran.run(*columns, event=names)
    last = {name: t for t, name in enumerate(names)}
    for t, name in enumerate(names):
        forecast = looped.predict(None if p is None else p[t], event=name)
        np.testing.assert_array_equal(forecast.issued, run.issued[t])
        np.testing.assert_array_equal(forecast.mean, run.mean[t])
        assert forecast.event == name
        if t % 7 == 6:
            looped = OneVsRest.from_json(looped.to_json())
        if name is None:
            looped.update(int(classes[t]), forecast)
        elif last[name] == t:
            looped.update(int(classes[t]), event=name)
    assert rows(looped) == rows(ran) and not ran.pending
    assert OneVsRest(3, pattern()).run(*columns, event=names, record=False) is None


@each
def test_a_class_that_is_new_joins_the_forecasts_that_wait(pattern):
    forecaster = OneVsRest(2, pattern())
    models = forecaster.spec.models
    p = {0: None, 1: [0.3, 0.7], 2: [[0.3, 0.7], [0.5, 0.5]]}[models]
    for event in ("game", "game", None):
        forecaster.predict(p, event=event)
    before = [forecast.unnormalised for forecast in forecaster.pending]
    forecaster.add_class()
    again = OneVsRest.from_json(forecaster.to_json())
    for own in (forecaster, again):
        after = [forecast.unnormalised for forecast in own.pending]
        np.testing.assert_array_equal([each[:2] for each in after], before)
        assert [forecast.event for forecast in own.pending] == ["game", "game", None]
        own.resolve("game", 2)
        own.update(0)
        assert own.rounds == 3 and own.classes == 3
    assert rows(forecaster) == rows(again)


def test_what_is_refused_changes_nothing():
    forecaster = OneVsRest(3, Forecaster(seed=1))
    forecasts = [forecaster.predict(event="game") for _ in range(2)]
    before = forecaster.to_json()
    refusals = {
        "call resolve": lambda: forecaster.update(1, forecasts[0]),
        "event 'cup' has no pending forecast": lambda: forecaster.resolve("cup", 1),
        "forecast must be left out": lambda: forecaster.update(1, forecasts[0], event="game"),
        "forecast must be left out where": lambda: forecaster.drop(forecasts[0], event="game"),
        "outcome must": lambda: forecaster.resolve("game", 3),
        "event 'a' must have one outcome": lambda: forecaster.run([0, 1], event=["a", "a"]),
    }
    for message, act in refusals.items():
        with pytest.raises(ValueError, match=message):
            act()
        assert forecaster.to_json() == before
    forecaster.drop(event="game")
    assert forecaster.pending == ()


def test_classes_of_a_state_share_their_events():
    forecaster = OneVsRest(2, Forecaster(seed=1))
    forecaster.predict(event="game")
    forecaster._parts[1].pending.tickets[0].event = "match"
    with pytest.raises(ValueError, match="classes must have seen the same events"):
        OneVsRest.from_json(forecaster.to_json())
