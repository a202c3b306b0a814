"""Stores give back what was saved, write what changed, and lose nothing to crashes."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.makers import MAKERS
from contract.test_banks import KEYS, columns_of, keys_for
from forecasting import store_killed
from fullswap import Bank, Forecaster, Recalibrator
from fullswap.forecasting import FileStore, MemoryStore, SQLiteStore, Store, StoredStream
from fullswap.forecasting.bank_store import key_text
from fullswap.forecasting.state import VERSION
from fullswap.kernels.columns import LEVEL

KINDS = ("memory", "file", "sqlite")
kinds = pytest.mark.parametrize("kind", KINDS)
on_disk = pytest.mark.parametrize("kind", KINDS[1:])


def open_store(kind, folder):
    if kind == "memory":
        return MemoryStore()
    return FileStore(folder / "bank.fs") if kind == "file" else SQLiteStore(folder / "bank.db")


class Counting(MemoryStore):
    """How many streams each save wrote."""

    def __init__(self):
        super().__init__()
        self.written = []

    def put(self, settings, streams):
        own = list(streams)
        self.written.append(len(own))
        super().put(settings, own)


def a_bank(seed=1):
    bank = Bank(Forecaster(seed=seed))
    bank.run(list(KEYS) * 20, np.arange(100) % 2)
    return bank


@kinds
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_every_kind_comes_back_to_the_last_bit(kind, maker, tmp_path):
    log = maker.log(200, 4)
    keys, _ = keys_for(len(log))
    bank, store = Bank(maker(seed=6)), open_store(kind, tmp_path)
    bank.run(keys, *columns_of(log), **log.more())
    contexts = () if log.contexts is None else (log.contexts[:5],)
    tickets = bank.predict(keys[:5], *contexts, **log.more(slice(5)))
    bank.save(store)
    again = Bank.load(store)
    assert again.to_json() == bank.to_json() and list(again.keys()) == list(bank.keys())
    for own in (bank, again):
        own.update(tickets, log.outcomes[:5])
        own.run(keys, *columns_of(log), **log.more())
    assert again.to_json() == bank.to_json()
    bank.save(store)
    assert Bank.load(store).to_json() == bank.to_json()
    some = Bank.load(store, keys=[KEYS[1], "nobody"])
    assert list(some.keys()) == [KEYS[1]] and some[KEYS[1]].to_json() == bank[KEYS[1]].to_json()
    if kind == "sqlite":
        store.close()


def test_a_save_writes_what_changed():
    bank, store = a_bank(), Counting()
    bank.save(store)
    bank.save(store)
    assert store.written == [5]  # nothing changed
    bank.run(["north"], [1])
    bank.save(store)
    (ticket,) = bank.predict([7])
    bank.save(store)
    bank.drop(ticket)
    bank.save(store)
    tickets = bank.predict([7, b"raw"])
    bank.update(tickets[:1], [1])
    bank.save(store)
    bank.run(["north", "new"], [1, 0], sample_weight=[0, 0])
    bank.save(store)
    assert store.written == [5, 1, 1, 1, 2, 2]
    assert Bank.load(store).to_json() == bank.to_json()
    other = Counting()
    bank.save(other)
    assert other.written == [6]
    loaded = Bank.load(store)
    loaded.run(["new"], [1])
    loaded.save(store)
    assert store.written[-1] == 1


def test_banks_with_some_of_the_streams_leave_the_others_alone(tmp_path):
    """Two processes that share the keys between them."""
    with SQLiteStore(tmp_path / "bank.db") as store, SQLiteStore(tmp_path / "bank.db") as other:
        whole = a_bank()
        whole.save(store)
        first, second = Bank.load(store, keys=["north"]), Bank.load(other, keys=[7, ("east", 2)])
        for bank, own in ((first, store), (second, other)):
            bank.run(list(bank.keys()), [1] * len(bank))
            bank.save(own)
        whole.run(["north", 7, ("east", 2)], [1, 1, 1])
        assert Bank.load(store).to_json() == whole.to_json()


@given(st.lists(st.one_of(
    st.text(max_size=5), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(), st.binary(max_size=4), st.tuples(st.text(max_size=3), st.integers()),
), min_size=1, max_size=12))  # fmt: skip
def test_any_key_is_found_again(keys):
    bank, store = Bank(Forecaster(seed=1)), MemoryStore()
    bank.run(keys, [1] * len(keys))
    bank.save(store)
    again = Bank.load(store)
    assert list(again.keys()) == list(bank.keys())
    assert len(Bank.load(store, keys=keys)) == len(bank)
    assert {key_text(key) for key in keys} == {stream.key for stream in store.get()}


def test_a_stream_that_has_seen_little_costs_little():
    bank, store = Bank(Forecaster(seed=1)), MemoryStore()
    bank.run(["long"] * 5000 + ["short"], np.arange(5001) % 2)
    bank.save(store)
    sizes = {stream.key: len(stream.row) for stream in store.get()}
    assert sizes['"short"'] == 8 * len(bank["short"]._stream.row) < sizes['"long"'] / 2


@kinds
def test_streams_of_two_banks_are_not_mixed(kind, tmp_path):
    store = open_store(kind, tmp_path)
    a_bank().save(store)
    before = Bank.load(store).to_json()
    for other in (a_bank(seed=2), Bank(Recalibrator(seed=1))):
        with pytest.raises(ValueError, match="store must be empty or hold streams of this bank"):
            other.save(store)
    with pytest.raises(ValueError, match="store must be empty"):
        store.put("{}", [])
    assert Bank.load(store).to_json() == before


@kinds
def test_nothing_is_kept_of_a_save_that_fails(kind, tmp_path, monkeypatch):
    bank, store = a_bank(), open_store(kind, tmp_path)
    bank.save(store)
    before = bank.to_json()
    bank.run(list(KEYS), [1] * 5)
    dump, calls = FailsAfter(2), []
    monkeypatch.setattr("fullswap.forecasting.bank_store.json_of", lambda t: dump(calls) or b"")
    with pytest.raises(OSError, match="disk full"):
        bank.save(store)
    monkeypatch.undo()
    assert Bank.load(store).to_json() == before
    bank.save(store)
    assert Bank.load(store).to_json() == bank.to_json()


class FailsAfter:
    """Fails from the n-th call on."""

    def __init__(self, count):
        self.count = count

    def __call__(self, calls):
        calls.append(1)
        if len(calls) > self.count:
            raise OSError("disk full")


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    bank, store = a_bank(), FileStore(tmp_path / "bank.fs")
    bank.save(store)
    before = bank.to_json()
    bank.run(list(KEYS), [1] * 5)
    monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        bank.save(store)
    assert Bank.load(store).to_json() == before
    assert [file.name for file in tmp_path.iterdir()] == ["bank.fs"]


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    """SQLite has no more pages than it may have."""
    bank = a_bank()
    with SQLiteStore(tmp_path / "bank.db") as store:
        bank.save(store)
        before = bank.to_json()
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        bank.run(np.arange(2000), np.zeros(2000))
        with pytest.raises(OSError, match=r"bank\.db could not be used: database or disk is full"):
            bank.save(store)
        assert Bank.load(store).to_json() == before
        store._connection.execute("PRAGMA max_page_count = 100000")
        bank.save(store)
        assert Bank.load(store).to_json() == bank.to_json()


@on_disk
def test_a_process_that_is_killed_loses_nothing_that_it_saved(kind, tmp_path):
    report = tmp_path / "saved"
    path = tmp_path / "bank"
    script = Path(store_killed.__file__)
    rng = np.random.default_rng(1)
    for _ in range(3):
        for file in tmp_path.iterdir():
            file.unlink()
        child = subprocess.Popen([sys.executable, script, kind, path, report])
        while not report.exists() or not report.stat().st_size:
            assert child.poll() is None
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0.0, 0.15)))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        saved = report.stat().st_size
        bank = Bank.load(store_killed.STORES[kind](path))
        turns = bank[0].rounds
        assert saved <= turns <= saved + 1  # the last one may be saved and not yet reported
        straight = Bank(Forecaster(seed=1))
        for turn in range(turns):
            straight.run(store_killed.KEYS, (store_killed.KEYS + turn) % 2, record=False)
        assert bank.to_json() == straight.to_json()


def test_another_process_reads_what_was_saved(tmp_path):
    bank = a_bank()
    with SQLiteStore(tmp_path / "bank.db") as store:
        bank.save(store)
    assert [file.name for file in tmp_path.iterdir()] == ["bank.db"]
    code = "import sys; from fullswap.forecasting import Bank, SQLiteStore; " \
           "print(Bank.load(SQLiteStore(sys.argv[1])).to_json(), end='')"  # fmt: skip
    command = [sys.executable, "-c", code, tmp_path / "bank.db"]
    assert subprocess.run(command, check=True, capture_output=True).stdout.decode() == (
        bank.to_json()
    )


def test_a_second_writer_waits_or_is_told(tmp_path):
    bank = a_bank()
    with SQLiteStore(tmp_path / "bank.db", wait=0.05) as store:
        bank.save(store)
        other = sqlite3.connect(tmp_path / "bank.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        bank.run(["north"], [1])
        with pytest.raises(TimeoutError, match="is being written by another process"):
            bank.save(store)
        assert Bank.load(store)["north"].rounds == 20  # reading goes on
        other.execute("COMMIT")
        other.close()
        bank.save(store)
        assert Bank.load(store).to_json() == bank.to_json()
    with pytest.raises(ValueError, match="store must be open"):
        bank.save(store)
    store.close()  # once more does nothing


@on_disk
def test_every_damaged_byte_of_a_stream_is_found(kind, tmp_path):
    bank, store = a_bank(), open_store(kind, tmp_path)
    bank.predict(["north"])
    bank.save(store)
    streams = list(store.get())
    for k, stream in enumerate(streams):
        for name in ("key", "row", "tickets"):
            content = getattr(stream, name)
            if not content:
                continue
            changed = "x" + content[1:] if name == "key" else bytes([content[0] ^ 1]) + content[1:]
            damaged = MemoryStore()
            wrong = stream._replace(**{name: changed})
            damaged.put(store.settings(), [*streams[:k], wrong, *streams[k + 1 :]])
            with pytest.raises(ValueError, match="store must hold streams as they were saved"):
                Bank.load(damaged)


def test_content_that_no_bank_wrote_is_refused_even_if_its_checksum_fits():
    bank, store = a_bank(), MemoryStore()
    bank.save(store)
    (first, *_) = store.get()
    row = np.frombuffer(first.row)
    wrong = row.copy()
    wrong[-1] = 9.0
    for made in (
        StoredStream.of(first.key, wrong.tobytes(), b""),
        StoredStream.of(first.key, first.row[:-3], b""),
        StoredStream.of(first.key, b"", b""),
        StoredStream.of(first.key, first.row, b"[[0, 0, 0, [1]]]"),
        StoredStream.of(first.key, first.row, b"nonsense"),
        StoredStream.of("[1]", first.row, b""),
        StoredStream.of("north", first.row, b""),
    ):
        damaged = MemoryStore()
        damaged.put(store.settings(), [made])
        with pytest.raises(ValueError, match="store must hold streams as they were saved"):
            Bank.load(damaged)


def test_settings_of_other_versions_are_refused():
    bank, store = a_bank(), MemoryStore()
    with pytest.raises(ValueError, match="store must hold a bank that was saved there"):
        Bank.load(store)
    bank.save(store)
    settings = json.loads(store.settings())
    later = MemoryStore()
    later.put(json.dumps({**settings, "version": VERSION + 1}), [])
    with pytest.raises(ValueError, match="must have state version .* upgrade fullswap"):
        Bank.load(later)
    damaged = MemoryStore()
    damaged.put(json.dumps({**settings, "seed": "5"}), [])
    with pytest.raises(ValueError, match="does not fit its checksum"):
        Bank.load(damaged)


def test_files_of_others_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "bank"
    bank = a_bank()
    bank.save(path)  # JSON
    text = path.read_bytes()
    with pytest.raises(ValueError, match="must be a file of streams as a FileStore writes it"):
        bank.save(FileStore(path))
    with pytest.raises(ValueError, match="must be a store of streams, got a file that is none"):
        SQLiteStore(path)
    assert path.read_bytes() == text
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(ValueError, match="must be a store of streams, got another database"):
        SQLiteStore(tmp_path / "other.db")
    with SQLiteStore(tmp_path / "later.db") as store:
        store._connection.execute("PRAGMA user_version = 2")
    with pytest.raises(ValueError, match="must be a store of version 1, got version 2"):
        SQLiteStore(tmp_path / "later.db")
    with pytest.raises(OSError, match="could not be used: unable to open"):
        SQLiteStore(tmp_path / "nowhere" / "bank.db")


def test_every_damaged_or_missing_byte_of_a_file_is_found(tmp_path):
    store = FileStore(tmp_path / "bank.fs")
    a_bank().save(store)
    content = store.path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(content), 60).tolist():
        store.path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(ValueError, match=r"bank\.fs must be"):
            Bank.load(store)
        store.path.write_bytes(content[:place])
        with pytest.raises(ValueError, match=r"bank\.fs must be"):
            Bank.load(store)


def test_what_a_bank_is_saved_to():
    bank = a_bank()
    for wrong in (3, None, object()):
        with pytest.raises(ValueError, match="where must be a path or a store"):
            bank.save(wrong)
        with pytest.raises(ValueError, match="where must be a path or a store"):
            Bank.load(wrong)
    with pytest.raises(ValueError, match="keys must be left out where the bank is in a file"):
        Bank.load("bank.json", keys=["north"])
    assert isinstance(MemoryStore(), Store) and not isinstance(bank, Store)


def test_an_empty_bank_is_a_bank():
    store = MemoryStore()
    Bank(Forecaster(seed=1)).save(store)
    assert len(Bank.load(store)) == 0


def test_streams_that_are_due_are_refined_before_they_are_saved():
    """An interrupt may come behind an event and before the finer grid."""
    bank, store = a_bank(), MemoryStore()
    level = int(bank._rows.row(0)[LEVEL])
    left = int(bank.spec.end(level)) - bank["north"].rounds - 1
    bank.run(["north"] * left, np.zeros(left))
    straight = Bank.from_json(bank.to_json())
    straight.run(["north"], [1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(bank._rows), "refine", lambda *given: 1 / 0)
        (ticket,) = bank.predict(["north"])
        with pytest.raises(ZeroDivisionError):
            bank.update([ticket], [1])
    bank.save(store)
    loaded = Bank.load(store)
    assert loaded["north"].rounds == straight["north"].rounds
    row = straight["north"]._stream.row
    assert len(loaded["north"]._stream.row) == len(row) and row[LEVEL] == level + 1
