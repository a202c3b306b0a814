"""Laws of banks: every stream is a forecaster of its own, to the last bit."""

import numpy as np
import pytest
from numpy.random import Generator, Philox

from contract.makers import MAKERS, row_of
from fullswap import Bank, Forecaster, Recalibrator
from fullswap.base.draws import stream_of
from fullswap.kernels.columns import DELAY, LEARNT, NEXT_ID, OVERLAP

every = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
KEYS = ("north", 7, ("east", 2), b"raw", 0.5)


def columns_of(log, part=slice(None)):
    return (
        (log.outcomes[part],) if log.contexts is None else (log.contexts[part], log.outcomes[part])
    )


def keys_for(events, seed=0):
    picks = np.random.default_rng(seed).integers(len(KEYS), size=events)
    return [KEYS[k] for k in picks], picks


def plain_row(forecaster):
    row = row_of(forecaster).copy()
    row[LEARNT] = -1
    return row


def assert_streams_equal(bank, others):
    for key, other in others.items():
        np.testing.assert_array_equal(plain_row(bank[key]), plain_row(other))
        assert [t.to_list() for t in bank[key].pending] == [t.to_list() for t in other.pending]


@every
def test_each_stream_is_a_forecaster_of_its_own(maker):
    log = maker.log(700, 3)
    keys, picks = keys_for(len(log))
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0], len(log))
    bank = Bank(maker(seed=5))
    record = bank.run(keys, *columns_of(log), sample_weight=weights, **log.more())
    for k, key in enumerate(KEYS):
        own = picks == k
        alone = bank.blank(key)
        run = alone.run(*columns_of(log, own), weights[own], **log.more(own))
        np.testing.assert_array_equal(run.issued, record.issued[own])
        np.testing.assert_array_equal(run.mean, record.mean[own])
        np.testing.assert_array_equal(plain_row(alone), plain_row(bank[key]))
        assert alone.certificate() == bank.certificates()[key] == bank[key].certificate()
        assert alone.guarantee == pytest.approx(bank[key].guarantee)


@every
def test_runs_in_parts_forecasts_that_wait_and_restarts_change_nothing(maker):
    """Late outcomes while others run, in a bank and in forecasters of their own."""
    log = maker.log(300, 4)
    keys, picks = keys_for(len(log), 2)
    bank = Bank(maker(seed=6))
    others = {key: bank.blank(key) for key in KEYS}
    waiting = []
    for begin in range(0, 300, 60):
        part = slice(begin, begin + 50)
        bank.run(keys[part], *columns_of(log, part), record=begin % 120 == 0, **log.more(part))
        for k, key in enumerate(KEYS):
            own = np.flatnonzero(picks[part] == k) + begin
            others[key].run(*columns_of(log, own), **log.more(own))
        late = slice(begin + 50, begin + 60)
        contexts = () if log.contexts is None else (log.contexts[late],)
        tickets = bank.predict(keys[late], *contexts, **log.more(late))
        for t, ticket in zip(range(begin + 50, begin + 60), tickets, strict=True):
            other = log.predict(others[keys[t]], t)
            np.testing.assert_array_equal(ticket.issued, other.issued)
            waiting.append((t, ticket, other))
        assert_streams_equal(bank, others)
        bank = Bank.from_json(bank.to_json())
        assert_streams_equal(bank, others)
        now, waiting = waiting[::2], waiting[1::2]
        bank.update([ticket for _, ticket, _ in now], log.outcomes[[t for t, _, _ in now]])
        for t, _, other in now:
            others[keys[t]].update(log.outcomes[t], other)
    assert_streams_equal(bank, others)
    rows = [row_of(bank[key]) for key in KEYS]
    assert max(row[DELAY] for row in rows) >= 1 and max(row[OVERLAP] for row in rows) > 1


@every
def test_what_is_refused_changes_nothing(maker):
    log = maker.log(40, 5)
    keys, _ = keys_for(len(log))
    bank = Bank(maker(seed=1))
    bank.run(keys, *columns_of(log), **log.more())
    contexts = () if log.contexts is None else (log.contexts[:3],)
    tickets = bank.predict(keys[:3], *contexts)
    before = bank.to_json()
    wrong = np.array(log.outcomes)
    wrong[7] = np.nan
    columns = columns_of(log)
    refusals = [
        lambda: bank.run(keys[:-1], *columns),
        lambda: bank.run(keys, *columns[:-1], wrong),
        lambda: bank.run(keys, *columns, sample_weight=np.full(40, 2.6)),
        lambda: bank.run([["no", "key"]] * 40, *columns),
        lambda: bank.update(tickets[:2], log.outcomes[:3]),
        lambda: bank.update([tickets[0], tickets[0]], log.outcomes[:2]),
        lambda: bank.update([3], log.outcomes[:1]),
        lambda: bank.update([Bank(maker(seed=9)).predict(keys[:1], *(c[:1] for c in contexts))[0]],
                            log.outcomes[:1]),
        lambda: bank.drop("north"),
    ]  # fmt: skip
    for call in refusals:
        with pytest.raises((ValueError, KeyError)):
            call()
        assert bank.to_json() == before
    bank.drop(tickets[0])
    assert len(bank.pending) == 2


def test_streams_draw_numbers_of_their_own():
    bank = Bank(Forecaster(seed=3, horizon=500))
    bank.run(["a", "b"] * 40, np.arange(80) % 3 / 2)
    first, second = (bank[key] for key in "ab")
    assert first._stream.draws.stream == stream_of("a") != second._stream.draws.stream
    start = (stream_of("a") << 128) + 9  # numpy counts up before its first block
    numbers = Generator(Philox(key=first._stream.draws.seed, counter=start)).random(20)
    for number in numbers[: 50 - 40]:
        ticket = first.predict()
        left, share = ticket._play[2], ticket._play[4]
        assert ticket.issued == first._stream.kind.points(0)[left + (number >= share)]
    assert int(row_of(first)[NEXT_ID]) == 50


def test_equal_keys_are_one_stream_and_others_are_not():
    bank = Bank(Forecaster(seed=1))
    bank.run(np.array([1, 2, 1]), [1, 0, 1])
    bank.run([1.0, True, "1", (1,)], [0, 0, 0, 0])
    assert list(bank.keys()) == [1, 2, "1", (1,)] and len(bank) == 4
    assert bank[1].rounds == 4 and bank[2].rounds == 1 and "1" in bank and 3 not in bank
    for key in (None, float("nan"), [1], {"a": 1}):
        with pytest.raises((ValueError, KeyError)):
            bank.run([key], [1])
    with pytest.raises(KeyError, match="no stream has the key 'west'"):
        bank["west"]


def test_a_pattern_has_seen_nothing():
    used = Forecaster(seed=1)
    used.predict()
    for pattern in (used, 3, Forecaster):
        with pytest.raises(ValueError, match="pattern must be a forecaster"):
            Bank(pattern)


def test_a_bank_does_not_follow_the_forecasters_it_gives():
    bank = Bank(Recalibrator(seed=1))
    bank.run(["a"] * 30, np.full(30, 0.7), np.arange(30) % 2)
    before = bank.to_json()
    other = bank["a"]
    other.run(np.full(20, 0.2), np.ones(20))
    other.predict(0.5)
    assert bank.to_json() == before and other.rounds == 50


def test_saved_banks_come_back_and_a_crash_keeps_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "bank.json"
    bank = Bank(Forecaster(seed=1))
    bank.run(list(KEYS) * 20, np.arange(100) % 2)
    bank.predict(KEYS[:2])
    bank.save(path)
    again = Bank.load(path)
    assert again.to_json() == bank.to_json() == path.read_text()
    assert list(again.keys()) == list(KEYS)
    bank.run(KEYS, [1] * 5)
    monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        bank.save(path)
    assert path.read_text() == again.to_json()
    assert [file.name for file in tmp_path.iterdir()] == ["bank.json"]


def test_memory_of_a_stream_is_that_of_its_row():
    bank = Bank(Forecaster(seed=1))
    bank.run(np.arange(3000), np.zeros(3000))
    assert bank.nbytes <= 3000 * 230
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(3000), 100))
    bank.run(order, np.arange(len(order)) % 2, record=False)
    widths = sum(8 * len(row_of(bank[key])) for key in range(0, 3000, 100)) * 100
    assert widths <= bank.nbytes <= 1.5 * widths + 3000 * 24


def test_keys_are_read_once_in_their_order():
    pandas = pytest.importorskip("pandas")
    bank = Bank(Forecaster(seed=1))
    bank.run(["a", "b"], [1, 0])
    tickets = bank.predict(pandas.Series(["a", "b"], index=[1, 0]))
    assert [ticket.key for ticket in tickets] == [("a",), ("b",)] and len(bank.pending) == 2
    bank.update(tickets, [1, 1])
    assert len(bank.predict(bank.keys())) == 2


def test_streams_are_added_only_for_events_that_are_run():
    bank = Bank(Recalibrator(seed=1))
    for call in (
        lambda: bank.run(["a"], [0.5], [1], progress="x"),
        lambda: bank.run(["a"], [0.5]),
        lambda: bank.predict(["a"]),
        lambda: bank.run([float("inf")], [0.5], [1]),
    ):
        with pytest.raises(ValueError):
            call()
    assert len(bank) == 0


def test_a_state_that_could_not_be_read_is_not_written(monkeypatch, tmp_path):
    bank = Bank(Forecaster(seed=1))
    bank.save(tmp_path / "bank.json")
    bank.run(list(range(50)), [1] * 50)
    monkeypatch.setattr("fullswap.forecasting.state.MOST_BYTES", 2000)
    with pytest.raises(ValueError, match="state must have at most 2000 characters"):
        bank.save(tmp_path / "bank.json")
    assert len(Bank.load(tmp_path / "bank.json")) == 0


def test_a_bank_that_was_read_takes_no_more_memory():
    bank = Bank(Recalibrator(models=3, seed=1))
    bank.run(list(range(100)), np.full((100, 3), 0.5), [1] * 100)
    assert Bank.from_json(bank.to_json()).nbytes <= 1.3 * bank.nbytes
