"""Threads of a bank change nothing: the same rows, forecasts and draws to the last bit."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.makers import MAKERS, row_of
from contract.test_banks import columns_of, plain_row
from fullswap import Bank, Forecaster, MulticlassForecaster, Recalibrator
from fullswap.forecasting import running
from fullswap.kernels.columns import NEXT_ID
from fullswap.online import grouped
from fullswap.online import kind as kinds
from fullswap.online.kinds import kind_of
from safety.interrupts import Stop, length_of

every = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
STREAMS = 23


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Pieces end in the middle of streams."""
    monkeypatch.setattr(grouped, "PIECE", 29)


def skewed(events, seed=0):
    """Keys of which the first has about half of all events, and the last have hardly any."""
    rng = np.random.default_rng(seed)
    return np.minimum(rng.geometric(0.5, events) * rng.integers(1, 4, events), STREAMS) * 10


def in_order(bank, *arguments, **more):
    """The run with one event after the other, as they were given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "pays", lambda *given: False)
        return bank.run(*arguments, **more)


def assert_same_record(record, other):
    np.testing.assert_array_equal(record.issued, other.issued)
    np.testing.assert_array_equal(record.mean, other.mean)
    np.testing.assert_array_equal(record.points, other.points)


@every
def test_any_number_of_threads_gives_the_same_bits(maker):
    log = maker.log(900, 3)
    keys = skewed(len(log))
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0], len(log))
    straight = Bank(maker(seed=5))
    record = in_order(straight, keys, *columns_of(log), sample_weight=weights, **log.more())
    again = in_order(straight, keys, *columns_of(log), **log.more())
    for threads in (1, 2, 3, 7):
        bank = Bank(maker(seed=5))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grouped, "LARGE", 1)  # with one thread too stream by stream
            first = bank.run(
                keys, *columns_of(log), sample_weight=weights, threads=threads, **log.more()
            )
            second = bank.run(keys, *columns_of(log), threads=threads, **log.more())
        assert_same_record(first, record)
        assert_same_record(second, again)
        assert bank.to_json() == straight.to_json()
    key = int(keys[0])
    alone, own = bank.blank(key), keys == key
    alone.run(*columns_of(log, own), weights[own], **log.more(own))
    alone.run(*columns_of(log, own), **log.more(own))
    np.testing.assert_array_equal(plain_row(alone), plain_row(bank[key]))


@every
def test_streams_with_forecasts_that_wait_are_run_beside_the_others(maker):
    log = maker.log(400, 8)
    keys = skewed(len(log), 2)
    banks = Bank(maker(seed=2)), Bank(maker(seed=2))
    contexts = () if log.contexts is None else (log.contexts[:6],)
    tickets = [bank.predict(keys[:6], *contexts, **log.more(slice(6))) for bank in banks]
    records = [
        in_order(banks[0], keys, *columns_of(log), **log.more()),
        banks[1].run(keys, *columns_of(log), threads=3, **log.more()),
    ]
    assert_same_record(*records)
    assert banks[0].to_json() == banks[1].to_json() and len(banks[1].pending) == 6
    for bank, own in zip(banks, tickets, strict=True):
        bank.update(own, log.outcomes[:6])
    assert banks[0].to_json() == banks[1].to_json()


def test_rows_that_find_no_room_are_given_some(monkeypatch):
    """Where what is needed was misjudged, all stop, and go on with more room."""
    monkeypatch.setattr(kinds, "POINTS_IN_VIEW", 0)
    kind_of.cache_clear()
    try:
        forecaster = Forecaster(seed=1)
        rng = np.random.default_rng(4)
        keys = rng.integers(0, 9, 4000)
        outcomes = rng.integers(0, forecaster.spec.classes, 4000)
        straight = Bank(forecaster)
        record = in_order(straight, keys, outcomes)
        right = grouped.GroupedRun._reached
        rounds = []
        monkeypatch.setattr(
            grouped.GroupedRun, "_reached", lambda run, bounds: 0 * right(run, bounds)
        )
        work = grouped.GroupedRun._round
        monkeypatch.setattr(
            grouped.GroupedRun, "_round", lambda run, *rest: (rounds.append(1), work(run, *rest))
        )
        bank = Bank(forecaster)
        assert_same_record(bank.run(keys, outcomes, threads=3), record)
        assert bank.to_json() == straight.to_json() and len(rounds) > 2
    finally:
        kind_of.cache_clear()


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])), max_size=120),
    st.randoms(use_true_random=False),
    st.integers(2, 4),
)
def test_rows_shuffled_between_streams_change_nothing(rows, random, threads):
    """Only the order of a stream's own events matters."""
    queues = {key: [row for row in rows if row[0] == key] for key, _ in rows}
    shuffled, taken = rows[:], {key: 0 for key in queues}
    random.shuffle(shuffled)
    for place, (key, _) in enumerate(shuffled):  # its own events in their order
        shuffled[place] = queues[key][taken[key]]
        taken[key] += 1
    banks = []
    for own, count in ((rows, 1), (shuffled, threads)):
        bank = Bank(Forecaster(seed=3))
        bank.run([key for key, _ in own], [y for _, y in own], threads=count)
        banks.append(bank)
    for key in queues:
        np.testing.assert_array_equal(row_of(banks[0][key]), row_of(banks[1][key]))


def assert_prefixes(bank, keys, columns):
    """Every stream has learnt the first of its own events, and the rest can follow."""
    left = np.zeros(len(keys), bool)
    for key in bank.keys():
        own = np.flatnonzero(keys == key)
        done = bank[key].rounds
        alone = bank.blank(key)
        alone.run(*(column[own[:done]] for column in columns))
        np.testing.assert_array_equal(plain_row(alone), plain_row(bank[key]))
        left[own[done:]] = True
    rest = ~np.isin(keys, list(bank.keys())) | left
    reached = len(keys) - int(rest.sum())
    bank.run(keys[rest], *(column[rest] for column in columns), threads=2)
    whole = Bank(bank._pattern)
    in_order(whole, keys, *columns)
    for key in whole.keys():
        np.testing.assert_array_equal(plain_row(whole[key]), plain_row(bank[key]))
        assert whole[key].rounds == row_of(bank[key])[NEXT_ID]
    return reached


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_anywhere_leaves_every_stream_after_some_event_of_its_own(
    threads, monkeypatch
):
    monkeypatch.setattr(grouped, "LARGE", 1)
    rng = np.random.default_rng(3)
    keys, outcomes = skewed(600), rng.random(600)
    start = Bank(Forecaster(seed=1))
    start.run(keys, outcomes, threads=threads)  # compiled
    length = length_of(lambda: Bank(Forecaster(seed=1)).run(keys, outcomes, threads=threads))
    reached = set()
    for after in rng.integers(length // 4, length, 30).tolist():
        bank = Bank(Forecaster(seed=1))
        before = threading.active_count()
        Stop(after)(lambda: bank.run(keys, outcomes, threads=threads))  # noqa: B023
        assert threading.active_count() == before  # nobody writes any longer
        reached.add(assert_prefixes(bank, keys, (outcomes,)))
    assert len(reached) > 1


def test_a_signal_stops_all_threads():
    keys = np.arange(3_000_000) % 50
    outcomes = np.arange(3_000_000) % 2 * 1.0
    bank = Bank(Forecaster(seed=1))
    bank.run(keys[:200], outcomes[:200], threads=2)
    bank = Bank(Forecaster(seed=1))
    timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            bank.run(keys, outcomes, threads=2, record=False)
    timer.join()
    rounds = [bank[key].rounds for key in bank.keys()]
    time.sleep(0.05)
    assert [bank[key].rounds for key in bank.keys()] == rounds
    assert Bank.from_json(bank.to_json()).to_json() == bank.to_json()


def test_an_error_in_a_thread_is_raised_by_the_run(monkeypatch):
    bank = Bank(Forecaster(seed=1))
    keys = np.arange(300) % 7
    bank.run(keys, keys % 2, threads=2)
    before = bank.to_json()
    piece = grouped.GroupedRun._piece

    def fail(run, kernel, chunk, size):
        if size:
            raise MemoryError("no more")
        return piece(run, kernel, chunk, size)

    monkeypatch.setattr(grouped.GroupedRun, "_piece", fail)
    with pytest.raises(MemoryError, match="no more"):
        bank.run(keys, keys % 2, threads=3)
    assert bank.to_json() == before


def test_scratch_is_copied_and_grids_are_shared():
    for forecaster in (MulticlassForecaster(3, seed=1), Recalibrator(classes=3, seed=1)):
        spec = forecaster._stream.kind.kernel
        own = grouped.own_scratch(spec)
        assert type(own) is type(spec) and own.grid is spec.grid
        assert not np.shares_memory(own.memo, spec.memo)


def test_what_threads_may_be():
    bank = Bank(Forecaster(seed=1))
    for wrong in (0, -1, 1.5, "two", True):
        with pytest.raises(ValueError, match="threads must be a whole number >= 1"):
            bank.run(["a"], [1], threads=wrong)
    assert len(bank) == 0
    assert grouped.threads_for(10, None) == 1 and grouped.threads_for(10, 3) == 3
    assert grouped.threads_for(grouped.LARGE, None) == grouped.cores() >= 1


def test_memory_after_threads_is_that_of_the_rows():
    bank = Bank(Forecaster(seed=1))
    keys = np.random.default_rng(0).permutation(np.repeat(np.arange(2000), 100))
    bank.run(keys, np.arange(len(keys)) % 2, record=False, threads=2)
    widths = sum(8 * len(row_of(bank[key])) for key in range(0, 2000, 100)) * 100
    assert widths <= bank.nbytes <= 1.5 * widths + 2000 * 24
