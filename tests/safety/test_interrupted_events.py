"""An exception anywhere leaves an event resolved or not resolved: all its forecasts, or none."""

from __future__ import annotations

import numpy as np
import pytest
from interrupts import Stop, length_of
from saved_states import MAKERS, context, in_the_middle, outcome
from test_interrupts import assert_same, assert_sound

from fullswap.forecasting import Bank, Forecaster, MulticlassForecaster, Recalibrator
from fullswap.kernels.columns import CROWD, LEVEL, NEXT_ID
from fullswap.online import loop


def with_event(forecaster, forecasts=3):
    """Some forecasts of one event wait; so may others."""
    rng = np.random.default_rng(8)
    for _ in range(forecasts):
        forecaster.predict(*context(forecaster, rng), event="game")
    return forecaster


def stop_resolutions(start, value, step, forecasts=3):
    """Interrupt a resolution at every ``step``-th bytecode."""
    learnt = start.copy()
    length = length_of(lambda: learnt.resolve("game", value))
    seen = set()
    for after in range(1, length + 1, step):
        forecaster = start.copy()
        error = (KeyboardInterrupt, MemoryError)[after % 2]
        Stop(after, error)(lambda: forecaster.resolve("game", value))  # noqa: B023
        assert_sound(forecaster)
        done = forecaster.rounds - start.rounds
        seen.add(done)
        assert_same(forecaster, learnt if done else start)
        if not done:
            forecaster.resolve("game", value)
        assert_same(forecaster, learnt)
        with pytest.raises(ValueError, match="no pending forecast"):
            forecaster.resolve("game", value)
    # nothing can interrupt it when the last forecast is learnt and all is done
    assert seen <= {0, forecasts} and 0 in seen
    return learnt


@pytest.mark.parametrize("name", ["line", "classwise, 3 classes", "experts"])
@pytest.mark.parametrize("pending", [False, True])
def test_an_interrupted_resolution_teaches_all_or_nothing(name, pending):
    start = with_event(in_the_middle(name, pending))
    stop_resolutions(start, outcome(start, np.random.default_rng(1)), 7)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_resolution_interrupted_at_any_bytecode(name):
    start = with_event(in_the_middle(name, True))
    stop_resolutions(start, outcome(start, np.random.default_rng(1)), 1)


@pytest.mark.parametrize(
    ("make", "stride"), [(Forecaster, 5), (lambda seed: Recalibrator(None, seed=seed), 19)]
)
def test_a_resolution_that_refines_the_grid_in_the_middle_is_undone_too(make, stride):
    start = make(seed=1)
    rng = np.random.default_rng(2)
    level = int(start._stream.row[LEVEL])
    begin = next(s for s in start.spec.starts if s > 4)
    own = () if not start.spec.models else (rng.random(int(begin) - 1),)
    start.run(*own, np.zeros(int(begin) - 1), record=False)
    start.predict(*context(start, rng))
    start.update(1.0, weight=0.5)  # the grid is due when half of the event has been learnt
    learnt = stop_resolutions(with_event(start, 4), 1.0, stride, forecasts=4)
    assert int(learnt._stream.row[LEVEL]) > level


def test_a_stream_of_a_bank_goes_back_and_the_others_stay():
    bank = Bank(Forecaster(seed=1))
    begin = int(bank.spec.starts[2])
    bank.run(["a", "b", "c"] * (begin - 1), np.arange(3 * begin - 3) % 2)
    bank.predict(["b"])
    bank.update(list(bank.pending), [1], [0.5])
    bank.predict(["b"] * 4 + ["a"], event=["game"] * 4 + ["other"])
    text = bank.to_json()
    whole = Bank.from_json(text)
    length = length_of(lambda: whole.resolve(["b"], ["game"], [1]))
    seen = set()
    for after in range(1, length + 1, 7):
        again = Bank.from_json(text)
        Stop(after)(lambda: again.resolve(["b"], ["game"], [1]))  # noqa: B023
        now = again.to_json()
        seen.add(now == text)
        assert now in (text, whole.to_json())
        assert Bank.from_json(now).to_json() == now
        if now == text:
            again.resolve(["b"], ["game"], [1])
            assert again.to_json() == whole.to_json()
    assert True in seen


def test_all_classes_of_an_event_or_none():
    start = MulticlassForecaster(9, seed=1)
    start.run(np.arange(40) % 9)
    for _ in range(3):
        start.predict(event="game")
    text = start.to_json()
    whole = start.copy()
    length = length_of(lambda: whole.resolve("game", 2))
    for after in range(1, length + 1, 11):
        other = MulticlassForecaster.from_json(text)
        Stop(after)(lambda: other.resolve("game", 2))  # noqa: B023
        assert other.to_json() in (text, whole.to_json())
    dropped = start.copy()
    length = length_of(lambda: dropped.drop(event="game"))
    for after in range(1, length + 1, 5):
        other = MulticlassForecaster.from_json(text)
        Stop(after)(lambda: other.drop(event="game"))  # noqa: B023
        assert other.to_json() in (text, dropped.to_json())


@pytest.mark.parametrize("name", ["line, anytime", "classwise, 3 classes", "experts, growing"])
def test_an_interrupted_run_loses_and_repeats_no_forecast(name):
    """What it has made is learnt or waits, and its events can be resolved."""
    start, rng = in_the_middle(name, True), np.random.default_rng(3)
    names = [f"game {t // 5}" for t in range(40)]
    values = np.repeat([outcome(start, rng) for _ in range(8)], 5)
    contexts = [context(start, rng) for _ in range(40)]
    own = (np.array([each[0] for each in contexts]),) if start.spec.models else ()
    length = length_of(lambda: start.copy().run(*own, values, event=names))
    for after in rng.integers(1, length, 30).tolist():
        forecaster = start.copy()
        Stop(after)(lambda: forecaster.run(*own, values, event=names))  # noqa: B023
        assert_sound(forecaster)
        made = int(forecaster._stream.row[NEXT_ID] - start._stream.row[NEXT_ID])
        learnt = forecaster.rounds - start.rounds
        left = len(forecaster.pending) - len(start.pending)
        assert learnt % 5 == 0 and made - 1 <= learnt + left <= made
        for event in {ticket.event for ticket in forecaster.pending} - {None}:
            forecaster.resolve(event, values[0])
        assert len(forecaster.pending) == len(start.pending)


def test_an_interrupted_run_of_a_bank_leaves_nobody_learning(monkeypatch):
    """How many wait is told to compiled code while a stretch is run, and not after."""
    monkeypatch.setattr(loop, "STRETCH", 7)
    start = Bank(Forecaster(seed=1))
    start.predict(["a", "a", "b"], event=["game", "game", None])
    text, keys, outcomes = start.to_json(), ["a", "b", "c"] * 10, np.arange(30) % 2
    length = length_of(lambda: start.run(keys, outcomes))
    for after in range(1, length + 1, 41):
        bank = Bank.from_json(text)
        Stop(after)(lambda: bank.run(keys, outcomes))  # noqa: B023
        crowds = bank._rows.arena[bank._rows.start + CROWD]
        assert not crowds.any()
        assert Bank.from_json(bank.to_json()).to_json() == bank.to_json()
