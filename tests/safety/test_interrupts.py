"""An exception anywhere leaves an event learnt or not learnt, and nothing in between."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from interrupts import Stop, length_of
from saved_states import MAKERS, context, in_the_middle, outcome

from fullswap.forecasting import Forecaster
from fullswap.kernels.columns import DELAY, HINT, MASS, OVERLAP, ROUNDS
from fullswap.online import kind as kinds
from fullswap.online import loop
from fullswap.online.kinds import kind_of

EVENTS = 60
FEW = ["line, anytime", "classwise", "experts, growing"]
LATENESS = [DELAY, OVERLAP]
"""Raised before a late outcome is learnt, and never too low; an interrupt may leave them high."""


def events_of(forecaster, count=EVENTS, seed=5):
    """Contexts, outcomes and weights for ``run``."""
    rng = np.random.default_rng(seed)
    contexts = [context(forecaster, rng) for _ in range(count)]
    own = (np.array([each[0] for each in contexts]),) if forecaster.spec.models else ()
    outcomes = np.array([outcome(forecaster, rng) for _ in range(count)])
    return (*own, outcomes, forecaster.max_weight * rng.choice([0.0, 0.25, 1.0, 1.0], count))


def row_of(forecaster):
    row = forecaster._stream.settle().copy()
    late = row[LATENESS].copy()
    row[LATENESS] = 0
    return row, late


def waiting(forecaster):
    return [forecast.to_list() for forecast in forecaster.pending]


def assert_sound(forecaster):
    """What is kept can be read again, and counts of waiting forecasts are right."""
    text = forecaster.to_json()
    again = type(forecaster).from_json(text)
    assert again.to_json() == text
    level = int(forecaster._stream.row[0])
    pending = forecaster._stream.pending
    counted = pending._indexed(level)
    pending.index = None
    assert counted == pending._indexed(level)


def assert_same(forecaster, other, exactly=True):
    mine, late = row_of(forecaster)
    theirs, known = row_of(other)
    np.testing.assert_array_equal(mine, theirs)
    if exactly:
        np.testing.assert_array_equal(late, known)
    else:
        assert (late >= known).all()
    assert waiting(forecaster) == waiting(other)


def stop_run(start, data, stop, record):
    """Interrupt a run: what is learnt is its first events exactly, and the rest can follow."""
    forecaster = start.copy()
    stop(lambda: forecaster.run(*data, record=record))
    assert_sound(forecaster)
    done = forecaster.rounds - start.rounds
    straight = start.copy()
    straight.run(*(part[:done] for part in data), record=False)
    alone = not start.pending
    assert_same(forecaster, straight, exactly=alone)
    forecaster.run(*(part[done:] for part in data), record=False)
    whole = start.copy()
    whole.run(*data, record=False)
    assert_same(forecaster, whole, exactly=alone)
    return done


def stop_runs(name, count, seed):
    rng = np.random.default_rng(seed)
    reached = set()
    for pending in (False, True):
        start = in_the_middle(name, pending)
        data = events_of(start)
        record = bool(rng.integers(2))
        start.copy().run(*data, record=record)  # compiled, and all grids laid out
        length = length_of(lambda: start.copy().run(*data, record=record))  # noqa: B023
        for after in rng.integers(1, length + 1, count // 2).tolist():
            error = (KeyboardInterrupt, MemoryError)[int(rng.integers(2))]
            reached.add(stop_run(start, data, Stop(after, error), record))
    assert len(reached) > 2  # interrupts came before, between and after stretches


@pytest.mark.parametrize("name", FEW)
def test_an_interrupted_run_has_learnt_its_first_events(name, monkeypatch):
    monkeypatch.setattr(loop, "STRETCH", 7)
    stop_runs(name, 12, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_many_interrupted_runs(name, monkeypatch):
    monkeypatch.setattr(loop, "STRETCH", 7)
    stop_runs(name, 40, seed=2)


@pytest.mark.parametrize("name", ["line, anytime"])
def test_an_interrupt_while_grids_are_laid_out_spoils_none(name, monkeypatch):
    """Grids are shared by all streams of a spec: half a change of them would reach every one."""
    monkeypatch.setattr(kinds, "POINTS_IN_VIEW", 0)
    data = events_of(MAKERS[name](), 150)
    whole = MAKERS[name]()
    whole.run(*data, record=False)

    def anew():
        kind_of.cache_clear()
        return MAKERS[name]()

    forecaster = anew()
    length = length_of(lambda: forecaster.run(*data, record=False))
    try:
        for after in np.random.default_rng(3).integers(1, length, 40).tolist():
            forecaster = anew()
            Stop(after, MemoryError)(lambda: forecaster.run(*data, record=False))  # noqa: B023
            done = forecaster.rounds
            other = MAKERS[name]()  # of the same spec
            other.run(*data, record=False)
            assert_same(other, whole)
            forecaster.run(*(part[done:] for part in data), record=False)
            assert_same(forecaster, whole)
    finally:
        kind_of.cache_clear()


@pytest.mark.parametrize("name", ["line, anytime"])
def test_grids_are_in_view_once_compiled_code_has_them(name, monkeypatch):
    """Else the next refinement would read beyond the arrays that are there."""
    monkeypatch.setattr(kinds, "POINTS_IN_VIEW", 0)
    kind_of.cache_clear()
    kind = MAKERS[name]()._stream.kind
    kind_of.cache_clear()
    view = kind._view

    def fail(*arguments):
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(type(kind), "_compile", fail)
        with pytest.raises(MemoryError):
            kind.reach(view)
    assert kind._view == view == len(kind.kernel.first) - 1
    kind.reach(view)
    assert kind._view == len(kind.kernel.first) - 1 > view


def test_unit_weights_count_rounds_wherever_a_run_stops(monkeypatch):
    monkeypatch.setattr(loop, "STRETCH", 16)
    outcomes = np.arange(200) % 3 / 2
    length = length_of(lambda: Forecaster(seed=1).run(outcomes))
    for after in range(1, length, max(length // 40, 1)):
        forecaster = Forecaster(seed=1)
        Stop(after)(lambda: forecaster.run(outcomes))  # noqa: B023
        row = forecaster._stream.row
        assert row[ROUNDS] == row[MASS]


def stop_updates(name, step):
    """Interrupt an update at every ``step``-th bytecode: learnt once, or not at all."""
    start = in_the_middle(name, True)
    ticket = start.pending[-1]
    value, weight = outcome(start, np.random.default_rng(1)), start.max_weight
    learnt = start.copy()
    length = length_of(lambda: learnt.update(value, ticket, weight))
    seen = set()
    for after in range(1, length + 1, step):
        forecaster = start.copy()
        Stop(after)(lambda: forecaster.update(value, ticket.id, weight))  # noqa: B023
        assert_sound(forecaster)
        done = forecaster.rounds - start.rounds
        seen.add(done)
        assert_same(forecaster, learnt if done else start, exactly=False)
        if done:
            with pytest.raises(ValueError, match="not pending"):
                forecaster.update(value, ticket.id, weight)
        else:
            forecaster.update(value, ticket, weight)
        assert_same(forecaster, learnt)
    return seen


@pytest.mark.parametrize("name", ["line", "classwise, 3 classes", "experts"])
def test_an_interrupted_update_learns_once_or_not_at_all(name):
    assert stop_updates(name, 3) == {0, 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_an_update_interrupted_at_any_bytecode(name):
    assert stop_updates(name, 1) == {0, 1}


def test_an_update_interrupted_before_its_refinement_is_refined():
    start = Forecaster(seed=1)
    start.run(np.zeros(int(start.spec.starts[1]) - 1), record=False)
    ticket = start.predict()
    learnt = start.copy()
    length = length_of(lambda: learnt.update(1.0, ticket))
    assert int(learnt._stream.row[0]) == 1
    for after in range(1, length + 1):
        forecaster = start.copy()
        Stop(after)(lambda: forecaster.update(1.0, ticket))  # noqa: B023
        if forecaster.rounds > start.rounds:
            assert len(forecaster._stream.row) == len(learnt._stream.row)
            assert_same(forecaster, learnt)


@pytest.mark.parametrize("name", ["line", "classwise, 3 classes", "experts"])
def test_an_interrupted_forecast_waits_or_was_never_made(name):
    start = in_the_middle(name, True)
    rng = np.random.default_rng(2)
    own = context(start, rng)
    before, ids = waiting(start), {forecast.id for forecast in start.pending}
    for copy in (start.copy(),):
        length = length_of(lambda: copy.predict(*own))  # noqa: B023
    for after in range(1, length + 1, 3):
        forecaster = start.copy()
        Stop(after)(lambda: forecaster.predict(*own))  # noqa: B023
        assert_sound(forecaster)
        assert waiting(forecaster)[: len(before)] == before
        assert len(forecaster.pending) - len(before) in (0, 1)
        assert forecaster.predict(*own).id not in ids
        assert_sound(forecaster)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
@pytest.mark.parametrize("name", FEW)
def test_signals_in_a_loop_of_single_events_lose_and_repeat_nothing(name):
    """The same with real signals: every ticket is learnt once, in the order of the outcomes."""
    assert threading.current_thread() is threading.main_thread()
    forecaster, plain = MAKERS[name](), MAKERS[name]()
    contexts, outcomes = zip(*_singles(forecaster, 400), strict=True)
    warm = MAKERS[name]()  # a signal while code is compiled would be met by the compiler
    for own, value in zip(contexts[:100], outcomes[:100], strict=True):
        warm.predict(*own)
        warm.update(value, weight=warm.max_weight)
    rng = np.random.default_rng(4)
    hits, patience = 0, 4e-4

    def stop(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        t = 0
        while t < len(outcomes):
            try:
                before_this = t
                signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(1e-6, patience)))
                while t < len(outcomes):
                    if not forecaster.pending:
                        forecaster.predict(*contexts[t])
                    forecaster.update(outcomes[t], weight=forecaster.max_weight)
                    t = forecaster.rounds
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                hits += 1
                t = forecaster.rounds
                assert len(forecaster.pending) <= 1
                patience = 4e-4 if t > before_this else 2 * patience  # the machine may be busy
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert hits > 5
    assert_sound(forecaster)
    assert forecaster.rounds == len(outcomes)
    if int(forecaster._stream.row[2]) == len(outcomes):  # no id was passed over: the same draws
        for own, value in zip(contexts, outcomes, strict=True):
            plain.predict(*own)
            plain.update(value, weight=plain.max_weight)
        mine, theirs = row_of(forecaster)[0], row_of(plain)[0]
        mine[HINT] = theirs[HINT]
        np.testing.assert_array_equal(mine, theirs)


def _singles(forecaster, count):
    rng = np.random.default_rng(9)
    return [(context(forecaster, rng), outcome(forecaster, rng)) for _ in range(count)]
